"""Vision of the 3D simulation league: from polar coordinates to sightings on the ground for the tracker.

    attitudes = new_attitudes()
    turn = turn_attitude(attitudes, gyro, 0.02, upright=True)               # every cycle; rad to the left
    known = read_sight(attitudes, image, camera, acc, ground)      # with every image

Landmarks, lines and players are seen as distance and two angles from the camera in the head. Their places on the ground
follow from the torso's tilt and height. These are estimated here, separately from the place on the pitch:
the height of a seen point above the ground, `h + (R s)_z`, does not depend on where the player stands nor on its
heading, and the heights of landmarks (corners 0, goal posts that of the goal) and of ends of lines (0) are known. The
gyroscope turns the attitude R in between (the league's has no noise). The results are distances and bearings on the
ground, from the point below the middle of the torso (`filters` takes them).

The filter of tilt and height is an extended Kalman filter in its error-state form (e.g. Sola, "Quaternion kinematics
for the error-state Kalman filter", 2017, chapters 5 and 6), with sequential scalar measurements.

Frames have x ahead, y to the left, z up. The neck turns about z by `hj1` and nods by `hj2`, up being positive; the
camera is in the middle of the head. Lengths are those of rcssserver3d's naoneckhead.rsg, as in the robot table
`nao-spark`: all types have the same head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.arrays import Floats
from nutmeg.base.constants import GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.base.records import Records, new_records
from nutmeg.match.players.tracking.records import LinePart
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.vision import SightingRecord

if TYPE_CHECKING:
    from nutmeg.base.arrays import Ints

NECK_HEIGHT = 0.09
"""Distance from the middle of the torso up to the neck [m]."""
NOD_HEIGHT = 0.06
"""Distance from the neck up to the axis about which the head nods [m]."""
_EYE_OFFSET = 0.005  # distance from that axis to the camera [m]
HALF_VIEW = math.radians(60.0)
"""Half the angle of the camera's view, horizontally and vertically [rad]."""
YAW_LIMIT = math.radians(120.0)
"""Largest yaw of the neck to each side [rad]."""
_RADIANS_PER_DEGREE = math.pi / 180.0

_DISTANCE_NOISE, LEFT_NOISE, _UP_NOISE = 0.000965, 0.1480 * _RADIANS_PER_DEGREE, 0.1225 * _RADIANS_PER_DEGREE
"""Standard deviations of distance (relative) and angles [rad], as in `worlds.physical.vision`."""
MIN_NOISE = 0.003
"""Least standard deviation of a measured place [m]: two decimals on the wire, and a misplaced camera."""
MIN_LINE_LENGTH = 1.3
"""Shorter lines are ignored, because those of the centre circle, of 1.24 m, cannot be distinguished [m]."""
_TURN_JITTER, _HEIGHT_JITTER = 0.0005, 0.004
"""Process noise of each cycle: standard deviations of tilt [rad] and height [m]; the latter is four times as large for
a falling robot."""
_START_HEIGHT = 0.35  # initial height of a torso; a player that is held up by the referee is at 1 m [m]
_START_VARIANCES = (0.1, 0.1, 0.25)  # variances of tilt [rad²] and height [m²] of an attitude that is estimated anew
# variance of tilt, of both axes together, above which the attitude is estimated anew [rad²]
_MAX_TILT_VARIANCE = 0.1**2
LYING_HEAD_HEIGHT = 0.33
"""A robot whose head is below this lies [m]: heads of walking players are at 0.45 m and more, of lying ones below 0.2
m."""
BALL_CODE, NO_CODE = -1, -2
"""Codes that are no landmarks: the ball, and anything else."""
_MAX_THINGS = 32  # largest number of landmarks, balls and players in an image
_MAX_PARTS = 64  # largest number of lines in an image
_VIEW_EDGE = 0.17  # a ball within this angle of the view's edge may be just outside [rad]
_MIN_VISIBLE_DISTANCE = 0.3  # balls nearer than this may be hidden by the limit of the camera [m]


class CameraPose(NamedTuple):
    """Where the camera is in the torso's frame, and where it looks."""

    turn: Floats
    """(3, 3) turns the camera's frame into the torso's."""
    centre: Floats
    """(3,) where the camera is, m."""


