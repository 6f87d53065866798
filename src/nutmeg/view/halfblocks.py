"""A picture in a terminal: two pixels to a character cell, upper and lower half."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from rich.segment import Segment, Segments
from rich.style import Style

if TYPE_CHECKING:
    from numpy.typing import NDArray


def half_blocks(image: NDArray[np.uint8], *, columns: int) -> Segments:
    """The picture (height, width, 3), scaled to `columns` characters, for a Rich console."""
    rows = round(columns * image.shape[0] / image.shape[1] / 2) * 2
    small = np.asarray(Image.fromarray(image).resize((columns, rows), Image.Resampling.LANCZOS))
    segments = []
    for top, bottom in zip(small[0::2], small[1::2], strict=True):
        for upper, lower in zip(top, bottom, strict=True):
            style = Style(color=_hex(upper), bgcolor=_hex(lower))
            segments.append(Segment("▀", style))
        segments.append(Segment.line())
    return Segments(segments)


def _hex(pixel: NDArray[np.uint8]) -> str:
    return f"#{pixel[0]:02x}{pixel[1]:02x}{pixel[2]:02x}"
