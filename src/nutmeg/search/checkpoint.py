"""A search that survives being interrupted: every generation told, as a line of JSON in `search.jsonl`.

A searcher is a pure function of its settings, its generator and what it was told. So nothing of its inside is
stored: a new one, made the same way, is told the same values again, and goes on as if it had never stopped.

    with open_checkpoint(folder, searcher, seed=7) as checkpoint:
        for told in checkpoint.generations:                # of the interrupted run, if there was one
            replay(searcher, told, checkpoint.path)
        checkpoint.append(Told(number, candidates, values, failures))

The first line says what is searched and how; another space, algorithm or setting is refused. Each line is
forced to the disk before the search goes on; one that a crash cut short is left out, and its generation done
again. A failed candidate's value is `null`. Only one run at a time may write a checkpoint.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.errors import FileError, UsageError
from nutmeg.json_lines import append_all, parsed_lines, whole
from nutmeg.runs import differences
from nutmeg.search.evaluation import Failure
from nutmeg.search.searcher import Searcher

FILE = "search.jsonl"
FORMAT = 1


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
    """The file of a search, open for appending."""

    def __init__(self, path: Path, handle: int, generations: tuple[Told, ...]) -> None:
        self.path = path
        self.generations = generations
        """What was told before the checkpoint was opened."""
        self._handle = handle

    def append(self, told: Told) -> None:
        """Adds a generation; it is on the disk when this returns, or the file is as it was before."""
        values = [value if np.isfinite(value) else None for value in told.values.tolist()]
        line: dict[str, object] = {"generation": told.number, "candidates": told.candidates.tolist(), "values": values}
        if told.failures:
            line["failures"] = [{"index": f.index, "reason": f.reason} for f in told.failures]
        self.write(line)

    def write(self, line: Mapping[str, object]) -> None:
        """Adds any line."""
        try:
            append_all(self._handle, json.dumps(line, allow_nan=False).encode() + b"\n")
        except OSError as error:
            raise FileError(
                self.path,
                f"the generation could not be saved: {error.strerror}. Everything before it is safe; "
                "make room and run the same search again.",
            ) from None


@contextlib.contextmanager
def open_checkpoint(folder: Path, searcher: Searcher, *, seed: int) -> Iterator[Checkpoint]:
    """The checkpoint of a search in a folder, new or continued.

    Args:
        folder: made if it is not there.
        searcher: one that has not been asked yet.
        seed: of the candidates' generators.
    """
    if searcher.state["generation"]:
        raise UsageError("the searcher has been used already; a checkpoint needs a new one, made the same way.")
    head = json.loads(json.dumps({
        "format": FORMAT,
        "space": searcher.space.description(),
        "searcher": dict(searcher.description),
        "seed": seed,
    }))  # fmt: skip
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None
    try:
        _lock(handle, path)
        lines = _whole_lines(handle, path)
        checkpoint = Checkpoint(path, handle, _generations(lines[1:], path, searcher.space.size))
        if lines:
            _check_head(lines[0], head, path)
        else:
            checkpoint.write(head)
        yield checkpoint
    finally:
        os.close(handle)


def read_generations(folder: Path) -> tuple[Told, ...]:
    """The generations in a folder, for those who only look, even while the search goes on."""
    path = folder / FILE
    try:
        lines = parsed_lines(path.read_bytes(), path)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    return _generations(lines[1:], path, len(lines[0]["space"])) if lines else ()


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


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(path, "another run is writing here. Wait for it, or use another folder.") from None


def _whole_lines(handle: int, path: Path) -> list[dict[str, Any]]:
    """The lines of a checkpoint; what a crash left of an unfinished one is cut off."""
    with open(os.dup(handle), "rb") as file:  # noqa: PTH123 (a handle that stays open, and locked)
        file.seek(0)
        data = file.read()
    os.ftruncate(handle, whole(data))
    return parsed_lines(data, path)


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


def _check_head(found: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    """An error naming the first thing in which the stored search differs from this one."""
    different = next(differences(found, wanted), None)
    if different:
        raise FileError(
            path, f"belongs to another search ({different}). Use the same settings, or another folder.", line=1
        )
