"""Bodies identified from recordings: written by `nutmeg identify`, read by `--body` of every command.

    format = 1
    robot = "ant"
    source = "nutmeg identify ant.toml --seed 3"
    fixed = [{ target = "foot.friction", value = 0.7 }]     # what the configuration gave as [robot] adjustments
    [parameters.femur]
    value = 0.93
    low = 0.7
    high = 1.3
    sets = ["robot.L1_femur"]
    interval = [0.91, 0.95]
    identifiable = true

    [distribution]
    errors = [0.02]                             # standard errors, as shares of the ranges along their scales
    correlation = [[1.0]]

The targets that a parameter sets are written in the grammar of `model.parameters`.

    body = read_body(Path("params.toml"))
    others = body.draws(20, np.random.default_rng(0))   # bodies that the recordings allow as well
    scene = assemble(SceneSettings(robots=(body.placed(Placement(robot="ant")),)))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.base.journal import write_file
from nutmeg.base.settings import read
from nutmeg.model.actuation import ACTUATION_KINDS
from nutmeg.model.parameters import Adjustment, parse_target
from nutmeg.model.robot import load_robot, robot_names

if TYPE_CHECKING:
    from nutmeg.model.scene import Placement

BODY_FORMAT = 1
DRIVE_FAMILIES = ("drives", "battery", "servo", "gear", "flex", "delay")
"""Families of targets that belong to the actuation."""


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
    scale: Literal["linear", "log"] = "linear"
    """The scale along which it was searched."""
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
class Distribution:
    """Joint distribution of the estimates, in the order of the parameters, as shares of their ranges and scales."""

    errors: tuple[float, ...]
    """Standard errors."""
    correlation: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        size = len(self.errors)
        if len(self.correlation) != size or any(len(row) != size for row in self.correlation):
            raise ValueError(f"there are {size} errors; the correlation must have as many rows and columns.")
        if any(not 0 <= one < math.inf for one in self.errors):
            raise ValueError("every error must be 0 or more, and finite.")


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
    fixed: tuple[Adjustment, ...] = ()
    """Numbers of the robot that were given (`[robot] adjustments`), not identified."""
    distribution: Distribution | None = None
    """Joint distribution of the estimates; None if it was not computed."""

    def __post_init__(self) -> None:
        if self.distribution is not None and len(self.distribution.errors) != len(self.parameters):
            raise ValueError(
                f"[distribution] is of {len(self.distribution.errors)} parameters; there are {len(self.parameters)}."
            )
        if self.format != BODY_FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {BODY_FORMAT}.")

    @property
    def adjustments(self) -> tuple[Adjustment, ...]:
        """All adjustments, fixed and identified: plain values first, then those that multiply them."""
        found = (
            Adjustment(target=target, value=p.value, relative=p.relative)
            for name, p in self.parameters.items()
            for target in p.sets or (f"robot.{name}",)
        )
        return tuple(sorted((*self.fixed, *found), key=lambda one: one.relative))

    def draws(
        self, count: int, rng: np.random.Generator, *, spread: Literal["estimate", "ranges"] = "estimate"
    ) -> list[IdentifiedBody]:
        """Bodies drawn at random, each a body that the recordings allow.

        Args:
            count: number of bodies.
            rng: random generator.
            spread: `estimate` draws from the joint distribution of the estimates, with its correlations; a value that
                leaves its range is reflected at the end. `ranges` draws every number evenly from its whole range.
        """
        names = list(self.parameters)
        lows, highs = (np.array([getattr(self.parameters[n], end) for n in names]) for end in ("low", "high"))
        if not (np.isfinite(lows) & np.isfinite(highs) & (lows < highs)).all():
            raise UsageError("bodies can only be drawn if every parameter has `low` and `high`.")
        log = np.array([self.parameters[n].scale == "log" for n in names])
        first, last = (np.where(log, np.log(np.where(log, ends, 1.0)), ends) for ends in (lows, highs))
        if spread == "ranges":
            shares = rng.random((count, len(names)))
        elif self.distribution is None:
            raise UsageError("this body has no [distribution]: identify it again, or draw from its ranges.")
        else:
            values = np.array([self.parameters[n].value for n in names])
            middle = (np.where(log, np.log(np.where(log, values, 1.0)), values) - first) / (last - first)
            errors = np.array(self.distribution.errors)
            sizes, axes = np.linalg.eigh(np.array(self.distribution.correlation) * np.outer(errors, errors))
            root = axes * np.sqrt(np.maximum(sizes, 0.0))
            shares = middle + rng.standard_normal((count, len(names))) @ root.T
            shares = 1 - np.abs(1 - np.abs(shares) % 2)  # reflected at 0 and 1
        drawn = first + shares * (last - first)
        drawn = np.where(log, np.exp(drawn), drawn)
        return [
            dataclasses.replace(
                self,
                parameters={
                    n: dataclasses.replace(p, value=float(v))
                    for (n, p), v in zip(self.parameters.items(), row, strict=True)
                },
            )
            for row in drawn
        ]

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
        fixed = tuple(one for one in self.fixed if parse_target(one.target).family not in DRIVE_FAMILIES)
        return dataclasses.replace(self, parameters=parameters, fixed=fixed, actuation="", distribution=None)

    def placed(self, placement: Placement, *, actuation: str = "") -> Placement:
        """A placement of the same robot with this body.

        Args:
            placement: the robot's place and pose; a placement of another robot is an error.
            actuation: the robot's actuation; empty for the one with which the body was identified.
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
    if body.fixed:
        table["fixed"] = [dataclasses.asdict(one) for one in body.fixed]
    table["parameters"] = {name: _known(parameter) for name, parameter in body.parameters.items()}
    if body.distribution is not None:
        rows = [list(row) for row in body.distribution.correlation]
        table["distribution"] = {"errors": list(body.distribution.errors), "correlation": rows}
    write_file(path, toml_text(table))


def placed_with_body(placement: Placement, body: Path | None, *, actuation: str = "") -> Placement:
    """A placement with the body of a file, if one is given; implements the options `--body` and `--actuation`."""
    if body is None:
        return dataclasses.replace(placement, actuation=actuation or "ideal")
    try:
        return read_body(body).placed(placement, actuation=actuation)
    except UsageError as error:
        raise UsageError(f"{body}: {error}") from None


def _known(parameter: IdentifiedParameter) -> dict[str, Any]:
    """The fields of a parameter that are not empty."""
    fields = dataclasses.asdict(parameter)
    return {key: item for key, item in fields.items() if item not in (None, "", (), "linear")}


def _beside(path: Path, name: str) -> str:
    """The robot or actuation that a body file names: built in, a file or folder beside it, or any other path."""
    built_in = name in (*robot_names(), *ACTUATION_KINDS)
    return str(path.parent / name) if name and not built_in and (path.parent / name).exists() else name


def _robot_name(robot: str) -> str:
    """The name of the robot that a body belongs to; the end of its path if its files no longer exist."""
    try:
        return load_robot(robot).name
    except NutmegError:
        return Path(robot).stem
