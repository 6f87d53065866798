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
- *Load friction*: dry friction of coulomb + load_friction |T|, T the motor's torque at the joint.

None of them is in an exported model, which has full stiffness, the open-circuit voltage and plain dry friction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.actuation import load_actuation
from nutmeg.body.actuation.groups import chosen
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.engine.worlds import Worlds

    Array = NDArray[np.float64]

RESISTANCE, CONSTANT, P_GAIN, I_GAIN, D_GAIN, LIMIT = 0, 1, 4, 5, 6, 7
"""Places of a `dcmotor`'s numbers in the engine's `actuator_gainprm`."""


class PowerSupply:
    """The battery and the firmware settings of one robot with servos.

    Args:
        worlds: where the robot is.
        robot: its name in the scene.
    """

    def __init__(self, worlds: Worlds, robot: str) -> None:
        self._body = worlds.robot(robot)
        table = self._body.table
        placement = next(p for p in worlds.scene.placements if p.name == table.name)
        actuation = load_actuation(table.settings, placement.actuation)
        if actuation is None or not actuation.servo:
            raise ModelError(
                f"{robot} has ideal drives; only servos have a stiffness and a battery (--actuation servo)."
            )
        if actuation.printed:
            raise ModelError(f"{robot} has the motors as printed in the paper, which know no battery: use motoflex.")
        model = worlds.scene.model
        self.battery = actuation.battery
        self._motors = [model.actuator(f"{table.name}/{m}").id for m in table.motors]
        self._dofs = [int(model.jnt_dofadr[model.actuator_trnid[a, 0]]) for a in self._motors]
        groups = {
            joint: s for s in actuation.servo.values() for joint in chosen(s.joints, table.joints, "joint", robot)
        }
        servos = [groups[m] for m in table.motors]
        self._coulomb = np.array([0.0 if s.static else s.coulomb for s in servos])
        self._load = np.array([s.load_friction for s in servos])
        self._share = np.array([s.output_limit for s in servos])
        self._gains = worlds.batch.expand("actuator_gainprm")
        self._friction = worlds.batch.expand("dof_frictionloss") if self._load.any() else None
        self._full = self._gains[:, self._motors].copy()
        self._torque, self._rates = worlds.batch.bind("actuator_force"), worlds.qvel
        self.stiffness: Array = np.ones((worlds.count, len(servos)))
        """The Nao's stiffness of each motor, 0..1, (N, motors)."""
        self.voltage: Array = np.full(worlds.count, self.battery.voltage)
        """What the battery gives under the present load, (N,) [V]."""
        self.current: Array = np.zeros(worlds.count)
        """What the motors draw, (N,) [A]."""

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Brings voltage, gains and friction up to date."""
        if not (np.isfinite(self.stiffness).all() and ((self.stiffness >= 0) & (self.stiffness <= 1)).all()):
            raise ModelError("stiffness must be between 0 (limp) and 1 (full) for every motor.")
        torque, rates = self._torque[:, self._motors], self._rates[:, self._dofs]
        constant, resistance = self._full[..., CONSTANT], self._full[..., RESISTANCE]
        current = torque / constant
        power = current * (resistance * current + constant * rates)
        self.current[:] = np.maximum(power, 0.0).sum(axis=1) / self.battery.voltage
        self.voltage[:] = np.maximum(self.battery.voltage - self.battery.resistance * self.current, 0.0)
        braking = constant**2 / resistance
        new = self._full.copy()
        new[..., P_GAIN] *= self.stiffness
        new[..., I_GAIN] *= self.stiffness
        new[..., D_GAIN] = self.stiffness * (new[..., D_GAIN] - braking) + braking
        new[..., LIMIT] = self.stiffness * self._share * self.voltage[:, None]
        self._gains[:, self._motors] = new
        if self._friction is not None:
            self._friction[:, self._dofs] = self._coulomb + self._load * np.abs(torque)
