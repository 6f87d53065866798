"""Distances between simulation and reality, chosen by name.

    [distance]                                  # of a configuration file
    kind = "combination"
    terms = [
        { kind = "phi2", bins = 16, channels = ["*.angles.*"] },
        { kind = "rms", weight = 20.0, scale = "deviation", weights = { "*.HeadYaw" = 0.0 } },
    ]

    distance = make_distance(settings)
    trials = [distance.per_trial(real, simulated) for real, simulated in behaviours]   # M times (N,)
    distance.over_trials(np.stack(trials))                                             # (N,)

| kind          | value of a trial                                                  | over trials | equation        |
|---------------|-------------------------------------------------------------------|-------------|-----------------|
| phi1          | difference of the fitness                                         | mean        | seed 000, 3-4   |
| phi2          | information distance, summed over channels [bit]                  | mean        | seed 000, 5-6   |
| joint_error   | sum of squared errors over T^m                                    | sum         | seed 001, 2     |
| rms           | root of the mean square error over frames, weighted over channels | root of the |                 |
|               |                                                                   | mean square |                 |
| huber,        | rms in which errors beyond 1.345 deviations count only as these   | mean        |                 |
| soft_l1       | (`search.losses`; fits take all trials together)                  |             |                 |
| mean_absolute | mean absolute error, weighted over channels                       | mean        |                 |
| combination   | weighted sum of its terms                                         | mean        |                 |

A simulation that cannot be compared (no value in a channel, no fitness) is infinitely far away, which searchers
rank last; a reality that cannot be compared is an error. In `rms` and `mean_absolute` only frames before the end
count, so like `joint_error` with m = 1 they reward a fall before the difficult part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.reality.behaviour import MatchedSeries, column_weights, match_series, short_way
from nutmeg.reality.distances.information import Binning, information_distance
from nutmeg.reality.distances.series_error import joint_error, real_scales, series_errors
from nutmeg.search.losses import ROBUST_LOSSES, Loss, loss_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.behaviour import Behaviour


Kind = Literal["phi1", "phi2", "joint_error", "rms", "huber", "soft_l1", "mean_absolute", "combination"]


@dataclass(frozen=True, kw_only=True)
class DistanceSettings:
    """The kind of a distance, and how it is measured; fields that a kind does not use keep their defaults."""

    kind: Kind = "rms"
    """One of the names above."""
    channels: tuple[str, ...] = ()
    """Patterns of the columns to compare, such as `*.angles.*`; all without any."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of columns by patterns, 1 where none fits; the last one that fits counts."""
    scale: Literal["none", "deviation", "range"] = "none"
    """rms, huber, soft_l1, mean_absolute: errors in the channel's unit, or in units of the deviation or range of the
    real series."""
    angles: bool = False
    """All of series but phi2: whether a difference of a whole turn (2 pi rad) is none."""
    bins: int = 16
    """phi2: bins inside the range."""
    range: Literal["real", "joint"] | tuple[float, float] = "real"
    """phi2: the range of the bins."""
    miller_madow: bool = False
    """phi2: whether to correct the bias of few samples."""
    exponent: float = 2.0
    """joint_error: m."""
    weight: float = 1.0
    """As a term of a combination: the factor of its value."""
    terms: tuple[DistanceSettings, ...] = ()
    """combination: its terms."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownNameError("distance", self.kind, get_args(Kind))
        _ = self.binning  # checks itself
        if not (0 <= self.exponent < np.inf and 0 <= self.weight < np.inf):
            raise ValueError(f"exponent ({self.exponent}) and weight ({self.weight}) must be 0 or more, and finite.")
        wrong = {name: weight for name, weight in self.weights.items() if not 0 <= weight < np.inf}
        if wrong:
            raise ValueError(f"the weights {wrong} must be 0 or more, and finite.")
        if bool(self.terms) != (self.kind == "combination"):
            found = f"kind is {self.kind!r} and there are {len(self.terms)} terms"
            raise ValueError(f"{found}; a combination needs at least one, the others none.")
        if self.terms and not any(term.weight for term in self.terms):
            raise ValueError("the weights of all terms are 0, so nothing is measured.")

    @property
    def binning(self) -> Binning:
        """The bins of phi2."""
        return Binning(bins=self.bins, range=self.range, miller_madow=self.miller_madow)


class Distance(Protocol):
    """How far simulations are from reality; the smaller the better, 0 when they cannot be distinguished."""

    def per_trial(self, real: Behaviour, simulated: Behaviour) -> Floats:
        """The distance in one trial, `(N,)`."""
        ...

    def over_trials(self, values: Floats) -> Floats:
        """The distance over all trials, `(N,)`, of those of each, `(M, N)`."""
        ...


@dataclass(frozen=True)
class _FitnessGap:
    """phi1: the difference between the fitness of controllers in simulation and in reality.

    It needs a single number per trial, and it only depends on what matters to these controllers: parameters that do
    not change their fitness are not determined by it.
    """

    settings: DistanceSettings

    def per_trial(self, real: Behaviour, simulated: Behaviour) -> Floats:
        """The gap |f_s - f_r| of one controller, `(N,)` (seed 000, eq. 3)."""
        gap = np.abs(_fitness_difference(real, simulated))
        return np.where(np.isnan(gap), np.inf, gap)

    def over_trials(self, values: Floats) -> Floats:
        """The mean over controllers, `(N,)` (seed 000, eq. 4)."""
        return np.asarray(values.mean(axis=0))


def _fitness_difference(real: Behaviour, simulated: Behaviour) -> Floats:
    if real.fitness is None or simulated.fitness is None or np.isnan(real.fitness).any():
        side = simulated if simulated.fitness is None else real
        raise UsageError(f"{side.place}phi1 compares fitness, and there is none. Give it, or use another distance.")
    return np.asarray(simulated.fitness, dtype=np.float64) - real.fitness


@dataclass(frozen=True)
class _SeriesDistance:
    """A distance between series: what the measure finds, gathered over trials."""

    settings: DistanceSettings
    measure: Callable[[DistanceSettings, MatchedSeries, Floats], Floats]
    gather: Literal["mean", "sum", "root"] = "mean"
    """Over trials: the mean, the sum, or the root of the mean square."""

    def per_trial(self, real: Behaviour, simulated: Behaviour) -> Floats:
        """The distance in one trial, `(N,)`."""
        seen = match_series(real, simulated, self.settings.channels)
        weights = column_weights(seen.columns, self.settings.weights)
        return self.measure(self.settings, seen.only(weights > 0), weights[weights > 0])

    def over_trials(self, values: Floats) -> Floats:
        """The sum of the joint errors of all robots (seed 001, eq. 2), the root mean square, or the mean."""
        if self.gather == "root":
            return np.asarray(np.sqrt((values**2).mean(axis=0)))
        return np.asarray(values.sum(axis=0) if self.gather == "sum" else values.mean(axis=0))


@dataclass(frozen=True)
class Combination:
    """A weighted sum of distances; terms are added in each trial, then averaged over trials."""

    terms: tuple[Distance, ...]
    weights: tuple[float, ...]

    def per_trial(self, real: Behaviour, simulated: Behaviour) -> Floats:
        """The weighted sum in one trial, `(N,)`; terms of weight 0 are not measured."""
        parts = [w * term.per_trial(real, simulated) for term, w in zip(self.terms, self.weights, strict=True) if w]
        return np.asarray(sum(parts))

    def over_trials(self, values: Floats) -> Floats:
        """The mean over trials."""
        return np.asarray(values.mean(axis=0))


def make_distance(settings: DistanceSettings) -> Distance:
    """The distance that settings describe."""
    if settings.kind == "phi1":
        return _FitnessGap(settings)
    if settings.kind == "combination":
        terms = tuple(make_distance(term) for term in settings.terms)
        return Combination(terms, tuple(term.weight for term in settings.terms))
    if settings.kind == "phi2":
        return _SeriesDistance(settings, _information)
    if settings.kind == "joint_error":
        return _SeriesDistance(settings, _joint_error, gather="sum")
    if settings.kind in ROBUST_LOSSES:
        return _SeriesDistance(settings, _robust_error)
    return _SeriesDistance(settings, _series_error, gather="root" if settings.kind == "rms" else "mean")


def distance_unit(settings: DistanceSettings, units: tuple[str, ...]) -> str:
    """The unit of a distance between channels of these units, for reports; empty where it has none of its own."""
    if settings.kind == "phi2":
        return "bit"
    if settings.kind in ("phi1", "combination") or settings.scale != "none" or len(set(units)) != 1:
        return ""
    return f"{units[0]}^2" if settings.kind == "joint_error" else units[0]


def _information(settings: DistanceSettings, seen: MatchedSeries, weights: Floats) -> Floats:
    """phi2 [bit], `(...)`."""
    bits = information_distance(
        seen.real, seen.simulated, binning=settings.binning, frames=seen.frames, columns=seen.columns, empty="infinite"
    )
    return np.asarray(bits @ weights)


def _joint_error(settings: DistanceSettings, seen: MatchedSeries, weights: Floats) -> Floats:
    """The error F of joint angles, (...)."""
    _refuse_mixed_units(seen, settings)
    return joint_error(
        seen.real,
        seen.simulated,
        exponent=settings.exponent,
        frames=seen.frames,
        weights=weights,
        angles=settings.angles,
        columns=seen.columns,
        empty="infinite",
    )


def _series_error(settings: DistanceSettings, seen: MatchedSeries, weights: Floats) -> Floats:
    """RMS or mean absolute error, `(...)`: their weighted mean over channels, of squares in case of RMS."""
    _refuse_mixed_units(seen, settings)
    errors = series_errors(
        seen.real, seen.simulated, frames=seen.frames, angles=settings.angles, columns=seen.columns, empty="infinite"
    )
    scales, weights = real_scales(seen.real, settings.scale, seen.columns), weights / weights.sum()
    if settings.kind == "mean_absolute":
        return np.asarray((errors.mean_absolute / scales) @ weights)
    return np.sqrt((errors.rms / scales) ** 2 @ weights)


def _robust_error(settings: DistanceSettings, seen: MatchedSeries, weights: Floats) -> Floats:
    """Huber's or the soft absolute error, `(...)`, over the frames before the end that have a value."""
    _refuse_mixed_units(seen, settings)
    difference = seen.simulated - seen.real
    if settings.angles:
        difference = short_way(difference)
    difference = difference * _factors(settings, seen, weights, squared=True)
    out = np.full(difference.shape[:-2], np.inf)
    for place in np.ndindex(*out.shape):
        known = difference[place][: int(seen.frames[place])]
        known = known[~np.isnan(known)]
        if len(known):  # the mean over the frames before the end
            scale = np.sqrt(np.isfinite(seen.real).sum() / len(known))
            out[place] = scale * loss_values(LOSSES[settings.kind], known[None])[0]
    return out


