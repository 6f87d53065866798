"""A compiled player: from rows of what it believes to a row of what it wants.

    decide_row(belief, game, ground, traits, mind, order)       # rows of `strategy_rows`; fills mind and order

All strategies are this one function with other traits (`strategies`), so that thousands of players with different ones
are asked in one loop. It plays as the built-in team does, with less finesse: one or several go for the ball, circle it
until they are behind it as seen from their aim, and kick or walk through it; the others hold posts that follow the
ball; the keeper stays between ball and goal. What it does with its legs is in `strategy_legs`.
"""

from __future__ import annotations

import math

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import inlined
from nutmeg.match.players.strategies.ball_play import length, look, play_ball, stand, walk_to
from nutmeg.match.players.strategies.records import (
    AIMS,
    AREA_DEPTH,
    AREA_WIDTH,
    AWAY,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    BARRED,
    BEAM,
    BEAMED,
    BEAMS,
    CHASERS,
    CIRCLE,
    DAMPED,
    DIVE_REACH,
    DIVED,
    DIVES,
    DOING_KICK,
    FIRST_SIDE,
    GOAL,
    GOES,
    HEADING,
    INTENT,
    KEEPER,
    LAST_MODE,
    LEGS,
    LENGTH,
    MATES,
    MODE,
    NUMBER,
    ONE_TOUCH,
    OPPONENTS,
    PLAYERS,
    PLAYS,
    POSTS,
    SEEN,
    SIDE,
    SINCE,
    SLOWS,
    SPREAD,
    STARTED,
    TIME,
    TOLD,
    UPRIGHT,
    WIDTH,
    WISH,
    X,
    Y,
)
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import KICK_OFFS, LIVE, PAUSED, PlayMode, side_of
from nutmeg.match.worlds.behavioural.random import STRATEGY, uniform
from nutmeg.match.worlds.behavioural.state import Legs

_DIVE_LEFT = float(Legs.DIVE_LEFT)
_DIVE_RIGHT = float(Legs.DIVE_RIGHT)
_GET_UP = float(Legs.GET_UP)
_WALK = float(Legs.WALK)

PAUSE, KICK_OFF, RESTART, LIVE_PLAY, OVER = 0, 1, 2, 3, 4
"""Kinds of play."""
_PHASES = np.array(
    [
        OVER if m is PlayMode.GAME_OVER else PAUSE if m in PAUSED else KICK_OFF if m in KICK_OFFS
        else LIVE_PLAY if m in LIVE else RESTART
        for m in PlayMode
    ]
)  # fmt: skip
_FAVOURED = np.array([-1 if side_of(m) is None else int(side_of(m) or 0) for m in PlayMode])
_GOAL_LEFT, _GOAL_RIGHT = int(PlayMode.GOAL_LEFT), int(PlayMode.GOAL_RIGHT)
MAX_MATE_AGE, LOST_BALL_AGE = 8.0, 3.0
"""Team-mates not known of for so long do not count, and a ball is looked for [s]."""
CHASER_BONUS = 0.35
"""Who goes for the ball already is taken to be so much nearer [m]."""
WRONG_SIDE_COST = 0.25
"""What each radian on the wrong side of the ball counts for [m]."""
BEAM_INTERVAL, BEAM_DISTANCE, FIRST_BEAM_DELAY = 1.0, 0.3, 0.3
"""A player off its place by so much [m] is beamed, again after so long, and at first after so long [s]."""
STEP_BACK_TIME, MAX_BARRED_TIME = 0.6, 5.0
"""Who has put the ball into play steps back for so long, and leaves it to others for so long at most [s]."""
POST_X = np.array([-0.16, 0.22, -0.42, -0.05, 0.12, -0.5, -0.5, -0.25, 0.4])
POST_Y = np.array([0.08, -0.2, 0.0, -0.35, 0.3, 0.28, -0.28, 0.15, 0.0])
"""Posts around the ball: ahead of it, and towards the middle, as shares of length and width."""
LINE_X = np.array([-0.48, -0.11, -0.11, -0.24, -0.14, -0.24, -0.12, -0.12, -0.34, -0.34, -0.2])
LINE_Y = np.array([0.0, 0.0, 0.2, -0.14, -0.3, 0.3, 0.4, -0.4, 0.2, -0.2, 0.0])
"""Places before a kick-off, as shares of length and width."""
KICK_OFF_BEHIND = 0.3
"""How far behind the ball who takes a kick-off begins [m]."""
KEEPER_RANGE_SHARE, KEEPER_BALL_SPEED = 0.22, 0.4
"""The keeper plays balls within this share of the length of its goal line that are slower than this [m/s]."""
MAX_DIVE_TIME, DIVE_INTERVAL, MIN_DIVE_DISTANCE = 1.2, 6.0, 0.12
"""A dive is begun for a ball that passes so soon, so long after the last one [s], and so far aside at least [m]."""


