"""AIBOs that trot in simulated worlds.

    walker = TrotWalker(worlds, "ers7-1", [TrotSettings()])
    schedule.every(0.02, walker.sample)
    walker.wanted[:] = [0.2, 0.0, 0.0]          # (N, 3): m/s ahead, m/s to the left, rad/s to the left

It has what `Walker` has for those who steer: `wanted`, `chosen`, `walk`, `reset` and `sample` (see `Steered`). There is
no feedback from sensors. Neck, mouth, ears and tail stay as in the pose `ready`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.body.posing import pose_angles
from nutmeg.errors import UsageError
from nutmeg.motion.aibo_legs import AiboLegs
from nutmeg.motion.trot import Trot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.own_body import Bodies
    from nutmeg.motion.trot_settings import TrotSettings


class Steps(Protocol):
    """The steps of N robots, as who steers them sees them."""

    swing: Indices
    """What swings first, 0 or 1, (N,)."""

    def top_speed(self) -> Floats:
        """Fastest ahead, to the left and turning, (N, 3) [m/s, m/s, rad/s]."""
        ...

    def top_speed_back(self) -> Floats:
        """Fastest backward, (N,) [m/s]."""
        ...


class Steered(Protocol):
    """A walker of any kind, as who steers it sees it."""

    wanted: Floats
    """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
    chosen: Indices
    """The set of parameters that each world is to walk with, (N,)."""

    @property
    def walk(self) -> Steps:
        """Its steps."""
        ...

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing."""
        ...

    def sample(self, time: float) -> None:
        """One cycle."""
        ...


class TrotWalker:
    """One robot of every world, trotting.

    Args:
        worlds: N worlds with the robot in them.
        robot: its name.
        trots: parameters for each world, or one set for all.
        period: of a control cycle [s].
    """

    def __init__(self, worlds: Bodies, robot: str, trots: Sequence[TrotSettings], *, period: float = 0.02) -> None:
        if len(trots) not in (1, worlds.count):
            raise UsageError(f"{len(trots)} sets of trot parameters for {worlds.count} worlds; give one, or one each.")
        self._robot = worlds.robot(robot)
        table = self._robot.table
        if set(table.drives) != {"position"}:
            raise UsageError(f"{table.settings.name} is driven by {sorted(set(table.drives))}; a trot needs angles.")
        self.walk = Trot(AiboLegs(table), list(trots) * (worlds.count // len(trots)), period=period)
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """There is one set of parameters: always 0, (N,)."""
        ready = pose_angles(table.settings, table, "ready")[table.motor_joints]
        self._told = np.tile(ready, (worlds.count, 1))

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing."""
        self.walk.reset(ids)

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle: steps, commands."""
        self.walk.advance(self.wanted)
        self._told[:, self.walk.legs.columns] = self.walk.angles()
        self._robot.command = self._told
