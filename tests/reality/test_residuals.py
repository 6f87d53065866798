"""Residuals against the distances whose parts they are."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import DistanceSettings, make_distance, residual_series

COLUMNS, UNITS = ("r.angles.knee", "r.angles.hip"), ("rad", "rad")


def behaviours(seed: int = 0) -> tuple[Behaviour, Behaviour]:
    rng = np.random.default_rng(seed)
    real = Behaviour(columns=COLUMNS, units=UNITS, series=rng.normal(size=(50, 2)))
    return real, Behaviour(columns=COLUMNS, units=UNITS, series=rng.normal(size=(3, 50, 2)))


@pytest.mark.parametrize(
    "settings",
    [
        DistanceSettings(kind="rms"),
        DistanceSettings(kind="rms", scale="deviation", weights={"*.hip": 3.0}),
        DistanceSettings(kind="rms", channels=("*.knee",)),
        DistanceSettings(kind="rms", angles=True),
    ],
)
def test_the_squares_of_residuals_add_up_to_the_square_of_rms(settings: DistanceSettings) -> None:
    real, simulated = behaviours()
    total = sum((series**2).sum(axis=1) for series in residual_series(settings, real, simulated))
    assert np.sqrt(total) == pytest.approx(make_distance(settings).per_trial(real, simulated), rel=1e-12)


def test_the_squares_of_residuals_add_up_to_the_joint_error() -> None:
    settings = DistanceSettings(kind="joint_error", exponent=1.5, weights={"*.hip": 0.2})
    real, simulated = behaviours(1)
    total = sum((series**2).sum(axis=1) for series in residual_series(settings, real, simulated))
    assert total == pytest.approx(make_distance(settings).per_trial(real, simulated), rel=1e-12)


def test_a_combination_has_the_residuals_of_its_terms() -> None:
    terms = (DistanceSettings(kind="joint_error", weight=4.0), DistanceSettings(kind="joint_error", exponent=1.0))
    real, simulated = behaviours(2)
    settings = DistanceSettings(kind="combination", terms=terms)
    series = residual_series(settings, real, simulated)
    assert len(series) == 4
    total = sum((one**2).sum(axis=1) for one in series)
    assert total == pytest.approx(make_distance(settings).per_trial(real, simulated), rel=1e-12)


def test_residuals_are_missing_from_the_end_of_a_simulation_on() -> None:
    real, simulated = behaviours(3)
    ended = Behaviour(columns=COLUMNS, units=UNITS, series=simulated.series, frames=np.array([50, 20, 50]))
    for series in residual_series(DistanceSettings(), real, ended):
        assert series.shape == (3, 50)
        assert np.isnan(series[1, 20:]).all()
        assert np.isfinite(series[1, :20]).all()
        assert np.isfinite(series[[0, 2]]).all()


def test_the_residual_of_fitness_is_its_signed_gap() -> None:
    found = residual_series(
        DistanceSettings(kind="phi1"), Behaviour(fitness=2.0), Behaviour(fitness=np.array([1.5, 2.0, 4.0]))
    )
    assert [series.tolist() for series in found] == [[[-0.5], [0.0], [2.0]]]
    with pytest.raises(UsageError, match="there is none"):
        residual_series(DistanceSettings(kind="phi1"), Behaviour(fitness=2.0), behaviours()[1])


def test_phi2_has_the_residuals_of_the_series_it_compares_without_those_that_rest() -> None:
    real, simulated = behaviours(4)
    scaled = residual_series(DistanceSettings(kind="rms", scale="deviation"), real, simulated)
    found = residual_series(DistanceSettings(kind="phi2"), real, simulated)
    assert np.array_equal(found, scaled)
    assert real.series is not None
    resting = np.array(real.series)
    resting[:, 1] = 0.3
    still = Behaviour(columns=COLUMNS, units=UNITS, series=resting)
    assert len(residual_series(DistanceSettings(kind="phi2"), still, simulated)) == 1
