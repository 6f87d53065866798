"""What players see: the league's restricted vision, for all players at once.

    seeing = Seeing(load_field("sim3d"), noise=np.random.default_rng(7))
    seeing.greet(slot)                                      # a camera of its own, with its own misplacement
    sights = seeing.look(world, ("reds", "blues"))          # by slot

A camera sits in the middle of the head and turns with it; its view is 120 by 120 degrees, nothing hides anything, and
what is nearer than 0.1 m is not seen. Noise (rcssserver3d's settings, PROTOCOLS section 1): each camera is misplaced
by up to 5 mm along each axis for as long as it plays; distances err by 0.0965 %, angles by 0.1480 degrees
horizontally and 0.1225 vertically (standard deviations), each point on its own.

Order as in recorded conversations: goal posts, flags, ball; the halfway line, goal lines, touch lines, penalty areas,
then the ten segments of the centre circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.percept import PARTS, Sight
from nutmeg.match.seeing_kernels import see
from nutmeg.match.slots import SLOTS, side_and_number

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.body.field import FieldSettings, Segment
    from nutmeg.match.world import MatchWorld

    Truth = tuple[Floats | None, float | None, Floats | None]

OPENING = 120.0
"""Of the view, both ways, degrees."""
NEAREST = 0.1
"""Nothing nearer is seen, m."""
EVERY = 3
"""An image comes every so many cycles."""
MISPLACED = 0.005
"""How far a camera may be from where it should be along each axis, m."""
ERRORS = (0.000965, 0.1480, 0.1225)
"""Standard deviations: distance (relative), horizontal and vertical angle (degrees)."""
ORDER = ("G1L", "G2L", "G2R", "G1R", "F1L", "F1R", "F2L", "F2R")
"""Landmarks in the order in which they are told; the ball comes last."""


class Seeing:
    """The cameras of a match.

    Args:
        field: whose landmarks and lines are seen.
        noise: where the noise comes from; None for perfect cameras.
        ground_truth: whether players are told where they and the ball truly are.
    """

    def __init__(
        self, field: FieldSettings, noise: np.random.Generator | None = None, *, ground_truth: bool = False
    ) -> None:
        self._noise, self._truth = noise, ground_truth
        places = field.landmarks()
        self._points = np.array([*(places[name] for name in ORDER), (0.0, 0.0, 0.0)])
        self._segments = _segments(field)
        self._offsets = np.zeros((SLOTS, 3))
        self._scales = np.array(ERRORS if noise is not None else (0.0, 0.0, 0.0))
        self._drawn, self._used = np.zeros((0, 3)), 0
        self._labels: dict[int, tuple[str, ...]] = {}
        self._players: dict[int, tuple[tuple[str, ...], tuple[int, ...]]] = {}
        self._teams: tuple[str, str] = ("", "")

    def greet(self, slot: int) -> None:
        """Gives a new player its camera."""
        if self._noise is not None:
            self._offsets[slot] = self._noise.uniform(-MISPLACED, MISPLACED, 3)

    def swap_ends(self) -> None:
        """Lets cameras follow their players to the other side."""
        self._offsets = np.roll(self._offsets, SLOTS // 2, axis=0)

    def look(self, world: MatchWorld, teams: tuple[str, str]) -> dict[int, Sight]:
        """What everybody who plays sees now, by slot."""
        slots, (places, turns, parts) = world.playing, world.parts()
        count, lines = len(slots), len(self._segments)
        self._points[-1] = world.ball
        self._draw(count * (len(self._points) + count * len(PARTS) + 2 * lines))
        marks, bodies = np.empty((count, len(self._points), 3)), np.empty((count, count, len(PARTS), 3))
        seen_lines, found = np.empty((count, lines, 2, 3)), np.empty((count, 3), np.int64)
        self._used = see(
            places, turns, parts, self._offsets, self._points, slots, self._segments, OPENING / 2, NEAREST,
            self._drawn, self._used, self._scales, marks, bodies, seen_lines, found,
        )  # fmt: skip
        if teams != self._teams:
            self._teams, self._players = teams, {}
        sights = {}
        for k, (slot, (mark_bits, body_bits, line_count)) in enumerate(
            zip(slots.tolist(), found.tolist(), strict=True)
        ):
            labels, (names, numbers) = self._names(mark_bits), self._who(body_bits)
            truth = NO_TRUTH
            if self._truth:
                head, ball = parts[k, 0], world.ball if "B" in labels else None
                truth = _own_view(places[head], turns[head], ball, flipped=slot >= SLOTS // 2)
            sights[slot] = Sight(
                labels=labels,
                marks=marks[k, : len(labels)],
                teams=names,
                numbers=numbers,
                parts=bodies[k, : len(numbers)],
                lines=seen_lines[k, :line_count],
                my_position=truth[0],
                my_heading=truth[1],
                ball_position=truth[2],
            )
        return sights

    def _draw(self, most: int) -> None:
        """Has numbers for so many points at hand; without noise they are zeros, and never used up."""
        if self._noise is None:
            self._used = 0
        if len(self._drawn) - self._used < most:
            size = (max(DRAWN, most), 3)
            self._drawn = np.zeros(size) if self._noise is None else self._noise.standard_normal(size)
            self._used = 0

    def _names(self, bits: int) -> tuple[str, ...]:
        """The landmarks that a number stands for; there are few combinations."""
        if bits not in self._labels:
            self._labels[bits] = tuple(name for i, name in enumerate((*ORDER, "B")) if bits >> i & 1)
        return self._labels[bits]

    def _who(self, bits: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Teams and numbers of the slots that a number stands for."""
        if bits not in self._players:
            if len(self._players) > MOST_REMEMBERED:
                self._players.clear()
            found = [side_and_number(slot) for slot in range(SLOTS) if bits >> slot & 1]
            self._players[bits] = tuple(self._teams[side] for side, _ in found), tuple(number for _, number in found)
        return self._players[bits]


NO_TRUTH: Truth = (None, None, None)
DRAWN = 8192
"""Points for which noise is drawn at once."""
MOST_REMEMBERED = 4096
"""Combinations of players in view whose names are kept."""


def _own_view(head: Floats, turn: Floats, ball: Floats | None, *, flipped: bool) -> Truth:
    """The truth: where a head is, where it looks (degrees), where the ball is; each team has its own goal at -x."""
    sign = np.array([-1.0, -1.0, 1.0]) if flipped else np.ones(3)
    ahead = sign[:2] * (turn[0], turn[3])
    return sign * head, float(np.degrees(np.arctan2(ahead[1], ahead[0]))), None if ball is None else sign * ball


def _segments(field: FieldSettings) -> Floats:
    """(L, 2, 3) the lines of a field in the order, and in the direction, in which they are told."""
    touch, goal_lines, inside, even, odd, _ = field.layers()
    middle, areas = inside[:1], [backwards(line) if line[0][0] == line[1][0] else line for line in inside[1:]]
    arcs = [arc for pair in zip(even, odd, strict=True) for arc in pair]
    flat = np.array([*middle, *goal_lines, *map(backwards, touch), *areas, *arcs])
    return np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2)


def backwards(line: Segment) -> Segment:
    """A line the other way round."""
    return line[1], line[0]
