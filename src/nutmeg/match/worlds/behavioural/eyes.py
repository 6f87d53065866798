"""Settings of the senses of a player of the behavioural world, read from a TOML file.

    eyes = load_eyes("nao")                # or the path of your own
    eyes.cameras.focal                     # 360.8 pixels
    deaf = replace(eyes, voices=VoicesSettings(loss=1.0))

The numbers are those of NaOISIS (seed 002) where it has some; every number's origin is in the file. Frames: the body's
has x ahead, y to the left and z up, its origin between the feet. Yaw is to the left and pitch upwards, as everywhere in
the behavioural world. NaOISIS turns the head by rotations about y, which are positive downwards; its limits
(-35 to +30 degrees) are therefore -30 to +35 degrees upwards here. They are in `settings.HeadSettings`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from nutmeg.base.settings import Bounded, Bounds, above, at_least, check_bounds, names_in, read_named
from nutmeg.model.sensors import CameraSettings

EYES_FOLDER = Path(__file__).parent / "data" / "eyes"

Place = tuple[float, float, float]
Share = Annotated[float, Bounds(0.0, 1.0)]
NotNegative = Annotated[float, at_least(0.0)]


@dataclass(frozen=True, kw_only=True)
class CamerasSettings(Bounded):
    """The two cameras of a robot."""

    top: Place
    """Where the upper one is while the head looks straight ahead, m from between the feet."""
    bottom: Place
    """Where the lower one is, m from between the feet."""
    bottom_tilt_degrees: float
    """How far the lower one looks further down than the upper one."""
    diagonal_degrees: Annotated[float, above(0.0, up_to=179.9)]
    """Opening angle from corner to corner of a picture."""
    width: Annotated[int, at_least(8)]
    """The width of a picture, pixels."""
    height: Annotated[int, at_least(8)]
    """The height of a picture, pixels."""
    neck: Place
    """The point about which the head turns, m from between the feet."""

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
    """Width of a standing robot, for what it hides, m."""
    height: float
    """The height of a robot that stands, m."""
    waistband: float
    """Height of the coloured band that shows the team, m."""
    lying_width: float
    """Width of a robot that lies, m."""
    lying_height: float
    """Height of a robot that lies, m."""


@dataclass(frozen=True, kw_only=True)
class VisionSettings:
    """How well things are recognised in pictures."""

    pixel_noise: NotNegative
    """Standard deviation of a place in a picture, pixels, across and up."""
    sway: NotNegative
    """Standard deviation of the unknown tilt of a walking trunk, ahead and sideways, rad; 0 for a robot that stands."""
    turn_noise: NotNegative
    """Standard deviation of the direction in which a crossing of lines points, rad."""
    ball_range: float
    """Largest distance at which balls are recognised, m."""
    post_range: float
    """Largest distance at which goal posts are recognised, m."""
    robot_range: float
    """Largest distance at which robots are recognised, m."""
    team_range: float
    """Largest distance at which robots' waistbands are recognised, m."""
    mark_range: float
    """Largest distance at which crossings, marks and circles are recognised, m."""
    miss_ball: Share
    """Probability that a ball in view is not recognised in a picture."""
    miss_post: Share
    """Probability that a goal post in view is not recognised in a picture."""
    miss_robot: Share
    """Probability that a robot in view is not recognised in a picture."""
    miss_mark: Share
    """Probability that a crossing, mark or circle in view is not recognised in a picture."""
    ghost_ball: Share
    """Probability of a false ball in a cycle in which none is recognised."""
    ghost_robot: Share
    """Probability of a robot that is not there, in a cycle."""
    ghost_mark: Share
    """Probability of a crossing that is not there, in a cycle."""
    numbers: bool = False
    """Whether players' numbers are recognised as well as their team."""
    range_noise: NotNegative = 0.0
    """Standard deviation of a distance that is measured directly, as a share of it (as in the 3D simulation league); 0
    where distances come from places in a picture."""
    hides: bool = True
    """Whether robots and posts hide what is behind them (not so in the 3D simulation league)."""
    names: bool = False
    """Whether it is recognised which of its kind a crossing, mark or post is (as in the 3D simulation league)."""

    def __post_init__(self) -> None:
        check_bounds(self)
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
    """Nearer things give no answer, m."""
    farthest: float
    """Farther things give no answer, m."""
    noise: float = 0.0
    """Standard deviation of a distance, m."""


