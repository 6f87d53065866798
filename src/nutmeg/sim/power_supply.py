"""The power supply of servos: stiffness set by the user, a battery that sags, friction that grows with the load.

The servos of `model.actuation` are native MuJoCo; the following terms depend on the state of the whole robot and are
updated once a control cycle, for N worlds at once:

    supply = PowerSupply(worlds, "robot")
    supply.stiffness[:, :] = 0.6            # (N, motors), 0 is limp, 1 is full
    schedule.every(0.02, supply.sample)
    supply.voltage                          # (N,) V under the present load

- *Stiffness* S scales the torque due to power (MoToFlex, algorithm 1, line 6), that is the voltage, not the
  braking by back-EMF: p, i, d and the voltage limit are scaled.
- *Sag*: the motors draw the current I = sum(v i) / U from the battery, which then gives U - r I.
- *Firmware*: commands are rounded to steps of the encoder (`goal_step`). The set-point moves to a command with limits
  of its acceleration (`profile_acceleration`) and speed (`profile_speed`); `sim.rollout`, which knows all commands,
  moves it in every physics step. With a dead zone z and a least output m, the voltage for an error e is p e (1 - z /
  |e|), and 0 within the zone, but at least m U; it acts as another gain p. Where the firmware sets a share of the
  supply (`pwm`), its gains fall and rise with the voltage. A recorded voltage of the supply may be given (`measured`):
  then it does not sag.
- *Temperature*: a recorded temperature of the motors may be given (`temperature`): the resistance of a winding of
  copper grows by 0.39 % for each kelvin above 25 °C, and a voltage makes less torque.
- *Friction under load* (`ServoFriction`): the teeth of a gear rub the more the harder they are pressed together, when
  the motor lifts a weight and even more when it holds it. With T being the motor's torque at the joint and X all other
  torques on it (weight, springs, contacts), the teeth are squeezed by S, and the joint's dry friction at speed w is F:

      S = min(|T|, |X|) where T and X oppose each other, else 0
      F = coulomb + load_friction |T| + (squeeze_friction + squeeze_static / (1 + |w| / squeeze_speed)) S^2

None of them is in an exported model, which has full stiffness, the open-circuit voltage and plain dry friction.

The form of S and the exponent were chosen on recordings of a real servo (`examples/servo_xl330`): of the forms that
were tried it extrapolates best to gains and trajectories that were not fitted. Friction models with load, Stribeck
effect and a square of the load are discussed by Duclusaud, Passault, Padois and Ly, "Extended Friction Models for the
Physics Simulation of Servo Actuators" (2024), from whom the recordings are.

`MotorFeed` switches motors off and on: a released servo neither drives nor brakes, and its friction stays; an ideal
drive is released by taking its torque away.

    feed = MotorFeed(worlds, "robot", releases=True)
    feed.sample(0.0, powered)               # (N,): once a control cycle if `feed.every_cycle`, else when it changes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.servo import COPPER_TEMPERATURE_COEFFICIENT, ROOM_TEMPERATURE
from nutmeg.model.actuation.settings import matching_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.actuation.settings import Servo
    from nutmeg.model.tables import RobotTable
    from nutmeg.sim.worlds import Worlds


def slice_or_list(ids: Sequence[int]) -> slice | list[int]:
    """An index of these ids: a slice if they are consecutive, which is much faster than a list."""
    first = ids[0]
    return slice(first, first + len(ids)) if list(ids) == list(range(first, first + len(ids))) else list(ids)


class ServoFriction:
    """The dry friction of some joints.

    Args:
        worlds: the worlds with the joints.
        dofs: degrees of freedom of the joints that the motors turn, (motors,).
        servos: servos of each world, or one list for all worlds, with a servo for each motor.
    """

    def __init__(self, worlds: Worlds, dofs: Sequence[int], servos: Sequence[Sequence[Servo]]) -> None:
        self._dofs = slice_or_list(dofs)
        self._dry = np.array([[0.0 if s.static else s.coulomb for s in row] for row in servos])
        names = ("load_friction", "squeeze_friction", "squeeze_static", "squeeze_speed")
        self._load, self._moving, self._still, self._speed = (
            np.array([[getattr(s, name) for s in row] for row in servos]) for name in names
        )
        self._field = worlds.batch.expand("dof_frictionloss")
        self._squeezed = bool(self._moving.any() or self._still.any())
        forces = ("qfrc_passive", "qfrc_damper", "qfrc_bias", "qfrc_constraint")
        self._forces = [worlds.batch.bind(name) for name in forces] if self._squeezed else []

    def sample(self, torque: Floats, rates: Floats) -> None:
        """Updates the friction from the motors' torques and speeds at the joints, (N, motors)."""
        friction = self._dry + self._load * np.abs(torque)
        if self._squeezed:
            fade = 1.0 / (1.0 + np.abs(rates) / self._speed)
            friction = friction + (self._moving + self._still * fade) * self._squeeze(torque) ** 2
        self._field[:, self._dofs] = friction

    def _squeeze(self, torque: Floats) -> Floats:
        """The torque S with which motors and loads press on each other, (N, motors)."""
        # The engine knows the friction of a joint only together with its contacts: what exceeds the largest friction of
        # the joint is taken for contact.
        passive, damper, bias, constraint = (force[:, self._dofs] for force in self._forces)
        own = self._field[:, self._dofs]
        load = passive - damper - bias + constraint - np.clip(constraint, -own, own)
        squeezed: Floats = np.where(torque * load < 0, np.minimum(np.abs(torque), np.abs(load)), 0.0)
        return squeezed