@inlined
def decide_row(belief: Floats, game: Floats, ground: Floats, traits: Floats, mind: Floats, order: Floats) -> None:
    """What a player wants."""
    order[:] = 0.0
    mode, side = int(game[MODE]), int(game[SIDE])
    phase = note_mode(game, mind)
    look(belief, game, ground, order)
    if belief[UPRIGHT] < 0.5:
        order[LEGS], order[INTENT] = _GET_UP, 12
        return
    if phase == PAUSE:
        line_up(belief, game, ground, traits, mind, order)
        return
    if phase == OVER or traits[PLAYS] < 0.5 or game[DOING_KICK] > 0.5:
        stand(order, 5 if game[DOING_KICK] > 0.5 else 0)
        return
    if traits[PLAYS] < 1.5:
        wander(belief, game, ground, order)
        return
    ours = _FAVOURED[mode] == side
    theirs = _FAVOURED[mode] == 1 - side and phase != LIVE_PLAY
    keeper = traits[KEEPER] > 0.5 and game[NUMBER] == 1.0 and game[PLAYERS] > 1.0
    if keeper:
        keep_goal(belief, game, ground, traits, mind, order, phase, theirs)
        return
    age = min(belief[SEEN], belief[TOLD])
    mind[GOES] = 1.0 if age < LOST_BALL_AGE and goes(belief, game, traits, mind) else 0.0
    if barred(belief, game, ground, mind):
        mind[GOES] = 0.0
        if game[TIME] - mind[BARRED] < STEP_BACK_TIME:
            order[LEGS], order[WISH], order[INTENT] = _WALK, -0.15, 11
            return
    if mind[GOES] > 0.5 and not theirs:
        play_ball(belief, game, ground, traits, mind, order, phase != LIVE_PLAY and ours)
        return
    hold_post(belief, game, ground, traits, mind, order, phase, theirs)


@inlined
def note_mode(game: Floats, mind: Floats) -> int:
    """Keeps the mode in mind; returns the kind of play."""
    mode, side = int(game[MODE]), int(game[SIDE])
    if mind[FIRST_SIDE] == 0.0:
        mind[FIRST_SIDE] = side + 1.0
    before = int(mind[LAST_MODE])
    if mode != before:
        phase = int(_PHASES[mode])
        if phase == LIVE_PLAY and before >= 0 and _FAVOURED[before] == side:
            if mind[GOES] > 0.5 and _PHASES[before] in (KICK_OFF, RESTART):
                mind[BARRED] = game[TIME]
        elif phase != LIVE_PLAY:
            mind[BARRED] = -math.inf
        if phase != PAUSE:
            mind[STARTED] = 1.0
        mind[LAST_MODE], mind[SINCE] = mode, game[TIME]
    return int(_PHASES[mode])


