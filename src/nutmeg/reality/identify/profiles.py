"""Profile likelihood: the interval of a parameter where the others may follow it; and regions of two parameters.

    found = profile(cost.rows, "root", curvature_, space, "delay", evaluator)
    found.low, found.high                       # SI units
    joint_region(space, curvature_, ("mass", "stiffness"), 0.9)     # (points, 2), the rim of an ellipse

Away from an estimate the parameter is held and all others are fitted anew; how much the error grows with its distance
tells what the data allow (Seber and Wild, Nonlinear Regression, 1989, section 5.4). Unlike the interval from the
curvature the result need not be symmetric, and is right where the error is no parabola. A plain likelihood ratio counts
every row as independent; here the growth is scaled so that near the estimate it agrees with the covariance from the
curvature, which knows how long errors last and what outliers weigh (the vertical adjustment of Chandler and Bate,
Inference for clustered data using the independence loglikelihood, 2007).

A region of two parameters is the ellipse of the joint covariance, along the scales of both, with the quantile of
Fisher's F distribution: both lie in it together with the given confidence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtri

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import SimulationError
from nutmeg.reality.identify.curvature import interval_factor
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.losses import Loss, loss_values
from nutmeg.search.run import Budget, minimise
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from numpy.random import Generator

    from nutmeg.reality.identify.curvature import Curvature
    from nutmeg.search.evaluation import Evaluator

Rows = Callable[[Floats, Sequence["Generator"]], Floats]
"""Residuals (n, rows) of candidates (n, k)."""
STEPS = (1.0, 2.0)
"""Distances from the estimate at which the error is profiled, in standard errors; 3 and 4 where 2 are not enough."""
FURTHER_STEPS = (3.0, 4.0)
ROUNDS = 3
"""Rounds of least squares at each distance."""
RIM_POINTS = 72


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The profile of one parameter."""

    name: str
    values: tuple[float, ...]
    """Where the parameter was held, the estimate included, in SI units, increasing."""
    growth: tuple[float, ...]
    """The adjusted growth of the error there: the square of Student's t for a parabola."""
    low: float
    """Lower end of the interval, in SI units."""
    high: float
    """Upper end of the interval, in SI units."""
    evaluations: int


@dataclass(frozen=True)
class _Held:
    """Residuals with one parameter held: candidates are those of the others."""

    rows: Rows
    space: Space
    index: int
    value: float
    """Value at which the parameter is held, in SI units."""

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:
        return self.rows(np.insert(np.asarray(candidates, float), self.index, self.value, axis=1), generators)


def profile(
    rows: Rows,
    loss: Loss,
    found: Curvature,
    space: Space,
    name: str,
    evaluator: Evaluator,
    *,
    confidence: float = 0.9,
) -> Profile:
    """Profiles a parameter.

    Args:
        rows: residuals of candidates; what the fit minimised a loss of.
        loss: that loss.
        found: the estimate and its covariance.
        space: what was searched.
        name: the parameter.
        evaluator: where candidates are simulated.
        confidence: of the interval.
    """
    index = space.names.index(name)
    centre, error = space.unit(found.best), float(found.standard_errors[index])
    least = float(_objective(loss, loss_values(loss, np.asarray(rows(found.best[None], ()))))[0])
    wanted = interval_factor(confidence, found.freedom)
    points: dict[float, float] = {0.0: least}
    spent = 1
    for side in (-1.0, 1.0):
        for step in (*STEPS, *FURTHER_STEPS):
            at = centre[index] + side * step * error
            if not 0 <= at <= 1:
                break
            value, used = _held_minimum(rows, loss, found, space, index, at, evaluator)
            points[side * step], spent = value, spent + used
            if step >= STEPS[-1] and _growth(points, side * step, least) > wanted**2:
                break
    steps = sorted(points)
    growth = np.array([_growth(points, step, least) for step in steps])
    ends = [_crossing(steps, growth, side, wanted) for side in (-1.0, 1.0)]
    unit = np.clip(centre[index] + error * np.array([*ends, *steps]), 0.0, 1.0)
    held = np.tile(centre, (len(unit), 1))
    held[:, index] = unit
    low, high, *values = space.values(held)[:, index].tolist()
    return Profile(
        name=name, values=tuple(values), growth=tuple(growth.tolist()), low=low, high=high, evaluations=spent
    )


