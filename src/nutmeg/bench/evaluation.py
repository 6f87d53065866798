"""Scaling of evaluation: candidates per second on two threads against one, and on two Dask workers against two threads.

The work is that of finding an ant's body: for every candidate of four leg lengths a scene is assembled, and the ant
moves its legs in it, in a few trials of a few seconds. All must give the same values, to the last bit.

The gain from two processors depends on the machine and its load: cores that share a chip's memory, or are halves of one
core, are not twice as fast as one. So plain MuJoCo is stepped as well, by one process and by two independent ones:
evaluation cannot be expected to scale better than that. All take turns, every turn with new candidates, and the median
of the ratios counts. During the turns of others, the processes of Dask are stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import EnvironmentProblem, SimulationError
from nutmeg.base.interrupts import Closing
from nutmeg.bench.row import Row
from nutmeg.learning.courses import Bout, StartNoise, Target, Trajectory, course_scene, make_walker, read_course
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.motion.walk.files import read_walk
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import Evaluator, OnCluster, Processes, Threads
from nutmeg.search.evaluation import Function, candidate_seeds
from nutmeg.sim import Worlds
from nutmeg.sim.worlds import steps_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.random import Generator

    from nutmeg.base.arrays import Floats
    from nutmeg.motion.trot import SteerableWalker
    from nutmeg.motion.walk.files import WalkParameters
    from nutmeg.sim.warp_engine import WarpBatch
    from nutmeg.sim.worlds import Device


# A Dask cluster on this machine, started as its users do: `dask scheduler` and `dask worker`, on loopback only.
#
# Everything that was started is ended with it.


_LOOPBACK = "127.0.0.1"
_START_TIMEOUT = 60.0
"""Time limit for the start of a scheduler or a worker on a busy machine [s]."""


class LocalCluster(Closing):
    """A scheduler and workers as processes of their own.

    Args:
        port: of the scheduler; 0 for one that is free.
        environment: variables to add to those of this process.
    """

    def __init__(self, *, port: int = 0, environment: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nutmeg-cluster-")
        self._environment = {**os.environ, **(environment or {})}
        self._logs: dict[int, Path] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        """The scheduler first, then the workers, dead ones too."""
        self.address = ""
        """Address of the scheduler."""
        try:
            scheduler = self._start("scheduler", ["--port", str(port)])
            self.address = self._said(scheduler, "Scheduler at:")
        except BaseException:
            self.close()
            raise

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        """The process of the scheduler."""
        return self.processes[0]

    def start_worker(
        self, *, threads: int = 1, nanny: bool = False, options: Sequence[str] = (), wait: bool = True
    ) -> subprocess.Popen[bytes]:
        """Starts a worker; with a nanny it is started again when it dies."""
        kind = "--nanny" if nanny else "--no-nanny"
        worker = self._start("worker", [self.address, "--nthreads", str(threads), kind, *options])
        if wait:
            self._said(worker, "Registered to:")
        return worker

    def log(self, process: subprocess.Popen[bytes]) -> str:
        """The output of a process."""
        return self._logs[process.pid].read_text(errors="replace")

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops all processes for a while, so that they take nothing from others; idle ones take some per cent."""
        alive = [process for process in self.processes if process.poll() is None]
        for process in alive:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in alive:
                process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends all processes, workers first: without a scheduler they would wait for it."""
        _end(self.processes[1:])
        _end(self.processes[:1])
        self._folder.cleanup()

    def _start(self, what: str, options: Sequence[str]) -> subprocess.Popen[bytes]:
        log = Path(self._folder.name) / f"{what}-{len(self.processes)}.log"
        local = ["--host", _LOOPBACK, "--no-dashboard", "--dashboard-address", f"{_LOOPBACK}:0"]
        if what == "worker":
            local += ["--local-directory", self._folder.name]
        with log.open("wb") as file:
            process = subprocess.Popen(  # noqa: S603 (our own interpreter)
                [sys.executable, "-m", "dask", what, *local, *options],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is meant for the evaluating process
            )
        self.processes.append(process)
        self._logs[process.pid] = log
        return process

    def _said(self, process: subprocess.Popen[bytes], words: str) -> str:
        """Waits until a process has printed a line with `words`, and gives what follows them."""
        end = time.monotonic() + _START_TIMEOUT
        while True:
            _, found, rest = self.log(process).partition(words)
            if found and "\n" in rest:
                return rest.splitlines()[0].strip()
            if process.poll() is not None or time.monotonic() > end:
                raise EnvironmentProblem(f"a process of the Dask cluster did not start:\n{self.log(process)}")
            time.sleep(0.05)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    alive = [process for process in processes if process.poll() is None]
    for process in alive:
        process.terminate()
    for process in alive:
        try:
            process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the worker of a nanny, too
            process.wait()


SEARCHED_LENGTHS = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
ANT_TRIALS = 4
TRIAL_SECONDS = 4.0
COMMAND_PERIOD = 0.02
MEASURED_TURNS = 7
_TURN_CANDIDATES = 12
"""Candidates in a turn of one second."""
_TURN_STEPS = 12_000
"""Physics steps of plain MuJoCo in a turn of one second."""
THREADS_TARGET = 1.7
"""Promised ratio of two threads to one."""
_CLUSTER_TARGET = 0.85
"""Promised ratio of two Dask workers to two threads."""


class _AntOnItsWay:
    """The negative distance [m] that an ant with other leg lengths walks, as a function to minimise."""

    def __init__(self) -> None:
        self._twin = Twin(TwinSettings(robot="ant"), {name: Searched(low=0.6, high=1.4) for name in SEARCHED_LENGTHS})
        rest, times = self._twin.base.commands, np.arange(0.0, TRIAL_SECONDS, COMMAND_PERIOD)[:, None]
        phases = np.random.default_rng(1).uniform(0, 2 * np.pi, (ANT_TRIALS, len(rest)))
        self._trials = [
            Trial(name=f"gait {i}", period=COMMAND_PERIOD, commands=rest + 0.3 * np.sin(2 * np.pi * times + phase))
            for i, phase in enumerate(phases)
        ]

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:
        """The values of candidates (n, 4); nothing in it is random."""
        del generators
        poses = [rollout.pose for rollout in self._twin.simulate(candidates, self._trials)]
        ways: list[Floats] = [np.linalg.norm(pose[:, -1, :2], axis=1) for pose in poses if pose is not None]
        return np.asarray(-np.sum(ways, axis=0))


class _PlainSteps:
    """The ant stepped by MuJoCo alone, once for each candidate, at which it does not look."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._model: mujoco.MjModel | None = None

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:
        """The height of its body in the end, (n,) [m]."""
        del generators
        if self._model is None:  # once in every process
            ant = Placement(robot="ant", name="ant")
            self._model = assemble(SceneSettings(field="floor", ball="none", robots=(ant,), visuals=False)).model
        heights = []
        for _ in candidates:
            data = mujoco.MjData(self._model)
            mujoco.mj_step(self._model, data, nstep=self._steps)
            heights.append(data.qpos[2])
        return np.array(heights)


