"""Identifiability against closed forms, and its intervals against repeated noisy data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.reality.identify.curvature import curvature, interval_factor
from nutmeg.reality.identify.identifiability import (
    Identifiability,
    Thresholds,
    from_refits,
)
from nutmeg.reality.identify.identifiability import (
    assess_identifiability as assess,
)
from nutmeg.search.losses import Loss, loss_weights
from nutmeg.search.space import Dimension, Space

Noise = Callable[[np.random.Generator, int], Floats]
TIMES = np.linspace(0, 3, 120)


def cube(names: str, low: float = -5.0, high: float = 5.0) -> Space:
    return Space({name: Dimension(low=low, high=high) for name in names})


def least_squares(model: Callable[[Floats], Floats], data: Floats, start: Floats, lengths: Floats) -> Floats:
    """Gauss-Newton with differences much smaller than those under test."""
    at = start.copy()
    for _ in range(8):
        moves = np.diag(1e-6 * lengths)
        slopes = (model(at + moves) - model(at - moves)) / (2e-6 * lengths)[:, np.newaxis]
        at = at - np.linalg.lstsq(slopes.T, model(at[np.newaxis])[0] - data, rcond=None)[0]
    return at


def autoregressive(rng: np.random.Generator, count: int, memory: float = 0.9) -> Floats:
    shocks, values = rng.normal(size=count + 200), np.zeros(count + 200)
    for i in range(1, count + 200):
        values[i] = memory * values[i - 1] + shocks[i]
    return values[200:]


def test_linear_least_squares_has_its_exact_covariance() -> None:
    rng = np.random.default_rng(1)
    design = rng.normal(size=(300, 3)) @ np.array([[1.0, 0.2, 0], [0, 1.0, 0.8], [0, 0, 0.5]])
    data = design @ [1.0, -0.5, 0.3] + 0.4 * rng.normal(size=300)
    best = np.linalg.lstsq(design, data, rcond=None)[0]
    left = data - design @ best
    exact = left @ left / 297 * np.linalg.inv(design.T @ design)
    space = cube("abc")
    for correlated in (False, True):
        found = curvature(lambda c: c @ design.T - data, space, best, correlated=correlated)
        tolerance = 1e-3 if not correlated else 0.08  # white noise never looks perfectly white
        assert found.standard_errors * 10 == pytest.approx(np.sqrt(np.diag(exact)), rel=tolerance)
        assert found.freedom == pytest.approx(297, rel=0.2)
    assert found.correlation[1, 2] == pytest.approx(exact[1, 2] / math.sqrt(exact[1, 1] * exact[2, 2]), abs=0.05)
    assert np.abs(found.shift).max() < 1e-9
    verdict = assess(space, curvature=found)
    assert all(verdict.determined)
    low, high = verdict.interval("a")
    assert high - low == pytest.approx(2 * interval_factor(0.9, 297) * math.sqrt(exact[0, 0]), rel=0.1)


def test_of_a_product_only_the_product_is_determined() -> None:
    space = Space({"a": Dimension(low=0.2, high=4), "b": Dimension(low=0.2, high=4), "c": Dimension(low=-2, high=2)})
    noise = 0.01 * np.random.default_rng(2).normal(size=TIMES.size)

    def residuals(c: Floats) -> Floats:
        return (c[:, :1] * c[:, 1:2]) * np.sin(2 * TIMES) + c[:, 2:] - (2.0 * np.sin(2 * TIMES) + 0.5) - noise

    found = assess(space, curvature=curvature(residuals, space, np.array([1.0, 2.0, 0.5])))
    assert found.determined == (False, False, True)
    assert [(pair.first, pair.second) for pair in found.trade_offs] == [("a", "b")]
    assert found.trade_offs[0].correlation < -0.99
    assert found.reason("a") == "trades off against b: only their combination is determined"
    sloppy, *others = found.directions
    assert sloppy.spread > 0.8
    assert sloppy.weights["a"] * sloppy.weights["b"] < 0
    assert abs(sloppy.weights["b"] / sloppy.weights["a"]) == pytest.approx(2, rel=0.05)  # along a b = const
    assert max(direction.spread for direction in others) < 0.01


@pytest.mark.parametrize("rough", [0.0, 1e-4, 0.02])
def test_a_parameter_without_effect_is_not_determined_however_rough_the_simulation(rough: float) -> None:
    space = cube("ab", 0, 1)

    def residuals(c: Floats) -> Floats:
        jitter = np.stack([np.random.default_rng([int(v * 1e9) for v in row]).normal(size=TIMES.size) for row in c])
        return c[:, :1] * TIMES - 0.5 * TIMES + 0.05 * np.cos(7 * TIMES) + rough * jitter

    found = assess(space, curvature=curvature(residuals, space, np.array([0.5, 0.5])))
    assert found.determined == (True, False)
    assert found.interval("b") == (0.0, 1.0)
    assert not found.trade_offs


def coverage(noise: Noise, *, trials: int = 200, correlated: bool = True) -> Floats:
    """How often 90 % intervals hold the truth, for the height and rate of a decay and its offset."""
    space = Space(
        {
            "height": Dimension(low=0.5, high=4),
            "rate": Dimension(low=0.2, high=5, scale="log"),
            "offset": Dimension(low=-1, high=1),
        }
    )
    truth, rng, times = np.array([2.0, 1.2, 0.1]), np.random.default_rng(11), np.linspace(0, 3, 400)

    def model(c: Floats) -> Floats:
        return c[:, :1] * np.exp(-c[:, 1:2] * times) + c[:, 2:]

    hits = np.zeros(3)
    for _ in range(trials):
        data = model(truth[np.newaxis])[0] + noise(rng, times.size)
        best = least_squares(model, data, truth, np.ones(3))
        found = assess(space, curvature=curvature(lambda c, d=data: model(c) - d, space, best, correlated=correlated))  # type: ignore[misc]
        hits += (found.low <= truth) & (truth <= found.high)
    return hits / trials


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held = coverage(lambda rng, n: 0.1 * rng.normal(size=n))
    assert ((held > 0.84) & (held < 0.96)).all(), held  # 0.9 +- three standard errors of 200 trials


def test_intervals_are_not_fooled_by_errors_that_last() -> None:
    def lasting(rng: np.random.Generator, count: int) -> Floats:
        return 0.03 * autoregressive(rng, count, 0.8)

    fooled, held = coverage(lasting, correlated=False, trials=100), coverage(lasting)
    assert (fooled < 0.65).all(), fooled
    assert ((held > 0.82) & (held < 0.97)).all(), held


def test_a_search_that_ended_early_gets_an_interval_that_reaches_the_optimum() -> None:
    space = cube("a", 0, 1)
    noise = 0.01 * np.random.default_rng(4).normal(size=TIMES.size)
    found = assess(space, curvature=curvature(lambda c: (c - 0.5) * TIMES + noise, space, np.array([0.6])))
    low, high = found.interval("a")
    assert low < 0.5
    assert high > 0.6


def test_fewer_trials_than_directions_leave_some_undetermined_and_each_trial_is_a_sample() -> None:
    """phi1: trials of one row each, here of ten controllers whose fitness depends on two combinations of three."""
    rng = np.random.default_rng(12)
    space, slopes = cube("abc", 0, 1), rng.normal(size=(10, 2)) @ np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    data = slopes @ [0.5, 0.5, 0.5] + 0.01 * rng.normal(size=10)
    rank_two = np.linalg.pinv(slopes, rcond=1e-9)
    best = rank_two @ data + (0.5 - rank_two @ slopes @ np.full(3, 0.5))
    found = assess(space, curvature=curvature(lambda c: list((c @ slopes.T - data).T[..., np.newaxis]), space, best))
    assert found.determined == (False, False, True)
    left = slopes @ best - data
    exact = math.sqrt(left @ left / 7 * np.linalg.inv(slopes[:, 1:].T @ slopes[:, 1:])[1, 1])
    assert found.curvature is not None
    assert found.curvature.standard_errors[2] == pytest.approx(exact, rel=0.05)


def test_an_estimate_at_a_bound_is_not_determined_and_says_which() -> None:
    space = cube("a", 0, 1)
    at_end = curvature(lambda c: (c - 1.01) * TIMES, space, np.array([1.0]))
    assert at_end.standard_errors[0] < 0.05
    found = assess(space, curvature=at_end)
    assert not found.identifiable("a")
    assert "upper bound" in found.reason("a")
    assert found.interval("a")[1] == 1.0


def test_neighbours_that_fail_are_left_out_and_a_parameter_without_any_is_not_determined() -> None:
    space, noise = cube("ab", 0, 1), 0.01 * np.random.default_rng(5).normal(size=TIMES.size)

    def residuals(c: Floats) -> Floats:
        found = (c[:, :1] - 0.5) * TIMES + (c[:, 1:] - 0.5) * TIMES**2 + noise
        found[c[:, 0] > 0.5 + 1e-9] = np.nan
        return found

    one_sided = assess(space, curvature=curvature(residuals, space, np.array([0.5, 0.5])))
    assert one_sided.curvature is not None
    assert one_sided.curvature.failed == (0,)
    assert one_sided.reason("a") == "its neighbours could not be simulated"
    assert one_sided.identifiable("b")


def test_rows_that_were_never_measured_are_left_out() -> None:
    space, design = cube("a", 0, 1), np.where(TIMES < 1, np.nan, TIMES)
    noise = 0.1 * np.random.default_rng(5).normal(size=TIMES.size)
    found = curvature(lambda c: [(c - 0.5) * design + noise], space, np.array([0.5]), correlated=False)
    there = TIMES >= 1
    exact = math.sqrt((noise[there] ** 2).sum() / (there.sum() - 1) / (TIMES[there] ** 2).sum())
    assert found.standard_errors[0] == pytest.approx(exact, rel=0.01)


def test_refits_that_disagree_make_a_parameter_undetermined_and_bad_ones_do_not_count() -> None:
    space = cube("ab", 0, 1)
    sharp = curvature(
        lambda c: (
            np.concatenate([(c[:, :1] - 0.5) * TIMES, (c[:, 1:] - 0.5) * TIMES], axis=1)
            + 0.001 * np.sin(40 * np.arange(2 * TIMES.size))
        ),
        space,
        np.array([0.5, 0.5]),
    )
    estimates = [[0.5, 0.5], [0.51, 0.7], [0.49, 0.32], [0.99, 0.01]]
    refits = from_refits(space, estimates, [1.0, 1.01, 1.02, 3.0])
    assert refits.good == (True, True, True, False)
    assert refits.spread == pytest.approx([0.02, 0.38])
    assert assess(space, curvature=sharp).determined == (True, True)
    found = assess(space, curvature=sharp, refits=refits)
    assert found.determined == (True, False)
    low, high = found.interval("b")
    assert (low, high) == pytest.approx((0.32, 0.7))
    alone = assess(space, refits=refits)
    assert alone.interval("a") == pytest.approx((0.48, 0.52))
    assert alone.determined == (True, False)
    assert assess(space, refits=from_refits(space, [[0.5, 0.5]], [1.0])).determined == (False, False)


def test_many_refits_tell_what_trades_off() -> None:
    rng = np.random.default_rng(8)
    a = rng.uniform(0.2, 0.8, 12)
    found = assess(cube("ab", 0, 1), refits=from_refits(cube("ab", 0, 1), np.stack([a, 1 - a], axis=1), np.ones(12)))
    assert found.trade_offs[0].correlation == pytest.approx(-1)
    assert found.determined == (False, False)


def small() -> Identifiability:
    space = Space({"gain": Dimension(low=0.01, high=10, scale="log"), "offset": Dimension(low=-1, high=1)})
    noise = 0.05 * np.random.default_rng(9).normal(size=TIMES.size)
    witness = curvature(
        lambda c: np.log(c[:, :1]) * TIMES + c[:, 1:] + noise, space, np.array([1.0, 0.0]), correlated=False
    )
    return assess(space, curvature=witness, refits=from_refits(space, [[1.0, 0.0], [1.01, 0.01]], [1.0, math.nan]))


def test_intervals_lie_within_the_bounds_around_the_estimate_on_any_scale() -> None:
    found = small()
    for index, name in enumerate(found.space.names):
        low, high = found.interval(name)
        assert found.space.low[index] <= low < found.best[index] < high <= found.space.high[index]
    low, high = found.interval("gain")
    assert low * high == pytest.approx(found.best[0] ** 2, rel=0.05)  # equal ratios on a log scale


def test_all_of_it_can_be_written_as_json() -> None:
    written = json.loads(json.dumps(small().as_json(), allow_nan=False))
    assert written["parameters"]["gain"]["identifiable"] is True
    assert len(written["parameters"]["gain"]["interval"]) == 2
    assert written["refits"]["errors"] == [1.0, None]


def test_students_t_is_that_of_the_tables() -> None:
    for freedom, expected in ((1, 6.314), (3, 2.353), (5, 2.015), (10, 1.812), (30, 1.697)):
        assert interval_factor(0.9, freedom) == pytest.approx(expected, abs=0.001)


def test_wrong_questions_are_refused() -> None:
    space = cube("ab", 0, 1)
    with pytest.raises(UsageError, match="nothing to assess"):
        assess(space)
    with pytest.raises(UsageError, match="more than the 2 parameters"):
        curvature(lambda c: c, space, np.array([0.5, 0.5]))
    with pytest.raises(UsageError, match="step"):
        curvature(lambda c: c, space, np.array([0.5, 0.5]), step=0.5)
    with pytest.raises(UsageError, match="at least one finite"):
        from_refits(space, [[0.5, 0.5]], [math.nan])
    with pytest.raises(UnknownNameError, match="Did you mean 'gain'"):
        small().interval("gains")
    with pytest.raises(ValueError, match="width"):
        Thresholds(width=1.5)


@pytest.mark.parametrize("loss", ["huber", "soft_l1", "absolute"])
def test_intervals_of_robust_fits_cover_with_outliers_and_series_of_different_noise(loss: Loss) -> None:
    rng = np.random.default_rng(5)
    design = np.stack([np.ones_like(TIMES), np.sin(3 * TIMES)], axis=1)
    noise = np.repeat([0.05, 0.2], len(TIMES))  # two series of a trial
    both = np.concatenate([design, design])
    space, held = cube("ab"), []
    for _ in range(150):
        errors = noise * rng.standard_normal(len(noise))
        hit = rng.random(len(noise)) < 0.05
        data = both @ [1.0, -0.5] + np.where(hit, 3 * rng.standard_normal(len(noise)), errors)
        best = _m_estimate(both, data, loss)
        series = lambda c, data=data: list(np.split(c @ both.T - data, 2, axis=1))  # noqa: E731
        found = assess(space, curvature=curvature(series, space, best, loss=loss))
        held.append([found.low[i] <= truth <= found.high[i] for i, truth in enumerate((1.0, -0.5))])
    assert 0.82 <= np.mean(held) <= 0.97


def _m_estimate(design: Floats, data: Floats, loss: Loss) -> Floats:
    """The minimum of a robust loss of a linear model, by weighted squares."""
    at = np.linalg.lstsq(design, data, rcond=None)[0]
    for _ in range(60):
        root = np.sqrt(loss_weights(loss, design @ at - data, 1e-3))
        at = np.linalg.lstsq(design * root[:, None], data * root, rcond=None)[0]
    return at
