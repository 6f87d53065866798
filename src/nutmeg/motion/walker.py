"""A robot that walks: the pendulum walk, its feedback, and what the motors are told.

    walker = Walker(worlds, "nao", [PendulumWalkSettings()] * worlds.count)
    schedule.every(0.02, walker.sample)
    walker.wanted[:] = [0.2, 0.0, 0.0]          # (N, 3): m/s ahead, m/s to the left, rad/s to the left

Works for robots with legs like a Nao's, with position drives and servos (which get angles) and with velocity drives
(which get the speeds that lead there within a cycle). The stability of section 3 of MacAlpine and others (2012):
the place of the centre of mass above the supporting foot that was meant `sensing_delay` ago is compared with the one
sensed now, from joint angles and the torso's tilt; when they are far apart, steps get shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.motion.nao_body import NaoBody
from nutmeg.motion.pendulum_walk import PendulumWalk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.engine.worlds import Worlds
    from nutmeg.motion.pendulum_settings import PendulumWalkSettings

    Array = NDArray[np.float64]

HIP_ROLL, HIP_PITCH, ANKLE_PITCH, ANKLE_ROLL = 1, 2, 4, 5
SHOULDERS = (
    (("LShoulderPitch", "RShoulderPitch"), ("LShoulderRoll", "RShoulderRoll"), 1.0),
    (("laj1", "raj1"), ("laj2", "raj2"), -1.0),
)
"""Shoulders of a Nao and of the league's: pitch, roll, and the sign of pitch that swings an arm back."""


