"""The pendulum walk as functions of a GPU: the same as `motion.walk.kernels` and `motion.legs.nao_kernels`.

One thread is one robot, and numbers have 32 bits. `motion.walk.kernels` explains the equations; the names are the
same. Parameters of a robot are a row of a table with a column for each field of `PendulumWalkSettings` (`COLUMN`).
"""
# No `from __future__ import annotations`: Warp reads the annotations as they are.

import dataclasses
import math
from typing import Any

import warp as wp

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.motion.walk.kernels import EXCHANGE_COSH, FALLBACK_PHASE, FOOT_TURN_RATIO, LOGISTIC_END
from nutmeg.motion.walk.settings import PendulumWalkSettings

COLUMN = {one.name: number for number, one in enumerate(dataclasses.fields(PendulumWalkSettings))}
"""Where a parameter is in a row."""


def _at(name: str) -> Any:  # noqa: ANN401 (a constant of Warp)
    return wp.constant(COLUMN[name])


MAX_X, MAX_Y, MAX_TURN = _at("max_step_x"), _at("max_step_y"), _at("max_step_turn")
Y_SHIFT, Y_SEP, Z_TORSO, Z_STEP = _at("y_shift"), _at("y_sep"), _at("z_torso"), _at("z_step")
F_G, F_S, PHI_LENGTH, DELTA = _at("f_g"), _at("f_s"), _at("phi_length"), _at("delta")
X_OFFSET, X_FACTOR, ERR_NORM, ERR_MAX = _at("x_offset"), _at("x_factor"), _at("err_norm"), _at("err_max")
BACK_SHARE, SIDE_SPLIT = _at("back_share"), _at("side_split")
SIDE_DELTA, TURN_DELTA, STEP_CHANGE = _at("side_delta"), _at("turn_delta"), _at("step_change")
SENSING_DELAY, COM_X, COM_Y = _at("sensing_delay"), _at("com_x"), _at("com_y")
TILT, TILT_X, LEAN_Y = _at("tilt"), _at("tilt_x"), _at("lean_y")
GYRO_ANKLE_PITCH, GYRO_ANKLE_ROLL = _at("gyro_ankle_pitch"), _at("gyro_ankle_roll")
GYRO_HIP_PITCH, GYRO_HIP_ROLL = _at("gyro_hip_pitch"), _at("gyro_hip_roll")
GYRO_ARM, GYRO_SMOOTHING, ARM_SWING = _at("gyro_arm"), _at("gyro_smoothing"), _at("arm_swing")
SHOULDER_PITCH, SHOULDER_ROLL = _at("shoulder_pitch"), _at("shoulder_roll")
FOOT_PITCH, FOOT_ROLL, LIFT_X, LIFT_Y = _at("foot_pitch"), _at("foot_roll"), _at("lift_x"), _at("lift_y")
SUPPORT_PUSH, TURN_SEP = _at("support_push"), _at("turn_sep")
JOINT_GAIN, JOINT_SMOOTHING = _at("joint_gain"), _at("joint_smoothing")
_GRAVITY, _SWAP, _FIRST = wp.constant(STANDARD_GRAVITY), wp.constant(EXCHANGE_COSH), wp.constant(FALLBACK_PHASE)
_END, TURNED, _PI = wp.constant(LOGISTIC_END), wp.constant(FOOT_TURN_RATIO), wp.constant(math.pi)
_ROOT, _TINY = wp.constant(math.sqrt(0.5)), wp.constant(1e-9)
TRUST = wp.constant(1.0)
PLAUSIBLE = wp.constant(0.3 * STANDARD_GRAVITY)


@wp.struct
class Body:
    """The numbers of a robot: as `Walker` keeps them."""

    legs: wp.array(dtype=float)
    """Lengths and reaches of the legs: thigh, tibia, bow, gap, sole, nearest, farthest, (9,)."""
    hips: wp.array2d(dtype=float)
    limits: wp.array3d(dtype=float)
    """(2, 6, 2)."""
    signs: wp.array(dtype=float)
    """(6,)."""
    leg_addresses: wp.array2d(dtype=int)
    """Addresses of the legs' joints in qpos, (2, 6)."""
    motor_addresses: wp.array(dtype=int)
    """Addresses of the motors' joints in qpos, (motors,)."""
    commands: wp.array(dtype=int)
    """Addresses of the motors in ctrl, (motors,)."""
    motors: wp.array2d(dtype=int)
    held: wp.array2d(dtype=float)
    arms: wp.array(dtype=int)
    root: int
    root_rate: int
    period: float


