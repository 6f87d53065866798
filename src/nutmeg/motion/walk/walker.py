"""Robots that walk: the pendulum walk, its feedback, and the commands of the motors.

    walker = Walker(worlds, "nao", [PendulumWalkSettings()] * worlds.count)
    schedule.every(0.02, walker.sample)
    walker.wanted[:] = [0.2, 0.0, 0.0]          # (N, 3): m/s ahead, m/s to the left, rad/s to the left

The walk is that of UT Austin Villa (MacAlpine, Barrett, Urieli, Vu and Stone, 2012, section 3, after Graf and others,
2009): a double linear inverted pendulum with learnable parameters. `PendulumWalk` turns wanted velocities into targets
of the feet; `Walker` adds what needs a robot: senses, inverse kinematics, motor commands. It works for robots with
legs like a Nao's, with position drives and servos (which get angles) and with velocity drives (which get the speeds
that lead there within a cycle).

A walker may have several sets of parameters (`others`), of which each world walks with one at a time:

    walker = Walker(worlds, "nao", slow, others=(fast,))
    walker.chosen[:] = bearing < 0.26           # (N,): 0 is `slow`, 1 is `fast`

Parameters then pass from the one to the other within `SWITCH_SECONDS`, so that no foot jumps.

A cycle runs compiled (`walk.kernels`, which has the equations): the numbers of one robot never depend on how many walk
beside it. What happens now and then (`adopt`, `reset`, speeds) is array arithmetic here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.records import record_of, record_values
from nutmeg.motion.inertial import TiltEstimator
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.settings import (
    FOOT_TURN_RATIO,
    PendulumWalkSettings,
    walk_matrix,
    walk_records,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools, Indices
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies

SWITCH_SECONDS = 0.1
"""Duration of a change from one set of parameters to another [s]."""
_SHOULDERS = (
    (("LShoulderPitch", "RShoulderPitch"), ("LShoulderRoll", "RShoulderRoll"), 1.0),
    (("laj1", "raj1"), ("laj2", "raj2"), -1.0),
)
"""Shoulders of a Nao and of the league's: pitch, roll, and the sign of pitch that swings an arm back."""
_FOOT_TURNS = np.array([1.0, 1.0, FOOT_TURN_RATIO])


@dataclass
class WalkState:
    """State of one robot's walk, as a record for compiled code."""

    phi: float
    """The phase of the present step."""
    phi_start: float
    """The phase at which the step began."""
    phi_end: float
    """The phase at which it ends."""
    half_k: float
    """K of equation S4, from the height of the torso."""
    swing: int
    """The foot that swings: 0 left, 1 right."""
    step: Annotated[Floats, (3,)]
    """Step sizes now: ahead [m], to the left [m], turn to the left [rad]."""
    lowest_step: Annotated[Floats, (3,)]
    """Smallest step sizes."""
    highest_step: Annotated[Floats, (3,)]
    """Largest step sizes."""
    step_delta: Annotated[Floats, (3,)]
    """Shares of the differences to the wanted step sizes that are made up for in a cycle."""
    max_change: Annotated[Floats, (3,)]
    """Largest changes of step sizes in a cycle."""
    stability: float
    """Factor on the step sizes, 0 (unstable) to 1 (stable)."""
    delay: int
    """Number of cycles from a command to its effect in the sensors."""
    feet: Annotated[Floats, (2, 3)]
    """Targets of the left and right sole in the torso's frame [m]."""
    lifted: Annotated[Floats, (2,)]
    """Lift of each foot, as a share of the largest lift."""
    groin: float
    """Opening of the groin joints (HipYawPitch) [rad]."""
    gyro: Annotated[Floats, (2,)]
    """Filtered rates of roll and pitch [rad/s]."""
    joints: Annotated[Floats, (2, 6)]
    """Angles of the leg joints: measured at first, then the targets of this cycle [rad]."""
    towards: int
    """The set of parameters that is in use or changed to."""
    switch_cycles: int
    """Cycles until a change to that set is complete."""


@dataclass(frozen=True, kw_only=True)
class Motor:
    """One motor of a walking robot."""

    address: int
    """Address of its joint in the configuration."""
    leg_joint: int
    """Index of its leg joint, six for each leg, left before right; -1 for other joints."""
    velocity: bool
    """Whether it is commanded speeds."""
    ready: float
    """Its angle in the pose `ready` [rad]."""
    sign: float
    """-1 if its axis is opposite to a Nao's, else 1."""
    lowest: float
    """The lower limit of its joint [rad]."""
    highest: float
    """The upper limit of its joint [rad]."""
    side: int = 0
    """A shoulder: 0 for the left one, 1 for the right one."""
    shoulder_pitch: float = 0.0
    """The pitch of a shoulder: the sign that swings the arm back; else 0."""
    shoulder_roll: float = 0.0
    """The roll of a shoulder: the sign that spreads the arm; else 0."""


