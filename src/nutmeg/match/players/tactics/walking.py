"""How a player walks: to places, around others, smoothly, and with the gait that suits.

    walk_to(player, x, y, face, at_ease(player, 0.0))   # orders a walk for this decision, or to stand there

A player walks towards its target and turns to it at the same time, as in MacAlpine and others (2012), section 5; near
the target it turns to its final heading. Obstacles in its way are passed on the side that needs the smaller detour past
all of them, and the player keeps to that side until it has passed. The body limits velocities that it cannot reach;
this module chooses how they decrease near a target.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.players.tactics.records import Gait, Intent
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.behavioural.state import Legs

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.tactics.records import PlayerContext
    from nutmeg.match.players.tracking.records import BeliefRecord

ALL_PLAYERS = 2 * MAX_PLAYERS
"""Rows of a belief about other players: first the team-mates, then the opponents."""
MAX_MATE_AGE = 10.0
"""A team-mate that was neither seen nor heard for this time counts as off the pitch, s."""
MAX_OPPONENT_AGE = 1.6
"""The place of an opponent is ignored when it was last observed longer ago than this, s."""
TURN_GAIN = 2.0
"""Turn rate for each radian of heading error, 1/s."""
SPRINT_ANGLE = math.radians(15)
"""Bearing within which the sprint is used, rad."""
SPRINT_DISTANCE = 1.0
"""Distance beyond which the sprint is used, m."""
ARRIVAL_ANGLE = 0.25
"""A player at its target stops when its heading error is below this, rad."""
DEPARTURE_ANGLE = 0.6
"""A player that stands at its target turns again when its heading error exceeds this, rad."""
LOOK_AHEAD_DISTANCE = 1.6
"""Obstacles farther away than this are ignored, m."""
MEETING_TIME = 0.8
"""Others are expected to keep their velocity up to this time, s."""
FALLEN_ROOM_SHARE = 1.27
"""Room kept from a fallen robot, as a share of that kept from an upright one; its limbs reach farther."""
POST_ROOM = 0.3
"""Distance kept from goal posts and the sides of goals, m."""
GOAL_DEPTH = 0.6
"""Depth of goals, m."""
KEPT_SIDE_ANGLE = 0.7
"""A player keeps to the side on which it passes an obstacle unless this is farther off its way, rad."""
OTHER_SIDE_COST = 0.5
"""How much smaller the detour on the other side has to be, rad."""
MAX_BEND = 2.2
"""Largest detour from the direction of the target, rad."""
CLOSE_ROOM_SHARE = 1.09
"""Within this share of its room around another robot, a player slows its approach down, because collisions make robots
fall."""
TOUCHING_ROOM_SHARE = 0.55
"""Within this share of its room around another robot, a player does not approach it at all."""
STANDING_ROOM_SHARE = 0.67
"""Distance at which a robot that stands is touched, as a share of that of one that walks."""
SWINGING_SPEED = 0.3
"""Robots that are faster than this swing feet and arms as far as they do, m/s."""
FIRST_AT_BALL = 0.05
"""A player is the first at the ball if it is nearer to it than another one by this, m; so two never both are."""
GOAL_LINE_DEPTH = 0.1
"""A player less than this inside a goal line, or beyond it, counts as behind it, m."""
GOAL_LINE_RETURN = 0.5
"""Distance from the goal line to which such a player returns first, m."""
MAX_ACCELERATION = 2.5
"""Limit of the rate of change of the commanded velocity, m/s^2."""
MAX_TURN_ACCELERATION = 10.0
"""Limit of the rate of change of the commanded turn rate, rad/s^2."""


class Manner(NamedTuple):
    """How to walk to a place."""

    rest: bool
    """Whether to stand still at the target."""
    face_within: float
    """Distance from the target within which the player turns to its final heading, m."""
    slow_within: float
    """Distance from the target within which the player slows down, m."""
    room: float
    """Distance to keep from other players, m; 0 ignores them."""
    ball_x: float
    """Place of the ball to walk around, m."""
    ball_y: float
    ball_room: float
    """Distance to keep from that ball, m; 0 ignores it."""
    fine: bool
    """Whether to walk with the positioning gait, which has small, exact steps."""
    pace: float
    """Share of the top speed."""


@inlined
def length(x: float, y: float) -> float:
    """The length of a vector; `math.hypot` takes several times as long."""
    return math.sqrt(x * x + y * y)


@inlined
def clip(value: float, low: float, high: float) -> float:
    """A number limited to the range from `low` to `high`."""
    return min(max(value, low), high)


@inlined
def is_known(belief: BeliefRecord, k: int, own: int) -> bool:
    """Whether another player (a row of the belief) is known well enough to count; `own` is the player's own row."""
    other = belief.others[k]
    found: bool = (
        k != own and other.age < (MAX_MATE_AGE if k < MAX_PLAYERS else MAX_OPPONENT_AGE) and other.x == other.x
    )
    return found


