"""What a player of the behavioural world sees, hears and says with: settings, read from a TOML file.

    eyes = load_eyes("nao")                # or the path of your own
    eyes.cameras.focal                     # 360.8 pixels
    deaf = replace(eyes, voices=VoicesSettings(loss=1.0))

The numbers are those of NaOISIS (seed 002) where it has some; every number's origin is in the file. Frames: the body's
has x ahead, y to the left and z up, its origin between the feet. Yaw is to the left and pitch upwards, as everywhere in
the behavioural world. NaOISIS turns the head by rotations about y, which are positive downwards; its limits
(-35 to +30 degrees) are therefore -30 to +35 degrees upwards here. Those limits are the neck's, in `body_settings`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import read_cached

FOLDER = Path(__file__).parent.parent / "data" / "eyes"

Place = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class CamerasSettings:
    """The two cameras of a robot."""

    top: Place
    """Where the upper one is while the head looks straight ahead, m from between the feet."""
    bottom: Place
    """The same of the lower one."""
    bottom_tilt_degrees: float
    """How far the lower one looks further down than the upper one."""
    diagonal_degrees: float
    """From corner to corner of a picture."""
    width: int
    """Of a picture, pixels."""
    height: int
    """Of a picture, pixels."""
    neck: Place
    """The point about which the head turns, m from between the feet."""

    def __post_init__(self) -> None:
        """Refuse what no camera can have."""
        if not 0.0 < self.diagonal_degrees < 180.0:
            raise ValueError(f"diagonal_degrees is {self.diagonal_degrees}; it must lie between 0 and 180.")
        if self.width < 8 or self.height < 8:
            raise ValueError(f"a picture of {self.width} x {self.height} pixels is too small; at least 8 x 8.")

    @property
    def focal(self) -> float:
        """Focal length in pixels: half the picture's diagonal over the tangent of half the angle."""
        return math.hypot(self.width, self.height) / 2 / math.tan(math.radians(self.diagonal_degrees) / 2)

    @property
    def slopes(self) -> tuple[float, float]:
        """Tangents of half the horizontal and half the vertical opening."""
        return self.width / 2 / self.focal, self.height / 2 / self.focal


@dataclass(frozen=True, kw_only=True)
class BodiesSettings:
    """How large robots look."""

    width: float
    """Of who stands, m: what it hides."""
    height: float
    """Of who stands, m."""
    waistband: float
    """Height of the coloured band that tells the team, m."""
    lying_width: float
    """Of who lies, m."""
    lying_height: float
    """Of who lies, m."""


@dataclass(frozen=True, kw_only=True)
class VisionSettings:
    """How well things are recognised in pictures."""

    pixel_noise: float
    """Standard deviation of a place in a picture, pixels, across and up."""
    sway: float
    """Standard deviation of the unknown tilt of a walking trunk, ahead and sideways, rad; who stands has none."""
    turn_noise: float
    """Standard deviation of the direction in which a crossing of lines points, rad."""
    ball_range: float
    """Farther balls are not recognised, m."""
    post_range: float
    """The same of goal posts, m."""
    robot_range: float
    """The same of robots, m."""
    team_range: float
    """Farther robots' waistbands are not recognised, m."""
    mark_range: float
    """Farther crossings, marks and circles are not recognised, m."""
    miss_ball: float
    """Probability that a ball in view is not recognised in a picture."""
    miss_post: float
    """The same of a goal post."""
    miss_robot: float
    """The same of a robot."""
    miss_mark: float
    """The same of a crossing, mark or circle."""
    ghost_ball: float
    """Probability of a ball that is not there, in a cycle in which none is recognised."""
    ghost_robot: float
    """Probability of a robot that is not there, in a cycle."""
    ghost_mark: float
    """Probability of a crossing that is not there, in a cycle."""
    numbers: bool = False
    """Whether players' numbers are recognised as well as their team."""
    range_noise: float = 0.0
    """Standard deviation of a distance that is measured as such, as a share of it (as in the 3D simulation league); 0
    where distances come from places in a picture."""
    hides: bool = True
    """Whether robots and posts hide what is behind them (not so in the 3D simulation league)."""
    names: bool = False
    """Whether it is recognised which of its kind a crossing, mark or post is (as in the 3D simulation league)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        refuse_beyond(self, 0.0, 1.0, "miss_", "ghost_")
        refuse_beyond(self, 0.0, math.inf, "pixel_noise", "sway", "turn_noise", "range_noise")
        if self.ghost_ball + self.ghost_robot + self.ghost_mark > 1.0:
            raise ValueError("ghost_ball, ghost_robot and ghost_mark are together more than 1.")


@dataclass(frozen=True, kw_only=True)
class SonarSettings:
    """The two sonars of a robot."""

    angle_degrees: float
    """How far to its side each looks."""
    opening_degrees: float
    """Width of a sonar's cone."""
    height: float
    """Above the ground, m."""
    nearest: float
    """Nearer things are not told, m."""
    farthest: float
    """Farther things are not told, m."""
    noise: float = 0.0
    """Standard deviation of a distance, m."""


