"""Evaluation of candidates: a function is computed in this thread, on several, or in other processes.

A function takes candidates (n, k) and a generator for each, and gives their values (n,): one simulated world per
candidate, stepped together. `OneByOne` makes such a function of one for a single candidate. For searchers that work
with residuals (`search.least_squares`) a function gives those of each candidate, (n, rows).

    def cost(candidate, rng):                                   # (k,) -> a number, smaller is better
        return float(np.sum(candidate**2))

    evaluation = InThisThread().evaluate(OneByOne(cost), candidates, candidate_seeds(7, 0, len(candidates)))
    evaluation.values, evaluation.failures

A candidate fails when a value of it is not finite, when it raises a `SimulationError`, or when it kills the process
it runs in; every other exception is a mistake of the function and ends the evaluation. The value of a candidate
must depend on nothing but the candidate and its generator; then it is the same whatever the number of workers.

`Evaluator` has two methods, so that a cluster can be another one.
"""

from __future__ import annotations

import concurrent.futures
import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import SimulationError, UsageError
from nutmeg.base.settings import at_least, check_bounds

Function = Callable[[Floats, Sequence[Generator]], ArrayLike]
"""Values (n,) or residuals (n, rows) of candidates (n, k), with a generator for each."""
Progress = Callable[[int, int], None]
"""Called with the number of candidates that are done and of all, in the thread that called `evaluate`."""
Piece = tuple[int, ...]
"""The rows of some of the candidates, which one call of the function evaluates."""


@dataclass(frozen=True)
class OneByOne:
    """A function of many candidates that calls one of a single candidate, (k,), and its generator."""

    function: Callable[[Floats, Generator], float]

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> list[float]:
        """The values of candidates (n, k)."""
        return [self.function(row, rng) for row, rng in zip(candidates, generators, strict=True)]


@dataclass(frozen=True)
class Failure:
    """A candidate without a value, and the reason."""

    index: int
    """Its row among the candidates."""
    reason: str


@dataclass(frozen=True)
class Evaluation:
    """The values of candidates."""

    values: Floats
    """(N,), or (N, rows) of residuals, in the order of the candidates; nan for those that failed."""
    failures: tuple[Failure, ...]


