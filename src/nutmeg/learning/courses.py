"""Courses: trajectories of targets that a robot walks to, one after the other, for a fixed time each.

    course = read_course("go-to-target")            # or the path of a TOML file
    course.moving_time                              # 124.1 s of targets to walk to
    [t.name for t in course.trajectory]             # long walks, curve, quick changes, ...

A target lies at a place relative to where the robot is when the target becomes active, in the frame in which the robot
began its trajectory; a stop target asks it to stay. Each trajectory begins from standing. The course of the paper
(MacAlpine and others, 2012, section 5.1 and figure 2) and others are data under `learning/data/courses/`.

    bouts = [Bout(walk=walk, trajectory=one, rng=rng) for one in course.trajectory]
    result = run_bouts("nao-spark", bouts)          # all at once, each in a world of its own
    result.gained[0], result.lost[0]                # target by target of the first bout

Rewards are equations 1 and 2 of the paper (`learning.rewards`). A robot that falls is done with its trajectory: the
target of its fall and those it does not come to any more cost a fall each. What a stop costs is the farthest that the
robot gets from where the stop began; that a torso sways while the robot stands does not count as moving.

Robots steer as the paper's agents do: with `facing = "turn"` a robot walks towards its target and turns to face it at
the same time (section 5), with `hold` it walks there as it stands (section 6), and with `turn-first` it turns on the
spot until the target is within 15 degrees ahead (the alternative of section 5). Speeds are those of the walk's longest
steps, on an ellipse between directions. Starts are drawn with noise, so that no walk wins by a lucky one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.records import new_records
from nutmeg.base.settings import Bounds, check_bounds, read_named
from nutmeg.learning.rewards import FALL_COST
from nutmeg.model.physics import native_profile, profile_for_servos
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.trot import TrotWalker
from nutmeg.motion.walk.files import FACING_NUMBERS
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.worlds import StartState, Worlds, set_start_state, steps_in

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Indices
    from nutmeg.base.records import Records
    from nutmeg.model.identified import IdentifiedBody
    from nutmeg.model.parameters import Adjustment
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.trot import SteerableWalker
    from nutmeg.motion.walk.files import WalkParameters


COURSES_FOLDER = Path(__file__).parent / "data" / "courses"
"""The courses that come with Nutmeg."""
ROBOT_NAME = "walker"
"""What the robot is called in its scene."""
DIRECTIONS = ("forward", "backward", "sideways")
"""What rewards of the holonomic tasks are counted by, in this order."""
REACHED_DISTANCE = 0.1
"""A robot this near has reached its target [m]."""
FALLEN_COSINE = 0.7
"""A robot has fallen if the cosine of its torso's lean is below this (45 degrees)."""
FALLEN_HEIGHT_SHARE = 0.65
"""A robot whose torso is lower than this share of its height at the start has fallen."""
SPRINT_BEARING = math.radians(15)
"""Bearing of the target within which the sprint set is used (section 5.2) [rad]."""
POSITIONING_DISTANCE = 0.8
"""Distance to the ball within which the positioning set is used (section 5.3) [m]."""
TURN_GAIN = 2.0
"""Turn rate for each radian of bearing [1/s]."""
MIN_SPEED = 1e-6
"""Top speeds below this are taken for it where they are divided by [m/s]."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """Somewhere to go to, or a time to stay."""

    seconds: float
    """How long it is active."""
    to: tuple[float, float] | None = None
    """Where it lies from where the robot is when it becomes active: ahead and to the left, as at the start [m]."""
    stop: bool = False
    """Whether the robot is to stay where it is."""
    counts: str = ""
    """The direction that it counts for in the holonomic tasks: forward, backward, sideways, or none."""

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise ValueError(f"a target is active for {self.seconds:g} s; it must be longer than 0.")
        if self.stop == (self.to is not None):
            raise ValueError("a target has either `to`, the place to go to, or `stop = true`.")
        if self.to is not None and not 0 < math.hypot(*self.to) < math.inf:
            raise ValueError(f"a target lies at {self.to}; it must be away from the robot, and finite.")
        if self.counts and (self.counts not in DIRECTIONS or self.stop):
            raise ValueError(f"a target counts for {self.counts!r}; allowed for a place to go to: {DIRECTIONS}.")


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Targets one after the other, from standing."""

    name: str
    about: str = ""
    target: tuple[Target, ...]

    def __post_init__(self) -> None:
        if not self.target:
            raise ValueError(f"the trajectory {self.name!r} has no targets.")

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return math.fsum(target.seconds for target in self.target)


