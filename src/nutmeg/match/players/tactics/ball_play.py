"""How a player plays the ball: choosing an aim, getting behind the ball, dribbling, kicking, and taking restarts.

    play_ball(player)

A player circles the ball at some distance, always facing it, until the ball lies between itself and its aim. Then it
kicks the ball if there is time, or else dribbles: it walks straight through the ball, as driveBallToGoal2 does in
MacAlpine and others (2012), section 5.3. Units are metres, seconds and radians. The constants were tuned by hand in
matches; distances "on the league's pitch" are multiplied by `GroundRecord.scale` on other pitches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.players.request import STRONG_KICK
from nutmeg.match.players.tactics.formation import (
    IS_GOAL_KICK,
    RECEIVER_NUMBER,
    ball_after,
    rolling_time,
    speed_for,
)
from nutmeg.match.players.tactics.records import Gait, Intent, Phase
from nutmeg.match.players.tactics.walking import (
    ALL_PLAYERS,
    POST_ROOM,
    TURN_GAIN,
    Manner,
    clip,
    fastest,
    is_known,
    length,
    stand,
    stopping_distance,
    walk,
    walk_to,
    without_bumping,
)
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.decide import KickAbility
    from nutmeg.match.players.tactics.records import PlayerContext


# ----------------------------------------------------------------------------------------------------
# Choosing an aim.
#
# A strategy's `aims` selects the method: straight on, at the goal, the cheapest of a few directions past opponents, or
# the direction of the highest worth. The worth of an aim is how much nearer to the opponents' goal the ball comes to
# rest, corrected by which team reaches that place first; a goal is worth more than any gain of ground. A ball rolls for
# `reach` metres unless an opponent stops it or it leaves the pitch. A kick to a place that a team-mate reaches first is
# a pass, so passes need no code of their own.


AIMS_AWAY, AIMS_AT_GOAL, AIMS_PAST_OPPONENTS, AIMS_BY_WORTH = 0, 1, 2, 3
"""How a strategy chooses where to play the ball (`Strategy.aims`)."""
AIM_FAN = np.array([0.0, 0.2, -0.2, 0.4, -0.4, 0.65, -0.65, 0.95, -0.95, 1.3, -1.3, 1.8, -1.8, 2.4, -2.4])
"""Directions whose worth is compared, relative to the direction of the goal, rad."""
AIM_INTERVAL = 0.1
"""Farther from the ball than `DECIDED_DISTANCE`, a player chooses its aim anew after this time, s."""
DECIDED_DISTANCE = 0.55
"""Within this distance of the ball a player keeps its aim for a time proportional to `DECIDED_TIME`, m."""
DECIDED_TIME = 0.5
"""How long a player near the ball keeps its aim, per metre that it wants to play the ball, s/m."""
BLOCK_HALF_WIDTH = 0.24
"""Half the width of the strip that an opponent blocks, m."""
POST_HALF_WIDTH = 0.08
"""Half the width of the strip that a goal post blocks, m: the radii of post and ball, and some more."""
BLOCK_GROWTH = 0.07
"""Growth of that half-width per metre that the ball rolls to the opponent, which meanwhile steps aside."""
SHOT_REACH_SHARE = 0.9
"""A shot is tried only within this share of the kick's reach, because the ball has to cross the goal line."""
POST_MARGIN = 0.12
"""A shot counts as on target if it passes the goal posts at least this far inside, m."""
CORNER_MARGIN = 0.25
"""Distance from the post at which shots into a corner of the goal are aimed, m."""
GOAL_WORTH = 12.0
"""Worth of a goal, which exceeds any gain of ground. All worths are metres on the league's pitch."""
FREE_LINE_WORTH = 3.0
"""Worth added to a shot for each metre between its line and the nearest opponent."""
MAX_FREE_LINE = 1.0
"""The distance of the nearest opponent from the line of a shot counts up to this, m."""
SHOT_TIME_COST = 6.0
"""Worth taken from a shot for each second beyond `Strategy.sure_shot_time`: the keeper then saves nearly all, 1/s."""
SHOT_WORTH = 7.5
"""An aim worth more than this is a good shot; gains of ground stay below it."""
OUT_COST = 2.5
"""Cost of playing the ball out of the pitch."""
KICKER_DELAY = 1.0
"""How much later a player that kicks the ball can follow it than one that is free to walk, s."""
PUSH_TIME = 0.6
"""The same delay for a player that dribbles, s."""
PUSH_TURN_WAY = 0.6
"""Detour of the player that plays the ball for each radian it has to walk around the ball first, m/rad."""
SPEEDING_UP_TIME = 0.25
"""How much sooner a player that runs at full speed arrives than one that stands, s."""
STRAIGHT_ON_DISTANCE = 1.5
"""Within this distance of the ball, playing it straight on is one of the directions compared, m."""
TURN_COST = 0.8
"""Cost of walking around the ball to the aim, 1/rad."""
TURN_COST_SHARE = 0.45
"""Upper limit of `TURN_COST` as a share of how far the ball is played; a higher limit drives balls over the lines."""
BARRED_PLACE_COST = 15.0
"""Cost of an aim for which the player would have to walk through a goal post, more than a goal is worth."""
BARRED_WAY_COST = 1.2
"""Cost of an aim for which the player would have to walk around the ball into an opponent. Robots that meet there fall
or stop each other, while the ball can be played on past them."""
KEPT_AIM_WORTH = 0.5
"""Worth added to the present aim, which keeps players from wavering."""
SAME_AIM_ANGLE = 0.2
"""Directions within this angle of the present aim count as the present aim, rad."""
AIM_OFFSETS = np.array([0.0, 0.25, -0.25, 0.5, -0.5, 0.9, -0.9])
"""Directions that `AIMS_PAST_OPPONENTS` compares, relative to the direction of the goal, rad."""
BLOCKER_RANGE = 1.6
"""An opponent blocks the ball if it is less than this ahead of it, m."""
BLOCKER_WIDTH = 0.35
"""An opponent blocks the ball if it is less than this beside the line of the ball, m."""
BLOCKER_COST = 1.5
"""Cost of an opponent in the middle of the line, in radians off the direction of the goal."""


class Aim(NamedTuple):
    """Where and how to play the ball."""

    direction: float
    """Direction in the team's frame, rad."""
    reach: float
    """How far the ball is to roll, m."""
    kicks: bool
    """Whether the ball is kicked; otherwise the player dribbles."""


@inlined
def ball_way(player: PlayerContext) -> float:
    """Distance from the player to the ball, m."""
    belief = player.belief
    return length(belief.ball_x - belief.x, belief.ball_y - belief.y)


