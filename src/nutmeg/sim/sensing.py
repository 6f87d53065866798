"""Reading a robot's sensors in N worlds at once, with their noise, steps, range, rate and latency.

    senses = Sensing(worlds, "nao-v6-1", rng)
    schedule.every(senses.period, senses.sample)
    senses.read("imu")          # (N, 6): gyro x y z [rad/s], accelerometer x y z [m/s²]
    senses.read("encoder")      # (N, joints) [rad]
    senses.read("SonarLeft")    # (N, 1) [m]

`sample` is called at the control rate. A sensor with a rate of its own takes a new measurement at the first
sample at or after it is due, and holds the last one in between. A measurement passes these stages: the
physical value, plus white noise, rounded to the sensor's resolution, clipped to its range, and handed out
`latency` seconds later (before that much time has passed, the first measurement is handed out).

**Sonar.** Rays fill the cone evenly; a surface echoes only if it faces the sensor within 45 degrees of
normal incidence, so a floor under a grazing beam is silent. The nearest echo counts. Without an echo within
range the sensor reports the largest range, as the real one does; nearer than the smallest range it reports
the smallest. **Distance** sensors are a single ray without the facing condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.model.sensors import Sensor
    from nutmeg.sim.worlds import Worlds


SOLID_GROUPS = np.array([1, 0, 0, 1, 0, 0], dtype=np.uint8)
"""Geom groups that echo: those that collide (0 and 3)."""
ECHO_COSINE = math.cos(math.pi / 4)
"""Cosine of the largest angle of incidence at which a surface echoes."""
SONAR_RINGS = 3
"""Rings of rays around the axis of a sonar, which has a ray of its own."""
RAYS_PER_SONAR_RING = 8


@dataclass
class _Channel:
    """One sensor: how it is measured, and its latest measurements."""

    sensor: Sensor
    measure: Callable[[], Floats]
    """The present physical value, (N, width)."""
    turns: float
    """Measurements per sample; 1 or more is one at every sample."""
    history: Floats
    """Its measurements at the latest samples, the oldest first, (latency + 1, N, width)."""
    noise: Floats | None
    """(width,) standard deviations; None without noise."""
    steps: Floats | None
    """(width,) resolution, 0 where nothing is rounded; None if nothing is rounded at all."""
    divisors: Floats
    """(width,) the steps, 1 where there is none."""
    stepped: bool
    """Whether every component is rounded."""
    limits: Floats | None
    """(width,) largest magnitude that it reports; None without limits."""


class Sensing:
    """The sensors of one robot.

    Args:
        worlds: the worlds with the robot.
        robot: its name in the scene.
        rng: random generator of the noise; None switches noise off.
        period: time between calls of `sample` [s].
    """

    def __init__(
        self, worlds: Worlds, robot: str, rng: np.random.Generator | None = None, *, period: float = 0.02
    ) -> None:
        self.worlds, self.robot, self.period = worlds, worlds.robot(robot), period
        self._rng = rng
        self._samples = 0
        self._channels: dict[str, _Channel] = {}
        self._data = worlds.batch.bind("sensordata")
        measurements = {s.name: self._measurement(s) for s in self.robot.table.sensors if s.type != "camera"}
        worlds.refresh()  # arrays that were bound just now are empty until then
        for sensor in self.robot.table.sensors:
            if sensor.name in measurements:
                self._channels[sensor.name] = self._channel(sensor, measurements[sensor.name])
        self.reset()

    @property
    def names(self) -> tuple[str, ...]:
        """The sensors that can be read; cameras are rendered, not read."""
        return tuple(self._channels)

    def labels(self, name: str) -> tuple[str, ...]:
        """Names of the numbers of a sensor."""
        return sensor_labels(self._find(name).sensor, self.robot.table.joints)

    def read(self, name: str) -> Floats:
        """The latest measurement handed out by a sensor, (N, width)."""
        latest: Floats = self._find(name).history[0]
        return latest

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Clears the measurements of all worlds, or of some; call it after `Worlds.reset`."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        for channel in self._channels.values():
            channel.history[:, rows] = self._imperfect(channel)[rows]
        if ids is None:
            self._samples = 0

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Takes the measurements that are due now."""
        for channel in self._channels.values():
            value = self._imperfect(channel) if _is_due(self._samples, channel.turns) else channel.history[-1].copy()
            channel.history[:-1] = channel.history[1:]
            channel.history[-1] = value
        self._samples += 1

    def _find(self, name: str) -> _Channel:
        if name not in self._channels:
            raise UnknownNameError(f"sensor of {self.robot.table.name}", name, self._channels)
        return self._channels[name]

    def _channel(self, sensor: Sensor, measure: Callable[[], Floats]) -> _Channel:
        width = measure().shape[1]
        turns = sensor.rate * self.period if sensor.rate else 1.0
        delay = math.ceil(sensor.latency / self.period - 1e-9)
        steps = _spread(sensor.resolution, width)
        return _Channel(
            sensor=sensor,
            measure=measure,
            turns=turns,
            history=np.zeros((delay + 1, self.worlds.count, width)),
            noise=_spread(sensor.noise, width) if any(sensor.noise) else None,
            steps=steps if steps.any() else None,
            divisors=np.where(steps > 0, steps, 1.0),
            stepped=bool((steps > 0).all()),
            limits=None if sensor.limits is None else _spread(sensor.limits, width),
        )

    def _measurement(self, sensor: Sensor) -> Callable[[], Floats]:
        if sensor.type in ("sonar", "distance"):
            return self._range_finder(sensor)
        observe = _observation(self.worlds, self.robot.table.name, sensor)
        return lambda: observe(self.robot.angles, self._data)

    def _range_finder(self, sensor: Sensor) -> Callable[[], Floats]:
        """Casts the rays of a sonar or distance sensor from its site."""
        model, batch = self.worlds.scene.model, self.worlds.batch
        site = model.site(f"{self.robot.table.name}/{sensor.name}").id
        places, frames = batch.bind("site_xpos"), batch.bind("site_xmat")
        rays = cone_rays(sensor.cone) if sensor.type == "sonar" else np.array([[1.0, 0.0, 0.0]])
        facing = ECHO_COSINE if sensor.type == "sonar" else 0.0
        body = int(model.site_bodyid[site])
        low, high = sensor.range or (0.0, np.inf)

        def measure() -> Floats:
            turned = np.einsum("nij,rj->nri", frames[:, site].reshape(-1, 3, 3), rays)
            starts = np.repeat(places[:, None, site], len(rays), axis=1)
            found, _, normals = batch.ray(starts, turned, geomgroup=SOLID_GROUPS, bodyexclude=body, normal=True)
            return np.asarray(np.clip(nearest_echo(turned, found, normals, facing)[:, None], low, high))

        return measure

    def _imperfect(self, channel: _Channel) -> Floats:
        """A measurement with noise, steps and range."""
        value = channel.measure()
        if self._rng is not None and channel.noise is not None:
            value += self._rng.standard_normal(value.shape) * channel.noise
        if channel.steps is not None:
            rounded = np.round(value / channel.divisors) * channel.steps
            value = rounded if channel.stepped else np.where(channel.steps > 0, rounded, value)
        if channel.sensor.range is not None:
            value = np.clip(value, *channel.sensor.range)
        if channel.limits is not None:
            value = np.clip(value, -channel.limits, channel.limits)
        return value


