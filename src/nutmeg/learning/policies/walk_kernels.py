"""The cycle of robots that learn to walk, compiled; `walk_task` says what it does.

`begin_walk`, `command_walk` and `judge_walk` are for one robot, on this processor or on a CUDA device, and every robot
has random numbers of its own, so that results do not depend on threads. `body` is always a tuple that begins with the
records of `LearningBody`, `PolicyTable` and `WalkRewards`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import heading_of, upward, wrap_angle_exactly
from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.kernels import for_each_world, kernel
from nutmeg.learning.policies.task import FALLEN_HEIGHT, FALLEN_UP
from nutmeg.motion.inertial_kernels import estimate_up
from nutmeg.motion.policy import HEADING_GAIN, MAX_HEADING_ERROR, STANDING_VELOCITY
from nutmeg.motion.policy_kernels import approach, follow, highest_turn, observe, set_walk_task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.learning.policies.task import Episode, LearningBody
    from nutmeg.learning.policies.walk_task import WalkEpisode, WalkRewards
    from nutmeg.motion.legs.feet import FeetTable
    from nutmeg.motion.policy import PolicyState, PolicyTable

    Records = NDArray[np.void]
    Body = tuple[Records, Records, Records] | Any

EPISODE_CYCLES = 500
"""The longest episode [cycles]."""
SHORT_SHARE = 0.1
"""Share of episodes that end earlier, so that robots are not all at the same age."""
TOP_SHARE, LOWEST_SHARE = 0.7, 0.3
"""This share of the commands straight ahead, back, aside and to turn on the spot is the highest velocity, and no other
one is less than that share of it."""
FOOT_WIDTH = 4 / 7
"""How exactly a standing foot should be on the ground, as a share of the height of a swinging one."""
HEAD_GAIN, TOE_GAIN, HEAD_SPEED = 10.0, 20.0, 3.0
"""Speeds of neck and toes for each radian [1/s], and the most [rad/s]."""
SLACK, EXACT = 0.15, 0.125
"""Errors are counted from the wanted speed and this share of the highest on, and are exact up to this share of it."""
SPOT_LOSS = 0.7
"""What robots that do not go as wanted lose of what turning, heading and feet earn."""
LARGEST = 1e4
"""Configurations and velocities beyond this, or that are no numbers, are those of a world that broke down."""
FULL_SPEED = 6.0
"""A joint's speed that counts as full [rad/s]."""


class WalkTables(NamedTuple):
    """What all robots share."""

    body: Records
    """Record of `LearningBody`, (1,)."""
    numbers: Records
    """Record of `PolicyTable`, (1,)."""
    rewards: Records
    """Record of `WalkRewards`, (1,)."""
    feet: Records
    """Record of `FeetTable`, (1,)."""
    start: Floats
    """Configuration at the start, (nq,)."""
    commands: Floats
    """Commands at the start, (nu,)."""
    setpoints: Floats
    """Activations at the start, (na,); without any one number that is not read."""
    history: Floats
    """Delayed commands at the start; without any one number that is not read."""
    hidden: Indices
    """Places in the configuration of joints that a user does not see (rotors), and of the joints that they follow, or
    -1, (hidden, 2)."""
    counts: Indices
    """How many activations, delayed commands and hidden joints there are, (3,)."""


class Walkers(NamedTuple):
    """What each of N robots has, (N, ...): the engine's state, and what is learned from."""

    qpos: Floats
    qvel: Floats
    ctrl: Floats
    act: Floats
    history: Floats
    time: Floats
    warmstart: Floats
    """Where the engine's solver starts, (N, nv)."""
    episodes: Records
    """Records of `WalkEpisode`."""
    states: Records
    """Records of `PolicyState`."""
    action: Floats32
    begins: Bools
    """Whether its episode begins anew."""
    observation: Floats32
    truth: Floats32
    reward: Floats32
    ended: Bools
    cut: Bools


