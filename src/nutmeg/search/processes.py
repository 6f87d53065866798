"""Evaluation in processes of their own, for functions that keep Python's lock, or that may crash.

    with contextlib.closing(Processes(4)) as evaluator:
        evaluation = evaluator.evaluate(OneByOne(cost), candidates, seeds)

Processes start afresh (`spawn`) and import the function's module: the function must stand at the top level of
a module, and a script must keep its own work under `if __name__ == "__main__":`. They stay for the next
evaluation. A process that dies (a crash of native code, kill -9, no memory) is replaced; the candidates it had
are tried once more, each alone, and one whose process dies again has failed. Ctrl-C ends the processes.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from numpy.random import SeedSequence

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.search.evaluation import (
    EQUAL_SHARES,
    MAX_ATTEMPTS,
    Evaluation,
    Function,
    Piece,
    PieceResult,
    Progress,
    Share,
    answered,
    checked_seeds,
    checked_workers,
    collect,
    lost,
    pieces,
    result_of,
    singly,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MAX_FAILED_STARTS = 3
"""After so many processes in a row that died before they were ready, something is wrong with starting them."""


class Processes:
    """Evaluates in worker processes that stay until `close`.

    Args:
        workers: how many processes.
        piece: how many candidates a call of the function gets; an equal share for each process unless told otherwise.
    """

    def __init__(self, workers: int, *, piece: int | Share = EQUAL_SHARES) -> None:
        checked_workers(workers, piece)
        self._count, self._piece = workers, piece
        self._workers: list[_Worker] = []
        self._stillborn = 0

    @property
    def ids(self) -> tuple[int, ...]:
        """The process ids of the present workers."""
        return tuple(worker.process.pid or 0 for worker in self._workers)

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k); if interrupted, the processes are ended."""
        rows = checked_seeds(candidates, seeds)
        sendable = _pickled(function)
        try:
            return collect(len(rows), self._results(sendable, rows, seeds), progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _results(
        self, function: bytes, rows: Floats, seeds: Sequence[SeedSequence]
    ) -> Iterator[tuple[Piece, PieceResult]]:
        todo = deque(pieces(len(rows), self._piece, self._count))
        while todo or any(worker.piece for worker in self._workers):
            self._hand_out(todo, function, rows, seeds)
            for worker in self._answering():
                piece = worker.piece
                assert piece is not None
                try:
                    result = worker.take()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    worker.bury()
                else:
                    if result is not None:
                        self._stillborn = 0
                        yield piece, result
                    continue
                if not worker.ready:  # it never saw its candidates
                    self._count_stillborn()
                    todo.appendleft(piece)
                elif piece.attempt < MAX_ATTEMPTS:
                    todo.extendleft(reversed(singly(piece)))
                else:
                    cause = _cause(worker.process.exitcode)
                    yield piece, lost(piece, f"its process died {MAX_ATTEMPTS} times ({cause})")

    def _hand_out(self, todo: deque[Piece], function: bytes, rows: Floats, seeds: Sequence[SeedSequence]) -> None:
        """Gives every idle worker something to do, and starts as many as are needed."""
        for worker in [w for w in self._workers if not w.piece and not w.process.is_alive()]:  # died while idle
            self._workers.remove(worker)
            worker.end()
        busy = sum(worker.piece is not None for worker in self._workers)
        while len(self._workers) < min(self._count, busy + len(todo)):
            self._workers.append(_Worker())
        for worker in self._workers:
            if worker.piece is None and todo:
                piece = todo.popleft()
                worker.give(function, piece, rows[list(piece.rows)], [seeds[row] for row in piece.rows])

    def _answering(self) -> list[_Worker]:
        """Waits until at least one worker has answered or died; those that have."""
        busy = [worker for worker in self._workers if worker.piece]
        signs = {worker.pipe: worker for worker in busy} | {worker.process.sentinel: worker for worker in busy}
        shown = multiprocessing.connection.wait(list(signs))
        return list(dict.fromkeys(signs[sign] for sign in shown))  # type: ignore[index]

    def _count_stillborn(self) -> None:
        self._stillborn += 1
        if self._stillborn >= MAX_FAILED_STARTS:
            self._stillborn = 0
            raise EnvironmentProblem(
                f"{MAX_FAILED_STARTS} worker processes in a row ended before they were ready; what they printed says "
                'why. A script that uses processes must do its work under `if __name__ == "__main__":`.'
            )


class _Worker:
    """A process that evaluates pieces, one at a time, and the near end of the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(far,), daemon=True, name="evaluation")
        with deaf_while_starting():
            self.process.start()
        far.close()
        self.piece: Piece | None = None
        self.ready = False
        self._function = b""

    def give(self, function: bytes, piece: Piece, candidates: Floats, seeds: list[SeedSequence]) -> None:
        """Sends a piece, and the function if it is another one; a dead worker shows when it is asked."""
        self.piece = piece
        known, self._function = function == self._function, function
        try:
            self.pipe.send((None if known else function, candidates, seeds))
        except OSError:  # the pipe is closed at the far end: `take` will see that, too
            return

    def take(self) -> PieceResult | None:
        """The values of the piece; None if they are not there yet. EOFError or OSError: the worker has died."""
        if not self.ready:
            self.pipe.recv()
            self.ready = True
            if not self.pipe.poll():
                return None
        answer = self.pipe.recv()
        self.piece = None
        return result_of(answer, "a worker process")

    def bury(self) -> None:
        """Waits for a process that has died, so that it can say of what."""
        self.process.join(timeout=60.0)
        self.end()

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextmanager
def deaf_while_starting() -> Iterator[None]:
    """Processes that are started within hear no Ctrl-C until they call `ignore_ctrl_c`.

    Ctrl-C goes to all processes of a terminal. One that still imports would end with a traceback of its own; signals
    that this thread holds back are held back in a process that it starts, too.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_ctrl_c() -> None:
    """In a process that was started to help: Ctrl-C is the business of who started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _serve(pipe: Connection) -> None:
    """What a worker process does: evaluate pieces until the pipe is closed at the other end."""
    ignore_ctrl_c()
    function: Function | str = ""
    try:
        pipe.send("ready")
        while True:
            sent, candidates, seeds = pipe.recv()
            if sent is not None:
                function = _unpickled(sent)
            pipe.send(function if isinstance(function, str) else answered(function, candidates, seeds))
    except (EOFError, OSError):
        return


def _pickled(function: Function) -> bytes:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"the function cannot be sent to other processes ({error}). Define it at the top level of a module, "
            "not inside another function and not as a lambda; or evaluate on threads."
        ) from None


def _unpickled(sent: bytes) -> Function | str:
    """The function, or the traceback of why it cannot be had here."""
    try:
        return cast("Function", pickle.loads(sent))  # noqa: S301 (from our own parent)
    except Exception:  # noqa: BLE001 (told to the parent, which raises it)
        return traceback.format_exc()


def _cause(exitcode: int | None) -> str:
    return f"killed by signal {-exitcode}" if exitcode and exitcode < 0 else f"exit status {exitcode}"
