"""Parameters that differ from world to world: masses, friction, gains.

    worlds.vary.mass("nao-v6-1", ["LTibia"], masses)           # (N, 1) kg
    worlds.vary.friction("nao-v6-1", mu)                       # (N,)
    worlds.vary.stiffness("nao-v6-1", gains)                   # (N, motors)
    worlds.vary.set("nao-v6-1", "servo.*.p", [250.0, 300.0])   # (N,), any target of `body.adjustment`

Each call writes the engine's own per-world fields and updates what the engine derives from them. Lengths
change the model itself: build one scene for each world and use `Worlds.of`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import MODEL_FIELDS

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.actuation import LINK_END_SUFFIX, MOTOR_SIDE_SUFFIX, ROTOR_SUFFIX, load_actuation
from nutmeg.model.actuation.drives import drive_of_each_joint
from nutmeg.model.actuation.gear import LINK_INERTIA, SMALLEST_ROTOR, smallest_inertia
from nutmeg.model.actuation.servo import engine_numbers
from nutmeg.model.actuation.settings import BEND_SUFFIXES, LOAD_FRICTION_NUMBERS, matching_names
from nutmeg.model.build import parts_of_type
from nutmeg.model.parameters import JOINT_NUMBERS, check_soles, groups_of, parse_target
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mujoco.batch import Batch
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.actuation.settings import Flex, Gear, Servo
    from nutmeg.model.parameters import Target
    from nutmeg.model.robot import Drive
    from nutmeg.model.scene import Scene


# ----------------------------------------------------------------------------------------------------
# Adjustments as fields of the engine that differ from world to world, without building a scene for each.
#
# The grammar is that of `body.adjustment`; what a target sets there in a robot's tables is set here in the arrays of
# the compiled model, by the same formulas (`body.actuation`). `engine.variation` is the way in.


FIELD_OF_JOINT = dict(zip(JOINT_NUMBERS, ("dof_damping", "dof_armature", "dof_frictionloss"), strict=True))
STATEFUL = ("i", "inductance", "static")
"""Numbers of a servo that give it one more state when they are not zero."""
OF_SCENE = ("delay", "output_limit", "squeeze_speed", *LOAD_FRICTION_NUMBERS)
"""Numbers of a servo that are parts of the model, or that `engine.supply` takes from the scene."""


class AdjustedFields:
    """The numbers of one robot in N worlds.

    Args:
        scene: the scene of all worlds.
        robot: the robot's name in it.
        count: how many worlds, N.
        field: gives a field of the engine with one row for each world, (N, ...), to write to.
    """

    def __init__(self, scene: Scene, robot: str, count: int, field: Callable[[str], Floats]) -> None:
        self._scene, self._model, self._count, self._field = scene, scene.model, count, field
        self._table = scene.robot(robot)
        self._prefix = f"{self._table.name}/"
        placement = next(p for p in scene.placements if p.name == self._table.name)
        self._robot, self._kind = self._table.settings, placement.type
        self._actuation = load_actuation(self._robot, placement.actuation)
        self._worlds: dict[tuple[str, str], list[Any]] = {}
        """Groups that differ from world to world, by family and name, (N) each."""

    def can_set(self, target: str) -> bool:
        """Whether a target is a matter of numbers in the compiled model, not of its parts or lengths."""
        parsed = parse_target(target)
        match parsed.family:
            case "servo" | "gear":
                return self._can_set_number(target, parsed)
            case "foot":
                return not (self._robot.model.mjcf or self._robot.model.urdf)
            case "robot" | "battery" | "camera" | "delay":
                return False
        return parsed.field != "timestep"

    def _can_set_number(self, target: str, parsed: Target) -> bool:
        groups = groups_of(self._robot, self._kind, self._actuation, target).values()
        if self._actuation is None or self._actuation.printed or parsed.field in OF_SCENE:
            return False
        if parsed.field == "coulomb":  # `engine.supply` adds the friction under load to that of the scene
            return not any(servo.rubs_under_load for servo in self._actuation.servo.values())
        return parsed.field not in STATEFUL or all(getattr(g, parsed.field) > 0 for g in groups)

    def set(self, target: str, values: Floats, *, relative: bool) -> None:
        """Sets a target in every world, values (N,)."""
        if not self.can_set(target):
            raise ModelError(f"{target} cannot be set in a compiled scene: give it to the scene's placement instead.")
        parsed = parse_target(target)
        match parsed.family:
            case "mass":
                self._mass(target, parsed.name, values, relative=relative)
            case "joint":
                self._joint(target, parsed, values, relative=relative)
            case "foot":
                check_soles(self._robot, self._kind, self._scene.physics)
                soles = self._solid() & (self._model.geom_priority > 0)
                self._write("geom_friction", (soles, 0), target, values, relative=relative)
            case "physics":
                self._physics(target, parsed.field, values, relative=relative)
            case _:
                self._group(target, parsed, values, relative=relative)

    def _write(
        self,
        name: str,
        columns: Any,  # noqa: ANN401 (an index)
        target: str,
        values: Floats,
        *,
        relative: bool,
        least: float = 0.0,
    ) -> None:
        """Writes values (N,) into columns of a field; below `least` or not finite is an error."""
        array = self._field(name)
        place = (slice(None), *columns) if isinstance(columns, tuple) else (slice(None), columns)
        given = values.reshape(-1, *[1] * (array[place].ndim - 1))
        wanted = array[place] * given if relative else np.broadcast_to(given, array[place].shape)
        if not np.isfinite(wanted).all() or (wanted < least).any():
            low = "" if least == -np.inf else f" and {least:g} or above"
            raise ModelError(f"{target} must be finite{low} in every world; found {wanted.min():g}..{wanted.max():g}.")
        array[place] = wanted

    def _mass(self, target: str, pattern: str, values: Floats, *, relative: bool) -> None:
        model, names = self._model, self._names("body")
        links = [n for n in names if not n.endswith((LINK_END_SUFFIX, ROTOR_SUFFIX, MOTOR_SIDE_SUFFIX))]
        mass, inertia = self._field("body_mass"), self._field("body_inertia")
        for link in matching_names([pattern], links, "body", f"target {target!r}"):
            parts = [names[n] for n in (link, link + LINK_END_SUFFIX) if n in names]  # a bending link is cut in two
            whole = mass[:, parts].sum(axis=1)
            factor = values if relative else values / whole
            if not (np.isfinite(factor) & (factor > 0)).all() or (model.body_mass[parts] <= 0).any():
                raise ModelError(f"{target} must be finite and above 0 in every world, of bodies that have a mass.")
            mass[:, parts] *= factor[:, None]
            inertia[:, parts] *= factor[:, None, None]

    def _joint(self, target: str, parsed: Target, values: Floats, *, relative: bool) -> None:
        names = matching_names([parsed.name], self._table.joints, "joint", f"target {target!r}")
        dofs = [int(self._table.rates[self._table.joints.index(n)]) for n in names]
        self._write(FIELD_OF_JOINT[parsed.field], dofs, target, values, relative=relative)

    def _physics(self, target: str, name: str, values: Floats, *, relative: bool) -> None:
        if name == "impratio":
            self._write("opt.impratio", (), target, values, relative=relative, least=1e-12)
            return
        if self._scene.physics.contact is None:
            raise ModelError(
                f"{target} has nothing to set: this physics leaves contacts to the robots (foot.friction)."
            )
        solid, number = self._solid(everybody=True), name.removeprefix("contact.")
        if number == "friction":
            self._write("geom_friction", (solid, 0), target, values, relative=relative)
        elif number == "solimp":
            if not relative and not ((values > 0) & (values < 1)).all():
                raise ModelError(f"{target} must be between 0 and 1 in every world.")
            self._write("geom_solimp", (solid, slice(0, 2)), target, values, relative=relative)
        else:
            self._write("geom_solref", (solid, int(number[-1])), target, values, relative=relative, least=-np.inf)

    def _solid(self, *, everybody: bool = False) -> Bools:
        """Which shapes of this robot, or of all robots, collide, (ngeom,)."""
        model = self._model
        mine = np.isin(model.body_rootid[model.geom_bodyid], [t.body for t in self._scene.robots])
        if not everybody:
            mine = model.body_rootid[model.geom_bodyid] == self._table.body
        return np.asarray(mine & ((model.geom_contype | model.geom_conaffinity) > 0))

    def _group(self, target: str, parsed: Target, values: Floats, *, relative: bool) -> None:
        """Sets a number of drives, servos, gears or bending links."""
        names = list(groups_of(self._robot, self._kind, self._actuation, target))
        changed = {n: self._changed(target, parsed, self._of(parsed.family, n), values, relative) for n in names}
        self._worlds |= {(parsed.family, name): groups for name, groups in changed.items()}
        write = {"drives": self._drive, "servo": self._servo, "gear": self._gear, "flex": self._flex}[parsed.family]
        for name in names:
            write(name, parsed.field)

    @staticmethod
    def _changed(target: str, parsed: Target, groups: list[Any], values: Floats, relative: bool) -> list[Any]:
        """A group in every world with one number set; a value that it refuses is an error."""
        out = []
        for world, (group, value) in enumerate(zip(groups, values.tolist(), strict=True)):
            wanted = value * getattr(group, parsed.field) if relative else value
            if not np.isfinite(wanted) or (parsed.field in STATEFUL and wanted <= 0):
                raise ModelError(f"{target} is {wanted:g} in world {world}; it must be finite, and stay above 0.")
            try:
                out.append(dataclasses.replace(group, **{parsed.field: wanted}))
            except ValueError as error:
                raise ModelError(f"{target}, world {world}: {error}") from None
        return out

    def _of(self, family: str, name: str) -> list[Any]:
        """A group in every world, (N)."""
        if (family, name) not in self._worlds:
            source = self._robot if family == "drives" else self._actuation
            self._worlds[family, name] = [getattr(source, family)[name]] * self._count
        return self._worlds[family, name]

    def _names(self, kind: str) -> dict[str, int]:
        """Ids of this robot's parts of one kind, by their names in the robot."""
        count = {"body": self._model.nbody, "joint": self._model.njnt}[kind]
        named = {getattr(self._model, kind)(i).name: i for i in range(count)}
        return {n.removeprefix(self._prefix): i for n, i in named.items() if n.startswith(self._prefix)}

    def _id(self, kind: mujoco.mjtObj, name: str) -> int:
        return int(mujoco.mj_name2id(self._model, kind, self._prefix + name))

    def _drive(self, name: str, number: str) -> None:
        drives: list[Drive] = self._of("drives", name)
        robot = parts_of_type(self._robot, self._kind)
        joints = {j: int(dof) for j, dof in zip(self._table.joints, self._table.rates, strict=True)}
        mine = [j for j, drive in drive_of_each_joint(robot, joints).items() if drive is robot.drives[name]]
        motors = [m for m in (self._id(mujoco.mjtObj.mjOBJ_ACTUATOR, j) for j in mine) if m >= 0]
        position = drives[0].kind == "position"
        values = np.array([getattr(d, number) for d in drives])[:, None]
        if number in ("armature", "friction"):
            self._field(FIELD_OF_JOINT[number])[:, [joints[j] for j in mine]] = values
        elif number in ("stiffness", "damping"):
            self._field("actuator_biasprm")[:, motors, 1 if number == "stiffness" else 2] = -values
        elif number == "speed" and position:
            self._field("actuator_dynprm")[:, motors, 1] = values
        elif number == "torque" and not position:
            clutches = [c for c in (self._id(mujoco.mjtObj.mjOBJ_TENDON, f"{j}.clutch") for j in mine) if c >= 0]
            self._field("tendon_frictionloss")[:, clutches] = values
        else:
            limits = self._field("actuator_forcerange" if number == "torque" else "actuator_ctrlrange")
            limits[:, motors, 0], limits[:, motors, 1] = -values, values

    def _servo(self, name: str, number: str) -> None:
        servos: list[Servo] = self._of("servo", name)
        gains, states, friction = (self._field(f"actuator_{f}prm") for f in ("gain", "dyn", "bias"))
        assert self._actuation is not None
        made = [engine_numbers(servo, self._actuation.battery, self._scene.timestep) for servo in servos]
        for joint in matching_names(servos[0].joints, self._table.joints, "joint", name):
            motor = self._id(mujoco.mjtObj.mjOBJ_ACTUATOR, joint)
            if motor < 0:
                continue  # a follower
            gains[:, motor, :2] = [(m.resistance, m.constant) for m in made]
            gains[:, motor, 4:8] = [(*m.gains, m.limit) for m in made]
            states[:, motor, 0] = [m.lag for m in made]
            states[:, motor, 5:7] = [m.lugre[:2] for m in made]
            friction[:, motor, 3:6] = [m.lugre[2:] for m in made]
            turned = int(self._model.actuator_trnid[motor, 0])
            dof = int(self._model.jnt_dofadr[turned])
            if number in ("rotor_inertia", "ratio"):
                least = SMALLEST_ROTOR if str(self._model.joint(turned).name).endswith(MOTOR_SIDE_SUFFIX) else 0.0
                self._field("dof_armature")[:, dof] = [max(m.armature, least) for m in made]
            elif number == "viscous":
                self._field("dof_damping")[:, dof] = [s.viscous for s in servos]
            elif number == "coulomb":
                self._field("dof_frictionloss")[:, dof] = [m.dry for m in made]

    def _gear(self, name: str, number: str) -> None:
        gears: list[Gear] = self._of("gear", name)
        values = np.array([getattr(g, number) for g in gears])
        for joint in matching_names(gears[0].joints, self._table.joints, "joint", name):
            spring = self._id(mujoco.mjtObj.mjOBJ_TENDON, f"{joint}.gear")
            if spring < 0:
                continue  # a follower
            index = self._table.joints.index(joint)
            room = float(np.diff(self._table.limits[index])[0])
            if number == "play" and (values >= room).any():
                raise ModelError(
                    f"the gear of joint {joint!r} has a play of {values.max():g} rad; it turns only {room:g}."
                )
            if number == "play":
                self._field("tendon_lengthspring")[:, spring] = np.stack([-values / 2, values / 2], axis=1)
            elif number == "damping":
                self._field("tendon_damping")[:, spring] = values
            else:
                self._field("tendon_stiffness")[:, spring] = values
                link = [max(LINK_INERTIA, smallest_inertia(value, self._scene.timestep)) for value in values.tolist()]
                self._field("dof_armature")[:, self._table.rates[index]] = link

    def _flex(self, name: str, number: str) -> None:
        flexes: list[Flex] = self._of("flex", name)
        values = np.array([getattr(f, number) for f in flexes])[:, None]
        links = [b.name for b in parts_of_type(self._robot, self._kind).body]
        for link in matching_names(flexes[0].bodies, links, "body", name):
            hinges = [self._id(mujoco.mjtObj.mjOBJ_JOINT, link + LINK_END_SUFFIX + bend) for bend in BEND_SUFFIXES]
            dofs = self._model.jnt_dofadr[hinges]
            if number != "stiffness":
                self._field(FIELD_OF_JOINT[number])[:, dofs] = values
                continue
            self._field("jnt_stiffness")[:, hinges] = values
            least = [[smallest_inertia(value, self._scene.timestep)] for value in values[:, 0].tolist()]
            self._field("dof_armature")[:, dofs] = least


