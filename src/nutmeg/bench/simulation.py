"""Speed of stepping worlds, relative to a bare loop over mj_step on the same model with the same commands."""

from __future__ import annotations

import math
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.bench.row import Row, in_process, resident_bytes
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings
from nutmeg.sim import Worlds
from nutmeg.sim.cameras import Quality, RobotCamera, SceneRenderer
from nutmeg.sim.cameras.renderer import working_renderer
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.worlds import steps_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from nutmeg.base.arrays import Floats


MEASURED_TURNS = 5
_BATCH_WORLDS = 64
_BATCH_TARGET = 0.85
"""Promised ratio of a batch to bare mj_step."""
_WORLD_TARGET = 0.9
"""Promised ratio for one world of 22 robots."""
THREADS_TARGET = 1.7
"""Promised ratio of two threads to one."""
_ACTUATION_TARGETS = {"ideal": 0.85, "servo": 0.75, "motoflex": 0.4, "motoflex-paper": 0.35}


def one_robot(robot: str, seconds: float) -> list[Row]:
    """One robot in a batch of 64 worlds on one thread, beside one bare world."""
    scene = _scene(robot, 1)
    ours, bare = _best(_batch_turn(scene, _BATCH_WORLDS, 1, seconds), _bare_turn(scene, seconds))
    return _rows(f"{robot} x1, batch of {_BATCH_WORLDS}", scene, ours, bare, _BATCH_TARGET)


def one_world(robot: str, count: int, seconds: float) -> list[Row]:
    """Many robots in one world, beside the same world bare."""
    scene = _scene(robot, count)
    ours, bare = _best(_batch_turn(scene, 1, 1, seconds), _bare_turn(scene, seconds))
    return _rows(f"{robot} x{count}, one world", scene, ours, bare, _WORLD_TARGET if count >= 22 else _BATCH_TARGET)


def actuations(robot: str, seconds: float) -> list[Row]:
    """Each actuation in a batch of 64 at 1 ms, beside one bare world of the rigid robot with ideal drives."""
    rows, rigid = [], _scene(robot, 1, timestep=0.001)
    for name, target in _ACTUATION_TARGETS.items():
        scene = _scene(robot, 1, actuation=name, timestep=0.001)
        ours, bare = _best(_batch_turn(scene, _BATCH_WORLDS, 1, seconds), _bare_turn(rigid, seconds))
        rows.append(_rows(f"{robot} {name}, batch of {_BATCH_WORLDS}", scene, ours, bare, target)[0])
    return rows


def two_threads(robot: str, seconds: float) -> list[Row]:
    """A batch on two threads beside the same batch on one."""
    scene = _scene(robot, 1)
    wall = time.perf_counter  # what threads save is time, and not work
    two, one = _best(*(_batch_turn(scene, _BATCH_WORLDS, threads, seconds, wall) for threads in (2, 1)))
    row = Row(
        name=f"{robot}, 2 threads",
        value=two,
        unit="steps/s",
        peer=f"1 thread {one:,.0f}",
        ratio=two / one,
        least_ratio=THREADS_TARGET,
    )
    return [row]


def _rows(name: str, scene: Scene, ours: float, bare: float, target: float) -> list[Row]:
    ratio = ours / bare
    return [
        Row(
            name=name,
            value=ours,
            unit="steps/s",
            peer=f"bare mj_step {bare:,.0f}",
            ratio=ratio,
            least_ratio=target,
        ),
        Row(
            name=f"{name}, times real time",
            value=ours * scene.timestep,
            unit="x",
            peer=f"bare mj_step {bare * scene.timestep:,.1f}",
            ratio=ratio,
        ),
    ]


