"""What a trainer may order."""

from __future__ import annotations

from typing import Any

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules import trainer
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


@pytest.mark.parametrize("mode", list(PlayMode))
def test_every_play_mode_can_be_ordered_and_nobody_scores_by_it(live: Any, tools: Any, mode: PlayMode) -> None:
    heard = live.order(mode)
    assert live.state.mode is mode
    assert live.state.mode_time == 0
    assert live.state.score == (0, 0)
    assert tools.events(heard, "play_mode")[0].text == mode.wire_name


def test_who_starts_the_match_decides_who_starts_the_second_half(game: Any) -> None:
    game.cycle()
    game.state, _ = trainer.kick_off(game.state, game.rules, game.facts(), RIGHT)
    assert game.state.mode is PlayMode.KICK_OFF_RIGHT
    game.state = trainer.set_time(game.state, 299.99)
    game.cycle()
    assert (game.state.half, game.state.mode, game.state.starter) == (2, PlayMode.BEFORE_KICK_OFF, LEFT)
    game.state, _ = trainer.kick_off(game.state, game.rules, game.facts())
    assert game.state.mode is PlayMode.KICK_OFF_LEFT


def test_a_drop_ball_is_where_the_ball_is(live: Any, tools: Any) -> None:
    live.put_ball(3.0, 2.0)
    live.put(LEFT, 4, 3.0, 2.5)
    live.put(RIGHT, 4, 3.0, 1.5)
    live.order(PlayMode.KICK_IN_LEFT)
    live.state, decisions = trainer.drop_ball(live.state, live.rules, live.facts())
    assert live.state.mode is PlayMode.PLAY_ON
    places = {(m.side, m.number): m.place for m in tools.moves(decisions)}
    assert places == {(LEFT, 4): pytest.approx((0.5, 2.5)), (RIGHT, 4): pytest.approx((5.5, 1.5))}


def test_score_and_time_can_be_set_but_not_to_nonsense(live: Any) -> None:
    assert trainer.set_score(live.state, 3, 2).score == (3, 2)
    assert trainer.set_time(live.state, 123.0).time == 123.0
    with pytest.raises(UsageError, match="negative"):
        trainer.set_score(live.state, -1, 0)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="not possible"):
            trainer.set_time(live.state, wrong)
