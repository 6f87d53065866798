"""Penalty shoot-outs, which are an option."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Rules
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


@pytest.fixture
def shoot_out(rules: Rules, tools: Any) -> Any:
    """A game of no length that goes straight to penalties, three a side."""
    rules = rules.with_match(half_length=0.1, automatic_kick_off=True, wait_before_kick_off=0.0)
    rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=True, rounds=2, most_rounds=3))
    game = tools.Game(rules, players=3)
    for side in Side:
        game.put(side, 1, -14.0 * side.sign, 0.0)
    game.seconds(0.3)
    assert game.state.half == 5
    return game


def next_kick(game: Any) -> tuple[Side, int]:
    """Wait for the next kick; its side, and the kicker's number."""
    while game.state.mode not in (PlayMode.KICK_OFF_LEFT, PlayMode.KICK_OFF_RIGHT):
        game.cycle()
    return game.state.shoot_out.side, game.state.shoot_out.kicker + 1


def kick(game: Any, *, goal: bool) -> None:
    side, number = next_kick(game)
    game.cycle([(side, number)])
    assert game.state.mode is PlayMode.PLAY_ON
    line, y = side.sign * game.rules.pitch.length / 2, 0.0 if goal else 1.5
    game.roll_ball((line - 0.1 * side.sign, y), (line + 0.2 * side.sign, y))


def test_kicks_are_taken_in_turns_by_field_players_from_six_metres(shoot_out: Any) -> None:
    kickers = []
    for _ in range(4):
        kickers.append(next_kick(shoot_out))
        side, number = kickers[-1]
        assert shoot_out.ball[0] == pytest.approx(9.0 * side.sign)
        assert shoot_out.place_of(side, number) == pytest.approx((5.0 * side.sign, 0.0))
        others = np.ones((2, 11), bool) & shoot_out.present
        others[side, number - 1] = others[side.other, 0] = False
        waiting = shoot_out.position[others]
        assert np.hypot(waiting[:, 0], waiting[:, 1]).max() <= 2.0
        kick(shoot_out, goal=False)
    first = kickers[0][0]
    assert kickers == [(first, 2), (first.other, 2), (first, 3), (first.other, 3)]


def test_the_first_round_with_a_winner_after_the_least_rounds_ends_it(shoot_out: Any) -> None:
    for goal in (True, False, False):
        kick(shoot_out, goal=goal)
        assert shoot_out.state.mode is not PlayMode.GAME_OVER
    kick(shoot_out, goal=False)
    assert shoot_out.state.mode is PlayMode.GAME_OVER
    assert sorted(shoot_out.state.score) == [0, 1]


def test_a_shoot_out_without_a_winner_ends_after_the_most_rounds(shoot_out: Any) -> None:
    for _ in range(6):
        kick(shoot_out, goal=True)
    assert shoot_out.state.mode is PlayMode.GAME_OVER
    assert shoot_out.state.score == (3, 3)


def test_a_kick_takes_at_most_25_seconds_and_one_touch(shoot_out: Any, tools: Any) -> None:
    next_kick(shoot_out)
    texts = [e.text for e in tools.events(shoot_out.seconds(25.1), "shoot_out")]
    assert "time for the kick is over" in texts[0]
    side, number = next_kick(shoot_out)
    shoot_out.ball_velocity[0] = 1.0
    shoot_out.cycle([(side, number)])
    shoot_out.seconds(0.2)
    texts = [e.text for e in tools.events(shoot_out.cycle([(side, number)]), "shoot_out")]
    assert "touched the ball twice" in texts[0]


def test_a_ball_at_rest_ends_a_kick_and_a_goalie_who_leaves_its_area_gives_a_goal(shoot_out: Any, tools: Any) -> None:
    side, number = next_kick(shoot_out)
    shoot_out.cycle([(side, number)])
    texts = [e.text for e in tools.events(shoot_out.seconds(1.1), "shoot_out")]
    assert "lies still" in texts[0]
    side, number = next_kick(shoot_out)
    shoot_out.put(side.other, 1, 12.0 * side.sign, 0.0)
    shoot_out.cycle([(side, number)])
    shoot_out.cycle()
    assert shoot_out.state.score[side] == 1


@pytest.fixture
def spl_shoot_out(spl: Rules, tools: Any) -> Any:
    """Penalties of the Standard Platform League, four a side."""
    rules = spl.with_match(half_length=0.1, wait_before_kick_off=0.0)
    rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, rounds=2, most_rounds=3))
    game = tools.Game(rules, players=4)
    game.seconds(0.3)
    assert game.state.half == 5
    return game


def test_one_striker_and_one_keeper_are_left_and_the_ball_lies_on_the_mark(spl_shoot_out: Any) -> None:
    for _ in range(2):
        side, number = next_kick(spl_shoot_out)
        assert tuple(spl_shoot_out.ball[:2]) == pytest.approx((1.2 * side.sign, 0.0))
        assert spl_shoot_out.place_of(side, number) == pytest.approx((0.0, 0.0))
        assert spl_shoot_out.place_of(side.other, 1) == pytest.approx((3.0 * side.sign, 0.0))
        others = spl_shoot_out.present.copy()
        others[side, number - 1] = others[side.other, 0] = False
        assert np.abs(spl_shoot_out.position[others][:, 1]).min() == pytest.approx(2.35)
        kick(spl_shoot_out, goal=False)


def test_a_striker_may_dribble_but_not_into_the_area(spl_shoot_out: Any, tools: Any) -> None:
    side, number = next_kick(spl_shoot_out)
    for x in (1.2, 1.6, 2.0, 2.3):
        spl_shoot_out.put_ball(x * side.sign, 0.0)
        assert not tools.events(spl_shoot_out.cycle([(side, number)]), "shoot_out")
        assert not tools.events(spl_shoot_out.seconds(1.0), "shoot_out")
    spl_shoot_out.put_ball(2.5 * side.sign, 0.0)
    (event,) = tools.events(spl_shoot_out.cycle([(side, number)]), "shoot_out")
    assert "touched the ball in the area" in event.text


def test_a_keeper_may_leave_its_area_but_not_touch_the_ball_there(spl_shoot_out: Any) -> None:
    side, number = next_kick(spl_shoot_out)
    spl_shoot_out.cycle([(side, number)])
    spl_shoot_out.put(side.other, 1, 1.5 * side.sign, 0.0)
    spl_shoot_out.seconds(1.0)
    assert spl_shoot_out.state.score == (0, 0)
    spl_shoot_out.cycle([(side.other, 1)])
    assert spl_shoot_out.state.score[side] == 1


def test_a_striker_has_a_minute(spl_shoot_out: Any, tools: Any) -> None:
    next_kick(spl_shoot_out)
    assert not tools.events(spl_shoot_out.seconds(59.9), "shoot_out")
    (event,) = tools.events(spl_shoot_out.seconds(0.3), "shoot_out")
    assert "time for the kick is over" in event.text


def test_a_shoot_out_ends_with_a_winner(spl_shoot_out: Any) -> None:
    for goal in (True, False, True, False):
        kick(spl_shoot_out, goal=goal)
    assert spl_shoot_out.state.mode is PlayMode.GAME_OVER
    assert sorted(spl_shoot_out.state.score) == [0, 2]
