"""Strategies by name, from bad to good: compiled players for thousands of matches, and for any other match.

    strategy("roles")                           # its traits
    decide = strategy_decide("roles-pass")      # plays as `decide(percept, memory)` in both worlds
    strategy_names()

Each is the same compiled function (`strategy_kernels`) with other traits. How good they are is measured, not said:
`nutmeg tournament` lets them play each other.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.request import Dive, GetUp, Kick, Look, Request, Stand, Walk
from nutmeg.match.players.strategies.decisions import decide_row
from nutmeg.match.players.strategies.records import (
    BEAM,
    BEAMS,
    BELIEF,
    GAME,
    GROUND,
    INTENT,
    INTENTS,
    KICK,
    LEGS,
    ORDER,
    PITCH,
    STRENGTH,
    WISH,
    YAW,
    belief_row,
    new_minds,
)
from nutmeg.match.rules.play_modes import mode_named
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Abilities, Decide, Memory, View
    from nutmeg.match.players.request import Legs as RequestLegs
    from nutmeg.match.rules.book import Rules


STANDS_STILL, WANDERS_ABOUT, PLAYS_SOCCER = 0, 1, 2
EVERYONE = 11
MEMORY_KEY = "strategy"
"""Under which name a strategy keeps what it has in mind in a player's memory."""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The traits of a strategy, in the order of `strategy_rows`."""

    plays: int = PLAYS_SOCCER
    """Whether it stands, wanders about or plays."""
    chasers: int = 1
    """How many go for the ball at a time."""
    aims: int = 2
    """Whether it plays the ball away from itself (0), at the goal (1), or past opponents (2)."""
    kicks: bool = True
    """Whether it kicks, or walks through the ball."""
    keeper: bool = False
    """Whether number 1 keeps the goal."""
    dives: bool = False
    """Whether the keeper dives."""
    posts: bool = False
    """Whether who does not go for the ball takes places around it, or stays where it is."""
    passes: bool = False
    """Whether it passes to team-mates who are ahead."""
    avoids: bool = False
    """Whether it walks around others."""
    pace: float = 1.0
    """Share of the top speed."""

    def row(self) -> Floats:
        """(10,) for the kernels."""
        return np.array([float(value) for value in astuple(self)])


STRATEGIES = {
    "statue": Strategy(plays=STANDS_STILL),
    "wanderer": Strategy(plays=WANDERS_ABOUT),
    "everyone-chases": Strategy(chasers=EVERYONE, aims=0, kicks=False),
    "kick-anywhere": Strategy(chasers=EVERYONE, aims=0),
    "everyone-aims": Strategy(chasers=EVERYONE, aims=1, avoids=True),
    "attacker-keeper": Strategy(chasers=1, aims=1, keeper=True),
    "dribblers": Strategy(chasers=1, aims=1, kicks=False, posts=True, avoids=True, keeper=True),
    "roles-no-keeper": Strategy(posts=True, avoids=True),
    "roles": Strategy(posts=True, avoids=True, keeper=True, dives=True),
    "roles-pass": Strategy(posts=True, avoids=True, keeper=True, dives=True, passes=True),
}
"""By name, from bad to good as one would guess."""


def strategy_names() -> list[str]:
    """The strategies that come with Nutmeg."""
    return list(STRATEGIES)


def strategy(name: str) -> Strategy:
    """The traits of a strategy by its name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    return STRATEGIES[name]


def ground_row(rules: Rules, body: Abilities) -> Floats:
    """(22,) the pitch, and what a body can do on it."""
    pitch = rules.pitch
    return np.array(
        [
            *(pitch.length, pitch.width, pitch.goal_width, pitch.penalty_depth, pitch.penalty_width),
            *(pitch.circle_radius, rules.restarts.distance),
            *(body.ahead, body.back, body.side, body.turn),
            *(*body.kick_place, *body.kick_slack, body.kick_reach),
            *(body.eyes, body.lower_eye, one_touch(rules)),
            *(body.ball_slows, body.ball_damped, body.dive_reach),
        ],
        float,
    )


def one_touch(rules: Rules) -> bool:
    """Whether who puts the ball into play must leave it to somebody else."""
    return rules.restarts.watch_taker


def strategy_decide(which: str | Strategy) -> Decide:
    """A strategy as a player for any world."""
    traits = (strategy(which) if isinstance(which, str) else which).row()
    decide_row(np.zeros(BELIEF), np.zeros(GAME), np.ones(GROUND), traits, new_minds(), np.zeros(ORDER))  # compiled now

    def decide(percept: View, memory: Memory) -> Request:
        if MEMORY_KEY not in memory:
            memory[MEMORY_KEY] = new_minds(), ground_row(memory.rules, memory.body)
        mind, ground = memory[MEMORY_KEY]
        game, order = np.empty(GAME), np.empty(ORDER)
        mode, doing = mode_named(percept.game.mode), percept.doing
        game[:] = percept.time, mode, percept.side, percept.number, memory.players, doing == "kick"
        decide_row(belief_row(percept.belief), game, ground, traits, mind, order)
        return request_of(order, percept.belief)

    return decide


def request_of(order: Floats, belief: Belief) -> Request:
    """What a row of orders (13,) stands for."""
    beam = None
    if order[BEAMS] > 0.5:
        x, y, heading = order[BEAM : BEAM + 3].tolist()
        beam = x, y, float(np.degrees(heading))
    return Request(
        legs=_legs(order, belief),
        look=Look(yaw=float(order[YAW]), pitch=float(order[PITCH])),
        beam=beam,
        intent=INTENTS[int(order[INTENT])],
    )


def _legs(order: Floats, belief: Belief) -> RequestLegs:
    match Legs(int(order[LEGS])):
        case Legs.WALK:
            ahead, left, turn = order[WISH : WISH + 3].tolist()
            return Walk(ahead=ahead, left=left, turn=turn)
        case Legs.KICK:
            x, y = belief.to_body(belief.ball.place).tolist()
            left_foot = KickKind(int(order[KICK])) in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE)
            return Kick(ball=(x, y), strength=float(order[STRENGTH]), foot="left" if left_foot else "right")
        case Legs.DIVE_LEFT:
            return Dive(side="left")
        case Legs.DIVE_RIGHT:
            return Dive(side="right")
        case Legs.GET_UP:
            return GetUp()
    return Stand()
