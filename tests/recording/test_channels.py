from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import RecordingError
from nutmeg.recording.channels import Channel, Layout

HERE = Path("walk.nutmeg")


@given(st.floats(1e-9, 1e6))
def test_the_step_is_a_power_of_two_at_or_below_the_resolution(resolution: float) -> None:
    step = Channel(name="a", labels=("x",), resolution=resolution).step
    assert math.frexp(step)[0] == 0.5
    assert step <= resolution < 2 * step


@given(st.floats(1e-6, 10.0), st.floats(-1.0, 1.0))
def test_rounding_is_off_by_at_most_half_the_resolution_and_exact_in_float32(resolution: float, share: float) -> None:
    channel = Channel(name="a", labels=("x",), resolution=resolution)
    value = share * channel.limit
    rounded = np.array([value])
    Layout([channel], HERE).round_in_place(rounded)
    assert abs(rounded[0] - value) <= resolution / 2
    assert float(np.float32(rounded[0])) == rounded[0]


def test_exact_channels_beside_rounded_ones_are_left_alone() -> None:
    layout = Layout([Channel(name="a", labels=("x",), resolution=0.5), Channel(name="b", labels=("x", "y"))], HERE)
    values = np.array([[0.3, 0.3, -0.0], [np.nan, np.inf, 1e300]])
    layout.round_in_place(values)
    np.testing.assert_array_equal(values, [[0.25 * 2, 0.3, -0.0], [np.nan, np.inf, 1e300]])
    assert math.copysign(1, values[0, 2]) == -1


def test_a_value_too_large_for_its_resolution_is_refused_by_name_but_infinity_passes() -> None:
    layout = Layout([Channel(name="pose", labels=("x", "y"), resolution=1e-4)], HERE)
    infinite = np.array([np.inf, -np.inf])
    layout.round_in_place(infinite)
    np.testing.assert_array_equal(infinite, [np.inf, -np.inf])
    with pytest.raises(RecordingError, match=r"pose\.y = .*2000.* at most 1024 "):
        layout.round_in_place(np.array([1.0, 2000.0]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "a b", "labels": ("x",)}, "may only have letters"),
        ({"name": "a", "labels": ("x\ny",)}, "printable"),
        ({"name": "a", "labels": ()}, "no labels"),
        ({"name": "a", "labels": ("x", "x")}, "twice"),
        ({"name": "a", "labels": ("x",), "resolution": -1.0}, "resolution"),
        ({"name": "a", "labels": ("x",), "resolution": math.nan}, "resolution"),
    ],
)
def test_a_wrong_declaration_says_what_is_allowed(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Channel(**wrong)  # type: ignore[arg-type]


def test_two_channels_may_not_share_a_column() -> None:
    with pytest.raises(RecordingError, match=r"'a\.b\.c' is declared twice"):
        Layout([Channel(name="a.b", labels=("c",)), Channel(name="a", labels=("b.c",))], HERE)
    with pytest.raises(RecordingError, match="no channel"):
        Layout([], HERE)
