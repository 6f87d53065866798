"""Kicking: whether there is time for it, getting the ball before a foot, and when it is good enough.

    if has_time(situation, memory, aim):
        legs, intent = strike(situation, memory, aim)

A kick from walking takes a second and more until the ball is hit: the walk has to stop, and the robot to stand. So it
is begun while walking, for where the robot will have stopped and the ball rolled to. Any place before the feet from
which a kick goes straight will do, and any direction that is worth nearly as much as the aim.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

from nutmeg.base.angles import wrap_angle
from nutmeg.match.team.aims import SHOT, worth
from nutmeg.match.team.kick import STRONG, foot_for, kick_distance, kick_place, kick_tolerance
from nutmeg.match.team.paths import TURN_GAIN, smooth
from nutmeg.match.team.request import Kick
from nutmeg.match.team.situation import Phase, Point, clipped

if TYPE_CHECKING:
    from nutmeg.match.team.request import KickKind, Legs
    from nutmeg.match.team.situation import Memory, Situation

STILL = 0.5
"""Faster balls are not kicked, m/s."""
SWING = 0.75
"""From the beginning of a kick to its hit, s."""
TAKES = 1.15
"""From the wish to kick, walking slowly, to the hit, s."""
COMES, ROUND_TIME = 0.5, 0.7
"""Speed of a player on its last steps to the ball, m/s, and its time for each radian around it, s."""
RUNS, FOOT = 0.55, 0.3
"""Speed of an opponent who comes to disturb, m/s, and how near it must be for that, m."""
BEHIND, DETOUR = 0.8, 0.4
"""Opponents behind the player, as seen from the ball within this angle [rad], have so much farther to go, m."""
BEGUN = 0.6
"""A kick that is being prepared is given up only if so much time is missing, s."""
DARE = 1.2
"""And a shot at the goal, which brings so much and costs little if it fails, only if so much more is, s."""
PATIENCE = 4.0
"""A kick for which the player is not ready after so long is given up for as long, s."""
HURRY = 10.0
"""After so long a restart is taken by walking into the ball; after 15 s it would be lost, s."""
EXACT, LOOSE = 0.12, 0.5
"""A kick may always go so far from the aim, and farther only where that is worth nearly as much, rad."""
NEARLY = 0.7
"""How much less it may be worth, m."""
FINE, ASIDE = 3.0, 5.0
"""Speed for each metre that the ball is off its place before the foot, ahead and aside, 1/s."""
TURN_MOST = 1.2
"""How fast a player turns before the ball, rad/s."""
BACK_OFF = 0.06
"""Who is beside the ball or looks elsewhere keeps so much farther from it, m."""
STOPS_IN, STOPS_SQUARED = 0.07, 0.42
"""How far a walker comes who stops, for each m/s [s] and for each of its squares [s²/m]: measured."""
NEARER = 0.02
"""The ball is wanted so much nearer than in the middle of where it can be kicked, m."""
SURE = 0.65
"""Share of the tolerance within which a walker stops for a kick."""
STOPPING, LONGEST_STOP = 0.4, 1.5
"""How long it takes to stop, about and at most, s."""


@cache
def reaches_of_kicks() -> tuple[float, float]:
    """How far a kick, and a weak one, bring the ball, m."""
    return _place("straight")[2], _place("pass")[2]


@cache
def _place(kind: KickKind) -> tuple[Point, float, float]:
    """Where the ball must lie for the left foot, how exactly, and how far it then goes, m."""
    return kick_place(kind), kick_tolerance(kind), kick_distance(kind)


def has_time(s: Situation, memory: Memory, aim: float, brings: float = 0.0) -> bool:
    """Whether a ball can be kicked before an opponent disturbs; or, before a restart, in time.

    Args:
        s: the situation.
        memory: of the player.
        aim: direction of the kick, rad.
        brings: what it is worth, m: shots are dared with opponents nearer.
    """
    if not memory.kicks or s.time < memory.no_kick_until or math.hypot(*s.ball_velocity) > STILL:
        return False
    if s.phase is not Phase.PLAY:
        return s.mode_age < HURRY
    if s.ours:
        return True
    comes = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    mine = TAKES + max(s.ball_way - 0.25, 0.0) / COMES + ROUND_TIME * max(abs(wrap_angle(aim - comes)) - 0.2, 0.0)
    if memory.kick_since is not None:
        mine -= BEGUN
    if brings > SHOT:
        mine -= DARE
    return mine < soonest_opponent(s)


def soonest_opponent(s: Situation) -> float:
    """When the first opponent who stands could disturb at the ball, s; who is behind the player has to come around."""
    (bx, by), soonest = s.ball, math.inf
    here = math.atan2(s.y - by, s.x - bx)
    for o in s.opponents:
        if not o.fallen:
            dx, dy = o.x - bx, o.y - by
            more = DETOUR if abs(wrap_angle(math.atan2(dy, dx) - here)) < BEHIND else 0.0
            soonest = min(soonest, (math.hypot(dx, dy) + more - FOOT) / RUNS)
    return soonest


def nearest_opponent(s: Situation) -> float:
    """How far the nearest opponent who stands is from the ball, m."""
    return min((math.hypot(o.x - s.ball[0], o.y - s.ball[1]) for o in s.opponents if not o.fallen), default=9.0)


def strike(s: Situation, memory: Memory, aim: float) -> tuple[Legs, str] | None:
    """Gets the ball before a foot and kicks it; None if that takes too long."""
    if memory.kick_since is None:
        memory.kick_since, memory.foot = s.time, 0
    if s.time - memory.kick_since > PATIENCE and memory.velocity != STOPPED:
        memory.kick_since, memory.no_kick_until = None, s.time + PATIENCE
        return None
    far = memory.aim_reach if s.phase is Phase.PLAY else memory.pass_way
    strength = 1.0 if far is None else clipped((far + 0.3) / reaches_of_kicks()[0], 0.0, 1.0)
    place, tolerance, reach = _place("straight" if strength >= STRONG else "pass")
    place = place[0] - NEARER, place[1]
    walks = memory.velocity
    ahead, left = seen_from(s, s.ball_after(SWING + STOPPING))
    memory.foot = memory.foot if memory.foot * left > -0.03 and memory.foot else 1 if left > 0 else -1
    way = math.copysign(STOPS_IN + STOPS_SQUARED * abs(walks[0]), walks[0]) * abs(walks[0])
    stops_ahead, stops_left = ahead - way, left - 0.15 * walks[1]
    turned = wrap_angle(aim - s.heading)
    off = max(abs(stops_ahead - place[0]), abs(stops_left - memory.foot * place[1]))
    if off < SURE * tolerance and fits(s, aim, turned, reach):
        memory.velocity, memory.stopped_at, memory.strength = STOPPED, s.time, strength
        return hold(s, memory)
    off_ahead = beyond(stops_ahead - place[0], 0.5 * SURE * tolerance)
    off_left = beyond(stops_left - memory.foot * place[1], 0.5 * SURE * tolerance)
    turn = clipped(TURN_GAIN * turned, -TURN_MOST, TURN_MOST)
    back = 0.0 if abs(off_left) < 2 * tolerance and abs(turned) < 0.4 else BACK_OFF
    return smooth(
        memory,
        clipped(FINE * (off_ahead - back), -0.25, 0.45),
        clipped(ASIDE * off_left - place[0] * turn, -0.35, 0.35),  # who turns goes around the ball
        turn,
        "positioning",
    ), "get ready to kick"


def hold(s: Situation, memory: Memory) -> tuple[Legs, str] | None:
    """Goes on with a kick for which the player has stopped; None if there is none, or the ball has gone."""
    if memory.stopped_at is None:
        return None
    ball = seen_from(s, s.ball_after(SWING))
    kick = Kick(ball=ball, strength=memory.strength)
    begun = s.time - memory.stopped_at
    if begun > LONGEST_STOP or (begun > STOPPING and foot_for(kick) is None):
        memory.stopped_at = None
        return None
    return kick, "kick"


STOPPED: Final = (0.0, 0.0, 0.0)
"""What is wished of the legs of who stands."""


def beyond(value: float, slack: float) -> float:
    """How much a number is off 0 beyond a slack."""
    return 0.0 if abs(value) < slack else value - math.copysign(slack, value)


def fits(s: Situation, aim: float, turned: float, reach: float) -> bool:
    """Whether a kick to where the player looks is as good as to where it wants to kick; any free shot is."""
    if abs(turned) < EXACT:
        return True
    if abs(turned) > LOOSE or s.phase is not Phase.PLAY:
        return s.phase is not Phase.PLAY and abs(turned) < 2 * EXACT
    return worth(s, s.heading, reach) > min(worth(s, aim, reach) - NEARLY, SHOT)


def seen_from(s: Situation, place: Point) -> Point:
    """A place as the player sees it: ahead and to the left, m."""
    dx, dy = place[0] - s.x, place[1] - s.y
    c, d = math.cos(s.heading), math.sin(s.heading)
    return c * dx + d * dy, c * dy - d * dx
