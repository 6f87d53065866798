"""Robots of the behavioural world against each other and against goal posts, compiled; one match at a time.

    find_reaches(players, numbers)
    part_robots(players, ball, numbers, contact, pushed, STEP)
    part_from_posts(players, numbers, posts, radius, STEP)

Seed 002 has five kinds of collision. Three are here, by rectangles around torsos: two robots that move, one that moves
and one that does not, and a robot and a post (a cylinder). The two with the ball are in `ball_kernels`, by rectangles
around feet (`bounds` has both). Robots that overlap are parted along the axis on which they do so least. Who walks into
the other goes back; who does not walk is shoved a little, who lies stays.

Responsible is who moves towards the other, faster than it by a margin; with about equal speeds, who is farther from the
ball. Who plays the ball (near, ahead of it, and nearer than the other is) is not to blame, and neither is who stands,
kicks, lies or gets up (`PushSettings` has the limits).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, SmallInts

    Rectangle = tuple[float, float, float, float, float, float]

_UPRIGHT, _KICKING, _LYING = int(Posture.UPRIGHT), int(Posture.KICKING), int(Posture.LYING)
_DIVES = int(Posture.DIVING_LEFT), int(Posture.DIVING_RIGHT)
TORSO, FEET = 0, 1
"""Which rectangle of a robot."""


@kernel
def find_reaches(players: Any, numbers: Any) -> None:  # noqa: ANN401 (numpy records)
    """Tells of everybody a distance from its place beyond which none of its rectangles is [m]."""
    ahead = max(numbers.body_torso_ahead, numbers.body_base_front, numbers.body_base_back)
    stands = math.hypot(ahead, max(numbers.body_torso_aside, numbers.body_base_aside))
    for k in range(len(players)):
        posture = players[k].posture
        if posture in (_UPRIGHT, _KICKING):
            players[k].reach = stands
        elif posture in _DIVES:
            players[k].reach = max(numbers.dive_reach, numbers.body_base_aside) + numbers.dive_width
        else:
            players[k].reach = numbers.body_lying_length + numbers.body_lying_width


@kernel
def bounds(player: Any, numbers: Any, feet: int) -> Rectangle:  # noqa: ANN401
    """The rectangle of a player: centre x, y [m], cosine and sine of its long axis, half its length and width [m].

    Of who stands, that of the torso (`feet` 0) or of the feet (1), ahead and aside; of who dives or lies, the body's.
    """
    posture, cos, sin = player.posture, player.cos, player.sin
    if posture in (_UPRIGHT, _KICKING):
        if feet == TORSO:
            return player.x, player.y, cos, sin, numbers.body_torso_ahead, numbers.body_torso_aside
        front, back = numbers.body_base_front, numbers.body_base_back
        shift = 0.5 * (front - back)
        return player.x + shift * cos, player.y + shift * sin, cos, sin, 0.5 * (front + back), numbers.body_base_aside
    cos, sin = math.cos(player.heading + player.fallen_to), math.sin(player.heading + player.fallen_to)
    near, far, width = 0.0, numbers.body_lying_length, numbers.body_lying_width
    if posture in _DIVES:
        passed = numbers.dive_time + numbers.dive_hold - player.busy
        share = min(max(passed / numbers.dive_time, 0.0), 1.0)
        near, width = -numbers.body_base_aside, numbers.dive_width
        far = numbers.body_base_aside + share * max(0.0, numbers.dive_reach - numbers.body_base_aside)
    middle = 0.5 * (near + far)
    return player.x + middle * cos, player.y + middle * sin, cos, sin, 0.5 * (far - near), 0.5 * width


@kernel
def overlap(a: Rectangle, b: Rectangle) -> tuple[float, float, float]:
    """How deep two rectangles (see `bounds`) are in each other [m], 0 if they are not, and the axis from a to b."""
    x, y = b[0] - a[0], b[1] - a[1]
    cos, sin = abs(a[2] * b[2] + a[3] * b[3]), abs(a[2] * b[3] - a[3] * b[2])
    depth, axis_x, axis_y = math.inf, 0.0, 0.0
    for which in range(4):
        of = a if which < 2 else b
        other = b if which < 2 else a
        ahead = which % 2 == 0
        ux, uy = (of[2], of[3]) if ahead else (-of[3], of[2])
        room = of[4] if ahead else of[5]
        room += other[4] * (cos if ahead else sin) + other[5] * (sin if ahead else cos)
        way = x * ux + y * uy
        if abs(way) >= room:
            return 0.0, 0.0, 0.0
        if room - abs(way) < depth - 1e-12:
            depth = room - abs(way)
            sign = 1.0 if way >= 0.0 else -1.0
            axis_x, axis_y = sign * ux, sign * uy
    return depth, axis_x, axis_y


@kernel
def part_robots(players: Any, ball: Any, numbers: Any, contact: Bools, pushed: SmallInts, step: float) -> None:  # noqa: ANN401
    """Parts robots that overlap; notes contacts and pushes, (22, 22) over slots, and how that makes them fall."""
    for a in range(len(players)):
        first = players[a]
        for b in range(a + 1, len(players)):
            second = players[b]
            x, y, near = second.x - first.x, second.y - first.y, first.reach + second.reach
            if x * x + y * y > near * near:
                continue
            depth, nx, ny = overlap(bounds(first, numbers, TORSO), bounds(second, numbers, TORSO))
            if depth > 0.0:
                contact[first.slot, second.slot] = contact[second.slot, first.slot] = True
                speed, others = max(0.0, first.vx * nx + first.vy * ny), max(0.0, -second.vx * nx - second.vy * ny)
                if is_responsible(first, second, ball, numbers, speed, others):
                    pushed[first.slot, second.slot] = 1
                if is_responsible(second, first, ball, numbers, others, speed):
                    pushed[second.slot, first.slot] = 1
                own = share_of(first.posture, second.posture, speed, others, numbers.bounce_shoved)
                rest = share_of(second.posture, first.posture, others, speed, numbers.bounce_shoved)
                way = step * (speed + others)
                _part(first, own * depth, -nx, -ny, way * _hazard(second.posture, numbers))
                _part(second, rest * depth, nx, ny, way * _hazard(first.posture, numbers))


@kernel
def _hazard(other: int, numbers: Any) -> float:  # noqa: ANN401
    """Of falling over somebody in a posture, 1/m."""
    hazard: float = numbers.fall_collision if other in (_UPRIGHT, _KICKING) else numbers.fall_lying
    return hazard


@kernel
def _part(player: Any, way: float, nx: float, ny: float, hazard: float) -> None:  # noqa: ANN401
    """Moves a player who has met something along a direction [m], and notes how that may make it fall."""
    player.x += way * nx
    player.y += way * ny
    player.risk += hazard
    player.shove_x += hazard * nx
    player.shove_y += hazard * ny


@kernel
def share_of(posture: int, other: int, speed: float, others_speed: float, shoved: float) -> float:
    """Of what parts two robots, the share of one, by their speeds towards each other."""
    if posture not in (_UPRIGHT, _KICKING):
        return 0.0
    if other not in (_UPRIGHT, _KICKING):
        return 1.0
    both = speed + others_speed
    if both < 1e-9:
        return 0.5
    return ((1.0 - shoved) * speed + shoved * others_speed) / both


@kernel
def is_responsible(player: Any, other: Any, ball: Any, numbers: Any, speed: float, others_speed: float) -> bool:  # noqa: ANN401
    """Whether a player is to blame for running into another, by their speeds towards each other [m/s]."""
    if player.posture != _UPRIGHT or speed < numbers.push_least_speed or speed == 0.0:
        return False
    x, y = ball.x - player.x, ball.y - player.y
    own, others = math.hypot(x, y), math.hypot(ball.x - other.x, ball.y - other.y)
    if own < others and own <= numbers.push_ball_distance:
        ahead = x * player.cos + y * player.sin
        if ahead >= own * math.cos(numbers.push_ball_angle):
            return False
    if abs(speed - others_speed) > numbers.push_margin:
        return speed > others_speed
    return own > others


@kernel
def part_from_posts(players: Any, numbers: Any, posts: Floats, radius: float, step: float) -> None:  # noqa: ANN401
    """Parts robots from goal posts (P, 2), and notes how that makes them fall."""
    if len(posts) == 0:
        return
    nearest = abs(posts[0, 0]) - radius
    for k in range(len(players)):
        player = players[k]
        if abs(player.x) + player.reach < nearest:
            continue
        for p in range(len(posts)):
            x, y, near = posts[p, 0] - player.x, posts[p, 1] - player.y, player.reach + radius
            if x * x + y * y > near * near:
                continue
            depth, nx, ny = into_circle(bounds(player, numbers, TORSO), posts[p, 0], posts[p, 1], radius)
            if depth > 0.0:
                hazard = numbers.fall_collision * step * max(0.0, player.vx * nx + player.vy * ny)
                _part(player, depth if player.posture in (_UPRIGHT, _KICKING) else 0.0, -nx, -ny, hazard)


@kernel
def into_circle(a: Rectangle, x: float, y: float, radius: float) -> tuple[float, float, float]:
    """How deep a rectangle and a circle are in each other [m], 0 if they are not, and the axis between."""
    along, across = (x - a[0]) * a[2] + (y - a[1]) * a[3], (y - a[1]) * a[2] - (x - a[0]) * a[3]
    near_x, near_y = min(max(along, -a[4]), a[4]), min(max(across, -a[5]), a[5])
    gap_x, gap_y = along - near_x, across - near_y
    gap = math.sqrt(gap_x**2 + gap_y**2)
    if gap >= radius:
        return 0.0, 0.0, 0.0
    if gap > 0.0:
        depth, ux, uy = radius - gap, gap_x / gap, gap_y / gap
    elif a[4] - abs(along) < a[5] - abs(across):
        depth, ux, uy = a[4] - abs(along) + radius, math.copysign(1.0, along), 0.0
    else:
        depth, ux, uy = a[5] - abs(across) + radius, 0.0, math.copysign(1.0, across)
    return depth, ux * a[2] - uy * a[3], ux * a[3] + uy * a[2]
