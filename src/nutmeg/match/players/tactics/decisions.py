"""How a player decides: from its belief and the state of the game to an order for its body.

    decide_one(records)                                                    # one player; fills its memory and its order
    decide_matches(chosen, players, balls, beliefs, table, games, orders, 0)   # all players of many matches

As many players as the strategy wants go for the ball, the keeper guards the goal, and the others take their posts of
the formation; in every play mode all of them stay where the rules allow. All strategies are this one function with
different parameters (`strategies`), so that one loop decides for thousands of players. The tactics use beliefs only,
never the true state of the world. Functions of users run in the same loop (`own_tactics`).

Units are metres, seconds and radians, in the frame of the player's own team, which attacks +x. Distances "on the
league's pitch" are multiplied by `GroundRecord.scale` on other pitches.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import closure, inlined, unchecked
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
    play_penalty,
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
    from collections.abc import Callable

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
"""Time between the whistle and the first beam of an upright player, s; it has come to rest by then."""
BEAM_DELAY_FALLEN = 2.6
"""Time between the whistle and the first beam of a fallen player, s. Most players are up again by then, and who is
beamed in the middle of getting up falls again. The league grants 3 s."""
BEAM_INTERVAL = 0.8
"""Least time between two beams of a player, s."""
BEAM_TOLERANCE = 0.35
"""A player farther than this from its line-up place asks to be beamed, m; its uncertainty is added."""
MAX_BALL_AGE = 4.0
"""A ball that was neither seen nor heard of for this time counts as lost, s."""
SEARCH_TURN = 0.8
"""Turn rate of a player that looks for the ball, rad/s."""
TOUCH_DISTANCE = 0.3
"""A player within this distance of the ball is assumed to have touched it, m."""
STEP_BACK_TIME = 0.6
"""How long a player steps back after it has taken a restart, s."""
STEP_BACK_SHARE = 0.4
"""Speed of stepping back, as a share of the player's speed backwards."""
RESTART_BALL_DISTANCE = 0.8
"""A player that went for the ball and was within this distance when play began has taken the restart, m."""
MAX_BARRED_TIME = 5.0
"""Longest time for which a player that has taken a restart leaves the ball to others, s."""
BALL_CLEARANCE = 0.9
"""Distance that a player keeps from the ball on the way to its post, m on the league's pitch."""
PASS_MODE_DISTANCE = 1.3
"""Distance that a player keeps from the ball during the opponents' pass mode, m; the rules demand 1 m."""
POSSESSION_DISTANCE = 0.45
"""An opponent is in possession of the ball only within this distance of it, m."""
POSSESSION_LEAD = 0.25
"""An opponent is in possession of the ball only if it is nearer to it than the player by this, m."""
POSSESSION_BALL_SPEED = 0.5
"""An opponent is in possession of the ball only while the ball is slower than this, m/s."""
HOME_DISTANCE = 6.0
"""Nearer to the own goal than this, an opponent in possession is attacked at once, m on the league's pitch."""
STAND_OFF_TIME = 4.0
"""How long a player stands in the way of an opponent in possession before it attacks, s. Robots that run into each
other fall."""
STAND_OFF_INTERVAL = 10.0
"""Least time between the beginnings of two such waits, s."""
KEEPER_DISTANCE = 0.9
"""Largest distance of the waiting keeper from its goal, m on the league's pitch."""
KEEPER_RANGE = 3.2
"""The keeper goes for a ball only within this distance of the goal line, m on the league's pitch."""
KEEPER_RANGE_WIDE = 3.6
"""The keeper goes for a ball only within this distance of the pitch's long axis, m on the league's pitch."""
KEEPER_BALL_SPEED_SHARE = 1.67
"""The keeper goes for a ball only if it is slower than this share of the keeper's own speed."""
KEEPER_HANDICAP = 0.6
"""The keeper goes for a ball only if no opponent is nearer to it by more than this, m."""
KEEPER_FOLLOW_RANGE = 5.0
"""A keeper at the ball keeps playing it up to this distance from the goal line, m on the league's pitch."""
DIVE_BALL_SPEED_SHARE = 1.6
"""The keeper dives only for balls faster than this share of its own speed; it can walk to slower ones."""
DIVE_DISTANCE = 0.2
"""A ball that passes the keeper nearer than this is stopped without a dive, m."""
DIVE_PAUSE = 5.0
"""Least time between two dives, s."""
SHOOT_OUT_DELAY = 0.3
"""A ball that was seen within this time tells whether a kick-off that is older than it belongs to a shoot-out, s."""
OFF_CENTRE_SHARE = 0.1
"""The ball of a shoot-out lies farther than this share of the pitch's length from its middle."""
CYCLES_PER_SECOND = 1.0 / BEHAVIOURAL_CYCLE
"""Decisions per second of the behavioural world."""
FIRST_STEP = 0.02
"""Time since the last decision that the first decision assumes, s."""
DEGREES = 180.0 / math.pi
STANDS_STILL, WANDERS_ABOUT, PLAYS_SOCCER = 0, 1, 2
"""Values of `Strategy.plays`."""
WANDER_SEED = np.uint64(977)
"""Seed of the places to which wandering players go."""


