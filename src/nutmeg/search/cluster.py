"""Evaluation on many machines: the workers of a running Dask cluster.

    evaluator = OnCluster("tcp://127.0.0.1:8786")       # the address that `dask scheduler` prints
    with contextlib.closing(evaluator):
        evaluation = evaluator.evaluate(function, candidates, seeds)

The values are those of `InThisThread`, to the last bit, on any number of workers of one kind of processor. The
function is sent once to each worker, by Dask's own serialisation (pickle between machines that trust each other), and
loaded there once. By default, each thread of a worker gets one piece, an equal share of the candidates.
Workers may come and go at any time: the pieces of one that dies are done by others. A piece that has killed several
workers (`distributed.scheduler.allowed-failures` more than one, 4 unless configured) is taken apart, and its
candidates are tried each alone on the whole cluster; one that kills again has failed. Without any worker, the
evaluator waits for one.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import json
import logging
import queue
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from numpy.random import SeedSequence

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import EnvironmentProblem, FileError, MissingExtraError, UsageError
from nutmeg.base.journal import versions
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
    from distributed import Client, Future, Worker


# ----------------------------------------------------------------------------------------------------
# Code that runs on the workers of a Dask cluster: a function is kept there and called for many pieces.
#
# A function is kept as it was sent until the first piece needs it. A worker that was not there when it was sent
# answers `_Lacking`, and is sent it then. Pieces do not depend on it in Dask's sense: Dask would give all of them to
# the worker that has it, and forget it with that worker.


CHECKED_SOFTWARE = ("nutmeg", "python", "numpy", "mujoco")
"""Software that must have the same version here and on the workers."""
MAX_KEPT_FUNCTIONS = 4
"""Number of functions that a worker keeps; the oldest is dropped first."""


@dataclass(frozen=True)
class _Lacking:
    """The answer of a worker that does not have the function."""

    worker: str
    """Its address."""


class _Kept:
    """A function as it was sent, and loaded."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent
        self._function: Function | None = None
        self._loading = threading.Lock()

    def function(self) -> Function:
        """The function; one thread of a worker loads it, the others then have it."""
        from distributed.protocol.pickle import loads

        with self._loading:
            if self._function is None:
                try:
                    self._function = cast("Function", loads(self._sent))
                except Exception:  # noqa: BLE001 (some exceptions cannot be sent; as text, all can)
                    raise EnvironmentProblem(
                        f"the function cannot be loaded on a Dask worker:\n{traceback.format_exc()}"
                        "Its module must be there too: install it, or start the workers with PYTHONPATH set."
                    ) from None
            return self._function


def keep(digest: str, sent: bytes, dask_worker: Worker) -> dict[str, str]:
    """Keeps a function on a worker (an argument that Dask fills in); returns the worker's software versions."""
    functions = _functions(dask_worker)
    functions.setdefault(digest, _Kept(sent))
    while len(functions) > MAX_KEPT_FUNCTIONS:
        functions.pop(next(iter(functions)), None)
    return versions(CHECKED_SOFTWARE)


def _evaluate_there(candidates: Floats, seeds: Sequence[SeedSequence], *, digest: str) -> Answer | _Lacking:
    """Evaluates a piece (n, k) on a worker, with the function of this digest."""
    from distributed import get_worker

    worker = get_worker()
    kept = _functions(worker).get(digest)
    return _Lacking(worker.address) if kept is None else answered(kept.function(), candidates, seeds)


def _functions(worker: Worker) -> dict[str, _Kept]:
    """The functions that a worker keeps until it ends, by digest."""
    return cast("dict[str, _Kept]", vars(worker).setdefault("nutmeg_functions", {}))


LISTENING_TIMEOUT = 2.0
"""Time limit for finding out whether a scheduler listens at an address [s]."""
CONNECT_TIMEOUT = 60.0
"""Time limit for the first answer of a scheduler that listens [s]."""
HIGHEST_PORT = 65535
DISTRIBUTION = "nutmeg-sim"
"""The name of Nutmeg's distribution package."""


@dataclass(frozen=True)
class _Sendable:
    """A function as it is sent."""

    digest: str
    content: bytes


