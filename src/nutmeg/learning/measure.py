"""Measurements of a walk: table 2 of MacAlpine and others (2012) for any walk, and how large a push it survives.

    measured = measure_walk(read_walk("initial"), trials=20, seed=0)
    measured.speeds["forward"].mean, measured.speeds["forward"].falls
    measured.as_json()
    course_fitness(read_walk("initial"), starts=20).mean        # on the course that walks are learned on
    push_walk(read_walk("initial"), PushSettings(trials=4), walking=True).half()    # N s that half of them survive

Speeds are distances in ten seconds from standing, as in the paper, forward, backward, sideways (half of the tries to
each side), and turning on the spot; means and standard errors over noisy starts. A robot that falls counts with the way
it came until then. Stopping distance is how far a robot gets after a stop begins, from full speed. The last test
changes the direction every three seconds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.random import SeedSequence

from nutmeg.base.angles import wrap_angle
from nutmeg.base.constants import CONTROL_CYCLE, STANDARD_GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounds, at_least, check_bounds
from nutmeg.learning.courses import (
    AS_BUILT,
    DIRECTIONS,
    ROBOT_NAME,
    BodyVariant,
    Bout,
    FallJudge,
    SetChooser,
    StartNoise,
    Target,
    Trajectory,
    course_scene,
    read_course,
    run_bouts,
    start_walkers,
    steer,
    yaw_of,
)
from nutmeg.learning.tasks import course_bouts
from nutmeg.motion.walk.files import FACING_NUMBERS
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.learning.courses import BoutResults
    from nutmeg.model.scene import Scene
    from nutmeg.motion.walk.files import WalkParameters


SPEED_SECONDS = 10.0
"""How long speeds are measured [s]."""
RUN_UP_SECONDS = 4.0
"""How long a robot walks before it is to stop [s]."""
STOPPING_SECONDS = 2.0
"""How long it has to stop [s]."""
CHANGE_SECONDS = 3.0
"""How often the direction changes in the test of changes [s]."""
CHANGE_COUNT = 8
"""How many directions that test has."""
PUSH_DIRECTIONS = {"forward": 0.0, "left": math.pi / 2, "backward": math.pi, "right": -math.pi / 2}
"""Directions of pushes from the robot's heading [rad]."""
FAR_AWAY = 100.0
"""How far away targets are that nobody is to reach [m]."""
FAR_TARGETS = {
    "forward": (FAR_AWAY, 0.0),
    "backward": (-FAR_AWAY, 0.0),
    "left": (0.0, FAR_AWAY),
    "right": (0.0, -FAR_AWAY),
}


