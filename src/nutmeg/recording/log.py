"""Logs of real robots: CSV files and Parquet tables in memory, or made into recordings.

    mapping = settings.read(Path("servo.toml"), CsvMap)
    log = open_log(Path("kp100_sin_sin.csv"), mapping)
    log.times                                       # (rows,) [s]
    log.units                                       # {"servo.position.pendulum": "rad", ...}
    log.series(["servo.position.pendulum"])         # (rows, 1); NaN where a value is missing
    recording = import_csv(Path("kp100_sin_sin.csv"), Path("kp100_sin_sin.nutmeg"), mapping)

A log may also be a recording. The first line of a CSV file names its columns. An empty cell is missing (NaN); any other
cell that is not a number is an error with its file, line and column, and then no recording is left behind. Files ending
in `.gz` are unpacked on the way. Without a column map, a CSV file or Parquet table needs a column `time` [s] and
columns named `{channel}.{label}`, as in a recording. `open_log` holds a log in memory; `import_csv` reads one row after
the other, so that the log may be longer than the memory.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, NutmegError, UnknownNameError, listing, suggestion
from nutmeg.recording.channels import Channel, Layout
from nutmeg.recording.files import remove_recording
from nutmeg.recording.manifest import Manifest
from nutmeg.recording.reader import Recording
from nutmeg.recording.writer import RecordingWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    """Missing parts of a damaged recording, one sentence each."""

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
    with _csv_rows(path, mapping) as table:
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
    """A log of values (rows, width) in memory; they are rounded as a recording would store them."""
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
    used = Counter(name for name in names if name == "time" or "." in name)
    if twice := [name for name, count in used.items() if count > 1]:
        raise FileError(path, f"has the column {twice[0]!r} twice; give each a name of its own.")
    return groups


def _labels(columns: list[str]) -> tuple[str, ...]:
    return tuple(column.rpartition(".")[2] for column in columns)


# ----------------------------------------------------------------------------------------------------
# CSV files.

_BATCH = 1000  # rows appended together


def import_csv(source: Path, target: Path, mapping: CsvMap, *, overwrite: bool = False) -> Recording:
    """Write the rows of the CSV file `source` to a new recording `target`, as `mapping` says."""
    with _csv_rows(source, mapping) as table:
        channels = [part.channel for part in mapping.channels]
        config = {"source": source.name, **mapping.config}
        writer = RecordingWriter.create(
            target, Manifest(kind=mapping.kind, seed=0, channels=tuple(channels), config=config), overwrite=overwrite
        )
        try:
            with writer:
                _copy(table, writer)
        except (NutmegError, OSError, EOFError, ValueError, zlib.error, csv.Error):
            remove_recording(target)
            raise
    return Recording.open(target)


@contextlib.contextmanager
def _csv_rows(source: Path, mapping: CsvMap) -> Iterator[_CsvRows]:
    """Opens a CSV file to read its rows as `mapping` says; what is wrong with the file is an error that names it."""
    try:
        with _open_text(source) as file:
            yield _CsvRows(file, source, mapping)
    except UnicodeDecodeError as error:
        raise FileError(source, f"is not text in UTF-8 (byte {error.start}), so it cannot be CSV.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(source, f"is damaged: {error}. Fetch it anew.") from None
    except csv.Error as error:
        raise FileError(source, f"is not CSV: {error}.") from None
    except OSError as error:
        raise FileError(source, f"cannot be read: {error.strerror}. Check the path.") from None


def _open_text(source: Path) -> IO[str]:
    if source.suffix == ".gz":
        return gzip.open(source, "rt", encoding="utf-8-sig", newline="")
    return source.open(encoding="utf-8-sig", newline="")


def _copy(table: _CsvRows, writer: RecordingWriter) -> None:
    """Append all rows in batches, with their events in between."""
    times: list[float] = []
    rows: list[list[float]] = []
    for time, values, events in table:
        for kind, fields in events:
            writer.event(time, kind, **fields)
        if not values:
            continue
        times.append(time)
        rows.append(values)
        if len(rows) == _BATCH:
            writer.append_many(times, rows)
            times, rows = [], []
    if rows:
        writer.append_many(times, rows)
    if not writer.rows_written:
        raise FileError(table.path, "has no row that is to be kept. Check `where` in the column map.")


class _CsvRows:
    """The rows of a CSV file as times, values and events."""

    def __init__(self, file: IO[str], path: Path, mapping: CsvMap) -> None:
        self.path, self._map = path, mapping
        self._reader = csv.reader(file, delimiter=mapping.delimiter)
        self._names = next(self._reader, [])
        twice = [name for i, name in enumerate(self._names) if name in self._names[:i]]
        if not self._names or twice:
            found = f"the column {twice[0]!r} is there twice" if twice else "the file is empty"
            raise FileError(path, f"{found}; the first line must name each column once.", line=1)
        time = mapping.time
        self._time = self._place(time.column) if time.column else -1
        parts = [(self._place(name), part) for part in mapping.channels for name in part.columns]
        self._places = [place for place, _ in parts]
        self._scales = [part.scale for _, part in parts]
        self._offsets = [part.offset for _, part in parts]
        self._events = {kind: self._place(name) for kind, name in mapping.events.items()}
        self._where = {self._place(name): set(texts) for name, texts in mapping.where.items()}

    def _place(self, name: str) -> int:
        if name not in self._names:
            hint = suggestion(name, self._names) + listing("column", self._names)
            raise FileError(self.path, f"has no column {name!r}, which the column map names. {hint}", line=1)
        return self._names.index(name)

    def __iter__(self) -> Iterator[tuple[float, list[float], list[tuple[str, dict[str, object]]]]]:
        """Time, values (empty if the row is left out) and events of each row that is to be kept."""
        texts = dict.fromkeys(self._events, "")
        first, last, count = math.nan, -math.inf, 0
        for cells in self._reader:
            if not cells:
                continue  # an empty line
            if len(cells) != len(self._names):
                self._fail(f"has {len(cells)} cells, but the first line names {len(self._names)} columns.")
            if any(cells[place] not in allowed for place, allowed in self._where.items()):
                continue
            time = self._time_of(cells, count)
            first = time if math.isnan(first) else first
            time -= first if self._map.time.from_zero else 0.0
            count += 1
            if time <= last:
                yield last, [], [self._dropped(time, last)]
                continue
            last = time
            changed = {kind: cells[place] for kind, place in self._events.items() if cells[place] != texts[kind]}
            texts.update(changed)
            events: list[tuple[str, dict[str, object]]] = [(kind, {"value": text}) for kind, text in changed.items()]
            yield time, self._values(cells), events

    def _time_of(self, cells: list[str], count: int) -> float:
        if self._time < 0:
            return count / self._map.time.rate
        time = self._number(cells, self._time) * self._map.time.scale
        if not math.isfinite(time):
            self._fail(f"column {self._map.time.column!r}: the time is missing.")
        return time

    def _dropped(self, time: float, last: float) -> tuple[str, dict[str, object]]:
        """The event for a row whose time repeats, unless that is an error."""
        if self._map.time.repeated == "error":
            self._fail(
                f'the time {time:g} s does not follow {last:g} s. Set `repeated = "drop"` under [time] to leave '
                "such rows out, or `rate` to count rows; import trials whose clock starts anew one by one."
            )
        return "row_dropped", {"line": self._reader.line_num, "row_time": time}

    def _values(self, cells: list[str]) -> list[float]:
        numbers = [self._number(cells, place) for place in self._places]
        parts = zip(numbers, self._scales, self._offsets, strict=True)
        return [number * scale + offset for number, scale, offset in parts]

    def _number(self, cells: list[str], place: int) -> float:
        cell = cells[place].strip()
        if not cell:
            return np.nan
        try:
            if "_" in cell:  # Python would read 1_000 as a number
                raise ValueError(cell)
            return float(cell)
        except ValueError:
            self._fail(
                f"column {self._names[place]!r}: {cell!r} is not a number. Write it with a point, as in -1.5e-3; "
                "an empty cell means missing."
            )

    def _fail(self, problem: str) -> NoReturn:
        raise FileError(self.path, problem, line=self._reader.line_num)


@dataclass(frozen=True, kw_only=True)
class CsvTime:
    """The source of the time of a row."""

    column: str = ""
    """The column with the time; empty if there is none."""
    scale: float = 1.0
    """Seconds per unit of that column, such as 0.001 for milliseconds."""
    rate: float = 0.0
    """Rows per second, where there is no time column: row 0 is at 0 s."""
    from_zero: bool = False
    """Count from the first row that is kept."""
    repeated: Literal["error", "drop"] = "error"
    """A row whose time is not later than the last: an error, or left out (with an event `row_dropped`)."""

    def __post_init__(self) -> None:
        if bool(self.column) == bool(self.rate):
            raise ValueError("give either `column` or `rate` (rows per second), and not both.")
        if not self.scale > 0 or self.rate < 0:
            raise ValueError(f"scale ({self.scale}) and rate ({self.rate}) must be positive.")


@dataclass(frozen=True, kw_only=True)
class CsvChannel:
    """A channel made of columns: value = cell * scale + offset."""

    name: str
    """As in `Channel`."""
    columns: tuple[str, ...]
    """The columns, by the names in the first line of the file."""
    labels: tuple[str, ...] = ()
    """One per column; the columns' names if empty."""
    scale: float = 1.0
    """Units of the recording per unit of the column."""
    offset: float = 0.0
    """Added after scaling."""
    unit: str = ""
    """The unit after scaling."""
    resolution: float = 0.0
    """As in `Channel`."""
    about: str = ""
    """As in `Channel`."""

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != len(self.columns):
            raise ValueError(f"has {len(self.labels)} labels for {len(self.columns)} columns.")
        _ = self.channel  # checks the names, so that an error points to the map

    @property
    def channel(self) -> Channel:
        """The channel of the recording."""
        labels = self.labels or self.columns
        return Channel(name=self.name, labels=labels, unit=self.unit, resolution=self.resolution, about=self.about)


