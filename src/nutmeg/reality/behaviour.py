"""Behaviours: what is seen of a robot that runs a controller, in reality or in N simulations at once.

    real = Behaviour(columns=("servo.position.shaft",), units=("rad",), series=measured)           # (T, 1)
    simulated = Behaviour(columns=real.columns, units=real.units, series=angles, frames=lasted)    # (N, T, 1), (N,)
    weights = column_weights(real.columns, {"servo.*": 2.0})

A behaviour is one trial: its fitness, its motor and sensor series, or both; distances take what they need and say
what they miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.reality.alignment import fit_length

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Bools, Floats, Indices


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One trial: of the real robot, or of N simulations of it."""

    columns: tuple[str, ...] = ()
    """Names of the channels, as in recordings: `{channel}.{label}`."""
    units: tuple[str, ...] = ()
    """Their units, one each."""
    series: Floats | None = None
    """`(T, channels)` of the real robot, `(N, T, channels)` of simulations, at the same times from the first row on."""
    frames: Indices | int | None = None
    """Rows until the fall or the end, one number or `(N,)`; all rows without it."""
    fitness: Floats | float | None = None
    """What the controller achieved, one number or `(N,)`."""
    source: str = ""
    """Where it comes from, for errors."""

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.units):
            raise UsageError(f"{len(self.columns)} columns have {len(self.units)} units; each needs one.")
        if self.series is not None and (self.series.ndim < 2 or self.series.shape[-1] != len(self.columns)):
            raise UsageError(
                f"series of the shape {self.series.shape} do not hold the {len(self.columns)} columns; "
                "needed is (..., frames, columns)."
            )

    @property
    def place(self) -> str:
        """The source as the start of an error, or nothing."""
        return f"{self.source}: " if self.source else ""


@dataclass(frozen=True)
class Matched:
    """The columns of a real and a simulated behaviour that are to be compared, equally long."""

    columns: tuple[str, ...]
    units: tuple[str, ...]
    real: Floats
    """`(T, columns)`."""
    simulated: Floats
    """`(..., T, columns)`, NaN after the end."""
    frames: Indices
    """Rows that count in each simulation, `(...)`."""

    def only(self, keep: Bools) -> Matched:
        """Without some columns."""
        if keep.all():
            return self
        columns, units = (
            [item for item, kept in zip(a, keep, strict=True) if kept] for a in (self.columns, self.units)
        )
        return Matched(tuple(columns), tuple(units), self.real[..., keep], self.simulated[..., keep], self.frames)


def match(real: Behaviour, simulated: Behaviour, patterns: Sequence[str] = ()) -> Matched:
    """The columns that fit one of the patterns (all without any), until the end of the shorter of the two."""
    if real.series is None or simulated.series is None:
        side = real if real.series is None else simulated
        raise UsageError(f"{side.place}this distance needs series, and there are none. Record them, or use phi1.")
    wanted = [name for name in real.columns if chosen(name, patterns)]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in real.columns):
            raise UnknownNameError("channel", pattern, real.columns, where=real.source)
    for name in wanted:
        if name not in simulated.columns:
            raise UnknownNameError("channel of the simulation", name, simulated.columns, where=simulated.source)
    ours = [real.columns.index(name) for name in wanted]
    theirs = [simulated.columns.index(name) for name in wanted]
    for i, j in zip(ours, theirs, strict=True):
        if real.units[i] != simulated.units[j]:
            raise UsageError(
                f"{simulated.place}{real.columns[i]!r} is in {simulated.units[j] or 'no unit'!r}, but the real one in "
                f"{real.units[i] or 'no unit'!r}. Convert one of them."
            )
    rows = real.series.shape[-2] if real.frames is None else int(np.min(real.frames))
    if not rows:
        raise UsageError(f"{real.place}the real series has no row before its end, so there is nothing to compare.")
    series = simulated.series if theirs == list(range(len(simulated.columns))) else simulated.series[..., theirs]
    series, lasted = fit_length(series, rows)
    frames = np.minimum(lasted if simulated.frames is None else simulated.frames, lasted)
    units = tuple(real.units[i] for i in ours)
    frames = np.broadcast_to(frames, series.shape[:-2]).astype(np.intp)
    return Matched(tuple(wanted), units, real.series[..., :rows, ours], series, frames)


def chosen(column: str, patterns: Sequence[str]) -> bool:
    """Whether a column fits one of the patterns, or there are none."""
    return not patterns or any(fnmatchcase(column, pattern) for pattern in patterns)


def column_weights(columns: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """The weight of each column, `(columns,)`: that of the last pattern that fits it, 1 if none does."""
    found = np.ones(len(columns))
    for pattern, weight in weights.items():
        fits = [fnmatchcase(name, pattern) for name in columns]
        if not any(fits):
            raise UnknownNameError("channel", pattern, columns, where="weights")
        found[fits] = weight
    if not found.any():
        raise UsageError("the weights of all channels are 0, so nothing is compared. Give one of them more.")
    return found
