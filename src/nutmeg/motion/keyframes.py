"""Motions through keyframes: get-ups, kicks and dives as files, and how they are played.

    format = 1
    robot = "nao-spark"
    name = "kick"                                   # its name; a get-up has, instead:
    lying = "front"                                 # the side below: "front", "back" or "side" (the left)
    ball = [0.2, 0.05]                              # a kick: where the ball lies, ahead and to the left [m]

    [[frame]]
    seconds = 0.3                                   # from the frame before, or from the posture at the beginning
    angles = { llj2 = 12.0, rlj2 = 12.0 }           # degrees

    [[frame]]
    seconds = 0.4
    pose = "ready"                                  # a pose of the robot

Joints that a frame does not name are as in the frame before; before the first they are as in `ready`. A joint of the
left side stands for its mirror image on the right as well, unless that is named itself. Files describe kicks with the
left foot, and dives to the left; `motion_path` gives the mirror image, too. Between frames joints go along straight
lines, as fast drives do best.

    motion = shipped_motion("nao-spark", "kick")
    path = motion_path(motion, table, mirror, start)        # (T, motors), one row for each cycle

    get_up = GetUp(worlds, "nao", shipped_get_ups("nao-spark"), falls=falls)
    get_up.begin(ids, Lying.FRONT)          # from here on these worlds follow the motion for it
    get_up.sample(time)                     # once a cycle, after the senses and the fall detector
    get_up.targets                          # (N, motors) joint angles to go to
    get_up.done                             # (N,) upright, or at the end of the motion
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from nutmeg.base.errors import FileError, ModelError, UnknownNameError, UsageError
from nutmeg.base.journal import write_file
from nutmeg.base.settings import above, check_bounds, read, read_cached, read_toml, toml_text
from nutmeg.model.posing import pose_angles
from nutmeg.motion.bodies import Mirror, is_left, other_side
from nutmeg.motion.correction import FROM_BACK, FROM_FRONT, Correction, Corrector, correction_limits
from nutmeg.motion.dribble import FILE as DRIBBLING_FILE
from nutmeg.motion.inertial import FallDetector, Lying

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies

KEYFRAMES_FOLDER = Path(__file__).parent / "data" / "keyframes"
"""The motions that come with Nutmeg."""
FORMAT = 1
MAX_FRAME_SECONDS = 5.0
"""The longest time from one frame to the next [s]."""
Side = Literal["front", "back", "side"]
LYING_SIDES: tuple[Side, ...] = ("front", "back", "side")
"""Sides from which a get-up may begin; from `side` a robot rolls onto its front or back, and gets up from there."""
PLAYED_MOTIONS = ("kick", "pass", "shot", "dive", *LYING_SIDES)
"""Motions that players of a match play; a get-up is called after the side that is below."""
LIMIT_SLACK = 0.1
"""Angle by which a keyframe may exceed its joint's limit, because numbers are rounded [degrees]."""
SETTLE_SECONDS = 0.2
"""Time for which a robot settles after the last pose of a get-up before it counts as up or not [s]."""
FADE_SECONDS = 0.3
"""Time in which the last correction of a get-up fades [s]."""


LEG_LENGTH = 0.26
"""Distance from the hip to the sole [m]."""
KICKING_JOINTS, STANDING_JOINTS = ("llj2", "llj6"), ("rlj2", "rlj6")
"""Hip and ankle roll joints of the kicking and of the standing leg, for a kick with the left foot."""
STANCE_SPREAD, STANCE_SHIFT = 0.75, -0.3
"""Factors of `spread_stance` for the kicking leg and for the standing leg (best of nine combinations)."""


@dataclass(frozen=True, kw_only=True)
class Keyframe:
    """One pose of a motion."""

    seconds: Annotated[float, above(0.0, "s", up_to=MAX_FRAME_SECONDS)]
    """Time from the frame before [s]."""
    pose: str = ""
    """A named pose of the robot that the frame begins with; empty for the frame before."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Angles of joints that differ from it [degrees]."""

    def __post_init__(self) -> None:
        check_bounds(self)
        for joint, angle in self.angles.items():
            if not math.isfinite(angle):
                raise ValueError(f"the angle of {joint} is {angle}; it must be a number of degrees.")


