from __future__ import annotations

import numpy as np

from nutmeg.reality.btr.warnings import EngagementSign, disengaged


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