class Evaluator(Protocol):
    """Evaluates candidates somewhere."""

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k), each with the generator of its seed."""

    def close(self) -> None:
        """Ends threads or processes; evaluating again starts new ones."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """Pieces that keep all workers busy to the end: an equal share of the candidates for each, or several of them."""

    unit: Annotated[int, at_least(1)] = 1
    """The size of a piece is a multiple of this number of candidates."""
    most: int | None = None
    """Largest size of a piece; a worker whose share is larger gets several pieces of equal size."""

    def __post_init__(self) -> None:
        check_bounds(self, error=UsageError)
        if self.most is not None and self.most < self.unit:
            raise UsageError(
                f"pieces of whole multiples of {self.unit} candidates, at most {self.most}: no piece can be so small."
            )

    def size(self, count: int, workers: int) -> int:
        """Number of candidates in a piece if there are `count` in all."""
        units = max(1, math.ceil(count / self.unit))
        most = self.most // self.unit if self.most else units
        rounds = math.ceil(units / (workers * most))
        return self.unit * math.ceil(units / (workers * rounds))


EQUAL_SHARES = Share()
"""One piece for each worker."""


@dataclass(frozen=True)
class PieceResult:
    """The values of a piece, and the reasons of failures (empty for candidates with a value)."""

    values: Floats
    """(n,), or (n, rows); (n,) without rows if all failed."""
    reasons: tuple[str, ...]


def candidate_seeds(seed: int, generation: int, count: int) -> list[SeedSequence]:
    """The seeds of the candidates of a generation.

    The same as spawning a child for each generation of `seed`, and one of that for each candidate.
    """
    return [SeedSequence(seed, spawn_key=(generation, index)) for index in range(count)]


def pieces(count: int, piece: int | Share, workers: int) -> list[Piece]:
    """`count` candidates in pieces of a size, the last one smaller, or of a share for each worker."""
    size = piece.size(count, workers) if isinstance(piece, Share) else piece
    return [tuple(range(first, min(first + size, count))) for first in range(0, count, size)]


def _evaluate_piece(function: Function, candidates: Floats, seeds: Sequence[SeedSequence]) -> PieceResult:
    """The values of a few candidates (n, k); runs in the thread or process of a worker."""
    generators = [np.random.default_rng(seed) for seed in seeds]
    try:
        values = np.asarray(function(candidates.copy(), generators), float)
    except SimulationError as error:
        if len(candidates) == 1:
            return PieceResult(np.full(1, np.nan), (str(error) or type(error).__name__,))
        # One of several failed: evaluating them one at a time, from fresh generators, shows which.
        singles = [_evaluate_piece(function, candidates[i : i + 1], seeds[i : i + 1]) for i in range(len(seeds))]
        together = _gathered(len(singles), (((i,), one) for i, one in enumerate(singles)))
        return PieceResult(together, tuple(s.reasons[0] for s in singles))
    if values.ndim not in (1, 2) or len(values) != len(candidates):
        raise UsageError(
            f"the evaluated function gave values of the shape {values.shape} for {len(candidates)} candidates; "
            f"needed is ({len(candidates)},), or ({len(candidates)}, rows) of residuals. Wrap a function of one "
            "candidate in OneByOne."
        )
    wrong = ~np.isfinite(values)
    failed = wrong if values.ndim == 1 else wrong.any(axis=1)
    reasons = tuple(
        f"its value is {np.extract(wrong[i], values[i])[0]}" if failed[i] else "" for i in range(len(values))
    )
    values[failed] = np.nan
    return PieceResult(values, reasons)


def _collect(count: int, results: Iterable[tuple[Piece, PieceResult]], progress: Progress | None) -> Evaluation:
    """Puts results that come in any order into the order of the candidates."""
    failures = list[Failure]()

    def noted() -> Iterator[tuple[Piece, PieceResult]]:
        done = 0
        for piece, result in results:
            failures.extend(Failure(row, why) for row, why in zip(piece, result.reasons, strict=True) if why)
            done += len(piece)
            if progress:
                progress(done, count)
            yield piece, result

    values = _gathered(count, noted())
    return Evaluation(values, tuple(sorted(failures, key=lambda failure: failure.index)))


def _gathered(count: int, results: Iterable[tuple[Piece, PieceResult]]) -> Floats:
    """The values of all pieces, (count,) or (count, rows); nan where a piece has none."""
    values = np.full(count, np.nan)
    for piece, result in results:
        if result.values.ndim > values.ndim:  # the first piece with residuals has their number
            values = np.full((count, result.values.shape[1]), np.nan)
        if result.values.ndim == values.ndim:
            values[list(piece)] = result.values
    return values


def _checked_seeds(candidates: ArrayLike, seeds: Sequence[SeedSequence]) -> Floats:
    """The candidates as (N, k), if there is a seed for each."""
    rows = np.asarray(candidates, float)
    if rows.ndim != 2 or len(rows) != len(seeds):
        raise UsageError(f"candidates of the shape {rows.shape} with {len(seeds)} seeds; needed are (N, k) and N.")
    return rows


def checked_workers(workers: int, piece: int | Share) -> None:
    """Raises an error unless the numbers of workers and of candidates in a piece are positive."""
    if workers < 1 or (isinstance(piece, int) and piece < 1):
        raise UsageError(f"{workers} workers with pieces of {piece} candidates; allowed are 1 or more of both.")


class InThisThread:
    """Evaluates in the calling thread, `piece` candidates a call (all in one by default)."""

    def __init__(self, *, piece: int | Share = EQUAL_SHARES) -> None:
        checked_workers(1, piece)
        self._piece = piece

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k)."""
        rows = _checked_seeds(candidates, seeds)
        todo = pieces(len(rows), self._piece, 1)
        results = ((piece, _evaluate_rows(function, rows, seeds, piece)) for piece in todo)
        return _collect(len(rows), results, progress)

    def close(self) -> None:
        """Does nothing: there is nothing to end."""


