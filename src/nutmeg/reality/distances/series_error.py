"""Errors of series per channel: RMS, mean absolute error, and F, the joint-angle error of the MoToFlex paper.

    errors = series_errors(real, simulated)   # real (T, channels), simulated (N, T, channels)
    errors.rms, errors.mean_absolute          # (N, channels), in the unit of the channel
    errors.samples, errors.missing            # (N, channels): what was compared, and what could not be
    joint_error(real, simulated, frames=fallen_after, exponent=2.0)  # (N,) [rad^2]

A value is missing where it is NaN on either side. Frames from the end of a simulation on are not compared, and not
counted as missing. An infinite simulated value makes the errors infinite.

All distances compare real series `(..., T, channels)` with simulated ones `(..., T, channels)`; the axes before the
last two broadcast as in NumPy. One reality `(T, channels)` against `(N, T, channels)` gives `(N,)` results; M
realities, each simulated by N candidates `(N, M, T, channels)`, give `(N, M)`. `Pairs` works through them in pieces
that fit the cache.

**F** is equation 2 of the MoToFlex paper (seed 001): squared differences between measured and simulated joint angles,
summed over frames, joints and robots, divided by T^m; T is the number of frames until the fall or the end.

**Why m > 1.** With m = 0 every frame costs, so the best robot falls at once. With m = 1 it is the mean error, which is
smallest for one that falls before the difficult part. With m > 1 lasting longer pays. An example: a robot stands for
1 s with 0.5 deg of error, then walks for 9 s with 1 deg, 100 frames a second. F of a simulation that makes just these
errors but falls after some time, over F of the one that stays up:

    falls after   0.1 s    1 s    5 s    10 s (stays up)
    m = 0         0.003   0.03   0.46   1
    m = 1         0.27    0.27   0.92   1
    m = 1.5       2.7     0.85   1.30   1
    m = 2         27      2.7    1.84   1
    m = 3         2703    27     3.68   1

So m = 0 and 1 reward every fall, and m > 1 is not enough by itself: 1.5 still prefers the fall after 1 s. What is
needed depends on how the error grows: from `least_exponent(squared_errors)`, here 1.57.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.reality.behaviour import short_way

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools, Floats, Indices


_SAMPLES_AT_ONCE = 1 << 18  # about 2 MB of numbers: larger pieces were slower, as they leave the cache


@dataclass(frozen=True)
class Pairs:
    """Real and simulated series that are to be compared pair by pair."""

    real: Floats
    """`(..., T, channels)`."""
    simulated: Floats
    """`(..., T, channels)`."""
    frames: Indices
    """How many frames count in each simulation, `shape`: until the fall, or all `T`."""
    shape: tuple[int, ...]
    """Shape of the result: the broadcast leading axes."""

    @classmethod
    def of(cls, real: ArrayLike, simulated: ArrayLike, frames: ArrayLike | None = None) -> Pairs:
        """Checked series; `frames` broadcasts against the leading axes, all frames count without it."""
        ours, theirs = _series(real, "real"), _series(simulated, "simulated")
        if ours.shape[-2:] != theirs.shape[-2:]:
            raise UsageError(
                f"the real series have {ours.shape[-2]} frames of {ours.shape[-1]} channels, the simulated ones "
                f"{theirs.shape[-2]} of {theirs.shape[-1]}. Choose the same channels, and bring both to the same times "
                "with nutmeg.reality.resample, or to the same length with nutmeg.reality.fit_length."
            )
        if np.isinf(ours).any():
            raise RecordingError("a real series has an infinite value. Mark what was not measured as NaN.")
        rows = ours.shape[-2]
        try:
            counted = np.broadcast_to(rows if frames is None else np.asarray(frames), _lead(ours, theirs, frames))
        except ValueError:
            raise UsageError(
                f"real {ours.shape}, simulated {theirs.shape} and frames {np.asarray(frames).shape} do not go "
                "together: what stands before (frames, channels) must be equal, 1 or absent."
            ) from None
        if counted.size and not (counted.min() >= 0 and counted.max() <= rows):
            raise UsageError(f"frames run from {counted.min()} to {counted.max()}; allowed are 0 to {rows}.")
        return cls(ours, theirs, counted.astype(np.intp), counted.shape)

    @property
    def rows(self) -> int:
        """The number of frames T."""
        return int(self.real.shape[-2])

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.real.shape[-1])

    @property
    def cut_short(self) -> bool:
        """Whether any simulation ends before the last frame."""
        return bool((self.frames < self.rows).any())

    def pieces(self) -> Iterator[tuple[Indices, ...]]:
        """Indices into `shape`, some pairs at a time."""
        count = math.prod(self.shape)
        step = max(1, _SAMPLES_AT_ONCE // max(1, self.rows * self.channels))
        for start in range(0, count, step):
            flat = np.arange(start, min(start + step, count))
            yield np.unravel_index(flat, self.shape) if self.shape else (flat,)

    def take(self, array: NDArray[Any], index: tuple[Indices, ...], tail: int = 2) -> NDArray[Any]:
        """The pairs of a piece, `(n, *tail axes)`; `(1, ...)` where all pairs share one. `tail` axes stay whole."""
        if array.ndim == tail:
            return array[np.newaxis]
        return np.broadcast_to(array, self.shape + array.shape[array.ndim - tail :])[index]

    def running(self, index: tuple[Indices, ...]) -> Bools:
        """Which frames come before the end of the simulation, `(n, T, 1)`."""
        ends = self.frames.reshape(-1) if not self.shape else self.frames[index]
        return (np.arange(self.rows) < ends[:, np.newaxis])[..., np.newaxis]


def channel_name(column: int, columns: Sequence[str]) -> str:
    """The name of a channel in an error message."""
    return repr(columns[column]) if columns else f"number {column}"


def check_measured(real: Floats, columns: Sequence[str] = ()) -> None:
    """Refuses a real channel in which nothing was measured."""
    nothing = np.isnan(real).all(axis=-2).reshape(-1, real.shape[-1]).any(axis=0)
    if nothing.any():
        column = channel_name(int(np.argmax(nothing)), columns)
        raise RecordingError(
            f"the real channel {column} has no value in any frame, so there is nothing to compare. Leave it out."
        )


def check_comparable(samples: Indices, columns: Sequence[str] = ()) -> None:
    """Refuses pairs without a frame that both sides have; `samples` is `(..., channels)`."""
    if samples.size and not samples.min():
        *pair, column = (int(i) for i in np.argwhere(samples == 0)[0])
        which = f" in simulation {', '.join(map(str, pair))}" if pair else ""
        raise RecordingError(
            f"the channel {channel_name(column, columns)} has no frame{which} in which neither the real nor the "
            "simulated value is missing. Check that their times overlap, or leave the channel out."
        )


def _series(values: ArrayLike, side: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < 2 or 0 in array.shape[-2:]:
        raise UsageError(
            f"the {side} series have the shape {array.shape}; needed are (frames, channels), none of them 0, "
            "with as many axes in front as you like."
        )
    return array


def _lead(ours: Floats, theirs: Floats, frames: ArrayLike | None) -> tuple[int, ...]:
    """The broadcast leading axes."""
    return np.broadcast_shapes(ours.shape[:-2], theirs.shape[:-2], () if frames is None else np.asarray(frames).shape)


@dataclass(frozen=True)
class SeriesErrors:
    """Errors of simulated series, `(..., channels)` each."""

    rms: Floats
    """Root of the mean square difference."""
    mean_absolute: Floats
    """Mean absolute difference."""
    samples: Indices
    """Number of frames that were compared."""
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
            f"the real channel {channel_name(int(still[0][-1]), columns)} does not move, so errors cannot be told as "
            "parts of its movement. Leave it out, or use scale = 'none'."
        )
    return np.asarray(span if scale == "range" else np.nanstd(values, axis=-2))


def joint_error(
    real: ArrayLike,
    simulated: ArrayLike,
    *,
    exponent: float = 2.0,
    frames: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    angles: bool = False,
    columns: Sequence[str] = (),
    empty: Literal["error", "infinite"] = "error",
) -> Floats:
    """F of one robot in each simulation, `(...)`, in the square of the channels' unit; add up several robots.

    Args:
        real: measured joint angles, `(..., T, joints)`; NaN where missing. The missing frames of a joint count with
            the mean of its others, so that gaps neither help nor harm.
        simulated: joint angles, `(..., T, joints)`.
        exponent: m.
        frames: frames until the fall or the end, `(...)`; all without it.
        weights: of the joints, `(joints,)`; 1 each without it.
        angles: whether a difference of a whole turn is none.
        columns: names of the joints, for errors.
        empty: what a simulation without a frame to compare is: an error, or infinitely far away.
    """
    errors = series_errors(real, simulated, frames=frames, angles=angles, columns=columns, empty=empty)
    if not exponent >= 0:
        raise UsageError(f"the exponent m is {exponent}; it must be 0 or more, and above 1 to be of use.")
    lasted = np.maximum(errors.samples + errors.missing, 1).max(axis=-1)  # T, the same for all joints
    weight = np.broadcast_to(1.0 if weights is None else weights, errors.rms.shape[-1:])
    squares = np.where(weight == 0, 0.0, errors.rms) ** 2 * weight
    return np.asarray(squares.sum(axis=-1) * lasted ** (1.0 - exponent))  # eq. 2: T times the mean is the sum


def least_exponent(squared_errors: ArrayLike, *, earliest: int = 1) -> float:
    """The smallest m at which no simulation gains by ending early.

    With S_t the sum of the errors until frame t, ending there is no better than staying until T if
    S_t / t^m >= S_T / T^m, that is m >= ln(S_T / S_t) / ln(T / t).

    Args:
        squared_errors: summed over joints and robots, of a simulation that does not fall, `(T,)`.
        earliest: the first frame at which a robot can have fallen; before it errors may be 0.
    """
    sums = np.cumsum(np.asarray(squared_errors, dtype=np.float64))
    last = len(sums)
    if not 1 <= earliest < last or not np.isfinite(sums).all() or sums[earliest - 1] <= 0:
        raise UsageError(
            f"{last} squared errors and falls from frame {earliest} on: needed are finite errors that add up to more "
            "than 0 at the earliest fall, and an earliest fall of 1 or later, before the last frame."
        )
    ends = np.arange(earliest, last)
    return max(0.0, float((np.log(sums[-1] / sums[earliest - 1 : -1]) / np.log(last / ends)).max()))


def error_if_ended(squared_errors: ArrayLike, exponent: float) -> Floats:
    """F of a simulation that makes these errors and ends after 1, 2, ... T frames, `(T,)`."""
    sums = np.cumsum(np.asarray(squared_errors, dtype=np.float64))
    return np.asarray(sums / np.arange(1, len(sums) + 1) ** float(exponent))
