"""Access to the engine's memory, for functions that run inside its step.

    place = place_of("mjModel", "opt.timestep")   # bytes from the start of the structure
    check_layout(MODEL_FIELDS, DATA_FIELDS)       # an error if this build of MuJoCo has them elsewhere
    read_size, read_int, read_byte, read_number   # in kernels: the number at an address
    floats(address, count), ints(address, count)  # in kernels: an array that begins there

MuJoCo ships a description of every structure of its C headers (`mujoco.introspect`). From it the structures are rebuilt
with ctypes, which lays them out as the C compiler does. `check_layout` compares the places with what the Python
bindings say about a real model and its data: every array must begin where the structure says that it does. Nothing is
guessed, and a library that was built otherwise is refused.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from llvmlite import ir
from mujoco.introspect import ast_nodes, enums, structs
from numba import carray, types
from numba.extending import intrinsic

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.base.kernels import inlined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Floats, Ids

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
                f"MuJoCo {mujoco.__version__} has no field {field!r} in {structure}; Nutmeg needs MuJoCo 4."
            )
        place += int(getattr(found, name).offset)
        found = dict(found._fields_)[name]
    return place


def size_of(structure: str) -> int:
    """Bytes of a structure."""
    return ctypes.sizeof(_structure(structure))


def check_layout(model_fields: Iterable[str], data_fields: Iterable[str]) -> None:
    """Compares the places of fields with the Python bindings on a small model; a difference is an error."""
    model = mujoco.MjModel.from_xml_string(_SAMPLE)
    data = mujoco.MjData(model)
    data.time = 0.25
    mujoco.mj_forward(model, data)
    for structure, thing, fields in (("mjModel", model, model_fields), ("mjData", data, data_fields)):
        for field in fields:
            address = int(thing._address) + place_of(structure, field)
            if not _agrees(address, _value(thing, field)):
                raise EnvironmentProblem(
                    f"the field {field!r} of {structure} is not where the headers of MuJoCo {mujoco.__version__} "
                    f"say: this build of MuJoCo is not the one that Nutmeg is made for. Install mujoco-core again."
                )


def _value(thing: Any, field: str) -> Any:  # noqa: ANN401
    """A field as the Python bindings have it; for contacts, which they have field by field, the first of them."""
    for name in field.split("."):
        thing = getattr(thing, name)
    return thing.dist if field == "contact" else thing


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
            f"it needs MuJoCo 4."
        )
    return _PLAIN[declared.name]


_SAMPLE = """
<mujoco>
  <option timestep="0.00125" jacobian="sparse"/>
  <size nuserdata="7" nuser_geom="2" nuser_body="3"/>
  <worldbody>
    <geom type="plane" size="1 1 1" condim="4"/>
    <body><freejoint/><geom size="0.1"/>
      <body pos="0 0 1"><joint name="a" frictionloss="1" range="1 2"/><geom size="0.1"/>
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
"""A model in which all sizes differ and no checked array is empty."""


def _reader(kind: Any, bits: Any) -> Any:  # noqa: ANN401
    """A compiled function that reads a number of a kind at an address."""

    @intrinsic
    def read(context, address):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
        def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
            return builder.load(builder.inttoptr(arguments[0], bits.as_pointer()))

        return kind(types.intp), build

    return read


read_size, read_int = _reader(types.int64, ir.IntType(64)), _reader(types.int32, ir.IntType(32))
read_byte, read_number = _reader(types.uint8, ir.IntType(8)), _reader(types.float64, ir.DoubleType())


def _writer(kind: Any, bits: Any) -> Any:  # noqa: ANN401
    """A compiled function that writes a number of a kind at an address."""

    @intrinsic
    def write(context, address, value):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
        def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
            builder.store(arguments[1], builder.inttoptr(arguments[0], bits.as_pointer()))
            return context.get_dummy_value()

        return types.void(types.intp, kind), build

    return write


write_int, write_number = _writer(types.int32, ir.IntType(32)), _writer(types.float64, ir.DoubleType())


@intrinsic
def pointer_to(context, address):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """An address as a pointer."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.intp), build


@inlined
def floats(address: int, count: int) -> Floats:
    """The numbers (count,) that the pointer at an address points to."""
    found: Floats = carray(pointer_to(read_size(address)), (count,), np.float64)
    return found


@inlined
def ints(address: int, count: int) -> Ids:
    """The 32-bit numbers (count,) that the pointer at an address points to."""
    found: Ids = carray(pointer_to(read_size(address)), (count,), np.int32)
    return found


def library_path() -> Path:
    """The shared library of the engine."""
    folder = Path(mujoco.__file__).parent
    found = sorted(p for p in folder.iterdir() if p.name.removeprefix("lib").startswith("mujoco.") and _is_library(p))
    if len(found) != 1:
        raise EnvironmentProblem(f"{folder} holds {len(found)} MuJoCo libraries, not one; install mujoco-core again.")
    return found[0]


def _is_library(path: Path) -> bool:
    return bool({".so", ".dylib", ".dll"} & set(path.suffixes))