@dataclass(frozen=True, kw_only=True)
class Course:
    """Trajectories that a walk is judged by."""

    name: str
    trajectory: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        if not self.trajectory:
            raise ValueError("the course has no trajectories.")

    @property
    def moving_time(self) -> float:
        """How long there are places to go to, over all trajectories [s]."""
        return math.fsum(t.seconds for one in self.trajectory for t in one.target if not t.stop)

    @property
    def seconds(self) -> float:
        """How long all trajectories take together, stops included."""
        return math.fsum(one.seconds for one in self.trajectory)

    def counted_time(self) -> float:
        """How long the targets of a direction are active, as a mean over the directions [s]."""
        times = [[t.seconds for one in self.trajectory for t in one.target if t.counts == name] for name in DIRECTIONS]
        return sum(sum(each) / len(each) for each in times if each) / max(sum(bool(each) for each in times), 1)


def read_course(name: str) -> Course:
    """A course by its name, or from a TOML file."""
    return read_named(name, COURSES_FOLDER, Course, "course")


class StandingRobots(Protocol):
    """One robot of N worlds as it stands: `RobotWorlds`, or arrays."""

    @property
    def table(self) -> RobotTable:
        """Its place in the arrays of the model."""
        ...

    @property
    def pose(self) -> Floats:
        """Position and quaternion of the root, (N, 7)."""
        ...

    @property
    def angles(self) -> Floats:
        """Joint angles, (N, joints) [rad]."""
        ...


@dataclass(frozen=True, kw_only=True)
class StartNoise:
    """How much starts differ: standard deviations of normal distributions, cut off at two of them."""

    joints: Annotated[float, Bounds(0.0, 0.5, "rad")] = 0.02
    """Standard deviation of every joint's angle [rad]."""
    tilt: Annotated[float, Bounds(0.0, 0.5, "rad")] = 0.02
    """Standard deviation of the torso's roll and pitch [rad]."""
    velocity: Annotated[float, Bounds(0.0, 0.5, "m/s")] = 0.05
    """Standard deviation of the torso's horizontal velocity [m/s]."""
    rate: Annotated[float, Bounds(0.0, 0.5, "rad/s")] = 0.1
    """Standard deviation of the torso's roll and pitch rates [rad/s]."""
    lifted: Annotated[float, Bounds(0.0, 0.5, "m")] = 0.003
    """How far above the ground a robot is put, for bent legs reach deeper than straight ones [m]."""

    def __post_init__(self) -> None:
        check_bounds(self)

    def draw(
        self, robot: StandingRobots, rows: Indices, generators: Sequence[np.random.Generator]
    ) -> tuple[StartState, Floats]:
        """Starts around how a robot stands now in worlds `rows` (n,), each drawn by a generator of its own.

        Returns:
            The starts (n, ...), and a further number 0..1 from each generator that decides which foot swings first,
            (n,).
        """
        table = robot.table
        drawn = np.stack([np.clip(rng.standard_normal(len(table.joints) + 6), -2.0, 2.0) for rng in generators])
        first = np.array([rng.random() for rng in generators])
        pose, velocity = robot.pose[rows].copy(), np.zeros((len(rows), 6))
        small = np.zeros((len(rows), 4))  # a small rotation, as a quaternion
        small[:, 0], small[:, 1:3] = 1.0, self.tilt * drawn[:, :2] / 2
        pose[:, 3:7] = _product(pose[:, 3:7], small)
        pose[:, 3:7] /= np.linalg.norm(pose[:, 3:7], axis=1, keepdims=True)
        pose[:, 2] += self.lifted
        velocity[:, :2], velocity[:, 3:5] = self.velocity * drawn[:, 2:4], self.rate * drawn[:, 4:6]
        angles = np.clip(robot.angles[rows] + self.joints * drawn[:, 6:], table.limits[:, 0], table.limits[:, 1])
        return StartState(angles=angles, pose=pose, velocity=velocity), first


def _product(a: Floats, b: Floats) -> Floats:
    """Products of quaternions, (N, 4)."""
    aw, ax, ay, az = a.T
    bw, bx, by, bz = b.T
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=1,
    )


