"""Searchers: CMA-ES, an evolution strategy and a genetic algorithm behind one ask/tell interface.

    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    while not searcher.finished:
        candidates = searcher.ask()                     # (N, k), in SI units, within the bounds
        searcher.tell([cost(c) for c in candidates])    # (N,), smaller is better; nan for one that failed
    searcher.best.candidate, searcher.best.value

A searcher is a pure function of its space, its settings, its generator and the values passed to `tell`: a checkpoint
(`nutmeg.search.run`) restores one by passing the same values to a new one. Calling `ask` again before `tell` returns
the same candidates. A configuration file chooses a searcher by `search.run`. Searchers that work with residuals
are in `search.least_squares` and `search.response_fit`.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounds, above, at_least, check_bounds
from nutmeg.search.space import Space, reflected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import DataclassInstance

    from nutmeg.base.arrays import Bools, Ints


MAX_GENERATIONS_WITHOUT_VALUES = 20
"""A search ends after this many generations in a row in which every candidate failed."""


@dataclass(frozen=True)
class Best:
    """The best candidate so far."""

    candidate: Floats
    """Its parameters, (k,), in SI units."""
    value: float
    """Its value; infinite until a candidate has succeeded (the candidate is the start until then)."""


class Searcher(ABC):
    """Looks for the candidate with the smallest value, generation by generation.

    It keeps the candidates that were asked for, the best one and counts, and handles failures. An algorithm supplies
    `_propose`, `_learn` and `_centre`, all in the unit cube.
    """

    algorithm: str
    """The name of the algorithm, as in checkpoints."""
    uses_residuals = False
    """Whether the searched function must give residuals (N, rows) instead of values (N,)."""

    def __init__(self, space: Space, settings: DataclassInstance, rng: np.random.Generator) -> None:
        self._space, self._settings, self._rng = space, settings, rng
        self._asked: Floats | None = None
        self._digest: Floats | None = None
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
        """Centre of the search in the unit cube, (k,)."""

    def _numbers(self) -> dict[str, float]:
        """The algorithm's own part of `state`."""
        return {}

    def _all_failed(self) -> None:  # noqa: B027 (most have nothing to do)
        """Called when every candidate of a generation failed; most algorithms need not react and draw new ones."""

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._space

    def ask(self) -> Floats:
        """The next candidates to evaluate, (N, k), in SI units; N may differ from generation to generation."""
        if self.finished:
            raise UsageError(f"the search has ended ({self.finished}); start another for more candidates.")
        if self._asked is None:
            self._asked = self._propose()
        return self._space.values(self._asked)

    def condense(self, found: Floats) -> tuple[Floats, Floats | None]:
        """Splits the result of the function for the last candidates into values (N,) and a digest for `tell`.

        The digest is kept in checkpoints, so it must be small; it is None for searchers that need values only.
        """
        return found, None

    @property
    def needs(self) -> frozenset[int]:
        """Numbers of past generations whose residuals it must be given again (`recall`) to go on from a checkpoint."""
        return frozenset()

    def recall(self, found: Mapping[int, Floats]) -> None:  # noqa: B027 (most need nothing)
        """Takes what a function found for the candidates of the generations that it needs, (N, rows) each."""

    def tell(self, values: ArrayLike, digest: Floats | None = None) -> None:
        """Takes the values of the candidates that were asked for, (N,); nan and infinities mean failed.

        Args:
            values: the value of each candidate.
            digest: the second part of `condense`, for searchers that use residuals.
        """
        if self._asked is None:
            raise UsageError("tell() needs candidates that were asked for: call ask() first.")
        costs = np.array(values, float)
        if costs.shape != (len(self._asked),):
            raise UsageError(f"the told values have the shape {costs.shape}; needed is ({len(self._asked)},).")
        unit, self._asked, self._digest = self._asked, None, digest
        failed = ~np.isfinite(costs)
        costs[failed] = np.inf
        self._generation += 1
        self._evaluations += len(costs)
        self._failures += int(failed.sum())
        if failed.all():  # it has no direction: learning from it would be a random walk
            self._barren += 1
            if self._barren >= MAX_GENERATIONS_WITHOUT_VALUES:
                self._ended = f"every candidate of {MAX_GENERATIONS_WITHOUT_VALUES} generations in a row failed"
            self._all_failed()
            return
        self._barren = 0
        first = int(np.argmin(costs))
        if costs[first] < self._best.value:
            self._best = Best(self._space.values(unit[first]), float(costs[first]))
        self._learn(unit, costs)

    @property
    def best(self) -> Best:
        """The best candidate so far."""
        return self._best

    @property
    def mean(self) -> Floats:
        """Centre of the search, (k,), in SI units; under noise a better answer than the best candidate."""
        return self._space.values(self._centre())

    @property
    def estimate(self) -> Floats:
        """The answer of the search, (k,), in SI units: the best candidate, or the algorithm's own estimate."""
        return self._best.candidate

    @property
    def method(self) -> str:
        """A description of the search in words, for reports."""
        return self.algorithm

    @property
    def finished(self) -> str:
        """The reason why the search has ended; empty while it goes on."""
        return self._ended

    @property
    def state(self) -> dict[str, float]:
        """Generations, evaluations, failures, and the algorithm's own numbers, for histories and plots."""
        counts = {"generation": self._generation, "evaluations": self._evaluations, "failures": self._failures}
        return {**counts, **self._numbers()}

    @property
    def description(self) -> dict[str, object]:
        """The algorithm and its settings, as a checkpoint records them."""
        return {"algorithm": self.algorithm, **dataclasses.asdict(self._settings)}


