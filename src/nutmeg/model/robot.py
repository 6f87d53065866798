"""Robots as data (the dataclasses behind `robot.toml`), and how robots are found and read.

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

import csv
import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.base.settings import Bounded, above, at_least, read
from nutmeg.model.actuation.settings import Flex
from nutmeg.model.geometry import Number
from nutmeg.model.sensors import Sensor

if TYPE_CHECKING:
    from collections.abc import Iterator


Vector = tuple[Number, Number, Number]
ZERO_VECTOR: Vector = (0.0, 0.0, 0.0)
ROBOT_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number of the body that may vary: a mass, a length, an offset."""

    value: float
    """The value that it has unless another is given."""
    low: float
    """The smallest sensible value."""
    high: float
    """The largest sensible value."""
    unit: str = ""
    """SI unit, empty for a ratio."""
    about: str = ""
    """A short description."""

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
    anchor: Vector = ZERO_VECTOR
    """A point on the axis, in the body's frame [m]."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """A rigid part."""

    name: str
    parent: str = ""
    """Name of the parent; empty for the root."""
    pos: Vector = ZERO_VECTOR
    """Origin in the parent's frame when all joints are at zero [m]."""
    euler: Vector = ZERO_VECTOR
    """Roll, pitch, yaw in the parent's frame [rad]."""
    mass: Number = 0.0
    """Mass [kg]; zero is allowed only for a body that is fixed to its parent."""
    com: Vector | None = None
    """Centre of mass in the body's frame [m]; needs `inertia`."""
    inertia: tuple[Number, Number, Number, Number, Number, Number] | None = None
    """Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, body axes [kg m²]; without it the mass is spread
    evenly over the body's colliding shapes (or all shapes, if none collides)."""
    joint: Joint | None = None
    bend: Flex | None = None
    """Springs about the two axes across the line to the parent, instead of a joint."""
    source: str = ""
    """Source of this body's numbers, if it is not the robot's source."""
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
    pos: Vector = ZERO_VECTOR
    euler: Vector = ZERO_VECTOR
    fromto: tuple[Number, Number, Number, Number, Number, Number] | None = None
    """Ends of a capsule's or cylinder's axis, instead of pos and euler [m]."""
    colour: str = "white"
    """A name in the robot's colours, or `team`."""
    role: Literal["visual", "collision", "both"] = "visual"
    """Whether the shape is visible, collides, or both; `collision` shapes are invisible."""
    mirror: bool = False
    """Also put its mirror image (y negated) on the right-hand body: L... -> R..., l_... -> r_..."""
    roundness: float = 0.35
    """roundbox only: 0 is a box, 1 an ellipsoid."""
    foot: bool = False
    """A sole: gets the robot's foot friction."""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""


@dataclass(frozen=True, kw_only=True)
class Drive(Bounded):
    """Ideal actuation of a group of joints: a servo that follows its command as well as its limits allow."""

    joints: tuple[str, ...]
    """Joint names or patterns (`*HipPitch`); two drives may not take the same joint, except that one with
    `only` takes its joints from those without."""
    kind: Literal["position", "velocity", "impedance"] = "position"
    """An impedance drive takes five numbers: angle, speed, both gains and a torque (see `model.actuation.drives`)."""
    stiffness: Annotated[float, above(0, "N m/rad")] = 100.0
    """Position gain [N m/rad]; not for velocity drives."""
    damping: Annotated[float, at_least(0, "N m s/rad")] = 2.0
    """Velocity gain [N m s/rad]; not for velocity drives."""
    torque: Annotated[float, above(0, "N m")] = 5.0
    """Largest torque at the joint [N m]."""
    speed: Annotated[float, above(0, "rad/s")] = 6.0
    """Largest speed of the command [rad/s]."""
    armature: Annotated[float, at_least(0, "kg m²")] = 0.005
    """Inertia of the rotor as seen at the joint [kg m²]."""
    friction: Annotated[float, at_least(0, "N m")] = 0.0
    """Dry friction at the joint [N m]."""
    viscous_friction: Annotated[float, at_least(0, "N m s/rad")] = 0.0
    """Friction at the joint that grows with its speed [N m s/rad]."""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Two joints on one motor: the follower always has the leader's angle (times `ratio`)."""

    leader: str
    follower: str
    ratio: float = 1.0


@dataclass(frozen=True, kw_only=True)
class FootContact:
    """Contact of the soles with the ground."""

    friction: float = 0.8
    """Sliding friction against any floor."""
    solimp: tuple[float, float, float, float, float] | None = None
    """MuJoCo's contact impedance of the soles, where it is not that of the other shapes."""


