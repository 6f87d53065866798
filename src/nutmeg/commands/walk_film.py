"""A film of a walk: forward, to the left, back, to the right, turning, and a stop, as fast as it goes.

    film_walk(read_walk("initial"), Path("initial.mp4"))
    film_dribbling(read_dribbling(Path("runs/train-dribble-1")), "type0", Path("dribble.mp4"))

The robot holds its heading while it walks (a walk that turns to where it goes does so when it is steered), so that one
sees what it can do into each direction.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, SetChooser, in_robot_frame, make_walker, top_velocity, yaw_of
from nutmeg.learning.policies.dribble_task import LOST_DISTANCE
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.dribble import Dribbler
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.cameras.renderer import Quality
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import Worlds
from nutmeg.view.files.video import video

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.motion.dribble import Dribbling
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
DRIBBLE_BALL = (0.35, 0.05)
"""Place of the ball that is dribbled, from the robot at the beginning [m]."""
DRIBBLE_PLAN = (("ahead", 0.0, 4.0), ("to the left", 0.7, 4.0), ("ahead", 0.0, 4.0))
"""Scenes of its film: a name, a direction of the ball [rad], and a duration [s]."""
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
    return _film(lambda path: record_walk(walk, path, actuation=actuation), out, size=size, on_progress=on_progress)


def film_dribbling(
    dribbling: Dribbling, kind: str, out: Path, *, on_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> int:
    """Films a dribbling robot of some type into an MP4 file; returns the number of pictures."""
    return _film(lambda path: record_dribbling(dribbling, kind, path), out, size=FILM_SIZE, on_progress=on_progress)


def _film(
    record: Callable[[Path], object], out: Path, *, size: tuple[int, int], on_progress: Callable[[int, int], None]
) -> int:
    """Films what `record` records."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        recording = Path(folder) / "film.nutmeg"
        record(recording)
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


def record_dribbling(dribbling: Dribbling, kind: str, path: Path) -> bool:
    """Records what is filmed; whether the robot stayed on its feet and kept the ball."""
    placement = Placement(robot=dribbling.robot, name=ROBOT_NAME, type=kind, team="blue")
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="sim3d", robots=(placement,))))
    policy, pose = read_walk(dribbling.walk, dribbling.robot).policy, worlds.robot(ROBOT_NAME).pose
    if policy is None or worlds.ball is None:
        raise UsageError(f"the walk {dribbling.walk!r} has no policy, which dribbling steers.")
    walker = PolicyWalker(worlds, ROBOT_NAME, policy, period=CONTROL_CYCLE)
    dribbler, falls = Dribbler(walker, dribbling, kind), FallJudge(worlds)
    rate = int(worlds.scene.model.body("ball").dofadr[0])
    worlds.put_ball(pose[0, :2] + DRIBBLE_BALL)
    steps, cycle = max(round(CONTROL_CYCLE / worlds.scene.timestep), 1), 0
    with TraceWriter(path, worlds) as trace:
        for name, direction, seconds in DRIBBLE_PLAN:
            trace.event(cycle * CONTROL_CYCLE, "plan", text=name)
            for _ in range(round(seconds / CONTROL_CYCLE)):
                trace.sample(cycle * CONTROL_CYCLE)
                pose, yaw = worlds.robot(ROBOT_NAME).pose, yaw_of(worlds.robot(ROBOT_NAME).pose)
                ball = in_robot_frame(worlds.ball[:, :2] - pose[:, :2], yaw)
                rolls = in_robot_frame(worlds.qvel[:, rate : rate + 2], yaw)
                walker.wanted[:] = dribbler.velocities(ball, rolls, direction - yaw)
                walker.sample(cycle * CONTROL_CYCLE)
                worlds.step(steps)
                cycle += 1
                if falls.now()[0]:
                    return False
    return bool(np.hypot(*ball[0]) < LOST_DISTANCE)
