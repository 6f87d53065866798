"""Kinematics of a Nao's legs, forwards and backwards in closed form, and the balance of the robot on them.

A Nao's leg has six hinges: HipYawPitch (whose axis lies at 45 degrees between y and z), HipRoll, HipPitch,
KneePitch, AnklePitch, AnkleRoll. The three of the hip meet in a point and so do the two of the ankle, which is
what makes a closed form possible: the vector from hip to ankle gives HipRoll, the knee and HipPitch, and the rotation
that is left gives the ankle. One motor drives both HipYawPitch. So each leg first finds the HipYawPitch that gives its
foot the wanted yaw, the two are averaged, and the other five joints are solved with that value. They reach the place of
the sole and its tilt exactly; what is given up is the foot's yaw. Lengths and limits are read from the robot's tables.

The legs of the 3D simulation league's Nao (`nao-spark`: joints `llj1`..`llj6`) are such legs with three
differences, which the closed form takes along: each HipYawPitch has a motor of its own, the knee lies a little ahead
of the line from hip to ankle, and AnkleRoll's axis lies a little below AnklePitch's.

    legs = NaoLegs(scene.robot("nao-v6-1").settings)
    feet = legs.forward(angles)                     # angles (N, 2, 6) to poses of the soles in the torso's frame
    found = legs.inverse(torso, feet)               # found.angles (N, 2, 6), found.reached (N, 2)

Arrays have any leading axes, written `N` here; the axis of 2 is left, right; the axis of 6 is in the order of
`LEG_JOINTS`. Angles have a Nao's signs, whatever the robot's own are; `names` and `signs` translate. The point of a
foot is the one on the sole straight below the ankle.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.build import build, parameter_values, parts_of_type
from nutmeg.model.geometry import evaluate_all
from nutmeg.model.posing import pose_angles
from nutmeg.model.robot import ZERO_VECTOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.robot import Body, RobotSettings
    from nutmeg.model.tables import RobotTable


LEG_JOINTS = ("HipYawPitch", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
"""The joints of a leg from the hip down, without the L or R in front."""
SIDES = ("L", "R")
LEG_JOINT_NAMES = (
    tuple(tuple(side + joint for joint in LEG_JOINTS) for side in SIDES),
    tuple(tuple(f"{side}lj{number}" for number in range(1, 7)) for side in ("l", "r")),
)
"""Names of the twelve joints of a Nao, and of those in the 3D simulation league."""
GEOMETRY_TOLERANCE = 1e-6
"""Allowed difference of the tables from the geometry of the closed form [m]; for rounded axes it is 1e-5."""
LEGS_RECORD = np.dtype(
    [
        *((name, float) for name in ("thigh", "tibia", "bow", "gap", "sole")),
        ("signs", float, 6),
        ("hips", float, (2, 3)),
        ("limits", float, (2, 6, 2)),
        ("nearest", float, 2),
        ("farthest", float, 2),
        ("shares", float, 13),
        ("upper", float, 3),
        ("steps", float, (2, 6, 3)),
        ("centres", float, (2, 6, 3)),
    ]
)
"""The legs of a robot for compiled code; the last four fields (masses) are filled by `NaoBody.weigh`."""

_MASS_FIELDS = ("shares", "upper", "steps", "centres")
"""Fields of the record with masses and their places, as in `_Masses`."""


@dataclass(frozen=True)
class Pose:
    """Places and rotations."""

    position: Floats
    """(..., 3) [m]."""
    rotation: Floats
    """Columns are the axes of the moved frame, (..., 3, 3)."""


@dataclass(frozen=True)
class LegAngles:
    """The result of inverse kinematics."""

    angles: Floats
    """(N, 2, 6) [rad], always finite and inside the joints' limits."""
    reached: Bools
    """Whether a leg reaches its foot's place and tilt; if not, its angles were clipped, (N, 2)."""


def rotation(roll: ArrayLike = 0.0, pitch: ArrayLike = 0.0, yaw: ArrayLike = 0.0) -> Floats:
    """Rz(yaw) Ry(pitch) Rx(roll), (..., 3, 3) [rad]."""
    return _axis_rotation(2, yaw) @ _axis_rotation(1, pitch) @ _axis_rotation(0, roll)


