"""Deciding: from what a player believes and what is going on to what it wants its body to do.

    decide_one(records)                                                    # one player; fills its memory and its order
    decide_matches(chosen, players, balls, beliefs, table, games, orders)  # everybody in many matches

One or several go for the ball, the keeper keeps, the others take the places of the formation; in every play mode
everybody keeps where the rules want it. All strategies are this one function with other parameters (`strategies`), so
that thousands of players with different ones are asked in one loop. Nothing here knows anything but beliefs: what the
world truly looks like is not asked.

Metres, seconds, radians, in the frame of the player's own team, which attacks +x; distances "on the league's pitch" are
scaled for others (`GroundRecord.scale`).
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.players.tactics.ball_play import (
    REACH_MARGIN,
    Aim,
    ball_way,
    can_kick,
    goal_direction,
    hold,
    nearest_opponent,
    play_ball,
    play_ball_to,
)
from nutmeg.match.players.tactics.formation import (
    BALL_DISTANCE,
    IS_GOAL_KICK,
    RESTART_MARGIN,
    allowed_place,
    arrival_time,
    ball_after,
    goes_for_ball,
    line_up_place,
    may_go,
    post_place,
    rolling_time,
    room_of,
    takes_kick_off,
)
from nutmeg.match.players.tactics.looking import look
from nutmeg.match.players.tactics.records import GameRecord, Intent, OrderRecord, Phase, PlayerContext
from nutmeg.match.players.tactics.walking import ALL_PLAYERS, at_ease, clip, is_known, length, stand, walk, walk_to
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import GOALS, KICK_OFFS, LIVE, PASSES, PAUSED, PlayMode, side_of
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.random import STRATEGY, uniform
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import beam

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.tactics.records import GroundRecord, MemoryRecord, PlayerRecords
    from nutmeg.match.players.tactics.strategies import Strategy
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.worlds.behavioural.state import Ball, Player

PHASES = np.array(
    [
        Phase.OVER if m is PlayMode.GAME_OVER else Phase.LINE_UP if m in PAUSED else Phase.KICK_OFF if m in KICK_OFFS
        else Phase.PLAY if m in LIVE else Phase.RESTART
        for m in PlayMode
    ]
)  # fmt: skip
"""(modes,) the phase of each play mode."""
_FAVOURED = np.array([-1 if side_of(m) is None else int(side_of(m) or 0) for m in PlayMode])
_IS_GOAL = np.array([m in GOALS for m in PlayMode])
_IS_PASS = np.array([m in PASSES for m in PlayMode])

BEAM_DELAY = 1.0
"""A player is beamed once it has come to rest on its feet: so long after the whistle, s."""
BEAM_DELAY_FALLEN = 2.0
"""One that lies is beamed after this, s."""
BEAM_INTERVAL = 0.8
"""A player that is off its place is beamed again after so long, s."""
BEAM_TOLERANCE = 0.35
"""A player farther from its place than this is off it, m."""
MAX_BALL_AGE = 4.0
"""A ball that nobody has seen for so long is looked for, s."""
SEARCH_TURN = 0.8
"""How fast a player turns that looks for the ball, as a share of a radian a second."""
TOUCH_DISTANCE = 0.3
"""Somebody so near to the ball has probably touched it, m."""
STEP_BACK_TIME = 0.6
"""Who has put the ball into play steps back for so long, s."""
STEP_BACK_SHARE = 0.4
"""At this share of its speed backwards."""
RESTART_BALL_DISTANCE = 0.8
"""Who was so near to the ball when play began has put it into play, m."""
MAX_BARRED_TIME = 5.0
"""A player that has put the ball into play leaves it to others for so long at most, s."""
BALL_CLEARANCE = 0.9
"""On its way to its place a player keeps so far from the ball, m on the league's pitch."""
PASS_MODE_DISTANCE = 1.3
"""Who waits for a pass of opponents keeps so far from the ball: the rules want 1 m."""
POSSESSION_DISTANCE = 0.45
"""An opponent so near to the ball has it, m."""
POSSESSION_LEAD = 0.25
"""If it is nearer to the ball than the player by so much, m."""
POSSESSION_BALL_SPEED = 0.5
"""And if the ball is slower than this, m/s."""
HOME_DISTANCE = 6.0
"""Nearer to the own goal than this an opponent with the ball is attacked at once, m on the league's pitch."""
STAND_OFF_TIME = 4.0
"""Elsewhere a player stands in its way for so long before it attacks, s: who runs into an opponent falls."""
STAND_OFF_INTERVAL = 10.0
"""It stands off again so long after that began, s."""
KEEPER_DISTANCE = 0.9
"""How far before its goal the keeper stands at most, m on the league's pitch."""
KEEPER_RANGE = 3.2
"""Balls so near to the goal line are the keeper's, m on the league's pitch ..."""
KEEPER_RANGE_WIDE = 3.6
"""... if they are so near to the middle, m on the league's pitch ..."""
KEEPER_BALL_SPEED_SHARE = 1.67
"""... and not faster than this share of the keeper's own speed ..."""
KEEPER_HANDICAP = 0.6
"""... and if no opponent is nearer by more than this, m."""
KEEPER_FOLLOW_RANGE = 5.0
"""A ball that the keeper has is its own up to here, m on the league's pitch from the goal line."""
DIVE_BALL_SPEED_SHARE = 1.6
"""Slower balls, as a share of the keeper's own speed, are walked to."""
DIVE_DISTANCE = 0.16
"""A ball that passes nearer is stopped without a dive, m."""
DIVE_PAUSE = 5.0
"""Between dives, s."""
CYCLES_PER_SECOND = 1.0 / BEHAVIOURAL_CYCLE
"""Decisions per second of the behavioural world."""
FIRST_STEP = 0.02
"""What stands for the time since the last decision before the first, s."""
DEGREES = 180.0 / math.pi
STANDS_STILL, WANDERS_ABOUT, PLAYS_SOCCER = 0, 1, 2
"""What a strategy does at all (`Strategy.plays`)."""
WANDER_SEED = np.uint64(977)
"""Key of the places that wanderers go to."""


