"""A compiled player: from what it believes to what it wants.

    decide_one(belief, game, ground, traits, memory, order)         # one player; fills memory and order
    decide_matches(chosen, players, balls, beliefs, table)          # everybody in many matches

All strategies are this one function with other traits (`strategies`), so that thousands of players with different ones
are asked in one loop. It plays as the built-in team does, with less finesse: one or several go for the ball, circle it
until they are behind it as seen from their aim, and kick or walk through it; the others hold posts that follow the
ball; the keeper stays between ball and goal. How a player moves and plays the ball is in `ball_play`.

Metres, seconds, radians, in the frame of the player's own team, which attacks +x.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.base.records import record_of
from nutmeg.match.players.strategies.ball_play import (
    ALL_PLAYERS,
    length,
    look,
    play_ball,
    stand,
    walk_to,
)
from nutmeg.match.players.strategies.records import GameRecord, Intent, OrderRecord, PlayerContext
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import KICK_OFFS, LIVE, PAUSED, PlayMode, side_of
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.random import STRATEGY, uniform
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import beam

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.players.strategies.records import GroundRecord, MemoryRecord
    from nutmeg.match.players.strategies.strategies import Strategy
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.worlds.behavioural.state import Ball, Player

PAUSE, KICK_OFF, RESTART, LIVE_PLAY, OVER = 0, 1, 2, 3, 4
"""Kinds of play."""
_PHASES = np.array(
    [
        OVER if m is PlayMode.GAME_OVER else PAUSE if m in PAUSED else KICK_OFF if m in KICK_OFFS
        else LIVE_PLAY if m in LIVE else RESTART
        for m in PlayMode
    ]
)  # fmt: skip
_PAUSES = np.array([m in PAUSED for m in PlayMode])
_FAVOURED = np.array([-1 if side_of(m) is None else int(side_of(m) or 0) for m in PlayMode])
MAX_MATE_AGE = 8.0
"""Team-mates not known of for so long do not count."""
LOST_BALL_AGE = 3.0
"""A ball not known of for so long is looked for."""
CHASER_BONUS = 0.35
"""A player that goes for the ball already counts as so much nearer, so that two players do not alternate, m."""
WRONG_SIDE_COST = 0.25
"""What each radian on the wrong side of the ball counts for, m."""
BEAM_INTERVAL = 1.0
"""Time between two beams of a player."""
BEAM_DISTANCE = 0.3
"""A player off its place by so much is beamed."""
FIRST_BEAM_DELAY = 0.3
"""Time from the beginning of a pause to the first beam."""
STEP_BACK_TIME = 0.6
"""A player that has put the ball into play steps back for so long."""
MAX_BARRED_TIME = 5.0
"""A player that has put the ball into play leaves it to others for so long at most."""
POST_X = np.array([-0.16, 0.22, -0.42, -0.05, 0.12, -0.5, -0.5, -0.25, 0.4])
"""Posts around the ball: ahead of it, as shares of the pitch's length."""
POST_Y = np.array([0.08, -0.2, 0.0, -0.35, 0.3, 0.28, -0.28, 0.15, 0.0])
"""Posts around the ball: towards the middle, as shares of the pitch's width."""
LINE_X = np.array([-0.48, -0.11, -0.11, -0.24, -0.14, -0.24, -0.12, -0.12, -0.34, -0.34, -0.2])
"""Places before a kick-off by number, as shares of the pitch's length."""
LINE_Y = np.array([0.0, 0.0, 0.2, -0.14, -0.3, 0.3, 0.4, -0.4, 0.2, -0.2, 0.0])
"""Places before a kick-off by number, as shares of the pitch's width."""
KICK_OFF_BEHIND = 0.3
"""How far behind the ball the player that takes a kick-off begins."""
KEEPER_RANGE_SHARE = 0.22
"""The keeper plays balls within this share of the pitch's length of its goal line ..."""
KEEPER_BALL_SPEED = 0.4
"""... that are slower than this."""
MAX_DIVE_TIME = 1.2
"""A dive is begun for a ball that passes within this time."""
DIVE_INTERVAL = 6.0
"""Time from one dive to the next."""
MIN_DIVE_DISTANCE = 0.12
"""A ball that passes nearer is stopped without a dive."""
CYCLES_PER_SECOND = 10.0
"""Decision cycles per second of the behavioural world."""
DEGREES = 180.0 / math.pi
GAME, ORDER = record_of(GameRecord), record_of(OrderRecord)
WANDER_SEED = np.uint64(977)
"""Key of the places that wanderers go to."""


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
def decide_one(
    beliefs: Records[BeliefRecord],
    games: Records[GameRecord],
    grounds: Records[GroundRecord],
    traits: Records[Strategy],
    memories: Records[MemoryRecord],
    orders: Records[OrderRecord],
) -> None:
    """Asks one player, for callers in Python; all arrays have one record."""
    decide_player(PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0]))


