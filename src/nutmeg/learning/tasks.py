"""What walks are learned for: the optimisation tasks of MacAlpine and others (2012), sections 5 and 6.

| task                | learns        | judged by                                                        |
|---------------------|---------------|------------------------------------------------------------------|
| go-to-target        | `walk`        | the whole course, turning to the targets (5.1)                   |
| go-to-target-hold   | `walk`        | the same without turning (5)                                     |
| sprint              | `sprint`      | the same with `walk` frozen (5.2)                                |
| sprint-alone        | `walk`        | ten seconds straight ahead (5.2, the attempt that failed there)  |
| drive-ball          | `positioning` | driving a ball for 15 s, the other sets frozen (5.3)             |
| static-rewards      | `walk`        | speed in three directions, weighed alike (6)                     |
| dynamic-rewards     | `walk`        | the same, weights from the fittest of a generation (6)           |
| dynamic-avg-rewards | `walk`        | the same, weights from the fitter half (6)                       |
| face-forward        | `walk`        | the same as static, turning to the targets (6)                   |

    task = task_settings("dynamic-rewards", starts=3)
    trials = WalkTrials(robot="nao-spark", task=task, start=read_walk("initial"), names=("max_step_x", "phi_length"))
    trials.parts([walk], [rng])                     # (1, 4): forward, backward, sideways, lost

Each candidate walks every trajectory from several noisy starts; its worth is the mean over them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.base.arrays import Floats
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.settings import Bounds, above, check_bounds
from nutmeg.learning.courses import (
    AS_BUILT,
    DIRECTIONS,
    ROBOT_NAME,
    BodyVariant,
    Bout,
    BoutResults,
    Course,
    FallJudge,
    SetChooser,
    StartNoise,
    course_scene,
    in_robot_frame,
    read_course,
    run_bouts,
    start_walkers,
    top_velocity,
    turn_rate,
    yaw_of,
)
from nutmeg.learning.rewards import FALL_COST, Weighting, first_weights
from nutmeg.motion.walk.files import Facing, WalkParameters
from nutmeg.sim.worlds import steps_in

if TYPE_CHECKING:
    from nutmeg.motion.trot import SteerableWalker


DRIBBLE_SECONDS = 15.0
"""How long a robot drives the ball."""
CIRCLING_DISTANCE = 0.40
"""Distance from the ball while circling it [m]."""
BEHIND_DISTANCE = 0.20
"""Distance from the ball when behind it [m]."""
ALIGNED_ANGLE = 0.35
"""Within this angle of the line to the goal a robot walks through the ball [rad]."""
CIRCLING_ANGLE = 0.7
"""How far ahead on the circle the next place lies [rad]."""
FOLLOW_THROUGH = 0.4
"""How far beyond the ball it walks [m]."""
SLOW_DOWN_DISTANCE = 0.08
"""Nearer to its place than this a robot slows down [m]."""


@dataclass(frozen=True)
class DribbleStart:
    """Where ball and goal are, as the robot sees them at the start."""

    ball: tuple[float, float]
    """Ahead and to the left [m]."""
    goal: float
    """Direction from the ball to the goal, positive to the left [rad]."""


DRIBBLE_STARTS = (
    DribbleStart((1.0, 0.0), 0.0),
    DribbleStart((0.6, 0.3), 1.2),
    DribbleStart((0.6, -0.3), -1.2),
    DribbleStart((0.8, 0.0), 2.4),
    DribbleStart((-0.7, 0.2), 3.0),
    DribbleStart((0.0, -0.9), 0.5),
    DribbleStart((1.5, 0.8), -0.6),
    DribbleStart((0.5, 0.0), -2.8),
)


@dataclass(frozen=True)
class DribbleBout:
    """One walk from one start."""

    walk: WalkParameters
    start: DribbleStart
    rng: np.random.Generator


def drive_ball(
    robot: str, bouts: Sequence[DribbleBout], *, noise: StartNoise | None = None, actuation: str = "ideal"
) -> BoutResults:
    """The task driveBallToGoal2 of section 5.3, B times at once.

    A robot begins at some place and orientation from the ball, gets behind it without touching it, always facing it,
    and then walks straight through it towards the goal. The starts are Nutmeg's; the paper says only that they were
    various.

    Returns:
        What is gained is how far the balls came towards their goals, (B, 1) [m].
    """
    walks, generators = [bout.walk for bout in bouts], [bout.rng for bout in bouts]
    scene = course_scene(robot, ball=True, actuation=actuation)
    worlds, walker = start_walkers(scene, walks, generators, noise=noise)
    for row, bout in enumerate(bouts):
        worlds.put_ball(bout.start.ball, ids=row)
    worlds.refresh()
    angles = np.array([bout.start.goal for bout in bouts])
    goal = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    player, falls, pose = _Dribbler(walker, bouts, goal), FallJudge(worlds), worlds.robot(ROBOT_NAME).pose
    assert worlds.ball is not None
    before = worlds.ball[:, :2].copy()
    active, fell, lived = np.ones(len(bouts), dtype=bool), np.zeros(len(bouts), dtype=bool), np.zeros(len(bouts))
    steps = steps_in(CONTROL_CYCLE, scene.timestep)
    for _ in range(round(DRIBBLE_SECONDS / CONTROL_CYCLE)):
        now = falls.now() & active
        fell |= now
        active &= ~now
        if not active.any():
            break
        player.steer(pose, worlds.ball[:, :2])
        walker.sample(0.0)
        worlds.step(steps, np.flatnonzero(active))
        lived[active] += CONTROL_CYCLE
    far = ((worlds.ball[:, :2] - before) * goal).sum(axis=1)
    far = np.where(np.isfinite(far), far, 0.0)
    return BoutResults(far[:, None], np.where(fell, -FALL_COST, 0.0)[:, None], fell, lived, None)


class _Dribbler:
    """Gets behind the ball and walks through it."""

    def __init__(self, walker: SteerableWalker, bouts: Sequence[DribbleBout], goal: Floats) -> None:
        self._walker, self._goal = walker, goal
        self._sets = SetChooser([bout.walk for bout in bouts])

    def steer(self, pose: Floats, ball: Floats) -> None:
        """Sets wanted velocities from where the robots (N, 7) and the balls (N, 2) are."""
        place, yaw, goal = pose[:, :2], yaw_of(pose), self._goal
        # Where the robot stands on a circle around the ball, and how much is missing to the place behind the ball.
        to_ball = ball - place
        distance = np.hypot(to_ball[:, 0], to_ball[:, 1])
        here = np.arctan2(-to_ball[:, 1], -to_ball[:, 0])
        missing = wrap_angle(np.arctan2(-goal[:, 1], -goal[:, 0]) - here)
        aligned = np.abs(missing) < ALIGNED_ANGLE
        angle = here + np.clip(missing, -CIRCLING_ANGLE, CIRCLING_ANGLE)
        radius = np.where(np.abs(missing) < 2 * ALIGNED_ANGLE, BEHIND_DISTANCE, CIRCLING_DISTANCE)
        # Far from that place it goes around on a wide circle; near it, it comes closer; then it walks through the ball.
        circling = ball + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        way = np.where(aligned[:, None], ball + FOLLOW_THROUGH * goal, circling) - place
        ahead = in_robot_frame(way, yaw)
        slow = np.minimum(np.hypot(ahead[:, 0], ahead[:, 1]) / SLOW_DOWN_DISTANCE, 1.0)
        face = in_robot_frame(np.where(aligned[:, None], way, to_ball), yaw)
        bearing = np.arctan2(face[:, 1], face[:, 0])
        self._walker.wanted[:, :2] = top_velocity(self._walker, ahead) * slow[:, None]
        self._walker.wanted[:, 2] = turn_rate(self._walker, bearing)
        self._sets.choose(self._walker, np.arctan2(ahead[:, 1], ahead[:, 0]), np.ones(len(pose), dtype=bool), distance)


MAX_BOUTS = {"cpu": 1024, "gpu": 131072}
"""The most bouts that are walked in one call."""


@dataclass(frozen=True, kw_only=True)
class TaskSettings:
    """What candidates are judged by."""

    name: str
    learns: Literal["walk", "sprint", "positioning", "trot"] = "walk"
    """The set of parameters that is searched; the others are frozen."""
    start: str = "initial"
    """The walk that learning begins with by default."""
    course: str = "go-to-target"
    """Name of a course, or path of a user's; empty for driving a ball."""
    facing: Facing = "turn"
    """Whether robots turn to where they go."""
    weighting: Weighting | None = None
    """How directions are weighed; None counts all that is gained on the course alike."""
    starts: Annotated[int, Bounds(1, 100)] = 3
    """From how many noisy starts each candidate is tried."""
    noise: StartNoise = field(default_factory=StartNoise)
    """How much starts differ."""
    caution: Annotated[float, above(0.0, up_to=100.0)] = 1.0
    """How many times as much as in the paper stops and falls cost: a fast walk becomes a safe one above 1."""

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the numbers of a judgement are, in order."""
        return (*DIRECTIONS, "lost") if self.weighting else ("gained", "lost")

    def weights(self, directions: Floats | None = None) -> Floats:
        """The weights of the parts, (parts,), with those of the directions, (3,), where there are any.

        What is lost weighs as much less as the time counted is shorter than the time to walk: 7 / 124.1 on the
        paper's course (section 6), times the caution.
        """
        if not self.weighting:
            return np.array([1.0, self.caution])
        course = read_course(self.course)
        chosen = first_weights(len(DIRECTIONS)) if directions is None else directions
        return np.array([*chosen, self.caution * course.counted_time() / course.moving_time])


TASKS: dict[str, TaskSettings] = {
    task.name: task
    for task in (
        TaskSettings(name="go-to-target"),
        TaskSettings(name="go-to-target-hold", facing="hold"),
        TaskSettings(name="sprint", learns="sprint"),
        TaskSettings(name="sprint-alone", course="sprint"),
        TaskSettings(name="drive-ball", learns="positioning", course=""),
        TaskSettings(name="static-rewards", facing="hold", weighting="static"),
        TaskSettings(name="dynamic-rewards", facing="hold", weighting="dynamic"),
        TaskSettings(name="dynamic-avg-rewards", facing="hold", weighting="dynamic-avg"),
        TaskSettings(name="face-forward", weighting="static"),
        TaskSettings(name="trot", learns="trot", start="trot", course="trot"),
    )
}
"""The tasks by name, as the paper has them; `trot` is for robots with four legs."""


def task_settings(name: str, **changes: object) -> TaskSettings:
    """A task by its name, with some settings changed."""
    if name not in TASKS:
        raise UnknownNameError("task", name, TASKS)
    return dataclasses.replace(TASKS[name], **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class WalkTrials:
    """Judges candidates; a function for every evaluator of `nutmeg.search`.

    Called with rows (n, k + 1): the searched parameters, and which part of the judgement is wanted. Rows of one
    candidate stand together and have the same seed, so that it is simulated once for all its parts.
    """

    robot: str
    task: TaskSettings
    start: WalkParameters
    """Where frozen sets and parameters that are not searched come from."""
    names: tuple[str, ...]
    """The searched parameters, k of them."""
    actuation: str = "ideal"
    device: Literal["cpu", "gpu"] = "cpu"
    bodies: tuple[BodyVariant, ...] = (AS_BUILT,)
    """The bodies with which every candidate walks, start by start."""
    walk_bouts: Callable[..., BoutResults] | None = field(default=None, compare=False)
    """What walks the bouts, as `run_bouts` does; None for that of the device."""

    def __post_init__(self) -> None:
        if self.bodies != (AS_BUILT,) and (self.device == "gpu" or not self.task.course):
            raise UsageError("other bodies than the robot's own walk courses only, and on the processor: --device cpu.")
        if self.device == "gpu" and not self.task.course:
            raise UsageError(
                f"the task {self.task.name} has no course, and a GPU only walks courses; use --device cpu."
            )
        if self.device == "gpu" and self.task.learns == "trot":
            raise UsageError("a GPU walks on two legs only; learn a trot with --device cpu.")

    def walk_of(self, candidate: Floats) -> WalkParameters:
        """The walk with a candidate's parameters, (k,)."""
        numbers = dict(zip(self.names, np.asarray(candidate, float).tolist(), strict=True))
        return dataclasses.replace(self.start.with_set(self.task.learns, numbers), facing=self.task.facing)

    def __call__(self, rows: Floats, generators: Sequence[np.random.Generator]) -> list[float]:
        """The wanted parts of candidates, (n,)."""
        again = (rows[1:, :-1] == rows[:-1, :-1]).all(axis=1) & (rows[1:, -1] > rows[:-1, -1])
        first = [0, *(np.flatnonzero(~again) + 1).tolist()]
        walks = [self.walk_of(rows[row, :-1]) for row in first]
        parts = self.parts(walks, [generators[row] for row in first])
        owner = np.searchsorted(first, np.arange(len(rows)), side="right") - 1
        return [float(parts[owner[row], int(rows[row, -1])]) for row in range(len(rows))]

    def parts(
        self, walks: Sequence[WalkParameters], generators: Sequence[np.random.Generator], *, starts: int | None = None
    ) -> Floats:
        """What walks are worth part by part, as means over the starts, (n, parts)."""
        tries = starts or self.task.starts
        per_walk = tries * (len(read_course(self.task.course).trajectory) if self.task.course else len(DRIBBLE_STARTS))
        size = max(MAX_BOUTS[self.device] // per_walk, 1)
        blocks = [slice(at, at + size) for at in range(0, len(walks), size)]
        return np.concatenate([self._parts(walks[one], generators[one], tries) for one in blocks])

    def _parts(self, walks: Sequence[WalkParameters], generators: Sequence[np.random.Generator], tries: int) -> Floats:
        task = self.task
        if not task.course:
            bouts = [
                DribbleBout(walk, DRIBBLE_STARTS[number % len(DRIBBLE_STARTS)], rng)
                for walk, generator in zip(walks, generators, strict=True)
                for number, rng in enumerate(generator.spawn(tries * len(DRIBBLE_STARTS)))
            ]
            driven = drive_ball(self.robot, bouts, noise=task.noise, actuation=self.actuation)
            sums = np.stack([driven.gained.sum(axis=1), driven.lost.sum(axis=1)], axis=1)
            return np.asarray(sums.reshape(len(walks), -1, 2).mean(axis=1))
        course = read_course(task.course)
        results = self._walked(course_bouts(course, walks, generators, tries, self.bodies))
        size = len(results.fell) // len(walks)
        by_walk = [results.part(slice(at, at + size)) for at in range(0, len(results.fell), size)]
        return np.array([self._judged(course, one) for one in by_walk]) / tries

    def _walked(self, bouts: Sequence[Bout]) -> BoutResults:
        walk = self.walk_bouts or run_bouts
        if self.device == "gpu" and self.walk_bouts is None:
            from nutmeg.learning.device_bouts import walk_bouts_on_device

            walk = walk_bouts_on_device
        return walk(self.robot, bouts, noise=self.task.noise, actuation=self.actuation)

    def _judged(self, course: Course, results: BoutResults) -> list[float]:
        """The parts of one walk, summed over its starts."""
        lost = float(results.lost.sum())
        if not self.task.weighting:
            return [float(results.gained.sum()), lost]
        return [*_direction_rewards(course, results), lost]


def course_bouts(
    course: Course,
    walks: Sequence[WalkParameters],
    generators: Sequence[np.random.Generator],
    tries: int,
    bodies: Sequence[BodyVariant] = (AS_BUILT,),
) -> list[Bout]:
    """Every walk on every trajectory of a course from `tries` starts, walk by walk and start by start.

    From one start to the next the bodies come in turn.
    """
    many = len(course.trajectory)
    return [
        Bout(walk, course.trajectory[number % many], rng, bodies[number // many % len(bodies)])
        for walk, generator in zip(walks, generators, strict=True)
        for number, rng in enumerate(generator.spawn(tries * many))
    ]


def _direction_rewards(course: Course, results: BoutResults) -> list[float]:
    """Rewards of the targets that count for a direction, as a mean over these targets, summed over the starts."""
    many = len(course.trajectory)
    found: dict[str, list[float]] = {name: [] for name in DIRECTIONS}
    for row, one in enumerate(course.trajectory):
        for column, target in enumerate(one.target):
            if target.counts:
                found[target.counts].append(float(results.gained[row::many, column].sum()))
    return [float(np.mean(found[name])) if found[name] else 0.0 for name in DIRECTIONS]
