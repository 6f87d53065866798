"""What thousands of matches need in every cycle beside the world and the senses, compiled.

    decide_matches(chosen, rows, beliefs, modes, players, grounds, traits, minds, orders, held, beamed)
    find_matters(chosen, rows, end, side, step, touching, due, since, low, flags, looks)

The first asks compiled players and turns what they want into orders of the world; the second says in which matches
something has happened that the referee must see (see `match.quiet`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import inlined, kernel, unchecked
from nutmeg.match.players.strategies.decisions import decide_row
from nutmeg.match.players.strategies.records import (
    BEAM,
    BEAMS,
    DOING_KICK,
    GAME,
    KICK,
    LEGS,
    MODE,
    NUMBER,
    PITCH,
    PLAYERS,
    SIDE,
    STRENGTH,
    TIME,
    WISH,
    YAW,
)
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import PAUSED
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.state import Legs, Posture

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints
    from nutmeg.match.worlds.behavioural.state import Rows


_STAND, _WALK, _KICK, _GET_UP = int(Legs.STAND), int(Legs.WALK), int(Legs.KICK), int(Legs.GET_UP)
_LYING, _KICKING, _UPRIGHT = int(Posture.LYING), int(Posture.KICKING), int(Posture.UPRIGHT)
_PAUSES = np.array([mode in PAUSED for mode in range(32)])
CYCLES_PER_SECOND = 10.0
"""Cycles in a second."""
DEGREES, RADIANS = 180.0 / math.pi, math.pi / 180.0
TIME_TOLERANCE = 1e-6


class Looks(NamedTuple):
    """The referee's looks at who stands still near the ball, which mostly find nobody (`match.quiet`)."""

    place: Floats
    """(M, 22, 2) where players were at the last one, m; NaN if there was none."""
    at: Floats
    """(M,) when that was, if the referee was not asked: since the last judgement, s; else 0."""
    due: Floats
    """(M,) when the next one is: since the last judgement, s; inf if the referee will be asked anyway."""
    interval: float
    """s."""
    distance: float
    """Nearer than this is near the ball, m."""
    movement: float
    """Who has moved by less stands still, m."""


