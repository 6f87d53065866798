"""How a compiled player moves: to a place around others, behind the ball, through it; where it kicks and looks.

Everything is plain numbers of `strategy_rows`. A player circles the ball until it stands behind it as seen from its
aim, as in `team.attack`. Looking follows what two cameras with a narrow view need: the ball most of the time, and now
and then a goal, so that the player knows where it is.
"""

from __future__ import annotations

import math

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import inlined
from nutmeg.match.players.strategies.records import (
    AHEAD,
    AIMS,
    ASIDE,
    AVOIDS,
    BACK,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    EYES,
    FOOT,
    GOAL,
    HEADING,
    INTENT,
    KICK,
    KICK_OFF_X,
    KICK_OFF_Y,
    KICK_X,
    KICK_Y,
    KICKS,
    LEGS,
    LENGTH,
    MATES,
    NUMBER,
    OPPONENTS,
    PACE,
    PASSES,
    PITCH,
    PLAYERS,
    REACH,
    SEEN,
    SPREAD,
    STRENGTH,
    TILT,
    TIME,
    TOLD,
    TURN,
    TURN_SPREAD,
    WIDTH,
    WISH,
    YAW,
    X,
    Y,
)
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

_KICK = float(Legs.KICK)
_STAND = float(Legs.STAND)
_WALK = float(Legs.WALK)
_LEFT_STRAIGHT = float(KickKind.LEFT_STRAIGHT)
_RIGHT_STRAIGHT = float(KickKind.RIGHT_STRAIGHT)

TURN_GAIN, WALK_GAIN = 2.0, 2.0
"""Speed for each radian and metre that is missing [1/s]."""
ALIGNED_ANGLE, STILL_ALIGNED_ANGLE = 0.35, 0.6
"""Within this angle of its aim a player begins to kick or dribble, and goes on within that [rad]."""
APPROACH_DISTANCE, CIRCLING_DISTANCE, BEHIND_BALL_DISTANCE = 0.7, 0.3, 0.22
"""Farther from the ball a player goes straight to the place behind it; distances while circling and behind it [m]."""
CIRCLING_STEP = 0.8
"""How far ahead on the circle the next place lies [rad]."""
MAX_KICK_ANGLE_ERROR = 0.12
"""How far from the aim a kick may go [rad]."""
AVOIDANCE_DISTANCE, SLOWING_DISTANCE, STOPPING_DISTANCE = 0.42, 0.45, 0.24
"""How far ways keep from others; nobody walks towards somebody nearer than the last, and slowly before [m]."""
AVOIDANCE_RANGE = 1.3
"""Others farther away do not matter yet [m]."""
BLOCKER_RANGE, BLOCKER_WIDTH, BLOCKER_COST = 1.6, 0.35, 1.5
"""Opponents so far ahead of the ball and beside the line block it [m], which costs so much [rad]."""
AIM_OFFSETS = np.array([0.0, 0.25, -0.25, 0.5, -0.5, 0.9, -0.9])
"""Directions that are tried beside that of the goal [rad]."""
GLANCE_INTERVAL, GLANCE_TIME = 2.4, 0.7
"""How often, and for how long, a player looks for a goal instead of the ball [s]."""
CERTAIN_SPREAD, CERTAIN_HEADING_SPREAD = 0.12, 0.08
"""Unless it is surer than this of its place [m] and heading [rad]."""
SWEEP_ANGLE, SWEEP_TIME = 1.6, 2.6
"""How far the head turns when it searches [rad], and how long it takes there and back [s]."""
YAW_LIMIT = 2.0
SEARCH_BALL_AGE = 1.5
"""A ball not seen for so long is searched for [s]."""
SEARCH_PITCH = -0.2
"""Pitch of a head that searches [rad]."""


@inlined
def length(x: float, y: float) -> float:
    """Of a vector; `math.hypot` takes several times as long."""
    return math.sqrt(x * x + y * y)


@inlined
def stand(order: Floats, intent: int) -> None:
    """Stays where it is."""
    order[LEGS], order[INTENT] = _STAND, intent


