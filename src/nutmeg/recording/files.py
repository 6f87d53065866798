"""The files of a recording: chunks of rows, and where all files lie, in a folder or packed in one file.

A chunk is some thousand rows sealed as one Parquet file: one column per component, float32 where the channel has a
resolution, else float64. Each byte of the numbers is stored apart from the others (BYTE_STREAM_SPLIT) and compressed
with zstd: of plain, dictionary and split columns this was the smallest on made-up signals of walking robots (25, 31 and
19 MB for ten minutes of eight at 50 Hz, in chunks of 5000 rows), and the fastest. Pages carry checksums, so a flipped
bit is noticed. The file's metadata has the key `units`: a JSON object with the SI unit of each column that has one.

    data = encode(layout, rows)                 # rows: (n, 1 + width) float64, time first
    times = decode_times(data, layout.columns)  # (n,)
    angles = decode(data, [channel])            # {"nao1.angles": (n, labels)}

The packed form is a zip without compression (Parquet is compressed already), its entries in the order in
which a truncated copy is most useful. Without its directory, which is at the end, the entries are found by
walking their headers (APPNOTE.TXT of PKWARE, 4.3.7: local file header).

    pack(Path("walk.nutmeg"), Path("walk-packed.nutmeg"))
    store = open_store(Path("walk-packed.nutmeg"))
    store.read("manifest.toml")
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nutmeg.base.errors import RecordingError
from nutmeg.base.journal import draft
from nutmeg.recording.manifest import EVENTS, MANIFEST, SCENE, Manifest, is_mesh_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.recording.channels import Channel, Layout

TIME = "time"
_SERIES = re.compile(r"series-(\d{5,})\.parquet")
_TAIL = re.compile(r"tail-(\d{5,})\.f64")


def load_parquet() -> None:
    """Loads pyarrow (30 MB) ahead of time, for writers that must not wait for it when the first chunk is full."""
    import pyarrow.parquet  # noqa: F401 (to have it loaded)


def decoding_errors() -> tuple[type[Exception], ...]:
    """Errors that decoding a damaged chunk may raise."""
    import pyarrow as pa

    return (pa.ArrowException, OSError, KeyError, ValueError)


def series_name(index: int) -> str:
    """The file of sealed chunk `index`."""
    return f"series-{index:05d}.parquet"


def tail_name(index: int) -> str:
    """The file of the rows that will become chunk `index`; readers ignore it once that chunk exists."""
    return f"tail-{index:05d}.f64"


def series_indices(names: Iterable[str]) -> list[int]:
    """Sorted indices of the chunks among these file names."""
    return sorted(int(found[1]) for name in names if (found := _SERIES.fullmatch(name)))


def _is_chunk_name(name: str) -> bool:
    """Whether a file of this name holds rows."""
    return bool(_SERIES.fullmatch(name) or _TAIL.fullmatch(name))


def encode(layout: Layout, rows: Floats) -> pa.Buffer:
    """Rows `(n, 1 + width)`, time first and rounded already, as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [TIME, *layout.columns]
    arrays = _columns(rows[:, :1], np.float64)
    for channel in layout.channels:
        kind = np.float32 if channel.resolution else np.float64
        arrays += _columns(rows[:, 1:][:, layout.slices[channel.name]], kind)
    table = pa.Table.from_arrays(arrays, names=names)
    units = {TIME: "s", **{column: c.unit for c in layout.channels for column in c.columns if c.unit}}
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        table.schema,
        compression="zstd",
        use_dictionary=False,
        use_byte_stream_split=True,
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        writer.write_table(table, row_group_size=max(len(rows), 1))
        writer.add_key_value_metadata({"units": json.dumps(units)})
    return sink.getvalue()


def _columns(block: Floats, kind: type[np.floating]) -> list[pa.Array[Any]]:
    """The columns of `(n, labels)` numbers, all in one piece of memory."""
    import pyarrow as pa

    columns = np.ascontiguousarray(block.astype(kind).T)
    return [pa.array(column) for column in columns]


def decode_times(data: bytes, columns: Sequence[str]) -> Floats:
    """The times `(n,)` of a chunk; a ValueError if it has other columns than these."""
    file = _open(data)
    if file.schema.names != [TIME, *columns]:
        raise ValueError("its columns are not those of the manifest")
    times = file.read(columns=[TIME], use_threads=False).column(0).to_numpy()
    return np.asarray(times, dtype=np.float64)


