"""The legs' closed form, compiled: what `NaoLegs` says in arrays, robot by robot, for the inner loop of a walk.

    soles_of(angles, legs.numbers, legs.hips, out)          # as NaoLegs.soles
    angles_of(yaw_pitch, soles, up, legs.numbers, legs.hips, legs.limits, out)      # as NaoLegs.with_yaw_pitch

For a few robots most of the time of array arithmetic goes into calling it, a microsecond for each of some hundred
operations; compiled, a pair of legs takes less than one. A test holds both against each other. The machine code is
kept beside this file or in the user's cache, so that only the first use ever waits for the compiler.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.kernels import kernel

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


SQRT_HALF = math.sqrt(0.5)
TINY = 1e-12


@kernel
def _turned(angle: float, side: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector as the pelvis sees it, turned back by HipYawPitch (Rodrigues' formula)."""
    ay = SQRT_HALF
    az = -SQRT_HALF if side == 0 else SQRT_HALF
    cos, sin = math.cos(angle), -math.sin(angle)
    along = (ay * y + az * z) * (1.0 - cos)
    return (
        x * cos + (ay * z - az * y) * sin,
        y * cos + az * x * sin + ay * along,
        z * cos - ay * x * sin + az * along,
    )


@kernel
def soles_of(angles: Floats, numbers: Floats, hips: Floats, out: Floats) -> None:
    """Places of the soles, (N, 2, 3), of angles (N, 2, 6)."""
    thigh, tibia, bow, gap, sole = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for n in range(angles.shape[0]):
        for side in range(2):
            yaw_pitch, roll, pitch = angles[n, side, 0], angles[n, side, 1], angles[n, side, 2]
            knee, ankle, ankle_roll = angles[n, side, 3], angles[n, side, 4], angles[n, side, 5]
            upper, lower = pitch - bow, pitch - bow + (knee + bow)
            shin = lower + ankle
            low = gap + sole * math.cos(ankle_roll)
            ahead = -thigh * math.sin(upper) - tibia * math.sin(lower) - low * math.sin(shin)
            down = -thigh * math.cos(upper) - tibia * math.cos(lower) - low * math.cos(shin)
            aside, cos, sin = sole * math.sin(ankle_roll), math.cos(roll), math.sin(roll)
            x, y, z = _turned(-yaw_pitch, side, ahead, cos * aside - sin * down, sin * aside + cos * down)
            out[n, side, 0] = hips[side, 0] + x
            out[n, side, 1] = hips[side, 1] + y
            out[n, side, 2] = hips[side, 2] + z


@kernel
def angles_of(
    yaw_pitch: Floats, soles: Floats, up: Floats, numbers: Floats, hips: Floats, limits: Floats, out: Floats
) -> None:
    """Angles within the limits, (N, 2, 6), that bring the soles to their places (N, 2, 3) and tilts (N, 2, 3)."""
    thigh, tibia, bow, gap, sole = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for n in range(soles.shape[0]):
        for side in range(2):
            turn = yaw_pitch[n, side]
            ux, uy, uz = up[n, side, 0], up[n, side, 1], up[n, side, 2]
            x, y, z = _turned(
                turn,
                side,
                soles[n, side, 0] + sole * ux - hips[side, 0],
                soles[n, side, 1] + sole * uy - hips[side, 1],
                soles[n, side, 2] + sole * uz - hips[side, 2],
            )
            ux, uy, uz = _turned(turn, side, ux, uy, uz)
            sign = -1.0 if -z < 0.0 else 1.0
            roll, down = math.atan2(sign * y, -sign * z), sign * math.hypot(y, z)
            cos, sin = math.cos(roll), math.sin(roll)
            uy, uz = cos * uy + sin * uz, cos * uz - sin * uy
            flat = math.hypot(ux, uz)
            ankle_roll = math.atan2(-uy, flat)
            flat = max(flat, TINY)
            ahead, down = x + gap * ux / flat, down - gap * uz / flat
            reach = min(max(math.hypot(ahead, down), numbers[5 + side]), numbers[7 + side])
            bent = math.acos(min(max((reach**2 - thigh**2 - tibia**2) / (2.0 * thigh * tibia), -1.0), 1.0))
            lean = math.atan2(tibia * math.sin(bent), thigh + tibia * math.cos(bent))
            pitch = bow - math.atan2(ahead, down) - lean
            knee = bent - bow
            ankle = math.atan2(ux, uz) - pitch - knee
            found = (turn, roll, wrap_angle_exactly(pitch), knee, wrap_angle_exactly(ankle), ankle_roll)
            for joint in range(6):
                out[n, side, joint] = min(max(found[joint], limits[side, joint, 0]), limits[side, joint, 1])
