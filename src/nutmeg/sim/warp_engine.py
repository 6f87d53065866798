"""Worlds on a GPU: `mujoco_warp` behind the interface of MuJoCo's batch, so that `Worlds` is the same on both.

    worlds = Worlds(scene, 4096, device="gpu")      # `Worlds` makes a `WarpBatch`
    worlds.robot("walker").command[:] = targets     # (N, motors), as on the processor
    worlds.advance(0.02)

    batch = worlds.batch
    batch.device_array("qpos")                      # (N, nq) in the device's memory, for code that runs there
    batch.step_on_device(10)                        # without a copy to or from this computer's memory

What is bound (`bind`) is a copy in this computer's memory, in 64 bit: it is sent before each step and fetched
after it. Code that runs on the device reads and writes the engine's own arrays, in 32 bit, and copies nothing; that is
what the learning of walks does (`learning.device_bouts`). A sequence of steps is recorded once as a graph of the
device and then repeated.

The device is `gpu`, a CUDA device, or `warp-cpu`, the same code compiled for this processor: slower than MuJoCo
itself, but it shows without a GPU that the path is right. Two things of the model differ from `Scene.model`:
position drives are the DC motors of `model.export`, because `mujoco_warp` 4.0 has no `pid` drives, and the ground, a
box, is a plane, because two boxes collide there with the normal of the robot's foot instead of the ground's.

Contacts and rows of constraints have a fixed room. A world that needs more is reported by an error, not cut short.
"""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np

from nutmeg.base.errors import EnvironmentProblem, MissingExtraError, ModelError, SimulationError
from nutmeg.base.kernels import numba_cuda
from nutmeg.base.records import aligned
from nutmeg.model.export import as_dcmotor
from nutmeg.model.ode import is_ode
from nutmeg.sim.control_callback import printed_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.scene import Scene

