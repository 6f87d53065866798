"""A film of a walk: forward, to the left, back, to the right, turning, and a stop, as fast as it goes.

    film_walk(read_walk("initial"), Path("initial.mp4"))

The robot holds its heading while it walks (a walk that turns to where it goes does so when it is steered), so that one
sees what it can do into each direction.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, SetChooser, make_walker, top_velocity, yaw_of
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.sim.cameras.renderer import Quality
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import Worlds
from nutmeg.view.files.video import video

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.motion.walk.files import WalkParameters

WALK_PLAN = (
    ("forward", (1.0, 0.0), 3.0),
    ("to the left", (0.0, 1.0), 3.0),
    ("back", (-1.0, 0.0), 3.0),
    ("to the right", (0.0, -1.0), 3.0),
    ("turn", None, 2.0),
    ("stop", (0.0, 0.0), 1.0),
)
"""Scenes of the film: a name, a direction in the robot's frame (None turns on the spot), and a duration [s]."""
FILM_SIZE, _FPS = (640, 360), 20.0  # width and height in pixels, pictures a second
_FILM_QUALITY = Quality(shadows=True, facets=(36, 22))
"""Shadows show whether feet are lifted; smooth edges would cost several times as much in software."""
FILMED_AFTER_FALL = 1.5  # how long a robot that fell is filmed [s]


def film_walk(
    walk: WalkParameters,
    out: Path,
    *,
    actuation: str = "ideal",
    size: tuple[int, int] = FILM_SIZE,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Films a walk into an MP4 file; returns the number of pictures.

    `size` is width and height in pixels; `on_progress` is called with the pictures done and their total.
    """
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        recording = Path(folder) / "walk.nutmeg"
        record_walk(walk, recording, actuation=actuation)
        return video(
            recording,
            out,
            fps=_FPS,
            size=size,
            camera=f"follow:{ROBOT_NAME}",
            quality=_FILM_QUALITY,
            on_progress=on_progress,
        )


def record_walk(walk: WalkParameters, path: Path, *, actuation: str = "ideal") -> bool:
    """Records what is filmed; whether the robot stayed on its feet."""
    placement = Placement(robot=walk.robot, name=ROBOT_NAME, team="blue", actuation=actuation)
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,))))
    walker, falls, sets = make_walker(worlds, [walk]), FallJudge(worlds), SetChooser([walk])
    steps = max(round(CONTROL_CYCLE / worlds.scene.timestep), 1)
    cycle, lying = 0, 0
    with TraceWriter(path, worlds) as trace:
        for name, way, seconds in WALK_PLAN:
            trace.event(cycle * CONTROL_CYCLE, "plan", text=name)
            for _ in range(round(seconds / CONTROL_CYCLE)):
                ahead = np.array([way or (0.0, 0.0)])
                walker.wanted[:, :2] = top_velocity(walker, ahead)
                walker.wanted[:, 2] = walker.walk.top_speed()[:, 2] if way is None else _straight(worlds)
                sets.choose(walker, np.arctan2(ahead[:, 1], ahead[:, 0]), np.asarray(ahead.any(axis=1)))
                trace.sample(cycle * CONTROL_CYCLE)
                walker.sample(cycle * CONTROL_CYCLE)
                worlds.step(steps)
                cycle += 1
                lying += bool(falls.now()[0])
                if lying > FILMED_AFTER_FALL / CONTROL_CYCLE:
                    return False
    return not lying


def _straight(worlds: Worlds) -> Floats:
    """Turn rates back to the heading of the start, (N,) [rad/s]; none is asked for while it is nearly kept."""
    off = yaw_of(worlds.robot(ROBOT_NAME).pose)
    return np.where(np.abs(off) < 0.05, 0.0, -off)
