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
import functools
import importlib
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.base.interrupts import Closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.lights import Light


# ----------------------------------------------------------------------------------------------------
# Which of MuJoCo's off-screen renderers works on this machine.
#
# EGL (graphics card, or Mesa in software) is tried first, then OSMesa (software only). Each is tried in a process of
# its own, because a broken driver may not fail politely. The environment variable `MUJOCO_GL` (egl or osmesa) narrows
# the choice to one. Nothing is touched until a picture is asked for.


RENDERERS = ("egl", "osmesa")
"""In the order they are tried."""

INSTALL_HINT = (
    "On Debian or Ubuntu: sudo apt-get install libosmesa6\n"
    "or, for EGL: sudo apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0"
)
"""What to do when none works."""

_TIMEOUT = 60.0

_PROBE = """
import importlib, os, sys
import mujoco, numpy
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1' rgba='1 1 1 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
os.environ["MUJOCO_GL"] = sys.argv[1]
window = importlib.import_module("mujoco." + sys.argv[1]).GLContext(32, 32)
window.make_current()
context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
scene, camera, frame = mujoco.MjvScene(model, 10), mujoco.MjvCamera(), mujoco.MjrRect(0, 0, 32, 32)
camera.distance = 4
mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL, scene)
mujoco.mjr_render(frame, scene, context)
image = numpy.zeros((32, 32, 3), numpy.uint8)
mujoco.mjr_readPixels(image, None, frame, context)
if not image[16, 16].any():
    sys.exit("the picture of a white ball came out black")
from OpenGL import GL
print(GL.glGetString(GL.GL_RENDERER).decode(), flush=True)
os._exit(0)
"""


class RendererProbe(NamedTuple):
    """What came of trying a renderer."""

    name: str
    """`egl` or `osmesa`."""

    ok: bool
    """Whether it drew a picture."""

    detail: str
    """The driver's name, or what went wrong."""


def probe_renderers() -> list[RendererProbe]:
    """Try every renderer in a process of its own, about a second each."""
    return [_probe(name) for name in RENDERERS]


@functools.cache
def working_renderer() -> str:
    """The first renderer that works; found once per process."""
    wish = os.environ.get("MUJOCO_GL", "").strip().lower()
    if wish and wish not in RENDERERS:
        raise EnvironmentProblem(
            f"the environment variable MUJOCO_GL is {wish!r}, but pictures are drawn with one of: "
            f"{', '.join(RENDERERS)}. Unset it (`unset MUJOCO_GL`) to have one chosen."
        )
    tried = []
    for name in (wish,) if wish else RENDERERS:
        probe = _probe(name)
        if probe.ok:
            return name
        tried.append(f"{name}: {probe.detail}")
    only = f" (only {wish} was tried, because MUJOCO_GL says so)" if wish else ""
    raise EnvironmentProblem(
        f"no renderer for pictures and videos works on this machine{only}.\n{INSTALL_HINT}\nWhat was tried: "
        + "; ".join(tried)
    )


def make_context(name: str, width: int, height: int) -> Any:  # noqa: ANN401
    """A current OpenGL context of `width` x `height` pixels, with methods `make_current` and `free`."""
    # MuJoCo looks this variable up when it loads OpenGL, not when it is imported.
    os.environ["MUJOCO_GL"] = name
    context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
    context.make_current()
    return context


def _probe(name: str) -> RendererProbe:
    # The first import of `mujoco` reads MUJOCO_GL too; unset, it asks for no display.
    environment = {k: v for k, v in os.environ.items() if k != "MUJOCO_GL"}
    if environment.get("PYOPENGL_PLATFORM") in RENDERERS and name != environment["PYOPENGL_PLATFORM"]:
        del environment["PYOPENGL_PLATFORM"]  # left behind by a context made earlier in this process
    try:
        done = subprocess.run(  # noqa: S603 (our own code)
            [sys.executable, "-c", _PROBE, name],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return RendererProbe(name, ok=False, detail=f"gave no picture within {_TIMEOUT:.0f} s")
    if done.returncode == 0:
        return RendererProbe(name, ok=True, detail=done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "")
    lines = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
    return RendererProbe(name, ok=False, detail=lines[-1])


# ----------------------------------------------------------------------------------------------------
# What MuJoCo's scenes are drawn on, off screen: one OpenGL context and its buffer.
#
# Not for several threads at once: an OpenGL context belongs to one.


MIN_PICTURE_SIDE, MAX_PICTURE_SIDE = 8, 8192
"""Bounds of a picture's width and height, pixels."""


class Canvas(Closing):
    """Draws scenes of one model; holds an OpenGL context until closed, and closing twice is fine.

    Args:
        model: the compiled `mujoco.MjModel`; what it says of off-screen buffers must allow the size.
        size: width and height of the largest picture, pixels.
    """

    def __init__(self, model: Any, size: tuple[int, int]) -> None:  # noqa: ANN401
        self.size = checked_size(size)
        self._window: Any = make_context(working_renderer(), *size)
        self._context: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def paint(self, scene: Any, size: tuple[int, int] | None = None) -> Bytes:  # noqa: ANN401
        """A picture of a scene as its eyes see it, (height, width, 3); as large as the canvas if not told otherwise."""
        if self._context is None:
            raise UsageError("this renderer is closed; make a new one to draw again.")
        width, height = self.size if size is None else size
        self._window.make_current()
        if width > self.size[0] or height > self.size[1]:
            self.size = checked_size((max(width, self.size[0]), max(height, self.size[1])))
            mujoco.mjr_resizeOffscreen(*self.size, self._context)
        frame = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(frame, scene, self._context)
        image = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, frame, self._context)
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        """Gives the context back."""
        if self._context is not None:
            self._window.make_current()
            self._context.free()
            self._window.free()
            self._context = None


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """A size that pictures can have."""
    if not all(MIN_PICTURE_SIDE <= length <= MAX_PICTURE_SIDE for length in size):
        raise UsageError(
            f"the picture size is {size[0]} x {size[1]}; both must lie between {MIN_PICTURE_SIDE} "
            f"and {MAX_PICTURE_SIDE} pixels."
        )
    return size


NEAR_PLANE, FAR_PLANE = 0.01, 400.0
"""The nearest and the farthest thing that is drawn [m]."""
FIRST_HIDDEN_GROUP = 3
"""Geoms of this group and above are for collisions only."""
MAX_GEOMS = 20000


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
        self._scene = mujoco.MjvScene(self.model, MAX_GEOMS)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < FIRST_HIDDEN_GROUP for group in range(len(self._options.geomgroup))]
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
            eye.frustum_near, eye.frustum_far = NEAR_PLANE, FAR_PLANE
            eye.frustum_top = NEAR_PLANE * math.tan(fov / 2)
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
