"""The motors of an AIBO under OPEN-R: power, gains, references.

    motors = OpenrMotors(model, robot)
    motors.power = True
    motors.set_gains(number, model.standard_gains(number))
    motors.refer(number, 0.5)                   # reference of a joint [rad]
    motors.turn()                               # once a frame, after the commands of that frame

A joint without power or with P = 0 is limp; its reference follows it, so that it does not jump when it is
switched on. With the standard gains it has the stiffness and damping of its drive; other gains scale them in
proportion, where half of the damping is taken to be that of the gear and stays. There is no integral part.

Ears have no gains: they are stiff while there is power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.net.openr.models import Gains, Kind

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.net.host_robot import HostedRobot
    from nutmeg.net.openr.models import Model


MOST_STIFFNESS = 8.0
"""Times the stiffness of the drive: at 16 times the light mouth would not be stable in steps of 4 ms."""
MOST_DAMPING = 4.0
"""Times the damping of the drive."""
GEAR = 0.5
"""Share of the damping that is the gear's; assumed."""


class OpenrMotors:
    """The motors of one robot.

    Args:
        model: which AIBO.
        robot: the simulated one.
    """

    def __init__(self, model: Model, robot: HostedRobot) -> None:
        self._model, self._robot = model, robot
        table = robot.table
        moved = {k: p.of for k, p in enumerate(model.primitives, 1) if p.kind.name.startswith("JOINT")}
        self._place = {k: int(robot.motor_index([of])[0]) for k, of in moved.items()}
        self._limits = table.limits[table.motor_joints]
        self._joints = table.motor_joints
        self._all = np.arange(len(table.motors))
        ears = [self._place[k] for k in moved if model.primitive(k).kind != Kind.JOINT2]
        self._soft = np.ones(len(table.motors), bool)
        self._soft[ears] = False
        self._scale = np.zeros((2, len(table.motors)))
        self._scale[:, ears] = 1.0
        self.gains: dict[int, Gains] = {k: Gains() for k in model.joints}
        """Of each joint, by its ID."""
        self.power = False
        """Whether the motors have power."""
        self.references: Floats = robot.targets
        """Where the joints shall go, (motors,) [rad]."""

    def wake(self) -> None:
        """Switches on with the standard gains."""
        self.power = True
        for number in self.gains:
            self.set_gains(number, self._model.standard_gains(number))

    def set_gains(self, number: int, gains: Gains) -> None:
        """Sets the gains of a joint, by its ID."""
        self.gains[number] = gains
        standard = self._model.standard_gains(number)
        stiff = gains.p / standard.p * 2.0 ** (standard.p_shift - gains.p_shift)
        damp = gains.d / standard.d * 2.0 ** (standard.d_shift - gains.d_shift)
        place = self._place[number]
        self._scale[0, place] = min(stiff, MOST_STIFFNESS)
        self._scale[1, place] = GEAR + (1 - GEAR) * min(damp, 2 * MOST_DAMPING - 1)

    def refer(self, number: int, angle: float) -> None:
        """Gives a joint a reference, by its ID [rad]; beyond its limits, the limit."""
        place = self._place[number]
        self.references[place] = np.clip(angle, *self._limits[place])

    def refer_ear(self, number: int, state: int) -> None:
        """Moves an ear down (0) or up (1); other states are no command."""
        if state in (0, 1):
            self.refer(number, float(self._limits[self._place[number]][state]))

    @property
    def limp(self) -> Bools:
        """Which motors do nothing, (motors,)."""
        return np.asarray((self._soft & (self._scale[0] == 0)) | (not self.power))

    def turn(self) -> None:
        """Passes references, gains and power on to the drives."""
        limp = self.limp
        self.references[limp] = self._robot.angles[self._joints][limp]
        motors = self._robot.motors
        motors.stiffness[:] = np.where(limp, 0.0, 1.0)
        motors.p_gain[:], motors.d_gain[:] = np.where(limp, 1.0, self._scale)
        self._robot.tell(self._all, self.references)
