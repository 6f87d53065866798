"""An image sensor against its equations: brightness, noise, steps, colours."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.model.sensors import CameraSettings
from nutmeg.sim.cameras.response import (
    SCREEN_GAMMA,
    add_noise,
    collect,
    convert,
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
