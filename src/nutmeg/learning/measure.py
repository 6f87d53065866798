"""What a walk can do: table 2 of MacAlpine and others (2012) for any walk, and more.

    measured = measure_walk(read_walk("initial"), trials=20, seed=0)
    measured.speeds["forward"].mean, measured.speeds["forward"].falls
    measured.as_json()
    course_fitness(read_walk("initial"), starts=20).mean        # on the course that walks are learned on

Speeds are distances in ten seconds from standing, as in the paper, forward, backward, sideways (half of the tries to
each side), and turning on the spot; means and standard errors over noisy starts. A robot that falls counts with the way
it came until then. Stopping distance is how far a robot gets after it was told to stop, from full speed. The last test
changes the direction every three seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence

from nutmeg.base.angles import wrap_angle
from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.engine.worlds import Worlds
from nutmeg.errors import UsageError
from nutmeg.learning.course import DIRECTIONS, Target, Trajectory, read_course
from nutmeg.learning.course_run import CYCLE, ROBOT, Bout, Falls, run_bouts, scene_with, walker_of
from nutmeg.learning.rewards import FALL
from nutmeg.learning.starts import StartNoise, begin_noisy, ready
from nutmeg.learning.steering import yaw_of
from nutmeg.learning.tasks import course_bouts

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.learning.course_run import BoutResults
    from nutmeg.learning.walks import Walk


SECONDS = 10.0
"""How long speeds are measured [s]."""
RUN_UP, STOPPING = 4.0, 2.0
"""How long a robot walks before it is told to stop, and has to stop [s]."""
CHANGE_EVERY, CHANGES = 3.0, 8
"""How often the direction changes [s], and how many times."""
FAR = 100.0
"""How far away targets are that nobody is to reach [m]."""
WAYS = {"forward": (FAR, 0.0), "backward": (-FAR, 0.0), "left": (0.0, FAR), "right": (0.0, -FAR)}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A number over several tries."""

    mean: float
    se: float
    """Standard error of the mean."""
    falls: int
    trials: int

    @classmethod
    def of(cls, values: Floats, fell: Bools) -> Measured:
        """Of values (n,), and who fell (n,)."""
        if not len(values):
            return cls(mean=float("nan"), se=float("nan"), falls=int(fell.sum()), trials=len(fell))
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(mean=float(np.mean(values)), se=spread, falls=int(fell.sum()), trials=len(fell))

    @classmethod
    def pooled(cls, parts: Sequence[Measured]) -> Measured:
        """As if the tries of all parts, whose values all count, had been of one measurement."""
        counts = np.array([part.trials for part in parts], dtype=float)
        means = np.array([part.mean for part in parts])
        total = counts.sum()
        mean = float((counts * means).sum() / total)
        squares = counts * (counts - 1) * np.array([part.se for part in parts]) ** 2 + counts * (means - mean) ** 2
        se = float(np.sqrt(squares.sum() / max(total - 1, 1) / total))
        return cls(mean=mean, se=se, falls=sum(part.falls for part in parts), trials=int(total))

    def as_json(self) -> dict[str, Any]:
        """Plain numbers; null for a mean of nothing."""
        table = dataclasses.asdict(self)
        return {key: None if isinstance(v, float) and not np.isfinite(v) else v for key, v in table.items()}


