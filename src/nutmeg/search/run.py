"""A search from start to end: ask, evaluate, save, tell, until the budget is spent.

    space = Space({"x": Dimension(low=-5, high=5, start=3), "y": Dimension(low=-5, high=5, start=3)})
    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    cost = OneByOne(lambda candidate, rng: float(np.sum(candidate**2)))
    result = minimise(cost, space, searcher, InThisThread(), budget=500)
    space.named(result.best.candidate)        # {"x": 0.0000..., "y": 0.0000...}

With a folder, the search can be interrupted at any time (Ctrl-C, kill -9, a full disk); the same call with a new
searcher, made the same way, goes on where it stopped and ends with the same numbers. A larger budget
continues a search that had ended.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.journal import LinesFile
from nutmeg.base.settings import above, at_least, check_bounds
from nutmeg.search.evaluation import Evaluator, Failure, Function, Progress, candidate_seeds
from nutmeg.search.searchers import Best, Searcher
from nutmeg.search.space import Space

# ----------------------------------------------------------------------------------------------------
# A search that survives being interrupted: every generation told, as a line of JSON in `search.jsonl`.
#
# A searcher is a pure function of its settings, its generator and what it was told. So nothing of its inside is
# stored: a new one, made the same way, is told the same values again, and goes on as if it had never stopped.
#
# The first line says what is searched and how; another space, algorithm or setting is refused. Each line is forced to
# the disk before the search goes on; one that a crash cut short is left out, and its generation done again. A failed
# candidate's value is `null`. Only one run at a time may write a checkpoint.


CHECKPOINT_FILE = "search.jsonl"
CHECKPOINT_FORMAT = 1


@dataclass(frozen=True)
class Told:
    """A generation: what was asked for, and what was told."""

    number: int
    """Counted from 0."""
    candidates: Floats
    """(N, k), in SI units."""
    values: Floats
    """(N,), nan for failed ones."""
    failures: tuple[Failure, ...] = ()


class Checkpoint:
    """The file of a search in a folder, new or continued.

    Args:
        folder: made if it is not there.
        searcher: one that has not been asked yet.
        seed: of the candidates' generators.
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
            """What was told before the checkpoint was opened."""
        except FileError:
            self._file.close()
            raise

    def append(self, told: Told) -> None:
        """Adds a generation; it is on the disk when this returns, or the file is as it was before."""
        values = [value if np.isfinite(value) else None for value in told.values.tolist()]
        line: dict[str, object] = {"generation": told.number, "candidates": told.candidates.tolist(), "values": values}
        if told.failures:
            line["failures"] = [{"index": f.index, "reason": f.reason} for f in told.failures]
        self._file.append(line, problem="the generation could not be saved")

    def close(self) -> None:
        """Lets another run write it."""
        self._file.close()


def replay(searcher: Searcher, told: Told, path: Path) -> None:
    """Tells a searcher a stored generation; an error if it asks for other candidates than were stored."""
    asked = searcher.ask()
    if not np.array_equal(asked, told.candidates):
        raise FileError(
            path,
            f"generation {told.number} has other candidates than this search asks for: it was made with another "
            "seed, or another version of the software or machine. Use the same, or another folder.",
            line=told.number + 2,
        )
    searcher.tell(told.values)


def _generations(lines: list[dict[str, Any]], path: Path, size: int) -> tuple[Told, ...]:
    found = []
    for number, line in enumerate(lines):
        try:
            candidates = np.array(line["candidates"], float)
            values = np.array([np.nan if value is None else value for value in line["values"]], float)
            failures = tuple(Failure(int(f["index"]), str(f["reason"])) for f in line.get("failures", ()))
            right = line["generation"] == number and candidates.shape == (len(values), size)
        except (KeyError, ValueError, TypeError):
            right = False
        if not right:
            raise FileError(path, f"is not generation {number} of a search with {size} parameters.", line=number + 2)
        found.append(Told(number, candidates, values, failures))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When a search ends, whatever comes first; it may always end earlier because the searcher has finished."""

    evaluations: Annotated[int, at_least(1)] | None = None
    """The most candidates to evaluate; a generation that does not fit any more is not begun."""
    generations: Annotated[int, at_least(1)] | None = None
    """The most generations."""
    target: float | None = None
    """A value that is good enough."""
    seconds: Annotated[float, above(0, "s")] | None = None
    """The longest time, after which no generation is begun; a search that is resumed gets it anew [s]."""

    def __post_init__(self) -> None:
        if all(limit is None for limit in (self.evaluations, self.generations, self.target, self.seconds)):
            raise ValueError("the budget has no limit; give evaluations, generations, seconds or a target.")
        check_bounds(self)

    def spent(self, searcher: Searcher, next_size: int, elapsed: float = 0.0) -> str:
        """Why a generation of `next_size` more may not begin, `elapsed` seconds after the start; empty if it may."""
        evaluations, generations = int(searcher.state["evaluations"]), int(searcher.state["generation"])
        if self.target is not None and searcher.best.value <= self.target:
            return f"the target {self.target:g} is reached"
        if self.generations is not None and generations >= self.generations:
            return f"{generations} generations are done"
        if self.evaluations is not None and evaluations + next_size > self.evaluations:
            return f"{evaluations} of {self.evaluations} evaluations are done"
        if self.seconds is not None and elapsed >= self.seconds:
            return f"the {self.seconds:g} seconds are over"
        return ""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What happened in a generation."""

    number: int
    """Counted from 0."""
    candidates: Floats
    """(N, k), in SI units."""
    values: Floats
    """(N,), nan for failed ones."""
    failures: tuple[Failure, ...]
    evaluations: int
    """How many candidates have been evaluated up to here."""
    best: Best
    """The best up to here."""
    mean: Floats
    """Where the searcher stands after it, (k,), in SI units."""
    state: Mapping[str, float]
    """The searcher's own numbers after it."""
    replayed: bool
    """Whether it was read from a checkpoint, not evaluated now."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What a search has found."""

    best: Best
    mean: Floats
    """Where the searcher stood at the end, (k,), in SI units; under noise a better answer than the best."""
    history: tuple[Generation, ...]
    evaluations: int
    failures: int
    """How many candidates failed."""
    reason: str
    """Why the search ended."""


