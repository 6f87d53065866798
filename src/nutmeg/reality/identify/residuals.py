"""What the residuals of a fit tell about recordings and model: outliers, offsets, errors that are not noise.

    checks = ResidualCheck.of(measured, simulated)      # series (T,) of one column of a recording, gaps are NaN
    checks.outliers                                     # share of samples that jump out
    checks.whiteness, checks.runs                       # p-values: small if the errors are not independent

If the model is right, residuals are noise around zero. Two tests say how likely such residuals would be if their
samples were independent: that of Ljung and Box (On a measure of lack of fit in time series models, Biometrika 1978)
sees correlations of successive samples; the runs test of Wald and Wolfowitz (1940) counts changes of side around the
median, so that outliers do not matter to it. A simulation with errors of its own fails both on long recordings. This
alone is no reason to discard it: intervals count how long errors last (`identify.curvature`). But a model that leaves
less to explain has residuals that are nearer to noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, ndtr

from nutmeg.reality.identify.curvature import MIN_SERIES_LENGTH, robust_deviation

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats

SPIKE_DEVIATIONS = 6.0
"""A residual is an outlier if it is so many deviations from the median of its neighbourhood."""
SPIKE_NEIGHBOURS = 2
"""Neighbours on either side of a sample."""
MIN_SPIKE = 0.02
"""Smaller differences, as a share of the range of the measurement, are no outliers."""
MAX_LAGS = 10
"""Distances between samples whose correlation the whiteness test counts."""


@dataclass(frozen=True, kw_only=True)
class ResidualCheck:
    """The residuals of one column of a recording."""

    samples: int
    offset: float
    """Mean of measured less simulated values, in SI units."""
    power: float
    """Mean of the squared residuals."""
    correlation: float
    """Of successive residuals; 0 for white noise."""
    whiteness: float
    """p-value of the test by Ljung and Box: small if residuals depend on those before them."""
    runs: float
    """p-value of the runs test: small if residuals stay on one side of their median for long."""
    outliers: float
    """Share of samples that stand out from their neighbours."""

    @classmethod
    def of(cls, measured: Floats, simulated: Floats) -> ResidualCheck | None:
        """Of series (T,); None if there are too few samples to tell anything."""
        known = np.isfinite(measured) & np.isfinite(simulated)
        count = int(known.sum())
        if count < MIN_SERIES_LENGTH:
            return None
        residuals = (measured - simulated)[known]
        offset, power = float(residuals.mean()), float(np.mean(residuals**2))
        correlations = _correlations(residuals - offset)
        lags = np.arange(1, len(correlations) + 1)
        return cls(
            samples=count,
            offset=offset,
            power=power,
            correlation=float(correlations[0]),
            whiteness=float(chdtrc(len(lags), count * (count + 2) * float((correlations**2 / (count - lags)).sum()))),
            runs=_runs_test(residuals),
            outliers=float(_spikes(measured[known], residuals).mean()),
        )


def _correlations(residuals: Floats) -> Floats:
    """Correlations of residuals (T,) around zero with those some samples later, (lags,)."""
    power = float(residuals @ residuals)
    lags = range(1, min(MAX_LAGS, len(residuals) // 5) + 1)
    return np.array([float(residuals[:-lag] @ residuals[lag:]) / power if power > 0 else 0.0 for lag in lags])


def _runs_test(residuals: Floats) -> float:
    """The p-value of the runs test of residuals (T,), by its normal approximation."""
    off = residuals - np.median(residuals)
    above = off[off != 0] > 0
    first, second = int(above.sum()), int((~above).sum())
    count = first + second
    if not first or not second:
        return 1.0
    runs = 1 + int((above[1:] != above[:-1]).sum())
    expected = 1 + 2 * first * second / count
    variance = (expected - 1) * (expected - 2) / (count - 1)
    return float(2 * ndtr(-abs(runs - expected) / math.sqrt(variance))) if variance > 0 else 1.0


def _spikes(measured: Floats, residuals: Floats) -> Bools:
    """Which samples (T,) stand out from their neighbours (Hampel's filter), in the residuals and in the measurement.

    A model that is wrong for long, or a simulation that jumps, has no outliers in this sense.
    """
    off = _off_neighbours(residuals)
    # Half of a quiet series may equal its own median; the mean absolute difference keeps the deviation above zero.
    least = MIN_SPIKE * float(np.ptp(measured)) / SPIKE_DEVIATIONS
    deviation = max(robust_deviation(off), float(np.mean(np.abs(off))) / 4, least)
    jumps = np.abs(_off_neighbours(measured)) > np.abs(off) / 2
    return np.asarray((np.abs(off) > SPIKE_DEVIATIONS * deviation) & jumps)


def _off_neighbours(series: Floats) -> Floats:
    """Differences from the median of a few samples on either side, (T,)."""
    padded = np.pad(series, SPIKE_NEIGHBOURS, mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * SPIKE_NEIGHBOURS + 1)
    return np.asarray(series - np.median(near, axis=1))
