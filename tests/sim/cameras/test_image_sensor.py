"""An image sensor against its equations: brightness, noise, steps, colours."""

from __future__ import annotations

import dataclasses
import math

import mujoco
import numpy as np
import pytest

from nutmeg.model.sensors import CameraSettings
from nutmeg.sim.cameras import CameraEffects, RobotCamera
from nutmeg.sim.cameras.image_sensor import (
    SCREEN_GAMMA,
    Exposure,
    add_noise,
    collect,
    convert,
    demosaic,
    initial_exposure,
    mean_signal,
    mosaic,
    next_exposure,
    noise_deviation,
    tint,
    to_light,
    to_picture,
)


def grey(value: float, shape: tuple[int, ...] = (1, 4, 4, 3)) -> np.ndarray:
    return np.full(shape, value, np.float32)


def test_a_picture_comes_back_from_its_light() -> None:
    values = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3)
    back = to_picture(to_light(values))
    assert np.abs(back.astype(int) - values)[values > 30].max() == 0
    assert to_light(values)[0, 8, 0, 0] == pytest.approx((128 / 255) ** SCREEN_GAMMA, rel=1e-6)


def test_gamma_is_a_power_of_the_signal() -> None:
    for gamma in (1.0, 1.8, 2.4):
        assert to_picture(grey(0.25), gamma)[0, 0, 0, 0] == round(255 * 0.25 ** (1 / gamma))
    assert to_picture(grey(1.7)).max() == 255
    assert to_picture(grey(-0.2)).max() == 0


def test_twice_the_exposure_collects_twice_the_light_until_pixels_are_full() -> None:
    settings = CameraSettings(exposure=0.02, white_exposure=0.01)
    assert collect(grey(0.2), settings)[0, 0, 0, 0] == pytest.approx(0.4)
    assert collect(grey(0.9), settings)[0, 0, 0, 0] == 1.0


@pytest.mark.parametrize("level", [0.05, 0.2, 0.8])
def test_the_variance_of_shot_noise_is_the_signal_in_electrons(level: float) -> None:
    settings = CameraSettings(full_well=4000)
    noisy = add_noise(grey(level, (4, 200, 200, 3)), settings, np.random.default_rng(1))
    electrons = noisy.astype(np.float64) * 4000
    assert electrons.mean() == pytest.approx(level * 4000, rel=1e-3)
    assert electrons.var() == pytest.approx(level * 4000, rel=0.02)


def test_read_noise_is_there_in_the_dark_and_adds_in_squares() -> None:
    settings = CameraSettings(full_well=1000, read_noise=20)
    assert noise_deviation(grey(0.0), settings)[0, 0, 0, 0] == pytest.approx(0.02)
    assert noise_deviation(grey(0.5), settings)[0, 0, 0, 0] == pytest.approx(np.sqrt(500 + 400) / 1000)


def test_gain_amplifies_noise_along() -> None:
    settings = CameraSettings(full_well=2000)
    noisy = add_noise(grey(0.1, (4, 100, 100, 3)), settings, np.random.default_rng(2))
    amplified = convert(noisy, gain=4.0, bits=16)
    assert amplified.mean() == pytest.approx(0.4, rel=5e-3)
    assert amplified.std() == pytest.approx(4 * np.sqrt(0.1 / 2000), rel=0.02)


def test_a_converter_has_as_many_steps_as_its_bits() -> None:
    ramp = np.linspace(-0.1, 1.1, 5000, dtype=np.float32).reshape(1, 50, 100)
    steps = np.unique(convert(ramp, gain=1.0, bits=4))
    np.testing.assert_allclose(steps, np.arange(16) / 15, atol=1e-6)


def test_the_right_balance_makes_white_white_again() -> None:
    seen = tint(grey(0.5), 0.8, 0.5)
    np.testing.assert_allclose(seen[0, 0, 0], [0.4, 0.5, 0.25], rtol=1e-6)
    np.testing.assert_allclose(tint(seen, 1 / 0.8, 2.0), grey(0.5), rtol=1e-6)


