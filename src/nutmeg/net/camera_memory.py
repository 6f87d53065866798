"""A mailbox in shared memory: one process writes, another reads, and neither ever waits for the other.

Every entry goes to the next of a few slots, so that a reader has time to copy one while others are written. A slot
carries the number of its entry before and after it is filled; a reader that finds another number has been overtaken
and takes the newest instead. Memory is given to the other process when that is started, and is nobody's once both
have ended: nothing is left behind, whichever way they end.

    box = Mailbox(context, (nq,), "f8")             # then, in either process:
    box.write(Entry(sequence=1, time=0.02, took=0.0, values=qpos))
    number, entry = box.read(after=0)               # the newest one, or None
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext

    from numpy.typing import NDArray

SLOTS = 4
"""Entries that are kept; a reader that comes later than that has missed some."""
_STAMP = np.dtype([("number", "i8"), ("sequence", "i8"), ("time", "f8"), ("took", "f8")])


@dataclass(frozen=True)
class Entry:
    """What lies in a slot."""

    sequence: int
    """Counted by who asked."""
    time: float
    """Of what is shown [s]."""
    took: float
    """To make it [s]."""
    values: NDArray[Any]


class Mailbox:
    """Entries of one shape and type, in memory that two processes share.

    Args:
        context: the context with which the other process is started.
        shape: of the values of an entry.
        kind: their NumPy type.
    """

    def __init__(self, context: SpawnContext, shape: tuple[int, ...], kind: str) -> None:
        self._shape, self._kind = shape, kind
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        self._memory = context.RawArray(ctypes.c_byte, 8 + SLOTS * (_STAMP.itemsize + size))
        self._lay_out()

    def _lay_out(self) -> None:
        bytes_ = np.frombuffer(memoryview(self._memory).cast("B"), np.uint8)
        self._newest = bytes_[:8].view("i8")
        split = 8 + SLOTS * _STAMP.itemsize
        self._stamps = bytes_[8:split].view(_STAMP)
        self._values = bytes_[split:].view(self._kind).reshape(SLOTS, *self._shape)

    def __getstate__(self) -> dict[str, Any]:
        return {"_shape": self._shape, "_kind": self._kind, "_memory": self._memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lay_out()

    @property
    def newest(self) -> int:
        """The number of the newest entry; entries are numbered from 1."""
        return int(self._newest[0])

    def write(self, entry: Entry) -> None:
        """Adds an entry; the oldest goes."""
        number = self.newest + 1
        slot = number % SLOTS
        self._stamps["number"][slot] = 0
        self._stamps["sequence"][slot], self._stamps["time"][slot] = entry.sequence, entry.time
        self._stamps["took"][slot] = entry.took
        self._values[slot] = entry.values
        self._stamps["number"][slot] = number
        self._newest[0] = number

    def read(self, after: int) -> tuple[int, Entry] | None:
        """The newest entry and its number, if that is above `after`."""
        while (number := self.newest) > after:
            entry = self.entry(number)
            if entry is not None:
                return number, entry
        return None

    def entry(self, number: int) -> Entry | None:
        """The entry of a number, unless it has gone."""
        slot = number % SLOTS
        if self._stamps["number"][slot] != number:
            return None
        stamp, values = self._stamps[slot].copy(), self._values[slot].copy()
        if self._stamps["number"][slot] != number:  # overtaken while copying
            return None
        return Entry(int(stamp["sequence"]), float(stamp["time"]), float(stamp["took"]), values)
