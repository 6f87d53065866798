"""Robots on a course: many worlds at once, each on one trajectory, with what it gained and lost at every target.

    bouts = [Bout(walk=walk, trajectory=one, rng=rng) for one in course.trajectory]
    result = run_bouts("nao-spark", bouts)
    result.gained[0], result.lost[0]            # target by target of the first bout

Rewards are equations 1 and 2 of MacAlpine and others (2012). A robot that falls is done with its trajectory: the
target of its fall and those it does not come to any more cost a fall each. What a stop costs is the farthest that the
robot gets from where it was told to stop; that a torso sways while the robot stands does not count as moving.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.engine.worlds import Worlds
from nutmeg.errors import UsageError
from nutmeg.learning.rewards import FALL
from nutmeg.learning.starts import StartNoise, begin_noisy, ready
from nutmeg.learning.steering import SetChooser, steer, yaw_of
from nutmeg.motion.trot_walker import TrotWalker
from nutmeg.motion.walker import Walker

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.learning.course import Trajectory
    from nutmeg.learning.walks import Walk
    from nutmeg.motion.trot_walker import Steered


CYCLE = 0.02
"""Control cycle [s]."""
REACHED = 0.1
"""A robot this near has reached its target [m]."""
UPRIGHT = 0.7
"""A robot whose torso leans more than this cosine has fallen."""
LOW = 0.65
"""A robot whose torso is lower than this share of its height at the start has fallen."""
ROBOT = "walker"


@dataclass(frozen=True)
class Bout:
    """One walk on one trajectory from one start."""

    walk: Walk
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
def scene_with(robot: str, ball: bool = False, actuation: str = "ideal") -> Scene:
    """A floor with the robot, and a ball if wanted, without what is only seen."""
    placement = Placement(robot=robot, name=ROBOT, actuation=actuation)
    return assemble(SceneSettings(field="floor", ball="sim3d" if ball else "none", robots=(placement,), visuals=False))


def walker_of(worlds: Worlds, walks: Sequence[Walk]) -> Steered:
    """A walker with the sets of parameters of each world's walk."""
    trots = [walk.trot for walk in walks if walk.trot is not None]
    if trots:
        return TrotWalker(worlds, ROBOT, trots, period=CYCLE)
    names = list(walks[0].sets)
    if any(list(walk.sets) != names for walk in walks):
        raise UsageError("the walks of one batch have different sets of parameters; give them the same.")
    first, *others = ([walk.sets[name] for walk in walks] for name in names)
    return Walker(worlds, ROBOT, first, others=others, period=CYCLE)


class Falls:
    """Tells which robots have fallen."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._robot = worlds, worlds.robot(ROBOT)
        self._height = float(worlds.scene.start[self._robot.table.root + 2])

    def now(self) -> Bools:
        """Those that lie, or whose world broke down, (N,)."""
        fallen = (self._robot.uprightness() < UPRIGHT) | (self._robot.pose[:, 2] < LOW * self._height)
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
    worlds = Worlds(scene_with(robot, actuation=actuation), len(bouts), threads=threads)
    first = begin_noisy(worlds, ROBOT, noise or StartNoise(), [bout.rng for bout in bouts])
    walker = walker_of(worlds, [bout.walk for bout in bouts])
    ready(walker, first)
    round_ = _Round(worlds, walker, bouts)
    steps = max(round(CYCLE / worlds.scene.timestep), 1)
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


class _Round:
    """The targets of all bouts, and where each robot is in its trajectory."""

    def __init__(self, worlds: Worlds, walker: Steered, bouts: Sequence[Bout]) -> None:
        count, longest = worlds.count, max(len(b.trajectory.target) for b in bouts)
        self._robot, self._walker, self._falls = worlds.robot(ROBOT), walker, Falls(worlds)
        self._sets = SetChooser([b.walk for b in bouts])
        self._turns = np.array([b.walk.facing == "turn" for b in bouts])
        self._to = np.zeros((count, longest, 2))
        self._cycles = np.zeros((count, longest), dtype=np.intp)
        self._stop = np.zeros((count, longest), dtype=bool)
        self._targets = np.array([len(b.trajectory.target) for b in bouts])
        for row, bout in enumerate(bouts):
            for column, target in enumerate(bout.trajectory.target):
                self._to[row, column] = target.to or (0.0, 0.0)
                self._cycles[row, column] = round(target.seconds / CYCLE)
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
        self._reached |= begun & self.active & (self._to_go < REACHED) & ~self._stopping()
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
        reward = np.where(reached, whole - REACHED, gone) * np.where(
            reached, total / np.maximum(self._taken[rows], 1), 1.0
        )
        self.gained[rows, column] = np.where(stop, 0.0, reward)
        self.lost[rows, column] = np.where(stop, -self._farthest[rows], 0.0)

    def _drop(self, rows: Indices) -> None:
        """Takes fallen robots out; every target from the present one on costs a fall."""
        for row in rows:
            self.lost[row, max(self._index[row], 0) : self._targets[row]] -= FALL
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
        return BoutResults(self.gained, self.lost, self.fell, np.asarray(self._done * CYCLE), paths)
