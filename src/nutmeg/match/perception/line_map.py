"""How far every spot of a pitch is from the nearest line: a table.

    map = LineMap.of(load_field("spl2011"))
    map.distances(np.array([[0.0, 1.2]]))               # 0: on the halfway line

Farther than `FARTHEST` makes no difference. The table reaches beyond the carpet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.body.field import FieldSettings


CELL = 0.04
"""Size of a cell, m."""
BEYOND = 1.0
"""How far the table reaches beyond the carpet, m."""
FARTHEST = 0.6
"""Distances are no greater than this, m."""


@dataclass(frozen=True, kw_only=True)
class LineMap:
    """Distances from lines."""

    table: Floats
    """(columns of x, rows of y) m."""
    corner: tuple[float, float]
    """Least x and y of the table, m."""
    cell: float = CELL
    """Size of a cell, m."""

    @classmethod
    def of(cls, field: FieldSettings) -> LineMap:
        """The table of a field."""
        lines = np.array(field.lines())
        if not len(lines):
            raise UsageError(f"the field {field.name!r} has no lines to be recognised by; use one that has.")
        reach = np.array([field.length, field.width]) / 2 + field.border + BEYOND
        x, y = (np.arange(-side, side, CELL) + CELL / 2 for side in reach)
        spots = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        nearest = np.full(spots.shape[:2], FARTHEST)
        for start, end in lines:
            along = end - start
            share = np.clip((spots - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
            np.minimum(nearest, np.linalg.norm(spots - start - share[..., None] * along, axis=-1), out=nearest)
        return cls(table=nearest, corner=(float(-reach[0]), float(-reach[1])))

    def distances(self, spots: Floats) -> Floats:
        """(K,) of spots (K, 2) on the pitch, m."""
        column, row = np.floor((spots - self.corner) / self.cell).astype(int).T
        inside = (column >= 0) & (row >= 0) & (column < self.table.shape[0]) & (row < self.table.shape[1])
        return np.where(inside, self.table[np.where(inside, column, 0), np.where(inside, row, 0)], FARTHEST)