RESISTANCE, CONSTANT, P_GAIN, I_GAIN, D_GAIN, LIMIT = 0, 1, 4, 5, 6, 7
"""Places of a `dcmotor`'s numbers in the engine's `actuator_gainprm`."""


class PowerSupply:
    """The battery and the firmware settings of one robot with servos."""

    def __init__(self, worlds: Worlds, robot: str, *, profiles: bool = True) -> None:
        """Takes the numbers of the robot's servos; `profiles` is whether it moves the set-points to new commands."""
        table = worlds.robot(robot).table
        actuations = worlds.actuations(robot)
        numbers = {id(one): _power_numbers(one, table) for one in {id(one): one for one in actuations}.values()}
        each = [numbers[id(one)] for one in actuations]
        model = worlds.scene.model
        motors = table.actuators(model)
        dofs = [int(model.jnt_dofadr[model.actuator_trnid[a, 0]]) for a in motors]
        self._motors, self._dofs = slice_or_list(motors), slice_or_list(dofs)
        self._open, self._inside = (np.array([getattr(n, k) for n in each]) for k in ("voltage", "resistance"))
        self._sags = bool(self._inside.any())
        self._share = np.array([[s.output_limit for s in n.servos] for n in each])
        self._gains = worlds.batch.expand("actuator_gainprm")
        self._pwm = np.array([[s.pwm for s in n.servos] for n in each])
        self._brakes = np.array([[not s.current_control for s in n.servos] for n in each])
        self._firmware = _Firmware.of(worlds, table, [n.servos for n in each])
        self._profile = _Profile.of(worlds, robot) if profiles else None
        self.measured: Floats | None = None
        """The recorded voltage of the supply, (N,) [V]; None where it follows from the load."""
        self.temperature: Floats | None = None
        """The recorded temperature of the motors, (N,) [°C]; None for that of the data sheet, 25 °C."""
        rubs = any(s.rubs_under_load for n in each for s in n.servos)
        self._friction = ServoFriction(worlds, dofs, [n.servos for n in each]) if rubs else None
        self._full: Floats = self._gains[:, self._motors].copy()
        self._torque, self._rates = worlds.batch.bind("actuator_force"), worlds.qvel
        self.stiffness: Floats = np.ones((worlds.count, len(motors)))
        """The Nao's stiffness of each motor, 0..1, (N, motors)."""
        self._given = np.full_like(self.stiffness, np.nan)
        """The stiffness last written to the engine, (N, motors); nan at first."""
        self.voltage: Floats = np.broadcast_to(self._open, worlds.count).copy()
        """Voltage of the battery under the present load, (N,) [V]."""
        self.current: Floats = np.zeros(worlds.count)
        """Current that the motors draw, (N,) [A]."""

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Updates voltage, gains and friction."""
        if not ((self.stiffness >= 0) & (self.stiffness <= 1)).all():
            raise ModelError("stiffness must be between 0 (limp) and 1 (full) for every motor.")
        torque, rates = self._torque[:, self._motors], self._rates[:, self._dofs]
        full = self._at_temperature()
        constant, resistance = full[..., CONSTANT], full[..., RESISTANCE]
        current = torque / constant
        power = current * (resistance * current + constant * rates)
        self.current[:] = np.maximum(power, 0.0).sum(axis=1) / self._open
        if self.measured is not None:
            self.voltage[:] = self.measured
        elif self._sags:
            self.voltage[:] = np.maximum(self._open - self._inside * self.current, 0.0)
        if self._profile is not None:
            self._profile.move()
        elif self._firmware is not None:
            self._firmware.round_commands()
        measured = self.measured is not None or self.temperature is not None
        changes = self._sags or measured or self._firmware is not None
        if changes or not np.array_equal(self.stiffness, self._given):
            self._give(full)
        if self._friction is not None:
            self._friction.sample(torque, rates)

    def _at_temperature(self) -> Floats:
        """The engine's numbers of the motors at the present temperature, (N, motors, numbers)."""
        if self.temperature is None:
            return self._full
        hot = 1 + COPPER_TEMPERATURE_COEFFICIENT * (self.temperature - ROOM_TEMPERATURE)[:, None]
        full = self._full.copy()
        full[..., RESISTANCE] *= hot
        # Gains are torques. A firmware that sets voltages makes them by way of the resistance, one that controls the
        # current does not.
        full[..., [P_GAIN, I_GAIN, D_GAIN]] /= np.where(self._brakes, hot, 1.0)[..., None]
        return full

    def _give(self, full: Floats) -> None:
        """Sets the firmware's gains and the limit of the voltage."""
        constant, resistance = full[..., CONSTANT], full[..., RESISTANCE]
        braking = self._brakes * constant**2 / resistance
        new = full.copy()
        scale = self.stiffness
        if self._pwm.any():
            scale = scale * np.where(self._pwm, (self.voltage / self._open)[:, None], 1.0)
        new[..., P_GAIN] *= scale
        if self._firmware is not None:  # the gain in volts, not in torque
            volts = new[..., P_GAIN] * resistance / constant
            new[..., P_GAIN] *= self._firmware.gain_factors(volts, self.voltage)
        new[..., I_GAIN] *= scale
        new[..., D_GAIN] = scale * (new[..., D_GAIN] - braking) + braking
        new[..., LIMIT] = self.stiffness * self._share * self.voltage[:, None]
        self._gains[:, self._motors] = new
        self._given = self.stiffness.copy()