def _objective(loss: Loss, values: Floats) -> Floats:
    """What grows with the square of the distance from the minimum: the squares, not their root."""
    return values**2 if loss == "root" else values


def _growth(points: dict[float, float], step: float, least: float) -> float:
    """The growth at a step, scaled so that one standard error from the estimate it is 1 in the mean of both sides."""
    near = [points[one] - least for one in (-1.0, 1.0) if one in points]
    scale = float(np.mean(near)) if near else 0.0
    return max(0.0, (points[step] - least) / scale) if scale > 0 else abs(step) ** 2


def _crossing(steps: list[float], growth: Floats, side: float, wanted: float) -> float:
    """Where the root of the growth reaches a quantile on one side, in standard errors; the last step if it does not."""
    mine = [(abs(step), float(np.sqrt(g))) for step, g in zip(steps, growth, strict=True) if step * side >= 0]
    mine.sort()
    for (near, low), (far, high) in itertools.pairwise(mine):
        if low <= wanted <= high:
            return side * (near + (far - near) * (wanted - low) / (high - low))
    return side * (max(wanted, mine[-1][0]) if len(mine) > 1 else np.inf)


def _held_minimum(
    rows: Rows, loss: Loss, found: Curvature, space: Space, index: int, at: float, evaluator: Evaluator
) -> tuple[float, int]:
    """The least objective with a parameter held at a place of the unit cube, and the candidates that it took."""
    centre = space.unit(found.best)
    others = [i for i in range(space.size) if i != index]
    moved = centre + found.covariance[:, index] / found.covariance[index, index] * (at - centre[index])
    moved = np.clip(moved, 1e-6, 1 - 1e-6)
    moved[index] = at
    start = space.values(moved[None])[0]
    if not others:
        return float(_objective(loss, loss_values(loss, np.asarray(rows(start[None], ()))))[0]), 1
    names = space.names
    rest = Space({names[i]: _from(space.dimensions[names[i]], float(start[i])) for i in others})
    searcher = LeastSquares(rest, LeastSquaresSettings(starts=1, escape=0), np.random.default_rng(0), loss=loss)
    most = ROUNDS * (2 * len(others) + 8)
    result = minimise(
        _Held(rows, space, index, float(start[index])), searcher, evaluator, budget=Budget(evaluations=most), seed=0
    )
    if not np.isfinite(result.best.value):
        raise SimulationError(f"{names[index]} could not be profiled: candidates around {start[index]:g} broke down.")
    return float(_objective(loss, np.array([result.best.value]))[0]), result.evaluations


def _from(dimension: Dimension, start: float) -> Dimension:
    """A plain dimension that starts elsewhere."""
    return Dimension(low=dimension.low, high=dimension.high, start=start, unit=dimension.unit, scale=dimension.scale)


def joint_region(space: Space, found: Curvature, pair: tuple[str, str], confidence: float = 0.9) -> Floats:
    """The rim of the region in which two parameters lie together, (points, 2) in SI units, within their ranges."""
    chosen = [space.names.index(name) for name in pair]
    block = found.covariance[np.ix_(chosen, chosen)]
    size = np.sqrt(2 * float(fdtri(2, max(found.freedom, 1.0), confidence)))
    turn = np.linspace(0, 2 * np.pi, RIM_POINTS)
    rim = size * np.stack([np.cos(turn), np.sin(turn)], axis=1) @ np.linalg.cholesky(block + 1e-18 * np.eye(2)).T
    unit = np.tile(space.unit(found.best), (RIM_POINTS, 1))
    unit[:, chosen] = np.clip(unit[:, chosen] + rim, 0.0, 1.0)
    return space.values(unit)[:, chosen]
