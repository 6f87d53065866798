"""A cycle of the pendulum walk, compiled: section 3 of MacAlpine and others (2012), sensing, and motor commands.

The paper does not number its equations; here they have the numbers S1 to S17 in its order. Misprints are corrected,
and the function says so; `as_printed` of a walk takes them as they are. Lengths are in metres (k = sqrt(9.80665 /
z_torso); the paper has 9806.65 with millimetres).

| no.      | what                                       | where                                |
|----------|--------------------------------------------|--------------------------------------|
| S1, S2   | step sizes follow the wanted ones, cropped | `filtered`                           |
| S3       | the phase and its share t                  | `advance`, `fraction`                |
| S4       | k                                          | `half_k`, which is k / 2             |
| S5 - S7  | the exchange of the pendulums              | `exchanged`                          |
| S8, S9   | heights of the feet                        | `_lifted_share`, `place`              |
| S10, S11 | feet aside                                 | `swayed`, `_moved_share`, `place`     |
| S12, S13 | feet ahead                                 | `_swung_share`, `place`               |
| S14      | offset of both feet                        | `place`                              |
| S15      | the groin                                  | `_moved_share`, `place`               |
| S16, S17 | stability                                  | `estimate_stability`                 |

The equations are written for one robot, on scalars, records and rows of arrays: its parameters are a record of
`PendulumWalkSettings`, its state is one of `walker.WalkState`, its motors are of `walker.Motor`. The same functions run
on two processors. On this one, the functions with an s (`advance_walks`) go robot by robot over N of them: one robot
costs a few microseconds, and its numbers never depend on its neighbours. On a GPU each robot is a thread
(`learning.course_kernels`), so nothing here allocates memory or calls numpy.

A cycle is `filter_gyros`, `estimate_stabilities`, `change_sets`, `advance_walks`, `place_feet`, `command_motors`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.motion.legs.nao_kernels import mass_centre, sole_position, solve_leg
from nutmeg.motion.walk.settings import EXCHANGE_COSH, FOOT_TURN_RATIO, PRINTED_EQUATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.legs.nao import NaoLegs
    from nutmeg.motion.walk.settings import PendulumWalkSettings
    from nutmeg.motion.walk.walker import WalkState

    Records = NDArray[np.void]

_FALLBACK_PHASE = -0.5  # phi_start when the exchange has no solution
PRINTED_EXCHANGE, PRINTED_LIFT, PRINTED_SIDE, PRINTED_AHEAD, PRINTED_STABILITY = PRINTED_EQUATIONS.values()
"""Numbers of the equations that `as_printed` chooses."""
_LOGISTIC_END = 1 / (1 + math.exp(5.0))  # the logistic curve at five units below its middle
HIP_ROLL, HIP_PITCH, ANKLE_PITCH, ANKLE_ROLL = 1, 2, 4, 5
"""Joints of a leg, by their index in `legs.nao.LEG_JOINTS`."""


@kernel
def may_stop(walks: Records, states: Records, step_left: Floats, feet_down: float) -> NDArray[np.bool_]:
    """Whether each robot can end its walk, (N,): its steps are small and both feet are on the ground (a step begins).

    Args:
        walks: records of `PendulumWalkSettings`, (N,).
        states: records of `WalkState`, (N,).
        step_left: step sizes that may end, (3,) [m, m, rad].
        feet_down: time from the beginning of a step during which both feet count as on the ground [s].
    """
    may = np.empty(len(states), np.bool_)
    for n in range(len(states)):
        s, small = states[n], True
        for i in range(3):
            small = small and abs(s.step[i]) <= step_left[i]
        into_step = fraction(s.phi, s.phi_start, s.phi_end) * ((s.phi_end - s.phi_start) * walks[n].phi_length)
        may[n] = small and into_step < feet_down
    return may


@kernel
def half_k(z_torso: float) -> float:
    """S4, halved: K = k / 2, k = sqrt(g / z_torso). The printed `k - 0.5 phi` means 0.5 k phi = K phi."""
    return math.sqrt(STANDARD_GRAVITY / z_torso) / 2


@kernel
def filtered(step: float, desired: float, delta: float, max_change: float, lowest: float, highest: float) -> float:
    """S1: step + delta (desired - step), a change of at most `max_change`; S2: cropped to the longest steps."""
    change = min(max(delta * (desired - step), -max_change), max_change)
    return min(max(step + change, lowest), highest)


@kernel
def fraction(phi: float, phi_start: float, phi_end: float) -> float:
    """S3: t, the share of the step that is over."""
    return (phi - phi_start) / (phi_end - phi_start)


@kernel
def exchanged(half: float, phi_end: float) -> tuple[float, float]:
    """phi_start and phi_end of the pendulum that takes over, such that it matches the one that ends.

    S5: alpha = 6 - cosh(K phi_end). S6: phi_start = -acosh(alpha) / K, -0.5 without a solution (printed without the
    minus). S7: phi_end = (phi_end - phi_start) / 2. Where they meet, the sway of both is the same, for the two
    y_stance add up to y_sep; their velocities are equal after about three exchanges, at phi_end = acosh(3) / K.
    """
    alpha = 2 * EXCHANGE_COSH - math.cosh(half * phi_end)
    start = -math.acosh(alpha) / half if alpha >= 1.0 else _FALLBACK_PHASE
    return start, (phi_end - start) / 2


@kernel
def exchanged_as_printed(half: float, phi_end: float) -> tuple[float, float]:
    """S5 to S7 as they are printed: alpha = 6 - cosh(k - 0.5 phi_end), phi_start = acosh(alpha) / K."""
    alpha = 2 * EXCHANGE_COSH - math.cosh(2 * half - 0.5 * phi_end)
    start = math.acosh(alpha) / half if alpha >= 1.0 else _FALLBACK_PHASE
    return start, (phi_end - start) / 2


@kernel
def is_printed(p: PendulumWalkSettings, equation: int) -> bool:
    """Whether a robot walks by one of `PRINTED_EQUATIONS`, by its number."""
    chosen: bool = int(p.as_printed) & equation != 0
    return chosen


@kernel
def _lifted_share(t: float, f_g: float) -> float:
    """S8: z_frac = (1 - cos(2 pi (t - f_g) / f_a)) / 2 from t = f_g on, f_a = 1 - f_g, and 0 before."""
    aloft = max(t - f_g, 0.0) / max(1 - f_g, 1e-9)
    return (1 - math.cos(2 * math.pi * aloft)) / 2


@kernel
def swayed(half: float, phi: float, y_sep: float, y_shift: float) -> float:
    """S10: y_stance = y_sep / 2 + y_shift (-1.5 + 0.5 cosh(K phi)); y_swing = y_sep - y_stance."""
    return y_sep / 2 + y_shift * (0.5 * math.cosh(half * phi) - 1.5)


@kernel
def _moving_share(t: float, f_s: float) -> float:
    """For S11 to S15: u = (t - f_s) / f_m within 0..1, f_m = 1 - f_s, the share of the swing foot's way in time."""
    return min(max((t - f_s) / (1 - f_s), 0.0), 1.0)


