"""Matches of points that move as they wish, judged by the real referee."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.players.belief import BallBelief
from nutmeg.match.players.request import Request, Stand, Walk
from nutmeg.match.players.tracking.records import belief_record
from nutmeg.match.rules.play_modes import (
    CORNER_KICKS,
    DIRECT_FREE_KICKS,
    FREE_KICKS,
    GOAL_KICKS,
    KICK_INS,
    WIRE_NAMES,
    PlayMode,
    Side,
)

NewToy = Callable[..., Any]
RESTARTS = [
    (KICK_INS[0], (3.0, 9.958)),
    (KICK_INS[1], (-6.0, -9.958)),
    (CORNER_KICKS[0], (14.958, 5.483)),
    (CORNER_KICKS[1], (-14.958, -5.483)),
    (GOAL_KICKS[0], (-14.0, 0.0)),
    (GOAL_KICKS[1], (14.0, 0.0)),
    (FREE_KICKS[0], (5.0, -2.0)),
    (DIRECT_FREE_KICKS[1], (-4.0, 3.0)),
]


def test_teams_line_up_where_the_rules_want_them(new_toy: NewToy) -> None:
    toy = new_toy(4)
    toy.run(1.9)
    for side in Side:
        assert (toy.places(side)[:, 0] <= 0).all()
    assert np.hypot(*toy.places(Side.LEFT).T).min() < 0.5
    assert np.hypot(*toy.places(Side.RIGHT).T).min() > 2.0
    assert all(isinstance(request.legs, Stand) for request in toy.requests.values())


def test_a_kick_off_is_taken_at_once_and_touched_once(new_toy: NewToy) -> None:
    toy = new_toy(4)
    toy.run(8.0)
    assert toy.state.mode is PlayMode.PLAY_ON
    assert toy.modes[PlayMode.KICK_OFF_LEFT] < 125  # the last steps are slow: a foot that brushes the ball has taken it
    assert [event.kind for event in toy.events] == ["play_mode", "play_mode"]


@pytest.mark.parametrize("players", [1, 3])
def test_a_team_without_opponents_scores(new_toy: NewToy, players: int) -> None:
    toy = new_toy(players)
    toy.present[Side.RIGHT] = False
    for n in range(players):
        del toy.tacticians[Side.RIGHT, n]
    toy.run(2.0)
    toy.order(PlayMode.PLAY_ON, (6.0, 2.0))
    toy.run(40.0)
    assert toy.state.score[0] >= 1
    assert toy.state.score[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("players", [4, 9])
def test_a_team_does_not_crowd(new_toy: NewToy, players: int) -> None:
    toy, near, close, inside = new_toy(players), [], [], []

    def look() -> None:
        for side in Side:
            places = toy.places(side)
            near.append((np.hypot(*(places - side.sign * toy.ball).T) < 0.7).sum())
            gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
            close.append((gaps[np.triu_indices(players, 1)] < 0.5).any())
            inside.append(((places[:, 0] < -13.2) & (abs(places[:, 1]) < 3.0)).sum())

    toy.run(3.0)
    toy.run(160.0 / players, look)  # as many wishes of players, however many they are
    assert np.mean(np.array(near) >= 2) < 0.15
    assert np.mean(close) < 0.1
    assert max(inside) <= 3
    assert toy.count("foul") == 0


@pytest.mark.parametrize(("mode", "place"), RESTARTS)
def test_restarts_are_taken_in_time_with_opponents_away(
    new_toy: NewToy, mode: PlayMode, place: tuple[float, float]
) -> None:
    toy = new_toy(4)
    toy.run(2.2)
    x, y = 0.7 * place[0], 0.5 * place[1]
    toy.pose[0, 1:4], toy.pose[1, 1:4] = (
        [(x - 1.0, y - 1.5, 0.0), (x - 3.0, y, 0.0), (x - 1.0, y + 1.5, 0.0)],
        [(x + 1.0, y - 1.5, np.pi), (x + 3.0, y, np.pi), (x + 1.0, y + 1.5, np.pi)],
    )
    toy.order(mode, place)
    toy.events.clear()
    gaps = []

    def look() -> None:
        if toy.state.mode is mode and toy.state.mode_time > 4.0:
            others = toy.pose[1 - RESTARTS_SIDE[mode], :4, :2]
            gaps.append(np.hypot(*(others - toy.ball).T).min())

    while toy.state.mode is mode:
        toy.cycle()
        look()
    assert toy.state.mode is PlayMode.PLAY_ON
    toy.run(1.5)
    assert [event.kind for event in toy.events] == ["play_mode"]
    assert min(gaps, default=9.0) >= (0.8 if mode in GOAL_KICKS else 2.0)


RESTARTS_SIDE = {mode: (0 if mode.name.endswith("LEFT") else 1) for mode, _ in RESTARTS}


def test_who_has_fallen_leaves_the_ball_to_a_team_mate(new_toy: NewToy) -> None:
    toy = new_toy(3)
    toy.run(1.5)
    toy.order(PlayMode.PLAY_ON, (-3.0, 0.0))
    toy.pose[0, 1], toy.pose[0, 2] = (-3.5, 0.0, 0.0), (-4.8, 1.0, 0.0)
    toy.run(1.0)
    assert toy.tacticians[Side.LEFT, 1].memory.goes
    toy.upright[0, 1] = False
    toy.run(1.0)
    assert not toy.tacticians[Side.LEFT, 1].memory.goes
    assert toy.tacticians[Side.LEFT, 2].memory.goes


def test_an_opponent_with_the_ball_is_not_run_into_but_not_waited_for_for_ever(new_toy: NewToy) -> None:
    toy = new_toy(3, strategy="patient")
    for tactician in toy.tacticians.values():
        tactician.records.traits["stands_off"] = True
    toy.run(0.1)
    toy.order(PlayMode.PLAY_ON, (0.0, 0.0))
    for n in range(3):
        toy.pose[0, n], toy.pose[1, n] = (-9.0, 3.0 * n, 0.0), (9.0, 3.0 * n, math.pi)
    toy.pose[0, 1], toy.pose[1, 1] = (-1.4, 0.0, 0.0), (0.25, 0.0, math.pi)
    del toy.tacticians[Side.RIGHT, 1]  # it stands and does nothing
    gaps = []
    toy.run(3.5, lambda: gaps.append(math.dist(toy.pose[0, 1, :2], toy.pose[1, 1, :2])))
    assert toy.requests[Side.LEFT, 1].intent == "stand in the way"
    assert min(gaps) > 0.9
    toy.run(4.0, lambda: gaps.append(math.dist(toy.pose[0, 1, :2], toy.ball)))
    assert min(gaps) < 0.4


@pytest.mark.parametrize("name", WIRE_NAMES)
@pytest.mark.parametrize("side", Side)
def test_every_play_mode_is_played_whatever_is_known(new_toy: NewToy, name: str, side: Side) -> None:
    toy = new_toy(11)
    toy.run(0.1)
    for n in range(11):
        known = toy.belief(side, n)
        lost = BallBelief(
            place=np.zeros(2), height=0.0, velocity=np.zeros(2), spread=9.0, seen_ago=np.inf, heard_ago=np.inf
        )
        nobody = dataclasses.replace(known.mates, places=np.full((11, 2), np.nan), ages=np.full(11, np.inf))
        blind = dataclasses.replace(known, ball=lost, mates=nobody, opponents=nobody)
        for belief in (known, blind, dataclasses.replace(known, upright=False)):
            request = toy.tacticians[side, n].decide(belief_record(belief), **toy.told(side, n, name))
            assert isinstance(request, Request)
            assert request.intent
            if isinstance(request.legs, Walk):
                assert all(map(math.isfinite, (request.legs.ahead, request.legs.left, request.legs.turn)))
            if name == "GameOver":
                assert isinstance(request.legs, Stand)


def test_who_has_lost_the_ball_turns_to_look_for_it(new_toy: NewToy) -> None:
    toy = new_toy(3)
    toy.run(0.1)
    toy.order(PlayMode.PLAY_ON, (0.0, 0.0))
    tactician, pose = toy.tacticians[Side.LEFT, 2], toy.pose[0, 2]
    unseen, turned = dataclasses.replace(toy.belief(Side.LEFT, 2).ball, seen_ago=9.0, heard_ago=9.0), 0.0
    for _ in range(1500):
        belief = dataclasses.replace(toy.belief(Side.LEFT, 2), ball=unseen)
        request = tactician.decide(belief_record(belief), **toy.told(Side.LEFT, 2))
        toy.time += 0.02
        if isinstance(request.legs, Walk):
            c, s, legs = math.cos(pose[2]), math.sin(pose[2]), request.legs
            pose += 0.02 * np.array([c * legs.ahead - s * legs.left, s * legs.ahead + c * legs.left, legs.turn])
            turned += 0.02 * legs.turn if request.intent == "look for the ball" else 0.0
    assert turned > 2 * math.pi


def test_nobody_is_beamed_once_the_ball_is_in_play(new_toy: NewToy) -> None:
    toy = new_toy(4)
    toy.run(2.2)
    beams: list[object] = []
    toy.run(3.0, lambda: beams.extend(r.beam for r in toy.requests.values() if r.beam is not None))
    assert beams == []


def test_wishes_change_smoothly(new_toy: NewToy) -> None:
    toy, wishes = new_toy(4), []

    def look() -> None:
        legs = toy.requests[Side.LEFT, 2].legs
        if isinstance(legs, Walk):
            wishes.append((legs.ahead, legs.left, legs.turn))

    toy.run(12.0, look)
    steps = np.abs(np.diff(np.array(wishes), axis=0))
    assert np.mean(steps[:, :2].max(axis=1) > 0.051) < 0.02
