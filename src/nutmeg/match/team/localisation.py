"""Where a player stands, from what it sees, feels and has walked.

    where = Localisation(load_field("sim3d"), estimate)
    where.walk(gyro, (dx, dy, dturn), upright=True, step=0.02, ball_noise=ball.noise(0.02))      # every cycle
    where.see(sight, head, centre, acc)                             # with every image
    where.known, where.seen_ago

The gyroscope turns the attitude (the league's has no noise), the legs' odometry moves the place, and images correct
both. Odometry may be wrong by a fifth or more: what it lacks is estimated as slip. An image that contradicts what is
believed (a beam, a penalty, a fall that was not felt) starts everything anew from that image alone: from two landmarks,
or from one and the lines, whose directions leave four headings. Landmarks have names, so the pitch is never mirrored.

All is in the frame in which landmarks are named; `senses` turns it into the team's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.match.team.camera import spot
from nutmeg.match.team.estimate import BALL, predict
from nutmeg.match.team.localisation_kernels import LONG, plausible, see_lines, see_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.percept import Sight
    from nutmeg.match.team.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class LocalisationSettings:
    """How far dead reckoning is trusted; chosen by trial, see the tests for what they give."""

    jitter: float = 0.001
    """Deviation of the place that every cycle adds [m]."""
    height_jitter: float = 0.004
    """The same of the torso's height [m]."""
    turn_jitter: float = 0.0005
    """The same of the attitude [rad]."""
    doubt: float = 0.05
    """Part of the difference between the legs' and the gyroscope's turn that is added to it."""
    slip_least: float = 0.02
    """Deviation of the slip of who stands [m/s]."""
    slip_share: float = 0.3
    """Deviation of the slip of who walks, as a part of its speed."""
    slip_fallen: float = 0.4
    """Deviation of the slip of who falls, lies or gets up [m/s]."""
    slip_time: float = 0.5
    """How long a slip lasts [s]."""
    outside: float = 4.0
    """Nobody is farther outside the pitch [m]."""


