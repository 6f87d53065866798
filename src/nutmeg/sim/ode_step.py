"""A step of the league's engine: ODE's equations of motion, solved with MuJoCo's parts.

    step_as_ode(model._address, data._address, places())   # after mj_step1, before mj_step2
    solve_step(...), finish_step(...), begin_step(...)     # a whole step in this order; forces after the first
    is_at_rest(...)                                        # whether ODE would take all bodies for idle

The 3D simulation league's server steps its world with the Open Dynamics Engine (ODE), 20 ms at once. With steps of this
length the treatment of contacts decides how a robot walks, and the two engines differ in seven ways. `step_as_ode`
corrects them in the memory of MuJoCo, between the halves of its step; kinematics, collisions, inertia, the solver and
the integration are MuJoCo's.

**Rows.** ODE asks for the speed `v` of a row after the step: `v = c - cfm f`, with a force `f` between two bounds.
MuJoCo asks for an acceleration `a` with `a = aref - R f`. With `aref = (c - v_before) / h` and `R = cfm / h` they are
the same equation.

- *Normal of a contact*: `c = erp (depth - layer) / h`, at least 0: nothing pushes inside the surface layer of 1 mm, in
  which a foot rests, or `c = bounce v` for a contact above the bounce speed; `f >= 0`.
- *Friction*: two rows, `c = 0`, `cfm = slip`, no bound. Friction is unlimited there even where nothing presses: as long
  as a foot is in the layer it is held. MuJoCo has no such row beside contacts, but a pair of one-sided rows with
  opposite directions is one. A contact of four dimensions has six rows in MuJoCo's pyramid: they become two such pairs
  and the normal, twice, each half as hard.
- *Drive*: `c` is the commanded speed, `-torque <= f <= torque`: MuJoCo's row of dry friction.
- *Stop of a joint*: `c = 0.8 depth / h`, or the speed of approach (bounce 1); `f >= 0`. A drive at a stop pushes into
  it with its whole torque, or away from it with nearly none, and ignores new commands.

**Drag.** Every body is slowed down in proportion to its speed.

**Drift.** ODE moves each body on its own, along its velocity; joints pull together again by a fifth of the gap in every
step. A body that moves around a joint is therefore displaced by `-h^2/2` times its centripetal acceleration, and its
attitude is off in the same way. These gaps reach a few millimetres, as much as the surface layer: they decide when a
foot touches. MuJoCo's bodies have no gaps; here each body has a record of its gap (`Gap`), and contacts are those of
the bodies with their gaps.

**Momentum.** ODE adds to the velocity that a body had at its previous position; MuJoCo computes the acceleration around
a joint at the present position. The difference is added to the forces, and so is the momentum of gaps that open and
close.

**Idle bodies.** ODE sets the velocity of bodies that have been slow for ten steps to zero. Here their momentum is
subtracted by forces, and joints that reach their stops slowly come to rest there.

**Angles.** ODE rotates each body on its own, by a little less than its angular velocity says, and nothing corrects the
rotation about the axis of its joint. Joints are turned accordingly after the step. ODE measures the angle of a joint
with its gap: stops, drives and sensors use the measured angle.

One effect is left out: joints of ODE yield by 10 micrometres a second for each newton. ODE itself without this effect
differs from the league's recordings as much as this model does.
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
FUDGE_FACTOR = 1e-5
"""Share of its torque with which a drive pushes away from a stop (ODE's fudge factor)."""
IDLE_SPEED = 0.01
"""Speed [m/s] and angular speed [rad/s] below which a body is idle (ODE's default)."""
IDLE_STEPS = 10
"""Number of idle steps in a row after which ODE disables a body (ODE's default)."""
BALL_REST_SPEED = 1e-9
"""Speed below which a ball is at rest [m/s, rad/s]."""
NO_FORCE = -1e10
"""Reference acceleration that keeps the force of a one-sided row at zero."""
_DEGREES = 180.0 / math.pi

FRICTION_ROW = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
SPHERE, BOX = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_BOX)
FREE_JOINT, HINGE_JOINT = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_HINGE)
STOP_ROW = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
ROWS_OF_CONTACT, GAIN_NUMBERS, DIMENSIONS = 6, 10, 4


@dataclass(frozen=True)
class Places:
    """Offsets of the engine's fields in bytes from the start of `mjModel` (m), `mjData` (d) and `mjContact` (c)."""

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
    """State of a body between steps: the gap between its place in ODE and MuJoCo; it has `STATES_OF_BODY` numbers."""

    displacement: Annotated[Floats, (3,)]
    """Displacement of its centre of mass in ODE from that in MuJoCo [m]."""
    rotation: Annotated[Floats, (3,)]
    """Rotation in ODE relative to MuJoCo, as a rotation vector [rad]."""
    acceleration: Annotated[Floats, (3,)]
    """Acceleration of its centre of mass that MuJoCo's equations lack, added as a force [m/s^2]."""
    angular_acceleration: Annotated[Floats, (3,)]
    """Angular acceleration that MuJoCo's equations lack, added as a torque [rad/s^2]."""
    velocity: Annotated[Floats, (3,)]
    """Velocity of its centre of mass in ODE, which is that at its previous place [m/s]."""
    spin: Annotated[Floats, (3,)]
    """Angular velocity in ODE, which is that of its previous attitude [rad/s]."""
    joint_shift: Annotated[Floats, (3,)]
    """Shift of its centre of mass by joints that were turned after MuJoCo computed its place [m]."""
    joint_rotation: Annotated[Floats, (3,)]
    """Rotation of the body by these joints, as a rotation vector [rad]."""
    angle_excess: float
    """Angle of its joint as ODE measures it, with the gap, minus MuJoCo's angle [rad]."""
    idle_steps: float
    """Number of steps in a row in which it was slow."""


