"""Compiled models of gyro and accelerometer, and estimates of tilt, upward direction and falls from them.

Functions for one robot work on rows; their plurals loop over N robots. One robot's cycle takes a few microseconds. The
functions that a walk needs (`measure_imu`, `estimate_tilt`, `estimate_up`) run on a GPU, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import rotate
from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.motion.inertial import GRAVITY_BAND, TILT_TIME_CONSTANT, UP_TIME_CONSTANT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.motion.inertial import ImuSettings

    Records = NDArray[np.void]

UPRIGHT, FRONT, BACK, LEFT, RIGHT = range(5)
"""Numbers of `inertial.Lying`."""
NO_NOISE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Noise of gyro and accelerometer of a sensor that has none."""


@kernel
def _quantised(value: float, noise: float, step: float) -> float:
    """The reading of a sensor with noise and a resolution `step` (0 for none)."""
    value += noise
    # To the nearest step, halves to the even one; zero keeps its sign.
    return math.copysign(float(round(value / step)), value) * step if step > 0.0 else value


@kernel
def measure_imu(
    motion: Floats,
    pose: Floats,
    noise: Floats | tuple[float, ...],
    s: ImuSettings,
    last: Floats,
    gyro: Floats,
    acceleration: Floats,
) -> None:
    """Readings of gyro and accelerometer of one simulated robot.

    Args:
        motion: velocity of the torso, linear in the world's frame and angular in its own, (6,).
        pose: place and quaternion of the torso, (7,).
        noise: standard normal numbers for gyro and accelerometer, (6,).
        s: record of `inertial.ImuSettings`.
        last: linear velocity a cycle ago, (3,); changed.
        gyro: (3,) [rad/s]; changed.
        acceleration: (3,) [m/s²]; changed.
    """
    # The accelerometer measures the mean acceleration of a cycle, less gravity, in the torso's frame: a vector
    # turned back by the quaternion.
    fx, fy = (motion[0] - last[0]) / s.period, (motion[1] - last[1]) / s.period
    fz = (motion[2] - last[2]) / s.period + STANDARD_GRAVITY
    for i in range(3):
        last[i] = motion[i]
    back = (pose[3], -pose[4], -pose[5], -pose[6])
    acceleration[0], acceleration[1], acceleration[2] = rotate(back, (fx, fy, fz))
    for i in range(3):
        gyro[i] = _quantised(motion[3 + i], s.gyro_noise * noise[i], s.gyro_step)
        shaken = s.acceleration_noise * noise[3 + i]
        acceleration[i] = _quantised(acceleration[i], shaken, s.acceleration_step)


@kernel
def measure_imus(
    motion: Floats, pose: Floats, noise: Floats, sensor: Records, last: Floats, gyro: Floats, acceleration: Floats
) -> None:
    """`measure_imu` for N robots: a row each, noise (0, 6) for none, and the record of the sensor (1,)."""
    for n in range(len(motion)):
        if len(noise):
            measure_imu(motion[n], pose[n], noise[n], sensor[0], last[n], gyro[n], acceleration[n])
        else:
            measure_imu(motion[n], pose[n], NO_NOISE, sensor[0], last[n], gyro[n], acceleration[n])


@kernel
def estimate_tilt(gyro: Floats, acceleration: Floats, period: float, tilt: Floats) -> None:
    """Roll and pitch by a complementary filter: the gyro is integrated, and gravity slowly draws the estimate.

    Args:
        gyro: (3,) [rad/s].
        acceleration: measured by the accelerometer, (3,) [m/s²].
        period: of a cycle [s].
        tilt: roll and pitch, (2,) [rad]; changed.
    """
    share, f = period / TILT_TIME_CONSTANT, acceleration
    # For small angles: a rotation about the vertical axis turns roll into pitch and back.
    roll = tilt[0] + period * (gyro[0] + tilt[1] * gyro[2])
    pitch = tilt[1] + period * (gyro[1] - tilt[0] * gyro[2])
    strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
    if abs(strength - STANDARD_GRAVITY) < GRAVITY_BAND * STANDARD_GRAVITY:
        upward = max(f[2], 1e-3)
        roll += share * (math.atan2(f[1], upward) - roll)
        pitch += share * (math.atan2(-f[0], upward) - pitch)
    tilt[0], tilt[1] = roll, pitch


@kernel
def estimate_tilts(gyro: Floats, acceleration: Floats, period: float, tilt: Floats) -> None:
    """`estimate_tilt` for N robots: a row each."""
    for n in range(len(tilt)):
        estimate_tilt(gyro[n], acceleration[n], period, tilt[n])


@kernel
def estimate_up(gyro: Floats, acceleration: Floats | tuple[float, float, float], period: float, up: Floats) -> None:
    """The upward direction in the torso's frame by a complementary filter that works in any posture.

    Args:
        gyro: (3,) [rad/s].
        acceleration: measured by the accelerometer, (3,) [m/s²].
        period: of a cycle [s].
        up: a unit vector, (3,); changed.
    """
    a, g, f = up, gyro, acceleration
    # The torso turns, and the upward direction stays in the world: da/dt = a x gyro.
    x = a[0] + period * (a[1] * g[2] - a[2] * g[1])
    y = a[1] + period * (a[2] * g[0] - a[0] * g[2])
    z = a[2] + period * (a[0] * g[1] - a[1] * g[0])
    strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
    # The accelerometer shows the upward direction only while the robot does not accelerate much: a band about 1 g keeps
    # impacts of feet out.
    if abs(strength - STANDARD_GRAVITY) < GRAVITY_BAND * STANDARD_GRAVITY:
        share = period / UP_TIME_CONSTANT
        x += share * (f[0] / strength - x)
        y += share * (f[1] / strength - y)
        z += share * (f[2] / strength - z)
    length = math.sqrt(x * x + y * y + z * z)
    up[0], up[1], up[2] = x / length, y / length, z / length


@kernel
def estimate_ups(gyro: Floats, acceleration: Floats, period: float, up: Floats) -> None:
    """`estimate_up` for N robots: a row each."""
    for n in range(len(up)):
        estimate_up(gyro[n], acceleration[n], period, up[n])


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
        # The upward direction in the torso's frame says which side is up, and so on which it lies.
        elif abs(x) >= abs(y):
            s.lying = BACK if x > 0 else FRONT
        else:
            s.lying = RIGHT if y > 0 else LEFT
        g = gyro[n]
        quick = g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > limits[0].still_rate * limits[0].still_rate
        s.still_time = 0.0 if quick else s.still_time + period
        s.still = s.still_time >= limits[0].still_time - 1e-9
