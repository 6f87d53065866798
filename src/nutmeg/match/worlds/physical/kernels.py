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
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import inlined, kernel

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.model.ball import BallSettings


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


# ----------------------------------------------------------------------------------------------------
# How the ball bounces in steps of 20 ms: in one step, off the ground and off players, who may be faster than the
# ball.
#
# A bounce takes a few milliseconds, so no spring can carry it out in such steps; the engine's contact only stops the
# ball, and what is left to do is done here, as the league's engine (ODE) does it: a ball that meets something with a
# velocity `v` along the contact's normal leaves with `e v`, if `v` is above 0.8 m/s (ball.rsg of rcssserver3d: bounce
# 0.8, from 0.8 m/s on). The ground is met when the ball is in it. A swinging foot moves by more than the ball's
# radius in a step, and where it would be found inside the ball is a matter of luck; so a player meets the ball in the
# step in which they would touch, with the normal from before. The ball has 0.026 kg and a player 4.6: what a player
# loses by it is left out. As in `motion.leg_kernels`, the machine code is kept beside this file or in the user's
# cache.


MIN_BOUNCE_SPEED = 0.8
"""Slower balls do not bounce [m/s]."""
CONTACT_MARGIN = 0.1
"""Things nearer to the ball than this are looked at before they touch it [m]: a foot at 5 m/s."""
TANGENTIAL_SHARE = 0.257
"""Of a player's speed across the normal, what the ball is given: friction is unlimited there, but turns the ball
(3.5 / 0.026 kg against the slip 0.3 / 0.02 s, the mean of ball.rsg and touchperceptorhandler.rsg)."""
DEPTH_SHARE = 0.5
"""Of the depth of a contact, taken out in a step: the league's ERP (ball.rsg)."""

AIR_DRAG = 0.385
"""The league's linear drag, 0.01 N s/m (ball.rsg), over 0.026 kg; recorded flights lose 0.35 to 0.55 1/s between
bounces. The ball's file has 0.9 1/s, which makes good for bounces in shorter steps [1/s]."""
CONTACT_IMPEDANCE = 0.96
"""Of the engine's contact. With the match's ratio of frictions, a ball that lands is slowed down and turned as in
recorded kicks: let go as recorded, it is within 5 cm of them all the way."""


def contact_numbers(step: float) -> tuple[float, float]:
    """The engine's `solref` of a ball that is stopped within a step and pushed out of what it is in."""
    return -DEPTH_SHARE / step**2, -1.0 / step


def prepare_ball(model: mujoco.MjModel, ball: BallSettings, rate: int) -> None:
    """Gives the ball of a model, whose velocities begin at `rate`, the numbers that go with `bounce`."""
    skin = model.geom("ball/skin").id
    model.geom_gap[skin] = CONTACT_MARGIN
    model.geom_solref[skin], model.geom_solimp[skin, :2] = contact_numbers(model.opt.timestep), CONTACT_IMPEDANCE
    linear, angular = replace(ball, air_drag=AIR_DRAG).damping()
    model.dof_damping[rate : rate + 3], model.dof_damping[rate + 3 : rate + 6] = linear, angular


@kernel
def bounce(
    geoms: NDArray[np.int32],
    places: Floats,
    frames: Floats,
    depths: Floats,
    owner: Ints,
    geom_body: NDArray[np.int32],
    root_of: NDArray[np.int32],
    velocities: Floats,
    centres: Floats,
    slot_of: Ints,
    restitution: float,
    step: float,
    place: Floats,
    velocity: Floats,
    touches: Bools,
) -> None:
    """Changes the ball's place (3,) and velocity (3,) after a step, from the K contacts of the state before it.

    `velocities` (bodies, 6) turn and translation about `centres` (bodies, 3) of the trees, both from before the step.
    """
    for k in range(len(geoms)):
        ball_first = owner[geoms[k, 0]] == BALL_OWNER
        if not ball_first and owner[geoms[k, 1]] != BALL_OWNER:
            continue
        ball, other = (geoms[k, 0], geoms[k, 1]) if ball_first else (geoms[k, 1], geoms[k, 0])
        normal = frames[k, :3] * (-1.0 if ball_first else 1.0)  # towards the ball
        theirs = _velocity(geom_body[other], root_of, velocities, centres, places[k])
        before = _velocity(geom_body[ball], root_of, velocities, centres, places[k])
        meeting = ((theirs - before) * normal).sum()
        seat = owner[other]
        touch = depths[k] < (meeting * step if seat >= 0 else 0.0)
        if not touch or meeting < MIN_BOUNCE_SPEED:
            continue
        missing = ((theirs - velocity) * normal).sum() + restitution * meeting
        if missing > 0.0:
            change = missing * normal
            if seat >= 0:
                change += TANGENTIAL_SHARE * (theirs - before - meeting * normal)
            velocity += change
            place += change * step
        if seat >= 0 and slot_of[seat] >= 0:
            touches[slot_of[seat]] = True


