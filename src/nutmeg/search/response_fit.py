"""Response fit: a smooth model of every sample, from scattered candidates.

Where feet stick and slip, the distance to reality is a valley with a rough floor: differences over small steps are
chance, and a population converges into one of many dents. Here each round simulates a few candidates spread over a
region, fits to every residual a polynomial of degree two in the parameters, and takes from that smooth model the
point that explains reality best. What the polynomial leaves unexplained is the roughness of that sample, and the
sample counts the less the rougher it is. The region shrinks where the steps become short.

    searcher = ResponseFit(space, ResponseFitSettings(), rng)
    result = minimise(cost.rows, searcher, evaluator, budget=1000)      # cost.rows: (n, k) -> residuals (n, rows)
    result.estimate                                                     # (k,), of the model: no candidate was there

This is a Gauss-Newton method with the Jacobian of a regression, near to ensemble Kalman inversion (Iglesias, Law and
Stuart, Inverse Problems 29, 2013). On the ant, 20 hidden bodies of four lengths and two trials, it takes 96
candidates to a median error of about 1 % (`experiments.btr_ant`). CMA-ES and Levenberg-Marquardt were only tried with
faster and shorter trials, where they ended at 7 and 11 to 16 %; that is no comparison of the methods alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import SimulationError, UsageError
from nutmeg.base.settings import above, at_least, check_bounds
from nutmeg.search.searchers import Searcher

if TYPE_CHECKING:
    from nutmeg.search.space import Space


@dataclass(frozen=True, kw_only=True)
class ResponseFitSettings:
    """Number of candidates and rounds of the fit, and the size of its region."""

    candidates: Annotated[int, at_least(4)] | None = None
    """Number of candidates in a round; at least 2 k + 3 for k parameters, and 4 k, or 16, without it."""
    rounds: Annotated[int, at_least(1)] = 6
    """Number of rounds."""
    radius: Annotated[float, above(0, up_to=0.5)] = 0.3
    """Half the width of the first region, as a share of each range."""
    shrink: Annotated[float, above(0, up_to=1)] = 0.6
    """Smallest factor by which a round shrinks the region's width."""
    least: Annotated[float, above(0, up_to=0.5)] = 0.01
    """The smallest half width, as a share of each range."""
    reach: Annotated[float, above(0)] = 1.3
    """The longest step from the centre of the region, in half widths."""
    accuracy: Annotated[float, above(0)] = 0.02
    """Part of a residual that no model explains (noise, other physics), which limits the weight of each sample; as a
    share of the root mean square of the residuals at the start."""
    samples: Annotated[int, at_least(100)] = 4000
    """Largest number of samples, evenly spaced; neighbouring samples carry the same information."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.least > self.radius:
            raise ValueError(f"`least` is {self.least:g}; allowed is up to `radius`, {self.radius:g}.")


class ResponseFit(Searcher):
    """Regression of residuals on scattered candidates, in the unit cube."""

    algorithm = "response-fit"
    uses_residuals = True

    def __init__(self, space: Space, settings: ResponseFitSettings, rng: np.random.Generator) -> None:
        super().__init__(space, settings, rng)
        self.settings = settings
        needed = 2 * space.size + 3
        self._count = settings.candidates or max(16, 4 * space.size)
        if self._count < needed:
            raise UsageError(
                f"{self._count} candidates a round for {space.size} searched numbers; needed are at least {needed}."
            )
        self._at, self._half = space.unit(space.start), np.full(space.size, settings.radius)
        self._points, self._rows = np.empty((0, space.size)), np.empty((0, 0))
        self._scale = 0.0

    @property
    def estimate(self) -> Floats:
        """The minimum of the model, (k,), in SI units."""
        return self.mean

    @property
    def method(self) -> str:
        """The method in words, with the number of rounds and candidates."""
        return f"response fit, {self._generation} rounds of {self._count} candidates"

    def condense(self, found: Floats) -> tuple[Floats, Floats | None]:
        """The root of the sum of squares of each candidate's residuals (N, rows), and some of the residuals."""
        if found.ndim == 1:  # all failed
            return found, None
        every = -(-found.shape[1] // self.settings.samples)
        return np.sqrt(np.einsum("ir,ir->i", found, found)), np.nan_to_num(found[:, every - 1 :: every])

    def _propose(self) -> Floats:
        return _scattered(self._at, self._half, self._count, self._rng)

    def _learn(self, unit: Floats, values: Floats) -> None:
        if self._digest is None:
            raise UsageError("a response fit must be told residuals; minimise a function that gives them.")
        whole, rows = np.isfinite(values), self._digest
        self._scale = self._scale or float(np.sqrt((rows[whole][0] ** 2).mean())) or 1.0
        kept = self._rows if len(self._points) else np.empty((0, rows.shape[1]))
        self._points = np.concatenate([self._points, unit[whole]])
        self._rows = np.concatenate([kept, rows[whole] / self._scale])
        step = _explained(self._points, self._rows, self._at, self._half, self.settings)
        self._at = np.clip(self._at + self._half * step, 0.0, 1.0)
        shrunk = self._half * np.maximum(self.settings.shrink, np.minimum(1.0, np.abs(step)))
        self._half = np.maximum(shrunk, self.settings.least)
        if self._generation >= self.settings.rounds:
            self._ended = f"the {self.settings.rounds} rounds of the response fit are done"

    def _centre(self) -> Floats:
        return self._at

    def _numbers(self) -> dict[str, float]:
        return {"step": float(np.exp(np.log(self._half).mean()))}


def _scattered(centre: Floats, half: Floats, count: int, rng: np.random.Generator) -> Floats:
    """A Latin hypercube in the region, with its centre, (count, k) in the unit cube."""
    k = len(centre)
    cells = np.argsort(rng.random((k, count)), axis=1).T + rng.random((count, k))
    low, high = np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
    points = low + cells / count * (high - low)
    points[0] = centre
    return np.asarray(points)


def _explained(points: Floats, rows: Floats, centre: Floats, half: Floats, settings: ResponseFitSettings) -> Floats:
    """The step from the centre, in half widths, that makes the residuals smallest, (k,)."""
    x = (points - centre) / half
    far = np.abs(x).max(axis=1)
    near = far <= 1.7
    x, y, far = x[near], rows[near], far[near]
    k = x.shape[1]
    if len(x) < 2 * k + 3:
        raise SimulationError(
            f"only {len(x)} of the candidates near the estimate could be simulated to the end; {2 * k + 3} are needed. "
            "Choose gentler trials, or narrower ranges."
        )
    misfit = (y**2).mean(axis=1)
    weight = np.exp(-0.5 * (far / 1.2) ** 2) / np.sqrt(1 + 2 * misfit / max(float(np.median(misfit)), 1e-300))
    crossed = len(x) >= 2 * (1 + 2 * k + k * (k - 1) // 2)
    terms = np.stack([_terms(one, crossed=crossed) for one in x])
    square = weight[:, None] ** 2
    curved = np.diag(np.where(np.arange(terms.shape[1]) > k, 0.05, 0.0))  # a weak prior against curvature
    answer = np.linalg.solve((terms * square).T @ terms + curved, (terms * square).T @ y)
    freedom = max(2.0, float(square.sum()) * (1 - terms.shape[1] / len(x) / 1.2))
    rough = (square * (y - terms @ answer) ** 2).sum(axis=0) / freedom
    scale = 1.0 / np.sqrt(rough + settings.accuracy**2)

    def left(step: Floats) -> Floats:
        return np.asarray((_terms(step, crossed=crossed) @ answer) * scale)

    return _descended(left, k, centre, half, settings.reach)


def _terms(x: Floats, *, crossed: bool) -> Floats:
    """The terms of the polynomial: 1, the coordinates, their squares and, if `crossed`, their products."""
    products = [x[i] * x[j] for i in range(len(x)) for j in range(i)] if crossed else []
    return np.concatenate([[1.0], x, x**2, products])


def _descended(left: Callable[[Floats], Floats], k: int, centre: Floats, half: Floats, reach: float) -> Floats:
    """Gauss-Newton on the model, within the region and the unit cube."""
    step = np.zeros(k)
    low, high = np.maximum(-reach, -centre / half), np.minimum(reach, (1 - centre) / half)
    for _ in range(10):
        here = left(step)
        slope = np.stack([(left(step + 1e-4 * e) - here) / 1e-4 for e in np.eye(k)], axis=1)
        normal = slope.T @ slope
        damping = 1e-4 * np.trace(normal) / k * np.eye(k)
        step = np.clip(step - np.linalg.solve(normal + damping, slope.T @ here), low, high)
    return step