class Skill(IntEnum):
    """What a player of one's own can have done by the tactics (`players.skills`)."""

    WALK_TO = 0
    PLAY_BALL = 1
    LOOK = 2
    """Where to look; and, as the turn of the order, the direction of the goal from the ball."""


class StrategyTable(NamedTuple):
    """What compiled players of M matches need beside their beliefs."""

    grounds: Records[GroundRecord]
    """(M,)."""
    traits: Records[Records[Strategy]]
    """(M, 2) of the left and the right team."""
    memories: Records[Records[MemoryRecord]]
    """(M, 22)."""
    modes: Ints
    """(M,) play modes."""
    held: Bools
    """(M, 22) players that serve a penalty, and stand."""
    beamed: Bools
    """(M, 22) players that have been beamed by their own order; written."""
    team_size: int
    """Players of a team."""


@unchecked
def decide_one(records: PlayerRecords) -> None:
    """Asks one player, for callers in Python."""
    beliefs, games, grounds, traits, memories, orders = records
    decide_player(PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0]))


@unchecked
def use_skill(records: PlayerRecords, skill: int, x: float, y: float, face: float) -> None:
    """Lets one player use a `Skill`, for callers in Python, who fill in the game's record.

    Args:
        records: of the player.
        skill: which.
        x: of the place to walk to, m; or the direction in which to play the ball, rad.
        y: of the place to walk to, m; or the strength of the kick, 0..1.
        face: where to look at the place, rad; NaN for anywhere.
    """
    beliefs, games, grounds, traits, memories, orders = records
    player = PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0])
    if skill == Skill.WALK_TO:
        walk_to(player, x, y, face, at_ease(player, 0.0))
    elif skill == Skill.PLAY_BALL:
        aim = Aim(x, y * player.ground.body.kick.reach - REACH_MARGIN, can_kick(player))
        if not hold(player):
            play_ball_to(player, aim)
    else:
        look(player)
        player.order.turn = goal_direction(player)


