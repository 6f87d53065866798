"""Compiled collisions of the robots of one match with each other and with goal posts.

    find_reaches(players, numbers)
    part_robots(players, ball, numbers, contact, pushed, STEP)
    part_from_posts(players, numbers, posts, radius, STEP)

Seed 002 has five kinds of collision. Three are here, by rectangles around torsos: two robots that move, one that moves
and one that does not, and a robot and a post (a cylinder). The two with the ball are in `ball`, by rectangles
around feet (`bounds` has both). Robots that overlap are parted along the axis on which they overlap least. A robot that
walks into another one is moved back; one that does not walk is shoved a little, one that lies stays.

The robot that moves towards the other one, faster than it by a margin, is responsible; with about equal speeds, the one
that is farther from the ball. A robot that plays the ball (near, ahead of it, and nearer than the other) is not
responsible, and neither is one that stands, kicks, lies or gets up (`PushSettings` has the limits).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, SmallInts
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings
    from nutmeg.match.worlds.behavioural.state import Ball, Player

_TORSO, FEET = 0, 1
"""Which rectangle of a robot."""


class Rectangle(NamedTuple):
    """A rectangle on the ground: its centre, m, the direction of its long axis, and half its length and width, m."""

    x: float
    y: float
    cos: float
    sin: float
    length: float
    width: float


@kernel
def find_reaches(players: Records[Player], numbers: BehaviourSettings) -> None:
    """Sets the reach of all players: a cheap bound, so that most pairs need no test of rectangles [m]."""
    ahead = max(numbers.body.torso_ahead, numbers.body.base_front, numbers.body.base_back)
    stands = math.hypot(ahead, max(numbers.body.torso_aside, numbers.body.base_aside))
    for k in range(len(players)):
        posture = players[k].posture
        if posture <= Posture.KICKING:
            players[k].reach = stands
        elif posture >= Posture.DIVING_LEFT:
            players[k].reach = max(numbers.dive.reach, numbers.body.base_aside) + numbers.dive.width
        else:
            players[k].reach = numbers.body.lying_length + numbers.body.lying_width


@kernel
def bounds(player: Player, numbers: BehaviourSettings, feet: int) -> Rectangle:
    """The rectangle of a player.

    Of a player that stands, that of the torso (`feet` 0) or of the feet (1); of one that dives or lies, the body's.
    """
    posture, cos, sin = player.posture, player.cos, player.sin
    if posture <= Posture.KICKING:
        if feet == _TORSO:
            return Rectangle(player.x, player.y, cos, sin, numbers.body.torso_ahead, numbers.body.torso_aside)
        # Feet reach farther ahead than back, so their rectangle's centre is not the robot's.
        front, back = numbers.body.base_front, numbers.body.base_back
        shift = 0.5 * (front - back)
        x, y = player.x + shift * cos, player.y + shift * sin
        return Rectangle(x, y, cos, sin, 0.5 * (front + back), numbers.body.base_aside)
    # A body on the ground begins at the feet and points to where it has fallen.
    cos, sin = math.cos(player.heading + player.fallen_to), math.sin(player.heading + player.fallen_to)
    near, far, width = 0.0, numbers.body.lying_length, numbers.body.lying_width
    if posture >= Posture.DIVING_LEFT:  # the covered side grows during the dive
        passed = numbers.dive.time + numbers.dive.hold - player.busy
        share = min(max(passed / numbers.dive.time, 0.0), 1.0)
        near, width = -numbers.body.base_aside, numbers.dive.width
        far = numbers.body.base_aside + share * max(0.0, numbers.dive.reach - numbers.body.base_aside)
    middle = 0.5 * (near + far)
    return Rectangle(player.x + middle * cos, player.y + middle * sin, cos, sin, 0.5 * (far - near), 0.5 * width)


@kernel
def overlap(a: Rectangle, b: Rectangle) -> tuple[float, float, float]:
    """How deep two rectangles are in each other [m], 0 if they are not, and the axis from a to b.

    The separating axis theorem: the four axes of both rectangles are tried, and the one on which they overlap least is
    the way on which they part.
    """
    x, y = b.x - a.x, b.y - a.y
    cos, sin = abs(a.cos * b.cos + a.sin * b.sin), abs(a.cos * b.sin - a.sin * b.cos)
    depth, axis_x, axis_y = math.inf, 0.0, 0.0
    for which in range(4):
        of = a if which < 2 else b
        other = b if which < 2 else a
        ahead = which % 2 == 0
        ux, uy = (of.cos, of.sin) if ahead else (-of.sin, of.cos)
        # The sum of both half sizes along this axis; the rectangles are apart if their centres are farther apart.
        room = of.length if ahead else of.width
        room += other.length * (cos if ahead else sin) + other.width * (sin if ahead else cos)
        way = x * ux + y * uy
        if abs(way) >= room:
            return 0.0, 0.0, 0.0
        # The margin keeps rounding from choosing between axes on which they overlap equally.
        if room - abs(way) < depth - 1e-12:
            depth = room - abs(way)
            sign = 1.0 if way >= 0.0 else -1.0
            axis_x, axis_y = sign * ux, sign * uy
    return depth, axis_x, axis_y


@kernel
def part_robots(
    players: Records[Player], ball: Ball, numbers: BehaviourSettings, contact: Bools, pushed: SmallInts, step: float
) -> None:
    """Parts robots that overlap; notes contacts and pushes, (22, 22) over slots, and their hazards of falling."""
    for a in range(len(players)):
        first = players[a]
        for b in range(a + 1, len(players)):
            second = players[b]
            x, y, near = second.x - first.x, second.y - first.y, first.reach + second.reach
            # Nearly all pairs end here.
            if x * x + y * y > near * near:
                continue
            depth, nx, ny = overlap(bounds(first, numbers, _TORSO), bounds(second, numbers, _TORSO))
            if depth > 0.0:
                contact[first.slot, second.slot] = contact[second.slot, first.slot] = True
                speed, others = max(0.0, first.vx * nx + first.vy * ny), max(0.0, -second.vx * nx - second.vy * ny)
                if _is_responsible(first, second, ball, numbers, speed, others):
                    pushed[first.slot, second.slot] = 1
                if _is_responsible(second, first, ball, numbers, others, speed):
                    pushed[second.slot, first.slot] = 1
                # both are moved apart at once, by shares that depend on which one walks into the other
                own = _share_of(first.posture, second.posture, speed, others, numbers.bounce.shoved)
                rest = _share_of(second.posture, first.posture, others, speed, numbers.bounce.shoved)
                # The hazard of a fall grows with the way on which two bodies press into each other, whoever walks.
                way = step * (speed + others)
                _part(first, own * depth, -nx, -ny, way * _hazard(second.posture, numbers))
                _part(second, rest * depth, nx, ny, way * _hazard(first.posture, numbers))


@kernel
def _hazard(other: int, numbers: BehaviourSettings) -> float:
    """Hazard of falling over a robot in a posture, 1/m."""
    return numbers.fall.collision if other <= Posture.KICKING else numbers.fall.lying


@kernel
def _part(player: Player, way: float, nx: float, ny: float, hazard: float) -> None:
    """Moves a player that has met something along a direction [m], and adds to its hazard of falling."""
    player.x += way * nx
    player.y += way * ny
    player.risk += hazard
    player.shove_x += hazard * nx
    player.shove_y += hazard * ny


@kernel
def _share_of(posture: int, other: int, speed: float, others_speed: float, shoved: float) -> float:
    """The share of one robot in the way by which two are parted, from their speeds towards each other."""
    # Bodies on the ground are not shifted; what walks into them makes all the room.
    if posture > Posture.KICKING:
        return 0.0
    if other > Posture.KICKING:
        return 1.0
    both = speed + others_speed
    if both < 1e-9:
        return 0.5
    # In proportion to who walks how fast, but for a part that shoves the other.
    return ((1.0 - shoved) * speed + shoved * others_speed) / both


@kernel
def _is_responsible(
    player: Player, other: Player, ball: Ball, numbers: BehaviourSettings, speed: float, others_speed: float
) -> bool:
    """Whether a player is responsible for running into another, by their speeds towards each other [m/s]."""
    if player.posture != Posture.UPRIGHT or speed < numbers.push.least_speed or speed == 0.0:
        return False
    x, y = ball.x - player.x, ball.y - player.y
    own, others = math.hypot(x, y), math.hypot(ball.x - other.x, ball.y - other.y)
    if own < others and own <= numbers.push.ball_distance:  # it may be playing the ball
        ahead = x * player.cos + y * player.sin
        if ahead >= own * math.cos(numbers.push.ball_angle):
            return False
    # With about equal speeds, the one that is farther from the ball had less reason to be there.
    if abs(speed - others_speed) > numbers.push.margin:
        return speed > others_speed
    return own > others


@kernel
def part_from_posts(
    players: Records[Player], numbers: BehaviourSettings, posts: Floats, radius: float, step: float
) -> None:
    """Parts robots from goal posts (P, 2), and adds to their hazards of falling."""
    if len(posts) == 0:
        return
    # Most players are far from both goals.
    nearest = abs(posts[0, 0]) - radius
    for k in range(len(players)):
        player = players[k]
        if abs(player.x) + player.reach < nearest:
            continue
        for p in range(len(posts)):
            x, y, near = posts[p, 0] - player.x, posts[p, 1] - player.y, player.reach + radius
            if x * x + y * y > near * near:
                continue
            depth, nx, ny = into_circle(bounds(player, numbers, _TORSO), posts[p, 0], posts[p, 1], radius)
            if depth > 0.0:
                hazard = numbers.fall.collision * step * max(0.0, player.vx * nx + player.vy * ny)
                _part(player, depth if player.posture <= Posture.KICKING else 0.0, -nx, -ny, hazard)


@kernel
def into_circle(a: Rectangle, x: float, y: float, radius: float) -> tuple[float, float, float]:
    """How deep a rectangle and a circle are in each other [m], 0 if they are not, and the axis between."""
    along, across = (x - a.x) * a.cos + (y - a.y) * a.sin, (y - a.y) * a.cos - (x - a.x) * a.sin
    # The point of the rectangle that is nearest to the circle's centre.
    near_x, near_y = min(max(along, -a.length), a.length), min(max(across, -a.width), a.width)
    gap_x, gap_y = along - near_x, across - near_y
    gap = math.sqrt(gap_x**2 + gap_y**2)
    if gap >= radius:
        return 0.0, 0.0, 0.0
    # From the nearest point of the rectangle; if the centre is inside, through the nearest side.
    if gap > 0.0:
        depth, ux, uy = radius - gap, gap_x / gap, gap_y / gap
    elif a.length - abs(along) < a.width - abs(across):
        depth, ux, uy = a.length - abs(along) + radius, math.copysign(1.0, along), 0.0
    else:
        depth, ux, uy = a.width - abs(across) + radius, 0.0, math.copysign(1.0, across)
    return depth, ux * a.cos - uy * a.sin, ux * a.sin + uy * a.cos
