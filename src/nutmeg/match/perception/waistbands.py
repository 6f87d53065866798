"""Robots in a picture: blue and pink bands around white bodies.

    find_robots(picture, blobs, height=0.29)            # [FoundRobot(colour=Colour.PINK, place=(1.4, -0.2)), ...]

A band is at a known height above the ground, so that its place in the picture tells where the robot is. It must be as
large as a band is there, have a white body on both sides of it, and carpet before the feet: a blue post between a head
and a chest is no robot. Arms cut a band in two or three; pieces that belong to one body are joined. Of who lies, the
white is to the left and to the right of the band, which is near the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.perception.colours import Colour

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.match.perception.blobs import Blob
    from nutmeg.match.perception.picture import Picture

BAND_HEIGHT, BAND_WIDTH = 0.06, 0.2
"""Of a waistband, m."""
LYING_HEIGHT = 0.09
"""Of the middle of the band of who lies above the ground, m."""
BODY = 0.3
"""Pieces of a colour that are nearer to each other belong to one robot, m."""
LOOK = 4
"""So many pixels on each side of a band are looked at for white."""
IN_FRONT = (0.14, 0.18, 0.22)
"""How far before the middle of who stands there must be carpet, m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRobot:
    """A robot."""

    colour: Colour
    """Of its waistband."""
    place: tuple[float, float]
    """Ahead and to the left, m."""
    box: tuple[int, int, int, int]
    """Least column and row, greatest column and row of its band in the picture."""
    lying: bool


def find_robots(picture: Picture, blobs: Iterable[Blob], height: float) -> list[FoundRobot]:
    """The robots whose waistbands are in the picture, the nearest first."""
    robots: list[FoundRobot] = []
    for blob in blobs:
        if blob.colour not in (Colour.BLUE, Colour.PINK):
            continue
        found = _standing(picture, blob, height) or _lying(picture, blob)
        if found is None:
            continue
        for k, known in enumerate(robots):
            if known.colour is blob.colour and math.dist(known.place, found.place) < BODY:
                robots[k] = _joined(picture, known, found, height)
                break
        else:
            robots.append(found)
    return sorted(robots, key=lambda robot: math.hypot(*robot.place))


def _standing(picture: Picture, blob: Blob, height: float) -> FoundRobot | None:
    """Who stands and wears this band: it has chest and legs above and below, and stands on the carpet."""
    spot = picture.ground(blob.middle, height)
    if not np.isfinite(spot).all():
        return None
    across = picture.scale(picture.away(spot), height)
    tall, wide = BAND_HEIGHT * across, BAND_WIDTH * across
    if not (0.4 * tall - 1 <= blob.height <= 1.6 * tall + 2 and blob.width <= 1.7 * wide + 2):
        return None
    left, top, right, bottom = blob.box
    columns = slice(left + blob.width // 4, right + 1 - blob.width // 4)
    above = picture.classes[max(top - LOOK, 0) : top, columns]
    below = picture.classes[bottom + 1 : bottom + 1 + LOOK, columns]
    place = _outwards(picture, spot)
    if not (_is_white(above, below) and _on_carpet(picture, place)):
        return None
    return FoundRobot(colour=blob.colour, place=place, box=blob.box, lying=False)


def _lying(picture: Picture, blob: Blob) -> FoundRobot | None:
    """Who lies and wears this band: it has chest and legs to the left and to the right."""
    spot = picture.ground(blob.middle, LYING_HEIGHT)
    if not np.isfinite(spot).all():
        return None
    across = picture.scale(picture.away(spot), LYING_HEIGHT)
    if not BAND_HEIGHT * across / 2 - 1 <= max(blob.width, blob.height) <= 1.5 * BAND_WIDTH * across + 2:
        return None
    left, top, right, bottom = blob.box
    rows = slice(top + blob.height // 4, bottom + 1 - blob.height // 4)
    before = picture.classes[rows, max(left - LOOK, 0) : left]
    after = picture.classes[rows, right + 1 : right + 1 + LOOK]
    if not (before.size and after.size and _is_white(before, after)):
        return None
    return FoundRobot(colour=blob.colour, place=(float(spot[0]), float(spot[1])), box=blob.box, lying=True)


def _is_white(*patches: Bytes) -> bool:
    """Whether patches are white, as far as they are in the picture."""
    known = [patch for patch in patches if patch.size]
    return len(known) > 0 and all((patch == Colour.WHITE).mean() > 0.5 for patch in known)


def _on_carpet(picture: Picture, place: tuple[float, float]) -> bool:
    """Whether there is carpet before the feet of who stands somewhere, as far as that is in the picture."""
    middle = np.array(place) - picture.place[:2]
    towards = middle / max(float(np.hypot(*middle)), 1e-6)
    spots = np.array(place) - np.array(IN_FRONT)[:, None] * towards
    seen = picture.colours_at(spots)
    known = seen >= 0
    return not known.any() or bool((seen[known] == Colour.GREEN).mean() >= 0.5)


def _outwards(picture: Picture, spot: Floats) -> tuple[float, float]:
    """The middle of the body behind what is seen of the band."""
    away = picture.away(spot)
    place = (spot - picture.place[:2]) * ((away + BAND_WIDTH / 2 - 0.02) / max(away, 1e-6)) + picture.place[:2]
    return float(place[0]), float(place[1])


def _joined(picture: Picture, robot: FoundRobot, piece: FoundRobot, height: float) -> FoundRobot:
    """The robot with another piece of its band."""
    boxes = np.array([robot.box, piece.box])
    box = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist())
    if robot.lying or piece.lying:
        return replace(robot, box=box)
    spot = picture.ground(((box[0] + box[2] + 1) / 2, (box[1] + box[3] + 1) / 2), height)
    return replace(robot, place=_outwards(picture, spot), box=box)