DERIVED_FROM = frozenset(
    {"body_mass", "body_inertia", "dof_armature", "tendon_stiffness", "tendon_damping", "opt.impratio"}
)
"""Fields from which the engine derives others, which takes it 0.3 ms a world for a Nao."""


class Variation:
    """Per-world parameters of a batch."""

    def __init__(self, batch: Batch, scene: Scene, *, fixed: bool = False) -> None:
        self._batch, self._scene, self._fixed = batch, scene, fixed
        self._robots: dict[str, AdjustedFields] = {}
        self._touched: set[str] = set()

    def can_set(self, target: str, robot: str = "") -> bool:
        """Whether `set` can set a target, or each world needs a scene of its own for it.

        Args:
            target: what to set, in the grammar of `body.adjustment`; one that no robot has is an error.
            robot: the robot's name; may be left out if there is only one.
        """
        return self._adjusted(robot or self._scene.robots[0].name).can_set(target)

    def set(self, robot: str, target: str, values: ArrayLike, *, relative: bool = False) -> None:
        """Sets what an adjustment of the robot's placement would set, (N,); the worlds then equal scenes built so.

        Scenes are built with the numbers of joints last: set `joint.*` targets after all others.

        Args:
            robot: the robot's name.
            target: what to set, in the grammar of `body.adjustment`.
            values: for each world, (N,), or one for all.
            relative: whether they multiply what is there.
        """
        given = np.asarray(values, float)
        if given.shape not in ((), (1,), (self._batch.nsim,)):
            raise ModelError(f"{target} has the shape {given.shape}; needed is ({self._batch.nsim},).")
        self._touched.clear()
        self._adjusted(robot).set(target, np.broadcast_to(given, (self._batch.nsim,)), relative=relative)
        if self._touched & DERIVED_FROM:
            self._batch.set_const()

    def _adjusted(self, robot: str) -> AdjustedFields:
        if robot not in self._robots:
            self._robots[robot] = AdjustedFields(self._scene, robot, self._batch.nsim, self._field)
        return self._robots[robot]

    def mass(self, robot: str, bodies: Sequence[str], masses: ArrayLike) -> None:
        """Sets masses of bodies, (N, bodies) [kg]; their inertias scale along."""
        ids = self._ids(robot, bodies)
        values = self._checked("mass", masses, len(ids))
        old = self._field("body_mass")
        scale = values / old[:, ids]
        inertia = self._field("body_inertia")
        inertia[:, ids] *= scale[:, :, None]
        old[:, ids] = values
        self._batch.set_const()

    def friction(self, robot: str, friction: ArrayLike) -> None:
        """Sets the sliding friction of everything on a robot that collides, (N,).

        Between two surfaces the one of higher priority counts (soles, here), and the larger of two equals.
        """
        model = self._scene.model
        mine = model.body_rootid[model.geom_bodyid] == self._scene.robot(robot).body
        solid = np.flatnonzero(mine & ((model.geom_contype | model.geom_conaffinity) > 0))
        values = self._checked("friction", np.reshape(np.asarray(friction, float), (-1, 1)), 1, zero=True)
        self._field("geom_friction")[:, solid, 0] = values

    def stiffness(self, robot: str, gains: ArrayLike) -> None:
        """Sets the position gains of a robot's drives, (N, motors) [N m/rad]."""
        self._gain(robot, gains, slot=1)

    def damping(self, robot: str, gains: ArrayLike) -> None:
        """Sets the velocity gains of a robot's drives, (N, motors) [N m s/rad]."""
        self._gain(robot, gains, slot=2, zero=True)

    def torque(self, robot: str, limits: ArrayLike) -> None:
        """Sets the torque limits of a robot's position drives, (N, motors) [N m]."""
        motors = self._motors(robot)
        values = self._checked("torque", limits, len(motors))
        ranges = self._field("actuator_forcerange")
        ranges[:, motors, 0], ranges[:, motors, 1] = -values, values

    def _gain(self, robot: str, gains: ArrayLike, *, slot: int, zero: bool = False) -> None:
        motors = self._motors(robot)
        values = self._checked("gain", gains, len(motors), zero=zero)
        self._field("actuator_biasprm")[:, motors, slot] = -values

    def _motors(self, robot: str) -> list[int]:
        table = self._scene.robot(robot)
        if (table.setpoints < 0).any():
            found = ", ".join(sorted({d for d, s in zip(table.drives, table.setpoints, strict=True) if s < 0}))
            raise ModelError(
                f"{robot} has {found} drives that are not Nutmeg's position drives; only those can be varied."
            )
        return [self._scene.model.actuator(f"{table.name}/{m}").id for m in table.motors]

    def _field(self, name: str) -> Floats:
        if self._fixed:
            raise ModelError("these worlds have a scene each (Worlds.of): vary the scenes' parameters instead.")
        self._touched.add(name)
        field: Floats = self._batch.expand(name)
        return field

    def _ids(self, robot: str, bodies: Sequence[str]) -> list[int]:
        model, prefix = self._scene.model, f"{self._scene.robot(robot).name}/"
        known = {model.body(b).name: b for b in range(model.nbody) if model.body(b).name.startswith(prefix)}
        for body in bodies:
            if prefix + body not in known:
                raise UnknownNameError(f"body of {robot}", body, [k.removeprefix(prefix) for k in known])
        return [known[prefix + body] for body in bodies]

    def _checked(self, what: str, values: ArrayLike, width: int, *, zero: bool = False) -> Floats:
        """The values as (N, width), finite and above 0 (or also 0)."""
        given, shape = np.asarray(values, float), (self._batch.nsim, width)
        try:
            array = np.broadcast_to(given, shape)
        except ValueError:
            raise ModelError(f"{what} has the shape {given.shape}; needed is {shape} or less.") from None
        if not (np.isfinite(array).all() and (array > 0).all() | (zero and (array >= 0).all())):
            found, least = f"{array.min():g}..{array.max():g}", "at least 0" if zero else "above 0"
            raise ModelError(f"{what} must be finite and {least} in every world; found {found}.")
        return array


