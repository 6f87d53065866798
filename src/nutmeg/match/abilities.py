"""What a player's body can do, in a few numbers that a `decide` may want to know.

    body = abilities_of(load_behaviour("nao"))
    body.ahead, body.kick_place, body.kick_reach

They come from the settings of the behavioural world: `nao-spark` stands for the robot of the physical world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nutmeg.match.behaviour.settings import BehaviourSettings

SLACK = 0.8
"""Share of a kick's rectangle that is good enough to kick from."""
GAP = 0.005
"""Between the ball and the tips of the feet [m]."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a body can do; SI units, angles in radians."""

    ahead: float
    """Fastest ahead, m/s."""
    back: float
    """Fastest backwards, m/s."""
    side: float
    """Fastest to a side, m/s."""
    turn: float
    """Fastest turn, rad/s."""
    kick_place: tuple[float, float]
    """Where the ball should lie for a straight kick with the left foot: ahead and to the left, m."""
    kick_slack: tuple[float, float]
    """How far from there it may lie, m."""
    kick_reach: float
    """How far a kick of full strength sends the ball, m."""
    dive_reach: float
    """How far to a side a dive covers the goal, m."""
    eyes: float = 0.5
    """Height of the cameras, m."""
    lower_eye: float = math.radians(40.0)
    """How much further down than the upper camera the lower one looks, rad."""
    ball_slows: float
    """Friction of a rolling ball, m/s^2."""
    ball_damped: float
    """What grows with its speed, 1/s."""


def abilities_of(settings: BehaviourSettings, *, ball_radius: float = 0.0325) -> Abilities:
    """The abilities of a robot of the behavioural world."""
    walk, kick, ball = settings.walk, settings.kick, settings.ball
    near = max(kick.straight_near, settings.body.base_front + ball_radius + GAP)
    far = max(kick.straight_far, near)
    return Abilities(
        ahead=walk.ahead,
        back=walk.back,
        side=walk.side,
        turn=walk.turn,
        kick_place=((near + far) / 2, (kick.straight_inner + kick.straight_outer) / 2),
        kick_slack=(SLACK * (far - near) / 2, SLACK * (kick.straight_outer - kick.straight_inner) / 2),
        kick_reach=kick.straight_distance,
        dive_reach=settings.dive.reach,
        ball_slows=ball.deceleration,
        ball_damped=ball.damping,
    )
