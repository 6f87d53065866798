"""Reading a recording: a few chunks in memory at a time, finished or still growing, whole or damaged.

    recording = Recording.open(Path("walk.nutmeg"))
    angles = recording.read("nao1.angles", start=recording.row_at(10.0))  # (rows, labels)
    for problem in recording.problems:
        ...

Rows are numbered from 0 over all chunks that can be read. Of a damaged recording everything that is whole is
there, and `problems` says which times are missing.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError
from nutmeg.recording import files
from nutmeg.recording.channels import Channel, Layout
from nutmeg.recording.files import Store, open_store
from nutmeg.recording.manifest import EVENTS, MANIFEST, SCENE, EventLog, Manifest, content_hash, is_mesh_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats


# ----------------------------------------------------------------------------------------------------
# Memory of a reader: arrays that grow, and the last few decoded chunks.
#
# cache = _ChunkCache(store, layout) (angles,) = cache.values("series-00000.parquet", [channel], rows=2000, when="t=0 s
# to t=40 s")


CACHE_BYTES = 64 * 2**20
"""Memory for decoded chunks [bytes]; 64 MiB are about ten minutes of eight robots."""


class _Growing:
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
        """Keeps only the first `rows`; later appends overwrite the others in place."""
        self._rows = rows


class _ChunkCache:
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
            return files.decode(data, channels)
        except files.decoding_errors() as error:
            if len(channels) > 1:
                parts = [self._decode(name, [channel], rows, when) for channel in channels]
                return {key: values for part in parts for key, values in part.items()}
            channel = channels[0]
            problem = f"{name}: {channel.name} cannot be read ({str(error).strip('. ')}): {when} is NaN."
            self.problems += [] if problem in self.problems else [problem]
            return {channel.name: np.full((rows, len(channel.labels)), np.nan)}


class _Chunk(NamedTuple):
    """A sealed chunk and the rows it holds: `start` to `stop`, without `stop`."""

    name: str
    start: int
    stop: int


class Recording:
    """The rows and events of a recording."""

    def __init__(self, store: Store) -> None:
        """Use `Recording.open` instead."""
        self.path = store.path
        self._store = store
        text = store.read(MANIFEST)
        self.manifest = Manifest.parse(text, store.path / MANIFEST)
        self._manifest_size = len(text)
        self._layout = Layout(self.manifest.channels, store.path)
        self.channels: dict[str, Channel] = {channel.name: channel for channel in self._layout.channels}
        self._chunks: list[_Chunk] = []
        self._next = 0  # index of the chunk that the tail will become
        self._gaps: list[tuple[int, str]] = []  # row before which something is missing, and why
        self._times = _Growing(1)
        self._tail = _Growing(1 + self._layout.width)
        self._partial_row = 0  # bytes at the end of the tail
        self._log = EventLog()
        self._cache = _ChunkCache(store, self._layout)
        self.scene_xml = self._scene()
        self._adopt_sealed(files.series_indices(store.names()))
        self._read_new()
        if self._gaps and not len(self):
            raise RecordingError(
                f"{self.path}: none of its rows can be read: {self._gaps[0][1]}. Copy it anew from where it was made."
            )

    @classmethod
    def open(cls, path: Path) -> Recording:
        """The recording at `path`, a folder or a packed file, finished or not."""
        try:
            return cls(open_store(Path(path)))
        except OSError as error:
            raise RecordingError(f"{path}: cannot be read: {error.strerror}.") from None

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events in the order of writing, each with `time` in s, `kind` and its own fields."""
        return self._log.events

    @property
    def finished(self) -> bool:
        """Whether the writer was closed properly; if not, it is still at work, or was stopped."""
        return self.manifest.finished

    @property
    def times(self) -> Floats:
        """The times of all rows in s, `(rows,)`; not to be written to."""
        return self._times.view[:, 0]

    @property
    def duration(self) -> float:
        """Seconds from the first row to the last; 0 without rows."""
        return float(self.times[-1] - self.times[0]) if len(self) else 0.0

    def __len__(self) -> int:
        return len(self._times)

    def row_at(self, time: float) -> int:
        """The last row at or before `time` in s; the first one if all are later."""
        if not len(self):
            raise RecordingError(f"{self.path}: has no rows yet.")
        return max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)

    def read(self, channel: str, start: int = 0, stop: int | None = None) -> Floats:
        """The values `(rows, labels)` of one channel; `start` and `stop` as in slices."""
        return self.read_several([channel], start, stop)[channel]

    def read_several(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> dict[str, Floats]:
        """The values `(rows, labels)` of each of these channels; a chunk is opened once for all of them."""
        for name in names:
            if name not in self.channels:
                raise UnknownNameError("channel", name, self.channels, where=str(self.path))
        chosen = [self.channels[name] for name in names]
        start, stop, _ = slice(start, stop).indices(len(self))
        ends = np.cumsum([len(channel.labels) for channel in chosen], dtype=int)
        values = np.empty((max(stop - start, 0), int(ends[-1]) if len(ends) else 0))
        self._fill(values, chosen, start, stop)
        return dict(zip(names, np.split(values, ends[:-1], axis=1), strict=True)) if chosen else {}

    def rows(self, start: int = 0, stop: int | None = None) -> Floats:
        """The values `(rows, width)` of all channels in declared order; `start` and `stop` as in slices."""
        start, stop, _ = slice(start, stop).indices(len(self))
        values = np.empty((max(stop - start, 0), self._layout.width))
        self._fill(values, list(self._layout.channels), start, stop)
        return values

    def refresh(self) -> bool:
        """Pick up what was written since; True if there are new rows or events, or it was finished."""
        if not self._store.grows or self.finished:
            return False
        try:
            ended = self._reload_manifest()
            return self._read_new() or ended
        except OSError as error:
            raise RecordingError(f"{self.path}: is gone: {error.strerror}. It was moved or replaced.") from None

    def content_hash(self) -> str:
        """SHA-256 of channels, seed, configuration, scene, rows and events; not of chunks or dates."""
        return content_hash(self.manifest, self.scene_xml, self._blocks(), self.events)

    @property
    def problems(self) -> list[str]:
        """Missing parts, one sentence each; more may follow as damage shows up in reading."""
        found = [*self._store.problems]
        found += [f"{why}: {self._span(row)} are missing." for row, why in self._gaps]
        if self._partial_row:
            name = files.tail_name(self._next)
            found.append(f"{name}: ends in the middle of a row; {self._partial_row} bytes were left out.")
        for what, declared, count in self._counts():
            if declared not in (None, count):
                found.append(f"{MANIFEST} declares {declared} {what}; {count} could be read.")
        return found + self._log.problems + self._cache.problems

    def _counts(self) -> list[tuple[str, int | None, int]]:
        """Compares what a finished manifest declares with what is there."""
        last = self.manifest.last_time
        rows = "rows" if last is None else f"rows until t={last:g} s"
        return [(rows, self.manifest.rows, len(self)), ("events", self.manifest.events, len(self.events))]

    def _span(self, row: int) -> str:
        """The times between which rows are missing before `row`, as words."""
        after = f"after t={self.times[row - 1]:g} s" if row else "from the start"
        if row < len(self):
            return f"the rows {after} and before t={self.times[row]:g} s"
        last = self.manifest.last_time
        return f"the rows {after}" + (f" until t={last:g} s" if last is not None else "")

    def meshes(self) -> dict[str, bytes]:
        """The mesh files that the scene names, by name; of a truncated recording, those that are whole."""
        names = [name for name in self._store.names() if is_mesh_name(name) and self._store.is_whole(name)]
        return {name: self._store.read(name) for name in names}

    def _scene(self) -> str | None:
        if not self._store.is_whole(SCENE):
            return None
        return self._store.read(SCENE).decode("utf-8", "replace")

    def _reload_manifest(self) -> bool:
        """Look whether the writer has marked the recording as finished."""
        if self._store.size(MANIFEST) == self._manifest_size:  # the finished one is longer: it has the counts
            return False
        text = self._store.read(MANIFEST)
        self.manifest = Manifest.parse(text, self.path / MANIFEST)
        self._manifest_size = len(text)
        return self.finished

    def _read_new(self) -> bool:
        """Take up new events, chunks that were sealed since, and new rows of the tail."""
        news = False
        if self._store.size(EVENTS) > self._log.offset:
            news = self._log.feed(self._store.read(EVENTS, self._log.offset))
        before = len(self)
        while True:
            if self._store.size(files.series_name(self._next)) >= 0:
                self._adopt_sealed([self._next])
                continue
            try:
                self._read_tail()
            except FileNotFoundError:  # sealed in this very moment, or there is none
                if self._store.size(files.series_name(self._next)) >= 0:
                    continue
            return news or len(self) > before

    def _adopt_sealed(self, indices: list[int]) -> None:
        """Take up sealed chunks; rows known from their tail keep their numbers."""
        for index in indices:
            for lost in range(self._next, index):
                self._gaps.append((len(self), f"{files.series_name(lost)} is not there"))
            self._times.shorten(len(self._times) - len(self._tail))  # the chunk has the same times again
            self._tail.shorten(0)
            self._partial_row = 0
            self._next = index + 1
            name, start = files.series_name(index), len(self)
            try:
                times = files.decode_times(self._store.read(name), self._layout.columns)
                if start and len(times) and times[0] <= self.times[-1]:
                    raise ValueError(f"it starts at t={times[0]:g} s, which is not after the chunk before it")
            except files.decoding_errors() as error:
                self._gaps.append((start, f"{name} cannot be read ({str(error).strip('. ')})"))
                continue
            if not len(times):
                continue
            self._times.append(times[:, np.newaxis])
            self._chunks.append(_Chunk(name, start, start + len(times)))

    def _read_tail(self) -> None:
        """Take up the whole rows at the end of the tail."""
        name, row_bytes = files.tail_name(self._next), 8 * (1 + self._layout.width)
        done = len(self._tail) * row_bytes
        size = self._store.size(name)
        if size < 0:
            raise FileNotFoundError(name)
        if size < done:
            raise RecordingError(f"{self.path}: was replaced while it was read. Open it again.")
        self._partial_row = (size - done) % row_bytes
        if size - done < row_bytes:
            return
        data = self._store.read(name, done)
        self._partial_row = len(data) % row_bytes
        rows = np.frombuffer(data[: len(data) - self._partial_row], dtype="<f8").reshape(-1, 1 + self._layout.width)
        self._tail.append(rows)
        self._times.append(rows[:, :1])

    def _fill(self, out: Floats, channels: list[Channel], start: int, stop: int) -> None:
        """Copy rows `start` to `stop` of some channels, side by side, into `out`."""
        for chunk in self._overlapping(start, stop):
            first, last = max(start, chunk.start), min(stop, chunk.stop)
            values = self._cache.values(chunk.name, channels, chunk.stop - chunk.start, self._when(chunk))
            pieces = [array[first - chunk.start : last - chunk.start] for array in values]
            _place(out[first - start : last - start], pieces)
        sealed = len(self) - len(self._tail)
        if stop > max(sealed, start):
            rows = self._tail.view[max(start - sealed, 0) : stop - sealed, 1:]
            _place(out[max(sealed - start, 0) :], [rows[:, self._layout.slices[c.name]] for c in channels])

    def _overlapping(self, start: int, stop: int) -> list[_Chunk]:
        """The chunks with rows between `start` and `stop`."""
        first = int(np.searchsorted([chunk.stop for chunk in self._chunks], start, side="right"))
        last = int(np.searchsorted([chunk.start for chunk in self._chunks], stop, side="left"))
        return self._chunks[first:last] if start < stop else []

    def _when(self, chunk: _Chunk) -> str:
        return f"t={self.times[chunk.start]:g} s to t={self.times[chunk.stop - 1]:g} s"

    def _blocks(self) -> Iterator[Floats]:
        """All rows, time first, a chunk at a time: `(rows, 1 + width)`."""
        edges = [(chunk.start, chunk.stop) for chunk in self._chunks]
        for start, stop in [*edges, (len(self) - len(self._tail), len(self))]:
            yield np.concatenate([self.times[start:stop, np.newaxis], self.rows(start, stop)], axis=1)


def _place(out: Floats, pieces: list[NDArray[np.floating]]) -> None:
    """Write arrays `(rows, n)` side by side into `out`; numbers stored as float32 become float64."""
    column = 0
    for piece in pieces:
        out[:, column : column + piece.shape[1]] = piece
        column += piece.shape[1]