def _refuse_mixed_units(seen: MatchedSeries, settings: DistanceSettings) -> None:
    units = sorted(set(seen.units))
    scaled = settings.scale != "none" and settings.kind != "joint_error"
    if len(units) > 1 and not scaled:
        raise UsageError(
            f"{settings.kind} would add up channels in {', '.join(repr(u) for u in units)}. Choose channels of one "
            "unit with `channels`, use `rms` with `scale = 'deviation'`, or a combination with a term for each unit."
        )


def residual_series(settings: DistanceSettings, real: Behaviour, simulated: Behaviour) -> list[Floats]:
    """The residuals of N simulations in one trial: `(N, T)` for each channel with a weight, of each term.

    They are the weighted differences between simulations and reality one by one, for the curvature of a fit; NaN where
    a value is missing and from the end of a simulation on.

    | distance      | residuals of a trial                                                                         |
    |---------------|----------------------------------------------------------------------------------------------|
    | rms           | differences; their squares add up to its square                                              |
    | joint_error   | differences; their squares add up to it                                                      |
    | mean_absolute,| the differences of rms                                                                       |
    | huber, soft_l1|                                                                                              |
    | phi1          | one row: the signed difference of fitness; many trials make many rows                        |
    | phi2          | the differences of rms in units of the deviation of each channel: an information distance    |
    |               | has none, and is too rugged for its own curvature, but its series tell as much               |
    | combination   | those of its terms                                                                           |
    """
    if settings.kind == "combination":
        terms = [(term.weight, residual_series(term, real, simulated)) for term in settings.terms if term.weight]
        return [np.sqrt(weight) * series for weight, found in terms for series in found]
    if settings.kind == "phi1":
        return [np.atleast_1d(_fitness_difference(real, simulated))[:, np.newaxis]]
    difference, factors, _ = _differences(settings, real, simulated)
    return list(np.moveaxis(difference * factors, -1, 0))


