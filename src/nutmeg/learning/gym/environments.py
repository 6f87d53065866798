"""The environments as Gymnasium knows them, with one robot or with N in one batch of worlds.

    env = gymnasium.make("nutmeg/GoToTarget-v0", trajectory="curve")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

    envs = gymnasium.make_vec("nutmeg/WalkVelocity-v0", num_envs=64, threads=2)
    observations, infos = envs.reset(seed=1)                # robot i begins with the seed 1 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

One robot is row 0 of a batch of one. What happens to an episode of a batch that is over is one of Gymnasium's three
ways, `autoreset_mode`: `NextStep` (the step after the last one begins the next episode and ignores the action; the
default), `SameStep` (the last step does, and gives the last observation as `final_obs`), or `Disabled` (reset with
`options={"reset_mask": mask}`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from nutmeg.base.arrays import Bools, Floats, Floats32
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.learning.gym.go_to_target import GoToTargetOptions, GoToTargetTask
from nutmeg.learning.gym.robots import check_whole, checked_mode
from nutmeg.learning.gym.spaces import action_space, checked_actions, checked_options
from nutmeg.learning.gym.walk_velocity import WalkVelocityOptions, WalkVelocityTask

if TYPE_CHECKING:
    from nutmeg.base.arrays import Indices
    from nutmeg.learning.gym.spaces import Task

    MakeTask = staticmethod[[dict[str, Any], int], Task]


WALK_VELOCITY = "nutmeg/WalkVelocity-v0"
GO_TO_TARGET = "nutmeg/GoToTarget-v0"
IDS = (WALK_VELOCITY, GO_TO_TARGET)
EPISODE_CYCLES = 1000
"""The longest episode of `WALK_VELOCITY` [cycles of 20 ms]; those of `GO_TO_TARGET` are as long as their trajectory."""


def register_environments() -> None:
    """Makes the environments known to Gymnasium; once is enough, and more often does no harm."""
    for name, stem, longest in ((WALK_VELOCITY, "WalkVelocity", EPISODE_CYCLES), (GO_TO_TARGET, "GoToTarget", None)):
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point=f"{__name__}:{stem}Env",
                vector_entry_point=f"{__name__}:{stem}VectorEnv",
                max_episode_steps=longest,
            )


_ONE = np.ones(1, dtype=bool)


def _walk_velocity_task(options: dict[str, Any], count: int) -> Task:
    """The task of `nutmeg/WalkVelocity-v0` for `count` robots."""
    return WalkVelocityTask(checked_options(WalkVelocityOptions, WALK_VELOCITY, options), count)


def _go_to_target_task(options: dict[str, Any], count: int) -> Task:
    """The task of `nutmeg/GoToTarget-v0` for `count` robots."""
    return GoToTargetTask(checked_options(GoToTargetOptions, GO_TO_TARGET, options), count)


class TaskEnv(gymnasium.Env[Floats32, Floats32]):
    """A task for one robot.

    Args:
        render_mode: `rgb_array`, or None for no pictures.
        options: those of the task.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's)
    make_task: ClassVar[MakeTask]

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:  # noqa: ANN401
        self.task, self.render_mode = type(self).make_task(options, 1), checked_mode(render_mode)
        task = self.task
        self.layout = task.layout
        """Where the parts of an observation are: `layout.slices["gyro"]`."""
        self.observation_space, self.action_space = task.layout.space, action_space(task)
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
        values = checked_actions(action, self.action_space.shape or ())
        outcome = self.task.advance(values[None], _ONE)
        fell, over = bool(outcome.fell[0]), bool(outcome.over[0])
        self._running = not (fell or over)
        return self.task.observe()[0], float(outcome.reward[0]), fell, over, self._info()

    def _info(self) -> dict[str, Any]:
        return {name: value[0] for name, value in self.task.info().items()}

    def render(self) -> Any:  # noqa: ANN401 (Gymnasium's frames may be anything)
        """A picture (height, width, 3), or None without a render mode."""
        return None if self.render_mode is None else self.task.bodies.picture(0)

    def close(self) -> None:
        """Frees the renderer."""
        self.task.bodies.close()


class WalkVelocityEnv(TaskEnv):
    """`nutmeg/WalkVelocity-v0`; options are those of `WalkVelocityOptions`."""

    make_task = staticmethod(_walk_velocity_task)


class GoToTargetEnv(TaskEnv):
    """`nutmeg/GoToTarget-v0`; options are those of `GoToTargetOptions`."""

    make_task = staticmethod(_go_to_target_task)


MAX_ROBOTS = 100_000
"""The most robots of one batch."""
Stepped = tuple[Floats32, Floats, Bools, Bools, dict[str, Any]]


