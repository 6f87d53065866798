"""The recording of a match: what players believe beside the truth, what they want, and who is who after half time."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.players.request import Look, Request, Stand
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.recording import Recording

RULES = load_rules("sim3d").with_match(players=2, automatic_kick_off=True, wait_before_kick_off=0.04)


def others(places: dict[int, tuple[float, float]], age: float = 0.0) -> Others:
    found, ages = np.full((11, 2), np.nan), np.full(11, np.inf)
    for number, place in places.items():
        found[number - 1], ages[number - 1] = place, age
    return Others(places=found, velocities=np.zeros((11, 2)), ages=ages, fallen=np.zeros(11, bool))


def mind(
    x: float, y: float, heading: float, *, intent: str = "stand", opponents: Others | None = None
) -> SimpleNamespace:
    ball = BallBelief(
        place=np.array([x + 1.0, y]), height=0.04, velocity=np.zeros(2), spread=0.1, seen_ago=0.3, heard_ago=np.inf
    )
    belief = Belief(
        time=0.0,
        me=Pose(x=x, y=y, heading=heading, spread=0.1, heading_spread=0.1),
        ball=ball,
        mates=others({1: (x, y), 2: (-3.0, 1.0)}),
        opponents=opponents or others({1: (5.0, 0.5)}),
        upright=True,
    )
    return SimpleNamespace(belief=belief, request=Request(legs=Stand(), look=Look(), intent=intent))


def new_game(path: Path, rules: object = RULES) -> Game:
    game = Game(rules, seed=1, left="reds", right="blues", record=path, seats=2)  # type: ignore[arg-type]
    game.enter("reds", 1)
    game.enter("blues", 1)
    return game


def test_beliefs_are_on_the_pitch_as_everybody_sees_it_whichever_side_the_player_attacks(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    with new_game(path) as game:
        game.record_with(minds=lambda: {0: mind(-4.0, 1.0, 0.5), 11: mind(-6.0, 2.0, 0.5)}, config={"command": "x"})
        game.cycle({})
    recording = Recording.open(path)
    assert recording.manifest.config["command"] == "x"
    left, right = (recording.read(f"{robot}.belief")[0] for robot in ("left1", "right1"))
    assert left == pytest.approx([-4.0, 1.0, 0.5, -3.0, 1.0, 0.3, 0.1, 0.1, 0.1], abs=1e-3)
    assert right == pytest.approx([6.0, -2.0, 0.5 - math.pi, 5.0, -2.0, 0.3, 0.1, 0.1, 0.1], abs=1e-3)
    assert np.isnan(recording.read("left2.belief")).all(), "who does not play believes nothing"
    labels = recording.channels["right1.others"].labels
    believed = dict(zip(labels, recording.read("right1.others")[0], strict=True))
    assert (believed["left1.x"], believed["left1.y"]) == pytest.approx((-5.0, -0.5), abs=1e-3)
    assert (believed["right2.x"], believed["right2.y"]) == pytest.approx((3.0, -1.0), abs=1e-3)
    assert math.isnan(believed["right1.x"]), "of itself it has a belief of its own"


def test_sonars_are_recorded_with_their_cones_and_follow_their_robots_to_the_other_end(tmp_path: Path) -> None:
    path, rules = tmp_path / "match.nutmeg", load_rules("sim3d")
    game = Game(rules, seed=1, left="reds", right="blues", record=path, seats=2, setup=PhysicalSetup(sonar=True))
    game.enter("reds", 1)
    game.enter("blues", 1)
    heard: list[tuple[float, float]] = []
    with game:
        game.set_play_mode(PlayMode.PLAY_ON)
        for cycle in range(20):
            red = 0 if cycle < 10 else 11  # they change ends
            if cycle == 10:
                game._swap_ends()
            game.place_player(red, (0.0, 0.0, 0.4), 0.0)
            game.place_player(11 - red, (0.6, 0.2, 0.4), 0.0)
            percept = game.cycle({})[red]
            heard.append(percept.sonar if percept.sonar is not None else heard[-1] if heard else (math.inf, math.inf))
    recording = Recording.open(path)
    assert recording.manifest.config["sonar"]["opening_degrees"] == 18.0
    expected = np.where(np.isinf(heard), np.nan, heard)
    assert np.isfinite(expected[4:, 0]).all()
    np.testing.assert_allclose(recording.read("left1.sonar"), expected, atol=1e-3)
    assert np.isnan(recording.read("right1.sonar")).all(), "it looks the other way"


def test_without_sonars_there_are_no_channels_of_them(tmp_path: Path) -> None:
    with new_game(tmp_path / "match.nutmeg") as game:
        game.cycle({})
    recording = Recording.open(tmp_path / "match.nutmeg")
    assert "left1.sonar" not in recording.channels
    assert "sonar" not in recording.manifest.config


def test_others_of_whom_nothing_was_known_for_long_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    old = mind(-4.0, 1.0, 0.0, opponents=others({1: (5.0, 0.0)}, age=6.0))
    with new_game(path) as game:
        game.record_with(minds=lambda: {0: old})
        game.cycle({})
    recording = Recording.open(path)
    believed = dict(zip(recording.channels["left1.others"].labels, recording.read("left1.others")[0], strict=True))
    assert math.isnan(believed["right1.x"])


def test_what_a_player_wants_is_an_event_only_when_it_changes(tmp_path: Path) -> None:
    path, said = tmp_path / "match.nutmeg", ["to the ball"]
    with new_game(path) as game:
        game.record_with(minds=lambda: {0: mind(-4.0, 1.0, 0.0, intent=said[0]), 11: SimpleNamespace()})
        for cycle in range(40):
            said[0] = "to the ball" if cycle < 20 else "kick"
            game.cycle({})
    wanted = [e for e in Recording.open(path).events if e["kind"] == "intent"]
    assert [(e["robot"], e["text"]) for e in wanted] == [("left1", "to the ball"), ("left1", "kick")]


def test_robots_keep_their_names_when_the_teams_change_ends(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    rules = RULES.with_match(half_length=0.2, swap_ends=True)
    with new_game(path, rules) as game:
        game.record_with(minds=lambda: {11 * (game.swaps % 2): mind(-4.0, 1.0, 0.0)})
        for _ in range(40):
            game.cycle({})
        assert game.swaps == 1
        assert game.teams == ("blues", "reds")
        reds = game.world.poses()[11]
        game.send_off(11)
        game.leave(11)
    recording = Recording.open(path)
    assert recording.read("left1.pose")[-1, :2] == pytest.approx(reds[:2], abs=1e-3), "reds began on the left"
    state = recording.read("game.state")
    assert state[0, 5] == 0
    assert state[-1, 5] == 1
    assert recording.read("left1.belief")[0, 0] == pytest.approx(-4.0, abs=1e-3)
    assert recording.read("left1.belief")[-1, 0] == pytest.approx(4.0, abs=1e-3), "now it plays from the right"
    swap = next(e for e in recording.events if e["kind"] == "swap_ends")
    assert (swap["left"], swap["right"]) == ("blues", "reds")
    last = recording.events[-1]
    assert (last["kind"], last["side"], last["number"], last["team"], last["robot"]) == (
        "leave", "right", 1, "reds", "left1",
    )  # fmt: skip


def test_who_touched_the_ball_last_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    with new_game(path) as game:
        game.cycle({})
        game.place_player(11, (0.0, 0.0, 0.38), 180.0)
        game.place_ball((-0.13, 0.055, 0.05), (3.0, 0.0, 0.0))  # against its right foot
        for _ in range(20):
            game.cycle({})
    touch = Recording.open(path).read("game.state")[:, 6]
    assert touch[0] == -1
    assert touch[-1] == 11


def test_what_to_record_is_said_before_the_match_begins(tmp_path: Path) -> None:
    with new_game(tmp_path / "match.nutmeg") as game:
        game.cycle({})
        with pytest.raises(UsageError, match="before the first cycle"):
            game.record_with(minds=dict)


def test_who_joins_late_is_drawn_with_its_own_type(tmp_path: Path) -> None:
    scenes = []
    for late in (False, True):
        path = tmp_path / f"{late}.nutmeg"
        with Game(RULES.with_match(players=1), seed=1, left="reds", right="blues", record=path, seats=2) as game:
            game.enter("reds", 1)
            if late:
                game.cycle({})
            game.enter("blues", 1, 1)
            game.cycle({})
        scenes.append(Recording.open(path).scene_xml)
    assert scenes[0] is not None
    assert scenes[0] == scenes[1]
