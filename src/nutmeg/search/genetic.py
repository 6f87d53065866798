"""The genetic algorithm of Back to Reality: mutants of a seed solution, selected, mutated again.

Steps 1 and 3 of Zagal, Delpiano and Ruiz-del-Solar, Self-modeling in humanoid soccer robots (Robotics and
Autonomous Systems 57, 2009) search controllers and simulations with it: the first population is made of mutants
of the best solution known, so that each call goes on from the one before. For the ant they used 11 generations
of 20 (controllers) and of 15 (simulations), with a mutation probability for each gene; for the Nao 20 with
Gaussian mutation. Selection and elitism are not told there; both are settings here.

    settings = GeneticSettings(population=15, mutation="per-gene", rate=0.5)
    searcher = Genetic(space, settings, np.random.default_rng(7))     # the seed solution is the space's start

The elite keeps its place with the values it has; a generation always evaluates `population` new candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.search.searcher import GenerationSearch
from nutmeg.search.space import Space, reflected


@dataclass(frozen=True, kw_only=True)
class GeneticSettings:
    """How the population is made, selected and mutated."""

    population: int = 20
    """M: how many candidates a generation has."""
    elite: int = 1
    """How many of the best so far stay among the possible parents."""
    selection: Literal["truncation", "tournament"] = "truncation"
    """Whether parents are the best of all, drawn evenly, or winners of small contests."""
    survivors: float = 0.25
    """Truncation: the fraction of the population that become parents."""
    contest: int = 3
    """Tournament: how many are drawn for each contest."""
    crossover: float = 0.0
    """The probability that a child takes each gene from either of two parents."""
    mutation: Literal["gaussian", "per-gene"] = "gaussian"
    """Whether every gene is mutated, or each with the probability `rate` (and at least one)."""
    rate: float = 0.3
    """p_m: the probability of a gene to mutate, for `per-gene`."""
    step: float = 0.1
    """The standard deviation of a mutation, as a fraction of the parameter's range."""
    cooling: float = 1.0
    """What the step is multiplied with after every generation; 1 keeps it."""
    first: Literal["seed", "anywhere"] = "seed"
    """Whether the first population are mutants of the space's start (and it itself) or anywhere."""

    def __post_init__(self) -> None:
        if self.population < 2 or not 0 <= self.elite <= self.population:
            raise ValueError(
                f"the population is {self.population} and its elite {self.elite}; needed are at least 2, "
                "and an elite within it."
            )
        if not 0 < self.survivors <= 1 or not 0 <= self.crossover <= 1 or not 0 < self.rate <= 1:
            raise ValueError(
                f"survivors {self.survivors:g}, crossover {self.crossover:g} and rate {self.rate:g} are fractions: "
                "allowed is 0..1, and only the crossover may be 0."
            )
        if self.contest < 1 or not 0 < self.step <= 1 or not 0 < self.cooling <= 1:
            raise ValueError(
                f"the contest is of {self.contest}, the step {self.step:g}, the cooling {self.cooling:g}; needed "
                "are a contest of at least 1, and 0 < step <= 1, 0 < cooling <= 1."
            )


class Genetic(GenerationSearch):
    """Genetic algorithm with real genes, mutants of a seed solution, and an elite."""

    algorithm = "genetic"

    def __init__(self, space: Space, settings: GeneticSettings, rng: np.random.Generator) -> None:
        super().__init__(space, settings, rng)
        self.settings = settings
        self._seed = space.unit(space.start)
        self._step = settings.step
        self._points: Floats = np.empty((0, space.size))
        self._values: Floats = np.empty(0)
        """Possible parents and their values, best first: the elite and the last generation."""

    @property
    def elite(self) -> tuple[Floats, Floats]:
        """The candidates that keep their place, (elite, k) in SI units, and their values, (elite,)."""
        count = self.settings.elite
        return self.space.values(self._points[:count]), self._values[:count].copy()

    def _propose(self) -> Floats:
        size, k = self.settings.population, self.space.size
        if len(self._points):
            return self._mutated(self._crossed(self._selected(size)))
        if self.settings.first == "anywhere":
            return self._rng.random((size, k))
        mutants = self._mutated(np.tile(self._seed, (size, 1)))
        mutants[0] = self._seed
        return mutants

    def _selected(self, size: int) -> Floats:
        """A parent for each child, (size, k)."""
        count = len(self._points)
        if self.settings.selection == "tournament":  # they are sorted: the lowest index wins
            chosen = np.min(self._rng.integers(count, size=(size, self.settings.contest)), axis=1)
        else:
            most = max(1, round(self.settings.survivors * self.settings.population))
            chosen = self._rng.integers(min(most, count), size=size)
        parents: Floats = self._points[chosen]
        return parents

    def _crossed(self, parents: Floats) -> Floats:
        """Uniform crossover of some with a second parent."""
        if self.settings.crossover == 0:
            return parents
        others = self._selected(len(parents))
        both = self._rng.random((len(parents), 1)) < self.settings.crossover
        return np.where(both & (self._rng.random(parents.shape) < 0.5), others, parents)

    def _mutated(self, points: Floats) -> Floats:
        change = self._step * self._rng.standard_normal(points.shape)
        if self.settings.mutation == "per-gene":
            draws = self._rng.random(points.shape)
            change *= (draws < self.settings.rate) | (np.arange(points.shape[1]) == draws.argmin(axis=1)[:, None])
        return reflected(points + change)

    def _learn(self, unit: Floats, values: Floats) -> None:
        elite = self.settings.elite
        points = np.concatenate([self._points[:elite], unit])
        both = np.concatenate([self._values[:elite], values])
        order = np.argsort(both, kind="stable")
        order = order[np.isfinite(both[order])]
        self._points, self._values = points[order], both[order]
        self._step *= self.settings.cooling

    def _centre(self) -> Floats:
        if not len(self._points):
            return self._seed
        most = max(1, round(self.settings.survivors * self.settings.population))
        centre: Floats = self._points[:most].mean(axis=0)
        return centre

    def _numbers(self) -> dict[str, float]:
        return {"step": self._step}
