"""A little match to look at: a pitch with lines, a ball, and as many toy robots as wanted."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.sim.cameras.renderer import working_renderer

LEG = """
<body name="{t}/{s}Thigh" pos="0 {y} -0.06">
  <joint name="{t}/{s}HipPitch" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.028" material="{t}/shirt"/>
  <body name="{t}/{s}Shank" pos="0 0 -0.1">
    <joint name="{t}/{s}KneePitch" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.024" rgba=".92 .92 .94 1"/>
    <body name="{t}/{s}Foot" pos="0 0 -0.1">
      <joint name="{t}/{s}AnklePitch" axis="0 1 0"/>
      <geom type="box" pos="0.02 0 -0.03" size="0.075 0.04 0.012" rgba=".2 .2 .22 1"/>
    </body>
  </body>
</body>"""

ARM = """
<body name="{t}/{s}Arm" pos="0 {y} 0.1">
  <joint name="{t}/{s}ShoulderPitch" axis="0 1 0"/>
  <geom type="sphere" size="0.034" material="{t}/shirt"/>
  <geom type="capsule" fromto="0 0 0 0.02 0 -0.16" size="0.02" rgba=".92 .92 .94 1"/>
</body>"""

ROBOT = """
<body name="{t}/torso" pos="{x} {y} 0.32">
  <freejoint name="{t}/root"/>
  <geom type="ellipsoid" pos="0 0 0.05" size="0.055 0.075 0.11" rgba=".95 .95 .96 1"/>
  <geom type="cylinder" pos="0.045 0 0.06" zaxis="1 0 0" size="0.035 0.012" material="{t}/shirt"/>
  <geom type="box" pos="0 0 -0.04" size="0.04 0.07 0.03" material="{t}/shirt"/>
  <geom type="sphere" size="0.2" group="3" rgba="1 0 1 1"/>
  <body name="{t}/head" pos="0 0 0.2">
    <joint name="{t}/HeadYaw" axis="0 0 1"/>
    <geom type="sphere" size="0.06" rgba=".95 .95 .96 1"/>
    <geom type="ellipsoid" pos="0.045 0 0.01" size="0.025 0.045 0.02" rgba=".1 .12 .2 0.6"/>
    <camera name="{t}/CameraTop" pos="0.075 0 0.01" xyaxes="0 -1 0 0.2 0 0.98" fovy="47"/>
  </body>
  {limbs}
</body>"""

SCENE = """
<mujoco>
  <visual><headlight ambient=".3 .3 .3" diffuse=".5 .5 .5"/></visual>
  <asset>{materials}
    <mesh name="post" builtin="supersphere" params="12 0.2 0.2" scale="0.05 0.05 0.4"/>
  </asset>
  <worldbody>
    <geom name="carpet" type="box" pos="0 0 -0.02" size="{cx} {cy} 0.02" rgba=".16 .45 .2 1"/>
    {lines}
    <geom name="post" type="mesh" mesh="post" pos="{px} 0.8 0.4" rgba="1 .9 .2 1"/>
    <geom name="post2" type="mesh" mesh="post" pos="{px} -0.8 0.4" rgba="1 .9 .2 1"/>
    <body name="ball/ball" pos="0 0 0.05"><freejoint name="ball/root"/>
      <geom type="sphere" size="0.05" rgba=".95 .3 .08 1" mass="0.05"/></body>
    {robots}
  </worldbody>
