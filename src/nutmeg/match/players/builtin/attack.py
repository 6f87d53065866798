"""Playing the ball: getting behind it, walking through it, and putting it into play.

    legs, intent = play_ball(situation, memory)

A player circles the ball at some distance, always facing it, until it is behind it as seen from its aim, and
then kicks it if there is time, or else walks straight through it: the way of driveBallToGoal2 in MacAlpine
and others (2012), section 5.3. All numbers are chosen here and tried in matches.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from nutmeg.base.angles import wrap_angle
from nutmeg.match.players.builtin.formation import KICK_OFF_AIM, RECEIVER_NUMBER
from nutmeg.match.players.builtin.paths import (
    MAX_TURN,
    SLOW_DISTANCE,
    TURN_GAIN,
    Obstacle,
    fastest,
    players_around,
    smooth,
    walk_to,
    without_bumping,
)
from nutmeg.match.players.builtin.situation import BALL_DAMPING, Phase, Point, clipped
from nutmeg.match.players.kicks import STRONG_KICK, foot_for, kick_distance, kick_place, kick_tolerance
from nutmeg.match.players.request import Kick
from nutmeg.match.rules.play_modes import GOAL_KICKS, PlayMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.match.players.builtin.situation import Memory, Situation
    from nutmeg.match.players.request import KickKind, Legs, Stand, Walk


# ----------------------------------------------------------------------------------------------------
# Where to play the ball: what playing it in a direction is worth, and the direction that is worth most.
#
# A ball that is played comes `reach` far, unless somebody is in its way or it goes out. Where it ends is worth as
# much as it is nearer to the opponents' goal, and more or less by who will be there first; a goal is worth more than
# anything. A kick to where a team-mate is there first is a pass. All numbers are chosen here and tried in matches.


AIM_FAN = (0.0, 0.2, -0.2, 0.4, -0.4, 0.65, -0.65, 0.95, -0.95, 1.3, -1.3, 1.8, -1.8, 2.4, -2.4)
"""Directions that are tried, beside that of the goal, rad."""
AIM_INTERVAL, DECIDED_DISTANCE, DECIDED_DISTANCE_SHARE = 0.1, 0.5, 0.55
"""How often a player thinks about its aim, s; and who is so near to the ball [m], for each metre it may play it."""
BLOCK_HALF_WIDTH = 0.24
"""Half the width that an opponent blocks, m."""
BLOCK_GROWTH = 0.07
"""What is added to it for each metre that the ball rolls until there: the opponent steps aside, m."""
SHOT_REACH_SHARE = 0.9
"""Share of the reach from which shots are tried: they must get over the line."""
POST_MARGIN = 0.12
"""Shots are aimed no nearer to the posts than this, m."""
CORNER_MARGIN = 0.25
"""Shots at corners are aimed so far inside the post, m."""
GOAL_WORTH = 12.0
"""What a goal is worth: more than any gain of ground, m."""
FREE_LINE_WORTH = 3.0
"""What is added for each metre that the nearest opponent is off the line of a shot, m."""
MAX_FREE_LINE = 1.0
"""Up to so many metres count."""
SURE_SHOT_DISTANCE = 2.5
"""Shots from up to here leave the keeper no time, m."""
SHOT_DISTANCE_COST = 6.0
"""What each metre more costs, m: from 4 m the keeper saves nearly all."""
SHOT_WORTH = 7.5
"""What is worth more is a shot, and a good one, m."""
OUT_COST = 2.5
"""What it costs to play the ball out, m."""
LOST_BALL_COST = 1.0
"""What it costs to play the ball to an opponent in its way, m."""
SOONER_WORTH = 1.5
"""What each second is worth that a team-mate is sooner there than any opponent, m; up to two seconds count. Who loses
the ball gets it back by a kick as far the other way."""
RUNNING_SPEED = 0.6
"""Speed of somebody who goes for the ball, m/s."""
GET_UP_TIME = 4.0
"""What somebody who lies needs longer, s."""
KICKER_DELAY = 1.0
"""Who kicks the ball needs so much longer to go after it than a team-mate who waits there, s."""
PUSH_LENGTH = 1.0
"""How far a ball goes that is walked through, m."""
PUSH_TIME = 0.6
"""How much longer that takes than to walk so far, s."""
PUSH_TURN_TIME = 1.0
"""And so much longer for each radian around the ball, s."""
STRAIGHT_ON_DISTANCE = 1.5
"""Who is so near to the ball may play it straight on, m."""
TURN_COST = 0.8
"""What it costs to walk around the ball for each radian, m."""
TURN_COST_SHARE = 0.45
"""But at most this share of how far the ball is played, for each radian."""
KEPT_AIM_WORTH = 0.5
"""What is saved by keeping the present aim, m: players do not waver."""
SAME_AIM_ANGLE = 0.2
"""A direction so near to the present aim is the same, rad."""


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
        every = AIM_INTERVAL if s.ball_way > DECIDED_DISTANCE_SHARE else DECIDED_DISTANCE * memory.aim_reach
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
            found = plain - min(TURN_COST, TURN_COST_SHARE * reach) * abs(wrap_angle(angle - comes))
            if before is not None and abs(wrap_angle(angle - before)) < SAME_AIM_ANGLE:
                found += KEPT_AIM_WORTH
            if found > most:
                best, most, far, brings = angle, found, reach, plain
    memory.aim, memory.aim_at, memory.aim_reach, memory.aim_worth = wrap_angle(best), s.time, far, brings
    return memory.aim


def directions(s: Situation, comes: float, reach: float) -> list[float]:
    """Directions to think about: a fan about the goal, into its corners, straight on, and to team-mates, rad."""
    goal = goal_direction(s)
    found = [goal + turn for turn in AIM_FAN]
    end, post = s.pitch.length / 2 - s.ball[0], s.pitch.goal_width / 2 - CORNER_MARGIN
    if math.hypot(end, s.ball[1]) < reach:
        found += [math.atan2(side * post - s.ball[1], end) for side in (1.0, 0.0, -1.0)]
    if s.ball_way < STRAIGHT_ON_DISTANCE:
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
    if abs(by + to_line * d) < post - POST_MARGIN and to_line < SHOT_REACH_SHARE * reach and to_line <= stopped:
        return GOAL_WORTH + FREE_LINE_WORTH * margin - SHOT_DISTANCE_COST * max(to_line - SURE_SHOT_DISTANCE, 0.0)
    far = min(reach, stopped)
    x, y = bx + far * c, by + far * d
    gain = math.hypot(end - bx, by) - math.hypot(end - x, y)
    if abs(x) > end or abs(y) > side:
        return gain - OUT_COST - (2.0 if x < -end else 0.0)
    if stopped < reach:
        return gain - LOST_BALL_COST - 1.0
    around = abs(wrap_angle(angle - math.atan2(by - s.y, bx - s.x)))
    return gain + SOONER_WORTH * _sooner(
        s, x, y, (KICKER_DELAY if reach > PUSH_LENGTH else PUSH_TIME) + PUSH_TURN_TIME * around
    )


def in_the_way(s: Situation, c: float, d: float, reach: float) -> tuple[float, float]:
    """How far a ball comes in a direction (c, d) until an opponent stops it, and how near the others are, m."""
    stopped, margin, (bx, by) = math.inf, MAX_FREE_LINE, s.ball
    for o in s.opponents:
        dx, dy = o.x - bx, o.y - by
        along = c * dx + d * dy
        if 0.0 < along < reach:
            off = abs(c * dy - d * dx) - BLOCK_HALF_WIDTH - BLOCK_GROWTH * along
            if off < 0.0:
                stopped = min(stopped, max(along - BLOCK_HALF_WIDTH, 0.0))
            margin = min(margin, max(off, 0.0))
    return stopped, margin


def _sooner(s: Situation, x: float, y: float, delay: float) -> float:
    """By how much the own team is sooner at a place than the opponents, up to two seconds either way, s.

    The player itself is later there by `delay`, s.
    """
    ours = math.hypot(x - s.x, y - s.y) / RUNNING_SPEED + delay
    for mate in s.mates:
        if mate.number != 1:
            ours = min(ours, math.hypot(x - mate.x, y - mate.y) / RUNNING_SPEED + (GET_UP_TIME if mate.fallen else 0.0))
    theirs = math.inf
    for o in s.opponents:
        theirs = min(theirs, math.hypot(x - o.x, y - o.y) / RUNNING_SPEED + (GET_UP_TIME if o.fallen else 0.0))
    return clipped(theirs - ours, -2.0, 2.0)


# ----------------------------------------------------------------------------------------------------
# Kicking: whether there is time for it, getting the ball before a foot, and when it is good enough.
#
# A kick from walking takes a second and more until the ball is hit: the walk has to stop, and the robot to stand. So
# it is begun while walking, for where the robot will have stopped and the ball rolled to. Any place before the feet
# from which a kick goes straight will do, and any direction that is worth nearly as much as the aim.


KICK_BALL_SPEED = 0.5
"""Faster balls are not kicked, m/s."""
SWING_TIME = 0.75
"""From the beginning of a kick to its hit, s."""
KICK_TIME = 1.15
"""From the wish to kick, walking slowly, to the hit, s."""
LAST_STEPS_SPEED = 0.5
"""Speed of a player on its last steps to the ball, m/s."""
TURN_TIME = 0.7
"""Its time for each radian around the ball, s."""
OPPONENT_SPEED = 0.55
"""Speed of an opponent who comes to disturb a kick, m/s."""
OPPONENT_REACH = 0.3
"""How near to the ball an opponent must be to disturb, m."""
OPPONENT_BEHIND_ANGLE = 0.8
"""Opponents within this angle behind the player, as seen from the ball, have to come around it, rad."""
OPPONENT_DETOUR = 0.4
"""How much farther that is, m."""
BEGUN_KICK_CREDIT = 0.6
"""A kick that is being prepared is given up only if so much time is missing, s."""
SHOT_CREDIT = 1.2
"""And a shot at the goal, which brings so much and costs little if it fails, only if so much more is, s."""
KICK_PATIENCE = 4.0
"""A kick for which the player is not ready after so long is given up for as long, s."""
RESTART_PATIENCE = 10.0
"""After so long a restart is taken by walking into the ball; after 15 s it would be lost, s."""
EXACT_ANGLE = 0.12
"""A kick may always go so far from the aim, rad."""
LOOSE_ANGLE = 0.5
"""A kick may go so far from the aim where that is worth nearly as much, rad."""
LOOSE_WORTH = 0.7
"""How much less it may be worth, m."""
AHEAD_GAIN = 3.0
"""Speed ahead for each metre that the ball is off its place before the foot, 1/s."""
SIDE_GAIN = 5.0
"""Speed aside for each metre that the ball is off its place before the foot, 1/s."""
MAX_KICK_TURN = 1.2
"""How fast a player turns before the ball, rad/s."""
BACK_OFF_DISTANCE = 0.06
"""Who is beside the ball or looks elsewhere keeps so much farther from it, m."""
STOP_LINEAR = 0.07
"""How far a walker that stops still comes for each m/s, s: measured."""
STOP_QUADRATIC = 0.42
"""And for each square of its speed, s²/m: measured."""
KICK_PLACE_OFFSET = 0.02
"""The ball is wanted so much nearer than in the middle of where it can be kicked, m."""
STOP_TOLERANCE_SHARE = 0.65
"""Share of the tolerance within which a walker stops for a kick."""
STOP_TIME = 0.4
"""How long a walker takes to stop, about, s."""
MAX_STOP_TIME = 1.5
"""A kick for which a player has not come to rest after so long is given up, s."""


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
    if not memory.kicks or s.time < memory.no_kick_until or math.hypot(*s.ball_velocity) > KICK_BALL_SPEED:
        return False
    if s.phase is not Phase.PLAY:
        return s.mode_age < RESTART_PATIENCE
    if s.ours:
        return True
    comes = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    mine = (
        KICK_TIME
        + max(s.ball_way - 0.25, 0.0) / LAST_STEPS_SPEED
        + TURN_TIME * max(abs(wrap_angle(aim - comes)) - 0.2, 0.0)
    )
    if memory.kick_since is not None:
        mine -= BEGUN_KICK_CREDIT
    if brings > SHOT_WORTH:
        mine -= SHOT_CREDIT
    return mine < soonest_opponent(s)


def soonest_opponent(s: Situation) -> float:
    """When the first opponent who stands could disturb at the ball, s; who is behind the player has to come around."""
    (bx, by), soonest = s.ball, math.inf
    here = math.atan2(s.y - by, s.x - bx)
    for o in s.opponents:
        if not o.fallen:
            dx, dy = o.x - bx, o.y - by
            more = OPPONENT_DETOUR if abs(wrap_angle(math.atan2(dy, dx) - here)) < OPPONENT_BEHIND_ANGLE else 0.0
            soonest = min(soonest, (math.hypot(dx, dy) + more - OPPONENT_REACH) / OPPONENT_SPEED)
    return soonest


def nearest_opponent(s: Situation) -> float:
    """How far the nearest opponent who stands is from the ball, m."""
    return min((math.hypot(o.x - s.ball[0], o.y - s.ball[1]) for o in s.opponents if not o.fallen), default=9.0)


def strike(s: Situation, memory: Memory, aim: float) -> tuple[Legs, str] | None:
    """Gets the ball before a foot and kicks it; None if that takes too long."""
    if memory.kick_since is None:
        memory.kick_since, memory.foot = s.time, 0
    if s.time - memory.kick_since > KICK_PATIENCE and memory.velocity != NO_VELOCITY:
        memory.kick_since, memory.no_kick_until = None, s.time + KICK_PATIENCE
        return None
    far = memory.aim_reach if s.phase is Phase.PLAY else memory.pass_way
    strength = 1.0 if far is None else clipped((far + 0.3) / reaches_of_kicks()[0], 0.0, 1.0)
    place, tolerance, reach = _place("straight" if strength >= STRONG_KICK else "pass")
    place = place[0] - KICK_PLACE_OFFSET, place[1]
    walks = memory.velocity
    ahead, left = seen_from(s, s.ball_after(SWING_TIME + STOP_TIME))
    memory.foot = memory.foot if memory.foot * left > -0.03 and memory.foot else 1 if left > 0 else -1
    way = math.copysign(STOP_LINEAR + STOP_QUADRATIC * abs(walks[0]), walks[0]) * abs(walks[0])
    stops_ahead, stops_left = ahead - way, left - 0.15 * walks[1]
    turned = wrap_angle(aim - s.heading)
    off = max(abs(stops_ahead - place[0]), abs(stops_left - memory.foot * place[1]))
    if off < STOP_TOLERANCE_SHARE * tolerance and fits(s, aim, turned, reach):
        memory.velocity, memory.stopped_at, memory.strength = NO_VELOCITY, s.time, strength
        return hold(s, memory)
    off_ahead = beyond(stops_ahead - place[0], 0.5 * STOP_TOLERANCE_SHARE * tolerance)
    off_left = beyond(stops_left - memory.foot * place[1], 0.5 * STOP_TOLERANCE_SHARE * tolerance)
    turn = clipped(TURN_GAIN * turned, -MAX_KICK_TURN, MAX_KICK_TURN)
    back = 0.0 if abs(off_left) < 2 * tolerance and abs(turned) < 0.4 else BACK_OFF_DISTANCE
    return smooth(
        memory,
        clipped(AHEAD_GAIN * (off_ahead - back), -0.25, 0.45),
        clipped(SIDE_GAIN * off_left - place[0] * turn, -0.35, 0.35),  # who turns goes around the ball
        turn,
        "positioning",
    ), "get ready to kick"


def hold(s: Situation, memory: Memory) -> tuple[Legs, str] | None:
    """Goes on with a kick for which the player has stopped; None if there is none, or the ball has gone."""
    if memory.stopped_at is None:
        return None
    ball = seen_from(s, s.ball_after(SWING_TIME))
    kick = Kick(ball=ball, strength=memory.strength)
    begun = s.time - memory.stopped_at
    if begun > MAX_STOP_TIME or (begun > STOP_TIME and foot_for(kick) is None):
        memory.stopped_at = None
        return None
    return kick, "kick"


NO_VELOCITY: Final = (0.0, 0.0, 0.0)
"""What is wished of the legs of who stands."""


def beyond(value: float, slack: float) -> float:
    """How much a number is off 0 beyond a slack."""
    return 0.0 if abs(value) < slack else value - math.copysign(slack, value)


def fits(s: Situation, aim: float, turned: float, reach: float) -> bool:
    """Whether a kick to where the player looks is as good as to where it wants to kick; any free shot is."""
    if abs(turned) < EXACT_ANGLE:
        return True
    if abs(turned) > LOOSE_ANGLE or s.phase is not Phase.PLAY:
        return s.phase is not Phase.PLAY and abs(turned) < 2 * EXACT_ANGLE
    return worth(s, s.heading, reach) > min(worth(s, aim, reach) - LOOSE_WORTH, SHOT_WORTH)


def seen_from(s: Situation, place: Point) -> Point:
    """A place as the player sees it: ahead and to the left, m."""
    dx, dy = place[0] - s.x, place[1] - s.y
    c, d = math.cos(s.heading), math.sin(s.heading)
    return c * dx + d * dy, c * dy - d * dx


APPROACH_DISTANCE = 0.7
"""Farther from the ball than this a player goes straight to the place behind it, m."""
CIRCLING_DISTANCE = 0.36
"""Distance from the ball while a player circles it, m: its feet do not touch the ball. Tried in matches."""
BEHIND_BALL_DISTANCE = 0.2
"""Distance from the ball once a player is nearly behind it, m: two steps before the ball. Tried in matches."""
ALIGNED_ANGLE = 0.5
"""Within this angle of the aim a player begins to play the ball, rad."""
ALIGNED_ANGLE_KEPT = 0.8
"""A player that plays the ball goes on within this angle, rad; wider, so that it does not waver."""
SLOW_DISTANCE_IN_PLAY = 0.12
"""On its way to a ball in play a player does not slow down before it is so near, m."""
CIRCLING_STEP = 0.7
"""How far ahead on the circle the next place lies, rad."""
MEETING_SPEED = 0.65
"""Speed at which a player goes to meet a rolling ball, m/s."""
MEETING_TIME = 4.0
"""How far ahead the ball's roll is predicted for that, s."""
KICK_OFF_LENGTH = 1.5
"""How far a kick-off is played, m."""
PASS_ANGLE_COST = 0.8
"""Cost of a restart's pass for each radian off the direction of the goal."""
NO_RECEIVER_COST = 1.6
"""Cost of playing the ball to nobody: passes that cost more are not played."""
BLOCKED_COST = 1.5
"""Cost of a pass with an opponent in its way."""
GOAL_LINE_MARGIN = 0.5
"""A restart nearer to the opponents' goal line than this is played inward, m."""
MAX_INWARD_ANGLE = 1.2
"""At most so far from straight away from the line, rad."""
SAME_AIM_CREDIT = 0.2
"""What is saved by keeping the present aim."""
AIM_SETTLED_AGE = 2.0
"""Who stands at the ball so long after the whistle has made up its mind where to play it, s."""
DUEL_ROOM = 0.35
"""How far to keep from others near the ball, m."""
PASS_OPPONENT_MIN = 0.95
"""Pass mode is not asked for with an opponent nearer to the ball, m: the rules grant it from 1 m on."""
PASS_OPPONENT_MAX = 3.0
"""Nor if no opponent is nearer than this: there is time to kick without it, m."""
PASS_GOAL_DISTANCE = 6.5
"""Nor so near to the opponents' goal, m: goals do not count for some seconds after pass mode."""
PASS_BALL_SPEED = 0.15
"""And with slow balls, m/s."""


