"""Plausibility: warnings about simulations that are good and cannot be true.

Seed 000 (section 5) calls them bizarre: a simulation may explain all trials with impossible numbers. Three signs are
looked for: a number at the end of its range, one far from what is known beforehand, and rivals that explain the
trials as well with other numbers.

    for text in implausible(space, estimate, {"femur": Prior(value=1.0, deviation=0.1)}, rivals):
        ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.search.space import Space

AT_THE_END = 0.02
"""Part of the range within which a number counts as at its end."""
FAR = 3.0
"""Standard deviations from what is known that are too many."""
AS_GOOD = 1.05
"""A rival explains the trials as well when its phi is at most so many times the best."""
APART = 0.35
"""Part of the range by which equally good values must differ to be told."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """What is known about a number beforehand."""

    value: float
    """What it should be about."""
    deviation: float
    """How far off it may well be (a standard deviation)."""

    def __post_init__(self) -> None:
        if not self.deviation > 0:
            raise ValueError(f"the deviation is {self.deviation:g}; it must be above 0.")


def implausible(
    space: Space,
    estimate: Floats,
    priors: Mapping[str, Prior],
    rivals: tuple[Floats, Floats] | None = None,
) -> tuple[str, ...]:
    """What is odd about an estimate, (k,), one sentence each.

    Args:
        space: what is searched.
        estimate: the best simulation.
        priors: what is known about some numbers.
        rivals: other simulations, (r, k), and their phi, (r,).
    """
    warnings = []
    unit = space.unit(estimate)
    for i, (name, dimension) in enumerate(space.dimensions.items()):
        value = f"{name} = {f'{estimate[i]:.4g} {dimension.unit}'.rstrip()}"
        if min(unit[i], 1 - unit[i]) < AT_THE_END:
            warnings.append(
                f"{value} is at the end of its range {dimension.range}: widen it, or search something else that may "
                "differ from reality."
            )
        if name in priors:
            off = abs(float(estimate[i]) - priors[name].value) / priors[name].deviation
            if off > FAR:
                warnings.append(
                    f"{value} is {off:.1f} deviations from the {priors[name].value:g} known beforehand: the simulation "
                    "may be bizarre, right for these trials only."
                )
    return (*warnings, *_undetermined(space, rivals))


def _undetermined(space: Space, rivals: tuple[Floats, Floats] | None) -> list[str]:
    """Numbers that equally good simulations disagree about."""
    if rivals is None or len(rivals[1]) < 2 or not np.isfinite(rivals[1]).any():
        return []
    points, values = rivals
    good = space.unit(points[values <= AS_GOOD * np.nanmin(values) + 1e-12])
    span = good.max(axis=0) - good.min(axis=0)
    return [
        f"{name} is not determined: simulations that explain the trials as well differ by {width:.0%} of its range."
        for name, width in zip(space.names, span, strict=True)
        if width > APART
    ]
