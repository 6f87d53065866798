"""Models that differ in numbers, as per-world fields of one batch.

    copy_numbers(batch, models)         # one model for each world

The engine can run each world on a model of its own, but then no field can be changed while it runs. Copied into the
batch's per-world fields, the same numbers give the same motion, bit for bit, and can be changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
from mujoco.batch import MODEL_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mujoco.batch import Batch

    from nutmeg.base.arrays import Floats

SEEN = ("mat_", "light_", "cam_", "key_", "name", "text_", "tuple_", "numeric_", "plugin", "D_", "B_", "M_", "map")
"""Starts of the names of fields that are only seen, or that are the same for models of the same parts."""
BOXES = "bvh_aabb"
"""The one field of which the batch has less than a model: the boxes of bodies, not those of meshes."""


def copy_numbers(batch: Batch, models: Sequence[mujoco.MjModel]) -> None:
    """Gives each world of a batch the numbers of its model; models of other parts are a ValueError."""
    different = list({id(model): model for model in models}.values())
    which = {id(model): index for index, model in enumerate(different)}
    rows = np.array([which[id(model)] for model in models])
    _check_parts(different)
    for name in sorted(MODEL_FIELDS):
        if name.startswith(SEEN):
            continue
        values = [_field(model, name) for model in different]
        shape, first = values[0].shape, values[0].tobytes()
        if any(v.shape != shape for v in values):
            raise ValueError(f"their {name} differ in size.")
        if any(v.tobytes() != first for v in values):
            own = batch.expand(name)
            own[:] = np.stack(values)[rows][:, : own.shape[1]] if name == BOXES else np.stack(values)[rows]


def _check_parts(models: list[mujoco.MjModel]) -> None:
    """Sizes must be the same, and meshes, which a batch has only once."""
    for size in ("nq", "nv", "nu", "na", "nbody", "ngeom", "nsensordata", "nhistory", "nuserdata", "nmeshvert"):
        if len({getattr(model, size) for model in models}) > 1:
            raise ValueError(f"they differ in {size}.")
    if any(not np.array_equal(models[0].mesh_vert, model.mesh_vert) for model in models[1:]):
        raise ValueError("their meshes differ.")


def _field(model: mujoco.MjModel, name: str) -> Floats:
    option = name.removeprefix("opt.")
    return np.asarray(getattr(model.opt, option) if option != name else getattr(model, name))