LOSSES: Mapping[str, Loss] = {
    "rms": "root",
    "joint_error": "squares",
    "mean_absolute": "absolute",
    "huber": "huber",
    "soft_l1": "soft_l1",
}
"""Distances that are made of residuals, and how (see `residual_rows`)."""


def residual_rows(settings: DistanceSettings, real: Sequence[Behaviour], simulated: Sequence[Behaviour]) -> Floats:
    """The residuals of N simulations in all trials, (N, rows), for `search.least_squares`.

    The root of the sum of their squares is `rms` over trials, the sum of squares is `joint_error`, the sum of absolute
    ones is `mean_absolute`, and `huber` and `soft_l1` take the residuals of rms. Where a simulation has ended it
    counts as wrong by the whole range of the real channel; samples that were not measured are left out. A simulation
    without any frame has nan everywhere.
    """
    if settings.kind not in LOSSES:
        raise UsageError(f"{settings.kind} is not made of residuals. These are: {', '.join(LOSSES)}.")
    parts = []
    for ours, theirs in zip(real, simulated, strict=True):
        difference, factors, seen = _differences(settings, ours, theirs, squared=settings.kind != "mean_absolute")
        share = {"joint_error": 1.0, "mean_absolute": 1 / len(real)}.get(settings.kind, len(real) ** -0.5)
        worst = np.nanmax(seen.real, axis=-2) - np.nanmin(seen.real, axis=-2)
        difference = np.where(np.isnan(difference), worst, difference) * (share * factors)
        difference[np.atleast_1d(seen.frames) < 1] = np.nan
        parts.append(difference[:, np.isfinite(seen.real)])
    return np.concatenate(parts, axis=1)


