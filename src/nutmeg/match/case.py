"""One cycle on the referee's desk: the state as it changes, the facts, the rules, and the decisions so far.

A `Case` lives for one judgement only; what comes out of it is a new frozen state. The parts of the referee
(`restarts`, `scoring`, `fouls`, ...) are functions that take a case.

Everything about a side is worked out as that team sees it: `side.sign` times a place, so that it attacks towards +x.
That is what makes the referee fair: turn the whole pitch by half a turn, and all decisions turn with it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.decisions import Decision, Event, EventKind, MovePlayer, Place, PlaceBall
from nutmeg.match.play_modes import PlayMode, Side, side_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.facts import Facts
    from nutmeg.match.foul_rules import Foul
    from nutmeg.match.rules import Rules
    from nutmeg.match.state import Held, MatchState

TINY = 1e-6
"""Clocks are sums of cycles: times closer than this are the same, s."""
BALL_REST = 0.005
"""A ball nearer to its place than this lies where it was put, m."""


class Case:
    """The work of one judgement."""

    def __init__(self, state: MatchState, facts: Facts, rules: Rules) -> None:
        self.state, self.facts, self.rules = state, facts, rules
        self.decisions: list[Decision] = []
        self.ball: tuple[float, float, float] = tuple(facts.ball.tolist())
        self.toucher: tuple[Side, int] | None = None
        """Who touched the ball in this cycle, if anybody."""
        self.moved: list[tuple[Side, int]] = []
        """Who has been moved in this cycle."""
        self._active: Bools | None = None

    @property
    def cycle(self) -> float:
        """How much of the time step the facts hold for, s."""
        step = self.facts.time_step
        return step if self.facts.cycle is None else min(self.facts.cycle, step)

    @cached_property
    def ball_before(self) -> tuple[float, float, float] | None:
        """Where the ball was one cycle ago, m."""
        told = self.facts.ball_before
        return self.state.ball_before if told is None else tuple(told.tolist())

    def change(self, **fields: Any) -> None:  # noqa: ANN401 (fields of MatchState)
        """Set fields of the state, in a copy of it."""
        self.state = changed(self.state, fields)

    def set_mode(self, mode: PlayMode, **fields: Any) -> None:  # noqa: ANN401 (fields of MatchState)
        """Go to another play mode, and set other fields of the state at once."""
        self.change(mode=mode, mode_time=0.0, **fields)
        self.tell("play_mode", mode.wire_name, side=side_of(mode))

    def tell(
        self,
        kind: EventKind,
        text: str,
        *,
        side: Side | None = None,
        index: int | None = None,
        place: Place | None = None,
        foul: Foul | None = None,
    ) -> None:
        """Decide that something is told to everybody."""
        number = None if index is None else index + 1
        self.decisions.append(
            Event(kind=kind, time=self.state.time, side=side, number=number, place=place, foul=foul, text=text)
        )

    def put_ball(self, place: Place) -> None:
        """Decide that the ball lies at a place; says nothing if it does so already."""
        if not math.hypot(self.ball[0] - place[0], self.ball[1] - place[1]) <= BALL_REST:
            self.decisions.append(PlaceBall(place=place))

    def move(
        self,
        side: Side,
        index: int,
        place: Place,
        reason: str,
        *,
        height: float | None = None,
        heading: float | None = None,
    ) -> None:
        """Decide that a player is put somewhere."""
        self.decisions.append(
            MovePlayer(side=side, number=index + 1, place=place, height=height, heading=heading, reason=reason)
        )
        self.moved.append((side, index))
        self.planned[side, index] = place

    @cached_property
    def planned(self) -> Floats:
        """(2, 11, 2) where players are, or will be once they have been moved."""
        return self.facts.position[..., :2].copy()

    @property
    def active(self) -> Bools:
        """(2, 11) who is there and does not serve a penalty."""
        if self._active is None:
            self._active = self.facts.present
            if self.state.held:
                self._active = self._active.copy()
                for held in self.state.held:
                    self._active[held.side, held.index] = False
        return self._active

    def hold(self, *held: Held) -> None:
        """Set who serves a penalty."""
        self.change(held=held)
        self._active = None

    @property
    def elapsed(self) -> float:
        """The referee's own clock, s."""
        return self.state.elapsed

    @property
    def is_drill(self) -> bool:
        """Whether there are too few players for restrictions on kicks to make sense."""
        return int(np.count_nonzero(self.facts.present)) <= self.rules.match.drill_players

    def doubtful(self) -> Side:
        """The side against which the referee decides when both are equally at fault: who did not have the ball."""
        return self.state.starter.other if self.state.touch is None else self.state.touch.side.other


def changed(state: MatchState, fields: Mapping[str, Any]) -> MatchState:
    """A copy of a state with other values of some fields: `dataclasses.replace` in a twentieth of its time."""
    known = state.__dict__
    if not fields.keys() <= known.keys():
        raise TypeError(f"the state of a match has no {', '.join(sorted(fields.keys() - known.keys()))}.")
    copy = object.__new__(type(state))
    copy.__dict__.update(known)
    copy.__dict__.update(fields)
    return copy


def sign_of(value: float, otherwise: float) -> float:
    """1.0 or -1.0 as a value is positive or negative; for zero, the sign of something else."""
    return math.copysign(1.0, value if value else otherwise)
