"""MoToFlex's motor and gear exactly as printed (algorithms 1 and 2 of the paper): the numbers of each motor.

The algorithms themselves run in `sim.paper_motors`. Here each motor becomes an actuator whose activation is
the torque T_j that the algorithms compute (`dyntype="user"`, gain 1), with its numbers in the actuator's own
arrays, where they belong to the model, are exported with it and can differ from world to world:

| `actuator_dynprm` | algorithm 1                               | `actuator_biasprm` | algorithm 2            |
|-------------------|-------------------------------------------|--------------------|------------------------|
| `SIGNATURE`       | tells these motors from anybody else's    | `RATIO`            | σ                      |
| `KP`, `KI`, `KD`  | firmware [V/rad, V/(rad s), V s/rad]      | `SPRING`           | D_g [N m/rad]          |
| `LIMIT`           | U_bat, the share the firmware may use [V] | `FRICTION`         | B_g [N m s/rad]        |
| `LAG`             | L/R [s]                                   | `PLAY`             | l_h [rad]              |
| `RESISTANCE`      | R, the gear's losses included [ohm]       | `MASS`             | m_g [kg m²]            |
| `STIFFNESS`       | S, 0..1                                   | `STEPS`            | Δts/Δtg; 0: rigid gear |
| `CONSTANT`        | K_t [N m/A]                               |                    |                        |
| `BRAKE`           | B_v + K_e [N m s/rad], of the motor       |                    |                        |

In line 6 the paper adds K_e to the friction B_v, so it means the braking torque of back-EMF for each rad/s,
which is K_t²/R of a motor with the constant K_t. What the paper lacks (Stribeck friction, warm windings, load
friction) is left out; the delay of a command is not the motor's and is kept. Dry friction is the joint's
`frictionloss`. The rotor turns along with the joint, as part of its `armature`; the "small mass" m_g that moves
within the hull is a share of its inertia (`gear_mass`). Its friction is a share of the gear's damping
(`gear_friction`), since B_g, as printed, only holds the mass back: it takes l_h B_g / T'_M to cross the play, while
a native gear's damping acts between motor and joint. The paper does not print its values. With the whole rotor
and the whole damping a Nao V6 diverges while it stands, with a tenth of the rotor its free legs chatter; the
defaults do not chatter, neither standing nor in the air, at 1 and at 4 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.drives import delay_commands, limit_commands
from nutmeg.model.actuation.gear import SMALLEST_ROTOR

if TYPE_CHECKING:
    from nutmeg.model.actuation.settings import Actuation, Gear, Servo

SIGNATURE, KP, KI, KD, LIMIT, LAG, RESISTANCE, STIFFNESS, CONSTANT, BRAKE = range(10)
"""Places of the motor's numbers in `actuator_dynprm`."""
RATIO, SPRING, FRICTION, PLAY, MASS, STEPS = range(6)
"""Places of the gear's numbers in `actuator_biasprm`."""
MARK = 20110.0
"""The number at `SIGNATURE`."""
STATES = 4
"""Numbers that a motor remembers: summed error, U_R, p_m and its speed."""


def add_printed_motor(
    spec: mujoco.MjSpec, joint: mujoco.MjsJoint, servo: Servo, gear: Gear | None, actuation: Actuation, timestep: float
) -> None:
    """Gives a joint a motor as printed.

    Args:
        spec: the robot's specification.
        joint: the joint, after which the motor is named.
        servo: the motor and its firmware.
        gear: play and spring; None for a rigid gear.
        actuation: the robot's actuation, for its battery and the step, mass and friction of printed gears.
        timestep: Δts, the step of the physics [s].
    """
    rotor = max(servo.rotor_inertia * servo.ratio**2, SMALLEST_ROTOR if gear else 0.0)
    motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.dyntype, motor.actdim = mujoco.mjtDyn.mjDYN_USER, 1
    motor.gainprm[0] = 1.0
    numbers = _motor_numbers(servo, actuation.battery.voltage)
    motor.dynprm[:] = numbers
    motor.biasprm[RATIO] = servo.ratio
    if gear is not None:
        mass, friction = actuation.gear_mass * rotor, actuation.gear_friction * gear.damping
        steps = math.ceil(timestep / actuation.gear_step - 1e-9)
        motor.biasprm[: STEPS + 1] = [servo.ratio, gear.stiffness, friction, gear.play, mass, steps]
        _check_stable(joint.name, gear.stiffness, friction, mass, timestep / steps)
    limit_commands(spec, motor, joint)
    delay_commands(motor, servo.delay, timestep)
    joint.armature, joint.frictionloss = rotor, servo.coulomb


def userdata_size(spec: mujoco.MjSpec) -> int:
    """Size of `mjData.userdata` for the printed motors of a scene; 0 without such motors."""
    return userdata_of(sum(is_printed(a.dyntype, a.dynprm[SIGNATURE]) for a in spec.actuators))


def userdata_of(motors: int) -> int:
    """Numbers in `userdata` for this many motors: states before and after the present step, and the step's time."""
    return 1 + 2 * STATES * motors if motors else 0


def is_printed(dyntype: int, signature: float) -> bool:
    """Whether an actuator is a motor as printed, by its `dyntype` and the first number of its `dynprm`."""
    return dyntype == mujoco.mjtDyn.mjDYN_USER and signature == MARK


def _motor_numbers(servo: Servo, voltage: float) -> list[float]:
    resistance = servo.resistance(voltage)
    constant = servo.constant(voltage) / servo.ratio
    brake = servo.viscous / servo.ratio**2 + constant**2 / resistance
    limit, lag = servo.output_limit * voltage, servo.electrical_time(voltage)
    return [MARK, servo.p, servo.i, servo.d, limit, lag, resistance, 1.0, constant, brake]


def _check_stable(joint: str, stiffness: float, friction: float, mass: float, step: float) -> None:
    """Refuses a gear whose explicit sums (algorithm 2, lines 11 and 12) grow without bound."""
    least, most = stiffness * step, 2 * mass / step + stiffness * step / 2
    if not least < friction < most:
        raise ModelError(
            f"the gear of joint {joint!r} is unstable as printed: with a mass of {mass:.3g} kg m², steps of "
            f"{step:.3g} s and {stiffness:g} N m/rad its friction must be between {least:.3g} and "
            f"{most:.3g} N m s/rad; it is {friction:.3g}. Change gear_step, gear_mass, gear_friction "
            f"or the damping of the gear."
        )
