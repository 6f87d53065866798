"""The space that is searched: named parameters with units, each between two bounds.

Searchers work in the unit cube, where every parameter runs from 0 to 1 along its scale; everything else sees
values in SI units. A `log` scale suits what is known only to its order of magnitude (friction, damping, gains).

    space = Space({
        "femur": Dimension(low=0.04, high=0.12, unit="m"),
        "damping": Dimension(low=1e-4, high=1e-1, start=1e-2, unit="N m s/rad", scale="log"),
    })
    space.values(np.array([[0.5, 1.0]]))     # [[0.08, 0.1]]
    space.named(space.start)                 # {"femur": 0.08, "damping": 0.01}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """The range of one parameter."""

    low: float
    """The smallest value that is tried."""
    high: float
    """The largest value that is tried."""
    start: float | None = None
    """Value at which the search starts; without it, the middle of the range along its scale."""
    unit: str = ""
    """SI unit, empty for a ratio."""
    scale: Literal["linear", "log"] = "linear"
    """Whether equal steps of the search are equal differences or equal ratios."""
    about: str = ""
    """A short description."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"the range is {self.range}; both ends must be finite, and low below high.")
        if self.scale not in ("linear", "log"):
            raise ValueError(f"the scale is {self.scale!r}. Allowed: 'linear', 'log'.")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"the range is {self.range}; on a log scale it must lie above 0.")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise ValueError(f"the start {self.start:g} is outside its range {self.range}.")

    @property
    def range(self) -> str:
        """The range in words: `0.04..0.12 m`."""
        return f"{self.low:g}..{self.high:g} {self.unit}".rstrip()

    @property
    def middle(self) -> float:
        """The middle of the range along its scale."""
        return math.sqrt(self.low * self.high) if self.scale == "log" else (self.low + self.high) / 2


class Space:
    """Named parameters in a fixed order; arrays of them are (k,) or (N, k) in that order.

    Args:
        dimensions: the range of each parameter, by name.
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        if not dimensions:
            raise UsageError("the space has no parameters; a search needs at least one.")
        self.dimensions = dict(dimensions)
        self.names = tuple(dimensions)
        each = tuple(dimensions.values())
        self.units = tuple(d.unit for d in each)
        self.low: Floats = np.array([d.low for d in each], float)
        self.high: Floats = np.array([d.high for d in each], float)
        self.start: Floats = np.array([d.middle if d.start is None else d.start for d in each], float)
        """Start of a search, (k,)."""
        self._log = np.array([d.scale == "log" for d in each])
        self._bottom, self._top = self._scaled(self.low), self._scaled(self.high)

    @property
    def size(self) -> int:
        """Number of parameters k."""
        return len(self.names)

    def values(self, unit: ArrayLike) -> Floats:
        """Values of points in the unit cube, (N, k) or (k,); never outside the bounds by a rounding error."""
        points = np.asarray(unit, float)
        scaled = self._bottom + points * (self._top - self._bottom)
        with np.errstate(over="ignore"):  # the branch not taken
            plain = np.where(self._log, np.exp(np.where(self._log, scaled, 0.0)), scaled)
        # Rounding must not move the ends of a range: 0 and 1 give exactly low and high.
        plain = np.where(points <= 0, self.low, np.where(points >= 1, self.high, plain))
        return np.clip(plain, self.low, self.high)

    def unit(self, values: ArrayLike) -> Floats:
        """Points in the unit cube of values, (N, k) or (k,); values outside the bounds are an error."""
        scaled = self._scaled(self.checked(values))
        return np.clip((scaled - self._bottom) / (self._top - self._bottom), 0.0, 1.0)

    def checked(self, values: ArrayLike) -> Floats:
        """The values, if every one is within its bounds; else an error naming the first that is not."""
        given = np.asarray(values, float)
        if given.ndim not in (1, 2) or given.shape[-1] != self.size:
            raise UsageError(f"values have the shape {given.shape}; needed is ({self.size},) or (N, {self.size}).")
        inside = (given >= self.low) & (given <= self.high)
        if not inside.all():
            place = tuple(np.argwhere(~inside)[0])
            name = self.names[place[-1]]
            row = f" of candidate {place[0]}" if len(place) == 2 else ""
            unit = self.dimensions[name].unit
            raise UsageError(
                f"parameter {name!r}{row} is {f'{given[place]:g} {unit}'.rstrip()}; "
                f"allowed is {self.dimensions[name].range}."
            )
        return given

    def named(self, values: ArrayLike) -> dict[str, float]:
        """One candidate, (k,), as a mapping from name to value."""
        row = np.asarray(values, float)
        if row.shape != (self.size,):
            raise UsageError(f"a candidate has the shape {row.shape}; needed is ({self.size},).")
        return dict(zip(self.names, row.tolist(), strict=True))

    def array(self, values: Mapping[str, float]) -> Floats:
        """One candidate, (k,), from a mapping with exactly the names of this space."""
        for name in values:
            if name not in self.dimensions:
                raise UnknownNameError("parameter", name, self.names)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise UsageError(f"the value of parameter {missing[0]!r} [{self.dimensions[missing[0]].range}] is missing.")
        return self.checked([values[name] for name in self.names])

    def description(self) -> dict[str, dict[str, float | str]]:
        """The space as a checkpoint records it: range, start, unit and scale by name."""
        rows = zip(self.dimensions.items(), self.start.tolist(), strict=True)
        return {
            name: {"low": d.low, "high": d.high, "start": start, "unit": d.unit, "scale": d.scale}
            for (name, d), start in rows
        }

    def _scaled(self, values: Floats) -> Floats:
        return np.where(self._log, np.log(np.where(self._log, values, 1.0)), values)


def reflected(unit: ArrayLike) -> Floats:
    """Points folded back into the unit cube at its walls, as light between mirrors; inside ones are untouched."""
    points = np.asarray(unit, float)
    folded = 1.0 - np.abs(1.0 - np.mod(points, 2.0))
    return np.where((points >= 0) & (points <= 1), points, np.clip(folded, 0.0, 1.0))
