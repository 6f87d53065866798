"""Goals, and goals that do not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Foul, Rules
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def shoot(game: Any, by: tuple[Side, int], x: float = 15.0) -> list[Any]:
    """Somebody kicks the ball into the goal at +x or -x."""
    game.put_ball(np.sign(x) * 14.0, 0.3)
    heard = game.cycle([by])
    return [*heard, *game.roll_ball((np.sign(x) * 15.2, 0.4, 0.3))]


def test_a_goal_counts_and_is_followed_by_a_pause_and_a_kick_off_of_the_other_side(live: Any, tools: Any) -> None:
    heard = shoot(live, (LEFT, 9))
    assert live.state.score == (1, 0)
    assert live.state.mode is PlayMode.GOAL_LEFT
    goal = tools.events(heard, "goal")[0]
    assert (goal.side, goal.number, goal.text) == (LEFT, 9, "goal for left by left 9: 1:0")
    live.seconds(2.96)
    assert live.state.mode is PlayMode.GOAL_LEFT
    heard = live.seconds(0.06)
    assert live.state.mode is PlayMode.KICK_OFF_RIGHT
    assert tools.balls(heard) == [(0.0, 0.0)]


def test_an_own_goal_counts_for_the_opponents_and_names_no_scorer(live: Any, tools: Any) -> None:
    heard = shoot(live, (LEFT, 4), x=-15.0)
    assert live.state.score == (0, 1)
    assert tools.events(heard, "goal")[0].number is None
    assert "own goal" in tools.events(heard, "goal")[0].text


def test_a_ball_not_wholly_over_the_line_is_no_goal(live: Any) -> None:
    live.put_ball(14.9, 0.0)
    live.cycle([(LEFT, 9)])
    live.roll_ball((15.04, 0.0))
    assert live.state.mode is PlayMode.PLAY_ON
    live.roll_ball((15.043, 0.0))
    assert live.state.score == (1, 0)


def test_a_ball_over_the_crossbar_or_beside_the_post_is_out(live: Any) -> None:
    live.put_ball(14.9, 0.5, 0.9)
    live.cycle([(LEFT, 9)])
    live.roll_ball((15.2, 0.5, 0.75))
    assert live.state.mode is PlayMode.GOAL_KICK_RIGHT
    live.order(PlayMode.PLAY_ON)
    live.put_ball(14.9, 1.2)
    live.cycle([(RIGHT, 9)])
    live.roll_ball((15.3, 1.0))
    assert live.state.mode is PlayMode.CORNER_KICK_LEFT


def test_a_fast_ball_thrown_back_by_the_net_is_judged_where_it_crossed_the_line(live: Any) -> None:
    live.put_ball(14.9, 1.0)
    live.cycle([(LEFT, 9)])
    live.roll_ball((15.5, 1.04))
    assert live.state.score == (1, 0)


@pytest.mark.parametrize(
    ("mode", "touches", "x", "then", "why"),
    [
        (PlayMode.KICK_IN_LEFT, (7,), 1, PlayMode.GOAL_KICK_RIGHT, "straight from an indirect kick"),
        (PlayMode.FREE_KICK_LEFT, (7,), 1, PlayMode.GOAL_KICK_RIGHT, "straight from an indirect kick"),
        (PlayMode.OFFSIDE_LEFT, (7,), 1, PlayMode.GOAL_KICK_RIGHT, "straight from an indirect kick"),
        (PlayMode.CORNER_KICK_LEFT, (7,), 1, PlayMode.GOAL_LEFT, ""),
        (PlayMode.DIRECT_FREE_KICK_LEFT, (7,), 1, PlayMode.GOAL_LEFT, ""),
        (PlayMode.KICK_IN_LEFT, (7, 8), 1, PlayMode.GOAL_LEFT, ""),
        (PlayMode.DIRECT_FREE_KICK_LEFT, (7,), -1, PlayMode.CORNER_KICK_RIGHT, "straight from an own kick"),
    ],
)
def test_a_goal_straight_from_a_kick_counts_if_the_kick_is_direct_or_another_player_touches_it(
    live: Any, tools: Any, mode: PlayMode, touches: tuple[int, ...], x: int, then: PlayMode, why: str
) -> None:
    live.order(mode)
    live.seconds(1.1)
    for number in touches:
        live.cycle([(LEFT, number)])
    heard = live.roll_ball((14.9 * x, 0.0), (15.2 * x, 0.1))
    assert live.state.mode is then
    assert live.state.score == (int(not why), 0)
    assert [why in event.text for event in tools.events(heard, "no_goal")] == ([True] if why else [])


def kick_off(game: Any) -> None:
    game.cycle()
    game.order(PlayMode.KICK_OFF_LEFT)
    game.cycle([(LEFT, 9)])


def test_who_kicks_off_may_not_score_until_the_ball_was_played_outside_the_circle(game: Any) -> None:
    kick_off(game)
    game.cycle([(LEFT, 8)])
    game.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert game.state.mode is PlayMode.GOAL_KICK_RIGHT
    kick_off(game)
    game.cycle([(LEFT, 8)])
    game.put_ball(2.5, 0.0)
    game.cycle([(LEFT, 8)])
    game.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert game.state.score == (1, 0)


def test_after_a_kick_off_any_touch_of_an_opponent_lets_goals_count(game: Any) -> None:
    kick_off(game)
    game.cycle([(RIGHT, 9)])
    game.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert game.state.score == (1, 0)


def test_touching_a_kick_twice_is_a_free_kick_for_the_opponents(live: Any, tools: Any) -> None:
    live.order(PlayMode.KICK_IN_LEFT)
    live.seconds(1.1)
    live.cycle([(LEFT, 7)], times=4)
    assert live.state.mode is PlayMode.PLAY_ON
    live.seconds(0.1)
    live.put_ball(1.0, 2.0)
    heard = live.cycle([(LEFT, 7)])
    assert live.state.mode is PlayMode.FREE_KICK_RIGHT
    assert live.state.place == (1.0, 2.0)
    assert tools.events(heard, "double_touch")[0].number == 7


def test_touching_a_kick_off_twice_is_the_foul_of_that_name(game: Any, tools: Any) -> None:
    kick_off(game)
    game.seconds(0.2)
    heard = game.cycle([(LEFT, 9)])
    assert tools.events(heard, "foul")[0].foul is Foul.KICK_OFF
    assert game.state.mode is PlayMode.FREE_KICK_RIGHT
    assert game.state.fouls == 1


def test_the_taker_may_touch_again_after_somebody_else(live: Any) -> None:
    live.order(PlayMode.CORNER_KICK_LEFT)
    live.seconds(1.1)
    live.cycle([(LEFT, 7)])
    live.cycle([(RIGHT, 3)])
    live.seconds(0.5)
    live.cycle([(LEFT, 7)])
    assert live.state.mode is PlayMode.PLAY_ON


def test_a_player_alone_may_dribble_from_the_kick_off_and_score(rules: Any, tools: Any) -> None:
    game = tools.Game(rules, players=1)
    kick_off(game)
    game.cycle([(LEFT, 1)], times=50)
    assert game.state.mode is PlayMode.PLAY_ON
    game.roll_ball((14.9, 0.0), (15.2, 0.0))
    assert game.state.score == (1, 0)


def test_of_two_who_touch_at_once_the_nearer_one_counts(live: Any) -> None:
    live.put_ball(0.0, 9.9)
    live.put(LEFT, 5, 0.2, 9.8)
    live.put(RIGHT, 6, 0.1, 9.9)
    live.cycle([(LEFT, 5), (RIGHT, 6)])
    assert (live.state.touch.side, live.state.touch.index) == (RIGHT, 5)


def test_a_ball_that_nobody_touched_or_that_is_nowhere_is_dropped_inside(live: Any, tools: Any) -> None:
    live.put_ball(2.0, 3.0)
    live.cycle()
    heard = live.roll_ball((2.0, 11.0))
    assert tools.events(heard, "drop_ball")[0].place == (2.0, 3.0)
    live.put_ball(float("nan"), 0.0)
    heard = live.cycle()
    assert tools.balls(heard) == [(2.0, 3.0)]
    assert live.state.mode is PlayMode.PLAY_ON


def test_after_a_shot_from_the_kick_off_the_other_side_kicks_off_where_balls_are_put_back(
    spl: Rules, tools: Any
) -> None:
    game = tools.Game(spl, players=4)
    game.seconds(5.1)
    game.cycle([(LEFT, 2)])
    decisions = game.roll_ball((2.9, 0.0), (3.1, 0.0))
    assert len(tools.events(decisions, "no_goal")) == 1
    assert game.state.mode is PlayMode.KICK_OFF_RIGHT
    assert game.state.score == (0, 0)


def test_where_the_ball_was_one_cycle_ago_decides_even_if_nobody_asked_then(spl_live: Any) -> None:
    """Off a post and in: from where the referee saw it last, the ball would have gone wide."""
    spl_live.put_ball(2.0, 2.0)
    spl_live.cycle([(LEFT, 3)])
    spl_live.put_ball(3.1, 0.5)
    spl_live.cycle(time_step=0.5, cycle=0.1, ball_before=np.array([2.9, 0.5, 0.03]))
    assert spl_live.state.score == (1, 0)
