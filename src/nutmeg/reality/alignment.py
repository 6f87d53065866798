"""Bringing simulated series to the times and the length of the real ones.

    values = resample(simulated.times, simulated.read("servo.position"), at=real.times, delay=0.012)
    values, frames = fit_length(values, len(real))

Between two samples values are interpolated linearly; outside the simulated times they are missing (NaN), never
extrapolated. A simulation that is shorter because the robot fell is filled up with NaN, and `frames` says how many
rows count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices

_ROUNDING = 1e-6
"""Part of a time step by which times may be outside and still count as the first or last one."""


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
    slack = _ROUNDING * float(steps.min(initial=1.0))
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
