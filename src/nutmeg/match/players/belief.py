"""A player's belief about itself, the ball and the other players: the estimates of its tracker.

Everything is in the frame of the own team, whichever side it plays from: metres from the centre of the pitch, +x
towards the opponents' goal, +y to the left; headings in radians, 0 along +x. Arrays of players have a row for each
number, 1 first. A new belief is made in every cycle, and never changed.

    belief.ball.seen_ago < 0.5 and belief.to_body(belief.ball.place)[0] > 0.1       # the ball lies ahead
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nutmeg.base.arrays import Bools, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """The player's estimate of its own pose."""

    x: float
    y: float
    heading: float
    spread: float
    """Standard deviation of the place, m: the root of the mean of both axes' variances."""
    heading_spread: float
    """Standard deviation of the heading, rad."""

    @property
    def place(self) -> Floats:
        """The estimated position, (2,) x and y on the pitch, m."""
        return np.array([self.x, self.y])


@dataclass(frozen=True, slots=True, kw_only=True)
class BallBelief:
    """The player's estimate of the ball."""

    place: Floats
    """Position of its centre on the pitch, (2,) x and y, m."""
    height: float
    """Height of its centre above the ground, m."""
    velocity: Floats
    """(2,) velocity on the pitch, m/s."""
    spread: float
    """Standard deviation of its place relative to the player, m."""
    seen_ago: float
    """Time since this player saw it, s."""
    heard_ago: float
    """Age of the last report of a team-mate about it, s."""

    @property
    def age(self) -> float:
        """Time since it was seen by this player or a team-mate, s."""
        return min(self.seen_ago, self.heard_ago)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """Estimates of the players of one team; the player itself has a row in its own team."""

    places: Floats
    """(11, 2) places, m; NaN for players that were never seen or heard."""
    velocities: Floats
    """(11, 2) velocities on the pitch, m/s; 0 where they are not known."""
    ages: Floats
    """(11,) time since they were seen or heard, s."""
    fallen: Bools
    """(11,) whether they appear to lie on the ground."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """The estimates of a player in one cycle."""

    time: float
    """Time of the world, s."""
    me: Pose
    ball: BallBelief
    mates: Others
    opponents: Others
    upright: bool
    """Whether the player stands."""

    def to_body(self, place: Floats) -> Floats:
        """Transforms places (..., 2) from the pitch to the body's frame: ahead and to the left, m."""
        way = np.asarray(place, float) - self.me.place
        c, s = math.cos(self.me.heading), math.sin(self.me.heading)
        return np.stack([c * way[..., 0] + s * way[..., 1], c * way[..., 1] - s * way[..., 0]], axis=-1)

    def to_pitch(self, place: Floats) -> Floats:
        """Transforms places (..., 2) from the body's frame to the pitch, m."""
        way = np.asarray(place, float)
        c, s = math.cos(self.me.heading), math.sin(self.me.heading)
        turned = np.stack([c * way[..., 0] - s * way[..., 1], s * way[..., 0] + c * way[..., 1]], axis=-1)
        return np.asarray(turned + self.me.place)

    def bearing(self, place: Floats) -> float:
        """Bearing of a place (2,) on the pitch, to the left of the heading, rad."""
        ahead, left = self.to_body(place)
        return math.atan2(left, ahead)
