"""What the two searches of Back-to-Reality minimise; functions that can be sent to other processes.

cost = ControllerCost(twin, simulation, controllers, watch)         # step 1: minus the fitness, (n,)
cost = SimulationCost(twin, trials, observed, watch, distance)      # step 3: phi, (n,)
minimise(cost, space, searcher, evaluator, budget=...)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from nutmeg.base.arrays import Floats
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.controllers import ControllerSpace
from nutmeg.reality.discrepancy import LinearDiscrepancy
from nutmeg.reality.distance import DistanceSettings, make_distance
from nutmeg.reality.realities.log import LoggedReality
from nutmeg.reality.realities.reality import fingerprint
from nutmeg.reality.trial import Trial
from nutmeg.reality.twin import Twin
from nutmeg.reality.watching import Watch


@dataclass(frozen=True)
class ControllerCost:
    """Step 1: controllers in one simulation."""

    twin: Twin
    simulation: Floats
    """s, (k,)."""
    controllers: ControllerSpace
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
    """What became of each trial in reality."""
    watch: Watch
    distance: DistanceSettings

    def __call__(self, candidates: Floats, generators: Sequence[Generator] = ()) -> Floats:  # noqa: ARG002
        """Phi of simulations (n, k), (n,)."""
        measure = make_distance(self.distance)
        seen = self.watch.simulate(self.twin, candidates, self.trials)
        each = [measure.per_trial(real, simulated) for real, simulated in zip(self.real, seen, strict=True)]
        return measure.over_trials(np.stack(each))


@dataclass(frozen=True)
class RealityCost:
    """Controllers in reality itself, without any simulation."""

    reality: LoggedReality
    controllers: ControllerSpace

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> Floats:  # noqa: ARG002
        """Minus the real fitness of controllers (n, c)."""
        named = [replace(t, name=f"r-{fingerprint(t)[:12]}") for t in self.controllers.trials(candidates)]
        return np.array([-float(observed.fitness or 0.0) for observed in self.reality.try_out(named)])
