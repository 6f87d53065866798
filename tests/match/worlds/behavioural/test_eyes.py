"""Settings of the senses: the paper's numbers, and what files may say."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError
from nutmeg.match.worlds.behavioural.eyes import EYES_FOLDER, eyes_names, load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.state import MatchesState
from nutmeg.match.worlds.behavioural.vision import Vision
from nutmeg.model.field import load_field


def test_the_numbers_of_the_paper_are_in_the_file() -> None:
    eyes = load_eyes("nao")
    assert eyes.cameras.top == (0.0539, 0.0, 0.5372)
    assert eyes.cameras.bottom == (0.0488, 0.0, 0.4709)
    assert (eyes.cameras.bottom_tilt_degrees, eyes.cameras.diagonal_degrees) == (40.0, 58.0)
    assert (eyes.sonar.angle_degrees, eyes.sonar.opening_degrees, eyes.sonar.height) == (19.48, 18.0, 0.40)
    assert (eyes.sonar.nearest, eyes.sonar.farthest) == (0.15, 0.75)
    assert eyes.vision.pixel_noise == 0.5


def test_every_pair_of_eyes_is_called_by_its_file() -> None:
    assert {"nao", "nao-spark"} <= set(eyes_names())
    for name in eyes_names():
        assert load_eyes(name).name == name
        assert load_eyes(name).source


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("miss_ball = 0.05", "miss_ball = 1.5", "miss_ball is 1.5; allowed is 0..1"),
        ("diagonal_degrees = 58.0", "diagonal_degrees = 180.0", "allowed is above 0"),
        ("loss = 0.1", "loss = -0.1", "loss is -0.1"),
        ("width = 320", "width = 3", "width is 3; allowed is 8 or more"),
        ("ghost_ball = 0.002", "ghost_ball = 1.0", "together more than 1"),
        ("sway = 0.005", "swey = 0.005", "Did you mean 'sway'"),
    ],
)
def test_a_wrong_file_says_what_is_allowed(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    text = (EYES_FOLDER / "nao.toml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(FileError, match=said):
        load_eyes(path)


def test_eyes_of_the_simulation_league_see_through_robots_by_name_with_its_noise() -> None:
    eyes, count = load_eyes("nao-spark"), 2000
    across, up = eyes.cameras.slopes
    assert math.degrees(2 * math.atan(across)) == pytest.approx(120.0, abs=0.01)
    assert across == pytest.approx(up)
    state = MatchesState(count)
    state.seed[:] = np.arange(count)
    state.present[:, [0, 3, 14]] = True
    state.pose[:, 3, 0], state.pose[:, 14, 0], state.ball[:] = 3.0, 9.0, (10.0, 0.0)
    sights = Vision(eyes, load_field("sim3d"), ball_radius=0.042, count=count).see(state)
    seen = sights.of(0, 0)
    assert [(t.kind, t.number) for t in seen if t.kind.is_robot] == [(ObjectKind.MATE, 4), (ObjectKind.OPPONENT, 4)]
    assert all(t.number for t in seen if t.kind >= ObjectKind.OWN_POST)
    things = sights.things[:, 0]
    balls = things[(things["kind"] == ObjectKind.BALL) & (np.arange(things.shape[1]) < sights.count[:, :1])]
    assert len(balls) == count
    assert balls["distance"].std() == pytest.approx(10.0 * 0.000965, rel=0.1)
    assert np.degrees(balls["bearing"].std()) == pytest.approx(0.148, rel=0.1)


def test_senses_can_be_changed_one_by_one() -> None:
    eyes = load_eyes("nao")
    deaf = replace(eyes, voices=replace(eyes.voices, loss=1.0))
    assert deaf.voices.loss == 1.0
    assert eyes.voices.loss == 0.1
