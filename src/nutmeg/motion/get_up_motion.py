"""The keyframes of a get-up: a file of poses in degrees, and the same as arrays for a robot.

    format = 1
    robot = "nao-spark"
    lying = "front"                                 # or "back", or "side": lying on the left one

    [[frame]]
    seconds = 0.3                                   # from the frame before, or from how the robot lies
    angles = { laj1 = 90.0, llj3 = 100.0 }          # degrees

    [[frame]]
    seconds = 0.4
    pose = "ready"                                  # a pose of the robot

Joints that a frame does not name are as in the frame before; before the first they are as in `ready`. A joint of the
left side stands for its mirror image on the right as well, unless that is named itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg import settings
from nutmeg.body.posing import pose_angles
from nutmeg.errors import FileError, UnknownNameError, UsageError
from nutmeg.recording.toml_text import toml_text

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.body.scene import Scene
    from nutmeg.body.tables import RobotTable


FORMAT = 1
LONGEST = 5.0
"""The longest time from one frame to the next [s]."""
Side = Literal["front", "back", "side"]
SIDES: tuple[Side, ...] = ("front", "back", "side")
"""What a get-up may begin from; `side` is rolled over onto the front or the back, and gets up from there."""
SLACK = 0.1
"""How far an angle may be beyond its joint's limit, for rounded numbers [degrees]."""


@dataclass(frozen=True, kw_only=True)
class GetUpFrame:
    """One pose on the way."""

    seconds: float
    """Time from the frame before [s]."""
    pose: str = ""
    """A named pose of the robot that the frame begins with; empty for the frame before."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Angles of joints that differ from it [degrees]."""

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= LONGEST:
            raise ValueError(f"seconds is {self.seconds:g}; allowed is above 0 and up to {LONGEST:g}.")
        for joint, angle in self.angles.items():
            if not math.isfinite(angle):
                raise ValueError(f"the angle of {joint} is {angle}; it must be a number of degrees.")


@dataclass(frozen=True, kw_only=True)
class GetUpMotion:
    """A get-up as its file has it."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    lying: Side
    """What it begins from."""
    about: str = ""
    """Where it comes from, in a sentence."""
    frame: tuple[GetUpFrame, ...]
    """The poses, the first one first."""

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")
        if not self.frame:
            raise ValueError("has no [[frame]]; a get-up needs at least one.")

    @property
    def seconds(self) -> float:
        """How long it takes [s]."""
        return sum(frame.seconds for frame in self.frame)

    def with_numbers(self, numbers: Mapping[str, float]) -> GetUpMotion:
        """The same with other numbers, by names such as `frame2.seconds` [s] and `frame2.llj3` [degrees]."""
        return dataclasses.replace(self, frame=with_numbers(self.frame, numbers))


def with_numbers(frame: Sequence[GetUpFrame], numbers: Mapping[str, float]) -> tuple[GetUpFrame, ...]:
    """Frames with other numbers, by names such as `frame2.seconds` [s] and `frame2.llj3` [degrees]."""
    frames = list(frame)
    for name, value in numbers.items():
        head, _, key = name.partition(".")
        number = int(head.removeprefix("frame")) - 1 if head.removeprefix("frame").isdecimal() else -1
        if not (head.startswith("frame") and key and 0 <= number < len(frames)):
            raise UnknownNameError("frame", head, [f"frame{i + 1}" for i in range(len(frames))])
        one = frames[number]
        change = {"seconds": value} if key == "seconds" else {"angles": {**one.angles, key: value}}
        try:
            frames[number] = dataclasses.replace(one, **change)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None
    return tuple(frames)


def read_get_up(path: Path) -> GetUpMotion:
    """The get-up in a TOML file."""
    return settings.read(path, GetUpMotion)


def shipped_get_up(robot: str, lying: Side, kind: str = "", actuation: str = "ideal") -> GetUpMotion:
    """The get-up of a robot that comes with Nutmeg: that of its type `kind`, where the type has one of its own.

    A type's own file is called `robot-type-side.toml`; all other types share `robot-side.toml`. Drives that are not
    ideal (servo, motoflex) have `robot-servo-side.toml` where there is one: their joints are stronger and follow later.
    """
    own = [f"{robot}-{kind}-{lying}"] if kind else []
    driven = [f"{robot}-servo-{lying}"] if actuation != "ideal" else []
    shared = f"{robot}-{lying}"
    name = next((one for one in own + driven if one in _shipped()), shared)
    if name not in _shipped():
        raise UnknownNameError("get-up", name, _shipped())
    with resources.as_file(_folder() / f"{name}.toml") as path:
        return settings.read_cached(path, GetUpMotion)


def shipped_sides(robot: str) -> tuple[Side, ...]:
    """The sides from which a robot has a get-up that comes with Nutmeg."""
    return tuple(side for side in SIDES if f"{robot}-{side}" in _shipped())


def _shipped() -> list[str]:
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def _folder() -> Traversable:
    return resources.files("nutmeg.motion") / "data" / "get_up"


def get_up_text(motion: GetUpMotion) -> str:
    """A get-up as TOML."""
    head = {"format": motion.format, "robot": motion.robot, "lying": motion.lying, "about": motion.about}
    return toml_text(head) + frames_text(motion.frame)


def frames_text(frames: Sequence[GetUpFrame]) -> str:
    """Frames as TOML."""
    parts = []
    for frame in frames:
        lines = ["\n[[frame]]", f"seconds = {frame.seconds:.3g}"]
        if frame.pose:
            lines.append(f'pose = "{frame.pose}"')
        if frame.angles:
            inside = ", ".join(f"{joint} = {angle:.1f}" for joint, angle in frame.angles.items())
            lines.append(f"angles = {{ {inside} }}")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def write_get_up(path: Path, motion: GetUpMotion) -> None:
    """Writes a get-up as a file."""
    try:
        path.write_text(get_up_text(motion), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None


@dataclass(frozen=True)
class Mirror:
    """How the mirror image of a posture is commanded: motor `i` as motor `partner[i]` times `sign[i]`."""

    partner: Indices
    sign: Floats

    @classmethod
    def of(cls, scene: Scene, table: RobotTable) -> Mirror:
        """That of a robot, from its joints' names and axes."""
        axes = {name: np.array(scene.model.joint(f"{table.name}/{name}").axis) for name in table.joints}
        partner, sign = np.arange(len(table.motors)), np.ones(len(table.motors))
        for motor, joint in enumerate(table.motor_joints):
            name = table.joints[joint]
            other = other_side(name, table.joints) or name
            if other in table.motors:
                partner[motor] = table.motors.index(other)
            sign[motor] = np.sign(axes[other] @ (axes[name] * [-1.0, 1.0, -1.0]))
        return cls(partner, sign)

    def __call__(self, poses: Floats) -> Floats:
        """The mirror images of postures, (..., motors)."""
        return np.asarray(poses[..., self.partner] * self.sign)


