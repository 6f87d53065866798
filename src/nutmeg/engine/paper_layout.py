"""Where fields lie in the engine's C structures, worked out from its own declarations.

MuJoCo ships a description of every structure of its C headers (`mujoco.introspect`). From it the structures are
rebuilt with ctypes, which lays them out as the C compiler does, and the place of a field can be asked for:

    place_of("mjModel", "opt.timestep")     # bytes from the start of the structure

`check_layout` compares the places with what the Python bindings say about a real model and its data: every
array must begin where the structure says that it does. Nothing is guessed, and a library that was built
otherwise is refused.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.introspect import ast_nodes, enums, structs

from nutmeg.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN: dict[str, type[Any]] = {
    "char": ctypes.c_char,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "mjtBool": ctypes.c_bool,
    "mjtByte": ctypes.c_ubyte,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "uintptr_t": ctypes.c_void_p,
}
"""C types of the declarations; enumerations are ints."""


def place_of(structure: str, field: str) -> int:
    """Bytes from the start of a structure to a field; `a.b` is a field of a structure inside it."""
    place = 0
    found: Any = _structure(structure)
    for name in field.split("."):
        if not hasattr(found, name):
            raise EnvironmentProblem(
                f"MuJoCo {mujoco.__version__} has no field {field!r} in {structure}; motors as printed need MuJoCo 4."
            )
        place += int(getattr(found, name).offset)
        found = dict(found._fields_)[name]
    return place


def check_layout(model_fields: Iterable[str], data_fields: Iterable[str]) -> None:
    """Compares the places of fields with the Python bindings on a small model; a difference is an error."""
    model = mujoco.MjModel.from_xml_string(_SAMPLE)
    data = mujoco.MjData(model)
    data.time = 0.25
    for structure, thing, fields in (("mjModel", model, model_fields), ("mjData", data, data_fields)):
        for field in fields:
            address = int(thing._address) + place_of(structure, field)
            value: Any = thing
            for name in field.split("."):
                value = getattr(value, name)
            if not _agrees(address, value):
                raise EnvironmentProblem(
                    f"the field {field!r} of {structure} is not where the headers of MuJoCo {mujoco.__version__} "
                    f"say; this build of MuJoCo cannot run motors as printed. Use the actuation motoflex."
                )


def _agrees(address: int, value: Any) -> bool:  # noqa: ANN401
    """Whether a pointer to the array, or the number itself, stands at an address."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p.from_address(address).value == value.ctypes.data
    kind = ctypes.c_double if isinstance(value, float) else ctypes.c_int
    return bool(kind.from_address(address).value == value)


@cache
def _structure(name: str) -> type[ctypes.Structure]:
    return _rebuilt(structs.STRUCTS[name], name)


def _rebuilt(declared: Any, name: str) -> type[ctypes.Structure]:  # noqa: ANN401
    """A ctypes structure (or union) of a declared one."""
    kind = ctypes.Union if isinstance(declared, ast_nodes.AnonymousUnionDecl) else ctypes.Structure
    fields = [(field.name, _ctype(field.type, f"{name}_{field.name}")) for field in declared.fields]
    return type(name, (kind,), {"_fields_": fields})


def _ctype(declared: Any, name: str) -> type[Any]:  # noqa: ANN401
    if isinstance(declared, ast_nodes.PointerType):
        return ctypes.c_void_p
    if isinstance(declared, ast_nodes.ArrayType):
        kind = _ctype(declared.inner_type, name)
        for extent in reversed(declared.extents):
            kind = kind * extent
        return kind
    if isinstance(declared, ast_nodes.AnonymousStructDecl):
        return _rebuilt(declared, name)
    if declared.name in structs.STRUCTS:
        return _structure(declared.name)
    if declared.name in enums.ENUMS:
        return ctypes.c_int
    if declared.name not in _PLAIN:
        raise EnvironmentProblem(
            f"MuJoCo {mujoco.__version__} declares {name} as {declared.name!r}, which Nutmeg does not know; "
            f"motors as printed need MuJoCo 4."
        )
    return _PLAIN[declared.name]


_SAMPLE = """
<mujoco>
  <option timestep="0.00125"/>
  <size nuserdata="7"/>
  <worldbody>
    <body><freejoint/><geom size="0.1"/>
      <body pos="0 0 1"><joint name="a"/><geom size="0.1"/>
        <body pos="0 0 1"><joint name="b"/><geom size="0.1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general joint="a" dyntype="user" ctrlrange="-1 1" nsample="3" delay="0.002"/>
    <motor joint="b"/><motor joint="b"/>
  </actuator>
</mujoco>
"""
"""A model in which sizes differ and no array that is looked at is empty."""
