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

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.settings import EXCHANGE_COSH, FOOT_TURN_RATIO, PendulumWalkSettings, walk_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.bodies import Bodies


# ----------------------------------------------------------------------------------------------------
# The omnidirectional walk of UT Austin Villa: a double linear inverted pendulum with learnable parameters.
#
# The walk of MacAlpine, Barrett, Urieli, Vu and Stone (2012), section 3, after Graf and others (2009). Each cycle it
# turns wanted velocities into targets of the feet as the torso sees them:
#
# Everything is over N robots at once, each with parameters of its own. The equations, S1 to S17 in the order of that
# section and with its misprints mended, are in `pendulum_kernels`: what happens in a cycle (`advance`) runs compiled,
# a few microseconds for one robot; what happens now and then (`adopt`, `reset`, speeds) is array arithmetic here.


_FOOT_TURNS = np.array([1.0, 1.0, FOOT_TURN_RATIO])
LEFT, RIGHT = 0, 1
LOWEST, HIGHEST, DELTA, MOST = range(4)


class PendulumWalk:
    """The phases, steps and feet of N walking robots.

    Args:
        body: the robot.
        walks: parameters of each of the N.
        period: of a control cycle [s].
    """

    def __init__(self, body: NaoBody, walks: Sequence[PendulumWalkSettings], *, period: float = 0.02) -> None:
        self.body, self.period, self.count = body, period, len(walks)
        self.parameters = walk_arrays(walks)
        """Live: `adopt` changes them."""
        self._half_k: Floats = np.zeros(self.count)
        self._steps: Floats = np.zeros((4, self.count, 3))
        self._rows = np.arange(self.count)
        self._derive(self._rows)
        self.step: Floats = np.zeros((self.count, 3))
        """Step sizes now: ahead [m], to the left [m], turn to the left [rad], (N, 3)."""
        self.swing: Indices = np.zeros(self.count, dtype=np.intp)
        """The foot that swings: 0 left, 1 right, (N,)."""
        self._phases: Floats = np.zeros((3, self.count))
        self.phi, self.phi_start, self.phi_end = self._phases
        """The phase, and where that of the present step begins and ends, (N,), live."""
        self.stability: Floats = np.ones(self.count)
        """The share of the step sizes that is walked, 0..1, (N,)."""
        self.feet: Floats = np.zeros((self.count, 2, 3))
        """Left and right sole as the torso sees them, (N, 2, 3) [m]."""
        self.more: Floats = np.zeros((self.count, 3))
        """`groin` and `lifted` side by side, (N, 3)."""
        self.groin: Floats = self.more[:, 0]
        """Opening of the groin joints, (N,) [rad], live."""
        self.lifted: Floats = self.more[:, 1:]
        """How high each foot is, as a share of its highest, (N, 2), live."""
        self.reset()

    def adopt(self, rows: Indices, values: Floats) -> None:
        """Gives robots `rows` (n,) other parameters, (fields, n); each goes on at the same share of its step."""
        before = self._half_k[rows]
        self.parameters.table[:, rows] = values
        self._derive(rows)
        self._phases[:, rows] *= before / self._half_k[rows]

    def _derive(self, rows: Indices) -> None:
        """What follows from the parameters of robots (n,)."""
        p, steps = self.parameters, self._steps
        self._half_k[rows] = np.sqrt(STANDARD_GRAVITY / p.z_torso[rows]) / 2
        highest = np.stack([p.max_step_x[rows], p.max_step_y[rows], p.max_step_turn[rows]], axis=1)
        pace = np.stack([np.ones(len(rows)), p.side_delta[rows], p.turn_delta[rows]], axis=1)
        steps[HIGHEST, rows], steps[LOWEST, rows] = highest, -highest
        steps[LOWEST, rows, 0] *= p.back_share[rows]
        steps[DELTA, rows] = np.clip(p.delta[rows, None] * pace, 0.0, 1.0)
        steps[MOST, rows] = p.step_change[rows, None] * pace * highest

    @property
    def step_time(self) -> Floats:
        """How long a step takes, (N,) [s]."""
        return np.asarray((self.phi_end - self.phi_start) * self.parameters.phi_length)

    @property
    def fraction(self) -> Floats:
        """t, the share of the present step that is over, 0..1, (N,)."""
        return np.asarray((self.phi - self.phi_start) / (self.phi_end - self.phi_start))

    def top_speed(self) -> Floats:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._steps[HIGHEST] * _FOOT_TURNS / self.step_time[:, None])

    def top_speed_back(self) -> Floats:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(-self._steps[LOWEST, :, 0] / self.step_time)

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts robots to the start of a step on the spot."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self.step[rows], self.swing[rows], self.stability[rows] = 0.0, LEFT, 1.0
        self.phi_end[rows] = np.arccosh(EXCHANGE_COSH) / self._half_k[rows]
        self.phi_start[rows] = self.phi[rows] = -self.phi_end[rows]
        self._place()

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        from nutmeg.motion.walk.kernels import advance  # here: the compiler takes its time to load

        velocity = np.ascontiguousarray(wanted, float)
        if velocity.shape != self.step.shape:
            velocity = np.broadcast_to(velocity, self.step.shape).copy()
        walks, half = self.parameters.records, self._half_k
        if not advance(walks, half, self._steps, velocity, self.period, self._phases, self.swing, self.step):
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        self._place()

    def _place(self) -> None:
        """Targets of the feet and of the groin in this cycle."""
        from nutmeg.motion.walk.kernels import place

        walks, half = self.parameters.records, self._half_k
        place(walks, half, self._phases, self.swing, self.step, self.stability, self.feet, self.more)


SWITCH_SECONDS = 0.1
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
        self.senses = TiltEstimator(worlds, robot, period=period, rng=rng)
        """The robot's gyro, and the tilt it estimates."""
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """The set of parameters that each world is to walk with: 0 is `walks`, 1 the first of `others`, (N,)."""
        self._sets = np.stack([walk_arrays(one).table for one in sets])
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
            self._left[changed] = max(round(SWITCH_SECONDS / self._period), 1)
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
        from nutmeg.motion.walk.kernels import (  # here: the compiler takes long to load
            add_gyro_feedback,
            command_motors,
            tilt_feet,
        )

        walk, body = self.walk, self.body
        walks = walk.parameters.records
        tilt_feet(walks, walk.step, walk.feet, self._soles, self._up)
        legs = body.legs.angles_with_yaw_pitch(-np.stack([walk.groin, walk.groin], axis=1), self._soles, self._up)
        add_gyro_feedback(walks, self._gyro, walk.more, body.legs.limits, legs)
        command_motors(
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
        from nutmeg.motion.walk.kernels import estimate_stability

        walk, legs = self.walk, self.body.legs
        self.senses.sample()
        self._gyro += (1 - walk.parameters.gyro_smoothing[:, None]) * (self.senses.gyro[:, :2] - self._gyro)
        angles = np.take(self._qpos, self._leg_addresses, axis=1).reshape(-1, 2, 6) * legs.signs
        soles, tilt = legs.soles(angles), self.senses.tilt
        estimate_stability(
            walk.parameters.records, walk.feet, soles, tilt, self._meant, self._cycle, self._late, walk.stability
        )
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
