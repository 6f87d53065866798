"""Halves, extra time and the end."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import Rules
from nutmeg.match.rules.clock import end_of_half
from nutmeg.match.rules.decisions import SwapEnds
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def short(rules: Rules, **match: Any) -> Rules:
    """Halves of a second that start by themselves."""
    known = {"half_length": 1.0, "extra_half_length": 0.5, "automatic_kick_off": True, "wait_before_kick_off": 0.1}
    return rules.with_match(**{**known, **match})


def starts(game: Any, tools: Any) -> list[str]:
    return [e.text for e in tools.events(game.heard, "play_mode") if e.text.startswith("KickOff")]


def test_the_other_team_starts_the_second_half_from_its_own_end(rules: Rules, tools: Any) -> None:
    game = tools.Game(short(rules))
    game.seconds(3.0)
    assert starts(game, tools) == ["KickOff_Left", "KickOff_Right"]
    assert game.state.mode is PlayMode.GAME_OVER
    assert game.state.time == pytest.approx(2.0)
    assert not any(isinstance(d, SwapEnds) for d in game.heard)


def test_with_changed_ends_the_same_side_starts_again_and_the_score_goes_with_the_teams(
    rules: Rules, tools: Any
) -> None:
    game = tools.Game(short(rules, swap_ends=True))
    game.seconds(0.5)
    game.state = trainer.set_score(game.state, 2, 1)
    game.seconds(1.0)
    assert game.state.half == 2
    assert game.state.score == (1, 2)
    assert sum(isinstance(d, SwapEnds) for d in game.heard) == 1
    game.seconds(0.5)
    assert starts(game, tools) == ["KickOff_Left", "KickOff_Left"]


def test_the_clock_rests_before_kick_offs(rules: Rules, tools: Any) -> None:
    game = tools.Game(short(rules, wait_before_kick_off=5.0))
    game.seconds(4.9)
    assert game.state.time == 0
    game.seconds(0.6)
    assert 0.4 < game.state.time < 0.6


def test_a_draw_goes_to_extra_time_and_a_decided_match_does_not(rules: Rules, tools: Any) -> None:
    drawn = tools.Game(short(rules, extra_time=True))
    drawn.seconds(5.0)
    assert drawn.state.half == 4
    assert drawn.state.time == pytest.approx(3.0)
    assert drawn.state.mode is PlayMode.GAME_OVER
    assert starts(drawn, tools) == ["KickOff_Left", "KickOff_Right", "KickOff_Left", "KickOff_Right"]
    won = tools.Game(short(rules, extra_time=True))
    won.seconds(1.0)
    won.state = trainer.set_score(won.state, 1, 0)
    won.seconds(4.0)
    assert (won.state.half, won.state.mode) == (2, PlayMode.GAME_OVER)


def test_a_single_half_can_be_played(rules: Rules, tools: Any) -> None:
    game = tools.Game(short(rules, halves=1))
    game.seconds(2.0)
    assert (game.state.half, game.state.mode) == (1, PlayMode.GAME_OVER)
    assert game.state.time == pytest.approx(1.0)


def test_halves_end_when_the_rule_book_says(rules: Rules) -> None:
    assert [end_of_half(half, rules.match) for half in (1, 2, 3, 4)] == [300, 600, 780, 960]
    one = dataclasses.replace(rules.match, halves=1)
    assert end_of_half(3, one) == 480


def test_a_goal_in_the_last_moment_counts(rules: Rules, tools: Any) -> None:
    game = tools.Game(short(rules))
    game.seconds(0.9)
    game.order(PlayMode.PLAY_ON)
    game.put_ball(14.9, 0.0)
    game.cycle([(LEFT, 9)])
    game.roll_ball((15.2, 0.0))
    game.seconds(1.0)
    assert game.state.score == (1, 0)
    assert game.state.half == 2
    assert "KickOff_Right" in starts(game, tools)


@pytest.mark.parametrize("book", ["rules", "spl"])
@pytest.mark.parametrize("step", [0.02, 0.3, 0.7, 1.0])
def test_long_time_steps_lose_nothing_of_a_match(book: str, step: float, request: Any, tools: Any) -> None:
    rules: Rules = request.getfixturevalue(book)
    rules = rules.with_match(half_length=20.0, automatic_kick_off=True, wait_before_kick_off=2.0, extra_time=False)
    rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=False))
    game = tools.Game(rules, players=4)
    waited = 0.0
    while game.state.mode is not PlayMode.GAME_OVER:
        before = game.state.time
        game.cycle(time_step=step)
        waited += step
        assert game.state.time >= before
        assert waited < 100.0
    assert game.state.time == pytest.approx(40.0)
    assert [e.text for e in tools.events(game.heard, "half")] == ["second half", "the match is over: 0:0"]
    assert waited == pytest.approx(44.0, abs=6 * step)
    assert len(starts(game, tools)) == 2


def test_a_half_that_ends_within_a_long_time_step_does_not_shorten_the_next(spl: Rules, tools: Any) -> None:
    game = tools.Game(spl, players=4)
    game.seconds(5.1)
    game.order(PlayMode.PLAY_ON)
    game.state = trainer.set_time(game.state, 599.5)
    game.cycle(time_step=1.0)
    assert (game.state.half, game.state.time) == (2, 600.0)


def test_in_the_standard_platform_league_halves_take_ten_minutes_and_ends_are_changed(spl: Rules, tools: Any) -> None:
    assert [end_of_half(half, spl.match) for half in (1, 2)] == [600, 1200]
    game = tools.Game(spl, players=4)
    game.seconds(5.1)
    game.state = trainer.set_time(trainer.set_score(game.state, 2, 1), 599.99)
    decisions = game.cycle()
    assert sum(isinstance(d, SwapEnds) for d in decisions) == 1
    assert game.state.score == (1, 2)
    game.seconds(5.1)
    assert game.state.mode is PlayMode.KICK_OFF_LEFT
