"""Starts of the ball-following AIBO, and one that it finishes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.reproduce import openr_ball as experiment
from nutmeg.reproduce.openr_ball import FARTHEST, INSIDE, NEAREST, BallStart, BallTrial, ball_start, ball_trial
from nutmeg.reproduce.tables import TABLES


def test_starts_are_on_the_field_and_the_ball_is_where_they_say() -> None:
    for seed in range(50):
        start = ball_start(np.random.default_rng(seed))
        way = np.array(start.ball) - start.robot
        assert NEAREST <= np.hypot(*way) <= FARTHEST
        assert np.hypot(*way) == pytest.approx(start.distance)
        assert (np.abs([start.robot, start.ball]) <= INSIDE).all()
        angle = math.atan2(way[1], way[0]) - start.heading
        assert math.cos(angle - start.bearing) == pytest.approx(1.0)


def test_each_robot_is_tried_from_the_same_starts_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def far(start: BallStart, *, model: str) -> BallTrial:
        reached = start.distance < 2.5 or model == "ers210"
        return BallTrial(
            start=start, reached=reached, seconds=12.0 if reached else None, says_so=reached, nearest=0.2, path=1.0
        )

    monkeypatch.setattr(experiment, "ball_trial", far)
    answer = experiment.openr_ball(tmp_path, seeds=4)
    near = [trial["start"]["distance"] < 2.5 for trial in answer["trials"][:4]]
    assert answer["robots"] == {"ers7": {"reached": sum(near), "starts": 4}, "ers210": {"reached": 4, "starts": 4}}
    assert answer["trials"][0]["start"] == answer["trials"][4]["start"]
    shown = TABLES["openr-ball"](answer)
    assert len(shown.rows) == 8
    assert "ers210 4 of 4" in shown.notes[0]


@pytest.mark.slow
def test_an_aibo_finds_a_ball_beside_it_and_reaches_it_the_same_way_twice() -> None:
    start = BallStart(robot=(0.0, 0.0), heading=0.0, ball=(0.3, 0.7), bearing=1.17, distance=0.76)
    one, other = (ball_trial(start, seconds=20.0) for _ in range(2))
    assert one == other
    assert one.reached
    assert one.says_so
    assert one.problem == ""
