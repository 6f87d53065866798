"""The transitions between the skills of N robots, compiled: robot by robot, a microsecond for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.motion.inertial import FallState
    from nutmeg.motion.skills import SkillLimits

    Records = NDArray[np.void]

STAND, WALK, STOP, FALL, GET_UP, STEADY, LENT = range(7)
"""Numbers of `skills.Skill`."""


@kernel
def choose_skills(
    state: Indices, since: Floats, wanted: Floats, may_stand: Bools, falls: Records, up_again: Bools, limits: Records
) -> Indices:
    """The skill that each robot passes into, -1 for none, (N,).

    Args:
        state: skills now, (N,).
        since: time in that skill, (N,) [s].
        wanted: wanted velocities, (N, 3) [m/s, m/s, rad/s].
        may_stand: which robots can end their walk now, (N,).
        falls: records of `FallState`, (N,).
        up_again: which robots are done with getting up, (N,).
        limits: record of `SkillLimits`, (1,).
    """
    following = np.full(len(state), -1)
    for n in range(len(state)):
        limit, wants = limits[0], False
        for i in range(3):
            wants = wants or abs(wanted[n, i]) > limit.wanted[i]
        if state[n] in (FALL, GET_UP):
            following[n] = _after_falling(state[n], since[n], falls[n], up_again[n], limit)
        elif state[n] != LENT:  # a lent robot stays lent until `Skills.give_back`
            rested = since[n] >= limit.steady
            following[n] = _on_its_feet(state[n], falls[n].fallen, wants, may_stand[n], rested)
    return following


@kernel
def _after_falling(now: int, since: float, fall: FallState, up_again: bool, limit: SkillLimits) -> int:
    """The next skill of a fallen robot: it gets up when it lies still, or after the longest time of a fall."""
    if now == GET_UP:
        return STEADY if up_again else -1
    if fall.still or since >= limit.longest_fall:
        return GET_UP if fall.fallen else STEADY
    return -1


@kernel
def _on_its_feet(now: int, fallen: bool, wants: bool, may_stand: bool, rested: bool) -> int:
    if fallen:
        return FALL
    if now == STEADY:
        return STAND if rested else -1
    if wants:
        return WALK if now != WALK else -1
    if now == WALK:
        return STOP
    return STAND if now == STOP and may_stand else -1
