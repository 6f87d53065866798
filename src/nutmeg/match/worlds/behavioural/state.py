"""What M matches of the behavioural world are like at a moment, and what their players are told to do.

    state = MatchesState.new(count=512)
    orders = Orders.new(count=512)
    orders.legs[:, 3], orders.wish[:, 3] = Legs.WALK, (0.2, 0.0, 0.1)

Matches are rows, players the 22 slots of `match.rules.slots`: side * 11 + number - 1. Everything is on the pitch as
everybody sees it: metres from the centre, the left team attacks +x; headings in radians, 0 looks at +x. Body frames
have x ahead and y to the left. Arrays are written by kernels in place; what belongs to a player who is not `present`
means nothing. Kernels get the arrays of both as one named tuple, `Rows`, which numba knows and a dataclass is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.slots import SLOTS


class Posture(IntEnum):
    """What the body of a player is doing."""

    UPRIGHT = 0
    KICKING = 1
    LYING = 2
    GETTING_UP = 3
    DIVING_LEFT = 4
    DIVING_RIGHT = 5


class Legs(IntEnum):
    """What a player wants of its legs."""

    STAND = 0
    WALK = 1
    KICK = 2
    DIVE_LEFT = 3
    DIVE_RIGHT = 4
    GET_UP = 5


class KickKind(IntEnum):
    """The four kicks of seed 002."""

    LEFT_STRAIGHT = 0
    RIGHT_STRAIGHT = 1
    LEFT_SIDE = 2
    RIGHT_SIDE = 3


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What players want, M matches x 22 slots; stays until it is changed."""

    legs: SmallInts
    """(M, 22) of `Legs`."""
    wish: Floats
    """(M, 22, 3) walking: speeds ahead and to the left [m/s] and turning left [rad/s]."""
    kick: SmallInts
    """(M, 22) of `KickKind`."""
    strength: Floats
    """(M, 22) of a kick, 0..1."""
    look: Floats
    """(M, 22, 2) where the head is to look: yaw to the left, pitch upwards [rad]."""

    @classmethod
    def new(cls, count: int) -> Orders:
        """Everybody stands and looks ahead."""
        return cls(
            legs=np.zeros((count, SLOTS), np.int8),
            wish=np.zeros((count, SLOTS, 3)),
            kick=np.zeros((count, SLOTS), np.int8),
            strength=np.ones((count, SLOTS)),
            look=np.zeros((count, SLOTS, 2)),
        )


