"""What robots and ball of the behavioural world can do: numbers from a TOML file, each with its source beside it.

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
from typing import TYPE_CHECKING

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.records import nested_record, new_records
from nutmeg.base.settings import read_cached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.records import Records


# ----------------------------------------------------------------------------------------------------
# Numbers of a robot without joints: how it walks, looks, falls, gets up and dives, and how large it is.
#
# They are groups of `settings.BehaviourSettings`, read from its TOML file; SI units, angles in radians. Body frames
# have their origin between the feet, x ahead, y to the left.


def refuse_below(group: object, least: float = 0.0, *, above: tuple[str, ...] = ()) -> None:
    """Refuses numbers of a group that are too small, or not above the least where it says so."""
    for declared in dataclasses.fields(group):  # type: ignore[arg-type]
        number = getattr(group, declared.name)
        if number < least or (declared.name in above and number <= least):
            allowed = f"above {least:g}" if declared.name in above else f"{least:g} or more"
            raise ValueError(f"{declared.name} is {number:g}, but must be {allowed}.")


def refuse_beyond_one(group: object, *names: str) -> None:
    """Refuses shares and probabilities above 1."""
    for name in names:
        if getattr(group, name) > 1.0:
            raise ValueError(f"{name} is {getattr(group, name):g}, but a share is at most 1.")


@dataclass(frozen=True, kw_only=True)
class WalkSettings:
    """How a robot walks.

    A wish (ahead, left, turn) is divided by the limits, axis by axis; where the length of the result is above 1, the
    whole wish is scaled down to 1 (an ellipsoid: full speed ahead leaves nothing for a turn). What is then walked is
    disturbed on each axis by a normal error, drawn anew in each cycle of 0.1 s, with the standard deviation
    `noise + noise_share * |speed|`, as long as the robot walks.
    """

    ahead: float
    """Fastest ahead, m/s."""
    back: float
    """Fastest backwards, m/s."""
    side: float
    """Fastest to a side, m/s."""
    turn: float
    """Fastest turn, rad/s."""
    acceleration: float
    """Most change of the speed over the ground, m/s^2; inf for any."""
    turn_acceleration: float
    """Most change of the turn, rad/s^2; inf for any."""
    ahead_noise: float
    """Of the speed ahead, at any speed, m/s."""
    ahead_noise_share: float
    """Of the speed ahead, as a share of it."""
    side_noise: float
    """Of the speed to the left, m/s."""
    side_noise_share: float
    """Of the speed to the left, as a share of it."""
    turn_noise: float
    """Of the turn, rad/s."""
    turn_noise_share: float
    """Of the turn, as a share of it."""
    odometry_noise_share: float
    """Of what a robot believes to have gone in a cycle, as a share of it, beside what the noise of the walk does."""

    def __post_init__(self) -> None:
        """Refuse what no robot can have."""
        refuse_below(self, above=("ahead", "back", "side", "turn", "acceleration", "turn_acceleration"))


@dataclass(frozen=True, kw_only=True)
class HeadSettings:
    """How far and how fast the head turns. The paper counts pitch downwards, this world upwards."""

    yaw: float
    """Farthest to either side, rad."""
    up: float
    """Farthest upwards, rad; the paper's least pitch."""
    down: float
    """Farthest downwards, rad; the paper's greatest pitch."""
    speed: float
    """Of either axis, rad/s."""

    def __post_init__(self) -> None:
        """Refuse what no neck can do."""
        refuse_below(self, above=("speed",))
        if self.yaw > math.pi:
            raise ValueError(f"yaw is {self.yaw:g}, but a head turns by at most pi to either side.")


@dataclass(frozen=True, kw_only=True)
class BodySettings:
    """How large a robot is: rectangles in its frame, and heights."""

    torso_ahead: float
    """Half of the torso's depth: bounds against robots and posts, m."""
    torso_aside: float
    """Half of the torso's width, arms included, m."""
    base_front: float
    """The tips of the feet: bounds against the ball, m ahead."""
    base_back: float
    """The heels, m behind."""
    base_aside: float
    """Half of the width of the stance, m."""
    lying_length: float
    """From the feet to the head of who lies, m."""
    lying_width: float
    """Of who lies, m."""
    torso_height: float
    """Of the torso's centre of who stands, m."""
    lying_height: float
    """Of the torso's centre of who lies, m."""

    def __post_init__(self) -> None:
        """Refuse bodies without size."""
        refuse_below(self, above=tuple(f.name for f in dataclasses.fields(self)))


