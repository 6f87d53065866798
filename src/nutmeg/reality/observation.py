"""What is observed of a trial: series of named columns, and the fitness of the controller.

    watch = Watch(fitness=FitnessSettings(kind="speed"), series=("angles.*",))
    for behaviour in watch.simulate(twin, candidates, trials):      # one for each trial, of N candidates
        behaviour.fitness, behaviour.series                         # (N,), (N, T, columns)

| column                         | what it is                                                        | unit        |
|--------------------------------|-------------------------------------------------------------------|-------------|
| `angles.JOINT`                 | angle of a joint                                                  | rad         |
| `pose.x`, `.y`, `.z`           | position of the root                                              | m           |
| `pose.qw`, `.qx`, `.qy`, `.qz` | its orientation as a quaternion                                   | m           |
| `torso.roll`, `.pitch`, `.yaw` | orientation of the root about its own x, y and the vertical       | rad         |
| `torso.rate_x`, `_y`, `_z`     | its mean angular velocity since the row before, in its own frame  | rad/s       |
| `SENSOR.LABEL`                 | reading of a sensor without noise (`imu.gyro_x`, `LFsr.value`)    | its own     |

The fitness is one of

| kind       | what is measured                                                              | unit  |
|------------|-------------------------------------------------------------------------------|-------|
| `speed`    | way along the starting heading over the whole time of the trial               | m/s   |
| `distance` | way along the starting heading                                                | m     |
| `swing`    | mean range of the joints, the highest angle less the lowest                   | rad   |

    [fitness]                       # of a configuration file
    kind = "speed"
    after = 0.5                     # the first half second does not count
    falls = "end"                   # the way after a fall does not count, but its time does

Seed 000 measures its ant by gait speed. `sideways` subtracts a part of the way across the heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.sim.sensing import RECORDED_SENSOR_TYPES, sensor_labels
from nutmeg.sim.trace import POSE_LABELS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.twin import Trial, Twin
    from nutmeg.sim.rollout import Rollout


TORSO_ANGLES = ("roll", "pitch", "yaw")
TORSO_RATES = ("rate_x", "rate_y", "rate_z")


def column_units(table: RobotTable) -> dict[str, str]:
    """The columns of a robot, and their units."""
    units = {f"angles.{joint}": "rad" for joint in table.joints}
    if table.root >= 0:
        units |= {f"pose.{label}": "m" for label in POSE_LABELS} | {f"torso.{turn}": "rad" for turn in TORSO_ANGLES}
        units |= {f"torso.{rate}": "rad/s" for rate in TORSO_RATES}
    for sensor in table.sensors:
        if sensor.type in RECORDED_SENSOR_TYPES:
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
    known = column_units(table)
    for column in columns:
        if column not in known:
            raise UnknownNameError("column of the simulation", column, known)
    return np.stack([_series(rollout, column, table) for column in columns], axis=-1)


def _series(rollout: Rollout, column: str, table: RobotTable) -> Floats:
    owner, _, label = column.rpartition(".")
    if owner == "angles":
        return rollout.angles[..., rollout.joints.index(label)]
    if owner == "pose" and rollout.pose is not None:
        return rollout.pose[..., POSE_LABELS.index(label)]
    if owner == "torso" and label in TORSO_RATES and rollout.pose is not None:
        return angular_rates(rollout.times, rollout.pose[..., 3:7])[..., TORSO_RATES.index(label)]
    if owner == "torso" and rollout.pose is not None:
        return roll_pitch_yaw(rollout.pose[..., 3:7])[..., TORSO_ANGLES.index(label)]
    sensor = next(s for s in table.sensors if s.name == owner)
    return rollout.sensors[owner][..., sensor_labels(sensor, table.joints).index(label)]


def roll_pitch_yaw(quaternions: Floats) -> Floats:
    """Roll, pitch and yaw of unit quaternions (..., 4), (..., 3) [rad]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1)