Device = Literal["cpu", "gpu", "warp-cpu"]
"""Where worlds are stepped: by MuJoCo on this processor, or by `mujoco_warp` on a CUDA device or this processor."""
_INPUTS = ("qpos", "qvel", "act", "ctrl", "time", "qacc_warmstart", "xfrc_applied", "eq_active", "history")
"""What a user may change between steps."""
CONTACTS_PER_ROBOT = 24
"""Room for the contacts of a robot, shared by all worlds; two feet flat on the ground have eight."""
_GROUND_TOLERANCE = 1e-6  # A box whose top is this near to height 0 is the ground [m]
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
        scene: what is in every world.
        capsules: whether cylinders collide as capsules of the same radius and length. Those of a K1 take minutes to
            compile otherwise, and training with them came to a stop.
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
    """How much memory a world gets."""

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
        scene: what is in every world.
        count: how many, N.
        device: `gpu` or `warp-cpu`.
        model: of `device_model`, if it is to be another one than the scene's.
    """

    def __init__(
        self, scene: Scene, count: int, device: Device = "gpu", *, model: mujoco.MjModel | None = None
    ) -> None:
        self._warp, self._engine = warp_modules(device)
        self.model, self.count, self.on_cuda = scene.model, count, device == "gpu"
        self.place = self._warp.get_device("cuda" if self.on_cuda else "cpu")
        """Warp's device."""
        here = model or device_model(scene)
        self._bound: dict[str, Floats] = {}
        self._graphs: dict[int, Any] = {}
        self._types = {self._warp.bool: np.bool_, self._warp.int32: np.int32}
        self.warning = np.zeros((count, len(mujoco.mjtWarning.__members__) + 1, 2))
        """Nothing: `mujoco_warp` never puts a world back to its start."""
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

    def limit_solver(self, iterations: int, line_search: int) -> None:
        """Ends the solver after so many iterations, and so many of its line search, in the slowest world."""
        options = self._there.opt
        options.iterations = min(int(options.iterations), iterations)
        options.ls_iterations = min(int(options.ls_iterations), line_search)
        self._graphs.clear()

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream on which the engine works."""
        return int(self._warp.get_stream(self.place).cuda_stream)

    def synchronize(self) -> None:
        """Waits until the device has done what it was given."""
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

    def send(self) -> None:
        """Sends what was bound and may have been changed."""
        for name, values in self._bound.items():
            if name in _INPUTS and values.size:
                there = getattr(self.data, name)
                there.assign(values.astype(self._types.get(there.dtype, np.float32)))

    def fetch(self) -> None:
        """Fetches what was bound."""
        for name, values in self._bound.items():
            values[...] = self._fetched(name)

    def step(self, ids: ArrayLike | None = None, nstep: int = 1) -> None:
        """Steps some worlds, or all; the others stay as they are."""
        others = np.ones(self.count, dtype=bool)
        others[self._rows(ids)] = False
        kept = {name: values[others] for name, values in self._bound.items()} if others.any() else {}
        self.send()
        self.step_on_device(nstep)
        self.check_room()
        self.fetch()
        for name, values in kept.items():
            self._bound[name][others] = values

    def _rows(self, ids: ArrayLike | None) -> Indices:
        return np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))

    def forward(self, ids: ArrayLike | None = None) -> None:  # noqa: ARG002 (all worlds, which changes nothing)
        """Makes what the engine derives from the state current."""
        self.send()
        with self._warp.ScopedDevice(self.place):
            self._engine.forward(self._there, self.data)
        self.fetch()

    def reset(self, ids: ArrayLike | None = None, stage: int = 0) -> None:  # noqa: ARG002 (as MuJoCo's batch)
        """Puts worlds to the model's own start."""
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
        """Steps all worlds, launch by launch; for a recording of more than that."""
        with self._warp.ScopedDevice(self.place):
            for _ in range(steps):
                self._engine.step(self._there, self.data)

    def record(self, work: Any) -> Any:  # noqa: ANN401 (a function; a graph of Warp)
        """Records work on the CUDA device as a graph, without doing it."""
        with self._warp.ScopedDevice(self.place), self._warp.ScopedCapture() as capture:
            work()
        return capture.graph

    def replay(self, graph: Any) -> None:  # noqa: ANN401 (of Warp)
        """Does what was recorded."""
        self._warp.capture_launch(graph)

    def copied(self, name: str) -> Any:  # noqa: ANN401 (of Warp)
        """A copy of an array of the engine, in the device's memory."""
        return self._warp.clone(self.device_array(name))

    def overwrite(self, name: str, values: Any) -> None:  # noqa: ANN401 (of Warp)
        """Copies such a copy back, without leaving the device."""
        self._warp.copy(self.device_array(name), values)

    def overflowed(self) -> Any:  # noqa: ANN401
        """The worlds that had more contacts or constraints than fit, since they were made or reset, (N,)."""
        kinds = self._engine.OverflowType
        # A solver that was ended by its limit of iterations is reported in the same place, but had room enough.
        return (self.data.overflow.numpy() & ~int(kinds.ITERATIONS | kinds.LS_ITERATIONS)) != 0

    def forget_overflow(self) -> None:
        """Forgets which worlds had too little room."""
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
        """Refuses: sonars and distance sensors are for the processor."""
        raise ModelError(
            "sonars and distance sensors cast rays, which worlds on a GPU do not; read other sensors there."
        )

    def get_model(self, world: int) -> mujoco.MjModel:  # noqa: ARG002 (parked robots have the same places in all)
        """The model of a world, for numbers that do not vary."""
        return self.model

    def use_scenes(self, scenes: Sequence[Scene]) -> None:
        """Gives each world the numbers of its scene; scenes with other parts are a ValueError."""
        models = {id(scene): device_model(scene) for scene in {id(s): s for s in scenes}.values()}
        self.use_models([models[id(scene)] for scene in scenes])

    def use_models(self, models: Sequence[mujoco.MjModel]) -> None:
        """Gives each world the numbers of its model, made by `device_model`; other parts are a ValueError."""
        different = list({id(model): model for model in models}.values())
        index = {id(model): row for row, model in enumerate(different)}
        rows = np.array([index[id(model)] for model in models])
        with self._warp.ScopedDevice(self.place):
            for name, arrays in _arrays_of([self._engine.put_model(model) for model in different]):
                if len({array.shape[1:] for array in arrays}) > 1:
                    raise ValueError(f"their {name} differ in size.")
                values = [array.numpy()[:1] for array in arrays]
                if any(not np.array_equal(values[0], other) for other in values[1:]):
                    own = self._warp.array(np.concatenate(values)[rows], dtype=arrays[0].dtype)
                    setattr(self._there, name, own)
        self._graphs.clear()  # they have the addresses of the numbers before


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


def _arrays_of(models: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The arrays of models that may differ from world to world: those with an axis of worlds, of length 1."""
    for field in dataclasses.fields(models[0]):
        arrays = [getattr(model, field.name) for model in models]
        if hasattr(arrays[0], "numpy") and arrays[0].ndim > 1 and all(array.shape[0] == 1 for array in arrays):
            yield field.name, arrays


def bytes_per_world(scene: Scene) -> int:
    """How much of a device's memory one more world takes."""
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
    """How many worlds of a scene fit into so many free bytes of a device."""
    return int(_USED_SHARE * free / bytes_per_world(scene))