# ----------------------------------------------------------------------------------------------------
# Models that differ in numbers, as per-world fields of one batch.
#
# The engine can run each world on a model of its own, but then no field can be changed while it runs. Copied into the
# batch's per-world fields, the same numbers give the same motion, bit for bit, and can be changed.


SKIPPED_FIELD_PREFIXES = (
    "mat_",
    "light_",
    "cam_",
    "key_",
    "name",
    "text_",
    "tuple_",
    "numeric_",
    "plugin",
    "D_",
    "B_",
    "M_",
    "map",
)
"""Starts of the names of fields that are only seen, or that are the same for models of the same parts."""
BODY_BOXES_FIELD = "bvh_aabb"
"""The one field of which the batch has less than a model: the boxes of bodies, not those of meshes."""


def copy_model_numbers(batch: Batch, models: Sequence[mujoco.MjModel]) -> None:
    """Gives each world of a batch the numbers of its model; models of other parts are a ValueError."""
    different = list({id(model): model for model in models}.values())
    which = {id(model): index for index, model in enumerate(different)}
    rows = np.array([which[id(model)] for model in models])
    _check_parts(different)
    for name in sorted(MODEL_FIELDS):
        if name.startswith(SKIPPED_FIELD_PREFIXES):
            continue
        values = [_field(model, name) for model in different]
        shape, first = values[0].shape, values[0].tobytes()
        if any(v.shape != shape for v in values):
            raise ValueError(f"their {name} differ in size.")
        if any(v.tobytes() != first for v in values):
            own = batch.expand(name)
            own[:] = np.stack(values)[rows][:, : own.shape[1]] if name == BODY_BOXES_FIELD else np.stack(values)[rows]


