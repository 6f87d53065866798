"""Gymnasium environments: reinforcement learning instead of a search over a walk's parameters.

    import gymnasium
    import nutmeg.learning.gym

    env = gymnasium.make("nutmeg/WalkVelocity-v0", robot="nao-v6", actuation="servo")
    many = gymnasium.make_vec("nutmeg/GoToTarget-v0", num_envs=64, threads=2)

`nutmeg/WalkVelocity-v0` moves the joints and is to walk at a wanted velocity; `nutmeg/GoToTarget-v0` gives wanted
velocities to the pendulum walk and is to follow trajectories of targets. Importing this package registers both, as
Gymnasium wants it, and does nothing else; `gymnasium.make("nutmeg.learning.gym:nutmeg/WalkVelocity-v0")`
imports it by itself. Spaces, rewards and options are in the how-to "Reinforcement learning".
"""

from __future__ import annotations

from importlib.util import find_spec

from nutmeg.base.errors import MissingExtraError

if find_spec("gymnasium") is None:
    raise MissingExtraError("reinforcement learning", "Gymnasium", "rl")

from nutmeg.learning.gym.environments import (
    IDS,
    GoToTargetEnv,
    GoToTargetVectorEnv,
    WalkVelocityEnv,
    WalkVelocityVectorEnv,
    register_environments,
)
from nutmeg.learning.gym.go_to_target import GoToTargetOptions, GoToTargetTask
from nutmeg.learning.gym.walk_velocity import WalkVelocityOptions, WalkVelocityTask

__all__ = [
    "IDS",
    "GoToTargetEnv",
    "GoToTargetOptions",
    "GoToTargetTask",
    "GoToTargetVectorEnv",
    "WalkVelocityEnv",
    "WalkVelocityOptions",
    "WalkVelocityTask",
    "WalkVelocityVectorEnv",
    "register_environments",
]

register_environments()
