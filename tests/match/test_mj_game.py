"""A match of T1 robots with the rules that the league's own server lacks: periods, shoot-out and free numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.mj_game import MjGame
from nutmeg.match.rules.book import Rules, load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.mj.percept import Action

STAND = Action(motors=np.tile([0.0, 0.0, 100.0, 2.0, 0.0], (23, 1)))


def short_rules(**shoot_out: object) -> Rules:
    book = load_rules("ssim26")
    timing = {"half_length": 0.2, "extra_half_length": 0.1, "wait_before_kick_off": 0.1, "automatic_kick_off": True}
    book = book.with_match(halves=2, swap_ends=True, extra_time=True, **timing)
    return dataclasses.replace(book, shoot_out=dataclasses.replace(book.shoot_out, on=True, **shoot_out))


def test_a_draw_goes_through_both_halves_extra_time_and_penalty_kicks_to_its_end() -> None:
    with MjGame(short_rules(kick_time=0.1, rounds=1, most_rounds=1), seed=1, seats={"t1": 2}) as game:
        players = {team: game.enter(team, 1, 0) for team in ("reds", "blues")}
        halves, kinds, swapped = set(), set(), []
        for _ in range(400):
            game.cycle(dict.fromkeys(np.flatnonzero(game.present).tolist(), STAND))
            halves.add(game.half)
            kinds |= {event.kind for event in game.events}
            if not swapped or swapped[-1] != game.teams:
                swapped.append(game.teams)
            if game.over:
                break
        assert game.over
        assert game.state.mode is PlayMode.GAME_OVER
        assert halves >= {1, 2, 3, 4}
        assert swapped[:3] == [("reds", "blues"), ("blues", "reds"), ("reds", "blues")]
        assert any("penalty" in kind or "shoot" in kind for kind in kinds), kinds
        assert len(players) == 2


def test_any_number_up_to_eleven_may_play_but_no_eighth_player() -> None:
    with MjGame(load_rules("ssim26"), seed=1, seats={"t1": 8}) as game:
        for number in range(5, 12):
            game.enter("reds", number, 0)
        with pytest.raises(UsageError, match="the left team has its 7 players already"):
            game.enter("reds", 1, 0)