@dataclass(frozen=True)
class _Firmware:
    """Firmware numbers of some servos, (N, motors) each or (1, motors) where all worlds are alike."""

    worlds: Worlds
    table: RobotTable
    goal_step: Floats
    dead_zone: Floats
    min_output: Floats

    @classmethod
    def of(cls, worlds: Worlds, table: RobotTable, servos: Sequence[Sequence[Servo]]) -> _Firmware | None:
        """The firmware of a robot's servos; None if no servo has any."""
        names = ("goal_step", "dead_zone", "min_output")
        numbers = [np.array([[getattr(s, n) for s in row] for row in servos]) for n in names]
        return cls(worlds, table, *numbers) if any(one.any() for one in numbers) else None

    def round_commands(self) -> None:
        """Rounds the present commands to the steps of the firmware."""
        if self.goal_step.any():
            goals = self.worlds.batch.ctrl[:, self.table.commands]
            self.worlds.batch.ctrl[:, self.table.commands] = _rounded(goals, self.goal_step)

    def gain_factors(self, gains: Floats, voltage: Floats) -> Floats:
        """The factors on the gains [V/rad] at the present errors, (N, motors)."""
        table = self.table
        angles = self.worlds.qpos[:, table.angles[table.motor_joints]]
        error = np.maximum(np.abs(self.worlds.batch.ctrl[:, table.commands] - angles), 1e-12)
        least = self.min_output * voltage[:, None] / np.maximum(gains * error, 1e-12)
        return np.where(error > self.dead_zone, np.maximum(1 - self.dead_zone / error, least), 0.0)


