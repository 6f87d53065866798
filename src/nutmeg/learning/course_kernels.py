"""Courses, compiled: what one robot is to do, what it has gained and lost, and whether it lies.

The functions for one robot work on its record of `courses.Progress`, on records of its targets, and on scalars. On
this processor `judge_robots`, `steer_robots` and `find_lying` go robot by robot for `courses.run_bouts`. On a GPU, or
on Warp's processor device, `walk_cycle` is the whole cycle of one robot: it judges the last cycle, chooses the next
target or the next bout, steers, and walks (`motion.walk.kernels`). `learning.device_bouts` prepares its arguments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nutmeg.base.angle_kernels import heading_of, upward
from nutmeg.base.kernels import for_each_world, kernel
from nutmeg.learning import rewards
from nutmeg.learning.courses import (
    FALLEN_COSINE,
    FALLEN_HEIGHT_SHARE,
    MIN_SPEED,
    REACHED_DISTANCE,
    SPRINT_BEARING,
    TURN_GAIN,
)
from nutmeg.learning.rewards import FALL_COST
from nutmeg.motion.inertial_kernels import NO_NOISE, estimate_tilt, measure_imu
from nutmeg.motion.walk.files import FACING_NUMBERS
from nutmeg.motion.walk.kernels import (
    adopt,
    advance,
    begin_walk,
    change_set,
    command_robot,
    estimate_stability,
    filter_gyro,
    place,
)
from nutmeg.motion.walk.settings import FOOT_TURN_RATIO

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.base.records import Records
    from nutmeg.learning.courses import Progress, TargetRecord
    from nutmeg.learning.device_bouts import BoutRecord, CourseNumbers
    from nutmeg.motion.inertial import ImuSettings
    from nutmeg.motion.legs.nao import NaoLegs
    from nutmeg.motion.walk.settings import PendulumWalkSettings
    from nutmeg.motion.walk.walker import Motor, WalkState

HOLD, TURN_FIRST = FACING_NUMBERS["hold"], FACING_NUMBERS["turn-first"]
target_reward = kernel(rewards.target_reward)
stop_reward = kernel(rewards.stop_reward)
_MAX_COORDINATE = 1e6  # A robot that is farther away than this has left the range of numbers [m]


# ----------------------------------------------------------------------------------------------------
# Targets and rewards


@kernel
def activate(g: Progress, targets: Records[TargetRecord], x: float, y: float) -> None:
    """Makes the target `g.index` of a robot's trajectory the active one; the robot is at (x, y) [m]."""
    target = targets[g.index]
    g.left, g.taken, g.reached = target.cycles, 0, False
    g.origin[0], g.origin[1], g.farthest = x, y, 0.0
    g.goal[0], g.goal[1] = x + target.to[0], y + target.to[1]
    g.whole = math.hypot(g.goal[0] - x, g.goal[1] - y)
    g.to_go = math.hypot(target.to[0], target.to[1])


@kernel
def update(g: Progress, targets: Records[TargetRecord], x: float, y: float) -> None:
    """Takes in where a robot is after a cycle, (x, y) [m]."""
    g.to_go = math.hypot(g.goal[0] - x, g.goal[1] - y)
    g.farthest = max(g.farthest, math.hypot(x - g.origin[0], y - g.origin[1]))
    if not g.reached:
        g.taken += 1
    g.left -= 1
    g.reached = g.reached or (not targets[g.index].stop and g.to_go < REACHED_DISTANCE)


@kernel
def update_robots(progress: Records[Progress], table: Records[Records[TargetRecord]], places: Floats) -> None:
    """`update` for N robots at places (N, 2), with a table of targets (trajectories, targets)."""
    for n in range(len(progress)):
        update(progress[n], table[progress[n].trajectory], places[n, 0], places[n, 1])


@kernel
def activate_robots(
    progress: Records[Progress], table: Records[Records[TargetRecord]], places: Floats, rows: Indices
) -> None:
    """`activate` for robots `rows` (n,) of N at places (N, 2), with a table of targets (trajectories, targets)."""
    for n in rows:
        activate(progress[n], table[progress[n].trajectory], places[n, 0], places[n, 1])


