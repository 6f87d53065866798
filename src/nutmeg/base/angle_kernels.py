"""Angles and rotations, for compiled code.

The functions are those of `nutmeg.base.angles`, which loads no numba.
"""

from __future__ import annotations

import math

from nutmeg.base.kernels import inlined

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
"""w, x, y, z."""


@inlined
def wrap_angle(angle: float) -> float:
    """The same angle within [-pi, pi)."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@inlined
def wrap_angle_exactly(angle: float) -> float:
    """The same angle within [-pi, pi], without rounding: one that lies there already stays as it is."""
    if -math.pi <= angle <= math.pi:
        return angle
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@inlined
def rotate(turn: Quaternion, vector: Vector) -> Vector:
    """A vector rotated by a quaternion; with -x, -y and -z it is rotated back."""
    w, x, y, z = turn
    a, b, c = vector
    cx, cy, cz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * cx + (y * cz - z * cy), b + w * cy + (z * cx - x * cz), c + w * cz + (x * cy - y * cx)


@inlined
def heading_of(turn: Quaternion) -> float:
    """Where the x axis of a body points on the ground [rad]."""
    w, x, y, z = turn
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


@inlined
def upward(turn: Quaternion) -> Vector:
    """The upward direction in the frame of a body."""
    w, x, y, z = turn
    return 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