def angular_rates(times: Floats, quaternions: Floats) -> Floats:
    """Mean angular velocity since the row before, in the body's frame, (..., T, 3) [rad/s]; row 0 is as row 1.

    It is the axis and angle of the rotation between two unit quaternions, (..., T, 4), over the time between them.
    """
    w, v = quaternions[..., :-1, :1], -quaternions[..., :-1, 1:]  # the inverse of the rotation before
    scalar_now, vector_now = quaternions[..., 1:, :1], quaternions[..., 1:, 1:]
    scalar = w * scalar_now - (v * vector_now).sum(axis=-1, keepdims=True)
    vector = w * vector_now + scalar_now * v + np.cross(v, vector_now)
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, np.abs(scalar)) * np.where(scalar < 0, -1, 1)
    rates = np.divide(vector * angle, size, out=np.zeros_like(vector), where=size > 0) / np.diff(times)[:, None]
    return np.concatenate([rates[..., :1, :], rates], axis=-2)


FITNESS_UNITS = {"speed": "m/s", "distance": "m", "swing": "rad"}


@dataclass(frozen=True, kw_only=True)
class FitnessSettings:
    """How the fitness of a controller is measured."""

    kind: Literal["speed", "distance", "swing"] = "speed"
    """What is measured."""
    after: float = 0.0
    """Seconds at the start that do not count."""
    sideways: float = 0.0
    """speed, distance: the share of the way across the heading that is subtracted."""
    joints: tuple[str, ...] = ("*",)
    """swing: patterns of the joints that count."""
    falls: Literal["end", "fail"] = "end"
    """Whether a fall ends what counts, or makes the controller fail (no fitness, not transferred to reality)."""
    upright: float = 0.7
    """The robot has fallen when the cosine between its z axis and the vertical is below this; -1 for never."""

    def __post_init__(self) -> None:
        if self.kind not in FITNESS_UNITS:
            raise UnknownNameError("fitness", self.kind, FITNESS_UNITS)
        if self.after < 0 or self.sideways < 0 or not -1 <= self.upright < 1:
            raise ValueError(
                f"after ({self.after:g}) and sideways ({self.sideways:g}) must be 0 or more, and upright "
                f"({self.upright:g}) a cosine from -1 to below 1."
            )

    @property
    def unit(self) -> str:
        """The unit of the fitness."""
        return FITNESS_UNITS[self.kind]


def fitness_of(
    settings: FitnessSettings,
    times: ArrayLike,
    frames: ArrayLike,
    *,
    pose: Floats | None = None,
    angles: Floats | None = None,
    joints: tuple[str, ...] = (),
) -> Floats:
    """The fitness of N robots, (N,); nan where a fall is a failure, and where nothing was observed.

    Args:
        settings: how it is measured.
        times: times of the rows [s], (T,).
        frames: number of rows until each robot fell or the trial ended, (N,).
        pose: poses of the roots, (N, T, 7): position [m] and quaternion.
        angles: joint angles, (N, T, joints) [rad].
        joints: names of the joints.
    """
    when, lasted = np.asarray(times, float), np.asarray(frames, int)
    first = int(np.searchsorted(when, settings.after - 1e-9))
    if first >= len(when) - 1:
        raise UsageError(
            f"the trial lasts {when[-1]:g} s, but its first {settings.after:g} s do not count for the fitness. "
            "Make trials longer, or `after` of [fitness] shorter."
        )
    if settings.kind == "swing":
        value = _swing(settings, angles, joints, first, lasted)
    else:
        value = _way(settings, pose, first, lasted)
        if settings.kind == "speed":
            value = value / (when[-1] - when[first])
    failed = (lasted < len(when)) if settings.falls == "fail" else (lasted < 1)
    return np.where(failed, np.nan, value)


