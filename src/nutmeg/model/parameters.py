"""The grammar of adjustable numbers: text that names a number of a robot or its world.

The same grammar serves identification, `--body`, conditions of trials and worlds that differ (`Worlds.vary`).

| target | sets |
|---|---|
| `robot.NAME` | a parameter of the robot itself (`[parameters]` of its `robot.toml`) |
| `mass.BODY` | mass of a body [kg]; its inertia scales along |
| `com.BODY.x`, `.y`, `.z` | centre of mass of a body, in its frame [m] |
| `inertia.BODY.alpha`, `.d1` to `.d3`, `.s12`, `.s13`, `.s23`, `.t1` to `.t3` | all ten numbers of its inertia |
| `offset.BODY.x`, `.y`, `.z` | where the body begins in the frame of its parent [m]: the length of the parent |
| `joint.JOINT.damping`, `.armature`, `.friction` | numbers of a joint, whatever drives it |
| `drives.GROUP.FIELD` | an ideal drive's number |
| `foot.friction` | sliding friction of the soles |
| `battery.FIELD`, `servo.GROUP.FIELD`, `gear.GROUP.FIELD`, `flex.GROUP.FIELD` | numbers of the actuation |
| `physics.timestep`, `physics.impratio` | the world |
| `physics.contact.friction`, `.contact.solimp`, `.contact.solref_0`, `.contact.solref_1` | its contacts |
| `ball.FIELD` | a number of the ball (`mass`, `rolling_damping`, `restitution`, ... of `model.ball`) |
| `camera.CAMERA.FIELD` | a number of a camera (`model.sensors.CameraSettings`), applied by `adjusted_cameras` |
| `delay` | extra time from a command to the motor [s], applied by `sim.rollout`, which shifts the commands |
| `zero.JOINT` | what the joint's encoder reads where the joint is at zero [rad], applied by `reality.twin` |
| `channel.COLUMN.bias`, `.gain`, `.delay`, `.drift` | how a measured column reads, applied by `reality.observation` |

BODY, JOINT, GROUP, CAMERA and COLUMN may be patterns (`*Tibia`). A relative adjustment multiplies the present value.
Parameters of the robot are set first, then the others in their order, and numbers of joints last. The numbers of a
drive or a servo are checked once all are set:

    Placement(robot="ant", adjustments=(
        Adjustment(target="robot.L1_femur", value=0.9),
        Adjustment(target="mass.*Tibia", value=1.2, relative=True),
    ))

`scene.assemble` applies them.

**Inertia.** The numbers of `inertia` change mass, centre of mass and inertia of a body together and are 0 where it is
as in its files. Whatever they are, there is a rigid body with such an inertia (the log-Cholesky parameters of Rucker
and Wensing, Smooth Parameterization of Rigid-Body Inertia, 2022), so that a search needs no conditions. With the
pseudo-inertia J0 = L0 L0' of the body (L0 upper triangular), the new one is L0 U U' L0', and

    U = exp(alpha) [[exp(d1), s12, s13, t1], [0, exp(d2), s23, t2], [0, 0, exp(d3), t3], [0, 0, 0, 1]]:

alpha scales the mass by exp(2 alpha), d1 to d3 the extent along the axes, t1 to t3 shift the centre of mass in units of
that extent. `com`, `inertia` and `offset` are for robots of any origin: `robot.toml`, MJCF and URDF.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_type_hints

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.actuation import HIDDEN_JOINTS
from nutmeg.model.actuation.settings import Battery, Flex, Gear, Servo, matching_names
from nutmeg.model.ball import BallSettings
from nutmeg.model.build import parameter_values, parts_of_type
from nutmeg.model.geometry import evaluate, evaluate_all
from nutmeg.model.physics import Contact
from nutmeg.model.robot import Drive, FootContact
from nutmeg.model.sensors import CameraSettings, load_cameras

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nutmeg.base.arrays import Floats
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.physics import Physics
    from nutmeg.model.robot import Body, RobotSettings


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """A number of a robot or its world that differs from what its files say."""

    target: str
    """The number to set, in the grammar of this module."""
    value: float
    """The new value, or the factor if relative."""
    relative: bool = False
    """Whether it multiplies the present value."""

    def of(self, present: float) -> float:
        """The value to set where `present` is now; not finite is an error."""
        wanted = present * self.value if self.relative else float(self.value)
        if not math.isfinite(wanted):
            raise ModelError(f"{self.target} is {wanted}; it must be a finite number.")
        return wanted


@dataclass(frozen=True)
class Target:
    """The parts of a target."""

    family: str
    """One of `FAMILIES`: `robot`, `mass`, `joint` and so on."""
    name: str = ""
    """Name of the parameter, body, joint, group or camera; may be a pattern."""
    field: str = ""
    """Name of the number."""


def _float_fields(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a settings dataclass that are plain numbers."""
    return tuple(name for name, hint in get_type_hints(kind).items() if hint is float)


