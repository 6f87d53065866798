"""Robots with joints on the seats of one compiled scene: the common part of the physical worlds of both leagues.

    class MatchWorld(SeatedWorld):           # `physical.world` (rcssserver3d), `mj.world` (rcssservermj)
        ...
    world.place_ball((1.0, 0.0))
    world.poses()                            # (22, 7)

Robots that may play are part of the scene from the start. They are parked beside the pitch until a player takes one,
so that joining compiles nothing. A league adds its motors, its sensors and the commands of its robots: it derives its
records from `SeatRecord` and `SensorsRecord`, and its kernels call those of this module.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from nutmeg.base.arrays import Bytes, Floats, Ints
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS
from nutmeg.match.rules.state import PLAYERS_SHAPE, Facts, nothing_known
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.sim.variation import robot_rows
from nutmeg.sim.worlds import SingleWorld

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.model.scene import Scene
    from nutmeg.sim.variation import Rows

NO_OWNER, BALL_OWNER = -1, -2
"""Owners of geoms that are no robot's."""
_MAX_PAIRS = 64
"""Largest number of pairs of touching players in one cycle that the referee gets."""
ABSENT_HEIGHT = -5.0
"""Height in a recording of robots that do not play [m]."""
DEGREES = 180.0 / math.pi


@dataclass
class SeatRecord:
    """A robot of the scene: where it is in the engine's arrays."""

    slot: int
    """The player's slot; -1 while the robot is parked."""
    root: int
    """Address of the torso's position in `qpos`."""
    rate: int
    """Address of the torso's velocity in `qvel`."""
    torso: int
    """The torso's body."""


@dataclass
class SensorsRecord:
    """Measurements of a cycle; rows are slots, and valid only for present players."""

    touches: Annotated[Bytes, (22,)]
    """Whether the player touches the ball, 0 or 1: numba knows no arrays of booleans in records."""
    gyro: Annotated[Floats, (22, 3)]
    """Angular velocity of each torso [degrees/s]."""
    acc: Annotated[Floats, (22, 3)]
    """Acceleration that each torso measures [m/s²]."""
    position: Annotated[Floats, (22, 3)]
    """The position of the torso [m]."""
    velocity: Annotated[Floats, (22, 2)]
    """The velocity of the torso [m/s]."""
    pair_count: int
    """How many pairs of players touch each other."""
    pairs: Annotated[Ints, (64, 2)]
    """Slots of the two robots of each pair."""
    pair_places: Annotated[Floats, (64, 2)]
    """Where they touch [m]."""


@kernel
def note_touch(owner: int, seats: Sequence[SeatRecord], touches: Bytes) -> None:
    """Notes that a player touched the ball; other owners are the ground or a goal."""
    if owner >= 0 and seats[owner].slot >= 0:
        touches[seats[owner].slot] = 1


@kernel
def note_pair(one: int, two: int, place: Floats, found: SensorsRecord) -> None:
    """Adds a pair of players by their slots, unless it is there already or there is no room."""
    low, high = min(one, two), max(one, two)
    count = found.pair_count
    if low < 0 or count == _MAX_PAIRS:
        return
    for k in range(count):
        if found.pairs[k, 0] == low and found.pairs[k, 1] == high:
            return
    found.pairs[count, 0], found.pairs[count, 1] = low, high
    found.pair_places[count, 0], found.pair_places[count, 1] = place[0], place[1]
    found.pair_count = count + 1


@kernel
def is_sound(qpos: Floats, qvel: Floats, seats: Sequence[SeatRecord], max_speed: float) -> bool:
    """Whether a state is one of robots, none faster than this [m/s]: a sum is finite only if every number is."""
    for s in range(len(seats)):
        if seats[s].slot >= 0:
            for i in range(3):
                if not abs(qvel[seats[s].rate + i]) <= max_speed:
                    return False
    return bool(np.isfinite(qpos.sum() + qvel.sum()))