@kernel
def _moved_share(u: float) -> float:
    """S11 and S15: (1 - cos(pi u)) / 2, from 0 to 1 (S11 is printed with a plus, which jumps)."""
    return (1 - math.cos(math.pi * u)) / 2


@kernel
def _swung_share(t: float, f_s: float) -> float:
    """S12 and S13: position of the swing foot ahead, in step sizes.

    Before f_s it moves back with the stance foot, f_s - 0.5 - t; then -0.5 + (1 + f_s) s, where s is the logistic curve
    sigmoid(10 (u - 0.5)) brought to 0..1: with 2 - f_m = 1 + f_s it ends where the stance foot begins, 0.5 + f_s
    (as printed, feet jump by f_s step_x at each exchange).
    """
    if t < f_s:
        return -0.5 - (t - f_s)
    s = (1 / (1 + math.exp(5 - 10 * _moving_share(t, f_s))) - _LOGISTIC_END) / (1 - 2 * _LOGISTIC_END)
    return (1 + f_s) * s - 0.5


@kernel
def _swung_share_as_printed(t: float, f_s: float) -> float:
    """S12 and S13 as they are printed: -0.5 + s after f_s, with s = sigmoid(10 (u - 0.5)) as it is."""
    if t < f_s:
        return -0.5 - (t - f_s)
    return 1 / (1 + math.exp(5 - 10 * _moving_share(t, f_s))) - 0.5


