"""A cycle of this league's world, compiled: motors, contacts, sensors and vision of all robots.

    set_command(seats, seat, rows)                # five numbers a motor, as a player asks for
    drive(arrays, seats)                          # before a step: they become gains and commands of the engine
    read_contacts(...), read_sensors(...)         # after it
    look(...)                                     # every second cycle

Data are records: a `Seat` for each robot, one `Sensors` for all that is measured. As on the league's server, sensors
show the state before the last of a cycle's four steps was integrated: its angles and speeds are kept before that step,
and places of bodies are what the engine computed in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from nutmeg.base.arrays import Bytes, Floats, Ids, Ints
from nutmeg.base.constants import GRAVITY
from nutmeg.base.kernels import inlined, kernel
from nutmeg.base.records import record_of
from nutmeg.match.worlds.seats import BALL_OWNER, DEGREES, SeatRecord, SensorsRecord, is_sound, note_pair, note_touch

MAX_ROBOT_SPEED = 50.0
"""No robot moves faster [m/s]: where one does, the engine has lost its numbers."""
MAX_JOINT_SPEED = 2000.0
"""No joint turns faster [rad/s]."""
MAX_GAIN = 1e4
"""Gains are clipped to this [N m/rad], [N m s/rad]: far beyond what steps of 5 ms can make use of."""
MAX_TORQUE = 1e4
"""Torques that are asked for are clipped to this [N m]; the drives have limits of their own."""
MAX_ANGLE = 1e6
"""Angles and speeds that are asked for are clipped to this [degrees], [degrees/s]."""
VIEW_ANGLE = 60.0
"""Half the angle of view to each side, and up and down [degrees]; compared in whole hundredths."""


@dataclass
class Seat(SeatRecord):
    """A robot of the world: its addresses in the engine's arrays, and the commands of its motors."""

    joint_count: int
    head: int
    """The head's body."""
    camera: Annotated[Floats, (3,)]
    """The camera's place in the frame of the head [m]."""
    microphone: Annotated[Floats, (3,)]
    """Place of the microphone in the frame of the head [m]."""
    speaker: Annotated[Floats, (3,)]
    """The speaker's place in the frame of the head [m]."""
    parts: Annotated[Ints, (3,)]
    """Bodies of the parts that others see, in the order of `percept.PARTS`."""
    part_places: Annotated[Floats, (3, 3)]
    """Where in the frames of these bodies they are seen [m]."""
    angles: Annotated[Ints, (23,)]
    """Addresses of the joints' angles in `qpos`."""
    rates: Annotated[Ints, (23,)]
    """Addresses of the joints' speeds in `qvel`."""
    motors: Annotated[Ints, (23,)]
    """Numbers of the joints' actuators."""
    wanted: Annotated[Floats, (23, 5)]
    """The last commands of the motors: angle [rad], speed [rad/s], both gains, torque."""


@dataclass
class Sensors(SensorsRecord):
    """All that is measured in a cycle."""

    attitude: Annotated[Floats, (22, 4)]
    angles: Annotated[Floats, (22, 23)]
    """Joint angles of each seat [degrees]."""
    rates: Annotated[Floats, (22, 23)]
    """Joint velocities of each seat [degrees/s]."""
    hands: Annotated[Ints, (22,)]
    """The geom of the hand or forearm that touches the ball, plus one; 0 where none does."""


SEAT, SENSORS = record_of(Seat), record_of(Sensors)

Motors = tuple[Floats, Floats, Floats]
"""The engine's commands (nu,), gains (nu, 10) and biases (nu, 10)."""
State = tuple[Floats, Floats, Floats]
"""Positions (nq,) and velocities (nv,) before the last step, and its accelerations (nv,)."""
Bodies = tuple[Floats, Floats, Floats]
"""Places (bodies, 3), attitudes as quaternions (bodies, 4) and as rows of matrices (bodies, 9)."""


# ---- motors


@kernel
def set_command(seats: Sequence[Seat], seat: int, rows: Floats) -> bool:
    """Takes five numbers (n, 5) in the units of the wire for the motors of a robot; a row that begins with NaN is left.

    The numbers are clipped to what the engine can bear. False, and nothing is taken, if one is not finite.
    """
    for k in range(len(rows)):
        if not np.isnan(rows[k, 0]) and not np.isfinite(rows[k].sum()):
            return False
    wanted = seats[seat].wanted
    for k in range(len(rows)):
        if not np.isnan(rows[k, 0]):
            wanted[k, 0] = min(max(rows[k, 0], -MAX_ANGLE), MAX_ANGLE) / DEGREES
            wanted[k, 1] = min(max(rows[k, 1], -MAX_ANGLE), MAX_ANGLE) / DEGREES
            wanted[k, 2] = min(max(rows[k, 2], -MAX_GAIN), MAX_GAIN)
            wanted[k, 3] = min(max(rows[k, 3], -MAX_GAIN), MAX_GAIN)
            wanted[k, 4] = min(max(rows[k, 4], -MAX_TORQUE), MAX_TORQUE)
    return True


@kernel
def drive(motors: Motors, seats: Sequence[Seat]) -> None:
    """Writes motor commands into the engine: torque = kp (q* - q) + kd (dq* - dq) + tau."""
    commands, gains, biases = motors
    for s in range(len(seats)):
        seat = seats[s]
        if seat.slot < 0:
            continue
        for k in range(seat.joint_count):
            motor, wanted = seat.motors[k], seat.wanted[k]
            commands[motor] = wanted[2] * wanted[0] + wanted[3] * wanted[1] + wanted[4]
            gains[motor, 0], biases[motor, 1], biases[motor, 2] = 1.0, -wanted[2], -wanted[3]


# ---- contacts


