"""A step of the league's engine: ODE's equations of motion, solved with MuJoCo's parts.

    step_as_ode(model._address, data._address, places())   # after mj_step1, before mj_step2
    solve_step(...), finish_step(...), begin_step(...)     # a whole step in this order; forces after the first
    is_at_rest(...)                                        # whether ODE would take all bodies for idle

The 3D simulation league's server steps its world with the Open Dynamics Engine, 20 ms at once. At such steps what an
engine does with a contact decides how a robot walks, and the two engines differ in seven ways. This function puts them
right in the memory of MuJoCo, between the halves of its step; MuJoCo keeps kinematics, collisions, inertia, the solver
and the integration.

**Rows.** ODE asks for the speed `v` of a row after the step: `v = c - cfm f`, with a force `f` between two bounds.
MuJoCo asks for an acceleration `a` with `a = aref - R f`. With `aref = (c - v_before) / h` and `R = cfm / h` they are
the same equation.

- *Normal of a contact*: `c = erp (depth - layer) / h`, at least 0: nothing pushes inside the surface layer of 1 mm, in
  which a foot rests, or `c = bounce v` for a contact that is met fast; `f >= 0`.
- *Friction*: two rows, `c = 0`, `cfm = slip`, no bound. Friction is unlimited there even where nothing presses: as long
  as a foot is in the layer it is held. MuJoCo has no such row beside contacts, but a pair of one-sided rows with
  opposite directions is one. A contact of four dimensions has six rows in MuJoCo's pyramid: they become two such pairs
  and the normal, twice, each half as hard.
- *Drive*: `c` is the commanded speed, `-torque <= f <= torque`: MuJoCo's row of dry friction.
- *Stop of a joint*: `c = 0.8 depth / h`, or the speed with which it was met (bounce 1); `f >= 0`. A drive whose joint
  is at a stop pushes with its whole torque into it, or with nothing away from it, and hears no command.

**Drag.** Every body is slowed down in proportion to its speed.

**Drift.** ODE moves each body on its own, along its velocity; joints pull together again by a fifth of the gap in every
step. A body that goes round a joint therefore stands off from its place by `-h^2/2` times its acceleration on the way
round, and the same is true of its attitude. These gaps reach a few millimetres, as much as the surface layer: they
decide when a foot touches. MuJoCo's bodies have no gaps; here each body remembers its own, and contacts are those of
the bodies with their gaps.

**Momentum.** ODE changes the velocity that a body got in the last step, where it was then; MuJoCo takes its
acceleration on the way round a joint from where it is now. What one lacks of the other is added to the forces, and so
is the momentum with which gaps open and close.

**Idle bodies.** ODE takes the velocity from bodies that have been slow for ten steps. Their momentum is taken from the
forces, and joints that meet their stops slowly come to rest there.

**Angles.** ODE turns each body on its own, a little less than its spin says, and nothing pulls back what it is turned
about the axis of its joint. Joints are turned accordingly, after the step. ODE measures the angle of a joint with its
gap: stops, drives and sensors look at the measured angle.

What is left out: joints of ODE give way, by 10 micrometres a second for each newton. ODE itself, without that, differs
from the league's recordings as much as this does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any

import mujoco
import numpy as np
from llvmlite import binding
from numba import carray, njit, types

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import inlined, kernel
from nutmeg.base.records import Records, record_of, record_values
from nutmeg.model.ode import (
    BODY_NUMBERS,
    DRIVE_MARK,
    GEOM_NUMBERS,
    MARK,
    NOT_GIVEN,
    STATES_OF_BODY,
    WORLD_CFM,
    WORLD_ERP,
)
from nutmeg.sim.engine_memory import (
    check_layout,
    floats,
    ints,
    library_path,
    place_of,
    pointer_to,
    read_int,
    read_number,
    read_size,
    size_of,
    write_int,
    write_number,
)

# ---- numbers of the league's engine that are the same everywhere (spark.rb, hingejoint.rsg)

SURFACE_LAYER = 0.001
"""Depth in which a contact does not push [m]."""
DRIVE_CFM, STOP_CFM, STOP_ERP, STOP_BOUNCE = 1e-8, 1e-8, 0.8, 1.0
AWAY_SHARE = 1e-5
"""Share of its torque that a drive has away from a stop (the fudge factor of ODE)."""
IDLE_SPEED = 0.01
"""A body that is slower, in m/s and in rad/s, is idle (ODE's own)."""
IDLE_STEPS = 10
"""So many slow steps in a row disable a body (ODE's own)."""
BALL_REST_SPEED = 1e-9
"""A ball that is slower rests [m/s, rad/s]."""
NEVER = -1e10
"""Reference of a row that has no force."""
_DEGREES = 180.0 / math.pi

FRICTION_ROW = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
SPHERE, BOX = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_BOX)
FREE_JOINT, HINGE_JOINT = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_HINGE)
STOP_ROW = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
ROWS_OF_CONTACT, GAIN_NUMBERS, DIMENSIONS = 6, 10, 4


@dataclass(frozen=True)
class Places:
    """Where fields of the engine are: bytes from the start of `mjModel` (m), `mjData` (d) and `mjContact` (c)."""

    m_nv: int
    m_nbody: int
    m_ngeom: int
    m_nactuator: int
    m_nuserdata: int
    m_nu: int
    m_nuser_geom: int
    m_njnt: int
    m_opt_timestep: int
    m_geom_user: int
    m_geom_bodyid: int
    m_geom_type: int
    m_geom_size: int
    m_body_user: int
    m_body_parentid: int
    m_body_rootid: int
    m_body_dofadr: int
    m_body_dofnum: int
    m_body_jntadr: int
    m_dof_bodyid: int
    m_body_pos: int
    m_body_quat: int
    m_body_ipos: int
    m_body_mass: int
    m_body_inertia: int
    m_jnt_type: int
    m_jnt_bodyid: int
    m_jnt_axis: int
    m_jnt_pos: int
    m_nq: int
    m_jnt_qposadr: int
    m_jnt_dofadr: int
    m_jnt_range: int
    m_actuator_gainprm: int
    m_actuator_trnid: int
    m_actuator_history: int
    m_actuator_ctrladr: int
    m_actuator_ctrlrange: int
    m_dof_frictionloss: int
    d_time: int
    d_nefc: int
    d_ncon: int
    d_nisland: int
    d_nJ: int  # noqa: N815 (the engine's name)
    d_nbody_awake: int
    d_body_awake_ind: int
    d_qpos: int
    d_xpos: int
    d_xmat: int
    d_xquat: int
    d_xaxis: int
    d_xanchor: int
    d_qacc_warmstart: int
    d_qvel: int
    d_ctrl: int
    d_userdata: int
    d_cvel: int
    d_cdof: int
    d_cdof_dot: int
    d_xipos: int
    d_ximat: int
    d_geom_xpos: int
    d_geom_xmat: int
    d_subtree_com: int
    d_qfrc_passive: int
    d_efc_type: int
    d_efc_id: int
    d_efc_J: int  # noqa: N815 (the engine's name)
    d_efc_J_rownnz: int  # noqa: N815 (the engine's name)
    d_efc_J_rowadr: int  # noqa: N815 (the engine's name)
    d_efc_J_colind: int  # noqa: N815 (the engine's name)
    d_efc_frictionloss: int
    d_efc_D: int  # noqa: N815 (the engine's name)
    d_efc_R: int  # noqa: N815 (the engine's name)
    d_efc_aref: int
    d_efc_force: int
    d_map_efc2iefc: int
    d_iefc_D: int  # noqa: N815 (the engine's name)
    d_iefc_R: int  # noqa: N815 (the engine's name)
    d_iefc_frictionloss: int
    d_contact: int
    c_dist: int
    c_pos: int
    c_frame: int
    c_dim: int
    c_geom: int
    c_efc_address: int
    size_of_contact: int