def scatter_beam(rng: np.random.Generator, x: float, y: float, degrees: float) -> tuple[float, float, float]:
    """The place of a beam with the noise of rcssserver3d.

    It is uniform, up to 5 cm along each axis and up to 10 degrees.
    """
    x, y, degrees = (np.array([x, y, degrees]) + rng.uniform(-1, 1, 3) * [0.05, 0.05, 10.0]).tolist()
    return x, y, degrees


class SeatedGround:
    """A compiled scene with seats, and where everything of it is.

    Args:
        scene: the field, the ball and a parked robot for each seat.
        record: dtype of the seats.
    """

    def __init__(self, scene: Scene, record: np.dtype[np.record]) -> None:
        self.scene, self.world = scene, SingleWorld(scene)
        model = self.world.model
        self.rows: list[Rows] = [robot_rows(model, table.body) for table in scene.robots]
        """Where the bodies, geoms, degrees of freedom and actuators of the seats' robots are."""
        self.seats: Any = np.zeros(len(scene.robots), record)
        """(S,) records of seats: an array for numpy, a sequence of seats for kernels."""
        self.seats["slot"] = -1
        for seat, table in zip(self.seats, scene.robots, strict=True):
            seat["root"], seat["rate"], seat["torso"] = table.root, table.root_rate, table.body
        self.ball_body = int(model.body("ball").id)
        joint = int(model.body("ball").jntadr[0])
        self.ball, self.ball_rate = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])

    def owners(self) -> Ints:
        """(geoms,) the seat whose robot a geom belongs to, `NO_OWNER` or `BALL_OWNER`."""
        model = self.world.model
        found: Ints = np.full(model.ngeom, NO_OWNER, np.int64)
        found[model.geom_bodyid == self.ball_body] = BALL_OWNER
        for seat, rows in enumerate(self.rows):
            found[rows["geom"]] = seat
        return found

    def numbers(self, seat: int) -> tuple[slice, slice]:
        """Where the state of a robot is: configuration and velocity."""
        dofs, start = self.rows[seat]["dof"], int(self.seats["root"][seat])
        return slice(start, start + dofs.stop - dofs.start + 1), dofs

    def put_back(self, seat: int) -> None:
        """Puts the robot of a seat beside the pitch, where it sleeps; its drives are the caller's business."""
        qpos, dofs = self.numbers(seat)
        self.world.qpos[qpos], self.world.qvel[dofs] = self.scene.start[qpos], 0.0
        self.world.hold(self.scene.robots[seat], parked=True)
        self.seats["slot"][seat] = -1


