"""A cycle of the physical world, compiled: motors, contacts, sensors, self-collisions.

    set_command(seats, seat, speeds)            # joint speeds that a player asks for
    step_and_measure(engine, ..., sensors)      # a whole cycle: `step`, then `measure_step`
    step(engine, ..., sensors)                  # motors, the engine's step, and between its halves what touches what
    measure_step(engine, seats, sensors)        # after it: forces, angles, gyroscope, positions, self-collisions
    rests(engine, seats)                        # whether the next cycle can be left out, as ODE would

Data are records: a `Seat` for each robot of the ground, a `Geom` for each shape of the engine's model, and one
`Sensors` for all that is measured in a cycle. The engine's own numbers are read where they are, by the addresses of its
model and data and the table of places of `sim.ode_step`: a cycle of one robot is one call from Python.

Frames: the engine's bodies have x forward, y left; the league's have x right, y forward, so that (x, y, z) here is
(-y, x, z) there. The accelerometer measures the change of the torso's velocity over a cycle, less gravity, and its
reading is delayed by one cycle, as on the league's server. A foot's force acts at the mean of its contacts, weighted by
their forces; as there, both are told in the frame that the foot has after the step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numba import carray

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.base.constants import CONTROL_CYCLE, GRAVITY
from nutmeg.base.kernels import inlined, kernel
from nutmeg.base.records import Records, record_of
from nutmeg.match.worlds.seats import BALL_OWNER, DEGREES, SeatRecord, SensorsRecord, is_sound, note_pair, note_touch
from nutmeg.sim.engine_memory import floats, pointer_to, read_int, read_number, read_size
from nutmeg.sim.ode_step import Gap, Places, begin_step, finish_step, is_at_rest, read_gaps, solve_step

MAX_ROBOT_SPEED = 30.0
"""No robot moves faster [m/s]: where one does, the engine has lost its numbers."""


@dataclass
class Seat(SeatRecord):
    """A robot of the ground: its addresses in the engine's arrays, and the commands of its motors.

    Arrays over joints are in the order of `percept.JOINTS`; toes that a robot does not have are the last two.
    """

    joints: Annotated[Ints, (24,)]
    """Addresses of the joints' angles in `qpos`; 0 where there is no joint."""
    jointed: Annotated[Ints, (24,)]
    """Bodies that the joints carry; 0 where there is no joint."""
    motors: Annotated[Ints, (24,)]
    """Addresses of the joints' commands in `ctrl`; -1 where there is no joint."""
    top_speeds: Annotated[Floats, (24,)]
    """How fast the drives can turn [rad/s]; 0 where there is no joint."""
    feet: Annotated[Ints, (4,)]
    """Bodies of the feet and toes, in the order of `percept.FEET`."""
    boxes: Annotated[Ints, (13,)]
    """Boxes of the bodies of `BOX_BODIES`; -1 where there is none."""
    ordered: Annotated[Floats, (24,)]
    """Speeds that the player asked for last [rad/s]; they reach the drives one cycle later."""
    driven: Annotated[Floats, (24,)]
    """Speeds that the drives have now [rad/s]."""
    frozen: Annotated[Bytes, (24,)]
    """Drives that hold their joints still, whatever their commands, 0 or 1."""
    strength: Annotated[Floats, (24,)]
    """The share of the commanded speed that a drive turns with: 1, and less for one that is damaged."""
    velocity_before: Annotated[Floats, (3,)]
    """The torso's velocity one cycle ago [m/s]."""
    next_acc: Annotated[Floats, (3,)]
    """Measurement of the accelerometer in the next cycle [m/s^2]."""


@dataclass
class Geom:
    """A shape of the engine's model."""

    owner: int
    """The seat whose robot it belongs to, `NO_OWNER` or `BALL_OWNER`."""
    foot: int
    """Row of `percept.FEET`; -1 if it is no part of a foot."""
    body: int
    root: int
    """The first body of its kinematic tree."""


@dataclass
class Sensors(SensorsRecord):
    """All that is measured in a cycle."""

    forces: Annotated[Floats, (22, 4, 6)]
    """Place [m] and force [N] at the feet in the league's frame of the foot; NaN is no contact. Rows as `FEET`."""
    collides: Annotated[Bytes, (22, 4)]
    """Limbs that are inside another part of their robot, in the order of `decisions.LIMBS`."""
    angles: Annotated[Floats, (22, 24)]
    """The angles of the joints [degrees]."""


SEAT, GEOM, SENSORS = record_of(Seat), record_of(Geom), record_of(Sensors)


