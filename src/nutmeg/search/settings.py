"""A searcher chosen by name in a configuration file.

[search]
algorithm = "cma-es"
[search.cma_es]
population = 12
step = 0.2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import at_least, check_bounds
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.losses import Loss
from nutmeg.search.response_fit import ResponseFit, ResponseFitSettings
from nutmeg.search.searchers import (
    CmaEs,
    CmaEsSettings,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    Searcher,
)

if TYPE_CHECKING:
    import numpy as np

    from nutmeg.search.space import Space

Algorithm = Literal["auto", "least-squares", "response-fit", "cma-es", "genetic", "evolution-strategy"]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The table of a configuration file that says how a search is done."""

    algorithm: Algorithm = "genetic"
    """Which searcher; its table below has its settings. `auto` is least squares where the value is made of residuals,
    else CMA-ES."""
    generations: Annotated[int, at_least(1)] = 11
    """How many generations an iteration has."""
    least_squares: LeastSquaresSettings = field(default_factory=LeastSquaresSettings)
    response_fit: ResponseFitSettings = field(default_factory=ResponseFitSettings)
    genetic: GeneticSettings = field(default_factory=GeneticSettings)
    cma_es: CmaEsSettings = field(default_factory=CmaEsSettings)
    evolution_strategy: EvolutionStrategySettings = field(
        default_factory=lambda: EvolutionStrategySettings(parents=5, children=20)
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def searcher(self, space: Space, rng: np.random.Generator, loss: Loss | None = None) -> Searcher:
        """A new searcher that begins at the start of the space.

        Args:
            space: what is searched.
            rng: source of everything random.
            loss: how the value is made of residuals; None if it is not.
        """
        chosen = self.algorithm
        if chosen == "auto":
            chosen = "least-squares" if loss else "cma-es"
        if chosen in ("least-squares", "response-fit"):
            if loss is None:
                raise UsageError(
                    f"{chosen} works with the differences of series, and what is minimised here is not made of them. "
                    "Choose cma-es, genetic or evolution-strategy, or the distance rms, huber, soft_l1, mean_absolute "
                    "or joint_error."
                )
            if chosen == "least-squares":
                return LeastSquares(space, self.least_squares, rng, loss=loss)
            return ResponseFit(space, self.response_fit, rng)
        if chosen == "cma-es":
            return CmaEs(space, self.cma_es, rng)
        if chosen == "evolution-strategy":
            return EvolutionStrategy(space, self.evolution_strategy, rng)
        return Genetic(space, self.genetic, rng)

    @property
    def population(self) -> int:
        """M: how many candidates a generation has; 0 where the searcher decides."""
        if self.algorithm == "genetic":
            return self.genetic.population
        if self.algorithm == "evolution-strategy":
            return self.evolution_strategy.children
        return self.cma_es.population or 0 if self.algorithm == "cma-es" else 0
