"""The colours of a pitch: which of seven a pixel has, by a table.

    classes = classify(picture)                         # (240, 320, 3) RGB -> (240, 320) of `Colour`
    colour_of((0.95, 0.78, 0.05))                       # Colour.YELLOW

A table with an entry for each of 32 x 32 x 32 RGB values was how teams with coloured goals saw. This one is not
taught: hue tells orange, yellow, green, blue and pink apart, and what has hardly any colour is white if it is bright.
Bounds are wide, so that light and noise may change a colour. The colours are those of `camera_scene` and the fields:
hues 21 (ball), 49 (yellow goal), 133 (carpet), 220 and 229 (blue goal and waistband), 336 degrees (pink waistband).
The two blues are one to the table; shapes tell them apart.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nutmeg.base.arrays import Bytes, Floats
from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Classes = NDArray[np.uint8]

STEPS = 32
"""Of each of red, green and blue in the table."""
SHIFT = 3
"""Bits of a byte that the table does not look at."""
DARK, BRIGHT = 45, 168
"""Darker than the first has no colour, brighter than the second without colour is white; of 255."""
GREY = 0.2
"""Less saturation has no colour."""


class Colour(IntEnum):
    """What a pixel is called; those from ORANGE on are looked for as blobs."""

    OTHER = 0
    GREEN = 1
    WHITE = 2
    ORANGE = 3
    YELLOW = 4
    BLUE = 5
    PINK = 6


HUES = {
    Colour.ORANGE: (6.0, 34.0, 0.55),
    Colour.YELLOW: (39.0, 66.0, 0.5),
    Colour.GREEN: (85.0, 170.0, 0.25),
    Colour.BLUE: (200.0, 252.0, 0.4),
    Colour.PINK: (305.0, 352.0, 0.3),
}
"""From and to which hue, degrees, and the least saturation."""


@lru_cache(maxsize=1)
def colour_table() -> Classes:
    """(32768,) the colour of each value, red first."""
    value = (np.arange(STEPS) + 0.5) * 2**SHIFT
    rgb = np.stack(np.meshgrid(value, value, value, indexing="ij"), axis=-1).reshape(-1, 3)
    most, least = rgb.max(axis=1), rgb.min(axis=1)
    range_ = np.maximum(most - least, 1e-9)
    saturation, hue = range_ / most, _hue(rgb, most, range_)
    table = np.zeros(len(rgb), np.uint8)
    table[(saturation < GREY) & (most >= BRIGHT)] = Colour.WHITE
    for colour, (low, high, least_saturation) in HUES.items():
        table[(hue >= low) & (hue <= high) & (saturation >= least_saturation) & (most >= DARK)] = colour
    table.setflags(write=False)
    return table


def _hue(rgb: Floats, most: Floats, range_: Floats) -> Floats:
    """(N,) degrees."""
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
    red, green, blue = ((picture[..., k] >> SHIFT).astype(np.intp) for k in range(3))
    return np.asarray(colour_table()[(red * STEPS + green) * STEPS + blue])


def colour_of(rgb: Sequence[float]) -> Colour:
    """What a paint (3,) of 0 to 1 is called."""
    pixel = np.round(255.0 * np.clip(np.asarray(rgb, float), 0.0, 1.0)).astype(np.uint8)
    return Colour(int(classify(pixel[None, None])[0, 0]))