# ----------------------------------------------------------------------------------------------------
# CMA-ES: the covariance matrix adaptation evolution strategy, with restarts.
#
# The strategy itself is pycma (Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772). Around it: the unit
# cube as its bounds, a generator of its own (pycma would seed NumPy's global one), failed candidates, and restarts
# anywhere in the space when a run has converged or stalls: IPOP doubles the population each time (Auger and Hansen,
# CEC 2005); BIPOP alternates it with runs of small populations and steps (Hansen, GECCO 2009).


@dataclass(frozen=True, kw_only=True)
class CmaEsSettings:
    """Settings of populations, steps, restarts and end of CMA-ES."""

    population: Annotated[int, at_least(4)] | None = None
    """lambda: number of candidates in a generation; None for 4 + 3 ln k, rounded down."""
    step: Annotated[float, above(0, up_to=1 / 3)] = 0.25
    """sigma: the first standard deviation, as a fraction of each parameter's range; pycma limits later ones too."""
    restarts: Annotated[int, at_least(0)] = 0
    """Largest number of restarts."""
    scheme: Literal["ipop", "bipop"] = "ipop"
    """Whether populations only grow from run to run, or large and small ones alternate."""
    growth: Annotated[float, at_least(1)] = 2.0
    """Factor by which the population grows from restart to restart (large ones, in BIPOP)."""
    value_tolerance: Annotated[float, at_least(0)] = 1e-12
    """A run ends when values differ by less."""
    step_tolerance: Annotated[float, at_least(0)] = 1e-11
    """A run ends when its steps are smaller, as fractions of the ranges."""

    def __post_init__(self) -> None:
        check_bounds(self)


class CmaEs(Searcher):
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
        import cma  # here, because it loads matplotlib

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


# ----------------------------------------------------------------------------------------------------
# The evolution strategy with a limited lifetime: (mu + lambda)-ES in which no parent lives longer than kappa.
#
# Schwefel and Rudolph, Contemporary Evolution Strategies (ECAL 1995), call it the (mu, kappa, lambda, rho)-ES: kappa
# = 1 is the comma strategy, kappa without end the plus strategy. Step sizes adapt themselves by log-normal mutation
# (Schwefel 1977; Beyer and Schwefel, Evolution strategies, Natural Computing 1, 2002, section 4.3). The MoToFlex
# servo and gear parameters were fitted with a (10 + 800)-ES and kappa = 3; those are the defaults.
#
# Candidates that leave the unit cube are folded back at its walls.


Mixing = Literal["intermediate", "discrete", "none"]


