"""Logs of other people's tools: MCAP files, ROS 2 bags and LeRobot data sets.

    log = open_bag(Path("walk.mcap"), mapping)          # also walk_0.db3, data/chunk-000/episode_000000.parquet
    log.channels                                        # {"/joint_states.position": ..., "/imu.angular_velocity": ...}

| file                     | channels                                                                              |
|--------------------------|---------------------------------------------------------------------------------------|
| `.mcap`                  | `TOPIC.FIELD` for every number of JSON messages and of ROS 2 messages (CDR)            |
| `.db3`, a ROS 2 bag      | the same, of the message types in `MESSAGES`; no further package is needed             |
| `.parquet` of LeRobot    | `observation.state`, `action` and other numbers, labelled as `meta/info.json` says     |

Fields of a `sensor_msgs/JointState` are labelled with the joints and have units:
`"/joint_states.position" = "angles.*"`. Messages of different topics come at different times. The rows of the log are
those of the topic with the most messages, or of the one that the column map names (`[time] column = "/joint_states"`);
of the others a row has the last message until then. A column map gives names, units and scales to other columns:
`columns = ["/commands.data.0"]`. Episodes of a LeRobot data set begin `EPISODE_SECONDS` apart, so that `split` of
[recordings] makes a recording of each.
"""

from __future__ import annotations

import importlib
import json
import re
import sqlite3
import struct
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import FileError, MissingExtraError, listing, suggestion
from nutmeg.recording.channels import Channel
from nutmeg.recording.log import Log, log_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.recording import CsvMap

BAG_SUFFIXES = (".mcap", ".db3")
EPISODE_SECONDS = 10_000.0
"""From the start of an episode to that of the next [s]."""
JOINT_UNITS = {"position": "rad", "velocity": "rad/s", "effort": "N m"}
"""Units of the fields of a `sensor_msgs/JointState`."""
MESSAGES = {
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Float64": "float64 data",
    "std_msgs/Float32": "float32 data",
    "std_msgs/Float64MultiArray": "std_msgs/MultiArrayLayout layout\nfloat64[] data",
    "std_msgs/Float32MultiArray": "std_msgs/MultiArrayLayout layout\nfloat32[] data",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "sensor_msgs/JointState": (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
    ),
    "sensor_msgs/Imu": (
        "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
        "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
        "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance"
    ),
}
"""Definitions of ROS 2 messages that bags without any are read by."""
PRIMITIVES = {
    "bool": "?", "byte": "B", "char": "b", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip


def is_bag(path: Path) -> bool:
    """Whether a file is an MCAP file, a ROS 2 bag, or belongs to a LeRobot data set."""
    if path.suffix in BAG_SUFFIXES:
        return True
    return path.suffix == ".parquet" and _lerobot_folder(path) is not None


def open_bag(path: Path, mapping: CsvMap | None = None) -> Log:
    """Opens such a file as a log; a column map, where one is given, names the channels."""
    if path.suffix == ".parquet":
        times, columns, channels = _lerobot(path)
    else:
        messages = _mcap_messages(path) if path.suffix == ".mcap" else _db3_messages(path)
        times, columns, channels = _aligned(path, messages, mapping.time.column if mapping else "")
    if mapping is not None:
        channels = [part.channel for part in mapping.channels]
        names = [(name, part) for part in mapping.channels for name in part.columns]
        for name, _ in names:
            if name not in columns:
                hint = suggestion(name, columns) + listing("column", list(columns))
                raise FileError(path, f"has no column {name!r}, which the column map names. {hint}")
        rows = np.stack([columns[name] * part.scale + part.offset for name, part in names], axis=-1)
    else:
        rows = np.stack([columns[column] for channel in channels for column in channel.columns], axis=-1)
    return log_in_memory(path, channels, times, rows, ())


# Messages


Message = tuple[str, float, "dict[str, Any]"]
"""Topic, time [s], and the numbers and names in it."""


def _mcap_messages(path: Path) -> list[Message]:
    try:
        reader = importlib.import_module("mcap.reader")
        damaged = importlib.import_module("mcap.exceptions").McapError
    except ImportError:
        raise MissingExtraError("reading an MCAP file", "mcap", "mcap") from None
    found: list[Message] = []
    try:
        with path.open("rb") as file:
            for schema, channel, message in reader.make_reader(file).iter_messages():
                if channel.message_encoding == "json":
                    fields = json.loads(message.data)
                elif channel.message_encoding == "cdr" and schema is not None:
                    fields = _Cdr(message.data, _definitions(schema.name, schema.data.decode())).read(schema.name)
                else:
                    continue  # pictures and other encodings hold no series
                found.append((channel.topic, message.log_time / 1e9, fields))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}. Check the path.") from None
    except (damaged, ValueError, struct.error) as error:
        raise FileError(path, f"is not an MCAP file that can be read: {error}.") from None
    return found