JOINT_NUMBERS = ("damping", "armature", "friction")
PHYSICS_NUMBERS = ("timestep", "impratio", *(f"contact.{n}" for n in ("friction", "solimp", "solref_0", "solref_1")))
AXES = ("x", "y", "z")
FLATNESS = 1e-4
"""The least extent of a body whose inertia is searched, as a share of its second largest moment."""
INERTIA_NUMBERS = ("alpha", "d1", "d2", "d3", "s12", "s13", "s23", "t1", "t2", "t3")
CHANNEL_NUMBERS = ("bias", "gain", "delay", "drift")
"""Numbers of a measured channel (`reality.observation.ChannelModel`)."""
CAMERA_NUMBERS = _float_fields(CameraSettings)
"""The numbers of a camera that can be set, and identified from pictures."""
_GROUPED = {
    "com": AXES,
    "inertia": INERTIA_NUMBERS,
    "offset": AXES,
    "joint": JOINT_NUMBERS,
    "drives": _float_fields(Drive),
    "servo": _float_fields(Servo),
    "gear": _float_fields(Gear),
    "flex": _float_fields(Flex),
    "camera": CAMERA_NUMBERS,
    "channel": CHANNEL_NUMBERS,
}
_ALONE = {
    "foot": _float_fields(FootContact),
    "battery": _float_fields(Battery),
    "physics": PHYSICS_NUMBERS,
    "ball": _float_fields(BallSettings),
}
_FORMS = {
    "robot": "robot.NAME",
    "mass": "mass.BODY",
    "com": "com.BODY.AXIS",
    "inertia": "inertia.BODY.NUMBER",
    "offset": "offset.BODY.AXIS",
    "joint": "joint.JOINT.FIELD",
    "camera": "camera.CAMERA.FIELD",
    "channel": "channel.COLUMN.FIELD",
    "delay": "delay",
    "zero": "zero.JOINT",
}
FAMILIES = ("robot", "mass", *_GROUPED, *_ALONE, "delay", "zero")
"""The words with which a target may begin."""


def parse_target(target: str) -> Target:
    """The parts of a target; text that no robot could understand is an error that says what is allowed."""
    family, _, rest = target.partition(".")
    if family not in FAMILIES:
        raise UnknownNameError("target", family, FAMILIES, where=f"target {target!r}")
    name, field_ = rest, ""
    if family in _GROUPED:
        name, _, field_ = rest.rpartition(".")
    elif family in _ALONE:
        name, field_ = "", rest
    if bool(rest) != (family != "delay") or (family not in (*_ALONE, "delay") and not name):
        form = _FORMS.get(family) or (f"{family}.GROUP.FIELD" if family in _GROUPED else f"{family}.FIELD")
        raise ModelError(f"target {target!r} is incomplete or has too much; it is written {form}.")
    fields = {**_GROUPED, **_ALONE}.get(family)
    if fields is not None and field_ not in fields:
        raise UnknownNameError(f"number of {family}", field_, fields, where=f"target {target!r}")
    return Target(family, name, field_)


@dataclass(frozen=True)
class AdjustedRobot:
    """A robot as its adjustments make it."""

    robot: RobotSettings
    """The robot with its adjusted masses, drives and soles."""
    parameters: Mapping[str, float]
    """Values of all parameters that differ from the type's."""
    actuation: Actuation | None
    """None for ideal drives."""
    joints: tuple[Adjustment, ...] = ()
    """Adjustments that `adjust_joints` makes once the joints are built."""
    bodies: tuple[Adjustment, ...] = ()
    """Adjustments that `adjust_bodies` makes once the bodies are built or read from a model file."""


