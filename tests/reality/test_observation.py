from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.reality.observation import FitnessSettings, Movement, angular_rates, fitness_of

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
