"""Settings of an identification: which recordings, what in them was commanded and measured, what is to be found.

    powered = "torque_on"                       # event: "0" while the motors are released
    [robot]                                     # the simulation: see `reality.twin`
    robot = "."
    actuation = "kp200.toml"
    field = "none"
    timestep = 0.001
    [recordings]
    train = ["kp*_sin_sin.csv"]                 # patterns, relative to this file
    held_out = ["kp*_lift_and_drop.csv"]
    columns = "columns.toml"                    # column map of CSV files (see `recording.csv_map`)
    [recordings.told.kp]                        # a number that recordings tell of themselves (`told_numbers`)
    sets = "servo.*.p"
    factor = 0.0211487
    [recordings.conditions."heavy_*"]           # what is different in recordings of such names
    "robot.weight" = 0.7
    [commands]                                  # channel: motor
    "servo.goal" = "pendulum"
    [compare]                                   # channel: column of the simulation (see `reality.columns`)
    "servo.position" = "angles.pendulum"
    [distance]                                  # see `reality.distance`
    kind = "rms"
    [parameters.viscous]                        # see `reality.twin.Searched`
    low = 0.3
    high = 3.0
    scale = "log"
    sets = ["servo.*.viscous"]
    relative = true
    [search]
    evaluations = 1000

Cameras are identified from pictures: folders of them (`reality.pictures`) are recordings, and targets are
`camera.CAMERA.FIELD`. [pictures] says how they are compared.

A channel of several labels is given to motors, or compared with columns, of the same names: `"nao.command" = "*"`,
`"nao.angles" = "angles.*"`. One label of it is `channel.label`. Everything but [robot], [commands], [compare] and
[parameters] may be left out; for pictures alone, [commands] and [compare] may be, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from nutmeg.base import settings as files
from nutmeg.model.actuation import ACTUATION_KINDS
from nutmeg.model.parameters import Adjustment
from nutmeg.model.robot import robot_names
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.logs.conditions import StatedNumber
from nutmeg.reality.twin import Searched, TwinSettings
from nutmeg.search import CmaEsSettings, SearchSettings


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A number that is different in some recordings."""

    value: float
    relative: bool = False
    """Whether it multiplies what is there."""


@dataclass(frozen=True, kw_only=True)
class RecordingsSettings:
    """Which recordings, and how to read them."""

    train: tuple[str, ...] = ()
    """Patterns of the files that are fitted, relative to the configuration."""
    held_out: tuple[str, ...] = ()
    """Patterns of the files that are only simulated at the end, to see what the fit is worth."""
    columns: Path | None = None
    """The column map of CSV files; without it, columns must be called as in the simulation."""
    conditions: Mapping[str, Mapping[str, float | Condition]] = field(default_factory=dict)
    """By patterns of file names: what is set differently (targets of `body.adjustment`)."""
    told: Mapping[str, StatedNumber] = field(default_factory=dict)
    """Numbers that recordings tell of themselves, by their names; [recordings.conditions] come after them."""
    split: float = 0.0
    """Where time jumps by more than this, another recording begins, called `FILE#1` and so on; 0 for never [s]."""

    def conditions_of(self, name: str) -> tuple[Adjustment, ...]:
        """What is different in a recording."""
        return tuple(
            Adjustment(target=target, value=c.value, relative=c.relative)
            if isinstance(c, Condition)
            else Adjustment(target=target, value=c)
            for pattern, table in self.conditions.items()
            if fnmatchcase(name, pattern)
            for target, c in table.items()
        )


@dataclass(frozen=True, kw_only=True)
class StartSettings:
    """Where the simulated robot is when a recording begins."""

    angles: Literal["recorded", "pose"] = "recorded"
    """Joints: where they were measured first, as far as they were, or in the pose of [robot]."""
    rates: Literal["still", "difference"] = "still"
    """Joint speeds: none, or the slope of the measured angles; windows always have the slope."""
    channels: Mapping[str, str] = field(default_factory=dict)
    """Further channels that tell the start but are not compared: to `angles.JOINT`, `rates.JOINT` or `pose.x` to
    `pose.qz`."""


