"""How robots of the behavioural world stand, walk, look, fall, dive and get up, compiled; one match at a time.

    begin_cycle(players, ball, numbers)                 # orders become postures, paces and this cycle's real speeds
    for _ in range(SUBSTEPS):
        move(players, STEP)
        end_postures(players, ball, numbers, STEP)
    end_cycle(players, ball, numbers)

Seed 002: a walk request is scaled down to what the robot can do, and disturbed on each axis (`WalkSettings` says how).
Falls, getting up and dives are wanted by its authors; their numbers are settings. `players` (n,) and `ball` are records
of `player_rows`, `numbers` is one of `settings.NUMBERS`.
"""

from __future__ import annotations

import math
from typing import Any

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.kernels import kernel
from nutmeg.match.worlds.behavioural.random import (
    FALL,
    GETTING_UP,
    KICK,
    MOTION,
    ODOMETRY,
    key,
    normal_of,
    normal_pair,
    uniform_of,
)
from nutmeg.match.worlds.behavioural.state import Legs, Posture

CYCLE = 0.1
"""Length of a decision cycle [s]."""
SUBSTEPS = 5
"""Steps of motion, ball and collisions in a cycle."""
STEP = CYCLE / SUBSTEPS
"""Length of such a step [s]."""
TIME_TOLERANCE = 1e-9

_UPRIGHT, _KICKING, _LYING = int(Posture.UPRIGHT), int(Posture.KICKING), int(Posture.LYING)
_RISING, _LEFT, _RIGHT = int(Posture.GETTING_UP), int(Posture.DIVING_LEFT), int(Posture.DIVING_RIGHT)
_WALK, _KICK, _DIVE_LEFT = int(Legs.WALK), int(Legs.KICK), int(Legs.DIVE_LEFT)
_DIVE_RIGHT, _GET_UP = int(Legs.DIVE_RIGHT), int(Legs.GET_UP)
_FIRST, _SECOND, _THIRD = 0, 1, 2
_QUARTER = math.pi / 2


@kernel
def begin_cycle(players: Any, ball: Any, numbers: Any) -> None:  # noqa: ANN401 (numpy records)
    """Turns orders into postures, paces, speeds and looks."""
    for k in range(len(players)):
        player = players[k]
        _take_order(player, ball, numbers)
        _set_pace(player, numbers)
        _disturb(player, ball, numbers)
        _look(player, numbers)


@kernel
def _take_order(player: Any, ball: Any, numbers: Any) -> None:  # noqa: ANN401
    """Begins a kick or a dive of who stands, and the getting up of who lies."""
    legs = player.legs
    if player.posture == _UPRIGHT:
        if legs == _KICK:
            player.posture, player.kick = _KICKING, player.order_kick
            player.busy = numbers.kick_wind_up + numbers.kick_follow_through
            strength = player.order_strength
            player.strength = min(max(strength, 0.0), 1.0) if math.isfinite(strength) else 0.0
        elif legs in (_DIVE_LEFT, _DIVE_RIGHT):
            player.posture = _LEFT if legs == _DIVE_LEFT else _RIGHT
            player.busy = numbers.dive_time + numbers.dive_hold
            player.fallen_to = _QUARTER if legs == _DIVE_LEFT else -_QUARTER
    elif player.posture == _LYING and legs == _GET_UP:
        along = math.cos(player.fallen_to)
        time = numbers.get_up_side
        if along > 0.5:
            time = numbers.get_up_front
        elif along < -0.5:
            time = numbers.get_up_back
        chance = normal_of(key(ball.seed, ball.cycle, player.slot, GETTING_UP), _FIRST)
        player.posture, player.busy = _RISING, time * max(0.5, 1.0 + numbers.get_up_spread * chance)


