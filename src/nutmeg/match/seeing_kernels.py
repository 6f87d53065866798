"""What cameras see, compiled: points in a field of view, and lines cut off at its edges, as polar coordinates.

The frame of a camera has x forward, y left, z up. A point is in view if neither its horizontal nor its vertical angle
is beyond half the opening and it is not too near. A line is cut at the four planes of a pyramid with that opening: the
two differ in the corners, and both are what the league's server does (line ends in recorded conversations lie on
tan(vertical) = tan(60 degrees) cos(horizontal), while recorded points lie up to 12 degrees beyond it).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints


DEGREES = 180.0 / math.pi


@kernel
def see(
    places: Floats,
    turns: Floats,
    parts: Ints,
    offsets: Floats,
    points: Floats,
    slots: Ints,
    segments: Floats,
    half: float,
    nearest: float,
    noise: Floats,
    used: int,
    scales: Floats,
    marks: Floats,
    bodies: Floats,
    lines: Floats,
    found: Ints,
) -> int:
    """What A cameras see of M points, the P parts of A players and L line segments.

    `parts` (A, P) says which of all `places` (bodies, 3) and `turns` (bodies, 9) are those of parts; the first is the
    head, which the camera is in. `offsets` (22, 3) are the cameras' own, by slot.

    Fills marks (A, M, 3), bodies (A, A, P, 3) and lines (A, L, 2, 3) from the front, with what is in view in order, and
    found (A, 3): bits for points in view, bits for players in view by slot, and how many lines there are. `noise`
    (K, 3) is standard normal and taken from row `used` on, one row a point in view; `scales` (3,) are of distance
    (relative), horizontal and vertical angle (degrees). Returns the first row of `noise` that is left.
    """
    camera = np.zeros(3)
    ends = np.zeros((2, 3))
    slope = math.tan(half / DEGREES)
    for a in range(len(slots)):
        eye, turn, offset = places[parts[a, 0]], turns[parts[a, 0]], offsets[slots[a]]
        bits, count = 0, 0
        for m in range(len(points)):
            _into(points[m], eye, turn, offset, camera)
            if _in_view(camera, slope, nearest):
                _polar(camera, noise[used], scales, marks[a, count])
                bits |= 1 << m
                count += 1
                used += 1
        found[a, 0] = bits
        bits, count = 0, 0
        for b in range(len(slots)):
            seen = False
            for p in range(parts.shape[1]):
                _into(places[parts[b, p]], eye, turn, offset, camera)
                if _in_view(camera, slope, nearest):
                    _polar(camera, noise[used], scales, bodies[a, count, p])
                    seen = True
                    used += 1
                else:
                    bodies[a, count, p] = np.nan
            if seen:
                bits |= 1 << slots[b]
                count += 1
        found[a, 1] = bits
        count = 0
        for s in range(len(segments)):
            for e in range(2):
                _into(segments[s, e], eye, turn, offset, ends[e])
            if _cut(ends, slope):
                for e in range(2):
                    _polar(ends[e], noise[used], scales, lines[a, count, e])
                    used += 1
                count += 1
        found[a, 2] = count
    return used


@kernel
def _into(point: Floats, eye: Floats, turn: Floats, offset: Floats, camera: Floats) -> None:
    """A point in a camera's frame, (3,)."""
    for j in range(3):
        camera[j] = 0.0
        for i in range(3):
            camera[j] += turn[3 * i + j] * (point[i] - eye[i] + offset[i])


@kernel
def _in_view(camera: Floats, slope: float, nearest: float) -> bool:
    """Whether neither angle of a point is beyond that of a slope, and the point is not too near."""
    if camera[0] <= 0.0 or abs(camera[1]) > slope * camera[0]:
        return False
    flat, up = camera[0] ** 2 + camera[1] ** 2, camera[2] ** 2
    seen: bool = up <= slope**2 * flat and flat + up >= nearest**2
    return seen


@kernel
def _polar(camera: Floats, noise: Floats, scales: Floats, out: Floats) -> None:
    """Writes distance and angles with noise."""
    flat = math.sqrt(camera[0] ** 2 + camera[1] ** 2)
    distance = math.sqrt(flat**2 + camera[2] ** 2)
    out[0] = distance * (1.0 + scales[0] * noise[0])
    out[1] = math.atan2(camera[1], camera[0]) * DEGREES + scales[1] * noise[1]
    out[2] = math.atan2(camera[2], flat) * DEGREES + scales[2] * noise[2]


@kernel
def _cut(ends: Floats, slope: float) -> bool:
    """Cuts a segment (2, 3) to the pyramid |y|, |z| <= slope x, in place; False if nothing is left."""
    first, last = 0.0, 1.0
    for axis in (1, 2):
        for sign in (-1.0, 1.0):
            start = slope * ends[0, 0] + sign * ends[0, axis]
            end = slope * ends[1, 0] + sign * ends[1, axis]
            if start < 0.0 and end < 0.0:
                return False
            if start < 0.0:
                first = max(first, start / (start - end))
            elif end < 0.0:
                last = min(last, start / (start - end))
    if first >= last:
        return False
    for i in range(3):
        begin, way = ends[0, i], ends[1, i] - ends[0, i]
        ends[0, i] = begin + first * way
        ends[1, i] = begin + last * way
    return True