@kernel
def reward(g: Progress, target: TargetRecord) -> tuple[float, float]:
    """Equations 1 and 2, without falls, for a robot's present target: what it gains, and what a stop costs."""
    if target.stop:
        return 0.0, stop_reward(g.farthest)
    if g.reached:
        # A reached target counts with its whole distance but the radius in which it counts as reached.
        return target_reward(g.whole - REACHED_DISTANCE, target.cycles, max(g.taken, 1)), 0.0
    return target_reward(g.whole - g.to_go, target.cycles, target.cycles), 0.0


@kernel
def drop(g: Progress, many: int, lost: Floats) -> None:
    """Takes a fallen robot out: each of its `many` targets from the present one on costs a fall."""
    for target in range(g.index, many):
        lost[target] -= FALL_COST


@kernel
def judge(
    g: Progress,
    targets: Records[TargetRecord],
    many: int,
    x: float,
    y: float,
    lies: bool,
    gained: Floats,
    lost: Floats,
) -> bool:
    """Rewards a robot whose target is over or that lies, and activates the next target.

    Args:
        g: changed.
        targets: of its trajectory, (targets,).
        many: how many of them its trajectory has.
        x: where it is [m].
        y: where it is [m].
        lies: whether it has fallen.
        gained: rewards of the targets, (targets,); changed.
        lost: rewards of stops and falls, (targets,); changed.

    Returns:
        Whether it goes on.
    """
    update(g, targets, x, y)
    over = g.left == 0
    if over or lies:
        gained[g.index], lost[g.index] = reward(g, targets[g.index])
    if lies:
        drop(g, many, lost)
        return False
    if over:
        if g.index == many - 1:
            return False
        g.index += 1
        activate(g, targets, x, y)
    return True


@kernel
def judge_robots(
    progress: Records[Progress],
    table: Records[Records[TargetRecord]],
    lengths: Indices,
    places: Floats,
    lying: Bools,
    active: Bools,
    gained: Floats,
    lost: Floats,
) -> None:
    """`judge` for those of N robots that are active, (N,); those that are done are no longer."""
    for n in range(len(progress)):
        if active[n]:
            g, x, y = progress[n], places[n, 0], places[n, 1]
            many = lengths[g.trajectory]
            active[n] = judge(g, table[g.trajectory], many, x, y, lying[n], gained[n], lost[n])


# ----------------------------------------------------------------------------------------------------
# Falls and steering


@kernel
def _is_lying(pose: Floats, height: float) -> bool:
    """Whether a robot with a torso at `pose` (7,), which was at a height [m] at the start, has fallen."""
    upright = upward((pose[3], pose[4], pose[5], pose[6]))[2]
    lying: bool = upright < FALLEN_COSINE or pose[2] < FALLEN_HEIGHT_SHARE * height
    return lying


@kernel
def find_lying(poses: Floats, height: float, lying: Bools) -> None:
    """`_is_lying` for N robots with poses (N, 7); changes `lying`, (N,)."""
    for n in range(len(poses)):
        lying[n] = _is_lying(poses[n], height)


@kernel
def heading(pose: Floats) -> float:
    """The heading of a torso with a pose (7,) [rad]."""
    return heading_of((pose[3], pose[4], pose[5], pose[6]))


@kernel
def headings(poses: Floats, found: Floats) -> None:
    """`heading` for N robots with poses (N, 7); changes `found`, (N,)."""
    for n in range(len(poses)):
        found[n] = heading(poses[n])


@kernel
def fastest(ahead: float, left: float, top_ahead: float, top_left: float, top_back: float) -> tuple[float, float]:
    """The fastest velocity towards (ahead, left): on an ellipse of the top speeds [m/s]; zero for no direction."""
    length = max(math.hypot(ahead, left), MIN_SPEED)
    unit_x, unit_y = ahead / length, left / length
    along = top_back if unit_x < 0 else top_ahead
    speed = max(math.hypot(unit_x / max(along, MIN_SPEED), unit_y / max(top_left, MIN_SPEED)), MIN_SPEED)
    return unit_x / speed, unit_y / speed


