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

from nutmeg.body.build import of_type, parameter_values
from nutmeg.body.expression import evaluate, evaluate_all
from nutmeg.body.posing import pose_angles
from nutmeg.body.robot import ZERO
from nutmeg.body.tables import RobotTable
from nutmeg.errors import ModelError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        toe: how far the sole reaches ahead of the ankle [m].
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
        self.sole, self.toe = _sole(plain, bodies["LAnkleRoll"], values)
        self.limits = np.array([[_limits(bodies[s + j], values) for j in LEG_JOINTS] for s in SIDES])
        self.shared = any(p.leader[1:] == p.follower[1:] == LEG_JOINTS[0] for p in settings.shared)
        if self.shared:  # both must be able to go where their motor turns them
            self.limits[:, 0] = [self.limits[:, 0, 0].max(), self.limits[:, 0, 1].min()]

    def forward(self, angles: ArrayLike) -> Pose:
        """The soles as the torso sees them: angles (N, 2, 6) to position (N, 2, 3) and rotation (N, 2, 3, 3)."""
        yaw_pitch, roll, pitch, knee, ankle, ankle_roll = np.moveaxis(np.asarray(angles, float), -1, 0)
        hip = self.pelvis(yaw_pitch) @ turn(0, roll)
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

    def pelvis(self, yaw_pitch: Array) -> Array:
        """Rotations by HipYawPitch, (N, 2) to (N, 2, 3, 3)."""
        tilt = turn(0, _TILT)
        return np.asarray(tilt @ turn(2, yaw_pitch * [-1.0, 1.0]) @ np.swapaxes(tilt, -1, -2))

    def _wished_yaw_pitch(self, ankle: Array, foot: Array) -> Array:
        """HipYawPitch with which a foot has exactly the wanted rotation, (N, 2)."""
        hip = -_apply(np.swapaxes(foot, -1, -2), ankle)  # the hip as the foot sees it
        ankle_roll, up = _rolled(hip[..., 1], hip[..., 2])
        _, knee = self._knee(np.linalg.norm(hip, axis=-1))
        lean = np.arctan2(-self.thigh * np.sin(knee), self.tibia + self.thigh * np.cos(knee))
        ankle_pitch = lean - np.arctan2(hip[..., 0], up)
        # What is left is Rx(tilt) Rz(-+HipYawPitch) Rx(HipRoll - tilt) Ry(HipPitch).
        left = np.swapaxes(turn(0, _TILT), -1, -2) @ foot @ turn(0, -ankle_roll) @ turn(1, -(knee + ankle_pitch))
        return np.asarray(np.arctan2(-left[..., 0, 1], left[..., 1, 1]) * [-1.0, 1.0])

    def _five(self, yaw_pitch: Array, ankle: Array, foot: Array) -> LegAngles:
        """The other five joints for a given HipYawPitch: place and tilt of the sole exact, yaw as it falls."""
        turned = np.swapaxes(self.pelvis(yaw_pitch), -1, -2)
        to_ankle = _apply(turned, ankle)
        distance = np.linalg.norm(to_ankle, axis=-1)
        reach, knee = self._knee(distance)
        roll, down = _rolled(to_ankle[..., 1], -to_ankle[..., 2])
        lean = np.arctan2(self.tibia * np.sin(knee), self.thigh + self.tibia * np.cos(knee))
        pitch = -np.arctan2(to_ankle[..., 0], down) - lean
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
        home: commands of the pose `ready` itself, (motors,) [rad].
        mass: of the whole robot [kg].
    """

    def __init__(self, table: RobotTable, held: Mapping[str, float] | None = None) -> None:
        self.table = table
        self.legs = NaoLegs(table)
        self.ready = pose_angles(table.settings, table, "ready")
        self.home = self.ready[table.motor_joints]
        for name, angle in (held or {}).items():
            if name not in table.joints or name[1:] in LEG_JOINTS:
                upper = [j for j in table.joints if j[1:] not in LEG_JOINTS]
                raise UnknownNameError(f"joint of {table.name} that can be held", name, upper)
            self.ready[table.joints.index(name)] = angle
        self._columns = np.array([[table.joints.index(s + j) for j in LEG_JOINTS] for s in SIDES])
        plain, values = of_type(table.settings, table.kind), parameter_values(table.settings, table.kind, {})
        links = {b.joint.name: b for b in plain.body if b.joint is not None}
        legs = [[links[s + j] for j in LEG_JOINTS] for s in SIDES]
        points = np.array([[_anchor(plain, b, values) for b in leg] for leg in legs])
        self._steps = np.diff(points, axis=1, prepend=0.0)
        self._coms = np.array([[_com(b, values) for b in leg] for leg in legs])
        angles = dict(zip(table.joints, self.ready, strict=True))
        mass, self._upper = _upper(plain, values, angles, {b.name for leg in legs for b in leg})
        masses = np.concatenate([[mass], *[[evaluate(leg[i].mass, values) for leg in legs] for i in range(6)]])
        self.mass = float(masses.sum())
        self._shares = masses / self.mass

    @property
    def ready_legs(self) -> Array:
        """Angles of the legs in `ready`, (2, 6) [rad]."""
        return np.asarray(self.ready[self._columns])

    def motors(self, legs: Array) -> Array:
        """Commands for all motors, (N, motors), from the angles of the legs, (N, 2, 6)."""
        joints = np.broadcast_to(self.ready, (*legs.shape[:-2], len(self.ready))).copy()
        joints[..., self._columns] = legs
        return np.asarray(joints[..., self.table.motor_joints])

    def centre_of_mass(self, legs: ArrayLike) -> Array:
        """The centre of mass as the torso sees it: angles of the legs (N, 2, 6) to (N, 3) [m]."""
        return np.asarray(self._shares @ self._parts(np.asarray(legs, float)))

    def zmp(self, torso: Pose, legs: Array, period: float, *, gravity: float = 9.81) -> Array:
        """The zero-moment point of a motion sampled every `period` seconds, (T, 2) [m].

        Torso (T, 3) and (T, 3, 3), angles of the legs (T, 2, 6). Unlike in the cart-table model each link is a
        mass of its own, so that swinging legs count; the links' own inertias do not.
        """
        places = torso.position[:, None] + self._parts(legs) @ np.swapaxes(torso.rotation, -1, -2)
        second = np.zeros_like(places)
        second[1:-1] = (places[2:] - 2 * places[1:-1] + places[:-2]) / period**2
        down = self._shares * (second[..., 2] + gravity)
        moment = down[..., None] * places[..., :2] - (self._shares * places[..., 2])[..., None] * second[..., :2]
        return np.asarray(moment.sum(axis=1) / down.sum(axis=1)[:, None])

    def _parts(self, legs: Array) -> Array:
        """Centres of mass of the upper body and of the twelve links as the torso sees them, (N, 13, 3)."""
        frame = self.legs.pelvis(legs[..., 0])
        place = np.broadcast_to(self._steps[:, 0], frame.shape[:-1])
        parts = [np.broadcast_to(self._upper, (*legs.shape[:-2], 1, 3))]
        for link in range(len(LEG_JOINTS)):
            if link:
                place = place + _apply(frame, self._steps[:, link])
                frame = frame @ turn(_AXES[link], legs[..., link])
            parts.append(place + _apply(frame, self._coms[:, link]))
        return np.concatenate(parts, axis=-2)

    def balance(
        self, centre: Array, height: ArrayLike, turned: Array, feet: Pose, *, guess: Array | None = None
    ) -> tuple[Pose, LegAngles]:
        """Where the torso must be for the centre of mass to be above a place.

        Args:
            centre: wanted x and y of the centre of mass, (N, 2) [m].
            height: of the torso's origin, () or (N,) [m].
            turned: rotation of the torso, (N, 3, 3).
            feet: the soles, (N, 2, 3) and (N, 2, 3, 3).
            guess: a place of the torso to begin from, (N, 3) [m].

        Moving the torso drags part of the legs along, about four fifths of the mass, so repeating the correction
        converges quickly; it ends when the centre of mass is right to a micrometre.
        """
        about_there = centre if guess is None else guess[..., :2]
        place = np.concatenate([about_there, np.broadcast_to(height, centre.shape[:-1])[..., None]], axis=-1)
        found = self.legs.inverse(Pose(place, turned), feet)
        for _ in range(_ROUNDS):
            missing = centre - (place + _apply(turned, self.centre_of_mass(found.angles)))[..., :2]
            if np.abs(missing).max() < _BALANCED:
                break
            place[..., :2] += _DRAG * missing
            found = self.legs.inverse(Pose(place, turned), feet)
        return Pose(place, turned), found


_TILT = np.array([np.pi / 4, -np.pi / 4])
"""Rotations about x that take HipYawPitch's axis to the vertical, left and right."""
_AXES = (2, 0, 1, 1, 1, 0)
_REACHED = 1e-7
_ROUNDS = 20
_BALANCED = 1e-6
_DRAG = 1.2
"""Overcorrection, for the centre of mass moves less than the torso."""


