"""Least squares: a batched Levenberg-Marquardt method with bounds, several starts and escapes by CMA-ES.

Where the value is made of residuals (differences of samples) and these answer smoothly to the parameters, this needs
a small part of the candidates of a search that only sees the value. The searched function gives residuals:

    searcher = LeastSquares(space, LeastSquaresSettings(), rng, loss="root")
    result = minimise(cost.rows, searcher, evaluator, budget=200)       # cost.rows: (n, k) -> (n, rows)
    result.best.value, result.method                                    # root of the sum of squares; words

A **round** begins with a neighbour of the present point along each axis: one batch of worlds gives all slopes (from
both sides when the descent becomes slow). Then comes a ladder of damped steps (Marquardt, An algorithm for
least-squares estimation of nonlinear parameters, 1963), each the best within the unit cube, of which the best is taken.
From what it found the slopes are corrected along the step (Broyden, A class of methods for solving nonlinear
simultaneous equations, 1965), and another ladder is tried from there, again and again while its candidates gain as much
as those of the round before them, those for slopes included. Such a ladder costs two candidates, slopes of k parameters
cost k or 2 k, so corrected slopes are cheap along the floors of bent valleys. Where steps do not keep what the slopes
promised, the next slopes are taken over another distance: over long ones a landscape is bent, over short ones rough.

A **descent** ends when a round improves the sum of squares by less than noise could tell. With n residuals, the sum of
squares is about n times the variance of the noise, and an estimate that is one standard error away from the minimum
adds one variance to it: a share of 1 / n. So the share of the value by which a round must improve it falls with n. A
fixed share ends ever farther from the minimum: a thousandth of the root is 45 standard errors with a million residuals.
Only a descent that is the best so far, and whose steps keep what the slopes promise, goes on that long.

If the slopes had promised more than the steps kept, the landscape is rough there, and CMA-ES looks around for some
generations: it escapes from a dent that slopes cannot see. Further descents begin at the best of some points that are
drawn from the whole space.

All slopes and residuals of a round are sums of some of its evaluated residuals, its **basis**, so the method needs
only their coefficients and the inner products of the basis, about k by k numbers a round. That is what a checkpoint
keeps. To go on exactly in the middle of a round, a resumed search evaluates the basis once more (`recall`).
`scipy.optimize.least_squares` evaluates one candidate at a time and takes differences near the rounding error, which
stick and slip make meaningless.

Losses other than squares (`search.losses`) are squares with the weights psi(r) / r, renewed each round. Those of
absolute residuals are smoothed, 1 / (abs(r) + s mean(abs(r))), and s falls from 1 to 0.1 as the descent becomes slow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.settings import above, at_least, check_bounds
from nutmeg.search.losses import SMOOTHING, Loss, loss_values, loss_weights
from nutmeg.search.searchers import CmaEs, CmaEsSettings, Searcher
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from collections.abc import Mapping

DAMPING_FACTORS = np.array([1e-2, 0.1, 1.0, 10.0])
"""Dampings to try in a round, as multiples of the last good one."""
SMOOTH_DAMPING_FACTORS = np.array([0.1, 1.0])
"""Dampings to try when the last step improved the value about as much as the slopes had predicted."""
SECANT_DAMPING_FACTORS = np.array([0.1, 1.0])
"""Dampings to try with slopes that were corrected along the last step."""
FIRST_DAMPING = 0.1
MAX_STEP = 0.4
"""The largest step of a parameter in a round, as a share of its range."""
SLOW_GAIN = 0.02
"""A round that improves the value by a smaller share makes the next one take slopes from both sides."""
ROUGH_PROMISE = 0.05
"""The landscape is rough if slopes predict an improvement by more than this share and no step improves the value."""
KEPT_SHARE = 0.5
"""If a step gained more than this share of the predicted improvement, fewer dampings are tried in the next round."""
ROUGH_KEPT_SHARE = 0.1
"""If steps gain less than this share of the prediction round after round, roughness limits them, and not noise."""
SHORT_STEP = 0.1
"""The shorter one of the two distances over which slopes are taken, as a share of the longer one."""
SHORTEST_SECANT = 1e-3
"""Slopes are not corrected along steps that change the residuals by a smaller share than about this: products of
residuals have 16 digits, and a correction divides differences of them by the square of the step."""
MAX_FAILED_ROUNDS = 2
"""A descent ends after this many rounds in a row without a better step, or with slow steps on rough ground."""
ESCAPE_STEP = 0.1
"""First standard deviation of an escape, as a share of each range."""


@dataclass(frozen=True, kw_only=True)
class LeastSquaresSettings:
    """Settings of slopes, descents and escapes."""

    step: Annotated[float, above(0, up_to=0.2)] = 0.02
    """First distance between neighbours, as a share of each range: larger than the roughness of a simulation."""
    tolerance: Annotated[float, above(0, up_to=0.1)] = 1e-3
    """Rounds that improve the value by a smaller share are slow: a descent ends with one if another descent was better
    or the ground is rough."""
    precision: Annotated[float, above(0, up_to=10)] = 0.1
    """The best descent ends when a slow round comes nearer to the minimum by less than this many standard errors,
    computed for independent residuals."""
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
        self._basis: list[tuple[int, int]] = []  # generation and index of each evaluated residual in the present round
        self._rows = self._origin = self._next_origin = np.empty((0, 0))
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
        """Values (N,) of residuals (N, rows), and inner products where slopes are taken or a step is better.

        The products are those of the basis, (m + 1, m), with the number of residuals in the last row; for a step those
        of its residuals with the basis and with themselves, (1, m + 1).
        """
        if found.ndim == 1:  # all failed
            return found, None
        values = loss_values(self.loss, found)
        if self._phase == "slopes":
            if not self._known:
                self._origin = found[0]
            if not np.isfinite(self._origin).all():
                return values, None
            self._rows = self._weighted(found if self._known else found[1:], steps=0)
            # einsum sums in one order whatever the number of threads, which a library for matrices need not do.
            products = np.einsum("ir,jr->ij", self._rows, self._rows)
            return values, np.vstack([products, np.full(len(self._rows), float(found.shape[1]))])
        finite = np.where(np.isfinite(values), values, np.inf)
        best = int(finite.argmin())
        if self._phase != "steps" or not finite[best] < self._value:
            return values, None
        self._next_origin = found[best]
        self._rows = np.vstack([self._rows, self._weighted(found[best : best + 1], steps=1)[1:]])
        return values, np.einsum("r,jr->j", self._rows[-1], self._rows)[None]

    def _weighted(self, found: Floats, *, steps: int) -> Floats:
        """The basis from the residuals of the origin and of others, (n, rows), weighted: (n + 1, rows).

        Neighbours are differences from the origin. The last `steps` are residuals themselves: differences would lose
        their digits where a step explains nearly everything.
        """
        rows = np.vstack([self._origin, found])
        rows[1 : len(rows) - steps] -= self._origin
        rows[~np.isfinite(rows).all(axis=1)] = 0.0  # a neighbour that failed gives no slope along its axis
        if self.loss not in ("root", "squares"):
            rows *= np.sqrt(loss_weights(self.loss, self._origin, self._smoothing))
        return rows

    @property
    def needs(self) -> frozenset[int]:
        """The generations of the basis, while a round goes on; that of the present point, where one begins."""
        if self._phase == "steps":
            return frozenset(generation for generation, _ in self._basis)
        return frozenset({self._here_from[0]} if self._phase == "slopes" and self._known else ())

    def recall(self, found: Mapping[int, Floats]) -> None:
        """Takes the residuals of the generations that it needs, by their numbers."""
        if self._phase == "slopes":
            self._origin = found[self._here_from[0]][self._here_from[1]]
            return
        every = np.stack([found[generation][index] for generation, index in self._basis])
        self._origin, self._next_origin = every[0], every[-1]
        self._rows = self._weighted(every[1:], steps=self._secants)

    # Phases

    def _begin(self, here: Floats) -> None:
        """Begins a descent at a point of the unit cube, (k,)."""
        self._phase = "slopes"
        self._here, self._value = here, np.inf
        self._known, self._here_from = False, (0, 0)
        self._damping, self._step, self._failed_rounds = FIRST_DAMPING, self.settings.step, 0
        self._rough_rounds, self._both_sides, self._side = 0, False, 1.0
        self._factors, self._promises = DAMPING_FACTORS, np.zeros(len(DAMPING_FACTORS))
        self._smoothing = SMOOTHING[0]

    def _propose(self) -> Floats:
        if self._phase == "slopes":
            return np.vstack([*([] if self._known else [self._here]), *self._neighbours()])
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
            self._fail_ladder()
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
        """Computes slopes at the present point, and a ladder of steps from them."""
        if self._digest is None:
            self._begin(unit[int(values.argmin())])  # a neighbour can be simulated where the point cannot
            return
        now, first = self._generation - 1, 0 if self._known else 1
        if not self._known:
            self._here_from, self._value = (now, 0), float(values[0])
        self._basis = [self._here_from, *((now, index) for index in range(first, len(unit)))]
        moved = (unit[first:] - self._here).sum(axis=1)
        axes = np.abs(unit[first:] - self._here).argmax(axis=1)
        # The slope along an axis is the mean of those to its neighbours: a linear map of the differences.
        self._slopes = np.zeros((self.space.size, len(self._basis)))
        self._slopes[axes, 1 + np.arange(len(moved))] = 1 / moved / np.bincount(axes, minlength=self.space.size)[axes]
        self._residual = np.eye(1, len(self._basis))[0]
        self._products, self._freedom = self._digest[:-1], max(float(self._digest[-1, 0]) - self.space.size, 1.0)
        self._round_value, self._round_size, self._round_rate = self._value, len(unit), 0.0
        self._climb_down(self._factors)
        self._promises = self._ladder_promises
        self._secants, self._rounds, self._phase = 0, self._rounds + 1, "steps"

    def _climb_down(self, factors: Floats) -> None:
        """Makes the ladder of steps from the present slopes and residuals."""
        self._ladder_factors = factors
        curved, falls = self._slopes @ self._products @ self._slopes.T, self._slopes @ self._products @ self._residual
        power = max(float(self._residual @ self._products @ self._residual), 1e-300)
        self._shortest = SHORTEST_SECANT * math.sqrt(power / max(float(np.trace(curved)) / len(curved), 1e-300))
        steps = [_damped_step(curved, falls, self._here, self._damping * f) for f in factors]
        left = np.array([power + 2 * falls @ d + d @ curved @ d for d in steps])
        self._ladder_promises = 1 - np.sqrt(np.maximum(left, 0.0) / power)
        self._ladder = np.clip(self._here + np.stack(steps), 0.0, 1.0)

    def _take_step(self, unit: Floats, values: Floats) -> None:
        """Goes to the best step of the ladder, if it is better than the present point."""
        best = int(values.argmin())
        if not values[best] < self._value or self._digest is None:
            self._fail_ladder()
            return
        gain = 1 - float(values[best]) / self._value
        if not self._secants:
            kept = gain / max(float(self._ladder_promises[best]), 1e-300)
            self._rough_rounds = self._rough_rounds + 1 if kept < ROUGH_KEPT_SHARE else 0
            self._factors = SMOOTH_DAMPING_FACTORS if kept > KEPT_SHARE else DAMPING_FACTORS
            if kept < KEPT_SHARE:
                self._change_distance()
            self._round_rate = -math.log1p(-gain) / (self._round_size + len(unit)) if gain < 1 else math.inf
        self._damping = float(np.clip(self._damping * self._ladder_factors[best], 1e-6, 1e3))
        step = unit[best] - self._here
        self._correct_slopes(step)
        self._here, self._value, self._here_from = unit[best], float(values[best]), (self._generation - 1, best)
        self._basis.append(self._here_from)
        pays = gain < 1 and -math.log1p(-gain) / len(unit) >= self._round_rate
        if pays and step @ step > self._shortest**2:
            self._secants += 1
            self._climb_down(SECANT_DAMPING_FACTORS)
        else:
            self._end_round()

    def _correct_slopes(self, step: Floats) -> None:
        """Takes the residuals of a step into the basis, and corrects the slopes along it as Broyden does."""
        assert self._digest is not None
        products = self._digest[0]
        self._products = np.block([[self._products, products[:-1, None]], [products[None]]])
        self._slopes = np.pad(self._slopes, ((0, 0), (0, 1)))
        before, self._residual = np.append(self._residual, 0.0), np.eye(len(products))[-1]
        if (length := float(step @ step)) > 0:
            self._slopes += np.outer(step / length, self._residual - before - step @ self._slopes)

    def _end_round(self) -> None:
        """The steps of this round have been taken: ends the descent if it has arrived, else takes slopes again."""
        gain = 1 - self._value / self._round_value
        self._phase, self._failed_rounds, self._known = "slopes", 0, True
        self._origin = self._next_origin
        if self._both_sides and self._has_arrived(gain) and not self._sharpen():
            self._end_descent()
        self._both_sides = gain < SLOW_GAIN
        if self._both_sides:
            self._sharpen()
        self._side = -self._side  # one-sided differences are biased, so the side alternates

    def _fail_ladder(self) -> None:
        """No step of the ladder was better: with corrected slopes the round ends, with fresh ones it failed."""
        if self._secants:
            self._end_round()
            return
        self._failed_rounds += 1
        self._damping = min(self._damping * 100, 1e3)
        self._phase, self._known = "slopes", True
        self._change_distance()
        self._both_sides, self._factors = True, DAMPING_FACTORS
        if self._failed_rounds >= MAX_FAILED_ROUNDS and not self._sharpen():
            self._end_descent()

    def _change_distance(self) -> None:
        """Makes the next slopes use the other distance, because steps did not gain what these slopes predicted."""
        self._step = self.settings.step * (SHORT_STEP if self._step == self.settings.step else 1.0)

    def _has_arrived(self, gain: float) -> bool:
        """Whether the descent has converged, after a round that improved the value by the share `gain`."""
        if gain >= self.settings.tolerance:
            return False
        if self._value > self._best_descent or self._rough_rounds >= MAX_FAILED_ROUNDS:
            return True
        # The sum of squares falls by 2 gain of itself, and it is the variance of the noise times the degrees of
        # freedom; a point d standard errors from the minimum has d^2 variances more.
        return 2 * gain * self._freedom < self.settings.precision**2

    def _sharpen(self) -> bool:
        """Reduces the smoothing of an absolute loss; returns False if it is at its minimum already."""
        if self.loss != "absolute" or self._smoothing <= SMOOTHING[1]:
            return False
        self._smoothing = max(self._smoothing / 3, SMOOTHING[1])
        return True

    def _end_descent(self) -> None:
        """Starts an escape by CMA-ES if the landscape is rough, else another descent, or ends the search."""
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
        """Passes values to the escape; after its last generation a descent starts from its best candidate."""
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
    unit here, and directions that the data hardly determine would be followed too far along a bent valley (on the
    arm of `experiments.sysid_peer` this takes about a third fewer candidates).

    Args:
        curved: J' J, (k, k).
        falls: J' r, (k,).
        here: the point, (k,).
        damping: the damping as a share of the mean diagonal element of J' J.
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
