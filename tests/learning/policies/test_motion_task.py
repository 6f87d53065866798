"""Robots that learn to correct get-ups, kicks and dives: where episodes begin, what is rewarded, and what ships."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.cli import main
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.motion_task import DIVE_SIDE, DiveTask, GetUpTask, KickTask, MotionTask
from nutmeg.motion.bodies import JointTargets
from nutmeg.motion.inertial import FallDetector, Lying, UpEstimator
from nutmeg.motion.keyframes import GetUp, read_motion, shipped_get_up, shipped_get_ups
from nutmeg.motion.policy import BALL, BALL_SCALE, KIND
from nutmeg.sim.ball_way import DAMPING
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Bools


def risen(task: GetUpTask, kind: str, *, corrected: bool) -> Bools:
    """Which of the robots that lie on their backs stand in the end, by the classes that players use."""
    rows = np.flatnonzero(task.stored.motion == 1)[:12]
    worlds = Worlds(task.scene, len(rows))
    worlds.qpos[:], worlds.qvel[:] = task.stored.qpos[rows], task.stored.qvel[rows]
    motions = dict(shipped_get_ups("nao-spark", kind))
    if not corrected:
        motions["back"] = (dataclasses.replace(motions["back"][0], correction=None),)
    senses = UpEstimator(worlds, ROBOT_NAME)
    falls = FallDetector(senses)
    get_up, goals = GetUp(worlds, ROBOT_NAME, motions, falls=falls), JointTargets(worlds, ROBOT_NAME)
    get_up.begin(np.arange(len(rows)), Lying.BACK)
    for _ in range(130):
        senses.sample()
        falls.sample(0.0)
        get_up.sample(0.0)
        goals.follow(get_up.targets)
        worlds.step()
    return np.asarray(get_up.done & (get_up.tries == 1) & (worlds.robots[0].uprightness() > 0.9))


def test_the_network_gets_robots_up_from_their_backs_more_surely_than_the_keyframes_alone() -> None:
    task = GetUpTask("nao-spark", "type0", 4, seed=11, stored=48)
    alone, corrected = (risen(task, "type0", corrected=one) for one in (False, True))
    assert corrected.mean() >= 0.9
    assert alone.sum() < corrected.sum()


def test_episodes_begin_lying_on_the_side_that_the_motion_is_for() -> None:
    task = GetUpTask("nao-spark", "type2", 16, seed=3, stored=24)
    up = task.states["up"][:, 0]
    assert (np.sign(up) == np.where(task.episodes["motion"] == 0, -1.0, 1.0)).all()
    assert (task.states["task"][:, KIND] == np.where(task.episodes["motion"] == 0, 1.0, -1.0)).all()


def test_a_kick_earns_by_the_way_of_the_ball_and_ends_by_itself() -> None:
    task = KickTask("nao-spark", "type0", 8, seed=4, stored=16)
    still, ends, rewards = np.zeros((8, task.actions), np.float32), np.zeros(8, dtype=bool), np.zeros(8)
    for _ in range(120):
        task.advance(still)
        fresh = task.ended & ~ends
        rewards[fresh] = task.reward[fresh]
        ends |= fresh
    assert ends.all()
    far = task.measures()
    assert rewards.mean() > 0.2
    assert far["distance"] > 0.5


def test_balls_of_a_dive_roll_past_the_robot_where_and_when_they_are_to() -> None:
    task = DiveTask("nao-spark", "type0", 12, seed=4, stored=16)
    still, ball = np.zeros((12, task.actions), np.float32), int(task.scene.model.body("ball").jntadr[0])
    place, rate = task.scene.model.jnt_qposadr[ball], task.scene.model.jnt_dofadr[ball]
    for _ in range(15):
        task.advance(still)
    q, v, e = task.worlds.qpos, task.worlds.qvel, task.episodes
    # Nobody has touched them yet; what is left of the way follows from their speed, which they lose in proportion.
    left = v[:, rate : rate + 2] * ((1 - np.exp(-DAMPING * (e["passes"] - 0.3))) / DAMPING)[:, None]
    apart = q[:, place : place + 2] + left - e["origin"]
    ahead = np.cos(e["yaw"]) * apart[:, 0] + np.sin(e["yaw"]) * apart[:, 1]
    side = np.cos(e["yaw"]) * apart[:, 1] - np.sin(e["yaw"]) * apart[:, 0]
    assert ahead == pytest.approx(np.zeros(12), abs=0.08)
    told = DIVE_SIDE + task.states["task"][:, BALL + 1] * BALL_SCALE
    assert np.abs(side - told).mean() < 0.08, "it knows where the ball will pass within 5 cm"
    assert side.min() > 0.15
    assert side.max() < 0.65
    assert (np.linalg.norm(v[:, rate : rate + 2], axis=1) > 1.5).all()


def test_a_dive_earns_by_balls_that_do_not_pass_and_later_wider_ones_are_harder() -> None:
    task = DiveTask("nao-spark", "type0", 24, seed=4, stored=16)
    still, shares = np.zeros((24, task.actions), np.float32), []
    for level in (0.0, 1.0):
        task.use_level(level)
        task.begin(np.arange(24))
        ends, rewards = np.zeros(24, dtype=bool), np.zeros(24)
        for _ in range(80):
            task.advance(still)
            fresh = task.ended & ~ends
            rewards[fresh], ends = task.reward[fresh], ends | fresh
        assert ends.all()
        assert set(np.unique(np.round(rewards))) <= {-1.0, 1.0}
        shares.append(task.measures()["saved"])
    assert shares[0] > 0.7
    assert shares[1] < shares[0]


@pytest.mark.parametrize("kind_of_task", [KickTask, DiveTask])
def test_results_of_motions_are_the_same_with_any_number_of_threads(kind_of_task: type[MotionTask]) -> None:
    found = []
    for threads in (1, 3):
        task = kind_of_task("nao-spark", "type1", 5, threads=threads, seed=2, stored=8)
        rng = np.random.default_rng(0)
        for _ in range(20):
            task.advance(rng.standard_normal((5, task.actions)).astype(np.float32))
        found.append((task.observation.copy(), task.reward.copy()))
        task.close()
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_a_dive_learns_a_few_iterations_and_writes_its_motion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MotionTask.__init__, "__kwdefaults__", {**MotionTask.__init__.__kwdefaults__, "stored": 8})
    options = ["train", "dive", "--worlds", "4", "--threads", "1", "-o", str(tmp_path / "run"), "--json"]
    assert main([*options, "--iterations", "3"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {path.rsplit("/", 1)[-1] for path in result["files"]} == {"dive.toml", "report.html", "weights.npz"}
    motion = read_motion(tmp_path / "run" / "dive.toml")
    assert motion.correction is not None
    assert motion.ball == (0.0, DIVE_SIDE)
    assert "share of balls that did not pass" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_command_writes_motions_with_their_networks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MotionTask.__init__, "__kwdefaults__", {**MotionTask.__init__.__kwdefaults__, "stored": 8})
    options = ["train", "get-up", "--worlds", "4", "--threads", "1", "-o", str(tmp_path / "run"), "--json"]
    assert main([*options, "--iterations", "1"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {path.rsplit("/", 1)[-1] for path in result["files"]} == {
        "get-up-front.toml",
        "get-up-back.toml",
        "report.html",
        "weights.npz",
    }
    motion = read_motion(tmp_path / "run" / "get-up-back.toml")
    assert motion.correction is not None
    assert motion.correction.network("type0").sizes.tolist() == [74, 128, 128, 20]
    assert "nutmeg train get-up" in motion.about
    assert main(["train", "walk", "--start", str(tmp_path / "run"), "--worlds", "2", "-o", str(tmp_path / "w")]) != 0
    assert "Begin with a training of the same task" in " ".join(capsys.readouterr().err.split())


def test_every_type_gets_up_from_both_sides_in_less_than_two_seconds() -> None:
    for kind in ("type0", "type1", "type2", "type3", "type4"):
        for side in ("front", "back"):
            motion = shipped_get_up("nao-spark", side, kind)
            assert motion.seconds < 2.0
