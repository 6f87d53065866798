"""Evaluation on many machines: the workers of a Dask cluster that is already there.

    evaluator = OnCluster("tcp://127.0.0.1:8786")       # where `dask scheduler` says it is
    with contextlib.closing(evaluator):
        evaluation = evaluator.evaluate(function, candidates, seeds)

The values are those of `InThisThread`, to the last bit, on any number of workers of one kind of processor. The
function is sent once, by Dask's own serialisation (pickle between machines that trust each other);
each worker loads it once. Workers may come and go at any time: the pieces of one that dies are done by others.
A piece that has killed several workers (`distributed.scheduler.allowed-failures` more than one, 4 unless
configured) is taken apart, and its candidates are tried each alone on the whole cluster; one that kills again
has failed. Without any worker, it is waited for one.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import queue
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from numpy.random import SeedSequence

from nutmeg.errors import EnvironmentProblem, UsageError
from nutmeg.runs import versions
from nutmeg.search.evaluation import (
    Evaluation,
    Function,
    Piece,
    PieceResult,
    Progress,
    checked_seeds,
    checked_workers,
    collect,
    pieces,
)
from nutmeg.search.remote import Answer, answered, lost, result_of, singly
from nutmeg.search.space import Floats

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_WITHIN = 10.0
"""How long a scheduler may take to answer at first [s]."""
DISTRIBUTION = "nutmeg-sim"
"""What Nutmeg is called when it is installed."""
SAME = ("nutmeg", "python", "numpy", "mujoco")
"""What must have the same version here and on the workers."""

_LOADING = threading.Lock()

Submitted = tuple[Floats, list[SeedSequence]]


class OnCluster:
    """Evaluates on the workers of a Dask cluster.

    Args:
        address: of the scheduler, `tcp://host:port`, or the path of the `.json` file it writes with
            `--scheduler-file`.
        piece: how many candidates a call of the function gets.
        patience: after so many seconds without an answer it is looked whether there are any workers [s].
        notice: told, as a sentence, that there are none; logged as a warning if None.
    """

    def __init__(
        self, address: str, *, piece: int = 1, patience: float = 10.0, notice: Callable[[str], None] | None = None
    ) -> None:
        checked_workers(1, piece)
        self._address, self._piece, self._patience = _checked_address(address), piece, patience
        self._notice = notice or logging.getLogger(__name__).warning
        self._client: Client | None = None
        self._sent: tuple[bytes, Future] | None = None

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k); if interrupted, what has not begun is taken back."""
        rows = checked_seeds(candidates, seeds)
        sendable = _serialised(function)
        try:
            handle = self._handed_over(sendable)
            return collect(len(rows), self._results(handle, rows, seeds), progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leaves the cluster, which stays as it is."""
        client, self._client, self._sent = self._client, None, None
        if client is not None:
            with contextlib.suppress(OSError), _quiet("distributed.client", when=client.status != "running"):
                client.close(timeout=2.0)

    def _connected(self) -> Client:
        if self._client is None or self._client.status != "running":
            self.close()
            self._client = _connect(self._address)
        return self._client

    def _handed_over(self, function: bytes) -> Future:
        """The function as a task of the cluster, whose result the workers pass on to each other.

        Not scattered: what is scattered is lost with the worker that has it; the result of a task is made again.
        """
        import dask

        client = self._connected()
        with self._scheduler_there():
            _check_installed(client)
        if self._sent is None or self._sent[0] != function:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": len(function) + 10_000_000}):
                self._sent = function, client.submit(_as_sent, function, pure=False)
        return self._sent[1]

    def _results(
        self, handle: Future, rows: Floats, seeds: Sequence[SeedSequence]
    ) -> Iterator[tuple[Piece, PieceResult]]:
        def work(piece: Piece) -> Submitted:
            return rows[list(piece.rows)], [seeds[row] for row in piece.rows]

        suspects: list[Piece] = []
        todo = pieces(len(rows), self._piece)
        for piece, answer in self._answers(handle, {piece: work(piece) for piece in todo}):
            if answer is None:
                suspects += singly(piece)
            else:
                yield piece, result_of(answer, "a Dask worker")
        for piece in suspects:  # alone, so that no other's crash is taken for its own
            for _, answer in self._answers(handle, {piece: work(piece)}):
                dead = lost(piece, "the Dask workers that tried it died, also when it was alone")
                yield piece, dead if answer is None else result_of(answer, "a Dask worker")

    def _answers(self, handle: Future, work: Mapping[Piece, Submitted]) -> Iterator[tuple[Piece, Answer | None]]:
        """The answers to pieces as they come; None to one whose workers died."""
        client = self._connected()
        finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        candidates, seeds = zip(*work.values(), strict=True) if work else ((), ())
        with self._scheduler_there():
            futures = client.map(evaluate_on_worker, candidates, seeds, sent=handle, wanted=versions(SAME), pure=False)
            jobs = {future.key: (piece, future) for piece, future in zip(work, futures, strict=True)}
            del futures  # a job that is taken out is forgotten by the cluster
            for _, future in jobs.values():
                future.add_done_callback(finished.put)
        while jobs:
            done = self._next(client, finished)
            with self._scheduler_there():
                answers = _answers_of(client, done, handle)
            for future, answer in zip(done, answers, strict=True):
                piece, _ = jobs.pop(future.key)
                yield piece, answer

    def _next(self, client: Client, finished: queue.SimpleQueue[Future]) -> list[Future]:
        """Waits for a future that has finished; that one, and all others that have."""
        told = False
        while True:
            with contextlib.suppress(queue.Empty):
                done = [finished.get(timeout=self._patience)]
                while not finished.empty():
                    done.append(finished.get())
                return done
            with self._scheduler_there():
                lonely = not client.nthreads()
            if lonely and not told:
                self._notice(
                    f"the Dask cluster at {self._address} has no workers; waiting for one. "
                    f"Start some: dask worker {_as_argument(self._address)}"
                )
            told = lonely

    @contextlib.contextmanager
    def _scheduler_there(self) -> Iterator[None]:
        """Says in one way that the scheduler has gone, which Dask says in many."""
        try:
            yield
        except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
            raise EnvironmentProblem(
                f"the Dask scheduler at {self._address} has gone ({type(error).__name__}). What was saved is safe: "
                "start the scheduler and its workers again, and run the same command to go on."
            ) from None


def evaluate_on_worker(
    candidates: Floats, seeds: Sequence[SeedSequence], *, sent: bytes, wanted: Mapping[str, str]
) -> Answer:
    """What a worker says to a piece (n, k), with the function as it was sent; runs on a worker."""
    _check_versions(wanted)
    with _LOADING:  # one thread of a worker loads it, the others then have it
        function = _loaded(sent)
    return answered(function, candidates, seeds)


def _as_sent(function: bytes) -> bytes:
    """A task of the cluster whose result is the function, not loaded yet."""
    return function


@functools.lru_cache(maxsize=4)
def _loaded(sent: bytes) -> Function:
    """The function; kept, because Dask drops what it copied to a worker whenever that has nothing to do."""
    from distributed.protocol.pickle import loads

    try:
        return cast("Function", loads(sent))
    except Exception:  # noqa: BLE001 (some exceptions cannot be sent; as text, all can)
        raise EnvironmentProblem(
            f"the function cannot be loaded on a Dask worker:\n{traceback.format_exc()}"
            "Its module must be there too: install it, or start the workers with PYTHONPATH set."
        ) from None


def _check_installed(client: Client) -> None:
    """An error if a worker has no Nutmeg: sent a task that it cannot read, it would end without a word to us."""
    found = client.get_versions(packages=[DISTRIBUTION])["workers"]
    lacking = [address for address, worker in found.items() if not worker["packages"].get(DISTRIBUTION)]
    if lacking:
        raise EnvironmentProblem(
            f"the Dask worker at {lacking[0]} has no Nutmeg. Install {DISTRIBUTION} {versions(['nutmeg'])['nutmeg']} "
            "in the Python that runs it, and start it again."
        )


def _check_versions(wanted: Mapping[str, str]) -> None:
    found = versions(wanted)
    different = [f"{name} {found[name]} there, {wanted[name]} here" for name in wanted if found[name] != wanted[name]]
    if different:
        from distributed import get_worker

        raise EnvironmentProblem(
            f"the Dask worker at {get_worker().address} has other software ({'; '.join(different)}), so its numbers "
            "may differ. Install the same versions there, and start it again."
        )


def _answers_of(client: Client, futures: list[Future], handle: Future) -> list[Answer | None]:
    """The answers of finished futures; fetched together if all went well, which is many times faster."""
    if all(future.status == "finished" for future in futures):
        with contextlib.suppress(Exception):  # whatever it was, it shows again, and of which
            return cast("list[Answer | None]", client.gather(futures))
    return [_answer_of(future, handle) for future in futures]


def _answer_of(future: Future, handle: Future) -> Answer | None:
    """The answer of a finished future; None if the workers that tried it died."""
    from distributed import KilledWorker

    try:
        return cast("Answer", future.result())
    except KilledWorker as error:
        if error.task == handle.key:
            raise EnvironmentProblem("the Dask workers die before they have the function; see their logs.") from None
        return None
    except (EnvironmentProblem, OSError, concurrent.futures.CancelledError):
        raise
    except Exception as error:  # what kept Dask from calling us: nutmeg is not installed, say
        raise EnvironmentProblem(
            f"the Dask cluster cannot run Nutmeg's tasks ({type(error).__name__}: {error}). The scheduler and all "
            "workers need the same Python, Nutmeg and NumPy as this machine."
        ) from error


def _serialised(function: Function) -> bytes:
    from distributed.protocol.pickle import dumps

    try:
        return cast("bytes", dumps(function))
    except Exception as error:  # noqa: BLE001 (pickling runs the objects' own code, which may raise anything)
        raise UsageError(
            f"the function cannot be sent to a cluster ({error}). Let it hold plain values and arrays only, no "
            "open files, locks or simulations; or evaluate on threads."
        ) from None


def _connect(address: str) -> Client:
    from distributed import Client

    where = {"scheduler_file": address} if _is_file(address) else {"address": address}
    try:
        return Client(**where, timeout=CONNECT_WITHIN, set_as_default=False, name="nutmeg")
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            f"no Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`; it says its address."
        ) from None


def _checked_address(address: str) -> str:
    if not _is_file(address) and not ("://" in address and address.rpartition(":")[2].isdigit()):
        raise UsageError(
            f"{address!r} is no address of a Dask scheduler. Allowed: tcp://host:port, tls://host:port, or the .json "
            "file that `dask scheduler --scheduler-file` writes."
        )
    if _is_file(address) and not Path(address).is_file():
        raise EnvironmentProblem(
            f"there is no file {address}. A scheduler writes it: dask scheduler --scheduler-file {address}"
        )
    return address


@contextlib.contextmanager
def _quiet(name: str, *, when: bool) -> Iterator[None]:
    """Nothing but disasters from a logger: leaving a scheduler that has gone, Dask logs a traceback for each try."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL if when else level)
    try:
        yield
    finally:
        logger.setLevel(level)


def _is_file(address: str) -> bool:
    return address.endswith(".json")


def _as_argument(address: str) -> str:
    return f"--scheduler-file {address}" if _is_file(address) else address
