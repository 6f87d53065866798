"""What a robot is: the dataclasses behind `robot.toml`.

A robot is a folder with a `robot.toml`. Its bodies come from one of three places: tables in the TOML itself
(`[[body]]`), two CSV tables (`links`, `joints`), or an MJCF or URDF file. Everything else (drives, sensors,
poses, colours) has the same form for all three. `build.py` turns this into a MuJoCo specification.

Frames: x forward, y left, z up, right-handed; angles in radians, lengths in metres, masses in kilograms. A
body's frame sits at its joint; a body without a joint is fixed to its parent.

    format = 1
    name = "pendulum"
    source = "own bench"
    licence = "CC0"
    [[body]]
    name = "rod"
    mass = 0.5
    joint = { name = "swing", axis = [0, 1, 0], range = [-3, 3] }
    [[shape]]
    body = "rod"
    type = "capsule"
    size = [0.01, 0.2]
    pos = [0, 0, -0.1]
    [drives.servo]
    joints = ["swing"]
    torque = 2.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nutmeg.body.actuation.settings import Flex
from nutmeg.body.expression import Number
from nutmeg.body.sensors import Sensor

Vector = tuple[Number, Number, Number]
ZERO: Vector = (0.0, 0.0, 0.0)
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number of the body that may vary: a mass, a length, an offset."""

    value: float
    """Its value unless somebody says otherwise."""
    low: float
    """The smallest sensible value."""
    high: float
    """The largest sensible value."""
    unit: str = ""
    """SI unit, empty for a ratio."""
    about: str = ""
    """What it is, in a few words."""

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"the value {self.value} is outside its own range {self.low}..{self.high}.")


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A hinge between a body and its parent."""

    name: str
    axis: Vector = (0.0, 0.0, 1.0)
    """Direction in the body's frame; need not be normalised."""
    range: tuple[Number, Number] | None = None
    """Lowest and highest angle [rad]; without it the joint turns freely."""
    anchor: Vector = ZERO
    """A point on the axis, in the body's frame [m]."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """A rigid part."""

    name: str
    parent: str = ""
    """Name of the parent; empty for the root."""
    pos: Vector = ZERO
    """Origin in the parent's frame when all joints are at zero [m]."""
    euler: Vector = ZERO
    """Roll, pitch, yaw in the parent's frame [rad]."""
    mass: Number = 0.0
    """[kg]. Zero only for a body welded to its parent."""
    com: Vector | None = None
    """Centre of mass in the body's frame [m]; needs `inertia`."""
    inertia: tuple[Number, Number, Number, Number, Number, Number] | None = None
    """Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, body axes [kg m²]; without it the mass is spread
    evenly over the body's colliding shapes (or all shapes, if none collides)."""
    joint: Joint | None = None
    bend: Flex | None = None
    """Springs about the two axes across the way to the parent, instead of a joint."""
    source: str = ""
    """Where this body's numbers come from, if not from the robot's source."""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""

    def __post_init__(self) -> None:
        if self.com is not None and self.inertia is None:
            raise ValueError(
                f"body {self.name!r} gives com without inertia: give both, or shapes to spread the mass over."
            )


