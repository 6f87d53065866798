"""Speed beside bare MuJoCo, and what each effect of a camera costs."""

from __future__ import annotations

import pytest

from nutmeg.bench import benchmarks, simulation
from nutmeg.model.sensors import CAMERA_EFFECTS


def test_each_effect_is_measured_beside_drawing_alone() -> None:
    assert {"cameras 320x240", "cameras 208x160"} <= set(benchmarks(0.1))
    rows = simulation.camera_frames((64, 48), 0.001)
    assert len(rows) == len(CAMERA_EFFECTS) + 3
    assert all(row.value > 0 for row in rows)
    assert rows[0].ratio is None
    assert all(row.ratio is not None and row.ratio <= 1 for row in rows[1:-1])


def test_speed_is_measured_beside_bare_mujoco() -> None:
    steps, times = simulation.one_robot("ant", 0.02)
    assert steps.unit == "steps/s"
    assert steps.value > 0
    assert steps.ratio is not None
    assert steps.met == (steps.ratio >= 0.85)
    assert times.value == pytest.approx(steps.value * 0.004)