def decode(data: bytes, channels: Iterable[Channel]) -> dict[str, NDArray[np.floating]]:
    """The values `(n, labels)` of some channels by name, as stored: float32 or float64."""
    channels = list(channels)
    wanted = [column for channel in channels for column in channel.columns]
    table = _open(data).read(columns=wanted, use_threads=False)
    found: dict[str, NDArray[np.floating]] = {}
    for channel in channels:
        kind = np.float32 if channel.resolution else np.float64
        values = np.empty((table.num_rows, len(channel.labels)), dtype=kind)
        for i, column in enumerate(channel.columns):
            values[:, i] = table.column(column).to_numpy()
        found[channel.name] = values
    return found


def _open(data: bytes) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)


_LOCAL_HEADER = struct.Struct("<4s5H3L2H")  # signature, 5 short fields, CRC, 2 sizes, 2 lengths
_PACKED_AT = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes


class Store(Protocol):
    """The files of a recording, wherever they are."""

    path: Path
    grows: bool
    problems: list[str]

    def names(self) -> list[str]:
        """The files there are."""

    def size(self, name: str) -> int:
        """The bytes of a file; -1 if there is none."""

    def is_whole(self, name: str) -> bool:
        """Whether a file is there, and not cut short."""

    def read(self, name: str, offset: int = 0) -> bytes:
        """A file from `offset` on, as far as it is there; FileNotFoundError if it is not."""


class _FolderStore:
    """A recording that is a folder, and may be growing."""

    grows = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def names(self) -> list[str]:
        """The files there are."""
        return [entry.name for entry in self.path.iterdir()]

    def size(self, name: str) -> int:
        """The bytes of a file; -1 if there is none."""
        try:
            return (self.path / name).stat().st_size
        except FileNotFoundError:
            return -1

    def is_whole(self, name: str) -> bool:
        """Whether a file is there; in a folder none is cut short on the way."""
        return self.size(name) >= 0

    def read(self, name: str, offset: int = 0) -> bytes:
        """A file from `offset` on."""
        with (self.path / name).open("rb", buffering=0) as file:
            file.seek(offset)
            return file.read()


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """Place of an entry's content in a packed file, in bytes."""

    start: int
    size: int
    crc: int


class _PackedStore:
    """A recording in one file; `problems` names truncated and damaged entries."""

    grows = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self._length = path.stat().st_size
        try:
            with zipfile.ZipFile(path) as archive:
                self._entries = {info.filename: self._listed(info) for info in archive.infolist()}
        except (zipfile.BadZipFile, struct.error):
            self._entries = self._walked()

    def names(self) -> list[str]:
        """The files there are."""
        return list(self._entries)

    def size(self, name: str) -> int:
        """The bytes of a file, as far as they are there; -1 if there is none."""
        if name not in self._entries:
            return -1
        entry = self._entries[name]
        return max(0, min(entry.size, self._length - entry.start))

    def is_whole(self, name: str) -> bool:
        """Whether a file is there, and not cut short."""
        return name in self._entries and self.size(name) == self._entries[name].size

    def read(self, name: str, offset: int = 0) -> bytes:
        """A file from `offset` on, as far as it is there."""
        if name not in self._entries:
            raise FileNotFoundError(name)
        entry = self._entries[name]
        with self.path.open("rb") as file:
            file.seek(entry.start)
            data = file.read(entry.size)
        if len(data) == entry.size and zlib.crc32(data) != entry.crc:
            problem = f"{name}: is damaged (its checksum is wrong)."
            self.problems += [] if problem in self.problems else [problem]
        return data[offset:]

    def _listed(self, info: zipfile.ZipInfo) -> _Entry:
        """An entry of the directory; only its header says where its content starts."""
        if info.compress_type != zipfile.ZIP_STORED:
            raise RecordingError(f"{self.path}: was zipped with compression. Unzip it, and open the folder.")
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        start = info.header_offset + _LOCAL_HEADER.size + header[-2] + header[-1]
        return _Entry(start=start, size=info.file_size, crc=info.CRC)

    def _walked(self) -> dict[str, _Entry]:
        """The entries of a file without its directory, and a problem that says where it ends."""
        entries: dict[str, _Entry] = {}
        place = 0
        with self.path.open("rb") as file:
            while True:
                file.seek(place)
                raw = file.read(_LOCAL_HEADER.size)
                if len(raw) < _LOCAL_HEADER.size or not raw.startswith(b"PK\x03\x04"):
                    break
                *_, crc, _, size, name_length, extra_length = _LOCAL_HEADER.unpack(raw)
                name = file.read(name_length).decode("utf-8", "replace")
                start = place + _LOCAL_HEADER.size + name_length + extra_length
                if start > self._length:
                    break
                entries[name] = _Entry(start=start, size=size, crc=crc)
                place = start + size
        self.problems.append(_end_of_walk(entries, self._length))
        return entries


