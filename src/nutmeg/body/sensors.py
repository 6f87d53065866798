"""What robots sense with: declarations, each with its range, noise, rate and latency.

A `[[sensor]]` in `robot.toml` names its type and where it sits; `engine/sensing.py` reads it. Sensors never
change the physics, so a world runs the same with or without them.

| type     | measures                                                             | unit        |
|----------|----------------------------------------------------------------------|-------------|
| encoder  | the angle of every joint                                             | rad         |
| imu      | angular velocity and proper acceleration in the frame of the sensor  | rad/s, m/s² |
| force    | normal force of the contacts inside its box (foot force sensor)      | N           |
| switch   | 1 when the contacts inside its box press more than `threshold`       | -           |
| sonar    | distance to the nearest surface in a cone that faces the sensor      | m           |
| distance | distance along a single ray (infrared sensor)                        | m           |
| camera   | pictures; declares place, field of view and resolution               | -           |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nutmeg.body.expression import Number

SensorType = Literal["encoder", "imu", "force", "switch", "sonar", "distance", "camera"]

PLACED: frozenset[str] = frozenset({"imu", "force", "switch", "sonar", "distance", "camera"})
"""Sensor types that sit on a body."""


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """One sensor of a robot."""

    name: str
    type: SensorType
    body: str = ""
    """The body it is fixed to; every type but `encoder` needs one."""
    pos: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)
    """Place in the body's frame [m]."""
    euler: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw; sonar, distance and camera look along their x axis [rad]."""
    size: tuple[float, float, float] = (0.01, 0.01, 0.01)
    """force and switch: full lengths of the box in which contacts count [m]."""
    rate: float = 0.0
    """Measurements per second; 0 measures at every control cycle."""
    latency: float = 0.0
    """Age of a measurement when it is read [s]."""
    noise: tuple[float, ...] = (0.0,)
    """Standard deviation of white noise, one number for each quantity (imu: gyro, accelerometer)."""
    resolution: tuple[float, ...] = (0.0,)
    """Steps in which values are reported, one for each quantity; 0 is exact."""
    range: tuple[float, float] | None = None
    """Smallest and largest value reported; readings outside are clipped (sonar, distance: see `engine.sensing`).
    """
    cone: float = 0.0
    """sonar: full opening angle [rad]."""
    threshold: float = 0.5
    """switch: force above which it closes [N]."""
    limits: tuple[float, float] | None = None
    """imu: largest magnitude of gyro [rad/s] and accelerometer [m/s²]."""
    fov: tuple[float, float] = (1.0, 0.8)
    """camera: horizontal and vertical field of view [rad]."""
    pixels: tuple[int, int] = (320, 240)
    """camera: width and height of a picture."""
    source: str = ""
    only: tuple[str, ...] = ()
    """The robot's types that have it; empty for all."""

    def __post_init__(self) -> None:
        if self.type in PLACED and not self.body:
            raise ValueError(f"sensor {self.name!r} ({self.type}) needs a body to sit on.")
        if self.rate < 0 or self.latency < 0:
            raise ValueError(f"sensor {self.name!r}: rate and latency must be 0 or above.")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError(f"sensor {self.name!r}: range {self.range} must rise.")
        if self.type == "sonar" and not 0 < self.cone < math.pi:
            raise ValueError(f"sensor {self.name!r}: cone is {self.cone} rad; a sonar's is above 0 and below pi.")
        most = 2 if self.type == "imu" else 1
        for what in ("noise", "resolution"):
            numbers = getattr(self, what)
            if not 1 <= len(numbers) <= most or min(numbers) < 0:
                allowed = "one number, or one for gyro and accelerometer each" if most == 2 else "one number"
                raise ValueError(f"sensor {self.name!r}: {what} is {list(numbers)}; it is {allowed}, 0 or above.")
