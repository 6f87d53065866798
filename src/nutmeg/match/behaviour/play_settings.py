"""Numbers of kicks, ball, bounces and of who is to blame for a push.

They are groups of `settings.BehaviourSettings`, read from its TOML file; SI units, angles in radians. Kicks are given
for the left foot; those of the right one are their mirror images.
"""

from __future__ import annotations

from dataclasses import dataclass

from nutmeg.match.behaviour.body_settings import refuse_below, refuse_beyond_one


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
