"""What a robot's own gyro and accelerometer tell of its tilt.

    sense = InertialSense(worlds, "nao", period=0.02)
    sense.sample()                      # once a cycle
    sense.gyro                          # (N, 3) rad/s, with the sensor's noise and steps
    sense.tilt                          # (N, 2) roll and pitch, estimated from both sensors [rad]

Nothing here looks at the true tilt after the start, where a robot stands still and measures it. From then on the gyro
is integrated, and gravity, as the accelerometer feels it over a cycle, slowly draws the estimate (a complementary
filter). Noise and steps are those of the robot's `imu`; a robot without one senses exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.engine.worlds import Worlds

    Array = NDArray[np.float64]

GRAVITY = 9.80665
TRUST = 1.0
"""Time constant with which the accelerometer draws the estimate [s]."""
_SIGNS = np.array([1.0, -1.0])
PLAUSIBLE = 0.3
"""Accelerations that differ from gravity by more than this share say nothing of the tilt."""


class InertialSense:
    """The gyro, the accelerometer and the estimated tilt of one robot in N worlds.

    Args:
        worlds: where it is.
        robot: its name.
        period: of a control cycle [s].
        rng: source of the sensor's noise; None for none.
    """

    def __init__(
        self, worlds: Worlds, robot: str, *, period: float = 0.02, rng: np.random.Generator | None = None
    ) -> None:
        self._robot, self._period, self._rng = worlds.robot(robot), period, rng
        sensors = [s for s in self._robot.table.sensors if s.type == "imu"]
        noise, steps = (sensors[0].noise, sensors[0].resolution) if sensors else ((0.0,), (0.0,))
        self._noise, self._steps = (noise[0], noise[-1]), (steps[0], steps[-1])
        self.gyro: Array = np.zeros((worlds.count, 3))
        """Angular velocity in the torso's frame, (N, 3) [rad/s]."""
        self.tilt: Array = np.zeros((worlds.count, 2))
        """Estimated roll and pitch of the torso, (N, 2) [rad]."""
        self._last: Array = np.zeros((worlds.count, 3))
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Begins anew from how the robots stand."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        w, x, y, z = self._robot.pose[rows, 3:7].T
        self.tilt[rows, 0] = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        self.tilt[rows, 1] = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
        self.gyro[rows] = 0.0
        self._last[rows] = self._robot.velocity[rows, :3]

    def sample(self) -> None:
        """Measures, and brings the estimate up to date."""
        velocity, dt = self._robot.velocity, self._period
        self.gyro = gyro = self._measured(velocity[:, 3:6], 0)
        felt = (velocity[:, :3] - self._last) / dt
        felt[:, 2] += GRAVITY
        self._last[:] = velocity[:, :3]
        felt = self._measured(_seen_from(self._robot.pose[:, 3:7], felt), 1)
        tilt = self.tilt
        turned = dt * (gyro[:, :2] + tilt[:, ::-1] * gyro[:, 2:] * _SIGNS)
        strength = np.sqrt((felt * felt).sum(axis=1, keepdims=True))
        told = np.arctan2(felt[:, 1::-1] * _SIGNS, np.maximum(felt[:, 2:], 1e-3))
        share = (dt / TRUST) * (np.abs(strength - GRAVITY) < PLAUSIBLE * GRAVITY)
        tilt += turned
        tilt += share * (told - tilt)

    def _measured(self, value: Array, which: int) -> Array:
        """A value with the noise and in the steps of the gyro (0) or the accelerometer (1)."""
        noise, step = self._noise[which], self._steps[which]
        if self._rng is not None and noise:
            value = value + noise * self._rng.standard_normal(value.shape)
        return np.rint(value / step) * step if step else np.array(value)


def _seen_from(quaternion: Array, vector: Array) -> Array:
    """World vectors (N, 3) in frames turned by quaternions (N, 4)."""
    w, axis = quaternion[:, :1], -quaternion[:, 1:]
    across = 2 * _cross(axis, vector)
    return np.asarray(vector + w * across + _cross(axis, across))


def _cross(a: Array, b: Array) -> Array:
    """Cross products (N, 3), without the overhead of NumPy's own."""
    out = np.empty_like(b)
    out[:, 0] = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    out[:, 1] = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    out[:, 2] = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return out
