"""Pictures of a model, drawn off screen: with a sun, soft shadows and a sky, or bare and quick.

A camera is named as in videos: `broadcast`, `side`, `follow:<robot>`, `eyes:<robot>`, or a camera of the model.

    image = picture(model, qpos, camera="broadcast", size=(1280, 720))     # (720, 1280, 3) uint8
    with Photographer(model, (320, 240), quality=QUICK) as photographer:   # many pictures
        images = [photographer.shoot(row, view) for row in rows]

Software rendering is about twelve times faster without shadows, reflections and multisampling (`QUICK`).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.closing import Closing
from nutmeg.engine.canvas import Canvas, checked_size
from nutmeg.view import backdrop
from nutmeg.view.bodies import HIDDEN_GROUP
from nutmeg.view.camera_names import CameraOperator

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.view.viewpoints import Viewpoint

MOST_GEOMS = 20000
"""Geoms the renderer has room for."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What a picture may cost."""

    shadows: bool = True
    """Whether the sun casts shadows."""

    reflections: bool = True
    """Whether shiny floors mirror."""

    samples: int = 4
    """Samples per pixel; 0 leaves edges jagged."""

    sky: bool = True
    """Whether a scene without a sky of its own gets one, and a sun."""


FINE = Quality()
"""For pictures and videos."""

QUICK = Quality(shadows=False, reflections=False, samples=0)
"""For many small pictures, such as what robots see."""


class Photographer(Closing):
    """Takes pictures of one model; holds a renderer until closed."""

    def __init__(self, model: Any, size: tuple[int, int], quality: Quality = FINE) -> None:  # noqa: ANN401
        """Set up.

        Args:
            model: the compiled `mujoco.MjModel`; it is not changed.
            size: width and height, pixels.
            quality: what to spend on a picture.
        """
        self.size, self._quality = checked_size(size), quality
        self.model = _prepared(model, size, quality)
        self.data: Any = mujoco.MjData(self.model)
        self._scene = mujoco.MjvScene(self.model, MOST_GEOMS)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < HIDDEN_GROUP for group in range(6)]
        self._options.sitegroup[:] = 0
        self._canvas = Canvas(self.model, size)

    def pose(self, qpos: Floats) -> None:
        """Put everything where generalised positions (nq,) say."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def shoot(self, view: Viewpoint) -> Bytes:
        """A picture (height, width, 3) of the present pose."""
        scene, quality = self._scene, self._quality
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, self.data, self._options, None, mujoco.MjvCamera(), everything, scene)
        if quality.sky:
            backdrop.add(self.model, scene, view)
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = quality.shadows
        scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = quality.reflections
        _aim(scene, view)
        return self._canvas.paint(scene)

    def close(self) -> None:
        """Gives the renderer back."""
        self._canvas.close()


def picture(
    model: Any,  # noqa: ANN401
    qpos: Floats,
    camera: str | Viewpoint = "broadcast",
    size: tuple[int, int] = (1280, 720),
    quality: Quality = FINE,
) -> Bytes:
    """One picture (height, width, 3) of a model at generalised positions (nq,)."""
    with Photographer(model, size, quality) as photographer:
        photographer.pose(qpos)
        if isinstance(camera, str):
            operator = CameraOperator(photographer.model, camera, aspect=size[0] / size[1])
            camera = operator.view(photographer.data)
        return photographer.shoot(camera)


def _prepared(model: Any, size: tuple[int, int], quality: Quality) -> Any:  # noqa: ANN401
    """A copy of the model with a large enough picture and light that flatters."""
    changed = copy.copy(model)
    changed.vis.global_.offwidth, changed.vis.global_.offheight = size
    changed.vis.quality.offsamples = quality.samples
    changed.vis.quality.shadowsize = 2048 if quality.shadows else 0
    if quality.shadows:  # round things shade themselves in steps when they have few facets
        changed.vis.quality.numslices, changed.vis.quality.numstacks = 36, 22
    if quality.sky:
        head = changed.vis.headlight
        head.ambient[:], head.diffuse[:] = backdrop.HEAD_AMBIENT, backdrop.HEAD_DIFFUSE
        head.specular[:] = 0.05
    return changed


def _aim(scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """Point both of the renderer's eyes along a viewpoint."""
    forward = view.look_at - view.position
    forward = forward / np.linalg.norm(forward)
    up = view.up - (view.up @ forward) * forward
    up = up / np.linalg.norm(up)
    near = 0.02
    for camera in scene.camera:
        camera.pos, camera.forward, camera.up = view.position, forward, up
        camera.orthographic = 0
        camera.frustum_near, camera.frustum_far = near, backdrop.FAR
        camera.frustum_top = near * math.tan(view.fov / 2)
        camera.frustum_bottom = -camera.frustum_top
        camera.frustum_center = camera.frustum_width = 0.0
