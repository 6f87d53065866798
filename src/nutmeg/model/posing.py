"""A robot by itself: its named poses, how high it stands in them, and its numbers for tables.

`standing(robot, "ready")` gives the joint angles of a pose, checked against the joints' limits, and the height of the
root at which the lowest point of the robot touches the ground. `overlaps(scene, "robot")` names its bodies that already
touch where it starts.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError, UnknownNameError, UsageError, counted
from nutmeg.base.settings import toml_text
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
DEFAULT_TORQUE = 5.0
"""Torque limit of a drive whose file gives none [N m]: the default of `robot.Drive`."""
UNLIKELY_TORQUE = 1000.0
"""Torque limit above which a file is taken to have none, because some files write numbers like 1e9 [N m]."""
FOOT_CLEARANCE = 0.03
"""Height above a robot's lowest point up to which a body counts as standing on the ground [m]."""
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
        robot: the robot.
        pose: name of one of its poses.
        kind: one of its types; empty for the plain one.
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


def root_on_ground(scene: Scene, robot: str, angles: Floats, up: Floats | None = None) -> Floats:
    """The pose of a robot's root, (7,) [m, 1], in which its lowest point touches the ground.

    Args:
        scene: the compiled scene, which has the robot's position and heading.
        robot: name of the robot in it.
        angles: joint angles in the order of its table, (joints,) [rad]; those of the start where nan.
        up: the vertical in the frame of the root, (3,); as at the start without it.
    """
    model, table = scene.model, scene.robot(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = scene.start
    data.qpos[table.angles] = np.where(np.isnan(angles), data.qpos[table.angles], angles)
    quaternion = data.qpos[table.root + 3 : table.root + 7]
    if up is not None:
        turn = np.zeros(3)
        mujoco.mju_rotVecQuat(turn, np.asarray(up, float) / np.linalg.norm(up), quaternion)
        # The shortest turn that brings this direction upright leaves the heading as it is.
        tilt = np.array([1 + turn[2], turn[1], -turn[0], 0.0])
        tilt = tilt / np.linalg.norm(tilt) if np.linalg.norm(tilt) > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
        righted = np.zeros(4)
        mujoco.mju_mulQuat(righted, tilt, quaternion)
        data.qpos[table.root + 3 : table.root + 7] = righted
    mujoco.mj_kinematics(model, data)
    own = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.startswith(f"{robot}/")]
    solid = [g for g in own if model.geom_contype[g] or model.geom_conaffinity[g]]
    lowest = min((_extent(model, data, g)[0] for g in solid), default=0.0)
    data.qpos[table.root + 2] += GROUND_CLEARANCE - lowest
    return np.array(data.qpos[table.root : table.root + 7])


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
# A first robot.toml for somebody's model file, to be corrected by hand


def describe(robot: RobotSettings, home: Path) -> str:
    """A `robot.toml` for a robot that is a model file alone: base, feet, drives and the pose in which it starts.

    Feet are the last bodies of limbs that reach the ground in that pose; a URDF file without any is bolted down. Bodies
    whose shapes overlap there pass each other (`ignore_contacts`), as they would else push joints away from their
    commands. Motors of the file that take torques get drives instead, with its torque limits and gains that bring the
    whole torque at a quarter of a radian.

    Args:
        robot: as `load_robot` reads the model file.
        home: the folder in which the file is to be; the path of the model is written relative to it.
    """
    file = robot.model.mjcf or robot.model.urdf
    if file is None or robot.body or robot.sensor:
        raise UsageError(f"{robot.name} has a robot.toml already; describe needs an MJCF or URDF file alone.")
    model, table = _compiled(robot, "", {}, visuals=True)
    data = mujoco.MjData(model)
    data.qpos[table.angles] = pose_angles(robot, table, "ready")
    mujoco.mj_forward(model, data)
    overlapping = _overlaps(model, data, "r/")
    torque_driven = "torque" in table.drives
    made_drives = torque_driven or bool(robot.drives)
    feet = _feet(robot, model, table) if robot.base == "free" else []
    # A URDF file cannot say what is bolted down. A robot without a limb that reaches the ground is an arm.
    bolted = robot.base == "free" and bool(robot.model.urdf) and not feet
    written = {
        "format": robot.format,
        "name": robot.name,
        "source": robot.source,
        "licence": robot.licence,
        "base": "fixed" if bolted else robot.base,
        "feet": feet,
        "ignore_contacts": [[one.first, one.second] for one in overlapping],
        "model": {"urdf" if robot.model.urdf else "mjcf": os.path.relpath(file, home)}
        | ({"actuators": False} if torque_driven else {}),
        "drives": _described_drives(model, table, of_file=torque_driven) if made_drives else {},
        "poses": {"ready": {name: angle for name, angle in robot.poses.get("ready", {}).items() if angle}},
    }
    root = model.body(table.body).name.removeprefix("r/")
    kept = "" if made_drives else _kept_actuators(model, table)
    head = f"# Written by `nutmeg robots --describe`: correct what is wrong. The torso is the root, {root!r}.\n"
    pairs = f"# Shapes that overlap at the start pass each other: {'; '.join(map(str, overlapping))}.\n"
    text = toml_text({key: item for key, item in written.items() if item not in ({}, []) or key == "feet"})
    text = re.sub(r"\n\[[a-z.]+\]\n(?=\n|$)", "", text)  # headings with nothing below them
    arm = 'No limb reaches the ground: the base is bolted down like an arm\'s. If it can move, write base = "free".'
    return head + kept + (f"# {arm}\n" if bolted else "") + (pairs if overlapping else "") + text


