"""The tactics in Python: one player's records, and what its orders mean as requests.

tactician = Tactician("builtin", ground_of(rules, body), number=2, players=4)
request = tactician.decide(belief_record(belief), time=12.34, mode="PlayOn", side=Side.LEFT)
tactician.hear(report)                      # what a team-mate says
encode(tactician.report(...))               # and what to tell them

decide = strategy_decide("roles-pass")      # plays as `decide(percept, memory)` in both worlds
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import TYPE_CHECKING, Literal

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.messages import MAX_ARRIVAL_TIME, MAX_REPORTED_AGE, Report, cycles_to_turn, decode, encode
from nutmeg.match.players.request import DECISION_INTERVAL, Dive, GetUp, Kick, Look, Request, Stand, Walk
from nutmeg.match.players.tactics.decisions import decide_one
from nutmeg.match.players.tactics.records import (
    INTENT_NAMES,
    GameRecord,
    GroundRecord,
    OrderRecord,
    PlayerRecords,
    ground_of,
    new_memories,
)
from nutmeg.match.players.tactics.strategies import Strategy, strategy
from nutmeg.match.players.tracking.records import BeliefRecord, belief_record
from nutmeg.match.rules.play_modes import PlayMode, mode_named
from nutmeg.match.worlds.behavioural.state import KickKind, Legs

if TYPE_CHECKING:
    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import Decide, Memory, View
    from nutmeg.match.players.request import Foot
    from nutmeg.match.players.request import Legs as RequestLegs
    from nutmeg.match.players.tactics.records import MemoryRecord
    from nutmeg.match.rules.play_modes import Side

MEMORY_KEY = "tactics"
"""Name of what a strategy keeps in a player's memory."""
GAITS: tuple[Literal["walk", "sprint", "positioning"], ...] = ("walk", "sprint", "positioning")
"""Names of the walk's sets of parameters, by `Gait`."""


class Tactician:
    """The tactics of one player.

    Args:
        which: a strategy, by its name or its parameters.
        ground: pitch and body.
        number: of the player.
        players: how many its team has.
    """

    def __init__(self, which: str | Strategy, ground: GroundRecord, *, number: int, players: int) -> None:
        self.number, self._players = number, players
        self.records = PlayerRecords(
            beliefs=new_records(BeliefRecord, 1),
            games=new_records(GameRecord, 1),
            grounds=record_values(ground),
            traits=record_values(strategy(which) if isinstance(which, str) else which),
            memories=new_memories(1, 1)[0],
            orders=new_records(OrderRecord, 1),
        )
        """What the tactics read and write."""

    @property
    def memory(self) -> MemoryRecord:
        """What the player remembers from one decision to the next."""
        return self.records.memories[0]

    def hear(self, report: Report) -> None:
        """Takes note of what a team-mate says."""
        if report.number != self.number:
            arrival = math.inf if report.arrival >= MAX_ARRIVAL_TIME else report.arrival
            self.records.memories["reports"][0, report.number - 1] = report.time, arrival, report.goes, report.post

    def decide(
        self, belief: Records[BeliefRecord], *, time: float, mode: str, side: Side, kicking: bool = False
    ) -> Request:
        """What the player wants.

        Args:
            belief: (1,) what it believes.
            time: of the world, s.
            mode: the play mode, as it is spelt on the wire.
            side: the end that its team defends.
            kicking: whether a kick of it goes on.
        """
        decide_one(self.told(belief, time=time, mode=mode, side=side, kicking=kicking))
        return request_of(self.records.orders)

    def told(
        self, belief: Records[BeliefRecord], *, time: float, mode: str, side: Side, kicking: bool = False
    ) -> PlayerRecords:
        """The records, with what the player is told now; arguments are those of `decide`."""
        game = self.records.games
        game["time"], game["mode"], game["side"], game["kicking"] = time, _mode(mode), side, kicking
        game["number"], game["players"] = self.number, self._players
        self.records.beliefs[:] = belief
        return self.records

    def report(self, belief: Records[BeliefRecord]) -> Report | None:
        """What to tell the team-mates after a decision; None when the match is over."""
        one, memory, game = belief[0], self.memory, self.records.games[0]
        if game.mode == PlayMode.GAME_OVER:
            return None
        known = one.seen_ago < MAX_REPORTED_AGE
        return Report(
            number=self.number,
            time=float(game.time),
            place=(float(one.x), float(one.y)),
            heading=float(one.heading),
            fallen=not one.upright,
            goes=bool(memory.goes),
            arrival=min(float(memory.arrival), MAX_ARRIVAL_TIME),
            ball=(float(one.ball_x), float(one.ball_y)) if known else None,
            ball_velocity=(float(one.ball_vx), float(one.ball_vy)),
            ball_age=min(float(one.seen_ago), MAX_REPORTED_AGE),
            post=int(memory.post),
        )


