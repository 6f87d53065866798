"""Algorithms 1 and 2 of the MoToFlex paper as printed, compiled to a C function that the engine calls.

Numbers in comments are the paper's lines. Three misprints are put right: the voltage is limited in both
directions (lines 2 to 4 of algorithm 1 limit it upwards only); the exponent of line 5 has the length of the step,
not the time; T_j starts from 0 in every step, and the loop of algorithm 2 has Δts/Δtg turns, not one more, so that
T_j is the mean of T_s.

What the paper leaves open is taken as follows.

- **PID** (line 1) has the gains of the servo's firmware: volts for the error, its sum, and the joint's speed.
- **p_m** is how far the motor is ahead of the joint, as the hull's spring is fixed to the joint and T_s is what
  the joint gets. As printed, the joint's own motion does not act on it: the mass feels T'_M, T_s and B_g only.
  A joint that is pushed from outside therefore moves the motor not through the gear but only through the PID and
  through ω_M; in the native gear it pushes the motor back. And a joint that overtakes its motor does not
  cross the play. With a joint at rest both gears are the same equations.
- **ω_M** is σ times the joint's speed: friction and back-EMF depend "only on the joint/motor speed" (section 3.1),
  and p_m has a friction of its own. (With the speed of p_m added, a Nao V6 with the whole rotor as m_g shakes
  itself over.)
- **The order of lines 11 and 12** is explicit: both use what was known before. `model.actuation.printed` refuses
  numbers with which such sums diverge.

`mj_forward` must not move a motor, but the engine calls in the same way from `mj_forward` and `mj_step`. Each
motor therefore has its state before the present step and after it; the second becomes the first when the
engine's time has changed. `userdata` is: the time of the last call, then for each motor summed error, U_R, p_m and
its speed before the step, and the same after it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import mujoco
import numpy as np
from llvmlite import ir
from mujoco.introspect import ast_nodes, enums, structs
from numba import cfunc, njit, types
from numba.extending import intrinsic

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.model.actuation.printed import (
    BRAKE,
    CONSTANT,
    FRICTION,
    KD,
    KI,
    KP,
    LAG,
    LIMIT,
    MARK,
    MASS,
    PLAY,
    RATIO,
    RESISTANCE,
    SIGNATURE,
    SPRING,
    STATES,
    STEPS,
    STIFFNESS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


# ----------------------------------------------------------------------------------------------------
# Addresses of fields in the engine's C structures, derived from its own declarations.
#
# MuJoCo ships a description of every structure of its C headers (`mujoco.introspect`). From it the structures are
# rebuilt with ctypes, which lays them out as the C compiler does: `place_of("mjModel", "opt.timestep")` is the distance
# of a field from the start of its structure, in bytes.
#
# `check_layout` compares the places with what the Python bindings say about a real model and its data: every array
# must begin where the structure says that it does. Nothing is guessed, and a library that was built otherwise is
# refused.


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


MODEL_FIELDS = (
    "nactuator", "nuserdata", "nv", "ntree", "njnt", "nu", "na", "opt.timestep", "opt.enableflags",
    "actuator_dyntype", "actuator_dynprm", "actuator_biasprm", "actuator_trnid", "actuator_actadr",
    "actuator_ctrladr", "actuator_history", "actuator_ctrllimited", "actuator_ctrlrange", "jnt_qposadr",
    "jnt_dofadr", "dof_treeid",
)  # fmt: skip
"""Fields of `mjModel` that are read."""
DATA_FIELDS = ("time", "qpos", "qvel", "act", "userdata", "tree_awake")
"""Fields of `mjData` that are read; `act` and `userdata` are written as well."""


Function = TypeVar("Function", bound=Callable[..., object])


def _jitted(function: Function) -> Function:
    """A compiled function; it is not kept on disk, as addresses of this process are compiled into it."""
    compiled_function: Function = njit(function)
    return compiled_function


def _reader(kind: Any, bits: Any) -> Any:  # noqa: ANN401
    """A compiled function that reads a number of a kind at an address."""

    @intrinsic
    def read(context, address):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
        def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
            return builder.load(builder.inttoptr(arguments[0], bits.as_pointer()))

        return kind(types.intp), build

    return read


_size, _int = _reader(types.int64, ir.IntType(64)), _reader(types.int32, ir.IntType(32))
_byte, _number = _reader(types.uint8, ir.IntType(8)), _reader(types.float64, ir.DoubleType())


@intrinsic
def _write(context, address, value):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
    """Writes a number at an address."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG001
        builder.store(arguments[1], builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, types.float64), build


