"""What a walker does in a cycle beside the walk itself, compiled: sensing, stability, balance, commands.

    measure(motion, pose, noise, ..., last, gyro, felt)             # gyro and accelerometer of simulated robots
    lean(gyro, felt, trust, tilt)                                   # the tilt that both tell
    judge(...)                                                      # S16 and S17: how much of a step is walked
    tilt_feet(...)                                                  # feet as a tilted torso sees them
    command(...)                                                    # legs to motors, with gyro feedback and arms

All go robot by robot over N robots, so that a robot's numbers never depend on its neighbours'. Parameters are records
of `PendulumWalkSettings`. As in `leg_kernels`, the machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices

    Records = NDArray[Any]

HIP_ROLL, HIP_PITCH, ANKLE_PITCH, ANKLE_ROLL = 1, 2, 4, 5


@kernel
def _read(value: float, noise: float, step: float) -> float:
    """What a sensor says: with noise, in steps (0 for none)."""
    value += noise
    return np.rint(value / step) * step if step > 0.0 else value


@kernel
def measure(
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
            gyro[n, i] = _read(motion[n, 3 + i], scales[0, 0] * drawn, scales[0, 1])
            felt[n, i] = _read(felt[n, i], scales[1, 0] * shaken, scales[1, 1])


@kernel
def lean(gyro: Floats, felt: Floats, trust: Floats, tilt: Floats) -> None:
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
def judge(
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
def balance(walks: Records, gyro: Floats, more: Floats, limits: Floats, legs: Floats) -> None:
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
def command(
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
