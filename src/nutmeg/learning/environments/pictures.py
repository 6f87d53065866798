"""Pictures of the robots of an environment, drawn off screen.

    pictures = Pictures(options)
    pictures.draw(worlds.qpos[0])               # (height, width, 3), the camera follows the robot

Environments step without what is only seen, so pictures have a scene of their own with the same joints. The renderer
is MuJoCo's, on what works here (`engine.renderers`). Videos with shadows and a sky
are made from recordings (`nutmeg video`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco

from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.engine.canvas import Canvas
from nutmeg.errors import UnknownNameError
from nutmeg.learning.course_run import ROBOT

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.learning.environments.options import RobotOptions

AZIMUTH, ELEVATION, DISTANCE, HEIGHT = 140.0, -15.0, 1.7, 0.28
"""Where the camera is, seen from the robot [deg, deg, m], and how high it looks [m]."""
SHAPES = 3
"""Geoms of this group and above are for collisions only."""
MOST_GEOMS = 5000


def checked_mode(mode: str | None) -> str | None:
    """A render mode, if there is such a one."""
    if mode not in (None, "rgb_array"):
        raise UnknownNameError("render mode", str(mode), ["rgb_array"])
    return mode


class Pictures:
    """Draws the robot of an environment; holds a renderer until closed."""

    def __init__(self, options: RobotOptions) -> None:
        placement = Placement(robot=options.robot, name=ROBOT, actuation=options.actuation)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
        self._model, self._root = scene.model, scene.robot(ROBOT).root
        self._model.vis.global_.offwidth, self._model.vis.global_.offheight = options.width, options.height
        self._model.vis.quality.shadowsize = 0
        self._data = mujoco.MjData(self._model)
        self._scene = mujoco.MjvScene(self._model, MOST_GEOMS)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation, self._camera.distance = AZIMUTH, ELEVATION, DISTANCE
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < SHAPES for group in range(len(self._options.geomgroup))]
        self._options.sitegroup[:] = 0
        self._canvas = Canvas(self._model, (options.width, options.height))

    def draw(self, qpos: Floats) -> Bytes:
        """A picture (height, width, 3) of a configuration (nq,)."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._camera.lookat[:] = [*qpos[self._root : self._root + 2], HEIGHT]
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(
            self._model, self._data, self._options, None, self._camera, everything.value, self._scene
        )
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
        return self._canvas.paint(self._scene)

    def close(self) -> None:
        """Gives the renderer back."""
        self._canvas.close()
