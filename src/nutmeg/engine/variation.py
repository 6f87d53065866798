"""Parameters that differ from world to world: masses, friction, gains.

    worlds.vary.mass("nao-v6-1", ["LTibia"], masses)           # (N, 1) kg
    worlds.vary.friction("nao-v6-1", mu)                       # (N,)
    worlds.vary.stiffness("nao-v6-1", gains)                   # (N, motors)
    worlds.vary.set("nao-v6-1", "servo.*.p", [250.0, 300.0])   # (N,), any target of `body.adjustment`

Each call writes the engine's own per-world fields and updates what the engine derives from them. Lengths
change the model itself: build one scene for each world and use `Worlds.of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.adjusted_fields import AdjustedFields
from nutmeg.errors import ModelError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mujoco.batch import Batch
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.body.scene import Scene

DERIVED_FROM = frozenset(
    {"body_mass", "body_inertia", "dof_armature", "tendon_stiffness", "tendon_damping", "opt.impratio"}
)
"""Fields from which the engine derives others, which takes it 0.3 ms a world for a Nao."""


class Variation:
    """Per-world parameters of a batch."""

    def __init__(self, batch: Batch, scene: Scene, *, fixed: bool = False) -> None:
        self._batch, self._scene, self._fixed = batch, scene, fixed
        self._robots: dict[str, AdjustedFields] = {}
        self._touched: set[str] = set()

    def can_set(self, target: str, robot: str = "") -> bool:
        """Whether `set` can set a target, or each world needs a scene of its own for it.

        Args:
            target: what to set, in the grammar of `body.adjustment`; one that no robot has is an error.
            robot: the robot's name; may be left out if there is only one.
        """
        return self._adjusted(robot or self._scene.robots[0].name).can_set(target)

    def set(self, robot: str, target: str, values: ArrayLike, *, relative: bool = False) -> None:
        """Sets what an adjustment of the robot's placement would set, (N,); the worlds then equal scenes built so.

        Scenes are built with the numbers of joints last: set `joint.*` targets after all others.

        Args:
            robot: the robot's name.
            target: what to set, in the grammar of `body.adjustment`.
            values: for each world, (N,), or one for all.
            relative: whether they multiply what is there.
        """
        given = np.asarray(values, float)
        if given.shape not in ((), (1,), (self._batch.nsim,)):
            raise ModelError(f"{target} has the shape {given.shape}; needed is ({self._batch.nsim},).")
        self._touched.clear()
        self._adjusted(robot).set(target, np.broadcast_to(given, (self._batch.nsim,)), relative=relative)
        if self._touched & DERIVED_FROM:
            self._batch.set_const()

    def _adjusted(self, robot: str) -> AdjustedFields:
        if robot not in self._robots:
            self._robots[robot] = AdjustedFields(self._scene, robot, self._batch.nsim, self._field)
        return self._robots[robot]

    def mass(self, robot: str, bodies: Sequence[str], masses: ArrayLike) -> None:
        """Sets masses of bodies, (N, bodies) [kg]; their inertias scale along."""
        ids = self._ids(robot, bodies)
        values = self._checked("mass", masses, len(ids))
        old = self._field("body_mass")
        scale = values / old[:, ids]
        inertia = self._field("body_inertia")
        inertia[:, ids] *= scale[:, :, None]
        old[:, ids] = values
        self._batch.set_const()

    def friction(self, robot: str, friction: ArrayLike) -> None:
        """Sets the sliding friction of everything on a robot that collides, (N,).

        Between two surfaces the one of higher priority counts (soles, here), and the larger of two equals.
        """
        model = self._scene.model
        mine = model.body_rootid[model.geom_bodyid] == self._scene.robot(robot).body
        solid = np.flatnonzero(mine & ((model.geom_contype | model.geom_conaffinity) > 0))
        values = self._checked("friction", np.reshape(np.asarray(friction, float), (-1, 1)), 1, zero=True)
        self._field("geom_friction")[:, solid, 0] = values

    def stiffness(self, robot: str, gains: ArrayLike) -> None:
        """Sets the position gains of a robot's drives, (N, motors) [N m/rad]."""
        self._gain(robot, gains, slot=1)

    def damping(self, robot: str, gains: ArrayLike) -> None:
        """Sets the velocity gains of a robot's drives, (N, motors) [N m s/rad]."""
        self._gain(robot, gains, slot=2, zero=True)

    def torque(self, robot: str, limits: ArrayLike) -> None:
        """Sets the torque limits of a robot's position drives, (N, motors) [N m]."""
        motors = self._motors(robot)
        values = self._checked("torque", limits, len(motors))
        ranges = self._field("actuator_forcerange")
        ranges[:, motors, 0], ranges[:, motors, 1] = -values, values

    def _gain(self, robot: str, gains: ArrayLike, *, slot: int, zero: bool = False) -> None:
        motors = self._motors(robot)
        values = self._checked("gain", gains, len(motors), zero=zero)
        self._field("actuator_biasprm")[:, motors, slot] = -values

    def _motors(self, robot: str) -> list[int]:
        table = self._scene.robot(robot)
        if (table.setpoints < 0).any():
            found = ", ".join(sorted({d for d, s in zip(table.drives, table.setpoints, strict=True) if s < 0}))
            raise ModelError(
                f"{robot} has {found} drives that are not Nutmeg's position drives; only those can be varied."
            )
        return [self._scene.model.actuator(f"{table.name}/{m}").id for m in table.motors]

    def _field(self, name: str) -> Floats:
        if self._fixed:
            raise ModelError("these worlds have a scene each (Worlds.of): vary the scenes' parameters instead.")
        self._touched.add(name)
        field: Floats = self._batch.expand(name)
        return field

    def _ids(self, robot: str, bodies: Sequence[str]) -> list[int]:
        model, prefix = self._scene.model, f"{self._scene.robot(robot).name}/"
        known = {model.body(b).name: b for b in range(model.nbody) if model.body(b).name.startswith(prefix)}
        for body in bodies:
            if prefix + body not in known:
                raise UnknownNameError(f"body of {robot}", body, [k.removeprefix(prefix) for k in known])
        return [known[prefix + body] for body in bodies]

    def _checked(self, what: str, values: ArrayLike, width: int, *, zero: bool = False) -> Floats:
        """The values as (N, width), finite and above 0 (or also 0)."""
        given, shape = np.asarray(values, float), (self._batch.nsim, width)
        try:
            array = np.broadcast_to(given, shape)
        except ValueError:
            raise ModelError(f"{what} has the shape {given.shape}; needed is {shape} or less.") from None
        if not (np.isfinite(array).all() and (array > 0).all() | (zero and (array >= 0).all())):
            found, least = f"{array.min():g}..{array.max():g}", "at least 0" if zero else "above 0"
            raise ModelError(f"{what} must be finite and {least} in every world; found {found}.")
        return array