@dataclass
class Attitude:
    """How a torso is turned, and how high it is, with the covariance of errors in tilt and height."""

    turn: Annotated[Floats, (3, 3)]
    """Turns the torso's frame into that of the pitch."""
    height: float
    """Height of the torso's middle, m."""
    covariance: Annotated[Floats, (3, 3)]
    """Covariance of a small rotation about the pitch's x and y [rad], and of the height [m]."""


class Image(NamedTuple):
    """The content of an image in polar coordinates: distance [m], and angles to the left and upwards [degrees]."""

    marks: Floats
    """(K, 3) landmarks and the ball."""
    codes: Ints
    """(K,) rows of the landmarks in a table, or `BALL_CODE`."""
    lines: Floats
    """(L, 2, 3) both ends of lines."""
    parts: Floats
    """(P, 5, 3) head, lower arms and feet of players; NaN is out of view."""
    players: Ints
    """(P,) their rows in a belief, own team first; -1 for unknown players."""


class GroundSight(NamedTuple):
    """Sightings on the ground; arrays are filled, and the first `counts` entries are valid."""

    things: Records[SightingRecord]
    parts: Records[LinePart]
    counts: Ints
    """(2,) how many of both."""
    heights: Floats
    """(landmarks + 1,) heights of the landmarks, m, and last, written, that of the ball."""


def new_attitudes() -> Records[Attitude]:
    """(1,) the attitude of a torso that stands, as far as one knows."""
    attitudes = new_records(Attitude, 1)
    attitudes["turn"], attitudes["height"], attitudes["covariance"] = (
        np.eye(3),
        _START_HEIGHT,
        np.diag(_START_VARIANCES),
    )
    return attitudes


def new_ground_sight(heights: Floats) -> GroundSight:
    """Room for what an image shows; heights (landmarks,) are those of the landmarks, m."""
    return GroundSight(
        things=new_records(SightingRecord, _MAX_THINGS),
        parts=new_records(LinePart, _MAX_PARTS),
        counts=np.zeros(2, np.int64),
        heights=np.append(heights, 0.0),
    )


# ---- geometry


@kernel
def head_frame(yaw: float, pitch: float) -> CameraPose:
    """The pose of the camera with the neck turned and nodded by two angles, rad."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    turn, centre = np.empty((3, 3)), np.empty(3)
    turn[0, 0], turn[0, 1], turn[0, 2] = cy * cp, -sy, -cy * sp
    turn[1, 0], turn[1, 1], turn[1, 2] = sy * cp, cy, -sy * sp
    turn[2, 0], turn[2, 1], turn[2, 2] = sp, 0.0, cp
    centre[0], centre[1], centre[2] = (
        _EYE_OFFSET * turn[0, 2],
        _EYE_OFFSET * turn[1, 2],
        NECK_HEIGHT + NOD_HEIGHT + _EYE_OFFSET * turn[2, 2],
    )
    return CameraPose(turn, centre)


@kernel
def spot(polar: Floats, camera: CameraPose) -> Floats:
    """Where something is, seen from the torso (3,), that the camera sees at a distance [m] and two angles [degrees]."""
    turn, centre = camera
    left, up = polar[1] * _RADIANS_PER_DEGREE, polar[2] * _RADIANS_PER_DEGREE
    flat = polar[0] * math.cos(up)
    x, y, z = flat * math.cos(left), flat * math.sin(left), polar[0] * math.sin(up)
    out = np.empty(3)
    for i in range(3):
        out[i] = centre[i] + turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
    return out


@kernel
def _level(polar: Floats, camera: CameraPose, attitude: Attitude) -> Floats:
    """A seen point (3,) along the pitch's x and y from the point below the torso, and its height above the ground."""
    seen, turn, out = spot(polar, camera), attitude.turn, np.empty(3)
    for i in range(3):
        out[i] = turn[i, 0] * seen[0] + turn[i, 1] * seen[1] + turn[i, 2] * seen[2]
    out[2] += attitude.height
    return out


