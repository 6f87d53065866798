"""The pendulum walk inside an environment.

walker = walker_for(bodies, read_walk("initial"))
phase(walker)                               # (N, 2): where each robot is in its pair of steps
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.learning.course_run import walker_of
from nutmeg.motion.walker import Walker

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.learning.environments.bodies import Bodies
    from nutmeg.learning.walks import Walk


def walker_for(bodies: Bodies, walk: Walk) -> Walker:
    """A walker with one walk for all worlds."""
    walker = walker_of(bodies.worlds, [walk] * bodies.count)
    if not isinstance(walker, Walker):
        raise UsageError(f"the walk {walk.name!r} is a trot; environments walk on two legs.")
    return walker


def phase(walker: Walker) -> Floats:
    """Sine and cosine of an angle that goes once round in a left and a right step, (N, 2)."""
    angle = np.pi * (walker.walk.fraction + walker.walk.swing)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def velocities(walker: Walker, shares: Floats) -> Floats:
    """Velocities from shares of the top speeds, -1..1, (N, 3): ahead, to the left, turning to the left."""
    top = walker.walk.top_speed()
    wanted = shares * top
    wanted[:, 0] = np.where(shares[:, 0] < 0, shares[:, 0] * walker.walk.top_speed_back(), wanted[:, 0])
    return np.asarray(wanted)
