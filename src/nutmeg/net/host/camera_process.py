"""Cameras in a process of their own: dynamics hand over states and never wait for a picture.

    with CameraProcess(scene.model, ["red1/CameraTop", "red1/CameraBottom"]) as cameras:
        cameras.wait_until_ready()                          # a second or two: it starts Python and OpenGL
        sequence = cameras.ask("red1/CameraTop", now, qpos)  # at each of the camera's periods; microseconds
        for frame in cameras.frames():                      # whatever has come since; never waits
            send(frame.camera, frame.sequence, frame.time, frame.image)

Each camera has one place for the state it shall take a picture of. A newer state takes the place of one that has not
been drawn yet (the newest wins), so a slow renderer makes frames fewer, never late by more than one. `sequence`
counts the states of a camera from 1: a gap in the sequence numbers of its frames is a state that was skipped.
Positions are all it needs; velocities are for rolling shutter and motion blur. `frame.time` is the time that was handed
over with the state. Frames come in the order in which they were drawn; the last four of each camera are kept until they
are collected.

The process ends with the `with` block, with `close()`, or within half a second when this process ends, however that
happens. It ignores Ctrl-C, which is handled by the process that started it. It starts afresh (`spawn`): a script must
keep its own work under `if __name__ == "__main__":`. A machine without a renderer shows as an `EnvironmentProblem` of
`wait_until_ready` and `frames`.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UnknownNameError
from nutmeg.base.interrupts import Closing, ignore_interrupts, interrupts_blocked
from nutmeg.model.sensors import CAMERA_EFFECTS, CameraSettings, checked_effects
from nutmeg.sim.cameras import Quality, RobotCamera, SceneRenderer, camera_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext

    import mujoco
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.field import Light


SLOTS = 4
"""Entries that are kept; a reader that comes later than that has missed some."""
_STAMP = np.dtype([("number", "i8"), ("sequence", "i8"), ("time", "f8"), ("took", "f8")])


@dataclass(frozen=True)
class Entry:
    """What lies in a slot."""

    sequence: int
    """Number of the request."""
    time: float
    """The time of what is shown [s]."""
    took: float
    """To make it [s]."""
    values: NDArray[Any]


class Mailbox:
    """A mailbox in shared memory: one process writes, another reads, and neither ever waits for the other.

    Every entry goes to the next of a few slots, so that a reader has time to copy one while others are written. A slot
    carries the number of its entry before and after it is filled; a reader that finds another number has been overtaken
    and takes the newest instead. Memory is given to the other process when that is started, and is nobody's once both
    have ended: nothing is left behind, whichever way they end.

    Args:
        context: the context with which the other process is started.
        shape: of the values of an entry.
        kind: their NumPy type.
    """

    def __init__(self, context: SpawnContext, shape: tuple[int, ...], kind: str) -> None:
        self._shape, self._kind = shape, kind
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        self._memory = context.RawArray(ctypes.c_byte, 8 + SLOTS * (_STAMP.itemsize + size))
        self._lay_out()

    def _lay_out(self) -> None:
        bytes_ = np.frombuffer(memoryview(self._memory).cast("B"), np.uint8)
        self._newest = bytes_[:8].view("i8")
        split = 8 + SLOTS * _STAMP.itemsize
        self._stamps = bytes_[8:split].view(_STAMP)
        self._values = bytes_[split:].view(self._kind).reshape(SLOTS, *self._shape)

    def __getstate__(self) -> dict[str, Any]:
        return {"_shape": self._shape, "_kind": self._kind, "_memory": self._memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lay_out()

    @property
    def newest(self) -> int:
        """The number of the newest entry; entries are numbered from 1."""
        return int(self._newest[0])

    def write(self, entry: Entry) -> None:
        """Adds an entry; the oldest goes."""
        number = self.newest + 1
        slot = number % SLOTS
        self._stamps["number"][slot] = 0
        self._stamps["sequence"][slot], self._stamps["time"][slot] = entry.sequence, entry.time
        self._stamps["took"][slot] = entry.took
        self._values[slot] = entry.values
        self._stamps["number"][slot] = number
        self._newest[0] = number

    def read(self, after: int) -> tuple[int, Entry] | None:
        """The newest entry and its number, if that is above `after`."""
        while (number := self.newest) > after:
            entry = self.entry(number)
            if entry is not None:
                return number, entry
        return None

    def entry(self, number: int) -> Entry | None:
        """The entry of a number, unless it has gone."""
        slot = number % SLOTS
        if self._stamps["number"][slot] != number:
            return None
        stamp, values = self._stamps[slot].copy(), self._values[slot].copy()
        if self._stamps["number"][slot] != number:  # overtaken while copying
            return None
        return Entry(int(stamp["sequence"]), float(stamp["time"]), float(stamp["took"]), values)


LOOK_UP = 0.5
"""How often the process looks whether its parent is still there [s]."""
PATIENCE = 120.0
"""How long starting may take [s]."""


@dataclass(frozen=True)
class Frame:
    """A picture that has come back."""

    camera: str
    sequence: int
    """Which of the states that were asked of this camera it shows, from 1."""
    time: float
    """The time of that state, as it was handed over [s]."""
    image: Bytes
    """(height, width, 3), rows from the top."""
    took: float
    """How long it took to draw [s]."""


@dataclass
class CameraStatistics:
    """What became of the states of one camera."""

    asked: int = 0
    """States handed over."""
    drawn: int = 0
    """Pictures taken of them."""
    missed: int = 0
    """Pictures that nobody collected in time."""
    busy: float = 0.0
    """Time spent on the collected pictures [s]."""


class CameraProcess(Closing):
    """Takes pictures of one scene in a process of its own.

    Args:
        model: the compiled scene, with what is only seen.
        cameras: names of the cameras, `<robot>/<camera>`.
        size: width and height of all pictures, pixels; each camera's own if None.
        quality: what to spend on a picture.
        lights: lights in place of the scene's own.
        settings: lenses and sensors by camera (`engine.cameras.scene_cameras(scene)`); those left out are pinholes.
        effects: which of their effects to have: names, or text such as `lens,noise`.
        seed: of the noise.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        cameras: Sequence[str],
        *,
        size: tuple[int, int] | None = None,
        quality: Quality | None = None,
        lights: Sequence[Light] | None = None,
        settings: Mapping[str, CameraSettings] | None = None,
        effects: str | tuple[str, ...] = CAMERA_EFFECTS,
        seed: int = 0,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        sizes = {name: size or camera_size(model, name) for name in cameras}
        self._nq, self._nv = int(model.nq), int(model.nv)
        states = {name: Mailbox(context, (self._nq + self._nv,), "f8") for name in sizes}
        pictures = {name: Mailbox(context, (height, width, 3), "u1") for name, (width, height) in sizes.items()}
        self._states, self._pictures = states, pictures
        self._seen = dict.fromkeys(sizes, 0)
        self.statistics = {name: CameraStatistics() for name in sizes}
        """By camera."""
        self._asked, self._came = context.Semaphore(0), context.Semaphore(0)
        self._pipe, far = context.Pipe(duplex=False)
        look = _Look(quality, lights, dict(settings or {}), checked_effects(effects), seed)
        order = _Order(model, sizes, look, states, pictures, self._asked, self._came, far)
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

    def wait_until_ready(self, timeout: float = PATIENCE) -> None:
        """Waits until pictures can be drawn; a problem of the process is raised here."""
        if self._ready:
            return
        if not self._pipe.poll(timeout):
            raise EnvironmentProblem(f"the camera process was not ready within {timeout:g} s.")
        self._check_start()

    def ask(
        self,
        camera: str,
        now: float,
        qpos: Floats,
        qvel: Floats | None = None,
    ) -> int:
        """Hands over a state: positions (nq,), velocities (nv,) where known; returns its sequence number."""
        if camera not in self._states:
            raise UnknownNameError("camera", camera, self._states)
        statistics = self.statistics[camera]
        statistics.asked += 1
        values = np.zeros(self._nq + self._nv)
        values[: self._nq] = qpos
        if qvel is not None:
            values[self._nq :] = qvel
        self._states[camera].write(Entry(statistics.asked, now, 0.0, values))
        self._asked.release()
        return statistics.asked

    def frames(self) -> list[Frame]:
        """The pictures that have come since this was last asked, of all cameras; does not wait."""
        if not self.alive:
            self._check_start()
            raise EnvironmentProblem("the camera process has ended; there will be no more pictures.")
        while self._came.acquire(block=False):
            pass
        return [frame for camera in self._pictures for frame in self._collected(camera)]

    def wait(self, timeout: float) -> bool:
        """Waits until a picture has come that was not collected yet; False if none did within `timeout` [s]."""
        return any(box.newest > self._seen[name] for name, box in self._pictures.items()) or self._came.acquire(
            timeout=timeout
        )

    def close(self) -> None:
        """Ends the process."""
        self._finalizer()

    def _collected(self, camera: str) -> list[Frame]:
        box, seen, statistics = self._pictures[camera], self._seen[camera], self.statistics[camera]
        newest = box.newest
        numbers = range(max(seen + 1, newest - SLOTS + 2), newest + 1)
        frames = [_frame(camera, entry) for entry in map(box.entry, numbers) if entry is not None]
        self._seen[camera] = newest
        statistics.drawn = newest
        statistics.missed += newest - seen - len(frames)
        statistics.busy += sum(frame.took for frame in frames)
        return frames

    def _check_start(self) -> None:
        """Takes what the process said when it was ready, or why it will not be."""
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
class _Look:
    """How pictures shall look."""

    quality: Quality | None
    lights: Sequence[Light] | None
    settings: dict[str, CameraSettings]
    effects: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class _Order:
    """What the process is given."""

    model: mujoco.MjModel
    sizes: dict[str, tuple[int, int]]
    look: _Look
    states: dict[str, Mailbox]
    pictures: dict[str, Mailbox]
    asked: Any
    """A semaphore that is raised with each state."""
    came: Any
    """A semaphore that is raised with each picture."""
    pipe: Connection
    """To say once that it is ready (an empty text), or why not."""


def _serve(order: _Order) -> None:
    """What the process does: draw the newest state of each camera until its parent ends."""
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
    start = time.perf_counter()
    nq = order.model.nq
    image = camera.look(state.values[:nq], state.values[nq:])
    order.pictures[name].write(Entry(state.sequence, state.time, time.perf_counter() - start, image))
    order.came.release()
    return number


def _frame(camera: str, entry: Entry) -> Frame:
    return Frame(camera, entry.sequence, entry.time, entry.values, entry.took)


def _end(process: Any, pipe: Connection) -> None:  # noqa: ANN401
    process.kill()
    process.join()
    pipe.close()
