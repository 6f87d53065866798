"""What trackers keep of a player between cycles: a row of plain numbers, and the settings as kernels want them.

A row begins with the belief as strategies get it (`strategy_rows`), so that nothing is copied; what only the tracker
needs follows. Everything is in the frame of the player's own team, or of its odometer: the frame in which it began,
as its odometry has it. Metres, seconds, radians.
"""

from __future__ import annotations

from typing import NamedTuple

from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.match.behaviour.strategy_rows import BELIEF

XX, XY, YY, XT, YT, TT = range(BELIEF, BELIEF + 6)
"""Covariance of the pose: x, y and heading t."""
ODO_X, ODO_Y, ODO_T = range(BELIEF + 6, BELIEF + 9)
"""Where the player would be by its odometry alone."""
BX, BY, BU, BV = range(BELIEF + 9, BELIEF + 13)
"""The ball in the odometer's frame, and its velocity (u, v)."""
PXX, PXY, PYY, PXU, PXV, PYU, PYV, PUU, PUV, PVV = range(BELIEF + 13, BELIEF + 23)
"""Covariance of the ball."""
ODD = BELIEF + 23
"""How often in a row the ball was not where it should be."""
MISFIT = BELIEF + 24
"""Share of the landmarks seen lately that fit nothing."""
MIND = BELIEF + 25
"""Width of a row."""


class TrackerNumbers(NamedTuple):
    """The settings as the kernels want them; what is not said here is as in `eyes.TrackerSettings`."""

    step: float
    """A cycle, s."""
    move_noise: float
    move_share: float
    turn_noise: float
    turn_share: float
    fallen_noise: float
    fallen_turn_noise: float
    gate: float
    rival_gate: float
    floor: float
    bearing_noise: float
    crossing_noise: float
    ball_push: float
    ball_gate: float
    ball_told: float
    rolling: float
    """How a ball slows down, m/s^2."""
    damping: float
    """The same with its speed, 1/s."""
    others_drift: float
    others_gate: float
    others_memory: float
    lost: float
    apart: float
    """By how many landmarks a new pose must fit better than any other."""
    half_length: float
    half_width: float


class Seen(NamedTuple):
    """What one player sees in a cycle, its rows of `sights.Sights`."""

    things: int
    """How many; what follows has more rows."""
    kind: SmallInts
    number: SmallInts
    lying: Bools
    polar: Floats


class Table(NamedTuple):
    """The landmarks in the frame of a team, sorted by kind."""

    places: Floats
    """(C, 4): x, y, direction or NaN, and the number that is recognised with it, or 0."""
    first: Ints
    """(kinds + 1,) where each kind begins."""
