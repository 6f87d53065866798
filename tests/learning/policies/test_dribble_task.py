"""Robots that learn to dribble: where episodes begin, what is rewarded, and what the command writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.cli import main
from nutmeg.commands.walk_film import record_dribbling
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.dribble_task import BALL_DISTANCE, LOST_DISTANCE, DribbleTask
from nutmeg.motion.dribble import ACTION_SIGNS, REACH, SIGNS, Dribbler, asked_velocities, read_dribbling
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats


def standing(task: DribbleTask) -> Floats:
    """Actions that ask the walk to stand."""
    ball, _, direction = task.known
    rule = asked_velocities(task.walker, ball, direction, np.zeros((task.count, 3)))
    return -rule / REACH / task.walker.walk.top_speed()


def test_who_pushes_the_ball_ahead_earns_and_who_stands_does_not() -> None:
    earned = []
    for stands in (True, False):
        task = DribbleTask("nao-spark", "type0", 12, seed=3)
        task.begin(np.arange(12))
        alive, rewards = np.ones(12, bool), np.zeros(12)
        for _ in range(38):
            task.advance(standing(task) if stands else np.zeros((12, 3)))
            rewards += alive * task.reward
            alive &= ~task.ended
        earned.append(rewards)
    assert np.abs(earned[0]).max() < 0.1
    assert earned[1].mean() > 0.8


def test_a_ball_begins_near_is_lost_when_it_is_far_and_a_fall_ends_the_episode_too() -> None:
    task = DribbleTask("nao-spark", "type1", 6, seed=4)
    ball, _, direction = task.truth_of_balls()
    far = np.hypot(*ball.T)
    assert ((far > BALL_DISTANCE[0]) & (far < BALL_DISTANCE[1])).all()
    assert (np.abs(np.arctan2(ball[:, 1], ball[:, 0])) < 0.61).all()
    assert (np.abs(direction - np.arctan2(ball[:, 1], ball[:, 0])) < task.rewards[0].around[0] + 1e-9).all()
    assert task.worlds.ball is not None
    task.worlds.ball[0, 0] += LOST_DISTANCE + BALL_DISTANCE[1]
    task.worlds.qpos[1, task.table.root + 3 : task.table.root + 7] = [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]
    task.advance(standing(task))
    assert task.ended.tolist() == [True, True, False, False, False, False]
    assert task.reward[0] < -task.rewards[0].lost + 0.5
    assert task.reward[1] < -task.rewards[0].fall + 0.5
    found = task.measures()
    assert (found["falls"] > 0, found["lost"] > 0) == (True, True)
    task.begin_over()
    assert (np.hypot(*task.truth_of_balls()[0][:2].T) < LOST_DISTANCE).all()


def test_robots_go_by_what_their_network_has_seen_when_others_begin_anew() -> None:
    task = DribbleTask("nao-spark", "type0", 4, seed=6)
    seen, known = task.observation.copy(), [array.copy() for array in task.known]
    task.begin(np.array([2]))
    others = [0, 1, 3]
    assert np.array_equal(task.observation[others], seen[others])
    for now, before in zip(task.known, known, strict=True):
        assert np.array_equal(now[others], before[others])
    np.testing.assert_allclose(task.observation[:, :2], task.known[0], atol=1e-6)
    assert (task.known[0][2] != known[0][2]).all()


def test_a_mirrored_ball_asks_for_mirrored_velocities() -> None:
    task, rng = DribbleTask("nao-spark", "type0", 4, seed=1), np.random.default_rng(1)
    ball, direction, actions = rng.normal(0, 0.5, (4, 2)), rng.uniform(-2, 2, 4), rng.normal(0, 0.5, (4, 3))
    asked = asked_velocities(task.walker, ball, direction, actions)
    mirrored = asked_velocities(task.walker, ball * [1, -1], -direction, actions * ACTION_SIGNS)
    np.testing.assert_allclose(mirrored, asked * ACTION_SIGNS, atol=1e-12)
    assert task.observation.shape == (4, len(SIGNS))


def test_results_of_dribbling_are_the_same_with_any_number_of_threads() -> None:
    found = []
    for threads in (1, 3):
        task = DribbleTask("nao-spark", "type0", 5, threads=threads, seed=2)
        rng = np.random.default_rng(0)
        for _ in range(8):
            task.advance(rng.standard_normal((5, task.actions)).astype(np.float32))
        found.append((task.observation.copy(), task.reward.copy()))
        task.close()
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_dribbling_learns_a_few_iterations_goes_on_after_a_stop_and_steers_a_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nutmeg.learning.policies.training.BLOCK", 2)
    options = ["train", "dribble", "--worlds", "4", "--threads", "1", "--hidden", "8", "--no-video", "--json"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main([*options, "-o", str(whole), "--iterations", "4"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {path.rsplit("/", 1)[-1] for path in result["files"]} == {"dribble.toml", "report.html", "weights.npz"}
    assert "lost" in (whole / "report.html").read_text(encoding="utf-8")
    assert main([*options, "-o", str(parts), "--iterations", "2"]) == 0
    assert main([*options, "-o", str(parts), "--iterations", "4"]) == 0
    with np.load(whole / "weights.npz") as one, np.load(parts / "weights.npz") as other:
        assert np.array_equal(one["layers"], other["layers"])
    started = [*options, "-o", str(tmp_path / "next"), "--iterations", "1", "--type", "type1", "--start", str(whole)]
    assert main(started) == 0

    dribbling = read_dribbling(whole)
    assert main([*options, "-o", str(tmp_path / "refused"), "--fastest", "1", "1", "1", "1"]) == 2
    assert "--fastest goes with walk, run and turn" in capsys.readouterr().err
    assert main([*options, "-o", str(tmp_path / "refused"), "--start", "policy"]) == 1
    assert not (tmp_path / "refused").exists()

    policy = read_walk("policy").policy
    assert policy is not None
    worlds = Worlds(DribbleTask("nao-spark", "type0", 1).scene, 2)
    dribbler = Dribbler(PolicyWalker(worlds, ROBOT_NAME, policy), dribbling, "type0")
    ball = np.array([[0.4, 0.1], [0.4, -0.1]])
    asked = dribbler.velocities(ball, np.zeros((2, 2)), np.array([0.3, -0.3]))
    np.testing.assert_allclose(asked[1], asked[0] * ACTION_SIGNS, atol=1e-6)
    assert asked[0, 0] > 0.3
    monkeypatch.setattr("nutmeg.commands.walk_film.DRIBBLE_PLAN", (("ahead", 0.0, 1.0), ("to the left", 0.7, 1.0)))
    assert record_dribbling(dribbling, "type0", tmp_path / "film.nutmeg")
