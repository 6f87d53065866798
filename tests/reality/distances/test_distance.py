"""Distances chosen by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nutmeg.base.errors import FileError, RecordingError, UnknownNameError, UsageError
from nutmeg.base.settings import read
from nutmeg.reality import Behaviour, DistanceSettings, distance_unit, information_distance, joint_error, make_distance
from nutmeg.reality.distances.distance import LOSSES, Kind, residual_rows, residual_series
from nutmeg.search.losses import ROBUST_LOSSES, loss_values

COLUMNS = ("nao.angles.hip", "nao.angles.knee", "nao.gyro.x")
UNITS = ("rad", "rad", "rad/s")
ANGLES = ("*.angles.*",)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A configuration with a distance in it."""

    distance: DistanceSettings


def trial(seed: int = 0, simulations: int = 4) -> tuple[Behaviour, Behaviour]:
    rng = np.random.default_rng(seed)
    real = rng.normal(size=(50, 3))
    simulated = real + np.linspace(0, 1, simulations)[:, np.newaxis, np.newaxis] * rng.normal(size=(50, 3))
    fitness = np.linspace(1.0, 2.0, simulations)
    return (
        Behaviour(columns=COLUMNS, units=UNITS, series=real, fitness=1.0, source="real.nutmeg"),
        Behaviour(columns=COLUMNS, units=UNITS, series=simulated, fitness=fitness, source="simulated.nutmeg"),
    )


def settings_of(kind: str) -> DistanceSettings:
    terms = (DistanceSettings(kind="phi2"), DistanceSettings(kind="phi1", weight=3.0)) if kind == "combination" else ()
    return DistanceSettings(kind=kind, channels=ANGLES, terms=terms)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_distance_is_zero_for_reality_itself_and_grows_away_from_it(kind: str) -> None:
    distance = make_distance(settings_of(kind))
    values = distance.per_trial(*trial())
    assert values.shape == (4,)
    assert values[0] == pytest.approx(0.0, abs=1e-12)
    assert (np.diff(values) > 0).all()
    assert distance.over_trials(np.stack([values, values])).shape == (4,)


def test_named_distances_are_the_functions() -> None:
    real, simulated = trial()
    assert real.series is not None
    assert simulated.series is not None
    ours, theirs = real.series[:, :2], simulated.series[..., :2]
    for settings, expected in [
        (DistanceSettings(kind="phi2", channels=ANGLES), information_distance(ours, theirs).sum(axis=-1)),
        (DistanceSettings(kind="joint_error", channels=ANGLES, exponent=1.5), joint_error(ours, theirs, exponent=1.5)),
        (DistanceSettings(kind="mean_absolute", channels=ANGLES), np.abs(theirs - ours).mean(axis=(1, 2))),
        (DistanceSettings(kind="rms", channels=ANGLES), np.sqrt(((theirs - ours) ** 2).mean(axis=(1, 2)))),
    ]:
        np.testing.assert_allclose(make_distance(settings).per_trial(real, simulated), expected, atol=1e-12)


def test_over_trials_phi1_is_the_mean_and_the_joint_error_the_sum() -> None:
    values = np.array([[1.0, 2.0], [3.0, 6.0]])
    np.testing.assert_array_equal(make_distance(settings_of("phi1")).over_trials(values), [2, 4])
    np.testing.assert_array_equal(make_distance(settings_of("joint_error")).over_trials(values), [4, 8])
    simulated = np.array([[0.3, 0.1], [0.5, 0.9]])  # 2 controllers in 2 simulations
    distance = make_distance(settings_of("phi1"))
    trials = [
        distance.per_trial(Behaviour(fitness=f), Behaviour(fitness=s))
        for f, s in zip([0.2, 0.4], simulated, strict=True)
    ]
    np.testing.assert_allclose(distance.over_trials(np.stack(trials)), np.abs(simulated.T - [0.2, 0.4]).mean(axis=1))


def test_a_combination_is_the_weighted_sum_of_its_terms() -> None:
    one = DistanceSettings(kind="rms", channels=ANGLES, weight=2.0)
    other = DistanceSettings(kind="rms", channels=("*.gyro.*",), weight=0.5)
    unused = DistanceSettings(kind="rms", channels=("no such",), weight=0.0)
    combined = make_distance(DistanceSettings(kind="combination", terms=(one, other, unused)))
    parts = [make_distance(term).per_trial(*trial()) for term in (one, other)]
    np.testing.assert_allclose(combined.per_trial(*trial()), 2.0 * parts[0] + 0.5 * parts[1])


def test_weights_and_scales_of_columns() -> None:
    real, simulated = trial()
    assert real.series is not None
    assert simulated.series is not None
    rms = np.sqrt(((simulated.series - real.series) ** 2).mean(axis=1))
    knee = DistanceSettings(kind="rms", weights={"*": 0.0, "*.knee": 3.0})
    np.testing.assert_allclose(make_distance(knee).per_trial(real, simulated), rms[:, 1])
    scaled = DistanceSettings(kind="rms", scale="deviation")
    expected = np.sqrt(((rms / real.series.std(axis=0)) ** 2).mean(axis=1))
    np.testing.assert_allclose(make_distance(scaled).per_trial(real, simulated), expected)


