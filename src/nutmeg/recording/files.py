"""Files that survive a crash: appended with whole writes, or replaced in one go.

file = AppendFile(path)
file.append(row)                          # one write; after an error the file ends where it did before
replace_file(path, text)                  # the old content or the new one, never half of it
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Buffer  # of the type checker; Python has it from 3.12 on


class AppendFile:
    """A new file that only grows, by whole pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)

    def append(self, data: Buffer) -> None:
        """Write all of `data`, or raise OSError and leave the file as it was."""
        view = memoryview(data).cast("B")
        try:
            written = os.write(self._handle, view)
            while written < len(view):  # a disk that is nearly full takes a part, then raises
                written += os.write(self._handle, view[written:])
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one to report
                os.ftruncate(self._handle, self.size)
            raise
        self.size += len(view)

    def sync(self) -> None:
        """Force what was written to the disk."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Release the file; closing twice is fine."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


def replace_file(path: Path, data: Buffer) -> None:
    """Write a file under a temporary name, force it to the disk, then give it its name."""
    draft = path.with_name(path.name + ".draft")
    try:
        with draft.open("wb", buffering=0) as file:
            view = memoryview(data).cast("B")
            while len(view):
                view = view[file.write(view) or 0 :]
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Force the names in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
