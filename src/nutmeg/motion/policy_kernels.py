"""The cycle of a policy, compiled: what the network sees of a robot, the network, and the speeds of the joints.

The same functions run for one player of a match and for the thousands of robots that learn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats32
    from nutmeg.motion.policy import MirrorImage, Network, PolicyState, PolicyTable

    Records = NDArray[np.void]

RATE_SCALE, GYRO_SCALE = 6.0, 5.0
"""Joint speeds and angular velocities of about this much are observed as 1 [rad/s]."""
CUT = 10.0
"""Normalised observations are cut off at this."""
MAX_ACTION = 10.0
"""Actions are cut off at this."""
SENSED_SIGNS = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0)
"""Signs in a mirror of what is observed beside three numbers for each motor: gyro, up, wanted velocity and clock."""


@kernel
def observe(state: PolicyState, table: PolicyTable, out: Floats32) -> None:
    """What the network sees of one robot, (3 motors + 11,)."""
    motors = table.motors
    for i in range(motors):
        out[i] = state.angles[i] - table.home[i]
        out[motors + i] = (state.angles[i] - state.before[i]) / (table.period * RATE_SCALE)
        out[2 * motors + i] = state.action[i]
    first = 3 * motors
    for i in range(3):
        out[first + i] = state.gyro[i] / GYRO_SCALE
        out[first + 3 + i] = state.up[i]
        out[first + 6 + i] = state.wanted[i]
    # A robot that stands has no clock: the network then sees a point that no phase of stepping has.
    turn = 2.0 * math.pi * state.clock
    out[first + 9] = math.sin(turn) if state.steps else 0.0
    out[first + 10] = math.cos(turn) if state.steps else 0.0


@kernel
def follow(state: PolicyState, table: PolicyTable, action: Floats32) -> None:
    """Turns an action (motors,) into the speeds of the drives, `state.speed`, and lets the clock go on.

    The target of a joint is that of the stance, with the swinging leg drawn up, and what the action adds. A drive goes
    a share of the way there within a cycle, `table.gain`, so that an action that jumps does not throw the robot.
    """
    # The left leg swings in the first half of the clock, the right one in the second.
    wave = math.sin(2.0 * math.pi * state.clock) if state.steps else 0.0
    left, right = max(wave, 0.0), max(-wave, 0.0)
    for i in range(table.motors):
        chosen = min(max(action[i], -MAX_ACTION), MAX_ACTION)
        goal = table.home[i] + left * table.lift[0, i] + right * table.lift[1, i] + table.reach[i] * chosen
        goal = min(max(goal, table.lowest[i]), table.highest[i])
        speed = table.gain * (goal - state.angles[i]) / table.period
        state.speed[i] = min(max(speed, -table.fastest[i]), table.fastest[i])
        state.action[i] = chosen
        state.before[i] = state.angles[i]
    state.clock = (state.clock + table.period / table.stride) % 1.0 if state.steps else 0.0


@kernel
def run_policies(states: Records, tables: Records, network: Network, image: MirrorImage) -> None:
    """A cycle of N robots: observation, network, and the speeds of the drives in their states.

    Args:
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        network: the policy.
        image: how its observations and actions look in a mirror.
    """
    table = tables[0]
    inputs = network.sizes[0]
    seen, mirrored = np.empty(inputs, np.float32), np.empty(inputs, np.float32)
    action = np.empty(table.motors, np.float32)
    for n in range(len(states)):
        observe(states[n], table, seen)
        for i in range(inputs):
            mirrored[i] = seen[image.observation[i]] * image.observation_sign[i]
        one, other = run_network(seen, network), run_network(mirrored, network)
        for i in range(table.motors):
            action[i] = (one[i] + other[image.action[i]] * image.action_sign[i]) / 2
        follow(states[n], table, action)


@kernel
def run_network(observation: Floats32, network: Network) -> Floats32:
    """What a network makes of an observation."""
    sizes, layers = network.sizes, network.layers
    values = np.empty(sizes[0], np.float32)
    for i in range(sizes[0]):
        normal = (observation[i] - network.mean[i]) * network.scale[i]
        values[i] = min(max(normal, np.float32(-CUT)), np.float32(CUT))
    place = 0
    for layer in range(len(sizes) - 1):
        wide, out = sizes[layer], sizes[layer + 1]
        following = layers[place + wide * out : place + wide * out + out].copy()
        for i in range(wide):
            value = values[i]
            weights = layers[place + i * out : place + (i + 1) * out]
            for j in range(out):
                following[j] += value * weights[j]
        if layer < len(sizes) - 2:
            for j in range(out):
                following[j] = np.tanh(following[j])
        values, place = following, place + wide * out + out
    return values
