"""How well poses go with what was seen, compiled: for every particle, every post and every point on a line.

log_weights(particles, lines, posts, table, map_numbers, numbers)       # (N,)

Each sighting is right with a normal error, or wrong with a small constant likelihood, so that no single one can rule a
pose out. Points on lines come in crowds that err together: each counts for a part only.
"""

from __future__ import annotations

import math

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Floats
from nutmeg.compiled import kernel

DISTANCE, BEARING, SPREAD, FIRST_X, FIRST_Y, SECOND_X, SECOND_Y = range(7)
"""Columns of posts: distance [m], bearing [rad], deviation of the distance [m], and where the post stands: the two
posts it may be, twice the same where that is known."""
POST = 7
LINE_SPREAD, LINE_TRUST, BEARING_SPREAD, WRONG = range(4)
"""Columns of numbers, as in `LocalisationSettings`."""


@kernel
def log_weights(
    particles: Floats, lines: Floats, posts: Floats, table: Floats, map_numbers: Floats, numbers: Floats
) -> Floats:
    """(N,) logarithms of likelihoods.

    Args:
        particles: (N, 3) x, y [m], heading [rad].
        lines: (K, 3) points on lines, ahead, to the left and their deviation [m].
        posts: (P, 7).
        table: distances from lines, see `LineMap`.
        map_numbers: (3,) least x and y of the table and the size of its cells [m].
        numbers: (4,).
    """
    out = np.zeros(len(particles))
    for n in range(len(particles)):
        x, y, heading = particles[n, 0], particles[n, 1], particles[n, 2]
        c, s = math.cos(heading), math.sin(heading)
        total = 0.0
        for k in range(len(lines)):
            ahead, left = lines[k, 0], lines[k, 1]
            away = _from_lines(x + c * ahead - s * left, y + s * ahead + c * left, table, map_numbers)
            variance = numbers[LINE_SPREAD] ** 2 + lines[k, 2] ** 2
            total += numbers[LINE_TRUST] * math.log(math.exp(-0.5 * away**2 / variance) + numbers[WRONG])
        for k in range(len(posts)):
            best = 0.0
            for column in (FIRST_X, SECOND_X):
                best = max(best, _fit(x, y, heading, posts[k], column, numbers[BEARING_SPREAD]))
            total += math.log(best + numbers[WRONG])
        out[n] = total
    return out


@kernel
def _from_lines(x: float, y: float, table: Floats, map_numbers: Floats) -> float:
    """How far a spot is from the nearest line [m]."""
    column = math.floor((x - map_numbers[0]) / map_numbers[2])
    row = math.floor((y - map_numbers[1]) / map_numbers[2])
    if 0 <= column < table.shape[0] and 0 <= row < table.shape[1]:
        return float(table[column, row])
    return 1.0


@kernel
def _fit(x: float, y: float, heading: float, post: Floats, column: int, bearing_spread: float) -> float:
    """How well a pose goes with a post, 0..1."""
    dx, dy = post[column] - x, post[column + 1] - y
    away = math.sqrt(dx**2 + dy**2) - post[DISTANCE]
    turn = wrap_angle_exactly(math.atan2(dy, dx) - heading - post[BEARING])
    return math.exp(-0.5 * ((away / post[SPREAD]) ** 2 + (turn / bearing_spread) ** 2))