def evaluation_scaling(seconds: float) -> list[Row]:
    """Plain MuJoCo in two processes beside one, two threads beside one, two Dask workers beside two threads."""
    count, steps = max(round(_TURN_CANDIDATES * seconds), 4), max(round(_TURN_STEPS * seconds), 100)
    ant, plain, rng = _AntOnItsWay(), _PlainSteps(steps), np.random.default_rng(2)

    def bodies() -> Floats:
        return rng.uniform(0.6, 1.4, (count, len(SEARCHED_LENGTHS)))

    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(LocalCluster())
        cluster.start_worker(wait=False)
        cluster.start_worker()
        apart = stack.enter_context(contextlib.closing(Processes(2)))
        one, two, workers = Threads(1), Threads(2), stack.enter_context(contextlib.closing(OnCluster(cluster.address)))
        _check_same(ant, bodies(), [one, two, workers])
        apart.evaluate(plain, np.zeros((2, 1)), candidate_seeds(0, 0, 2))
        turns = [
            _turn(apart, plain, lambda: np.zeros((1, 1)), cluster),
            _turn(apart, plain, lambda: np.zeros((2, 1)), cluster),
            _turn(one, ant, bodies, cluster),
            _turn(two, ant, bodies, cluster),
            _turn(workers, ant, bodies),
        ]
        speeds = _in_turn(turns)
    allowed = float(np.median(speeds[3] / speeds[2] * speeds[0] / speeds[1]))
    return [
        _row("plain MuJoCo, 2 processes", "steps/s", steps * speeds[1], steps * speeds[0], "1 process"),
        _row(
            "ant evaluation, 2 threads",
            "candidates/s",
            speeds[3],
            speeds[2],
            "1 thread",
            THREADS_TARGET,
            machine=allowed,
        ),
        _row("ant evaluation, 2 Dask workers", "candidates/s", speeds[4], speeds[3], "2 threads", _CLUSTER_TARGET),
    ]


