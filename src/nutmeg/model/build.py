"""A robot's data turned into a MuJoCo specification.

`build(robot)` gives an `MjSpec` with the robot alone, its root free at the origin, everything under the names
of the robot's file; `scene.assemble` puts several of them into one world. The same parameters always build
the same specification.

    robot = load_robot("ant")
    spec = build(robot, parameters={"femur_front": 0.09})
    model = spec.compile()
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import TYPE_CHECKING

import mujoco

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model import geometry
from nutmeg.model.actuation import add_actuation, with_bending_links
from nutmeg.model.actuation.gear import add_bend
from nutmeg.model.model_file import read_model_file
from nutmeg.model.physics import physics_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.model.actuation import Actuation
    from nutmeg.model.physics import Contact, Physics
    from nutmeg.model.robot import Body, Colour, RobotSettings, Shape
    from nutmeg.model.sensors import Sensor

VISIBLE_GROUP = 0
"""Group of geoms that are visible and collide."""
DECORATION_GROUP = 1
"""Group of geoms that are only visible."""
COLLISION_GROUP = 3
"""Group of geoms that only collide; groups below are drawn."""

ROOT_JOINT = "root"
"""Name of a robot's free joint."""

GREY: Colour = (0.75, 0.75, 0.78)
_TYPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "roundbox": mujoco.mjtGeom.mjGEOM_MESH,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
}


def build(
    robot: RobotSettings,
    *,
    kind: str = "",
    parameters: Mapping[str, float] | None = None,
    team: Colour = GREY,
    visuals: bool = True,
    physics: Physics | None = None,
    actuation: Actuation | None = None,
) -> mujoco.MjSpec:
    """The specification of one robot.

    Args:
        robot: what to build.
        kind: one of the robot's types; empty for the plain one.
        parameters: values of parameters that differ from the type's.
        team: the colour of the parts that show the team.
        visuals: whether to include geoms that do not collide; a world steps faster without them.
        physics: the settings of the world it is built for; the robot's own profile by default.
        actuation: servos, gears and bending links; None for ideal drives.
    """
    values = parameter_values(robot, kind, parameters or {})
    try:
        robot_of_type = parts_of_type(robot, kind)
        if actuation is not None:
            robot_of_type = with_bending_links(robot_of_type, actuation.flex, values)
        return _specification(
            robot_of_type, values, team, physics or physics_profile(robot.physics), actuation, visuals=visuals
        )
    except ModelError as error:
        raise ModelError(f"{robot.name}: {error}") from None


def _specification(
    robot: RobotSettings,
    values: Mapping[str, float],
    team: Colour,
    physics: Physics,
    actuation: Actuation | None,
    *,
    visuals: bool,
) -> mujoco.MjSpec:
    from_file = robot.model.mjcf or robot.model.urdf
    spec = read_model_file(robot) if from_file else _from_tables(robot, values, physics.timestep)
    spec.modelname = robot.name
    _add_shapes(spec, robot, values, team, visuals=visuals)
    for first, second in robot.ignore_contacts:
        spec.add_exclude(bodyname1=_body(spec, first).name, bodyname2=_body(spec, second).name)
    physics.apply(spec)
    if physics.contact is not None:
        _replace_contact(spec, physics.contact)
    add_actuation(spec, robot, actuation, physics)
    for sensor in robot.sensor:
        _add_sensor(spec, sensor, values)
    return spec


def parts_of_type(robot: RobotSettings, kind: str) -> RobotSettings:
    """The robot reduced to the bodies, shapes, drives and sensors of one of its types."""
    return dataclasses.replace(
        robot,
        body=tuple(b for b in robot.body if not b.only or kind in b.only),
        shape=tuple(s for s in robot.shape if not s.only or kind in s.only),
        drives={name: d for name, d in robot.drives.items() if not d.only or kind in d.only},
        sensor=tuple(s for s in robot.sensor if not s.only or kind in s.only),
    )


def parameter_values(robot: RobotSettings, kind: str, changed: Mapping[str, float]) -> dict[str, float]:
    """All parameters of a robot: the defaults, those of its type, then the changed ones."""
    if kind and kind not in robot.types:
        raise UnknownNameError(f"type of {robot.name}", kind, robot.types)
    values = {name: p.value for name, p in robot.parameters.items()} | dict(robot.types.get(kind, {}))
    for name, value in changed.items():
        if name not in robot.parameters:
            raise UnknownNameError(f"parameter of {robot.name}", name, robot.parameters)
        if not math.isfinite(value):
            raise ModelError(f"parameter {name!r} of {robot.name} is {value}; it must be a finite number.")
        values[name] = value
    return values


