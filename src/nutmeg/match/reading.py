"""What a match reads from its ground in a cycle: two compiled calls, one between the halves of a step, one after it.

    reader = Reader(ground, seats, slots)           # anew whenever somebody joins or leaves
    reading = Reading()                             # arrays of this cycle
    reader.feel(reading, restitution)               # what touches what; the ball bounces
    reader.sense(reading, before, late)             # bodies' senses and places; False if the engine lost its numbers

Arrays are over slots, (22, ...), and mean something only for slots that are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.compiled import kernel
from nutmeg.match.bounces import bounce
from nutmeg.match.decisions import LIMBS
from nutmeg.match.own_collisions import TOLERANCE, find_own_collisions
from nutmeg.match.percept import FEET, WITH_TOES
from nutmeg.match.slots import SLOTS
from nutmeg.match.world_kernels import read_contacts, read_senses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.ground import Ground

    Ids = NDArray[np.int32]
    Contacts = tuple[Ids, Floats, Floats, Floats, Ids, Ids]

CYCLE = 0.02
"""Length of a cycle [s]."""
MOST_PAIRS = 64
"""Pairs of touching players that are told to the referee in one cycle."""
NO_PAIRS = np.zeros((0, 2), np.int64), np.zeros((0, 2))
FASTEST = 30.0
"""No robot moves faster, m/s: one that does was thrown out of numbers that are no longer physics."""
OVERCOME = 0.01
"""A drive at rest that is turned further than this has given way, and rests where it is then, rad."""


class Reading:
    """The arrays of one cycle; nothing has been felt or sensed yet, and until then forces mean nothing."""

    __slots__ = (
        *("acc", "angles", "collides", "forces", "gyro", "pair_places", "pairs", "position", "touches", "velocity"),
    )

    def __init__(self) -> None:
        self.forces = np.empty((SLOTS, len(FEET), 6))
        """(22, 4, 6) place and force at the feet in the league's frame of the foot; NaN is no contact."""
        self.touches = np.zeros(SLOTS, bool)
        """(22,) who touched the ball."""
        self.collides = np.zeros((SLOTS, len(LIMBS)), bool)
        """(22, 4) limbs inside another part of their robot."""
        self.pairs, self.pair_places = NO_PAIRS
        """(K, 2) slots of players who touch each other; (K, 2) where they do, m."""
        self.angles = np.zeros((SLOTS, WITH_TOES))
        """(22, 24) of the joints, degrees."""
        self.gyro, self.acc, self.position = np.zeros((3, SLOTS, 3))
        """(22, 3) degrees a second; (22, 3) m/s^2; (22, 3) m."""
        self.velocity = np.zeros((SLOTS, 2))
        """(22, 2) m/s."""

    def again(self) -> Reading:
        """The same contacts, with new arrays for everything else."""
        found = Reading()
        found.forces, found.touches, found.collides = self.forces, self.touches, self.collides
        found.pairs, found.pair_places = self.pairs, self.pair_places
        return found


class Reader:
    """Reads from a ground whose seats are taken in some way.

    Args:
        ground: the ground.
        seats: (A,) which seats are taken.
        slots: (A,) by whom.
    """

    def __init__(self, ground: Ground, seats: Ints, slots: Ints) -> None:
        world = ground.world
        model, data = world.model, world.data
        self._data = data
        self._contacts: dict[int, Contacts] = {}
        self._pairs, self._pair_places = np.empty((MOST_PAIRS, 2), np.int64), np.empty((MOST_PAIRS, 2))
        slot_of = np.full(ground.seats, -1, np.int64)
        slot_of[seats] = slots
        self._touching = (
            *(ground.owner, ground.foot, slot_of, ground.feet, model.geom_bodyid, model.body_rootid),
            *(data.xpos, data.xmat, data.cvel, data.subtree_com),
            *(world.qpos[ground.ball : ground.ball + 3], world.qvel[ground.ball_rate : ground.ball_rate + 3]),
        )
        self._bodies = (
            *(world.qpos, world.qvel, data.xmat, seats, slots, ground.root, ground.rate, ground.torso, ground.angles),
            *(ground.boxes, ground.limb, ground.pairs, model.geom_size, data.geom_xpos, data.geom_xmat),
        )

    def feel(self, reading: Reading, restitution: float) -> None:
        """Reads what touches what in a step, and lets the ball bounce."""
        geoms, places, frames, depths, address, dims = self._contact_arrays()
        count = feel(
            geoms, places, frames, depths, address, dims, self._data.efc_force, *self._touching, restitution,
            reading.touches, reading.forces, self._pairs, self._pair_places,
        )  # fmt: skip
        if count:
            reading.pairs, reading.pair_places = self._pairs[:count].copy(), self._pair_places[:count].copy()

    def _contact_arrays(self) -> Contacts:
        """What the engine has about contacts, live; they always begin at the same place, so their number says all."""
        count = self._data.ncon
        if count not in self._contacts:
            found = self._data.contact
            self._contacts[count] = found.geom, found.pos, found.frame, found.dist, found.efc_address, found.dim
        return self._contacts[count]

    def sense(self, reading: Reading, before: Floats, late: Floats, *, trusting: bool = False) -> bool:
        """Reads bodies' senses and places of the present state, and which limbs are inside their own robot.

        `before` (22, 3) is the torsos' velocity one cycle ago, `late` (22, 3) what accelerometers tell next time; both
        are renewed. False, and nothing is read, if numbers are no longer physics, unless that is taken on trust.
        """
        return sense(
            *self._bodies, before, late, reading.angles, reading.gyro, reading.acc, reading.position, reading.velocity,
            reading.collides, trusting,
        )  # fmt: skip