def _kept_actuators(model: mujoco.MjModel, table: RobotTable) -> str:
    """A comment that says what the actuators of the model file move."""
    others = model.nu - len(table.motors)
    motors = f"The motors are {counted(len(table.motors), 'actuator')} of the model file." if table.motors else ""
    without = (
        f"{counted(others, 'actuator')} without a joint {'stays' if others == 1 else 'stay'} at 0." if others else ""
    )
    return "# " + " ".join(filter(None, (motors, without))) + "\n"


def _feet(robot: RobotSettings, model: mujoco.MjModel, table: RobotTable) -> list[str]:
    """Bodies at the ends of limbs whose colliding shapes are the lowest of the robot in its ready pose."""
    data = mujoco.MjData(model)
    data.qpos[table.angles] = pose_angles(robot, table, "ready")
    mujoco.mj_kinematics(model, data)
    low: dict[int, float] = {}
    for geom in range(model.ngeom):
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            body = int(model.geom_bodyid[geom])
            low[body] = min(low.get(body, np.inf), _extent(model, data, geom)[0])
    ground = min(low.values(), default=0.0)
    down = {body for body, height in low.items() if height < ground + FOOT_CLEARANCE and body != table.body}
    above = {int(model.body_parentid[body]) for body in down}
    return [model.body(body).name.removeprefix("r/") for body in sorted(down - above)]


def _described_drives(model: mujoco.MjModel, table: RobotTable, *, of_file: bool) -> dict[str, dict[str, object]]:
    """Drives for joints without actuators or with torque motors of the file, one for all joints of the same torque."""
    by_torque: dict[float, list[str]] = {}
    for index, name in enumerate(table.motors):
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, f"r/{name}")
        torque = _largest_torque(model, actuator, of_file=of_file)
        by_torque.setdefault(torque, []).append(table.joints[table.motor_joints[index]])
    ordered = sorted(by_torque.items(), reverse=True)
    return {
        f"group{number}": {"joints": joints, "stiffness": 4 * torque, "damping": 0.2 * torque, "torque": torque}
        for number, (torque, joints) in enumerate(ordered, 1)
    }


def _largest_torque(model: mujoco.MjModel, actuator: int, *, of_file: bool) -> float:
    """The torque limit of a joint [N m], or of an actuator of the file; that of a default drive if there is neither."""
    joint = int(model.actuator_trnid[actuator, 0])
    gear = abs(float(model.actuator_gear[actuator, 0])) or 1.0
    limits = []
    if of_file and model.actuator_forcelimited[actuator]:
        limits.append(float(model.actuator_forcerange[actuator, 1]) * gear)
    if model.jnt_actfrclimited[joint]:
        limits.append(float(model.jnt_actfrcrange[joint, 1]))
    if (
        of_file
        and model.actuator_ctrllimited[actuator]
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE
    ):
        most = float(model.actuator_ctrlrange[int(model.actuator_ctrladr[actuator]), 1])
        limits.append(most * abs(float(model.actuator_gainprm[actuator, 0])) * gear)
    known = [limit for limit in limits if limit < UNLIKELY_TORQUE]
    return round(min(known), 6) if known else DEFAULT_TORQUE


# ----------------------------------------------------------------------------------------------------
# Overlapping shapes.
#
# Shapes of a maker's model file often overlap: hulls of meshes are larger than the parts, and covers cross joints. The
# engine pushes such bodies apart in every step, so that joints stand degrees away from their commands, and no search of
# parameters repairs that.


MIN_DEPTH = 1e-3
"""Depth below which overlapping shapes count as touching, which parts of a robot may do [m]."""


@dataclass(frozen=True)
class Overlap:
    """Two bodies of a robot whose shapes overlap."""

    first: str
    second: str
    depth: float
    """Largest depth of the overlap [m]."""

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
    return _overlaps(model, data, f"{robot}/")


def _overlaps(model: mujoco.MjModel, data: mujoco.MjData, prefix: str) -> list[Overlap]:
    """The bodies with a prefix whose shapes overlap in a state whose contacts are known, the deepest first."""
    deepest: dict[tuple[str, str], float] = {}
    for contact in data.contact[: data.ncon]:
        names = sorted(model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        if all(name.startswith(prefix) for name in names):
            first, second = (name.removeprefix(prefix) for name in names)
            deepest[first, second] = max(deepest.get((first, second), 0.0), -float(contact.dist))
    found = [Overlap(*pair, depth) for pair, depth in deepest.items() if depth > MIN_DEPTH]
    return sorted(found, key=lambda one: -one.depth)


def overlap_advice(found: Sequence[Overlap]) -> str:
    """A sentence with the overlaps and the line for robot.toml that ignores these contacts; empty without overlaps."""
    if not found:
        return ""
    pairs = ", ".join(f'["{one.first}", "{one.second}"]' for one in found)
    return (
        f"shapes overlap where the robot starts ({'; '.join(map(str, found))}), and push joints away from their "
        f"commands. Let them pass: ignore_contacts = [{pairs}] in robot.toml."
    )