def _axis_rotation(axis: int, angle: ArrayLike) -> Floats:
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


class NaoLegs:
    """The legs of a robot that has legs like a Nao's; any other raises a ModelError that names what differs.

    Attributes:
        names: the robot's names of the joints, (2, 6).
        signs: +1 where the robot's angle is a Nao's, -1 where it turns the other way, (6,).
        hips: points where the three axes of each hip meet, from the torso's origin, (2, 3) [m].
        thigh: distance from hip to knee [m].
        tibia: distance from knee to the axis of AnklePitch [m].
        bow: angle by which the line from hip to knee is ahead of the thigh's own direction [rad]; 0 on a real Nao.
        gap: distance from the axis of AnklePitch down to that of AnkleRoll [m]; 0 on a real Nao.
        sole: distance from AnkleRoll's axis straight down to the sole [m].
        toe: distance by which the sole reaches ahead of the ankle [m].
        limits: lowest and highest angle of each joint, (2, 6, 2) [rad].
        shared: whether one motor drives both HipYawPitch.
        nearest: shortest distance from hip to ankle that each knee's range allows, (2,) [m].
        farthest: longest distance likewise, (2,) [m].
        shares, upper, steps, centres: masses and places, as in `_Masses`; zeros until `NaoBody.weigh` is called.
        record: the numbers above that compiled code needs, of type `LEGS_RECORD`, (1,).
    """

    def __init__(self, robot: RobotSettings, kind: str = "") -> None:
        plain = parts_of_type(robot, kind)
        values = parameter_values(robot, kind, {})
        bodies = {b.joint.name: b for b in plain.body if b.joint is not None}
        self.names = _names(robot, bodies)
        legs = [[bodies[name] for name in side] for side in self.names]
        points = np.array([[_anchor(plain, body, values) for body in leg] for leg in legs])
        axes = np.array([[_axis(body, values) for body in leg] for leg in legs])
        self.signs = _signs(axes)
        _check(robot.name, points, axes * self.signs[:, None])
        self.hips = points[:, 0]
        ahead, down = points[0, 3, 0] - points[0, 2, 0], points[0, 2, 2] - points[0, 3, 2]
        self.thigh, self.bow = float(np.hypot(ahead, down)), float(np.arctan2(ahead, down))
        self.tibia = float(points[0, 3, 2] - points[0, 4, 2])
        self.gap = float(points[0, 4, 2] - points[0, 5, 2])
        self.sole, self.toe = _sole(plain, legs[0][-1], values)
        ranges = np.array([[_limits(body, values) for body in leg] for leg in legs])
        self.limits = np.sort(ranges * self.signs[:, None], axis=-1)
        self.shared = any({p.leader, p.follower} == {self.names[0][0], self.names[1][0]} for p in robot.shared)
        if self.shared:  # both must be able to go where their motor turns them
            self.limits[:, 0] = [self.limits[:, 0, 0].max(), self.limits[:, 0, 1].min()]
        # The knee at its two limits; a knee that could bend backwards counts as straight.
        bent, straight = self.limits[:, 3, 1] + self.bow, np.maximum(self.limits[:, 3, 0] + self.bow, 0.0)
        self.nearest, self.farthest = self._reach(bent), self._reach(straight)
        self.record: NDArray[np.void] = np.zeros(1, LEGS_RECORD)
        self.shares, self.upper = np.zeros(13), np.zeros(3)
        self.steps, self.centres = np.zeros((2, 6, 3)), np.zeros((2, 6, 3))
        for name in LEGS_RECORD.names or ():
            self.record[name] = getattr(self, name)

    def _reach(self, knee: Floats) -> Floats:
        """Distances from hip to ankle at knees bent by an angle."""
        return np.asarray(np.sqrt(self.thigh**2 + self.tibia**2 + 2 * self.thigh * self.tibia * np.cos(knee)))

    def forward(self, angles: ArrayLike) -> Pose:
        """Poses of the soles in the torso's frame: angles (N, 2, 6) to position (N, 2, 3), rotation (N, 2, 3, 3)."""
        from nutmeg.motion.legs.nao_kernels import forward_kinematics  # here: loading the compiler takes long

        joints = np.asarray(angles, float)
        found = Pose(np.empty((*joints.shape[:-1], 3)), np.empty((*joints.shape[:-1], 3, 3)))
        flat = joints.reshape(-1, 2, 6), self.record, found.position.reshape(-1, 2, 3)
        forward_kinematics(*flat, found.rotation.reshape(-1, 2, 3, 3))
        return found

    def inverse(self, torso: Pose, feet: Pose) -> LegAngles:
        """Joint angles that bring the soles to given poses.

        Args:
            torso: pose of the torso's origin, (N, 3) and (N, 3, 3), in any frame.
            feet: poses of the soles in the same frame, (N, 2, 3) and (N, 2, 3, 3).

        A foot too far away or too near is moved along the line from the hip; then joints are clipped to their limits.
        """
        from nutmeg.motion.legs.nao_kernels import inverse_kinematics

        back = np.swapaxes(torso.rotation, -1, -2)[..., None, :, :]
        foot = back @ feet.rotation
        sole = rotate(back, feet.position - torso.position[..., None, :])
        wish = np.clip(self._wished_yaw_pitch(sole, foot), self.limits[:, 0, 0], self.limits[:, 0, 1])
        if self.shared:
            wish = np.broadcast_to(0.5 * wish[..., :1] + 0.5 * wish[..., 1:], wish.shape)
        found = LegAngles(np.empty((*wish.shape, 6)), np.empty(wish.shape, bool))
        given = wish.reshape(-1, 2), sole.reshape(-1, 2, 3), foot[..., 2].reshape(-1, 2, 3), self.record
        inverse_kinematics(*given, found.angles.reshape(-1, 2, 6), found.reached.reshape(-1, 2))
        return found

    def _wished_yaw_pitch(self, sole: Floats, foot: Floats) -> Floats:
        """HipYawPitch with which feet at places (N, 2, 3) have exactly their rotations (N, 2, 3, 3), (N, 2)."""
        ankle = sole + self.sole * foot[..., 2] - self.hips
        _, aside, along = np.moveaxis(-rotate(np.swapaxes(foot, -1, -2), ankle), -1, 0)  # the hip in the foot's frame
        sign = np.where(along < 0, -1.0, 1.0)
        ankle_roll = np.arctan2(sign * aside, sign * along)[..., None]
        # Without AnkleRoll the foot's rotation is Rx(tilt) Rz(-+HipYawPitch) Rx(HipRoll - tilt) Ry(the pitches), whose
        # second column does not depend on the pitches.
        x, y, z = np.moveaxis(np.cos(ankle_roll) * foot[..., 1] - np.sin(ankle_roll) * foot[..., 2], -1, 0)
        return np.asarray(np.arctan2(-x, np.cos(_TILT) * y + np.sin(_TILT) * z) * [-1.0, 1.0])


