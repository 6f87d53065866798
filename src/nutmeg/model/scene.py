"""A scene: pitch, ball, robots and objects in one compiled model, with tables of names.

    scene = assemble(SceneSettings(
        field="spl2025",
        robots=(Placement(robot="nao-v6", name="red1", pos=(-1, 0)), Placement(robot="ant")),
    ))
    scene.model                      # the compiled MuJoCo model
    scene.robot("red1").joints       # names, in the order of every array of that robot

Names in the model are `<robot>/<part>`: `red1/LKneePitch`, `red1/root`, `ball/root`. Everything is compiled
once, however many robots there are. A robot that may join later is placed with `parked=True`: it hangs,
welded and asleep, beyond the end of the carpet until `activate` (see `sim.worlds.RobotWorlds`) puts it on the pitch.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import FileError, ModelError, UnknownNameError
from nutmeg.model import parameters
from nutmeg.model.actuation import Actuation, load_actuation
from nutmeg.model.actuation.printed import userdata_size
from nutmeg.model.ball import add_ball, load_ball
from nutmeg.model.build import GREY, ROOT_JOINT, build
from nutmeg.model.field import add_field, load_field
from nutmeg.model.geometry import yaw_quaternion
from nutmeg.model.model_file import MESH_PREFIX
from nutmeg.model.ode import prepare_ode
from nutmeg.model.parameters import AdjustedRobot, Adjustment
from nutmeg.model.physics import PROFILES, Physics, physics_profile, profile_for_servos
from nutmeg.model.posing import standing
from nutmeg.model.robot import Colour, RobotSettings, load_robot
from nutmeg.model.tables import RobotTable, robot_table

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


# ----------------------------------------------------------------------------------------------------
# Users' objects in a scene: ramps, walls, referees' hands, anything that MJCF can describe.
#
# The file is a complete MJCF model; all that lies in its `worldbody` is moved to `pos`, turned by `heading`, and its
# names get the prefix `<name>/`. A body with a free joint stays free. Its options (step, gravity) are left out: those
# of the scene hold.


@dataclass(frozen=True, kw_only=True)
class ObjectSettings:
    """An object and its place: `ObjectSettings(name="ramp", file=Path("ramp.xml"), pos=(1.0, 0.0, 0.0))`."""

    name: str
    """Prefix of all its names; each object of a scene has its own."""
    file: Path
    """The MJCF file that describes it."""
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position of the file's origin [m]."""
    heading: float = 0.0
    """Rotation about the vertical, counter-clockwise from above [rad]."""
    mass: float | None = None
    """Total mass to which all its bodies are scaled [kg]; None leaves them as in the file."""

    def __post_init__(self) -> None:
        """Refuses empty names, names with a slash, and masses that are not positive."""
        if not self.name or "/" in self.name:
            raise ValueError(f"the object's name is {self.name!r}, but must be a word without '/'.")
        if self.mass is not None and self.mass <= 0:
            raise ValueError(f"mass is {self.mass}, but must be above 0.")


def add_object(spec: mujoco.MjSpec, settings: ObjectSettings) -> None:
    """Attach the object to the world; raises FileError where the file is missing or not a model."""
    prefix = f"{settings.name}/"
    if any(body.name.startswith(prefix) for body in spec.bodies) or any(
        geom.name.startswith(prefix) for geom in spec.geoms
    ):
        raise ModelError(f"the scene already has something called {settings.name!r}. Give each object its own name.")
    child, total = _read_object(settings.file)
    if settings.mass is not None:
        if total <= 0:
            raise FileError(settings.file, f"has no moving mass, so it cannot be scaled to {settings.mass} kg.")
        for body in child.bodies:
            parameters.scale_mass(body, settings.mass / total)
    half = settings.heading / 2
    frame = spec.worldbody.add_frame(pos=list(settings.pos), quat=[math.cos(half), 0, 0, math.sin(half)])
    try:
        spec.attach(child, prefix=prefix, frame=frame)
    except ValueError as error:
        raise ModelError(f"{settings.file} cannot be put into the scene: {error}") from None


def _read_object(path: Path) -> tuple[mujoco.MjSpec, float]:
    """The model in a file, after a check that it compiles, and its mass [kg]."""
    if not path.is_file():
        raise FileError(path, "there is no such file. An object needs an MJCF file (.xml).")
    try:
        model = mujoco.MjSpec.from_file(str(path)).compile()
        return mujoco.MjSpec.from_file(str(path)), float(model.body_mass.sum())
    except ValueError as error:
        raise FileError(path, f"MuJoCo cannot build this object: {error}") from None


