"""A servo, native in the engine: firmware, winding, back-EMF and friction as MuJoCo's `dcmotor`.

**The motor** (MoToFlex, algorithm 1). With the constant K and the resistance R as seen at the joint, the
firmware sets the voltage v and the motor gives

    v = clamp(p e + i sum(e) - d w, -U..U),      T = K (v - K w) / R,

e the error of the joint's angle and w its speed; with an inductance the current follows with the time
constant L/R. `dcmotor`'s own controller works with torques and adds K w to the voltage, which servo firmware
does not do. Its gains are therefore

    kp = p K/R,    ki = i K/R,    kd = (d + K) K/R,    Vmax = U:

the K in kd takes the added voltage away again. Firmware that controls the current (`Servo.current_control`) does add
it; then kd = d K/R.

**Stiffness.** The Nao's stiffness S scales the torque due to power and not the braking by back-EMF (algorithm
1, line 6), which is the same as scaling v; `sim.power_supply` scales p, i, d and U.

**Friction.** Viscous friction is damping of the joint, dry friction its `frictionloss`; with a larger friction
at rest (Stribeck) it is the LuGre model of `dcmotor`, whose bristle is as stiff as the step allows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.drives import HARD_FRICTION_IMPEDANCE, POSITION_INPUT, delay_commands, limit_commands

if TYPE_CHECKING:
    from nutmeg.model.actuation.settings import Battery, Servo

BRISTLES_PER_STEP = 0.5
"""Stiffness of the LuGre bristle, in units of what one step can resolve."""
BRISTLE_DAMPING = 0.1
"""Damping ratio of the bristle. The implicit integrator takes it for damping of the joint at any speed, which acts as
if the rotor's inertia were larger by 1.4 times this ratio."""
COPPER_TEMPERATURE_COEFFICIENT = 0.0039
"""Growth of copper's resistance with temperature [1/K]."""
ROOM_TEMPERATURE = 25.0
"""Temperature at which the numbers of a motor hold [degrees Celsius]."""


def add_servo(
    spec: mujoco.MjSpec,
    joint: mujoco.MjsJoint,
    target: mujoco.MjsJoint,
    servo: Servo,
    battery: Battery,
    timestep: float,
) -> None:
    """Gives a joint a servo.

    Args:
        spec: the robot's specification.
        joint: the joint whose angle is commanded; the motor is named after it.
        target: the joint that the motor turns: the same, or the gear's motor side.
        servo: the servo's numbers.
        battery: its power supply.
        timestep: step of the physics [s].
    """
    voltage = battery.voltage
    constant, resistance = servo.constant(voltage), servo.resistance(voltage)
    gain = constant / resistance  # N m for each volt
    motor = spec.add_actuator(name=joint.name, target=target.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_dcmotor(
        motorconst=[constant, constant],
        resistance=resistance,
        inductance=[0.0, servo.electrical_time(voltage)],
        controller=[
            *(gain * servo.p, gain * servo.i, gain * (servo.d + (0.0 if servo.current_control else constant))),
            *(servo.profile_speed, 0.0, servo.output_limit * voltage),
        ],
        thermal=_thermal(servo),
        lugre=_lugre(servo, timestep),
        ctrlspec=POSITION_INPUT,
    )
    limit_commands(spec, motor, joint)
    delay_commands(motor, servo.delay, timestep)
    armature = servo.rotor_inertia * servo.ratio**2
    target.armature = armature if target is joint else max(armature, target.armature)
    target.damping[0] = servo.viscous
    target.frictionloss = 0.0 if servo.static else servo.coulomb  # with a Stribeck effect, LuGre does it
    target.solimp_friction = HARD_FRICTION_IMPEDANCE


def _lugre(servo: Servo, timestep: float) -> list[float]:
    """LuGre's stiffness, damping, coulomb, static and Stribeck speed; zeros without a Stribeck effect."""
    if not servo.static:
        return [0.0] * 5
    inertia = max(servo.rotor_inertia * servo.ratio**2, 1e-4)
    stiffness = BRISTLES_PER_STEP * inertia / timestep**2
    damping = 2 * BRISTLE_DAMPING * math.sqrt(stiffness * inertia)
    return [stiffness, damping, max(servo.coulomb, 1e-6), servo.static, servo.stribeck_speed]


def _thermal(servo: Servo) -> list[float]:
    if servo.thermal is None:
        return [0.0] * 6
    resistance, capacity = servo.thermal
    if resistance <= 0 or capacity <= 0:
        raise ModelError(f"thermal is {servo.thermal}; resistance [K/W] and capacity [J/K] must be above 0.")
    return [resistance, capacity, 0.0, COPPER_TEMPERATURE_COEFFICIENT, ROOM_TEMPERATURE, ROOM_TEMPERATURE]