_TILT = np.array([np.pi / 4, -np.pi / 4])
"""Rotations about x that take HipYawPitch's axis to the vertical, left and right."""


def rotate(matrix: Floats, vector: Floats) -> Floats:
    """Matrices (..., 3, 3) times vectors (..., 3)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _anchor(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> Floats:
    """A point on the axis of a body's joint, from the root's origin when all joints are at zero."""
    by_name = {b.name: b for b in robot.body}
    point = np.array(evaluate_all(body.joint.anchor if body.joint else ZERO_VECTOR, values))
    while body.parent:
        if any(evaluate_all(body.euler, values)):
            raise ModelError(f"{robot.name}: the frame of {body.name!r} is turned; a Nao's legs have parallel frames.")
        point = point + evaluate_all(body.pos, values)
        body = by_name[body.parent]
    return point


def _axis(body: Body, values: Mapping[str, float]) -> Floats:
    assert body.joint is not None
    axis = np.array(evaluate_all(body.joint.axis, values))
    return np.asarray(axis / np.linalg.norm(axis))


def _limits(body: Body, values: Mapping[str, float]) -> list[float]:
    assert body.joint is not None
    return evaluate_all(body.joint.range, values) if body.joint.range else [-np.pi, np.pi]


def _names(robot: RobotSettings, bodies: Mapping[str, Body]) -> tuple[tuple[str, ...], ...]:
    """The robot's names of the twelve joints."""
    for names in LEG_JOINT_NAMES:
        if all(name in bodies for leg in names for name in leg):
            return names
    missing = next(name for leg in LEG_JOINT_NAMES[0] for name in leg if name not in bodies)
    raise ModelError(
        f"{robot.name} has no joint {missing!r}, so it has no legs like a Nao's. Use a robot with such legs (nao-v4, "
        f"nao-v6, nao-spark), or another motion."
    )


