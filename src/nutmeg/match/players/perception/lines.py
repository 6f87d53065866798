"""Points on the lines of the pitch, and where lines cross.

    points = find_line_points(picture, width=0.05, hidden=[robot.box for robot in robots])      # (K, 3)
    for crossing in find_crossings(points, pictures): crossing.kind, crossing.place, crossing.turn

A line is white between green, as wide as a line, on the ground and not on a robot.

Columns and rows of the picture are scanned (`pictures.white_cuts`) below the border of the carpet; both ends of each
cut are put on the ground, and the middle between them is on the middle of the line, however it lies. Cuts that are too
narrow or too wide for a line at their place are something else.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.match.players.perception.colours import Colour
from nutmeg.match.players.perception.pictures import border_rows, white_cuts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.players.perception.pictures import Picture


_SCAN_STEP = 6  # pixels between scanned columns, and between rows
_MAX_LINE_DISTANCE = 4.0  # points on lines farther from below the camera are left out, m
_MAX_SLANT = 2.5  # ratio by which a cut may be longer than a line is wide, where it crosses the line at a slant
_ROBOT_SIDE_MARGIN = 0.6  # how far a robot reaches beside its waistband, in widths of the band
_ROBOT_TOP_MARGIN, _ROBOT_BOTTOM_MARGIN = 6.0, 6.0
"""How far a robot reaches above and below its waistband, in heights of the band."""


def find_line_points(
    picture: Picture,
    width: float,
    hidden: Sequence[tuple[int, int, int, int]] = (),
    *,
    farthest: float = _MAX_LINE_DISTANCE,
) -> Floats:
    """(K, 3) ahead and to the left, m, and how far on the ground a row of the picture reaches there, m.

    Args:
        picture: where to look.
        width: of a line, m.
        hidden: boxes of the waistbands of robots in the picture.
        farthest: what is farther from below the camera is left out, m.
    """
    border = border_rows(picture.classes, picture.horizon)
    cuts = white_cuts(picture.classes, border, _SCAN_STEP).reshape(-1, 2, 2)
    cuts = cuts[~_on_robots(cuts.mean(axis=1), hidden)]
    ends = picture.ground(cuts)
    away = np.linalg.norm(ends - picture.place[:2], axis=-1)
    good = np.nan_to_num(away, nan=np.inf).max(axis=1) <= farthest
    ends, away = ends[good], away[good].mean(axis=1)
    up, focal = float(picture.place[2]), picture.cameras.focal
    blur = (away**2 + up**2) / (up * focal)
    long = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=-1)
    fits = (long >= 0.5 * width - 2 * blur) & (long <= _MAX_SLANT * width + 2 * blur)
    return np.concatenate([ends[fits].mean(axis=1), blur[fits, None]], axis=1)


def _on_robots(pixels: Floats, bands: Sequence[tuple[int, int, int, int]]) -> Bools:
    """(K,) which pixels (K, 2) are on a robot with one of these bands."""
    on = np.zeros(len(pixels), bool)
    for left, top, right, bottom in bands:
        wide, tall = right - left + 1, bottom - top + 1
        beside = _ROBOT_SIDE_MARGIN * max(wide, 2 * tall)
        on |= (
            (pixels[:, 0] >= left - beside)
            & (pixels[:, 0] <= right + beside)
            & (pixels[:, 1] >= top - _ROBOT_TOP_MARGIN * tall)
            & (pixels[:, 1] <= bottom + _ROBOT_BOTTOM_MARGIN * tall)
        )
    return on


# ----------------------------------------------------------------------------------------------------
# Crossings.
#
# Lines are found one after the other: the strongest cell of a table of angles and distances (Hough), then the
# principal axis of the points near it, which are taken out. Two lines that meet at a right angle make a crossing if
# the pictures show, a little way along each of the four arms, white or green: two white arms are an L, three a T,
# four an X. A meeting of lines with an arm that is not in view, or hidden, is left out.


_HOUGH_ANGLES = 48  # cells of half a turn
_HOUGH_CELL = 0.08  # size of a cell of distance, m
_ON_LINE_DISTANCE = 0.07  # points nearer to a line belong to it, m
_MIN_LINE_POINTS = 6  # points that make a line
MIN_LINE_LENGTH = 0.35
"""Least length of a line, m."""
_MAX_LINES = 6  # lines that are looked for
_MAX_CROSSING_DISTANCE = 2.5  # crossings farther away are left out, m
_RIGHT_ANGLE_TOLERANCE = math.radians(18)  # largest deviation of the angle between crossing lines from 90 degrees
_ARM_DISTANCES = (0.09, 0.12, 0.15)  # where along an arm to look for white, m
_ARM_OFFSETS = (-0.025, 0.0, 0.025)  # how far beside the arm to look: the centre circle bends away, m


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A place where two lines of the pitch meet, as seen from the robot."""

    kind: Literal["L", "T", "X"]
    place: tuple[float, float]
    """Ahead and to the left, m."""
    turn: float | None
    """Orientation to the left of ahead, rad: that of the bisector of an L, and of the arm of a T that has no opposite
    one."""


