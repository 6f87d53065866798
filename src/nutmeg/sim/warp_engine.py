"""Worlds on a GPU: `mujoco_warp` behind the interface of MuJoCo's batch, so that `Worlds` is the same on both.

    worlds = Worlds(scene, 4096, device="gpu")      # `Worlds` makes a `WarpBatch`
    worlds.robot("walker").command[:] = targets     # (N, motors), as on the processor
    worlds.advance(0.02)

    batch = worlds.batch
    batch.device_array("qpos")                      # (N, nq) in the device's memory, for code that runs there
    batch.step_on_device(10)                        # without a copy to or from this computer's memory

A bound array (`bind`) is a copy in this computer's memory, in 64 bit: it is sent before each step and fetched after it.
Code that runs on the device reads and writes the engine's own arrays, in 32 bit, and copies nothing, as the learning of
walks does (`learning.device_bouts`). A sequence of steps is recorded once as a graph of the device and then repeated.

The device is `gpu`, a CUDA device, or `warp-cpu`, the same code compiled for this processor: slower than MuJoCo
itself, but it tests this path without a GPU. The model differs from `Scene.model` in two ways:
position drives are the DC motors of `model.export`, because `mujoco_warp` 4.0 has no `pid` drives, and the ground, a
box, is a plane, because two boxes collide there with the normal of the robot's foot instead of the ground's.

Contacts and rows of constraints have a fixed amount of memory. A world that needs more raises an error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import MODEL_FIELDS

from nutmeg.base.errors import EnvironmentProblem, MissingExtraError, ModelError, SimulationError
from nutmeg.base.kernels import numba_cuda
from nutmeg.base.records import aligned
from nutmeg.model.export import as_dcmotor
from nutmeg.model.ode import is_ode
from nutmeg.sim.control_callback import printed_count
from nutmeg.sim.variation import SKIPPED_FIELD_PREFIXES, field_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.scene import Scene
    from nutmeg.sim.worlds import Device

_INPUTS = ("qpos", "qvel", "act", "ctrl", "time", "qacc_warmstart", "xfrc_applied", "eq_active", "history")
"""Arrays that a user may change between steps."""
CONTACTS_PER_ROBOT = 24
"""Room for the contacts of a robot, shared by all worlds; two feet flat on the ground have eight."""
LEARNING_ITERATIONS, LEARNING_LINE_SEARCHES = 25, 20
"""The most iterations of the solver, and of its line search, while robots learn: all worlds wait for the slowest one, a
robot that falls, which is not worth it. A warm solver needs two or three; a `nao-spark`, whose steps are long and whose
drives are stiff, needs up to 20: with 10 the gyro of one in five cycles was off by more than 0.2 rad/s."""
_GROUND_TOLERANCE = 1e-6  # A box whose top is this near to height 0 is the ground [m]
_ONLY_SLEEP = ("dof_length",)  # numbers of the model that serve sleeping bodies alone, of which a device has none
_COPIED_NUMBERS = (
    *("dof_armature", "dof_damping", "dof_frictionloss", "dof_invweight0", "jnt_stiffness", "body_invweight0"),
    *("actuator_gainprm", "actuator_acc0", "tendon_stiffness", "tendon_lengthspring", "tendon_invweight0"),
)
"""Numbers of motors, gears and links that the engine copies from a model as they are, so that a scene that differs in
nothing else need not be converted: that takes longer than building it."""
_NOT_COPIED = ("dof_M0",)  # numbers of a model that the device's engine does not have
_USED_SHARE = 0.9  # share of the device's free memory that worlds may fill


def warp_modules(device: Device = "gpu") -> tuple[Any, Any]:
    """`warp` and `mujoco_warp`, if they are installed and have the device."""
    try:
        import warp

        warp.config.log_level = warp.LOG_WARNING  # before the engine initialises it
        import mujoco_warp
    except ImportError as error:
        raise MissingExtraError("simulation on a GPU", str(error.name), "gpu") from None
    warp.init()
    if device == "gpu" and not warp.is_cuda_available():
        raise EnvironmentProblem(
            "this computer has no CUDA device that Warp can use; simulate on the processor: --device cpu, or "
            'Worlds(..., device="cpu"). `nutmeg doctor` says what is missing.'
        )
    return warp, mujoco_warp


def device_model(scene: Scene, *, capsules: bool = False) -> mujoco.MjModel:
    """The scene's model as `mujoco_warp` can step it; see the head of this module.

    Args:
        scene: the scene of every world.
        capsules: whether cylinders collide as capsules of the same radius and length. The cylinders of a K1 take
            minutes to compile, and training with them came to a stop.
    """
    if is_ode(scene.model) or printed_count(scene.model):
        raise ModelError(
            "parts of this scene run beside the engine (the contacts of the profile `league`, or printed motors), "
            "which a GPU cannot do. Build it with the profile of `native_profile`, or simulate on the processor."
        )
    root = ET.fromstring(scene.xml)  # noqa: S314 (written by MuJoCo a moment ago)
    for actuator in root.findall("actuator/general[@dyntype='pid']"):
        as_dcmotor(actuator)
    spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"), assets=dict(scene.meshes))
    for geom in spec.geoms:
        box = geom.type == mujoco.mjtGeom.mjGEOM_BOX and geom.parent.name == "world" and geom.contype
        if box and abs(geom.pos[2] + geom.size[2]) < _GROUND_TOLERANCE:
            geom.pos, geom.type, geom.size = [0.0, 0.0, 0.0], mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, 1.0]
        if capsules and geom.type == mujoco.mjtGeom.mjGEOM_CYLINDER:
            radius, half = geom.size[:2]
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [radius, max(half - radius, 0.001), 0.0]
    model = spec.compile()
    model.opt.solver = scene.model.opt.solver  # it may have been changed since the scene was built
    model.geom_friction[:] = np.maximum(model.geom_friction, mujoco.mjMINMU)  # MuJoCo does that in each contact itself
    for size in ("nq", "nv", "nu", "na", "nsensordata"):
        if getattr(model, size) != getattr(scene.model, size):
            raise ModelError(
                f"the model for a GPU has another {size} than the scene: this actuation does not run there."
            )
    return model


@dataclasses.dataclass(frozen=True)
class Room:
    """Memory of a world for contacts and constraints."""

    contacts: int
    """Contacts of a world on average; worlds share them."""
    constraints: int
    """Rows of constraints that no world may exceed."""

    @classmethod
    def for_scene(cls, scene: Scene) -> Room:
        """Enough for robots that stand, walk or fall: rows of contacts, and one for each joint's limit or friction."""
        contacts = CONTACTS_PER_ROBOT * max(len(scene.robots), 1) + 8 * scene.has_ball
        model = scene.model
        rows = int((model.dof_frictionloss > 0).sum() + model.jnt_limited.sum() + 6 * model.neq + 2 * model.ntendon)
        # A contact with friction has three rows, or four edges of a pyramid.
        return cls(contacts, (3 if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC else 4) * contacts + rows)


