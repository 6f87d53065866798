"""A match of T1 robots with the rules that the league's own server lacks: periods, shoot-out and free numbers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.mj_game import MjGame, MjSetup
from nutmeg.match.rules.book import Rules, load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.mj.percept import JOINTS, Action
from nutmeg.recording import Recording
from nutmeg.view.stage.film import Film

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


def beamed_to(seed: int, *, noise: bool) -> tuple[float, float]:
    """Where a player stands that wished to be put at (-2, 1)."""
    with MjGame(load_rules("ssim26"), seed=seed, seats={"t1": 1}, setup=MjSetup(beam_noise=noise)) as game:
        slot = game.enter("reds", 1, 0)
        game.cycle({})
        game.cycle({slot: Action(beam=(-2.0, 1.0, 0.0))})
        game.cycle({})
        x, y, _ = game.world.sensors["position"][0, slot].tolist()
        return x, y


def test_players_land_where_they_wish_and_with_beam_noise_near_there_by_the_seed() -> None:
    assert beamed_to(1, noise=False) == pytest.approx((-2.0, 1.0), abs=0.003)
    one, again, other = beamed_to(1, noise=True), beamed_to(1, noise=True), beamed_to(2, noise=True)
    assert one == again
    assert one != other
    assert one == pytest.approx((-2.0, 1.0), abs=0.055)
    assert one != pytest.approx((-2.0, 1.0), abs=0.003)


def test_a_recording_draws_each_robot_as_its_kind_also_if_it_joined_late(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    with MjGame(load_rules("ssim26"), seed=1, seats={"t1": 2, "k1": 1}, record=path) as game:
        game.enter("reds", 1, 0)
        game.cycle({})
        late = game.enter("blues", 1, 1)
        # A K1 that lifts its left arm: this joint has another name than that of a T1.
        raised = np.tile([0.0, 0.0, 50.0, 2.0, 0.0], (22, 1))
        raised[JOINTS["k1"].index("laj1"), 0] = -60.0
        for _ in range(50):
            game.cycle({late: Action(motors=raised)})
        angles = game.world.joint_angles()[late]
    film = Film(Recording.open(path))
    model, column = film.model, film.model.joint("right1/ALeft_Shoulder_Pitch").qposadr[0]
    assert model.joint("left1/Waist").name
    assert not any(model.joint(k).name == "right1/Waist" for k in range(model.njnt))
    assert film.qpos_at(film.end)[column] == pytest.approx(angles[JOINTS["k1"].index("laj1")], abs=2e-3)
    assert angles[JOINTS["k1"].index("laj1")] < -0.3
