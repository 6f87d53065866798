"""Vision of players: the league's restricted vision, for all players at once.

    seeing = Seeing(load_field("sim3d"), noise=np.random.default_rng(7))
    seeing.greet(slot)                                      # a camera of its own, with its own misplacement
    sights = seeing.look(world, ("reds", "blues"))          # by slot

A camera sits in the middle of the head and turns with it; its view is 120 by 120 degrees, nothing hides anything, and
what is nearer than 0.1 m is not seen. Noise (rcssserver3d's settings): each camera is misplaced
by up to 5 mm along each axis for as long as it plays; distances err by 0.0965 %, angles by 0.1480 degrees
horizontally and 0.1225 vertically (standard deviations), each point on its own.

Order as in recorded conversations: goal posts, flags, ball; the halfway line, goal lines, touch lines, penalty areas,
then the ten segments of the centre circle.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.arrays import Floats, Ints
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.slots import SLOTS, side_and_number
from nutmeg.match.worlds.physical.percept import PARTS, Sight
from nutmeg.match.worlds.seats import DEGREES

if TYPE_CHECKING:
    from nutmeg.match.worlds.physical.world import MatchWorld
    from nutmeg.model.field import FieldSettings, Segment

    Truth = tuple[Floats | None, float | None, Floats | None]


# ----------------------------------------------------------------------------------------------------
# Cameras, compiled: points in a field of view, and lines cut off at its edges, as polar coordinates.
#
# The frame of a camera has x forward, y left, z up. A point is in view if neither its horizontal nor its vertical
# angle is beyond half the opening and it is not too near. A line is cut at the four planes of a pyramid with that
# opening: the two differ in the corners, and both are what the league's server does (line ends in recorded
# conversations lie on tan(vertical) = tan(60 degrees) cos(horizontal), while recorded points lie up to 12 degrees
# beyond it).


VIEW_ANGLE = 120.0
"""Angle of view, horizontally and vertically, degrees."""
MIN_VIEW_DISTANCE = 0.1
"""Nothing nearer is seen, m."""


class Cameras(NamedTuple):
    """The cameras of A players, and everything that they may see."""

    slots: Ints
    """(A,) of the players."""
    offsets: Floats
    """(22, 3) misplacements of the cameras, by slot, m."""
    parts: Ints
    """(A, P) bodies that are seen of each player; the first is the head, which the camera is in."""
    places: Floats
    """(bodies, 3) of all bodies, m."""
    turns: Floats
    """(bodies, 9) attitudes of all bodies."""
    points: Floats
    """(M, 3) landmarks and the ball, m."""
    segments: Floats
    """(L, 2, 3) ends of the lines, m."""


class Noise(NamedTuple):
    """Random numbers for points in view."""

    drawn: Floats
    """(K, 3) standard normal; one row for each point in view."""
    used: int
    """How many rows are used up."""
    scales: Floats
    """(3,) standard deviations: distance (relative), horizontal and vertical angle (degrees)."""


class _Images(NamedTuple):
    """The images of A cameras, from the front of each array, in order; polar coordinates."""

    marks: Floats
    """(A, M, 3) points in view."""
    bodies: Floats
    """(A, A, P, 3) parts of players in view; NaN where a part is not."""
    lines: Floats
    """(A, L, 2, 3) ends of the lines in view."""
    found: Ints
    """(A, 3) bits of the points in view, bits of the slots of players in view, number of lines."""


CameraArrays = tuple[Ints, Floats, Ints, Floats, Floats, Floats, Floats]
NoiseArrays = tuple[Floats, int, Floats]
ImageArrays = tuple[Floats, Floats, Floats, Ints]


@kernel
def see(camera_arrays: CameraArrays, noise_arrays: NoiseArrays, image_arrays: ImageArrays) -> int:
    """Fills the images of all cameras; how many rows of noise are used up then.

    The arguments are `Cameras`, `Noise` and `_Images` as plain tuples, which numba recognises faster than named ones.
    """
    cameras, noise, images = Cameras(*camera_arrays), Noise(*noise_arrays), _Images(*image_arrays)
    camera = np.zeros(3)
    ends = np.zeros((2, 3))
    slope = math.tan(VIEW_ANGLE / 2 / DEGREES)
    slots, parts, segments, used = cameras.slots, cameras.parts, cameras.segments, noise.used
    for a in range(len(slots)):
        head = parts[a, 0]
        eye, turn, offset = cameras.places[head], cameras.turns[head], cameras.offsets[slots[a]]
        # Flags, posts and ball. Noise is drawn ahead for all cameras; one row is used for each point in view, in order.
        bits, count = 0, 0
        for m in range(len(cameras.points)):
            _into(cameras.points[m], eye, turn, offset, camera)
            if _in_view(camera, slope):
                _polar(camera, noise.drawn[used], noise.scales, images.marks[a, count])
                bits |= 1 << m
                count += 1
                used += 1
        images.found[a, 0] = bits
        # A player is in the percept if any part of it is in view, and then with the parts in view only.
        bits, count = 0, 0
        for b in range(len(slots)):
            seen = False
            for p in range(parts.shape[1]):
                _into(cameras.places[parts[b, p]], eye, turn, offset, camera)
                if _in_view(camera, slope):
                    _polar(camera, noise.drawn[used], noise.scales, images.bodies[a, count, p])
                    seen = True
                    used += 1
                else:
                    images.bodies[a, count, p] = np.nan
            if seen:
                bits |= 1 << slots[b]
                count += 1
        images.found[a, 1] = bits
        # Lines are cut at the edges of the picture: the players see the ends of the visible piece.
        count = 0
        for s in range(len(segments)):
            for e in range(2):
                _into(segments[s, e], eye, turn, offset, ends[e])
            if _cut(ends, slope):
                for e in range(2):
                    _polar(ends[e], noise.drawn[used], noise.scales, images.lines[a, count, e])
                    used += 1
                count += 1
        images.found[a, 2] = count
    return used


@kernel
def _into(point: Floats, eye: Floats, turn: Floats, offset: Floats, camera: Floats) -> None:
    """A point in a camera's frame, (3,)."""
    for j in range(3):
        camera[j] = 0.0
        for i in range(3):
            camera[j] += turn[3 * i + j] * (point[i] - eye[i] + offset[i])