@kernel
def uniform(e: Episode) -> float:
    """A number 0..1 from a robot's own sequence (splitmix64 of Steele, Lea and Flood, 2014)."""
    e.seed += np.uint64(0x9E3779B97F4A7C15)
    z = e.seed
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@kernel
def about_normal(e: Episode) -> float:
    """About a standard normal number, never beyond six: the sum of twelve uniform ones."""
    total = -6.0
    for _ in range(12):
        total += uniform(e)
    return total


@kernel
def signed(e: Episode) -> float:
    """A number drawn evenly from -1 to 1, from a robot's own sequence."""
    return 2.0 * uniform(e) - 1.0


@kernel
def _draw_command(e: WalkEpisode, r: WalkRewards) -> None:
    """The next command, when it ends, and where the head looks meanwhile."""
    kind, x, y, turn = uniform(e), 0.0, 0.0, 0.0
    # A walk is judged by its highest velocities, and robots fall when one of them follows another; what is learned from
    # slower ones makes the robot slower there, too (docs/explanation/policies.md).
    straight = r.level
    if uniform(e) > TOP_SHARE:
        straight *= LOWEST_SHARE + (1 - LOWEST_SHARE) * uniform(e)
    # The shares of the kinds of commands, one after the other, divide 0..1; what is left of it is any mixture.
    ahead = r.kinds[0] + r.kinds[1]
    back = ahead + r.kinds[2]
    aside = back + r.kinds[3]
    if kind < r.kinds[0]:
        pass
    elif kind < ahead:
        x = r.fastest[0] * straight
    elif kind < back:
        x = -r.back * straight
    elif kind < aside:
        y = r.fastest[1] * straight * (1.0 if uniform(e) < 0.5 else -1.0)
    elif kind < aside + r.kinds[4]:
        turn = r.fastest[2] * straight * (1.0 if uniform(e) < 0.5 else -1.0)
    else:
        angle, size = 2 * math.pi * uniform(e), math.sqrt(uniform(e))
        x, y = r.level * size * math.cos(angle), r.level * size * math.sin(angle) * r.fastest[1]
        x *= r.fastest[0] if x > 0 else r.back
        if uniform(e) < 0.6:
            turn = r.fastest[2] * r.level * signed(e) * (1 - 0.5 * size)
    e.goal[0], e.goal[1] = x, y
    most = highest_turn(e.goal, r.fastest[2])
    e.goal[2] = min(max(turn, -most), most)
    e.change = e.cycle + int(50 + 150 * uniform(e))
    e.head[0], e.head[1] = 1.5 * signed(e), 0.6 * signed(e)


@kernel
def _ease_command(e: WalkEpisode, t: PolicyTable, r: WalkRewards) -> None:
    """Moves the command towards the velocities that were drawn, as fast as the walker of a policy does."""
    e.still = True
    approach(e.command, e.goal, t, r.fastest, r.back)
    for i in range(3):
        e.still = e.still and abs(e.command[i]) <= STANDING_VELOCITY[i]


@kernel
def _set_wanted(e: WalkEpisode, s: PolicyState, r: WalkRewards) -> None:
    """What the network is told: the command, and the turn that makes up for the missing heading."""
    turn = e.command[2] + HEADING_GAIN * wrap_angle_exactly(e.heading - e.yaw)
    s.wanted[0], s.wanted[1] = e.command[0], e.command[1]
    most = highest_turn(e.command, r.fastest[2])
    s.wanted[2] = 0.0 if e.still else min(max(turn, -most), most)


@kernel
def put_back(n: int, tables: WalkTables, robots: Walkers) -> None:
    """Puts robot n to the start of its scene, at rest."""
    for i in range(len(tables.start)):
        robots.qpos[n, i] = tables.start[i]
    for i in range(robots.qvel.shape[1]):
        robots.qvel[n, i], robots.warmstart[n, i] = 0.0, 0.0
    for i in range(len(tables.commands)):
        robots.ctrl[n, i] = tables.commands[i]
    for i in range(tables.counts[0]):
        robots.act[n, i] = tables.setpoints[i]
    for i in range(tables.counts[1]):
        robots.history[n, i] = tables.history[i]
    robots.time[n] = 0.0


