"""From a direction to wanted velocities: how a robot walks towards a place.

    steer(walker, way, facing="turn")               # way (N, 2): to the target, as the world sees it [m]

With `turn` a robot walks towards its target and turns to face it at the same time, as the agents of MacAlpine and
others (2012, section 5) do; with `hold` it walks there as it stands (section 6). Speeds are those of the walk's
longest steps, on an ellipse between directions. Sets of parameters change as in sections 5.2 and 5.3: `sprint` within
15 degrees of the target, `positioning` within 0.8 m of the ball.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.learning.walks import Walk
    from nutmeg.motion.trot_walker import Steered


SPRINT_WITHIN = math.radians(15)
"""Bearing of the target within which the sprint set is used [rad]."""
POSITIONING_WITHIN = 0.8
"""Distance to the ball within which the positioning set is used [m]."""
TURN_GAIN = 2.0
"""Turn rate for each radian of bearing [1/s]."""
SLOWEST = 1e-6
"""Top speeds below this are taken for it, to divide by them [m/s]."""


def yaw_of(pose: Floats) -> Floats:
    """Where robots face, (N, 7) to (N,) [rad]."""
    w, x, y, z = pose[:, 3:7].T
    return np.asarray(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def seen(way: Floats, yaw: Floats) -> Floats:
    """World vectors (N, 2) as robots that face `yaw` (N,) see them: ahead, to the left."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.stack([cos * way[:, 0] + sin * way[:, 1], cos * way[:, 1] - sin * way[:, 0]], axis=1)


def fastest(walker: Steered, ahead: Floats) -> Floats:
    """The fastest velocities into directions seen by the robots, (N, 2) to (N, 2) [m/s]; zero for no direction."""
    top = walker.walk.top_speed()
    length = np.hypot(ahead[:, 0], ahead[:, 1])
    unit = ahead / np.maximum(length, SLOWEST)[:, None]
    along = np.where(unit[:, 0] < 0, walker.walk.top_speed_back(), top[:, 0])
    speed = np.hypot(unit[:, 0] / np.maximum(along, SLOWEST), unit[:, 1] / np.maximum(top[:, 1], SLOWEST))
    return np.asarray(unit / np.maximum(speed, SLOWEST)[:, None])


def turning(walker: Steered, bearing: Floats) -> Floats:
    """Turn rates that face a bearing, (N,) to (N,) [rad/s]."""
    most = walker.walk.top_speed()[:, 2]
    return np.asarray(np.clip(TURN_GAIN * bearing, -most, most))


def steer(walker: Steered, way: Floats, yaw: Floats, turns: Bools, moving: Bools) -> Floats:
    """Sets wanted velocities towards places.

    Args:
        walker: whose `wanted` is set.
        way: from the robots to their places, in the world's frame, (N, 2) [m].
        yaw: where the robots face, (N,) [rad].
        turns: which robots turn to where they go, (N,).
        moving: which robots are to go at all, (N,).

    Returns:
        The bearings of the places, (N,) [rad].
    """
    ahead = seen(way, yaw)
    bearing = np.arctan2(ahead[:, 1], ahead[:, 0])
    walker.wanted[:, :2] = np.where(moving[:, None], fastest(walker, ahead), 0.0)
    walker.wanted[:, 2] = np.where(moving & turns, turning(walker, bearing), 0.0)
    return np.asarray(bearing)


class SetChooser:
    """Chooses between the sets of parameters of a walker, cycle by cycle.

    Args:
        walks: the walk of each world; all have the same sets.
    """

    def __init__(self, walks: Sequence[Walk]) -> None:
        names = list(walks[0].sets)
        self._sprint = names.index("sprint") if "sprint" in names else 0
        self._positioning = names.index("positioning") if "positioning" in names else 0

    def choose(self, walker: Steered, bearing: Floats, moving: Bools, to_ball: Floats | None = None) -> None:
        """Sets `walker.chosen` from bearings of targets (N,) and distances to the ball (N,)."""
        if self._sprint:
            straight = moving & (np.abs(bearing) < SPRINT_WITHIN)
            walker.chosen[:] = np.where(straight, self._sprint, 0)
        if self._positioning and to_ball is not None:
            near = to_ball < POSITIONING_WITHIN
            walker.chosen[near] = self._positioning