def find_crossings(points: Floats, pictures: Sequence[Picture]) -> list[Crossing]:
    """The crossings of lines through points (K, 2 or more)."""
    found: list[Crossing] = []
    near = points[np.hypot(points[:, 0], points[:, 1]) < _MAX_CROSSING_DISTANCE + 0.5, :2]
    for (a, along_a), (b, along_b) in itertools.combinations(_straight_lines(near), 2):
        if abs(float(along_a @ along_b)) > math.sin(_RIGHT_ANGLE_TOLERANCE):
            continue
        step = np.linalg.solve(np.stack([along_a, -along_b], axis=1), b - a)[0]
        place = a + step * along_a
        if np.hypot(*place) > _MAX_CROSSING_DISTANCE or any(math.dist(place, known.place) < 0.15 for known in found):
            continue
        crossing = _classified(place, along_a, along_b, pictures)
        if crossing is not None:
            found.append(crossing)
    return found


def _straight_lines(points: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Middles (2,) and directions (2,) of straight lines through points (K, 2), the strongest first."""
    turns = np.arange(_HOUGH_ANGLES) * math.pi / _HOUGH_ANGLES
    normals = np.stack([np.cos(turns), np.sin(turns)])
    for _ in range(_MAX_LINES):
        if len(points) < _MIN_LINE_POINTS:
            return
        cells = np.round(points @ normals / _HOUGH_CELL).astype(int)
        offset = cells.min()
        votes = np.zeros((_HOUGH_ANGLES, int(cells.max() - offset) + 1), int)
        np.add.at(votes, (np.broadcast_to(np.arange(_HOUGH_ANGLES), cells.shape), cells - offset), 1)
        angle, cell = np.unravel_index(int(votes.argmax()), votes.shape)
        on = np.abs(points @ normals[:, angle] - (cell + offset) * _HOUGH_CELL) < _ON_LINE_DISTANCE
        for _ in range(2):
            if on.sum() < _MIN_LINE_POINTS:
                break
            middle, along = _axis(points[on])
            on = np.abs((points - middle) @ np.array([-along[1], along[0]])) < _ON_LINE_DISTANCE / 2
        if on.sum() < _MIN_LINE_POINTS:
            return
        if np.ptp(points[on] @ along) >= MIN_LINE_LENGTH:
            yield middle, along
        points = points[~on]


def _axis(points: Floats) -> tuple[Floats, Floats]:
    """Mean and principal direction."""
    middle = points.mean(axis=0)
    _, axes = np.linalg.eigh((points - middle).T @ (points - middle))
    return middle, np.asarray(axes[:, 1])


def _classified(place: Floats, along_a: Floats, along_b: Floats, pictures: Sequence[Picture]) -> Crossing | None:
    """The kind and orientation of a crossing of two lines."""
    arms = (along_a, along_b, -along_a, -along_b)
    white = [_is_white(place, arm, pictures) for arm in arms]
    if any(one is None for one in white):
        return None
    there = [arm for arm, one in zip(arms, white, strict=True) if one]
    spot = float(place[0]), float(place[1])
    if len(there) == 4:
        return Crossing(kind="X", place=spot, turn=None)
    if len(there) == 3:
        alone = next(arms[k] for k in range(4) if white[k] and not white[(k + 2) % 4])
        return Crossing(kind="T", place=spot, turn=math.atan2(alone[1], alone[0]))
    if len(there) == 2 and white[0] != white[2] and white[1] != white[3]:
        way = there[0] + there[1]
        return Crossing(kind="L", place=spot, turn=math.atan2(way[1], way[0]))
    return None


def _is_white(place: Floats, arm: Floats, pictures: Sequence[Picture]) -> bool | None:
    """Whether a line continues from a place along an arm (2,); None if that is not in view, or hidden."""
    beside = np.array([-arm[1], arm[0]])
    spots = place + np.array(_ARM_DISTANCES)[:, None, None] * arm + np.array(_ARM_OFFSETS)[:, None] * beside
    seen = np.concatenate([picture.colours_at(spots) for picture in pictures])
    seen = seen[(seen >= 0).all(axis=1)]
    if len(seen) < 2 or not np.isin(seen, (Colour.WHITE, Colour.GREEN)).all():
        return None
    white = (seen == Colour.WHITE).any(axis=1)
    return bool(white[0]) if white.all() or not white.any() else None
