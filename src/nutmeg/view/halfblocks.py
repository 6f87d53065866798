"""A picture in a terminal: two pixels to a character cell, upper and lower half."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from rich.segment import Segment, Segments
from rich.style import Style

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes


def half_blocks(image: Bytes, *, columns: int) -> Segments:
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


def _hex(pixel: Bytes) -> str:
    return f"#{pixel[0]:02x}{pixel[1]:02x}{pixel[2]:02x}"
