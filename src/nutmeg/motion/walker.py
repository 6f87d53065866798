"""A robot that walks: the pendulum walk, its feedback, and what the motors are told.

    walker = Walker(worlds, "nao", [PendulumWalkSettings()] * worlds.count)
    schedule.every(0.02, walker.sample)
    walker.wanted[:] = [0.2, 0.0, 0.0]          # (N, 3): m/s ahead, m/s to the left, rad/s to the left

A walker may know several sets of parameters (`others`), of which each world walks with one at a time:

    walker = Walker(worlds, "nao", slow, others=(fast,))
    walker.chosen[:] = bearing < 0.26           # (N,): 0 is `slow`, 1 is `fast`

Parameters then pass from the one to the other within `SWITCH` seconds, so that no foot jumps.

Works for robots with legs like a Nao's, with position drives and servos (which get angles) and with velocity drives
(which get the speeds that lead there within a cycle). The stability of section 3 of MacAlpine and others (2012):
the place of the centre of mass above the supporting foot that was meant `sensing_delay` ago is compared with the one
sensed now, from joint angles and the tilt that gyro and accelerometer tell; when they are far apart, steps get shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.motion.inertial import InertialSense
from nutmeg.motion.nao_body import NaoBody
from nutmeg.motion.pendulum_settings import stacked
from nutmeg.motion.pendulum_walk import PendulumWalk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.engine.worlds import Worlds
    from nutmeg.motion.pendulum_settings import PendulumWalkSettings

    Array = NDArray[np.float64]

SWITCH = 0.1
"""How long a change from one set of parameters to another takes [s]."""
HIP_ROLL, HIP_PITCH, ANKLE_PITCH, ANKLE_ROLL = 1, 2, 4, 5
_INNER = np.array([-1.0, 1.0])
"""Signs of left and right, such that a roll lowers a foot's inner edge."""
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
        others: further sets to change to, each for all worlds or for each.
        period: of a control cycle [s].
        rng: source of the noise of gyro and accelerometer; None for none.
    """

    def __init__(
        self,
        worlds: Worlds,
        robot: str,
        walks: Sequence[PendulumWalkSettings],
        *,
        others: Sequence[Sequence[PendulumWalkSettings]] = (),
        period: float = 0.02,
        rng: np.random.Generator | None = None,
    ) -> None:
        sets = [_for_each(one, worlds.count) for one in (walks, *others)]
        self._robot = worlds.robot(robot)
        table = self._robot.table
        self.body = NaoBody(table)
        self.walk = PendulumWalk(self.body, sets[0], period=period)
        self.senses = InertialSense(worlds, robot, period=period, rng=rng)
        """The robot's gyro, and the tilt it estimates."""
        self.wanted: Array = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: NDArray[np.intp] = np.zeros(worlds.count, dtype=np.intp)
        """The set of parameters that each world is to walk with: 0 is `walks`, 1 the first of `others`, (N,)."""
        self._sets = np.stack([stacked(one).table for one in sets])
        self._towards = self.chosen.copy()
        self._left = np.zeros(worlds.count, dtype=np.intp)
        self._period, self._qpos = period, worlds.qpos
        self._velocity = np.array([drive == "velocity" for drive in table.drives])
        legs = np.array([[table.joints.index(name) for name in leg] for leg in self.body.legs.names])
        self._leg_addresses = table.angles[legs]
        self._motor_addresses = table.angles[table.motor_joints]
        self._late = np.rint(self.walk.parameters.sensing_delay / period).astype(np.intp)
        longest = max(walk.sensing_delay for one in sets for walk in one)
        self._meant = np.zeros((round(longest / period) + 1, worlds.count, 2))
        self._cycle = 0
        self._gyro = np.zeros((worlds.count, 2))
        self._against = np.zeros((worlds.count, 2, 5))  # of each joint but the first, against roll and pitch rates
        self._feet_tilt = False
        self._last: Array | None = None
        self._shoulders = _shoulders(table.motors)
        self._limits = table.limits[table.motor_joints]
        self._rows = np.arange(worlds.count)
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing, with the chosen parameters."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self._towards[rows], self._left[rows] = self.chosen[rows], 0
        self._adopt(rows, self._sets[self.chosen[rows], :, rows].T)
        self.walk.reset(rows)
        self.senses.reset(rows)
        self._gyro[rows] = 0.0
        self._meant[:, rows] = self._support(self.walk.feet)[rows]
        if self._last is not None:
            self._last[rows] = self._qpos[np.ix_(rows, self._motor_addresses)]

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle: senses, steps, commands."""
        self._sense()
        if len(self._sets) > 1:
            self._change()
        self.walk.advance(self.wanted)
        targets = self.targets()
        measured = self._qpos[:, self._motor_addresses]
        speed = self.walk.parameters.joint_gain[:, None] * (targets - measured) / self._period
        self._robot.command = np.where(self._velocity, speed, targets)

    def _change(self) -> None:
        """Brings parameters a cycle nearer to those of the chosen set."""
        changed = self.chosen != self._towards
        if changed.any():
            if (self.chosen < 0).any() or (self.chosen >= len(self._sets)).any():
                raise UsageError(f"a set of parameters outside 0..{len(self._sets) - 1} was chosen.")
            self._towards[changed] = self.chosen[changed]
            self._left[changed] = max(round(SWITCH / self._period), 1)
        rows = np.flatnonzero(self._left)
        if len(rows):
            goal = self._sets[self._towards[rows], :, rows].T
            now = self.walk.parameters.table[:, rows]
            left = self._left[rows]
            self._adopt(rows, np.where(left == 1, goal, now + (goal - now) / left))
            self._left[rows] -= 1

    def _adopt(self, rows: NDArray[np.intp], values: Array) -> None:
        self.walk.adopt(rows, values)
        p = self.walk.parameters
        self._late[rows] = np.rint(p.sensing_delay[rows] / self._period).astype(np.intp)
        self._against[:, 0, [HIP_ROLL - 1, ANKLE_ROLL - 1]] = np.stack([p.gyro_hip_roll, p.gyro_ankle_roll], axis=1)
        self._against[:, 1, [HIP_PITCH - 1, ANKLE_PITCH - 1]] = np.stack([p.gyro_hip_pitch, p.gyro_ankle_pitch], axis=1)
        self._feet_tilt = bool(p.foot_pitch.any() or p.foot_roll.any())

    def targets(self) -> Array:
        """Joint angles of this cycle, (N, motors) [rad]."""
        p, walk = self.walk.parameters, self.walk
        pitch = p.tilt + p.tilt_x * walk.step[:, 0]
        roll = -p.lean_y * walk.step[:, 1]
        soles, up = _tilted(walk.feet, pitch, roll)
        yaw_pitch = np.empty((walk.count, 2))
        yaw_pitch[:] = -walk.groin[:, None]
        legs = self.body.legs.angles_with_yaw_pitch(yaw_pitch, soles, up)
        self._balance(legs)
        targets = self.body.motors(legs)
        self._swing_arms(targets)
        if self._last is not None and p.joint_smoothing.any():
            targets += p.joint_smoothing[:, None] * (self._last - targets)
        self._last = targets
        return targets

    def _balance(self, legs: Array) -> None:
        """Adds what the gyro says to ankles and hips, and tilts the lifted foot."""
        legs[..., HIP_ROLL:] += (self._against * self._gyro[:, :, None]).sum(axis=1)[:, None]
        if self._feet_tilt:
            p, lifted = self.walk.parameters, self.walk.lifted
            legs[..., ANKLE_PITCH] += p.foot_pitch[:, None] * lifted
            legs[..., ANKLE_ROLL] += p.foot_roll[:, None] * lifted * _INNER
        limits = self.body.legs.limits
        np.minimum(np.maximum(legs, limits[..., 0]), limits[..., 1], out=legs)

    def _swing_arms(self, targets: Array) -> None:
        """Arms as the parameters hold them, swinging with the legs and against the torso's pitch rate."""
        if self._shoulders is None:
            return
        p, (pitch, roll, back) = self.walk.parameters, self._shoulders
        ahead = self.walk.feet[:, ::-1, 0] - self.walk.feet[:, :, 0]  # an arm goes with the other side's leg
        swung = p.shoulder_pitch[:, None] - p.arm_swing[:, None] * ahead + (p.gyro_arm * self._gyro[:, 1])[:, None]
        targets[:, pitch] += back * swung
        targets[:, roll] -= p.shoulder_roll[:, None] * _INNER
        np.minimum(np.maximum(targets, self._limits[:, 0]), self._limits[:, 1], out=targets)

    def _sense(self) -> None:
        """The gyro's reading, and how far the centre of mass is from where it was meant to be."""
        p, walk = self.walk.parameters, self.walk
        keep = p.gyro_smoothing[:, None]
        self.senses.sample()
        self._gyro += (1 - keep) * (self.senses.gyro[:, :2] - self._gyro)
        self._meant[self._cycle % len(self._meant)] = self._support(walk.feet)
        legs = self._qpos[:, self._leg_addresses] * self.body.legs.signs
        sensed = self._support(_upright(self.body.legs.soles(legs), self.senses.tilt))
        meant = self._meant[(self._cycle - self._late) % len(self._meant), self._rows]
        error = np.abs(sensed - meant).max(axis=1)
        share = (p.err_max - error) / (p.err_max - p.err_norm)
        np.minimum(np.maximum(share, 0.0), 1.0, out=walk.stability)
        self._cycle += 1

    def _support(self, feet: Array) -> Array:
        """The torso's origin above the middle of the feet, (N, 2): what stands for the centre of mass."""
        return np.asarray((feet[:, 0, :2] + feet[:, 1, :2]) * -0.5)