@unchecked
def decide_matches(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    beliefs: Records[Records[BeliefRecord]],
    table: StrategyTable,
    games: Records[GameRecord],
    orders: Records[OrderRecord],
) -> None:
    """Asks everybody in the matches `chosen` (K,), and writes what they want into the records of players (M, 22).

    `games` (1,) and `orders` (1,) are room to work in, which no other thread may use at the same time. They belong to
    the caller because a record does not keep its array alive (`base.records`): arrays made here would be freed at once.
    """
    game, order = games[0], orders[0]
    for m in chosen:
        game.time, game.mode, game.players = balls[m].cycle / CYCLES_PER_SECOND, table.modes[m], table.team_size
        for i in range(SLOTS):
            player, team = players[m][i], i // MAX_PLAYERS
            if not player.present:
                continue
            game.side, game.number = team, i % MAX_PLAYERS + 1
            game.kicking = player.posture == Posture.KICKING
            context = PlayerContext(
                beliefs[m][i], game, table.grounds[m], table.traits[m][team], table.memories[m][i], order
            )
            decide_player(context)
            table.beamed[m, i] = order.beams and game.phase == Phase.LINE_UP
            if table.beamed[m, i]:
                beam(player, order.beam_x, order.beam_y, order.beam_heading * DEGREES)
            _command(player, order, table.held[m, i])


@inlined
def _command(player: Player, order: OrderRecord, held: bool) -> None:
    """Passes an order on to the world, as `players.behavioural.order_from` does."""
    legs = order.legs
    if player.posture == Posture.LYING:
        legs = Legs.GET_UP.value
    if held:
        legs = Legs.STAND.value
    player.legs, player.look_yaw, player.look_pitch = legs, order.yaw, order.pitch
    if legs == Legs.WALK:
        player.wish_ahead, player.wish_left, player.wish_turn = order.ahead, order.left, order.turn
    elif legs == Legs.KICK:
        player.order_kick, player.order_strength = order.kick, order.strength


@unchecked
def decide_player(player: PlayerContext) -> None:
    """Fills a player's order, and notes in its memory what it will want to know next time."""
    order = player.order
    order.legs, order.kick, order.gait, order.intent = Legs.STAND, 0, 0, Intent.STAND
    order.beams, order.wants_pass = False, False
    order.ahead, order.left, order.turn, order.strength = 0.0, 0.0, 0.0, 0.0
    order.ball_ahead, order.ball_left = 0.0, 0.0
    order.yaw, order.pitch, order.beam_x, order.beam_y, order.beam_heading = 0.0, 0.0, 0.0, 0.0, 0.0
    _note_mode(player)
    _choose_legs(player)
    look(player)


@inlined
def _note_mode(player: PlayerContext) -> None:
    """Works out what kind of play is going on, and remembers the play mode."""
    game, memory = player.game, player.memory
    game.step = game.time - memory.time if memory.time > -math.inf else FIRST_STEP
    memory.time = game.time
    if memory.first_side == 0:
        memory.first_side = game.side + 1
    if game.mode != memory.mode:
        memory.mode_before, memory.mode, memory.since = memory.mode, game.mode, game.time
    game.phase, game.mode_age = int(PHASES[game.mode]), game.time - memory.since
    favoured = _FAVOURED[game.mode]
    game.favour = 0 if favoured < 0 else 1 if favoured == game.side else -1
    if game.phase != Phase.LINE_UP:
        memory.started = True


@inlined
def _choose_legs(player: PlayerContext) -> None:
    """What the legs are to do."""
    belief, game, traits, memory, order = player.belief, player.game, player.traits, player.memory, player.order
    if game.phase == Phase.LINE_UP:
        line_up(player)
        return
    if game.phase == Phase.OVER:
        memory.goes = False
        stand(player, Intent.STAND)
        return
    if not belief.upright:
        memory.goes, memory.dribbling, memory.arrival, memory.stopped_at = False, False, math.inf, math.nan
        stand(player, Intent.GET_UP)
        order.legs = Legs.GET_UP
        return
    if traits.plays < PLAYS_SOCCER:
        if traits.plays == WANDERS_ABOUT:
            wander(player)
        return
    _note_restart(player)
    barred = memory.barred > -math.inf
    able = min(belief.seen_ago, belief.told_ago) < MAX_BALL_AGE and not barred
    aim = memory.aim if memory.aim == memory.aim else goal_direction(player)
    memory.arrival = arrival_time(player, aim) if able else math.inf
    if barred and game.time - memory.barred < STEP_BACK_TIME and ball_way(player) < RESTART_BALL_DISTANCE:
        memory.goes, memory.dribbling = False, False
        walk(player, -STEP_BACK_SHARE * player.ground.body.ask[1], 0.0, 0.0)
        order.intent = Intent.LEAVE_THE_BALL
        return
    if traits.keeper and game.number == 1 and game.players > 1:
        _keep_goal(player, able)
        return
    memory.goes = able and goes(player)
    if game.kicking:
        stand(player, Intent.KICK)
    else:
        _play_in_field(player)


