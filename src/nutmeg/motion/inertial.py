"""What a robot's own gyro and accelerometer tell of its tilt.

    sense = InertialSense(worlds, "nao", period=0.02)
    sense.sample()                      # once a cycle
    sense.gyro                          # (N, 3) rad/s, with the sensor's noise and steps
    sense.tilt                          # (N, 2) roll and pitch, estimated from both sensors [rad]

Nothing here looks at the true tilt after the start, where a robot stands still and measures it. From then on the gyro
is integrated, and gravity, as the accelerometer feels it over a cycle, slowly draws the estimate (a complementary
filter). In simulated worlds the sensors themselves are simulated (`SimulatedInertia`): noise and steps are those of the
robot's `imu`; a robot without one senses exactly. An `OwnBody` is told what it senses. The arithmetic is compiled
(`walker_kernels`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.motion.own_body import Feeling

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.engine.robots import RobotWorlds
    from nutmeg.motion.own_body import Bodies


TRUST = 1.0
"""Time constant with which the accelerometer draws the estimate [s]."""
PLAUSIBLE = 0.3
"""Accelerations that differ from gravity by more than this share say nothing of the tilt."""


class Inertia(Protocol):
    """Gyro and accelerometer of one robot in N worlds."""

    gyro: Floats
    """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
    felt: Floats
    """What the accelerometer measures, (N, 3) [m/s²], live."""

    def reset(self, rows: Indices | slice) -> Floats:
        """Begins anew in some worlds; returns the upward direction that robots at rest measure there, (n, 3)."""
        ...

    def measure(self) -> None:
        """Reads the sensors."""
        ...


class SimulatedInertia:
    """The sensors of a robot in simulated worlds; the accelerometer feels the mean over a cycle."""

    def __init__(self, robot: RobotWorlds, count: int, period: float, rng: np.random.Generator | None) -> None:
        self._robot, self._period, self._rng = robot, period, rng
        sensors = [s for s in robot.table.sensors if s.type == "imu"]
        noise, steps = (sensors[0].noise, sensors[0].resolution) if sensors else ((0.0,), (0.0,))
        self._scales = np.array([[noise[0], steps[0]], [noise[-1], steps[-1]]])
        self.gyro: Floats = np.zeros((count, 3))
        self.felt: Floats = np.zeros((count, 3))
        self._last: Floats = np.zeros((count, 3))

    def reset(self, rows: Indices | slice) -> Floats:
        """Begins anew from how robots are; returns what is up there, (n, 3)."""
        w, x, y, z = self._robot.pose[rows, 3:7].T
        up = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
        self.gyro[rows], self.felt[rows] = 0.0, STANDARD_GRAVITY * up
        self._last[rows] = self._robot.velocity[rows, :3]
        return up

    def measure(self) -> None:
        """Reads both sensors, with noise and in steps."""
        from nutmeg.motion.walker_kernels import measure  # here: the compiler takes its time to load

        robot, rng = self._robot, self._rng
        noise = np.zeros((0, 6)) if rng is None else rng.standard_normal((len(self.gyro), 6))
        motion, pose = robot.velocity.copy(), robot.pose.copy()
        measure(motion, pose, noise, self._scales, self._period, STANDARD_GRAVITY, self._last, self.gyro, self.felt)


class ToldInertia:
    """The sensors of a robot that tells them itself."""

    def __init__(self, robot: Feeling) -> None:
        self._robot = robot
        self.gyro: Floats = robot.gyro
        self.felt: Floats = robot.felt

    def reset(self, rows: Indices | slice) -> Floats:
        """What is up, (n, 3)."""
        return self._robot.up[rows].copy()

    def measure(self) -> None:
        """Nothing: its owner writes them."""


def inertia_of(worlds: Bodies, robot: str, period: float, rng: np.random.Generator | None) -> Inertia:
    """The gyro and accelerometer of a robot, simulated or told."""
    view = worlds.robot(robot)
    if isinstance(view, Feeling):
        return ToldInertia(view)
    return SimulatedInertia(cast("RobotWorlds", view), worlds.count, period, rng)


class InertialSense:
    """The gyro, the accelerometer and the estimated tilt of one robot in N worlds.

    Args:
        worlds: where it is: `Worlds`, or an `OwnBody`.
        robot: its name.
        period: of a control cycle [s].
        rng: source of the sensor's noise, where it is simulated; None for none.
    """

    def __init__(
        self, worlds: Bodies, robot: str, *, period: float = 0.02, rng: np.random.Generator | None = None
    ) -> None:
        self._inertia = inertia_of(worlds, robot, period, rng)
        self._filter = np.array([period, STANDARD_GRAVITY, PLAUSIBLE * STANDARD_GRAVITY, period / TRUST])
        self.gyro: Floats = self._inertia.gyro
        """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
        self.tilt: Floats = np.zeros((worlds.count, 2))
        """Estimated roll and pitch of the torso, (N, 2) [rad], live."""
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Begins anew from how the robots stand."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        up = self._inertia.reset(rows)
        self.tilt[rows, 0] = np.arctan2(up[:, 1], up[:, 2])
        self.tilt[rows, 1] = np.arcsin(np.clip(-up[:, 0], -1.0, 1.0))

    def sample(self) -> None:
        """Measures, and brings the estimate up to date."""
        from nutmeg.motion.walker_kernels import lean  # here: the compiler takes its time to load

        self._inertia.measure()
        lean(self._inertia.gyro, self._inertia.felt, self._filter, self.tilt)
