"""Walking to places: around others, smoothly, and with the walk's set of parameters that suits.

    walk_to(situation, memory, (3.0, 1.0), face=0.0)        # a `Walk` for this cycle, or `Stand` when arrived

A player walks towards its target and turns to it at the same time, as in MacAlpine and others (2012), section 5; near
the target it turns to where it is to look there. Whoever stands in its way is passed on the side that bends the way
less, and on that side until it is past. Speeds asked for are above what walks can do, which cut them; what is chosen
here is how they go down near a target.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from nutmeg.base.angles import wrap_angle
from nutmeg.match.players.builtin.situation import Point, clipped
from nutmeg.match.players.request import Stand, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.match.players.builtin.situation import Memory, Situation

Obstacle = tuple[float, float, float]
"""x, y and how far to keep from it, m."""

MAX_AHEAD, MAX_BACK, MAX_SIDE, MAX_TURN = 0.9, 0.5, 0.45, 2.0
"""The fastest that is asked for, m/s and rad/s."""
TURN_GAIN = 2.0
"""Turn rate for each radian, 1/s."""
SLOW_DISTANCE = 0.35
"""From here on a player slows down, m."""
FACE_DISTANCE = 0.5
"""From here on it turns to where it is to look at the target, m."""
SPRINT_ANGLE, SPRINT_DISTANCE = math.radians(15), 1.0
"""Bearing within which, and distance beyond which, the sprint set is used, rad and m."""
ARRIVAL_DISTANCE, DEPARTURE_DISTANCE = 0.15, 0.4
"""A player rests nearer than this to its target, and walks again when farther than that, m."""
ARRIVAL_ANGLE, DEPARTURE_ANGLE = 0.25, 0.6
"""The same for where it looks, rad."""
LOOK_AHEAD_DISTANCE = 1.6
"""Obstacles farther away do not matter yet, m."""
PLAYER_ROOM, FALLEN_ROOM, POST_ROOM = 0.55, 0.7, 0.35
"""How far to keep from others and from goal posts, m."""
GOAL_LINE_DEPTH, GOAL_LINE_RETURN = 0.1, 0.5
"""Who is no farther inside a goal line is behind it, and comes back so far, m."""
TOUCHING_DISTANCE, CLOSE_DISTANCE = 0.3, 0.6
"""Nobody walks towards somebody nearer than the first, and only slowly nearer than the second, m."""
MAX_VELOCITY_CHANGE = (0.05, 0.05, 0.2)
"""By how much wishes change in a cycle at most: ahead, left [m/s], turn [rad/s]."""


def players_around(s: Situation, *, room: float = PLAYER_ROOM) -> list[Obstacle]:
    """Everybody near enough to matter, and the goal posts."""
    found = [
        (o.x, o.y, FALLEN_ROOM if o.fallen else room)
        for others in (s.mates, s.opponents)
        for o in others
        if abs(o.x - s.x) < LOOK_AHEAD_DISTANCE and abs(o.y - s.y) < LOOK_AHEAD_DISTANCE
    ]
    goal = s.pitch.length / 2
    if abs(s.x) > goal - LOOK_AHEAD_DISTANCE:
        x, y = math.copysign(goal, s.x), s.pitch.goal_width / 2
        found += [(x, y, POST_ROOM), (x, -y, POST_ROOM)]
    return found


def walk_to(
    s: Situation,
    memory: Memory,
    target: Point,
    *,
    face: float | None = None,
    obstacles: Iterable[Obstacle] | None = None,
    rest: bool = True,
    speed: float = 1.0,
    face_within: float = FACE_DISTANCE,
    slow_within: float = SLOW_DISTANCE,
    near_ball: bool = False,
) -> Walk | Stand:
    """Goes to a place.

    Args:
        s: the situation.
        memory: of the player.
        target: where to.
        face: where to look there, rad; None for the way one comes.
        obstacles: what to walk around; None for all others and the goal posts.
        rest: whether to stand there.
        speed: share of the highest.
        face_within: distance from which on to look there, m.
        slow_within: distance from which on to slow down, m.
        near_ball: whether to use the set of parameters for fine steps.
    """
    dx, dy = target[0] - s.x, target[1] - s.y
    way = math.hypot(dx, dy)
    turned = 0.0 if face is None else wrap_angle(face - s.heading)
    memory.target = target
    if rest:
        far, off = (DEPARTURE_DISTANCE, DEPARTURE_ANGLE) if memory.standing else (ARRIVAL_DISTANCE, ARRIVAL_ANGLE)
        memory.standing = way < far and abs(turned) < off
        if memory.standing:
            memory.velocity = (0.0, 0.0, 0.0)
            return Stand()
    else:
        memory.standing = False
    gate = out_of_goal(s, target)
    if gate != target:
        dx, dy = gate[0] - s.x, gate[1] - s.y
        way = math.hypot(dx, dy)
    direction = math.atan2(dy, dx)
    bent = around(s, memory, direction, way, players_around(s) if obstacles is None else obstacles)
    bearing = wrap_angle(bent - s.heading)
    turn = turned if face is not None and way < face_within else bearing
    slow = speed * min(way / slow_within, 1.0)
    if way > face_within:
        slow *= 0.5 + 0.5 * math.cos(bearing)
    straight = abs(bearing) < SPRINT_ANGLE and way > SPRINT_DISTANCE
    kind: Literal["walk", "sprint", "positioning"] = "positioning" if near_ball else "sprint" if straight else "walk"
    ahead, left = fastest(bearing)
    ahead, left = without_bumping(s, slow * ahead, slow * left)
    return smooth(memory, ahead, left, clipped(TURN_GAIN * turn, -MAX_TURN, MAX_TURN), kind)


def out_of_goal(s: Situation, target: Point) -> Point:
    """Where to go first: who is behind a goal line comes back over it before it goes past a goal's side."""
    end, post = s.pitch.length / 2, s.pitch.goal_width / 2
    if abs(s.x) < end - GOAL_LINE_DEPTH or abs(target[0]) > end:
        return target
    inside = abs(s.y) < post
    if inside == (abs(target[1]) < post) and (inside or target[1] * s.y > 0.0):
        return target
    y = clipped(s.y, POST_ROOM - post, post - POST_ROOM) if inside else s.y
    return math.copysign(end - GOAL_LINE_RETURN, s.x), y