def minimise(
    function: Function,
    space: Space,
    searcher: Searcher,
    evaluator: Evaluator,
    *,
    budget: Budget | int,
    seed: int = 0,
    folder: Path | None = None,
    on_generation: Callable[[Generation], None] | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """Looks for the candidate with the smallest value of a function.

    Args:
        function: gives values (n,) of candidates (n, k); see `evaluation`.
        space: what is searched; the searcher's own.
        searcher: a new one.
        evaluator: where the function is computed; it is not closed.
        budget: when to end; a number means evaluations.
        seed: of the generators that candidates are evaluated with.
        folder: where to save every generation, and to go on from.
        on_generation: called after every generation, replayed ones included.
        progress: called while a generation is evaluated, with the candidates done and all.
        clock: for a budget in seconds.
    """
    if space is not searcher.space:
        raise UsageError("the searcher searches another space than the one given; make it with the same.")
    limit = Budget(evaluations=budget) if isinstance(budget, int) else budget
    history: list[Generation] = []
    start = clock()

    def note(told: Told, *, replayed: bool) -> None:
        history.append(_generation(told, searcher, replayed=replayed))
        if on_generation:
            on_generation(history[-1])

    with contextlib.ExitStack() as stack:
        checkpoint = None
        if folder is not None:
            checkpoint = stack.enter_context(contextlib.closing(Checkpoint(folder, searcher, seed=seed)))
            for told in checkpoint.generations:
                replay(searcher, told, checkpoint.path)
                note(told, replayed=True)
        while not (reason := _ended(searcher, limit, clock() - start)):
            told = _evaluated(function, searcher, evaluator, seed, progress)
            if checkpoint:
                checkpoint.append(told)
            searcher.tell(told.values)
            note(told, replayed=False)
    return SearchResult(
        best=searcher.best,
        mean=searcher.mean,
        history=tuple(history),
        evaluations=int(searcher.state["evaluations"]),
        failures=int(searcher.state["failures"]),
        reason=reason,
    )


def _ended(searcher: Searcher, budget: Budget, elapsed: float) -> str:
    """Why no further generation is evaluated; empty if one is."""
    if searcher.finished:
        return searcher.finished
    size = len(searcher.ask())
    reason = budget.spent(searcher, size, elapsed)
    if budget.evaluations is not None and size > budget.evaluations:
        raise UsageError(
            f"the budget of {budget.evaluations} evaluations is smaller than the first generation of {size} "
            "candidates; raise it, or make the population smaller."
        )
    return reason


def _evaluated(
    function: Function, searcher: Searcher, evaluator: Evaluator, seed: int, progress: Progress | None
) -> Told:
    candidates, number = searcher.ask(), int(searcher.state["generation"])
    seeds = candidate_seeds(seed, number, len(candidates))
    evaluation = evaluator.evaluate(function, candidates, seeds, progress)
    return Told(number, candidates, evaluation.values, evaluation.failures)


def _generation(told: Told, searcher: Searcher, *, replayed: bool) -> Generation:
    state = dict(searcher.state)
    return Generation(
        number=told.number,
        candidates=told.candidates,
        values=np.array(told.values),
        failures=told.failures,
        evaluations=int(state["evaluations"]),
        best=searcher.best,
        mean=searcher.mean,
        state=state,
        replayed=replayed,
    )