def _is_due(sample: int, turns: float) -> bool:
    """Whether a sensor that measures `turns` times per sample has a new turn at this sample."""
    rounding = 1e-3  # 33.3333 Hz is meant to be a third of 100 Hz
    return sample == 0 or math.floor(sample * turns + rounding) > math.floor((sample - 1) * turns + rounding)


def nearest_echo(rays: Floats, found: Floats, normals: Floats, facing: float = ECHO_COSINE) -> Floats:
    """Distances of the nearest surfaces that echo, (...,) m; infinite where there is none.

    Args:
        rays: (..., rays, 3) unit vectors along which was cast.
        found: (..., rays) distances of the first surfaces, m, below 0 where there is none.
        normals: (..., rays, 3) of these surfaces.
        facing: cosine of the largest angle of incidence at which a surface echoes.
    """
    echo = (found >= 0) & (np.abs((normals * rays).sum(axis=-1)) >= facing)
    return np.asarray(np.where(echo, found, np.inf).min(axis=-1))


def cone_rays(opening: float) -> Floats:
    """Unit rays around the x axis that fill a cone of the given full opening angle, (rays, 3)."""
    rays = [(1.0, 0.0, 0.0)]
    for ring in range(1, SONAR_RINGS + 1):
        tilt = opening / 2 * ring / SONAR_RINGS
        for k in range(RAYS_PER_SONAR_RING):
            turn = 2 * math.pi * (k + 0.5 * (ring % 2)) / RAYS_PER_SONAR_RING
            sideways = math.sin(tilt)
            rays.append((math.cos(tilt), sideways * math.cos(turn), sideways * math.sin(turn)))
    return np.array(rays)


def _spread(numbers: tuple[float, ...], width: int) -> Floats:
    """One number for each component: (gyro, accelerometer) become three of each."""
    if len(numbers) == 1:
        return np.full(width, numbers[0])
    return np.repeat(np.array(numbers), width // len(numbers))


# ----------------------------------------------------------------------------------------------------
# Ideal sensors, without noise, rounding, range or latency, as the engine records them for `rollout`.
#
# Encoders, inertial units, forces and switches can be recorded; sonars and distance sensors need rays, for which
# worlds must be stepped by a schedule.


Observation = Callable[[Floats, Floats], Floats]
"""Gives a measurement (..., width) from joint angles (..., joints) and the engine's sensor data (..., numbers)."""
RECORDED_SENSOR_TYPES = ("encoder", "imu", "force", "switch")


def observations(worlds: Worlds, robot: str, names: Sequence[str]) -> dict[str, Observation]:
    """Functions that read the named sensors of a robot from the engine's records."""
    table = worlds.robot(robot).table
    known = {sensor.name: sensor for sensor in table.sensors}
    found = {}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"sensor of {table.settings.name}", name, known)
        if known[name].type not in RECORDED_SENSOR_TYPES:
            raise UsageError(
                f"the sensor {name!r} is a {known[name].type}; recorded can be {', '.join(RECORDED_SENSOR_TYPES)}."
            )
        found[name] = _observation(worlds, table.name, known[name])
    return found


def sensor_labels(sensor: Sensor, joints: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the numbers of a sensor."""
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
