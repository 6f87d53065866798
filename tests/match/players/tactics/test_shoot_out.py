"""Penalty shoot-outs, as the tactics play them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from nutmeg.match.players.request import Kick, Stand
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import KICK_OFFS, PlayMode, Side

NewToy = Callable[..., Any]


def shoot_out(new_toy: NewToy, ball_distance: float) -> Any:
    """Three a side, two kicks for each team, straight after the start."""
    rules = load_rules("sim3d").with_match(half_length=0.1, halves=1, automatic_kick_off=True, wait_before_kick_off=2.0)
    penalties = dataclasses.replace(
        rules.shoot_out,
        on=True,
        rounds=2,
        most_rounds=2,
        ball_distance=ball_distance,
        kicker_distance=ball_distance + 2.5,
    )
    return new_toy(3, rules=dataclasses.replace(rules, shoot_out=penalties))


def test_whoever_is_put_behind_the_ball_kicks_it_into_the_goal_with_one_touch(new_toy: NewToy) -> None:
    toy, kickers = shoot_out(new_toy, 1.5), []

    def look() -> None:
        now = [who for who, request in toy.requests.items() if isinstance(request.legs, Kick)]
        kickers.extend(who for who in now if who not in kickers)

    while toy.state.mode is not PlayMode.GAME_OVER and toy.time < 150.0:
        toy.run(0.02, look)
    first = kickers[0][0]
    assert kickers == [(first, 1), (first.other, 1), (first, 2), (first.other, 2)]
    assert not [event.text for event in toy.events if "twice" in event.text or "time" in event.text]
    assert toy.state.score == (2, 2)


def test_only_the_kicker_goes_for_the_ball_the_keeper_stays_in_its_area_and_the_others_stand(new_toy: NewToy) -> None:
    toy, looks = shoot_out(new_toy, 6.0), []
    area = toy.rules.pitch.length / 2 - toy.rules.pitch.penalty_depth

    def look() -> None:
        # In its first moments players take a kick for a kick-off from the middle.
        if toy.state.half != 5 or toy.state.mode not in (*KICK_OFFS, PlayMode.PLAY_ON) or toy.state.mode_time < 1.0:
            return
        side, kicker = toy.state.shoot_out.side, toy.state.shoot_out.kicker
        goes = {who for who, tactician in toy.tacticians.items() if tactician.memory.goes}
        looks.append(goes)
        assert goes <= {(side, kicker)}
        assert toy.places(side.other)[0, 0] < -area
        for who, request in toy.requests.items():
            assert who in ((side, kicker), (side.other, 0)) or isinstance(request.legs, Stand)

    toy.run(60.0, look)
    assert sum(toy.state.shoot_out.kicks) >= 2
    assert sum(map(bool, looks)) > 200


@pytest.mark.parametrize("side", list(Side))
def test_a_kick_off_from_the_middle_belongs_to_no_shoot_out(new_toy: NewToy, side: Side) -> None:
    toy = new_toy(3)
    toy.run(6.0)
    assert not any(tactician.memory.shoot_out for (of, _), tactician in toy.tacticians.items() if of is side)
