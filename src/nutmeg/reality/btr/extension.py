"""What the space of simulations lacks: terms are freed one at a time, and the one that carries over joins the space.

The third principle of Zagal, Delpiano and Ruiz-del-Solar (2009): when no simulation explains reality, the model class
must change. A term is a number of the model that is held at its start. Where the searched numbers do not explain the
stored trials, each term is freed for a while:

    [extend]                            # of the configuration of Back-to-Reality
    effort = 0.5                        # of the generations of [simulation_search], for each fit below
    [extend.terms.delay]                # the grammar of [simulation]
    sets = ["delay"]
    low = 0.0
    high = 0.08
    start = 0.0
    unit = "s"

The stored trials are dealt into two halves. In each half the space with the term is searched, from the estimate so
far, and so is the space as it is, with the same effort, which is the control; the other half judges both. More numbers
always explain the trials better that they were fitted to. A term stays if it predicts the other trials better than
every other term, and by a share of `least_gain` better than the control. It is then searched in all trials together.
Nothing is tried in reality for it. (The numbers searched before have seen all trials, with the term and without it.)

Where no terms are listed, those of `warnings.UNTRIED` are looked at that the robot has, and the most promising of them
are freed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.reality.btr.costs import SimulationCost
from nutmeg.reality.btr.result import json_number
from nutmeg.reality.btr.warnings import proposals
from nutmeg.reality.twin import Searched, Twin, TwinSettings, held_at_start
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.search import SearchResult

HALVES = 2
"""Into how many parts the stored trials are dealt; each judges what was fitted to the others."""
MIN_TRIALS = 4
"""The fewest trials of which halves can be judged."""
MORE_TRIALS = 1.5
"""By how many times the stored trials must grow after an attempt that freed nothing, before there is another one."""


@dataclass(frozen=True, kw_only=True)
class TriedTerm:
    """A term that was freed for a while."""

    name: str
    searched: Searched
    value: float
    """Its mean estimate."""
    held_out: float
    """The distance from reality in trials that it was not fitted to."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """An attempt to extend the space of simulations."""

    reason: str
    """Why the searched numbers do not suffice."""
    trials: int
    """Number of stored trials that were compared."""
    control: float
    """The held-out distance of the space as it is, after a search of the same effort."""
    start: float
    """The same of the simulation before any identification."""
    tried: tuple[TriedTerm, ...]
    """The terms, the best one first."""
    least_gain: float
    evaluations: int = 0
    """Number of simulations that were evaluated."""
    simulated_trials: int = 0
    """The same times the trials of each."""
    search: SearchResult | None = None
    """The search in the extended space and in all trials; None where nothing was freed."""
    phi_before: float = float("nan")
    """Distance of the estimate in all trials before a term was freed."""
    phi: float = float("nan")
    """The same with the term."""

    @property
    def freed(self) -> TriedTerm | None:
        """The term that joins the space; None if none carries over."""
        best = self.tried[0] if self.tried else None
        return best if best and best.held_out < (1 - self.least_gain) * self.control else None

    @property
    def text(self) -> str:
        """What was tried and gained, in sentences."""
        found = f"{self.reason} "
        if not self.tried:
            return (
                f"{found}No term that may be freed helps in the {self.trials} stored trials: list others in [extend]."
            )
        each = ", ".join(f"{one.name} {one.held_out:.3g}" for one in self.tried)
        found += (
            f"Terms were freed one at a time; phi in trials that were not fitted: {each}, without {self.control:.3g}."
        )
        if self.freed is None:
            return f"{found} None carries over, so the space stays as it is."
        return (
            f"{found} {self.freed.name} joins the searched numbers: phi falls from {self.phi_before:.3g} to "
            f"{self.phi:.3g} in all {self.trials} stored trials."
        )

    def as_json(self) -> dict[str, Any]:
        """For the line of its iteration."""
        return {
            "reason": self.reason,
            "trials": self.trials,
            "control": json_number(self.control),
            "tried": [
                {"name": one.name, "sets": list(one.searched.targets(one.name)), "value": one.value,
                 "held_out": json_number(one.held_out)}
                for one in self.tried
            ],
            "freed": self.freed.name if self.freed else None,
            "phi_before": json_number(self.phi_before),
            "phi": json_number(self.phi),
            "evaluations": self.evaluations,
        }  # fmt: skip


def twin_with_terms(robot: TwinSettings, searched: Mapping[str, Searched], terms: Mapping[str, Searched]) -> Twin:
    """The twin that searches some numbers, with the terms that are not among them held at their start."""
    held = held_at_start({name: one for name, one in terms.items() if name not in searched})
    return Twin(replace(robot, adjustments=(*robot.adjustments, *held)), searched)


def candidate_terms(
    cost: SimulationCost, estimate: Floats, robot: TwinSettings, terms: Mapping[str, Searched]
) -> dict[str, Searched]:
    """The terms that may be freed: those listed that are not searched yet, or else what helps and the robot has.

    Args:
        cost: the distance from reality in the stored trials, in the space as it is.
        estimate: the simulation that was found, (k,).
        robot: the settings of the twin without any term.
        terms: what the configuration lists.
    """
    searched = cost.twin.searched
    if terms:
        return {name: one for name, one in terms.items() if name not in searched}
    before = float(cost(estimate[None])[0])
    found = {}
    for proposal in proposals(cost, estimate):
        name, one = proposal.untried.name, proposal.untried.searched
        twin = twin_with_terms(robot, {**searched, name: one}, {})
        # A plain value may differ from the robot's own; its start must leave the simulation as it is.
        same = float(replace(cost, twin=twin)(extended(estimate, one)[None])[0])
        if name not in searched and np.isclose(same, before, rtol=1e-9):
            found[name] = one
    return found


def extended(estimates: Floats, term: Searched) -> Floats:
    """Estimates (..., k) in the space with one term more, (..., k + 1), at the start of that term."""
    start = term.middle if term.start is None else term.start
    return np.concatenate([estimates, np.full((*estimates.shape[:-1], 1), start)], axis=-1)


TermSearch = Callable[[str, SimulationCost, "Floats"], "SearchResult"]
"""Searches the space of a cost from a start, (k,); the text names the search, and is the same when a run is resumed."""


def free_terms(
    cost: SimulationCost,
    estimates: Sequence[Floats],
    twins: Mapping[str, Twin],
    search: TermSearch,
    *,
    reason: str,
    least_gain: float,
) -> tuple[Extension, SimulationCost, Floats]:
    """Tries each term, and searches the space with the best one if it carries over.

    Args:
        cost: the distance in all stored trials, in the space as it is.
        estimates: the simulation before any identification and the present one, (k,) each.
        twins: for each term by its name, the twin whose last number it is.
        search: how a space is searched.
        reason: why the searched numbers do not suffice.
        least_gain: the share that a term must gain.

    Returns:
        What was done; the distance and the estimate to go on with, in the extended space if it was extended.
    """
    first, present = estimates
    halves = [_part(cost, [i for i in range(len(cost.trials)) if i % HALVES == h]) for h in range(HALVES)]
    evaluations = simulated = 0

    def judged(number: int, twin: Twin, start: Floats) -> tuple[float, Floats]:
        """Held-out distance and the estimates of both halves."""
        nonlocal evaluations, simulated
        found, held = [], []
        for half, (fitted, other) in enumerate(zip(halves, halves[::-1], strict=True)):
            result = search(f"{number}-{half}", replace(fitted, twin=twin), start)
            found.append(result.estimate)
            held.append(_finite(replace(other, twin=twin), result.estimate))
            evaluations += result.evaluations
            simulated += result.evaluations * len(fitted.trials)
        return float(np.mean(held)), np.stack(found)

    control, _ = judged(0, cost.twin, present) if twins else (_finite(cost, present), present)
    tried, points = [], {}
    for number, (name, twin) in enumerate(twins.items(), start=1):
        term = twin.searched[name]
        held_out, points[name] = judged(number, twin, extended(present, term))
        value = float(points[name][:, -1].mean())
        tried.append(TriedTerm(name=name, searched=term, value=value, held_out=held_out))
    extension = Extension(
        reason=reason,
        trials=len(cost.trials),
        control=control,
        start=float(np.mean([_finite(half, first) for half in halves])),
        tried=tuple(sorted(tried, key=lambda one: one.held_out)),
        least_gain=least_gain,
    )
    if extension.freed is None:
        return replace(extension, evaluations=evaluations, simulated_trials=simulated), cost, present
    name = extension.freed.name
    whole = replace(cost, twin=twins[name])
    starts = np.concatenate([extended(present, extension.freed.searched)[None], points[name]])
    known = whole(starts)
    best = starts[int(np.nanargmin(known))]
    result = search("all", whole, best)
    phi = float(whole(result.estimate[None])[0])
    if not phi <= np.nanmin(known):
        phi, estimate = float(np.nanmin(known)), best
    else:
        estimate = result.estimate
    extension = replace(
        extension,
        evaluations=evaluations + result.evaluations,
        simulated_trials=simulated + result.evaluations * len(cost.trials),
        search=result,
        phi_before=float(known[0]),
        phi=phi,
    )
    return extension, whole, estimate


def padded(rows: Floats, space: Space) -> Floats:
    """Simulations (..., k) from before the space grew, in the space as it is: new terms are at their start."""
    missing = np.broadcast_to(space.start[rows.shape[-1] :], (*rows.shape[:-1], space.size - rows.shape[-1]))
    return np.concatenate([rows, missing], axis=-1)


def _part(cost: SimulationCost, indices: Sequence[int]) -> SimulationCost:
    return replace(cost, trials=tuple(cost.trials[i] for i in indices), real=tuple(cost.real[i] for i in indices))


def _finite(cost: SimulationCost, estimate: Floats) -> float:
    """Phi of a simulation; infinite where it breaks down."""
    phi = float(cost(estimate[None])[0])
    return phi if np.isfinite(phi) else float("inf")
