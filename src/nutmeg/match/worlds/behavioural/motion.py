"""Compiled motion of the robots of one match: standing, walking, looking, falling, diving and getting up.

    begin_cycle(players, ball, numbers)                 # commands become postures, paces and real velocities
    for _ in range(SUBSTEPS):
        move(players, STEP)
        end_postures(players, ball, numbers, STEP)
    end_cycle(players, ball, numbers)

Seed 002: a walk request is scaled down to what the robot can do, and disturbed on each axis (`WalkSettings` says how).
Falls, getting up and dives are future work there; their numbers are settings. `players` (n,) and `ball` are records
of `state`, `numbers` is the record of a `BehaviourSettings`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
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

if TYPE_CHECKING:
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings
    from nutmeg.match.worlds.behavioural.state import Ball, Player

SUBSTEPS = 5
"""Steps of motion, ball and collisions in a cycle."""
STEP = BEHAVIOURAL_CYCLE / SUBSTEPS
"""Length of a substep [s]."""
TIME_TOLERANCE = 1e-9
"""A posture with less time left than this has ended: sums of 0.02 s are not exact in binary [s]."""
_QUARTER_TURN = math.pi / 2
_FIRST, _SECOND, _THIRD = 0, 1, 2  # numbers of random draws of one purpose


@kernel
def begin_cycle(players: Records[Player], ball: Ball, numbers: BehaviourSettings) -> None:
    """Turns commands into postures, paces, velocities and head angles."""
    for k in range(len(players)):
        player = players[k]
        _obey(player, ball, numbers)
        _set_pace(player, numbers)
        _disturb(player, ball, numbers)
        _look(player, numbers)


@kernel
def _obey(player: Player, ball: Ball, numbers: BehaviourSettings) -> None:
    """Begins a kick or a dive of a player that stands, and the getting up of one that lies."""
    legs = player.legs
    # Orders count only when the body can follow: a robot that kicks, dives or falls finishes that first.
    if player.posture == Posture.UPRIGHT:
        if legs == Legs.KICK:
            player.posture, player.kick = Posture.KICKING, player.order_kick
            player.busy = numbers.kick.wind_up + numbers.kick.follow_through
            strength = player.order_strength
            player.strength = min(max(strength, 0.0), 1.0) if math.isfinite(strength) else 0.0
        elif legs in (Legs.DIVE_LEFT, Legs.DIVE_RIGHT):
            player.posture = Posture.DIVING_LEFT if legs == Legs.DIVE_LEFT else Posture.DIVING_RIGHT
            player.busy = numbers.dive.time + numbers.dive.hold
            player.fallen_to = _QUARTER_TURN if legs == Legs.DIVE_LEFT else -_QUARTER_TURN
    elif player.posture == Posture.LYING and legs == Legs.GET_UP:
        # on the belly, on the back, or on a side: the directions in between count as a side
        along = math.cos(player.fallen_to)
        time = numbers.get_up.side
        if along > 0.5:
            time = numbers.get_up.front
        elif along < -0.5:
            time = numbers.get_up.back
        chance = normal_of(key(ball.seed, ball.cycle, player.slot, GETTING_UP), _FIRST)
        player.posture, player.busy = Posture.GETTING_UP, time * max(0.5, 1.0 + numbers.get_up.spread * chance)


@kernel
def _squared_effort(ahead: float, left: float, turn: float, numbers: BehaviourSettings) -> float:
    """How much of what the robot can walk a velocity takes: 1 on the surface of the ellipsoid of top speeds."""
    walk = numbers.walk
    fastest = walk.ahead if ahead >= 0.0 else walk.back
    return (ahead / fastest) ** 2 + (left / walk.side) ** 2 + (turn / walk.turn) ** 2


@kernel
def within_limits(ahead: float, left: float, turn: float, numbers: BehaviourSettings) -> tuple[float, float, float]:
    """A commanded velocity scaled down to what the robot can walk; 0 if it is not finite."""
    if not (math.isfinite(ahead) and math.isfinite(left) and math.isfinite(turn)):
        return 0.0, 0.0, 0.0
    # All three components shrink alike: the robot walks slower, but where it was sent.
    effort = math.sqrt(_squared_effort(ahead, left, turn, numbers))
    share = 1.0 / effort if effort > 1.0 else 1.0
    return ahead * share, left * share, turn * share


@kernel
def _set_pace(player: Player, numbers: BehaviourSettings) -> None:
    """Brings the pace towards the commanded walk, within the accelerations; 0 for a player that does something else."""
    if player.posture != Posture.UPRIGHT:
        player.pace_ahead, player.pace_left, player.pace_turn = 0.0, 0.0, 0.0
        return
    ahead, left, turn = 0.0, 0.0, 0.0
    if player.legs == Legs.WALK:
        ahead, left, turn = within_limits(player.wish_ahead, player.wish_left, player.wish_turn, numbers)
    # Ahead and aside share one limit, because both need the same legs; turning has its own.
    change_x, change_y = ahead - player.pace_ahead, left - player.pace_left
    change, most = math.sqrt(change_x**2 + change_y**2), numbers.walk.acceleration * BEHAVIOURAL_CYCLE
    share = most / change if change > most else 1.0
    player.pace_ahead += share * change_x
    player.pace_left += share * change_y
    most = numbers.walk.turn_acceleration * BEHAVIOURAL_CYCLE
    player.pace_turn += min(max(turn - player.pace_turn, -most), most)


@kernel
def _disturb(player: Player, ball: Ball, numbers: BehaviourSettings) -> None:
    """Draws the real velocity of this cycle, and the odometry: what the robot believes to walk."""
    ahead, left, turn = player.pace_ahead, player.pace_left, player.pace_turn
    player.odometry_ahead, player.odometry_left, player.odometry_turn = (
        BEHAVIOURAL_CYCLE * ahead,
        BEHAVIOURAL_CYCLE * left,
        BEHAVIOURAL_CYCLE * turn,
    )
    player.ahead, player.left, player.turn = ahead, left, turn
    # A standing robot neither slips nor drifts.
    if ahead == 0.0 and left == 0.0 and turn == 0.0:
        return
    # The robot does not notice the noise of its walk: odometry follows the pace, not the real velocity.
    draws = key(ball.seed, ball.cycle, player.slot, MOTION)
    first, second = normal_pair(draws, _FIRST)
    third = normal_of(draws, _SECOND)
    player.ahead += first * (numbers.walk.ahead_noise + numbers.walk.ahead_noise_share * abs(ahead))
    player.left += second * (numbers.walk.side_noise + numbers.walk.side_noise_share * abs(left))
    player.turn += third * (numbers.walk.turn_noise + numbers.walk.turn_noise_share * abs(turn))
    # The walk's own scale may be wrong as well: a share of the way, with draws apart from those of the motion.
    spread = numbers.walk.odometry_noise_share
    if spread > 0.0:
        draws = key(ball.seed, ball.cycle, player.slot, ODOMETRY)
        first, second = normal_pair(draws, _FIRST)
        player.odometry_ahead *= 1.0 + spread * first
        player.odometry_left *= 1.0 + spread * second
        player.odometry_turn *= 1.0 + spread * normal_of(draws, _SECOND)


@kernel
def _look(player: Player, numbers: BehaviourSettings) -> None:
    """Turns the head towards its commanded angles, within its limits and speed."""
    most = numbers.head.speed * BEHAVIOURAL_CYCLE
    if math.isfinite(player.look_yaw):
        yaw = min(max(player.look_yaw, -numbers.head.yaw), numbers.head.yaw)
        player.yaw += min(max(yaw - player.yaw, -most), most)
    if math.isfinite(player.look_pitch):
        pitch = min(max(player.look_pitch, -numbers.head.down), numbers.head.up)
        player.pitch += min(max(pitch - player.pitch, -most), most)


@kernel
def move(players: Records[Player], step: float) -> None:
    """Walks for a step, along the chord of the arc, and notes the velocity over the pitch."""
    for k in range(len(players)):
        player = players[k]
        player.vx, player.vy = 0.0, 0.0
        ahead, left, turn = player.ahead, player.left, player.turn
        if player.posture != Posture.UPRIGHT or (ahead == 0.0 and left == 0.0 and turn == 0.0):
            continue
        cos, sin = player.cos, player.sin
        # The mean of the directions before and after the turn points along the chord of the arc.
        if turn != 0.0:
            player.heading = wrap_angle_exactly(player.heading + step * turn)
            player.cos, player.sin = math.cos(player.heading), math.sin(player.heading)
            cos, sin = 0.5 * (cos + player.cos), 0.5 * (sin + player.sin)
        player.vx, player.vy = ahead * cos - left * sin, ahead * sin + left * cos
        player.x += step * player.vx
        player.y += step * player.vy


@kernel
def end_postures(players: Records[Player], ball: Ball, numbers: BehaviourSettings, step: float) -> None:
    """Counts down the time of postures, and ends them: a kick, a dive, an attempt to get up."""
    for k in range(len(players)):
        player = players[k]
        posture = player.posture
        if posture in (Posture.UPRIGHT, Posture.LYING):
            continue
        player.busy -= step
        if player.busy > TIME_TOLERANCE:
            continue
        player.busy = 0.0
        if posture == Posture.KICKING:
            player.posture = Posture.UPRIGHT
            draws = key(ball.seed, ball.cycle, player.slot, KICK)
            if uniform_of(draws, _SECOND) < numbers.kick.fall:  # the first draw is the strike's
                _lie_down(player, 0.0 if uniform_of(draws, _THIRD) < 0.5 else math.pi)
        elif posture == Posture.GETTING_UP:
            draws = key(ball.seed, ball.cycle, player.slot, GETTING_UP)
            # getting up may fail, and turns the robot without its noticing
            player.posture = Posture.LYING if uniform_of(draws, _SECOND) < numbers.get_up.failure else Posture.UPRIGHT
            player.heading = wrap_angle_exactly(player.heading + numbers.get_up.turn * normal_of(draws, _THIRD))
            player.cos, player.sin = math.cos(player.heading), math.sin(player.heading)
        else:  # a dive ends on the ground
            player.posture = Posture.LYING


@kernel
def _lie_down(player: Player, to: float) -> None:
    """Lets a player fall to a side of its own frame [rad]."""
    player.posture, player.busy, player.fallen_to, player.fell = Posture.LYING, 0.0, to, True
    player.pace_ahead, player.pace_left, player.pace_turn = 0.0, 0.0, 0.0


@kernel
def end_cycle(players: Records[Player], ball: Ball, numbers: BehaviourSettings) -> None:
    """Notes the real velocities of this cycle, collisions included, and lets players fall."""
    for k in range(len(players)):
        player = players[k]
        # Real velocities come from places, because collisions have moved players after `move`; they are measured along
        # the middle heading of the cycle.
        turned = wrap_angle_exactly(player.heading - player.start_heading)
        middle = player.start_heading + 0.5 * turned
        cos, sin = math.cos(middle), math.sin(middle)
        x, y = player.x - player.start_x, player.y - player.start_y
        player.ahead, player.left = (x * cos + y * sin) / BEHAVIOURAL_CYCLE, (y * cos - x * sin) / BEHAVIOURAL_CYCLE
        player.turn = turned / BEHAVIOURAL_CYCLE
        if player.posture > Posture.KICKING:
            continue
        # Hazards add up: that of collisions in this cycle, and that of walking for its time.
        hazard = player.risk + BEHAVIOURAL_CYCLE * _walking_hazard(player, numbers)
        if hazard == 0.0:
            continue
        # The chance of a fall in this cycle. Without a collision robots fall ahead or back; else to where they are
        # pushed, in quarter turns.
        draws = key(ball.seed, ball.cycle, player.slot, FALL)
        if uniform_of(draws, _FIRST) < 1.0 - math.exp(-hazard):
            to = 0.0 if uniform_of(draws, _SECOND) < 0.5 else math.pi
            if player.risk > 0.0:
                away = wrap_angle_exactly(math.atan2(player.shove_y, player.shove_x) - player.heading)
                to = _QUARTER_TURN * math.floor(away / _QUARTER_TURN + 0.5)
            _lie_down(player, to)


@kernel
def _walking_hazard(player: Player, numbers: BehaviourSettings) -> float:
    """The hazard of falling without being touched [1/s]."""
    ahead, left, turn = player.pace_ahead, player.pace_left, player.pace_turn
    if ahead == 0.0 and left == 0.0 and turn == 0.0:
        return 0.0
    return numbers.fall.walking + numbers.fall.fast * _squared_effort(ahead, left, turn, numbers)