@dataclass
class _PreviousState:
    """State of a body before the last step, in the frame of the world."""

    place: Annotated[Floats, (3,)]
    """Position of its origin [m]."""
    turn: Annotated[Floats, (4,)]
    """Attitude, as a quaternion."""
    velocity: Annotated[Floats, (3,)]
    """Velocity of its origin at that place [m/s]."""
    spin: Annotated[Floats, (3,)]
    """Angular velocity [rad/s]."""
    joint_shift: Annotated[Floats, (3,)]
    """Shift of its origin by the joints between it and the root that were turned in this step [m]."""
    joint_rotation: Annotated[Floats, (3,)]
    """Rotation by these joints, as a rotation vector [rad]."""


PLACES, GAP, PREVIOUS_STATE = record_of(Places), record_of(Gap), record_of(_PreviousState)


@cache
def places() -> Records[Places]:
    """(1,) the offsets in this build of MuJoCo, checked once in a process."""
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
"""MuJoCo's function that reads the command of an actuator at a time, delays included."""
_first_half = types.ExternalFunction("mj_step1", types.void(types.intp, types.intp))
_apply_drives = types.ExternalFunction("mj_fwdActuation", types.void(types.intp, types.intp))
_accelerate = types.ExternalFunction("mj_fwdAcceleration", types.void(types.intp, types.intp))
_solve = types.ExternalFunction("mj_fwdConstraint", types.void(types.intp, types.intp))
_check = types.ExternalFunction("mj_checkAcc", types.void(types.intp, types.intp))
_move = types.ExternalFunction("mj_Euler", types.void(types.intp, types.intp))
"""MuJoCo's functions for all that follows from positions and velocities (`mj_step1`), and the parts of `mj_step2`."""


def compiled_for_all_models() -> Any:  # noqa: ANN401
    """The function that the engine's callback runs in every step: `step_as_ode` for marked models, else nothing."""
    table = places()
    sizes, count, surfaces = int(table[0].m_nuser_geom), int(table[0].m_ngeom), int(table[0].m_geom_user)
    address = int(table.ctypes.data)  # stays valid, because the cache of `places` keeps the table alive

    def control(model: int, data: int) -> None:
        if read_size(model + sizes) != GEOM_NUMBERS or read_size(model + count) == 0:
            return
        if read_number(read_size(model + surfaces) + 8 * (GEOM_NUMBERS - 1)) == MARK:
            step_as_ode(model, data, carray(pointer_to(address), (1,), PLACES))

    return njit(control)


@inlined
def read_gaps(model: int, data: int, place: Places) -> Records[Gap]:
    """(bodies,) the gaps of all bodies: a live view of the end of the engine's user data."""
    count, bodies = read_size(model + place.m_nuserdata), read_size(model + place.m_nbody)
    first = read_size(data + place.d_userdata) + 8 * (count - STATES_OF_BODY * bodies)
    gaps: Records[Gap] = carray(pointer_to(first), (bodies,), GAP)
    return gaps


@kernel
def _drift_as_ode(model: int, data: int, places: Records[Places]) -> None:
    """Updates the gaps and joint angles of all bodies for the last step, once for each step."""
    place = places[0]
    # The first number of the user data is the time of the last update: the engine may call several times in a step.
    memory, time = floats(data + place.d_userdata, 1), read_number(data + place.d_time)
    if memory[0] != time:
        _drift(model, data, place, read_gaps(model, data, place))
    memory[0] = time


@kernel
def step_as_ode(model: int, data: int, places: Records[Places]) -> None:
    """Replaces constraint rows and adds drag after the first half of a step; `model` and `data` are addresses."""
    place = places[0]
    memory = floats(data + place.d_userdata, read_size(model + place.m_nuserdata))
    gaps, rows = read_gaps(model, data, place), read_int(data + place.d_nefc)
    _drift_as_ode(model, data, places)
    _add_drag(model, data, place, gaps)
    if rows:
        _set_joint_rows(model, data, place, memory, gaps)
        _set_contact_rows(model, data, place, gaps)
        _copy_to_islands(data, place, rows)


@kernel
def solve_step(model: int, data: int, places: Records[Places]) -> None:
    """Computes the forces of a step whose first half is done.

    Contacts must be read directly after this: if MuJoCo puts a robot to sleep while it integrates, it solves once more
    without ODE's rows and overwrites the forces.
    """
    step_as_ode(model, data, places)
    _apply_drives(model, data)
    _accelerate(model, data)
    _solve(model, data)


@kernel
def finish_step(model: int, data: int) -> None:
    """Integrates a step whose forces are known."""
    _check(model, data)
    _move(model, data)


@kernel
def begin_step(model: int, data: int, places: Records[Places]) -> None:
    """Runs the first half of the next step, so that places and contacts are those of the present state."""
    _first_half(model, data)
    _drift_as_ode(model, data, places)


