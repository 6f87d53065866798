"""Writing a recording so that neither kill -9 nor a full disk loses a row.

Each row goes to the tail file with one `write`; when the tail is long enough, its rows are sealed as a
Parquet chunk (temporary name, fsync, rename) and the next tail begins. A tail carries the number of the chunk
it will become, and is void once that exists, so a crash between the two neither doubles nor loses rows.

    manifest = Manifest(kind="scene", seed=7, channels=channels)
    with RecordingWriter.create(Path("walk.nutmeg"), manifest) as writer:
        for _ in range(500):
            writer.append(time, values)

Left by an exception, a recording keeps all its rows, but is not marked as finished.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np

from nutmeg import __version__
from nutmeg.base.errors import RecordingError
from nutmeg.base.journal import AppendFile, replace_file, sync_folder
from nutmeg.recording import files
from nutmeg.recording.channels import Layout
from nutmeg.recording.files import remove_recording
from nutmeg.recording.manifest import EVENTS, MANIFEST, SCENE, Manifest, event_line, is_mesh_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from numpy.typing import ArrayLike, NDArray


class RecordingWriter:
    """Appends rows and events to a new recording; a context manager."""

    def __init__(self, path: Path, manifest: Manifest, layout: Layout, rows_per_chunk: int) -> None:
        """Use `RecordingWriter.create` instead."""
        files.load_parquet()  # before the first chunk is full, when a control cycle would wait for it
        self.path, self.manifest = path, manifest
        self._layout = layout
        self._rows = np.zeros((rows_per_chunk, 1 + layout.width), dtype="<f8")
        self._filled = 0  # rows of the tail
        self._sealed = 0  # rows in chunks
        self._chunk = 0
        self._event_count = 0
        self._last_time = -math.inf
        self._ended = ""  # why nothing can be appended any more
        self._tail = AppendFile(path / files.tail_name(0))
        self._events = AppendFile(path / EVENTS)

    @classmethod
    def create(
        cls,
        path: Path,
        manifest: Manifest,
        *,
        scene_xml: str | None = None,
        rows_per_chunk: int = 4000,
        overwrite: bool = False,
    ) -> RecordingWriter:
        """Begin a recording in the folder `path`, which must not exist yet unless `overwrite` is set.

        Args:
            path: the folder to make, by convention `something.nutmeg`.
            manifest: kind, seed, channels and configuration; the version of Nutmeg and the time are filled in.
            scene_xml: the scene as MJCF, for replays.
            rows_per_chunk: rows sealed together, and held in memory until then. Each column of a chunk has
                its price: for 536 columns, chunks of 500 rows cost three times the time of 4000, and a
                third more space.
            overwrite: replace a recording that is there; anything else that is there is left alone.
        """
        path = Path(path)
        layout = Layout(manifest.channels, path)
        if rows_per_chunk < 1:
            raise RecordingError(f"{path}: rows_per_chunk is {rows_per_chunk}; it must be at least 1.")
        started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        manifest = replace(manifest, seed=int(manifest.seed), nutmeg=__version__, started=started)
        text = manifest.text().encode()
        _clear_the_place(path, overwrite=overwrite)
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise RecordingError(f"{path}: cannot be created: {error.strerror}. Choose another place.") from None
        try:
            if scene_xml is not None:
                replace_file(path / SCENE, scene_xml.encode())
            writer = cls(path, manifest, layout, rows_per_chunk)
            replace_file(path / MANIFEST, text)  # last: with it, the folder is a recording
        except OSError as error:
            for file in path.iterdir():  # all of these were just created here
                file.unlink()
            path.rmdir()
            raise RecordingError(f"{path}: cannot be written: {error.strerror}. Choose another place.") from None
        return writer

    def add_meshes(self, meshes: Mapping[str, bytes]) -> None:
        """Write the mesh files that the scene names, by name."""
        try:
            for name, data in meshes.items():
                assert is_mesh_name(name), name
                replace_file(self.path / name, data)
        except OSError as error:
            self._fail(error, name)

    @property
    def rows_written(self) -> int:
        """Number of appended rows."""
        return self._sealed + self._filled

    def append(self, time: float, values: NDArray[np.floating]) -> None:
        """Add one row: `values` `(width,)` of all channels in declared order, at a time later than the last."""
        if self._ended:
            raise RecordingError(self._ended)
        if np.shape(values) != (self._layout.width,):
            self._refuse_shape(np.shape(values), f"({self._layout.width},)")
        if not self._last_time < time < math.inf:
            self._refuse_time(time, self._last_time)
        row = self._rows[self._filled]
        row[0] = time
        row[1:] = values
        self._layout.round_in_place(row[1:])
        self._commit(1)

    def append_many(self, times: ArrayLike, values: ArrayLike) -> None:
        """Add rows: `times` `(n,)`, increasing, and `values` `(n, width)`; all of them or, if refused, none."""
        if self._ended:
            raise RecordingError(self._ended)
        times = np.asarray(times, dtype=np.float64)
        values = np.array(values, dtype=np.float64)
        if times.ndim != 1 or values.shape != (len(times), self._layout.width):
            self._refuse_shape(values.shape, f"(n, {self._layout.width}) with n = {times.size} times")
        before = np.concatenate([[self._last_time], times[:-1]])[: len(times)]
        late = ~((times > before) & np.isfinite(times))
        if late.any():
            first = int(np.argmax(late))
            self._refuse_time(float(times[first]), float(before[first]))
        self._layout.round_in_place(values)
        done = 0
        while done < len(times):
            count = min(len(times) - done, len(self._rows) - self._filled)
            place = self._rows[self._filled : self._filled + count]
            place[:, 0] = times[done : done + count]
            place[:, 1:] = values[done : done + count]
            self._commit(count)
            done += count

    def event(self, time: float, kind: str, /, **fields: object) -> None:
        """Add an event: a time in s, a kind such as `goal`, and any fields that JSON can hold."""
        if self._ended:
            raise RecordingError(self._ended)
        line = event_line(time, kind, fields, self.path)
        try:
            self._events.append(line)
        except OSError as error:
            self._fail(error, EVENTS)
        self._event_count += 1

    def close(self) -> None:
        """Seal what is left and mark the recording as finished. Closing twice is fine."""
        self._end("is closed; it takes no more rows or events. Begin another one.", finished=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end("is closed; it takes no more rows or events. Begin another one.", finished=kind is None)

    def _commit(self, count: int) -> None:
        """Write `count` rows that lie in the buffer behind the filled ones."""
        new = self._rows[self._filled : self._filled + count]
        try:
            self._tail.append(new.data)
        except OSError as error:
            self._fail(error, files.tail_name(self._chunk))
        self._filled += count
        self._last_time = float(new[-1, 0])
        if self._filled == len(self._rows):
            self._seal(begin_next=True)

    def _seal(self, *, begin_next: bool) -> None:
        """Turn the tail into a chunk; the tail is removed only once the chunk is on the disk."""
        name = files.series_name(self._chunk)
        try:
            replace_file(self.path / name, files.encode(self._layout, self._rows[: self._filled]))
            done = self._tail
            self._chunk, self._sealed, self._filled = self._chunk + 1, self._sealed + self._filled, 0
            if begin_next:
                self._tail = AppendFile(self.path / files.tail_name(self._chunk))
            done.close()
            done.path.unlink()
        except OSError as error:
            self._fail(error, name)

    def _end(self, why: str, *, finished: bool) -> None:
        """Seal what is left, mark the end if it is one, release the files; after a failure only that."""
        if self._ended:
            self._tail.close()
            self._events.close()
            return
        if self._filled:
            self._seal(begin_next=False)
        try:
            self._events.sync()
            self._tail.close()
            self._tail.path.unlink(missing_ok=True)
            if finished:
                last = self._last_time if self._sealed else None
                counts = replace(self.manifest, rows=self._sealed, events=self._event_count, last_time=last)
                self.manifest = replace(counts, finished=True)
                replace_file(self.path / MANIFEST, self.manifest.text().encode())
            sync_folder(self.path)
        except OSError as error:
            self._fail(error, MANIFEST)
        self._events.close()
        self._ended = f"{self.path}: {why}"

    def _fail(self, error: OSError, name: str) -> NoReturn:
        """Say how far everything is safe, and let every later append say it again."""
        until = f"all rows until t={self._last_time:g} s are" if self.rows_written else "no row is"
        self._ended = (
            f"{self.path}: cannot write {name}: {error.strerror or error}. In the recording {until} safe; it "
            "takes no more. Make space or choose another disk, and begin another recording."
        )
        raise RecordingError(self._ended) from error

    def _refuse_time(self, time: float, before: float) -> NoReturn:
        raise RecordingError(
            f"{self.path}: a row at t={time!r} s cannot follow t={before!r} s; times are finite and "
            "strictly increasing. Start another recording where the clock starts anew."
        )

    def _refuse_shape(self, found: tuple[int, ...], needed: str) -> NoReturn:
        names = ", ".join(f"{c.name} ({len(c.labels)})" for c in self._layout.channels[:8])
        more = ", ..." if len(self._layout.channels) > 8 else ""
        raise RecordingError(f"{self.path}: values have shape {found}, needed is {needed}: {names}{more}.")


def _clear_the_place(path: Path, *, overwrite: bool) -> None:
    """Make sure that nothing is at `path`; only a recording is ever removed."""
    if not (path.exists() or path.is_symlink()):
        return
    if not overwrite:
        raise RecordingError(f"{path}: exists already. Choose another name, or allow to overwrite it.")
    remove_recording(path)