@inlined
def _play_in_field(player: PlayerContext) -> None:
    """What a field player does who has found out whether it goes for the ball."""
    game, traits, memory, order = player.game, player.traits, player.memory, player.order
    if memory.goes and _IS_PASS[game.mode] and game.favour < 0:
        press(player, PASS_MODE_DISTANCE)
        return
    if memory.goes and traits.stands_off and stands_off(player):
        press(player, BALL_DISTANCE * player.ground.scale)
        order.intent = Intent.STAND_IN_THE_WAY
        return
    if memory.goes and may_go(player):
        play_ball(player)
        return
    memory.dribbling = False
    if memory.goes and traits.posts:
        press(player, player.ground.restart_distance + RESTART_MARGIN * player.ground.scale)
        return
    _hold_post(player)


@inlined
def goes(player: PlayerContext) -> bool:
    """Whether to go for the ball: the appointed one at an own kick-off, else who is there first."""
    if player.game.phase == Phase.KICK_OFF and player.game.favour > 0 and player.traits.chasers == 1:
        return takes_kick_off(player)
    return goes_for_ball(player)


@inlined
def _note_restart(player: PlayerContext) -> None:
    """Keeps in mind whether the player has put the ball into play and must leave it to somebody else first."""
    belief, game, memory = player.belief, player.game, player.memory
    before = memory.mode_before
    if game.phase != Phase.PLAY:
        memory.barred = -math.inf
    elif memory.barred > -math.inf:
        since = game.time - memory.barred
        if since > MAX_BARRED_TIME:
            memory.barred = -math.inf
        elif since > 0.3:
            for k in range(ALL_PLAYERS):
                other = belief.others[k]
                away = length(other.x - belief.ball_x, other.y - belief.ball_y)
                if away < TOUCH_DISTANCE and is_known(belief, k, game.number - 1):
                    memory.barred = -math.inf
    elif game.mode_age < 0.01 and before >= 0 and _FAVOURED[before] == game.side:
        restart = PHASES[before] == Phase.RESTART or PHASES[before] == Phase.KICK_OFF
        near = ball_way(player) < RESTART_BALL_DISTANCE
        if restart and memory.goes and near and game.players > 1 and player.ground.one_touch:
            memory.barred = game.time


# ---- before a kick-off


@inlined
def _has_kick_off(game: GameRecord, memory: MemoryRecord) -> bool:
    """Whether the own team has the next kick-off: after goals who conceded, else who began on the left, first."""
    if _IS_GOAL[game.mode]:
        return bool(game.favour < 0)
    return bool((memory.first_side == 1) != memory.started)


@inlined
def line_up(player: PlayerContext) -> None:
    """Takes the place for the next kick-off."""
    belief, game, traits, memory, order = player.belief, player.game, player.traits, player.memory, player.order
    memory.goes, memory.barred, memory.dribbling, memory.standing = False, -math.inf, False, False
    memory.arrival, memory.stopped_at = math.inf, math.nan
    stand(player, Intent.LINE_UP)
    takes = _has_kick_off(game, memory)
    x, y, heading = line_up_place(player.ground, game.number, game.players, takes, traits.kick_off_aim)
    if game.number == 1 and game.players > 1 and not traits.keeper:
        x, heading = -0.3 * player.ground.length, 0.0
    off = length(x - belief.x, y - belief.y) > BEAM_TOLERANCE + belief.spread
    off = off or abs(wrap_angle(heading - belief.heading)) > 0.5
    settled = game.mode_age > (BEAM_DELAY if belief.upright else BEAM_DELAY_FALLEN)
    if settled and off and game.time - memory.beamed > BEAM_INTERVAL:
        memory.beamed, order.beams = game.time, True
        order.beam_x, order.beam_y, order.beam_heading = x, y, heading


