"""The physical world of a match of T1 and K1 robots: up to twenty-two of them and a ball, in cycles of 20 ms.

    world = MatchWorld("fifa7vs7", seats={"t1": 14})
    world.join(slot_of(Side.LEFT, 1), "t1")
    world.command(slot, rows)               # (joints, 5) in the units of the wire, kept until changed
    world.step()
    world.sensors["angles"][0, slot]        # degrees

A cycle is four of the engine's steps of 5 ms. Robots that may play sit on seats: they are compiled into the scene,
parked beside the pitch and asleep until a player takes one, so that joining compiles nothing and delays no cycle.
Motor commands become gains and targets of the engine in compiled code (`kernels.drive`).

Numbers of players come over a wire. Where they make the engine lose its own (a gain far too large for its steps), the
world goes back by a cycle, and the robot that lost its numbers is put up again; the others do not notice.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.angles import heading_of
from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import Decision, MovePlayer, PlaceBall
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, slot_of
from nutmeg.match.rules.state import PLAYERS_SHAPE
from nutmeg.match.worlds.mj import kernels
from nutmeg.match.worlds.mj.percept import JOINTS, MAX_JOINTS, MOTOR_NUMBERS, landmarks
from nutmeg.match.worlds.seats import SeatedGround, SeatedWorld, scatter_beam
from nutmeg.model.geometry import yaw_quaternion
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.match.rules.state import Facts
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable

PHYSICS = "ssim"
PARKED_POSE = "ready"
_DENSE_FREEDOMS = 60
"""Below this number of degrees of freedom (one robot and the ball) the engine's matrices are dense, and its Newton
solver takes half of the time of conjugate gradients. The profile has conjugate gradients because with Newton's method a
robot with invalid numbers tilts its neighbours."""
STEPS = 4
"""The engine's steps in a cycle."""
FIRST_COMMAND = (0.0, 0.0, 1.0, 1.0, 0.0)
"""Commands of the motors before the first one of the agent: rcssservermj 0.2.1 leaves MuJoCo's default gains, 1 and
1."""
PUT_HEIGHTS = {"t1": 0.6735, "k1": 1.0}
"""Height of the torso at which a robot is put somewhere [m]. Source: rcssservermj 0.2.1, robot.xml: pos of the torso.
The K1 stands at 0.55 m: it drops."""
HEAD_PLACES = {
    "t1": ((0.05, 0.0, 0.12), (0.0, 0.0, 0.13), (0.0, 0.0, 0.06)),
    "k1": ((0.06, 0.0, 0.08), (0.0, 0.0, 0.09), (0.0, 0.0, 0.05)),
}
"""Camera, microphone and speaker in the frame of the head [m]. Source: rcssservermj 0.2.1, robot.xml: sites camera,
hear_a-micro and say_a-speaker."""
SEEN_HEAD = {"t1": (0.01, 0.0, 0.11), "k1": (0.0, 0.0, 0.08)}
"""Where others see the head, in its frame [m]. Source: as above, head-vismarker; feet are seen at their origins."""
_ARM_BODIES = ("LForearm", "RForearm", "LHand", "RHand")  # bodies whose touch of the ball may be a hand ball
_FALLEN_HEAD = 0.45
"""A robot whose head is lower than this has fallen [m]: it may support itself with its arms. Source, as of the next
two: rcssservermj 0.2.1, soccer_referee.py."""
_FRONTAL_ARM_WIDTHS, _LATERAL_ARM_WIDTHS = 3.0, 5.0
"""An arm is stretched if it is farther in front of or beside the torso's box than this number of its radii."""
PART_BODIES = ("Head", "LFoot", "RFoot")
"""Bodies in the order of `percept.PARTS`."""


def ground_settings(field: str, seats: Mapping[str, int]) -> SceneSettings:
    """The scene with a number of parked robots of each kind."""
    robots = tuple(
        Placement(robot=kind, name=f"{kind}-{number}", pose=PARKED_POSE, parked=True)
        for kind, count in seats.items()
        for number in range(count)
    )
    return SceneSettings(field=field, robots=robots, physics=PHYSICS, visuals=False)