def _db3_messages(path: Path) -> list[Message]:
    query = (
        "select t.name, t.type, m.timestamp, m.data from messages m join topics t on m.topic_id = t.id "
        "order by m.timestamp"
    )
    found: list[Message] = []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
            for topic, kind, stamp, data in base.execute(query):
                if _plain(kind) in MESSAGES:
                    found.append((topic, stamp / 1e9, _Cdr(data, MESSAGES).read(kind)))
    except (sqlite3.Error, struct.error) as error:
        raise FileError(path, f"is not a ROS 2 bag that can be read: {error}.") from None
    return found


def _plain(kind: str) -> str:
    """The name of a message type without `msg`: sensor_msgs/JointState."""
    return kind.replace("/msg/", "/")


def _definitions(name: str, text: str) -> Mapping[str, str]:
    """The definitions in the text of a schema, by type; the first is that of the message itself."""
    first, *others = re.split(r"^=+\s*$", text, flags=re.MULTILINE)
    found = {**MESSAGES, _plain(name): first}
    for other in others:
        head, _, body = other.strip().partition("\n")
        found[_plain(head.removeprefix("MSG:").strip())] = body
    return found


class _Cdr:
    """Reads a message of ROS 2 (CDR, as DDS sends it) by its definition.

    The package `rosbags` reads them, too, but of all that it does this is the small part that series need, and bags in
    sqlite need no package at all.
    """

    def __init__(self, data: bytes, definitions: Mapping[str, str]) -> None:
        self._data, self._definitions = data, definitions
        self._order = "<" if data[1] & 1 else ">"  # of the bytes; four bytes say how the rest is written
        self._at = 4

    def read(self, kind: str) -> dict[str, Any]:
        """The fields of a message of a type."""
        name = _plain(kind)
        if name not in self._definitions:
            raise ValueError(f"there is no definition of the message type {kind}")
        found: dict[str, Any] = {}
        for line in self._definitions[name].splitlines():
            words = line.split("#")[0].split()
            if len(words) < 2 or "=" in words[1] or (len(words) > 2 and words[2].startswith("=")):
                continue  # an empty line, or a constant
            found[words[1]] = self._field(words[0], name.partition("/")[0])
        return found

    def _field(self, kind: str, package: str) -> Any:  # noqa: ANN401 (whatever the definition says)
        base, _, size = kind.partition("[")
        if not size:
            return self._one(base, package)
        length = size.rstrip("]")
        count = int(length) if length.isdigit() else self._number("I")
        if base in PRIMITIVES and count:
            code = PRIMITIVES[base]
            self._align(struct.calcsize(code))
            values = struct.unpack_from(f"{self._order}{count}{code}", self._data, self._at)
            self._at += count * struct.calcsize(code)
            return list(values)
        return [self._one(base, package) for _ in range(count)]

    def _one(self, kind: str, package: str) -> Any:  # noqa: ANN401
        if kind in PRIMITIVES:
            return self._number(PRIMITIVES[kind])
        if kind.startswith(("string", "wstring")):
            length = self._number("I")
            text = self._data[self._at : self._at + max(length - 1, 0)].decode()
            self._at += length
            return text
        known = {"Header": "std_msgs/Header", "Time": "builtin_interfaces/Time", "time": "builtin_interfaces/Time"}
        return self.read(kind if "/" in kind else known.get(kind, f"{package}/{kind}"))

    def _number(self, code: str) -> Any:  # noqa: ANN401
        size = struct.calcsize(code)
        self._align(size)
        (value,) = struct.unpack_from(self._order + code, self._data, self._at)
        self._at += size
        return value

    def _align(self, size: int) -> None:
        self._at += -(self._at - 4) % size


# From messages to rows


