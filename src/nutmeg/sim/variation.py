"""Numbers that differ from world to world, or from robot to robot, in models that are compiled already.

    use_models(batch, models)                       # one model for each world of a batch

    types = robot_types("nao-spark", ("type0", "type1", "type2", "type3"), "league")
    rows = robot_rows(model, scene.robots[3].body)  # where a robot's parts are in a model
    types.set(model, rows, "type1")                 # takes some microseconds

The engine can run each world on a model of its own, but then no field can be changed while it runs. Copied into the
batch's per-world fields, the same numbers give the same motion, bit for bit and at the same speed, and can be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from mujoco.batch import MODEL_FIELDS

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mujoco.batch import Batch

    from nutmeg.base.arrays import Floats, Indices

SKIPPED_FIELD_PREFIXES = (
    *("mat_", "light_", "cam_"),  # only drawn
    *("key_", "name", "text_", "tuple_", "numeric_", "plugin", "D_", "B_", "M_", "map"),
)
"""Prefixes of fields that do not affect the motion, or are the same for all models with the same parts."""
BODY_BOXES_FIELD = "bvh_aabb"
"""The only field that is shorter in a batch than in a model: it has the boxes of bodies, not those of meshes."""


def use_models(batch: Batch, models: Sequence[mujoco.MjModel]) -> None:
    """Gives each world of a batch the numbers of its model; models with other parts are a ValueError.

    A batch has its meshes only once. Where they differ, the worlds run on the models themselves, and their fields can
    no longer be changed: motors cannot be released, and power supplies cannot sag.
    """
    different = list({id(model): model for model in (batch.model, *models)}.values())
    which = {id(model): index for index, model in enumerate(different)}
    rows = np.array([which[id(model)] for model in models])
    for size in ("nq", "nv", "nu", "na", "nbody", "ngeom", "nsensordata", "nhistory", "nuserdata", "nmeshvert"):
        if len({getattr(model, size) for model in different}) > 1:
            raise ValueError(f"they differ in {size}.")
    if any(not np.array_equal(different[0].mesh_vert, model.mesh_vert) for model in different[1:]):
        batch.set_models(list(models))
        return
    for name in sorted(MODEL_FIELDS):
        if name.startswith(SKIPPED_FIELD_PREFIXES):
            continue
        values = [field_of(model, name) for model in different]
        shape, first = values[0].shape, values[0].tobytes()
        if any(v.shape != shape for v in values):
            raise ValueError(f"their {name} differ in size.")
        if batch.expanded(name) is not None or any(v.tobytes() != first for v in values):
            own = batch.expand(name)
            own[:] = np.stack(values)[rows][:, : own.shape[1]] if name == BODY_BOXES_FIELD else np.stack(values)[rows]


def field_of(model: mujoco.MjModel, name: str) -> Floats:
    """A field of a model, or of its options (`opt.NAME`)."""
    option = name.removeprefix("opt.")
    return np.asarray(getattr(model.opt, option) if option != name else getattr(model, name))


# ----------------------------------------------------------------------------------------------------
# Robots that change their type while a world runs, without a new model: their types differ in numbers alone.
#
# For each type a scene with that robot alone is compiled once. The numbers in which these models differ (places of
# bodies and joints, limits of drives, and quantities derived from them) are copied into the rows of one robot of a
# larger model. A robot is one kinematic tree, so that everything derived (inverse weights, inertias at rest) belongs
# to it alone. The pose at the start is not copied: the robot is put somewhere after its type is changed.


FIELD_FAMILIES = {
    "body": "body",
    "jnt": "joint",
    "dof": "dof",
    "geom": "geom",
    "site": "site",
    "tendon": "tendon",
    "actuator": "actuator",
}
"""Prefixes of a model's fields, and the family (bodies, joints and so on) whose rows these fields have."""
PLACEMENT_FIELDS = ("eq_data", "qpos0", "qpos_spring")
"""Fields with a robot's place at the start."""
ROOT_PLACEMENT_FIELDS = ("body_pos", "body_quat")
"""Fields whose first row is the robot's place at the start."""

_ONLY_ROBOT = 1  # root body of the robot in a scene with nothing else

Rows = dict[str, slice]
"""Rows of a robot's parts in a model, by family."""


@dataclass(frozen=True)
class RobotTypes:
    """The numbers in which the types of a robot differ."""

    robot: str
    """The robot's name."""
    numbers: Mapping[str, Mapping[str, Floats]]
    """The rows of the robot, by type and field of the model."""

    def set(self, model: mujoco.MjModel, rows: Rows, kind: str) -> None:
        """Gives the robot at these rows of a model the numbers of a type."""
        if kind not in self.numbers:
            raise UnknownNameError(f"type of {self.robot} that can be changed to", kind, self.numbers)
        for field, values in self.numbers[kind].items():
            getattr(model, field)[_moving(rows, field)] = values


@lru_cache(maxsize=8)
def robot_types(robot: str, kinds: tuple[str, ...], physics: str) -> RobotTypes:
    """The numbers of some types of a robot; types with other parts are an error."""
    models = {kind: _alone(robot, kind, physics) for kind in kinds}
    first = models[kinds[0]]
    for kind, model in models.items():
        for size in ("nq", "nv", "nu", "nbody", "ngeom", "nsite", "ntendon"):
            if getattr(model, size) != getattr(first, size):
                raise ModelError(f"{kind} of {robot} has other parts than {kinds[0]}; it needs a scene of its own.")
    changing = [name for name in sorted(MODEL_FIELDS) if _differs(name, list(models.values()))]
    rows = robot_rows(first, _ONLY_ROBOT)
    numbers = {
        kind: {name: getattr(model, name)[_moving(rows, name)].copy() for name in changing}
        for kind, model in models.items()
    }
    return RobotTypes(robot, numbers)


def robot_rows(model: mujoco.MjModel, root: int) -> Rows:
    """Rows of the parts of the robot with a root body; in each family they follow each other."""
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
    """The rows of a field, without the one that has the robot's place at the start."""
    mine = rows[FIELD_FAMILIES[field.split("_", maxsplit=1)[0]]]
    return slice(mine.start + 1, mine.stop) if field in ROOT_PLACEMENT_FIELDS else mine


def _alone(robot: str, kind: str, physics: str) -> mujoco.MjModel:
    placement = Placement(robot=robot, name="robot", type=kind, pose="zero")
    scene = SceneSettings(field="none", ball="none", robots=(placement,), physics=physics, visuals=False)
    return assemble(scene).model


def _differs(name: str, models: list[mujoco.MjModel]) -> bool:
    if name.startswith(("opt.", *SKIPPED_FIELD_PREFIXES)) or name in PLACEMENT_FIELDS:
        return False
    different = any(not np.array_equal(getattr(models[0], name), getattr(m, name)) for m in models[1:])
    if different and name.split("_", maxsplit=1)[0] not in FIELD_FAMILIES:
        raise ModelError(f"types differ in {name}, which cannot be changed while a world runs.")
    return different


def _range(ids: Indices, family: str) -> slice:
    if len(ids) and ids[-1] - ids[0] != len(ids) - 1:
        raise ModelError(f"the parts of a robot ({family}) do not lie one after the other in this model.")
    return slice(int(ids[0]), int(ids[-1]) + 1) if len(ids) else slice(0, 0)
