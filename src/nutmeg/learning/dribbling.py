"""Driving a ball towards a goal: the task driveBallToGoal2 of MacAlpine and others (2012), section 5.3.

    far = drive_ball("nao-spark", [DribbleBout(walk=walk, start=STARTS[0], rng=rng)])
    far.total                                       # how far each ball came in 15 s [m], less falls

A robot begins at some place and orientation from the ball, gets behind it without touching it, always facing it, and
then walks straight through it towards the goal. The starts are our own; the paper says only that they were various.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.engine.worlds import Worlds
from nutmeg.learning.course_run import CYCLE, ROBOT, BoutResults, Falls, scene_with, walker_of
from nutmeg.learning.rewards import FALL
from nutmeg.learning.starts import StartNoise, begin_noisy, ready
from nutmeg.learning.steering import SetChooser, fastest, seen, turning, yaw_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.learning.walks import Walk
    from nutmeg.motion.trot_walker import Steered


SECONDS = 15.0
"""How long a robot drives the ball."""
AROUND, BEHIND = 0.40, 0.20
"""Distances from the ball while circling it, and when behind it [m]."""
ALIGNED = 0.35
"""Within this angle of the line to the goal a robot walks through the ball [rad]."""
STRIDE = 0.7
"""How far ahead on the circle the next place lies [rad]."""
THROUGH = 0.4
"""How far beyond the ball it walks [m]."""
NEAR = 0.08
"""Nearer to its place than this a robot slows down [m]."""


@dataclass(frozen=True)
class DribbleStart:
    """Where ball and goal are, as the robot sees them at the start."""

    ball: tuple[float, float]
    """Ahead and to the left [m]."""
    goal: float
    """Direction from the ball to the goal, positive to the left [rad]."""


STARTS = (
    DribbleStart((1.0, 0.0), 0.0),
    DribbleStart((0.6, 0.3), 1.2),
    DribbleStart((0.6, -0.3), -1.2),
    DribbleStart((0.8, 0.0), 2.4),
    DribbleStart((-0.7, 0.2), 3.0),
    DribbleStart((0.0, -0.9), 0.5),
    DribbleStart((1.5, 0.8), -0.6),
    DribbleStart((0.5, 0.0), -2.8),
)


@dataclass(frozen=True)
class DribbleBout:
    """One walk from one start."""

    walk: Walk
    start: DribbleStart
    rng: np.random.Generator


def drive_ball(
    robot: str, bouts: Sequence[DribbleBout], *, noise: StartNoise | None = None, actuation: str = "ideal"
) -> BoutResults:
    """Drives B balls at once; what is gained is how far they came towards their goals, (B, 1)."""
    worlds = Worlds(scene_with(robot, ball=True, actuation=actuation), len(bouts))
    first = begin_noisy(worlds, ROBOT, noise or StartNoise(), [bout.rng for bout in bouts])
    for row, bout in enumerate(bouts):
        worlds.put_ball(bout.start.ball, ids=row)
    worlds.refresh()
    walker = walker_of(worlds, [bout.walk for bout in bouts])
    ready(walker, first)
    angles = np.array([bout.start.goal for bout in bouts])
    goal = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    player, falls, pose = _Dribbler(walker, bouts, goal), Falls(worlds), worlds.robot(ROBOT).pose
    assert worlds.ball is not None
    before = worlds.ball[:, :2].copy()
    active, fell, lived = np.ones(len(bouts), dtype=bool), np.zeros(len(bouts), dtype=bool), np.zeros(len(bouts))
    steps = max(round(CYCLE / worlds.scene.timestep), 1)
    for _ in range(round(SECONDS / CYCLE)):
        now = falls.now() & active
        fell |= now
        active &= ~now
        if not active.any():
            break
        player.steer(pose, worlds.ball[:, :2])
        walker.sample(0.0)
        worlds.step(steps, np.flatnonzero(active))
        lived[active] += CYCLE
    far = ((worlds.ball[:, :2] - before) * goal).sum(axis=1)
    far = np.where(np.isfinite(far), far, 0.0)
    return BoutResults(far[:, None], np.where(fell, -FALL, 0.0)[:, None], fell, lived, None)


class _Dribbler:
    """Gets behind the ball and walks through it."""

    def __init__(self, walker: Steered, bouts: Sequence[DribbleBout], goal: Floats) -> None:
        self._walker, self._goal = walker, goal
        self._sets = SetChooser([bout.walk for bout in bouts])

    def steer(self, pose: Floats, ball: Floats) -> None:
        """Sets wanted velocities from where the robots (N, 7) and the balls (N, 2) are."""
        place, yaw, goal = pose[:, :2], yaw_of(pose), self._goal
        to_ball = ball - place
        distance = np.hypot(to_ball[:, 0], to_ball[:, 1])
        here = np.arctan2(-to_ball[:, 1], -to_ball[:, 0])
        missing = wrap_angle(np.arctan2(-goal[:, 1], -goal[:, 0]) - here)
        aligned = np.abs(missing) < ALIGNED
        angle = here + np.clip(missing, -STRIDE, STRIDE)
        radius = np.where(np.abs(missing) < 2 * ALIGNED, BEHIND, AROUND)
        circling = ball + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        way = np.where(aligned[:, None], ball + THROUGH * goal, circling) - place
        ahead = seen(way, yaw)
        slow = np.minimum(np.hypot(ahead[:, 0], ahead[:, 1]) / NEAR, 1.0)
        face = seen(np.where(aligned[:, None], way, to_ball), yaw)
        bearing = np.arctan2(face[:, 1], face[:, 0])
        self._walker.wanted[:, :2] = fastest(self._walker, ahead) * slow[:, None]
        self._walker.wanted[:, 2] = turning(self._walker, bearing)
        self._sets.choose(self._walker, np.arctan2(ahead[:, 1], ahead[:, 0]), np.ones(len(pose), dtype=bool), distance)
