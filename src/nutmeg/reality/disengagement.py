"""Disengagement: co-evolution in which controllers and simulations no longer tell each other anything.

Seed 000 (section 3.3, step 4) ends then: the space of simulations may lack what happens in reality. Three signs:

- `blind`: all simulations tried explain the trials about equally well, so the trials cannot choose among them;
- `stuck`: phi no longer falls from iteration to iteration, and what is left of it still matters;
- `alike`: the trials of an iteration did about the same in reality, and so say one thing several times.

    found = disengaged(history)             # History of the iterations so far: None, or what and what to do
    found.kind, found.reason, found.advice
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nutmeg.base.arrays import Floats

PATIENCE = 3
"""Iterations over which phi must fall."""
FALL = 0.05
"""By which part of itself."""
MATTERS = 0.1
"""phi1: the part of the fitness in reality from which on a gap matters. Other distances: of phi at the beginning."""
BLIND = 0.02
"""Spread of phi over simulations, as a part of its mean, below which they cannot be told apart."""
ALIKE = 0.01
"""Spread of real fitness over trials, as a part of its mean, below which they are alike."""


@dataclass(frozen=True)
class Disengagement:
    """What went wrong, and what can be done."""

    kind: str
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"disengaged ({self.kind}): {self.reason} {self.advice}"


@dataclass(frozen=True, kw_only=True)
class Sign:
    """What an iteration says about it."""

    values: Floats
    """phi of all candidates of its simulation search, (n,)."""
    best: float
    """phi of the simulation it found."""
    before: float
    """phi of the simulation it started from, in the same trials."""
    fitness: Floats = field(default_factory=lambda: np.empty(0))
    """What its trials achieved in reality, (m,)."""


def disengaged(signs: Sequence[Sign], *, fitness_gap: bool = True) -> Disengagement | None:
    """The first sign of disengagement in the last iterations, if there is one.

    Args:
        signs: of all iterations so far that had a simulation search.
        fitness_gap: whether phi is in units of fitness.
    """
    if not signs:
        return None
    return _blind(signs[-1]) or _alike(signs[-1]) or _stuck(signs, fitness_gap=fitness_gap)


def _blind(sign: Sign) -> Disengagement | None:
    known = sign.values[np.isfinite(sign.values)]
    if len(known) < 2 or known.mean() <= 0 or known.std() > BLIND * known.mean():
        return None
    return Disengagement(
        "blind",
        f"all {len(known)} simulations tried have a phi within {known.std() / known.mean():.1%} of {known.mean():.3g}.",
        "Try more informative controllers (`exploring` or `random` of [transfer]), or a distance that sees more.",
    )


def _alike(sign: Sign) -> Disengagement | None:
    known = sign.fitness[np.isfinite(sign.fitness)]
    if len(known) < 3 or known.std() > ALIKE * max(abs(float(known.mean())), 1e-9):
        return None
    return Disengagement(
        "alike",
        f"the {len(known)} controllers tried last achieve {known.mean():.3g} within {known.std():.2g} in reality.",
        "Let controllers differ more: a larger mutation, or `exploring` or `random` of [transfer].",
    )


def _stuck(signs: Sequence[Sign], *, fitness_gap: bool) -> Disengagement | None:
    if len(signs) <= PATIENCE:
        return None
    recent = signs[-PATIENCE:]
    still = all(sign.before - sign.best <= FALL * sign.before for sign in recent)
    fitness = [float(np.nanmax(np.abs(s.fitness))) for s in recent if np.isfinite(s.fitness).any()]
    scale = max(fitness, default=0.0) if fitness_gap else signs[0].before
    gap = recent[-1].best
    if not still or gap <= MATTERS * scale:
        return None
    return Disengagement(
        "stuck",
        f"for {PATIENCE} iterations the search has found no better simulation, and phi is still {gap:.3g}.",
        "The space of simulations may lack what differs in reality: widen its ranges, or search more (friction, gains, "
        "`physics.timestep`).",
    )
