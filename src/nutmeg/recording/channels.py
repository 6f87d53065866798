"""Channels: named groups of numbers that a recording holds once per row, and how finely they are stored.

A channel with a `resolution` is rounded to multiples of a power of two (the largest one not above it) and
stored as float32: such a multiple is exact in float32 up to 2^24 steps, and its trailing zero bits are what
makes a recording small. The error is at most half the step, hence at most half the resolution.

    angles = Channel(name="nao1.angles", labels=("HeadYaw", "HeadPitch"), unit="rad", resolution=1e-4)
    angles.step   # 2^-14, about 6.1e-5
    angles.limit  # 1024.0: larger values would lose the promised precision, and are refused
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats

_NAME = re.compile(r"[A-Za-z0-9_\-./]+")
_EXACT_STEPS = 2.0**24  # whole numbers up to here are exact in float32
_STEP_RANGE = (2.0**-100, 2.0**100)  # keeps steps and limits far inside the range of float32


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A group of numbers recorded together, such as the joint angles of one robot."""

    name: str
    """Letters, digits and `_ - . /`, such as `nao1.angles`."""
    labels: tuple[str, ...]
    """One per component, unique printable text; the column in the Parquet files is `{name}.{label}`."""
    unit: str = ""
    """SI unit of the components, such as `rad`; empty for plain numbers."""
    resolution: float = 0.0
    """Stored values are off by at most half of this; 0 stores float64 exactly."""
    about: str = ""
    """A sentence for the reader of the recording."""
    wall_clock: bool = False
    """Whether the numbers depend on how fast the computer was; the hash of the content leaves such a channel out."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name {self.name!r} may only have letters, digits and _ - . / in it.")
        for label in self.labels:
            if not (label and label.isprintable()):
                raise ValueError(f"the label {label!r} of channel {self.name!r} must be printable text.")
        if not self.labels:
            raise ValueError(f"channel {self.name!r} has no labels; it needs one per component.")
        twice = [label for label, count in Counter(self.labels).items() if count > 1]
        if twice:
            raise ValueError(f"channel {self.name!r} has the label {twice[0]!r} twice; make them unique.")
        low, high = _STEP_RANGE
        if self.resolution and not low <= self.resolution <= high:
            found = f"channel {self.name!r} has the resolution {self.resolution}"
            raise ValueError(f"{found}; allowed are 0 (exact) and {low:.1g} to {high:.1g}.")

    @property
    def step(self) -> float:
        """The step that stored values are multiples of: a power of two at or below the resolution; 0 if exact."""
        return 2.0 ** (math.frexp(self.resolution)[1] - 1) if self.resolution else 0.0

    @property
    def limit(self) -> float:
        """The largest magnitude that keeps the resolution in float32; infinite if exact."""
        return self.step * _EXACT_STEPS if self.resolution else math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns in the Parquet files."""
        return tuple(f"{self.name}.{label}" for label in self.labels)


class Layout:
    """The columns of all channels of a recording side by side, and how their values are rounded."""

    def __init__(self, channels: Sequence[Channel], path: Path) -> None:
        self.channels = tuple(channels)
        self.columns = tuple(column for channel in self.channels for column in channel.columns)
        self.width = len(self.columns)
        names = Counter(channel.name for channel in self.channels) | Counter(self.columns)
        twice = [name for name, count in names.items() if count > 1]
        if twice or not self.channels:
            found = f"the channel or column {twice[0]!r} is declared twice" if twice else "there is no channel"
            raise RecordingError(f"{path}: {found}. Declare at least one channel, each with its own name.")
        ends = np.cumsum([len(channel.labels) for channel in self.channels]).tolist()
        starts = [0, *ends[:-1]]
        self.slices = {c.name: slice(a, b) for c, a, b in zip(self.channels, starts, ends, strict=True)}
        sizes = [len(channel.labels) for channel in self.channels]
        steps = np.repeat([channel.step for channel in self.channels], sizes)
        self._limits = np.repeat([channel.limit for channel in self.channels], sizes)
        self._coarse = steps > 0
        self._step = np.where(self._coarse, steps, 1.0)
        self._per_step = 1.0 / self._step
        self._any, self._all = bool(self._coarse.any()), bool(self._coarse.all())

    def round_in_place(self, values: Floats) -> None:
        """Rounds `(..., width)` values to what will be stored; refuses those too large for float32."""
        if not self._any:
            return
        if np.count_nonzero(np.abs(values) > self._limits):
            self._refuse_too_large(values)
        where = True if self._all else self._coarse
        np.multiply(values, self._per_step, out=values)
        np.rint(values, out=values, where=where)
        np.multiply(values, self._step, out=values)
        np.add(values, 0.0, out=values, where=where)  # -0.0 becomes 0.0, which compresses better

    def _refuse_too_large(self, values: Floats) -> None:
        """Infinite values may pass; finite ones beyond the limit are an error that names the component."""
        rows = values.reshape(-1, self.width)
        bad = np.argwhere((np.abs(rows) > self._limits) & np.isfinite(rows))
        if len(bad):
            row, column = bad[0]
            found = f"{self.columns[column]} = {rows[row, column]!r}"
            raise RecordingError(
                f"{found} is too large for the resolution of its channel: at most {self._limits[column]:g} "
                "keeps it. Declare a coarser resolution, or 0 to store exact numbers."
            )
