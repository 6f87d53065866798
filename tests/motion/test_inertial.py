"""Falls, and the side a robot lies on, as its own gyro and accelerometer tell them."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import FallDetector, FallSettings, Lying, UpEstimator
from nutmeg.sim.worlds import StartState, Worlds, set_start_state


def worlds(count: int, robot: str = "nao-spark") -> Worlds:
    placement = Placement(robot=robot, name="nao")
    return Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)), count)


def true_up(made: Worlds) -> np.ndarray:
    w, x, y, z = made.robot("nao").pose[:, 3:7].T
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)


def topple(made: Worlds, axes: np.ndarray) -> tuple[UpEstimator, FallDetector]:
    """Robots that start leaning, turning about horizontal axes (N, 2), and fall."""
    pose, velocity = made.robot("nao").pose.copy(), np.zeros((made.count, 6))
    pose[:, 3:7] = np.concatenate([np.full((made.count, 1), np.cos(0.2)), np.sin(0.2) * axes, 0 * axes[:, :1]], axis=1)
    velocity[:, 3:5] = 1.5 * axes
    set_start_state(made, "nao", StartState(pose=pose, velocity=velocity))
    senses = UpEstimator(made, "nao")
    return senses, FallDetector(senses)


def test_falls_to_four_sides_are_told_apart_by_what_the_robot_feels() -> None:
    made = worlds(4)
    senses, falls = topple(made, np.array([[0.0, 1.0], [0.0, -1.0], [-1.0, 0.0], [1.0, 0.0]]))
    assert not falls.fallen.any()
    seen = np.zeros((4, len(Lying)), dtype=bool)
    for cycle in range(100):
        made.step(1)
        senses.sample()
        falls.sample(cycle * 0.02)
        seen[np.arange(4), falls.lying] = True
    assert falls.fallen.all()
    assert falls.still.all()
    assert falls.lying[:2].tolist() == [Lying.FRONT, Lying.BACK]
    assert seen[2, Lying.LEFT]
    assert seen[3, Lying.RIGHT]
    assert np.abs(senses.up - true_up(made)).max() < 0.1


def test_a_robot_that_stands_has_not_fallen() -> None:
    made = worlds(2, "nao-v6")
    senses = UpEstimator(made, "nao", rng=np.random.default_rng(1))
    falls = FallDetector(senses)
    for _ in range(25):
        made.advance(0.02)
        senses.sample()
        falls.sample(0.0)
    assert not falls.fallen.any()
    assert (falls.lying == Lying.UPRIGHT).all()
    assert np.std(senses.gyro) > 1e-3, "the sensor's noise is there"


def test_a_robot_that_lies_at_the_start_is_known_to_lie() -> None:
    made = worlds(1)
    pose = made.robot("nao").pose.copy()
    pose[:, 2], pose[:, 3:7] = 0.1, [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0]
    set_start_state(made, "nao", StartState(pose=pose))
    falls = FallDetector(UpEstimator(made, "nao"))
    assert falls.fallen.tolist() == [True]
    assert falls.lying.tolist() == [Lying.BACK]


def test_the_side_below_is_opposite_to_what_is_up() -> None:
    up = np.array([[-1.0, 0.2, 0.0], [0.9, 0.3, 0.3], [0.1, -0.9, 0.4], [-0.3, 0.8, -0.5]])
    falls = FallDetector(UpEstimator(worlds(4), "nao"))
    falls.senses.up[:] = up
    falls.reset([1, 2])
    assert falls.lying.tolist() == [Lying.UPRIGHT, Lying.BACK, Lying.LEFT, Lying.UPRIGHT]
    falls.reset()
    assert falls.lying.tolist() == [Lying.FRONT, Lying.BACK, Lying.LEFT, Lying.RIGHT]


def test_impossible_thresholds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"upright_lean is 0\.9"):
        FallSettings(upright_lean=0.9)
    with pytest.raises(ValueError, match="still_rate"):
        FallSettings(still_rate=0.0)
