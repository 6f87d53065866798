"""Where to play the ball: what playing it in a direction is worth, and the direction that is worth most.

    choose_aim(situation, memory, (4.4, 2.1, 1.0))      # a direction, rad; kept in `memory.aim` and `aim_reach`
    worth(situation, 0.3, 4.4)                          # metres nearer to the goal that this direction brings

A ball that is played comes `reach` far, unless somebody is in its way or it goes out. Where it ends is worth as much as
it is nearer to the opponents' goal, and more or less by who will be there first; a goal is worth more than anything. A
kick to where a team-mate is there first is a pass. All numbers are chosen here and tried in matches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angles import wrap_angle
from nutmeg.match.team.situation import clipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.match.team.situation import Memory, Situation

FAN = (0.0, 0.2, -0.2, 0.4, -0.4, 0.65, -0.65, 0.95, -0.95, 1.3, -1.3, 1.8, -1.8, 2.4, -2.4)
"""Directions that are tried, beside that of the goal, rad."""
THINK_EVERY, MADE_UP_FOR, MADE_UP_WITHIN = 0.1, 0.5, 0.55
"""How often a player thinks about its aim, s; and who is so near to the ball [m], for each metre it may play it."""
BODY, STEP_ASIDE = 0.24, 0.07
"""Half the width that an opponent blocks, and what is added to it for each metre the ball has to go until there, m."""
WITHIN_REACH = 0.9
"""Share of the reach from which shots are tried: they must get over the line."""
INSIDE, CORNER = 0.12, 0.25
"""Shots are aimed no nearer to the posts than this, and at corners so far inside them, m."""
GOAL, MARGIN, WIDEST = 12.0, 3.0, 1.0
"""What a goal is worth, m, and what more for each metre that the nearest opponent is off the line, up to so many."""
SURE_FROM, FARTHER = 2.5, 6.0
"""Shots from up to here [m] leave the keeper no time; what each metre more costs, m: from 4 m it saves nearly all."""
SHOT = 7.5
"""What is worth more is a shot, and a good one, m."""
OUT, LOST = 2.5, 1.0
"""What it costs to play the ball out, and to an opponent who is in its way, m."""
FIRST = 1.5
"""What each second is worth that a team-mate is sooner there than any opponent, m; up to two seconds count. Who loses
the ball gets it back by a kick as far the other way."""
PACE = 0.6
"""Speed of somebody who goes for the ball, m/s."""
GET_UP = 4.0
"""What somebody who lies needs longer, s."""
OWN_DELAY = 1.0
"""Who kicks the ball needs so much longer to go after it than a team-mate who waits there, s."""
PUSHED, PUSHING = 1.0, 0.6
"""How far a ball goes that is walked through, m, and how much longer that takes than to walk so far, s."""
AROUND = 1.0
"""And so much longer for each radian around the ball, s."""
AT_BALL = 1.5
"""Who is so near to the ball may play it straight on, m."""
ROUND, ROUND_SHARE = 0.8, 0.45
"""What it costs to walk around the ball for each radian, m, and as a share of how far it is played."""
KEPT, SAME = 0.5, 0.2
"""What is saved by keeping the present aim, m, and how near to it a direction is the same, rad."""


def goal_direction(s: Situation) -> float:
    """From the ball to the opponents' goal, or to the place before it if the ball lies beside it, rad."""
    end, post = s.pitch.length / 2, s.pitch.goal_width / 2
    x, y = s.ball
    if x > end - 1.5 and abs(y) > post + 0.3:
        return math.atan2(-y, end - 1.2 - x)
    return math.atan2(clipped(y, -0.5 * post, 0.5 * post) - y, end + 0.3 - x)


def always(angle: float, reach: float, brings: float) -> bool:
    """There is time for everything."""
    del angle, reach, brings
    return True


