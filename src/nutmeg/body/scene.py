"""A world put together: pitch, ball, robots and objects in one compiled model, with tables of names.

    scene = assemble(SceneSettings(
        field="spl2025",
        robots=(Placement(robot="nao-v6", name="red1", pos=(-1, 0)), Placement(robot="ant")),
    ))
    scene.model                      # the compiled MuJoCo model
    scene.robot("red1").joints       # names, in the order of every array of that robot

Names in the model are `<robot>/<part>`: `red1/LKneePitch`, `red1/root`, `ball/root`. Everything is compiled
once, however many robots there are. A robot that may join later is placed with `parked=True`: it hangs,
welded and asleep, beyond the end of the carpet until `activate` (see `engine.robots`) puts it on the pitch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.body.actuation import Actuation, load_actuation
from nutmeg.body.actuation.printed import userdata_size
from nutmeg.body.ball import add_ball, load_ball
from nutmeg.body.build import GREY, build
from nutmeg.body.catalogue import load_robot
from nutmeg.body.field import add_field, load_field
from nutmeg.body.geometry import heading
from nutmeg.body.objects import ObjectSettings, add_object
from nutmeg.body.physics import PROFILES, profile
from nutmeg.body.posing import standing
from nutmeg.body.robot import Colour, RobotSettings
from nutmeg.body.tables import RobotTable, robot_table
from nutmeg.errors import ModelError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.body.physics import Physics

TEAM_COLOURS: dict[str, Colour] = {
    "blue": (0.10, 0.35, 0.85),
    "red": (0.85, 0.15, 0.12),
    "yellow": (0.95, 0.78, 0.10),
    "pink": (0.95, 0.35, 0.62),
    "green": (0.15, 0.62, 0.30),
    "grey": GREY,
}
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
    """Where its root is above [m]."""
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
    """What drives its joints: ideal, servo, motoflex, motoflex-paper, the path of a TOML file, or numbers."""
    parked: bool = False
    """Whether it starts beside the pitch, out of the game."""


@dataclass(frozen=True, kw_only=True)
class SceneSettings:
    """What is in a world."""

    field: str = "floor"
    """Name of a field, or path of a user's; `none` for empty space, `floor` for a plain floor."""
    robots: tuple[Placement, ...] = ()
    ball: str = ""
    """Name of a ball; empty for the field's own, `none` for no ball."""
    ball_pos: tuple[float, float] = (0.0, 0.0)
    objects: tuple[ObjectSettings, ...] = ()
    physics: str = ""
    """A physics profile; empty for the robots' own (`standard` if they differ)."""
    timestep: float = 0.0
    """Length of a physics step [s]; 0 for the profile's."""
    visuals: bool = True
    """Whether to include what is only seen; a world steps faster without."""


