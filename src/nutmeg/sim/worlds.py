"""N worlds of one scene, stepped together on threads.

    worlds = Worlds(scene, count=64, threads=2)
    worlds.vary("nao-v6-1", "foot.friction", np.linspace(0.3, 1.0, 64))
    robot = worlds.robot("nao-v6-1")
    robot.command[:] = robot.start          # (N, motors)
    worlds.advance(0.02)                    # 20 ms of every world
    robot.angles                            # (N, joints), live

    Worlds(scene, count=4096, device="gpu") # the same on a CUDA device: `sim.warp_engine`

Arrays of state are live views: writing to them sets the state for the next step, and they are never copied.
Results are bit-identical at any number of threads. Worlds may differ in any number of their robots (`vary`, or one
scene each with `Worlds.of`), but not in their parts.

`RobotWorlds` has the state and commands of one robot, `StartState` the state from which an experiment begins, and
`SingleWorld` is the one world of a match, stepped in place with its contacts.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np
from mujoco.batch import Batch
from mujoco.batch import SimulationError as BatchError

from nutmeg.base.angles import uprightness
from nutmeg.base.errors import ModelError, SimulationError, UnknownNameError
from nutmeg.model.actuation import load_actuation
from nutmeg.model.geometry import yaw_quaternion
from nutmeg.model.ode import gaps_of, is_ode
from nutmeg.model.parameters import Adjustment, parse_target
from nutmeg.model.scene import assemble, settled_history
from nutmeg.sim.control_callback import check_installed, install_for
from nutmeg.sim.variation import use_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable

Device = Literal["cpu", "gpu", "warp-cpu"]
"""The engine of worlds: MuJoCo on this processor, or `mujoco_warp` on a CUDA device or this processor."""
BAD_STATE_WARNINGS = [getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}").value for name in ("QPOS", "QVEL", "QACC")]
"""Warnings of the engine after which it has put a world back to its start."""
_DIVERGES = "The simulation is unstable"  # what the text of each of these warnings says


class Worlds:
    """N copies of a scene.

    Args:
        scene: the scene of every world.
        count: number of worlds N.
        threads: number of threads; 0 for one a core.
        keep_data: whether to keep the engine's whole data of each world (memory grows with N); scenes with parked
            robots, which sleep, always do.
        device: `cpu` for MuJoCo on this processor, `gpu` for `mujoco_warp` on a CUDA device (see `warp_engine`).
    """

    def __init__(
        self, scene: Scene, count: int = 1, *, threads: int = 1, keep_data: bool = False, device: Device = "cpu"
    ) -> None:
        if count < 1:
            raise ModelError(f"a batch needs at least one world, {count} were asked for.")
        _hear_engine()
        self.scene, self.device = scene, device
        self.batch: Any
        if device == "cpu":
            self.batch = Batch(scene.model, count, threads, persistent=keep_data or scene.sleeps)
        else:
            from nutmeg.sim.warp_engine import WarpBatch

            self.batch = WarpBatch(scene, count, device)
        self.has_callback = install_for(self.batch, scene.model)
        """Whether the scene needs the engine's control callback (see `control_callback`)."""
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
        self.reset()

    @classmethod
    def of(cls, scenes: Sequence[Scene], *, threads: int = 1, device: Device = "cpu") -> Worlds:
        """One world for each scene; the scenes may differ in numbers (lengths, masses), not in parts.

        Args:
            scenes: one for each world; the same scene may appear several times.
            threads: number of threads; 0 for one a core.
            device: the device, as for `Worlds`.
        """
        if not scenes:
            raise ModelError("no scenes were given: a batch needs at least one.")
        worlds = cls(scenes[0], len(scenes), threads=threads, device=device)
        worlds.use(scenes)
        return worlds

    def use(self, scenes: Sequence[Scene]) -> None:
        """Gives each world another scene, (N,) of the same parts, and resets it."""
        self._use(scenes)
        self.reset()

    def vary(self, robot: str, target: str, values: ArrayLike, *, relative: bool = False) -> None:
        """Gives a number of a robot another value in each world; state and time stay, start poses change at `reset`.

        A scene is built for each different value (5 to 25 ms), so the worlds equal scenes that were built that way.
        Changes add up: what was varied before stays, and relative values multiply it.

        Args:
            robot: the robot's name in the scene.
            target: the number, in the grammar of `model.parameters`.
            values: one for each world, (N,), or one for all.
            relative: whether they multiply the present value.
        """
        given, name = np.asarray(values, float), self.robot(robot).table.name
        if given.shape not in ((), (1,), (self.count,)):
            raise ModelError(f"{target} has the shape {given.shape}; needed is ({self.count},).")
        if parse_target(target).family in ("camera", "delay", "zero", "channel"):
            raise ModelError(f"{target} cannot be varied: it is no number of the physics.")
        built: dict[tuple[int, float], Scene] = {}
        scenes = []
        for world, value in enumerate(np.broadcast_to(given, (self.count,)).tolist()):
            scene = self.scene_of(world)
            if (id(scene), value) not in built:
                change = Adjustment(target=target, value=value, relative=relative)
                robots = tuple(
                    dataclasses.replace(p, adjustments=(*p.adjustments, change)) if p.name == name else p
                    for p in scene.placements
                )
                built[id(scene), value] = assemble(dataclasses.replace(scene.settings, robots=robots))
            scenes.append(built[id(scene), value])
        self._use(scenes)

    def _use(self, scenes: Sequence[Scene]) -> None:
        """Gives each world the numbers of its scene."""
        if any(scene.timestep != self.scene.timestep for scene in scenes):
            raise ModelError("all worlds of a batch have one timestep; it cannot be varied from world to world.")
        try:
            if self.device == "cpu":
                use_models(self.batch, [scene.model for scene in scenes])
            else:
                self.batch.use_scenes(scenes)
        except (ValueError, mujoco.FatalError) as error:
            raise ModelError(f"these scenes do not have the same parts: {error}") from None
        self._begin_as(scenes)

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
        """The scene of one world; all have the same one unless they were varied or made by `of`."""
        return self._scenes[world if len(self._scenes) > 1 else 0]

    def actuations(self, robot: str) -> list[Actuation | None]:
        """The actuation of a robot in each world, (N,); None for ideal drives."""
        found = {id(scene): actuation_in(scene, robot) for scene in {id(s): s for s in self._scenes}.values()}
        return [found[id(self.scene_of(world))] for world in range(self.count)]

    def robot(self, name: str) -> RobotWorlds:
        """The views of one robot."""
        if name not in self._by_name:
            raise UnknownNameError("robot in this scene", name, self._by_name)
        return self._by_name[name]

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts worlds back to the start of the scene, at rest, holding the start pose."""
        rows = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        self.batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self.qpos[rows] = self._start[rows]
        self.batch.ctrl[rows] = self._commands[rows]
        if self.scene.setpoints.size:
            self.batch.act[rows] = self._setpoints[rows]
        if self.scene.history.size:
            self.batch.history[rows] = self._history[rows]
        for robot in self.robots:
            robot.push(0.0, rows)
        self.refresh(rows)

    def refresh(self, ids: ArrayLike | None = None) -> None:
        """Recomputes the quantities that the engine derives from the state (places of bodies, sensors)."""
        rows = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        guess = self.batch.qacc_warmstart[rows].copy()  # where the solver starts from: part of the state
        self.batch.forward(rows)
        self.batch.qacc_warmstart[rows] = guess

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
        if self.has_callback:
            check_installed()
        try:
            self.batch.step(ids, nstep=steps)
        except BatchError as error:
            raise SimulationError(f"the engine gave up in {len(error.ids)} world(s): {error}") from None

    def diverged(self) -> Bools:
        """The worlds whose state is no longer finite or that the engine had to reset, (N,)."""
        bad = ~np.isfinite(self.qpos).all(axis=1) | ~np.isfinite(self.qvel).all(axis=1)
        return np.asarray(bad | (self.batch.warning[:, BAD_STATE_WARNINGS, 1].sum(axis=1) > 0))

    def culprit(self, world: int) -> str:
        """A phrase that names the joint at which a world became unstable, or else its fastest."""
        model, warnings = self.scene.model, self.batch.warning[world]
        for kind in BAD_STATE_WARNINGS:  # the engine has reset this world, but its warning has the degree of freedom
            place, count = (int(number) for number in warnings[kind])
            if count:
                by_angle = np.searchsorted(model.jnt_qposadr, place, side="right") - 1
                joint = int(by_angle if kind == BAD_STATE_WARNINGS[0] else model.dof_jntid[place])
                return f"joint {model.joint(joint).name!r} left the range of numbers"
        rates = np.abs(np.where(np.isfinite(self.qvel[world]), self.qvel[world], np.inf))
        dof = int(rates.argmax())
        return f"joint {model.joint(int(model.dof_jntid[dof])).name!r} moves at {rates[dof]:.3g} (rad/s or m/s)"


def _hear_engine() -> None:
    """Takes the engine's warnings, unless other code does: it would write them to a file in the working folder, too."""
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_tell_warning)


