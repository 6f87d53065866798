"""Playing the ball: getting behind it, walking through it, and putting it into play.

    legs, intent = play_ball(situation, memory)

A player circles the ball at some distance, always facing it, until it is behind it as seen from its aim (`aims`), and
then kicks it if there is time (`striking`), or else walks straight through it: the way of driveBallToGoal2 in MacAlpine
and others (2012), section 5.3. All numbers are chosen here and tried in matches.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from nutmeg.base.angles import wrap_angle
from nutmeg.match.play_modes import GOAL_KICKS, PlayMode
from nutmeg.match.team.aims import PUSHED, choose_aim, goal_direction, in_the_way
from nutmeg.match.team.paths import (
    SLOW_WITHIN,
    TURN,
    TURN_GAIN,
    Obstacle,
    fastest,
    players_around,
    smooth,
    walk_to,
    without_bumping,
)
from nutmeg.match.team.positions import KICK_OFF_AIM, RECEIVER
from nutmeg.match.team.situation import ROLLING, Phase, clipped
from nutmeg.match.team.striking import has_time, hold, nearest_opponent, reaches_of_kicks, strike

if TYPE_CHECKING:
    from nutmeg.match.team.request import Legs, Stand, Walk
    from nutmeg.match.team.situation import Memory, Situation

APPROACH = 0.7
"""Farther from the ball than this a player goes straight to the place behind it, m."""
AROUND, BEHIND = 0.36, 0.2
"""Distances from the ball while circling it, and when behind it, m."""
ALIGNED, ALIGNED_STILL = 0.5, 0.8
"""Within this angle of the aim a player begins to play the ball, and goes on within that, rad."""
SWIFT = 0.12
"""On its way to a ball in play a player does not slow down before it is so near, m."""
STRIDE = 0.7
"""How far ahead on the circle the next place lies, rad."""
RUN, RUN_FOR = 0.65, 4.0
"""Speed of who goes to meet a rolling ball, m/s, and for how long it is foreseen, s."""
KICK_OFF_WAY = 1.5
"""How far a kick-off is played, m."""
BACKWARD, ALONE, BLOCKED = 0.8, 1.6, 1.5
"""What a pass costs for each radian off the goal, to play the ball to nobody, and to play it to opponents."""
AT_LINE, INWARD = 0.5, 1.2
"""From so near to the goal line [m] a restart is played inward, at most so far from straight away from it [rad]."""
KEPT = 0.2
"""What is saved by keeping the present aim."""
SETTLED = 2.0
"""Who stands at the ball so long after the whistle has made up its mind where to play it, s."""
DUEL_ROOM = 0.35
"""How far to keep from others near the ball, m."""
PASS_NEAR, PASS_FAR, PASS_FROM = 0.95, 3.0, 6.5
"""Pass mode is asked for with opponents between these distances from the ball, and so far from their goal, m."""
PASS_STILL = 0.15
"""And with slow balls, m/s."""


def play_ball(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """Goes for the ball and plays it."""
    held = hold(s, memory)
    if held is not None:
        return held
    if s.phase is Phase.PLAY:
        aim = choose_aim(s, memory, (*reaches_of_kicks(), PUSHED), partial(in_time, s, memory))
        kicks = memory.aim_reach > PUSHED
    else:
        kicks = has_time(s, memory, goal_direction(s) if memory.aim is None else memory.aim)
        aim = restart_aim(s, memory)
    if s.ball_way > APPROACH:
        memory.dribbling, memory.kick_since = False, None
        return approach(s, memory, aim), "to the ball"
    if s.mode in GOAL_KICKS and rolls_out(s):
        return smooth(memory, -0.2, 0.0, 0.0), "let it roll"
    here = math.atan2(s.y - s.ball[1], s.x - s.ball[0])
    missing = wrap_angle(aim + math.pi - here)
    memory.wants_pass = kicks and asks_for_pass(s)
    memory.dribbling = abs(missing) < (ALIGNED_STILL if memory.dribbling else ALIGNED)
    if not memory.dribbling:
        memory.kick_since = None
        return circle(s, memory, here, missing), "around the ball"
    if kicks:
        struck = strike(s, memory, aim)
        if struck is not None:
            return struck
    memory.kick_since = None
    return dribble(s, memory, aim), "dribble"


def in_time(s: Situation, memory: Memory, angle: float, reach: float, brings: float) -> bool:
    """Whether there is time to play the ball so far: always, if it is to be walked through."""
    return reach <= PUSHED or has_time(s, memory, angle, brings)


def asks_for_pass(s: Situation) -> bool:
    """Whether to ask for pass mode: for time to kick a ball that does not go into the goal at once."""
    if s.mode is not PlayMode.PLAY_ON or s.ball_way > 0.5 or math.hypot(*s.ball_velocity) > PASS_STILL:
        return False
    if math.hypot(s.pitch.length / 2 - s.ball[0], s.ball[1]) < PASS_FROM:
        return False
    return PASS_NEAR < nearest_opponent(s) < PASS_FAR


def rolls_out(s: Situation) -> bool:
    """Whether the ball of an own goal kick will leave the penalty area by itself."""
    edge = s.pitch.penalty_depth - s.pitch.length / 2
    return s.ball_velocity[0] > 0.2 and s.ball[0] + 0.9 * s.ball_velocity[0] / ROLLING > edge


def approach(s: Situation, memory: Memory, aim: float) -> Walk | Stand:
    """Goes to the place behind where the ball will be, as seen from the aim; around it, if need be."""
    ball, time = s.ball, s.ball_way / RUN
    for _ in range(2):
        ball = s.ball_after(min(time, RUN_FOR))
        time = math.hypot(ball[0] - s.x, ball[1] - s.y) / RUN
    around = abs(wrap_angle(aim - math.atan2(ball[1] - s.y, ball[0] - s.x)))
    behind = BEHIND if around < ALIGNED else AROUND
    target = ball[0] - behind * math.cos(aim), ball[1] - behind * math.sin(aim)
    obstacles: list[Obstacle] = players_around(s)
    if around > ALIGNED:
        obstacles.append((ball[0], ball[1], 0.9 * AROUND))
    return walk_to(
        s,
        memory,
        target,
        face=aim,
        obstacles=obstacles,
        rest=False,
        face_within=0.3,
        slow_within=SWIFT if s.phase is Phase.PLAY else SLOW_WITHIN,
    )


def circle(s: Situation, memory: Memory, here: float, missing: float) -> Walk | Stand:
    """Goes on around the ball, facing it."""
    ball = s.ball_after(0.2)
    angle = here + clipped(missing, -STRIDE, STRIDE)
    radius = BEHIND if abs(missing) < 2 * ALIGNED else AROUND
    target = ball[0] + radius * math.cos(angle), ball[1] + radius * math.sin(angle)
    face = math.atan2(ball[1] - s.y, ball[0] - s.x)
    return walk_to(
        s,
        memory,
        target,
        face=face,
        obstacles=players_around(s, room=DUEL_ROOM),
        rest=False,
        face_within=math.inf,
        slow_within=SWIFT if s.phase is Phase.PLAY else SLOW_WITHIN,
        near_ball=s.ball_way < 0.8,
    )


def dribble(s: Situation, memory: Memory, aim: float) -> Walk:
    """Walks through the ball."""
    ball = s.ball_after(0.1)
    dx, dy = ball[0] - s.x, ball[1] - s.y
    along = dx * math.cos(aim) + dy * math.sin(aim)
    beside = dy * math.cos(aim) - dx * math.sin(aim)
    turned = wrap_angle(aim - s.heading)
    bearing = math.atan2(2.0 * beside, max(along, 0.0) + 0.25) + turned
    ahead, left = without_bumping(s, *fastest(bearing))
    careful = 1.0 if abs(beside) < 0.08 or along > 0.35 else 0.5
    memory.standing = False
    return smooth(memory, careful * ahead, careful * left, clipped(TURN_GAIN * turned, -TURN, TURN), "positioning")


def restart_aim(s: Situation, memory: Memory) -> float:
    """Where to play the ball that the own team puts into play: to a team-mate who is ahead and free, else ahead."""
    bx, by = s.ball
    best, least = goal_direction(s), ALONE
    if s.phase is Phase.KICK_OFF:
        received = memory.players >= RECEIVER
        memory.aim, memory.pass_way = (KICK_OFF_AIM, KICK_OFF_WAY) if received else (0.0, None)
        return memory.aim
    if s.ball_way < APPROACH and s.mode_age > SETTLED and memory.aim is not None:
        return memory.aim
    memory.pass_way = None
    for mate in s.mates:
        way = math.hypot(mate.x - bx, mate.y - by)
        if mate.number == 1 or mate.fallen or not 0.8 < way < 6.0:
            continue
        angle = math.atan2(mate.y - by, mate.x - bx)
        stopped, _ = in_the_way(s, math.cos(angle), math.sin(angle), way)
        cost = 0.3 * abs(way - 2.0) + BACKWARD * abs(wrap_angle(angle - goal_direction(s)))
        cost += BLOCKED if stopped < way else 0.0
        if memory.aim is not None and abs(wrap_angle(angle - memory.aim)) < 0.3:
            cost -= KEPT
        if cost < least:
            best, least, memory.pass_way = angle, cost, way
    if bx > s.pitch.length / 2 - AT_LINE and math.cos(best) > -math.cos(INWARD):
        best = math.copysign(math.pi - INWARD, -by)
    memory.aim = best
    return best