@wp.struct
class Gait:
    """Where N robots are in their walks."""

    sets: wp.array3d(dtype=float)
    """Parameters, (sets, N, fields)."""
    now: wp.array2d(dtype=float)
    """Those in use, (N, fields)."""
    towards: wp.array(dtype=int)
    left: wp.array(dtype=int)
    phases: wp.array2d(dtype=float)
    """phi, phi_start, phi_end, (N, 3)."""
    swing: wp.array(dtype=int)
    step: wp.array2d(dtype=float)
    feet: wp.array3d(dtype=float)
    """(N, 2, 3)."""
    more: wp.array2d(dtype=float)
    """The groin's opening and how high each foot is, (N, 3)."""
    meant: wp.array3d(dtype=float)
    """(N, cycles, 2)."""
    gyro: wp.array2d(dtype=float)
    """Filtered, (N, 2)."""
    tilt: wp.array2d(dtype=float)
    velocity: wp.array2d(dtype=float)
    """The velocity of the torso a cycle ago, (N, 3)."""
    last: wp.array2d(dtype=float)
    """Targets a cycle ago, (N, motors)."""


@wp.func
def half_k(z_torso: float) -> float:
    """Half of the pendulum's k from the height of the torso, S4."""
    return wp.sqrt(_GRAVITY / z_torso) / 2.0


@wp.func
def acosh(x: float) -> float:
    """Inverse of the hyperbolic cosine."""
    return wp.log(x + wp.sqrt(x * x - 1.0))


@wp.func
def step_time(g: Gait, n: int) -> float:
    """How long a step takes [s]."""
    return (g.phases[n, 2] - g.phases[n, 1]) * g.now[n, PHI_LENGTH]


@wp.func
def place(g: Gait, n: int, stability: float):
    """S8 to S15: targets of the feet."""
    half = half_k(g.now[n, Z_TORSO])
    phi = g.phases[n, 0]
    t = (phi - g.phases[n, 1]) / (g.phases[n, 2] - g.phases[n, 1])
    x, y, turn = g.step[n, 0] * stability, g.step[n, 1] * stability, g.step[n, 2] * stability
    first = g.swing[n]
    other = 1 - first
    f_s = g.now[n, F_S]
    ahead = g.now[n, X_OFFSET] + g.now[n, COM_X] - x * g.now[n, X_FACTOR]
    u = wp.clamp((t - f_s) / (1.0 - f_s), 0.0, 1.0)
    s = (1.0 / (1.0 + wp.exp(5.0 - 10.0 * u)) - _END) / (1.0 - 2.0 * _END)
    share = (1.0 + f_s) * s - 0.5
    if t < f_s:
        share = -0.5 - (t - f_s)
    g.feet[n, first, 0] = x * share + ahead
    g.feet[n, other, 0] = x * (0.5 - (t - f_s)) + ahead
    moved = (1.0 - wp.cos(_PI * u)) / 2.0
    left = first == 0
    split = g.now[n, SIDE_SPLIT]
    aside = moved
    if (y > 0.0) != left:
        aside = 1.0 - moved
        split = 1.0 - split
    opened = moved
    if (turn > 0.0) != left:
        opened = 1.0 - moved
    groin = wp.abs(turn) * opened
    wider = wp.abs(y) * aside + groin * g.now[n, TURN_SEP] / 2.0
    swung = wider * 2.0 * split
    stance = g.now[n, Y_SEP] / 2.0 + g.now[n, Y_SHIFT] * (0.5 * wp.cosh(half * phi) - 1.5)
    g.feet[n, first, 1] = g.now[n, Y_SEP] - stance + swung
    g.feet[n, other, 1] = stance + 2.0 * wider - swung
    g.feet[n, 1, 1] = -g.feet[n, 1, 1]
    g.feet[n, 0, 1] = g.feet[n, 0, 1] + g.now[n, COM_Y]
    g.feet[n, 1, 1] = g.feet[n, 1, 1] + g.now[n, COM_Y]
    aloft = wp.max(t - g.now[n, F_G], 0.0) / wp.max(1.0 - g.now[n, F_G], _TINY)
    lifted = (1.0 - wp.cos(2.0 * _PI * aloft)) / 2.0
    height = wp.max(g.now[n, Z_STEP] + g.now[n, LIFT_X] * wp.abs(x) + g.now[n, LIFT_Y] * wp.abs(y), 0.0)
    g.feet[n, first, 2] = height * lifted - g.now[n, Z_TORSO]
    g.feet[n, other, 2] = -g.now[n, SUPPORT_PUSH] * wp.sin(_PI * t) - g.now[n, Z_TORSO]
    g.more[n, 0] = groin
    g.more[n, 1 + first] = lifted
    g.more[n, 2 - first] = 0.0


