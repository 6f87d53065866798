"""How a compiled player moves: around others, behind the ball, through it; where it kicks and where it looks.

A player circles the ball until it stands behind it as seen from its aim, as the built-in team does
(`players.builtin.attack`). Looking follows what two cameras with a narrow view need: the ball most of the time, and now
and then a goal, so that the player knows where it is.

All functions get a `PlayerContext` (`records`) and write the player's order. Distances are in metres, times in
seconds, angles in radians. The constants were tuned in tournaments of the strategies against each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined
from nutmeg.match.players.strategies.records import Intent
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from nutmeg.match.players.strategies.records import PlayerContext
    from nutmeg.match.players.tracking.records import BeliefRecord

ALL_PLAYERS = 2 * MAX_PLAYERS
"""Others that a player knows of: first its mates, then the opponents."""
TURN_GAIN = 2.0
"""Turning speed for each radian that is missing, 1/s."""
WALK_GAIN = 2.0
"""Walking speed for each metre that is missing, 1/s."""
ALIGNED_ANGLE = 0.35
"""Within this angle of its aim a player begins to kick or dribble."""
STILL_ALIGNED_ANGLE = 0.6
"""Within this angle of its aim a player who has begun goes on. It is wider, so that players do not hesitate."""
APPROACH_DISTANCE = 0.7
"""Farther from the ball a player goes straight to the place behind it."""
CIRCLING_DISTANCE = 0.3
"""Distance from the ball while circling it: feet must not touch it."""
BEHIND_BALL_DISTANCE = 0.22
"""Distance from the ball when nearly behind it."""
CIRCLING_STEP = 0.8
"""How far ahead on the circle the next target lies."""
MAX_KICK_ANGLE_ERROR = 0.12
"""How far from the aim the heading may be at a kick."""
AVOIDANCE_DISTANCE = 0.42
"""How far paths keep from others."""
SLOWING_DISTANCE = 0.45
"""Nearer than this to somebody, a player slows down."""
STOPPING_DISTANCE = 0.24
"""Nearer than this to somebody, a player does not walk towards it."""
AVOIDANCE_RANGE = 1.3
"""Others farther away do not matter yet."""
BLOCKER_RANGE = 1.6
"""Opponents so far ahead of the ball block it."""
BLOCKER_WIDTH = 0.35
"""Opponents so far beside the line of the ball block it."""
BLOCKER_COST = 1.5
"""What an opponent in the middle of the line costs, in radians of a worse direction."""
AIM_OFFSETS = np.array([0.0, 0.25, -0.25, 0.5, -0.5, 0.9, -0.9])
"""Directions that are tried beside that of the goal."""
GLANCE_INTERVAL = 2.4
"""How often a player looks for a goal instead of the ball."""
GLANCE_TIME = 0.7
"""How long it then looks for the goal."""
CERTAIN_SPREAD = 0.12
"""Deviation of the own place below which no glance is needed."""
CERTAIN_HEADING_SPREAD = 0.08
"""Deviation of the own heading below which no glance is needed."""
SWEEP_ANGLE = 1.6
"""How far the head turns when it searches."""
SWEEP_TIME = 2.6
"""How long the head takes there and back."""
YAW_LIMIT = 2.0
"""How far a head turns to look at something."""
SEARCH_BALL_AGE = 1.5
"""A ball not seen for so long is searched for."""
SEARCH_PITCH = -0.2
"""Pitch of a head that searches."""


@inlined
def length(x: float, y: float) -> float:
    """The length of a vector; `math.hypot` takes several times as long."""
    return math.sqrt(x * x + y * y)


@inlined
def stand(player: PlayerContext, intent: int) -> None:
    """Orders to stand."""
    player.order.legs, player.order.intent = Legs.STAND, intent


@inlined
def look(player: PlayerContext) -> None:
    """Looks at the ball, now and then at a goal, and around if the ball is lost."""
    belief, ground, order = player.belief, player.ground, player.order
    time, age = player.game.time, min(belief.seen_ago, belief.told_ago)
    dx, dy = belief.ball_x - belief.x, belief.ball_y - belief.y
    way = length(dx, dy)
    # Numbers shift the moment, so that not all players of a team look away from the ball at once.
    phase = (time + 0.3 * player.game.number) % GLANCE_INTERVAL
    unsure = belief.spread > CERTAIN_SPREAD or belief.heading_spread > CERTAIN_HEADING_SPREAD
    lost = belief.spread > 5 * CERTAIN_SPREAD or belief.heading_spread > 5 * CERTAIN_HEADING_SPREAD
    if age > SEARCH_BALL_AGE or (lost and way > 0.4):
        swept = (time / SWEEP_TIME) % 1.0
        order.yaw, order.pitch = SWEEP_ANGLE * (4.0 * abs(swept - 0.5) - 1.0), SEARCH_PITCH
        return
    if unsure and phase < GLANCE_TIME and way > 0.35:
        order.yaw, order.pitch = nearest_goal(player), 0.0
        return
    order.yaw = min(max(wrap_angle(math.atan2(dy, dx) - belief.heading), -YAW_LIMIT), YAW_LIMIT)
    # A near ball is in the middle of the lower camera's picture, a far one in that of the upper one.
    below = math.atan2(ground.eyes, max(way, 0.05))
    order.pitch = -(below - ground.lower_eye) if below > 0.55 * ground.lower_eye else -below


@inlined
def nearest_goal(player: PlayerContext) -> float:
    """Yaw of the goal that the head has to turn least for."""
    belief, best = player.belief, math.inf
    for end in (-1.0, 1.0):
        yaw = wrap_angle(math.atan2(-belief.y, end * player.ground.length / 2 - belief.x) - belief.heading)
        if abs(yaw) < abs(best):
            best = yaw
    return min(max(best, -YAW_LIMIT), YAW_LIMIT)


@inlined
def walk_to(player: PlayerContext, x: float, y: float, face: float, rest: float, avoids: bool, pace: float) -> None:
    """Walks to a place and there turns to a direction (NaN for any); stands if it is within `rest` of both.

    Args:
        player: the player.
        x: of the place, m.
        y: of the place, m.
        face: heading at the place, rad.
        rest: how near is near enough, m.
        avoids: whether to walk around others.
        pace: share of the top speed.
    """
    belief, ground = player.belief, player.ground
    dx, dy = x - belief.x, y - belief.y
    way, direction = length(dx, dy), math.atan2(dy, dx)
    turned = 0.0 if math.isnan(face) else wrap_angle(face - belief.heading)
    if way < rest and abs(turned) < 0.3:
        stand(player, Intent.STAND)
        return
    if avoids:
        direction = around_others(player, direction, way)
    bearing = wrap_angle(direction - belief.heading)
    # Far from the place the body turns to where it walks, which is faster; near it, to where it is to look.
    turn = turned if way < 0.5 and not math.isnan(face) else bearing
    c, s = math.cos(bearing), math.sin(bearing)
    top = 1.0 / length(c / (ground.ahead if c > 0 else ground.back), s / ground.side)
    speed = pace * min(top, WALK_GAIN * way)
    if way > 0.5:  # a player that faces the other way first turns nearly on the spot
        speed *= max(0.5 + 0.5 * c, 0.1)
    walk(player, speed * c, speed * s, TURN_GAIN * turn, avoids)


@inlined
def walk(player: PlayerContext, ahead: float, left: float, turn: float, avoids: bool) -> None:
    """Orders a walk; what goes towards others who are close is taken off if the strategy cares."""
    belief, ground, order = player.belief, player.ground, player.order
    if avoids:
        c, s = math.cos(belief.heading), math.sin(belief.heading)
        for k in range(ALL_PLAYERS):
            other = belief.others[k]
            if not other.age < 1.5 or k == player.game.number - 1:
                continue
            dx, dy = other.x - belief.x, other.y - belief.y
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
    order.legs = Legs.WALK
    order.ahead = min(max(ahead, -ground.back), ground.ahead)
    order.left = min(max(left, -ground.side), ground.side)
    order.turn = min(max(turn, -ground.turn), ground.turn)


@inlined
def around_others(player: PlayerContext, direction: float, way: float) -> float:
    """The direction to walk in: that of the target, or past whoever is in the way first."""
    belief, nearest, bent = player.belief, math.inf, direction
    c, s = math.cos(direction), math.sin(direction)
    reach = min(way + AVOIDANCE_DISTANCE, AVOIDANCE_RANGE)
    for k in range(ALL_PLAYERS):
        other = belief.others[k]
        if not other.age < 2.0 or k == player.game.number - 1:
            continue
        dx, dy = other.x - belief.x, other.y - belief.y
        along, across = c * dx + s * dy, c * dy - s * dx
        if along < 0.0 or along > min(way, reach) or abs(across) > AVOIDANCE_DISTANCE:
            continue
        gap = length(dx, dy)
        if gap > reach or gap > nearest or gap < 1e-6:
            continue
        # the tangent to the circle around the other one, on the side on which the target lies
        width = math.asin(AVOIDANCE_DISTANCE / gap) if gap > AVOIDANCE_DISTANCE else math.pi / 2
        nearest, bent = gap, math.atan2(dy, dx) + (width if across < 0.0 else -width)
    return bent


@inlined
def blocked(belief: BeliefRecord, angle: float, within: float) -> float:
    """What opponents in the way of a ball that is played in a direction cost."""
    cost, c, s = 0.0, math.cos(angle), math.sin(angle)
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        if not other.age < 2.5:
            continue
        dx, dy = other.x - belief.ball_x, other.y - belief.ball_y
        along, across = c * dx + s * dy, abs(c * dy - s * dx)
        if 0.0 < along < within and across < BLOCKER_WIDTH:
            cost += BLOCKER_COST * (1.0 - across / BLOCKER_WIDTH)
    return cost


@inlined
def goal_direction(player: PlayerContext) -> float:
    """From the ball to the opponents' goal, or to the place before it if the ball lies beside it."""
    ground, x, y = player.ground, player.belief.ball_x, player.belief.ball_y
    end, post = ground.length / 2, ground.goal_width / 2
    if x > end - 0.1 * ground.length and abs(y) > post + 0.1:
        return math.atan2(-y, end - 0.08 * ground.length - x)
    return math.atan2(min(max(y, -0.4 * post), 0.4 * post) - y, end + 0.15 - x)


