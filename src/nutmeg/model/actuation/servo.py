"""A servo, native in the engine: firmware, winding, back-EMF and friction as MuJoCo's `dcmotor`.

**The motor** (seed 001, algorithm 1). With the constant K and the resistance R as seen at the joint, the
firmware sets the voltage v and the motor gives

    v = clamp(p e + i sum(e) - d w, -U..U),      T = K (v - K w) / R,

e the error of the joint's angle and w its speed; with an inductance the current follows with the time
constant L/R. `dcmotor`'s own controller works with torques and adds K w to the voltage, which servo firmware
does not do. Its gains are therefore

    kp = p K/R,    ki = i K/R,    kd = (d + K) K/R,    Vmax = U:

the K in kd takes the added voltage away again.

**Stiffness.** The Nao's stiffness S scales the torque due to power and not the braking by back-EMF (algorithm
1, line 6), which is the same as scaling v; `engine.supply` scales p, i, d and U.

**Friction.** Viscous friction is damping of the joint, dry friction its `frictionloss`; with a larger friction
at rest (Stribeck) it is the LuGre model of `dcmotor`, whose bristle is as stiff as the step allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.drives import POSITION_INPUT

if TYPE_CHECKING:
    from nutmeg.model.actuation.settings import Battery, Servo

BRISTLES_PER_STEP = 0.5
"""Stiffness of the LuGre bristle, in units of what one step can resolve."""
BRISTLE_DAMPING = 0.1
"""Damping ratio of the bristle. The implicit integrator takes it for damping of the joint at any speed, which acts as
if the rotor's inertia were larger by 1.4 times this ratio."""
HARD_FRICTION_IMPEDANCE = (0.999, 0.999, 0.001, 0.5, 2.0)
"""Impedance of dry friction: with the engine's own (0.9) a joint at rest creeps through it by several mrad/s."""
COPPER_TEMPERATURE_COEFFICIENT = 0.0039
"""Growth of copper's resistance with temperature [1/K]."""
ROOM_TEMPERATURE = 25.0
"""[degrees Celsius]"""


def add_servo(
    spec: mujoco.MjSpec,
    joint: Any,  # noqa: ANN401
    target: Any,  # noqa: ANN401
    servo: Servo,
    battery: Battery,
    timestep: float,
) -> None:
    """Gives a joint a servo.

    Args:
        spec: where.
        joint: the joint whose angle is commanded; the motor is named after it.
        target: the joint that the motor turns: the same, or the gear's motor side.
        servo: the servo.
        battery: what feeds it.
        timestep: of the physics [s].
    """
    numbers = engine_numbers(servo, battery, timestep)
    motor = spec.add_actuator(name=joint.name, target=target.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_dcmotor(
        motorconst=[numbers.constant, numbers.constant],
        resistance=numbers.resistance,
        inductance=[0.0, numbers.lag],
        controller=[*numbers.gains, 0.0, 0.0, numbers.limit],
        thermal=_thermal(servo),
        lugre=list(numbers.lugre),
        ctrlspec=POSITION_INPUT,
    )
    if joint.range[0] < joint.range[1]:
        in_radians = math.pi / 180 if spec.compiler.degree else 1.0
        motor.ctrlrange = [limit * in_radians for limit in joint.range]
    if servo.delay:
        motor.delay, motor.nsample = servo.delay, max(1, math.ceil(servo.delay / timestep - 1e-9))
    target.armature = max(numbers.armature, target.armature if target is not joint else 0.0)
    target.damping[0] = servo.viscous
    target.frictionloss = numbers.dry
    target.solimp_friction = HARD_FRICTION_IMPEDANCE


@dataclass(frozen=True)
class EngineNumbers:
    """A servo as the engine has it."""

    constant: float
    """K [N m/A, V s/rad]."""
    resistance: float
    """R [ohm]."""
    gains: tuple[float, float, float]
    """kp, ki, kd of `dcmotor`'s controller."""
    limit: float
    """Vmax [V]."""
    lag: float
    """L/R [s]."""
    lugre: tuple[float, ...]
    """LuGre's stiffness, damping, coulomb, static and Stribeck speed; zeros without a Stribeck effect."""
    armature: float
    """Of the rotor, at the joint [kg m²]."""
    dry: float
    """Dry friction of the joint, where LuGre does not do it [N m]."""


def engine_numbers(servo: Servo, battery: Battery, timestep: float) -> EngineNumbers:
    """What a servo is in the engine, at a physics step [s]."""
    voltage = battery.voltage
    constant, resistance = servo.constant(voltage), servo.resistance(voltage)
    gain = constant / resistance
    return EngineNumbers(
        constant=constant,
        resistance=resistance,
        gains=(gain * servo.p, gain * servo.i, gain * (servo.d + constant)),
        limit=servo.output_limit * voltage,
        lag=servo.electrical_time(voltage),
        lugre=tuple(_lugre(servo, timestep)),
        armature=servo.rotor_inertia * servo.ratio**2,
        dry=0.0 if servo.static else servo.coulomb,
    )


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