@unchecked
def decide_matches(
    chosen: Ints,
    rows: Rows,
    beliefs: Floats,
    modes: Ints,
    players: Ints,
    grounds: Floats,
    traits: Floats,
    minds: Floats,
    orders: Floats,
    held: Bools,
    beamed: Bools,
) -> None:
    """Asks everybody in the matches `chosen` (K,) and orders what they want.

    Args:
        chosen: (K,) matches.
        rows: the world's arrays.
        beliefs: (M, 22, 102).
        modes: (M,) play modes.
        players: (M,) of a team.
        grounds: (M, 22) pitch and bodies.
        traits: (M, 2, 10) strategies of left and right.
        minds: (M, 22, 9).
        orders: (M, 22, 13), written.
        held: (M, 22) who serves a penalty, and stands.
        beamed: (M, 22) who has been put somewhere by its own wish, written.
    """
    game = np.zeros(GAME)
    for m in chosen:
        for i in range(SLOTS):
            if not rows.present[m, i]:
                continue
            game[TIME], game[MODE] = rows.cycle[m] / CYCLES_PER_SECOND, modes[m]
            game[SIDE], game[NUMBER], game[PLAYERS] = i // MAX_PLAYERS, i % MAX_PLAYERS + 1, players[m]
            game[DOING_KICK] = 1.0 if rows.posture[m, i] == _KICKING else 0.0
            order = orders[m, i]
            decide_row(beliefs[m, i], game, grounds[m], traits[m, i // MAX_PLAYERS], minds[m, i], order)
            beamed[m, i] = order[BEAMS] > 0.5 and _PAUSES[modes[m]]
            if beamed[m, i]:
                beam(rows, m, i, order[BEAM], order[BEAM + 1], order[BEAM + 2] * DEGREES)
            _give(rows, m, i, order, held[m, i])


@inlined
def _give(rows: Rows, m: int, i: int, order: Floats, held: bool) -> None:
    """Passes a player's order on to the world, as `requests.order_from` does."""
    legs = int(order[LEGS])
    if rows.posture[m, i] == _LYING:
        legs = _GET_UP
    if held:
        legs = _STAND
    rows.order_legs[m, i] = legs
    rows.order_look[m, i, 0], rows.order_look[m, i, 1] = order[YAW], order[PITCH]
    if legs == _WALK:
        for axis in range(3):
            rows.order_wish[m, i, axis] = order[WISH + axis]
    elif legs == _KICK:
        rows.order_kick[m, i], rows.order_strength[m, i] = int(order[KICK]), order[STRENGTH]


@inlined
def beam(rows: Rows, m: int, i: int, x: float, y: float, degrees: float) -> None:
    """Puts a player upright into its own half, at a place as its team sees it [m, m, degrees]."""
    sign = 1.0 if i < MAX_PLAYERS else -1.0
    heading = degrees * RADIANS + (0.0 if i < MAX_PLAYERS else math.pi)
    rows.pose[m, i, 0], rows.pose[m, i, 1] = sign * min(x, 0.0), sign * y
    rows.pose[m, i, 2] = wrap_angle_exactly(heading)
    for axis in range(3):
        rows.pace[m, i, axis] = rows.speed[m, i, axis] = rows.odometry[m, i, axis] = 0.0
    rows.posture[m, i], rows.busy[m, i] = _UPRIGHT, 0.0


@unchecked
def find_matters(
    chosen: Ints,
    rows: Rows,
    end: float,
    side: float,
    step: float,
    touching: bool,
    due: Floats,
    since: Floats,
    low: Bools,
    flags: Bools,
    looks: Looks,
) -> None:
    """Counts the cycle, and flags matches in which the referee must be asked.

    Args:
        chosen: (K,) matches.
        rows: the world's arrays.
        end: half the pitch's length, m.
        side: half its width, m.
        step: length of a cycle, s.
        touching: whether the rules care for players who touch without pushing.
        due: (M,) how long it is quiet after the last judgement, s.
        since: (M,) time since that, s; counted on.
        low: (M, 22) who was not standing one cycle ago; renewed.
        flags: (M,) written.
        looks: at who stands still; renewed where one is due and the referee is not asked.
    """
    for m in chosen:
        since[m] += step
        matters = since[m] >= due[m] - TIME_TOLERANCE
        matters = matters or not (abs(rows.ball[m, 0]) <= end and abs(rows.ball[m, 1]) <= side)
        for i in range(SLOTS):
            if not rows.present[m, i]:
                continue
            posture = rows.posture[m, i]
            down = posture not in (_UPRIGHT, _KICKING)
            if down != low[m, i] or rows.touched[m, i]:
                matters = True
            low[m, i] = down
            if not matters:
                for j in range(SLOTS):
                    if rows.pushed[m, i, j] != 0 or (touching and rows.contact[m, i, j]):
                        matters = True
                        break
        if not matters and since[m] >= looks.due[m] - TIME_TOLERANCE:
            matters = _look(rows, m, looks, since[m])
        flags[m] = matters


@kernel
def _look(rows: Rows, m: int, looks: Looks, now: float) -> bool:
    """Whether somebody near the ball seems to stand still; if nobody does, this look is noted and done with."""
    for i in range(SLOTS):
        dx, dy = rows.pose[m, i, 0] - rows.ball[m, 0], rows.pose[m, i, 1] - rows.ball[m, 1]
        gone_x, gone_y = rows.pose[m, i, 0] - looks.place[m, i, 0], rows.pose[m, i, 1] - looks.place[m, i, 1]
        near = dx * dx + dy * dy < (looks.distance + TIME_TOLERANCE) ** 2
        if near and rows.present[m, i] and gone_x * gone_x + gone_y * gone_y < (looks.movement + TIME_TOLERANCE) ** 2:
            return True
    looks.place[m] = rows.pose[m, :, :2]
    looks.at[m] = now
    looks.due[m] += looks.interval
    return False
