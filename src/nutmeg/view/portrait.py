"""A picture of one robot, standing on a plain floor, seen from the front and a little from the side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body import Placement, SceneSettings, assemble, load_robot
from nutmeg.body.posing import standing
from nutmeg.view.pictures import picture
from nutmeg.view.viewpoints import Viewpoint

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes

FOV = math.radians(24.0)
"""Vertical field of view: a portrait lens."""


def portrait(
    robot: str, kind: str = "", size: tuple[int, int] = (1200, 900), *, pose: str = "ready", turn: float = 0.45
) -> Bytes:
    """A picture (height, width, 3) of a robot by name or path.

    Args:
        robot: which robot.
        kind: one of its types.
        size: width and height, pixels.
        pose: the pose it stands in.
        turn: how far the camera stands to the robot's left of straight ahead [rad].
    """
    placement = Placement(robot=robot, name="robot", type=kind, pose=pose, team="blue")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
    height = standing(load_robot(robot), pose, kind=kind).top
    reach = max(height, 0.36)
    distance = 0.62 * reach / math.tan(FOV / 2)
    tilt = 0.18 if height > 0.35 else 0.45
    aim = np.array([0.0, 0.0, 0.48 * height])
    away = np.array([math.cos(turn) * math.cos(tilt), math.sin(turn) * math.cos(tilt), math.sin(tilt)])
    view = Viewpoint(position=aim + distance * away, look_at=aim, up=np.array([0.0, 0.0, 1.0]), fov=FOV)
    return picture(scene.model, scene.start, view, size)
