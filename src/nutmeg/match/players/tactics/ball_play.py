"""Playing the ball: where to, getting behind it, walking through it or kicking it, and putting it into play.

    play_ball(player)

A player circles the ball at some distance, always facing it, until it is behind it as seen from its aim, and then kicks
it if there is time, or else walks straight through it: the way of driveBallToGoal2 in MacAlpine and others (2012),
section 5.3. Metres, seconds, radians. Numbers were chosen here and tried in matches; distances "on the league's pitch"
are scaled for others (`GroundRecord.scale`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
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
    from nutmeg.match.players.tactics.records import PlayerContext


# ----------------------------------------------------------------------------------------------------
# Where to play the ball.
#
# A strategy's `aims` says how much thought goes into it: away from itself, at the goal, past opponents by the cheapest
# of a few directions, or by what playing it in a direction is worth. A ball that is played comes `reach` far, unless
# somebody is in its way or it goes out. Where it ends is worth as much as it is nearer to the opponents' goal, and more
# or less by who will be there first; a goal is worth more than anything. A kick to where a team-mate is there first is
# a pass.


AIMS_AWAY, AIMS_AT_GOAL, AIMS_PAST_OPPONENTS, AIMS_BY_WORTH = 0, 1, 2, 3
"""How a strategy chooses where to play the ball (`Strategy.aims`)."""
AIM_FAN = np.array([0.0, 0.2, -0.2, 0.4, -0.4, 0.65, -0.65, 0.95, -0.95, 1.3, -1.3, 1.8, -1.8, 2.4, -2.4])
"""Directions that are compared by their worth, beside that of the goal."""
AIM_INTERVAL = 0.1
"""How often a player thinks about its aim."""
DECIDED_DISTANCE = 0.55
"""Who is so near to the ball has decided, and thinks again only ..."""
DECIDED_TIME = 0.5
"""... after so long for each metre that it wants to play the ball, s/m."""
BLOCK_HALF_WIDTH = 0.24
"""Half the width that an opponent blocks."""
BLOCK_GROWTH = 0.07
"""What is added to it for each metre that the ball rolls until there: the opponent steps aside."""
SHOT_REACH_SHARE = 0.9
"""Share of the reach from which shots are tried: they must get over the line."""
POST_MARGIN = 0.12
"""Shots are aimed no nearer to the posts than this."""
CORNER_MARGIN = 0.25
"""Shots at corners are aimed so far inside the post."""
GOAL_WORTH = 12.0
"""What a goal is worth: more than any gain of ground, m on the league's pitch, as all worths."""
FREE_LINE_WORTH = 3.0
"""What is added for each metre that the nearest opponent is off the line of a shot."""
MAX_FREE_LINE = 1.0
"""Up to so many metres count."""
SURE_SHOT_TIME = 1.3
"""Shots that are in the goal after so long leave the keeper no time, s; with kicks of 3.3 m, that is from 2.5 m."""
SHOT_TIME_COST = 6.0
"""What each second more costs: then the keeper saves nearly all."""
SHOT_WORTH = 7.5
"""What is worth more is a shot, and a good one."""
OUT_COST = 2.5
"""What it costs to play the ball out."""
KICKER_DELAY = 1.0
"""Who kicks the ball needs so much longer to go after it than a team-mate who waits there."""
PUSH_TIME = 0.6
"""How much longer that takes than to walk so far."""
PUSH_TURN_WAY = 0.6
"""And so much farther it is for each radian around the ball."""
STRAIGHT_ON_DISTANCE = 1.5
"""Who is so near to the ball may play it straight on."""
TURN_COST = 0.8
"""What it costs to walk around the ball for each radian."""
TURN_COST_SHARE = 0.45
"""But at most this share of how far the ball is played, for each radian: with more, balls are driven over the lines."""
KEPT_AIM_WORTH = 0.5
"""What is saved by keeping the present aim: players do not waver."""
SAME_AIM_ANGLE = 0.2
"""A direction so near to the present aim is the same."""
AIM_OFFSETS = np.array([0.0, 0.25, -0.25, 0.5, -0.5, 0.9, -0.9])
"""Directions that are compared by opponents in their way, beside that of the goal."""
BLOCKER_RANGE = 1.6
"""Opponents so far ahead of the ball block it."""
BLOCKER_WIDTH = 0.35
"""Opponents so far beside the line of the ball block it."""
BLOCKER_COST = 1.5
"""What an opponent in the middle of the line costs, in radians of a worse direction."""


