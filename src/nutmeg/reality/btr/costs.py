"""What the searches of Back-to-Reality minimise; functions that can be sent to other processes.

    cost = ControllerCost(twin, simulation, controllers, watch)         # step 1: minus the fitness, (n,)
    cost = SimulationCost(twin, trials, observed, watch, distance)      # step 3: phi, (n,)
    minimise(cost, searcher, evaluator, budget=...)

Seed 000 (section 2.1.1) discusses an alternative to a better simulation: to learn from the trials in reality how far
off the simulated fitness is, and to correct it linearly.

    correction = LinearDiscrepancy.fit(simulated, real)                     # f_real = a + b f_sim
    correction = LinearDiscrepancy.fit(simulated, real, controllers)        # ... + g . c, c in the unit cube
    correction.predict(simulated, controllers)                              # (n,)

With the simulated fitness alone the order of controllers stays as it is (unless b is below 0): it says what to expect
in reality, but cannot find other controllers. With the controller's numbers it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.btr.controllers import Controllers
from nutmeg.reality.distances.distance import DistanceSettings, make_distance, residual_rows, residual_series
from nutmeg.reality.observation import Watch
from nutmeg.reality.realities.log import LoggedReality
from nutmeg.reality.realities.reality import fingerprint
from nutmeg.reality.twin import Trial, Twin

RIDGE_WEIGHT = 1.0
"""Weight of the controller's numbers being small, against the error of one trial."""


@dataclass(frozen=True)
class LinearDiscrepancy:
    """A linear estimate of real fitness."""

    offset: float
    """a: real fitness where the simulated one is 0."""
    slope: float
    """b: change of real fitness with simulated fitness."""
    gradient: Floats
    """g: change of real fitness with the controller's numbers, (c,); empty if controllers play no part."""
    centre: Floats
    """Mean controller of the fit, (c,)."""
    residual: float
    """Root mean square error in the trials it was fitted to."""

    @classmethod
    def fit(cls, simulated: ArrayLike, real: ArrayLike, controllers: ArrayLike | None = None) -> LinearDiscrepancy:
        """The estimate that explains trials best: fitness (n,) each, and controllers (n, c) in the unit cube."""
        theirs, ours = np.asarray(simulated, float), np.asarray(real, float)
        known = np.isfinite(theirs) & np.isfinite(ours)
        if theirs.shape != ours.shape or theirs.ndim != 1 or not known.any():
            raise UsageError(f"fitness of the shapes {theirs.shape} and {ours.shape}; needed are (n,), some known.")
        theirs, ours = theirs[known], ours[known]
        slope = 1.0  # one trial, or trials that are all alike, tell an offset only
        if theirs.std() > 1e-12:
            slope = float(((theirs - theirs.mean()) * (ours - ours.mean())).mean() / theirs.var())
        offset = float(ours.mean() - slope * theirs.mean())
        left = ours - offset - slope * theirs
        gradient, centre = np.zeros(0), np.zeros(0)
        if controllers is not None:
            rows = np.asarray(controllers, float)[known]
            centre = rows.mean(axis=0)
            x = rows - centre
            gradient = x.T @ np.linalg.solve(x @ x.T + RIDGE_WEIGHT * np.eye(len(x)), left)  # ridge, in its dual form
            left = left - x @ gradient
        return cls(offset, slope, gradient, centre, float(np.sqrt((left**2).mean())))

    def predict(self, simulated: ArrayLike, controllers: ArrayLike | None = None) -> Floats:
        """Real fitness of controllers with simulated fitness (n,)."""
        estimate = self.offset + self.slope * np.asarray(simulated, float)
        if len(self.gradient):
            if controllers is None:
                raise UsageError("this estimate was fitted with controllers; give them to predict, too.")
            estimate = estimate + (np.asarray(controllers, float) - self.centre) @ self.gradient
        return np.asarray(estimate)


@dataclass(frozen=True)
class ControllerCost:
    """Step 1: controllers in one simulation."""

    twin: Twin
    simulation: Floats
    """s: the numbers of the simulation, (k,)."""
    controllers: Controllers
    watch: Watch
    correction: LinearDiscrepancy | None = None
    """How real fitness is estimated from simulated fitness; it is not, without one."""

    def fitness(self, candidates: Floats) -> Floats:
        """Simulated fitness of controllers (n, c), (n,); nan for failed ones."""
        trials = self.controllers.trials(candidates)
        seen = self.watch.simulate(self.twin, self.simulation[None], trials)
        return np.array([float(np.asarray(behaviour.fitness)[0]) for behaviour in seen])

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:  # noqa: ARG002 (no chance in it)
        """Minus the (estimated real) fitness."""
        fitness = self.fitness(candidates)
        if self.correction:
            fitness = self.correction.predict(fitness, self.controllers.space.unit(candidates))
        return -fitness


@dataclass(frozen=True)
class SimulationCost:
    """Step 3: simulations in the trials that were made in reality."""

    twin: Twin
    trials: tuple[Trial, ...]
    real: tuple[Behaviour, ...]
    """The real behaviour in each trial."""
    watch: Watch
    distance: DistanceSettings

    def __call__(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """Phi of simulations (n, k), (n,)."""
        measure = make_distance(self.distance)
        seen = self.watch.simulate(self.twin, candidates, self.trials)
        each = [measure.per_trial(real, simulated) for real, simulated in zip(self.real, seen, strict=True)]
        return measure.over_trials(np.stack(each))

    def rows(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """The residuals of simulations (n, k) over all trials, (n, rows), for `search.least_squares`."""
        return residual_rows(self.distance, self.real, self.watch.simulate(self.twin, candidates, self.trials))

    def series(self, candidates: Floats) -> list[Floats]:
        """The residuals of simulations (n, k), (n, T) for each channel of each trial, for `identify.curvature`."""
        seen = self.watch.simulate(self.twin, candidates, self.trials)
        pairs = zip(self.real, seen, strict=True)
        return [one for real, simulated in pairs for one in residual_series(self.distance, real, simulated)]


@dataclass(frozen=True)
class RealityCost:
    """Controllers in reality itself, without any simulation."""

    reality: LoggedReality
    controllers: Controllers

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:  # noqa: ARG002
        """Minus the real fitness of controllers (n, c)."""
        named = [replace(t, name=f"r-{fingerprint(t)[:12]}") for t in self.controllers.trials(candidates)]
        return np.array([-float(observed.fitness or 0.0) for observed in self.reality.try_out(named)])
