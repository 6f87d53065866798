"""The compiled tactics for callers in Python: the records of one player, and its orders as requests.

tactician = Tactician("builtin", ground_of(rules, body), number=2, players=4)
request = tactician.decide(belief_record(belief), time=12.34, mode="PlayOn", side=Side.LEFT)
tactician.hear(report)                      # the report of a team-mate
encode(tactician.report(...))               # the own report, as a message

decide = strategy_decide("roles-pass")      # a player `decide(percept, memory)` for both worlds
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import TYPE_CHECKING, Literal

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.messages import MAX_ARRIVAL_TIME, Report, cycles_to_turn, decode, encode, report_of
from nutmeg.match.players.request import DECISION_INTERVAL, Dive, Dribble, GetUp, Kick, Look, Request, Stand, Walk
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
    from collections.abc import Callable

    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import Decide, Memory, View
    from nutmeg.match.players.request import Foot
    from nutmeg.match.players.request import KickKind as RequestKind
    from nutmeg.match.players.request import Legs as RequestLegs
    from nutmeg.match.players.tactics.records import MemoryRecord
    from nutmeg.match.rules.play_modes import Side

MEMORY_KEY = "tactics"
"""Key under which a strategy keeps its `Tactician` in a player's memory."""
GAITS: tuple[Literal["walk", "sprint", "positioning"], ...] = ("walk", "sprint", "positioning")
"""Names of the walk's sets of parameters, by `Gait`."""


class Tactician:
    """The tactics of one player.

    Args:
        which: the strategy, by its name or its parameters.
        ground: pitch and body.
        number: the player's number.
        players: number of players of its team.
        decide: the compiled function that decides for its records.
    """

    def __init__(
        self,
        which: str | Strategy,
        ground: GroundRecord,
        *,
        number: int,
        players: int,
        decide: Callable[[PlayerRecords], None] = decide_one,
    ) -> None:
        self.number, self._players, self._decide = number, players, decide
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
        """Remembers the report of a team-mate."""
        if report.number != self.number:
            arrival = math.inf if report.arrival >= MAX_ARRIVAL_TIME else report.arrival
            self.records.memories["reports"][0, report.number - 1] = report.time, arrival, report.goes, report.post

    def decide(
        self, belief: Records[BeliefRecord], *, time: float, mode: str, side: Side, kicking: bool = False
    ) -> Request:
        """The request of the player.

        Args:
            belief: its belief (1,).
            time: time of the world, s.
            mode: the play mode, as it is spelt on the wire.
            side: the end that its team defends.
            kicking: whether it is performing a kick.
        """
        game = self.records.games
        game["time"], game["mode"], game["side"], game["kicking"] = time, _mode(mode), side, kicking
        game["number"], game["players"] = self.number, self._players
        self.records.beliefs[:] = belief
        self._decide(self.records)
        return request_of(self.records.orders)

    def report(self, belief: Records[BeliefRecord]) -> Report | None:
        """The report to team-mates after a decision; None when the match is over."""
        memory, game = self.memory, self.records.games[0]
        if game.mode == PlayMode.GAME_OVER:
            return None
        return report_of(
            self.number,
            float(game.time),
            belief[0],
            goes=bool(memory.goes),
            arrival=float(memory.arrival),
            post=int(memory.post),
        )


@cache
def _compile(decide: Callable[[PlayerRecords], None]) -> None:
    """Compiles tactics now, so that the first decision of a match is as quick as all others."""
    decide(
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


def strategy_decide(which: str | Strategy, decides: Callable[[PlayerRecords], None] = decide_one) -> Decide:
    """A strategy as a player for any world; `decides` is the compiled function that decides by it.

    In a world that does not share beliefs between team-mates, as the physical one, players send each other reports.
    """
    _compile(decides)

    def decide(percept: View, memory: Memory) -> Request:
        if MEMORY_KEY not in memory:
            ground = ground_of(memory.rules, memory.body)
            memory[MEMORY_KEY] = Tactician(which, ground, number=memory.number, players=memory.players, decide=decides)
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
        # Players speak in turn, so only the report of the last decision before the own turn has to be encoded.
        turn = cycles_to_turn(number=percept.number, players=memory.players, time=percept.time)
        said = tactician.report(belief) if turn * CONTROL_CYCLE < DECISION_INTERVAL else None
        return request if said is None else dataclasses.replace(request, say=encode(said))

    return decide


def request_of(order: Records[OrderRecord]) -> Request:
    """The request that an order (1,) stands for."""
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
            gait = GAITS[order.gait]
            if not order.dribbles:
                return Walk(ahead=order.ahead, left=order.left, turn=order.turn, set=gait)
            return Dribble(
                ahead=order.ahead,
                left=order.left,
                turn=order.turn,
                set=gait,
                direction=order.direction,
                ball=(order.ball_ahead, order.ball_left),
                ball_velocity=(order.ball_vx, order.ball_vy),
            )
        case Legs.KICK:
            foot: Foot = "left" if order.kick in (KickKind.LEFT_STRAIGHT, KickKind.LEFT_SIDE) else "right"
            kind: RequestKind = "shot" if order.shoots else "straight"
            return Kick(ball=(order.ball_ahead, order.ball_left), kind=kind, strength=order.strength, foot=foot)
        case Legs.DIVE_LEFT:
            return Dive(side="left", passes=order.ball_left)
        case Legs.DIVE_RIGHT:
            return Dive(side="right", passes=order.ball_left)
        case Legs.GET_UP:
            return GetUp()
    return Stand()
