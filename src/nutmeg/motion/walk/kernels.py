"""The equations of the pendulum walk, compiled: section 3 of MacAlpine and others (2012), one after the other.

The paper does not number them; here they have the numbers S1 to S17 in its order. Those that were misprinted are
mended, and say so. Lengths are in metres (k = sqrt(9.80665 / z_torso), in the paper 9806.65 with millimetres).

| no.      | what                                       | where                                |
|----------|--------------------------------------------|--------------------------------------|
| S1, S2   | step sizes follow the wanted ones, cropped | `filtered`                           |
| S3       | the phase and its share t                  | `advance`, `fraction`                |
| S4       | k                                          | `half_k`, which is k / 2             |
| S5 - S7  | the exchange of the pendulums              | `exchanged`                          |
| S8, S9   | heights of the feet                        | `lifted_share`, `placed`             |
| S10, S11 | feet aside                                 | `swayed`, `moved_share`, `placed`    |
| S12, S13 | feet ahead                                 | `swung_share`, `placed`              |
| S14      | offset of both feet                        | `placed`                             |
| S15      | the groin                                  | `moved_share`, `placed`              |
| S16, S17 | stability                                  | `walker_kernels.judge`               |

The equations are functions of numbers. They have no branches, so that their sources, `f.py_func`, take arrays too,
whole batches at once; a back end on a GPU compiles them as they are. `advance` and `place` go robot by robot: for a
few robots array arithmetic spends its time on being called, a microsecond for each of a hundred operations. A robot's
numbers never depend on its neighbours'. The machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.motion.walk.settings import EXCHANGE_COSH, FOOT_TURN_RATIO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.walk.settings import PendulumWalkSettings

    Records = NDArray[Any]
    Number = Any


FALLBACK_PHASE = -0.5
"""phi_start when the exchange has no solution."""
LOGISTIC_END = 1 / (1 + math.exp(5.0))
"""The logistic curve at five units below its middle."""


@kernel
def half_k(z_torso: Number) -> Number:
    """S4, halved: K = k / 2, k = sqrt(g / z_torso). The printed `k - 0.5 phi` means 0.5 k phi = K phi."""
    return np.sqrt(STANDARD_GRAVITY / z_torso) / 2


@kernel
def filtered(step: Number, desired: Number, delta: Number, most: Number, lowest: Number, highest: Number) -> Number:
    """S1: step + delta (desired - step), a change of no more than `most`; S2: cropped to the longest steps."""
    change = np.minimum(np.maximum(delta * (desired - step), -most), most)
    return np.minimum(np.maximum(step + change, lowest), highest)


@kernel
def fraction(phi: Number, phi_start: Number, phi_end: Number) -> Number:
    """S3: t, the share of the step that is over."""
    return (phi - phi_start) / (phi_end - phi_start)


@kernel
def exchanged(half: Number, phi_end: Number) -> tuple[Number, Number]:
    """phi_start and phi_end of the pendulum that takes over, such that it matches the one that ends.

    S5: alpha = 6 - cosh(K phi_end). S6: phi_start = -acosh(alpha) / K, -0.5 without a solution (printed without the
    minus). S7: phi_end = (phi_end - phi_start) / 2. Where they meet, the sway of both is the same, for the two
    y_stance add up to y_sep; their velocities are equal after about three exchanges, at phi_end = acosh(3) / K.
    """
    alpha = 2 * EXCHANGE_COSH - np.cosh(half * phi_end)
    solved = alpha >= 1.0
    start = solved * (-np.arccosh(np.maximum(alpha, 1.0)) / half) + (1 - solved) * FALLBACK_PHASE
    return start, (phi_end - start) / 2


@kernel
def lifted_share(t: Number, f_g: Number) -> Number:
    """S8: z_frac = (1 - cos(2 pi (t - f_g) / f_a)) / 2 from t = f_g on, f_a = 1 - f_g, and 0 before."""
    aloft = np.maximum(t - f_g, 0.0) / np.maximum(1 - f_g, 1e-9)
    return (1 - np.cos(2 * np.pi * aloft)) / 2


@kernel
def swayed(half: Number, phi: Number, y_sep: Number, y_shift: Number) -> Number:
    """S10: y_stance = y_sep / 2 + y_shift (-1.5 + 0.5 cosh(K phi)); y_swing = y_sep - y_stance."""
    return y_sep / 2 + y_shift * (0.5 * np.cosh(half * phi) - 1.5)


@kernel
def moving_share(t: Number, f_s: Number) -> Number:
    """For S11 to S15: u = (t - f_s) / f_m within 0..1, f_m = 1 - f_s, the share of the swing foot's way in time."""
    return np.minimum(np.maximum((t - f_s) / (1 - f_s), 0.0), 1.0)


