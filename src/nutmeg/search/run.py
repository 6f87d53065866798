"""A search from start to end: ask, evaluate, save, tell, until the budget is spent.

    space = Space({"x": Dimension(low=-5, high=5, start=3), "y": Dimension(low=-5, high=5, start=3)})
    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    cost = OneByOne(lambda candidate, rng: float(np.sum(candidate**2)))
    result = minimise(cost, searcher, InThisThread(), budget=500)
    space.named(result.best.candidate)        # {"x": 0.0000..., "y": 0.0000...}

With a folder, the search can be interrupted at any time (Ctrl-C, kill -9, a full disk); the same call with a new
searcher, made the same way, goes on where it stopped and ends with the same numbers. A larger budget
continues a search that had ended.

A configuration file chooses the searcher by name (`SearchSettings`):

    [search]
    algorithm = "cma-es"
    [search.cma_es]
    population = 12
    step = 0.2
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.journal import LinesFile
from nutmeg.base.settings import at_least, check_bounds
from nutmeg.search.evaluation import Evaluator, Failure, Function, Progress, candidate_seeds
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.losses import Loss
from nutmeg.search.response_fit import ResponseFit, ResponseFitSettings
from nutmeg.search.searchers import (
    Best,
    CmaEs,
    CmaEsSettings,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    Searcher,
)

if TYPE_CHECKING:
    from nutmeg.search.space import Space

# ----------------------------------------------------------------------------------------------------
# A search that survives being interrupted: every evaluated generation is a line of JSON in `search.jsonl`.
#
# A searcher is a pure function of its settings, its generator and the values passed to `tell`. So its state need not be
# stored: a new searcher, made the same way, gets the same values again, and goes on as if it had never stopped.
#
# The first line says what is searched and how; another space, algorithm or setting is refused. Each line is forced to
# the disk before the search goes on; one that a crash cut short is left out, and its generation done again. A failed
# candidate's value is `null`. Only one run at a time may write a checkpoint.


CHECKPOINT_FILE = "search.jsonl"
CHECKPOINT_FORMAT = 1


@dataclass(frozen=True)
class EvaluatedGeneration:
    """A generation as a checkpoint keeps it: the candidates and their values."""

    number: int
    """Counted from 0."""
    candidates: Floats
    """(N, k), in SI units."""
    values: Floats
    """(N,), nan for failed ones."""
    failures: tuple[Failure, ...] = ()
    digest: Floats | None = None
    """Further data for `Searcher.tell` (see `Searcher.condense`)."""


class Checkpoint:
    """The file of a search in a folder, new or continued.

    Args:
        folder: made if it is not there.
        searcher: one that has not been asked yet.
        seed: seed of the candidates' random generators.
    """

    def __init__(self, folder: Path, searcher: Searcher, *, seed: int) -> None:
        if searcher.state["generation"]:
            raise UsageError("the searcher has been used already; a checkpoint needs a new one, made the same way.")
        head = {
            "format": CHECKPOINT_FORMAT,
            "space": searcher.space.description(),
            "searcher": dict(searcher.description),
            "seed": seed,
        }
        self.path = folder / CHECKPOINT_FILE
        self._file = LinesFile(self.path, head, what="search")
        try:
            self.generations = _generations(self._file.lines, self.path, searcher.space.size)
            """The generations that were in the file when it was opened."""
        except FileError:
            self._file.close()
            raise

    def append(self, evaluated: EvaluatedGeneration) -> None:
        """Adds a generation; it is on the disk when this returns, or the file is as it was before."""
        values = [value if np.isfinite(value) else None for value in evaluated.values.tolist()]
        line: dict[str, object] = {
            "generation": evaluated.number,
            "candidates": evaluated.candidates.tolist(),
            "values": values,
        }
        if evaluated.failures:
            line["failures"] = [{"index": f.index, "reason": f.reason} for f in evaluated.failures]
        if evaluated.digest is not None:
            line["digest"] = evaluated.digest.tolist()
        self._file.append(line, problem="the generation could not be saved")

    def close(self) -> None:
        """Releases the file for other runs."""
        self._file.close()


def replay(searcher: Searcher, evaluated: EvaluatedGeneration, path: Path) -> None:
    """Tells a searcher a stored generation; an error if it asks for other candidates than were stored."""
    asked = searcher.ask()
    if not np.array_equal(asked, evaluated.candidates):
        raise FileError(
            path,
            f"generation {evaluated.number} has other candidates than this search asks for: it was made with another "
            "seed, or another version of the software or machine. Use the same, or another folder.",
            line=evaluated.number + 2,
        )
    searcher.tell(evaluated.values, evaluated.digest)


def _generations(lines: list[dict[str, Any]], path: Path, size: int) -> tuple[EvaluatedGeneration, ...]:
    found = []
    for number, line in enumerate(lines):
        try:
            candidates = np.array(line["candidates"], float)
            values = np.array([np.nan if value is None else value for value in line["values"]], float)
            failures = tuple(Failure(int(f["index"]), str(f["reason"])) for f in line.get("failures", ()))
            digest = np.array(line["digest"], float) if "digest" in line else None
            right = line["generation"] == number and candidates.shape == (len(values), size)
        except (KeyError, ValueError, TypeError):
            right = False
        if not right:
            raise FileError(path, f"is not generation {number} of a search with {size} parameters.", line=number + 2)
        found.append(EvaluatedGeneration(number, candidates, values, failures, digest))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of a search; it ends at the first one that it reaches, or when the searcher has finished."""

    evaluations: Annotated[int, at_least(1)] | None = None
    """Largest number of candidates; a generation that would exceed it is not begun."""
    generations: Annotated[int, at_least(1)] | None = None
    """Largest number of generations."""
    target: float | None = None
    """The search ends when a candidate has this value or a smaller one."""

    def __post_init__(self) -> None:
        if all(limit is None for limit in (self.evaluations, self.generations, self.target)):
            raise ValueError("the budget has no limit; give evaluations, generations or a target.")
        check_bounds(self)

    def spent(self, searcher: Searcher, next_size: int) -> str:
        """The reason why a generation of `next_size` candidates may not begin; empty if it may."""
        evaluations, generations = int(searcher.state["evaluations"]), int(searcher.state["generation"])
        if self.target is not None and searcher.best.value <= self.target:
            return f"the target {self.target:g} is reached"
        if self.generations is not None and generations >= self.generations:
            return f"{generations} generations are done"
        if self.evaluations is not None and evaluations + next_size > self.evaluations:
            return f"{evaluations} of {self.evaluations} evaluations are done"
        return ""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A generation, and the state of the search after it."""

    number: int
    """Counted from 0."""
    candidates: Floats
    """(N, k), in SI units."""
    values: Floats
    """(N,), nan for failed ones."""
    failures: tuple[Failure, ...]
    evaluations: int
    """Number of candidates evaluated up to here."""
    best: Best
    """The best up to here."""
    mean: Floats
    """Centre of the search after it, (k,), in SI units."""
    state: Mapping[str, float]
    """The searcher's own numbers after it."""
    replayed: bool
    """Whether it was read from a checkpoint, not evaluated now."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The result of a search."""

    best: Best
    estimate: Floats
    """The answer, (k,), in SI units: the best candidate, or the algorithm's own estimate."""
    mean: Floats
    """Centre of the search at the end, (k,), in SI units; under noise a better answer than the best candidate."""
    history: tuple[Generation, ...]
    evaluations: int
    failures: int
    """Number of candidates that failed."""
    reason: str
    """The reason why the search ended."""
    method: str
    """A description of the search in words."""


