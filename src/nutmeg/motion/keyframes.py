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

from nutmeg.base import settings
from nutmeg.base.errors import FileError, ModelError, UnknownNameError, UsageError
from nutmeg.base.settings import toml_text
from nutmeg.model.posing import pose_angles
from nutmeg.motion.inertial import FallDetector, Lying

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies


FORMAT = 1
MAX_FRAME_SECONDS = 5.0
"""The longest time from one frame to the next [s]."""
Side = Literal["front", "back", "side"]
LYING_SIDES: tuple[Side, ...] = ("front", "back", "side")
"""What a get-up may begin from; `side` is rolled over onto the front or the back, and gets up from there."""
LIMIT_SLACK = 0.1
"""How far an angle may be beyond its joint's limit, for rounded numbers [degrees]."""


@dataclass(frozen=True, kw_only=True)
class Keyframe:
    """One pose on the way."""

    seconds: float
    """Time from the frame before [s]."""
    pose: str = ""
    """A named pose of the robot that the frame begins with; empty for the frame before."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Angles of joints that differ from it [degrees]."""

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= MAX_FRAME_SECONDS:
            raise ValueError(f"seconds is {self.seconds:g}; allowed is above 0 and up to {MAX_FRAME_SECONDS:g}.")
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
    frame: tuple[Keyframe, ...]
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


def with_numbers(frame: Sequence[Keyframe], numbers: Mapping[str, float]) -> tuple[Keyframe, ...]:
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
    return tuple(side for side in LYING_SIDES if f"{robot}-{side}" in _shipped())


def _shipped() -> list[str]:
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def _folder() -> Traversable:
    return resources.files("nutmeg.motion") / "data" / "get_up"


def get_up_text(motion: GetUpMotion) -> str:
    """A get-up as TOML."""
    head = {"format": motion.format, "robot": motion.robot, "lying": motion.lying, "about": motion.about}
    return toml_text(head) + frames_text(motion.frame)


def frames_text(frames: Sequence[Keyframe]) -> str:
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


def frame_poses(frames: Sequence[Keyframe], robot: str, table: RobotTable, mirror: Mirror, what: str) -> Floats:
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
    if not low - LIMIT_SLACK <= degrees <= high + LIMIT_SLACK:
        raise UsageError(f"{where}: {joint} is {degrees:g} degrees; allowed is {low:.1f}..{high:.1f}.")
    return motor


# ----------------------------------------------------------------------------------------------------
# A motion that is played once from standing, such as a kick or a dive: keyframes in a file, and as joint angles.
#
# Frames are as in get-ups (`get_up_motion`): a joint that is not named stays, and a joint of the left side stands for
# its mirror image too, unless that is named itself. Files describe the motion with the left foot, or to the left;
# `mirrored` gives the other. Between frames joints go along straight lines, as fast drives do best.


