"""Playing the ball: where to, getting behind it, walking through it, kicking it.

    aim = choose_aim(situation, memory)                 # rad
    legs, intent = play_ball(situation, memory)

A player circles the ball at some distance, always facing it, until it is behind it as seen from its aim, and then
walks straight through it: the way of driveBallToGoal2 in MacAlpine and others (2012), section 5.3. The aim is the
opponents' goal, or a gap beside opponents who stand in the way. All numbers are chosen here and tried in matches.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from nutmeg.match.play_modes import GOAL_KICKS
from nutmeg.match.team.kick import kick_distance, kick_place, kick_tolerance
from nutmeg.match.team.paths import TURN, TURN_GAIN, Obstacle, fastest, players_around, smooth, walk_to, without_bumping
from nutmeg.match.team.positions import KICK_OFF_AIM, RECEIVER
from nutmeg.match.team.request import Kick, Stand, Walk
from nutmeg.match.team.situation import ROLLING, Phase, Point, clipped, wrapped

if TYPE_CHECKING:
    from nutmeg.match.team.request import Legs
    from nutmeg.match.team.situation import Memory, Other, Situation

GAPS = (0.0, 0.35, -0.35, 0.8, -0.8, 1.3, -1.3)
"""Directions that are tried, beside that of the goal, rad."""
BLOCKED_WITHIN, BLOCKED_WIDTH = 2.5, 0.7
"""Opponents so far ahead of the ball and so far beside the line block it, m."""
BLOCKED = 1.5
"""What a blocked line costs, in radians off the goal."""
OUT = 2.0
"""What it costs to play the ball out."""
KEPT = 0.2
"""What is saved by keeping the present aim."""
APPROACH = 0.9
"""Farther from the ball than this a player goes straight to the place behind it, m."""
AROUND, BEHIND = 0.38, 0.22
"""Distances from the ball while circling it, and when behind it, m."""
ALIGNED, ALIGNED_STILL = 0.45, 0.75
"""Within this angle of the aim a player begins to walk through the ball, and goes on within that, rad."""
STRIDE = 0.7
"""How far ahead on the circle the next place lies, rad."""
STILL = 0.4
"""Faster balls are not kicked, m/s."""
WORTH = 2.5
"""A kick that does not bring the ball so far is only used to put it into play, m."""
FREE, VERY_FREE = 1.1, 1.7
"""No opponent may be nearer to a ball that is kicked at the goal, and to one that is kicked ahead, m."""
PATIENCE = 4.0
"""A kick for which the player is not ready after so long is given up for as long, s."""
KICK_OFF_WAY = 1.5
"""How far a kick-off is played, m."""
BACKWARD, ALONE = 0.8, 1.6
"""What a pass costs for each radian off the goal, and what it costs to play the ball to nobody."""
SETTLED = 2.0
"""Who stands at the ball so long after the whistle has made up its mind where to play it, s."""
HURRY = 10.0
"""After so long a restart is taken by walking into the ball; after 15 s it would be lost, s."""
KICK_TURNED = 0.15
"""How far from the aim a kick may go, rad."""
FINE = 2.5
"""Speed for each metre that the ball is off its place before the foot, 1/s."""
DUEL_ROOM = 0.35
"""How far to keep from others near the ball, m."""


def choose_aim(s: Situation, memory: Memory) -> float:
    """The direction in which to play the ball, rad."""
    goal = goal_direction(s)
    near = [o for o in s.opponents if math.hypot(o.x - s.ball[0], o.y - s.ball[1]) < BLOCKED_WITHIN]
    best, least = goal, math.inf
    for gap in GAPS if near or _near_line(s) else GAPS[:1]:
        angle = goal + gap
        cost = abs(gap) + _blocked(s, angle, near) + (OUT if _goes_out(s, angle) else 0.0)
        if memory.aim is not None and abs(wrapped(angle - memory.aim)) < 0.2:
            cost -= KEPT
        if cost < least:
            best, least = angle, cost
    memory.aim = wrapped(best)
    return memory.aim


def goal_direction(s: Situation) -> float:
    """From the ball to the opponents' goal, or to the place before it if the ball lies beside it, rad."""
    end, post = s.pitch.length / 2, s.pitch.goal_width / 2
    x, y = s.ball
    if x > end - 1.5 and abs(y) > post + 0.3:
        return math.atan2(-y, end - 1.2 - x)
    return math.atan2(clipped(y, -0.5 * post, 0.5 * post) - y, end + 0.3 - x)


