"""Tilt, upward direction and falls of robots, estimated from their gyro and accelerometer.

    tilt = TiltEstimator(worlds, "nao", period=0.02)
    tilt.sample()                                   # once a cycle
    tilt.gyro                                       # (N, 3) rad/s, with the sensor's noise and steps
    tilt.tilt                                       # (N, 2) roll and pitch [rad]

    up = UpEstimator(worlds, "nao", period=0.02)
    falls = FallDetector(up)
    up.sample(); falls.sample(time)                 # once a cycle
    falls.fallen                                    # (N,) it leans too far to stand, or has not come up again
    falls.lying == Lying.FRONT                      # (N,) which of its sides is below
    falls.still                                     # (N,) it has stopped moving

The true pose is read once, at a start at rest; from then on the estimates follow from the sensors alone. Both are
complementary filters: the gyro is integrated, and the accelerometer slowly draws the estimate whenever it measures
little else than gravity. Roll and pitch are what a walk needs, but they say little about a robot that lies: on its
belly any roll goes with the same posture. So falls are detected from the direction that is up, a unit vector in the
torso's frame.

In simulated worlds the sensors are simulated with the noise and the steps of the robot's `imu`; a robot without one
senses exactly. A `SensingRobot` reports its own readings.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from nutmeg.base.angles import upward
from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.records import record_of, record_values
from nutmeg.motion.bodies import SensingRobot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.base.records import Records
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies
    from nutmeg.sim.worlds import RobotWorlds

TILT_TIME_CONSTANT = 1.0
"""Time constant with which the accelerometer draws the estimated roll and pitch [s]."""
UP_TIME_CONSTANT = 0.5
"""Time constant with which the accelerometer draws the estimated upward direction [s]."""
GRAVITY_BAND = 0.3
"""Accelerations that differ from gravity by more than this share of it are no measure of the tilt."""


class Imu(Protocol):
    """Gyro and accelerometer of one robot in N worlds."""

    gyro: Floats
    """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
    acceleration: Floats
    """Proper acceleration that the accelerometer measures, (N, 3) [m/s²], live."""

    def reset(self, rows: Indices | slice) -> Floats:
        """Begins anew in some worlds; returns the upward direction that robots at rest measure there, (n, 3)."""
        ...

    def measure(self) -> None:
        """Reads the sensors."""
        ...


@dataclass(frozen=True, kw_only=True)
class ImuSettings:
    """Noise (standard deviations) and steps of gyro [rad/s] and accelerometer [m/s²], and the control cycle [s]."""

    gyro_noise: float
    gyro_step: float
    acceleration_noise: float
    acceleration_step: float
    period: float


def imu_of_robot(table: RobotTable, period: float) -> Records[ImuSettings]:
    """The record, (1,), of a robot's gyro and accelerometer; a robot without them senses exactly."""
    sensors = [s for s in table.sensors if s.type == "imu"]
    noise, steps = (sensors[0].noise, sensors[0].resolution) if sensors else ((0.0,), (0.0,))
    return record_values(
        ImuSettings(
            gyro_noise=noise[0],
            gyro_step=steps[0],
            acceleration_noise=noise[-1],
            acceleration_step=steps[-1],
            period=period,
        )
    )


def tilt_at_rest(up: Floats) -> Floats:
    """Roll and pitch of torsos in whose frames `up` (N, 3) is upward, (N, 2) [rad]."""
    return np.stack([np.arctan2(up[:, 1], up[:, 2]), np.arcsin(np.clip(-up[:, 0], -1.0, 1.0))], axis=1)


class _SimulatedImu:
    """The sensors of a robot in simulated worlds; the accelerometer measures the mean over a cycle."""

    def __init__(self, robot: RobotWorlds, count: int, period: float, rng: np.random.Generator | None) -> None:
        self._robot, self._rng = robot, rng
        self._sensor = imu_of_robot(robot.table, period)
        self.gyro: Floats = np.zeros((count, 3))
        self.acceleration: Floats = np.zeros((count, 3))
        self._last: Floats = np.zeros((count, 3))

    def reset(self, rows: Indices | slice) -> Floats:
        """Begins anew from the true poses; returns what is up there, (n, 3)."""
        up = upward(self._robot.pose[rows, 3:])
        self.gyro[rows], self.acceleration[rows] = 0.0, STANDARD_GRAVITY * up
        self._last[rows] = self._robot.velocity[rows, :3]
        return up

    def measure(self) -> None:
        """Reads both sensors, with noise and in steps."""
        from nutmeg.motion.inertial_kernels import measure_imus  # here: loading the compiler takes long

        robot, rng = self._robot, self._rng
        noise = np.zeros((0, 6)) if rng is None else rng.standard_normal((len(self.gyro), 6))
        motion, pose = robot.velocity.copy(), robot.pose.copy()
        measure_imus(motion, pose, noise, self._sensor, self._last, self.gyro, self.acceleration)


class _ReportedImu:
    """The sensors of a robot that reports its own readings."""

    def __init__(self, robot: SensingRobot) -> None:
        self._robot = robot
        self.gyro: Floats = robot.gyro
        self.acceleration: Floats = robot.acceleration

    def reset(self, rows: Indices | slice) -> Floats:
        """The upward direction, (n, 3)."""
        return self._robot.up[rows].copy()

    def measure(self) -> None:
        """Does nothing: the robot writes its readings itself."""