@inlined
def _push_length(player: PlayerContext) -> float:
    """How far a dribbled ball rolls, m."""
    return player.ground.body.push * player.ground.scale


@inlined
def can_kick(player: PlayerContext) -> bool:
    """Whether the player kicks instead of dribbling; restarts are always kicked, because dribbling touches twice."""
    found: bool = (player.traits.kicks or player.game.phase != Phase.PLAY) and player.ground.body.can_kick
    return found


@inlined
def first_touch_counts(player: PlayerContext) -> bool:
    """Whether merely brushing the ball takes the restart, after which the rules bar the player from the ball.

    A goal kick is over only when the ball leaves the penalty area, but a brushed ball rolls out of it weakly, to the
    opponents. It is not so under rule books that let the taker go on with the ball, and in the behavioural world, whose
    robots stop at once and have no swinging feet.
    """
    swings, barred = player.ground.body.stop_linear > 0.0, player.ground.one_touch
    found: bool = swings and barred and player.game.phase != Phase.PLAY
    return found


@inlined
def goal_direction(player: PlayerContext) -> float:
    """Direction from the ball to the opponents' goal, or to a point before the goal if the ball lies beside it, rad."""
    ground, x, y = player.ground, player.belief.ball_x, player.belief.ball_y
    end, post, scale = ground.length / 2, ground.goal_width / 2, ground.scale
    if x > end - 1.5 * scale and abs(y) > post + 0.3 * scale:
        return math.atan2(-y, end - 1.2 * scale - x)
    return math.atan2(clip(y, -0.5 * post, 0.5 * post) - y, end + 0.3 * scale - x)


@inlined
def _choose_aim(player: PlayerContext) -> Aim:
    """The aim while the ball is in play, by the method of the strategy."""
    belief, traits, reach = player.belief, player.traits, player.ground.body.kick.reach
    if traits.aims == AIMS_BY_WORTH:
        return _choose_aim_by_worth(player)
    if traits.aims == AIMS_AWAY:
        return Aim(math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x), reach, can_kick(player))
    goal = goal_direction(player)
    if traits.aims == AIMS_AT_GOAL:
        return Aim(goal, reach, can_kick(player))
    return _choose_aim_past_opponents(player, goal)


@unchecked
def _choose_aim_past_opponents(player: PlayerContext, goal: float) -> Aim:
    """The cheapest of a few directions: opponents in the way, angles off the goal and crossing a line cost."""
    belief, ground, traits = player.belief, player.ground, player.traits
    x, y, reach = belief.ball_x, belief.ball_y, ground.body.kick.reach
    best, least, far = goal, math.inf, reach
    for offset in AIM_OFFSETS:
        angle = goal + offset
        cost = abs(offset) + _blocked(player, angle, BLOCKER_RANGE)
        out_x, out_y = x + 0.8 * math.cos(angle), y + 0.8 * math.sin(angle)
        if abs(out_y) > ground.width / 2 or out_x < -ground.length / 2:
            cost += 2.0
        if cost < least:
            best, least = angle, cost
    # A pass is tried only where a kick may not reach the goal; the keeper (row 0) receives none.
    if traits.passes and length(ground.length / 2 - x, y) > 0.6 * reach:
        for k in range(1, player.game.players):
            mate = belief.others[k]
            if not is_known(belief, k, player.game.number - 1) or mate.lies:
                continue
            px, py = mate.x + 0.3 - x, mate.y - y
            way, angle = length(px, py), math.atan2(py, px)
            if way < 0.7 or way > reach or mate.x < x + 0.2:
                continue
            cost = 0.5 * abs(wrap_angle(angle - goal)) + _blocked(player, angle, way) - 0.15
            if cost < least:
                best, least, far = angle, cost, max(way, 0.3 * reach - REACH_MARGIN)
    return Aim(wrap_angle(best), far, can_kick(player))


@inlined
def _blocked(player: PlayerContext, angle: float, within: float) -> float:
    """Cost of the opponents that stand within a distance [m] in the way of a ball played in a direction [rad]."""
    belief, cost, c, s = player.belief, 0.0, math.cos(angle), math.sin(angle)
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        if not is_known(belief, k, -1):
            continue
        other = belief.others[k]
        dx, dy = other.x - belief.ball_x, other.y - belief.ball_y
        along, across = c * dx + s * dy, abs(c * dy - s * dx)
        if 0.0 < along < within and across < BLOCKER_WIDTH:
            cost += BLOCKER_COST * (1.0 - across / BLOCKER_WIDTH)
    return cost


@unchecked
def _choose_aim_by_worth(player: PlayerContext) -> Aim:
    """The aim of the highest worth for which there is time; the player's memory keeps it."""
    belief, game, ground, memory = player.belief, player.game, player.ground, player.memory
    push, kick, short = _push_length(player), ground.body.kick.reach, ground.body.short_kick.reach
    shot = ground.body.shot.reach if player.traits.shot_range > 0.0 else 0.0
    if memory.aim == memory.aim and memory.aim_reach in (shot, kick, short, push):
        every = AIM_INTERVAL if ball_way(player) > DECIDED_DISTANCE else DECIDED_TIME * memory.aim_reach
        if game.time - memory.aim_at < every and _in_time(player, memory.aim, memory.aim_reach, memory.aim_worth):
            return Aim(memory.aim, memory.aim_reach, memory.aim_reach > push)
    before, goal = memory.aim, goal_direction(player)
    comes = math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x)
    angles = np.empty(len(AIM_FAN) + 4 + MAX_PLAYERS)
    best, most, far, brings = goal, -math.inf, push, 0.0
    for reach in (shot, kick, short, push):
        if reach == 0.0:
            continue
        for i in range(directions(player, goal, comes, reach, angles)):
            angle = angles[i]
            plain = worth(player, angle, reach)
            if not _in_time(player, angle, reach, plain):
                continue
            around = way_around(player, comes + math.pi, angle + math.pi)
            found = plain - min(TURN_COST, TURN_COST_SHARE * reach / ground.scale) * abs(around)
            if _post_distance(player, angle + math.pi, 0.0) < POST_ROOM or _post_on_way(player, angle):
                found -= BARRED_PLACE_COST
            if _opponent_on_arc(player, comes + math.pi, around):
                found -= BARRED_WAY_COST
            if reach > push and plain < SHOT_WORTH:
                found -= player.traits.kick_delay * ground.body.run
            if abs(wrap_angle(angle - before)) < SAME_AIM_ANGLE:  # false if there was no aim (NaN)
                found += KEPT_AIM_WORTH
            if found > most:
                best, most, far, brings = angle, found, reach, plain
    memory.aim, memory.aim_at, memory.aim_reach, memory.aim_worth = wrap_angle(best), game.time, far, brings
    return Aim(memory.aim, far, far > push)


