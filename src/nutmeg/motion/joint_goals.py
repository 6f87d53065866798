"""Joint angles to go to, told to whatever drives the joints.

    goals = JointGoals(worlds, "nao", period=0.02)
    goals.follow(angles)                    # (N, motors) [rad], or for some worlds: goals.follow(angles, chosen)

Position drives and servos are told the angles themselves, velocity drives the speeds that lead there within a cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.motion.own_body import Bodies


class JointGoals:
    """The motors of one robot in N worlds.

    Args:
        worlds: where it is: `Worlds`, or an `OwnBody`.
        robot: its name.
        period: of a control cycle [s].
    """

    def __init__(self, worlds: Bodies, robot: str, *, period: float = 0.02) -> None:
        self._robot, self._qpos, self._period = worlds.robot(robot), worlds.qpos, period
        table = self._robot.table
        strange = [kind for kind in table.drives if kind not in ("position", "velocity")]
        if strange:
            raise UsageError(
                f"{robot} has a {strange[0]} drive, which cannot be told an angle; "
                "needed are position or velocity drives."
            )
        self._velocity = np.array([kind == "velocity" for kind in table.drives])
        self._addresses = table.angles[table.motor_joints]

    @property
    def angles(self) -> Floats:
        """The angles of the motors' joints now, (N, motors) [rad]."""
        return np.asarray(np.take(self._qpos, self._addresses, axis=1))

    def follow(self, angles: Floats, chosen: Bools | None = None) -> None:
        """Tells the motors of all worlds, or of those chosen (N,), to go to angles (N, motors)."""
        told = np.where(self._velocity, (angles - self.angles) / self._period, angles)
        self._robot.command = told if chosen is None else np.where(chosen[:, None], told, self._robot.command)
