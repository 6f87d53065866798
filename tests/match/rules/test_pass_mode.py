"""Pass mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def ask(game: Any, side: Side = LEFT, number: int = 7) -> list[Any]:
    wants = np.zeros((2, 11), bool)
    wants[side, number - 1] = True
    return list(game.cycle(wants_pass=wants))


@pytest.fixture
def at_ball(live: Any) -> Any:
    """Left 7 stands at a resting ball, the next opponent 3 m away."""
    live.put_ball(1.0, 1.0)
    live.put(LEFT, 7, 0.8, 1.0)
    live.put(RIGHT, 7, 4.0, 1.0)
    live.cycle()
    return live


def test_a_player_at_a_resting_ball_gets_pass_mode_for_four_seconds(at_ball: Any) -> None:
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PASS_LEFT
    at_ball.seconds(3.96)
    assert at_ball.state.mode is PlayMode.PASS_LEFT
    at_ball.seconds(0.06)
    assert at_ball.state.mode is PlayMode.PLAY_ON


def test_pass_mode_ends_with_a_touch(at_ball: Any) -> None:
    ask(at_ball)
    at_ball.cycle([(LEFT, 7)])
    assert at_ball.state.mode is PlayMode.PLAY_ON


def test_opponents_are_kept_a_metre_away(at_ball: Any, tools: Any) -> None:
    ask(at_ball)
    at_ball.put(RIGHT, 7, 1.5, 1.0)
    moved = tools.moves(at_ball.cycle())
    assert [(m.side, m.number, m.place) for m in moved] == [(RIGHT, 7, pytest.approx((2.1, 1.0)))]


def test_pass_mode_is_refused_far_from_the_ball_near_opponents_and_to_a_rolling_ball(at_ball: Any) -> None:
    at_ball.put(LEFT, 7, 0.4, 1.0)
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PLAY_ON
    at_ball.put(LEFT, 7, 0.8, 1.0)
    at_ball.put(RIGHT, 7, 1.9, 1.0)
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PLAY_ON
    at_ball.put(RIGHT, 7, 4.0, 1.0)
    at_ball.ball_velocity[0] = 0.1
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PLAY_ON
    at_ball.ball_velocity[0] = 0.0
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PASS_LEFT


def test_pass_mode_is_refused_again_for_three_seconds(at_ball: Any) -> None:
    ask(at_ball)
    at_ball.cycle([(LEFT, 7)])
    at_ball.seconds(2.5)
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PLAY_ON
    at_ball.seconds(0.5)
    ask(at_ball)
    assert at_ball.state.mode is PlayMode.PASS_LEFT


def test_no_goal_within_ten_seconds_of_pass_mode(at_ball: Any, tools: Any) -> None:
    ask(at_ball)
    at_ball.cycle([(LEFT, 7)])
    heard = at_ball.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert at_ball.state.mode is PlayMode.GOAL_KICK_RIGHT
    assert "pass mode" in tools.events(heard, "no_goal")[0].text


def test_goals_count_again_after_ten_seconds(at_ball: Any) -> None:
    ask(at_ball)
    at_ball.cycle([(LEFT, 7)])
    at_ball.seconds(10.02)
    at_ball.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert at_ball.state.score == (1, 0)


def test_goals_count_at_once_after_a_pass_out_of_the_circle(at_ball: Any) -> None:
    ask(at_ball)
    at_ball.cycle([(LEFT, 7)])
    at_ball.put_ball(1.5, 1.0)
    at_ball.cycle([(LEFT, 7)])
    at_ball.put_ball(3.0, 1.0)
    at_ball.cycle([(LEFT, 8)])
    at_ball.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert at_ball.state.score == (1, 0)