def _check_parts(models: list[mujoco.MjModel]) -> None:
    """Sizes must be the same, and meshes, which a batch has only once."""
    for size in ("nq", "nv", "nu", "na", "nbody", "ngeom", "nsensordata", "nhistory", "nuserdata", "nmeshvert"):
        if len({getattr(model, size) for model in models}) > 1:
            raise ValueError(f"they differ in {size}.")
    if any(not np.array_equal(models[0].mesh_vert, model.mesh_vert) for model in models[1:]):
        raise ValueError("their meshes differ.")


def _field(model: mujoco.MjModel, name: str) -> Floats:
    option = name.removeprefix("opt.")
    return np.asarray(getattr(model.opt, option) if option != name else getattr(model, name))


# ----------------------------------------------------------------------------------------------------
# Robots that change their type while a world runs: types that differ in numbers alone, without a new model.
#
# For each type a scene with that robot alone is compiled once. What differs between these models (places of bodies
# and joints, limits of drives, and what the engine derives from them) is copied into the rows of one robot of a
# larger model. A robot is a tree of its own, so that everything derived (inverse weights, inertias at rest) is its
# own as well. The pose at the start is not copied: whoever changes a type puts the robot somewhere anyway.


FIELD_FAMILIES = {
    "body": "body",
    "jnt": "joint",
    "dof": "dof",
    "geom": "geom",
    "site": "site",
    "tendon": "tendon",
    "actuator": "actuator",
}
"""Starts of the names of a model's fields, and whose rows they have."""
PLACEMENT_FIELDS = ("eq_data", "qpos0", "qpos_spring")
"""Fields that say where a robot stands at the start."""
ROOT_PLACEMENT_FIELDS = ("body_pos", "body_quat")
"""Fields whose first row says so."""

