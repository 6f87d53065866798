"""Sensors of a robot as they are recorded by the engine, for `rollout`: without noise, steps, range or latency.

Encoders, inertial units, forces and switches can be recorded; sonars and distance sensors need rays, for which
worlds must be stepped by a schedule with `sensing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.body.sensors import Sensor
    from nutmeg.engine.worlds import Worlds


Observation = Callable[[Floats, Floats], Floats]
"""What a sensor says, (..., width), of joint angles (..., joints) and the engine's sensor data (..., numbers)."""
RECORDED = ("encoder", "imu", "force", "switch")


def observations(worlds: Worlds, robot: str, names: Sequence[str]) -> dict[str, Observation]:
    """How to read the named sensors of a robot out of what the engine records."""
    table = worlds.robot(robot).table
    known = {sensor.name: sensor for sensor in table.sensors}
    found = {}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"sensor of {table.settings.name}", name, known)
        if known[name].type not in RECORDED:
            raise UsageError(f"the sensor {name!r} is a {known[name].type}; recorded can be {', '.join(RECORDED)}.")
        found[name] = _observation(worlds, table.name, known[name])
    return found


def sensor_labels(sensor: Sensor, joints: tuple[str, ...]) -> tuple[str, ...]:
    """What each number of a sensor is."""
    if sensor.type == "imu":
        return ("gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z")
    return joints if sensor.type == "encoder" else ("value",)


def _observation(worlds: Worlds, robot: str, sensor: Sensor) -> Observation:
    if sensor.type == "encoder":
        return lambda angles, _: angles.copy()
    if sensor.type == "imu":
        parts = [_columns(worlds, f"{robot}/{sensor.name}.{part}") for part in ("gyro", "accelerometer")]
        return lambda _, data: np.concatenate([data[..., part] for part in parts], axis=-1)
    column = _columns(worlds, f"{robot}/{sensor.name}")
    if sensor.type == "switch":
        return lambda _, data: np.where(
            np.isnan(data[..., column]), np.nan, (data[..., column] > sensor.threshold).astype(float)
        )
    return lambda _, data: data[..., column].copy()


def _columns(worlds: Worlds, name: str) -> slice:
    sensor = worlds.scene.model.sensor(name)
    first = int(sensor.adr[0])
    return slice(first, first + int(sensor.dim[0]))
