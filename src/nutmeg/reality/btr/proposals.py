"""What to search next when the searched numbers cannot explain reality: the third principle of seed 000.

    for one in proposals(cost, estimate):
        one.text            # 'phi falls from 0.18 to 0.07 with delay 0.02 s: search it as well ([simulation.delay] ...'

A simulation that explains the trials badly at its best lacks something that happens in reality. Numbers that were not
searched are changed one at a time, in the simulation that was found and in the trials that were made: latency, masses,
friction and drives of all joints, contacts, the time step, and the ball. Those with which the trials are explained
clearly better are proposed, the best one first. Nothing is tried in reality for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import ModelError, UnknownNameError, UsageError
from nutmeg.model.parameters import Adjustment
from nutmeg.reality.twin import Twin

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.btr.costs import SimulationCost

MIN_GAIN = 0.1
"""The share by which phi must fall for a number to be proposed."""
MAX_PROPOSALS = 3


@dataclass(frozen=True)
class Untried:
    """A number that might be searched, and the values at which it is looked at."""

    target: str
    values: tuple[float, ...]
    relative: bool = True
    unit: str = ""


FACTORS = (0.5, 0.7, 1.4, 2.0)
UNTRIED = (
    Untried("delay", (0.01, 0.02, 0.04, 0.08), relative=False, unit="s"),
    Untried("mass.*", (0.7, 0.85, 1.2, 1.4)),
    Untried("drives.*.stiffness", FACTORS),
    Untried("drives.*.torque", FACTORS),
    Untried("servo.*.stall_torque", FACTORS),
    Untried("servo.*.coulomb", FACTORS),
    Untried("joint.*.damping", (0.25, 0.5, 2.0, 4.0)),
    Untried("joint.*.friction", (0.02, 0.05, 0.1, 0.3), relative=False, unit="N m"),
    Untried("foot.friction", FACTORS),
    Untried("physics.contact.friction", FACTORS),
    Untried("physics.contact.solref_0", FACTORS),
    Untried("physics.timestep", (0.25, 0.5, 2.0)),
    Untried("ball.mass", FACTORS),
    Untried("ball.rolling_damping", FACTORS),
    Untried("ball.rolling_deceleration", FACTORS),
)
"""What is looked at; numbers that a robot does not have are passed over."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A number with which the trials are explained better."""

    untried: Untried
    value: float
    """The best of the values that were tried."""
    phi: float
    """Distance from reality with it."""
    before: float
    """The same without it."""

    @property
    def text(self) -> str:
        """A sentence with the table to add to the configuration."""
        one = self.untried
        name = one.target.replace("*.", "").replace(".*", "").replace(".", "_")
        value = f"{'times ' if one.relative else ''}{self.value:g} {one.unit}".rstrip()
        low, high = min((*one.values, 1.0) if one.relative else (0.0, *one.values)), max(one.values)
        table = f'[simulation.{name}] sets = ["{one.target}"], low = {low:g}, high = {high:g}'
        table += ", relative = true" if one.relative else ""
        gain = f"phi falls from {self.before:.3g} to {self.phi:.3g}"
        return f"{gain} with {one.target} {value}: search it as well ({table})."


def proposals(cost: SimulationCost, estimate: Floats, untried: Sequence[Untried] = UNTRIED) -> tuple[Proposal, ...]:
    """The numbers to search next, the most helpful first; none if nothing that is known here helps.

    Args:
        cost: the distance from reality in the stored trials.
        estimate: the simulation that was found, (k,).
        untried: what is looked at; what is searched already is passed over.
    """
    searched = {target for name, one in cost.twin.searched.items() for target in one.targets(name)}
    before = float(cost(estimate[None])[0])
    found = []
    for one in untried:
        if one.target in searched:
            continue
        values = np.array([_phi(cost, estimate, one, value) for value in one.values])
        best = int(np.argmin(values))
        if values[best] < (1 - MIN_GAIN) * before:
            found.append(Proposal(untried=one, value=one.values[best], phi=float(values[best]), before=before))
    return tuple(sorted(found, key=lambda proposal: proposal.phi)[:MAX_PROPOSALS])


def _phi(cost: SimulationCost, estimate: Floats, untried: Untried, value: float) -> float:
    """The distance with one number changed; infinite where the robot has no such number."""
    twin = cost.twin
    change = Adjustment(target=untried.target, value=value, relative=untried.relative)
    try:
        robot = replace(twin.settings, adjustments=(*twin.settings.adjustments, change))
        changed = Twin(robot, twin.searched, threads=twin.threads)
        return float(replace(cost, twin=changed)(estimate[None])[0])
    except (ModelError, UnknownNameError, UsageError):
        return float("inf")