@dataclass(frozen=True, kw_only=True)
class CsvMap:
    """The mapping from columns of a CSV file to channels and events; a TOML file.

    [time]
    column = "time_s"               # or, without such a column: rate = 50.0 (rows per second)
    [[channels]]
    name = "servo.position"
    columns = ["position_deg"]
    labels = ["pendulum"]           # the columns' own names if left out
    scale = 0.017453292519943295    # value = cell * scale + offset
    unit = "rad"
    [events]
    playmode = "mode"               # an event `playmode` whenever the text in column `mode` changes
    [where]
    mode = ["PlayOn"]               # only rows with one of these texts
    """

    time: CsvTime
    """The time of the rows."""
    channels: tuple[CsvChannel, ...]
    """The channels, in the order of the recording."""
    kind: str = "log"
    """The kind of the recording."""
    delimiter: str = ","
    """One character between the cells."""
    events: Mapping[str, str] = field(default_factory=dict)
    """Kind of event to column: an event with the new text as `value` whenever it changes."""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Column to texts: only rows with one of them are kept."""
    config: Mapping[str, object] = field(default_factory=dict)
    """Further values for the manifest, beside the name of the source."""

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1:
            raise ValueError(f"the delimiter {self.delimiter!r} is not one character.")
        if not self.channels:
            raise ValueError("there is no channel; at least one is needed.")