@dataclass
class Gap:
    """What a step remembers of a body, whose joint it has left a little: as long as `STATES_OF_BODY`."""

    off: Annotated[Floats, (3,)]
    """How far its centre of mass is from its place [m]."""
    away: Annotated[Floats, (3,)]
    """How far it is turned away [rad]."""
    acceleration: Annotated[Floats, (3,)]
    """What its momentum lacks in MuJoCo's equations: how much faster than there its centre of mass gets [m/s^2]."""
    turning: Annotated[Floats, (3,)]
    """The same of its turning [rad/s^2]."""
    velocity: Annotated[Floats, (3,)]
    """Of its centre of mass, as it got it in the last step, where it was then [m/s]."""
    spin: Annotated[Floats, (3,)]
    """The same of its turning [rad/s]."""
    put: Annotated[Floats, (3,)]
    """How far its centre of mass is put right by joints that were turned after the engine had placed it [m]."""
    righted: Annotated[Floats, (3,)]
    """And how far it is turned right by them [rad]."""
    excess: float
    """How much larger than it is ODE measures the angle of its joint, because it is turned away [rad]."""
    idle: float
    """Steps in a row in which it was slow."""


@dataclass
class Before:
    """A body before the last step, in the frame of the world."""

    place: Annotated[Floats, (3,)]
    """[m]"""
    turn: Annotated[Floats, (4,)]
    """Its attitude, as a quaternion."""
    velocity: Annotated[Floats, (3,)]
    """Of its origin, there [m/s]."""
    spin: Annotated[Floats, (3,)]
    """[rad/s]"""
    put: Annotated[Floats, (3,)]
    """How far it is put right by what its joints were short of [m]."""
    righted: Annotated[Floats, (3,)]
    """And turned right [rad]."""


PLACES, GAP, BEFORE = record_of(Places), record_of(Gap), record_of(Before)


@cache
def places() -> Records[Places]:
    """(1,) the places in this build of MuJoCo, checked once."""
    names = {field.name: field.name[2:].replace("opt_", "opt.") for field in fields(Places)}
    model = [name for field, name in names.items() if field.startswith("m_")]
    data = [name for field, name in names.items() if field.startswith("d_")]
    check_layout(model, data)
    binding.load_library_permanently(str(library_path()))
    structures = {"m_": "mjModel", "d_": "mjData", "c_": "mjContact"}
    found = {field: place_of(structures[field[:2]], name) for field, name in names.items() if field[:2] in structures}
    return record_values(Places(**found, size_of_contact=size_of("mjContact")))


_read_command = types.ExternalFunction(
    "mj_readCtrl",
    types.intp(types.intp, types.intp, types.int32, types.float64, types.intp, types.int32),
)
"""The engine's own: the command of an actuator at a time, delays included."""
_first_half = types.ExternalFunction("mj_step1", types.void(types.intp, types.intp))
_apply_drives = types.ExternalFunction("mj_fwdActuation", types.void(types.intp, types.intp))
_accelerate = types.ExternalFunction("mj_fwdAcceleration", types.void(types.intp, types.intp))
_solve = types.ExternalFunction("mj_fwdConstraint", types.void(types.intp, types.intp))
_check = types.ExternalFunction("mj_checkAcc", types.void(types.intp, types.intp))
_move = types.ExternalFunction("mj_Euler", types.void(types.intp, types.intp))
"""The engine's own: everything that follows from positions and velocities (`mj_step1`), and the parts of `mj_step2`."""


def compiled_for_all_models() -> Any:  # noqa: ANN401
    """What the engine's callback runs in every step: `step_as_ode` for models that are marked for it, else nothing."""
    table = places()
    sizes, count, surfaces = int(table[0].m_nuser_geom), int(table[0].m_ngeom), int(table[0].m_geom_user)
    address = int(table.ctypes.data)  # which stays: `places` keeps the table

    def control(model: int, data: int) -> None:
        if read_size(model + sizes) != GEOM_NUMBERS or read_size(model + count) == 0:
            return
        if read_number(read_size(model + surfaces) + 8 * (GEOM_NUMBERS - 1)) == MARK:
            step_as_ode(model, data, carray(pointer_to(address), (1,), PLACES))

    return njit(control)


@inlined
def read_gaps(model: int, data: int, place: Places) -> Records[Gap]:
    """(bodies,) what is remembered of each body, at the end of the engine's user data; live."""
    count, bodies = read_size(model + place.m_nuserdata), read_size(model + place.m_nbody)
    first = read_size(data + place.d_userdata) + 8 * (count - STATES_OF_BODY * bodies)
    gaps: Records[Gap] = carray(pointer_to(first), (bodies,), GAP)
    return gaps


@kernel
def drift_as_ode(model: int, data: int, places: Records[Places]) -> None:
    """Lets bodies drift for the last step, once; joints are as ODE has turned them afterwards."""
    place = places[0]
    memory, time = floats(data + place.d_userdata, 1), read_number(data + place.d_time)
    if memory[0] != time:
        _drift(model, data, place, read_gaps(model, data, place))
    memory[0] = time


@kernel
def step_as_ode(model: int, data: int, places: Records[Places]) -> None:
    """Replaces rows and adds drag in a model whose first half of a step is done; addresses of model and data."""
    place = places[0]
    memory = floats(data + place.d_userdata, read_size(model + place.m_nuserdata))
    gaps, rows = read_gaps(model, data, place), read_int(data + place.d_nefc)
    drift_as_ode(model, data, places)
    _add_drag(model, data, place, gaps)
    if rows:
        _set_joint_rows(model, data, place, memory, gaps)
        _set_contact_rows(model, data, place, gaps)
        _copy_to_islands(data, place, rows)


@kernel
def solve_step(model: int, data: int, places: Records[Places]) -> None:
    """Works out the forces of a step whose first half is done.

    This is the time to look at contacts: an engine that puts a robot to sleep while it moves the world on solves once
    more afterwards, in its own way, and overwrites the forces.
    """
    step_as_ode(model, data, places)
    _apply_drives(model, data)
    _accelerate(model, data)
    _solve(model, data)


