from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.search import Dimension, Genetic, GeneticSettings, Space

Cost = Callable[[np.ndarray, list[np.random.Generator]], np.ndarray]


def genetic(space: Space, **settings: object) -> Genetic:
    return Genetic(space, GeneticSettings(**settings), np.random.default_rng(11))  # type: ignore[arg-type]


def test_the_first_population_is_the_seed_and_its_mutants(space: Space) -> None:
    first = genetic(space, population=200, step=0.05).ask()
    assert np.allclose(first[0], space.start)
    away = space.unit(first[1:]) - space.unit(space.start)
    assert abs(away.std() - 0.05) < 0.005
    assert (away != 0).all(), "a Gaussian mutation moves every gene"


def test_per_gene_mutation_changes_each_gene_with_its_probability() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(10)})
    first = genetic(space, population=1000, mutation="per-gene", rate=0.3).ask()
    changed = first[1:] != 0.5
    assert changed.mean() == pytest.approx(0.3, abs=0.02)
    assert changed.any(axis=1).all(), "at least one gene of each"


def test_the_elite_is_never_lost(space: Space, cost: Cost) -> None:
    searcher = genetic(space, population=10, elite=3, step=0.5)
    seen = np.empty(0)
    for generation in range(15):
        values = cost(searcher.ask(), []) + (1000 if generation > 5 else 0)
        seen = np.sort(np.concatenate([seen, values]))
        searcher.tell(values)
        _, kept = searcher.elite
        assert (kept == seen[:3]).all()


def test_without_an_elite_parents_are_forgotten(space: Space, cost: Cost) -> None:
    searcher = genetic(space, population=10, elite=0)
    searcher.tell(cost(searcher.ask(), []))
    candidates = searcher.ask()
    searcher.tell(1000 + np.arange(10))
    assert np.allclose(searcher.mean, space.values(space.unit(candidates[:2]).mean(axis=0)))
    assert searcher.best.value < 1000, "the answer of the search is remembered all the same"


@pytest.mark.parametrize("selection", ["truncation", "tournament"])
def test_better_candidates_have_more_children(selection: str) -> None:
    space = Space({"x": Dimension(low=0, high=1)})
    searcher = genetic(space, population=400, selection=selection, first="anywhere", step=1e-6)
    first = searcher.ask()[:, 0]
    searcher.tell(first)
    children = searcher.ask()[:, 0]
    assert children.mean() < np.quantile(first, 0.3)
    if selection == "truncation":
        assert children.max() < np.quantile(first, 0.26)


def test_crossover_takes_genes_from_two_parents() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(6)})
    searcher = genetic(space, population=40, crossover=1.0, survivors=0.05, elite=0, first="anywhere", step=1e-9)
    parents = searcher.ask()[:2]
    searcher.tell(np.arange(40))
    genes = np.abs(searcher.ask()[:, None, :] - parents[None]).argmin(axis=1)
    assert 0.35 < genes.mean() < 0.65
    assert ((genes.min(axis=1) == 0) & (genes.max(axis=1) == 1)).any(), "mixed in one child"


def test_cooling_makes_mutations_smaller(space: Space, cost: Cost) -> None:
    searcher = genetic(space, step=0.1, cooling=0.5)
    for _ in range(3):
        searcher.tell(cost(searcher.ask(), []))
    assert searcher.state["step"] == pytest.approx(0.1 / 8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"population": 1}, "population is 1"),
        ({"elite": 30}, "elite is 30"),
        ({"survivors": 0.0}, "survivors is 0; allowed is above 0 and up to 1"),
        ({"rate": 1.5}, "rate is 1.5"),
        ({"cooling": 0.0}, "cooling is 0"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GeneticSettings(**wrong)  # type: ignore[arg-type]
