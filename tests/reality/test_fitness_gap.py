"""phi1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import RecordingError, UsageError
from nutmeg.reality import phi1

TRIPLES = hnp.arrays(np.float64, (3, 7), elements=st.floats(-100, 100))


@given(TRIPLES)
def test_it_is_a_metric(fitness: np.ndarray) -> None:
    x, y, z = fitness
    assert phi1(x, x) == 0
    assert phi1(x, y) == phi1(y, x)
    assert phi1(x, z) <= phi1(x, y) + phi1(y, z) + 1e-9
    assert (phi1(x, y) == 0) == bool((x == y).all())


def test_it_is_the_mean_difference_of_every_simulation() -> None:
    np.testing.assert_allclose(phi1([0.21, 0.35], [[0.20, 0.30], [0.5, 0.6]]), [0.03, 0.27])


def test_controllers_without_a_real_fitness_are_left_out_and_a_missing_simulated_one_is_an_error() -> None:
    assert phi1([1.0, np.nan], [[2.0, 50.0]]) == pytest.approx([1.0])
    with pytest.raises(RecordingError, match="none of the 1 controllers"):
        phi1([np.nan], [1.0])
    with pytest.raises(RecordingError, match="worst fitness"):
        phi1([1.0], [[np.nan]])
    with pytest.raises(UsageError, match=r"needed are \(controllers,\)"):
        phi1([1.0, 2.0], [[1.0]])
