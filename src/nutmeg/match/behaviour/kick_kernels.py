"""Kicks of the behavioural world, compiled: which balls they reach, where these go and how fast they start.

    reached, direction, distance, kind = kicked_ball(LEFT_STRAIGHT, 0.5, 0.15, 0.06, numbers[m])
    speed = launch_speed(distance, 0.25, 0.0)            # a ball that starts so fast stops after `distance`
    way, left_over = rolled(speed, 0.02, 0.25, 0.0)      # after a step

Seed 002, table 2: a ball is kicked if it lies in the kick's rectangle. It leaves along the line from the tip of the
foot, (10, 5) or (10, -5) cm, through its centre. That is the angle between this line and the foot's normal, which
points ahead for a straight kick and to the other foot's side for a side kick. A left side kick takes balls to the right
of the middle, and the other way round; a ball before the kicking foot instead (in the rectangle of the straight kick of
that foot) is on the wrong side: it is kicked straight, and weakly. Strength is a share of the kind's longest distance.
A ball slows down by dv/dt = -(a + b v), solved exactly, so that steps of any length give the same way: v^2 / 2a for
b = 0, v / b for a = 0, otherwise v/b - a/b^2 ln(1 + b v / a).
"""

from __future__ import annotations

import math
from typing import Any

from nutmeg.compiled import kernel
from nutmeg.match.behaviour.random_kernels import KICK, key, normal_pair
from nutmeg.match.behaviour.state import KickKind, Posture

STRAIGHT, SIDE, WRONG_SIDE = 0, 1, 2
"""What became of a kick."""
STILL = 0.01
"""A ball that is slower and has no friction but damping stops [m/s]: it would roll on by at most a centimetre."""
SERIES = 1e-3
"""Below this, what is a difference of two like numbers is a series."""
_KICKING = int(Posture.KICKING)
_LEFT_STRAIGHT, _LEFT_SIDE, _RIGHT_SIDE = int(KickKind.LEFT_STRAIGHT), int(KickKind.LEFT_SIDE), int(KickKind.RIGHT_SIDE)


@kernel
def kicked_ball(kick: int, strength: float, x: float, y: float, numbers: Any) -> tuple[bool, float, float, int]:  # noqa: ANN401
    """What a kick does to a ball at a place of the robot's frame [m].

    Whether it reaches it, the ball's direction from the heading to the left [rad], how far it goes [m], and what became
    of the kick: `STRAIGHT`, `SIDE` or `WRONG_SIDE`.
    """
    mirror = 1.0 if kick in (_LEFT_STRAIGHT, _LEFT_SIDE) else -1.0
    y *= mirror
    tip_x, tip_y = numbers.kick_tip_ahead, numbers.kick_tip_aside
    before = numbers.kick_straight_near <= x <= numbers.kick_straight_far
    before = before and numbers.kick_straight_inner <= y <= numbers.kick_straight_outer
    if kick in (_LEFT_SIDE, _RIGHT_SIDE):
        beside = numbers.kick_side_near <= x <= numbers.kick_side_far
        if beside and numbers.kick_side_inner <= -y <= numbers.kick_side_outer:
            direction = math.atan2(y - tip_y, x - tip_x - numbers.kick_side_stretch)
            return True, mirror * direction, strength * numbers.kick_side_distance, SIDE
        distance = strength * numbers.kick_straight_distance * numbers.kick_wrong_side_share
        return before, mirror * math.atan2(y - tip_y, x - tip_x), distance, WRONG_SIDE
    return before, mirror * math.atan2(y - tip_y, x - tip_x), strength * numbers.kick_straight_distance, STRAIGHT


@kernel
def strike(players: Any, ball: Any, numbers: Any, step: float) -> None:  # noqa: ANN401 (numpy records)
    """Kicks the ball of a match for who comes to that moment of its kick within this step."""
    moment = numbers.kick_follow_through + 1e-9
    for k in range(len(players)):
        player = players[k]
        if player.posture != _KICKING or player.busy <= moment or player.busy - step > moment:
            continue
        x, y = ball.x - player.x, ball.y - player.y
        along, across = x * player.cos + y * player.sin, y * player.cos - x * player.sin
        reached, direction, distance, kind = kicked_ball(player.kick, player.strength, along, across, numbers)
        if not reached or distance <= 0.0:
            continue
        aside, apart = numbers.kick_straight_direction_spread, numbers.kick_straight_distance_spread
        if kind == SIDE:
            aside, apart = numbers.kick_side_direction_spread, numbers.kick_side_distance_spread
        first, second = normal_pair(key(ball.seed, ball.cycle, player.slot, KICK), 0)
        direction += player.heading + aside * first
        distance *= max(0.0, 1.0 + apart * second)
        speed = launch_speed(distance, numbers.ball_deceleration, numbers.ball_damping)
        ball.vx, ball.vy = speed * math.cos(direction), speed * math.sin(direction)
        player.touched, player.kicked = 1, 1


@kernel
def rolled(speed: float, time: float, deceleration: float, damping: float) -> tuple[float, float]:
    """How far a ball rolls in a time [m], and how fast it then is [m/s]."""
    a, b = deceleration, damping
    if a == 0.0 and speed * math.exp(-b * time) < STILL:
        return speed / b, 0.0
    until = time
    if a > 0.0:
        until = min(time, math.log1p(b * speed / a) / b if b > 0.0 else speed / a)
    slows, z = a + b * speed, b * until
    if z < SERIES:
        way = speed * until - slows * until**2 * (0.5 - z / 6.0 + z**2 / 24.0)
        left_over = speed - slows * until * (1.0 - z / 2.0 + z**2 / 6.0)
    else:
        way = -slows * math.expm1(-z) / b**2 - a * until / b
        left_over = (slows * math.exp(-z) - a) / b
    return way, max(left_over, 0.0) if until == time else 0.0


@kernel
def rolling_distance(speed: float, deceleration: float, damping: float) -> float:
    """How far a ball rolls until it stops [m]."""
    a, b = deceleration, damping
    if a == 0.0:
        return speed / b
    z = b * speed / a
    if z < SERIES:
        return speed**2 / a * (0.5 - z / 3.0 + z**2 / 4.0)
    return speed / b - a / b**2 * math.log1p(z)


@kernel
def launch_speed(distance: float, deceleration: float, damping: float) -> float:
    """How fast a ball must start to roll a distance [m/s]; with both kinds of friction by Newton's method."""
    a, b = deceleration, damping
    if a == 0.0:
        return b * distance
    speed = math.sqrt(2.0 * a * distance)
    if b == 0.0 or distance <= 0.0:
        return speed
    for _ in range(50):  # the distance is convex in the speed, and its slope is v / (a + b v)
        short = distance - rolling_distance(speed, a, b)
        change = short * (a + b * speed) / speed
        speed += change
        if abs(change) < 1e-12 * speed:
            break
    return speed
