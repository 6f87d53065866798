"""Set-points that move no faster than a limit, or with a limited acceleration; compiled.

    move_setpoints(setpoints, earlier, commands, most, part)    # (N, steps, motors)
    profiled(setpoints, speeds, goals, profile, timestep)       # the same, and the speeds

The engine moves a set-point by at most a limit in each step. If a command arrives within a step, the set-point follows
the new command only in the rest of it; `sim.rollout` gives the engine the set-points that follow from that.

The firmware of hobby servos also limits the acceleration of the set-point: on the way to a new goal it speeds up, moves
at its largest speed and slows down, so that its speed over time is a trapezoid, or a triangle on a short way.
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


@kernel
def profiled(
    setpoints: Floats, speeds: Floats, goals: Floats, profile: Floats, timestep: float
) -> tuple[Floats, Floats]:
    """Set-points after each step and their speeds, (N, steps, motors) each, on the way to goals.

    Args:
        setpoints: set-points before the first step, (N, motors) [rad].
        speeds: their speeds, (N, motors) [rad/s].
        goals: goals in each step, (N, steps, motors) [rad].
        profile: largest speed and acceleration of each motor, (2, N, motors) [rad/s, rad/s²]; 0 for no limit. Without
            an acceleration set-points are at their goals at once.
        timestep: length of a step [s].
    """
    out, rates = np.empty_like(goals), np.empty_like(goals)
    for world in range(goals.shape[0]):
        for motor in range(goals.shape[2]):
            at, speed = setpoints[world, motor], speeds[world, motor]
            cruise, acceleration = profile[0, world, motor], profile[1, world, motor]
            change = acceleration * timestep
            for step in range(goals.shape[1]):
                goal = goals[world, step, motor]
                left = goal - at
                if acceleration <= 0 or (abs(left) <= change * timestep and abs(speed) <= change):
                    at, speed = goal, 0.0
                else:
                    # The largest speed from which steps of equal deceleration end at the goal: v + (v - change) + ...
                    # times the time step is the way that is left. For short steps it is sqrt(2 acceleration left).
                    wanted = change * (np.sqrt(0.25 + 2 * abs(left) / (change * timestep)) - 0.5)
                    if cruise > 0:
                        wanted = min(wanted, cruise)
                    wanted = wanted if left > 0 else -wanted
                    speed += min(max(wanted - speed, -change), change)
                    at += speed * timestep
                out[world, step, motor], rates[world, step, motor] = at, speed
    return out, rates