@kernel
def moved_share(u: Number) -> Number:
    """S11 and S15: (1 - cos(pi u)) / 2, from 0 to 1 (S11 is printed with a plus, which jumps)."""
    return (1 - np.cos(np.pi * u)) / 2


@kernel
def swung_share(t: Number, f_s: Number) -> Number:
    """S12 and S13: where the swing foot is ahead, in step sizes.

    Before f_s it goes back with the stance foot, f_s - 0.5 - t; then -0.5 + (1 + f_s) s, where s is the logistic curve
    sigmoid(10 (u - 0.5)) brought to 0..1: with 2 - f_m = 1 + f_s it ends where the stance foot begins, 0.5 + f_s
    (as printed, feet jump by f_s step_x at each exchange).
    """
    s = (1 / (1 + np.exp(5 - 10 * moving_share(t, f_s))) - LOGISTIC_END) / (1 - 2 * LOGISTIC_END)
    waits = t < f_s
    return waits * (-0.5 - (t - f_s)) + (1 - waits) * ((1 + f_s) * s - 0.5)


@kernel
def placed(
    p: PendulumWalkSettings, half: float, t: float, phi: float, swing: int, step: Floats, share: float, feet: Floats
) -> float:
    """Feet of one robot, (2, 3); returns its groin. `step` (3,) is walked to a `share` (S17)."""
    step_x, step_y, turn = step[0] * share, step[1] * share, step[2] * share
    first, other = swing, 1 - swing
    # S13, S14: ahead; the stance foot moves back evenly, and both are offset.
    ahead = p.x_offset + p.com_x - step_x * p.x_factor
    feet[first, 0] = step_x * swung_share(t, p.f_s) + ahead
    feet[other, 0] = step_x * (0.5 - (t - p.f_s)) + ahead
    # S11, S15: aside and in a turn both feet spread while the leading one swings, and close while the other does
    # (as printed, with the stance foot alone, the robot falls). `side_split` shifts a side step to the leading foot.
    moved = moved_share(moving_share(t, p.f_s))
    left = swing == 0
    leads, opens = (step_y > 0) == left, (turn > 0) == left
    groin: float = abs(turn) * (moved if opens else 1 - moved)
    wider = abs(step_y) * (moved if leads else 1 - moved) + groin * p.turn_sep / 2
    swung = wider * 2 * (p.side_split if leads else 1 - p.side_split)
    y_stance = swayed(half, phi, p.y_sep, p.y_shift)
    feet[first, 1] = p.y_sep - y_stance + swung
    feet[other, 1] = y_stance + 2 * wider - swung
    feet[1, 1] *= -1
    feet[0, 1] += p.com_y
    feet[1, 1] += p.com_y
    # S9: z_stance = z_torso, z_swing = z_torso - z_step z_frac, downward.
    height = max(p.z_step + p.lift_x * abs(step_x) + p.lift_y * abs(step_y), 0.0)
    feet[first, 2] = height * lifted_share(t, p.f_g) - p.z_torso
    feet[other, 2] = -p.support_push * np.sin(np.pi * t) - p.z_torso
    return groin


@kernel
def place(
    walks: Records,
    half: Floats,
    phases: Floats,
    swing: Indices,
    step: Floats,
    stability: Floats,
    feet: Floats,
    more: Floats,
) -> None:
    """Where the feet of N robots are to be.

    Args:
        walks: parameters, (N,) records of `PendulumWalkSettings`.
        half: K of each, (N,).
        phases: phi, phi_start and phi_end, (3, N).
        swing: the foot that swings, (N,).
        step: step sizes, (N, 3).
        stability: the share of them that is walked, (N,).
        feet: as the torso sees them, (N, 2, 3) [m]; changed.
        more: the groin's opening [rad] and how high each foot is, as a share, (N, 3); changed.
    """
    for n in range(len(walks)):
        phi = phases[0, n]
        t = fraction(phi, phases[1, n], phases[2, n])
        more[n, 0] = placed(walks[n], half[n], t, phi, swing[n], step[n], stability[n], feet[n])
        more[n, 1 + swing[n]], more[n, 2 - swing[n]] = lifted_share(t, walks[n].f_g), 0.0


