"""Robots that change their type while a world runs: types that differ in numbers alone, without a new model.

    kinds = kinds_of("nao-spark", ("type0", "type1", "type2", "type3"), "league")
    rows = rows_of(model, scene.robots[3].body)     # where a robot's parts are in a model
    kinds.set(model, rows, "type1")                 # some microseconds

For each type a scene with that robot alone is compiled once. What differs between these models (places of bodies and
joints, limits of drives, and what the engine derives from them) is copied into the rows of one robot of a larger
model. A robot is a tree of its own, so that everything derived (inverse weights, inertias at rest) is its own as well.
The pose at the start is not copied: whoever changes a type puts the robot somewhere anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from mujoco.batch import MODEL_FIELDS

from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.engine.own_fields import SEEN
from nutmeg.errors import ModelError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats, Indices

FAMILIES = {
    "body": "body",
    "jnt": "joint",
    "dof": "dof",
    "geom": "geom",
    "site": "site",
    "tendon": "tendon",
    "actuator": "actuator",
}
"""Starts of the names of a model's fields, and whose rows they have."""
PLACED = ("eq_data", "qpos0", "qpos_spring")
"""Fields that say where a robot stands at the start."""
PLACED_ROOT = ("body_pos", "body_quat")
"""Fields whose first row says so."""

_ONLY_ROBOT = 1
"""Root body of the robot in a scene with nothing else."""

Rows = dict[str, slice]
"""Where the parts of a robot are in a model, by family."""


@dataclass(frozen=True)
class Kinds:
    """The numbers in which the types of a robot differ."""

    robot: str
    """The robot's name."""
    numbers: Mapping[str, Mapping[str, Floats]]
    """By type and field of the model: the rows of the robot."""

    def set(self, model: mujoco.MjModel, rows: Rows, kind: str) -> None:
        """Makes the robot at some rows of a model one of a type."""
        if kind not in self.numbers:
            raise UnknownNameError(f"type of {self.robot} that can be changed to", kind, self.numbers)
        for field, values in self.numbers[kind].items():
            getattr(model, field)[_moving(rows, field)] = values


@lru_cache(maxsize=8)
def kinds_of(robot: str, kinds: tuple[str, ...], physics: str) -> Kinds:
    """The numbers of some types of a robot; types with other parts are an error."""
    models = {kind: _alone(robot, kind, physics) for kind in kinds}
    first = models[kinds[0]]
    for kind, model in models.items():
        for size in ("nq", "nv", "nu", "nbody", "ngeom", "nsite", "ntendon"):
            if getattr(model, size) != getattr(first, size):
                raise ModelError(f"{kind} of {robot} has other parts than {kinds[0]}; it needs a scene of its own.")
    changing = [name for name in sorted(MODEL_FIELDS) if _differs(name, list(models.values()))]
    rows = rows_of(first, _ONLY_ROBOT)
    numbers = {
        kind: {name: getattr(model, name)[_moving(rows, name)].copy() for name in changing}
        for kind, model in models.items()
    }
    return Kinds(robot, numbers)


def rows_of(model: mujoco.MjModel, root: int) -> Rows:
    """Where the parts of the robot with a root body are in a model: each family has them one after the other."""
    joints = model.body_rootid[model.jnt_bodyid] == root
    found = {
        "body": model.body_rootid == root,
        "joint": joints,
        "dof": model.body_rootid[model.dof_bodyid] == root,
        "geom": model.body_rootid[model.geom_bodyid] == root,
        "site": model.body_rootid[model.site_bodyid] == root,
        "tendon": joints[model.wrap_objid[model.tendon_adr]],
        "actuator": joints[model.actuator_trnid[:, 0]],
    }
    return {family: _range(np.flatnonzero(mine), family) for family, mine in found.items()}


def _moving(rows: Rows, field: str) -> slice:
    """The rows of a field, without one that says where the robot was placed."""
    mine = rows[FAMILIES[field.split("_", maxsplit=1)[0]]]
    return slice(mine.start + 1, mine.stop) if field in PLACED_ROOT else mine


def _alone(robot: str, kind: str, physics: str) -> mujoco.MjModel:
    placement = Placement(robot=robot, name="robot", type=kind, pose="zero")
    scene = SceneSettings(field="none", ball="none", robots=(placement,), physics=physics, visuals=False)
    return assemble(scene).model


def _differs(name: str, models: list[mujoco.MjModel]) -> bool:
    if name.startswith(("opt.", *SEEN)) or name in PLACED:
        return False
    different = any(not np.array_equal(getattr(models[0], name), getattr(m, name)) for m in models[1:])
    if different and name.split("_", maxsplit=1)[0] not in FAMILIES:
        raise ModelError(f"types differ in {name}, which cannot be changed while a world runs.")
    return different


def _range(ids: Indices, family: str) -> slice:
    if len(ids) and ids[-1] - ids[0] != len(ids) - 1:
        raise ModelError(f"the parts of a robot ({family}) do not lie one after the other in this model.")
    return slice(int(ids[0]), int(ids[-1]) + 1) if len(ids) else slice(0, 0)
