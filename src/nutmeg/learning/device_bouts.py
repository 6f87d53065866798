"""Bouts on a device: thousands of robots walk courses without a word between the device and this computer.

    results = walk_bouts_on_device("nao-spark", bouts, noise=StartNoise())      # as `run_bouts`, on a GPU
    together = BoutsTogether(3)                             # three searches, each in a thread, walk in one batch
    results = together.walk("nao-spark", bouts, noise=StartNoise())             # waits for those of the other two

Physics is `mujoco_warp` (`sim.warp_engine`), in 32-bit numbers. The walk, the course, the falls and the rewards are the
functions of `learning.course_kernels` and `motion.walk.kernels` that run on the processor as well, compiled for the
device by numba-cuda and started on Warp's stream. A cycle of physics is within a few millionths of a rad/s of the
processor's for the same state, unless a foot just touches. Where a walk ends after ten seconds differs, as it does for
any small change; what was learned here is judged on the processor in the end.

A `DeviceCourse` is made once for a robot and a number of worlds: its arrays stay on the device, and ten cycles are
recorded as a graph that all generations of a search repeat. Worlds walk bout after bout, so that a robot that fell
makes room for the next one; there are as many worlds as keep all of them busy until the longest bout ends.
"""

from __future__ import annotations

import functools
import heapq
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import upward
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.records import new_records, record_of, record_values
from nutmeg.learning.courses import ROBOT_NAME, BoutResults, Progress, StartNoise, course_scene, target_table
from nutmeg.model.scene import settled_history
from nutmeg.motion.inertial import imu_of_robot, tilt_at_rest
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.files import FACING_NUMBERS
from nutmeg.motion.walk.settings import PendulumWalkSettings, walk_matrix, walk_records
from nutmeg.motion.walk.walker import SWITCH_SECONDS, WalkState, leg_addresses, motor_records
from nutmeg.search.together import Together
from nutmeg.sim.warp_engine import DeviceMemory, WarpBatch
from nutmeg.sim.worlds import StateArrays, steps_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.learning.course_kernels import Bouts, EngineArrays, Gaits, RobotTables, Starts
    from nutmeg.learning.courses import Bout
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.sim.worlds import Device

CYCLES_PER_GRAPH = 10
"""Control cycles that are sent to the device together."""
_MAX_WORLDS = 16384
"""The most worlds that are simulated together: more bouts than that are walked one after the other."""
_ROW_UNIT = 256  # numbers of bouts and worlds are rounded up to multiples of this, so that generations share a course


@dataclass(frozen=True, kw_only=True)
class CourseNumbers:
    """Numbers of a robot on a course, for compiled code."""

    root: int
    """Address of its root's pose in `qpos`."""
    root_rate: int
    """Address of its root's velocity in `qvel`."""
    activations: int
    """How many activations the model has."""
    history: int
    """How many numbers its delayed commands take."""
    sprint: int
    """The set of parameters for straight ways; 0 for none."""
    switch_cycles: int
    """Cycles that a change of parameters takes."""
    height: float
    """The height of the torso at the start [m]."""
    period: float
    """Of a control cycle [s]."""


@dataclass
class BoutRecord:
    """A bout, and how far it has come, for compiled code."""

    trajectory: int
    """Row of the trajectory that it follows."""
    facing: int
    """One of `FACING_NUMBERS`."""
    swing: int
    """The foot that swings first."""
    cycles: int
    """Cycles walked."""
    fell: bool
    following: int
    """The bout that its world walks next; the number of bouts for none."""


def walk_bouts_on_device(
    robot: str,
    bouts: Sequence[Bout],
    *,
    noise: StartNoise | None = None,
    actuation: str = "ideal",
    device: Device = "gpu",
) -> BoutResults:
    """Walks all bouts; arguments as for `run_bouts`."""
    if any(bout.walk.trot is not None or bout.walk.policy is not None for bout in bouts):
        raise UsageError("a GPU walks pendulum walks only, no trots or policies; use --device cpu.")
    sets = tuple(bouts[0].walk.sets)
    if any(tuple(bout.walk.sets) != sets for bout in bouts):
        raise UsageError("the walks of one batch have different sets of parameters; give them the same.")
    worlds = worlds_for([bout.trajectory.seconds for bout in bouts]) if device == "gpu" else len(bouts)
    course = _device_course(robot, actuation, device, worlds, sets)
    return course.walk(bouts, noise or StartNoise())