@kernel
def finish_step(model: int, data: int) -> None:
    """Moves the world on by a step whose forces are known."""
    _check(model, data)
    _move(model, data)


@kernel
def begin_step(model: int, data: int, places: Records[Places]) -> None:
    """Does the first half of the next step, so that places and contacts are those of the present state."""
    _first_half(model, data)
    drift_as_ode(model, data, places)


@kernel
def is_at_rest(model: int, data: int, places: Records[Places]) -> bool:
    """Whether ODE would disable all bodies that are awake, and nothing was set in motion since."""
    place = places[0]
    bodies, gaps = read_size(model + place.m_nbody), read_gaps(model, data, place)
    velocities, joint_of = floats(data + place.d_cvel, 6 * bodies), ints(model + place.m_body_jntadr, bodies)
    kinds = ints(model + place.m_jnt_type, read_size(model + place.m_njnt))
    for speed in floats(data + place.d_qvel, read_size(model + place.m_nv)):
        if not abs(speed) <= IDLE_SPEED:  # nor if it is no number
            return False
    for body in ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake)):
        if joint_of[body] < 0:
            continue
        if kinds[joint_of[body]] == FREE_JOINT or kinds[joint_of[body]] == HINGE_JOINT:
            if gaps[body].idle < IDLE_STEPS:
                return False
        else:  # a ball, which hangs on nothing
            for i in range(6):
                if abs(velocities[6 * body + i]) > BALL_REST_SPEED:
                    return False
    return True


# ---- vectors and quaternions: plain tuples, which cost no memory

Vector = tuple[float, float, float]
Turn = tuple[float, float, float, float]


@inlined
def _vector(numbers: Floats, start: int) -> Vector:
    return numbers[start], numbers[start + 1], numbers[start + 2]


@inlined
def _set(numbers: Floats, vector: Vector) -> None:
    numbers[0], numbers[1], numbers[2] = vector


@inlined
def _sum(a: Vector, share: float, b: Vector) -> Vector:
    """The vector a plus `share` times the vector b."""
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


@inlined
def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def _product(a: Turn, b: Turn) -> Turn:
    """The product of two quaternions: first the turn b, then a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inlined
def _turn_about(axis: Vector, angle: float) -> Turn:
    """The quaternion of a turn about an axis, by the angle times the axis's length [rad]."""
    length = math.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    share = math.sin(0.5 * angle * length) / length if length > 0.0 else 0.0
    return math.cos(0.5 * angle * length), share * axis[0], share * axis[1], share * axis[2]


@inlined
def _rotated(turn: Turn, vector: Vector) -> Vector:
    """A vector turned by a quaternion."""
    axis = (turn[1], turn[2], turn[3])
    twice = _sum((0.0, 0.0, 0.0), 2.0, _cross(axis, vector))
    return _sum(_sum(vector, turn[0], twice), 1.0, _cross(axis, twice))


# ---- bodies


@kernel
def _add_drag(model: int, data: int, place: Places, gaps: Records[Gap]) -> None:
    """Adds the drag of all bodies that are awake to the forces of the engine, and what their momentum lacks there."""
    bodies, dofs = read_size(model + place.m_nbody), read_size(model + place.m_nv)
    awake = ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake))
    parents, roots = ints(model + place.m_body_parentid, bodies), ints(model + place.m_body_rootid, bodies)
    first, count = ints(model + place.m_body_dofadr, bodies), ints(model + place.m_body_dofnum, bodies)
    drag, forces = floats(model + place.m_body_user, BODY_NUMBERS * bodies), floats(data + place.d_qfrc_passive, dofs)
    velocities, centres = floats(data + place.d_cvel, 6 * bodies), floats(data + place.d_subtree_com, 3 * bodies)
    axes, middles = floats(data + place.d_cdof, 6 * dofs), floats(data + place.d_xipos, 3 * bodies)
    masses, inertias = floats(model + place.m_body_mass, bodies), floats(model + place.m_body_inertia, 3 * bodies)
    frames = floats(data + place.d_ximat, 9 * bodies)
    wrench = np.zeros((bodies, 6))  # torque and force on a body and all that hangs on it, at the centre of the tree
    for k in range(len(awake) - 1, -1, -1):
        body = awake[k]
        if body == 0:
            continue
        spin, mine, parent = _vector(velocities, 6 * body), wrench[body], parents[body]
        arm = _sum(_vector(middles, 3 * body), -1.0, _vector(centres, 3 * roots[body]))
        velocity = _sum(_vector(velocities, 6 * body + 3), 1.0, _cross(spin, arm))
        gap = gaps[body]
        force = _sum((0.0, 0.0, 0.0), -drag[BODY_NUMBERS * body], velocity)
        force = _sum(force, masses[body], _vector(gap.acceleration, 0))
        torque = _sum(_cross(arm, force), -drag[BODY_NUMBERS * body + 1], spin)
        for main in range(3):  # along the three axes of its inertia
            axis = (frames[9 * body + main], frames[9 * body + 3 + main], frames[9 * body + 6 + main])
            torque = _sum(torque, inertias[3 * body + main] * _dot(axis, _vector(gap.turning, 0)), axis)
        for i in range(3):
            mine[i] += torque[i]
            mine[3 + i] += force[i]
        for dof in range(first[body], first[body] + count[body]):
            for i in range(6):
                forces[dof] += axes[6 * dof + i] * mine[i]
        for i in range(6):
            wrench[parent, i] += mine[i]


@kernel
def _drift(model: int, data: int, place: Places, gaps: Records[Gap]) -> None:
    """Lets the gaps of all bodies that are awake close by a fifth, and grow by what they moved off in the last step.

    Where a body was is found from where it is now: the joints turned with their present speeds. ODE moved it from there
    along its velocity there, and turned it by `h` times its spin, as a quaternion that is then made a unit one. Such a
    turn is a little short: by 1 % at 12 rad/s. About the axis of its joint nothing turns a body back, so that joints
    are turned here by what they are short of; it is seen from the next step on.
    """
    bodies, joints = read_size(model + place.m_nbody), read_size(model + place.m_njnt)
    awake = ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake))
    parents, joint_of = ints(model + place.m_body_parentid, bodies), ints(model + place.m_body_jntadr, bodies)
    kinds, before = ints(model + place.m_jnt_type, joints), np.zeros(bodies, BEFORE)
    first, count = ints(model + place.m_body_dofadr, bodies), ints(model + place.m_body_dofnum, bodies)
    dofs, h = read_size(model + place.m_nv), read_number(model + place.m_opt_timestep)
    changes, speeds = floats(data + place.d_cdof_dot, 6 * dofs), floats(data + place.d_qvel, dofs)
    bias = np.zeros((bodies, 6))  # how bodies accelerate at constant joint speeds, as the engine has it
    before[0].turn[0] = 1.0
    for body in awake:
        bias[body] = bias[parents[body]]
        for dof in range(first[body], first[body] + count[body]):
            for i in range(6):
                bias[body, i] += changes[6 * dof + i] * speeds[dof]
        joint = joint_of[body]
        if joint < 0:
            if body:
                _fixed_before(model, place, body, before[parents[body]], before[body])
            continue
        if kinds[joint] == FREE_JOINT:
            _free_before(model, data, place, joint, before[body])
        elif kinds[joint] == HINGE_JOINT:
            _hinged_before(model, data, place, body, before[parents[body]], before[body])
        else:
            continue  # a ball, which hangs on nothing
        _open_gap(model, data, place, body, before[body], gaps[body])
        if kinds[joint] == HINGE_JOINT:
            _turn_joint(model, data, place, joint, before[body], gaps[parents[body]], gaps[body])
        _set_lacking(model, data, place, body, before[body], gaps[body], bias[body])
        _stop_idle(gaps[body], h)
        if kinds[joint] == HINGE_JOINT:
            gaps[body].excess = _excess(model, data, place, joint, gaps[parents[body]], gaps[body])


