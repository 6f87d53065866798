"""What a player's filter holds: its pose, its slip and the ball in one error-state Kalman filter.

    estimate = new_estimate()
    delta = np.zeros(SIZE)
    take(estimate.cov, delta, row, residual, variance, SIZE)       # one measured number
    inject(estimate, delta)

Pose and ball share one covariance, so that the ball is known well beside the player even while the player knows its own
place badly, and the ball's speed does not suffer from corrections of the pose. Errors, in order: place (3) and attitude
(3, a small turn in the pitch's frame), slip of the odometry (2, m/s in the body's frame), ball (3 place, 2 velocity).
Everything is in the frame of the pitch as landmarks are named, for both teams. The filter is the usual extended one in
its error-state form (e.g. Sola, "Quaternion kinematics for the error-state Kalman filter", 2017, chapters 5 and 6),
measurements taken number by number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import kernel

STATE_SIZE = 13
PLACE, TURN, SLIP, BALL, ROLL = 0, 3, 6, 8, 11
"""Where in the errors each part begins."""


class Estimate(NamedTuple):
    """Means, and the covariance of their errors; the arrays are written to."""

    place: Floats
    """(3,) of the torso, m."""
    turn: Floats
    """(3, 3) its attitude: turns the torso's frame into the pitch's."""
    slip: Floats
    """(2,) how much faster the torso is than the legs say, ahead and to the left, m/s."""
    ball: Floats
    """(5,) place, m, and velocity on the ground, m/s."""
    cov: Floats
    """(13, 13)."""


def new_estimate() -> Estimate:
    """An estimate of a player that knows nothing yet."""
    return Estimate(
        place=np.zeros(3), turn=np.eye(3), slip=np.zeros(2), ball=np.zeros(5), cov=np.diag(np.full(STATE_SIZE, 1.0))
    )


@kernel
def take(cov: Floats, delta: Floats, row: Floats, residual: float, variance: float, width: int) -> float:
    """Takes one measured number into covariance and errors (13,); returns its squared normalised innovation.

    `row` (13,) says how the number depends on the errors; only its first `width` entries are looked at.
    """
    size = len(delta)
    gain = np.empty(size)
    spread, expected = variance, 0.0
    for i in range(size):
        total = 0.0
        for j in range(width):
            total += cov[i, j] * row[j]
        gain[i] = total
    for j in range(width):
        spread += row[j] * gain[j]
        expected += row[j] * delta[j]
    surprise = residual - expected
    for i in range(size):
        share = gain[i] / spread
        delta[i] += share * surprise
        for j in range(size):
            cov[i, j] -= share * gain[j]
    return surprise * surprise / spread


@kernel
def turn_by(turn: Floats, x: float, y: float, z: float) -> None:
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


@kernel
def inject(estimate: Estimate, delta: Floats) -> None:
    """Corrects the means by errors (13,)."""
    place, turn, slip, ball, _ = estimate
    for i in range(3):
        place[i] += delta[PLACE + i]
    for i in range(2):
        slip[i] += delta[SLIP + i]
    for i in range(5):
        ball[i] += delta[BALL + i]
    x, y, z = delta[TURN], delta[TURN + 1], delta[TURN + 2]
    turn_by(
        turn,
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )
    straighten(turn)


@kernel
def straighten(turn: Floats) -> None:
    """Makes an attitude (3, 3) a rotation again that rounding has bent: rows of length 1 at right angles."""
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
def carry(cov: Floats, to: int, by: int, share: float) -> None:
    """What errors do when number `to` grows by a share of number `by`: rows and columns of the covariance follow."""
    for j in range(len(cov)):
        cov[to, j] += share * cov[by, j]
    for i in range(len(cov)):
        cov[i, to] += share * cov[i, by]


@kernel
def scale(cov: Floats, number: int, factor: float) -> None:
    """What errors do when a number is multiplied by a factor."""
    for j in range(len(cov)):
        cov[number, j] *= factor
    for i in range(len(cov)):
        cov[i, number] *= factor


@kernel
def forget(cov: Floats, first: int, count: int) -> None:
    """Takes numbers out of the covariance: zeros in their rows and columns."""
    for i in range(first, first + count):
        for j in range(len(cov)):
            cov[i, j] = 0.0
            cov[j, i] = 0.0


@kernel
def predict(estimate: Estimate, motion: Floats, noise: Floats, rolling: float, step: float) -> None:
    """Lets a time step pass, in place.

    `motion` (5,): how far ahead and to the left the legs went [m], and the turn of the torso in its own frame [rad].
    `noise` (7,): variances added to place (x and y alike), height, attitude, slip; slip's decay; the ball's velocity's
    variance, and what is added to that along its way for each m²/s².
    `rolling`: how fast a rolling ball slows down [1/s].
    """
    place, turn, slip, ball, cov = estimate
    size = math.sqrt(turn[0, 0] ** 2 + turn[1, 0] ** 2)
    c, s = (turn[0, 0] / size, turn[1, 0] / size) if size > 1e-6 else (1.0, 0.0)
    ahead, left = motion[0] + step * slip[0], motion[1] + step * slip[1]
    dx, dy = c * ahead - s * left, s * ahead + c * left
    place[0] += dx
    place[1] += dy
    carry(cov, PLACE, SLIP, c * step)
    carry(cov, PLACE, SLIP + 1, -s * step)
    carry(cov, PLACE + 1, SLIP, s * step)
    carry(cov, PLACE + 1, SLIP + 1, c * step)
    carry(cov, PLACE, TURN + 2, -dy)
    carry(cov, PLACE + 1, TURN + 2, dx)
    decay, keep = noise[4], math.exp(-rolling * step)
    reach = (1.0 - keep) / rolling if rolling > 0.0 else step
    cov[ROLL, ROLL] += noise[6] * ball[3] ** 2
    cov[ROLL + 1, ROLL + 1] += noise[6] * ball[4] ** 2
    cov[ROLL, ROLL + 1] += noise[6] * ball[3] * ball[4]
    cov[ROLL + 1, ROLL] += noise[6] * ball[3] * ball[4]
    for i in range(2):
        slip[i] *= decay
        scale(cov, SLIP + i, decay)
        ball[i] += reach * ball[3 + i]
        ball[3 + i] *= keep
        carry(cov, BALL + i, ROLL + i, reach)
        scale(cov, ROLL + i, keep)
        cov[PLACE + i, PLACE + i] += noise[0]
        cov[SLIP + i, SLIP + i] += noise[3]
        cov[BALL + i, BALL + i] += noise[5] * step * step
        cov[ROLL + i, ROLL + i] += noise[5]
    for i in range(3):
        cov[TURN + i, TURN + i] += noise[2]
    cov[PLACE + 2, PLACE + 2] += noise[1]
    cov[BALL + 2, BALL + 2] += BOUNCE_HEIGHT**2
    turn_by(turn, motion[2], motion[3], motion[4])
    straighten(turn)


BOUNCE_HEIGHT = 0.03
"""How much a ball's height may change in a cycle [m]; it is seen so well that the filter just follows it."""