def _tell_warning(text: str) -> None:
    """Tells a warning of the engine; that a world diverges is known to `Worlds.diverged`, and searches do it often."""
    if _DIVERGES not in text:
        sys.stderr.write(f"MuJoCo: {text}\n")


def actuation_in(scene: Scene, robot: str) -> Actuation | None:
    """The actuation of a robot in a scene; None for ideal drives."""
    table = scene.robot(robot)
    placement = next(p for p in scene.placements if p.name == table.name)
    return load_actuation(table.settings, placement.actuation)


def steps_in(seconds: float, timestep: float) -> int:
    """Number of physics steps in a time; it must be whole, up to the six digits of a timestep in MJCF."""
    steps = round(seconds / timestep)
    allowed = max(1e-9 * max(1.0, seconds), min(5e-6 * seconds, 1e-3 * timestep))
    if steps < 1 or abs(steps * timestep - seconds) > allowed:
        raise ModelError(
            f"{seconds} s is not a whole number of physics steps of {timestep} s. Choose a multiple of the step."
        )
    return steps


def _ball_view(batch: Any, scene: Scene) -> Floats | None:  # noqa: ANN401
    if not scene.has_ball:
        return None
    address = int(scene.model.jnt_qposadr[scene.model.body("ball").jntadr[0]])
    view: Floats = batch.bind("qpos")[:, address : address + 7]
    return view