@kernel
def _in_view(camera: Floats, slope: float) -> bool:
    """Whether neither angle of a point is beyond that of a slope, and the point is not too near."""
    # The picture is limited by angles: to the sides from straight ahead, up and down from the horizontal plane of the
    # camera. Comparing slopes saves the arc tangents.
    if camera[0] <= 0.0 or abs(camera[1]) > slope * camera[0]:
        return False
    flat, up = camera[0] ** 2 + camera[1] ** 2, camera[2] ** 2
    seen: bool = up <= slope**2 * flat and flat + up >= MIN_VIEW_DISTANCE**2
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
            # Distances of both ends from one side of the pyramid; negative is outside. The segment crosses that side
            # where its distance, which is linear along it, becomes zero (Liang and Barsky's clipping).
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


IMAGE_CYCLES = 3
"""Cycles between two images."""
CAMERA_OFFSET = 0.005
"""How far a camera may be from where it should be along each axis, m."""
VISION_NOISE = (0.000965, 0.1480, 0.1225)
"""Standard deviations: distance (relative), horizontal and vertical angle (degrees)."""
LANDMARK_ORDER = ("G1L", "G2L", "G2R", "G1R", "F1L", "F1R", "F2L", "F2R")
"""Landmarks in the order of the wire; the ball comes last."""


