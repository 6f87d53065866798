"""The cycle of a network, compiled: what it sees of a robot, its answer, and what that asks of the joints.

The same functions run for one player of a match and for the thousands of robots that learn, for walks (`policy`) and
for corrections of motions (`correction`). An observation has three numbers for each moved motor (angle from the
stance, speed, last action), gyro and upward direction, and what the network is told of its task (`PolicyState.told`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.motion.policy import CUT, MAX_ACTION, MAX_ASTRAY, PROGRESS, RESPONSE_TIME, SLOW_DOWN, STILL, STRAIGHTEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.motion.policy import MirrorImage, Network, PolicyState, PolicyTable

    Records = NDArray[np.void]

RATE_SCALE, GYRO_SCALE = 6.0, 5.0
"""Joint speeds and angular velocities of about this much are observed as 1 [rad/s]."""


@kernel
def tell_walk(state: PolicyState) -> None:
    """Tells a walk its wanted velocity and its clock."""
    for i in range(3):
        state.told[i] = state.wanted[i]
    # A robot that stands has no clock: the network then sees a point that no phase of stepping has.
    turn = 2.0 * math.pi * state.clock
    state.told[3] = math.sin(turn) if state.steps else 0.0
    state.told[4] = math.cos(turn) if state.steps else 0.0


@kernel
def tell_progress(state: PolicyState, progress: float) -> None:
    """Tells a correction the share of its motion that is over, 0..1, and waves of it.

    What has to be done changes within a few cycles, which a network finds more easily from waves than from a ramp.
    """
    turn = 2.0 * math.pi * progress
    state.told[PROGRESS] = progress
    state.told[PROGRESS + 1], state.told[PROGRESS + 2] = math.sin(turn), math.cos(turn)
    state.told[PROGRESS + 3], state.told[PROGRESS + 4] = math.sin(3 * turn), math.cos(3 * turn)


@kernel
def observe(state: PolicyState, table: PolicyTable, out: Floats32) -> None:
    """What a network sees of one robot, (3 motors + 6 + told,)."""
    motors = table.motors
    for i in range(motors):
        out[i] = state.angles[i] - table.home[i]
        out[motors + i] = (state.angles[i] - state.before[i]) / (table.period * RATE_SCALE)
        out[2 * motors + i] = state.action[i]
    first = 3 * motors
    for i in range(3):
        out[first + i] = state.gyro[i] / GYRO_SCALE
        out[first + 3 + i] = state.up[i]
    for i in range(table.told):
        out[first + 6 + i] = state.told[i]


@kernel
def smooth(state: PolicyState, table: PolicyTable, action: Floats32) -> None:
    """Takes in an answer of a network, (motors,), smoothed, so that one that jumps does not throw the robot."""
    for i in range(table.motors):
        chosen = min(max(action[i], -MAX_ACTION), MAX_ACTION)
        state.action[i] += table.gain * (chosen - state.action[i])
        state.before[i] = state.angles[i]


@kernel
def follow(state: PolicyState, table: PolicyTable, action: Floats32) -> None:
    """Turns an answer (motors,) into commands of the drives, `state.command`, and lets the clock go on.

    The target of a joint is that of the stance, with the swinging leg drawn up, legs that swing to where the robot is
    to go and push back on the ground, and what the action adds. Drives that are commanded angles get the targets, from
    smoothed actions. A velocity drive goes a share of the way there within a cycle, `table.gain`.
    """
    # The first legs swing in the first half of the clock, the others in the second.
    wave = math.sin(2.0 * math.pi * state.clock) if state.steps else 0.0
    first, second = max(wave, 0.0), max(-wave, 0.0)
    swing = -math.cos(2.0 * math.pi * state.clock) if state.steps else 0.0
    if table.position:
        smooth(state, table, action)
    for i in range(table.motors):
        chosen = state.action[i] if table.position else min(max(action[i], -MAX_ACTION), MAX_ACTION)
        goal = table.home[i] + first * table.lift[0, i] + second * table.lift[1, i] + table.reach[i] * chosen
        goal += swing * (state.wanted[0] * table.swing[0, i] + state.wanted[1] * table.swing[1, i])
        goal = min(max(goal, table.lowest[i]), table.highest[i])
        if table.position:
            state.command[i] = goal
        else:
            speed = table.gain * (goal - state.angles[i]) / table.period
            state.command[i] = min(max(speed, -table.fastest[i]), table.fastest[i])
            state.action[i] = chosen
            state.before[i] = state.angles[i]
    state.clock = (state.clock + table.period / table.stride) % 1.0 if state.steps else 0.0


@kernel
def steer_walks(
    orders: tuple[Floats, Floats, Floats, Indices, Floats],
    gyro: Floats,
    up: Floats,
    states: Records,
    tables: Records,
    fastest_turn: float,
) -> bool:
    """Tells N walks what is wanted: velocities, with the turn that the gyro says is missing, and whether to step.

    Args:
        orders: wanted velocities (N, 3), the same eased (N, 3), missing headings (N,) [rad], the feet that swing first
            (N,), and the velocities that are reached by now (N, 3); all but the first and the fourth are changed.
        gyro: (N, 3) [rad/s].
        up: upward directions in the torsos' frames, (N, 3).
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        fastest_turn: the highest turn rate that is asked of a network [rad/s].

    Returns: whether all wanted velocities are finite; nothing is changed if one is not.
    """
    wanted, eased, astray, swing, reached = orders
    if not np.isfinite(wanted).all():
        return False
    period, stride = tables[0].period, tables[0].stride
    share = 1 - math.exp(-period / RESPONSE_TIME)
    for n in range(len(states)):
        s, moving, turned = states[n], False, 0.0
        for i in range(3):
            # A velocity that is to become smaller does so slowly, also on its way to another sign.
            now, most = eased[n, i], period * SLOW_DOWN[i]
            towards = wanted[n, i] if np.sign(wanted[n, i]) == np.sign(now) else 0.0
            if abs(now) > most and abs(towards) < abs(now):
                eased[n, i] = np.sign(now) * max(abs(towards), abs(now) - most)
            else:
                eased[n, i] = wanted[n, i]
            moving = moving or abs(eased[n, i]) > STILL[i]
            s.gyro[i], s.up[i] = gyro[n, i], up[n, i]
            turned += gyro[n, i] * up[n, i]
        missing = min(max(astray[n] + period * (eased[n, 2] - turned), -MAX_ASTRAY), MAX_ASTRAY)
        astray[n] = missing if moving else 0.0
        for i in range(3):
            s.wanted[i] = eased[n, i] if moving else 0.0
            reached[n, i] += share * (s.wanted[i] - reached[n, i])
        if moving:
            s.wanted[2] = min(max(eased[n, 2] + STRAIGHTEN * astray[n], -fastest_turn), fastest_turn)
            if not s.steps:
                s.clock = 0.5 * swing[n]
        # A step that was begun is ended before the clock stops.
        s.steps = moving or (s.steps and not s.clock % 0.5 < period / stride)
    return True


@kernel
def decide(seen: Floats32, network: Network, image: MirrorImage, sides: tuple[bool, bool]) -> Floats32:
    """What a network answers to an observation: itself, as its mirror image, or the mean of both (`sides`)."""
    one, other, outputs = seen, seen, network.sizes[-1]
    straight, mirrored = sides
    if straight:
        one = run_network(seen, network)
    if mirrored:
        turned = np.empty(network.sizes[0], np.float32)
        for i in range(len(turned)):
            turned[i] = seen[image.observation[i]] * image.observation_sign[i]
        other = run_network(turned, network)
    action = np.empty(outputs, np.float32)
    for i in range(outputs):
        if straight and mirrored:
            action[i] = (one[i] + other[image.action[i]] * image.action_sign[i]) / 2
        else:
            action[i] = one[i] if straight else other[image.action[i]] * image.action_sign[i]
    return action


@kernel
def run_policies(states: Records, tables: Records, network: Network, image: MirrorImage) -> None:
    """A cycle of N robots: observation, network, and the commands of the drives in their states.

    Args:
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        network: the policy.
        image: how its observations and actions look in a mirror.
    """
    table = tables[0]
    seen = np.empty(network.sizes[0], np.float32)
    for n in range(len(states)):
        tell_walk(states[n])
        observe(states[n], table, seen)
        follow(states[n], table, decide(seen, network, image, (True, image.exists)))


@kernel
def run_corrections(
    ids: Indices,
    states: Records,
    tables: Records,
    network: Network,
    image: MirrorImage,
    sides: tuple[bool, Bools, Floats],
    out: Floats,
) -> None:
    """A cycle of some robots: observation, network, and what is added to their targets.

    Args:
        ids: which robots, (n,).
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        network: the correction.
        image: how its observations and outputs look in a mirror.
        sides: whether the motion is equal on both sides of a mirror, who does the mirror image of it (N,), and the
            shares of the motions that are over, (n,).
        out: changed, (n, motors) [rad].
    """
    table, symmetric, mirrored, progress = tables[0], sides[0], sides[1], sides[2]
    seen = np.empty(network.sizes[0], np.float32)
    for row in range(len(ids)):
        state, other = states[ids[row]], mirrored[ids[row]]
        tell_progress(state, progress[row])
        observe(state, table, seen)
        smooth(state, table, decide(seen, network, image, (symmetric or not other, symmetric or other)))
        for i in range(table.motors):
            out[row, i] = table.reach[i] * state.action[i]


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