@dataclass(frozen=True, kw_only=True)
class WalkMeasurement:
    """What a walk can do."""

    walk: str
    robot: str
    speeds: dict[str, Measured]
    """Forward, backward, sideways [m/s], turn [rad/s]."""
    stopping: dict[str, Measured]
    """Way after the word to stop from full speed, of those that did not fall: forward, backward, sideways [m]."""
    changes: Measured
    """Seconds walked with a new direction every three seconds, of 24 unless more changes were asked for."""
    step_time: float
    """How long a step takes [s]."""

    @property
    def evenness(self) -> float:
        """The fastest over the slowest of forward, backward and sideways."""
        three = [self.speeds[name].mean for name in DIRECTIONS]
        return max(three) / min(three) if min(three) > 0 else float("inf")

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, in m/s, rad/s, m and s."""
        return {
            "walk": self.walk,
            "robot": self.robot,
            "speeds": {name: one.as_json() for name, one in self.speeds.items()},
            "stopping": {name: one.as_json() for name, one in self.stopping.items()},
            "changes": self.changes.as_json(),
            "evenness": self.evenness if np.isfinite(self.evenness) else None,
            "step_time": self.step_time,
        }


def measure_walk(
    walk: Walk,
    *,
    trials: int = 20,
    seed: int = 0,
    noise: StartNoise | None = None,
    actuation: str = "ideal",
    changes: int = CHANGES,
    threads: int = 1,
) -> WalkMeasurement:
    """Measures a walk on its robot from noisy starts.

    Args:
        walk: which.
        trials: how many starts for each number.
        seed: of the starts.
        noise: how much starts differ.
        actuation: what drives the joints.
        changes: how many directions the test of changes has.
        threads: how many threads step the worlds; results are the same.
    """
    rng = _generator(trials, seed)
    kinds, bouts = _plan(walk, trials, rng, changes)
    results = run_bouts(walk.robot, bouts, noise=noise, actuation=actuation, threads=threads)
    speeds = _speeds(kinds, results)
    speeds["turn"] = _turning(walk, trials, rng.spawn(trials), noise or StartNoise(), actuation, threads)
    lost_in_falls = np.where(results.fell, FALL, 0.0)
    stopping = {}
    for name in DIRECTIONS:
        row = _rows(kinds, f"stop {name}")
        stood = row & ~results.fell
        stopping[name] = Measured.of(-results.lost[stood, 1] - lost_in_falls[stood], results.fell[row])
    row = _rows(kinds, "changes")
    return WalkMeasurement(
        walk=walk.name,
        robot=walk.robot,
        speeds=speeds,
        stopping=stopping,
        changes=Measured.of(results.seconds[row], results.fell[row]),
        step_time=_step_time(walk),
    )


def _step_time(walk: Walk) -> float:
    if walk.trot is not None:
        return 0.5 / walk.trot.frequency
    return float(walk.walk.phi_length * 4 * np.arccosh(3.0) / np.sqrt(STANDARD_GRAVITY / walk.walk.z_torso))


def walk_speeds(
    walk: Walk, *, trials: int = 20, seed: int = 0, actuation: str = "ideal", threads: int = 1
) -> dict[str, Measured]:
    """The speeds of `measure_walk` alone, from the same starts: forward, backward, sideways [m/s], turn [rad/s]."""
    rng = _generator(trials, seed)
    kinds, bouts = _plan(walk, trials, rng, CHANGES)
    chosen = [number for number, kind in enumerate(kinds) if kind.startswith("speed")]
    results = run_bouts(walk.robot, [bouts[i] for i in chosen], actuation=actuation, threads=threads)
    speeds = _speeds([kinds[i] for i in chosen], results)
    speeds["turn"] = _turning(walk, trials, rng.spawn(trials), StartNoise(), actuation, threads)
    return speeds


def course_fitness(
    walk: Walk,
    *,
    course: str = "go-to-target",
    starts: int = 20,
    seed: int = 0,
    actuation: str = "ideal",
    threads: int = 1,
) -> Measured:
    """What a walk gains less what it loses on a whole course, as a mean over starts.

    A trial is the whole course; falls are counted in all its trajectories.

    Args:
        walk: which; it turns to the targets or not as its file says.
        course: name, or path of a user's.
        starts: how many times the course is walked, each trajectory from a start of its own.
        seed: of the starts.
        actuation: what drives the joints.
        threads: how many threads step the worlds; results are the same.
    """
    rng = _generator(starts, seed)
    bouts = course_bouts(read_course(course), [walk], [rng], starts)
    results = run_bouts(walk.robot, bouts, actuation=actuation, threads=threads)
    found = Measured.of(results.total.reshape(starts, -1).sum(axis=1), results.fell)
    return dataclasses.replace(found, trials=starts)


def _generator(trials: int, seed: int) -> np.random.Generator:
    if not 1 <= trials <= 1000:
        raise UsageError(f"{trials} trials were asked for; allowed is 1..1000.")
    return np.random.default_rng(SeedSequence(seed, spawn_key=(7,)))


def _rows(kinds: Sequence[str], kind: str) -> Bools:
    return np.array([one == kind for one in kinds])


def _speeds(kinds: Sequence[str], results: BoutResults) -> dict[str, Measured]:
    """Forward, backward and sideways."""
    rows = {name: _rows(kinds, f"speed {name}") for name in DIRECTIONS}
    return {name: Measured.of(results.gained[row, 0] / SECONDS, results.fell[row]) for name, row in rows.items()}


def _plan(walk: Walk, trials: int, rng: np.random.Generator, changes: int) -> tuple[list[str], list[Bout]]:
    """All tries but the turning ones: what each is for, and itself."""
    held = dataclasses.replace(walk, facing="hold")
    kinds, bouts = [], []
    for way in DIRECTIONS:
        for number, one in enumerate(rng.spawn(trials)):
            side = ("left", "right")[number % 2] if way == "sideways" else way
            walker = walk if way == "forward" else held
            go = Target(to=WAYS[side], seconds=SECONDS)
            kinds.append(f"speed {way}")
            bouts.append(Bout(walker, Trajectory(name=side, target=(go,)), one))
        for number, one in enumerate(rng.spawn(trials)):
            side = ("left", "right")[number % 2] if way == "sideways" else way
            walker = walk if way == "forward" else held
            targets = (Target(to=WAYS[side], seconds=RUN_UP), Target(stop=True, seconds=STOPPING))
            kinds.append(f"stop {way}")
            bouts.append(Bout(walker, Trajectory(name=side, target=targets), one))
    for one in rng.spawn(trials):
        kinds.append("changes")
        bouts.append(Bout(walk, Trajectory(name="changes", target=_changing(one, changes)), one))
    return kinds, bouts


def _changing(rng: np.random.Generator, changes: int = CHANGES) -> tuple[Target, ...]:
    """Targets into ever other directions; all four come in turn, so that nobody walks off the floor in a minute."""
    names: list[str] = []
    while len(names) < changes:
        four = [str(name) for name in rng.permutation(list(WAYS))]
        names += four if not names or four[0] != names[-1] else [*four[1:], four[0]]
    return tuple(Target(to=WAYS[name], seconds=CHANGE_EVERY) for name in names[:changes])


def _turning(
    walk: Walk, trials: int, generators: Sequence[np.random.Generator], noise: StartNoise, actuation: str, threads: int
) -> Measured:
    """Turning on the spot: half of the tries to each side."""
    worlds = Worlds(scene_with(walk.robot, actuation=actuation), trials, threads=threads)
    first = begin_noisy(worlds, ROBOT, noise, generators)
    walker = walker_of(worlds, [walk] * trials)
    ready(walker, first)
    side = np.where(np.arange(trials) % 2 == 0, 1.0, -1.0)
    walker.wanted[:, 2] = side * walker.walk.top_speed()[:, 2]
    pose, falls = worlds.robot(ROBOT).pose, Falls(worlds)
    fell, turned, last = np.zeros(trials, dtype=bool), np.zeros(trials), yaw_of(pose)
    for _ in range(round(SECONDS / CYCLE)):
        walker.sample(0.0)
        worlds.step(max(round(CYCLE / worlds.scene.timestep), 1))
        fell |= falls.now()
        now = yaw_of(pose)
        turned += np.where(fell, 0.0, wrap_angle(now - last))
        last = now
    return Measured.of(side * turned / SECONDS, fell)