class Boxes(NamedTuple):
    """Poses and sizes of the engine's geoms."""

    places: Floats
    """(geoms, 3) [m]"""
    turns: Floats
    """(geoms, 9) rows of the matrix that turns the box's frame into the world's."""
    sizes: Floats
    """(geoms, 3) half the sides of a box [m]."""


Engine = tuple[int, int, Records[Places]]
"""Where the engine's model and data are, and the places in them: see `sim.ode_step.places`."""


# ---- a cycle


@kernel
def step_and_measure(
    engine: Engine,
    geoms: Sequence[Geom],
    seats: Sequence[Seat],
    kept: tuple[Floats, Floats],
    sensors: Sequence[Sensors],
) -> bool:
    """One cycle; False, and the state is not measured, if it is not physics any more."""
    step(engine, geoms, seats, kept, sensors)
    return measure_step(engine, seats, sensors)


@kernel
def step(
    engine: Engine,
    geoms: Sequence[Geom],
    seats: Sequence[Seat],
    kept: tuple[Floats, Floats],
    sensors: Sequence[Sensors],
) -> None:
    """Moves the world on by a step whose first half is done; afterwards the first half of the next one is.

    Args:
        engine: its model, its data, and the places in them.
        geoms: of the model.
        seats: of the ground.
        kept: positions and velocities before the step, written, in case the engine loses its numbers.
        sensors: written: contacts alone.
    """
    model, data, places = engine
    place = places[0]
    kept[0][:] = floats(data + place.d_qpos, len(kept[0]))
    kept[1][:] = floats(data + place.d_qvel, len(kept[1]))
    # The state before the step is kept, because a world whose numbers explode cannot be recovered from its own.
    _drive(floats(data + place.d_ctrl, read_size(model + place.m_nu)), seats)
    solve_step(model, data, places)
    _read_contacts(data, place, geoms, seats, sensors)
    finish_step(model, data)
    begin_step(model, data, places)


@kernel
def measure_step(engine: Engine, seats: Sequence[Seat], sensors: Sequence[Sensors]) -> bool:
    """Measures the state after a step; False, and only feet are measured, if it is not physics any more."""
    model, data, places = engine
    place = places[0]
    bodies = read_size(model + place.m_nbody)
    xpos = floats(data + place.d_xpos, 3 * bodies).reshape((bodies, 3))
    _read_feet(xpos, floats(data + place.d_xmat, 9 * bodies).reshape((bodies, 9)), seats, sensors)
    qpos = floats(data + place.d_qpos, read_size(model + place.m_nq))
    # An unsound state is not measured: nan in one robot's sensors would reach the referee and all cameras.
    if not is_sound(qpos, floats(data + place.d_qvel, read_size(model + place.m_nv)), seats, MAX_ROBOT_SPEED):
        return False
    measure_state(engine, seats, sensors)
    return True


@kernel
def measure_state(engine: Engine, seats: Sequence[Seat], sensors: Sequence[Sensors]) -> None:
    """Measures everything but contacts; accelerometers keep their last reading in their seats."""
    model, data, places = engine
    place = places[0]
    geoms, bodies = read_size(model + place.m_ngeom), read_size(model + place.m_nbody)
    xmat = floats(data + place.d_xmat, 9 * bodies).reshape((bodies, 9))
    qpos = floats(data + place.d_qpos, read_size(model + place.m_nq))
    qvel = floats(data + place.d_qvel, read_size(model + place.m_nv))
    boxes = Boxes(
        places=floats(data + place.d_geom_xpos, 3 * geoms).reshape((geoms, 3)),
        turns=floats(data + place.d_geom_xmat, 9 * geoms).reshape((geoms, 9)),
        sizes=floats(model + place.m_geom_size, 3 * geoms).reshape((geoms, 3)),
    )
    gaps = read_gaps(model, data, place)
    for s in range(len(seats)):
        if seats[s].slot >= 0:
            _read_body(qpos, qvel, xmat[seats[s].torso], seats[s], sensors[0])
            _read_joints(qpos, gaps, seats[s], sensors[0].angles[seats[s].slot])
            _read_self_collisions(boxes, seats[s].boxes, sensors[0].collides[seats[s].slot])


@kernel
def rests(engine: Engine, seats: Sequence[Seat]) -> bool:
    """Whether nothing moves, and all drives are commanded to rest."""
    for s in range(len(seats)):
        if seats[s].slot >= 0:
            for column in range(len(seats[s].driven)):
                if seats[s].driven[column] != 0.0 or seats[s].ordered[column] != 0.0:
                    return False
    return is_at_rest(engine[0], engine[1], engine[2])