def _wanted_axes() -> Floats:
    """Directions of a Nao's axes, (2, 6, 3)."""
    half = np.sqrt(0.5)
    return np.array([[[0, half, -s * half], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]] for s in (1, -1)])


def _signs(axes: Floats) -> Floats:
    """-1 for joints whose axis is opposite to a Nao's, else 1, (6,); both legs have the same."""
    return np.where((axes * _wanted_axes()).sum(axis=-1).mean(axis=0) < 0, -1.0, 1.0)


def _check(name: str, points: Floats, axes: Floats) -> None:
    """Raises a ModelError that names the first difference from a Nao's legs."""
    down = np.array([0.0, 0.0, 1.0])
    problems = {
        "the three axes of its hip do not meet in a point": np.ptp(points[:, :3], axis=1),
        "the axes of its ankle are not one above the other": np.ptp(points[:, 4:, :2], axis=1),
        "its knee is not in one plane with its hip": (points[:, 3] - points[:, 2]) * [0, 1, 0],
        "its ankle is not straight below its knee": (points[:, 4] - points[:, 3]) * (1 - down),
        "its legs are not mirror images": points[0] - points[1] * [1, -1, 1],
        "an axis has another direction": (axes - _wanted_axes()) * 0.1,
    }
    for problem, error in problems.items():
        if np.abs(error).max() > GEOMETRY_TOLERANCE:
            raise ModelError(
                f"{name} has other legs than a Nao V4 or V6: {problem} (off by {np.abs(error).max():.3g}). The closed "
                f"form needs that; use nao-v4, nao-v6 or nao-spark."
            )


