"""Courses: trajectories of targets that a robot walks to, one after the other, for a fixed time each.

    course = read_course("go-to-target")            # or the path of a TOML file
    course.moving_time                              # 124.1 s of targets to walk to
    [t.name for t in course.trajectory]             # long walks, curve, quick changes, ...

A target lies at a place relative to where the robot is when the target becomes active, in the frame in which the robot
began its trajectory; a stop target asks it to stay. Each trajectory begins from standing. The course of the paper
(MacAlpine and others, 2012, section 5.1 and figure 2) and others are data under `learning/data/courses/`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base import settings
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.rewards import FALL_COST
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.trot import TrotWalker
from nutmeg.motion.walk.walker import Walker
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.motion.trot import SteerableWalker
    from nutmeg.motion.walk.files import WalkParameters


DIRECTIONS = ("forward", "backward", "sideways")
"""What rewards of the holonomic tasks are counted by, in this order."""


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


def course_names() -> tuple[str, ...]:
    """The courses that come with Nutmeg."""
    folder = resources.files("nutmeg.learning") / "data" / "courses"
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def read_course(name: str) -> Course:
    """A course by its name, or from a TOML file."""
    if name.endswith(".toml"):
        return settings.read(Path(name), Course)
    if name not in course_names():
        raise UnknownNameError("course", name, course_names())
    with resources.as_file(resources.files("nutmeg.learning") / "data" / "courses" / f"{name}.toml") as path:
        return settings.read_cached(path, Course)


# ----------------------------------------------------------------------------------------------------
# Starts that are never quite the same, so that luck does not win.
#
# Joint angles, the torso's tilt and its velocity are drawn anew for every try, and so is the foot that swings first.


@dataclass(frozen=True, kw_only=True)
class StartNoise:
    """How much starts differ: standard deviations of normal distributions, cut off at two of them."""

    joints: float = 0.02
    """Of every joint's angle [rad]."""
    tilt: float = 0.02
    """Of the torso's roll and pitch [rad]."""
    velocity: float = 0.05
    """Of the torso's horizontal velocity [m/s]."""
    rate: float = 0.1
    """Of the torso's roll and pitch rates [rad/s]."""
    lifted: float = 0.003
    """How far above the ground a robot is put, for bent legs reach deeper than straight ones [m]."""

    def __post_init__(self) -> None:
        for name in ("joints", "tilt", "velocity", "rate", "lifted"):
            if not 0 <= getattr(self, name) <= 0.5:
                raise ValueError(f"start noise: {name} is {getattr(self, name):g}; allowed is 0..0.5.")


def start_with_noise(
    worlds: Worlds, robot: str, noise: StartNoise, generators: Sequence[np.random.Generator]
) -> Floats:
    """Puts a robot to noisy starts in all worlds; returns what was drawn for the first swing, 0..1, (N,)."""
    worlds.reset()
    table, pose = worlds.robot(robot).table, worlds.robot(robot).pose.copy()
    width = len(table.joints) + 6
    drawn = np.stack([np.clip(rng.standard_normal(width), -2.0, 2.0) for rng in generators])
    first = np.array([rng.random() for rng in generators])
    joints, rest = drawn[:, 6:], drawn[:, :6]
    tilt = noise.tilt * rest[:, :2] / 2
    pose[:, 3:7] = _product(pose[:, 3:7], np.concatenate([np.ones((len(tilt), 1)), tilt, 0 * tilt[:, :1]], axis=1))
    pose[:, 3:7] /= np.linalg.norm(pose[:, 3:7], axis=1, keepdims=True)
    pose[:, 2] += noise.lifted
    velocity = np.zeros((worlds.count, 6))
    velocity[:, :2], velocity[:, 3:5] = noise.velocity * rest[:, 2:4], noise.rate * rest[:, 4:6]
    angles = worlds.qpos[:, table.angles] + noise.joints * joints
    angles = np.clip(angles, table.limits[:, 0], table.limits[:, 1])
    set_start_state(worlds, robot, StartState(angles=angles, pose=pose, velocity=velocity))
    return first


def begin_walking(walker: SteerableWalker, first: Floats) -> None:
    """Makes walkers ready to walk from a noisy start: `first` (N,) decides which foot swings first."""
    walker.reset()
    walker.walk.swing[:] = first < 0.5


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