@kernel
def within_limits(ahead: float, left: float, turn: float, numbers: Any) -> tuple[float, float, float]:  # noqa: ANN401
    """A wish [m/s, m/s, rad/s] scaled down to the ellipsoid of what the robot can walk; nonsense is no wish."""
    if not (math.isfinite(ahead) and math.isfinite(left) and math.isfinite(turn)):
        return 0.0, 0.0, 0.0
    fastest = numbers.walk_ahead if ahead >= 0.0 else numbers.walk_back
    effort = math.sqrt((ahead / fastest) ** 2 + (left / numbers.walk_side) ** 2 + (turn / numbers.walk_turn) ** 2)
    share = 1.0 / effort if effort > 1.0 else 1.0
    return ahead * share, left * share, turn * share


@kernel
def _set_pace(player: Any, numbers: Any) -> None:  # noqa: ANN401
    """Brings the pace towards the wish, as fast as the robot can; who does something else has none."""
    if player.posture != _UPRIGHT:
        player.pace_ahead, player.pace_left, player.pace_turn = 0.0, 0.0, 0.0
        return
    ahead, left, turn = 0.0, 0.0, 0.0
    if player.legs == _WALK:
        ahead, left, turn = within_limits(player.wish_ahead, player.wish_left, player.wish_turn, numbers)
    change_x, change_y = ahead - player.pace_ahead, left - player.pace_left
    change, most = math.sqrt(change_x**2 + change_y**2), numbers.walk_acceleration * CYCLE
    share = most / change if change > most else 1.0
    player.pace_ahead += share * change_x
    player.pace_left += share * change_y
    most = numbers.walk_turn_acceleration * CYCLE
    player.pace_turn += min(max(turn - player.pace_turn, -most), most)


@kernel
def _disturb(player: Any, ball: Any, numbers: Any) -> None:  # noqa: ANN401
    """Draws the real speeds of this cycle, and what the robot believes to walk."""
    ahead, left, turn = player.pace_ahead, player.pace_left, player.pace_turn
    player.believed_ahead, player.believed_left, player.believed_turn = CYCLE * ahead, CYCLE * left, CYCLE * turn
    player.ahead, player.left, player.turn = ahead, left, turn
    if ahead == 0.0 and left == 0.0 and turn == 0.0:
        return
    draws = key(ball.seed, ball.cycle, player.slot, MOTION)
    first, second = normal_pair(draws, _FIRST)
    third = normal_of(draws, _SECOND)
    player.ahead += first * (numbers.walk_ahead_noise + numbers.walk_ahead_noise_share * abs(ahead))
    player.left += second * (numbers.walk_side_noise + numbers.walk_side_noise_share * abs(left))
    player.turn += third * (numbers.walk_turn_noise + numbers.walk_turn_noise_share * abs(turn))
    spread = numbers.walk_odometry_noise_share
    if spread > 0.0:
        draws = key(ball.seed, ball.cycle, player.slot, ODOMETRY)
        first, second = normal_pair(draws, _FIRST)
        player.believed_ahead *= 1.0 + spread * first
        player.believed_left *= 1.0 + spread * second
        player.believed_turn *= 1.0 + spread * normal_of(draws, _SECOND)


@kernel
def _look(player: Any, numbers: Any) -> None:  # noqa: ANN401
    """Turns the head towards where it is to look."""
    most = numbers.head_speed * CYCLE
    if math.isfinite(player.look_yaw):
        yaw = min(max(player.look_yaw, -numbers.head_yaw), numbers.head_yaw)
        player.yaw += min(max(yaw - player.yaw, -most), most)
    if math.isfinite(player.look_pitch):
        pitch = min(max(player.look_pitch, -numbers.head_down), numbers.head_up)
        player.pitch += min(max(pitch - player.pitch, -most), most)


@kernel
def move(players: Any, step: float) -> None:  # noqa: ANN401
    """Walks for a step, along the chord of the arc, and says how that is over the pitch."""
    for k in range(len(players)):
        player = players[k]
        player.vx, player.vy = 0.0, 0.0
        ahead, left, turn = player.ahead, player.left, player.turn
        if player.posture != _UPRIGHT or (ahead == 0.0 and left == 0.0 and turn == 0.0):
            continue
        cos, sin = player.cos, player.sin
        if turn != 0.0:
            player.heading = wrap_angle_exactly(player.heading + step * turn)
            player.cos, player.sin = math.cos(player.heading), math.sin(player.heading)
            cos, sin = 0.5 * (cos + player.cos), 0.5 * (sin + player.sin)
        player.vx, player.vy = ahead * cos - left * sin, ahead * sin + left * cos
        player.x += step * player.vx
        player.y += step * player.vy


