from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.search import CmaEs, CmaEsSettings, Dimension, Space

Cost = Callable[[np.ndarray, list[np.random.Generator]], np.ndarray]


def sizes_of_runs(space: Space, cost: Cost, settings: CmaEsSettings) -> list[int]:
    searcher = CmaEs(space, settings, np.random.default_rng(11))
    sizes = {}
    while not searcher.finished:
        sizes[searcher.state["restarts"]] = len(searcher.ask())
        searcher.tell(cost(searcher.ask(), []))
    return list(sizes.values())


def test_restarts_double_the_population(space: Space, cost: Cost) -> None:
    settings = CmaEsSettings(restarts=3, value_tolerance=1e-2)
    assert sizes_of_runs(space, cost, settings) == [8, 16, 32, 64]


def test_bipop_alternates_large_and_small_populations(space: Space, cost: Cost) -> None:
    settings = CmaEsSettings(restarts=8, value_tolerance=1e-2, scheme="bipop")
    sizes = sizes_of_runs(space, cost, settings)
    large = [size for size in sizes if size in (16, 32, 64, 128, 256)]
    assert len(sizes) == 9
    assert sizes[1] == 16
    assert large == sorted(large)
    assert len(large) < 8, "some are small"
    assert min(sizes) >= 8


def test_the_population_can_be_given(space: Space, cost: Cost) -> None:
    assert len(CmaEs(space, CmaEsSettings(population=30), np.random.default_rng(1)).ask()) == 30


def test_the_first_steps_have_the_size_asked_for() -> None:
    space = Space({"a": Dimension(low=0, high=1000), "b": Dimension(low=0.01, high=100, scale="log")})
    unit = space.unit(CmaEs(space, CmaEsSettings(population=500, step=0.1), np.random.default_rng(1)).ask())
    assert unit.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)
    assert unit.std(axis=0) == pytest.approx([0.1, 0.1], abs=0.01)


def test_the_end_says_why(space: Space, cost: Cost) -> None:
    searcher = CmaEs(space, CmaEsSettings(value_tolerance=1e-3), np.random.default_rng(1))
    while not searcher.finished:
        searcher.tell(cost(searcher.ask(), []))
    assert searcher.finished.startswith("CMA-ES: tolfun")


def test_only_the_order_of_values_counts(space: Space, cost: Cost) -> None:
    one = CmaEs(space, CmaEsSettings(value_tolerance=0), np.random.default_rng(1))
    other = CmaEs(space, CmaEsSettings(value_tolerance=0), np.random.default_rng(1))
    for _ in range(20):
        values = cost(one.ask(), [])
        one.tell(values)
        other.ask()
        other.tell(np.exp(values / 10))
    assert (one.ask() == other.ask()).all()


def test_a_failure_ranks_behind_the_worst_even_of_huge_values(space: Space) -> None:
    one, other = (CmaEs(space, CmaEsSettings(), np.random.default_rng(1)) for _ in range(2))
    ordered = np.arange(len(one.ask()), dtype=float)
    other.ask()
    one.tell(ordered)
    other.tell([*(1e307 * ordered[:-1]), np.nan])
    assert (one.ask() == other.ask()).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"population": 2}, "population is 2"),
        ({"step": 0.0}, "step is 0"),
        ({"growth": 0.5}, "growth is 0.5"),
        ({"value_tolerance": -1.0}, "value_tolerance is -1"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CmaEsSettings(**wrong)  # type: ignore[arg-type]
