"""What walking costs: a whole evaluation of a walk, the walk beside the physics it steers, and one robot's cycle.

The walk is the untrained one, which never falls: a candidate that falls is cheaper. An evaluation is one try of all
eleven trajectories of goToTarget (MacAlpine and others, 2012), 136.3 s with its stops; as in learning, several
candidates are simulated together. All but the evaluations an hour are processor time of one thread, which other
programs on the same machine hardly disturb.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.benchmark.row import Row
from nutmeg.engine import Worlds
from nutmeg.engine.worlds import steps_in
from nutmeg.learning.course import read_course
from nutmeg.learning.course_run import CYCLE, scene_with, walker_of
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.learning.walks import read_walk
from nutmeg.search import Processes
from nutmeg.search.evaluation import candidate_seeds

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.learning.walks import Walk
    from nutmeg.motion.trot_walker import Steered

BATCH, TOGETHER = 64, 8
TURNS, LEAST = 3, 5
"""Of each measurement the best turn counts; the least cycles that are timed together."""
OVERHEAD_TARGET, CYCLE_TARGET = 0.7, 0.2
"""Of bare stepping; milliseconds."""
HOUR = 3600.0
AGAIN = 500
"""Cycles that one robot walks before it begins again."""


def evaluation(seconds: float, course: str = "go-to-target") -> list[Row]:
    """Whole evaluations: in one process in core-seconds, then in two as `nutmeg learn --threads 2` does, by the clock.

    Args:
        seconds: below 1, fewer candidates are evaluated together, for a quick look.
        course: the course that is walked.
    """
    path, count = read_course(course), max(round(TOGETHER * min(seconds, 1.0)), 1)
    task = task_settings("go-to-target", starts=1, course=course)
    walk = read_walk("initial")
    trials = WalkTrials(robot=walk.robot, task=task, start=walk, names=("max_step_x",))
    core = min(_core_seconds(trials, count) for _ in range(TURNS)) / count
    about = f"{course}, {path.seconds:g} s, {count} at once"
    return [
        _row(f"walk evaluation ({about})", core, "core-s"),
        _row("walk evaluation, times real time of one core", path.seconds / core, "x"),
        _row("walk evaluations in two processes", HOUR * 2 * count / _two_processes(trials, count), "an hour"),
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
        for _ in range(TURNS):
            began = time.perf_counter()
            evaluator.evaluate(trials, rows, seeds)
            walls.append(time.perf_counter() - began)
    return min(walls[1:])


def overhead(seconds: float) -> list[Row]:
    """The walk with its physics in a batch of 64, beside the same physics under the same commands, bare."""
    walk = read_walk("initial")
    both = _WalkedAndBare(walk, BATCH)
    both.turn(LEAST)
    cycles = max(round(seconds / both.turn(LEAST)[0] * LEAST), LEAST)
    turns = [both.turn(cycles) for _ in range(TURNS)]
    walked, bare = min(turn[0] for turn in turns), min(turn[1] for turn in turns)
    steps = cycles * both.steps * BATCH
    row = Row(
        name=f"walk of {walk.robot}, batch of {BATCH}",
        value=steps / walked,
        unit="steps/s",
        peer=f"bare batch {steps / bare:,.0f}",
        ratio=bare / walked,
        target=f"ratio >= {OVERHEAD_TARGET}",
        met=bare / walked >= OVERHEAD_TARGET,
    )
    return [row]


def one_cycle(seconds: float) -> list[Row]:
    """One robot's control cycle, without the physics."""
    both = _WalkedAndBare(read_walk("initial"), 1)
    for _ in range(50):
        both.cycle()
    fastest = min(_samples(both, seconds) for _ in range(TURNS)) * 1000
    row = Row(
        name="walk, one robot's control cycle",
        value=fastest,
        unit="ms",
        target=f"< {CYCLE_TARGET:g} ms",
        met=fastest < CYCLE_TARGET,
    )
    return [row]


def _samples(both: _WalkedAndBare, seconds: float) -> float:
    """The mean time of a walker's sample over a turn."""
    used, count, began = 0.0, 0, time.process_time()
    while count == 0 or time.process_time() - began < seconds:
        if count % AGAIN == 0:
            both.begin()  # before it has walked off the floor
        start = time.process_time()
        both.walker.sample(0.0)
        used, count = used + time.process_time() - start, count + 1
        both.worlds.step(both.steps)
    return used / count


class _WalkedAndBare:
    """Walking robots, and what their engine does without them: the same worlds under the commands they gave."""

    def __init__(self, walk: Walk, count: int) -> None:
        scene = scene_with(walk.robot)
        self.worlds, self._bare = Worlds(scene, count), Worlds(scene, count)
        self.walker: Steered = walker_of(self.worlds, [walk] * count)
        self.steps = steps_in(CYCLE, scene.timestep)
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


def _row(name: str, value: float, unit: str) -> Row:
    return Row(name=name, value=value, unit=unit)
