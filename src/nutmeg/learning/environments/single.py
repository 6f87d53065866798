"""The environments with one robot: row 0 of a batch of one.

env = gymnasium.make("nutmeg/GoToTarget-v0", trajectory="curve")
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from nutmeg.base.arrays import Floats32
from nutmeg.errors import UsageError
from nutmeg.learning.environments.go_to_target import GoToTargetTask
from nutmeg.learning.environments.options import GoToTargetOptions, WalkVelocityOptions, chosen
from nutmeg.learning.environments.pictures import Pictures, checked_mode
from nutmeg.learning.environments.registration import GO_TO_TARGET, WALK_VELOCITY
from nutmeg.learning.environments.task import action_space, checked
from nutmeg.learning.environments.walk_velocity import WalkVelocityTask

if TYPE_CHECKING:
    from nutmeg.learning.environments.task import Task

_ONE = np.ones(1, dtype=bool)


class TaskEnv(gymnasium.Env[Floats32, Floats32]):
    """A task for one robot.

    Args:
        task: a batch of one.
        render_mode: `rgb_array`, or None for no pictures.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's)

    def __init__(self, task: Task, render_mode: str | None) -> None:
        self.task, self.render_mode = task, checked_mode(render_mode)
        self.layout = task.layout
        """Where the parts of an observation are: `layout.slices["gyro"]`."""
        self.observation_space, self.action_space = task.layout.space, action_space(task)
        self._pictures: Pictures | None = None
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats32, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        self.task.begin(np.zeros(1, dtype=np.intp), [self.np_random], options or {})
        self._running = True
        return self.task.observe()[0], self._info()

    def step(self, action: Floats32) -> tuple[Floats32, float, bool, bool, dict[str, Any]]:
        """One cycle of 20 ms."""
        if not self._running:
            raise UsageError("the episode is over or was never begun; call reset() before step().")
        values = checked(action, self.action_space.shape or ())
        outcome = self.task.advance(values[None], _ONE)
        fell, over = bool(outcome.fell[0]), bool(outcome.over[0])
        self._running = not (fell or over)
        return self.task.observe()[0], float(outcome.reward[0]), fell, over, self._info()

    def _info(self) -> dict[str, Any]:
        return {name: value[0] for name, value in self.task.info().items()}

    def render(self) -> Any:  # noqa: ANN401 (Gymnasium's frames may be anything)
        """A picture (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        if self._pictures is None:
            self._pictures = Pictures(self.task.options)
        return self._pictures.draw(self.task.bodies.worlds.qpos[0])

    def close(self) -> None:
        """Gives the renderer back."""
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None


class WalkVelocityEnv(TaskEnv):
    """`nutmeg/WalkVelocity-v0`; options are those of `WalkVelocityOptions`."""

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:  # noqa: ANN401
        super().__init__(WalkVelocityTask(chosen(WalkVelocityOptions, WALK_VELOCITY, options), 1), render_mode)


class GoToTargetEnv(TaskEnv):
    """`nutmeg/GoToTarget-v0`; options are those of `GoToTargetOptions`."""

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:  # noqa: ANN401
        super().__init__(GoToTargetTask(chosen(GoToTargetOptions, GO_TO_TARGET, options), 1), render_mode)
