"""The physical world of a match: up to twenty-two robots of the league and a ball, in cycles of 20 ms.

    world = MatchWorld("sim3d", seats=4)
    world.join(slot_of(Side.LEFT, 1), robot_type=0)
    world.place(slot, x=-1.0, y=0.0, heading=0.0)
    world.command([slot], speeds)           # (n, 24) rad/s, kept until changed; NaN leaves a joint as it is
    world.step()
    world.angles[slot]                      # degrees, in the order of `percept.JOINTS`
    state, decisions = judge(state, world.facts(), rules)
    for decision in decisions: world.carry_out(decision)

Arrays are over slots, (22, ...), made anew each cycle, and mean something only for slots that are `present`. Commands
have a latency of one cycle: what is commanded after one step moves the joints in the step after the next, as on the
league's server (checked over 6,988 recorded cycles). Its accelerometer is one further cycle late.

A step is one compiled function (see `kernels`), in which the engine steps as the league's own does (`sim.ode_step`).
Joining takes a free seat of the ground (see `ground`) and compiles nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import LIMBS, Decision, FreezeLimbs, MovePlayer, PlaceBall
from nutmeg.match.rules.slots import ROBOT_TYPES, SLOT_NAMES, SLOTS, slot_of, start_place
from nutmeg.match.rules.state import PLAYERS_SHAPE
from nutmeg.match.worlds.physical.ground import TOED_TYPE, Ground, ground_scene
from nutmeg.match.worlds.physical.kernels import (
    MAX_ROBOT_SPEED,
    SENSORS,
    measure_state,
    measure_step,
    rests,
    set_command,
    step,
    step_and_measure,
)
from nutmeg.match.worlds.physical.percept import JOINTS
from nutmeg.match.worlds.seats import SeatedWorld, scatter_beam
from nutmeg.model.geometry import yaw_quaternion
from nutmeg.sim.ode_step import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.rules.state import Facts


MAX_COORDINATE = 100.0
"""Nobody and nothing is put farther away [m], and no ball faster [m/s]."""
IDLE_CYCLES = 10
"""A robot that begins this number of successive cycles at rest is skipped in the last one, as in the league's
engine."""
BEAM_HEIGHT = 0.4
"""Height of the torso of a beamed robot [m] (AgentRadius in naosoccersim.rb); long legs reach into the ground there."""


class MatchWorld(SeatedWorld):
    """The robots and the ball.

    Args:
        field: name of a field with goals and a ball.
        seats: how many robots can play at once.
        toed: how many of the seats are for robots with toes (type 4).
    """

    ground: Ground
    max_coordinate = MAX_COORDINATE

    def __init__(self, field: str = "sim3d", *, seats: int = SLOTS, toed: int = 0) -> None:
        if not (0 <= toed <= SLOTS and 0 <= seats - toed <= SLOTS and seats):
            raise UsageError(
                f"{seats} seats, {toed} of them with toes, are not possible: a match has at least one, and of each "
                f"kind at most {SLOTS}."
            )
        super().__init__(field, Ground(ground_scene(field, seats=seats, toed=toed)))
        ground = self.ground
        self._engine = (*ground.world.addresses, places())
        self.types = np.zeros(SLOTS, np.int64)
        """Robot types, by slot."""
        self._landing: set[int] = set()
        self._beamed: set[int] = set()  # those of them that stay at their height, even in the ground
        self._frozen: list[tuple[float, int, int]] = []
        # number of successive cycles in which a player was placed and commanded to move
        self._placed_cycles = np.zeros(SLOTS, np.int64)
        self._were_placed = False  # whether any player was placed in the last cycle
        self._is_ahead = False
        self._rest_cycles = 0  # in a row in which nothing moved
        self._sensors: Any = np.zeros(1, SENSORS)
        self._sensors["forces"] = np.nan
        self._reseat()
        self._read()

    # ---- who plays

    def join(self, slot: int, robot_type: int) -> None:
        """Lets a robot of a type play, at its place beside the pitch's corner, with all angles zero."""
        if robot_type not in ROBOT_TYPES:
            raise UsageError(f"robot type {robot_type} is not known; types are 0 to {ROBOT_TYPES[-1]}.")
        self.refuse_second(slot)
        seat = self.ground.free_seat(robot_type)
        if seat is None:
            toes, kind = robot_type == TOED_TYPE, "with toes (type 4)" if robot_type == TOED_TYPE else "without toes"
            count = np.count_nonzero(self.ground.toed == toes)
            option = "--toed-seats of `nutmeg serve`" if toes else "--seats of `nutmeg serve`"
            raise UsageError(
                f"no robot {kind} is left: this match has {count} of them, and all play. Ask for more when it is "
                f"started ({option}), at most {SLOTS}."
            )
        self.ground.take(seat, slot=slot, robot_type=robot_type)
        self.seat_of[slot], self.types[slot], self.present[slot] = seat, robot_type, True
        self._reseat()
        x, y, turn = start_place(slot, self.field.length, self.field.width)
        self.place(slot, x=x, y=y, heading=turn)
        self._land()
        self._sensors = self._sensors.copy()
        self._read()

    def leave(self, slot: int) -> None:
        """Removes a player from the game."""
        if not self.present[slot]:
            return
        self._frozen = [held for held in self._frozen if held[1] != slot]
        self._landing.discard(slot)
        self._beamed.discard(slot)
        self.ground.park(int(self.seat_of[slot]))
        self.present[slot], self.seat_of[slot] = False, -1
        self._reseat()

    def swap_ends(self) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        super().swap_ends()
        turned = np.roll(np.arange(SLOTS), SLOTS // 2)
        self.types[:] = self.types[turned]
        self._frozen = [(until, int(turned[slot]), limb) for until, slot, limb in self._frozen]
        self._landing = {int(turned[slot]) for slot in self._landing}
        self._beamed = {int(turned[slot]) for slot in self._beamed}
        self._rest_cycles = 0  # sensor data is in the rows of other slots now
        self._reseat()

    def _reseat(self) -> None:
        """Computes the tables that depend on the seats of the players."""
        ground = self.ground
        self._slots = np.flatnonzero(self.present)
        self._present = self.present.reshape(PLAYERS_SHAPE).copy()
        self._seats = self.seat_of[self._slots]
        self._all_parts = ground.world.data.xpos, ground.world.data.xmat, ground.parts[self._seats]
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
        if not all(abs(number) <= self.max_coordinate for number in (x, y, height or 0.0, heading or 0.0)):
            raise UsageError(
                f"{SLOT_NAMES[slot]} cannot be put at x={x}, y={y}, height={height}, heading={heading}: places are "
                f"within {self.max_coordinate:g} m."
            )
        ground, seat = self.ground, int(self.seat_of[slot])
        qpos, dofs = ground.numbers(seat)
        pose = ground.world.qpos[qpos]
        pose[:3] = x, y, 0.0 if height is None else height
        if heading is not None:
            pose[3:7] = yaw_quaternion(heading)
        ground.world.qvel[dofs] = 0.0
        ground.close_gaps(seat)
        self._landing.add(slot)
        self._beamed.discard(slot)
        if height is None:
            pose[2] = -np.inf
        ground.world.touch()

    def beam(self, slot: int, x: float, y: float, degrees: float, noise: np.random.Generator | None = None) -> None:
        """Beams a player to a place in its own half, in the frame of its team, which attacks towards +x.

        The noise is the league server's: up to 5 cm along each axis and up to 10 degrees, uniform. As there, the torso
        has a fixed height: robots with short or bent legs fall to the ground, long legs are pushed out of it.
        """
        x, y = min(max(x, -self.field.length / 2), 0.0), min(max(y, -self.field.width / 2), self.field.width / 2)
        if noise is not None:
            x, y, degrees = scatter_beam(noise, x, y, degrees)
        sign = 1 if slot < SLOTS // 2 else -1
        turn = math.radians(math.fmod(degrees, 360.0)) + (0.0 if sign > 0 else math.pi)
        self.place(slot, x=sign * x, y=sign * y, height=BEAM_HEIGHT, heading=turn)
        self._beamed.add(slot)

    def place_ball(self, place: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Puts the ball on the ground (2,) or anywhere (3,), m, with a velocity (3,), m/s, and no spin."""
        super().place_ball(place, velocity)
        self.ground.world.touch()

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

    def weaken(self, slot: int, joint: str, strength: float) -> None:
        """Damages a drive of a player: from the next cycle on it turns with this share of its commanded speed, 0..1."""
        if joint not in JOINTS or not 0 <= strength <= 1:
            raise UsageError(
                f"the drive of {joint!r} cannot turn with {strength} of its speed; allowed are 0 to 1 for one of "
                f"{', '.join(JOINTS)}."
            )
        self.ground.seats["strength"][self.seat_of[slot], JOINTS.index(joint)] = strength

    def _freeze(self, slot: int, limbs: list[int], duration: float) -> None:
        until = self.time + duration
        for limb in limbs:
            self.ground.freeze(int(self.seat_of[slot]), limb, frozen=True)
            self._frozen = [held for held in self._frozen if held[1:] != (slot, limb)]
            self._frozen.append((until, slot, limb))

    def _thaw(self) -> None:
        for until, slot, limb in self._frozen:
            if self.time >= until - CONTROL_CYCLE / 2:
                self.ground.freeze(int(self.seat_of[slot]), limb, frozen=False)
        self._frozen = [held for held in self._frozen if self.time < held[0] - CONTROL_CYCLE / 2]

    def settle(self) -> None:
        """Makes placements since the last step complete, so that they are seen."""
        if self._landing:
            self._land()
        self.ground.world.refresh()

    def _land(self) -> None:
        """Puts placed robots onto the ground, or at their height, but never into the ground."""
        if not self._landing:
            return
        ground, world = self.ground, self.ground.world
        seats = self.seat_of[sorted(self._landing - self._beamed)]
        heights = ground.seats["root"][seats] + 2
        wished = world.qpos[heights]
        world.qpos[heights] = 0.0
        world.place_bodies()
        world.qpos[heights] = np.maximum(wished, -ground.lowest(seats))
        self._landing.clear()
        self._beamed.clear()
        world.refresh()

    # ---- a cycle

    def command(self, slots: Sequence[int], speeds: Sequence[Floats] | Floats) -> None:
        """Sets the speeds of the motors of n players, (22,) or (24,) rad/s each, clipped; NaN leaves the last one."""
        for slot, row in zip(slots, speeds, strict=True):
            set_command(self.ground.seats, self.seat_of[slot], np.ascontiguousarray(row, np.float64))

    def step_ahead(self) -> None:
        """Does the next cycle now, for the next call of `step`.

        Commands count from the cycle after it on, so a cycle can be done before the next commands are known. Whoever
        looks at the world or changes it meanwhile finds it one cycle on.
        """
        if self._is_ahead:
            return
        if self._is_at_rest():
            self.ground.world.pass_time()
            self._is_ahead = True
            return
        idle = self._idle() if self._landing or self._were_placed else []
        if self._landing:
            self._land()
        if self._frozen:
            self._thaw()
        ground, self._sensors = self.ground, np.zeros(1, SENSORS)
        ground.world.refresh()
        if idle:
            step(self._engine, ground.geoms, ground.seats, self._good, self._sensors)
            self._put_back(idle)
            sound = measure_step(self._engine, ground.seats, self._sensors)
        else:
            sound = step_and_measure(self._engine, ground.geoms, ground.seats, self._good, self._sensors)
        if not sound:
            self._recover(self._lost())
            measure_state(self._engine, ground.seats, self._sensors)
        self._show()
        self._is_ahead = True

    def _is_at_rest(self) -> bool:
        """Whether this cycle is skipped: the league's engine skips bodies that have been at rest for ten cycles.

        Sensors then repeat their measurements, as there.
        """
        changed = self.ground.world.moved or bool(self._landing) or bool(self._frozen)
        self._rest_cycles = 0 if changed or not rests(self._engine, self.ground.seats) else self._rest_cycles + 1
        return self._rest_cycles > IDLE_CYCLES

    def _idle(self) -> list[int]:
        """The players that do not move in this cycle.

        A player that is placed in every cycle begins each of them at rest. After ten such cycles the league's engine
        takes the robot for idle and skips it, until its next command wakes it again: agents that beam while they bend
        their knees are one cycle in ten late there.
        """
        counts, self._were_placed = self._placed_cycles, bool(self._landing)
        driven = [slot for slot in self._landing if self.ground.seats["driven"][self.seat_of[slot]].any()]
        so_far = counts[driven] + 1
        counts[:] = 0
        counts[driven] = so_far
        idle = np.flatnonzero(counts >= IDLE_CYCLES).tolist()
        counts[idle] = 0
        return idle

    def _put_back(self, slots: list[int]) -> None:
        """Puts robots back to where they were before the step, at rest."""
        world, ground = self.ground.world, self.ground
        for slot in slots:
            qpos, dofs = ground.numbers(int(self.seat_of[slot]))
            world.qpos[qpos], world.qvel[dofs] = self._good[0][qpos], 0.0
            ground.close_gaps(int(self.seat_of[slot]))
        world.touch()
        world.refresh()

    def step(self) -> None:
        """Plays one control cycle of 20 ms."""
        self.step_ahead()
        self._is_ahead = False
        self.ground.seats["driven"] = self.ground.seats["ordered"]

    def _read(self) -> None:
        """Reads the sensors of the present state."""
        measure_state(self._engine, self.ground.seats, self._sensors)
        self._show()

    def _show(self) -> None:
        """Makes what was measured the world's arrays."""
        sensors = self._sensors
        # The field first and then the row: the other way round, numpy makes a scalar and takes twice as long.
        self.angles, self.gyro, self.acc = sensors["angles"][0], sensors["gyro"][0], sensors["acc"][0]
        self.forces, self.position, self.velocity = sensors["forces"][0], sensors["position"][0], sensors["velocity"][0]
        self.touches, self.collides = sensors["touches"][0].view(np.bool_), sensors["collides"][0].view(np.bool_)

    def _lost(self) -> list[int]:
        """Players whose numbers are no longer those of a robot."""
        rates = self.ground.seats["rate"][self._seats][:, None] + np.arange(3)
        fast = ~(np.abs(self.ground.world.qvel[rates]) <= MAX_ROBOT_SPEED)  # also of nan
        lost: list[int] = self._slots[fast.any(axis=1)].tolist()
        return lost

    def _recover(self, thrown: list[int]) -> None:
        """Restores the state of a cycle before, and puts up robots and ball with invalid numbers, all angles zero."""
        ground, world = self.ground, self.ground.world
        qpos, qvel = self._good
        dofs_of = {slot: ground.numbers(int(self.seat_of[slot]))[1] for slot in self._slots.tolist()}
        lost = [s for s, dofs in dofs_of.items() if s in thrown or not np.isfinite(world.qvel[dofs]).all()]
        world.qpos[:], world.qvel[:], world.data.qacc_warmstart[:] = qpos, qvel, 0.0
        for slot in lost:
            numbers, dofs = ground.numbers(int(self.seat_of[slot]))
            x, y = np.clip(qpos[numbers][:2], -self.max_coordinate, self.max_coordinate).tolist()
            world.qpos[numbers], world.qvel[dofs] = 0.0, 0.0
            self.place(slot, x=x, y=y, heading=0.0)
        if not lost:
            world.qvel[:] = 0.0
        self.upsets += 1
        world.touch()
        self._land()
        world.refresh()

    # ---- what is observed

    @property
    def playing(self) -> Ints:
        """(A,) slots of the robots that play, in order."""
        return self._slots

    def parts(self) -> tuple[Floats, Floats, Ints]:
        """(bodies, 3) places [m] and (bodies, 9) attitudes of all bodies, live; (A, 5) bodies of the players' parts.

        Columns as `percept.PARTS`; an attitude is the rows of the matrix that turns a body's frame into the world's.
        """
        return self._all_parts

    def headings(self) -> Floats:
        """(22,) headings of the torsos, 0 along x, rad."""
        found, turns = np.zeros(SLOTS), self.ground.world.data.xmat[self.ground.seats["torso"][self._seats]]
        found[self._slots] = np.arctan2(turns[:, 3], turns[:, 0])
        return found

    def body_poses(self) -> tuple[Floats, Floats]:
        """(22, bodies, 3) places and (22, bodies, 3, 3) attitudes of the robots that play; rows as `ground.BODIES`."""
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
        """The facts of the last cycle for the referee."""
        collisions = self.collides.reshape(2, MAX_PLAYERS, len(LIMBS))
        measured = self.position, self.velocity, self.touches
        return self._referee_facts(self._sensors, self._present, measured, wants_pass, collisions)
