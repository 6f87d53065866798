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
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nutmeg import settings
from nutmeg.errors import FileError, RecordingError
from nutmeg.recording.channels import Channel
from nutmeg.recording.toml_text import toml_text

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
"""The version of the format that is written, and the newest that is read."""

MANIFEST, SCENE, EVENTS = "manifest.toml", "scene.xml", "events.jsonl"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a recording is; the content of `manifest.toml`."""

    kind: str
    """What it is of, such as `scene`, `match` or `servo`."""
    seed: int
    """The seed of everything random in it; 0 where nothing was."""
    channels: tuple[Channel, ...]
    """What each row holds, in the order of the columns."""
    config: Mapping[str, object] = field(default_factory=dict)
    """What its maker wanted to keep with it."""
    format: int = FORMAT
    """Version of the format."""
    nutmeg: str = ""
    """Version of Nutmeg that wrote it."""
    started: str = ""
    """When the recording began, ISO 8601; no part of the content."""
    finished: bool = False
    """Whether the writer was closed properly."""
    rows: int | None = None
    """How many rows there are; only once finished."""
    events: int | None = None
    """How many events there are; only once finished."""
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
