"""The Gymnasium environments: spaces, seeds, episodes, and what they refuse."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nutmeg.base.errors import NutmegError, UnknownNameError, UsageError
from nutmeg.learning.courses import Bout, Course, StartNoise, Target, Trajectory, read_course, run_bouts, steer, yaw_of
from nutmeg.learning.gym import IDS, register_environments
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
    steer(walker, targets.way, yaw_of(task.bodies.robot.pose), np.ones(1, bool), targets.moving)
    top = walker.walk.top_speed()
    top[:, 0] = np.where(walker.wanted[:, 0] < 0, walker.walk.top_speed_back(), top[:, 0])
    return np.asarray(walker.wanted / top)[0]


def test_a_reached_target_pays_more_the_sooner() -> None:
    course = Course(name="one", trajectory=(Trajectory(name="ahead", target=(Target(to=(1.0, 0.0), seconds=2.0),)),))
    sums = []
    for cycles in (21, 47):
        targets, place = Targets(course, 1), np.zeros((1, 2))
        targets.begin(np.array([0]), np.array([0]), place)
        total = 0.0
        for cycle in range(100):
            place = np.array([[min((cycle + 1) / cycles, 1.0), 0.0]])
            total += float(targets.judge(place, np.zeros(1, bool))[0])
        assert targets.over[0]
        sums.append(total)
    reached = [int(np.floor(0.9 * cycles)) + 1 for cycles in (21, 47)]
    np.testing.assert_allclose(sums, [0.9 * 100 / taken for taken in reached], rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        (WALK, {"robot": "ant"}, "nao-spark, nao-v4, nao-v6"),
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
