"""The transitions between the skills of N robots, compiled: robot by robot, a microsecond for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.motion.walk.kernels import fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Indices

    Records = NDArray[np.void]

STAND, WALK, STOP, FALL, GET_UP, STEADY, LENT = range(7)
"""Numbers of `skills.Skill`."""


@kernel
def choose_skills(
    state: Indices,
    since: Floats,
    wanted: Floats,
    walks: Records,
    steps: Records,
    falls: Records,
    up_again: Bools,
    limits: Floats,
) -> Indices:
    """The skill that each robot passes into, -1 for none, (N,).

    Args:
        state: skills now, (N,).
        since: for how long, (N,) [s].
        wanted: velocities, (N, 3).
        walks: records of `PendulumWalkSettings`, (N,).
        steps: records of `WalkState`, (N,).
        falls: records of `FallState`, (N,).
        up_again: which robots are done with getting up, (N,).
        limits: velocities up to which a robot stands; step sizes that may end; the longest fall, the time to steady, and
            how near to a step's beginning both feet are down [s], (3, 3).
    """
    following = np.full(len(state), -1)
    for n in range(len(state)):
        now, s = state[n], steps[n]
        wants, small = False, True
        for i in range(3):
            wants = wants or abs(wanted[n, i]) > limits[0, i]
            small = small and abs(s.step[i]) <= limits[1, i]
        into_step = fraction(s.phi, s.phi_start, s.phi_end) * ((s.phi_end - s.phi_start) * walks[n].phi_length)
        if now == FALL:
            # Getting up begins when the robot lies still, or after the longest fall all the same.
            if falls[n].still or since[n] >= limits[2, 0]:
                following[n] = GET_UP if falls[n].fallen else STEADY
        elif now == GET_UP:
            if up_again[n]:
                following[n] = STEADY
        elif now == LENT:
            pass  # whoever has borrowed the robot gives it back
        elif falls[n].fallen:
            following[n] = FALL
        elif now == STEADY:
            if since[n] >= limits[2, 1]:
                following[n] = STAND
        elif wants:
            if now != WALK:
                following[n] = WALK
        elif now == WALK:
            following[n] = STOP
        elif now == STOP and small and into_step < limits[2, 2]:
            # A walk ends only with small steps and both feet on the ground.
            following[n] = STAND
    return following
