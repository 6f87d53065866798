"""Excitation: slow, smooth, random motions that tell much about a body, as open-loop trials.

    settings = ExcitationSettings(seconds=4.0, amplitude={"*_lift": 0.35, "*_knee": 0.4}, centre={"*_lift": 0.7})
    trials = excitations(settings, twin.table, rest, seeds=(6, 4))

A motor swings about its centre with a few tones of random frequency and phase. The motion must be slow: where feet
stick and slip, a fast one makes tiny differences of the body grow as much as large ones, and the series of two
simulations then differ for no reason that a search could find. Measured with one ant (root mean square difference of
height and tilt, scaled, when a femur is longer by 0.001 and by 0.1): tones of 0.1 to 0.5 Hz in steps of 10 ms 0.018
and 0.026, in steps of 5 ms 0.006 and 0.021; a leg that is pressed to the ground, in steps of 5 ms, 0.034 and 0.15, and
with tibias 0.12 already at 0.001: the body tips over, or does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.reality.behaviour import by_pattern
from nutmeg.reality.twin import Trial

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable


@dataclass(frozen=True, kw_only=True)
class ExcitationSettings:
    """The shape of a random motion."""

    seconds: float = 4.0
    """Length of the motion [s]."""
    period: float = 0.02
    """Between two commands [s]."""
    amplitude: Mapping[str, float] = field(default_factory=lambda: {"*": 0.3})
    """How far motors swing, by pattern, the last one that fits; 0 for those that none fits [rad]."""
    centre: Mapping[str, float] = field(default_factory=dict)
    """What motors swing about, by pattern; the angle at rest without one [rad]."""
    frequency: tuple[float, float] = (0.1, 0.5)
    """The slowest and the fastest tone [Hz]."""
    tones: int = 3
    """Number of tones in a motor's motion."""
    ease: float = 0.5
    """Seconds in which the motion grows from rest."""
    margin: float = 0.02
    """Distance that joints keep from their limits [rad]."""

    def __post_init__(self) -> None:
        if not 0 < self.period < self.seconds or self.tones < 1 or not 0 < self.frequency[0] <= self.frequency[1]:
            raise ValueError(
                f"{self.seconds:g} s with commands every {self.period:g} s, {self.tones} tones from "
                f"{self.frequency[0]:g} to {self.frequency[1]:g} Hz; needed are 0 < period < seconds, a tone or more, "
                "and frequencies above 0 in ascending order."
            )


def excitations(settings: ExcitationSettings, table: RobotTable, rest: Floats, seeds: Sequence[int]) -> list[Trial]:
    """A trial for each seed; the same seed is the same motion.

    Args:
        settings: what they are like.
        table: the robot's motors and limits.
        rest: angles of the motors at the start, (motors,) [rad].
        seeds: of chance, one a trial.
    """
    reach = by_pattern(settings.amplitude, table.motors, np.zeros(len(rest)), "motor")
    centre = by_pattern(settings.centre, table.motors, rest, "motor")
    limits = table.limits[table.motor_joints]
    low, high = limits[:, 0] + settings.margin, limits[:, 1] - settings.margin
    times = settings.period * np.arange(round(settings.seconds / settings.period), dtype=np.float64)
    share = np.clip(times / settings.ease, 0.0, 1.0) if settings.ease else np.ones(len(times))
    grown = (share * share * (3 - 2 * share))[:, None]
    found = []
    for seed in seeds:
        tones = _tones(settings, times, len(rest), np.random.default_rng(seed))
        commands = np.clip(rest + grown * (centre - rest + reach * tones), low, high)
        found.append(Trial(name=f"excitation-{seed}", period=settings.period, commands=commands))
    return found


def _tones(settings: ExcitationSettings, times: Floats, motors: int, rng: np.random.Generator) -> Floats:
    """Sums of random tones, (T, motors); the variance is a half."""
    shape = (settings.tones, motors)
    frequency, phase = rng.uniform(*settings.frequency, shape), rng.uniform(0, 2 * np.pi, shape)
    waves = np.sin(2 * np.pi * frequency[:, None] * times[:, None] + phase[:, None])
    return np.asarray(waves.sum(axis=0) / np.sqrt(settings.tones))