def _scene(robot: str, count: int, *, actuation: str = "ideal", timestep: float = 0.0) -> Scene:
    """Robots in rows of eleven on the league's pitch, without a ball, without what is only seen."""
    places = [((i % 11 - 5) * 1.5, (i // 11) * 3.0 - 1.5) for i in range(count)]
    robots = tuple(Placement(robot=robot, name=f"r{i}", pos=p, actuation=actuation) for i, p in enumerate(places))
    return assemble(SceneSettings(field="sim3d", ball="none", robots=robots, visuals=False, timestep=timestep))


def _commands(scene: Scene) -> Callable[[float], Floats]:
    """All controls at a time, (nu,): every motor sways a little about the start pose."""
    control = scene.commands
    velocity = np.ones(scene.model.nu, bool)
    for table in scene.robots:
        velocity[table.commands] = np.array(table.drives) == "velocity"
    sway, phase = np.where(velocity, 0.3, 0.05), np.arange(scene.model.nu) * 0.7
    return lambda now: control + sway * np.sin(2 * math.pi * now + phase)


def _batch_turn(
    scene: Scene, count: int, threads: int, seconds: float, clock: Callable[[], float] = time.process_time
) -> Callable[[], float]:
    """A turn of ours: the schedule with its control task, as users run it; returns steps per second of the clock."""
    worlds = Worlds(scene, count, threads=threads)
    commands, control = _commands(scene), worlds.batch.bind("ctrl")
    schedule = Schedule(worlds)

    def act(now: float) -> None:
        control[:] = commands(now)

    schedule.every(CONTROL_CYCLE, act)
    schedule.run(1.0)

    def turn() -> float:
        before, start = schedule.step, clock()
        while clock() - start < seconds:
            schedule.run(CONTROL_CYCLE * 5)
        return (schedule.step - before) * count / (clock() - start)

    return turn


def _bare_turn(scene: Scene, seconds: float) -> Callable[[], float]:
    """A turn of the peer: mj_step and nothing else but the same commands; steps per second of processor time."""
    model, data = scene.model, mujoco.MjData(scene.model)
    commands, steps = _commands(scene), steps_in(CONTROL_CYCLE, scene.timestep)
    data.qpos[:] = scene.start
    data.ctrl[:], data.act[:] = scene.commands, scene.setpoints

    def cycle() -> None:
        data.ctrl[:] = commands(data.time)
        for _ in range(steps):
            mujoco.mj_step(model, data)

    while data.time < 1.0:
        cycle()

    def turn() -> float:
        cycles, start = 0, time.process_time()
        while time.process_time() - start < seconds:
            cycle()
            cycles += 1
        return cycles * steps / (time.process_time() - start)

    return turn


def _best(ours: Callable[[], float], peer: Callable[[], float]) -> tuple[float, float]:
    """The best of several turns of each, taken alternately so that both see the same machine."""
    results = [(ours(), peer()) for _ in range(MEASURED_TURNS)]
    return max(r[0] for r in results), max(r[1] for r in results)


# Memory of worlds and viewers, and size of recordings.


_MEMORY_WORLDS = 1024
_WORLDS_GB = 2.0
"""Promised limit of the memory of these worlds [GB]."""
_RECORDED_MINUTES = 10
_RECORDED_ROBOTS = 8
_RECORDING_MB = 30.0
"""Promised limit of the size of such a recording [MB]."""
_VIEWER_GROWTH = 0.03
"""Promised limit of the growth of a viewer's memory in the second hour."""
_FRAMES_PER_SECOND = 5.0


def many_worlds() -> list[Row]:
    """Memory of a process with 1,024 worlds of one robot that have run for a second."""
    used = in_process(_run_worlds) / 1e9
    row = Row(
        name=f"memory of {_MEMORY_WORLDS:,} worlds of nao-v6",
        value=used,
        unit="GB",
        below=_WORLDS_GB,
    )
    return [row]


def _run_worlds(answer: Connection) -> None:
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds

    scene = assemble(SceneSettings(field="spl2025", robots=(Placement(robot="nao-v6", pos=(-1, 0)),), visuals=False))
    worlds = Worlds(scene, _MEMORY_WORLDS, threads=0)
    worlds.advance(1.0)
    answer.send(resident_bytes())


def recording_size() -> list[Row]:
    """Ten minutes of eight robots at 50 Hz, moving and sensing with noise, on disk."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        path = Path(folder) / "long.nutmeg"
        _record(path, _RECORDED_MINUTES * 60.0)
        size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 1e6
    row = Row(
        name=f"recording, {_RECORDED_MINUTES} min of {_RECORDED_ROBOTS} nao-v6 at 50 Hz",
        value=size,
        unit="MB",
        below=_RECORDING_MB,
    )
    return [row]


def _record(path: Path, seconds: float) -> None:
    """Eight robots that sway with all their motors, two of them falling over now and then."""
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds
    from nutmeg.sim.schedule import Schedule
    from nutmeg.sim.sensing import Sensing
    from nutmeg.sim.trace import TraceWriter

    robots = tuple(
        Placement(robot="nao-v6", name=f"n{i}", pos=((i % 4) * 1.2 - 2, (i // 4) * 1.5))
        for i in range(_RECORDED_ROBOTS)
    )
    worlds = Worlds(assemble(SceneSettings(field="spl2025", robots=robots, visuals=False)))
    rng = np.random.default_rng(1)
    senses = [Sensing(worlds, p.name, rng) for p in robots]
    schedule = Schedule(worlds)
    with TraceWriter(path, worlds, senses=senses) as trace:

        def act(now: float) -> None:
            for index, robot in enumerate(worlds.robots):
                reach = 0.05 if index > 1 else 0.25
                robot.command = robot.start + reach * np.sin(2 * np.pi * 0.8 * now + np.arange(len(robot.start)))

        schedule.every(0.02, act)
        for sense in senses:
            schedule.every(0.02, sense.sample)
        schedule.every(0.02, trace.sample)
        schedule.run(seconds)


def viewer_memory() -> list[Row]:
    """Growth of a viewer's memory from the first hour of replay to the second (the first fills its caches)."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        minute, hour = Path(folder) / "minute.nutmeg", Path(folder) / "hour.nutmeg"
        _record(minute, 60.0)
        _repeat(minute, hour, 60)
        first, second = in_process(_replay_twice, hour)
    growth = (second - first) / first
    row = Row(
        name=f"viewer, growth over a second hour of replay of {_RECORDED_ROBOTS} robots",
        value=100 * growth,
        unit="%",
        peer=f"{first / 1e6:.0f} MB after the first hour",
        below=100 * _VIEWER_GROWTH,
    )
    return [row]


def _repeat(source: Path, target: Path, times: int) -> None:
    """A recording that is another one over and over."""
    from nutmeg.recording import Manifest, Recording, RecordingWriter

    old = Recording.open(source)
    rows, steps = old.rows(), old.times - old.times[0]
    length = steps[-1] + 0.02
    channels = list(old.channels.values())
    with RecordingWriter.create(
        target, Manifest(kind="scene", seed=0, channels=tuple(channels)), scene_xml=old.scene_xml
    ) as writer:
        for turn in range(times):
            writer.append_many(steps + turn * length, rows)


def _replay_twice(answer: Connection, path: Path) -> None:
    """Draws an hour at five moments a second, twice, for a page that nobody looks at."""
    from nutmeg.view.pages.server import open_server
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Cast, Stage

    film = Film.open(path)
    with open_server("127.0.0.1", 0) as server:
        cast = Cast(Stage(server, film.model, robots=film.robots), server)
        used = []
        for _ in range(2):
            for _, qpos in film.frames(_FRAMES_PER_SECOND):
                cast.show(qpos)
            used.append(resident_bytes())
    answer.send(used)


# Pictures per second of a robot's camera: drawn in software or on a card, with each effect and with all.
#
# A row's pictures are drawn and then changed by its effect; the peer is drawing alone. Times are processor time of
# all threads, so that a busy machine changes little: with a renderer in software, they are pictures a second on one
# core; a graphics card's own work is not in them. The scene is a pitch with two robots and a ball; the camera turns
# as fast as a head does, so that shutter and blur have something to do.


_CAMERA_NAME = "seer/CameraTop"
_FULL_CAMERA = CameraSettings(
    k1=-0.147, k2=0.385, p1=-0.0035, fringe_red=0.002, fringe_blue=-0.003, cos4=1.0, v2=-0.2, readout=0.03,
    exposure=0.01, white_exposure=0.04, gain=4.0, full_well=17200, read_noise=3.4, filter="bggr", light_red=0.75,
    light_blue=0.6, balance_red=1.38, balance_blue=1.58, gamma=2.0,
)  # fmt: skip
"""A camera that has every effect: the ERS-7's lens before the Nao V6's sensor."""
_HEAD_RATE = 1.5
"""Speed of the head [rad/s]."""


def camera_frames(size: tuple[int, int], seconds: float) -> list[Row]:
    """Pictures a second at a size (width, height): plain, with each effect, with all, and with shadows."""
    scene, label = _camera_scene(), f"cameras, {size[0]}x{size[1]}"
    velocity = np.array([0.0, _HEAD_RATE, 0.0])
    with SceneRenderer(scene.model, size) as renderer:
        pinhole = _camera(scene, size, renderer, ())
        plain = _least_time(partial(pinhole.draw, scene.start), 2 * seconds)
        rows = [_camera_row(f"{label}: drawn ({working_renderer()})", plain, None)]
        for effects in (*((effect,) for effect in CAMERA_EFFECTS), CAMERA_EFFECTS):
            camera = _camera(scene, size, renderer, effects)
            drawn = camera.draw(scene.start)
            larger = camera.effects.drawn_size != size
            drawing = _least_time(partial(camera.draw, scene.start), seconds) if larger else plain
            effect = _least_time(partial(camera.develop, drawn, velocity), seconds / 2)
            name = "all effects" if effects == CAMERA_EFFECTS else effects[0]
            rows.append(_camera_row(f"{label}: {name}", max(plain, drawing) + effect, plain))
    with SceneRenderer(scene.model, size, quality=Quality(shadows=True)) as renderer:
        shadowed = _camera(scene, size, renderer, ())
        period = _least_time(partial(shadowed.draw, scene.start), seconds)
    rows.append(_camera_row(f"{label}: drawn with shadows", period, plain))
    return rows


def _camera_row(name: str, period: float, plain: float | None) -> Row:
    peer = "" if plain is None else f"drawn alone {1 / plain:,.0f}"
    ratio = None if plain is None else plain / period
    return Row(name=name, value=1 / period, unit="frames/s of a core", peer=peer, ratio=ratio)


def _camera_scene() -> Scene:
    robots = (
        Placement(robot="nao-v6", name="seer", pos=(-2.0, 0.0)),
        Placement(robot="nao-v6", name="other", pos=(-0.6, 0.42), heading=2.9, team="red"),
    )
    return assemble(SceneSettings(field="spl2025", robots=robots, ball_pos=(-1.2, 0.0)))


def _camera(scene: Scene, size: tuple[int, int], renderer: SceneRenderer, effects: tuple[str, ...]) -> RobotCamera:
    return RobotCamera(
        scene.model,
        _CAMERA_NAME,
        size=size,
        renderer=renderer,
        settings=_FULL_CAMERA,
        effects=effects,
        rng=np.random.default_rng(0),
    )


def _least_time(work: Callable[[], object], seconds: float) -> float:
    """The least processor time that a piece of work takes [s]."""
    work()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