def _differences(
    settings: DistanceSettings, real: Behaviour, simulated: Behaviour, *, squared: bool = True
) -> tuple[Floats, Floats, MatchedSeries]:
    """Differences (N, T, channels), nan where a value is missing, the factors of the channels, and the series.

    Differences times factors add up to the distance of the trial: their squares, or else their absolute values.
    """
    seen = match_series(real, simulated, settings.channels)
    weights = column_weights(seen.columns, settings.weights)
    counts = weights > 0
    if settings.kind == "phi2":  # a channel that rests tells nothing
        counts &= np.nanmax(seen.real, axis=-2) > np.nanmin(seen.real, axis=-2)
    seen, weights = seen.only(counts), weights[counts]
    difference = seen.simulated - seen.real
    if settings.angles:
        difference = short_way(difference)
    ended = np.arange(seen.real.shape[-2]) >= seen.frames[..., np.newaxis]
    difference = np.where(ended[..., np.newaxis], np.nan, difference)
    return difference.reshape(-1, *difference.shape[-2:]), _factors(settings, seen, weights, squared=squared), seen


def _factors(settings: DistanceSettings, seen: MatchedSeries, weights: Floats, *, squared: bool) -> Floats:
    """What differences of each channel are multiplied by, `(channels,)`."""
    if settings.kind == "joint_error":  # seed 001, eq. 2
        return np.asarray(np.sqrt(weights * float(seen.real.shape[-2]) ** -settings.exponent))
    rows = np.maximum(np.isfinite(seen.real).sum(axis=-2), 1)
    scales = real_scales(seen.real, "deviation" if settings.kind == "phi2" else settings.scale, seen.columns)
    share = weights / weights.sum() / rows
    return np.asarray((np.sqrt(share) if squared else share) / scales)
