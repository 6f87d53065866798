"""Where a player stands, from what it sees, feels and has walked.

    where = Localisation(load_field("sim3d"), estimate)
    where.walk(gyro, (dx, dy, dturn), upright=True, step=0.02, ball_noise=ball.noise(0.02))      # every cycle
    where.see(sight, head_frame(yaw, pitch), acc)                   # with every image
    where.known, where.seen_ago

The gyroscope turns the attitude (the league's has no noise), the legs' odometry moves the place, and images correct
both. Odometry may be wrong by a fifth or more: what it lacks is estimated as slip. An image that contradicts what is
believed (a beam, a penalty, a fall that was not felt) starts everything anew from that image alone: from two landmarks,
or from one and the lines, whose directions leave four headings. Landmarks have names, so the pitch is never mirrored.

All is in the frame in which landmarks are named; `league_tracker` turns it into the team's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.constants import GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.match.players.tracking.kalman_filter import BALL, STATE_SIZE, Estimate, inject, predict, take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Indices
    from nutmeg.match.worlds.physical.percept import Sight
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# The camera in the head of the league's robot: from what is told in polar coordinates to places seen from the torso.
#
# Frames have x ahead, y to the left, z up. The neck turns about z by `hj1` and nods by `hj2`, up being positive; the
# camera is in the middle of the head. Lengths are those of rcssserver3d's naoneckhead.rsg, as in the robot table
# `nao-spark`: all types have the same head. Compiled, since players call it for every point they see.


NECK_HEIGHT = 0.09
"""From the middle of the torso up to the neck [m]."""
NOD_HEIGHT = 0.06
"""From there to the axis about which the head nods [m]."""
EYE_OFFSET = 0.005
"""From there to the camera [m]."""
HALF_VIEW = math.radians(60.0)
"""The camera sees so far to each side, up and down [rad]."""
YAW_LIMIT, PITCH_LIMIT = math.radians(120.0), math.radians(45.0)
"""How far the neck turns and nods [rad]."""
RADIANS_PER_DEGREE = math.pi / 180.0


class CameraPose(NamedTuple):
    """Where the camera is in the torso's frame, and where it looks."""

    turn: Floats
    """(3, 3) turns the camera's frame into the torso's."""
    centre: Floats
    """(3,) m."""