@kernel
def is_at_rest(model: int, data: int, places: Records[Places]) -> bool:
    """Whether ODE would disable all bodies that are awake, and none was set in motion since."""
    place = places[0]
    bodies, gaps = read_size(model + place.m_nbody), read_gaps(model, data, place)
    velocities, joint_of = floats(data + place.d_cvel, 6 * bodies), ints(model + place.m_body_jntadr, bodies)
    kinds = ints(model + place.m_jnt_type, read_size(model + place.m_njnt))
    for speed in floats(data + place.d_qvel, read_size(model + place.m_nv)):
        if not abs(speed) <= IDLE_SPEED:  # also if it is nan
            return False
    for body in ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake)):
        if joint_of[body] < 0:
            continue
        if kinds[joint_of[body]] == FREE_JOINT or kinds[joint_of[body]] == HINGE_JOINT:
            if gaps[body].idle_steps < IDLE_STEPS:
                return False
        else:  # the ball has no gap, and hence no count of idle steps
            for i in range(6):
                if abs(velocities[6 * body + i]) > BALL_REST_SPEED:
                    return False
    return True


# ---- vectors and quaternions: plain tuples, which need no allocation

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
    """The product of two quaternions: the rotation b followed by a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inlined
def _turn_about(axis: Vector, angle: float) -> Turn:
    """The quaternion of a rotation about an axis, by the angle times the axis's length [rad]."""
    length = math.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    share = math.sin(0.5 * angle * length) / length if length > 0.0 else 0.0
    return math.cos(0.5 * angle * length), share * axis[0], share * axis[1], share * axis[2]


@inlined
def _rotated(turn: Turn, vector: Vector) -> Vector:
    """A vector rotated by a quaternion."""
    axis = (turn[1], turn[2], turn[3])
    twice = _sum((0.0, 0.0, 0.0), 2.0, _cross(axis, vector))
    return _sum(_sum(vector, turn[0], twice), 1.0, _cross(axis, twice))


# ---- bodies


@kernel
def _add_drag(model: int, data: int, place: Places, gaps: Records[Gap]) -> None:
    """Adds drag and the accelerations that MuJoCo lacks (see `Gap`) of all awake bodies to the passive forces."""
    bodies, dofs = read_size(model + place.m_nbody), read_size(model + place.m_nv)
    awake = ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake))
    parents, roots = ints(model + place.m_body_parentid, bodies), ints(model + place.m_body_rootid, bodies)
    first, count = ints(model + place.m_body_dofadr, bodies), ints(model + place.m_body_dofnum, bodies)
    drag, forces = floats(model + place.m_body_user, BODY_NUMBERS * bodies), floats(data + place.d_qfrc_passive, dofs)
    velocities, centres = floats(data + place.d_cvel, 6 * bodies), floats(data + place.d_subtree_com, 3 * bodies)
    axes, middles = floats(data + place.d_cdof, 6 * dofs), floats(data + place.d_xipos, 3 * bodies)
    masses, inertias = floats(model + place.m_body_mass, bodies), floats(model + place.m_body_inertia, 3 * bodies)
    frames = floats(data + place.d_ximat, 9 * bodies)
    # Torque and force on a body and its descendants, about the tree's centre of mass, in which `cdof` has its axes.
    wrench = np.zeros((bodies, 6))
    for k in range(len(awake) - 1, -1, -1):  # children before their parents
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
        # The torque for the lacking angular acceleration is the sum over the three principal axes of its inertia.
        for main in range(3):
            axis = (frames[9 * body + main], frames[9 * body + 3 + main], frames[9 * body + 6 + main])
            torque = _sum(torque, inertias[3 * body + main] * _dot(axis, _vector(gap.angular_acceleration, 0)), axis)
        for i in range(3):
            mine[i] += torque[i]
            mine[3 + i] += force[i]
        # The wrench acts on the body's own degrees of freedom, and is then passed on to the parent.
        for dof in range(first[body], first[body] + count[body]):
            for i in range(6):
                forces[dof] += axes[6 * dof + i] * mine[i]
        for i in range(6):
            wrench[parent, i] += mine[i]


@kernel
def _drift(model: int, data: int, place: Places, gaps: Records[Gap]) -> None:
    """Updates the gaps of all awake bodies: each closes by a fifth and grows by the drift of the last step.

    The previous state of a body follows from the present one by turning the joints back with their present speeds. From
    there ODE moved the body along its previous velocity, and rotated it by adding `h` times the derivative of its
    quaternion and normalising that. Such a rotation is too small, by 1 % at 12 rad/s. No constraint of ODE corrects it
    about the axis of the joint, so joints are turned back here by the difference; places show it from the next step on.
    """
    bodies, joints = read_size(model + place.m_nbody), read_size(model + place.m_njnt)
    awake = ints(data + place.d_body_awake_ind, read_int(data + place.d_nbody_awake))
    parents, joint_of = ints(model + place.m_body_parentid, bodies), ints(model + place.m_body_jntadr, bodies)
    kinds, before = ints(model + place.m_jnt_type, joints), np.zeros(bodies, PREVIOUS_STATE)
    first, count = ints(model + place.m_body_dofadr, bodies), ints(model + place.m_body_dofnum, bodies)
    dofs, h = read_size(model + place.m_nv), read_number(model + place.m_opt_timestep)
    changes, speeds = floats(data + place.d_cdof_dot, 6 * dofs), floats(data + place.d_qvel, dofs)
    bias = np.zeros((bodies, 6))  # MuJoCo's spatial acceleration of each body at constant joint speeds
    before[0].turn[0] = 1.0
    for body in awake:  # parents before their children
        # It adds up along the chain of joints from the root.
        bias[body] = bias[parents[body]]
        for dof in range(first[body], first[body] + count[body]):
            for i in range(6):
                bias[body, i] += changes[6 * dof + i] * speeds[dof]
        joint = joint_of[body]
        if joint < 0:
            if body:
                _fixed_body_before(model, place, body, before[parents[body]], before[body])
            continue
        if kinds[joint] == FREE_JOINT:
            _free_body_before(model, data, place, joint, before[body])
        elif kinds[joint] == HINGE_JOINT:
            _hinged_body_before(model, data, place, body, before[parents[body]], before[body])
        else:
            continue  # the ball moves on joints of its own and has no gap
        _update_gap(model, data, place, body, before[body], gaps[body])
        if kinds[joint] == HINGE_JOINT:
            _turn_joint(model, data, place, joint, before[body], gaps[parents[body]], gaps[body])
        _add_momentum_difference(model, data, place, body, before[body], gaps[body], bias[body])
        _stop_idle(gaps[body], h)
        if kinds[joint] == HINGE_JOINT:
            gaps[body].angle_excess = _angle_excess(model, data, place, joint, gaps[parents[body]], gaps[body])