@unchecked
def decide_matches(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    beliefs: Records[Records[BeliefRecord]],
    table: StrategyTable,
) -> None:
    """Asks everybody in the matches `chosen` (K,), and writes what they want into the records of players (M, 22)."""
    games: Records[GameRecord] = np.zeros(1, GAME)  # type: ignore[assignment]
    orders: Records[OrderRecord] = np.zeros(1, ORDER)  # type: ignore[assignment]
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
            table.beamed[m, i] = order.beams and _PAUSES[game.mode]
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


@inlined
def decide_player(player: PlayerContext) -> None:
    """Fills a player's order."""
    belief, game, traits, memory, order = player.belief, player.game, player.traits, player.memory, player.order
    order.legs, order.kick, order.intent, order.beams = Legs.STAND, 0, Intent.STAND, False
    order.ahead, order.left, order.turn, order.strength = 0.0, 0.0, 0.0, 0.0
    order.yaw, order.pitch, order.beam_x, order.beam_y, order.beam_heading = 0.0, 0.0, 0.0, 0.0, 0.0
    phase = note_mode(game, memory)
    look(player)
    if not belief.upright:
        order.legs, order.intent = Legs.GET_UP, Intent.GET_UP
        return
    if phase == PAUSE:
        line_up(player)
        return
    if phase == OVER or traits.plays == 0 or game.kicking:
        stand(player, Intent.KICK if game.kicking else Intent.STAND)
        return
    if traits.plays == 1:
        wander(player)
        return
    ours = _FAVOURED[game.mode] == game.side
    theirs = _FAVOURED[game.mode] == 1 - game.side and phase != LIVE_PLAY
    if traits.keeper and game.number == 1 and game.players > 1:
        keep_goal(player, phase, theirs)
        return
    age = min(belief.seen_ago, belief.told_ago)
    memory.chases = age < LOST_BALL_AGE and is_chaser(player)
    if is_barred(player):
        memory.chases = False
        if game.time - memory.barred < STEP_BACK_TIME:
            order.legs, order.ahead, order.intent = Legs.WALK, -0.15, Intent.LEAVE_THE_BALL
            return
    if memory.chases and not theirs:
        play_ball(player, phase != LIVE_PLAY and ours)
        return
    hold_post(player, phase, theirs)


@inlined
def note_mode(game: GameRecord, memory: MemoryRecord) -> int:
    """Remembers the play mode; returns the kind of play."""
    mode, side = game.mode, game.side
    if memory.first_side == 0:
        memory.first_side = side + 1
    before = memory.mode
    if mode != before:
        phase = int(_PHASES[mode])
        if phase == LIVE_PLAY and before >= 0 and _FAVOURED[before] == side:
            # Who went for the ball at a restart of the own team has just taken it.
            if memory.chases and _PHASES[before] in (KICK_OFF, RESTART):
                memory.barred = game.time
        elif phase != LIVE_PLAY:
            memory.barred = -math.inf
        if phase != PAUSE:
            memory.started = True
        memory.mode, memory.since = mode, game.time
    return int(_PHASES[mode])


@inlined
def is_barred(player: PlayerContext) -> bool:
    """Whether the player has just put the ball into play and must leave it to somebody else."""
    belief, game, memory = player.belief, player.game, player.memory
    since = game.time - memory.barred
    if not player.ground.one_touch or game.players < 2 or since > MAX_BARRED_TIME:
        return False
    if since > STEP_BACK_TIME:
        for k in range(ALL_PLAYERS):
            other = belief.others[k]
            if k == game.number - 1:
                continue
            if other.age < 1.0 and length(other.x - belief.ball_x, other.y - belief.ball_y) < 0.3:
                memory.barred = -math.inf
                return False
    return True


@inlined
def is_chaser(player: PlayerContext) -> bool:
    """Whether the player is one of those who go for the ball: as many as the strategy wants, the nearest first."""
    belief, traits, own = player.belief, player.traits, player.game.number - 1
    bx, by = belief.ball_x, belief.ball_y
    dx, dy = bx - belief.x, by - belief.y
    mine = length(dx, dy) - (CHASER_BONUS if player.memory.chases else 0.0)
    if traits.aims > 0:
        mine += WRONG_SIDE_COST * abs(math.atan2(dy, dx))
    nearer = 0
    for i in range(player.game.players):
        mate = belief.others[i]
        if i == own or (i == 0 and traits.keeper) or not mate.age < MAX_MATE_AGE or mate.lies:
            continue
        dx, dy = bx - mate.x, by - mate.y
        way = length(dx, dy)
        if traits.aims > 0:
            way += WRONG_SIDE_COST * abs(math.atan2(dy, dx))
        if way < mine or (way == mine and i < own):
            nearer += 1
    return bool(nearer < traits.chasers)