class Aim(NamedTuple):
    """Where to play the ball."""

    direction: float
    reach: float
    """How far, m."""
    kicks: bool
    """Whether to kick it; else it is walked through."""


@inlined
def ball_way(player: PlayerContext) -> float:
    """Distance to the ball."""
    belief = player.belief
    return length(belief.ball_x - belief.x, belief.ball_y - belief.y)


@inlined
def _push_length(player: PlayerContext) -> float:
    """How far a ball goes that is walked through."""
    return player.ground.body.push * player.ground.scale


@inlined
def can_kick(player: PlayerContext) -> bool:
    """Whether the player kicks: restarts always, as a ball that is walked through is touched twice."""
    found: bool = (player.traits.kicks or player.game.phase != Phase.PLAY) and player.ground.body.can_kick
    return found


@inlined
def first_touch_counts(player: PlayerContext) -> bool:
    """Whether a foot that brushes the ball has taken the restart, after which the rules bar its player from the ball.

    A goal kick is over only when the ball leaves the area, and some rule books let the taker go on with it. Bodies
    that stop at once, those of the behavioural world, have no feet that swing ahead of them.
    """
    swings, barred = player.ground.body.stop_linear > 0.0, player.ground.one_touch
    found: bool = swings and barred and player.game.phase != Phase.PLAY and not IS_GOAL_KICK[player.game.mode]
    return found


@inlined
def goal_direction(player: PlayerContext) -> float:
    """From the ball to the opponents' goal, or to the place before it if the ball lies beside it."""
    ground, x, y = player.ground, player.belief.ball_x, player.belief.ball_y
    end, post, scale = ground.length / 2, ground.goal_width / 2, ground.scale
    if x > end - 1.5 * scale and abs(y) > post + 0.3 * scale:
        return math.atan2(-y, end - 1.2 * scale - x)
    return math.atan2(clip(y, -0.5 * post, 0.5 * post) - y, end + 0.3 * scale - x)


@inlined
def _choose_aim(player: PlayerContext) -> Aim:
    """Where to play a ball in play."""
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
    """The cheapest of a few directions: few opponents in the way, near that of the goal, not over a line."""
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
    # A pass is only worth it where a kick does not reach the goal; the keeper (0) gets none.
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
    """What opponents in the way of a ball that is played in a direction cost."""
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
    """The direction and distance that are worth most and for which there is time; both are kept in mind."""
    belief, game, ground, memory = player.belief, player.game, player.ground, player.memory
    push, kick, short = _push_length(player), ground.body.kick.reach, ground.body.short_kick.reach
    if memory.aim == memory.aim and memory.aim_reach in (kick, short, push):
        every = AIM_INTERVAL if ball_way(player) > DECIDED_DISTANCE else DECIDED_TIME * memory.aim_reach
        if game.time - memory.aim_at < every and _in_time(player, memory.aim, memory.aim_reach, memory.aim_worth):
            return Aim(memory.aim, memory.aim_reach, memory.aim_reach > push)
    before, goal = memory.aim, goal_direction(player)
    comes = math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x)
    angles = np.empty(len(AIM_FAN) + 4 + MAX_PLAYERS)
    best, most, far, brings = goal, -math.inf, push, 0.0
    for reach in (kick, short, push):
        for i in range(directions(player, goal, comes, reach, angles)):
            angle = angles[i]
            plain = worth(player, angle, reach)
            if not _in_time(player, angle, reach, plain):
                continue
            found = plain - min(TURN_COST, TURN_COST_SHARE * reach / ground.scale) * abs(wrap_angle(angle - comes))
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
    """Fills in directions to think about; how many they are.

    They are a fan about the goal, the corners of the goal, straight on, and to team-mates.
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
    """What playing the ball in a direction so far brings, m on the league's pitch."""
    belief, ground = player.belief, player.ground
    c, s, bx, by = math.cos(angle), math.sin(angle), belief.ball_x, belief.ball_y
    stopped, margin = _in_the_way(player, c, s, reach)
    end, side, post, scale = ground.length / 2, ground.width / 2, ground.goal_width / 2, ground.scale
    to_line = (end - bx) / c if c > 1e-3 else math.inf
    if abs(by + to_line * s) < post - POST_MARGIN and to_line < SHOT_REACH_SHARE * reach and to_line <= stopped:
        late = max(rolling_time(player, to_line, speed_for(player, reach)) - SURE_SHOT_TIME, 0.0)
        return GOAL_WORTH + FREE_LINE_WORTH * margin - SHOT_TIME_COST * late
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
def _in_the_way(player: PlayerContext, c: float, s: float, reach: float) -> tuple[float, float]:
    """How far a ball comes in a direction (c, s) until an opponent stops it, and how near the others are to its way."""
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
    return stopped, margin


