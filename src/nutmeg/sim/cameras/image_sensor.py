"""The image sensor of a camera: exposure, noise, Bayer filter, white balance, gamma, and automatic exposure.

Light is linear, 1 for white. A pixel collects electrons from it until it is full (eq. 4 in
docs/explanation/cameras.md), reads them with noise, and makes numbers of them:

    e = min(L t/t_white, 1) F + n,   n ~ N(0, e + sigma_r²)           shot noise: its variance is the signal's
    s = clip(gain e / F, 0, 1) in steps of 1/(2^bits - 1)
    value = 255 (balance s)^(1/gamma)

Counted electrons are Poisson-distributed; the normal distribution of the same variance stands for it here (exact in
mean and variance, and in shape from some ten electrons on).

Behind a Bayer filter every pixel sees one colour (`mosaic`), and the other two are the mean of the nearest pixels that
have them (`demosaic`: bilinear, eq. 6). A pattern names the colours of the first 2 x 2 pixels, row by row: `rggb`.
A picture of one colour comes back as it was; edges get the coloured seams of real cameras.

Automatic exposure measures the mean signal m of a picture (before gamma, all colours) and corrects a share of its
error, in stops, with the next one (eq. 9):

    P' = P (target / m)^rate,   P = exposure x gain,   within two stops from one picture to the next

The exposure is lengthened before the gain is raised: exposure = P' between `auto_shortest` and `auto_longest`,
gain = P' / exposure between 1 and `auto_gain`. Unless something is clipped, m is proportional to P, so that after n
pictures of the same scene

    log(m_n / target) = (1 - rate)^n log(m_0 / target)

Every function is pure; arrays have the batch first, (N, height, width, 3), or (N, height, width) behind a colour
filter. The exposure is carried from picture to picture:

    exposure = initial_exposure(settings, count=N)
    pictures = effects.apply(drawn, rng, exposure=exposure)                 # (N, height, width, 3)
    exposure = next_exposure(exposure, mean_signal(pictures, settings.gamma), settings)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats, Floats32
    from nutmeg.model.sensors import CameraSettings

SCREEN_GAMMA = 2.2
"""Exponent that turns the values of drawn pictures into light."""
GAMMA_TABLE_LEVELS = 4095
"""Number of steps of the table that turns light into picture values."""


@lru_cache(maxsize=1)
def _light_of_values() -> Floats32:
    return ((np.arange(256) / 255) ** SCREEN_GAMMA).astype(np.float32)


def to_light(pictures: Bytes) -> Floats32:
    """The light, 0 to 1, in drawn pictures of any shape."""
    return np.take(_light_of_values(), pictures)


@lru_cache(maxsize=16)
def _values_of_light(gamma: float) -> Bytes:
    return np.rint(255 * (np.arange(GAMMA_TABLE_LEVELS + 1) / GAMMA_TABLE_LEVELS) ** (1 / gamma)).astype(np.uint8)


def to_picture(light: Floats32, gamma: float = SCREEN_GAMMA) -> Bytes:
    """Pictures of any shape from a signal; below 0 is black, above 1 is white."""
    steps = light * np.float32(GAMMA_TABLE_LEVELS)
    steps += np.float32(0.5)
    np.clip(steps, 0, GAMMA_TABLE_LEVELS, out=steps)
    return np.take(_values_of_light(gamma), steps.astype(np.uint16))


def collect(light: Floats32, settings: CameraSettings, time: Floats32 | None = None) -> Floats32:
    """Filling of the pixels, 0 to 1, in the settings' exposure or in times that broadcast against the light [s]."""
    share = (settings.exposure if time is None else time) / settings.white_exposure
    filled = light * np.asarray(share, np.float32)
    np.minimum(filled, np.float32(1), out=filled)
    return filled


def noise_deviation(filled: Floats32, settings: CameraSettings) -> Floats32:
    """Standard deviation of the noise at a signal, both in full wells."""
    read = (settings.read_noise / settings.full_well) ** 2
    variance = filled * np.float32(1 / settings.full_well) + np.float32(read)
    np.sqrt(variance, out=variance)
    return variance


def add_noise(filled: Floats32, settings: CameraSettings, rng: np.random.Generator) -> Floats32:
    """A signal with shot and read noise; it may fall below 0."""
    noise = rng.standard_normal(filled.shape, dtype=np.float32)
    noise *= noise_deviation(filled, settings)
    noise += filled
    return noise


def convert(signal: Floats32, *, gain: float | Floats32, bits: int) -> Floats32:
    """A signal amplified and in the steps of a converter, 0 to 1; gains broadcast against the signal."""
    top = np.float32(2**bits - 1)
    steps = signal * np.float32(gain * top)
    np.clip(steps, 0, top, out=steps)
    np.rint(steps, out=steps)
    steps /= top
    return steps