@dataclass(frozen=True, kw_only=True)
class WindowSettings:
    """Replay in pieces, each from the recorded state, so that errors do not pile up."""

    seconds: float
    """How long each piece is."""
    every: float
    """Time from the start of one piece to that of the next [s]."""

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.every > 0):
            raise ValueError(f"windows of {self.seconds} s every {self.every} s; both must be above 0.")


@dataclass(frozen=True, kw_only=True)
class PictureSettings:
    """How pictures are compared."""

    block: int = 4
    """Pixels on each side that are compared as one, so that edges answer smoothly."""

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError(f"`block` is {self.block}; it must be 1 or more pixels.")


@dataclass(frozen=True, kw_only=True)
class ErrorSettings:
    """The error that is reported, in a unit that people know; the fit minimises [distance]."""

    kind: Literal["mean_absolute", "rms"] = "mean_absolute"
    channels: tuple[str, ...] = ()
    """Patterns of the columns that count; all without any. They must have one unit; rad are told in deg."""


@dataclass(frozen=True, kw_only=True)
class FitSearchSettings(SearchSettings):
    """How candidates are searched."""

    algorithm: Literal["genetic", "cma-es", "evolution-strategy"] = "cma-es"
    """Which searcher; its table has its settings."""
    generations: int = 1_000_000
    """The most generations."""
    evaluations: int = 1000
    """The most candidates that are simulated, in each of the searches."""
    seed: int = 0
    """Of everything random; `--seed` replaces it."""
    refits: int = 0
    """How many further searches from other seeds tell how sure the estimates are."""
    cma_es: CmaEsSettings = field(default_factory=lambda: CmaEsSettings(restarts=3))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluations < 1 or self.refits < 0 or self.seed < 0:
            raise ValueError("`evaluations` must be 1 or more, `refits` and `seed` 0 or more.")


@dataclass(frozen=True, kw_only=True)
class IdentifySettings:
    """An identification."""

    robot: TwinSettings
    parameters: Mapping[str, Searched]
    """What is to be found."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Channels of the recordings, and the motors that were told so."""
    compare: Mapping[str, str] = field(default_factory=dict)
    """Channels of the recordings, and the columns of the simulation that they are compared with."""
    pictures: PictureSettings = PictureSettings()
    """How pictures are compared."""
    recordings: RecordingsSettings = RecordingsSettings()
    powered: str = ""
    """Kind of event whose value is "0" while the motors are released; empty if they never are."""
    period: float = 0.0
    """Time between commands [s]; 0 for that of the recording if it is regular, else the physics step."""
    missing_commands: Literal["error", "hold"] = "error"
    """A row without a command: an error, or the last one still holds."""
    start: StartSettings = StartSettings()
    windows: WindowSettings | None = None
    """Replay in pieces; without it each recording is replayed as a whole."""
    fallen: float | None = None
    """A simulated robot is down when the cosine of its tilt is below this."""
    distance: DistanceSettings = field(default_factory=DistanceSettings)
    """What is minimised."""
    report_error: ErrorSettings = ErrorSettings()
    search: FitSearchSettings = field(default_factory=FitSearchSettings)
    about: str = ""

    def __post_init__(self) -> None:
        seen = any(t.startswith("camera.") for name, one in self.parameters.items() for t in one.targets(name))
        for name in ("parameters",) if seen else ("commands", "compare", "parameters"):
            if not getattr(self, name):
                raise ValueError(f"[{name}] is empty or missing; at least one entry is needed.")


def read_identify(path: Path) -> IdentifySettings:
    """The configuration in a file; the robot and its actuation may lie beside it."""
    found = files.read(path, IdentifySettings)
    robot = found.robot
    body, drives = _beside(path, robot.robot, robot_names()), _beside(path, robot.actuation, ACTUATION_KINDS)
    return dataclasses.replace(found, robot=dataclasses.replace(robot, robot=body, actuation=drives))


def _beside(path: Path, name: str, built_in: tuple[str, ...] | list[str]) -> str:
    """Something built in, a file or folder beside the configuration, or else as it is written."""
    return str(path.parent / name) if name not in built_in and (path.parent / name).exists() else name
