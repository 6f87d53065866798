"""Walking to targets by steering the pendulum walk: the task of `nutmeg/GoToTarget-v0`.

    task = GoToTargetTask(GoToTargetOptions(trajectory="curve"), count=64)

The trajectories are those of the obstacle course of MacAlpine and others (2012), section 5.1; an action says how fast
to walk ahead, to the left and turning to the left, as shares of the walk's top speeds. Rewards are their equations 1
and 2, handed out cycle by cycle (see `targets`). A walk with several sets of parameters changes between them as the
paper's agents do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
from nutmeg.base.errors import UnknownNameError
from nutmeg.learning.courses import CONTROL_CYCLE, REACHED_DISTANCE, SetChooser, in_robot_frame, read_course, yaw_of
from nutmeg.learning.gym.options import ANY_TRAJECTORY
from nutmeg.learning.gym.robots import RobotBatch, phase, velocities_from_shares, walker_for
from nutmeg.learning.gym.spaces import Layout, Outcome, Part, known_options
from nutmeg.learning.rewards import FALL_COST
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.learning.courses import Course
    from nutmeg.learning.gym.options import GoToTargetOptions


# ----------------------------------------------------------------------------------------------------
# Targets of N episodes, one after the other, and what robots gain from cycle to cycle.
#
# The gains of a whole episode add up to equations 1 and 2 of MacAlpine and others (2012), as `course_run` counts
# them. On the way to a target a cycle brings the metres that the robot came nearer; the cycle in which it is within
# 0.1 m brings what is missing to (d - 0.1) t_total / t_taken; a stop costs what the farthest distance from it grows
# by; a fall costs 5 for the present target and for each that was still to come.


class Targets:
    """Where N robots are in their trajectories.

    Args:
        course: the trajectories.
        count: how many episodes at once, N.
    """

    def __init__(self, course: Course, count: int) -> None:
        longest = max(len(one.target) for one in course.trajectory)
        shape = len(course.trajectory), longest
        self._to, self._cycles = np.zeros((*shape, 2)), np.ones(shape, dtype=np.intp)
        self._stop = np.zeros(shape, dtype=bool)
        self._lengths = np.array([len(one.target) for one in course.trajectory])
        for row, trajectory in enumerate(course.trajectory):
            for column, target in enumerate(trajectory.target):
                self._to[row, column] = target.to or (0.0, 0.0)
                self._cycles[row, column] = max(round(target.seconds / CONTROL_CYCLE), 1)
                self._stop[row, column] = target.stop
        self.longest = float(np.hypot(self._to[..., 0], self._to[..., 1]).max())
        """Distance of the farthest target when it becomes active [m]."""
        self.longest_time = float(self._cycles.max() * CONTROL_CYCLE)
        """The longest time that a target is active [s]."""
        self.trajectory: Indices = np.zeros(count, dtype=np.intp)
        """The trajectory of each episode, (N,)."""
        self.index: Indices = np.zeros(count, dtype=np.intp)
        """The present target of each episode, (N,)."""
        self.over: Bools = np.zeros(count, dtype=bool)
        """Episodes whose last target is over, (N,)."""
        self.way: Floats = np.zeros((count, 2))
        """From the robots to their targets in the world's frame, (N, 2) [m]."""
        self._reached: Bools = np.zeros(count, dtype=bool)
        self._left, self._taken = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
        self._origin, self._goal = np.zeros((count, 2)), np.zeros((count, 2))
        self._to_go, self._farthest = np.zeros(count), np.zeros(count)

    @property
    def stopping(self) -> Bools:
        """Who is to stay where it is, (N,)."""
        return np.asarray(self._stop[self.trajectory, self.index])

    @property
    def moving(self) -> Bools:
        """Who has somewhere to go: no stop, and not reached yet, (N,)."""
        return np.asarray(~self.stopping & ~self._reached)

    @property
    def time_left(self) -> Floats:
        """How long the present targets stay active, (N,) [s]."""
        return np.asarray(self._left * CONTROL_CYCLE)

    def begin(self, rows: Indices, which: Indices, place: Floats) -> None:
        """Puts episodes `rows` (n,) to the beginning of trajectories `which` (n,); robots are at `place` (N, 2)."""
        self.trajectory[rows], self.index[rows], self.over[rows] = which, 0, False
        self._give_out(rows, place)
        self.way = self._goal - place

    def judge(self, place: Floats, fell: Bools) -> Floats:
        """What the last cycle brought, (N,); gives out next targets. Robots are at `place` (N, 2)."""
        way, moved = self._goal - place, place - self._origin
        to_go, stopping = np.hypot(way[:, 0], way[:, 1]), self.stopping
        farthest = np.maximum(self._farthest, np.hypot(moved[:, 0], moved[:, 1]))
        self._taken += 1
        self._left -= 1
        whole = np.hypot(*(self._goal - self._origin).T)
        arrived = ~self._reached & ~stopping & (to_go < REACHED_DISTANCE)
        total = self._cycles[self.trajectory, self.index]
        nearer = np.where(self._reached, 0.0, self._to_go - to_go)
        paid = whole - self._to_go  # for this target, before this cycle
        gained = np.where(arrived, (whole - REACHED_DISTANCE) * total / self._taken - paid, nearer)
        gained = np.where(stopping, self._farthest - farthest, gained)
        gained -= np.where(fell, FALL_COST * (self._lengths[self.trajectory] - self.index), 0.0)
        self._reached |= arrived
        self._to_go, self._farthest = to_go, farthest
        self._proceed(np.flatnonzero((self._left <= 0) & ~self.over), place)
        self.way = self._goal - place
        return gained

    def _proceed(self, rows: Indices, place: Floats) -> None:
        """The next target for robots `rows` (n,), or the end."""
        ended = self.index[rows] + 1 >= self._lengths[self.trajectory[rows]]
        self.over[rows[ended]] = True
        rows = rows[~ended]
        self.index[rows] += 1
        self._give_out(rows, place)

    def _give_out(self, rows: Indices, place: Floats) -> None:
        at = self.trajectory[rows], self.index[rows]
        self._left[rows], self._taken[rows], self._reached[rows] = self._cycles[at], 0, False
        self._origin[rows], self._farthest[rows] = place[rows], 0.0
        self._goal[rows] = place[rows] + self._to[at]
        self._to_go[rows] = np.hypot(*self._to[at].T)


