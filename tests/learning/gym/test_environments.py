"""The Gymnasium environments: spaces, seeds, episodes, and what they refuse."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from nutmeg.base.errors import NutmegError, UnknownNameError, UsageError
from nutmeg.learning.courses import Bout, Course, StartNoise, Target, Trajectory, read_course, run_bouts, steer, yaw_of
from nutmeg.learning.gym import IDS, register_environments
from nutmeg.learning.gym.environments import TaskVectorEnv
from nutmeg.learning.gym.go_to_target import Targets
from nutmeg.motion.walk.files import read_walk

WALK, TARGET = IDS
STILL = StartNoise(joints=0.0, tilt=0.0, velocity=0.0, rate=0.0)


def task_of(env: gymnasium.Env[Any, Any]) -> Any:
    return env.unwrapped.task  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (WALK, {}),
        (WALK, {"residual": True, "joints": "all"}),
        (WALK, {"robot": "nao-v6", "actuation": "servo"}),
        (WALK, {"robot": "nao-v4"}),
        (WALK, {"robot": "ant", "joints": "all"}),
        (TARGET, {}),
    ],
)
def test_gymnasiums_own_checks_find_nothing_to_say(name: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, **options)
        assert check_env(env.unwrapped, skip_render_check=name == WALK) is None
    space = env.observation_space
    assert isinstance(space, gymnasium.spaces.Box)
    assert np.isfinite(space.low).all()
    assert np.isfinite(space.high).all()


def test_the_name_of_the_module_is_enough_to_find_an_environment() -> None:
    env = gymnasium.make(f"nutmeg.learning.gym:{TARGET}")
    assert env.action_space.shape == (3,)
    register_environments()  # again: neither a warning nor an error
    assert set(IDS) <= set(gymnasium.registry)


def test_the_same_seed_gives_the_same_episode_and_another_seed_another() -> None:
    def walked(seed: int) -> tuple[np.ndarray, float]:
        env = gymnasium.make(TARGET)
        first, _ = env.reset(seed=seed)
        steps = [env.step(np.array([0.5, 0.1, -0.2], np.float32)) for _ in range(30)]
        return np.concatenate([first, steps[-1][0]]), sum(float(step[1]) for step in steps)

    (one, gained), (same, as_much), (other, _) = walked(5), walked(5), walked(6)
    np.testing.assert_array_equal(one, same)
    assert gained == as_much
    assert not np.array_equal(one, other)


def test_observations_hold_what_the_parts_say() -> None:
    env = gymnasium.make(WALK)
    observation, info = env.reset(seed=1, options={"command": (0.1, -0.05, 0.2)})
    task, slices = task_of(env), task_of(env).layout.slices
    np.testing.assert_allclose(observation[slices["command"]], (0.1, -0.05, 0.2), rtol=1e-6)
    np.testing.assert_allclose(observation[slices["angles"]], task.bodies.robot.angles[0], rtol=1e-5, atol=1e-6)
    action = np.linspace(-0.2, 0.2, 12, dtype=np.float32)
    observation, _, _, _, info = env.step(action)
    np.testing.assert_array_equal(observation[slices["last_action"]], action)
    np.testing.assert_allclose(observation[slices["gyro"]], task.bodies.robot.velocity[0, 3:], atol=1e-3)
    assert info["velocity"].shape == (3,)
    assert sum(part.stop - part.start for part in slices.values()) == len(observation)


@pytest.mark.parametrize("robot", ["nao-spark", "nao-v6"])
def test_joints_go_where_actions_send_them(robot: str) -> None:
    env = gymnasium.make(WALK, robot=robot, reach=0.2, joints="all", noise=STILL)
    env.reset(seed=1)
    task = task_of(env)
    head = next(i for i, motor in enumerate(task.bodies.table.motors) if motor in {"hj1", "HeadYaw"})
    action = np.zeros(task.width, np.float32)
    action[head] = 1.0
    for _ in range(25):
        env.step(action)
    assert task.bodies.motor_angles()[0, head] == pytest.approx(0.2, abs=0.02)


def test_standing_still_is_rewarded_by_a_command_to_stand() -> None:
    env = gymnasium.make(WALK, noise=STILL)
    rest = np.zeros(12, np.float32)

    def gained(command: tuple[float, float, float]) -> float:
        env.reset(seed=1, options={"command": command})
        return np.mean([float(env.step(rest)[1]) for _ in range(50)]).item()

    assert gained((0.0, 0.0, 0.0)) == pytest.approx(1.5, abs=0.1)
    assert gained((0.9, 0.0, 0.0)) == pytest.approx(0.5, abs=0.1)


def test_the_walk_with_nothing_added_follows_its_command() -> None:
    env = gymnasium.make(WALK, residual=True)
    env.reset(seed=2, options={"command": (0.12, 0.0, 0.0)})
    rest = np.zeros(12, np.float32)
    for _ in range(200):
        _, _, fell, _, info = env.step(rest)
        assert not fell
    assert info["place"][0] == pytest.approx(0.12 * 4, rel=0.35)


def test_a_fall_ends_the_episode_and_costs_five() -> None:
    env = gymnasium.make(WALK, reach=1.5)
    env.reset(seed=3)
    for _ in range(300):
        _, reward, fell, late, _ = env.step(np.resize([1.0, -1.0, 1.0], 12).astype(np.float32))
        if fell:
            break
    assert fell
    assert not late
    assert -5.2 < float(reward) < -3.4
    with pytest.raises(UsageError, match="reset"):
        env.unwrapped.step(np.zeros(12, np.float32))


def test_a_world_that_breaks_down_counts_as_a_fall_and_its_numbers_stay_finite() -> None:
    env = gymnasium.make(WALK)
    env.reset(seed=3)
    task_of(env).bodies.worlds.qvel[0, 8] = 1e12
    observation, reward, fell, _, _ = env.step(np.zeros(12, np.float32))
    assert fell
    assert np.isfinite(observation).all()
    assert np.isfinite(float(reward))
    env.reset()
    assert not env.step(np.zeros(12, np.float32))[2]


def test_an_episode_of_targets_brings_what_the_equations_say() -> None:
    walk = read_walk("initial")
    trajectory = next(one for one in read_course("go-to-target").trajectory if one.name == "move and stop")
    bout = Bout(walk=walk, trajectory=trajectory, rng=np.random.default_rng(0))
    whole = run_bouts("nao-spark", [bout], noise=STILL)
    env = gymnasium.make(TARGET, trajectory="move and stop", noise=STILL)
    env.reset(seed=0)
    task = task_of(env)
    rng = np.random.default_rng(0)
    rng.standard_normal(len(task.bodies.table.joints) + 6)
    task.walker.walk.swing[:] = rng.random() < 0.5  # the foot that the bout began with
    gained, over = 0.0, False
    while not over:
        wanted = _steered(task)
        _, reward, fell, over, _ = env.step(wanted)
        gained += float(reward)
        assert not fell
    assert gained == pytest.approx(whole.total[0], abs=0.02)
    assert gained != 0


def _steered(task: Any) -> np.ndarray:
    """The action that does what the paper's agents do."""
    targets, walker = task.targets, task.walker
    steer(
        walker,
        targets.goal - task.bodies.robot.pose[:, :2],
        yaw_of(task.bodies.robot.pose),
        np.ones(1, bool),
        targets.moving,
    )
    top = walker.walk.top_speed()
    top[:, 0] = np.where(walker.wanted[:, 0] < 0, walker.walk.top_speed_back(), top[:, 0])
    return np.asarray(walker.wanted / top)[0]