@dataclass(frozen=True)
class BodyVariant:
    """How a robot differs from its files, as identified or drawn (`model.identified`)."""

    adjustments: tuple[Adjustment, ...] = ()
    delay: float = 0.0
    """Additional delay of commands [s]."""

    @classmethod
    def of(cls, body: IdentifiedBody) -> BodyVariant:
        """The variant that an identified body is; targets of measurements play no part."""
        measured = ("delay", "zero.", "channel.", "camera.")
        return cls(tuple(a for a in body.adjustments if not a.target.startswith(measured)), body.delay)


AS_BUILT = BodyVariant()
"""The robot as its files have it."""


@functools.lru_cache(maxsize=64)
def course_scene(
    robot: str, ball: bool = False, actuation: str = "ideal", *, native: bool = False, body: BodyVariant = AS_BUILT
) -> Scene:
    """A floor with the robot, and a ball if wanted, without what is only seen; `native` needs nothing but MuJoCo."""
    placement = Placement(
        robot=robot, name=ROBOT_NAME, actuation=actuation, adjustments=body.adjustments, delay=body.delay
    )
    own = load_robot(robot).physics
    profile = own if actuation == "ideal" else profile_for_servos(own)
    return assemble(
        SceneSettings(
            field="floor",
            ball="sim3d" if ball else "none",
            robots=(placement,),
            physics=native_profile(profile) if native else profile,
            visuals=False,
        )
    )


def make_walker(worlds: Worlds, walks: Sequence[WalkParameters]) -> SteerableWalker:
    """A walker with the sets of parameters of each world's walk."""
    trots = [walk.trot for walk in walks if walk.trot is not None]
    if trots:
        return TrotWalker(worlds, ROBOT_NAME, trots, period=CONTROL_CYCLE)
    policies = [walk.policy for walk in walks if walk.policy is not None]
    if policies:
        if any(walk != walks[0] for walk in walks):
            raise UsageError("one of several walks of a batch is a policy; a batch has one policy for all its worlds.")
        return PolicyWalker(worlds, ROBOT_NAME, policies[0], period=CONTROL_CYCLE)
    names = list(walks[0].sets)
    if any(list(walk.sets) != names for walk in walks):
        raise UsageError("the walks of one batch have different sets of parameters; give them the same.")
    first, *others = ([walk.sets[name] for walk in walks] for name in names)
    return Walker(worlds, ROBOT_NAME, first, others=others, period=CONTROL_CYCLE)


def start_walkers(
    scene: Scene | Sequence[Scene],
    walks: Sequence[WalkParameters],
    generators: Sequence[np.random.Generator],
    *,
    noise: StartNoise | None = None,
    threads: int = 1,
) -> tuple[Worlds, SteerableWalker]:
    """N worlds with robots at noisy starts, and the walker that moves them.

    Args:
        scene: where, from `course_scene`; one for all, or one for each world.
        walks: the walk of each world.
        generators: each draws the start of one world.
        noise: how much starts differ.
        threads: how many threads step the worlds; results are the same.
    """
    if isinstance(scene, Scene):
        worlds = Worlds(scene, len(walks), threads=threads)
    else:
        worlds = Worlds.of(scene, threads=threads)
    start, first = (noise or StartNoise()).draw(worlds.robot(ROBOT_NAME), np.arange(len(walks)), generators)
    set_start_state(worlds, ROBOT_NAME, start)
    walker = make_walker(worlds, walks)
    walker.reset()
    walker.walk.swing[:] = first < 0.5
    return worlds, walker


class FallJudge:
    """Decides from the true poses which robots have fallen."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._robot = worlds, worlds.robot(ROBOT_NAME)
        self._height = float(worlds.scene.start[self._robot.table.root + 2])

    def now(self) -> Bools:
        """Those that lie, or whose world broke down, (N,)."""
        from nutmeg.learning.course_kernels import find_lying  # here: loading the compiler takes long

        lying = np.empty(self._worlds.count, dtype=bool)
        find_lying(self._robot.pose, self._height, lying)
        return np.asarray(lying | self._worlds.diverged())


def yaw_of(pose: Floats) -> Floats:
    """Headings of robots, (N, 7) to (N,) [rad]."""
    from nutmeg.learning.course_kernels import headings

    found = np.empty(len(pose))
    headings(pose, found)
    return found


def in_robot_frame(way: Floats, yaw: Floats) -> Floats:
    """World vectors (N, 2) in the frames of robots with headings `yaw` (N,): ahead, to the left."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.stack([cos * way[:, 0] + sin * way[:, 1], cos * way[:, 1] - sin * way[:, 0]], axis=1)


