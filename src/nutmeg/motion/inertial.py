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

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.motion.bodies import SensingRobot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.motion.bodies import Bodies
    from nutmeg.sim.worlds import RobotWorlds


TILT_TIME_CONSTANT = 1.0
"""Time constant with which the accelerometer draws the estimate [s]."""
GRAVITY_BAND = 0.3
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
        from nutmeg.motion.walk.kernels import measure_imu  # here: the compiler takes its time to load

        robot, rng = self._robot, self._rng
        noise = np.zeros((0, 6)) if rng is None else rng.standard_normal((len(self.gyro), 6))
        motion, pose = robot.velocity.copy(), robot.pose.copy()
        measure_imu(motion, pose, noise, self._scales, self._period, STANDARD_GRAVITY, self._last, self.gyro, self.felt)


class ReportedInertia:
    """The sensors of a robot that tells them itself."""

    def __init__(self, robot: SensingRobot) -> None:
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
    if isinstance(view, SensingRobot):
        return ReportedInertia(view)
    return SimulatedInertia(cast("RobotWorlds", view), worlds.count, period, rng)


class TiltEstimator:
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
        self._filter = np.array(
            [period, STANDARD_GRAVITY, GRAVITY_BAND * STANDARD_GRAVITY, period / TILT_TIME_CONSTANT]
        )
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
        from nutmeg.motion.walk.kernels import estimate_tilt  # here: the compiler takes its time to load

        self._inertia.measure()
        estimate_tilt(self._inertia.gyro, self._inertia.felt, self._filter, self.tilt)


# ----------------------------------------------------------------------------------------------------
# Has the robot fallen, and which way does it lie? Told by its own gyro and accelerometer, not by its true pose.
#
# Roll and pitch, as a walk uses them, say little about a robot that lies: on its belly any roll goes with the same
# place. So the direction that is up is followed instead, a unit vector in the torso's frame: turned by the gyro every
# cycle, and drawn by the accelerometer whenever that feels little else than gravity (a complementary filter). Angles
# and times here are chosen by trial on `nao-spark` and `nao-v6`: the walks lean less than 25 degrees, and no robot
# that leaned 45 came back by itself.


UP_TIME_CONSTANT = 0.5
"""Time constant with which the accelerometer draws the direction that is up [s]."""


class Lying(IntEnum):
    """The side of the torso that is below."""

    UPRIGHT = 0
    FRONT = 1
    BACK = 2
    LEFT = 3
    RIGHT = 4


@dataclass(frozen=True, kw_only=True)
class FallSettings:
    """When a robot counts as fallen, as upright again, and as lying still."""

    fallen_lean: float = 0.8
    """A torso that leans more than this has fallen [rad]."""
    upright_lean: float = 0.4
    """One that has fallen is upright again when it leans less than this [rad]."""
    still_rate: float = 0.6
    """A torso that turns slower than this is still [rad/s]."""
    still_time: float = 0.1
    """How long it must turn slower [s]."""

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


class UpEstimator:
    """The gyro and the accelerometer of one robot in N worlds, and the direction that is up, however it lies.

    Args:
        worlds: where it is: `Worlds`, or an `OwnBody`.
        robot: its name.
        period: of a control cycle [s].
        rng: source of the sensors' noise, where they are simulated; None for none.
    """

    def __init__(
        self, worlds: Bodies, robot: str, *, period: float = 0.02, rng: np.random.Generator | None = None
    ) -> None:
        self.period, self._inertia = period, inertia_of(worlds, robot, period, rng)
        self.gyro: Floats = self._inertia.gyro
        """Angular velocity in the torso's frame, (N, 3) [rad/s], live."""
        self.felt: Floats = self._inertia.felt
        """What the accelerometer measures, (N, 3) [m/s²], live."""
        self.up: Floats = np.zeros((worlds.count, 3))
        """The estimated upward direction in the torso's frame, (N, 3)."""
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Begins anew from how the robots are, which they measure while they are at rest."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        self.up[rows] = self._inertia.reset(rows)

    def sample(self) -> None:
        """Measures, and brings the estimate up to date."""
        from nutmeg.motion.skill_kernels import estimate_up  # here: the compiler takes its time to load

        self._inertia.measure()
        estimate_up(self.gyro, self.felt, self.period, STANDARD_GRAVITY, GRAVITY_BAND, UP_TIME_CONSTANT, self.up)


class FallDetector:
    """Tells who has fallen, and which way.

    Args:
        senses: what the robots feel; whoever owns it samples it before the detector.
        settings: angles and times.
    """

    def __init__(self, senses: UpEstimator, settings: FallSettings | None = None) -> None:
        self.senses, self.settings = senses, settings or FallSettings()
        count, s = len(senses.up), self.settings
        self._limits = np.array([np.cos(s.fallen_lean), np.cos(s.upright_lean), s.still_rate, s.still_time])
        self.fallen: Bools = np.zeros(count, dtype=bool)
        """Who has fallen and is not upright again, (N,)."""
        self.lying: Indices = np.zeros(count, dtype=np.intp)
        """The side that is below, a `Lying`; UPRIGHT for who has not fallen, (N,)."""
        self.still: Bools = np.zeros(count, dtype=bool)
        """Whose torso has not turned for a while, (N,)."""
        self._quiet: Floats = np.zeros(count)
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Forgets falls; a robot that lies now counts as fallen at once. Call it after resetting the senses."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        self._quiet[rows], self.still[rows] = 0.0, False
        self.fallen[rows] = self.senses.up[rows, 2] < np.cos(self.settings.fallen_lean)
        self.lying[rows] = np.where(self.fallen[rows], side_below(self.senses.up[rows]), Lying.UPRIGHT)

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Looks at what the senses say now."""
        from nutmeg.motion.skill_kernels import detect_falls

        senses = self.senses
        detect_falls(
            senses.up, senses.gyro, senses.period, self._limits, self.fallen, self.lying, self.still, self._quiet
        )


def side_below(up: Floats) -> Indices:
    """The side of the torso that is below, (N,), for upward directions (N, 3): never UPRIGHT."""
    x, y = up[:, 0], up[:, 1]
    along = np.where(x > 0, Lying.BACK, Lying.FRONT)
    aside = np.where(y > 0, Lying.RIGHT, Lying.LEFT)
    return np.asarray(np.where(np.abs(x) >= np.abs(y), along, aside), dtype=np.intp)
