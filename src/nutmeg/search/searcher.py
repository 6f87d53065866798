"""One interface for all searchers: ask for candidates, tell what they are worth.

    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    while not searcher.finished:
        candidates = searcher.ask()                     # (N, k), in SI units, within the bounds
        searcher.tell([cost(c) for c in candidates])    # (N,), smaller is better; nan for one that failed
    searcher.best.candidate, searcher.best.value

A searcher is a pure function of its space, its settings, its generator and the values it was told: that is
what makes `checkpoint` able to restore it. Asking again before telling gives the same candidates again.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.errors import UsageError
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MOST_BARREN = 20
"""A search ends after so many generations in a row in which every candidate failed."""


@dataclass(frozen=True)
class Best:
    """The best candidate so far."""

    candidate: Floats
    """Its parameters, (k,), in SI units."""
    value: float
    """What it is worth; infinite until a candidate has succeeded (the candidate is the start until then)."""


class Searcher(Protocol):
    """Looks for the candidate of the smallest value."""

    @property
    def space(self) -> Space:
        """The space that is searched."""

    def ask(self) -> Floats:
        """The next candidates to evaluate, (N, k), in SI units; N may differ from generation to generation."""

    def tell(self, values: ArrayLike) -> None:
        """What the candidates asked for are worth, (N,); nan and infinities mean failed, the worst there is."""

    @property
    def best(self) -> Best:
        """The best candidate told so far."""

    @property
    def mean(self) -> Floats:
        """Where the search now stands, (k,), in SI units; under noise a better answer than the best."""

    @property
    def finished(self) -> str:
        """Why the search has nothing more to ask; empty while it has."""

    @property
    def state(self) -> Mapping[str, float]:
        """Numbers that say how the search is getting on, for histories and plots."""

    @property
    def description(self) -> Mapping[str, object]:
        """The algorithm and its settings, as a checkpoint records them."""


class GenerationSearch(ABC):
    """What all searchers here share: candidates that are out, the best, counts, and the treatment of failures.

    An algorithm supplies `_propose`, `_learn` and `_centre`, all in the unit cube.
    """

    algorithm: str
    """The name of the algorithm, as in checkpoints."""

    def __init__(self, space: Space, settings: DataclassInstance, rng: np.random.Generator) -> None:
        self._space, self._settings, self._rng = space, settings, rng
        self._asked: Floats | None = None
        self._best = Best(space.start.copy(), float("inf"))
        self._generation = self._evaluations = self._failures = self._barren = 0
        self._ended = ""

    @abstractmethod
    def _propose(self) -> Floats:
        """The next candidates, (N, k), in the unit cube."""

    @abstractmethod
    def _learn(self, unit: Floats, values: Floats) -> None:
        """Takes in the values, (N,), of the candidates, (N, k); failed ones are inf, and at least one is finite."""

    @abstractmethod
    def _centre(self) -> Floats:
        """Where the search stands in the unit cube, (k,)."""

    def _numbers(self) -> dict[str, float]:
        """The algorithm's own part of `state`."""
        return {}

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._space

    def ask(self) -> Floats:
        """The next candidates, (N, k), in SI units."""
        if self.finished:
            raise UsageError(f"the search has ended ({self.finished}); start another for more candidates.")
        if self._asked is None:
            self._asked = self._propose()
        return self._space.values(self._asked)

    def tell(self, values: ArrayLike) -> None:
        """What the candidates asked for are worth, (N,); nan and infinities mean failed."""
        if self._asked is None:
            raise UsageError("values were told, but no candidates were asked for: call ask() first.")
        told = np.array(values, float)
        if told.shape != (len(self._asked),):
            raise UsageError(f"the told values have the shape {told.shape}; needed is ({len(self._asked)},).")
        unit, self._asked = self._asked, None
        failed = ~np.isfinite(told)
        told[failed] = np.inf
        self._generation += 1
        self._evaluations += len(told)
        self._failures += int(failed.sum())
        if failed.all():  # says nothing about where to go: learning from it would be a random walk
            self._barren += 1
            if self._barren >= MOST_BARREN:
                self._ended = f"every candidate of {MOST_BARREN} generations in a row failed"
            return
        self._barren = 0
        first = int(np.argmin(told))
        if told[first] < self._best.value:
            self._best = Best(self._space.values(unit[first]), float(told[first]))
        self._learn(unit, told)

    @property
    def best(self) -> Best:
        """The best candidate told so far."""
        return self._best

    @property
    def mean(self) -> Floats:
        """Where the search now stands, (k,), in SI units."""
        return self._space.values(self._centre())

    @property
    def finished(self) -> str:
        """Why the search has ended; empty while it goes on."""
        return self._ended

    @property
    def state(self) -> dict[str, float]:
        """Generations, evaluations, failures, and the algorithm's own numbers."""
        counts = {"generation": self._generation, "evaluations": self._evaluations, "failures": self._failures}
        return {**counts, **self._numbers()}

    @property
    def description(self) -> dict[str, object]:
        """The algorithm and its settings."""
        return {"algorithm": self.algorithm, **dataclasses.asdict(self._settings)}