def _end_of_walk(entries: dict[str, _Entry], length: int) -> str:
    """A sentence that says where a packed file without directory ends."""
    cut = [name for name, entry in entries.items() if entry.start + entry.size > length]
    if cut:
        entry = entries[cut[0]]
        where = f"in the middle of {cut[0]} ({length - entry.start} of {entry.size} bytes)"
    else:
        where = f"after {list(entries)[-1]}" if entries else "before its first entry"
    return f"the file is truncated: it ends {where}, and what followed is missing."


def open_store(path: Path) -> Store:
    """The files of the recording at `path`, a folder or a packed file."""
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            raise RecordingError(f"{path}: is a folder, but no recording: it has no {MANIFEST}.{_recordings_in(path)}")
        return _FolderStore(path)
    if not path.is_file():
        raise RecordingError(f"{path}: there is no such recording. Check the path.")
    try:
        with path.open("rb") as file:
            start = file.read(4)
        store = _PackedStore(path) if start == b"PK\x03\x04" else None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}.") from None
    if store is None or not store.is_whole(MANIFEST):
        raise RecordingError(
            f"{path}: is no recording: it is not a packed one with a whole {MANIFEST} in it. `nutmeg import` "
            "makes a recording of a CSV log."
        )
    return store


def _recordings_in(folder: Path) -> str:
    """A sentence that names the newest recordings in a folder, also those one folder deeper, as `runs` has them."""
    inside = [m.parent for pattern in (f"*/{MANIFEST}", f"*/*/{MANIFEST}") for m in folder.glob(pattern)]
    inside.sort(key=lambda recording: (recording / MANIFEST).stat().st_mtime, reverse=True)
    return f" Did you mean {' or '.join(map(str, inside[:3]))}?" if inside else ""


def pack(folder: Path, file: Path, *, overwrite: bool = False) -> None:
    """Writes the recording in `folder` into one file, without void tails and files that are not part of it."""
    folder, file = Path(folder), Path(file)
    store = open_store(folder)
    if not isinstance(store, _FolderStore):
        raise RecordingError(f"{folder}: is packed already. Copy it.")
    if file.exists() and not (overwrite and file.is_file()):
        raise RecordingError(f"{file}: exists already. Choose another name, or allow to overwrite it.")
    sealed = series_indices(store.names())
    series = [series_name(index) for index in sealed]
    meshes = sorted(filter(is_mesh_name, store.names()))
    tail = tail_name(sealed[-1] + 1 if sealed else 0)
    try:
        with draft(file) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            for name in [MANIFEST, SCENE, *meshes, EVENTS, *series, tail]:
                if store.size(name) >= 0:
                    archive.writestr(zipfile.ZipInfo(name, _PACKED_AT), store.read(name))
    except OSError as error:
        raise RecordingError(f"{file}: cannot be written: {error.strerror}. {folder} is unchanged.") from None


def remove_recording(path: Path) -> None:
    """Delete a recording; refuses anything else, and a folder with foreign files in it."""
    store = open_store(path)
    Manifest.parse(store.read(MANIFEST), path / MANIFEST)
    try:
        if isinstance(store, _PackedStore):
            path.unlink()
            return
        names = [name for name in store.names() if name != MANIFEST]
        foreign = [name for name in names if not _belongs(name.removesuffix(".draft"))]
        if foreign:
            raise RecordingError(f"{path}: also holds {foreign[0]!r}, so it is not overwritten. Move that away.")
        for name in [*names, MANIFEST]:  # the manifest last: until then it can be removed again
            (path / name).unlink()
        path.rmdir()
    except OSError as error:
        raise RecordingError(f"{path}: cannot be overwritten: {error.strerror}.") from None


def _belongs(name: str) -> bool:
    return name in (MANIFEST, SCENE, EVENTS) or is_mesh_name(name) or _is_chunk_name(name)
