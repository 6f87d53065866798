"""One control cycle of a network, compiled: observation, action, and commands of the joints.

The same functions run for one player of a match and for the thousands of robots that learn, for walks (`policy`) and
for corrections of motions (`correction`). An observation has three numbers for each moved motor (angle from the
stance, speed, last action), gyro and upward direction, and the task inputs (`PolicyState.task`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.motion.policy import (
    HEADING_GAIN,
    MAX_ACTION,
    MAX_HEADING_ERROR,
    MAX_SIDEWARD_ACCELERATION,
    OBSERVATION_LIMIT,
    PROGRESS,
    RESPONSE_TIME,
    STANDING_VELOCITY,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.motion.policy import MirrorImage, Network, PolicyState, PolicyTable

    Records = NDArray[np.void]

_RATE_SCALE, _GYRO_SCALE = 6.0, 5.0
"""Joint speed and angular velocity that are observed as 1 [rad/s]."""


@kernel
def set_walk_task(state: PolicyState) -> None:
    """Sets the task inputs of a walk: its wanted velocity and its clock."""
    for i in range(3):
        state.task[i] = state.wanted[i]
    # A robot that stands has no clock: the network then observes (0, 0), which no phase of stepping has.
    turn = 2.0 * math.pi * state.clock
    state.task[3] = math.sin(turn) if state.steps else 0.0
    state.task[4] = math.cos(turn) if state.steps else 0.0


@kernel
def set_progress(state: PolicyState, progress: float) -> None:
    """Sets the task inputs of a correction: the share of its motion that is over, 0..1, and waves of it.

    The needed correction changes within a few cycles, which a network learns more easily from waves than from a ramp.
    """
    turn = 2.0 * math.pi * progress
    state.task[PROGRESS] = progress
    state.task[PROGRESS + 1], state.task[PROGRESS + 2] = math.sin(turn), math.cos(turn)
    state.task[PROGRESS + 3], state.task[PROGRESS + 4] = math.sin(3 * turn), math.cos(3 * turn)


@kernel
def observe(state: PolicyState, table: PolicyTable, out: Floats32) -> None:
    """The observation of one robot, (3 motors + 6 + task inputs,)."""
    motors = table.motors
    for i in range(motors):
        # Numbers of the size of 1, as networks learn best from them; speeds are differences of angles, which every real
        # robot can measure.
        out[i] = state.angles[i] - table.home[i]
        out[motors + i] = (state.angles[i] - state.before[i]) / (table.period * _RATE_SCALE)
        out[2 * motors + i] = state.action[i]
    first = 3 * motors
    for i in range(3):
        out[first + i] = state.gyro[i] / _GYRO_SCALE
        out[first + 3 + i] = state.up[i]
    for i in range(table.task_size):
        out[first + 6 + i] = state.task[i]


@kernel
def smooth(state: PolicyState, table: PolicyTable, action: Floats32) -> None:
    """Smooths an action of a network, (motors,), into `state.action`, so that a jump does not make the robot fall."""
    for i in range(table.motors):
        chosen = min(max(action[i], -MAX_ACTION), MAX_ACTION)
        state.action[i] += table.gain * (chosen - state.action[i])
        state.before[i] = state.angles[i]


@kernel
def follow(state: PolicyState, table: PolicyTable, action: Floats32) -> None:
    """Turns an action (motors,) into commands of the drives, `state.command`, and advances the clock.

    The target of a joint is the sum of its stance, the lift of the swinging leg, the swing of the legs along the wanted
    velocity, and the action. Position drives get the targets, from smoothed actions. A velocity drive moves the share
    `table.gain` of the distance within a cycle.
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
            # Velocity drives are a control loop of the joint's angle, closed here once in a cycle.
            speed = table.gain * (goal - state.angles[i]) / table.period
            state.command[i] = min(max(speed, -table.fastest[i]), table.fastest[i])
            state.action[i] = chosen
            state.before[i] = state.angles[i]
    state.clock = (state.clock + table.period / table.stride) % 1.0 if state.steps else 0.0


