"""The two AIBO models as OPEN-R programs see them: primitives, their locators, units and standard gains.

    model = model_named("ers7")
    model.primitive("PRM:/r2/c1-Joint2:21").of         # 'LFr:rotor', the joint of the robot ers7
    model.sensors[0].locator                           # the first element of the sensor vector

A primitive's ID is its place in the table, counted from 1: first the sensor vector in its order, then the rest. The
numbers are in data/ers7.toml and data/ers210.toml, each with its source.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import read_cached

MODELS = ("ers7", "ers210")
"""Robots that speak OPEN-R."""
FRAME = 8000
"""Length of a frame [microseconds]."""
FRAMES = 4
"""Frames in a sensor vector."""

Measures = Literal["joint", "acceleration", "distance", "switch", "force", "touch", "temperature"]

DATA_TYPES: dict[str, int] = {
    "joint": 18,
    "acceleration": 9,
    "distance": 2,
    "switch": 14,
    "force": 8,
    "touch": 12,
    "temperature": 11,
}
"""ODataType of what is measured. That of the ERS-7's touch sensors is not published; pressure is assumed."""


class Kind(IntEnum):
    """Kinds of primitives, as their locators have them."""

    JOINT2 = 1
    JOINT3 = 2
    JOINT4 = 3
    SENSOR = 4
    LED2 = 5
    LED3 = 6
    FBKIMAGESENSOR = 7
    MIC = 8
    SPEAKER = 9


COMMAND_TYPES: dict[Kind, int] = {Kind.JOINT2: 259, Kind.JOINT3: 261, Kind.JOINT4: 262, Kind.LED2: 260, Kind.LED3: 263}
"""ODataType of the commands that a kind takes; the others take none."""


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Gains of a joint as OPEN-R has them: whole numbers, each divided by two to the power of its shift."""

    p: int = 0
    i: int = 0
    d: int = 0
    p_shift: int = 14
    i_shift: int = 2
    d_shift: int = 15

    def __post_init__(self) -> None:
        if not all(0 <= n <= 0xFFFF for n in self.numbers):
            raise ValueError(f"gains {self.numbers} must be whole numbers from 0 to 65535.")

    @property
    def numbers(self) -> tuple[int, int, int, int, int, int]:
        """P, I, D and their shifts, as on the wire."""
        return self.p, self.i, self.d, self.p_shift, self.i_shift, self.d_shift


def gains_of(*numbers: int) -> Gains:
    """Gains from P, I, D and their shifts, in the order of the wire."""
    return Gains(**dict(zip(("p", "i", "d", "p_shift", "i_shift", "d_shift"), numbers, strict=True)))


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """One device of the robot: a joint, a sensor, a light, the camera."""

    locator: str
    """Its name, `PRM:/r2/c1-Joint2:21`."""
    about: str
    """The name people use."""
    of: str = ""
    """Joint, sensor or camera of the simulated robot; empty if there is none."""
    measures: Measures | None = None
    """The measured quantity, if it is in the sensor vector."""
    axis: int = 0
    """acceleration: 0 to the front, 1 to the right, 2 up."""
    turn: int | None = None
    """Measures only in even (0) or odd (1) frames."""
    constant: int | None = None
    """A value that never changes, for what is not simulated."""
    gains: tuple[int, int, int] | None = None
    """Standard gains P, I, D of a joint."""

    @property
    def kind(self) -> Kind:
        """The kind of primitive, such as a joint or a camera."""
        return Kind[self.locator.rpartition("-")[2].partition(":")[0].upper()]

    @property
    def command_type(self) -> int:
        """ODataType of its commands, 0 for none."""
        return COMMAND_TYPES.get(self.kind, 0)

    @property
    def data_type(self) -> int:
        """ODataType of its values in the sensor vector, 0 if it is not there."""
        return DATA_TYPES[self.measures] if self.measures else 0


@dataclass(frozen=True, kw_only=True)
class CameraChoices:
    """Settings of the camera, by OPEN-R's parameters 1, 2, 3."""

    white_balance: tuple[float, float, float]
    """Indoor, outdoor, fluorescent [K]."""
    gain: tuple[float, float, float]
    """Low, middle, high [dB]."""
    shutter: tuple[float, float, float]
    """Slow, middle, fast [s]."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model of AIBO."""

    design: str
    """The maker's name, which `OPENR::GetRobotDesign` answers."""
    model: int
    """Its number in the header of every packet."""
    robot: str
    """Its name in Nutmeg."""
    image: tuple[int, int]
    """Width and height of a picture, layer H."""
    image_period: int
    """Time between pictures [microseconds]."""
    camera: CameraChoices
    """Settings of the camera; it starts with fluorescent, middle, middle."""
    shifts: tuple[int, int, int]
    """Standard shifts P, I, D."""
    sensors: tuple[Primitive, ...]
    """The sensor vector, in its order."""
    others: tuple[Primitive, ...]
    """Primitives that are not in the sensor vector."""

    @cached_property
    def primitives(self) -> tuple[Primitive, ...]:
        """All of them; number k has the ID k + 1."""
        return self.sensors + self.others

    @cached_property
    def ids(self) -> dict[str, int]:
        """The ID of each locator."""
        return {primitive.locator: k for k, primitive in enumerate(self.primitives, 1)}

    def id_of(self, locator: str) -> int:
        """The ID of a locator."""
        if locator not in self.ids:
            raise UnknownNameError(f"locator of {self.design}", locator, self.ids)
        return self.ids[locator]

    def primitive(self, which: int | str) -> Primitive:
        """A primitive by its ID or locator."""
        number = self.id_of(which) if isinstance(which, str) else which
        if not 1 <= number <= len(self.primitives):
            raise UnknownNameError(f"primitive of {self.design}", str(which), map(str, self.ids.values()))
        return self.primitives[number - 1]

    @cached_property
    def joints(self) -> dict[int, Primitive]:
        """The joints with gains (Joint2), by ID."""
        return {k: p for k, p in enumerate(self.primitives, 1) if p.kind == Kind.JOINT2}

    def standard_gains(self, number: int) -> Gains:
        """The maker's gains for a joint, by its ID; zeros for anything else."""
        primitive = self.primitive(number)
        if primitive.gains is None:
            return Gains(p_shift=0, i_shift=0, d_shift=0)
        return gains_of(*primitive.gains, *self.shifts)


def model_named(name: str) -> Model:
    """The model of a robot, `ers7` or `ers210`."""
    if name not in MODELS:
        raise UnknownNameError("OPEN-R robot", name, MODELS)
    return read_cached(Path(__file__).parent / "data" / f"{name}.toml", Model)


def model_numbered(number: int) -> Model:
    """The model with this number in a packet's header, 7 or 210."""
    known = {model.model: model for model in map(model_named, MODELS)}
    if number not in known:
        raise UnknownNameError("OPEN-R model", str(number), map(str, known))
    return known[number]