def top_velocity(walker: SteerableWalker, ahead: Floats) -> Floats:
    """The fastest velocities into directions in the robots' frames, (N, 2) to (N, 2) [m/s]; zero for no direction."""
    from nutmeg.learning.course_kernels import fastest_of_robots

    found = np.empty(ahead.shape)
    fastest_of_robots(ahead, walker.walk.top_speed(), walker.walk.top_speed_back(), found)
    return found


def turn_rate(walker: SteerableWalker, bearing: Floats) -> Floats:
    """Turn rates that face a bearing, (N,) to (N,) [rad/s]."""
    most = walker.walk.top_speed()[:, 2]
    return np.asarray(np.clip(TURN_GAIN * bearing, -most, most))


def steer(walker: SteerableWalker, way: Floats, yaw: Floats, facings: Indices, moving: Bools) -> Floats:
    """Sets wanted velocities towards places.

    Args:
        walker: whose `wanted` is set.
        way: from the robots to their places, in the world's frame, (N, 2) [m].
        yaw: headings of the robots, (N,) [rad].
        facings: what the robots do with their orientation, as in `FACING_NUMBERS`, (N,).
        moving: which robots are to go at all, (N,).

    Returns:
        The bearings of the places, (N,) [rad].
    """
    from nutmeg.learning.course_kernels import steer_robots

    bearing, speeds = np.empty(len(yaw)), (walker.walk.top_speed(), walker.walk.top_speed_back())
    steer_robots(np.ascontiguousarray(way), yaw, facings, moving, *speeds, walker.wanted, bearing)
    return bearing


class SetChooser:
    """Chooses between the sets of parameters of a walker, cycle by cycle.

    Args:
        walks: the walk of each world; all have the same sets.
    """

    def __init__(self, walks: Sequence[WalkParameters]) -> None:
        names = list(walks[0].sets)
        self._sprint = names.index("sprint") if "sprint" in names else 0
        self._positioning = names.index("positioning") if "positioning" in names else 0

    def choose(self, walker: SteerableWalker, bearing: Floats, moving: Bools, to_ball: Floats | None = None) -> None:
        """Sets `walker.chosen` from bearings of targets (N,) and distances to the ball (N,)."""
        if self._sprint:
            straight = moving & (np.abs(bearing) < SPRINT_BEARING)
            walker.chosen[:] = np.where(straight, self._sprint, 0)
        if self._positioning and to_ball is not None:
            near = to_ball < POSITIONING_DISTANCE
            walker.chosen[near] = self._positioning


@dataclass
class TargetRecord:
    """A target for compiled code."""

    to: Annotated[Floats, (2,)]
    """Where it lies from where the robot is when it becomes active [m]; zero for a stop."""
    cycles: int
    """How many control cycles it is active."""
    stop: bool
    """Whether the robot is to stay where it is."""


@dataclass
class Progress:
    """How far one robot has come on its trajectory; compiled code has N of them as records."""

    trajectory: int
    """The trajectory that it follows."""
    index: int
    """Its present target."""
    left: int
    """Cycles that the target stays active."""
    taken: int
    """Cycles that it took to reach the target, so far."""
    reached: bool
    """Whether it has reached the target."""
    goal: Annotated[Floats, (2,)]
    """Where the target is [m]."""
    origin: Annotated[Floats, (2,)]
    """Where the robot was when the target became active [m]."""
    whole: float
    """Distance from there to the target [m]."""
    to_go: float
    """Distance of the target from the robot [m]."""
    farthest: float
    """The farthest that the robot was from where the target became active [m]."""


def target_table(trajectories: Sequence[Trajectory]) -> tuple[Records[Records[TargetRecord]], Indices]:
    """Records of the targets of trajectories, (trajectories, targets), and how many each of them has."""
    table = new_records(TargetRecord, len(trajectories), max(len(one.target) for one in trajectories))
    table["cycles"] = 1
    for row, trajectory in enumerate(trajectories):
        for column, target in enumerate(trajectory.target):
            cycles = max(round(target.seconds / CONTROL_CYCLE), 1)
            table[row, column] = (target.to or (0.0, 0.0), cycles, target.stop)
    return table, np.array([len(one.target) for one in trajectories])


