"""Robots that change their type without a new model."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.sim.variation import robot_rows, robot_types
from nutmeg.sim.worlds import SingleWorld

TYPES = ("type0", "type1", "type2", "type3")


def world_of(*kinds: str) -> SingleWorld:
    robots = tuple(
        Placement(robot="nao-spark", name=f"r{i}", type=kind, pos=(2.0 * i, 0.0), pose="zero")
        for i, kind in enumerate(kinds)
    )
    return SingleWorld(assemble(SceneSettings(field="sim3d", ball="none", robots=robots, visuals=False)))


def danced(world: SingleWorld, robot: int) -> Floats:
    """Where a robot gets when all its joints sway and it falls, (steps, 51)."""
    table = world.scene.robots[robot]
    path = []
    for step in range(150):
        world.ctrl[table.commands] = 8.0 * np.sin(0.2 * step + np.arange(22))
        world.step(lambda: None)
        path.append(world.qpos[table.root : table.root + 51].copy())
    return np.array(path)


@pytest.mark.parametrize("kind", TYPES[1:])
def test_a_robot_set_to_a_type_moves_as_one_built_so(kind: str) -> None:
    changed, built = world_of("type0", "type0"), world_of("type0", kind)
    robot_types("nao-spark", TYPES, "league").set(
        changed.model, robot_rows(changed.model, changed.scene.robots[1].body), kind
    )
    changed.qpos[:] = built.qpos
    difference = np.abs(danced(changed, 1) - danced(built, 1))
    assert difference.max() < 1e-9


def test_types_move_differently() -> None:
    one, other = world_of("type0", "type0"), world_of("type0", "type0")
    robot_types("nao-spark", TYPES, "league").set(
        other.model, robot_rows(other.model, other.scene.robots[1].body), "type3"
    )
    assert np.abs(danced(one, 1) - danced(other, 1)).max() > 0.01


def test_a_type_can_be_taken_back() -> None:
    world, kinds = world_of("type0", "type0"), robot_types("nao-spark", TYPES, "league")
    before = world.model.body_pos.copy(), world.model.actuator_ctrlrange.copy()
    rows = robot_rows(world.model, world.scene.robots[0].body)
    for kind in ("type3", "type2", "type0"):
        kinds.set(world.model, rows, kind)
    assert np.array_equal(world.model.body_pos, before[0])
    assert np.array_equal(world.model.actuator_ctrlrange, before[1])


def test_a_type_with_other_parts_is_refused() -> None:
    with pytest.raises(ModelError, match="type4 of nao-spark has other parts than type0"):
        robot_types("nao-spark", ("type0", "type4"), "league")
    with pytest.raises(UnknownNameError, match="unknown type of nao-spark"):
        robot_types("nao-spark", TYPES, "league").set(world_of("type0").model, {}, "type9")