# ---- players who do not play the ball


@inlined
def wander(player: PlayerContext) -> None:
    """Goes to one place after the other, whatever the ball does."""
    game, ground = player.game, player.ground
    leg = int(game.time / 5.0)
    slot = game.number - 1 + MAX_PLAYERS * game.side
    x = ground.length * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 0) - 0.45)
    y = ground.width * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 1) - 0.45)
    walk_to(player, x, y, math.nan, at_ease(player, 0.0))
    player.order.intent = Intent.WANDER


@unchecked
def press(player: PlayerContext, off: float) -> None:
    """Waits between the ball and the own goal, `off` from the ball, as near as the rules allow."""
    belief, ground, room = player.belief, player.ground, room_of(player)
    dx, dy = -ground.length / 2 - room.ball_x, -room.ball_y
    way = max(length(dx, dy), 1e-6)
    x, y = allowed_place(ground, room, room.ball_x + off * dx / way, room.ball_y + off * dy / way)
    walk_to(player, x, y, math.atan2(room.ball_y - belief.y, room.ball_x - belief.x), at_ease(player, 0.0))
    player.order.intent = Intent.WAIT


@inlined
def stands_off(player: PlayerContext) -> bool:
    """Whether to stand in the way of an opponent who has the ball, rather than to run into it: who does so falls."""
    belief, game, memory, ground = player.belief, player.game, player.memory, player.ground
    if length(belief.ball_vx, belief.ball_vy) > POSSESSION_BALL_SPEED:
        memory.left_since = -math.inf
        return False
    stopped = memory.stopped_at == memory.stopped_at
    home = length(belief.ball_x + ground.length / 2, belief.ball_y) < HOME_DISTANCE * ground.scale
    if game.phase != Phase.PLAY or stopped or home:
        return False
    nearest = nearest_opponent(player)
    if nearest > POSSESSION_DISTANCE or nearest + POSSESSION_LEAD > ball_way(player):
        return False
    if game.time - memory.left_since > STAND_OFF_INTERVAL:
        memory.left_since = game.time
    return bool(game.time - memory.left_since < STAND_OFF_TIME)


@unchecked
def _hold_post(player: PlayerContext) -> None:
    """Goes to the own place in the formation, or stays where the rules allow it if the strategy knows no posts."""
    belief, game, ground, traits = player.belief, player.game, player.ground, player.traits
    memory, order = player.memory, player.order
    if traits.posts:
        ball_x, ball_y = ball_after(player, 1.0)
        x, y = post_place(player, ball_x, ball_y)
    else:
        x, y = allowed_place(ground, room_of(player), belief.x, belief.y)
    lost = min(belief.seen_ago, belief.told_ago) > MAX_BALL_AGE
    face = math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x)
    if game.phase == Phase.KICK_OFF:
        face = math.atan2(-belief.y, -belief.x)
    elif lost:
        face = math.nan
    clearance = BALL_CLEARANCE * ground.scale if traits.avoids else 0.0
    turn = memory.turn
    walk_to(player, x, y, face, at_ease(player, clearance))
    order.intent = Intent.HOLD_POST
    if lost and order.legs == Legs.STAND:
        memory.turn = turn  # standing has set it to 0, from where a turn would begin anew in every decision
        walk(player, 0.0, 0.0, SEARCH_TURN)
        order.intent = Intent.SEARCH


# ---- the goalkeeper: between ball and goal, out for near slow balls, down for near fast ones