@inlined
def barred(belief: Floats, game: Floats, ground: Floats, mind: Floats) -> bool:
    """Whether the player has just put the ball into play and must leave it to somebody else."""
    since = game[TIME] - mind[BARRED]
    if ground[ONE_TOUCH] < 0.5 or game[PLAYERS] < 1.5 or since > MAX_BARRED_TIME:
        return False
    if since > STEP_BACK_TIME:
        for first in (MATES, OPPONENTS):
            for i in range(MAX_PLAYERS):
                k = first + 4 * i
                if first == MATES and i == int(game[NUMBER]) - 1:
                    continue
                if belief[k + 2] < 1.0 and length(belief[k] - belief[BALL_X], belief[k + 1] - belief[BALL_Y]) < 0.3:
                    mind[BARRED] = -math.inf
                    return False
    return True


@inlined
def goes(belief: Floats, game: Floats, traits: Floats, mind: Floats) -> bool:
    """Whether the player is one of those who go for the ball: as many as the strategy wants, the nearest first."""
    bx, by, own = belief[BALL_X], belief[BALL_Y], int(game[NUMBER]) - 1
    dx, dy = bx - belief[X], by - belief[Y]
    mine = length(dx, dy) - (CHASER_BONUS if mind[GOES] > 0.5 else 0.0)
    if traits[AIMS] > 0.5:
        mine += WRONG_SIDE_COST * abs(math.atan2(dy, dx))
    nearer = 0
    for i in range(int(game[PLAYERS])):
        k = MATES + 4 * i
        if i == own or (i == 0 and traits[KEEPER] > 0.5) or not belief[k + 2] < MAX_MATE_AGE or belief[k + 3] > 0.5:
            continue
        dx, dy = bx - belief[k], by - belief[k + 1]
        way = length(dx, dy)
        if traits[AIMS] > 0.5:
            way += WRONG_SIDE_COST * abs(math.atan2(dy, dx))
        if way < mine or (way == mine and i < own):
            nearer += 1
    return bool(nearer < traits[CHASERS])


@inlined
def kicks_off(game: Floats, mind: Floats) -> bool:
    """Whether the own team has the next kick-off: after goals who conceded, else who began on the left, first."""
    mode, side = int(game[MODE]), int(game[SIDE])
    if mode in (_GOAL_LEFT, _GOAL_RIGHT):
        return bool(_FAVOURED[mode] != side)
    return bool((mind[FIRST_SIDE] == 1.0) == (mind[STARTED] == 0.0))


@inlined
def line_up(belief: Floats, game: Floats, ground: Floats, traits: Floats, mind: Floats, order: Floats) -> None:
    """Takes the place for the next kick-off."""
    stand(order, 1)
    mind[GOES], mind[BARRED] = 0.0, -math.inf
    number, players = int(game[NUMBER]), int(game[PLAYERS])
    x, y = LINE_X[number - 1] * ground[LENGTH], LINE_Y[number - 1] * ground[WIDTH]
    heading = 0.0
    taker = 2 if players > 1 else 1
    if number == taker and kicks_off(game, mind):
        x, y = -KICK_OFF_BEHIND, 0.0
    else:
        if number == 1 and (traits[KEEPER] < 0.5 or players == 1):
            x = -0.3 * ground[LENGTH]
        room = ground[CIRCLE] + 0.2
        if length(x, y) < room:
            x = -math.sqrt(max(room * room - y * y, 0.04))
        heading = math.atan2(-y, -x)
    off = length(x - belief[X], y - belief[Y]) > BEAM_DISTANCE + belief[SPREAD]
    turned = abs(wrap_angle(heading - belief[HEADING])) > 0.5
    if (off or turned) and game[TIME] - mind[SINCE] > FIRST_BEAM_DELAY and game[TIME] - mind[BEAMED] > BEAM_INTERVAL:
        mind[BEAMED] = game[TIME]
        order[BEAMS] = 1.0
        order[BEAM], order[BEAM + 1], order[BEAM + 2] = x, y, heading


