"""Records between players and compiled strategies.

A strategy is compiled once and plays thousands of players at a time, so that it gets records instead of objects: what
a player believes (`tracking.records`), the game, the ground it plays on and what its body can do, the traits of the
strategy (`strategies.Strategy`), and a memory of its own; and it fills an order. A `PlayerContext` holds all six.
Metres, seconds, radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.records import new_records

if TYPE_CHECKING:
    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import Abilities
    from nutmeg.match.players.strategies.strategies import Strategy
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.rules.book import Rules


class Intent(IntEnum):
    """What a player is about to do, for reports and pages; see `INTENT_NAMES`."""

    STAND = 0
    LINE_UP = 1
    TO_THE_BALL = 2
    AROUND_THE_BALL = 3
    GET_READY = 4
    KICK = 5
    DRIBBLE = 6
    KEEP_GOAL = 7
    HOLD_POST = 8
    WAIT = 9
    SEARCH = 10
    LEAVE_THE_BALL = 11
    GET_UP = 12
    WANDER = 13
    DIVE = 14
    PASS = 15


INTENT_NAMES = (
    "stand",
    "line up",
    "to the ball",
    "around the ball",
    "get ready to kick",
    "kick",
    "dribble",
    "keep the goal",
    "hold the post",
    "wait for their kick",
    "look for the ball",
    "leave the ball to others",
    "get up",
    "wander",
    "dive",
    "pass",
)
"""Intents in words, by index."""


@dataclass
class GameRecord:
    """The game as a player knows it."""

    time: float
    """The time of the world, s."""
    mode: int
    """A value of `PlayMode`."""
    side: int
    """The end that the own team defends, of `Side`."""
    number: int
    """The player's own number, from 1."""
    players: int
    """Number of players of the own team."""
    kicking: bool
    """Whether a kick of the player goes on."""


@dataclass
class GroundRecord:
    """The pitch, and what a body can do on it (`Abilities`)."""

    length: float
    width: float
    goal_width: float
    penalty_depth: float
    penalty_width: float
    circle: float
    """Radius of the centre circle, m."""
    restart_distance: float
    """How far to keep from the ball when others put it into play, m."""
    ahead: float
    """Top speeds: ahead, m/s."""
    back: float
    side: float
    turn: float
    kick_x: float
    """Where the ball must lie for a kick with the left foot: ahead, m."""
    kick_y: float
    kick_slack_x: float
    """How far off that place it may lie, m."""
    kick_slack_y: float
    kick_reach: float
    """How far a full kick goes, m."""
    eyes: float
    """Height of the cameras, m."""
    lower_eye: float
    """How much further down the lower camera looks, rad."""
    one_touch: bool
    """Whether the player that has put the ball into play must leave it to somebody else."""
    ball_deceleration: float
    """Friction of a rolling ball, m/s^2."""
    ball_damping: float
    """What grows with its speed, 1/s."""
    dive_reach: float
    """How far to a side a dive covers the goal, m."""


@dataclass
class MemoryRecord:
    """What a player remembers from one decision to the next."""

    mode: int
    """The last play mode, -1 before the first."""
    since: float
    """When that mode began, s."""
    beamed: float
    """When the player was last beamed, s."""
    chases: bool
    """Whether the player goes for the ball."""
    barred: float
    """When the player put the ball into play, which it must then leave to others, s."""
    foot: float
    """The foot that it is going to kick with: 1 left, -1 right, 0 none yet."""
    first_side: int
    """The side on which the team began, plus 1; 0 before the first decision."""
    dived: float
    """When the player last dived, s."""
    started: bool
    """Whether play has begun."""


@dataclass
class OrderRecord:
    """What a player wants."""

    legs: int
    """A value of `Legs`."""
    ahead: float
    """The walk: m/s, m/s, rad/s."""
    left: float
    turn: float
    kick: int
    """A value of `KickKind`."""
    strength: float
    """The strength of a kick, 0..1."""
    yaw: float
    """The yaw of the head, to the left, rad."""
    pitch: float
    """The pitch of the head, upwards, rad."""
    beams: bool
    """Whether to be beamed, which is possible before a kick-off."""
    beam_x: float
    beam_y: float
    beam_heading: float
    intent: int
    """A value of `Intent`."""


class PlayerContext(NamedTuple):
    """All that a strategy reads and writes for one decision of one player."""

    belief: BeliefRecord
    game: GameRecord
    ground: GroundRecord
    traits: Strategy
    memory: MemoryRecord
    order: OrderRecord


def ground_of(rules: Rules, body: Abilities) -> GroundRecord:
    """The pitch of a rule book, and what a body can do on it; `record_values` makes it a record."""
    pitch = rules.pitch
    return GroundRecord(
        length=pitch.length,
        width=pitch.width,
        goal_width=pitch.goal_width,
        penalty_depth=pitch.penalty_depth,
        penalty_width=pitch.penalty_width,
        circle=pitch.circle_radius,
        restart_distance=rules.restarts.distance,
        ahead=body.ahead,
        back=body.back,
        side=body.side,
        turn=body.turn,
        kick_x=body.kick_place[0],
        kick_y=body.kick_place[1],
        kick_slack_x=body.kick_slack[0],
        kick_slack_y=body.kick_slack[1],
        kick_reach=body.kick_reach,
        eyes=body.eyes,
        lower_eye=body.lower_eye,
        one_touch=rules.restarts.watch_taker,
        ball_deceleration=body.ball_slows,
        ball_damping=body.ball_damped,
        dive_reach=body.dive_reach,
    )


def new_memories(count: int, players: int) -> Records[Records[MemoryRecord]]:
    """Memories (count, players) of players who have not decided yet."""
    memories = new_records(MemoryRecord, count, players)
    memories["mode"] = -1
    for name in ("beamed", "barred", "dived"):
        memories[name] = -math.inf
    return memories
