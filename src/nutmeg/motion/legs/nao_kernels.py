"""The closed form of a Nao's legs, compiled; `motion.legs.nao` explains the geometry.

The legs of a robot are one record, `NaoLegs.record`, whose fields are attributes of `NaoLegs`. The functions for one
leg are part of the compiled cycle of the walk (`motion.walk.kernels`); `NaoLegs` calls those for N robots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.kernels import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.motion.legs.nao import NaoLegs

    Vector = tuple[float, float, float]

_SQRT_HALF = math.sqrt(0.5)
_MIN_LENGTH = 1e-12
"""Smallest length that is used as a divisor [m]."""
_REACH_TOLERANCE = 1e-7
"""A foot is reached if no length [m] and no angle [rad] is off by more than this."""


@kernel
def _turn_back(angle: float, side: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector of the torso's frame in the frame that HipYawPitch has turned (Rodrigues' formula)."""
    # The axis lies in the y-z plane at 45 degrees, mirrored between left and right.
    ay = _SQRT_HALF
    az = -_SQRT_HALF if side == 0 else _SQRT_HALF
    cos, sin = math.cos(angle), -math.sin(angle)
    along = (ay * y + az * z) * (1.0 - cos)
    return (x * cos + (ay * z - az * y) * sin, y * cos + az * x * sin + ay * along, z * cos - ay * x * sin + az * along)


@kernel
def sole_position(joints: Floats, side: int, legs: NaoLegs) -> tuple[float, float, float]:
    """The place of a sole from the torso's origin [m], at the angles of its leg (6,)."""
    yaw_pitch, roll, pitch = joints[0], joints[1], joints[2]
    knee, ankle, ankle_roll = joints[3], joints[4], joints[5]
    # Thigh, tibia and foot lie in one plane until AnkleRoll; their angles from the vertical add up.
    upper, lower = pitch - legs.bow, pitch - legs.bow + (knee + legs.bow)
    shin = lower + ankle
    low = legs.gap + legs.sole * math.cos(ankle_roll)
    ahead = -legs.thigh * math.sin(upper) - legs.tibia * math.sin(lower) - low * math.sin(shin)
    down = -legs.thigh * math.cos(upper) - legs.tibia * math.cos(lower) - low * math.cos(shin)
    aside, cos, sin = legs.sole * math.sin(ankle_roll), math.cos(roll), math.sin(roll)
    x, y, z = _turn_back(-yaw_pitch, side, ahead, cos * aside - sin * down, sin * aside + cos * down)
    return legs.hips[side, 0] + x, legs.hips[side, 1] + y, legs.hips[side, 2] + z


@kernel
def mass_centre(joints: Floats, legs: NaoLegs) -> tuple[float, float, float]:
    """The centre of mass of the robot in the torso's frame [m] at the angles of its legs (2, 6), arms held still."""
    x, y, z = legs.shares[0] * legs.upper[0], legs.shares[0] * legs.upper[1], legs.shares[0] * legs.upper[2]
    for side in range(2):
        # From the foot upwards: first moments of all links below a joint, turned by it, in the frame of the link above.
        mx, my, mz, mass = 0.0, 0.0, 0.0, 0.0
        for link in range(5, -1, -1):
            share, centre, step = legs.shares[1 + 2 * link + side], legs.centres[side, link], legs.steps[side, link]
            mass += share
            mx, my, mz = mx + share * centre[0], my + share * centre[1], mz + share * centre[2]
            cos, sin = math.cos(joints[side, link]), math.sin(joints[side, link])
            if link == 0:
                mx, my, mz = _turn_back(-joints[side, 0], side, mx, my, mz)
            elif link in (1, 5):
                my, mz = cos * my - sin * mz, sin * my + cos * mz
            else:
                mx, mz = cos * mx + sin * mz, cos * mz - sin * mx
            mx, my, mz = mx + mass * step[0], my + mass * step[1], mz + mass * step[2]
        x, y, z = x + mx, y + my, z + mz
    return x, y, z