@inlined
def stand(player: PlayerContext, intent: int) -> None:
    """Orders the player to stand still, with an intent, and resets the remembered velocity to 0."""
    memory = player.memory
    player.order.legs, player.order.intent = Legs.STAND, intent
    memory.ahead, memory.left, memory.turn = 0.0, 0.0, 0.0


@inlined
def stopping_distance(player: PlayerContext) -> float:
    """The stopping distance of a player from its full speed, m."""
    body = player.ground.body
    return body.run * (body.stop_linear + body.stop_quadratic * body.run)


@inlined
def at_ease(player: PlayerContext, ball_room: float) -> Manner:
    """The manner of a player that goes to a place and waits there, keeping `ball_room` metres from the ball."""
    belief, traits = player.belief, player.traits
    return Manner(
        rest=True,
        face_within=player.ground.scale,
        slow_within=max(traits.slow_distance, stopping_distance(player)),
        room=traits.room if traits.avoids else 0.0,
        ball_x=belief.ball_x,
        ball_y=belief.ball_y,
        ball_room=ball_room,
        fine=False,
        pace=traits.pace,
    )


@unchecked
def walk_to(player: PlayerContext, x: float, y: float, face: float, manner: Manner) -> None:
    """Orders a walk to a place (x, y), m, with a final heading `face`, rad (NaN for any)."""
    belief, traits, memory, order = player.belief, player.traits, player.memory, player.order
    way = length(x - belief.x, y - belief.y)
    turned = 0.0 if math.isnan(face) else wrap_angle(face - belief.heading)
    memory.standing = manner.rest and (
        way < (traits.departure if memory.standing else traits.arrival)
        and abs(turned) < (DEPARTURE_ANGLE if memory.standing else ARRIVAL_ANGLE)
    )
    if memory.standing:
        stand(player, Intent.STAND)
        return
    x, y = out_of_goal(player, x, y)
    dx, dy = x - belief.x, y - belief.y
    way, direction = length(dx, dy), math.atan2(dy, dx)
    if manner.room > 0.0 or manner.ball_room > 0.0:
        direction = _around_obstacles(player, direction, way, manner)
    bearing = wrap_angle(direction - belief.heading)
    # Far from the target the body turns into the direction of the walk, which is faster; near it, to its final heading.
    turn = turned if way < manner.face_within and not math.isnan(face) else bearing
    speed = manner.pace * min(way / manner.slow_within, 1.0)
    if way > manner.face_within:  # a player that faces the other way first turns nearly on the spot
        speed *= max(0.5 + 0.5 * math.cos(bearing), 0.05)
    ahead, left = fastest(player, bearing)
    if manner.room > 0.0:
        ahead, left = without_bumping(player, speed * ahead, speed * left, manner.room)
    else:
        ahead, left = speed * ahead, speed * left
    straight = abs(bearing) < SPRINT_ANGLE and way > SPRINT_DISTANCE
    order.gait = Gait.POSITIONING if manner.fine else Gait.SPRINT if straight else Gait.WALK
    walk(player, ahead, left, TURN_GAIN * turn)


@inlined
def walk(player: PlayerContext, ahead: float, left: float, turn: float) -> None:
    """Orders a velocity within the body's limits and the acceleration limits, m/s and rad/s."""
    memory, order, ask, step = player.memory, player.order, player.ground.body.ask, player.game.step
    most, most_turn = MAX_ACCELERATION * step, MAX_TURN_ACCELERATION * step
    memory.ahead = clip(clip(ahead, -ask[1], ask[0]), memory.ahead - most, memory.ahead + most)
    memory.left = clip(clip(left, -ask[2], ask[2]), memory.left - most, memory.left + most)
    memory.turn = clip(clip(turn, -ask[3], ask[3]), memory.turn - most_turn, memory.turn + most_turn)
    order.legs, order.ahead, order.left, order.turn = Legs.WALK, memory.ahead, memory.left, memory.turn


