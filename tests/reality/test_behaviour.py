"""Resampling, delays and lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.reality import fit_length, frames_before, resample, short_way


@given(st.integers(0, 2**32 - 1))
def test_resampling_is_numpy_interpolation_of_every_channel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times, at = np.cumsum(rng.uniform(0.1, 1, 20)), rng.uniform(0, 15, 30)
    values = rng.normal(size=(2, 20, 3))
    found = resample(times, values, at=at, delay=0.3)
    for n, c in np.ndindex(2, 3):
        expected = np.interp(at - 0.3, times, values[n, :, c], left=np.nan, right=np.nan)
        np.testing.assert_allclose(found[n, :, c], expected, atol=1e-12)


def test_the_same_times_give_the_same_numbers_and_rounding_at_the_ends_loses_none() -> None:
    times = np.arange(10) * 0.1
    values = np.random.default_rng(0).normal(size=(10, 2))
    np.testing.assert_array_equal(resample(times, values, at=times), values)
    assert not np.isnan(resample(times, values, at=times + np.linspace(-1e-9, 1e-9, 10))).any()
    assert np.isnan(resample(times, values, at=[-0.01, 0.91])).all()


def test_a_linear_series_that_comes_late_is_what_it_was_before() -> None:
    times = np.linspace(0, 1, 11)
    found = resample(times, 2 * times[:, np.newaxis], at=[0.05, 0.333, 0.5], delay=0.1)
    assert np.isnan(found[0, 0])
    np.testing.assert_allclose(found[1:, 0], [2 * 0.233, 2 * 0.4])


def test_missing_values_spoil_only_what_lies_beside_them() -> None:
    values = np.array([0.0, 1.0, np.nan, 3.0, 4.0])[:, np.newaxis]
    found = resample(np.arange(5.0), values, at=[1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])[:, 0]
    np.testing.assert_array_equal(found, [1, np.nan, np.nan, np.nan, 3, 3.5, 4])
    beside_the_end = np.array([0.0, np.nan, 2.0])[:, np.newaxis]
    assert resample(np.arange(3.0), beside_the_end, at=[2.0]) == pytest.approx(2.0)


def test_angles_take_the_short_way_over_the_jump() -> None:
    values = np.array([3.0, -3.0])[:, np.newaxis]
    halfway = resample([0.0, 1.0], values, at=[0.5], angles=True)[0, 0]
    assert abs(halfway) == pytest.approx(np.pi)
    assert resample([0.0, 1.0], values, at=[0.5])[0, 0] == 0.0
    np.testing.assert_allclose(short_way(np.array([7.0, -4.0, 0.5])), [7 - 2 * np.pi, 2 * np.pi - 4, 0.5])


def test_series_are_cut_or_filled_up_to_the_real_length() -> None:
    series = np.ones((2, 5, 3))
    cut, frames = fit_length(series, 4)
    assert (cut.shape, frames) == ((2, 4, 3), 4)
    filled, frames = fit_length(series, 7)
    assert (filled.shape, frames) == ((2, 7, 3), 5)
    assert np.isnan(filled[:, 5:]).all()
    assert (filled[:, :5] == 1).all()


def test_frames_before_a_fall_are_counted() -> None:
    np.testing.assert_array_equal(frames_before([0.0, 0.1, 0.2], [0.0, 0.1, 0.15, np.inf]), [0, 1, 2, 3])


def test_times_that_make_no_sense_are_refused() -> None:
    with pytest.raises(RecordingError, match="increase from row to row"):
        resample([0.0, 0.0], np.zeros((2, 1)), at=[0.0])
    with pytest.raises(UsageError, match="do not go together"):
        resample([0.0, 1.0], np.zeros((3, 1)), at=[0.0])