@kernel
def _turn_by(turn: Floats, x: float, y: float, z: float) -> None:
    """Turns an attitude (3, 3) by a small vector in the torso's frame, in place (Rodrigues' formula)."""
    angle = math.sqrt(x * x + y * y + z * z)
    first = math.sin(angle) / angle if angle > 1e-9 else 1.0
    second = (1.0 - math.cos(angle)) / (angle * angle) if angle > 1e-9 else 0.5
    for i in range(3):
        a, b, c = turn[i, 0], turn[i, 1], turn[i, 2]
        # (a, b, c) (I + first [v] + second [v]^2) with v = (x, y, z)
        p, q, r = b * z - c * y, c * x - a * z, a * y - b * x
        turn[i, 0] = a + first * p + second * (q * z - r * y)
        turn[i, 1] = b + first * q + second * (r * x - p * z)
        turn[i, 2] = c + first * r + second * (p * y - q * x)
    # Rounding bends the matrix in time: rows of length 1 at right angles make it a rotation again.
    size = math.sqrt(turn[0, 0] ** 2 + turn[0, 1] ** 2 + turn[0, 2] ** 2)
    dot = 0.0
    for j in range(3):
        turn[0, j] /= size
        dot += turn[0, j] * turn[1, j]
    for j in range(3):
        turn[1, j] -= dot * turn[0, j]
    size = math.sqrt(turn[1, 0] ** 2 + turn[1, 1] ** 2 + turn[1, 2] ** 2)
    for j in range(3):
        turn[1, j] /= size
    turn[2, 0] = turn[0, 1] * turn[1, 2] - turn[0, 2] * turn[1, 1]
    turn[2, 1] = turn[0, 2] * turn[1, 0] - turn[0, 0] * turn[1, 2]
    turn[2, 2] = turn[0, 0] * turn[1, 1] - turn[0, 1] * turn[1, 0]


@kernel
def _heading(turn: Floats) -> float:
    """Where the torso's x axis points on the ground, rad."""
    return math.atan2(turn[1, 0], turn[0, 0])


@kernel
def turn_heading(attitudes: Records[Attitude], heading: float) -> None:
    """Turns an attitude (1,) about the pitch's z axis, so that it has a heading, rad."""
    turn = attitudes[0].turn
    angle = heading - _heading(turn)
    c, s = math.cos(angle), math.sin(angle)
    for j in range(3):
        a, b = turn[0, j], turn[1, j]
        turn[0, j], turn[1, j] = c * a - s * b, s * a + c * b


@kernel
def turn_attitude(attitudes: Records[Attitude], gyro: Floats, step: float, upright: bool) -> float:
    """Advances an attitude (1,) by a cycle; returns how far the heading has turned to the left, rad.

    `gyro` (3,) is as percepts have it: degrees a second, x to the right, y ahead, z up.
    """
    attitude, radians = attitudes[0], step * _RADIANS_PER_DEGREE
    before = _heading(attitude.turn)
    _turn_by(attitude.turn, radians * gyro[1], -radians * gyro[0], radians * gyro[2])
    for i in range(2):
        attitude.covariance[i, i] += _TURN_JITTER**2
    attitude.covariance[2, 2] += (_HEIGHT_JITTER if upright else 4.0 * _HEIGHT_JITTER) ** 2
    return wrap_angle_exactly(_heading(attitude.turn) - before)


# ---- tilt and height