class TargetProgress:
    """Which targets N robots are on, cycle by cycle.

    Args:
        trajectories: the trajectories that robots may follow.
        count: how many robots, N.
    """

    def __init__(self, trajectories: Sequence[Trajectory], count: int) -> None:
        self.table, self.lengths = target_table(trajectories)
        self.longest = float(np.hypot(*np.moveaxis(self.table["to"], -1, 0)).max())
        """Distance of the farthest target when it becomes active [m]."""
        self.longest_time = float(self.table["cycles"].max() * CONTROL_CYCLE)
        """The longest time that a target is active [s]."""
        self.states = new_records(Progress, count)
        """(N,); the fields that others read are arrays of their own below, live."""
        self.trajectory: Indices = self.states["trajectory"]
        self.index: Indices = self.states["index"]
        self.left: Indices = self.states["left"]
        self.taken: Indices = self.states["taken"]
        self.reached: Bools = self.states["reached"]
        self.goal: Floats = self.states["goal"]
        self.whole: Floats = self.states["whole"]
        self.to_go: Floats = self.states["to_go"]
        self.farthest: Floats = self.states["farthest"]

    @property
    def stopping(self) -> Bools:
        """Which robots are to stay where they are, (N,)."""
        return np.asarray(self.table["stop"][self.trajectory, self.index])

    @property
    def moving(self) -> Bools:
        """Which robots have somewhere to go: no stop, and not reached yet, (N,)."""
        return np.asarray(~self.stopping & ~self.reached)

    @property
    def total(self) -> Indices:
        """How many cycles the present targets are active, (N,)."""
        return np.asarray(self.table["cycles"][self.trajectory, self.index])

    @property
    def targets_left(self) -> Indices:
        """How many targets are left, the present one included, (N,)."""
        return np.asarray(self.lengths[self.trajectory] - self.index)

    def begin(self, rows: Indices, which: ArrayLike, place: Floats) -> None:
        """Puts robots `rows` (n,), which are at `place` (N, 2), to the beginning of trajectories `which` (n,)."""
        self.trajectory[rows], self.index[rows] = which, 0
        self._activate(rows, place)

    def update(self, place: Floats) -> None:
        """Takes in where the robots are, (N, 2) [m], after a cycle."""
        from nutmeg.learning.course_kernels import update_robots

        update_robots(self.states, self.table, place)

    def proceed(self, rows: Indices, place: Floats) -> Indices:
        """Activates the next targets of robots `rows` (n,); returns those that have none left."""
        last = self.targets_left[rows] == 1
        self.index[rows[~last]] += 1
        self._activate(rows[~last], place)
        return np.asarray(rows[last])

    def _activate(self, rows: Indices, place: Floats) -> None:
        from nutmeg.learning.course_kernels import activate_robots

        activate_robots(self.states, self.table, place, rows)


@dataclass(frozen=True)
class Bout:
    """One walk on one trajectory from one start."""

    walk: WalkParameters
    trajectory: Trajectory
    rng: np.random.Generator
    """Random numbers of the start."""
    body: BodyVariant = AS_BUILT
    """The body that walks."""


@dataclass(frozen=True)
class BoutResults:
    """Results of B bouts; rows are filled up to the longest trajectory with zeros."""

    gained: Floats
    """Rewards of the targets, without falls, (B, T) [m]."""
    lost: Floats
    """Rewards of stops and falls, never above 0, (B, T)."""
    fell: Bools
    """Whether the robot of each bout fell, (B,)."""
    seconds: Floats
    """How long each bout was simulated, (B,)."""
    paths: Floats | None
    """Where the robots were at each cycle, (cycles + 1, B, 2) [m]; nan after the end."""

    @property
    def total(self) -> Floats:
        """The reward of each bout, (B,)."""
        return np.asarray(self.gained.sum(axis=1) + self.lost.sum(axis=1))

    @classmethod
    def joined(cls, parts: Sequence[BoutResults], rows: Sequence[Sequence[int]]) -> BoutResults:
        """The results of bouts that were walked in several batches; `rows` says which bouts each batch had."""
        order = np.argsort(np.concatenate([np.asarray(one, np.intp) for one in rows]))
        wide = max(part.gained.shape[1] for part in parts)

        def together(name: str) -> Floats:
            values = [getattr(part, name) for part in parts]
            padded = [np.pad(one, [(0, 0), (0, wide - one.shape[1])]) if one.ndim == 2 else one for one in values]
            return np.asarray(np.concatenate(padded)[order])

        paths = [part.paths for part in parts if part.paths is not None]
        long = max((len(one) for one in paths), default=0)
        padded = [np.pad(one, [(0, long - len(one)), (0, 0), (0, 0)], constant_values=np.nan) for one in paths]
        return cls(
            gained=together("gained"),
            lost=together("lost"),
            fell=together("fell").astype(bool),
            seconds=together("seconds"),
            paths=np.concatenate(padded, axis=1)[:, order] if padded else None,
        )

    def part(self, rows: slice) -> BoutResults:
        """The results of some bouts, without paths."""
        return BoutResults(self.gained[rows], self.lost[rows], self.fell[rows], self.seconds[rows], None)


