"""Feet and legs of any robot, found in its model: the joints that move them, poses that lift them, and their mirror.

    feet = find_feet(scene, scene.robot("walker"))
    feet.joints                             # names of the joints between the torso and the feet
    feet.group                              # 0 or 1: feet that swing together (left, right; diagonals of four legs)
    feet.lift(0.05)                         # (2, joints of the model): angles that draw each group up by 5 cm
    feet.record                             # for compiled code: the heights of the soles from the joints' angles
    mirror_of(scene, table)                 # partner and sign of each motor in a mirror; None if there is no mirror

A robot's file may name its feet (`feet` of robot.toml); if it does not, feet are the ends of limbs that reach the
ground in the start pose. Nothing else has to be known: legs are the bodies between a foot and the torso, and a
pose that draws a foot straight up is found by damped least squares (Wampler, 1986) on the engine's own Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats, Ints
from nutmeg.base.errors import ModelError
from nutmeg.base.records import Records, new_records

if TYPE_CHECKING:
    from nutmeg.base.arrays import Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable

_MAX_FEET, _MAX_LINKS = 6, 16
"""Largest number of feet, and of joints and bodies between a foot and the torso, in records for compiled code."""
FOOT_CLEARANCE = 0.03
"""Ends of limbs up to this far above the lowest point of a robot are feet [m]."""
_MIRROR_DISTANCE, _MIRROR_COSINE = 0.02, 0.98
"""Largest distance between the mirror image of a joint and its partner [m], and smallest cosine between their axes."""
SWING = 0.03
"""Distance by which feet are moved to find the joint angles of a swinging leg [m]."""
_IK_STEPS, _IK_DAMPING, _IK_TURN = 60, 0.02, 0.2
"""Steps of the search for a lifted leg, its damping, and the weight of a radian of the sole's tilt [m]."""


@dataclass(frozen=True)
class FeetTable:
    """Kinematic chains from the torso to the soles, as a record for compiled code."""

    feet: int
    """Number of feet."""
    group: Annotated[Ints, (_MAX_FEET,)]
    """The half of the clock in which each swings, 0 or 1."""
    links: Annotated[Ints, (_MAX_FEET,)]
    """Number of links from each foot up to the torso."""
    address: Annotated[Ints, (_MAX_FEET, _MAX_LINKS)]
    """Place of each link's angle in the configuration; -1 for a link that does not turn."""
    zero: Annotated[Floats, (_MAX_FEET, _MAX_LINKS)]
    """Joint angle in the reference pose of the model file [rad]."""
    axis: Annotated[Floats, (_MAX_FEET, _MAX_LINKS, 3)]
    """Its axis, in the link's frame."""
    anchor: Annotated[Floats, (_MAX_FEET, _MAX_LINKS, 3)]
    """A point on the axis [m]."""
    turn: Annotated[Floats, (_MAX_FEET, _MAX_LINKS, 3, 3)]
    """Rotation from the link's frame to the next one towards the torso."""
    offset: Annotated[Floats, (_MAX_FEET, _MAX_LINKS, 3)]
    """Place of the link's frame there [m]."""
    sole: Annotated[Floats, (_MAX_FEET, 3)]
    """Lowest point below the middle of each foot, in its frame [m]."""


