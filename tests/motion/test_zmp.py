"""Preview control of the ZMP: the Riccati equation, the gains, and the motion they give."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import ModelError
from nutmeg.motion.zmp import PreviewControl, PreviewSettings

HEIGHTS = [0.2, 0.26, 0.5]


def walking_reference(seconds: float = 8.0, period: float = 0.01) -> np.ndarray:
    """Steps to the left and right, and ahead, with a tenth of a second from foot to foot, (T, 2)."""
    times = np.arange(round(seconds / period)) * period
    knots = np.arange(1.0, 6.0, 0.5)
    when = np.ravel([knots, knots + 0.1], order="F")
    aside = np.array([0.05 * (-1) ** k for k in range(len(knots) - 1)] + [0.0])
    y = np.interp(times, when, np.ravel([np.append(0, aside[:-1]), aside], order="F"))
    x = np.interp(times, when, np.ravel([np.arange(len(knots)), np.arange(1, len(knots) + 1)], order="F") * 0.05)
    return np.stack([x - x[0], y], axis=-1)


@pytest.mark.parametrize("height", HEIGHTS)
def test_the_riccati_matrix_solves_its_equation(height: float) -> None:
    control = PreviewControl(height)
    p, r, c = control.riccati, control.settings.jerk_weight, control.c
    a = np.block([[np.eye(1), (c @ control.a)[None]], [np.zeros((3, 1)), control.a]])
    b = np.concatenate([[c @ control.b], control.b])
    gain = b @ p @ a / (r + b @ p @ b)
    q = np.diag([control.settings.error_weight, 0, 0, 0])
    np.testing.assert_allclose(a.T @ p @ (a - np.outer(b, gain)) + q, p, rtol=1e-7, atol=1e-9 * p.max())


def test_the_closed_loop_is_stable_at_every_height() -> None:
    for height in np.linspace(0.1, 1.0, 19):
        assert np.abs(np.linalg.eigvals(PreviewControl(float(height)).closed)).max() < 1


def test_gains_fade_within_the_preview() -> None:
    for height in HEIGHTS:
        control = PreviewControl(height)
        assert control.preview[0] == pytest.approx(-control.integral)
        assert np.abs(control.preview[-1]) < 2e-3 * np.abs(control.preview).max()


def test_gains_no_longer_change_with_a_longer_preview() -> None:
    short = PreviewControl(0.26)
    long = PreviewControl(0.26, PreviewSettings(preview=3.2))
    np.testing.assert_allclose(long.preview[:160], short.preview)
    # weight still and centred: all gains together cancel
    assert long.state[0] + long.preview.sum() == pytest.approx(0, abs=1e-4 * long.state[0])


def test_the_zmp_follows_a_walking_reference() -> None:
    reference = walking_reference()
    for height in HEIGHTS:
        error = PreviewControl(height).follow(reference).zmp - reference
        assert np.sqrt((error**2).mean(axis=0)).max() < 0.003
        assert np.abs(error).max() < 0.015


def test_the_zmp_that_is_told_is_that_of_the_motion() -> None:
    control = PreviewControl(0.26)
    path, period = control.follow(walking_reference()), control.settings.period
    accelerated = np.diff(path.position, 2, axis=0) / period**2
    zmp = path.position[1:-1] - 0.26 / 9.81 * accelerated
    np.testing.assert_allclose(path.zmp[1:-1], zmp, atol=2e-3)
    np.testing.assert_allclose(np.diff(path.position, axis=0) / period, path.velocity[:-1], atol=1e-2)


def test_the_body_starts_to_move_before_the_reference_does() -> None:
    reference = np.where(np.arange(600)[:, None] < 300, 0.0, 0.05)
    path = PreviewControl(0.26).follow(reference)
    assert path.position[299, 0] > 0.01


def test_in_the_end_the_body_rests_above_the_reference() -> None:
    reference = walking_reference(12.0)
    for height in HEIGHTS:
        path = PreviewControl(height).follow(reference)
        np.testing.assert_allclose(path.position[-1], reference[-1], atol=1e-5)
        np.testing.assert_allclose(path.velocity[-1], 0, atol=1e-5)


def test_standing_still_stays_still_to_the_last_bit() -> None:
    path = PreviewControl(0.26).follow(np.full((300, 2), 0.07))
    assert (path.position == 0.07).all()


def test_a_reference_twice_as_wide_gives_twice_the_sway() -> None:
    control = PreviewControl(0.26)
    one, two = control.follow(walking_reference()), control.follow(2 * walking_reference())
    np.testing.assert_allclose(two.position, 2 * one.position, atol=1e-9)


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match="above 0"):
        PreviewControl(0.0)
    with pytest.raises(ValueError, match="jerk_weight"):
        PreviewSettings(jerk_weight=0.0)
    with pytest.raises(ValueError, match="preview"):
        PreviewSettings(preview=0.001)
