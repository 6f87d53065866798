"""Time beside the pitch: who serves it, how long, and what happens meanwhile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def push(game: Any, *pairs: tuple[tuple[Side, int], tuple[Side, int]]) -> list[Any]:
    """One cycle in which players, by number, push others."""
    pushes = np.array([[(s, n - 1), (t, m - 1)] for (s, n), (t, m) in pairs], np.int64)
    game.seconds(1.0)  # nobody has just been moved
    found: list[Any] = game.cycle(pushes=pushes)
    return found


def test_who_pushes_stands_beside_the_pitch_for_thirty_seconds_and_comes_back_at_the_touch_line(
    spl_live: Any, tools: Any
) -> None:
    spl_live.put_ball(0.5, -0.4)
    decisions = push(spl_live, ((LEFT, 2), (RIGHT, 3)))
    (foul,) = tools.events(decisions, "foul")
    assert (foul.side, foul.number, foul.foul) == (LEFT, 2, Foul.PUSHING)
    out = spl_live.place_of(LEFT, 2)
    assert out == pytest.approx((-2.0, 2.35))
    assert np.argwhere(penalised(spl_live.state)).tolist() == [[0, 1]]
    assert not tools.moves(spl_live.seconds(29.9))
    assert spl_live.place_of(LEFT, 2) == out
    back = spl_live.seconds(0.2)
    (move,) = tools.moves(back)
    assert move.place == pytest.approx((-1.2, 2.0))
    assert move.heading == pytest.approx(-math.pi / 2)
    assert [(e.side, e.number) for e in tools.events(back, "return")] == [(LEFT, 2)]
    assert not penalised(spl_live.state).any()


def test_who_strays_from_its_place_beside_the_pitch_is_put_back(spl_live: Any, tools: Any) -> None:
    push(spl_live, ((RIGHT, 4), (LEFT, 1)))
    out = spl_live.place_of(RIGHT, 4)
    spl_live.put(RIGHT, 4, 0.0, 0.0)
    (move,) = tools.moves(spl_live.cycle())
    assert (move.side, move.number, move.place) == (RIGHT, 4, out)


def test_a_penalised_player_does_not_touch_the_ball_push_or_fall(spl_live: Any, tools: Any) -> None:
    push(spl_live, ((LEFT, 2), (RIGHT, 3)))
    x, y = spl_live.place_of(LEFT, 2)
    spl_live.cycle([(RIGHT, 3)])
    spl_live.cycle([(LEFT, 2)])
    assert spl_live.state.touch.side is RIGHT
    spl_live.put(LEFT, 2, x, y, 0.1)
    assert tools.events(push(spl_live, ((LEFT, 2), (RIGHT, 3)), ((RIGHT, 3), (LEFT, 2)))) == []


def test_goalies_in_their_area_may_push_and_so_may_nobody_else(spl_live: Any, tools: Any) -> None:
    spl_live.put(LEFT, 1, -2.8, 0.0)
    assert tools.events(push(spl_live, ((LEFT, 1), (RIGHT, 3))), "foul") == []
    spl_live.put(LEFT, 1, -2.0, 0.0)
    assert len(tools.events(push(spl_live, ((LEFT, 1), (RIGHT, 3))), "foul")) == 1


def test_team_mates_may_push_each_other_and_who_has_just_been_moved_is_excused(spl_live: Any, tools: Any) -> None:
    assert tools.events(push(spl_live, ((LEFT, 2), (LEFT, 3))), "foul") == []
    push(spl_live, ((LEFT, 2), (RIGHT, 3)))
    spl_live.seconds(30.0)
    assert not penalised(spl_live.state).any()
    early = spl_live.cycle(pushes=np.array([[[LEFT, 1], [RIGHT, 2]]]))
    assert tools.events(early, "foul") == []


def test_two_who_push_each_other_both_go(spl_live: Any, tools: Any) -> None:
    decisions = push(spl_live, ((LEFT, 2), (RIGHT, 3)), ((RIGHT, 3), (LEFT, 2)))
    assert {(e.side, e.number) for e in tools.events(decisions, "foul")} == {(LEFT, 2), (RIGHT, 3)}
    assert np.count_nonzero(penalised(spl_live.state)) == 2


def test_pushes_are_no_foul_under_the_other_league_s_book(live: Any, tools: Any) -> None:
    assert tools.events(push(live, ((LEFT, 2), (RIGHT, 3))), "foul") == []


def test_a_goal_does_not_end_a_penalty_but_a_new_half_does(spl_live: Any, tools: Any) -> None:
    push(spl_live, ((LEFT, 2), (RIGHT, 3)))
    spl_live.roll_ball((2.9, 0.0), (3.1, 0.0), touch=[(LEFT, 3)])
    assert spl_live.state.mode is PlayMode.GOAL_LEFT
    spl_live.seconds(6.0)
    assert spl_live.state.mode is PlayMode.KICK_OFF_RIGHT
    assert penalised(spl_live.state)[LEFT, 1]
    assert abs(spl_live.place_of(LEFT, 2)[1]) == pytest.approx(2.35)
    decisions = spl_live.cycle(time_step=600.0)
    assert spl_live.state.half == 2
    assert [(e.side, e.number) for e in tools.events(decisions, "return")] == [(LEFT, 2)]
    assert not penalised(spl_live.state).any()
    assert abs(spl_live.place_of(RIGHT, 2)[1]) == pytest.approx(2.0)  # the same robot, after the change of ends


def test_a_penalty_is_served_in_one_long_time_step_too(spl_live: Any, tools: Any) -> None:
    push(spl_live, ((LEFT, 2), (RIGHT, 3)))
    assert tools.events(spl_live.cycle(time_step=29.0), "return") == []
    assert len(tools.events(spl_live.cycle(time_step=1.0), "return")) == 1
