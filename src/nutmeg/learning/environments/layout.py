"""What an observation consists of: named parts in one row of numbers, each with its bounds.

layout = Layout([Part("gyro", 3, -20.0, 20.0), Part("tilt", 2, -1.6, 1.6)])
layout.space                            # Box(-20.0, 20.0, (5,), float32), its bounds part by part
layout.slices["tilt"]                   # slice(3, 5)
layout.rows({"gyro": ..., "tilt": ...}) # (N, 5), cut off at the bounds
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats32


@dataclass(frozen=True)
class Part:
    """A part of an observation."""

    name: str
    width: int
    low: ArrayLike
    """Lowest value, one or (width,)."""
    high: ArrayLike
    """Highest value, one or (width,)."""


class Layout:
    """The parts of an observation, in order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        ends = np.cumsum([part.width for part in parts])
        self.slices: dict[str, slice] = {
            part.name: slice(int(end) - part.width, int(end)) for part, end in zip(parts, ends, strict=True)
        }
        """Where each part is."""
        self._low, self._high = (
            np.concatenate([np.broadcast_to(np.asarray(bound, np.float32), part.width) for part, bound in bounds])
            for bounds in ([(p, p.low) for p in parts], [(p, p.high) for p in parts])
        )
        self.width = int(ends[-1])

    @property
    def space(self) -> Space[Floats32]:
        """The space of one observation."""
        return cast("Space[Floats32]", Box(self._low, self._high, dtype=np.float32))

    def rows(self, values: Mapping[str, ArrayLike]) -> Floats32:
        """Observations (N, width) from the parts (N, part's width), new at every call."""
        joined = np.concatenate([np.asarray(values[name], np.float32) for name in self.slices], axis=1)
        return np.clip(joined, self._low, self._high, out=joined)