# ----------------------------------------------------------------------------------------------------
# One robot in N worlds: its state and commands as arrays.
#
# `angles`, `rates` and `command` gather by the address tables of the scene. When a robot's addresses are consecutive,
# which the scene's assembly makes the rule, they are live views, cost nothing and can be written to. Otherwise (the
# joints of velocity drives have rotors in between) they are copies, and read-only.


class RobotWorlds:
    """Views of one robot in every world of a batch; `starts` are the worlds' configurations at the start, (N, nq)."""

    def __init__(self, batch: Any, table: RobotTable, starts: Floats) -> None:  # noqa: ANN401 (`Batch` or `WarpBatch`)
        self.table = table
        self._batch = batch
        self._qpos, self._qvel, self._ctrl, self._act = (batch.bind(n) for n in ("qpos", "qvel", "ctrl", "act"))
        self.start = starts[0, table.angles[table.motor_joints]]
        """Angles of the motors at the start (of the first world, if they differ), (motors,) [rad]."""
        self._starts = starts
        self._forces = batch.bind("xfrc_applied")
        self._park = mujoco.mj_name2id(batch.model, mujoco.mjtObj.mjOBJ_EQUALITY, f"{table.name}/parking")
        sleeps = mujoco.mjtEnableBit.mjENBL_SLEEP
        self._can_sleep = bool(batch.model.opt.enableflags & sleeps) and table.root >= 0

    @property
    def angles(self) -> Floats:
        """Joint angles, (N, joints) [rad]."""
        return _columns(self._qpos, self.table.angles)

    @property
    def rates(self) -> Floats:
        """Joint velocities, (N, joints) [rad/s]."""
        return _columns(self._qvel, self.table.rates)

    @property
    def pose(self) -> Floats:
        """Position and quaternion of the root, (N, 7), live."""
        self._need_root()
        view: Floats = self._qpos[:, self.table.root : self.table.root + 7]
        return view

    @property
    def velocity(self) -> Floats:
        """Velocity of the root: linear in the world's frame, angular in its own, (N, 6), live."""
        self._need_root()
        view: Floats = self._qvel[:, self.table.root_rate : self.table.root_rate + 6]
        return view

    @property
    def command(self) -> Floats:
        """Commands of the motors, (N, motors): angles [rad] or, for velocity drives, speeds [rad/s]."""
        return _columns(self._ctrl, self.table.commands)

    @command.setter
    def command(self, values: ArrayLike) -> None:
        self._ctrl[:, self.table.commands] = values

    def uprightness(self) -> Floats:
        """Cosine of the angle between the root's z axis and the vertical, (N,)."""
        return uprightness(self.pose[:, 3:7])

    def push(self, force: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Applies a force to the root's centre of mass from now on, (3,) or (N, 3) in the world's frame [N]."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        self._forces[rows, self.table.body, :3] = force
        if self._can_sleep:
            # The engine wakes a robot when a byte of its force is not zero: minus zero keeps a playing one awake.
            playing = np.flatnonzero(~self.parked)
            zero = self._forces[playing, self.table.body, 0] == 0
            self._forces[playing[zero], self.table.body, 0] = -0.0

    def activate(self, x: float, y: float, yaw: float, ids: ArrayLike | None = None) -> None:
        """Takes a robot from its parking place and puts it on the pitch, at rest in its start pose."""
        self._need_root()
        roots = np.tile([x, y, 0.0, *yaw_quaternion(yaw)], (len(self._starts), 1))
        roots[:, 2] = self._starts[:, self.table.root + 2]
        self._put(roots, ids, parked=False)

    def park(self, ids: ArrayLike | None = None) -> None:
        """Takes a robot out of the game: welded beside the pitch, at rest in its start pose."""
        self._need_root()
        rows = np.arange(len(self._starts)) if ids is None else np.atleast_1d(np.asarray(ids))
        roots = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(self._starts), 1))
        roots[rows, :3] = [self._batch.get_model(int(world)).eq_data[self._park, 3:6] for world in rows]
        self._put(roots, rows, parked=True)

    @property
    def parked(self) -> Bools:
        """Whether it is parked, (N,)."""
        self._need_root()
        return np.asarray(self._batch.bind("eq_active")[:, self._park] > 0)

    def _put(self, roots: Floats, ids: ArrayLike | None, *, parked: bool) -> None:
        """Puts the root where `roots` (N, 7) says, in the worlds `ids`."""
        rows = np.arange(len(roots)) if ids is None else np.atleast_1d(np.asarray(ids))
        table = self.table
        angles = self._starts[np.ix_(rows, table.angles)]
        self._qpos[rows, table.root : table.root + 7] = roots[rows]
        self._qvel[rows, table.root_rate : table.root_rate + 6] = 0.0
        self._qpos[np.ix_(rows, table.angles)] = angles
        self._qvel[np.ix_(rows, table.rates)] = 0.0
        self._qpos[np.ix_(rows, table.hidden[:, 0])] = table.at_rest(angles)
        self._qvel[np.ix_(rows, table.hidden[:, 1])] = 0.0
        held = angles[:, table.motor_joints]
        position = np.array(table.drives) == "position"
        self._ctrl[np.ix_(rows, table.commands)] = np.where(position, held, 0.0)
        moving = position & (table.setpoints >= 0)
        if moving.any():
            self._act[np.ix_(rows, table.setpoints[moving])] = held[:, moving]
        self._batch.bind("eq_active")[rows, self._park] = float(parked)
        self.push(0.0, rows)

    def _need_root(self) -> None:
        if self.table.root < 0:
            raise ModelError(f"{self.table.name} is bolted to the world: it has no pose that could move.")


