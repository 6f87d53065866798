"""The cycle of a corrected motion, compiled: what the network sees, and what it adds to the targets of the joints.

The same functions run for one player of a match and for the thousands of robots that learn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.motion.policy_kernels import GYRO_SCALE, MAX_ACTION, RATE_SCALE, run_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.motion.correction import CorrectionState, CorrectionTable
    from nutmeg.motion.policy import MirrorImage, Network

    Records = NDArray[np.void]

BALL_SCALE = 0.05
"""A ball so far from its place is observed as 1 [m]."""
SENSED_SIGNS = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Signs in a mirror of what is observed beside three numbers for each motor: gyro, up, ball, five of the progress, and
the kind of motion."""


@kernel
def observe_motion(state: CorrectionState, table: CorrectionTable, out: Floats32) -> None:
    """What the network sees of one robot, (3 motors + 14,)."""
    motors = table.motors
    for i in range(motors):
        out[i] = state.angles[i] - table.home[i]
        out[motors + i] = (state.angles[i] - state.before[i]) / (table.period * RATE_SCALE)
        out[2 * motors + i] = state.action[i]
    first = 3 * motors
    for i in range(3):
        out[first + i] = state.gyro[i] / GYRO_SCALE
        out[first + 3 + i] = state.up[i]
    out[first + 6], out[first + 7] = state.ball[0] / BALL_SCALE, state.ball[1] / BALL_SCALE
    # The progress itself, and waves of it: what has to be done changes within a few cycles.
    turn = 2.0 * math.pi * state.progress
    out[first + 8] = state.progress
    out[first + 9], out[first + 10] = math.sin(turn), math.cos(turn)
    out[first + 11], out[first + 12] = math.sin(3 * turn), math.cos(3 * turn)
    out[first + 13] = state.kind


@kernel
def smooth(state: CorrectionState, table: CorrectionTable, action: Floats32) -> None:
    """Takes in an answer of the network, (motors,)."""
    for i in range(table.motors):
        chosen = min(max(action[i], -MAX_ACTION), MAX_ACTION)
        state.action[i] += table.gain * (chosen - state.action[i])
        state.before[i] = state.angles[i]


@kernel
def run_corrections(
    ids: Indices,
    states: Records,
    tables: Records,
    network: Network,
    image: MirrorImage,
    mirrors: tuple[bool, Bools],
    out: Floats,
) -> None:
    """A cycle of some robots: observation, network, and what is added to their targets.

    Args:
        ids: which robots, (n,).
        states: records of `CorrectionState`, (N,); changed.
        tables: record of `CorrectionTable`, (1,).
        network: the correction.
        image: how its observations and outputs look in a mirror.
        mirrors: whether the motion is equal on both sides of a mirror; who does the mirror image of it, (N,).
        out: changed, (n, motors) [rad].
    """
    table, symmetric, mirrored = tables[0], mirrors[0], mirrors[1]
    inputs = network.sizes[0]
    seen, turned = np.empty(inputs, np.float32), np.empty(inputs, np.float32)
    action = np.zeros(table.motors, np.float32)
    for row in range(len(ids)):
        n = ids[row]
        observe_motion(states[n], table, seen)
        for i in range(inputs):
            turned[i] = seen[image.observation[i]] * image.observation_sign[i]
        share = 0.5 if symmetric else 1.0
        action[:] = 0.0
        if symmetric or not mirrored[n]:
            one = run_network(seen, network)
            for i in range(table.motors):
                action[i] += share * one[i]
        if symmetric or mirrored[n]:
            other = run_network(turned, network)
            for i in range(table.motors):
                action[i] += share * other[image.action[i]] * image.action_sign[i]
        smooth(states[n], table, action)
        for i in range(table.motors):
            out[row, i] = table.reach * states[n].action[i]
