"""Gyro and accelerometer, compiled: what they measure, and what tilt, upward direction and falls follow from them.

All functions go robot by robot over N robots; one robot's cycle takes a few microseconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.motion.inertial import GRAVITY_BAND, TILT_TIME_CONSTANT, UP_TIME_CONSTANT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats

    Records = NDArray[np.void]

UPRIGHT, FRONT, BACK, LEFT, RIGHT = range(5)
"""Numbers of `inertial.Lying`."""


@kernel
def _quantised(value: float, noise: float, step: float) -> float:
    """A sensor's reading: with noise, in steps (0 for none)."""
    value += noise
    return np.rint(value / step) * step if step > 0.0 else value


@kernel
def measure_imu(
    motion: Floats, pose: Floats, noise: Floats, sensor: Records, last: Floats, gyro: Floats, acceleration: Floats
) -> None:
    """Readings of gyro and accelerometer of simulated robots.

    Args:
        motion: velocities of the torso, linear in the world's frame and angular in its own, (N, 6).
        pose: place and quaternion of the torso, (N, 7).
        noise: standard normal numbers for gyro and accelerometer, (N, 6), or (0, 6) for none.
        sensor: record of `inertial.ImuSettings`, (1,).
        last: linear velocities a cycle ago, (N, 3); changed.
        gyro: (N, 3) [rad/s]; changed.
        acceleration: (N, 3) [m/s²]; changed.
    """
    s = sensor[0]
    for n in range(len(motion)):
        # The accelerometer measures the mean acceleration of a cycle, less gravity, in the torso's frame: a vector
        # turned back by the quaternion.
        fx, fy = (motion[n, 0] - last[n, 0]) / s.period, (motion[n, 1] - last[n, 1]) / s.period
        fz = (motion[n, 2] - last[n, 2]) / s.period + STANDARD_GRAVITY
        last[n] = motion[n, :3]
        w, x, y, z = pose[n, 3], -pose[n, 4], -pose[n, 5], -pose[n, 6]
        cx, cy, cz = 2 * (y * fz - z * fy), 2 * (z * fx - x * fz), 2 * (x * fy - y * fx)
        acceleration[n, 0] = fx + w * cx + (y * cz - z * cy)
        acceleration[n, 1] = fy + w * cy + (z * cx - x * cz)
        acceleration[n, 2] = fz + w * cz + (x * cy - y * cx)
        for i in range(3):
            drawn, shaken = (noise[n, i], noise[n, 3 + i]) if len(noise) else (0.0, 0.0)
            gyro[n, i] = _quantised(motion[n, 3 + i], s.gyro_noise * drawn, s.gyro_step)
            acceleration[n, i] = _quantised(acceleration[n, i], s.acceleration_noise * shaken, s.acceleration_step)


@kernel
def estimate_tilt(gyro: Floats, acceleration: Floats, period: float, tilt: Floats) -> None:
    """Roll and pitch by a complementary filter: the gyro is integrated, and gravity slowly draws the estimate.

    Args:
        gyro: (N, 3) [rad/s].
        acceleration: measured by the accelerometer, (N, 3) [m/s²].
        period: of a cycle [s].
        tilt: roll and pitch, (N, 2) [rad]; changed.
    """
    share = period / TILT_TIME_CONSTANT
    for n in range(len(tilt)):
        f = acceleration[n]
        # For small angles: what turns about the vertical axis passes from roll to pitch and back.
        roll = tilt[n, 0] + period * (gyro[n, 0] + tilt[n, 1] * gyro[n, 2])
        pitch = tilt[n, 1] + period * (gyro[n, 1] - tilt[n, 0] * gyro[n, 2])
        strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        if abs(strength - STANDARD_GRAVITY) < GRAVITY_BAND * STANDARD_GRAVITY:
            upward = max(f[2], 1e-3)
            roll += share * (math.atan2(f[1], upward) - roll)
            pitch += share * (math.atan2(-f[0], upward) - pitch)
        tilt[n, 0], tilt[n, 1] = roll, pitch


@kernel
def estimate_up(gyro: Floats, acceleration: Floats, period: float, up: Floats) -> None:
    """Upward directions, unit vectors (N, 3) in the torso's frame, by a complementary filter that works in any posture.

    Args:
        gyro: (N, 3) [rad/s].
        acceleration: measured by the accelerometer, (N, 3) [m/s²].
        period: of a cycle [s].
        up: changed.
    """
    for n in range(len(up)):
        a, g, f = up[n], gyro[n], acceleration[n]
        # The torso turns, and the upward direction stays in the world: da/dt = a x gyro.
        x = a[0] + period * (a[1] * g[2] - a[2] * g[1])
        y = a[1] + period * (a[2] * g[0] - a[0] * g[2])
        z = a[2] + period * (a[0] * g[1] - a[1] * g[0])
        strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        if abs(strength - STANDARD_GRAVITY) < GRAVITY_BAND * STANDARD_GRAVITY:
            share = period / UP_TIME_CONSTANT
            x += share * (f[0] / strength - x)
            y += share * (f[1] / strength - y)
            z += share * (f[2] / strength - z)
        length = math.sqrt(x * x + y * y + z * z)
        up[n, 0], up[n, 1], up[n, 2] = x / length, y / length, z / length


@kernel
def detect_falls(up: Floats, gyro: Floats, period: float, limits: Records, states: Records) -> None:
    """Updates which robots have fallen, which side is below, and which lie still.

    Args:
        up: upward directions, (N, 3).
        gyro: (N, 3) [rad/s].
        period: of a cycle [s].
        limits: record of `inertial.FallSettings`, (1,).
        states: records of `inertial.FallState`, (N,); changed.
    """
    fallen_cosine, upright_cosine = math.cos(limits[0].fallen_lean), math.cos(limits[0].upright_lean)
    for n in range(len(up)):
        s = states[n]
        x, y, z = up[n]
        # A fallen robot must come up farther than it had to lean, so that the state does not flicker.
        s.fallen = (s.fallen or z < fallen_cosine) and z < upright_cosine
        if not s.fallen:
            s.lying = UPRIGHT
        elif abs(x) >= abs(y):
            s.lying = BACK if x > 0 else FRONT
        else:
            s.lying = RIGHT if y > 0 else LEFT
        g = gyro[n]
        quick = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > limits[0].still_rate * limits[0].still_rate
        s.still_time = 0.0 if quick else s.still_time + period
        s.still = s.still_time >= limits[0].still_time - 1e-9
