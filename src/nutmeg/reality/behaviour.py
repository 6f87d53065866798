"""Behaviours: the fitness and the series of one trial, of the real robot or of N simulations at once.

    real = Behaviour(columns=("servo.position.shaft",), units=("rad",), series=measured)           # (T, 1)
    simulated = Behaviour(columns=real.columns, units=real.units, series=angles, frames=lasted)    # (N, T, 1), (N,)
    weights = column_weights(real.columns, {"servo.*": 2.0})

A behaviour has a fitness, motor and sensor series, or both; distances take what they need, and say what is missing.

Simulated series are brought to the times and the length of the real ones:

    values = resample(simulated.times, simulated.read("servo.position"), at=real.times, delay=0.012)
    values, frames = fit_length(values, len(real))

Between two samples values are interpolated linearly; outside the simulated times they are missing (NaN), never
extrapolated. A simulation that is shorter because the robot fell is filled up with NaN, and `frames` is the number of
rows that count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices


_TIME_TOLERANCE = 1e-6  # part of a time step by which times may be outside and still count as the first or last one


def resample(times: ArrayLike, values: ArrayLike, *, at: ArrayLike, delay: float = 0.0, angles: bool = False) -> Floats:
    """The values of series at other times, `(..., K, channels)`; NaN where there are none.

    Args:
        times: when the values were, increasing [s], `(T,)`.
        values: `(..., T, channels)`. Between a value and a missing one the result is missing.
        at: the times that are wanted [s], `(K,)`.
        delay: seconds that the series comes late: wanted at t is what it was at t - delay.
        angles: whether values are angles in rad that jump by whole turns; then the short way is taken between two.
    """
    when, series, wanted = (np.asarray(a, dtype=np.float64) for a in (times, values, at))
    if when.ndim != 1 or wanted.ndim != 1 or series.ndim < 2 or series.shape[-2] != len(when) or not len(when):
        raise UsageError(
            f"times {when.shape}, values {series.shape} and wanted times {wanted.shape} do not go together: "
            "needed are (T,), (..., T, channels) and (K,), with T at least 1."
        )
    steps = np.diff(when)
    if not (np.isfinite(when).all() and np.isfinite(wanted).all() and np.isfinite(delay) and (steps > 0).all()):
        raise RecordingError("times must be finite and increase from row to row, and the delay must be finite.")
    slack = _TIME_TOLERANCE * float(steps.min(initial=1.0))
    wanted = wanted - delay
    inside = (wanted >= when[0] - slack) & (wanted <= when[-1] + slack)
    wanted = np.clip(wanted, when[0], when[-1])
    before = np.clip(np.searchsorted(when, wanted, side="right") - 1, 0, max(len(when) - 2, 0))
    after = np.minimum(before + 1, len(when) - 1)
    share = (wanted - when[before]) / np.where(after > before, when[after] - when[before], 1.0)
    return _between(series, before, after, share, inside, angles=angles)


def _between(
    series: Floats,
    before: Indices,
    after: Indices,
    share: Floats,
    inside: Bools,
    *,
    angles: bool,
) -> Floats:
    """Linear interpolation along the rows; on a sample its neighbour plays no part, even if it is missing."""
    first, second = series[..., before, :], series[..., after, :]
    step = short_way(second - first) if angles else second - first
    part = share[:, np.newaxis]
    found = np.where(part == 0, first, first + part * step)
    found = np.where(part == 1, first + step if angles else second, found)
    found = np.where((part == 1) & np.isnan(first), second, found)
    return np.asarray(np.where(inside[:, np.newaxis], found, np.nan))


def short_way(difference: Floats) -> Floats:
    """Differences of angles in -pi..pi [rad]: the short way round. Infinite ones stay infinite."""
    finite = np.isfinite(difference)
    turns = np.round(np.where(finite, difference, 0.0) / (2 * np.pi))
    return np.asarray(difference - turns * (2 * np.pi))


def fit_length(simulated: ArrayLike, rows: int) -> tuple[Floats, int]:
    """Simulated series `(..., T, channels)` with as many rows as the real ones, and how many of them count.

    Rows beyond the real ones are cut off; a series that ended earlier is filled up with NaN.
    """
    series = np.asarray(simulated, dtype=np.float64)
    if series.ndim < 2 or rows < 1:
        raise UsageError(f"series {series.shape} for {rows} rows: needed are (..., T, channels) and at least one row.")
    frames = min(series.shape[-2], rows)
    if frames == rows:
        return series[..., :rows, :], rows
    filled = np.full((*series.shape[:-2], rows, series.shape[-1]), np.nan)
    filled[..., :frames, :] = series
    return filled, frames


def frames_before(times: ArrayLike, end: ArrayLike) -> Indices:
    """How many rows come before the end, such as a fall [s], `(...)`; all of them if `end` is infinite."""
    return np.asarray(np.searchsorted(np.asarray(times, dtype=np.float64), end, side="left"), dtype=np.intp)


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One trial: of the real robot, or of N simulations of it."""

    columns: tuple[str, ...] = ()
    """Names of the channels, as in recordings: `{channel}.{label}`."""
    units: tuple[str, ...] = ()
    """Units of the channels, one each."""
    series: Floats | None = None
    """`(T, channels)` of the real robot, `(N, T, channels)` of simulations, at the same times from the first row on."""
    frames: Indices | int | None = None
    """Rows until the fall or the end, one number or `(N,)`; all rows without it."""
    fitness: Floats | float | None = None
    """Fitness of the controller, one number or `(N,)`."""
    source: str = ""
    """Where it comes from, for error messages."""

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.units):
            raise UsageError(f"{len(self.columns)} columns have {len(self.units)} units; each needs one.")
        if self.series is not None and (self.series.ndim < 2 or self.series.shape[-1] != len(self.columns)):
            raise UsageError(
                f"series of the shape {self.series.shape} do not hold the {len(self.columns)} columns; "
                "needed is (..., frames, columns)."
            )

    def one(self, index: int) -> Behaviour:
        """The behaviour of one of N simulations."""
        return replace(
            self,
            series=None if self.series is None else self.series[index],
            frames=None if self.frames is None else int(np.asarray(self.frames)[index]),
            fitness=None if self.fitness is None else float(np.asarray(self.fitness)[index]),
        )

    @property
    def place(self) -> str:
        """The source as the start of an error, or nothing."""
        return f"{self.source}: " if self.source else ""