class Walker:
    """One robot of every world, walking.

    Args:
        worlds: N worlds with the robot in them.
        robot: its name.
        walks: parameters for each world, or one set for all.
        period: of a control cycle [s].
    """

    def __init__(
        self, worlds: Worlds, robot: str, walks: Sequence[PendulumWalkSettings], *, period: float = 0.02
    ) -> None:
        if len(walks) not in (1, worlds.count):
            raise UsageError(f"{len(walks)} sets of walk parameters for {worlds.count} worlds; give one, or one each.")
        walks = list(walks) * (worlds.count // len(walks))
        self._robot = worlds.robot(robot)
        table = self._robot.table
        self.body = NaoBody(table)
        self.walk = PendulumWalk(self.body, walks, period=period)
        self.wanted: Array = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self._period = period
        self._velocity = np.array([drive == "velocity" for drive in table.drives])
        self._legs = np.array([[table.joints.index(name) for name in leg] for leg in self.body.legs.names])
        self._motors = table.motor_joints
        delay = np.rint(self.walk.parameters.sensing_delay / period).astype(np.intp)
        self._late = delay
        self._meant = np.zeros((int(delay.max()) + 1, worlds.count, 2))
        self._cycle = 0
        self._gyro = np.zeros((worlds.count, 2))
        self._last: Array | None = None
        self._shoulders = _shoulders(table.motors)
        self._limits = table.limits[table.motor_joints]
        self._rows = np.arange(worlds.count)

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self.walk.reset(rows)
        self._gyro[rows] = 0.0
        self._meant[:, rows] = self._support(self.walk.feet)[rows]
        if self._last is not None:
            self._last[rows] = self._robot.angles[np.ix_(rows, self._motors)]

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle: senses, steps, commands."""
        self._sense()
        self.walk.advance(self.wanted)
        targets = self.targets()
        measured = self._robot.angles[:, self._motors]
        speed = self.walk.parameters.joint_gain[:, None] * (targets - measured) / self._period
        self._robot.command = np.where(self._velocity, speed, targets)

    def targets(self) -> Array:
        """Joint angles of this cycle, (N, motors) [rad]."""
        p, walk = self.walk.parameters, self.walk
        pitch = p.tilt + p.tilt_x * walk.step[:, 0]
        roll = -p.lean_y * walk.step[:, 1]
        soles, up = _tilted(walk.feet, pitch, roll)
        yaw_pitch = np.repeat(-walk.groin[:, None], 2, axis=1)
        legs = self.body.legs.with_yaw_pitch(yaw_pitch, soles, up).angles.copy()
        self._balance(legs)
        targets = self.body.motors(legs)
        self._swing_arms(targets)
        if self._last is not None and p.joint_smoothing.any():
            targets += p.joint_smoothing[:, None] * (self._last - targets)
        self._last = targets
        return targets

    def _balance(self, legs: Array) -> None:
        """Adds what the gyro says to ankles and hips, and tilts the lifted foot."""
        p, lifted = self.walk.parameters, self.walk.lifted
        roll_rate, pitch_rate = self._gyro[:, 0, None], self._gyro[:, 1, None]
        legs[..., ANKLE_PITCH] += p.gyro_ankle_pitch[:, None] * pitch_rate + p.foot_pitch[:, None] * lifted
        legs[..., ANKLE_ROLL] += p.gyro_ankle_roll[:, None] * roll_rate + p.foot_roll[:, None] * lifted * [-1.0, 1.0]
        legs[..., HIP_PITCH] += p.gyro_hip_pitch[:, None] * pitch_rate
        legs[..., HIP_ROLL] += p.gyro_hip_roll[:, None] * roll_rate
        np.clip(legs, self.body.legs.limits[..., 0], self.body.legs.limits[..., 1], out=legs)

    def _swing_arms(self, targets: Array) -> None:
        """Arms as the parameters hold them, swinging with the legs and against the torso's pitch rate."""
        if self._shoulders is None:
            return
        p, (pitch, roll, back) = self.walk.parameters, self._shoulders
        ahead = self.walk.feet[:, ::-1, 0] - self.walk.feet[:, :, 0]  # an arm goes with the other side's leg
        swung = p.shoulder_pitch[:, None] - p.arm_swing[:, None] * ahead + (p.gyro_arm * self._gyro[:, 1])[:, None]
        targets[:, pitch] += back * swung
        targets[:, roll] += p.shoulder_roll[:, None] * [1.0, -1.0]
        np.clip(targets, self._limits[:, 0], self._limits[:, 1], out=targets)

    def _sense(self) -> None:
        """The gyro's reading, and how far the centre of mass is from where it was meant to be."""
        p, walk = self.walk.parameters, self.walk
        keep = p.gyro_smoothing[:, None]
        self._gyro += (1 - keep) * (self._robot.velocity[:, 3:5] - self._gyro)
        self._meant[self._cycle % len(self._meant)] = self._support(walk.feet)
        legs = self._robot.angles[:, self._legs] * self.body.legs.signs
        sensed = self._support(_upright(self.body.legs.soles(legs), self._robot.pose[:, 3:7]))
        meant = self._meant[(self._cycle - self._late) % len(self._meant), self._rows]
        error = np.abs(sensed - meant).max(axis=1)
        walk.stability[:] = np.clip((p.err_max - error) / (p.err_max - p.err_norm), 0.0, 1.0)
        self._cycle += 1

    def _support(self, feet: Array) -> Array:
        """The torso's origin above the middle of the feet, (N, 2): what stands for the centre of mass."""
        return np.asarray(-feet[:, :, :2].mean(axis=1))


def _shoulders(motors: tuple[str, ...]) -> tuple[list[int], list[int], float] | None:
    """Columns of the shoulders' pitch and roll, left and right, and the sign that swings back; None without any."""
    for pitch, roll, back in SHOULDERS:
        if all(name in motors for name in (*pitch, *roll)):
            return [motors.index(n) for n in pitch], [motors.index(n) for n in roll], back
    return None


def _tilted(feet: Array, pitch: Array, roll: Array) -> tuple[Array, Array]:
    """Places of the soles and their upward directions as a tilted torso sees them, (N, 2, 3) each."""
    cp, sp, cr, sr = np.cos(pitch)[:, None], np.sin(pitch)[:, None], np.cos(roll)[:, None], np.sin(roll)[:, None]
    out, up = np.empty_like(feet), np.empty_like(feet)
    for vector, (x, y, z) in ((out, np.moveaxis(feet, -1, 0)), (up, (0.0, 0.0, 1.0))):
        # Rx(roll)^T Ry(pitch)^T v: the torso is turned by Ry(pitch) Rx(roll)
        x1, z1 = cp * x - sp * z, sp * x + cp * z
        vector[..., 0], vector[..., 1], vector[..., 2] = x1, cr * y + sr * z1, cr * z1 - sr * y
    return out, up


def _upright(feet: Array, quaternion: Array) -> Array:
    """Vectors (N, 2, 3) of the torso turned by its tilt, without its yaw."""
    w, x, y, z = (column[:, None] for column in quaternion.T)
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    fx, fy, fz = np.moveaxis(feet, -1, 0)
    fy, fz = np.cos(roll) * fy - np.sin(roll) * fz, np.sin(roll) * fy + np.cos(roll) * fz
    return np.stack([np.cos(pitch) * fx + np.sin(pitch) * fz, fy, np.cos(pitch) * fz - np.sin(pitch) * fx], axis=-1)
