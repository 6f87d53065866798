"""Logs of robots in memory, whatever file they come from: a CSV file, a Parquet table or a recording.

    log = open_log(Path("kp100_sin_sin.csv"), mapping)
    log.times                                       # (rows,) [s]
    log.units                                       # {"servo.position.pendulum": "rad", ...}
    log.series(["servo.position.pendulum"])         # (rows, 1); NaN where a value is missing

Without a column map, a CSV file or Parquet table needs a column `time` [s] and columns named `{channel}.{label}`, as
in a recording. Logs of this kind are some minutes long; `import_csv` makes a recording of one that is longer than the
memory.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, UnknownNameError, listing
from nutmeg.recording.channels import Channel, Layout
from nutmeg.recording.csv_import import CsvChannel, CsvMap, CsvTime, csv_rows
from nutmeg.recording.reader import Recording

if TYPE_CHECKING:
    from pathlib import Path

LOG_SUFFIXES = (".csv", ".csv.gz", ".parquet", ".nutmeg")
"""Endings of files that can be opened as a log."""
_CHANNEL_UNITS = {"angles": "rad", "pose": "m"}
"""Units of channels with the names that simulations use, in files that state no units."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """Times, channels and events of one log."""

    path: Path
    """The file that it comes from, for error messages."""
    times: Floats
    """Times of the rows, (rows,) [s]."""
    channels: Mapping[str, Channel]
    """The channels by name."""
    read: Callable[[str], Floats] = field(repr=False)
    """Returns the values of a channel, (rows, labels)."""
    events: Sequence[Mapping[str, Any]] = ()
    """The events, each with `time` [s], `kind` and its own fields."""
    config: Mapping[str, object] = field(default_factory=dict)
    """The metadata of a recording; empty for other files."""
    problems: Sequence[str] = ()
    """What is missing from a damaged recording, one sentence each."""

    @classmethod
    def of(cls, recording: Recording) -> Log:
        """A recording as a log; its channels are read when they are asked for."""
        return cls(
            path=recording.path,
            times=recording.times,
            channels=recording.channels,
            read=recording.read,
            events=recording.events,
            config=recording.manifest.config,
            problems=recording.problems,
        )

    @cached_property
    def owners(self) -> dict[str, Channel]:
        """The channel of each column `{channel}.{label}`."""
        return {column: channel for channel in self.channels.values() for column in channel.columns}

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column."""
        return {column: channel.unit for column, channel in self.owners.items()}

    @property
    def duration(self) -> float:
        """The time from the first row to the last [s]; 0 without rows."""
        return float(self.times[-1] - self.times[0]) if len(self.times) else 0.0

    def series(self, columns: Sequence[str]) -> Floats:
        """Some columns side by side, (rows, columns)."""
        owners = [self.owners[column] for column in columns]
        values = {owner.name: self.read(owner.name) for owner in owners}
        parts = [values[owner.name][:, owner.columns.index(c)] for c, owner in zip(columns, owners, strict=True)]
        return np.stack(parts, axis=1)

    def first_event(self, kind: str) -> float:
        """The time of the first event of a kind [s]; infinite if there is none."""
        return min((float(event["time"]) for event in self.events if event["kind"] == kind), default=np.inf)


def open_log(path: Path, mapping: CsvMap | None = None) -> Log:
    """Opens a recording, a Parquet table or a CSV file, the latter by a column map where one is given."""
    if path.suffix == ".nutmeg":
        return Log.of(Recording.open(path))
    if path.suffix == ".parquet":
        return _parquet_log(path)
    return _csv_log(path, mapping or plain_map(path))


def _csv_log(path: Path, mapping: CsvMap) -> Log:
    times: list[float] = []
    rows: list[list[float]] = []
    events: list[dict[str, Any]] = []
    with csv_rows(path, mapping) as table:
        for time, values, changes in table:
            events += [{"time": time, "kind": kind, **fields} for kind, fields in changes]
            if values:
                times.append(time)
                rows.append(values)
    return log_in_memory(path, [part.channel for part in mapping.channels], np.array(times), np.array(rows), events)


def _parquet_log(path: Path) -> Log:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        groups = _grouped(path, list(table.column_names))
        columns = [column for group in groups.values() for column in group]
        values = {c: np.asarray(table.column(c).to_numpy(), float) for c in ("time", *columns)}
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise FileError(path, f"is not a Parquet table of numbers: {error}.") from None
    channels = [
        Channel(name=name, labels=_labels(group), unit=_CHANNEL_UNITS.get(name, "")) for name, group in groups.items()
    ]
    return log_in_memory(path, channels, values["time"], np.stack([values[c] for c in columns], axis=-1), ())


def log_in_memory(
    path: Path,
    channels: Sequence[Channel],
    times: Floats,
    rows: Floats,
    events: Sequence[Mapping[str, Any]],
) -> Log:
    """A log of values (rows, width) that are all there; they are rounded as a recording would store them."""
    if not len(times):
        raise FileError(path, "has no row that is to be kept. Check `where` in the column map.")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise FileError(path, "has times that are missing or do not increase from row to row.")
    layout = Layout(channels, path)
    layout.round_in_place(rows)

    def read(name: str) -> Floats:
        if name not in layout.slices:
            raise UnknownNameError("channel", name, layout.slices, where=str(path))
        return rows[:, layout.slices[name]]

    return Log(path=path, times=times, channels={c.name: c for c in channels}, read=read, events=events)


def plain_map(path: Path) -> CsvMap:
    """The map of a CSV log whose columns are named `{channel}.{label}`."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            first = file.readline().decode("utf-8-sig")
        names = next(csv.reader([first]), [])
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(path, f"cannot be read as CSV: {error}.") from None
    channels = tuple(
        CsvChannel(name=name, columns=tuple(group), labels=_labels(group), unit=_CHANNEL_UNITS.get(name, ""))
        for name, group in _grouped(path, names).items()
    )
    return CsvMap(time=CsvTime(column="time"), channels=channels)


def _grouped(path: Path, names: list[str]) -> dict[str, list[str]]:
    """The columns of each channel."""
    if "time" not in names:
        raise FileError(
            path, f"has no column 'time' [s]. {listing('column', names)} A column map can name another one."
        )
    groups: dict[str, list[str]] = {}
    for name in names:
        if channel := name.rpartition(".")[0]:
            groups.setdefault(channel, []).append(name)
    if not groups:
        raise FileError(path, f"has no column like 'angles.JOINT'. {listing('column', names)}")
    return groups


def _labels(columns: list[str]) -> tuple[str, ...]:
    return tuple(column.rpartition(".")[2] for column in columns)
