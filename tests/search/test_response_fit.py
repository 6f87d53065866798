"""The response fit: an estimate from a smooth model of rough residuals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.search import Dimension, InThisThread, ResponseFit, ResponseFitSettings, Space, Threads, minimise
from nutmeg.search.run import Generation, SearchResult

SPACE = Space({"length": Dimension(low=0.5, high=1.5), "mass": Dimension(low=1.0, high=3.0)})
TRUTH = np.array([1.21, 1.6])
TIMES = np.linspace(0, 4, 200)


def rough(candidates: Floats, generators: object = ()) -> Floats:
    """A smooth response with dents as deep as a tenth of the range, other ones at every time."""
    length, mass = candidates[:, [0]], candidates[:, [1]]
    seen = length * np.sin(TIMES) + 0.3 * mass * np.cos(2 * TIMES) * length
    seen = seen + 0.05 * np.sin(300 * length + 70 * TIMES) + 0.05 * np.sin(200 * mass + 90 * TIMES)
    return np.asarray(seen - (TRUTH[0] * np.sin(TIMES) + 0.3 * TRUTH[1] * np.cos(2 * TIMES) * TRUTH[0]))


def searched(folder: Path | None = None, *, stop: int | None = None, threads: int = 1) -> SearchResult:
    def after(generation: Generation) -> None:
        if generation.number == stop:
            raise KeyboardInterrupt

    searcher = ResponseFit(SPACE, ResponseFitSettings(), np.random.default_rng(7))
    evaluator = Threads(threads) if threads > 1 else InThisThread()
    return minimise(rough, searcher, evaluator, budget=200, folder=folder, on_generation=after)


def test_the_estimate_is_that_of_the_smooth_part() -> None:
    found = searched()
    np.testing.assert_allclose(found.estimate, TRUTH, rtol=0.02)
    assert found.evaluations == 96
    assert found.method == "response fit, 6 rounds of 16 candidates"


def test_a_resumed_fit_ends_with_the_same_estimate(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path, stop=2)
    assert np.array_equal(searched(tmp_path, threads=2).estimate, searched().estimate)


def test_too_few_candidates_a_round_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 7"):
        ResponseFit(SPACE, ResponseFitSettings(candidates=4), np.random.default_rng(0))
