"""The colours of a pitch: a table gives each pixel one of seven, and blobs are patches of one colour.

    classes = classify(picture)                         # (240, 320, 3) RGB -> (240, 320) of `Colour`
    colour_of((0.95, 0.78, 0.05))                       # Colour.YELLOW
    for blob in find_blobs(classes): blob.colour, blob.count, blob.middle, blob.box

Teams of the time of coloured goals used a table with an entry for each of 32 x 32 x 32 RGB values. This one is not
learned: hue tells orange, yellow, green, blue and pink apart, and what has hardly any colour is white if it is bright.
Bounds are wide, so that light and noise may change a colour. The colours are those of the cameras' scene
(`worlds.behavioural.cameras`): hues 21 (ball), 49 (yellow goal), 133 (carpet), 220 and 229 (blue goal and waistband),
336 degrees (pink waistband). The two blues are one to the table; shapes tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.base.records import record_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.records import Records


Classes = NDArray[np.uint8]

_TABLE_STEPS = 32  # values of red, green and blue each in the table
_TABLE_SHIFT = 3  # low bits of a byte that the table ignores
_MIN_COLOUR_BRIGHTNESS = 45  # darker pixels have no colour; of 255
_MIN_WHITE_BRIGHTNESS = 168  # brighter pixels without colour are white; of 255
_MIN_SATURATION = 0.2  # pixels with less saturation have no colour


class Colour(IntEnum):
    """Colours of pixels; blobs are found of those from ORANGE on."""

    OTHER = 0
    GREEN = 1
    WHITE = 2
    ORANGE = 3
    YELLOW = 4
    BLUE = 5
    PINK = 6


_HUES = {
    Colour.ORANGE: (6.0, 34.0, 0.55),
    Colour.YELLOW: (39.0, 66.0, 0.5),
    Colour.GREEN: (85.0, 170.0, 0.25),
    Colour.BLUE: (200.0, 252.0, 0.4),
    Colour.PINK: (305.0, 352.0, 0.3),
}
"""First and last hue, degrees, and the least saturation."""


@lru_cache(maxsize=1)
def _colour_table() -> Classes:
    """(32768,) the colour of each value, red first."""
    value = (np.arange(_TABLE_STEPS) + 0.5) * 2**_TABLE_SHIFT
    rgb = np.stack(np.meshgrid(value, value, value, indexing="ij"), axis=-1).reshape(-1, 3)
    most, least = rgb.max(axis=1), rgb.min(axis=1)
    range_ = np.maximum(most - least, 1e-9)
    saturation, hue = range_ / most, _hue(rgb, most, range_)
    table = np.zeros(len(rgb), np.uint8)
    table[(saturation < _MIN_SATURATION) & (most >= _MIN_WHITE_BRIGHTNESS)] = Colour.WHITE
    for colour, (low, high, least_saturation) in _HUES.items():
        table[(hue >= low) & (hue <= high) & (saturation >= least_saturation) & (most >= _MIN_COLOUR_BRIGHTNESS)] = (
            colour
        )
    table.setflags(write=False)
    return table


def _hue(rgb: Floats, most: Floats, range_: Floats) -> Floats:
    """(N,) hues of colours, degrees around the colour circle."""
    red, green, blue = rgb.T
    hue = np.where(
        most == red,
        ((green - blue) / range_) % 6.0,
        np.where(most == green, (blue - red) / range_ + 2.0, (red - green) / range_ + 4.0),
    )
    return np.asarray(60.0 * hue)


def classify(picture: Bytes) -> Classes:
    """(height, width) the colour of each pixel of a picture (height, width, 3)."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise UsageError(
            f"a picture has the shape {picture.shape} and the type {picture.dtype}; it must be (height, width, 3) of "
            "bytes, red, green and blue."
        )
    red, green, blue = ((picture[..., k] >> _TABLE_SHIFT).astype(np.intp) for k in range(3))
    return np.asarray(_colour_table()[(red * _TABLE_STEPS + green) * _TABLE_STEPS + blue])


def colour_of(rgb: Sequence[float]) -> Colour:
    """The colour class of a paint (3,) of 0 to 1."""
    pixel = np.round(255.0 * np.clip(np.asarray(rgb, float), 0.0, 1.0)).astype(np.uint8)
    return Colour(int(classify(pixel[None, None])[0, 0]))