@kernel
def _take_heights(attitude: Attitude, camera: CameraPose, image: Image, heights: Floats) -> bool:
    """Corrects tilt and height by what is seen at known heights; False, and nothing, if it contradicts them."""
    total, count = 0.0, 0
    delta, row, gain, covariance = np.zeros(3), np.empty(3), np.empty(3), attitude.covariance.copy()
    for k in range(len(image.marks) + 2 * len(image.lines)):
        if k < len(image.marks):
            if image.codes[k] < 0:
                continue
            polar, known = image.marks[k], heights[image.codes[k]]
        else:
            # Ends of lines cannot be identified (the view cuts lines off), but they lie on the ground.
            line = k - len(image.marks)
            polar, known = image.lines[line // 2, line % 2], 0.0
        place = _level(polar, camera, attitude)
        row[0], row[1], row[2] = place[1], -place[0], 1.0
        spread, expected = (_UP_NOISE * polar[0]) ** 2 + MIN_NOISE**2, 0.0
        for i in range(3):
            gain[i] = covariance[i, 0] * row[0] + covariance[i, 1] * row[1] + covariance[i, 2] * row[2]
            expected += row[i] * delta[i]
        spread += row[0] * gain[0] + row[1] * gain[1] + row[2] * gain[2]
        surprise = known - place[2] - expected
        for i in range(3):
            delta[i] += gain[i] / spread * surprise
            for j in range(3):
                covariance[i, j] -= gain[i] * gain[j] / spread
        total += surprise * surprise / spread
        count += 1
    # Nearly all sums of this number of squared normal variables stay below this limit.
    if total > count + 15.0 + 6.0 * math.sqrt(2.0 * count):
        return False
    turn = attitude.turn
    x, y = delta[0], delta[1]
    _turn_by(turn, turn[0, 0] * x + turn[1, 0] * y, turn[0, 1] * x + turn[1, 1] * y, turn[0, 2] * x + turn[1, 2] * y)
    attitude.height += delta[2]
    attitude.covariance[:] = covariance
    return True


@kernel
def _begin_attitude(attitude: Attitude, camera: CameraPose, image: Image, acc: Floats, heights: Floats) -> bool:
    """Estimates tilt and height anew from one image, first with the accelerometer's upward direction, then upright."""
    strength = math.sqrt(acc[0] ** 2 + acc[1] ** 2 + acc[2] ** 2)
    heading = _heading(attitude.turn)
    for attempt in range(2):
        up = np.zeros(3)
        up[2] = 1.0
        if attempt == 0:
            # The accelerometer says nothing about the tilt of a torso that is being pushed.
            if abs(strength - GRAVITY) > 0.2 * GRAVITY:
                continue
            up[0], up[1], up[2] = acc[1] / strength, -acc[0] / strength, acc[2] / strength
        _stand(attitude, up, heading)
        known = True
        for _ in range(4):  # linearised anew each time
            attitude.covariance[:] = 0.0
            for i in range(3):
                attitude.covariance[i, i] = _START_VARIANCES[i]
            known = known and _take_heights(attitude, camera, image, heights)
        if known:
            return True
    return False


@kernel
def _stand(attitude: Attitude, up: Floats, heading: float) -> None:
    """Sets an attitude by the direction that is up in the torso's frame (3,), and a heading."""
    ahead = np.zeros(3)
    if abs(up[0]) < 0.95:
        ahead[0] = 1.0
    else:
        ahead[2] = -math.copysign(1.0, up[0])
    along = up[0] * ahead[0] + up[1] * ahead[1] + up[2] * ahead[2]
    ahead -= along * up
    ahead /= math.sqrt(ahead[0] ** 2 + ahead[1] ** 2 + ahead[2] ** 2)
    left = np.array(
        [up[1] * ahead[2] - up[2] * ahead[1], up[2] * ahead[0] - up[0] * ahead[2], up[0] * ahead[1] - up[1] * ahead[0]]
    )
    c, s = math.cos(heading), math.sin(heading)
    for j in range(3):
        attitude.turn[0, j], attitude.turn[1, j] = c * ahead[j] - s * left[j], s * ahead[j] + c * left[j]
        attitude.turn[2, j] = up[j]
    attitude.height = _START_HEIGHT


# ---- sightings


@kernel
def read_sight(attitudes: Records[Attitude], image: Image, camera: CameraPose, acc: Floats, out: GroundSight) -> bool:
    """Corrects an attitude (1,) by an image, and fills `out` with what it shows on the ground.

    Args:
        attitudes: (1,).
        image: what is seen.
        camera: its pose.
        acc: (3,) measurement of the accelerometer, m/s².
        out: written.

    Returns: whether tilt and height are known; if they are not, nothing is seen.
    """
    attitude, landmarks = attitudes[0], len(out.heights) - 1
    out.counts[:] = 0
    # Where tilt is hardly known, one linearisation is not enough.
    known = attitude.covariance[0, 0] + attitude.covariance[1, 1] < _MAX_TILT_VARIANCE
    known = known and _take_heights(attitude, camera, image, out.heights)
    if not known and not _begin_attitude(attitude, camera, image, acc, out.heights):
        return False
    heading = _heading(attitude.turn)
    for k in range(len(image.marks)):
        code = image.codes[k]
        place = _level(image.marks[k], camera, attitude)
        if code == BALL_CODE:
            out.heights[landmarks] = place[2]
        if code >= BALL_CODE and out.counts[0] < _MAX_THINGS:
            thing = out.things[out.counts[0]]
            out.counts[0] += 1
            _place(thing, place[0], place[1], place[2] - attitude.height, heading)
            thing.kind = ObjectKind.BALL if code == BALL_CODE else ObjectKind.POST
            thing.number = max(code + 1, 0)
    for k in range(len(image.players)):
        if image.players[k] >= 0 and out.counts[0] < _MAX_THINGS:
            _see_player(out, image.parts[k], image.players[k], camera, attitude, heading)
    for k in range(len(image.lines)):
        _see_line(out, image.lines[k], camera, attitude, heading)
    return True


@kernel
def _place(thing: SightingRecord, x: float, y: float, up: float, heading: float) -> None:
    """Puts a thing at a place relative to the point below the torso, and at a height above the ground, m."""
    far = math.sqrt(x * x + y * y + up * up)
    thing.distance, thing.bearing = math.hypot(x, y), wrap_angle_exactly(math.atan2(y, x) - heading)
    # The angle upwards is wrong as well: what is far below or above the camera looks nearer or farther for that.
    thing.spread = math.hypot(_DISTANCE_NOISE * far, _UP_NOISE * up)
    thing.turn, thing.number, thing.lying = math.nan, 0, False


@kernel
def _see_player(
    out: GroundSight, parts: Floats, row: int, camera: CameraPose, attitude: Attitude, heading: float
) -> None:
    """Adds the place of a player of which parts (5, 3) are seen.

    The head of a standing player is above its feet, so that either gives its place; of a lying one both
    together do, and the head is low.
    """
    arms, feet, top, lies = np.zeros(3), np.zeros(3), np.zeros(3), False
    for part in range(5):
        if math.isnan(parts[part, 0]):
            continue
        where = _level(parts[part], camera, attitude)
        sums = top if part == 0 else arms if part < 3 else feet
        sums[0] += where[0]
        sums[1] += where[1]
        sums[2] += 1.0
        if part == 0:
            lies = where[2] < LYING_HEAD_HEIGHT
    # The mean of head and feet; several feet count as one. Arms swing, so they count only if nothing else is seen.
    has_top, has_feet = min(top[2], 1.0), min(feet[2], 1.0)
    if has_top + has_feet > 0.0:
        share = 1.0 / feet[2] if feet[2] > 0.0 else 0.0
        x = (top[0] + share * feet[0]) / (has_top + has_feet)
        y = (top[1] + share * feet[1]) / (has_top + has_feet)
    elif arms[2] > 0.0:
        x, y = arms[0] / arms[2], arms[1] / arms[2]
    else:
        return
    thing = out.things[out.counts[0]]
    out.counts[0] += 1
    _place(thing, x, y, 0.0, heading)
    thing.kind = ObjectKind.MATE if row < MAX_PLAYERS else ObjectKind.OPPONENT
    thing.number, thing.lying = row % MAX_PLAYERS + 1, lies


@kernel
def _see_line(out: GroundSight, line: Floats, camera: CameraPose, attitude: Attitude, heading: float) -> None:
    """Adds a line (2, 3) if it is long enough to be distinguished from others."""
    one, two = _level(line[0], camera, attitude), _level(line[1], camera, attitude)
    if math.hypot(two[0] - one[0], two[1] - one[1]) < MIN_LINE_LENGTH or out.counts[1] >= _MAX_PARTS:
        return
    part = out.parts[out.counts[1]]
    out.counts[1] += 1
    c, s = math.cos(heading), math.sin(heading)
    part.ahead, part.left = c * one[0] + s * one[1], c * one[1] - s * one[0]
    part.other_ahead, part.other_left = c * two[0] + s * two[1], c * two[1] - s * two[0]
    part.spread = math.hypot(LEFT_NOISE * line[0, 0], 2.0 * MIN_NOISE)
    part.other_spread = math.hypot(LEFT_NOISE * line[1, 0], 2.0 * MIN_NOISE)


@kernel
def is_in_view(attitudes: Records[Attitude], camera: CameraPose, x: float, y: float, z: float) -> bool:
    """Whether a ball at (x, y, z) from the player along the pitch's axes, m, should be in view."""
    turn = attitudes[0].turn
    z -= attitudes[0].height
    torso, seen = np.empty(3), np.empty(3)
    for i in range(3):
        torso[i] = turn[0, i] * x + turn[1, i] * y + turn[2, i] * z - camera.centre[i]
    for i in range(3):
        seen[i] = camera.turn[0, i] * torso[0] + camera.turn[1, i] * torso[1] + camera.turn[2, i] * torso[2]
    aside, up = abs(math.atan2(seen[1], seen[0])), abs(math.atan2(seen[2], math.hypot(seen[0], seen[1])))
    far = math.sqrt(seen[0] ** 2 + seen[1] ** 2 + seen[2] ** 2)
    return max(aside, up) < HALF_VIEW - _VIEW_EDGE and far > _MIN_VISIBLE_DISTANCE
