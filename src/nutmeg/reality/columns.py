"""Columns: the names of what can be seen of a simulated robot, and their series in a rollout.

| column                        | what it is                                                       | unit        |
|-------------------------------|------------------------------------------------------------------|-------------|
| `angles.JOINT`                | angle of a joint                                                 | rad         |
| `pose.x`, `.y`, `.z`          | place of the root                                                | m           |
| `pose.qw`, `.qx`, `.qy`, `.qz`| its quaternion                                                   | m           |
| `torso.roll`, `.pitch`, `.yaw`| turn of the root, about its own x, y and the vertical            | rad         |
| `torso.rate_x`, `_y`, `_z`    | its turn since the row before, over that time, in its own frame  | rad/s       |
| `SENSOR.LABEL`                | what a sensor says, without noise (`imu.gyro_x`, `LFsr.value`)   | its own     |

    units = column_units(twin.table)                    # {"angles.HeadYaw": "rad", ...}
    series_of(rollout, ["angles.HeadYaw", "pose.x"], twin.table)    # (N, T, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.observing import RECORDED, sensor_labels
from nutmeg.engine.trace import POSE
from nutmeg.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.body.tables import RobotTable
    from nutmeg.engine.rollout import Rollout


TURNS = ("roll", "pitch", "yaw")
RATES = ("rate_x", "rate_y", "rate_z")


def column_units(table: RobotTable) -> dict[str, str]:
    """The columns of a robot, and their units."""
    units = {f"angles.{joint}": "rad" for joint in table.joints}
    if table.root >= 0:
        units |= {f"pose.{label}": "m" for label in POSE} | {f"torso.{turn}": "rad" for turn in TURNS}
        units |= {f"torso.{rate}": "rad/s" for rate in RATES}
    for sensor in table.sensors:
        if sensor.type in RECORDED:
            for label in sensor_labels(sensor, table.joints):
                unit = {"gyro": "rad/s", "accel": "m/s²"}.get(label.split("_")[0], "")
                unit = {"encoder": "rad", "force": "N"}.get(sensor.type, unit)
                units[f"{sensor.name}.{label}"] = unit
    return units


def sensors_in(columns: Sequence[str], table: RobotTable) -> tuple[str, ...]:
    """The sensors that must be recorded for some columns."""
    names = {sensor.name for sensor in table.sensors}
    return tuple(dict.fromkeys(owner for column in columns if (owner := column.rpartition(".")[0]) in names))


def series_of(rollout: Rollout, columns: Sequence[str], table: RobotTable) -> Floats:
    """Columns of a rollout side by side, (N, T, columns)."""
    return np.stack([_series(rollout, column, table) for column in columns], axis=-1)


def _series(rollout: Rollout, column: str, table: RobotTable) -> Floats:
    known = column_units(table)
    if column not in known:
        raise UnknownNameError("column of the simulation", column, known)
    owner, _, label = column.rpartition(".")
    if owner == "angles":
        return rollout.angles[..., rollout.joints.index(label)]
    if owner == "pose" and rollout.pose is not None:
        return rollout.pose[..., POSE.index(label)]
    if owner == "torso" and label in RATES and rollout.pose is not None:
        return turn_rates(rollout.times, rollout.pose[..., 3:7])[..., RATES.index(label)]
    if owner == "torso" and rollout.pose is not None:
        return turns_of(rollout.pose[..., 3:7])[..., TURNS.index(label)]
    sensor = next(s for s in table.sensors if s.name == owner)
    return rollout.sensors[owner][..., sensor_labels(sensor, table.joints).index(label)]


def turns_of(quaternions: Floats) -> Floats:
    """Roll, pitch and yaw of unit quaternions (..., 4), (..., 3) [rad]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1)


def turn_rates(times: Floats, quaternions: Floats) -> Floats:
    """Turn since the row before, over that time, in the body's frame, (..., T, 3) [rad/s]; row 0 is as row 1."""
    w, v = quaternions[..., :-1, :1], -quaternions[..., :-1, 1:]  # turned back
    now, turn = quaternions[..., 1:, :1], quaternions[..., 1:, 1:]
    scalar = w * now - (v * turn).sum(axis=-1, keepdims=True)
    vector = w * turn + now * v + np.cross(v, turn)
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, np.abs(scalar)) * np.where(scalar < 0, -1, 1)
    rates = np.divide(vector * angle, size, out=np.zeros_like(vector), where=size > 0) / np.diff(times)[:, None]
    return np.concatenate([rates[..., :1, :], rates], axis=-2)