@dataclass(frozen=True, kw_only=True)
class VoicesSettings:
    """Messages."""

    loss: float
    """Probability that a message does not reach a team-mate."""

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        refuse_beyond(self, 0.0, 1.0, "loss")


@dataclass(frozen=True, kw_only=True)
class TrackerSettings:
    """How a player makes beliefs of what it sees; a cycle is the world's decision cycle."""

    move_noise: float
    """Deviation of the place that each cycle on the feet adds, m."""
    move_share: float
    """The same as a part of how far the odometry says to have gone."""
    turn_noise: float
    """Deviation of the heading that each cycle on the feet adds, rad."""
    turn_share: float
    """The same as a part of how far the odometry says to have turned."""
    fallen_noise: float
    """Deviation of the place that each cycle of falling, lying and getting up adds, m."""
    fallen_turn_noise: float
    """The same of the heading, rad."""
    gate: float
    """A sighting is a known landmark's if it is nearer than this (squared, in deviations)."""
    rival_gate: float
    """... and no other landmark of its kind is nearer than this."""
    mark_floor: float
    """What no place of a landmark is measured better than, m."""
    ball_push: float
    """Deviation of the ball's velocity that each cycle adds, m/s."""
    ball_gate: float
    """A ball farther from where it was expected (squared, in deviations) has been kicked, or is none."""
    ball_told: float
    """A ball not seen for this long is believed to be where team-mates tell, s."""
    others_drift: float
    """How fast others are thought to wander, m/s."""
    others_gate: float
    """A robot is one that is known if it is seen nearer to it than this, m, and what it may have wandered."""
    others_memory: float
    """Who was not seen for this long may be forgotten for somebody else, s."""
    lost: float
    """Share of the last about twenty landmarks that fitted nothing at which a player begins anew."""


@dataclass(frozen=True, kw_only=True)
class EyesSettings:
    """All senses; every number's origin is in `source`."""

    name: str
    """The name it is called by, that of its file."""
    cameras: CamerasSettings
    """Where the cameras are and what they show."""
    bodies: BodiesSettings
    """How large robots look to others."""
    vision: VisionSettings
    """How well things are recognised."""
    sonar: SonarSettings
    """The sonars."""
    voices: VoicesSettings
    """Messages."""
    tracker: TrackerSettings
    """How beliefs are made."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Where each number comes from."""


def refuse_beyond(settings: object, least: float, most: float, *names: str) -> None:
    """Raises ValueError if a field whose name begins with one of the names is out of bounds."""
    for each in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, each.name)
        if each.name.startswith(names) and not least <= value <= most:
            raise ValueError(f"{each.name} is {value}; allowed: {least:g} to {most:g}.")


def eyes_names() -> list[str]:
    """The senses that come with Nutmeg."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_eyes(name: str | Path = "nao") -> EyesSettings:
    """The senses of that name, or of a user's own file (a path ending in `.toml`)."""
    if str(name).endswith(".toml"):
        return read_cached(Path(name), EyesSettings)
    if name not in eyes_names():
        raise UnknownNameError("pair of eyes", str(name), eyes_names())
    return read_cached(FOLDER / f"{name}.toml", EyesSettings)