ShapeType = Literal["box", "roundbox", "sphere", "ellipsoid", "capsule", "cylinder"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A piece of a body that is seen, collides, or both."""

    body: str
    type: ShapeType
    size: tuple[Number, ...]
    """box, roundbox, ellipsoid: full lengths x y z. sphere: radius. capsule, cylinder: radius, length along z
    (a capsule's length is without its caps), or radius alone with `fromto` [m]."""
    pos: Vector = ZERO
    euler: Vector = ZERO
    fromto: tuple[Number, Number, Number, Number, Number, Number] | None = None
    """Ends of a capsule's or cylinder's axis, instead of pos and euler [m]."""
    colour: str = "white"
    """A name in the robot's colours, or `team`."""
    role: Literal["visual", "collision", "both"] = "visual"
    """What it is for; `collision` shapes are invisible."""
    mirror: bool = False
    """Also put its mirror image (y negated) on the right-hand body: L... -> R..., l_... -> r_..."""
    roundness: float = 0.35
    """roundbox only: 0 is a box, 1 an ellipsoid."""
    foot: bool = False
    """A sole: gets the robot's foot friction."""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """Ideal actuation of a group of joints: a servo that follows its command as well as its limits allow."""

    joints: tuple[str, ...]
    """Joint names or patterns (`*HipPitch`); two drives may not take the same joint, except that one with
    `only` takes its joints from those without."""
    kind: Literal["position", "velocity"] = "position"
    stiffness: float = 100.0
    """Position gain [N m/rad]; position drives only."""
    damping: float = 2.0
    """Velocity gain [N m s/rad]; position drives only."""
    torque: float = 5.0
    """Largest torque at the joint [N m]."""
    speed: float = 6.0
    """Largest speed of the command [rad/s]."""
    armature: float = 0.005
    """Inertia of the rotor as seen at the joint [kg m²]."""
    friction: float = 0.0
    """Dry friction at the joint [N m]."""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""

    def __post_init__(self) -> None:
        for name in ("stiffness", "torque", "speed"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be above 0.")
        for name in ("damping", "armature", "friction"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 or above.")


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Two joints on one motor: the follower always has the leader's angle (times `ratio`)."""

    leader: str
    follower: str
    ratio: float = 1.0


@dataclass(frozen=True, kw_only=True)
class FootContact:
    """How soles touch the ground."""

    friction: float = 0.8
    """Sliding friction against any floor."""


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """Where the bodies come from when they are not in `robot.toml` itself."""

    mjcf: Path | None = None
    urdf: Path | None = None
    links: Path | None = None
    """CSV: link, mass_kg, com_x..z, Ixx_G Ixy_G Ixz_G Iyy_G Iyz_G Izz_G, source."""
    joints: Path | None = None
    """CSV: joint, parent, child, x y z, ax ay az, lower_rad, upper_rad, source."""
    actuation: Path | None = None
    """TOML with servos, gears and bending links (see `body.actuation`)."""
    cameras: Path | None = None
    """TOML with lenses and image sensors (see `body.cameras`)."""
    shell: Path | None = None
    """TOML with further `[[shape]]`s and `[colours]`, shared by several robots."""

    def __post_init__(self) -> None:
        given = [n for n in ("mjcf", "urdf", "links") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"gives {' and '.join(given)}; a robot's bodies come from one of them.")
        if (self.links is None) != (self.joints is None):
            raise ValueError("links and joints are two halves of one table: give both.")


Colour = tuple[float, float, float] | tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Shell:
    """The looks of a robot, in a file of their own."""

    colours: Mapping[str, Colour] = field(default_factory=dict)
    shape: tuple[Shape, ...] = ()
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class RobotSettings:
    """A robot: the contents of its `robot.toml`."""

    format: int
    """Version of this file format, 1."""
    name: str
    source: str
    """Where the numbers come from."""
    licence: str
    """Licence of the numbers."""
    title: str = ""
    about: str = ""
    model: ModelFiles = ModelFiles()
    base: Literal["free", "fixed"] = "free"
    """Whether the root moves freely or is bolted to the world."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Named variants: values of parameters that differ from the default."""
    body: tuple[Body, ...] = ()
    shape: tuple[Shape, ...] = ()
    colours: Mapping[str, Colour] = field(default_factory=dict)
    drives: Mapping[str, Drive] = field(default_factory=dict)
    shared: tuple[Shared, ...] = ()
    sensor: tuple[Sensor, ...] = ()
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Joint angles by name [rad]; joints left out are at zero. `ready` is where a robot starts."""
    eyes: str = ""
    """The camera through which one looks as this robot."""
    foot: FootContact = FootContact()
    physics: str = "standard"
    """The physics profile that suits this robot (see `body.physics`)."""
    ignore_contacts: tuple[tuple[str, str], ...] = ()
    """Pairs of bodies that may overlap without touching."""

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")
        for name, variant in self.types.items():
            for key in variant:
                if key not in self.parameters:
                    raise ValueError(f"type {name!r} sets {key!r}, which is not a parameter of this robot.")