class PendulumWalk:
    """The phases, steps and feet of N walking robots.

    Args:
        walks: parameters of each of the N.
        period: of a control cycle [s].
    """

    def __init__(self, walks: Sequence[PendulumWalkSettings], *, period: float = 0.02) -> None:
        self.period, self.count = period, len(walks)
        self.parameters: NDArray[np.void] = walk_records(walks)
        """Records of `PendulumWalkSettings`, (N,); `adopt` changes them."""
        self.states: NDArray[np.void] = np.zeros(self.count, record_of(WalkState))
        """Records of `WalkState`, (N,)."""
        self.step: Floats = self.states["step"]
        """Step sizes now: ahead [m], to the left [m], turn to the left [rad], (N, 3), live."""
        self.swing: Indices = self.states["swing"]
        """The foot that swings: 0 left, 1 right, (N,), live."""
        self.feet: Floats = self.states["feet"]
        """Left and right sole in the torso's frame, (N, 2, 3) [m], live."""
        self.stability: Floats = self.states["stability"]
        """Factor on the step sizes, 0..1, (N,), live."""
        self.phi_end: Floats = self.states["phi_end"]
        """The phase at which the present step ends, (N,), live."""
        self._rows = np.arange(self.count)
        self.adopt(self._rows, walk_matrix(self.parameters).copy())
        self.reset()

    def adopt(self, rows: Indices, values: Floats) -> None:
        """Gives robots `rows` (n,) other parameters, (n, parameters); each goes on at the same share of its step."""
        from nutmeg.motion.walk.kernels import adopt_sets

        adopt_sets(self.parameters, self.states, walk_matrix(self.parameters), rows, values, self.period)

    @property
    def step_time(self) -> Floats:
        """Duration of a step, (N,) [s]."""
        return np.asarray((self.phi_end - self.states["phi_start"]) * self.parameters["phi_length"])

    @property
    def fraction(self) -> Floats:
        """t, the share of the present step that is over, 0..1, (N,)."""
        start = self.states["phi_start"]
        return np.asarray((self.states["phi"] - start) / (self.phi_end - start))

    def top_speed(self) -> Floats:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self.states["highest_step"] * _FOOT_TURNS / self.step_time[:, None])

    def top_speed_back(self) -> Floats:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(-self.states["lowest_step"][:, 0] / self.step_time)

    def velocity(self) -> Floats:
        """The velocities of the present steps, if no foot slips, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self.step * (self.stability / self.step_time)[:, None])

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Resets robots to the start of a step on the spot, with the left foot."""
        from nutmeg.motion.walk.kernels import begin_walks  # here: loading the compiler takes long

        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        begin_walks(self.parameters, self.states, rows)

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        from nutmeg.motion.walk.kernels import advance_walks, place_feet

        velocity = np.ascontiguousarray(wanted, float)
        if velocity.shape != self.step.shape:
            velocity = np.broadcast_to(velocity, self.step.shape).copy()
        if not advance_walks(self.parameters, self.states, velocity, self.period):
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        place_feet(self.parameters, self.states)


