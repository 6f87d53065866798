"""Worlds of the behavioural kind in which nothing is left to chance, unless a test wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.settings import NAMES, BehaviourSettings, load_behaviour
from nutmeg.match.worlds.behavioural.state import Posture
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


@pytest.fixture
def lay_down() -> Callable[..., None]:
    """`lay_down(world, match, slot, to)`: on the belly (0), on the back (pi) or on a side (rad to the left)."""

    def lay(world: BehaviourWorld, match: int, slot: int, to: float = 0.0) -> None:
        state = world.state
        state.posture[match, slot], state.busy[match, slot], state.fallen_to[match, slot] = Posture.LYING, 0.0, to
        state.pace[match, slot] = state.speed[match, slot] = 0.0

    return lay
