"""Least squares: a batched Levenberg-Marquardt method with bounds, several starts and escapes by CMA-ES.

Where the value is made of residuals (differences of samples) and these answer smoothly to the parameters, this needs
a small part of the candidates of a search that only sees the value. The searched function gives residuals:

    searcher = LeastSquares(space, LeastSquaresSettings(), rng, loss="root")
    result = minimise(cost.rows, searcher, evaluator, budget=200)       # cost.rows: (n, k) -> (n, rows)
    result.best.value, result.method                                    # root of the sum of squares; words

A **round** has two generations. The first is the present point with a neighbour along each axis: one batch of worlds
gives all slopes (from both sides when the descent becomes slow). The second is a ladder of damped steps (Marquardt, An
algorithm for least-squares estimation of nonlinear parameters, 1963), each the best within the unit cube, of which the
best is taken.

A **descent** ends when a round improves the sum of squares by less than noise could tell. With n residuals, the sum of
squares is about n times the variance of the noise, and an estimate that is one standard error away from the minimum
adds one variance to it: a share of 1 / n. So the share of the value by which a round must improve it falls with n. A
fixed share ends ever farther from the minimum: a thousandth of the root is 45 standard errors with a million residuals.
Only a descent that is the best so far, and whose steps keep what the slopes promise, goes on that long.

If the slopes had promised more than the steps kept, the landscape is rough there, and CMA-ES looks around for some
generations: it escapes from a dent that slopes cannot see. Further descents begin at the best of some points that are
drawn from the whole space.

The method needs no residuals but their inner products, a k by k matrix a round. That is what a checkpoint keeps, so
that a resumed search goes on exactly. `scipy.optimize.least_squares` evaluates one candidate at a time and takes
differences near the rounding error, which stick and slip make meaningless.

Losses other than squares (`search.losses`) are squares with the weights psi(r) / r, renewed each round. Those of
absolute residuals are smoothed, 1 / (abs(r) + s mean(abs(r))), and s falls from 1 to 0.1 as the descent becomes slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.settings import above, at_least, check_bounds
from nutmeg.search.losses import SMOOTHING, Loss, loss_values, loss_weights
from nutmeg.search.searchers import CmaEs, CmaEsSettings, Searcher
from nutmeg.search.space import Dimension, Space

DAMPING_FACTORS = np.array([1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0])
"""Dampings that are tried in a round, as multiples of the last good one."""
SMOOTH_DAMPING_FACTORS = np.array([1e-2, 0.1, 1.0, 10.0])
"""The same where the last slopes kept their promise."""
FIRST_DAMPING = 0.1
MAX_STEP = 0.4
"""The largest step of a parameter in a round, as a share of its range."""
SLOW_GAIN = 0.02
"""A round that improves the value by a smaller share makes the next one take slopes from both sides."""
ROUGH_PROMISE = 0.05
"""If slopes promise to improve the value by more than this share and no step does, the landscape is rough."""
KEPT_SHARE = 0.5
"""If a step kept more than this share of what the slopes had promised, fewer dampings are tried in the next round."""
ROUGH_KEPT_SHARE = 0.1
"""Where steps keep less than this share of their promise round after round, roughness limits them, and not noise."""
MAX_FAILED_ROUNDS = 2
"""A descent ends after so many rounds in a row in which no step was better, or all were slow and on rough ground."""
ESCAPE_STEP = 0.1
"""First standard deviation of an escape, as a share of each range."""


@dataclass(frozen=True, kw_only=True)
class LeastSquaresSettings:
    """How slopes are taken, and how often the search starts and escapes."""

    step: Annotated[float, above(0, up_to=0.2)] = 0.02
    """First distance between neighbours, as a share of each range: larger than the roughness of a simulation."""
    tolerance: Annotated[float, above(0, up_to=0.1)] = 1e-3
    """Rounds that improve the value by a smaller share are slow: a descent ends with one if another descent was better
    or the ground is rough."""
    precision: Annotated[float, above(0, up_to=10)] = 0.1
    """The best descent ends when a slow round comes nearer to the minimum by less than so many standard errors, those
    of independent residuals."""
    starts: Annotated[int, at_least(1)] = 3
    """Number of descents: from the start of the space, then from the best of some points drawn from all of it."""
    escape: Annotated[int, at_least(0)] = 8
    """Generations of CMA-ES where a descent ends on rough ground; 0 for none."""

    def __post_init__(self) -> None:
        check_bounds(self)


class LeastSquares(Searcher):
    """Levenberg-Marquardt in the unit cube."""

    algorithm = "least-squares"
    uses_residuals = True

    def __init__(
        self, space: Space, settings: LeastSquaresSettings, rng: np.random.Generator, *, loss: Loss = "root"
    ) -> None:
        super().__init__(space, settings, rng)
        self.settings, self.loss = settings, loss
        self._phase: Literal["slopes", "steps", "scatter", "escape"] = "slopes"
        self._descents, self._rounds, self._escapes = 1, 0, 0
        self._freedom, self._best_descent = 1.0, np.inf
        self._cma: CmaEs | None = None
        self._ladder = np.empty((0, space.size))
        self._begin(space.unit(space.start))

    @property
    def method(self) -> str:
        """Rounds, starts and escapes, in words."""
        starts = f"{self._descents} start{'s' if self._descents > 1 else ''}"
        words = f"least squares (Levenberg-Marquardt), {self._rounds} rounds from {starts}"
        return words + (f", {self._escapes} escapes by CMA-ES" if self._escapes else "")

    @property
    def description(self) -> dict[str, object]:
        """The algorithm, its settings and its loss."""
        return {**super().description, "loss": self.loss}

    def condense(self, found: Floats) -> tuple[Floats, Floats | None]:
        """Values (N,) of residuals (N, rows); where slopes are taken also an array (N + 1, N).

        It has the products of the differences from the first residuals, and the number of residuals in its last row.
        """
        if found.ndim == 1:  # all failed
            return found, None
        values = loss_values(self.loss, found)
        if self._phase != "slopes" or not np.isfinite(values[0]):
            return values, None
        rows = np.vstack([found[:1], found[1:] - found[0]])
        rows[~np.isfinite(values)] = 0.0  # a neighbour that failed tells nothing about its axis
        if self.loss not in ("root", "squares"):
            rows = rows * np.sqrt(loss_weights(self.loss, found[0], self._smoothing))
        # einsum sums in one order whatever the number of threads, which a library for matrices need not do.
        products = np.einsum("ir,jr->ij", rows, rows)
        return values, np.vstack([products, np.full(len(rows), float(found.shape[1]))])  # the last row: how many

    # Phases

    def _begin(self, here: Floats) -> None:
        """Begins a descent at a point of the unit cube, (k,)."""
        self._phase = "slopes"
        self._here, self._value = here, np.inf
        self._damping, self._step, self._failed_rounds = FIRST_DAMPING, self.settings.step, 0
        self._rough_rounds, self._both_sides, self._side = 0, False, 1.0
        self._factors, self._promises = DAMPING_FACTORS, np.zeros(len(DAMPING_FACTORS))
        self._smoothing = SMOOTHING[0]

    def _propose(self) -> Floats:
        if self._phase == "slopes":
            return np.vstack([self._here, *self._neighbours()])
        if self._phase == "steps":
            return self._ladder
        if self._phase == "escape" and self._cma is not None:
            return self._cma.ask()
        count = max(8, 2 * self.space.size)
        cells = np.argsort(self._rng.random((self.space.size, count)), axis=1).T  # a Latin hypercube
        return np.asarray((cells + self._rng.random(cells.shape)) / count)

    def _learn(self, unit: Floats, values: Floats) -> None:
        if self._phase == "slopes":
            self._take_slopes(unit, values)
        elif self._phase == "steps":
            self._take_step(unit, values)
        elif self._phase == "escape" and self._cma is not None:
            self._look_around(values)
        else:
            self._begin(unit[int(values.argmin())])

    def _all_failed(self) -> None:
        if self._phase == "steps":
            self._fail_round()
        elif self._phase == "escape":
            self._end_descent()
        else:
            self._phase = "scatter"

    def _neighbours(self) -> list[Floats]:
        """A neighbour along each axis, or one on either side where both fit into the unit cube, (k,) each."""
        found = []
        for axis in np.eye(self.space.size):
            near, far = (self._here + side * self._step * axis for side in (self._side, -self._side))
            inside = [point for point in (near, far) if (point >= 0).all() and (point <= 1).all()]
            found += inside if self._both_sides else inside[:1]
        return found

    def _take_slopes(self, unit: Floats, values: Floats) -> None:
        """Computes a ladder of steps from the slopes at the first point."""
        if not np.isfinite(values[0]) or self._digest is None:
            self._begin(unit[int(values.argmin())])  # a neighbour can be simulated where the point cannot
            return
        self._value = float(values[0])
        moved = (unit[1:] - self._here).sum(axis=1)
        axes = np.abs(unit[1:] - self._here).argmax(axis=1)
        # The slope along an axis is the mean of those to its neighbours: a linear map of the differences.
        mean = np.zeros((self.space.size, len(moved)))
        mean[axes, np.arange(len(moved))] = 1 / moved / np.bincount(axes, minlength=self.space.size)[axes]
        products, self._freedom = self._digest[:-1], max(float(self._digest[-1, 0]) - self.space.size, 1.0)
        curved, falls = mean @ products[1:, 1:] @ mean.T, mean @ products[1:, 0]
        steps = [_damped_step(curved, falls, self._here, self._damping * f) for f in self._factors]
        left = np.array([products[0, 0] + 2 * falls @ d + d @ curved @ d for d in steps])
        self._promises = 1 - np.sqrt(np.maximum(left, 0.0) / max(products[0, 0], 1e-300))
        self._ladder = np.clip(self._here + np.stack(steps), 0.0, 1.0)
        self._phase = "steps"

    def _take_step(self, unit: Floats, values: Floats) -> None:
        """Goes to the best step of the ladder, if it is better than the present point."""
        self._rounds += 1
        best = int(values.argmin())
        if not values[best] < self._value:
            self._fail_round()
            return
        gain = 1 - float(values[best]) / self._value
        kept = gain / max(float(self._promises[best]), 1e-300)
        self._here, self._value, self._phase = unit[best], float(values[best]), "slopes"
        self._damping = float(np.clip(self._damping * self._factors[best], 1e-6, 1e3))
        self._failed_rounds = 0
        self._rough_rounds = self._rough_rounds + 1 if kept < ROUGH_KEPT_SHARE else 0
        self._factors = SMOOTH_DAMPING_FACTORS if kept > KEPT_SHARE else DAMPING_FACTORS
        if self._both_sides and self._has_arrived(gain) and not self._sharpen():
            self._end_descent()
        self._both_sides = gain < SLOW_GAIN
        if self._both_sides:
            self._sharpen()
        self._side = -self._side  # one-sided slopes err to one side: take turns

    def _fail_round(self) -> None:
        """No step was better: more damping, slopes from both sides over half the distance."""
        self._failed_rounds += 1
        self._damping = min(self._damping * 100, 1e3)
        self._phase = "slopes"
        if self._both_sides:
            self._step /= 2
        self._both_sides, self._factors = True, DAMPING_FACTORS
        if self._failed_rounds >= MAX_FAILED_ROUNDS and not self._sharpen():
            self._end_descent()

    def _has_arrived(self, gain: float) -> bool:
        """Whether further rounds are not worth it after one that improved the value by this share of it."""
        if gain >= self.settings.tolerance:
            return False
        if self._value > self._best_descent or self._rough_rounds >= MAX_FAILED_ROUNDS:
            return True
        # The sum of squares falls by 2 gain of itself, and it is the variance of the noise times the degrees of
        # freedom; a point d standard errors from the minimum has d^2 variances more.
        return 2 * gain * self._freedom < self.settings.precision**2

    def _sharpen(self) -> bool:
        """Brings the weights of an absolute loss nearer to it; false if they are as near as they get."""
        if self.loss != "absolute" or self._smoothing <= SMOOTHING[1]:
            return False
        self._smoothing = max(self._smoothing / 3, SMOOTHING[1])
        return True

    def _end_descent(self) -> None:
        """Looks around if the ground is rough, or begins another descent, or ends the search."""
        if self.settings.escape and self._failed_rounds and self._promises.max() > ROUGH_PROMISE and self._cma is None:
            cube = Space(
                {n: Dimension(low=0, high=1, start=x) for n, x in zip(self.space.names, self._here, strict=True)}
            )
            self._cma = CmaEs(cube, CmaEsSettings(step=ESCAPE_STEP), self._rng)
            self._escapes, self._phase = self._escapes + 1, "escape"
            return
        self._cma = None
        self._best_descent = min(self._best_descent, self._value)
        if self._descents >= self.settings.starts:
            self._ended = f"least squares has converged from {self._descents} starts"
            return
        self._descents, self._phase = self._descents + 1, "scatter"

    def _look_around(self, values: Floats) -> None:
        """Tells the escape its values; after its last generation a descent goes on from the best that was found."""
        assert self._cma is not None
        self._cma.tell(values)
        if not self._cma.finished and self._cma.state["generation"] < self.settings.escape:
            return
        found = self._cma.best
        if found.value < (1 - self.settings.tolerance) * self._value:
            self._begin(found.candidate)
            self._cma = None
        else:
            self._end_descent()

    def _centre(self) -> Floats:
        return self._here

    def _numbers(self) -> dict[str, float]:
        return {
            "step": self._step,
            "damping": self._damping,
            "rounds": self._rounds,
            "starts": self._descents,
            "escapes": self._escapes,
        }


def _damped_step(curved: Floats, falls: Floats, here: Floats, damping: float) -> Floats:
    """The Levenberg-Marquardt step from a point of the unit cube, within it, (k,).

    All parameters are damped alike, as Levenberg did (1944), and not by their own slopes, as Marquardt: they have one
    unit here, and directions that the data hardly determine would else be followed too far along a bent valley (on the
    arm of `experiments.sysid_peer` this takes about a third fewer candidates).

    Args:
        curved: J' J, (k, k).
        falls: J' r, (k,).
        here: the point, (k,).
        damping: as a share of the mean diagonal element of J' J.
    """
    from scipy.optimize import lsq_linear  # takes a fifth of a second to import

    k = len(here)
    if curved.shape != (k, k):
        raise UsageError(f"slopes of {len(curved)} parameters at a point of {k}; needed are as many.")
    size = max(float(np.trace(curved)) / k, 1e-300)
    root = np.linalg.cholesky(curved + (damping + 1e-12) * size * np.eye(k))
    low, high = np.maximum(-MAX_STEP, -here), np.minimum(MAX_STEP, 1 - here)
    # With J' J = L L', the least squares of L' d = -L^-1 J' r within bounds.
    found = lsq_linear(root.T, -np.linalg.solve(root, falls), (low, high), method="bvls")
    return np.asarray(np.clip(found.x, low, high), np.float64)
