"""What is to be learned, as a file for `nutmeg learn`.

    task = "dynamic-rewards"
    robot = "nao-spark"
    start = "initial"                   # a walk that comes with Nutmeg, or the path of one
    parameters = "extended"             # the paper's fourteen: "searched"; or a list of names
    population = 40
    generations = 100
    [ranges]
    phi_length = [0.09, 0.2]            # instead of that in learning/data/ranges.toml

MacAlpine and others (2012) used populations of 150 over 200 generations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Literal

from nutmeg import settings
from nutmeg.errors import FileError, UnknownNameError, UsageError
from nutmeg.learning.starts import StartNoise
from nutmeg.learning.tasks import TASKS, TaskSettings, task_settings
from nutmeg.learning.walks import Walk, read_walk, walk_names
from nutmeg.motion import trot_settings
from nutmeg.motion.pendulum_settings import EXTENDED, SEARCHED, parameter_range
from nutmeg.search.space import Dimension, Space

NAMED = {"searched": SEARCHED, "extended": EXTENDED}
TROTS = {"searched": trot_settings.AHEAD, "extended": trot_settings.ALL}


@dataclass(frozen=True, kw_only=True)
class Range:
    """Between which values a parameter is looked for."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """What is learned, from what, and how long."""

    task: str = "go-to-target"
    """One of the tasks of `learning.tasks`."""
    robot: str = "nao-spark"
    actuation: str = "ideal"
    """What drives its joints."""
    start: str = ""
    """The walk to begin with: a name, a file, or the folder of a run; the task's own (initial, trot) if left out."""
    parameters: Literal["searched", "extended"] | tuple[str, ...] = "searched"
    """Those that are searched: the paper's fourteen (of a trot, the twelve of walking ahead), those and more with the
    gyro's feedback (of a trot, all), or names."""
    course: str = ""
    """Another course than the task's own: a name or a file."""
    starts: int = 3
    """From how many noisy starts each candidate is tried."""
    judged_starts: int = 20
    """From how many starts the result is judged in the end."""
    noise: StartNoise = field(default_factory=StartNoise)
    """How much starts differ."""
    caution: float = 1.0
    """How many times as much as in the paper stops and falls cost; above 1 for the last steps of a fast walk."""
    population: int = 40
    generations: int = 100
    step: float = 0.12
    """The first standard deviation of the search, as a share of each range."""
    seed: int = 1
    device: Literal["cpu", "gpu"] = "cpu"
    """Where candidates walk: a GPU walks thousands at once, but rounds otherwise, so that results differ."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest value of parameters whose range is to differ from `learning/data/ranges.toml`."""
    name: str = ""
    """What the learned walk is called; the task if left out."""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(str(UnknownNameError("task", self.task, TASKS)))
        for name, least in (("starts", 1), ("judged_starts", 1), ("population", 4), ("generations", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; allowed is {least} or more.")
        if not 0 < self.step <= 1 / 3:
            raise ValueError(f"the step is {self.step:g}; allowed is above 0 and up to a third of the range.")

    @property
    def names(self) -> tuple[str, ...]:
        """The searched parameters."""
        if not isinstance(self.parameters, str):
            return self.parameters
        return (TROTS if TASKS[self.task].learns == "trot" else NAMED)[self.parameters]

    def task_settings(self) -> TaskSettings:
        """The task with this file's course, starts and noise."""
        course = {"course": self.course} if self.course else {}
        try:
            return task_settings(self.task, starts=self.starts, noise=self.noise, caution=self.caution, **course)
        except ValueError as error:
            raise UsageError(f"task {self.task}: {error}") from None

    def start_walk(self) -> Walk:
        """The walk to begin with; it must be for this robot, and of the kind that the task learns."""
        begin = TASKS[self.task].start
        others = [name.removeprefix(f"{begin}-") for name in walk_names() if name.startswith(f"{begin}-")]
        if not self.start and others and self.robot not in others:
            raise UsageError(
                f"the task {self.task} is for {' and '.join(others)}, and the robot is {self.robot}; "
                f"add --robot {others[-1]}, or say with --start which walk of this robot to begin with."
            )
        walk = read_walk(self.start or begin, self.robot).for_robot(self.robot)
        if (walk.trot is None) == (TASKS[self.task].learns == "trot"):
            kind = "walks on two legs" if walk.trot is None else "is a trot"
            raise UsageError(f"the walk {walk.name!r} {kind}; the task {self.task} cannot begin with it.")
        return walk


def read_learn(path: Path) -> LearnSettings:
    """The settings in a TOML file; a course or a start beside it may be named relative to it."""
    found = settings.read(path, LearnSettings)
    beside = {
        name: str(path.parent / value)
        for name in ("course", "start")
        if (value := getattr(found, name)) and (path.parent / value).exists()
    }
    return dataclasses.replace(found, **beside)  # type: ignore[arg-type]


def search_space(chosen: LearnSettings, start: Walk) -> Space:
    """The searched parameters with their ranges, starting at the walk to begin with."""
    trots = chosen.task_settings().learns == "trot"
    allowed = trot_settings.trot_range if trots else parameter_range
    known = {} if trots else _ranges()
    for name in (*chosen.names, *chosen.ranges):
        allowed(name)  # an unknown name is an error
    present = getattr(start, chosen.task_settings().learns) or start.walk
    dimensions = {}
    for name in chosen.names:
        lowest, highest, unit = allowed(name)
        low, high = chosen.ranges.get(name) or known.get(name) or (lowest, highest)
        if not lowest <= low < high <= highest:
            raise UsageError(f"the range of {name} is {low:g}..{high:g}; allowed is within {lowest:g}..{highest:g}.")
        value = getattr(present, name)
        if not low <= value <= high:
            raise UsageError(
                f"{name} starts at {value:g}, outside the searched range {low:g}..{high:g}. Give it another range "
                "under [ranges], or begin with another walk."
            )
        dimensions[name] = Dimension(low=low, high=high, start=value, unit=unit)
    return Space(dimensions)


def _ranges() -> dict[str, tuple[float, float]]:
    with resources.as_file(resources.files("nutmeg.learning") / "data" / "ranges.toml") as path:
        table = settings.read_toml(path)
        if not table:
            raise FileError(path, "has no ranges.")
        found = {name: settings.convert(one, Range, path) for name, one in table.items()}
    return {name: (one.low, one.high) for name, one in found.items()}