@inlined
def look(belief: Floats, game: Floats, ground: Floats, order: Floats) -> None:
    """Looks at the ball, now and then at a goal, and around if the ball is lost."""
    time, age = game[TIME], min(belief[SEEN], belief[TOLD])
    dx, dy = belief[BALL_X] - belief[X], belief[BALL_Y] - belief[Y]
    way = length(dx, dy)
    phase = (time + 0.3 * game[NUMBER]) % GLANCE_INTERVAL
    unsure = belief[SPREAD] > CERTAIN_SPREAD or belief[TURN_SPREAD] > CERTAIN_HEADING_SPREAD
    lost = belief[SPREAD] > 5 * CERTAIN_SPREAD or belief[TURN_SPREAD] > 5 * CERTAIN_HEADING_SPREAD
    if age > SEARCH_BALL_AGE or (lost and way > 0.4):
        swept = (time / SWEEP_TIME) % 1.0
        order[YAW], order[PITCH] = SWEEP_ANGLE * (4.0 * abs(swept - 0.5) - 1.0), SEARCH_PITCH
        return
    if unsure and phase < GLANCE_TIME and way > 0.35:
        order[YAW], order[PITCH] = nearest_goal(belief, ground), 0.0
        return
    order[YAW] = min(max(wrap_angle(math.atan2(dy, dx) - belief[HEADING]), -YAW_LIMIT), YAW_LIMIT)
    below = math.atan2(ground[EYES], max(way, 0.05))
    order[PITCH] = -(below - ground[TILT]) if below > 0.55 * ground[TILT] else -below


@inlined
def nearest_goal(belief: Floats, ground: Floats) -> float:
    """Yaw of the goal that the head has to turn least for."""
    best = math.inf
    for end in (-1.0, 1.0):
        yaw = wrap_angle(math.atan2(-belief[Y], end * ground[LENGTH] / 2 - belief[X]) - belief[HEADING])
        if abs(yaw) < abs(best):
            best = yaw
    return min(max(best, -YAW_LIMIT), YAW_LIMIT)


@inlined
def walk_to(
    belief: Floats,
    game: Floats,
    ground: Floats,
    order: Floats,
    x: float,
    y: float,
    face: float,
    rest: float,
    avoids: float,
    pace: float,
) -> None:
    """Walks to a place and there looks into a direction (NaN for any); stands if it is within `rest` of both."""
    dx, dy = x - belief[X], y - belief[Y]
    way, direction = length(dx, dy), math.atan2(dy, dx)
    turned = 0.0 if math.isnan(face) else wrap_angle(face - belief[HEADING])
    if way < rest and abs(turned) < 0.3:
        stand(order, 0)
        return
    if avoids > 0.5:
        direction = around(belief, game, direction, way)
    bearing = wrap_angle(direction - belief[HEADING])
    turn = turned if way < 0.5 and not math.isnan(face) else bearing
    c, s = math.cos(bearing), math.sin(bearing)
    top = 1.0 / length(c / (ground[AHEAD] if c > 0 else ground[BACK]), s / ground[ASIDE])
    speed = pace * min(top, WALK_GAIN * way)
    if way > 0.5:
        speed *= max(0.5 + 0.5 * c, 0.1)
    _wish(belief, game, ground, order, speed * c, speed * s, TURN_GAIN * turn, avoids)


@inlined
def _wish(
    belief: Floats,
    game: Floats,
    ground: Floats,
    order: Floats,
    ahead: float,
    left: float,
    turn: float,
    avoids: float,
) -> None:
    """Orders a walk; less of what goes towards others who are close, if the strategy cares."""
    if avoids > 0.5:
        c, s = math.cos(belief[HEADING]), math.sin(belief[HEADING])
        for first in (MATES, OPPONENTS):
            for i in range(MAX_PLAYERS):
                k = first + 4 * i
                if not belief[k + 2] < 1.5 or (first == MATES and i == int(game[NUMBER]) - 1):
                    continue
                dx, dy = belief[k] - belief[X], belief[k + 1] - belief[Y]
                if abs(dx) > SLOWING_DISTANCE or abs(dy) > SLOWING_DISTANCE:
                    continue
                gap = length(dx, dy)
                if gap >= SLOWING_DISTANCE or gap < 1e-6:
                    continue
                x, y = (c * dx + s * dy) / gap, (c * dy - s * dx) / gap
                towards = x * ahead + y * left
                if towards > 0.0:
                    cut = towards * min((SLOWING_DISTANCE - gap) / (SLOWING_DISTANCE - STOPPING_DISTANCE), 1.0)
                    ahead, left = ahead - cut * x, left - cut * y
    order[LEGS] = _WALK
    order[WISH] = min(max(ahead, -ground[BACK]), ground[AHEAD])
    order[WISH + 1] = min(max(left, -ground[ASIDE]), ground[ASIDE])
    order[WISH + 2] = min(max(turn, -ground[TURN]), ground[TURN])