@kernel
def fastest_of_robots(ahead: Floats, top: Floats, back: Floats, found: Floats) -> None:
    """`fastest` for N robots: ahead (N, 2), top speeds (N, 3) and backward (N,); changes `found`, (N, 2)."""
    for n in range(len(ahead)):
        found[n, 0], found[n, 1] = fastest(ahead[n, 0], ahead[n, 1], top[n, 0], top[n, 1], back[n])


@kernel
def _steer_robot(
    x: float, y: float, yaw: float, facing: int, top: tuple[float, float, float], back: float, wanted: Floats
) -> float:
    """Sets the wanted velocity (3,) of a robot with a heading `yaw` towards a place (x, y) from it; its bearing [rad].

    `facing` is one of `FACING_NUMBERS`. `top` are the robot's top speeds ahead, to the left and in a turn, `back` the
    one backward.
    """
    cos, sin = math.cos(yaw), math.sin(yaw)
    ahead, left = cos * x + sin * y, cos * y - sin * x
    bearing = math.atan2(left, ahead)
    wanted[0], wanted[1] = fastest(ahead, left, top[0], top[1], back)
    wanted[2] = min(max(TURN_GAIN * bearing, -top[2]), top[2]) if facing != HOLD else 0.0
    if facing == TURN_FIRST and abs(bearing) > SPRINT_BEARING:
        wanted[0], wanted[1] = 0.0, 0.0
    return bearing


@kernel
def steer_robots(
    way: Floats,
    yaw: Floats,
    facings: Indices,
    moving: Bools,
    top: Floats,
    back: Floats,
    wanted: Floats,
    bearing: Floats,
) -> None:
    """`_steer_robot` for N robots; those that are not `moving` (N,) are to stop."""
    for n in range(len(yaw)):
        speeds = (top[n, 0], top[n, 1], top[n, 2])
        bearing[n] = _steer_robot(way[n, 0], way[n, 1], yaw[n], facings[n], speeds, back[n], wanted[n])
        if not moving[n]:
            wanted[n, 0], wanted[n, 1], wanted[n, 2] = 0.0, 0.0, 0.0


# ----------------------------------------------------------------------------------------------------
# The cycle of one robot in one of N worlds of a device. World n begins with bout n; each bout names the one after it.


class RobotTables(NamedTuple):
    """What all worlds have in common."""

    numbers: Records[CourseNumbers]
    """Numbers of the course and of the robot that walks it, (1,)."""
    legs: Records[NaoLegs]
    """Measures of the legs, (1,)."""
    imu: Records[ImuSettings]
    """Noise of gyro and accelerometer, (1,)."""
    motors: Records[Motor]
    """The motors that the walk commands, (motors,)."""
    leg_addresses: Indices
    """Where the joints of the legs are in `qpos`, (2, 6)."""
    command_addresses: Indices
    """Where the motors are in `ctrl`, (motors,)."""
    rest: Floats
    """The scene's configuration and commands at the start, (nq + nu,): where a world waits that is done."""


class Gaits(NamedTuple):
    """The walks of N worlds."""

    parameters: Records[PendulumWalkSettings]
    """Those in use, (N,)."""
    values: Floats
    """The same memory as an array, (N, parameters)."""
    sets: Floats
    """Those of all B bouts, (sets, B, parameters)."""
    states: Records[WalkState]
    """State of each walk, (N,)."""
    expected: Floats
    """Where the centre of mass was expected in former cycles, (cycles, N, 2) [m]."""
    motors: Floats
    """Targets, then commands of the motors, (2, N, motors)."""
    senses: Floats
    """Velocity a cycle ago, gyro, accelerometer, and wanted velocity, (4, N, 3)."""
    tilt: Floats
    """Estimated roll and pitch of the torsos, (N, 2) [rad]."""


