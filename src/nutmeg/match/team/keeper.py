"""The goalkeeper: between ball and goal, out for near slow balls, down for near fast ones.

    legs, intent = keep_goal(situation, memory)

A rolling ball slows down by 1.06 a second, so that one of speed v comes v / 1.06 far; from that the keeper works out
where and when a ball will cross its line. All other numbers are chosen here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.match.play_modes import GOAL_KICKS
from nutmeg.match.team.attack import play_ball
from nutmeg.match.team.paths import walk_to
from nutmeg.match.team.request import Dive
from nutmeg.match.team.roles import may_go
from nutmeg.match.team.situation import ROLLING, Phase, clipped

if TYPE_CHECKING:
    from nutmeg.match.team.request import Legs
    from nutmeg.match.team.situation import Memory, Point, Situation

OUT = 0.9
"""How far before its goal the keeper stands, m."""
COMES_OUT, COMES_OUT_WIDE = 3.2, 3.6
"""Balls so near to the goal line and to the middle are the keeper's, m."""
FOLLOWS = 5.0
"""A ball that the keeper has is its own up to here, m from the goal line."""
SLOW = 1.0
"""If they are slower, m/s."""
SOONER = 0.6
"""And if no opponent is nearer by more than this, m."""
DIVE_TIME = 0.9
"""A dive is begun when the ball crosses so soon, s."""
REACH = (0.16, 0.75)
"""And so far beside the keeper, m."""
FAST = 1.0
"""And at such a speed, m/s; slower balls are walked to."""
DIVE_PAUSE = 5.0
"""Between dives, s."""


def keep_goal(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """What the keeper does."""
    memory.goes = may_go(s) and s.upright and s.ball_known and memory.barred_since is None and is_mine(s, memory)
    if not memory.goes:
        memory.arrival = math.inf  # so that others go
    if s.phase is Phase.PLAY and s.ours is None:
        dive = saves(s, memory)
        if dive is not None:
            memory.dived_at = s.time
            return dive, f"dive {dive.side}"
    if memory.goes:
        legs, intent = play_ball(s, memory)
        return legs, f"clear: {intent}"
    memory.dribbling = False
    place = guard(s)
    face = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    return walk_to(s, memory, place, face=face, face_within=1.0), "keep the goal"


def is_mine(s: Situation, memory: Memory) -> bool:
    """Whether the ball is the keeper's to play."""
    if s.mode in GOAL_KICKS:
        return s.ours is True
    if memory.goes and s.ball_way < 0.6 and s.ball[0] < FOLLOWS - s.pitch.length / 2:
        return True
    if s.phase is not Phase.PLAY:
        return not s.mates and s.ours is True
    line = -s.pitch.length / 2
    if not s.mates:
        alone = all(math.hypot(o.x - s.ball[0], o.y - s.ball[1]) > s.ball_way + SOONER for o in s.opponents)
        return s.ball[0] < line + COMES_OUT or (alone and s.ball[0] < 0.0)
    more = 0.4 if memory.goes else 0.0
    if s.ball[0] > line + COMES_OUT + more or abs(s.ball[1]) > COMES_OUT_WIDE + more:
        return False
    if math.hypot(*s.ball_velocity) > SLOW:
        return False
    nearest = min((math.hypot(o.x - s.ball[0], o.y - s.ball[1]) for o in s.opponents if not o.fallen), default=9.0)
    return s.ball_way < nearest + SOONER + more


def guard(s: Situation) -> Point:
    """The place between ball and goal."""
    line = -s.pitch.length / 2
    bx, by = s.ball if s.ball_known else (0.0, 0.0)
    dx, dy = max(bx - line, 0.05), by
    way = math.hypot(dx, dy)
    out = clipped(0.35 * way, 0.35, OUT)
    x, y = line + out * dx / way, out * dy / way
    most = s.pitch.goal_width / 2 - 0.15
    return max(x, line + 0.3), clipped(y * 1.15, -most, most)


def crossing(s: Situation) -> tuple[float, float] | None:
    """When and where (y) the ball will come past the keeper on its way into the goal; None if it will not."""
    line = -s.pitch.length / 2
    vx, vy = s.ball_velocity
    if vx >= -0.3 or s.ball_age > 0.3:
        return None
    share_line = ROLLING * (s.ball[0] - line) / -vx
    if share_line >= 1.0:
        return None
    at_line = s.ball[1] + vy * (s.ball[0] - line) / -vx
    if abs(at_line) > s.pitch.goal_width / 2 + 0.1 or s.ball[0] < s.x:
        return None
    share = ROLLING * (s.ball[0] - s.x) / -vx
    return -math.log(1.0 - share) / ROLLING, s.ball[1] + vy * (s.ball[0] - s.x) / -vx


def saves(s: Situation, memory: Memory) -> Dive | None:
    """A dive, if a ball is about to pass that cannot be walked to."""
    if not s.upright or s.time - memory.dived_at < DIVE_PAUSE or math.hypot(*s.ball_velocity) < FAST:
        return None
    coming = crossing(s)
    if coming is None or coming[0] > DIVE_TIME:
        return None
    off = coming[1] - s.y
    if not REACH[0] < abs(off) < REACH[1] or math.cos(s.heading) < 0.3:
        return None
    return Dive(side="left" if off > 0 else "right")
