"""Players in this process, asked every cycle and followed when ends change."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop, PlayerError
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import Action, Percept

RULES = load_rules("sim3d")
REDS, BLUES = "reds", "blues"


class Statue:
    """Stands where it is beamed to, and remembers what it was told."""

    def __init__(self, robot_type: int = 0) -> None:
        self.robot_type = robot_type
        self.told: list[tuple[int | None, Side | None]] = []
        self.times: list[float] = []

    def act(self, percept: Percept) -> Action:
        self.times.append(percept.time)
        if percept.game.side is not None:
            self.told.append((percept.game.number, percept.game.side))
        return Action(speeds=np.zeros(22), beam=(-3.0, 1.0, 0.0))


class Broken(Statue):
    """Fails in its fifth cycle."""

    def act(self, percept: Percept) -> Action:
        if len(self.times) == 4:
            raise ZeroDivisionError("no ball")
        return super().act(percept)


def test_players_join_with_their_types_and_are_asked_every_cycle() -> None:
    game = Game(RULES, seed=1, seats=2)
    players = {(REDS, 2): Statue(), (BLUES, 5): Statue(1)}
    driver = GameLoop(game, players)
    driver.run(4)
    assert game.teams == (REDS, BLUES)
    assert set(driver.percepts) == {1, 15} == set(driver.players)
    assert game.robot_types[15] == 1
    assert players[REDS, 2].times == [0.02, 0.04, 0.06]
    assert players[BLUES, 5].told == [(5, Side.RIGHT)]
    assert game.world.position[1, :2] == pytest.approx([-3.0, 1.0], abs=0.1)


def test_players_are_followed_to_the_other_end() -> None:
    rules = RULES.with_match(
        automatic_kick_off=True, wait_before_kick_off=0.1, half_length=0.2, swap_ends=True, halves=2
    )
    game = Game(rules, seed=1, seats=2)
    players = {(REDS, 2): Statue(), (BLUES, 5): Statue()}
    driver, seen = GameLoop(game, players), list[float]()
    driver.run(on_cycle=lambda driver: seen.append(driver.game.time))
    assert game.over
    assert game.swaps == 1
    assert players[REDS, 2].told == [(2, Side.LEFT)]
    assert players[BLUES, 5].told == [(5, Side.RIGHT)]
    assert driver.slot(REDS, 2) == 12
    assert len(seen) == game.cycles == len(players[REDS, 2].times) + 1


def test_a_player_that_fails_is_named() -> None:
    game = Game(RULES, seed=1, seats=2)
    driver = GameLoop(game, {(REDS, 1): Statue(), (BLUES, 7): Broken()})
    with pytest.raises(PlayerError, match=r"number 7 of 'blues' failed: ZeroDivisionError: no ball"):
        driver.run(10)


def test_a_player_who_asks_for_what_no_robot_can_do_is_named() -> None:
    class Shouter(Statue):
        def act(self, percept: Percept) -> Action:
            return Action(say="far too long for anybody to hear")

    driver = GameLoop(Game(RULES, seed=1, seats=1), {(REDS, 3): Shouter()})
    with pytest.raises(PlayerError, match=r"number 3 of 'reds'.*cannot be said"):
        driver.run(3)


def test_who_leaves_is_asked_no_more() -> None:
    game, stayer, leaver = Game(RULES, seed=1, seats=2), Statue(), Statue()
    driver = GameLoop(game, {(REDS, 1): stayer, (REDS, 2): leaver})
    driver.run(3)
    driver.leave(REDS, 2)
    driver.run(3)
    assert (len(stayer.times), len(leaver.times)) == (5, 2)
    with pytest.raises(UsageError, match="there is no number 2 of 'reds' here; there are: 1 of reds"):
        driver.slot(REDS, 2)


def test_a_match_without_end_is_refused() -> None:
    driver = GameLoop(Game(RULES, seed=1, seats=1), {(REDS, 1): Statue()})
    with pytest.raises(UsageError, match="it has no kick-off"):
        driver.run()
