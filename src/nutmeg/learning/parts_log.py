"""What every candidate was worth part by part, generation by generation: `parts.jsonl` in the folder of a run.

    log = PartsLog(folder)
    log.append(0, parts)                # (N, parts); nan for those that failed
    log.generation(0, N)                # the same, also after the run was resumed

A generation is written here before the search is told of it. So the file never has less than `search.jsonl`; what it
has more is of a generation that was interrupted, and is replaced when that is judged again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import FileError
from nutmeg.base.journal import append_lines, finite, read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats


FILE = "parts.jsonl"


class PartsLog:
    """The parts of all generations, in memory and, with a folder, on disk."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self._kept: list[Floats] = [] if self._path is None else self._read()

    def append(self, number: int, parts: Floats) -> None:
        """Adds generation `number`; later ones that were there before are dropped."""
        self._kept = [*self._kept[:number], np.array(parts)]
        if self._path is not None:
            line = finite(parts.tolist())
            append_lines(self._path, [line], keep=number, problem="the generation could not be saved")

    def generation(self, number: int, size: int) -> Floats:
        """The parts of a generation of `size` candidates, (size, parts)."""
        if number >= len(self._kept) or len(self._kept[number]) != size:
            raise FileError(
                self._path or FILE,
                f"lacks the {size} candidates of generation {number}, which search.jsonl has: the file was changed. "
                "Begin again in another folder.",
                line=number + 1,
            )
        return self._kept[number]

    def _read(self) -> list[Floats]:
        assert self._path is not None
        found = []
        for number, rows in enumerate(read_lines(self._path, list), start=1):
            try:
                found.append(np.array([[np.nan if v is None else v for v in row] for row in rows], float))
            except (ValueError, TypeError):
                raise FileError(self._path, "is not a list of lists of numbers in JSON.", line=number) from None
        return found
