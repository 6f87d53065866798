from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.random import Generator

from nutmeg.base.arrays import Floats
from nutmeg.search import (
    CmaEs,
    CmaEsSettings,
    Dimension,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    Searcher,
    Space,
)

MakeSearcher = Callable[[Space, int], Searcher]

SEARCHERS: dict[str, MakeSearcher] = {
    "cma-es": lambda space, seed: CmaEs(space, CmaEsSettings(), np.random.default_rng(seed)),
    "cma-es with restarts": lambda space, seed: CmaEs(
        space, CmaEsSettings(restarts=3, scheme="bipop", value_tolerance=1e-2), np.random.default_rng(seed)
    ),
    "evolution strategy": lambda space, seed: EvolutionStrategy(
        space, EvolutionStrategySettings(parents=5, children=35), np.random.default_rng(seed)
    ),
    "genetic": lambda space, seed: Genetic(
        space,
        GeneticSettings(population=16, mutation="per-gene", crossover=0.5, selection="tournament", cooling=0.98),
        np.random.default_rng(seed),
    ),
}


@pytest.fixture(params=list(SEARCHERS))
def make_searcher(request: pytest.FixtureRequest) -> MakeSearcher:
    """Makes a searcher of each kind from a space and a seed."""
    return SEARCHERS[request.param]


@pytest.fixture
def space() -> Space:
    """Four parameters, one on a logarithmic scale."""
    plain = {f"x{i}": Dimension(low=-5, high=5, start=-2, unit="m") for i in range(3)}
    return Space({**plain, "gain": Dimension(low=1e-3, high=1e2, unit="N m/rad", scale="log")})


def bowl(candidates: Floats, generators: Sequence[Generator]) -> Floats:
    """Smallest, 0, at x = 0.7 and gain = 1."""
    value: Floats = ((candidates[:, :3] - 0.7) ** 2).sum(axis=1) + np.log(candidates[:, 3]) ** 2
    return value


@pytest.fixture
def cost() -> Callable[[Floats, Sequence[Generator]], Floats]:
    """A function to minimise."""
    return bowl
