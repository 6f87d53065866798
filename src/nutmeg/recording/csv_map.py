"""The column map: which columns of a CSV file become which channels; a TOML file.

kind = "servo"

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

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nutmeg.recording.channels import Channel


@dataclass(frozen=True, kw_only=True)
class CsvTime:
    """Where the time of a row comes from."""

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
    """Which columns of a CSV file become which channels and events."""

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
    """What to keep in the manifest, beside the name of the source."""

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1:
            raise ValueError(f"the delimiter {self.delimiter!r} is not one character.")
        if not self.channels:
            raise ValueError("there is no channel; at least one is needed.")
