"""Many simulations against many realities: leading axes broadcast, worked through in pieces that fit the cache.

Every distance compares real series `(..., T, channels)` with simulated ones `(..., T, channels)`; what stands
before the last two axes broadcasts as in NumPy. One reality `(T, channels)` against `(N, T, channels)` gives `(N,)`
results; M realities, each simulated by N candidates `(N, M, T, channels)`, give `(N, M)`.

    pairs = Pairs.of(real, simulated, frames)
    for index in pairs.pieces():
        ours, theirs = pairs.take(pairs.real, index), pairs.take(pairs.simulated, index)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools, Floats, Indices

_SAMPLES_AT_ONCE = 1 << 18
"""About 2 MB of numbers: larger pieces were slower, as they leave the cache."""


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
    """Of the result: the broadcast leading axes."""

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
        """T."""
        return int(self.real.shape[-2])

    @property
    def channels(self) -> int:
        """How many channels each frame has."""
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


def name_of(column: int, columns: Sequence[str]) -> str:
    """What to call a channel in an error."""
    return repr(columns[column]) if columns else f"number {column}"


def check_measured(real: Floats, columns: Sequence[str] = ()) -> None:
    """Refuses a real channel in which nothing was measured."""
    nothing = np.isnan(real).all(axis=-2).reshape(-1, real.shape[-1]).any(axis=0)
    if nothing.any():
        column = name_of(int(np.argmax(nothing)), columns)
        raise RecordingError(
            f"the real channel {column} has no value in any frame, so there is nothing to compare. Leave it out."
        )


def check_comparable(samples: Indices, columns: Sequence[str] = ()) -> None:
    """Refuses pairs without a frame that both sides have; `samples` is `(..., channels)`."""
    if samples.size and not samples.min():
        *pair, column = (int(i) for i in np.argwhere(samples == 0)[0])
        which = f" in simulation {', '.join(map(str, pair))}" if pair else ""
        raise RecordingError(
            f"the channel {name_of(column, columns)} has no frame{which} in which neither the real nor the simulated "
            "value is missing. Check that their times overlap, or leave the channel out."
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
