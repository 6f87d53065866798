"""Walking to targets by steering the pendulum walk: the task of `nutmeg/GoToTarget-v0`.

    task = GoToTargetTask(GoToTargetOptions(trajectory="curve"), count=64)

The trajectories are those of the obstacle course of MacAlpine and others (2012), section 5.1; an action says how fast
to walk ahead, to the left and turning to the left, as shares of the walk's top speeds. Rewards are their equations 1
and 2, handed out cycle by cycle (`Targets`). A walk with several sets of parameters changes between them as the
paper's agents do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError
from nutmeg.learning.courses import REACHED_DISTANCE, SetChooser, TargetProgress, in_robot_frame, read_course, yaw_of
from nutmeg.learning.gym.robots import GYM_ROBOTS, RobotBatch, RobotOptions, check_known, phase
from nutmeg.learning.gym.spaces import Layout, Outcome, Part, known_options
from nutmeg.learning.rewards import FALL_COST, target_reward
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

ANY_TRAJECTORY = "any"
"""The trajectory of an episode is drawn from all of a course."""


@dataclass(frozen=True, kw_only=True)
class GoToTargetOptions(RobotOptions):
    """Options of `nutmeg/GoToTarget-v0`."""

    walk: str = "initial"
    """The walk, by its name, its file or the folder of its run; it must be for this robot."""
    course: str = "go-to-target"
    """The course, by its name or its file."""
    trajectory: str = ANY_TRAJECTORY
    """The name of one of the course's trajectories, or `any` for another one in each episode."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("robot", self.robot, GYM_ROBOTS)
        read_walk(self.walk).for_robot(self.robot)
        names = [one.name for one in read_course(self.course).trajectory]
        check_known(f"trajectory of {self.course}", self.trajectory, (ANY_TRAJECTORY, *names))


class Targets(TargetProgress):
    """The targets of N episodes, and the rewards of single cycles.

    The rewards of a whole episode add up to equations 1 and 2 of MacAlpine and others (2012), as `run_bouts` gives
    them. On the way to a target a cycle is rewarded with the metres that the robot came nearer; the cycle in which it
    is within 0.1 m brings what is missing to (d - 0.1) t_total / t_taken; a stop costs what the farthest distance from
    it grows by; a fall costs 5 for the present target and for each that was still to come.
    """

    def judge(self, place: Floats, fell: Bools) -> tuple[Floats, Bools]:
        """The rewards of the last cycle, and whose last target is over, (N,) each; robots are at `place` (N, 2)."""
        to_go, farthest, reached = self.to_go.copy(), self.farthest.copy(), self.reached.copy()
        self.update(place)
        arrived, paid = self.reached & ~reached, self.whole - to_go
        nearer = np.where(reached, 0.0, to_go - self.to_go)
        times = self.total.astype(float), np.maximum(self.taken, 1).astype(float)
        bonus = target_reward(self.whole - REACHED_DISTANCE, *times) - paid
        gained = np.where(arrived, bonus, nearer)
        gained = np.where(self.stopping, farthest - self.farthest, gained)
        gained -= np.where(fell, FALL_COST * self.targets_left, 0.0)
        over = np.zeros(len(fell), dtype=bool)
        over[self.proceed(np.flatnonzero(self.left <= 0), place)] = True
        return gained, over


class GoToTargetTask:
    """N robots that are to follow trajectories of targets.

    Args:
        options: what was chosen.
        count: how many episodes at once, N.
    """

    def __init__(self, options: GoToTargetOptions, count: int) -> None:
        self.options, self.bodies, self.width = options, RobotBatch(options, count), 3
        course, walk = read_course(options.course), read_walk(options.walk)
        self.walker = self.bodies.walker(walk)
        self.targets = Targets(course.trajectory, count)
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
        """From the robots to their targets, in the robots' frames, (N, 2) [m]."""
        return in_robot_frame(self.targets.goal - self._place(), yaw_of(self.bodies.robot.pose))

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """Lets the actions act for a cycle of 20 ms, and rewards it."""
        ahead = self._ahead()
        self._sets.choose(self.walker, np.arctan2(ahead[:, 1], ahead[:, 0]), self.targets.moving)
        self.walker.wanted[:] = actions * self.walker.walk.top_speed()
        back = actions[:, 0] < 0
        self.walker.wanted[back, 0] = (actions[:, 0] * self.walker.walk.top_speed_back())[back]
        self.walker.sample(0.0)
        self.bodies.step(active)
        self._last[:] = actions
        fell = self.bodies.fell.copy()
        gained, over = self.targets.judge(self._place(), fell)
        return Outcome(gained, fell, over & ~fell)

    def observe(self) -> Floats32:
        """Observations of the robots, (N, width)."""
        ahead, moving = self._ahead(), self.targets.moving[:, None]
        distance = np.where(moving, np.hypot(ahead[:, :1], ahead[:, 1:]), 0.0)
        own = {
            "last_action": self._last,
            "direction": np.where(moving, ahead, 0.0) / np.maximum(distance, 1e-9),
            "distance": distance,
            "go": moving,
            "time_left": self.targets.left[:, None] * CONTROL_CYCLE,
            "phase": phase(self.walker),
        }
        return self.layout.rows({**self.bodies.sensed(), **own})

    def info(self) -> dict[str, NDArray[Any]]:
        """How the robots really move, (N, 3), where they are, (N, 3), and the number of their trajectory, (N,)."""
        return {
            "velocity": self.bodies.velocities(),
            "place": self.bodies.robot.pose[:, :3].copy(),
            "trajectory": self.targets.trajectory.copy(),
        }
