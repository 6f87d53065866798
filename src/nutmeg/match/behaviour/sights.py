"""What players see, as arrays over M matches and 22 players, and as objects for players in Python.

    sights = vision.see(state)
    for thing in sights.of(match, slot):
        thing.kind, thing.distance, thing.bearing
    sights.kind[match, slot, : sights.count[match, slot]]        # the same for kernels

Things are listed near ones first. They are told as the player's team sees them: its own goal, mates and opponents;
directions from between the player's feet, to the left of where its body looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.match.behaviour.marks import Kind
from nutmeg.match.behaviour.view_kernels import BEARING, DISTANCE, SPREAD, TURN
from nutmeg.match.slots import SLOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A thing that a player sees."""

    kind: Kind
    """What it looks like."""
    distance: float
    """On the ground, m."""
    bearing: float
    """To the left, rad."""
    spread: float
    """Standard deviation of the distance, m."""
    turn: float | None = None
    """Which way an L or T crossing points, rad to the left of the body's heading."""
    number: int | None = None
    """Of a robot, if it is recognised. Of a post, 1 or 2: at +y or -y in the frame of the own team. Of a landmark, the
    row in `Marks` and 1, if it is recognised."""
    lying: bool = False
    """Whether a robot lies."""

    @property
    def ahead(self) -> float:
        """How far ahead of the player's feet it is, m."""
        return self.distance * math.cos(self.bearing)

    @property
    def left(self) -> float:
        """How far to the left it is, m."""
        return self.distance * math.sin(self.bearing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sights:
    """What everybody sees in a cycle; written in place by `Vision`."""

    count: Ints
    """(M, 22) how many things; what is listed beyond means nothing."""
    kind: SmallInts
    """(M, 22, K) of `Kind`."""
    number: SmallInts
    """(M, 22, K) as in `Seen`; 0 where it is not recognised."""
    lying: Bools
    """(M, 22, K) whether a robot lies."""
    polar: Floats
    """(M, 22, K, 4): distance [m], bearing [rad], turn [rad] or NaN, standard deviation of the distance [m]."""

    @classmethod
    def new(cls, count: int, things: int) -> Sights:
        """Nothing seen, with room for that many things each."""
        shape = (count, SLOTS, things)
        return cls(
            count=np.zeros(shape[:2], np.int64),
            kind=np.zeros(shape, np.int8),
            number=np.zeros(shape, np.int8),
            lying=np.zeros(shape, bool),
            polar=np.zeros((*shape, 4)),
        )

    def of(self, match: int, slot: int) -> tuple[Seen, ...]:
        """What a player sees, near things first."""
        row = (match, slot)
        return tuple(
            Seen(
                kind=Kind(int(self.kind[row][i])),
                distance=float(self.polar[row][i, DISTANCE]),
                bearing=float(self.polar[row][i, BEARING]),
                spread=float(self.polar[row][i, SPREAD]),
                turn=None if math.isnan(self.polar[row][i, TURN]) else float(self.polar[row][i, TURN]),
                number=int(self.number[row][i]) or None,
                lying=bool(self.lying[row][i]),
            )
            for i in range(int(self.count[row]))
        )
