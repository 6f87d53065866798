from __future__ import annotations

import numpy as np
import pytest

from nutmeg.reality.btr.warnings import Prior, implausible
from nutmeg.search import Dimension, Space

SPACE = Space({"mass": Dimension(low=0.0, high=2.0, unit="kg"), "gain": Dimension(low=1e-3, high=1e3, scale="log")})


def test_a_plausible_estimate_has_no_warnings() -> None:
    assert implausible(SPACE, np.array([1.0, 1.0]), {"mass": Prior(value=1.1, deviation=0.1)}) == ()


def test_numbers_at_the_ends_of_their_ranges_are_named() -> None:
    (text,) = implausible(SPACE, np.array([1.99, 1.0]), {})
    assert "mass = 1.99 kg is at the end of its range 0..2 kg" in text
    (text,) = implausible(SPACE, np.array([1.0, 1.1e-3]), {})
    assert text.startswith("gain = 0.0011")


def test_numbers_far_from_what_is_known_are_named() -> None:
    (text,) = implausible(SPACE, np.array([1.5, 1.0]), {"mass": Prior(value=1.0, deviation=0.1)})
    assert "5.0 deviations from the 1 known beforehand" in text
    with pytest.raises(ValueError, match="above 0"):
        Prior(value=1.0, deviation=0.0)


def test_numbers_that_good_simulations_disagree_about_are_named() -> None:
    points = np.array([[1.0, 1.0], [1.02, 500.0], [0.2, 1.0]])
    (text,) = implausible(SPACE, points[0], {}, (points, np.array([0.1, 0.101, 0.5])))
    assert text.startswith("gain is not determined")
    assert implausible(SPACE, points[0], {}, (points, np.array([0.1, 0.2, 0.5]))) == ()