def _check_same(function: _AntOnItsWay, candidates: Floats, evaluators: Sequence[Evaluator]) -> None:
    """Checks that all evaluators give the same values, which also starts their threads and processes."""
    seeds = candidate_seeds(0, 0, len(candidates))
    expected, *others = (evaluator.evaluate(function, candidates, seeds).values for evaluator in evaluators)
    for evaluator, values in zip(evaluators[1:], others, strict=True):
        if not np.array_equal(values, expected):
            raise SimulationError(f"{type(evaluator).__name__} gave other values than one thread did.")


def _turn(
    evaluator: Evaluator, function: Function, draw: Callable[[], Floats], idle: LocalCluster | None = None
) -> Callable[[], float]:
    """A turn of evaluating new candidates, while a cluster that has nothing to do is stopped; candidates per second."""

    def turn() -> float:
        candidates = draw()
        seeds = candidate_seeds(0, 0, len(candidates))
        with idle.stopped() if idle else contextlib.nullcontext():
            start = time.perf_counter()
            evaluator.evaluate(function, candidates, seeds)
            return len(candidates) / (time.perf_counter() - start)

    return turn


def _in_turn(turns: Sequence[Callable[[], float]]) -> Floats:
    """Results of several turns of each way, (ways, turns), in alternating order, so that a changing load is fair."""
    order = np.arange(len(turns))
    speeds = np.empty((len(turns), MEASURED_TURNS))
    for number in range(MEASURED_TURNS):
        for way in order[:: -1 if number % 2 else 1]:
            speeds[way, number] = turns[way]()
    return speeds


def _row(
    name: str,
    unit: str,
    ours: Floats,
    theirs: Floats,
    peer: str,
    target: float | None = None,
    *,
    machine: float | None = None,
) -> Row:
    """The median speed, and the median of the ratios of turns that were near each other.

    Args:
        name: of the row.
        unit: of the speeds.
        ours: speeds of all turns.
        theirs: those of the peer.
        peer: its name.
        target: the ratio that is promised.
        machine: which part of the ratio of plain MuJoCo this one is.
    """
    ratios = ours / theirs
    ratio = float(np.median(ratios))
    beside = f"{peer} {np.median(theirs):,.{0 if unit == 'steps/s' else 1}f}"
    part = "" if machine is None else f"; {machine:.2f} of how plain MuJoCo scales"
    return Row(
        name=name,
        value=float(np.median(ours)),
        unit=unit,
        peer=f"{beside}; ratios of {len(ratios)} turns {ratios.min():.2f} to {ratios.max():.2f}{part}",
        ratio=ratio,
        least_ratio=target,
    )


# The cost of walking: a whole evaluation of a walk, the walk beside its physics, and one robot's cycle.
#
# The walk is the untrained one, which never falls: a candidate that falls is cheaper. An evaluation is one try of all
# eleven trajectories of goToTarget (MacAlpine and others, 2012), 136.3 s with its stops; as in learning, several
# candidates are simulated together. All but the evaluations an hour are processor time of one thread, which other
# programs on the same machine hardly disturb.


_WALKING_WORLDS = 64
_CANDIDATES_AT_ONCE = 8
_WALK_TURNS = 3
"""Turns of each measurement, of which the best counts."""
_MIN_CYCLES = 5
"""The smallest number of cycles that are timed together."""
_OVERHEAD_TARGET = 0.7
"""Promised speed of a walk with its physics, as a share of bare physics."""
_CYCLE_TARGET = 0.2
"""Promised limit of one robot's control cycle [ms]."""
_SECONDS_PER_HOUR = 3600.0
_CYCLES_BEFORE_RESET = 500
"""Cycles that one robot walks before it begins again."""


def walk_evaluation(seconds: float, course: str = "go-to-target") -> list[Row]:
    """Whole evaluations: in one process in core-seconds, then in two as `nutmeg learn --threads 2` does, by the clock.

    Args:
        seconds: below 1, fewer candidates are evaluated together, for a quick look.
        course: the course that is walked.
    """
    path, count = read_course(course), max(round(_CANDIDATES_AT_ONCE * min(seconds, 1.0)), 1)
    task = task_settings("go-to-target", starts=1, course=course)
    walk = read_walk("initial")
    trials = WalkTrials(robot=walk.robot, task=task, start=walk, names=("max_step_x",))
    core = min(_core_seconds(trials, count) for _ in range(_WALK_TURNS)) / count
    about = f"{course}, {path.seconds:g} s, {count} at once"
    return [
        Row(name=f"walk evaluation ({about})", value=core, unit="core-s"),
        Row(name="walk evaluation, times real time of one core", value=path.seconds / core, unit="x"),
        Row(
            name="walk evaluations in two processes",
            value=_SECONDS_PER_HOUR * 2 * count / _two_processes(trials, count),
            unit="an hour",
        ),
    ]


