"""A robot by itself: its named poses, how high it stands in them, and its numbers for tables.

`standing(robot, "ready")` gives the joint angles of a pose, checked against the joints' limits, and the height of the
root at which the lowest point of the robot touches the ground. `overlaps(scene, "robot")` names its bodies that already
touch where it starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.build import COLLISION_GROUP, build
from nutmeg.model.physics import physics_profile
from nutmeg.model.tables import RobotTable, robot_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.model.robot import RobotSettings
    from nutmeg.model.scene import Scene


GROUND_CLEARANCE = 1e-4
"""Gap left between the lowest point and the ground [m]."""
POSE_TOLERANCE = 1e-3
"""Allowed distance of a pose from a joint's range, because angles are often printed with three decimals [rad]."""


@dataclass(frozen=True)
class Standing:
    """A pose on the ground."""

    angles: Floats
    """Joint angles in the order of the robot's table, (joints,) [rad]."""
    height: float
    """Height of the root's origin above the ground [m]."""
    top: float
    """Height of the highest visible point above the ground [m]."""
    mass: float
    """Mass of the whole robot [kg]."""
    table: RobotTable
    """Names of its joints, motors and sensors."""


def standing(
    robot: RobotSettings,
    pose: str,
    *,
    kind: str = "",
    parameters: Mapping[str, float] | None = None,
    visuals: bool = True,
) -> Standing:
    """A pose of a robot, with the height at which it stands.

    Args:
        robot: which robot.
        pose: one of its poses.
        kind: one of its types.
        parameters: values of parameters that differ from the type's.
        visuals: whether to include shapes that do not collide: faster without, but then `top` leaves them out.
    """
    key = tuple(sorted((parameters or {}).items()))
    return _standing(_ById(robot), pose, kind, key, visuals)


class _ById:
    """A robot as a key of the cache: settings are frozen but hold mappings, which have no hash."""

    def __init__(self, robot: RobotSettings) -> None:
        self.robot = robot

    def __hash__(self) -> int:
        return id(self.robot)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.robot is self.robot


@lru_cache(maxsize=256)
def _standing(key: _ById, pose: str, kind: str, parameters: tuple[tuple[str, float], ...], visuals: bool) -> Standing:
    robot = key.robot
    model, table = _compiled(robot, kind, dict(parameters), visuals=visuals)
    angles = pose_angles(robot, table, pose)
    data = mujoco.MjData(model)
    data.qpos[table.angles] = angles
    mujoco.mj_kinematics(model, data)
    solid = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    seen = [g for g in range(model.ngeom) if model.geom_group[g] < COLLISION_GROUP]
    lowest = min((_extent(model, data, g)[0] for g in solid), default=0.0)
    highest = max((_extent(model, data, g)[1] for g in seen), default=0.0)
    root_z = float(data.qpos[table.root + 2]) if table.root >= 0 else 0.0
    mass = float(model.body_subtreemass[table.body])
    if table.root < 0:
        return Standing(angles, 0.0, highest, mass, table)
    return Standing(angles, root_z - lowest + GROUND_CLEARANCE, highest - lowest, mass, table)


def _compiled(
    robot: RobotSettings, kind: str, parameters: Mapping[str, float], *, visuals: bool
) -> tuple[mujoco.MjModel, RobotTable]:
    """A model with the robot alone, under the name `r`."""
    spec = mujoco.MjSpec()
    physics_profile(robot.physics).apply(spec)
    child = build(robot, kind=kind, parameters=parameters, visuals=visuals)
    spec.attach(child, frame=spec.worldbody.add_frame(), prefix="r/")
    try:
        model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise ModelError(f"MuJoCo cannot build the robot {robot.name}: {message}") from None
    return model, robot_table(model, "r", robot, kind)


def pose_angles(robot: RobotSettings, table: RobotTable, pose: str) -> Floats:
    """The joint angles of a named pose in the table's order, (joints,); outside a limit is an error."""
    poses = {"zero": {}, "ready": {}, **robot.poses}
    if pose not in poses:
        raise UnknownNameError(f"pose of {robot.name}", pose, poses)
    wanted = dict(poses[pose])
    for name in wanted:
        if name not in table.joints:
            raise UnknownNameError("joint", name, table.joints, where=f"pose {pose!r} of {robot.name}")
    for pair in robot.shared:
        if pair.leader in wanted:
            wanted[pair.follower] = wanted[pair.leader] * pair.ratio
    angles = np.array([wanted.get(name, 0.0) for name in table.joints])
    inside = np.clip(angles, table.limits[:, 0], table.limits[:, 1])
    for index in np.flatnonzero(np.abs(angles - inside) > POSE_TOLERANCE):
        name = table.joints[index]
        low, high = table.limits[index]
        if name in wanted:
            raise ModelError(
                f"pose {pose!r} of {robot.name} puts {name} at {angles[index]:g} rad, but its range is "
                f"{low:g}..{high:g} rad. Change the pose or the joint's range."
            )
    return np.asarray(inside)