class BoutsTogether:
    """Walks the bouts of several searches in one batch (`search.together`).

    Args:
        searches: how many.
        walk: what walks bouts, as `walk_bouts_on_device` does.
    """

    def __init__(self, searches: int, walk: Callable[..., BoutResults] = walk_bouts_on_device) -> None:
        self._walk = walk
        self._together: Together[_Asked, BoutResults] = Together(searches, self._walk_all)

    def walk(
        self, robot: str, bouts: Sequence[Bout], *, noise: StartNoise | None = None, actuation: str = "ideal"
    ) -> BoutResults:
        """Walks bouts; arguments as for `run_bouts`, the same for all searches but for the bouts."""
        return self._together.ask(_Asked(bouts, (robot, noise, actuation)))

    def leave(self) -> None:
        """Says that one search is over: the others wait for it no longer."""
        self._together.leave()

    def _walk_all(self, asked: Sequence[_Asked]) -> list[BoutResults]:
        robot, noise, actuation = asked[0].where
        if any(one.where != asked[0].where for one in asked):
            raise UsageError("searches that walk together have one robot, one actuation and one noise of starts.")
        found = self._walk(robot, [bout for one in asked for bout in one.bouts], noise=noise, actuation=actuation)
        ends = np.cumsum([len(one.bouts) for one in asked]).tolist()
        return [found.part(slice(end - len(one.bouts), end)) for one, end in zip(asked, ends, strict=True)]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Bouts that a search waits for."""

    bouts: Sequence[Bout]
    where: tuple[str, StartNoise | None, str]
    """Robot, noise and actuation."""


@functools.lru_cache(maxsize=2)
def _device_course(robot: str, actuation: str, device: Device, count: int, sets: tuple[str, ...]) -> DeviceCourse:
    """The course of a robot in `count` worlds, kept for the next generation."""
    scene = course_scene(robot, actuation=actuation, native=True)
    batch = WarpBatch(scene, count, device)
    batch.limit_solver()
    return DeviceCourse(scene, batch, sets)


class DeviceCourse:
    """Worlds on a device in which one robot walks.

    Args:
        scene: from `course_scene`.
        batch: N worlds of it.
        sets: names of the sets of parameters of the walks.
    """

    def __init__(self, scene: Scene, batch: WarpBatch, sets: tuple[str, ...]) -> None:
        self.scene, self.batch, self.count, self._sets = scene, batch, batch.count, sets
        self.steps = steps_in(CONTROL_CYCLE, scene.timestep)
        self._table = scene.robot(ROBOT_NAME)
        self._shapes: Any = None
        self.arguments: tuple[Any, ...] = ()
        self._graph: Any = None
        self._order = np.zeros(0, np.intp)
        self._memory = DeviceMemory(batch)

    def walk(self, bouts: Sequence[Bout], noise: StartNoise) -> BoutResults:
        """Walks all bouts, several one after the other in a world if there are more of them than worlds."""
        longest = self.begin(bouts, noise)
        for _ in range(-(-longest // CYCLES_PER_GRAPH)):
            self.some_cycles()
            if (self._memory.get(self.arguments[2].present) >= len(bouts)).all():
                break
        return self._results()

    def begin(self, bouts: Sequence[Bout], noise: StartNoise) -> int:
        """Puts bouts on the device; returns how many cycles they take at most."""
        self._order, following = queues([bout.trajectory.seconds for bout in bouts], self.count)
        bouts = [bouts[row] for row in self._order.tolist()]
        sets, course = self._walks(bouts), self._bouts(bouts)
        starts, swing = self._starts(bouts, noise)
        course.bouts["swing"], course.bouts["following"] = swing, following
        latest = max(one.sensing_delay for bout in bouts for one in bout.walk.sets.values())
        shapes = sets.shape, course.table.shape, latest
        if shapes != self._shapes:
            gaits = self._gaits(sets, round(latest / CONTROL_CYCLE) + 1)
            there = (self._there(one) for one in (self._robot_tables(), gaits, course, starts))
            self.arguments = (*there, self._engine_arrays())
            self._shapes, self._graph = shapes, None
        else:
            _, gaits, old_course, old_starts, _ = self.arguments
            for old, new in zip((gaits.sets, *old_course, *old_starts), (sets, *course, *starts), strict=True):
                self._memory.refill(old, new)
        self.batch.forget_overflow()
        return longest_queue(course.table["cycles"].sum(axis=1)[course.bouts["trajectory"]] + 1, following, self.count)

    def some_cycles(self) -> None:
        """Some control cycles: the first time as they are, which compiles; then as a graph, where there are graphs."""
        if self._graph is not None:
            self.batch.replay(self._graph)
            return
        self._cycles()
        if self.batch.on_cuda:
            self._graph = self.batch.record(self._cycles)

    def _cycles(self) -> None:
        for _ in range(CYCLES_PER_GRAPH):
            self.control()
            self.batch.steps_on_device(self.steps)

    def control(self) -> None:
        """What happens between the steps of physics: judging, steering and walking."""
        from nutmeg.learning.course_kernels import walk_cycle

        if self.batch.on_cuda:
            walk_cycle.launch(self.batch.stream, self.count, *self.arguments)
        else:
            walk_cycle.run(self.count, *self.arguments)

    def _results(self) -> BoutResults:
        course = self.arguments[2]
        gained, lost, walked = (self._memory.get(one).copy() for one in (course.gained, course.lost, course.bouts))
        full = int(self.batch.overflowed().sum())
        if full:
            warnings.warn(
                f"{full} of {self.count} worlds had more contacts than there is room for; their rewards are doubtful.",
                RuntimeWarning,
                stacklevel=2,
            )
        back = np.argsort(self._order)
        return BoutResults(gained[back], lost[back], walked["fell"][back], walked["cycles"][back] * CONTROL_CYCLE, None)

    def _there(self, group: Any) -> Any:  # noqa: ANN401 (a named tuple of arrays)
        """A group of arrays in the device's memory."""
        there = group._replace(**{name: self._memory.put(array) for name, array in group._asdict().items()})
        if hasattr(group, "parameters") and self.batch.on_cuda:
            values = there.parameters.view(np.float64).reshape(*group.values.shape)
            there = there._replace(values=values)  # the same memory, as records and as numbers
        return there

    def _engine_arrays(self) -> EngineArrays:
        from nutmeg.learning.course_kernels import EngineArrays

        # An array without elements has no address on a device, so another one stands in where it is not read.
        act = "act" if self.scene.setpoints.size else "ctrl"
        history = "history" if self.scene.history.size else "ctrl"
        names = ("qpos", "qvel", "ctrl", act, history, "time", "qacc_warmstart")
        return EngineArrays(*(self.batch.kernel_array(name) for name in names))

    # What is walked, as records and arrays.

    def _robot_tables(self) -> RobotTables:
        from nutmeg.learning.course_kernels import RobotTables

        table, scene = self._table, self.scene
        body = NaoBody(table)
        body.weigh()
        legs: Any = body.legs.record
        motors: Any = motor_records(table, body)
        numbers = CourseNumbers(
            root=table.root,
            root_rate=table.root_rate,
            activations=scene.setpoints.size,
            history=scene.history.size,
            sprint=self._sets.index("sprint") if "sprint" in self._sets else 0,
            switch_cycles=max(round(SWITCH_SECONDS / CONTROL_CYCLE), 1),
            height=float(scene.start[table.root + 2]),
            period=CONTROL_CYCLE,
        )
        return RobotTables(
            numbers=record_values(numbers),
            legs=legs,
            imu=imu_of_robot(table, CONTROL_CYCLE),
            motors=motors,
            leg_addresses=leg_addresses(table, body),
            command_addresses=np.asarray(table.commands, np.int64),
            rest=np.concatenate([scene.start, scene.commands]),
        )

    def _walks(self, bouts: Sequence[Bout]) -> Floats:
        """Parameters of all sets of all bouts, (sets, B, parameters)."""
        return np.stack([walk_matrix(walk_records([bout.walk.sets[name] for bout in bouts])) for name in self._sets])

    def _gaits(self, sets: Floats, delay: int) -> Gaits:
        from nutmeg.learning.course_kernels import Gaits

        parameters: Any = np.zeros(self.count, record_of(PendulumWalkSettings))
        walk_matrix(parameters)[:] = sets[0, 0]
        states = new_records(WalkState, self.count)
        motors = len(self._table.motors)
        return Gaits(
            parameters=parameters,
            values=walk_matrix(parameters),
            sets=sets,
            states=states,
            expected=np.zeros((delay, self.count, 2)),
            motors=np.zeros((2, self.count, motors)),
            senses=np.zeros((4, self.count, 3)),
            tilt=np.zeros((self.count, 2)),
        )

    def _bouts(self, bouts: Sequence[Bout]) -> Bouts:
        from nutmeg.learning.course_kernels import Bouts

        trajectories = list({id(bout.trajectory): bout.trajectory for bout in bouts}.values())
        number = {id(one): row for row, one in enumerate(trajectories)}
        table, lengths = target_table(trajectories)
        records = new_records(BoutRecord, len(bouts))
        records["trajectory"] = [number[id(bout.trajectory)] for bout in bouts]
        records["facing"] = [FACING_NUMBERS[bout.walk.facing] for bout in bouts]
        shape = len(bouts), table.shape[1]
        progress = new_records(Progress, self.count)
        present = np.full(self.count, -1)
        return Bouts(table, lengths, records, np.zeros(shape), np.zeros(shape), progress, present)

    def _starts(self, bouts: Sequence[Bout], noise: StartNoise) -> tuple[Starts, Any]:
        from nutmeg.learning.course_kernels import Starts

        table, scene, count = self._table, self.scene, len(bouts)
        state = StateArrays.at_start(scene, count)
        standing = _Standing(table, state.qpos[:, table.root : table.root + 7], state.qpos[:, table.angles])
        start, first = noise.draw(standing, np.arange(count), [bout.rng for bout in bouts])
        state.fill(table, start)
        tilt = tilt_at_rest(upward(state.qpos[:, table.root + 3 : table.root + 7]))
        act, history = state.act if state.act.size else np.zeros((1, 1)), np.zeros((1, 1))
        if scene.history.size:
            history = np.array([settled_history(scene.model, command) for command in state.ctrl])
        return Starts(state.qpos, state.qvel, act, history, tilt), first < 0.5


