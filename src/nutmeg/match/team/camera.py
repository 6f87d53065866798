"""The camera in the head of the league's robot: from what is told in polar coordinates to places seen from the torso.

    turn, centre = head_frame(math.radians(angles[0]), math.radians(angles[1]))
    spot(sight.marks[0], turn, centre)          # (3,) metres ahead, to the left and above the middle of the torso

Frames have x ahead, y to the left, z up. The neck turns about z by `hj1` and nods by `hj2`, up being positive; the
camera is in the middle of the head. Lengths are those of rcssserver3d's naoneckhead.rsg, as in the robot table
`nao-spark`: all types have the same head. Compiled, since players call it for every point they see.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


NECK = 0.09
"""From the middle of the torso up to the neck [m]."""
NOD = 0.06
"""From there to the axis about which the head nods [m]."""
EYE = 0.005
"""From there to the camera [m]."""
HALF_VIEW = math.radians(60.0)
"""The camera sees so far to each side, up and down [rad]."""
YAW_LIMIT, PITCH_LIMIT = math.radians(120.0), math.radians(45.0)
"""How far the neck turns and nods [rad]."""
RADIANS = math.pi / 180.0


@kernel
def head_frame(yaw: float, pitch: float) -> tuple[Floats, Floats]:
    """The matrix that turns the camera's frame into the torso's, (3, 3), and where the camera is, (3,) m."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    turn, centre = np.empty((3, 3)), np.empty(3)
    turn[0, 0], turn[0, 1], turn[0, 2] = cy * cp, -sy, -cy * sp
    turn[1, 0], turn[1, 1], turn[1, 2] = sy * cp, cy, -sy * sp
    turn[2, 0], turn[2, 1], turn[2, 2] = sp, 0.0, cp
    centre[0], centre[1], centre[2] = EYE * turn[0, 2], EYE * turn[1, 2], NECK + NOD + EYE * turn[2, 2]
    return turn, centre


@kernel
def spot(polar: Floats, turn: Floats, centre: Floats) -> Floats:
    """Where something is, seen from the torso (3,), that the camera sees at a distance [m] and two angles [degrees]."""
    left, up = polar[1] * RADIANS, polar[2] * RADIANS
    flat = polar[0] * math.cos(up)
    x, y, z = flat * math.cos(left), flat * math.sin(left), polar[0] * math.sin(up)
    out = np.empty(3)
    for i in range(3):
        out[i] = centre[i] + turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
    return out


@kernel
def onto_pitch(polar: Floats, turn: Floats, centre: Floats, place: Floats, attitude: Floats) -> Floats:
    """The same on the pitch, (3,), for a torso at a place (3,) with an attitude (3, 3)."""
    seen, out = spot(polar, turn, centre), np.empty(3)
    for i in range(3):
        out[i] = place[i] + attitude[i, 0] * seen[0] + attitude[i, 1] * seen[1] + attitude[i, 2] * seen[2]
    return out