def minimise(
    function: Function,
    searcher: Searcher,
    evaluator: Evaluator,
    *,
    budget: Budget | int,
    seed: int = 0,
    folder: Path | None = None,
    on_generation: Callable[[Generation], None] | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Looks for the candidate with the smallest value of a function.

    Args:
        function: gives values (n,) of candidates (n, k), or residuals (n, rows) to a searcher that uses them; see
            `evaluation`.
        searcher: a new one, made for the space that is searched.
        evaluator: computes the function; it is not closed.
        budget: when to end; a number means evaluations.
        seed: seed of the generators with which candidates are evaluated.
        folder: folder in which every generation is saved, and from which an interrupted search goes on.
        on_generation: called after every generation, replayed ones included.
        progress: called while a generation is evaluated, with the candidates done and all.
    """
    limit = Budget(evaluations=budget) if isinstance(budget, int) else budget
    history: list[Generation] = []

    def note(evaluated: EvaluatedGeneration, *, replayed: bool) -> None:
        history.append(_generation(evaluated, searcher, replayed=replayed))
        if on_generation:
            on_generation(history[-1])

    with contextlib.ExitStack() as stack:
        checkpoint = None
        if folder is not None:
            checkpoint = stack.enter_context(contextlib.closing(Checkpoint(folder, searcher, seed=seed)))
            for evaluated in checkpoint.generations:
                replay(searcher, evaluated, checkpoint.path)
                note(evaluated, replayed=True)
            if checkpoint.generations and not _ended(searcher, limit):
                _recall(function, searcher, evaluator, seed, checkpoint.generations)
        while not (reason := _ended(searcher, limit)):
            evaluated = _evaluated(function, searcher, evaluator, seed, progress)
            if checkpoint:
                checkpoint.append(evaluated)
            searcher.tell(evaluated.values, evaluated.digest)
            note(evaluated, replayed=False)
    return SearchResult(
        best=searcher.best,
        estimate=searcher.estimate,
        mean=searcher.mean,
        history=tuple(history),
        evaluations=int(searcher.state["evaluations"]),
        failures=int(searcher.state["failures"]),
        reason=reason,
        method=searcher.method,
    )


def _ended(searcher: Searcher, budget: Budget) -> str:
    """The reason why no further generation is evaluated; empty if one is."""
    if searcher.finished:
        return searcher.finished
    size = len(searcher.ask())
    reason = budget.spent(searcher, size)
    if budget.evaluations is not None and size > budget.evaluations:
        raise UsageError(
            f"the budget of {budget.evaluations} evaluations is smaller than the first generation of {size} "
            "candidates; raise it, or make the population smaller."
        )
    return reason


def _evaluated(
    function: Function, searcher: Searcher, evaluator: Evaluator, seed: int, progress: Progress | None
) -> EvaluatedGeneration:
    candidates, number = searcher.ask(), int(searcher.state["generation"])
    seeds = candidate_seeds(seed, number, len(candidates))
    evaluation = evaluator.evaluate(function, candidates, seeds, progress)
    values, digest = searcher.condense(evaluation.values)
    return EvaluatedGeneration(number, candidates, values, evaluation.failures, digest)


def _recall(
    function: Function,
    searcher: Searcher,
    evaluator: Evaluator,
    seed: int,
    generations: tuple[EvaluatedGeneration, ...],
) -> None:
    """Evaluates again what a searcher worked with in memory when it was interrupted."""
    found = {}
    for number in sorted(searcher.needs):
        candidates = generations[number].candidates
        found[number] = evaluator.evaluate(function, candidates, candidate_seeds(seed, number, len(candidates))).values
    searcher.recall(found)


def _generation(evaluated: EvaluatedGeneration, searcher: Searcher, *, replayed: bool) -> Generation:
    state = dict(searcher.state)
    return Generation(
        number=evaluated.number,
        candidates=evaluated.candidates,
        values=np.array(evaluated.values),
        failures=evaluated.failures,
        evaluations=int(state["evaluations"]),
        best=searcher.best,
        mean=searcher.mean,
        state=state,
        replayed=replayed,
    )


# Searchers of configuration files.


Algorithm = Literal["auto", "least-squares", "response-fit", "cma-es", "genetic", "evolution-strategy"]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The search table of a configuration file."""

    algorithm: Algorithm = "genetic"
    """Name of the searcher, whose table has its settings. `auto` is least squares where the value is made of residuals,
    else CMA-ES."""
    generations: Annotated[int, at_least(1)] = 11
    """Number of generations in an iteration."""
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
            space: the space that is searched.
            rng: random generator.
            loss: the loss that makes a value of residuals; None if the function gives values.
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
        """M: number of candidates in a generation; 0 where the searcher decides."""
        if self.algorithm == "genetic":
            return self.genetic.population
        if self.algorithm == "evolution-strategy":
            return self.evolution_strategy.children
        return self.cma_es.population or 0 if self.algorithm == "cma-es" else 0
