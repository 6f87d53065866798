"""Starts of the ball-following AIBO, and one that it finishes."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.experiments import openr_ball
from nutmeg.experiments.openr_ball import (
    MAX_BALL_DISTANCE,
    MIN_BALL_DISTANCE,
    START_AREA,
    BallStart,
    BallTrial,
    ball_start,
    ball_trial,
    build_example,
)


def test_starts_are_on_the_field_and_the_ball_is_where_they_say() -> None:
    for seed in range(50):
        start = ball_start(np.random.default_rng(seed))
        way = np.array(start.ball) - start.robot
        assert MIN_BALL_DISTANCE <= np.hypot(*way) <= MAX_BALL_DISTANCE
        assert np.hypot(*way) == pytest.approx(start.distance)
        assert (np.abs([start.robot, start.ball]) <= START_AREA).all()
        angle = math.atan2(way[1], way[0]) - start.heading
        assert math.cos(angle - start.bearing) == pytest.approx(1.0)


def test_each_robot_is_tried_from_the_same_starts_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def far(start: BallStart, *, model: str, example: Path | None) -> BallTrial:
        assert example is None
        reached = start.distance < 2.5 or model == "ers210"
        return BallTrial(
            start=start, reached=reached, seconds=12.0 if reached else None, says_so=reached, nearest=0.2, path=1.0
        )

    monkeypatch.setattr(openr_ball, "ball_trial", far)
    answer = openr_ball.run(tmp_path, openr_ball.Settings(seeds=4))
    near = [trial["start"]["distance"] < 2.5 for trial in answer["trials"][:4]]
    assert answer["robots"] == {"ers7": {"reached": sum(near), "starts": 4}, "ers210": {"reached": 4, "starts": 4}}
    assert answer["trials"][0]["start"] == answer["trials"][4]["start"]
    shown = openr_ball.table(answer)
    assert len(shown.rows) == 8
    assert "ers210 4 of 4" in shown.notes[0]


def test_the_program_in_cpp_is_asked_for_and_what_is_missing_for_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts: list[Path | None] = []

    def there(start: BallStart, *, model: str, example: Path | None) -> BallTrial:
        assert model in openr_ball.AIBOS
        scripts.append(example)
        return BallTrial(start=start, reached=True, seconds=9.0, says_so=True, nearest=0.2, path=1.0)

    monkeypatch.setattr(openr_ball, "ball_trial", there)
    monkeypatch.setattr(openr_ball, "build_example", lambda into: into / "run")
    answer = openr_ball.run(tmp_path, openr_ball.Settings(seeds=1, client="cpp"))
    assert scripts == [tmp_path / "cpp" / "run"] * 2
    assert "Program: cpp." in openr_ball.table(answer).notes[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"g\+\+ and make cannot be found.*--client python"):
        build_example(tmp_path / "cpp")
    monkeypatch.setattr(openr_ball, "CLIENTS_FOLDER", tmp_path / "nowhere")
    with pytest.raises(EnvironmentProblem, match="comes with Nutmeg's sources"):
        build_example(tmp_path / "cpp")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None or shutil.which("make") is None, reason="there is no g++ or make")
def test_the_program_in_cpp_goes_to_a_ball_before_it(tmp_path: Path) -> None:
    start = BallStart(robot=(0.0, 0.0), heading=0.0, ball=(0.32, 0.08), bearing=0.24, distance=0.33)
    trial = ball_trial(start, seconds=20.0, example=openr_ball.build_example(tmp_path))
    assert trial.problem == ""
    assert trial.says_so
    assert trial.reached


@pytest.mark.slow
def test_an_aibo_finds_a_ball_beside_it_and_reaches_it_the_same_way_twice() -> None:
    start = BallStart(robot=(0.0, 0.0), heading=0.0, ball=(0.2, 0.42), bearing=1.13, distance=0.47)
    one, other = (ball_trial(start, seconds=20.0) for _ in range(2))
    assert one == other
    assert one.reached
    assert one.says_so
    assert one.problem == ""
