"""Warnings of a Back-to-Reality run: co-evolution that no longer informs, and simulations that cannot be true.

**Disengagement.** Controllers and simulations no longer tell each other anything; seed 000 (section 3.3, step 4) ends
then, as the space of simulations may lack what happens in reality. Three signs:

- `blind`: all simulations tried explain the trials about equally well, so the trials cannot choose among them;
- `stuck`: phi no longer falls from iteration to iteration, and what is left of it still matters;
- `alike`: the trials of an iteration did about the same in reality, and so say one thing several times.

    found = disengaged(signs)               # of the iterations so far: None, or what is wrong and what to do
    found.kind, found.reason, found.advice

**Plausibility.** A simulation may explain all trials with impossible numbers; seed 000 (section 5) calls it bizarre.
Three signs: a number at the end of its range, one far from what is known beforehand, and rivals that explain the trials
as well with other numbers.

    for text in implausible(space, estimate, {"femur": Prior(value=1.0, deviation=0.1)}, rivals):
        ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.search.space import Space

STUCK_ITERATIONS = 3
"""Number of iterations over which phi must fall."""
MIN_IMPROVEMENT = 0.05
"""The share of itself by which phi must fall in an iteration."""
RELEVANT_GAP = 0.1
"""A gap matters from this share on: phi1 of the fitness in reality, other distances of phi at the beginning."""
BLIND_SPREAD = 0.02
"""Spread of phi over simulations, as a part of its mean, below which they cannot be distinguished."""
ALIKE_SPREAD = 0.01
"""Spread of real fitness over trials, as a part of its mean, below which they are alike."""


@dataclass(frozen=True)
class Disengagement:
    """A kind of disengagement, its reason, and what to do about it."""

    kind: str
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"disengaged ({self.kind}): {self.reason} {self.advice}"


@dataclass(frozen=True, kw_only=True)
class EngagementSign:
    """What an iteration tells about disengagement."""

    values: Floats
    """phi of all candidates of its simulation search, (n,)."""
    best: float
    """phi of the simulation it found."""
    before: float
    """phi of the simulation it started from, in the same trials."""
    fitness: Floats = field(default_factory=lambda: np.empty(0))
    """Fitness of its trials in reality, (m,)."""


def disengaged(signs: Sequence[EngagementSign], *, fitness_gap: bool = True) -> Disengagement | None:
    """The first sign of disengagement in the last iterations, if there is one.

    Args:
        signs: of all iterations so far that had a simulation search.
        fitness_gap: whether phi is in units of fitness.
    """
    if not signs:
        return None
    return _blind(signs[-1]) or _alike(signs[-1]) or _stuck(signs, fitness_gap=fitness_gap)


def _blind(sign: EngagementSign) -> Disengagement | None:
    known = sign.values[np.isfinite(sign.values)]
    if len(known) < 2 or known.mean() <= 0 or known.std() > BLIND_SPREAD * known.mean():
        return None
    return Disengagement(
        "blind",
        f"all {len(known)} simulations tried have a phi within {known.std() / known.mean():.1%} of {known.mean():.3g}.",
        "Try more informative controllers (`exploring` or `random` of [transfer]), or a distance that sees more.",
    )


def _alike(sign: EngagementSign) -> Disengagement | None:
    known = sign.fitness[np.isfinite(sign.fitness)]
    if len(known) < 3 or known.std() > ALIKE_SPREAD * max(abs(float(known.mean())), 1e-9):
        return None
    return Disengagement(
        "alike",
        f"the {len(known)} controllers tried last achieve {known.mean():.3g} within {known.std():.2g} in reality.",
        "Let controllers differ more: a larger mutation, or `exploring` or `random` of [transfer].",
    )


def _stuck(signs: Sequence[EngagementSign], *, fitness_gap: bool) -> Disengagement | None:
    if len(signs) <= STUCK_ITERATIONS:
        return None
    recent = signs[-STUCK_ITERATIONS:]
    still = all(sign.before - sign.best <= MIN_IMPROVEMENT * sign.before for sign in recent)
    fitness = [float(np.nanmax(np.abs(s.fitness))) for s in recent if np.isfinite(s.fitness).any()]
    scale = max(fitness, default=0.0) if fitness_gap else signs[0].before
    gap = recent[-1].best
    if not still or gap <= RELEVANT_GAP * scale:
        return None
    return Disengagement(
        "stuck",
        f"for {STUCK_ITERATIONS} iterations the search has found no better simulation, and phi is still {gap:.3g}.",
        "The space of simulations may lack what differs in reality: widen its ranges, or search more (friction, gains, "
        "`physics.timestep`).",
    )


RANGE_END_SHARE = 0.02
"""Part of the range within which a number counts as at its end."""
MAX_PRIOR_DEVIATIONS = 3.0
"""Standard deviations from what is known that are too many."""
RIVAL_TOLERANCE = 1.05
"""A rival explains the trials as well when its phi is at most so many times the best."""
UNDETERMINED_SHARE = 0.35
"""Part of the range by which equally good values must differ to be reported."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Prior knowledge about a parameter."""

    value: float
    """The expected value."""
    deviation: float
    """Its standard deviation."""

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
        if min(unit[i], 1 - unit[i]) < RANGE_END_SHARE:
            warnings.append(
                f"{value} is at the end of its range {dimension.range}: widen it, or search something else that may "
                "differ from reality."
            )
        if name in priors:
            off = abs(float(estimate[i]) - priors[name].value) / priors[name].deviation
            if off > MAX_PRIOR_DEVIATIONS:
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
    good = space.unit(points[values <= RIVAL_TOLERANCE * np.nanmin(values) + 1e-12])
    span = good.max(axis=0) - good.min(axis=0)
    return [
        f"{name} is not determined: simulations that explain the trials as well differ by {width:.0%} of its range."
        for name, width in zip(space.names, span, strict=True)
        if width > UNDETERMINED_SHARE
    ]