def _candidates(trials: WalkTrials, count: int) -> tuple[Floats, list[np.random.SeedSequence]]:
    """Rows of candidates that are all the start itself, a row for each part of their judgement, and their seeds."""
    parts = len(trials.task.parts)
    rows = np.array([[trials.start.walk.max_step_x, part] for _ in range(count) for part in range(parts)])
    return rows, [seed for seed in candidate_seeds(0, 0, count) for _ in range(parts)]


def _core_seconds(trials: WalkTrials, count: int) -> float:
    rows, seeds = _candidates(trials, count)
    began = time.process_time()
    trials(rows, [np.random.default_rng(seed) for seed in seeds])
    return time.process_time() - began


def _two_processes(trials: WalkTrials, count: int) -> float:
    """Seconds by the clock for `count` candidates in each of two processes; the first turn only starts them."""
    rows, seeds = _candidates(trials, 2 * count)
    walls = []
    with contextlib.closing(Processes(2, piece=len(rows) // 2)) as evaluator:
        for _ in range(_WALK_TURNS):
            began = time.perf_counter()
            evaluator.evaluate(trials, rows, seeds)
            walls.append(time.perf_counter() - began)
    return min(walls[1:])


def walk_overhead(seconds: float) -> list[Row]:
    """The walk with its physics in a batch of 64, beside the same physics under the same commands, bare."""
    walk = read_walk("initial")
    both = _WalkedAndBare(walk, _WALKING_WORLDS)
    both.turn(_MIN_CYCLES)
    cycles = max(round(seconds / both.turn(_MIN_CYCLES)[0] * _MIN_CYCLES), _MIN_CYCLES)
    turns = [both.turn(cycles) for _ in range(_WALK_TURNS)]
    walked, bare = min(turn[0] for turn in turns), min(turn[1] for turn in turns)
    steps = cycles * both.steps * _WALKING_WORLDS
    row = Row(
        name=f"walk of {walk.robot}, batch of {_WALKING_WORLDS}",
        value=steps / walked,
        unit="steps/s",
        peer=f"bare batch {steps / bare:,.0f}",
        ratio=bare / walked,
        least_ratio=_OVERHEAD_TARGET,
    )
    return [row]


def walk_cycle(seconds: float) -> list[Row]:
    """One robot's control cycle, without the physics."""
    both = _WalkedAndBare(read_walk("initial"), 1)
    for _ in range(50):
        both.cycle()
    fastest = min(_samples(both, seconds) for _ in range(_WALK_TURNS)) * 1000
    row = Row(
        name="walk, one robot's control cycle",
        value=fastest,
        unit="ms",
        below=_CYCLE_TARGET,
    )
    return [row]


def _samples(both: _WalkedAndBare, seconds: float) -> float:
    """The mean time of a walker's sample over a turn."""
    used, count, began = 0.0, 0, time.process_time()
    while count == 0 or time.process_time() - began < seconds:
        if count % _CYCLES_BEFORE_RESET == 0:
            both.begin()  # before it has walked off the floor
        start = time.process_time()
        both.walker.sample(0.0)
        used, count = used + time.process_time() - start, count + 1
        both.worlds.step(both.steps)
    return used / count


class _WalkedAndBare:
    """Walking robots, and what their engine does without them: the same worlds under the commands they gave."""

    def __init__(self, walk: WalkParameters, count: int) -> None:
        scene = course_scene(walk.robot)
        self.worlds, self._bare = Worlds(scene, count), Worlds(scene, count)
        self.walker: SteerableWalker = make_walker(self.worlds, [walk] * count)
        self.steps = steps_in(CONTROL_CYCLE, scene.timestep)
        self._ahead = 0.8 * self.walker.walk.top_speed()[:, 0]
        self._control, self._bare_control = self.worlds.batch.bind("ctrl"), self._bare.batch.bind("ctrl")
        self.walker.wanted[:, 0] = self._ahead

    def cycle(self) -> None:
        """One cycle of the walking robots."""
        self.walker.sample(0.0)
        self.worlds.step(self.steps)

    def turn(self, cycles: int) -> tuple[float, float]:
        """Seconds for the same cycles, walked and bare, from the start of the scene."""
        self.begin()
        commands = np.empty((cycles, *self._control.shape))
        for number in range(cycles):
            self.cycle()
            commands[number] = self._control
        ended = self.worlds.qpos.copy()
        self.begin()
        began = time.process_time()
        for _ in range(cycles):
            self.cycle()
        walked = time.process_time() - began
        bare = self._replay(commands)
        assert np.array_equal(self.worlds.qpos, ended)
        assert np.array_equal(self._bare.qpos, ended)
        return walked, bare

    def begin(self) -> None:
        """Puts all robots back to the start."""
        self.worlds.reset()
        self._bare.reset()
        self.walker.reset()

    def _replay(self, commands: Floats) -> float:
        batch, began = self._bare.batch, time.process_time()
        for one in commands:
            self._bare_control[:] = one
            batch.step(nstep=self.steps)
        return time.process_time() - began


# ----------------------------------------------------------------------------------------------------
# Walks on a CUDA device, beside `mujoco_warp` alone that steps the same model from the same start under the commands
# which the walk had given: what is left is what the walk, the course and the rewards cost.

_DEVICE_TARGET = 0.7  # promised share of the speed of `mujoco_warp` alone
_GENERATION_TARGET = 4.0  # promised time of a generation of 512 candidates from four starts [s]
_MAX_TURNS = 12  # the most turns of ten cycles: their commands are kept on the device


def device_walks(count: int, seconds: float, device: Device = "gpu") -> list[Row]:
    """Steps a second of `count` worlds in which robots walk, over about some seconds of the device's time."""
    from nutmeg.learning.device_bouts import CYCLES_PER_GRAPH, DeviceCourse
    from nutmeg.sim.warp_engine import WarpBatch

    walk, scene = read_walk("initial"), course_scene("nao-spark", native=True)
    course = DeviceCourse(scene, WarpBatch(scene, count, device), tuple(walk.sets))
    batch, far = course.batch, Trajectory(name="far", target=(Target(to=(60.0, 0.0), seconds=120.0),))

    def begin() -> None:
        course.begin([Bout(walk, far, np.random.default_rng(n)) for n in range(count)], StartNoise())

    begin()
    course.some_cycles()  # compiles and records
    turns = min(max(round(seconds / _timed([course.some_cycles], batch)), 1), _MAX_TURNS)
    begin()
    walked = _timed([course.some_cycles] * turns, batch)
    # Once more from the start, to take down what the walk commands in each cycle.
    begin()
    commands = []
    for _ in range(turns * CYCLES_PER_GRAPH):
        course.control()
        commands.append(batch.copied("ctrl"))
        batch.steps_on_device(course.steps)
    begin()
    course.control()  # puts the robots to their starts
    bare = [
        _replay(batch, commands[turn * CYCLES_PER_GRAPH : (turn + 1) * CYCLES_PER_GRAPH], course.steps)
        for turn in range(turns)
    ]
    plain = _timed(bare, batch)
    steps = count * turns * CYCLES_PER_GRAPH * course.steps
    return [
        Row(
            name=f"walks on a {device}, {count} worlds",
            value=steps / walked,
            unit="steps/s",
            peer=f"bare mujoco_warp {steps / plain:,.0f}",
            ratio=plain / walked,
            least_ratio=_DEVICE_TARGET,
        )
    ]


def _replay(batch: WarpBatch, commands: Sequence[object], steps: int) -> Callable[[], None]:
    """Steps of the engine alone under recorded commands, recorded as a graph where there are graphs."""

    def work() -> None:
        for command in commands:
            batch.overwrite("ctrl", command)
            batch.steps_on_device(steps)

    if not batch.on_cuda:
        return work
    graph = batch.record(work)
    return lambda: batch.replay(graph)


def _timed(turns: Sequence[Callable[[], None]], batch: WarpBatch) -> float:
    """Time that the device takes for some turns [s]."""
    batch.synchronize()
    start = time.perf_counter()
    for turn in turns:
        turn()
    batch.synchronize()
    return time.perf_counter() - start


def device_generation(candidates: int = 512, starts: int = 4) -> list[Row]:
    """Duration of a whole generation on a GPU, from parameters to rewards; the second call, as in a search."""
    task = task_settings("dynamic-rewards", course="holonomic", starts=starts)
    trials = WalkTrials(robot="nao-spark", task=task, start=read_walk("initial"), names=("z_torso",), device="gpu")
    took = 0.0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        usual = trials.start.sets["walk"].z_torso
        walks = [trials.walk_of(np.array([usual * rng.uniform(0.98, 1.02)])) for _ in range(candidates)]
        start = time.perf_counter()
        trials.parts(walks, rng.spawn(candidates))
        took = time.perf_counter() - start
    name = f"a generation on a gpu, {candidates} candidates x {starts} starts"
    return [Row(name=name, value=took, unit="s", below=_GENERATION_TARGET)]