class WarpBatch:
    """N worlds of a scene, stepped by `mujoco_warp`.

    Args:
        scene: the scene of every world.
        count: number of worlds N.
        device: `gpu` or `warp-cpu`.
        model: a model made by `device_model` in place of the scene's.
    """

    def __init__(
        self, scene: Scene, count: int, device: Device = "gpu", *, model: mujoco.MjModel | None = None
    ) -> None:
        self._warp, self._engine = warp_modules(device)
        self.model, self.count, self.on_cuda = scene.model, count, device == "gpu"
        self.place = self._warp.get_device("cuda" if self.on_cuda else "cpu")
        """Warp's device."""
        here = model or device_model(scene)
        self._scene_model = scene.model
        self._converted = model is not None  # whether numbers came from elsewhere than from scenes like this one
        self._bound: dict[str, Floats] = {}
        self._expanded: dict[str, Floats] = {}
        self._graphs: dict[int, Any] = {}
        self._types = {self._warp.bool: np.bool_, self._warp.int32: np.int32}
        self.warning = np.zeros((count, len(mujoco.mjtWarning.__members__) + 1, 2))
        """Warnings of each world, always zero: `mujoco_warp` never resets a world by itself."""
        with self._warp.ScopedDevice(self.place):
            try:
                self._there = self._engine.put_model(here)
            except NotImplementedError as error:
                raise ModelError(f"a GPU cannot simulate this scene: {error}") from None
            self._there.opt.warn_overflow = 0  # `check_room` reports it
            room = Room.for_scene(scene)
            try:
                self.data = self._engine.put_data(
                    here, mujoco.MjData(here), nworld=count, nconmax=room.contacts, njmax=room.constraints
                )
            except RuntimeError as error:
                fit = worlds_that_fit(scene, self.place.free_memory) if self.on_cuda else 0
                raise EnvironmentProblem(
                    f"{count} worlds do not fit into the device's memory ({error}); about {fit} of this scene do."
                ) from None

    def device_array(self, name: str) -> Any:  # noqa: ANN401 (of Warp)
        """An array of the engine in the device's memory, (N, ...)."""
        return getattr(self.data, name)

    def kernel_array(self, name: str) -> Any:  # noqa: ANN401 (of numpy, or of numba-cuda)
        """The same array for kernels of `base.kernels`: numpy's here, numba-cuda's on a CUDA device."""
        if not self.on_cuda:
            return self.device_array(name).numpy()
        return numba_cuda().as_cuda_array(self.device_array(name))

    def limit_solver(self) -> None:
        """Ends the solver in the slowest world after as many iterations as learning needs."""
        options = self._there.opt
        options.iterations = min(int(options.iterations), LEARNING_ITERATIONS)
        options.ls_iterations = min(int(options.ls_iterations), LEARNING_LINE_SEARCHES)
        self._graphs.clear()

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream on which the engine works."""
        return int(self._warp.get_stream(self.place).cuda_stream)

    def synchronize(self) -> None:
        """Waits until the device has finished its work."""
        self._warp.synchronize_device(self.place)

    def bind(self, name: str) -> Floats:
        """A copy of an array of the engine, (N, ...), that is sent before each step and fetched after it."""
        if name not in self._bound:
            self._bound[name] = np.asarray(self._fetched(name), float)
        return self._bound[name]

    def __getattr__(self, name: str) -> Floats:
        if name in _INPUTS:
            return self.bind(name)
        raise AttributeError(name)

    def _fetched(self, name: str) -> Any:  # noqa: ANN401
        values = getattr(self.data, name).numpy()
        return values.reshape(self.count, *values.shape[1:])

    def expand(self, name: str) -> Floats:
        """A copy of numbers of the model for each world, (N, ...), that is sent before each step."""
        if name not in self._expanded:
            there = getattr(self._there, name)
            values = np.asarray(there.numpy(), float)
            self._expanded[name] = np.array(np.broadcast_to(values, (self.count, *values.shape[1:])))
            self._own(self._there, name, self._expanded[name].astype(np.float32), there.dtype)
        return self._expanded[name]

    def _own(self, owner: Any, name: str, values: Any, kind: Any) -> None:  # noqa: ANN401
        """Gives each world its own numbers of the model or of its options, (N, ...)."""
        present = getattr(owner, name)
        if len(present) == len(values):
            present.assign(values)
            return
        setattr(owner, name, self._warp.array(values, dtype=kind, device=self.place))
        self._graphs.clear()  # they have the addresses of the numbers before

    def send(self) -> None:
        """Copies bound arrays that users may change to the device, and expanded ones."""
        for name, values in self._bound.items():
            if name in _INPUTS and values.size:
                there = getattr(self.data, name)
                there.assign(values.astype(self._types.get(there.dtype, np.float32)))
        self._send_expanded()

    def _send_expanded(self) -> None:
        for name, values in self._expanded.items():
            getattr(self._there, name).assign(values.astype(np.float32))

    def fetch(self) -> None:
        """Copies all bound arrays from the device."""
        for name, values in self._bound.items():
            values[...] = self._fetched(name)

    def step(self, ids: ArrayLike | None = None, nstep: int = 1) -> None:
        """Steps some worlds, or all; the others stay as they are."""
        with self._only(self._rows(ids)):
            self.step_on_device(nstep)
            self.check_room()

    def rollout(
        self,
        steps: int,
        control: Floats,
        *,
        record: Sequence[str],
        ids: ArrayLike | None,
        out: dict[str, Floats],
        every: int = 1,
        goes_on: bool = False,
    ) -> None:
        """Steps some worlds, or all, under commands, and records arrays of the engine.

        Args:
            steps: how many.
            control: the commands, (n, steps / every, nu).
            record: names of the arrays.
            ids: the n worlds; None for all.
            out: is filled with the records, (n, steps / every, ...) by name; those of a world that had more contacts or
                constraints than there is room for are NaN from there on.
            every: how many steps a command lasts, and a record is taken after.
            goes_on: whether the state is still that after the last call: nothing but commands and expanded numbers are
                sent, and nothing but positions, velocities and derived quantities fetched. The worlds that are not
                among `ids` move on, too.
        """
        rows, warp, times = self._rows(ids), self._warp, steps // every
        commands = np.repeat(self.bind("ctrl")[None].astype(np.float32), times, axis=0)
        commands[:, rows] = np.swapaxes(control, 0, 1)
        with self._linked() if goes_on else self._only(rows), warp.ScopedDevice(self.place):
            given = warp.array(commands, dtype=warp.float32)
            arrays = {name: getattr(self.data, name) for name in (*record, "overflow")}
            kept = {name: warp.empty((times, *one.shape), dtype=one.dtype) for name, one in arrays.items()}
            for time in range(times):
                warp.copy(self.data.ctrl, given[time])
                self.step_on_device(every)
                for name, one in arrays.items():
                    warp.copy(kept[name][time], one)
            full = np.swapaxes(self._is_full(kept["overflow"].numpy()), 0, 1)[rows]
            for name in record:
                out[name][:] = np.swapaxes(kept[name].numpy(), 0, 1)[rows].reshape(out[name].shape)
                out[name][full] = np.nan

    @contextlib.contextmanager
    def _linked(self) -> Iterator[None]:
        """Sends expanded numbers before something that steps all worlds, and fetches what is measured after it."""
        self._send_expanded()
        yield
        for name, values in self._bound.items():
            if name not in _INPUTS or name in ("qpos", "qvel"):
                values[...] = self._fetched(name)

    @contextlib.contextmanager
    def _only(self, rows: Indices) -> Iterator[None]:
        """Sends bound arrays before something that steps all worlds and fetches them after it, for some worlds."""
        others = np.ones(self.count, dtype=bool)
        others[rows] = False
        kept = {name: values[others] for name, values in self._bound.items()} if others.any() else {}
        self.send()
        yield
        self.fetch()
        for name, values in kept.items():
            self._bound[name][others] = values

    def _rows(self, ids: ArrayLike | None) -> Indices:
        return np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))

    def forward(self, ids: ArrayLike | None = None) -> None:
        """Recomputes the quantities that the engine derives from the state, in some worlds or all."""
        with self._only(self._rows(ids)), self._warp.ScopedDevice(self.place):
            self._engine.forward(self._there, self.data)

    def reset(self, ids: ArrayLike | None = None, stage: int = 0) -> None:  # noqa: ARG002 (as MuJoCo's batch)
        """Resets worlds to the start of the model."""
        rows = np.zeros(self.count, dtype=bool)
        rows[self._rows(ids)] = True
        self.send()
        with self._warp.ScopedDevice(self.place):
            self._engine.reset_data(self._there, self.data, self._warp.array(rows, dtype=bool))
        self.fetch()

    def step_on_device(self, steps: int) -> None:
        """Steps all worlds without copying anything."""
        if steps in self._graphs:
            self.replay(self._graphs[steps])
            return
        self.steps_on_device(steps)  # compiles what is not compiled yet, which a recording must not do
        if self.on_cuda:
            self._graphs[steps] = self.record(lambda: self.steps_on_device(steps))

    def steps_on_device(self, steps: int) -> None:
        """Steps all worlds, launch by launch; for use inside `record`."""
        with self._warp.ScopedDevice(self.place):
            for _ in range(steps):
                self._engine.step(self._there, self.data)

    def record(self, work: Any) -> Any:  # noqa: ANN401 (a function; a graph of Warp)
        """Records work on the CUDA device as a graph, without doing it."""
        with self._warp.ScopedDevice(self.place), self._warp.ScopedCapture() as capture:
            work()
        return capture.graph

    def replay(self, graph: Any) -> None:  # noqa: ANN401 (of Warp)
        """Runs a recorded graph."""
        self._warp.capture_launch(graph)

    def copied(self, name: str) -> Any:  # noqa: ANN401 (of Warp)
        """A copy of an array of the engine, in the device's memory."""
        return self._warp.clone(self.device_array(name))

    def overwrite(self, name: str, values: Any) -> None:  # noqa: ANN401 (of Warp)
        """Copies the result of `copied` back, within the device's memory."""
        self._warp.copy(self.device_array(name), values)

    def overflowed(self) -> Any:  # noqa: ANN401
        """The worlds that had more contacts or constraints than fit, since they were made or reset, (N,)."""
        return self._is_full(self.data.overflow.numpy())

    def _is_full(self, overflow: Any) -> Any:  # noqa: ANN401
        """Whether there was too little room, of the engine's own record."""
        kinds = self._engine.OverflowType
        # A solver that was ended by its limit of iterations is reported in the same place, but had room enough.
        return (overflow & ~int(kinds.ITERATIONS | kinds.LS_ITERATIONS)) != 0

    def forget_overflow(self) -> None:
        """Clears the record of worlds that overflowed."""
        self.data.overflow.zero_()

    def check_room(self) -> None:
        """Reports worlds that had more contacts or constraints than fit."""
        full = int(self.overflowed().sum())
        if full:
            raise SimulationError(
                f"{full} of {self.count} worlds had more contacts or constraints than there is room for on the device, "
                "so their motion is wrong from here on. Simulate this scene on the processor, or reset these worlds."
            )

    def ray(self, *_: object, **__: object) -> Any:  # noqa: ANN401 (as MuJoCo's batch)
        """Raises an error: sonars and distance sensors work on the processor only."""
        raise ModelError(
            "sonars and distance sensors cast rays, which worlds on a GPU do not; read other sensors there."
        )

    def get_model(self, world: int) -> mujoco.MjModel:  # noqa: ARG002 (parked robots have the same places in all)
        """The model of a world, for numbers that do not vary."""
        return self.model

    def use_scenes(self, scenes: Sequence[Scene]) -> None:
        """Gives each world the numbers of its scene; scenes with other parts are a ValueError."""
        different = list({id(scene): scene for scene in scenes}.values())
        base = self._scene_model
        if not self._converted and all(_differ_in_copied_numbers(base, scene.model) for scene in different):
            index = {id(scene): row for row, scene in enumerate(different)}
            rows = np.array([index[id(scene)] for scene in scenes])
            for name in _COPIED_NUMBERS:
                values = [np.asarray(getattr(scene.model, name), np.float32)[None] for scene in different]
                self._give(self._there, name, values, rows)
            return
        models = {id(scene): device_model(scene) for scene in different}
        self.use_models([models[id(scene)] for scene in scenes])

    def use_models(self, models: Sequence[mujoco.MjModel]) -> None:
        """Gives each world the numbers of its model, made by `device_model`; other parts are a ValueError."""
        self._converted = True
        different = list({id(model): model for model in models}.values())
        index = {id(model): row for row, model in enumerate(different)}
        rows = np.array([index[id(model)] for model in models])
        with self._warp.ScopedDevice("cpu"):  # in this computer's memory, where they are compared
            there = [self._engine.put_model(model) for model in different]
        for owner, of in ((self._there, there), (self._there.opt, [one.opt for one in there])):
            for name, arrays in _arrays_of(of):
                self._give(owner, name, [array.numpy() for array in arrays], rows)

    def _give(self, owner: Any, name: str, values: Sequence[Any], rows: Indices) -> None:  # noqa: ANN401
        """Gives worlds the numbers of their models, (1, ...) each; `rows` says which world has which, (N,)."""
        if len({one.shape for one in values}) > 1:
            raise ValueError(f"their {name} differ in size.")
        present = getattr(owner, name)
        alike = all(np.array_equal(values[0], other) for other in values[1:])
        # The engine takes the row of a world where the first axis is that of worlds.
        shared = len(values[0]) != 1 or (owner is self._there and present.ndim == 1)
        if alike and (shared or np.array_equal(present.numpy(), values[0])):
            return
        if shared:
            raise ValueError(f"their {name} differ, which worlds on a GPU share.")
        self._expanded.pop(name, None)
        self._own(owner, name, np.concatenate(values)[rows], present.dtype)