@inlined
def _sooner_there(player: PlayerContext, x: float, y: float, delay: float) -> float:
    """By how much the own team is sooner at a place than the opponents, up to two seconds either way.

    The player itself is later there by `delay`, because it plays the ball first.
    """
    belief, body, own = player.belief, player.ground.body, player.game.number - 1
    ours, theirs = length(x - belief.x, y - belief.y) / body.run + delay, math.inf
    for k in range(1, ALL_PLAYERS):  # the own keeper (0) stays in its goal
        if not is_known(belief, k, own):
            continue
        other = belief.others[k]
        time = length(x - other.x, y - other.y) / body.run + (body.get_up_time if other.lies else 0.0)
        if k < MAX_PLAYERS:
            ours = min(ours, time)
        else:
            theirs = min(theirs, time)
    return clip(theirs - ours, -2.0, 2.0)


# ----------------------------------------------------------------------------------------------------
# Kicking: whether there is time for it, getting the ball before a foot, and when it is good enough.
#
# A kick from walking takes a second and more until the ball is hit: the walk has to stop, and the robot to stand. So it
# is begun while walking, for where the robot will have stopped and the ball rolled to. Any place before the feet from
# which a kick goes straight will do, and any direction that is worth nearly as much as the aim.


LAST_STEPS_SHARE = 0.8
"""Share of its speed that a player has on its last steps to the ball."""
TURN_WAY = 0.42
"""How much farther it is to a kick for each radian around the ball."""
OPPONENT_SPEED_SHARE = 0.9
"""Share of the own speed at which an opponent comes to disturb a kick."""
OPPONENT_REACH = 0.3
"""How near to the ball an opponent must be to disturb."""
OPPONENT_BEHIND_ANGLE = 0.8
"""Opponents within this angle behind the player, as seen from the ball, have to come around it."""
OPPONENT_DETOUR = 0.4
"""How much farther that is."""
BEGUN_KICK_CREDIT = 0.6
"""A kick that is being prepared is given up only if so much time is missing."""
SHOT_CREDIT = 1.2
"""And a shot at the goal, which brings so much and costs little if it fails, only if so much more is."""
RESTART_PATIENCE = 9.0
"""After so long a restart is taken by walking into the ball; after 15 s it would be lost."""
EXACT_ANGLE = 0.12
"""A kick may always go so far from the aim."""
LOOSE_ANGLE = 0.5
"""A kick may go so far from the aim where that is worth nearly as much."""
LOOSE_WORTH = 0.7
"""How much less it may be worth."""
KICK_PACE, RESTART_PACE = 0.5, 0.3
"""Shares of its speed at which a player goes to its place for a kick in play, and for a restart. A foot that brushes
the ball puts it into play, and the kick is then a second touch, which the rules forbid."""
MAX_KICK_TURN = 1.2
"""How fast a player turns before the ball."""
BACK_OFF_DISTANCE, RESTART_BACK_OFF_DISTANCE = 0.06, 0.14
"""Who is beside the ball or looks elsewhere keeps so much farther from it, so that no step touches it; in play, and
before a restart, where a touch counts."""
RESTART_FARTHER = 0.03
"""The ball of a restart is kicked from so much farther away: the feet of who walks up to it swing ahead of it."""
STRONG_KICK, WEAK_KICK = 0.75, 0.7
"""Kicks that ask for less strength than the first are short ones; those that a short one is enough for ask for the
second at most."""
REACH_MARGIN = 0.3
"""A ball is kicked so much farther than it is wanted, to be sure."""
MAX_STOP_TIME = 1.5
"""A kick for which a player has not come to rest after so long is given up."""
NO_OPPONENT_DISTANCE = 9.0
"""What stands for the distance of opponents where none is known."""