@dataclass(frozen=True, kw_only=True)
class ShapeContact:
    """Contact of all colliding shapes, for robots of leagues whose own server is MuJoCo."""

    friction: tuple[float, float, float]
    """MuJoCo's sliding, torsional [m] and rolling [m] coefficients."""
    priority: int = 0
    """MuJoCo's contact priority: of two touching shapes the higher one sets the contact numbers; equal ones mix."""
    solref: tuple[float, float] = (0.02, 1.0)
    """MuJoCo's contact time constant [s] and damping ratio."""
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """MuJoCo's contact impedance."""


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """Files with bodies, actuation, cameras and looks that are not in `robot.toml` itself."""

    mjcf: Path | None = None
    urdf: Path | None = None
    actuators: bool = True
    """Whether the actuators of an MJCF file are kept; if not, its joints are driven by `drives` alone."""
    links: Path | None = None
    """CSV: link, mass_kg, com_x..z, Ixx_G Ixy_G Ixz_G Iyy_G Iyz_G Izz_G, source."""
    joints: Path | None = None
    """CSV: joint, parent, child, x y z, ax ay az, lower_rad, upper_rad, source."""
    actuation: Path | None = None
    """TOML with servos, gears and bending links (see `model.actuation`)."""
    cameras: Path | None = None
    """TOML with lenses and image sensors (see `model.sensors.CameraSettings`)."""
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
class _Shell:
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
    """Source of the numbers."""
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
    """Name of the camera for the robot's own view."""
    feet: tuple[str, ...] = ()
    """Bodies on which it stands; the joints between the root and them are its legs (see `tables.leg_joints`)."""
    foot: FootContact = FootContact()
    contact: ShapeContact | None = None
    """MuJoCo's contact numbers of all shapes; without them, the engine's defaults and the soles' friction hold."""
    physics: str = "standard"
    """The physics profile that suits this robot (see `model.physics`)."""
    ignore_contacts: tuple[tuple[str, str], ...] = ()
    """Pairs of bodies that may overlap without touching."""

    def __post_init__(self) -> None:
        if self.format != ROBOT_FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {ROBOT_FORMAT}.")
        for name, variant in self.types.items():
            for key in variant:
                if key not in self.parameters:
                    raise ValueError(f"type {name!r} sets {key!r}, which is not a parameter of this robot.")


# ----------------------------------------------------------------------------------------------------
# Finding robots: those that come with Nutmeg by name, users' own by path.


ROBOTS_FOLDER = Path(__file__).parent / "data" / "robots"


def robot_names() -> list[str]:
    """The robots that come with Nutmeg."""
    return sorted(p.parent.name for p in ROBOTS_FOLDER.glob("*/robot.toml"))


def load_robot(name: str | Path) -> RobotSettings:
    """A built-in robot by name, or a user's by the path of its folder, TOML, MJCF or URDF file.

    For example:

        load_robot("nao-v6")          # built in
        load_robot("my/robot")        # a folder with robot.toml
        load_robot("pendulum.xml")    # an MJCF or URDF file alone, with default drives
    """
    if str(name) in robot_names():
        return read_robot(ROBOTS_FOLDER / str(name) / "robot.toml")
    path = Path(name)
    if path.is_dir():
        if not (path / "robot.toml").is_file():
            raise FileError(path, "this folder has no robot.toml. See the how-to 'Bring your own robot'.")
        return read_robot(path / "robot.toml")
    if path.suffix.lower() in (".xml", ".mjcf", ".urdf"):
        return _from_model_file(path)
    if path.suffix == ".toml":
        return read_robot(path)
    where = "neither a robot that comes with Nutmeg, nor the path of a robot's folder, TOML, MJCF or URDF file"
    raise UnknownNameError("robot", str(name), robot_names(), where=where)


def read_robot(path: Path) -> RobotSettings:
    """The robot in a `robot.toml`, with its tables and shell read in."""
    path = path.resolve()
    files = sorted([*path.parent.glob("*.toml"), *path.parent.glob("*.csv")])
    return _read_robot(path, tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files))


