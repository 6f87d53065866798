"""What can be chosen when an environment is made, and what is refused.

    options = chosen(WalkVelocityOptions, "nutmeg/WalkVelocity-v0", {"robot": "nao-v6", "reach": 0.3})

Names and ranges are checked here, before anything is built.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.courses import StartNoise, read_course
from nutmeg.motion.walk.files import read_walk

GYM_ROBOTS = ("nao-spark", "nao-v4", "nao-v6")
"""Robots with a Nao's legs, so that the walk can be added to."""
ANY_TRAJECTORY = "any"
"""The trajectory of an episode is drawn from all of a course."""
T = TypeVar("T", bound="RobotOptions")


@dataclass(frozen=True, kw_only=True)
class RobotOptions:
    """Options of all environments."""

    robot: str = "nao-spark"
    """nao-spark, nao-v4 or nao-v6."""
    actuation: str = "ideal"
    """What drives the joints: ideal, and for nao-v4 and nao-v6 also servo, motoflex, or the path of a TOML file."""
    noise: StartNoise = field(default_factory=StartNoise)
    """How much starts differ."""
    threads: int = 1
    """How many threads step the worlds; results are the same. 0 for one a core."""
    width: int = 480
    """Of rendered pictures [pixels]."""
    height: int = 360
    """Of rendered pictures [pixels]."""

    def __post_init__(self) -> None:
        _known("robot", self.robot, GYM_ROBOTS)
        if not isinstance(self.noise, StartNoise):
            raise UsageError(f"noise is {self.noise!r}; give a nutmeg.learning.courses.StartNoise.")
        for name, low, high in (("threads", 0, 256), ("width", 8, 4096), ("height", 8, 4096)):
            _whole(name, getattr(self, name), low, high)


@dataclass(frozen=True, kw_only=True)
class WalkVelocityOptions(RobotOptions):
    """Options of `nutmeg/WalkVelocity-v0`."""

    joints: Literal["legs", "all"] = "legs"
    """The motors that actions move; the others hold the pose `ready`, or what the walk has them do."""
    reach: float = 0.5
    """How far an action of 1 moves a joint's target [rad]."""
    residual: bool = False
    """Whether actions are added to what the pendulum walk does, instead of to the pose `ready`."""
    walk: str = "initial"
    """With `residual`: the walk, by its name, its file or the folder of its run; it must be for this robot."""
    fastest: tuple[float, float, float] = (0.3, 0.2, 0.6)
    """Commands are drawn up to these speeds: ahead [m/s], aside [m/s], turning [rad/s], and as much the other way."""
    change_every: float = 5.0
    """How long a command lasts [s]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _known("choice of joints", self.joints, ("legs", "all"))
        _number("reach", self.reach, 0.001, 3.2, "rad")
        _number("change_every", self.change_every, 0.02, 1e6, "s")
        if not isinstance(self.residual, bool):
            raise UsageError(f"residual is {self.residual!r}; allowed is True or False.")
        if not isinstance(self.fastest, tuple | list) or len(self.fastest) != 3:
            raise UsageError(f"fastest is {self.fastest!r}; needed are three speeds: ahead, aside, turning.")
        for speed in self.fastest:
            _number("fastest", speed, 0.0, 3.0, "m/s or rad/s")
        if self.residual:
            read_walk(self.walk).for_robot(self.robot)


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
        read_walk(self.walk).for_robot(self.robot)
        names = [one.name for one in read_course(self.course).trajectory]
        _known(f"trajectory of {self.course}", self.trajectory, (ANY_TRAJECTORY, *names))


def checked_options(kind: type[T], environment: str, options: Mapping[str, Any]) -> T:
    """The options of an environment from keyword arguments."""
    known = {one.name for one in dataclasses.fields(kind)}
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of {environment}", name, known)
    return kind(**options)


def _known(kind: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownNameError(kind, str(value), known)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; allowed is a whole number, {low}..{high}.")


def _number(name: str, value: object, low: float, high: float, unit: str) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not (fits and low <= value <= high):  # type: ignore[operator]
        raise UsageError(f"{name} is {value!r}; allowed is {low:g}..{high:g} {unit}.")
