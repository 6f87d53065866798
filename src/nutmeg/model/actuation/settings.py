"""Realistic actuation as data: servos, gears with play, legs that bend, and the battery behind them.

A robot's `actuation.toml` has one table for each group of joints:

    [servo.knee]
    joints = ["*KneePitch"]
    stall_torque = 0.065        # of the motor alone, at the battery's voltage
    no_load_speed = 911.0
    ratio = 130.85
    p = 250.0                   # V/rad: the firmware thinks in voltage
    [gear.knee]
    joints = ["*KneePitch"]
    play = 0.0244
    stiffness = 600.0
    [flex.legs]
    bodies = ["*Thigh", "*Tibia"]
    stiffness = 400.0

The terms are those of the MoToFlex paper (sections 3.1 to 3.3), with the firmware and friction that it left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import mujoco

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import Bounded, Bounds, above, at_least, check_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.model.robot import RobotSettings


LOAD_FRICTION_NUMBERS = ("load_friction", "squeeze_friction", "squeeze_static")
"""Numbers of a servo that make its dry friction depend on its load."""


@dataclass(frozen=True, kw_only=True)
class Battery(Bounded):
    """The power supply of the motors."""

    voltage: Annotated[float, above(0, "V")] = 21.6
    """Open-circuit voltage [V]."""
    resistance: Annotated[float, at_least(0, "ohm")] = 0.0
    """Internal resistance [ohm]: the voltage sags under load (see `sim.power_supply`); 0 is a perfect battery."""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Servo:
    """A motor with its gear ratio and firmware; motor numbers are those of the motor alone, as on data sheets."""

    joints: tuple[str, ...]
    """Joint names or patterns."""
    stall_torque: Annotated[float, above(0, "N m")]
    """Torque of the motor at rest, at the battery's voltage [N m]."""
    no_load_speed: Annotated[float, above(0, "rad/s")]
    """Speed of the motor without load, at the battery's voltage [rad/s]."""
    ratio: Annotated[float, above(0)]
    """Gear ratio: turns of the motor for one of the joint."""
    efficiency: Annotated[float, above(0, up_to=1)] = 1.0
    """Share of the motor's torque that the gear passes on."""
    rotor_inertia: Annotated[float, at_least(0, "kg m²")] = 0.0
    """Inertia of the motor and the gear at the motor [kg m²]."""
    inductance: Annotated[float, at_least(0, "H")] = 0.0
    """Inductance of the winding [H]; 0 lets the current follow at once."""
    p: Annotated[float, above(0, "V/rad")] = 200.0
    """Firmware: volts for each radian of error [V/rad]."""
    i: Annotated[float, at_least(0, "V/(rad s)")] = 0.0
    """Firmware: volts for each radian second of summed error [V/(rad s)]."""
    d: Annotated[float, at_least(0, "V s/rad")] = 0.0
    """Firmware: volts against each rad/s of the joint [V s/rad]."""
    output_limit: Annotated[float, above(0, up_to=1)] = 1.0
    """Share of the battery's voltage that the firmware may use, 0..1."""
    viscous: Annotated[float, at_least(0, "N m s/rad")] = 0.0
    """Friction that grows with speed, at the joint [N m s/rad]."""
    coulomb: Annotated[float, at_least(0, "N m")] = 0.0
    """Dry friction at the joint [N m]."""
    static: Annotated[float, at_least(0, "N m")] = 0.0
    """Dry friction at rest, at least `coulomb` (Stribeck effect); 0 for no such effect [N m]."""
    stribeck_speed: Annotated[float, above(0, "rad/s")] = 0.1
    """Speed at which `static` has faded into `coulomb` [rad/s]."""
    load_friction: Annotated[float, at_least(0)] = 0.0
    """Dry friction for each N m that the motor gives (see `sim.power_supply`)."""
    squeeze_friction: Annotated[float, at_least(0, "1/(N m)")] = 0.0
    """Dry friction for each squared N m with which motor and load press the gear's teeth against each other
    (see `sim.power_supply.ServoFriction`) [1/(N m)]."""
    squeeze_static: Annotated[float, at_least(0, "1/(N m)")] = 0.0
    """Addition to `squeeze_friction` at rest [1/(N m)]."""
    squeeze_speed: Annotated[float, above(0, "rad/s")] = 1.0
    """Speed at which half of `squeeze_static` is left [rad/s]."""
    delay: Annotated[float, Bounds(0, 0.5, "s")] = 0.0
    """Time from a command to the motor's reaction [s]."""
    profile_speed: Annotated[float, at_least(0, "rad/s")] = 0.0
    """Firmware: speed at which the set-point moves to a new command [rad/s]; 0 for at once."""
    profile_acceleration: Annotated[float, at_least(0, "rad/s²")] = 0.0
    """Firmware: acceleration of the set-point, whose speed towards a new command has the shape of a trapezoid (see
    `sim.power_supply`) [rad/s²]; 0 for none."""
    goal_step: Annotated[float, at_least(0, "rad")] = 0.0
    """Firmware: commands are rounded to multiples of this angle, 0.00153 with 4096 steps a turn; 0 for none [rad]."""
    dead_zone: Annotated[float, at_least(0, "rad")] = 0.0
    """Firmware: errors up to this angle are left alone, and counted from it [rad] (see `sim.power_supply`)."""
    min_output: Annotated[float, Bounds(0, 0.5)] = 0.0
    """Firmware: the least share of the voltage that it gives outside the dead zone, 0..0.5."""
    pwm: bool = False
    """Firmware: whether it sets a share of the supply, so that its gains fall with the voltage; else it sets volts."""
    current_control: bool = False
    """Firmware: whether it controls the current, as drives of brushless motors do. Its gains then set a torque, which
    back-EMF does not brake but only limits; else they set the voltage."""
    thermal: tuple[float, float] | None = None
    """Thermal resistance of the winding to its surroundings [K/W] and its heat capacity [J/K]: it gets hot, its
    resistance grows; None for a motor that stays cold."""
    source: str = ""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.static and self.static < self.coulomb:
            raise ValueError(f"static is {self.static}; allowed is 0, or coulomb ({self.coulomb}) or more.")

    @property
    def rubs_under_load(self) -> bool:
        """Whether its dry friction depends on its load, so that it must be updated in every control cycle."""
        return any(getattr(self, name) for name in LOAD_FRICTION_NUMBERS)

    @property
    def needs_supply(self) -> bool:
        """Whether its friction or its firmware must be updated in every control cycle."""
        return self.rubs_under_load or bool(self.goal_step or self.dead_zone or self.min_output)

    def constant(self, voltage: float) -> float:
        """Torque and back-EMF constant as seen at the joint [N m/A, V s/rad]."""
        return self.ratio * voltage / self.no_load_speed

    def resistance(self, voltage: float) -> float:
        """Resistance of the winding as seen at the joint, the gear's losses included [ohm]."""
        return voltage * voltage / (self.no_load_speed * self.stall_torque) / self.efficiency

    def electrical_time(self, voltage: float) -> float:
        """Time constant L/R of the winding [s]."""
        return self.inductance / (self.resistance(voltage) * self.efficiency)

    def stiffness(self, voltage: float) -> float:
        """Torque at the joint for each radian of error [N m/rad]."""
        return self.constant(voltage) / self.resistance(voltage) * self.p


