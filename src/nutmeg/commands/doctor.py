"""Check what is installed, which renderer works, and say with the exact command what to install for the rest.

With --compile it also compiles what matches, players and walks need, so that no first start has to.

example: nutmeg doctor
         nutmeg doctor --compile
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from rich.text import Text

from nutmeg.base.errors import EnvironmentProblem, NutmegError
from nutmeg.base.installation import mujoco_problem
from nutmeg.commands.options import JsonOption

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal

_PACKAGES = ("mujoco-core", "numpy", "numba", "scipy", "pyarrow", "viser", "tyro", "rich", "matplotlib")
EXTRAS = {
    "video": (("imageio-ffmpeg", "pyopengl"), "videos, pictures and robots' cameras"),
    "cluster": (("distributed",), "learning and identification on a Dask cluster"),
    "rl": (("gymnasium", "pettingzoo"), "environments for reinforcement learning"),
    "collada": (("pycollada",), "robots with Collada meshes"),
    "mcap": (("mcap",), "recordings as MCAP for Foxglove"),
}
"""Extras of the package: what they install, and what for."""
_GPU_EXTRA = (("mujoco-warp", "numba-cuda"), "thousands of worlds on a CUDA device")
"""The same for the extra `gpu`, which is no part of `all`: it is large."""
_INSTALL_RENDERER = {
    "egl": "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0",
    "osmesa": "apt-get install libosmesa6",
}
_ENOUGH_DISK = 1e9
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg doctor`."""

    port: int = 8080
    """Port to try for the page."""
    compile: bool = False
    """Compile now what matches, servers, players and walks need, which takes a minute or two; otherwise the first start
    of each does it."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    """Advice; empty when all is well."""
    needed: bool = True
    """Whether Nutmeg cannot work without it."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Looks at everything and reports."""
    checks = [
        _python(),
        *map(_package, _PACKAGES),
        *(_extra(*extra) for extra in EXTRAS.items()),
        _extra("gpu", _GPU_EXTRA),
        _mujoco(),
        _browser(),
        _port(arguments.port),
    ]
    if not mujoco_problem():
        checks.append(_physics())
        checks += [*_renderers(), _ffmpeg()] if _extra("video", EXTRAS["video"]).ok else []
        checks += [_gpu()] if _extra("gpu", _GPU_EXTRA).ok else []
    checks += [_disk(), Check(name="cores", ok=True, detail=f"{os.cpu_count()} ({platform.machine()}, {sys.platform})")]
    marks = {True: Text("ok", "green"), False: Text("no", "red")}
    terminal.table("", ("", "what", "found"), [(marks[c.ok], c.name, c.detail) for c in checks])
    for check in checks:
        if check.fix:
            terminal.say(Text.assemble("\n", (check.name, "bold"), f": {check.fix}"))
    healthy = all(c.ok for c in checks if c.needed)
    if arguments.compile and healthy:
        _compile(terminal)
    terminal.say("\nAll that is needed is there." if healthy else "\nSomething that is needed is missing: see above.")
    rows = [{k: v for k, v in dataclasses.asdict(c).items() if k != "needed"} for c in checks]
    return {"checks": rows, "exit_code": 0 if healthy else 3}


