"""Which limbs of a robot are inside another part of it: boxes that overlap, found by separating axes.

    find_own_collisions(boxes, limbs, pairs, sizes, places, turns, seats, slots, TOLERANCE, collides)

On the league's server nothing of a robot pushes another part of it (`disableInnerCollision` in nao.rsg); a limb passes
through, and its referee looks for boxes that overlap by more than a tolerance (SelfCollisionsTolerance, 0.04 m in
naosoccersim.rb). Two boxes overlap less than that if along one of fifteen directions (three edges of each, and the
products of an edge of one with an edge of the other) their shadows do. The league does not scale these products to unit
length, which makes its referee lenient: where edges are nearly parallel, as of two feet side by side, nothing collides.
Players have learned to get up and walk with that, so it is the same here. Boxes that a joint connects are left out. As
in `motion.leg_kernels`, the machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import inlined, kernel

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints


TOLERANCE = 0.04
"""Boxes may be inside each other so far before it is a collision [m]."""
BOXES = (
    *("torso", "LUpperArm", "LLowerArm", "RUpperArm", "RLowerArm"),
    *("LThigh", "LShank", "LFoot", "RThigh", "RShank", "RFoot", "LToe", "RToe"),
)
"""Bodies whose boxes are looked at."""
JOINED = (
    *(("torso", f"{side}UpperArm") for side in "LR"),
    *((f"{side}UpperArm", f"{side}LowerArm") for side in "LR"),
    *(("torso", f"{side}Thigh") for side in "LR"),
    *((f"{side}Thigh", f"{side}Shank") for side in "LR"),
    *((f"{side}Shank", f"{side}Foot") for side in "LR"),
    *((f"{side}Foot", f"{side}Toe") for side in "LR"),
)
"""Neighbours, which always overlap."""


def pairs_of_boxes() -> Ints:
    """(P, 2) columns of `BOXES` that may collide."""
    found = [
        (i, j)
        for i, one in enumerate(BOXES)
        for j, two in enumerate(BOXES[i + 1 :], i + 1)
        if (one, two) not in JOINED and (two, one) not in JOINED
    ]
    return np.array(found, np.int64)


@kernel
def find_own_collisions(
    boxes: Ints,
    limbs: Ints,
    pairs: Ints,
    sizes: Floats,
    places: Floats,
    turns: Floats,
    seats: Ints,
    slots: Ints,
    tolerance: float,
    collides: Bools,
) -> None:
    """Fills collides (22, 4) for the robots on some seats; boxes (S, B) are geoms, -1 for none, limbs (B,) theirs."""
    for k in range(len(seats)):
        for p in range(len(pairs)):
            one, two = boxes[seats[k], pairs[p, 0]], boxes[seats[k], pairs[p, 1]]
            if one < 0 or two < 0 or not _overlap(one, two, sizes, places, turns, tolerance):
                continue
            for column in pairs[p]:
                if limbs[column] >= 0:
                    collides[slots[k], limbs[column]] = True


@inlined
def _overlap(one: int, two: int, sizes: Floats, places: Floats, turns: Floats, tolerance: float) -> bool:
    """Whether two boxes overlap by more than a tolerance along all directions that may separate them."""
    dx, dy, dz = places[two, 0] - places[one, 0], places[two, 1] - places[one, 1], places[two, 2] - places[one, 2]
    reach = _radius(sizes, one) + _radius(sizes, two) - tolerance
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    turn = np.empty((3, 3))  # of the second, seen from the first; and how far away it is there
    away = np.empty(3)
    for i in range(3):
        away[i] = turns[one, i] * dx + turns[one, 3 + i] * dy + turns[one, 6 + i] * dz
        for j in range(3):
            turn[i, j] = (
                turns[one, i] * turns[two, j]
                + turns[one, 3 + i] * turns[two, 3 + j]
                + turns[one, 6 + i] * turns[two, 6 + j]
            )
    for i in range(3):
        shadow = abs(turn[i, 0]) * sizes[two, 0] + abs(turn[i, 1]) * sizes[two, 1] + abs(turn[i, 2]) * sizes[two, 2]
        if abs(away[i]) + tolerance >= sizes[one, i] + shadow:
            return False
    for j in range(3):
        shadow = abs(turn[0, j]) * sizes[one, 0] + abs(turn[1, j]) * sizes[one, 1] + abs(turn[2, j]) * sizes[one, 2]
        between = away[0] * turn[0, j] + away[1] * turn[1, j] + away[2] * turn[2, j]
        if abs(between) + tolerance >= sizes[two, j] + shadow:
            return False
    return not _edges_part(sizes[one], sizes[two], turn, away, tolerance)


@inlined
def _radius(sizes: Floats, box: int) -> float:
    """Of the sphere about a box, m."""
    return math.sqrt(sizes[box, 0] ** 2 + sizes[box, 1] ** 2 + sizes[box, 2] ** 2)


@kernel
def _edges_part(first: Floats, second: Floats, turn: Floats, away: Floats, tolerance: float) -> bool:
    """Whether a direction across an edge of each of two boxes separates them; `turn` and `away` as seen by the first.

    Such a direction is as long as the sine of the angle between the edges, and the tolerance is not: as in the league,
    boxes with edges that are nearly parallel do not collide.
    """
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            between = abs(away[i2] * turn[i1, j] - away[i1] * turn[i2, j])
            shadows = (
                first[i1] * abs(turn[i2, j])
                + first[i2] * abs(turn[i1, j])
                + second[j1] * abs(turn[i, j2])
                + second[j2] * abs(turn[i, j1])
            )
            if between + tolerance >= shadows:
                return True
    return False