def _aligned(path: Path, messages: Iterable[Message], base: str) -> tuple[Floats, dict[str, Floats], list[Channel]]:
    """Times of the rows, columns by name, and channels; the rows are the messages of one topic."""
    topics: dict[str, list[tuple[float, dict[str, float]]]] = {}
    units: dict[str, str] = {}
    for topic, time, fields in messages:
        topics.setdefault(topic, []).append((time, _numbers(topic, fields, units)))
    topics = {topic: rows for topic, rows in topics.items() if any(values for _, values in rows)}
    if not topics:
        raise FileError(path, "has no message with numbers that can be read (JSON, or ROS 2 messages).")
    if base and base not in topics:
        hint = suggestion(base, topics) + listing("topic", list(topics))
        raise FileError(path, f"has no topic {base!r}, whose messages are to be the rows. {hint}")
    chosen = base or max(topics, key=lambda topic: len(topics[topic]))
    stamps = np.array([time for time, _ in topics[chosen]])
    times = stamps[np.concatenate([[True], np.diff(np.maximum.accumulate(stamps)) > 0])]
    columns: dict[str, Floats] = {}
    for rows in topics.values():
        when = np.array([time for time, _ in rows])
        order = np.argsort(when, kind="stable")
        last = np.searchsorted(when[order], times + 1e-9, side="right") - 1
        for name in dict.fromkeys(name for _, values in rows for name in values):
            series = np.array([rows[i][1].get(name, np.nan) for i in order])
            columns[name] = np.where(last >= 0, series[np.maximum(last, 0)], np.nan)
    return times - times[0], columns, _channels(columns, units)


def _numbers(owner: str, fields: Any, units: dict[str, str]) -> dict[str, float]:  # noqa: ANN401 (JSON)
    """All numbers in a message by their names; those of joints are named by them."""
    if isinstance(fields, dict) and isinstance(fields.get("name"), list) and "position" in fields:
        found = {}
        for field, unit in JOINT_UNITS.items():
            for joint, value in zip(fields["name"], fields.get(field) or [], strict=False):
                found[f"{owner}.{field}.{joint}"] = float(value)
                units[f"{owner}.{field}"] = unit
        return found
    if isinstance(fields, dict):
        parts = [(key, value) for key, value in fields.items() if key not in ("header", "stamp", "layout")]
    elif isinstance(fields, list):
        parts = [(str(i), value) for i, value in enumerate(fields)]
    else:
        return {owner: float(fields)} if isinstance(fields, int | float) and not isinstance(fields, bool) else {}
    return {name: number for key, value in parts for name, number in _numbers(f"{owner}.{key}", value, units).items()}


def _channels(columns: Mapping[str, Floats], units: Mapping[str, str]) -> list[Channel]:
    """Columns as channels: `{channel}.{label}`."""
    groups: dict[str, list[str]] = {}
    for column in columns:
        channel, _, label = column.rpartition(".")
        groups.setdefault(channel, []).append(label)
    return [Channel(name=name, labels=tuple(labels), unit=units.get(name, "")) for name, labels in groups.items()]


# LeRobot


def _lerobot_folder(path: Path) -> Path | None:
    """The data set that a Parquet file belongs to: the folder with `meta/info.json`, at most four above it."""
    return next((folder for folder in list(path.parents)[:4] if (folder / "meta" / "info.json").is_file()), None)


def _lerobot(path: Path) -> tuple[Floats, dict[str, Floats], list[Channel]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = _lerobot_folder(path)
    assert folder is not None
    try:
        features = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))["features"]
        table = pq.read_table(path).to_pydict()
        times = np.array(table["timestamp"], float) + EPISODE_SECONDS * np.array(table["episode_index"], float)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise FileError(path, f"is no LeRobot data set that can be read: {error}.") from None
    columns: dict[str, Floats] = {}
    channels = []
    for name, feature in features.items():
        if name not in table or not str(feature.get("dtype", "")).startswith(("float", "int")):
            continue
        values = np.array(table[name], float).reshape(len(times), -1)
        labels = feature.get("names")
        labels = next(iter(labels.values())) if isinstance(labels, dict) else labels
        if not isinstance(labels, list) or len(labels) != values.shape[1] or len(set(labels)) < len(labels):
            labels = [str(i) for i in range(values.shape[1])]
        labels = [str(label).replace(".", "_") for label in labels]
        channels.append(Channel(name=name, labels=tuple(labels)))
        columns |= {f"{name}.{label}": values[:, i] for i, label in enumerate(labels)}
    return times, columns, channels
