"""How many physics steps a time is."""

from __future__ import annotations

import pytest

from nutmeg.base.errors import ModelError
from nutmeg.sim.worlds import steps_in


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 6, 7])
def test_a_cycle_has_a_whole_number_of_steps_although_mjcf_has_six_digits(steps: int) -> None:
    assert steps_in(0.02, float(f"{0.02 / steps:.6g}")) == steps


@pytest.mark.parametrize(("seconds", "timestep"), [(0.02, 0.003), (0.0201, 0.005), (1000.0005, 0.001), (0.001, 0.004)])
def test_a_time_that_is_no_whole_number_of_steps_is_refused(seconds: float, timestep: float) -> None:
    with pytest.raises(ModelError, match="not a whole number of physics steps"):
        steps_in(seconds, timestep)