def _extent(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[float, float]:
    """Lowest and highest z of a geom, exact for every primitive."""
    size, up = model.geom_size[geom], data.geom_xmat[geom].reshape(3, 3)[2]
    kind = model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        half = size[0]
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        half = size[0] + size[1] * abs(up[2])
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        half = size[0] * np.hypot(up[0], up[1]) + size[1] * abs(up[2])
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        half = float(np.linalg.norm(size * up))
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        half = float(np.abs(size * up).sum())
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        heights = model.mesh_vert[first : first + count] @ up + data.geom_xpos[geom, 2]
        return float(heights.min()), float(heights.max())
    else:
        return 0.0, 0.0
    middle = data.geom_xpos[geom, 2]
    return float(middle - half), float(middle + half)


# ----------------------------------------------------------------------------------------------------
# Tables of robots and their bodies, for `nutmeg robots` and the docs


@dataclass(frozen=True, kw_only=True)
class RobotFacts:
    """A robot in numbers."""

    name: str
    mass_kg: float
    height_m: float
    """Height of the highest point above the ground in the ready pose."""
    joints: int
    motors: int
    sensors: int
    source: str
    licence: str


@dataclass(frozen=True)
class BodyRow:
    """One body of a robot, for a table."""

    name: str
    parent: str
    mass: float
    joint: str
    axis: str
    low: float | None
    high: float | None


def robot_facts(robot: RobotSettings, kind: str = "") -> RobotFacts:
    """The numbers of a robot in its ready pose."""
    stands = standing(robot, "ready", kind=kind)
    table = stands.table
    return RobotFacts(
        name=robot.name,
        mass_kg=round(stands.mass, 4),
        height_m=round(stands.top, 4),
        joints=len(table.joints),
        motors=len(table.motors),
        sensors=len(table.sensors),
        source=robot.source,
        licence=robot.licence,
    )


def body_rows(robot: RobotSettings, kind: str = "") -> list[BodyRow]:
    """The bodies of a robot with their joints, rotors left out."""
    model, table = _compiled(robot, kind, {}, visuals=False)
    rows = []
    for body in range(1, model.nbody):
        name = model.body(body).name.removeprefix("r/")
        first, count = model.body_jntadr[body], model.body_jntnum[body]
        hinges = [j for j in range(first, first + count) if model.joint(j).name.removeprefix("r/") in table.joints]
        if count and not hinges and model.jnt_type[first] != mujoco.mjtJoint.mjJNT_FREE:
            continue
        parent = model.body(model.body_parentid[body]).name.removeprefix("r/")
        mass = float(model.body_mass[body])
        if not hinges:
            rows.append(BodyRow(name, "" if parent == "world" else parent, mass, "", "", None, None))
        for j in hinges:
            axis = " ".join(f"{a:.3g}" for a in model.jnt_axis[j])
            low, high = (float(v) for v in model.jnt_range[j]) if model.jnt_limited[j] else (None, None)
            rows.append(BodyRow(name, parent, mass, model.joint(j).name.removeprefix("r/"), axis, low, high))
    return rows


# ----------------------------------------------------------------------------------------------------
# Overlapping shapes.
#
# Shapes of a maker's model file often overlap: hulls of meshes are larger than the parts, and covers cross joints. The
# engine pushes such bodies apart in every step, so that joints stand degrees away from their commands, and no search of
# parameters repairs that.


MIN_DEPTH = 1e-3
"""Shapes that overlap by less are taken to touch, as parts of a robot may [m]."""


@dataclass(frozen=True)
class Overlap:
    """Two bodies of a robot whose shapes overlap."""

    first: str
    second: str
    depth: float
    """How deep [m]."""

    def __str__(self) -> str:
        return f"{self.first} and {self.second} overlap by {1000 * self.depth:.1f} mm"


def overlaps(scene: Scene, robot: str, angles: Floats | None = None) -> list[Overlap]:
    """The bodies of a robot that overlap at the start of a scene, the deepest first.

    Args:
        scene: the compiled scene.
        robot: name of the robot in it.
        angles: joint angles in the order of its table, (joints,) [rad]; those of the start without them or where nan.
    """
    model, table = scene.model, scene.robot(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = scene.start
    if angles is not None:
        data.qpos[table.angles] = np.where(np.isnan(angles), data.qpos[table.angles], angles)
    mujoco.mj_forward(model, data)
    prefix, deepest = f"{robot}/", dict[tuple[str, str], float]()
    for contact in data.contact[: data.ncon]:
        names = sorted(model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        if all(name.startswith(prefix) for name in names):
            first, second = (name.removeprefix(prefix) for name in names)
            deepest[first, second] = max(deepest.get((first, second), 0.0), -float(contact.dist))
    found = [Overlap(*pair, depth) for pair, depth in deepest.items() if depth > MIN_DEPTH]
    return sorted(found, key=lambda one: -one.depth)


def overlap_advice(found: Sequence[Overlap]) -> str:
    """What overlaps, and the line for robot.toml that lets these bodies pass through each other; empty without any."""
    if not found:
        return ""
    pairs = ", ".join(f'["{one.first}", "{one.second}"]' for one in found)
    return (
        f"shapes overlap where the robot starts ({'; '.join(map(str, found))}), and push joints away from their "
        f"commands. Let them pass: ignore_contacts = [{pairs}] in robot.toml."
    )
