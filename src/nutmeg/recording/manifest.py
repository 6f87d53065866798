"""The manifest: what a recording is, in `manifest.toml`.

It is written when a recording begins and once more when it is finished; then it also says how much there is,
so that a reader can tell what got lost afterwards.

    format = 1
    kind = "scene"
    nutmeg = "0.1.0"
    seed = 7
    started = "2026-01-31T12:00:00+00:00"
    finished = true
    rows = 30000
    events = 12
    last_time = 600.0

    [[channels]]
    name = "nao1.angles"
    labels = ["HeadYaw", "HeadPitch"]
    unit = "rad"
    resolution = 0.0001

    [config]
    robot = "nao-v6"
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base import settings
from nutmeg.base.errors import FileError, RecordingError
from nutmeg.base.journal import of_numpy
from nutmeg.base.settings import toml_text
from nutmeg.recording.channels import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats


FORMAT = 1
"""The version of the format that is written, and the newest that is read."""

MANIFEST, SCENE, EVENTS = "manifest.toml", "scene.xml", "events.jsonl"
_MESH = re.compile(r"mesh-[A-Za-z0-9_-]+\.(stl|obj|msh)")


def is_mesh_name(name: str) -> bool:
    """Whether a file of this name is a mesh that the scene names."""
    return bool(_MESH.fullmatch(name))


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description of a recording: the content of `manifest.toml`."""

    kind: str
    """The kind of recording, such as `scene`, `match` or `servo`."""
    seed: int
    """The seed of everything random in it; 0 where nothing was."""
    channels: tuple[Channel, ...]
    """The channels of each row, in the order of the columns."""
    config: Mapping[str, object] = field(default_factory=dict)
    """The configuration of the program that made it."""
    format: int = FORMAT
    """Version of the format."""
    nutmeg: str = ""
    """Version of Nutmeg that wrote it."""
    started: str = ""
    """Time at which the recording began, ISO 8601; not part of the content hash."""
    finished: bool = False
    """Whether the writer was closed properly."""
    rows: int | None = None
    """Number of rows; only once finished."""
    events: int | None = None
    """Number of events; only once finished."""
    last_time: float | None = None
    """Time of the last row in s; only once finished, and if there are rows."""

    def text(self) -> str:
        """The manifest as TOML."""
        names = ("format", "kind", "nutmeg", "seed", "started", "finished", "rows", "events", "last_time")
        head = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        channels = "".join(f"\n[[channels]]\n{toml_text(_declaration(channel))}" for channel in self.channels)
        return toml_text(head) + channels + toml_text({"config": self.config})

    @classmethod
    def parse(cls, text: bytes, path: Path) -> Manifest:
        """The manifest in the bytes of a file; `path` is named in errors."""
        try:
            table = tomllib.loads(text.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RecordingError(f"{path}: broken TOML: {error}. Without it the rows mean nothing.") from None
        version = table.get("format")
        if not isinstance(version, int) or version < 1:
            raise RecordingError(f"{path}: says format = {version!r}; recordings have 1 to {FORMAT}.")
        if version > FORMAT:
            raise RecordingError(
                f"{path}: has format {version}, and this Nutmeg reads up to {FORMAT}. Update Nutmeg "
                f"(the recording was made by {table.get('nutmeg', 'a later version')})."
            )
        try:
            return settings.convert(table, cls, path)
        except FileError as error:
            raise RecordingError(str(error)) from None


def _declaration(channel: Channel) -> dict[str, object]:
    """A channel as a table, without the fields that are left at their defaults."""
    fields = dataclasses.fields(channel)
    return {f.name: value for f in fields if (value := getattr(channel, f.name)) != f.default}


# ----------------------------------------------------------------------------------------------------
# The hash of a recording's content: the same for the same experiment, however it is stored.
#
# SHA-256 over the channels, the seed, the configuration and the scene (as canonical JSON), then all rows (time first,
# little-endian float64, one row after the other, every NaN the same), then the events. Dates, versions, the cutting
# into chunks and channels that depend on the wall clock are left out.


def content_hash(
    manifest: Manifest,
    scene_xml: str | None,
    blocks: Iterable[Floats],
    events: Sequence[dict[str, Any]],
) -> str:
    """The hash, in hexadecimal; `blocks` are all rows in order, `(n, 1 + width)` each, cut anywhere."""
    repeatable = [channel for channel in manifest.channels if not channel.wall_clock]
    kept = [True] + [not channel.wall_clock for channel in manifest.channels for _ in channel.labels]
    head = {
        "channels": [_without_clock(dataclasses.asdict(channel)) for channel in repeatable],
        "seed": manifest.seed,
        "config": manifest.config,
        "scene": scene_xml,
    }
    digest = hashlib.sha256(_canonical(head))
    for block in blocks:
        rows = np.ascontiguousarray(block if all(kept) else block[:, kept], dtype="<f8")
        rows[np.isnan(rows)] = np.nan
        digest.update(rows.data)
    digest.update(b"\nevents\n")
    for event in events:
        digest.update(_canonical(event))
    return digest.hexdigest()


def _without_clock(declared: dict[str, Any]) -> dict[str, Any]:
    """A channel's declaration without the field that is always false here, so that hashes stay as they were."""
    return {name: value for name, value in declared.items() if name != "wall_clock"}


def _canonical(item: object) -> bytes:
    """JSON with sorted keys on one line; TOML's dates become texts."""
    return json.dumps(item, sort_keys=True, separators=(",", ":"), default=str).encode() + b"\n"


# ----------------------------------------------------------------------------------------------------
# Events: things that happen at a time, one JSON object per line of `events.jsonl`.
#
# A line that a crash cut short is left out and reported; so is one that is no such object.


def event_line(time: float, kind: str, fields: Mapping[str, object], path: Path) -> bytes:
    """One event as a line of JSON; NumPy's numbers and arrays are allowed, NaN is not."""
    if not math.isfinite(time) or "time" in fields or "kind" in fields:
        raise RecordingError(
            f"{path}: the event {kind!r} at t={time!r} s needs a finite time, and fields called neither "
            "`time` nor `kind`."
        )
    try:
        event = {"time": float(time), "kind": kind, **fields}
        return json.dumps(event, allow_nan=False, default=of_numpy).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise RecordingError(
            f"{path}: the event {kind!r} at t={time:g} s cannot be written as JSON: {error}. Allowed: texts, "
            "finite numbers, true, false, None, lists and mappings of these."
        ) from None


class EventLog:
    """The events of a recording, read as the file grows."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.offset = 0  # bytes that were understood: whole lines
        self._lines = 0
        self._partial = 0
        self._broken: list[str] = []

    def feed(self, data: bytes) -> bool:
        """Take the bytes of the file from `offset` on; True if there was an event among them."""
        end = data.rfind(b"\n") + 1
        self._partial = len(data) - end
        self.offset += end
        before = len(self.events)
        for line in data[:end].split(b"\n")[:-1]:
            self._lines += 1
            try:
                event = json.loads(line)
                if not (isinstance(event, dict) and isinstance(event["time"], int | float)):
                    raise ValueError("not an object with a time")  # noqa: TRY004
                self.events.append(event)
            except (ValueError, KeyError):
                self._broken.append(f"{EVENTS}, line {self._lines}: is not an event, and was left out.")
        return len(self.events) > before

    @property
    def problems(self) -> list[str]:
        """Parts that could not be read, one sentence each."""
        if not self._partial:
            return list(self._broken)
        return [*self._broken, f"{EVENTS}: ends in the middle of a line; {self._partial} bytes were left out."]
