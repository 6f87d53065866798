"""RMS and mean absolute error per channel, in the unit of the channel; missing values are left out and counted.

    errors = series_errors(real, simulated)   # real (T, channels), simulated (N, T, channels)
    errors.rms, errors.mean_absolute          # (N, channels)
    errors.samples, errors.missing            # (N, channels): what was compared, and what could not be

A value is missing where it is NaN on either side. Frames from the end of a simulation on are not compared, and not
counted as missing. An infinite simulated value makes the errors infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.errors import RecordingError
from nutmeg.reality.alignment import short_way
from nutmeg.reality.pairing import Pairs, check_comparable, check_measured, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices


@dataclass(frozen=True)
class SeriesErrors:
    """Errors of simulated series, `(..., channels)` each."""

    rms: Floats
    """Root of the mean square difference."""
    mean_absolute: Floats
    """Mean absolute difference."""
    samples: Indices
    """How many frames were compared."""
    missing: Indices
    """How many frames before the end could not be, as a value is missing."""


def series_errors(
    real: ArrayLike,
    simulated: ArrayLike,
    *,
    frames: ArrayLike | None = None,
    angles: bool = False,
    columns: Sequence[str] = (),
    empty: Literal["error", "infinite"] = "error",
) -> SeriesErrors:
    """The errors of every simulation in every channel.

    Args:
        real: `(..., T, channels)`; leading axes broadcast.
        simulated: `(..., T, channels)`.
        frames: how many frames each simulation lasted, `(...)`; all `T` without it.
        angles: whether values are angles in rad, so that a difference of a whole turn is none.
        columns: names of the channels, for errors.
        empty: what a simulation without a frame to compare is: an error, or infinitely far away. A real channel
            without any value is always an error.
    """
    pairs = Pairs.of(real, simulated, frames)
    check_measured(pairs.real, columns)
    shape = (math.prod(pairs.shape), pairs.channels)
    squares, absolutes, samples = np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.intp)
    done = 0
    for index in pairs.pieces():
        part = slice(done, done + len(index[0]))
        difference = pairs.take(pairs.simulated, index) - pairs.take(pairs.real, index)
        if angles:
            difference = short_way(difference)
        left_out = np.isnan(difference)
        if pairs.cut_short:
            left_out |= ~pairs.running(index)
        np.copyto(difference, 0.0, where=left_out)
        samples[part] = pairs.rows - np.count_nonzero(left_out, axis=1)
        absolutes[part] = np.abs(difference).sum(axis=1)
        squares[part] = np.square(difference, out=difference).sum(axis=1)
        done = part.stop
    if empty == "error":
        check_comparable(samples.reshape(*pairs.shape, pairs.channels), columns)
    full = (*pairs.shape, pairs.channels)
    count = np.maximum(samples, 1)
    rms, mean = (np.where(samples, total / count, np.inf).reshape(full) for total in (squares, absolutes))
    samples = samples.reshape(full)
    return SeriesErrors(np.sqrt(rms), mean, samples, pairs.frames[..., np.newaxis] - samples)


def real_scales(real: ArrayLike, scale: Literal["none", "deviation", "range"], columns: Sequence[str] = ()) -> Floats:
    """What to divide the errors of each channel by, `(..., channels)`: 1, or how much the real series moves."""
    values = np.asarray(real, dtype=np.float64)
    if scale == "none":
        return np.ones(values.shape[:-2] + values.shape[-1:])
    check_measured(values, columns)
    span = np.nanmax(values, axis=-2) - np.nanmin(values, axis=-2)
    still = np.argwhere(span == 0)
    if len(still):
        raise RecordingError(
            f"the real channel {name_of(int(still[0][-1]), columns)} does not move, so errors cannot be told as "
            "parts of its movement. Leave it out, or use scale = 'none'."
        )
    return np.asarray(span if scale == "range" else np.nanstd(values, axis=-2))