</mujoco>"""

JOINTS = ("HeadYaw", "LHipPitch", "LKneePitch", "LAnklePitch", "RHipPitch", "RKneePitch", "RAnklePitch")
JOINTS += ("LShoulderPitch", "RShoulderPitch")
SHIRTS = (".1 .3 .9 1", ".85 .1 .15 1")


def line(x: float, y: float, half_x: float, half_y: float) -> str:
    flat = 'contype="0" conaffinity="0" rgba="1 1 1 1"'
    return f'<geom type="box" pos="{x} {y} 0.0002" size="{half_x} {half_y} 0.0004" {flat}/>'


def match_xml(names: tuple[str, ...] = ("a", "b"), length: float = 6.0, width: float = 4.0) -> str:
    """MJCF of a pitch with robots `names` and a ball."""
    half, side, w = length / 2, width / 2, 0.025
    lines = [line(0, side, half, w), line(0, -side, half, w), line(0, 0, w, side)]
    lines += [line(half, 0, w, side), line(-half, 0, w, side)]
    robots, materials = "", ""
    for number, name in enumerate(names):
        limbs = LEG.format(t=name, s="L", y=0.05) + LEG.format(t=name, s="R", y=-0.05)
        limbs += ARM.format(t=name, s="L", y=0.1) + ARM.format(t=name, s="R", y=-0.1)
        x, y = -1.0 + 0.7 * (number % 4), -0.6 + 1.2 * (number // 4) + 0.3 * (number % 2)
        robots += ROBOT.format(t=name, x=x, y=y, limbs=limbs)
        materials += f'<material name="{name}/shirt" rgba="{SHIRTS[number % 2]}" shininess="0.6"/>'
    return SCENE.format(lines="".join(lines), robots=robots, materials=materials, cx=half + 0.7, cy=side + 0.7, px=half)


def match_labels(names: tuple[str, ...] = ("a", "b")) -> dict[str, tuple[str, ...]]:
    """Channel labels of a recording of `match_xml`."""
    pose = ("x", "y", "z", "qw", "qx", "qy", "qz")
    labels = {f"{thing}.pose": pose for thing in (*names, "ball")}
    return labels | {f"{name}.angles": JOINTS for name in names}


def match_values(times: np.ndarray, names: tuple[str, ...] = ("a", "b")) -> dict[str, np.ndarray]:
    """Channel values at times (rows,): robots stroll along x, turning, and the ball rolls ahead."""
    rows, values = len(times), {}
    for number, name in enumerate(names):
        x, y = -1.0 + 0.7 * (number % 4), -0.6 + 1.2 * (number // 4) + 0.3 * (number % 2)
        turn = 0.4 * np.sin(0.3 * times + number)
        pose = np.zeros((rows, 7))
        pose[:, 0], pose[:, 1] = x + 0.5 * np.sin(0.4 * times), y + 0.2 * np.sin(0.9 * times)
        pose[:, 2] = 0.305 + 0.005 * np.cos(12 * times)
        pose[:, 3], pose[:, 6] = np.cos(turn / 2), np.sin(turn / 2)
        swing = np.sin(6 * times + number)
        angles = [0.4 * np.sin(times), -0.3 + 0.3 * swing, 0.5 - 0.3 * swing, -0.2 * np.ones(rows)]
        angles += [-0.3 - 0.3 * swing, 0.5 + 0.3 * swing, -0.2 * np.ones(rows), -0.5 * swing, 0.5 * swing]
        values[f"{name}.pose"], values[f"{name}.angles"] = pose, np.stack(angles, axis=1)
    ball = np.zeros((rows, 7))
    ball[:, 0], ball[:, 2], ball[:, 3] = 0.3 + 0.2 * times % 2.0, 0.05, 1.0
    values["ball.pose"] = ball
    return values


def record_match(path: Path, seconds: float = 3.0, names: tuple[str, ...] = ("a", "b"), rate: float = 50.0) -> Path:
    """A finished recording of a little match, with three events."""
    labels, times = match_labels(names), np.arange(0.0, seconds + 1e-9, 1 / rate)
    units = {name: "rad" if name.endswith(".angles") else "m, 1" for name in labels}
    channels = [Channel(name=n, labels=labels[n], unit=units[n]) for n in labels]
    rows = np.concatenate([match_values(times, names)[n] for n in labels], axis=1)
    with RecordingWriter.create(
        path, Manifest(kind="scene", seed=1, channels=tuple(channels)), scene_xml=match_xml(names)
    ) as writer:
        for time, row in zip(times, rows, strict=True):
            writer.append(float(time), row)
        writer.event(0.2 * seconds, "push", robot=names[0], impulse=1.5)
        writer.event(0.5 * seconds, "fall", robot=names[-1])
        writer.event(0.8 * seconds, "note", text="that was close")
    return path


@pytest.fixture(scope="session")
def renderer() -> None:
    """Leaves out tests that draw where nothing can."""
    try:
        working_renderer()
    except EnvironmentProblem as problem:
        pytest.skip(f"pictures need a renderer: {problem}")


@pytest.fixture
def toy() -> SimpleNamespace:
    """The makers of toy matches."""
    return SimpleNamespace(xml=match_xml, labels=match_labels, values=match_values, record=record_match)


@pytest.fixture
def model() -> Any:
    return mujoco.MjModel.from_xml_string(match_xml())


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A recording of three seconds with the robots a and b."""
    return record_match(tmp_path / "toy.nutmeg")