@inlined
def _free_before(model: int, data: int, place: Places, joint: int, found: Before) -> None:
    """Where a body that is free was before the step."""
    joints, h = read_size(model + place.m_njnt), read_number(model + place.m_opt_timestep)
    a, d = ints(model + place.m_jnt_qposadr, joints)[joint], ints(model + place.m_jnt_dofadr, joints)[joint]
    angles, speeds = floats(data + place.d_qpos, a + 7), floats(data + place.d_qvel, d + 6)
    velocity, local = _vector(speeds, d), _vector(speeds, d + 3)
    turn = _product(_quaternion(angles, a + 3), _turn_about(local, -h))
    _set(found.place, _sum(_vector(angles, a), -h, velocity))
    _set(found.velocity, velocity)
    _set(found.spin, _rotated(turn, local))
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _fixed_before(model: int, place: Places, body: int, base: Before, found: Before) -> None:
    """Where a body without a joint was: with the one that it is a part of."""
    bodies = read_size(model + place.m_nbody)
    base_turn, base_spin = _quaternion(base.turn, 0), _vector(base.spin, 0)
    arm = _rotated(base_turn, _vector(floats(model + place.m_body_pos, 3 * bodies), 3 * body))
    turn = _product(base_turn, _quaternion(floats(model + place.m_body_quat, 4 * bodies), 4 * body))
    _set(found.place, _sum(_vector(base.place, 0), 1.0, arm))
    _set(found.velocity, _sum(_vector(base.velocity, 0), 1.0, _cross(base_spin, arm)))
    _set(found.spin, base_spin)
    _set(found.put, _sum(_vector(base.put, 0), 1.0, _cross(_vector(base.righted, 0), arm)))
    _set(found.righted, _vector(base.righted, 0))
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _hinged_before(model: int, data: int, place: Places, body: int, base: Before, found: Before) -> None:
    """Where a body that hangs on another was before the step."""
    joints, bodies = read_size(model + place.m_njnt), read_size(model + place.m_nbody)
    joint, h = ints(model + place.m_body_jntadr, bodies)[body], read_number(model + place.m_opt_timestep)
    a, d = ints(model + place.m_jnt_qposadr, joints)[joint], ints(model + place.m_jnt_dofadr, joints)[joint]
    angles, speeds = floats(data + place.d_qpos, a + 1), floats(data + place.d_qvel, d + 1)
    axis = _vector(floats(model + place.m_jnt_axis, 3 * joints), 3 * joint)
    anchor = _vector(floats(model + place.m_jnt_pos, 3 * joints), 3 * joint)
    base_turn, base_spin, base_righted = _quaternion(base.turn, 0), _vector(base.spin, 0), _vector(base.righted, 0)
    turn = _product(base_turn, _quaternion(floats(model + place.m_body_quat, 4 * bodies), 4 * body))
    offset = _vector(floats(model + place.m_body_pos, 3 * bodies), 3 * body)
    to_pivot = _sum(_rotated(base_turn, offset), 1.0, _rotated(turn, anchor))
    spin = _sum(base_spin, speeds[d], _rotated(turn, axis))
    turn = _product(turn, _turn_about(axis, angles[a] - h * speeds[d]))
    from_pivot = _sum((0.0, 0.0, 0.0), -1.0, _rotated(turn, anchor))
    velocity = _sum(_vector(base.velocity, 0), 1.0, _cross(base_spin, to_pivot))
    put = _sum(_vector(base.put, 0), 1.0, _cross(base_righted, to_pivot))
    _set(found.place, _sum(_sum(_vector(base.place, 0), 1.0, to_pivot), 1.0, from_pivot))
    _set(found.velocity, _sum(velocity, 1.0, _cross(spin, from_pivot)))
    _set(found.spin, spin)
    _set(found.put, _sum(put, 1.0, _cross(base_righted, from_pivot)))
    _set(found.righted, base_righted)
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _open_gap(model: int, data: int, place: Places, body: int, before: Before, gap: Gap) -> None:
    """Lets a gap close, and open by the difference between where ODE moved the body and where its joints hold it."""
    bodies, h = read_size(model + place.m_nbody), read_number(model + place.m_opt_timestep)
    turn, spin, righted = _quaternion(before.turn, 0), _vector(before.spin, 0), _vector(before.righted, 0)
    arm = _rotated(turn, _vector(floats(model + place.m_body_ipos, 3 * bodies), 3 * body))
    velocity = _sum(_vector(before.velocity, 0), 1.0, _cross(spin, arm))
    moved = _sum(_sum(_vector(before.place, 0), 1.0, arm), h, velocity)
    held = _sum(_vector(floats(data + place.d_xipos, 3 * bodies), 3 * body), 1.0, _vector(before.put, 0))
    held = _sum(held, 1.0, _cross(righted, arm))
    _set(gap.put, _sum(_vector(before.put, 0), 1.0, _cross(righted, arm)))
    _set(gap.righted, righted)
    # ODE turns the body from where its gap had left it, with the spin that closes the gap.
    _set(gap.spin, _sum(spin, -WORLD_ERP / h, _vector(gap.away, 0)))
    tilted = _product((1.0, 0.5 * gap.away[0], 0.5 * gap.away[1], 0.5 * gap.away[2]), turn)
    turned = _product((1.0, 0.5 * h * gap.spin[0], 0.5 * h * gap.spin[1], 0.5 * h * gap.spin[2]), tilted)
    now = _quaternion(floats(data + place.d_xquat, 4 * bodies), 4 * body)
    error = _product(turned, (now[0], -now[1], -now[2], -now[3]))
    away = _sum((2.0 * error[1] / error[0], 2.0 * error[2] / error[0], 2.0 * error[3] / error[0]), -1.0, righted)
    _set(gap.velocity, _sum(velocity, -WORLD_ERP / h, _vector(gap.off, 0)))
    # How much the gaps grow; as accelerations for `_set_lacking`, because they close with a speed of their own.
    opened = _sum(_sum(moved, -1.0, held), -WORLD_ERP, _vector(gap.off, 0))
    turned_away = _sum(away, -1.0, _vector(gap.away, 0))
    _set(gap.acceleration, _sum((0.0, 0.0, 0.0), WORLD_ERP / h**2, opened))
    _set(gap.turning, _sum((0.0, 0.0, 0.0), WORLD_ERP / h**2, turned_away))
    for i in range(3):
        gap.off[i] += opened[i]
        gap.away[i] += turned_away[i]