@unchecked
def directions(player: PlayerContext, goal: float, comes: float, reach: float, angles: Floats) -> int:
    """Writes the directions to compare into `angles`, and returns their number.

    These are a fan around the direction of the goal, the corners and middle of a goal within reach, straight on
    (`comes`, the direction from the player to the ball) and the directions of team-mates that stand.
    """
    belief, ground, own = player.belief, player.ground, player.game.number - 1
    count = len(AIM_FAN)
    angles[:count] = goal + AIM_FAN
    end, post = ground.length / 2 - belief.ball_x, ground.goal_width / 2 - CORNER_MARGIN
    if length(end, belief.ball_y) < reach:
        for side in (1.0, 0.0, -1.0):
            angles[count] = math.atan2(side * post - belief.ball_y, end)
            count += 1
    if ball_way(player) < STRAIGHT_ON_DISTANCE:
        angles[count] = comes
        count += 1
    for k in range(1, MAX_PLAYERS):
        mate = belief.others[k]
        dx, dy = mate.x - belief.ball_x, mate.y - belief.ball_y
        if is_known(belief, k, own) and not mate.lies and length(dx, dy) < 1.5 * reach:
            angles[count] = math.atan2(dy, dx)
            count += 1
    return count


@unchecked
def worth(player: PlayerContext, angle: float, reach: float) -> float:
    """The worth of playing the ball for `reach` metres in a direction, m on the league's pitch."""
    belief, ground = player.belief, player.ground
    c, s, bx, by = math.cos(angle), math.sin(angle), belief.ball_x, belief.ball_y
    stopped, margin = _in_the_way(player, c, s, reach)
    end, side, post, scale = ground.length / 2, ground.width / 2, ground.goal_width / 2, ground.scale
    to_line = (end - bx) / c if c > 1e-3 else math.inf
    off = by + to_line * s
    if abs(off) < post - POST_MARGIN and to_line < SHOT_REACH_SHARE * reach and to_line <= stopped:
        late = max(rolling_time(player, to_line, speed_for(player, reach)) - player.traits.sure_shot_time, 0.0)
        sure = _share_between(-post - off, post - off, _spread(player, reach) * to_line / c)
        return GOAL_WORTH * sure + FREE_LINE_WORTH * margin - SHOT_TIME_COST * late
    far = min(reach, stopped)
    x, y = bx + far * c, by + far * s
    # A ball before the goal is worth more than one at the same distance beside it.
    wide = player.traits.wide_cost
    gain = (length(end - bx, wide * by) - length(end - x, wide * y)) / scale
    if abs(x) > end or abs(y) > side:
        return gain - OUT_COST - (2.0 if x < -end else 0.0)
    if stopped < reach:
        return gain - player.traits.lost_ball_cost
    around = abs(wrap_angle(angle - math.atan2(by - belief.y, bx - belief.x)))
    delay = (KICKER_DELAY if reach > _push_length(player) else PUSH_TIME) + PUSH_TURN_WAY * around / ground.body.run
    return gain + player.traits.sooner_worth * _sooner_there(player, x, y, delay)


@inlined
def _spread(player: PlayerContext, reach: float) -> float:
    """Standard deviation of the direction of a ball that is played for `reach` metres, rad."""
    body = player.ground.body
    return body.kick.spread if reach > _push_length(player) else body.push_spread


@inlined
def _share_between(low: float, high: float, deviation: float) -> float:
    """The share of normally distributed numbers around 0 that lies between two numbers."""
    if deviation <= 0.0:
        return 1.0 if low <= 0.0 <= high else 0.0
    return 0.5 * (math.erf(high / (math.sqrt(2.0) * deviation)) - math.erf(low / (math.sqrt(2.0) * deviation)))


@inlined
def _in_the_way(player: PlayerContext, c: float, s: float, reach: float) -> tuple[float, float]:
    """How far a ball rolls in direction (c, s) until something stops it, and how far opponents are off its line, m.

    Opponents and goal posts stop a ball. The first is infinite if nothing stops it; the second is at most
    `MAX_FREE_LINE`.
    """
    belief, stopped, margin = player.belief, math.inf, MAX_FREE_LINE
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        if not is_known(belief, k, -1):
            continue
        other = belief.others[k]
        dx, dy = other.x - belief.ball_x, other.y - belief.ball_y
        along = c * dx + s * dy
        if 0.0 < along < reach:
            off = abs(c * dy - s * dx) - BLOCK_HALF_WIDTH - BLOCK_GROWTH * along
            if off < 0.0:
                stopped = min(stopped, max(along - BLOCK_HALF_WIDTH, 0.0))
            margin = min(margin, max(off, 0.0))
    end, post = player.ground.length / 2, player.ground.goal_width / 2
    for x in (end, -end):
        for y in (post, -post):
            along = c * (x - belief.ball_x) + s * (y - belief.ball_y)
            if 0.0 < along < reach and abs(c * (y - belief.ball_y) - s * (x - belief.ball_x)) < POST_HALF_WIDTH:
                stopped = min(stopped, along)
    return stopped, margin


@inlined
def _sooner_there(player: PlayerContext, x: float, y: float, delay: float) -> float:
    """How much sooner the own team reaches a place than the opponents, limited to two seconds either way, s.

    The player itself arrives later by `delay`, because it plays the ball first.
    """
    belief, body, own = player.belief, player.ground.body, player.game.number - 1
    ours, theirs = length(x - belief.x, y - belief.y) / body.run + delay, math.inf
    for k in range(1, ALL_PLAYERS):  # the own keeper (0) stays in its goal
        if not is_known(belief, k, own):
            continue
        other = belief.others[k]
        # Who walks there already need not speed up first.
        dx, dy = x - other.x - SPEEDING_UP_TIME * other.vx, y - other.y - SPEEDING_UP_TIME * other.vy
        time = length(dx, dy) / body.run + (body.get_up_time if other.lies else 0.0)
        if k < MAX_PLAYERS:
            ours = min(ours, time)
        else:
            theirs = min(theirs, time)
    return clip(theirs - ours, -2.0, 2.0)


# ----------------------------------------------------------------------------------------------------
# Kicking.
#
# From walking to hitting the ball takes more than a second, because the walk has to stop and the robot to stand. So a
# player orders the kick while it still walks, for the place where it will have stopped and where the ball will have
# rolled. Waiting for a perfect position takes too long: any place before the feet from which the kick goes straight
# is accepted, and any direction that is worth nearly as much as the aim.


