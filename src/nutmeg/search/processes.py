"""Evaluation in processes of their own, for functions that keep Python's lock, or that may crash.

    with contextlib.closing(Processes(4)) as evaluator:
        evaluation = evaluator.evaluate(OneByOne(cost), candidates, seeds)

Processes start afresh (`spawn`) and import the function's module: the function must stand at the top level of a module,
and a script must keep its own work under `if __name__ == "__main__":`. They stay for the next evaluation. When a
process dies (a crash of native code, kill -9, no memory), new ones are started; the candidates that were being
evaluated are tried once more, each alone, and one whose process dies again has failed. Ctrl-C ends the processes.

`call_each` runs whole jobs, such as the seeds of an experiment, in such processes.

This is the standard library's executor. What it does not do by itself is done here: going on after a death, ending
processes that are busy, and processes that end when their parent is killed.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar, cast

from numpy.random import SeedSequence

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.base.interrupts import ignore_interrupts, interrupts_blocked
from nutmeg.search.evaluation import (
    EQUAL_SHARES,
    Answer,
    Answers,
    Died,
    Evaluation,
    Function,
    Piece,
    Progress,
    Share,
    Work,
    answered,
    checked_workers,
    evaluate_elsewhere,
    pieces,
)

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from multiprocessing.queues import SimpleQueue

MAX_FAILED_STARTS = 3
"""Failed starts in a row (a process died before any was ready) after which an error is raised."""


T = TypeVar("T")


def call_each(
    jobs: Sequence[Callable[[], T]], workers: int, on_done: Callable[[int, T], None] = lambda _, __: None
) -> list[T]:
    """Calls functions without arguments in processes, and gives their results in order; if interrupted, all are ended.

    Args:
        jobs: functions at the top level of a module, or `functools.partial` objects of such functions.
        workers: number of processes; with one, everything is called in this process.
        on_done: called with the number of a job and its result as soon as it has finished.
    """
    results: dict[int, T] = {}
    if workers == 1 or len(jobs) < 2:
        for number, job in enumerate(jobs):
            results[number] = job()
            on_done(number, results[number])
        return [results[number] for number in range(len(jobs))]
    pool = _Pool(min(workers, len(jobs)))
    try:
        running = {pool.submit(job): number for number, job in enumerate(jobs)}
        for done in as_completed(running):
            results[running[done]] = done.result()
            on_done(running[done], results[running[done]])
    except BrokenProcessPool:
        raise EnvironmentProblem(f"a process that did a part of the work has died ({pool.cause_of_death()}).") from None
    finally:
        pool.end()
    return [results[number] for number in range(len(jobs))]


class Processes:
    """Evaluates in worker processes that stay until `close`.

    Args:
        workers: number of processes.
        piece: number of candidates in each call of the function; by default an equal share for each process.
    """

    def __init__(self, workers: int, *, piece: int | Share = EQUAL_SHARES) -> None:
        checked_workers(workers, piece)
        self._workers, self._piece = workers, piece
        self._pool: _Pool | None = None
        self._failed_starts = 0

    @property
    def ids(self) -> tuple[int, ...]:
        """The process ids of the present workers."""
        return tuple(child.pid or 0 for child in self._pool.children) if self._pool else ()

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k); if interrupted, the processes are ended."""
        hand_out = partial(self._answers, _pickled(function))
        todo = pieces(len(candidates), self._piece, self._workers)
        try:
            return evaluate_elsewhere(hand_out, candidates, seeds, todo, "a worker process", progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the processes."""
        if self._pool:
            self._pool.end()
        self._pool = None

    def _answers(self, sent: bytes, work: Work) -> Answers:
        """The answers to pieces as they come. One piece is out for each process, so that a death costs few."""
        todo, running = deque(work), dict[Future[Answer], Piece]()
        while todo or running:
            try:
                pool = self._pool = self._pool or _Pool(self._workers)
                while todo and len(running) < self._workers:
                    running[pool.submit(_evaluate, sent, *work[todo[0]])] = todo[0]
                    todo.popleft()
                for job in wait(running, return_when=FIRST_COMPLETED).done:
                    answer = job.result()
                    self._failed_starts = 0
                    yield running.pop(job), answer
            except BrokenProcessPool:
                lost = list(running.values())
                running.clear()
                ready, cause = pool.any_ready, pool.cause_of_death()
                self.close()
                if ready:
                    yield from ((piece, Died(f"its process died, also when it was alone ({cause})")) for piece in lost)
                else:  # no process saw its candidates
                    self._count_failed_start()
                    todo.extendleft(reversed(lost))

    def _count_failed_start(self) -> None:
        self._failed_starts += 1
        if self._failed_starts >= MAX_FAILED_STARTS:
            self._failed_starts = 0
            raise EnvironmentProblem(
                f"{MAX_FAILED_STARTS} times in a row, worker processes ended before they were ready; what they printed "
                'says why. A script that uses processes must do its work under `if __name__ == "__main__":`.'
            )


class _Pool:
    """An executor whose processes can be ended while they are busy."""

    def __init__(self, size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.children: list[BaseProcess] = []
        self._ready = context.SimpleQueue()
        self._executor = ProcessPoolExecutor(size, context, initializer=_begin, initargs=(self._ready,))

    @property
    def any_ready(self) -> bool:
        """Whether a process has finished starting."""
        return not self._ready.empty()

    def submit(self, function: Callable[..., T], *work: object) -> Future[T]:
        """Submits work; the executor starts a new process if none is idle and the limit allows it."""
        others = set(multiprocessing.active_children()) - set(self.children)
        with interrupts_blocked():
            job = self._executor.submit(function, *work)
        # A process that has died meanwhile stays in the list: its exit code is the cause of death.
        known = others.union(self.children)
        self.children += [child for child in multiprocessing.active_children() if child not in known]
        return job

    def cause_of_death(self) -> str:
        """The reason for the first death; the executor then ends the other processes with SIGTERM."""
        # Not `join`: it returns at once where the executor's thread has taken the exit code and not stored it yet.
        end = time.monotonic() + 60.0
        while any(child.exitcode is None for child in self.children) and time.monotonic() < end:
            time.sleep(0.005)
        codes = [code for child in self.children if (code := child.exitcode) not in (None, 0, -signal.SIGTERM)]
        code = codes[0] if codes else -signal.SIGTERM
        return f"killed by signal {-code}" if code < 0 else f"exit status {code}"

    def end(self) -> None:
        """Ends all processes."""
        for child in self.children:  # all of them: one that dies while it waits for work holds the lock of the queue
            child.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)
        for child in self.children:
            child.join()


def _begin(ready: SimpleQueue[int]) -> None:
    """Prepares a worker process."""
    ignore_interrupts()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    ready.put(os.getpid())


def _end_with_parent() -> None:
    """Ends this process when its parent has died: the executor's processes would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def _evaluate(sent: bytes, candidates: Floats, seeds: Sequence[SeedSequence]) -> Answer:
    function = _unpickled(sent)
    return function if isinstance(function, str) else answered(function, candidates, seeds)


def _pickled(function: Function) -> bytes:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"the function cannot be sent to other processes ({error}). Define it at the top level of a module, "
            "not inside another function and not as a lambda; or evaluate on threads."
        ) from None


@lru_cache(maxsize=1)
def _unpickled(sent: bytes) -> Function | str:
    """The function, or the traceback if it cannot be loaded here; loaded once for all its pieces."""
    try:
        return cast("Function", pickle.loads(sent))  # noqa: S301 (from our own parent)
    except Exception:  # noqa: BLE001 (sent to the parent, which raises it)
        return traceback.format_exc()