@inlined
def _turn_joint(model: int, data: int, place: Places, joint: int, before: Before, base: Gap, gap: Gap) -> None:
    """Turns a joint by what its body is turned away about its axis: ODE's joints pull nothing back in this direction.

    All that hangs on the joint turns with it, which the engine's places show from the next step on.
    """
    joints, h = read_size(model + place.m_njnt), read_number(model + place.m_opt_timestep)
    body, bodies = ints(model + place.m_jnt_bodyid, joints)[joint], read_size(model + place.m_nbody)
    at = ints(model + place.m_jnt_qposadr, joints)[joint]
    axis = _vector(floats(data + place.d_xaxis, 3 * joints), 3 * joint)
    pivot = _vector(floats(data + place.d_xanchor, 3 * joints), 3 * joint)
    angle = _dot(_sum(_vector(gap.away, 0), -1.0, _vector(base.away, 0)), axis)
    floats(data + place.d_qpos, at + 1)[at] += angle
    turn = _sum((0.0, 0.0, 0.0), angle, axis)
    origin = _sum(_vector(floats(data + place.d_xpos, 3 * bodies), 3 * body), -1.0, pivot)
    middle = _sum(_vector(floats(data + place.d_xipos, 3 * bodies), 3 * body), -1.0, pivot)
    _set(before.righted, _sum(_vector(before.righted, 0), 1.0, turn))
    _set(before.put, _sum(_vector(before.put, 0), 1.0, _cross(turn, origin)))
    _set(gap.righted, _sum(_vector(gap.righted, 0), 1.0, turn))
    _set(gap.put, _sum(_vector(gap.put, 0), 1.0, _cross(turn, middle)))
    _set(gap.away, _sum(_vector(gap.away, 0), -1.0, turn))
    _set(gap.off, _sum(_vector(gap.off, 0), -1.0, _cross(turn, middle)))
    _set(gap.turning, _sum(_vector(gap.turning, 0), -WORLD_ERP / h**2, turn))
    _set(gap.acceleration, _sum(_vector(gap.acceleration, 0), -WORLD_ERP / h**2, _cross(turn, middle)))


@inlined
def _set_lacking(model: int, data: int, place: Places, body: int, before: Before, gap: Gap, bias: Floats) -> None:
    """Adds to what a body's momentum lacks: ODE's change of velocity from where it was, for MuJoCo's where it is.

    A body that goes round a joint changes its velocity. MuJoCo computes that acceleration for where the body is now,
    `bias`; in ODE it is the difference of two steps. At 12 rad/s their directions differ by 7 degrees.
    """
    bodies, h = read_size(model + place.m_nbody), read_number(model + place.m_opt_timestep)
    velocities, roots = floats(data + place.d_cvel, 6 * bodies), ints(model + place.m_body_rootid, bodies)
    middles, centres = floats(data + place.d_xipos, 3 * bodies), floats(data + place.d_subtree_com, 3 * bodies)
    spin = _vector(velocities, 6 * body)
    arm = _sum(_vector(middles, 3 * body), -1.0, _vector(centres, 3 * roots[body]))
    velocity = _sum(_vector(velocities, 6 * body + 3), 1.0, _cross(spin, arm))
    then_arm = _rotated(_quaternion(before.turn, 0), _vector(floats(model + place.m_body_ipos, 3 * bodies), 3 * body))
    then = _sum(_vector(before.velocity, 0), 1.0, _cross(_vector(before.spin, 0), then_arm))
    turning = _vector(bias, 0)
    going = _sum(_sum(_vector(bias, 3), 1.0, _cross(turning, arm)), 1.0, _cross(spin, velocity))
    for i in range(3):
        gap.acceleration[i] += (then[i] - velocity[i]) / h + going[i]
        gap.turning[i] += (before.spin[i] - spin[i]) / h + turning[i]


@inlined
def _stop_idle(gap: Gap, h: float) -> None:
    """Takes the velocity from a body that has been slow for ten steps: ODE disables it, but its neighbours wake it.

    A joint that meets its stop slowly then comes to rest there, instead of bouncing for ever.
    """
    velocity, spin = _vector(gap.velocity, 0), _vector(gap.spin, 0)
    gap.idle = gap.idle + 1.0 if max(_dot(velocity, velocity), _dot(spin, spin)) <= IDLE_SPEED**2 else 0.0
    if gap.idle >= IDLE_STEPS:
        for i in range(3):
            gap.acceleration[i] -= velocity[i] / h
            gap.turning[i] -= spin[i] / h
            gap.velocity[i] = gap.spin[i] = 0.0


@inlined
def _excess(model: int, data: int, place: Places, joint: int, base: Gap, gap: Gap) -> float:
    """How much more than a joint's angle ODE measures: the whole angle by which one body is turned from the other."""
    joints = read_size(model + place.m_njnt)
    at = ints(model + place.m_jnt_qposadr, joints)[joint]
    angle = floats(data + place.d_qpos, at + 1)[at]
    axis = _vector(floats(data + place.d_xaxis, 3 * joints), 3 * joint)
    away = _sum(_vector(gap.away, 0), -1.0, _vector(base.away, 0))
    across = _sum(away, -_dot(away, axis), axis)
    half_sine, half_cosine = math.sin(0.5 * angle), math.cos(0.5 * angle)
    tilt = math.sin(0.5 * math.sqrt(_dot(across, across)))
    measured = 2.0 * math.asin(min(math.sqrt(half_sine**2 + (half_cosine * tilt) ** 2), 1.0))
    return float((measured if angle >= 0.0 else -measured) - angle)


@inlined
def _quaternion(numbers: Floats, start: int) -> Turn:
    return numbers[start], numbers[start + 1], numbers[start + 2], numbers[start + 3]


# ---- drives and stops


