"""Walks along columns and rows of a picture, compiled: where the carpet ends, upright bars, and what lies across it.

    border = border_rows(classes, horizon)              # (width,) the highest carpet of each column
    bars = upright_runs(classes, colour)                # (width, 2) rows of the longest run of a colour
    cuts = white_cuts(classes, border, step)            # (K, 4) both ends of white between green, as pixels

Pixels are (column, row) as in `camera_geometry`: an edge between two pixels is a whole number.
"""

from __future__ import annotations

import numpy as np

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.compiled import kernel
from nutmeg.match.perception.colours import Colour

_GREEN, _WHITE = int(Colour.GREEN), int(Colour.WHITE)
SURE = 3
"""So many green pixels on end are carpet."""
MOST = 4000
"""White cuts in a picture."""
GAP = 2
"""So many pixels of another colour do not end a bar."""


@kernel
def border_rows(classes: Bytes, horizon: float) -> Ints:
    """(width,) row of the highest carpet below the horizon in each column; the height where there is none."""
    height, width = classes.shape
    border = np.full(width, height)
    first = max(0, int(np.ceil(horizon)))
    for column in range(width):
        green = 0
        for row in range(first, height):
            green = green + 1 if classes[row, column] == _GREEN else 0
            if green == SURE:
                border[column] = row - SURE + 1
                break
    return border


@kernel
def upright_runs(classes: Bytes, colour: int) -> Ints:
    """(width, 2) first and last row of the longest run of a colour in each column; -1 where there is none."""
    height, width = classes.shape
    runs = np.full((width, 2), -1)
    for column in range(width):
        start, last = -1, -1
        for row in range(height + GAP + 1):
            if row < height and classes[row, column] == colour:
                start = row if start < 0 else start
                last = row
            elif start >= 0 and row - last > GAP:
                if runs[column, 0] < 0 or last - start > runs[column, 1] - runs[column, 0]:
                    runs[column, 0], runs[column, 1] = start, last
                start = -1
    return runs


@kernel
def white_cuts(classes: Bytes, border: Ints, step: int) -> Floats:
    """(K, 4) column and row of both ends of white with green on both sides, along each step-th column and row."""
    height, width = classes.shape
    cuts = np.empty((MOST, 4))
    used = 0
    for column in range(step // 2, width, step):
        start, before = -1, -1
        for row in range(height - 1, border[column] - 1, -1):
            here = classes[row, column]
            if here == _WHITE and before == _GREEN:
                start = row + 1
            elif here == _GREEN and before == _WHITE and start >= 0 and used < MOST:
                cuts[used, 0], cuts[used, 1], cuts[used, 2], cuts[used, 3] = column + 0.5, start, column + 0.5, row + 1
                used += 1
                start = -1
            elif here != _WHITE:
                start = -1
            before = here
    for row in range(step // 2, height, step):
        start, before = -1, -1
        for column in range(width):
            here = classes[row, column]
            if row < border[column]:
                here = 0
            if here == _WHITE and before == _GREEN:
                start = column
            elif here == _GREEN and before == _WHITE and start >= 0 and used < MOST:
                cuts[used, 0], cuts[used, 1], cuts[used, 2], cuts[used, 3] = start, row + 0.5, column, row + 0.5
                used += 1
                start = -1
            elif here != _WHITE:
                start = -1
            before = here
    return cuts[:used]
