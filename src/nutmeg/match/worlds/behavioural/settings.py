"""Abilities of robots and ball of the behavioural world: numbers from a TOML file, each with its source beside it.

    settings = load_behaviour("nao")                         # or the path of your own
    settings.walk.ahead                                      # 0.2 m/s
    faster = settings.changed({"walk.ahead": 0.3, "kick.straight_distance": 4.0})
    table = numbers_of([settings, faster])                   # (2,) records for kernels: table[1].walk.ahead is 0.3

`nao` has the numbers of NaOISIS (seed 002) where the paper gives any; `nao-spark` mimics the robot of the 3D simulation
league as it walks, kicks and falls in the physical world here. Every number is a plain scalar with a dotted name
(`NAMES`), so that a calibration can list, change and write any of them. Matches of a batch may differ in their numbers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.journal import write_file
from nutmeg.base.records import record_values
from nutmeg.base.settings import Bounded, Bounds, above, at_least, read_named, toml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.records import Records


Positive = Annotated[float, above(0.0)]
NotNegative = Annotated[float, at_least(0.0)]
Share = Annotated[float, Bounds(0.0, 1.0)]
BEHAVIOUR_FOLDER = Path(__file__).parent / "data" / "behaviour"


@dataclass(frozen=True, kw_only=True)
class WalkSettings(Bounded):
    """How a robot walks.

    A commanded velocity (ahead, left, turn) is divided by the limits, axis by axis; where the length of the result is
    above 1, the command is scaled down to 1 (an ellipsoid: full speed ahead leaves nothing for a turn). The walk is
    disturbed on each axis by a normal error, drawn anew in each cycle of 0.1 s, with the standard deviation
    `noise + noise_share * |speed|`, as long as the robot walks.
    """

    ahead: Positive
    """Fastest ahead, m/s."""
    back: Positive
    """Fastest backwards, m/s."""
    side: Positive
    """Fastest to a side, m/s."""
    turn: Positive
    """Fastest turn, rad/s."""
    acceleration: Positive
    """Greatest change of the speed over the ground, m/s^2; inf for no limit."""
    turn_acceleration: Positive
    """Greatest change of the turn, rad/s^2; inf for no limit."""
    ahead_noise: NotNegative
    """Noise of the speed ahead, at any speed, m/s."""
    ahead_noise_share: NotNegative
    """Noise of the speed ahead, as a share of it."""
    side_noise: NotNegative
    """Noise of the speed to the left, m/s."""
    side_noise_share: NotNegative
    """Noise of the speed to the left, as a share of it."""
    turn_noise: NotNegative
    """Noise of the turn, rad/s."""
    turn_noise_share: NotNegative
    """Noise of the turn, as a share of it."""
    odometry_noise_share: NotNegative
    """Noise of the odometry of a cycle, as a share of the distance, beside the noise of the walk."""


@dataclass(frozen=True, kw_only=True)
class HeadSettings(Bounded):
    """How far and how fast the head turns. The paper counts pitch downwards, this world upwards."""

    yaw: Annotated[float, Bounds(0.0, math.pi, "rad")]
    """Farthest to either side, rad."""
    up: NotNegative
    """Farthest upwards, rad; the paper's least pitch."""
    down: NotNegative
    """Farthest downwards, rad; the paper's greatest pitch."""
    speed: Positive
    """Speed of either axis, rad/s."""


@dataclass(frozen=True, kw_only=True)
class BodySettings(Bounded):
    """How large a robot is: rectangles in its frame, and heights."""

    torso_ahead: Positive
    """Half of the torso's depth: bounds against robots and posts, m."""
    torso_aside: Positive
    """Half of the torso's width, arms included, m."""
    base_front: Positive
    """The tips of the feet: bounds against the ball, m ahead."""
    base_back: Positive
    """The heels, m behind."""
    base_aside: Positive
    """Half of the width of the stance, m."""
    lying_length: Positive
    """Length of a lying robot from its feet to its head, m."""
    lying_width: Positive
    """Width of a robot that lies, m."""
    torso_height: Positive
    """Height of the torso's centre of a robot that stands, m."""
    lying_height: Positive
    """Height of the torso's centre of a robot that lies, m."""