@dataclass(frozen=True)
class Feet:
    """The feet of a robot."""

    scene: Scene
    table: RobotTable
    bodies: tuple[int, ...]
    """Ids of the feet in the model, left before right and front before back."""
    group: tuple[int, ...]
    """The half of the clock in which each swings: 0 or 1."""
    places: Floats
    """Middles of the soles in the torso's frame at the start, (feet, 3) [m]."""
    hip_height: float
    """Height of the first joints of the legs above the ground at the start [m]."""
    record: Records[FeetTable]
    """The record of the feet for compiled code, (1,)."""

    @property
    def joints(self) -> frozenset[str]:
        """Names of the joints between the torso and the feet."""
        prefix, model = f"{self.table.name}/", self.scene.model
        found = {
            j
            for body in self.bodies
            for above in _bodies_above(model, body, self.table.body)
            for j in _joints_of(model, above)
        }
        return frozenset(model.joint(j).name.removeprefix(prefix) for j in found) & {*self.table.joints}

    @property
    def partners(self) -> tuple[int, ...]:
        """Index of the mirror image of each foot."""
        images = self.places * [1.0, -1.0, 1.0]
        return tuple(int(np.linalg.norm(self.places - image, axis=1).argmin()) for image in images)

    def lift(self, height: float) -> Floats:
        """Changes of the angles of all joints of the table that draw up each group of feet, (2, joints) [rad]."""
        found = np.zeros((2, len(self.table.joints)))
        for body, group, sole in zip(self.bodies, self.group, self.record["sole"][0], strict=False):
            found[group] += self._moved(body, sole, np.array([0.0, 0.0, height]))
        return found

    def swing(self) -> Floats:
        """Changes of all joints that move the first feet ahead, or left, and the others back, (2, joints) [rad/m]."""
        found = np.zeros((2, len(self.table.joints)))
        for body, group, sole in zip(self.bodies, self.group, self.record["sole"][0], strict=False):
            for axis in range(2):
                way = SWING * np.eye(3)[axis]
                found[axis] += (1 - 2 * group) * self._moved(body, sole, way) / SWING
        return found

    def _moved(self, body: int, sole: Floats, way: Floats) -> Floats:
        """Changes of the angles that move the sole of a foot by `way` (3,) [m], level if the leg has joints enough."""
        model, table = self.scene.model, self.table
        driven = {int(joint) for joint in table.motor_joints}
        above = {*_bodies_above(model, body, table.body)}
        for other in {*self.bodies} - {body}:  # a waist moves all feet, and lifts none
            above -= {*_bodies_above(model, other, table.body)}
        chain = {joint for one in above for joint in _joints_of(model, one)}
        names = [f"{table.name}/{name}" for name in table.joints]
        used = [i for i, name in enumerate(names) if i in driven and model.joint(name).id in chain]
        dofs, addresses = table.rates[used], table.angles[used]
        data = mujoco.MjData(model)
        data.qpos[:] = self.scene.start
        mujoco.mj_kinematics(model, data)
        start, level = data.xpos[body] + data.xmat[body].reshape(3, 3) @ sole, data.xquat[body].copy()
        weight = _IK_TURN if len(used) >= 5 else 0.0
        place, turn, off = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros(3)
        for _ in range(_IK_STEPS):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ sole
            mujoco.mj_jac(model, data, place, turn, point, body)
            mujoco.mju_subQuat(off, level, data.xquat[body])
            error = np.concatenate([start - point + way, weight * data.xmat[body].reshape(3, 3) @ off])
            slopes = np.concatenate([place, weight * turn])[:, dofs]
            step = slopes.T @ np.linalg.solve(slopes @ slopes.T + _IK_DAMPING**2 * np.eye(6), error)
            data.qpos[addresses] = np.clip(data.qpos[addresses] + step, *table.limits[used].T)
        found = np.zeros(len(table.joints))
        found[used] = data.qpos[addresses] - self.scene.start[addresses]
        return found


def find_feet(scene: Scene, table: RobotTable) -> Feet:
    """The feet of a robot of a scene."""
    model = scene.model
    data = mujoco.MjData(model)
    data.qpos[:] = scene.start
    mujoco.mj_kinematics(model, data)
    lowest = _lowest_points(model, data, table)
    if table.settings.feet:
        chosen = [int(model.body(f"{table.name}/{foot}").id) for foot in table.settings.feet]
    else:
        ground = min((point[2] for point in lowest.values()), default=0.0)
        down = {body for body, point in lowest.items() if point[2] < ground + FOOT_CLEARANCE and body != table.body}
        chosen = sorted(down - {above for body in down for above in _bodies_above(model, body, table.body)[1:]})
    if table.root < 0 or not 2 <= len(chosen) <= _MAX_FEET or any(body not in lowest for body in chosen):
        raise ModelError(
            f"{table.settings.name} has {len(chosen)} feet on the ground in its ready pose; a walk needs a free base "
            f"and 2 to {_MAX_FEET} feet that collide. Name their bodies in robot.toml: feet = [...]."
        )
    torso, upright = data.xpos[table.body], data.xmat[table.body].reshape(3, 3)
    places = {body: upright.T @ (lowest[body] - torso) for body in chosen}
    # Left before right, front before back; neighbours on a side swing in turn, and so do opposite feet.
    order: list[tuple[int, int]] = []
    for side in (0, 1):
        mine = sorted((b for b in chosen if (places[b][1] <= 0) == bool(side)), key=lambda b: -places[b][0])
        order += [(body, (side + number) % 2) for number, body in enumerate(mine)]
    bodies, group = zip(*order, strict=True)
    first = [_bodies_above(model, body, table.body)[-1] for body in bodies]
    hips = float(np.mean([data.xpos[body][2] for body in first]))
    soles = np.array([data.xmat[b].reshape(3, 3).T @ (lowest[b] - data.xpos[b]) for b in bodies])
    return Feet(
        scene=scene,
        table=table,
        bodies=bodies,
        group=group,
        places=np.array([places[body] for body in bodies]),
        hip_height=hips - min(float(point[2]) for point in lowest.values()),
        record=_record(model, table, bodies, group, soles),
    )


