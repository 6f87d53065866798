"""What a player believes about itself, the ball and the others.

Everything is in the frame of the own team, whichever side it plays from: metres from the centre of the pitch, +x to the
opponent's goal, +y to the left of who looks there; headings in radians, 0 looks at +x. Arrays of players have a row for
each number, 1 first. A belief is made anew every cycle; nobody writes to one.

    belief.ball.seen_ago < 0.5 and belief.to_body(belief.ball.place)[0] > 0.1       # the ball lies ahead
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nutmeg.base.arrays import Bools, Floats

NEVER = math.inf
"""Age of what was never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """Where the player believes to stand."""

    x: float
    y: float
    heading: float
    spread: float
    """Standard deviation of the place, m: the root of the mean of both axes' variances."""
    heading_spread: float
    """Standard deviation of the heading, rad."""

    @property
    def place(self) -> Floats:
        """(2,) x and y, m."""
        return np.array([self.x, self.y])


@dataclass(frozen=True, slots=True, kw_only=True)
class BallBelief:
    """Where the ball is believed to be."""

    place: Floats
    """(2,) x and y, m."""
    height: float
    """The height of its centre above the ground, m."""
    velocity: Floats
    """(2,) its velocity on the pitch, m/s."""
    spread: float
    """Standard deviation of the place as seen from the player, m."""
    seen_ago: float
    """Time since this player saw it, s."""
    told_ago: float
    """Time since a team-mate told of it, s."""

    @property
    def age(self) -> float:
        """Time since anything was known of it, s."""
        return min(self.seen_ago, self.told_ago)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """The players of one team; the own row of the own team is what the player believes of itself."""

    places: Floats
    """(11, 2); NaN where nothing was ever known."""
    ages: Floats
    """(11,) time since they were seen or told of themselves, s."""
    fallen: Bools
    """(11,) whether they seem to lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """All that a player believes in one cycle."""

    time: float
    """The time of the server, s."""
    me: Pose
    ball: BallBelief
    mates: Others
    opponents: Others
    upright: bool
    """Whether the player stands."""

    def to_body(self, place: Floats) -> Floats:
        """A place on the pitch, (..., 2), as the player sees it: ahead and to the left, m."""
        way = np.asarray(place, float) - self.me.place
        c, s = math.cos(self.me.heading), math.sin(self.me.heading)
        return np.stack([c * way[..., 0] + s * way[..., 1], c * way[..., 1] - s * way[..., 0]], axis=-1)

    def to_pitch(self, place: Floats) -> Floats:
        """A place as the player sees it, (..., 2), on the pitch."""
        way = np.asarray(place, float)
        c, s = math.cos(self.me.heading), math.sin(self.me.heading)
        turned = np.stack([c * way[..., 0] - s * way[..., 1], s * way[..., 0] + c * way[..., 1]], axis=-1)
        return np.asarray(turned + self.me.place)

    def bearing(self, place: Floats) -> float:
        """How far to the left a place lies, rad."""
        ahead, left = self.to_body(place)
        return math.atan2(left, ahead)
