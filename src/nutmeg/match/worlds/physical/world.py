"""The physical world of a match: up to twenty-two robots of the league and a ball, in cycles of 20 ms.

    world = MatchWorld("sim3d", seats=4)
    world.join(slot_of(Side.LEFT, 1), robot_type=0)
    world.place(slot, x=-1.0, y=0.0, heading=0.0)
    world.command([slot], speeds)           # (n, 24) rad/s, kept until changed; NaN leaves a joint as it is
    world.step()
    world.angles[slot]                      # degrees, in the order of `percept.JOINTS`
    state, decisions = judge(state, world.facts(), rules)
    for decision in decisions: world.carry_out(decision)

Arrays are over slots, (22, ...), made anew each cycle, and mean something only for slots that are `present`. What is
commanded after one step moves the joints in the step after the next: the league's server has that cycle of delay
(PROTOCOLS: checked over 6,988 recorded cycles). Its accelerometer is one further cycle late.

Joining takes a free seat of the ground (see `ground`) and compiles nothing. Who needs more seats, or toes, prepares a
larger ground beforehand, wherever it likes, and calls `move_to`: the match goes on there from the same state.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.decisions import LIMBS, Decision, FreezeLimbs, MovePlayer, PlaceBall
from nutmeg.match.rules.slots import ROBOT_TYPES, SLOT_NAMES, SLOTS, slot_of, start_place
from nutmeg.match.rules.state import PLAYERS_SHAPE, Facts
from nutmeg.match.worlds.physical.ground import TOED_TYPE, Ground, ground_scene
from nutmeg.match.worlds.physical.kernels import (
    OVERLAP_TOLERANCE,
    bounce,
    find_own_collisions,
    read_contacts,
    read_senses,
)
from nutmeg.match.worlds.physical.percept import FEET, WITH_TOES
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.model.geometry import yaw_quaternion as heading_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints

    Ids = NDArray[np.int32]
    Contacts = tuple[Ids, Floats, Floats, Floats, Ids, Ids]


# ----------------------------------------------------------------------------------------------------
# What a match reads from its ground in a cycle: two compiled calls, one between the halves of a step, one after it.
#
# Arrays are over slots, (22, ...), and mean something only for slots that are taken.


CYCLE = 0.02
"""Length of a cycle [s]."""
MAX_PAIRS = 64
"""Pairs of touching players that are told to the referee in one cycle."""
NO_PAIRS = np.zeros((0, 2), np.int64), np.zeros((0, 2))
MAX_ROBOT_SPEED = 30.0
"""No robot moves faster, m/s: one that does was thrown out of numbers that are no longer physics."""
SERVO_SLIP_ANGLE = 0.01
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
        self._pairs, self._pair_places = np.empty((MAX_PAIRS, 2), np.int64), np.empty((MAX_PAIRS, 2))
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
    find_own_collisions(boxes, limbs, pairs, sizes, geom_places, geom_turns, seats, slots, OVERLAP_TOLERANCE, collides)
    return True


@kernel
def _is_sound(qpos: Floats, qvel: Floats, rates: Ints) -> bool:
    """Whether a state is one: a sum is finite only if every number is."""
    for rate in rates:
        for i in range(3):
            if not abs(qvel[rate + i]) <= MAX_ROBOT_SPEED:
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
        elif abs(places[columns[k]] - angle) <= SERVO_SLIP_ANGLE:
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


MAX_COORDINATE = 100.0
"""Nobody and nothing is put farther away [m], and no ball faster [m/s]."""
ABSENT_HEIGHT = -5.0
"""Height at which a recording has who does not play [m]."""


class MatchWorld:
    """The robots and the ball.

    Args:
        field: name of a field with goals and a ball.
        seats: how many robots can play at once.
        toed: how many of these are of type 4.
        ground: a ground that has been prepared already, instead of these numbers.
    """

    def __init__(
        self,
        field: str = "sim3d",
        *,
        seats: int = SLOTS,
        toed: int = 0,
        ground: Ground | None = None,
    ) -> None:
        if ground is None:
            ground = Ground(ground_scene(field, seats=seats, toed=toed))
        self.ground, self.field = ground, load_field(field)
        ball = load_ball(self.field.ball)
        self.ball_radius, self._restitution = ball.radius, ball.restitution
        self.present = np.zeros(SLOTS, bool)
        """Who plays."""
        self.types = np.zeros(SLOTS, np.int64)
        """Types of who plays."""
        self.seat_of = np.full(SLOTS, -1, np.int64)
        self._next, self._told = np.zeros((SLOTS, WITH_TOES)), np.zeros((SLOTS, WITH_TOES))
        self._limits, self._rests = np.zeros((SLOTS, WITH_TOES)), np.full((SLOTS, WITH_TOES), np.nan)
        self._before, self._late = np.zeros((SLOTS, 3)), np.zeros((SLOTS, 3))
        self._landing: set[int] = set()
        self._limp: list[tuple[float, int, int]] = []
        self._is_ahead = False
        self.upsets = 0
        """How often the engine lost its numbers, and a robot had to be put up again."""
        self._reading = Reading()
        self._reading.forces.fill(np.nan)
        self._reseat()
        self._read()

    # ---- who plays

    def has_seat(self, robot_type: int) -> bool:
        """Whether a player of a type can join without a larger ground."""
        return self.ground.free_seat(robot_type, self._taken()) is not None

    def join(self, slot: int, robot_type: int) -> None:
        """Lets a robot of a type play, at its place beside the pitch's corner, with all angles zero."""
        if robot_type not in ROBOT_TYPES:
            raise UsageError(f"robot type {robot_type} is not known; types are 0 to {ROBOT_TYPES[-1]}.")
        if self.present[slot]:
            raise UsageError(f"{SLOT_NAMES[slot]} plays already; another number is needed.")
        seat = self.ground.free_seat(robot_type, self._taken())
        if seat is None:
            kind = "with toes (type 4)" if robot_type == TOED_TYPE else "without toes"
            raise UsageError(f"no robot {kind} is left on this ground of {self.ground.seats}; move to a larger one.")
        self.ground.take(seat, robot_type)
        qpos, dofs = self.ground.numbers(seat)
        world = self.ground.world
        world.qpos[qpos], world.qvel[dofs] = 0.0, 0.0
        self.seat_of[slot], self.types[slot], self.present[slot] = seat, robot_type, True
        self._next[slot] = self._told[slot] = self._before[slot] = 0.0
        self._rests[slot] = np.nan
        self._late[slot] = 0.0, 0.0, GRAVITY
        self._reseat()
        x, y, turn = start_place(slot, self.field.length, self.field.width)
        self.place(slot, x=x, y=y, heading=turn)
        self._land()
        self._reading = self._reading.again()
        self._read()

    def leave(self, slot: int) -> None:
        """Takes a player out of the game."""
        if not self.present[slot]:
            return
        self._limp = [limp for limp in self._limp if limp[1] != slot]
        self._landing.discard(slot)
        self.ground.park(int(self.seat_of[slot]))
        self.present[slot], self.seat_of[slot] = False, -1
        self._reseat()

    def move_to(self, ground: Ground) -> None:
        """Goes on on another, larger ground, from the same state."""
        self._land()
        seats: dict[int, int] = {}
        for slot in self._slots.tolist():
            seat = ground.free_seat(int(self.types[slot]), set(seats.values()))
            if seat is None:
                raise UsageError(f"the new ground has no seat for {SLOT_NAMES[slot]}; it must be larger than the old.")
            seats[int(self.seat_of[slot])] = seat
        types = {int(self.seat_of[slot]): int(self.types[slot]) for slot in self._slots.tolist()}
        ground.copy_from(self.ground, seats, types)
        for slot in self._slots.tolist():
            self.seat_of[slot] = seats[int(self.seat_of[slot])]
        self.ground = ground
        self._reseat()
        ground.world.refresh()

    def swap_ends(self) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        turned = np.roll(np.arange(SLOTS), SLOTS // 2)
        motors = self._next, self._told, self._rests
        for array in (self.present, self.types, self.seat_of, *motors, self._before, self._late):
            array[:] = array[turned]
        self._limp = [(until, int(turned[slot]), limb) for until, slot, limb in self._limp]
        self._landing = {int(turned[slot]) for slot in self._landing}
        self._reseat()

    def _taken(self) -> set[int]:
        return set(self.seat_of[self.present].tolist())

    def _reseat(self) -> None:
        """Works out the tables that depend on who sits where."""
        ground = self.ground
        self._slots = np.flatnonzero(self.present)
        self._seats = self.seat_of[self._slots]
        self._reader = Reader(ground, self._seats, self._slots)
        for slot, seat in zip(self._slots.tolist(), self._seats.tolist(), strict=True):
            self._limits[slot] = ground.speed_limits(seat)
        motors = ground.motors[self._seats]
        moved = motors >= 0
        columns = (self._slots[:, None] * WITH_TOES + np.arange(WITH_TOES))[moved]
        self._drives = motors[moved], columns, ground.angles[self._seats][moved], ground.stops[self._seats][moved]
        self._all_parts = ground.world.data.xpos, ground.world.data.xmat, ground.parts[self._seats]
        self._ball = ground.world.qpos[ground.ball : ground.ball + 3]
        self._good = ground.world.qpos.copy(), ground.world.qvel.copy()

    # ---- where things are put

    def place(
        self, slot: int, *, x: float, y: float, height: float | None = None, heading: float | None = None
    ) -> None:
        """Puts a player somewhere at rest, as bent as it is.

        Args:
            slot: the player.
            x: where its torso is to be, m.
            y: where its torso is to be, m.
            height: of the torso, m; never so low that anything is under the ground, and on the ground if None.
            heading: where it looks, 0 along x, rad; it is put upright then. None keeps its attitude.
        """
        if not all(abs(number) <= MAX_COORDINATE for number in (x, y, height or 0.0, heading or 0.0)):
            raise UsageError(
                f"{SLOT_NAMES[slot]} cannot be put at x={x}, y={y}, height={height}, heading={heading}: places are "
                f"within {MAX_COORDINATE:g} m."
            )
        ground, seat = self.ground, int(self.seat_of[slot])
        qpos, dofs = ground.numbers(seat)
        pose = ground.world.qpos[qpos]
        pose[:3] = x, y, 0.0 if height is None else height
        if heading is not None:
            pose[3:7] = heading_of(heading)
        ground.world.qvel[dofs] = 0.0
        self._before[slot] = 0.0
        self._landing.add(slot)
        if height is None:
            pose[2] = -np.inf
        ground.world.touch()

    def beam(self, slot: int, x: float, y: float, degrees: float, noise: np.random.Generator | None = None) -> None:
        """Puts a player where it wishes in its own half, as its team sees the pitch, which attacks towards +x.

        The noise is the league server's: up to 5 cm along each axis and up to 10 degrees, uniform.
        """
        x, y = min(max(x, -self.field.length / 2), 0.0), min(max(y, -self.field.width / 2), self.field.width / 2)
        if noise is not None:
            x, y, degrees = (np.array([x, y, degrees]) + noise.uniform(-1, 1, 3) * [0.05, 0.05, 10.0]).tolist()
        sign = 1 if slot < SLOTS // 2 else -1
        turn = math.radians(math.fmod(degrees, 360.0)) + (0.0 if sign > 0 else math.pi)
        self.place(slot, x=sign * x, y=sign * y, heading=turn)

    def place_ball(self, place: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Puts the ball on the ground (2,) or anywhere (3,), m, with a velocity (3,), m/s, and no spin."""
        where = (*place[:2], max(place[2], self.ball_radius) if len(place) > 2 else self.ball_radius)
        if not all(abs(number) <= MAX_COORDINATE for number in (*where, *velocity)):
            raise UsageError(
                f"the ball cannot be put at {tuple(place)} with velocity {tuple(velocity)}: places are within "
                f"{MAX_COORDINATE:g} m, velocities within {MAX_COORDINATE:g} m/s."
            )
        ground = self.ground
        ground.world.qpos[ground.ball : ground.ball + 7] = *where, 1.0, 0.0, 0.0, 0.0
        ground.world.qvel[ground.ball_rate : ground.ball_rate + 6] = *velocity, 0.0, 0.0, 0.0
        ground.world.touch()

    def carry_out(self, decision: Decision) -> None:
        """Does what the referee decided; events, and the change of ends, are left to the game."""
        match decision:
            case MovePlayer(side=side, number=number, place=(x, y), height=height):
                slot = slot_of(side, number)
                if self.present[slot]:
                    self.place(slot, x=x, y=y, height=height)
            case PlaceBall(place=place):
                self.place_ball(place)
            case FreezeLimbs(side=side, number=number, limbs=limbs, duration=duration):
                slot = slot_of(side, number)
                if self.present[slot]:
                    self._freeze(slot, [LIMBS.index(limb) for limb in limbs], duration)
            case _:
                pass

    def _freeze(self, slot: int, limbs: list[int], duration: float) -> None:
        until = self.time + duration
        for limb in limbs:
            self.ground.let_go(int(self.seat_of[slot]), limb, limp=True)
            self._limp = [held for held in self._limp if held[1:] != (slot, limb)]
            self._limp.append((until, slot, limb))

    def _thaw(self) -> None:
        for until, slot, limb in self._limp:
            if self.time >= until - CYCLE / 2:
                self.ground.let_go(int(self.seat_of[slot]), limb, limp=False)
        self._limp = [held for held in self._limp if self.time < held[0] - CYCLE / 2]

    def settle(self) -> None:
        """Makes placements since the last step complete, so that they are seen."""
        if self._landing:
            self._land()
        self.ground.world.refresh()

    def _land(self) -> None:
        """Puts who was placed onto the ground, or as high as wished, but never into the ground."""
        if not self._landing:
            return
        ground, world = self.ground, self.ground.world
        seats = self.seat_of[sorted(self._landing)]
        heights = ground.root[seats] + 2
        wished = world.qpos[heights]
        world.qpos[heights] = 0.0
        world.place_bodies()
        world.qpos[heights] = np.maximum(wished, -ground.lowest(seats))
        self._landing.clear()
        world.refresh()

    # ---- a cycle

    def command(self, slots: Sequence[int], speeds: Floats) -> None:
        """Tells motors their speeds, (n, 22) or (n, 24) rad/s, clipped; NaN leaves what they were told before."""
        for slot, row in zip(slots, speeds, strict=True):
            self.tell(slot, row)

    def tell(self, slot: int, speeds: Floats) -> None:
        """Tells the motors of one player their speeds, (22,) or (24,), as `command` does."""
        order(self._next, self._limits, slot, np.ascontiguousarray(speeds, np.float64))

    def step_ahead(self) -> None:
        """Does the next cycle now, for the next call of `step`.

        What motors are told counts from the cycle after it on, so a cycle can be done before the next commands are
        known. Whoever looks at the world or changes it meanwhile finds it one cycle on.
        """
        if not self._is_ahead:
            self._prepare()
            self.ground.world.step(self._feel)
            self._finish()
            self._is_ahead = True

    def step(self) -> None:
        """One cycle."""
        self.step_ahead()
        self._is_ahead = False
        self._told[:] = self._next

    def _prepare(self) -> None:
        if self._landing:
            self._land()
        world = self.ground.world
        if self._limp:
            self._thaw()
        drive(world.ctrl, *self._drives, self._told, self._rests, world.qpos, world.qvel, *self._good)
        self._coming = Reading()

    def _feel(self) -> None:
        """Reads what touches what in a step."""
        self._reader.feel(self._coming, self._restitution)

    def _finish(self) -> None:
        self._reading = self._coming
        self._read(trusting=False)

    def _read(self, *, trusting: bool = True) -> None:
        """Reads the present state; unless it is trusted, puts it right before if it is none."""
        reading = self._reading
        if not self._reader.sense(reading, self._before, self._late, trusting=trusting):
            self._recover(self._lost())
            self._reader.sense(reading, self._before, self._late, trusting=True)
        self.angles, self.gyro, self.acc, self.forces = reading.angles, reading.gyro, reading.acc, reading.forces
        self.position, self.velocity = reading.position, reading.velocity
        self.touches, self.collides, self.pairs = reading.touches, reading.collides, len(reading.pairs)

    @property
    def time(self) -> float:
        """Since the beginning, s."""
        return float(self.ground.world.data.time)

    def _lost(self) -> list[int]:
        """Players whose numbers are no longer those of a robot."""
        rates = self.ground.rate[self._seats][:, None] + np.arange(3)
        fast = ~(np.abs(self.ground.world.qvel[rates]) <= MAX_ROBOT_SPEED)  # also of nan
        lost: list[int] = self._slots[fast.any(axis=1)].tolist()
        return lost

    def _recover(self, thrown: list[int]) -> None:
        """Puts the world back by a cycle, and up whoever (or what) lost its numbers, with all angles zero."""
        ground, world = self.ground, self.ground.world
        qpos, qvel = self._good
        dofs_of = {slot: ground.numbers(int(self.seat_of[slot]))[1] for slot in self._slots.tolist()}
        lost = [s for s, dofs in dofs_of.items() if s in thrown or not np.isfinite(world.qvel[dofs]).all()]
        world.qpos[:], world.qvel[:], world.data.qacc_warmstart[:] = qpos, qvel, 0.0
        for slot in lost:
            numbers, dofs = ground.numbers(int(self.seat_of[slot]))
            x, y = np.clip(qpos[numbers][:2], -MAX_COORDINATE, MAX_COORDINATE).tolist()
            world.qpos[numbers], world.qvel[dofs] = 0.0, 0.0
            self.place(slot, x=x, y=y, heading=0.0)
        if not lost:
            world.qvel[:] = 0.0
        self.upsets += 1
        world.touch()
        self._land()
        world.refresh()

    # ---- what is told

    @property
    def ball(self) -> Floats:
        """(3,) where the ball is, m."""
        return self._ball.copy()

    @property
    def ball_velocity(self) -> Floats:
        """(3,) m/s."""
        return self.ground.world.qvel[self.ground.ball_rate : self.ground.ball_rate + 3].copy()

    @property
    def playing(self) -> Ints:
        """(A,) the slots of who plays, in order."""
        return self._slots

    def parts(self) -> tuple[Floats, Floats, Ints]:
        """(bodies, 3) places [m] and (bodies, 9) attitudes of all bodies, live; (A, 5) which are parts of who plays.

        Columns as `percept.PARTS`; an attitude is the rows of the matrix that turns a body's frame into the world's.
        """
        return self._all_parts

    def headings(self) -> Floats:
        """(22,) where the torsos of who plays look, 0 along x, rad."""
        found, turns = np.zeros(SLOTS), self.ground.world.data.xmat[self.ground.torso[self._seats]]
        found[self._slots] = np.arctan2(turns[:, 3], turns[:, 0])
        return found

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground where nobody plays."""
        found = np.zeros((SLOTS, 7))
        found[:, :4] = 0.0, 0.0, ABSENT_HEIGHT, 1.0
        found[self._slots] = self.ground.world.qpos[self.ground.root[self._seats, None] + np.arange(7)]
        return found

    def body_poses(self) -> tuple[Floats, Floats]:
        """(22, bodies, 3) places and (22, bodies, 3, 3) attitudes of who plays; rows as `ground.BODIES`."""
        data, bodies = self.ground.world.data, self.ground.bodies[self._seats]
        places, turns = np.zeros((SLOTS, bodies.shape[1], 3)), np.zeros((SLOTS, bodies.shape[1], 3, 3))
        places[self._slots] = data.xpos[bodies]
        turns[self._slots] = data.xmat[bodies].reshape(*bodies.shape, 3, 3)
        return places, turns

    def ball_pose(self) -> tuple[Floats, Floats]:
        """(3,) place and (3, 3) attitude of the ball."""
        data, body = self.ground.world.data, self.ground.ball_body
        return data.xpos[body].copy(), data.xmat[body].reshape(3, 3).copy()

    def facts(self, wants_pass: Bools | None = None) -> Facts:
        """What the referee has to know of the last cycle."""
        count, reading = self.pairs, self._reading
        contacts = None if not count else np.stack(np.divmod(reading.pairs, PLAYERS_SHAPE[1]), axis=-1)
        return Facts.of(
            time_step=CYCLE,
            ball=self.ball,
            ball_velocity=self.ball_velocity,
            present=self.present.reshape(PLAYERS_SHAPE).copy(),
            position=self.position.reshape(*PLAYERS_SHAPE, 3),
            velocity=self.velocity.reshape(*PLAYERS_SHAPE, 2),
            touches_ball=self.touches.reshape(PLAYERS_SHAPE),
            wants_pass=None if wants_pass is None else wants_pass.reshape(PLAYERS_SHAPE),
            contacts=contacts,
            contact_places=reading.pair_places if count else None,
            self_collision=self.collides.reshape(*PLAYERS_SHAPE, len(LIMBS)),
        )
