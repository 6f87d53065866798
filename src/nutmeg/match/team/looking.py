"""Where to look: at the ball, with an eye on landmarks, and around when either is lost.

    Request(legs=..., look=look_around(belief))
    look_around(belief, "kicker")               # nothing but the ball
    look_around(belief, "keeper")               # the ball must stay well in view

The camera sees 60 degrees to each side and nothing better in its middle, so a player can watch the ball from the corner
of its eye while it looks where the landmarks are. It does so when it is less sure of its pose than it might be; who has
no idea of its pose, or of the ball, turns its head from one side to the other. A pure function of the belief: the
server's time says how far the head has swept.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.body.field import load_field
from nutmeg.compiled import kernel
from nutmeg.match.team.camera import HALF_VIEW, NECK, NOD, YAW_LIMIT
from nutmeg.match.team.request import Look

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.team.belief import Belief


Role = Literal["player", "kicker", "keeper"]

SURE, UNSURE = 0.04, 0.3
"""Below the first deviation of the place a player looks at the ball, above the second it cares for nothing else [m]."""
SURE_TURN, UNSURE_TURN = math.radians(0.5), math.radians(10.0)
"""The same for the heading [rad]."""
FORGOTTEN, VAGUE = 2.0, 1.0
"""A ball is looked for that nothing was known of for so long [s], or whose place has such a deviation [m]."""
ASIDE = {"player": math.radians(45.0), "kicker": 0.0, "keeper": math.radians(25.0)}
"""How far from the middle of the view the ball may be [rad]."""
SWEEP, SWEEP_TIME = math.radians(100.0), 1.6
"""How far the head turns to each side when it searches [rad], and how long it takes there and back [s]."""
DOWN = -0.35
"""Pitch of the head in general: it sees from above the horizon down to its feet [rad]."""
TORSO = 0.33
"""Height of the torso of who walks [m]."""
MARGIN = math.radians(8.0)
"""So near to the edge of the view a landmark may be just outside [rad]."""
STEPS = 5
"""Directions that are compared."""


def look_around(belief: Belief, role: Role = "player", *, field: str = "sim3d") -> Look:
    """Where the head is to look now.

    Args:
        belief: what the player believes.
        role: what it is busy with.
        field: name of the pitch, whose landmarks count.
    """
    me, ball = belief.me, belief.ball
    lost = ball.age > FORGOTTEN or ball.spread > VAGUE
    unsure = me.spread > UNSURE or me.heading_spread > UNSURE_TURN
    if (lost or unsure) and not (role == "kicker" and ball.seen_ago < FORGOTTEN):
        return Look(yaw=_sweep(belief.time), pitch=DOWN)
    x, y = ball.place.tolist()
    x, y = x - me.x, y - me.y
    around = math.atan2(y, x) - me.heading
    bearing = math.atan2(math.sin(around), math.cos(around))
    yaw = min(max(bearing, -YAW_LIMIT), YAW_LIMIT)
    if role != "kicker" and (me.spread > SURE or me.heading_spread > SURE_TURN):
        yaw = best_yaw(me.x, me.y, me.heading, bearing, ASIDE[role], _landmarks(field))
    return Look(yaw=yaw, pitch=_pitch(math.hypot(x, y), ball.height))


def _sweep(time: float) -> float:
    """The yaw of a head that searches: to and fro at an even speed."""
    phase = time / SWEEP_TIME % 1.0
    return SWEEP * (4.0 * abs(phase - 0.5) - 1.0)


def _pitch(far: float, height: float) -> float:
    """Low enough for a ball at the feet, else level enough for the far side."""
    below = math.atan2(TORSO + NECK + NOD - height, far)
    return min(DOWN, HALF_VIEW * 0.7 - below)


@kernel
def best_yaw(x: float, y: float, heading: float, bearing: float, aside: float, marks: Floats) -> float:
    """The yaw that has the ball, and most of the landmarks (M, 2), in view; near ones count more."""
    best, best_worth = bearing, -1.0
    for step in range(-STEPS + 1, STEPS):
        yaw = min(max(bearing + aside * step / (STEPS - 1), -YAW_LIMIT), YAW_LIMIT)
        worth = -0.01 * abs(step)
        for k in range(len(marks)):
            ahead, left = marks[k, 0] - x, marks[k, 1] - y
            way = math.atan2(left, ahead) - heading - yaw
            off = abs(math.atan2(math.sin(way), math.cos(way)))
            worth += min(max((HALF_VIEW - off) / MARGIN, 0.0), 1.0) / (1.0 + 0.1 * math.hypot(ahead, left))
        if worth > best_worth:
            best, best_worth = yaw, worth
    return min(max(best, -YAW_LIMIT), YAW_LIMIT)


@lru_cache(maxsize=4)
def _landmarks(field: str) -> Floats:
    """(M, 2) where landmarks are; they are the same from both ends."""
    return np.array([place[:2] for place in load_field(field).landmarks().values()])
