"""Conversion between players in Python and the behavioural world: requests to orders, and sightings to objects.

    order_from(request, orders, match=0, slot=3, lying=False)
    request_row(request)                                # as a recording keeps it
    activity_of(Posture.KICKING, moves=False)           # "kick"
    seen_later(sightings, match, slot)()                # ball, robots and landmarks in the body's frame

A kick to the left is made with the inside of the right foot, and vice versa. A fallen player gets up whatever it
requests, as in the physical world.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.match.players.decide import Seen, SeenMark, SeenRobot
from nutmeg.match.players.request import Dive, GetUp, Kick, Walk
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nutmeg.match.players.decide import MarkKind, Point
    from nutmeg.match.players.request import Request
    from nutmeg.match.worlds.behavioural.state import Orders
    from nutmeg.match.worlds.behavioural.vision import Sighting, Sightings


_PASS_STRENGTH = 0.5  # strength of a pass as a share of the requested strength
_ACTIVITY_OF_POSTURE = {
    Posture.KICKING: "kick",
    Posture.LYING: "fall",
    Posture.GETTING_UP: "get up",
    Posture.DIVING_LEFT: "dive",
    Posture.DIVING_RIGHT: "dive",
}


def order_from(request: Request, orders: Orders, *, match: int, slot: int, lying: bool) -> None:
    """Writes a player's request into its orders; a fallen player gets up."""
    legs, ahead, left, turn, kick, strength, yaw, pitch = request_row(request)
    row, legs = (match, slot), Legs.GET_UP if lying else legs
    orders.look[row], orders.legs[row] = (yaw, pitch), legs
    if legs == Legs.WALK:
        orders.wish[row] = ahead, left, turn
    elif legs == Legs.KICK:
        orders.kick[row], orders.strength[row] = kick, strength


def request_row(request: Request) -> tuple[float, ...]:
    """A request as numbers.

    These are the index of `Legs`; velocities ahead, left [m/s] and turn [rad/s]; kind and strength of the kick (NaN
    without one); yaw and pitch of the head [rad].
    """
    legs, look = request.legs, request.look
    walk, kick = (0.0, 0.0, 0.0), (math.nan, math.nan)
    if isinstance(legs, Walk):
        order, walk = Legs.WALK, (legs.ahead, legs.left, legs.turn)
    elif isinstance(legs, Kick):
        order = Legs.KICK
        kick = float(kick_of(legs)), legs.strength * (_PASS_STRENGTH if legs.kind == "pass" else 1.0)
    elif isinstance(legs, Dive):
        order = Legs.DIVE_LEFT if legs.side == "left" else Legs.DIVE_RIGHT
    else:
        order = Legs.GET_UP if isinstance(legs, GetUp) else Legs.STAND
    return (float(order), *walk, *kick, look.yaw, look.pitch)


def kick_of(kick: Kick) -> KickKind:
    """Which of the four kicks is meant."""
    if kick.kind in ("straight", "pass", "shot"):
        left = kick.ball[1] >= 0.0 if kick.foot is None else kick.foot == "left"
        return KickKind.LEFT_STRAIGHT if left else KickKind.RIGHT_STRAIGHT
    left = kick.kind == "right" if kick.foot is None else kick.foot == "left"
    return KickKind.LEFT_SIDE if left else KickKind.RIGHT_SIDE


def activity_of(posture: int, *, moves: bool) -> str:
    """The activity of a body, in the words of the physical world."""
    return _ACTIVITY_OF_POSTURE.get(Posture(posture), "walk" if moves else "stand")


_IS_MATE = {ObjectKind.MATE: True, ObjectKind.OPPONENT: False, ObjectKind.ROBOT: None}
_LANDMARK_NAMES: dict[ObjectKind, MarkKind] = {
    ObjectKind.OWN_POST: "own post",
    ObjectKind.THEIR_POST: "their post",
    ObjectKind.POST: "post",
    ObjectKind.L_CROSSING: "L",
    ObjectKind.T_CROSSING: "T",
    ObjectKind.X_CROSSING: "X",
    ObjectKind.PENALTY_MARK: "penalty mark",
    ObjectKind.CENTRE_CIRCLE: "centre circle",
}
_POST_ENDS = {ObjectKind.OWN_POST: "L", ObjectKind.THEIR_POST: "R"}  # ends of the pitch in names of posts


def seen_later(sightings: Sightings, match: int, slot: int) -> Callable[[], Seen]:
    """A function that converts the present sightings of a player to objects on demand; few players need them."""
    now = sightings.copy_of(match, slot)
    return lambda: _seen_of(now.of(0, 0))


def _seen_of(things: Iterable[Sighting]) -> Seen:
    """Sightings as objects; of several balls the nearest, because the others are false detections."""
    ball: Point | None = None
    robots, marks = [], []
    for thing in things:
        place = thing.ahead, thing.left
        if thing.kind is ObjectKind.BALL:
            ball = ball or place
        elif thing.kind.is_robot:
            robots.append(SeenRobot(place=place, mate=_IS_MATE[thing.kind], number=thing.number, lying=thing.lying))
        else:
            known = thing.kind in _POST_ENDS and thing.number is not None
            name = f"G{thing.number}{_POST_ENDS[thing.kind]}" if known else None
            marks.append(SeenMark(kind=_LANDMARK_NAMES[thing.kind], place=place, name=name, turn=thing.turn))
    return Seen(ball=ball, robots=tuple(robots), marks=tuple(marks))