@dataclass(frozen=True, kw_only=True)
class VoicesSettings(Bounded):
    """How messages between team-mates get lost and how long they take."""

    loss: Share
    """Probability that a message does not reach a team-mate."""
    delay: Annotated[float, Bounds(0.0, 10.0, "s")] = 0.0
    """How long a message takes, rounded to decision cycles. Beliefs that the world shares between team-mates by itself
    have no delay."""


@dataclass(frozen=True, kw_only=True)
class TrackerSettings:
    """Settings of a player's filters; a cycle is the world's decision cycle."""

    move_noise: float
    """Standard deviation of the place that each cycle on the feet adds, m."""
    move_share: float
    """Standard deviation of the place that each cycle on the feet adds, as a share of the odometry's distance."""
    turn_noise: float
    """Standard deviation of the heading that each cycle on the feet adds, rad."""
    turn_share: float
    """Standard deviation of the heading that each cycle on the feet adds, as a share of the odometry's turn."""
    fallen_noise: float
    """Standard deviation of the place that each cycle of falling, lying and getting up adds, m."""
    fallen_turn_noise: float
    """Standard deviation of the heading that each cycle of falling, lying and getting up adds, rad."""
    gate: float
    """A sighting is matched to a landmark only if its squared distance, in standard deviations, is below this."""
    rival_gate: float
    """A sighting is matched to a landmark only if the squared distance to every other one of its kind is above this."""
    mark_floor: float
    """Least standard deviation of a measured place of a landmark, m."""
    ball_push: float
    """Standard deviation of the ball's velocity that each cycle adds, m/s."""
    ball_gate: float
    """A ball whose squared distance from its prediction, in standard deviations, exceeds this was kicked, or is
    false."""
    ball_told: float
    """A ball that was not seen for this time is taken from team-mates' messages, s."""
    others_drift: float
    """Assumed speed of other players, m/s."""
    others_gate: float
    """A sighted robot is matched to a known one within this distance, m, plus the distance it may have walked."""
    others_memory: float
    """A player that was not seen for this time may be replaced by another one, s."""
    lost: float
    """A player relocates itself when this share of about the last twenty landmarks was not matched."""
    uses_sonar: bool = True
    """Whether sonars correct the estimated places of other players."""
    others_speed: float = 0.3
    """Standard deviation of other players' velocities along an axis, m/s."""
    others_time: float = 1.0
    """How long other players keep a velocity, s."""
    others_noise: float = 0.05
    """Standard deviation of a seen robot's place in addition to the error of the sighting, m: its trunk sways, and the
    player does not know exactly where it is itself."""
    slip_floor: float = 0.0
    """Deviation of the slip of a player that stands, m/s: how much faster it may be than its odometry says. Slip is
    estimated where this is above 0."""
    slip_share: float = 0.0
    """Standard deviation of the slip of a walking player, as a share of its speed."""
    slip_fallen: float = 0.0
    """Standard deviation of the slip of a player that falls, lies or gets up, m/s."""
    slip_time: float = 0.5
    """Duration of a slip, s."""
    ball_sway: float = 0.0
    """Standard deviation of the ball's place that each cycle adds because the trunk sways, which odometry does not
    show, m."""
    ball_memory: float = 1.5
    """A ball that was not seen for this long may be anywhere, s."""
    ball_doubts: int = 1
    """How many sightings of a ball that is not where it should be are taken for false ones."""
    kick_speed: float = 1.5
    """Deviation of the velocity of a ball that has been kicked, m/s."""
    ball_slide: float = 0.0
    """Variance that a second adds to the velocity of a rolling ball along its way, for each m^2/s^2, 1/s."""


@dataclass(frozen=True, kw_only=True)
class EyesSettings:
    """All senses; every number's origin is in `source`."""

    name: str
    """The name of the settings: that of their file."""
    cameras: CamerasSettings
    """Where the cameras are and what they show."""
    bodies: BodiesSettings
    """How large robots look to others."""
    vision: VisionSettings
    """How well things are recognised."""
    sonar: SonarSettings
    """Where the sonars look and how far."""
    voices: VoicesSettings
    """How messages between team-mates get lost."""
    tracker: TrackerSettings
    """How beliefs are made."""
    lens: CameraSettings | None = None
    """Lens and image sensor of both cameras, for their pictures; without them a camera is a perfect pinhole."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Where each number comes from."""


def eyes_names() -> list[str]:
    """The senses that come with Nutmeg."""
    return names_in(EYES_FOLDER)


def load_eyes(name: str | Path = "nao") -> EyesSettings:
    """The senses of that name, or of a user's own file (a path ending in `.toml`)."""
    return read_named(name, EYES_FOLDER, EyesSettings, "pair of eyes")