def round_goals(worlds: Worlds, robot: str, goals: Floats) -> Floats:
    """A series of commands, (N, T, motors), as the firmware of a robot's servos rounds them (`goal_step`)."""
    actuations = worlds.actuations(robot)
    if not any(servo.goal_step for one in actuations if one for servo in one.servo.values()):
        return goals
    table = worlds.robot(robot).table
    steps = [[s.goal_step for s in servos_of(one, table)] if one else [0.0] * len(table.motors) for one in actuations]
    return _rounded(goals, np.array(steps)[:, None])


def _rounded(goals: Floats, steps: Floats) -> Floats:
    """Goals as multiples of steps [rad]; a step of 0 leaves them as they are."""
    return np.where(steps > 0, np.round(goals / np.maximum(steps, 1e-12)) * steps, goals)


def goal_profiles(worlds: Worlds, robot: str) -> Floats | None:
    """Largest speed and acceleration of set-points, (2, N, motors); None where no servo has an acceleration."""
    actuations = worlds.actuations(robot)
    if not any(servo.profile_acceleration for one in actuations if one for servo in one.servo.values()):
        return None
    table = worlds.robot(robot).table
    servos = [servos_of(one, table) if one else () for one in actuations]
    none = [[0.0, 0.0]] * len(table.motors)
    numbers = [[[s.profile_speed, s.profile_acceleration] for s in row] or none for row in servos]
    return np.ascontiguousarray(
        np.broadcast_to(np.array(numbers), (worlds.count, len(table.motors), 2)).transpose(2, 0, 1)
    )


class _Profile:
    """The set-points of servos that accelerate towards commands; brought up to date in every control cycle.

    The command of a motor is replaced by its set-point. A command that differs from the set-point written last is new.
    """

    def __init__(self, worlds: Worlds, robot: str, profile: Floats) -> None:
        self._worlds, self._robot, self._profile = worlds, robot, profile
        self._table = worlds.robot(robot).table
        self._time = worlds.batch.bind("time")
        self._last = np.full(worlds.count, np.inf)  # [s]; a time that lies ahead means a world that was reset
        shape = (worlds.count, len(self._table.motors))
        self._goals, self._setpoints, self._speeds = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    @classmethod
    def of(cls, worlds: Worlds, robot: str) -> _Profile | None:
        """The profiles of a robot's servos; None if no servo has an acceleration."""
        profile = goal_profiles(worlds, robot)
        return None if profile is None else cls(worlds, robot, profile)

    def move(self) -> None:
        """Moves the set-points by the time since the last call; those of a world that begins are at the joints."""
        from nutmeg.sim.setpoints import profiled  # here, so that reports of fits do not load a compiler

        table, now = self._table, self._time.reshape(-1)
        commands = self._worlds.batch.ctrl[:, table.commands]
        fresh = now < self._last
        self._setpoints[fresh] = self._worlds.qpos[:, table.angles[table.motor_joints]][fresh]
        self._speeds[fresh] = 0.0
        new = fresh[:, None] | (commands != self._setpoints)
        rounded = round_goals(self._worlds, self._robot, commands[:, None])[:, 0]
        self._goals = np.where(new, rounded, self._goals)
        timestep = self._worlds.scene.timestep
        steps = round(float(np.max(now - self._last, initial=0.0, where=~fresh)) / timestep)
        if steps:
            goals = np.repeat(self._goals[:, None], steps, axis=1)
            moved, speeds = profiled(self._setpoints, self._speeds, goals, self._profile, timestep)
            self._setpoints = np.where(fresh[:, None], self._setpoints, moved[:, -1])
            self._speeds = np.where(fresh[:, None], self._speeds, speeds[:, -1])
        self._setpoints = np.where(self._profile[1] > 0, self._setpoints, self._goals)
        self._worlds.batch.ctrl[:, table.commands] = self._setpoints
        self._last = now.copy()


@dataclass(frozen=True)
class _Numbers:
    """Battery and servos of a robot in one scene; motors in the order of commands."""

    voltage: float
    resistance: float
    servos: tuple[Servo, ...]


def changes_with_load(actuation: Actuation | None) -> bool:
    """Whether there are servos that depend on their state: a battery that sags, friction under load, firmware."""
    if actuation is None or actuation.printed:
        return False
    sags = bool(actuation.servo) and actuation.battery.resistance > 0
    return sags or any(servo.needs_supply for servo in actuation.servo.values())


