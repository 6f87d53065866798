"""Set-points that move no faster than a limit, as a drive with `slewmax` follows delayed commands; compiled.

    move_setpoints(setpoints, earlier, commands, most, part)    # (N, steps, motors)

The engine moves a set-point by at most a limit in each step. If a command arrives within a step, the set-point follows
the new command only in the rest of it; `sim.rollout` gives the engine the set-points that follow from that.
"""

from __future__ import annotations

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import kernel


@kernel
def move_setpoints(setpoints: Floats, earlier: Floats, commands: Floats, most: Floats, part: Floats) -> Floats:
    """Set-points after each step, (N, steps, motors), that follow commands which change within a step.

    Args:
        setpoints: set-points before the first step, (N, motors).
        earlier: commands at the start of each step, (N, steps, motors).
        commands: commands at the end of each step, (N, steps, motors).
        most: largest change of a set-point in a step, (N, motors).
        part: time within a step at which commands change, as a share of the step, (N,).
    """
    out = np.empty_like(commands)
    for world in range(commands.shape[0]):
        before = part[world]
        for motor in range(commands.shape[2]):
            at = setpoints[world, motor]
            first, second = before * most[world, motor], (1 - before) * most[world, motor]
            for step in range(commands.shape[1]):
                at += min(max(earlier[world, step, motor] - at, -first), first)
                at += min(max(commands[world, step, motor] - at, -second), second)
                out[world, step, motor] = at
    return out
