"""The cameras of hosted robots: a host hands over states, and pictures come back.

    feed.want({"nao-1/CameraTop"})          # only requested cameras are drawn
    feed.show(0.012, qpos)                  # at every control cycle
    for picture in feed.take(): ...

    with RobotHost(settings, ports, cameras=ProcessCameras) as host: ...

There are three feeds. `ProcessCameras` draws in a process of its own: a state is handed over at the first control
cycle at or after a picture is due, and how long drawing takes never matters to the host. `CamerasInStep` draws at once,
in the thread of the simulation, which waits for it: for runs in lock-step that are to be the same every time, because
each picture is there in the control cycle in which it is due, however busy the computer is. With `NoCameras` graphics
are off. Lenses and sensors are those of the robots' files (`sim.cameras`).

Other programs use the process by itself:

    with CameraProcess(scene.model, ["red1/CameraTop", "red1/CameraBottom"]) as cameras:
        cameras.wait_until_ready()                           # a second or two: it starts Python and OpenGL
        sequence = cameras.ask("red1/CameraTop", now, qpos)  # at each of the camera's periods; microseconds
        for picture in cameras.take():                       # whatever has come since; never waits
            send(picture.camera, picture.sequence, picture.time, picture.pixels)

A newer state takes the place of one that has not been drawn yet, so a slow renderer makes pictures fewer, never late by
more than one. The process ends with the `with` block, with `close()`, or within half a second when this process ends,
however that happens. It ignores Ctrl-C, which is handled by the process that started it. It starts afresh (`spawn`): a
script must keep its own work under `if __name__ == "__main__":`. A machine without a renderer shows as an
`EnvironmentProblem` of `wait_until_ready` and `take`.
"""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UnknownNameError
from nutmeg.base.interrupts import Closing, ignore_interrupts, interrupts_blocked
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, checked_effects
from nutmeg.sim.cameras import Quality, RobotCamera, SceneRenderer, camera_size, scene_cameras

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext

    import mujoco
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.field import Light
    from nutmeg.sim.worlds import Worlds

MAILBOX_SIZE = 4
"""Entries that a mailbox keeps; a reader that comes later than that has missed some."""
LOOK_UP = 0.5
"""How often the process looks whether its parent is still there [s]."""
START_TIMEOUT = 120.0
"""How long starting may take [s]."""
DEFAULT_RATE = 30.0
"""Pictures a second of a camera whose file does not say it."""
DUE_TOLERANCE = 1e-6
"""Rounding of due times [s]."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of one camera."""

    camera: str
    """`<robot>/<camera>`, as `nao-1/CameraTop`."""
    time: float
    """Simulated time at which it was taken [s]."""
    sequence: int
    """Counts the pictures of this camera from 0; gaps are pictures that were left out."""
    pixels: Bytes
    """Red, green, blue, the top row first, (height, width, 3)."""


# ---- the process and the memory that it shares


