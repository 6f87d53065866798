"""The same open-loop walk on the same robot under different actuations (seed 001, section 5)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.engine import Worlds
from nutmeg.motion.preview_walk import PreviewWalk
from nutmeg.motion.trial import Trial, try_walk

if TYPE_CHECKING:
    from nutmeg.body.actuation import Actuation
    from nutmeg.body.identified import IdentifiedBody
    from nutmeg.motion.preview_walk import PreviewWalkSettings

BEGIN, END = 3.0, 2.0
"""Seconds left out at the beginning and the end of a walk: starting and stopping are not walking."""


@dataclass(frozen=True)
class WalkResult:
    """One walk under one actuation."""

    name: str
    trial: Trial
    speed: float
    """Mean forward speed while walking [m/s]; NaN if it fell."""
    fallen_at: float
    """When it fell [s]; infinite if it did not."""
    pitch: float
    """Half the range of the body's pitch [rad]."""
    roll: float
    """Half the range of the body's roll [rad]."""
    rhythm: float
    """Frequency of the body's pitching [Hz]; NaN if it fell."""

    def cells(self) -> tuple[str, ...]:
        """For a table."""
        fell = "-" if np.isinf(self.fallen_at) else f"{self.fallen_at:.1f}"
        speed = "fell" if np.isnan(self.speed) else f"{self.speed:.3f}"
        pitch, roll = (f"{np.degrees(a):.1f}" for a in (self.pitch, self.roll))
        return (self.name, speed, fell, pitch, roll, f"{self.way:.2f}")

    @property
    def way(self) -> float:
        """How far forward it came [m]."""
        return float(self.trial.place[-1, 0, 0] - self.trial.place[0, 0, 0])

    def as_json(self) -> dict[str, Any]:
        """For scripts; null where there is no number."""
        numbers = {"speed": self.speed, "fallen_at": self.fallen_at, "pitch": self.pitch, "roll": self.roll}
        numbers["rhythm"] = self.rhythm
        known = {key: float(v) if np.isfinite(v) else None for key, v in numbers.items()}
        return {"actuation": self.name, **known, "way": self.way}


def compare_walk(
    robot: str,
    settings: PreviewWalkSettings,
    actuation: str | Actuation,
    *,
    seconds: float = 20.0,
    timestep: float = 0.001,
    name: str = "",
    body: IdentifiedBody | None = None,
) -> WalkResult:
    """Walks with one actuation on the SPL's carpet.

    Args:
        robot: a robot with legs like a Nao's.
        settings: the walk.
        actuation: what drives the joints.
        seconds: how long.
        timestep: of the physics [s].
        name: what to call the result; the actuation's name by default.
        body: the robot's identified body.
    """
    placement = Placement(robot=robot, name="walker", pos=(-3.5, 0.0))
    placement = body.placed(placement) if body is not None else placement
    placement = dataclasses.replace(placement, actuation=actuation)
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=(placement,), visuals=False, timestep=timestep))
    walk = PreviewWalk(scene.robots[0], settings, duration=seconds)
    trial = try_walk(Worlds(scene), "walker", walk.angles, seconds=seconds)
    cycle = settings.step_duration
    begin = BEGIN
    end = begin + cycle * max(1, int((seconds - END - begin) / cycle))  # whole cycles
    return WalkResult(
        name=name or str(actuation if isinstance(actuation, str) else "own"),
        trial=trial,
        speed=float(trial.speed(begin, end)[0]),
        fallen_at=float(trial.fallen_at[0]),
        pitch=float(trial.swing(trial.pitch, begin, end)[0]),
        roll=float(trial.swing(trial.roll, begin, end)[0]),
        rhythm=float(trial.rhythm(trial.pitch, begin, end)[0]),
    )
