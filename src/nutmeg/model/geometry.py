"""Geometry of robot files: rotations, volumes, arithmetic over parameters, mirror images.

Quaternions are (w, x, y, z). Euler angles are roll, pitch, yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

import ast
import dataclasses
import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING

from nutmeg.base.errors import ModelError, listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nutmeg.model.robot import Shape


def euler_quaternion(euler: Sequence[float]) -> list[float]:
    """The quaternion of a rotation by roll, pitch and yaw [rad]."""
    cr, cp, cy = (math.cos(a / 2) for a in euler)
    sr, sp, sy = (math.sin(a / 2) for a in euler)
    return [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]


def quaternion_product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The quaternion that rotates by `b`, then by `a`."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def yaw_quaternion(yaw: float) -> list[float]:
    """The quaternion of a rotation about the vertical by `yaw` [rad]."""
    return [math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]


def camera_quaternion(quat: Sequence[float]) -> list[float]:
    """The orientation of a MuJoCo camera (which looks along -z) that looks along the x axis of a frame, z up."""
    return quaternion_product(quat, [0.5, 0.5, -0.5, -0.5])


def mirrored_name(name: str) -> str | None:
    """The right-hand name of a left-hand body (`LThigh` -> `RThigh`), or None if it is not left-hand."""
    for left, right in (("L", "R"), ("l_", "r_"), ("left", "right")):
        if name.startswith(left):
            return right + name[len(left) :]
    return None


def shape_volume(kind: str, size: Sequence[float]) -> float:
    """Volume of a shape by its full lengths (see `model.robot.Shape.size`) [m³]."""
    match kind:
        case "sphere":
            return 4 / 3 * math.pi * size[0] ** 3
        case "capsule":
            return math.pi * size[0] ** 2 * size[1] + 4 / 3 * math.pi * size[0] ** 3
        case "cylinder":
            return math.pi * size[0] ** 2 * size[1]
        case "ellipsoid":
            return math.pi / 6 * size[0] * size[1] * size[2]
        case _:
            return size[0] * size[1] * size[2]


# ----------------------------------------------------------------------------------------------------
# Numbers in robot files that depend on the robot's parameters.
#
# A robot file may write `pos = ["hip_x", 0, "-femur / 2"]`; the names are parameters of the robot. Only arithmetic is
# understood, so a robot file cannot run code.


Number = float | str
"""A number, or arithmetic over the robot's parameters in quotes."""

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(number: Number, parameters: Mapping[str, float]) -> float:
    """The value of a number or expression; unknown names and other syntax are a ModelError."""
    if not isinstance(number, str):
        return float(number)
    try:
        value = _value(_parsed(number), number, parameters)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # what Python raises for text that is no expression
        raise _not_arithmetic(number) from None
    except (ZeroDivisionError, OverflowError) as error:
        raise ModelError(f"{number!r} cannot be computed: {error}.") from None
    if isinstance(value, complex) or not math.isfinite(value):
        raise ModelError(f"{number!r} cannot be computed: it gives {value}, which is not a finite real number.")
    return value


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def evaluate_all(numbers: Iterable[Number], parameters: Mapping[str, float]) -> list[float]:
    """The values of several numbers or expressions."""
    return [evaluate(number, parameters) for number in numbers]


def _value(node: ast.expr, text: str, parameters: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name):
            if name not in parameters:
                known = sorted(parameters)
                hint = suggestion(name, known) + listing("parameter", known)
                raise ModelError(f"{text!r} uses the parameter {name!r}, which the robot does not have. {hint}")
            return parameters[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, text, parameters), _value(right, text, parameters))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, text, parameters)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, text, parameters)
    raise _not_arithmetic(text)


def _not_arithmetic(text: str) -> ModelError:
    return ModelError(f"{text!r} is not arithmetic (numbers, parameter names, + - * / ** and brackets).")


# ----------------------------------------------------------------------------------------------------
# Mirror images: a shape described for the left-hand side, put on the right as well.


def _mirror(shape: Shape) -> Shape:
    name = mirrored_name(shape.body)
    if name is None:
        raise ModelError(f"shape on {shape.body!r} says mirror = true, but {shape.body!r} does not begin with L or l_.")

    def negated(number: float | str) -> float | str:
        return f"-({number})" if isinstance(number, str) else -number

    x, y, z = shape.pos
    roll, pitch, yaw = shape.euler
    ends = shape.fromto
    if ends is not None:
        ends = (ends[0], negated(ends[1]), ends[2], ends[3], negated(ends[4]), ends[5])
    return dataclasses.replace(
        shape, body=name, mirror=False, pos=(x, negated(y), z), euler=(negated(roll), pitch, negated(yaw)), fromto=ends
    )


def all_shapes(shapes: Iterable[Shape]) -> list[Shape]:
    """The shapes with the mirror images written out."""
    out = []
    for shape in shapes:
        if shape.mirror:
            out += [dataclasses.replace(shape, mirror=False), _mirror(shape)]
        else:
            out.append(shape)
    return out