@inlined
def around(belief: Floats, game: Floats, direction: float, way: float) -> float:
    """The direction to walk in: that of the target, or past whoever is in the way first."""
    nearest, bent = math.inf, direction
    c, s = math.cos(direction), math.sin(direction)
    reach = min(way + AVOIDANCE_DISTANCE, AVOIDANCE_RANGE)
    for first in (MATES, OPPONENTS):
        for i in range(MAX_PLAYERS):
            k = first + 4 * i
            if not belief[k + 2] < 2.0 or (first == MATES and i == int(game[NUMBER]) - 1):
                continue
            dx, dy = belief[k] - belief[X], belief[k + 1] - belief[Y]
            along, across = c * dx + s * dy, c * dy - s * dx
            if along < 0.0 or along > min(way, reach) or abs(across) > AVOIDANCE_DISTANCE:
                continue
            gap = length(dx, dy)
            if gap > reach or gap > nearest or gap < 1e-6:
                continue
            width = math.asin(AVOIDANCE_DISTANCE / gap) if gap > AVOIDANCE_DISTANCE else math.pi / 2
            nearest, bent = gap, math.atan2(dy, dx) + (width if across < 0.0 else -width)
    return bent


@inlined
def blocked(belief: Floats, angle: float, within: float) -> float:
    """What opponents in the way of a ball cost."""
    cost, c, s = 0.0, math.cos(angle), math.sin(angle)
    for i in range(MAX_PLAYERS):
        k = OPPONENTS + 4 * i
        if not belief[k + 2] < 2.5:
            continue
        dx, dy = belief[k] - belief[BALL_X], belief[k + 1] - belief[BALL_Y]
        along, across = c * dx + s * dy, abs(c * dy - s * dx)
        if 0.0 < along < within and across < BLOCKER_WIDTH:
            cost += BLOCKER_COST * (1.0 - across / BLOCKER_WIDTH)
    return cost


@inlined
def goal_direction(belief: Floats, ground: Floats) -> float:
    """From the ball to the opponents' goal, or to the place before it if the ball lies beside it."""
    end, post = ground[LENGTH] / 2, ground[GOAL] / 2
    x, y = belief[BALL_X], belief[BALL_Y]
    if x > end - 0.1 * ground[LENGTH] and abs(y) > post + 0.1:
        return math.atan2(-y, end - 0.08 * ground[LENGTH] - x)
    return math.atan2(min(max(y, -0.4 * post), 0.4 * post) - y, end + 0.15 - x)


@inlined
def choose_aim(belief: Floats, game: Floats, ground: Floats, traits: Floats) -> tuple[float, float]:
    """Direction in which to play the ball, and how strongly."""
    x, y = belief[BALL_X], belief[BALL_Y]
    if traits[AIMS] < 0.5:
        return math.atan2(y - belief[Y], x - belief[X]), 1.0
    goal = goal_direction(belief, ground)
    if traits[AIMS] < 1.5:
        return goal, 1.0
    best, least = goal, math.inf
    to_goal = length(ground[LENGTH] / 2 - x, y)
    for gap in AIM_OFFSETS:
        angle = goal + gap
        cost = abs(gap) + blocked(belief, angle, BLOCKER_RANGE)
        out_x, out_y = x + 0.8 * math.cos(angle), y + 0.8 * math.sin(angle)
        if abs(out_y) > ground[WIDTH] / 2 or out_x < -ground[LENGTH] / 2:
            cost += 2.0
        if cost < least:
            best, least = angle, cost
    strength = 1.0
    if traits[PASSES] > 0.5 and to_goal > 0.6 * ground[REACH]:
        for i in range(int(game[PLAYERS])):
            k = MATES + 4 * i
            if i in (0, int(game[NUMBER]) - 1) or not belief[k + 2] < 3.0 or belief[k + 3] > 0.5:
                continue
            px, py = belief[k] + 0.3 - x, belief[k + 1] - y
            way, angle = length(px, py), math.atan2(py, px)
            if way < 0.7 or way > ground[REACH] or belief[k] < x + 0.2:
                continue
            cost = 0.5 * abs(wrap_angle(angle - goal)) + blocked(belief, angle, way) - 0.15
            if cost < least:
                best, least, strength = angle, cost, min(max((way + 0.3) / ground[REACH], 0.3), 1.0)
    return wrap_angle(best), strength