def test_the_same_generator_makes_the_same_noise() -> None:
    settings = CameraSettings(full_well=1000)
    first, second = (add_noise(grey(0.3), settings, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)


# ----------------------------------------------------------------------------------------------------
# The Bayer filter: what pixels see, and what is guessed.


PATTERNS = ("rggb", "bggr", "grbg", "gbrg")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_picture_of_one_colour_comes_back_as_it_was(pattern: str) -> None:
    flat = np.empty((2, 7, 9, 3), np.float32)
    flat[:] = [0.2, 0.5, 0.9]
    np.testing.assert_allclose(demosaic(mosaic(flat, pattern), pattern), flat, rtol=1e-6)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pixel_keeps_the_colour_that_it_saw(pattern: str) -> None:
    light = np.random.default_rng(3).random((1, 6, 8, 3), dtype=np.float32)
    raw = mosaic(light, pattern)
    guessed = demosaic(raw, pattern)
    for place, letter in enumerate(pattern):
        row, column = divmod(place, 2)
        colour = "rgb".index(letter)
        seen = light[:, row::2, column::2, colour]
        assert np.array_equal(raw[:, row::2, column::2], seen)
        np.testing.assert_allclose(guessed[:, row::2, column::2, colour], seen, rtol=1e-6)


def test_what_is_missing_is_the_mean_of_the_neighbours() -> None:
    raw = np.arange(16, dtype=np.float32).reshape(1, 4, 4)
    guessed = demosaic(raw, "rggb")[0]
    assert guessed[1, 1, 0] == pytest.approx((0 + 2 + 8 + 10) / 4)  # red from four corners
    assert guessed[1, 1, 1] == pytest.approx((1 + 4 + 6 + 9) / 4)  # green from four sides
    assert guessed[1, 2, 0] == pytest.approx((2 + 10) / 2)  # red from above and below


def test_a_linear_ramp_is_guessed_exactly_inside() -> None:
    ramp = np.linspace(0, 1, 12, dtype=np.float32)[None, None, :, None] * np.ones((1, 8, 1, 3), np.float32)
    np.testing.assert_allclose(demosaic(mosaic(ramp, "grbg"), "grbg")[:, 2:-2, 2:-2], ramp[:, 2:-2, 2:-2], atol=1e-6)


# ----------------------------------------------------------------------------------------------------
# Automatic exposure against its closed form, at its limits, and in a camera.


SETTINGS = CameraSettings(
    exposure=0.004, white_exposure=0.02, auto_target=0.2, auto_rate=0.25, auto_longest=0.03, auto_gain=6.0
)


def test_the_error_in_stops_falls_by_the_same_share_with_every_picture() -> None:
    """log(m_n / target) = (1 - rate)^n log(m_0 / target), for three cameras at once: too dark, too bright, right."""
    light = np.array([0.15, 1.0, 0.5])  # mean signal in an exposure of 20 ms
    exposure = initial_exposure(SETTINGS, 3)
    begin = np.log(light * exposure.time / 0.02 / 0.2)
    for n in range(20):
        brightness = light * exposure.time * exposure.gain / 0.02
        assert np.log(brightness / 0.2) == pytest.approx(0.75**n * begin, abs=1e-12)
        exposure = next_exposure(exposure, brightness, SETTINGS)


def test_pictures_settle_at_the_target_within_the_promised_number() -> None:
    """Grey walls through the whole pipeline, rounded to 8 bits; 5 % off after n pictures, as the closed form says."""
    effects = CameraEffects(SETTINGS, size=(32, 24), fov=0.8, effects="exposure,auto,gamma")
    values = np.array([70, 140, 230], np.uint8)
    drawn = np.broadcast_to(values[:, None, None, None], (3, 24, 32, 3))
    exposure, rng = initial_exposure(SETTINGS, 3), np.random.default_rng(0)
    first = mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma)
    needed = math.ceil(math.log(0.05 / np.abs(np.log(first / 0.2)).max()) / math.log(0.75))
    for _ in range(needed):
        exposure = next_exposure(
            exposure, mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma), SETTINGS
        )
    after = mean_signal(effects.apply(drawn, rng, exposure=exposure), effects.gamma)
    assert np.abs(np.log(first / 0.2)).max() > 0.5
    assert after == pytest.approx([0.2] * 3, rel=0.06)


def test_light_is_collected_before_it_is_amplified_and_limits_hold() -> None:
    exposure = Exposure(np.full(3, 0.01), np.ones(3))
    dark, dim, glaring = np.array([0.0, 0.05, 1.0])
    for _ in range(60):
        exposure = next_exposure(exposure, np.array([dark, dim, glaring]), SETTINGS)
    assert exposure.time == pytest.approx([0.03, 0.03, 0.0001])
    assert exposure.gain == pytest.approx([6.0, 6.0, 1.0])
    once = next_exposure(Exposure(np.full(1, 0.001), np.ones(1)), np.zeros(1), SETTINGS)
    assert once.time * once.gain == pytest.approx(0.004)  # two stops at most


def test_a_camera_without_a_target_takes_the_same_picture_again() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><light pos="0 0 3"/><geom type="plane" size="3 3 .1" rgba=".4 .4 .4 1"/>
        <camera name="a/eye" pos="0 0 1" fovy="60" resolution="32 24"/></worldbody></mujoco>"""
    )
    fixed = dataclasses.replace(SETTINGS, auto_target=0.0)
    with RobotCamera(model, "a/eye", settings=fixed, effects="exposure,auto") as camera:
        assert camera.exposure is None
        assert np.array_equal(camera.look(np.zeros(0)), camera.look(np.zeros(0)))
    with RobotCamera(model, "a/eye", settings=SETTINGS, effects="exposure,auto") as camera:
        pictures = [camera.look(np.zeros(0)) for _ in range(30)]
        assert mean_signal(pictures[-1][None], 2.2)[0] == pytest.approx(0.2, rel=0.05)
        assert abs(math.log(mean_signal(pictures[0][None], 2.2)[0] / 0.2)) > 0.2
