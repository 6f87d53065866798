"""One robot of a host as its protocol sees it: commands in, sensors out, and what people do to it by hand.

robot = host.take("nao-1", period=0.012)
robot.tell(robot.motor_index(["HeadYaw"]), np.array([0.3]))     # rad; kept until told otherwise
robot.motors.stiffness[:] = 1.0
robot.read("imu")                                               # (6,) as `engine.sensing` says
robot.poke("ChestButton", 1.0)                                  # pressed by hand, until None lets go
robot.light("Chest", (0.0, 0.0, 1.0))                           # red, green, blue, 0 to 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.sensing import Sensing
from nutmeg.net.host_motors import HostMotors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.engine.worlds import Worlds


class HostedRobot:
    """A robot that somebody else's software moves.

    Args:
        worlds: where it is; one world.
        name: its name in the scene.
        period: of its control cycle [s].
        rng: source of its sensors' noise; None switches noise off.
    """

    def __init__(self, worlds: Worlds, name: str, *, period: float, rng: np.random.Generator | None) -> None:
        self.name, self.period = name, period
        self._views = worlds.robot(name)
        self.table = self._views.table
        """Names and order of its joints, motors and sensors."""
        self.senses = Sensing(worlds, name, rng, period=period)
        self.motors = HostMotors(worlds, name, period=period)
        self.pokes: dict[str, float] = {}
        """What somebody does to sensors by hand, by their names."""
        self.hands_on: tuple[str, ...] = ()
        """What a page offers to do to it, names for `poke`; said by its port."""
        self._until: dict[str, float] = {}
        self._now = 0.0
        self.lights: dict[str, tuple[float, float, float]] = {}
        """Colours of its lights by name, each part 0 to 1."""
        self._low, self._high = self.table.limits[self.table.motor_joints].T

    @property
    def kind(self) -> str:
        """Which robot it is: `nao-v6`, `ers7`."""
        return self.table.settings.name

    @property
    def angles(self) -> Floats:
        """True angles of the joints, (joints,) [rad]; `read` has those that the robot itself knows."""
        return np.asarray(self._views.angles[0])

    @property
    def rates(self) -> Floats:
        """True speeds of the joints, (joints,) [rad/s]."""
        return np.asarray(self._views.rates[0])

    @property
    def pose(self) -> Floats:
        """True place and quaternion of the root, (7,)."""
        return np.asarray(self._views.pose[0])

    @property
    def targets(self) -> Floats:
        """What the motors are told, (motors,) [rad]; a copy."""
        return np.array(self._views.command[0])

    def motor_index(self, names: Iterable[str]) -> Indices:
        """Places of motors in `targets`, `motors.stiffness` and so on."""
        return self.table.motor_index(list(names))

    def tell(self, index: Indices, angles: Floats) -> int:
        """Gives motors new targets [rad]; returns how many were no numbers, whose motors keep their old ones.

        Targets beyond a joint's range are moved to its end, as robots do.
        """
        good = np.isfinite(angles)
        chosen = index[good]
        command = self.targets
        command[chosen] = np.clip(angles[good], self._low[chosen], self._high[chosen])
        self._views.command = command[None]
        return int(len(angles) - np.count_nonzero(good))

    def read(self, sensor: str) -> Floats:
        """What a sensor says, (width,); poked ones say what they are poked to."""
        value: Floats = self.senses.read(sensor)[0]
        if sensor in self.pokes:
            return np.full_like(value, self.pokes[sensor])
        return value

    def poke(self, sensor: str, value: float | None, *, seconds: float = math.inf) -> None:
        """Makes a sensor say a value for a while, or until None lets go of it; may be called from any thread.

        Names of a protocol's own, such as `Battery`, count as sensors here.
        """
        if value is None:
            self.pokes.pop(sensor, None)
        else:
            self._until[sensor] = self._now + seconds
            self.pokes[sensor] = float(value)

    def sample(self, time: float) -> None:
        """Samples the sensors, and lets go of those that were poked for long enough; a task of the schedule."""
        self._now = time
        self.senses.sample(time)
        for sensor in [name for name in self.pokes if self._until.get(name, math.inf) <= time]:
            del self.pokes[sensor]

    def light(self, name: str, colour: tuple[float, float, float]) -> None:
        """Sets the colour of a light."""
        self.lights[name] = colour
