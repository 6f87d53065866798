"""How legs of any robot are drawn up and swing, against the engine's own kinematics."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from nutmeg.learning.policies.walk_task import walk_scene
from nutmeg.motion.legs.feet import SWING, Feet, find_feet


def soles(feet: Feet, change: np.ndarray) -> np.ndarray:
    """Places of the soles when the joints are moved from the pose of the start, (feet, 3)."""
    model = feet.scene.model
    data = mujoco.MjData(model)
    data.qpos[:] = feet.scene.start
    data.qpos[feet.table.angles] += change
    mujoco.mj_kinematics(model, data)
    return np.array(
        [
            data.xpos[b] + data.xmat[b].reshape(3, 3) @ s
            for b, s in zip(feet.bodies, feet.record["sole"][0], strict=False)
        ]
    )


@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_feet_are_drawn_straight_up_and_swing_along_the_ground(robot: str) -> None:
    scene = walk_scene(robot)
    feet = find_feet(scene, scene.robot("walker"))
    at_rest, still = soles(feet, np.zeros(len(feet.table.joints))), np.array(feet.group)
    for group, change in enumerate(feet.lift(0.03)):
        moved = soles(feet, change) - at_rest
        assert moved[still == group] == pytest.approx(np.tile([0.0, 0.0, 0.03], (sum(still == group), 1)), abs=3e-3)
        assert moved[still != group] == pytest.approx(0.0, abs=1e-9)
    for axis, change in enumerate(feet.swing() * SWING):
        wanted = SWING * np.eye(3)[axis] * (1 - 2 * still[:, None])
        assert soles(feet, change) - at_rest == pytest.approx(wanted, abs=3e-3)
