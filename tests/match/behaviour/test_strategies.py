"""Compiled strategies: there are enough of them, and their traits are what they do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.behavioural import kick_of, order_from
from nutmeg.match.players.decide import abilities_of
from nutmeg.match.players.request import Dive, GetUp, Kick, Request, Walk
from nutmeg.match.players.strategies.decisions import decide_row
from nutmeg.match.players.strategies.records import (
    BALL_X,
    BALL_Y,
    BEAMS,
    BELIEF,
    GAME,
    KICK,
    LEGS,
    MATES,
    MODE,
    NUMBER,
    OPPONENTS,
    ORDER,
    PLAYERS,
    SEEN,
    TIME,
    TOLD,
    UPRIGHT,
    WISH,
    X,
    Y,
    belief_of,
    belief_row,
    new_minds,
)
from nutmeg.match.players.strategies.strategies import ground_row, request_of, strategy, strategy_names
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Orders

RULES = load_rules("spl2011")
GROUND = ground_row(RULES, abilities_of(load_behaviour("nao")))


def belief(x: float, y: float, ball: tuple[float, float]) -> np.ndarray:
    row = np.zeros(BELIEF)
    row[[X, Y, BALL_X, BALL_Y, SEEN, TOLD, UPRIGHT]] = x, y, *ball, 0.0, math.inf, 1.0
    others = row[MATES:].reshape(-1, 4)
    others[:, :2], others[:, 2] = math.nan, math.inf
    return row


def order(
    name: str, row: np.ndarray, *, number: int = 2, mode: PlayMode = PlayMode.PLAY_ON, mind: np.ndarray | None = None
) -> np.ndarray:
    game, found = np.zeros(GAME), np.zeros(ORDER)
    game[[TIME, MODE, NUMBER, PLAYERS]] = 10.0, mode, number, 4
    decide_row(row, game, GROUND, strategy(name).row(), new_minds() if mind is None else mind, found)
    return found


def test_there_are_at_least_eight_strategies_and_unknown_ones_are_refused() -> None:
    assert len(strategy_names()) >= 8
    with pytest.raises(UnknownNameError, match="roles"):
        strategy("role")


def test_a_statue_stands_and_the_others_move() -> None:
    row = belief(-1.0, 0.3, (0.5, 0.0))
    assert order("statue", row)[LEGS] == Legs.STAND
    for name in strategy_names()[1:]:
        assert order(name, row)[LEGS] == Legs.WALK, name


def test_a_ball_before_the_foot_is_kicked_with_that_foot() -> None:
    ahead, aside = GROUND[11:13]
    for side, kind in ((1.0, KickKind.LEFT_STRAIGHT), (-1.0, KickKind.RIGHT_STRAIGHT)):
        wish = order("roles", belief(0.0, 0.0, (ahead, side * aside)))
        assert wish[LEGS] == Legs.KICK
        assert wish[KICK] == kind


def test_one_goes_for_the_ball_and_the_others_hold_their_posts() -> None:
    row = belief(-1.0, 0.0, (0.5, 0.0))
    row[MATES + 4 * 2 : MATES + 4 * 2 + 4] = 0.2, 0.0, 0.0, 0.0
    near, far = order("everyone-aims", row), order("roles", row)
    assert near[WISH] > 0.1, "everybody chases"
    row[MATES + 4 * 2] = -2.5
    assert order("roles", row)[WISH] > 0.1
    assert far[WISH] < 0.1, "a team-mate is nearer"


def test_a_keeper_stays_between_ball_and_goal() -> None:
    row = belief(-2.85, 0.5, (2.0, 0.0))
    wish = order("roles", row, number=1)
    assert wish[LEGS] == Legs.WALK
    assert wish[WISH + 1] < 0, "back to the middle of the goal"
    assert order("roles-no-keeper", row, number=1)[WISH] > 0.1


def test_players_keep_away_when_others_put_the_ball_into_play() -> None:
    row = belief(-0.3, 0.0, (0.0, 0.0))
    assert order("roles", row, mode=PlayMode.KICK_OFF_RIGHT)[WISH] < 0
    assert order("roles", row, mode=PlayMode.KICK_OFF_LEFT)[WISH] > 0


def test_players_line_up_where_the_rules_let_them() -> None:
    row = belief(2.0, 1.0, (0.0, 0.0))
    game, found, mind = np.zeros(GAME), np.zeros(ORDER), new_minds()
    for time in (0.0, 1.0):
        game[[TIME, MODE, NUMBER, PLAYERS]] = time, PlayMode.BEFORE_KICK_OFF, 3, 4
        decide_row(row, game, GROUND, strategy("roles").row(), mind, found)
    assert found[BEAMS] == 1.0
    assert request_of(found, belief_of(row, 0.0)).beam is not None
    assert request_of(found, belief_of(row, 0.0)).beam[0] < 0  # type: ignore[index]


def test_who_lies_gets_up() -> None:
    row = belief(0.0, 0.0, (1.0, 0.0))
    row[UPRIGHT] = 0.0
    assert request_of(order("roles", row), belief_of(row, 0.0)).legs == GetUp()


def test_a_row_and_its_belief_are_the_same() -> None:
    row = np.random.default_rng(1).normal(size=BELIEF)
    row[UPRIGHT] = 1.0
    for first in (MATES, OPPONENTS):
        row[first : first + 44].reshape(11, 4)[:, 3] = 0.0
    assert np.array_equal(belief_row(belief_of(row, 3.0)), row)


def test_requests_become_orders() -> None:
    orders = Orders.new(1)
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