def _near_line(s: Situation) -> bool:
    return abs(s.ball[1]) > s.pitch.width / 2 - 1.0 or s.ball[0] < -s.pitch.length / 2 + 1.0


def _goes_out(s: Situation, angle: float) -> bool:
    """Whether a ball played a little in a direction is over a touch line, or the own goal line."""
    x, y = s.ball[0] + 1.2 * math.cos(angle), s.ball[1] + 1.2 * math.sin(angle)
    return abs(y) > s.pitch.width / 2 or x < -s.pitch.length / 2


def _blocked(s: Situation, angle: float, near: list[Other]) -> float:
    """What opponents in the way cost."""
    cost, c, d = 0.0, math.cos(angle), math.sin(angle)
    for o in near:
        dx, dy = o.x - s.ball[0], o.y - s.ball[1]
        along, across = c * dx + d * dy, abs(c * dy - d * dx)
        if along > 0.0 and across < BLOCKED_WIDTH:
            cost += BLOCKED * (1.0 - across / BLOCKED_WIDTH) * max(1.2 - along / BLOCKED_WITHIN, 0.0)
    return cost


def play_ball(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """Goes for the ball and plays it."""
    aim = choose_aim(s, memory) if s.phase is Phase.PLAY else restart_aim(s, memory)
    if s.ball_way > APPROACH:
        memory.dribbling, memory.kick_since = False, None
        return approach(s, memory, aim), "to the ball"
    if s.mode in GOAL_KICKS and rolls_out(s):
        return smooth(memory, -0.2, 0.0, 0.0), "let it roll"
    here = math.atan2(s.y - s.ball[1], s.x - s.ball[0])
    missing = wrapped(aim + math.pi - here)
    memory.dribbling = abs(missing) < (ALIGNED_STILL if memory.dribbling else ALIGNED)
    if not memory.dribbling:
        memory.kick_since = None
        return circle(s, memory, here, missing), "around the ball"
    if worth_kicking(s, memory):
        return strike(s, memory, aim)
    memory.kick_since = None
    return dribble(s, memory, aim), "dribble"


def rolls_out(s: Situation) -> bool:
    """Whether the ball of an own goal kick will leave the penalty area by itself."""
    edge = s.pitch.penalty_depth - s.pitch.length / 2
    return s.ball_velocity[0] > 0.2 and s.ball[0] + 0.9 * s.ball_velocity[0] / ROLLING > edge


def approach(s: Situation, memory: Memory, aim: float) -> Walk | Stand:
    """Goes to the place behind the ball, as seen from the aim; around it, if need be."""
    ball = s.ball_after(clipped(0.5 * (s.ball_way - 0.5), 0.0, 1.5))
    target = ball[0] - AROUND * math.cos(aim), ball[1] - AROUND * math.sin(aim)
    obstacles: list[Obstacle] = [*players_around(s), (ball[0], ball[1], 0.9 * AROUND)]
    return walk_to(s, memory, target, face=aim, obstacles=obstacles, rest=False, face_within=0.3)


def circle(s: Situation, memory: Memory, here: float, missing: float) -> Walk | Stand:
    """Goes on around the ball, facing it."""
    ball = s.ball_after(0.2)
    angle = here + clipped(missing, -STRIDE, STRIDE)
    radius = BEHIND if abs(missing) < 2 * ALIGNED else AROUND
    target = ball[0] + radius * math.cos(angle), ball[1] + radius * math.sin(angle)
    face = math.atan2(ball[1] - s.y, ball[0] - s.x)
    obstacles = players_around(s, room=DUEL_ROOM)
    return walk_to(
        s,
        memory,
        target,
        face=face,
        obstacles=obstacles,
        rest=False,
        face_within=math.inf,
        near_ball=s.ball_way < 0.8,
    )


def dribble(s: Situation, memory: Memory, aim: float) -> Walk:
    """Walks through the ball."""
    ball = s.ball_after(0.1)
    dx, dy = ball[0] - s.x, ball[1] - s.y
    along = dx * math.cos(aim) + dy * math.sin(aim)
    beside = dy * math.cos(aim) - dx * math.sin(aim)
    turned = wrapped(aim - s.heading)
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
        cost = (
            0.3 * abs(way - 2.0)
            + BACKWARD * abs(wrapped(angle - goal_direction(s)))
            + _blocked(s, angle, list(s.opponents))
        )
        if memory.aim is not None and abs(wrapped(angle - memory.aim)) < 0.3:
            cost -= KEPT
        if cost < least:
            best, least, memory.pass_way = angle, cost, way
    memory.aim = best
    return best


def worth_kicking(s: Situation, memory: Memory) -> bool:
    """Whether to kick rather than to dribble: what takes two seconds must bring something, and nobody may disturb."""
    if s.time < memory.no_kick_until or math.hypot(*s.ball_velocity) > STILL:
        return False
    if s.phase is not Phase.PLAY:
        return s.mode_age < HURRY
    reach = _kick()[2]
    nearest = min((math.hypot(o.x - s.ball[0], o.y - s.ball[1]) for o in s.opponents if not o.fallen), default=9.0)
    begun = 0.0 if memory.kick_since is None else 0.3
    to_goal = math.hypot(s.pitch.length / 2 - s.ball[0], s.ball[1])
    if reach < WORTH or nearest < FREE - begun:
        return False
    return to_goal < 0.85 * reach or nearest > VERY_FREE - begun


@cache
def _kick() -> tuple[Point, float, float]:
    """Where the ball must lie for the left foot, how exactly, and how far it then goes, m."""
    return kick_place(), kick_tolerance(), kick_distance()


def strike(s: Situation, memory: Memory, aim: float) -> tuple[Legs, str]:
    """Gets the ball before a foot and kicks it."""
    if memory.kick_since is None:
        memory.kick_since, memory.foot = s.time, 0
    if s.time - memory.kick_since > PATIENCE:
        memory.kick_since, memory.no_kick_until = None, s.time + PATIENCE
        return dribble(s, memory, aim), "dribble"
    ahead, left = seen_from(s, s.ball)
    turned = wrapped(aim - s.heading)
    memory.foot = memory.foot or (1 if left + 0.15 * turned > 0 else -1)
    place, tolerance, _ = _kick()
    off_ahead, off_left = ahead - place[0], left - memory.foot * place[1]
    stopping = memory.velocity == (0.0, 0.0, 0.0)
    enough = (1.3 if stopping else 0.8) * tolerance
    if max(abs(off_ahead), abs(off_left)) < enough and abs(turned) < (2.0 if stopping else 1.0) * KICK_TURNED:
        memory.velocity = (0.0, 0.0, 0.0)
        far = memory.pass_way if s.phase is not Phase.PLAY else None
        strength = 1.0 if far is None else clipped((far + 0.3) / _kick()[2], 0.0, 1.0)
        return Kick(ball=(ahead, left), strength=strength), "kick"
    turn = clipped(TURN_GAIN * turned, -0.8, 0.8)
    beside = off_left + place[0] * turned  # turning moves the ball across
    forward = FINE * off_ahead if abs(beside) < 3 * tolerance and abs(turned) < 0.3 else FINE * (off_ahead - 0.06)
    return smooth(
        memory, clipped(forward, -0.2, 0.25), clipped(FINE * beside, -0.2, 0.2), turn, "positioning"
    ), "get ready to kick"


def seen_from(s: Situation, place: Point) -> Point:
    """A place as the player sees it: ahead and to the left, m."""
    dx, dy = place[0] - s.x, place[1] - s.y
    c, d = math.cos(s.heading), math.sin(s.heading)
    return c * dx + d * dy, c * dy - d * dx