@inlined
def _free_body_before(model: int, data: int, place: Places, joint: int, found: _PreviousState) -> None:
    """Fills in the previous state of a body with a free joint."""
    joints, h = read_size(model + place.m_njnt), read_number(model + place.m_opt_timestep)
    a, d = ints(model + place.m_jnt_qposadr, joints)[joint], ints(model + place.m_jnt_dofadr, joints)[joint]
    angles, speeds = floats(data + place.d_qpos, a + 7), floats(data + place.d_qvel, d + 6)
    # The engine has just moved the body with these speeds, so going back one step with them gives the place before.
    velocity, local = _vector(speeds, d), _vector(speeds, d + 3)
    turn = _product(_quaternion(angles, a + 3), _turn_about(local, -h))
    _set(found.place, _sum(_vector(angles, a), -h, velocity))
    _set(found.velocity, velocity)
    _set(found.spin, _rotated(turn, local))
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _fixed_body_before(model: int, place: Places, body: int, base: _PreviousState, found: _PreviousState) -> None:
    """Fills in the previous state of a body without a joint, which moves with its parent `base`."""
    bodies = read_size(model + place.m_nbody)
    base_turn, base_spin = _quaternion(base.turn, 0), _vector(base.spin, 0)
    # A body without a joint of its own is welded to its parent: same rotation, and a velocity from the parent's spin.
    arm = _rotated(base_turn, _vector(floats(model + place.m_body_pos, 3 * bodies), 3 * body))
    turn = _product(base_turn, _quaternion(floats(model + place.m_body_quat, 4 * bodies), 4 * body))
    _set(found.place, _sum(_vector(base.place, 0), 1.0, arm))
    _set(found.velocity, _sum(_vector(base.velocity, 0), 1.0, _cross(base_spin, arm)))
    _set(found.spin, base_spin)
    _set(found.joint_shift, _sum(_vector(base.joint_shift, 0), 1.0, _cross(_vector(base.joint_rotation, 0), arm)))
    _set(found.joint_rotation, _vector(base.joint_rotation, 0))
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _hinged_body_before(
    model: int, data: int, place: Places, body: int, base: _PreviousState, found: _PreviousState
) -> None:
    """Fills in the previous state of a body that is hinged to its parent `base`."""
    joints, bodies = read_size(model + place.m_njnt), read_size(model + place.m_nbody)
    joint, h = ints(model + place.m_body_jntadr, bodies)[body], read_number(model + place.m_opt_timestep)
    a, d = ints(model + place.m_jnt_qposadr, joints)[joint], ints(model + place.m_jnt_dofadr, joints)[joint]
    angles, speeds = floats(data + place.d_qpos, a + 1), floats(data + place.d_qvel, d + 1)
    axis = _vector(floats(model + place.m_jnt_axis, 3 * joints), 3 * joint)
    anchor = _vector(floats(model + place.m_jnt_pos, 3 * joints), 3 * joint)
    base_turn, base_spin, base_rotation = (
        _quaternion(base.turn, 0),
        _vector(base.spin, 0),
        _vector(base.joint_rotation, 0),
    )
    turn = _product(base_turn, _quaternion(floats(model + place.m_body_quat, 4 * bodies), 4 * body))
    offset = _vector(floats(model + place.m_body_pos, 3 * bodies), 3 * body)
    # From the parent's origin to the pivot of the hinge, and from there to the body's origin.
    to_pivot = _sum(_rotated(base_turn, offset), 1.0, _rotated(turn, anchor))
    spin = _sum(base_spin, speeds[d], _rotated(turn, axis))
    # The joint's angle one step ago; the spin above is that of the hinge's axis, which the parent carries.
    turn = _product(turn, _turn_about(axis, angles[a] - h * speeds[d]))
    from_pivot = _sum((0.0, 0.0, 0.0), -1.0, _rotated(turn, anchor))
    velocity = _sum(_vector(base.velocity, 0), 1.0, _cross(base_spin, to_pivot))
    joint_shift = _sum(_vector(base.joint_shift, 0), 1.0, _cross(base_rotation, to_pivot))
    _set(found.place, _sum(_sum(_vector(base.place, 0), 1.0, to_pivot), 1.0, from_pivot))
    _set(found.velocity, _sum(velocity, 1.0, _cross(spin, from_pivot)))
    _set(found.spin, spin)
    _set(found.joint_shift, _sum(joint_shift, 1.0, _cross(base_rotation, from_pivot)))
    _set(found.joint_rotation, base_rotation)
    for i in range(4):
        found.turn[i] = turn[i]


