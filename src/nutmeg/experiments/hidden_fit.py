"""Fits to a reality that is itself a simulation, with values nobody is told: what the reproductions share.

    fit = HiddenFit.of(twin, hidden, trials, Disturbance(command=0.001, angle=0.0005, resolution=0.0015), rng)
    result = minimise(fit.cost(DistanceSettings(kind="phi2")), searcher, InThisThread(), budget=800)
    fit.residuals(DistanceSettings(kind="rms"))(candidates)         # for `reality.curvature`

Commands reach the hidden robot disturbed, and its joint angles are read by encoders with noise and a resolution;
the simulations that are compared with it get the commands as they were meant, and are read exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base import settings
from nutmeg.base.errors import SimulationError, UnknownNameError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import DistanceSettings, make_distance, residual_series

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.reality.twin import Trial, Twin
    from nutmeg.search.evaluation import Function
    from nutmeg.search.space import Space


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """What is random or coarse in the hidden reality."""

    command: float = 0.0
    """Standard deviation of every command on its way to a motor [rad]."""
    angle: float = 0.0
    """Standard deviation of every measured angle [rad]."""
    resolution: float = 0.0
    """Step of the encoders [rad]; 0 for none."""


@dataclass(frozen=True, kw_only=True)
class HiddenValues:
    """A file with other hidden values, for `--reality`."""

    values: Mapping[str, float]
    """By the name of the parameter; those left out are drawn."""


@dataclass(frozen=True, eq=False)
class HiddenFit:
    """A hidden reality's behaviour in some trials, and the twin that is to match it."""

    twin: Twin
    trials: tuple[Trial, ...]
    real: tuple[Behaviour, ...]
    """One a trial: angles of all joints, (T, joints)."""
    fallen: float | None = None
    """A robot is down when the cosine of its tilt is below this."""

    @classmethod
    def of(
        cls,
        twin: Twin,
        hidden: Floats,
        trials: Sequence[Trial],
        disturbance: Disturbance,
        rng: np.random.Generator,
        *,
        fallen: float | None = None,
    ) -> HiddenFit:
        """Lets the hidden robot, (k,), do its trials once."""
        told = [
            replace(t, commands=t.commands + disturbance.command * rng.standard_normal(t.commands.shape))
            for t in trials
        ]
        real = []
        for trial, rollout in zip(trials, twin.simulate(hidden[None], told, fallen=fallen), strict=True):
            if rollout.diverged[0]:
                raise SimulationError(f"the hidden robot broke down in {trial.name!r}. Choose other hidden values.")
            angles = rollout.angles[0] + disturbance.angle * rng.standard_normal(rollout.angles[0].shape)
            if disturbance.resolution:
                angles = np.round(angles / disturbance.resolution) * disturbance.resolution
            real.append(_behaviour(twin, angles, int(rollout.frames[0])))
        return cls(twin, tuple(trials), tuple(real), fallen)

    def behaviours(self, candidates: Floats) -> list[Behaviour]:
        """What candidates (n, k) do, one behaviour of n simulations a trial."""
        rollouts = self.twin.simulate(np.atleast_2d(candidates), self.trials, fallen=self.fallen)
        return [_behaviour(self.twin, rollout.angles, rollout.frames) for rollout in rollouts]

    def distances(self, distance: DistanceSettings, candidates: Floats) -> Floats:
        """How far candidates (n, k) are from reality, (n,); infinite for those that break down at once."""
        measure, values = make_distance(distance), []
        for real, seen in zip(self.real, self.behaviours(candidates), strict=True):
            values.append(np.where(np.asarray(seen.frames) > 0, measure.per_trial(real, seen), np.inf))
        return measure.over_trials(np.stack(values))

    def cost(self, distance: DistanceSettings) -> Function:
        """The distance as a function for `search.minimise`."""
        return lambda candidates, _generators: self.distances(distance, candidates)

    def residuals(self, distance: DistanceSettings) -> Callable[[Floats], list[Floats]]:
        """The differences of every joint in every trial, for `reality.curvature`."""

        def found(candidates: Floats) -> list[Floats]:
            pairs = zip(self.real, self.behaviours(candidates), strict=True)
            return [series for real, seen in pairs for series in residual_series(distance, real, seen)]

        return found


def hidden_values(space: Space, rng: np.random.Generator, reality: Path | None) -> Floats:
    """Hidden values, (k,): drawn evenly between the bounds along the scale, but for those a file names."""
    drawn = space.named(space.values(rng.random(space.size)))
    if reality is None:
        return space.array(drawn)
    given = settings.read(reality, HiddenValues).values
    for name in given:
        if name not in drawn:
            raise UnknownNameError("parameter", name, drawn, where=str(reality))
    return space.array({**drawn, **given})


def _behaviour(twin: Twin, angles: Floats, frames: Indices | int) -> Behaviour:
    columns = tuple(f"angles.{joint}" for joint in twin.table.joints)
    return Behaviour(columns=columns, units=("rad",) * len(columns), series=angles, frames=frames)