def _apply(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _rolled(aside: Array, along: Array) -> tuple[Array, Array]:
    """A roll within a quarter turn, and the signed length along the leg that is left after it."""
    sign = np.where(along < 0, -1.0, 1.0)
    return np.arctan2(sign * aside, sign * along), sign * np.hypot(aside, along)


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def _anchor(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> Array:
    """A point on the axis of a body's joint, from the root's origin when all joints are at zero."""
    by_name = {b.name: b for b in robot.body}
    point = np.array(evaluate_all(body.joint.anchor if body.joint else ZERO, values))
    while body.parent:
        if any(evaluate_all(body.euler, values)):
            raise ModelError(f"{robot.name}: the frame of {body.name!r} is turned; a Nao's legs have parallel frames.")
        point = point + evaluate_all(body.pos, values)
        body = by_name[body.parent]
    return point


def _axis(body: Body, values: Mapping[str, float]) -> Array:
    assert body.joint is not None
    axis = np.array(evaluate_all(body.joint.axis, values))
    return np.asarray(axis / np.linalg.norm(axis))


def _limits(body: Body, values: Mapping[str, float]) -> list[float]:
    assert body.joint is not None
    return evaluate_all(body.joint.range, values) if body.joint.range else [-np.pi, np.pi]


def _com(body: Body, values: Mapping[str, float]) -> Array:
    """Centre of mass of a link from its joint."""
    if body.com is None:
        raise ModelError(f"body {body.name!r} has no com: balancing needs the centre of mass of every body.")
    return np.array(evaluate_all(body.com, values)) - evaluate_all(body.joint.anchor if body.joint else ZERO, values)


def _check(name: str, points: Array, axes: Array) -> None:
    """Says what is different from a Nao's leg, if something is."""
    half = np.sqrt(0.5)
    wanted = np.array([[[0, half, -s * half], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]] for s in (1, -1)])
    down = np.array([0.0, 0.0, 1.0])
    problems = {
        "the three axes of its hip do not meet in a point": np.ptp(points[:, :3], axis=1),
        "the two axes of its ankle do not meet in a point": np.ptp(points[:, 4:], axis=1),
        "its knee is not straight below its hip": (points[:, 3] - points[:, 2]) * (1 - down),
        "its ankle is not straight below its knee": (points[:, 4] - points[:, 3]) * (1 - down),
        "its legs are not mirror images": points[0] - points[1] * [1, -1, 1],
        "an axis has another direction": (axes - wanted) * 0.1,
    }
    for problem, error in problems.items():
        if np.abs(error).max() > STRAIGHT:
            raise ModelError(
                f"{name} has other legs than a Nao V4 or V6: {problem} (off by {np.abs(error).max():.3g}). The closed "
                f"form needs that; use nao-v4 or nao-v6."
            )


def _sole(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> tuple[float, float]:
    """How far the shape that is marked as a foot reaches below and ahead of the ankle's axes."""
    soles = [s for s in robot.shape if s.foot and s.body == body.name and s.type == "box"]
    if not soles:
        raise ModelError(f"{robot.name} has no box with foot = true on {body.name!r}, so its sole is unknown.")
    anchor = evaluate_all(body.joint.anchor, values) if body.joint else [0.0, 0.0, 0.0]
    corners = [(evaluate_all(s.pos, values), evaluate_all(s.size, values)) for s in soles]
    lowest = min(pos[2] - size[2] / 2 for pos, size in corners)
    foremost = max(pos[0] + size[0] / 2 for pos, size in corners)
    return anchor[2] - lowest, foremost - anchor[0]


def _upper(
    robot: RobotSettings, values: Mapping[str, float], angles: Mapping[str, float], legs: set[str]
) -> tuple[float, Array]:
    """Mass and centre of mass of everything but the legs, as the torso sees it."""
    frames: dict[str, Pose] = {}
    mass, moment = 0.0, np.zeros(3)
    for body in robot.body:
        if body.name in legs:
            continue
        if body.parent in legs:
            raise ModelError(f"{robot.name} has the body {body.name!r} on its leg, which is none of a Nao's six links.")
        frame = frames[body.parent] if body.parent else Pose(np.zeros(3), np.eye(3))
        place = frame.position + (frame.rotation @ evaluate_all(body.pos, values) if body.parent else 0.0)
        turned = frame.rotation @ rotation(*evaluate_all(body.euler, values))
        if body.joint is not None:
            place = place + turned @ evaluate_all(body.joint.anchor, values)
            turned = turned @ about(_axis(body, values), angles[body.joint.name])
            place = place - turned @ evaluate_all(body.joint.anchor, values)
        frames[body.name] = Pose(place, turned)
        own = evaluate(body.mass, values)
        if own:
            anchor = evaluate_all(body.joint.anchor, values) if body.joint else [0.0, 0.0, 0.0]
            mass, moment = mass + own, moment + own * (place + turned @ (_com(body, values) + anchor))
    return mass, moment / mass
