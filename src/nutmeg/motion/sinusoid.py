"""Sinusoid gaits: every joint swings about a centre, r_i(t) = theta_i + a_i sin(w t + psi_i).

This is the controller of the ant experiments of Back-to-Reality (Zagal and others, 2009, section 4.1); its
36 free numbers are the 18 amplitudes and 18 phases.

    gait = gait_of(read_gait(Path("gaits.toml"), "tripod"), robot.table, robot.start)
    robot.command = gait.angles(t)      # (motors,), or (N, motors) for N gaits
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import read

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable


@dataclass(frozen=True, kw_only=True)
class Swing:
    """One joint of a gait."""

    theta: float = 0.0
    """Centre of the swing [rad]."""
    a: float = 0.0
    """Amplitude [rad]."""
    psi: float = 0.0
    """Phase [rad]."""


@dataclass(frozen=True, kw_only=True)
class GaitSettings:
    """A gait as it is written in a file."""

    frequency: float
    """Swings per second [Hz]."""
    joints: Mapping[str, Swing]
    """The swing of each joint; joints left out stay where they are."""
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class GaitFile:
    """A file of gaits."""

    gaits: Mapping[str, GaitSettings]


@dataclass(frozen=True)
class SinusoidGait:
    """A gait, or N gaits at once.

    `theta`, `amplitude` and `phase` are (motors,) or (N, motors) in the order of the robot's motors; `omega`
    is the angular frequency [rad/s].
    """

    theta: Floats
    amplitude: Floats
    phase: Floats
    omega: float

    def angles(self, time: ArrayLike) -> Floats:
        """Reference angles at a time, or at N times (N, 1) for N worlds."""
        return np.asarray(self.theta + self.amplitude * np.sin(self.omega * np.asarray(time) + self.phase))


def gait_of(settings: GaitSettings, table: RobotTable, rest: Floats) -> SinusoidGait:
    """A gait for a robot; `rest` (motors,) holds the angles of the motors that the gait leaves alone."""
    for name in settings.joints:
        if name not in table.motors:
            raise UnknownNameError(f"motor of {table.settings.name}", name, table.motors)
    swings = [settings.joints.get(m, Swing(theta=float(r))) for m, r in zip(table.motors, rest, strict=True)]
    return SinusoidGait(
        theta=np.array([s.theta for s in swings]),
        amplitude=np.array([s.a for s in swings]),
        phase=np.array([s.psi for s in swings]),
        omega=2 * math.pi * settings.frequency,
    )


def read_gait(path: Path, name: str) -> GaitSettings:
    """A gait by its name in a file of gaits."""
    gaits = read(path, GaitFile).gaits
    if name not in gaits:
        raise UnknownNameError("gait", name, gaits, where=str(path))
    return gaits[name]
