"""Trials: commands that a robot is given, in reality or in simulations of it.

    trial = Trial(name="tripod", period=0.02, commands=gait.angles(times[:, None]))       # (T, motors)

A trial is all that reality and simulation need to know to do the same: the commands over time, where the robot
starts, when its motors are fed, and what differs in this trial from the others (its conditions).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.body.adjustment import Adjustment
    from nutmeg.engine.start import Start


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """Something to do, open loop."""

    name: str
    """For reports and errors; unique among the trials of a run."""
    period: float
    """Time between two rows of commands [s]; a whole number of physics steps."""
    commands: Floats
    """What the motors are told in each period, (T, motors) [rad, or rad/s for velocity drives]."""
    start: Start | None = None
    """Where the robot is at row 0; without it, in its pose, at rest."""
    powered: Bools | None = None
    """Whether the motors are fed, (T,); without it they are."""
    conditions: tuple[Adjustment, ...] = ()
    """What is different in this trial, such as another load or gain."""

    def __post_init__(self) -> None:
        if self.commands.ndim != 2 or not len(self.commands):
            raise UsageError(
                f"trial {self.name!r} has commands of the shape {self.commands.shape}; needed is (T, motors)."
            )
        if not np.isfinite(self.commands).all():
            row, motor = np.argwhere(~np.isfinite(self.commands))[0]
            raise UsageError(f"trial {self.name!r}: the command of motor {motor} in row {row} is not a number.")
        if not (math.isfinite(self.period) and self.period > 0):
            raise UsageError(f"trial {self.name!r} has a period of {self.period} s; it must be above 0.")
        if self.powered is not None and self.powered.shape != (len(self.commands),):
            raise UsageError(
                f"trial {self.name!r}: `powered` has the shape {self.powered.shape}; needed is one per row."
            )

    def __len__(self) -> int:
        return len(self.commands)

    @property
    def seconds(self) -> float:
        """How long it takes [s]."""
        return len(self.commands) * self.period
