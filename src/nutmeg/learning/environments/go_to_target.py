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
from nutmeg.errors import UnknownNameError
from nutmeg.learning.course import read_course
from nutmeg.learning.environments.bodies import Bodies
from nutmeg.learning.environments.layout import Layout, Part
from nutmeg.learning.environments.options import ANY
from nutmeg.learning.environments.targets import Targets
from nutmeg.learning.environments.task import Outcome, known_options
from nutmeg.learning.environments.walking import phase, velocities, walker_for
from nutmeg.learning.steering import SetChooser, seen, yaw_of
from nutmeg.learning.walks import read_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.learning.environments.options import GoToTargetOptions


class GoToTargetTask:
    """N robots that are to follow trajectories of targets.

    Args:
        options: what was chosen.
        count: how many episodes at once, N.
    """

    def __init__(self, options: GoToTargetOptions, count: int) -> None:
        self.options, self.bodies, self.width = options, Bodies(options, count), 3
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
        if name != ANY and name not in self._names:
            raise UnknownNameError(f"trajectory of {self.options.course}", str(name), (ANY, *self._names))
        first = self.bodies.start(rows, generators)
        self.walker.chosen[rows] = 0
        self.walker.reset(rows)
        self.walker.walk.swing[rows] = first < 0.5
        drawn = np.array([rng.integers(len(self._names)) for rng in generators])
        which = drawn if name == ANY else np.full(len(rows), self._names.index(name))
        self.targets.begin(rows, which, self._place())
        self._last[rows] = 0.0

    def _place(self) -> Floats:
        return np.array(self.bodies.robot.pose[:, :2])

    def _ahead(self) -> Floats:
        """From the robots to their targets as they see it, (N, 2) [m]."""
        return seen(self.targets.way, yaw_of(self.bodies.robot.pose))

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """One cycle."""
        ahead = self._ahead()
        self._sets.choose(self.walker, np.arctan2(ahead[:, 1], ahead[:, 0]), self.targets.moving)
        self.walker.wanted[:] = velocities(self.walker, actions)
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
