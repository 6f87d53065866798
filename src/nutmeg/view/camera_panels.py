"""Pictures of a camera side by side, each with a label and a piece of it enlarged.

sheet = panels([Panel(picture=image, label="pinhole")], around=(0.3, 0.4))      # (height, width, 3) uint8
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bytes

WIDTH = 320
"""Of a panel, pixels."""
COLUMNS = 4
GAP = 6
LABEL = 20
"""Height of a label, pixels."""
ENLARGED, SHARE = 5, 0.36
"""How many times larger the enlarged piece is, and which share of the panel's width it takes."""
_PAPER, _INK, _FRAME = (250, 250, 250), (30, 30, 30), (255, 210, 0)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One picture of the sheet."""

    picture: Bytes
    """(height, width, 3)."""
    label: str
    note: str = ""
    """Said in grey behind the label."""


def panels(shown: Sequence[Panel], *, around: tuple[float, float], columns: int = COLUMNS) -> Bytes:
    """A sheet (height, width, 3) of pictures of one size.

    Args:
        shown: from left to right, row by row.
        around: the middle of the piece that is enlarged, in widths and heights of a picture from its upper left.
        columns: panels in a row.
    """
    height = round(WIDTH * shown[0].picture.shape[0] / shown[0].picture.shape[1])
    columns = min(columns, len(shown))
    rows = math.ceil(len(shown) / columns)
    cell = (WIDTH + GAP, height + LABEL + GAP)
    sheet = Image.new("RGB", (columns * cell[0] + GAP, rows * cell[1] + GAP), _PAPER)
    write = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(13)
    for number, panel in enumerate(shown):
        left, top = GAP + number % columns * cell[0], GAP + number // columns * cell[1]
        write.text((left + 2, top + 2), panel.label, fill=_INK, font=font)
        if panel.note:
            write.text((left + WIDTH - 2, top + 2), panel.note, fill=(120, 120, 120), font=font, anchor="ra")
        sheet.paste(_with_piece(panel.picture, (WIDTH, height), around), (left, top + LABEL))
    return np.asarray(sheet)


def _with_piece(picture: Bytes, size: tuple[int, int], around: tuple[float, float]) -> Image.Image:
    """A picture at a size, with a piece of it enlarged in its upper right corner."""
    image = Image.fromarray(picture)
    small = image.resize(size, Image.Resampling.LANCZOS)
    wide = round(size[0] * SHARE)
    scale = ENLARGED * size[0] / image.width
    piece_width = max(4, round(wide / scale))
    piece_height = max(3, round(piece_width * 0.75))
    left = min(max(0, round(around[0] * image.width) - piece_width // 2), image.width - piece_width)
    top = min(max(0, round(around[1] * image.height) - piece_height // 2), image.height - piece_height)
    box = (left, top, left + piece_width, top + piece_height)
    piece = image.crop(box).resize((wide, round(wide * 0.75)), Image.Resampling.NEAREST)
    place = (size[0] - piece.width - 3, 3)
    small.paste(piece, place)
    draw = ImageDraw.Draw(small)
    draw.rectangle((place[0] - 1, place[1] - 1, place[0] + piece.width, place[1] + piece.height), outline=_FRAME)
    shrink = size[0] / image.width
    draw.rectangle(tuple(round(edge * shrink) for edge in box), outline=_FRAME)
    return small