@inlined
def choose_aim(player: PlayerContext) -> tuple[float, float]:
    """Direction in which to play the ball, and how strongly."""
    belief, ground, traits = player.belief, player.ground, player.traits
    x, y = belief.ball_x, belief.ball_y
    if traits.aims == 0:
        return math.atan2(y - belief.y, x - belief.x), 1.0
    goal = goal_direction(player)
    if traits.aims == 1:
        return goal, 1.0
    # The cheapest of a few directions: few opponents in the way, near that of the goal, not over a line.
    best, least = goal, math.inf
    to_goal = length(ground.length / 2 - x, y)
    for offset in AIM_OFFSETS:
        angle = goal + offset
        cost = abs(offset) + blocked(belief, angle, BLOCKER_RANGE)
        out_x, out_y = x + 0.8 * math.cos(angle), y + 0.8 * math.sin(angle)
        if abs(out_y) > ground.width / 2 or out_x < -ground.length / 2:
            cost += 2.0
        if cost < least:
            best, least = angle, cost
    strength = 1.0
    # A pass is only worth it where a kick does not reach the goal; the keeper (0) gets none.
    if traits.passes and to_goal > 0.6 * ground.kick_reach:
        for k in range(player.game.players):
            mate = belief.others[k]
            if k in (0, player.game.number - 1) or not mate.age < 3.0 or mate.lies:
                continue
            px, py = mate.x + 0.3 - x, mate.y - y
            way, angle = length(px, py), math.atan2(py, px)
            if way < 0.7 or way > ground.kick_reach or mate.x < x + 0.2:
                continue
            cost = 0.5 * abs(wrap_angle(angle - goal)) + blocked(belief, angle, way) - 0.15
            if cost < least:
                best, least, strength = angle, cost, min(max((way + 0.3) / ground.kick_reach, 0.3), 1.0)
    return wrap_angle(best), strength