def _from_tables(robot: RobotSettings, values: Mapping[str, float], timestep: float) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    made: dict[str, mujoco.MjsBody] = {}
    _check_tree(robot)
    for body in robot.body:
        if body.parent and body.parent not in made:
            problem = f"body {body.name!r} of {robot.name} has the parent {body.parent!r}, which no body before it is"
            raise UnknownNameError("body", body.parent, made, where=problem)
        parent = made[body.parent] if body.parent else spec.worldbody
        made[body.name] = _add_body(parent, body, values, timestep)
        if not body.parent and robot.base == "free":
            made[body.name].add_freejoint(name=ROOT_JOINT)
    for body in robot.body:
        if body.inertia is None and body.mass:
            _spread_mass(robot, body, values)
    return spec


def _check_tree(robot: RobotSettings) -> None:
    """Raises an error unless the robot has bodies, each with its own name, and exactly one of them is the root."""
    if not robot.body:
        raise ModelError("has no bodies: give [[body]] tables, links and joints, mjcf or urdf.")
    twice = [name for name, count in Counter(b.name for b in robot.body).items() if count > 1]
    if twice:
        raise ModelError(f"two bodies are called {twice[0]!r}; each needs a name of its own.")
    roots = [b.name for b in robot.body if not b.parent]
    if len(roots) > 1:
        raise ModelError(f"the bodies {' and '.join(map(repr, roots))} have no parent; only one, the root, may do so.")


def _add_body(parent: mujoco.MjsBody, body: Body, values: Mapping[str, float], timestep: float) -> mujoco.MjsBody:
    made = parent.add_body(name=body.name, pos=geometry.evaluate_all(body.pos, values))
    made.quat = geometry.euler_quaternion(geometry.evaluate_all(body.euler, values))
    if body.inertia is not None:
        xx, yy, zz, xy, xz, yz = geometry.evaluate_all(body.inertia, values)
        made.explicitinertial = True
        made.mass = geometry.evaluate(body.mass, values)
        made.ipos = geometry.evaluate_all(body.com or (0.0, 0.0, 0.0), values)
        made.fullinertia = [xx, yy, zz, xy, xz, yz]
    if body.bend is not None:
        add_bend(made, body.bend, timestep)
    if body.joint is not None:
        joint = made.add_joint(name=body.joint.name, type=mujoco.mjtJoint.mjJNT_HINGE)
        joint.axis = geometry.evaluate_all(body.joint.axis, values)
        joint.pos = geometry.evaluate_all(body.joint.anchor, values)
        if body.joint.range is not None:
            joint.range = _checked_range(body.joint.name, geometry.evaluate_all(body.joint.range, values))
    return made


def _checked_range(name: str, limits: list[float]) -> list[float]:
    low, high = limits
    if not low < high:
        raise ModelError(f"joint {name!r} has the range {low}..{high} rad; the first must be below the second.")
    return limits


def _spread_mass(robot: RobotSettings, body: Body, values: Mapping[str, float]) -> None:
    """Checks that a body without an inertia has shapes to take it from."""
    if not any(s.body == body.name or (s.mirror and geometry.mirrored_name(s.body) == body.name) for s in robot.shape):
        mass = geometry.evaluate(body.mass, values)
        raise ModelError(
            f"body {body.name!r} has a mass of {mass} kg but neither an inertia nor a shape to "
            f"spread it over: give one of them."
        )


def _add_shapes(
    spec: mujoco.MjSpec, robot: RobotSettings, values: Mapping[str, float], team: Colour, *, visuals: bool
) -> None:
    shapes = geometry.all_shapes(robot.shape)
    masses = _masses(robot, shapes, values)
    counts: dict[str, int] = {}
    for shape, mass in zip(shapes, masses, strict=True):
        if shape.role == "visual" and not visuals and not mass:
            continue
        counts[shape.body] = counts.get(shape.body, 0) + 1
        body = _body(spec, shape.body)
        name = f"{shape.body}.{counts[shape.body]}"
        _add_geom(spec, body, shape, values, name, _colour(robot, shape, team), mass, robot)


def _masses(robot: RobotSettings, shapes: list[Shape], values: Mapping[str, float]) -> list[float]:
    """The mass of each shape: a body without an inertia spreads its mass over its shapes by volume."""
    spread = {b.name: geometry.evaluate(b.mass, values) for b in robot.body if b.inertia is None and b.mass}
    masses = [0.0] * len(shapes)
    for name, mass in spread.items():
        mine = [i for i, s in enumerate(shapes) if s.body == name]
        carriers = [i for i in mine if shapes[i].role != "visual"] or mine
        volumes = [geometry.shape_volume(shapes[i].type, _full_size(shapes[i], values)) for i in carriers]
        for i, own in zip(carriers, volumes, strict=True):
            masses[i] = mass * own / sum(volumes)
    return masses


def _full_size(shape: Shape, values: Mapping[str, float]) -> list[float]:
    size = geometry.evaluate_all(shape.size, values)
    if shape.fromto is not None:
        a, b = geometry.evaluate_all(shape.fromto[:3], values), geometry.evaluate_all(shape.fromto[3:], values)
        size = [size[0], sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5]
    needed = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(shape.type, 3)
    if len(size) != needed or any(s <= 0 for s in size):
        raise ModelError(
            f"a {shape.type} on {shape.body!r} has the size {size}; it needs {needed} number(s) above 0 "
            f"(full lengths in metres; sphere: radius; capsule and cylinder: radius and length)."
        )
    return size


