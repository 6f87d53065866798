"""F: equation 2 of seed 001, and what its exponent does to falling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import UsageError
from nutmeg.reality import error_if_ended, least_exponent
from nutmeg.reality.distances import series_error

STANDS_THEN_WALKS = np.r_[np.full(100, 0.5**2), np.full(900, 1.0**2)]


@given(st.integers(0, 2**32 - 1), st.floats(0, 4))
def test_it_is_the_sum_of_squares_over_the_frames_to_the_power_m(seed: int, m: float) -> None:
    rng = np.random.default_rng(seed)
    real, simulated = rng.normal(size=(20, 3)), rng.normal(size=(4, 20, 3))
    frames = rng.integers(1, 21, size=4)
    expected = [((simulated[n, :t] - real[:t]) ** 2).sum() / float(t) ** m for n, t in enumerate(frames)]
    np.testing.assert_allclose(series_error(real, simulated, exponent=m, frames=frames), expected)


@pytest.mark.parametrize(("m", "best"), [(0.0, 1), (1.0, 100), (2.0, 1000), (3.0, 1000)])
def test_m_of_0_rewards_falling_at_once_and_1_falling_before_the_walk_but_2_staying_up(m: float, best: int) -> None:
    """A robot stands for 1 s with a small error, then walks with a larger one; only when it falls differs."""
    real = np.zeros((1000, 1))
    frames = np.arange(1, 1001)
    simulated = np.broadcast_to(np.sqrt(STANDS_THEN_WALKS)[:, np.newaxis], (1000, 1000, 1))
    found = series_error(real, simulated, exponent=m, frames=frames)
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
    assert series_error(gaps, simulated) == pytest.approx(series_error(real, simulated))
    assert series_error(real, simulated, weights=[3.0, 0.0]) == pytest.approx(30 / 100)
    assert series_error(real, simulated, exponent=0) == pytest.approx(20)


def test_a_simulation_without_a_frame_is_infinitely_far_if_asked_for() -> None:
    real, simulated = np.zeros((10, 2)), np.ones((2, 10, 2))
    found = series_error(real, simulated, frames=[0, 10], empty="infinite")
    assert np.isinf(found[0])
    assert found[1] == pytest.approx(0.2)


def test_a_whole_turn_is_no_difference_between_angles() -> None:
    real, simulated = np.full((5, 1), -3.1), np.full((5, 1), 3.1)
    assert series_error(real, simulated, exponent=1, angles=True) == pytest.approx((2 * np.pi - 6.2) ** 2)
    assert series_error(real, simulated, exponent=1) == pytest.approx(6.2**2)
    with pytest.raises(UsageError, match="0 or more"):
        series_error(real, simulated, exponent=-1.0)
