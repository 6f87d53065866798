"""How many evaluations the searchers need on functions whose minimum is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator

from nutmeg.base.arrays import Floats
from nutmeg.search import (
    Budget,
    CmaEs,
    CmaEsSettings,
    Dimension,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    InThisThread,
    Searcher,
    Space,
    minimise,
)

pytestmark = pytest.mark.slow

SPACE = Space({f"x{i}": Dimension(low=-5, high=5, start=-2) for i in range(6)})
SEEDS = (0, 1, 2)
Cost = Callable[[Floats, Sequence[Generator]], Floats]


def sphere(x: Floats, generators: Sequence[Generator]) -> Floats:
    value: Floats = ((x - 0.7) ** 2).sum(axis=1)
    return value


def ellipsoid(x: Floats, generators: Sequence[Generator]) -> Floats:
    value: Floats = (10 ** (6 * np.arange(6) / 5) * (x - 0.7) ** 2).sum(axis=1)
    return value


def rosenbrock(x: Floats, generators: Sequence[Generator]) -> Floats:
    value: Floats = (100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(axis=1)
    return value


def noisy_sphere(x: Floats, generators: Sequence[Generator]) -> Floats:
    return sphere(x, generators) + 0.01 * np.array([rng.standard_normal() for rng in generators])


def two_funnels(x: Floats, generators: Sequence[Generator]) -> Floats:
    """A funnel that ends at 1, and beside it one that ends at 0."""
    value: Floats = np.minimum(1 + ((x + 2) ** 2).sum(axis=1), ((x - 3) ** 2).sum(axis=1))
    return value


def cma_es(seed: int) -> Searcher:
    return CmaEs(SPACE, CmaEsSettings(), np.random.default_rng(seed))


def strategy(seed: int) -> Searcher:
    settings = EvolutionStrategySettings(parents=10, children=70)
    return EvolutionStrategy(SPACE, settings, np.random.default_rng(seed))


def discrete_strategy(seed: int) -> Searcher:
    settings = EvolutionStrategySettings(parents=10, children=70, mixing="discrete")
    return EvolutionStrategy(SPACE, settings, np.random.default_rng(seed))


def genetic(seed: int) -> Searcher:
    return Genetic(SPACE, GeneticSettings(cooling=0.97), np.random.default_rng(seed))


def genetic_per_gene(seed: int) -> Searcher:
    settings = GeneticSettings(cooling=0.97, selection="tournament", crossover=0.5, mutation="per-gene")
    return Genetic(SPACE, settings, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("make", "cost", "evaluations", "enough"),
    [
        (cma_es, sphere, 1200, 1e-6),
        (cma_es, ellipsoid, 2500, 1e-6),
        (cma_es, rosenbrock, 4000, 1e-6),
        (strategy, sphere, 3000, 1e-5),
        (strategy, ellipsoid, 8000, 1e-2),
        (strategy, rosenbrock, 8000, 4.0),
        (discrete_strategy, sphere, 3000, 1e-3),
        (genetic, sphere, 3000, 1e-2),
        (genetic, rosenbrock, 8000, 10.0),
        (genetic_per_gene, sphere, 3000, 1e-2),
    ],
)
def test_the_minimum_is_found_within_so_many_evaluations(
    make: Callable[[int], Searcher], cost: Cost, evaluations: int, enough: float
) -> None:
    for seed in SEEDS:
        result = minimise(cost, make(seed), InThisThread(), budget=evaluations)
        assert result.evaluations <= evaluations
        assert result.best.value < enough, f"seed {seed}"


@pytest.mark.parametrize("make", [cma_es, strategy, genetic])
def test_under_noise_the_mean_comes_close_to_the_minimum(make: Callable[[int], Searcher]) -> None:
    for seed in SEEDS:
        result = minimise(noisy_sphere, make(seed), InThisThread(), budget=2000, seed=seed)
        assert sphere(result.mean[None], [])[0] < 0.05, f"seed {seed}"


def test_restarts_find_the_deeper_of_two_funnels() -> None:
    space = Space({f"x{i}": Dimension(low=-5, high=5, start=-2) for i in range(2)})
    budget = Budget(evaluations=20_000, target=0.01)

    def found(settings: CmaEsSettings) -> list[float]:
        runs = [CmaEs(space, settings, np.random.default_rng(seed)) for seed in SEEDS]
        return [minimise(two_funnels, run, InThisThread(), budget=budget).best.value for run in runs]

    once = CmaEsSettings(step=0.1, value_tolerance=1e-6)
    assert min(found(once)) > 0.9, "a single run ends where it starts"
    assert max(found(replace(once, restarts=12))) < 0.01
    assert max(found(replace(once, restarts=12, scheme="bipop"))) < 0.01