@dataclass(frozen=True, kw_only=True)
class MatchesState:
    """M matches at the end of a cycle."""

    seed: NDArray[np.uint64]
    """(M,) key of everything random in a match."""
    cycle: Ints
    """(M,) how many cycles have been played."""
    present: Bools
    """(M, 22) who is on the pitch or beside it."""
    pose: Floats
    """(M, 22, 3) x, y [m], heading [rad]."""
    pace: Floats
    """(M, 22, 3) what the legs are set to, before anything disturbs it: ahead, left [m/s], turning left [rad/s]."""
    speed: Floats
    """(M, 22, 3) as it really went in the last cycle, in the body's frame half way through the turn: ahead, left [m/s],
    turning left [rad/s]."""
    odometry: Floats
    """(M, 22, 3) how far a player believes to have gone in the last cycle: ahead, left [m], as seen half way through
    the turn, and turned left [rad]."""
    head: Floats
    """(M, 22, 2) yaw to the left, pitch upwards [rad]."""
    posture: SmallInts
    """(M, 22) of `Posture`."""
    busy: Floats
    """(M, 22) how long the posture still lasts [s]; of who lies and has not begun to get up, 0."""
    fallen_to: Floats
    """(M, 22) of who lies or gets up: where the body lies from its feet, from the heading to the left [rad]: 0 on the
    belly, pi on the back, a quarter turn on a side."""
    kick: SmallInts
    """(M, 22) of who kicks: its `KickKind`, as it was ordered when the kick began."""
    strength: Floats
    """(M, 22) of who kicks: of the kick, 0..1."""
    ball: Floats
    """(M, 2) where it lies or rolls [m]."""
    ball_before: Floats
    """(M, 2) where it was at the beginning of the last cycle [m]."""
    ball_speed: Floats
    """(M, 2) [m/s]."""
    touched: Bools
    """(M, 22) who touched the ball in the last cycle."""
    kicked: Bools
    """(M, 22) whose kick hit the ball in the last cycle."""
    fell: Bools
    """(M, 22) who fell in the last cycle."""
    pushed: SmallInts
    """(M, 22, 22) who ran into whom in the last cycle: 1 where the row's player is responsible, else 0."""
    contact: Bools
    """(M, 22, 22) whose torsos touched in the last cycle, both ways."""

    @classmethod
    def new(cls, count: int) -> MatchesState:
        """Nobody there; the ball in the middle."""
        players = (count, SLOTS)
        return cls(
            seed=np.zeros(count, np.uint64),
            cycle=np.zeros(count, np.int64),
            present=np.zeros(players, bool),
            pose=np.zeros((*players, 3)),
            pace=np.zeros((*players, 3)),
            speed=np.zeros((*players, 3)),
            odometry=np.zeros((*players, 3)),
            head=np.zeros((*players, 2)),
            posture=np.zeros(players, np.int8),
            busy=np.zeros(players),
            fallen_to=np.zeros(players),
            kick=np.zeros(players, np.int8),
            strength=np.zeros(players),
            ball=np.zeros((count, 2)),
            ball_before=np.zeros((count, 2)),
            ball_speed=np.zeros((count, 2)),
            touched=np.zeros(players, bool),
            kicked=np.zeros(players, bool),
            fell=np.zeros(players, bool),
            pushed=np.zeros((*players, SLOTS), np.int8),
            contact=np.zeros((*players, SLOTS), bool),
        )


class Rows(NamedTuple):
    """The arrays of a state and of orders, for kernels; names as there, of orders with `order_` before them."""

    seed: NDArray[np.uint64]
    cycle: Ints
    present: Bools
    pose: Floats
    pace: Floats
    speed: Floats
    odometry: Floats
    head: Floats
    posture: SmallInts
    busy: Floats
    fallen_to: Floats
    kick: SmallInts
    strength: Floats
    ball: Floats
    ball_before: Floats
    ball_speed: Floats
    touched: Bools
    kicked: Bools
    fell: Bools
    pushed: SmallInts
    contact: Bools
    order_legs: SmallInts
    order_wish: Floats
    order_kick: SmallInts
    order_strength: Floats
    order_look: Floats

    @classmethod
    def of(cls, state: MatchesState, orders: Orders) -> Rows:
        """The very arrays, not copies."""
        return cls(**vars(state), **{f"order_{name}": array for name, array in vars(orders).items()})


# ----------------------------------------------------------------------------------------------------
# One match of the behavioural world laid out for its kernels: a record for each player, and one for the ball.
#
# A record is passed on as one address, where the two dozen arrays of a `state.Rows` would be copied at each call:
# that is most of what a cycle would cost. All are compiled. Units are those of `state`; what is along no axis of
# `state` is said here.


_WHOLE = ("slot", "posture", "kick", "touched", "kicked", "fell", "legs", "order_kick")
_ORDERED = ("wish_ahead", "wish_left", "wish_turn", "order_strength", "look_yaw", "look_pitch")
_KEPT = ("x", "y", "heading", "pace_ahead", "pace_left", "pace_turn", "yaw", "pitch", "busy", "fallen_to", "strength")
_MADE = ("ahead", "left", "turn", "believed_ahead", "believed_left", "believed_turn")
_ALSO = ("cos", "sin", "vx", "vy", "reach", "start_x", "start_y", "start_heading", "risk", "shove_x", "shove_y")

PLAYER = np.dtype([(n, np.int64) for n in _WHOLE] + [(n, np.float64) for n in _ORDERED + _KEPT + _MADE + _ALSO])
"""A player. Beside what `state` has:

cos, sin: of the heading
vx, vy: how it walks over the pitch in this cycle [m/s]
reach: no part of it is farther from its place [m]
start_x, start_y, start_heading: its pose at the beginning of the cycle
risk, shove_x, shove_y: the hazard of this cycle's collisions, and the direction on the pitch in which they push
"""
BALL = np.dtype(
    [("seed", np.uint64), ("cycle", np.int64)] + [(n, np.float64) for n in ("x", "y", "vx", "vy", "radius")]
)
"""The ball, and of which match and cycle it is, for what is drawn by lot."""