@kernel
def advance(
    walks: Records,
    half: Floats,
    steps: Floats,
    wanted: Floats,
    period: float,
    phases: Floats,
    swing: Indices,
    step: Floats,
) -> bool:
    """A cycle of step sizes and phases towards wanted velocities; False, and nothing done, if one is not finite.

    Args:
        walks: parameters, (N,) records.
        half: K of each, (N,).
        steps: lowest and highest step sizes, delta and the largest change for each, (4, N, 3).
        wanted: m/s ahead, m/s to the left, rad/s to the left, (N, 3).
        period: of a cycle [s].
        phases: phi, phi_start and phi_end, (3, N); changed.
        swing: the foot that swings, (N,); changed.
        step: step sizes, (N, 3); changed.
    """
    if not np.isfinite(wanted).all():
        return False
    for n in range(len(walks)):
        phi_length = walks[n].phi_length
        step_time = (phases[2, n] - phases[1, n]) * phi_length
        for i in range(3):
            desired = wanted[n, i] * step_time / (FOOT_TURN_RATIO if i == 2 else 1.0)
            lowest, highest, delta, most = steps[0, n, i], steps[1, n, i], steps[2, n, i], steps[3, n, i]
            step[n, i] = filtered(step[n, i], desired, delta, most, lowest, highest)
        phases[0, n] += period / phi_length  # S3
        if phases[0, n] >= phases[2, n]:
            late = phases[0, n] - phases[2, n]
            phases[1, n], phases[2, n] = exchanged(half[n], phases[2, n])
            phases[0, n] = phases[1, n] + late
            swing[n] = 1 - swing[n]
    return True


# ----------------------------------------------------------------------------------------------------
# What a walker does in a cycle beside the walk itself, compiled: sensing, stability, balance, commands.
#
# All go robot by robot over N robots, so that a robot's numbers never depend on its neighbours'. Parameters are
# records of `PendulumWalkSettings`. As in `leg_kernels`, the machine code is kept beside this file or in the user's
# cache.


HIP_ROLL, HIP_PITCH, ANKLE_PITCH, ANKLE_ROLL = 1, 2, 4, 5


@kernel
def _quantised(value: float, noise: float, step: float) -> float:
    """What a sensor says: with noise, in steps (0 for none)."""
    value += noise
    return np.rint(value / step) * step if step > 0.0 else value


@kernel
def measure_imu(
    motion: Floats,
    pose: Floats,
    noise: Floats,
    scales: Floats,
    period: float,
    gravity: float,
    last: Floats,
    gyro: Floats,
    felt: Floats,
) -> None:
    """What gyro and accelerometer of simulated robots say.

    Args:
        motion: velocities of the torso, linear in the world's frame and angular in its own, (N, 6).
        pose: place and quaternion of the torso, (N, 7).
        noise: standard normal numbers for gyro and accelerometer, (N, 6), or (0, 6) for none.
        scales: of gyro and accelerometer, noise and step, (2, 2).
        period: of a cycle [s].
        gravity: [m/s²].
        last: linear velocities a cycle ago, (N, 3); changed.
        gyro: (N, 3) [rad/s]; changed.
        felt: (N, 3) [m/s²]; changed.
    """
    for n in range(len(motion)):
        # Gravity and acceleration in the torso's frame: a vector turned back by the quaternion.
        fx, fy = (motion[n, 0] - last[n, 0]) / period, (motion[n, 1] - last[n, 1]) / period
        fz = (motion[n, 2] - last[n, 2]) / period + gravity
        last[n] = motion[n, :3]
        w, x, y, z = pose[n, 3], -pose[n, 4], -pose[n, 5], -pose[n, 6]
        cx, cy, cz = 2 * (y * fz - z * fy), 2 * (z * fx - x * fz), 2 * (x * fy - y * fx)
        felt[n, 0] = fx + w * cx + (y * cz - z * cy)
        felt[n, 1] = fy + w * cy + (z * cx - x * cz)
        felt[n, 2] = fz + w * cz + (x * cy - y * cx)
        for i in range(3):
            drawn, shaken = (noise[n, i], noise[n, 3 + i]) if len(noise) else (0.0, 0.0)
            gyro[n, i] = _quantised(motion[n, 3 + i], scales[0, 0] * drawn, scales[0, 1])
            felt[n, i] = _quantised(felt[n, i], scales[1, 0] * shaken, scales[1, 1])


