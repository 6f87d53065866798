"""The cameras of hosted robots, drawn at once in the thread of the simulation, which waits for them.

    with RobotHost(settings, ports, cameras=cameras_in_step) as host: ...

For runs in lock-step that are to be the same every time: each picture is there in the control cycle in which it is due,
however busy the computer is. In real time `host_camera_process` is the right one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.cameras import RobotCamera, scene_cameras
from nutmeg.net.host_camera_process import EARLY, RATE
from nutmeg.net.host_cameras import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds


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
