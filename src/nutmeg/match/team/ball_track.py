"""Where the ball is and rolls, seen or not.

    track = BallTrack(estimate, radius=0.042)
    track.pass_time(0.02)
    track.see(sight.marks[k], head, centre)         # it is in the image
    track.miss(head, centre)                        # it is not, though it should be
    track.hear(x, y, age=0.4)                       # a team-mate said so

The ball is part of the player's filter (see `estimate`), rolls on while nobody looks, and slows down exponentially, as
its data file says. A kick shows as a surprise: then the velocity is opened up, and the image taken again. A ball that
is somewhere else altogether has been put there by the referee and lies still.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.team.camera import HALF_VIEW, onto_pitch
from nutmeg.match.team.estimate import BALL, ROLL, SIZE, forget, inject, take
from nutmeg.match.team.localisation_kernels import FAR, FLOOR, LEFT, point_rows

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.team.estimate import Estimate


WATCHED, UNWATCHED = 0.01, 0.08
"""Variance that a second adds to the velocity of a ball that is watched, or not [m²/s²]."""
SLIDING = 0.05
"""The same along the way, for each m²/s²: a kicked ball slides, and slows down faster, before it rolls [1/s]."""
SURPRISE = 16.0
"""Squared deviations, of three numbers, from which on the ball must have been kicked."""
KICKED = 3.0
"""Deviation of the velocity then [m/s]."""
PUT = 12.0
"""Nobody kicks so hard: a ball that would be so fast was put elsewhere [m/s]."""
GONE = 3.0
"""Deviation of the place of a ball that is not where it should be [m]."""
TOLD = 0.3
"""Deviation of a place that team-mates tell [m]; it grows by the ball's speed and their age."""
FRESH = 0.5
"""What was seen so lately needs no telling [s]."""


class BallTrack:
    """The ball's part of a player's filter.

    Args:
        estimate: the filter.
        radius: of the ball [m].
    """

    def __init__(self, estimate: Estimate, *, radius: float) -> None:
        self._estimate, self._radius = estimate, radius
        self.seen_ago = math.inf
        """Time since it was seen [s]."""
        self.told_ago = math.inf
        """Time since a team-mate told of it [s]."""
        self.forget()

    def forget(self) -> None:
        """Nothing is known of the ball."""
        self._place(0.0, 0.0, UNKNOWN)
        self.seen_ago = self.told_ago = math.inf

    def _place(self, x: float, y: float, deviation: float) -> None:
        """Puts the ball to rest somewhere, with a deviation of its place."""
        e = self._estimate
        e.ball[:] = x, y, self._radius, 0.0, 0.0
        forget(e.cov, BALL, SIZE - BALL)
        e.cov[range(BALL, SIZE), range(BALL, SIZE)] = deviation**2, deviation**2, 0.1**2, 0.3**2, 0.3**2

    def noise(self, step: float) -> tuple[float, float]:
        """Variance that a time step adds to the velocity [m²/s²], and along its way for each m²/s² of it."""
        return step * (WATCHED if self.seen_ago < 0.1 else UNWATCHED), step * SLIDING

    def pass_time(self, step: float) -> None:
        """Lets time pass; the filter's `predict` rolls the ball."""
        self.seen_ago += step
        self.told_ago += step

    def see(self, polar: Floats, head: Floats, centre: Floats) -> None:
        """Takes the ball's place in an image, (3,) polar."""
        e = self._estimate
        fresh = self.seen_ago < STALE
        see_ball(e.place, e.turn, e.slip, e.ball, e.cov, head, centre, polar, fresh, max(self.seen_ago, 0.02))
        self.seen_ago = 0.0

    def miss(self, head: Floats, centre: Floats) -> None:
        """The image has no ball: if it should be there, nobody knows where it is."""
        e = self._estimate
        if e.cov[BALL, BALL] < GONE**2 and self.seen_ago < math.inf:
            way = e.turn.T @ (e.ball[:3] - e.place) - centre
            x, y, z = (head.T @ way).tolist()
            far = math.sqrt(x * x + y * y + z * z)
            inside = max(abs(math.atan2(y, x)), abs(math.atan2(z, math.hypot(x, y)))) < HALF_VIEW - EDGE
            if inside and far > SEEABLE:
                self._place(float(e.ball[0]), float(e.ball[1]), GONE)

    def hear(self, x: float, y: float, age: float) -> None:
        """A team-mate saw the ball at a place some time ago."""
        self.told_ago = min(self.told_ago, age)
        if self.seen_ago < FRESH:
            return
        e, variance, delta = self._estimate, (TOLD + age) ** 2, np.zeros(SIZE)
        off = (x - e.ball[0]) ** 2 / (variance + e.cov[BALL, BALL])
        off += (y - e.ball[1]) ** 2 / (variance + e.cov[BALL + 1, BALL + 1])
        if off > SURPRISE:
            self._place(x, y, math.sqrt(variance))
            return
        for i, value in enumerate((x, y)):
            row = np.zeros(SIZE)
            row[BALL + i] = 1.0
            take(e.cov, delta, row, value - float(e.ball[i]), variance, SIZE)
        inject(e.place, e.turn, e.slip, e.ball, delta)


