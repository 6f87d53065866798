"""Robust least squares with a few parameters within bounds, by Levenberg and Marquardt's method.

    fit = robust_fit(residuals, start, low, high)           # residuals(x) -> (n,)
    fit.x, fit.cost, fit.jacobian, fit.residuals

Residuals far above 1 count as their size instead of as its square: the loss is 2 (sqrt(1 + r^2) - 1). Jacobian and
residuals come scaled so that their squares make the curvature of the loss, as a sandwich estimator needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nutmeg.base.arrays import Floats

MOST_STEPS = 60
STEADY = 1e-7
"""Steps that change no parameter by more than this end the search."""


@dataclass(frozen=True)
class Fit:
    """Where a search ended."""

    x: Floats
    """(k,)."""
    cost: float
    """Mean loss of a residual."""
    jacobian: Floats
    """(n, k), weighted."""
    residuals: Floats
    """(n,), weighted."""


def robust_fit(
    residuals: Callable[[Floats], Floats], start: Floats, low: Floats, high: Floats, *, step: float = 3e-3
) -> Fit:
    """The parameters (k,) between bounds at which the residuals' loss is least.

    Args:
        residuals: (k,) to (n,), scaled so that 1 is a large error.
        start: where to begin.
        low: the least values.
        high: the greatest values.
        step: of the finite differences, in the parameters' own units.
    """
    x, damping = np.clip(start, low, high), 1e-3
    now = residuals(x).copy()
    for _ in range(MOST_STEPS):
        jacobian, weighted = _weighted(residuals, x, now, low, high, step)
        slope, curvature = jacobian.T @ weighted, jacobian.T @ jacobian
        moved, better = 0.0, False
        while damping < 1e8 and not better:
            damped = curvature + damping * np.diag(np.diag(curvature) + 1e-12)
            new = np.clip(x - np.linalg.solve(damped, slope), low, high)
            then = residuals(new).copy()
            better = bool(_loss(then) < _loss(now))
            damping = max(damping / 5, 1e-9) if better else damping * 4
        if better:
            moved, x, now = float(np.abs(new - x).max()), new, then
        if moved < STEADY:
            break
    jacobian, weighted = _weighted(residuals, x, now, low, high, step)
    return Fit(x, _loss(now) / max(len(now), 1), jacobian, weighted)


def _loss(residuals: Floats) -> float:
    return float(np.sum(2 * (np.sqrt(1 + residuals**2) - 1)))


def _weighted(
    residuals: Callable[[Floats], Floats], x: Floats, now: Floats, low: Floats, high: Floats, step: float
) -> tuple[Floats, Floats]:
    """Jacobian and residuals, each row times the root of its weight."""
    columns = []
    for k in range(len(x)):
        there = x.copy()
        there[k] += step if x[k] + step <= high[k] or x[k] - step < low[k] else -step
        columns.append((residuals(there) - now) / (there[k] - x[k]))
    root = (1 + now**2) ** -0.25
    return np.column_stack(columns) * root[:, None], now * root
