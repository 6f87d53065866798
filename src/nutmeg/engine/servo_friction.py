"""Dry friction of servos that depends on their load, for N worlds at once.

The teeth of a gear rub the more the harder they are pressed together: when the motor lifts a weight, and even more
when it holds it. With T the motor's torque at the joint and X what all else does to it (weight, springs, contacts),
they are squeezed by S, and the joint's dry friction at speed w is F:

    S = min(|T|, |X|) where T and X oppose each other, else 0
    F = coulomb + load_friction |T| + (squeeze_friction + squeeze_static / (1 + |w| / squeeze_speed)) S^2

    friction = ServoFriction(worlds, dofs, servos)              # servos: N rows of one for each motor
    friction.sample(torque, rates)                              # (N, motors) each, once a control cycle

The form of S and the exponent were chosen on recordings of a real servo (`examples/servo_xl330`): of the forms that
were tried it extrapolates best to gains and trajectories that were not fitted. Friction models with load, Stribeck
effect and a square of the load are discussed by Duclusaud, Passault, Padois and Ly, "Extended Friction Models for the
Physics Simulation of Servo Actuators" (2024), from whom the recordings are.

The engine knows the friction of a joint only together with its contacts; what is more than the joint's own friction
can be is taken for contact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.body.actuation.settings import Servo
    from nutmeg.engine.worlds import Worlds


def places(ids: Sequence[int]) -> slice | list[int]:
    """An index of the same places: a slice where they follow each other, which is much quicker than a list."""
    first = ids[0]
    return slice(first, first + len(ids)) if list(ids) == list(range(first, first + len(ids))) else list(ids)


class ServoFriction:
    """The dry friction of some joints.

    Args:
        worlds: where they are.
        dofs: of the joints that the motors turn, (motors,).
        servos: in each world, or in all alike, one for each motor.
    """

    def __init__(self, worlds: Worlds, dofs: Sequence[int], servos: Sequence[Sequence[Servo]]) -> None:
        self._dofs = places(dofs)
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
        """Brings the friction up to date with the motors' torques and speeds at the joints, (N, motors)."""
        friction = self._dry + self._load * np.abs(torque)
        if self._squeezed:
            fade = 1.0 / (1.0 + np.abs(rates) / self._speed)
            friction = friction + (self._moving + self._still * fade) * self._squeeze(torque) ** 2
        self._field[:, self._dofs] = friction

    def _squeeze(self, torque: Floats) -> Floats:
        """The torque with which motors and loads press on each other, (N, motors)."""
        passive, damper, bias, constraint = (force[:, self._dofs] for force in self._forces)
        own = self._field[:, self._dofs]
        load = passive - damper - bias + constraint - np.clip(constraint, -own, own)
        squeezed: Floats = np.where(torque * load < 0, np.minimum(np.abs(torque), np.abs(load)), 0.0)
        return squeezed