@dataclass(frozen=True, kw_only=True)
class EvolutionStrategySettings:
    """Settings of selection, recombination and mutation."""

    parents: Annotated[int, at_least(1)] = 10
    """mu: number of candidates that survive a generation."""
    children: int = 800
    """lambda: number of candidates in a generation."""
    lifetime: Annotated[int, at_least(1)] | None = 3
    """kappa: largest number of generations for which a candidate is a parent; None for the plus strategy, no limit."""
    mixed: Annotated[int, at_least(1)] | None = 2
    """rho: number of parents of which a child is mixed, at most all of them; None for all."""
    mixing: Mixing = "intermediate"
    """Recombination: a child has the mean of its parents, each parameter from one of them, or is a copy of one."""
    step: Annotated[float, above(0, up_to=1)] = 0.2
    """The first step size, as a fraction of each parameter's range."""
    smallest_step: Annotated[float, above(0)] = 1e-9
    """Step sizes do not shrink below this fraction of the range; when their mean is there, the search ends."""
    first: Literal["start", "anywhere"] = "start"
    """Whether the first candidates lie around the start of the space or anywhere in it."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.parents > self.children:
            raise ValueError(
                f"{self.parents} parents and {self.children} children; needed are at least as many children, "
                "or there would be nothing to select."
            )
        if self.smallest_step >= self.step:
            raise ValueError(f"smallest_step is {self.smallest_step:g}; needed is less than the step, {self.step:g}.")


@dataclass(frozen=True)
class _Individuals:
    """Candidates with their self-adapted step sizes."""

    points: Floats
    """In the unit cube, (n, k)."""
    steps: Floats
    """A step size for each parameter, (n, k)."""
    values: Floats
    """Their values, (n,)."""
    ages: Ints
    """Number of generations for which they have been parents, (n,)."""

    def __getitem__(self, rows: Ints | Bools) -> _Individuals:
        return _Individuals(self.points[rows], self.steps[rows], self.values[rows], self.ages[rows])

    def __add__(self, other: _Individuals) -> _Individuals:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Individuals(*(np.concatenate(pair) for pair in pairs))


class EvolutionStrategy(Searcher):
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
        """Number of generations for which each present parent has been one."""
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


# ----------------------------------------------------------------------------------------------------
# The genetic algorithm of Back to Reality: mutants of a seed solution, selected, mutated again.
#
# Steps 1 and 3 of Zagal, Delpiano and Ruiz-del-Solar, Self-modeling in humanoid soccer robots (Robotics and
# Autonomous Systems 57, 2009) search controllers and simulations with it: the first population is made of mutants of
# the best solution known, so that each call goes on from the one before. For the ant they used 11 generations of 20
# (controllers) and of 15 (simulations), with a mutation probability for each gene; for the Nao 20 with Gaussian
# mutation. The paper does not give selection and elitism; both are settings here.
#
# The elite keeps its place with the values it has; a generation always evaluates `population` new candidates.


@dataclass(frozen=True, kw_only=True)
class GeneticSettings:
    """Settings of population, selection and mutation."""

    population: Annotated[int, at_least(2)] = 20
    """M: number of candidates in a generation."""
    elite: Annotated[int, at_least(0)] = 1
    """Number of best candidates so far that stay among the possible parents."""
    selection: Literal["truncation", "tournament"] = "truncation"
    """Whether parents are the best of all, drawn evenly, or winners of small contests."""
    survivors: Annotated[float, above(0, up_to=1)] = 0.25
    """Truncation: the fraction of the population that become parents."""
    contest: Annotated[int, at_least(1)] = 3
    """Tournament: number of candidates drawn for each contest."""
    crossover: Annotated[float, Bounds(0, 1)] = 0.0
    """The probability that a child takes each gene from either of two parents."""
    mutation: Literal["gaussian", "per-gene"] = "gaussian"
    """Whether every gene is mutated, or each with the probability `rate` (and at least one)."""
    rate: Annotated[float, above(0, up_to=1)] = 0.3
    """p_m: the probability of a gene to mutate, for `per-gene`."""
    step: Annotated[float, above(0, up_to=1)] = 0.1
    """The standard deviation of a mutation, as a fraction of the parameter's range."""
    cooling: Annotated[float, above(0, up_to=1)] = 1.0
    """Factor on the step after every generation; 1 keeps it."""
    first: Literal["seed", "anywhere"] = "seed"
    """Whether the first population are mutants of the space's start (and it itself) or anywhere."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.elite > self.population:
            raise ValueError(f"elite is {self.elite}; allowed is up to the population, {self.population}.")


class Genetic(Searcher):
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
