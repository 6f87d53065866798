"""The ground a match is played on: a pitch, a ball, and robots on seats that players take when they join.

    ground = Ground(ground_scene("sim3d", seats=22))
    ground.take(3, robot_type=1)            # the robot of seat 3 is of type 1 from now on

A seat is a robot that is compiled into the scene and parked beside the pitch. Types 0 to 3 of the league's robot differ
in numbers only, so that a plain seat takes any of them in microseconds; type 4 has toes and needs a seat with toes.
Seats cost time even while they are parked (some 8 microseconds a cycle each), so there is a ground for few players as
well as for many; `MatchWorld` moves a running match from one to another.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.worlds.physical.kernels import BOX_BODIES, pairs_of_boxes, prepare_ball
from nutmeg.match.worlds.physical.percept import JOINTS, WITH_TOES
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.sim.variation import robot_rows, robot_types
from nutmeg.sim.worlds import SingleWorld

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.scene import Scene
    from nutmeg.sim.variation import RobotTypes, Rows


ROBOT, PHYSICS = "nao-spark", "league"
PLAIN_TYPES = ("type0", "type1", "type2", "type3")
TOED_TYPE = 4
PART_BODIES = ("head", "RLowerArm", "LLowerArm", "RFoot", "LFoot")
"""Bodies in the order of `percept.PARTS`."""
BODIES = (
    *("torso", "neck", "head"),
    *("RShoulder", "RUpperArm", "RElbow", "RLowerArm"),
    *("LShoulder", "LUpperArm", "LElbow", "LLowerArm"),
    *("RHip1", "RHip2", "RThigh", "RShank", "RAnkle", "RFoot"),
    *("LHip1", "LHip2", "LThigh", "LShank", "LAnkle", "LFoot"),
    *("RToe", "LToe"),
)
"""All bodies of a robot, toes last."""
FOOT_BODIES = ("RFoot", "LFoot", "RToe", "LToe")
"""Bodies in the order of `percept.FEET`."""
LIMB_BODIES = (
    ("LUpperArm", "LLowerArm"),
    ("RUpperArm", "RLowerArm"),
    ("LThigh", "LShank", "LFoot", "LToe"),
    ("RThigh", "RShank", "RFoot", "RToe"),
)
"""Bodies of the limbs in the order of `decisions.LIMBS`."""
LIMB_JOINTS = ("laj", "raj", "llj", "rlj")
"""Starts of the names of the joints of the limbs."""
SOLVER_TOLERANCE = 1e-12
"""When the solver is content. The engine measures it against the mean inertia of what it solves, in which the rotors of
the drives (10,000 kg m^2) drown the robot: at the usual 1e-8 a ball beside a robot changes how the robot walks."""
ALL_MASKS = 0x7FFFFFFF
"""All bits of the masks that say what may touch what."""
NO_OWNER, BALL_OWNER = -1, -2
"""Owners of geoms that are no robot's."""


def ground_settings(field: str, *, seats: int, toed: int = 0) -> SceneSettings:
    """The scene with a number of parked robots, `toed` of them with toes."""
    names = [f"seat{i}" for i in range(seats - toed)] + [f"toed{i}" for i in range(toed)]
    robots = tuple(
        Placement(
            robot=ROBOT, name=name, type="type4" if name.startswith("toed") else "type0", pose="zero", parked=True
        )
        for name in names
    )
    return SceneSettings(field=field, robots=robots, physics=PHYSICS, visuals=False)


@lru_cache(maxsize=4)
def ground_scene(field: str, *, seats: int, toed: int = 0) -> Scene:
    """The scene with a number of parked robots, compiled once; many grounds may be made of one scene."""
    return assemble(ground_settings(field, seats=seats, toed=toed))


def load_kinds() -> RobotTypes:
    """The numbers of the types that a plain seat takes."""
    return robot_types(ROBOT, PLAIN_TYPES, PHYSICS)


