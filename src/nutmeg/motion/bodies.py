"""A body as who lives in it knows it: joint angles, gyro and accelerometer of one robot, and speeds told to its drives.

    body = OwnBody("nao-spark", "type0", delay=1)
    walker = Walker(body, body.name, [walk])
    body.feel(angles, gyro, felt)           # (joints,) rad, (3,) rad/s, (3,) m/s^2, once a cycle
    walker.sample(time)
    body.command                            # (1, motors) rad/s, to be sent

Walks, get-ups and the rest of this chapter move robots in N simulated worlds (`Worlds`). All that they ask of these is
in the protocol `Bodies`; `OwnBody` is that for one robot of which nothing is known but what it tells, whoever simulates
it, or built it.

What is told may move the joints some cycles later only (`delay`). Joint angles are therefore carried forward by the
speeds that are on their way, as velocity drives follow them closely: motions see the body as it will be when their
command begins to act.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable


ROBOT_NAME = "self"
"""What the robot is called in its own scene."""


class MovedRobot(Protocol):
    """One robot of N bodies, as motions see it."""

    @property
    def table(self) -> RobotTable:
        """Its joints and motors."""
        ...

    @property
    def command(self) -> Floats:
        """What its motors are told, (N, motors)."""
        ...

    @command.setter
    def command(self, values: ArrayLike) -> None: ...


class Bodies(Protocol):
    """N bodies that motions move: simulated worlds, or one robot that only tells what it senses."""

    @property
    def count(self) -> int:
        """N."""
        ...

    @property
    def scene(self) -> Scene:
        """What the bodies are built like."""
        ...

    @property
    def qpos(self) -> Floats:
        """Configurations, (N, nq), at the addresses of the robots' tables; live."""
        ...

    def robot(self, name: str) -> MovedRobot:
        """A robot by name."""
        ...


@runtime_checkable
class SensingRobot(Protocol):
    """A robot that tells its gyro and accelerometer itself, with whatever noise they have."""

    gyro: Floats
    """Angular velocity in the torso's frame, (N, 3) [rad/s]."""
    felt: Floats
    """What the accelerometer measures, (N, 3) [m/s^2]."""
    up: Floats
    """Upward direction in the torso's frame at rest, (N, 3)."""


class OnboardRobot:
    """One robot with velocity drives that tells what it senses; it is its own `Bodies`.

    Args:
        robot: a robot that comes with Nutmeg.
        kind: its type.
        delay: after how many cycles a command begins to act; 0 is at once.
        period: of a cycle [s].
    """

    count = 1

    def __init__(self, robot: str, kind: str = "", *, delay: int = 0, period: float = 0.02) -> None:
        if delay < 0:
            raise UsageError(f"the delay of a body's drives is {delay} cycles; allowed is 0 or more.")
        self.scene, self.name = _scene(robot, kind), ROBOT_NAME
        self.table = self.scene.robot(ROBOT_NAME)
        strange = [drive for drive in self.table.drives if drive != "velocity"]
        if strange:
            raise UsageError(f"{robot} has {strange[0]} drives; a body of one's own needs velocity drives.")
        self.qpos: Floats = self.scene.start[None].copy()
        """(1, nq): the joints as they will be when a command begins to act."""
        self.gyro: Floats = np.zeros((1, 3))
        self.felt: Floats = np.array([[0.0, 0.0, GRAVITY]])
        self.up: Floats = np.array([[0.0, 0.0, 1.0]])
        self._addresses = self.table.angles[self.table.motor_joints]
        self._limits = self.table.limits[self.table.motor_joints]
        self.top_speeds: Floats = self.scene.model.actuator_ctrlrange[self.table.commands, 1].copy()
        """How fast the drives can turn, (motors,) [rad/s]."""
        self._period = period
        self._told = np.zeros((delay + 1, len(self.table.motors)))

    def robot(self, name: str) -> OnboardRobot:
        """The robot itself."""
        if name != ROBOT_NAME:
            raise UnknownNameError("robot", name, [ROBOT_NAME])
        return self

    @property
    def motors(self) -> tuple[str, ...]:
        """The joints in the order of `feel` and `command`."""
        return self.table.motors

    @property
    def angles(self) -> Floats:
        """Angles of the joints when a command begins to act, (motors,) [rad]."""
        return np.asarray(np.take(self.qpos[0], self._addresses))

    @property
    def command(self) -> Floats:
        """Speeds of the drives, (1, motors) [rad/s], within what they can do."""
        return self._told[:1]

    @command.setter
    def command(self, values: ArrayLike) -> None:
        np.minimum(np.maximum(values, -self.top_speeds), self.top_speeds, out=self._told[:1])

    def feel(self, angles: Floats, gyro: Floats, felt: Floats) -> None:
        """Takes in what is sensed in a cycle: (motors,) rad, (3,) rad/s and (3,) m/s^2, x ahead and y to the left."""
        ahead = angles + self._period * self._told[:-1].sum(axis=0)
        self.qpos[0, self._addresses] = np.minimum(np.maximum(ahead, self._limits[:, 0]), self._limits[:, 1])
        self.gyro[0], self.felt[0] = gyro, felt
        self._told[1:] = self._told[:-1]

    def at_rest(self) -> None:
        """Takes what the accelerometer feels now for the upward direction."""
        strength = float(np.sqrt((self.felt * self.felt).sum()))
        self.up[:] = self.felt / strength if strength > 0 else (0.0, 0.0, 1.0)


@lru_cache(maxsize=8)
def _scene(robot: str, kind: str) -> Scene:
    """The robot alone; compiled once."""
    placement = Placement(robot=robot, name=ROBOT_NAME, type=kind)
    return assemble(SceneSettings(field="none", ball="none", robots=(placement,), visuals=False))


# ----------------------------------------------------------------------------------------------------
# Joint angles to go to, told to whatever drives the joints.
#
# Position drives and servos are told the angles themselves, velocity drives the speeds that lead there within a
# cycle.


class JointTargets:
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
