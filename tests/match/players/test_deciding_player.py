"""A `decide` in the physical world: asked every 0.1 s, told what it is told elsewhere, harmless when it fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import DECISION_CYCLES, DecidingPlayer, PlayerSetup, crossings
from nutmeg.match.players.request import Look, Request, Stand
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.match.players.decide import Decide, Memory, View

RULES = load_rules("sim3d").with_match(automatic_kick_off=True, wait_before_kick_off=1.0)
WALK = read_walk("final")


def match(left: Decide, right: Decide, longest: float = 20.0) -> tuple[GameLoop, dict[tuple[str, int], DecidingPlayer]]:
    """Two players; the one on the left has less time than the other."""
    players = {
        (team, 2): DecidingPlayer(decide, team, 2, PlayerSetup(walk=WALK, players=2, longest=limit))
        for team, decide, limit in (("reds", left, longest), ("blues", right, 20.0))
    }
    return GameLoop(Game(RULES, seed=1, left="reds", right="blues", seats=2), players), players


def test_it_is_asked_every_tenth_of_a_second_and_told_the_same_from_both_ends() -> None:
    told: dict[str, list[View]] = {"reds": [], "blues": []}

    def watches(percept: View, memory: Memory) -> Request:
        told[percept.team].append(percept)
        return Request(look=Look(pitch=-0.3), beam=(-2.0, 1.0, 0.0), say=f"hello{percept.cycle}")

    driver, players = match(watches, watches)
    driver.run(48)
    reds, blues = told["reds"], told["blues"]
    assert len(reds) == math.ceil(47 / DECISION_CYCLES)
    assert np.diff([view.time for view in reds]) == pytest.approx(0.1)
    assert (reds[-1].side, blues[-1].side) == (Side.LEFT, Side.RIGHT)
    for views in (reds, blues):
        last = views[-1]
        assert last.belief.me.place == pytest.approx([-2.0, 1.0], abs=0.3)
        assert last.head[1] == pytest.approx(-0.3, abs=0.05)
        assert (last.upright, last.number, last.images, last.sonar) == (True, 2, None, None)
        assert last.seen.ball is not None
        assert last.seen.ball == pytest.approx((2.0, -1.0), abs=0.3)
        posts = {mark.name: mark for mark in last.seen.marks if mark.kind == "their post"}
        assert set(posts) == {"G1R", "G2R"}
        assert posts["G1R"].place[1] > posts["G2R"].place[1], "post 1 is on the left of who attacks"
    assert all(player.lost_turns == 0 for player in players.values())


def test_one_that_fails_stands_and_does_not_end_the_match() -> None:
    def fails(percept: View, memory: Memory) -> Request:
        if percept.cycle == 2:
            while True:
                pass
        raise LookupError("lost")

    driver, players = match(fails, strategy_decide("roles"), longest=0.3)
    driver.run(30)
    player = players["reds", 2]
    assert player.lost_turns == 6
    assert player.request.legs == Stand()
    assert any("longer than 0.3 s" in line for line in player.log)
    assert any("LookupError" in line for line in player.log)
    assert players["blues", 2].lost_turns == 0


def test_it_is_told_what_its_sonars_measured_last_where_the_match_has_them() -> None:
    told: list[tuple[float, float] | None] = []

    def watches(percept: View, memory: Memory) -> Request:
        told.append(percept.sonar)
        return Request()

    player = DecidingPlayer(watches, "reds", 2, PlayerSetup(walk=WALK, players=2, longest=20.0, cycles=2))
    game = Game(RULES, seed=1, left="reds", right="blues", seats=1, setup=PhysicalSetup(sonar=True))
    driver = GameLoop(game, {("reds", 2): player})
    percepts = []
    driver.run(21, on_cycle=lambda loop: percepts.extend(loop.percepts.values()))
    assert told[:2] == [None, None], "nothing was measured yet"
    assert set(told[3:]) == {(math.inf, math.inf)}, "it is alone"
    assert [percept.sonar is not None for percept in percepts] == [cycle % 5 == 4 for cycle in range(21)]


def test_odometry_adds_up_over_the_percepts_between_decisions() -> None:
    _, players = match(strategy_decide("statue"), strategy_decide("statue"))
    player = players["reds", 2]
    for _ in range(4):
        player._go_on((0.1, 0.0, math.pi / 2))
    assert player._moved == pytest.approx([0.0, 0.0, 2 * math.pi], abs=1e-12)


def test_lines_that_meet_are_corners_ends_and_crossings() -> None:
    def kinds(*lines: tuple[tuple[float, float], tuple[float, float]]) -> list[tuple[str, float, float]]:
        return [(one.kind, round(one.place[0], 2), round(one.place[1], 2)) for one in crossings(lines)]

    along = ((0.0, 0.0), (4.0, 0.0))
    assert kinds(along, ((4.0, 0.05), (4.0, 3.0))) == [("L", 4.0, 0.0)]
    assert kinds(along, ((2.0, 0.0), (2.0, 3.0))) == [("T", 2.0, 0.0)]
    assert kinds(along, ((2.0, -1.0), (2.0, 3.0))) == [("X", 2.0, 0.0)]
    assert kinds(along, ((2.0, 1.0), (2.0, 3.0))) == [], "they do not reach each other"
    assert kinds(along, ((0.0, 0.5), (4.0, -0.5))) == [], "nearly the same direction"