@kernel
def estimate_tilt(gyro: Floats, felt: Floats, trust: Floats, tilt: Floats) -> None:
    """The tilt that gyro and accelerometer tell: a complementary filter.

    Args:
        gyro: (N, 3) [rad/s].
        felt: by the accelerometer, (N, 3) [m/s²].
        trust: period of a cycle [s], gravity, how far from it an acceleration tells the tilt [m/s²], and the share of
            the way to the tilt it tells that is gone in a cycle, (4,).
        tilt: roll and pitch, (N, 2) [rad]; changed.
    """
    period, gravity, plausible, share = trust
    for n in range(len(tilt)):
        f = felt[n]
        roll = tilt[n, 0] + period * (gyro[n, 0] + tilt[n, 1] * gyro[n, 2])
        pitch = tilt[n, 1] + period * (gyro[n, 1] - tilt[n, 0] * gyro[n, 2])
        strength = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        if abs(strength - gravity) < plausible:
            upward = max(f[2], 1e-3)
            roll += share * (math.atan2(f[1], upward) - roll)
            pitch += share * (math.atan2(-f[0], upward) - pitch)
        tilt[n, 0], tilt[n, 1] = roll, pitch


@kernel
def estimate_stability(
    walks: Records,
    feet: Floats,
    soles: Floats,
    tilt: Floats,
    meant: Floats,
    cycle: int,
    late: Indices,
    stability: Floats,
) -> None:
    """S16 and S17: how far the centre of mass is from where it was meant to be, and what share of a step that allows.

    S16: err = max over x and y of |expected - sensed|, the expected one as of `late` cycles ago. S17: the share
    (err_max - err) / (err_max - err_norm) within 0..1 (printed inverted). What stands for the centre of mass is the
    torso's origin above the middle of the feet, upright.

    Args:
        walks: parameters, (N,) records.
        feet: targets of the feet as the torso sees them, (N, 2, 3).
        soles: where they are, (N, 2, 3).
        tilt: roll and pitch of the torso, (N, 2).
        meant: ring of what was meant in former cycles, (cycles, N, 2); changed.
        cycle: number of this cycle.
        late: after how many cycles a command is sensed, (N,).
        stability: (N,); changed.
    """
    size = len(meant)
    for n in range(len(walks)):
        meant[cycle % size, n, 0] = (feet[n, 0, 0] + feet[n, 1, 0]) * -0.5
        meant[cycle % size, n, 1] = (feet[n, 0, 1] + feet[n, 1, 1]) * -0.5
        cr, sr, cp, sp = math.cos(tilt[n, 0]), math.sin(tilt[n, 0]), math.cos(tilt[n, 1]), math.sin(tilt[n, 1])
        x, y = 0.0, 0.0
        for side in range(2):
            fx, fy, fz = soles[n, side, 0], soles[n, side, 1], soles[n, side, 2]
            x += cp * fx + sp * (sr * fy + cr * fz)
            y += cr * fy - sr * fz
        then = meant[(cycle - late[n]) % size, n]
        error = max(abs(x * -0.5 - then[0]), abs(y * -0.5 - then[1]))
        share = (walks[n].err_max - error) / (walks[n].err_max - walks[n].err_norm)
        stability[n] = min(max(share, 0.0), 1.0)