def fastest(bearing: float) -> Point:
    """The velocity of the highest speed into a direction, ahead and to the left; on an ellipse, m/s."""
    c, s = math.cos(bearing), math.sin(bearing)
    speed = 1.0 / math.hypot(c / (MAX_AHEAD if c > 0 else MAX_BACK), s / MAX_SIDE)
    return speed * c, speed * s


def without_bumping(s: Situation, ahead: float, left: float) -> Point:
    """A velocity less what of it goes towards others who are close: who runs into others falls."""
    c, d = math.cos(s.heading), math.sin(s.heading)
    for others in (s.mates, s.opponents):
        for o in others:
            dx, dy = o.x - s.x, o.y - s.y
            gap = dx * dx + dy * dy
            if gap >= CLOSE_DISTANCE * CLOSE_DISTANCE or gap < 1e-6:
                continue
            gap = math.sqrt(gap)
            x, y = (c * dx + d * dy) / gap, (c * dy - d * dx) / gap
            towards = x * ahead + y * left
            if towards > 0.0:
                cut = towards * min((CLOSE_DISTANCE - gap) / (CLOSE_DISTANCE - TOUCHING_DISTANCE), 1.0)
                ahead, left = ahead - cut * x, left - cut * y
    return ahead, left


def smooth(
    memory: Memory, ahead: float, left: float, turn: float, kind: Literal["walk", "sprint", "positioning"] = "walk"
) -> Walk:
    """A walk whose wishes do not jump."""
    old = memory.velocity
    new = (
        clipped(ahead, old[0] - MAX_VELOCITY_CHANGE[0], old[0] + MAX_VELOCITY_CHANGE[0]),
        clipped(left, old[1] - MAX_VELOCITY_CHANGE[1], old[1] + MAX_VELOCITY_CHANGE[1]),
        clipped(turn, old[2] - MAX_VELOCITY_CHANGE[2], old[2] + MAX_VELOCITY_CHANGE[2]),
    )
    memory.velocity = new
    return Walk(ahead=new[0], left=new[1], turn=new[2], set=kind)


def around(s: Situation, memory: Memory, direction: float, way: float, obstacles: Iterable[Obstacle]) -> float:
    """The direction to walk in, rad: that of the target, or past the obstacle that is in the way first."""
    nearest, swerve, bent = math.inf, 0, direction
    for x, y, room in obstacles:
        dx, dy = x - s.x, y - s.y
        gap = math.hypot(dx, dy)
        if gap - room > min(way, LOOK_AHEAD_DISTANCE) or gap - room > nearest or gap < 1e-6:
            continue
        off = wrap_angle(math.atan2(dy, dx) - direction)
        if abs(off) > math.pi / 2 + 0.3 or gap * math.cos(off) > max(way, room):
            continue
        width = math.asin(room / gap) if gap > room else math.pi / 2 + (room - gap) / room * 0.6
        if abs(off) >= width:
            continue
        side = memory.swerve or (1 if off < 0 else -1)
        if memory.swerve and abs(off) > 0.7:
            side = 1 if off < 0 else -1
        nearest, swerve, bent = gap - room, side, direction + off + side * width
    memory.swerve = swerve
    return bent
