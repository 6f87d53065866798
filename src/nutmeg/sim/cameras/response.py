"""How an image sensor answers to light: exposure, gain, noise, white balance, gamma.

Light is linear, 1 for white. A pixel collects electrons from it until it is full (eq. 4 in
docs/explanation/cameras.md), reads them with noise, and makes numbers of them:

    e = min(L t/t_white, 1) F + n,   n ~ N(0, e + sigma_r²)           shot noise: its variance is the signal's
    s = clip(gain e / F, 0, 1) in steps of 1/(2^bits - 1)
    value = 255 (balance s)^(1/gamma)

Counted electrons are Poisson-distributed; the normal distribution of the same variance stands for it here (exact in
mean and variance, and in shape from some ten electrons on). Every function is pure; arrays have the batch first,
(N, height, width, 3), or (N, height, width) behind a colour filter. Randomness is the generator that is passed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats32
    from nutmeg.model.sensors import CameraSettings

SCREEN_GAMMA = 2.2
"""That of drawn pictures: how their values become light."""
GAMMA_TABLE_LEVELS = 4095
"""Steps of the table that makes values of light."""


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
    """How full the pixels get, 0 to 1, in the settings' exposure or in times that broadcast against the light [s]."""
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