@cache
def _compile() -> None:
    """Compiles the tactics now, so that the first decision of a match is as quick as all others."""
    decide_one(
        PlayerRecords(
            beliefs=new_records(BeliefRecord, 1),
            games=new_records(GameRecord, 1),
            grounds=new_records(GroundRecord, 1),
            traits=new_records(Strategy, 1),
            memories=new_memories(1, 1)[0],
            orders=new_records(OrderRecord, 1),
        )
    )


@cache
def _mode(name: str) -> PlayMode:
    return mode_named(name)


def strategy_decide(which: str | Strategy) -> Decide:
    """A strategy as a player for any world.

    Where the world does not share beliefs between team-mates, as the physical one, players tell each other when they
    could play the ball.
    """
    _compile()

    def decide(percept: View, memory: Memory) -> Request:
        if MEMORY_KEY not in memory:
            ground = ground_of(memory.rules, memory.body)
            memory[MEMORY_KEY] = Tactician(which, ground, number=memory.number, players=memory.players)
        tactician: Tactician = memory[MEMORY_KEY]
        tactician.number = percept.number
        belief = belief_record(percept.belief) if percept.belief_record is None else percept.belief_record
        if not percept.shares_beliefs:
            for heard in percept.heard:
                report = decode(heard.message, percept.time) if heard.team == percept.team else None
                if report is not None:
                    tactician.hear(report)
        request = tactician.decide(
            belief, time=percept.time, mode=percept.game.mode, side=percept.side, kicking=percept.doing == "kick"
        )
        if percept.shares_beliefs:
            return request
        # What is said is that of the last decision before the player's turn: earlier ones need not be put into words.
        turn = cycles_to_turn(number=percept.number, players=memory.players, time=percept.time)
        said = tactician.report(belief) if turn * CONTROL_CYCLE < DECISION_INTERVAL else None
        return request if said is None else dataclasses.replace(request, say=encode(said))

    return decide


def request_of(order: Records[OrderRecord]) -> Request:
    """What an order (1,) stands for."""
    one = OrderRecord(*order[0].tolist())  # type: ignore[attr-defined]
    return Request(
        legs=_legs(one),
        look=Look(yaw=one.yaw, pitch=one.pitch),
        beam=(one.beam_x, one.beam_y, math.degrees(one.beam_heading)) if one.beams else None,
        wants_pass=one.wants_pass,
        intent=INTENT_NAMES[one.intent],
    )


def _legs(order: OrderRecord) -> RequestLegs:
    match Legs(order.legs):
        case Legs.WALK:
            return Walk(ahead=order.ahead, left=order.left, turn=order.turn, set=GAITS[order.gait])
        case Legs.KICK:
            foot: Foot = "left" if order.kick in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE) else "right"
            return Kick(ball=(order.ball_ahead, order.ball_left), strength=order.strength, foot=foot)
        case Legs.DIVE_LEFT:
            return Dive(side="left")
        case Legs.DIVE_RIGHT:
            return Dive(side="right")
        case Legs.GET_UP:
            return GetUp()
    return Stand()
