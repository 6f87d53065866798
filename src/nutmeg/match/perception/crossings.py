"""Where lines of the pitch meet: straight lines through the points, their crossings, and which of their arms are there.

    for crossing in find_crossings(points, pictures): crossing.kind, crossing.place, crossing.turn

Lines are found one after the other: the strongest cell of a table of angles and distances (Hough), then the principal
axis of the points near it, which are taken out. Two lines that meet at a right angle make a crossing if the pictures
show, a little way along each of the four arms, white or green: two white arms are an L, three a T, four an X. Where an
arm is not in view, or hidden, nobody can tell, and nothing is.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.match.perception.colours import Colour

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.match.perception.picture import Picture


ANGLES, CELL = 48, 0.08
"""Cells of the half turn, and the size of a cell of distance, m."""
NEAR = 0.07
"""Points nearer to a line belong to it, m."""
FEWEST, SHORTEST, MOST = 6, 0.35, 6
"""Points and length, m, of a line; lines at most."""
RANGE = 2.5
"""Crossings farther away are not told, m."""
SQUARE = math.radians(18)
"""Lines that make a crossing may differ so much from a right angle."""
ARMS, ACROSS = (0.09, 0.12, 0.15), (-0.025, 0.0, 0.025)
"""Where along an arm to look, and how far to its sides: a circle bends away; m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where lines meet."""

    kind: Literal["L", "T", "X"]
    place: tuple[float, float]
    """Ahead and to the left, m."""
    turn: float | None
    """To the left of ahead, rad: of an L between its arms, of a T along the arm that has no other one opposite."""


def find_crossings(points: Floats, pictures: Sequence[Picture]) -> list[Crossing]:
    """The crossings that can be told, of points (K, 2 or more) on lines."""
    found: list[Crossing] = []
    near = points[np.hypot(points[:, 0], points[:, 1]) < RANGE + 0.5, :2]
    for (a, along_a), (b, along_b) in itertools.combinations(straight_lines(near), 2):
        if abs(float(along_a @ along_b)) > math.sin(SQUARE):
            continue
        step = np.linalg.solve(np.stack([along_a, -along_b], axis=1), b - a)[0]
        place = a + step * along_a
        if np.hypot(*place) > RANGE or any(math.dist(place, known.place) < 0.15 for known in found):
            continue
        crossing = _told(place, along_a, along_b, pictures)
        if crossing is not None:
            found.append(crossing)
    return found


def straight_lines(points: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Middles (2,) and directions (2,) of straight lines through points (K, 2), the strongest first."""
    turns = np.arange(ANGLES) * math.pi / ANGLES
    normals = np.stack([np.cos(turns), np.sin(turns)])
    for _ in range(MOST):
        if len(points) < FEWEST:
            return
        cells = np.round(points @ normals / CELL).astype(int)
        offset = cells.min()
        votes = np.zeros((ANGLES, int(cells.max() - offset) + 1), int)
        np.add.at(votes, (np.broadcast_to(np.arange(ANGLES), cells.shape), cells - offset), 1)
        angle, cell = np.unravel_index(int(votes.argmax()), votes.shape)
        on = np.abs(points @ normals[:, angle] - (cell + offset) * CELL) < NEAR
        for _ in range(2):
            if on.sum() < FEWEST:
                break
            middle, along = _axis(points[on])
            on = np.abs((points - middle) @ np.array([-along[1], along[0]])) < NEAR / 2
        if on.sum() < FEWEST:
            return
        if np.ptp(points[on] @ along) >= SHORTEST:
            yield middle, along
        points = points[~on]


def _axis(points: Floats) -> tuple[Floats, Floats]:
    """Mean and principal direction."""
    middle = points.mean(axis=0)
    _, axes = np.linalg.eigh((points - middle).T @ (points - middle))
    return middle, np.asarray(axes[:, 1])


def _told(place: Floats, along_a: Floats, along_b: Floats, pictures: Sequence[Picture]) -> Crossing | None:
    """What a meeting of two lines looks like."""
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
    """Whether a line goes on from a place along an arm (2,); None if that is not in view, or hidden."""
    beside = np.array([-arm[1], arm[0]])
    spots = place + np.array(ARMS)[:, None, None] * arm + np.array(ACROSS)[:, None] * beside
    seen = np.concatenate([picture.colours_at(spots) for picture in pictures])
    seen = seen[(seen >= 0).all(axis=1)]
    if len(seen) < 2 or not np.isin(seen, (Colour.WHITE, Colour.GREEN)).all():
        return None
    white = (seen == Colour.WHITE).any(axis=1)
    return bool(white[0]) if white.all() or not white.any() else None
