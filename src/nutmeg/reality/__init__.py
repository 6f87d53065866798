"""Closing the gap: how far a simulation is from reality, and how a better one is found.

A `Twin` simulates candidates in trials; `identification` fits it to recordings, `back_to_reality` learns with it
and corrects it by trials in one of the `realities`. Distances compare what a robot did, in reality and in many
simulations at once (`distance` has the table of them):

    from nutmeg.reality import DistanceSettings, make_distance

    distance = make_distance(DistanceSettings(kind="joint_error", exponent=2.0))
    distance.per_trial(real, simulated)         # behaviours: one of reality, one of N simulations; (N,)
"""

from nutmeg.reality.behaviour import Behaviour, column_weights, fit_length, frames_before, resample, short_way
from nutmeg.reality.distances.distance import (
    Combination,
    Distance,
    DistanceSettings,
    distance_unit,
    make_distance,
)
from nutmeg.reality.distances.information import Binning, information_distance
from nutmeg.reality.distances.series_error import (
    SeriesErrors,
    error_if_ended,
    joint_error,
    least_exponent,
    real_scales,
    series_errors,
)
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings

__all__ = [
    "Behaviour",
    "Binning",
    "Combination",
    "Distance",
    "DistanceSettings",
    "Searched",
    "SeriesErrors",
    "Trial",
    "Twin",
    "TwinSettings",
    "column_weights",
    "distance_unit",
    "error_if_ended",
    "fit_length",
    "frames_before",
    "information_distance",
    "joint_error",
    "least_exponent",
    "make_distance",
    "real_scales",
    "resample",
    "series_errors",
    "short_way",
]
