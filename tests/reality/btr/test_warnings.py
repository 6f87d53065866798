from __future__ import annotations

import numpy as np
import pytest

from nutmeg.reality.btr.warnings import EngagementSign, Prior, disengaged, implausible
from nutmeg.search import Dimension, Space


def sign(
    best: float, before: float, *, spread: float = 0.5, fitness: tuple[float, ...] = (0.1, 0.2, 0.3)
) -> EngagementSign:
    values = best * (1 + spread * np.linspace(0, 1, 30))
    return EngagementSign(values=values, best=best, before=before, fitness=np.array(fitness))


def test_a_run_that_gets_better_is_engaged() -> None:
    assert disengaged([]) is None
    assert disengaged([sign(0.1 / 2**i, 0.2 / 2**i) for i in range(8)]) is None


def test_trials_that_cannot_choose_among_simulations_are_blind() -> None:
    found = disengaged([sign(0.1, 0.2), sign(0.1, 0.11, spread=0.01)])
    assert found is not None
    assert found.kind == "blind"
    assert "exploring" in found.advice


def test_controllers_that_all_do_the_same_are_alike() -> None:
    found = disengaged([sign(0.1, 0.2, fitness=(0.3, 0.3001, 0.2999))])
    assert found is not None
    assert found.kind == "alike"
    assert disengaged([sign(0.1, 0.2, fitness=(0.3, 0.3))]) is None, "two say little about that"


def test_a_gap_that_stays_is_stuck_and_a_small_one_is_not() -> None:
    stuck = [sign(0.2, 0.4), *(sign(0.1, 0.1) for _ in range(3))]
    found = disengaged(stuck)
    assert found is not None
    assert found.kind == "stuck"
    assert "physics.timestep" in str(found)
    assert disengaged(stuck[:3]) is None, "patience"
    small = [sign(0.2, 0.4), *(sign(0.001, 0.001) for _ in range(3))]
    assert disengaged(small) is None
    assert disengaged(small, fitness_gap=False) is None
    found = disengaged([sign(5.0, 6.0, fitness=()), *(sign(4.0, 4.0, fitness=()) for _ in range(3))], fitness_gap=False)
    assert found is not None


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
