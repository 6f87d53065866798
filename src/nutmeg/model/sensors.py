"""Sensors and cameras as data: range, noise, rate and latency of sensors, lenses and image sensors of cameras.

A `[[sensor]]` in `robot.toml` has a type and a place; `sim.sensing` reads it. Sensors never change the physics, so a
world runs the same with or without them.

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
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import Bounds, above, at_least, check_bounds, read_cached
from nutmeg.model.geometry import Number

if TYPE_CHECKING:
    from nutmeg.model.robot import RobotSettings


SensorType = Literal["encoder", "imu", "force", "switch", "sonar", "distance", "camera"]

PLACED_SENSOR_TYPES: frozenset[str] = frozenset({"imu", "force", "switch", "sonar", "distance", "camera"})
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
    rate: Annotated[float, at_least(0, "Hz")] = 0.0
    """Measurements per second; 0 measures at every control cycle."""
    latency: Annotated[float, at_least(0, "s")] = 0.0
    """Age of a measurement when it is read [s]."""
    noise: tuple[float, ...] = (0.0,)
    """Standard deviation of white noise, one number for each quantity (imu: gyro, accelerometer)."""
    resolution: tuple[float, ...] = (0.0,)
    """Steps in which values are reported, one for each quantity; 0 is exact."""
    range: tuple[float, float] | None = None
    """Smallest and largest value reported; readings outside are clipped (sonar, distance: see `sim.sensing`).
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
        if self.type in PLACED_SENSOR_TYPES and not self.body:
            raise ValueError(f"sensor {self.name!r} ({self.type}) needs a body to sit on.")
        check_bounds(self)
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


# ----------------------------------------------------------------------------------------------------
# Lenses and image sensors of cameras
#
# A robot's `robot.toml` names the file (`[model] cameras = "cameras.toml"`); each table in it is one of the robot's
# cameras by its sensor's name. A number left out has no effect, and neither has a camera left out: it is a pinhole.
#
# The equations are in `sim.cameras.lens`, `shutter` and `image_sensor`. Every number has a target,
# `camera.CAMERA.FIELD`, by which they are set or identified from pictures (`model.parameters`).


FilterPattern = Literal["none", "rggb", "bggr", "grbg", "gbrg"]

CAMERA_EFFECTS = (
    *("lens", "fringe", "vignette", "shutter", "blur"),
    *("exposure", "auto", "noise", "filter", "balance", "gamma"),
)
"""Effects of a camera, in the order in which light and signal pass them; `auto` needs `exposure`."""