def _columns(array: Floats, addresses: Indices) -> Floats:
    """Columns of an array: a live view when the addresses are consecutive, else a read-only copy."""
    if len(addresses) and addresses[-1] - addresses[0] == len(addresses) - 1 and (np.diff(addresses) == 1).all():
        return array[:, addresses[0] : addresses[-1] + 1]
    columns = array[:, addresses]
    columns.flags.writeable = False  # a write would be lost
    return columns


# ----------------------------------------------------------------------------------------------------
# The state from which an experiment begins: joint angles and speeds, pose and velocity of the root, last commands.
#
# Everything is in the order of the robot's table, for all worlds alike or for each its own row. Numbers that are left
# out, or NaN, are those of the scene: its pose, at rest.


@dataclass(frozen=True, kw_only=True)
class StartState:
    """A state to start from; each field for all worlds, (width,), or for each, (N, width).

    A recorded state, for example:

        start = StartState(angles=recorded[0], rates=speeds[0], command=goals[0])
        set_start_state(worlds, "robot", start)
    """

    angles: Floats | None = None
    """Angles of the joints, (..., joints) [rad]."""
    rates: Floats | None = None
    """Speeds of the joints, (..., joints) [rad/s]."""
    pose: Floats | None = None
    """Position and unit quaternion of the root, (..., 7) [m, 1]."""
    velocity: Floats | None = None
    """Velocity of the root: linear in the world's frame, angular in its own, (..., 6) [m/s, rad/s]."""
    command: Floats | None = None
    """The last commands of the motors, (..., motors); without them, position drives hold their angle."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StartState):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True)) for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class StateArrays:
    """The state of N worlds as arrays, with the commands of their drives."""

    qpos: Floats
    """(N, nq)."""
    qvel: Floats
    """(N, nv)."""
    ctrl: Floats
    """(N, nu)."""
    act: Floats
    """(N, na)."""

    @classmethod
    def at_start(cls, scene: Scene, count: int) -> StateArrays:
        """`count` worlds at the start of a scene."""
        rows = (scene.start, np.zeros(scene.model.nv), scene.commands, scene.setpoints)
        return cls(*(np.tile(row, (count, 1)) for row in rows))

    def fill(self, table: RobotTable, start: StartState) -> None:
        """Puts a robot into a state."""
        qpos, qvel = self.qpos, self.qvel
        angles = _filled("angles", start.angles, qpos[:, table.angles])
        rates = _filled("rates", start.rates, qvel[:, table.rates])
        qpos[:, table.angles], qvel[:, table.rates] = angles, rates
        qpos[:, table.hidden[:, 0]], qvel[:, table.hidden[:, 1]] = table.at_rest(angles), table.at_rest(rates)
        if start.pose is not None or start.velocity is not None:
            if table.root < 0:
                raise ModelError(
                    f"{table.name} is bolted to the world: it cannot start with a pose or a velocity of its own."
                )
            root, rate = slice(table.root, table.root + 7), slice(table.root_rate, table.root_rate + 6)
            qpos[:, root] = _normal(_filled("pose", start.pose, qpos[:, root]), table.name)
            qvel[:, rate] = _filled("velocity", start.velocity, qvel[:, rate])
        position = np.array(table.drives) == "position"
        held = np.where(position, angles[:, table.motor_joints], 0.0)
        command = _filled("command", start.command, held)
        self.ctrl[:, table.commands] = command
        moving = position & (table.setpoints >= 0)
        if moving.any():
            self.act[:, table.setpoints[moving]] = command[:, moving]


def set_start_state(worlds: Worlds, robot: str, start: StartState | None) -> None:
    """Resets all worlds, and puts a robot into a state."""
    worlds.reset()
    if start is None:
        return
    act = worlds.batch.act if worlds.scene.setpoints.size else np.zeros((worlds.count, 0))
    StateArrays(worlds.qpos, worlds.qvel, worlds.batch.ctrl, act).fill(worlds.robot(robot).table, start)
    if worlds.scene.history.size:
        commands = (worlds.batch.ctrl[i] for i in range(worlds.count))
        worlds.batch.history[:] = [settled_history(worlds.scene.model, command) for command in commands]
    worlds.refresh()


def _filled(name: str, given: Floats | None, present: Floats) -> Floats:
    """The given numbers, (N, width), with present ones where they are missing."""
    if given is None:
        return present.copy()
    values = np.asarray(given, float)
    if values.shape[-1:] != present.shape[1:] or values.ndim > 2 or (values.ndim == 2 and len(values) != len(present)):
        count, width = present.shape
        raise ModelError(f"the start's {name} have the shape {values.shape}; needed is ({width},) or {count, width}.")
    return np.where(np.isnan(values), present, values)


def _normal(poses: Floats, robot: str) -> Floats:
    """Poses (N, 7) with unit quaternions."""
    length = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    if (np.abs(length - 1) > 1e-2).any():
        raise ModelError(f"the start of {robot} has a quaternion of length {length.max():g}; needed is 1.")
    return np.concatenate([poses[:, :3], poses[:, 3:] / length], axis=1)


# ----------------------------------------------------------------------------------------------------
# One world, stepped in place, with its contacts: for matches, which have one world and need its details.
#
# `Worlds` copies the fields that are bound; it has no contacts, and a copy costs more than a step of one robot. Here a
# step is cut in two halves (acceleration and integration, then positions, contacts and velocities of the new state:
# `ode_step.solve_step` and `finish_step`, then `begin_step`), so that bodies' places are never one step old, at no
# cost. Motion is that of `Worlds`, bit for bit. The halves are called from compiled code: with what a match measures in
# each, a step of one robot took half as long again when Python called them one after the other.
#
# Sensors of the scene are switched off: a match computes its observations from the state, which is cheaper.


class SingleWorld:
    """A scene as one live world; its integrator is Euler's method, because only that can be cut in two.

    world = SingleWorld(scene)
    world.refresh()
    solve_step(*world.addresses, places())      # contacts and their forces are those of this step
    finish_step(*world.addresses)
    begin_step(*world.addresses, places())
    world.data.xpos                             # live
    """

    def __init__(self, scene: Scene) -> None:
        if scene.physics.integrator != "euler":
            raise ModelError(f"a single world needs the integrator euler; this scene has {scene.physics.integrator}.")
        _hear_engine()
        self.scene = scene
        self.model = copy.copy(scene.model)
        """A copy of the scene's model, whose numbers may be changed while it runs."""
        self._has_gaps = is_ode(self.model)
        if self._has_gaps:
            self.model.geom_user[0, -1] = 0.0  # the engine's callback leaves it alone: `solve_step` does what is needed
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR | mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.data = mujoco.MjData(self.model)
        self.addresses: tuple[int, int] = (self.model._address, self.data._address)
        """Addresses of model and data in the engine's memory, for compiled functions."""
        self.data.qpos[:] = scene.start
        self.data.ctrl[:] = scene.commands
        self.qpos: Floats = self.data.qpos
        self.qvel: Floats = self.data.qvel
        self.ctrl: Floats = self.data.ctrl
        self.moved = True
        """Whether the state was changed from outside since the engine last computed what depends on it."""

    def touch(self) -> None:
        """Marks the state as changed, so that derived quantities are computed again before they are needed."""
        self.moved = True

    def refresh(self) -> None:
        """Recomputes the quantities that the engine derives from the state, if the state was changed."""
        if self.moved:
            mujoco.mj_step1(self.model, self.data)
            self.moved = False

    def pass_time(self) -> None:
        """Advances the time by a step in a world in which nothing moves."""
        self.data.time += self.model.opt.timestep
        if self._has_gaps:
            self.data.userdata[0] = self.data.time  # by which `ode_step` knows that bodies have not moved

    def place_bodies(self) -> None:
        """Computes the places of all bodies and geoms, and nothing else."""
        mujoco.mj_kinematics(self.model, self.data)
        self.moved = True

    def close_gaps(self, bodies: slice) -> None:
        """Resets the gaps of bodies that were moved from outside (see `ode_step`)."""
        if self._has_gaps:
            gaps_of(self.model, self.data.userdata)[bodies] = 0.0

    def hold(self, table: RobotTable, *, parked: bool) -> None:
        """Welds a robot to its parking place, where it sleeps, or lets it play."""
        weld = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_EQUALITY, f"{table.name}/parking")
        self.data.eq_active[weld] = parked
        # The engine wakes a robot when a byte of its force is not zero: minus zero keeps a playing one awake.
        self.data.xfrc_applied[table.body, 0] = 0.0 if parked else -0.0
        self.moved = True
