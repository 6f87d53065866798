from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.search.space import Dimension, Space, reflected

FINITE = st.floats(-1e6, 1e6)


@st.composite
def dimensions(draw: st.DrawFn) -> Dimension:
    if draw(st.booleans()):
        low = draw(st.floats(1e-9, 1e6))
        return Dimension(low=low, high=low * draw(st.floats(1.001, 1e6)), scale="log")
    low = draw(FINITE)
    return Dimension(low=low, high=low + draw(st.floats(1e-3, 1e6)))


@given(st.lists(dimensions(), min_size=1, max_size=4), st.floats(0, 1))
def test_values_stay_within_bounds_and_come_back(each: list[Dimension], place: float) -> None:
    space = Space({f"p{i}": d for i, d in enumerate(each)})
    values = space.values(np.full((3, space.size), place))
    assert ((values >= space.low) & (values <= space.high)).all()
    assert np.allclose(space.values(space.unit(values)), values, rtol=1e-9, atol=1e-9)


@given(st.lists(dimensions(), min_size=1, max_size=4))
def test_the_corners_of_the_cube_are_exactly_the_bounds(each: list[Dimension]) -> None:
    space = Space({f"p{i}": d for i, d in enumerate(each)})
    assert (space.values(np.zeros(space.size)) == space.low).all()
    assert (space.values(np.ones(space.size)) == space.high).all()


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_reflected_points_are_in_the_cube_and_inner_ones_do_not_move(points: list[float]) -> None:
    folded = reflected(points)
    assert ((folded >= 0) & (folded <= 1)).all()
    inside = [0 <= p <= 1 for p in points]
    assert (folded[inside] == np.array(points)[inside]).all()


def test_reflection_is_that_of_mirrors() -> None:
    assert np.allclose(reflected([-0.2, 1.3, 2.4, -1.1]), [0.2, 0.7, 0.4, 0.9])


def test_half_way_is_the_mean_or_the_geometric_mean() -> None:
    space = Space({"a": Dimension(low=1, high=3), "b": Dimension(low=0.01, high=100, scale="log")})
    assert np.allclose(space.values([0.5, 0.5]), [2, 1])
    assert np.allclose(space.start, [2, 1])


def test_names_and_arrays_convert_into_each_other(space: Space) -> None:
    named = space.named(space.start)
    assert named == {"x0": -2, "x1": -2, "x2": -2, "gain": pytest.approx(np.sqrt(1e-1))}
    assert (space.array(dict(reversed(named.items()))) == space.start).all()


def test_an_error_names_parameter_value_and_range(space: Space) -> None:
    rows = np.tile(space.start, (3, 1))
    rows[2, 3] = 250
    with pytest.raises(UsageError, match=r"'gain' of candidate 2 is 250 N m/rad; allowed is 0.001..100 N m/rad"):
        space.unit(rows)
    rows[2, 3] = np.nan
    with pytest.raises(UsageError, match=r"'gain' of candidate 2 is nan"):
        space.checked(rows)
    with pytest.raises(UnknownNameError, match="Did you mean 'gain'"):
        space.array({"gian": 1.0})
    with pytest.raises(UsageError, match=r"'gain'.*is missing"):
        space.array({"x0": 1, "x1": 1, "x2": 1})
    with pytest.raises(UsageError, match=r"shape \(3,\)"):
        space.unit([1, 2, 3])
    with pytest.raises(UsageError, match="at least one"):
        Space({})


def test_impossible_ranges_are_refused() -> None:
    with pytest.raises(ValueError, match=r"range is 3..2 kg"):
        Dimension(low=3, high=2, unit="kg")
    with pytest.raises(ValueError, match="log scale it must lie above 0"):
        Dimension(low=0, high=2, scale="log")
    with pytest.raises(ValueError, match=r"start 7 is outside its range 0..2"):
        Dimension(low=0, high=2, start=7)
    with pytest.raises(ValueError, match="finite"):
        Dimension(low=0, high=float("inf"))