# ---- motors


@kernel
def set_command(seats: Sequence[Seat], seat: int, speeds: Floats) -> None:
    """Takes speeds (n,) [rad/s] for the joints of a robot, clipped to what drives can do; NaN leaves the last one."""
    for column in range(len(speeds)):
        # A command takes effect a cycle later: it is kept in `ordered`, and `driven` is what acts now.
        speed, limit = speeds[column], seats[seat].top_speeds[column]
        if not np.isnan(speed):
            seats[seat].ordered[column] = min(max(speed, -limit), limit)


@kernel
def _drive(ctrl: Floats, seats: Sequence[Seat]) -> None:
    """Writes the commands of the motors."""
    for s in range(len(seats)):
        seat = seats[s]
        if seat.slot >= 0:
            for column in range(len(seat.driven)):
                if seat.motors[column] >= 0:
                    speed = 0.0 if seat.frozen[column] else seat.driven[column]
                    ctrl[seat.motors[column]] = seat.strength[column] * speed


# ---- contacts


@kernel
def _read_contacts(
    data: int, place: Places, geoms: Sequence[Geom], seats: Sequence[Seat], sensors: Sequence[Sensors]
) -> None:
    """Measures touches of the ball, pairs of players that touch, and forces at feet, in the frame of the world."""
    found, forces = sensors[0], floats(data + place.d_efc_force, read_int(data + place.d_nefc))
    sums = np.zeros((22, 4, 7))  # of each foot: place times weight, force, weight
    found.forces[:] = np.nan
    contact = read_size(data + place.d_contact) - place.size_of_contact
    for _ in range(read_int(data + place.d_ncon)):
        contact += place.size_of_contact
        row = read_int(contact + place.c_efc_address)
        # Contacts without rows have no force: the shapes are near, but do not touch.
        if row < 0:
            continue
        first, second = geoms[read_int(contact + place.c_geom)], geoms[read_int(contact + place.c_geom + 4)]
        one, two = first.owner, second.owner
        if BALL_OWNER in (one, two):
            note_touch(max(one, two), seats, found.touches)
            continue  # on the league's server no foot measures the ball, because it is the ball that makes the contact
        at: Floats = carray(pointer_to(contact + place.c_pos), (3,), np.float64)
        if one >= 0 and two >= 0:
            note_pair(seats[one].slot, seats[two].slot, at, found)
        frame: Floats = carray(pointer_to(contact + place.c_frame), (9,), np.float64)
        for geom, sign in ((first, -1.0), (second, 1.0)):
            if geom.foot >= 0 and seats[geom.owner].slot >= 0:
                slot = seats[geom.owner].slot
                # The engine's place is half-way between the two surfaces; the league's is on the foot.
                shift = 0.5 * sign * read_number(contact + place.c_dist)
                _add_force(at, shift, frame, sign, forces[row : row + 6], sums[slot, geom.foot])
                # A foot with several contacts reports one place, their mean weighted by force, and the sum of forces.
                # Contacts without any force still say where the foot touches.
                total, weight = found.forces[slot, geom.foot], sums[slot, geom.foot, 6]
                for i in range(3):
                    total[i] = sums[slot, geom.foot, i] / weight if weight > 0.0 else at[i]
                    total[3 + i] = sums[slot, geom.foot, 3 + i]


@inlined
def _add_force(at: Floats, shift: float, frame: Floats, sign: float, rows: Floats, sums: Floats) -> None:
    """Adds a contact to the sums (7,) of a foot: place times weight, force, and weight.

    Args:
        at: (3,) its place [m].
        shift: how far from there along the normal the foot's surface is [m].
        frame: (9,) its three axes, the normal first.
        sign: -1 if the foot is the first of the two that touch, whom the forces push the other way; else 1.
        rows: (6,) its forces as `sim.ode_step` orders them: ahead and back along the second axis of the frame, along
            the third, and twice along the normal.
        sums: (7,) added to.
    """
    # Pairs of one-sided rows with opposite directions make the friction, two half rows the normal force.
    normal, first, second = rows[4] + rows[5], rows[0] - rows[1], rows[2] - rows[3]
    size = math.sqrt(normal**2 + first**2 + second**2)
    for i in range(3):
        sums[i] += size * (at[i] + shift * frame[i])
        sums[3 + i] += sign * (normal * frame[i] + first * frame[3 + i] + second * frame[6 + i])
    sums[6] += size


# ---- sensors


