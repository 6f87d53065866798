"""The results of Back-to-Reality: iterations, their JSON lines, and the final result.

result = BackToReality(...).run()
result.controller, result.fitness           # the controller with the best fitness in reality
result.simulation                           # the last estimate
result.as_json()                            # what `nutmeg btr --json` prints
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.reality.btr.transfer import Tried
from nutmeg.search.space import Space

if TYPE_CHECKING:
    from nutmeg.reality.btr.extension import Extension
    from nutmeg.reality.btr.warnings import Disengagement, Proposal
    from nutmeg.reality.identify.identifiability import Identifiability
    from nutmeg.reality.twin import Searched
    from nutmeg.search import SearchResult


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How well an estimate predicts trials that were made after it."""

    trials: int
    phi: float
    """Distance of the estimate from reality in them."""
    before: float
    """The same of the simulation before any identification."""

    @property
    def holds(self) -> bool:
        """Whether the estimate is at least as good."""
        return not self.before < self.phi


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """The four steps of one iteration, as far as they were made."""

    number: int
    """Number of the iteration, counted from 0."""
    controllers: SearchResult
    """Step 1: the search of controllers in simulation."""
    champion: Floats
    """c: the fittest controller of it, (c,)."""
    fitness: float
    """Its fitness in the simulation it was found in (estimated real fitness, where that is corrected)."""
    simulation: Floats
    """s: the estimate after it, (k,)."""
    space: Space
    """S: the space of that estimate; it grows where terms are freed."""
    searched_in: Literal["estimate", "start"] = "estimate"
    """The simulation in which controllers were searched: the estimate, or that before any identification."""
    prediction: Prediction | None = None
    """How well the estimate before this iteration predicted its trials; None where there was none."""
    tried: tuple[Tried, ...] = ()
    """Step 2: the controllers that were tried in reality."""
    simulations: SearchResult | None = None
    """Step 3: the search of simulations; None where there was none."""
    phi: float = math.nan
    """Distance of the estimate from reality in the remembered trials; nan without step 3."""
    phi_before: float = math.nan
    """Distance of the estimate before the iteration, in the same trials."""
    compared: int = 0
    """Number of trials in which simulations were compared."""
    warnings: tuple[str, ...] = ()
    """About the plausibility of the estimate."""
    disengagement: Disengagement | None = None
    extension: Extension | None = None
    """The terms that were tried after it, because the searched numbers did not explain the trials."""

    @property
    def best_real(self) -> float:
        """The best fitness in reality of this iteration's trials; nan without any."""
        known = [one.real for one in self.tried if np.isfinite(one.real)]
        return max(known, default=float("nan"))

    def as_json(self, controllers: Space) -> dict[str, Any]:
        """The line of an iteration."""
        return {
            "iteration": self.number,
            "champion": controllers.named(self.champion),
            "simulated_fitness": json_number(self.fitness),
            "fitness": _course(self.controllers, -1.0),
            "tried": [
                {
                    "trial": t.trial.name,
                    "how": t.how,
                    "simulated": json_number(t.simulated),
                    "real": json_number(t.real),
                }
                for t in self.tried
            ],
            "searched_in": self.searched_in,
            "prediction": dataclasses.asdict(self.prediction) if self.prediction else None,
            "simulation": self.space.named(self.simulation),
            "phi": json_number(self.phi),
            "phi_before": json_number(self.phi_before),
            "phi_course": _course(self.simulations, 1.0) if self.simulations else None,
            "compared_trials": self.compared,
            "evaluations": {
                "controllers": self.controllers.evaluations,
                "simulations": self.simulations.evaluations if self.simulations else 0,
            },
            "warnings": list(self.warnings),
            "disengagement": str(self.disengagement) if self.disengagement else None,
            "extension": self.extension.as_json() if self.extension else None,
        }