def adjusted_robot(
    robot: RobotSettings,
    adjustments: Iterable[Adjustment],
    *,
    kind: str = "",
    parameters: Mapping[str, float] | None = None,
    actuation: Actuation | None = None,
    physics: Physics,
) -> AdjustedRobot:
    """Applies all adjustments of a robot but those of the world; see `adjusted_physics`."""
    draft = _Draft(robot, kind, dict(parameters or {}), actuation, physics)
    parsed = [(adjustment, parse_target(adjustment.target)) for adjustment in adjustments]
    for adjustment, target in sorted(parsed, key=lambda pair: pair[1].family != "robot"):
        draft.apply(adjustment, target)
    return draft.finished()


def adjusted_physics(physics: Physics, adjustments: Iterable[Adjustment]) -> Physics:
    """The physics of a world with the adjustments that concern it; others are left out."""
    for adjustment in adjustments:
        target = parse_target(adjustment.target)
        if target.family == "physics":
            physics = _set_physics(physics, adjustment, target.field)
    return physics


def adjusted_ball(ball: BallSettings, adjustments: Iterable[Adjustment]) -> BallSettings:
    """The ball of a world with the adjustments that concern it; others are left out."""
    for adjustment in adjustments:
        target = parse_target(adjustment.target)
        if target.family == "ball":
            changed: dict[str, Any] = {target.field: adjustment.of(getattr(ball, target.field))}
            try:
                ball = dataclasses.replace(ball, **changed)
            except ValueError as error:
                raise ModelError(f"{adjustment.target}: {error}") from None
    return ball


def _set_physics(physics: Physics, adjustment: Adjustment, field_: str) -> Physics:
    top, _, of_contact = field_.partition(".")
    if not of_contact:
        value = adjustment.of(getattr(physics, top))
        if value <= 0:
            raise ModelError(f"{adjustment.target} is {value:g}; it must be above 0.")
        changed: dict[str, Any] = {top: value}
        return dataclasses.replace(physics, **changed)
    contact = physics.contact
    if contact is None:
        raise ModelError(
            f"{adjustment.target} has nothing to set: this physics leaves contacts to the robots. Set foot.friction, "
            f"or take a profile with contact numbers (league-native, fine)."
        )
    return dataclasses.replace(physics, contact=_set_contact(contact, adjustment, of_contact))


def _set_contact(contact: Contact, adjustment: Adjustment, name: str) -> Contact:
    if name.startswith("solref_"):
        numbers = list(contact.solref)
        place = int(name[-1])
        numbers[place] = adjustment.of(numbers[place])
        return dataclasses.replace(contact, solref=(numbers[0], numbers[1]))
    value = adjustment.of(getattr(contact, name))
    if value < 0 or (name == "solimp" and not 0 < value < 1):
        allowed = "between 0 and 1" if name == "solimp" else "0 or above"
        raise ModelError(f"{adjustment.target} is {value:g}; it must be {allowed}.")
    changed: dict[str, Any] = {name: value}
    return dataclasses.replace(contact, **changed)