class Bouts(NamedTuple):
    """B bouts, and how far N worlds have come in theirs."""

    table: Records[Records[TargetRecord]]
    """(trajectories, targets)."""
    lengths: Indices
    """Number of targets of each trajectory, (trajectories,)."""
    bouts: Records[BoutRecord]
    """(B,)."""
    gained: Floats
    """Rewards of the targets, without falls, (B, targets) [m]."""
    lost: Floats
    """Rewards of stops and falls, never above 0, (B, targets)."""
    progress: Records[Progress]
    """How far each world has come in its bout, (N,)."""
    present: Indices
    """The bout of each world, (N,): below 0 before its first, B when it is done."""


class Starts(NamedTuple):
    """The states from which B bouts begin."""

    qpos: Floats
    """(B, nq)."""
    qvel: Floats
    """(B, nv)."""
    act: Floats
    """(B, na), or (1, 1) without activations."""
    history: Floats
    """Delayed commands, (B, nhistory), or (1, 1) without delays."""
    tilt: Floats
    """Roll and pitch of the torsos, (B, 2) [rad]."""


class EngineArrays(NamedTuple):
    """The arrays of N worlds that the engine steps."""

    qpos: Floats
    """(N, nq)."""
    qvel: Floats
    """(N, nv)."""
    ctrl: Floats
    """(N, nu)."""
    act: Floats
    """(N, na); any array without activations."""
    history: Floats
    """Delayed commands, (N, nhistory); any array without delays."""
    time: Floats
    """(N,) [s]."""
    guess: Floats
    """Accelerations from which the solver begins, (N, nv)."""


@kernel
def _begin_bout(n: int, b: int, robot: RobotTables, gaits: Gaits, starts: Starts, engine: EngineArrays) -> None:
    """Puts the state, the walk and the senses of world n to the start of bout b."""
    numbers, q, v = robot.numbers[0], engine.qpos[n], engine.qvel[n]
    for i in range(len(q)):
        q[i] = starts.qpos[b, i]
    for i in range(len(v)):
        v[i] = starts.qvel[b, i]
        engine.guess[n, i] = 0.0
    for i in range(numbers.activations):
        engine.act[n, i] = starts.act[b, i]
    for i in range(numbers.history):
        engine.history[n, i] = starts.history[b, i]
    engine.time[n] = 0.0  # delayed commands have times
    p, s = gaits.parameters[n], gaits.states[n]
    for k in range(gaits.values.shape[1]):
        gaits.values[n, k] = gaits.sets[0, b, k]
    s.towards, s.switch_cycles = 0, 0
    adopt(p, s, numbers.period)
    begin_walk(p, s)
    # Filters begin settled: no rotation, the tilt of the start pose, and the centre of mass expected where the feet are
    # now.
    for i in range(2):
        s.gyro[i] = 0.0
        gaits.tilt[n, i] = starts.tilt[b, i]
        for cycle in range(gaits.expected.shape[0]):
            gaits.expected[cycle, n, i] = (s.feet[0, i] + s.feet[1, i]) * -0.5
    for i in range(3):
        # The accelerometer is the change of velocity since the last cycle, smoothed targets begin at the present
        # angles.
        gaits.senses[0, n, i] = v[numbers.root_rate + i]
    for m in range(len(robot.motors)):
        gaits.motors[0, n, m] = q[robot.motors[m].address]


@kernel
def _wait(n: int, robot: RobotTables, engine: EngineArrays) -> None:
    """Holds a world that is done at the start of the scene: a robot that lies would cost more contacts."""
    q, v, rest = engine.qpos[n], engine.qvel[n], robot.rest
    for i in range(len(q)):
        q[i] = rest[i]
    for i in range(len(v)):
        v[i] = 0.0
        engine.guess[n, i] = 0.0
    for i in range(engine.ctrl.shape[1]):
        engine.ctrl[n, i] = rest[len(q) + i]


