"""What the referee is told each cycle: plain arrays, players over (2 sides, 11 numbers).

    facts = Facts.of(time_step=0.02, ball=ball, ball_velocity=velocity, present=present, position=position)
    state, decisions = judge(state, facts, rules)

Side 0 is left, number n is at index n - 1; entries of players who are not `present` mean nothing. Whoever simulates
the match fills this in from its contacts, and whoever watches a real one from what it sees; what is not known keeps
its default, and the rules that need it are then not applied.

Who does not ask in every cycle (see `quiet`) gives the time since it last did as `time_step`, how much of it the facts
hold for as `cycle`, and where the ball was before that as `ball_before`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Ints
from nutmeg.match.rules import MOST_PLAYERS

SHAPE = (2, MOST_PLAYERS)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One cycle, as it is at its end; arrays are never changed by the referee."""

    time_step: float
    """Since the last judgement, s."""
    ball: Floats
    """(3,) its centre, m."""
    ball_velocity: Floats
    """(3,) m/s."""
    present: Bools
    """(2, 11) who is on the pitch or beside it."""
    position: Floats
    """(2, 11, 3) of the torso, m."""
    velocity: Floats
    """(2, 11, 2) of the torso, m/s; for charging."""
    touches_ball: Bools
    """(2, 11) who touched the ball in this cycle."""
    wants_pass: Bools
    """(2, 11) who asks for pass mode."""
    goalie: Bools
    """(2, 11) who is a goalie."""
    contacts: Ints
    """(K, 2, 2) pairs of players who touch each other: side and index of the one, side and index of the other."""
    contact_places: Floats
    """(K, 2) where they touch, m."""
    self_collision: Bools
    """(2, 11, 4) limbs that are inside another part of their robot: left arm, right arm, left leg, right leg."""
    pushes: Ints
    """(K, 2, 2) who pushed whom in this cycle: side and index of who is responsible, side and index of the other."""
    cycle: float | None = None
    """How long the facts have been so, s; in the time step before that, all was as last told. None: all of it."""
    ball_before: Floats | None = None
    """(3,) where the ball was one `cycle` ago, after the referee's decisions, m; None: where it was last told to be."""

    @classmethod
    def of(
        cls,
        *,
        time_step: float,
        ball: Floats,
        present: Bools,
        position: Floats,
        ball_velocity: Floats | None = None,
        velocity: Floats | None = None,
        touches_ball: Bools | None = None,
        wants_pass: Bools | None = None,
        goalie: Bools | None = None,
        contacts: Ints | None = None,
        contact_places: Floats | None = None,
        self_collision: Bools | None = None,
        pushes: Ints | None = None,
        cycle: float | None = None,
        ball_before: Floats | None = None,
    ) -> Facts:
        """Facts with defaults for what is not known: everything at rest, nothing touches; number 1 is the goalie."""
        nothing = _nothing()
        return cls(
            time_step=time_step,
            ball=ball,
            ball_velocity=nothing.ball_velocity if ball_velocity is None else ball_velocity,
            present=present,
            position=position,
            velocity=nothing.velocity if velocity is None else velocity,
            touches_ball=nothing.touches_ball if touches_ball is None else touches_ball,
            wants_pass=nothing.wants_pass if wants_pass is None else wants_pass,
            goalie=nothing.goalie if goalie is None else goalie,
            contacts=nothing.contacts if contacts is None else contacts,
            contact_places=nothing.contact_places if contact_places is None else contact_places,
            self_collision=nothing.self_collision if self_collision is None else self_collision,
            pushes=nothing.pushes if pushes is None else pushes,
            cycle=cycle,
            ball_before=ball_before,
        )


@lru_cache(maxsize=1)
def _nothing() -> Facts:
    """Nobody there, nothing going on; its arrays cannot be written to."""
    goalie = np.zeros(SHAPE, bool)
    goalie[:, 0] = True
    facts = Facts(
        time_step=0.0,
        ball=np.zeros(3),
        ball_velocity=np.zeros(3),
        present=np.zeros(SHAPE, bool),
        position=np.zeros((*SHAPE, 3)),
        velocity=np.zeros((*SHAPE, 2)),
        touches_ball=np.zeros(SHAPE, bool),
        wants_pass=np.zeros(SHAPE, bool),
        goalie=goalie,
        contacts=np.zeros((0, 2, 2), np.int64),
        contact_places=np.zeros((0, 2)),
        self_collision=np.zeros((*SHAPE, 4), bool),
        pushes=np.zeros((0, 2, 2), np.int64),
    )
    for value in vars(facts).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return facts


def touch_groups(contacts: Ints) -> list[list[tuple[int, int]]]:
    """Groups of players who touch each other, directly or through others; each a sorted list of (side, index)."""
    groups: list[set[tuple[int, int]]] = []
    for (side_a, a), (side_b, b) in contacts.tolist():
        pair = {(side_a, a), (side_b, b)}
        for group in [g for g in groups if g & pair]:
            groups.remove(group)
            pair |= group
        groups.append(pair)
    return sorted(sorted(group) for group in groups)
