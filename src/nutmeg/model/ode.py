"""Scenes for the league's engine: what the Open Dynamics Engine (ODE) knows of a body and MuJoCo does not.

    physics = physics_profile("league")         # its `ode` is set
    scene = assemble(SceneSettings(..., physics="league"))
    is_ode(scene.model)                         # True: `sim.ode_step` steps it as ODE would

The 3D simulation league's server steps its world with ODE. `sim.ode_step` solves ODE's equations with MuJoCo's parts;
here a scene gets the numbers that they need, as user data of its bodies and shapes: surfaces, drag, and a mark by which
the model is known. The ground becomes an infinite plane, as it is there.

All numbers are those of rcssserver3d 0.7.3: spark.rb (world), rsg/agent/nao/contactjointhandler.rsg, hingejoint.rsg,
dragcontroller.rsg and soccer.rsg, rsg/agent/ball.rsg, and odecontactjointhandler.cpp for what these leave open.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import mujoco

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.model.robot import Drive

WORLD_ERP, WORLD_CFM = 0.2, 1e-5
"""Of everything that has no number of its own, joints among it (spark.rb; the first is ODE's own)."""
NOT_GIVEN = -1.0
"""A number of a surface that is left to the other surface."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """How a shape meets others. Of two shapes the mean counts, or the only number that is given."""

    erp: float = NOT_GIVEN
    """Share of the depth of a contact that is taken out in a step (error reduction parameter)."""
    cfm: float = NOT_GIVEN
    """How fast the contact gives way [m/s for each N] (constraint force mixing)."""
    slip: float = NOT_GIVEN
    """How fast it slides [m/s for each N]; friction has no other limit."""
    bounce: float = NOT_GIVEN
    """Share of the speed that is given back."""
    bounce_speed: float = NOT_GIVEN
    """Slower contacts do not bounce [m/s]."""


ROBOT_SURFACE = Surface(erp=0.6, cfm=1e-4, slip=5e-3)
GROUND_SURFACE = Surface(erp=0.2, slip=5e-3)
BALL_SURFACE = Surface(erp=0.5, cfm=0.05, slip=0.6, bounce=0.8, bounce_speed=0.8)
GOAL_SURFACE = Surface(bounce=0.8, bounce_speed=2.0)

ROBOT_DRAG = (0.01, 0.01)
"""Force for each m/s and torque for each rad/s of every body of a robot [N s/m, N m s]."""
BALL_DRAG = (0.01, 5e-5)

MARK = 0.7301
"""The last number of the user data of each shape, and a number of each drive, by which they are known."""
GEOM_NUMBERS = 6
"""User data of a shape: the fields of `Surface`, then `MARK`."""
BODY_NUMBERS = 2
"""User data of a body: its drag."""
DRIVE_MARK = 1
"""Place of `MARK` in the gain of a drive."""
STATES_OF_BODY = 26
"""What a step remembers of a body: the numbers of `sim.ode_step.Gap`."""
STOP_MARGIN = 0.02
"""Stops are looked at when a joint is this near [rad]: ODE measures angles of joints that drift, which are larger."""
ROBOT_BITS, ALL_BITS = 29, 0x7FFFFFFF
"""Bits of the masks that say what may touch what; the first is everything that is no robot."""
MARGINS = {ROBOT_SURFACE: 0.02, BALL_SURFACE: 0.03}
"""Shapes are looked at when they are this near [m]: their true distance depends on the drift of their bodies, which is
a few millimetres in a walk, and two centimetres in a kick."""
TOUCH_MARGIN = 1e-9
"""The same for shapes without gaps [m]: to touch is to be in contact there, and not here."""


def prepare_ode(spec: mujoco.MjSpec) -> None:
    """Gives a finished scene the numbers of the league's engine."""
    spec.nuser_geom, spec.nuser_body = GEOM_NUMBERS, BODY_NUMBERS
    bits: dict[str, int] = {}
    for geom in spec.geoms:
        surface = _surface(geom)
        if surface is ROBOT_SURFACE and (geom.contype or geom.conaffinity):
            bit = bits.setdefault(geom.parent.name.split("/")[0], 1 + len(bits) % ROBOT_BITS)
            geom.contype, geom.conaffinity = masks_of(bit)
        geom.userdata = [*astuple(surface), MARK]
        # One priority, friction and dimension for all: `ode_step` replaces the rows, whose number they decide.
        geom.priority, geom.condim, geom.friction = 1, 4, [1.0, 1.0, 1.0]
        geom.margin, geom.gap = MARGINS.get(surface, TOUCH_MARGIN), 0.0
        if surface is GROUND_SURFACE:
            geom.type, geom.pos = mujoco.mjtGeom.mjGEOM_PLANE, [0, 0, 0]
    for body in spec.bodies:
        if body.name == "ball":
            body.userdata, body.sleep = list(BALL_DRAG), mujoco.mjtSleepPolicy.mjSLEEP_NEVER
            for joint in body.joints:
                joint.damping[0] = 0.0
        elif body.name != "world" and not body.name.startswith("field/"):
            body.userdata = list(ROBOT_DRAG)
    spec.nuserdata += 1 + len(spec.actuators) + STATES_OF_BODY * len(spec.bodies)


def masks_of(bit: int) -> tuple[int, int]:
    """The masks (contype, conaffinity) of a robot with a bit of its own, 1 to 30; bit 0 is everything that is no robot.

    No part of a robot touches another (`disableInnerCollision` in nao.rsg): a robot leaves out its bit.
    """
    return 1 << bit, ALL_BITS & ~(1 << bit)


def _surface(geom: mujoco.MjsGeom) -> Surface:
    if geom.name == "field/carpet":
        return GROUND_SURFACE
    if geom.name.startswith("field/"):
        return GOAL_SURFACE
    return BALL_SURFACE if geom.name.startswith("ball/") else ROBOT_SURFACE


def add_ode_drive(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, drive: Drive) -> None:
    """A velocity drive as ODE has it: a row of its own that holds the joint's speed with at most the drive's torque.

    MuJoCo's row for it is that of dry friction; `ode_step` gives it the speed. The actuator only carries the command.
    """
    joint.frictionloss, joint.margin = drive.torque, STOP_MARGIN
    motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.gainprm[0], motor.gainprm[DRIVE_MARK] = 0.0, MARK
    motor.ctrlrange = [-drive.speed, drive.speed]


def is_ode(model: mujoco.MjModel) -> bool:
    """Whether a model is to be stepped as ODE would."""
    return bool(model.nuser_geom == GEOM_NUMBERS and model.ngeom and model.geom_user[0, -1] == MARK)


def gaps_of(model: mujoco.MjModel, userdata: Floats) -> Floats:
    """(..., bodies, 26) what a step remembers of each body: a view of user data."""
    return userdata[..., -STATES_OF_BODY * model.nbody :].reshape(*userdata.shape[:-1], model.nbody, STATES_OF_BODY)
