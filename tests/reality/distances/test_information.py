"""The information distance against its axioms, closed forms and a plain reference."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.reality import Binning, information_distance
from nutmeg.reality.distances.information import bin_numbers

UNIT = Binning(bins=5, range=(0.0, 1.0))
TRIPLES = hnp.arrays(np.float64, (3, 40, 2), elements=st.floats(-0.3, 1.3))


def reference(x: np.ndarray, y: np.ndarray, edges: np.ndarray) -> float:
    """d of two series, one value at a time."""

    def symbol(value: float) -> int:
        if value < edges[0] or value > edges[-1]:
            return -1 if value < edges[0] else len(edges)
        return min(int((value - edges[0]) / (edges[1] - edges[0])), len(edges) - 2)

    pairs = [(symbol(a), symbol(b)) for a, b in zip(x, y, strict=True) if not (math.isnan(a) or math.isnan(b))]
    total = len(pairs)

    def entropy(symbols: list[object]) -> float:
        return -sum(c / total * math.log2(c / total) for c in Counter(symbols).values())

    return 2 * entropy([*pairs]) - entropy([a for a, _ in pairs]) - entropy([b for _, b in pairs])


def distance(x: np.ndarray, y: np.ndarray, binning: Binning = UNIT) -> np.ndarray:
    return information_distance(x, y, binning=binning)


@given(TRIPLES)
def test_it_is_a_metric_on_binned_series(series: np.ndarray) -> None:
    x, y, z = series
    assert distance(x, x) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(distance(x, y), distance(y, x), atol=1e-12)
    assert (distance(x, z) <= distance(x, y) + distance(y, z) + 1e-12).all()
    assert (distance(x, y) >= 0).all()


@given(TRIPLES)
def test_only_series_that_determine_each_other_are_at_distance_zero(series: np.ndarray) -> None:
    x, y, _ = series
    low, high = np.zeros((1, 2)), np.ones((1, 2))
    left, right = (bin_numbers(a, low, high, UNIT.bins) for a in (x, y))
    for channel in range(2):
        met = set(zip(left[:, channel].tolist(), right[:, channel].tolist(), strict=True))
        one_to_one = len(met) == len({a for a, _ in met}) == len({b for _, b in met})
        assert (distance(x, y)[channel] < 1e-12) == one_to_one


@given(TRIPLES)
def test_a_joint_range_is_symmetric_and_every_range_keeps_identity(series: np.ndarray) -> None:
    x, y, _ = series
    for policy in ("real", "joint"):
        for corrected in (False, True):
            binning = Binning(bins=5, range=policy, miller_madow=corrected)
            assert distance(x, x, binning) == pytest.approx(0.0, abs=1e-12)
    joint = Binning(bins=5, range="joint")
    np.testing.assert_allclose(distance(x, y, joint), distance(y, x, joint), atol=1e-12)


@given(TRIPLES, st.randoms(use_true_random=False))
def test_the_order_of_the_frames_does_not_matter(series: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.randrange(2**32)).permutation(40)  # type: ignore[attr-defined]
    x, y, _ = series
    np.testing.assert_allclose(distance(x[order], y[order]), distance(x, y), atol=1e-12)


def test_independent_uniform_variables_are_as_far_apart_as_their_entropies_add_up_to() -> None:
    x, y = (a.reshape(-1, 1) for a in np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 4)))
    assert distance(x, y, Binning(bins=8, range=(0.0, 1.0))) == pytest.approx(math.log2(8) + math.log2(4))


def test_a_bijection_is_at_distance_zero_and_a_constant_at_the_entropy() -> None:
    x = (np.arange(64)[:, np.newaxis] + 0.5) / 64
    binning = Binning(bins=8, range=(-1.0, 1.0))
    assert distance(x, -x, binning) == pytest.approx(0.0, abs=1e-12)
    assert distance(x, 0 * x + 0.5, Binning(bins=8, range=(0.0, 1.0))) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[1, 1], [1, 1]], 2.0),
        ([[3, 0], [0, 5]], 0.0),
        ([[2, 1], [0, 1]], 2 * 1.5 - (math.log2(4) - 0.75 * math.log2(3)) - 1.0),  # H(X,Y) = 1.5, rows 3:1, columns 2:2
    ],
)
def test_known_joint_tables(table: list[list[int]], expected: float) -> None:
    assert distance(*series_of(table)) == pytest.approx(expected, abs=1e-12)


def series_of(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Two series whose bins meet as often as a table says, (T, 1) each."""
    counts = np.array(table)
    rows, columns = np.indices(counts.shape).reshape(2, -1).repeat(counts.ravel(), axis=1)
    return (rows[:, None] + 0.5) / 5, (columns[:, None] + 0.5) / 5


def test_the_correction_adds_half_a_nat_per_bin_in_use_and_sample() -> None:
    series = series_of([[4, 2, 0], [1, 0, 5]])  # 4 cells, 2 rows, 3 columns in use
    corrected, plain = (distance(*series, Binning(bins=5, range=(0.0, 1.0), miller_madow=on)) for on in (True, False))
    assert corrected - plain == pytest.approx((2 * 4 - 2 - 3) / (2 * 12 * math.log(2)))


def test_a_gaussian_pair_has_the_distance_that_integration_gives() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 4024, 1))
    y = 0.9 * x + math.sqrt(1 - 0.81) * rng.normal(size=x.shape)
    exact = gaussian_distance(0.9, bins=16)
    assert exact == pytest.approx(4.675, abs=1e-3)
    plain, corrected = (
        distance(x, y, Binning(bins=16, range=(-3.0, 3.0), miller_madow=on)).mean() - exact for on in (False, True)
    )
    assert plain == pytest.approx(-0.047, abs=0.02)
    assert abs(corrected) < abs(plain) / 2


