"""White balance, gain and shutter against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.net.openr.commands import GAIN, SHUTTER, WHITE_BALANCE
from nutmeg.net.openr.models import model_named
from nutmeg.net.openr.robot import COLOURS, CameraControls, emission

RAMP = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)


def test_nothing_changes_until_something_is_asked() -> None:
    controls = CameraControls(model_named("ers7"))
    assert controls.apply(RAMP) is RAMP
    controls.set(SHUTTER, 3)
    assert controls.apply(RAMP) is not RAMP
    controls.set(SHUTTER, 2)
    assert controls.apply(RAMP) is RAMP


@pytest.mark.parametrize(
    ("model", "request_", "parameter", "factor"),
    [
        ("ers7", SHUTTER, 1, 2.0),
        ("ers7", SHUTTER, 3, 0.5),
        ("ers7", GAIN, 1, 10**-0.3),
        ("ers7", GAIN, 3, 10**0.3),
        ("ers210", GAIN, 1, 1.0),
        ("ers210", GAIN, 3, 10**0.3),
    ],
)
def test_light_is_multiplied_by_shutter_and_gain(model: str, request_: int, parameter: int, factor: float) -> None:
    controls = CameraControls(model_named(model))
    controls.set(request_, parameter)
    np.testing.assert_allclose(controls.factors, factor)
    expected = np.round(255 * np.clip((RAMP / 255) ** 2.2 * factor, 0, 1) ** (1 / 2.2))
    np.testing.assert_array_equal(controls.apply(RAMP), expected)


def test_a_balance_for_lamps_is_bluer_and_one_for_daylight_redder() -> None:
    controls = CameraControls(model_named("ers7"))
    controls.set(WHITE_BALANCE, 1)
    red, green, blue = controls.factors
    assert green == pytest.approx(1.0)
    assert red < green < blue
    controls.set(WHITE_BALANCE, 2)
    red, green, blue = controls.factors
    assert blue < green < red
    controls.set(WHITE_BALANCE, 3)
    np.testing.assert_allclose(controls.factors, 1.0)


def test_a_black_body_is_planck_s() -> None:
    # Wien's approximation holds to 1 % where h c / (k L T) is above 5
    kelvin = 2856.0
    wien = COLOURS**-5 * np.exp(-1.438777e-2 / (COLOURS * kelvin))
    np.testing.assert_allclose(emission(kelvin), wien / wien[1], rtol=0.01)
