"""Strategies by name, from bad to good: compiled players for thousands of matches, and for any other match.

    strategy("roles")                           # its traits
    decide = strategy_decide("roles-pass")      # plays as `decide(percept, memory)` in both worlds
    strategy_names()

All are the same compiled function (`decisions.decide_player`) with other traits. `nutmeg tournament` measures how good
they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.request import Dive, GetUp, Kick, Look, Request, Stand, Walk
from nutmeg.match.players.strategies.decisions import decide_one
from nutmeg.match.players.strategies.records import (
    INTENT_NAMES,
    GameRecord,
    GroundRecord,
    OrderRecord,
    ground_of,
    new_memories,
)
from nutmeg.match.players.tracking.records import BeliefRecord, belief_record
from nutmeg.match.rules.play_modes import mode_named
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import Decide, Memory, View
    from nutmeg.match.players.request import Legs as RequestLegs


STANDS_STILL, WANDERS_ABOUT, PLAYS_SOCCER = 0, 1, 2
"""What a strategy does at all (`Strategy.plays`)."""
EVERYONE = 11
"""So many chasers are the whole team."""
MEMORY_KEY = "strategy"
"""Name of what a strategy keeps in a player's memory."""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The traits of a strategy."""

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
    """Whether players that do not go for the ball take places around it, or stay where they are."""
    passes: bool = False
    """Whether it passes to team-mates who are ahead."""
    avoids: bool = False
    """Whether it walks around others."""
    pace: float = 1.0
    """Share of the top speed."""


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


def strategy_decide(which: str | Strategy) -> Decide:
    """A strategy as a player for any world."""
    traits = record_values(strategy(which) if isinstance(which, str) else which)
    # Compiled now, so that the first decision of a match is as quick as all others.
    blank = new_records(BeliefRecord, 1), new_records(GameRecord, 1), new_records(GroundRecord, 1)
    decide_one(*blank, traits, new_memories(1, 1)[0], new_records(OrderRecord, 1))

    def decide(percept: View, memory: Memory) -> Request:
        if MEMORY_KEY not in memory:
            grounds = record_values(ground_of(memory.rules, memory.body))
            kept = new_memories(1, 1)[0], grounds, new_records(GameRecord, 1), new_records(OrderRecord, 1)
            memory[MEMORY_KEY] = kept
        memories, grounds, game, order = memory[MEMORY_KEY]
        belief = belief_record(percept.belief) if percept.belief_record is None else percept.belief_record
        mode, kicking = mode_named(percept.game.mode), percept.doing == "kick"
        game[0] = percept.time, mode, percept.side, percept.number, memory.players, kicking
        decide_one(belief, game, grounds, traits, memories, order)
        return request_of(order, belief)

    return decide


def request_of(order: Records[OrderRecord], belief: Records[BeliefRecord]) -> Request:
    """What an order (1,) stands for; the ball of a kick is where the player believes it."""
    one = OrderRecord(*order[0].tolist())  # type: ignore[attr-defined]
    return Request(
        legs=_legs(one, belief),
        look=Look(yaw=one.yaw, pitch=one.pitch),
        beam=(one.beam_x, one.beam_y, math.degrees(one.beam_heading)) if one.beams else None,
        intent=INTENT_NAMES[one.intent],
    )


def _legs(order: OrderRecord, belief: Records[BeliefRecord]) -> RequestLegs:
    match Legs(order.legs):
        case Legs.WALK:
            return Walk(ahead=order.ahead, left=order.left, turn=order.turn)
        case Legs.KICK:
            x, y = float(belief["ball_x"][0] - belief["x"][0]), float(belief["ball_y"][0] - belief["y"][0])
            c, s = math.cos(belief["heading"][0]), math.sin(belief["heading"][0])
            left_foot = order.kick in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE)
            place = c * x + s * y, c * y - s * x
            return Kick(ball=place, strength=order.strength, foot="left" if left_foot else "right")
        case Legs.DIVE_LEFT:
            return Dive(side="left")
        case Legs.DIVE_RIGHT:
            return Dive(side="right")
        case Legs.GET_UP:
            return GetUp()
    return Stand()