@for_each_world
def begin_walk(n: int, count: int, tables: WalkTables, robots: Walkers) -> None:  # noqa: ARG001 (as all of them)
    """Begins the episode of robot n, if it is to: puts it to the start, and disturbs it a little."""
    if not robots.begins[n]:
        return
    put_back(n, tables, robots)
    at, t, r = tables.body[0], tables.numbers[0], tables.rewards[0]
    e, s, q, v = robots.episodes[n], robots.states[n], robots.qpos[n], robots.qvel[n]
    e.cycle = 0
    e.ends = EPISODE_CYCLES
    if uniform(e) < SHORT_SHARE:
        e.ends = int(20 + (EPISODE_CYCLES - 20) * uniform(e))
    q[at.root + 2] += 0.003
    for i in range(3):
        v[at.rate + i], v[at.rate + 3 + i] = 0.05 * about_normal(e), 0.1 * about_normal(e)
        s.gyro[i], e.velocity[i], e.last[i] = v[at.rate + 3 + i], 0.0, v[at.rate + i]
    # The heading, times a small tilt.
    roll, pitch, yaw = 0.02 * about_normal(e), 0.02 * about_normal(e), math.pi * signed(e)
    cos, sin = math.cos(yaw / 2), math.sin(yaw / 2)
    q[at.root + 3], q[at.root + 6] = cos, sin
    q[at.root + 4], q[at.root + 5] = (cos * roll - sin * pitch) / 2, (cos * pitch + sin * roll) / 2
    for i in range(t.motors):
        # A joint that lies exactly at its stop does not leave it in the league's engine.
        angle = min(max(t.home[i] + 0.03 * about_normal(e), t.lowest[i] + 0.002), t.highest[i] - 0.002)
        q[at.moved[i]] = angle
        s.angles[i], s.before[i], s.action[i], e.action[i] = angle, angle, 0.0, 0.0
        e.pending[i] = t.home[i] if t.position else 0.0
        s.command[i] = e.pending[i]
    for i in range(tables.counts[2]):  # rotors and the like follow their joints, or they would pull at them
        q[tables.hidden[i, 0]] = q[tables.hidden[i, 1]] if tables.hidden[i, 1] >= 0 else 0.0
    s.up[0], s.up[1], s.up[2] = pitch, -roll, 1.0
    e.yaw, e.heading = yaw, yaw
    _draw_command(e, r)
    for i in range(3):
        e.command[i] = 0.0
    _ease_command(e, t, r)
    e.push = int(50 + 250 * uniform(e))
    s.steps, s.clock = not e.still, 0.5 if uniform(e) < 0.5 else 0.0
    # The delay of commands is that of the league's server, or unknown.
    e.prompt = t.position and uniform(e) < 0.5
    _set_wanted(e, s, r)
    set_walk_task(s)
    observe(s, t, robots.observation[n])
    for i in range(robots.truth.shape[1]):
        robots.truth[n, i] = 0.0


@kernel
def command_pending(q: Floats, at: LearningBody, t: PolicyTable, e: WalkEpisode, commands: Floats) -> None:
    """Commands of one robot's motors in the next cycle, (motors,): what was decided a cycle ago; neck, arms, toes."""
    for i in range(t.motors):
        commands[at.moved_motors[i]] = e.pending[i]
    for i in range(at.other_count):
        neck = e.head[i] if i < at.neck_count else 0.0
        if t.position:
            commands[at.other_motors[i]] = at.other_home[i] + 0.5 * neck
        else:
            now = q[at.others[i]]
            speed = HEAD_GAIN * (neck - now) if i < at.neck_count else -TOE_GAIN * now
            commands[at.other_motors[i]] = min(max(speed, -HEAD_SPEED), HEAD_SPEED)