@inlined
def _in_time(player: PlayerContext, angle: float, reach: float, brings: float) -> bool:
    """Whether there is time to play the ball so far: always, if it is to be walked through."""
    return reach <= _push_length(player) or has_time(player, angle, brings)


@unchecked
def has_time(player: PlayerContext, aim: float, brings: float) -> bool:
    """Whether a ball can be kicked before an opponent disturbs; or, before a restart, in time.

    Args:
        player: the player.
        aim: direction of the kick.
        brings: what it is worth: shots are dared with opponents nearer.
    """
    belief, game, memory, body = player.belief, player.game, player.memory, player.ground.body
    fast = length(belief.ball_vx, belief.ball_vy) > body.kick_ball_speed
    if not can_kick(player) or game.time < memory.no_kick_until or fast:
        return False
    if game.phase != Phase.PLAY:
        return bool(game.mode_age < RESTART_PATIENCE)
    if game.favour > 0:
        return True
    comes = math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x)
    mine = body.kick_time + max(ball_way(player) - 0.25, 0.0) / (LAST_STEPS_SHARE * body.run)
    mine += TURN_WAY * max(abs(wrap_angle(aim - comes)) - 0.2, 0.0) / body.run
    if memory.kick_since == memory.kick_since:
        mine -= BEGUN_KICK_CREDIT
    if brings > SHOT_WORTH:
        mine -= SHOT_CREDIT
    return bool(mine < _soonest_opponent(player))


@inlined
def _soonest_opponent(player: PlayerContext) -> float:
    """When the first opponent who stands could disturb at the ball; who is behind the player has to come around."""
    belief, soonest = player.belief, math.inf
    here = math.atan2(belief.y - belief.ball_y, belief.x - belief.ball_x)
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        if is_known(belief, k, -1) and not other.lies:
            dx, dy = other.x - belief.ball_x, other.y - belief.ball_y
            more = OPPONENT_DETOUR if abs(wrap_angle(math.atan2(dy, dx) - here)) < OPPONENT_BEHIND_ANGLE else 0.0
            soonest = min(soonest, length(dx, dy) + more - OPPONENT_REACH)
    return soonest / (OPPONENT_SPEED_SHARE * player.ground.body.run)


@inlined
def nearest_opponent(player: PlayerContext) -> float:
    """How far the nearest opponent who stands is from the ball."""
    belief, nearest = player.belief, NO_OPPONENT_DISTANCE
    for k in range(MAX_PLAYERS, ALL_PLAYERS):
        other = belief.others[k]
        if is_known(belief, k, -1) and not other.lies:
            nearest = min(nearest, length(other.x - belief.ball_x, other.y - belief.ball_y))
    return nearest


