"""Records that the compiled tactics read and write.

Tactics are compiled once and decide for one player of the physical world as well as for thousands of players of
behavioural games, so they get records instead of objects: the player's belief (`tracking.records`), the game, the
ground with the body (`Abilities`), the strategy's parameters (`strategies.Strategy`) and the player's memory; and they
fill an order. A `PlayerContext` holds all six. Units are metres, seconds and radians, in the frame of the player's own
team, which attacks +x.
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
"""Size of the league's pitch, on which the distances of the tactics were tuned, m."""


class Intent(IntEnum):
    """What a player is about to do, which reports and the page show; see `INTENT_NAMES`."""

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
"""Names of the intents, by index."""


class Phase(IntEnum):
    """Kinds of play modes, as far as the tactics distinguish them."""

    LINE_UP = 0
    """Before a kick-off, and after a goal: players may be beamed."""
    KICK_OFF = 1
    RESTART = 2
    """Kick-ins, corners, goal kicks and free kicks."""
    PLAY = 3
    OVER = 4


class Gait(IntEnum):
    """The requested parameter set of the walk, if the walk has it."""

    WALK = 0
    SPRINT = 1
    POSITIONING = 2


@dataclass
class GameRecord:
    """The game as a player knows it."""

    time: float
    """Time of the world, s."""
    mode: int
    """A value of `PlayMode`."""
    side: int
    """The end that the own team defends, of `Side`."""
    number: int
    """The player's own number, from 1."""
    players: int
    """Number of players of the own team."""
    kicking: bool
    """Whether the player is performing a kick."""
    phase: int
    """A value of `Phase`; the tactics write it."""
    favour: int
    """The team that the mode favours: 1 the own, -1 the other, 0 neither; the tactics write it."""
    mode_age: float
    """Time since the mode began, s; the tactics write it."""
    step: float
    """Time since the player's last decision, s; the tactics write it."""


@dataclass
class GroundRecord:
    """The pitch, the rules that matter to players, and the abilities of the body."""

    length: float
    width: float
    goal_width: float
    penalty_depth: float
    penalty_width: float
    circle: float
    """Radius of the centre circle, m."""
    restart_distance: float
    """Distance from the ball that the rules demand when the opponents take a restart, m."""
    one_touch: bool
    """Whether the taker of a restart has to leave the ball to somebody else."""
    scale: float
    """Factor for distances between players that were tuned on the league's pitch. It is the square root of the ratio
    of the pitches' lengths: a small pitch is crowded, but robots do not shrink with it."""
    body: Abilities


@dataclass
class ReportRecord:
    """The last report of a team-mate about itself (`messages`)."""

    time: float
    """When it was sent, s; -inf if there was none."""
    arrival: float
    """Time until it could play the ball, from then on, s; inf if it cannot or may not."""
    goes: bool
    """Whether it goes for the ball."""
    post: int
    """Its post in the formation."""