@inlined
def out_of_goal(player: PlayerContext, x: float, y: float) -> tuple[float, float]:
    """The next place on the way to (x, y), m: a player behind a goal line first comes straight back over it."""
    belief, end, post = player.belief, player.ground.length / 2, player.ground.goal_width / 2
    if abs(belief.x) < end - GOAL_LINE_DEPTH or abs(x) > end:
        return x, y
    inside = abs(belief.y) < post
    if inside == (abs(y) < post) and (inside or y * belief.y > 0.0):
        return x, y
    back = clip(belief.y, POST_ROOM - post, post - POST_ROOM) if inside else belief.y
    return math.copysign(end - GOAL_LINE_RETURN, belief.x), back


@inlined
def fastest(player: PlayerContext, bearing: float) -> tuple[float, float]:
    """The fastest velocity in a direction relative to the heading, ahead and to the left, on an ellipse, m/s."""
    ask = player.ground.body.ask
    c, s = math.cos(bearing), math.sin(bearing)
    speed = 1.0 / length(c / (ask[0] if c > 0 else ask[1]), s / ask[2])
    return speed * c, speed * s


@inlined
def without_bumping(player: PlayerContext, ahead: float, left: float, room: float) -> tuple[float, float]:
    """A velocity whose components towards players nearer than about `room` metres are limited.

    A strategy with a `brake_time` looks at the relative motion: if both went on like that and would touch, the player
    stays slow enough to need at least that time until they do, so that it can stop: a walk of 1 m/s needs 0.6 m. It
    brakes neither for others that leave nor for those that it passes by. It may still approach opponents at
    `contact_speed`, because the league calls it charging only from 0.4 m/s on, and steps back from those that it
    touches. A player that walks through the ball walks into an opponent that is farther from it at up to `duel_speed`:
    otherwise it would lose the ball.
    """
    belief, traits, own, body = player.belief, player.traits, player.game.number - 1, player.ground.body
    ball_x, ball_y = belief.ball_x, belief.ball_y
    mine = length(ball_x - belief.x, ball_y - belief.y) if player.memory.goes else math.inf
    close, touching = CLOSE_ROOM_SHARE * room, TOUCHING_ROOM_SHARE * room
    # Others come nearer by themselves, so that braking begins farther away than for those that stand.
    brakes_within = max(close, body.contact_distance + 2.0 * traits.brake_time * body.run)
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    for k in range(ALL_PLAYERS):
        other = belief.others[k]
        dx, dy = other.x - belief.x, other.y - belief.y
        if not (abs(dx) < brakes_within and abs(dy) < brakes_within) or not is_known(belief, k, own):
            continue
        gap = length(dx, dy)
        if gap < 1e-3:
            continue
        # One that stands needs less room than one whose feet and arms swing. So a ball at the feet of a robot that does
        # not play it can be reached.
        moves = min(length(other.vx, other.vy) / SWINGING_SPEED, 1.0)
        share = FALLEN_ROOM_SHARE if other.lies else STANDING_ROOM_SHARE + (1.0 - STANDING_ROOM_SHARE) * moves
        contact = body.contact_distance * share
        x, y = (c * dx + s * dy) / gap, (c * dy - s * dx) / gap
        towards = x * ahead + y * left
        allowed = max(towards * min((gap - touching) / (close - touching), 1.0), 0.0)
        if traits.brake_time > 0.0:
            # The velocity at which the player comes nearer to the other one: along the line between them, and across.
            u, v = c * other.vx + s * other.vy, c * other.vy - s * other.vx
            flees = x * u + y * v
            closing, across = towards - flees, x * (left - v) - y * (ahead - u)
            if gap < contact or (closing > 0.0 and gap * abs(across) < contact * length(closing, across)):
                most = (gap - contact) / traits.brake_time
                theirs = length(ball_x - other.x, ball_y - other.y)
                plays = player.memory.dribbling and mine < theirs - FIRST_AT_BALL
                if k >= MAX_PLAYERS and plays and not other.lies:
                    # Who plays the ball does not give way to an opponent that runs at it, but does not run it over.
                    follows = max(flees, 0.0) if gap > contact else 0.0
                    allowed = min(allowed, max(most, traits.duel_speed) + follows)
                elif gap < contact:
                    allowed = min(allowed, most)  # it steps back: who stands among another one's feet falls
                else:
                    least = 0.0 if k < MAX_PLAYERS else traits.contact_speed
                    allowed = min(allowed, max(max(most, least) + flees, 0.0))
        if towards > allowed:
            ahead, left = ahead - (towards - allowed) * x, left - (towards - allowed) * y
    return ahead, left