@for_each_world
def command_walk(n: int, count: int, tables: WalkTables, robots: Walkers) -> None:  # noqa: ARG001
    """The commands of robot n's motors in the next cycle."""
    at, t, s, e = tables.body[0], tables.numbers[0], robots.states[n], robots.episodes[n]
    command_pending(robots.qpos[n], at, t, e, robots.ctrl[n])
    for i in range(t.motors):
        e.action[i] = s.action[i]
    follow(s, t, robots.action[n])
    for i in range(t.motors):
        e.pending[i] = s.command[i]
        if e.prompt:
            robots.ctrl[n, at.moved_motors[i]] = s.command[i]


@kernel
def sense(q: Floats, v: Floats, body: Body, e: WalkEpisode, s: PolicyState) -> None:
    """What one robot feels after a cycle: gyro, upward direction, and its joints as they will be."""
    at, t, r = body[0][0], body[1][0], body[2][0]
    w, x, y, z = q[at.root + 3], -q[at.root + 4], -q[at.root + 5], -q[at.root + 6]
    fx, fy = (v[at.rate] - e.last[0]) / t.period, (v[at.rate + 1] - e.last[1]) / t.period
    fz = (v[at.rate + 2] - e.last[2]) / t.period + STANDARD_GRAVITY
    cx, cy, cz = 2 * (y * fz - z * fy), 2 * (z * fx - x * fz), 2 * (x * fy - y * fx)
    force = (fx + w * cx + (y * cz - z * cy), fy + w * cy + (z * cx - x * cz), fz + w * cz + (x * cy - y * cx))
    for i in range(3):
        e.last[i] = v[at.rate + i]
        s.gyro[i] = v[at.rate + 3 + i] + r.noise * about_normal(e)
    estimate_up(s.gyro, force, t.period, s.up)
    for i in range(t.motors):
        # Velocity drives follow so closely that their joints are known when the next command acts.
        ahead = q[at.moved[i]] + (0.0 if t.position else t.period * e.pending[i])
        s.angles[i] = min(max(ahead, t.lowest[i]), t.highest[i])


@kernel
def _move_on(q: Floats, v: Floats, body: Body, e: WalkEpisode) -> float:
    """Where one robot has come in a cycle: its velocities and headings; returns the heading that is missing."""
    at, t = body[0][0], body[1][0]
    yaw = heading_of((q[at.root + 3], q[at.root + 4], q[at.root + 5], q[at.root + 6]))
    # Velocities are averaged over a step.
    cos, sin, share = math.cos(yaw), math.sin(yaw), 2 * t.period / t.stride
    ahead, left = cos * v[at.rate] + sin * v[at.rate + 1], cos * v[at.rate + 1] - sin * v[at.rate]
    turned = wrap_angle_exactly(yaw - e.yaw) / t.period
    e.velocity[0] += share * (ahead - e.velocity[0])
    e.velocity[1] += share * (left - e.velocity[1])
    e.velocity[2] += share * (turned - e.velocity[2])
    e.yaw = yaw
    missing = wrap_angle_exactly(e.heading + t.period * e.command[2] - yaw)
    # As a player does: what is too far astray is let go.
    missing = min(max(missing, -MAX_HEADING_ERROR), MAX_HEADING_ERROR)
    e.heading = wrap_angle_exactly(yaw + missing)
    return missing


