"""A simulated recording beside a real one: errors of every channel in a table.

    table = compare(Recording.open(real), Recording.open(simulated), channels=["nao.angles"])
    for row in table.channels:
        row.column, row.rms, row.unit, row.missing   # "nao.angles.HeadYaw", 0.013, "rad", 4

Channels that only one of the two has are left out, and named.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.reality.behaviour import match
from nutmeg.reality.information import STANDARD, Binning, information_distance
from nutmeg.reality.recorded import TOGETHER, Alignment, columns_of, read_behaviours
from nutmeg.reality.series_error import series_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.recording import Recording


@dataclass(frozen=True, kw_only=True)
class ChannelComparison:
    """One column of the table."""

    column: str
    unit: str
    rms: float
    """Root mean square error [unit]."""
    mean_absolute: float
    """Mean absolute error [unit]."""
    information: float
    """Information distance [bit]."""
    samples: int
    """Rows that were compared."""
    missing: int
    """Rows before the end in which either value is missing."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A simulated recording against a real one."""

    real: str
    simulated: str
    frames: int
    """Rows of the real recording until the end of the shorter one."""
    channels: tuple[ChannelComparison, ...]
    left_out: tuple[str, ...]
    """Columns that only one of the two has, when no channels were asked for."""

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return dataclasses.asdict(self)


def compare(
    real: Recording,
    simulated: Recording,
    channels: Sequence[str] | Mapping[str, str] | None = None,
    *,
    alignment: Alignment = TOGETHER,
    binning: Binning = STANDARD,
) -> Comparison:
    """The errors of a simulated recording in every channel.

    Args:
        real: what was measured; its times count.
        simulated: what is compared with it.
        channels: names of channels that both must have with the same labels, or real names and what they are called
            in the simulation; all columns that both have without it.
        alignment: of the times.
        binning: of the information distance.
    """
    ours, theirs = read_behaviours(real, [simulated], channels, alignment=alignment)
    seen = match(ours, theirs)
    errors = series_errors(seen.real, seen.simulated, frames=seen.frames, angles=alignment.angles, columns=seen.columns)
    bits = information_distance(seen.real, seen.simulated, frames=seen.frames, binning=binning, columns=seen.columns)
    rows = tuple(
        ChannelComparison(
            column=column,
            unit=seen.units[i],
            rms=float(errors.rms[0, i]),
            mean_absolute=float(errors.mean_absolute[0, i]),
            information=float(bits[0, i]),
            samples=int(errors.samples[0, i]),
            missing=int(errors.missing[0, i]),
        )
        for i, column in enumerate(seen.columns)
    )
    both = (columns_of(real), columns_of(simulated))
    left_out = () if channels is not None else tuple(sorted(both[0].keys() ^ both[1].keys()))
    return Comparison(
        real=str(real.path), simulated=str(simulated.path), frames=int(seen.frames[0]), channels=rows, left_out=left_out
    )
