"""Motors and gears as MoToFlex prints them, in worlds that have them: the actuation `motoflex-paper`.

    scene = assemble(SceneSettings(robots=(Placement(robot="nao-v6", actuation="motoflex-paper"),), timestep=0.001))
    worlds = Worlds(scene, 64, threads=2)       # installs what the motors need; commands are angles as always

The reference for the native `motoflex`: algorithms 1 and 2 of the paper, compiled to a C function that the engine calls
in every step (see `control_callback`). Each motor's torque T_j is the activation of its actuator, so `actuator_force`
shows it.

Numbers in comments are the paper's lines. Three misprints are put right: the voltage is limited in both
directions (lines 2 to 4 of algorithm 1 limit it upwards only); the exponent of line 5 has the length of the step,
not the time; T_j starts from 0 in every step, and the loop of algorithm 2 has Δts/Δtg turns, not one more, so that
T_j is the mean of T_s.

Where the paper is not specific, the following is assumed.

- **PID** (line 1) has the gains of the servo's firmware: volts for the error, its sum, and the joint's speed.
- **p_m** is the angle by which the motor is ahead of the joint, because the hull's spring is fixed to the joint and T_s
  is the torque on the joint. As printed, the joint's own motion does not act on it: only T'_M, T_s and B_g act on the
  mass. A joint that is pushed from outside therefore moves the motor not through the gear but only through the PID and
  through ω_M; in the native gear it pushes the motor back. A joint that overtakes its motor does not cross the play,
  either. With a joint at rest both gears have the same equations.
- **ω_M** is σ times the joint's speed: friction and back-EMF depend "only on the joint/motor speed" (section 3.1),
  and p_m has a friction of its own. (With the speed of p_m added, a Nao V6 with the whole rotor as m_g shakes
  itself over.)
- **Lines 11 and 12** are an explicit step: both use the values before it. `model.actuation.printed` refuses numbers
  with which such steps diverge.

`mj_forward` must not move a motor, but the engine calls in the same way from `mj_forward` and `mj_step`. Each
motor therefore has its state before the present step and after it; the second becomes the first when the
engine's time has changed. `userdata` is: the time of the last call, then for each motor summed error, U_R, p_m and
its speed before the step, and the same after it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any, TypeVar

import mujoco
from numba import njit

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
from nutmeg.sim.engine_memory import (
    check_layout,
    library_path,
    place_of,
    read_byte,
    read_int,
    read_number,
    read_size,
    write_number,
)

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


@_jitted
def _motor_torque(
    m: int, target: float, angle: float, rate: float, speed: float, total: float, voltage: float, dt: float
) -> tuple[float, float, float]:
    """Algorithm 1, one step: the motor's torque T_M, its voltage U_R and the sum of errors.

    Args:
        m: address of the motor's numbers, in the order of `model.actuation.printed`.
        target: q_T, the commanded angle [rad].
        angle: q_A, the joint's angle [rad].
        rate: the joint's speed [rad/s].
        speed: ω_M, the motor's speed [rad/s].
        total: sum of errors so far [rad s].
        voltage: U_R so far [V].
        dt: length of the step [s].
    """
    error, limit, lag = target - angle, read_number(m + 8 * LIMIT), read_number(m + 8 * LAG)
    total += error * dt
    u = read_number(m + 8 * KP) * error + read_number(m + 8 * KI) * total - read_number(m + 8 * KD) * rate  # 1
    u = min(max(u, -limit), limit)  # 2 to 4
    if lag > 0.0:
        voltage += (u - voltage) * (1.0 - math.exp(-dt / lag))  # 5
    else:
        voltage = u
    power = voltage / read_number(m + 8 * RESISTANCE) * read_number(m + 8 * STIFFNESS) * read_number(m + 8 * CONSTANT)
    return power - read_number(m + 8 * BRAKE) * speed, voltage, total  # 6


@_jitted
def _gear_torque(g: int, torque: float, place: float, speed: float, dt: float) -> tuple[float, float, float]:
    """Algorithm 2, one step of the physics: the joint's torque T_j, and p_m with its speed.

    Args:
        g: address of the gear's numbers, in the order of `model.actuation.printed`.
        torque: T_M [N m].
        place: p_m [rad].
        speed: speed of p_m [rad/s].
        dt: Δts [s].
    """
    pushed, steps = torque * read_number(g + 8 * RATIO), read_number(g + 8 * STEPS)  # 1
    if steps < 1.0:
        return pushed, place, speed  # a rigid gear
    play, mass = read_number(g + 8 * PLAY), read_number(g + 8 * MASS)
    stiffness, friction = read_number(g + 8 * SPRING), read_number(g + 8 * FRICTION)
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
    """The compiled function that runs in every step; its arguments are the addresses of model and data."""
    check_layout(MODEL_FIELDS, DATA_FIELDS)
    m = {name: place_of("mjModel", name) for name in MODEL_FIELDS}
    d = {name: place_of("mjData", name) for name in DATA_FIELDS}
    step = _motor_step(m, d, _target(m, d))
    m_count, m_room, m_kinds, m_motors = (
        m[name] for name in ("nactuator", "nuserdata", "actuator_dyntype", "actuator_dynprm")
    )
    d_time, d_memory, user = d["time"], d["userdata"], int(mujoco.mjtDyn.mjDYN_USER)

    def control(model: int, data: int) -> None:
        room = read_size(model + m_room)
        if room <= 2 * STATES:
            return  # this model has no printed motor
        kinds, motors = read_size(model + m_kinds), read_size(model + m_motors)
        memory, time = read_size(data + d_memory), read_number(data + d_time)
        later, place = read_number(memory) != time, 1
        for motor in range(read_size(model + m_count)):
            numbers = motors + 80 * motor
            if read_int(kinds + 4 * motor) != user or read_number(numbers + 8 * SIGNATURE) != MARK:
                continue
            if place + 2 * STATES > room:
                return
            step(model, data, motor, numbers, memory + 8 * place, later)
            place += 2 * STATES
        if place > 1:
            write_number(memory, time)

    return _jitted(control)


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
        joint = read_int(read_size(model + m_joints) + 8 * motor)
        dof = read_int(read_size(model + m_rate) + 4 * joint)
        if read_int(model + m_flags) & sleep:
            tree = read_int(read_size(model + m_tree) + 4 * dof)
            if read_int(read_size(data + d_awake) + 4 * tree) == 0:
                return
        after = before + 8 * STATES
        if later:
            for state in range(0, 8 * STATES, 8):
                write_number(before + state, read_number(after + state))
        angle = read_number(read_size(data + d_angles) + 8 * read_int(read_size(model + m_angle) + 4 * joint))
        rate = read_number(read_size(data + d_rates) + 8 * dof)
        gear, dt = read_size(model + m_gears) + 80 * motor, read_number(model + m_step)
        wanted = target(model, data, motor, after)
        total, voltage = read_number(before), read_number(before + 8)
        ahead, speed = read_number(before + 16), read_number(before + 24)
        motor_speed = read_number(gear + 8 * RATIO) * rate
        torque, voltage, total = _motor_torque(numbers, wanted, angle, rate, motor_speed, total, voltage, dt)
        torque, ahead, speed = _gear_torque(gear, torque, ahead, speed, dt)
        write_number(after, total)
        write_number(after + 8, voltage)
        write_number(after + 16, ahead)
        write_number(after + 24, speed)
        write_number(read_size(data + d_act) + 8 * read_int(read_size(model + m_act) + 4 * motor), torque)

    return step


def _target(m: dict[str, int], d: dict[str, int]) -> Any:  # noqa: ANN401
    """A compiled function that reads a motor's command as the engine does: delayed, and within its range."""
    m_history, m_address, m_limited, m_range = (
        m[name] for name in ("actuator_history", "actuator_ctrladr", "actuator_ctrllimited", "actuator_ctrlrange")
    )
    d_time, read = d["time"], _library_function()

    @_jitted
    def target(model: int, data: int, motor: int, scratch: int) -> float:
        interpolation = read_int(read_size(model + m_history) + 8 * motor + 4)
        found = read(model, data, motor, read_number(data + d_time), scratch, interpolation)
        value: float = read_number(found if found != 0 else scratch)
        place = read_int(read_size(model + m_address) + 4 * motor)
        if read_byte(read_size(model + m_limited) + place):
            limits = read_size(model + m_range) + 16 * place
            value = min(max(value, read_number(limits)), read_number(limits + 8))
        return value

    return target


def _library_function() -> Any:  # noqa: ANN401
    """MuJoCo's function `mj_readCtrl`, for kernels."""
    address, whole = ctypes.c_ssize_t, ctypes.c_int
    kind = ctypes.CFUNCTYPE(address, address, address, whole, ctypes.c_double, address, whole)
    return kind(("mj_readCtrl", ctypes.CDLL(str(library_path()))))