@wp.func
def filtered(g: Gait, n: int, axis: int, desired: float, pace: float, lowest: float, highest: float):
    """A step size that follows the wanted one, and stays within its limits: S1 and S2."""
    step = g.step[n, axis]
    most = g.now[n, STEP_CHANGE] * pace * highest
    change = wp.clamp(wp.clamp(g.now[n, DELTA] * pace, 0.0, 1.0) * (desired - step), -most, most)
    g.step[n, axis] = wp.clamp(step + change, lowest, highest)


@wp.func
def advance(g: Gait, n: int, period: float, wanted: wp.vec3):
    """S1 to S7: step sizes and phases."""
    seconds = step_time(g, n)
    top = g.now[n, MAX_X]
    filtered(g, n, 0, wanted[0] * seconds, 1.0, -top * g.now[n, BACK_SHARE], top)
    top = g.now[n, MAX_Y]
    filtered(g, n, 1, wanted[1] * seconds, g.now[n, SIDE_DELTA], -top, top)
    top = g.now[n, MAX_TURN]
    filtered(g, n, 2, wanted[2] * seconds / TURNED, g.now[n, TURN_DELTA], -top, top)
    g.phases[n, 0] = g.phases[n, 0] + period / g.now[n, PHI_LENGTH]
    if g.phases[n, 0] >= g.phases[n, 2]:
        late = g.phases[n, 0] - g.phases[n, 2]
        half = half_k(g.now[n, Z_TORSO])
        end = g.phases[n, 2]
        alpha = 2.0 * _SWAP - wp.cosh(half * end)
        start = float(_FIRST)
        if alpha >= 1.0:
            start = -acosh(alpha) / half
        g.phases[n, 1] = start
        g.phases[n, 2] = (end - start) / 2.0
        g.phases[n, 0] = start + late
        g.swing[n] = 1 - g.swing[n]


@wp.func
def change(g: Gait, n: int, chosen: int, cycles: int):
    """Brings the parameters a cycle nearer to those of the chosen set."""
    if chosen != g.towards[n]:
        g.towards[n] = chosen
        g.left[n] = cycles
    left = g.left[n]
    if left > 0:
        before = half_k(g.now[n, Z_TORSO])
        for k in range(g.now.shape[1]):
            goal = g.sets[chosen, n, k]
            now = g.now[n, k]
            g.now[n, k] = now + (goal - now) / float(left)
        scale = before / half_k(g.now[n, Z_TORSO])
        for k in range(3):
            g.phases[n, k] = g.phases[n, k] * scale
        g.left[n] = left - 1


@wp.func
def feel(g: Gait, b: Body, n: int, qpos: wp.array2d(dtype=float), qvel: wp.array2d(dtype=float)):
    """Gyro and tilt, as `measure_imu` and `estimate_tilt`, without noise and steps."""
    a = b.root_rate
    now = wp.vec3(qvel[n, a], qvel[n, a + 1], qvel[n, a + 2])
    rates = wp.vec3(qvel[n, a + 3], qvel[n, a + 4], qvel[n, a + 5])
    before = wp.vec3(g.velocity[n, 0], g.velocity[n, 1], g.velocity[n, 2])
    force = (now - before) / b.period + wp.vec3(0.0, 0.0, _GRAVITY)
    for k in range(3):
        g.velocity[n, k] = now[k]
    q = wp.quat(qpos[n, b.root + 4], qpos[n, b.root + 5], qpos[n, b.root + 6], qpos[n, b.root + 3])
    felt = wp.quat_rotate_inv(q, force)
    keep = g.now[n, GYRO_SMOOTHING]
    for k in range(2):
        g.gyro[n, k] = g.gyro[n, k] + (1.0 - keep) * (rates[k] - g.gyro[n, k])
    roll = g.tilt[n, 0] + b.period * (rates[0] + g.tilt[n, 1] * rates[2])
    pitch = g.tilt[n, 1] + b.period * (rates[1] - g.tilt[n, 0] * rates[2])
    if wp.abs(wp.length(felt) - _GRAVITY) < PLAUSIBLE:
        upward = wp.max(felt[2], 1.0e-3)
        share = b.period / TRUST
        roll += share * (wp.atan2(felt[1], upward) - roll)
        pitch += share * (wp.atan2(-felt[0], upward) - pitch)
    g.tilt[n, 0] = roll
    g.tilt[n, 1] = pitch


