"""CMA-ES: the covariance matrix adaptation evolution strategy, with restarts.

The strategy itself is pycma (Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772). Around it: the
unit cube as its bounds, a generator of its own (pycma would seed NumPy's global one), failed candidates, and
restarts anywhere in the space when a run has converged or stalls: IPOP doubles the population each time (Auger
and Hansen, CEC 2005); BIPOP alternates it with runs of small populations and steps (Hansen, GECCO 2009).

    settings = CmaEsSettings(restarts=4)
    searcher = CmaEs(space, settings, np.random.default_rng(7))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.search.searcher import GenerationSearch
from nutmeg.search.space import Space


@dataclass(frozen=True, kw_only=True)
class CmaEsSettings:
    """How the strategy starts, when it ends, and how it starts again."""

    population: int | None = None
    """lambda: how many candidates a generation has; None for 4 + 3 ln k, rounded down."""
    step: float = 0.25
    """sigma: the first standard deviation, as a fraction of each parameter's range."""
    restarts: int = 0
    """How many runs may follow the first."""
    scheme: Literal["ipop", "bipop"] = "ipop"
    """Whether populations only grow from run to run, or large and small ones alternate."""
    growth: float = 2.0
    """By how much the population grows from restart to restart (large ones, in BIPOP)."""
    value_tolerance: float = 1e-12
    """A run ends when values differ by less."""
    step_tolerance: float = 1e-11
    """A run ends when its steps are smaller, as fractions of the ranges."""

    def __post_init__(self) -> None:
        if self.population is not None and self.population < 4:
            raise ValueError(f"the population is {self.population}; allowed is 4 or more.")
        if not 0 < self.step <= 1 / 3:  # pycma itself limits later steps so
            raise ValueError(f"the step is {self.step:g}; allowed is above 0 and up to a third of the range.")
        if self.restarts < 0 or self.growth < 1:
            raise ValueError(
                f"{self.restarts} restarts with growth {self.growth:g}; allowed are 0 or more, and 1 or more."
            )
        if self.value_tolerance < 0 or self.step_tolerance < 0:
            raise ValueError(
                f"the tolerances are {self.value_tolerance:g} and {self.step_tolerance:g}; allowed is 0 or more."
            )


class CmaEs(GenerationSearch):
    """CMA-ES in the unit cube."""

    algorithm = "cma-es"

    def __init__(self, space: Space, settings: CmaEsSettings, rng: np.random.Generator) -> None:
        super().__init__(space, settings, rng)
        self.settings = settings
        self._population = settings.population or 4 + int(3 * math.log(space.size))
        self._restarts = self._large_runs = 0
        self._spent = {"large": 0, "small": 0}
        """Evaluations in runs of each regime of BIPOP."""
        self._regime: Literal["large", "small"] = "large"
        self._most = math.inf
        """Evaluations after which the present run ends in any case."""
        self._points: list[Floats] = []
        self._run = self._new_run(space.unit(space.start), self._population, settings.step)

    def _new_run(self, start: Floats, population: int, step: float) -> Any:  # noqa: ANN401 (pycma has no types)
        import cma  # it brings matplotlib along: only those who search with it wait for that

        options = {
            "bounds": [0, 1],
            "popsize": population,
            "randn": lambda rows, columns: self._rng.standard_normal((rows, columns)),
            "seed": np.nan,  # leave NumPy's global generator alone
            "tolfun": self.settings.value_tolerance,
            "tolfunhist": self.settings.value_tolerance,
            "tolx": self.settings.step_tolerance,
            "signals_filename": "",
            "verbose": -10,
        }
        if self.space.size == 1:  # pycma 4.5 cannot limit the step of a single parameter (a ValueError inside)
            options["maxstd"] = np.inf
        return cma.CMAEvolutionStrategy(start, step, options)

    def _propose(self) -> Floats:
        self._points = self._run.ask()
        return np.clip(self._points, 0.0, 1.0)

    def _learn(self, unit: Floats, values: Floats) -> None:  # noqa: ARG002 (pycma wants its own points back)
        self._run.tell(self._points, _ranked(values).tolist())
        self._spent[self._regime] += len(values)
        reasons = self._run.stop()
        if self._run.countevals >= self._most:
            reasons = {"budget of a small run": self._most}
        if not reasons:
            return
        if self._restarts < self.settings.restarts:
            self._restart()
        else:
            self._ended = "CMA-ES: " + ", ".join(f"{name} {limit}" for name, limit in reasons.items())

    def _restart(self) -> None:
        self._restarts += 1
        population, step = self._next_size()
        self._run = self._new_run(self._rng.random(self.space.size), population, step)

    def _next_size(self) -> tuple[int, float]:
        """Population and first step of the next run."""
        settings = self.settings
        largest = self._population * settings.growth**self._large_runs
        if settings.scheme == "bipop" and self._large_runs and self._spent["small"] < self._spent["large"]:
            # Hansen 2009, section 2: lambda_s = lambda (lambda_l / 2 lambda)^(U^2), sigma_s = sigma 10^(-2 U).
            ratio = max(0.5 * largest / self._population, 1.0)
            self._regime, self._most = "small", self._spent["large"] / 2
            population = int(self._population * ratio ** (self._rng.random() ** 2))
            return population, settings.step * 10 ** (-2 * self._rng.random())
        self._large_runs += 1
        self._regime, self._most = "large", math.inf
        return round(self._population * settings.growth**self._large_runs), settings.step

    def _centre(self) -> Floats:
        favourite: Floats = np.asarray(self._run.result.xfavorite, float)
        return np.clip(favourite, 0.0, 1.0)

    def _numbers(self) -> dict[str, float]:
        return {
            "step": float(np.exp(np.log(self._run.stds).mean())),
            "condition": float(self._run.condition_number),
            "population": int(self._run.popsize),
            "restarts": self._restarts,
        }


def _ranked(values: Floats) -> Floats:
    """The values with failed ones (inf) just worse than the worst: only their order counts for CMA-ES."""
    finite = values[np.isfinite(values)]
    best, worst = float(finite.min()), float(finite.max())
    margin = max(worst - best, abs(worst) * 1e-3, 1e-300)
    return np.where(np.isfinite(values), values, min(worst + margin, float(np.finfo(float).max)))