@kernel
def end_postures(players: Any, ball: Any, numbers: Any, step: float) -> None:  # noqa: ANN401
    """Counts down what postures still last, and ends them: a kick, a dive, a try to get up."""
    for k in range(len(players)):
        player = players[k]
        posture = player.posture
        if posture in (_UPRIGHT, _LYING):
            continue
        player.busy -= step
        if player.busy > TIME_TOLERANCE:
            continue
        player.busy = 0.0
        if posture == _KICKING:
            player.posture = _UPRIGHT
            draws = key(ball.seed, ball.cycle, player.slot, KICK)
            if uniform_of(draws, _SECOND) < numbers.kick_fall:  # the first is the strike's
                lie_down(player, 0.0 if uniform_of(draws, _THIRD) < 0.5 else math.pi)
        elif posture == _RISING:
            draws = key(ball.seed, ball.cycle, player.slot, GETTING_UP)
            player.posture = _LYING if uniform_of(draws, _SECOND) < numbers.get_up_failure else _UPRIGHT
            player.heading = wrap_angle_exactly(player.heading + numbers.get_up_turn * normal_of(draws, _THIRD))
            player.cos, player.sin = math.cos(player.heading), math.sin(player.heading)
        else:
            player.posture = _LYING


@kernel
def lie_down(player: Any, to: float) -> None:  # noqa: ANN401
    """Lets a player fall to a side of its own frame [rad]."""
    player.posture, player.busy, player.fallen_to, player.fell = _LYING, 0.0, to, 1
    player.pace_ahead, player.pace_left, player.pace_turn = 0.0, 0.0, 0.0


@kernel
def end_cycle(players: Any, ball: Any, numbers: Any) -> None:  # noqa: ANN401
    """Tells how everybody really went in this cycle, and who falls."""
    for k in range(len(players)):
        player = players[k]
        turned = wrap_angle_exactly(player.heading - player.start_heading)
        middle = player.start_heading + 0.5 * turned
        cos, sin = math.cos(middle), math.sin(middle)
        x, y = player.x - player.start_x, player.y - player.start_y
        player.ahead, player.left = (x * cos + y * sin) / CYCLE, (y * cos - x * sin) / CYCLE
        player.turn = turned / CYCLE
        if player.posture not in (_UPRIGHT, _KICKING):
            continue
        hazard = player.risk + CYCLE * _walking_hazard(player, numbers)
        if hazard == 0.0:
            continue
        draws = key(ball.seed, ball.cycle, player.slot, FALL)
        if uniform_of(draws, _FIRST) < 1.0 - math.exp(-hazard):
            to = 0.0 if uniform_of(draws, _SECOND) < 0.5 else math.pi
            if player.risk > 0.0:
                away = wrap_angle_exactly(math.atan2(player.shove_y, player.shove_x) - player.heading)
                to = _QUARTER * math.floor(away / _QUARTER + 0.5)
            lie_down(player, to)


@kernel
def _walking_hazard(player: Any, numbers: Any) -> float:  # noqa: ANN401
    """The hazard of falling without being touched [1/s]."""
    ahead, left, turn = player.pace_ahead, player.pace_left, player.pace_turn
    if ahead == 0.0 and left == 0.0 and turn == 0.0:
        return 0.0
    fastest = numbers.walk_ahead if ahead >= 0.0 else numbers.walk_back
    effort = (ahead / fastest) ** 2 + (left / numbers.walk_side) ** 2 + (turn / numbers.walk_turn) ** 2
    hazard: float = numbers.fall_walking + numbers.fall_fast * effort
    return hazard