class Skill(IntEnum):
    """Parts of the tactics that `players.skills` offers to users' players."""

    WALK_TO = 0
    PLAY_BALL = 1
    LOOK = 2
    """Orders where to look, and writes the direction from the ball to the goal into the order's turn."""


class StrategyTable(NamedTuple):
    """What the compiled players of M matches need in addition to their beliefs."""

    grounds: Records[GroundRecord]
    """Pitch and body of each match (M,)."""
    traits: Records[Records[Strategy]]
    """Strategies of the left and the right team (M, 2)."""
    deciders: Ints
    """Which function decides for the left and the right team (M, 2): 0 for these tactics, else one of a user."""
    memories: Records[Records[MemoryRecord]]
    """Memories of the players (M, 22)."""
    modes: Ints
    """Play mode of each match, (M,)."""
    held: Bools
    """Whether a player serves a penalty and has to stand (M, 22)."""
    beamed: Bools
    """Whether a player was beamed by its own order (M, 22); `decide_matches` writes it."""
    team_size: int
    """Number of players of a team."""


@unchecked
def decide_one(records: PlayerRecords) -> None:
    """Decides for one player; the entry for callers in Python."""
    beliefs, games, grounds, traits, memories, orders = records
    decide_player(PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0]))


@unchecked
def use_skill(records: PlayerRecords, skill: int, x: float, y: float, face: float) -> None:
    """Runs one `Skill` for one player; the caller in Python has filled in the game's record.

    Args:
        records: the records of the player.
        skill: the skill.
        x: x of the place to walk to, m, or the direction in which to play the ball, rad.
        y: y of the place to walk to, m, or the strength of the kick, 0 to 1.
        face: heading at the place, rad; NaN for any.
    """
    beliefs, games, grounds, traits, memories, orders = records
    player = PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0])
    if skill == Skill.WALK_TO:
        walk_to(player, x, y, face, at_ease(player, 0.0))
    elif skill == Skill.PLAY_BALL:
        play_towards(player, x, y)
    else:
        look(player)
        player.order.turn = goal_direction(player)


@unchecked
def play_towards(player: PlayerContext, direction: float, strength: float) -> None:
    """Goes for the ball and plays it in a direction, rad, with a share of the strength of a kick, 0 to 1."""
    aim = Aim(direction, strength * player.ground.body.kick.reach - REACH_MARGIN, can_kick(player))
    if not hold(player):
        play_ball_to(player, aim)


@inlined
def _command(player: Player, order: OrderRecord, held: bool) -> None:
    """Writes an order into the world's record of a player, as `players.behavioural.order_from` does for one player."""
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
    """Decides for one player: fills its order and updates its memory."""
    begin_decision(player)
    if not awaits_play(player):
        play_soccer(player)
    look(player)


@inlined
def begin_decision(player: PlayerContext) -> None:
    """Empties a player's order, and works out what kind of play is going on."""
    order = player.order
    order.legs, order.kick, order.gait, order.intent = Legs.STAND, 0, 0, Intent.STAND
    order.beams, order.wants_pass, order.shoots, order.dribbles = False, False, False, False
    order.ahead, order.left, order.turn, order.strength = 0.0, 0.0, 0.0, 0.0
    order.ball_ahead, order.ball_left = 0.0, 0.0
    order.yaw, order.pitch, order.beam_x, order.beam_y, order.beam_heading = 0.0, 0.0, 0.0, 0.0, 0.0
    _note_mode(player)
    _note_shoot_out(player)


