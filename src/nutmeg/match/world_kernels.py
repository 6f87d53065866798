"""What a match reads from its world every cycle, compiled: bodies' senses, and what touches what.

    read_contacts(...)          # between the halves of a step: ball, feet, players
    read_senses(...)            # after it: angles, gyroscope, accelerometer, places

Frames: the engine's bodies have x forward, y left; the league's have x right, y forward, so that (x, y, z) here is
(-y, x, z) there. The accelerometer measures the change of the torso's velocity over a cycle, less gravity, and is told
one cycle late, as on the league's server. A foot's force acts at the mean of its contacts, weighted by their forces.
As in `motion.leg_kernels`, the machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import inlined, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints


BALL_OWNER = -2
DEGREES = 180.0 / math.pi


@kernel
def read_contacts(
    geoms: NDArray[np.int32],
    places: Floats,
    frames: Floats,
    address: NDArray[np.int32],
    dims: NDArray[np.int32],
    forces: Floats,
    owner: Ints,
    foot: Ints,
    slot_of: Ints,
    foot_bodies: Ints,
    xpos: Floats,
    xmat: Floats,
    touches: Bools,
    feet: Floats,
    pairs: Ints,
    pair_places: Floats,
) -> int:
    """Reads K contacts; fills touches (22,), feet (22, 4, 6), pairs of players that touch (M, 2) and where, (M, 2).

    Returns how many pairs there are.
    """
    count = 0
    feet[:] = np.nan
    weights = np.zeros((22, 4))
    for k in range(len(geoms)):
        if address[k] < 0:
            continue
        first, second = geoms[k, 0], geoms[k, 1]
        one, two = owner[first], owner[second]
        if BALL_OWNER in (one, two):
            _note_touch(max(one, two), slot_of, touches)
        elif one >= 0 and two >= 0:
            count = _note_pair(slot_of[one], slot_of[two], places[k], count, pairs, pair_places)
        for geom, sign in ((first, -1.0), (second, 1.0)):
            if foot[geom] >= 0 and slot_of[owner[geom]] >= 0:
                slot, row = slot_of[owner[geom]], foot[geom]
                body = foot_bodies[owner[geom], row]
                _add_force(
                    feet[slot, row], weights, slot, row, places[k], frames[k], sign, forces, address[k], dims[k],
                    xpos[body], xmat[body],
                )  # fmt: skip
    for slot in range(22):
        for row in range(4):
            if weights[slot, row] > 0.0:
                feet[slot, row, :3] /= weights[slot, row]
    return count


@kernel
def _note_touch(seat: int, slot_of: Ints, touches: Bools) -> None:
    """Notes that a player touched the ball; below 0 it was the ground or a goal."""
    if seat >= 0 and slot_of[seat] >= 0:
        touches[slot_of[seat]] = True


@kernel
def _note_pair(one: int, two: int, place: Floats, count: int, pairs: Ints, pair_places: Floats) -> int:
    """Adds a pair of players unless it is there already or there is no room; returns how many there are."""
    low, high = min(one, two), max(one, two)
    if low < 0 or count == len(pairs):
        return count
    for k in range(count):
        if pairs[k, 0] == low and pairs[k, 1] == high:
            return count
    pairs[count, 0], pairs[count, 1] = low, high
    pair_places[count, 0], pair_places[count, 1] = place[0], place[1]
    return count + 1


@inlined
def _add_force(
    sums: Floats,
    weights: Floats,
    slot: int,
    row: int,
    place: Floats,
    frame: Floats,
    sign: float,
    forces: Floats,
    address: int,
    dim: int,
    xpos: Floats,
    xmat: Floats,
) -> None:
    """Adds one contact to a foot: sums (6,) of weighted place and force, in the foot's frame."""
    x, y, z = 0.0, 0.0, 0.0
    for axis in range(min(dim, 3)):
        push = sign * forces[address + axis]
        x += push * frame[3 * axis]
        y += push * frame[3 * axis + 1]
        z += push * frame[3 * axis + 2]
    size = math.sqrt(x * x + y * y + z * z)
    if size <= 0.0:
        return
    if weights[slot, row] == 0.0:
        sums[:] = 0.0
    weights[slot, row] += size
    dx, dy, dz = place[0] - xpos[0], place[1] - xpos[1], place[2] - xpos[2]
    for i in range(3):
        column, turn = (1, 0, 2)[i], (1.0, -1.0, 1.0)[i]  # forward is the league's y, left its minus x
        sums[column] += turn * size * (xmat[i] * dx + xmat[3 + i] * dy + xmat[6 + i] * dz)
        sums[3 + column] += turn * (xmat[i] * x + xmat[3 + i] * y + xmat[6 + i] * z)


@kernel
def read_senses(
    qpos: Floats,
    qvel: Floats,
    xmat: Floats,
    seats: Ints,
    slots: Ints,
    root: Ints,
    rate: Ints,
    torso: Ints,
    joints: Ints,
    before: Floats,
    late: Floats,
    step: float,
    gravity: float,
    angles: Floats,
    gyro: Floats,
    acc: Floats,
    position: Floats,
    velocity: Floats,
) -> None:
    """Fills angles (22, 24) in degrees, gyro and acc (22, 3), position (22, 3) and velocity (22, 2) of who plays.

    `before` (22, 3) is the torsos' velocity one cycle ago, `late` (22, 3) what the accelerometer tells next time.
    """
    for k in range(len(seats)):
        seat, slot = seats[k], slots[k]
        for column in range(joints.shape[1]):
            angles[slot, column] = qpos[joints[seat, column]] * DEGREES
        start, speed = root[seat], rate[seat]
        gyro[slot, 0] = -qvel[speed + 4] * DEGREES
        gyro[slot, 1] = qvel[speed + 3] * DEGREES
        gyro[slot, 2] = qvel[speed + 5] * DEGREES
        felt = np.zeros(3)
        turn = xmat[torso[seat]]
        for i in range(3):
            position[slot, i] = qpos[start + i]
            now = qvel[speed + i]
            change = (now - before[slot, i]) / step + (gravity if i == 2 else 0.0)
            before[slot, i] = now
            for j in range(3):
                felt[j] += turn[3 * i + j] * change
        velocity[slot, 0], velocity[slot, 1] = qvel[speed], qvel[speed + 1]
        for i in range(3):
            acc[slot, i] = late[slot, i]
        late[slot, 0], late[slot, 1], late[slot, 2] = -felt[1], felt[0], felt[2]
