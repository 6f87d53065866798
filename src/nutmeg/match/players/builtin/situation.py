"""What matters for a decision, in plain numbers: who, where, what is going on; and what a player keeps in mind.

    memory = Memory(number=2, players=4, pitch=load_rules("sim3d").pitch)
    memory.side = Side.LEFT                                 # as the first percept says
    situation = assess(belief, game_view, memory)
    situation.phase, situation.ours                         # Phase.RESTART, True: our kick-in

A decision is made fifty times a second by every player, over a handful of points, which is quicker in plain floats
than in arrays. Places are in the own team's frame, as in `belief`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from nutmeg.match.rules.play_modes import KICK_OFFS, PASSES, PAUSED, PlayMode, Side, mode_named, side_of

if TYPE_CHECKING:
    from nutmeg.match.players.belief import Belief, Others
    from nutmeg.match.players.messages import Report
    from nutmeg.match.rules.book import Pitch
    from nutmeg.match.worlds.physical.percept import GameView

Point = tuple[float, float]

BALL_DAMPING = 1.06
"""How a rolling ball slows down: its speed falls by this share a second [1/s]; see the ball `sim3d`."""
MAX_MATE_AGE = 10.0
"""A team-mate of whom nothing has been known for so long is taken to be off the pitch, s."""
MAX_OPPONENT_AGE = 1.6
"""Where an opponent was so long ago says nothing any more, s."""
MAX_BALL_AGE = 4.0
"""A ball that nobody has seen for so long is looked for, s."""


class Phase(Enum):
    """What kind of play is going on."""

    LINE_UP = "line-up"
    """Before a kick-off, and after a goal: players may be beamed."""
    KICK_OFF = "kick-off"
    RESTART = "restart"
    """Kick-ins, corners, goal kicks and free kicks."""
    PLAY = "play"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Other:
    """Another player."""

    number: int
    x: float
    y: float
    age: float
    """Time since anything was known of it, s."""
    fallen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What matters for a decision."""

    time: float
    """The time of the server, s."""
    mode: PlayMode
    phase: Phase
    ours: bool | None
    """Whether the mode is in favour of the own team; None where it favours nobody."""
    mode_age: float
    """Time since the mode changed, s."""
    x: float
    y: float
    heading: float
    upright: bool
    ball: Point
    ball_velocity: Point
    ball_age: float
    ball_seen: float
    """Time since the player itself saw the ball, s."""
    ball_way: float
    """Distance to the ball, m."""
    mates: tuple[Other, ...]
    """Team-mates on the pitch, without the player itself."""
    opponents: tuple[Other, ...]
    pitch: Pitch

    def ball_after(self, seconds: float) -> Point:
        """Where the ball will have rolled to, if nobody touches it."""
        share = (1.0 - math.exp(-BALL_DAMPING * seconds)) / BALL_DAMPING
        return self.ball[0] + share * self.ball_velocity[0], self.ball[1] + share * self.ball_velocity[1]

    @property
    def ball_known(self) -> bool:
        """Whether it is known well enough to go there."""
        return self.ball_age < MAX_BALL_AGE


