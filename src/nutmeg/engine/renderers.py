"""Which of MuJoCo's off-screen renderers works on this machine.

EGL (graphics card, or Mesa in software) is tried first, then OSMesa (software only). Each is tried in a process
of its own, because a broken driver may not fail politely. The environment variable `MUJOCO_GL` (egl or
osmesa) narrows the choice to one. Nothing is touched until a picture is asked for.

    for name, ok, detail in probe_renderers():
        print(name, ok, detail)
"""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
from typing import Any, NamedTuple

from nutmeg.errors import EnvironmentProblem

RENDERERS = ("egl", "osmesa")
"""In the order they are tried."""

INSTALL = (
    "On Debian or Ubuntu: sudo apt-get install libosmesa6\n"
    "or, for EGL: sudo apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0"
)
"""What to do when none works."""

_TIMEOUT = 60.0

_PROBE = """
import sys
from nutmeg.engine.renderers import make_context
import mujoco, numpy
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1' rgba='1 1 1 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
window = make_context(sys.argv[1], 32, 32)
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
import os
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
        f"no renderer for pictures and videos works on this machine{only}.\n{INSTALL}\nWhat was tried: "
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