@dataclass(frozen=True, kw_only=True)
class KeyframeMotion:
    """A motion as its file has it."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    name: str = ""
    """Name of the motion; a get-up needs none."""
    lying: Literal["no", "front", "back", "side"] = "no"
    """A get-up: the side of the robot that is below at the beginning; other motions begin from standing."""
    about: str = ""
    """Origin of the motion, in a sentence."""
    ball: tuple[float, float] = (0.0, 0.0)
    """A kick: best place of the ball, ahead of the torso and to the left of it [m]. A dive: where the ball passes that
    its correction is told as (0, 0)."""
    tolerance: float = 0.0
    """A kick: largest distance of the ball from there along each axis [m]."""
    distance: float = 0.0
    """A kick: measured distance that the ball rolls [m]."""
    stance: float = 0.0
    """A kick: distance between the feet when it was learned [m]."""
    strike: int = 1
    """A kick: number of the frame, from 1, before which the ball is hit."""
    ahead: Mapping[str, float] = field(default_factory=dict)
    """A kick: changes of joints for each metre that the ball lies farther ahead, from the second frame to the strike
    [degrees/m]."""
    left: Mapping[str, float] = field(default_factory=dict)
    """A kick: changes of joints for each metre that the ball lies farther to the left [degrees/m]."""
    balanced: bool = False
    """A get-up: whether the policy of a walk leads the robot into its stance and balances it, instead of a path of its
    joints; only for players that walk by a policy."""
    correction: Correction | None = None
    """A network that adapts the motion to the robot's sensors; None plays it as it is."""
    frame: tuple[Keyframe, ...]
    """The poses, the first one first."""

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")
        if not self.frame:
            raise ValueError("has no [[frame]]; a motion needs at least one.")
        if not self.name and self.lying == "no":
            raise ValueError('has no name; a motion needs one, or lying = "front", "back" or "side" for a get-up.')
        if not 1 <= self.strike <= len(self.frame):
            raise ValueError(f"strike is {self.strike}; it must be the number of a frame, 1..{len(self.frame)}.")

    def __str__(self) -> str:
        return f"motion {self.name!r} of {self.robot}" if self.name else f"get-up of {self.robot} from the {self.lying}"

    @property
    def seconds(self) -> float:
        """Duration of the motion [s]."""
        return sum(frame.seconds for frame in self.frame)

    def with_numbers(self, numbers: Mapping[str, float]) -> KeyframeMotion:
        """The motion with other numbers, by their names.

        `frame2.seconds` [s], `frame2.llj3` [degrees], `ball.ahead`, `ball.left` [m], `ahead.llj3` [degrees/m].
        """
        frames, ball = list(self.frame), dict(zip(("ball.ahead", "ball.left"), self.ball, strict=True))
        slopes = {"ahead": dict(self.ahead), "left": dict(self.left)}
        for name, value in numbers.items():
            head, _, key = name.partition(".")
            known = {f"frame{place + 1}": place for place in range(len(frames))}
            if name in ball:
                ball[name] = value
                continue
            if head in slopes and key:
                slopes[head][key] = value
                continue
            if head not in known or not key:
                raise UnknownNameError("frame", head, known)
            one = frames[known[head]]
            change = {"seconds": value} if key == "seconds" else {"angles": {**one.angles, key: value}}
            try:
                frames[known[head]] = dataclasses.replace(one, **change)
            except ValueError as error:
                raise UsageError(f"{name}: {error}") from None
        place = ball["ball.ahead"], ball["ball.left"]
        return dataclasses.replace(self, ball=place, frame=tuple(frames), ahead=slopes["ahead"], left=slopes["left"])