@lru_cache(maxsize=4)
def ground_scene(field: str, seats: tuple[tuple[str, int], ...]) -> Scene:
    """The scene with parked robots, compiled once; many worlds may be made of one scene."""
    return assemble(ground_settings(field, dict(seats)))


class MatchWorld(SeatedWorld):
    """The robots and the ball.

    Args:
        field: name of a field with goals, goal areas and a ball.
        seats: how many robots of each kind (`t1`, `k1`) can play at once.
    """

    max_coordinate = 1000.0

    def __init__(self, field: str = "fifa7vs7", *, seats: Mapping[str, int]) -> None:
        if not seats or not all(kind in JOINTS and 0 <= count <= SLOTS for kind, count in seats.items()):
            raise UsageError(
                f"seats for {dict(seats)} are not possible: there are {', '.join(JOINTS)}, at most {SLOTS} of each."
            )
        super().__init__(field, SeatedGround(ground_scene(field, tuple(sorted(seats.items()))), kernels.SEAT))
        scene = self.scene = self.ground.scene
        self.world = self.ground.world
        model, data = self.world.model, self.world.data
        if model.nv < _DENSE_FREEDOMS:
            model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        self.kinds: list[str] = [table.settings.name for table in scene.robots]
        """Robots of the seats."""
        self._joint_counts = [len(JOINTS[kind]) for kind in self.kinds]
        self.seats: Any = self.ground.seats
        """(S,) records of `kernels.Seat`."""
        self._owners = self.ground.owners()
        bodies = [model.body(body).name for body in model.geom_bodyid]
        self._arms = np.array([name.endswith(_ARM_BODIES) for name in bodies], np.uint8)
        for seat, table in enumerate(scene.robots):
            self._fill_seat(seat, table)
        self.ball_body = self.ground.ball_body
        self.order: list[int] = []
        """Slots of the players in the order in which they joined."""
        self.sensors: Any = np.zeros(1, kernels.SENSORS)
        """One record of `kernels.Sensors`, made anew each cycle."""
        self._motors = data.ctrl, model.actuator_gainprm, model.actuator_biasprm
        self._bodies = data.xpos, data.xquat, data.xmat
        self._good = self.world.qpos.copy(), self.world.qvel.copy()
        self._before = self.world.qpos.copy(), self.world.qvel.copy()
        self._contacts: dict[int, tuple[Any, Any]] = {}
        marks = landmarks(self.field)
        self.marks = (*marks, "B")
        """Names of what is seen beside players, in the order of the wire."""
        self._mark_places = np.array([*marks.values(), (0.0, 0.0, 0.0)])
        mujoco.mj_forward(model, data)
        # Parked robots fall asleep once they have been at rest for a moment; that is over before anybody comes.
        mujoco.mj_step(model, data, 50)
        data.time = 0.0

    def _fill_seat(self, seat: int, table: RobotTable) -> None:
        """Finds everything of a robot in the engine's arrays."""
        model, record, kind = self.world.model, self.seats[seat], self.kinds[seat]
        count = len(JOINTS[kind])
        bodies = [int(model.body(f"{table.name}/{name}").id) for name in PART_BODIES]
        record["joint_count"], record["head"] = count, bodies[0]
        record["camera"], record["microphone"], record["speaker"] = HEAD_PLACES[kind]
        record["parts"], record["part_places"] = bodies, (SEEN_HEAD[kind], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        record["angles"][:count], record["rates"][:count] = table.angles, table.rates
        record["motors"][:count] = [model.actuator(f"{table.name}/{name}").id for name in table.joints]

    # ---- who plays

    def join(self, slot: int, kind: str) -> None:
        """Lets a robot play, beside the pitch as the league's server puts newcomers, with all angles zero."""
        self.refuse_second(slot)
        free = [seat for seat, taken in enumerate(self.seats["slot"]) if taken < 0 and self.kinds[seat] == kind]
        if not free:
            raise UsageError(
                f"no {kind.upper()} is left: this match has {self.kinds.count(kind)} of them, and all play. Ask for "
                f"more when it is started (--seats, --k1-seats), at most {SLOTS} of each."
            )
        seat = free[0]
        self.seats["slot"][seat], self.seat_of[slot], self.present[slot] = slot, seat, True
        self.order.append(slot)
        self.seats["wanted"][seat] = FIRST_COMMAND
        self.world.hold(self.scene.robots[seat], parked=False)
        side, number = (-1, slot + 1) if slot < MAX_PLAYERS else (1, slot - MAX_PLAYERS + 1)
        self.place(slot, x=side * (2 * number + 1.0), y=self.field.width / 2 + self.field.border, heading=-math.pi / 2)
        self._appear(seat)

    def _appear(self, seat: int) -> None:
        """Makes a robot that was just put somewhere seen and measured, in free fall; nothing of the others changes."""
        data, bodies = self.world.data, self.ground.rows[seat]["body"]
        qpos, dofs = self.ground.numbers(seat)
        self._before[0][qpos], self._before[1][dofs] = data.qpos[qpos], 0.0
        data.qacc[dofs] = 0.0
        data.qacc[dofs.start + 2] = -GRAVITY
        others = [array.copy() for array in self._bodies]
        mujoco.mj_kinematics(self.world.model, data)
        for array, kept in zip(self._bodies, others, strict=True):
            kept[bodies] = array[bodies]
            array[:] = kept
        self.sensors = self.sensors.copy()
        self._read()

    def leave(self, slot: int) -> None:
        """Removes a player from the game."""
        if not self.present[slot]:
            return
        seat = int(self.seat_of[slot])
        self.ground.put_back(seat)
        model, motors = self.world.model, self.seats["motors"][seat][: self.seats["joint_count"][seat]]
        model.actuator_gainprm[motors] = self.scene.model.actuator_gainprm[motors]
        model.actuator_biasprm[motors] = self.scene.model.actuator_biasprm[motors]
        self.world.ctrl[motors] = self.scene.commands[motors]
        self.seat_of[slot], self.present[slot] = -1, False
        self.order.remove(slot)

    def swap_ends(self) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        super().swap_ends()
        self.order = [(slot + SLOTS // 2) % SLOTS for slot in self.order]
        self.sensors = self.sensors.copy()
        self._read()

    def kind(self, slot: int) -> str:
        """The robot of a player, `t1` or `k1`."""
        return self.kinds[int(self.seat_of[slot])]

    def players(self) -> list[int]:
        """Slots of the players in the order of the league's server: the left team, then the right, as they joined."""
        return sorted(self.order, key=lambda slot: slot >= MAX_PLAYERS)

    # ---- where things are put

    def place(
        self, slot: int, *, x: float, y: float, height: float | None = None, heading: float | None = None
    ) -> None:
        """Puts a player somewhere at rest, upright with all angles zero.

        Args:
            slot: the player.
            x: where its torso is to be [m].
            y: where its torso is to be [m].
            height: of the torso [m]; None for that at which the league's server puts this robot.
            heading: where it looks, 0 along x [rad]; None keeps it.
        """
        turn = self.heading(slot) if heading is None else heading
        self.put(slot, (x, y, PUT_HEIGHTS[self.kind(slot)] if height is None else height), yaw_quaternion(turn))

    def put(self, slot: int, position: Sequence[float], attitude: Sequence[float]) -> None:
        """Puts a player at a place [m] with an attitude (quaternion, w first), at rest with all angles zero."""
        numbers = (*position, *attitude)
        length = math.sqrt(sum(part * part for part in attitude))
        if not all(abs(number) <= self.max_coordinate for number in numbers) or not length > 1e-6:
            raise UsageError(
                f"{SLOT_NAMES[slot]} cannot be put at {tuple(position)} with attitude {tuple(attitude)}: places are "
                f"within {self.max_coordinate:g} m, and an attitude is a quaternion that is not zero."
            )
        qpos, dofs = self.ground.numbers(int(self.seat_of[slot]))
        pose = self.world.qpos[qpos]
        pose[:] = 0.0
        pose[:3], pose[3:7] = position, [part / length for part in attitude]
        self.world.qvel[dofs] = 0.0

    def beam(self, slot: int, x: float, y: float, degrees: float, noise: np.random.Generator | None = None) -> None:
        """Beams a player: x is always taken into its own half, y is not mirrored for the right team.

        The league's own server has no noise; with it, games with different seeds differ.
        """
        if noise is not None:
            x, y, degrees = scatter_beam(noise, x, y, degrees)
        sign, turn = (-1, 0.0) if slot < MAX_PLAYERS else (1, math.pi)
        self.place(slot, x=sign * abs(x), y=y, heading=math.radians(math.fmod(degrees, 360.0)) + turn)

    def carry_out(self, decision: Decision) -> None:
        """Carries out a decision; moved players stand upright, and beside the pitch face it."""
        match decision:
            case MovePlayer(side=side, number=number, place=(x, y)):
                slot = slot_of(side, number)
                if self.present[slot]:
                    outside = abs(y) > self.field.width / 2
                    self.place(slot, x=x, y=y, heading=-math.copysign(math.pi / 2, y) if outside else None)
            case PlaceBall(place=place):
                self.place_ball(place)
            case _:
                pass

    # ---- a cycle

    def command(self, slot: int, rows: Floats) -> None:
        """Tells motors five numbers each, (joints, 5) in the units of the wire, from the next step on."""
        seat = self.seat_of[slot]
        if rows.shape != (self._joint_counts[seat], MOTOR_NUMBERS):
            raise UsageError(f"motors has the shape {rows.shape}; this robot needs ({self._joint_counts[seat]}, 5).")
        if not kernels.set_command(self.seats, seat, np.ascontiguousarray(rows, np.float64)):
            raise UsageError("motors has a number that is not finite; only rows that begin with NaN are left out.")

    def step(self) -> None:
        """Simulates one control cycle, and measures what sensors and referee need."""
        model, data = self.world.model, self.world.data
        self._good[0][:], self._good[1][:] = data.qpos, data.qvel
        kernels.drive(self._motors, self.seats)
        mujoco.mj_step(model, data, STEPS - 1)
        self._before[0][:], self._before[1][:] = data.qpos, data.qvel
        mujoco.mj_step(model, data)
        self.sensors = np.zeros(1, kernels.SENSORS)
        if not kernels.is_sane(data.qpos, data.qvel, self.seats):
            self._recover()
        self._read_contacts()
        self._read()

    def _read_contacts(self) -> None:
        data = self.world.data
        if data.ncon not in self._contacts:  # the engine's arrays always begin at the same place
            self._contacts[data.ncon] = data.contact.geom, data.contact.pos
        geoms, places = self._contacts[data.ncon]
        kernels.read_contacts(geoms, places, self._owners, self._arms, self.seats, self.sensors)

    def _read(self) -> None:
        state = (*self._before, self.world.data.qacc)
        kernels.read_sensors(state, self._bodies, self.seats, self.sensors)

    def _recover(self) -> None:
        """Restores the state of a cycle before, and puts up robots and ball with invalid numbers."""
        data = self.world.data
        lost = [slot for slot in self.order if self._is_lost(slot)]
        ball_lost = not np.isfinite(data.qvel[self.ground.ball_rate :][:6]).all()
        data.qpos[:], data.qvel[:] = self._good
        data.qacc[:], data.qacc_warmstart[:] = 0.0, 0.0
        for slot in lost:
            qpos, _ = self.ground.numbers(int(self.seat_of[slot]))
            x, y = np.clip(data.qpos[qpos][:2], -self.max_coordinate, self.max_coordinate)
            self.place(slot, x=float(x), y=float(y), heading=0.0)
            self.seats["wanted"][self.seat_of[slot]] = FIRST_COMMAND
        if ball_lost or not lost:
            data.qvel[:] = 0.0
        self._before[0][:], self._before[1][:] = data.qpos, data.qvel
        self.upsets += 1
        mujoco.mj_forward(self.world.model, data)

    def _is_lost(self, slot: int) -> bool:
        """Whether a player's numbers are no longer those of a robot."""
        qpos, dofs = self.ground.numbers(int(self.seat_of[slot]))
        speeds = np.abs(self.world.qvel[dofs])
        sane = (speeds[:3] <= kernels.MAX_ROBOT_SPEED).all() and (speeds[6:] <= kernels.MAX_JOINT_SPEED).all()
        return not (sane and np.isfinite(speeds).all() and np.isfinite(self.world.qpos[qpos]).all())

    # ---- what is observed

    def look(self, slots: Sequence[int]) -> tuple[Floats, Floats]:
        """Sightings of players (P,): (P, M, 3) marks and ball, (P, P, 3, 3) parts of players, polar; NaN if unseen."""
        who = self.seat_of[slots]
        parts = np.empty((len(who), 3, 3))
        kernels.place_parts(self._bodies, self.seats, who, parts)
        self._mark_places[-1] = self.world.data.xpos[self.ball_body]
        places = np.concatenate([self._mark_places, parts.reshape(-1, 3)])
        seen = np.empty((len(who), len(places), 3))
        kernels.look(self._bodies, self.seats, who, places, seen)
        marks = len(self._mark_places)
        return seen[:, :marks], seen[:, marks:].reshape(len(who), len(who), 3, 3)

    def voices(self, slots: Sequence[int]) -> tuple[Floats, Floats, Floats]:
        """(P, 3) microphones, (P, 3, 3) attitudes of the heads and (P, 3) speakers of players (P,)."""
        who = self.seat_of[slots]
        microphones, speakers = np.empty((len(who), 3)), np.empty((len(who), 3))
        kernels.place_voices(self._bodies, self.seats, who, microphones, speakers)
        return microphones, self.world.data.xmat[self.seats["head"][who]].reshape(-1, 3, 3), speakers

    def heading(self, slot: int) -> float:
        """Where the torso of a player looks, 0 along x [rad]."""
        return float(heading_of(self.world.qpos[self.ground.numbers(int(self.seat_of[slot]))[0]][3:7]))

    def joint_angles(self) -> Floats:
        """(22, 23) the angles of the joints as they are now [rad]; zeros where there is none."""
        found = np.zeros((SLOTS, MAX_JOINTS))
        seats = self.seat_of[self.present]
        found[self.present] = self.world.qpos[self.seats["angles"][seats]]
        found[self.present] *= np.arange(MAX_JOINTS) < self.seats["joint_count"][seats, None]
        return found

    def facts(self) -> Facts:
        """The facts of the last cycle for the referee."""
        sensors = self.sensors
        measured = sensors["position"][0], sensors["velocity"][0], sensors["touches"][0].view(np.bool_)
        facts = self._referee_facts(sensors, self.present.reshape(PLAYERS_SHAPE), measured)
        hands = sensors["hands"][0]
        if hands.any():
            stretched = [geom > 0 and self._is_stretched(slot, geom - 1) for slot, geom in enumerate(hands.tolist())]
            facts.hand_ball = np.array(stretched).reshape(PLAYERS_SHAPE)
        return facts

    def _is_stretched(self, slot: int, geom: int) -> bool:
        """Whether a hand or forearm is away from the body of its robot, as the league's referee measures it."""
        model, data, seat = self.world.model, self.world.data, self.seats[self.seat_of[slot]]
        torso = int(seat["torso"])
        box = int(model.body_geomadr[torso])  # of the torso; its half sizes are the robot's
        half, middle = model.geom_size[box], data.geom_xpos[box]
        turn, place = data.xmat[torso].reshape(3, 3), data.geom_xpos[geom]
        hand, head = turn.T @ (place - middle), data.xpos[seat["head"]] + turn @ seat["camera"]
        if head[2] < _FALLEN_HEAD:
            on_side = abs(turn[2, 1]) > abs(turn[2, 0])
            raised = place[2] > middle[2] + 2 * max(half[0], half[1])
            return bool(raised or (on_side and hand[2] > abs((turn.T @ (head - middle))[2])))
        radius = float(model.geom_size[geom][:2].min())
        front, aside = half[0] + _FRONTAL_ARM_WIDTHS * radius, half[1] + _LATERAL_ARM_WIDTHS * radius
        skull = int(model.body_geomadr[seat["head"]])
        crown = max(data.geom_xpos[skull][2] + model.geom_size[skull].max(), head[2])
        return bool(abs(hand[0]) > front or abs(hand[1]) > aside or place[2] > crown)