class Seeing:
    """The cameras of a match.

    Args:
        field: the field with its landmarks and lines.
        noise: random generator of the noise; None for perfect cameras.
        ground_truth: whether players receive their true pose and that of the ball.
    """

    def __init__(
        self, field: FieldSettings, noise: np.random.Generator | None = None, *, ground_truth: bool = False
    ) -> None:
        self._noise, self._truth = noise, ground_truth
        places = field.landmarks()
        self._points = np.array([*(places[name] for name in LANDMARK_ORDER), (0.0, 0.0, 0.0)])
        self._segments = _segments(field)
        self._offsets = np.zeros((SLOTS, 3))
        self._scales = np.array(VISION_NOISE if noise is not None else (0.0, 0.0, 0.0))
        self._drawn, self._used = np.zeros((0, 3)), 0
        self._labels: dict[int, tuple[str, ...]] = {}
        self._players: dict[int, tuple[tuple[str, ...], tuple[int, ...]]] = {}
        self._teams: tuple[str, str] = ("", "")

    def greet(self, slot: int) -> None:
        """Gives a new player its camera."""
        if self._noise is not None:
            self._offsets[slot] = self._noise.uniform(-CAMERA_OFFSET, CAMERA_OFFSET, 3)

    def swap_ends(self) -> None:
        """Lets cameras follow their players to the other side."""
        self._offsets = np.roll(self._offsets, SLOTS // 2, axis=0)

    def look(self, world: MatchWorld, teams: tuple[str, str]) -> dict[int, Sight]:
        """The sights of all players, by slot."""
        slots, (places, turns, parts) = world.playing, world.parts()
        count, lines = len(slots), len(self._segments)
        self._points[-1] = world.ball
        self._draw(count * (len(self._points) + count * len(PARTS) + 2 * lines))
        cameras = Cameras(slots, self._offsets, parts, places, turns, self._points, self._segments)
        images = _Images(
            marks=np.empty((count, len(self._points), 3)),
            bodies=np.empty((count, count, len(PARTS), 3)),
            lines=np.empty((count, lines, 2, 3)),
            found=np.empty((count, 3), np.int64),
        )
        self._used = see(cameras[:], (self._drawn, self._used, self._scales), images[:])
        if teams != self._teams:
            self._teams, self._players = teams, {}
        sights = {}
        for k, (slot, (mark_bits, body_bits, line_count)) in enumerate(
            zip(slots.tolist(), images.found.tolist(), strict=True)
        ):
            labels, (names, numbers) = self._names(mark_bits), self._players_in(body_bits)
            truth = NO_TRUTH
            if self._truth:
                head = parts[k, 0]
                truth = _own_view(places[head], turns[head], world.ball, flipped=slot >= SLOTS // 2)
            sights[slot] = Sight(
                labels=labels,
                marks=images.marks[k, : len(labels)],
                teams=names,
                numbers=numbers,
                parts=images.bodies[k, : len(numbers)],
                lines=images.lines[k, :line_count],
                my_position=truth[0],
                my_heading=truth[1],
                ball_position=truth[2],
            )
        return sights

    def _draw(self, most: int) -> None:
        """Draws noise for a number of points in advance; without noise the numbers are zeros, and never used up."""
        if self._noise is None:
            self._used = 0
        if len(self._drawn) - self._used < most:
            size = (max(NOISE_BLOCK, most), 3)
            self._drawn = np.zeros(size) if self._noise is None else self._noise.standard_normal(size)
            self._used = 0

    def _names(self, bits: int) -> tuple[str, ...]:
        """The landmarks that a number stands for; there are few combinations."""
        if bits not in self._labels:
            self._labels[bits] = tuple(name for i, name in enumerate((*LANDMARK_ORDER, "B")) if bits >> i & 1)
        return self._labels[bits]

    def _players_in(self, bits: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Teams and numbers of the slots that a number stands for."""
        if bits not in self._players:
            if len(self._players) > MAX_CACHED_NAMES:
                self._players.clear()
            found = [side_and_number(slot) for slot in range(SLOTS) if bits >> slot & 1]
            self._players[bits] = tuple(self._teams[side] for side, _ in found), tuple(number for _, number in found)
        return self._players[bits]


NO_TRUTH: Truth = (None, None, None)
NOISE_BLOCK = 8192
"""Points for which noise is drawn at once."""
MAX_CACHED_NAMES = 4096
"""Combinations of players in view whose names are kept."""


def _own_view(head: Floats, turn: Floats, ball: Floats, *, flipped: bool) -> Truth:
    """The truth: where a head is, where it looks (degrees), where the ball is; each team has its own goal at -x."""
    sign = np.array([-1.0, -1.0, 1.0]) if flipped else np.ones(3)
    ahead = sign[:2] * (turn[0], turn[3])
    return sign * head, float(np.degrees(np.arctan2(ahead[1], ahead[0]))), sign * ball


def _segments(field: FieldSettings) -> Floats:
    """(L, 2, 3) the lines of a field in the order and direction of the wire."""
    touch, goal_lines, inside, even, odd, _ = field.layers()
    middle, areas = inside[:1], [backwards(line) if line[0][0] == line[1][0] else line for line in inside[1:]]
    arcs = [arc for pair in zip(even, odd, strict=True) for arc in pair]
    flat = np.array([*middle, *goal_lines[::-1], *map(backwards, touch), *areas, *arcs])
    return np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2)


def backwards(line: Segment) -> Segment:
    """A line the other way round."""
    return line[1], line[0]