def _lowest_points(model: mujoco.MjModel, data: mujoco.MjData, table: RobotTable) -> dict[int, Floats]:
    """The lowest point below the middle of the lowest colliding shape of each of a robot's bodies [m]."""
    found: dict[int, Floats] = {}
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        solid = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if not solid or model.body_rootid[body] != model.body_rootid[table.body]:
            continue
        turn, box = data.geom_xmat[geom].reshape(3, 3), model.geom_aabb[geom]
        point = data.geom_xpos[geom] + turn @ box[:3]
        half = float(np.abs(turn[2]) @ box[3:])
        if model.geom_type[geom] in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE):
            # The lower end of a capsule; a sphere is one without length.
            half = float(model.geom_size[geom, 0])
            point = point - turn[:, 2] * np.sign(turn[2, 2]) * model.geom_size[geom, 1]
        point = point - [0.0, 0.0, half]
        if body not in found or point[2] < found[body][2]:
            found[body] = point
    return found


def _bodies_above(model: mujoco.MjModel, body: int, root: int) -> list[int]:
    """A body and those between it and a root, from the end of the limb up; the root is left out."""
    found = []
    while body not in (root, 0):
        found.append(int(body))
        body = model.body_parentid[body]
    return found


def _joints_of(model: mujoco.MjModel, body: int) -> range:
    first = int(model.body_jntadr[body])
    return range(first, first + int(model.body_jntnum[body]))


def _record(
    model: mujoco.MjModel, table: RobotTable, bodies: tuple[int, ...], group: tuple[int, ...], soles: Floats
) -> Records[FeetTable]:
    """The record of the chains from the feet up to the torso, (1,)."""
    table_of = new_records(FeetTable, 1)
    found: Any = table_of[0]
    found.feet = len(bodies)
    found.group[: len(group)], found.sole[: len(soles)] = group, soles
    found.address[:], found.turn[:] = -1, np.eye(3)
    for foot, end in enumerate(bodies):
        number = 0
        for body in _bodies_above(model, end, table.body):
            # A body's joints turn it one after the other; the last one is nearest to what hangs on the body.
            joints = list(reversed(_joints_of(model, body))) or [-1]
            if number + len(joints) > _MAX_LINKS:
                raise ModelError(f"{table.settings.name} has a leg of more than {_MAX_LINKS} links.")
            for joint in joints:
                if joint >= 0 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
                    found.address[foot, number] = model.jnt_qposadr[joint]
                    found.zero[foot, number] = model.qpos0[model.jnt_qposadr[joint]]
                    found.axis[foot, number], found.anchor[foot, number] = model.jnt_axis[joint], model.jnt_pos[joint]
                number += 1
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, model.body_quat[body])
            found.turn[foot, number - 1], found.offset[foot, number - 1] = matrix.reshape(3, 3), model.body_pos[body]
        found.links[foot] = number
    return table_of


def mirror_of(scene: Scene, table: RobotTable) -> tuple[Indices, Floats] | None:
    """The motor whose joint is the mirror image of each motor's, and the sign of its angle; None without a mirror.

    The mirror is the torso's plane of x and z. In it an axis a, which is a direction of rotation, becomes
    (-ax, ay, -az). Joints and limits must have images, and the pose of the start must be its own.
    """
    model = scene.model
    data = mujoco.MjData(model)
    if table.root >= 0:
        data.qpos[table.root + 3 : table.root + 7] = [1, 0, 0, 0]
    mujoco.mj_kinematics(model, data)
    ids = [model.joint(f"{table.name}/{name}").id for name in table.joints]
    places, axes = data.xanchor[ids] - data.xpos[table.body], data.xaxis[ids]
    motors = {int(joint): motor for motor, joint in enumerate(table.motor_joints)}
    partner, sign = np.arange(len(table.motors)), np.ones(len(table.motors))
    for motor, joint in enumerate(table.motor_joints):
        apart = np.linalg.norm(places - places[joint] * [1.0, -1.0, 1.0], axis=1)
        along = axes @ (axes[joint] * [-1.0, 1.0, -1.0])
        # Joints that meet in a point differ in their axes, parallel ones in their places.
        apart = np.where(np.abs(along) > _MIRROR_COSINE, apart, np.inf)
        other = int(apart.argmin())
        limits = table.limits[other] * np.sign(along[other])
        if apart[other] > _MIRROR_DISTANCE or not np.allclose(np.sort(limits), table.limits[joint], atol=0.02):
            return None
        # One motor may drive the joints of both sides: it is its own partner.
        partner[motor], sign[motor] = motors.get(other, motor), np.sign(along[other])
    start = scene.start[table.angles[table.motor_joints]]
    return (partner, sign) if np.allclose(start[partner] * sign, start, atol=0.02) else None
