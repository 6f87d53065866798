"""Numbers of a robot without joints: how it walks, looks, falls, gets up and dives, and how large it is.

They are groups of `settings.BehaviourSettings`, read from its TOML file; SI units, angles in radians. Body frames have
their origin between the feet, x ahead, y to the left.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass


def refuse_below(group: object, least: float = 0.0, *, above: tuple[str, ...] = ()) -> None:
    """Refuses numbers of a group that are too small, or not above the least where it says so."""
    for field in dataclasses.fields(group):  # type: ignore[arg-type]
        number = getattr(group, field.name)
        if number < least or (field.name in above and number <= least):
            allowed = f"above {least:g}" if field.name in above else f"{least:g} or more"
            raise ValueError(f"{field.name} is {number:g}, but must be {allowed}.")


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