@dataclass(frozen=True, kw_only=True)
class CameraSettings:
    """One camera's lens and sensor; the defaults are a pinhole with a perfect sensor."""

    k1: float = 0.0
    """lens: radial distortion, r² (Brown-Conrady, in units of the focal length); below 0 for a barrel."""
    k2: float = 0.0
    """lens: radial distortion, r⁴."""
    k3: float = 0.0
    """lens: radial distortion, r⁶."""
    p1: float = 0.0
    """lens: tangential distortion along the picture's height."""
    p2: float = 0.0
    """lens: tangential distortion along the picture's width."""
    centre_x: float = 0.0
    """lens: distance of the optical axis to the right of the picture's middle, in widths of the picture."""
    centre_y: float = 0.0
    """lens: distance of the optical axis below the picture's middle, in widths of the picture."""
    fringe_red: float = 0.0
    """fringe: share by which the red image is larger than the green one."""
    fringe_blue: float = 0.0
    """fringe: share by which the blue image is larger than the green one."""
    cos4: Annotated[float, Bounds(0, 1)] = 0.0
    """vignette: share of the natural fall-off cos⁴ of the angle to the optical axis, 0 to 1."""
    v2: float = 0.0
    """vignette: further change with ρ², ρ being 1 in the picture's corners; below 0 darkens them."""
    v4: float = 0.0
    """vignette: further change with ρ⁴."""
    readout: Annotated[float, at_least(0, "s")] = 0.0
    """shutter: time from reading the first row to reading the last [s]; 0 for a global shutter."""
    exposure: Annotated[float, at_least(0, "s")] = 0.01
    """blur, exposure: time for which a row collects light [s]."""
    white_exposure: Annotated[float, above(0, "s")] = 0.01
    """exposure: time after which white saturates the pixels [s]."""
    gain: Annotated[float, above(0)] = 1.0
    """exposure: amplification of the signal, noise included."""
    auto_target: Annotated[float, Bounds(0, 1, without_high=True)] = 0.0
    """auto: the mean signal at which automatic exposure aims, 0 to 1; 0 leaves exposure and gain as they are."""
    auto_rate: Annotated[float, above(0, up_to=1)] = 0.3
    """auto: share of the error, in stops, that is corrected from one picture to the next, above 0 and up to 1."""
    auto_shortest: Annotated[float, above(0, "s")] = 0.0001
    """auto: the shortest exposure [s]."""
    auto_longest: float = 0.033
    """auto: the longest exposure [s]; where it is too short, the gain rises."""
    auto_gain: Annotated[float, at_least(1)] = 8.0
    """auto: the largest gain, 1 or above."""
    full_well: Annotated[float, above(0)] = 10000.0
    """noise: electrons that a pixel can hold."""
    read_noise: Annotated[float, at_least(0)] = 0.0
    """noise: standard deviation that reading adds [electrons]."""
    bits: Annotated[int, Bounds(1, 16)] = 10
    """noise: number of bits of the analogue-to-digital converter."""
    filter: FilterPattern = "none"
    """filter: colours of the first 2 x 2 pixels under a Bayer filter; none if a pixel sees all three colours."""
    light_red: Annotated[float, above(0)] = 1.0
    """balance: the sensor's red signal for white, relative to green (colour of the light and of the filters)."""
    light_blue: Annotated[float, above(0)] = 1.0
    """balance: the sensor's blue signal for white, relative to green."""
    balance_red: Annotated[float, at_least(0)] = 1.0
    """balance: gain of red in the camera's own correction."""
    balance_blue: Annotated[float, at_least(0)] = 1.0
    """balance: gain of blue in the camera's own correction."""
    gamma: Annotated[float, above(0)] = 2.2
    """gamma: the picture's values are the signal to the power 1/gamma; screens undo 2.2."""
    source: str = ""
    """Source of the numbers."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.auto_shortest > self.auto_longest:
            limits = f"{self.auto_shortest} and {self.auto_longest} s"
            raise ValueError(f"auto_shortest and auto_longest are {limits}; the first must not be above the second.")


@dataclass(frozen=True, kw_only=True)
class CameraFile:
    """The contents of a robot's `cameras.toml`.

    For example:

        [camera.CameraTop]
        source = "..."
        k1 = -0.09
        full_well = 5000
    """

    source: str = ""
    camera: Mapping[str, CameraSettings] = field(default_factory=dict)


def load_cameras(robot: RobotSettings) -> dict[str, CameraSettings]:
    """The settings of all cameras of a robot by name; those that its file leaves out are pinholes."""
    names = [sensor.name for sensor in robot.sensor if sensor.type == "camera"]
    path = robot.model.cameras
    given = {} if path is None else read_cached(path, CameraFile).camera
    for name in given:
        if name not in names:
            raise UnknownNameError(f"camera of {robot.name}", name, names, where=str(path))
    return {name: given.get(name, CameraSettings()) for name in names}


def checked_effects(effects: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names of effects in their order, from a tuple or from text: `lens,noise`, `all`, `none`."""
    if isinstance(effects, str):
        named = {"all": CAMERA_EFFECTS, "none": (), "": ()}
        effects = named.get(effects) or tuple(part.strip() for part in effects.split(",") if effects not in named)
    for name in effects:
        if name not in CAMERA_EFFECTS:
            raise UnknownNameError("camera effect", name, [*CAMERA_EFFECTS, "all", "none"])
    return tuple(name for name in CAMERA_EFFECTS if name in effects)