class SeatedWorld:
    """The robots and the ball of a match.

    Args:
        field: name of a field with goals and a ball.
        ground: the compiled scene.
    """

    max_coordinate: ClassVar[float]
    """Nobody and nothing is put farther away [m], and no ball faster [m/s]."""

    def __init__(self, field: str, ground: SeatedGround) -> None:
        self.field, self.ground = load_field(field), ground
        self.ball_radius = load_ball(self.field.ball).radius
        self.present = np.zeros(SLOTS, bool)
        """Whether a robot plays, by slot."""
        self.seat_of = np.full(SLOTS, -1, np.int64)
        """Seats of the robots that play, by slot."""
        self.upsets = 0
        """How often the engine lost its numbers, and a robot had to be put up again."""
        self._ball_place = ground.world.qpos[ground.ball :][:3]
        self._ball_velocity = ground.world.qvel[ground.ball_rate :][:3]

    @abstractmethod
    def leave(self, slot: int) -> None:
        """Removes a player from the game."""

    @abstractmethod
    def facts(self) -> Facts:
        """The facts of the last cycle for the referee."""

    @abstractmethod
    def carry_out(self, decision: Decision) -> None:
        """Does what the referee decided."""

    def refuse_second(self, slot: int) -> None:
        """Refuses a player whose number is taken."""
        if self.present[slot]:
            raise UsageError(f"{SLOT_NAMES[slot]} plays already; another number is needed.")

    def swap_ends(self) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        turned = np.roll(np.arange(SLOTS), SLOTS // 2)
        self.present[:], self.seat_of[:] = self.present[turned], self.seat_of[turned]
        self.ground.seats["slot"][self.seat_of[self.present]] = np.flatnonzero(self.present)

    def place_ball(self, place: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Puts the ball on the ground (2,) or anywhere (3,) [m], with a velocity (3,) [m/s] and no spin."""
        where = (*place[:2], max(place[2], self.ball_radius) if len(place) > 2 else self.ball_radius)
        if not all(abs(number) <= self.max_coordinate for number in (*where, *velocity)):
            raise UsageError(
                f"the ball cannot be put at {tuple(place)} with velocity {tuple(velocity)}: places are within "
                f"{self.max_coordinate:g} m, velocities within {self.max_coordinate:g} m/s."
            )
        ground = self.ground
        ground.world.qpos[ground.ball : ground.ball + 7] = *where, 1.0, 0.0, 0.0, 0.0
        ground.world.qvel[ground.ball_rate : ground.ball_rate + 6] = *velocity, 0.0, 0.0, 0.0

    @property
    def time(self) -> float:
        """Time since the beginning [s]."""
        return float(self.ground.world.data.time)

    @property
    def ball(self) -> Floats:
        """(3,) where the ball is [m]."""
        return self._ball_place.copy()

    @property
    def ball_velocity(self) -> Floats:
        """The velocity of the ball in the frame of the pitch, (3,) [m/s]."""
        return self._ball_velocity.copy()

    def placed_ball(self) -> Floats:
        """(7,) place and attitude (quaternion) of the ball."""
        return self.ground.world.qpos[self.ground.ball :][:7].copy()

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground for robots that do not play."""
        found = np.zeros((SLOTS, 7))
        found[:, :4] = 0.0, 0.0, ABSENT_HEIGHT, 1.0
        roots = self.ground.seats["root"][self.seat_of[self.present], None]
        found[self.present] = self.ground.world.qpos[roots + np.arange(7)]
        return found

    def _referee_facts(
        self,
        sensors: Any,  # noqa: ANN401 (one record, as an array)
        present: Bools,
        measured: tuple[Floats, Floats, Bools],
        wants_pass: Bools | None = None,
        self_collision: Bools | None = None,
    ) -> Facts:
        """The facts of the last cycle for the referee.

        Args:
            sensors: the pairs of players that touch.
            present: (2, 11) whether a robot plays.
            measured: (22, 3) positions, (22, 2) velocities, and (22,) touches of the ball.
            wants_pass: (22,) requests for pass mode; None for none.
            self_collision: (2, 11, 4) limbs that are inside another part of their robot; None if it is not known.
        """
        position, velocity, touches = measured
        unknown, count = nothing_known(), int(sensors["pair_count"][0])
        contacts, places = unknown["contacts"], unknown["contact_places"]
        if count:
            contacts = np.stack(np.divmod(sensors["pairs"][0, :count], PLAYERS_SHAPE[1]), axis=-1)
            places = sensors["pair_places"][0, :count]
        return Facts(
            time_step=CONTROL_CYCLE,
            ball=self.ball,
            ball_velocity=self.ball_velocity,
            present=present,
            position=position.reshape(2, MAX_PLAYERS, 3),
            velocity=velocity.reshape(2, MAX_PLAYERS, 2),
            touches_ball=touches.reshape(PLAYERS_SHAPE),
            wants_pass=unknown["wants_pass"] if wants_pass is None else wants_pass.reshape(PLAYERS_SHAPE),
            goalie=unknown["goalie"],
            contacts=contacts,
            contact_places=places,
            self_collision=unknown["self_collision"] if self_collision is None else self_collision,
            pushes=unknown["pushes"],
        )
