"""The robots of `nutmeg train` in other libraries: Gymnasium's vectors, Stable-Baselines3, rsl-rl."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from nutmeg.learning.policies.adapters import TaskVectorEnv, rsl_rl_env, stable_baselines_env
from nutmeg.learning.policies.task import Variation
from nutmeg.learning.policies.walk_task import WalkLearning, WalkTask, walk_scene
from nutmeg.motion.walk.files import read_walk

EXAMPLES = Path(__file__).parents[3] / "examples"


def robots(count: int = 4) -> WalkTask:
    return WalkTask(walk_scene("t1"), count, seed=1, learning=WalkLearning(variation=Variation(bodies=1)))


def test_vectors_of_gymnasium_have_shapes_ends_and_seeds_as_they_should() -> None:
    envs = TaskVectorEnv(robots())
    first, _ = envs.reset(seed=3)
    assert envs.observation_space.contains(first)
    envs.action_space.seed(0)
    ended = 0
    for _ in range(60):
        seen, reward, fell, late, infos = envs.step(envs.action_space.sample())
        assert seen.shape == first.shape
        assert reward.shape == fell.shape == late.shape == (4,)
        for row in np.flatnonzero(fell | late):
            ended += 1
            assert infos["_final_obs"][row]
            assert not np.array_equal(infos["final_obs"][row], seen[row])
    assert ended > 0, "robots that are thrown about fall"
    again, _ = envs.reset(seed=3)
    assert np.array_equal(again, first)
    envs.close()


def test_stable_baselines_learns_on_the_robots_and_its_walk_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("stable_baselines3")
    monkeypatch.setattr(sys, "argv", ["train_elsewhere.py", "3000", str(tmp_path / "walk")])
    runpy.run_path(str(EXAMPLES / "train_elsewhere.py"))
    walk = read_walk(str(tmp_path / "walk"))
    assert walk.policy is not None
    assert not walk.policy.symmetric
    assert walk.policy.network("").sizes.tolist() == [50, 128, 128, 13]
    envs = stable_baselines_env(robots())
    assert envs.reset().shape == (4, 50)


def test_tensors_of_rsl_rl_are_those_of_the_task() -> None:
    pytest.importorskip("rsl_rl")
    torch = pytest.importorskip("torch")
    task = robots()
    envs = rsl_rl_env(task)
    seen, reward, over, extras = envs.step(torch.zeros(4, task.actions))
    assert torch.equal(seen["policy"], torch.tensor(task.observation))
    assert seen["critic"].shape == (4, 58)
    assert reward.shape == over.shape == extras["time_outs"].shape == (4,)