LAST_STEPS_SHARE = 0.8
"""Speed on the last steps to the ball, as a share of the player's running speed."""
TURN_WAY = 0.42
"""Additional way to a kick for each radian that the player has to walk around the ball, m/rad."""
OPPONENT_SPEED_SHARE = 0.9
"""Assumed speed of an opponent that comes to disturb a kick, as a share of the player's own running speed."""
OPPONENT_REACH = 0.3
"""Distance from the ball at which an opponent disturbs a kick, m."""
OPPONENT_BEHIND_ANGLE = 0.8
"""An opponent within this angle of the player, as seen from the ball, has to walk around the player, rad."""
OPPONENT_DETOUR = 0.4
"""Additional way of an opponent that has to walk around the player, m."""
BEGUN_KICK_CREDIT = 0.6
"""A kick in preparation is abandoned only if an opponent arrives this much too early, s."""
SHOT_CREDIT = 1.2
"""Additional tolerance for shots, which gain much and lose little when they are disturbed, s."""
RESTART_PATIENCE = 11.0
"""After this time a restart is taken by dribbling, s: a kick takes up to three seconds at the ball, and after 15 s the
other team would get it."""
EXACT_ANGLE = 0.12
"""A kick within this angle of the aim is always accepted, rad."""
PENALTY_ANGLE, PENALTY_TURN = 0.06, 0.2
"""A penalty is kicked within this angle of the aim, rad, and while turning no faster than this, rad/s: the goal is 0.17
rad to either side of its middle."""
PENALTY_PATIENCE = 15.0
"""After this time, s, a penalty is kicked as any other restart; after 25 s it would be over."""
PENALTY_LINE_UP_TIME = 1.0
"""The player, which comes running, stays behind the ball of a penalty for this time, s, and goes up to it slowly."""
LOOSE_ANGLE = 0.5
"""A kick within this angle of the aim is accepted if it is worth nearly as much as the aim, rad."""
LOOSE_WORTH = 0.7
"""How much less than the aim an accepted kick may be worth."""
KICK_PACE, RESTART_PACE = 0.5, 0.3
"""Shares of its speed at which a player takes its position for a kick in play and for a restart. A restart is slower
because a foot that brushes the ball puts it into play, and the kick is then a forbidden second touch."""
MAX_KICK_TURN = 1.2
"""Limit of the turn rate while a player takes its position for a kick, rad/s."""
BACK_OFF_DISTANCE, RESTART_BACK_OFF_DISTANCE = 0.06, 0.14
"""How much farther from the ball a player stays until it is lined up, so that no step touches the ball, in play and
before a restart, m."""
RESTART_CIRCLING_ROOM = 0.12
"""How much farther around the ball of a restart a player walks than in play, m; one that comes running comes that much
nearer than it means to."""
RESTART_FARTHER = 0.03
"""How much farther away the ball of a restart is kicked, because walking feet swing ahead of the body, m."""
WEAK_KICK = 0.7
"""The largest strength that is asked of the short kick, below `STRONG_KICK`."""
REACH_MARGIN = 0.3
"""A kick is made this much stronger than its reach needs, m."""
MAX_STOP_TIME = 2.2
"""A kick is abandoned if the player has not come to rest after this time, s. With `policy-fast` it needs 0.8 to 1.5 s
from the speeds at which it goes up to the ball, with a standard deviation of up to 0.4 s."""
PENALTY_ASIDE_SHARE = 0.5
"""Where a penalty is aimed, as a share of the way from the middle of the goal to the post."""
NO_OPPONENT_DISTANCE = 9.0
"""Distance of the nearest opponent from the ball that is assumed while none is known, m."""


@inlined
def _in_time(player: PlayerContext, angle: float, reach: float, brings: float) -> bool:
    """Whether there is time to play the ball for a distance; for dribbling there always is."""
    body = player.ground.body
    if reach == body.shot.reach:  # the robot lies on the ground after a shot, so that it has to be a goal
        near = player.ground.length / 2 - player.belief.ball_x < player.traits.shot_range * player.ground.scale
        return (
            near and brings > SHOT_WORTH and _before_opponents(player, angle, body.stop_time + body.shot_time, brings)
        )
    return reach <= _push_length(player) or has_time(player, angle, brings)


@unchecked
def has_time(player: PlayerContext, aim: float, brings: float) -> bool:
    """Whether the player can kick before an opponent disturbs it; at a restart, before its time is up.

    Args:
        player: the player.
        aim: direction of the kick, rad.
        brings: worth of the kick; good shots are tried with opponents nearer.
    """
    return can_kick(player) and _before_opponents(player, aim, player.ground.body.kick_time, brings)


@unchecked
def _before_opponents(player: PlayerContext, aim: float, seconds: float, brings: float) -> bool:
    """Whether a kick that takes `seconds` at the ball comes before an opponent; other arguments as of `has_time`."""
    belief, game, memory, body = player.belief, player.game, player.memory, player.ground.body
    fast = length(belief.ball_vx, belief.ball_vy) > body.kick_ball_speed
    if game.time < memory.no_kick_until or fast:
        return False
    if game.phase != Phase.PLAY:
        return bool(game.mode_age < RESTART_PATIENCE)
    if game.favour > 0:
        return True
    comes = math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x)
    mine = seconds + max(ball_way(player) - 0.25, 0.0) / (LAST_STEPS_SHARE * body.run)
    mine += TURN_WAY * max(abs(wrap_angle(aim - comes)) - 0.2, 0.0) / body.run
    if memory.kick_since == memory.kick_since:
        mine -= BEGUN_KICK_CREDIT
    if brings > SHOT_WORTH:
        mine -= SHOT_CREDIT
    return bool(mine < _soonest_opponent(player))


@inlined
def _soonest_opponent(player: PlayerContext) -> float:
    """When the first upright opponent could disturb a kick, s; one behind the player has to walk around it."""
    belief, soonest = player.belief, math.inf
    here = math.atan2(belief.y - belief.ball_y, belief.x - belief.ball_x)
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        if is_known(belief, k, -1) and not other.lies:
            dx = other.x + SPEEDING_UP_TIME * other.vx - belief.ball_x
            dy = other.y + SPEEDING_UP_TIME * other.vy - belief.ball_y
            more = OPPONENT_DETOUR if abs(wrap_angle(math.atan2(dy, dx) - here)) < OPPONENT_BEHIND_ANGLE else 0.0
            soonest = min(soonest, length(dx, dy) + more - OPPONENT_REACH)
    return soonest / (OPPONENT_SPEED_SHARE * player.ground.body.run)