def play_ball(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """Goes for the ball and plays it."""
    held = hold(s, memory)
    if held is not None:
        return held
    if s.phase is Phase.PLAY:
        aim = choose_aim(s, memory, (*reaches_of_kicks(), PUSH_LENGTH), partial(in_time, s, memory))
        kicks = memory.aim_reach > PUSH_LENGTH
    else:
        kicks = has_time(s, memory, goal_direction(s) if memory.aim is None else memory.aim)
        aim = restart_aim(s, memory)
    if s.ball_way > APPROACH_DISTANCE:
        memory.dribbling, memory.kick_since = False, None
        return approach(s, memory, aim), "to the ball"
    if s.mode in GOAL_KICKS and rolls_out(s):
        return smooth(memory, -0.2, 0.0, 0.0), "let it roll"
    here = math.atan2(s.y - s.ball[1], s.x - s.ball[0])
    missing = wrap_angle(aim + math.pi - here)
    memory.wants_pass = kicks and asks_for_pass(s)
    memory.dribbling = abs(missing) < (ALIGNED_ANGLE_KEPT if memory.dribbling else ALIGNED_ANGLE)
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
    return reach <= PUSH_LENGTH or has_time(s, memory, angle, brings)


def asks_for_pass(s: Situation) -> bool:
    """Whether to ask for pass mode: for time to kick a ball that does not go into the goal at once."""
    if s.mode is not PlayMode.PLAY_ON or s.ball_way > 0.5 or math.hypot(*s.ball_velocity) > PASS_BALL_SPEED:
        return False
    if math.hypot(s.pitch.length / 2 - s.ball[0], s.ball[1]) < PASS_GOAL_DISTANCE:
        return False
    return PASS_OPPONENT_MIN < nearest_opponent(s) < PASS_OPPONENT_MAX


def rolls_out(s: Situation) -> bool:
    """Whether the ball of an own goal kick will leave the penalty area by itself."""
    edge = s.pitch.penalty_depth - s.pitch.length / 2
    return s.ball_velocity[0] > 0.2 and s.ball[0] + 0.9 * s.ball_velocity[0] / BALL_DAMPING > edge


def approach(s: Situation, memory: Memory, aim: float) -> Walk | Stand:
    """Goes to the place behind where the ball will be, as seen from the aim; around it, if need be."""
    ball, time = s.ball, s.ball_way / MEETING_SPEED
    for _ in range(2):
        ball = s.ball_after(min(time, MEETING_TIME))
        time = math.hypot(ball[0] - s.x, ball[1] - s.y) / MEETING_SPEED
    around = abs(wrap_angle(aim - math.atan2(ball[1] - s.y, ball[0] - s.x)))
    behind = BEHIND_BALL_DISTANCE if around < ALIGNED_ANGLE else CIRCLING_DISTANCE
    target = ball[0] - behind * math.cos(aim), ball[1] - behind * math.sin(aim)
    obstacles: list[Obstacle] = players_around(s)
    if around > ALIGNED_ANGLE:
        obstacles.append((ball[0], ball[1], 0.9 * CIRCLING_DISTANCE))
    return walk_to(
        s,
        memory,
        target,
        face=aim,
        obstacles=obstacles,
        rest=False,
        face_within=0.3,
        slow_within=SLOW_DISTANCE_IN_PLAY if s.phase is Phase.PLAY else SLOW_DISTANCE,
    )


def circle(s: Situation, memory: Memory, here: float, missing: float) -> Walk | Stand:
    """Goes on around the ball, facing it."""
    ball = s.ball_after(0.2)
    angle = here + clipped(missing, -CIRCLING_STEP, CIRCLING_STEP)
    radius = BEHIND_BALL_DISTANCE if abs(missing) < 2 * ALIGNED_ANGLE else CIRCLING_DISTANCE
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
        slow_within=SLOW_DISTANCE_IN_PLAY if s.phase is Phase.PLAY else SLOW_DISTANCE,
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
    return smooth(
        memory, careful * ahead, careful * left, clipped(TURN_GAIN * turned, -MAX_TURN, MAX_TURN), "positioning"
    )


def restart_aim(s: Situation, memory: Memory) -> float:
    """Where to play the ball that the own team puts into play: to a team-mate who is ahead and free, else ahead."""
    bx, by = s.ball
    best, least = goal_direction(s), NO_RECEIVER_COST
    if s.phase is Phase.KICK_OFF:
        received = memory.players >= RECEIVER_NUMBER
        memory.aim, memory.pass_way = (KICK_OFF_AIM, KICK_OFF_LENGTH) if received else (0.0, None)
        return memory.aim
    if s.ball_way < APPROACH_DISTANCE and s.mode_age > AIM_SETTLED_AGE and memory.aim is not None:
        return memory.aim
    memory.pass_way = None
    for mate in s.mates:
        way = math.hypot(mate.x - bx, mate.y - by)
        if mate.number == 1 or mate.fallen or not 0.8 < way < 6.0:
            continue
        angle = math.atan2(mate.y - by, mate.x - bx)
        stopped, _ = in_the_way(s, math.cos(angle), math.sin(angle), way)
        cost = 0.3 * abs(way - 2.0) + PASS_ANGLE_COST * abs(wrap_angle(angle - goal_direction(s)))
        cost += BLOCKED_COST if stopped < way else 0.0
        if memory.aim is not None and abs(wrap_angle(angle - memory.aim)) < 0.3:
            cost -= SAME_AIM_CREDIT
        if cost < least:
            best, least, memory.pass_way = angle, cost, way
    if bx > s.pitch.length / 2 - GOAL_LINE_MARGIN and math.cos(best) > -math.cos(MAX_INWARD_ANGLE):
        best = math.copysign(math.pi - MAX_INWARD_ANGLE, -by)
    memory.aim = best
    return best