def each_player(decide: Callable[[PlayerContext], None]) -> Callable[..., None]:
    """A function, to be compiled, that calls `decide` for its players in many matches."""

    def decide_all(
        chosen: Ints,
        players: Records[Records[Player]],
        balls: Records[Ball],
        beliefs: Records[Records[BeliefRecord]],
        table: StrategyTable,
        games: Records[GameRecord],
        orders: Records[OrderRecord],
        decider: int,
    ) -> None:
        """Decides for players of the matches `chosen` (K,), and writes their orders into their records (M, 22).

        `games` (1,) and `orders` (1,) are working memory, which no other thread may use at the same time. They belong
        to the caller because a record does not keep its array alive (`base.records`): arrays made here would be freed
        at once. `decider` is the number in `StrategyTable.deciders` of this function's players.
        """
        game, order = games[0], orders[0]
        for m in chosen:
            game.time, game.mode, game.players = balls[m].cycle / CYCLES_PER_SECOND, table.modes[m], table.team_size
            for i in range(SLOTS):
                player, team = players[m][i], i // MAX_PLAYERS
                if not player.present or table.deciders[m, team] != decider:
                    continue
                game.side, game.number = team, i % MAX_PLAYERS + 1
                game.kicking = player.posture == Posture.KICKING
                context = PlayerContext(
                    beliefs[m][i], game, table.grounds[m], table.traits[m][team], table.memories[m][i], order
                )
                decide(context)
                table.beamed[m, i] = order.beams and game.phase == Phase.LINE_UP
                if table.beamed[m, i]:
                    beam(player, order.beam_x, order.beam_y, order.beam_heading * DEGREES)
                _command(player, order, table.held[m, i])

    return decide_all


decide_matches = closure(each_player(decide_player), decide_player)
"""`each_player` for players of these tactics."""


@inlined
def _note_mode(player: PlayerContext) -> None:
    """Derives phase, favoured team and age of the play mode, and remembers the mode."""
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
def awaits_play(player: PlayerContext) -> bool:
    """Lines up before a kick-off, stands after the end, and gets up after a fall; whether it does any of these."""
    memory = player.memory
    if player.game.phase == Phase.LINE_UP:
        line_up(player)
    elif player.game.phase == Phase.OVER:
        memory.goes = False
        stand(player, Intent.STAND)
    elif not player.belief.upright:
        memory.goes, memory.dribbling, memory.arrival, memory.stopped_at = False, False, math.inf, math.nan
        stand(player, Intent.GET_UP)
        player.order.legs = Legs.GET_UP
    else:
        return False
    return True


@inlined
def leaves_ball(player: PlayerContext) -> bool:
    """Steps back from a ball that the player has put into play and must leave to others; whether it does."""
    memory = player.memory
    _note_restart(player)
    if player.game.time - memory.barred >= STEP_BACK_TIME or ball_way(player) >= RESTART_BALL_DISTANCE:
        return False
    memory.goes, memory.dribbling, memory.arrival = False, False, math.inf
    walk(player, -STEP_BACK_SHARE * player.ground.body.ask[1], 0.0, 0.0)
    player.order.intent = Intent.LEAVE_THE_BALL
    return True


@unchecked
def play_soccer(player: PlayerContext) -> None:
    """What a player does by its strategy while the game goes on and it is on its feet."""
    belief, game, traits, memory = player.belief, player.game, player.traits, player.memory
    if traits.plays < PLAYS_SOCCER:
        if traits.plays == WANDERS_ABOUT:
            wander(player)
        return
    if player.memory.shoot_out:
        _play_shoot_out(player)
        return
    if leaves_ball(player):
        return
    able = min(belief.seen_ago, belief.heard_ago) < MAX_BALL_AGE and memory.barred == -math.inf
    aim = memory.aim if memory.aim == memory.aim else goal_direction(player)
    memory.arrival = arrival_time(player, aim) if able else math.inf
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
    """Decides for a field player, once it is known whether it goes for the ball."""
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
    hold_post(player)


@inlined
def goes(player: PlayerContext) -> bool:
    """Whether the player goes for the ball: the appointed taker at an own kick-off, else the first to arrive."""
    if player.game.phase == Phase.KICK_OFF and player.game.favour > 0 and player.traits.chasers == 1:
        return takes_kick_off(player)
    return goes_for_ball(player)


