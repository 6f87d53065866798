"""The ball in a picture: an orange disc, whose distance two measurements must agree on.

    find_ball(picture, blobs, radius=0.0325)            # FoundBall(place=(1.2, 0.1), ...), or None

One distance comes from where the ball lies in the picture (its middle is a radius above the ground), the other from how
large it is. A sphere of radius r whose middle is d away fills the solid angle 2 pi (1 - sqrt(1 - (r / d)^2)), wherever
it is in the picture; a pixel at the direction (x, y, f) fills f / (x^2 + y^2 + f^2)^(3/2). Both are averaged by their
variances; where they disagree, an orange thing is no ball. A disc that the edge of the picture cuts has the first only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.perception.colours import Colour

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.match.perception.blobs import Blob
    from nutmeg.match.perception.picture import Picture

ROUND = 0.62
"""Least ratio of the sides of a ball's box, and the least share of an ellipse's area that it fills."""
SMALL = 12
"""Discs of fewer pixels may have any shape."""
PIXEL = 0.5
"""Deviation of the middle's row, pixels."""
EDGE = 0.5
"""Deviation of the disc's pixels, as a share of the root of its edge's."""
AGREE = 3.0
"""Distances may differ by so many deviations ..."""
BESIDE = 0.1
"""... and so large a share of the distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBall:
    """A ball."""

    place: tuple[float, float]
    """Ahead and to the left, m."""
    by_place: float
    """Distance over the ground from below the camera, m: by where it is in the picture."""
    by_size: float
    """The same by how large it is; NaN if it is cut off."""
    spread: float
    """Deviation of the distance, m."""


def find_ball(picture: Picture, blobs: Iterable[Blob], radius: float) -> FoundBall | None:
    """The largest ball in the picture, if there is any."""
    for blob in blobs:
        if blob.colour is Colour.ORANGE and blob.middle[1] > picture.horizon:
            found = _measured(picture, blob, radius)
            if found is not None:
                return found
    return None


def _measured(picture: Picture, blob: Blob, radius: float) -> FoundBall | None:
    spot = picture.ground(blob.middle, radius)
    if not np.isfinite(spot).all():
        return None
    by_place = picture.away(spot)
    spread = PIXEL * picture.blur(by_place, radius)
    away, by_size = by_place, math.nan
    if not blob.cut(picture.size):
        if not _is_round(blob):
            return None
        by_size = _distance_by_size(picture, blob, radius)
        share = EDGE * math.sqrt(2 * math.sqrt(math.pi * blob.count)) / blob.count / 2
        size_spread = max(share * by_size, 1e-4)
        if abs(by_size - by_place) > AGREE * math.hypot(spread, size_spread) + BESIDE * by_place:
            return None
        weight = spread**2 / (spread**2 + size_spread**2)
        away = (1 - weight) * by_place + weight * by_size
        spread = spread * size_spread / math.hypot(spread, size_spread)
    along = (spot - picture.place[:2]) * (away / by_place) + picture.place[:2]
    return FoundBall(place=(float(along[0]), float(along[1])), by_place=by_place, by_size=by_size, spread=spread)


def _is_round(blob: Blob) -> bool:
    if blob.count < SMALL:
        return max(blob.width, blob.height) <= SMALL // 2
    narrow, wide = sorted((blob.width, blob.height))
    return narrow >= ROUND * wide and blob.count >= ROUND * math.pi / 4 * narrow * wide


def _distance_by_size(picture: Picture, blob: Blob, radius: float) -> float:
    """Over the ground from below the camera, m."""
    focal = picture.cameras.focal
    x, y = blob.middle[0] - picture.size[0] / 2, blob.middle[1] - picture.size[1] / 2
    angle = blob.count * focal / math.sqrt(x**2 + y**2 + focal**2) ** 3
    straight = radius / math.sqrt(1 - (1 - angle / (2 * math.pi)) ** 2)
    return math.sqrt(max(straight**2 - (picture.place[2] - radius) ** 2, 0.0))
