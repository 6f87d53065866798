"""The robots that motions move: in N simulated worlds, or one robot of which only its sensor reports are known.

Walks, get-ups and the other motions move robots through the protocol `Bodies`. `Worlds` has it for N simulated robots;
`OnboardRobot` has it for one robot of which only the sensors are known, such as a client's in a match:

    body = OnboardRobot("nao-spark", "type0", delay=1)
    walker = Walker(body, body.name, [walk])
    body.observe(angles, gyro, acceleration)   # (joints,) rad, (3,) rad/s, (3,) m/s^2, once a cycle
    walker.sample(time)
    body.command                            # (1, motors) rad/s, to be sent

`ReportedRobot` is the same for position drives: its reports are written into its arrays.

A command may act some cycles later (`delay`). Joint angles are therefore carried forward by the speeds that are on
their way, as velocity drives follow them closely: motions see the joints as they will be when their command begins to
act.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable


ROBOT_NAME = "self"
"""Name of a `ReportedRobot` in its scene."""


class MovedRobot(Protocol):
    """One robot of N worlds, as motions see it."""

    @property
    def table(self) -> RobotTable:
        """Its joints and motors."""
        ...

    @property
    def command(self) -> Floats:
        """Commands of its motors, (N, motors)."""
        ...

    @command.setter
    def command(self, values: ArrayLike) -> None: ...


class Bodies(Protocol):
    """The interface of robots that motions move: in N simulated worlds, or one robot that reports its sensors."""

    @property
    def count(self) -> int:
        """Number of worlds N."""
        ...

    @property
    def scene(self) -> Scene:
        """The model that the robots are built from."""
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
    """A robot that reports the readings of its gyro and accelerometer, with the noise that they have."""

    gyro: Floats
    """Angular velocity in the torso's frame, (N, 3) [rad/s]."""
    acceleration: Floats
    """Proper acceleration that the accelerometer measures, (N, 3) [m/s^2]."""
    up: Floats
    """Upward direction in the torso's frame at rest, (N, 3)."""


class ReportedRobot:
    """One robot of which only its reports are known, such as one on the network; it is its own `Bodies`.

    The code that receives its reports writes them into `qpos`, `gyro` and `acceleration`.
    """

    count = 1

    def __init__(self, robot: str, kind: str = "") -> None:
        self.scene, self.name = _scene(robot, kind), ROBOT_NAME
        self.table: RobotTable = self.scene.robot(ROBOT_NAME)
        self.qpos: Floats = self.scene.start[None].copy()
        """(1, nq): the joints as the robot reports them."""
        self.gyro: Floats = np.zeros((1, 3))
        self.acceleration: Floats = np.array([[0.0, 0.0, GRAVITY]])
        self.up: Floats = np.array([[0.0, 0.0, 1.0]])
        self._command: Floats = np.zeros((1, len(self.table.motors)))

    def robot(self, name: str) -> Self:
        """The robot itself."""
        if name != ROBOT_NAME:
            raise UnknownNameError("robot", name, [ROBOT_NAME])
        return self

    @property
    def command(self) -> Floats:
        """Commands of its motors, (1, motors) [rad, or rad/s for velocity drives]."""
        return self._command

    @command.setter
    def command(self, values: ArrayLike) -> None:
        self._command[:] = values


class OnboardRobot(ReportedRobot):
    """One robot with velocity drives of which only its reports are known.

    Args:
        robot: a robot that comes with Nutmeg.
        kind: its type.
        delay: number of cycles after which a command begins to act; 0 is at once.
        period: control cycle [s].
    """

    def __init__(self, robot: str, kind: str = "", *, delay: int = 0, period: float = 0.02) -> None:
        if delay < 0:
            raise UsageError(f"the delay of a body's drives is {delay} cycles; allowed is 0 or more.")
        super().__init__(robot, kind)
        strange = [drive for drive in self.table.drives if drive != "velocity"]
        if strange:
            raise UsageError(f"{robot} has {strange[0]} drives; an onboard robot needs velocity drives.")
        self._addresses = self.table.angles[self.table.motor_joints]
        self._limits = self.table.limits[self.table.motor_joints]
        self.top_speeds: Floats = self.scene.model.actuator_ctrlrange[self.table.commands, 1].copy()
        """Top speeds of the drives, (motors,) [rad/s]."""
        self._period = period
        self._commands = np.zeros((delay + 1, len(self.table.motors)))

    @property
    def motors(self) -> tuple[str, ...]:
        """The joints in the order of `observe` and `command`."""
        return self.table.motors

    @property
    def angles(self) -> Floats:
        """Angles of the joints when a command begins to act, (motors,) [rad]."""
        return np.asarray(np.take(self.qpos[0], self._addresses))

    @property
    def command(self) -> Floats:
        """Speeds of the drives, (1, motors) [rad/s], within what they can do."""
        return self._commands[:1]

    @command.setter
    def command(self, values: ArrayLike) -> None:
        np.minimum(np.maximum(values, -self.top_speeds), self.top_speeds, out=self._commands[:1])

    def observe(self, angles: Floats, gyro: Floats, acceleration: Floats) -> None:
        """Takes the observation of a cycle: (motors,) rad, (3,) rad/s and (3,) m/s^2, x ahead and y to the left.

        Angles in `qpos` are those that joints will have when a command begins to act.
        """
        ahead = angles + self._period * self._commands[:-1].sum(axis=0)
        self.qpos[0, self._addresses] = np.minimum(np.maximum(ahead, self._limits[:, 0]), self._limits[:, 1])
        self.gyro[0], self.acceleration[0] = gyro, acceleration
        self._commands[1:] = self._commands[:-1]

    def at_rest(self) -> None:
        """Takes the acceleration measured now for the upward direction."""
        strength = float(np.sqrt((self.acceleration * self.acceleration).sum()))
        self.up[:] = self.acceleration / strength if strength > 0 else (0.0, 0.0, 1.0)


