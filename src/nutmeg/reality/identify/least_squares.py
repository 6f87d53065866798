"""Least squares by Levenberg and Marquardt, made for simulations: all differences of a round are one batch of worlds.

    found = levenberg_marquardt(residuals, space, space.start, rounds=7)        # residuals: (n, k) -> (n, rows)
    found.best.candidate, found.best.value                                      # (k,) in SI units, sum of squares

Where the error is a sum of squares and a simulation answers smoothly, this needs a tenth of the candidates of a search
that only uses the error's value. Slopes are central differences over a part of each range, larger than the
simulation's roughness. In every round a ladder of damped steps is tried, whole and half, and the best one is taken;
if none is better, the next round takes finer differences and stronger damping (Marquardt, An algorithm for
least-squares estimation of nonlinear parameters, 1963). `scipy.optimize.least_squares` evaluates one candidate at a
time and takes differences near the rounding error, which stick and slip make meaningless.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.search.run import Generation, SearchResult
from nutmeg.search.searchers import Best

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.search.space import Space

    Residuals = Callable[[Floats], Floats]

DAMPING_FACTORS = np.array([1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0])
"""Dampings that are tried in a round, as multiples of the last good one."""
MAX_STEP = 0.4
"""The largest step of a parameter in a round, as a share of its range."""


def levenberg_marquardt(
    residuals: Residuals,
    space: Space,
    start: Floats,
    *,
    rounds: int,
    step: float = 0.04,
    on_round: Callable[[Generation], None] | None = None,
) -> SearchResult:
    """Minimises the sum of squares of residuals; each round is a generation of one candidate in the result.

    Args:
        residuals: of candidates (n, k) in SI units, (n, rows); those that are not finite count as 1.
        space: of the parameters; nothing outside its bounds is tried.
        start: where to begin, (k,).
        rounds: number of rounds; each simulates 2 k + 13 candidates.
        step: of the first differences, as a share of each range.
        on_round: called after each round.
    """
    if rounds < 1 or not 0 < step <= 0.5:
        raise UsageError(f"{rounds} rounds with steps of {step:g}; needed are 1 or more, and 0 < step <= 0.5.")
    here, damping, done = space.unit(start), 1e-2, list[Generation]()
    for number in range(rounds):
        points = _differences(here, step)
        seen = _finite(residuals(space.values(points)))
        value = float((seen[0] ** 2).sum())
        slopes = (seen[1::2] - seen[2::2]) / (points[1::2] - points[2::2]).sum(axis=1)[:, None]
        tried = _steps(here, slopes, seen[0], damping)
        values = (_finite(residuals(space.values(tried))) ** 2).sum(axis=1)
        chosen = int(values.argmin())
        if values[chosen] < value:
            here, value = tried[chosen], float(values[chosen])
            damping = max(damping * DAMPING_FACTORS[chosen // 2], 1e-5)
            step = max(0.8 * step, 0.015)
        else:
            damping, step = damping * 10, step / 2
        done.append(_generation(number, space.values(here), value, (number + 1) * (len(points) + len(tried))))
        if on_round:
            on_round(done[-1])
    last = done[-1]
    return SearchResult(
        best=last.best,
        mean=last.mean,
        history=tuple(done),
        evaluations=last.evaluations,
        failures=0,
        reason=f"{rounds} rounds are done",
    )


def _generation(number: int, candidate: Floats, value: float, evaluations: int) -> Generation:
    return Generation(
        number=number,
        candidates=candidate[None],
        values=np.array([value]),
        failures=(),
        evaluations=evaluations,
        best=Best(candidate, value),
        mean=candidate,
        state={},
        replayed=False,
    )


def _differences(here: Floats, step: float) -> Floats:
    """The point and its neighbours along each axis, both sides, within the unit cube, (2 k + 1, k)."""
    shifts = np.repeat(np.eye(len(here)), 2, axis=0) * np.tile([step, -step], len(here))[:, None]
    return np.asarray(np.clip(np.vstack([here, here + shifts]), 0.0, 1.0))


def _steps(here: Floats, slopes: Floats, residual: Floats, damping: float) -> Floats:
    """Damped steps, whole and half, (12, k)."""
    squares, gradient = slopes @ slopes.T, slopes @ residual
    scale = np.diag(squares) + 1e-12 * max(float(np.trace(squares)), 1e-300)
    whole = np.stack([-np.linalg.solve(squares + damping * f * np.diag(scale), gradient) for f in DAMPING_FACTORS])
    whole = np.clip(whole, -MAX_STEP, MAX_STEP)
    return np.asarray(np.clip(here + np.stack([whole, whole / 2], axis=1).reshape(-1, len(here)), 0.0, 1.0))


def _finite(residuals: Floats) -> Floats:
    return np.asarray(np.nan_to_num(residuals, nan=1.0, posinf=1.0, neginf=-1.0))
