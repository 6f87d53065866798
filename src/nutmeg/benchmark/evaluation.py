"""How evaluation scales: candidates per second on two threads beside one, and on two Dask workers beside two threads.

The work is that of finding an ant's body: for every candidate of four leg lengths a scene is assembled, and the
ant moves its legs in it, in a few trials of a few seconds. All must give the same values, to the last bit.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.benchmark.local_cluster import LocalCluster
from nutmeg.benchmark.row import Row
from nutmeg.errors import SimulationError
from nutmeg.reality.trial import Trial
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.search import Evaluator, OnCluster, Threads
from nutmeg.search.evaluation import candidate_seeds

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEARCHED = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
TRIALS, SECONDS, PERIOD = 4, 4.0, 0.02
PIECE, TURNS = 2, 5
CANDIDATES = 16
"""In a turn of one second."""
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


def evaluation(seconds: float) -> list[Row]:
    """Two threads beside one, and two Dask workers on this machine beside two threads."""
    function = AntOnItsWay()
    count = max(round(CANDIDATES * seconds), 2 * PIECE)
    candidates = np.random.default_rng(2).uniform(0.6, 1.4, (count, len(SEARCHED)))
    with LocalCluster() as cluster:
        cluster.start_worker(wait=False)
        cluster.start_worker()
        with contextlib.closing(OnCluster(cluster.address, piece=PIECE)) as workers:
            one, two, dask = _best(function, candidates, [Threads(1, piece=PIECE), Threads(2, piece=PIECE), workers])
    return [
        _row("ant evaluation, 2 threads", two, f"1 thread {one:,.1f}", two / one, THREADS_TARGET),
        _row("ant evaluation, 2 Dask workers", dask, f"2 threads {two:,.1f}", dask / two, CLUSTER_TARGET),
    ]


def _row(name: str, value: float, peer: str, ratio: float, target: float) -> Row:
    return Row(
        name=name,
        value=value,
        unit="candidates/s",
        peer=peer,
        ratio=ratio,
        target=f"ratio >= {target}",
        met=ratio >= target,
    )


def _best(function: AntOnItsWay, candidates: Floats, evaluators: Sequence[Evaluator]) -> list[float]:
    """Candidates per second on each: the best of several turns, taken in turn; the first only warms up."""
    seeds = candidate_seeds(0, 0, len(candidates))
    fastest, expected = [0.0] * len(evaluators), None
    for turn in range(TURNS + 1):
        for i, evaluator in enumerate(evaluators):
            start = time.perf_counter()
            values = evaluator.evaluate(function, candidates, seeds).values
            speed = len(candidates) / (time.perf_counter() - start)
            expected = values if expected is None else expected
            if not np.array_equal(values, expected):
                raise SimulationError(f"{type(evaluator).__name__} gave other values than one thread did.")
            fastest[i] = max(fastest[i], speed) if turn else 0.0
    return fastest