def test_a_shorter_simulation_counts_until_its_end() -> None:
    real, simulated = trial()
    assert simulated.series is not None
    assert real.series is not None
    short = Behaviour(columns=COLUMNS, units=UNITS, series=simulated.series[:, :20])
    expected = joint_error(real.series[:20, :2], simulated.series[:, :20, :2])
    np.testing.assert_allclose(make_distance(settings_of("joint_error")).per_trial(real, short), expected, atol=1e-12)
    ended = Behaviour(columns=COLUMNS, units=UNITS, series=real.series, frames=20)
    np.testing.assert_allclose(
        make_distance(settings_of("joint_error")).per_trial(ended, simulated), expected, atol=1e-12
    )


def test_a_failed_simulation_is_infinitely_far_away_but_a_reality_without_values_is_an_error() -> None:
    real, simulated = trial()
    assert simulated.series is not None
    assert real.series is not None
    broken = simulated.series.copy()
    broken[1] = np.nan
    fitness = np.array([1.0, np.nan, 1.0, 1.0])
    failed = Behaviour(columns=COLUMNS, units=UNITS, series=broken, fitness=fitness)
    for kind in get_args(Kind):
        values = make_distance(settings_of(kind)).per_trial(real, failed)
        assert np.isinf(values).tolist() == [False, True, False, False], kind
    nothing = Behaviour(columns=COLUMNS, units=UNITS, series=np.full_like(real.series, np.nan))
    with pytest.raises(RecordingError, match="nothing to compare"):
        make_distance(settings_of("rms")).per_trial(nothing, simulated)


def test_what_a_distance_needs_and_does_not_find_is_said() -> None:
    real, simulated = trial()
    with pytest.raises(UsageError, match=r"'rad', 'rad/s'"):
        make_distance(DistanceSettings(kind="rms")).per_trial(real, simulated)
    with pytest.raises(UnknownNameError, match=r"real.nutmeg: unknown channel '\*.angle.\*'.*nao.angles.hip"):
        make_distance(DistanceSettings(channels=("*.angle.*",))).per_trial(real, simulated)
    with pytest.raises(UnknownNameError, match=r"weights: unknown channel 'toe'"):
        make_distance(DistanceSettings(channels=ANGLES, weights={"toe": 1.0})).per_trial(real, simulated)
    with pytest.raises(UsageError, match="phi1 compares fitness"):
        make_distance(settings_of("phi1")).per_trial(Behaviour(), simulated)
    with pytest.raises(UsageError, match="needs series"):
        make_distance(settings_of("phi2")).per_trial(real, Behaviour(fitness=1.0))
    other = Behaviour(columns=COLUMNS[:1], units=("deg",), series=np.zeros((50, 1)))
    with pytest.raises(UnknownNameError, match=r"nao\.angles\.knee"):
        make_distance(settings_of("rms")).per_trial(real, other)
    with pytest.raises(UsageError, match="in 'deg', but the real one in 'rad'"):
        make_distance(DistanceSettings(channels=("*.hip",))).per_trial(real, other)


def test_a_distance_is_chosen_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(
        """
        [distance]
        kind = "combination"
        terms = [
            { kind = "phi2", bins = 8, range = [-1, 1], channels = ["*.angles.*"] },
            { kind = "joint_error", exponent = 1.5, weight = 20.0, weights = { "*.hip" = 0.5 } },
        ]
        """
    )
    first, second = read(path, Fit).distance.terms
    assert (first.bins, first.range, first.channels) == (8, (-1.0, 1.0), ("*.angles.*",))
    assert (second.exponent, second.weight, second.weights) == (1.5, 20.0, {"*.hip": 0.5})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "phi3"', r"line 2: distance.kind: is 'phi3'. Did you mean 'phi"),
        ('kind = "phi2"\nbins = 1', "bins is 1; allowed are 2 to 1024"),
        ('kind = "phi2"\nrange = "reel"', "'real'"),
        ('kind = "joint_error"\nexponent = -1', "must be 0 or more"),
        ('weights = {"*" = -1}', "must be 0 or more"),
        ('kind = "combination"', "needs at least one"),
        ("exponents = 2", "Did you mean 'exponent'"),
    ],
)
def test_wrong_settings_are_errors_with_their_line_or_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(f"[distance]\n{text}\n")
    with pytest.raises(FileError, match=message):
        read(path, Fit)


def test_an_unknown_kind_in_a_program_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'joint_error'"):
        DistanceSettings(kind="joint_eror")  # type: ignore[arg-type]