def gaussian_distance(correlation: float, bins: int) -> float:
    """d of two binned normal variables, by integration over one and the error function over the other."""
    edges = np.array([-9.0, *np.linspace(-3, 3, bins + 1), 9.0])
    nodes, node_weights = np.polynomial.legendre.leggauss(40)
    rest = math.sqrt(2 * (1 - correlation**2))
    table = np.zeros((bins + 2, bins + 2))
    for row, (a, b) in enumerate(pairwise(edges)):
        for node, weight in zip(nodes, node_weights, strict=True):
            x = (a + b) / 2 + (b - a) / 2 * node
            below = np.array([0.5 + 0.5 * math.erf((edge - correlation * x) / rest) for edge in edges])
            table[row] += (b - a) / 2 * weight * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * np.diff(below)

    def entropy(p: np.ndarray) -> float:
        return float(-(p[p > 0] * np.log2(p[p > 0])).sum())

    return 2 * entropy(table) - entropy(table.sum(axis=0)) - entropy(table.sum(axis=1))


@pytest.mark.parametrize("policy", ["real", "joint", (-0.8, 0.9)])
def test_many_simulations_at_once_equal_a_plain_loop(policy: object) -> None:
    rng = np.random.default_rng(0)
    real = rng.uniform(-1, 1, (3, 60, 4))
    simulated = real + 0.3 * rng.normal(size=(5, 3, 60, 4))
    real[0, :7, 2] = np.nan
    simulated[2, 1, 5:9, 3] = np.nan
    found = information_distance(real, simulated, binning=Binning(bins=6, range=policy))  # type: ignore[arg-type]
    assert found.shape == (5, 3, 4)
    for n, m, c in np.ndindex(found.shape):
        x, y = real[m, :, c], simulated[n, m, :, c]
        ends = {"real": [x], "joint": [x, y]}.get(policy, []) if isinstance(policy, str) else []
        both = np.concatenate(ends) if ends else np.array(policy)
        edges = np.linspace(np.nanmin(both), np.nanmax(both), 7)
        assert found[n, m, c] == pytest.approx(reference(x, y, edges), abs=1e-9)


def test_pieces_that_are_worked_through_one_by_one_give_the_same_as_alone() -> None:
    rng = np.random.default_rng(1)
    real, simulated = rng.normal(size=(3000, 20)), rng.normal(size=(11, 3000, 20))  # 4 at a time
    together = information_distance(real, simulated)
    np.testing.assert_array_equal(together, [information_distance(real, one) for one in simulated])
    np.testing.assert_allclose(together[:, :1], information_distance(real[:, :1], simulated[..., :1]))


def test_values_outside_the_range_have_bins_of_their_own() -> None:
    low, high = np.zeros((1, 1)), np.ones((1, 1))
    values = np.array([-np.inf, -1e-9, 0.0, 0.249, 0.25, 1.0, 1.0 + 1e-9, np.inf, np.nan])[:, np.newaxis]
    assert bin_numbers(values, low, high, 4).ravel().tolist() == [0, 0, 1, 1, 2, 4, 5, 5, -1]
    still = np.array([-1.0, 0.0, 1.0])[:, np.newaxis]
    assert bin_numbers(still, low, low, 4).ravel().tolist() == [0, 1, 5]


def test_a_simulation_that_falls_is_farther_away_than_one_that_stays_up() -> None:
    real = np.sin(np.arange(400) * 0.1)[:, np.newaxis]
    simulated = np.repeat(real[np.newaxis], 3, axis=0)
    found = information_distance(real, simulated, frames=[400, 200, 0])
    entropy = information_distance(real, np.zeros_like(real))
    assert found[0] == pytest.approx(0.0, abs=1e-12)
    assert found[2] == pytest.approx(entropy)
    assert found[0] < found[1]


def test_missing_values_are_left_out_and_nothing_but_missing_ones_is_an_error() -> None:
    rng = np.random.default_rng(5)
    real, simulated = rng.uniform(size=(50, 2)), rng.uniform(size=(50, 2))
    gap = real.copy()
    gap[10:20, 1] = np.nan
    kept = np.r_[0:10, 20:50]
    assert distance(gap, simulated)[1] == pytest.approx(distance(real[kept], simulated[kept])[1])
    gap[:, 1] = np.nan
    with pytest.raises(RecordingError, match=r"real channel 'knee' has no value"):
        information_distance(gap, simulated, columns=("hip", "knee"))
    with pytest.raises(RecordingError, match=r"'knee' has no frame in simulation 1"):
        information_distance(real, np.stack([simulated, gap]), columns=("hip", "knee"))
    assert np.isinf(information_distance(real, gap, empty="infinite")[1])


def test_series_and_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match=r"4 frames of 2 channels, the simulated ones 5 of 2"):
        information_distance(np.zeros((4, 2)), np.zeros((5, 2)))
    with pytest.raises(UsageError, match=r"do not go together"):
        information_distance(np.zeros((3, 4, 2)), np.zeros((2, 4, 2)))
    with pytest.raises(UsageError, match=r"allowed are 0 to 4"):
        information_distance(np.zeros((4, 2)), np.zeros((4, 2)), frames=5)
    with pytest.raises(ValueError, match=r"2 to 1024"):
        Binning(bins=1)
    with pytest.raises(ValueError, match=r"lower one first"):
        Binning(range=(1.0, 0.0))
