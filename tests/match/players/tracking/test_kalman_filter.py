"""The filter's arithmetic against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.players.tracking.kalman_filter import (
    BALL,
    PLACE,
    ROLL,
    SLIP,
    STATE_SIZE,
    TURN,
    inject,
    new_estimate,
    predict,
    take,
    turn_by,
)

QUIET = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def test_a_measured_number_has_the_effect_of_the_kalman_equations() -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(STATE_SIZE, STATE_SIZE))
    before = root @ root.T
    row, delta = rng.normal(size=STATE_SIZE), rng.normal(size=STATE_SIZE)
    residual, variance = 0.7, 0.3
    gain = before @ row / (row @ before @ row + variance)
    expected_delta = delta + gain * (residual - row @ delta)
    expected_cov = before - np.outer(gain, row @ before)
    cov = before.copy()
    surprise = take(cov, delta_now := delta.copy(), row, residual, variance, STATE_SIZE)
    assert delta_now == pytest.approx(expected_delta)
    assert cov == pytest.approx(expected_cov, abs=1e-9)
    assert surprise == pytest.approx((residual - row @ delta) ** 2 / (row @ before @ row + variance))


def test_turning_by_small_steps_is_turning_by_their_sum() -> None:
    turn = np.eye(3)
    for _ in range(90):
        turn_by(turn, 0.0, 0.0, math.radians(1.0))
    assert turn == pytest.approx(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), abs=1e-9)


def test_a_correction_of_the_attitude_is_in_the_frame_of_the_pitch() -> None:
    e = new_estimate()
    turn_by(e.turn, 0.0, math.pi / 2, 0.0)  # on its face: the body's axis ahead looks down
    delta = np.zeros(STATE_SIZE)
    delta[TURN + 2] = 0.1
    before = e.turn.copy()
    inject(e, delta)
    c, s = math.cos(0.1), math.sin(0.1)
    assert e.turn == pytest.approx(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ before, abs=1e-9)


def test_a_ball_rolls_as_far_as_its_drag_lets_it() -> None:
    e = new_estimate()
    e.ball[:] = 1.0, 2.0, 0.04, 2.0, -1.0
    for _ in range(500):
        predict(e, np.zeros(5), QUIET, 1.06, 0.02)
    assert e.ball[:2] == pytest.approx([1.0 + 2.0 / 1.06, 2.0 - 1.0 / 1.06], abs=1e-3)
    assert e.ball[3:] == pytest.approx(np.zeros(2), abs=1e-3)


def test_covariances_of_a_step_are_those_of_its_jacobian() -> None:
    rng = np.random.default_rng(4)
    e = new_estimate()
    turn_by(e.turn, 0.0, 0.0, 0.8)
    root = rng.normal(size=(STATE_SIZE, STATE_SIZE))
    e.cov[:] = root @ root.T
    before, motion = e.cov.copy(), np.array([0.03, -0.01, 0.0, 0.0, 0.05])
    c, s = math.cos(0.8), math.sin(0.8)
    dx, dy = c * 0.03 + s * 0.01, s * 0.03 - c * 0.01
    f, keep = np.eye(STATE_SIZE), math.exp(-1.06 * 0.02)
    f[PLACE, SLIP], f[PLACE, SLIP + 1], f[PLACE, TURN + 2] = 0.02 * c, -0.02 * s, -dy
    f[PLACE + 1, SLIP], f[PLACE + 1, SLIP + 1], f[PLACE + 1, TURN + 2] = 0.02 * s, 0.02 * c, dx
    for i in range(2):
        f[BALL + i, ROLL + i], f[ROLL + i, ROLL + i] = (1 - keep) / 1.06, keep
    predict(e, motion, QUIET, 1.06, 0.02)
    expected = f @ before @ f.T
    expected[BALL + 2, BALL + 2] = e.cov[BALL + 2, BALL + 2]
    assert e.cov == pytest.approx(expected, abs=1e-9)
    assert e.place[:2] == pytest.approx([dx, dy])