@inlined
def _note_restart(player: PlayerContext) -> None:
    """Notes whether the player has taken a restart, after which somebody else has to touch the ball first."""
    belief, game, memory = player.belief, player.game, player.memory
    before = memory.mode_before
    if game.phase != Phase.PLAY:
        memory.barred = -math.inf
    elif memory.barred > -math.inf:
        since = game.time - memory.barred
        if since > MAX_BARRED_TIME:
            memory.barred = -math.inf
        elif since > 0.3:  # the ball has left the taker by now, so a player near it is another one
            for k in range(ALL_PLAYERS):
                other = belief.others[k]
                away = length(other.x - belief.ball_x, other.y - belief.ball_y)
                if away < TOUCH_DISTANCE and is_known(belief, k, game.number - 1):
                    memory.barred = -math.inf
    elif game.mode_age < 0.01 and before >= 0 and _FAVOURED[before] == game.side:
        restart = PHASES[before] == Phase.RESTART or PHASES[before] == Phase.KICK_OFF
        # The ball of a goal kick is in play when it has left the penalty area, far from its taker.
        near = ball_way(player) < RESTART_BALL_DISTANCE or IS_GOAL_KICK[before]
        if restart and memory.goes and near and game.players > 1 and player.ground.one_touch:
            memory.barred = game.time


# ---- before a kick-off


@inlined
def _has_kick_off(game: GameRecord, memory: MemoryRecord) -> bool:
    """Whether the own team takes the next kick-off.

    After a goal the team that conceded it does; the first half is begun by the team that started on the left, the
    second by the other.
    """
    if _IS_GOAL[game.mode]:
        return bool(game.favour < 0)
    return bool((memory.first_side == 1) != memory.started)


@inlined
def line_up(player: PlayerContext) -> None:
    """Asks to be beamed to the place for the next kick-off, unless the player stands there already."""
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


# ---- players that do not play the ball


@inlined
def wander(player: PlayerContext) -> None:
    """Walks to a random place of the pitch, another one every five seconds, whatever the ball does."""
    game, ground = player.game, player.ground
    leg = int(game.time / 5.0)
    slot = game.number - 1 + MAX_PLAYERS * game.side
    x = ground.length * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 0) - 0.45)
    y = ground.width * (0.9 * uniform(WANDER_SEED, leg, slot, STRATEGY, 1) - 0.45)
    walk_to(player, x, y, math.nan, at_ease(player, 0.0))
    player.order.intent = Intent.WANDER


@unchecked
def press(player: PlayerContext, off: float) -> None:
    """Waits between the ball and the own goal, `off` metres from the ball or as near as the rules allow."""
    belief, ground, room = player.belief, player.ground, room_of(player)
    dx, dy = -ground.length / 2 - room.ball_x, -room.ball_y
    way = max(length(dx, dy), 1e-6)
    x, y = allowed_place(ground, room, room.ball_x + off * dx / way, room.ball_y + off * dy / way)
    walk_to(player, x, y, math.atan2(room.ball_y - belief.y, room.ball_x - belief.x), at_ease(player, 0.0))
    player.order.intent = Intent.WAIT


@inlined
def stands_off(player: PlayerContext) -> bool:
    """Whether to stand in the way of an opponent in possession instead of attacking it, which makes robots fall."""
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
def hold_post(player: PlayerContext) -> None:
    """Walks to the own post of the formation; without posts, the player only goes where the rules allow it."""
    belief, game, ground, traits = player.belief, player.game, player.ground, player.traits
    memory, order = player.memory, player.order
    if traits.posts:
        ball_x, ball_y = ball_after(player, 1.0)
        x, y = post_place(player, ball_x, ball_y)
    else:
        x, y = allowed_place(ground, room_of(player), belief.x, belief.y)
    lost = min(belief.seen_ago, belief.heard_ago) > MAX_BALL_AGE
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
    """Decides for the keeper; `able` says whether it knows the ball and may play it."""
    memory = player.memory
    memory.goes = able and may_go(player) and _is_keepers(player)
    if not memory.goes:
        memory.arrival = math.inf  # so that team-mates do not leave the ball to the keeper
    if player.game.phase == Phase.PLAY and player.game.favour == 0 and player.traits.dives and dive(player):
        return
    if player.game.kicking:
        stand(player, Intent.KICK)
        return
    if memory.goes:
        play_ball(player)
        return
    _guard_goal(player)


@inlined
def _guard_goal(player: PlayerContext) -> None:
    """Waits between the ball and the goal."""
    belief = player.belief
    player.memory.dribbling = False
    x, y = _guarding_place(player)
    walk_to(player, x, y, math.atan2(belief.ball_y - belief.y, belief.ball_x - belief.x), at_ease(player, 0.0))
    player.order.intent = Intent.KEEP_GOAL