@_jitted
def motor_torque(
    m: int, target: float, angle: float, rate: float, speed: float, total: float, voltage: float, dt: float
) -> tuple[float, float, float]:
    """Algorithm 1, one step: the motor's torque T_M, its voltage U_R and the sum of errors.

    Args:
        m: address of the motor's numbers, in the order of `model.actuation.printed`.
        target: q_T, the commanded angle [rad].
        angle: q_A, the joint's angle [rad].
        rate: the joint's speed [rad/s].
        speed: ω_M, the motor's [rad/s].
        total: sum of errors so far [rad s].
        voltage: U_R so far [V].
        dt: length of the step [s].
    """
    error, limit, lag = target - angle, _number(m + 8 * LIMIT), _number(m + 8 * LAG)
    total += error * dt
    u = _number(m + 8 * KP) * error + _number(m + 8 * KI) * total - _number(m + 8 * KD) * rate  # 1
    u = min(max(u, -limit), limit)  # 2 to 4
    if lag > 0.0:
        voltage += (u - voltage) * (1.0 - math.exp(-dt / lag))  # 5
    else:
        voltage = u
    power = voltage / _number(m + 8 * RESISTANCE) * _number(m + 8 * STIFFNESS) * _number(m + 8 * CONSTANT)
    return power - _number(m + 8 * BRAKE) * speed, voltage, total  # 6


@_jitted
def gear_torque(g: int, torque: float, place: float, speed: float, dt: float) -> tuple[float, float, float]:
    """Algorithm 2, one step of the physics: the joint's torque T_j, and p_m with its speed.

    Args:
        g: address of the gear's numbers, in the order of `model.actuation.printed`.
        torque: T_M [N m].
        place: p_m [rad].
        speed: that of p_m [rad/s].
        dt: Δts [s].
    """
    pushed, steps = torque * _number(g + 8 * RATIO), _number(g + 8 * STEPS)  # 1
    if steps < 1.0:
        return pushed, place, speed  # a rigid gear
    play, mass = _number(g + 8 * PLAY), _number(g + 8 * MASS)
    stiffness, friction = _number(g + 8 * SPRING), _number(g + 8 * FRICTION)
    fine, joint = dt / steps, 0.0
    for _ in range(int(steps)):  # 2
        hull = 0.0  # 3
        if place > play:  # 4
            hull = place - play  # 5
        if place < 0.0:  # 7
            hull = place  # 8
        spring = stiffness * hull  # 10
        place += speed * fine  # 11
        speed += (pushed - spring - friction * speed) / mass * fine  # 12
        joint += spring * fine / dt  # 13
    return joint, place, speed


def compiled() -> Any:  # noqa: ANN401
    """The callback for `mjcb_control`, compiled now: a numba `cfunc`, whose `ctypes` the engine takes."""
    check_layout(MODEL_FIELDS, DATA_FIELDS)
    m = {name: place_of("mjModel", name) for name in MODEL_FIELDS}
    d = {name: place_of("mjData", name) for name in DATA_FIELDS}
    step = _motor_step(m, d, _target(m, d))
    m_count, m_room, m_kinds, m_motors = (
        m[name] for name in ("nactuator", "nuserdata", "actuator_dyntype", "actuator_dynprm")
    )
    d_time, d_memory, user = d["time"], d["userdata"], int(mujoco.mjtDyn.mjDYN_USER)

    def control(model: int, data: int) -> None:
        room = _size(model + m_room)
        if room <= 2 * STATES:
            return  # this model has no printed motor
        kinds, motors = _size(model + m_kinds), _size(model + m_motors)
        memory, time = _size(data + d_memory), _number(data + d_time)
        later, place = _number(memory) != time, 1
        for motor in range(_size(model + m_count)):
            numbers = motors + 80 * motor
            if _int(kinds + 4 * motor) != user or _number(numbers + 8 * SIGNATURE) != MARK:
                continue
            if place + 2 * STATES > room:
                return
            step(model, data, motor, numbers, memory + 8 * place, later)
            place += 2 * STATES
        if place > 1:
            _write(memory, time)

    return cfunc(types.void(types.intp, types.intp))(control)


