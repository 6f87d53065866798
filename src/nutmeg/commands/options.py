"""Where candidates are simulated: what `--threads` and `--cluster` mean, for all commands that search.

    evaluator, workers = chosen_evaluator(threads=2, cluster="", warn=terminal.warn)
    try:
        ...
    finally:
        evaluator.close()

Values are the same everywhere. Work that keeps Python's lock (a walk's controller, servos that change with their load)
is given to processes, as its threads would wait for each other; the rest, which is mostly MuJoCo's stepping, to
threads, which start at once and share memory.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

from nutmeg.base.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nutmeg.search.evaluation import Evaluator, Share


def chosen_evaluator(
    *, threads: int, cluster: str, warn: Callable[[str], None], piece: Share | None = None, locked: bool = False
) -> tuple[Evaluator, str]:
    """The evaluator that a user asked for, and that in words for the report.

    Args:
        threads: how many processors of this machine simulate.
        cluster: address of a Dask scheduler instead; empty for none.
        warn: told if the cluster has no workers.
        piece: how candidates are cut into pieces; an equal share for each worker without it.
        locked: whether the work keeps Python's lock for much of its time.
    """
    from nutmeg.search.evaluation import EQUAL_SHARES, InThisThread, Threads

    checked_threads(threads)
    piece = piece or EQUAL_SHARES
    if cluster:
        from nutmeg.search.cluster import OnCluster

        return OnCluster(cluster, piece=piece, notice=warn), f"Dask at {cluster}"
    if threads == 1:
        return InThisThread(piece=piece), "1 thread"
    if locked:
        from nutmeg.search.processes import Processes

        return Processes(threads, piece=piece), f"{threads} processes"
    return Threads(threads, piece=piece), f"{threads} threads"


def checked_threads(threads: int) -> None:
    """An error unless somebody works."""
    if threads < 1:
        raise UsageError(f"--threads is {threads}; allowed is 1 or more.")


# ----------------------------------------------------------------------------------------------------
# Files that a command is to write: whether they can be, before the work, and what to say if not.


def check_output(path: Path, *endings: str) -> None:
    """Raise `FileError` unless a file of this name, with one of these endings if any are given, can be written."""
    if endings and path.suffix.lower() not in endings:
        raise FileError(path, f"the name of this file must end in {' or '.join(endings)}.")
    if path.is_dir():
        raise FileError(path, "is a folder, but a file is to be written here. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(path, "cannot be written: its folder does not exist. Make the folder, or name another.")
    if path.exists() and not os.access(path, os.W_OK):
        raise FileError(path, "cannot be written: the file is protected. Choose another name.")
    with writing(path), tempfile.TemporaryFile(dir=path.parent):
        pass


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Turn what can go wrong while a file is written into a `FileError` that names it."""
    try:
        yield path
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}. Choose another place.") from None
