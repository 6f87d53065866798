"""The ground a match is played on: a pitch, a ball, and robots on seats that players take when they join.

    ground = Ground(ground_scene("sim3d", seats=22))
    ground.take(3, slot=12, robot_type=1)   # the robot of seat 3 is of type 1 from now on, and plays

A seat is a robot that is compiled into the scene and parked beside the pitch. Types 0 to 3 of the league's robot differ
in numbers only, so that a plain seat takes any of them in microseconds; type 4 has toes and needs a seat with toes. How
many seats there are is decided when the ground is built. A seat costs some 8 microseconds a cycle even while it is
parked: training with one robot needs one seat.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.physical.kernels import BOX_BODIES, GEOM, SEAT
from nutmeg.match.worlds.physical.percept import JOINTS, PHYSICS, ROBOT
from nutmeg.match.worlds.seats import SeatedGround
from nutmeg.model.ode import masks_of
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.sim.variation import robot_types

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.scene import Scene
    from nutmeg.sim.variation import RobotTypes


_PLAIN_TYPES = ("type0", "type1", "type2", "type3")
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
_FOOT_BODIES = ("RFoot", "LFoot", "RToe", "LToe")
"""Bodies in the order of `percept.FEET`."""
_LIMB_JOINTS = ("laj", "raj", "llj", "rlj")
"""Starts of the names of the joints of the limbs."""
_PARKED_BIT = 30
"""The bit of robots that do not play."""


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


def _load_kinds() -> RobotTypes:
    """The numbers of the types that a plain seat takes."""
    return robot_types(ROBOT, _PLAIN_TYPES, PHYSICS)


class Ground(SeatedGround):
    """A compiled ground and where everything of it is."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene, SEAT)
        self._kinds = _load_kinds()
        model = self.world.model
        self.toed = np.array([table.kind == "type4" for table in scene.robots])
        """(S,) which seats have toes."""
        self._bits: dict[int, int] = {}
        self._fill_seats()
        self.parts, self.bodies = self._bodies(PART_BODIES), self._bodies(BODIES)
        """(S, 5) and (S, 24) ids of the bodies that are seen of a robot, and of all its bodies."""
        self.geoms: Any = np.zeros(model.ngeom, GEOM)
        """(geoms,) records of `kernels.Geom`."""
        self._fill_geoms(model)
        for seat in range(len(self.seats)):
            self._separate(seat, _PARKED_BIT)

    def _fill_seats(self) -> None:
        """Finds joints and motors of every robot in the engine's arrays."""
        self.seats["motors"], self.seats["boxes"] = -1, -1
        for seat, table in zip(self.seats, self.scene.robots, strict=True):
            for column, joint in enumerate(JOINTS):
                if joint in table.joints:
                    seat["joints"][column] = table.angles[table.joints.index(joint)]
                    seat["jointed"][column] = self.world.model.joint(f"{table.name}/{joint}").bodyid[0]
                    seat["motors"][column] = table.commands[table.motors.index(joint)]
        self.seats["feet"] = self._bodies(_FOOT_BODIES)

    def _bodies(self, names: tuple[str, ...]) -> Ints:
        """Ids of named bodies of every seat, the torso where there is none, (S, names)."""
        model = self.world.model
        ids = [
            [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{table.name}/{name}") for name in names]
            for table in self.scene.robots
        ]
        found = np.array(ids, np.int64)
        return np.where(found < 0, self.seats["torso"][:, None], found)

    def _fill_geoms(self, model: mujoco.MjModel) -> None:
        """Whose every geom is, and which foot; and the boxes of every robot."""
        geoms = self.geoms
        geoms["owner"], geoms["foot"], geoms["body"] = self.owners(), -1, model.geom_bodyid
        geoms["root"] = model.body_rootid[model.geom_bodyid]
        for seat, rows in enumerate(self.rows):
            for geom in range(rows["geom"].start, rows["geom"].stop):
                body = model.body(int(model.geom_bodyid[geom])).name.split("/")[-1]
                geoms["foot"][geom] = _FOOT_BODIES.index(body) if body in _FOOT_BODIES else -1
                if body in BOX_BODIES and model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
                    self.seats["boxes"][seat, BOX_BODIES.index(body)] = geom

    def take(self, seat: int, *, slot: int, robot_type: int) -> None:
        """Makes the robot of a seat one of a type and lets it play, with all its angles zero."""
        model = self.world.model
        if bool(self.toed[seat]) != (robot_type == TOED_TYPE):
            raise UsageError(f"seat {seat} cannot be of type {robot_type}: toes cannot be put on or taken off.")
        if robot_type != TOED_TYPE:
            self._kinds.set(model, self.rows[seat], _PLAIN_TYPES[robot_type])
        self._bits[seat] = next(bit for bit in range(1, SLOTS + 1) if bit not in self._bits.values())
        self._separate(seat, self._bits[seat])
        self.world.hold(self.scene.robots[seat], parked=False)
        qpos, dofs = self.numbers(seat)
        self.world.qpos[qpos], self.world.qvel[dofs] = 0.0, 0.0
        record = self.seats[seat]
        record["slot"] = slot
        record["top_speeds"] = np.where(record["motors"] < 0, 0.0, model.actuator_ctrlrange[record["motors"], 1])
        record["ordered"], record["driven"], record["frozen"] = 0.0, 0.0, 0
        record["strength"] = 1.0
        record["velocity_before"], record["next_acc"] = 0.0, (0.0, 0.0, GRAVITY)

    def _separate(self, seat: int, bit: int) -> None:
        """Gives a robot a bit of its own in the engine's masks, see `masks_of`; parked robots share one."""
        model, rows, (own, others) = self.world.model, self.rows[seat], masks_of(bit)
        for mine, is_one, touches in (
            (rows["geom"], model.geom_contype, model.geom_conaffinity),
            (rows["body"], model.body_contype, model.body_conaffinity),
        ):
            solid = (is_one[mine] | touches[mine]) != 0
            is_one[mine] = np.where(solid, own, 0)
            touches[mine] = np.where(solid, others, 0)

    def park(self, seat: int) -> None:
        """Puts the robot of a seat back beside the pitch, where it sleeps."""
        self.put_back(seat)
        self.world.ctrl[self.rows[seat]["actuator"]] = 0.0
        del self._bits[seat]
        self._separate(seat, _PARKED_BIT)

    def free_seat(self, robot_type: int) -> int | None:
        """A seat for a robot of a type, or None."""
        fitting = (self.seats["slot"] < 0) & (self.toed == (robot_type == TOED_TYPE))
        return int(np.argmax(fitting)) if fitting.any() else None

    def freeze(self, seat: int, limb: int, *, frozen: bool) -> None:
        """Lets the drives of a limb hold it still, or hear their player again."""
        mine = [column for column, name in enumerate(JOINTS) if name.startswith(_LIMB_JOINTS[limb])]
        self.seats[seat]["frozen"][mine] = frozen

    def close_gaps(self, seat: int) -> None:
        """Puts the joints of a robot together that the engine's steps have pulled apart (see `sim.ode_step`)."""
        self.world.close_gaps(self.rows[seat]["body"])

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