@dataclass(frozen=True, kw_only=True)
class FallSettings(Bounded):
    """When robots fall: hazards, so that a chance in t seconds is 1 - exp(-hazard t)."""

    walking: NotNegative
    """Rate of falls while walking at any speed, 1/s."""
    fast: NotNegative
    """Additional rate of falls at full speed, 1/s; it grows with the square of the share of the full speed."""
    collision: NotNegative
    """Hazard of a fall for each metre by which torso and torso or post would overlap, 1/m."""
    lying: NotNegative
    """Hazard of a fall for each metre by which a walking robot would overlap a lying one, 1/m."""


@dataclass(frozen=True, kw_only=True)
class GetUpSettings(Bounded):
    """How long getting up takes and how it ends."""

    front: Positive
    """Time to get up from the belly, s."""
    back: Positive
    """Time to get up from the back, s."""
    side: Positive
    """Time to get up from a side, as after a dive, s."""
    spread: NotNegative
    """Standard deviation of these times, as a share."""
    failure: Share
    """Probability that a try fails; the robot then lies again."""
    turn: NotNegative
    """Standard deviation of the heading's change while getting up, which the robot does not notice, rad."""


@dataclass(frozen=True, kw_only=True)
class DiveSettings(Bounded):
    """A goalkeeper that dives to a side covers a rectangle beside it, which grows, and then lies there."""

    reach: Positive
    """How far from the middle of its feet the body covers the side in the end, m."""
    width: Positive
    """Ahead and back together, m."""
    time: Positive
    """Until it covers that, s."""
    hold: NotNegative
    """How long it then stays as it is before it can get up, s."""


@dataclass(frozen=True, kw_only=True)
class KickSettings(Bounded):
    """The four kicks, by the rectangles in which the ball must lie (table 2 of the paper)."""

    straight_near: NotNegative
    """Least x of the ball for a straight kick, m."""
    straight_far: NotNegative
    """Greatest x of the ball for a straight kick, m."""
    straight_inner: NotNegative
    """Least y for the left foot, m."""
    straight_outer: NotNegative
    """Greatest y for the left foot, m."""
    side_near: NotNegative
    """Least x of the ball for a side kick, m."""
    side_far: NotNegative
    """Greatest x of the ball for a side kick, m."""
    side_inner: NotNegative
    """How far to the right of the middle the ball must at least lie for the left foot, m."""
    side_outer: NotNegative
    """How far it may lie there at most, m."""
    tip_ahead: NotNegative
    """Where the tips of the feet are, m ahead."""
    tip_aside: NotNegative
    """Where the tips of the feet are, m from the middle."""
    side_stretch: NotNegative
    """How far ahead of its tip's place the foot of a side kick is stretched when it meets the ball, m."""
    straight_distance: NotNegative
    """How far a straight kick of full strength sends the ball, m."""
    side_distance: NotNegative
    """How far a side kick of full strength sends it, m."""
    wrong_side_share: Share
    """Distance of a side kick with the ball on the wrong side, as a share of the straight kick's distance."""
    straight_distance_spread: NotNegative
    """Standard deviation of the distance of straight kicks, as a share."""
    side_distance_spread: NotNegative
    """Standard deviation of the distance of side kicks, as a share."""
    straight_direction_spread: NotNegative
    """Standard deviation of the direction of straight kicks, rad."""
    side_direction_spread: NotNegative
    """Standard deviation of the direction of side kicks, rad."""
    wind_up: Positive
    """Time from the order to the hit, s."""
    follow_through: NotNegative
    """Time from the hit until the robot can walk again, s."""
    fall: Share
    """Probability of falling after a kick."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for low, high in (("near", "far"), ("inner", "outer")):
            for kind in ("straight", "side"):
                if getattr(self, f"{kind}_{low}") >= getattr(self, f"{kind}_{high}"):
                    raise ValueError(f"{kind}_{low} must be below {kind}_{high}; no ball could be kicked.")


@dataclass(frozen=True, kw_only=True)
class BallRollSettings(Bounded):
    """How a rolling ball slows down: dv/dt = -(deceleration + damping v)."""

    deceleration: NotNegative
    """Friction of the carpet, m/s^2."""
    damping: NotNegative
    """Friction that grows with the speed, 1/s: 0 on carpets, above 0 for the ball of the simulation league."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.deceleration == 0.0 and self.damping == 0.0:
            raise ValueError("deceleration and damping are both 0; the ball would roll for ever.")


