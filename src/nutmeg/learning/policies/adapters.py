"""The robots of `nutmeg train` for other libraries of reinforcement learning: N robots, their actions and rewards.

    task = WalkTask(walk_scene("t1"), 64, threads=2, seed=1)
    envs = TaskVectorEnv(task)                      # Gymnasium's vector interface, as CleanRL's programs use it
    envs = stable_baselines_env(task)               # a `VecEnv` for Stable-Baselines3
    envs = rsl_rl_env(task)                         # a `VecEnv` for rsl-rl, with the critic's observation

Observations, actions and rewards are those of the task (`walk_task`, `motion_task`). Actions are cut off at ten.
Episodes begin anew by themselves, in the step in which they end. `PolicySettings.symmetric = false` lets a network that
was learned without its mirror image walk as it learned; `motion.policy_onnx` reads networks that such a library wrote
as ONNX. `examples/train_elsewhere.py` is a whole program.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, MissingExtraError
from nutmeg.motion.policy import MAX_ACTION

if find_spec("gymnasium") is None:
    raise MissingExtraError("reinforcement learning with another library", "Gymnasium", "rl")

from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats32
    from nutmeg.learning.policies.task import RobotTask


def _spaces_of(task: RobotTask) -> tuple[Box, Box]:
    """The spaces of one robot's observations and actions."""
    seen = Box(-np.inf, np.inf, task.observation.shape[1:], np.float32)
    return seen, Box(-MAX_ACTION, MAX_ACTION, (task.actions,), np.float32)


def _step_task(task: RobotTask, actions: Floats32) -> tuple[Floats32, Bools, Bools, Floats32]:
    """One cycle; rewards, episodes that ended and that were cut off, (N,) each, and what they saw last, (N, ...)."""
    task.advance(np.ascontiguousarray(actions, np.float32))
    last, reward = task.observation.copy(), task.reward.copy()
    ended, cut = task.ended.copy(), task.cut.copy()
    task.begin(np.flatnonzero(ended | cut))
    return reward, ended, cut, last


class TaskVectorEnv(VectorEnv[Any, Any, Any]):
    """The robots of a task as one of Gymnasium's vector environments.

    Args:
        task: the robots that learn.
    """

    def __init__(self, task: RobotTask) -> None:
        self.task, self.num_envs = task, task.count
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        self.single_observation_space, self.single_action_space = _spaces_of(task)
        self.observation_space = batch_space(self.single_observation_space, task.count)
        self.action_space = batch_space(self.single_action_space, task.count)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins all episodes anew; without a seed the random numbers go on."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self.task.reseed(np.random.SeedSequence(seed))
        self.task.begin(np.arange(self.num_envs))
        return self.task.observation.copy(), {}

    def step(self, actions: Floats32) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One cycle of 20 ms; `infos["final_obs"]` has what was seen last in episodes that are over."""
        reward, ended, cut, last = _step_task(self.task, actions)
        infos: dict[str, Any] = {}
        over = ended | cut
        if over.any():
            seen = np.full(self.num_envs, None, dtype=object)
            for row in np.flatnonzero(over):
                seen[row] = last[row]
            infos = {"final_obs": seen, "_final_obs": over}
        return self.task.observation.copy(), reward, ended, cut, infos

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 (Gymnasium's)
        """Ends the threads of the task."""
        self.task.close()


class _StableBaselinesRobots:
    """The methods of Stable-Baselines3's `VecEnv`; robots are stepped by the threads of the task, in `step_wait`."""

    def __init__(self, task: RobotTask) -> None:
        self.task, self._actions = task, np.zeros((task.count, task.actions), np.float32)
        super().__init__(task.count, *_spaces_of(task))  # type: ignore[call-arg]

    def reset(self) -> Floats32:
        self.task.begin(np.arange(self.task.count))
        return np.array(self.task.observation)

    def step_async(self, actions: Floats32) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Floats32, Floats32, Bools, list[dict[str, Any]]]:
        reward, ended, cut, last = _step_task(self.task, self._actions)
        infos: list[dict[str, Any]] = [{} for _ in reward]
        for row in np.flatnonzero(ended | cut):
            infos[row] = {"terminal_observation": last[row], "TimeLimit.truncated": bool(cut[row])}
        return self.task.observation.copy(), reward, ended | cut, infos

    def close(self) -> None:
        self.task.close()

    def seed(self, seed: int | None = None) -> list[int | None]:
        if seed is not None:
            self.task.reseed(np.random.SeedSequence(seed))
        return [seed] * self.task.count

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401, ARG002
        return [getattr(self.task, attr_name, None)] * self.task.count

    def set_attr(self, attr_name: str, *_: Any) -> None:  # noqa: ANN401
        raise NotImplementedError(f"{attr_name} belongs to all robots at once; set it on the task.")

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:  # noqa: ANN401
        raise NotImplementedError(f"{method_name}: robots of a batch have no methods of their own.")

    def env_is_wrapped(self, *_: Any) -> list[bool]:  # noqa: ANN401
        return [False] * self.task.count


def stable_baselines_env(task: RobotTask) -> Any:  # noqa: ANN401 (a class of the library)
    """The robots of a task as a `VecEnv` of Stable-Baselines3."""
    try:
        from stable_baselines3.common.vec_env import VecEnv  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise EnvironmentProblem("this needs Stable-Baselines3: pip install stable-baselines3.") from None
    return type("TaskVecEnv", (_StableBaselinesRobots, VecEnv), {})(task)


def rsl_rl_env(task: RobotTask, device: str = "cpu") -> Any:  # noqa: ANN401 (a class of the library)
    """The robots of a task as a `VecEnv` of rsl-rl: groups `policy` and `critic`, tensors of a device.

    Robots of a task with `device="gpu"` are there already, and nothing of them passes through this computer's memory.
    """
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]
        from rsl_rl.env import VecEnv  # type: ignore[import-not-found,unused-ignore]
        from tensordict import TensorDict  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise EnvironmentProblem("this needs rsl-rl and torch: pip install rsl-rl-lib.") from None

    class TaskVecEnv(VecEnv):  # type: ignore[misc,unused-ignore]
        """Robots are stepped where the task is, and what is learned from is brought to the device."""

        def __init__(self) -> None:
            self.num_envs, self.num_actions, self.device = task.count, task.actions, device
            self.cfg: dict[str, Any] = {}
            self.max_episode_length = 500
            self.episode_length_buf = torch.zeros(task.count, dtype=torch.long, device=device)

        def get_observations(self) -> Any:  # noqa: ANN401
            seen, truth = (self._brought(values) for values in (task.observation, task.truth))
            groups = {"policy": seen, "critic": torch.cat([seen, truth], dim=1)}
            return TensorDict(groups, batch_size=[task.count], device=device)

        def _brought(self, values: Any) -> Any:  # noqa: ANN401
            return torch.as_tensor(values, device=device).clone()

        def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:  # noqa: ANN401
            task.advance(actions.detach() if task.on_cuda else actions.detach().cpu().numpy())
            reward, ended, cut = (self._brought(values) for values in (task.reward, task.ended, task.cut))
            task.begin_over()
            over = ended | cut
            self.episode_length_buf = torch.where(over, 0, self.episode_length_buf + 1)
            return self.get_observations(), reward, over.long(), {"time_outs": cut}

    return TaskVecEnv()
