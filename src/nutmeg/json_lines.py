"""Files of JSON lines that survive a crash: what is added is on the disk, or the file is as it was before.

    append_lines(path, [{"trial": "a", "fitness": 0.3}])
    read_lines(path)                            # [{"trial": "a", "fitness": 0.3}]

A line that a crash cut short is left out by who reads, and cut off by who adds.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from nutmeg.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects in a file; none if there is no such file."""
    try:
        return parsed_lines(path.read_bytes(), path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None


def parsed_lines(data: bytes, path: Path) -> list[dict[str, Any]]:
    """The objects in what was read of a file."""
    lines = []
    for number, line in enumerate(data[: whole(data)].splitlines(), start=1):
        try:
            lines.append(dict(json.loads(line)))
        except (ValueError, TypeError):
            raise FileError(path, "is not an object in JSON; the file was changed or damaged.", line=number) from None
    return lines


def whole(data: bytes) -> int:
    """How many bytes are lines that were not cut short."""
    return data.rfind(b"\n") + 1


def append_lines(path: Path, lines: Iterable[Mapping[str, object]], *, problem: str = "cannot be written") -> None:
    """Adds objects to a file, which is made if it is not there; an error begins with the `problem`."""
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(0)
            if (kept := whole(file.read(end))) < end:
                file.truncate(kept)
            append_all(file.fileno(), text.encode())
    except OSError as error:
        safe = "Everything before is safe; make room and run the same again."
        raise FileError(path, f"{problem}: {error.strerror}. {safe}") from None


def append_all(handle: int, data: bytes) -> None:
    """Adds data to a file that is open for appending, and forces it to the disk; or leaves the file as it was."""
    size, left = os.fstat(handle).st_size, memoryview(data)
    try:
        while left:  # a disk that is nearly full takes a part, then raises
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            os.ftruncate(handle, size)
        raise