@kernel
def advance(p: PendulumWalkSettings, s: WalkState, wanted: Floats, period: float) -> None:
    """Advances a robot's step sizes and phase by a cycle towards wanted velocities: ahead, left, turn, (3,)."""
    step_time = (s.phi_end - s.phi_start) * p.phi_length
    for i in range(3):
        desired = wanted[i] * step_time / (FOOT_TURN_RATIO if i == 2 else 1.0)
        s.step[i] = filtered(s.step[i], desired, s.step_delta[i], s.max_change[i], s.lowest_step[i], s.highest_step[i])
    s.phi += period / p.phi_length  # S3
    if s.phi >= s.phi_end:
        # The time by which the step exceeded its end counts for the next one, so that the rhythm does not depend on
        # the length of a cycle.
        late = s.phi - s.phi_end
        if is_printed(p, PRINTED_EXCHANGE):
            s.phi_start, s.phi_end = exchanged_as_printed(s.half_k, s.phi_end)
        else:
            s.phi_start, s.phi_end = exchanged(s.half_k, s.phi_end)
        s.phi = s.phi_start + late
        s.swing = 1 - s.swing


@kernel
def advance_walks(walks: Records, states: Records, wanted: Floats, period: float) -> bool:
    """`advance` for N robots; False, and nothing done, if a wanted velocity (N, 3) is not finite."""
    if not np.isfinite(wanted).all():
        return False
    for n in range(len(walks)):
        advance(walks[n], states[n], wanted[n], period)
    return True


@kernel
def place_feet(walks: Records, states: Records) -> None:
    """`place` for N robots: sets the targets of the feet, `feet`, `groin` and `lifted` of the states (N,)."""
    for n in range(len(walks)):
        place(walks[n], states[n])


@kernel
def place(p: PendulumWalkSettings, s: WalkState) -> None:
    """Targets of one robot's feet, S8 to S15."""
    t = fraction(s.phi, s.phi_start, s.phi_end)
    feet, swing, stance = s.feet, s.swing, 1 - s.swing
    # S17: the stability scales the step.
    step_x, step_y, turn = s.step[0] * s.stability, s.step[1] * s.stability, s.step[2] * s.stability
    # S13, S14: ahead; the stance foot moves back evenly, and both are offset.
    ahead = p.x_offset + p.com_x - step_x * p.x_factor
    swung_ahead = _swung_share_as_printed(t, p.f_s) if is_printed(p, PRINTED_AHEAD) else _swung_share(t, p.f_s)
    feet[swing, 0] = step_x * swung_ahead + ahead
    feet[stance, 0] = step_x * (0.5 - (t - p.f_s)) + ahead
    # S11, S15: aside and in a turn both feet spread while the leading one swings, and close while the other does
    # (as printed, with the stance foot alone, the robot falls). `side_split` shifts a side step to the leading foot.
    moved = _moved_share(_moving_share(t, p.f_s))
    side_moved = moved
    if is_printed(p, PRINTED_SIDE) and t >= p.f_s:
        side_moved = 1 - moved
    left = swing == 0
    leads, opens = (step_y > 0) == left, (turn > 0) == left
    s.groin = abs(turn) * (moved if opens else 1 - moved)
    wider = abs(step_y) * (side_moved if leads else 1 - side_moved) + s.groin * p.turn_sep / 2
    whole, swung = 2 * wider, wider * 2 * (p.side_split if leads else 1 - p.side_split)
    if is_printed(p, PRINTED_SIDE):
        whole, swung = wider, 0.0
    y_stance = swayed(s.half_k, s.phi, p.y_sep, p.y_shift)
    feet[swing, 1] = p.y_sep - y_stance + swung
    feet[stance, 1] = y_stance + whole - swung
    feet[1, 1] *= -1
    feet[0, 1] += p.com_y
    feet[1, 1] += p.com_y
    # S9: z_stance = z_torso, z_swing = z_torso - z_step z_frac, downward.
    height = max(p.z_step + p.lift_x * abs(step_x) + p.lift_y * abs(step_y), 0.0)
    early = is_printed(p, PRINTED_LIFT) and t > 1 - p.f_g
    s.lifted[swing], s.lifted[stance] = 0.0 if early else _lifted_share(t, p.f_g), 0.0
    feet[swing, 2] = height * s.lifted[swing] - p.z_torso
    feet[stance, 2] = -p.support_push * math.sin(math.pi * t) - p.z_torso