@inlined
def _update_gap(model: int, data: int, place: Places, body: int, before: _PreviousState, gap: Gap) -> None:
    """Closes a gap by a fifth, and adds the difference between the place to which ODE moved the body and MuJoCo's."""
    bodies, h = read_size(model + place.m_nbody), read_number(model + place.m_opt_timestep)
    turn, spin, joint_rotation = _quaternion(before.turn, 0), _vector(before.spin, 0), _vector(before.joint_rotation, 0)
    arm = _rotated(turn, _vector(floats(model + place.m_body_ipos, 3 * bodies), 3 * body))
    velocity = _sum(_vector(before.velocity, 0), 1.0, _cross(spin, arm))
    # `moved` is the centre of mass in ODE without its gap; `held` is that in MuJoCo, with joints turned meanwhile.
    moved = _sum(_sum(_vector(before.place, 0), 1.0, arm), h, velocity)
    held = _sum(_vector(floats(data + place.d_xipos, 3 * bodies), 3 * body), 1.0, _vector(before.joint_shift, 0))
    held = _sum(held, 1.0, _cross(joint_rotation, arm))
    _set(gap.joint_shift, _sum(_vector(before.joint_shift, 0), 1.0, _cross(joint_rotation, arm)))
    _set(gap.joint_rotation, joint_rotation)
    # ODE rotates the body from its attitude with the gap, with the angular velocity that also closes the gap.
    _set(gap.spin, _sum(spin, -WORLD_ERP / h, _vector(gap.rotation, 0)))
    tilted = _product((1.0, 0.5 * gap.rotation[0], 0.5 * gap.rotation[1], 0.5 * gap.rotation[2]), turn)
    turned = _product((1.0, 0.5 * h * gap.spin[0], 0.5 * h * gap.spin[1], 0.5 * h * gap.spin[2]), tilted)
    now = _quaternion(floats(data + place.d_xquat, 4 * bodies), 4 * body)
    error = _product(turned, (now[0], -now[1], -now[2], -now[3]))
    rotation = _sum(
        (2.0 * error[1] / error[0], 2.0 * error[2] / error[0], 2.0 * error[3] / error[0]), -1.0, joint_rotation
    )
    _set(gap.velocity, _sum(velocity, -WORLD_ERP / h, _vector(gap.displacement, 0)))
    # A gap closes with a velocity of its own, whose change is an acceleration that MuJoCo's equations lack.
    opened = _sum(_sum(moved, -1.0, held), -WORLD_ERP, _vector(gap.displacement, 0))
    rotated = _sum(rotation, -1.0, _vector(gap.rotation, 0))
    _set(gap.acceleration, _sum((0.0, 0.0, 0.0), WORLD_ERP / h**2, opened))
    _set(gap.angular_acceleration, _sum((0.0, 0.0, 0.0), WORLD_ERP / h**2, rotated))
    for i in range(3):
        gap.displacement[i] += opened[i]
        gap.rotation[i] += rotated[i]


@inlined
def _turn_joint(model: int, data: int, place: Places, joint: int, before: _PreviousState, base: Gap, gap: Gap) -> None:
    """Turns a joint by the gap's rotation about its axis, because ODE's joints do not correct this direction.

    All descendants turn with it. MuJoCo's places show this from the next step on; until then it is in `joint_shift`
    and `joint_rotation`.
    """
    joints, h = read_size(model + place.m_njnt), read_number(model + place.m_opt_timestep)
    body, bodies = ints(model + place.m_jnt_bodyid, joints)[joint], read_size(model + place.m_nbody)
    at = ints(model + place.m_jnt_qposadr, joints)[joint]
    axis = _vector(floats(data + place.d_xaxis, 3 * joints), 3 * joint)
    pivot = _vector(floats(data + place.d_xanchor, 3 * joints), 3 * joint)
    angle = _dot(_sum(_vector(gap.rotation, 0), -1.0, _vector(base.rotation, 0)), axis)
    floats(data + place.d_qpos, at + 1)[at] += angle
    turn = _sum((0.0, 0.0, 0.0), angle, axis)
    origin = _sum(_vector(floats(data + place.d_xpos, 3 * bodies), 3 * body), -1.0, pivot)
    middle = _sum(_vector(floats(data + place.d_xipos, 3 * bodies), 3 * body), -1.0, pivot)
    _set(before.joint_rotation, _sum(_vector(before.joint_rotation, 0), 1.0, turn))
    _set(before.joint_shift, _sum(_vector(before.joint_shift, 0), 1.0, _cross(turn, origin)))
    _set(gap.joint_rotation, _sum(_vector(gap.joint_rotation, 0), 1.0, turn))
    _set(gap.joint_shift, _sum(_vector(gap.joint_shift, 0), 1.0, _cross(turn, middle)))
    # The joint now has this part of the gap.
    _set(gap.rotation, _sum(_vector(gap.rotation, 0), -1.0, turn))
    _set(gap.displacement, _sum(_vector(gap.displacement, 0), -1.0, _cross(turn, middle)))
    _set(gap.angular_acceleration, _sum(_vector(gap.angular_acceleration, 0), -WORLD_ERP / h**2, turn))
    _set(gap.acceleration, _sum(_vector(gap.acceleration, 0), -WORLD_ERP / h**2, _cross(turn, middle)))


