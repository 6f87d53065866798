"""Self-localisation by a particle filter: many guesses of the pose, moved by odometry and weighted by what is seen.

    filter = ParticleFilter(load_field("spl2011"), rng=np.random.default_rng(1))
    filter.move((0.02, 0.0, 0.01))                      # odometry: ahead, left [m], turned left [rad]
    filter.observe(posts, lines)                        # records of `PostSighting`, (K, 3) points on lines
    filter.pose.x, filter.pose.spread

Monte Carlo localisation (Dellaert and others, 1999), with the two recoveries of RoboCup: when sightings fit worse than
they used to (short and long averages; Gutmann and Fox, 2002), and a little always, guesses are drawn anew from a post
in view (sensor resetting; Lenser and Veloso, 2000). Everything is in the frame of the own team, which attacks +x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.angles import wrap_angle
from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.base.records import new_records, record_values
from nutmeg.match.players.belief import Pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.records import Records
    from nutmeg.model.field import FieldSettings


MAP_CELL = 0.04
"""Size of a cell of the map of lines, m."""
MAP_BORDER = 1.0
"""How far the map reaches beyond the carpet, m."""
MAX_MAP_DISTANCE = 0.6
"""Distances in the map are no greater than this, m: farther makes no difference."""
OUTSIDE_DISTANCE = 1.0
"""Distance from lines of what is outside the map, m."""
CLUSTER_DISTANCE = 0.5
"""Guesses so near to the best place are averaged, m."""
CLUSTER_ANGLE = 0.6
"""Guesses turned so little from the best heading are averaged, rad."""
MIN_WEIGHT = 1e-12
"""Least weight of a guess, so that none can rule itself out for ever."""


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


@dataclass
class PostSighting:
    """A goal post that is seen, and which of one or two posts it may be."""

    distance: float
    bearing: float
    """To the left, rad."""
    spread: float
    """Deviation of the distance, m."""
    first_x: float
    """Where the post stands: the first of two possible places, m."""
    first_y: float
    second_x: float
    """The second one; the same as the first where it is known which post it is."""
    second_y: float


class LineMap(NamedTuple):
    """A table of how far every spot of a pitch is from the nearest line."""

    table: Floats
    """(columns of x, rows of y) m."""
    x: float
    """Least x of the table, m."""
    y: float
    """Least y of the table, m."""


def line_map(field: FieldSettings) -> LineMap:
    """The map of a field."""
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
    return LineMap(nearest, float(-reach[0]), float(-reach[1]))


@kernel
def line_distance(x: float, y: float, lines: LineMap) -> float:
    """How far a spot is from the nearest line, m."""
    column, row = math.floor((x - lines.x) / MAP_CELL), math.floor((y - lines.y) / MAP_CELL)
    if 0 <= column < lines.table.shape[0] and 0 <= row < lines.table.shape[1]:
        return float(lines.table[column, row])
    return OUTSIDE_DISTANCE


@kernel
def _log_weights(
    particles: Floats,
    points: Floats,
    posts: Records[PostSighting],
    lines: LineMap,
    settings: Records[LocalisationSettings],
) -> Floats:
    """(N,) logarithms of the likelihoods of poses.

    Each sighting is right with a normal error, or wrong with a small constant likelihood, so that no single one can
    rule a pose out. Points on lines come in crowds that err together: each counts for a part only.

    Args:
        particles: (N, 3) x, y [m], heading [rad].
        points: (K, 3) on lines: ahead, to the left and their deviation [m].
        posts: (P,).
        lines: of the pitch.
        settings: (1,) of the filter.
    """
    numbers = settings[0]
    out = np.zeros(len(particles))
    for n in range(len(particles)):
        x, y, heading = particles[n, 0], particles[n, 1], particles[n, 2]
        c, s = math.cos(heading), math.sin(heading)
        total = 0.0
        for k in range(len(points)):
            ahead, left = points[k, 0], points[k, 1]
            away = line_distance(x + c * ahead - s * left, y + s * ahead + c * left, lines)
            variance = numbers.line_spread**2 + points[k, 2] ** 2
            total += numbers.line_trust * math.log(math.exp(-0.5 * away**2 / variance) + numbers.wrong)
        for k in range(len(posts)):
            post = posts[k]
            best = max(
                0.0,
                _post_fit(post.first_x - x, post.first_y - y, heading, post, numbers.bearing_spread),
                _post_fit(post.second_x - x, post.second_y - y, heading, post, numbers.bearing_spread),
            )
            total += math.log(best + numbers.wrong)
        out[n] = total
    return out


@kernel
def _post_fit(dx: float, dy: float, heading: float, post: PostSighting, bearing_spread: float) -> float:
    """How well a sighting goes with a post at (dx, dy) from the pose, 0..1."""
    away = math.sqrt(dx**2 + dy**2) - post.distance
    turn = wrap_angle_exactly(math.atan2(dy, dx) - heading - post.bearing)
    return math.exp(-0.5 * ((away / post.spread) ** 2 + (turn / bearing_spread) ** 2))


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
        self._rng, self._lines = rng, line_map(field)
        self._numbers = record_values(self.settings)
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

    def observe(self, posts: Records[PostSighting], lines: Floats) -> None:
        """Weights the guesses, and draws new ones where that is needed.

        Args:
            posts: (P,) of `post_sightings`.
            lines: (K, 3) points on lines, ahead, left, and how far a row of the picture reaches there, m.
        """
        if not len(posts) + len(lines):
            return
        numbers = self.settings
        lines = lines[:: max(1, -(-len(lines) // numbers.most_lines))] * np.array([1.0, 1.0, numbers.rows])
        logs = _log_weights(self.particles, np.ascontiguousarray(lines), posts, self._lines, self._numbers)
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

    def _reset(self, posts: Records[PostSighting]) -> None:
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

    def _around(self, posts: Records[PostSighting], count: int) -> Floats:
        """(count, 3) poses on the carpet from which one of the posts looks as it does."""
        post = posts[self._rng.integers(len(posts), size=count)]
        other = self._rng.random(count) < 0.5
        stands = np.where(other, [post["second_x"], post["second_y"]], [post["first_x"], post["first_y"]]).T
        away = post["distance"] + post["spread"] * self._rng.standard_normal(count)
        towards = self._rng.uniform(-math.pi, math.pi, count)
        spots = stands + away[:, None] * np.stack([np.cos(towards), np.sin(towards)], axis=1)
        poses = np.column_stack([spots, wrap_angle(towards + math.pi - post["bearing"])])
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


def _from_two(posts: Records[PostSighting]) -> Floats | None:
    """(3,) the pose from which two known posts look as they do; None if there are not two."""
    known = posts[(posts["first_x"] == posts["second_x"]) & (posts["first_y"] == posts["second_y"])][:2]
    if len(known) < 2:
        return None
    seen = known["distance"][:, None] * np.column_stack([np.cos(known["bearing"]), np.sin(known["bearing"])])
    stand = np.column_stack([known["first_x"], known["first_y"]])
    (dx, dy), (ex, ey) = stand[1] - stand[0], seen[1] - seen[0]
    heading = math.remainder(math.atan2(dy, dx) - math.atan2(ey, ex), math.tau)
    c, s = math.cos(heading), math.sin(heading)
    x, y = (stand - seen @ np.array([[c, s], [-s, c]])).mean(axis=0)
    return np.array([x, y, heading])


def _mean(guesses: Floats, weights: Floats) -> Floats:
    """(3,) of poses (N, 3); headings as directions."""
    total = weights.sum()
    x, y = weights @ guesses[:, :2] / total
    heading = math.atan2(float(weights @ np.sin(guesses[:, 2])), float(weights @ np.cos(guesses[:, 2])))
    return np.array([x, y, heading])


def post_sighting(
    place: tuple[float, float],
    spread: float,
    candidates: Sequence[tuple[float, float]],
    settings: LocalisationSettings,
) -> PostSighting:
    """A post that is seen somewhere, and is one of one or two.

    Args:
        place: ahead and to the left, m.
        spread: how far on the ground a row of the picture reaches there, m.
        candidates: where on the pitch it may stand, m.
        settings: of the filter.
    """
    away, first, second = math.hypot(*place), candidates[0], candidates[-1]
    return PostSighting(
        distance=away,
        bearing=math.atan2(place[1], place[0]),
        spread=math.hypot(settings.rows * spread, settings.post_share * away),
        first_x=first[0],
        first_y=first[1],
        second_x=second[0],
        second_y=second[1],
    )


def post_records(posts: Sequence[PostSighting]) -> Records[PostSighting]:
    """(P,) sightings as the filter takes them."""
    return record_values(*posts) if posts else new_records(PostSighting, 0)
