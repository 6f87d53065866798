"""The rates with which a torso turned, from its poses."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from nutmeg.reality.observation import angular_rates


def test_turn_rates_are_the_turn_since_the_row_before_in_the_bodys_frame() -> None:
    quaternion, rate = np.array([0.8, 0.0, 0.6, 0.0]), np.array([1.0, -2.0, 30.0])
    turned = quaternion.copy()
    mujoco.mju_quatIntegrate(turned, rate, 0.02)
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, turned])) == pytest.approx(np.stack([rate, rate]))
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, -turned])) == pytest.approx(
        np.stack([rate, rate])
    )
    assert angular_rates(np.array([0.0, 0.02]), np.stack([quaternion, quaternion])) == pytest.approx(np.zeros((2, 3)))
