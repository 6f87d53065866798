"""The evolution strategy with a limited lifetime: (mu + lambda)-ES in which no parent lives longer than kappa.

Schwefel and Rudolph, Contemporary Evolution Strategies (ECAL 1995), call it the (mu, kappa, lambda, rho)-ES:
kappa = 1 is the comma strategy, kappa without end the plus strategy. Step sizes adapt themselves by log-normal
mutation (Schwefel 1977; Beyer and Schwefel, Evolution strategies, Natural Computing 1, 2002, section 4.3). The
MoToFlex servo and gear parameters were fitted with a (10 + 800)-ES and kappa = 3; those are the defaults.

    settings = EvolutionStrategySettings(parents=5, children=35)
    searcher = EvolutionStrategy(space, settings, np.random.default_rng(7))

Candidates that leave the unit cube are folded back at its walls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.search.searcher import GenerationSearch
from nutmeg.search.space import Space, reflected

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Ints

Mixing = Literal["intermediate", "discrete", "none"]


@dataclass(frozen=True, kw_only=True)
class EvolutionStrategySettings:
    """How the strategy selects, recombines and mutates."""

    parents: int = 10
    """mu: how many survive a generation."""
    children: int = 800
    """lambda: how many candidates a generation has."""
    lifetime: int | None = 3
    """kappa: for how many generations one can be a parent; None for the plus strategy, without end."""
    mixed: int | None = 2
    """rho: of how many parents a child is mixed, if there are so many; None for all of them."""
    mixing: Mixing = "intermediate"
    """How a child's parameters come from its parents': their mean, each from one of them, or a copy of one."""
    step: float = 0.2
    """The first step size, as a fraction of each parameter's range."""
    smallest_step: float = 1e-9
    """Step sizes do not shrink below this fraction of the range; when their mean is there, the search ends."""
    first: Literal["start", "anywhere"] = "start"
    """Whether the first candidates lie around the start of the space or anywhere in it."""

    def __post_init__(self) -> None:
        if not 1 <= self.parents <= self.children:
            raise ValueError(
                f"{self.parents} parents and {self.children} children; needed are 1 <= parents <= children, "
                "or there would be nothing to select."
            )
        if self.lifetime is not None and self.lifetime < 1:
            raise ValueError(f"the lifetime is {self.lifetime}; allowed is 1 (comma strategy) or more.")
        if self.mixed is not None and self.mixed < 1:
            raise ValueError(f"a child is mixed of {self.mixed} parents; allowed is 1 or more.")
        if not 0 < self.smallest_step < self.step <= 1:
            raise ValueError(
                f"the step is {self.step:g}, the smallest {self.smallest_step:g}; needed is 0 < smallest < step <= 1."
            )


@dataclass(frozen=True)
class _Individuals:
    """Some candidates with what they have learned about step sizes."""

    points: Floats
    """In the unit cube, (n, k)."""
    steps: Floats
    """A step size for each parameter, (n, k)."""
    values: Floats
    """What they are worth, (n,)."""
    ages: Ints
    """For how many generations they have been parents, (n,)."""

    def __getitem__(self, rows: Ints | Bools) -> _Individuals:
        return _Individuals(self.points[rows], self.steps[rows], self.values[rows], self.ages[rows])

    def __add__(self, other: _Individuals) -> _Individuals:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Individuals(*(np.concatenate(pair) for pair in pairs))


class EvolutionStrategy(GenerationSearch):
    """(mu + lambda)-ES with lifetime kappa and self-adaptive step sizes."""

    algorithm = "evolution-strategy"

    def __init__(self, space: Space, settings: EvolutionStrategySettings, rng: np.random.Generator) -> None:
        super().__init__(space, settings, rng)
        self.settings = settings
        self._start = space.unit(space.start)
        self._parents: _Individuals | None = None
        self._steps = np.empty((0, space.size))

    @property
    def ages(self) -> tuple[int, ...]:
        """For how many generations each present parent has been one."""
        return () if self._parents is None else tuple(self._parents.ages.tolist())

    def _propose(self) -> Floats:
        size, k = self.settings.children, self.space.size
        if self._parents is None and self.settings.first == "anywhere":
            self._steps = np.full((size, k), self.settings.step)
            return self._rng.random((size, k))
        centres, steps = self._recombined(size)
        # Learning rates of Schwefel: tau' = 1 / sqrt(2 k), common to all; tau = 1 / sqrt(2 sqrt k), for each parameter.
        common = self._rng.standard_normal((size, 1)) / math.sqrt(2 * k)
        own = self._rng.standard_normal((size, k)) / math.sqrt(2 * math.sqrt(k))
        self._steps = np.clip(steps * np.exp(common + own), self.settings.smallest_step, 1.0)
        children = reflected(centres + self._steps * self._rng.standard_normal((size, k)))
        if self._parents is None:
            children[0] = self._start  # the start itself is worth knowing
        return children

    def _recombined(self, size: int) -> tuple[Floats, Floats]:
        """Points and step sizes before mutation, (size, k) each."""
        if self._parents is None:
            return np.tile(self._start, (size, 1)), np.full((size, self.space.size), self.settings.step)
        mu = len(self._parents.values)
        rho = 1 if self.settings.mixing == "none" else min(self.settings.mixed or mu, mu)
        # rho different parents for each child: the first rho of a random order.
        chosen = np.argsort(self._rng.random((size, mu)), axis=1)[:, :rho]
        # Step sizes always as geometric means: they are ratios, and mutate as such.
        steps = np.exp(np.log(self._parents.steps)[chosen].mean(axis=1))
        if self.settings.mixing == "discrete":
            giver = np.take_along_axis(chosen, self._rng.integers(rho, size=(size, self.space.size)), axis=1)
            return np.take_along_axis(self._parents.points, giver, axis=0), steps
        return self._parents.points[chosen].mean(axis=1), steps

    def _learn(self, unit: Floats, values: Floats) -> None:
        pool = _Individuals(unit, self._steps, values, np.zeros(len(values), np.int64))
        if self._parents is not None:
            kappa = self.settings.lifetime
            alive = self._parents if kappa is None else self._parents[self._parents.ages < kappa]
            pool = pool + alive
        pool = pool[np.isfinite(pool.values)]
        # A stable sort with children first: of equals the younger survives.
        chosen = pool[np.argsort(pool.values, kind="stable")[: self.settings.parents]]
        self._parents = _Individuals(chosen.points, chosen.steps, chosen.values, chosen.ages + 1)
        if self._numbers()["step"] < 2 * self.settings.smallest_step:
            self._ended = f"the step sizes are down to the smallest, {self.settings.smallest_step:g} of the range"

    def _centre(self) -> Floats:
        return self._start if self._parents is None else self._parents.points.mean(axis=0)

    def _numbers(self) -> dict[str, float]:
        if self._parents is None:
            return {"step": self.settings.step, "oldest": 0}
        return {
            "step": float(np.exp(np.log(self._parents.steps).mean())),
            "oldest": int(self._parents.ages.max()),
        }