@kernel
def _set_joint_rows(model: int, data: int, place: Places, memory: Floats, gaps: Records[Gap]) -> None:
    """Gives drives their speeds, and stops their bounce; a stop that ODE's angle has not reached holds nothing."""
    rows, dofs, h = (
        read_int(data + place.d_nefc),
        read_size(model + place.m_nv),
        read_number(model + place.m_opt_timestep),
    )
    kinds, ids = ints(data + place.d_efc_type, rows), ints(data + place.d_efc_id, rows)
    numbers, speeds = floats(data + place.d_efc_J, read_int(data + place.d_nJ)), floats(data + place.d_qvel, dofs)
    starts, joints = ints(data + place.d_efc_J_rowadr, rows), read_size(model + place.m_njnt)
    bodies, angles_at = ints(model + place.m_jnt_bodyid, joints), ints(model + place.m_jnt_qposadr, joints)
    stops, angles = (
        floats(model + place.m_jnt_range, 2 * joints),
        floats(data + place.d_qpos, angles_at[joints - 1] + 1),
    )
    losses, hardness = floats(data + place.d_efc_frictionloss, rows), floats(data + place.d_efc_D, rows)
    softness, references = floats(data + place.d_efc_R, rows), floats(data + place.d_efc_aref, rows)
    forces, dof_of = (
        floats(data + place.d_qfrc_passive, dofs),
        ints(model + place.m_jnt_dofadr, read_size(model + place.m_njnt)),
    )
    torques, guess = floats(model + place.m_dof_frictionloss, dofs), floats(data + place.d_qacc_warmstart, dofs)
    parents = ints(model + place.m_body_parentid, read_size(model + place.m_nbody))
    axes = floats(data + place.d_xaxis, 3 * joints)
    at_stop, driven = np.zeros(dofs), _commands(model, data, place, memory, gaps)
    guess[:] = 0.0  # where the solver begins
    for row in range(rows):
        if kinds[row] == STOP_ROW:
            dof = dof_of[ids[row]]
            side = numbers[starts[row]]  # 1 at the lower stop, -1 at the upper one
            joint = ids[row]
            angle = angles[angles_at[joint]] + gaps[bodies[joint]].excess  # the engine's is from before `_drift`
            distance = side * (angle - _stop(stops[2 * joint + (0 if side > 0.0 else 1)]))
            softness[row], hardness[row] = STOP_CFM / h, h / STOP_CFM
            if distance > 0.0:
                references[row] = NEVER
                continue
            at_stop[dof] = side
            spin = _sum(_vector(gaps[bodies[joint]].spin, 0), -1.0, _vector(gaps[parents[bodies[joint]]].spin, 0))
            meeting = side * _dot(_vector(axes, 3 * joint), spin)  # with the spins that ODE's bodies have
            wanted = max(-STOP_ERP * distance / h, -STOP_BOUNCE * meeting)
            references[row] = (wanted - side * speeds[dof]) / h
    for row in range(rows):
        if kinds[row] != FRICTION_ROW:
            continue
        dof = ids[row]
        if at_stop[dof] == 0.0:
            references[row] = guess[dof] = (driven[dof] - speeds[dof]) / h  # what nearly all drives reach
            softness[row], hardness[row] = DRIVE_CFM / h, h / DRIVE_CFM
            continue
        losses[row] = 0.0
        push = -at_stop[dof] * torques[dof]
        if driven[dof] * at_stop[dof] > 0.0:
            push *= -AWAY_SHARE
        forces[dof] += push


@inlined
def _stop(angle: float) -> float:
    """Where ODE has a stop [rad], in 32 bits; the model file has the league's whole degrees with six decimals."""
    whole = round(angle * _DEGREES)
    return float(np.float32(whole / _DEGREES if abs(angle * _DEGREES - whole) < 1e-3 else angle))


@kernel
def _commands(model: int, data: int, place: Places, memory: Floats, gaps: Records[Gap]) -> Floats:
    """The speeds (dofs,) that the drives are told [rad/s]; a drive whose joint is at a stop hears no new command."""
    joints, count, time = (
        read_size(model + place.m_njnt),
        read_size(model + place.m_nactuator),
        read_number(data + place.d_time),
    )
    gains = floats(model + place.m_actuator_gainprm, GAIN_NUMBERS * count)
    targets, histories = (
        ints(model + place.m_actuator_trnid, 2 * count),
        ints(model + place.m_actuator_history, 2 * count),
    )
    controls = ints(model + place.m_actuator_ctrladr, count)
    limits = floats(model + place.m_actuator_ctrlrange, 2 * count)
    angles_at, dofs_at = ints(model + place.m_jnt_qposadr, joints), ints(model + place.m_jnt_dofadr, joints)
    stops, bodies = floats(model + place.m_jnt_range, 2 * joints), ints(model + place.m_jnt_bodyid, joints)
    angles = floats(data + place.d_qpos, angles_at[joints - 1] + 1)
    driven, scratch = np.zeros(read_size(model + place.m_nv)), np.zeros(1)
    for motor in range(count):
        if gains[GAIN_NUMBERS * motor + DRIVE_MARK] != MARK:
            continue
        joint = targets[2 * motor]
        # hingeeffector.cpp compares the angle, rounded to 32 bits in degrees, with the stop, rounded in radians.
        angle = float(np.float32((angles[angles_at[joint]] + gaps[bodies[joint]].excess) * _DEGREES))
        low, high = _stop(stops[2 * joint]) * _DEGREES, _stop(stops[2 * joint + 1]) * _DEGREES
        if low < angle < high:
            found = _read_command(model, data, motor, time, scratch.ctypes.data, histories[2 * motor + 1])
            command = read_number(found) if found else scratch[0]
            limit = 2 * controls[motor]
            memory[1 + motor] = min(max(command, limits[limit]), limits[limit + 1])
        driven[dofs_at[joint]] = memory[1 + motor]
    return driven


# ---- contacts