def read_motion(path: Path) -> KeyframeMotion:
    """The motion in a TOML file."""
    return _with_folder(read(path, KeyframeMotion), path)


def _with_folder(motion: KeyframeMotion, path: Path) -> KeyframeMotion:
    """The motion with the folder of its file, where the weights of its correction are."""
    if motion.correction is None:
        return motion
    return dataclasses.replace(motion, correction=dataclasses.replace(motion.correction, folder=str(path.parent)))


def motion_text(motion: KeyframeMotion) -> str:
    """A motion as the text of its file."""
    plain = {one.name: one.default for one in dataclasses.fields(KeyframeMotion)}
    apart = ("format", "frame", "correction", "ahead", "left")
    head = {name: getattr(motion, name) for name in plain if name not in apart}
    text = toml_text({"format": motion.format, **{k: v for k, v in head.items() if v != plain[k]}})
    slopes = {"ahead": motion.ahead, "left": motion.left}
    text += "".join(f"{axis} = {_inline(named)}\n" for axis, named in slopes.items() if named)
    if motion.correction is not None:
        table = {name: value for name, value in dataclasses.asdict(motion.correction).items() if name != "folder"}
        text += "\n" + toml_text({"correction": table})
    for frame in motion.frame:
        lines = ["\n[[frame]]", f"seconds = {frame.seconds:.3g}"]
        lines += [f'pose = "{frame.pose}"'] if frame.pose else []
        lines += [f"angles = {_inline(frame.angles)}"] if frame.angles else []
        text += "\n".join(lines) + "\n"
    return text


def _inline(degrees: Mapping[str, float]) -> str:
    """Joints and their numbers as an inline table."""
    return "{ " + ", ".join(f"{joint} = {value:.1f}" for joint, value in degrees.items()) + " }"


def write_motion(path: Path, motion: KeyframeMotion) -> None:
    """Writes a motion as a file."""
    write_file(path, motion_text(motion))


def shipped_motion(robot: str, name: str, kind: str = "") -> KeyframeMotion:
    """A motion of a robot that comes with Nutmeg, other than a get-up: that of its type, where it has one of its own.

    A type's own file is called `robot-type-name.toml`; all other types share `robot-name.toml`.
    """
    known = [one.removeprefix(f"{robot}-") for one in _shipped() if one.startswith(f"{robot}-")]
    others = [one for one in known if not one.endswith(LYING_SIDES)]
    if name not in others:
        raise UnknownNameError(f"motion of {robot}", name, others)
    return _read_shipped(f"{robot}-{kind}-{name}" if f"{kind}-{name}" in others else f"{robot}-{name}")


@lru_cache(maxsize=64)
def _read_shipped(name: str) -> KeyframeMotion:
    path = KEYFRAMES_FOLDER / f"{name}.toml"
    return _with_folder(read_cached(path, KeyframeMotion), path)


def shipped_get_up(robot: str, lying: Side, kind: str = "", actuation: str = "ideal") -> KeyframeMotion:
    """The get-up of a robot that comes with Nutmeg: that of its type `kind`, where the type has one of its own.

    A type's own file is called `robot-type-side.toml`; all other types share `robot-side.toml`. Drives that are not
    ideal (servo, motoflex) have `robot-servo-side.toml` where there is one: their joints are stronger and follow later.
    """
    names = [f"{robot}-{kind}-{lying}"] if kind else []
    names += [f"{robot}-servo-{lying}"] if actuation != "ideal" else []
    shared, known = f"{robot}-{lying}", [one for one in _shipped() if one.endswith(LYING_SIDES)]
    name = next((one for one in names if one in known), shared)
    if name not in known:
        raise UnknownNameError("get-up", name, known)
    return _read_shipped(name)


