"""Links that bend: a link cut in two, with springs about the two axes across it (seed 001, section 3.3).

The cut is made in the robot's tables before anything is built: the lower half becomes a body `<link>.end` with
a two-axis spring; children, shapes and sensors beyond the cut move to it. Mass, centre of mass and inertia of
the two halves together are exactly those of the link: each half has half the mass, they lie a distance s apart
along the link on either side of its centre of mass, and m s² is taken out of the inertia across it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.actuation.groups import chosen
from nutmeg.body.expression import evaluate_all
from nutmeg.body.mirror import all_shapes
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.body.actuation.settings import Flex
    from nutmeg.body.robot import Body, RobotSettings, Shape, Vector
    from nutmeg.body.sensors import Sensor

END = ".end"
"""Suffix of a link's lower half."""


def bent(robot: RobotSettings, flexes: Mapping[str, Flex], values: Mapping[str, float]) -> RobotSettings:
    """The robot with its flexible links cut in two."""
    if not flexes:
        return robot
    if robot.model.mjcf or robot.model.urdf:
        raise ModelError("legs can bend only in robots made of tables; this one's bodies come from a model file.")
    for name, flex in flexes.items():
        for body in chosen(flex.bodies, [b.name for b in robot.body], "body", f"flex {name!r} of {robot.name}"):
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
            bodies.append(dataclasses.replace(body, parent=name + END, pos=_minus(body.pos, cut, values)))
        else:
            bodies.append(body)
    shapes = tuple(_moved_shape(s, name, reach, values) for s in all_shapes(robot.shape))
    sensors = tuple(_moved_sensor(s, name, reach, values) for s in robot.sensor)
    also = tuple((a, b + END) if b == name else (a + END, b) for a, b in robot.ignore_contacts if name in (a, b))
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
        name=link.name + END,
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
        return dataclasses.replace(shape, body=link + END, fromto=(a, b, c, d, e, f))
    if not _beyond(np.array(evaluate_all(shape.pos, values)), reach):
        return shape
    return dataclasses.replace(shape, body=link + END, pos=_minus(shape.pos, reach / 2, values))


def _moved_sensor(sensor: Sensor, link: str, reach: Floats, values: Mapping[str, float]) -> Sensor:
    """A sensor of the link, on the half on which it sits."""
    if sensor.body != link or not _beyond(np.array(evaluate_all(sensor.pos, values)), reach):
        return sensor
    return dataclasses.replace(sensor, body=link + END, pos=_minus(sensor.pos, reach / 2, values))


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
