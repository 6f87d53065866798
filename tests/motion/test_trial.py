"""Walks tried out and compared."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.motion.preview_walk import WalkTrial, try_walk
from nutmeg.sim import Worlds


def trial(angles: list[float], falls: float = np.inf) -> WalkTrial:
    times = np.arange(len(angles)) * 0.1
    place = np.zeros((len(angles), 1, 3))
    place[:, 0, 0] = 0.25 * times
    pitch = np.array(angles)[:, None]
    return WalkTrial(times, place, pitch, np.zeros_like(pitch), np.array([falls]))


def test_speed_is_way_over_time() -> None:
    assert trial([0.0] * 101).speed(2.0, 8.0) == pytest.approx(0.25)


def test_a_robot_that_fell_has_no_speed() -> None:
    assert np.isnan(trial([0.0] * 101, falls=5.0).speed(2.0, 8.0)).all()


def test_swing_is_half_the_range() -> None:
    waves = list(0.1 + 0.05 * np.sin(np.arange(101)))
    assert trial(waves).swing(trial(waves).pitch, 0.0, 10.0) == pytest.approx(0.05, rel=0.02)


def test_a_standing_robot_stays_and_a_limp_pose_falls() -> None:
    robot = Placement(robot="nao-v6", name="n", pos=(-1, 0))
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=(robot,), visuals=False))
    worlds = Worlds(scene, 2)
    stand = worlds.robot("n").start
    lean = stand.copy()
    lean[worlds.robot("n").table.motor_index(["LAnklePitch", "RAnklePitch"])] -= 0.6
    both = np.stack([stand, lean])
    seen = try_walk(worlds, "n", lambda _: both, seconds=2.0)
    assert np.isinf(seen.fallen_at[0])
    assert seen.fallen_at[1] < 2.0
    assert abs(seen.pitch[-1, 0]) < 0.05


def test_rhythm_is_the_frequency_of_the_strongest_oscillation() -> None:
    times = np.arange(101) * 0.1
    waves = list(0.1 * np.sin(2 * np.pi * 1.3 * times) + 0.02 * np.sin(2 * np.pi * 3.0 * times))
    assert trial(waves).rhythm(trial(waves).pitch, 0.0, 10.0) == pytest.approx(1.3, abs=0.03)