@inlined
def _add_momentum_difference(
    model: int, data: int, place: Places, body: int, before: _PreviousState, gap: Gap, bias: Floats
) -> None:
    """Adds the difference between ODE's and MuJoCo's acceleration of a body around its joints.

    The velocity of a body that moves around a joint changes direction. MuJoCo computes this acceleration at the present
    place (`bias`); in ODE it is the difference of the velocities of two steps. At 12 rad/s they differ by 7 degrees.
    """
    bodies, h = read_size(model + place.m_nbody), read_number(model + place.m_opt_timestep)
    velocities, roots = floats(data + place.d_cvel, 6 * bodies), ints(model + place.m_body_rootid, bodies)
    middles, centres = floats(data + place.d_xipos, 3 * bodies), floats(data + place.d_subtree_com, 3 * bodies)
    spin = _vector(velocities, 6 * body)
    arm = _sum(_vector(middles, 3 * body), -1.0, _vector(centres, 3 * roots[body]))
    velocity = _sum(_vector(velocities, 6 * body + 3), 1.0, _cross(spin, arm))
    then_arm = _rotated(_quaternion(before.turn, 0), _vector(floats(model + place.m_body_ipos, 3 * bodies), 3 * body))
    then = _sum(_vector(before.velocity, 0), 1.0, _cross(_vector(before.spin, 0), then_arm))
    angular_acceleration = _vector(bias, 0)
    going = _sum(_sum(_vector(bias, 3), 1.0, _cross(angular_acceleration, arm)), 1.0, _cross(spin, velocity))
    for i in range(3):
        gap.acceleration[i] += (then[i] - velocity[i]) / h + going[i]
        gap.angular_acceleration[i] += (before.spin[i] - spin[i]) / h + angular_acceleration[i]


@inlined
def _stop_idle(gap: Gap, h: float) -> None:
    """Stops a body that has been slow for ten steps, as ODE does when it disables a body that its neighbours wake.

    Without this, a joint that reaches its stop slowly would bounce for ever.
    """
    velocity, spin = _vector(gap.velocity, 0), _vector(gap.spin, 0)
    is_slow = max(_dot(velocity, velocity), _dot(spin, spin)) <= IDLE_SPEED**2
    gap.idle_steps = gap.idle_steps + 1.0 if is_slow else 0.0
    if gap.idle_steps >= IDLE_STEPS:
        for i in range(3):
            gap.acceleration[i] -= velocity[i] / h
            gap.angular_acceleration[i] -= spin[i] / h
            gap.velocity[i] = gap.spin[i] = 0.0


@inlined
def _angle_excess(model: int, data: int, place: Places, joint: int, base: Gap, gap: Gap) -> float:
    """ODE's angle of a joint minus MuJoCo's [rad]: ODE measures the whole rotation between the two bodies."""
    joints = read_size(model + place.m_njnt)
    at = ints(model + place.m_jnt_qposadr, joints)[joint]
    angle = floats(data + place.d_qpos, at + 1)[at]
    axis = _vector(floats(data + place.d_xaxis, 3 * joints), 3 * joint)
    rotation = _sum(_vector(gap.rotation, 0), -1.0, _vector(base.rotation, 0))
    # The part of the gap about the axis is in the joint already; what is left tilts one body against the other.
    across = _sum(rotation, -_dot(rotation, axis), axis)
    # Angle of the product of two rotations about perpendicular axes: the joint's and the tilt.
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
    """Sets the rows of drives and stops; a stop that ODE's angle of the joint has not reached has no force."""
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
    # Stops first: a drive at a stop is no row, but a plain force.
    at_stop, driven = np.zeros(dofs), _drive_speeds(model, data, place, memory, gaps)
    guess[:] = 0.0  # initial guess of the solver; that of drives is set below
    for row in range(rows):
        if kinds[row] == STOP_ROW:
            dof = dof_of[ids[row]]
            side = numbers[starts[row]]  # 1 at the lower stop, -1 at the upper one
            joint = ids[row]
            # Not MuJoCo's distance of the row, which is from before `_drift` and without the gap.
            angle = angles[angles_at[joint]] + gaps[bodies[joint]].angle_excess
            distance = side * (angle - _stop_angle(stops[2 * joint + (0 if side > 0.0 else 1)]))
            softness[row], hardness[row] = STOP_CFM / h, h / STOP_CFM
            if distance > 0.0:
                references[row] = NO_FORCE
                continue
            at_stop[dof] = side
            spin = _sum(_vector(gaps[bodies[joint]].spin, 0), -1.0, _vector(gaps[parents[bodies[joint]]].spin, 0))
            meeting = side * _dot(_vector(axes, 3 * joint), spin)  # speed of approach between ODE's bodies
            wanted = max(-STOP_ERP * distance / h, -STOP_BOUNCE * meeting)
            references[row] = (wanted - side * speeds[dof]) / h
    for row in range(rows):
        if kinds[row] != FRICTION_ROW:
            continue
        dof = ids[row]
        if at_stop[dof] == 0.0:
            # Nearly all drives reach their speed within a step, so it is also the best guess for the solver.
            references[row] = guess[dof] = (driven[dof] - speeds[dof]) / h
            softness[row], hardness[row] = DRIVE_CFM / h, h / DRIVE_CFM
            continue
        # At a stop the drive is a plain force: its whole torque into the stop, or a tiny share of it away from it.
        losses[row] = 0.0
        push = -at_stop[dof] * torques[dof]
        if driven[dof] * at_stop[dof] > 0.0:
            push *= -FUDGE_FACTOR
        forces[dof] += push


@inlined
def _stop_angle(angle: float) -> float:
    """The angle of a stop in ODE [rad], with 32 bits: whole degrees, which the model file has with six decimals."""
    whole = round(angle * _DEGREES)
    return float(np.float32(whole / _DEGREES if abs(angle * _DEGREES - whole) < 1e-3 else angle))


