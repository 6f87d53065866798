"""Rotations, volumes and mirror images for building bodies.

Quaternions are (w, x, y, z). Euler angles are roll, pitch, yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def quaternion(euler: Sequence[float]) -> list[float]:
    """The rotation by roll, pitch and yaw [rad]."""
    cr, cp, cy = (math.cos(a / 2) for a in euler)
    sr, sp, sy = (math.sin(a / 2) for a in euler)
    return [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]


def product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The quaternion that rotates by `b`, then by `a`."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def heading(yaw: float) -> list[float]:
    """The rotation about the vertical [rad]."""
    return [math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]


def camera_quaternion(quat: Sequence[float]) -> list[float]:
    """A camera that looks along the x axis of a frame with its z axis up (MuJoCo's look along -z)."""
    return product(quat, [0.5, 0.5, -0.5, -0.5])


def mirrored_name(name: str) -> str | None:
    """The right-hand name of a left-hand body (`LThigh` -> `RThigh`), or None if it is not left-hand."""
    for left, right in (("L", "R"), ("l_", "r_"), ("left", "right")):
        if name.startswith(left):
            return right + name[len(left) :]
    return None


def volume(kind: str, size: Sequence[float]) -> float:
    """Volume of a shape by its full lengths (see `body.robot.Shape.size`) [m³]."""
    match kind:
        case "sphere":
            return 4 / 3 * math.pi * size[0] ** 3
        case "capsule":
            return math.pi * size[0] ** 2 * size[1] + 4 / 3 * math.pi * size[0] ** 3
        case "cylinder":
            return math.pi * size[0] ** 2 * size[1]
        case "ellipsoid":
            return math.pi / 6 * size[0] * size[1] * size[2]
        case _:
            return size[0] * size[1] * size[2]