@kernel
def _read_feet(xpos: Floats, xmat: Floats, seats: Sequence[Seat], sensors: Sequence[Sensors]) -> None:
    """Turns the forces that `_read_contacts` found into the frames that the feet have after the step.

    Args:
        xpos: (bodies, 3) places of the bodies [m].
        xmat: (bodies, 9) their attitudes.
        seats: of the ground.
        sensors: read and written.
    """
    for s in range(len(seats)):
        if seats[s].slot < 0:
            continue
        for row in range(4):
            found, foot = sensors[0].forces[seats[s].slot, row], seats[s].feet[row]
            turn, local = xmat[foot], np.zeros(6)
            for i in range(3):
                column, side = (1, 0, 2)[i], (1.0, -1.0, 1.0)[i]  # forward is the league's y, left its minus x
                for j in range(3):
                    local[column] += side * turn[3 * j + i] * (found[j] - xpos[foot, j])
                    local[3 + column] += side * turn[3 * j + i] * found[3 + j]
            found[:] = local


@kernel
def _read_joints(qpos: Floats, gaps: Records[Gap], seat: Seat, angles: Floats) -> None:
    """Joint angles (24,) [degrees] as the league's engine measures them: near zero, the gap of a joint shows."""
    for column in range(len(seat.joints)):
        angles[column] = (qpos[seat.joints[column]] + gaps[seat.jointed[column]].angle_excess) * DEGREES


@kernel
def _read_body(qpos: Floats, qvel: Floats, turn: Floats, seat: Seat, found: Sensors) -> None:
    """Gyroscope, accelerometer, position and velocity of one robot, whose torso has an attitude (9,)."""
    slot, start, speed = seat.slot, seat.root, seat.rate
    # The league's axes: x to the right, y ahead, where the engine has x ahead and y to the left.
    found.gyro[slot, 0] = -qvel[speed + 4] * DEGREES
    found.gyro[slot, 1] = qvel[speed + 3] * DEGREES
    found.gyro[slot, 2] = qvel[speed + 5] * DEGREES
    # The accelerometer measures specific force: the change of velocity plus gravity, in the torso's frame.
    specific = np.zeros(3)
    for i in range(3):
        found.position[slot, i] = qpos[start + i]
        now = qvel[speed + i]
        change = (now - seat.velocity_before[i]) / CONTROL_CYCLE + (GRAVITY if i == 2 else 0.0)
        seat.velocity_before[i] = now
        for j in range(3):
            specific[j] += turn[3 * i + j] * change
    found.velocity[slot, 0], found.velocity[slot, 1] = qvel[speed], qvel[speed + 1]
    # The league's server sends the measurement of the previous cycle.
    for i in range(3):
        found.acc[slot, i] = seat.next_acc[i]
    seat.next_acc[0], seat.next_acc[1], seat.next_acc[2] = -specific[1], specific[0], specific[2]


# ---- self-collisions
#
# On the league's server no part of a robot pushes another (`disableInnerCollision` in nao.rsg); a limb passes through,
# and its referee looks for boxes that overlap by more than a tolerance (SelfCollisionsTolerance, 0.04 m in
# naosoccersim.rb). Two boxes overlap less than that if along one of fifteen directions (three edges of each, and the
# products of an edge of one with an edge of the other) their shadows do: the separating axis theorem. The league does
# not scale these products to unit length, which makes its referee lenient: where edges are nearly parallel, as of two
# feet side by side, nothing collides. Players have learned to get up and walk with that, so it is the same here. Boxes
# that a joint connects are left out.

_OVERLAP_TOLERANCE = 0.04
"""Boxes may overlap by this before it is a collision [m]."""
BOX_BODIES = (
    *("torso", "LUpperArm", "LLowerArm", "RUpperArm", "RLowerArm"),
    *("LThigh", "LShank", "LFoot", "RThigh", "RShank", "RFoot", "LToe", "RToe"),
)
"""Bodies whose boxes are looked at."""
_LIMB_BODIES = (
    ("LUpperArm", "LLowerArm"),
    ("RUpperArm", "RLowerArm"),
    ("LThigh", "LShank", "LFoot", "LToe"),
    ("RThigh", "RShank", "RFoot", "RToe"),
)
"""Bodies of the limbs in the order of `decisions.LIMBS`."""
_JOINED_BODIES = (
    *(("torso", f"{side}UpperArm") for side in "LR"),
    *((f"{side}UpperArm", f"{side}LowerArm") for side in "LR"),
    *(("torso", f"{side}Thigh") for side in "LR"),
    *((f"{side}Thigh", f"{side}Shank") for side in "LR"),
    *((f"{side}Shank", f"{side}Foot") for side in "LR"),
    *((f"{side}Foot", f"{side}Toe") for side in "LR"),
)
"""Neighbours, which always overlap."""
_BOX_PAIRS = np.array(
    [
        (i, j)
        for i, one in enumerate(BOX_BODIES)
        for j, two in enumerate(BOX_BODIES[i + 1 :], i + 1)
        if (one, two) not in _JOINED_BODIES and (two, one) not in _JOINED_BODIES
    ]
)
"""(P, 2) columns of `BOX_BODIES` that may collide."""
_BOX_LIMBS = np.array([next((i for i, of in enumerate(_LIMB_BODIES) if name in of), -1) for name in BOX_BODIES])
"""(13,) the limb of each of `BOX_BODIES`; -1 for the torso."""


