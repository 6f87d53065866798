"""A gear with play and elasticity, native in the engine.

The motor turns a rotor of its own; a fixed tendon measures how far the rotor is ahead of the joint, and its
spring has a dead band as wide as the play (two numbers for `springlength`): within it the rotor is free, beyond
it both push each other with the gear's stiffness and damping. The engine integrates springs explicitly, which
is stable while stiffness dt² is below four times the inertia on the softer side; the joint's side therefore has
an armature of at least stiffness dt²/2 (see `_smallest_inertia`): 0.25 g m² at 1 ms, 4 g m² at 4 ms for a
stiffness of 500 N m/rad, against 5 to 12 g m² of the rotor itself.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.drives import HARD_FRICTION_IMPEDANCE, add_rotor
from nutmeg.model.actuation.settings import BEND_SUFFIXES, matching_names
from nutmeg.model.geometry import all_shapes, evaluate_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.model.actuation.settings import Flex, Gear
    from nutmeg.model.robot import Body, RobotSettings, Shape, Vector
    from nutmeg.model.sensors import Sensor


MOTOR_SIDE_SUFFIX = ".motor"
"""Suffix of the joint and body on the motor's side of a gear."""
LINK_INERTIA = 2e-4
"""Armature of the joint's own side [kg m²]: the last wheel of the gear."""
SMALLEST_ROTOR = 1e-3
"""Armature of a rotor whose servo gives none [kg m²]."""


def _smallest_inertia(stiffness: float, timestep: float) -> float:
    """The inertia with which a spring is stable at a time step, with a factor of two to spare [kg m²]."""
    return stiffness * timestep**2 / 2


def add_gear(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, gear: Gear, timestep: float) -> mujoco.MjsJoint:
    """Puts a gear between a joint and its motor; returns the joint on the motor's side."""
    hinge = add_rotor(joint, MOTOR_SIDE_SUFFIX, SMALLEST_ROTOR)
    joint.armature = max(LINK_INERTIA, _smallest_inertia(gear.stiffness, timestep))
    spring = spec.add_tendon(name=joint.name + ".gear")
    spring.wrap_joint(hinge.name, 1.0)
    spring.wrap_joint(joint.name, -1.0)
    spring.stiffness[0], spring.damping[0] = gear.stiffness, gear.damping
    spring.springlength = [-gear.play / 2, gear.play / 2]
    return hinge


# ----------------------------------------------------------------------------------------------------
# Links that bend: a link cut in two, with springs about the two axes across it (MoToFlex, section 3.3).
#
# The cut is made in the robot's tables before anything is built: the lower half becomes a body `<link>.end` with a
# two-axis spring; children, shapes and sensors beyond the cut move to it. Mass, centre of mass and inertia of the two
# halves together are exactly those of the link: each half has half the mass, they lie a distance s apart along the
# link on either side of its centre of mass, and m s² is taken out of the inertia across it.


LINK_END_SUFFIX = ".end"
"""Suffix of a link's lower half."""


def with_bending_links(robot: RobotSettings, flexes: Mapping[str, Flex], values: Mapping[str, float]) -> RobotSettings:
    """The robot with its flexible links cut in two."""
    if not flexes:
        return robot
    if robot.model.mjcf or robot.model.urdf:
        raise ModelError("legs can bend only in robots made of tables; this one's bodies come from a model file.")
    for name, flex in flexes.items():
        for body in matching_names(flex.bodies, [b.name for b in robot.body], "body", f"flex {name!r} of {robot.name}"):
            robot = _cut(robot, body, flex, values)
    return robot


def _cut(robot: RobotSettings, name: str, flex: Flex, values: Mapping[str, float]) -> RobotSettings:
    link = next(b for b in robot.body if b.name == name)
    child = next((b for b in robot.body if b.parent == name), None)
    if child is None:
        raise ModelError(f"body {name!r} cannot bend: nothing hangs on it, so it has no length.")
    if link.inertia is None:
        raise ModelError(f"body {name!r} cannot bend: it needs an inertia of its own, not one from its shapes.")
    reach = np.array(evaluate_all(child.pos, values))
    upper, lower = _halves(link, reach, values)
    end = dataclasses.replace(lower, bend=flex)
    cut = reach / 2
    bodies: list[Body] = []
    for body in robot.body:
        if body is link:
            bodies += [upper, end]
        elif body.parent == name:
            bodies.append(dataclasses.replace(body, parent=name + LINK_END_SUFFIX, pos=_minus(body.pos, cut, values)))
        else:
            bodies.append(body)
    shapes = tuple(_moved_shape(s, name, reach, values) for s in all_shapes(robot.shape))
    sensors = tuple(_moved_sensor(s, name, reach, values) for s in robot.sensor)
    also = tuple(
        (a, b + LINK_END_SUFFIX) if b == name else (a + LINK_END_SUFFIX, b)
        for a, b in robot.ignore_contacts
        if name in (a, b)
    )
    pairs = (*robot.ignore_contacts, *also)
    return dataclasses.replace(robot, body=tuple(bodies), shape=shapes, sensor=sensors, ignore_contacts=pairs)