@kernel
def read_contacts(
    geoms: Ids, places: Floats, owners: Ints, arms: Bytes, seats: Sequence[Seat], sensors: Sequence[Sensors]
) -> None:
    """Notes touches of the ball, with a hand or otherwise, and contacts between players.

    Args:
        geoms: (K, 2) the engine's contacts.
        places: (K, 3) where they are [m].
        owners: (geoms,) the seat whose robot a geom belongs to, `NO_OWNER` or `BALL_OWNER`.
        arms: (geoms,) 1 for hands and forearms.
        seats: of the world.
        sensors: written.
    """
    found = sensors[0]
    found.touches[:] = 0
    found.hands[:] = 0
    found.pair_count = 0
    for k in range(len(geoms)):
        one, two = owners[geoms[k, 0]], owners[geoms[k, 1]]
        if max(one, two) < 0 or one == two:
            continue
        if min(one, two) == BALL_OWNER:
            owner, geom = max(one, two), geoms[k, 0] if one >= 0 else geoms[k, 1]
            note_touch(owner, seats, found.touches)
            if arms[geom] and seats[owner].slot >= 0:
                found.hands[seats[owner].slot] = geom + 1
        elif min(one, two) >= 0:
            note_pair(seats[one].slot, seats[two].slot, places[k], found)


# ---- sensors


@kernel
def is_sane(qpos: Floats, qvel: Floats, seats: Sequence[Seat]) -> bool:
    """Whether a state is one of robots that move no faster than robots can, joints included."""
    for s in range(len(seats)):
        if seats[s].slot >= 0:
            for k in range(seats[s].joint_count):
                if not abs(qvel[seats[s].rates[k]]) <= MAX_JOINT_SPEED:
                    return False
    return is_sound(qpos, qvel, seats, MAX_ROBOT_SPEED)


@kernel
def read_sensors(state: State, bodies: Bodies, seats: Sequence[Seat], sensors: Sequence[Sensors]) -> None:
    """Measures angles, speeds, gyroscope, accelerometer, place and attitude of every player."""
    qpos, qvel, qacc = state
    found = sensors[0]
    for s in range(len(seats)):
        seat = seats[s]
        slot = seat.slot
        if slot < 0:
            continue
        for k in range(seat.joint_count):
            found.angles[slot, k] = qpos[seat.angles[k]] * DEGREES
            found.rates[slot, k] = qvel[seat.rates[k]] * DEGREES
        turn = bodies[2][seat.torso]
        for i in range(3):
            found.position[slot, i] = bodies[0][seat.torso, i]
            found.gyro[slot, i] = qvel[seat.rate + 3 + i] * DEGREES
            # Proper acceleration of the torso's origin, in the torso's frame.
            felt = turn[6 + i] * GRAVITY
            for j in range(3):
                felt += turn[3 * j + i] * qacc[seat.rate + j]
            found.acc[slot, i] = felt
        for i in range(4):
            found.attitude[slot, i] = bodies[1][seat.torso, i]
        found.velocity[slot, 0], found.velocity[slot, 1] = qvel[seat.rate], qvel[seat.rate + 1]


# ---- vision and places


@inlined
def _place_in_world(bodies: Bodies, body: int, local: Floats, out: Floats) -> None:
    """A point in the frame of a body, in the world."""
    turn = bodies[2][body]
    for i in range(3):
        out[i] = bodies[0][body, i]
        for j in range(3):
            out[i] += turn[3 * i + j] * local[j]


@kernel
def place_parts(bodies: Bodies, seats: Sequence[Seat], who: Ints, out: Floats) -> None:
    """Where the parts of robots are that others see: (P, 3, 3), for seats (P,)."""
    for p in range(len(who)):
        seat = seats[who[p]]
        for k in range(3):
            _place_in_world(bodies, seat.parts[k], seat.part_places[k], out[p, k])


@kernel
def place_voices(bodies: Bodies, seats: Sequence[Seat], who: Ints, microphones: Floats, speakers: Floats) -> None:
    """Where microphones and speakers of robots are: (P, 3) each, for seats (P,)."""
    for p in range(len(who)):
        seat = seats[who[p]]
        _place_in_world(bodies, seat.head, seat.microphone, microphones[p])
        _place_in_world(bodies, seat.head, seat.speaker, speakers[p])


@kernel
def look(bodies: Bodies, seats: Sequence[Seat], who: Ints, places: Floats, seen: Floats) -> None:
    """Polar coordinates (P, N, 3) of places (N, 3) in the cameras of robots, for seats (P,); NaN is out of view."""
    eye = np.empty(3)
    for p in range(len(who)):
        seat = seats[who[p]]
        turn = bodies[2][seat.head]
        _place_in_world(bodies, seat.head, seat.camera, eye)
        for n in range(len(places)):
            dx, dy, dz = places[n, 0] - eye[0], places[n, 1] - eye[1], places[n, 2] - eye[2]
            x = turn[0] * dx + turn[3] * dy + turn[6] * dz
            y = turn[1] * dx + turn[4] * dy + turn[7] * dz
            z = turn[2] * dx + turn[5] * dy + turn[8] * dz
            distance = math.sqrt(x * x + y * y + z * z)
            left = math.atan2(y, x) * DEGREES
            up = math.asin(z / distance) * DEGREES if distance > 0.0 else 0.0
            # As on the league's server, the transmitted angles decide, which are cut to hundredths.
            within = abs(math.trunc(left * 100.0)) <= VIEW_ANGLE * 100.0
            if within and abs(math.trunc(up * 100.0)) <= VIEW_ANGLE * 100.0:
                seen[p, n, 0], seen[p, n, 1], seen[p, n, 2] = distance, left, up
            else:
                seen[p, n, 0], seen[p, n, 1], seen[p, n, 2] = np.nan, np.nan, np.nan