@kernel
def solve_leg(
    yaw_pitch: float, side: int, sole: Floats | Vector, up: Floats | Vector, legs: NaoLegs, joints: Floats
) -> bool:
    """The joint angles (6,) that bring a sole to a place with a tilt, for a given HipYawPitch.

    Args:
        yaw_pitch: HipYawPitch [rad].
        side: 0 for the left leg, 1 for the right.
        sole: place of the sole from the torso's origin, (3,) [m].
        up: upward direction of the sole in the torso's frame, (3,).
        legs: the record of the legs.
        joints: changed to the angles, within the joints' limits, (6,) [rad].

    Returns:
        Whether the leg reaches that place and tilt.
    """
    # The ankle from the hip, and the sole's direction, in the frame that HipYawPitch has turned.
    ux, uy, uz = up[0], up[1], up[2]
    x, y, z = _turn_back(
        yaw_pitch,
        side,
        sole[0] + legs.sole * ux - legs.hips[side, 0],
        sole[1] + legs.sole * uy - legs.hips[side, 1],
        sole[2] + legs.sole * uz - legs.hips[side, 2],
    )
    ux, uy, uz = _turn_back(yaw_pitch, side, ux, uy, uz)
    # HipRoll brings the leg's plane onto the ankle; a foot above the hip is reached with the leg turned up.
    sign = -1.0 if -z < 0.0 else 1.0
    roll, down = math.atan2(sign * y, -sign * z), sign * math.hypot(y, z)
    cos, sin = math.cos(roll), math.sin(roll)
    uy, uz = cos * uy + sin * uz, cos * uz - sin * uy
    flat = math.hypot(ux, uz)
    ankle_roll = math.atan2(-uy, flat)
    # In that plane: from AnkleRoll's axis up to AnklePitch's, and from there the two-link leg.
    flat = max(flat, _MIN_LENGTH)
    ahead, down = x + legs.gap * ux / flat, down - legs.gap * uz / flat
    distance = math.hypot(ahead, down)
    reach = min(max(distance, legs.nearest[side]), legs.farthest[side])
    thigh, tibia = legs.thigh, legs.tibia
    # The law of cosines gives the knee, and the angle between the thigh and the line from hip to ankle.
    bent = math.acos(min(max((reach**2 - thigh**2 - tibia**2) / (2.0 * thigh * tibia), -1.0), 1.0))
    lean = math.atan2(tibia * math.sin(bent), thigh + tibia * math.cos(bent))
    pitch = legs.bow - math.atan2(ahead, down) - lean
    knee = bent - legs.bow
    ankle = math.atan2(ux, uz) - pitch - knee
    found = (yaw_pitch, roll, wrap_angle_exactly(pitch), knee, wrap_angle_exactly(ankle), ankle_roll)
    reached: bool = abs(reach - distance) < _REACH_TOLERANCE
    for joint in range(6):
        joints[joint] = min(max(found[joint], legs.limits[side, joint, 0]), legs.limits[side, joint, 1])
        reached = reached and abs(joints[joint] - found[joint]) < _REACH_TOLERANCE
    return reached


@kernel
def forward_kinematics(joints: Floats, record: NDArray[np.void], position: Floats, rotation: Floats) -> None:
    """Poses of the soles of N robots.

    Args:
        joints: angles of the legs, (N, 2, 6) [rad].
        record: the record of the legs, (1,).
        position: changed to the places from the torso's origin, (N, 2, 3) [m].
        rotation: changed to the rotations in the torso's frame, (N, 2, 3, 3).
    """
    legs = record[0]
    for n in range(len(joints)):
        for side in range(2):
            leg = joints[n, side]
            place = sole_position(leg, side, legs)
            shin = leg[2] + leg[3] + leg[4]
            cs, ss = math.cos(shin), math.sin(shin)
            ca, sa = math.cos(leg[5]), math.sin(leg[5])
            cr, sr = math.cos(leg[1]), math.sin(leg[1])
            # The columns of Ry(shin) Rx(AnkleRoll), each turned by HipRoll and then by HipYawPitch.
            columns = ((cs, 0.0, -ss), (ss * sa, ca, cs * sa), (ss * ca, -sa, cs * ca))
            for axis in range(3):
                x, y, z = columns[axis]
                turned = _turn_back(-leg[0], side, x, cr * y - sr * z, sr * y + cr * z)
                for row in range(3):
                    rotation[n, side, row, axis] = turned[row]
                position[n, side, axis] = place[axis]


@kernel
def inverse_kinematics(
    yaw_pitch: Floats, soles: Floats, up: Floats, record: NDArray[np.void], joints: Floats, reached: Bools
) -> None:
    """`solve_leg` for both legs of N robots: arrays (N, 2), (N, 2, 3), (N, 2, 3), (1,), (N, 2, 6), (N, 2)."""
    legs = record[0]
    for n in range(len(soles)):
        for side in range(2):
            reached[n, side] = solve_leg(yaw_pitch[n, side], side, soles[n, side], up[n, side], legs, joints[n, side])