def _compile(terminal: Terminal) -> None:
    """Plays a moment of everything that has compiled functions; they are kept on disk."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from nutmeg.commands import agents, play, serve, walk
    from nutmeg.match.players.booster import BoosterSetup, walking_setup
    from nutmeg.match.rules.book import load_rules

    begun = time.monotonic()
    with TemporaryDirectory() as folder, terminal.busy("compiling"):
        for name in ("final", "policy"):
            agents.rehearse(name)
            walk.run(walk.DriveArguments(robot="nao-spark", params=name, view=False, seconds=0.1), terminal)
        serve.rehearse(load_rules("sim3d"))
        agents.rehearse_booster(walking_setup(BoosterSetup()))
        serve.rehearse_mj(load_rules("ssim26"), "fifa7vs7")
        for world in ("physical", "behavioural"):
            match = play.new_match(play.Arguments(world=world, players=2), Path(folder) / f"{world}.nutmeg")
            for _ in range(20):
                match.cycle()
            match.game.close()
    terminal.say(f"\nEverything is compiled ({time.monotonic() - begun:.0f} s).")


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    fix = "" if ok else "install Python 3.11 or newer: apt-get install python3 python3-venv"
    return Check(name="python", ok=ok, detail=platform.python_version(), fix=fix)


def _package(name: str) -> Check:
    try:
        return Check(name=name, ok=True, detail=metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name=name, ok=False, detail="not installed", fix=f"run `make` again, or: pip install {name}")


def _extra(name: str, about: tuple[tuple[str, ...], str]) -> Check:
    packages, purpose = about
    found = [_package(package) for package in packages]
    if all(check.ok for check in found):
        detail = ", ".join(f"{check.name} {check.detail}" for check in found)
        return Check(name=f"extra {name}", ok=True, detail=detail, needed=False)
    fix = f"for {purpose}: pip install 'nutmeg-sim[{name}]'"
    return Check(name=f"extra {name}", ok=False, detail="not installed", fix=fix, needed=False)


def _mujoco() -> Check:
    problem = mujoco_problem()
    return Check(name="engine", ok=not problem, detail="not usable" if problem else "MuJoCo 4, whole", fix=problem)


def _physics() -> Check:
    """Steps a real robot: finds a broken engine before a user does."""
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds

    worlds = Worlds(assemble(SceneSettings(robots=(Placement(robot="nao-v6"),))), 2)
    worlds.advance(0.2)
    upright = float(worlds.robots[0].uprightness().min())
    return Check(name="physics", ok=upright > 0.98, detail=f"a nao-v6 stands (uprightness {upright:.3f})")


def _renderers() -> list[Check]:
    """One working renderer is enough; the others are only reported."""
    from nutmeg.sim.cameras.renderer import probe_renderers

    probes = probe_renderers()
    any_works = any(p.ok for p in probes)
    return [
        Check(
            name=f"renderer {p.name}",
            ok=p.ok,
            detail=p.detail,
            fix="" if p.ok or any_works else f"for pictures and videos: {_INSTALL_RENDERER.get(p.name, '')}",
            needed=False,
        )
        for p in probes
    ]


def _gpu() -> Check:
    """Whether there is a CUDA device, and how many walking robots fit into its memory."""
    from nutmeg.learning.courses import course_scene
    from nutmeg.sim.warp_engine import warp_modules, worlds_that_fit

    try:
        warp, _ = warp_modules("gpu")
    except EnvironmentProblem as error:
        return Check(name="gpu", ok=False, detail="no CUDA device", fix=str(error), needed=False)
    device = warp.get_device("cuda")
    fit = worlds_that_fit(course_scene("nao-spark", native=True), device.free_memory)
    detail = f"{device.name}, {device.free_memory / 1e9:.0f} GB free: about {fit:,} worlds with a nao-spark fit"
    return Check(name="gpu", ok=True, detail=detail, needed=False)


def _ffmpeg() -> Check:
    import imageio_ffmpeg

    try:
        return Check(name="ffmpeg", ok=True, detail=str(imageio_ffmpeg.get_ffmpeg_version()), needed=False)
    except RuntimeError as error:
        return Check(name="ffmpeg", ok=False, detail=str(error), fix="pip install imageio-ffmpeg", needed=False)


def _browser() -> Check:
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found:
        return Check(name="browser", ok=True, detail=found, needed=False)
    fix = "any browser on any machine shows the page; the tests drive Chromium: apt-get install chromium"
    return Check(name="browser", ok=False, detail="no Chromium on this machine", fix=fix, needed=False)


def _port(port: int) -> Check:
    from nutmeg.view.pages.process import check_port

    try:
        check_port("127.0.0.1", port)
    except NutmegError as error:
        return Check(name=f"port {port}", ok=False, detail="taken", fix=str(error), needed=False)
    return Check(name=f"port {port}", ok=True, detail="free")


def _disk() -> Check:
    free = shutil.disk_usage(".").free
    fix = "" if free > _ENOUGH_DISK else "make room: recordings and videos need some"
    return Check(name="disk", ok=free > _ENOUGH_DISK, detail=f"{free / 1e9:.1f} GB free here", fix=fix, needed=False)