@kernel
def feel(
    geoms: Ids,
    places: Floats,
    frames: Floats,
    depths: Floats,
    address: Ids,
    dims: Ids,
    forces: Floats,
    owner: Ints,
    foot: Ints,
    slot_of: Ints,
    foot_bodies: Ints,
    geom_body: Ids,
    root_of: Ids,
    xpos: Floats,
    xmat: Floats,
    velocities: Floats,
    centres: Floats,
    ball: Floats,
    ball_velocity: Floats,
    restitution: float,
    touches: Bools,
    feet: Floats,
    pairs: Ints,
    pair_places: Floats,
) -> int:
    """`read_contacts` and `bounce` in one call."""
    count = read_contacts(
        geoms, places, frames, address, dims, forces, owner, foot, slot_of, foot_bodies, xpos, xmat,
        touches, feet, pairs, pair_places,
    )  # fmt: skip
    bounce(
        geoms, places, frames, depths, owner, geom_body, root_of, velocities, centres, slot_of, restitution, CYCLE,
        ball, ball_velocity, touches,
    )  # fmt: skip
    return count


@kernel
def sense(
    qpos: Floats,
    qvel: Floats,
    xmat: Floats,
    seats: Ints,
    slots: Ints,
    root: Ints,
    rate: Ints,
    torso: Ints,
    joints: Ints,
    boxes: Ints,
    limbs: Ints,
    pairs: Ints,
    sizes: Floats,
    geom_places: Floats,
    geom_turns: Floats,
    before: Floats,
    late: Floats,
    angles: Floats,
    gyro: Floats,
    acc: Floats,
    position: Floats,
    velocity: Floats,
    collides: Bools,
    trusting: bool,
) -> bool:
    """`read_senses` and `find_own_collisions` in one call, unless a number is not finite or a robot is too fast."""
    if not trusting and not _is_sound(qpos, qvel, rate[seats]):
        return False
    read_senses(
        qpos, qvel, xmat, seats, slots, root, rate, torso, joints, before, late, CYCLE, GRAVITY,
        angles, gyro, acc, position, velocity,
    )  # fmt: skip
    find_own_collisions(boxes, limbs, pairs, sizes, geom_places, geom_turns, seats, slots, TOLERANCE, collides)
    return True


@kernel
def _is_sound(qpos: Floats, qvel: Floats, rates: Ints) -> bool:
    """Whether a state is one: a sum is finite only if every number is."""
    for rate in rates:
        for i in range(3):
            if not abs(qvel[rate + i]) <= FASTEST:
                return False
    return bool(np.isfinite(qpos.sum() + qvel.sum()))


@kernel
def drive(
    ctrl: Floats,
    motors: Ints,
    columns: Ints,
    joints: Ints,
    stops: Floats,
    told: Floats,
    rests: Floats,
    qpos: Floats,
    qvel: Floats,
    kept: Floats,
    rates: Floats,
) -> None:
    """Gives motors what they were told, and keeps the state.

    Two things of the league's server that the engine's own parts do not do: stops (n, 2) hold against a drive that goes
    on pushing, and a drive told to rest stays where it is (rests, (22, 24), NaN while it moves), unless it is overcome.
    """
    speeds, places = told.ravel(), rests.ravel()
    for k in range(len(motors)):
        speed, angle = speeds[columns[k]], qpos[joints[k]]
        if speed != 0.0:
            places[columns[k]] = np.nan
        elif abs(places[columns[k]] - angle) <= OVERCOME:
            speed = (places[columns[k]] - angle) / CYCLE
        else:
            places[columns[k]] = angle
        back, ahead = min(stops[k, 0] - angle, 0.0), max(stops[k, 1] - angle, 0.0)
        ctrl[motors[k]] = min(max(speed, back / CYCLE), ahead / CYCLE)
    kept[:] = qpos
    rates[:] = qvel


@kernel
def order(told: Floats, limits: Floats, slot: int, speeds: Floats) -> None:
    """Takes speeds (n,) for the joints of a player, clipped, into told (22, 24); NaN leaves what is there."""
    for column in range(len(speeds)):
        speed, limit = speeds[column], limits[slot, column]
        if not np.isnan(speed):
            told[slot, column] = min(max(speed, -limit), limit)
