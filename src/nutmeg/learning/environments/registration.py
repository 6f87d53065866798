"""The names under which Gymnasium knows the environments.

    register_environments()
    gymnasium.make("nutmeg/GoToTarget-v0")

Entry points are given as text, so that Gymnasium imports what it needs when an environment is made.
"""

from __future__ import annotations

import gymnasium

WALK_VELOCITY = "nutmeg/WalkVelocity-v0"
GO_TO_TARGET = "nutmeg/GoToTarget-v0"
IDS = (WALK_VELOCITY, GO_TO_TARGET)
EPISODE = 1000
"""The longest episode of `WALK_VELOCITY` [cycles of 20 ms]; those of `GO_TO_TARGET` are as long as their trajectory."""
_PACKAGE = "nutmeg.learning.environments"


def register_environments() -> None:
    """Makes the environments known to Gymnasium; once is enough, and more often does no harm."""
    for name, stem, longest in ((WALK_VELOCITY, "WalkVelocity", EPISODE), (GO_TO_TARGET, "GoToTarget", None)):
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point=f"{_PACKAGE}.single:{stem}Env",
                vector_entry_point=f"{_PACKAGE}.vector:{stem}VectorEnv",
                max_episode_steps=longest,
            )
