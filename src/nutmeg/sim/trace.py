"""Worlds written into recordings.

Every robot has the channels `<robot>.pose`, `<robot>.angles` and `<robot>.command`, the ball has `ball.pose`, and each
sensor has one on request. With the scene's MJCF beside them, a viewer needs nothing else.

    with TraceWriter(path, worlds, seed=1, senses=[senses]) as trace:
        schedule.every(0.02, trace.sample)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.interrupts import Closing
from nutmeg.recording import Channel, Manifest, RecordingWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.sim.sensing import Sensing
    from nutmeg.sim.worlds import Worlds

POSE_LABELS = ("x", "y", "z", "qw", "qx", "qy", "qz")
POSE_STEP, ANGLE_STEP, SENSOR_STEP = 1e-4, 1e-4, 1e-3
"""Resolutions of stored poses, angles and sensors: 0.1 mm, 0.1 mrad, 0.001 of a sensor's unit."""
SENSOR_UNITS = {"encoder": "rad", "imu": "rad/s, m/s2", "force": "N", "switch": "", "sonar": "m", "distance": "m"}

_COMMAND_UNITS = {"position": "rad", "velocity": "rad/s", "torque": "N m"}


Source = tuple[Channel, "Callable[[], Floats]"]
"""A channel and the function that reads its present values, (labels,)."""


class TraceWriter(Closing):
    """Records one world of a batch.

    Args:
        path: path of the new recording.
        worlds: the worlds.
        world: index of the world to record.
        seed: the run's seed, kept in the recording.
        senses: what to record beside the scene: all sensors of a robot, or a channel with its function.
        config: settings of the run, kept in the recording.
        overwrite: whether to replace an existing recording.
    """

    def __init__(
        self,
        path: Path,
        worlds: Worlds,
        *,
        world: int = 0,
        seed: int = 0,
        senses: Sequence[Sensing | Source] = (),
        config: Mapping[str, object] | None = None,
        overwrite: bool = False,
    ) -> None:
        sources = _sources(worlds, world, senses)
        self._read = [read for _, read in sources]
        self.recording = RecordingWriter.create(
            path,
            Manifest(
                kind="scene", seed=seed, channels=tuple(channel for channel, _ in sources), config=dict(config or {})
            ),
            scene_xml=worlds.scene_of(world).xml,
            overwrite=overwrite,
        )
        self.recording.add_meshes(worlds.scene_of(world).meshes)

    def sample(self, time: float) -> None:
        """Appends the present state; a task of the schedule."""
        self.recording.append(time, self.row())

    def row(self) -> Floats:
        """The present state as a row, (width,), to be appended later."""
        return np.concatenate([read() for read in self._read])

    def event(self, time: float, kind: str, **fields: object) -> None:
        """Appends an event."""
        self.recording.event(time, kind, **fields)

    def close(self) -> None:
        """Finishes the recording."""
        self.recording.close()


def _sources(worlds: Worlds, world: int, senses: Sequence[Sensing | Source]) -> list[Source]:
    """The channels of a recording, each with the function that reads its values."""
    out: list[Source] = []
    for robot in worlds.robots:
        table, name = robot.table, robot.table.name
        if table.root >= 0:
            out.append((_pose_channel(name), lambda r=robot: r.pose[world]))  # type: ignore[misc]
        if table.joints:
            angles = Channel(name=f"{name}.angles", labels=table.joints, unit="rad", resolution=ANGLE_STEP)
            out.append((angles, lambda r=robot: r.angles[world]))  # type: ignore[misc]
        if table.motors:
            units = {_COMMAND_UNITS[drive] for drive in table.drives}
            unit = units.pop() if len(units) == 1 else ""
            channel = Channel(name=f"{name}.command", labels=table.motors, unit=unit, resolution=SENSOR_STEP)
            out.append((channel, lambda r=robot: r.command[world]))  # type: ignore[misc]
    if worlds.ball is not None:
        ball = worlds.ball
        out.append((_pose_channel("ball"), lambda: ball[world]))
    for sense in senses:
        if isinstance(sense, tuple):
            out.append(sense)
            continue
        for sensor in sense.names:
            kind = next(s.type for s in sense.robot.table.sensors if s.name == sensor)
            channel = Channel(
                name=f"{sense.robot.table.name}.{sensor}",
                labels=sense.labels(sensor),
                unit=SENSOR_UNITS[kind],
                resolution=SENSOR_STEP,
            )
            out.append((channel, lambda s=sense, n=sensor: s.read(n)[world]))  # type: ignore[misc]
    return out


def _pose_channel(name: str) -> Channel:
    return Channel(
        name=f"{name}.pose", labels=POSE_LABELS, unit="m", resolution=POSE_STEP, about="position, quaternion"
    )