UNKNOWN = 20.0
"""Deviation of the place of a ball that nobody has seen [m]."""
STALE = 3.0
"""A ball not seen for longer is found anew [s]."""
EDGE = 0.17
"""So near to the edge of the view a ball may be just outside [rad]."""
SEEABLE = 0.3
"""Nearer balls may be hidden by the limit of the camera [m]."""


@kernel
def see_ball(
    place: Floats,
    turn: Floats,
    slip: Floats,
    ball: Floats,
    cov: Floats,
    head: Floats,
    centre: Floats,
    polar: Floats,
    fresh: bool,
    since: float,
) -> int:
    """Takes the ball's polar coordinates (3,) into the filter; it rolled on (0), was kicked (1), or put there (2)."""
    seen = onto_pitch(polar, head, centre, place, turn)
    jump = math.hypot(seen[0] - ball[0], seen[1] - ball[1])
    if not fresh or jump > PUT * since + 5.0 * math.sqrt(cov[BALL, BALL] + cov[BALL + 1, BALL + 1]):
        _find(place, cov, ball, seen, polar[0])
        return 2
    trial, delta = cov.copy(), np.zeros(SIZE)
    kicked = 0
    if _update(place, turn, ball, trial, delta, head, centre, polar) > SURPRISE:
        kicked = 1
        for i in range(2):
            cov[ROLL + i, ROLL + i] += KICKED**2
            cov[BALL + i, BALL + i] += (KICKED * since) ** 2
        trial[:], delta[:] = cov, 0.0
        _update(place, turn, ball, trial, delta, head, centre, polar)
    cov[:] = trial
    inject(place, turn, slip, ball, delta)
    return kicked


@kernel
def _update(
    place: Floats,
    turn: Floats,
    ball: Floats,
    cov: Floats,
    delta: Floats,
    head: Floats,
    centre: Floats,
    polar: Floats,
) -> float:
    """Takes three numbers into covariance and errors; returns the sum of squared normalised innovations."""
    rows, residuals, variances = np.zeros((3, SIZE)), np.zeros(3), np.zeros(3)
    point_rows(polar, ball[:3], place, turn, head, centre, rows, residuals, variances)
    sum_ = 0.0
    for k in range(3):
        for i in range(3):
            rows[k, BALL + i] = -rows[k, i]
        sum_ += take(cov, delta, rows[k], residuals[k], variances[k], SIZE)
    return sum_


@kernel
def _find(place: Floats, cov: Floats, ball: Floats, seen: Floats, far: float) -> None:
    """Puts the ball where it is seen, at rest, with the errors that it shares with the pose."""
    forget(cov, BALL, SIZE - BALL)
    x, y, z = seen[0] - place[0], seen[1] - place[1], seen[2] - place[2]
    rows = np.zeros((3, 6))
    for i in range(3):
        rows[i, i] = 1.0
    rows[0, 4], rows[0, 5], rows[1, 3], rows[1, 5], rows[2, 3], rows[2, 4] = z, -y, -z, x, y, -x
    for i in range(3):
        for j in range(BALL):
            total = 0.0
            for k in range(6):
                total += rows[i, k] * cov[k, j]
            cov[BALL + i, j] = total
            cov[j, BALL + i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(6):
                total += cov[BALL + i, k] * rows[j, k]
            cov[BALL + i, BALL + j] = total
        cov[BALL + i, BALL + i] += (LEFT * far) ** 2 + (FAR * far) ** 2 + FLOOR**2
        ball[i] = seen[i]
    for i in range(2):
        ball[3 + i] = 0.0
        cov[ROLL + i, ROLL + i] = FOUND**2


FOUND = 0.5
"""Deviation of the velocity of a ball that is seen for the first time [m/s]."""
