"""Losses of residuals: their scale, their slopes, and what an outlier does."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.search import Dimension, LeastSquares, LeastSquaresSettings, Space
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.losses import ROBUST_LOSSES, Loss, deviation, loss_bends, loss_values, loss_weights
from nutmeg.search.run import Budget, minimise

NORMAL = np.random.default_rng(3).standard_normal(4000)


@pytest.mark.parametrize("loss", ROBUST_LOSSES)
def test_normal_residuals_have_their_deviation_and_the_value_of_squares(loss: Loss) -> None:
    assert deviation(loss, 0.2 * NORMAL) == pytest.approx(0.2, rel=0.03)
    values = loss_values(loss, np.stack([NORMAL, 5 * NORMAL]))
    assert values[0] == pytest.approx(float(np.linalg.norm(NORMAL)), rel=0.03)
    assert values[1] == pytest.approx(5 * values[0], rel=1e-9), "it has the unit of the residuals"
    assert loss_values(loss, np.zeros((1, 5)))[0] == 0.0
    assert np.isinf(loss_values(loss, np.array([[1.0, np.nan]]))[0])


@pytest.mark.parametrize("loss", ROBUST_LOSSES)
def test_slopes_are_those_of_weighted_squares(loss: Loss) -> None:
    residuals = NORMAL[:50].copy()
    residuals[3] = 30.0
    weighted = loss_weights(loss, residuals) * residuals
    steps = 1e-6 * np.eye(50)
    slopes = (loss_values(loss, residuals + steps) - loss_values(loss, residuals - steps)) / 2e-6
    np.testing.assert_allclose(slopes / slopes[0], weighted / weighted[0], rtol=1e-4)
    bends = loss_bends(loss, residuals)
    assert bends[3] < 0.01
    assert bends[np.abs(residuals).argmin()] > 0.99


def test_a_line_through_points_with_outliers_is_found() -> None:
    times = np.linspace(0, 1, 200)
    rng = np.random.default_rng(1)
    data = 0.3 + 0.8 * times + 0.01 * rng.standard_normal(200)
    data[::10] += 3.0
    space = Space({"a": Dimension(low=-2, high=2), "b": Dimension(low=-2, high=2)})

    def rows(candidates: np.ndarray, generators: object) -> np.ndarray:
        return candidates[:, :1] + candidates[:, 1:] * times - data

    found = {}
    for loss in ("root", "huber", "soft_l1", "absolute"):
        searcher = LeastSquares(space, LeastSquaresSettings(starts=1), np.random.default_rng(0), loss=loss)  # type: ignore[arg-type]
        result = minimise(rows, searcher, InThisThread(), budget=Budget(evaluations=300), seed=0)
        found[loss] = np.abs(result.estimate - [0.3, 0.8]).max()
    assert found["root"] > 0.1
    assert max(found["huber"], found["soft_l1"], found["absolute"]) < 0.02
