"""Requests of players turned into orders of the behavioural world, and the other way round.

    order_from(request, orders, match=0, slot=3, lying=False)
    request_row(request)                                # as a recording keeps it
    doing_of(Posture.KICKING, moves=False)              # "kick"

A kick to the left is one with the inside of the right foot, and the other way round. Who lies gets up, whatever it
wants, as in the physical world.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from nutmeg.match.players.decide import Seen, SeenMark, SeenRobot
from nutmeg.match.players.request import Dive, GetUp, Kick, Walk
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from nutmeg.match.players.decide import MarkKind, Point
    from nutmeg.match.players.request import Request
    from nutmeg.match.worlds.behavioural.state import Orders
    from nutmeg.match.worlds.behavioural.vision import Sighting as Thing
    from nutmeg.match.worlds.behavioural.vision import Sightings


PASS_STRENGTH = 0.5
"""Strength of a kick that is a pass, as a share of what was asked for."""
ACTIVITY_OF_POSTURE = {
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
        orders.strength[row] = legs.strength * (PASS_STRENGTH if legs.kind == "pass" else 1.0)
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
        kick = float(kick_of(legs)), legs.strength * (PASS_STRENGTH if legs.kind == "pass" else 1.0)
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


def activity_of(posture: int, *, moves: bool) -> str:
    """What a body does, in a word, as in the physical world."""
    return ACTIVITY_OF_POSTURE.get(Posture(posture), "walk" if moves else "stand")


# ----------------------------------------------------------------------------------------------------
# What a player of the behavioural world is told, as the objects of `match.brain`.


IS_MATE = {ObjectKind.MATE: True, ObjectKind.OPPONENT: False, ObjectKind.ROBOT: None}
LANDMARK_NAMES: dict[ObjectKind, MarkKind] = {
    ObjectKind.OWN_POST: "own post",
    ObjectKind.THEIR_POST: "their post",
    ObjectKind.POST: "post",
    ObjectKind.L_CROSSING: "L",
    ObjectKind.T_CROSSING: "T",
    ObjectKind.X_CROSSING: "X",
    ObjectKind.PENALTY_MARK: "penalty mark",
    ObjectKind.CENTRE_CIRCLE: "centre circle",
}
POST_ENDS = {ObjectKind.OWN_POST: "L", ObjectKind.THEIR_POST: "R"}
"""Ends of the pitch in names of posts."""


def seen_later(sights: Sightings, match: int, slot: int) -> Callable[[], Seen]:
    """What a player sees now, for later: few players look at it themselves."""
    now = replace(sights, **{name: array[match : match + 1, slot : slot + 1].copy() for name, array in _fields(sights)})
    return lambda: seen_of(now.of(0, 0))


def _fields(sights: Sightings) -> list[tuple[str, NDArray[Any]]]:
    return [(each.name, getattr(sights, each.name)) for each in fields(sights)]


def seen_of(things: Iterable[Thing]) -> Seen:
    """What a player sees; of several balls the nearest, since one of them is none."""
    ball: Point | None = None
    robots, marks = [], []
    for thing in things:
        place = thing.ahead, thing.left
        if thing.kind is ObjectKind.BALL:
            ball = ball or place
        elif thing.kind.is_robot:
            robots.append(SeenRobot(place=place, mate=IS_MATE[thing.kind], number=thing.number, lying=thing.lying))
        else:
            known = thing.kind in POST_ENDS and thing.number is not None
            name = f"G{thing.number}{POST_ENDS[thing.kind]}" if known else None
            marks.append(SeenMark(kind=LANDMARK_NAMES[thing.kind], place=place, name=name, turn=thing.turn))
    return Seen(ball=ball, robots=tuple(robots), marks=tuple(marks))