@inlined
def nearest_opponent(player: PlayerContext) -> float:
    """Distance of the nearest upright opponent from the ball, m."""
    belief, nearest = player.belief, NO_OPPONENT_DISTANCE
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        if is_known(belief, k, -1) and not other.lies:
            nearest = min(nearest, length(other.x - belief.ball_x, other.y - belief.ball_y))
    return nearest


@unchecked
def strike(player: PlayerContext, aim: Aim) -> bool:
    """Positions the player for a kick and kicks; False if it has tried for too long."""
    belief, game, memory, order, body = player.belief, player.game, player.memory, player.order, player.ground.body
    if memory.kick_since != memory.kick_since:
        memory.kick_since, memory.foot = game.time, 0.0
    moves = memory.ahead != 0.0 or memory.left != 0.0 or memory.turn != 0.0
    if game.time - memory.kick_since > player.traits.kick_patience and moves and not memory.shoot_out:
        memory.kick_since, memory.no_kick_until = math.nan, game.time + player.traits.kick_patience
        return False
    strength = clip((aim.reach + REACH_MARGIN) / body.kick.reach, 0.0, 1.0)
    if aim.reach <= body.short_kick.reach:
        strength = min(strength, WEAK_KICK)
    shoots = (player.traits.shot_range > 0.0 or memory.shoot_out) and aim.reach == body.shot.reach
    kick = body.shot if shoots else body.kick if strength >= STRONG_KICK else body.short_kick
    ahead, left = _seen_after(player, (body.shot_time if shoots else body.swing_time) + body.stop_time)
    turned = wrap_angle(aim.direction - belief.heading) if player.traits.aims > AIMS_AWAY else 0.0
    # The foot is kept while the ball stays on its side: a player that changes it in every cycle never gets ready.
    if memory.foot == 0.0 or memory.foot * left <= -0.03:
        memory.foot = 1.0 if left + 0.15 * turned > 0.0 else -1.0
    # The distance that the walk still covers until it has stopped.
    way = math.copysign(body.stop_linear + body.stop_quadratic * abs(memory.ahead), memory.ahead) * abs(memory.ahead)
    nearer = kick.nearer - (RESTART_FARTHER if first_touch_counts(player) and not shoots else 0.0)
    off_ahead = ahead - way - kick.place[0] + nearer
    off_left = left - body.stop_aside * memory.left - memory.foot * kick.place[1]
    placed = abs(off_ahead) < kick.slack[0] and abs(off_left) < kick.slack[1]
    slow = length(belief.ball_vx, belief.ball_vy) < body.kick_ball_speed
    if placed and slow and fits(player, aim.direction, turned, kick.reach):
        stand(player, Intent.KICK)
        memory.stopped_at, memory.strength, memory.shoots = game.time, strength, shoots
        return hold(player)
    turn = clip(TURN_GAIN * turned, -MAX_KICK_TURN, MAX_KICK_TURN)
    if not first_touch_counts(player):
        lined_up = abs(off_left) < 3 * kick.slack[1] and abs(turned) < 0.4
        back, pace = 0.0 if lined_up else BACK_OFF_DISTANCE, KICK_PACE
    else:  # the last steps to the ball of a restart go straight ahead, so that no foot touches it from the side
        lined_up = abs(off_left) < 1.5 * kick.slack[1] and abs(turned) < 2 * EXACT_ANGLE
        if memory.shoot_out and game.time - memory.kick_since < PENALTY_LINE_UP_TIME:
            lined_up = False
        back, pace = 0.0 if lined_up else RESTART_BACK_OFF_DISTANCE, RESTART_PACE
    off_ahead, off_left = beyond(off_ahead, 0.5 * kick.slack[0]), beyond(off_left, 0.5 * kick.slack[1])
    order.gait, order.intent = Gait.POSITIONING, Intent.GET_READY
    walk(
        player,
        clip(body.ahead_gain * (off_ahead - back), -pace * body.ask[1], pace * body.ask[0]),
        # Turning on the spot would swing the feet into the ball, so a turning player walks around it.
        clip(body.side_gain * off_left - kick.place[0] * turn, -0.78 * body.ask[2], 0.78 * body.ask[2]),
        turn,
    )
    return True


@unchecked
def hold(player: PlayerContext) -> bool:
    """Continues a kick for which the player has stopped; False if there is none, or if the ball has rolled away."""
    game, memory, order, body = player.game, player.memory, player.order, player.ground.body
    if memory.stopped_at != memory.stopped_at:
        return False
    ahead, left = _seen_after(player, body.shot_time if memory.shoots else body.swing_time)
    kick = body.shot if memory.shoots else body.kick if memory.strength >= STRONG_KICK else body.short_kick
    begun, missed = game.time - memory.stopped_at, not _in_place(kick, ahead, left)
    if missed and begun > body.stop_time and not memory.shoots:
        # The short kick needs the ball elsewhere than the other one. A kick that goes too far, or not far enough, is
        # better than new steps so near to the ball, which brush it.
        weak = memory.strength >= STRONG_KICK
        if _in_place(body.short_kick if weak else body.kick, ahead, left):
            memory.strength, missed = WEAK_KICK if weak else STRONG_KICK, False
    if begun > MAX_STOP_TIME or (begun > body.stop_time and missed):
        memory.stopped_at = math.nan
        return False
    stand(player, Intent.KICK if memory.strength == 1.0 else Intent.PASS)
    order.legs, order.strength, order.ball_ahead, order.ball_left = Legs.KICK, memory.strength, ahead, left
    order.shoots, order.kick = memory.shoots, KickKind.LEFT_STRAIGHT if left >= 0.0 else KickKind.RIGHT_STRAIGHT
    return True


@inlined
def _in_place(kick: KickAbility, ahead: float, left: float) -> bool:
    """Whether a ball ahead and to the left, m, lies where a kick with either foot reaches it."""
    found: bool = abs(ahead - kick.place[0]) <= kick.tolerance and abs(abs(left) - kick.place[1]) <= kick.tolerance
    return found


@inlined
def beyond(value: float, slack: float) -> float:
    """The part of a deviation that exceeds a tolerance, with its sign; 0 within the tolerance."""
    return 0.0 if abs(value) < slack else value - math.copysign(slack, value)


@inlined
def fits(player: PlayerContext, aim: float, turned: float, reach: float) -> bool:
    """Whether a kick straight ahead is good enough: exact, worth nearly as much as the aim, or a good shot itself."""
    in_play = player.game.phase == Phase.PLAY
    if player.memory.shoot_out and player.game.mode_age < PENALTY_PATIENCE:
        return abs(turned) < PENALTY_ANGLE and abs(player.memory.turn) < PENALTY_TURN
    if abs(turned) < EXACT_ANGLE:
        return True
    if player.traits.aims != AIMS_BY_WORTH or abs(turned) > LOOSE_ANGLE or not in_play:
        return not in_play and abs(turned) < 2 * EXACT_ANGLE
    here = worth(player, player.belief.heading, reach)
    return bool(here > min(worth(player, aim, reach) - LOOSE_WORTH, SHOT_WORTH))