@lru_cache(maxsize=8)
def _scene(robot: str, kind: str) -> Scene:
    """The robot alone; compiled once."""
    placement = Placement(robot=robot, name=ROBOT_NAME, type=kind)
    return assemble(SceneSettings(field="none", ball="none", robots=(placement,), visuals=False))


class JointTargets:
    """Commands that bring the joints of one robot in N worlds to target angles.

    Position drives and servos are commanded the angles themselves, velocity drives the speeds that lead there within a
    cycle.

    Args:
        worlds: `Worlds`, or an `OnboardRobot`.
        robot: the robot's name.
        period: control cycle [s].
    """

    def __init__(self, worlds: Bodies, robot: str, *, period: float = 0.02) -> None:
        self._robot, self._qpos, self._period = worlds.robot(robot), worlds.qpos, period
        table = self._robot.table
        strange = [kind for kind in table.drives if kind not in ("position", "velocity")]
        if strange:
            raise UsageError(
                f"{robot} has a {strange[0]} drive, which cannot be commanded an angle; "
                "needed are position or velocity drives."
            )
        self._velocity = np.array([kind == "velocity" for kind in table.drives])
        self._addresses = table.angles[table.motor_joints]

    @property
    def angles(self) -> Floats:
        """The angles of the motors' joints now, (N, motors) [rad]."""
        return np.asarray(np.take(self._qpos, self._addresses, axis=1))

    def follow(self, angles: Floats, chosen: Bools | None = None) -> None:
        """Commands the motors of all worlds, or of those chosen (N,), to go to angles (N, motors)."""
        commands = np.where(self._velocity, (angles - self.angles) / self._period, angles)
        self._robot.command = commands if chosen is None else np.where(chosen[:, None], commands, self._robot.command)


@dataclass(frozen=True)
class Mirror:
    """The mirror image of a posture: motor `i` gets the angle of motor `partner[i]` times `sign[i]`."""

    partner: Indices
    sign: Floats

    @classmethod
    def of(cls, scene: Scene, table: RobotTable) -> Mirror:
        """The mirror of a robot, from its joints' names and axes."""
        axes = {name: np.array(scene.model.joint(f"{table.name}/{name}").axis) for name in table.joints}
        partner, sign = np.arange(len(table.motors)), np.ones(len(table.motors))
        for motor, joint in enumerate(table.motor_joints):
            name = table.joints[joint]
            other = other_side(name, table.joints) or name
            if other in table.motors:
                partner[motor] = table.motors.index(other)
            sign[motor] = np.sign(axes[other] @ (axes[name] * [-1.0, 1.0, -1.0]))
        return cls(partner, sign)

    def __call__(self, poses: Floats) -> Floats:
        """The mirror images of postures, (..., motors)."""
        return np.asarray(poses[..., self.partner] * self.sign)


def is_left(joint: str) -> bool:
    """Whether a joint is named as one of the left side: `Left_Knee_Pitch`, `ALeft_Shoulder_Pitch`, `llj4`."""
    return "Left" in joint or joint[0] in "lL"


def other_side(joint: str, joints: tuple[str, ...]) -> str:
    """The joint of the other side; empty for a joint in the middle.

    Names say their side in a word (`Left_Knee_Pitch`, `ALeft_Shoulder_Pitch`) or by their first letter (`llj4`).
    """
    swapped = {"l": "r", "r": "l", "L": "R", "R": "L"}.get(joint[0], "") + joint[1:]
    for side, other in (("Left", "Right"), ("Right", "Left")):
        if side in joint:
            swapped = joint.replace(side, other)
    return swapped if swapped != joint and swapped in joints else ""
