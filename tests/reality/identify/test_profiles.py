"""Profiles and joint regions against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import assess_identifiability
from nutmeg.reality.identify.profiles import joint_region, profile
from nutmeg.search import InThisThread
from nutmeg.search.space import Dimension, Space

TIMES = np.linspace(0, 2, 80)


def test_a_linear_model_has_the_profile_of_its_curvature() -> None:
    rng = np.random.default_rng(2)
    design = np.stack([np.ones_like(TIMES), TIMES, TIMES**2], axis=1)
    data = design @ [0.5, -0.3, 0.2] + 0.1 * rng.standard_normal(len(TIMES))
    best = np.linalg.lstsq(design, data, rcond=None)[0]
    space = Space({name: Dimension(low=-3, high=3) for name in "abc"})
    rows = lambda c, _=(): c @ design.T - data  # noqa: E731
    found = curvature(rows, space, best)
    one = profile(rows, "root", found, space, "b", InThisThread())
    plain = assess_identifiability(space, curvature=found).interval("b")
    assert (one.low, one.high) == pytest.approx(plain, abs=0.02 * (plain[1] - plain[0]))
    middle = one.values.index(min(one.values, key=lambda value: abs(value - best[1])))
    assert one.growth[middle] == 0.0
    assert list(one.values) == sorted(one.values)


def test_a_rate_that_hardly_shows_has_a_lopsided_profile() -> None:
    """Of exp(-k t) with a large k little is seen, so k may be much larger, but not much smaller."""
    rng = np.random.default_rng(1)
    model = lambda c: np.exp(-c[:, :1] * TIMES)  # noqa: E731
    data = model(np.array([[4.0]]))[0] + 0.15 * rng.standard_normal(len(TIMES))
    space = Space({"k": Dimension(low=0.1, high=40.0)})
    rows = lambda c, _=(): model(np.asarray(c)) - data  # noqa: E731
    grid = np.linspace(0.1, 40, 4000)
    best = grid[np.argmin([(rows(np.array([[k]])) ** 2).sum() for k in grid])]
    found = curvature(rows, space, np.array([best]))
    one = profile(rows, "root", found, space, "k", InThisThread())
    assert one.high - best > 1.2 * (best - one.low)


def test_a_joint_region_holds_the_truth_as_often_as_it_should() -> None:
    rng = np.random.default_rng(4)
    design = np.stack([np.ones_like(TIMES), TIMES], axis=1)
    space = Space({name: Dimension(low=-3, high=3) for name in "ab"})
    held = []
    for _ in range(200):
        data = design @ [0.5, -0.3] + 0.1 * rng.standard_normal(len(TIMES))
        best = np.linalg.lstsq(design, data, rcond=None)[0]
        found = curvature(lambda c, data=data: c @ design.T - data, space, best, correlated=False)
        held.append(_inside(joint_region(space, found, ("a", "b")), np.array([0.5, -0.3])))
    assert 0.83 <= np.mean(held) <= 0.96


def _inside(rim: Floats, point: Floats) -> bool:
    """Whether a point lies within a polygon around it: the rim turns around it once."""
    angles = np.unwrap(np.arctan2(*(rim - point).T[::-1]))
    return bool(abs(angles[-1] - angles[0]) > np.pi)