class DeviceMemory:
    """Arrays beside those of the engine: numpy's where the device is this processor, numba-cuda's on a GPU.

    Args:
        batch: the worlds of the device.
    """

    def __init__(self, batch: WarpBatch) -> None:
        self._batch = batch

    def put(self, array: Any) -> Any:  # noqa: ANN401
        """An array in the device's memory; the array itself where that is this computer's."""
        return numba_cuda().to_device(aligned(array)) if self._batch.on_cuda else array

    def refill(self, there: Any, array: Any) -> None:  # noqa: ANN401
        """Copies an array into one of the device."""
        if there is array:
            return
        if self._batch.on_cuda:
            self._batch.synchronize()
            there.copy_to_device(aligned(array))
            self._batch.synchronize()
        else:
            there[...] = array

    def get(self, there: Any) -> Any:  # noqa: ANN401
        """An array of the device in this computer's memory."""
        if not self._batch.on_cuda:
            return there
        self._batch.synchronize()
        return there.copy_to_host()


def _differ_in_copied_numbers(base: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Whether two models of the same parts differ in nothing but `_COPIED_NUMBERS`, and have no drive that changes."""
    if (base.actuator_dyntype == mujoco.mjtDyn.mjDYN_PID).any():
        return False  # `device_model` makes other drives of them
    return all(
        name in _COPIED_NUMBERS or name in _NOT_COPIED or np.array_equal(field_of(base, name), field_of(other, name))
        for name in MODEL_FIELDS
        if not name.startswith(SKIPPED_FIELD_PREFIXES)
    )


def _arrays_of(models: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The arrays of models, or of their options, that matter, by name."""
    for field in dataclasses.fields(models[0]):
        arrays = [getattr(model, field.name) for model in models]
        if hasattr(arrays[0], "numpy") and field.name not in _ONLY_SLEEP:
            yield field.name, arrays


def bytes_per_world(scene: Scene) -> int:
    """Memory of a device that one more world takes [B]."""
    warp, engine = warp_modules("warp-cpu")
    model, room = device_model(scene), Room.for_scene(scene)
    sizes = []
    with warp.ScopedDevice("cpu"):
        for count in (1, 33):
            data = engine.put_data(
                model, mujoco.MjData(model), nworld=count, nconmax=room.contacts, njmax=room.constraints
            )
            sizes.append(_bytes_in(data))
    return (sizes[1] - sizes[0]) // 32


def _bytes_in(thing: Any) -> int:  # noqa: ANN401 (dataclasses of arrays)
    values = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
    inner = sum(_bytes_in(value) for value in values if dataclasses.is_dataclass(value))
    return inner + sum(int(value.capacity) for value in values if hasattr(value, "capacity"))


def worlds_that_fit(scene: Scene, free: float) -> int:
    """Number of worlds of a scene that fit into the free memory of a device [B]."""
    return int(_USED_SHARE * free / bytes_per_world(scene))
