"""Bodies identified from recordings: written by `nutmeg identify`, read by `--body` of every command.

    format = 1
    robot = "ant"
    source = "nutmeg identify ant.toml --seed 3"
    [parameters.femur]
    value = 0.93
    low = 0.7
    high = 1.3
    sets = ["robot.L1_femur"]
    interval = [0.91, 0.95]
    identifiable = true

The targets that a parameter sets are written in the grammar of `model.parameters`.

    body = read_body(Path("params.toml"))
    scene = assemble(SceneSettings(robots=(body.placed(Placement(robot="ant")),)))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import FileError, NutmegError, UsageError
from nutmeg.base.settings import read
from nutmeg.model.actuation import ACTUATION_KINDS
from nutmeg.model.parameters import Adjustment, parse_target
from nutmeg.model.robot import load_robot, robot_names

if TYPE_CHECKING:
    from nutmeg.model.scene import Placement

BODY_FORMAT = 1
DRIVE_FAMILIES = ("drives", "battery", "servo", "gear", "flex", "delay")
"""Families of targets that belong to what drives the joints."""


@dataclass(frozen=True, kw_only=True)
class IdentifiedParameter:
    """One identified number."""

    value: float
    """The identified value, in SI units; a factor if relative."""
    low: float = -math.inf
    """The smallest value that was tried."""
    high: float = math.inf
    """The largest value that was tried."""
    unit: str = ""
    """SI unit, empty for a ratio."""
    sets: tuple[str, ...] = ()
    """Targets (see `model.parameters`); without any, the robot's own parameter of this name."""
    relative: bool = False
    """Whether it multiplies the value of the robot's files."""
    interval: tuple[float, float] | None = None
    """90 % confidence interval; None if it was not computed."""
    identifiable: bool = True
    """Whether the recordings determine it."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"the value is {self.value}; it must be a finite number.")
        for target in self.sets:
            try:
                parse_target(target)
            except NutmegError as error:
                raise ValueError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class IdentifiedBody:
    """Numbers of one robot that were identified together."""

    format: int = BODY_FORMAT
    """Version of this file format, 1."""
    robot: str
    """Name of the robot, or path of a user's."""
    type: str = ""
    """One of the robot's types."""
    actuation: str = ""
    """The actuation with which it was identified; empty for ideal."""
    source: str = ""
    """The command that identified it."""
    parameters: Mapping[str, IdentifiedParameter]

    def __post_init__(self) -> None:
        if self.format != BODY_FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {BODY_FORMAT}.")

    @property
    def adjustments(self) -> tuple[Adjustment, ...]:
        """The adjustments of all parameters."""
        return tuple(
            Adjustment(target=target, value=p.value, relative=p.relative)
            for name, p in self.parameters.items()
            for target in p.sets or (f"robot.{name}",)
        )

    @property
    def delay(self) -> float:
        """Extra time from a command to the motors [s]."""
        return sum(a.value for a in self.adjustments if a.target == "delay")

    @property
    def limbs(self) -> IdentifiedBody:
        """The same body without the numbers of motors, gears and bending links, for another actuation."""
        kept = {
            name: dataclasses.replace(p, sets=tuple(t for t in p.sets if parse_target(t).family not in DRIVE_FAMILIES))
            for name, p in self.parameters.items()
        }
        parameters = {name: p for name, p in kept.items() if p.sets or not self.parameters[name].sets}
        return dataclasses.replace(self, parameters=parameters, actuation="")

    def placed(self, placement: Placement, *, actuation: str = "") -> Placement:
        """A placement of the same robot with this body.

        Args:
            placement: where the robot stands, and how; one of another robot is an error.
            actuation: what drives its joints; empty for what drove them when the body was identified.
        """
        mine, asked = _robot_name(self.robot), load_robot(placement.robot).name
        if mine != asked:
            raise UsageError(f"this body belongs to the robot {mine!r}, but {asked!r} was asked for.")
        return dataclasses.replace(
            placement,
            type=placement.type or self.type,
            actuation=actuation or self.actuation or "ideal",
            delay=placement.delay + self.delay,
            adjustments=(*placement.adjustments, *(a for a in self.adjustments if a.target != "delay")),
        )


def read_body(path: Path) -> IdentifiedBody:
    """The body in a file; paths of a robot or an actuation in it may be relative to the file."""
    body = read(path, IdentifiedBody)
    return dataclasses.replace(body, robot=_beside(path, body.robot), actuation=_beside(path, body.actuation))


def write_body(path: Path, body: IdentifiedBody) -> None:
    """Writes a body; `read_body` reads the same back."""
    from nutmeg.base.settings import toml_text

    table: dict[str, Any] = {"format": body.format, "robot": body.robot}
    table |= {key: text for key in ("type", "actuation", "source") if (text := getattr(body, key))}
    table["parameters"] = {name: _known(parameter) for name, parameter in body.parameters.items()}
    try:
        path.write_text(toml_text(table), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None


def placed_with_body(placement: Placement, body: Path | None, *, actuation: str = "") -> Placement:
    """A placement with the body of a file, if one is named: what `--body` and `--actuation` of a command ask for."""
    if body is None:
        return dataclasses.replace(placement, actuation=actuation or "ideal")
    try:
        return read_body(body).placed(placement, actuation=actuation)
    except UsageError as error:
        raise UsageError(f"{body}: {error}") from None


def _known(parameter: IdentifiedParameter) -> dict[str, Any]:
    """The fields of a parameter that are not empty."""
    fields = dataclasses.asdict(parameter)
    return {key: item for key, item in fields.items() if item not in (None, "", ())}


def _beside(path: Path, name: str) -> str:
    """The robot or actuation that a body file names: built in, a file or folder beside it, or any other path."""
    built_in = name in (*robot_names(), *ACTUATION_KINDS)
    return str(path.parent / name) if name and not built_in and (path.parent / name).exists() else name


def _robot_name(robot: str) -> str:
    """The name of the robot that a body belongs to; the end of its path if it is not here any more."""
    try:
        return load_robot(robot).name
    except NutmegError:
        return Path(robot).stem