@dataclass(frozen=True)
class Scene:
    """A compiled world and its tables."""

    settings: SceneSettings
    physics: Physics
    xml: str
    """The scene as plain MJCF, with the keyframe `start`; the model is compiled from exactly this text."""
    model: mujoco.MjModel
    robots: tuple[RobotTable, ...]
    placements: tuple[Placement, ...]
    """The settings' robots, each with its name filled in."""
    start: NDArray[np.float64]
    """qpos at the start, (nq,)."""
    commands: NDArray[np.float64]
    """Controls that hold the start pose, (nu,)."""
    setpoints: NDArray[np.float64]
    """Activations at the start: the set-points of position drives, (na,)."""
    history: NDArray[np.float64]
    """What delayed motors remember at the start, (nhistory,)."""
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
    spec = mujoco.MjSpec()
    spec.modelname = "nutmeg"
    spec.compiler.degree = False
    physics.apply(spec)
    pitch = load_field(settings.field)
    add_field(spec, pitch, visuals=settings.visuals)
    poses = {}
    for index, (placement, robot) in enumerate(zip(placements, robots, strict=True)):
        parking = (-(pitch.length / 2 + pitch.border + PARKING_GAP * (1 + index // 11)), (index % 11 - 5) * PARKING_GAP)
        poses[placement.name] = _add_robot(spec, placement, robot, physics, parking, visuals=settings.visuals)
    if any(p.parked for p in placements):
        _allow_sleep(spec, placements)
    for thing in settings.objects:
        add_object(spec, thing)
    ball_name = settings.ball or pitch.ball or "none"
    ball = None if ball_name == "none" else load_ball(ball_name)
    if ball is not None:
        add_ball(spec, ball, (*settings.ball_pos, ball.radius), visuals=settings.visuals)
    return _finished(settings, physics, spec, list(zip(placements, robots, strict=True)), poses)


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
    wanted = {r.physics for r in robots}
    name = settings.physics or (wanted.pop() if len(wanted) == 1 else "standard")
    physics = profile(name)
    if settings.timestep:
        if not 1e-5 <= settings.timestep <= 0.05:
            raise ModelError(f"timestep is {settings.timestep} s; allowed is 0.00001 to 0.05.")
        physics = dataclasses.replace(physics, timestep=settings.timestep)
    return physics


def _add_robot(
    spec: mujoco.MjSpec,
    placement: Placement,
    robot: RobotSettings,
    physics: Physics,
    parking: tuple[float, float],
    *,
    visuals: bool,
) -> NDArray[np.float64]:
    """Attaches a robot and returns its start: the root's pose (7,) followed by its joint angles."""
    if placement.team not in TEAM_COLOURS:
        raise UnknownNameError("team colour", placement.team, TEAM_COLOURS)
    pose = standing(robot, placement.pose, kind=placement.type, parameters=placement.parameters)
    child = build(
        robot,
        kind=placement.type,
        parameters=placement.parameters,
        team=TEAM_COLOURS[placement.team],
        visuals=visuals,
        physics=physics,
        actuation=load_actuation(robot, placement.actuation),
    )
    place = (*(parking if placement.parked else placement.pos), pose.height + placement.height)
    facing = heading(0.0 if placement.parked else placement.heading)
    frame = spec.worldbody.add_frame(pos=place, quat=facing)
    spec.attach(child, frame=frame, prefix=f"{placement.name}/")
    _add_parking(spec, placement, robot, (*parking, pose.height + placement.height))
    return np.concatenate([place, facing, pose.angles])


def _add_parking(
    spec: mujoco.MjSpec, placement: Placement, robot: RobotSettings, place: tuple[float, float, float]
) -> None:
    """A weld that holds the robot beside the pitch; off while it plays."""
    if robot.base == "fixed":
        return
    body = spec.joint(f"{placement.name}/root").parent.name
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
    settings: SceneSettings,
    physics: Physics,
    spec: mujoco.MjSpec,
    robots: list[tuple[Placement, RobotSettings]],
    poses: dict[str, NDArray[np.float64]],
) -> Scene:
    """Compiles the scene by way of its MJCF text, so that what runs here is what is exported, to the last bit."""
    spec.nuserdata = max(spec.nuserdata, userdata_size(spec))
    try:
        draft = spec.compile()
        text = str(spec.to_xml())
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot build this scene: {' '.join(str(error).split())}") from None
    tables = tuple(robot_table(draft, p.name, robot, p.type) for p, robot in robots)
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
    model = mujoco.MjModel.from_xml_string(text)
    key = model.key("start")
    return Scene(
        settings=settings,
        physics=physics,
        xml=text,
        model=model,
        robots=tables,
        placements=tuple(p for p, _ in robots),
        start=key.qpos.copy(),
        commands=key.ctrl.copy(),
        setpoints=key.act.copy(),
        history=_history(model, key.ctrl),
        has_ball=mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "ball") >= 0,
    )


def _history(model: mujoco.MjModel, commands: NDArray[np.float64]) -> NDArray[np.float64]:
    """What delayed motors remember when the start pose has been held for a while, (nhistory,)."""
    data = mujoco.MjData(model)
    for motor in np.flatnonzero(model.actuator_history[:, 0] > 0):
        count = int(model.actuator_history[motor, 0])
        held = np.full(count, commands[model.actuator_ctrladr[motor]])
        mujoco.mj_initCtrlHistory(model, data, int(motor), None, held)
    return np.array(data.history)


def _keyframe(start: NDArray[np.float64], commands: NDArray[np.float64], setpoints: NDArray[np.float64]) -> str:
    """The start as MJCF."""
    numbers = {"qpos": start, "ctrl": commands, "act": setpoints}
    written = (f'{name}="{" ".join(f"{v:.9g}" for v in values)}"' for name, values in numbers.items() if len(values))
    return f'\n  <keyframe>\n    <key name="start" {" ".join(written)}/>\n  </keyframe>\n'


__all__ = ["PROFILES", "TEAM_COLOURS", "Placement", "Scene", "SceneSettings", "assemble"]