class TaskVectorEnv(VectorEnv[Floats32, Floats32, Any]):
    """A task for N robots.

    Args:
        num_envs: how many robots, N.
        max_episode_steps: after how many cycles episodes are cut off; None for never.
        autoreset_mode: what happens to episodes that are over.
        render_mode: `rgb_array`, or None for no pictures.
        options: those of the task.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (Gymnasium's)
    make_task: ClassVar[MakeTask]

    def __init__(
        self,
        *,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        check_whole("num_envs", num_envs, 1, MAX_ROBOTS)
        task = type(self).make_task(options, num_envs)
        self.task, self.num_envs, self.layout = task, num_envs, task.layout
        self.render_mode = checked_mode(render_mode)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        if max_episode_steps is not None and (not isinstance(max_episode_steps, int) or max_episode_steps < 1):
            raise UsageError(f"max_episode_steps is {max_episode_steps!r}; allowed is a whole number from 1, or None.")
        self._longest = max_episode_steps
        self.single_observation_space, self.single_action_space = task.layout.space, action_space(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._generators: list[np.random.Generator] = []
        self._cycles = np.zeros(self.num_envs, dtype=np.intp)
        self._done = np.zeros(self.num_envs, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats32, dict[str, Any]]:
        """Begins all episodes, or those of `options["reset_mask"]`.

        Args:
            seed: the first robot's, the others get the following numbers; or one for each; or None to go on drawing.
            options: those of the task, and `reset_mask` (N,).
        """
        given = dict(options or {})
        rows = np.flatnonzero(self._mask(given.pop("reset_mask", None)))
        self._seed(seed, rows)
        self._begin(rows, given)
        return self.task.observe(), self._infos()

    def _mask(self, mask: object) -> Bools:
        """Which episodes a reset is for, (N,)."""
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise UsageError(f"reset_mask is {mask!r}; needed is a NumPy array of {self.num_envs} booleans.")
        if not mask.any():
            raise UsageError("reset_mask is False everywhere; at least one must be True.")
        return mask

    def _seed(self, seed: int | Sequence[int | None] | None, rows: Indices) -> None:
        """Gives robots `rows` their generators."""
        if not self._generators:
            self._generators = [seeding.np_random()[0] for _ in range(self.num_envs)]
        if seed is None:
            return
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int | np.integer) else list(seed)
        if len(seeds) != self.num_envs:
            raise UsageError(f"{len(seeds)} seeds for {self.num_envs} robots; give one number, or one for each.")
        for row in rows:
            one = seeds[row]
            if one is not None:
                self._generators[row] = seeding.np_random(int(one))[0]
        self._np_random = self._generators[0]
        self._np_random_seed = None if seeds[0] is None else int(seeds[0])

    def _begin(self, rows: Indices, given: dict[str, Any]) -> None:
        self.task.begin(rows, [self._generators[row] for row in rows], given)
        self._cycles[rows], self._done[rows] = 0, False

    def step(self, actions: Floats32) -> Stepped:
        """One cycle of 20 ms of every robot."""
        if not self._generators:
            raise UsageError("no episode was begun; call reset() before step().")
        values = checked_actions(actions, self.action_space.shape or ())
        due = self._done.copy()
        if due.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            raise UsageError(
                f"the episodes {np.flatnonzero(due).tolist()} are over; begin them again with "
                'reset(options={"reset_mask": mask}), or choose another autoreset_mode.'
            )
        outcome = self.task.advance(values, ~due)
        self._cycles += 1
        late = np.zeros(self.num_envs, bool) if self._longest is None else self._cycles >= self._longest
        fell, over = outcome.fell & ~due, (outcome.over | late) & ~due
        reward = np.where(due, 0.0, outcome.reward)
        if due.any():
            self._begin(np.flatnonzero(due), {})
        self._done = fell | over
        if self._done.any() and self.autoreset_mode is AutoresetMode.SAME_STEP:
            observations, infos = self._renewed()
        else:
            observations, infos = self.task.observe(), self._infos()
        return observations, reward, fell, over, infos

    def _renewed(self) -> tuple[Floats32, dict[str, Any]]:
        """Begins the episodes that are over; what they ended with goes into the infos."""
        done, last = self._done.copy(), self.task.observe()
        final = self._infos(done)
        rows = np.flatnonzero(done)
        kept = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            kept[row] = last[row]
        self._begin(rows, {})
        ended = {"final_obs": kept, "_final_obs": done, "final_info": final, "_final_info": done.copy()}
        return self.task.observe(), {**self._infos(), **ended}

    def _infos(self, which: Bools | None = None) -> dict[str, Any]:
        """The task's further numbers, and for which robots they are (all, or `which`), as Gymnasium wants them."""
        mask = np.ones(self.num_envs, dtype=bool) if which is None else which
        infos: dict[str, Any] = {}
        for name, value in self.task.info().items():
            infos[name], infos[f"_{name}"] = value, mask.copy()
        return infos

    def render(self) -> tuple[Any, ...] | None:
        """A picture (height, width, 3) of every robot, or None without a render mode."""
        if self.render_mode is None:
            return None
        return tuple(self.task.bodies.picture(row) for row in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002, ANN401
        """Frees the renderer."""
        self.task.bodies.close()


class WalkVelocityVectorEnv(TaskVectorEnv):
    """`nutmeg/WalkVelocity-v0` for N robots; options are those of `WalkVelocityOptions`."""

    make_task = staticmethod(_walk_velocity_task)


class GoToTargetVectorEnv(TaskVectorEnv):
    """`nutmeg/GoToTarget-v0` for N robots; options are those of `GoToTargetOptions`."""

    make_task = staticmethod(_go_to_target_task)


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise UnknownNameError("autoreset mode", str(mode), [one.value for one in AutoresetMode]) from None