@inlined
def _is_keepers(player: PlayerContext) -> bool:
    """Whether the keeper is the one to play the ball."""
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
    more = 0.4 if memory.goes else 0.0  # hysteresis: a keeper on its way goes on a little farther
    if from_line > KEEPER_RANGE * scale + more or abs(belief.ball_y) > KEEPER_RANGE_WIDE * scale + more:
        return False
    if length(belief.ball_vx, belief.ball_vy) > KEEPER_BALL_SPEED_SHARE * ground.body.run:
        return False
    return bool(way < nearest_opponent(player) + KEEPER_HANDICAP + more)


@inlined
def _guarding_place(player: PlayerContext) -> tuple[float, float]:
    """The keeper's place on the line from the ball to the middle of the goal, farther out for a far ball, m."""
    belief, ground, line = player.belief, player.ground, -player.ground.length / 2
    known = min(belief.seen_ago, belief.heard_ago) < MAX_BALL_AGE
    bx, by = (belief.ball_x, belief.ball_y) if known else (0.0, 0.0)
    dx, dy = max(bx - line, 0.05), by
    way = length(dx, dy)
    out = clip(0.35 * way, 0.35 * ground.scale, KEEPER_DISTANCE * ground.scale)
    most = ground.goal_width / 2 - 0.15
    # A factor of 1.15 moves it towards the near post: the keeper reaches farther to the middle than to the post.
    return max(line + out * dx / way, line + 0.3 * ground.scale), clip(1.15 * out * dy / way, -most, most)


@inlined
def dive(player: PlayerContext) -> bool:
    """Orders a dive if a ball is about to pass that only a dive can reach, and returns whether it did."""
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
    c, s = math.cos(belief.heading), math.sin(belief.heading)
    if c < 0.3:  # a keeper that does not face the pitch would dive the wrong way
        return False
    player.memory.dived = game.time
    stand(player, Intent.DIVE)
    order.legs = Legs.DIVE_LEFT if off > 0.0 else Legs.DIVE_RIGHT
    # Where the ball crosses the line of the keeper's shoulders, which is not parallel to the goal line.
    aside, towards = c * belief.ball_vy - s * vx, c * vx + s * belief.ball_vy
    x, y = to_keeper, belief.ball_y - belief.y
    order.ball_left = c * y - s * x - (c * x + s * y) * aside / min(towards, -0.1)
    return True


# ---- penalty shoot-outs: one kicks, the other team's keeper guards its goal, and the others wait where they are put


@inlined
def _note_shoot_out(player: PlayerContext) -> None:
    """Recognises a shoot-out, which has the play modes of a game, by where the ball of a kick-off lies.

    Where the taker may go on with the ball, a shoot-out is played like a game.
    """
    belief, game = player.belief, player.game
    if (
        player.ground.one_touch
        and game.phase == Phase.KICK_OFF
        and game.mode_age > SHOOT_OUT_DELAY
        and belief.seen_ago < SHOOT_OUT_DELAY
    ):
        player.memory.shoot_out = length(belief.ball_x, belief.ball_y) > OFF_CENTRE_SHARE * player.ground.length


@unchecked
def _play_shoot_out(player: PlayerContext) -> None:
    """Decides for a player in a shoot-out: keeper, kicker, or one that waits."""
    belief, game, memory = player.belief, player.game, player.memory
    memory.arrival = math.inf
    if game.number == 1 and game.players > 1:
        memory.goes = False
        if belief.ball_x > 0.0:
            stand(player, Intent.WAIT)
        elif game.phase != Phase.PLAY or not player.traits.dives or not dive(player):
            _guard_goal(player)
        return
    if game.phase == Phase.KICK_OFF:
        memory.goes = game.favour > 0 and _is_kicker(player)
    else:
        memory.goes = False  # a second touch ends the kick
    if game.kicking:
        stand(player, Intent.KICK)
    elif memory.goes:
        play_penalty(player)
    else:
        stand(player, Intent.WAIT)


@inlined
def _is_kicker(player: PlayerContext) -> bool:
    """Whether the player is the one that the referee has put behind the ball: no team-mate is nearer to it."""
    belief, own = player.belief, player.game.number - 1
    nearest = belief.x < belief.ball_x
    for k in range(1, player.game.players):
        mate = belief.others[k]
        nearer = length(mate.x - belief.ball_x, mate.y - belief.ball_y) < ball_way(player)
        nearest = nearest and not (nearer and is_known(belief, k, own))
    return bool(nearest)
