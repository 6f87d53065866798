"""The package: what the wheel holds, what it needs, and what it says where something is missing or wrong."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import nutmeg
from nutmeg.base.installation import mujoco_problem

ROOT = Path(__file__).parents[1]
HOOK = runpy.run_path(str(ROOT / "scripts" / "package_metadata.py"))
LEAN_AND_NOT_POSIX = """
import os, signal, socket, sys, time

MISSING = {"imageio_ffmpeg", "distributed", "dask", "gymnasium", "pettingzoo", "OpenGL", "glfw", "warp", "mujoco_warp",
           "fcntl", "resource", "termios", "pwd", "grp"}

class Filter:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in MISSING else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Filter(finder) for finder in sys.meta_path]
for module in MISSING:
    sys.modules.pop(module, None)
for place, names in {
    os: ("O_DIRECTORY", "pread", "killpg", "getuid", "fork"),
    signal: ("pthread_sigmask", "SIGALRM", "setitimer", "SIGKILL", "SIGHUP"),
    socket: ("AF_UNIX",),
    time: ("pthread_getcpuclockid",),
}.items():
    for name in names:
        delattr(place, name)
"""
"""An environment with nothing but what everyone needs, on a system that lacks what only POSIX has."""


def run_lean(program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LEAN_AND_NOT_POSIX + program]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    source = Path(nutmeg.__file__).parent
    files = {
        path.relative_to(source.parent).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if name.startswith("nutmeg/")}
    assert packed == files
    assert "nutmeg/py.typed" in packed


def test_the_readme_in_the_wheel_has_no_link_that_leads_nowhere(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert "nutmeg serve" in metadata
    assert "](docs/" not in metadata


def test_links_of_the_readme_become_addresses_once_there_is_a_repository() -> None:
    text = "See [serving](docs/howto/serve.md#x), ![A match](docs/match.webp), [M](https://mujoco.org), [below](#more)."
    address, readme_for_index, project_urls = "https://forge.example/n", HOOK["readme_for_index"], HOOK["project_urls"]
    assert readme_for_index(text, address) == (
        f"See [serving]({address}/blob/main/docs/howto/serve.md#x), ![A match]({address}/raw/main/docs/match.webp), "
        "[M](https://mujoco.org), [below](#more)."
    )
    assert readme_for_index(text, "") == "See serving, , [M](https://mujoco.org), [below](#more)."
    assert all(url.startswith(address) for url in project_urls(address).values())


def test_the_extras_that_errors_name_exist() -> None:
    from nutmeg.commands.doctor import EXTRAS

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS) < set(extras)
    assert extras["all"] == [f"nutmeg-sim[{','.join(EXTRAS)}]"]


def test_without_extras_and_without_posix_every_module_loads_or_says_what_to_install(tmp_path: Path) -> None:
    program = """
import importlib, pkgutil
import nutmeg
from nutmeg.base.errors import MissingExtraError

for module in pkgutil.walk_packages(nutmeg.__path__, "nutmeg.", onerror=lambda _: None):
    if ".gpu" in module.name or module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except MissingExtraError as error:
        assert "nutmeg-sim[rl]" in str(error)
        print(module.name)
"""
    done = run_lean(program, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    names = ("environment", "behavioural_environments", "episodes", "players.learned")
    learning = ["nutmeg.learning.gym", "nutmeg.learning.policies.adapters"]
    assert done.stdout.split() == [*learning, *sorted(f"nutmeg.match.{name}" for name in names)]


def test_without_extras_and_without_posix_a_match_is_played_with_report_and_replay(tmp_path: Path) -> None:
    match = ["play", "--world", "behavioural", "--players", "2", "--seconds", "2", "--fast", "--no-view", "-o", "m"]
    done = run_lean(f"from nutmeg.cli import main\nsys.exit(main({match}))", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "m").iterdir()} == {"match.nutmeg", "report.html", "replay.html"}

    def last_line(*arguments: str) -> str:
        done = run_lean(f"from nutmeg.cli import main\nsys.exit(main({list(arguments)}))", tmp_path)
        assert done.returncode == 3, done.stderr
        return done.stderr.splitlines()[-1]

    video = last_line("video", "m/match.nutmeg", "m.mp4", "--seconds", "0.2")
    assert video == "nutmeg: a picture needs PyOpenGL, which is not installed: pip install 'nutmeg-sim[video]'"
    config = ROOT / "examples" / "servo_xl330" / "identify.toml"
    cluster = last_line("identify", str(config), "--cluster", "tcp://127.0.0.1:9", "-o", "run")
    assert cluster == "nutmeg: a cluster needs Dask, which is not installed: pip install 'nutmeg-sim[cluster]'"


def test_another_mujoco_in_the_environment_is_told_in_one_sentence(tmp_path: Path) -> None:
    assert mujoco_problem() == ""
    info = tmp_path / "mujoco-3.5.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mujoco\nVersion: 3.5.0\n")
    path = os.pathsep.join([str(tmp_path), str(Path(nutmeg.__file__).parents[1])])

    def command(name: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "nutmeg", name]
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
        return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    robots, doctor = command("robots"), command("doctor")
    assert (robots.returncode, robots.stderr.count("\n")) == (3, 1)
    assert robots.stderr.startswith("nutmeg: this environment has mujoco 3.5.0, and Nutmeg needs MuJoCo 4;")
    assert (doctor.returncode, doctor.stderr) == (3, "")
    assert "engine: this environment has mujoco 3.5.0" in doctor.stdout