@lru_cache(maxsize=64)
def _read_robot(path: Path, files: tuple[tuple[str, int, int], ...]) -> RobotSettings:  # noqa: ARG001 (changed files)
    """The robot; `files` (names, times and sizes) is the key of the cache, so that an edited robot is read again."""
    robot = read(path, RobotSettings)
    if robot.model.links and robot.model.joints:
        body = (*_bodies_from_csv(robot.model.links, robot.model.joints), *robot.body)
        robot = dataclasses.replace(robot, body=body)
    if robot.model.shell:
        shell = read(robot.model.shell, _Shell)
        robot = dataclasses.replace(
            robot, shape=(*shell.shape, *robot.shape), colours={**shell.colours, **robot.colours}
        )
    return robot


def _from_model_file(path: Path) -> RobotSettings:
    """A robot that is only an MJCF or URDF file.

    A joint without an actuator stays passive in a file that has actuators; in one without any, as URDF files are, each
    hinge gets a default drive. A base that the file bolts to the world stays bolted; a URDF file cannot say that,
    except by a root link called `world`. The ready pose is the keyframe `home`, else the first one.
    """
    from nutmeg.model.model_file import read_facts

    facts, is_urdf = read_facts(path), path.suffix.lower() == ".urdf"
    hinges = () if facts.actuated else facts.hinges
    return RobotSettings(
        format=ROBOT_FORMAT,
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem),
        source=f"file {path.name}",
        licence="the file's own",
        base="free" if facts.free or (is_urdf and facts.root != "world") else "fixed",
        model=ModelFiles(urdf=path.resolve()) if is_urdf else ModelFiles(mjcf=path.resolve()),
        drives={"all": Drive(joints=hinges)} if hinges else {},
        poses={"ready": facts.home} if facts.home else {},
    )


def _bodies_from_csv(links: Path, joints: Path) -> Iterator[Body]:
    """Bodies from two tables; the root is the link that is no joint's child."""
    masses = {row["link"]: (row, line) for row, line in _rows(links, _LINK_COLUMNS)}
    tree = {row["child"]: (row, line) for row, line in _rows(joints, _JOINT_COLUMNS)}
    for name in [n for n in masses if n not in tree] + list(tree):
        if name not in masses:
            raise FileError(joints, f"joint to {name!r}, but {links.name} has no such link.", line=tree[name][1])
        yield _body_from_rows(name, masses[name][0], tree[name][0] if name in tree else None)


def _body_from_rows(name: str, link: dict[str, str], joint: dict[str, str] | None) -> Body:
    def numbers(row: dict[str, str], *keys: str) -> list[float]:
        return [float(row[key]) for key in keys]

    xx, yy, zz, xy, xz, yz = numbers(link, "Ixx_G", "Iyy_G", "Izz_G", "Ixy_G", "Ixz_G", "Iyz_G")
    cx, cy, cz = numbers(link, "com_x", "com_y", "com_z")
    mass = float(link["mass_kg"])
    body = Body(name=name, mass=mass, com=(cx, cy, cz), inertia=(xx, yy, zz, xy, xz, yz), source=link["source"])
    if joint is None:
        return body
    x, y, z, ax, ay, az, low, high = numbers(joint, "x", "y", "z", "ax", "ay", "az", "lower_rad", "upper_rad")
    hinge = Joint(name=joint["joint"], axis=(ax, ay, az), range=(low, high))
    return dataclasses.replace(body, parent=joint["parent"], pos=(x, y, z), joint=hinge)


_INERTIA_COLUMNS = ("Ixx_G", "Ixy_G", "Ixz_G", "Iyy_G", "Iyz_G", "Izz_G")
_LINK_COLUMNS = ("link", "mass_kg", "com_x", "com_y", "com_z", *_INERTIA_COLUMNS, "source")
_JOINT_COLUMNS = ("joint", "parent", "child", "x", "y", "z", "ax", "ay", "az", "lower_rad", "upper_rad")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[dict[str, str], int]]:
    """The rows of a CSV with their line numbers; checks the columns and that numbers are numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"cannot be read: {error}.") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = csv.DictReader(lines)
    missing = [c for c in columns if c not in (table.fieldnames or [])]
    if missing:
        raise FileError(path, f"lacks the column {missing[0]!r}; needed are {', '.join(columns)}.", line=1)
    for row in table:
        line = next(n for n, whole in enumerate(text.splitlines(), 1) if whole == lines[table.line_num - 1])
        for column in columns:
            if column not in _TEXT and not _is_number(row[column]):
                raise FileError(path, f"column {column!r} holds {row[column]!r}, which is not a number.", line=line)
        yield row, line


_TEXT = frozenset({"link", "joint", "parent", "child", "source"})


def _is_number(text: str | None) -> bool:
    try:
        return math.isfinite(float(text or ""))
    except ValueError:
        return False
