"""Files that a command is to write: whether they can be, before the work, and what to say if not.

check_output(Path("knee.png"), ".png")          # raises at once, not after an hour
with writing(Path("knee.png")) as path:
    path.write_bytes(picture)
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

from nutmeg.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