@dataclass(frozen=True, kw_only=True)
class TrialMean:
    """The mean of a number over several tries."""

    mean: float
    se: float
    """Standard error of the mean."""
    falls: int
    trials: int

    @classmethod
    def of(cls, values: Floats, fell: Bools) -> TrialMean:
        """The mean of values (n,), and which robots fell (n,)."""
        if not len(values):
            return cls(mean=float("nan"), se=float("nan"), falls=int(fell.sum()), trials=len(fell))
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(mean=float(np.mean(values)), se=spread, falls=int(fell.sum()), trials=len(fell))

    @classmethod
    def pooled(cls, parts: Sequence[TrialMean]) -> TrialMean:
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
    """Measurements of one walk."""

    walk: str
    robot: str
    speeds: dict[str, TrialMean]
    """Forward, backward, sideways [m/s], turn [rad/s]."""
    stopping: dict[str, TrialMean]
    """Stopping distance from full speed, of those that did not fall: forward, backward, sideways [m]."""
    changes: TrialMean
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
    walk: WalkParameters,
    *,
    trials: int = 20,
    seed: int = 0,
    noise: StartNoise | None = None,
    actuation: str = "ideal",
    changes: int = CHANGE_COUNT,
    threads: int = 1,
    body: BodyVariant = AS_BUILT,
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
        body: how the robot differs from its files.
    """
    rng = _generator(trials, seed)
    tests = {
        name: [dataclasses.replace(bout, body=body) for bout in bouts]
        for name, bouts in _plan(walk, trials, rng, changes).items()
    }
    found = _run(walk, tests, noise=noise, actuation=actuation, threads=threads)
    speeds = _speeds(found)
    scene = course_scene(walk.robot, actuation=actuation, body=body)
    speeds["turn"] = _turning(walk, scene, rng.spawn(trials), noise or StartNoise(), threads)
    stops = {name: found[f"stop {name}"] for name in DIRECTIONS}
    return WalkMeasurement(
        walk=walk.name,
        robot=walk.robot,
        speeds=speeds,
        stopping={name: TrialMean.of(-one.lost[~one.fell, 1], one.fell) for name, one in stops.items()},
        changes=TrialMean.of(found["changes"].seconds, found["changes"].fell),
        step_time=_step_time(walk),
    )


def _step_time(walk: WalkParameters) -> float:
    if walk.trot is not None:
        return 0.5 / walk.trot.frequency
    if walk.policy is not None:
        return walk.policy.gait.stride / 2
    return float(walk.walk.phi_length * 4 * np.arccosh(3.0) / np.sqrt(STANDARD_GRAVITY / walk.walk.z_torso))


def walk_speeds(
    walk: WalkParameters, *, trials: int = 20, seed: int = 0, actuation: str = "ideal", threads: int = 1
) -> dict[str, TrialMean]:
    """The speeds of `measure_walk` alone, from the same starts: forward, backward, sideways [m/s], turn [rad/s]."""
    rng = _generator(trials, seed)
    tests = {kind: bouts for kind, bouts in _plan(walk, trials, rng, CHANGE_COUNT).items() if kind.startswith("speed")}
    speeds = _speeds(_run(walk, tests, actuation=actuation, threads=threads))
    scene = course_scene(walk.robot, actuation=actuation)
    speeds["turn"] = _turning(walk, scene, rng.spawn(trials), StartNoise(), threads)
    return speeds


def course_fitness(
    walk: WalkParameters,
    *,
    course: str = "go-to-target",
    starts: int = 20,
    seed: int = 0,
    actuation: str = "ideal",
    threads: int = 1,
) -> TrialMean:
    """The reward of a walk on a whole course, as a mean over starts.

    A trial is the whole course; falls are counted in all its trajectories.

    Args:
        walk: the walk; its `facing` decides whether it turns to the targets.
        course: name, or path of a user's.
        starts: how many times the course is walked, each trajectory from a start of its own.
        seed: of the starts.
        actuation: what drives the joints.
        threads: how many threads step the worlds; results are the same.
    """
    rng = _generator(starts, seed)
    bouts = course_bouts(read_course(course), [walk], [rng], starts)
    results = run_bouts(walk.robot, bouts, actuation=actuation, threads=threads)
    found = TrialMean.of(results.total.reshape(starts, -1).sum(axis=1), results.fell)
    return dataclasses.replace(found, trials=starts)


def _generator(trials: int, seed: int) -> np.random.Generator:
    if not 1 <= trials <= 1000:
        raise UsageError(f"{trials} trials were asked for; allowed is 1..1000.")
    return np.random.default_rng(SeedSequence(seed, spawn_key=(7,)))


def _plan(walk: WalkParameters, trials: int, rng: np.random.Generator, changes: int) -> dict[str, list[Bout]]:
    """All tries but the turning ones, by what they measure: `speed forward`, `stop forward`, ..., `changes`."""
    tests: dict[str, list[Bout]] = {}
    for way in DIRECTIONS:
        walker = walk if way == "forward" else dataclasses.replace(walk, facing="hold")
        sides = [("left", "right")[number % 2] if way == "sideways" else way for number in range(trials)]
        stop = Target(stop=True, seconds=STOPPING_SECONDS)
        for kind, seconds, further in (("speed", SPEED_SECONDS, ()), ("stop", RUN_UP_SECONDS, (stop,))):
            tests[f"{kind} {way}"] = [
                Bout(
                    walker, Trajectory(name=side, target=(Target(to=FAR_TARGETS[side], seconds=seconds), *further)), one
                )
                for side, one in zip(sides, rng.spawn(trials), strict=True)
            ]
    tests["changes"] = [
        Bout(walk, Trajectory(name="changes", target=_changing(one, changes)), one) for one in rng.spawn(trials)
    ]
    return tests


def _run(
    walk: WalkParameters,
    tests: Mapping[str, Sequence[Bout]],
    *,
    noise: StartNoise | None = None,
    actuation: str,
    threads: int,
) -> dict[str, BoutResults]:
    """The results of tests, which are walked all at once."""
    bouts = [bout for each in tests.values() for bout in each]
    results = run_bouts(walk.robot, bouts, noise=noise, actuation=actuation, threads=threads)
    ends = np.cumsum([len(each) for each in tests.values()])
    return {name: results.part(slice(end - len(tests[name]), end)) for name, end in zip(tests, ends, strict=True)}


def _speeds(found: Mapping[str, BoutResults]) -> dict[str, TrialMean]:
    """Forward, backward and sideways."""
    tests = {name: found[f"speed {name}"] for name in DIRECTIONS}
    return {name: TrialMean.of(one.gained[:, 0] / SPEED_SECONDS, one.fell) for name, one in tests.items()}


def _changing(rng: np.random.Generator, changes: int = CHANGE_COUNT) -> tuple[Target, ...]:
    """Targets into ever other directions; all four come in turn, so that nobody walks off the floor in a minute."""
    names: list[str] = []
    while len(names) < changes:
        four = [str(name) for name in rng.permutation(list(FAR_TARGETS))]
        names += four if not names or four[0] != names[-1] else [*four[1:], four[0]]
    return tuple(Target(to=FAR_TARGETS[name], seconds=CHANGE_SECONDS) for name in names[:changes])


def _turning(
    walk: WalkParameters,
    scene: Scene,
    generators: Sequence[np.random.Generator],
    noise: StartNoise,
    threads: int,
) -> TrialMean:
    """Turning on the spot: half of the tries to each side."""
    trials = len(generators)
    worlds, walker = start_walkers(scene, [walk] * trials, generators, noise=noise, threads=threads)
    side = np.where(np.arange(trials) % 2 == 0, 1.0, -1.0)
    walker.wanted[:, 2] = side * walker.walk.top_speed()[:, 2]
    pose, falls = worlds.robot(ROBOT_NAME).pose, FallJudge(worlds)
    fell, turned, last = np.zeros(trials, dtype=bool), np.zeros(trials), yaw_of(pose)
    for _ in range(round(SPEED_SECONDS / CONTROL_CYCLE)):
        walker.sample(0.0)
        worlds.advance(CONTROL_CYCLE)
        fell |= falls.now()
        now = yaw_of(pose)
        turned += np.where(fell, 0.0, wrap_angle(now - last))
        last = now
    return TrialMean.of(side * turned / SPEED_SECONDS, fell)


@dataclass(frozen=True, kw_only=True)
class PushSettings:
    """How robots are pushed.

    A push is a horizontal force on the torso's centre of mass, constant for `duration`, towards one of
    `PUSH_DIRECTIONS`; its impulse is force times duration. It comes at a random moment within a second, which is more
    than two steps. The robot walks straight ahead as fast as it can, or steps on the spot. It has survived if it is
    still on its feet `watched` seconds after the push. The same starts and moments are used for all impulses, so that
    curves of different walks and impulses differ by nothing else.
    """

    impulses: tuple[Annotated[float, at_least(0.0, "N s")], ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
    """Force times duration [N s], rising."""
    trials: Annotated[int, Bounds(1, 1000)] = 10
    """Starts for each impulse and direction."""
    duration: Annotated[float, Bounds(CONTROL_CYCLE, 60.0, "s")] = 0.1
    """How long the force lasts: a multiple of the control cycle [s]."""
    earliest: Annotated[float, Bounds(0.0, 60.0, "s")] = 2.0
    """When a push may begin, from the start [s]."""
    within: Annotated[float, Bounds(0.0, 60.0, "s")] = 1.0
    """How much later the last ones begin [s]."""
    watched: Annotated[float, Bounds(CONTROL_CYCLE, 60.0, "s")] = 3.0
    """How long a robot has to stay on its feet after the end of a push [s]."""

    def __post_init__(self) -> None:
        check_bounds(self)
        rising = all(a < b for a, b in zip(self.impulses, self.impulses[1:], strict=False))
        if not self.impulses or not rising or not math.isfinite(self.impulses[-1]):
            raise ValueError(f"impulses are {self.impulses}; needed is at least one, and each above the one before.")


@dataclass(frozen=True)
class PushResults:
    """Which robots were pushed, and which survived it."""

    walk: str
    walking: bool
    impulses: tuple[float, ...]
    pushed: Bools
    """Those that stood when the push began, (impulses, directions, trials)."""
    survived: Bools
    """Those of them that were still on their feet at the end, (impulses, directions, trials)."""

    def share(self) -> Floats:
        """The share that survived, (impulses,); nan where nobody was left to be pushed."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.survived.sum(axis=(1, 2)) / self.pushed.sum(axis=(1, 2)))

    def half(self) -> float | None:
        """The impulse at which the share first falls to a half, between impulses on a line [N s].

        None if it never does, or if less than half survive the least impulse already.
        """
        share = self.share()
        for number in range(1, len(share)):
            before, now = float(share[number - 1]), float(share[number])
            if before > 0.5 >= now:
                a, b = self.impulses[number - 1], self.impulses[number]
                return a + (b - a) * (before - 0.5) / (before - now)
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain numbers: shares with their 95 % intervals, and survivors by direction."""
        rows = []
        for number, impulse in enumerate(self.impulses):
            pushed, survived = self.pushed[number], self.survived[number]
            low, high = binomial_interval(int(survived.sum()), int(pushed.sum()))
            by_direction = {
                name: {"pushed": int(pushed[place].sum()), "survived": int(survived[place].sum())}
                for place, name in enumerate(PUSH_DIRECTIONS)
            }
            share = float(survived.sum() / pushed.sum()) if pushed.any() else None
            row = {"impulse": impulse, "pushed": int(pushed.sum()), "survived": int(survived.sum()), "share": share}
            rows.append({**row, "low": low, "high": high, "directions": by_direction})
        fell = int((~self.pushed[0]).sum())
        return {
            "walk": self.walk,
            "walking": self.walking,
            "half": self.half(),
            "fell_before": fell,
            "of": self.pushed[0].size,
            "impulses": rows,
        }


def push_walk(
    walk: WalkParameters,
    settings: PushSettings,
    *,
    walking: bool,
    seed: int = 0,
    actuation: str = "ideal",
    threads: int = 1,
) -> PushResults:
    """Pushes a robot from all directions with all impulses, each in a world of its own.

    Args:
        walk: which.
        settings: how robots are pushed.
        walking: whether they walk ahead, or stay where they are.
        seed: of starts and moments.
        actuation: what drives the joints.
        threads: how many threads step the worlds; results are the same.
    """
    shape = (len(settings.impulses), len(PUSH_DIRECTIONS), settings.trials)
    count = math.prod(shape)
    generators = _generators(seed, shape)
    scene = course_scene(walk.robot, actuation=actuation)
    worlds, walker = start_walkers(scene, [walk] * count, generators, threads=threads)
    pushes = _Pushes(settings, worlds, shape, generators)
    robot, falls, sets = worlds.robot(ROBOT_NAME), FallJudge(worlds), SetChooser([walk] * count)
    facings, moving = np.full(count, FACING_NUMBERS[walk.facing]), np.full(count, walking)
    steps = steps_in(CONTROL_CYCLE, worlds.scene.timestep)
    fell, pushed = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for cycle in range(int(pushes.over.max()) + 1):
        fell |= falls.now() & (cycle <= pushes.over)
        pushed |= ~fell & (cycle == pushes.begin)
        active = np.flatnonzero(~fell & (cycle < pushes.over))
        pushes.apply(cycle)
        bearing = steer(walker, np.broadcast_to([FAR_AWAY, 0.0], (count, 2)), yaw_of(robot.pose), facings, moving)
        sets.choose(walker, bearing, moving)
        walker.sample(0.0)
        if len(active):
            worlds.step(steps, active)
    return PushResults(walk.name, walking, settings.impulses, pushed.reshape(shape), (pushed & ~fell).reshape(shape))


class _Pushes:
    """When each world's robot is pushed, how hard and where to; worlds are in the order of `shape`."""

    def __init__(
        self,
        settings: PushSettings,
        worlds: Worlds,
        shape: tuple[int, int, int],
        generators: Sequence[np.random.Generator],
    ) -> None:
        cycles = max(round(settings.duration / CONTROL_CYCLE), 1)
        moments = [settings.earliest + settings.within * rng.random() for rng in generators]
        self.begin = np.rint(np.array(moments) / CONTROL_CYCLE).astype(np.intp)
        """The cycle in which a force sets in, (N,)."""
        self.end = self.begin + cycles
        """The first cycle without it, (N,)."""
        self.over = self.end + round(settings.watched / CONTROL_CYCLE)
        """The cycle in which a robot has survived, (N,)."""
        forces = np.array(settings.impulses) / (cycles * CONTROL_CYCLE)
        self._force = np.broadcast_to(forces[:, None, None], shape).ravel()
        self._towards = np.broadcast_to(np.array([*PUSH_DIRECTIONS.values()])[:, None], shape).ravel()
        self._robot = worlds.robot(ROBOT_NAME)

    def apply(self, cycle: int) -> None:
        """Lets forces set in and end."""
        rows = np.flatnonzero(cycle == self.begin)
        angle = yaw_of(self._robot.pose[rows]) + self._towards[rows]
        way = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(rows))], axis=1)
        self._robot.push(self._force[rows, None] * way, rows)
        self._robot.push(0.0, np.flatnonzero(cycle == self.end))


def binomial_interval(successes: int, tries: int) -> tuple[float, float]:
    """The 95 % interval of a share, after Wilson (1927); all of 0..1 without tries."""
    if tries == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest  # here: it takes long to load

    found = binomtest(successes, tries).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _generators(seed: int, shape: tuple[int, int, int]) -> list[np.random.Generator]:
    """A generator for each world; those of one direction and trial draw the same for every impulse."""
    impulses, directions, trials = shape
    keys = [(11, direction, trial) for direction in range(directions) for trial in range(trials)]
    return [np.random.default_rng(SeedSequence(seed, spawn_key=key)) for key in keys * impulses]