@dataclass(frozen=True, kw_only=True)
class Gear(Bounded):
    """Play and elasticity between the motor and the joint."""

    joints: tuple[str, ...]
    play: Annotated[float, at_least(0, "rad")] = 0.0
    """Angle by which the joint can be turned while the motor stands still [rad]."""
    stiffness: Annotated[float, above(0, "N m/rad")] = 500.0
    """Stiffness of the gear's spring [N m/rad]."""
    damping: Annotated[float, at_least(0, "N m s/rad")] = 1.0
    """Damping of the gear's spring [N m s/rad]."""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Flex(Bounded):
    """Links that bend: each is cut in two, joined by springs about the two axes across it."""

    bodies: tuple[str, ...]
    """Body names or patterns."""
    stiffness: Annotated[float, above(0, "N m/rad")] = 400.0
    """Stiffness of each spring [N m/rad] (D_B of equation 1)."""
    damping: Annotated[float, at_least(0, "N m s/rad")] = 0.1
    """Damping of each spring [N m s/rad]."""
    friction: Annotated[float, at_least(0, "N m")] = 0.0
    """Dry friction about each axis [N m]."""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Actuation(Bounded):
    """The realistic actuation of a robot."""

    battery: Battery = Battery()
    servo: Mapping[str, Servo] = field(default_factory=dict)
    gear: Mapping[str, Gear] = field(default_factory=dict)
    flex: Mapping[str, Flex] = field(default_factory=dict)
    printed: bool = False
    """Motors and gears computed by the paper's algorithms as printed, not by the engine (see `printed`)."""
    gear_step: Annotated[float, above(0, "s")] = 1e-4
    """Longest step Δtg of printed gears, which other gears do not have [s] (algorithm 2, line 2)."""
    gear_mass: Annotated[float, above(0, up_to=1)] = 0.02
    """Small mass m_g within the hull of printed gears, as a share of the rotor's inertia."""
    gear_friction: Annotated[float, at_least(0)] = 0.2
    """Friction B_g of that mass, as a share of the gear's damping."""
    source: str = ""


# ----------------------------------------------------------------------------------------------------
# Joints and bodies by name or pattern, and joints that share a motor


BEND_SUFFIXES = (".bend_1", ".bend_2")
"""Ends of the names of the hinges of bending links: no motor drives them, whatever a pattern says."""


def matching_names(patterns: Iterable[str], names: Iterable[str], kind: str, where: str) -> list[str]:
    """The names that match any of the patterns, in the order of the patterns; one that matches nothing is an error."""
    names = list(names)
    out: list[str] = []
    for pattern in patterns:
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            raise UnknownNameError(kind, pattern, names, where=where)
        out += [name for name in found if name not in out]
    return out


def hinges(spec: mujoco.MjSpec) -> dict[str, mujoco.MjsJoint]:
    """The hinges of a specification by name, without those of bending links."""
    hinge = mujoco.mjtJoint.mjJNT_HINGE
    return {j.name: j for j in spec.joints if j.type == hinge and not j.name.endswith(BEND_SUFFIXES)}


def share_motors(spec: mujoco.MjSpec, robot: RobotSettings) -> None:
    """Lets the follower of each pair of shared joints have its leader's angle."""
    joints = hinges(spec)
    for shared in robot.shared:
        for name in (shared.leader, shared.follower):
            if name not in joints:
                raise UnknownNameError("joint", name, joints, where=f"shared joints of {robot.name}")
        pair = spec.add_equality(
            name=f"{shared.leader}={shared.follower}", type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT
        )
        pair.name1, pair.name2 = shared.follower, shared.leader
        pair.data[:5] = [0.0, shared.ratio, 0.0, 0.0, 0.0]
        pair.solref = [0.01, 1.0]
