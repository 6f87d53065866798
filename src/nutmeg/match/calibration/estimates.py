"""Estimates with their intervals, and the statistics that all parts of a calibration share.

    Estimate(name="walk.ahead", value=0.61, low=0.60, high=0.62, samples=840)
    rate_estimate("fall.fast", events=3, exposure=900.0)            # a Poisson rate, exact
    share_estimate("kick.fall", hits=1, trials=40)                  # a probability
    resampled(values, np.mean, rng)                                 # (low, high) by bootstrap

All intervals are for 95 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares
from scipy.special import betaincinv, gammaincinv

from nutmeg.base.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence


CONFIDENCE_LEVEL = 0.95
"""Confidence level of all intervals."""
_TAIL_PROBABILITY = (1 - CONFIDENCE_LEVEL) / 2
_RESAMPLES = 200  # samples of a bootstrap


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One number of the behavioural world, estimated from recordings."""

    name: str
    """Dotted name of the number (`settings.NAMES`)."""
    value: float | None = None
    """The estimate; None if the recordings do not determine it."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end of the interval."""
    samples: int = 0
    """How many observations it rests on."""
    reason: str = ""
    """Why nothing was found, or what else to know."""


def unknown(name: str, reason: str, samples: int = 0) -> Estimate:
    """A number that the recordings do not show."""
    return Estimate(name=name, reason=reason, samples=samples)


def _resampled(
    values: Floats, statistic: Callable[[Floats], ArrayLike], rng: np.random.Generator, *, resamples: int = _RESAMPLES
) -> tuple[Floats, Floats]:
    """The interval of a statistic of observations (n, ...), by drawing them again with replacement.

    Its lower and upper ends, each of the shape of the statistic.
    """
    found = [statistic(values[rng.integers(len(values), size=len(values))]) for _ in range(resamples)]
    low, high = np.quantile(np.array(found), [_TAIL_PROBABILITY, 1 - _TAIL_PROBABILITY], axis=0)
    return np.asarray(low), np.asarray(high)


def several(
    names: Sequence[str], values: Floats, statistic: Callable[[Floats], ArrayLike], rng: np.random.Generator
) -> list[Estimate]:
    """Several numbers that are estimated together from the same observations (n, ...)."""
    found, (low, high) = np.asarray(statistic(values)), _resampled(values, statistic, rng, resamples=_RESAMPLES // 2)
    return [
        Estimate(name=name, value=float(found[k]), low=float(low[k]), high=float(high[k]), samples=len(values))
        for k, name in enumerate(names)
    ]


def statistic_estimate(
    name: str,
    values: Floats,
    statistic: Callable[[Floats], float],
    rng: np.random.Generator,
    *,
    least: int,
    what: str,
    coarse: float = 0.0,
) -> Estimate:
    """A statistic with its interval, if there are enough observations of what it is about.

    `coarse` is how far observations can be off all alike, because moments are that far apart.
    """
    if len(values) < least:
        return unknown(name, f"{len(values)} {what}; needed are {least}", len(values))
    low, high = (float(end) for end in _resampled(values, statistic, rng))
    value = float(statistic(values))
    return Estimate(name=name, value=value, low=low - coarse, high=high + coarse, samples=len(values))


def rate_estimate(name: str, *, events: float, exposure: float, samples: int, base: float) -> Estimate:
    """A rate by its events, which may be expected ones, and what they were exposed to; the interval is exact.

    Without events it is 0 if its interval excludes the base's rate; otherwise nothing is known.
    """
    if exposure <= 0.0:
        return unknown(name, "never happened")
    low = float(gammaincinv(events, _TAIL_PROBABILITY)) / exposure if events > 0 else 0.0
    high = float(gammaincinv(events + 1.0, 1 - _TAIL_PROBABILITY)) / exposure
    if events == 0 and high >= base:
        return unknown(name, f"no falls in an exposure of {exposure:.3g}, too little to tell", samples)
    return Estimate(name=name, value=events / exposure, low=low, high=high, samples=samples)


def share_estimate(name: str, *, hits: int, trials: int, least: int, what: str) -> Estimate:
    """A probability; the interval is that of Clopper and Pearson."""
    if trials < least:
        return unknown(name, f"{trials} {what}; needed are {least}", trials)
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, _TAIL_PROBABILITY))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - _TAIL_PROBABILITY))
    return Estimate(name=name, value=hits / trials, low=low, high=high, samples=trials)


@dataclass(frozen=True)
class Fit:
    """Where a search ended."""

    x: Floats
    """(k,) the fitted numbers."""
    cost: float
    """Mean loss of a residual."""
    jacobian: Floats
    """(n, k), weighted."""
    residuals: Floats
    """(n,) what is left of each sample, weighted."""


def robust_fit(
    residuals: Callable[[Floats], Floats], start: Floats, low: Floats, high: Floats, *, step: float = 3e-3
) -> Fit:
    """The parameters (k,) between bounds at which a robust loss of the residuals is least.

    Residuals far above 1 count as their size instead of as its square: the loss is 2 (sqrt(1 + r^2) - 1). Jacobian and
    residuals are returned scaled so that their squares make the curvature of the loss, as a sandwich estimator needs.

    Args:
        residuals: (k,) to (n,), scaled so that 1 is a large error.
        start: where to begin.
        low: the least values.
        high: the greatest values.
        step: of the finite differences, in the parameters' own units: models of walks have kinks.
    """

    def copied(x: Floats) -> Floats:  # callers may write into the same array every time
        return residuals(x).copy()

    def jacobian(x: Floats) -> Floats:
        now, columns = copied(x), []
        for k in range(len(x)):
            there = x.copy()
            there[k] += step if x[k] + step <= high[k] or x[k] - step < low[k] else -step
            columns.append((residuals(there) - now) / (there[k] - x[k]))
        return np.column_stack(columns)

    # dogbox continues from a start at a bound, where the interior method of scipy's default gets stuck
    options: Any = {"loss": "soft_l1", "method": "dogbox", "xtol": 1e-9}
    found = least_squares(copied, np.clip(start, low, high), jacobian, (low, high), **options)
    root = (1 + found.fun**2) ** -0.25
    cost = 2 * float(found.cost) / max(len(found.fun), 1)
    return Fit(found.x, cost, jacobian(found.x) * root[:, None], found.fun * root)