def shipped_get_ups(robot: str, kind: str = "", actuation: str = "ideal") -> dict[Side, tuple[KeyframeMotion]]:
    """All shipped get-ups of a robot, or of one of its types, for an actuation.

    Not every robot has one for every side.
    """
    known = [side for side in LYING_SIDES if f"{robot}-{side}" in _shipped()]
    sides = known or LYING_SIDES[:1]  # for a robot without any, the error says which there are
    return {side: (shipped_get_up(robot, side, kind, actuation),) for side in sides}


def own_motions(folders: Sequence[Path], robot: str, kind: str) -> dict[str, KeyframeMotion]:
    """The motions in folders, such as those of `nutmeg train kick`, by name; get-ups are `front`, `back` and `side`.

    A motion with networks is one only for the types of the robot that they are for. Of two with the same name the one
    in the first folder counts.
    """
    found: dict[str, KeyframeMotion] = {}
    for _, motion in _motions_in(folders, robot):
        if motion.correction is None or kind in motion.correction.weights:
            found.setdefault(motion.name or motion.lying, motion)
    return found


def check_motions(folders: Sequence[Path], robot: str, kinds: Sequence[str]) -> None:
    """Refuses folders with a motion that a robot cannot play, or that robots of none of these types would play."""
    for path, motion in _motions_in(folders, robot):
        if motion.correction is None:
            continue
        played = [kind for kind in dict.fromkeys(kinds) if kind in motion.correction.weights]
        if not played:
            raise UsageError(
                f"{path}: its network is for {', '.join(motion.correction.weights)}, but the robots of these players "
                f"are of {', '.join(dict.fromkeys(kinds))}. Train it for one of these types."
            )
        for kind in played:
            motion.correction.network(kind)  # read now: a file that is missing must not end a match at the first kick


def _motions_in(folders: Sequence[Path], robot: str) -> Iterator[tuple[Path, KeyframeMotion]]:
    """The motions in folders, with their files; refuses what players of a match do not play."""
    needed = "needed is a folder with motions, such as one of `nutmeg train kick`, `dive`, `get-up` or `dribble`."
    for folder in folders:
        if not folder.is_dir():
            raise FileError(folder, f"{'is a file' if folder.exists() else 'does not exist'}; {needed}")
        paths = sorted(folder.glob("*.toml"))
        if not paths:
            raise FileError(folder, f"has no motions; {needed}")
        for path in paths:
            if path.name == DRIBBLING_FILE:
                continue
            if "frame" not in read_toml(path):
                raise FileError(path, f"is no motion, because it has no [[frame]]; {needed}")
            motion = read_motion(path)
            if motion.robot != robot:
                raise FileError(path, f"is a motion of {motion.robot!r}; these players have a {robot!r}.")
            if (name := motion.name or motion.lying) not in PLAYED_MOTIONS:
                raise UnknownNameError("motion", name, PLAYED_MOTIONS, where=str(path))
            yield path, motion


def _shipped() -> list[str]:
    return sorted(path.stem for path in KEYFRAMES_FOLDER.glob("*.toml"))


def motion_poses(motion: KeyframeMotion, table: RobotTable, mirror: Mirror) -> Floats:
    """The poses of a motion, (frames, motors) [rad]; joints that the robot lacks or cannot reach are errors."""
    if motion.robot != table.settings.name:
        raise UsageError(
            f"the {motion} is for the robot {motion.robot!r}, but {table.name!r} is a "
            f"{table.settings.name!r}. Use one whose file says robot = {table.settings.name!r}."
        )
    now = pose_angles(table.settings, table, "ready")[table.motor_joints]
    poses = []
    for number, frame in enumerate(motion.frame, start=1):
        now = pose_angles(table.settings, table, frame.pose)[table.motor_joints] if frame.pose else now.copy()
        for joint, degrees in frame.angles.items():
            motor = _motor(joint, degrees, table, f"{motion}, frame {number}")
            now[motor] = math.radians(degrees)
            other = other_side(joint, table.motors)
            if is_left(joint) and other and other not in frame.angles:
                now[table.motors.index(other)] = mirror.sign[motor] * math.radians(degrees)
        poses.append(now)
    limits = table.limits[table.motor_joints]
    return np.clip(np.stack(poses), limits[:, 0], limits[:, 1])


