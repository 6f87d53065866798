"""White balance, gain and shutter of an AIBO's camera, as `OPENR::ControlPrimitive` sets them.

    controls = CameraControls(model)
    controls.ask(SHUTTER, 1)                    # slow: 1/50 s instead of 1/100 s
    pixels = controls.apply(pixels)             # (height, width, 3) RGB, twice as bright

The picture comes as the camera takes it by default: balanced for fluorescent light, 0 dB, 1/100 s (Sony OPEN-R SDK,
Model Information). What was asked is done to the finished picture: light is proportional to v^2.2, a longer shutter and
gain multiply it, and a balance for light of T kelvin divides each colour by what a black body of T emits (Planck's law
at 600, 540 and 450 nm), green being left as it is. What was too bright or too dark before stays so, and blur of motion
does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.net.openr.commands import GAIN, SHUTTER, WHITE_BALANCE

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.net.openr.models import Model

GAMMA = 2.2
COLOURS = np.array([600e-9, 540e-9, 450e-9])
"""Wavelengths that stand for red, green, blue [m]."""
_SECOND_RADIATION = 1.438777e-2
"""h c / k [m K], CODATA."""
FLUORESCENT, MIDDLE = 3, 2
"""Parameters of the camera's defaults."""


class CameraControls:
    """What clients asked of one camera."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.asked = {WHITE_BALANCE: FLUORESCENT, GAIN: MIDDLE, SHUTTER: MIDDLE}
        """The present parameter of each request."""
        self._table: Bytes | None = None

    def ask(self, request: int, parameter: int) -> None:
        """Sets one of them; parameters are 1, 2 and 3, as OPEN-R numbers them."""
        self.asked[request] = parameter
        factors = self.factors
        self._table = None if np.allclose(factors, 1.0) else _table(factors)

    @property
    def factors(self) -> Floats:
        """By what the light of each colour is multiplied, (3,)."""
        camera = self._model.camera
        kelvin = camera.white_balance
        now, usual = (emission(kelvin[which - 1]) for which in (self.asked[WHITE_BALANCE], FLUORESCENT))
        balance = usual / now
        decibels = camera.gain[self.asked[GAIN] - 1] - camera.gain[MIDDLE - 1]
        longer = camera.shutter[self.asked[SHUTTER] - 1] / camera.shutter[MIDDLE - 1]
        return np.asarray(balance * longer * 10 ** (decibels / 20))

    def apply(self, pixels: Bytes) -> Bytes:
        """The picture with these settings, (height, width, 3)."""
        if self._table is None:
            return pixels
        return np.stack([self._table[colour][pixels[..., colour]] for colour in range(3)], axis=-1)


def emission(kelvin: float) -> Floats:
    """What a black body emits at the three colours, green being 1, (3,)."""
    power = 1.0 / (COLOURS**5 * np.expm1(_SECOND_RADIATION / (COLOURS * kelvin)))
    return np.asarray(power / power[1])


def _table(factors: Floats) -> Bytes:
    """New values for all 256 old ones, (3, 256)."""
    light = (np.arange(256) / 255) ** GAMMA * factors[:, None]
    return np.asarray(np.round(255 * np.clip(light, 0.0, 1.0) ** (1 / GAMMA)), np.uint8)
