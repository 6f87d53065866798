"""Angles within half a turn [rad]. `nutmeg.base.angle_kernels` has the same two functions for compiled code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

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