def _sole(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> tuple[float, float]:
    """Distances by which the shape marked as a foot reaches below and ahead of the ankle's axes [m]."""
    soles = [s for s in robot.shape if s.foot and s.body == body.name and s.type == "box"]
    if not soles:
        raise ModelError(f"{robot.name} has no box with foot = true on {body.name!r}, so its sole is unknown.")
    anchor = evaluate_all(body.joint.anchor, values) if body.joint else [0.0, 0.0, 0.0]
    corners = [(evaluate_all(s.pos, values), evaluate_all(s.size, values)) for s in soles]
    lowest = min(pos[2] - size[2] / 2 for pos, size in corners)
    foremost = max(pos[0] + size[0] / 2 for pos, size in corners)
    return anchor[2] - lowest, foremost - anchor[0]


LEG_AXES = (2, 0, 1, 1, 1, 0)
"""Axes of a leg's joints from the hip down, after the tilt of HipYawPitch."""
BALANCE_ROUNDS = 20
"""Largest number of corrections of the torso's place."""
BALANCE_TOLERANCE = 1e-6
"""Accuracy of the balanced centre of mass [m]."""
BALANCE_GAIN = 1.2
"""Overcorrection: the centre of mass moves less than the torso, because the feet stay."""


class NaoBody:
    """A whole Nao on its legs, with arms and head held still: its masses, and its balance.

        body = NaoBody(scene.robot("nao-v6-1"))
        body.centre_of_mass(legs)                   # angles of the legs (N, 2, 6) to (N, 3), in the torso's frame
        torso, found = body.balance(centre, height, turned, feet)

    Masses and their places are those of the compiled robot.

    Args:
        table: the robot.
        held: angles of joints other than the legs' that differ from the pose `ready` [rad].

    Attributes:
        legs: its legs.
        ready: angles of all joints in `ready`, changed by `held`, (joints,) [rad].
        home: commands of the pose `ready` itself, (motors,) [rad].
        motor_legs: index of each motor's leg joint, six for each leg, left before right, or -1, (motors,).
    """

    def __init__(self, table: RobotTable, held: Mapping[str, float] | None = None) -> None:
        self.table = table
        self.legs = NaoLegs(table.settings, table.kind)
        self.ready = pose_angles(table.settings, table, "ready")
        self.home = self.ready[table.motor_joints]
        legs = [name for leg in self.legs.names for name in leg]
        for name, angle in (held or {}).items():
            if name not in table.joints or name in legs:
                upper = [j for j in table.joints if j not in legs]
                raise UnknownNameError(f"joint of {table.name} that can be held", name, upper)
            self.ready[table.joints.index(name)] = angle
        self._columns = np.array([[table.joints.index(name) for name in leg] for leg in self.legs.names])
        flat = self._columns.ravel().tolist()
        self.motor_legs = np.array([flat.index(j) if j in flat else -1 for j in table.motor_joints.tolist()])

    @functools.cached_property
    def _masses(self) -> _Masses:
        return _masses_of(self)  # on demand: it compiles the robot, and a walk does not need it

    def weigh(self) -> None:
        """Fills the masses into the record of the legs, for compiled code that needs the centre of mass."""
        for name in _MASS_FIELDS:
            self.legs.record[name] = getattr(self._masses, name)

    @property
    def mass(self) -> float:
        """Mass of the whole robot [kg]."""
        return self._masses.total

    @property
    def ready_legs(self) -> Floats:
        """Angles of the legs in `ready`, (2, 6) [rad]."""
        return np.asarray(self.ready[self._columns] * self.legs.signs)

    def motors(self, legs: Floats) -> Floats:
        """Commands for all motors, (N, motors), from the angles of the legs, (N, 2, 6)."""
        joints = np.broadcast_to(self.ready, (*legs.shape[:-2], len(self.ready))).copy()
        joints[..., self._columns] = legs * self.legs.signs
        return np.asarray(joints[..., self.table.motor_joints])

    def centre_of_mass(self, legs: ArrayLike) -> Floats:
        """The centre of mass in the torso's frame: angles of the legs (N, 2, 6) to (N, 3) [m]."""
        return np.asarray(self._masses.shares @ self._parts(np.asarray(legs, float)))

    def zmp(self, torso: Pose, legs: Floats, period: float, *, gravity: float = GRAVITY) -> Floats:
        """The zero-moment point of a motion sampled every `period` seconds, (T, 2) [m].

        Torso (T, 3) and (T, 3, 3), angles of the legs (T, 2, 6). Unlike in the cart-table model each link is a
        mass of its own, so that swinging legs count; the links' own inertias do not.
        """
        places = torso.position[:, None] + self._parts(legs) @ np.swapaxes(torso.rotation, -1, -2)
        second = np.zeros_like(places)
        second[1:-1] = (places[2:] - 2 * places[1:-1] + places[:-2]) / period**2
        shares = self._masses.shares
        down = shares * (second[..., 2] + gravity)
        moment = down[..., None] * places[..., :2] - (shares * places[..., 2])[..., None] * second[..., :2]
        return np.asarray(moment.sum(axis=1) / down.sum(axis=1)[:, None])

    def _parts(self, legs: Floats) -> Floats:
        """Centres of mass of the upper body and of the twelve links in the torso's frame, (N, 13, 3)."""
        masses, tilt = self._masses, _axis_rotation(0, _TILT)
        hip_yaw = tilt @ _axis_rotation(2, legs[..., 0] * [-1.0, 1.0])
        frame = hip_yaw @ np.swapaxes(tilt, -1, -2)
        place = np.broadcast_to(masses.steps[:, 0], frame.shape[:-1])
        parts = [np.broadcast_to(masses.upper, (*legs.shape[:-2], 1, 3))]
        for link, axis in enumerate(LEG_AXES):
            if link:
                place = place + rotate(frame, masses.steps[:, link])
                frame = frame @ _axis_rotation(axis, legs[..., link])
            parts.append(place + rotate(frame, masses.centres[:, link]))
        return np.concatenate(parts, axis=-2)

    def balance(
        self, centre: Floats, height: ArrayLike, turned: Floats, feet: Pose, *, guess: Floats | None = None
    ) -> tuple[Pose, LegAngles]:
        """The pose of the torso for which the centre of mass is above a given place.

        Args:
            centre: wanted x and y of the centre of mass, (N, 2) [m].
            height: height of the torso's origin, () or (N,) [m].
            turned: rotation of the torso, (N, 3, 3).
            feet: the soles, (N, 2, 3) and (N, 2, 3, 3).
            guess: a place of the torso to begin from, (N, 3) [m].

        Moving the torso drags part of the legs along, about four fifths of the mass, so repeating the correction
        converges quickly; it ends when the centre of mass is right to a micrometre.
        """
        about_there = centre if guess is None else guess[..., :2]
        place = np.concatenate([about_there, np.broadcast_to(height, centre.shape[:-1])[..., None]], axis=-1)
        found = self.legs.inverse(Pose(place, turned), feet)
        for _ in range(BALANCE_ROUNDS):
            missing = centre - (place + rotate(turned, self.centre_of_mass(found.angles)))[..., :2]
            if np.abs(missing).max() < BALANCE_TOLERANCE:
                break
            place[..., :2] += BALANCE_GAIN * missing
            found = self.legs.inverse(Pose(place, turned), feet)
        return Pose(place, turned), found


@dataclass(frozen=True)
class _Masses:
    """Masses and centres of mass of a robot's upper body and of the six links of each leg."""

    total: float
    """Mass of the whole robot [kg]."""
    shares: Floats
    """Shares of the upper body and of the twelve links in the total mass, (13,)."""
    upper: Floats
    """Centre of mass of the upper body from the torso's origin, (3,) [m]."""
    steps: Floats
    """Vectors from each joint of a leg to the next, the first from the torso's origin, (2, 6, 3) [m]."""
    centres: Floats
    """Centres of mass of the links from their joints, (2, 6, 3) [m]."""


def _masses_of(body: NaoBody) -> _Masses:
    """The masses of the compiled robot, with its arms and head in the pose `ready`."""
    table = body.table
    model = build(table.settings, kind=table.kind, visuals=False).compile()
    data = mujoco.MjData(model)
    for joint in table.joints:
        data.qpos[model.joint(joint).qposadr[0]] = 0.0
    mujoco.mj_kinematics(model, data)
    joints = np.array([[model.joint(name).id for name in leg] for leg in body.legs.names])
    links = model.jnt_bodyid[joints]
    steps = np.diff(data.xanchor[joints] - data.xpos[1], axis=1, prepend=0.0)
    centres = model.body_ipos[links] - model.jnt_pos[joints]
    for joint, angle in zip(table.joints, body.ready, strict=True):
        data.qpos[model.joint(joint).qposadr[0]] = angle
    mujoco.mj_kinematics(model, data)
    on_legs = _descendants(model, links[:, 0])
    extra = [b for b in on_legs - set(links.flat) if model.body_mass[b] > _NEGLIGIBLE]
    if extra:
        name = model.body(extra[0]).name
        raise ModelError(f"{table.name} has the body {name!r} on its leg, which is none of a Nao's six links.")
    upper = [b for b in range(1, model.nbody) if b not in on_legs]
    weight = model.body_mass[upper]
    centre = weight @ (data.xipos[upper] - data.xpos[1]) / weight.sum()
    masses = np.concatenate([[weight.sum()], model.body_mass[links].T.ravel()])
    total = float(masses.sum())
    return _Masses(total, masses / total, centre, steps, centres)


def _descendants(model: mujoco.MjModel, roots: Floats) -> set[int]:
    """All descendants of some bodies, these included; a child always comes after its parent."""
    found = {int(root) for root in roots}
    for body in range(1, model.nbody):
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return found


_NEGLIGIBLE = 1e-5  # mass of a drive's own parts that need not be counted [kg]
