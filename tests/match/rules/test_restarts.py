"""Kick-offs, kick-ins, corners, goal kicks, free kicks and drop balls."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Rules
from nutmeg.match.rules.play_modes import PlayMode, Side, side_of
from nutmeg.match.rules.restarts import playable

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def test_before_the_kick_off_the_ball_lies_in_the_middle_and_teams_stay_in_their_halves(game: Any, tools: Any) -> None:
    game.put_ball(3.0, 1.0)
    game.put(LEFT, 5, 2.0, 1.0)
    heard = game.cycle()
    assert tools.balls(heard) == [(0.0, 0.0)]
    assert [(m.side, m.number, m.place) for m in tools.moves(heard)] == [(LEFT, 5, (-2.5, 1.0))]
    assert game.state.time == 0
    assert game.cycle() == []


def test_an_automatic_kick_off_waits_until_somebody_is_there(rules: Rules, tools: Any) -> None:
    game = tools.Game(rules.with_match(automatic_kick_off=True, wait_before_kick_off=2.0), players=0)
    game.seconds(10.0)
    assert game.state.mode is PlayMode.BEFORE_KICK_OFF
    game.present[:, :2] = True
    game.seconds(1.96)
    assert game.state.mode is PlayMode.BEFORE_KICK_OFF
    game.seconds(0.06)
    assert game.state.mode is PlayMode.KICK_OFF_LEFT


def test_at_a_kick_off_the_kicker_may_cross_the_line_in_the_circle_and_opponents_must_stay_out(
    game: Any, tools: Any
) -> None:
    game.cycle()
    game.order(PlayMode.KICK_OFF_LEFT)
    game.put(LEFT, 9, 0.5, 0.0)
    game.put(LEFT, 8, 4.0, 0.0)
    game.put(RIGHT, 9, 1.0, 0.5)
    moved = {(m.side, m.number): m.place for m in tools.moves(game.cycle())}
    assert moved == {(LEFT, 8): (-2.5, 0.0), (RIGHT, 9): (2.5, 0.5)}


def test_a_kick_off_is_taken_by_a_touch_of_the_side_that_kicks_off(game: Any) -> None:
    game.cycle()
    game.order(PlayMode.KICK_OFF_LEFT)
    game.cycle([(RIGHT, 9)])
    assert game.state.mode is PlayMode.KICK_OFF_LEFT
    game.cycle([(LEFT, 9)])
    assert game.state.mode is PlayMode.PLAY_ON


@pytest.mark.parametrize("mode", [m for m in PlayMode if side_of(m) is not None])
def test_a_restart_that_nobody_takes_ends_after_15_seconds(game: Any, tools: Any, mode: PlayMode) -> None:
    game.cycle()
    game.put_ball(5.0, 3.0)
    game.cycle()
    game.order(mode)
    goal = mode in (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT)
    allowed = {True: 3.0}.get(goal, 4.0 if mode in (PlayMode.PASS_LEFT, PlayMode.PASS_RIGHT) else 15.0)
    game.seconds(allowed - 0.04)
    assert game.state.mode is mode
    heard = game.seconds(0.08)
    assert game.state.mode is not mode
    assert len(tools.events(heard, "drop_ball")) == (allowed == 15.0)


def test_a_ball_over_the_side_line_off_left_is_a_kick_in_for_right_where_it_went_out(live: Any, tools: Any) -> None:
    live.put_ball(3.0, 9.9)
    live.cycle([(LEFT, 7)])
    live.roll_ball((3.2, 10.1))
    assert live.state.mode is PlayMode.KICK_IN_RIGHT
    assert live.state.place[0] == pytest.approx(3.0 + 0.2 * 0.143 / 0.2)
    assert live.state.place[1] == pytest.approx(10.0 - 0.042)
    heard = live.seconds(0.96)
    assert tools.balls(heard) == []
    heard = live.seconds(0.08)
    assert tools.balls(heard) == [live.state.place]
    live.cycle([(RIGHT, 4)])
    assert live.state.mode is PlayMode.PLAY_ON


def test_a_ball_on_the_line_is_not_out(live: Any) -> None:
    live.put_ball(3.0, 9.9)
    live.cycle([(LEFT, 7)])
    live.roll_ball((3.0, 10.04))
    assert live.state.mode is PlayMode.PLAY_ON


@pytest.mark.parametrize(
    ("toucher", "x", "mode", "place"),
    [
        (LEFT, 15.1, PlayMode.GOAL_KICK_RIGHT, (14.0, 0.0)),
        (RIGHT, 15.1, PlayMode.CORNER_KICK_LEFT, (14.958, 5.483)),
        (RIGHT, -15.1, PlayMode.GOAL_KICK_LEFT, (-14.0, 0.0)),
        (LEFT, -15.1, PlayMode.CORNER_KICK_RIGHT, (-14.958, 5.483)),
    ],
)
def test_a_ball_over_the_end_line_is_a_goal_kick_or_a_corner(
    live: Any, toucher: Side, x: float, mode: PlayMode, place: tuple[float, float]
) -> None:
    live.put_ball(np.sign(x) * 14.9, 4.0)
    live.cycle([(toucher, 7)])
    live.roll_ball((x, 4.0))
    assert live.state.mode is mode
    assert live.state.place == pytest.approx(place)


def test_opponents_too_near_to_a_kick_are_moved_by_the_free_kick_distance(live: Any, tools: Any) -> None:
    live.put_ball(3.0, 4.0)
    live.put(LEFT, 6, 2.0, 4.5)
    live.put(RIGHT, 6, 2.5, 4.0)
    live.cycle()
    live.order(PlayMode.FREE_KICK_RIGHT)
    moved = tools.moves(live.seconds(1.0))
    assert [(m.side, m.number) for m in moved] == [(LEFT, 6)]
    assert moved[0].place == pytest.approx((3.0 - 2.5, 4.5))


def test_at_the_own_goal_line_opponents_are_moved_sideways(live: Any, tools: Any) -> None:
    live.put_ball(-14.9, 5.0)
    live.cycle()
    live.put(LEFT, 6, -14.5, 5.5)
    live.order(PlayMode.CORNER_KICK_RIGHT)
    moved = tools.moves(live.seconds(1.0))
    assert moved[0].place == pytest.approx((-14.5, 5.483 - 2.5))


def test_two_players_are_never_moved_to_the_same_place(live: Any) -> None:
    live.put_ball(3.0, 4.0)
    live.cycle()
    for number in range(2, 12):
        live.put(LEFT, number, 2.0 + 0.01 * number, 4.0)
    live.order(PlayMode.KICK_IN_RIGHT)
    live.put_ball(3.0, 9.5)
    live.state = dataclasses.replace(live.state, place=(3.0, 4.0))
    live.seconds(1.1)
    places = live.position[0, 1:, :2]
    gaps = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 10 * np.eye(10)
    assert gaps.min() >= 2 * 0.4 - 1e-9
    assert np.hypot(places[:, 0] - 3.0, places[:, 1] - 4.0).min() >= 2.0


def test_own_players_under_the_ball_are_pushed_aside_when_it_is_put_down(live: Any, tools: Any) -> None:
    live.put_ball(3.0, 4.0)
    live.put(LEFT, 6, 3.1, 4.0)
    live.cycle()
    live.order(PlayMode.FREE_KICK_LEFT)
    moved = tools.moves(live.seconds(1.0))
    assert [(m.number, m.place) for m in moved] == [(6, pytest.approx((3.5, 4.0)))]


def test_a_goal_kick_is_taken_when_the_ball_leaves_the_area_and_opponents_stay_out_of_it(live: Any, tools: Any) -> None:
    live.order(PlayMode.GOAL_KICK_LEFT)
    live.put(RIGHT, 9, -14.0, 1.0)
    moved = tools.moves(live.seconds(1.0))
    assert [(m.side, m.number) for m in moved] == [(RIGHT, 9)]
    assert moved[0].place[0] == pytest.approx(-13.2 + 2.5)
    live.cycle([(LEFT, 1)])
    live.roll_ball((-13.5, 0.0))
    assert live.state.mode is PlayMode.GOAL_KICK_LEFT
    assert tools.balls(live.cycle()) == []
    live.roll_ball((-13.1, 0.0))
    assert live.state.mode is PlayMode.PLAY_ON
    assert live.state.kick.mode is PlayMode.GOAL_KICK_LEFT


def test_an_untouched_ball_is_put_back_to_its_place(live: Any, tools: Any) -> None:
    live.order(PlayMode.CORNER_KICK_LEFT)
    live.seconds(1.2)
    place = live.state.place
    live.put_ball(place[0], place[1] - 0.3)
    assert tools.balls(live.cycle()) == [place]


def test_balls_are_not_put_down_inside_a_penalty_area_nor_outside_the_pitch(rules: Rules) -> None:
    assert playable((14.0, 1.0), rules.pitch) == pytest.approx((13.2, 3.0))
    assert playable((-14.0, -1.0), rules.pitch) == pytest.approx((-13.2, -3.0))
    assert playable((14.0, 0.0), rules.pitch) == pytest.approx(tuple(-v for v in playable((-14.0, 0.0), rules.pitch)))
    assert playable((1.0, 2.0), rules.pitch) == (1.0, 2.0)
    assert playable((40.0, -30.0), rules.pitch) == pytest.approx((14.958, -9.958))


def test_a_drop_ball_moves_both_teams_away(live: Any) -> None:
    live.order(PlayMode.KICK_IN_LEFT)
    live.seconds(15.04)
    assert live.state.mode is PlayMode.PLAY_ON
    gap = np.hypot(live.position[..., 0] - live.ball[0], live.position[..., 1] - live.ball[1])
    assert gap.min() >= 2.0
    assert live.state.kick is None


OUTS = [
    # touched last by, place where the ball crosses the line, where it is put back on a pitch of 6 x 4 m
    (LEFT, (0.5, 2.1), (-0.5, 1.6)),
    (RIGHT, (0.5, -2.1), (1.5, -1.6)),
    (LEFT, (-1.8, -2.1), (-2.0, -1.6)),
    (RIGHT, (2.5, 2.1), (2.0, 1.6)),
    (LEFT, (-3.1, 1.0), (-2.0, 1.6)),
    (RIGHT, (-3.1, -1.0), (0.0, -1.6)),
    (LEFT, (3.1, 1.0), (0.0, 1.6)),
    (RIGHT, (3.1, -1.0), (2.0, -1.6)),
]


@pytest.mark.parametrize(("side", "out", "back"), OUTS)
def test_a_ball_over_a_line_is_put_back_at_once_and_play_goes_on(
    spl_live: Any, tools: Any, side: Side, out: tuple[float, float], back: tuple[float, float]
) -> None:
    inside = (min(max(out[0], -2.9), 2.9), min(max(out[1], -1.9), 1.9))
    decisions = spl_live.roll_ball(inside, out, touch=[(side, 3)])
    (place,) = tools.balls(decisions)
    assert place == pytest.approx(back, abs=1e-6)
    assert spl_live.state.mode is PlayMode.PLAY_ON
    (event,) = tools.events(decisions, "out")
    assert event.text == f"out by {side.word} 3"


def test_who_stands_where_a_ball_is_put_back_is_pushed_aside(spl_live: Any, tools: Any) -> None:
    spl_live.put(RIGHT, 2, -0.5, 1.65)
    (move,) = tools.moves(spl_live.roll_ball((0.5, 1.9), (0.5, 2.1), touch=[(LEFT, 3)]))
    assert (move.side, move.number) == (RIGHT, 2)
    assert math.dist(move.place, spl_live.ball[:2]) >= spl_live.rules.restarts.repel_distance


def test_a_ball_that_nobody_has_touched_is_put_back_where_it_crossed_the_line(spl_live: Any, tools: Any) -> None:
    assert tools.balls(spl_live.roll_ball((0.5, 1.9), (0.5, 2.1))) == [pytest.approx((0.5, 1.6))]


@pytest.mark.parametrize("kicking", [LEFT, RIGHT])
def test_before_a_kick_off_the_referee_puts_both_teams_in_formation(spl: Rules, tools: Any, kicking: Side) -> None:
    game = tools.Game(spl, players=4, kick_off=kicking)
    moves = tools.moves(game.seconds(5.1))
    assert game.state.mode is (PlayMode.KICK_OFF_LEFT, PlayMode.KICK_OFF_RIGHT)[kicking]
    assert len(moves) == 8
    assert game.place_of(kicking, 2) == pytest.approx((-0.63 * kicking.sign, 0.0))
    assert game.place_of(kicking.other, 2) == pytest.approx((1.98 * kicking.sign, 0.3 * kicking.sign))
    assert {m.heading for m in moves if m.side is LEFT} == {0.0}
    assert {m.heading for m in moves if m.side is RIGHT} == {math.pi}
    assert not tools.moves(game.seconds(1.0)), "the formation is where everybody may be"


def test_a_kick_off_that_nobody_takes_is_anybody_s_after_ten_seconds(spl: Rules, tools: Any) -> None:
    game = tools.Game(spl, players=4)
    game.seconds(5.1)
    game.cycle([(RIGHT, 2)])
    assert game.state.mode is PlayMode.KICK_OFF_LEFT
    decisions = game.seconds(10.1)
    assert game.state.mode is PlayMode.PLAY_ON
    assert not tools.moves(decisions)


def test_the_taker_of_a_kick_off_may_dribble_where_it_is_not_watched(spl: Rules, tools: Any) -> None:
    game = tools.Game(spl, players=4)
    game.seconds(5.1)
    for _ in range(3):
        game.cycle([(LEFT, 2)])
        game.seconds(0.5)
    assert game.state.mode is PlayMode.PLAY_ON
