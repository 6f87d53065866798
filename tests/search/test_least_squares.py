"""Least squares: exact on straight problems, quick on bent ones, never outside the bounds, and resumed exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.search import (
    Budget,
    Dimension,
    InThisThread,
    LeastSquares,
    LeastSquaresSettings,
    Processes,
    SearchResult,
    SearchSettings,
    Space,
    Threads,
    minimise,
)
from nutmeg.search.evaluation import Evaluator
from nutmeg.search.least_squares import Loss
from nutmeg.search.run import Generation

SPACE = Space(
    {"a": Dimension(low=-2, high=2), "b": Dimension(low=-2, high=2), "c": Dimension(low=0.1, high=10, scale="log")}
)
TIMES = np.linspace(0, 3, 60)
TRUTH = np.array([0.3, 1.2, 2.5])


def decaying(candidates: Floats, times: Floats = TIMES) -> Floats:
    a, b, c = (candidates[:, [i]] for i in range(3))
    return np.asarray(a + b * np.exp(-c * times))


def bent(candidates: Floats, generators: object = ()) -> Floats:
    return decaying(candidates) - decaying(TRUTH[None])


def with_outliers(candidates: Floats, generators: object = ()) -> Floats:
    rows = bent(candidates)
    rows[:, ::10] += 3.0
    return rows


def fitted(
    function: object,
    *,
    space: Space = SPACE,
    loss: Loss = "root",
    budget: int = 300,
    evaluator: Evaluator | None = None,
    **options: object,
) -> SearchResult:
    settings = LeastSquaresSettings(**options)  # type: ignore[arg-type]
    searcher = LeastSquares(space, settings, np.random.default_rng(5), loss=loss)
    return minimise(function, searcher, evaluator or InThisThread(), budget=budget)  # type: ignore[arg-type]


def test_a_straight_problem_is_solved_with_the_slopes_of_one_round() -> None:
    matrix = np.random.default_rng(1).standard_normal((40, 3))
    truth = np.array([0.7, -1.1, 3.0])
    space = Space({name: Dimension(low=-4, high=4) for name in "abc"})
    found = fitted(lambda c, _: (c - truth) @ matrix.T, space=space, budget=20)
    np.testing.assert_allclose(found.best.candidate, truth, atol=1e-3)
    assert found.history[2].best.value < 1e-5  # slopes, steps, and steps with the slopes corrected along the first
    assert [len(one.values) for one in found.history[:3]] == [4, 4, 2]


def test_a_bent_valley_is_followed_with_few_slopes() -> None:
    space = Space({"x": Dimension(low=-2, high=2, start=-1.2), "y": Dimension(low=-1, high=3, start=1.0)})

    def rosenbrock(candidates: Floats, _: object) -> Floats:
        x, y = candidates.T
        return np.asarray(np.stack([10 * (y - x * x), 1 - x], axis=1))

    found = fitted(rosenbrock, space=space, budget=100, starts=1)
    np.testing.assert_allclose(found.best.candidate, [1, 1], atol=1e-2)


def test_a_bent_problem_is_solved_with_few_candidates() -> None:
    found = fitted(bent, budget=100)
    np.testing.assert_allclose(found.best.candidate, TRUTH, rtol=1e-3)
    values = [one.best.value for one in found.history]
    assert values == sorted(values, reverse=True)
    assert found.best.value == pytest.approx(float(np.linalg.norm(bent(found.best.candidate[None]))))


@pytest.mark.parametrize("count", [1_000, 1_000_000])
def test_a_descent_ends_within_a_tenth_of_a_standard_error_however_many_residuals_hide_the_gain(count: int) -> None:
    noise, times = 3.0, np.linspace(0, 3, count)
    measured = decaying(TRUTH[None], times)[0] + noise * np.random.default_rng(1).standard_normal(count)
    exact = least_squares(lambda x: decaying(x[None], times)[0] - measured, TRUTH, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    standard_errors = noise * np.sqrt(np.diag(np.linalg.inv(exact.jac.T @ exact.jac)))
    found = fitted(lambda c, _: decaying(c, times) - measured, starts=1, budget=100)
    assert "converged" in found.reason
    assert (np.abs(found.best.candidate - exact.x) < 0.1 * standard_errors).all()


def test_the_absolute_loss_does_not_mind_outliers() -> None:
    squares, absolute = fitted(with_outliers), fitted(with_outliers, loss="absolute")
    assert np.abs(squares.best.candidate - TRUTH).max() > 0.1
    np.testing.assert_allclose(absolute.best.candidate, TRUTH, rtol=0.03)
    assert absolute.best.value == pytest.approx(np.abs(with_outliers(absolute.best.candidate[None])).sum())


def test_an_answer_beyond_the_bounds_ends_at_them_and_breakdowns_do_no_harm() -> None:
    tried = []

    def residuals(candidates: Floats, _: object) -> Floats:
        tried.append(candidates)
        seen = candidates - np.array([9.0, 0.5, 1.0])
        seen[candidates[:, 1] > 1.0] = np.nan
        return seen

    found = fitted(residuals)
    everything = np.concatenate(tried)
    assert found.best.candidate[0] == 2.0
    np.testing.assert_allclose(found.best.candidate[1:], [0.5, 1.0], atol=1e-3)
    assert ((everything >= SPACE.low) & (everything <= SPACE.high)).all()


def test_a_start_that_cannot_be_simulated_is_left_for_another() -> None:
    def residuals(candidates: Floats, _: object) -> Floats:
        seen = bent(candidates)
        seen[np.abs(candidates[:, 0]) < 0.15] = np.nan  # the start and its neighbours
        return seen

    np.testing.assert_allclose(fitted(residuals).best.candidate, TRUTH, rtol=1e-3)


def test_further_starts_find_the_deeper_of_two_valleys() -> None:
    space = Space({"x": Dimension(low=-4, high=4, start=-2.5)})

    def residuals(candidates: Floats, _: object) -> Floats:
        x = candidates[:, [0]]
        return np.asarray(np.concatenate([x * x - 4.0, 0.5 * (x - 2.0)], axis=1))

    alone = fitted(residuals, space=space, starts=1)
    assert alone.best.candidate[0] == pytest.approx(-1.9, abs=0.1)
    assert "converged from 1 start" in alone.reason
    several = fitted(residuals, space=space, starts=4)
    assert several.best.candidate[0] == pytest.approx(2.0, abs=1e-3)
    assert several.evaluations < 300


def test_where_the_ground_is_rough_cma_es_escapes() -> None:
    space = Space({"x": Dimension(low=-3, high=3, start=2.0), "y": Dimension(low=-3, high=3, start=-2.0)})

    def residuals(candidates: Floats, _: object) -> Floats:
        return np.asarray(candidates + 0.5 * np.sin(17 * candidates))

    smooth, rough = (fitted(residuals, space=space, starts=1, escape=n, budget=400) for n in (0, 12))
    assert "escapes by CMA-ES" in rough.method
    assert rough.best.value < 0.5 * smooth.best.value


@pytest.mark.parametrize("stop", range(3, 9))
@pytest.mark.parametrize("loss", ["root", "absolute", "huber"])
def test_a_search_that_is_interrupted_anywhere_in_a_round_ends_with_the_same_numbers(
    tmp_path: Path, loss: Loss, stop: int
) -> None:
    def search(folder: Path | None, generations: int) -> SearchResult:
        searcher = LeastSquares(SPACE, LeastSquaresSettings(), np.random.default_rng(3), loss=loss)
        budget = Budget(evaluations=150, generations=generations)
        return minimise(with_outliers, searcher, InThisThread(), budget=budget, folder=folder)

    whole = search(None, 100)
    search(tmp_path, stop)
    resumed = search(tmp_path, 100)
    assert [g.values.tolist() for g in resumed.history] == [g.values.tolist() for g in whole.history]
    assert np.array_equal(resumed.estimate, whole.estimate)


@pytest.mark.parametrize("loss", ["root", "squares", "absolute"])
def test_a_resumed_search_and_one_on_other_workers_end_with_the_same_numbers(tmp_path: Path, loss: Loss) -> None:
    def search(evaluator: Evaluator, folder: Path | None, stop: int | None = None) -> SearchResult:
        def after(generation: Generation) -> None:
            if generation.number == stop:
                raise KeyboardInterrupt

        searcher = LeastSquares(SPACE, LeastSquaresSettings(), np.random.default_rng(3), loss=loss)
        return minimise(with_outliers, searcher, evaluator, budget=150, folder=folder, on_generation=after)

    whole = search(InThisThread(), None)
    with pytest.raises(KeyboardInterrupt):
        search(Threads(3), tmp_path, stop=6)
    file = tmp_path / "search.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]) + lines[-1][:40])  # as a kill in the middle of a line leaves it
    processes = Processes(2)
    try:
        resumed = search(processes, tmp_path)
    finally:
        processes.close()
    assert [g.values.tolist() for g in resumed.history] == [g.values.tolist() for g in whole.history]
    assert np.array_equal(resumed.estimate, whole.estimate)
    assert file.stat().st_size < 100_000  # products of residuals, not residuals


def test_a_value_that_is_not_made_of_residuals_needs_another_algorithm() -> None:
    rng = np.random.default_rng(0)
    assert SearchSettings(algorithm="auto").searcher(SPACE, rng, "root").algorithm == "least-squares"
    assert SearchSettings(algorithm="auto").searcher(SPACE, rng).algorithm == "cma-es"
    for algorithm in ("least-squares", "response-fit"):
        with pytest.raises(UsageError, match=f"{algorithm} works with the differences of series"):
            SearchSettings(algorithm=algorithm).searcher(SPACE, rng)  # type: ignore[arg-type]
