"""What servos get: stiffness set by the user, a battery that sags, friction that grows with the load.

The servos of `body.actuation` are native; three of their terms change with what the whole robot does, and are
brought up to date once a control cycle, for N worlds at once:

    supply = PowerSupply(worlds, "robot")
    supply.stiffness[:, :] = 0.6            # (N, motors), 0 is limp, 1 is full
    schedule.every(0.02, supply.sample)
    supply.voltage                          # (N,) V under the present load

- *Stiffness* S scales the torque due to power (seed 001, algorithm 1, line 6), that is the voltage, not the
  braking by back-EMF: p, i, d and the voltage limit are scaled.
- *Sag*: the motors draw the current I = sum(v i) / U from the battery, which then gives U - r I.
- *Friction under load*: dry friction that grows with what the motor gives and carries (see `servo_friction`).

None of them is in an exported model, which has full stiffness, the open-circuit voltage and plain dry friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.actuation.groups import chosen
from nutmeg.engine.servo_friction import ServoFriction, places
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.body.actuation import Actuation
    from nutmeg.body.actuation.settings import Servo
    from nutmeg.body.tables import RobotTable
    from nutmeg.engine.worlds import Worlds


RESISTANCE, CONSTANT, P_GAIN, I_GAIN, D_GAIN, LIMIT = 0, 1, 4, 5, 6, 7
"""Places of a `dcmotor`'s numbers in the engine's `actuator_gainprm`."""


class PowerSupply:
    """The battery and the firmware settings of one robot with servos.

    Args:
        worlds: where the robot is.
        robot: its name in the scene.
    """

    def __init__(self, worlds: Worlds, robot: str) -> None:
        table = worlds.robot(robot).table
        each = [_numbers(actuation, table) for actuation in worlds.actuations(robot)]
        model = worlds.scene.model
        motors = [model.actuator(f"{table.name}/{m}").id for m in table.motors]
        dofs = [int(model.jnt_dofadr[model.actuator_trnid[a, 0]]) for a in motors]
        self._motors, self._dofs = places(motors), places(dofs)
        self._open, self._inside = (np.array([getattr(n, k) for n in each]) for k in ("voltage", "resistance"))
        self._sags = bool(self._inside.any())
        self._share = np.array([[s.output_limit for s in n.servos] for n in each])
        self._gains = worlds.batch.expand("actuator_gainprm")
        rubs = any(s.rubs_under_load for n in each for s in n.servos)
        self._friction = ServoFriction(worlds, dofs, [n.servos for n in each]) if rubs else None
        self._full = self._gains[:, self._motors].copy()
        self._torque, self._rates = worlds.batch.bind("actuator_force"), worlds.qvel
        self.stiffness: Floats = np.ones((worlds.count, len(motors)))
        """The Nao's stiffness of each motor, 0..1, (N, motors)."""
        self._given = np.full_like(self.stiffness, np.nan)
        """The stiffness that the motors have; none is known at first."""
        self.voltage: Floats = np.broadcast_to(self._open, worlds.count).copy()
        """What the battery gives under the present load, (N,) [V]."""
        self.current: Floats = np.zeros(worlds.count)
        """What the motors draw, (N,) [A]."""

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Brings voltage, gains and friction up to date."""
        if not ((self.stiffness >= 0) & (self.stiffness <= 1)).all():
            raise ModelError("stiffness must be between 0 (limp) and 1 (full) for every motor.")
        torque, rates = self._torque[:, self._motors], self._rates[:, self._dofs]
        constant, resistance = self._full[..., CONSTANT], self._full[..., RESISTANCE]
        current = torque / constant
        power = current * (resistance * current + constant * rates)
        self.current[:] = np.maximum(power, 0.0).sum(axis=1) / self._open
        if self._sags:
            self.voltage[:] = np.maximum(self._open - self._inside * self.current, 0.0)
        if self._sags or not np.array_equal(self.stiffness, self._given):
            self._give(constant, resistance)
        if self._friction is not None:
            self._friction.sample(torque, rates)

    def _give(self, constant: Floats, resistance: Floats) -> None:
        """Sets the firmware's gains and the limit of the voltage."""
        braking = constant**2 / resistance
        new = self._full.copy()
        new[..., P_GAIN] *= self.stiffness
        new[..., I_GAIN] *= self.stiffness
        new[..., D_GAIN] = self.stiffness * (new[..., D_GAIN] - braking) + braking
        new[..., LIMIT] = self.stiffness * self._share * self.voltage[:, None]
        self._gains[:, self._motors] = new
        self._given = self.stiffness.copy()


@dataclass(frozen=True)
class _Numbers:
    """What one scene says of a robot's battery and servos; motors in the order of commands."""

    voltage: float
    resistance: float
    servos: tuple[Servo, ...]


def changes_with_load(actuation: Actuation | None) -> bool:
    """Whether there are servos that change with what they do: a battery that sags, friction under load."""
    if actuation is None or actuation.printed:
        return False
    sags = bool(actuation.servo) and actuation.battery.resistance > 0
    return sags or any(servo.rubs_under_load for servo in actuation.servo.values())


def _numbers(actuation: Actuation | None, table: RobotTable) -> _Numbers:
    """The battery and the servos of one world; an error if there are none that can be looked after."""
    robot = table.name
    if actuation is None or not actuation.servo:
        raise ModelError(f"{robot} has ideal drives; only servos have a stiffness and a battery (--actuation servo).")
    if actuation.printed:
        raise ModelError(f"{robot} has the motors as printed in the paper, which know no battery: use motoflex.")
    groups = {j: s for s in actuation.servo.values() for j in chosen(s.joints, table.joints, "joint", robot)}
    battery = actuation.battery
    return _Numbers(battery.voltage, battery.resistance, tuple(groups[m] for m in table.motors))