@wp.func
def turned(angle: float, side: int, v: wp.vec3) -> wp.vec3:
    """A vector as the pelvis sees it, turned back by HipYawPitch (Rodrigues' formula)."""
    az = _ROOT
    if side == 0:
        az = -_ROOT
    cos = wp.cos(angle)
    sin = -wp.sin(angle)
    along = (_ROOT * v[1] + az * v[2]) * (1.0 - cos)
    return wp.vec3(
        v[0] * cos + (_ROOT * v[2] - az * v[1]) * sin,
        v[1] * cos + az * v[0] * sin + _ROOT * along,
        v[2] * cos - _ROOT * v[0] * sin + az * along,
    )


@wp.func
def sole(b: Body, n: int, side: int, qpos: wp.array2d(dtype=float)) -> wp.vec3:
    """Where a sole is, as the torso sees it."""
    q0 = qpos[n, b.leg_addresses[side, 0]] * b.signs[0]
    roll = qpos[n, b.leg_addresses[side, 1]] * b.signs[1]
    upper = qpos[n, b.leg_addresses[side, 2]] * b.signs[2] - b.legs[2]
    lower = upper + qpos[n, b.leg_addresses[side, 3]] * b.signs[3] + b.legs[2]
    shin = lower + qpos[n, b.leg_addresses[side, 4]] * b.signs[4]
    ankle_roll = qpos[n, b.leg_addresses[side, 5]] * b.signs[5]
    low = b.legs[3] + b.legs[4] * wp.cos(ankle_roll)
    ahead = -b.legs[0] * wp.sin(upper) - b.legs[1] * wp.sin(lower) - low * wp.sin(shin)
    down = -b.legs[0] * wp.cos(upper) - b.legs[1] * wp.cos(lower) - low * wp.cos(shin)
    aside = b.legs[4] * wp.sin(ankle_roll)
    cos, sin = wp.cos(roll), wp.sin(roll)
    v = turned(-q0, side, wp.vec3(ahead, cos * aside - sin * down, sin * aside + cos * down))
    return wp.vec3(b.hips[side, 0] + v[0], b.hips[side, 1] + v[1], b.hips[side, 2] + v[2])


@wp.func
def stability(g: Gait, b: Body, n: int, cycle: int, qpos: wp.array2d(dtype=float)) -> float:
    """The share of the step sizes that is walked, from how far the torso is from where it should be: S16 and S17."""
    size = g.meant.shape[1]
    g.meant[n, cycle % size, 0] = (g.feet[n, 0, 0] + g.feet[n, 1, 0]) * -0.5
    g.meant[n, cycle % size, 1] = (g.feet[n, 0, 1] + g.feet[n, 1, 1]) * -0.5
    cr, sr = wp.cos(g.tilt[n, 0]), wp.sin(g.tilt[n, 0])
    cp, sp = wp.cos(g.tilt[n, 1]), wp.sin(g.tilt[n, 1])
    x = float(0.0)
    y = float(0.0)
    for side in range(2):
        f = sole(b, n, side, qpos)
        x += cp * f[0] + sp * (sr * f[1] + cr * f[2])
        y += cr * f[1] - sr * f[2]
    late = int(wp.rint(g.now[n, SENSING_DELAY] / b.period))
    then = (cycle - late + size) % size
    error = wp.max(wp.abs(x * -0.5 - g.meant[n, then, 0]), wp.abs(y * -0.5 - g.meant[n, then, 1]))
    return wp.clamp((g.now[n, ERR_MAX] - error) / (g.now[n, ERR_MAX] - g.now[n, ERR_NORM]), 0.0, 1.0)


@wp.func
def wrapped(angle: float) -> float:
    """Within half a turn."""
    if angle > _PI:
        return angle - 2.0 * _PI
    if angle < -_PI:
        return angle + 2.0 * _PI
    return angle


