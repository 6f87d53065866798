"""RMS and mean absolute error, with what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.reality import error_if_ended, joint_error, least_exponent, real_scales, series_errors

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


STANDS_THEN_WALKS = np.r_[np.full(100, 0.5**2), np.full(900, 1.0**2)]


@given(st.integers(0, 2**32 - 1), st.floats(0, 4))
def test_it_is_the_sum_of_squares_over_the_frames_to_the_power_m(seed: int, m: float) -> None:
    rng = np.random.default_rng(seed)
    real, simulated = rng.normal(size=(20, 3)), rng.normal(size=(4, 20, 3))
    frames = rng.integers(1, 21, size=4)
    expected = [((simulated[n, :t] - real[:t]) ** 2).sum() / float(t) ** m for n, t in enumerate(frames)]
    np.testing.assert_allclose(joint_error(real, simulated, exponent=m, frames=frames), expected)


@pytest.mark.parametrize(("m", "best"), [(0.0, 1), (1.0, 100), (2.0, 1000), (3.0, 1000)])
def test_m_of_0_rewards_falling_at_once_and_1_falling_before_the_walk_but_2_staying_up(m: float, best: int) -> None:
    """A robot stands for 1 s with a small error, then walks with a larger one; only when it falls differs."""
    real = np.zeros((1000, 1))
    frames = np.arange(1, 1001)
    simulated = np.broadcast_to(np.sqrt(STANDS_THEN_WALKS)[:, np.newaxis], (1000, 1000, 1))
    found = joint_error(real, simulated, exponent=m, frames=frames)
    np.testing.assert_allclose(found, error_if_ended(STANDS_THEN_WALKS, m), rtol=1e-9)
    assert frames[np.flatnonzero(found <= found.min() * (1 + 1e-9))[-1]] == best


def test_the_table_in_the_documentation() -> None:
    ends = np.array([10, 100, 500, 1000]) - 1
    table = {m: error_if_ended(STANDS_THEN_WALKS, m)[ends] for m in (0, 1, 1.5, 2, 3)}
    ratios = {m: values / values[-1] for m, values in table.items()}
    np.testing.assert_allclose(ratios[0], [0.0027, 0.027, 0.459, 1], rtol=0.01)
    np.testing.assert_allclose(ratios[1], [0.27, 0.27, 0.919, 1], rtol=0.01)
    np.testing.assert_allclose(ratios[1.5], [2.70, 0.855, 1.30, 1], rtol=0.01)
    np.testing.assert_allclose(ratios[2], [27.0, 2.70, 1.84, 1], rtol=0.01)
    np.testing.assert_allclose(ratios[3], [2703, 27.0, 3.68, 1], rtol=0.01)


def test_the_least_exponent_is_where_ending_early_stops_to_pay() -> None:
    least = least_exponent(STANDS_THEN_WALKS)
    assert least == pytest.approx(1 + np.log10(3.7), abs=1e-9)  # the mean error is 3.7 times that of standing
    for m, pays in ((least - 0.01, True), (least + 0.01, False)):
        values = error_if_ended(STANDS_THEN_WALKS, m)
        assert (values[:-1].min() < values[-1]) == pays
    assert least_exponent(np.ones(50)) == pytest.approx(1.0), "a constant error needs just more than the mean"
    assert least_exponent([0.0, 1.0, 1.0, 1.0], earliest=2) == pytest.approx(np.log(3) / np.log(2))
    with pytest.raises(UsageError, match="more than 0 at the earliest fall"):
        least_exponent([0.0, 1.0, 1.0])


def test_gaps_neither_help_nor_harm_and_weights_count() -> None:
    real, simulated = np.zeros((10, 2)), np.ones((10, 2))
    gaps = real.copy()
    gaps[3:7, 0] = np.nan
    assert joint_error(gaps, simulated) == pytest.approx(joint_error(real, simulated))
    assert joint_error(real, simulated, weights=[3.0, 0.0]) == pytest.approx(30 / 100)
    assert joint_error(real, simulated, exponent=0) == pytest.approx(20)


def test_a_simulation_without_a_frame_is_infinitely_far_if_asked_for() -> None:
    real, simulated = np.zeros((10, 2)), np.ones((2, 10, 2))
    found = joint_error(real, simulated, frames=[0, 10], empty="infinite")
    assert np.isinf(found[0])
    assert found[1] == pytest.approx(0.2)


def test_a_whole_turn_is_no_difference_between_angles() -> None:
    real, simulated = np.full((5, 1), -3.1), np.full((5, 1), 3.1)
    assert joint_error(real, simulated, exponent=1, angles=True) == pytest.approx((2 * np.pi - 6.2) ** 2)
    assert joint_error(real, simulated, exponent=1) == pytest.approx(6.2**2)
    with pytest.raises(UsageError, match="0 or more"):
        joint_error(real, simulated, exponent=-1.0)
