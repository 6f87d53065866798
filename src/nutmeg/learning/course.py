"""Courses: trajectories of targets that a robot walks to, one after the other, for a fixed time each.

    course = read_course("go-to-target")            # or the path of a TOML file
    course.moving_time                              # 124.1 s of targets to walk to
    [t.name for t in course.trajectory]             # long walks, curve, quick changes, ...

A target lies at a place relative to where the robot is when the target becomes active, in the frame in which the robot
began its trajectory; a stop target asks it to stay. Each trajectory begins from standing. The course of the paper
(MacAlpine and others, 2012, section 5.1 and figure 2) and others are data under `learning/data/courses/`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from nutmeg import settings
from nutmeg.errors import UnknownNameError

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
