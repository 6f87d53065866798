"""The cameras of hosted robots, drawn by a `CameraProcess`: at each camera's own rate, and only those that are wanted.

    with RobotHost(settings, ports, cameras=camera_feed) as host: ...

A state is handed over at the first control cycle at or after a picture is due, with its time; how long drawing takes
never matters to the host. Lenses and sensors are those of the robots' files (`engine.cameras`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.engine.cameras import scene_cameras
from nutmeg.net.camera_process import CameraProcess
from nutmeg.net.host_cameras import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds

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