@inlined
def play_ball(player: PlayerContext, restart: bool) -> None:
    """Goes for the ball and plays it."""
    belief, traits, memory, order = player.belief, player.traits, player.memory, player.order
    aim, strength = choose_aim(player)
    bx, by = belief.ball_x + 0.3 * belief.ball_vx, belief.ball_y + 0.3 * belief.ball_vy
    dx, dy = bx - belief.x, by - belief.y
    way, bearing = length(dx, dy), math.atan2(dy, dx)
    missing = wrap_angle(aim - bearing)
    if way > APPROACH_DISTANCE:
        # To where the ball will be, behind it; who comes from the wrong side aims at a place beside it first.
        lead = min(way / player.ground.ahead * 0.5, 1.5)
        bx, by = belief.ball_x + lead * belief.ball_vx, belief.ball_y + lead * belief.ball_vy
        x, y = bx - CIRCLING_DISTANCE * math.cos(aim), by - CIRCLING_DISTANCE * math.sin(aim)
        if abs(missing) > 1.2:
            side = math.copysign(1.3, missing)
            x, y = bx - CIRCLING_DISTANCE * math.cos(aim - side), by - CIRCLING_DISTANCE * math.sin(aim - side)
        walk_to(player, x, y, bearing, 0.0, traits.avoids, traits.pace)
        order.intent, memory.foot = Intent.TO_THE_BALL, 0.0
        return
    if abs(missing) > (STILL_ALIGNED_ANGLE if memory.foot != 0.0 else ALIGNED_ANGLE):
        angle = bearing + math.pi + min(max(missing, -CIRCLING_STEP), CIRCLING_STEP)
        radius = BEHIND_BALL_DISTANCE if abs(missing) < 2 * ALIGNED_ANGLE else CIRCLING_DISTANCE
        x, y = bx + radius * math.cos(angle), by + radius * math.sin(angle)
        walk_to(player, x, y, bearing, 0.0, traits.avoids, traits.pace)
        order.intent, memory.foot = Intent.AROUND_THE_BALL, 0.0
        return
    if traits.kicks or restart:
        strike(player, aim, strength)
    else:
        dribble(player, aim, dx, dy)
        memory.foot = 1.0