def worlds_for(seconds: Sequence[float]) -> int:
    """How many worlds walk bouts of such lengths: more would only wait for the longest bout."""
    busy = math.ceil(math.fsum(seconds) / max(seconds))
    return min(-(-busy // _ROW_UNIT) * _ROW_UNIT, _MAX_WORLDS)


def queues(seconds: Sequence[float], count: int) -> tuple[Indices, Indices]:
    """Shares bouts out to `count` worlds so that all of them end at about the same time.

    The longest bouts come first, and each goes to the world that has the least to do.

    Returns:
        The order of the bouts, (B,), in which world n begins with the n-th, and the place in that order of the bout
        that follows each in its world, B for none, (B,).
    """
    order = np.argsort(-np.asarray(seconds), kind="stable")
    following = np.full(len(order), len(order))
    loads = [(seconds[bout], place) for place, bout in enumerate(order[:count].tolist())]
    heapq.heapify(loads)
    for place, bout in enumerate(order[count:].tolist(), start=count):
        load, last = loads[0]
        following[last] = place
        heapq.heapreplace(loads, (load + seconds[bout], place))
    return order, following


def longest_queue(cycles: Indices, following: Indices, count: int) -> int:
    """Cycles that the busiest of `count` worlds takes for bouts of so many cycles each, (B,), in `queues`."""
    until = np.append(cycles, 0)
    for place in range(len(cycles) - 1, -1, -1):  # what follows a bout stands behind it
        until[place] += until[following[place]]
    return int(until[:count].max())


@dataclass(frozen=True)
class _Standing:
    """How N robots stand before their starts are drawn."""

    table: RobotTable
    pose: Floats
    """Position [m] and quaternion of each torso, (N, 7)."""
    angles: Floats
    """Joint angles, (N, joints) [rad]."""
