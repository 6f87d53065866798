"""Kinematics of the Nao: its legs forwards and backwards in closed form, and its centre of mass.

A Nao's leg has six hinges: HipYawPitch (whose axis lies at 45 degrees between y and z), HipRoll, HipPitch,
KneePitch, AnklePitch, AnkleRoll. The three of the hip meet in a point and so do the two of the ankle, which is
what makes a closed form possible: seen from the foot, the way to the hip gives AnkleRoll, the knee and
AnklePitch; what rotation is left gives the hip. Both HipYawPitch hang on one motor. So each leg first finds the
HipYawPitch it would like, the two are averaged, and the other five joints are solved again with that value. They
still reach the place of the sole and its tilt exactly; what is given up is the foot's yaw. Lengths, limits and
masses are read from the robot's own tables, not written here.

    legs = NaoLegs(scene.robot("nao-v6-1"))
    feet = legs.forward(angles)                     # angles (N, 2, 6); where the soles are, seen from the torso
    found = legs.inverse(torso, feet)               # found.angles (N, 2, 6), found.reached (N, 2)

Arrays have any leading axes, written `N` here; the axis of 2 is left, right; the axis of 6 is in the order of
`LEG_JOINTS`. The point of a foot is the one on the sole straight below the ankle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.build import all_shapes, of_type, parameter_values
from nutmeg.body.expression import evaluate, evaluate_all
from nutmeg.body.posing import pose_angles
from nutmeg.body.tables import RobotTable
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.body.robot import Body, RobotSettings

    Array = NDArray[np.float64]

LEG_JOINTS = ("HipYawPitch", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
"""The joints of a leg from the hip down, without the L or R in front."""
SIDES = ("L", "R")
STRAIGHT = 1e-6
"""How far the tables may be from the geometry that the closed form needs [m]; axes, whose tables are rounded: 1e-5."""


@dataclass(frozen=True)
class Pose:
    """Places and rotations."""

    position: Array
    """(..., 3) [m]."""
    rotation: Array
    """Columns are the axes of the moved frame, (..., 3, 3)."""


@dataclass(frozen=True)
class LegAngles:
    """What inverse kinematics found."""

    angles: Array
    """(N, 2, 6) [rad], always finite and inside the joints' limits."""
    reached: NDArray[np.bool_]
    """Whether a leg reaches its foot's place and tilt; if not, its angles were clipped, (N, 2)."""


def rotation(roll: ArrayLike = 0.0, pitch: ArrayLike = 0.0, yaw: ArrayLike = 0.0) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll), (..., 3, 3) [rad]."""
    return turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)


def turn(axis: int, angle: ArrayLike) -> Array:
    """The rotation about the x, y or z axis (0, 1, 2), (..., 3, 3) [rad]."""
    angle = np.asarray(angle, float)
    cos, sin = np.cos(angle), np.sin(angle)
    after, last = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., after, after] = matrix[..., last, last] = cos
    matrix[..., last, after] = sin
    matrix[..., after, last] = -sin
    return matrix


def about(axis: Array, angle: ArrayLike) -> Array:
    """The rotation about a unit vector (3,), (..., 3, 3) [rad]."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle, float)[..., None, None]
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross))


