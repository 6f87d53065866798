"""Adjustments as fields of the engine that differ from world to world, without building a scene for each.

The grammar is that of `body.adjustment`; what a target sets there in a robot's tables is set here in the arrays of
the compiled model, by the same formulas (`body.actuation`). `engine.variation` is the way in.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.body.actuation import END, MOTOR_SIDE, ROTOR, load_actuation
from nutmeg.body.actuation.drives import drive_of_each_joint
from nutmeg.body.actuation.gear import LINK_INERTIA, SMALLEST_ROTOR, smallest_inertia
from nutmeg.body.actuation.groups import BENDS, chosen
from nutmeg.body.actuation.servo import engine_numbers
from nutmeg.body.actuation.settings import UNDER_LOAD
from nutmeg.body.adjustment import JOINT_NUMBERS, check_soles, groups_of, parse
from nutmeg.body.build import of_type
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.body.actuation.settings import Flex, Gear, Servo
    from nutmeg.body.adjustment import Target
    from nutmeg.body.robot import Drive
    from nutmeg.body.scene import Scene


FIELD_OF_JOINT = dict(zip(JOINT_NUMBERS, ("dof_damping", "dof_armature", "dof_frictionloss"), strict=True))
STATEFUL = ("i", "inductance", "static")
"""Numbers of a servo that give it one more state when they are not zero."""
OF_SCENE = ("delay", "output_limit", "squeeze_speed", *UNDER_LOAD)
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
        parsed = parse(target)
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
        parsed = parse(target)
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
        links = [n for n in names if not n.endswith((END, ROTOR, MOTOR_SIDE))]
        mass, inertia = self._field("body_mass"), self._field("body_inertia")
        for link in chosen([pattern], links, "body", f"target {target!r}"):
            parts = [names[n] for n in (link, link + END) if n in names]  # a bending link is cut in two
            whole = mass[:, parts].sum(axis=1)
            factor = values if relative else values / whole
            if not (np.isfinite(factor) & (factor > 0)).all() or (model.body_mass[parts] <= 0).any():
                raise ModelError(f"{target} must be finite and above 0 in every world, of bodies that have a mass.")
            mass[:, parts] *= factor[:, None]
            inertia[:, parts] *= factor[:, None, None]

    def _joint(self, target: str, parsed: Target, values: Floats, *, relative: bool) -> None:
        names = chosen([parsed.name], self._table.joints, "joint", f"target {target!r}")
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
        robot = of_type(self._robot, self._kind)
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
        for joint in chosen(servos[0].joints, self._table.joints, "joint", name):
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
                least = SMALLEST_ROTOR if str(self._model.joint(turned).name).endswith(MOTOR_SIDE) else 0.0
                self._field("dof_armature")[:, dof] = [max(m.armature, least) for m in made]
            elif number == "viscous":
                self._field("dof_damping")[:, dof] = [s.viscous for s in servos]
            elif number == "coulomb":
                self._field("dof_frictionloss")[:, dof] = [m.dry for m in made]

    def _gear(self, name: str, number: str) -> None:
        gears: list[Gear] = self._of("gear", name)
        values = np.array([getattr(g, number) for g in gears])
        for joint in chosen(gears[0].joints, self._table.joints, "joint", name):
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
        links = [b.name for b in of_type(self._robot, self._kind).body]
        for link in chosen(flexes[0].bodies, links, "body", name):
            hinges = [self._id(mujoco.mjtObj.mjOBJ_JOINT, link + END + bend) for bend in BENDS]
            dofs = self._model.jnt_dofadr[hinges]
            if number != "stiffness":
                self._field(FIELD_OF_JOINT[number])[:, dofs] = values
                continue
            self._field("jnt_stiffness")[:, hinges] = values
            least = [[smallest_inertia(value, self._scene.timestep)] for value in values[:, 0].tolist()]
            self._field("dof_armature")[:, dofs] = least