@kernel
def _velocity(body: int, root_of: NDArray[np.int32], velocities: Floats, centres: Floats, place: Floats) -> Floats:
    """Of a body's point, (3,) m/s."""
    lever = place - centres[root_of[body]]
    return velocities[body, 3:] + np.cross(velocities[body, :3], lever)


# ----------------------------------------------------------------------------------------------------
# Which limbs of a robot are inside another part of it: boxes that overlap, found by separating axes.
#
# On the league's server nothing of a robot pushes another part of it (`disableInnerCollision` in nao.rsg); a limb
# passes through, and its referee looks for boxes that overlap by more than a tolerance (SelfCollisionsTolerance, 0.04
# m in naosoccersim.rb). Two boxes overlap less than that if along one of fifteen directions (three edges of each, and
# the products of an edge of one with an edge of the other) their shadows do. The league does not scale these products
# to unit length, which makes its referee lenient: where edges are nearly parallel, as of two feet side by side,
# nothing collides. Players have learned to get up and walk with that, so it is the same here. Boxes that a joint
# connects are left out. As in `motion.leg_kernels`, the machine code is kept beside this file or in the user's cache.


OVERLAP_TOLERANCE = 0.04
"""Boxes may be inside each other so far before it is a collision [m]."""
BOX_BODIES = (
    *("torso", "LUpperArm", "LLowerArm", "RUpperArm", "RLowerArm"),
    *("LThigh", "LShank", "LFoot", "RThigh", "RShank", "RFoot", "LToe", "RToe"),
)
"""Bodies whose boxes are looked at."""
JOINED_BODIES = (
    *(("torso", f"{side}UpperArm") for side in "LR"),
    *((f"{side}UpperArm", f"{side}LowerArm") for side in "LR"),
    *(("torso", f"{side}Thigh") for side in "LR"),
    *((f"{side}Thigh", f"{side}Shank") for side in "LR"),
    *((f"{side}Shank", f"{side}Foot") for side in "LR"),
    *((f"{side}Foot", f"{side}Toe") for side in "LR"),
)
"""Neighbours, which always overlap."""


def pairs_of_boxes() -> Ints:
    """(P, 2) columns of `BOXES` that may collide."""
    found = [
        (i, j)
        for i, one in enumerate(BOX_BODIES)
        for j, two in enumerate(BOX_BODIES[i + 1 :], i + 1)
        if (one, two) not in JOINED_BODIES and (two, one) not in JOINED_BODIES
    ]
    return np.array(found, np.int64)


@kernel
def find_own_collisions(
    boxes: Ints,
    limbs: Ints,
    pairs: Ints,
    sizes: Floats,
    places: Floats,
    turns: Floats,
    seats: Ints,
    slots: Ints,
    tolerance: float,
    collides: Bools,
) -> None:
    """Fills collides (22, 4) for the robots on some seats; boxes (S, B) are geoms, -1 for none, limbs (B,) theirs."""
    for k in range(len(seats)):
        for p in range(len(pairs)):
            one, two = boxes[seats[k], pairs[p, 0]], boxes[seats[k], pairs[p, 1]]
            if one < 0 or two < 0 or not _overlap(one, two, sizes, places, turns, tolerance):
                continue
            for column in pairs[p]:
                if limbs[column] >= 0:
                    collides[slots[k], limbs[column]] = True


@inlined
def _overlap(one: int, two: int, sizes: Floats, places: Floats, turns: Floats, tolerance: float) -> bool:
    """Whether two boxes overlap by more than a tolerance along all directions that may separate them."""
    dx, dy, dz = places[two, 0] - places[one, 0], places[two, 1] - places[one, 1], places[two, 2] - places[one, 2]
    reach = _radius(sizes, one) + _radius(sizes, two) - tolerance
    if dx * dx + dy * dy + dz * dz >= reach * reach:
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
        if abs(away[i]) + tolerance >= sizes[one, i] + shadow:
            return False
    for j in range(3):
        shadow = abs(turn[0, j]) * sizes[one, 0] + abs(turn[1, j]) * sizes[one, 1] + abs(turn[2, j]) * sizes[one, 2]
        between = away[0] * turn[0, j] + away[1] * turn[1, j] + away[2] * turn[2, j]
        if abs(between) + tolerance >= sizes[two, j] + shadow:
            return False
    return not _edges_part(sizes[one], sizes[two], turn, away, tolerance)


@inlined
def _radius(sizes: Floats, box: int) -> float:
    """Of the sphere about a box, m."""
    return math.sqrt(sizes[box, 0] ** 2 + sizes[box, 1] ** 2 + sizes[box, 2] ** 2)


@kernel
def _edges_part(first: Floats, second: Floats, turn: Floats, away: Floats, tolerance: float) -> bool:
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
            if between + tolerance >= shadows:
                return True
    return False
