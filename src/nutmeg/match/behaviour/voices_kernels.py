"""Messages between team-mates, compiled: which arrive, and what beliefs that are told change.

Once a cycle every player tells its team-mates where it is and where it sees the ball, as NaOISIS's robots share a
structure of beliefs (seed 002, section 3.3); each message is lost with a set probability, for each listener anew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.behaviour.mind_rows import BU, BV, ODO_T, ODO_X, ODO_Y
from nutmeg.match.behaviour.random_kernels import VOICES, uniform
from nutmeg.match.behaviour.strategy_rows import (
    BALL_SPREAD,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    HEADING,
    MATES,
    SEEN,
    SPREAD,
    TOLD,
    TURN_SPREAD,
    UPRIGHT,
    X,
    Y,
)
from nutmeg.match.behaviour.tracker_kernels import find_ball, tell
from nutmeg.match.slots import SLOTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints


PLAYERS = SLOTS // 2
LATELY = 0.35
"""Balls that were seen longer ago are not told of, s."""
KNOWS = 1.0
"""Who is less sure of its own place tells nothing, m."""
ROLLS = 0.5
"""Deviation of the velocity of a ball that is told of, m/s."""


@kernel
def arrives(seed: np.uint64, cycle: int, speaker: int, listener: int, loss: float) -> bool:
    """Whether a message of a cycle arrives, by slots."""
    luck: bool = uniform(seed, cycle, listener, VOICES, speaker) >= loss
    return luck


@kernel
def share_beliefs(
    rows: Ints,
    seed: NDArray[np.uint64],
    cycle: Ints,
    present: Bools,
    minds: Floats,
    loss: float,
    patience: float,
) -> None:
    """Lets team-mates of the matches `rows` tell each other what they believe: changes minds (M, 22, `MIND`).

    Who has not seen the ball for `patience` seconds believes it where it is told best.
    """
    for m in rows:
        for s in range(SLOTS):
            if not present[m, s]:
                continue
            first, teller, least = s - s % PLAYERS, -1, math.inf
            for k in range(first, first + PLAYERS):
                if k == s or not present[m, k] or minds[m, k, SPREAD] > KNOWS:
                    continue
                if not arrives(seed[m], cycle[m], k, s, loss):
                    continue
                at = MATES + 4 * (k - first)
                minds[m, s, at], minds[m, s, at + 1] = minds[m, k, X], minds[m, k, Y]
                minds[m, s, at + 2], minds[m, s, at + 3] = 0.0, 1.0 - minds[m, k, UPRIGHT]
                spread = _ball_spread(minds, m, k)
                if spread < least:
                    teller, least = k, spread
            if teller >= 0:
                minds[m, s, TOLD] = minds[m, teller, SEEN]
                if minds[m, s, SEEN] > patience:
                    _believe(minds[m, s], minds[m, teller], least)
                    tell(minds[m, s], s - first)


@kernel
def _ball_spread(minds: Floats, m: int, k: int) -> float:
    """Variance of the place of the ball that a player tells, on the pitch; inf if it does not see it."""
    if minds[m, k, SEEN] > LATELY:
        return math.inf
    far = math.hypot(minds[m, k, BALL_X] - minds[m, k, X], minds[m, k, BALL_Y] - minds[m, k, Y])
    spread: float = minds[m, k, BALL_SPREAD] ** 2 + minds[m, k, SPREAD] ** 2 + (far * minds[m, k, TURN_SPREAD]) ** 2
    return spread


@kernel
def _believe(w: Floats, told: Floats, variance: float) -> None:
    """Puts the ball into a mind where another one has it on the pitch."""
    turn = w[ODO_T] - w[HEADING]
    c, s = math.cos(turn), math.sin(turn)
    dx, dy = told[BALL_X] - w[X], told[BALL_Y] - w[Y]
    variance += w[SPREAD] ** 2 + (dx * dx + dy * dy) * w[TURN_SPREAD] ** 2
    find_ball(w, w[ODO_X] + c * dx - s * dy, w[ODO_Y] + s * dx + c * dy, variance, 0.0, variance, ROLLS)
    w[BU], w[BV] = c * told[BALL_VX] - s * told[BALL_VY], s * told[BALL_VX] + c * told[BALL_VY]