@dataclass
class _Draft:
    """A robot while its adjustments are applied; the numbers of a group are checked together at the end."""

    robot: RobotSettings
    kind: str
    parameters: dict[str, float]
    actuation: Actuation | None
    physics: Physics
    groups: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    """New numbers of drives, servos and so on, by family and group."""
    blame: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The targets that changed each of them, for error messages."""
    joints: list[Adjustment] = field(default_factory=list)
    bodies: list[Adjustment] = field(default_factory=list)

    def apply(self, adjustment: Adjustment, target: Target) -> None:
        match target.family:
            case "robot":
                values = parameter_values(self.robot, self.kind, self.parameters)
                if target.name not in values:
                    raise UnknownNameError(
                        f"parameter of {self.robot.name}", target.name, values, where=f"target {adjustment.target!r}"
                    )
                self.parameters[target.name] = adjustment.of(values[target.name])
            case "mass":
                self._mass(adjustment, target.name)
            case "com" | "inertia" | "offset" | "joint":
                (self.joints if target.family == "joint" else self.bodies).append(adjustment)
            case "foot":
                self._foot(adjustment)
            case "camera":
                adjusted_cameras(self.robot, [adjustment])  # only checks it: cameras are no part of the physics
            case "zero" | "channel":  # they change commands and measurements, not the physics
                if adjustment.relative:
                    raise ModelError(f"{adjustment.target} is a number of a measurement and cannot be relative.")
            case "delay":
                if adjustment.relative or adjustment.of(0.0) < 0:
                    raise ModelError(f"delay is a time of 0 s or above, not relative; found {adjustment.value:g}.")
            case "drives" | "battery" | "servo" | "gear" | "flex":
                self._number(adjustment, target)

    def _number(self, adjustment: Adjustment, target: Target) -> None:
        for name, group in self._groups_of(adjustment.target, target).items():
            key = (target.family, name)
            numbers = self.groups.setdefault(key, {})
            present = numbers.get(target.field, getattr(group, target.field))
            numbers[target.field] = adjustment.of(present)
            self.blame.setdefault(key, []).append(adjustment.target)

    def _groups_of(self, target: str, parsed: Target) -> dict[str, Any]:
        """The drives, servos, gears, flexes or the battery that a target names; a target without effect is an error."""
        robot, actuation = self.robot, self.actuation
        servos = actuation is not None and bool(actuation.servo)
        if parsed.family == "drives":
            if servos:
                raise ModelError(
                    f"{target} has no effect: servos drive {robot.name} here. Set servo.GROUP.FIELD instead."
                )
            groups: Mapping[str, Any] = parts_of_type(robot, self.kind).drives
        elif actuation is None or (parsed.family != "flex" and not servos):
            raise ModelError(
                f"{target} has no effect: {robot.name} has ideal drives here. Choose another actuation (--actuation "
                f"servo, motoflex or a file), or set drives.GROUP.FIELD."
            )
        elif parsed.family == "battery":
            return {"": actuation.battery}
        else:
            groups = getattr(actuation, parsed.family)
        names = matching_names([parsed.name], groups, f"group in {parsed.family}", f"target {target!r}")
        if parsed.family == "drives" and parsed.field in ("stiffness", "damping"):
            without = next((n for n in names if groups[n].kind == "velocity"), None)
            if without is not None:
                raise ModelError(
                    f"{target} has no effect on the velocity drive {without!r} of {robot.name}: it has none."
                )
        return {name: groups[name] for name in names}

    def _foot(self, adjustment: Adjustment) -> None:
        if self.physics.contact is not None:
            raise ModelError("foot.friction has no effect in this physics; set physics.contact.friction instead.")
        if self.physics.ode:
            raise ModelError("foot.friction has no effect in this physics: it does not limit friction.")
        if not any(s.foot for s in parts_of_type(self.robot, self.kind).shape):
            raise ModelError(f"foot.friction has no effect: {self.robot.name} has no shape with foot = true.")
        friction = adjustment.of(self.robot.foot.friction)
        if friction < 0:
            raise ModelError(f"foot.friction is {friction:g}; it must be 0 or above.")
        self.robot = dataclasses.replace(self.robot, foot=dataclasses.replace(self.robot.foot, friction=friction))

    def _mass(self, adjustment: Adjustment, pattern: str) -> None:
        if self.robot.model.mjcf or self.robot.model.urdf:
            self.bodies.append(adjustment)
            return
        bodies = parts_of_type(self.robot, self.kind).body
        names = matching_names([pattern], [b.name for b in bodies], "body", f"target {adjustment.target!r}")
        values = parameter_values(self.robot, self.kind, self.parameters)
        changed = {id(b): _with_mass(b, adjustment, values) for b in bodies if b.name in names}
        body = tuple(changed.get(id(b), b) for b in self.robot.body)
        self.robot = dataclasses.replace(self.robot, body=body)

    def finished(self) -> AdjustedRobot:
        robot, actuation = self.robot, self.actuation
        drives = {name: self._remade("drives", name, drive) for name, drive in robot.drives.items()}
        if any(family == "drives" for family, _ in self.groups):
            robot = dataclasses.replace(robot, drives=drives)
        if actuation is not None and any(family != "drives" for family, _ in self.groups):
            actuation = dataclasses.replace(
                actuation,
                battery=self._remade("battery", "", actuation.battery),
                servo={name: self._remade("servo", name, s) for name, s in actuation.servo.items()},
                gear={name: self._remade("gear", name, g) for name, g in actuation.gear.items()},
                flex={name: self._remade("flex", name, f) for name, f in actuation.flex.items()},
            )
        return AdjustedRobot(robot, self.parameters, actuation, tuple(self.joints), tuple(self.bodies))

    def _remade(self, family: str, name: str, group: Any) -> Any:  # noqa: ANN401 (any settings dataclass)
        changes = self.groups.get((family, name))
        if not changes:
            return group
        try:
            return dataclasses.replace(group, **changes)
        except ValueError as error:
            raise ModelError(f"{', '.join(self.blame[family, name])}: {error}") from None


def _with_mass(body: Body, adjustment: Adjustment, values: Mapping[str, float]) -> Body:
    """A body with another mass and its inertia scaled along."""
    present = evaluate(body.mass, values)
    mass = adjustment.of(present)
    if mass <= 0 or present <= 0:
        found = f"{mass:g} kg" if present > 0 else f"of a body ({body.name}) without mass, fixed to its parent"
        raise ModelError(f"{adjustment.target} is {found}; it must be above 0.")
    if body.inertia is None:
        return dataclasses.replace(body, mass=mass)
    xx, yy, zz, xy, xz, yz = (number * mass / present for number in evaluate_all(body.inertia, values))
    return dataclasses.replace(body, mass=mass, inertia=(xx, yy, zz, xy, xz, yz))


def adjusted_cameras(robot: RobotSettings, adjustments: Iterable[Adjustment]) -> dict[str, CameraSettings]:
    """The settings of all cameras of a robot with the adjustments of the family `camera`; others are left out."""
    found = load_cameras(robot)
    for adjustment in adjustments:
        if not adjustment.target.startswith("camera."):
            continue
        target = parse_target(adjustment.target)
        for camera in matching_names([target.name], found, f"camera of {robot.name}", f"target {adjustment.target!r}"):
            changed: dict[str, Any] = {target.field: adjustment.of(getattr(found[camera], target.field))}
            try:
                found[camera] = dataclasses.replace(found[camera], **changed)
            except ValueError as error:
                raise ModelError(f"{adjustment.target}: {error}") from None
    return found


# ----------------------------------------------------------------------------------------------------
# Adjustments of the built specification: of joints, and of bodies that come from a model file


_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


def adjust_joints(spec: mujoco.MjSpec, adjustments: Iterable[Adjustment]) -> None:
    """Sets damping, armature or dry friction of joints in a robot's specification."""
    joints = {j.name: j for j in spec.joints if j.type in _MOVING and not j.name.endswith(HIDDEN_JOINTS)}
    for adjustment in adjustments:
        target = parse_target(adjustment.target)
        for name in matching_names([target.name], joints, "joint", f"target {adjustment.target!r}"):
            joint = joints[name]
            present = {"damping": joint.damping[0], "armature": joint.armature, "friction": joint.frictionloss}
            value = adjustment.of(float(present[target.field]))
            if value < 0:
                raise ModelError(f"{adjustment.target} is {value:g}; it must be 0 or above.")
            if target.field == "damping":
                joint.damping[0] = value
            elif target.field == "armature":
                joint.armature = value
            else:
                joint.frictionloss = value