def choose_aim(
    s: Situation, memory: Memory, reaches: tuple[float, ...], in_time: Callable[[float, float, float], bool] = always
) -> float:
    """The direction in which to play the ball, rad, as far as one of some distances, m; both are kept in mind.

    Args:
        s: the situation.
        memory: of the player.
        reaches: how far it may be played, m.
        in_time: whether there is time to play it in a direction [rad] so far [m], which is worth so much [m].
    """
    if memory.aim is not None and memory.aim_reach in reaches:
        every = THINK_EVERY if s.ball_way > MADE_UP_WITHIN else MADE_UP_FOR * memory.aim_reach
        if s.time - memory.aim_at < every and in_time(memory.aim, memory.aim_reach, memory.aim_worth):
            return memory.aim
    comes, before = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x), memory.aim
    best, most = goal_direction(s), -math.inf
    far, brings = reaches[-1], 0.0
    for reach in reaches:
        for angle in directions(s, comes, reach):
            plain = worth(s, angle, reach)
            if not in_time(angle, reach, plain):
                continue
            found = plain - min(ROUND, ROUND_SHARE * reach) * abs(wrap_angle(angle - comes))
            if before is not None and abs(wrap_angle(angle - before)) < SAME:
                found += KEPT
            if found > most:
                best, most, far, brings = angle, found, reach, plain
    memory.aim, memory.aim_at, memory.aim_reach, memory.aim_worth = wrap_angle(best), s.time, far, brings
    return memory.aim


def directions(s: Situation, comes: float, reach: float) -> list[float]:
    """Directions to think about: a fan about the goal, into its corners, straight on, and to team-mates, rad."""
    goal = goal_direction(s)
    found = [goal + turn for turn in FAN]
    end, post = s.pitch.length / 2 - s.ball[0], s.pitch.goal_width / 2 - CORNER
    if math.hypot(end, s.ball[1]) < reach:
        found += [math.atan2(side * post - s.ball[1], end) for side in (1.0, 0.0, -1.0)]
    if s.ball_way < AT_BALL:
        found.append(comes)
    for mate in s.mates:
        dx, dy = mate.x - s.ball[0], mate.y - s.ball[1]
        if mate.number != 1 and not mate.fallen and math.hypot(dx, dy) < 1.5 * reach:
            found.append(math.atan2(dy, dx))
    return found


def worth(s: Situation, angle: float, reach: float) -> float:
    """What playing the ball in a direction brings, m."""
    c, d, (bx, by) = math.cos(angle), math.sin(angle), s.ball
    stopped, margin = in_the_way(s, c, d, reach)
    end, side, post = s.pitch.length / 2, s.pitch.width / 2, s.pitch.goal_width / 2
    to_line = (end - bx) / c if c > 1e-3 else math.inf
    if abs(by + to_line * d) < post - INSIDE and to_line < WITHIN_REACH * reach and to_line <= stopped:
        return GOAL + MARGIN * margin - FARTHER * max(to_line - SURE_FROM, 0.0)
    far = min(reach, stopped)
    x, y = bx + far * c, by + far * d
    gain = math.hypot(end - bx, by) - math.hypot(end - x, y)
    if abs(x) > end or abs(y) > side:
        return gain - OUT - (2.0 if x < -end else 0.0)
    if stopped < reach:
        return gain - LOST - 1.0
    around = abs(wrap_angle(angle - math.atan2(by - s.y, bx - s.x)))
    return gain + FIRST * _sooner(s, x, y, (OWN_DELAY if reach > PUSHED else PUSHING) + AROUND * around)


def in_the_way(s: Situation, c: float, d: float, reach: float) -> tuple[float, float]:
    """How far a ball comes in a direction (c, d) until an opponent stops it, and how near the others are, m."""
    stopped, margin, (bx, by) = math.inf, WIDEST, s.ball
    for o in s.opponents:
        dx, dy = o.x - bx, o.y - by
        along = c * dx + d * dy
        if 0.0 < along < reach:
            off = abs(c * dy - d * dx) - BODY - STEP_ASIDE * along
            if off < 0.0:
                stopped = min(stopped, max(along - BODY, 0.0))
            margin = min(margin, max(off, 0.0))
    return stopped, margin


def _sooner(s: Situation, x: float, y: float, delay: float) -> float:
    """By how much the own team is sooner at a place than the opponents, up to two seconds either way, s.

    The player itself is later there by `delay`, s.
    """
    ours = math.hypot(x - s.x, y - s.y) / PACE + delay
    for mate in s.mates:
        if mate.number != 1:
            ours = min(ours, math.hypot(x - mate.x, y - mate.y) / PACE + (GET_UP if mate.fallen else 0.0))
    theirs = math.inf
    for o in s.opponents:
        theirs = min(theirs, math.hypot(x - o.x, y - o.y) / PACE + (GET_UP if o.fallen else 0.0))
    return clipped(theirs - ours, -2.0, 2.0)
