"""Automatic exposure: a camera that changes its exposure and its gain until pictures are as bright as it wants.

The mean signal m of a picture (before gamma, all colours) tells how far off it is, and a share of that, in stops, is
taken back with the next one (eq. 9 in docs/explanation/cameras.md):

    P' = P (target / m)^rate,   P = exposure x gain,   within two stops from one picture to the next

Light is collected for as long as is allowed before it is amplified: exposure = P' between `auto_shortest` and
`auto_longest`, gain = P' / exposure between 1 and `auto_gain`. As long as nothing is cut off, m grows as P does, so
that after n pictures of the same scene

    log(m_n / target) = (1 - rate)^n log(m_0 / target)

For N cameras at once; all functions are pure, and the exposure is carried from picture to picture:

    exposure = at_start(settings, count=N)
    pictures = effects.apply(drawn, rng, exposure=exposure)                 # (N, height, width, 3)
    exposure = adapted(exposure, metered(pictures, settings.gamma), settings)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.sensors import CameraSettings


MAX_EXPOSURE_FACTOR = 4.0
"""Factor by which a camera brightens or darkens at most from one picture to the next: two stops."""
BLACK_SIGNAL = 1e-6
"""Mean signal below which a picture is black."""
METERING_STRIDE = 2
"""Of the rows and columns of a picture, one in so many is metered."""


class Exposure(NamedTuple):
    """How N cameras take their next pictures."""

    time: Floats
    """For how long a row collects light, (N,) [s]."""
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