def _motor_step(m: dict[str, int], d: dict[str, int], target: Any) -> Any:  # noqa: ANN401
    """A compiled function that runs one motor for one step of the physics."""
    m_step, m_flags, m_gears, m_joints = (
        m[name] for name in ("opt.timestep", "opt.enableflags", "actuator_biasprm", "actuator_trnid")
    )
    m_angle, m_rate, m_act, m_tree = (
        m[name] for name in ("jnt_qposadr", "jnt_dofadr", "actuator_actadr", "dof_treeid")
    )
    d_angles, d_rates, d_act, d_awake = (d[name] for name in ("qpos", "qvel", "act", "tree_awake"))
    sleep = int(mujoco.mjtEnableBit.mjENBL_SLEEP)

    @_jitted
    def step(model: int, data: int, motor: int, numbers: int, before: int, later: bool) -> None:
        joint = _int(_size(model + m_joints) + 8 * motor)
        dof = _int(_size(model + m_rate) + 4 * joint)
        if _int(model + m_flags) & sleep:
            tree = _int(_size(model + m_tree) + 4 * dof)
            if _int(_size(data + d_awake) + 4 * tree) == 0:
                return
        after = before + 8 * STATES
        if later:
            for state in range(0, 8 * STATES, 8):
                _write(before + state, _number(after + state))
        angle = _number(_size(data + d_angles) + 8 * _int(_size(model + m_angle) + 4 * joint))
        rate = _number(_size(data + d_rates) + 8 * dof)
        gear, dt = _size(model + m_gears) + 80 * motor, _number(model + m_step)
        wanted = target(model, data, motor, after)
        total, voltage = _number(before), _number(before + 8)
        ahead, speed = _number(before + 16), _number(before + 24)
        motor_speed = _number(gear + 8 * RATIO) * rate
        torque, voltage, total = motor_torque(numbers, wanted, angle, rate, motor_speed, total, voltage, dt)
        torque, ahead, speed = gear_torque(gear, torque, ahead, speed, dt)
        _write(after, total)
        _write(after + 8, voltage)
        _write(after + 16, ahead)
        _write(after + 24, speed)
        _write(_size(data + d_act) + 8 * _int(_size(model + m_act) + 4 * motor), torque)

    return step


def _target(m: dict[str, int], d: dict[str, int]) -> Any:  # noqa: ANN401
    """A compiled function that reads a motor's command as the engine does: delayed, and within its range."""
    m_history, m_address, m_limited, m_range = (
        m[name] for name in ("actuator_history", "actuator_ctrladr", "actuator_ctrllimited", "actuator_ctrlrange")
    )
    d_time, read = d["time"], _library_function()

    @_jitted
    def target(model: int, data: int, motor: int, scratch: int) -> float:
        interpolation = _int(_size(model + m_history) + 8 * motor + 4)
        found = read(model, data, motor, _number(data + d_time), scratch, interpolation)
        value: float = _number(found if found != 0 else scratch)
        place = _int(_size(model + m_address) + 4 * motor)
        if _byte(_size(model + m_limited) + place):
            limits = _size(model + m_range) + 16 * place
            value = min(max(value, _number(limits)), _number(limits + 8))
        return value

    return target


def _library_function() -> Any:  # noqa: ANN401
    """MuJoCo's own `mj_readCtrl`."""
    folder = Path(mujoco.__file__).parent
    found = sorted(p for p in folder.iterdir() if p.name.removeprefix("lib").startswith("mujoco.") and _is_library(p))
    if len(found) != 1:
        raise EnvironmentProblem(f"{folder} holds {len(found)} MuJoCo libraries, not one; install mujoco-core again.")
    address, whole = ctypes.c_ssize_t, ctypes.c_int
    kind = ctypes.CFUNCTYPE(address, address, address, whole, ctypes.c_double, address, whole)
    return kind(("mj_readCtrl", ctypes.CDLL(str(found[0]))))


def _is_library(path: Path) -> bool:
    return bool({".so", ".dylib", ".dll"} & set(path.suffixes))
