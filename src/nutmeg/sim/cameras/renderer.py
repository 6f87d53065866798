"""The off-screen renderer: MuJoCo's, for robots' cameras, videos, environments and reports.

One OpenGL context draws for any number of cameras, each at its own size, from one pose:

    with SceneRenderer(scene.model, (640, 480)) as renderer:
        renderer.pose(qpos)
        picture = renderer.draw(camera, (320, 240), fov=0.76)        # (240, 320, 3) uint8, the top row first
        renderer.update()                                            # or, from anywhere:
        picture = renderer.paint(Eye(position=place, forward=ahead, up=up, slope=0.4))
        geoms = renderer.geoms_seen(eye)                             # (480, 640): which geom each pixel shows, or -1

Only visible geoms are drawn (those of the groups below 3). Shadows, reflections and smooth edges cost most of the time
in software, so they are off unless `Quality` asks for them. An OpenGL context belongs to one thread: do not share it.

EGL (graphics card, or Mesa in software) is tried first, then OSMesa (software only). Each is tried in a process of its
own, because a broken driver can take the process down with it. The environment variable `MUJOCO_GL` (egl or osmesa)
narrows the choice to one. No driver is loaded before the first picture.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.util
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from nutmeg.base.errors import EnvironmentProblem, MissingExtraError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.model.build import COLLISION_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bytes, Floats, Ints
    from nutmeg.model.field import Light

MIN_PICTURE_SIDE = 8
MAX_PICTURE_SIDE = 8192
"""Bounds of a picture's width and height, pixels."""
NEAR_PLANE = 0.01
"""Distance of the nearest thing that robots' cameras see [m]."""
FAR_PLANE = 400.0
"""Distance of the farthest thing that is drawn [m]."""
MAX_GEOMS = 20000
"""Largest number of geoms in a drawn scene."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Quality of a drawn picture, which costs time."""

    shadows: bool = False
    """Whether shadows are drawn."""
    reflections: bool = False
    """Whether reflections in shiny floors are drawn."""
    samples: int = 0
    """Samples per pixel; 0 leaves edges jagged."""
    shadow_size: int = 2048
    """Width of the shadow map of a light, pixels."""
    facets: tuple[int, int] | None = (20, 12)
    """Number of facets of round things, around and along, on which the time in software depends; None for the
    model's own."""


@dataclass(frozen=True, kw_only=True)
class Eye:
    """The viewpoint of a picture."""

    position: ArrayLike
    """Position, (3,) [m]."""
    forward: ArrayLike
    """Unit vector along the optical axis, (3,)."""
    up: ArrayLike
    """Unit vector towards the upper edge of the picture, (3,)."""
    slope: float
    """Tangent of half the vertical field of view."""
    slope_across: float = 0.0
    """Tangent of half the horizontal field of view; 0 for square pixels."""
    near: float = NEAR_PLANE
    """Distance of the nearest thing that is drawn [m]."""
    far: float = FAR_PLANE
    """Distance of the farthest thing that is drawn [m]."""


_HIDDEN_GROUP = 5  # the group of geoms that are not drawn