class GoToTargetTask:
    """N robots that are to follow trajectories of targets.

    Args:
        options: what was chosen.
        count: how many episodes at once, N.
    """

    def __init__(self, options: GoToTargetOptions, count: int) -> None:
        self.options, self.bodies, self.width = options, RobotBatch(options, count), 3
        course, walk = read_course(options.course), read_walk(options.walk)
        self.walker = walker_for(self.bodies, walk)
        self.targets = Targets(course, count)
        self._names = [one.name for one in course.trajectory]
        self._sets = SetChooser([walk] * count)
        self._last = np.zeros((count, 3))
        self._farthest = self.targets.longest + 1.0
        own = [
            Part("last_action", 3, -1.0, 1.0),
            Part("direction", 2, -1.0, 1.0),
            Part("distance", 1, 0.0, self._farthest),
            Part("go", 1, 0.0, 1.0),
            Part("time_left", 1, 0.0, self.targets.longest_time),
            Part("phase", 2, -1.0, 1.0),
        ]
        self.layout = Layout([*self.bodies.parts(), *own])

    def begin(self, rows: Indices, generators: Sequence[np.random.Generator], given: Mapping[str, Any]) -> None:
        """Begins episodes anew; `given` may hold the name of a `trajectory`."""
        known_options(given, ("trajectory",))
        name = given.get("trajectory", self.options.trajectory)
        if name != ANY_TRAJECTORY and name not in self._names:
            raise UnknownNameError(f"trajectory of {self.options.course}", str(name), (ANY_TRAJECTORY, *self._names))
        first = self.bodies.start(rows, generators)
        self.walker.chosen[rows] = 0
        self.walker.reset(rows)
        self.walker.walk.swing[rows] = first < 0.5
        drawn = np.array([rng.integers(len(self._names)) for rng in generators])
        which = drawn if name == ANY_TRAJECTORY else np.full(len(rows), self._names.index(name))
        self.targets.begin(rows, which, self._place())
        self._last[rows] = 0.0

    def _place(self) -> Floats:
        return np.array(self.bodies.robot.pose[:, :2])

    def _ahead(self) -> Floats:
        """From the robots to their targets as they see it, (N, 2) [m]."""
        return in_robot_frame(self.targets.way, yaw_of(self.bodies.robot.pose))

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """One cycle."""
        ahead = self._ahead()
        self._sets.choose(self.walker, np.arctan2(ahead[:, 1], ahead[:, 0]), self.targets.moving)
        self.walker.wanted[:] = velocities_from_shares(self.walker, actions)
        self.walker.sample(0.0)
        self.bodies.step(active)
        self._last[:] = actions
        fell = self.bodies.fell.copy()
        gained = self.targets.judge(self._place(), fell)
        return Outcome(gained, fell, self.targets.over & ~fell)

    def observe(self) -> Floats32:
        """What the robots know, (N, width)."""
        ahead, moving = self._ahead(), self.targets.moving[:, None]
        distance = np.where(moving, np.hypot(ahead[:, :1], ahead[:, 1:]), 0.0)
        own = {
            "last_action": self._last,
            "direction": np.where(moving, ahead, 0.0) / np.maximum(distance, 1e-9),
            "distance": distance,
            "go": moving,
            "time_left": self.targets.time_left[:, None],
            "phase": phase(self.walker),
        }
        return self.layout.rows({**self.bodies.felt(), **own})

    def info(self) -> dict[str, NDArray[Any]]:
        """How the robots really move, (N, 3), where they are, (N, 3), and the number of their trajectory, (N,)."""
        return {
            "velocity": self.bodies.velocities(),
            "place": self.bodies.robot.pose[:, :3].copy(),
            "trajectory": self.targets.trajectory.copy(),
        }
