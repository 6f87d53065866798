"""Angles within half a turn, and what quaternions (w, x, y, z) say about attitudes [rad].

`nutmeg.base.angle_kernels` has most of these functions for compiled code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats

    Angle = TypeVar("Angle", float, Floats)


def wrap_angle(angle: Angle) -> Angle:
    """The same angle within [-pi, pi), for a number or an array of any shape."""
    return (angle + math.pi) % math.tau - math.pi


def wrap_angle_exactly(angle: float) -> float:
    """The same angle within [-pi, pi], without rounding: one that lies there already stays as it is.

    For angles that are kept and wrapped again and again, such as a heading: `wrap_angle` rounds each time.
    """
    return math.remainder(angle, math.tau)


def roll_pitch_yaw(quaternions: Floats) -> Floats:
    """Roll, pitch and yaw of unit quaternions (..., 4), (..., 3) [rad]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    return np.stack([roll, pitch, heading_of(quaternions)], axis=-1)


def heading_of(quaternions: Floats) -> Floats:
    """Where the x axes of bodies with unit quaternions (..., 4) point on the ground, (...) [rad]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    return np.asarray(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def upward(quaternions: Floats) -> Floats:
    """The upward directions in the frames of bodies with unit quaternions (..., 4), (..., 3)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)


def uprightness(quaternions: Floats) -> Floats:
    """Cosines of the angles between the z axes of bodies with unit quaternions (..., 4) and the vertical, (...)."""
    x, y = quaternions[..., 1], quaternions[..., 2]
    return np.asarray(1 - 2 * (x * x + y * y))


def rotated(quaternions: Floats, vectors: Floats) -> Floats:
    """Vectors (..., 3) rotated by unit quaternions (..., 4)."""
    twice = 2.0 * np.cross(quaternions[..., 1:], vectors)
    return np.asarray(vectors + quaternions[..., :1] * twice + np.cross(quaternions[..., 1:], twice))