@inlined
def has_kick_off(game: GameRecord, memory: MemoryRecord) -> bool:
    """Whether the own team has the next kick-off: after goals who conceded, else who began on the left, first."""
    if game.mode in (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT):
        return bool(_FAVOURED[game.mode] != game.side)
    return bool((memory.first_side == 1) != memory.started)


@inlined
def line_up(player: PlayerContext) -> None:
    """Takes the place for the next kick-off."""
    belief, game, ground, memory, order = player.belief, player.game, player.ground, player.memory, player.order
    stand(player, Intent.LINE_UP)
    memory.chases, memory.barred = False, -math.inf
    number, players = game.number, game.players
    x, y = LINE_X[number - 1] * ground.length, LINE_Y[number - 1] * ground.width
    heading = 0.0
    taker = 2 if players > 1 else 1
    if number == taker and has_kick_off(game, memory):
        x, y = -KICK_OFF_BEHIND, 0.0
    else:
        if number == 1 and (not player.traits.keeper or players == 1):
            x = -0.3 * ground.length
        room = ground.circle + 0.2  # the rules keep the circle free
        if length(x, y) < room:
            x = -math.sqrt(max(room * room - y * y, 0.04))
        heading = math.atan2(-y, -x)
    off = length(x - belief.x, y - belief.y) > BEAM_DISTANCE + belief.spread
    turned = abs(wrap_angle(heading - belief.heading)) > 0.5
    if (off or turned) and game.time - memory.since > FIRST_BEAM_DELAY and game.time - memory.beamed > BEAM_INTERVAL:
        memory.beamed, order.beams = game.time, True
        order.beam_x, order.beam_y, order.beam_heading = x, y, heading


@inlined
def wander(player: PlayerContext) -> None:
    """Goes to one place after the other, whatever the ball does."""
    game, ground = player.game, player.ground
    leg = int(game.time / 5.0)
    slot = game.number - 1 + MAX_PLAYERS * game.side
    x = ground.length * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 0) - 0.45)
    y = ground.width * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 1) - 0.45)
    walk_to(player, x, y, math.nan, 0.0, avoids=False, pace=1.0)
    player.order.intent = Intent.WANDER


@inlined
def hold_post(player: PlayerContext, phase: int, theirs: bool) -> None:
    """Takes a place around the ball, or stays where it is if the strategy knows no posts."""
    belief, ground, traits, order = player.belief, player.ground, player.traits, player.order
    age = min(belief.seen_ago, belief.told_ago)
    if age > LOST_BALL_AGE and (not traits.posts or age > 2 * LOST_BALL_AGE):
        order.legs, order.turn, order.intent = Legs.WALK, 0.5, Intent.SEARCH
        return
    bx, by = belief.ball_x, belief.ball_y
    if phase == KICK_OFF:
        bx, by = 0.0, 0.0
    face = math.atan2(by - belief.y, bx - belief.x)
    if not traits.posts:
        x, y = belief.x, belief.y
    else:
        rank = post_rank(player)
        inward = -1.0 if by >= 0.0 else 1.0
        x = 0.85 * bx + POST_X[rank] * ground.length
        y = 0.7 * by + inward * POST_Y[rank] * ground.width
    x, y = allowed_place(ground, x, y, bx, by, phase == KICK_OFF, theirs)
    walk_to(player, x, y, face, 0.15, traits.avoids, 0.8)
    order.intent = Intent.WAIT if theirs and player.memory.chases else Intent.HOLD_POST


@inlined
def post_rank(player: PlayerContext) -> int:
    """Which post is the own one: in the order of numbers, without the keeper and the player nearest to the ball."""
    belief, game = player.belief, player.game
    own, best, chaser = game.number - 1, math.inf, -1
    first = 1 if player.traits.keeper else 0
    for i in range(first, game.players):
        mate = belief.others[i]
        if i != own and mate.age < MAX_MATE_AGE:
            way = length(mate.x - belief.ball_x, mate.y - belief.ball_y)
            if way < best:
                best, chaser = way, i
    if player.memory.chases:
        chaser = own
    rank = 0
    for i in range(first, own):
        if i != chaser and belief.others[i].age < MAX_MATE_AGE:
            rank += 1
    return min(rank, len(POST_X) - 1)


