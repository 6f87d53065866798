from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.reality.observation import ChannelModel, FitnessSettings, Movement, angular_rates, fitness_of

TIMES = np.linspace(0.0, 2.0, 21)


def fitness(settings: FitnessSettings, frames: list[int], **seen: Any) -> Floats:
    return fitness_of(settings, Movement(times=TIMES, frames=np.array(frames), **seen))


def walk(yaw: float, along: float, across: float = 0.0) -> np.ndarray:
    """Poses (1, T, 7) of a root that starts with a heading and moves evenly [m/s]."""
    pose = np.zeros((1, len(TIMES), 7))
    pose[0, :, 0] = TIMES * (along * np.cos(yaw) - across * np.sin(yaw))
    pose[0, :, 1] = TIMES * (along * np.sin(yaw) + across * np.cos(yaw))
    pose[0, :, 3], pose[0, :, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
    return pose


@pytest.mark.parametrize("yaw", [0.0, 1.0, np.pi, -2.5])
def test_speed_is_that_along_the_heading_at_the_start(yaw: float) -> None:
    pose = walk(yaw, along=0.3, across=0.4)
    assert fitness(FitnessSettings(), [21], pose=pose) == pytest.approx([0.3])
    assert fitness(FitnessSettings(kind="distance"), [21], pose=pose) == pytest.approx([0.6])
    assert fitness(FitnessSettings(sideways=0.5), [21], pose=pose) == pytest.approx([0.1])
    assert fitness(FitnessSettings(after=1.0), [21], pose=pose) == pytest.approx([0.3])


def test_a_fall_ends_what_counts_but_not_the_time() -> None:
    pose = np.repeat(walk(0.0, along=1.0), 3, axis=0)
    pose[1, 11:] = np.nan
    frames = [21, 11, 0]
    assert fitness(FitnessSettings(), frames, pose=pose)[:2] == pytest.approx([1.0, 0.5])
    assert np.isnan(fitness(FitnessSettings(), frames, pose=pose)[2]), "nothing was seen"
    assert np.isnan(fitness(FitnessSettings(falls="fail"), frames, pose=pose)).tolist() == [False, True, True]


def test_swing_is_the_mean_range_of_the_chosen_joints() -> None:
    angles = np.stack([np.sin(3 * TIMES), np.zeros(21)], axis=-1)[None]
    both = FitnessSettings(kind="swing")
    assert fitness(both, [21], angles=angles, joints=("knee", "hip"))[0] == pytest.approx(1.0, abs=0.01)
    knee = FitnessSettings(kind="swing", joints=("kn*",))
    assert fitness(knee, [21], angles=angles, joints=("knee", "hip"))[0] == pytest.approx(2.0, abs=0.02)
    assert fitness(knee, [4], angles=angles, joints=("knee", "hip"))[0] == pytest.approx(np.sin(0.9))
    with pytest.raises(UsageError, match="finds no joint like ankle; there are knee, hip"):
        fitness(FitnessSettings(kind="swing", joints=("ankle",)), [21], angles=angles, joints=("knee", "hip"))


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(UsageError, match="root is fixed"):
        fitness(FitnessSettings(), [21])
    with pytest.raises(UsageError, match="first 2 s do not count"):
        fitness(FitnessSettings(after=2.0), [21], pose=walk(0.0, 1.0))
    with pytest.raises(NutmegError, match="Did you mean 'speed'"):
        FitnessSettings(kind="sped")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be 0 or more"):
        FitnessSettings(after=-1.0)


def test_turn_rates_are_the_turn_since_the_row_before_in_the_bodys_frame() -> None:
    quaternion, rate = np.array([0.8, 0.0, 0.6, 0.0]), np.array([1.0, -2.0, 30.0])
    turned = quaternion.copy()
    mujoco.mju_quatIntegrate(turned, rate, 0.02)
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, turned])) == pytest.approx(np.stack([rate, rate]))
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, -turned])) == pytest.approx(
        np.stack([rate, rate])
    )
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, quaternion])) == pytest.approx(np.zeros((2, 3)))


def rolled(along: float, across: float) -> np.ndarray:
    """Places (1, T, 3) of a ball that rolls evenly from (0.2, 0) on [m/s]."""
    places = np.zeros((1, len(TIMES), 3))
    places[0, :, 0], places[0, :, 1] = 0.2 + TIMES * along, TIMES * across
    return places