@kernel
def _derive(p: PendulumWalkSettings, s: WalkState, period: float) -> None:
    """Computes the numbers of the state that follow from a robot's parameters."""
    s.half_k = half_k(p.z_torso)
    for i in range(3):
        highest = p.max_step_x if i == 0 else (p.max_step_y if i == 1 else p.max_step_turn)
        pace = 1.0 if i == 0 else (p.side_delta if i == 1 else p.turn_delta)
        s.highest_step[i] = highest
        s.lowest_step[i] = -highest * p.back_share if i == 0 else -highest
        s.step_delta[i] = min(max(p.delta * pace, 0.0), 1.0)
        s.max_change[i] = p.step_change * pace * highest
    s.delay = round(p.sensing_delay / period)


@kernel
def adopt(p: PendulumWalkSettings, s: WalkState, period: float) -> None:
    """Continues the walk with changed parameters at the same share of the step."""
    before = s.half_k
    _derive(p, s, period)
    scale = before / s.half_k
    s.phi *= scale
    s.phi_start *= scale
    s.phi_end *= scale


@kernel
def begin_walk(p: PendulumWalkSettings, s: WalkState) -> None:
    """Resets a robot to the start of a step on the spot, with the left foot."""
    for i in range(3):
        s.step[i] = 0.0
    s.swing, s.stability = 0, 1.0
    s.phi_end = -_FALLBACK_PHASE if is_printed(p, PRINTED_EXCHANGE) else math.acosh(EXCHANGE_COSH) / s.half_k
    s.phi_start = s.phi = -s.phi_end
    place(p, s)


@kernel
def begin_walks(walks: Records, states: Records, rows: Indices) -> None:
    """`begin_walk` for robots `rows` (n,) of N."""
    for n in rows:
        begin_walk(walks[n], states[n])


@kernel
def adopt_sets(walks: Records, states: Records, values: Floats, rows: Indices, goals: Floats, period: float) -> None:
    """Gives robots `rows` (n,) of N the parameters `goals` (n, parameters); `values` (N, parameters) are the walks."""
    for row in range(len(rows)):
        n = rows[row]
        values[n] = goals[row]
        adopt(walks[n], states[n], period)


@kernel
def change_set(
    p: PendulumWalkSettings, values: Floats, s: WalkState, sets: Floats, chosen: int, cycles: int, period: float
) -> None:
    """Moves a robot's parameters by one cycle towards those of the chosen set.

    Args:
        p: parameters in use; changed.
        values: the same memory as an array, (parameters,).
        s: state of the walk; changed.
        sets: the sets to choose from, (sets, parameters).
        chosen: index of the wanted set.
        cycles: number of cycles that a change takes.
        period: control cycle [s].
    """
    if chosen != s.towards:
        s.towards, s.switch_cycles = chosen, cycles
    left = s.switch_cycles
    if left > 0:
        for k in range(len(values)):
            goal = sets[chosen, k]
            values[k] = goal if left == 1 else values[k] + (goal - values[k]) / left
        adopt(p, s, period)
        s.switch_cycles = left - 1


@kernel
def change_sets(
    walks: Records, values: Floats, states: Records, sets: Floats, chosen: Indices, cycles: int, period: float
) -> None:
    """`change_set` for N robots with sets (sets, N, parameters)."""
    for n in range(len(walks)):
        change_set(walks[n], values[n], states[n], sets[:, n], chosen[n], cycles, period)


