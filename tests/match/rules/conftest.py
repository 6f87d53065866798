"""A tiny world for the referee: players stand where they are put, the ball lies where it is put."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import Rules
from nutmeg.match.rules.decisions import Decision, Event, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.state import Facts, new_match

STANDING = 0.38


class Game:
    """A match between two teams that only move when told to."""

    def __init__(self, rules: Rules, *, players: int = 11, kick_off: Side = Side.LEFT) -> None:
        self.rules, self.state = rules, new_match(kick_off=kick_off)
        self.present = np.zeros((2, 11), bool)
        self.present[:, :players] = True
        self.position = np.zeros((2, 11, 3))
        rows = np.arange(11)
        self.position[0, :, 0], self.position[0, :, 1] = -4.0 - 0.5 * rows, 8.0 - 1.6 * rows
        self.position[0, :, :2] *= rules.pitch.length / 30.0, rules.pitch.width / 20.0
        self.position[1] = -self.position[0]
        self.position[..., 2] = STANDING
        self.ball, self.ball_velocity = np.array([0.0, 0.0, 0.042]), np.zeros(3)
        self.heard: list[Decision] = []

    def facts(self, touch: Sequence[tuple[Side, int]] = (), **more: Any) -> Facts:
        """What the world looks like; `touch` and others name players by side and number."""
        touches = np.zeros((2, 11), bool)
        for side, number in touch:
            touches[side, number - 1] = True
        known: dict[str, Any] = {
            "time_step": 0.02,
            "ball": self.ball.copy(),
            "ball_velocity": self.ball_velocity.copy(),
            "present": self.present.copy(),
            "position": self.position.copy(),
            "touches_ball": touches,
        }
        return Facts.of(**{**known, **more})

    def cycle(self, touch: Sequence[tuple[Side, int]] = (), *, times: int = 1, **more: Any) -> list[Decision]:
        """Judge one or more cycles, and carry out what is decided."""
        heard: list[Decision] = []
        for _ in range(times):
            self.state, decisions = judge(self.state, self.facts(touch, **more), self.rules)
            heard += decisions
            self.carry_out(decisions)
        self.heard += heard
        return heard

    def seconds(self, time: float, **more: Any) -> list[Decision]:
        return self.cycle(times=round(time / 0.02), **more)

    def carry_out(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, MovePlayer):
                self.position[decision.side, decision.number - 1, :2] = decision.place
            elif isinstance(decision, PlaceBall):
                self.ball[:] = (*decision.place, 0.042)
                self.ball_velocity[:] = 0
            elif isinstance(decision, SwapEnds):
                self.position, self.present = -self.position[::-1].copy(), self.present[::-1].copy()
                self.position[..., 2] *= -1

    def order(self, mode: PlayMode) -> list[Decision]:
        """Have the trainer set a play mode."""
        self.state, decisions = trainer.set_play_mode(self.state, self.rules, self.facts(), mode)
        self.carry_out(decisions)
        return list(decisions)

    def put_ball(self, x: float, y: float, z: float = 0.042) -> None:
        self.ball[:] = (x, y, z)

    def roll_ball(self, *places: tuple[float, float] | tuple[float, float, float], touch: Any = ()) -> list[Decision]:
        """Let the ball be at these places, one a cycle; `touch` in the first."""
        heard = []
        for i, place in enumerate(places):
            self.put_ball(*place)
            heard += self.cycle(touch if i == 0 else ())
        return heard

    def put(self, side: Side, number: int, x: float, y: float, z: float = STANDING) -> None:
        self.position[side, number - 1] = x, y, z

    def place_of(self, side: Side, number: int) -> tuple[float, float]:
        x, y = self.position[side, number - 1, :2].tolist()
        return x, y


def live_game(rules: Rules, players: int = 11) -> Game:
    """A game in which the ball is in play."""
    game = Game(rules, players=players)
    game.cycle()
    game.order(PlayMode.PLAY_ON)
    return game


@pytest.fixture
def spl_live(spl: Rules) -> Game:
    return live_game(spl, players=4)


@pytest.fixture
def game(rules: Rules) -> Game:
    return Game(rules)


@pytest.fixture
def live(rules: Rules) -> Game:
    return live_game(rules)


class Tools:
    """What tests need besides a game."""

    Game = Game
    live_game = staticmethod(live_game)

    @staticmethod
    def events(decisions: Sequence[Decision], kind: str | None = None) -> list[Event]:
        return [d for d in decisions if isinstance(d, Event) and kind in (None, d.kind)]

    @staticmethod
    def moves(decisions: Sequence[Decision]) -> list[MovePlayer]:
        return [d for d in decisions if isinstance(d, MovePlayer)]

    @staticmethod
    def balls(decisions: Sequence[Decision]) -> list[tuple[float, float]]:
        return [d.place for d in decisions if isinstance(d, PlaceBall)]

    @staticmethod
    def with_fouls(rules: Rules, **changes: dict[str, Any]) -> Rules:
        """Rules in which some fouls have other numbers: `with_fouls(rules, crowding={"on": True})`."""
        fouls = {name: dataclasses.replace(getattr(rules.fouls, name), **new) for name, new in changes.items()}
        return dataclasses.replace(rules, fouls=dataclasses.replace(rules.fouls, **fouls))


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools()
