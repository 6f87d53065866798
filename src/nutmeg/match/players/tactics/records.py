"""Records that the compiled tactics read and write.

Tactics are compiled once and decide for one player of the physical world as well as for thousands of players of
behavioural games, so they get records instead of objects: what a player believes (`tracking.records`), the game, the
ground and the body (`Abilities`), the strategy's parameters (`strategies.Strategy`), and a memory of its own; and they
fill an order. A `PlayerContext` holds all six. Metres, seconds, radians, in the frame of the player's own team, which
attacks +x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.records import Records, new_records
from nutmeg.match.players.decide import Abilities
from nutmeg.match.rules.book import MAX_PLAYERS

if TYPE_CHECKING:
    from nutmeg.match.players.tactics.strategies import Strategy
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.rules.book import Rules


LEAGUE_LENGTH, LEAGUE_WIDTH = 30.0, 20.0
"""Size of the pitch on which distances were tuned, m."""


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
    STAND_IN_THE_WAY = 16
    LET_IT_ROLL = 17


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
    "stand in the way",
    "let it roll",
)
"""Intents in words, by index."""


class Phase(IntEnum):
    """What kind of play is going on."""

    LINE_UP = 0
    """Before a kick-off, and after a goal: players may be beamed."""
    KICK_OFF = 1
    RESTART = 2
    """Kick-ins, corners, goal kicks and free kicks."""
    PLAY = 3
    OVER = 4


class Gait(IntEnum):
    """Which set of the walk's parameters is wanted, if the walk has it."""

    WALK = 0
    SPRINT = 1
    POSITIONING = 2


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
    phase: int
    """A value of `Phase`; the tactics write it."""
    favour: int
    """Whom the mode favours: 1 the own team, -1 the other, 0 nobody; the tactics write it."""
    mode_age: float
    """Time since the mode began, s; the tactics write it."""
    step: float
    """Time since the player's last decision, s; the tactics write it."""


@dataclass
class GroundRecord:
    """The pitch, its rules, and what a body can do on it."""

    length: float
    width: float
    goal_width: float
    penalty_depth: float
    penalty_width: float
    circle: float
    """Radius of the centre circle, m."""
    restart_distance: float
    """How far the rules want players from the ball when others put it into play, m."""
    one_touch: bool
    """Whether the player that has put the ball into play must leave it to somebody else."""
    scale: float
    """What distances between players are multiplied by that were tuned on the league's pitch. It is the square root of
    the pitch's share of that length: a small pitch is crowded, but robots do not shrink with it."""
    body: Abilities


@dataclass
class ReportRecord:
    """What a team-mate has told about itself (`messages`)."""

    time: float
    """When it was said, s; -inf if it never spoke."""
    arrival: float
    """When it could play the ball, s from then; inf if it cannot or may not."""
    goes: bool
    """Whether it goes for the ball."""
    post: int
    """Its place in the formation."""


@dataclass
class MemoryRecord:
    """What a player remembers from one decision to the next; times are the world's, NaN where nothing happened."""

    time: float
    """When it decided last, s."""
    mode: int
    """The last play mode, -1 before the first."""
    mode_before: int
    """The play mode before that, -1 if there was none."""
    since: float
    """When the mode began, s."""
    first_side: int
    """The side on which the team began, plus 1; 0 before the first decision."""
    started: bool
    """Whether play has begun."""
    beamed: float
    """When the player was last beamed, s."""
    goes: bool
    """Whether the player goes for the ball."""
    arrival: float
    """When it could play the ball, s from now; inf if it cannot or may not."""
    barred: float
    """When the player put the ball into play, which it must then leave to others, s."""
    post: int
    """Its place in the formation."""
    posts_at: float
    """When places were given out last, s."""
    standing: bool
    """Whether it has arrived where it was going and rests."""
    swerve: int
    """The side on which it passes an obstacle: 1 left, -1 right, 0 none."""
    ahead: float
    """The velocity that it asked for last: ahead, left, turn, m/s and rad/s."""
    left: float
    turn: float
    aim: float
    """The direction in which it wants to play the ball, rad."""
    aim_at: float
    """When it chose that, s."""
    aim_reach: float
    """How far it wants to play the ball, m."""
    aim_worth: float
    """What that was worth then, m."""
    dribbling: bool
    """Whether it is behind the ball and plays it."""
    foot: float
    """The foot that it is going to kick with: 1 left, -1 right, 0 none yet."""
    strength: float
    """The strength of the kick for which it has stopped, 0..1."""
    kick_since: float
    """Since when it has been getting ready to kick, s."""
    stopped_at: float
    """When it began to stop for a kick, s."""
    no_kick_until: float
    """It does not try to kick before, having tried in vain, s."""
    left_since: float
    """When it began to leave the ball to an opponent who has it, s."""
    dived: float
    """When the player last dived, s."""
    reports: Records[ReportRecord] = field(metadata={"length": MAX_PLAYERS})
    """(11,) the last of each team-mate."""


@dataclass
class OrderRecord:
    """What a player wants."""

    legs: int
    """A value of `Legs`."""
    ahead: float
    """The walk: m/s, m/s, rad/s."""
    left: float
    turn: float
    gait: int
    """A value of `Gait`."""
    strength: float
    """The strength of a kick, 0..1."""
    kick: int
    """A value of `KickKind`."""
    ball_ahead: float
    """Where the ball of a kick will be, as the player sees it, m."""
    ball_left: float
    yaw: float
    """The yaw of the head, to the left, rad."""
    pitch: float
    """The pitch of the head, upwards, rad."""
    beams: bool
    """Whether to be beamed, which is possible before a kick-off."""
    beam_x: float
    beam_y: float
    beam_heading: float
    wants_pass: bool
    """Whether it asks for pass mode."""
    intent: int
    """A value of `Intent`."""


class PlayerContext(NamedTuple):
    """All that the tactics read and write for one decision of one player."""

    belief: BeliefRecord
    game: GameRecord
    ground: GroundRecord
    traits: Strategy
    memory: MemoryRecord
    order: OrderRecord


class PlayerRecords(NamedTuple):
    """The same as arrays of one record each, for calls from Python: numba is slow to find the type of a single one."""

    beliefs: Records[BeliefRecord]
    games: Records[GameRecord]
    grounds: Records[GroundRecord]
    traits: Records[Strategy]
    memories: Records[MemoryRecord]
    orders: Records[OrderRecord]


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
        one_touch=rules.restarts.watch_taker,
        scale=math.sqrt(pitch.length / LEAGUE_LENGTH),
        body=body,
    )


def new_memories(count: int, players: int) -> Records[Records[MemoryRecord]]:
    """Memories (count, players) of players who have not decided yet."""
    memories = new_records(MemoryRecord, count, players)
    memories["mode"] = memories["mode_before"] = -1
    memories["arrival"] = math.inf
    for name in ("time", "beamed", "barred", "posts_at", "aim_at", "no_kick_until", "left_since", "dived"):
        memories[name] = -math.inf
    for name in ("aim", "kick_since", "stopped_at"):
        memories[name] = math.nan
    memories["reports"]["time"] = -math.inf
    return memories
