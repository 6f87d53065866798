"""Incapable players, full areas, crowds, self-collisions, and what follows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules.book import Foul, HandBallRules, Rules
from nutmeg.match.rules.decisions import FreezeLimbs
from nutmeg.match.rules.play_modes import PlayMode, Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def fouls(decisions: list[Any], tools: Any) -> list[tuple[Foul, Side, int]]:
    return [(e.foul, e.side, e.number) for e in tools.events(decisions, "foul")]


@pytest.mark.parametrize(("number", "height", "time"), [(5, 0.1, 15.0), (5, 0.2, 30.0), (1, 0.1, 30.0), (1, 0.2, 60.0)])
def test_who_lies_or_sits_too_long_is_sent_out(live: Any, tools: Any, number: int, height: float, time: float) -> None:
    live.put(RIGHT, number, 3.0, 1.0, height)
    assert fouls(live.seconds(time), tools) == []
    assert fouls(live.seconds(0.06), tools) == [(Foul.INCAPABLE, RIGHT, number)]


def test_a_fall_is_told_once(live: Any, tools: Any) -> None:
    live.put(RIGHT, 5, 3.0, 1.0, 0.1)
    falls = tools.events(live.seconds(5.0), "fall")
    assert [(e.side, e.number, e.place) for e in falls] == [(RIGHT, 5, (3.0, 1.0))]


def test_getting_up_for_half_a_second_starts_the_time_anew(live: Any, tools: Any) -> None:
    live.put(RIGHT, 5, 3.0, 1.0, 0.2)
    live.seconds(29.0)
    live.put(RIGHT, 5, 3.0, 1.0, 0.38)
    live.seconds(0.3)
    live.put(RIGHT, 5, 3.0, 1.0, 0.2)
    assert fouls(live.seconds(1.1), tools) == [(Foul.INCAPABLE, RIGHT, 5)]
    live.put(RIGHT, 6, 3.0, 1.0, 0.2)
    live.seconds(29.0)
    live.put(RIGHT, 6, 3.0, 1.0, 0.38)
    live.seconds(0.6)
    live.put(RIGHT, 6, 3.0, 1.0, 0.2)
    assert fouls(live.seconds(20.0), tools) == []


def test_an_offender_is_held_up_for_half_a_second_and_put_beside_the_pitch_away_from_the_ball(
    live: Any, tools: Any
) -> None:
    live.put_ball(0.0, -2.0)
    live.put(RIGHT, 5, 3.0, 1.0, 0.1)
    live.seconds(15.02)
    moved = tools.moves(live.seconds(1.0))
    held, sent = moved[:-1], moved[-1]
    assert len(held) == 24
    assert {(m.place, m.height) for m in held} == {((3.0, 1.0), 1.0)}
    assert (sent.place, sent.height, sent.reason) == (pytest.approx((0.6 * 2, 10.5)), None, "Incapable")


def test_time_is_not_counted_beside_the_pitch_nor_while_the_game_is_paused(live: Any, tools: Any) -> None:
    live.put(RIGHT, 5, 3.0, 10.4, 0.1)
    assert fouls(live.seconds(20.0), tools) == []
    live.put(RIGHT, 5, 3.0, 1.0, 0.1)
    live.seconds(10.0)
    live.order(PlayMode.BEFORE_KICK_OFF)
    live.seconds(10.0)
    live.order(PlayMode.PLAY_ON)
    assert fouls(live.seconds(10.0), tools) == []


def test_the_fourth_defender_in_the_own_area_is_moved_to_its_edge(live: Any, tools: Any) -> None:
    live.put(LEFT, 1, -14.8, 0.0)
    live.put(LEFT, 2, -14.0, 1.0)
    live.put(LEFT, 3, -14.0, -1.0)
    assert fouls(live.cycle(), tools) == []
    live.put(LEFT, 4, -13.3, 0.5)
    heard = live.cycle()
    assert fouls(heard, tools) == [(Foul.ILLEGAL_DEFENCE, LEFT, 4)]
    assert tools.moves(heard)[0].place == pytest.approx((-13.2 + 0.4, 0.5))
    assert fouls(live.cycle(times=10), tools) == []


def test_if_the_goalie_comes_last_the_farthest_field_player_has_to_go(live: Any, tools: Any) -> None:
    live.put(LEFT, 1, -12.0, 0.0)
    for number, y in ((2, 1.0), (3, -1.0), (4, 2.9)):
        live.put(LEFT, number, -14.0, y)
    live.cycle()
    live.put(LEFT, 1, -14.5, 0.0)
    heard = live.cycle()
    assert fouls(heard, tools) == [(Foul.ILLEGAL_DEFENCE, LEFT, 4)]
    assert tools.moves(heard)[0].place == pytest.approx((-14.0, 3.4))


def test_attackers_may_crowd_the_area_unless_the_book_forbids_it(rules: Rules, live: Any, tools: Any) -> None:
    strict = tools.live_game(tools.with_fouls(rules, illegal_attack={"on": True}))
    for game, called in ((live, []), (strict, [(Foul.ILLEGAL_ATTACK, LEFT, 5)])):
        for number, y in ((2, 1.0), (3, -1.0), (4, 2.0)):
            game.put(LEFT, number, 14.0, y)
        game.cycle()
        game.put(LEFT, 5, 13.4, -2.5)
        assert fouls(game.cycle(), tools) == called


def test_crowding_calls_the_second_and_third_nearest_to_a_contested_ball(rules: Rules, tools: Any) -> None:
    game = tools.live_game(tools.with_fouls(rules, crowding={"on": True}))
    for number, x in ((4, -0.2), (5, -0.35), (6, -0.9)):
        game.put(LEFT, number, x, 0.0)
    assert fouls(game.cycle(), tools) == []
    game.put(RIGHT, 4, 0.5, 0.0)
    assert fouls(game.cycle(), tools) == [(Foul.CROWDING, LEFT, 5), (Foul.CROWDING, LEFT, 6)]


def test_a_self_collision_takes_the_drive_from_the_limb_for_a_second_and_is_not_called_again_for_two(
    live: Any, tools: Any
) -> None:
    found = np.zeros((2, 11, 4), bool)
    found[1, 6, 2] = True
    frozen = [d for d in live.cycle(self_collision=found) if isinstance(d, FreezeLimbs)]
    assert frozen == [FreezeLimbs(side=RIGHT, number=7, limbs=("left leg",), duration=1.0)]
    assert fouls(live.seconds(2.9, self_collision=found), tools) == []
    found[1, 6, 0] = True
    heard = live.cycle(self_collision=found)
    assert fouls(heard, tools) == [(Foul.SELF_COLLISION, RIGHT, 7)]
    assert fouls(live.seconds(0.1, self_collision=found), tools) == [(Foul.SELF_COLLISION, RIGHT, 7)]


def test_a_self_collision_can_send_the_player_out_instead(rules: Rules, tools: Any) -> None:
    game = tools.live_game(tools.with_fouls(rules, self_collision={"penalty": "outside"}))
    found = np.zeros((2, 11, 4), bool)
    found[0, 4, 1] = True
    game.seconds(1.0, self_collision=found)
    assert game.place_of(LEFT, 5) == pytest.approx((-0.6 * 2, -10.5))
    assert game.state.fouls == 1


def test_fouls_that_are_switched_off_are_not_called(rules: Rules, tools: Any) -> None:
    off = {name: {"on": False} for name in ("incapable", "illegal_defence", "self_collision")}
    game = tools.live_game(tools.with_fouls(rules, **off))
    for number in range(2, 8):
        game.put(LEFT, number, -14.0, 0.8 * number - 4, 0.1)
    found = np.ones((2, 11, 4), bool)
    assert fouls(game.seconds(20.0, self_collision=found), tools) == []


def test_a_hand_at_the_ball_gives_the_opponents_a_direct_free_kick_but_for_a_goalie_at_home(
    live: Any, tools: Any
) -> None:
    fouls = dataclasses.replace(live.rules.fouls, hand_ball=HandBallRules(on=True))
    live.rules = dataclasses.replace(live.rules, fouls=fouls)
    hands = np.zeros((2, 11), bool)
    hands[RIGHT, 0] = True
    live.put(RIGHT, 1, 14.0, 0.0)
    live.put_ball(13.8, 0.0)
    assert tools.events(live.cycle([(RIGHT, 1)], hand_ball=hands), "foul") == []
    live.put(RIGHT, 1, 5.0, 0.0)
    live.put_ball(5.2, 0.0)
    (foul,) = tools.events(live.cycle([(RIGHT, 1)], hand_ball=hands), "foul")
    assert (foul.side, foul.number, foul.foul) == (RIGHT, 1, Foul.HAND_BALL)
    assert live.state.mode is PlayMode.DIRECT_FREE_KICK_LEFT