def other_side(joint: str, joints: tuple[str, ...]) -> str:
    """The joint of the other side; empty for a joint in the middle."""
    swapped = {"l": "r", "r": "l", "L": "R", "R": "L"}.get(joint[0], "") + joint[1:]
    return swapped if swapped != joint and swapped in joints else ""


def poses_of(motion: GetUpMotion, table: RobotTable, mirror: Mirror) -> Floats:
    """The poses of a get-up, (frames, motors) [rad]."""
    return frame_poses(motion.frame, motion.robot, table, mirror, f"get-up of {motion.robot} from the {motion.lying}")


def frame_poses(frames: Sequence[GetUpFrame], robot: str, table: RobotTable, mirror: Mirror, what: str) -> Floats:
    """The poses of a robot's frames, (frames, motors) [rad]; `what` names them in errors."""
    if robot != table.settings.name:
        raise UsageError(
            f"the {what} is for the robot {robot!r}, but {table.name!r} is a "
            f"{table.settings.name!r}. Use one whose file says robot = {table.settings.name!r}."
        )
    now = pose_angles(table.settings, table, "ready")[table.motor_joints]
    poses = []
    for number, frame in enumerate(frames, start=1):
        now = pose_angles(table.settings, table, frame.pose)[table.motor_joints] if frame.pose else now.copy()
        for joint, degrees in frame.angles.items():
            motor = _motor(joint, degrees, table, f"{what}, frame {number}")
            now[motor] = math.radians(degrees)
            other = other_side(joint, table.motors)
            if joint[0] in "lL" and other and other not in frame.angles:
                now[table.motors.index(other)] = mirror.sign[motor] * math.radians(degrees)
        poses.append(now)
    limits = table.limits[table.motor_joints]
    return np.clip(np.stack(poses), limits[:, 0], limits[:, 1])


def _motor(joint: str, degrees: float, table: RobotTable, where: str) -> int:
    """The motor of a joint; an angle outside its limits is an error."""
    if joint not in table.motors:
        raise UnknownNameError("joint", joint, table.motors, where=where)
    motor = table.motors.index(joint)
    low, high = np.degrees(table.limits[table.motor_joints[motor]])
    if not low - SLACK <= degrees <= high + SLACK:
        raise UsageError(f"{where}: {joint} is {degrees:g} degrees; allowed is {low:.1f}..{high:.1f}.")
    return motor
