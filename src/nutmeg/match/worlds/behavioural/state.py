"""The state of M matches of the behavioural world, and the commands of their players.

    state = MatchesState(512)
    state.pose[:, 3] = 1.0, 0.5, 0.0                    # arrays over matches and slots are views of the records
    orders = Orders(state)
    orders.legs[:, 3], orders.wish[:, 3] = Legs.WALK, (0.2, 0.0, 0.1)
    state.players[7][3]["busy"]                         # the same data as records, as kernels get them

Matches are rows, players the 22 slots of `nutmeg.match.rules.slots`: side * 11 + number - 1. Coordinates are those of
the pitch: metres from its centre, the left team attacks +x; headings in radians, 0 is +x. Body frames have x ahead and
y to the left. The data of a slot whose player is not `present` has no meaning.

Everything is declared once, in `Player` and `Ball`. The state holds one record for each player and one for each ball;
kernels read and write them as `player.heading`, and Python code uses array views such as `state.pose`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.records import new_records, record_of
from nutmeg.match.rules.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.base.records import Records


class Posture(IntEnum):
    """The posture of a player; those above KICKING are not upright."""

    UPRIGHT = 0
    KICKING = 1
    LYING = 2
    GETTING_UP = 3
    DIVING_LEFT = 4
    DIVING_RIGHT = 5


class Legs(IntEnum):
    """Commands to the legs."""

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


@dataclass
class Player:
    """The record of a player: its command, its state, and what kernels compute within a cycle."""

    slot: int
    present: bool
    """Whether the player is on the pitch or beside it."""

    legs: int
    """The command to the legs, of `Legs`. Commands stay until they are changed."""
    wish_ahead: float
    """The commanded walk: speed ahead, m/s."""
    wish_left: float
    """The commanded walk: speed to the left, m/s."""
    wish_turn: float
    """The commanded walk: turning left, rad/s."""
    order_kick: int
    """The commanded kick, of `KickKind`."""
    order_strength: float
    """The commanded strength of a kick, 0..1."""
    look_yaw: float
    """Commanded yaw of the head to the left, rad."""
    look_pitch: float
    """Commanded pitch of the head upwards, rad."""

    x: float
    y: float
    heading: float
    pace_ahead: float
    """The speed that the legs are set to, before noise: ahead, m/s."""
    pace_left: float
    pace_turn: float
    ahead: float
    """The real velocity in the last cycle, in the body's frame half way through the turn: ahead, m/s."""
    left: float
    turn: float
    odometry_ahead: float
    """The distance that the player believes to have walked in the last cycle, in the frame half way through the
    turn: ahead, m."""
    odometry_left: float
    odometry_turn: float
    yaw: float
    """The yaw of the head, to the left, rad."""
    pitch: float
    """The pitch of the head, upwards, rad."""
    posture: int
    """A value of `Posture`."""
    busy: float
    """Remaining time of the posture, s; 0 for a lying player that has not begun to get up."""
    fallen_to: float
    """Direction of the body of a lying player from its feet, from the heading to the left, rad: 0 on the belly, pi on
    the back, a quarter turn on a side."""
    kick: int
    """The present kick, of `KickKind`, as it was ordered when it began."""
    strength: float
    """The strength of that kick, 0..1."""
    touched: bool
    """Whether the player touched the ball in the last cycle."""
    kicked: bool
    """Whether its kick hit the ball in the last cycle."""
    fell: bool
    """Whether it fell in the last cycle."""

    cos: float
    """Cosine of the heading, within a cycle."""
    sin: float
    vx: float
    """Velocity over the pitch within a step, m/s."""
    vy: float
    reach: float
    """No part of the body is farther from (x, y) than this, m."""
    start_x: float
    """Pose at the beginning of the cycle."""
    start_y: float
    start_heading: float
    risk: float
    """Hazard of falling from the collisions of this cycle."""
    shove_x: float
    """Direction on the pitch in which these collisions push, weighted by their hazards."""
    shove_y: float


@dataclass
class Ball:
    """The record of the ball of a match, with the key of everything random in that match."""

    seed: np.uint64
    cycle: int
    """How many cycles have been played."""
    x: float
    y: float
    vx: float
    vy: float
    before_x: float
    """Where it was at the beginning of the last cycle, m."""
    before_y: float
    radius: float


PLAYER = record_of(Player)


class MatchesState:
    """M matches at the end of a cycle: at first no player is present, and balls (radius in m) are in the middle."""

    def __init__(self, count: int, ball_radius: float = 0.0) -> None:
        self.players = new_records(Player, count, SLOTS)
        """(M, 22) records of players."""
        self.balls = new_records(Ball, count)
        """(M,) records of balls."""
        self.pushed = np.zeros((count, SLOTS, SLOTS), np.int8)
        """(M, 22, 22) collisions of the last cycle: 1 where the row's player is responsible, else 0."""
        self.contact = np.zeros((count, SLOTS, SLOTS), bool)
        """(M, 22, 22) whose torsos touched in the last cycle, both ways."""
        self.players["slot"] = np.arange(SLOTS)
        self.players["order_strength"] = 1.0
        self.balls["radius"] = ball_radius
        players, balls = self.players, self.balls
        self.seed, self.cycle = balls["seed"], balls["cycle"]
        """(M,) keys of everything random, and numbers of cycles played."""
        self.ball, self.ball_speed = _columns(balls, "x", "y"), _columns(balls, "vx", "vy")
        """(M, 2) places, m, and velocities, m/s, of balls."""
        self.ball_before = _columns(balls, "before_x", "before_y")
        """(M, 2) places at the beginning of the last cycle, m."""
        self.present, self.posture, self.busy = players["present"], players["posture"], players["busy"]
        """(M, 22) each, views of the records of players."""
        self.fallen_to, self.kick, self.strength = players["fallen_to"], players["kick"], players["strength"]
        self.touched, self.kicked, self.fell = players["touched"], players["kicked"], players["fell"]
        self.pose = _columns(players, "x", "y", "heading")
        """(M, 22, 3) x and y, m, and heading, rad."""
        self.pace = _columns(players, "pace_ahead", "pace_left", "pace_turn")
        self.speed = _columns(players, "ahead", "left", "turn")
        self.odometry = _columns(players, "odometry_ahead", "odometry_left", "odometry_turn")
        self.head = _columns(players, "yaw", "pitch")
        """(M, 22, 2) yaw to the left and pitch upwards, rad."""


class Orders:
    """The commands of all players, as arrays over matches and slots: views of the records of a state."""

    def __init__(self, state: MatchesState) -> None:
        players = state.players
        self.legs, self.kick = players["legs"], players["order_kick"]
        """(M, 22) of `Legs` and of `KickKind`."""
        self.strength = players["order_strength"]
        """(M, 22) of kicks, 0..1."""
        self.wish = _columns(players, "wish_ahead", "wish_left", "wish_turn")
        """(M, 22, 3) walks: speeds ahead and to the left, m/s, and turning left, rad/s."""
        self.look = _columns(players, "look_yaw", "look_pitch")
        """(M, 22, 2) of heads: yaw to the left, pitch upwards, rad."""


def _columns(records: Records[Any], *names: str) -> Floats:
    """Neighbouring number fields of records (...) as one array (..., names); a view, not a copy."""
    first: Floats = records[names[0]]
    return np.lib.stride_tricks.as_strided(first, (*first.shape, len(names)), (*first.strides, first.itemsize))
