"""A searcher chosen by name: the table of a configuration file that says how a search is done.

[search]
algorithm = "cma-es"
[search.cma_es]
population = 12
step = 0.2

SearchSettings(algorithm="cma-es").searcher(space, np.random.default_rng(7))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from nutmeg.search.cma_es import CmaEs, CmaEsSettings
from nutmeg.search.evolution_strategy import EvolutionStrategy, EvolutionStrategySettings
from nutmeg.search.genetic import Genetic, GeneticSettings

if TYPE_CHECKING:
    import numpy as np

    from nutmeg.search.searcher import Searcher
    from nutmeg.search.space import Space


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """A search of one step, begun anew in every iteration from the best that is known."""

    algorithm: Literal["genetic", "cma-es", "evolution-strategy"] = "genetic"
    """Which searcher; its table below has its settings."""
    generations: int = 11
    """How many generations an iteration has."""
    genetic: GeneticSettings = field(default_factory=GeneticSettings)
    cma_es: CmaEsSettings = field(default_factory=CmaEsSettings)
    evolution_strategy: EvolutionStrategySettings = field(
        default_factory=lambda: EvolutionStrategySettings(parents=5, children=20)
    )

    def __post_init__(self) -> None:
        if self.generations < 1:
            raise ValueError(f"{self.generations} generations; needed is 1 or more.")

    def searcher(self, space: Space, rng: np.random.Generator) -> Searcher:
        """A new searcher that begins at the start of the space."""
        if self.algorithm == "cma-es":
            return CmaEs(space, self.cma_es, rng)
        if self.algorithm == "evolution-strategy":
            return EvolutionStrategy(space, self.evolution_strategy, rng)
        return Genetic(space, self.genetic, rng)

    @property
    def population(self) -> int:
        """M: how many candidates a generation has; 0 where the searcher decides."""
        if self.algorithm == "genetic":
            return self.genetic.population
        if self.algorithm == "evolution-strategy":
            return self.evolution_strategy.children
        return self.cma_es.population or 0