@inlined
def wander(belief: Floats, game: Floats, ground: Floats, order: Floats) -> None:
    """Goes to one place after the other, whatever the ball does."""
    leg = int(game[TIME] / 5.0)
    seed = np.uint64(977)
    slot = int(game[NUMBER]) - 1 + MAX_PLAYERS * int(game[SIDE])
    x = ground[LENGTH] * (0.9 * uniform(seed, leg, slot, STRATEGY, 0) - 0.45)
    y = ground[WIDTH] * (0.9 * uniform(seed, leg, slot, STRATEGY, 1) - 0.45)
    walk_to(belief, game, ground, order, x, y, math.nan, 0.0, 0.0, 1.0)
    order[INTENT] = 13


@inlined
def hold_post(
    belief: Floats,
    game: Floats,
    ground: Floats,
    traits: Floats,
    mind: Floats,
    order: Floats,
    phase: int,
    theirs: bool,
) -> None:
    """Takes a place around the ball, or stays where it is if the strategy knows no posts."""
    age = min(belief[SEEN], belief[TOLD])
    if age > LOST_BALL_AGE and (traits[POSTS] < 0.5 or age > 2 * LOST_BALL_AGE):
        order[LEGS], order[WISH + 2], order[INTENT] = _WALK, 0.5, 10
        return
    bx, by = belief[BALL_X], belief[BALL_Y]
    if phase == KICK_OFF:
        bx, by = 0.0, 0.0
    face = math.atan2(by - belief[Y], bx - belief[X])
    if traits[POSTS] < 0.5:
        x, y = belief[X], belief[Y]
    else:
        rank = post_of(belief, game, traits, mind)
        inward = -1.0 if by >= 0.0 else 1.0
        x = 0.85 * bx + POST_X[rank] * ground[LENGTH]
        y = 0.7 * by + inward * POST_Y[rank] * ground[WIDTH]
    x, y = allowed(ground, x, y, bx, by, phase == KICK_OFF, theirs)
    walk_to(belief, game, ground, order, x, y, face, 0.15, traits[8], 0.8)
    order[INTENT] = 9 if theirs and mind[GOES] > 0.5 else 8


@inlined
def post_of(belief: Floats, game: Floats, traits: Floats, mind: Floats) -> int:
    """Which post is the own one: in the order of numbers, without the keeper and who is nearest to the ball."""
    own, best, goer = int(game[NUMBER]) - 1, math.inf, -1
    first = 1 if traits[KEEPER] > 0.5 else 0
    for i in range(first, int(game[PLAYERS])):
        k = MATES + 4 * i
        if i != own and belief[k + 2] < MAX_MATE_AGE:
            way = length(belief[k] - belief[BALL_X], belief[k + 1] - belief[BALL_Y])
            if way < best:
                best, goer = way, i
    if mind[GOES] > 0.5:
        goer = own
    rank = 0
    for i in range(first, own):
        if i != goer and belief[MATES + 4 * i + 2] < MAX_MATE_AGE:
            rank += 1
    return min(rank, len(POST_X) - 1)


@inlined
def allowed(
    ground: Floats, x: float, y: float, bx: float, by: float, kick_off: bool, theirs: bool
) -> tuple[float, float]:
    """The nearest place, more or less, where a player may stand who does not go for the ball."""
    end, side = ground[LENGTH] / 2 - 0.25, ground[WIDTH] / 2 - 0.2
    away = ground[AWAY] + 0.2 if theirs else 0.5
    dx, dy = x - bx, y - by
    way = length(dx, dy)
    if way < away:
        if way < 1e-6:
            dx, dy, way = -1.0, 0.0, 1.0
        x, y = bx + away * dx / way, by + away * dy / way
    x, y = min(max(x, -end), end), min(max(y, -side), side)
    edge, half = ground[LENGTH] / 2 - ground[AREA_DEPTH] - 0.15, ground[AREA_WIDTH] / 2 + 0.15
    if abs(y) < half and abs(x) > edge:
        x = math.copysign(edge, x)
    if kick_off and x > -0.25:
        x = -0.25
    if kick_off and theirs and length(x, y) < ground[CIRCLE] + 0.2:
        x = -math.sqrt(max((ground[CIRCLE] + 0.2) ** 2 - y * y, 0.0625))
    return x, y


