"""N worlds of one scene, stepped together on threads.

    worlds = Worlds(scene, count=64, threads=2)
    robot = worlds.robot("nao-v6-1")
    robot.command[:] = robot.start          # (N, motors)
    worlds.advance(0.02)                    # 20 ms of every world
    robot.angles                            # (N, joints), live

Arrays of state are live views: what is written is the state at the next step, and they are never copied.
Results are bit-identical at any number of threads. Worlds may differ in parameters (`vary`) and, with one
scene each, in morphology (`Worlds.of`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
from mujoco.batch import Batch
from mujoco.batch import SimulationError as BatchError

from nutmeg.body.actuation import load_actuation
from nutmeg.engine.own_fields import copy_numbers
from nutmeg.engine.paper_actuation import check_installed, install_for
from nutmeg.engine.robots import RobotWorlds
from nutmeg.engine.variation import Variation
from nutmeg.errors import ModelError, SimulationError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.body.actuation import Actuation
    from nutmeg.body.scene import Scene


class Worlds:
    """N copies of a scene.

    Args:
        scene: what is in every world.
        count: how many worlds, N.
        threads: how many threads step them; 0 for one a core.
        keep_data: keep the engine's whole data of each world (memory grows with N); scenes with parked robots,
            which sleep, always do.
    """

    def __init__(self, scene: Scene, count: int = 1, *, threads: int = 1, keep_data: bool = False) -> None:
        if count < 1:
            raise ModelError(f"a batch needs at least one world, {count} were asked for.")
        self.scene = scene
        self.batch = Batch(scene.model, count, threads, persistent=keep_data or scene.sleeps)
        self._printed = install_for(self.batch, scene.model)
        self.count = count
        self._begin_as([scene])
        self.qpos: Floats = self.batch.bind("qpos")
        """Whole configuration, (N, nq), live."""
        self.qvel: Floats = self.batch.bind("qvel")
        """Whole velocity, (N, nv), live."""
        self.time: Floats = self.batch.bind("time")
        """Simulated time of each world, (N,) [s]."""
        self.ball = _ball_view(self.batch, scene)
        """Pose of the ball (N, 7), live; None without a ball."""
        self.vary = Variation(self.batch, scene)
        """Parameters that differ from world to world."""
        self.reset()

    @classmethod
    def of(cls, scenes: Sequence[Scene], *, threads: int = 1, own_fields: bool = False) -> Worlds:
        """One world for each scene; the scenes may differ in numbers (lengths, masses), not in parts.

        Args:
            scenes: one for each world; the same one may be there often.
            threads: how many threads step them; 0 for one a core.
            own_fields: copy the numbers that differ into fields of the batch, so that motors can be released and
                power supplies can sag (`release`, `supply`); results are the same to the last bit.
        """
        if not scenes:
            raise ModelError("no scenes were given: a batch needs at least one.")
        worlds = cls(scenes[0], len(scenes), threads=threads)
        models = [s.model for s in scenes]
        try:
            if own_fields:
                copy_numbers(worlds.batch, models)
            else:
                worlds.batch.set_models(models)
        except (ValueError, mujoco.FatalError) as error:
            raise ModelError(f"these scenes do not have the same parts: {error}") from None
        worlds.vary = Variation(worlds.batch, scenes[0], fixed=True)
        worlds._begin_as(scenes)
        worlds.reset()
        return worlds

    def _begin_as(self, scenes: Sequence[Scene]) -> None:
        """Takes the start of every world from its scene, or from the only one."""
        self._scenes = tuple(scenes)
        starts = zip(*((s.start, s.commands, s.setpoints, s.history) for s in scenes), strict=True)
        self._start, self._commands, self._setpoints, self._history = (
            np.broadcast_to(np.stack(one), (self.count, len(one[0]))) for one in starts
        )
        self.robots = tuple(RobotWorlds(self.batch, table, self._start) for table in self.scene.robots)
        self._by_name = {r.table.name: r for r in self.robots}

    def scene_of(self, world: int) -> Scene:
        """The scene of one world; all have the same unless they were made by `of`."""
        return self._scenes[world if len(self._scenes) > 1 else 0]

    def actuations(self, robot: str) -> list[Actuation | None]:
        """What the scene of each world says of what drives a robot's joints, (N,); None for ideal drives."""
        found = {id(scene): actuation_in(scene, robot) for scene in {id(s): s for s in self._scenes}.values()}
        return [found[id(self.scene_of(world))] for world in range(self.count)]

    def robot(self, name: str) -> RobotWorlds:
        """The views of one robot."""
        if name not in self._by_name:
            raise UnknownNameError("robot in this scene", name, self._by_name)
        return self._by_name[name]

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts worlds back to the start of the scene, at rest, holding the start pose."""
        chosen = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        self.batch.reset(chosen, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self.qpos[chosen] = self._start[chosen]
        self.batch.ctrl[chosen] = self._commands[chosen]
        if self.scene.setpoints.size:
            self.batch.act[chosen] = self._setpoints[chosen]
        if self.scene.history.size:
            self.batch.history[chosen] = self._history[chosen]
        for robot in self.robots:
            robot.push(0.0, chosen)
        self.refresh(chosen)

    def refresh(self, ids: ArrayLike | None = None) -> None:
        """Makes what the engine derives from the state (places of bodies, sensors) current; the state stays."""
        chosen = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        guess = self.batch.qacc_warmstart[chosen].copy()  # where the solver starts from: part of the state
        self.batch.forward(chosen)
        self.batch.qacc_warmstart[chosen] = guess

    def put_ball(self, place: ArrayLike, velocity: ArrayLike = (0.0, 0.0, 0.0), ids: ArrayLike | None = None) -> None:
        """Puts the ball somewhere on the ground, (2,), or in the air, (3,), with a velocity (3,) and no spin."""
        if self.ball is None:
            raise ModelError("there is no ball in this scene.")
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        joint = int(self.scene.model.body("ball").jntadr[0])
        start = self.scene.start[int(self.scene.model.jnt_qposadr[joint]) :][:7].copy()
        place = np.asarray(place, float)
        start[: len(place)] = place
        rate = int(self.scene.model.jnt_dofadr[joint])
        self.ball[rows] = start
        self.qvel[rows, rate : rate + 6] = [*np.asarray(velocity, float), 0.0, 0.0, 0.0]

    def advance(self, seconds: float, ids: ArrayLike | None = None) -> None:
        """Simulates a whole number of physics steps."""
        self.step(steps_in(seconds, self.scene.timestep), ids)

    def step(self, steps: int = 1, ids: ArrayLike | None = None) -> None:
        """Simulates physics steps.

        Configuration and velocity are current afterwards; what the engine derives from them (places of bodies,
        sensors) is that of the start of the last step, one physics step old. Making it current would cost half
        a step every time.
        """
        if self._printed:
            check_installed()
        try:
            self.batch.step(ids, nstep=steps)
        except BatchError as error:
            raise SimulationError(f"the engine gave up in {len(error.ids)} world(s): {error}") from None

    def diverged(self) -> Bools:
        """The worlds whose state is no longer finite or that the engine had to reset, (N,)."""
        bad = ~np.isfinite(self.qpos).all(axis=1) | ~np.isfinite(self.qvel).all(axis=1)
        return np.asarray(bad | (self.batch.warning[:, _BAD_STATE, 1].sum(axis=1) > 0))

    def culprit(self, world: int) -> str:
        """A phrase that names the joint at which a world became unstable, or else its fastest."""
        model, warnings = self.scene.model, self.batch.warning[world]
        for kind in _BAD_STATE:  # the engine has put this world back to its start, but remembers where it went wrong
            place, count = (int(number) for number in warnings[kind])
            if count:
                by_angle = np.searchsorted(model.jnt_qposadr, place, side="right") - 1
                joint = int(by_angle if kind == _BAD_QPOS else model.dof_jntid[place])
                return f"joint {model.joint(joint).name!r} left the range of numbers"
        rates = np.abs(np.where(np.isfinite(self.qvel[world]), self.qvel[world], np.inf))
        dof = int(rates.argmax())
        return f"joint {model.joint(int(model.dof_jntid[dof])).name!r} moves at {rates[dof]:.3g} (rad/s or m/s)"


_BAD_QPOS = mujoco.mjtWarning.mjWARN_BADQPOS.value
_BAD_STATE = [
    _BAD_QPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL.value,
    mujoco.mjtWarning.mjWARN_BADQACC.value,
]


def actuation_in(scene: Scene, robot: str) -> Actuation | None:
    """What drives a robot's joints in a scene; None for ideal drives."""
    table = scene.robot(robot)
    placement = next(p for p in scene.placements if p.name == table.name)
    return load_actuation(table.settings, placement.actuation)


def steps_in(seconds: float, timestep: float) -> int:
    """How many physics steps a time is; not a whole number is an error. MJCF has a step with six digits."""
    steps = round(seconds / timestep)
    allowed = max(1e-9 * max(1.0, seconds), min(5e-6 * seconds, 1e-3 * timestep))
    if steps < 1 or abs(steps * timestep - seconds) > allowed:
        raise ModelError(
            f"{seconds} s is not a whole number of physics steps of {timestep} s. Choose a multiple of the step."
        )
    return steps


def _ball_view(batch: Batch, scene: Scene) -> Floats | None:
    if not scene.has_ball:
        return None
    address = int(scene.model.jnt_qposadr[scene.model.body("ball").jntadr[0]])
    view: Floats = batch.bind("qpos")[:, address : address + 7]
    return view