@dataclass(frozen=True, kw_only=True)
class FallSettings:
    """When robots fall: hazards, so that a chance in t seconds is 1 - exp(-hazard t)."""

    walking: float
    """While walking at any speed, 1/s."""
    fast: float
    """Beside that at full speed, 1/s; grows with the square of the share of the full speed."""
    collision: float
    """Torso against torso or post: for each metre that they would have moved into each other, 1/m."""
    lying: float
    """The same for who walks into somebody who lies, 1/m."""

    def __post_init__(self) -> None:
        """Refuse negative hazards."""
        refuse_below(self)


@dataclass(frozen=True, kw_only=True)
class GetUpSettings:
    """How long getting up takes and how it ends."""

    front: float
    """From the belly, s."""
    back: float
    """From the back, s."""
    side: float
    """From a side, and so after a dive, s."""
    spread: float
    """Standard deviation of these times, as a share."""
    failure: float
    """Probability that a try fails; the robot then lies again."""
    turn: float
    """Standard deviation of the heading's change while getting up, which the robot does not notice, rad."""

    def __post_init__(self) -> None:
        """Refuse what takes no time."""
        refuse_below(self, above=("front", "back", "side"))
        refuse_beyond_one(self, "failure")


@dataclass(frozen=True, kw_only=True)
class DiveSettings:
    """A goalkeeper who throws itself to a side covers a rectangle beside it, which grows, and then lies there."""

    reach: float
    """How far from the middle of its feet the body covers the side in the end, m."""
    width: float
    """Ahead and back together, m."""
    time: float
    """Until it covers that, s."""
    hold: float
    """How long it then stays as it is before it can get up, s."""

    def __post_init__(self) -> None:
        """Refuse dives that cover nothing."""
        refuse_below(self, above=("reach", "width", "time"))


# ----------------------------------------------------------------------------------------------------
# Numbers of kicks, ball, bounces and of who is to blame for a push.
#
# They are groups of `settings.BehaviourSettings`, read from its TOML file; SI units, angles in radians. Kicks are
# given for the left foot; those of the right one are their mirror images.


@dataclass(frozen=True, kw_only=True)
class KickSettings:
    """The four kicks, by the rectangles in which the ball must lie (table 2 of the paper)."""

    straight_near: float
    """Least x of the ball for a straight kick, m."""
    straight_far: float
    """Greatest x, m."""
    straight_inner: float
    """Least y for the left foot, m."""
    straight_outer: float
    """Greatest y for the left foot, m."""
    side_near: float
    """Least x of the ball for a side kick, m."""
    side_far: float
    """Greatest x, m."""
    side_inner: float
    """How far to the right of the middle the ball must at least lie for the left foot, m."""
    side_outer: float
    """How far it may lie there at most, m."""
    tip_ahead: float
    """Where the tips of the feet are, m ahead."""
    tip_aside: float
    """Where the tips of the feet are, m from the middle."""
    side_stretch: float
    """How far ahead of its tip's place the foot of a side kick is stretched when it meets the ball, m."""
    straight_distance: float
    """How far a straight kick of full strength sends the ball, m."""
    side_distance: float
    """How far a side kick of full strength sends it, m."""
    wrong_side_share: float
    """Of the straight kick's distance, what a side kick gives a ball on the wrong side."""
    straight_distance_spread: float
    """Standard deviation of the distance of straight kicks, as a share."""
    side_distance_spread: float
    """Standard deviation of the distance of side kicks, as a share."""
    straight_direction_spread: float
    """Standard deviation of the direction of straight kicks, rad."""
    side_direction_spread: float
    """Standard deviation of the direction of side kicks, rad."""
    wind_up: float
    """From the order to the ball, s."""
    follow_through: float
    """From the ball until the robot can walk again, s."""
    fall: float
    """Probability of falling after a kick."""

    def __post_init__(self) -> None:
        """Refuse rectangles without area."""
        refuse_below(self, above=("wind_up",))
        refuse_beyond_one(self, "wrong_side_share", "fall")
        for low, high in (("near", "far"), ("inner", "outer")):
            for kind in ("straight", "side"):
                if getattr(self, f"{kind}_{low}") >= getattr(self, f"{kind}_{high}"):
                    raise ValueError(f"{kind}_{low} must be below {kind}_{high}; no ball could be kicked.")


@dataclass(frozen=True, kw_only=True)
class BallRollSettings:
    """How a rolling ball slows down: dv/dt = -(deceleration + damping v)."""

    deceleration: float
    """Carpet's friction, m/s^2."""
    damping: float
    """What grows with the speed, 1/s; 0 on carpets, above 0 for the ball of the simulation league."""

    def __post_init__(self) -> None:
        """Refuse balls that never stop."""
        refuse_below(self)
        if self.deceleration == 0.0 and self.damping == 0.0:
            raise ValueError("deceleration and damping are both 0; the ball would roll for ever.")


