"""What is decided in every cycle about standing, falling and getting up, compiled: robot by robot over N robots.

    follow_up(gyro, felt, period, gravity, plausible, drawn, up)        # where up is, told by both sensors
    notice(up, gyro, period, limits, fallen, lying, still, quiet)       # who has fallen, and which way
    leave(state, since, ...)                                            # who passes into another skill

One robot's cycle is a few microseconds this way. Arithmetic is in the order of the array expressions it stands for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.kernels import kernel

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices


UPRIGHT, FRONT, BACK, LEFT, RIGHT = range(5)
"""Numbers of `fall_detection.Lying`."""
STAND, WALK, STOP, FALL, GET_UP, STEADY, LENT = range(7)
"""Numbers of `skills.Skill`."""


@kernel
def estimate_up(
    gyro: Floats, felt: Floats, period: float, gravity: float, plausible: float, drawn: float, up: Floats
) -> None:
    """Turns upward directions (N, 3) with the gyro (N, 3), and draws them to what the accelerometer (N, 3) feels.

    Args:
        gyro: [rad/s].
        felt: [m/s²].
        period: of a cycle [s].
        gravity: [m/s²].
        plausible: share of gravity by which an acceleration may differ and still tell what is up.
        drawn: time constant of the accelerometer [s].
        up: unit vectors; changed.
    """
    for n in range(len(up)):
        a, g, f = up[n], gyro[n], felt[n]
        x = a[0] + period * (a[1] * g[2] - a[2] * g[1])  # the torso turns, and up stays
        y = a[1] + period * (a[2] * g[0] - a[0] * g[2])
        z = a[2] + period * (a[0] * g[1] - a[1] * g[0])
        strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        if abs(strength - gravity) < plausible * gravity:
            share = period / drawn
            x += share * (f[0] / strength - x)
            y += share * (f[1] / strength - y)
            z += share * (f[2] / strength - z)
        length = math.sqrt(x * x + y * y + z * z)
        up[n, 0], up[n, 1], up[n, 2] = x / length, y / length, z / length


@kernel
def detect_falls(
    up: Floats, gyro: Floats, period: float, limits: Floats, fallen: Bools, lying: Indices, still: Bools, quiet: Floats
) -> None:
    """Who has fallen, which side is below, and who lies still; all (N,) and changed.

    `limits` are cosine of the lean of a fall, cosine of the lean of who is upright again, the rate [rad/s] below which
    a torso is still, and for how long [s] it must be, (4,).
    """
    for n in range(len(up)):
        x, y, z = up[n]
        fallen[n] = (fallen[n] or z < limits[0]) and z < limits[1]
        if not fallen[n]:
            lying[n] = UPRIGHT
        elif abs(x) >= abs(y):
            lying[n] = BACK if x > 0 else FRONT
        else:
            lying[n] = RIGHT if y > 0 else LEFT
        g = gyro[n]
        quick = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > limits[2] * limits[2]
        quiet[n] = 0.0 if quick else quiet[n] + period
        still[n] = quiet[n] >= limits[3] - 1e-9


@kernel
def choose_skills(
    state: Indices,
    since: Floats,
    wanted: Floats,
    step: Floats,
    into_step: Floats,
    fallen: Bools,
    still: Bools,
    up_again: Bools,
    limits: Floats,
    times: Floats,
    following: Indices,
) -> bool:
    """Into which skill each robot passes, -1 for none, (N,) `following`; whether any does.

    Args:
        state: skills now, (N,).
        since: for how long, (N,) [s].
        wanted: velocities, (N, 3).
        step: step sizes, (N, 3).
        into_step: time since both feet were down, (N,) [s].
        fallen: (N,).
        still: (N,).
        up_again: who is done with getting up, (N,).
        limits: velocities up to which a robot stands, and steps that may end, (2, 3).
        times: the longest fall, steadying, and how near to a step's beginning both feet are down, (3,) [s].
        following: changed.
    """
    some = False
    for n in range(len(state)):
        now, goes = state[n], -1
        wants, small = False, True
        for i in range(3):
            wants = wants or abs(wanted[n, i]) > limits[0, i]
            small = small and abs(step[n, i]) <= limits[1, i]
        if now == FALL:
            if still[n] or since[n] >= times[0]:
                goes = GET_UP if fallen[n] else STEADY
        elif now == GET_UP:
            goes = STEADY if up_again[n] else -1
        elif now == LENT:
            goes = -1
        elif fallen[n]:
            goes = FALL
        elif now == STEADY:
            goes = STAND if since[n] >= times[1] else -1
        elif wants:
            goes = WALK if now != WALK else -1
        elif now == WALK:
            goes = STOP
        elif now == STOP and small and into_step[n] < times[2]:
            goes = STAND
        following[n] = goes
        some = some or goes >= 0
    return some