# ----------------------------------------------------------------------------------------------------
# From a direction to wanted velocities: how a robot walks towards a place.
#
# With `turn` a robot walks towards its target and turns to face it at the same time, as the agents of MacAlpine and
# others (2012, section 5) do; with `hold` it walks there as it stands (section 6). Speeds are those of the walk's
# longest steps, on an ellipse between directions. Sets of parameters change as in sections 5.2 and 5.3: `sprint`
# within 15 degrees of the target, `positioning` within 0.8 m of the ball.


SPRINT_BEARING = math.radians(15)
"""Bearing of the target within which the sprint set is used [rad]."""
POSITIONING_DISTANCE = 0.8
"""Distance to the ball within which the positioning set is used [m]."""
TURN_GAIN = 2.0
"""Turn rate for each radian of bearing [1/s]."""
MIN_SPEED = 1e-6
"""Top speeds below this are taken for it, to divide by them [m/s]."""


def yaw_of(pose: Floats) -> Floats:
    """Where robots face, (N, 7) to (N,) [rad]."""
    w, x, y, z = pose[:, 3:7].T
    return np.asarray(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def in_robot_frame(way: Floats, yaw: Floats) -> Floats:
    """World vectors (N, 2) as robots that face `yaw` (N,) see them: ahead, to the left."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.stack([cos * way[:, 0] + sin * way[:, 1], cos * way[:, 1] - sin * way[:, 0]], axis=1)


def top_velocity(walker: SteerableWalker, ahead: Floats) -> Floats:
    """The fastest velocities into directions seen by the robots, (N, 2) to (N, 2) [m/s]; zero for no direction."""
    top = walker.walk.top_speed()
    length = np.hypot(ahead[:, 0], ahead[:, 1])
    unit = ahead / np.maximum(length, MIN_SPEED)[:, None]
    along = np.where(unit[:, 0] < 0, walker.walk.top_speed_back(), top[:, 0])
    speed = np.hypot(unit[:, 0] / np.maximum(along, MIN_SPEED), unit[:, 1] / np.maximum(top[:, 1], MIN_SPEED))
    return np.asarray(unit / np.maximum(speed, MIN_SPEED)[:, None])


def turn_rate(walker: SteerableWalker, bearing: Floats) -> Floats:
    """Turn rates that face a bearing, (N,) to (N,) [rad/s]."""
    most = walker.walk.top_speed()[:, 2]
    return np.asarray(np.clip(TURN_GAIN * bearing, -most, most))


def steer(walker: SteerableWalker, way: Floats, yaw: Floats, turns: Bools, moving: Bools) -> Floats:
    """Sets wanted velocities towards places.

    Args:
        walker: whose `wanted` is set.
        way: from the robots to their places, in the world's frame, (N, 2) [m].
        yaw: where the robots face, (N,) [rad].
        turns: which robots turn to where they go, (N,).
        moving: which robots are to go at all, (N,).

    Returns:
        The bearings of the places, (N,) [rad].
    """
    ahead = in_robot_frame(way, yaw)
    bearing = np.arctan2(ahead[:, 1], ahead[:, 0])
    walker.wanted[:, :2] = np.where(moving[:, None], top_velocity(walker, ahead), 0.0)
    walker.wanted[:, 2] = np.where(moving & turns, turn_rate(walker, bearing), 0.0)
    return np.asarray(bearing)


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


# ----------------------------------------------------------------------------------------------------
# Robots on a course: many worlds at once, each on one trajectory, with what it gained and lost at every target.
#
# Rewards are equations 1 and 2 of MacAlpine and others (2012). A robot that falls is done with its trajectory: the
# target of its fall and those it does not come to any more cost a fall each. What a stop costs is the farthest that
# the robot gets from where it was told to stop; that a torso sways while the robot stands does not count as moving.


CONTROL_CYCLE = 0.02
"""Control cycle [s]."""
REACHED_DISTANCE = 0.1
"""A robot this near has reached its target [m]."""
FALLEN_COSINE = 0.7
"""A robot whose torso leans more than this cosine has fallen."""
FALLEN_HEIGHT_SHARE = 0.65
"""A robot whose torso is lower than this share of its height at the start has fallen."""
ROBOT_NAME = "walker"


@dataclass(frozen=True)
class Bout:
    """One walk on one trajectory from one start."""

    walk: WalkParameters
    trajectory: Trajectory
    rng: np.random.Generator
    """Draws the start."""


@dataclass(frozen=True)
class BoutResults:
    """What B bouts came to; rows are filled up to the longest trajectory with zeros."""

    gained: Floats
    """What targets brought, without falls, (B, T) [m]."""
    lost: Floats
    """What stops and falls cost, never above 0, (B, T)."""
    fell: Bools
    """(B,)."""
    seconds: Floats
    """How long each bout was simulated, (B,)."""
    paths: Floats | None
    """Where the robots were at each cycle, (cycles + 1, B, 2) [m]; nan after the end."""

    @property
    def total(self) -> Floats:
        """The reward of each bout, (B,)."""
        return np.asarray(self.gained.sum(axis=1) + self.lost.sum(axis=1))


@functools.lru_cache(maxsize=8)
def course_scene(robot: str, ball: bool = False, actuation: str = "ideal") -> Scene:
    """A floor with the robot, and a ball if wanted, without what is only seen."""
    placement = Placement(robot=robot, name=ROBOT_NAME, actuation=actuation)
    return assemble(SceneSettings(field="floor", ball="sim3d" if ball else "none", robots=(placement,), visuals=False))


def make_walker(worlds: Worlds, walks: Sequence[WalkParameters]) -> SteerableWalker:
    """A walker with the sets of parameters of each world's walk."""
    trots = [walk.trot for walk in walks if walk.trot is not None]
    if trots:
        return TrotWalker(worlds, ROBOT_NAME, trots, period=CONTROL_CYCLE)
    names = list(walks[0].sets)
    if any(list(walk.sets) != names for walk in walks):
        raise UsageError("the walks of one batch have different sets of parameters; give them the same.")
    first, *others = ([walk.sets[name] for walk in walks] for name in names)
    return Walker(worlds, ROBOT_NAME, first, others=others, period=CONTROL_CYCLE)


class FallJudge:
    """Tells which robots have fallen."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._robot = worlds, worlds.robot(ROBOT_NAME)
        self._height = float(worlds.scene.start[self._robot.table.root + 2])

    def now(self) -> Bools:
        """Those that lie, or whose world broke down, (N,)."""
        fallen = (self._robot.uprightness() < FALLEN_COSINE) | (
            self._robot.pose[:, 2] < FALLEN_HEIGHT_SHARE * self._height
        )
        return np.asarray(fallen | self._worlds.diverged())


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
    worlds = Worlds(course_scene(robot, actuation=actuation), len(bouts), threads=threads)
    first = start_with_noise(worlds, ROBOT_NAME, noise or StartNoise(), [bout.rng for bout in bouts])
    walker = make_walker(worlds, [bout.walk for bout in bouts])
    begin_walking(walker, first)
    round_ = _CourseProgress(worlds, walker, bouts)
    steps = max(round(CONTROL_CYCLE / worlds.scene.timestep), 1)
    kept: list[Floats] = []
    while True:
        if paths:
            kept.append(np.where(round_.active[:, None], round_.place(), np.nan))
        round_.judge()
        active = np.flatnonzero(round_.active)
        if not len(active):
            return round_.results(np.array(kept) if paths else None)
        round_.steer()
        walker.sample(0.0)
        worlds.step(steps, active)


class _CourseProgress:
    """The targets of all bouts, and where each robot is in its trajectory."""

    def __init__(self, worlds: Worlds, walker: SteerableWalker, bouts: Sequence[Bout]) -> None:
        count, longest = worlds.count, max(len(b.trajectory.target) for b in bouts)
        self._robot, self._walker, self._falls = worlds.robot(ROBOT_NAME), walker, FallJudge(worlds)
        self._sets = SetChooser([b.walk for b in bouts])
        self._turns = np.array([b.walk.facing == "turn" for b in bouts])
        self._to = np.zeros((count, longest, 2))
        self._cycles = np.zeros((count, longest), dtype=np.intp)
        self._stop = np.zeros((count, longest), dtype=bool)
        self._targets = np.array([len(b.trajectory.target) for b in bouts])
        for row, bout in enumerate(bouts):
            for column, target in enumerate(bout.trajectory.target):
                self._to[row, column] = target.to or (0.0, 0.0)
                self._cycles[row, column] = round(target.seconds / CONTROL_CYCLE)
                self._stop[row, column] = target.stop
        self.gained, self.lost = np.zeros((count, longest)), np.zeros((count, longest))
        self.fell = np.zeros(count, dtype=bool)
        self.active = np.ones(count, dtype=bool)
        self._index = np.full(count, -1)
        self._left = np.zeros(count, dtype=np.intp)
        self._taken = np.zeros(count, dtype=np.intp)
        self._done = np.zeros(count, dtype=np.intp)
        self._origin, self._goal, self._farthest = np.zeros((count, 2)), np.zeros((count, 2)), np.zeros(count)
        self._reached = np.zeros(count, dtype=bool)
        self._to_go = np.zeros(count)

    def place(self) -> Floats:
        """Where the robots are, (B, 2) [m]."""
        return np.asarray(self._robot.pose[:, :2])

    def judge(self) -> None:
        """Takes note of falls, reached targets and targets whose time is over, and gives out the next ones."""
        place = self.place()
        way = self._goal - place
        self._to_go = np.hypot(way[:, 0], way[:, 1])
        moved = place - self._origin
        np.maximum(self._farthest, np.hypot(moved[:, 0], moved[:, 1]), out=self._farthest)
        begun = self._index >= 0
        fallen = self.active & self._falls.now()
        self._taken[self.active & begun & ~self._reached] += 1
        self._reached |= begun & self.active & (self._to_go < REACHED_DISTANCE) & ~self._stopping()
        over = self.active & (self._left == 0)
        self._settle(np.flatnonzero((over | fallen) & begun), place)
        self._drop(np.flatnonzero(fallen))
        self._next(np.flatnonzero(over & ~fallen), place)
        self._left[self.active] -= 1
        self._done[self.active] += 1

    def _stopping(self) -> Bools:
        return np.asarray(self._stop[np.arange(len(self._index)), np.maximum(self._index, 0)])

    def _settle(self, rows: Indices, place: Floats) -> None:
        """Equations 1 and 2, without falls, for the present targets of some robots."""
        column = self._index[rows]
        stop = self._stop[rows, column]
        whole = np.hypot(*(self._goal[rows] - self._origin[rows]).T)
        gone = whole - np.hypot(*(self._goal[rows] - place[rows]).T)
        total = self._cycles[rows, column]
        reached = self._reached[rows]
        # From where it was reached on the robot has nothing to gain; the way to the target is what it has gone.
        reward = np.where(reached, whole - REACHED_DISTANCE, gone) * np.where(
            reached, total / np.maximum(self._taken[rows], 1), 1.0
        )
        self.gained[rows, column] = np.where(stop, 0.0, reward)
        self.lost[rows, column] = np.where(stop, -self._farthest[rows], 0.0)

    def _drop(self, rows: Indices) -> None:
        """Takes fallen robots out; every target from the present one on costs a fall."""
        for row in rows:
            self.lost[row, max(self._index[row], 0) : self._targets[row]] -= FALL_COST
        self.fell[rows], self.active[rows] = True, False

    def _next(self, rows: Indices, place: Floats) -> None:
        self._index[rows] += 1
        ended = self._index[rows] >= self._targets[rows]
        self.active[rows[ended]] = False
        self._index[rows[ended]] -= 1
        rows = rows[~ended]
        column = self._index[rows]
        self._left[rows], self._taken[rows] = self._cycles[rows, column], 0
        self._origin[rows], self._farthest[rows], self._reached[rows] = place[rows], 0.0, False
        self._goal[rows] = place[rows] + self._to[rows, column]

    def steer(self) -> None:
        """Sets wanted velocities and parameter sets."""
        moving = self.active & ~self._reached & ~self._stopping()
        bearing = steer(self._walker, self._goal - self.place(), yaw_of(self._robot.pose), self._turns, moving)
        self._sets.choose(self._walker, bearing, moving)

    def results(self, paths: Floats | None) -> BoutResults:
        """What it all came to."""
        return BoutResults(self.gained, self.lost, self.fell, np.asarray(self._done * CONTROL_CYCLE), paths)