class Walker:
    """One robot of every world, walking.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        walks: parameters for each world, or one set for all.
        others: further sets of parameters, each for all worlds or for each world.
        period: control cycle [s].
        rng: random generator of the noise of gyro and accelerometer; None for no noise.
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
        if any(walk.sense_mass > 0 for one in sets for walk in one):
            self.body.weigh()
        self.walk = PendulumWalk(sets[0], period=period)
        self.senses = TiltEstimator(worlds, robot, period=period, rng=rng)
        """The robot's gyro, and its estimated tilt."""
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """The set of parameters that each world is to walk with: 0 is `walks`, 1 the first of `others`, (N,)."""
        self._sets = np.stack([walk_matrix(walk_records(one)) for one in sets])
        self._switch_cycles = max(round(SWITCH_SECONDS / period), 1)
        self._period, self._qpos = period, worlds.qpos
        self._leg_addresses = leg_addresses(table, self.body)
        self._motors = motor_records(table, self.body)
        longest = max(walk.sensing_delay for one in sets for walk in one)
        self._expected = np.zeros((round(longest / period) + 1, worlds.count, 2))
        self._cycle = 0
        self._targets = np.zeros((worlds.count, len(table.motors)))
        self._commands = np.zeros_like(self._targets)
        self._rows = np.arange(worlds.count)
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing, with the chosen parameters."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self.walk.states["towards"][rows], self.walk.states["switch_cycles"][rows] = self.chosen[rows], 0
        self.walk.adopt(rows, self._sets[self.chosen[rows], rows])
        self.walk.reset(rows)
        self.senses.reset(rows)
        self.walk.states["gyro"][rows] = 0.0
        self._expected[:, rows] = -self.walk.feet[rows, :, :2].mean(axis=1)
        self._targets[rows] = self._qpos[np.ix_(rows, self._motors["address"])]

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Runs one cycle: reads sensors, advances the steps, sets the commands."""
        self._sense()
        if len(self._sets) > 1:
            self._change_sets()
        self.walk.advance(self.wanted)
        self.targets()
        self._robot.command = self._commands

    def _sense(self) -> None:
        """Filters the gyro, and estimates how stable the robot is."""
        from nutmeg.motion.walk.kernels import estimate_stabilities, filter_gyros

        walks, states, legs = self.walk.parameters, self.walk.states, self.body.legs.record
        self.senses.sample()
        filter_gyros(walks, states, self.senses.gyro)
        sensed = self._leg_addresses, self._qpos, self.senses.tilt
        estimate_stabilities(walks, states, legs, *sensed, self._expected, self._cycle)
        self._cycle += 1

    def _change_sets(self) -> None:
        """Moves the parameters by one cycle towards those of the chosen set."""
        from nutmeg.motion.walk.kernels import change_sets

        if (self.chosen < 0).any() or (self.chosen >= len(self._sets)).any():
            raise UsageError(f"a set of parameters outside 0..{len(self._sets) - 1} was chosen.")
        walk = self.walk
        values = walk_matrix(walk.parameters)
        change_sets(walk.parameters, values, walk.states, self._sets, self.chosen, self._switch_cycles, self._period)

    def may_stop(self, step_left: Floats, feet_down: float) -> Bools:
        """The robots that can end their walk now, (N,), with steps up to `step_left` (3,) and feet just set down."""
        from nutmeg.motion.walk.kernels import may_stop

        return may_stop(self.walk.parameters, self.walk.states, step_left, feet_down)

    @property
    def stance(self) -> float:
        """Distance between the feet of the first world's robot before it walks [m]."""
        return float(self.walk.parameters["y_sep"][0])

    def targets(self) -> Floats:
        """Joint angles of this cycle, (N, motors) [rad]."""
        from nutmeg.motion.walk.kernels import command_motors

        walk, robot = self.walk, (self.body.legs.record, self._motors, self._qpos)
        command_motors(walk.parameters, walk.states, *robot, self._period, self._targets, self._commands)
        return self._targets.copy()


def leg_addresses(table: RobotTable, body: NaoBody) -> Indices:
    """Addresses of the joints of the left and right leg in the configuration, (2, 6)."""
    joints = np.array([[table.joints.index(name) for name in leg] for leg in body.legs.names])
    return np.asarray(table.angles[joints])


def motor_records(table: RobotTable, body: NaoBody) -> NDArray[np.void]:
    """Records of `Motor`, (motors,)."""
    arms = _shoulders(table.motors)
    signs = np.append(np.tile(body.legs.signs, 2), 1.0)[body.motor_legs]
    motors = []
    for number, joint in enumerate(table.motor_joints):
        arm = arms.index(number) if number in arms[:4] else -1
        lowest, highest = table.limits[joint]
        motors.append(
            Motor(
                address=int(table.angles[joint]),
                leg_joint=int(body.motor_legs[number]),
                velocity=table.drives[number] == "velocity",
                ready=float(body.ready[joint]),
                sign=float(signs[number]),
                lowest=float(lowest),
                highest=float(highest),
                side=max(arm, 0) % 2,
                shoulder_pitch=arms[4] if arm in (0, 1) else 0.0,
                shoulder_roll={2: 1.0, 3: -1.0}.get(arm, 0.0),
            )
        )
    return record_values(*motors)


def _shoulders(motors: tuple[str, ...]) -> tuple[int, int, int, int, float]:
    """Motors of the shoulders: pitch left and right, roll left and right, and the sign that swings back; or -1."""
    for pitch, roll, back in _SHOULDERS:
        if all(name in motors for name in (*pitch, *roll)):
            return (*(motors.index(name) for name in (*pitch, *roll)), back)  # type: ignore[return-value]
    return (-1, -1, -1, -1, -1.0)


def _for_each(walks: Sequence[PendulumWalkSettings], count: int) -> list[PendulumWalkSettings]:
    """A set of parameters for each of the worlds."""
    if len(walks) not in (1, count):
        raise UsageError(f"{len(walks)} sets of walk parameters for {count} worlds; give one, or one each.")
    return list(walks) * (count // len(walks))