@inlined
def allowed_place(
    ground: GroundRecord, x: float, y: float, bx: float, by: float, kick_off: bool, theirs: bool
) -> tuple[float, float]:
    """The nearest place, more or less, where a player may stand that does not go for the ball at (bx, by)."""
    end, side = ground.length / 2 - 0.25, ground.width / 2 - 0.2
    # The rules want a distance from the ball at restarts of the opponents; else do not crowd the own chaser.
    away = ground.restart_distance + 0.2 if theirs else 0.5
    dx, dy = x - bx, y - by
    way = length(dx, dy)
    if way < away:
        if way < 1e-6:
            dx, dy, way = -1.0, 0.0, 1.0
        x, y = bx + away * dx / way, by + away * dy / way
    x, y = min(max(x, -end), end), min(max(y, -side), side)
    # Out of both penalty areas, where field players may be illegal defenders or attackers.
    edge, half = ground.length / 2 - ground.penalty_depth - 0.15, ground.penalty_width / 2 + 0.15
    if abs(y) < half and abs(x) > edge:
        x = math.copysign(edge, x)
    if kick_off and x > -0.25:
        x = -0.25
    if kick_off and theirs and length(x, y) < ground.circle + 0.2:
        x = -math.sqrt(max((ground.circle + 0.2) ** 2 - y * y, 0.0625))
    return x, y


@inlined
def keep_goal(player: PlayerContext, phase: int, theirs: bool) -> None:
    """Stays between ball and goal, goes for near slow balls, and dives for fast ones if the strategy does."""
    belief, ground, memory = player.belief, player.ground, player.memory
    line = -ground.length / 2
    bx, by = belief.ball_x, belief.ball_y
    age = min(belief.seen_ago, belief.told_ago)
    if phase == LIVE_PLAY and player.traits.dives and dive(player):
        return
    speed = length(belief.ball_vx, belief.ball_vy)
    near = bx < line + KEEPER_RANGE_SHARE * ground.length * (1.2 if memory.chases else 1.0)
    near = near and abs(by) < ground.penalty_width / 2 + 0.3
    barred = is_barred(player)
    memory.chases = near and age < 1.5 and speed < KEEPER_BALL_SPEED and not theirs and not barred
    if memory.chases:
        play_ball(player, phase != LIVE_PLAY)
        return
    if age > LOST_BALL_AGE:
        bx, by = 0.0, 0.0
    # On the line from the middle of the goal to the ball, farther out for a far ball, but not beside the goal.
    dx, dy = max(bx - line, 0.05), by
    way = length(dx, dy)
    out = min(max(0.15 * way, 0.15), 0.5)
    most = ground.goal_width / 2 - 0.1
    x, y = max(line + out * dx / way, line + 0.15), min(max(1.3 * out * dy / way, -most), most)
    face = math.atan2(by - belief.y, bx - belief.x)
    walk_to(player, x, y, face, 0.08, avoids=False, pace=1.0)
    player.order.intent = Intent.KEEP_GOAL


@inlined
def dive(player: PlayerContext) -> bool:
    """Orders a dive if a ball is about to pass that only a dive can reach; whether it does."""
    belief, game, ground, order = player.belief, player.game, player.ground, player.order
    line, vx, speed = -ground.length / 2, belief.ball_vx, length(belief.ball_vx, belief.ball_vy)
    recent = game.time - player.memory.dived < DIVE_INTERVAL
    if vx > -0.3 or belief.seen_ago > 0.35 or recent or belief.ball_x < belief.x:
        return False
    # Only for balls that roll as far as the goal line, and into the goal.
    reach = math.inf
    if ground.ball_deceleration > 0.0:
        reach = speed * speed / (2.0 * ground.ball_deceleration)
    if ground.ball_damping > 0.0:
        reach = min(reach, speed / ground.ball_damping)
    at_line = belief.ball_y + belief.ball_vy * (belief.ball_x - line) / -vx
    if (belief.ball_x - line) * speed / -vx > reach or abs(at_line) > ground.goal_width / 2 + 0.1:
        return False
    soon = (belief.ball_x - belief.x) / -vx
    off = belief.ball_y + belief.ball_vy * soon - belief.y
    if soon > MAX_DIVE_TIME or not MIN_DIVE_DISTANCE < abs(off) < ground.dive_reach or math.cos(belief.heading) < 0.3:
        return False
    player.memory.dived = game.time
    order.legs, order.intent = (Legs.DIVE_LEFT if off > 0.0 else Legs.DIVE_RIGHT), Intent.DIVE
    return True