class Localisation:
    """The pose's part of a player's filter.

    Args:
        field: the pitch.
        estimate: the filter; its pose and slip are written here.
        rolling: how fast a rolling ball slows down [1/s].
        settings: how far dead reckoning is trusted.
    """

    def __init__(
        self,
        field: FieldSettings,
        estimate: Estimate,
        *,
        rolling: float = 0.0,
        settings: LocalisationSettings | None = None,
    ) -> None:
        self._estimate, self._rolling, self.settings = estimate, rolling, settings or LocalisationSettings()
        self._marks = field.landmarks()
        self._points: dict[tuple[str, ...], tuple[Indices, Floats]] = {}
        lines = [line for layer in field.layers()[:3] for line in layer]
        self._lines = np.array([line for line in lines if math.dist(*line) > LONG])
        self._reach = field.length / 2 + self.settings.outside, field.width / 2 + self.settings.outside
        self._noise, self._motion = np.zeros(7), np.zeros(5)
        self.known = False
        """Whether the pose has ever been found, and not been lost since."""
        self.seen_ago = math.inf
        """Time since an image said something of the pose [s]."""
        self.restarts = 0
        """How often everything was begun anew from one image."""

    def walk(
        self,
        gyro: Floats,
        odometry: tuple[float, float, float],
        *,
        upright: bool,
        step: float,
        ball_noise: tuple[float, float],
    ) -> None:
        """Lets a cycle pass.

        Args:
            gyro: (3,) as percepts tell it: degrees a second, x to the right, y ahead, z up.
            odometry: how far the legs went ahead and to the left [m], and turned left [rad].
            upright: whether the player stands.
            step: since the last cycle [s].
            ball_noise: variance added to the ball's velocity [m²/s²], and along its way for each m²/s² of it.
        """
        s, motion, noise, radians = self.settings, self._motion, self._noise, step * math.pi / 180.0
        right, ahead, up = gyro.tolist()
        motion[0], motion[1] = odometry[0], odometry[1]
        motion[2], motion[3], motion[4] = radians * ahead, -radians * right, radians * up
        speed = (math.hypot(odometry[0], odometry[1]) + 0.1 * abs(odometry[2])) / step
        slip = s.slip_least + s.slip_share * speed if upright else s.slip_fallen
        noise[0] = s.jitter**2
        noise[1] = (s.height_jitter if upright else 4.0 * s.height_jitter) ** 2
        noise[2] = s.turn_jitter**2 + (s.doubt * (motion[4] - odometry[2])) ** 2
        noise[3], noise[4] = 2.0 * slip * slip * step / s.slip_time, math.exp(-step / s.slip_time)
        noise[5], noise[6] = ball_noise
        e = self._estimate
        predict(e.place, e.turn, e.slip, e.ball, e.cov, motion, noise, self._rolling, step)
        self.seen_ago += step

    def see(self, sight: Sight, head: Floats, centre: Floats, acc: Floats) -> None:
        """Takes an image.

        Args:
            sight: what is seen.
            head: (3, 3) attitude of the camera in the torso's frame.
            centre: (3,) where the camera is in it [m].
            acc: (3,) what the accelerometer tells, m/s²; needed to begin anew.
        """
        rows, points = self._named(sight.labels)
        marks, lines = sight.marks[rows], sight.lines
        if self.known:
            passes = 1 if self._estimate.cov[5, 5] < SURE_TURN else 4
            self._take(marks, points, lines, head, centre, passes=passes)
        if not self.known:
            self._begin(marks, points, lines, head, centre, acc)
        if not self.known and self.seen_ago < BUMPED:
            e = self._estimate
            e.cov[range(BALL), range(BALL)] += PUSHED
            self._take(marks, points, lines, head, centre, passes=4)

    def _take(self, marks: Floats, points: Floats, lines: Floats, head: Floats, centre: Floats, *, passes: int) -> None:
        """Corrects the pose, unless the image contradicts it: then the pose is not known any more."""
        e = self._estimate
        state = e.place, e.turn, e.slip, e.ball, e.cov, head, centre
        sum_, numbers = see_marks(*state, marks, points, lines, passes, 1.0)
        if sum_ > plausible(numbers):
            self.known = False
            return
        found = see_lines(*state, lines, self._lines)
        if len(marks) or found:
            self.seen_ago = 0.0
        x, y = self._reach
        self.known = abs(e.place[0]) < x and abs(e.place[1]) < y

    def _named(self, labels: tuple[str, ...]) -> tuple[Indices, Floats]:
        """Rows and places of the landmarks among what is seen; there are few combinations."""
        if labels not in self._points:
            rows = [k for k, label in enumerate(labels) if label in self._marks]
            places = np.array([self._marks[labels[k]] for k in rows], float).reshape(-1, 3)
            self._points[labels] = np.array(rows, np.intp), places
        return self._points[labels]

    # ---- beginning anew

    def _begin(self, marks: Floats, points: Floats, lines: Floats, head: Floats, centre: Floats, acc: Floats) -> None:
        """Finds the pose from one image, if it can be."""
        if not len(marks):
            return
        seen = np.array([spot(mark, head, centre) for mark in marks])
        ends = np.array([spot(end, head, centre) for line in lines for end in line]).reshape(-1, 2, 3)
        for up in self._ups(acc):
            level = _level(up)
            found = self._fit(seen @ level.T, points, ends @ level.T)
            if found is None:
                continue
            self._start(*found, level)
            self.known = True
            self._take(marks, points, lines, head, centre, passes=6)
            if self.known:
                self.restarts += 1
                return

    def _ups(self, acc: Floats) -> Sequence[Floats]:
        """Directions that may be up in the torso's frame: as felt, as the torso stands, as believed so far."""
        felt = np.array([acc[1], -acc[0], acc[2]])
        strength = float(np.linalg.norm(felt))
        calm = abs(strength - GRAVITY) < 0.2 * GRAVITY
        others = [np.array([0.0, 0.0, 1.0]), self._estimate.turn[2].copy()]
        return [felt / strength, *others] if calm else others

    def _fit(self, seen: Floats, points: Floats, ends: Floats) -> tuple[float, float, float] | None:
        """Place and heading from landmarks (K, 3) and lines (L, 2, 3) in a level frame."""
        if len(seen) > 1:
            heading = _turn_between(seen[:, :2], points[:, :2])
        else:
            found = self._heading_from_lines(seen[0, :2], points[0, :2], ends[..., :2])
            if found is None:
                return None
            heading = found
        x, y = np.mean(points[:, :2] - seen[:, :2] @ _flat(heading).T, axis=0).tolist()
        return x, y, heading

    def _heading_from_lines(self, seen: Floats, point: Floats, ends: Floats) -> float | None:
        """The heading that makes the lines fit, given one landmark; None if two do, or none does."""
        ways = ends[:, 1] - ends[:, 0]
        lengths = np.hypot(ways[:, 0], ways[:, 1])
        if not len(lengths) or lengths.max() < LONG:
            return None
        longest = ways[int(np.argmax(lengths))]
        ends = ends[lengths > LONG].reshape(-1, 2)
        scores = []
        for quarter in range(4):
            heading = quarter * math.pi / 2 - math.atan2(longest[1], longest[0])
            place = point - _flat(heading) @ seen
            inside = bool(np.all(np.abs(place) < self._reach))
            misfit = _misfit(place + ends @ _flat(heading).T, self._lines) if inside else math.inf
            scores.append((misfit, heading))
        scores.sort()
        clear = scores[0][0] < FITS and scores[1][0] > 2 * scores[0][0] + FITS
        return scores[0][1] if clear else None

    def _start(self, x: float, y: float, heading: float, level: Floats) -> None:
        """Sets the pose with a wide spread; the ball stays where it is."""
        e = self._estimate
        e.place[:], e.slip[:] = (x, y, HEIGHT), 0.0
        e.turn[:2], e.turn[2] = _flat(heading) @ level[:2], level[2]
        e.cov[:BALL, :] = 0.0
        e.cov[:, :BALL] = 0.0
        e.cov[range(BALL), range(BALL)] = (1.0, 1.0, 0.25, 0.1, 0.1, 0.1, 0.01, 0.01)