@dataclass
class MemoryRecord:
    """What a player remembers from one decision to the next.

    Times are the world's, in seconds; -inf or NaN stands for "not yet" (see `new_memories`).
    """

    time: float
    """Time of the last decision, s."""
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
    shoot_out: bool
    """Whether a penalty shoot-out is on: the ball of the last kick-off did not lie in the middle of the pitch."""
    beamed: float
    """When the player was last beamed, s."""
    goes: bool
    """Whether the player goes for the ball."""
    arrival: float
    """Time from now until it could play the ball, s; inf if it cannot or may not."""
    barred: float
    """When the player took a restart, after which it has to leave the ball to others, s."""
    post: int
    """Its post in the formation."""
    posts_at: float
    """When posts were assigned last, s."""
    standing: bool
    """Whether it stands at the target of its walk."""
    swerve: int
    """The side on which it passes an obstacle: 1 left, -1 right, 0 none."""
    ahead: float
    """Last commanded velocity: ahead and left, m/s, and turn, rad/s."""
    left: float
    turn: float
    aim: float
    """The direction in which it wants to play the ball, rad."""
    aim_at: float
    """When it chose the aim, s."""
    aim_reach: float
    """How far it wants to play the ball, m."""
    aim_worth: float
    """Worth of the aim when it was chosen, m on the league's pitch."""
    dribbling: bool
    """Whether it is behind the ball, as seen from the aim, and plays it."""
    foot: float
    """The foot with which it is going to kick: 1 left, -1 right, 0 not chosen yet."""
    strength: float
    """Strength of the kick for which it has stopped, 0 to 1."""
    shoots: bool
    """Whether that is a shot, for which it throws itself down."""
    kick_since: float
    """When it began to take its position for a kick, s."""
    stopped_at: float
    """When it began to stop for a kick, s."""
    no_kick_until: float
    """Until when it does not kick, because it could not get ready in time, s."""
    left_since: float
    """When it began to stand off an opponent in possession of the ball, s."""
    dived: float
    """When the player last dived, s."""
    notes: tuple[float, float, float, float, float, float, float, float]
    """What a `decide` of a user's own keeps (`own_tactics`); 0 at first."""
    reports: Records[ReportRecord] = field(metadata={"length": MAX_PLAYERS})
    """The last report of each team-mate (11,)."""


@dataclass
class OrderRecord:
    """What a player orders its body to do."""

    legs: int
    """A value of `Legs`."""
    ahead: float
    """Commanded velocity: ahead and left, m/s, and turn, rad/s."""
    left: float
    turn: float
    gait: int
    """A value of `Gait`."""
    strength: float
    """Strength of a kick, 0 to 1."""
    kick: int
    """A value of `KickKind`."""
    shoots: bool
    """Whether the kick is a shot, for which the player throws itself down."""
    ball_ahead: float
    """Place of the ball in the player's frame, m: of a dribbled ball that of now, else the predicted one when it is
    kicked, or when it passes a player that dives."""
    ball_left: float
    dribbles: bool
    """Whether a body with a network for it may dribble by the network instead of at the commanded velocity."""
    ball_vx: float
    """Velocity of a dribbled ball over the ground in the player's frame, ahead and to the left, m/s."""
    ball_vy: float
    direction: float
    """The direction in which the ball is dribbled, to the left of the heading, rad."""
    yaw: float
    """Yaw of the head, positive to the left, rad."""
    pitch: float
    """Pitch of the head, positive upwards, rad."""
    beams: bool
    """Whether the player asks to be beamed, which is possible before a kick-off."""
    beam_x: float
    beam_y: float
    beam_heading: float
    wants_pass: bool
    """Whether it asks for pass mode."""
    intent: int
    """A value of `Intent`."""


class PlayerContext(NamedTuple):
    """The records that the tactics read and write for one decision of one player."""

    belief: BeliefRecord
    game: GameRecord
    ground: GroundRecord
    traits: Strategy
    memory: MemoryRecord
    order: OrderRecord


class PlayerRecords(NamedTuple):
    """The same as arrays of one record each, for calls from Python, where numba is slow to type a record."""

    beliefs: Records[BeliefRecord]
    games: Records[GameRecord]
    grounds: Records[GroundRecord]
    traits: Records[Strategy]
    memories: Records[MemoryRecord]
    orders: Records[OrderRecord]


def ground_of(rules: Rules, body: Abilities) -> GroundRecord:
    """The ground of a rule book's pitch and a body's abilities; `record_values` makes it a record."""
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
    """Memories (count, players) of players that have not decided yet."""
    memories = new_records(MemoryRecord, count, players)
    memories["mode"] = memories["mode_before"] = -1
    memories["arrival"] = math.inf
    for name in ("time", "beamed", "barred", "posts_at", "aim_at", "no_kick_until", "left_since", "dived"):
        memories[name] = -math.inf
    for name in ("aim", "kick_since", "stopped_at"):
        memories[name] = math.nan
    memories["reports"]["time"] = -math.inf
    return memories