def run_bouts(
    robot: str,
    bouts: Sequence[Bout],
    *,
    noise: StartNoise | None = None,
    actuation: str = "ideal",
    threads: int = 1,
    paths: bool = False,
) -> BoutResults:
    """Walks all bouts at once.

    Args:
        robot: which.
        bouts: B of them, in any order.
        noise: how much starts differ.
        actuation: what drives the joints.
        threads: how many threads step the worlds; results are the same.
        paths: whether to keep where the robots were.
    """
    walks, generators = [bout.walk for bout in bouts], [bout.rng for bout in bouts]
    scenes = [course_scene(robot, actuation=actuation, body=bout.body) for bout in bouts]
    scene = scenes[0]
    delayed: dict[int, list[int]] = {}  # worlds of one batch remember equally many commands
    for row, one in enumerate(scenes):
        delayed.setdefault(int(one.model.nhistory), []).append(row)
    if len(delayed) > 1:
        groups = list(delayed.values())
        some = functools.partial(run_bouts, robot, noise=noise, actuation=actuation, threads=threads, paths=paths)
        return BoutResults.joined([some([bouts[row] for row in rows]) for rows in groups], groups)
    alike = all(one is scene for one in scenes)
    worlds, walker = start_walkers(scene if alike else scenes, walks, generators, noise=noise, threads=threads)
    run = _CourseRun(worlds, bouts)
    pose, sets = run.robot.pose, SetChooser(walks)
    facings = np.array([FACING_NUMBERS[walk.facing] for walk in walks])
    steps = steps_in(CONTROL_CYCLE, scene.timestep)
    kept = [pose[:, :2].copy()]
    run.drop_fallen()
    while run.active.any():
        progress, moving = run.progress, run.active & run.progress.moving
        bearing = steer(walker, progress.goal - pose[:, :2], yaw_of(pose), facings, moving)
        sets.choose(walker, bearing, moving)
        walker.sample(0.0)
        worlds.step(steps, np.flatnonzero(run.active))
        run.cycles += run.active
        if paths:
            kept.append(np.where(run.active[:, None], pose[:, :2], np.nan))
        run.judge()
    seconds = np.asarray(run.cycles * CONTROL_CYCLE)
    return BoutResults(run.gained, run.lost, run.fell, seconds, np.array(kept) if paths else None)


class _CourseRun:
    """What B robots have gained and lost so far."""

    def __init__(self, worlds: Worlds, bouts: Sequence[Bout]) -> None:
        count, self.robot = worlds.count, worlds.robot(ROBOT_NAME)
        self._falls = FallJudge(worlds)
        self.progress = TargetProgress([bout.trajectory for bout in bouts], count)
        self.progress.begin(np.arange(count), np.arange(count), self.robot.pose[:, :2])
        shape = count, max(len(bout.trajectory.target) for bout in bouts)
        self.gained, self.lost = np.zeros(shape), np.zeros(shape)
        self.fell, self.active = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        self.cycles = np.zeros(count, dtype=np.intp)

    def judge(self) -> None:
        """Rewards targets whose time is over, and activates the next ones; robots that fell are done."""
        from nutmeg.learning.course_kernels import judge_robots

        progress, lying, place = self.progress, self.active & self._falls.now(), self.robot.pose[:, :2]
        self.fell |= lying
        course = progress.states, progress.table, progress.lengths
        judge_robots(*course, place, lying, self.active, self.gained, self.lost)

    def drop_fallen(self) -> None:
        """Takes robots out that lie at the start: every one of their targets costs a fall."""
        self.fell[:] = self._falls.now()
        self.active[:] = ~self.fell
        for row in np.flatnonzero(self.fell):
            self.lost[row, : self.progress.lengths[row]] -= FALL_COST