def test_a_kick_is_judged_by_the_way_and_the_direction_of_the_ball() -> None:
    ball, still = rolled(1.0, 1.0), rolled(0.01, 0.0)
    assert fitness(FitnessSettings(kind="ball_distance"), [21], ball=ball) == pytest.approx([2.0])
    assert fitness(FitnessSettings(kind="ball_distance", sideways=0.5), [21], ball=ball) == pytest.approx([1.0])
    assert fitness(FitnessSettings(kind="ball_distance"), [11], ball=ball) == pytest.approx([1.0]), "until the fall"
    turned = walk(np.pi / 2, along=0.0)
    assert fitness(FitnessSettings(kind="ball_distance"), [21], ball=rolled(0.0, 1.0), pose=turned) == pytest.approx(
        [2]
    )
    straight = FitnessSettings(kind="ball_direction")
    assert fitness(straight, [21], ball=ball) == pytest.approx([-np.pi / 4])
    assert fitness(straight, [21], ball=still) == pytest.approx([-np.pi]), "it was not hit"
    aside = FitnessSettings(kind="ball_direction", direction=np.pi / 4)
    assert fitness(aside, [21], ball=ball) == pytest.approx([0.0])


def test_stability_counts_tilt_and_falls_and_energy_the_work() -> None:
    steady = FitnessSettings(kind="stability")
    leaning = np.zeros((1, 21, 7))
    leaning[0, :, 3], leaning[0, :, 5] = np.cos(0.1), np.sin(0.1)
    assert fitness(steady, [21], pose=leaning) == pytest.approx([-0.2])
    half = fitness(steady, [10], pose=leaning)[0]
    assert half == pytest.approx(-np.sqrt((10 * 0.2**2 + 11 * (np.pi / 2) ** 2) / 21))
    work = np.linspace(0.0, 40.0, 21)[None]
    assert fitness(FitnessSettings(kind="energy", after=1.0), [21], work=work) == pytest.approx([-20.0])


def test_fitness_can_be_a_weighted_sum_or_a_function_of_the_users(tmp_path: Path) -> None:
    both = FitnessSettings(kind="weighted", weights={"ball_distance": 2.0, "ball_direction": 1.0})
    assert fitness(both, [21], ball=rolled(1.0, 0.0)) == pytest.approx([4.0])
    (tmp_path / "mine.py").write_text("def high(seen):\n    return seen.ball[..., 2].max(axis=1)\n", encoding="utf-8")
    mine = FitnessSettings(kind="python", function=f"{tmp_path / 'mine.py'}:high")
    assert fitness(mine, [21], ball=rolled(1.0, 0.0)) == pytest.approx([0.0])
    (tmp_path / "wrong.py").write_text("def high(seen):\n    return 3.0\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"shape \(\); needed is a fitness for each of the 1 robots"):
        fitness(FitnessSettings(kind="python", function=f"{tmp_path / 'wrong.py'}:high"), [21], ball=rolled(1.0, 0.0))
    with pytest.raises(UsageError, match="needs to know where the ball is"):
        fitness(FitnessSettings(kind="ball_distance"), [21], pose=walk(0.0, 1.0))
    with pytest.raises(NutmegError, match="Did you mean 'energy'"):
        FitnessSettings(kind="weighted", weights={"energie": 1.0})
    with pytest.raises(ValueError, match="needs `weights`"):
        FitnessSettings(kind="weighted")


def test_a_channel_reads_with_bias_gain_delay_and_a_clock_of_its_own() -> None:
    times = np.arange(200) * 0.01
    series = np.stack([np.sin(3 * times), times], axis=-1)[None].repeat(2, axis=0)
    numbers = {"bias": [[0.0, 0.5], [0.1, 0.0]], "gain": [[1.0, 2.0], [1.0, 1.0]]}
    numbers |= {"delay": [[0.0, 0.1], [0.03, 0.0]], "drift": [[0.0, 0.0], [0.0, 0.02]]}
    at = np.linspace(0.2, 1.5, 37)
    read = ChannelModel(**{name: np.array(values) for name, values in numbers.items()}).read(times, series, at)
    np.testing.assert_allclose(read[0, :, 0], np.sin(3 * at), atol=2e-4)
    np.testing.assert_allclose(read[0, :, 1], 2 * (at - 0.1) + 0.5, atol=1e-9)
    np.testing.assert_allclose(read[1, :, 0], np.sin(3 * (at - 0.03)) + 0.1, atol=2e-4)
    np.testing.assert_allclose(read[1, :, 1], 1.02 * at, atol=1e-9)
