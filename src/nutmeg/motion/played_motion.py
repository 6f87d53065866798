"""A motion that is played once from standing, such as a kick or a dive: keyframes in a file, and as joint angles.

    format = 1
    robot = "nao-spark"
    name = "kick"
    ball = [0.2, 0.05]                              # a kick: where the ball lies, ahead and to the left [m]

    [[frame]]
    seconds = 0.3                                   # from the frame before, or from how the robot stands
    angles = { llj2 = 12.0, rlj2 = 12.0 }           # degrees

Frames are as in get-ups (`get_up_motion`): a joint that is not named stays, and a joint of the left side stands for its
mirror image too, unless that is named itself. Files describe the motion with the left foot, or to the left; `mirrored`
gives the other. Between frames joints go along straight lines, as fast drives do best.

    motion = shipped_motion("nao-spark", "kick")
    path = motion_path(motion, table, mirror, start)        # (T, motors), one row for each cycle
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg import settings
from nutmeg.errors import FileError, UnknownNameError
from nutmeg.motion.get_up_motion import GetUpFrame, Mirror, frame_poses, frames_text, with_numbers
from nutmeg.recording.toml_text import toml_text

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from nutmeg.base.arrays import Floats
    from nutmeg.body.tables import RobotTable


FORMAT = 1


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
    frame: tuple[GetUpFrame, ...]
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
    names = (path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))
    return sorted(name.removeprefix(head) for name in names if name.startswith(head))


def shipped_motion(robot: str, name: str) -> PlayedMotion:
    """A motion of a robot that comes with Nutmeg."""
    if name not in motion_names(robot):
        raise UnknownNameError(f"motion of {robot}", name, motion_names(robot))
    with resources.as_file(_folder() / f"{robot}-{name}.toml") as path:
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


def _folder() -> Traversable:
    return resources.files("nutmeg.motion") / "data" / "played"
