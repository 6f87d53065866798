"""Targets of N episodes, one after the other, and what robots gain from cycle to cycle.

    targets = Targets(course, count=64)
    targets.begin(rows, which, place)           # which trajectory each of them follows
    gained = targets.judge(place, fell)         # once a cycle

The gains of a whole episode add up to equations 1 and 2 of MacAlpine and others (2012), as `course_run` counts them.
On the way to a target a cycle brings the metres that the robot came nearer; the cycle in which it is within 0.1 m
brings what is missing to (d - 0.1) t_total / t_taken; a stop costs what the farthest distance from it grows by; a fall
costs 5 for the present target and for each that was still to come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.learning.course_run import CYCLE, REACHED
from nutmeg.learning.rewards import FALL

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.learning.course import Course


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
                self._cycles[row, column] = max(round(target.seconds / CYCLE), 1)
                self._stop[row, column] = target.stop
        self.longest = float(np.hypot(self._to[..., 0], self._to[..., 1]).max())
        """Distance of the farthest target when it becomes active [m]."""
        self.longest_time = float(self._cycles.max() * CYCLE)
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
        return np.asarray(self._left * CYCLE)

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
        arrived = ~self._reached & ~stopping & (to_go < REACHED)
        total = self._cycles[self.trajectory, self.index]
        nearer = np.where(self._reached, 0.0, self._to_go - to_go)
        paid = whole - self._to_go  # for this target, before this cycle
        gained = np.where(arrived, (whole - REACHED) * total / self._taken - paid, nearer)
        gained = np.where(stopping, self._farthest - farthest, gained)
        gained -= np.where(fell, FALL * (self._lengths[self.trajectory] - self.index), 0.0)
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
