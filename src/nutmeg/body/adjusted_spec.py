"""Adjustments that are made when the parts are built: of joints, and of bodies that come from a model file.

`body.adjustment` does everything that can be done in a robot's tables; this is the rest (see there for the grammar).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.body.actuation import HIDDEN_JOINTS
from nutmeg.body.actuation.groups import chosen
from nutmeg.body.adjustment import parse
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.body.adjustment import Adjustment

_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


def adjust_joints(spec: mujoco.MjSpec, adjustments: Iterable[Adjustment]) -> None:
    """Sets damping, armature or dry friction of joints in a robot's specification."""
    joints = {j.name: j for j in spec.joints if j.type in _MOVING and not j.name.endswith(HIDDEN_JOINTS)}
    for adjustment in adjustments:
        target = parse(adjustment.target)
        for name in chosen([target.name], joints, "joint", f"target {adjustment.target!r}"):
            joint = joints[name]
            present = {"damping": joint.damping[0], "armature": joint.armature, "friction": joint.frictionloss}
            value = adjustment.of(float(present[target.field]))
            if value < 0:
                raise ModelError(f"{adjustment.target} is {value:g}; it must be 0 or above.")
            if target.field == "damping":
                joint.damping[0] = value
            elif target.field == "armature":
                joint.armature = value
            else:
                joint.frictionloss = value


def adjust_masses(spec: mujoco.MjSpec, adjustments: Iterable[Adjustment]) -> None:
    """Sets masses of bodies read from a model file; inertias scale along."""
    bodies = {b.name: b for b in spec.bodies if b.name != "world"}
    for adjustment in adjustments:
        pattern = parse(adjustment.target).name
        model = spec.copy().compile()
        for name in chosen([pattern], bodies, "body", f"target {adjustment.target!r}"):
            present = float(model.body(name).mass[0])
            mass = adjustment.of(present)
            if mass <= 0 or present <= 0:
                raise ModelError(f"{adjustment.target} makes {present:g} kg of {name} {mass:g}; both must be above 0.")
            _scale(bodies[name], mass / present)


def _scale(body: mujoco.MjsBody, factor: float) -> None:
    """Scales a body's mass, whether it is given or follows from its shapes."""
    body.mass *= factor
    body.inertia = np.array(body.inertia) * factor
    body.fullinertia = np.array(body.fullinertia) * factor
    for geom in body.geoms:
        geom.mass *= factor  # not a number where the density counts
        geom.density *= factor