_ONLY_ROBOT = 1
"""Root body of the robot in a scene with nothing else."""

Rows = dict[str, slice]
"""Where the parts of a robot are in a model, by family."""


@dataclass(frozen=True)
class RobotTypes:
    """The numbers in which the types of a robot differ."""

    robot: str
    """The robot's name."""
    numbers: Mapping[str, Mapping[str, Floats]]
    """By type and field of the model: the rows of the robot."""

    def set(self, model: mujoco.MjModel, rows: Rows, kind: str) -> None:
        """Makes the robot at some rows of a model one of a type."""
        if kind not in self.numbers:
            raise UnknownNameError(f"type of {self.robot} that can be changed to", kind, self.numbers)
        for field, values in self.numbers[kind].items():
            getattr(model, field)[_moving(rows, field)] = values


@lru_cache(maxsize=8)
def robot_types(robot: str, kinds: tuple[str, ...], physics: str) -> RobotTypes:
    """The numbers of some types of a robot; types with other parts are an error."""
    models = {kind: _alone(robot, kind, physics) for kind in kinds}
    first = models[kinds[0]]
    for kind, model in models.items():
        for size in ("nq", "nv", "nu", "nbody", "ngeom", "nsite", "ntendon"):
            if getattr(model, size) != getattr(first, size):
                raise ModelError(f"{kind} of {robot} has other parts than {kinds[0]}; it needs a scene of its own.")
    changing = [name for name in sorted(MODEL_FIELDS) if _differs(name, list(models.values()))]
    rows = robot_rows(first, _ONLY_ROBOT)
    numbers = {
        kind: {name: getattr(model, name)[_moving(rows, name)].copy() for name in changing}
        for kind, model in models.items()
    }
    return RobotTypes(robot, numbers)


