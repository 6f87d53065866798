"""Fits to a reality that is itself a simulation with hidden values.

    fit = hidden_fit(twin, hidden, trials, Disturbance(command=0.001, angle=0.0005, resolution=0.0015), rng)
    result = minimise(replace(fit, distance=DistanceSettings(kind="phi2")), searcher, ...)
    fit.residuals(candidates)                   # for `reality.identify.curvature`

Commands reach the hidden robot disturbed, and its joint angles are read by encoders with noise and a resolution;
the simulations that are compared with it get the undisturbed commands, and are read exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base import settings
from nutmeg.base.errors import SimulationError, UnknownNameError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.reality.logs.replay import MeasuredTrial

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.twin import Trial, Twin
    from nutmeg.search.space import Space

RMS = DistanceSettings(kind="rms")


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """Noise and resolution of the hidden reality."""

    command: float = 0.0
    """Standard deviation of every command on its way to a motor [rad]."""
    angle: float = 0.0
    """Standard deviation of every measured angle [rad]."""
    resolution: float = 0.0
    """Step of the encoders [rad]; 0 for none."""


@dataclass(frozen=True, kw_only=True)
class _HiddenValues:
    """A file with other hidden values, for `--reality`."""

    values: Mapping[str, float]
    """Values by the name of the parameter; others are drawn at random."""


def hidden_fit(
    twin: Twin,
    hidden: Floats,
    trials: Sequence[Trial],
    disturbance: Disturbance,
    rng: np.random.Generator,
    *,
    distance: DistanceSettings = RMS,
    fallen: float | None = None,
) -> ReplayCost:
    """Simulates the trials once with the hidden values, (k,); candidates are compared with all joint angles of it."""
    columns = tuple(f"angles.{joint}" for joint in twin.table.joints)
    disturbed = [
        replace(t, commands=t.commands + disturbance.command * rng.standard_normal(t.commands.shape)) for t in trials
    ]
    measured = []
    for trial, rollout in zip(trials, twin.simulate(hidden[None], disturbed, fallen=fallen), strict=True):
        if rollout.diverged[0]:
            raise SimulationError(f"the hidden robot broke down in {trial.name!r}. Choose other hidden values.")
        angles = rollout.angles[0] + disturbance.angle * rng.standard_normal(rollout.angles[0].shape)
        if disturbance.resolution:
            angles = np.round(angles / disturbance.resolution) * disturbance.resolution
        units = ("rad",) * len(columns)
        real = Behaviour(columns=columns, units=units, series=angles, frames=int(rollout.frames[0]))
        measured.append(MeasuredTrial(source=trial.name, trial=trial, times=rollout.times, real=real))
    return ReplayCost(twin, tuple(measured), distance, fallen)


def hidden_values(space: Space, rng: np.random.Generator, reality: Path | None) -> Floats:
    """Hidden values, (k,): drawn evenly between the bounds along the scale, but for those that a file names."""
    drawn = space.named(space.values(rng.random(space.size)))
    if reality is None:
        return space.array(drawn)
    given = settings.read(reality, _HiddenValues).values
    for name in given:
        if name not in drawn:
            raise UnknownNameError("parameter", name, drawn, where=str(reality))
    return space.array({**drawn, **given})


def followed(
    fit: ReplayCost, candidates: Floats, joints: Sequence[str], rows: slice = slice(None)
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Commands (T,), hidden angles (T,) and those of candidates (n, T) of some joints in the first trial, by joint."""
    one, table = fit.measured[0], fit.twin.table
    assert isinstance(one, MeasuredTrial)
    simulated, real = np.asarray(fit.behaviours(candidates)[0].series), np.asarray(one.real.series)
    return {
        joint: (
            one.trial.commands[rows, table.motors.index(joint)],
            real[rows, table.joints.index(joint)],
            simulated[:, rows, table.joints.index(joint)],
        )
        for joint in joints
    }