@dataclass(frozen=True, kw_only=True)
class PlayedMotion:
    """A motion as its file has it."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    name: str
    """What it is."""
    about: str = ""
    """Where it comes from, in a sentence."""
    ball: tuple[float, float] = (0.0, 0.0)
    """A kick: where the ball lies best, ahead of the torso and to the left of it [m]."""
    tolerance: float = 0.0
    """A kick: how far from there it may lie along each axis [m]."""
    distance: float = 0.0
    """A kick: how far the ball goes, measured [m]."""
    stance: float = 0.0
    """A kick: how far apart the feet stood when it was learned [m]."""
    strike: int = 1
    """A kick: the frame, from 1, on the way to which the ball is hit; a weaker kick takes longer there."""
    frame: tuple[Keyframe, ...]
    """The poses, the first one first."""

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")
        if not self.frame:
            raise ValueError("has no [[frame]]; a motion needs at least one.")
        if not 1 <= self.strike <= len(self.frame):
            raise ValueError(f"strike is {self.strike}; it must be the number of a frame, 1..{len(self.frame)}.")

    @property
    def seconds(self) -> float:
        """How long it takes [s]."""
        return sum(frame.seconds for frame in self.frame)

    def with_numbers(self, numbers: Mapping[str, float]) -> PlayedMotion:
        """The same with other numbers, by names such as `frame2.seconds` [s], `frame2.llj3` [degrees], `ball.ahead`."""
        ball = (numbers.get("ball.ahead", self.ball[0]), numbers.get("ball.left", self.ball[1]))
        rest = {name: value for name, value in numbers.items() if not name.startswith("ball.")}
        return dataclasses.replace(self, ball=ball, frame=with_numbers(self.frame, rest))


def motion_path(
    motion: PlayedMotion,
    table: RobotTable,
    mirror: Mirror,
    start: Floats,
    *,
    mirrored: bool = False,
    period: float = 0.02,
) -> Floats:
    """Joint angles from a posture `start` (motors,) on, one row for each cycle, (T, motors) [rad]."""
    poses = frame_poses(motion.frame, motion.robot, table, mirror, f"motion {motion.name!r} of {motion.robot}")
    poses = np.concatenate([start[None], mirror(poses) if mirrored else poses])
    times = np.cumsum([0.0, *(frame.seconds for frame in motion.frame)])
    samples = np.arange(1, int(np.ceil(times[-1] / period - 1e-9)) + 1) * period
    return np.stack([np.interp(samples, times, column) for column in poses.T], axis=1)


def read_motion(path: Path) -> PlayedMotion:
    """The motion in a TOML file."""
    return settings.read(path, PlayedMotion)


def motion_names(robot: str) -> list[str]:
    """The motions of a robot that come with Nutmeg."""
    head = f"{robot}-"
    names = (
        path.name.removesuffix(".toml") for path in _played_motion_folder().iterdir() if path.name.endswith(".toml")
    )
    return sorted(name.removeprefix(head) for name in names if name.startswith(head))


def shipped_motion(robot: str, name: str) -> PlayedMotion:
    """A motion of a robot that comes with Nutmeg."""
    if name not in motion_names(robot):
        raise UnknownNameError(f"motion of {robot}", name, motion_names(robot))
    with resources.as_file(_played_motion_folder() / f"{robot}-{name}.toml") as path:
        return settings.read_cached(path, PlayedMotion)


def write_motion(path: Path, motion: PlayedMotion) -> None:
    """Writes a motion as a file."""
    head: dict[str, object] = {"format": motion.format, "robot": motion.robot, "name": motion.name}
    head["about"] = motion.about
    if any(motion.ball):
        head["ball"] = [round(number, 4) for number in motion.ball]
        head["tolerance"], head["distance"] = motion.tolerance, round(motion.distance, 2)
        head["stance"], head["strike"] = round(motion.stance, 4), motion.strike
    try:
        path.write_text(toml_text(head) + frames_text(motion.frame), encoding="utf-8")
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None


def _played_motion_folder() -> Traversable:
    return resources.files("nutmeg.motion") / "data" / "played"


# ----------------------------------------------------------------------------------------------------
# Motions through keyframes: poses reached one after another, smoothly, repeated or held at the end.


class Keyframes:
    """A motion through poses.

    Args:
        times: when each pose is reached, rising [s].
        angles: the poses, (frames, motors) [rad].
        repeat_from: after the last pose go on from this time again; None holds the last pose.
    """

    def __init__(self, times: Sequence[float], angles: ArrayLike, *, repeat_from: float | None = None) -> None:
        self.times = np.asarray(times, float)
        self.poses = np.asarray(angles, float)
        self.repeat_from = repeat_from
        if len(self.times) < 2 or (np.diff(self.times) <= 0).any():
            raise ModelError(f"a motion needs at least two keyframes at rising times, found {list(times)}.")
        if self.poses.shape[0] != len(self.times):
            raise ModelError(f"{len(self.times)} keyframe times but {self.poses.shape[0]} poses: give one for each.")
        if repeat_from is not None and not self.times[0] <= repeat_from < self.times[-1]:
            raise ModelError(
                f"a motion cannot repeat from {repeat_from} s: that must be at or after its first keyframe "
                f"({self.times[0]:g} s) and before its last ({self.times[-1]:g} s)."
            )

    def angles(self, time: ArrayLike) -> Floats:
        """The reference at a time, (motors,), or at N times, (N, motors); it starts and stops gently."""
        when = np.asarray(time, float)
        last = self.times[-1]
        if self.repeat_from is not None:
            beyond = self.repeat_from + np.mod(when - self.repeat_from, last - self.repeat_from)
            when = np.where(when > last, beyond, when)
        frame = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(self.times) - 2)
        share = np.clip((when - self.times[frame]) / (self.times[frame + 1] - self.times[frame]), 0.0, 1.0)
        blend = (share * share * (3 - 2 * share))[..., None]
        return np.asarray(self.poses[frame] * (1 - blend) + self.poses[frame + 1] * blend)


def with_changes(table: RobotTable, rest: Floats, changes: Mapping[str, float]) -> Floats:
    """A pose (motors,) that is `rest` but for the named motors."""
    pose = rest.copy()
    pose[table.motor_index(list(changes))] = list(changes.values())
    return pose


# ----------------------------------------------------------------------------------------------------
# Getting up: keyframes played in every world that has fallen, each at its own time, again if one try was not enough.
#
# A robot on its side rolls over first. With a fall detector, a motion that has ended with the robot still lying is
# followed by the one for how it lies then, as often as it takes; without one a motion is played once. Poses are gone
# to along straight lines in joint space, from wherever the joints are at the beginning.


Motions = Mapping[Side, Sequence[GetUpMotion]]
"""The motion for each side, for all worlds alike or for each."""
SETTLE_SECONDS = 0.2
"""How long after the last pose a robot has to come to rest, before it is looked at [s]."""


def shipped_motions(robot: str, kind: str = "", actuation: str = "ideal") -> dict[Side, tuple[GetUpMotion]]:
    """All get-ups of a robot, or of one of its types, that come with Nutmeg, for what drives its joints.

    Not every robot has one for every side.
    """
    known = shipped_sides(robot)
    if not known:
        shipped_get_up(robot, "front")  # says what there is
    return {side: (shipped_get_up(robot, side, kind, actuation),) for side in known}


class GetUp:
    """One robot of every world, getting up when it is told to.

    Args:
        worlds: N worlds with the robot in them, or an `OwnBody`.
        robot: its name.
        motions: for `front`, `back` and `side`, one motion or N; a side that is missing cannot be begun.
        falls: tells who still lies; None plays each motion once.
        period: of a control cycle [s].
    """

    def __init__(
        self,
        worlds: Bodies,
        robot: str,
        motions: Motions,
        *,
        falls: FallDetector | None = None,
        period: float = 0.02,
    ) -> None:
        table, count = worlds.robot(robot).table, worlds.count
        self._falls, self._period, self._qpos = falls, period, worlds.qpos
        self._addresses = table.angles[table.motor_joints]
        self._rows = np.arange(count)
        mirror = Mirror.of(worlds.scene, table)
        most = max((len(motion.frame) for each in motions.values() for motion in each), default=1)
        self._poses = np.zeros((count, len(Lying), most, len(table.motors)))
        self._ends = np.zeros((count, len(Lying), most))
        self._known = np.zeros(len(Lying), dtype=bool)
        for side, each in motions.items():
            if side not in LYING_SIDES:
                raise UnknownNameError("side to get up from", side, LYING_SIDES)
            if len(each) not in (1, count):
                raise UsageError(f"{len(each)} motions from the {side} for {count} worlds; give one, or one each.")
            for row, motion in enumerate(each):
                self._store(side, slice(None) if len(each) == 1 else row, motion, poses_of(motion, table, mirror))
            if side == "side":
                self._poses[:, Lying.RIGHT] = mirror(self._poses[:, Lying.LEFT])
                self._ends[:, Lying.RIGHT] = self._ends[:, Lying.LEFT]
        self.active: Bools = np.zeros(count, dtype=bool)
        """Who is at it, (N,)."""
        self.done: Bools = np.zeros(count, dtype=bool)
        """Who has begun and ended, (N,); until the next `begin`."""
        self.tries: Indices = np.zeros(count, dtype=np.intp)
        """How many motions were begun since `begin`, (N,)."""
        self.seconds: Floats = np.zeros(count)
        """Time since `begin`, (N,) [s]."""
        self.targets: Floats = worlds.qpos[:, self._addresses]
        """Joint angles to go to, (N, motors) [rad]."""
        self._from: Floats = self.targets.copy()
        self._kind = np.zeros(count, dtype=np.intp)
        self._clock: Floats = np.zeros(count)

    def _store(self, side: Side, row: slice | int, motion: GetUpMotion, poses: Floats) -> None:
        kind = {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[side]
        used = len(poses)
        self._known[kind] = True
        self._known[Lying.RIGHT] |= kind == Lying.LEFT
        self._poses[row, kind, :used], self._poses[row, kind, used:] = poses, poses[-1]
        self._ends[row, kind, :used] = np.cumsum([frame.seconds for frame in motion.frame])
        self._ends[row, kind, used:] = motion.seconds

    def begin(self, ids: ArrayLike, kind: ArrayLike) -> None:
        """Lets worlds `ids` (n,) get up from how they lie: a `Lying` for all, or (n,)."""
        rows = np.atleast_1d(np.asarray(ids, dtype=np.intp))
        self.tries[rows], self.seconds[rows] = 0, 0.0
        self.active[rows], self.done[rows] = True, False
        self._start(rows, np.broadcast_to(np.asarray(kind, dtype=np.intp), rows.shape))

    def _start(self, rows: Indices, kinds: Indices) -> None:
        missing = ~self._known[kinds]
        if missing.any():
            name = Lying(int(kinds[missing][0])).name
            raise UsageError(f"no get-up is known for a robot that lies {name}; give a motion for it.")
        self._kind[rows], self._clock[rows] = kinds, 0.0
        self._from[rows] = self._qpos[np.ix_(rows, self._addresses)]
        self.targets[rows] = self._from[rows]
        self.tries[rows] += 1

    def stop(self, ids: ArrayLike) -> None:
        """Lets worlds leave off, wherever they are."""
        self.active[np.atleast_1d(np.asarray(ids, dtype=np.intp))] = False

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle of those who are at it."""
        rows = np.flatnonzero(self.active)
        if not len(rows):
            return
        self._clock[rows] += self._period
        self.seconds[rows] += self._period
        kind, clock = self._kind[rows], self._clock[rows]
        ends = self._ends[rows, kind]
        self.targets[rows] = self._at(rows, kind, clock, ends)
        over = clock >= ends[:, -1] - 1e-9
        if self._falls is not None:
            lying = self._falls.fallen[rows]
            again = over & lying & ((clock >= ends[:, -1] + SETTLE_SECONDS) | self._rolled(kind))
            over &= ~lying
            self._start(rows[again], self._falls.lying[rows[again]])
        self.done[rows[over]], self.active[rows[over]] = True, False

    def _at(self, rows: Indices, kind: Indices, clock: Floats, ends: Floats) -> Floats:
        """Where the joints are to be `clock` (n,) after the beginning, (n, motors)."""
        last = ends.shape[1] - 1
        frame = np.minimum((clock[:, None] >= ends).sum(axis=1), last)
        before = np.maximum(frame - 1, 0)
        each = np.arange(len(rows))
        since = np.where(frame > 0, ends[each, before], 0.0)
        share = np.minimum((clock - since) / np.maximum(ends[each, frame] - since, self._period), 1.0)[:, None]
        start = np.where(frame[:, None] > 0, self._poses[rows, kind, before], self._from[rows])
        return np.asarray(start + share * (self._poses[rows, kind, frame] - start))

    @staticmethod
    def _rolled(kind: Indices) -> Bools:
        """Who only rolled over and need not come to rest before it goes on, (n,)."""
        return np.asarray((kind == Lying.LEFT) | (kind == Lying.RIGHT))
