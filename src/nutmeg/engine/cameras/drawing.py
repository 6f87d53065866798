"""MuJoCo's off-screen renderer, shared by all cameras of a scene.

One OpenGL context draws for any number of cameras, each at its own size, from one pose:

    with SceneRenderer(scene.model, (640, 480)) as renderer:
        renderer.pose(qpos)
        picture = renderer.draw(camera, (320, 240), fov=0.76)        # (240, 320, 3) uint8

Only what is seen is drawn (geoms of the groups below 3), and things as near as `NEAR` to a lens still show.
Shadows, reflections and smooth edges cost most of the time in software, so they are off unless `Quality` asks.
Not for several threads at once: an OpenGL context belongs to one.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.closing import Closing
from nutmeg.engine.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.body.lights import Light

NEAR, FAR = 0.01, 400.0
"""The nearest and the farthest thing that is drawn [m]."""
SHAPES = 3
"""Geoms of this group and above are for collisions only."""
MOST_GEOMS = 20000


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What a drawn picture may cost."""

    shadows: bool = False
    """Whether lights that cast shadows do."""
    samples: int = 0
    """Samples per pixel; 0 leaves edges jagged."""
    shadow_size: int = 2048
    """Width of the map of what a light sees, pixels."""
    facets: tuple[int, int] = (20, 12)
    """Into how many pieces round things are cut, around and along: in software, time goes with their number."""


class SceneRenderer(Closing):
    """Draws one model through any of its cameras; holds an OpenGL context until closed.

    Args:
        model: the compiled `mujoco.MjModel`; it is not changed.
        size: width and height of pictures, pixels; it grows if a larger one is asked for.
        quality: what to spend on a picture.
        lights: lights in place of the scene's own; None keeps those.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        size: tuple[int, int],
        *,
        quality: Quality | None = None,
        lights: Sequence[Light] | None = None,
    ) -> None:
        self._quality = quality or Quality()
        self.model = _prepared(model, size, self._quality)
        self.data: Any = mujoco.MjData(self.model)
        self._lights = None if lights is None else tuple(lights)
        self._scene = mujoco.MjvScene(self.model, MOST_GEOMS)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < SHAPES for group in range(len(self._options.geomgroup))]
        self._options.sitegroup[:] = 0
        self._canvas = Canvas(self.model, size)

    def pose(self, qpos: Floats) -> None:
        """Puts everything where generalised positions (nq,) say."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)  # lights and cameras may follow a centre of mass
        mujoco.mj_camlight(self.model, self.data)

    def angular_velocity(self, camera: int, qvel: Floats) -> Floats:
        """How a camera turns in the present pose at generalised velocities (nv,): (3,) in its own frame [rad/s]."""
        self.data.qvel[:] = qvel
        mujoco.mj_comVel(self.model, self.data)
        velocity = np.zeros(6)  # first turning, then travelling
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_CAMERA, camera, velocity, 1)
        return velocity[:3]

    def draw(self, camera: int, size: tuple[int, int], fov: float) -> Bytes:
        """What a camera sees now, (height, width, 3); `fov` is its vertical field of view [rad]."""
        scene = self._scene
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, self.data, self._options, None, mujoco.MjvCamera(), everything, scene)
        if self._lights is not None:
            _light(scene, self._lights)
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = self._quality.shadows
        scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._aim(camera, fov)
        return self._canvas.paint(scene, size)

    def _aim(self, camera: int, fov: float) -> None:
        """Points both of the renderer's eyes as a camera looks: along its own -z, y up."""
        axes = np.array(self.data.cam_xmat[camera]).reshape(3, 3)
        for eye in self._scene.camera:
            eye.pos, eye.forward, eye.up = self.data.cam_xpos[camera], -axes[:, 2], axes[:, 1]
            eye.orthographic = 0
            eye.frustum_near, eye.frustum_far = NEAR, FAR
            eye.frustum_top = NEAR * math.tan(fov / 2)
            eye.frustum_bottom = -eye.frustum_top
            eye.frustum_center = eye.frustum_width = 0.0

    def close(self) -> None:
        """Gives the renderer back."""
        self._canvas.close()


def _prepared(model: mujoco.MjModel, size: tuple[int, int], quality: Quality) -> Any:  # noqa: ANN401
    """A copy of the model whose pictures are large enough and as good as wanted."""
    changed = copy.copy(model)
    changed.vis.global_.offwidth, changed.vis.global_.offheight = size
    changed.vis.quality.offsamples = quality.samples
    changed.vis.quality.shadowsize = quality.shadow_size if quality.shadows else 0
    changed.vis.quality.numslices, changed.vis.quality.numstacks = quality.facets
    return changed


def _light(scene: Any, lights: Sequence[Light]) -> None:  # noqa: ANN401
    """Puts lights in place of the scene's own."""
    scene.nlight = 0
    for light in lights:
        new = scene.lights[scene.nlight]
        kinds = mujoco.mjtLightType
        new.type = kinds.mjLIGHT_DIRECTIONAL if light.kind == "sun" else kinds.mjLIGHT_SPOT
        direction = np.asarray(light.direction) / np.linalg.norm(light.direction)
        new.pos, new.dir = light.pos, direction
        new.ambient, new.diffuse, new.specular = light.ambient, light.colour, np.asarray(light.colour) * light.shine
        new.attenuation = [1.0, 0.0, 0.0]
        new.cutoff = math.degrees(light.opening) / 2
        new.exponent = light.focus
        new.castshadow, new.headlight, new.id, new.texid = light.shadow, 0, -1, -1
        scene.nlight += 1