@inlined
def _seen_after(player: PlayerContext, seconds: float) -> tuple[float, float]:
    """Predicted place of the ball in the player's frame, ahead and to the left, m."""
    belief = player.belief
    x, y = ball_after(player, seconds)
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    dx, dy = x - belief.x, y - belief.y
    return c * dx + s * dy, c * dy - s * dx


# ----------------------------------------------------------------------------------------------------
# Approaching and circling the ball, dribbling, and restarts.


APPROACH_DISTANCE = 0.7
"""Farther from the ball than this, a player walks straight to the place behind it, m."""
LOOSE_DRIVE_DISTANCE = 6.0
"""Farther from the opponents' goal than this, dribbling begins within the full aligned angle of the strategy, m on the
league's pitch; nearer to the goal the angle shrinks in proportion."""
MIN_LOOSENESS = 0.4
"""Smallest share of the aligned angle within which dribbling begins."""
RESTART_ALIGNED_SHARE = 0.5
"""Share of the aligned angle within which a player walks up to the ball of a restart, so that it comes straight."""
CIRCLING_STEP = 0.7
"""How far ahead on the circle around the ball the next target lies, rad."""
OPPONENT_ARC = 0.5
"""How much farther around the ball than the player's own way opponents are looked for, rad."""
FOLLOWED_WAY = 0.3
"""How far a player follows a ball that it walks through, m."""
POST_TOUCH_DISTANCE = 0.18
"""Nearer to a goal post or the side of a goal than this a player touches it, m."""
ARC_STEP = 0.3
"""Angle between the places on the way around the ball at which this distance is looked at, rad."""
FOOT_CHANGE_SHARE = 0.5
"""Distance of the ball on the other foot's side at which a player changes its foot, as a share of `push_aside`."""
MEETING_TIME = 4.0
"""Longest time for which the roll of the ball is predicted to meet it, s."""
DUEL_DISTANCE = 1.0
"""Within this distance of the ball a player keeps only `Strategy.duel_room` from others, m."""
KICK_OFF_LENGTH = 1.5
"""How far a kick-off is played to its receiver, m on the league's pitch."""
PASS_ANGLE_COST = 0.8
"""Cost of a restart's pass for each radian off the direction of the goal, 1/rad."""
NO_RECEIVER_COST = 1.6
"""Cost of kicking a restart at the goal, to no receiver; passes that cost more are not played."""
MAX_PASS_SHARE = 1.5
"""Team-mates farther away than this share of a kick's reach get no pass from a restart, as they would run too far."""
BLOCKED_COST = 1.5
"""Cost of a pass with an opponent in its way."""
GOAL_LINE_MARGIN = 0.5
"""A restart nearer to the opponents' goal line than this is played away from the line, m."""
MAX_INWARD_ANGLE = 1.2
"""Largest angle between such a restart and the direction straight away from the line, rad."""
SAME_AIM_CREDIT = 0.2
"""Cost that the present aim is spared, which keeps the taker of a restart from wavering."""
AIM_SETTLED_AGE = 2.0
"""A player at the ball keeps the aim of a restart when this time has passed since the whistle, s."""
PASS_OPPONENT_MIN = 0.95
"""Pass mode is not asked for with an opponent nearer to the ball than this, m; the rules grant it from 1 m on."""
PASS_OPPONENT_MAX = 3.0
"""Pass mode is not asked for if every opponent is farther from the ball, since there is time to kick without it, m."""
PASS_GOAL_DISTANCE = 6.5
"""Pass mode is not asked for nearer to the opponents' goal, since goals do not count for some seconds after it, m."""
PASS_BALL_SPEED = 0.15
"""Pass mode is not asked for while the ball is faster than this, m/s."""


@unchecked
def play_ball(player: PlayerContext) -> None:
    """Goes for the ball and plays it where the tactics choose."""
    if not hold(player):
        play_ball_to(player, _choose_aim(player) if player.game.phase == Phase.PLAY else _restart_aim(player))


@unchecked
def play_penalty(player: PlayerContext) -> None:
    """Kicks a penalty past the keeper: where a kick does not roll into the goal, with a shot, if the body has one."""
    if hold(player):
        return
    belief, ground, body = player.belief, player.ground, player.ground.body
    end, reach = ground.length / 2 - belief.ball_x, body.kick.reach
    if body.shot.reach > reach and SHOT_REACH_SHARE * reach < length(end, belief.ball_y):
        reach = body.shot.reach
    keeper = belief.others[MAX_PLAYERS]
    # Away from the keeper, if it is known; otherwise to the right.
    side = 1.0 if is_known(belief, MAX_PLAYERS, -1) and keeper.y < 0.0 else -1.0
    aim = math.atan2(side * PENALTY_ASIDE_SHARE * ground.goal_width / 2 - belief.ball_y, end)
    play_ball_to(player, Aim(aim, reach, body.can_kick))


@unchecked
def play_ball_to(player: PlayerContext, aim: Aim) -> None:
    """Goes for the ball and plays it at a given aim."""
    belief, game, memory, order = player.belief, player.game, player.memory, player.order
    if ball_way(player) > APPROACH_DISTANCE:
        memory.dribbling, memory.kick_since = False, math.nan
        approach(player, aim)
        return
    if IS_GOAL_KICK[game.mode] and _rolls_out(player):
        walk(player, -0.4 * player.ground.body.ask[1], 0.0, 0.0)
        order.intent = Intent.LET_IT_ROLL
        return
    # The player's direction as seen from the ball, and the angle that it has to walk around the ball.
    foot_x, foot_y = (0.0, 0.0) if aim.kicks else _pushing_foot(player, aim.direction)
    here = math.atan2(belief.y + foot_y - belief.ball_y, belief.x + foot_x - belief.ball_x)
    missing = way_around(player, here, aim.direction + math.pi)
    order.wants_pass = player.traits.asks_for_pass and aim.kicks and _needs_pass_mode(player)
    traits = player.traits
    within = traits.still_aligned_angle if memory.dribbling else traits.aligned_angle
    if first_touch_counts(player):
        within *= RESTART_ALIGNED_SHARE
    elif not aim.kicks:
        within *= _looseness(player)
    memory.dribbling = abs(missing) < within
    if not memory.dribbling:
        memory.kick_since = math.nan
        circle(player, here, missing, aim.kicks, foot_x, foot_y)
        return
    if aim.kicks and strike(player, aim):
        return
    memory.kick_since = math.nan
    dribble(player, aim.direction)


