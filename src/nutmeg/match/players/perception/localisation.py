"""Where a robot stands, by a particle filter: many guesses, moved by odometry and judged by what is seen.

    filter = ParticleFilter(load_field("spl2011"), rng=np.random.default_rng(1))
    filter.move((0.02, 0.0, 0.01))                      # odometry: ahead, left [m], turned left [rad]
    filter.observe(posts, lines)                        # (P, 7) of `post_row`, (K, 3)
    filter.pose.x, filter.pose.spread

Monte Carlo localisation (Dellaert and others, 1999), with the two recoveries of RoboCup: when sightings fit worse than
they used to (short and long averages; Gutmann and Fox, 2002), and a little always, guesses are drawn anew from a post
in view (sensor resetting; Lenser and Veloso, 2000). Everything is as the own team sees the pitch: it attacks +x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly as wrap_angle_exactly_
from nutmeg.base.angles import wrap_angle, wrap_angle_exactly
from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.match.players.belief import Pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# How well poses go with what was seen, compiled: for every particle, every post and every point on a line.
#
# Each sighting is right with a normal error, or wrong with a small constant likelihood, so that no single one can
# rule a pose out. Points on lines come in crowds that err together: each counts for a part only.


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
    turn = wrap_angle_exactly_(math.atan2(dy, dx) - heading - post[BEARING])
    return math.exp(-0.5 * ((away / post[SPREAD]) ** 2 + (turn / bearing_spread) ** 2))


# ----------------------------------------------------------------------------------------------------
# How far every spot of a pitch is from the nearest line: a table.
#
# Farther than `FARTHEST` makes no difference. The table reaches beyond the carpet.


MAP_CELL = 0.04
"""Size of a cell, m."""
MAP_BORDER = 1.0
"""How far the table reaches beyond the carpet, m."""
MAX_MAP_DISTANCE = 0.6
"""Distances are no greater than this, m."""


@dataclass(frozen=True, kw_only=True)
class LineMap:
    """Distances from lines."""

    table: Floats
    """(columns of x, rows of y) m."""
    corner: tuple[float, float]
    """Least x and y of the table, m."""
    cell: float = MAP_CELL
    """Size of a cell, m."""

    @classmethod
    def of(cls, field: FieldSettings) -> LineMap:
        """The table of a field."""
        lines = np.array(field.lines())
        if not len(lines):
            raise UsageError(f"the field {field.name!r} has no lines to be recognised by; use one that has.")
        reach = np.array([field.length, field.width]) / 2 + field.border + MAP_BORDER
        x, y = (np.arange(-side, side, MAP_CELL) + MAP_CELL / 2 for side in reach)
        spots = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        nearest = np.full(spots.shape[:2], MAX_MAP_DISTANCE)
        for start, end in lines:
            along = end - start
            share = np.clip((spots - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
            np.minimum(nearest, np.linalg.norm(spots - start - share[..., None] * along, axis=-1), out=nearest)
        return cls(table=nearest, corner=(float(-reach[0]), float(-reach[1])))

    def distances(self, spots: Floats) -> Floats:
        """(K,) of spots (K, 2) on the pitch, m."""
        column, row = np.floor((spots - self.corner) / self.cell).astype(int).T
        inside = (column >= 0) & (row >= 0) & (column < self.table.shape[0]) & (row < self.table.shape[1])
        return np.where(inside, self.table[np.where(inside, column, 0), np.where(inside, row, 0)], MAX_MAP_DISTANCE)


CLUSTER_DISTANCE, CLUSTER_ANGLE = 0.5, 0.6
"""Guesses so near to the best place [m, rad] are averaged."""
MIN_WEIGHT = 1e-12


@dataclass(frozen=True, kw_only=True)
class LocalisationSettings:
    """Numbers of the filter; chosen by trial on pictures of `spl2011`."""

    particles: int = 400
    """How many guesses."""
    move_noise: float = 0.005
    """Deviation of the place that each move adds, m."""
    move_share: float = 0.15
    """The same as a part of the way."""
    turn_noise: float = 0.008
    """Deviation of the heading that each move adds, rad."""
    turn_share: float = 0.15
    """The same as a part of the turn."""
    fallen_noise: float = 0.02
    """Deviation of the place, m, and of the heading, rad, that each decision off one's feet adds."""
    rows: float = 2.5
    """Deviation of places in a picture, rows: half a pixel, and what the trunk sways unnoticed."""
    line_spread: float = 0.06
    """Deviation of a point from its line, beside what that makes on the ground, m."""
    line_trust: float = 0.15
    """For how much of a sighting each point on a line counts."""
    most_lines: int = 60
    """Points on lines that are judged in one picture."""
    bearing_spread: float = 0.04
    """Deviation of the direction of a post, rad."""
    post_share: float = 0.05
    """Deviation of the distance of a post as a part of it, beside what rows make of it."""
    wrong: float = 0.02
    """Likelihood of a wrong sighting, beside 1 of a perfect one."""
    anew: float = 0.04
    """Share of guesses drawn anew whenever a post is in view."""
    slow: float = 0.02
    """Share of the long average that each picture replaces."""
    fast: float = 0.15
    """The same of the short one."""
    resample_below: float = 0.5
    """Guesses are drawn anew by weight when the effective number of them is a smaller share than this."""


