"""Motors that are fed and released: a released servo neither drives nor brakes, and its friction stays.

    feed = Feed(worlds, "robot", releases=True)
    feed.sample(0.0, powered)               # (N,): once a control cycle if `feed.every_cycle`, else when it changes

A servo whose friction grows with its load, or whose battery sags, is brought up to date at every call (see
`supply`). An ideal drive is released by taking its torque away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.engine.servo_friction import places
from nutmeg.engine.supply import CONSTANT, PowerSupply, changes_with_load
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.engine.worlds import Worlds

NOTHING = 1e-9
"""In place of zero for what the engine divides by."""


class Feed:
    """What the motors of one robot get in each world.

    Args:
        worlds: where the robot is.
        robot: its name in the scene.
        releases: whether the motors are ever released.
    """

    def __init__(self, worlds: Worlds, robot: str, *, releases: bool) -> None:
        table = worlds.robot(robot).table
        model = worlds.scene.model
        motors = [model.actuator(f"{table.name}/{m}").id for m in table.motors]
        self._motors = places(motors)
        self.every_cycle = any(changes_with_load(one) for one in worlds.actuations(robot))
        """Whether motors change with what they do, so that they must be looked after in every control cycle."""
        self._supply = PowerSupply(worlds, robot) if self.every_cycle else None
        self._field: Floats | None = None
        if not releases:
            return
        servos = model.actuator_gaintype[motors] == mujoco.mjtGain.mjGAIN_DCMOTOR
        if not servos.all() and (servos.any() or (table.setpoints < 0).any()):
            raise ModelError(f"the motors of {robot} cannot be released: only servos and position drives can.")
        self._servos = bool(servos.all())
        self._field = worlds.batch.expand("actuator_gainprm" if self._servos else "actuator_forcerange")
        self._normal = self._field[:, self._motors].copy()

    def sample(self, time: float, powered: Bools | None) -> None:
        """Feeds the motors of the worlds that are powered, (N,), and releases the others."""
        if self._supply is not None:
            self._supply.sample(time)
        if self._field is None or powered is None:
            return
        if not self._servos:
            self._field[:, self._motors] = np.where(powered[:, None, None], self._normal, [-NOTHING, NOTHING])
            return
        if self._supply is None:
            self._field[:, self._motors] = self._normal
        column = self._normal[:, :, CONSTANT].copy()
        column[~powered] = NOTHING  # a winding that is not connected
        self._field[:, self._motors, CONSTANT] = column

    def restore(self) -> None:
        """Feeds all motors again, as before."""
        if self._field is not None:
            self._field[:, self._motors] = self._normal