@inlined
def _pushing_foot(player: PlayerContext, aim: float) -> tuple[float, float]:
    """Where the foot is that pushes the ball of a player that walks into a direction, from the middle of its body.

    It is the foot on whose side the ball is. Bodies whose feet are close together push with both (`push_aside` 0).
    """
    belief, memory, c, s = player.belief, player.memory, math.cos(aim), math.sin(aim)
    aside = player.ground.body.push_aside
    beside = c * (belief.ball_y - belief.y) - s * (belief.ball_x - belief.x)
    # The foot is kept until the ball is clearly on the other side: changing it in every cycle would push with neither.
    if memory.foot == 0.0 or memory.foot * beside < -FOOT_CHANGE_SHARE * aside:
        memory.foot = 1.0 if beside >= 0.0 else -1.0
    return -memory.foot * aside * s, memory.foot * aside * c


@unchecked
def way_around(player: PlayerContext, here: float, there: float) -> float:
    """The angle to walk around the ball from a direction to another one, rad; the longer way if a post bars the other.

    Both are directions as seen from the ball.
    """
    shorter = wrap_angle(there - here)
    if _post_distance(player, here, shorter) > POST_ROOM:
        return shorter
    longer = shorter - math.copysign(2.0 * math.pi, shorter)
    return longer if _post_distance(player, here, longer) > POST_ROOM else shorter


@inlined
def _post_distance(player: PlayerContext, here: float, turn: float) -> float:
    """How near a player comes to a side of a goal that walks around the ball by an angle, m; the first step is free."""
    belief, ground = player.belief, player.ground
    radius, end, post = player.traits.circling_distance, ground.length / 2, ground.goal_width / 2
    nearest = math.inf
    if end - abs(belief.ball_x) > radius + POST_ROOM or abs(abs(belief.ball_y) - post) > radius + POST_ROOM:
        return nearest
    steps = int(abs(turn) / ARC_STEP) + 1
    for k in range(1, steps + 1):
        angle = here + turn * k / steps
        x, y = belief.ball_x + radius * math.cos(angle), belief.ball_y + radius * math.sin(angle)
        nearest = min(nearest, length(min(abs(x) - end, 0.0), abs(y) - post))
    return nearest


@inlined
def _post_on_way(player: PlayerContext, angle: float) -> bool:
    """Whether a player that walks through the ball in a direction, rad, would walk into a side of a goal.

    It may follow a ball that lies at a post, as long as it does not stand at the post itself when it touches the ball.
    """
    belief, end, post = player.belief, player.ground.length / 2, player.ground.goal_width / 2
    limit = min(POST_TOUCH_DISTANCE, length(min(abs(belief.ball_x) - end, 0.0), abs(belief.ball_y) - post))
    for k in (-1, 1, 2):
        way = 0.5 * k * FOLLOWED_WAY
        x, y = belief.ball_x + way * math.cos(angle), belief.ball_y + way * math.sin(angle)
        if length(min(abs(x) - end, 0.0), abs(y) - post) < (POST_TOUCH_DISTANCE if k < 0 else limit):
            return True
    return False


@inlined
def _opponent_on_arc(player: PlayerContext, here: float, turn: float) -> bool:
    """Whether an opponent stands where the player would walk around the ball by an angle from a direction, rad."""
    belief, reach = player.belief, player.traits.circling_distance + player.ground.body.contact_distance
    if abs(turn) < player.traits.aligned_angle:
        return False
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        dx, dy = other.x - belief.ball_x, other.y - belief.ball_y
        if abs(dx) < reach and abs(dy) < reach and is_known(belief, k, -1):
            off = wrap_angle(math.atan2(dy, dx) - here)
            if off * turn > 0.0 and abs(off) < abs(turn) + OPPONENT_ARC:
                return True
    return False


@inlined
def _looseness(player: PlayerContext) -> float:
    """Share of the aligned angle within which dribbling begins; it is less near the goal, which must not be missed.

    A dribbled ball rolls in the direction of the walk rather than in that of the aim.
    """
    goal = length(player.ground.length / 2 - player.belief.ball_x, player.belief.ball_y)
    return clip(goal / (LOOSE_DRIVE_DISTANCE * player.ground.scale), MIN_LOOSENESS, 1.0)


@inlined
def _needs_pass_mode(player: PlayerContext) -> bool:
    """Whether to ask for pass mode, which keeps opponents away while the player prepares a kick that is no shot."""
    belief, speed = player.belief, length(player.belief.ball_vx, player.belief.ball_vy)
    if player.game.mode != PlayMode.PLAY_ON or ball_way(player) > 0.5 or speed > PASS_BALL_SPEED:
        return False
    if length(player.ground.length / 2 - belief.ball_x, belief.ball_y) < PASS_GOAL_DISTANCE:
        return False
    return PASS_OPPONENT_MIN < nearest_opponent(player) < PASS_OPPONENT_MAX


@inlined
def _rolls_out(player: PlayerContext) -> bool:
    """Whether the ball of an own goal kick will leave the penalty area by itself."""
    edge = player.ground.penalty_depth - player.ground.length / 2
    x, _ = ball_after(player, 2.0)
    return bool(player.belief.ball_vx > 0.2 and x > edge)


@inlined
def slow_distance(player: PlayerContext, kicks: bool) -> float:
    """Distance from its target at which a player slows down near the ball, m; less while the ball is in play."""
    traits = player.traits
    if player.game.phase == Phase.PLAY:
        return traits.slow_at_kick if kicks else traits.slow_at_ball
    return max(traits.slow_distance, stopping_distance(player) if first_touch_counts(player) else 0.0)


@inlined
def _room_at_ball(player: PlayerContext) -> float:
    """How far to keep from others on the way to the ball, m; less near the ball, which others want, too."""
    traits = player.traits
    if not traits.avoids:
        return 0.0
    return traits.room * (traits.duel_room if ball_way(player) < DUEL_DISTANCE else 1.0)


@inlined
def _circling_distance(player: PlayerContext) -> float:
    """Distance from the ball while the player circles it, m; more before a restart, which no foot may brush."""
    more = RESTART_CIRCLING_ROOM if first_touch_counts(player) else 0.0
    return player.traits.circling_distance + more


