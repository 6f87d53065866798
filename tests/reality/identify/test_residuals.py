"""Tests of residuals against what their definitions say about noise of known kinds."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.reality.identify.residuals import ResidualCheck


def checked(residuals: np.ndarray) -> ResidualCheck:
    simulated = np.sin(np.arange(len(residuals)) / 20)
    found = ResidualCheck.of(simulated + residuals, simulated)
    assert found is not None
    return found


@pytest.mark.parametrize("test", ["whiteness", "runs"])
def test_white_noise_is_rejected_as_often_as_the_level_says(test: str) -> None:
    rng = np.random.default_rng(5)
    found = np.array([getattr(checked(rng.standard_normal(400)), test) for _ in range(400)])
    for level in (0.05, 0.5):
        assert np.mean(found < level) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 400))


def test_errors_that_last_are_no_noise() -> None:
    rng, errors = np.random.default_rng(2), np.zeros(400)
    for row in range(1, 400):
        errors[row] = 0.5 * errors[row - 1] + rng.standard_normal()
    found = checked(errors)
    assert found.whiteness < 1e-6
    assert found.runs < 1e-4
    assert found.correlation == pytest.approx(0.5, abs=0.12)


def test_outliers_do_not_change_the_runs_and_are_counted() -> None:
    rng = np.random.default_rng(3)
    errors = 0.01 * rng.standard_normal(400)
    spiked = errors.copy()
    spiked[5::40] += np.sign(spiked[5::40] - np.median(errors))
    assert checked(spiked).runs == checked(errors).runs
    assert checked(spiked).outliers == pytest.approx(10 / 400)
    assert checked(errors).outliers == 0.0


def test_gaps_are_left_out_and_an_offset_is_told() -> None:
    errors = 0.3 + 0.01 * np.random.default_rng(4).standard_normal(100)
    errors[10:30] = np.nan
    found = checked(errors)
    assert found.samples == 80
    assert found.offset == pytest.approx(0.3, abs=0.005)
    assert found.offset**2 / found.power > 0.99
    assert ResidualCheck.of(errors[5:40], np.zeros(35)) is None, "15 samples tell nothing"