class SceneRenderer(Closing):
    """Draws one model; holds an OpenGL context until closed, and closing twice is fine.

    Args:
        model: the compiled `mujoco.MjModel`; it is not changed.
        size: width and height of pictures, pixels; it grows if a larger one is asked for.
        quality: quality of the pictures.
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
        self.size = checked_size(size)
        self._quality = quality or Quality()
        self.model = _prepared(model, size, self._quality)
        self.data: Any = mujoco.MjData(self.model)
        self.scene: Any = mujoco.MjvScene(self.model, MAX_GEOMS)
        """The geoms and lights that `paint` draws; made by `update`."""
        self._lights = None if lights is None else tuple(lights)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < COLLISION_GROUP for group in range(len(self._options.geomgroup))]
        self._options.sitegroup[:] = 0
        self._window: Any = _make_context(working_renderer(), *size)
        self._context: Any = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def pose(self, qpos: Floats) -> None:
        """Sets the pose of everything from generalised positions (nq,)."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)  # lights and cameras may follow a centre of mass
        mujoco.mj_camlight(self.model, self.data)

    def angular_velocity(self, camera: int, qvel: Floats) -> Floats:
        """Angular velocity of a camera at generalised velocities (nv,), (3,) in its own frame [rad/s]."""
        self.data.qvel[:] = qvel
        mujoco.mj_comVel(self.model, self.data)
        velocity = np.zeros(6)  # angular, then linear
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_CAMERA, camera, velocity, 1)
        return velocity[:3]

    def carrier(self, camera: int) -> Ints:
        """The geoms of the body that carries a camera of the model, such as a head."""
        return np.flatnonzero(self.model.geom_bodyid == self.model.cam_bodyid[camera])

    @contextlib.contextmanager
    def hidden(self, geoms: Ints) -> Iterator[None]:
        """Lets geoms not be in the scene that is made meanwhile by `update`."""
        groups = self.model.geom_group
        before = groups[geoms].copy()
        groups[geoms] = _HIDDEN_GROUP
        try:
            yield
        finally:
            groups[geoms] = before

    def draw(self, camera: int, size: tuple[int, int], fov: float) -> Bytes:
        """The picture of a camera of the model, (height, width, 3); `fov` is its vertical field of view [rad]."""
        self.update()
        return self.paint(self.eye(camera, fov), size)

    def eye(self, camera: int, fov: float) -> Eye:
        """The viewpoint of a camera of the model in the present pose, with a vertical field of view [rad]."""
        axes = np.array(self.data.cam_xmat[camera]).reshape(3, 3)  # it looks along its own -z, y up
        place = np.array(self.data.cam_xpos[camera])
        return Eye(position=place, forward=-axes[:, 2], up=axes[:, 1], slope=math.tan(fov / 2))

    def update(self, camera: mujoco.MjvCamera | None = None) -> None:
        """Makes the scene ready to be painted in the present pose, seen by one of MuJoCo's own cameras if given."""
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self.model, self.data, self._options, None, camera or mujoco.MjvCamera(), everything, self.scene
        )
        if self._lights is not None:
            _light(self.scene, self._lights)
        self.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = self._quality.shadows
        self.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = self._quality.reflections

    def paint(self, eye: Eye | None = None, size: tuple[int, int] | None = None) -> Bytes:
        """A picture of the scene, (height, width, 3), from the eye, or from the camera of the last `update`."""
        if self._context is None:
            raise UsageError("this renderer is closed; make a new one to draw again.")
        if eye is not None:
            self._aim(eye)
        width, height = self.size if size is None else size
        self._window.make_current()
        if width > self.size[0] or height > self.size[1]:
            self.size = checked_size((max(width, self.size[0]), max(height, self.size[1])))
            mujoco.mjr_resizeOffscreen(*self.size, self._context)
        frame = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(frame, self.scene, self._context)
        image = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, frame, self._context)
        return np.ascontiguousarray(image[::-1])

    def geoms_seen(self, eye: Eye | None = None, size: tuple[int, int] | None = None) -> Ints:
        """Ids of the model's geoms in each pixel of such a picture, (height, width); -1 for none."""
        flags = mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR
        before = [bool(self.scene.flags[flag]) for flag in flags]
        try:
            for flag in flags:
                self.scene.flags[flag] = True
            colours = self.paint(eye, size).astype(np.int64)
        finally:
            for flag, value in zip(flags, before, strict=True):
                self.scene.flags[flag] = value
        # Indices into the scene's geoms, counted from 1; 0 is the background.
        numbers = colours @ np.array([1, 1 << 8, 1 << 16])
        shown = np.full(self.scene.ngeom + 1, -1)
        for geom in self.scene.geoms[: self.scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                shown[geom.segid + 1] = geom.objid
        return np.asarray(shown[np.minimum(numbers, self.scene.ngeom)])

    def _aim(self, eye: Eye) -> None:
        """Points both of MuJoCo's stereo cameras, which are one here."""
        for camera in self.scene.camera:
            camera.pos, camera.forward, camera.up = eye.position, eye.forward, eye.up
            camera.orthographic, camera.frustum_center = 0, 0.0
            camera.frustum_near, camera.frustum_far = eye.near, eye.far
            camera.frustum_top, camera.frustum_bottom = eye.near * eye.slope, -eye.near * eye.slope
            camera.frustum_width = eye.near * eye.slope_across

    def close(self) -> None:
        """Releases the OpenGL context."""
        if self._context is not None:
            self._window.make_current()
            self._context.free()
            self._window.free()
            self._context = None


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """The size, if pictures can have it; else an error."""
    if not all(MIN_PICTURE_SIDE <= length <= MAX_PICTURE_SIDE for length in size):
        raise UsageError(
            f"the picture size is {size[0]} x {size[1]}; both must lie between {MIN_PICTURE_SIDE} "
            f"and {MAX_PICTURE_SIDE} pixels."
        )
    return size


def _prepared(model: mujoco.MjModel, size: tuple[int, int], quality: Quality) -> mujoco.MjModel:
    """A copy of the model whose pictures are large enough and as good as wanted."""
    changed = copy.copy(model)
    changed.vis.global_.offwidth, changed.vis.global_.offheight = size
    changed.vis.quality.offsamples = quality.samples
    changed.vis.quality.shadowsize = quality.shadow_size if quality.shadows else 0
    if quality.facets is not None:
        changed.vis.quality.numslices, changed.vis.quality.numstacks = quality.facets
    return changed


def _light(scene: mujoco.MjvScene, lights: Sequence[Light]) -> None:
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


# ----------------------------------------------------------------------------------------------------
# Finding an off-screen renderer of MuJoCo that works on this machine.

RENDERERS = ("egl", "osmesa")
"""Renderers, in the order in which they are tried."""

INSTALL_HINT = (
    "On Debian or Ubuntu: sudo apt-get install libosmesa6\n"
    "or, for EGL: sudo apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0"
)
"""Instructions for machines on which no renderer works."""

_TIMEOUT = 60.0  # largest time that a renderer may take for its first picture [s]

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
    """Result of trying a renderer."""

    name: str
    """`egl` or `osmesa`."""

    ok: bool
    """Whether it drew a picture."""

    detail: str
    """The driver's name, or what went wrong."""


def probe_renderers() -> list[RendererProbe]:
    """Tries every renderer in another process, which takes about a second each."""
    return [_probe(name) for name in RENDERERS]


@functools.cache
def working_renderer() -> str:
    """The first renderer that works; found once per process."""
    if importlib.util.find_spec("OpenGL") is None:
        raise MissingExtraError("a picture", "PyOpenGL", "video")
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


def _make_context(name: str, width: int, height: int) -> Any:  # noqa: ANN401
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