def adjust_bodies(spec: mujoco.MjSpec, adjustments: Iterable[Adjustment]) -> None:
    """Sets masses of bodies read from a model file (inertias scale along), then inertias and offsets of any bodies."""
    bodies = {b.name: b for b in spec.bodies if b.name != "world"}
    changes: dict[str, list[tuple[Adjustment, Target]]] = {}
    for adjustment in adjustments:
        target = parse_target(adjustment.target)
        for name in matching_names([target.name], bodies, "body", f"target {adjustment.target!r}"):
            if target.family == "mass":
                _set_mass(spec, bodies[name], adjustment)
            elif target.family == "offset":
                axis = AXES.index(target.field)
                bodies[name].pos[axis] = adjustment.of(float(bodies[name].pos[axis]))
            else:
                changes.setdefault(name, []).append((adjustment, target))
    if not changes:
        return
    model = spec.copy().compile()
    if spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        for name, body in bodies.items():  # without it, MuJoCo ignores the values set below
            if model.body(name).mass[0] > 0:
                _set_inertia(body, pseudo_inertia(model, name))
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    for name, wanted in changes.items():
        if not model.body(name).mass[0] > 0:
            raise ModelError(f"{wanted[0][0].target}: {name} has no mass, so it has no inertia to set.")
        _set_inertia(bodies[name], _changed_inertia(pseudo_inertia(model, name), wanted))


