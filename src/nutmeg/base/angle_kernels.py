"""Angles within half a turn [rad], for compiled code: the functions of `nutmeg.base.angles`, which loads no numba."""

from __future__ import annotations

import math

from nutmeg.base.kernels import inlined


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