@wp.func
def legs_of(g: Gait, b: Body, n: int, side: int) -> wp.spatial_vector:
    """Angles of a leg that bring its foot to its target, with feedback from the gyro, within the limits."""
    pitch = g.now[n, TILT] + g.now[n, TILT_X] * g.step[n, 0]
    roll = -g.now[n, LEAN_Y] * g.step[n, 1]
    cp, sp, cr, sr = wp.cos(pitch), wp.sin(pitch), wp.cos(roll), wp.sin(roll)
    fx, fy, fz = g.feet[n, side, 0], g.feet[n, side, 1], g.feet[n, side, 2]
    lower = sp * fx + cp * fz
    foot = wp.vec3(cp * fx - sp * fz, cr * fy + sr * lower, cr * lower - sr * fy)
    up = wp.vec3(-sp, sr * cp, cr * cp)
    turn = -g.more[n, 0]
    hip = wp.vec3(b.hips[side, 0], b.hips[side, 1], b.hips[side, 2])
    v = turned(turn, side, foot + b.legs[4] * up - hip)
    up = turned(turn, side, up)
    sign = float(1.0)
    if v[2] > 0.0:
        sign = -1.0
    hip_roll = wp.atan2(sign * v[1], -sign * v[2])
    down = sign * wp.sqrt(v[1] * v[1] + v[2] * v[2])
    cos, sin = wp.cos(hip_roll), wp.sin(hip_roll)
    uy = cos * up[1] + sin * up[2]
    uz = cos * up[2] - sin * up[1]
    flat = wp.sqrt(up[0] * up[0] + uz * uz)
    ankle_roll = wp.atan2(-uy, flat)
    flat = wp.max(flat, _TINY)
    ahead = v[0] + b.legs[3] * up[0] / flat
    down = down - b.legs[3] * uz / flat
    thigh, tibia, bow = b.legs[0], b.legs[1], b.legs[2]
    reach = wp.clamp(wp.sqrt(ahead * ahead + down * down), b.legs[5 + side], b.legs[7 + side])
    cosine = (reach * reach - thigh * thigh - tibia * tibia) / (2.0 * thigh * tibia)
    bent = wp.acos(wp.clamp(cosine, -1.0, 1.0))
    lean = wp.atan2(tibia * wp.sin(bent), thigh + tibia * wp.cos(bent))
    hip_pitch = bow - wp.atan2(ahead, down) - lean
    knee = bent - bow
    ankle = wp.atan2(up[0], uz) - hip_pitch - knee
    found = wp.spatial_vector(turn, hip_roll, wrapped(hip_pitch), knee, wrapped(ankle), ankle_roll)
    inner = float(1.0)
    if side == 0:
        inner = -1.0
    lifted = g.more[n, 1 + side]
    for k in range(6):
        found[k] = wp.clamp(found[k], b.limits[side, k, 0], b.limits[side, k, 1])
    found[1] = found[1] + g.now[n, GYRO_HIP_ROLL] * g.gyro[n, 0]
    found[2] = found[2] + g.now[n, GYRO_HIP_PITCH] * g.gyro[n, 1]
    found[4] = found[4] + g.now[n, GYRO_ANKLE_PITCH] * g.gyro[n, 1] + g.now[n, FOOT_PITCH] * lifted
    found[5] = found[5] + g.now[n, GYRO_ANKLE_ROLL] * g.gyro[n, 0] + g.now[n, FOOT_ROLL] * lifted * inner
    for k in range(6):
        found[k] = wp.clamp(found[k], b.limits[side, k, 0], b.limits[side, k, 1])
    return found


@wp.func
def command(g: Gait, b: Body, n: int, qpos: wp.array2d(dtype=float), ctrl: wp.array2d(dtype=float)):
    """What the motors are told."""
    left = legs_of(g, b, n, 0)
    right = legs_of(g, b, n, 1)
    apart = g.feet[n, 1, 0] - g.feet[n, 0, 0]
    for m in range(b.motors.shape[0]):
        leg = b.motors[m, 0]
        target = b.held[m, 0]
        if leg >= 6:
            target = right[leg - 6] * b.held[m, 1]
        elif leg >= 0:
            target = left[leg] * b.held[m, 1]
        if b.arms[0] >= 0:
            back = float(b.arms[4])
            held = g.now[n, SHOULDER_PITCH] + g.now[n, GYRO_ARM] * g.gyro[n, 1]
            if m == b.arms[0]:
                target += back * (held - g.now[n, ARM_SWING] * apart)
            if m == b.arms[1]:
                target += back * (held + g.now[n, ARM_SWING] * apart)
            if m == b.arms[2]:
                target += g.now[n, SHOULDER_ROLL]
            if m == b.arms[3]:
                target -= g.now[n, SHOULDER_ROLL]
        target = wp.clamp(target, b.held[m, 2], b.held[m, 3])
        target += g.now[n, JOINT_SMOOTHING] * (g.last[n, m] - target)
        g.last[n, m] = target
        if b.motors[m, 1] == 1:
            ctrl[n, b.commands[m]] = g.now[n, JOINT_GAIN] * (target - qpos[n, b.motor_addresses[m]]) / b.period
        else:
            ctrl[n, b.commands[m]] = target
