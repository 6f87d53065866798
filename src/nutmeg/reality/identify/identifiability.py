"""Which parameters the data determine, and which trade off against each other.

Two witnesses are heard: the curvature of the error where the fit ended, and re-fits from other seeds.

    found = assess_identifiability(
        space,
        curvature=curvature(residuals, space, result.best.candidate),
        refits=from_refits(space, estimates, errors),              # (seeds, k), (seeds,)
    )
    found.interval("femur"), found.identifiable("femur"), found.reason("femur")
    found.trade_offs                                               # pairs of which only a combination is determined

A parameter is identifiable if its interval is clearly narrower than its range, it did not end at a bound, and
re-fits agree; `Thresholds` says what that means. The interval is the hull of what the curvature gives (Student's t
times the standard error, on both sides of the estimate and of where the quadratic picture has its minimum) and of
the re-fits that ended about as well. It tells what noise like the residuals would do; what is wrong with the model
itself, it does not tell. This answers the question that seed 001 left open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.reality.identify.curvature import Curvature, correlation_of, interval_factor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.search.space import Space


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When a parameter counts as determined. Shares are of the allowed range, along its scale."""

    confidence: float = 0.9
    """Confidence of the intervals."""
    width: float = 0.25
    """An interval must be narrower than this share of the range."""
    bound: float = 0.005
    """An estimate nearer to a bound than this share of the range is at it."""
    agreement: float = 0.15
    """Re-fits must not lie further apart than this share of the range."""
    trade_off: float = 0.9
    """Two estimates that correlate more than this, either way, trade off."""

    def __post_init__(self) -> None:
        for name in ("confidence", "width", "bound", "agreement", "trade_off"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; allowed is more than 0 and less than 1.")


@dataclass(frozen=True, kw_only=True)
class Refits:
    """Estimates from several seeds."""

    estimates: Floats
    """(seeds, k), in SI units."""
    errors: Floats
    """(seeds,), what each ended with; nan for one that failed."""
    good: tuple[bool, ...]
    """Which ended about as well as the best; the others stuck in a worse place and do not count."""
    low: Floats
    """The smallest good estimate, (k,), in the unit cube."""
    high: Floats
    """The largest good estimate, (k,), in the unit cube."""
    correlation: Floats | None
    """Correlation of the good estimates, (k, k); None with fewer than five."""

    @property
    def spread(self) -> Floats:
        """From the smallest to the largest good estimate, (k,), as shares of the ranges."""
        return self.high - self.low


@dataclass(frozen=True)
class TradeOff:
    """Two parameters of which the data mainly determine a combination."""

    first: str
    second: str
    correlation: float
    """Correlation of the two estimates; negative if one grows as the other falls."""


@dataclass(frozen=True)
class Direction:
    """A combination of parameters."""

    spread: float
    """The standard error along it, in shares of the ranges; the largest is the sloppiest."""
    weights: dict[str, float]
    """The share of each parameter: a unit vector in the unit cube."""


@dataclass(frozen=True, kw_only=True)
class Identifiability:
    """Intervals of the parameters of a fit, and which of them the data determine."""

    space: Space
    best: Floats
    """The estimate, (k,), in SI units."""
    low: Floats
    """Lower ends of the intervals, (k,), in SI units, within the bounds."""
    high: Floats
    """Upper ends of the intervals, (k,), in SI units, within the bounds."""
    determined: tuple[bool, ...]
    """Whether each parameter is identifiable."""
    reasons: tuple[str, ...]
    """For each parameter, why the data determine it or why they do not."""
    correlation: Floats | None = None
    """Correlation of the estimates, (k, k)."""
    trade_offs: tuple[TradeOff, ...] = ()
    directions: tuple[Direction, ...] = ()
    """Combinations from the sloppiest to the stiffest; none without curvature."""
    curvature: Curvature | None = None
    refits: Refits | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    def interval(self, name: str) -> tuple[float, float]:
        """Where the parameter probably lies, in SI units, clipped to its bounds."""
        index = self._index(name)
        return float(self.low[index]), float(self.high[index])

    def identifiable(self, name: str) -> bool:
        """Whether the data determine the parameter."""
        return self.determined[self._index(name)]

    def reason(self, name: str) -> str:
        """Why the parameter is identifiable, or why not."""
        return self.reasons[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.space.names:
            raise UnknownNameError("parameter", name, self.space.names)
        return self.space.names.index(name)

    def as_json(self) -> dict[str, object]:
        """All of it as JSON values."""
        parameters = {
            name: {"interval": list(self.interval(name)), "identifiable": yes, "reason": why}
            for name, yes, why in zip(self.space.names, self.determined, self.reasons, strict=True)
        }
        found = self.refits
        return {
            "confidence": self.thresholds.confidence,
            "parameters": parameters,
            "correlation": None if self.correlation is None else self.correlation.tolist(),
            "trade_offs": [
                {"parameters": [t.first, t.second], "correlation": t.correlation} for t in self.trade_offs
            ],
            "directions": [{"spread": d.spread, "weights": d.weights} for d in self.directions],
            "evaluations": self.curvature.evaluations if self.curvature else 0,
            "refits": None if found is None else {"errors": _numbers(found.errors), "good": list(found.good),
                                                  "estimates": found.estimates.tolist()},
        }  # fmt: skip


def _numbers(values: Floats) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def from_refits(space: Space, estimates: ArrayLike, errors: ArrayLike, *, tolerance: float = 0.1) -> Refits:
    """What fits from several seeds say together.

    Args:
        space: what was searched.
        estimates: (seeds, k), in SI units.
        errors: what each ended with, (seeds,); not finite for one that failed.
        tolerance: a fit counts if its error is at most so much larger than the best, as a share of the best.
    """
    rows, values = np.asarray(estimates, float), np.asarray(errors, float)
    if rows.ndim != 2 or values.shape != (len(rows),) or not np.isfinite(values).any():
        raise UsageError(
            f"estimates of the shape {rows.shape} with errors of the shape {values.shape}; needed are (seeds, k) and "
            "(seeds,), with at least one finite error."
        )
    best = float(np.nanmin(np.where(np.isfinite(values), values, np.nan)))
    good = np.isfinite(values) & (values <= best + tolerance * abs(best))
    unit = space.unit(rows[good])
    correlation = correlation_of(np.atleast_2d(np.cov(unit, rowvar=False))) if len(unit) >= 5 else None
    return Refits(
        estimates=rows,
        errors=values,
        good=tuple(good.tolist()),
        low=unit.min(axis=0),
        high=unit.max(axis=0),
        correlation=correlation,
    )


def assess_identifiability(
    space: Space,
    *,
    curvature: Curvature | None = None,
    refits: Refits | None = None,
    thresholds: Thresholds | None = None,
) -> Identifiability:
    """Intervals, verdicts and trade-offs, from whichever of the two witnesses there are.

    The estimate is that of the curvature, or the best re-fit without one.
    """
    correlation: Floats | None
    if curvature is not None:
        best, correlation = curvature.best, curvature.correlation
    elif refits is not None:
        best, correlation = refits.estimates[int(np.nanargmin(refits.errors))], refits.correlation
    else:
        raise UsageError("nothing to assess identifiability by; give the curvature, re-fits, or both.")
    limits = thresholds or Thresholds()
    low, high = _ends(space.unit(best), curvature, refits, limits)
    pairs = _trade_offs(space, correlation, limits)
    verdicts = [_verdict(space, i, best, high - low, curvature, refits, pairs, limits) for i in range(space.size)]
    return Identifiability(
        space=space,
        best=best,
        low=np.minimum(space.values(np.clip(low, 0, 1)), best),  # not beyond the estimate by a rounding error
        high=np.maximum(space.values(np.clip(high, 0, 1)), best),
        determined=tuple(not problem for problem, _ in verdicts),
        reasons=tuple(problem or praise for problem, praise in verdicts),
        correlation=correlation,
        trade_offs=pairs,
        directions=_directions(space, curvature),
        curvature=curvature,
        refits=refits,
        thresholds=limits,
    )


def with_intervals(known: Identifiability, intervals: Mapping[str, tuple[float, float]]) -> Identifiability:
    """The same with other intervals of some parameters, in SI units, such as those of profiles."""
    low, high = known.low.copy(), known.high.copy()
    for name, ends in intervals.items():
        index = known.space.names.index(name)
        low[index], high[index] = ends
    return replace(known, low=low, high=high) if intervals else known


def _ends(at: Floats, curvature: Curvature | None, refits: Refits | None, limits: Thresholds) -> tuple[Floats, Floats]:
    """The ends of the intervals in the unit cube, (k,) each, not clipped to it."""
    low, high = at, at
    if curvature is not None:
        half = interval_factor(limits.confidence, curvature.freedom) * curvature.standard_errors
        low, high = at + np.minimum(0, curvature.shift) - half, at + np.maximum(0, curvature.shift) + half
    if refits is not None:
        count = sum(refits.good)
        # Alone, the range of n estimates misses about a part of n - 1 on either side; one says nothing.
        beyond = 0.0 if curvature else refits.spread / (count - 1) if count > 1 else 1.0
        low, high = np.minimum(low, refits.low - beyond), np.maximum(high, refits.high + beyond)
    return low, high


def _trade_offs(space: Space, correlation: Floats | None, limits: Thresholds) -> tuple[TradeOff, ...]:
    if correlation is None:
        return ()
    i, j = np.triu_indices(space.size, 1)
    strong = [(a, b) for a, b in zip(i, j, strict=True) if abs(correlation[a, b]) > limits.trade_off]
    found = [TradeOff(space.names[a], space.names[b], float(correlation[a, b])) for a, b in strong]
    return tuple(sorted(found, key=lambda pair: -abs(pair.correlation)))


def _directions(space: Space, curvature: Curvature | None) -> tuple[Direction, ...]:
    if curvature is None:
        return ()
    sizes, axes = np.linalg.eigh(curvature.covariance)
    return tuple(
        Direction(float(np.sqrt(max(size, 0.0))), space.named(axis * np.sign(axis[np.argmax(np.abs(axis))])))
        for size, axis in zip(sizes[::-1], axes.T[::-1], strict=True)
    )


def _verdict(
    space: Space,
    index: int,
    best: Floats,
    width: Floats,
    curvature: Curvature | None,
    refits: Refits | None,
    pairs: tuple[TradeOff, ...],
    limits: Thresholds,
) -> tuple[str, str]:
    """What is wrong with a parameter (empty if nothing is), and what is right."""
    name, at = space.names[index], float(space.unit(best)[index])
    partners = [p.second if p.first == name else p.first for p in pairs if name in (p.first, p.second)]
    traded = f"trades off against {', '.join(partners)}" if partners else ""
    others = sum(refits.good) if refits else 0
    spread = float(refits.spread[index]) if refits else 0.0
    bound = "lower" if at < limits.bound else "upper" if at > 1 - limits.bound else ""
    if bound:
        return f"ended at its {bound} bound; widen its range {space.dimensions[name].range}", ""
    if curvature and index in curvature.failed:
        return "its neighbours could not be simulated", ""
    share = f"{_percent(min(width[index], 1.0))} of the range"
    if width[index] >= limits.width:
        if traded:
            return f"{traded}: only their combination is determined", ""
        if curvature and curvature.roughness[index] > 0.5:
            return "its effect does not stand out from the roughness of the simulation", ""
        if curvature and curvature.standard_errors[index] > 0.5:
            return "the data hardly depend on it", ""
        return f"its interval is {share}", ""
    if spread > limits.agreement:
        return f"{others} re-fits differ by {_percent(spread)} of the range", ""
    agree = f"; {others} re-fits agree within {_percent(spread)}" if others > 1 else ""
    return "", f"interval {share}{agree}" + (f"; {traded}" if traded else "")


def _percent(share: float) -> str:
    return "100 %" if share > 0.99 else f"{max(100 * share, 0.1):.2g} %"
