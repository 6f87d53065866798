"""Compiled strategies: there are enough of them, and their traits are what they do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.records import Records, new_records, record_values
from nutmeg.match.players.behavioural import kick_of, order_from
from nutmeg.match.players.decide import abilities_of
from nutmeg.match.players.request import Dive, GetUp, Kick, Request, Walk
from nutmeg.match.players.tactics.decisions import decide_one
from nutmeg.match.players.tactics.records import (
    GameRecord,
    Intent,
    MemoryRecord,
    OrderRecord,
    PlayerRecords,
    ground_of,
    new_memories,
)
from nutmeg.match.players.tactics.strategies import strategy, strategy_names
from nutmeg.match.players.tactics.tactician import request_of
from nutmeg.match.players.tracking.records import BeliefRecord, belief_of, belief_record
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, MatchesState, Orders

RULES = load_rules("spl2011")
GROUND = record_values(ground_of(RULES, abilities_of(load_behaviour("nao"))))


def belief(x: float, y: float, ball: tuple[float, float]) -> Records[BeliefRecord]:
    records = new_records(BeliefRecord, 1)
    record = records[0]
    record.x, record.y, record.ball_x, record.ball_y = x, y, *ball
    record.heard_ago, record.upright = math.inf, True
    record.others["x"], record.others["y"], record.others["age"] = math.nan, math.nan, math.inf
    return records


def order(
    name: str,
    record: Records[BeliefRecord],
    *,
    number: int = 2,
    mode: PlayMode = PlayMode.PLAY_ON,
    memory: Records[MemoryRecord] | None = None,
    time: float = 10.0,
) -> Records[OrderRecord]:
    game, found = new_records(GameRecord, 1), new_records(OrderRecord, 1)
    memory = new_memories(1, 1)[0] if memory is None else memory
    game["mode"], game["number"], game["players"] = mode, number, 4
    # Velocities that are asked for do not jump: they are those of a second later.
    for moment in (time, time + 1.0):
        game["time"] = moment
        decide_one(PlayerRecords(record, game, GROUND, record_values(strategy(name)), memory, found))
    return found


def test_there_are_at_least_eight_strategies_and_unknown_ones_are_refused() -> None:
    assert len(strategy_names()) >= 8
    with pytest.raises(UnknownNameError, match="roles"):
        strategy("role")


def test_a_statue_stands_and_the_others_move() -> None:
    row = belief(-1.0, 0.3, (0.5, 0.0))
    assert order("statue", row)[0].legs == Legs.STAND
    for name in strategy_names()[1:]:
        assert order(name, row)[0].legs == Legs.WALK, name


def test_a_ball_before_the_foot_is_kicked_with_that_foot() -> None:
    ahead, aside = GROUND[0].body.kick.place
    for side, kind in ((1.0, KickKind.LEFT_STRAIGHT), (-1.0, KickKind.RIGHT_STRAIGHT)):
        wish = order("roles", belief(0.0, 0.0, (ahead, side * aside)))
        assert wish[0].legs == Legs.KICK
        assert wish[0].kick == kind


def test_one_goes_for_the_ball_and_the_others_hold_their_posts() -> None:
    row = belief(-1.0, 0.0, (0.5, 0.0))
    row[0].others[2] = 0.2, 0.0, 0.0, 0.0, 0.0, False
    assert order("everyone-aims", row)[0].intent == Intent.TO_THE_BALL, "everybody chases"
    assert order("roles", row)[0].intent == Intent.HOLD_POST, "a team-mate is nearer"
    row[0].others[2].x = -2.5
    assert order("roles", row)[0].intent == Intent.TO_THE_BALL


def test_a_keeper_stays_between_ball_and_goal() -> None:
    row = belief(-2.85, 0.5, (2.0, 0.0))
    wish = order("roles", row, number=1)
    assert wish[0].legs == Legs.WALK
    assert wish[0].left < 0, "back to the middle of the goal"
    assert order("roles-no-keeper", row, number=1)[0].ahead > 0.1


def test_players_keep_away_when_others_put_the_ball_into_play() -> None:
    row = belief(-0.3, 0.0, (0.0, 0.0))
    assert order("roles", row, mode=PlayMode.KICK_OFF_RIGHT)[0].ahead < 0
    assert order("roles", row, mode=PlayMode.KICK_OFF_LEFT)[0].ahead > 0


def test_players_line_up_where_the_rules_let_them() -> None:
    row = belief(2.0, 1.0, (0.0, 0.0))
    memory = new_memories(1, 1)[0]
    for time in (0.0, 1.0):
        found = order("roles", row, number=3, mode=PlayMode.BEFORE_KICK_OFF, memory=memory, time=time)
    assert found[0].beams
    beam = request_of(found).beam
    assert beam is not None
    assert beam[0] < 0


def test_who_lies_gets_up() -> None:
    row = belief(0.0, 0.0, (1.0, 0.0))
    row[0].upright = False
    assert request_of(order("roles", row)).legs == GetUp()


def test_a_record_and_its_belief_are_the_same() -> None:
    rng, records = np.random.default_rng(1), new_records(BeliefRecord, 1)
    record = records[0]
    for name in record.dtype.names:  # type: ignore[attr-defined]
        if name not in ("upright", "others"):
            setattr(record, name, rng.normal())
    for name in ("x", "y", "vx", "vy", "age"):
        record.others[name] = rng.normal(size=22)
    record.upright, record.others["lies"] = True, rng.random(22) < 0.5
    assert belief_record(belief_of(records, 3.0)) == records


def test_requests_become_orders() -> None:
    orders = Orders(MatchesState(1))
    for request, legs in (
        (Request(legs=Walk(ahead=0.1, turn=-0.2)), Legs.WALK),
        (Request(legs=Dive(side="right")), Legs.DIVE_RIGHT),
        (Request(legs=GetUp()), Legs.GET_UP),
        (Request(), Legs.STAND),
    ):
        order_from(request, orders, match=0, slot=4, lying=False)
        assert orders.legs[0, 4] == legs
    assert orders.wish[0, 4].tolist() == [0.1, 0.0, -0.2]
    order_from(Request(legs=Walk(ahead=0.1)), orders, match=0, slot=4, lying=True)
    assert orders.legs[0, 4] == Legs.GET_UP


def test_a_kick_to_the_left_is_one_with_the_right_foot() -> None:
    ball = (0.15, -0.05)
    assert kick_of(Kick(ball=ball)) is KickKind.RIGHT_STRAIGHT
    assert kick_of(Kick(ball=ball, foot="left")) is KickKind.LEFT_STRAIGHT
    assert kick_of(Kick(ball=ball, kind="left")) is KickKind.RIGHT_SIDE
    assert kick_of(Kick(ball=ball, kind="right")) is KickKind.LEFT_SIDE