HEIGHT = 0.35
"""Where a torso is at first; who is held up by the referee is at 1 m [m]."""
BUMPED = 1.0
"""Who knew where it was so lately may only have been pushed, and is not lost at once [s]."""
PUSHED = (0.25, 0.25, 0.04, 0.04, 0.04, 0.1, 0.1, 0.1)
"""Variances that are added then: place [m²], attitude [rad²], slip [m²/s²]."""
SURE_TURN = 0.05**2
"""Variance of the heading above which an image is linearised several times [rad²]."""
FITS = 0.25
"""Lines fit whose ends are this near to lines of the pitch, on average [m]."""


def _flat(heading: float) -> Floats:
    """(2, 2)."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([[c, -s], [s, c]])


def _level(up: Floats) -> Floats:
    """(3, 3) the torso's frame turned upright, ahead staying ahead; rows are the level frame's axes."""
    ahead = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.95 else np.array([0.0, 0.0, -math.copysign(1.0, up[0])])
    ahead = ahead - up * (up @ ahead)
    ahead /= np.linalg.norm(ahead)
    return np.stack([ahead, np.cross(up, ahead), up])


def _turn_between(seen: Floats, points: Floats) -> float:
    """The angle that turns points (K, 2) as seen into those on the pitch best."""
    a, b = seen - seen.mean(axis=0), points - points.mean(axis=0)
    return math.atan2(float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])), float(np.sum(a * b)))


def _misfit(ends: Floats, lines: Floats) -> float:
    """How far points (K, 2) are from the nearest of lines (M, 2, 2), on average, at most 1 m each."""
    start, way = lines[:, 0], lines[:, 1] - lines[:, 0]
    off = ends[:, None] - start
    along = np.clip(np.sum(off * way, axis=2) / np.sum(way * way, axis=1), 0.0, 1.0)
    away = off - along[..., None] * way
    return float(np.minimum(np.hypot(away[..., 0], away[..., 1]).min(axis=1), 1.0).mean())
