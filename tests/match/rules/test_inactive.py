"""Standing still near the ball."""

from __future__ import annotations

from typing import Any

import pytest

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.fouls import looks, next_look
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.state import new_match

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def stand_at_ball(game: Any, side: Side, number: int) -> None:
    game.put(side, number, game.ball[0] - 0.3, game.ball[1])


def test_who_stands_still_near_the_ball_for_ten_seconds_is_sent_off(spl_live: Any, tools: Any) -> None:
    stand_at_ball(spl_live, LEFT, 3)
    assert tools.events(spl_live.seconds(9.9), "foul") == []
    (foul,) = tools.events(spl_live.seconds(4.1), "foul")
    assert (foul.side, foul.number, foul.foul) == (LEFT, 3, Foul.INACTIVE)
    assert abs(spl_live.place_of(LEFT, 3)[1]) > 2.0


def test_moving_a_little_or_being_far_away_is_enough(spl_live: Any, tools: Any) -> None:
    stand_at_ball(spl_live, LEFT, 3)
    heard = []
    for i in range(20):
        spl_live.put(LEFT, 3, spl_live.ball[0] - 0.3, spl_live.ball[1] + 0.12 * (i % 2))
        heard += spl_live.seconds(2.0)
    assert tools.events(heard, "foul") == []


def test_a_goalie_may_wait_in_its_area_and_a_fallen_player_is_not_standing_still(spl_live: Any, tools: Any) -> None:
    spl_live.put_ball(-2.6, 0.0)
    spl_live.put(LEFT, 1, -2.9, 0.0)
    assert tools.events(spl_live.seconds(15.0), "foul") == []
    spl_live.put(RIGHT, 2, -2.4, 0.0, 0.1)
    assert tools.events(spl_live.seconds(15.0), "foul") == []
    (foul,) = tools.events(spl_live.seconds(6.0), "foul")
    assert foul.foul is Foul.INCAPABLE


def test_time_before_a_kick_off_does_not_count(spl_live: Any, tools: Any) -> None:
    stand_at_ball(spl_live, LEFT, 3)
    spl_live.seconds(8.0)
    spl_live.order(PlayMode.BEFORE_KICK_OFF)
    spl_live.seconds(3.0)
    spl_live.order(PlayMode.PLAY_ON)
    stand_at_ball(spl_live, LEFT, 3)
    assert tools.events(spl_live.seconds(9.0), "foul") == []


def test_the_other_league_does_not_mind(live: Any, tools: Any) -> None:
    stand_at_ball(live, LEFT, 9)
    assert tools.events(live.seconds(30.0), "foul") == []


def test_looks_are_counted_by_the_referee_s_own_clock() -> None:
    assert [looks(t, 2.0) for t in (0.0, 1.98, 2.0 - 1e-9, 2.0, 5.9)] == [0, 0, 1, 1, 2]
    assert next_look(new_match(), 2.0) == pytest.approx(2.0)
