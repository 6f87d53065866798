from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nutmeg.base import angle_kernels, angles

Wrap = Callable[[float], float]
ANGLES = np.concatenate([np.random.default_rng(1).uniform(-20, 20, 1000), [0.0, 3.0, -3.0, 1e-9, 7.0, -7.0]])


@pytest.mark.parametrize("wrap", [angles.wrap_angle, angle_kernels.wrap_angle])
@pytest.mark.parametrize("exactly", [angles.wrap_angle_exactly, angle_kernels.wrap_angle_exactly])
def test_a_wrapped_angle_is_the_same_direction_within_half_a_turn(wrap: Wrap, exactly: Wrap) -> None:
    for angle in ANGLES.tolist():
        for wrapped in (wrap(angle), exactly(angle)):
            assert -math.pi <= wrapped <= math.pi
            assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=1e-12)
            assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=1e-12)


def test_arrays_are_wrapped_as_single_angles_are() -> None:
    assert angles.wrap_angle(ANGLES).tolist() == [angles.wrap_angle(angle) for angle in ANGLES.tolist()]


def test_compiled_and_plain_functions_agree_to_the_last_bit() -> None:
    for angle in ANGLES[np.abs(ANGLES) < 5 * math.pi].tolist():
        assert angle_kernels.wrap_angle(angle) == angles.wrap_angle(angle)
        assert angle_kernels.wrap_angle_exactly(angle) == angles.wrap_angle_exactly(angle)


def test_what_is_within_half_a_turn_stays_to_the_last_bit() -> None:
    for angle in ANGLES[np.abs(ANGLES) <= math.pi].tolist():
        assert angles.wrap_angle_exactly(angle) == angle


def test_attitudes_are_those_of_scipy_and_of_compiled_code() -> None:
    turns = Rotation.random(200, np.random.default_rng(2))
    quaternions, matrices = turns.as_quat(scalar_first=True), turns.as_matrix()
    vectors = np.random.default_rng(3).normal(size=(200, 3))
    assert angles.roll_pitch_yaw(quaternions) == pytest.approx(turns.as_euler("xyz"), abs=1e-9)
    assert angles.heading_of(quaternions) == pytest.approx(np.arctan2(matrices[:, 1, 0], matrices[:, 0, 0]))
    assert angles.upward(quaternions) == pytest.approx(matrices[:, 2, :])
    assert angles.uprightness(quaternions) == pytest.approx(matrices[:, 2, 2])
    rotated = angles.rotated(quaternions, vectors)
    assert rotated == pytest.approx(turns.apply(vectors))
    for turn, vector, expected in zip(quaternions.tolist(), vectors.tolist(), rotated, strict=True):
        assert angle_kernels.rotate(tuple(turn), tuple(vector)) == pytest.approx(expected)
    for turn, yaw, up in zip(quaternions.tolist(), angles.heading_of(quaternions), matrices[:, 2, :], strict=True):
        assert angle_kernels.heading_of(tuple(turn)) == pytest.approx(float(yaw))
        assert angle_kernels.upward(tuple(turn)) == pytest.approx(tuple(up))
    assert angles.rotated(quaternions[0], vectors[0]) == pytest.approx(rotated[0])