def motion_slopes(motion: KeyframeMotion, table: RobotTable) -> Floats:
    """Changes of the poses for each metre of the ball's place ahead and to the left, (frames, motors, 2) [rad/m]."""
    slopes = np.zeros((len(motion.frame), len(table.motors), 2))
    for axis, named in enumerate((motion.ahead, motion.left)):
        for joint, degrees in named.items():
            if joint not in table.motors:
                raise UnknownNameError("joint", joint, table.motors, where=str(motion))
            slopes[1 : motion.strike, table.motors.index(joint), axis] = math.radians(degrees)
    return slopes


def _motor(joint: str, degrees: float, table: RobotTable, where: str) -> int:
    """The motor of a joint; an angle outside its limits is an error."""
    if joint not in table.motors:
        raise UnknownNameError("joint", joint, table.motors, where=where)
    motor = table.motors.index(joint)
    low, high = np.degrees(table.limits[table.motor_joints[motor]])
    if not low - LIMIT_SLACK <= degrees <= high + LIMIT_SLACK:
        raise UsageError(f"{where}: {joint} is {degrees:g} degrees; allowed is {low:.1f}..{high:.1f}.")
    return motor


def motion_path(
    motion: KeyframeMotion,
    table: RobotTable,
    mirror: Mirror,
    start: Floats,
    *,
    ball: tuple[float, float] = (0.0, 0.0),
    mirrored: bool = False,
    period: float = 0.02,
) -> Floats:
    """Joint angles from a posture `start` (motors,) on, one row for each cycle, (T, motors) [rad].

    `ball` is the place of the ball relative to its best place, ahead and to the left [m]; to the right if mirrored.
    """
    low, high = table.limits[table.motor_joints].T
    poses = np.clip(motion_poses(motion, table, mirror) + motion_slopes(motion, table) @ np.array(ball), low, high)
    poses = np.concatenate([start[None], mirror(poses) if mirrored else poses])
    times = np.cumsum([0.0, *(frame.seconds for frame in motion.frame)])
    samples = np.arange(1, int(np.ceil(times[-1] / period - 1e-9)) + 1) * period
    return np.stack([np.interp(samples, times, column) for column in poses.T], axis=1)


def spread_stance(motion: KeyframeMotion, table: RobotTable, stance: float) -> KeyframeMotion:
    """A kick adapted to feet that stand `stance` apart [m], with the same path of the kicking foot below the torso.

    The robot moves about the standing foot, which is farther aside in a wider stance. Therefore the kicking leg is
    spread in the air (`STANCE_SPREAD` of the difference), and the standing leg shifts the weight less (`STANCE_SHIFT`);
    both were the best of nine combinations. Ankles keep the soles level.
    """
    wider = math.degrees((stance - motion.stance) / LEG_LENGTH)
    frames = []
    for number, frame in enumerate(motion.frame, start=1):
        more, angles = (STANCE_SPREAD * wider if 1 < number <= motion.strike else 0.0), dict(frame.angles)
        for (hip, ankle), change in ((KICKING_JOINTS, more), (STANDING_JOINTS, STANCE_SHIFT * wider)):
            for joint, sign in ((hip, 1.0), (ankle, -1.0)):
                if joint in angles:
                    low, high = np.degrees(table.limits[table.joints.index(joint)]).tolist()
                    angles[joint] = min(max(angles[joint] + sign * change, low), high)
        frames.append(dataclasses.replace(frame, angles=angles))
    return dataclasses.replace(motion, stance=stance, frame=tuple(frames))


GetUps = Mapping[Side, Sequence[KeyframeMotion]]
"""The get-ups for each side: one for all worlds, or one for each world."""