class Threads:
    """Evaluates on threads, for functions that leave Python's lock while they work, as MuJoCo's stepping does.

    Args:
        workers: number of threads.
        piece: number of candidates in each call of the function; by default an equal share for each thread.
    """

    def __init__(self, workers: int, *, piece: int | Share = EQUAL_SHARES) -> None:
        checked_workers(workers, piece)
        self._workers, self._piece = workers, piece

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k); if interrupted, running calls are waited for and no others begin."""
        rows = _checked_seeds(candidates, seeds)
        pool = concurrent.futures.ThreadPoolExecutor(self._workers, thread_name_prefix="evaluation")
        try:
            jobs = {
                pool.submit(_evaluate_rows, function, rows, seeds, piece): piece
                for piece in pieces(len(rows), self._piece, self._workers)
            }
            results = ((jobs[job], job.result()) for job in concurrent.futures.as_completed(jobs))
            return _collect(len(rows), results, progress)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """Does nothing: threads live as long as an evaluation."""


def _evaluate_rows(function: Function, rows: Floats, seeds: Sequence[SeedSequence], piece: Piece) -> PieceResult:
    return _evaluate_piece(function, rows[list(piece)], [seeds[row] for row in piece])


# ----------------------------------------------------------------------------------------------------
# Shared parts of evaluation in other processes, on this machine or on a cluster.
#
# A worker answers a piece with its result, or with the traceback of a mistake in the function, as text: not every
# exception can be sent from one process to another.


@dataclass(frozen=True)
class Died:
    """The answer to a piece whose worker died."""

    reason: str


Answer = PieceResult | str
"""The values of a piece, or the traceback of what the function raised."""
Work = Mapping[Piece, tuple[Floats, list[SeedSequence]]]
"""Candidates (n, k) and their seeds, by piece."""
Answers = Iterator[tuple[Piece, Answer | Died]]
"""Answers to pieces as they come."""


def answered(function: Function, candidates: Floats, seeds: Sequence[SeedSequence]) -> Answer:
    """Evaluates a piece (n, k) on a worker."""
    try:
        return _evaluate_piece(function, candidates, seeds)
    except Exception:  # noqa: BLE001 (sent to the caller, which raises it)
        return traceback.format_exc()


def evaluate_elsewhere(
    hand_out: Callable[[Work], Answers],
    candidates: Floats,
    seeds: Sequence[SeedSequence],
    todo: Sequence[Piece],
    where: str,
    progress: Progress | None,
) -> Evaluation:
    """The values of candidates (N, k) that are handed out in pieces to processes that may die.

    `where` names these processes in error messages.
    """
    rows = _checked_seeds(candidates, seeds)

    def answers(some: Sequence[Piece]) -> Answers:
        return hand_out({piece: (rows[list(piece)], [seeds[row] for row in piece]) for piece in some})

    return _collect(len(rows), _results(answers, todo, where), progress)


def _results(
    answers: Callable[[Sequence[Piece]], Answers], todo: Sequence[Piece], where: str
) -> Iterator[tuple[Piece, PieceResult]]:
    """The results of pieces.

    The candidates of a worker that died are tried again one by one, each while nothing else is evaluated, so that a
    death can only be due to that candidate.
    """
    suspects: list[Piece] = []
    for piece, answer in answers(todo):
        if isinstance(answer, Died):
            suspects += [(row,) for row in piece]
        else:
            yield piece, _result(answer, where)
    for suspect in suspects:
        for piece, answer in answers([suspect]):
            if isinstance(answer, Died):
                yield piece, PieceResult(np.full(1, np.nan), (answer.reason,))
            else:
                yield piece, _result(answer, where)


def _result(answer: object, where: str) -> PieceResult:
    """The values in an answer; a UsageError with the traceback if the function has failed."""
    if isinstance(answer, str):
        raise UsageError(f"the evaluated function failed in {where}:\n{answer}")
    assert isinstance(answer, PieceResult)
    return answer
