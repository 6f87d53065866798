"""Chunks: some thousand rows sealed as one Parquet file, and their names.

One column per component, float32 where the channel has a resolution, else float64. Each byte of the numbers
is stored apart from the others (BYTE_STREAM_SPLIT) and compressed with zstd: of plain, dictionary and split
columns this was the smallest on made-up signals of walking robots (25, 31 and 19 MB for ten minutes of eight
at 50 Hz, in chunks of 5000 rows), and the fastest. Pages carry checksums, so a flipped bit is noticed. The file's
metadata has the key `units`: a JSON object with the SI unit of each column that has one.

    data = encode(layout, rows)                 # rows: (n, 1 + width) float64, time first
    times = decode_times(data, layout.columns)  # (n,)
    angles = decode(data, [channel])            # {"nao1.angles": (n, labels)}
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

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
    """Loads the library that writes chunks, for those who cannot wait for it later; it occupies 30 MB."""
    import pyarrow.parquet  # noqa: F401 (to have it loaded)


def decoding_errors() -> tuple[type[Exception], ...]:
    """Errors that decoding a damaged chunk may raise."""
    import pyarrow as pa

    return (pa.ArrowException, OSError, KeyError, ValueError)


def series_name(index: int) -> str:
    """The file of sealed chunk `index`."""
    return f"series-{index:05d}.parquet"


def tail_name(index: int) -> str:
    """The file of the rows that will become chunk `index`; to be ignored once that exists."""
    return f"tail-{index:05d}.f64"


def series_indices(names: Iterable[str]) -> list[int]:
    """Which chunks are among the file names, in order."""
    return sorted(int(found[1]) for name in names if (found := _SERIES.fullmatch(name)))


def is_chunk_name(name: str) -> bool:
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