@kernel
def load(rows: Rows, m: int, players: Any, ball: Any) -> int:  # noqa: ANN401 (numpy records)
    """Copies a match from the arrays of all; how many players it has. Nothing has happened to them yet."""
    ball.seed, ball.cycle = rows.seed[m], rows.cycle[m]
    ball.x, ball.y, ball.vx, ball.vy = rows.ball[m, 0], rows.ball[m, 1], rows.ball_speed[m, 0], rows.ball_speed[m, 1]
    count = 0
    for i in range(SLOTS):
        if not rows.present[m, i]:
            continue
        p = players[count]
        count += 1
        p.slot, p.posture, p.kick = i, rows.posture[m, i], rows.kick[m, i]
        p.touched, p.kicked, p.fell = 0, 0, 0
        p.legs, p.order_kick, p.order_strength = rows.order_legs[m, i], rows.order_kick[m, i], rows.order_strength[m, i]
        p.wish_ahead, p.wish_left = rows.order_wish[m, i, 0], rows.order_wish[m, i, 1]
        p.wish_turn = rows.order_wish[m, i, 2]
        p.look_yaw, p.look_pitch = rows.order_look[m, i, 0], rows.order_look[m, i, 1]
        p.x, p.y, p.heading = rows.pose[m, i, 0], rows.pose[m, i, 1], rows.pose[m, i, 2]
        p.pace_ahead, p.pace_left, p.pace_turn = rows.pace[m, i, 0], rows.pace[m, i, 1], rows.pace[m, i, 2]
        p.yaw, p.pitch, p.busy = rows.head[m, i, 0], rows.head[m, i, 1], rows.busy[m, i]
        p.fallen_to, p.strength = rows.fallen_to[m, i], rows.strength[m, i]
        p.start_x, p.start_y, p.start_heading = p.x, p.y, p.heading
        p.cos, p.sin = math.cos(p.heading), math.sin(p.heading)
        p.vx, p.vy, p.risk, p.shove_x, p.shove_y = 0.0, 0.0, 0.0, 0.0, 0.0
    return count


@kernel
def store(rows: Rows, m: int, players: Any, ball: Any) -> None:  # noqa: ANN401
    """Copies a match back, and counts the cycle."""
    rows.cycle[m] += 1
    rows.ball_before[m, 0], rows.ball_before[m, 1] = rows.ball[m, 0], rows.ball[m, 1]
    rows.ball[m, 0], rows.ball[m, 1], rows.ball_speed[m, 0], rows.ball_speed[m, 1] = ball.x, ball.y, ball.vx, ball.vy
    for k in range(len(players)):
        p = players[k]
        i = p.slot
        rows.posture[m, i], rows.kick[m, i], rows.strength[m, i] = p.posture, p.kick, p.strength
        rows.touched[m, i], rows.kicked[m, i], rows.fell[m, i] = p.touched != 0, p.kicked != 0, p.fell != 0
        rows.pose[m, i, 0], rows.pose[m, i, 1], rows.pose[m, i, 2] = p.x, p.y, p.heading
        rows.pace[m, i, 0], rows.pace[m, i, 1], rows.pace[m, i, 2] = p.pace_ahead, p.pace_left, p.pace_turn
        rows.speed[m, i, 0], rows.speed[m, i, 1], rows.speed[m, i, 2] = p.ahead, p.left, p.turn
        rows.odometry[m, i, 0], rows.odometry[m, i, 1] = p.believed_ahead, p.believed_left
        rows.odometry[m, i, 2] = p.believed_turn
        rows.head[m, i, 0], rows.head[m, i, 1] = p.yaw, p.pitch
        rows.busy[m, i], rows.fallen_to[m, i] = p.busy, p.fallen_to
