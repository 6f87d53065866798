"""The Bayer filter: every pixel sees one colour, and the other two are guessed from its neighbours.

A pattern names the colours of the first 2 x 2 pixels, row by row: `rggb`. Missing colours are the mean of the nearest
pixels that have them (bilinear; eq. 6 in docs/explanation/cameras.md): two or four neighbours inside, those there are
at the edges. A picture of one colour comes back as it was; edges get the coloured seams that real cameras have.

    raw = mosaic(light, "rggb")             # (N, height, width)
    light = demosaic(raw, "rggb")           # (N, height, width, 3)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats32

COLOUR_LETTERS = "rgb"


def mosaic(light: Floats32, pattern: str) -> Floats32:
    """What pixels behind a filter see of pictures (N, height, width, 3): (N, height, width)."""
    raw = np.empty(light.shape[:3], light.dtype)
    for place, letter in enumerate(pattern):
        row, column = divmod(place, 2)
        raw[:, row::2, column::2] = light[:, row::2, column::2, COLOUR_LETTERS.index(letter)]
    return raw


def demosaic(raw: Floats32, pattern: str) -> Floats32:
    """Pictures (N, height, width, 3) from raw ones (N, height, width)."""
    _, height, width = raw.shape
    out = np.empty((*raw.shape, 3), raw.dtype)
    for colour, letter in enumerate(COLOUR_LETTERS):
        sparse = raw * _mask(pattern, letter, height, width)
        out[..., colour] = _spread(sparse, letter) * _share(pattern, letter, height, width)
    return out


def _spread(sparse: Floats32, letter: str) -> Floats32:
    """Weighted sums of each pixel's neighbourhood; outside is nothing.

    Green, which every other pixel has, weighs 4 in the middle and 1 at the four sides; red and blue weigh 4 in the
    middle, 2 at the sides and 1 at the corners. A pixel that has a colour finds no other that has it in there.
    """
    if letter == "g":
        out = 4 * sparse
        out[:, 1:] += sparse[:, :-1]
        out[:, :-1] += sparse[:, 1:]
        out[:, :, 1:] += sparse[:, :, :-1]
        out[:, :, :-1] += sparse[:, :, 1:]
        return out
    rows = 2 * sparse
    rows[:, 1:] += sparse[:, :-1]
    rows[:, :-1] += sparse[:, 1:]
    out = 2 * rows
    out[:, :, 1:] += rows[:, :, :-1]
    out[:, :, :-1] += rows[:, :, 1:]
    return out


@lru_cache(maxsize=32)
def _mask(pattern: str, letter: str, height: int, width: int) -> Floats32:
    """1 where pixels see a colour, (1, height, width)."""
    mask = np.zeros((1, height, width), np.float32)
    for place, found in enumerate(pattern):
        if found == letter:
            mask[:, place // 2 :: 2, place % 2 :: 2] = 1
    return mask


@lru_cache(maxsize=32)
def _share(pattern: str, letter: str, height: int, width: int) -> Floats32:
    """One over the sum of weights with which a colour comes to each pixel, (1, height, width)."""
    return np.float32(1) / _spread(_mask(pattern, letter, height, width), letter)
