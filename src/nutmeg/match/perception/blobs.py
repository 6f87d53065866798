"""Patches of one colour in a picture: connected pixels, compiled.

    for blob in find_blobs(picture.classes): blob.colour, blob.count, blob.middle, blob.box

Pixels belong together that touch, also at corners. Each pixel is labelled by its neighbours above and to the left, and
labels that meet are joined (union-find), so that one pass over the picture finds everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Bytes, Ints
from nutmeg.compiled import kernel
from nutmeg.match.perception.colours import Colour

if TYPE_CHECKING:
    from nutmeg.match.perception.colours import Classes

FIRST = int(Colour.ORANGE)
"""The first of the colours that are looked for."""
MOST = 4096
"""Labels in a picture; of a picture with more, which is noise, what is left over is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A patch of one colour."""

    colour: Colour
    count: int
    """Pixels."""
    middle: tuple[float, float]
    """Mean column and row, the middle of the first pixel being (0.5, 0.5)."""
    box: tuple[int, int, int, int]
    """Least column and row, and greatest column and row, which still belong to it."""

    @property
    def width(self) -> int:
        """Pixels."""
        return self.box[2] - self.box[0] + 1

    @property
    def height(self) -> int:
        """Pixels."""
        return self.box[3] - self.box[1] + 1

    def cut(self, size: tuple[int, int]) -> bool:
        """Whether it goes on beyond the edge of a picture of that size."""
        return self.box[0] == 0 or self.box[1] == 0 or self.box[2] == size[0] - 1 or self.box[3] == size[1] - 1


def find_blobs(classes: Classes, least: int = 4) -> list[Blob]:
    """All patches of at least so many pixels, the largest first."""
    table = blob_table(classes)
    table = table[table[:, 1] >= least]
    return [
        Blob(
            colour=Colour(int(row[0])),
            count=int(row[1]),
            middle=(row[2] / row[1] + 0.5, row[3] / row[1] + 0.5),
            box=(int(row[4]), int(row[5]), int(row[6]), int(row[7])),
        )
        for row in table[np.argsort(-table[:, 1], kind="stable")].tolist()
    ]


@kernel
def blob_table(classes: Bytes) -> Ints:
    """(K, 8) colour, pixels, sums of columns and rows, least column and row, greatest column and row."""
    height, width = classes.shape
    parent = np.arange(MOST)
    labels = np.full((2, width + 2), -1)
    table = np.zeros((MOST, 8), np.int64)
    used = 0
    for row in range(height):
        above, here = labels[(row + 1) % 2], labels[row % 2]
        here[:] = -1
        for column in range(width):
            colour = classes[row, column]
            if colour < FIRST:
                continue
            label = -1
            for near in (here[column], above[column], above[column + 1], above[column + 2]):
                if near >= 0 and table[near, 0] == colour:
                    root = _root(parent, near)
                    if label >= 0 and root != label:
                        parent[max(root, label)] = min(root, label)
                        root = min(root, label)
                    label = root
            if label < 0:
                if used == MOST:
                    continue
                label = used
                used += 1
                table[label, 0], table[label, 4], table[label, 5] = colour, width, height
                table[label, 6], table[label, 7] = -1, -1
            here[column + 1] = label
            _add(table[label], column, row)
    for label in range(used - 1, -1, -1):  # roots are always lower
        root = _root(parent, label)
        if root != label:
            _join(table[root], table[label])
    return table[:used]


@kernel
def _root(parent: Ints, label: int) -> int:
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label


@kernel
def _add(row: Ints, x: int, y: int) -> None:
    row[1] += 1
    row[2] += x
    row[3] += y
    row[4], row[5] = min(row[4], x), min(row[5], y)
    row[6], row[7] = max(row[6], x), max(row[7], y)


@kernel
def _join(row: Ints, other: Ints) -> None:
    for k in range(1, 4):
        row[k] += other[k]
    row[4], row[5] = min(row[4], other[4]), min(row[5], other[5])
    row[6], row[7] = max(row[6], other[6]), max(row[7], other[7])
    other[1] = 0
