"""Ideal actuation: drives that follow their command as well as a torque and a speed limit allow.

All kinds are native MuJoCo, so that an exported model moves the same without Nutmeg, except where the physics is that
of the league's engine (`ode`), which has a velocity drive of its own (see `model.ode`):

- a *position* drive is a `pid` actuator with proportional and derivative gain whose set-point moves no faster
  than the speed limit (`slewmax`) and whose force is clamped to the torque limit;
- a *velocity* drive is a velocity constraint with a torque limit, as robot simulators of the ODE family have
  it. A fixed tendon measures the joint's speed minus that of a separate heavy rotor, and the tendon's dry
  friction, as large as the torque limit, holds the difference at zero. The rotor has inertia J and a velocity
  actuator of gain J/dt, so that within one step it moves exactly at the commanded speed; its reaction is
  negligible because J is large. A plain velocity servo with a clamped force is unstable with light limbs;
- an *impedance* drive is the motor of today's humanoids (Booster, Unitree): its torque is kp (q* - q) + kd (dq* - dq) +
  tau, clamped. As built, it is a position servo with the gains of its file. A controller that commands all five numbers
  writes the gains into the compiled model before a step: gain 1, bias (0, -kp, -kd) and the command kp q* + kd dq* +
  tau, which also covers kp = 0 (see `match.worlds.mj.kernels.drive`). The engine needs only one actuator a joint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.settings import hinges, matching_names
from nutmeg.model.ode import add_ode_drive

if TYPE_CHECKING:
    from typing import Any

    from nutmeg.model.physics import Physics
    from nutmeg.model.robot import Drive, RobotSettings

POSITION_INPUT = 1
"""`ctrlspec` of a pid actuator with a position set-point alone."""
HARD_FRICTION_IMPEDANCE = (0.999, 0.999, 0.001, 0.5, 2.0)
"""Impedance of dry friction: with the engine's own (0.9) a joint at rest creeps through it by several mrad/s."""
ROTOR_SUFFIX = ".rotor"
"""Suffix of the joint and body of a velocity drive's rotor."""
ROTOR_INERTIA = 1e4
"""Inertia of that rotor [kg m²]: 10 N m change its speed by 2e-5 rad/s in a 20 ms step."""


def add_drives(spec: mujoco.MjSpec, robot: RobotSettings, physics: Physics) -> None:
    """Gives every joint that a drive names its ideal actuator."""
    joints = hinges(spec)
    followers = {s.follower for s in robot.shared}
    motors = {a.target: a.name for a in spec.actuators}
    for joint, drive in drive_of_each_joint(robot, joints).items():
        if joint in motors:
            raise ModelError(
                f"joint {joint!r} has the actuator {motors[joint]!r} in the model file already; "
                f"take it out there, or take the joint out of the drives."
            )
        joints[joint].armature = drive.armature
        joints[joint].frictionloss = drive.friction
        joints[joint].damping[0] = drive.viscous_friction
        if joint in followers:
            continue
        if drive.kind == "position":
            _add_position_drive(spec, joints[joint], drive)
        elif drive.kind == "impedance":
            _add_impedance_drive(spec, joints[joint], drive)
        else:
            _add_velocity_drive(spec, joints[joint], drive, physics)


def drive_of_each_joint(robot: RobotSettings, joints: dict[str, Any]) -> dict[str, Drive]:
    """The drive of each driven joint; a drive that only some types have goes before one that all have."""
    driven: dict[str, str] = {}
    for name, drive in robot.drives.items():
        for joint in matching_names(drive.joints, joints, "joint", f"drive {name!r} of {robot.name}"):
            rival = driven.get(joint)
            if rival is not None and bool(drive.only) == bool(robot.drives[rival].only):
                raise ModelError(f"joint {joint!r} is driven by {rival!r} and by {name!r}.")
            if rival is None or drive.only:
                driven[joint] = name
    return {joint: robot.drives[name] for joint, name in driven.items()}


def add_rotor(joint: mujoco.MjsJoint, suffix: str, armature: float) -> mujoco.MjsJoint:
    """Adds a rotor beside a joint, and returns the hinge that it turns about.

    All its inertia is armature, so that its spin does not turn the robot. It hangs on the driven body, nearly
    massless: MuJoCo 4.0's sparse Newton solver goes wrong when a tendon with friction spans two kinematic trees.
    """
    rotor = joint.parent.add_body(name=joint.name + suffix, explicitinertial=True)
    rotor.mass, rotor.inertia, rotor.ipos, rotor.gravcomp = 1e-6, [1e-6, 1e-6, 1e-6], [0, 0, 0], 1.0
    hinge = rotor.add_joint(name=joint.name + suffix, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    hinge.armature = armature
    return hinge


def limit_commands(spec: mujoco.MjSpec, motor: mujoco.MjsActuator, joint: mujoco.MjsJoint) -> None:
    """Limits the commands of a position motor to the range of its joint."""
    if joint.range[0] < joint.range[1]:
        in_radians = math.pi / 180 if spec.compiler.degree else 1.0  # an MJCF file may give its ranges in degrees
        motor.ctrlrange = [limit * in_radians for limit in joint.range]


def delay_commands(motor: mujoco.MjsActuator, delay: float, timestep: float) -> None:
    """Lets commands reach a motor later [s]."""
    if delay:
        motor.delay, motor.nsample = delay, max(1, math.ceil(delay / timestep - 1e-9))


def _add_position_drive(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, drive: Drive) -> None:
    motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_pid(kp=drive.stiffness, kv=drive.damping, slewmax=drive.speed, ctrlspec=POSITION_INPUT)
    motor.forcerange = [-drive.torque, drive.torque]
    limit_commands(spec, motor, joint)


def _add_impedance_drive(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, drive: Drive) -> None:
    motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    motor.gainprm[0], motor.biasprm[1], motor.biasprm[2] = drive.stiffness, -drive.stiffness, -drive.damping
    motor.forcerange = [-drive.torque, drive.torque]


def _add_velocity_drive(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, drive: Drive, physics: Physics) -> None:
    if physics.ode:
        add_ode_drive(spec, joint, drive)
        return
    hinge = add_rotor(joint, ROTOR_SUFFIX, ROTOR_INERTIA)
    clutch = spec.add_tendon(name=joint.name + ".clutch", frictionloss=drive.torque)
    clutch.wrap_joint(joint.name, 1.0)
    clutch.wrap_joint(hinge.name, -1.0)
    clutch.solref_friction = [2 * physics.timestep, 1.0]
    clutch.solimp_friction = [0.9999, 0.9999, 0.001, 0.5, 2]
    motor = spec.add_actuator(name=joint.name, target=hinge.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_velocity(ROTOR_INERTIA / physics.timestep)
    motor.ctrlrange = [-drive.speed, drive.speed]
