"""What the robots of a MoToFlex fit do, and which of their numbers are searched (seed 001, section 4).

    twin = motoflex_twin(timestep=0.004)
    trials = four_walks_and_a_kick(twin.table, seconds=2.4)

The paper names neither its four walks nor its kick; these are walks ahead, aside, in a curve and with long steps. Its
unknowns were gains, friction and gear and flex numbers; here each is a factor of what the robot's `actuation.toml`
says, common to both types of leg gears but for the gain.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.motion.kick import Kick, KickSettings
from nutmeg.motion.preview_walk import MOTOFLEX_2, QUICK, PreviewWalk, PreviewWalkSettings
from nutmeg.reality.trial import Trial
from nutmeg.reality.twin import Searched, Twin, TwinSettings

if TYPE_CHECKING:
    from nutmeg.body.tables import RobotTable

PERIOD = 0.02
"""Between commands [s]."""
FALLEN = 0.7
"""A robot is down when the cosine of its tilt is below this."""
WALKS = {
    "ahead": dataclasses.replace(QUICK, start=0.7, stop=0.3, ramp=1),
    "aside": dataclasses.replace(QUICK, forward=0.0, sideways=0.05, start=0.7, stop=0.3, ramp=1),
    "curve": dataclasses.replace(QUICK, forward=0.05, turn=0.4, start=0.7, stop=0.3, ramp=1),
    "long steps": PreviewWalkSettings(forward=0.15, step_duration=0.8, start=0.7, stop=0.3, ramp=1),
}
KICK = KickSettings(shift_time=0.6, back_time=0.4, return_time=0.4)
DELICATE = dataclasses.replace(MOTOFLEX_2, zmp_width=0.85)
"""The paper's second set-up with the weight 15 % further inside: stiff legs walk, soft ones fall."""


def _factor(low: float, high: float, *sets: str) -> Searched:
    return Searched(low=low, high=high, start=1.0, scale="log", sets=sets, relative=True)


SEARCHED = {
    "pitch_gain": _factor(0.4, 2.5, "servo.leg130.p"),
    "roll_gain": _factor(0.4, 2.5, "servo.leg201.p"),
    "viscous": _factor(0.25, 4.0, "servo.leg*.viscous"),
    "coulomb": _factor(0.25, 4.0, "servo.leg*.coulomb"),
    "inertia": _factor(0.4, 2.5, "servo.leg*.rotor_inertia"),
    "play": _factor(0.25, 2.5, "gear.*.play"),
    "gear_stiffness": _factor(0.25, 2.0, "gear.*.stiffness"),
    "flex_stiffness": _factor(0.25, 2.0, "flex.legs.stiffness"),
}
"""Factors; stiffer gears than these are unstable with steps of 4 ms."""
LEGS = {
    "legs": _factor(0.05, 4.0, "gear.*.stiffness", "flex.legs.stiffness"),
    "play": _factor(0.1, 3.0, "gear.*.play"),
}
"""For the falls: how stiff the legs are, and how much play they have."""


def motoflex_twin(timestep: float, searched: dict[str, Searched] | None = None, *, threads: int = 1) -> Twin:
    """A Nao V4 with motors, gears and bending legs."""
    settings = TwinSettings(robot="nao-v4", actuation="motoflex", timestep=timestep)
    return Twin(settings, SEARCHED if searched is None else searched, threads=threads)


def four_walks_and_a_kick(table: RobotTable, seconds: float) -> list[Trial]:
    """The five robots of an evaluation; walks last so long [s], the kick as long as it takes."""
    trials = [walking(table, name, settings, seconds) for name, settings in WALKS.items()]
    kick = Kick(table, KICK)
    times = np.arange(round(kick.duration / PERIOD)) * PERIOD
    return [*trials, Trial(name="kick", period=PERIOD, commands=kick.angles(times))]


def walking(table: RobotTable, name: str, settings: PreviewWalkSettings, seconds: float) -> Trial:
    """A walk as a trial."""
    walk = PreviewWalk(table, settings, duration=seconds)
    commands = np.stack([walk.angles(row * PERIOD) for row in range(round(seconds / PERIOD))])
    return Trial(name=name, period=PERIOD, commands=commands)
