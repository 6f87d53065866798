"""Robots that learn to walk: what is rewarded, threads, checkpoints, and a policy that gets better."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import grid_of
from nutmeg.base.records import aligned
from nutmeg.cli import main
from nutmeg.learning.courses import start_walkers
from nutmeg.learning.policies.ppo import CRITIC_UPDATES, PpoSettings
from nutmeg.learning.policies.task import Variation
from nutmeg.learning.policies.training import BLOCK, Training, TrainSettings
from nutmeg.learning.policies.walk_task import WalkLearning, WalkRewards, WalkTask, walk_scene
from nutmeg.motion.legs.feet import find_feet
from nutmeg.motion.policy import MAX_SIDEWARD_ACCELERATION, Gait, read_network
from nutmeg.motion.policy_kernels import run_network
from nutmeg.motion.walk.files import read_walk, walk_text

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats32
    from nutmeg.learning.policies.walk_task import WalkName

MISSING_WARP = importlib.util.find_spec("mujoco_warp") is None
ONE_BODY = Variation(bodies=1)
SMALL = TrainSettings(kind="type0", worlds=8, seed=3, ppo=PpoSettings(hidden=(16,), cycles=4, epochs=1, batches=1))


def earned(task: WalkTask, policy: str, cycles: int = 200) -> float:
    """The mean reward of a second of robots that do nothing, or follow the shipped policy."""
    walk, image = read_walk("policy"), task.image
    assert walk.policy is not None
    network, total = walk.policy.network("type0"), 0.0
    for _ in range(cycles):
        actions: Floats32 = np.zeros((task.count, task.actions), np.float32)
        if policy == "shipped":
            for n, seen in enumerate(task.observation):
                one, other = (run_network(s, network) for s in (seen, seen[image.observation] * image.observation_sign))
                actions[n] = (one + other[image.action] * image.action_sign) / 2
        task.advance(actions)
        total += float(task.reward.mean())
        task.begin(np.flatnonzero(task.ended | task.cut))
    return total / cycles / 0.02


def test_walking_earns_more_than_stepping_on_the_spot() -> None:
    rewards = WalkRewards(level=0.7, push=0.0)
    scene = walk_scene("nao-spark", "type0")
    spot, walks = (
        earned(WalkTask(scene, 16, seed=5, learning=WalkLearning(rewards=rewards)), p) for p in ("none", "shipped")
    )
    assert walks > spot + 0.5


@pytest.mark.parametrize("robot", ["nao-spark", "t1"])
def test_results_are_the_same_with_any_number_of_threads(robot: str) -> None:
    found, scene = [], walk_scene(robot, "type0" if robot == "nao-spark" else "")
    for threads in (1, 3):
        task = WalkTask(scene, 7, threads=threads, seed=2, learning=WalkLearning(variation=Variation(bodies=3)))
        rng = np.random.default_rng(0)
        for _ in range(30):
            task.advance(rng.standard_normal((7, task.actions)).astype(np.float32))
            task.begin(np.flatnonzero(task.ended | task.cut))
        found.append((task.observation.copy(), task.reward.copy()))
        task.close()
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_a_world_that_breaks_down_begins_anew_and_leaves_the_others_alone() -> None:
    scene = walk_scene("nao-spark", "type0")
    whole, broken = (WalkTask(scene, 3, seed=2) for _ in range(2))
    still = np.zeros((3, whole.actions), np.float32)
    broken.worlds.qvel[1] = np.nan
    for task in (whole, broken):
        task.advance(still)
    assert broken.ended.tolist() == [False, True, False]
    assert broken.reward[1] == -1.0
    with pytest.warns(RuntimeWarning, match="1 worlds broke down and began anew"):
        broken.measures()
    broken.begin_over()
    assert np.isfinite(broken.worlds.qpos).all()
    for task in (whole, broken):
        task.advance(still)
    assert np.array_equal(broken.observation[[0, 2]], whole.observation[[0, 2]])
    assert not broken.ended.any()


@pytest.mark.skipif(MISSING_WARP, reason="mujoco_warp is not installed (pip install 'nutmeg-sim[gpu]')")
@pytest.mark.slow
@pytest.mark.parametrize(("robot", "actuation"), [("t1", "ideal"), ("nao-v6", "servo"), ("nao-spark", "ideal")])
def test_robots_on_a_device_see_and_earn_what_those_on_the_processor_do(robot: str, actuation: str) -> None:
    learning = WalkLearning(variation=Variation(bodies=2))
    scene = walk_scene(robot, "", actuation, native=True)
    here, there = (WalkTask(scene, 4, seed=2, learning=learning, device=d) for d in ("cpu", "warp-cpu"))
    rng, off = np.random.default_rng(0), []
    for cycle in range(12):
        if cycle == 6:
            for task in (here, there):
                task.begin(np.array([1]))
        # Each cycle begins with the same state: where a foot touches a step sooner, motions soon differ by more.
        for ours, theirs in zip(here._walkers, there._walkers, strict=True):
            theirs[...] = ours
        actions = 0.3 * rng.standard_normal((4, here.actions)).astype(np.float32)
        for task in (here, there):
            task.advance(actions)
        off.append([np.abs(a - b).max() for a, b in ((there.observation, here.observation), (there.truth, here.truth))])
        np.testing.assert_allclose(there.reward, here.reward, atol=1e-3)
    assert np.quantile(off, 0.8) < 5e-3, "rounding to 32 bit, by stiff drives"
    assert np.max(off) < 0.1, "speeds of a joint in a cycle in which a foot touches a step sooner here than there"
    assert there.measures() == pytest.approx(here.measures(), abs=0.02)


def test_a_network_that_learned_on_mujocos_contacts_goes_on_on_the_leagues_engine() -> None:
    native, league = (
        WalkTask(walk_scene("nao-spark", "type0", native=n), 4, seed=2, learning=WalkLearning(variation=ONE_BODY))
        for n in (True, False)
    )
    assert np.array_equal(native.observation, league.observation)
    for _ in range(5):
        for task in (native, league):
            task.advance(np.zeros((4, task.actions), np.float32))
    np.testing.assert_allclose(native.observation, league.observation, atol=0.3)  # gyros differ while soles settle
    angles = slice(0, native.actions)
    np.testing.assert_allclose(native.observation[:, angles], league.observation[:, angles], atol=0.01)
    # What was learned on one goes on on the other, with the share of the velocities that it had come to.
    kept: list[dict[str, Any]] = []
    Training(SMALL).run(1, checkpoint=kept.append)
    run = Training(dataclasses.replace(SMALL, task="run", level=0.8))
    run.load(kept[0], go_on=False)
    assert np.array_equal(run.learner.save()["policy"], kept[0]["policy"])
    assert run.iterations == 0
    with pytest.raises(UsageError, match="is one of the walk of nao-spark; this training is of the run"):
        run.load(kept[0])


@pytest.mark.parametrize("task", ["run", "turn"])
def test_a_run_is_asked_to_go_ahead_and_a_turn_to_turn(task: WalkName) -> None:
    robots = WalkTask(walk_scene("nao-spark", "type0"), 200, seed=2, learning=WalkLearning(task=task))
    ahead, aside, turn = robots.episodes["command"].T
    straight = (ahead > 0) & (aside == 0) & (turn == 0)
    spot = (ahead == 0) & (aside == 0) & (turn != 0)
    assert straight.mean() > 0.5 if task == "run" else spot.mean() > 0.5
    assert (ahead == 0).sum() > 10, "some stand"


def test_most_straight_commands_are_the_highest_and_none_asks_for_a_turn_that_is_too_quick_for_its_speed() -> None:
    rewards = WalkRewards(fastest=(1.6, 0.8, 2.4), back=0.9, level=1.0, push=0.0)
    learning = WalkLearning(rewards=rewards, variation=ONE_BODY)
    robots = WalkTask(walk_scene("nao-spark", "type0"), 400, seed=2, learning=learning)
    ahead, aside, turn = robots.episodes["command"].T
    spot = np.abs(turn[(ahead == 0) & (aside == 0) & (turn != 0)])
    for found, top in ((ahead[(ahead > 0) & (aside == 0) & (turn == 0)], 1.6), (spot, 2.4)):
        assert 0.55 < (found == top).mean() < 0.85
        assert found.min() >= 0.3 * top
    assert (np.hypot(ahead, aside) * np.abs(turn) <= MAX_SIDEWARD_ACCELERATION + 1e-9).all()
    robots.episodes["heading"] += 1.0  # what a robot is missing is not made up for faster, either
    robots.advance(np.zeros((400, robots.actions), np.float32))
    ahead, aside, turn = robots.states["wanted"].T
    assert (np.hypot(ahead, aside) * np.abs(turn) <= MAX_SIDEWARD_ACCELERATION + 1e-9).all()


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["begin_walk", "command_walk", "judge_walk"])
def test_the_cycle_of_a_robot_that_learns_compiles_for_a_cuda_device(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba.cuda
    from numba import typeof, types
    from numba.cuda import dispatcher

    from nutmeg.learning.policies import walk_kernels

    class Hopper:
        compute_capability = (9, 0)

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: Hopper)
    task = WalkTask(walk_scene("t1"), 2)
    engine = walk_kernels.Walkers._fields.index("episodes")
    robots = [a.astype(np.float32) if n < engine else aligned(a) for n, a in enumerate(task._walkers)]
    arguments = walk_kernels.WalkTables._make(map(aligned, task._tables)), walk_kernels.Walkers._make(robots)
    grid = grid_of(getattr(walk_kernels, name).one)
    text, _ = numba.cuda.compile_ptx(grid.py_func, (types.int64, typeof(arguments)), cc=(9, 0))
    assert ".visible .entry" in text
    assert text.count("ld.global.u8") < 50, "fields of records are read as a whole, not byte by byte"


def test_a_training_that_was_killed_ends_with_the_same_numbers() -> None:
    kept: list[dict[str, Any]] = []
    whole = Training(SMALL)
    whole.run(BLOCK + 2, checkpoint=kept.append)
    again = Training(SMALL)
    again.load(kept[0])
    assert again.iterations == BLOCK
    again.run(BLOCK + 2)
    assert np.array_equal(again.network().layers, whole.network().layers)
    assert np.array_equal(again.network().mean, whole.network().mean)


@pytest.mark.slow
def test_a_program_that_is_killed_in_the_middle_of_training_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    options = ["train", "--worlds", "2", "--threads", "1", "--hidden", "8", "--no-video"]
    options += ["--iterations", str(2 * BLOCK)]
    command = [sys.executable, "-m", "nutmeg", *options, "-o", str(tmp_path / "killed")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        while not (tmp_path / "killed" / "progress-000025.jsonl").exists():
            assert program.poll() is None, "it has not ended by itself"
            time.sleep(0.01)
        program.kill()
    assert main([*options, "-o", str(tmp_path / "killed")]) == 0
    assert main([*options, "-o", str(tmp_path / "whole")]) == 0
    killed, whole = (read_network(tmp_path / name / "weights.npz") for name in ("killed", "whole"))
    assert np.array_equal(killed.layers, whole.layers)


def test_the_command_trains_goes_on_and_writes_a_walk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["train", "--worlds", "4", "--threads", "1", "-o", str(tmp_path / "run"), "--json"]
    options += ["--no-video"]
    assert main([*options, "--iterations", "1"]) == 0
    assert main([*options, "--iterations", "2"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["iterations"] == 2
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "2 of 2 iterations are done" in report
    assert report.count("<svg") == 8, "a curve for each number of an iteration, over both runs"
    walk = read_walk(str(tmp_path / "run"))
    assert walk.policy is not None
    assert walk.policy.network("type0").sizes.tolist() == [71, 128, 128, 20]
    assert read_network(tmp_path / "run" / "weights.npz").mean.shape == (71,)


def test_a_training_that_begins_with_the_network_of_a_walk_teaches_its_critic_first() -> None:
    policy = read_walk("policy").policy
    assert policy is not None
    network = policy.network("type0")
    quick = PpoSettings(cycles=2, epochs=1, batches=1)
    training, kept = Training(dataclasses.replace(SMALL, worlds=4, ppo=quick)), list[dict[str, Any]]()
    training.load_policy(network)
    critic = training.learner.critic.numbers.copy()
    training.run(CRITIC_UPDATES, checkpoint=kept.append)
    assert np.array_equal(training.network().layers, network.layers)
    assert not np.array_equal(training.learner.critic.numbers, critic)
    training.run(CRITIC_UPDATES + 1)
    assert not np.array_equal(training.network().layers, network.layers)
    # What it observes is normalised as before, or it would act otherwise without an update.
    np.testing.assert_allclose(training.network().mean, network.mean, atol=1e-6)
    np.testing.assert_allclose(training.network().scale, network.scale, rtol=1e-5)
    with pytest.raises(UsageError, match=r"layers of \(71, 128, 128, 20\); this training needs \(71, 16, 20\)"):
        Training(SMALL).load_policy(network)
    # One that is killed while its critic learns goes on with that.
    early = Training(dataclasses.replace(SMALL, worlds=4, ppo=quick))
    early.load_policy(network)
    early.run(2, checkpoint=kept.append)
    again = Training(early.settings)
    again.load(kept[-1])
    assert again.learner.held == CRITIC_UPDATES - 2


def test_the_command_begins_with_a_walk_and_keeps_its_gait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = read_walk("policy")
    assert shipped.policy is not None
    gait = Gait(stride=0.4, gain=0.3)
    weights = {"type0": str(Path(shipped.policy.folder) / shipped.policy.weights["type0"])}
    mine = dataclasses.replace(shipped, policy=dataclasses.replace(shipped.policy, weights=weights, gait=gait))
    (tmp_path / "mine.toml").write_text(walk_text(mine), encoding="utf-8")
    options = ["train", "walk", "--worlds", "2", "--threads", "1", "--no-video", "--iterations", "1"]
    assert main([*options, "--start", str(tmp_path / "mine.toml"), "-o", str(tmp_path / "run")]) == 0
    assert main([*options, "--start", str(tmp_path / "run"), "-o", str(tmp_path / "next")]) == 0
    for name in ("run", "next"):
        found = read_walk(str(tmp_path / name)).policy
        assert found is not None
        assert found.gait == gait
        assert found.network("type0").layers == pytest.approx(shipped.policy.network("type0").layers, abs=1e-6)
        with np.load(tmp_path / name / "checkpoint.npz") as kept:
            assert np.exp(kept["spread"]) == pytest.approx(0.08), "a walk is not drowned in the noise of a new one"
    asked = ["--fastest", "1.0", "0.8", "0.6", "2.0", "--level", "0.5"]
    assert main([*options, *asked, "--start", "policy", "-o", str(tmp_path / "slower")]) == 0
    found = read_walk(str(tmp_path / "slower")).policy
    assert found is not None
    assert (*found.fastest, found.back) == pytest.approx((0.5, 0.3, 1.0, 0.4))
    capsys.readouterr()
    assert main([*options, "--robot", "t1", "--start", "policy", "-o", str(tmp_path / "other")]) != 0
    assert "is a policy of nao-spark; needed is a policy of t1" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("robot", ["t1", "k1", "nao-v6", "ers7"])
def test_robots_of_any_kind_begin_standing_and_their_soles_are_where_the_engine_has_them(robot: str) -> None:
    scene = walk_scene(robot)
    task = WalkTask(
        scene, 4, seed=1, learning=WalkLearning(rewards=WalkRewards(level=0.5, push=0.0), variation=Variation(bodies=1))
    )
    places, turns = (task.worlds.batch.bind(name) for name in ("xpos", "xmat"))
    task.advance(np.zeros((4, task.actions), np.float32))
    task.worlds.refresh()
    feet = find_feet(scene, scene.robot("walker"))
    for number, body in enumerate(feet.bodies):
        soles = places[:, body] + turns[:, body].reshape(4, 3, 3) @ feet.record["sole"][0, number]
        assert task.truth[:, 6 + number] == pytest.approx(soles[:, 2], abs=1e-5)
    assert not task.ended.any()
    assert task.worlds.robots[0].uprightness().min() > 0.95


def test_bodies_differ_as_the_variation_says_and_their_total_is_that_of_the_file_on_average() -> None:
    task = WalkTask(walk_scene("t1"), 8, seed=1, learning=WalkLearning(variation=Variation(bodies=4)))
    masses = task.worlds.batch.expanded("body_mass")
    assert masses is not None
    total = masses.sum(axis=1)
    assert len(np.unique(total)) == 4
    assert total[:4] == pytest.approx(total[4:])
    assert total.mean() == pytest.approx(float(task.scene.model.body_mass.sum()), rel=0.05)


def test_a_checkpoint_of_another_robot_is_refused_by_its_name() -> None:
    kept: list[dict[str, Any]] = []
    small = PpoSettings(hidden=(8,), cycles=2, epochs=1, batches=1)
    Training(TrainSettings(robot="k1", worlds=2, ppo=small)).run(1, checkpoint=kept.append)
    with pytest.raises(UsageError, match="is one of the walk of k1; this training is of the walk of t1"):
        Training(TrainSettings(robot="t1", worlds=2, ppo=small)).load(kept[0])


def test_a_policy_of_any_robot_drives_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["train", "walk", "--robot", "k1", "--worlds", "4", "--threads", "1", "--no-video", "--level", "0.5"]
    assert main([*options, "--iterations", "1", "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    walk = read_walk(str(tmp_path / "run")).for_robot("k1")
    assert walk.policy is not None
    assert walk.policy.network("").sizes.tolist() == [47, 128, 128, 12]
    scene = walk_scene("k1")
    worlds, walker = start_walkers(scene, [walk] * 2, [np.random.default_rng(n) for n in range(2)])
    walker.wanted[:] = [0.3, 0.0, 0.0]
    for _ in range(10):
        walker.sample(0.0)
        worlds.advance(0.02)
    assert worlds.robots[0].uprightness().min() > 0.9
    # An almost new network does little but lift the legs, which its clock does.
    assert walker.states["clock"] % 0.5 == pytest.approx(10 * 0.02 / walk.policy.gait.stride)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--robot", "examples/pendulum"], "a walk needs a free base"),
        (["--type", "type7"], "unknown type of nao-spark 'type7'"),
        (["--start", "nowhere"], "does not exist; needed is the folder of a `nutmeg train`"),
        (["--worlds", "0"], "worlds"),
    ],
)
def test_what_cannot_be_trained_is_said(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *options, "--iterations", "1", "-o", str(tmp_path / "run")]) != 0
    assert said in " ".join(capsys.readouterr().err.split())
