"""Least squares for simulations: exact on straight problems, quick on bent ones, never outside the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.reality.identify.least_squares import levenberg_marquardt
from nutmeg.search import Dimension, Space

Array = Any
SPACE = Space(
    {"a": Dimension(low=-2, high=2), "b": Dimension(low=-2, high=2), "c": Dimension(low=0.1, high=10, scale="log")}
)
TIMES = np.linspace(0, 3, 60)


def decaying(candidates: Array) -> Array:
    a, b, c = (candidates[:, [i]] for i in range(3))
    return a + b * np.exp(-c * TIMES)


def test_a_straight_problem_is_solved_in_a_round_or_two() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((40, 3))
    truth = np.array([0.7, -1.1, 3.0])
    space = Space({name: Dimension(low=-4, high=4) for name in "abc"})
    found = levenberg_marquardt(lambda c: (c - truth) @ matrix.T, space, space.start, rounds=4)
    np.testing.assert_allclose(found.best.candidate, truth, atol=1e-3)


def test_a_bent_problem_is_solved_with_few_candidates() -> None:
    truth = np.array([[0.3, 1.2, 2.5]])
    found = levenberg_marquardt(lambda c: decaying(c) - decaying(truth), SPACE, SPACE.start, rounds=8)
    np.testing.assert_allclose(found.best.candidate, truth[0], rtol=1e-2)
    assert found.evaluations == 8 * (7 + 12)
    values = [one.best.value for one in found.history]
    assert values[-1] < 1e-4 * ((decaying(SPACE.start[None]) - decaying(truth)) ** 2).sum()
    assert values == sorted(values, reverse=True)


def test_an_answer_beyond_the_bounds_ends_at_them_and_breakdowns_do_no_harm() -> None:
    def residuals(candidates: Array) -> Array:
        seen = candidates - np.array([9.0, 0.5, 1.0])
        seen[candidates[:, 1] > 1.0] = np.nan
        return seen

    tried: list[Array] = []

    def noted(candidates: Array) -> Array:
        tried.append(candidates)
        return residuals(candidates)

    found = levenberg_marquardt(noted, SPACE, SPACE.start, rounds=10)
    everything = np.concatenate(tried)
    assert found.best.candidate[0] == 2.0
    assert found.best.candidate[1] == pytest.approx(0.5, abs=0.01)
    assert ((everything >= SPACE.low) & (everything <= SPACE.high)).all()


def test_wrong_use_is_named() -> None:
    with pytest.raises(UsageError, match="0 rounds"):
        levenberg_marquardt(decaying, SPACE, SPACE.start, rounds=0)
