"""The Bayer filter: what pixels see, and what is guessed."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.sim.cameras.colour_filter import demosaic, mosaic

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
