"""What an image says of where one stands, compiled: landmarks, lines as marks of the ground's height, and known lines.

    surprise, numbers = see_marks(...)      # landmarks by name, and that line ends lie on the ground
    see_lines(...)                          # which line is which follows from where one believes to stand

Landmarks are told apart by their names. Ends of lines are not (the view cuts lines off), but they lie on the ground,
which gives tilt and height within milliradians and millimetres; and a line that can only be one of the pitch's says how
far away from it one stands. Noise is that of `match.seeing`, and 3 mm for rounding and misplaced cameras.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.team.camera import onto_pitch
from nutmeg.match.team.estimate import SIZE, inject, take

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


RADIANS = math.pi / 180.0
FAR, LEFT, UP = 0.000965, 0.1480 * RADIANS, 0.1225 * RADIANS
"""Standard deviations of distance (relative) and angles [rad]."""
FLOOR = 0.003
"""What nothing is measured better than [m]: two decimals on the wire, and a camera that is misplaced."""
LONG = 1.3
"""Shorter lines are not told apart: those of the centre circle are 1.24 m long [m]."""
ALONG = 0.3
"""How far beyond the end of a line a part of it may be seen [m]."""
NEAR, AMBIGUOUS = 9.0, 36.0
"""A line is known if it is nearer than the first, and no other nearer than the second (squared, in deviations)."""
SKEW = 0.26
"""Lines are not the same whose directions differ by more [rad]."""


@kernel
def point_rows(
    polar: Floats,
    point: Floats,
    place: Floats,
    turn: Floats,
    head: Floats,
    centre: Floats,
    rows: Floats,
    residuals: Floats,
    variances: Floats,
) -> None:
    """How distance and angles of a point on the pitch (3,) depend on the pose: fills (3, 13), (3,) and (3,)."""
    way = point - place
    torso, camera = np.empty(3), np.empty(3)
    for i in range(3):
        torso[i] = turn[0, i] * way[0] + turn[1, i] * way[1] + turn[2, i] * way[2] - centre[i]
    for i in range(3):
        camera[i] = head[0, i] * torso[0] + head[1, i] * torso[1] + head[2, i] * torso[2]
    x, y, z = camera[0], camera[1], camera[2]
    flat2 = max(x * x + y * y, 1e-8)
    flat, far2 = math.sqrt(flat2), flat2 + z * z
    far = math.sqrt(far2)
    rows[:] = 0.0
    slopes = (
        (x / far, y / far, z / far),
        (-y / flat2, x / flat2, 0.0),
        (-x * z / (flat * far2), -y * z / (flat * far2), flat / far2),
    )
    around = polar[1] * RADIANS - math.atan2(y, x)
    residuals[0] = polar[0] - far
    residuals[1] = math.atan2(math.sin(around), math.cos(around))
    residuals[2] = polar[2] * RADIANS - math.atan2(z, flat)
    least = FLOOR / far
    variances[0] = (FAR * far) ** 2 + FLOOR**2
    variances[1] = LEFT * LEFT + least * least
    variances[2] = UP * UP + least * least
    for k in range(3):
        a, b, c = slopes[k]
        for i in range(3):
            torso[i] = head[i, 0] * a + head[i, 1] * b + head[i, 2] * c
        for i in range(3):
            camera[i] = turn[i, 0] * torso[0] + turn[i, 1] * torso[1] + turn[i, 2] * torso[2]
        for i in range(3):
            rows[k, i] = -camera[i]
        rows[k, 3] = camera[1] * way[2] - camera[2] * way[1]
        rows[k, 4] = camera[2] * way[0] - camera[0] * way[2]
        rows[k, 5] = camera[0] * way[1] - camera[1] * way[0]


@kernel
def see_marks(
    place: Floats,
    turn: Floats,
    slip: Floats,
    ball: Floats,
    cov: Floats,
    head: Floats,
    centre: Floats,
    marks: Floats,
    points: Floats,
    lines: Floats,
    passes: int,
    most: float,
) -> tuple[float, int]:
    """Takes K landmarks (K, 3), which are at points (K, 3), and L lines' ends (L, 2, 3) on the ground.

    Linearised anew `passes` times. Returns the sum of squared normalised innovations, and how many numbers there were;
    nothing is taken if the sum is more than `most` times what such a sum can be by chance.
    """
    position, attitude, slipping, rolling = place.copy(), turn.copy(), slip.copy(), ball.copy()
    moved, row = np.zeros(SIZE), np.zeros(SIZE)
    rows, residuals, variances = np.zeros((3, SIZE)), np.zeros(3), np.zeros(3)
    spread, sum_, numbers = cov.copy(), 0.0, 3 * len(marks) + 2 * len(lines)
    for _ in range(passes):
        spread[:] = cov
        delta, sum_ = -moved, 0.0
        for k in range(len(marks)):
            point_rows(marks[k], points[k], position, attitude, head, centre, rows, residuals, variances)
            for i in range(3):
                sum_ += take(spread, delta, rows[i], residuals[i], variances[i], 6)
        for k in range(len(lines)):
            for e in range(2):
                end = onto_pitch(lines[k, e], head, centre, position, attitude)
                row[2], row[3], row[4] = 1.0, end[1] - position[1], position[0] - end[0]
                variance = (LEFT * lines[k, e, 0]) ** 2 + FLOOR**2
                sum_ += take(spread, delta, row, -end[2], variance, 6)
        inject(position, attitude, slipping, rolling, delta)
        moved += delta
    if sum_ <= most * plausible(numbers):
        place[:], turn[:], slip[:], ball[:], cov[:] = position, attitude, slipping, rolling, spread
    return sum_, numbers


@kernel
def plausible(numbers: int) -> float:
    """What a sum of so many squared normal numbers stays below, nearly always."""
    return numbers + 15.0 + 6.0 * math.sqrt(2.0 * numbers)


@kernel
def see_lines(
    place: Floats,
    turn: Floats,
    slip: Floats,
    ball: Floats,
    cov: Floats,
    head: Floats,
    centre: Floats,
    lines: Floats,
    known: Floats,
) -> int:
    """Takes those of L lines (L, 2, 3) of which it is clear which of M known ones (M, 2, 2) they are; returns how many.

    Both ends are to lie on the known line.
    """
    delta, rows, count = np.zeros(SIZE), np.zeros((2, SIZE)), 0
    best_rows, offs, best_offs, variances = np.zeros((2, SIZE)), np.zeros(2), np.zeros(2), np.zeros(2)
    for k in range(len(lines)):
        one = onto_pitch(lines[k, 0], head, centre, place, turn)
        two = onto_pitch(lines[k, 1], head, centre, place, turn)
        length = math.hypot(two[0] - one[0], two[1] - one[1])
        if length < LONG:
            continue
        for e in range(2):
            variances[e] = (LEFT * lines[k, e, 0]) ** 2 + (2 * FLOOR) ** 2
        nearest, next_ = np.inf, np.inf
        for m in range(len(known)):
            away = _line_rows(known[m], one, two, length, place, cov, delta, variances, rows, offs)
            if away < nearest:
                nearest, next_ = away, nearest
                best_rows[:], best_offs[:] = rows, offs
            elif away < next_:
                next_ = away
        if nearest < NEAR and next_ > AMBIGUOUS:
            count += 1
            for e in range(2):
                take(cov, delta, best_rows[e], -best_offs[e], variances[e], 6)
    if count:
        inject(place, turn, slip, ball, delta)
    return count


@kernel
def _line_rows(
    known: Floats,
    one: Floats,
    two: Floats,
    length: float,
    place: Floats,
    cov: Floats,
    delta: Floats,
    variances: Floats,
    rows: Floats,
    offs: Floats,
) -> float:
    """How far both ends are off a known line: fills offs (2,) [m] and rows (2, 13); the worse in squared deviations."""
    x, y = known[1, 0] - known[0, 0], known[1, 1] - known[0, 1]
    whole = math.hypot(x, y)
    x, y = x / whole, y / whole
    if abs(x * (two[1] - one[1]) - y * (two[0] - one[0])) > length * (SKEW + 3.0 * math.sqrt(cov[5, 5])):
        return math.inf
    margin = ALONG + 3.0 * math.sqrt(cov[0, 0] + cov[1, 1])
    worst = 0.0
    for e in range(2):
        end = one if e == 0 else two
        along = x * (end[0] - known[0, 0]) + y * (end[1] - known[0, 1])
        if along < -margin or along > whole + margin:
            return math.inf
        offs[e] = x * (end[1] - known[0, 1]) - y * (end[0] - known[0, 0])
        rows[e, 0], rows[e, 1] = -y, x
        wx, wy, wz = end[0] - place[0], end[1] - place[1], end[2] - place[2]
        rows[e, 3], rows[e, 4], rows[e, 5] = -wz * x, -wz * y, wx * x + wy * y
        spread, off = variances[e], offs[e]
        for i in range(6):
            off += rows[e, i] * delta[i]
            for j in range(6):
                spread += rows[e, i] * cov[i, j] * rows[e, j]
        worst = max(worst, off * off / spread)
    return worst
