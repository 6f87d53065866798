"""Requests of players turned into orders of the behavioural world, and the other way round.

    order_from(request, orders, match=0, slot=3, lying=False)
    request_row(request)                                # as a recording keeps it
    doing_of(Posture.KICKING, moves=False)              # "kick"

A kick to the left is one with the inside of the right foot, and the other way round. Who lies gets up, whatever it
wants, as in the physical world.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.match.behaviour.state import KickKind, Legs, Posture
from nutmeg.match.team.request import Dive, GetUp, Kick, Walk

if TYPE_CHECKING:
    from nutmeg.match.behaviour.state import Orders
    from nutmeg.match.team.request import Request

PASS = 0.5
"""Strength of a kick that is a pass, as a share of what was asked for."""
DOING = {
    Posture.KICKING: "kick",
    Posture.LYING: "fall",
    Posture.GETTING_UP: "get up",
    Posture.DIVING_LEFT: "dive",
    Posture.DIVING_RIGHT: "dive",
}


def order_from(request: Request, orders: Orders, *, match: int, slot: int, lying: bool) -> None:
    """Writes what a player wants into its orders."""
    row = match, slot
    orders.look[row] = request.look.yaw, request.look.pitch
    legs = request.legs
    if lying or isinstance(legs, GetUp):
        orders.legs[row] = Legs.GET_UP
    elif isinstance(legs, Walk):
        orders.legs[row], orders.wish[row] = Legs.WALK, (legs.ahead, legs.left, legs.turn)
    elif isinstance(legs, Kick):
        orders.legs[row], orders.kick[row] = Legs.KICK, kick_of(legs)
        orders.strength[row] = legs.strength * (PASS if legs.kind == "pass" else 1.0)
    elif isinstance(legs, Dive):
        orders.legs[row] = Legs.DIVE_LEFT if legs.side == "left" else Legs.DIVE_RIGHT
    else:
        orders.legs[row] = Legs.STAND


def request_row(request: Request) -> tuple[float, ...]:
    """What a player wants, in numbers.

    Legs by index, a walk's velocities ahead, left [m/s] and turning left [rad/s], which kick and how strong (missing
    without one), and where to look: yaw, pitch [rad].
    """
    legs, look = request.legs, request.look
    walk, kick = (0.0, 0.0, 0.0), (math.nan, math.nan)
    if isinstance(legs, Walk):
        order, walk = Legs.WALK, (legs.ahead, legs.left, legs.turn)
    elif isinstance(legs, Kick):
        order = Legs.KICK
        kick = float(kick_of(legs)), legs.strength * (PASS if legs.kind == "pass" else 1.0)
    elif isinstance(legs, Dive):
        order = Legs.DIVE_LEFT if legs.side == "left" else Legs.DIVE_RIGHT
    else:
        order = Legs.GET_UP if isinstance(legs, GetUp) else Legs.STAND
    return (float(order), *walk, *kick, look.yaw, look.pitch)


def kick_of(kick: Kick) -> KickKind:
    """Which of the four kicks is meant."""
    if kick.kind in ("straight", "pass"):
        left = kick.ball[1] >= 0.0 if kick.foot is None else kick.foot == "left"
        return KickKind.LEFT_STRAIGHT if left else KickKind.RIGHT_STRAIGHT
    left = kick.kind == "right" if kick.foot is None else kick.foot == "left"
    return KickKind.LEFT_SIDE if left else KickKind.RIGHT_SIDE


def doing_of(posture: int, *, moves: bool) -> str:
    """What a body does, in a word, as in the physical world."""
    return DOING.get(Posture(posture), "walk" if moves else "stand")