class Mailbox:
    """A mailbox in shared memory: one process writes, another reads, and neither ever waits for the other.

    Every entry goes to the next of a few slots, so that a reader has time to copy one while others are written. A slot
    carries the number of its entry before and after it is filled; a reader that finds another number has been overtaken
    and takes the newest instead. Memory is given to the other process when that is started, and is released once both
    have ended: nothing is left behind, whichever way they end.

    Args:
        context: the context with which the other process is started.
        shape: of the values of an entry.
        kind: their NumPy type.
    """

    def __init__(self, context: SpawnContext, shape: tuple[int, ...], kind: str) -> None:
        stamp = [("number", "i8"), ("sequence", "i8"), ("time", "f8")]
        self._slot = np.dtype([*stamp, ("values", kind, shape)], align=True)
        self._memory = context.RawArray(ctypes.c_byte, 8 + MAILBOX_SIZE * self._slot.itemsize)
        self._lay_out()

    def _lay_out(self) -> None:
        memory = np.frombuffer(memoryview(self._memory).cast("B"), np.uint8)
        self._newest, self._slots = memory[:8].view("i8"), memory[8:].view(self._slot)

    def __getstate__(self) -> dict[str, Any]:
        return {"_slot": self._slot, "_memory": self._memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lay_out()

    @property
    def newest(self) -> int:
        """The number of the newest entry; entries are numbered from 1."""
        return int(self._newest[0])

    def write(self, sequence: int, time: float, values: NDArray[Any]) -> None:
        """Adds an entry; the oldest goes."""
        number = self.newest + 1
        slot = number % MAILBOX_SIZE
        self._slots["number"][slot] = 0
        self._slots["sequence"][slot], self._slots["time"][slot] = sequence, time
        self._slots["values"][slot] = values
        self._slots["number"][slot] = number
        self._newest[0] = number

    def read(self, after: int) -> tuple[int, np.void] | None:
        """The newest entry and its number, if that is above `after`."""
        while (number := self.newest) > after:
            entry = self.entry(number)
            if entry is not None:
                return number, entry
        return None

    def entry(self, number: int) -> np.void | None:
        """The entry of a number with its `sequence`, `time` and `values`, unless it has gone."""
        slot = number % MAILBOX_SIZE
        if self._slots["number"][slot] != number:
            return None
        entry: np.void = self._slots[slot].copy()
        # Another number now means that the entry was overtaken while it was copied.
        return entry if self._slots["number"][slot] == number else None


@dataclass(frozen=True, kw_only=True)
class CameraLook:
    """How the pictures of a camera process shall look."""

    size: tuple[int, int] | None = None
    """Width and height of all pictures, pixels; each camera's own if None."""
    quality: Quality | None = None
    """Quality of the pictures."""
    lights: Sequence[Light] | None = None
    """Lights in place of the scene's own."""
    settings: Mapping[str, CameraSettings] = field(default_factory=dict)
    """Lenses and sensors by camera (`sim.cameras.scene_cameras(scene)`); cameras left out are pinholes."""
    effects: str | tuple[str, ...] = CAMERA_EFFECTS
    """Which of their effects to have: names, or text such as `lens,noise`."""
    seed: int = 0
    """Seed of the noise."""


class CameraProcess(Closing):
    """Takes pictures of one scene in a process of its own.

    Args:
        model: the compiled scene, with what is only seen.
        cameras: names of the cameras, `<robot>/<camera>`.
        look: how pictures shall look.
    """

    def __init__(self, model: mujoco.MjModel, cameras: Sequence[str], look: CameraLook | None = None) -> None:
        look, context = look or CameraLook(), multiprocessing.get_context("spawn")
        checked_effects(look.effects)
        sizes = {name: look.size or camera_size(model, name) for name in cameras}
        self._nq, self._nv = int(model.nq), int(model.nv)
        self._states = {name: Mailbox(context, (self._nq + self._nv,), "f8") for name in sizes}
        self._pictures = {name: Mailbox(context, (height, width, 3), "u1") for name, (width, height) in sizes.items()}
        self._seen = dict.fromkeys(sizes, 0)
        self.statistics = {name: Counter(asked=0, drawn=0, missed=0) for name in sizes}
        """Counts by camera: states handed over, pictures drawn of them, and pictures that were not collected in
        time."""
        self._asked, self._came = context.Semaphore(0), context.Semaphore(0)
        self._pipe, far = context.Pipe(duplex=False)
        order = _Order(model, sizes, look, self._states, self._pictures, self._asked, self._came, far)
        self._process = context.Process(target=_serve, args=(order,), daemon=True, name="cameras")
        with interrupts_blocked():
            self._process.start()
        far.close()
        self._ready = False
        self._finalizer = weakref.finalize(self, _end, self._process, self._pipe)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid or 0

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._finalizer.alive and self._process.is_alive()

    def wait_until_ready(self, timeout: float = START_TIMEOUT) -> None:
        """Waits until pictures can be drawn; a problem of the process is raised here."""
        if self._ready:
            return
        if not self._pipe.poll(timeout):
            raise EnvironmentProblem(f"the camera process was not ready within {timeout:g} s.")
        self._check_start()

    def ask(self, camera: str, now: float, qpos: Floats, qvel: Floats | None = None) -> int:
        """Hands over a state: positions (nq,), velocities (nv,) for shutter and blur; returns its number, from 0."""
        if camera not in self._states:
            raise UnknownNameError("camera", camera, self._states)
        sequence = self.statistics[camera]["asked"]
        values = np.concatenate([qpos, np.zeros(self._nv) if qvel is None else qvel])
        self._states[camera].write(sequence, now, values)
        self._asked.release()
        self.statistics[camera]["asked"] += 1
        return sequence

    def take(self) -> list[Picture]:
        """The pictures that have come since this was last asked, of all cameras; does not wait."""
        if not self.alive:
            self._check_start()
            raise EnvironmentProblem("the camera process has ended; there will be no more pictures.")
        while self._came.acquire(block=False):
            pass
        return [picture for camera in self._pictures for picture in self._collected(camera)]

    def wait(self, timeout: float) -> bool:
        """Waits until a picture has come that was not collected yet; False if none did within `timeout` [s]."""
        return any(box.newest > self._seen[name] for name, box in self._pictures.items()) or self._came.acquire(
            timeout=timeout
        )

    def close(self) -> None:
        """Ends the process."""
        self._finalizer()

    def _collected(self, camera: str) -> list[Picture]:
        box, seen, statistics = self._pictures[camera], self._seen[camera], self.statistics[camera]
        newest = box.newest
        entries = map(box.entry, range(max(seen + 1, newest - MAILBOX_SIZE + 2), newest + 1))
        pictures = [
            Picture(camera=camera, time=float(e["time"]), sequence=int(e["sequence"]), pixels=e["values"])
            for e in entries
            if e is not None
        ]
        self._seen[camera] = statistics["drawn"] = newest
        statistics["missed"] += newest - seen - len(pictures)
        return pictures

    def _check_start(self) -> None:
        """Takes the message of the process that it is ready, or why it will not be."""
        if self._ready:
            return
        try:
            problem = self._pipe.recv()
        except (EOFError, OSError):
            problem = f"the camera process ended before it was ready (exit status {self._process.exitcode})."
        if problem:
            self.close()
            raise EnvironmentProblem(problem)
        self._ready = True


@dataclass(frozen=True)
class _Order:
    """The arguments of the process."""

    model: mujoco.MjModel
    sizes: dict[str, tuple[int, int]]
    look: CameraLook
    states: dict[str, Mailbox]
    pictures: dict[str, Mailbox]
    asked: Any
    """A semaphore that is raised with each state."""
    came: Any
    """A semaphore that is raised with each picture."""
    pipe: Connection
    """Sends once that the process is ready (an empty text), or why it is not."""


def _serve(order: _Order) -> None:
    """The process: draws the newest state of each camera until its parent ends."""
    ignore_interrupts()
    try:
        largest = max(w for w, _ in order.sizes.values()), max(h for _, h in order.sizes.values())
        look = order.look
        renderer = SceneRenderer(order.model, largest, quality=look.quality, lights=look.lights)
        cameras = {
            name: RobotCamera(
                order.model,
                name,
                size=size,
                renderer=renderer,
                settings=look.settings.get(name),
                effects=look.effects,
                rng=np.random.default_rng([look.seed, number]),
            )
            for number, (name, size) in enumerate(order.sizes.items())
        }
        next(iter(cameras.values())).look(order.model.qpos0)  # the first picture takes longest
    except NutmegError as problem:
        order.pipe.send(str(problem))
        return
    order.pipe.send("")
    parent = multiprocessing.parent_process()
    drawn = dict.fromkeys(cameras, 0)
    while parent is not None and parent.is_alive():
        if not order.asked.acquire(timeout=LOOK_UP):
            continue
        while order.asked.acquire(block=False):
            pass
        for name, camera in cameras.items():
            drawn[name] = _draw(order, name, camera, drawn[name])


def _draw(order: _Order, name: str, camera: RobotCamera, after: int) -> int:
    """Takes a camera's picture of its newest state, if there is a new one; returns the state's number."""
    found = order.states[name].read(after)
    if found is None:
        return after
    number, state = found
    nq, values = order.model.nq, state["values"]
    order.pictures[name].write(state["sequence"], state["time"], camera.look(values[:nq], values[nq:]))
    order.came.release()
    return number


def _end(process: Any, pipe: Connection) -> None:  # noqa: ANN401
    process.kill()
    process.join()
    pipe.close()


# ---- the feeds of a host


class CameraFeed(Protocol):
    """Where states go and pictures come from; nothing here waits."""

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, by `<robot>/<camera>`, and no others."""

    def show(self, time: float, qpos: Floats) -> None:
        """Posts the world's configuration (nq,) at a simulated time."""

    def take(self) -> Sequence[Picture]:
        """The pictures that have come since the last call, the oldest first."""

    def close(self) -> None:
        """Ends the drawing of pictures and frees what it holds."""


class NoCameras:
    """The cameras of a host that runs without graphics: nothing is drawn."""

    def want(self, cameras: Set[str]) -> None:
        """Nothing is drawn."""

    def show(self, time: float, qpos: Floats) -> None:
        """Nothing is drawn."""

    def take(self) -> Sequence[Picture]:
        """There are no pictures."""
        return ()

    def close(self) -> None:
        """There is nothing to end."""


class _Timetable:
    """The cameras of a world that are requested, and which of these are due."""

    def __init__(self, worlds: Worlds, max_rate: float = math.inf) -> None:
        self.rates = {
            f"{robot.table.name}/{sensor.name}": min(sensor.rate or DEFAULT_RATE, max_rate)
            for robot in worlds.robots
            for sensor in robot.table.sensors
            if sensor.type == "camera"
        }
        self.wanted: Set[str] = frozenset()
        self._turns = dict.fromkeys(self.rates, -1)

    def due(self, time: float) -> list[str]:
        """The requested cameras whose next picture is due at a time [s]; called once for each picture."""
        turns = {name: int((time + DUE_TOLERANCE) * self.rates[name]) for name in sorted(self.wanted)}
        due = [name for name, turn in turns.items() if turn > self._turns[name]]
        self._turns.update({name: turns[name] for name in due})
        return due


class ProcessCameras:
    """All cameras of a world, in a process of their own; waits until they can be drawn, a second or two."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._timetable = worlds, _Timetable(worlds)
        scene = worlds.scene
        look = CameraLook(settings=scene_cameras(scene))
        self._process = CameraProcess(scene.model, tuple(self._timetable.rates), look)
        try:
            self._process.wait_until_ready()
        except BaseException:
            self._process.close()
            raise

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, and no others."""
        self._timetable.wanted = cameras

    def show(self, time: float, qpos: Floats) -> None:
        """Hands over the state to those cameras whose picture is due."""
        for camera in self._timetable.due(time):
            self._process.ask(camera, time, qpos, self._worlds.qvel[0])

    def take(self) -> Sequence[Picture]:
        """The pictures that have come since the last call."""
        return self._process.take() if self._timetable.wanted else ()

    def close(self) -> None:
        """Ends the process."""
        self._process.close()


class CamerasInStep:
    """All cameras of a world, drawn in the thread of the simulation.

    Args:
        worlds: one world.
        seed: of the cameras' noise.
        max_rate: pictures a second of each camera at most, to save time; the cameras' own rates if None.
    """

    def __init__(self, worlds: Worlds, *, seed: int = 0, max_rate: float | None = None) -> None:
        self._worlds, self._seed = worlds, seed
        self._timetable = _Timetable(worlds, max_rate or math.inf)
        self._counts: Counter[str] = Counter()
        self._cameras: dict[str, RobotCamera] = {}
        self._taken: list[Picture] = []

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, and no others."""
        self._timetable.wanted = cameras

    def show(self, time: float, qpos: Floats) -> None:
        """Draws those cameras whose picture is due."""
        for name in self._timetable.due(time):
            pixels = self._camera(name).look(qpos, self._worlds.qvel[0])
            self._taken.append(Picture(camera=name, time=time, sequence=self._counts[name], pixels=pixels))
            self._counts[name] += 1

    def take(self) -> Sequence[Picture]:
        """The pictures that have come since the last call."""
        taken, self._taken = self._taken, []
        return taken

    def close(self) -> None:
        """Gives the renderers back."""
        for camera in self._cameras.values():
            camera.close()
        self._cameras.clear()

    def _camera(self, name: str) -> RobotCamera:
        """A camera; made when it is first looked through, because a renderer belongs to the thread that made it."""
        if name not in self._cameras:
            number = list(self._timetable.rates).index(name)
            self._cameras[name] = RobotCamera(
                self._worlds.scene.model,
                name,
                settings=scene_cameras(self._worlds.scene).get(name),
                rng=np.random.default_rng([self._seed, number]),
            )
        return self._cameras[name]