@inlined
def keep_goal(
    belief: Floats,
    game: Floats,
    ground: Floats,
    traits: Floats,
    mind: Floats,
    order: Floats,
    phase: int,
    theirs: bool,
) -> None:
    """Stays between ball and goal, goes for near slow balls, and dives for fast ones if the strategy does."""
    line = -ground[LENGTH] / 2
    bx, by = belief[BALL_X], belief[BALL_Y]
    age = min(belief[SEEN], belief[TOLD])
    if phase == LIVE_PLAY and traits[DIVES] > 0.5 and dives(belief, game, ground, mind, order):
        return
    speed = length(belief[BALL_VX], belief[BALL_VY])
    near = bx < line + KEEPER_RANGE_SHARE * ground[LENGTH] * (1.2 if mind[GOES] > 0.5 else 1.0)
    near = near and abs(by) < ground[AREA_WIDTH] / 2 + 0.3
    barred_now = barred(belief, game, ground, mind)
    mind[GOES] = 1.0 if near and age < 1.5 and speed < KEEPER_BALL_SPEED and not theirs and not barred_now else 0.0
    if mind[GOES] > 0.5:
        play_ball(belief, game, ground, traits, mind, order, phase != LIVE_PLAY)
        return
    if age > LOST_BALL_AGE:
        bx, by = 0.0, 0.0
    dx, dy = max(bx - line, 0.05), by
    way = length(dx, dy)
    out = min(max(0.15 * way, 0.15), 0.5)
    most = ground[GOAL] / 2 - 0.1
    x, y = max(line + out * dx / way, line + 0.15), min(max(1.3 * out * dy / way, -most), most)
    face = math.atan2(by - belief[Y], bx - belief[X])
    walk_to(belief, game, ground, order, x, y, face, 0.08, 0.0, 1.0)
    order[INTENT] = 7


@inlined
def dives(belief: Floats, game: Floats, ground: Floats, mind: Floats, order: Floats) -> bool:
    """Whether a ball is about to pass that only a dive can reach; orders it then."""
    line, vx, speed = -ground[LENGTH] / 2, belief[BALL_VX], length(belief[BALL_VX], belief[BALL_VY])
    if vx > -0.3 or belief[SEEN] > 0.35 or game[TIME] - mind[DIVED] < DIVE_INTERVAL or belief[BALL_X] < belief[X]:
        return False
    reach = math.inf
    if ground[SLOWS] > 0.0:
        reach = speed * speed / (2.0 * ground[SLOWS])
    if ground[DAMPED] > 0.0:
        reach = min(reach, speed / ground[DAMPED])
    at_line = belief[BALL_Y] + belief[BALL_VY] * (belief[BALL_X] - line) / -vx
    if (belief[BALL_X] - line) * speed / -vx > reach or abs(at_line) > ground[GOAL] / 2 + 0.1:
        return False
    soon = (belief[BALL_X] - belief[X]) / -vx
    off = belief[BALL_Y] + belief[BALL_VY] * soon - belief[Y]
    if soon > MAX_DIVE_TIME or not MIN_DIVE_DISTANCE < abs(off) < ground[DIVE_REACH] or math.cos(belief[HEADING]) < 0.3:
        return False
    mind[DIVED] = game[TIME]
    order[LEGS], order[INTENT] = (_DIVE_LEFT if off > 0.0 else _DIVE_RIGHT), 14
    return True