TEAM_COLOURS: dict[str, Colour] = {
    "blue": (0.10, 0.35, 0.85),
    "red": (0.85, 0.15, 0.12),
    "yellow": (0.95, 0.78, 0.10),
    "pink": (0.95, 0.35, 0.62),
    "green": (0.15, 0.62, 0.30),
    "grey": GREY,
}
LONGEST_DELAY = 0.5
"""Largest delay of a robot's motors [s]."""
PARKING_GAP = 1.0
"""Distance between parked robots and to the carpet's end [m]."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A robot in a scene."""

    robot: str
    """Name of a built-in robot, or path of a user's."""
    name: str = ""
    """Its name in the scene; `nao-v6-1` and so on if empty."""
    pos: tuple[float, float] = (0.0, 0.0)
    """Position of its root on the ground [m]."""
    heading: float = 0.0
    """Direction it faces, 0 along x [rad]."""
    pose: str = "ready"
    """A pose of the robot."""
    height: float = 0.0
    """Height of its lowest point above the ground [m]."""
    type: str = ""
    """One of the robot's types."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Body parameters that differ from the type's."""
    team: str = "grey"
    """Team colour by name."""
    actuation: str | Actuation = "ideal"
    """Its actuation: ideal, servo, motoflex, motoflex-paper, the path of a TOML file, or numbers."""
    parked: bool = False
    """Whether it starts beside the pitch, out of the game."""
    held: bool = False
    """Whether its root is fixed where it starts, as on a stand."""
    delay: float = 0.0
    """Time from a command to its motors, on top of their own delay; part of the exported model [s]."""
    adjustments: tuple[Adjustment, ...] = ()
    """Numbers that differ from the files (see `model.parameters`); `delay` is applied by `sim.rollout`, not here."""


@dataclass(frozen=True, kw_only=True)
class SceneSettings:
    """The contents of a world."""

    field: str = "floor"
    """Name of a field, or path of a user's; `none` for empty space, `floor` for a plain floor."""
    robots: tuple[Placement, ...] = ()
    ball: str = ""
    """Name of a ball; empty for the field's own, `none` for no ball."""
    ball_pos: tuple[float, float] = (0.0, 0.0)
    objects: tuple[ObjectSettings, ...] = ()
    physics: str | Physics = ""
    """A physics profile, or numbers; empty for the robots' own profile (`standard` if they differ)."""
    timestep: float = 0.0
    """Length of a physics step [s]; 0 for the profile's."""
    visuals: bool = True
    """Whether to include geoms that do not collide; a world steps faster without them."""


@dataclass(frozen=True)
class Scene:
    """A compiled world and its tables."""

    settings: SceneSettings
    physics: Physics
    xml: str
    """The scene as plain MJCF, with the keyframe `start`; the model is compiled from exactly this text."""
    meshes: Mapping[str, bytes]
    """The mesh files that the text names."""
    model: mujoco.MjModel
    robots: tuple[RobotTable, ...]
    placements: tuple[Placement, ...]
    """The settings' robots, each with its name filled in; adjustments of parameters and actuation are worked into
    `parameters` and `actuation`, the others are kept."""
    start: Floats
    """qpos at the start, (nq,)."""
    commands: Floats
    """Controls that hold the start pose, (nu,)."""
    setpoints: Floats
    """Activations at the start: the set-points of position drives, (na,)."""
    history: Floats
    """Past commands of delayed motors at the start, (nhistory,)."""
    has_ball: bool

    def robot(self, name: str) -> RobotTable:
        """The table of a robot by its name in the scene."""
        for table in self.robots:
            if table.name == name:
                return table
        raise UnknownNameError("robot in this scene", name, [t.name for t in self.robots])

    @property
    def sleeps(self) -> bool:
        """Whether robots can be put to sleep: some are parked at the start."""
        return bool(self.model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP)

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return float(self.model.opt.timestep)


