"""Mirror images: a shape described for the left-hand side, put on the right as well."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nutmeg.body.geometry import mirrored_name
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.body.robot import Shape


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
        shape,
        body=name,
        mirror=False,
        pos=(x, negated(y), z),
        euler=(negated(roll), pitch, negated(yaw)),
        fromto=ends,
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