@kernel
def ease(now: float, wanted: float, most: float) -> float:
    """A velocity on its way to a wanted one: it becomes smaller by at most `most`, also on its way to another sign."""
    towards = wanted if wanted * now > 0 else 0.0
    if abs(now) > most and abs(towards) < abs(now):
        return math.copysign(max(abs(towards), abs(now) - most), now)
    return wanted


@kernel
def approach(
    now: Floats, wanted: Floats, table: PolicyTable, fastest: Floats | tuple[float, float, float], back: float
) -> None:
    """Moves velocities (3,) towards the wanted ones, as fast as a walk bears it; `now` is changed.

    Each becomes smaller by at most `table.slow_down`. With `table.gives_way`, the others wait for the speeds ahead and
    aside that become smaller: a robot that still goes back at 0.6 of its highest speed is sent aside at 0.4 of the
    highest at most, and turns at 0.4 of the highest rate.

    Args:
        now: velocities that the network is asked for, (3,) [m/s, m/s, rad/s].
        wanted: the wanted ones, (3,).
        table: numbers of the robot and its gait.
        fastest: the highest velocities ahead, aside and turning, (3,).
        back: the highest speed backward [m/s].
    """
    for i in range(3):
        most = table.slow_down_back if i == 0 and now[0] < 0 else table.slow_down[i]
        now[i] = ease(now[i], wanted[i], table.period * most)
    if not table.gives_way:
        return
    # What is not yet as wanted is still becoming smaller.
    slows_ahead, slows_aside = now[0] != wanted[0], now[1] != wanted[1]
    ahead = abs(now[0]) / (back if now[0] < 0 else fastest[0]) if slows_ahead else 0.0
    aside = abs(now[1]) / fastest[1] if slows_aside else 0.0
    if not slows_ahead:
        room = (back if now[0] < 0 else fastest[0]) * max(1.0 - aside, 0.0)
        now[0] = min(max(now[0], -room), room)
    if not slows_aside:
        room = fastest[1] * max(1.0 - ahead, 0.0)
        now[1] = min(max(now[1], -room), room)
    if now[2] == wanted[2]:
        room = fastest[2] * max(1.0 - ahead - aside, 0.0)
        now[2] = min(max(now[2], -room), room)


@kernel
def highest_turn(velocity: Floats, fastest: float) -> float:
    """The highest turn rate at a wanted velocity (3,): who turns faster at a run falls over its feet."""
    speed = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2)
    return min(fastest, MAX_SIDEWARD_ACCELERATION / max(speed, 1e-6))


@kernel
def steer_walks(
    orders: tuple[Floats, Floats, Floats, Indices, Floats],
    gyro: Floats,
    up: Floats,
    states: Records,
    tables: Records,
    highest: Floats,
) -> bool:
    """Sets the wanted velocities of N walks, with a turn that corrects the heading by the gyro, and whether to step.

    Args:
        orders: wanted velocities (N, 3), the same with limited deceleration (N, 3), heading errors (N,) [rad], the feet
            that swing first (N,), and estimated velocities (N, 3); all but the first and the fourth are changed.
        gyro: (N, 3) [rad/s].
        up: upward directions in the torsos' frames, (N, 3).
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        highest: the highest velocities that are wanted of a network: ahead, aside, turning and back, (4,).

    Returns: whether all wanted velocities are finite; nothing is changed if one is not.
    """
    wanted, eased, astray, swing, reached = orders
    if not np.isfinite(wanted).all():
        return False
    period, stride = tables[0].period, tables[0].stride
    share = 1 - math.exp(-period / RESPONSE_TIME)
    for n in range(len(states)):
        s, moving, turned = states[n], False, 0.0
        approach(eased[n], wanted[n], tables[0], highest[:3], highest[3])
        for i in range(3):
            moving = moving or abs(eased[n, i]) > STANDING_VELOCITY[i]
            s.gyro[i], s.up[i] = gyro[n, i], up[n, i]
            # The turn rate about the vertical, whatever the lean of the torso.
            turned += gyro[n, i] * up[n, i]
        # The heading error is the integral of wanted minus measured turn; it is limited, so that a robot that was held
        # does not spin afterwards.
        missing = min(max(astray[n] + period * (eased[n, 2] - turned), -MAX_HEADING_ERROR), MAX_HEADING_ERROR)
        astray[n] = missing if moving else 0.0
        for i in range(3):
            s.wanted[i] = eased[n, i] if moving else 0.0
            reached[n, i] += share * (s.wanted[i] - reached[n, i])
        if moving:
            # A robot that slows down is still as fast as it was a moment ago.
            turn = min(highest_turn(s.wanted, highest[2]), highest_turn(reached[n], highest[2]))
            s.wanted[2] = min(max(eased[n, 2] + HEADING_GAIN * astray[n], -turn), turn)
            # The clock starts in the half in which the chosen foot swings.
            if not s.steps:
                s.clock = 0.5 * swing[n]
        # A step that was begun is ended before the clock stops.
        s.steps = moving or (s.steps and not s.clock % 0.5 < period / stride)
    return True


