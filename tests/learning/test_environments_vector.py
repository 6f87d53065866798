"""The environments with many robots: rows as single ones, and episodes that follow one another."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.learning.gym import IDS
from nutmeg.learning.gym.environments import TaskVectorEnv

WALK, TARGET = IDS


def many(name: str, count: int, **options: Any) -> TaskVectorEnv:
    envs = gymnasium.make_vec(name, num_envs=count, **options)
    assert isinstance(envs, TaskVectorEnv)
    return envs


@pytest.mark.parametrize(
    ("name", "options"), [(WALK, {}), (WALK, {"residual": True}), (WALK, {"robot": "nao-v6"}), (TARGET, {})]
)
def test_a_single_robot_is_row_zero_of_many(name: str, options: dict[str, Any]) -> None:
    envs, env = many(name, 3, max_episode_steps=60, **options), gymnasium.make(name, max_episode_steps=60, **options)
    rows, _ = envs.reset(seed=11)
    row, _ = env.reset(seed=11)
    np.testing.assert_array_equal(rows[0], row)
    rng = np.random.default_rng(0)
    episodes, over = 0, False
    for _ in range(100):
        actions = rng.uniform(-0.3, 0.3, envs.action_space.shape or ()).astype(np.float32)
        rows, rewards, fell, late, infos = envs.step(actions)
        if over:
            row, info = env.reset()
            reward, ended, cut = 0.0, False, False
        else:
            row, reward, ended, cut, info = env.step(actions[0])  # type: ignore[assignment]
        np.testing.assert_array_equal(rows[0], row)
        assert (rewards[0], fell[0], late[0]) == (reward, ended, cut)
        np.testing.assert_array_equal(infos["velocity"][0], info["velocity"])
        over = ended or cut
        episodes += over
    assert episodes >= 1


def test_each_robot_has_a_seed_of_its_own() -> None:
    envs = many(TARGET, 4)
    first, _ = envs.reset(seed=20)
    assert len({row.tobytes() for row in first}) == 4
    np.testing.assert_array_equal(envs.reset(seed=[20, 21, 22, 23])[0], first)
    assert not np.array_equal(envs.reset()[0], first)
    single, _ = gymnasium.make(TARGET).reset(seed=22)
    np.testing.assert_array_equal(first[2], single)
    with pytest.raises(UsageError, match="2 seeds for 4"):
        envs.reset(seed=[1, 2])


def test_threads_change_nothing() -> None:
    one, two = many(WALK, 6), many(WALK, 6, threads=2)
    one.reset(seed=1)
    two.reset(seed=1)
    actions = np.random.default_rng(1).uniform(-1, 1, (40, 6, 12)).astype(np.float32)
    for row in actions:
        ours, theirs = one.step(row), two.step(row)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


def test_observations_lie_in_their_space_whatever_is_done() -> None:
    envs = many(WALK, 8, reach=3.0, joints="all")
    observations, _ = envs.reset(seed=0)
    rng, falls = np.random.default_rng(0), 0
    for _ in range(120):
        assert observations in envs.observation_space
        observations, _, fell, _, _ = envs.step(rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32))
        falls += int(fell.sum())
    assert falls > 3


def test_the_next_step_begins_the_next_episode() -> None:
    envs = many(WALK, 3, max_episode_steps=5)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    envs.reset(seed=1)
    rest = np.zeros((3, 12), np.float32)
    lates = [envs.step(rest)[3].tolist() for _ in range(5)]
    assert lates[3] == [False] * 3
    assert lates[4] == [True] * 3
    time = envs.task.bodies.worlds.time.copy()
    observations, rewards, fell, late, _ = envs.step(rest + 1)
    assert not fell.any()
    assert not late.any()
    np.testing.assert_array_equal(rewards, 0.0)
    np.testing.assert_array_equal(observations[:, envs.layout.slices["last_action"]], 0.0)
    assert (envs.task.bodies.worlds.time < time).all()
    assert not envs.step(rest)[3].any()


def test_the_same_step_can_begin_the_next_episode() -> None:
    envs = many(WALK, 3, max_episode_steps=2, autoreset_mode="SameStep")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    envs.reset(seed=1)
    ones = np.ones((3, 12), np.float32)
    assert "final_obs" not in envs.step(ones)[4]
    observations, rewards, _, late, infos = envs.step(ones)
    last = envs.layout.slices["last_action"]
    assert late.all()
    assert rewards.any()
    np.testing.assert_array_equal(observations[:, last], 0.0)
    np.testing.assert_array_equal(infos["final_obs"][1][last], 1.0)
    assert infos["_final_obs"].all()
    assert infos["final_info"]["velocity"].shape == (3, 3)
    assert infos["_velocity"].all()


def test_without_autoreset_episodes_are_begun_by_hand() -> None:
    envs = many(WALK, 3, max_episode_steps=2, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    rest = np.zeros((3, 12), np.float32)
    envs.reset(options={"reset_mask": np.array([False, True, True])})
    envs.step(rest)
    assert envs.step(rest)[3].all()
    with pytest.raises(UsageError, match="reset_mask"):
        envs.step(rest)
    before = envs.task.observe()
    after, _ = envs.reset(options={"reset_mask": np.array([True, False, False])})
    np.testing.assert_array_equal(before[1:], after[1:])
    assert not np.array_equal(before[0], after[0])
    for mask in ([True] * 3, np.array([True]), np.zeros(3, bool)):
        with pytest.raises(UsageError, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})


def test_trajectories_of_targets_end_when_their_time_is_over() -> None:
    envs = many(TARGET, 2, trajectory="side to side")
    envs.reset(seed=0)
    steps, late = 0, np.zeros(2, bool)
    while not late.any():
        _, _, fell, late, _ = envs.step(np.zeros((2, 3), np.float32))
        assert not fell.any()
        steps += 1
    assert late.all()
    assert steps == 400


def test_actions_beyond_one_are_taken_for_one_and_such_as_are_no_numbers_refused() -> None:
    big, one = many(WALK, 2), many(WALK, 2)
    big.reset(seed=1)
    one.reset(seed=1)
    np.testing.assert_array_equal(big.step(np.full((2, 12), 7.0))[0], one.step(np.ones((2, 12)))[0])
    actions = np.zeros((2, 12))
    actions[1, 3] = np.nan
    with pytest.raises(UsageError, match=r"action \[1, 3\] is nan"):
        big.step(actions)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"autoreset_mode": "Sometimes"}, "NextStep"),
        ({"max_episode_steps": 0}, "from 1"),
        ({"num_envs": 0}, "1..100000"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"autorest_mode": "Disabled"}, "unknown option"),
    ],
)
def test_options_of_many_are_checked(options: dict[str, Any], says: str) -> None:
    with pytest.raises(NutmegError) as caught:
        gymnasium.make_vec(WALK, **{"num_envs": 2, **options})
    assert says in str(caught.value)


def test_steps_before_a_reset_are_refused_and_every_robot_has_its_picture() -> None:
    envs = many(TARGET, 2, render_mode="rgb_array", width=64, height=48)
    with pytest.raises(UsageError, match="reset"):
        envs.step(np.zeros((2, 3)))
    envs.reset(seed=0)
    pictures = envs.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(48, 64, 3)] * 2
    envs.close()
    assert envs.closed
