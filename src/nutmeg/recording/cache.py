"""What a reader keeps in memory: arrays that grow, and the last few decoded chunks.

cache = ChunkCache(store, layout)
(angles,) = cache.values("series-00000.parquet", [channel], rows=2000, when="t=0 s to t=40 s")
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.recording import chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.recording.archive import Store
    from nutmeg.recording.channels import Channel, Layout

CACHE_BYTES = 64 * 2**20
"""Decoded chunks that are kept; 64 MiB are about ten minutes of eight robots."""


class Growing:
    """A `(rows, width)` array that doubles its room when it is full; views taken before that stay valid."""

    def __init__(self, width: int) -> None:
        self._room = np.empty((64, width))
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    @property
    def view(self) -> Floats:
        """The rows so far, read-only."""
        view = self._room[: self._rows]
        view.flags.writeable = False
        return view

    def append(self, rows: Floats) -> None:
        """Add rows at the end."""
        end = self._rows + len(rows)
        if end > len(self._room):
            room = np.empty((max(end, 2 * len(self._room)), self._room.shape[1]))
            room[: self._rows] = self._room[: self._rows]
            self._room = room
        self._room[self._rows : end] = rows
        self._rows = end

    def shorten(self, rows: int) -> None:
        """Keep only the first `rows`, and the room; what was behind them will be overwritten."""
        self._rows = rows


class ChunkCache:
    """Decoded channels of sealed chunks, the least recently used ones dropped."""

    def __init__(self, store: Store, layout: Layout) -> None:
        self.problems: list[str] = []
        self._store, self._layout = store, layout
        self._kept: OrderedDict[tuple[str, str], NDArray[np.floating]] = OrderedDict()
        self._bytes = 0

    def values(self, name: str, channels: Sequence[Channel], rows: int, when: str) -> list[NDArray[np.floating]]:
        """The values `(rows, labels)` of each channel in a chunk; NaN, and a problem, where it is damaged."""
        absent = [channel for channel in channels if (name, channel.name) not in self._kept]
        fresh = self._decode(name, absent, rows, when) if absent else {}
        found = []
        for channel in channels:
            key = (name, channel.name)
            if channel.name not in fresh:
                self._kept.move_to_end(key)
            found.append(fresh[channel.name] if channel.name in fresh else self._kept[key])
        for channel_name, values in fresh.items():
            self._keep((name, channel_name), values)
        return found

    def _keep(self, key: tuple[str, str], values: NDArray[np.floating]) -> None:
        self._kept[key] = values
        self._bytes += values.nbytes
        while self._bytes > CACHE_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.nbytes

    def _decode(self, name: str, channels: Sequence[Channel], rows: int, when: str) -> dict[str, NDArray[np.floating]]:
        """Decode together; if that fails, one by one, so that only what is damaged is lost."""
        try:
            data = self._store.read(name)
            return chunks.decode(data, channels)
        except chunks.BROKEN as error:
            if len(channels) > 1:
                parts = [self._decode(name, [channel], rows, when) for channel in channels]
                return {key: values for part in parts for key, values in part.items()}
            channel = channels[0]
            problem = f"{name}: {channel.name} cannot be read ({str(error).strip('. ')}): {when} is NaN."
            self.problems += [] if problem in self.problems else [problem]
            return {channel.name: np.full((rows, len(channel.labels)), np.nan)}