@kernel
def head_frame(yaw: float, pitch: float) -> CameraPose:
    """The pose of the camera with the neck turned and nodded by two angles, rad."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    turn, centre = np.empty((3, 3)), np.empty(3)
    turn[0, 0], turn[0, 1], turn[0, 2] = cy * cp, -sy, -cy * sp
    turn[1, 0], turn[1, 1], turn[1, 2] = sy * cp, cy, -sy * sp
    turn[2, 0], turn[2, 1], turn[2, 2] = sp, 0.0, cp
    centre[0], centre[1], centre[2] = (
        EYE_OFFSET * turn[0, 2],
        EYE_OFFSET * turn[1, 2],
        NECK_HEIGHT + NOD_HEIGHT + EYE_OFFSET * turn[2, 2],
    )
    return CameraPose(turn, centre)


@kernel
def spot(polar: Floats, camera: CameraPose) -> Floats:
    """Where something is, seen from the torso (3,), that the camera sees at a distance [m] and two angles [degrees]."""
    turn, centre = camera
    left, up = polar[1] * RADIANS_PER_DEGREE, polar[2] * RADIANS_PER_DEGREE
    flat = polar[0] * math.cos(up)
    x, y, z = flat * math.cos(left), flat * math.sin(left), polar[0] * math.sin(up)
    out = np.empty(3)
    for i in range(3):
        out[i] = centre[i] + turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
    return out


@kernel
def onto_pitch(polar: Floats, camera: CameraPose, place: Floats, attitude: Floats) -> Floats:
    """The same on the pitch, (3,), for a torso at a place (3,) with an attitude (3, 3)."""
    seen, out = spot(polar, camera), np.empty(3)
    for i in range(3):
        out[i] = place[i] + attitude[i, 0] * seen[0] + attitude[i, 1] * seen[1] + attitude[i, 2] * seen[2]
    return out


# ----------------------------------------------------------------------------------------------------
# What an image says of where one stands, compiled: landmarks, lines as marks of the ground's height, and known lines.
#
# Landmarks are told apart by their names. Ends of lines are not (the view cuts lines off), but they lie on the
# ground, which gives tilt and height within milliradians and millimetres; and a line that can only be one of the
# pitch's says how far away from it one stands. Noise is that of `worlds.physical.vision`, and 3 mm for rounding and
# misplaced cameras.


DISTANCE_NOISE, LEFT_NOISE, UP_NOISE = 0.000965, 0.1480 * RADIANS_PER_DEGREE, 0.1225 * RADIANS_PER_DEGREE
"""Standard deviations of distance (relative) and angles [rad]."""
MIN_NOISE = 0.003
"""What nothing is measured better than [m]: two decimals on the wire, and a camera that is misplaced."""
MIN_LINE_LENGTH = 1.3
"""Shorter lines are not told apart: those of the centre circle are 1.24 m long [m]."""
LINE_END_MARGIN = 0.3
"""How far beyond the end of a line a part of it may be seen [m]."""
LINE_GATE, LINE_AMBIGUITY_GATE = 9.0, 36.0
"""A line is known if it is nearer than the first, and no other nearer than the second (squared, in deviations)."""
MAX_LINE_SKEW = 0.26
"""Lines are not the same whose directions differ by more [rad]."""


class Measured(NamedTuple):
    """Three numbers that an image tells of a point: distance, and the angles to the left and upwards."""

    rows: Floats
    """(3, 13) how they depend on the errors of the filter."""
    residuals: Floats
    """(3,) measured less expected."""
    variances: Floats
    """(3,)"""


@kernel
def new_measured() -> Measured:
    """Room for what is measured."""
    return Measured(np.zeros((3, STATE_SIZE)), np.zeros(3), np.zeros(3))


@kernel
def measure_point(polar: Floats, point: Floats, place: Floats, turn: Floats, camera: CameraPose, out: Measured) -> None:
    """Compares distance and angles (3,) of a point on the pitch (3,) with what is expected from a pose (3,), (3, 3)."""
    head, centre = camera
    rows, residuals, variances = out
    way = point - place
    torso, seen = np.empty(3), np.empty(3)
    for i in range(3):
        torso[i] = turn[0, i] * way[0] + turn[1, i] * way[1] + turn[2, i] * way[2] - centre[i]
    for i in range(3):
        seen[i] = head[0, i] * torso[0] + head[1, i] * torso[1] + head[2, i] * torso[2]
    x, y, z = seen[0], seen[1], seen[2]
    flat2 = max(x * x + y * y, 1e-8)
    flat, far2 = math.sqrt(flat2), flat2 + z * z
    far = math.sqrt(far2)
    rows[:] = 0.0
    slopes = (
        (x / far, y / far, z / far),
        (-y / flat2, x / flat2, 0.0),
        (-x * z / (flat * far2), -y * z / (flat * far2), flat / far2),
    )
    around = polar[1] * RADIANS_PER_DEGREE - math.atan2(y, x)
    residuals[0] = polar[0] - far
    residuals[1] = math.atan2(math.sin(around), math.cos(around))
    residuals[2] = polar[2] * RADIANS_PER_DEGREE - math.atan2(z, flat)
    least = MIN_NOISE / far
    variances[0] = (DISTANCE_NOISE * far) ** 2 + MIN_NOISE**2
    variances[1] = LEFT_NOISE * LEFT_NOISE + least * least
    variances[2] = UP_NOISE * UP_NOISE + least * least
    for k in range(3):
        a, b, c = slopes[k]
        for i in range(3):
            torso[i] = head[i, 0] * a + head[i, 1] * b + head[i, 2] * c
        for i in range(3):
            seen[i] = turn[i, 0] * torso[0] + turn[i, 1] * torso[1] + turn[i, 2] * torso[2]
        for i in range(3):
            rows[k, i] = -seen[i]
        rows[k, 3] = seen[1] * way[2] - seen[2] * way[1]
        rows[k, 4] = seen[2] * way[0] - seen[0] * way[2]
        rows[k, 5] = seen[0] * way[1] - seen[1] * way[0]


@kernel
def _see_marks(
    estimate: Estimate, camera: CameraPose, marks: Floats, points: Floats, lines: Floats, passes: int
) -> tuple[float, int]:
    """Takes K landmarks (K, 3), which are at points (K, 3), and L lines' ends (L, 2, 3) on the ground.

    Linearised anew `passes` times. Returns the sum of squared normalised innovations, and how many numbers there were;
    nothing is taken if the sum is more than such a sum can be by chance.
    """
    place, turn, slip, ball, cov = estimate
    trial = Estimate(place.copy(), turn.copy(), slip.copy(), ball.copy(), cov.copy())
    moved, row, measured = np.zeros(STATE_SIZE), np.zeros(STATE_SIZE), new_measured()
    sum_, numbers = 0.0, 3 * len(marks) + 2 * len(lines)
    for _ in range(passes):
        trial.cov[:] = cov
        delta, sum_ = -moved, 0.0
        for k in range(len(marks)):
            measure_point(marks[k], points[k], trial.place, trial.turn, camera, measured)
            for i in range(3):
                sum_ += take(trial.cov, delta, measured.rows[i], measured.residuals[i], measured.variances[i], 6)
        # The ends of lines are not told apart, but they lie on the ground: that gives height and tilt.
        for k in range(len(lines)):
            for e in range(2):
                end = onto_pitch(lines[k, e], camera, trial.place, trial.turn)
                row[2], row[3], row[4] = 1.0, end[1] - trial.place[1], trial.place[0] - end[0]
                variance = (LEFT_NOISE * lines[k, e, 0]) ** 2 + MIN_NOISE**2
                sum_ += take(trial.cov, delta, row, -end[2], variance, 6)
        inject(trial, delta)
        moved += delta
    if sum_ <= plausible(numbers):
        place[:], turn[:], slip[:], ball[:], cov[:] = trial
    return sum_, numbers


@kernel
def plausible(numbers: int) -> float:
    """What a sum of so many squared normal numbers stays below, nearly always."""
    return numbers + 15.0 + 6.0 * math.sqrt(2.0 * numbers)


@kernel
def _see_lines(estimate: Estimate, camera: CameraPose, lines: Floats, known: Floats) -> int:
    """Takes those of L lines (L, 2, 3) of which it is clear which of M known ones (M, 2, 2) they are; returns how many.

    Both ends are to lie on the known line.
    """
    delta, rows, count = np.zeros(STATE_SIZE), np.zeros((2, STATE_SIZE)), 0
    best_rows, offs, best_offs, variances = np.zeros((2, STATE_SIZE)), np.zeros(2), np.zeros(2), np.zeros(2)
    for k in range(len(lines)):
        one = onto_pitch(lines[k, 0], camera, estimate.place, estimate.turn)
        two = onto_pitch(lines[k, 1], camera, estimate.place, estimate.turn)
        if math.hypot(two[0] - one[0], two[1] - one[1]) < MIN_LINE_LENGTH:
            continue
        for e in range(2):
            variances[e] = (LEFT_NOISE * lines[k, e, 0]) ** 2 + (2 * MIN_NOISE) ** 2
        nearest, next_ = np.inf, np.inf
        for m in range(len(known)):
            away = _line_rows(known[m], one, two, estimate, delta, variances, rows, offs)
            if away < nearest:
                nearest, next_ = away, nearest
                best_rows[:], best_offs[:] = rows, offs
            elif away < next_:
                next_ = away
        if nearest < LINE_GATE and next_ > LINE_AMBIGUITY_GATE:
            count += 1
            for e in range(2):
                take(estimate.cov, delta, best_rows[e], -best_offs[e], variances[e], 6)
    if count:
        inject(estimate, delta)
    return count


@kernel
def _line_rows(
    known: Floats,
    one: Floats,
    two: Floats,
    estimate: Estimate,
    delta: Floats,
    variances: Floats,
    rows: Floats,
    offs: Floats,
) -> float:
    """How far both ends are off a known line: fills offs (2,) [m] and rows (2, 13); the worse in squared deviations."""
    place, cov, length = estimate.place, estimate.cov, math.hypot(two[0] - one[0], two[1] - one[1])
    x, y = known[1, 0] - known[0, 0], known[1, 1] - known[0, 1]
    whole = math.hypot(x, y)
    x, y = x / whole, y / whole
    if abs(x * (two[1] - one[1]) - y * (two[0] - one[0])) > length * (MAX_LINE_SKEW + 3.0 * math.sqrt(cov[5, 5])):
        return math.inf
    margin = LINE_END_MARGIN + 3.0 * math.sqrt(cov[0, 0] + cov[1, 1])
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
        self._lines = np.array([line for line in lines if math.dist(*line) > MIN_LINE_LENGTH])
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
        predict(self._estimate, motion, noise, self._rolling, step)
        self.seen_ago += step

    def see(self, sight: Sight, camera: CameraPose, acc: Floats) -> None:
        """Takes an image.

        Args:
            sight: what is seen.
            camera: its pose.
            acc: (3,) what the accelerometer tells, m/s²; needed to begin anew.
        """
        rows, points = self._named(sight.labels)
        marks, lines = sight.marks[rows], sight.lines
        if self.known:
            passes = 1 if self._estimate.cov[5, 5] < RELINEARISE_VARIANCE else 4
            self._take(marks, points, lines, camera, passes=passes)
        if not self.known:
            self._begin(marks, points, lines, camera, acc)
        if not self.known and self.seen_ago < BUMP_AGE:
            e = self._estimate
            e.cov[range(BALL), range(BALL)] += BUMP_VARIANCES
            self._take(marks, points, lines, camera, passes=4)

    def _take(self, marks: Floats, points: Floats, lines: Floats, camera: CameraPose, *, passes: int) -> None:
        """Corrects the pose, unless the image contradicts it: then the pose is not known any more."""
        e = self._estimate
        sum_, numbers = _see_marks(e, camera, marks, points, lines, passes)
        if sum_ > plausible(numbers):
            self.known = False
            return
        found = _see_lines(e, camera, lines, self._lines)
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

    def _begin(self, marks: Floats, points: Floats, lines: Floats, camera: CameraPose, acc: Floats) -> None:
        """Finds the pose from one image, if it can be."""
        if not len(marks):
            return
        seen = np.array([spot(mark, camera) for mark in marks])
        ends = np.array([spot(end, camera) for line in lines for end in line]).reshape(-1, 2, 3)
        for up in self._ups(acc):
            level = _level(up)
            found = self._fit(seen @ level.T, points, ends @ level.T)
            if found is None:
                continue
            self._start(*found, level)
            self.known = True
            self._take(marks, points, lines, camera, passes=6)
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
        if not len(lengths) or lengths.max() < MIN_LINE_LENGTH:
            return None
        longest = ways[int(np.argmax(lengths))]
        ends = ends[lengths > MIN_LINE_LENGTH].reshape(-1, 2)
        scores = []
        for quarter in range(4):
            heading = quarter * math.pi / 2 - math.atan2(longest[1], longest[0])
            place = point - _flat(heading) @ seen
            inside = bool(np.all(np.abs(place) < self._reach))
            misfit = _misfit(place + ends @ _flat(heading).T, self._lines) if inside else math.inf
            scores.append((misfit, heading))
        scores.sort()
        clear = scores[0][0] < LINE_FIT_DISTANCE and scores[1][0] > 2 * scores[0][0] + LINE_FIT_DISTANCE
        return scores[0][1] if clear else None

    def _start(self, x: float, y: float, heading: float, level: Floats) -> None:
        """Sets the pose with a wide spread; the ball stays where it is."""
        e = self._estimate
        e.place[:], e.slip[:] = (x, y, START_HEIGHT), 0.0
        e.turn[:2], e.turn[2] = _flat(heading) @ level[:2], level[2]
        e.cov[:BALL, :] = 0.0
        e.cov[:, :BALL] = 0.0
        e.cov[range(BALL), range(BALL)] = (1.0, 1.0, 0.25, 0.1, 0.1, 0.1, 0.01, 0.01)


START_HEIGHT = 0.35
"""Where a torso is at first; who is held up by the referee is at 1 m [m]."""
BUMP_AGE = 1.0
"""Who knew where it was so lately may only have been pushed, and is not lost at once [s]."""
BUMP_VARIANCES = (0.25, 0.25, 0.04, 0.04, 0.04, 0.1, 0.1, 0.1)
"""Variances that are added then: place [m²], attitude [rad²], slip [m²/s²]."""
RELINEARISE_VARIANCE = 0.05**2
"""Variance of the heading above which an image is linearised several times [rad²]."""
LINE_FIT_DISTANCE = 0.25
"""Lines fit whose ends are this near to lines of the pitch, on average [m]."""


def _flat(heading: float) -> Floats:
    """(2, 2) turns a vector on the ground by a heading, rad."""
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