@unchecked
def strike(player: PlayerContext, aim: Aim) -> bool:
    """Gets the ball before a foot and kicks it; whether it does, since that may take too long."""
    belief, game, memory, order, body = player.belief, player.game, player.memory, player.order, player.ground.body
    if memory.kick_since != memory.kick_since:
        memory.kick_since, memory.foot = game.time, 0.0
    moves = memory.ahead != 0.0 or memory.left != 0.0 or memory.turn != 0.0
    if game.time - memory.kick_since > player.traits.kick_patience and moves:
        memory.kick_since, memory.no_kick_until = math.nan, game.time + player.traits.kick_patience
        return False
    strength = clip((aim.reach + REACH_MARGIN) / body.kick.reach, 0.0, 1.0)
    if aim.reach <= body.short_kick.reach:
        strength = min(strength, WEAK_KICK)
    kick = body.kick if strength >= STRONG_KICK else body.short_kick
    ahead, left = _seen_after(player, body.swing_time + body.stop_time)
    turned = wrap_angle(aim.direction - belief.heading) if player.traits.aims > AIMS_AWAY else 0.0
    # The foot is kept while the ball stays on its side: who changes it in every cycle never gets ready.
    if memory.foot == 0.0 or memory.foot * left <= -0.03:
        memory.foot = 1.0 if left + 0.15 * turned > 0.0 else -1.0
    # How far the walk still comes until it has stopped.
    way = math.copysign(body.stop_linear + body.stop_quadratic * abs(memory.ahead), memory.ahead) * abs(memory.ahead)
    nearer = kick.nearer - (RESTART_FARTHER if first_touch_counts(player) else 0.0)
    off_ahead = ahead - way - kick.place[0] + nearer
    off_left = left - body.stop_aside * memory.left - memory.foot * kick.place[1]
    placed = abs(off_ahead) < kick.slack[0] and abs(off_left) < kick.slack[1]
    slow = length(belief.ball_vx, belief.ball_vy) < body.kick_ball_speed
    if placed and slow and fits(player, aim.direction, turned, kick.reach):
        stand(player, Intent.KICK)
        memory.stopped_at, memory.strength = game.time, strength
        return hold(player)
    turn = clip(TURN_GAIN * turned, -MAX_KICK_TURN, MAX_KICK_TURN)
    if not first_touch_counts(player):
        lined_up = abs(off_left) < 3 * kick.slack[1] and abs(turned) < 0.4
        back, pace = 0.0 if lined_up else BACK_OFF_DISTANCE, KICK_PACE
    else:  # the last steps to the ball of a restart go straight ahead
        lined_up = abs(off_left) < 1.5 * kick.slack[1] and abs(turned) < 2 * EXACT_ANGLE
        back, pace = 0.0 if lined_up else RESTART_BACK_OFF_DISTANCE, RESTART_PACE
    off_ahead, off_left = beyond(off_ahead, 0.5 * kick.slack[0]), beyond(off_left, 0.5 * kick.slack[1])
    order.gait, order.intent = Gait.POSITIONING, Intent.GET_READY
    walk(
        player,
        clip(body.ahead_gain * (off_ahead - back), -pace * body.ask[1], pace * body.ask[0]),
        # who turns goes around the ball
        clip(body.side_gain * off_left - kick.place[0] * turn, -0.78 * body.ask[2], 0.78 * body.ask[2]),
        turn,
    )
    return True


@unchecked
def hold(player: PlayerContext) -> bool:
    """Goes on with a kick for which the player has stopped; False if there is none, or the ball has gone."""
    game, memory, order, body = player.game, player.memory, player.order, player.ground.body
    if memory.stopped_at != memory.stopped_at:
        return False
    ahead, left = _seen_after(player, body.swing_time)
    kick = body.kick if memory.strength >= STRONG_KICK else body.short_kick
    begun, off = game.time - memory.stopped_at, abs(abs(left) - kick.place[1])
    missed = abs(ahead - kick.place[0]) > kick.tolerance or off > kick.tolerance
    if begun > MAX_STOP_TIME or (begun > body.stop_time and missed):
        memory.stopped_at = math.nan
        return False
    stand(player, Intent.KICK if memory.strength == 1.0 else Intent.PASS)
    order.legs, order.strength, order.ball_ahead, order.ball_left = Legs.KICK, memory.strength, ahead, left
    order.kick = KickKind.LEFT_STRAIGHT if left >= 0.0 else KickKind.RIGHT_STRAIGHT
    return True


@inlined
def beyond(value: float, slack: float) -> float:
    """How much a number is off 0 beyond a slack."""
    return 0.0 if abs(value) < slack else value - math.copysign(slack, value)


@inlined
def fits(player: PlayerContext, aim: float, turned: float, reach: float) -> bool:
    """Whether a kick to where the player looks is as good as to where it wants to kick; any free shot is."""
    in_play = player.game.phase == Phase.PLAY
    if abs(turned) < EXACT_ANGLE:
        return True
    if player.traits.aims != AIMS_BY_WORTH or abs(turned) > LOOSE_ANGLE or not in_play:
        return not in_play and abs(turned) < 2 * EXACT_ANGLE
    here = worth(player, player.belief.heading, reach)
    return bool(here > min(worth(player, aim, reach) - LOOSE_WORTH, SHOT_WORTH))


@inlined
def _seen_after(player: PlayerContext, seconds: float) -> tuple[float, float]:
    """Where the ball will be as the player sees it: ahead and to the left."""
    belief = player.belief
    x, y = ball_after(player, seconds)
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    dx, dy = x - belief.x, y - belief.y
    return c * dx + s * dy, c * dy - s * dx


# ----------------------------------------------------------------------------------------------------
# Going to the ball and around it.