def _halves(link: Body, reach: Floats, values: Mapping[str, float]) -> tuple[Body, Body]:
    """The two halves of a link, which together have its mass, centre of mass and inertia."""
    mass = evaluate_all([link.mass], values)[0]
    centre = np.array(evaluate_all(link.com or (0.0, 0.0, 0.0), values))
    xx, yy, zz, xy, xz, yz = evaluate_all(link.inertia or (), values)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    length = float(np.linalg.norm(reach))
    along = reach / length
    across = np.eye(3) - np.outer(along, along)
    room = float(np.linalg.eigvalsh(inertia)[0]) / mass
    apart = min(length / 4, 0.6 * room**0.5)
    half = (inertia - mass * apart**2 * across) / 2
    six = (half[0, 0], half[1, 1], half[2, 2], half[0, 1], half[0, 2], half[1, 2])
    upper = dataclasses.replace(link, mass=mass / 2, com=_three(centre - apart * along), inertia=_six(six))
    lower = dataclasses.replace(
        link,
        name=link.name + LINK_END_SUFFIX,
        parent=link.name,
        pos=_three(reach / 2),
        euler=(0.0, 0.0, 0.0),
        joint=None,
        mass=mass / 2,
        com=_three(centre + apart * along - reach / 2),
        inertia=_six(six),
    )
    return upper, lower


def _moved_shape(shape: Shape, link: str, reach: Floats, values: Mapping[str, float]) -> Shape:
    """A shape of the link, on the half on which its middle lies."""
    if shape.body != link:
        return shape
    if shape.fromto is not None:
        ends = np.array(evaluate_all(shape.fromto, values)).reshape(2, 3)
        if not _beyond(ends.mean(axis=0), reach):
            return shape
        (a, b, c), (d, e, f) = ends - reach / 2
        return dataclasses.replace(shape, body=link + LINK_END_SUFFIX, fromto=(a, b, c, d, e, f))
    if not _beyond(np.array(evaluate_all(shape.pos, values)), reach):
        return shape
    return dataclasses.replace(shape, body=link + LINK_END_SUFFIX, pos=_minus(shape.pos, reach / 2, values))


def _moved_sensor(sensor: Sensor, link: str, reach: Floats, values: Mapping[str, float]) -> Sensor:
    """A sensor of the link, on the half on which it sits."""
    if sensor.body != link or not _beyond(np.array(evaluate_all(sensor.pos, values)), reach):
        return sensor
    return dataclasses.replace(sensor, body=link + LINK_END_SUFFIX, pos=_minus(sensor.pos, reach / 2, values))


def _beyond(place: Floats, reach: Floats) -> bool:
    return bool(place @ reach > reach @ reach / 2)


def _minus(place: Vector, shift: Floats, values: Mapping[str, float]) -> Vector:
    return _three(np.array(evaluate_all(place, values)) - shift)


def _three(numbers: Floats) -> Vector:
    x, y, z = (float(n) for n in numbers)
    return x, y, z


def _six(numbers: tuple[float, ...]) -> tuple[float, float, float, float, float, float]:
    a, b, c, d, e, f = (float(n) for n in numbers)
    return a, b, c, d, e, f


def add_bend(half: mujoco.MjsBody, flex: Flex, timestep: float) -> None:
    """Gives the lower half of a link two springy hinges across the line from the parent's origin to its own."""
    along = np.array(half.pos) / np.linalg.norm(half.pos)
    first = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    first /= np.linalg.norm(first)
    for suffix, axis in zip(BEND_SUFFIXES, (first, np.cross(along, first)), strict=True):
        hinge = half.add_joint(name=half.name + suffix, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        hinge.stiffness[0], hinge.damping[0], hinge.frictionloss = flex.stiffness, flex.damping, flex.friction
        hinge.armature = _smallest_inertia(flex.stiffness, timestep)
        hinge.solimp_friction = list(HARD_FRICTION_IMPEDANCE)