@kernel
def _read_self_collisions(boxes: Boxes, own: Ints, collides: Bytes) -> None:
    """Notes which limbs of a robot with some boxes (13,) are inside another part of it, in `collides` (4,)."""
    for p in range(len(_BOX_PAIRS)):
        one, two = own[_BOX_PAIRS[p, 0]], own[_BOX_PAIRS[p, 1]]
        if one < 0 or two < 0 or not boxes_overlap(boxes, one, two):
            continue
        for column in _BOX_PAIRS[p]:
            if _BOX_LIMBS[column] >= 0:
                collides[_BOX_LIMBS[column]] = 1


@inlined
def boxes_overlap(boxes: Boxes, one: int, two: int) -> bool:
    """Whether two geoms overlap by more than the tolerance along all directions that may separate them."""
    places, turns, sizes = boxes.places, boxes.turns, boxes.sizes
    dx, dy, dz = places[two, 0] - places[one, 0], places[two, 1] - places[one, 1], places[two, 2] - places[one, 2]
    reach = _radius(sizes, one) + _radius(sizes, two) - _OVERLAP_TOLERANCE
    if dx * dx + dy * dy + dz * dz >= reach * reach:  # the spheres about them are apart: nearly always
        return False
    turn = np.empty((3, 3))  # of the second, seen from the first; and how far away it is there
    away = np.empty(3)
    for i in range(3):
        away[i] = turns[one, i] * dx + turns[one, 3 + i] * dy + turns[one, 6 + i] * dz
        for j in range(3):
            turn[i, j] = (
                turns[one, i] * turns[two, j]
                + turns[one, 3 + i] * turns[two, 3 + j]
                + turns[one, 6 + i] * turns[two, 6 + j]
            )
    for i in range(3):
        shadow = abs(turn[i, 0]) * sizes[two, 0] + abs(turn[i, 1]) * sizes[two, 1] + abs(turn[i, 2]) * sizes[two, 2]
        # The first three directions are the edges of the first box: its own half size, and the shadow of the other.
        if abs(away[i]) + _OVERLAP_TOLERANCE >= sizes[one, i] + shadow:
            return False
    for j in range(3):
        shadow = abs(turn[0, j]) * sizes[one, 0] + abs(turn[1, j]) * sizes[one, 1] + abs(turn[2, j]) * sizes[one, 2]
        # Then the three edges of the second box.
        between = away[0] * turn[0, j] + away[1] * turn[1, j] + away[2] * turn[2, j]
        if abs(between) + _OVERLAP_TOLERANCE >= sizes[two, j] + shadow:
            return False
    return not _edges_part(sizes[one], sizes[two], turn, away)


@inlined
def _radius(sizes: Floats, box: int) -> float:
    """The radius of the sphere about a box [m]."""
    return math.sqrt(sizes[box, 0] ** 2 + sizes[box, 1] ** 2 + sizes[box, 2] ** 2)


@kernel
def _edges_part(first: Floats, second: Floats, turn: Floats, away: Floats) -> bool:
    """Whether a direction across an edge of each of two boxes separates them; `turn` and `away` as seen by the first.

    Such a direction is as long as the sine of the angle between the edges, and the tolerance is not: as in the league,
    boxes with edges that are nearly parallel do not collide.
    """
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            between = abs(away[i2] * turn[i1, j] - away[i1] * turn[i2, j])
            shadows = (
                first[i1] * abs(turn[i2, j])
                + first[i2] * abs(turn[i1, j])
                + second[j1] * abs(turn[i, j2])
                + second[j2] * abs(turn[i, j1])
            )
            if between + _OVERLAP_TOLERANCE >= shadows:
                return True
    return False