class GetUp:
    """One robot of every world, getting up after `begin`, each at its own time.

    A robot on its side rolls over first. With a fall detector, a robot that still lies after a motion plays the motion
    for its present side, as often as necessary; without one each motion is played once.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        motions: for `front`, `back` and `side`, one motion or N; a side that is missing cannot be begun.
        falls: detects which robots still lie; None plays each motion once.
        period: control cycle [s].
    """

    def __init__(
        self,
        worlds: Bodies,
        robot: str,
        motions: GetUps,
        *,
        falls: FallDetector | None = None,
        period: float = 0.02,
    ) -> None:
        table, count = worlds.robot(robot).table, worlds.count
        self._falls, self._period, self._qpos = falls, period, worlds.qpos
        self._addresses = table.angles[table.motor_joints]
        self._limits = correction_limits(table)
        mirror = Mirror.of(worlds.scene, table)
        frames = max((len(motion.frame) for each in motions.values() for motion in each), default=1)
        self._poses = np.zeros((count, len(Lying), frames, len(table.motors)))
        self._ends = np.zeros((count, len(Lying), frames))
        self._known = np.zeros(len(Lying), dtype=bool)
        self._ends_balanced = np.zeros((count, len(Lying)), dtype=bool)
        for side, each in motions.items():
            if side not in LYING_SIDES:
                raise UnknownNameError("side to get up from", side, LYING_SIDES)
            if len(each) not in (1, count):
                raise UsageError(f"{len(each)} motions from the {side} for {count} worlds; give one, or one each.")
            kind = {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[side]
            for row, motion in enumerate(each):
                rows = slice(None) if len(each) == 1 else row
                poses, used = motion_poses(motion, table, mirror), len(motion.frame)
                # Motions with fewer frames stay in their last pose.
                self._poses[rows, kind, :used], self._poses[rows, kind, used:] = poses, poses[-1]
                self._ends[rows, kind, :used] = np.cumsum([frame.seconds for frame in motion.frame])
                self._ends[rows, kind, used:] = motion.seconds
                self._ends_balanced[rows, kind] = motion.balanced
            self._known[kind] = True
            if kind == Lying.LEFT:
                self._known[Lying.RIGHT] = True
                self._poses[:, Lying.RIGHT] = mirror(self._poses[:, Lying.LEFT])
                self._ends[:, Lying.RIGHT] = self._ends[:, Lying.LEFT]
        self.active: Bools = np.zeros(count, dtype=bool)
        """Whether each robot is getting up, (N,)."""
        self.done: Bools = np.zeros(count, dtype=bool)
        """Whether each robot has finished since its last `begin`, (N,)."""
        self.tries: Indices = np.zeros(count, dtype=np.intp)
        """Number of motions played since `begin`, (N,)."""
        self.seconds: Floats = np.zeros(count)
        """Time since `begin`, (N,) [s]."""
        self.targets: Floats = worlds.qpos[:, self._addresses]
        """Joint angles to go to, (N, motors) [rad]."""
        self._correctors = self._find_correctors(worlds, robot, motions)
        self._offsets: Floats = np.zeros_like(self.targets)
        self._settle = np.full(len(Lying), SETTLE_SECONDS)
        self._settle[[int(lying) for lying in self._correctors]] += FADE_SECONDS
        self._from: Floats = self.targets.copy()
        self._kind = np.zeros(count, dtype=np.intp)
        self._clock: Floats = np.zeros(count)

    def _find_correctors(self, worlds: Bodies, robot: str, motions: GetUps) -> dict[Lying, Corrector]:
        """The networks that correct motions; without senses, motions are played as they are."""
        found: dict[Lying, Corrector] = {}
        sides: tuple[tuple[Side, Lying], ...] = (("front", Lying.FRONT), ("back", Lying.BACK))
        for side, kind in sides:
            each = motions.get(side, ())
            correction = each[0].correction if each else None
            if any(motion.correction != correction for motion in each):
                raise UsageError(f"the motions from the {side} have different corrections; all worlds need the same.")
            if correction is not None and self._falls is not None:
                found[kind] = Corrector(worlds, robot, correction, symmetric=True, period=self._period)
        return found

    def begin(self, ids: ArrayLike, kind: ArrayLike) -> None:
        """Starts the get-ups of worlds `ids` (n,) from the sides `kind`: a `Lying` for all, or (n,)."""
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
        for side, corrector in self._correctors.items():
            corrector.begin(rows[kinds == side], FROM_FRONT if side == Lying.FRONT else FROM_BACK)

    @property
    def balanced(self) -> Bools:
        """Whether the policy of a walk should take over at the end of each robot's motion, (N,)."""
        return np.asarray(self._ends_balanced[np.arange(len(self._kind)), self._kind])

    def stop(self, ids: ArrayLike) -> None:
        """Ends the get-ups of these worlds at once."""
        self.active[np.atleast_1d(np.asarray(ids, dtype=np.intp))] = False

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle of the robots that are getting up."""
        rows = np.flatnonzero(self.active)
        if not len(rows):
            return
        self._clock[rows] += self._period
        self.seconds[rows] += self._period
        kind, clock = self._kind[rows], self._clock[rows]
        ends = self._ends[rows, kind]
        self.targets[rows] = self._at(rows, kind, clock, ends)
        for side, corrector in self._correctors.items():
            chosen = kind == side
            self._correct(corrector, rows[chosen], clock[chosen], ends[chosen, -1])
        over = clock >= ends[:, -1] - 1e-9
        if self._falls is not None:
            lying = self._falls.fallen[rows]
            # Robots that only rolled over go on at once; the others come to rest before they are judged.
            rolled = (kind == Lying.LEFT) | (kind == Lying.RIGHT)
            again = over & lying & ((clock >= ends[:, -1] + self._settle[kind]) | rolled)
            over &= ~lying
            self._start(rows[again], self._falls.lying[rows[again]])
        self.done[rows[over]], self.active[rows[over]] = True, False

    def _correct(self, corrector: Corrector, rows: Indices, clock: Floats, ends: Floats) -> None:
        """Adds the network's output to the targets of some robots; after the motion it fades, as in training."""
        assert self._falls is not None
        senses, now = self._falls.senses, clock <= ends + 1e-9
        if now.any():
            chosen = rows[now]
            self._offsets[chosen] = corrector.correct(chosen, (clock / ends)[now], senses.gyro, senses.up)
        share = np.clip((clock - ends) / FADE_SECONDS, 0.0, 1.0)[:, None]
        fading = 1.0 - share * share * (3 - 2 * share)
        self.targets[rows] = np.clip(self.targets[rows] + fading * self._offsets[rows], *self._limits)

    def _at(self, rows: Indices, kind: Indices, clock: Floats, ends: Floats) -> Floats:
        """Target angles at times `clock` (n,) after the beginning, (n, motors) [rad]."""
        last = ends.shape[1] - 1
        frame = np.minimum((clock[:, None] >= ends).sum(axis=1), last)
        before = np.maximum(frame - 1, 0)
        each = np.arange(len(rows))
        since = np.where(frame > 0, ends[each, before], 0.0)
        share = np.minimum((clock - since) / np.maximum(ends[each, frame] - since, self._period), 1.0)[:, None]
        start = np.where(frame[:, None] > 0, self._poses[rows, kind, before], self._from[rows])
        return np.asarray(start + share * (self._poses[rows, kind, frame] - start))


class SmoothPath:
    """A path through poses that starts and stops gently at each, and may be repeated.

        wave = SmoothPath(times=[0.0, 0.5, 1.0], angles=poses, repeat_from=0.5)     # poses (3, motors)
        robot.command = wave.angles(t)

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
        """The pose at a time, (motors,), or at N times, (N, motors)."""
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
    """The pose `rest` (motors,) with other angles for the named motors."""
    pose = rest.copy()
    pose[table.motor_index(list(changes))] = list(changes.values())
    return pose