@dataclass(frozen=True, kw_only=True)
class BtrResult:
    """The result of a run, and its cost."""

    mode: str
    iterations: tuple[Iteration, ...]
    controllers: Space
    simulations: Space
    """The space of simulations at the end."""
    searched: Mapping[str, Searched]
    """What its numbers set."""
    controller: Floats
    """The controller with the best fitness in reality; the last champion if none was measured, (c,)."""
    fitness: float
    """Its fitness in reality; nan if that was not measured."""
    champion: Floats
    """The fittest controller of the last search, (c,)."""
    champion_fitness: float
    """Its fitness in reality; nan if it was not tried there."""
    champion_simulated: float
    """Its fitness in the last simulation."""
    simulation: Floats
    """The last estimate, (k,)."""
    trials: int
    """Trials in reality."""
    reason: str
    """Why it ended."""
    judged: Identifiability | None = None
    """Intervals of the last estimate, and which numbers the trials determine; None where there are none."""
    proposals: tuple[Proposal, ...] = ()
    """What to search next, where the searched numbers do not explain reality."""

    def averaged(self, last: int = 5) -> Floats:
        """The mean estimate of the last iterations with a simulation search, (k,); estimates oscillate.

        Those from before a term was freed do not count.
        """
        size = self.simulations.size
        found = [i.simulation for i in self.iterations if i.simulations and i.space.size == size][-last:]
        return np.mean(found, axis=0) if found else self.simulation

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known before the result is used, one sentence each.

        They are about the last estimate, whether it predicted the trials that followed it, and whether the last gait
        is better in reality than those from before any identification.
        """
        last = next((i for i in reversed(self.iterations) if i.simulations), None)
        found = list(last.warnings) if last else []
        tested = next((i.prediction for i in reversed(self.iterations) if i.prediction), None)
        if tested and not tested.holds:
            found.append(
                f"The estimate predicted the next {_trials(tested.trials)} worse (phi {tested.phi:.3g}) than the "
                f"simulation before any identification ({tested.before:.3g}): do not trust it. Controllers are then "
                "searched in that simulation. Search other numbers, widen ranges, or give the searches more effort."
            )
        first = self.iterations[0].best_real if self.mode == "btr" and len(self.iterations) > 1 else math.nan
        if self.champion_fitness < first:
            found.append(
                f"The last gait achieves {self.champion_fitness:.3g} in reality, less than {first:.3g} before any "
                f"identification. The best gait that was tried achieves {self.fitness:.3g} and is the one handed over."
            )
        return tuple(found)

    @property
    def evaluations(self) -> Mapping[str, int]:
        """How often controllers and simulations were evaluated in simulation, and how many trials that took."""
        controllers = sum(i.controllers.evaluations for i in self.iterations) if self.mode != "reality" else 0
        searched = [i for i in self.iterations if i.simulations is not None]
        simulations = sum(i.simulations.evaluations for i in searched if i.simulations)
        runs = sum(i.simulations.evaluations * i.compared for i in searched if i.simulations)
        extensions = [i.extension for i in self.iterations if i.extension]
        simulations += sum(one.evaluations for one in extensions)
        runs += sum(one.simulated_trials for one in extensions)
        return {"controllers": controllers, "simulations": simulations, "simulated_trials": controllers + runs}

    def as_json(self) -> dict[str, Any]:
        """For scripts and `results.json`."""
        return {
            "mode": self.mode,
            "fitness": json_number(self.fitness),
            "champion": {
                "real": json_number(self.champion_fitness),
                "simulated": json_number(self.champion_simulated),
            },
            "simulation": self.simulations.named(self.simulation),
            "simulation_averaged": self.simulations.named(self.averaged()),
            "intervals": {name: list(self.judged.interval(name)) for name in self.simulations.names}
            if self.judged
            else None,
            "phi": next((json_number(i.phi) for i in reversed(self.iterations) if i.simulations), None),
            "controller": self.controllers.named(self.controller),
            "iterations": [i.as_json(self.controllers) for i in self.iterations],
            "trials_in_reality": self.trials,
            "evaluations": dict(self.evaluations),
            "reason": self.reason,
            "warnings": list(self.warnings),
            "proposals": [one.text for one in self.proposals],
        }


def _trials(count: int) -> str:
    return "trial" if count == 1 else f"{count} trials"


def json_number(value: float) -> float | None:
    """A number as JSON knows it: None where there is none."""
    return float(value) if np.isfinite(value) else None


def _course(result: SearchResult, sign: float) -> dict[str, list[float | None]]:
    """Best so far and mean of each generation."""
    rows = [sign * g.values[np.isfinite(g.values)] for g in result.history]
    return {
        "best": [json_number(sign * g.best.value) for g in result.history],
        "mean": [json_number(float(r.mean())) if len(r) else None for r in rows],
    }
