"""RMS and mean absolute error, with what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import RecordingError
from nutmeg.reality import real_scales, series_errors

TRIPLES = hnp.arrays(np.float64, (3, 12, 2), elements=st.floats(-10, 10))


@given(TRIPLES)
def test_both_errors_are_metrics(series: np.ndarray) -> None:
    x, y, z = series
    for kind in ("rms", "mean_absolute"):
        xy, yz, xz, yx = (getattr(series_errors(a, b), kind) for a, b in ((x, y), (y, z), (x, z), (y, x)))
        assert (xz <= xy + yz + 1e-9).all()
        np.testing.assert_array_equal(xy, yx)
        np.testing.assert_array_equal(getattr(series_errors(x, x), kind), 0)


def test_many_simulations_at_once_equal_a_plain_loop_over_what_is_there() -> None:
    rng = np.random.default_rng(0)
    real, simulated = rng.normal(size=(4, 30, 3)), rng.normal(size=(6, 4, 30, 3))
    real[rng.uniform(size=real.shape) < 0.2] = np.nan
    simulated[rng.uniform(size=simulated.shape) < 0.1] = np.nan
    frames = rng.integers(10, 31, size=(6, 4))
    errors = series_errors(real, simulated, frames=frames)
    for n, m, c in np.ndindex(6, 4, 3):
        gap = (simulated[n, m, :, c] - real[m, :, c])[: frames[n, m]]
        there = gap[~np.isnan(gap)]
        assert errors.rms[n, m, c] == pytest.approx(np.sqrt((there**2).mean()))
        assert errors.mean_absolute[n, m, c] == pytest.approx(np.abs(there).mean())
        assert errors.samples[n, m, c] == len(there)
        assert errors.missing[n, m, c] == len(gap) - len(there)


def test_nothing_to_compare_is_an_error_that_names_the_channel() -> None:
    real, simulated = np.zeros((5, 2)), np.zeros((3, 5, 2))
    simulated[1, :, 0] = np.nan
    with pytest.raises(RecordingError, match="'knee' has no frame in simulation 1"):
        series_errors(real, simulated, columns=("knee", "hip"))
    found = series_errors(real, simulated, empty="infinite")
    np.testing.assert_array_equal(found.rms[:, 0], [0, np.inf, 0])
    assert found.missing[1, 0] == 5
    real[:, 1] = np.nan
    with pytest.raises(RecordingError, match="real channel number 1"):
        series_errors(real, simulated, empty="infinite")


def test_an_infinite_simulated_value_is_infinitely_wrong_and_a_real_one_is_refused() -> None:
    simulated = np.array([[0.0], [np.inf]])
    assert np.isinf(series_errors(np.zeros((2, 1)), simulated).rms).all()
    assert np.isinf(series_errors(np.zeros((2, 1)), simulated, angles=True).rms).all()
    with pytest.raises(RecordingError, match="Mark what was not measured as NaN"):
        series_errors(simulated, np.zeros((2, 1)))


def test_scales_are_how_much_reality_moves() -> None:
    real = np.array([[0.0, 1.0], [4.0, 1.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(real_scales(real, "none"), [1, 1])
    assert real_scales(real[:, :1], "range") == pytest.approx([4.0])
    assert real_scales(real[:, :1], "deviation") == pytest.approx([2.0])
    with pytest.raises(RecordingError, match="'still' does not move"):
        real_scales(real, "deviation", ("moving", "still"))
