"""How fast worlds are stepped, beside a bare loop over mj_step on the same model with the same commands."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.benchmark.row import Row
from nutmeg.body import Placement, Scene, SceneSettings, assemble
from nutmeg.engine import Worlds
from nutmeg.engine.schedule import Schedule
from nutmeg.engine.worlds import steps_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats

CYCLE = 0.02
TURNS = 5
BATCH = 64
BATCH_TARGET, WORLD_TARGET, THREADS_TARGET = 0.85, 0.9, 1.7
ACTUATION_TARGETS = {"ideal": 0.85, "servo": 0.75, "motoflex": 0.4, "motoflex-paper": 0.35}


def one_robot(robot: str, seconds: float) -> list[Row]:
    """One robot in a batch of 64 worlds on one thread, beside one bare world."""
    scene = _scene(robot, 1)
    ours, bare = _best(_batch_turn(scene, BATCH, 1, seconds), _bare_turn(scene, seconds))
    return _rows(f"{robot} x1, batch of {BATCH}", scene, ours, bare, BATCH_TARGET)


def one_world(robot: str, count: int, seconds: float) -> list[Row]:
    """Many robots in one world, beside the same world bare."""
    scene = _scene(robot, count)
    ours, bare = _best(_batch_turn(scene, 1, 1, seconds), _bare_turn(scene, seconds))
    return _rows(f"{robot} x{count}, one world", scene, ours, bare, WORLD_TARGET if count >= 22 else BATCH_TARGET)


def actuations(robot: str, seconds: float) -> list[Row]:
    """Each actuation in a batch of 64 at 1 ms, beside one bare world of the rigid robot with ideal drives."""
    rows, rigid = [], _scene(robot, 1, timestep=0.001)
    for name, target in ACTUATION_TARGETS.items():
        scene = _scene(robot, 1, actuation=name, timestep=0.001)
        ours, bare = _best(_batch_turn(scene, BATCH, 1, seconds), _bare_turn(rigid, seconds))
        rows.append(_rows(f"{robot} {name}, batch of {BATCH}", scene, ours, bare, target)[0])
    return rows


def two_threads(robot: str, seconds: float) -> list[Row]:
    """A batch on two threads beside the same batch on one."""
    scene = _scene(robot, 1)
    two, one = _best(_batch_turn(scene, BATCH, 2, seconds), _batch_turn(scene, BATCH, 1, seconds))
    row = Row(
        name=f"{robot}, 2 threads",
        value=two,
        unit="steps/s",
        peer=f"1 thread {one:,.0f}",
        ratio=two / one,
        target=f"ratio >= {THREADS_TARGET}",
        met=two / one >= THREADS_TARGET,
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
            target=f"ratio >= {target}",
            met=ratio >= target,
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


def _batch_turn(scene: Scene, count: int, threads: int, seconds: float) -> Callable[[], float]:
    """A turn of ours: the schedule with its control task, as users run it; returns steps per second."""
    worlds = Worlds(scene, count, threads=threads)
    commands, control = _commands(scene), worlds.batch.bind("ctrl")
    schedule = Schedule(worlds)

    def act(now: float) -> None:
        control[:] = commands(now)

    schedule.every(CYCLE, act)
    schedule.run(1.0)

    def turn() -> float:
        before, start = schedule.step, time.perf_counter()
        while time.perf_counter() - start < seconds:
            schedule.run(CYCLE * 5)
        return (schedule.step - before) * count / (time.perf_counter() - start)

    return turn


def _bare_turn(scene: Scene, seconds: float) -> Callable[[], float]:
    """A turn of the peer: mj_step and nothing else but the same commands."""
    model, data = scene.model, mujoco.MjData(scene.model)
    commands, steps = _commands(scene), steps_in(CYCLE, scene.timestep)
    data.qpos[:] = scene.start
    data.ctrl[:], data.act[:] = scene.commands, scene.setpoints

    def cycle() -> None:
        data.ctrl[:] = commands(data.time)
        for _ in range(steps):
            mujoco.mj_step(model, data)

    while data.time < 1.0:
        cycle()

    def turn() -> float:
        cycles, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            cycle()
            cycles += 1
        return cycles * steps / (time.perf_counter() - start)

    return turn


def _best(ours: Callable[[], float], peer: Callable[[], float]) -> tuple[float, float]:
    """The best of several turns of each, taken alternately so that both see the same machine."""
    results = [(ours(), peer()) for _ in range(TURNS)]
    return max(r[0] for r in results), max(r[1] for r in results)