@kernel
def _drive_speeds(model: int, data: int, place: Places, memory: Floats, gaps: Records[Gap]) -> Floats:
    """The commanded speeds of drives, (dofs,) [rad/s]; a drive whose joint is at a stop keeps its last command."""
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
        # Other actuators, such as the position drives of other robots, stay MuJoCo's.
        if gains[GAIN_NUMBERS * motor + DRIVE_MARK] != MARK:
            continue
        joint = targets[2 * motor]
        # hingeeffector.cpp compares the angle, rounded to 32 bits in degrees, with the stop, rounded in radians.
        angle = float(np.float32((angles[angles_at[joint]] + gaps[bodies[joint]].angle_excess) * _DEGREES))
        low, high = _stop_angle(stops[2 * joint]) * _DEGREES, _stop_angle(stops[2 * joint + 1]) * _DEGREES
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
    """Gives all contacts ODE's rows; a contact whose shapes do not touch with their gaps loses its rows."""
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
        # Contacts without rows have no force, and those of other dimensions are not between the league's bodies.
        if row < 0 or read_int(here + place.c_dim) != DIMENSIONS:
            continue
        one, two = read_int(here + place.c_geom), read_int(here + place.c_geom + 4)
        if kinds[one] == SPHERE and kinds[two] == BOX:
            _place_sphere_contact(model, data, place, here, gaps)
        depth = -read_number(here + place.c_dist)
        _split_pyramid_rows(model, data, place, here, speeds)
        for sign, body in ((-1.0, bodies_of[one]), (1.0, bodies_of[two])):
            depth += _add_gap(here, place, _vector(middles, 3 * body), sign, gaps[body], WORLD_ERP / h, speeds)
        if depth < 0.0:  # the shapes touch in MuJoCo, but not in ODE
            references[row : row + ROWS_OF_CONTACT] = NO_FORCE
            write_int(here + place.c_efc_address, -1)
            continue
        # ODE's c of the normal row: a share of the depth beyond the surface layer is to be gone after the step.
        wanted = _mixed(surfaces, one, two, 0, WORLD_ERP) * max(depth - SURFACE_LAYER, 0.0) / h
        bounce_speed = _mixed(surfaces, one, two, 4, np.inf)
        if bounce_speed < np.inf:
            meeting = _approach_speed(model, data, place, here, gaps)
            if meeting > bounce_speed:
                wanted = max(wanted, _mixed(surfaces, one, two, 3, 0.0) * meeting)
        soft, slip = _mixed(surfaces, one, two, 1, WORLD_CFM) / h, _mixed(surfaces, one, two, 2, WORLD_CFM) / h
        # Rows 0 to 3 are two pairs of friction rows with opposite signs, rows 4 and 5 the normal, twice, half as hard.
        for k in range(ROWS_OF_CONTACT):
            aside = k < 4
            softness[row + k] = slip if aside else 2.0 * soft
            hardness[row + k] = 1.0 / softness[row + k]
            references[row + k] = (
                (-1.0 if k % 2 == 0 else 1.0) * speeds[1 + k // 2] if aside else wanted - speeds[0]
            ) / h


@kernel
def _approach_speed(model: int, data: int, place: Places, contact: int, gaps: Records[Gap]) -> float:
    """The speed with which two shapes approach each other, from ODE's velocities of their bodies [m/s].

    A kicking foot turns by 20 degrees in a step, and its velocity with it; ODE bounces with the previous velocity.
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
            continue  # the ground, or what is fixed to it
        # Bodies that are stepped as in ODE have their velocity there in the gap; for others MuJoCo's is right.
        if kinds[joint] == FREE_JOINT or kinds[joint] == HINGE_JOINT:
            gap = gaps[body]
            centre = _sum(_vector(middles, 3 * body), 1.0, _vector(gap.displacement, 0))
            velocity, spin = _vector(gap.velocity, 0), _vector(gap.spin, 0)
        else:
            centre = _vector(centres, 3 * roots[body])
            velocity, spin = _vector(velocities, 6 * body + 3), _vector(velocities, 6 * body)
        velocity = _sum(velocity, 1.0, _cross(spin, _sum(point, -1.0, centre)))
        # The velocity of each body at the point of contact; their difference along the normal is the speed of approach.
        meeting += sign * _dot(normal, velocity)
    return meeting


@kernel
def _place_sphere_contact(model: int, data: int, place: Places, contact: int, gaps: Records[Gap]) -> None:
    """Moves the contact of a sphere and a box to ODE's point and normal, and computes its rows again.

    A kicking foot moves by more than the ball's radius in a step, so that the ball's centre is often inside the foot.
    ODE then pushes it out of the nearest face, MuJoCo along another direction.
    """
    sphere, box = read_int(contact + place.c_geom), read_int(contact + place.c_geom + 4)
    geoms, bodies = read_size(model + place.m_ngeom), read_size(model + place.m_nbody)
    sizes, places = floats(model + place.m_geom_size, 3 * geoms), floats(data + place.d_geom_xpos, 3 * geoms)
    turns, body = floats(data + place.d_geom_xmat, 9 * geoms), ints(model + place.m_geom_bodyid, geoms)[box]
    middle = _vector(floats(data + place.d_xipos, 3 * bodies), 3 * body)
    displacement = _sum(_vector(gaps[body].displacement, 0), 1.0, _vector(gaps[body].joint_shift, 0))
    rotation = _sum(_vector(gaps[body].rotation, 0), 1.0, _vector(gaps[body].joint_rotation, 0))
    centre, radius, there = _vector(places, 3 * box), sizes[3 * sphere], _vector(places, 3 * sphere)
    where = _sum(_sum(centre, 1.0, displacement), 1.0, _cross(rotation, _sum(centre, -1.0, middle)))
    seen = _sum(there, -1.0, where)
    seen = _sum(seen, -1.0, _cross(rotation, seen))  # in the frame of the box with its gap, to first order
    # The sphere's centre in the frame of the box, the nearest point of the box, and the face that is least deep.
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
    if outside:  # the normal points from the nearest point of the box to the sphere's centre
        normal[:] = local - nearest
        length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        normal /= length
        depth = radius - length
    else:  # the centre is inside the box: the normal is that of the nearest face
        normal[face] = 1.0 if local[face] > 0.0 else -1.0
        nearest[:] = local
    inside, outward = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(3):  # from the frame of the box to that of the world
        axis = (turns[9 * box + i], turns[9 * box + 3 + i], turns[9 * box + 6 + i])
        inside = _sum(inside, nearest[i], axis)
        outward = _sum(outward, normal[i], axis)
    where = _sum(_sum(where, 1.0, inside), 1.0, _cross(rotation, inside))
    towards = _sum((0.0, 0.0, 0.0), -1.0, _sum(outward, 1.0, _cross(rotation, outward)))  # from the sphere to the box
    # Any two directions across the normal do, since friction is alike in all of them.
    first = _cross(towards, (1.0, 0.0, 0.0) if abs(towards[0]) < 0.7 else (0.0, 1.0, 0.0))
    first = _sum((0.0, 0.0, 0.0), 1.0 / math.sqrt(_dot(first, first)), first)
    second = _cross(towards, first)
    moved = _sum(displacement, 1.0, _cross(rotation, _sum(where, -1.0, middle)))
    write_number(contact + place.c_dist, -depth - _dot(towards, moved))  # `_add_gap` adds the gap later
    for i in range(3):
        point[i] = where[i]
        write_number(contact + place.c_pos + 8 * i, where[i])
        write_number(contact + place.c_frame + 8 * i, towards[i])
        write_number(contact + place.c_frame + 24 + 8 * i, first[i])
        write_number(contact + place.c_frame + 48 + 8 * i, second[i])
    _write_rows(model, data, place, contact, point, moved)


@kernel
def _write_rows(model: int, data: int, place: Places, contact: int, point: Floats, moved: Vector) -> None:
    """Writes the split rows (see `_split_pyramid_rows`) of a contact at a point (3,) from the axes of the joints.

    `moved` is the gap of the second body at this point: MuJoCo has that part of the body at the point minus `moved`.
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
    # Each number is the speed of the contact along an axis of its frame for a unit speed of one degree of freedom: plus
    # for those of the second body's tree, minus for those of the first.
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
            # Split rows come in pairs: 0 and 1, 2 and 3 friction along both tangents, 4 and 5 the normal.
            first = (4, 0, 2)[axis]
            numbers[start[row + first] + k] = value
            numbers[start[row + first + 1] + k] = value if axis == 0 else -value


@inlined
def _mixed(surfaces: Floats, one: int, two: int, number: int, otherwise: float) -> float:
    """The contact number of two surfaces: the mean, the only one that is set, or `otherwise` if neither is set."""
    a, b = float(surfaces[GEOM_NUMBERS * one + number]), float(surfaces[GEOM_NUMBERS * two + number])
    if a == NOT_GIVEN:
        return b if b != NOT_GIVEN else otherwise
    return a if b == NOT_GIVEN else 0.5 * (a + b)


@kernel
def _split_pyramid_rows(model: int, data: int, place: Places, contact: int, speeds: Floats) -> None:
    """Turns the six rows of a pyramid into rows of friction and normal; sets their speeds: normal, first, second.

    MuJoCo's contact point is half-way between the two surfaces, ODE's is on the surface of the second shape. For a ball
    that is deep in the ground the difference changes the torque of friction, so its rows are moved to ODE's point.
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
    done = True  # MuJoCo calls twice in a step in which a robot falls asleep: then the rows are split already
    for k in range(used):
        done = done and numbers[start[row] + k] == -numbers[start[row + 1] + k]
    for k in range(used):
        dof = columns[start[row] + k]
        up, down = numbers[start[row] + k], numbers[start[row + 1] + k]
        left, right = numbers[start[row + 2] + k], numbers[start[row + 3] + k]
        # MuJoCo's pyramid has the rows normal plus and minus friction: their half sum is the normal, their half
        # difference the friction.
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
    """The depth that the gap of one body adds to a contact; the closing speed of the gap is added to `speeds`."""
    at = contact + place.c_pos
    arm = _sum((read_number(at), read_number(at + 8), read_number(at + 16)), -1.0, middle)
    rotation = _sum(_vector(gap.displacement, 0), 1.0, _cross(_vector(gap.rotation, 0), arm))
    joint_shift = _sum(_vector(gap.joint_shift, 0), 1.0, _cross(_vector(gap.joint_rotation, 0), arm))
    # A gap of a body moves its side of the contact; along the normal that changes the depth, across it only the speeds.
    deeper = 0.0
    for axis in range(3):
        at = contact + place.c_frame + 24 * axis
        along = (read_number(at), read_number(at + 8), read_number(at + 16))
        speeds[axis] -= sign * rate * _dot(along, rotation)
        if axis == 0:
            deeper = -sign * (_dot(along, rotation) + _dot(along, joint_shift))
    return deeper


@kernel
def _copy_to_islands(data: int, place: Places, rows: int) -> None:
    """Copies the changed rows to the engine's second copy, which is in the order of its constraint islands."""
    if read_int(data + place.d_nisland) <= 0:
        return
    # The solver works on the copy; only the fields that `step_as_ode` changed need to be copied.
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