@unchecked
def approach(player: PlayerContext, aim: Aim) -> None:
    """Walks to the place behind the predicted ball, opposite to the aim, and around the ball if it is in between."""
    belief, traits, run, direction = player.belief, player.traits, player.ground.body.run, aim.direction
    x, y, time = belief.ball_x, belief.ball_y, ball_way(player) / run
    # Two fixed-point iterations of "the ball rolls for as long as the player walks to it" are near enough.
    for _ in range(2):
        x, y = ball_after(player, min(time, MEETING_TIME))
        time = length(x - belief.x, y - belief.y) / run
    around = abs(wrap_angle(direction - math.atan2(y - belief.y, x - belief.x))) > traits.aligned_angle
    behind = _circling_distance(player) if around or first_touch_counts(player) else traits.behind_ball_distance
    manner = Manner(
        rest=False,
        face_within=0.3,
        slow_within=slow_distance(player, aim.kicks),
        room=_room_at_ball(player),
        ball_x=x,
        ball_y=y,
        ball_room=0.9 * _circling_distance(player) if around else 0.0,
        fine=False,
        pace=traits.pace,
    )
    foot_x, foot_y = (0.0, 0.0) if aim.kicks else _pushing_foot(player, direction)
    x, y = x - behind * math.cos(direction) - foot_x, y - behind * math.sin(direction) - foot_y
    walk_to(player, x, y, direction, manner)
    player.order.intent = Intent.TO_THE_BALL


@unchecked
def circle(player: PlayerContext, here: float, missing: float, kicks: bool, foot_x: float, foot_y: float) -> None:
    """Walks around the ball, facing it.

    Args:
        player: the player.
        here: direction of the player's pushing foot as seen from the ball, rad.
        missing: angle that it has to walk around the ball, rad.
        kicks: whether it is going to kick the ball.
        foot_x: place of this foot relative to the middle of the body, along the pitch, m.
        foot_y: the same across the pitch, m.
    """
    belief, traits = player.belief, player.traits
    x, y = ball_after(player, 0.2)
    angle = here + clip(missing, -CIRCLING_STEP, CIRCLING_STEP)
    # The circle narrows for the last part, except where brushing the ball would take the restart.
    nearly = abs(missing) < 2 * traits.aligned_angle and not first_touch_counts(player)
    radius = traits.behind_ball_distance if nearly else _circling_distance(player)
    manner = Manner(
        rest=False,
        face_within=math.inf,
        slow_within=slow_distance(player, kicks),
        room=_room_at_ball(player),
        ball_x=x,
        ball_y=y,
        ball_room=0.0,
        fine=True,
        pace=traits.pace,
    )
    face = math.atan2(y - belief.y, x - belief.x)
    x, y = x + radius * math.cos(angle) - foot_x, y + radius * math.sin(angle) - foot_y
    walk_to(player, x, y, face, manner)
    player.order.intent = Intent.AROUND_THE_BALL


@unchecked
def dribble(player: PlayerContext, aim: float) -> None:
    """Walks through the ball in the direction of the aim."""
    belief, traits, order = player.belief, player.traits, player.order
    x, y = ball_after(player, 0.1)
    foot_x, foot_y = _pushing_foot(player, aim)
    dx, dy, c, s = x - belief.x - foot_x, y - belief.y - foot_y, math.cos(aim), math.sin(aim)
    along, beside = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - belief.heading)
    # The walk heads for a point 0.25 m beyond the ball, and corrects sideways errors twice as fast as that alone would.
    ahead, left = fastest(player, math.atan2(2.0 * beside, max(along, 0.0) + 0.25) + turned)
    if traits.avoids:
        free_ahead, free_left = ahead, left
        ahead, left = without_bumping(player, ahead, left, _room_at_ball(player))
        # A network knows nobody but the ball, so it steers only where the player need not brake for others.
        order.dribbles = traits.network_dribbles and ahead == free_ahead and left == free_left
        order.direction, (order.ball_ahead, order.ball_left) = turned, _seen_after(player, 0.0)
        u, v, c, s = belief.ball_vx, belief.ball_vy, math.cos(belief.heading), math.sin(belief.heading)
        order.ball_vx, order.ball_vy = c * u + s * v, c * v - s * u
    player.memory.standing = False
    order.gait, order.intent = Gait.POSITIONING, Intent.DRIBBLE
    walk(player, traits.pace * ahead, traits.pace * left, TURN_GAIN * turned)


@unchecked
def _restart_aim(player: PlayerContext) -> Aim:
    """The aim of a restart of the own team: a team-mate that is ahead and free, or else the goal."""
    belief, game, ground, memory = player.belief, player.game, player.ground, player.memory
    body, goal = ground.body, goal_direction(player)
    bx, by, reach = belief.ball_x, belief.ball_y, body.kick.reach
    if player.traits.aims != AIMS_BY_WORTH:
        return _choose_aim(player)
    kicks = has_time(player, goal, 0.0)
    if game.phase == Phase.KICK_OFF:
        memory.aim, memory.aim_reach = 0.0, reach
        if game.players >= RECEIVER_NUMBER:
            memory.aim, memory.aim_reach = player.traits.kick_off_aim, KICK_OFF_LENGTH * ground.scale
        return Aim(memory.aim, memory.aim_reach, kicks)
    settled = ball_way(player) < APPROACH_DISTANCE and game.mode_age > AIM_SETTLED_AGE
    if settled and memory.aim == memory.aim:
        return Aim(memory.aim, memory.aim_reach, kicks)
    best, least, far = goal, NO_RECEIVER_COST, reach
    for k in range(1, MAX_PLAYERS):
        mate = belief.others[k]
        if not is_known(belief, k, game.number - 1) or mate.lies:
            continue
        way, angle = length(mate.x - bx, mate.y - by), math.atan2(mate.y - by, mate.x - bx)
        if not 0.8 < way < MAX_PASS_SHARE * reach:
            continue
        stopped, _ = _in_the_way(player, math.cos(angle), math.sin(angle), way)
        # The ball should come to rest about where the team-mate stands, after a long or a short kick.
        off = min(abs(way - reach), abs(way - body.short_kick.reach))
        cost = 0.3 * off + PASS_ANGLE_COST * abs(wrap_angle(angle - goal))
        cost += BLOCKED_COST if stopped < way else 0.0
        if abs(wrap_angle(angle - memory.aim)) < 0.3:
            cost -= SAME_AIM_CREDIT
        if cost < least:
            best, least, far = angle, cost, way
    # Near the goal line the ball is played away from it, because it would go out at once otherwise.
    if bx > ground.length / 2 - GOAL_LINE_MARGIN and math.cos(best) > -math.cos(MAX_INWARD_ANGLE):
        best = math.copysign(math.pi - MAX_INWARD_ANGLE, -by)
    memory.aim, memory.aim_reach = best, far
    return Aim(best, far, kicks)
