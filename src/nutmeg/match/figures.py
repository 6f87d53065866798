"""What a recording of a match draws: which robots there are, and how they and the ball stand.

    figures = LeagueFigures(world)              # the physical world's
    figures.poses(), figures.angles()           # (22, 7), (22, joints)

A world of robots without joints gives its players a body to be seen with: `behaviour.figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.base.arrays import Bools, Floats
from nutmeg.match.ground import PHYSICS, ROBOT
from nutmeg.match.percept import JOINTS

if TYPE_CHECKING:
    from nutmeg.match.world import MatchWorld


class Figures(Protocol):
    """The robots and the ball of a match, as they are seen."""

    robot: str
    """Which robot of the catalogue."""
    joints: tuple[str, ...]
    """The columns of `angles`; at least the joints of the robot."""
    physics: str
    """Profile of the scene; empty for the robot's own."""
    pose: str
    """The robot's pose in the scene before the first moment."""

    @property
    def field(self) -> str:
        """Name of the field."""
        ...

    @property
    def present(self) -> Bools:
        """(22,) who plays."""
        ...

    def kind(self, slot: int) -> str:
        """The robot's type of a player."""
        ...

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground where nobody plays."""
        ...

    def angles(self) -> Floats:
        """(22, joints) rad."""
        ...

    def ball(self) -> Floats:
        """(7,) place and attitude (quaternion) of the ball."""
        ...


class LeagueFigures:
    """Those of the physical world."""

    def __init__(self, world: MatchWorld) -> None:
        self._world = world
        self.robot, self.physics, self.pose = ROBOT, PHYSICS, "zero"
        self.joints: tuple[str, ...] = JOINTS

    @property
    def field(self) -> str:
        """Name of the field."""
        return self._world.field.name

    @property
    def present(self) -> Bools:
        """(22,) who plays."""
        return self._world.present

    def kind(self, slot: int) -> str:
        """The type of a player's robot; who does not play yet is drawn as type 0."""
        return f"type{self._world.types[slot]}" if self._world.present[slot] else "type0"

    def poses(self) -> Floats:
        """(22, 7) of the torsos."""
        return self._world.poses()

    def angles(self) -> Floats:
        """(22, 24) rad."""
        return np.radians(self._world.angles)

    def ball(self) -> Floats:
        """(7,)."""
        ground = self._world.ground
        return np.asarray(ground.world.qpos[ground.ball : ground.ball + 7])