@kernel
def _set_contact_rows(model: int, data: int, place: Places, gaps: Records[Gap]) -> None:
    """Makes the rows of all contacts those of ODE; one that is none with the gaps of its bodies loses its address."""
    rows, bodies, h = (
        read_int(data + place.d_nefc),
        read_size(model + place.m_nbody),
        read_number(model + place.m_opt_timestep),
    )
    geoms, contact = read_size(model + place.m_ngeom), read_size(data + place.d_contact)
    surfaces, bodies_of = (
        floats(model + place.m_geom_user, GEOM_NUMBERS * geoms),
        ints(model + place.m_geom_bodyid, geoms),
    )
    softness, hardness = floats(data + place.d_efc_R, rows), floats(data + place.d_efc_D, rows)
    kinds = ints(model + place.m_geom_type, geoms)
    references, middles = floats(data + place.d_efc_aref, rows), floats(data + place.d_xipos, 3 * bodies)
    speeds = np.empty(3)
    for _ in range(read_int(data + place.d_ncon)):
        here = contact
        contact += place.size_of_contact
        row = read_int(here + place.c_efc_address)
        if row < 0 or read_int(here + place.c_dim) != DIMENSIONS:
            continue
        one, two = read_int(here + place.c_geom), read_int(here + place.c_geom + 4)
        if kinds[one] == SPHERE and kinds[two] == BOX:
            _meet_as_ode(model, data, place, here, gaps)
        depth = -read_number(here + place.c_dist)
        _take_rows_apart(model, data, place, here, speeds)
        for sign, body in ((-1.0, bodies_of[one]), (1.0, bodies_of[two])):
            depth += _add_gap(here, place, _vector(middles, 3 * body), sign, gaps[body], WORLD_ERP / h, speeds)
        if depth < 0.0:
            references[row : row + ROWS_OF_CONTACT] = NEVER
            write_int(here + place.c_efc_address, -1)
            continue
        wanted = _mixed(surfaces, one, two, 0, WORLD_ERP) * max(depth - SURFACE_LAYER, 0.0) / h
        bounce_speed = _mixed(surfaces, one, two, 4, np.inf)
        if bounce_speed < np.inf:
            meeting = _meeting_speed(model, data, place, here, gaps)
            if meeting > bounce_speed:
                wanted = max(wanted, _mixed(surfaces, one, two, 3, 0.0) * meeting)
        soft, slip = _mixed(surfaces, one, two, 1, WORLD_CFM) / h, _mixed(surfaces, one, two, 2, WORLD_CFM) / h
        for k in range(ROWS_OF_CONTACT):
            aside = k < 4
            softness[row + k] = slip if aside else 2.0 * soft
            hardness[row + k] = 1.0 / softness[row + k]
            references[row + k] = (
                (-1.0 if k % 2 == 0 else 1.0) * speeds[1 + k // 2] if aside else wanted - speeds[0]
            ) / h


@kernel
def _meeting_speed(model: int, data: int, place: Places, contact: int, gaps: Records[Gap]) -> float:
    """How fast two shapes meet: with the velocities that their bodies got in the last step, where they were then.

    A foot that kicks turns by 20 degrees in a step, and its velocity with it; ODE bounces with the one before.
    """
    geoms, bodies = read_size(model + place.m_ngeom), read_size(model + place.m_nbody)
    bodies_of, joint_of = ints(model + place.m_geom_bodyid, geoms), ints(model + place.m_body_jntadr, bodies)
    velocities, roots = floats(data + place.d_cvel, 6 * bodies), ints(model + place.m_body_rootid, bodies)
    middles, centres = floats(data + place.d_xipos, 3 * bodies), floats(data + place.d_subtree_com, 3 * bodies)
    kinds, at = ints(model + place.m_jnt_type, read_size(model + place.m_njnt)), contact + place.c_pos
    point = (read_number(at), read_number(at + 8), read_number(at + 16))
    frame = contact + place.c_frame
    normal = (read_number(frame), read_number(frame + 8), read_number(frame + 16))
    meeting = 0.0
    for side, sign in ((0, 1.0), (1, -1.0)):
        body = bodies_of[read_int(contact + place.c_geom + 4 * side)]
        joint = joint_of[body]
        if joint < 0:
            continue
        if kinds[joint] == FREE_JOINT or kinds[joint] == HINGE_JOINT:
            gap = gaps[body]
            centre = _sum(_vector(middles, 3 * body), 1.0, _vector(gap.off, 0))
            velocity, spin = _vector(gap.velocity, 0), _vector(gap.spin, 0)
        else:
            centre = _vector(centres, 3 * roots[body])
            velocity, spin = _vector(velocities, 6 * body + 3), _vector(velocities, 6 * body)
        velocity = _sum(velocity, 1.0, _cross(spin, _sum(point, -1.0, centre)))
        meeting += sign * _dot(normal, velocity)
    return meeting


@kernel
def _meet_as_ode(model: int, data: int, place: Places, contact: int, gaps: Records[Gap]) -> None:
    """Puts a contact of a sphere and a box where ODE has it, and makes its rows anew.

    A foot that kicks moves by more than the ball's radius in a step: the ball's centre is often found in the foot. ODE
    then pushes it out of the nearest face, and MuJoCo along another direction.
    """
    sphere, box = read_int(contact + place.c_geom), read_int(contact + place.c_geom + 4)
    geoms, bodies = read_size(model + place.m_ngeom), read_size(model + place.m_nbody)
    sizes, places = floats(model + place.m_geom_size, 3 * geoms), floats(data + place.d_geom_xpos, 3 * geoms)
    turns, body = floats(data + place.d_geom_xmat, 9 * geoms), ints(model + place.m_geom_bodyid, geoms)[box]
    middle = _vector(floats(data + place.d_xipos, 3 * bodies), 3 * body)
    off = _sum(_vector(gaps[body].off, 0), 1.0, _vector(gaps[body].put, 0))
    away = _sum(_vector(gaps[body].away, 0), 1.0, _vector(gaps[body].righted, 0))
    centre, radius, there = _vector(places, 3 * box), sizes[3 * sphere], _vector(places, 3 * sphere)
    where = _sum(_sum(centre, 1.0, off), 1.0, _cross(away, _sum(centre, -1.0, middle)))
    seen = _sum(there, -1.0, where)
    seen = _sum(seen, -1.0, _cross(away, seen))  # from a box that is turned away by its gap
    local, nearest, best, face = np.empty(3), np.empty(3), np.inf, -1
    outside = False
    for i in range(3):
        local[i] = turns[9 * box + i] * seen[0] + turns[9 * box + 3 + i] * seen[1] + turns[9 * box + 6 + i] * seen[2]
        half = sizes[3 * box + i]
        nearest[i] = min(max(local[i], -half), half)
        outside = outside or nearest[i] != local[i]
        if half - abs(local[i]) < best:
            best, face = half - abs(local[i]), i
    point, normal, depth = np.empty(3), np.zeros(3), radius + best
    if outside:
        normal[:] = local - nearest
        length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        normal /= length
        depth = radius - length
    else:
        normal[face] = 1.0 if local[face] > 0.0 else -1.0
        nearest[:] = local
    inside, outward = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(3):  # back into the world
        axis = (turns[9 * box + i], turns[9 * box + 3 + i], turns[9 * box + 6 + i])
        inside = _sum(inside, nearest[i], axis)
        outward = _sum(outward, normal[i], axis)
    where = _sum(_sum(where, 1.0, inside), 1.0, _cross(away, inside))
    towards = _sum((0.0, 0.0, 0.0), -1.0, _sum(outward, 1.0, _cross(away, outward)))  # from the sphere to the box
    first = _cross(towards, (1.0, 0.0, 0.0) if abs(towards[0]) < 0.7 else (0.0, 1.0, 0.0))
    first = _sum((0.0, 0.0, 0.0), 1.0 / math.sqrt(_dot(first, first)), first)
    second = _cross(towards, first)
    moved = _sum(off, 1.0, _cross(away, _sum(where, -1.0, middle)))
    write_number(contact + place.c_dist, -depth - _dot(towards, moved))  # without the gap, which is added later
    for i in range(3):
        point[i] = where[i]
        write_number(contact + place.c_pos + 8 * i, where[i])
        write_number(contact + place.c_frame + 8 * i, towards[i])
        write_number(contact + place.c_frame + 24 + 8 * i, first[i])
        write_number(contact + place.c_frame + 48 + 8 * i, second[i])
    _write_rows(model, data, place, contact, point, moved)


@kernel
def _write_rows(model: int, data: int, place: Places, contact: int, point: Floats, moved: Vector) -> None:
    """Writes the rows of a contact at a point (3,) from the axes of its joints, taken apart already.

    The second body has moved off from its joints: the engine has that part of it elsewhere.
    """
    row, rows, dofs = (
        read_int(contact + place.c_efc_address),
        read_int(data + place.d_nefc),
        read_size(model + place.m_nv),
    )
    length, bodies = read_int(data + place.d_nJ), read_size(model + place.m_nbody)
    numbers, columns = floats(data + place.d_efc_J, length), ints(data + place.d_efc_J_colind, length)
    start, used = ints(data + place.d_efc_J_rowadr, rows), ints(data + place.d_efc_J_rownnz, rows)[row]
    axes, centres = floats(data + place.d_cdof, 6 * dofs), floats(data + place.d_subtree_com, 3 * bodies)
    body_of, roots = ints(model + place.m_dof_bodyid, dofs), ints(model + place.m_body_rootid, bodies)
    second_geom = read_int(contact + place.c_geom + 4)
    second_root = roots[ints(model + place.m_geom_bodyid, read_size(model + place.m_ngeom))[second_geom]]
    for k in range(used):
        dof = columns[start[row] + k]
        root = roots[body_of[dof]]
        arm = _sum(_vector(point, 0), -1.0, _vector(centres, 3 * root))
        sign = 1.0 if root == second_root else -1.0
        if root == second_root:
            arm = _sum(arm, -1.0, moved)
        velocity = _sum(_vector(axes, 6 * dof + 3), 1.0, _cross(_vector(axes, 6 * dof), arm))
        for axis in range(3):
            frame = contact + place.c_frame + 24 * axis
            along = (read_number(frame), read_number(frame + 8), read_number(frame + 16))
            value = sign * _dot(along, velocity)
            first = (4, 0, 2)[axis]
            numbers[start[row + first] + k] = value
            numbers[start[row + first + 1] + k] = value if axis == 0 else -value


@inlined
def _mixed(surfaces: Floats, one: int, two: int, number: int, otherwise: float) -> float:
    """A number of two surfaces that meet: the mean, the only one that is given, or another."""
    a, b = float(surfaces[GEOM_NUMBERS * one + number]), float(surfaces[GEOM_NUMBERS * two + number])
    if a == NOT_GIVEN:
        return b if b != NOT_GIVEN else otherwise
    return a if b == NOT_GIVEN else 0.5 * (a + b)


@kernel
def _take_rows_apart(model: int, data: int, place: Places, contact: int, speeds: Floats) -> None:
    """Makes rows of friction and normal of the six rows of a pyramid, and notes their speeds: normal, first, second.

    MuJoCo's point of contact is half-way between the two surfaces, ODE's on that of the second shape. Friction turns a
    ball that has come down deep into the ground, so that the rows of friction are moved to ODE's point.
    """
    row, rows, dofs = (
        read_int(contact + place.c_efc_address),
        read_int(data + place.d_nefc),
        read_size(model + place.m_nv),
    )
    length, bodies = read_int(data + place.d_nJ), read_size(model + place.m_nbody)
    numbers, columns = floats(data + place.d_efc_J, length), ints(data + place.d_efc_J_colind, length)
    start, used = ints(data + place.d_efc_J_rowadr, rows), ints(data + place.d_efc_J_rownnz, rows)[row]
    moving, axes = floats(data + place.d_qvel, dofs), floats(data + place.d_cdof, 6 * dofs)
    body_of, roots = ints(model + place.m_dof_bodyid, dofs), ints(model + place.m_body_rootid, bodies)
    second_geom = read_int(contact + place.c_geom + 4)
    second_root = roots[ints(model + place.m_geom_bodyid, read_size(model + place.m_ngeom))[second_geom]]
    frame, shift = contact + place.c_frame, 0.5 * read_number(contact + place.c_dist)
    along = (read_number(frame + 24), read_number(frame + 32), read_number(frame + 40))
    across = (read_number(frame + 48), read_number(frame + 56), read_number(frame + 64))
    speeds[:] = 0.0
    done = True  # when the engine puts something to sleep, it calls twice in a step, with the rows of the first time
    for k in range(used):
        done = done and numbers[start[row] + k] == -numbers[start[row + 1] + k]
    for k in range(used):
        dof = columns[start[row] + k]
        up, down = numbers[start[row] + k], numbers[start[row + 1] + k]
        left, right = numbers[start[row + 2] + k], numbers[start[row + 3] + k]
        normal, first, second = 0.5 * (up + down), 0.5 * (up - down), 0.5 * (left - right)
        if done:
            normal = numbers[start[row + 4] + k]
        else:
            moved = shift if roots[body_of[dof]] == second_root else -shift
            axis = _vector(axes, 6 * dof)
            first += moved * (axis[0] * across[0] + axis[1] * across[1] + axis[2] * across[2])
            second -= moved * (axis[0] * along[0] + axis[1] * along[1] + axis[2] * along[2])
        speeds[0] += normal * moving[dof]
        speeds[1] += first * moving[dof]
        speeds[2] += second * moving[dof]
        numbers[start[row] + k], numbers[start[row + 1] + k] = first, -first
        numbers[start[row + 2] + k], numbers[start[row + 3] + k] = second, -second
        numbers[start[row + 4] + k] = numbers[start[row + 5] + k] = normal


@inlined
def _add_gap(contact: int, place: Places, middle: Vector, sign: float, gap: Gap, rate: float, speeds: Floats) -> float:
    """How much deeper a contact is for the gap of one of its bodies; adds the speed with which the gap closes."""
    at = contact + place.c_pos
    arm = _sum((read_number(at), read_number(at + 8), read_number(at + 16)), -1.0, middle)
    away = _sum(_vector(gap.off, 0), 1.0, _cross(_vector(gap.away, 0), arm))
    put = _sum(_vector(gap.put, 0), 1.0, _cross(_vector(gap.righted, 0), arm))
    deeper = 0.0
    for axis in range(3):
        at = contact + place.c_frame + 24 * axis
        along = (read_number(at), read_number(at + 8), read_number(at + 16))
        speeds[axis] -= sign * rate * _dot(along, away)
        if axis == 0:
            deeper = -sign * (_dot(along, away) + _dot(along, put))
    return deeper


@kernel
def _copy_to_islands(data: int, place: Places, rows: int) -> None:
    """Copies what the engine has a second time, in the order of its islands."""
    if read_int(data + place.d_nisland) <= 0:
        return
    where = ints(data + place.d_map_efc2iefc, rows)
    hardness, softness, losses = (
        floats(data + place.d_efc_D, rows),
        floats(data + place.d_efc_R, rows),
        floats(data + place.d_efc_frictionloss, rows),
    )
    hardness_there, softness_there = floats(data + place.d_iefc_D, rows), floats(data + place.d_iefc_R, rows)
    losses_there = floats(data + place.d_iefc_frictionloss, rows)
    for row in range(rows):
        hardness_there[where[row]], softness_there[where[row]] = hardness[row], softness[row]
        losses_there[where[row]] = losses[row]