@kernel
def _sole_height(q: Floats, feet: FeetTable, foot: int, up: tuple[float, float, float]) -> float:
    """How high the sole of a foot is above the torso [m], from the angles of the joints between them."""
    x, y, z = feet.sole[foot, 0], feet.sole[foot, 1], feet.sole[foot, 2]
    for i in range(feet.links[foot]):
        if feet.address[foot, i] >= 0:
            # The rotation about a joint's axis (Rodrigues), then the frame of the body towards the torso.
            angle = q[feet.address[foot, i]] - feet.zero[foot, i]
            a, b, c = feet.axis[foot, i, 0], feet.axis[foot, i, 1], feet.axis[foot, i, 2]
            ox, oy, oz = feet.anchor[foot, i, 0], feet.anchor[foot, i, 1], feet.anchor[foot, i, 2]
            x, y, z, cos, sin = x - ox, y - oy, z - oz, math.cos(angle), math.sin(angle)
            along = (a * x + b * y + c * z) * (1 - cos)
            x, y, z = (
                ox + cos * x + sin * (b * z - c * y) + along * a,
                oy + cos * y + sin * (c * x - a * z) + along * b,
                oz + cos * z + sin * (a * y - b * x) + along * c,
            )
        m, o = feet.turn[foot, i], feet.offset[foot, i]
        x, y, z = (
            o[0] + m[0, 0] * x + m[0, 1] * y + m[0, 2] * z,
            o[1] + m[1, 0] * x + m[1, 1] * y + m[1, 2] * z,
            o[2] + m[2, 0] * x + m[2, 1] * y + m[2, 2] * z,
        )
    return float(up[0] * x + up[1] * y + up[2] * z)


@kernel
def earned(body: Body, e: WalkEpisode, s: PolicyState, missing: float, soles: Floats32, feet: FeetTable) -> float:
    """The reward of a second for following the command, and for steps as the clock has them."""
    t, r = body[1][0], body[2][0]
    x, y = e.velocity[0] - e.command[0], e.velocity[1] - e.command[1]
    off, size = math.sqrt(x * x + y * y), math.sqrt(e.command[0] ** 2 + e.command[1] ** 2)
    turning = abs(e.velocity[2] - s.wanted[2])
    missed = off / (size + SLACK * r.fastest[0])
    total = r.turn * (math.exp(-((turning / 0.5) ** 2)) + 0.5 * (1.0 - min(turning / (abs(s.wanted[2]) + 0.5), 1.5)))
    total += r.heading * (math.exp(-((missing / 0.1) ** 2)) - 2.0 * abs(missing))
    wave = math.sin(2 * math.pi * (s.clock - t.period / t.stride)) if s.steps else 0.0
    for foot in range(feet.feet):
        # A swinging foot earns in proportion to its height, so that the first millimetres count as much as the last.
        swing = max(wave if feet.group[foot] == 0 else -wave, 0.0)
        high = 1.0 - abs(soles[foot] / r.foot_height - swing) / max(swing, 0.1)
        low = math.exp(-((soles[foot] / (FOOT_WIDTH * r.foot_height)) ** 2))
        total += r.feet / feet.feet * (swing * max(high, 0.0) + (1.0 - swing) * low)
    # Turning and stepping on the spot can be had without going anywhere: they count less the more is missed.
    total *= 1.0 - SPOT_LOSS * min(missed, 1.0)
    total += r.follow * (1.0 - min(missed, 1.5)) + r.exact * math.exp(-((off / (EXACT * r.fastest[0])) ** 2))
    if e.command[0] > SLACK * r.fastest[0]:
        e.ahead += e.velocity[0]
        e.wanted_ahead += e.command[0]
    e.error += missed
    e.turn_error += turning
    e.counted += 1
    return float(total)


@kernel
def spent(body: Body, e: WalkEpisode, s: PolicyState, tilt: float, rates: float) -> float:
    """The costs of a second: leaning, rocking, fast joints, large and changing actions, and joints off the stance."""
    at, t, r = body[0][0], body[1][0], body[2][0]
    speeds, actions, changes, arms, posture = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(t.motors):
        off = s.angles[i] - t.home[i]
        speeds += ((s.angles[i] - s.before[i]) / t.period / FULL_SPEED) ** 2
        actions += s.action[i] ** 2
        changes += (s.action[i] - e.action[i]) ** 2
        arms += at.arms[i] * off * off
        posture += off * off
    total = r.tilt * tilt + r.rates * rates + 0.01 * speeds + r.arms * arms
    total += r.action * actions / t.motors + r.change * changes + r.posture * posture
    return float(total + (0.1 * (speeds + posture) if e.still else 0.0))