@pytest.fixture(scope="session")
def match_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded match of two against two that lasts ten seconds: a goal, a fall, a change of ends, another goal."""
    path = tmp_path_factory.mktemp("match") / "match.nutmeg"
    play_match(path)
    return path


def play_match(path: Path, half: float = 5.0) -> None:
    """Robots that stand; the ball is put where it makes a story."""
    from nutmeg.match.game import Game
    from nutmeg.match.rules.book import load_rules
    from nutmeg.match.worlds.physical.percept import Action

    rules = load_rules("sim3d").with_match(
        players=2, half_length=half, automatic_kick_off=True, wait_before_kick_off=0.4, goal_pause=0.5, swap_ends=True
    )
    game = Game(rules, seed=3, left="reds", right="<blues>", record=path, seats=4)
    slots = [game.enter(team, number) for team in ("reds", "<blues>") for number in (1, 2)]
    game.record_with(minds=lambda: {(s + 11 * game.swaps) % 22: _mind(s) for s in slots})
    story = {60: _shoot, 130: _push, 330: _shoot}
    beams = {slot: Action(beam=(-2.0 - slot % 11, 1.0, 0.0)) for slot in slots}
    with game:
        for cycle in range(round((2 * half + 1) / 0.02)):
            game.cycle(beams if cycle < 3 else {})
            if cycle in story:
                story[cycle](game)
            if game.over:
                break


def _shoot(game: Any) -> None:
    """Whoever plays from the left kicks, and the ball goes into the right goal."""
    from nutmeg.match.rules.play_modes import PlayMode

    game.set_play_mode(PlayMode.PLAY_ON)
    game.place_ball((12.0, 0.3, 0.05), (8.0, 0.0, 0.0))


def _push(game: Any) -> None:
    """Player 2 of the left team is put onto its back."""
    game.world.ground.world.qpos[game.world.ground.seats["root"][game.world.seat_of[1]] + np.arange(3, 7)] = [
        0.7,
        0.0,
        -0.7,
        0.0,
    ]
    game.place_player(1, (-5.0, 2.0, 0.1), None)


def _mind(slot: int) -> SimpleNamespace:
    from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
    from nutmeg.match.players.request import Look, Request, Stand

    number = slot % 11 + 1
    places = np.full((11, 2), np.nan)
    places[0], places[1] = (-2.0, 1.0), (-3.0, 1.0)
    seen = Others(
        places=places,
        velocities=np.zeros((11, 2)),
        ages=np.where(np.isnan(places[:, 0]), np.inf, 0.0),
        fallen=np.zeros(11, bool),
    )
    ball = BallBelief(place=np.zeros(2), height=0.04, velocity=np.zeros(2), spread=0.1, seen_ago=0.2, heard_ago=np.inf)
    me = Pose(x=-1.0 - number, y=1.3, heading=0.0, spread=0.1, heading_spread=0.1)
    belief = Belief(time=0.0, me=me, ball=ball, mates=seen, opponents=seen, upright=True)
    return SimpleNamespace(belief=belief, request=Request(legs=Stand(), look=Look(), intent=f"guards post {number}"))


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SWITCHES = ("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking")
SWITCHES += ("--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader")
SWITCHES += ("--enable-unsafe-swiftshader",)
PATIENCE = 180_000
"""How long a browser may take for anything [ms]: drawn in software beside other work, a page takes its time."""
ALTERED = Path(__file__).parents[1] / "altered"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Headless Chromium, started once for all tests of a module."""
    if CHROMIUM is None:
        pytest.skip("no Chromium or Chrome on the PATH; install it (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(SWITCHES), timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def daylight_page(chromium: Any) -> Iterator[Any]:
    """A page of a browser that nobody has used, small because WebGL is drawn in software.

    `page.complaints` collects errors.
    """
    context = chromium.new_context(viewport={"width": 480, "height": 640})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    yield page
    context.close()


@pytest.fixture
def browser_page(daylight_page: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same, for pages that are drawn in plain light: ten times faster, and quick to come up."""
    spec = importlib.util.spec_from_file_location("altered", ALTERED / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    import nutmeg.view.stage.stage

    monkeypatch.setattr(nutmeg.view.stage.stage, "_light", module.plain(nutmeg.view.stage.stage._light))
    paths = [str(ALTERED), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("PLAIN_LIGHT", "1")
    return daylight_page


@contextlib.contextmanager
def watched_command(*words: str) -> Iterator[str]:
    """Runs a command of Nutmeg with a page in plain light; gives the address of the page."""
    paths = [str(ALTERED), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-m", "nutmeg", *words, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PLAIN_LIGHT": "1"},
    )
    assert process.stdout is not None
    found, said = None, ""
    while found is None and (line := process.stdout.readline()):
        said += line
        found = re.search(r"http://[\d.:]+", line)
    try:
        assert found is not None, said
        yield found.group()
    finally:
        process.terminate()
        process.communicate(timeout=180)