@kernel
def filter_gyro(p: PendulumWalkSettings, s: WalkState, gyro: Floats) -> None:
    """Low-pass filters the rates of roll and pitch of one robot, (3,) [rad/s], into `gyro` of its state."""
    for axis in range(2):
        s.gyro[axis] += (1 - p.gyro_smoothing) * (gyro[axis] - s.gyro[axis])


@kernel
def filter_gyros(walks: Records, states: Records, gyro: Floats) -> None:
    """`filter_gyro` for N robots with rates (N, 3)."""
    for n in range(len(walks)):
        filter_gyro(walks[n], states[n], gyro[n])


@kernel
def upright(place: tuple[float, float, float], roll: float, pitch: float) -> tuple[float, float]:
    """Coordinates ahead and to the left of a point (3,) of the torso's frame in an upright frame: Ry Rx times it."""
    x, y, z = place
    cr, sr = math.cos(roll), math.sin(roll)
    return math.cos(pitch) * x + math.sin(pitch) * (sr * y + cr * z), cr * y - sr * z


@kernel
def estimate_stability(
    p: PendulumWalkSettings,
    s: WalkState,
    legs: NaoLegs,
    addresses: Indices,
    q: Floats,
    tilt: Floats,
    expected: Floats,
    cycle: int,
) -> None:
    """S16 and S17: the error of the centre of mass, and the share of a step that it allows.

    S16: err = max over x and y of |expected - sensed|, the expected one as of `delay` cycles ago. S17: the share
    (err_max - err) / (err_max - err_norm) within 0..1 (printed inverted). The centre of mass is taken from the middle
    of the feet, upright; unless `sense_mass` is set, the torso's origin stands for it.

    Args:
        p: parameters.
        s: state of the walk; its `stability` is changed.
        legs: the record of the robot's legs.
        addresses: addresses of the leg joints in `q`, (2, 6).
        q: configuration of its world, (nq,).
        tilt: roll and pitch of the torso, (2,) [rad].
        expected: ring buffer of the expected centres of mass of former cycles, (cycles, 2) [m]; changed.
        cycle: number of this cycle.
    """
    size = len(expected)
    # Expected, from the targets of the feet; the ring buffer keeps it until sensors show its effect, `delay` cycles
    # later.
    expected[cycle % size, 0] = (s.feet[0, 0] + s.feet[1, 0]) * -0.5
    expected[cycle % size, 1] = (s.feet[0, 1] + s.feet[1, 1]) * -0.5
    if p.sense_mass > 0.0:  # the joints are still those that the last cycle commanded
        x, y = upright(mass_centre(s.joints, legs), -p.lean_y * s.step[1], p.tilt + p.tilt_x * s.step[0])
        expected[cycle % size, 0] += x
        expected[cycle % size, 1] += y
    # Sensed, from the measured joints and the estimated tilt.
    x, y = 0.0, 0.0
    for side in range(2):
        for joint in range(6):
            s.joints[side, joint] = q[addresses[side, joint]] * legs.signs[joint]
        fx, fy = upright(sole_position(s.joints[side], side, legs), tilt[0], tilt[1])
        x += fx
        y += fy
    x, y = x * -0.5, y * -0.5
    if p.sense_mass > 0.0:
        cx, cy = upright(mass_centre(s.joints, legs), tilt[0], tilt[1])
        x += cx
        y += cy
    then = (cycle - s.delay) % size
    error = max(abs(x - expected[then, 0]), abs(y - expected[then, 1]))
    s.stability = min(max((p.err_max - error) / (p.err_max - p.err_norm), 0.0), 1.0)
    if is_printed(p, PRINTED_STABILITY):
        s.stability = 1 - s.stability