def assemble(settings: SceneSettings) -> Scene:
    """Builds and compiles a scene."""
    placements = _named(settings.robots)
    robots = [load_robot(p.robot) for p in placements]
    physics = _physics(settings, robots)
    plans = [_plan(p, robot, physics) for p, robot in zip(placements, robots, strict=True)]
    spec = mujoco.MjSpec()
    spec.modelname = "nutmeg"
    spec.compiler.degree = False
    physics.apply(spec)
    pitch = load_field(settings.field)
    add_field(spec, pitch, visuals=settings.visuals)
    poses = {}
    for index, plan in enumerate(plans):
        parking = (-(pitch.length / 2 + pitch.border + PARKING_GAP * (1 + index // 11)), (index % 11 - 5) * PARKING_GAP)
        poses[plan.placement.name] = _add_robot(spec, plan, physics, parking, visuals=settings.visuals)
    if any(p.parked for p in placements):
        _allow_sleep(spec, placements)
    for thing in settings.objects:
        add_object(spec, thing)
    ball_name = settings.ball or pitch.ball or "none"
    ball = None if ball_name == "none" else load_ball(ball_name)
    of_ball = [a for a in _of_world(settings.robots) if a.target.startswith("ball.")]
    if of_ball and ball is None:
        raise ModelError(f"{of_ball[0].target} has nothing to set: this scene has no ball.")
    for one in of_ball:
        if physics.ode and one.target not in ("ball.mass", "ball.radius"):
            raise ModelError(f"{one.target} has no effect in this physics; set ball.mass or ball.radius.")
    if ball is not None:
        ball = parameters.adjusted_ball(ball, of_ball)
        add_ball(spec, ball, (*settings.ball_pos, ball.radius), visuals=settings.visuals)
    if physics.ode:
        prepare_ode(spec)
    return _finished(settings, physics, spec, plans, poses)


def _named(placements: tuple[Placement, ...]) -> list[Placement]:
    """The placements with every name filled in and checked to be unique."""
    named: list[Placement] = []
    for placement in placements:
        stem = placement.name or load_robot(placement.robot).name
        taken = {p.name for p in named}
        name = stem if placement.name else next(n for i in range(1, 999) if (n := f"{stem}-{i}") not in taken)
        if name in taken or not name.replace("-", "").replace("_", "").isalnum():
            reason = "is taken already" if name in taken else "may hold only letters, digits, - and _"
            raise ModelError(f"robot name {name!r} {reason}.")
        named.append(dataclasses.replace(placement, name=name))
    return named


def _physics(settings: SceneSettings, robots: list[RobotSettings]) -> Physics:
    physics = settings.physics
    if not isinstance(physics, Physics):
        wanted = {
            r.physics if placement.actuation == "ideal" else profile_for_servos(r.physics)
            for r, placement in zip(robots, settings.robots, strict=True)
        }
        physics = physics_profile(physics or (wanted.pop() if len(wanted) == 1 else "standard"))
    if settings.timestep:
        physics = dataclasses.replace(physics, timestep=settings.timestep)
    physics = parameters.adjusted_physics(physics, _of_world(settings.robots))
    if not 1e-5 <= physics.timestep <= 0.05:
        raise ModelError(f"timestep is {physics.timestep} s; allowed is 0.00001 to 0.05.")
    return physics


def _of_world(placements: tuple[Placement, ...]) -> list[Adjustment]:
    """The adjustments that concern the whole world, once each; robots that disagree are an error."""
    first: dict[str, tuple[Adjustment, ...]] = {}
    for placement in placements:
        for target in dict.fromkeys(
            a.target for a in placement.adjustments if a.target.startswith(("physics.", "ball."))
        ):
            mine = tuple(a for a in placement.adjustments if a.target == target)
            if first.setdefault(target, mine) != mine:
                raise ModelError(f"two robots of this scene set {target} differently; it is one for the whole world.")
    return [adjustment for mine in first.values() for adjustment in mine]


@dataclass(frozen=True)
class _Plan:
    """A robot about to be built."""

    placement: Placement
    """The placement with its name, and with the adjustments of parameters and actuation worked in."""
    original: RobotSettings
    adjusted: AdjustedRobot


def _plan(placement: Placement, robot: RobotSettings, physics: Physics) -> _Plan:
    if placement.team not in TEAM_COLOURS:
        raise UnknownNameError("team colour", placement.team, TEAM_COLOURS)
    if not 0 <= placement.delay <= LONGEST_DELAY:
        raise ModelError(f"the delay of {placement.name} is {placement.delay} s; allowed is 0 to {LONGEST_DELAY:g}.")
    if placement.parked and placement.held:
        raise ModelError(f"{placement.name} is parked and held; a robot on a stand cannot come to the pitch.")
    actuation = load_actuation(robot, placement.actuation)
    adjusted = parameters.adjusted_robot(
        robot,
        placement.adjustments,
        kind=placement.type,
        parameters=placement.parameters,
        actuation=actuation,
        physics=physics,
    )
    worked_in = dataclasses.replace(
        placement,
        parameters=adjusted.parameters,
        actuation=placement.actuation if adjusted.actuation is actuation else adjusted.actuation or "ideal",
        adjustments=tuple(
            a for a in placement.adjustments if parameters.parse_target(a.target).family not in _WORKED_IN
        ),
    )
    return _Plan(worked_in, robot, adjusted)


_WORKED_IN = ("robot", "battery", "servo", "gear", "flex")
"""Families of adjustments that are in a placement's parameters and actuation once it is planned."""


def _add_robot(
    spec: mujoco.MjSpec, plan: _Plan, physics: Physics, parking: tuple[float, float], *, visuals: bool
) -> Floats:
    """Attaches a robot and returns its start: the root's pose (7,) followed by its joint angles."""
    placement, adjusted = plan.placement, plan.adjusted
    pose = standing(plan.original, placement.pose, kind=placement.type, parameters=adjusted.parameters, visuals=False)
    child = build(
        adjusted.robot,
        kind=placement.type,
        parameters=adjusted.parameters,
        team=TEAM_COLOURS[placement.team],
        visuals=visuals,
        physics=physics,
        actuation=adjusted.actuation,
    )
    parameters.adjust_bodies(child, adjusted.bodies)
    parameters.adjust_joints(child, adjusted.joints)
    if placement.held:
        _fix_root(child)
    if placement.delay:
        _delay_motors(child, placement.delay, physics.timestep)
    place = (*(parking if placement.parked else placement.pos), pose.height + placement.height)
    facing = yaw_quaternion(0.0 if placement.parked else placement.heading)
    frame = spec.worldbody.add_frame(pos=place, quat=facing)
    spec.attach(child, frame=frame, prefix=f"{placement.name}/")
    _add_parking(spec, placement, (*parking, pose.height + placement.height))
    return np.concatenate([place, facing, pose.angles])


def _fix_root(child: mujoco.MjSpec) -> None:
    """Removes a robot's free joint; its root is fixed where the free joint would have started."""
    root = child.joint(ROOT_JOINT)
    if root is not None:
        body = root.parent
        body.pos, body.quat, body.alt.type = [0, 0, 0], [1, 0, 0, 0], mujoco.mjtOrientation.mjORIENTATION_QUAT
        child.delete(root)
        _pass_root(child, body)


def _pass_root(child: mujoco.MjSpec, root: mujoco.MjsBody) -> None:
    """Lets a held root and the bodies that move on it pass each other, as they do while it is free.

    MuJoCo lets neighbours pass, but not those of a body that cannot move: hips would be pushed out of their pelvis.
    """
    fixed: list[str] = []
    moving: list[str] = []
    left = [root]
    while left:
        body = left.pop()
        (moving if body.joints else fixed).append(body.name)
        left += [] if body.joints else body.bodies
    for first, second in itertools.product(fixed, moving):
        child.add_exclude(bodyname1=first, bodyname2=second)


def _delay_motors(child: mujoco.MjSpec, delay: float, timestep: float) -> None:
    """Delays the commands of all motors."""
    for motor in child.actuators:
        motor.delay += delay
        motor.nsample = max(1, math.ceil(motor.delay / timestep - 1e-9))


def _add_parking(spec: mujoco.MjSpec, placement: Placement, place: tuple[float, float, float]) -> None:
    """Adds a weld that holds the robot beside the pitch; it is switched off while the robot plays."""
    root = spec.joint(f"{placement.name}/{ROOT_JOINT}")
    if root is None:
        return
    body = root.parent.name
    weld = spec.add_equality(
        name=f"{placement.name}/parking", type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY
    )
    weld.name1, weld.name2, weld.active = "world", body, placement.parked
    weld.data[:11] = [0, 0, 0, *place, 1, 0, 0, 0, 1]


def _allow_sleep(spec: mujoco.MjSpec, placements: list[Placement]) -> None:
    """Lets the engine skip robots at rest: parked ones cost next to nothing, playing ones are kept awake."""
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    for placement in placements:
        root = spec.joint(f"{placement.name}/root")
        if root is not None:
            root.parent.sleep = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED


def _finished(
    settings: SceneSettings, physics: Physics, spec: mujoco.MjSpec, plans: list[_Plan], poses: dict[str, Floats]
) -> Scene:
    """Compiles the scene by way of its MJCF text, so that what runs here is what is exported, to the last bit."""
    spec.nuserdata = max(spec.nuserdata, userdata_size(spec))
    try:
        draft = spec.compile()
        # Attaching a robot puts its name before that of its mesh files, whose names are unique already.
        text = re.sub(f'file="[^"]*/({MESH_PREFIX}[^"/]*)"', r'file="\1"', str(spec.to_xml()))
        meshes = {name.rpartition("/")[2]: data for name, data in spec.assets.items()}
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot build this scene: {' '.join(str(error).split())}") from None
    tables = tuple(robot_table(draft, p.placement.name, p.adjusted.robot, p.placement.type) for p in plans)
    start = draft.qpos0.copy()
    commands, setpoints = np.zeros(draft.nu), np.zeros(draft.na)
    for table in tables:
        pose = poses[table.name]
        if table.root >= 0:
            start[table.root : table.root + 7] = pose[:7]
        start[table.angles] = pose[7:]
        start[table.hidden[:, 0]] = table.at_rest(pose[7:])
        held, position = start[table.angles[table.motor_joints]], np.array(table.drives) == "position"
        commands[table.commands[position]] = held[position]
        moving = position & (table.setpoints >= 0)
        setpoints[table.setpoints[moving]] = held[moving]
    text = text.replace("</mujoco>", _keyframe(start, commands, setpoints) + "</mujoco>")
    model = mujoco.MjModel.from_xml_string(text, meshes)
    check_inertia_kept(draft, model)
    key = model.key("start")
    return Scene(
        settings=settings,
        physics=physics,
        xml=text,
        meshes=meshes,
        model=model,
        robots=tables,
        placements=tuple(p.placement for p in plans),
        start=key.qpos.copy(),
        commands=key.ctrl.copy(),
        setpoints=key.act.copy(),
        history=settled_history(model, key.ctrl),
        has_ball=mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "ball") >= 0,
    )


def check_inertia_kept(built: mujoco.MjModel, written: mujoco.MjModel) -> None:
    """Refuses a scene whose text has other masses or inertias than the model it was written from.

    MuJoCo's writer may leave out what a class of defaults says about geoms, such as `mass="0"` of visual meshes.
    """
    pairs = ((built.body_mass, written.body_mass, "kg"), (built.body_inertia, written.body_inertia, "kg m²"))
    for ours, theirs, unit in pairs:
        # Text has six to nine digits; where terms of a body's inertia nearly cancel, fewer of them are exact.
        wrong = np.argwhere(~np.isclose(ours, theirs, rtol=1e-3, atol=1e-9))
        if len(wrong):
            body = int(wrong[0][0])
            raise ModelError(
                f"body {built.body(body).name!r} has {ours[tuple(wrong[0])]:.6g} {unit}, but "
                f"{theirs[tuple(wrong[0])]:.6g} once its model is written as MJCF: MuJoCo's writer lost something. "
                "Write mass and inertia of this body into an <inertial> element."
            )


def settled_history(model: mujoco.MjModel, commands: Floats) -> Floats:
    """Past commands of delayed motors when commands (nu,) have been the same for a while, (nhistory,)."""
    if not model.nhistory:
        return np.zeros(0)
    data = mujoco.MjData(model)
    for motor in np.flatnonzero(model.actuator_history[:, 0] > 0):
        held = np.full(int(model.actuator_history[motor, 0]), commands[model.actuator_ctrladr[motor]])
        mujoco.mj_initCtrlHistory(model, data, int(motor), None, held)
    return np.array(data.history)


def _keyframe(start: Floats, commands: Floats, setpoints: Floats) -> str:
    """The start as MJCF."""
    numbers = {"qpos": start, "ctrl": commands, "act": setpoints}
    written = (f'{name}="{" ".join(f"{v:.9g}" for v in values)}"' for name, values in numbers.items() if len(values))
    return f'\n  <keyframe>\n    <key name="start" {" ".join(written)}/>\n  </keyframe>\n'


__all__ = ["PROFILES", "TEAM_COLOURS", "Placement", "Scene", "SceneSettings", "assemble"]
