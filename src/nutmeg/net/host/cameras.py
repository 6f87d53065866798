"""The cameras of hosted robots: a host hands over states, and pictures come back.

    feed.want({"nao-1/CameraTop"})          # only what somebody looks at is drawn
    feed.show(0.012, qpos)                  # at every control cycle
    for picture in feed.take(): ...

    with RobotHost(settings, ports, cameras=ProcessCameras) as host: ...

There are three feeds. `ProcessCameras` draws in a process of its own: a state is handed over at the first control
cycle at or after a picture is due, and how long drawing takes never matters to the host. `CamerasInStep` draws at once,
in the thread of the simulation, which waits for it: for runs in lock-step that are to be the same every time, because
each picture is there in the control cycle in which it is due, however busy the computer is. With `NoCameras` graphics
are off. Lenses and sensors are those of the robots' files (`sim.cameras`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.net.host.camera_process import CameraProcess
from nutmeg.sim.cameras import RobotCamera, scene_cameras

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.sim.worlds import Worlds


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
    """Graphics are off."""

    def want(self, cameras: Set[str]) -> None:
        """Nothing is drawn."""

    def show(self, time: float, qpos: Floats) -> None:
        """Nothing is drawn."""

    def take(self) -> Sequence[Picture]:
        """There are no pictures."""
        return ()

    def close(self) -> None:
        """There is nothing to end."""


DEFAULT_RATE = 30.0
"""Pictures a second of a camera whose file does not say it."""
DUE_TOLERANCE = 1e-6
"""Rounding of due times [s]."""


class _Timetable:
    """Which of a world's cameras are wanted, and which of these are due."""

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
        """The wanted cameras whose next picture is due at a time [s]; asked once for each picture."""
        turns = {name: int((time + DUE_TOLERANCE) * self.rates[name]) for name in sorted(self.wanted)}
        due = [name for name, turn in turns.items() if turn > self._turns[name]]
        self._turns.update({name: turns[name] for name in due})
        return due


class ProcessCameras:
    """All cameras of a world, in a process of their own; waits until they can be drawn, a second or two."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds, self._timetable = worlds, _Timetable(worlds)
        scene = worlds.scene
        self._process = CameraProcess(scene.model, tuple(self._timetable.rates), settings=scene_cameras(scene))
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
        if not self._timetable.wanted:
            return ()
        return [
            Picture(camera=frame.camera, time=frame.time, sequence=frame.sequence - 1, pixels=frame.image)
            for frame in self._process.frames()
        ]

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