def servos_of(actuation: Actuation, table: RobotTable) -> tuple[Servo, ...]:
    """The servo of each motor, in the order of commands."""
    names = "joint", table.name
    groups = {j: s for s in actuation.servo.values() for j in matching_names(s.joints, table.joints, *names)}
    return tuple(groups[motor] for motor in table.motors)


def _power_numbers(actuation: Actuation | None, table: RobotTable) -> _Numbers:
    """The battery and the servos of one world; an error if it has no servos with a power supply."""
    robot = table.name
    if actuation is None or not actuation.servo:
        raise ModelError(f"{robot} has ideal drives; only servos have a stiffness and a battery (--actuation servo).")
    if actuation.printed:
        raise ModelError(f"{robot} has the motors as printed in the paper, which know no battery: use motoflex.")
    return _Numbers(actuation.battery.voltage, actuation.battery.resistance, servos_of(actuation, table))


def servo_currents(worlds: Worlds, robot: str) -> Floats:
    """The current of each servo for each N m at its joint, (N, motors) [A/(N m)]; other drives are an error."""
    table = worlds.robot(robot).table
    rows = []
    for actuation in worlds.actuations(robot):
        numbers = _power_numbers(actuation, table)
        rows.append([1 / (s.constant(numbers.voltage) * s.efficiency) for s in numbers.servos])
    return np.array(rows)


NEARLY_ZERO = 1e-9
"""Stands for zero in numbers by which the engine divides."""


class MotorFeed:
    """The power of one robot's motors in each world.

    Args:
        worlds: the worlds with the robot.
        robot: its name in the scene.
        releases: whether the motors are ever released.
        supplied: whether the voltage of their supply was recorded.
        heated: whether their temperature was recorded.
    """

    def __init__(
        self, worlds: Worlds, robot: str, *, releases: bool, supplied: bool = False, heated: bool = False
    ) -> None:
        table = worlds.robot(robot).table
        model = worlds.scene.model
        motors = table.actuators(model)
        self._motors = slice_or_list(motors)
        self.every_cycle = supplied or heated or any(changes_with_load(one) for one in worlds.actuations(robot))
        """Whether motors depend on their load, so that `sample` must be called in every control cycle."""
        self._supply = PowerSupply(worlds, robot, profiles=False) if self.every_cycle else None
        if heated and any(s.thermal for one in worlds.actuations(robot) if one for s in one.servo.values()):
            raise ModelError(
                f"the temperature of the motors of {robot} was recorded, and its servos compute it, too (`thermal`). "
                "Leave out one of them."
            )
        self._field: Floats | None = None
        if not releases:
            return
        servos = model.actuator_gaintype[motors] == mujoco.mjtGain.mjGAIN_DCMOTOR
        if not servos.all() and (servos.any() or (table.setpoints < 0).any()):
            raise ModelError(f"the motors of {robot} cannot be released: only servos and position drives can.")
        self._servos = bool(servos.all())
        self._field = worlds.batch.expand("actuator_gainprm" if self._servos else "actuator_forcerange")
        self._normal = self._field[:, self._motors].copy()

    def sample(
        self, time: float, powered: Bools | None, voltage: Floats | None = None, temperature: Floats | None = None
    ) -> None:
        """Powers the motors of the worlds in `powered`, (N,), and releases the others.

        Args:
            time: the time of the simulation [s].
            powered: whether the motors have power; None for always.
            voltage: the recorded voltage of their supply, (N,) [V], if there is one.
            temperature: their recorded temperature, (N,) [°C], if there is one.
        """
        if self._supply is not None:
            self._supply.measured, self._supply.temperature = voltage, temperature
            self._supply.sample(time)
        if self._field is None or powered is None:
            return
        if not self._servos:
            self._field[:, self._motors] = np.where(powered[:, None, None], self._normal, [-NEARLY_ZERO, NEARLY_ZERO])
            return
        if self._supply is None:
            self._field[:, self._motors] = self._normal
        column = self._normal[:, :, CONSTANT].copy()
        column[~powered] = NEARLY_ZERO  # a winding that is not connected
        self._field[:, self._motors, CONSTANT] = column

    def restore(self) -> None:
        """Powers all motors again."""
        if self._field is not None:
            self._field[:, self._motors] = self._normal