def _shoulders(motors: tuple[str, ...]) -> tuple[list[int], list[int], float] | None:
    """Columns of the shoulders' pitch and roll, left and right, and the sign that swings back; None without any."""
    for pitch, roll, back in SHOULDERS:
        if all(name in motors for name in (*pitch, *roll)):
            return [motors.index(n) for n in pitch], [motors.index(n) for n in roll], back
    return None


def _tilted(feet: Array, pitch: Array, roll: Array) -> tuple[Array, Array]:
    """Places of the soles and their upward directions as a tilted torso sees them, (N, 2, 3) each."""
    cp, sp, cr, sr = np.cos(pitch)[:, None], np.sin(pitch)[:, None], np.cos(roll)[:, None], np.sin(roll)[:, None]
    # Rx(roll)^T Ry(pitch)^T v: the torso is turned by Ry(pitch) Rx(roll)
    x, y, z = feet[..., 0], feet[..., 1], feet[..., 2]
    down = sp * x + cp * z
    out, up = np.empty_like(feet), np.empty_like(feet)
    out[..., 0], out[..., 1], out[..., 2] = cp * x - sp * z, cr * y + sr * down, cr * down - sr * y
    up[..., 0], up[..., 1], up[..., 2] = -sp, sr * cp, cr * cp
    return out, up


def _upright(feet: Array, tilt: Array) -> Array:
    """Vectors (N, 2, 3) of the torso turned by its roll and pitch, (N, 2)."""
    cos, sin = np.cos(tilt), np.sin(tilt)
    cr, sr, cp, sp = cos[:, :1], sin[:, :1], cos[:, 1:], sin[:, 1:]
    fx, fy, fz = feet[..., 0], feet[..., 1], feet[..., 2]
    out = np.empty_like(feet)
    out[..., 1] = cr * fy - sr * fz
    fz = sr * fy + cr * fz
    out[..., 0], out[..., 2] = cp * fx + sp * fz, cp * fz - sp * fx
    return out


def _for_each(walks: Sequence[PendulumWalkSettings], count: int) -> list[PendulumWalkSettings]:
    """A set of parameters for each of the worlds."""
    if len(walks) not in (1, count):
        raise UsageError(f"{len(walks)} sets of walk parameters for {count} worlds; give one, or one each.")
    return list(walks) * (count // len(walks))