def test_a_reached_target_pays_more_the_sooner() -> None:
    course = Course(name="one", trajectory=(Trajectory(name="ahead", target=(Target(to=(1.0, 0.0), seconds=2.0),)),))
    sums = []
    for cycles in (21, 47):
        targets, place = Targets(course.trajectory, 1), np.zeros((1, 2))
        targets.begin(np.array([0]), np.array([0]), place)
        total = 0.0
        for cycle in range(100):
            place = np.array([[min((cycle + 1) / cycles, 1.0), 0.0]])
            gained, over = targets.judge(place, np.zeros(1, bool))
            total += float(gained[0])
        assert over[0]
        sums.append(total)
    reached = [int(np.floor(0.9 * cycles)) + 1 for cycles in (21, 47)]
    np.testing.assert_allclose(sums, [0.9 * 100 / taken for taken in reached], rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        (WALK, {"robot": "ant"}, "ant does not say which bodies are its feet"),
        (WALK, {"robot": "examples/arm"}, "is bolted to the ground"),
        (WALK, {"robt": "nao-v6"}, "Did you mean 'robot'"),
        (WALK, {"actuation": "sevro", "robot": "nao-v6"}, "Did you mean 'servo'"),
        (WALK, {"reach": float("nan")}, "allowed is 0.001"),
        (WALK, {"reach": "far"}, "allowed is 0.001"),
        (WALK, {"joints": "arms"}, "legs"),
        (WALK, {"fastest": (1.0,)}, "three speeds"),
        (WALK, {"threads": -1}, "0..256"),
        (WALK, {"residual": True, "robot": "nao-v6"}, "is for the robot 'nao-spark'"),
        (WALK, {"residual": "yes"}, "True or False"),
        (TARGET, {"walk": "nonesuch"}, "initial"),
        (TARGET, {"trajectory": "curv"}, "Did you mean 'curve'"),
        (TARGET, {"course": "golf"}, "go-to-target"),
    ],
)
def test_options_that_cannot_be_are_refused_with_what_is_allowed(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(NutmegError) as caught:
        gymnasium.make(name, **options)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (np.array([0.0, np.nan, 0.0]), r"action \[1\] is nan"),
        (np.array([np.inf, 0.0, 0.0]), r"action \[0\] is inf"),
        (np.zeros(4), r"shape \(4,\)"),
        ("ahead", "array of numbers"),
    ],
)
def test_actions_that_are_no_numbers_are_refused(action: Any, says: str) -> None:
    env = gymnasium.make(TARGET, disable_env_checker=True)
    env.reset(seed=0)
    with pytest.raises(UsageError, match=says):
        env.step(action)