class OnCluster:
    """Evaluates on the workers of a Dask cluster.

    Args:
        address: address of the scheduler, `tcp://host:port`, or the path of the `.json` file it writes with
            `--scheduler-file`.
        piece: number of candidates in each call of the function; by default an equal share for each thread of the
            present workers.
        patience: time without an answer after which the number of workers is checked [s].
        notice: called with a sentence when there are no workers; by default, a warning is logged.
    """

    def __init__(
        self,
        address: str,
        *,
        piece: int | Share = EQUAL_SHARES,
        patience: float = 10.0,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        if find_spec("distributed") is None:
            raise MissingExtraError("a cluster", "Dask", "cluster")
        checked_workers(1, piece)
        self._address, self._piece, self._patience = _checked_address(address), piece, patience
        self._notice = notice or logging.getLogger(__name__).warning
        self._client: Client | None = None
        self._sent, self._knowing = "", set[str]()
        """The function that was sent last, and the addresses of the workers that have it."""

    def evaluate(
        self, function: Function, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None = None
    ) -> Evaluation:
        """The values of candidates (N, k); if interrupted, pieces that have not begun are cancelled."""
        sendable = _serialised(function)
        try:
            threads = self._handed_over(sendable)
            todo = pieces(len(candidates), self._piece, threads or max(1, len(candidates)))
            hand_out = partial(self._answers, sendable)
            return evaluate_elsewhere(hand_out, candidates, seeds, todo, "a Dask worker", progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnects from the cluster, which keeps running."""
        client, self._client, self._sent = self._client, None, ""
        if client is not None:
            with contextlib.suppress(OSError), _quiet("distributed.client", when=client.status != "running"):
                client.close(timeout=2.0)

    def _connected(self) -> Client:
        if self._client is None or self._client.status != "running":
            self.close()
            self._client = _connect(self._address)
        return self._client

    def _handed_over(self, function: _Sendable) -> int:
        """Sends the function to the workers that do not have it; returns the number of threads of all workers."""
        client = self._connected()
        if self._sent != function.digest:
            self._sent, self._knowing = function.digest, set()
        with self._scheduler_there():
            threads = client.nthreads()
            if new := [address for address in threads if address not in self._knowing]:
                _check_installed(client)
                self._hand_over(client, function, new)
        return sum(threads.values())

    def _hand_over(self, client: Client, function: _Sendable, workers: list[str]) -> None:
        """Sends the function to some workers; workers that have left meanwhile are skipped."""
        found = client.run(keep, function.digest, function.content, workers=workers, on_error="return")
        for address, answer in found.items():
            if isinstance(answer, OSError):
                continue
            if isinstance(answer, BaseException):
                raise EnvironmentProblem(
                    f"the Dask worker at {address} cannot take the function ({type(answer).__name__}: {answer}). It "
                    "needs the same Python, Nutmeg and NumPy as this machine."
                )
            _check_versions(address, answer)
            self._knowing.add(address)

    def _answers(self, function: _Sendable, work: Work) -> Answers:
        """The answers to pieces as they come."""
        client = self._connected()
        finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        jobs: dict[str, tuple[Piece, Future]] = {}
        todo = list(work)
        while jobs or todo:
            with self._scheduler_there():
                jobs |= _submitted(client, function, {piece: work[piece] for piece in todo}, finished)
            todo = []
            done = self._next(client, finished)
            with self._scheduler_there():
                answers = _answers_of(client, done)
            for future, answer in zip(done, answers, strict=True):
                piece, _ = jobs.pop(future.key)  # and is forgotten by the cluster
                if isinstance(answer, _Lacking):  # a worker that joined after the function was sent
                    todo.append(piece)
                    with self._scheduler_there():
                        _check_installed(client)
                        self._hand_over(client, function, [answer.worker])
                else:
                    yield piece, answer

    def _next(self, client: Client, finished: queue.SimpleQueue[Future]) -> list[Future]:
        """Waits until a future has finished; returns all futures that have."""
        noticed = False
        while True:
            with contextlib.suppress(queue.Empty):
                done = [finished.get(timeout=self._patience)]
                while not finished.empty():
                    done.append(finished.get())
                return done
            with self._scheduler_there():
                lonely = not client.nthreads()
            if lonely and not noticed:
                self._notice(
                    f"the Dask cluster at {self._address} has no workers; waiting for one. "
                    f"Start some: dask worker {_as_argument(self._address)}"
                )
            noticed = lonely

    @contextlib.contextmanager
    def _scheduler_there(self) -> Iterator[None]:
        """Turns the many errors that Dask raises after losing its scheduler into one."""
        try:
            yield
        except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
            raise EnvironmentProblem(
                f"the Dask scheduler at {self._address} has gone ({type(error).__name__}). What was saved is safe: "
                "start the scheduler and its workers again, and run the same command to go on."
            ) from None


def _submitted(
    client: Client, function: _Sendable, work: Work, finished: queue.SimpleQueue[Future]
) -> dict[str, tuple[Piece, Future]]:
    """Submits pieces; returns each piece with its future, by key. Futures are put into `finished` when done."""
    if not work:
        return {}
    candidates, seeds = zip(*work.values(), strict=True)
    futures = client.map(_evaluate_there, candidates, seeds, digest=function.digest, pure=False)
    for future in futures:
        future.add_done_callback(finished.put)
    return {future.key: (piece, future) for piece, future in zip(work, futures, strict=True)}


def _check_installed(client: Client) -> None:
    """Raises an error if a worker has no Nutmeg: a worker that cannot read a task would end without a message."""
    found = client.get_versions(packages=[DISTRIBUTION])["workers"]
    lacking = [address for address, worker in found.items() if not worker["packages"].get(DISTRIBUTION)]
    if lacking:
        raise EnvironmentProblem(
            f"the Dask worker at {lacking[0]} has no Nutmeg. Install {DISTRIBUTION} {versions(['nutmeg'])['nutmeg']} "
            "in the Python that runs it, and start it again."
        )


def _check_versions(address: str, found: Mapping[str, str]) -> None:
    here = versions(CHECKED_SOFTWARE)
    different = [
        f"{name} {found[name]} there, {here[name]} here" for name in CHECKED_SOFTWARE if found[name] != here[name]
    ]
    if different:
        raise EnvironmentProblem(
            f"the Dask worker at {address} has other software ({'; '.join(different)}), so its numbers "
            "may differ. Install the same versions there, and start it again."
        )


def _answers_of(client: Client, futures: list[Future]) -> list[Answer | _Lacking | Died]:
    """The answers of finished futures; fetched together if all went well, which is many times faster."""
    if all(future.status == "finished" for future in futures):
        with contextlib.suppress(Exception):  # fetching one by one repeats the error and shows which future raised it
            return cast("list[Answer | _Lacking | Died]", client.gather(futures))
    return [_answer_of(future) for future in futures]


def _answer_of(future: Future) -> Answer | _Lacking | Died:
    """The answer of a finished future."""
    from distributed import KilledWorker

    try:
        return cast("Answer | _Lacking", future.result())
    except KilledWorker:
        return Died("the Dask workers that tried it died, also when it was alone")
    except (EnvironmentProblem, OSError, concurrent.futures.CancelledError):
        raise
    except Exception as error:  # Dask could not call the function, for instance because nutmeg is not installed
        raise EnvironmentProblem(
            f"the Dask cluster cannot run Nutmeg's tasks ({type(error).__name__}: {error}). The scheduler and all "
            "workers need the same Python, Nutmeg and NumPy as this machine."
        ) from error


def _serialised(function: Function) -> _Sendable:
    from distributed.protocol.pickle import dumps

    try:
        content = cast("bytes", dumps(function))
    except Exception as error:  # noqa: BLE001 (pickling runs the objects' own code, which may raise anything)
        raise UsageError(
            f"the function cannot be sent to a cluster ({error}). Let it hold plain values and arrays only, no "
            "open files, locks or simulations; or evaluate on threads."
        ) from None
    return _Sendable(hashlib.sha256(content).hexdigest(), content)


def _connect(address: str) -> Client:
    _check_listening(address)
    from distributed import Client

    where = {"scheduler_file": address} if _is_file(address) else {"address": address}
    try:
        return Client(**where, timeout=CONNECT_TIMEOUT, set_as_default=False, name="nutmeg")
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            f"no Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`; it says its address."
        ) from None


def _check_listening(address: str) -> None:
    """Raises an error if no scheduler answers: Dask says so only after a minute, and never if another server does."""
    said = _address_in(address) if _is_file(address) else address
    host, port = urlsplit(said).hostname, urlsplit(said).port
    if not host or not port or not said.startswith(("tcp://", "tls://")):
        return  # Dask supports other protocols, too
    end = time.monotonic() + LISTENING_TIMEOUT
    while True:
        try:
            with socket.create_connection((host, port), timeout=max(0.1, end - time.monotonic())) as line:
                if said.startswith("tls://") or _speaks_first(line):
                    return
                problem = "something else listens there"
                break
        except OSError as error:
            problem = error.strerror or str(error)
        if time.monotonic() > end:
            break
        time.sleep(0.1)  # it may be about to come
    known = f"{address} says {said}" if _is_file(address) else said
    raise EnvironmentProblem(
        f"no Dask scheduler answers at {known} ({problem}). Start one: `dask scheduler --host {host} --port {port}`, "
        f"and workers: `dask worker {_as_argument(address)}`. Or leave --cluster out and use --threads."
    )


def _speaks_first(line: socket.socket) -> bool:
    """Whether the other side sends a greeting on connection, as a Dask scheduler does."""
    line.settimeout(CONNECT_TIMEOUT)
    try:
        return bool(line.recv(1))
    except TimeoutError:
        return False


def _address_in(path: str) -> str:
    """The address in a scheduler's file."""
    try:
        said = str(json.loads(Path(path).read_text(encoding="utf-8"))["address"])
        _ = urlsplit(said).port  # raises ValueError for a port that cannot exist
        return said
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            path, f"tells no address of a Dask scheduler ({error}). Start one: dask scheduler --scheduler-file {path}"
        ) from None


def _checked_address(address: str) -> str:
    port = address.rpartition(":")[2]
    if not _is_file(address) and not ("://" in address and port.isdecimal() and 0 < int(port) <= HIGHEST_PORT):
        raise UsageError(
            f"{address!r} is no address of a Dask scheduler. Allowed: tcp://host:port, tls://host:port with ports from "
            f"1 to {HIGHEST_PORT}, or the .json file that `dask scheduler --scheduler-file` writes."
        )
    if _is_file(address) and not Path(address).is_file():
        raise EnvironmentProblem(
            f"there is no file {address}. A scheduler writes it: dask scheduler --scheduler-file {address}"
        )
    return address


@contextlib.contextmanager
def _quiet(name: str, *, when: bool) -> Iterator[None]:
    """Silences a logger below critical messages: Dask logs a traceback for each try to leave a lost scheduler."""
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
