"""Points on the lines of the pitch: white between green, as wide as a line, on the ground and not on a robot.

    points = find_line_points(picture, width=0.05, hidden=[robot.box for robot in robots])      # (K, 3)

Columns and rows of the picture are scanned (`scans.white_cuts`) below the border of the carpet; both ends of each cut
are put on the ground, and the middle between them is on the middle of the line, however it lies. Cuts that are too
narrow or too wide for a line where they are, are something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.perception.scans import border_rows, white_cuts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.perception.picture import Picture


STEP = 6
"""Pixels between scanned columns, and between rows."""
FARTHEST = 4.0
"""Points on lines farther from below the camera are not told, m."""
SLANTED = 2.5
"""A cut may be so much longer than a line is wide, where it crosses it at a slant."""
BESIDE, ABOVE, BELOW = 0.6, 6.0, 6.0
"""How far a robot reaches beyond its waistband, in widths and heights of the band."""


def find_line_points(
    picture: Picture, width: float, hidden: Sequence[tuple[int, int, int, int]] = (), *, farthest: float = FARTHEST
) -> Floats:
    """(K, 3) ahead and to the left, m, and how far on the ground a row of the picture reaches there, m.

    Args:
        picture: where to look.
        width: of a line, m.
        hidden: boxes of the waistbands of robots in the picture.
        farthest: what is farther from below the camera is left out, m.
    """
    border = border_rows(picture.classes, picture.horizon)
    cuts = white_cuts(picture.classes, border, STEP).reshape(-1, 2, 2)
    cuts = cuts[~_on_robots(cuts.mean(axis=1), hidden)]
    ends = picture.ground(cuts)
    away = np.linalg.norm(ends - picture.place[:2], axis=-1)
    good = np.nan_to_num(away, nan=np.inf).max(axis=1) <= farthest
    ends, away = ends[good], away[good].mean(axis=1)
    up, focal = float(picture.place[2]), picture.cameras.focal
    blur = (away**2 + up**2) / (up * focal)
    long = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=-1)
    fits = (long >= 0.5 * width - 2 * blur) & (long <= SLANTED * width + 2 * blur)
    return np.concatenate([ends[fits].mean(axis=1), blur[fits, None]], axis=1)


def _on_robots(pixels: Floats, bands: Sequence[tuple[int, int, int, int]]) -> Bools:
    """(K,) which pixels (K, 2) are on a robot with one of these bands."""
    on = np.zeros(len(pixels), bool)
    for left, top, right, bottom in bands:
        wide, tall = right - left + 1, bottom - top + 1
        beside = BESIDE * max(wide, 2 * tall)
        on |= (
            (pixels[:, 0] >= left - beside)
            & (pixels[:, 0] <= right + beside)
            & (pixels[:, 1] >= top - ABOVE * tall)
            & (pixels[:, 1] <= bottom + BELOW * tall)
        )
    return on