@kernel
def estimate_stabilities(
    walks: Records,
    states: Records,
    legs: Records,
    addresses: Indices,
    qpos: Floats,
    tilt: Floats,
    expected: Floats,
    cycle: int,
) -> None:
    """`estimate_stability` for N robots: legs (1,), qpos (N, nq), tilt (N, 2), expected (cycles, N, 2)."""
    for n in range(len(walks)):
        estimate_stability(walks[n], states[n], legs[0], addresses, qpos[n], tilt[n], expected[:, n], cycle)


@kernel
def _leg_angles(p: PendulumWalkSettings, s: WalkState, legs: NaoLegs) -> None:
    """Angles of the legs, `joints` of the state: inverse kinematics of the feet, then the gyro's feedback."""
    # The torso leans with the step: it is rotated by Ry(pitch) Rx(roll), so the feet rotate back in its frame.
    pitch = p.tilt + p.tilt_x * s.step[0]
    roll = -p.lean_y * s.step[1]
    cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
    up = (-sp, sr * cp, cr * cp)
    for side in range(2):
        x, y, z = s.feet[side, 0], s.feet[side, 1], s.feet[side, 2]
        down = sp * x + cp * z
        sole = (cp * x - sp * z, cr * y + sr * down, cr * down - sr * y)
        leg = s.joints[side]
        solve_leg(-s.groin, side, sole, up, legs, leg)
        # Ankles and hips act against the torso's angular rates; the lifted foot is tilted.
        lifted, inner = s.lifted[side], -1.0 if side == 0 else 1.0
        leg[HIP_ROLL] += p.gyro_hip_roll * s.gyro[0]
        leg[HIP_PITCH] += p.gyro_hip_pitch * s.gyro[1]
        leg[ANKLE_PITCH] += p.gyro_ankle_pitch * s.gyro[1] + p.foot_pitch * lifted
        leg[ANKLE_ROLL] += p.gyro_ankle_roll * s.gyro[0] + p.foot_roll * lifted * inner
        for joint in range(6):
            leg[joint] = min(max(leg[joint], legs.limits[side, joint, 0]), legs.limits[side, joint, 1])


@kernel
def command_robot(
    p: PendulumWalkSettings,
    s: WalkState,
    legs: NaoLegs,
    motors: Records,
    q: Floats,
    period: float,
    targets: Floats,
    commands: Floats,
) -> None:
    """Targets of all motors of a robot, and the commands that lead there.

    Args:
        p: parameters.
        s: its `joints` are changed.
        legs: the record of the robot's legs.
        motors: records of the motors, (motors,).
        q: configuration of its world, (nq,).
        period: of a cycle [s].
        targets: joint angles of the former cycle, (motors,) [rad]; changed to those of this cycle.
        commands: changed to the targets, or for velocity drives to the speeds that lead there within a cycle,
            (motors,) [rad or rad/s].
    """
    _leg_angles(p, s, legs)
    for m in range(len(motors)):
        motor = motors[m]
        if motor.leg_joint >= 0:
            target = s.joints[motor.leg_joint // 6, motor.leg_joint % 6] * motor.sign
        else:
            target = motor.ready
        if motor.shoulder_pitch != 0.0:
            ahead = s.feet[1 - motor.side, 0] - s.feet[motor.side, 0]  # an arm goes with the other side's leg
            target += motor.shoulder_pitch * (p.shoulder_pitch - p.arm_swing * ahead + p.gyro_arm * s.gyro[1])
        target += motor.shoulder_roll * p.shoulder_roll
        target = min(max(target, motor.lowest), motor.highest)
        # A low-pass filter: targets jump when a foot lands early or the feedback is strong.
        target += p.joint_smoothing * (targets[m] - target)
        targets[m] = target
        commands[m] = p.joint_gain * (target - q[motor.address]) / period if motor.velocity else target


@kernel
def command_motors(
    walks: Records,
    states: Records,
    legs: Records,
    motors: Records,
    qpos: Floats,
    period: float,
    targets: Floats,
    commands: Floats,
) -> None:
    """`command_robot` for N robots: legs (1,), motors (motors,), qpos (N, nq), targets and commands (N, motors)."""
    for n in range(len(walks)):
        command_robot(walks[n], states[n], legs[0], motors, qpos[n], period, targets[n], commands[n])