@inlined
def _around_obstacles(player: PlayerContext, direction: float, way: float, manner: Manner) -> float:
    """The direction of the walk, rad: that of the target, or the nearest to it that leads past all obstacles."""
    belief, ground, own, memory = player.belief, player.ground, player.game.number - 1, player.memory
    obstacles, count = np.empty((ALL_PLAYERS + 3, 3)), 0
    if manner.room > 0.0:
        for k in range(ALL_PLAYERS):
            other = belief.others[k]
            dx, dy = other.x - belief.x, other.y - belief.y
            if abs(dx) < LOOK_AHEAD_DISTANCE and abs(dy) < LOOK_AHEAD_DISTANCE and is_known(belief, k, own):
                # The place where the player would meet the other one, not the one where it is now.
                gap = max(length(dx, dy), 1e-6)
                comes = max(-(dx * other.vx + dy * other.vy) / gap, 0.0)
                soon = min(gap / (ground.body.run + comes), MEETING_TIME)
                dx, dy = dx + soon * other.vx, dy + soon * other.vy
                room = manner.room * (FALLEN_ROOM_SHARE if other.lies else 1.0)
                count = _note_obstacle(obstacles, count, dx, dy, room)
        goal = ground.length / 2
        if abs(belief.x) > goal - LOOK_AHEAD_DISTANCE:
            # The nearest place of each side of the goal, which is the post for a player on the pitch.
            dx = math.copysign(clip(abs(belief.x), goal, goal + GOAL_DEPTH), belief.x) - belief.x
            for y in (ground.goal_width / 2, -ground.goal_width / 2):
                count = _note_obstacle(obstacles, count, dx, y - belief.y, POST_ROOM)
    if manner.ball_room > 0.0:
        dx, dy = manner.ball_x - belief.x, manner.ball_y - belief.y
        count = _note_obstacle(obstacles, count, dx, dy, manner.ball_room)
    first = _first_in_the_way(obstacles[:count], direction, way)
    if first < 0:
        memory.swerve = 0
        return direction
    # Of the two sides of each obstacle in the way, the first free one on the side on which it passes already.
    off = wrap_angle(math.atan2(obstacles[first, 1], obstacles[first, 0]) - direction)
    side = 1 if off < 0 else -1
    if memory.swerve != 0 and abs(off) <= KEPT_SIDE_ANGLE:
        side = memory.swerve
    plain = direction + off + side * _covered_angle(obstacles, first)
    best, least = plain, math.inf
    for k in range(count):
        bearing, covered = math.atan2(obstacles[k, 1], obstacles[k, 0]), _covered_angle(obstacles, k)
        for turn in (1, -1):
            tried = bearing + turn * (covered + 1e-6)
            bend = wrap_angle(tried - direction)
            cost = abs(bend) + (0.0 if bend * side > 0.0 else OTHER_SIDE_COST)
            if cost < least and abs(bend) < MAX_BEND and _first_in_the_way(obstacles[:count], tried, way) < 0:
                best, least = tried, cost
    memory.swerve = 1 if wrap_angle(best - direction) > 0.0 else -1
    return best


@inlined
def _note_obstacle(obstacles: Floats, count: int, dx: float, dy: float, room: float) -> int:
    """Adds an obstacle at (dx, dy) from the player with the room to keep from it, m; returns how many there are."""
    obstacles[count, 0], obstacles[count, 1], obstacles[count, 2] = dx, dy, room
    return count + 1


@inlined
def _covered_angle(obstacles: Floats, k: int) -> float:
    """The half-angle that an obstacle's room covers, rad; inside its room it exceeds 90 degrees, which leads away."""
    gap, room = length(obstacles[k, 0], obstacles[k, 1]), obstacles[k, 2]
    return math.asin(room / gap) if gap > room else math.pi / 2 + (room - gap) / room * 0.6


@unchecked
def _first_in_the_way(obstacles: Floats, direction: float, way: float) -> int:
    """The row of the obstacle (N, 3) that a walk of `way` metres in a direction, rad, meets first; -1 for none."""
    first, nearest = -1, math.inf
    for k in range(len(obstacles)):
        dx, dy, room = obstacles[k]
        gap = length(dx, dy)
        if gap - room > min(way, LOOK_AHEAD_DISTANCE) or gap - room > nearest or gap < 1e-6:
            continue
        off = abs(wrap_angle(math.atan2(dy, dx) - direction))
        if off > math.pi / 2 + 0.3 or gap * math.cos(off) > max(way, room) or off >= _covered_angle(obstacles, k):
            continue
        first, nearest = k, gap - room
    return first