# ---- blobs
#
# Pixels of one colour that touch, also at corners, belong to one blob. Each pixel is labelled by its neighbours above
# and to the left, and labels that meet are joined (union-find), so that one pass over the picture finds everything.
# It is written by hand because `scipy.ndimage.label` has to be called for each colour, and its blobs then measured:
# 0.46 ms a picture instead of 0.08 ms, in a perception that takes 5 ms.

_MAX_LABELS = 4096
"""Labels in a picture. A picture with more is noise; the rest of its blobs is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A patch of one colour."""

    colour: Colour
    count: int
    """Columns of the picture that it spans [pixels]."""
    middle: tuple[float, float]
    """Mean column and row, the middle of the first pixel being (0.5, 0.5)."""
    box: tuple[int, int, int, int]
    """Least column and row, and greatest column and row, which still belong to it."""

    @property
    def width(self) -> int:
        """Rows of the picture that it spans [pixels]."""
        return self.box[2] - self.box[0] + 1

    @property
    def height(self) -> int:
        """The height of its box, pixels."""
        return self.box[3] - self.box[1] + 1

    def cut(self, size: tuple[int, int]) -> bool:
        """Whether it is cut off by the edge of a picture of that size."""
        return self.box[0] == 0 or self.box[1] == 0 or self.box[2] == size[0] - 1 or self.box[3] == size[1] - 1


@dataclass
class _BlobRecord:
    """Sums of a blob that the kernel accumulates."""

    colour: int
    count: int
    column_sum: int
    row_sum: int
    left: int
    """The least column of its pixels."""
    top: int
    """The least row of its pixels."""
    right: int
    bottom: int


_BLOB = record_of(_BlobRecord)


def find_blobs(classes: Classes, least: int = 4) -> list[Blob]:
    """All blobs of at least `least` pixels, the largest first."""
    table = _blob_table(classes)
    table = table[table["count"] >= least]
    return [
        Blob(
            colour=Colour(colour),
            count=count,
            middle=(columns / count + 0.5, rows / count + 0.5),
            box=(left, top, right, bottom),
        )
        for colour, count, columns, rows, left, top, right, bottom in table[
            np.argsort(-table["count"], kind="stable")
        ].tolist()
    ]


@kernel
def _blob_table(classes: Bytes) -> Records[_BlobRecord]:
    """(K,) blobs; those with no pixels were joined to others."""
    height, width = classes.shape
    parent = np.arange(_MAX_LABELS)
    labels = np.full((2, width + 2), -1)  # of the row above and of this one
    table: Records[_BlobRecord] = np.zeros(_MAX_LABELS, _BLOB)  # type: ignore[assignment]
    used = 0
    for row in range(height):
        above, here = labels[(row + 1) % 2], labels[row % 2]
        here[:] = -1
        for column in range(width):
            colour = classes[row, column]
            if colour < Colour.ORANGE:
                continue
            label = -1
            for near in (here[column], above[column], above[column + 1], above[column + 2]):
                if near >= 0 and table[near].colour == colour:
                    root = _root(parent, near)
                    if label >= 0 and root != label:
                        parent[max(root, label)] = min(root, label)
                        root = min(root, label)
                    label = root
            if label < 0:
                if used == _MAX_LABELS:
                    continue
                label = used
                used += 1
                blob = table[label]
                blob.colour, blob.left, blob.top, blob.right, blob.bottom = colour, width, height, -1, -1
            here[column + 1] = label
            blob = table[label]
            blob.count += 1
            blob.column_sum += column
            blob.row_sum += row
            blob.left, blob.top = min(blob.left, column), min(blob.top, row)
            blob.right, blob.bottom = max(blob.right, column), max(blob.bottom, row)
    for label in range(used - 1, -1, -1):  # roots are always lower
        root = _root(parent, label)
        if root != label:
            _join(table[root], table[label])
    return table[:used]


@kernel
def _root(parent: Ints, label: int) -> int:
    while parent[label] != label:
        parent[label] = parent[parent[label]]  # shortens the way for the next search
        label = parent[label]
    return label


@kernel
def _join(blob: _BlobRecord, other: _BlobRecord) -> None:
    """Adds a blob to another one, and empties it."""
    blob.count += other.count
    blob.column_sum += other.column_sum
    blob.row_sum += other.row_sum
    blob.left, blob.top = min(blob.left, other.left), min(blob.top, other.top)
    blob.right, blob.bottom = max(blob.right, other.right), max(blob.bottom, other.bottom)
    other.count = 0