def robot_rows(model: mujoco.MjModel, root: int) -> Rows:
    """Where the parts of the robot with a root body are in a model: each family has them one after the other."""
    joints = model.body_rootid[model.jnt_bodyid] == root
    found = {
        "body": model.body_rootid == root,
        "joint": joints,
        "dof": model.body_rootid[model.dof_bodyid] == root,
        "geom": model.body_rootid[model.geom_bodyid] == root,
        "site": model.body_rootid[model.site_bodyid] == root,
        "tendon": joints[model.wrap_objid[model.tendon_adr]],
        "actuator": joints[model.actuator_trnid[:, 0]],
    }
    return {family: _range(np.flatnonzero(mine), family) for family, mine in found.items()}


def _moving(rows: Rows, field: str) -> slice:
    """The rows of a field, without one that says where the robot was placed."""
    mine = rows[FIELD_FAMILIES[field.split("_", maxsplit=1)[0]]]
    return slice(mine.start + 1, mine.stop) if field in ROOT_PLACEMENT_FIELDS else mine


def _alone(robot: str, kind: str, physics: str) -> mujoco.MjModel:
    placement = Placement(robot=robot, name="robot", type=kind, pose="zero")
    scene = SceneSettings(field="none", ball="none", robots=(placement,), physics=physics, visuals=False)
    return assemble(scene).model


def _differs(name: str, models: list[mujoco.MjModel]) -> bool:
    if name.startswith(("opt.", *SKIPPED_FIELD_PREFIXES)) or name in PLACEMENT_FIELDS:
        return False
    different = any(not np.array_equal(getattr(models[0], name), getattr(m, name)) for m in models[1:])
    if different and name.split("_", maxsplit=1)[0] not in FIELD_FAMILIES:
        raise ModelError(f"types differ in {name}, which cannot be changed while a world runs.")
    return different


def _range(ids: Indices, family: str) -> slice:
    if len(ids) and ids[-1] - ids[0] != len(ids) - 1:
        raise ModelError(f"the parts of a robot ({family}) do not lie one after the other in this model.")
    return slice(int(ids[0]), int(ids[-1]) + 1) if len(ids) else slice(0, 0)
