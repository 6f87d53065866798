"""How much memory worlds and viewers take, and how large recordings are."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.benchmark.row import Row
from nutmeg.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

WORLDS, WORLDS_GB = 1024, 2.0
MINUTES, ROBOTS, RECORDING_MB = 10, 8, 30.0
VIEWER_GROWTH, FRAMES_PER_SECOND = 0.03, 5.0


def resident_bytes(process: int | str = "self") -> int:
    """Resident memory of a process; Linux only."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024


def many_worlds() -> list[Row]:
    """Memory of a process with 1,024 worlds of one robot that have run for a second."""
    used = in_process(_run_worlds) / 1e9
    target = f"< {WORLDS_GB:g} GB"
    row = Row(
        name=f"memory of {WORLDS:,} worlds of nao-v6",
        value=used,
        unit="GB",
        target=target,
        met=used < WORLDS_GB,
    )
    return [row]


def _run_worlds(answer: Connection) -> None:
    from nutmeg.body import Placement, SceneSettings, assemble
    from nutmeg.engine import Worlds

    scene = assemble(SceneSettings(field="spl2025", robots=(Placement(robot="nao-v6", pos=(-1, 0)),), visuals=False))
    worlds = Worlds(scene, WORLDS, threads=0)
    worlds.advance(1.0)
    answer.send(resident_bytes())


def recording_size() -> list[Row]:
    """Ten minutes of eight robots at 50 Hz, moving and sensing with noise, on disk."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        path = Path(folder) / "long.nutmeg"
        _record(path, MINUTES * 60.0)
        size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 1e6
    row = Row(
        name=f"recording, {MINUTES} min of {ROBOTS} nao-v6 at 50 Hz",
        value=size,
        unit="MB",
        target=f"< {RECORDING_MB:g} MB",
        met=size < RECORDING_MB,
    )
    return [row]


def _record(path: Path, seconds: float) -> None:
    """Eight robots that sway with all their motors, two of them falling over now and then."""
    from nutmeg.body import Placement, SceneSettings, assemble
    from nutmeg.engine import Worlds
    from nutmeg.engine.schedule import Schedule
    from nutmeg.engine.sensing import Sensing
    from nutmeg.engine.trace import TraceWriter

    robots = tuple(
        Placement(robot="nao-v6", name=f"n{i}", pos=((i % 4) * 1.2 - 2, (i // 4) * 1.5)) for i in range(ROBOTS)
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
        name=f"viewer, growth over a second hour of replay of {ROBOTS} robots",
        value=100 * growth,
        unit="%",
        peer=f"{first / 1e6:.0f} MB after the first hour",
        target=f"< {100 * VIEWER_GROWTH:g} %",
        met=growth < VIEWER_GROWTH,
    )
    return [row]


def _repeat(source: Path, target: Path, times: int) -> None:
    """A recording that is another one over and over."""
    from nutmeg.recording import Recording, RecordingWriter

    old = Recording.open(source)
    rows, steps = old.rows(), old.times - old.times[0]
    length = steps[-1] + 0.02
    channels = list(old.channels.values())
    with RecordingWriter.create(target, channels, kind="scene", seed=0, scene_xml=old.scene_xml) as writer:
        for turn in range(times):
            writer.append_many(steps + turn * length, rows)


def _replay_twice(answer: Connection, path: Path) -> None:
    """Draws an hour at five moments a second, twice, for a page that nobody looks at."""
    from nutmeg.view.film import Film
    from nutmeg.view.server import open_server
    from nutmeg.view.stage import Stage

    film = Film.open(path)
    with open_server("127.0.0.1", 0) as server:
        stage = Stage(server, film.model, robots=film.robots)
        used = []
        for _ in range(2):
            for _, qpos in film.frames(FRAMES_PER_SECOND):
                stage.show(qpos)
            used.append(resident_bytes())
    answer.send(used)


def in_process(work: Callable[..., None], *arguments: object) -> Any:  # noqa: ANN401
    """What `work` sends back, done in a process of its own so that nothing else counts."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sending, *arguments))
    process.start()
    sending.close()
    try:
        return receiving.recv()
    except EOFError:
        raise SimulationError("the benchmark's process ended without a result; its error is above.") from None
    finally:
        process.join()
