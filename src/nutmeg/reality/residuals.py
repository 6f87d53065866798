"""Residuals: the weighted differences between simulations and reality, one by one, for the curvature of a fit.

    found = [residual_series(settings, real, simulated) for real, simulated in trials]
    series = [one for trial in found for one in trial]           # (N, rows) each, for `identifiability.curvature`

| distance      | residuals of a trial                                                                            |
|---------------|-------------------------------------------------------------------------------------------------|
| rms           | differences; their squares add up to its square                                                 |
| joint_error   | differences; their squares add up to it                                                         |
| mean_absolute | the differences of rms                                                                          |
| phi1          | one row: the signed difference of fitness; many trials make many rows                           |
| phi2          | the differences of rms as parts of the deviation of each channel: an information distance has   |
|               | none, and is too rugged for its own curvature, but the series that it compares tell as much     |
| combination   | those of its terms                                                                              |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.reality.alignment import short_way
from nutmeg.reality.behaviour import Matched, column_weights, match
from nutmeg.reality.series_error import real_scales

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.behaviour import Behaviour
    from nutmeg.reality.distance import DistanceSettings


def residual_series(settings: DistanceSettings, real: Behaviour, simulated: Behaviour) -> list[Floats]:
    """The residuals of N simulations in one trial: `(N, T)` for each channel of weight, of each term.

    They are nan where a value is missing and from the end of a simulation on.
    """
    if settings.kind == "combination":
        terms = [(term.weight, residual_series(term, real, simulated)) for term in settings.terms if term.weight]
        return [np.sqrt(weight) * series for weight, found in terms for series in found]
    if settings.kind == "phi1":
        if real.fitness is None or simulated.fitness is None:
            raise UsageError(f"{real.place}phi1 compares fitness, and there is none. Give it, or use another distance.")
        return [np.atleast_1d(np.asarray(simulated.fitness, dtype=np.float64) - real.fitness)[:, np.newaxis]]
    seen = match(real, simulated, settings.channels)
    weights = column_weights(seen.columns, settings.weights)
    counts = weights > 0
    if settings.kind == "phi2":  # a channel that rests tells nothing
        counts &= np.nanmax(seen.real, axis=-2) > np.nanmin(seen.real, axis=-2)
    seen, weights = seen.only(counts), weights[counts]
    difference = seen.simulated - seen.real
    if settings.angles:
        difference = short_way(difference)
    ended = np.arange(seen.real.shape[-2]) >= seen.frames[..., np.newaxis]
    difference = np.where(ended[..., np.newaxis], np.nan, difference * _factors(settings, seen, weights))
    return list(np.moveaxis(difference.reshape(-1, *difference.shape[-2:]), -1, 0))


def _factors(settings: DistanceSettings, seen: Matched, weights: Floats) -> Floats:
    """What differences of each channel are multiplied by, `(channels,)`."""
    rows = float(seen.real.shape[-2])
    if settings.kind == "joint_error":  # seed 001, eq. 2
        return np.asarray(np.sqrt(weights * rows**-settings.exponent))
    scales = real_scales(seen.real, "deviation" if settings.kind == "phi2" else settings.scale, seen.columns)
    return np.asarray(np.sqrt(weights / weights.sum() / rows) / scales)