@kernel
def tilt_feet(walks: Records, step: Floats, feet: Floats, soles: Floats, up: Floats) -> None:
    """Feet (N, 2, 3) as a torso sees them that leans by `tilt`, `tilt_x` and `lean_y`: places and upward directions."""
    for n in range(len(walks)):
        pitch = walks[n].tilt + walks[n].tilt_x * step[n, 0]
        roll = -walks[n].lean_y * step[n, 1]
        cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
        for side in range(2):
            # Rx(roll)^T Ry(pitch)^T v: the torso is turned by Ry(pitch) Rx(roll)
            x, y, z = feet[n, side, 0], feet[n, side, 1], feet[n, side, 2]
            down = sp * x + cp * z
            soles[n, side, 0], soles[n, side, 1], soles[n, side, 2] = (
                cp * x - sp * z,
                cr * y + sr * down,
                cr * down - sr * y,
            )
            up[n, side, 0], up[n, side, 1], up[n, side, 2] = -sp, sr * cp, cr * cp


@kernel
def add_gyro_feedback(walks: Records, gyro: Floats, more: Floats, limits: Floats, legs: Floats) -> None:
    """Adds what the gyro says to ankles and hips, and tilts the lifted foot; within the joints' limits.

    Args:
        walks: parameters, (N,) records.
        gyro: rates of roll and pitch, (N, 2).
        more: the groin's opening and how high each foot is, as a share, (N, 3).
        limits: of the legs' joints, (2, 6, 2).
        legs: angles, (N, 2, 6); changed.
    """
    for n in range(len(walks)):
        p = walks[n]
        for side in range(2):
            lifted, inner = more[n, 1 + side], -1.0 if side == 0 else 1.0
            leg = legs[n, side]
            leg[HIP_ROLL] += p.gyro_hip_roll * gyro[n, 0]
            leg[HIP_PITCH] += p.gyro_hip_pitch * gyro[n, 1]
            leg[ANKLE_PITCH] += p.gyro_ankle_pitch * gyro[n, 1] + p.foot_pitch * lifted
            leg[ANKLE_ROLL] += p.gyro_ankle_roll * gyro[n, 0] + p.foot_roll * lifted * inner
            for joint in range(6):
                leg[joint] = min(max(leg[joint], limits[side, joint, 0]), limits[side, joint, 1])


@kernel
def command_motors(
    walks: Records,
    legs: Floats,
    feet: Floats,
    gyro: Floats,
    motors: Indices,
    held: Floats,
    arms: Indices,
    measured: Floats,
    period: float,
    last: Floats,
    told: Floats,
) -> None:
    """Targets of all motors, and what they are told: angles, or the speeds that lead there within a cycle.

    Args:
        walks: parameters, (N,) records.
        legs: angles of the legs, (N, 2, 6).
        feet: as the torso sees them, (N, 2, 3): arms swing with them.
        gyro: rates of roll and pitch, (N, 2).
        motors: of each motor the joint of the legs (0..11) or -1, and 1 for a velocity drive, (motors, 2).
        held: of each motor its angle in `ready`, its sign, its lowest and highest angle, (motors, 4).
        arms: motors of the shoulders' pitch left and right and roll left and right, and the sign of pitch that swings
            an arm back, (5,); -1 for none.
        measured: angles of the motors, (N, motors).
        period: of a cycle [s].
        last: targets of the former cycle, (N, motors); becomes this one's.
        told: commands, (N, motors); changed.
    """
    for n in range(len(walks)):
        p, targets = walks[n], np.empty(len(motors))
        for m in range(len(motors)):
            leg = motors[m, 0]
            targets[m] = held[m, 0] if leg < 0 else legs[n, leg // 6, leg % 6] * held[m, 1]
        if arms[0] >= 0:
            for side in range(2):
                ahead = feet[n, 1 - side, 0] - feet[n, side, 0]  # an arm goes with the other side's leg
                swung = p.shoulder_pitch - p.arm_swing * ahead + p.gyro_arm * gyro[n, 1]
                targets[arms[side]] += arms[4] * swung
                targets[arms[2 + side]] += p.shoulder_roll if side == 0 else -p.shoulder_roll
        for m in range(len(motors)):
            target = min(max(targets[m], held[m, 2]), held[m, 3])
            target += p.joint_smoothing * (last[n, m] - target)
            last[n, m] = target
            told[n, m] = p.joint_gain * (target - measured[n, m]) / period if motors[m, 1] else target
