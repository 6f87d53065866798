"""A hidden simulation as reality: other values than the searched ones start from, and richer physics if wanted.

    twin = Twin(TwinSettings(robot="ant", timestep=0.001), searched)        # finer steps than the searched twin's
    reality = HiddenSimulation(twin, {"L1_femur": 1.2}, watch, noise=Noise(command=0.01, angle=0.002), seed=3)

What is random in a trial depends on the seed and on the trial's commands alone, not on when it is tried: an
interrupted run sees the same reality when it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import SimulationError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.realities.reality import Observed, fingerprint

if TYPE_CHECKING:
    from nutmeg.reality.observation import Watch
    from nutmeg.reality.twin import Trial, Twin


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Standard deviations of what is random in a trial."""

    command: float = 0.0
    """Standard deviation of every command to a motor [rad]."""
    angle: float = 0.0
    """Standard deviation of every measured column in rad [rad]."""
    place: float = 0.0
    """Standard deviation of every measured column in m [m]."""
    fitness: float = 0.0
    """Standard deviation of the measured fitness, in its unit."""

    def __post_init__(self) -> None:
        if min(self.command, self.angle, self.place, self.fitness) < 0:
            raise ValueError("standard deviations of noise must be 0 or more.")


NO_NOISE = Noise()


class HiddenSimulation:
    """A twin with hidden values, which no search may read.

    Args:
        twin: the robot in its world; its settings may be richer than those of the searched twin.
        values: hidden values by name; names of the twin's space left out are at its start. They must lie within
            the twin's space, which may be wider than the one that is searched.
        watch: what is measured.
        noise: what is random.
        seed: of the noise.
    """

    def __init__(
        self, twin: Twin, values: Mapping[str, float], watch: Watch, *, noise: Noise = NO_NOISE, seed: int = 0
    ) -> None:
        self.twin, self.watch, self.noise, self.seed = twin, watch, noise, seed
        self.candidate = twin.space.array({**twin.space.named(twin.space.start), **values})
        """The hidden values, (k,)."""
        self.trials = 0

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """Simulates them all at once; a simulation that breaks down is an error."""
        generators = [np.random.default_rng([self.seed, int(fingerprint(t), 16)]) for t in trials]
        commanded = [self._commanded(t, rng) for t, rng in zip(trials, generators, strict=True)]
        seen = self.watch.simulate(self.twin, self.candidate[None], commanded)
        for trial, behaviour, rng in zip(trials, seen, generators, strict=True):
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=self._measured(trial, behaviour, rng))

    def _commanded(self, trial: Trial, rng: np.random.Generator) -> Trial:
        if not self.noise.command:
            return trial
        return replace(trial, commands=trial.commands + self.noise.command * rng.standard_normal(trial.commands.shape))

    def _measured(self, trial: Trial, behaviour: Behaviour, rng: np.random.Generator) -> Behaviour:
        if behaviour.frames is None or not int(np.asarray(behaviour.frames).flat[0]):
            raise SimulationError(
                f"the hidden simulation broke down in trial {trial.name!r}. Choose hidden values or a time step with "
                "which it stays stable."
            )
        fitness = None if behaviour.fitness is None else float(np.asarray(behaviour.fitness).flat[0])
        if fitness is not None and self.noise.fitness:
            fitness += self.noise.fitness * float(rng.standard_normal())
        series = None
        if behaviour.series is not None:
            spread = {"rad": self.noise.angle, "m": self.noise.place}
            scale = np.array([spread.get(unit, 0.0) for unit in behaviour.units])
            series = behaviour.series[0] + scale * rng.standard_normal(behaviour.series.shape[1:])
        frames = int(np.asarray(behaviour.frames).flat[0])
        return replace(behaviour, series=series, frames=frames, fitness=fitness, source="hidden simulation")
