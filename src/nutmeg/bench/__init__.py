"""The promises about speed and memory, measured: what `nutmeg bench` runs.

Each benchmark is a function that returns rows; `benchmarks()` names them. They are not tests: a busy machine
makes numbers worse, not the program wrong.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.bench.row import Row


def benchmarks(seconds: float) -> dict[str, Callable[[], list[Row]]]:
    """All benchmarks by name; `seconds` is the length of one turn of a speed measurement."""
    from nutmeg.bench import evaluation, matches, simulation

    return {
        "nao-spark x1": partial(simulation.one_robot, "nao-spark", seconds),
        "nao-v6 x1": partial(simulation.one_robot, "nao-v6", seconds),
        "ant x1": partial(simulation.one_robot, "ant", seconds),
        "nao-spark x11": partial(simulation.one_world, "nao-spark", 11, seconds),
        "nao-spark x22": partial(simulation.one_world, "nao-spark", 22, seconds),
        "actuation": partial(simulation.actuations, "nao-v6", seconds),
        "threads": partial(simulation.two_threads, "nao-v6", seconds),
        "evaluation": partial(evaluation.evaluation_scaling, seconds),
        "walk evaluation": partial(evaluation.walk_evaluation, seconds),
        "walk overhead": partial(evaluation.walk_overhead, seconds),
        "walk cycle": partial(evaluation.walk_cycle, seconds),
        "server x1 at rest": partial(matches.server_speed, "spark", 1, seconds, at_rest=True),
        **{f"server x{n}": partial(matches.server_speed, "spark", n, seconds) for n in (1, 11, 22)},
        **{f"server mj x{n}": partial(matches.server_speed, "mj", n, seconds) for n in (1, 11, 22)},
        "server memory": partial(matches.server_memory, seconds),
        "behaviour": partial(matches.behavioural_matches, seconds),
        "behaviour alone": partial(matches.behavioural_match, seconds),
        "cameras 320x240": partial(simulation.camera_frames, (320, 240), seconds),
        "cameras 208x160": partial(simulation.camera_frames, (208, 160), seconds),
        "worlds memory": simulation.many_worlds,
        "recording size": simulation.recording_size,
        "viewer memory": simulation.viewer_memory,
    }


def device_benchmarks(seconds: float) -> dict[str, Callable[[], list[Row]]]:
    """The benchmarks of a CUDA device by name; `seconds` is the length of one turn."""
    from nutmeg.bench import evaluation

    walks = {f"walks x{count}": partial(evaluation.device_walks, count, seconds) for count in (4096, 12288, 32768)}
    return {**walks, "generation": evaluation.device_generation}
