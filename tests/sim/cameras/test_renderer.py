import os
import subprocess
import sys

from nutmeg.sim.cameras.renderer import RENDERERS, probe_renderers

PICTURE = """
import mujoco, numpy
from nutmeg.base.errors import EnvironmentProblem
from nutmeg.view.files.pictures import picture
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
try:
    picture(model, model.qpos0, size=(16, 16))
except EnvironmentProblem as problem:
    print(problem)
"""


def run(**environment: str) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", PICTURE], env=clean | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_renderer_is_tried_and_says_how_it_went() -> None:
    probes = probe_renderers()
    assert [p.name for p in probes] == list(RENDERERS)
    assert all(p.detail for p in probes)


def test_without_any_renderer_the_error_tells_what_to_install() -> None:
    said = run(PYOPENGL_PLATFORM="broken")
    assert "apt-get install libosmesa6" in said
    assert "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0" in said
    assert "egl" in said


def test_only_the_renderer_asked_for_is_tried() -> None:
    assert "only osmesa was tried" in run(MUJOCO_GL="osmesa", PYOPENGL_PLATFORM="broken")


def test_a_renderer_that_cannot_make_pictures_off_screen_is_refused_by_name() -> None:
    assert "MUJOCO_GL is 'glfw'" in run(MUJOCO_GL="glfw")
