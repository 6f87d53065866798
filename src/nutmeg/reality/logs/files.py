"""Files that people drop: found by the name of their trial, complete when they have stopped to grow.

    dropped = Dropped(Path("laboratory/results"))
    dropped.settled("i00-03")           # {"log": .../i00-03.csv, "note": .../i00-03.toml}, or {} while they grow
    with open_log(path, mapping) as recording:
        ...

A log is CSV (`.csv`, `.csv.gz`), Parquet (a column `time` [s] and columns `{channel}.{label}`), or a recording. All
are read through `recording`.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nutmeg.base.errors import FileError, listing
from nutmeg.recording import Channel, CsvChannel, CsvMap, CsvTime, Recording, RecordingWriter, import_csv

LOG_SUFFIXES = (".csv", ".csv.gz", ".parquet", ".nutmeg")
NOTE_SUFFIX = ".toml"
CHANNEL_UNITS = {"angles": "rad", "pose": "m"}
"""Of channels that are called as in simulation."""
State = tuple[tuple[str, int, int], ...]


class ResultsFolder:
    """A folder in which files appear."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, State] = {}

    def of(self, name: str) -> dict[str, Path]:
        """The log and the note of a trial that are there, complete or not."""
        found = {}
        for suffix in LOG_SUFFIXES:
            path = self.folder / f"{name}{suffix}"
            if path.exists():
                found["log"] = path
                break
        note = self.folder / f"{name}{NOTE_SUFFIX}"
        if note.is_file():
            found["note"] = note
        return found

    def state(self, name: str) -> State:
        """Sizes and times of the files of a trial."""
        rows = []
        for path in self.of(name).values():
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                with contextlib.suppress(FileNotFoundError):  # renamed in this moment
                    about = file.stat()
                    rows.append((str(file), about.st_size, about.st_mtime_ns))
        return tuple(rows)

    def settled(self, name: str) -> dict[str, Path]:
        """The files of a trial if they are as they were when they were last looked at; nothing while they change."""
        now = self.state(name)
        same = self._seen.get(name) == now
        self._seen[name] = now
        return self.of(name) if same and now else {}


@contextlib.contextmanager
def open_log(path: Path, mapping: CsvMap | None = None) -> Iterator[Recording]:
    """A dropped log as a recording; errors name the dropped file."""
    if path.suffix == ".nutmeg":
        yield Recording.open(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "log.nutmeg"
        if path.suffix == ".parquet":
            recording = _from_parquet(path, target)
        else:
            recording = import_csv(path, target, mapping or _plain_map(path))
        recording.path = path  # what people know it by
        yield recording


def _plain_map(path: Path) -> CsvMap:
    """The map of a CSV log whose columns are called as in simulation."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            first = file.readline().decode("utf-8-sig")
        names = next(csv.reader([first]), [])
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(path, f"cannot be read as CSV: {error}.") from None
    channels = tuple(
        CsvChannel(name=channel, columns=tuple(columns), labels=_labels(columns), unit=CHANNEL_UNITS.get(channel, ""))
        for channel, columns in _grouped(path, names).items()
    )
    return CsvMap(time=CsvTime(column="time"), channels=channels)


def _grouped(path: Path, names: list[str]) -> dict[str, list[str]]:
    """Columns by channel."""
    if "time" not in names:
        raise FileError(path, f"has no column 'time' [s]. {listing('column', names)}")
    groups: dict[str, list[str]] = {}
    for name in names:
        channel = name.rpartition(".")[0]
        if not channel:
            continue
        groups.setdefault(channel, []).append(name)
    if not groups:
        raise FileError(path, f"has no column like 'angles.JOINT'. {listing('column', names)}")
    return groups


def _labels(columns: list[str]) -> tuple[str, ...]:
    return tuple(column.rpartition(".")[2] for column in columns)


def _from_parquet(path: Path, target: Path) -> Recording:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        names = list(table.column_names)
        groups = _grouped(path, names)
        values = {n: np.asarray(table.column(n).to_numpy(), float) for n in names if n == "time" or "." in n}
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise FileError(path, f"is not a Parquet table of numbers: {error}.") from None
    channels, order = [], []
    for channel, columns in groups.items():
        channels.append(Channel(name=channel, labels=_labels(columns), unit=CHANNEL_UNITS.get(channel, "")))
        order += columns
    with RecordingWriter.create(target, channels, kind="log", seed=0) as writer:
        writer.append_many(values["time"], np.stack([values[c] for c in order], axis=-1))
    return Recording.open(target)