class ParticleFilter:
    """Guesses of a pose and their weights.

    Args:
        field: a pitch with lines.
        rng: random numbers.
        settings: numbers of the filter.
    """

    def __init__(
        self, field: FieldSettings, *, rng: np.random.Generator, settings: LocalisationSettings | None = None
    ) -> None:
        self.settings = settings or LocalisationSettings()
        self._rng, self._map = rng, LineMap.of(field)
        self._reach = np.array([field.length, field.width]) / 2 + field.border
        self.particles: Floats = np.zeros((self.settings.particles, 3))
        """(N, 3) x, y [m], heading [rad]."""
        self.weights: Floats = np.zeros(self.settings.particles)
        """(N,) sum to 1."""
        self._long = self._short = 0.0
        self.scatter()

    def scatter(self) -> None:
        """Knows nothing: guesses are anywhere on the carpet."""
        count = self.settings.particles
        self.particles = self._anywhere(count)
        self.weights = np.full(count, 1.0 / count)
        self._long = self._short = 0.0

    def place(self, x: float, y: float, heading: float, *, spread: float = 0.1) -> None:
        """Knows where it is, to a deviation [m, rad]."""
        count = self.settings.particles
        self.particles = np.array([x, y, heading]) + spread * self._rng.standard_normal((count, 3))
        self.weights = np.full(count, 1.0 / count)

    def _anywhere(self, count: int) -> Floats:
        low, high = np.array([*-self._reach, -math.pi]), np.array([*self._reach, math.pi])
        return self._rng.uniform(low, high, (count, 3))

    # ---- a cycle

    def move(self, odometry: Sequence[float], *, upright: bool = True) -> None:
        """Moves the guesses as the robot believes to have gone: ahead, left [m], turned left [rad]."""
        ahead, left, turn = odometry
        numbers, draws = self.settings, self._rng.standard_normal((len(self.particles), 3))
        way = math.hypot(ahead, left)
        still = way == 0.0 and turn == 0.0
        blur = 0.0 if still else numbers.move_noise + numbers.move_share * way
        turn_blur = 0.0 if still else numbers.turn_noise + numbers.turn_share * abs(turn)
        if not upright:
            blur, turn_blur = blur + numbers.fallen_noise, turn_blur + numbers.fallen_noise
        half = self.particles[:, 2] + turn / 2
        c, s = np.cos(half), np.sin(half)
        self.particles[:, 0] += c * ahead - s * left + blur * draws[:, 0]
        self.particles[:, 1] += s * ahead + c * left + blur * draws[:, 1]
        self.particles[:, 2] = wrap_angle(self.particles[:, 2] + turn + turn_blur * draws[:, 2])

    def observe(self, posts: Floats, lines: Floats) -> None:
        """Judges the guesses, and draws new ones where that is needed.

        Args:
            posts: (P, 7) of `post_row`.
            lines: (K, 3) points on lines, ahead, left, and how far a row of the picture reaches there, m.
        """
        if not len(posts) + len(lines):
            return
        numbers = self.settings
        lines = lines[:: max(1, -(-len(lines) // numbers.most_lines))] * np.array([1.0, 1.0, numbers.rows])
        logs = log_weights(
            self.particles,
            np.ascontiguousarray(lines),
            np.ascontiguousarray(posts),
            self._map.table,
            np.array([*self._map.corner, self._map.cell]),
            np.array([numbers.line_spread, numbers.line_trust, numbers.bearing_spread, numbers.wrong]),
        )
        fit = float(self.weights @ np.exp(logs / (len(posts) + numbers.line_trust * len(lines))))
        self._long += numbers.slow * (fit - self._long) if self._long else fit
        self._short += numbers.fast * (fit - self._short) if self._short else fit
        weights = self.weights * np.exp(logs - logs.max()) + MIN_WEIGHT
        self.weights = weights / weights.sum()
        if 1.0 / float(self.weights @ self.weights) < numbers.resample_below * len(weights):
            self._resample()
        self._reset(posts)

    def _resample(self) -> None:
        """Draws guesses by their weights, at even steps."""
        count = len(self.weights)
        steps = (self._rng.random() + np.arange(count)) / count
        chosen = np.minimum(np.searchsorted(np.cumsum(self.weights), steps), count - 1)
        self.particles = self.particles[chosen] + 0.004 * self._rng.standard_normal((count, 3))
        self.weights = np.full(count, 1.0 / count)

    def _reset(self, posts: Floats) -> None:
        """Replaces some guesses, more of them when sightings fit badly, by such as a post in view allows."""
        share = max(0.0, 1.0 - self._short / max(self._long, MIN_WEIGHT)) / 2
        share = max(share, self.settings.anew) if len(posts) else share / 4
        count = int(share * len(self.particles))
        if not count:
            return
        fresh = self._around(posts, count) if len(posts) else self._anywhere(count)
        chosen = self._rng.choice(len(self.particles), count, replace=False)
        self.particles[chosen] = fresh
        self.weights[chosen] = 0.1 * self.weights.min() if count < len(self.weights) // 10 else self.weights.mean()
        self.weights /= self.weights.sum()

    def _around(self, posts: Floats, count: int) -> Floats:
        """(count, 3) poses on the carpet from which one of the posts looks as it does."""
        post = posts[self._rng.integers(len(posts), size=count)]
        other = self._rng.random(count) < 0.5
        stands = np.where(other[:, None], post[:, SECOND_X : SECOND_X + 2], post[:, FIRST_X : FIRST_X + 2])
        away = post[:, DISTANCE] + post[:, SPREAD] * self._rng.standard_normal(count)
        towards = self._rng.uniform(-math.pi, math.pi, count)
        spots = stands + away[:, None] * np.stack([np.cos(towards), np.sin(towards)], axis=1)
        poses = np.column_stack([spots, wrap_angle(towards + math.pi - post[:, BEARING])])
        both = _from_two(posts)
        if both is not None:
            poses[::2] = both + np.array([0.1, 0.1, 0.05]) * self._rng.standard_normal((len(poses[::2]), 3))
        outside = (np.abs(poses[:, :2]) > self._reach).any(axis=1)
        return np.where(outside[:, None], self._anywhere(count), poses)

    # ---- what is believed

    @property
    def pose(self) -> Pose:
        """The mean of the guesses around the likeliest place, and how far all of them are from it."""
        guesses, weights = self.particles, self.weights
        cells = np.column_stack([np.round(guesses[:, :2] / CLUSTER_DISTANCE), np.round(guesses[:, 2] / CLUSTER_ANGLE)])
        _, which = np.unique(cells, axis=0, return_inverse=True)
        best = int(np.bincount(which.ravel(), weights).argmax())
        mean = _mean(guesses[which.ravel() == best], weights[which.ravel() == best])
        for _ in range(2):
            near = (np.linalg.norm(guesses[:, :2] - mean[:2], axis=1) < CLUSTER_DISTANCE) & (
                np.abs(wrap_angle(guesses[:, 2] - mean[2])) < CLUSTER_ANGLE
            )
            mean = _mean(guesses[near], weights[near])
        off = guesses - mean
        off[:, 2] = wrap_angle(off[:, 2])
        x, y, heading = np.sqrt(weights @ off**2).tolist()
        return Pose(
            x=float(mean[0]),
            y=float(mean[1]),
            heading=float(mean[2]),
            spread=math.hypot(x, y) / math.sqrt(2),
            heading_spread=heading,
        )


def _from_two(posts: Floats) -> Floats | None:
    """(3,) the pose from which two known posts look as they do; None if there are not two."""
    known = posts[(posts[:, FIRST_X:SECOND_X] == posts[:, SECOND_X:]).all(axis=1)]
    if len(known) < 2:
        return None
    seen = known[:2, DISTANCE, None] * np.column_stack([np.cos(known[:2, BEARING]), np.sin(known[:2, BEARING])])
    stand = known[:2, FIRST_X:SECOND_X]
    (dx, dy), (ex, ey) = stand[1] - stand[0], seen[1] - seen[0]
    heading = wrap_angle_exactly(math.atan2(dy, dx) - math.atan2(ey, ex))
    c, s = math.cos(heading), math.sin(heading)
    x, y = (stand - seen @ np.array([[c, s], [-s, c]])).mean(axis=0)
    return np.array([x, y, heading])


def _mean(guesses: Floats, weights: Floats) -> Floats:
    """(3,) of poses (N, 3); headings as directions."""
    total = weights.sum()
    x, y = weights @ guesses[:, :2] / total
    heading = math.atan2(float(weights @ np.sin(guesses[:, 2])), float(weights @ np.cos(guesses[:, 2])))
    return np.array([x, y, heading])


def post_row(
    place: tuple[float, float],
    spread: float,
    candidates: Sequence[tuple[float, float]],
    settings: LocalisationSettings,
) -> Floats:
    """(7,) a post that is seen ahead and to the left, m, and is one of one or two.

    Args:
        place: ahead and to the left, m.
        spread: how far on the ground a row of the picture reaches there, m.
        candidates: where on the pitch it may stand, m.
        settings: of the filter.
    """
    away = math.hypot(*place)
    row = np.empty(POST)
    row[:FIRST_X] = away, math.atan2(place[1], place[0]), math.hypot(settings.rows * spread, settings.post_share * away)
    row[FIRST_X:SECOND_X], row[SECOND_X:] = candidates[0], candidates[-1]
    return row
