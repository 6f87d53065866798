"""Pictures of robots' cameras, made beside the simulation: it never waits for them.

A host posts the state of the world to a `CameraFeed` at every control cycle and asks it for the pictures that have
come; what stands behind it (a process of its own) decides which states become pictures. With `NoCameras` graphics are
off.

    feed.want({"nao-1/CameraTop"})          # only what somebody looks at is drawn
    feed.show(0.012, qpos)                  # returns at once
    for picture in feed.take(): ...
"""

from __future__ import annotations

import math
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
        """Ends it."""


class NoCameras:
    """Graphics are off."""

    def want(self, cameras: Set[str]) -> None:
        """Nothing is drawn."""

    def show(self, time: float, qpos: Floats) -> None:
        """Nobody looks."""

    def take(self) -> Sequence[Picture]:
        """Never any."""
        return ()

    def close(self) -> None:
        """Nothing to end."""


# ----------------------------------------------------------------------------------------------------
# The cameras of hosted robots, drawn by a `CameraProcess`: at each camera's own rate, and only those that are wanted.
#
# A state is handed over at the first control cycle at or after a picture is due, with its time; how long drawing
# takes never matters to the host. Lenses and sensors are those of the robots' files (`engine.cameras`).


RATE = 30.0
"""Pictures a second of a camera that says nothing of its rate."""
EARLY = 1e-6
"""Due times are compared with this much grace [s]."""


def camera_feed(worlds: Worlds) -> ProcessCameras:
    """The feed of all cameras in a world; waits until they can be drawn, a second or two."""
    return ProcessCameras(worlds)


class ProcessCameras:
    """All cameras of a world, in a process of their own."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        self._rates = {
            f"{robot.table.name}/{sensor.name}": sensor.rate or RATE
            for robot in worlds.robots
            for sensor in robot.table.sensors
            if sensor.type == "camera"
        }
        self._wanted: Set[str] = frozenset()
        self._turns = dict.fromkeys(self._rates, -1)
        scene = worlds.scene
        self._process = CameraProcess(scene.model, tuple(self._rates), settings=scene_cameras(scene))
        try:
            self._process.wait_until_ready()
        except BaseException:
            self._process.close()
            raise

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, and no others."""
        self._wanted = cameras

    def show(self, time: float, qpos: Floats) -> None:
        """Hands over the state to those cameras whose picture is due."""
        for camera in self._wanted:
            turn = int((time + EARLY) * self._rates[camera])
            if turn > self._turns[camera]:
                self._turns[camera] = turn
                self._process.ask(camera, time, qpos, self._worlds.qvel[0])

    def take(self) -> Sequence[Picture]:
        """The pictures that have come since the last call."""
        if not self._wanted:
            return ()
        return [
            Picture(camera=frame.camera, time=frame.time, sequence=frame.sequence - 1, pixels=frame.image)
            for frame in self._process.frames()
        ]

    def close(self) -> None:
        """Ends the process."""
        self._process.close()


# ----------------------------------------------------------------------------------------------------
# The cameras of hosted robots, drawn at once in the thread of the simulation, which waits for them.
#
# For runs in lock-step that are to be the same every time: each picture is there in the control cycle in which it is
# due, however busy the computer is. In real time `host_camera_process` is the right one.


def cameras_in_step(worlds: Worlds) -> CamerasInStep:
    """The feed of all cameras in a world."""
    return CamerasInStep(worlds)


class CamerasInStep:
    """All cameras of a world, with the lenses and sensors of the robots' files.

    Args:
        worlds: one world.
        seed: of the cameras' noise.
        most: pictures a second of each camera at most, to save time; the cameras' own rates if None.
    """

    def __init__(self, worlds: Worlds, *, seed: int = 0, most: float | None = None) -> None:
        self._worlds, self._seed = worlds, seed
        self._rates = {
            f"{robot.table.name}/{sensor.name}": min(sensor.rate or RATE, most or math.inf)
            for robot in worlds.robots
            for sensor in robot.table.sensors
            if sensor.type == "camera"
        }
        self._wanted: Set[str] = frozenset()
        self._turns = dict.fromkeys(self._rates, -1)
        self._counts = dict.fromkeys(self._rates, 0)
        self._cameras: dict[str, RobotCamera] = {}
        self._taken: list[Picture] = []

    def want(self, cameras: Set[str]) -> None:
        """Draws these cameras from now on, and no others."""
        self._wanted = cameras

    def show(self, time: float, qpos: Floats) -> None:
        """Draws those cameras whose picture is due."""
        for name in sorted(self._wanted):
            turn = int((time + EARLY) * self._rates[name])
            if turn > self._turns[name]:
                self._turns[name] = turn
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
        """A camera; made when it is first looked through, for a renderer belongs to the thread that made it."""
        if name not in self._cameras:
            number = list(self._rates).index(name)
            self._cameras[name] = RobotCamera(
                self._worlds.scene.model,
                name,
                settings=scene_cameras(self._worlds.scene).get(name),
                rng=np.random.default_rng([self._seed, number]),
            )
        return self._cameras[name]