def _imu_of(worlds: Bodies, robot: str, period: float, rng: np.random.Generator | None) -> Imu:
    """The gyro and accelerometer of a robot, simulated or reported."""
    view = worlds.robot(robot)
    if isinstance(view, SensingRobot):
        return _ReportedImu(view)
    return _SimulatedImu(cast("RobotWorlds", view), worlds.count, period, rng)


class _ImuEstimator:
    """The gyro of one robot in N worlds, and the estimates from it and the accelerometer.

    Args:
        worlds: `Worlds`, or an `OnboardRobot`.
        robot: the robot's name.
        period: control cycle [s].
        rng: random generator of the simulated sensors' noise; None for no noise.
    """

    def __init__(
        self, worlds: Bodies, robot: str, *, period: float = 0.02, rng: np.random.Generator | None = None
    ) -> None:
        self.period, self._imu = period, _imu_of(worlds, robot, period, rng)
        self.gyro: Floats = self._imu.gyro
        """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
        self.tilt: Floats = np.zeros((worlds.count, 2))
        """Estimated roll and pitch of the torso, (N, 2) [rad], live."""
        self.up: Floats = np.zeros((worlds.count, 3))
        """The estimated upward direction in the torso's frame, (N, 3), live."""
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Begins anew from the robots' postures at rest."""
        rows = _rows(ids)
        self.up[rows] = self._imu.reset(rows)
        self.tilt[rows] = tilt_at_rest(self.up[rows])


class TiltEstimator(_ImuEstimator):
    """The estimated roll and pitch of a robot: `tilt`."""

    def sample(self) -> None:
        """Measures, and updates the estimate."""
        from nutmeg.motion.inertial_kernels import estimate_tilts  # here: loading the compiler takes long

        self._imu.measure()
        estimate_tilts(self._imu.gyro, self._imu.acceleration, self.period, self.tilt)


class UpEstimator(_ImuEstimator):
    """The estimated upward direction of a robot in any posture: `up`."""

    def sample(self) -> None:
        """Measures, and updates the estimate."""
        from nutmeg.motion.inertial_kernels import estimate_ups  # here: loading the compiler takes long

        self._imu.measure()
        estimate_ups(self._imu.gyro, self._imu.acceleration, self.period, self.up)


class Lying(IntEnum):
    """The side of the torso that is below."""

    UPRIGHT = 0
    FRONT = 1
    BACK = 2
    LEFT = 3
    RIGHT = 4


@dataclass(frozen=True, kw_only=True)
class FallSettings:
    """Thresholds at which a robot counts as fallen, as upright again, and as lying still.

    The angles were chosen by trial on `nao-spark` and `nao-v6`: their walks lean less than 25 degrees, and no robot
    that leaned 45 degrees came back by itself.
    """

    fallen_lean: float = 0.8
    """A torso that leans more than this has fallen [rad]."""
    upright_lean: float = 0.4
    """One that has fallen is upright again when it leans less than this [rad]."""
    still_rate: float = 0.6
    """A torso that turns slower than this is still [rad/s]."""
    still_time: float = 0.1
    """Time for which it must turn slower than that [s]."""

    def __post_init__(self) -> None:
        if not 0 < self.upright_lean < self.fallen_lean < np.pi / 2:
            raise ValueError(
                f"upright_lean is {self.upright_lean:g} and fallen_lean {self.fallen_lean:g} rad; allowed is "
                "0 < upright_lean < fallen_lean < 1.57."
            )
        if not (self.still_rate > 0 and self.still_time >= 0):
            raise ValueError(
                f"still_rate is {self.still_rate:g} rad/s and still_time {self.still_time:g} s; allowed is above 0, "
                "and 0 or more."
            )


@dataclass
class FallState:
    """The state of the fall detection of one robot."""

    fallen: bool
    """Whether it has fallen and is not upright again."""
    still: bool
    """Whether its torso has not turned for a while."""
    lying: int
    """The side that is below, a `Lying`."""
    still_time: float
    """Time since its torso last turned [s]."""


class FallDetector:
    """Detects which robots have fallen, and on which side.

    Args:
        senses: the upward directions; they must be sampled before the detector.
        settings: angles and times.
    """

    def __init__(self, senses: UpEstimator, settings: FallSettings | None = None) -> None:
        self.senses, self.settings = senses, settings or FallSettings()
        self._limits = record_values(self.settings)
        self.states = np.zeros(len(senses.up), record_of(FallState))
        """Records of `FallState`, (N,)."""
        self.fallen: Bools = self.states["fallen"]
        """Whether each robot has fallen and is not upright again, (N,), live."""
        self.lying: Indices = self.states["lying"]
        """The side that is below, a `Lying`; UPRIGHT for robots that have not fallen, (N,), live."""
        self.still: Bools = self.states["still"]
        """Whether each torso has not turned for a while, (N,), live."""
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Forgets falls; a robot that lies now counts as fallen at once. Call it after resetting the senses."""
        from nutmeg.motion.inertial_kernels import detect_falls

        rows = _rows(ids)
        fresh = np.zeros(len(self.states[rows]), self.states.dtype)
        detect_falls(self.senses.up[rows], self.senses.gyro[rows], 0.0, self._limits, fresh)
        self.states[rows] = fresh

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Updates the states from what the senses estimate now."""
        from nutmeg.motion.inertial_kernels import detect_falls  # here: loading the compiler takes long

        detect_falls(self.senses.up, self.senses.gyro, self.senses.period, self._limits, self.states)


def _rows(ids: ArrayLike | None) -> Indices | slice:
    return slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