APPROACH_DISTANCE = 0.7
"""Farther from the ball than this a player goes straight to the place behind it."""
LOOSE_DRIVE_DISTANCE = 6.0
"""Farther from the opponents' goal than this a ball is walked through as soon as its direction is about right, m on the
league's pitch; nearer to it, ..."""
MIN_LOOSENESS = 0.4
"""... the angle is less, down to this share."""
RESTART_ALIGNED_SHARE = 0.5
"""Share of the aligned angles within which a player goes to the ball of a restart: from there it goes straight."""
CIRCLING_STEP = 0.7
"""How far ahead on the circle the next place lies."""
MEETING_TIME = 4.0
"""How far ahead the ball's roll is predicted for meeting it."""
DUEL_DISTANCE = 1.0
"""So near to the ball a player keeps the room of duels from others."""
KICK_OFF_LENGTH = 1.5
"""How far a kick-off is played to its receiver, m on the league's pitch."""
PASS_ANGLE_COST = 0.8
"""Cost of a restart's pass for each radian off the direction of the goal."""
NO_RECEIVER_COST = 1.6
"""Cost of playing the ball to nobody: passes that cost more are not played."""
MAX_PASS_SHARE = 1.5
"""Team-mates farther away than this share of a kick's reach get no pass from a restart: they would have to run far."""
BLOCKED_COST = 1.5
"""Cost of a pass with an opponent in its way."""
GOAL_LINE_MARGIN = 0.5
"""A restart nearer to the opponents' goal line than this is played inward."""
MAX_INWARD_ANGLE = 1.2
"""At most so far from straight away from the line."""
SAME_AIM_CREDIT = 0.2
"""What is saved by keeping the present aim."""
AIM_SETTLED_AGE = 2.0
"""Who stands at the ball so long after the whistle has made up its mind where to play it."""
PASS_OPPONENT_MIN = 0.95
"""Pass mode is not asked for with an opponent nearer to the ball: the rules grant it from 1 m on."""
PASS_OPPONENT_MAX = 3.0
"""Nor if no opponent is nearer than this: there is time to kick without it."""
PASS_GOAL_DISTANCE = 6.5
"""Nor so near to the opponents' goal: goals do not count for some seconds after pass mode."""
PASS_BALL_SPEED = 0.15
"""And with slow balls."""


@unchecked
def play_ball(player: PlayerContext) -> None:
    """Goes for the ball and plays it."""
    if not hold(player):
        play_ball_to(player, _choose_aim(player) if player.game.phase == Phase.PLAY else _restart_aim(player))


@unchecked
def play_ball_to(player: PlayerContext, aim: Aim) -> None:
    """Goes for the ball and plays it to where it is aimed."""
    belief, game, memory, order = player.belief, player.game, player.memory, player.order
    if ball_way(player) > APPROACH_DISTANCE:
        memory.dribbling, memory.kick_since = False, math.nan
        approach(player, aim.direction)
        return
    if IS_GOAL_KICK[game.mode] and _rolls_out(player):
        walk(player, -0.4 * player.ground.body.ask[1], 0.0, 0.0)
        order.intent = Intent.LET_IT_ROLL
        return
    here = math.atan2(belief.y - belief.ball_y, belief.x - belief.ball_x)
    missing = wrap_angle(aim.direction + math.pi - here)
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
        circle(player, here, missing)
        return
    if aim.kicks and strike(player, aim):
        return
    memory.kick_since = math.nan
    dribble(player, aim.direction)


@inlined
def _looseness(player: PlayerContext) -> float:
    """Share of the aligned angles within which a ball is walked through: near the goal a ball must not go past it.

    A ball that is walked through goes where the player comes from rather than where it aims.
    """
    goal = length(player.ground.length / 2 - player.belief.ball_x, player.belief.ball_y)
    return clip(goal / (LOOSE_DRIVE_DISTANCE * player.ground.scale), MIN_LOOSENESS, 1.0)


@inlined
def _needs_pass_mode(player: PlayerContext) -> bool:
    """Whether to ask for pass mode: for time to kick a ball that does not go into the goal at once."""
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
def slow_distance(player: PlayerContext) -> float:
    """From where on a player slows down on its way to the ball: late if the ball is in play."""
    traits = player.traits
    if player.game.phase == Phase.PLAY:
        return traits.slow_at_ball
    return max(traits.slow_distance, stopping_distance(player) if first_touch_counts(player) else 0.0)


@inlined
def _room_at_ball(player: PlayerContext) -> float:
    """How far to keep from others on the way to the ball, m: less near it, where others want it, too."""
    traits = player.traits
    if not traits.avoids:
        return 0.0
    return traits.room * (traits.duel_room if ball_way(player) < DUEL_DISTANCE else 1.0)