class NaoLegs:
    """The legs of a robot that has legs like a Nao's; any other is a ModelError that says what differs.

    Attributes:
        hips: where the three axes of each hip meet, from the torso's origin, (2, 3) [m].
        thigh: from hip to knee [m].
        tibia: from knee to ankle [m].
        sole: from the ankle straight down to the sole [m].
        limits: lowest and highest angle of each joint, (2, 6, 2) [rad].
        shared: whether both HipYawPitch hang on one motor.
    """

    def __init__(self, robot: RobotTable | RobotSettings, *, kind: str = "") -> None:
        settings = robot.settings if isinstance(robot, RobotTable) else robot
        kind = robot.kind if isinstance(robot, RobotTable) else kind
        plain = of_type(settings, kind)
        values = parameter_values(settings, kind, {})
        bodies = {b.joint.name: b for b in plain.body if b.joint is not None}
        missing = [s + j for s in SIDES for j in LEG_JOINTS if s + j not in bodies]
        if missing:
            raise ModelError(
                f"{settings.name} has no joint {missing[0]!r}, so it has no legs like a Nao's. Use a robot with such "
                f"legs (nao-v4, nao-v6), or another motion."
            )
        points = np.array([[_anchor(plain, bodies[s + j], values) for j in LEG_JOINTS] for s in SIDES])
        axes = np.array([[_axis(bodies[s + j], values) for j in LEG_JOINTS] for s in SIDES])
        _check(settings.name, points, axes)
        self.hips = points[:, 0]
        self.thigh = float(points[0, 2, 2] - points[0, 3, 2])
        self.tibia = float(points[0, 3, 2] - points[0, 4, 2])
        self.sole = _sole(plain, bodies["LAnkleRoll"], values)
        self.limits = np.array([[_limits(bodies[s + j], values) for j in LEG_JOINTS] for s in SIDES])
        self.shared = any(p.leader[1:] == p.follower[1:] == LEG_JOINTS[0] for p in settings.shared)
        if self.shared:  # both must be able to go where their motor turns them
            self.limits[:, 0] = [self.limits[:, 0, 0].max(), self.limits[:, 0, 1].min()]

    def forward(self, angles: ArrayLike) -> Pose:
        """The soles as the torso sees them: angles (N, 2, 6) to position (N, 2, 3) and rotation (N, 2, 3, 3)."""
        yaw_pitch, roll, pitch, knee, ankle, ankle_roll = np.moveaxis(np.asarray(angles, float), -1, 0)
        hip = self._pelvis(yaw_pitch) @ turn(0, roll)
        bent = turn(1, pitch + knee)
        foot = hip @ bent @ turn(1, ankle) @ turn(0, ankle_roll)
        way = -self.thigh * turn(1, pitch)[..., 2] - self.tibia * bent[..., 2]
        return Pose(self.hips + _apply(hip, way) - self.sole * foot[..., 2], foot)

    def inverse(self, torso: Pose, feet: Pose, *, left_share: ArrayLike = 0.5) -> LegAngles:
        """Joint angles that put the soles where they are wanted.

        Args:
            torso: pose of the torso's origin, (N, 3) and (N, 3, 3), in any frame.
            feet: poses of the soles in the same frame, (N, 2, 3) and (N, 2, 3, 3).
            left_share: weight of the left leg's wish in the shared HipYawPitch, 0..1, () or (N,); 0.5 is the mean,
                1 gives a left supporting leg exactly the yaw it asks for.

        A foot too far away or too near is moved along the line from the hip; then joints are clipped to their limits.
        """
        back = np.swapaxes(torso.rotation, -1, -2)[..., None, :, :]
        foot = back @ feet.rotation
        ankle = _apply(back, feet.position - torso.position[..., None, :]) + self.sole * foot[..., 2] - self.hips
        wish = np.clip(self._wished_yaw_pitch(ankle, foot), self.limits[:, 0, 0], self.limits[:, 0, 1])
        if self.shared:
            share = np.asarray(left_share, float)
            mean = share * wish[..., 0] + (1 - share) * wish[..., 1]
            wish = np.stack([mean, mean], axis=-1)
        return self._five(wish, ankle, foot)

    def _pelvis(self, yaw_pitch: Array) -> Array:
        """Rotations by HipYawPitch, (N, 2) to (N, 2, 3, 3)."""
        tilt = turn(0, _TILT)
        return np.asarray(tilt @ turn(2, yaw_pitch * [-1.0, 1.0]) @ np.swapaxes(tilt, -1, -2))

    def _wished_yaw_pitch(self, ankle: Array, foot: Array) -> Array:
        """HipYawPitch with which a foot has exactly the wanted rotation, (N, 2)."""
        hip = -_apply(np.swapaxes(foot, -1, -2), ankle)  # the hip as the foot sees it
        ankle_roll = np.arctan2(hip[..., 1], hip[..., 2])
        reach, knee = self._knee(np.linalg.norm(hip, axis=-1))
        lean = np.arctan2(-self.thigh * np.sin(knee), self.tibia + self.thigh * np.cos(knee))
        ankle_pitch = lean - np.arctan2(hip[..., 0], np.hypot(hip[..., 1], hip[..., 2]))
        # What is left is Rx(tilt) Rz(-+HipYawPitch) Rx(HipRoll - tilt) Ry(HipPitch).
        left = np.swapaxes(turn(0, _TILT), -1, -2) @ foot @ turn(0, -ankle_roll) @ turn(1, -(knee + ankle_pitch))
        return np.where(reach > 0, np.arctan2(-left[..., 0, 1], left[..., 1, 1]) * [-1.0, 1.0], 0.0)

    def _five(self, yaw_pitch: Array, ankle: Array, foot: Array) -> LegAngles:
        """The other five joints for a given HipYawPitch: place and tilt of the sole exact, yaw as it falls."""
        turned = np.swapaxes(self._pelvis(yaw_pitch), -1, -2)
        to_ankle = _apply(turned, ankle)
        distance = np.linalg.norm(to_ankle, axis=-1)
        reach, knee = self._knee(distance)
        roll = np.where(distance > 0, np.arctan2(to_ankle[..., 1], -to_ankle[..., 2]), 0.0)
        down = np.hypot(to_ankle[..., 1], to_ankle[..., 2])
        lean = np.arctan2(self.tibia * np.sin(knee), self.thigh + self.tibia * np.cos(knee))
        pitch = -np.arctan2(to_ankle[..., 0], np.where(distance > 0, down, 1.0)) - lean
        up = _apply(turn(0, -roll) @ turned, foot[..., 2])
        ankle_roll = np.arctan2(-up[..., 1], np.hypot(up[..., 0], up[..., 2]))
        ankle_pitch = np.arctan2(up[..., 0], up[..., 2]) - pitch - knee
        wanted = np.stack([yaw_pitch, roll, _wrapped(pitch), knee, _wrapped(ankle_pitch), ankle_roll], axis=-1)
        angles = np.clip(wanted, self.limits[..., 0], self.limits[..., 1])
        near = np.abs(reach - distance) < _REACHED
        return LegAngles(angles, near & (np.abs(angles - wanted) < _REACHED).all(axis=-1))

    def _knee(self, distance: Array) -> tuple[Array, Array]:
        """The nearest distance from hip to ankle that the knee's range allows, and the knee for it, (N, 2) each."""
        thigh, tibia = self.thigh, self.tibia
        most = np.maximum(self.limits[:, 3, 0], 0.0), self.limits[:, 3, 1]
        far, near = (np.sqrt(thigh**2 + tibia**2 + 2 * thigh * tibia * np.cos(k)) for k in most)
        reach = np.clip(distance, near, far)
        cos = (reach**2 - thigh**2 - tibia**2) / (2 * thigh * tibia)
        return reach, np.arccos(np.clip(cos, -1.0, 1.0))


class NaoBody:
    """A whole Nao on its legs, with arms and head held still: where its mass is, and how it balances.

    Args:
        table: the robot.
        held: angles of joints other than the legs' that differ from the pose `ready` [rad].

    Attributes:
        legs: its legs.
        ready: angles of all joints in `ready`, changed by `held`, (joints,) [rad].
        mass: of the whole robot [kg].
    """

    def __init__(self, table: RobotTable, held: Mapping[str, float] | None = None) -> None:
        self.table = table
        self.legs = NaoLegs(table)
        self._columns = np.array([[table.joints.index(s + j) for j in LEG_JOINTS] for s in SIDES])
        self.ready = pose_angles(table.settings, table, "ready")
        for name, angle in (held or {}).items():
            self.ready[self._upper_joint(name)] = angle
        plain = of_type(table.settings, table.kind)
        self._chain = _mass_chain(plain, parameter_values(table.settings, table.kind, {}))
        self.mass = sum(part.mass for part in self._chain)

    def _upper_joint(self, name: str) -> int:
        index = self.table.joint_index([name])[0] if hasattr(self.table, "joint_index") else None
        return int(index) if index is not None else self.table.joints.index(name)