def test_units_are_told_for_reports() -> None:
    assert distance_unit(settings_of("phi2"), UNITS) == "bit"
    assert distance_unit(settings_of("rms"), ("rad", "rad")) == "rad"
    assert distance_unit(settings_of("joint_error"), ("rad",)) == "rad^2"
    assert not distance_unit(settings_of("phi1"), UNITS)


TWO_COLUMNS, TWO_UNITS = ("r.angles.knee", "r.angles.hip"), ("rad", "rad")


def behaviours(seed: int = 0) -> tuple[Behaviour, Behaviour]:
    rng = np.random.default_rng(seed)
    real = Behaviour(columns=TWO_COLUMNS, units=TWO_UNITS, series=rng.normal(size=(50, 2)))
    return real, Behaviour(columns=TWO_COLUMNS, units=TWO_UNITS, series=rng.normal(size=(3, 50, 2)))


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
    ended = Behaviour(columns=TWO_COLUMNS, units=TWO_UNITS, series=simulated.series, frames=np.array([50, 20, 50]))
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
    still = Behaviour(columns=TWO_COLUMNS, units=TWO_UNITS, series=resting)
    assert len(residual_series(DistanceSettings(kind="phi2"), still, simulated)) == 1


TRIPLES = hnp.arrays(np.float64, (3, 7), elements=st.floats(-100, 100, allow_subnormal=False))


@given(TRIPLES)
def test_phi1_is_a_metric(fitness: np.ndarray) -> None:
    x, y, z = fitness
    assert phi1(x, x) == 0
    assert phi1(x, y) == phi1(y, x)
    assert phi1(x, z) <= phi1(x, y) + phi1(y, z) + 1e-9
    assert (phi1(x, y) == 0) == bool((x == y).all())


def phi1(real: np.ndarray, simulated: np.ndarray) -> float:
    """The mean over trials of one simulation."""
    distance = make_distance(DistanceSettings(kind="phi1"))
    pairs = zip(real, simulated, strict=True)
    found = [distance.per_trial(Behaviour(fitness=r), Behaviour(fitness=np.array([s]))) for r, s in pairs]
    return float(distance.over_trials(np.stack(found))[0])


@pytest.mark.parametrize("scale", ["none", "deviation"])
@pytest.mark.parametrize("kind", [kind for kind in LOSSES if kind not in ROBUST_LOSSES])
def test_residuals_add_up_to_the_distance_over_trials(kind: Kind, scale: Literal["none", "deviation"]) -> None:
    settings = DistanceSettings(kind=kind, channels=ANGLES, weights={"*.knee": 3.0}, scale=scale)
    pairs = [trial(seed) for seed in range(3)]
    if kind != "joint_error":  # there, a missing value counts with the mean of the others
        for real, _ in pairs:
            assert real.series is not None
            real.series[10:14, 1] = np.nan
    distance = make_distance(settings)
    values = distance.over_trials(np.stack([distance.per_trial(*pair) for pair in pairs]))
    real, simulated = zip(*pairs, strict=True)
    rows = residual_rows(settings, real, simulated)
    summed = {
        "root": np.sqrt((rows**2).sum(axis=1)),
        "squares": (rows**2).sum(axis=1),
        "absolute": np.abs(rows).sum(axis=1),
    }
    np.testing.assert_allclose(summed[LOSSES[kind]], values, rtol=1e-12)


@pytest.mark.parametrize("kind", ROBUST_LOSSES)
def test_a_robust_distance_of_one_trial_is_the_loss_of_its_residuals_and_hardly_feels_an_outlier(kind: Kind) -> None:
    settings = DistanceSettings(kind=kind, channels=ANGLES)
    real, simulated = trial()
    assert real.series is not None
    plain = make_distance(settings).per_trial(real, simulated)
    rows = residual_rows(settings, [real], [simulated])
    np.testing.assert_allclose(loss_values(LOSSES[kind], rows), plain, rtol=1e-9)
    real.series[5, 0] += 1000.0
    robust = make_distance(settings).per_trial(real, simulated)
    squares = make_distance(DistanceSettings(kind="rms", channels=ANGLES)).per_trial(real, simulated)
    assert (robust < 0.25 * squares).all()
    missing = replace(simulated, frames=np.array([50, 50, 20, 0]))
    assert np.isinf(make_distance(settings).per_trial(real, missing)[3])


def test_frames_after_the_end_are_as_wrong_as_can_be_and_a_breakdown_has_no_residuals() -> None:
    real, simulated = trial()
    settings = DistanceSettings(kind="rms", channels=ANGLES)
    whole = residual_rows(settings, [real], [simulated])
    cut = residual_rows(settings, [real], [replace(simulated, frames=np.array([50, 50, 20, 0]))])
    np.testing.assert_array_equal(cut[:2], whole[:2])
    assert (cut[2] ** 2).sum() > (whole[2] ** 2).sum()
    assert np.isnan(cut[3]).all()
    with pytest.raises(UsageError, match="phi2 is not made of residuals"):
        residual_rows(DistanceSettings(kind="phi2"), [real], [simulated])
