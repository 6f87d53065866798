"""One world, stepped in place, with its contacts: for matches, where one world is everything and its details matter.

    world = SingleWorld(scene)
    world.step(between)         # `between()` sees contacts and forces of the step; places are current afterwards
    world.data.xpos             # live

`Worlds` steps many worlds and copies what it is asked for; it has no contacts, and a copy costs more than a step of
one robot. Here a step is cut in two halves (acceleration and integration, then positions, contacts and velocities of
the new state), so that bodies' places are never one step old, at no cost. Motion is that of `Worlds`, bit for bit.

Sensors of the scene are switched off: what a match needs of them is cheaper to work out from the state.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import mujoco

from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Floats
    from nutmeg.body.scene import Scene
    from nutmeg.body.tables import RobotTable


class SingleWorld:
    """A scene as one live world; integrated with Euler's method, which is what can be cut in two."""

    def __init__(self, scene: Scene) -> None:
        if scene.physics.integrator != "euler":
            raise ModelError(f"a single world needs the integrator euler; this scene has {scene.physics.integrator}.")
        self.scene = scene
        self.model = copy.copy(scene.model)
        """Its own: numbers may be changed while it runs."""
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR | mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = scene.start
        self.data.ctrl[:] = scene.commands
        self.qpos: Floats = self.data.qpos
        self.qvel: Floats = self.data.qvel
        self.ctrl: Floats = self.data.ctrl
        self._moved = True

    def touch(self) -> None:
        """Says that the state was written to; what follows from it is worked out before it is needed."""
        self._moved = True

    def refresh(self) -> None:
        """Makes what follows from the state (places, contacts) current, if the state was written to."""
        if self._moved:
            mujoco.mj_step1(self.model, self.data)
            self._moved = False

    def place_bodies(self) -> None:
        """Works out the places of all bodies and geoms alone."""
        mujoco.mj_kinematics(self.model, self.data)
        self._moved = True

    def step(self, between: Callable[[], None]) -> None:
        """One step; `between` is called while contacts and their forces are those of this step."""
        self.refresh()
        mujoco.mj_step2(self.model, self.data)
        between()
        mujoco.mj_step1(self.model, self.data)

    def hold(self, table: RobotTable, *, parked: bool) -> None:
        """Welds a robot to its parking place, where it sleeps, or lets it play."""
        weld = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_EQUALITY, f"{table.name}/parking")
        self.data.eq_active[weld] = parked
        # The engine wakes a robot when a byte of its force is not zero: minus zero keeps a playing one awake.
        self.data.xfrc_applied[table.body, 0] = 0.0 if parked else -0.0
        self._moved = True