@kernel
def decide(seen: Floats32, network: Network, image: MirrorImage, sides: tuple[bool, bool]) -> Floats32:
    """The action for an observation: by the network, by its mirror image, or the mean of both (`sides`)."""
    one, other, outputs = seen, seen, network.sizes[-1]
    straight, mirrored = sides
    if straight:
        one = run_network(seen, network)
    if mirrored:
        turned = np.empty(network.sizes[0], np.float32)
        for i in range(len(turned)):
            turned[i] = seen[image.observation[i]] * image.observation_sign[i]
        other = run_network(turned, network)
    # A policy of a symmetric robot is made symmetric: mirror the observation, run, mirror the action back.
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
        image: mirror images of its observations and actions.
    """
    table = tables[0]
    seen = np.empty(network.sizes[0], np.float32)
    for n in range(len(states)):
        set_walk_task(states[n])
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
    """One cycle of some robots: observation, network, and the corrections of their targets.

    Args:
        ids: indices of the robots, (n,).
        states: records of `PolicyState`, (N,); changed.
        tables: record of `PolicyTable`, (1,).
        network: the correction.
        image: mirror images of its observations and outputs.
        sides: whether the motion is symmetric, which robots play its mirror image (N,), and the shares of the motions
            that are over, (n,).
        out: the corrections, (n, motors) [rad]; changed.
    """
    table, symmetric, mirrored, progress = tables[0], sides[0], sides[1], sides[2]
    seen = np.empty(network.sizes[0], np.float32)
    for row in range(len(ids)):
        state, other = states[ids[row]], mirrored[ids[row]]
        set_progress(state, progress[row])
        observe(state, table, seen)
        smooth(state, table, decide(seen, network, image, (symmetric or not other, symmetric or other)))
        for i in range(table.motors):
            out[row, i] = table.reach[i] * state.action[i]


@kernel
def run_network(observation: Floats32, network: Network) -> Floats32:
    """The output of a network for an observation (inputs,)."""
    sizes, layers = network.sizes, network.layers
    values = np.empty(sizes[0], np.float32)
    for i in range(sizes[0]):
        normal = (observation[i] - network.mean[i]) * network.scale[i]
        values[i] = min(max(normal, np.float32(-OBSERVATION_LIMIT)), np.float32(OBSERVATION_LIMIT))
    # Weights and biases of all layers lie one after the other in one array: inputs x outputs, then outputs.
    place = 0
    for layer in range(len(sizes) - 1):
        wide, out = sizes[layer], sizes[layer + 1]
        following = layers[place + wide * out : place + wide * out + out].copy()
        for i in range(wide):
            value = values[i]
            weights = layers[place + i * out : place + (i + 1) * out]
            for j in range(out):
                following[j] += value * weights[j]
        # The last layer is linear.
        if layer < len(sizes) - 2:
            for j in range(out):
                following[j] = np.tanh(following[j])
        values, place = following, place + wide * out + out
    return values
