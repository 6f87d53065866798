"""Offside, which is an option."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from nutmeg.match.rules.book import OffsideRules, Rules
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


@pytest.fixture
def strict(rules: Rules, tools: Any) -> Any:
    """A live game with offside; left 10 is behind all defenders but the goalie, left 9 is not."""
    game = tools.live_game(dataclasses.replace(rules, offside=OffsideRules(on=True)))
    for number in range(1, 12):
        game.put(RIGHT, number, 14.0 if number == 1 else 8.0 - 0.1 * number, 0.8 * number - 5)
    game.put(LEFT, 10, 9.0, 0.0)
    game.put(LEFT, 9, 7.0, 1.0)
    game.put_ball(5.0, 0.0)
    return game


def test_a_pass_to_a_player_in_an_offside_position_is_a_free_kick_for_the_opponents(strict: Any) -> None:
    strict.cycle([(LEFT, 7)])
    strict.put_ball(9.0, 0.2)
    strict.cycle([(LEFT, 10)])
    assert strict.state.mode is PlayMode.OFFSIDE_RIGHT
    assert strict.state.place == (9.0, 0.2)


@pytest.mark.parametrize(("behind", "after"), [(0.0, PlayMode.PLAY_ON), (1e-9, PlayMode.OFFSIDE_RIGHT)])
def test_a_player_level_with_the_second_last_opponent_is_not_offside(
    strict: Any, behind: float, after: PlayMode
) -> None:
    x, _ = strict.place_of(RIGHT, 2)
    strict.put(LEFT, 9, x + behind, 1.0)
    strict.cycle([(LEFT, 7)])
    strict.cycle([(LEFT, 9)])
    assert strict.state.mode is after


def test_a_player_level_with_the_ball_is_not_offside(strict: Any) -> None:
    strict.put_ball(9.0, -1.0)
    strict.cycle([(LEFT, 7)])
    strict.cycle([(LEFT, 10)])
    assert strict.state.mode is PlayMode.PLAY_ON


def test_an_opponent_s_touch_ends_the_offside_position(strict: Any) -> None:
    strict.cycle([(LEFT, 7)])
    strict.cycle([(RIGHT, 4)])
    strict.cycle([(LEFT, 10)])
    assert strict.state.mode is PlayMode.PLAY_ON


def test_who_has_the_ball_before_is_never_offside(strict: Any) -> None:
    strict.put_ball(9.5, 0.0)
    strict.cycle([(LEFT, 7)])
    strict.cycle([(LEFT, 10)])
    assert strict.state.mode is PlayMode.PLAY_ON


@pytest.mark.parametrize(
    ("mode", "after"),
    [
        (PlayMode.KICK_IN_LEFT, PlayMode.PLAY_ON),
        (PlayMode.CORNER_KICK_LEFT, PlayMode.PLAY_ON),
        (PlayMode.FREE_KICK_LEFT, PlayMode.OFFSIDE_RIGHT),
    ],
)
def test_nobody_is_offside_from_a_kick_in_or_corner(strict: Any, mode: PlayMode, after: PlayMode) -> None:
    strict.cycle()
    strict.order(mode)
    strict.seconds(1.1)
    strict.put(LEFT, 10, 14.99, 0.0)
    strict.cycle([(LEFT, 7)])
    strict.cycle([(LEFT, 10)])
    assert strict.state.mode is after


def test_without_the_option_nothing_is_called(live: Any) -> None:
    live.put(LEFT, 10, 14.0, 0.0)
    live.cycle([(LEFT, 7)])
    live.cycle([(LEFT, 10)])
    assert live.state.mode is PlayMode.PLAY_ON