def test_options_of_a_reset_are_checked() -> None:
    walk, target = gymnasium.make(WALK), gymnasium.make(TARGET)
    with pytest.raises(UnknownNameError, match="command"):
        walk.reset(options={"comand": (0, 0, 0)})
    with pytest.raises(UsageError, match="rad/s to the left"):
        walk.reset(options={"command": (0.0, float("nan"), 0.0)})
    with pytest.raises(UnknownNameError, match="spiral"):
        target.reset(options={"trajectory": "spirl"})
    _, info = target.reset(options={"trajectory": "curve"})
    assert info["trajectory"] == 1


def test_a_picture_shows_the_robot() -> None:
    env = gymnasium.make(TARGET, render_mode="rgb_array", width=160, height=120)
    env.reset(seed=0)
    picture = np.asarray(env.render())
    assert picture.shape == (120, 160, 3)
    assert picture.std() > 10
    for _ in range(20):
        env.step(np.array([1.0, 0.0, 0.0], np.float32))
    assert not np.array_equal(picture, env.render())
    env.close()
    env.close()


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


EXAMPLE = Path(__file__).parent.parent.parent.parent / "examples" / "gym_walk.py"


@pytest.mark.slow
def test_robots_of_the_example_stand_and_walk() -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLE), "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    standing = [int(number) for line in lines for number in re.findall(r"(\d+) of 64 stand", line)]
    assert min(standing) > 50
    assert all(float(line.split()[-2]) > 0.3 for line in lines), "metres in four seconds"
