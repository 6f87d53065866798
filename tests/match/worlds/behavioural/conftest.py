"""Worlds of the behavioural kind in which nothing is left to chance, unless a test wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.settings import NAMES, BehaviourSettings, load_behaviour
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.field import load_field

CHANCE = ("noise", "spread", "failure", "get_up.turn", "fall")
"""What names of numbers have that say how much is left to chance."""


def without_chance(name: str = "nao") -> BehaviourSettings:
    """Settings with no noise, no spreads and no falls."""
    quiet = {n: 0.0 for n in NAMES if any(part in n for part in CHANCE)}
    return load_behaviour(name).changed(quiet)


@pytest.fixture
def make_world() -> Callable[..., BehaviourWorld]:
    """`make_world(count=1, field="spl2011", robot="nao", **numbers)`: numbers by name, with `__` for the dot."""

    def make(
        count: int = 1, *, field: str = "spl2011", robot: str = "nao", chance: bool = False, **numbers: Any
    ) -> BehaviourWorld:
        settings = load_behaviour(robot) if chance else without_chance(robot)
        settings = settings.changed({name.replace("__", "."): value for name, value in numbers.items()})
        return BehaviourWorld(settings, load_field(field), count=count, seeds=np.arange(count, dtype=np.uint64))

    return make