@unchecked
def approach(player: PlayerContext, aim: float) -> None:
    """Goes to the place behind where the ball will be, as seen from the aim; around it, if need be."""
    belief, traits, run = player.belief, player.traits, player.ground.body.run
    x, y, time = belief.ball_x, belief.ball_y, ball_way(player) / run
    for _ in range(2):
        x, y = ball_after(player, min(time, MEETING_TIME))
        time = length(x - belief.x, y - belief.y) / run
    around = abs(wrap_angle(aim - math.atan2(y - belief.y, x - belief.x))) > traits.aligned_angle
    behind = traits.behind_ball_distance if not around and not first_touch_counts(player) else traits.circling_distance
    manner = Manner(
        rest=False,
        face_within=0.3,
        slow_within=slow_distance(player),
        room=_room_at_ball(player),
        ball_x=x,
        ball_y=y,
        ball_room=0.9 * traits.circling_distance if around else 0.0,
        fine=False,
        pace=traits.pace,
    )
    walk_to(player, x - behind * math.cos(aim), y - behind * math.sin(aim), aim, manner)
    player.order.intent = Intent.TO_THE_BALL


@unchecked
def circle(player: PlayerContext, here: float, missing: float) -> None:
    """Goes on around the ball, facing it.

    Args:
        player: the player.
        here: where it stands as seen from the ball.
        missing: how far it has to go.
    """
    belief, traits = player.belief, player.traits
    x, y = ball_after(player, 0.2)
    angle = here + clip(missing, -CIRCLING_STEP, CIRCLING_STEP)
    # A foot that brushes the ball of a restart has taken it: the way around that goes outside of all steps.
    nearly = abs(missing) < 2 * traits.aligned_angle and not first_touch_counts(player)
    radius = traits.behind_ball_distance if nearly else traits.circling_distance
    manner = Manner(
        rest=False,
        face_within=math.inf,
        slow_within=slow_distance(player),
        room=_room_at_ball(player),
        ball_x=x,
        ball_y=y,
        ball_room=0.0,
        fine=True,
        pace=traits.pace,
    )
    face = math.atan2(y - belief.y, x - belief.x)
    walk_to(player, x + radius * math.cos(angle), y + radius * math.sin(angle), face, manner)
    player.order.intent = Intent.AROUND_THE_BALL


@unchecked
def dribble(player: PlayerContext, aim: float) -> None:
    """Walks through the ball."""
    belief, traits, order = player.belief, player.traits, player.order
    x, y = ball_after(player, 0.1)
    dx, dy, c, s = x - belief.x, y - belief.y, math.cos(aim), math.sin(aim)
    along, beside = c * dx + s * dy, c * dy - s * dx
    turned = wrap_angle(aim - belief.heading)
    ahead, left = fastest(player, math.atan2(2.0 * beside, max(along, 0.0) + 0.25) + turned)
    if traits.avoids:
        ahead, left = without_bumping(player, ahead, left, _room_at_ball(player))
    player.memory.standing = False
    order.gait, order.intent = Gait.POSITIONING, Intent.DRIBBLE
    walk(player, traits.pace * ahead, traits.pace * left, TURN_GAIN * turned)


@unchecked
def _restart_aim(player: PlayerContext) -> Aim:
    """Where to play a ball that the own team puts into play: to a team-mate who is ahead and free, else ahead."""
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
        # The ball should come to rest about where the team-mate stands.
        off = min(abs(way - reach), abs(way - body.short_kick.reach))
        cost = 0.3 * off + PASS_ANGLE_COST * abs(wrap_angle(angle - goal))
        cost += BLOCKED_COST if stopped < way else 0.0
        if abs(wrap_angle(angle - memory.aim)) < 0.3:
            cost -= SAME_AIM_CREDIT
        if cost < least:
            best, least, far = angle, cost, way
    # From the goal line the ball is played inward, so that it does not go out at once.
    if bx > ground.length / 2 - GOAL_LINE_MARGIN and math.cos(best) > -math.cos(MAX_INWARD_ANGLE):
        best = math.copysign(math.pi - MAX_INWARD_ANGLE, -by)
    memory.aim, memory.aim_reach = best, far
    return Aim(best, far, kicks)
