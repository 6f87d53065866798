"""What M matches of the behavioural world are like at a moment, and what their players are told to do.

    state = MatchesState.new(count=512)
    orders = Orders.new(count=512)
    orders.legs[:, 3], orders.wish[:, 3] = Legs.WALK, (0.2, 0.0, 0.1)

Matches are rows, players the 22 slots of `nutmeg.match.slots`: side * 11 + number - 1. Everything is on the pitch as
everybody sees it: metres from the centre, the left team attacks +x; headings in radians, 0 looks at +x. Body frames
have x ahead and y to the left. Arrays are written by kernels in place; what belongs to a player who is not `present`
means nothing. Kernels get the arrays of both as one named tuple, `Rows`, which numba knows and a dataclass is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
from nutmeg.match.slots import SLOTS


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