@kernel
def _next_bout(n: int, robot: RobotTables, gaits: Gaits, bouts: Bouts, starts: Starts, engine: EngineArrays) -> int:
    """Judges world n, and begins its next bout when it is done with one; the bout that it walks now, B for none."""
    numbers, g, b, none = robot.numbers[0], bouts.progress[n], bouts.present[n], bouts.gained.shape[0]
    following = min(n, none) if b < 0 else bouts.bouts[b].following
    pose = engine.qpos[n, numbers.root : numbers.root + 7]
    goes_on = False
    if b >= 0:
        lies = _is_lying(pose, numbers.height)
        for i in range(7):
            # A world that left the range of numbers counts as a fall.
            lies = lies or not abs(pose[i]) < _MAX_COORDINATE
        bouts.bouts[b].cycles += 1
        if lies:
            bouts.bouts[b].fell = True
        many = bouts.lengths[g.trajectory]
        targets = bouts.table[g.trajectory]
        goes_on = judge(g, targets, many, pose[0], pose[1], lies, bouts.gained[b], bouts.lost[b])
    while not goes_on and following < none:
        b, following = following, bouts.bouts[following].following
        _begin_bout(n, b, robot, gaits, starts, engine)
        gaits.states[n].swing = bouts.bouts[b].swing
        g.trajectory, g.index = bouts.bouts[b].trajectory, 0
        activate(g, bouts.table[g.trajectory], pose[0], pose[1])
        goes_on = not _is_lying(pose, numbers.height)
        if not goes_on:
            bouts.bouts[b].fell = True
            drop(g, bouts.lengths[g.trajectory], bouts.lost[b])
    present: int = b if goes_on else none
    bouts.present[n] = present
    return present


@for_each_world
def walk_cycle(
    n: int, _: int, robot: RobotTables, gaits: Gaits, bouts: Bouts, starts: Starts, engine: EngineArrays
) -> None:
    """One control cycle of world n: after the engine has stepped, and before it steps again."""
    if bouts.present[n] >= bouts.gained.shape[0]:
        return
    b = _next_bout(n, robot, gaits, bouts, starts, engine)
    if b >= bouts.gained.shape[0]:
        _wait(n, robot, engine)
        return
    numbers, legs, q, v = robot.numbers[0], robot.legs[0], engine.qpos[n], engine.qvel[n]
    p, s, g, wanted = gaits.parameters[n], gaits.states[n], bouts.progress[n], gaits.senses[3, n]
    period, pose = numbers.period, q[numbers.root : numbers.root + 7]
    # Steering, from the true pose: the top speeds are those of the longest steps.
    step_time = (s.phi_end - s.phi_start) * p.phi_length
    turn_top = s.highest_step[2] * FOOT_TURN_RATIO / step_time
    top = (s.highest_step[0] / step_time, s.highest_step[1] / step_time, turn_top)
    x, y, facing = g.goal[0] - pose[0], g.goal[1] - pose[1], bouts.bouts[b].facing
    bearing = _steer_robot(x, y, heading(pose), facing, top, -s.lowest_step[0] / step_time, wanted)
    moving = not bouts.table[g.trajectory][g.index].stop and not g.reached
    if not moving:
        wanted[0], wanted[1], wanted[2] = 0.0, 0.0, 0.0
    # Sensing and walking, as `Walker.sample` does it.
    last, gyro, acceleration = gaits.senses[0, n], gaits.senses[1, n], gaits.senses[2, n]
    motion = v[numbers.root_rate : numbers.root_rate + 6]
    measure_imu(motion, pose, NO_NOISE, robot.imu[0], last, gyro, acceleration)
    estimate_tilt(gyro, acceleration, period, gaits.tilt[n])
    filter_gyro(p, s, gyro)
    cycle, expected = bouts.bouts[b].cycles, gaits.expected[:, n]
    estimate_stability(p, s, legs, robot.leg_addresses, q, gaits.tilt[n], expected, cycle)
    if gaits.sets.shape[0] > 1:
        chosen = numbers.sprint if moving and abs(bearing) < SPRINT_BEARING else 0
        change_set(p, gaits.values[n], s, gaits.sets[:, b], chosen, numbers.switch_cycles, period)
    advance(p, s, wanted, period)
    place(p, s)
    targets, commands = gaits.motors[0, n], gaits.motors[1, n]
    command_robot(p, s, legs, robot.motors, q, period, targets, commands)
    for m in range(len(robot.motors)):
        engine.ctrl[n, robot.command_addresses[m]] = commands[m]
