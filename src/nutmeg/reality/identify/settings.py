"""Settings of an identification: which logs, what was commanded and measured in them, and what is searched.

    powered = "torque_on"                       # event: "0" while the motors are released
    [robot]                                     # the simulation: see `reality.twin`
    robot = "."
    actuation = "kp200.toml"
    field = "none"
    timestep = 0.001
    [recordings]
    train = ["kp*_sin_sin.csv"]                 # patterns, relative to this file
    held_out = ["kp*_lift_and_drop.csv"]
    columns = "columns.toml"                    # column map of CSV files (see `recording.log.CsvMap`)
    [recordings.told.kp]                        # a number that logs state about themselves (`logs.conditions`)
    sets = "servo.*.p"
    factor = 0.0211487
    [recordings.conditions."heavy_*"]           # what is different in logs with such names
    "robot.weight" = 0.7
    [commands]                                  # channel: motor
    "servo.goal" = "pendulum"
    [compare]                                   # channel: column of the simulation (see `reality.observation`)
    "servo.position" = "angles.pendulum"
    [distance]                                  # see `reality.distances.distance`
    kind = "rms"
    [parameters.viscous]                        # see `reality.twin.Searched`
    low = 0.3
    high = 3.0
    scale = "log"
    sets = ["servo.*.viscous"]
    relative = true
    [search]
    evaluations = 1000
    [intervals]                                 # see `identify.profiles`
    profile = ["viscous"]
    [variants.simple]                           # see `identify.selection`
    search = ["viscous"]

Cameras are identified from pictures: folders of them (`reality.logs.pictures`) are recordings, and targets are
`camera.CAMERA.FIELD`. [pictures] says how they are compared.

The labels of a channel are matched with motors, or columns, of the same names: `"nao.command" = "*"`,
`"nao.angles" = "angles.*"`. One label of it is `channel.label`. Everything but [robot], [commands], [compare] and
[parameters] may be left out; for pictures alone, [commands] and [compare] may be, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from nutmeg.base import settings as files
from nutmeg.base.errors import UnknownNameError
from nutmeg.model.actuation import ACTUATION_KINDS
from nutmeg.model.robot import robot_names
from nutmeg.reality.distances.distance import LOSSES, DistanceSettings
from nutmeg.reality.logs.replay import ReplaySettings
from nutmeg.reality.twin import Searched, TwinSettings
from nutmeg.search import CmaEsSettings, SearchSettings
from nutmeg.search.run import Algorithm

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ErrorSettings:
    """The error that is reported, in a familiar unit; the fit minimises [distance]."""

    kind: Literal["mean_absolute", "rms"] = "mean_absolute"
    channels: tuple[str, ...] = ()
    """Patterns of the columns that count; all without any. They must have one unit; rad are reported in deg."""


@dataclass(frozen=True, kw_only=True)
class FitSearchSettings(SearchSettings):
    """How the parameters of an identification are searched."""

    algorithm: Algorithm = "auto"
    """The searcher; its own table has its settings. `auto` is least squares for the distances rms, huber, soft_l1,
    mean_absolute and joint_error, and CMA-ES for others."""
    generations: int = 1_000_000
    """Maximum number of generations."""
    evaluations: int = 1000
    """Maximum number of candidates that each of the searches simulates."""
    seed: int = 0
    """Seed of the random generators; `--seed` replaces it."""
    refits: int = 0
    """Number of further searches from other seeds, which show how certain the estimates are."""
    cma_es: CmaEsSettings = field(default_factory=lambda: CmaEsSettings(restarts=3))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluations < 1 or self.refits < 0 or self.seed < 0:
            raise ValueError("`evaluations` must be 1 or more, `refits` and `seed` 0 or more.")


@dataclass(frozen=True, kw_only=True)
class VariantSettings:
    """A variant of the model."""

    search: tuple[str, ...] = ("*",)
    """Patterns of the parameters that it searches; the others stay at their start."""
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class SelectionSettings:
    """How variants are compared."""

    by: Literal["recording", "condition"] = "recording"
    """What is left out at a time: a recording, or all recordings under equal conditions, such as a gain."""
    terms: tuple[str, ...] = ()
    """Patterns of parameters that stay at their start until freeing one improves predictions, one after the other."""
    least_gain: float = 0.05
    """The share by which the error on what was left out must fall for a term to be freed."""

    def __post_init__(self) -> None:
        if not 0 <= self.least_gain < 1:
            raise ValueError(f"`least_gain` is {self.least_gain:g}; allowed is 0 to below 1.")


@dataclass(frozen=True, kw_only=True)
class IntervalSettings:
    """What is computed about the certainty of estimates beside intervals from the curvature."""

    profile: tuple[str, ...] = ()
    """Patterns of the parameters whose intervals come from the profile likelihood (`identify.profiles`)."""
    regions: tuple[tuple[str, str], ...] = ()
    """Pairs of parameters whose joint region is told."""


@dataclass(frozen=True, kw_only=True)
class IdentifySettings(ReplaySettings):
    """An identification: a robot, what is searched of it, and the logs that it is compared with."""

    robot: TwinSettings
    parameters: Mapping[str, Searched]
    """The parameters that are identified."""
    fallen: float | None = None
    """A simulated robot has fallen when the cosine of its tilt is below this."""
    distance: DistanceSettings = field(default_factory=DistanceSettings)
    """The distance that the search minimises."""
    report_error: ErrorSettings = ErrorSettings()
    search: FitSearchSettings = field(default_factory=FitSearchSettings)
    variants: Mapping[str, VariantSettings] = field(default_factory=dict)
    """Variants of the model, of which the one is fitted that carries over best (`identify.selection`)."""
    selection: SelectionSettings = SelectionSettings()
    intervals: IntervalSettings = IntervalSettings()
    about: str = ""

    def __post_init__(self) -> None:
        cameras = any(t.startswith("camera.") for name, one in self.parameters.items() for t in one.targets(name))
        for name in ("parameters",) if cameras else ("commands", "compare", "parameters"):
            if not getattr(self, name):
                raise ValueError(f"[{name}] is empty or missing; at least one entry is needed.")
        if self.selection.terms and self.variants:
            raise ValueError("[selection] has `terms`, and there are [variants]. Choose one of them.")
        for pattern in self.selection.terms:
            if not any(fnmatchcase(known, pattern) for known in self.parameters):
                raise ValueError(
                    str(UnknownNameError("parameter", pattern, self.parameters, where="[selection] terms"))
                )
        if self.selection.terms and not self.listed:
            raise ValueError(
                "[selection] `terms` are all parameters; at least one must be searched from the beginning."
            )
        for name in (*self.intervals.profile, *(one for pair in self.intervals.regions for one in pair)):
            if not any(fnmatchcase(known, name) for known in self.parameters):
                raise ValueError(str(UnknownNameError("parameter", name, self.parameters, where="[intervals]")))
        if self.intervals.profile and self.distance.kind not in LOSSES:
            raise ValueError(f"profiles need a distance that is made of residuals: {', '.join(LOSSES)}.")

    @property
    def listed(self) -> tuple[str, ...]:
        """The parameters that are searched from the beginning: all but the terms of [selection]."""
        return tuple(n for n in self.parameters if not any(fnmatchcase(n, one) for one in self.selection.terms))


def read_identify(path: Path) -> IdentifySettings:
    """The configuration in a file; the robot and its actuation may lie beside it."""
    found = files.read(path, IdentifySettings)
    robot = found.robot
    body, drives = _beside(path, robot.robot, robot_names()), _beside(path, robot.actuation, ACTUATION_KINDS)
    return dataclasses.replace(found, robot=dataclasses.replace(robot, robot=body, actuation=drives))


def _beside(path: Path, name: str, built_in: tuple[str, ...] | list[str]) -> str:
    """Something built in, a file or folder beside the configuration, or else as it is written."""
    return str(path.parent / name) if name not in built_in and (path.parent / name).exists() else name
