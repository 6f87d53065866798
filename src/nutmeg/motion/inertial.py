"""What a robot's own gyro and accelerometer tell of its tilt.

    sense = InertialSense(worlds, "nao", period=0.02)
    sense.sample()                      # once a cycle
    sense.gyro                          # (N, 3) rad/s, with the sensor's noise and steps
    sense.tilt                          # (N, 2) roll and pitch, estimated from both sensors [rad]

Nothing here looks at the true tilt after the start, where a robot stands still and measures it. From then on the gyro
is integrated, and gravity, as the accelerometer feels it over a cycle, slowly draws the estimate (a complementary
filter). Noise and steps are those of the robot's `imu`; a robot without one senses exactly. The arithmetic is
compiled (`walker_kernels.feel`).
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
        self._robot, self._rng = worlds.robot(robot), rng
        self._filter = np.array([period, GRAVITY, PLAUSIBLE * GRAVITY, period / TRUST])
        sensors = [s for s in self._robot.table.sensors if s.type == "imu"]
        noise, steps = (sensors[0].noise, sensors[0].resolution) if sensors else ((0.0,), (0.0,))
        self._scales = np.array([[noise[0], steps[0]], [noise[-1], steps[-1]]])
        self.gyro: Array = np.zeros((worlds.count, 3))
        """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
        self.tilt: Array = np.zeros((worlds.count, 2))
        """Estimated roll and pitch of the torso, (N, 2) [rad], live."""
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
        from nutmeg.motion.walker_kernels import feel  # here: the compiler takes its time to load

        robot = self._robot
        feel(
            robot.velocity.copy(),
            robot.pose.copy(),
            self._noise(),
            self._scales,
            self._filter,
            self._last,
            self.gyro,
            self.tilt,
        )

    def _noise(self) -> Array:
        """Standard normal numbers for gyro and accelerometer, (N, 6); none, (0, 6), without a generator."""
        return np.zeros((0, 6)) if self._rng is None else self._rng.standard_normal((len(self.gyro), 6))