def tint(light: Floats32, red: float, blue: float) -> Floats32:
    """Pictures (N, height, width, 3) with red and blue multiplied."""
    return light * np.array([red, 1.0, blue], np.float32)


# ----------------------------------------------------------------------------------------------------
# The Bayer filter


COLOUR_LETTERS = "rgb"


def mosaic(light: Floats32, pattern: str) -> Floats32:
    """Raw pictures (N, height, width) behind a colour filter, from pictures (N, height, width, 3)."""
    raw = np.empty(light.shape[:3], light.dtype)
    for place, letter in enumerate(pattern):
        row, column = divmod(place, 2)
        raw[:, row::2, column::2] = light[:, row::2, column::2, COLOUR_LETTERS.index(letter)]
    return raw


def demosaic(raw: Floats32, pattern: str) -> Floats32:
    """Pictures (N, height, width, 3) from raw ones (N, height, width)."""
    _, height, width = raw.shape
    out = np.empty((*raw.shape, 3), raw.dtype)
    for colour, letter in enumerate(COLOUR_LETTERS):
        sparse = raw * _mask(pattern, letter, height, width)
        out[..., colour] = _spread(sparse, letter) * _share(pattern, letter, height, width)
    return out


def _spread(sparse: Floats32, letter: str) -> Floats32:
    """Weighted sums of each pixel's neighbourhood; pixels outside the picture are zero.

    Green, which every other pixel has, weighs 4 in the middle and 1 at the four sides; red and blue weigh 4 in the
    middle, 2 at the sides and 1 at the corners. A pixel that has a colour finds no other that has it in there.
    """
    if letter == "g":
        out = 4 * sparse
        out[:, 1:] += sparse[:, :-1]
        out[:, :-1] += sparse[:, 1:]
        out[:, :, 1:] += sparse[:, :, :-1]
        out[:, :, :-1] += sparse[:, :, 1:]
        return out
    rows = 2 * sparse
    rows[:, 1:] += sparse[:, :-1]
    rows[:, :-1] += sparse[:, 1:]
    out = 2 * rows
    out[:, :, 1:] += rows[:, :, :-1]
    out[:, :, :-1] += rows[:, :, 1:]
    return out


@lru_cache(maxsize=32)
def _mask(pattern: str, letter: str, height: int, width: int) -> Floats32:
    """1 where pixels see a colour, (1, height, width)."""
    mask = np.zeros((1, height, width), np.float32)
    for place, found in enumerate(pattern):
        if found == letter:
            mask[:, place // 2 :: 2, place % 2 :: 2] = 1
    return mask


@lru_cache(maxsize=32)
def _share(pattern: str, letter: str, height: int, width: int) -> Floats32:
    """One over the sum of weights with which a colour comes to each pixel, (1, height, width)."""
    return np.float32(1) / _spread(_mask(pattern, letter, height, width), letter)


# ----------------------------------------------------------------------------------------------------
# Automatic exposure


MAX_EXPOSURE_FACTOR = 4.0
"""Factor by which a camera brightens or darkens at most from one picture to the next: two stops."""
BLACK_SIGNAL = 1e-6
"""Mean signal below which a picture is black."""
METERING_STRIDE = 2
"""Distance between metered rows, and between metered columns, of a picture [pixels]."""


class Exposure(NamedTuple):
    """Exposure of the next pictures of N cameras."""

    time: Floats
    """Time for which a row collects light, (N,) [s]."""
    gain: Floats
    """Amplification of the signal, (N,)."""


def initial_exposure(settings: CameraSettings, count: int) -> Exposure:
    """The camera's own numbers, for N cameras."""
    return Exposure(np.full(count, settings.exposure), np.full(count, settings.gain))


def mean_signal(pictures: Bytes, gamma: float) -> Floats:
    """The mean signal, 0 to 1, of pictures (N, height, width, 3): (N,)."""
    some = pictures[:, ::METERING_STRIDE, ::METERING_STRIDE]
    return np.array([np.take(_signals(gamma), one).mean() for one in some])


def next_exposure(exposure: Exposure, brightness: Floats, settings: CameraSettings) -> Exposure:
    """The exposure of the next pictures, after some with this mean signal (N,)."""
    error = settings.auto_target / np.maximum(brightness, BLACK_SIGNAL)
    factor = np.clip(error**settings.auto_rate, 1 / MAX_EXPOSURE_FACTOR, MAX_EXPOSURE_FACTOR)
    wanted = exposure.time * exposure.gain * factor
    time = np.clip(wanted, settings.auto_shortest, settings.auto_longest)
    return Exposure(time, np.clip(wanted / time, 1.0, settings.auto_gain))


@lru_cache(maxsize=16)
def _signals(gamma: float) -> Floats:
    """The signal behind each value of a picture."""
    return np.asarray((np.arange(256) / 255) ** gamma)