@dataclass(frozen=True, kw_only=True)
class BounceSettings(Bounded):
    """Restitution of the ball across a surface; along the surface it keeps its speed, except at nets."""

    robot: Share
    """Off feet and bodies, as a share."""
    post: Share
    """Off goal posts, as a share."""
    net: Share
    """Off nets, across and along, as a share."""
    held: Share
    """Restitution off robots that dive or lie, as a share: they stop the ball."""
    shoved: Share
    """When two robots are parted, the share of the way of the one that does not walk."""


@dataclass(frozen=True, kw_only=True)
class PushSettings(Bounded):
    """Limits that decide which robot is responsible for a collision, by the speeds towards each other and the ball."""

    least_speed: NotNegative
    """A robot that moves towards the other more slowly than this is not responsible, m/s."""
    margin: NotNegative
    """A robot that is faster than the other by this is alone responsible, m/s; otherwise the ball decides."""
    ball_distance: NotNegative
    """A robot this near to the ball, and nearer than the other one, plays the ball and is not responsible, m."""
    ball_angle: NotNegative
    """Largest angle between a robot's heading and the ball at which it plays the ball, rad."""


@dataclass(frozen=True, kw_only=True)
class BehaviourSettings:
    """The numbers of the behavioural world; every number's origin is in `source`."""

    name: str
    """The name of the settings: that of their file."""
    walk: WalkSettings
    head: HeadSettings
    body: BodySettings
    fall: FallSettings
    get_up: GetUpSettings
    dive: DiveSettings
    kick: KickSettings
    ball: BallRollSettings
    bounce: BounceSettings
    push: PushSettings
    source: Mapping[str, str] = field(default_factory=dict)
    """Where each number comes from."""

    def changed(self, numbers: Mapping[str, float]) -> BehaviourSettings:
        """The settings with some numbers changed, by dotted name."""
        groups: dict[str, dict[str, float]] = {}
        for name, number in numbers.items():
            group, key = _group_and_key(name)
            groups.setdefault(group, {})[key] = float(number)
        changes = {group: dataclasses.replace(getattr(self, group), **new) for group, new in groups.items()}
        return dataclasses.replace(self, **changes)

    def number(self, name: str) -> float:
        """The number of a dotted name."""
        group, key = _group_and_key(name)
        return float(getattr(getattr(self, group), key))


GROUPS: Mapping[str, type[Bounded]] = {
    name: kind
    for name, kind in get_type_hints(BehaviourSettings).items()
    if isinstance(kind, type) and issubclass(kind, Bounded)
}
"""Groups of numbers by name."""
NAMES = tuple(f"{group}.{f.name}" for group, kind in GROUPS.items() for f in dataclasses.fields(kind))  # type: ignore[arg-type]
"""Dotted names of all numbers."""


def _group_and_key(name: str) -> tuple[str, str]:
    """The two parts of a dotted name, which must be one of `NAMES`."""
    if name not in NAMES:
        raise UnknownNameError("number of the behavioural world", name, NAMES)
    group, key = name.split(".")
    return group, key


def numbers_of(settings: Sequence[BehaviourSettings]) -> Records[BehaviourSettings]:
    """A record of numbers for each match, for kernels."""
    return record_values(*settings)


def load_behaviour(name: str | Path) -> BehaviourSettings:
    """The settings of that name, or of a user's own file (a path ending in `.toml`)."""
    return read_named(name, BEHAVIOUR_FOLDER, BehaviourSettings, "settings")


def write_behaviour(settings: BehaviourSettings, path: Path) -> None:
    """Writes settings to a TOML file that `load_behaviour` reads."""
    write_file(path, toml_text(dataclasses.asdict(settings)))
