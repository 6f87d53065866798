"""Scenes for the league's engine: the numbers that the Open Dynamics Engine (ODE) needs and MuJoCo does not have.

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
"""Error reduction and constraint force mixing where nothing else is set, as for joints (spark.rb; ERP is ODE's own)."""
NOT_GIVEN = -1.0
"""Marks a number that a surface does not set, so that the other surface of a contact decides it."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Contact numbers of a shape. A contact has the mean of its two shapes, or the only number that is set."""

    erp: float = NOT_GIVEN
    """Share of the depth of a contact that is taken out in a step (error reduction parameter)."""
    cfm: float = NOT_GIVEN
    """Softness of the contact: the speed with which it yields to a force [m/s per N] (constraint force mixing)."""
    slip: float = NOT_GIVEN
    """Sliding speed under a tangential force [m/s per N]; friction has no other limit."""
    bounce: float = NOT_GIVEN
    """Restitution: share of the approach speed that the contact returns, 0 to 1."""
    bounce_speed: float = NOT_GIVEN
    """Approach speed below which a contact does not bounce [m/s]."""


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
"""Numbers of state for each body: those of `sim.ode_step.Gap`."""
STOP_MARGIN = 0.02
"""Distance from a joint's limit at which its stop is checked [rad]: ODE's joints drift, which makes angles larger."""
ROBOT_BITS, ALL_BITS = 29, 0x7FFFFFFF
"""Number of robots' bits in collision masks, and a mask of all bits; bit 0 is everything that is not a robot."""
MARGINS = {ROBOT_SURFACE: 0.02, BALL_SURFACE: 0.03}
"""Distance at which pairs of shapes are checked for contact [m]: their distance in ODE depends on the drift of their
bodies, which is a few millimetres in a walk, and two centimetres in a kick."""
TOUCH_MARGIN = 1e-9
"""The same for shapes that do not drift [m]: shapes at distance zero are in contact in ODE, but not in MuJoCo."""


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
    """Whether a model is to be stepped with ODE's equations."""
    return bool(model.nuser_geom == GEOM_NUMBERS and model.ngeom and model.geom_user[0, -1] == MARK)


def gaps_of(model: mujoco.MjModel, userdata: Floats) -> Floats:
    """(..., bodies, 26) state of each body between steps (`sim.ode_step.Gap`): a view of user data."""
    return userdata[..., -STATES_OF_BODY * model.nbody :].reshape(*userdata.shape[:-1], model.nbody, STATES_OF_BODY)