@kernel
def go_on(v: Floats, body: Body, e: WalkEpisode, s: PolicyState) -> None:
    """What happens next to one robot: pushes, other commands, the end of its steps."""
    at, t, r = body[0][0], body[1][0], body[2][0]
    if e.cycle >= e.push:
        angle, push = 2 * math.pi * uniform(e), r.push * r.level * uniform(e)
        v[at.rate] += push * math.cos(angle)
        v[at.rate + 1] += push * math.sin(angle)
        e.last[0], e.last[1] = v[at.rate], v[at.rate + 1]  # the accelerometer does not feel the jump
        e.push = e.cycle + int(100 + 200 * uniform(e))
    if e.cycle >= e.change:
        _draw_command(e, r)
    _ease_command(e, t, r)
    if not e.still and not s.steps:
        s.steps, s.clock = True, 0.5 if uniform(e) < 0.5 else 0.0
    # A step that was begun is ended before the clock stops.
    if e.still and s.steps and s.clock % 0.5 < t.period / t.stride:
        s.steps = False
    _set_wanted(e, s, r)


@kernel
def _is_finite(q: Floats, v: Floats) -> bool:
    """Whether the numbers of one world are such that it can go on."""
    finite = True
    for i in range(len(q)):
        finite = finite and abs(q[i]) < LARGEST
    for i in range(len(v)):
        finite = finite and abs(v[i]) < LARGEST
    return finite


@for_each_world
def judge_walk(n: int, count: int, tables: WalkTables, robots: Walkers) -> None:  # noqa: ARG001
    """Senses, reward and end of robot n after a cycle, and what it sees then."""
    at, t, r, feet = tables.body[0], tables.numbers[0], tables.rewards[0], tables.feet[0]
    e, s, q, v, truth = robots.episodes[n], robots.states[n], robots.qpos[n], robots.qvel[n], robots.truth[n]
    e.cycle += 1
    if not _is_finite(q, v):  # a world that broke down ends, and nothing of it is learned from
        give_up(n, e, robots)
        return
    sense(q, v, tables, e, s)
    missing = _move_on(q, v, tables, e)
    up = upward((q[at.root + 3], q[at.root + 4], q[at.root + 5], q[at.root + 6]))
    soles = truth[6:]
    for foot in range(feet.feet):
        soles[foot] = q[at.root + 2] + _sole_height(q, feet, foot, up)
    rates = v[at.rate + 3] ** 2 + v[at.rate + 4] ** 2
    total = earned(tables, e, s, missing, soles, feet) - spent(tables, e, s, up[0] ** 2 + up[1] ** 2, rates)
    total -= r.bounce * v[at.rate + 2] ** 2
    fell = up[2] < FALLEN_UP or q[at.root + 2] < FALLEN_HEIGHT * r.stand_height
    robots.ended[n], robots.cut[n] = fell, e.cycle >= e.ends and not fell
    e.falls += int(fell)
    robots.reward[n] = total * t.period - (r.fall if fell else 0.0)
    cos, sin = math.cos(e.yaw), math.sin(e.yaw)
    truth[0] = cos * v[at.rate] + sin * v[at.rate + 1]
    truth[1] = cos * v[at.rate + 1] - sin * v[at.rate]
    truth[2], truth[3] = v[at.rate + 5], missing
    truth[4], truth[5] = v[at.rate + 2], q[at.root + 2]
    go_on(v, tables, e, s)
    set_walk_task(s)
    observe(s, t, robots.observation[n])


@kernel
def give_up(n: int, e: WalkEpisode, robots: Walkers) -> None:
    """Ends the episode of robot n, whose world has broken down."""
    e.broken += 1
    robots.ended[n], robots.cut[n], robots.reward[n] = True, False, -1.0
    for i in range(robots.observation.shape[1]):
        robots.observation[n, i] = 0.0
    for i in range(robots.truth.shape[1]):
        robots.truth[n, i] = 0.0