@unchecked
def _keep_goal(player: PlayerContext, able: bool) -> None:
    """What the keeper does; `able` says whether it may and can go for the ball."""
    belief, memory, order = player.belief, player.memory, player.order
    memory.goes = able and may_go(player) and _is_keepers(player)
    if not memory.goes:
        memory.arrival = math.inf  # so that others go
    if player.game.phase == Phase.PLAY and player.game.favour == 0 and player.traits.dives and dive(player):
        return
    if player.game.kicking:
        stand(player, Intent.KICK)
        return
    if memory.goes:
        play_ball(player)
        return
    memory.dribbling = False
    x, y = _guarding_place(player)
    walk_to(player, x, y, math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x), at_ease(player, 0.0))
    order.intent = Intent.KEEP_GOAL


@inlined
def _is_keepers(player: PlayerContext) -> bool:
    """Whether the ball is the keeper's to play."""
    belief, game, ground, memory, scale = player.belief, player.game, player.ground, player.memory, player.ground.scale
    from_line, way = belief.ball_x + ground.length / 2, ball_way(player)
    if IS_GOAL_KICK[game.mode]:
        return bool(game.favour > 0)
    if memory.goes and way < 0.6 and from_line < KEEPER_FOLLOW_RANGE * scale:
        return True
    alone = True
    for k in range(1, game.players):
        alone = alone and not is_known(belief, k, 0)
    if game.phase != Phase.PLAY:
        return alone and game.favour > 0
    first = way < nearest_opponent(player) + KEEPER_HANDICAP
    if alone:
        return bool(from_line < KEEPER_RANGE * scale or (first and belief.ball_x < 0.0))
    more = 0.4 if memory.goes else 0.0  # who goes already goes on a little farther
    if from_line > KEEPER_RANGE * scale + more or abs(belief.ball_y) > KEEPER_RANGE_WIDE * scale + more:
        return False
    if length(belief.ball_vx, belief.ball_vy) > KEEPER_BALL_SPEED_SHARE * ground.body.run:
        return False
    return bool(way < nearest_opponent(player) + KEEPER_HANDICAP + more)


@inlined
def _guarding_place(player: PlayerContext) -> tuple[float, float]:
    """The place between ball and goal: on the line to the middle of the goal, farther out for a far ball."""
    belief, ground, line = player.belief, player.ground, -player.ground.length / 2
    known = min(belief.seen_ago, belief.told_ago) < MAX_BALL_AGE
    bx, by = (belief.ball_x, belief.ball_y) if known else (0.0, 0.0)
    dx, dy = max(bx - line, 0.05), by
    way = length(dx, dy)
    out = clip(0.35 * way, 0.35 * ground.scale, KEEPER_DISTANCE * ground.scale)
    most = ground.goal_width / 2 - 0.15
    # a little more to the side than on the line: the keeper reaches farther to the middle than to the post
    return max(line + out * dx / way, line + 0.3 * ground.scale), clip(1.15 * out * dy / way, -most, most)


@inlined
def dive(player: PlayerContext) -> bool:
    """Orders a dive if a ball is about to pass that only a dive can reach; whether it does."""
    belief, game, ground, order = player.belief, player.game, player.ground, player.order
    vx, speed = belief.ball_vx, length(belief.ball_vx, belief.ball_vy)
    slow = speed < DIVE_BALL_SPEED_SHARE * ground.body.run
    paused = game.time - player.memory.dived < DIVE_PAUSE
    if vx > -0.3 or slow or paused or belief.seen_ago > 0.35 or belief.ball_x < belief.x:
        return False
    # Only for balls that roll as far as the goal line, and into the goal.
    to_line, slope = belief.ball_x + ground.length / 2, belief.ball_vy / -vx
    at_line = belief.ball_y + slope * to_line
    if rolling_time(player, to_line * speed / -vx, speed) == math.inf or abs(at_line) > ground.goal_width / 2 + 0.1:
        return False
    to_keeper = belief.ball_x - belief.x
    soon, off = rolling_time(player, to_keeper * speed / -vx, speed), belief.ball_y + slope * to_keeper - belief.y
    if soon > ground.body.dive_time or not DIVE_DISTANCE < abs(off) < ground.body.dive_reach:
        return False
    if math.cos(belief.heading) < 0.3:  # who does not look ahead would dive the wrong way
        return False
    player.memory.dived = game.time
    stand(player, Intent.DIVE)
    order.legs = Legs.DIVE_LEFT if off > 0.0 else Legs.DIVE_RIGHT
    return True
