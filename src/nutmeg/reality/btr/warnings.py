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

**Proposals**: what to search next when the searched numbers cannot explain reality, the third principle of seed 000.

    for one in proposals(cost, estimate):
        one.text            # 'phi falls from 0.18 to 0.07 with delay 0.02 s: search it as well ([simulation.delay] ...'

A simulation that explains the trials badly at its best lacks something that happens in reality. Numbers that were not
searched are changed one at a time, in the simulation that was found and in the trials that were made: latency, masses,
friction and drives of all joints, contacts, the time step, and the ball. Those with which the trials are explained
clearly better are proposed, the best one first. Nothing is tried in reality for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError, UnknownNameError, UsageError
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.twin import Searched, Twin
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.btr.costs import SimulationCost

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


# What to search next.


MIN_GAIN = 0.1
"""The share by which phi must fall for a number to be proposed."""
MAX_PROPOSALS = 3


@dataclass(frozen=True)
class Untried:
    """A number that might be searched, and the values at which it is looked at."""

    target: str
    values: tuple[float, ...]
    relative: bool = True
    unit: str = ""

    @property
    def name(self) -> str:
        """A name for it in a configuration: the target without its patterns."""
        return self.target.replace("*.", "").replace(".*", "").replace(".", "_")

    @property
    def searched(self) -> Searched:
        """The range over which it is searched: from the robot's own value to the values looked at."""
        own = 1.0 if self.relative else 0.0
        low, high = min(own, *self.values), max(own, *self.values)
        return Searched(low=low, high=high, start=own, unit=self.unit, sets=(self.target,), relative=self.relative)


FACTORS = (0.5, 0.7, 1.4, 2.0)
UNTRIED = (
    Untried("delay", (0.01, 0.02, 0.04, 0.08), relative=False, unit="s"),
    Untried("mass.*", (0.7, 0.85, 1.2, 1.4)),
    Untried("drives.*.stiffness", FACTORS),
    Untried("drives.*.torque", FACTORS),
    Untried("servo.*.stall_torque", FACTORS),
    Untried("servo.*.coulomb", FACTORS),
    Untried("joint.*.damping", (0.25, 0.5, 2.0, 4.0)),
    Untried("joint.*.friction", (0.02, 0.05, 0.1, 0.3), relative=False, unit="N m"),
    Untried("foot.friction", FACTORS),
    Untried("physics.contact.friction", FACTORS),
    Untried("physics.contact.solref_0", FACTORS),
    Untried("physics.timestep", (0.25, 0.5, 2.0)),
    Untried("ball.mass", FACTORS),
    Untried("ball.rolling_damping", FACTORS),
    Untried("ball.rolling_deceleration", FACTORS),
)
"""What is looked at; numbers that a robot does not have are passed over."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A number with which the trials are explained better."""

    untried: Untried
    value: float
    """The best of the values that were tried."""
    phi: float
    """Distance from reality with it."""
    before: float
    """The same without it."""

    @property
    def text(self) -> str:
        """A sentence with the table to add to the configuration."""
        one, searched = self.untried, self.untried.searched
        value = f"{'times ' if one.relative else ''}{self.value:g} {one.unit}".rstrip()
        table = f'[simulation.{one.name}] sets = ["{one.target}"], low = {searched.low:g}, high = {searched.high:g}'
        table += ", relative = true" if one.relative else ""
        gain = f"phi falls from {self.before:.3g} to {self.phi:.3g}"
        return f"{gain} with {one.target} {value}: search it as well ({table})."


def proposals(cost: SimulationCost, estimate: Floats, untried: Sequence[Untried] = UNTRIED) -> tuple[Proposal, ...]:
    """The numbers to search next, the most helpful first; none if nothing that is known here helps.

    Args:
        cost: the distance from reality in the stored trials.
        estimate: the simulation that was found, (k,).
        untried: what is looked at; what is searched already is passed over.
    """
    searched = {target for name, one in cost.twin.searched.items() for target in one.targets(name)}
    before = float(cost(estimate[None])[0])
    found = []
    for one in untried:
        if one.target in searched:
            continue
        values = np.array([_phi(cost, estimate, one, value) for value in one.values])
        best = int(np.argmin(values))
        if values[best] < (1 - MIN_GAIN) * before:
            found.append(Proposal(untried=one, value=one.values[best], phi=float(values[best]), before=before))
    return tuple(sorted(found, key=lambda proposal: proposal.phi)[:MAX_PROPOSALS])


def _phi(cost: SimulationCost, estimate: Floats, untried: Untried, value: float) -> float:
    """The distance with one number changed; infinite where the robot has no such number."""
    twin = cost.twin
    change = Adjustment(target=untried.target, value=value, relative=untried.relative)
    try:
        robot = replace(twin.settings, adjustments=(*twin.settings.adjustments, change))
        changed = Twin(robot, twin.searched, threads=twin.threads)
        return float(replace(cost, twin=changed)(estimate[None])[0])
    except (ModelError, UnknownNameError, UsageError):
        return float("inf")
