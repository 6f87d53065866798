"""How evaluation scales: candidates per second on two threads beside one, and on two Dask workers beside two threads.

The work is that of finding an ant's body: for every candidate of four leg lengths a scene is assembled, and the ant
moves its legs in it, in a few trials of a few seconds. All must give the same values, to the last bit.

What two processors give depends on the machine, and on who else uses it: cores that share a chip's memory, or are
halves of one core, are not twice one. So plain MuJoCo is stepped beside, by one process and by two that have nothing
to do with each other: evaluation cannot be expected to scale better than that. All take turns, every turn with
candidates that nobody has seen, and the median of the ratios counts. While others have their turn, the processes of
Dask are stopped.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.benchmark.local_cluster import LocalCluster
from nutmeg.benchmark.row import Row
from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.errors import SimulationError
from nutmeg.reality.trial import Trial
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.search import Evaluator, OnCluster, Processes, Threads
from nutmeg.search.evaluation import Function, candidate_seeds

if TYPE_CHECKING:
    from numpy.random import Generator

    from nutmeg.base.arrays import Floats


SEARCHED = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
TRIALS, SECONDS, PERIOD = 4, 4.0, 0.02
TURNS = 7
CANDIDATES, STEPS = 12, 12_000
"""Candidates, and physics steps of plain MuJoCo, in a turn of one second."""
THREADS_TARGET, CLUSTER_TARGET = 1.7, 0.85


class AntOnItsWay:
    """How far an ant with legs of other lengths does not get [m], as a function to minimise."""

    def __init__(self) -> None:
        self._twin = Twin(TwinSettings(robot="ant"), {name: Searched(low=0.6, high=1.4) for name in SEARCHED})
        rest, times = self._twin.base.commands, np.arange(0.0, SECONDS, PERIOD)[:, None]
        phases = np.random.default_rng(1).uniform(0, 2 * np.pi, (TRIALS, len(rest)))
        self._trials = [
            Trial(name=f"gait {i}", period=PERIOD, commands=rest + 0.3 * np.sin(2 * np.pi * times + phase))
            for i, phase in enumerate(phases)
        ]

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:
        """The values of candidates (n, 4); nothing in it is random."""
        del generators
        poses = [rollout.pose for rollout in self._twin.simulate(candidates, self._trials)]
        ways: list[Floats] = [np.linalg.norm(pose[:, -1, :2], axis=1) for pose in poses if pose is not None]
        return np.asarray(-np.sum(ways, axis=0))


class PlainSteps:
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


def evaluation(seconds: float) -> list[Row]:
    """Plain MuJoCo in two processes beside one, two threads beside one, two Dask workers beside two threads."""
    count, steps = max(round(CANDIDATES * seconds), 4), max(round(STEPS * seconds), 100)
    ant, plain, rng = AntOnItsWay(), PlainSteps(steps), np.random.default_rng(2)

    def bodies() -> Floats:
        return rng.uniform(0.6, 1.4, (count, len(SEARCHED)))

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
        _row("ant evaluation, 2 Dask workers", "candidates/s", speeds[4], speeds[3], "2 threads", CLUSTER_TARGET),
    ]


def _check_same(function: AntOnItsWay, candidates: Floats, evaluators: Sequence[Evaluator]) -> None:
    """All must give the same values; this also wakes up all that are used for the first time."""
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
    """What several turns of each gave, (ways, turns): there and back, so that a machine that changes harms none."""
    order = np.arange(len(turns))
    speeds = np.empty((len(turns), TURNS))
    for number in range(TURNS):
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
        target="" if target is None else f"ratio >= {target}",
        met=None if target is None else ratio >= target,
    )