@dataclass(frozen=True)
class MatchedSeries:
    """The columns of a real and a simulated behaviour that are to be compared, equally long."""

    columns: tuple[str, ...]
    units: tuple[str, ...]
    real: Floats
    """Measured series of the real robot, `(T, columns)`."""
    simulated: Floats
    """`(..., T, columns)`, NaN after the end."""
    frames: Indices
    """Rows that count in each simulation, `(...)`."""

    def only(self, keep: Bools) -> MatchedSeries:
        """Without some columns."""
        if keep.all():
            return self
        columns, units = (
            [item for item, kept in zip(a, keep, strict=True) if kept] for a in (self.columns, self.units)
        )
        return MatchedSeries(tuple(columns), tuple(units), self.real[..., keep], self.simulated[..., keep], self.frames)


def match_series(real: Behaviour, simulated: Behaviour, patterns: Sequence[str] = ()) -> MatchedSeries:
    """The columns that fit one of the patterns (all without any), until the end of the shorter of the two."""
    if real.series is None or simulated.series is None:
        side = real if real.series is None else simulated
        raise UsageError(f"{side.place}this distance needs series, and there are none. Record them, or use phi1.")
    wanted = [name for name in real.columns if matches_any(name, patterns)]
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
    return MatchedSeries(tuple(wanted), units, real.series[..., :rows, ours], series, frames)


def matches_any(column: str, patterns: Sequence[str]) -> bool:
    """Whether a column fits one of the patterns, or there are none."""
    return not patterns or any(fnmatchcase(column, pattern) for pattern in patterns)


def by_pattern(
    values: Mapping[str, float], names: Sequence[str], default: Floats, kind: str, where: str = ""
) -> Floats:
    """A value for each name, (names,): that of the last pattern that fits it, or its default.

    Args:
        values: by patterns; one that fits no name is an error.
        names: what the values are for.
        default: for names that no pattern fits, (names,).
        kind: what the names are, for the error.
        where: where the patterns are, for the error.
    """
    found = default.astype(float)
    for pattern, value in values.items():
        fits = [fnmatchcase(name, pattern) for name in names]
        if not any(fits):
            raise UnknownNameError(kind, pattern, names, where=where)
        found[fits] = value
    return found


def column_weights(columns: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """The weight of each column, `(columns,)`: that of the last pattern that fits it, 1 if none does."""
    found = by_pattern(weights, columns, np.ones(len(columns)), "channel", "weights")
    if not found.any():
        raise UsageError("the weights of all channels are 0, so nothing is compared. Give one of them more.")
    return found