def _way(settings: FitnessSettings, pose: Floats | None, first: int, frames: NDArray[np.int_]) -> Floats:
    """Metres along the heading of the first row, less the sideways part, (N,)."""
    if pose is None:
        raise UsageError(
            f"the fitness {settings.kind!r} needs to know where the robot is, but its root is fixed or was not "
            "recorded. Use kind = 'swing', record the pose, or give the fitness as a number."
        )
    count = np.arange(len(pose))
    yaw = roll_pitch_yaw(pose[:, 0, 3:7])[:, 2]
    start = np.minimum(first, np.maximum(frames - 1, 0))
    move = pose[count, np.maximum(frames - 1, 0), :2] - pose[count, start, :2]
    along = move[:, 0] * np.cos(yaw) + move[:, 1] * np.sin(yaw)
    across = move[:, 1] * np.cos(yaw) - move[:, 0] * np.sin(yaw)
    return np.asarray(along - settings.sideways * np.abs(across))


def _swing(
    settings: FitnessSettings,
    angles: Floats | None,
    joints: tuple[str, ...],
    first: int,
    frames: NDArray[np.int_],
) -> Floats:
    """Mean range of the chosen joints, (N,) [rad]."""
    chosen = [i for i, name in enumerate(joints) if any(fnmatchcase(name, p) for p in settings.joints)]
    if angles is None or not chosen:
        raise UsageError(
            f"the fitness 'swing' finds no joint like {', '.join(settings.joints)}; there are "
            f"{', '.join(joints) or 'none'}."
        )
    seen = angles[:, first:, :][..., chosen]
    inside = (np.arange(seen.shape[1]) < (frames - first)[:, None])[..., None]
    high = np.where(inside, seen, -np.inf).max(axis=1)
    low = np.where(inside, seen, np.inf).min(axis=1)
    return np.asarray(np.where(inside.any(axis=1), high - low, 0.0).mean(axis=1))


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is measured of a trial."""

    fitness: FitnessSettings | None = field(default_factory=FitnessSettings)
    """How the fitness is measured; None if it is not."""
    series: tuple[str, ...] = ()
    """Patterns of the columns that are kept."""

    @property
    def fallen(self) -> float | None:
        """The cosine of the tilt below which the robot has fallen; None where it cannot fall."""
        if self.fitness is None or self.fitness.kind == "swing" or self.fitness.upright <= -1:
            return None
        return self.fitness.upright

    def columns(self, table: RobotTable) -> dict[str, str]:
        """The columns that are kept of a robot, and their units."""
        units = column_units(table)
        for pattern in self.series:
            if not any(fnmatchcase(name, pattern) for name in units):
                raise UnknownNameError("channel", pattern, units)
        return {n: unit for n, unit in units.items() if any(fnmatchcase(n, pattern) for pattern in self.series)}

    def simulate(self, twin: Twin, candidates: ArrayLike, trials: Sequence[Trial]) -> list[Behaviour]:
        """Behaviours of N candidate simulations (N, k), one for each trial; failed ones have the fitness nan."""
        rows = np.atleast_2d(np.asarray(candidates, float))
        columns = self.columns(twin.table)
        observe = sensors_in(tuple(columns), twin.table)
        rollouts = twin.simulate(rows, trials, observe=observe, fallen=self.fallen)
        return [self._behaviour(rollout, columns, twin.table) for rollout in rollouts]

    def _behaviour(self, rollout: Rollout, columns: dict[str, str], table: RobotTable) -> Behaviour:
        """The behaviour of N worlds."""
        fitness = None
        if self.fitness:
            found = fitness_of(
                self.fitness,
                rollout.times,
                rollout.frames,
                pose=rollout.pose,
                angles=rollout.angles,
                joints=rollout.joints,
            )
            fitness = np.where(rollout.diverged, np.nan, found)
        return Behaviour(
            columns=tuple(columns),
            units=tuple(columns.values()),
            series=series_of(rollout, tuple(columns), table) if columns else None,
            frames=np.where(rollout.diverged, 0, rollout.frames),
            fitness=fitness,
        )
