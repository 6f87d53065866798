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

A cycle runs compiled, in nine calls (`walker_kernels`, `pendulum_kernels`, `leg_kernels`): for one robot that is a
seventh of what the same arithmetic costs in arrays, and a robot's numbers never depend on how many walk beside it.
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

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.own_body import Bodies
    from nutmeg.motion.pendulum_settings import PendulumWalkSettings


SWITCH = 0.1
"""How long a change from one set of parameters to another takes [s]."""
SHOULDERS = (
    (("LShoulderPitch", "RShoulderPitch"), ("LShoulderRoll", "RShoulderRoll"), 1),
    (("laj1", "raj1"), ("laj2", "raj2"), -1),
)
"""Shoulders of a Nao and of the league's: pitch, roll, and the sign of pitch that swings an arm back."""


class Walker:
    """One robot of every world, walking.

    Args:
        worlds: N worlds with the robot in them, or an `OwnBody`.
        robot: its name.
        walks: parameters for each world, or one set for all.
        others: further sets to change to, each for all worlds or for each.
        period: of a control cycle [s].
        rng: source of the noise of gyro and accelerometer; None for none.
    """

    def __init__(
        self,
        worlds: Bodies,
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
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """The set of parameters that each world is to walk with: 0 is `walks`, 1 the first of `others`, (N,)."""
        self._sets = np.stack([stacked(one).table for one in sets])
        self._towards = self.chosen.copy()
        self._left = np.zeros(worlds.count, dtype=np.intp)
        self._period, self._qpos = period, worlds.qpos
        legs = np.array([[table.joints.index(name) for name in leg] for leg in self.body.legs.names])
        self._leg_addresses = table.angles[legs].ravel()
        self._motor_addresses = table.angles[table.motor_joints]
        self._late = np.zeros(worlds.count, dtype=np.intp)
        longest = max(walk.sensing_delay for one in sets for walk in one)
        self._meant = np.zeros((round(longest / period) + 1, worlds.count, 2))
        self._cycle = 0
        self._gyro = np.zeros((worlds.count, 2))
        velocity = [drive == "velocity" for drive in table.drives]
        self._motors = np.stack([self.body.motor_legs, velocity], axis=1).astype(np.intp)
        signs = np.append(np.tile(self.body.legs.signs, 2), 1.0)[self.body.motor_legs]
        self._held = np.column_stack([self.body.ready[table.motor_joints], signs, table.limits[table.motor_joints]])
        self._arms = shoulders(table.motors)
        self._soles, self._up = np.zeros((worlds.count, 2, 3)), np.zeros((worlds.count, 2, 3))
        self._last = np.zeros((worlds.count, len(table.motors)))
        self._told = np.zeros_like(self._last)
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
        self._meant[:, rows] = -self.walk.feet[rows, :, :2].mean(axis=1)
        self._last[rows] = self._qpos[np.ix_(rows, self._motor_addresses)]

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle: senses, steps, commands."""
        self._sense()
        if len(self._sets) > 1:
            self._change()
        self.walk.advance(self.wanted)
        self.targets()
        self._robot.command = self._told

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

    def _adopt(self, rows: Indices, values: Floats) -> None:
        self.walk.adopt(rows, values)
        self._late[rows] = np.rint(self.walk.parameters.sensing_delay[rows] / self._period).astype(np.intp)

    def targets(self) -> Floats:
        """Joint angles of this cycle, (N, motors) [rad]."""
        from nutmeg.motion.walker_kernels import balance, command, tilt_feet  # here: the compiler takes long to load

        walk, body = self.walk, self.body
        walks = walk.parameters.records
        tilt_feet(walks, walk.step, walk.feet, self._soles, self._up)
        legs = body.legs.angles_with_yaw_pitch(-np.stack([walk.groin, walk.groin], axis=1), self._soles, self._up)
        balance(walks, self._gyro, walk.more, body.legs.limits, legs)
        command(
            walks,
            legs,
            walk.feet,
            self._gyro,
            self._motors,
            self._held,
            self._arms,
            np.take(self._qpos, self._motor_addresses, axis=1),
            self._period,
            self._last,
            self._told,
        )
        return self._last.copy()

    def _sense(self) -> None:
        """The gyro's reading, and how far the centre of mass is from where it was meant to be."""
        from nutmeg.motion.walker_kernels import judge

        walk, legs = self.walk, self.body.legs
        self.senses.sample()
        self._gyro += (1 - walk.parameters.gyro_smoothing[:, None]) * (self.senses.gyro[:, :2] - self._gyro)
        angles = np.take(self._qpos, self._leg_addresses, axis=1).reshape(-1, 2, 6) * legs.signs
        soles, tilt = legs.soles(angles), self.senses.tilt
        judge(walk.parameters.records, walk.feet, soles, tilt, self._meant, self._cycle, self._late, walk.stability)
        self._cycle += 1


def shoulders(motors: tuple[str, ...]) -> Indices:
    """Columns of the shoulders' pitch and roll, left and right, and the sign that swings back, (5,); -1 without any."""
    for pitch, roll, back in SHOULDERS:
        if all(name in motors for name in (*pitch, *roll)):
            return np.array([*(motors.index(name) for name in (*pitch, *roll)), back], dtype=np.intp)
    return np.full(5, -1)


def _for_each(walks: Sequence[PendulumWalkSettings], count: int) -> list[PendulumWalkSettings]:
    """A set of parameters for each of the worlds."""
    if len(walks) not in (1, count):
        raise UsageError(f"{len(walks)} sets of walk parameters for {count} worlds; give one, or one each.")
    return list(walks) * (count // len(walks))
