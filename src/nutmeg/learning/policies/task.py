"""What the tasks of reinforcement learning share: N robots in worlds of their own, stepped by some threads.

    task.observation, task.truth            # (N, ...): what the network sees, and what only the critic does
    task.advance(actions)                   # 20 ms; then task.reward (N,), task.ended (N,), task.cut (N,)
    task.begin(np.flatnonzero(task.ended | task.cut))

A task has a compiled function before the physics step and one after it (`_command`, `_judge`); both go robot by robot,
and every robot has random numbers of its own, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Floats32
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import record_values
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.ppo import Mirrors
from nutmeg.motion.policy import legs_of, moved_motors
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.policy import MirrorImage

CHUNKS_A_THREAD = 2
"""Into how many parts the robots of a thread are cut, so that threads end at about the same time."""


@dataclass(frozen=True)
class BodyAddresses:
    """Where a robot's numbers are in the engine's arrays; compiled code has it as a record."""

    root: int
    """Place of the torso in the configuration."""
    rate: int
    """Place of its velocity."""
    moved: Annotated[Floats, (32,)]
    """Places of the angles of the motors that the policy moves."""
    other_count: int
    """How many other motors there are: neck, then toes."""
    others: Annotated[Floats, (4,)]
    """Places of their angles."""
    moved_motors: Annotated[Floats, (32,)]
    """The motors that the policy moves."""
    other_motors: Annotated[Floats, (4,)]
    """The others."""
    legs: Annotated[Floats, (2, 6)]
    """Places of the angles of the legs, from the hip down, left before right."""


def body_addresses(table: RobotTable) -> np.ndarray[Any, Any]:
    """The record of `BodyAddresses`, (1,)."""
    moved = moved_motors(table)
    others, width = np.setdiff1d(np.arange(len(table.motors)), moved), len(moved)
    place = table.angles[table.motor_joints]
    rows = {name: np.zeros(32) for name in ("moved", "moved_motors")}
    rows["moved"][:width], rows["moved_motors"][:width] = place[moved], moved
    few = {name: np.zeros(4) for name in ("others", "other_motors")}
    few["others"][: len(others)], few["other_motors"][: len(others)] = place[others], others
    legs = np.array([[table.angles[table.joints.index(name)] for name in leg] for leg in legs_of(table).names], float)
    return record_values(
        BodyAddresses(root=table.root, rate=table.root_rate, other_count=len(others), legs=legs, **rows, **few)
    )


class RobotTask:
    """N robots that learn something.

    Args:
        scene: a world with the robot `ROBOT_NAME`.
        count: how many robots, N.
        threads: how many threads step them; results are the same.
        image: how observations and actions look in a mirror.
        truth: where each number that only the critic sees is in a mirror, and its sign.
    """

    learning = "robots"
    """What the robots learn, in a word."""

    def __init__(
        self, scene: Scene, count: int, *, threads: int, image: MirrorImage, truth: Sequence[tuple[int, float]]
    ) -> None:
        self.scene = scene
        self.worlds = Worlds(scene, count, threads=threads)
        self._robot = self.worlds.robot(ROBOT_NAME)
        self._steps = steps_in(CONTROL_CYCLE, scene.timestep)
        self._addresses = body_addresses(self._robot.table)
        self.image, self._truth = image, truth
        self.actions = len(image.action)
        """How many numbers an action has."""
        self.observation: Floats32 = np.zeros((count, len(image.observation)), np.float32)
        """What the network sees, (N, observations)."""
        self.truth: Floats32 = np.zeros((count, len(truth)), np.float32)
        """What only the critic sees, (N, truths)."""
        self.reward: Floats32 = np.zeros(count, np.float32)
        """Of the last cycle, (N,)."""
        self.ended: Bools = np.zeros(count, dtype=bool)
        """Episodes that ended for good in the last cycle, (N,)."""
        self.cut: Bools = np.zeros(count, dtype=bool)
        """Episodes that were cut off after the last cycle and would have gone on, (N,)."""
        self._commands = np.zeros((count, len(self._robot.table.motors)))
        parts = np.array_split(np.arange(count), threads * CHUNKS_A_THREAD)
        self._chunks = [slice(int(part[0]), int(part[-1]) + 1) for part in parts if len(part)]
        self._pool = ThreadPoolExecutor(threads)

    @property
    def count(self) -> int:
        """How many robots there are, N."""
        return len(self.reward)

    def mirrors(self) -> Mirrors | None:
        """How experience looks in a mirror; None where the task has no mirror image."""
        partners, signs = zip(*self._truth, strict=True)
        return Mirrors(self.image[:2], (np.array(partners), np.array(signs, np.float32)), self.image[2:])

    def begin(self, rows: Indices) -> None:
        """Begins episodes `rows` (n,) anew."""
        raise NotImplementedError

    def reseed(self, seeds: np.random.SeedSequence) -> None:
        """Gives every robot other random numbers."""
        raise NotImplementedError

    def use_level(self, level: float) -> None:
        """How hard it is from now on, 0..1."""
        raise NotImplementedError

    def measures(self) -> dict[str, float]:
        """How well the robots did since the last call."""
        raise NotImplementedError

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether measures are good enough for a higher level."""
        raise NotImplementedError

    def _command(self, actions: Floats32, rows: slice) -> None:
        raise NotImplementedError

    def _judge(self, rows: slice) -> None:
        raise NotImplementedError

    def advance(self, actions: Floats32) -> None:
        """Lets a cycle of 20 ms pass, (N, actions)."""
        list(self._pool.map(lambda rows: self._command(actions[rows], rows), self._chunks))
        self._robot.command = self._commands
        self.worlds.step(self._steps)
        list(self._pool.map(self._judge, self._chunks))
        broken = self.worlds.diverged()
        if broken.any():  # a world that broke down ends, and nothing of it is learned from
            self.ended[broken], self.cut[broken], self.reward[broken] = True, False, -1.0
            self.observation[broken], self.truth[broken] = 0.0, 0.0

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()