def _set_mass(spec: mujoco.MjSpec, body: mujoco.MjsBody, adjustment: Adjustment) -> None:
    present = float(spec.copy().compile().body(body.name).mass[0])
    mass = adjustment.of(present)
    if mass <= 0 or present <= 0:
        raise ModelError(f"{adjustment.target} makes {present:g} kg of {body.name} {mass:g}; both must be above 0.")
    scale_mass(body, mass / present)


def pseudo_inertia(model: mujoco.MjModel, body: str) -> Floats:
    """The pseudo-inertia of a body in its frame, (4, 4): second moments, first moments and mass of its density."""
    one = model.body(body)
    mass, centre = float(one.mass[0]), np.array(one.ipos)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, one.iquat)
    axes = turn.reshape(3, 3)
    inertia = axes @ np.diag(one.inertia) @ axes.T
    second = np.trace(inertia) / 2 * np.eye(3) - inertia + mass * np.outer(centre, centre)
    first = mass * centre[:, None]
    return np.block([[second, first], [first.T, np.array([[mass]])]])


def _changed_inertia(present: Floats, changes: list[tuple[Adjustment, Target]]) -> Floats:
    """A pseudo-inertia, (4, 4), with another centre of mass, and with log-Cholesky numbers."""
    mass = present[3, 3]
    centre = present[:3, 3] / mass
    numbers = dict.fromkeys(INERTIA_NUMBERS, 0.0)
    moved = centre.copy()
    for adjustment, target in changes:
        if target.family == "com":
            axis = AXES.index(target.field)
            moved[axis] = adjustment.of(float(moved[axis]))
        elif adjustment.relative:
            raise ModelError(f"{adjustment.target} is 0 where a body is as in its files and cannot be relative.")
        else:
            numbers[target.field] = adjustment.of(0.0)
    shift = np.eye(4)
    shift[:3, 3] = moved - centre
    here = shift @ present @ shift.T  # the same body, moved as a whole
    if not any(numbers.values()):
        return np.asarray(here)
    sizes, axes = np.linalg.eigh(here)
    sizes = np.maximum(sizes, FLATNESS * sizes[2])  # a flat body, or numbers that no body has, become a thin one
    flipped = np.linalg.cholesky(((axes * sizes) @ axes.T)[::-1, ::-1])
    root = flipped[::-1, ::-1]  # upper triangular, root @ root.T = here
    d1, d2, d3 = (math.exp(numbers[name]) for name in ("d1", "d2", "d3"))
    upper = math.exp(numbers["alpha"]) * np.array(
        [
            [d1, numbers["s12"], numbers["s13"], numbers["t1"]],
            [0.0, d2, numbers["s23"], numbers["t2"]],
            [0.0, 0.0, d3, numbers["t3"]],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    return np.asarray(root @ upper @ upper.T @ root.T)


def _set_inertia(body: mujoco.MjsBody, pseudo: Floats) -> None:
    """Gives a body the mass, centre of mass and inertia of a pseudo-inertia."""
    mass = pseudo[3, 3]
    centre = pseudo[:3, 3] / mass
    second = pseudo[:3, :3] - mass * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    body.explicitinertial = True
    body.mass, body.ipos = mass, centre
    body.iquat = [1, 0, 0, 0]
    body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    body.inertia = [0.0, 0.0, 0.0]
    xx, yy, zz = np.diag(inertia)
    body.fullinertia = [xx, yy, zz, inertia[0, 1], inertia[0, 2], inertia[1, 2]]


def scale_mass(body: mujoco.MjsBody, factor: float) -> None:
    """Scales mass and inertia of a body, whether they are given or follow from its shapes."""
    body.mass *= factor
    body.inertia = np.array(body.inertia) * factor
    body.fullinertia = np.array(body.fullinertia) * factor
    for geom in body.geoms:
        geom.mass *= factor  # it is nan where the mass follows from the density
        geom.density *= factor