@dataclass(frozen=True, kw_only=True)
class BounceSettings:
    """What is left of the ball's speed against something, across its surface; along it all is left, but at nets."""

    robot: float
    """Off feet and bodies, as a share."""
    post: float
    """Off goal posts, as a share."""
    net: float
    """Off nets, across and along, as a share."""
    held: float
    """Of who dives or lies, as a share: a ball that is stopped, not sent back."""
    shoved: float
    """Of what parts two robots that walk into each other, the share of the one who does not walk."""

    def __post_init__(self) -> None:
        """Refuse bounces that make energy."""
        refuse_below(self)
        refuse_beyond_one(self, "robot", "post", "net", "held", "shoved")


@dataclass(frozen=True, kw_only=True)
class PushSettings:
    """Who is responsible when two robots collide: by their speeds towards each other, and where the ball is."""

    least_speed: float
    """Who moves towards the other more slowly than this is not to blame, m/s."""
    margin: float
    """So much faster than the other must one be to be alone responsible, m/s; otherwise the ball decides."""
    ball_distance: float
    """Who is not farther from the ball, and nearer to it than the other, plays the ball and is not to blame, m."""
    ball_angle: float
    """For that, the ball must be within this angle of where it looks, rad."""

    def __post_init__(self) -> None:
        """Refuse negative limits."""
        refuse_below(self)


FOLDER = Path(__file__).parent.parent / "data" / "behaviour"


@dataclass(frozen=True, kw_only=True)
class BehaviourSettings:
    """The numbers of the behavioural world; every number's origin is in `source`."""

    name: str
    """The name it is called by, that of its file."""
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
        """The same with other numbers, by dotted name."""
        groups: dict[str, dict[str, float]] = {}
        for name, number in numbers.items():
            if name not in NAMES:
                raise UnknownNameError("number of the behavioural world", name, NAMES)
            group, key = name.split(".")
            groups.setdefault(group, {})[key] = float(number)
        changes = {group: dataclasses.replace(getattr(self, group), **new) for group, new in groups.items()}
        return dataclasses.replace(self, **changes)

    def number(self, name: str) -> float:
        """The number of a dotted name."""
        if name not in NAMES:
            raise UnknownNameError("number of the behavioural world", name, NAMES)
        group, key = name.split(".")
        return float(getattr(getattr(self, group), key))

    def numbers(self) -> dict[str, float]:
        """All numbers by dotted name."""
        return {name: self.number(name) for name in NAMES}


GROUPS: Mapping[str, type] = {
    "walk": WalkSettings,
    "head": HeadSettings,
    "body": BodySettings,
    "fall": FallSettings,
    "get_up": GetUpSettings,
    "dive": DiveSettings,
    "kick": KickSettings,
    "ball": BallRollSettings,
    "bounce": BounceSettings,
    "push": PushSettings,
}
NAMES = tuple(f"{group}.{f.name}" for group, kind in GROUPS.items() for f in dataclasses.fields(kind))
"""Dotted names of all numbers."""


def numbers_of(settings: Sequence[BehaviourSettings]) -> Records[BehaviourSettings]:
    """A record of numbers for each match, for kernels."""
    table = new_records(BehaviourSettings, len(settings))
    for row, one in enumerate(settings):
        table[row] = nested_record(one)
    return table


def behaviour_names() -> list[str]:
    """The settings that come with Nutmeg."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_behaviour(name: str | Path) -> BehaviourSettings:
    """The settings of that name, or of a user's own file (a path ending in `.toml`)."""
    if str(name).endswith(".toml"):
        return read_cached(Path(name), BehaviourSettings)
    if name not in behaviour_names():
        raise UnknownNameError("settings", str(name), behaviour_names())
    return read_cached(FOLDER / f"{name}.toml", BehaviourSettings)


def write_behaviour(settings: BehaviourSettings, path: Path) -> None:
    """Writes settings to a TOML file that `load_behaviour` reads."""
    lines = [f'name = "{settings.name}"']
    for group, kind in GROUPS.items():
        lines += ["", f"[{group}]"]
        lines += [f"{f.name} = {_toml(settings.number(f'{group}.{f.name}'))}" for f in dataclasses.fields(kind)]
    quoted = {key: text.replace("\\", "\\\\").replace('"', '\\"') for key, text in settings.source.items()}
    lines += ["", "[source]", *[f'"{key}" = "{text}"' for key, text in quoted.items()], ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def _toml(number: float) -> str:
    return repr(number) if math.isfinite(number) else "inf"