@inlined
def play_ball(
    belief: Floats, game: Floats, ground: Floats, traits: Floats, mind: Floats, order: Floats, restart: bool
) -> None:
    """Goes for the ball and plays it."""
    aim, strength = choose_aim(belief, game, ground, traits)
    bx, by = belief[BALL_X] + 0.3 * belief[BALL_VX], belief[BALL_Y] + 0.3 * belief[BALL_VY]
    dx, dy = bx - belief[X], by - belief[Y]
    way, bearing = length(dx, dy), math.atan2(dy, dx)
    missing = wrap_angle(aim - bearing)
    if way > APPROACH_DISTANCE:
        lead = min(way / ground[AHEAD] * 0.5, 1.5)
        bx, by = belief[BALL_X] + lead * belief[BALL_VX], belief[BALL_Y] + lead * belief[BALL_VY]
        x, y = bx - CIRCLING_DISTANCE * math.cos(aim), by - CIRCLING_DISTANCE * math.sin(aim)
        if abs(missing) > 1.2:
            side = math.copysign(1.3, missing)
            x, y = bx - CIRCLING_DISTANCE * math.cos(aim - side), by - CIRCLING_DISTANCE * math.sin(aim - side)
        walk_to(belief, game, ground, order, x, y, bearing, 0.0, traits[AVOIDS], traits[PACE])
        order[INTENT], mind[FOOT] = 2, 0.0
        return
    if abs(missing) > (STILL_ALIGNED_ANGLE if mind[FOOT] != 0.0 else ALIGNED_ANGLE):
        angle = bearing + math.pi + min(max(missing, -CIRCLING_STEP), CIRCLING_STEP)
        radius = BEHIND_BALL_DISTANCE if abs(missing) < 2 * ALIGNED_ANGLE else CIRCLING_DISTANCE
        x, y = bx + radius * math.cos(angle), by + radius * math.sin(angle)
        walk_to(belief, game, ground, order, x, y, bearing, 0.0, traits[AVOIDS], traits[PACE])
        order[INTENT], mind[FOOT] = 3, 0.0
        return
    if traits[KICKS] > 0.5 or restart:
        strike(belief, game, ground, traits, mind, order, aim, strength)
    else:
        dribble(belief, game, ground, traits, order, aim, dx, dy)
        mind[FOOT] = 1.0


@inlined
def dribble(
    belief: Floats, game: Floats, ground: Floats, traits: Floats, order: Floats, aim: float, dx: float, dy: float
) -> None:
    """Walks through the ball."""
    c, s = math.cos(aim), math.sin(aim)
    along, beside = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - belief[HEADING])
    bearing = math.atan2(2.0 * beside, max(along, 0.0) + 0.2) + turned
    speed = traits[PACE] * ground[AHEAD] * (1.0 if abs(beside) < 0.06 or along > 0.3 else 0.5)
    _wish(
        belief, game, ground, order, speed * math.cos(bearing), speed * math.sin(bearing), TURN_GAIN * turned,
        traits[AVOIDS],
    )  # fmt: skip
    order[INTENT] = 6


@inlined
def strike(
    belief: Floats,
    game: Floats,
    ground: Floats,
    traits: Floats,
    mind: Floats,
    order: Floats,
    aim: float,
    strength: float,
) -> None:
    """Gets the ball before a foot and kicks it."""
    c, s = math.cos(belief[HEADING]), math.sin(belief[HEADING])
    dx, dy = belief[BALL_X] - belief[X], belief[BALL_Y] - belief[Y]
    ahead, left = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - belief[HEADING]) if traits[AIMS] > 0.5 else 0.0
    if mind[FOOT] == 0.0:
        mind[FOOT] = 1.0 if left + 0.15 * turned > 0.0 else -1.0
    foot = mind[FOOT]
    off_ahead, off_left = ahead - ground[KICK_X], left - foot * ground[KICK_Y]
    slow = length(belief[BALL_VX], belief[BALL_VY]) < 0.25
    if (
        slow
        and abs(off_ahead) < ground[KICK_OFF_X]
        and abs(off_left) < ground[KICK_OFF_Y]
        and abs(turned) < MAX_KICK_ANGLE_ERROR
    ):
        order[LEGS] = _KICK
        order[KICK] = _LEFT_STRAIGHT if foot > 0 else _RIGHT_STRAIGHT
        order[STRENGTH], order[INTENT] = strength, 15 if strength < 1.0 else 5
        mind[FOOT] = 0.0
        return
    beside = off_left + ground[KICK_X] * turned  # turning moves the ball across
    fits = abs(beside) < 2.0 * ground[KICK_OFF_Y] and abs(turned) < 0.3
    forward = WALK_GAIN * (off_ahead if fits else off_ahead - 0.05)
    most = 0.6 * ground[AHEAD]
    _wish(
        belief,
        game,
        ground,
        order,
        min(max(forward, -most), most),
        WALK_GAIN * beside,
        TURN_GAIN * turned,
        traits[AVOIDS],
    )
    order[INTENT] = 4
