"""Overlapping shapes: pairs of a robot's bodies that already touch where it starts.

Shapes of a maker's model file often overlap: hulls of meshes are larger than the parts, and covers cross joints. The
engine pushes such bodies apart in every step, so that joints stand degrees away from their commands, and no search of
parameters repairs that. `overlaps` names the pairs:

    for pair in overlaps(scene, "robot"):
        print(pair)                             # chest and spine overlap by 30.1 mm
    overlap_advice(overlaps(scene, "robot"))    # a sentence with the line for robot.toml
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.model.scene import Scene

MIN_DEPTH = 1e-3
"""Shapes that overlap by less are taken to touch, as parts of a robot may [m]."""


@dataclass(frozen=True)
class Overlap:
    """Two bodies of a robot whose shapes overlap."""

    first: str
    second: str
    depth: float
    """How deep [m]."""

    def __str__(self) -> str:
        return f"{self.first} and {self.second} overlap by {1000 * self.depth:.1f} mm"


def overlaps(scene: Scene, robot: str, angles: Floats | None = None) -> list[Overlap]:
    """The bodies of a robot that overlap at the start of a scene, the deepest first.

    Args:
        scene: the compiled scene.
        robot: name of the robot in it.
        angles: joint angles in the order of its table, (joints,) [rad]; those of the start without them or where nan.
    """
    model, table = scene.model, scene.robot(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = scene.start
    if angles is not None:
        data.qpos[table.angles] = np.where(np.isnan(angles), data.qpos[table.angles], angles)
    mujoco.mj_forward(model, data)
    prefix, deepest = f"{robot}/", dict[tuple[str, str], float]()
    for contact in data.contact[: data.ncon]:
        names = sorted(model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        if all(name.startswith(prefix) for name in names):
            first, second = (name.removeprefix(prefix) for name in names)
            deepest[first, second] = max(deepest.get((first, second), 0.0), -float(contact.dist))
    found = [Overlap(*pair, depth) for pair, depth in deepest.items() if depth > MIN_DEPTH]
    return sorted(found, key=lambda one: -one.depth)


def overlap_advice(found: Sequence[Overlap]) -> str:
    """What overlaps, and the line for robot.toml that lets these bodies pass through each other; empty without any."""
    if not found:
        return ""
    pairs = ", ".join(f'["{one.first}", "{one.second}"]' for one in found)
    return (
        f"shapes overlap where the robot starts ({'; '.join(map(str, found))}), and push joints away from their "
        f"commands. Let them pass: ignore_contacts = [{pairs}] in robot.toml."
    )
