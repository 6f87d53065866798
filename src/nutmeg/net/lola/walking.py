"""A Nao that walks over LoLA: the walks of `motion`, from nothing but what the robot tells.

    with LolaClient.connect("/tmp/robocup") as client:
        nao = WalkingNao(client)
        nao.stand(2.0)                          # to where the walk begins, within so many seconds
        nao.wanted[:] = (0.1, 0.0, 0.0)         # m/s ahead, m/s to the left, rad/s to the left
        for senses in nao.walk(10.0): ...       # seconds

Joint angles, gyro and accelerometer go in, targets of the joints come out, once in every cycle of 12 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UnknownNameError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.walk.files import read_walk
from nutmeg.motion.walk.walker import Walker
from nutmeg.net.lola.packets import HANDS, JOINTS, PERIOD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.net.lola.client import LolaClient, Senses


ROBOT, NAME = "nao-v6", "self"
FALLEN = 0.9
"""A torso that leans more than this lies [rad]."""


class ToldBody:
    """One Nao of which nothing is known but what it tells; the `Bodies` of a walker, with position drives."""

    count = 1

    def __init__(self) -> None:
        placement = Placement(robot=ROBOT, name=NAME)
        self.scene = assemble(SceneSettings(field="none", ball="none", robots=(placement,), visuals=False))
        self.table = self.scene.robot(NAME)
        self.qpos: Floats = self.scene.start[None].copy()
        """(1, nq): the joints as they are told."""
        self.gyro: Floats = np.zeros((1, 3))
        self.felt: Floats = np.array([[0.0, 0.0, GRAVITY]])
        self.up: Floats = np.array([[0.0, 0.0, 1.0]])
        self._command: Floats = np.zeros((1, len(self.table.motors)))
        joints = [name for name in JOINTS if name not in HANDS]
        self._places = np.array([JOINTS.index(name) for name in joints])
        self._addresses = self.table.angles[[self.table.joints.index(name) for name in joints]]
        self._follower = self.table.angles[self.table.joints.index("RHipYawPitch")]

    def robot(self, name: str) -> ToldBody:
        """The robot itself."""
        if name != NAME:
            raise UnknownNameError("robot", name, [NAME])
        return self

    @property
    def command(self) -> Floats:
        """Targets of the motors, (1, motors) [rad]."""
        return self._command

    @command.setter
    def command(self, values: ArrayLike) -> None:
        self._command[:] = values

    def feel(self, senses: Senses) -> None:
        """Takes in a packet."""
        self.qpos[0, self._addresses] = senses.position[self._places]
        self.qpos[0, self._follower] = senses.position[JOINTS.index("LHipYawPitch")]
        self.gyro[0], self.felt[0] = senses.gyroscope, -senses.accelerometer


class WalkingNao:
    """A Nao that stands up straight and walks.

    Args:
        client: a connection to it.
        walk: name or file of a walk for nao-v6.
    """

    def __init__(self, client: LolaClient, walk: str = ROBOT) -> None:
        self._client, self._body = client, ToldBody()
        settings = read_walk(walk).for_robot(ROBOT).walk
        self._body.feel(client.sense())
        client.send()
        self._walker = Walker(self._body, NAME, [settings], period=PERIOD)
        self.wanted: Floats = self._walker.wanted[0]
        """Wanted velocity, (3,) [m/s, m/s, rad/s], live."""

    def stand(self, seconds: float) -> Senses:
        """Goes from where the joints are to where the walk begins; returns what is sensed there."""
        start: dict[str, float] = {}
        goal = self._goal(self._walker.targets())
        count = max(1, round(seconds / PERIOD))
        for cycle, senses in enumerate(self._client.cycles(count)):
            start = start or {name: float(senses.position[JOINTS.index(name)]) for name in goal}
            share = (1 - math.cos(math.pi * (cycle + 1) / count)) / 2
            self._client.move({n: start[n] + share * (goal[n] - start[n]) for n in goal}, stiffness=1.0)
        self._body.feel(senses)
        self._walker.reset()
        return senses

    def walk(self, seconds: float) -> Iterator[Senses]:
        """Walks as `wanted` says for so long, or until the robot has fallen."""
        for cycle, senses in enumerate(self._client.cycles(round(seconds / PERIOD))):
            self._body.feel(senses)
            self._walker.sample(cycle * PERIOD)
            self._client.move(self._goal(self._body.command), stiffness=1.0)
            yield senses
            if np.abs(senses.angles).max() > FALLEN:
                return

    def _goal(self, targets: Floats) -> dict[str, float]:
        return dict(zip(self._body.table.motors, targets[0].tolist(), strict=True))
