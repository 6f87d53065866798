"""The promises about speed and memory, measured: what `nutmeg bench` runs.

Each benchmark is a function that returns rows; `benchmarks()` names them. They are not tests: a busy machine
makes numbers worse, not the program wrong.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.benchmark.row import Row


def benchmarks(seconds: float) -> dict[str, Callable[[], list[Row]]]:
    """All benchmarks by name; `seconds` is the length of one turn of a speed measurement."""
    from nutmeg.benchmark import behaviour, cameras, evaluation, memory, server, speed, walking

    return {
        "nao-spark x1": partial(speed.one_robot, "nao-spark", seconds),
        "nao-v6 x1": partial(speed.one_robot, "nao-v6", seconds),
        "ant x1": partial(speed.one_robot, "ant", seconds),
        "nao-spark x11": partial(speed.one_world, "nao-spark", 11, seconds),
        "nao-spark x22": partial(speed.one_world, "nao-spark", 22, seconds),
        "actuation": partial(speed.actuations, "nao-v6", seconds),
        "threads": partial(speed.two_threads, "nao-v6", seconds),
        "evaluation": partial(evaluation.evaluation, seconds),
        "walk evaluation": partial(walking.evaluation, seconds),
        "walk overhead": partial(walking.overhead, seconds),
        "walk cycle": partial(walking.one_cycle, seconds),
        "server x1": partial(server.speed, 1, seconds),
        "server x11": partial(server.speed, 11, seconds),
        "server x22": partial(server.speed, 22, seconds),
        "server memory": partial(server.memory, seconds),
        "behaviour": partial(behaviour.batched, seconds),
        "behaviour alone": partial(behaviour.alone, seconds),
        "cameras 320x240": partial(cameras.frames, (320, 240), seconds),
        "cameras 208x160": partial(cameras.frames, (208, 160), seconds),
        "worlds memory": memory.many_worlds,
        "recording size": memory.recording_size,
        "viewer memory": memory.viewer_memory,
    }