def _add_geom(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    shape: Shape,
    values: Mapping[str, float],
    name: str,
    colour: list[float],
    mass: float,
    robot: RobotSettings,
) -> None:
    size = _full_size(shape, values)
    as_mesh = shape.type == "roundbox" and shape.role == "visual"
    geom = body.add_geom(name=name, rgba=colour, mass=mass)
    geom.type = _TYPES["box" if shape.type == "roundbox" and not as_mesh else shape.type]
    if as_mesh:
        geom.meshname = _round_box(spec, size, shape.roundness)
    elif shape.type in ("box", "roundbox", "ellipsoid"):
        geom.size = [s / 2 for s in size]
    elif shape.type == "sphere":
        geom.size = [size[0], 0, 0]
    else:
        geom.size = [size[0], size[1] / 2, 0]
    if shape.fromto is not None:
        geom.fromto = geometry.evaluate_all(shape.fromto, values)
    else:
        geom.pos = geometry.evaluate_all(shape.pos, values)
        geom.quat = geometry.euler_quaternion(geometry.evaluate_all(shape.euler, values))
    if shape.role == "visual":
        geom.contype, geom.conaffinity, geom.group = 0, 0, DECORATION_GROUP
    else:
        geom.group = COLLISION_GROUP if shape.role == "collision" else VISIBLE_GROUP
        geom.friction = [robot.foot.friction if shape.foot else 0.5, 0.005, 0.0001]
        geom.priority = 1 if shape.foot else 0
        geom.condim = 3
        if robot.contact is not None:
            geom.friction, geom.priority = list(robot.contact.friction), robot.contact.priority
            geom.solref, geom.solimp = list(robot.contact.solref), list(robot.contact.solimp)
        if shape.foot and robot.foot.solimp is not None:
            geom.solimp = list(robot.foot.solimp)


def _replace_contact(spec: mujoco.MjSpec, contact: Contact) -> None:
    """Gives every colliding shape of a robot the contact numbers of the physics profile."""
    for geom in spec.geoms:
        if geom.contype or geom.conaffinity:
            geom.solref = list(contact.solref)
            geom.solimp = [contact.solimp, contact.solimp, 0.001, 0.5, 2]
            geom.friction = [contact.friction, 0.005, 0.0001]
            geom.priority = 1


def _round_box(spec: mujoco.MjSpec, size: list[float], roundness: float) -> str:
    """The name of a mesh of a rounded box, made once for each size."""
    name = "roundbox_" + "_".join(f"{round(1e6 * s)}" for s in (*size, roundness / 1e4))
    if spec.mesh(name) is None:
        mesh = spec.add_mesh(name=name)
        exponent = min(max(roundness, 0.05), 1.0)
        mesh.make_supersphere(12, exponent, exponent)
        mesh.scale = [s / 2 for s in size]
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    return name


def _colour(robot: RobotSettings, shape: Shape, team: Colour) -> list[float]:
    colours = {"white": (0.93, 0.93, 0.92), "black": (0.08, 0.08, 0.09), **robot.colours, "team": team}
    if shape.colour not in colours:
        raise UnknownNameError("colour", shape.colour, colours, where=f"shape on {shape.body!r} of {robot.name}")
    rgba = list(colours[shape.colour])
    return rgba if len(rgba) == 4 else [*rgba, 1.0]


def _body(spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
    body = spec.body(name)
    if body is None:
        raise UnknownNameError("body", name, [b.name for b in spec.bodies if b.name != "world"], where=spec.modelname)
    return body


def _add_sensor(spec: mujoco.MjSpec, sensor: Sensor, values: Mapping[str, float]) -> None:
    if sensor.type == "encoder":
        return
    body = _body(spec, sensor.body)
    pos = geometry.evaluate_all(sensor.pos, values)
    quat = geometry.euler_quaternion(geometry.evaluate_all(sensor.euler, values))
    if sensor.type == "camera":
        camera = body.add_camera(name=sensor.name, pos=pos, quat=geometry.camera_quaternion(quat))
        camera.fovy = sensor.fov[1] * 180 / math.pi
        camera.resolution = list(sensor.pixels)
        return
    site = body.add_site(name=sensor.name, pos=pos, quat=quat, group=COLLISION_GROUP)
    site.type = mujoco.mjtGeom.mjGEOM_BOX
    site.size = [s / 2 for s in sensor.size]
    reads = {
        "imu": ((".gyro", mujoco.mjtSensor.mjSENS_GYRO), (".accelerometer", mujoco.mjtSensor.mjSENS_ACCELEROMETER)),
        "force": (("", mujoco.mjtSensor.mjSENS_TOUCH),),
        "switch": (("", mujoco.mjtSensor.mjSENS_TOUCH),),
    }
    for suffix, what in reads.get(sensor.type, ()):
        spec.add_sensor(name=sensor.name + suffix, type=what, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=sensor.name)