@inlined
def dribble(player: PlayerContext, aim: float, dx: float, dy: float) -> None:
    """Walks through the ball, which is at (dx, dy) from the player."""
    traits = player.traits
    c, s = math.cos(aim), math.sin(aim)
    along, beside = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - player.belief.heading)
    bearing = math.atan2(2.0 * beside, max(along, 0.0) + 0.2) + turned
    speed = traits.pace * player.ground.ahead * (1.0 if abs(beside) < 0.06 or along > 0.3 else 0.5)
    walk(player, speed * math.cos(bearing), speed * math.sin(bearing), TURN_GAIN * turned, traits.avoids)
    player.order.intent = Intent.DRIBBLE


@inlined
def strike(player: PlayerContext, aim: float, strength: float) -> None:
    """Gets the ball before a foot and kicks it."""
    belief, ground, memory, order = player.belief, player.ground, player.memory, player.order
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    dx, dy = belief.ball_x - belief.x, belief.ball_y - belief.y
    ahead, left = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - belief.heading) if player.traits.aims > 0 else 0.0
    # The foot is chosen once: who changes it in every cycle never gets ready.
    if memory.foot == 0.0:
        memory.foot = 1.0 if left + 0.15 * turned > 0.0 else -1.0
    foot = memory.foot
    off_ahead, off_left = ahead - ground.kick_x, left - foot * ground.kick_y
    slow = length(belief.ball_vx, belief.ball_vy) < 0.25
    placed = abs(off_ahead) < ground.kick_slack_x and abs(off_left) < ground.kick_slack_y
    if slow and placed and abs(turned) < MAX_KICK_ANGLE_ERROR:
        order.legs = Legs.KICK
        order.kick = KickKind.LEFT_STRAIGHT if foot > 0 else KickKind.RIGHT_STRAIGHT
        order.strength, order.intent = strength, Intent.PASS if strength < 1.0 else Intent.KICK
        memory.foot = 0.0
        return
    beside = off_left + ground.kick_x * turned  # turning moves the ball across
    fits = abs(beside) < 2.0 * ground.kick_slack_y and abs(turned) < 0.3
    # Until the ball is before the foot, keep a little more distance, so that no step touches it.
    forward = WALK_GAIN * (off_ahead if fits else off_ahead - 0.05)
    most = 0.6 * ground.ahead
    walk(player, min(max(forward, -most), most), WALK_GAIN * beside, TURN_GAIN * turned, player.traits.avoids)
    order.intent = Intent.GET_READY