class Ground:
    """A compiled ground and where everything of it is; all tables are over seats, (S, ...)."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.world, self._kinds = scene, SingleWorld(scene), load_kinds()
        model = self.world.model
        model.opt.tolerance = SOLVER_TOLERANCE
        tables = scene.robots
        self.seats = len(tables)
        self.rows: list[Rows] = [robot_rows(model, table.body) for table in tables]
        self.toed = np.array([table.kind == "type4" for table in tables])
        """(S,) which seats have toes."""
        self.root = np.array([table.root for table in tables], np.int64)
        """(S,) addresses of the roots' poses."""
        self.rate = np.array([table.root_rate for table in tables], np.int64)
        """(S,) addresses of the roots' velocities."""
        self.torso = np.array([table.body for table in tables], np.int64)
        self.angles = np.zeros((self.seats, WITH_TOES), np.int64)
        """(S, 24) addresses of the joints' angles; toes that are not there have the address 0."""
        self.motors = np.full((self.seats, WITH_TOES), -1, np.int64)
        """(S, 24) addresses of the joints' commands, -1 where there is no joint."""
        self.stops = np.zeros((self.seats, WITH_TOES, 2))
        """(S, 24, 2) least and greatest angles of the joints, rad."""
        self.clutches = np.full((self.seats, WITH_TOES), -1, np.int64)
        """(S, 24) tendons that couple drives to joints."""
        for seat, table in enumerate(tables):
            for column, joint in enumerate(JOINTS):
                if joint in table.joints:
                    self.angles[seat, column] = table.angles[table.joints.index(joint)]
                    self.motors[seat, column] = table.commands[table.motors.index(joint)]
                    self.stops[seat, column] = table.limits[table.joints.index(joint)]
                    self.clutches[seat, column] = model.tendon(f"{table.name}/{joint}.clutch").id
        self.parts, self.feet, self.bodies = (self._bodies(names) for names in (PART_BODIES, FOOT_BODIES, BODIES))
        self._name_geoms(model)
        self._part_robots(model)
        self.ball_body = int(model.body("ball").id)
        self.ball = int(model.jnt_qposadr[model.body("ball").jntadr[0]])
        self.ball_rate = int(model.jnt_dofadr[model.body("ball").jntadr[0]])
        prepare_ball(model, load_ball(scene.settings.ball or load_field(scene.settings.field).ball), self.ball_rate)
        self._torque = float(model.tendon_frictionloss[self.clutches[0, 0]])

    def _bodies(self, names: tuple[str, ...]) -> Ints:
        """Ids of named bodies of every seat, the torso where there is none, (S, names)."""
        model = self.world.model
        ids = [
            [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{table.name}/{name}") for name in names]
            for table in self.scene.robots
        ]
        found = np.array(ids, np.int64)
        return np.where(found < 0, self.torso[:, None], found)

    def _name_geoms(self, model: mujoco.MjModel) -> None:
        """Whose every geom is, and which foot; and the boxes of every robot."""
        self.owner = np.full(model.ngeom, NO_OWNER, np.int64)
        """(geoms,) the seat."""
        self.foot = np.full(model.ngeom, -1, np.int64)
        """(geoms,) row of `percept.FEET`, -1 for none."""
        self.boxes = np.full((self.seats, len(BOX_BODIES)), -1, np.int64)
        """(S, B) boxes of the bodies of `own_collisions.BOXES`, -1 where there is none."""
        self.limb = np.array(
            [next((i for i, of in enumerate(LIMB_BODIES) if name in of), -1) for name in BOX_BODIES], np.int64
        )
        """(B,) index of the limb of each, -1 for the torso."""
        self.pairs = pairs_of_boxes()
        self.owner[model.geom_bodyid == model.body("ball").id] = BALL_OWNER
        for seat, rows in enumerate(self.rows):
            for geom in range(rows["geom"].start, rows["geom"].stop):
                body = model.body(int(model.geom_bodyid[geom])).name.split("/")[-1]
                self.owner[geom] = seat
                self.foot[geom] = FOOT_BODIES.index(body) if body in FOOT_BODIES else -1
                if body in BOX_BODIES and model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
                    self.boxes[seat, BOX_BODIES.index(body)] = geom

    def _part_robots(self, model: mujoco.MjModel) -> None:
        """Lets nothing of a robot touch another part of it, as on the league's server (`disableInnerCollision`).

        Bit 0 of the masks is everything else; each seat has a bit of its own, which it leaves out of what it touches.
        """
        for seat, rows in enumerate(self.rows):
            own = 2 << seat
            for mine, is_one, touches in (
                (rows["geom"], model.geom_contype, model.geom_conaffinity),
                (rows["body"], model.body_contype, model.body_conaffinity),
            ):
                solid = (is_one[mine] | touches[mine]) != 0
                is_one[mine] = np.where(solid, own, 0)
                touches[mine] = np.where(solid, ALL_MASKS & ~own, 0)

    def free_seat(self, robot_type: int, taken: set[int]) -> int | None:
        """A seat for a robot of a type, or None."""
        fitting = (s for s in range(self.seats) if bool(self.toed[s]) == (robot_type == TOED_TYPE) and s not in taken)
        return next(fitting, None)

    def take(self, seat: int, robot_type: int) -> None:
        """Makes the robot of a seat one of a type and lets it play."""
        if bool(self.toed[seat]) != (robot_type == TOED_TYPE):
            raise UsageError(f"seat {seat} cannot be of type {robot_type}: toes cannot be put on or taken off.")
        if robot_type != TOED_TYPE:
            self._kinds.set(self.world.model, self.rows[seat], PLAIN_TYPES[robot_type])
        self.world.hold(self.scene.robots[seat], parked=False)

    def park(self, seat: int) -> None:
        """Puts the robot of a seat back beside the pitch, where it sleeps."""
        for column in range(len(LIMB_BODIES)):
            self.let_go(seat, column, limp=False)
        qpos, dofs = self.numbers(seat)
        self.world.qpos[qpos], self.world.qvel[dofs] = self.scene.start[qpos], 0.0
        self.world.ctrl[self.rows[seat]["actuator"]] = 0.0
        self.world.hold(self.scene.robots[seat], parked=True)

    def numbers(self, seat: int) -> tuple[slice, slice]:
        """Where the state of a robot is: configuration and velocity."""
        dofs = self.rows[seat]["dof"]
        start = int(self.root[seat])
        return slice(start, start + dofs.stop - dofs.start + 1), dofs

    def speed_limits(self, seat: int) -> Floats:
        """(24,) how fast the drives of a robot can turn, rad/s; 0 where it has no joint."""
        limits = self.world.model.actuator_ctrlrange[self.motors[seat], 1]
        return np.where(self.motors[seat] < 0, 0.0, limits)

    def let_go(self, seat: int, limb: int, *, limp: bool) -> None:
        """Takes the drive from a limb, or gives it back."""
        mine = [
            c for c, name in enumerate(JOINTS) if name.startswith(LIMB_JOINTS[limb]) and self.clutches[seat, c] >= 0
        ]
        self.world.model.tendon_frictionloss[self.clutches[seat, mine]] = 0.0 if limp else self._torque

    def lowest(self, seats: Ints) -> Floats:
        """(n,) height of the lowest point of robots; after `place_bodies`."""
        model, data = self.world.model, self.world.data
        heights = []
        for seat in seats.tolist():
            mine = self.rows[seat]["geom"]
            size, up = model.geom_size[mine], np.abs(data.geom_xmat[mine, 6:9])
            box = (up * size).sum(axis=1)
            round_ones = size[:, 0] + up[:, 2] * size[:, 1]  # spheres have no length
            is_box = model.geom_type[mine] == mujoco.mjtGeom.mjGEOM_BOX
            heights.append((data.geom_xpos[mine, 2] - np.where(is_box, box, round_ones)).min())
        return np.array(heights)

    def copy_from(self, old: Ground, seats: dict[int, int], types: dict[int, int]) -> None:
        """Takes over the state of another ground: time, ball, and robots from old seats to new ones."""
        mine, theirs = self.world, old.world
        mine.data.time = theirs.data.time
        mine.qpos[self.ball : self.ball + 7] = theirs.qpos[old.ball : old.ball + 7]
        mine.qvel[self.ball_rate : self.ball_rate + 6] = theirs.qvel[old.ball_rate : old.ball_rate + 6]
        for before, seat in seats.items():
            self.take(seat, types[before])
            (to_q, to_v), (from_q, from_v) = self.numbers(seat), old.numbers(before)
            mine.qpos[to_q], mine.qvel[to_v] = theirs.qpos[from_q], theirs.qvel[from_v]
            mine.data.qacc_warmstart[to_v] = theirs.data.qacc_warmstart[from_v]
            to, source = self.clutches[seat], old.clutches[before]
            there = to >= 0
            mine.model.tendon_frictionloss[to[there]] = theirs.model.tendon_frictionloss[source[there]]
        mine.touch()