@dataclass(slots=True, kw_only=True)
class Memory:
    """What one player keeps in mind from cycle to cycle."""

    number: int
    players: int
    """Number of players of the own team."""
    pitch: Pitch
    side: Side = Side.LEFT
    kicks: bool = True
    """Whether its body can kick; else it dribbles only."""
    in_turns: bool = True
    """Whether players speak one after the other, since one message at a time is heard."""
    first_side: Side | None = None
    """Where the team played from in the first half."""
    reports: dict[int, Report] = field(default_factory=dict)
    """The last of each team-mate."""
    mode: PlayMode | None = None
    mode_since: float = 0.0
    mode_before: PlayMode | None = None
    goes: bool = False
    """Whether the player goes for the ball."""
    arrival: float = math.inf
    """When it could play the ball, s from now."""
    post: int = 0
    """Its place in the formation."""
    posts_at: float = -math.inf
    """When places were given out last, by the server's time, s."""
    target: Point | None = None
    """Where it is going."""
    standing: bool = False
    """Whether it has arrived there and rests."""
    aim: float | None = None
    """Direction in which it wants to play the ball, rad."""
    aim_at: float = -math.inf
    """When it thought about that last, by the server's time, s."""
    aim_reach: float = 0.0
    """How far it wanted to play the ball then, m."""
    aim_worth: float = 0.0
    """What that was worth then, m."""
    wants_pass: bool = False
    """Whether it asks for pass mode."""
    dribbling: bool = False
    doing: str = "stand"
    """What its body does at present: a kick or a dive is brought to its end, whatever is wished."""
    pass_way: float | None = None
    """How far the ball is to go that it puts into play, m; None for as far as possible."""
    foot: int = 0
    """The foot it is going to kick with: 1 left, -1 right, 0 none."""
    strength: float = 1.0
    """The strength of the kick for which it has stopped, 0..1."""
    kick_since: float | None = None
    """Since when it has been getting ready to kick, s; None if it is not."""
    stopped_at: float | None = None
    """When it began to stop for a kick, s; None if it did not."""
    no_kick_until: float = -math.inf
    """It does not try to kick before, having tried in vain, s."""
    left_since: float = -math.inf
    """When it began to leave the ball to an opponent who has it, by the server's time, s."""
    barred_since: float | None = None
    """Since when it must not touch the ball, having taken a restart; None if it may."""
    beamed_at: float = -math.inf
    dived_at: float = -math.inf
    swerve: int = 0
    """The side on which it passes an obstacle: 1 left, -1 right, 0 none."""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What was wished of the legs last."""

    @property
    def is_keeper(self) -> bool:
        """Number 1 keeps the goal, unless it plays alone."""
        return self.number == 1 and self.players > 1

    def hear(self, report: Report) -> None:
        """Takes note of what a team-mate says."""
        if report.number != self.number:
            self.reports[report.number] = report


def assess(belief: Belief, game: GameView, memory: Memory) -> Situation:
    """The situation of a player; notes changes of the play mode in its memory."""
    mode = _mode(game.mode)
    if mode is not memory.mode:
        memory.mode_before, memory.mode, memory.mode_since = memory.mode, mode, belief.time
    favoured, me, ball = side_of(mode), belief.me, belief.ball
    bx, by = ball.place.tolist()
    vx, vy = ball.velocity.tolist()
    return Situation(
        time=belief.time,
        mode=mode,
        phase=phase_of(mode),
        ours=None if favoured is None else favoured is memory.side,
        mode_age=belief.time - memory.mode_since,
        x=me.x,
        y=me.y,
        heading=me.heading,
        upright=belief.upright,
        ball=(bx, by),
        ball_velocity=(vx, vy),
        ball_age=ball.age,
        ball_seen=ball.seen_ago,
        ball_way=math.hypot(bx - me.x, by - me.y),
        mates=_known(belief.mates, MAX_MATE_AGE, memory.number),
        opponents=_known(belief.opponents, MAX_OPPONENT_AGE, 0),
        pitch=memory.pitch,
    )


@cache
def _mode(name: str) -> PlayMode:
    return mode_named(name)


@cache
def phase_of(mode: PlayMode) -> Phase:
    """The kind of play of a mode."""
    if mode is PlayMode.GAME_OVER:
        return Phase.OVER
    if mode in PAUSED:
        return Phase.LINE_UP
    if mode in KICK_OFFS:
        return Phase.KICK_OFF
    return Phase.PLAY if mode is PlayMode.PLAY_ON or mode in PASSES else Phase.RESTART


def _known(others: Others, forgotten: float, own: int) -> tuple[Other, ...]:
    """Who is known to be on the pitch."""
    ages, places, fallen = others.ages.tolist(), others.places.tolist(), others.fallen.tolist()
    return tuple(
        Other(i + 1, places[i][0], places[i][1], age, fallen[i])
        for i, age in enumerate(ages)
        if age < forgotten and i + 1 != own and places[i][0] == places[i][0]
    )


def clipped(value: float, low: float, high: float) -> float:
    """A number between two others."""
    return low if value < low else high if value > high else value
