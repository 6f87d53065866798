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
| `ball.x`, `.y`, `.z`           | position of the ball, where there is one                          | m           |
| `rates.JOINT`                  | speed of a joint                                                  | rad/s       |
| `torque.MOTOR`                 | torque of a motor, at the joint, in the physics step before       | N m         |
| `current.MOTOR`                | current of a servo in the physics step before                     | A           |
| `SENSOR.LABEL`                 | reading of a sensor without noise (`imu.gyro_x`, `LFsr.value`)    | its own     |

The fitness is one of

| kind             | what is measured                                                                   | unit  |
|------------------|------------------------------------------------------------------------------------|-------|
| `speed`          | way along the starting heading over the whole time of the trial                    | m/s   |
| `distance`       | way along the starting heading                                                     | m     |
| `swing`          | mean range of the joints, the highest angle less the lowest                        | rad   |
| `ball_distance`  | way of the ball along the robot's starting heading                                 | m     |
| `ball_direction` | minus the angle between the way of the ball and `direction`; -pi for a resting one | rad   |
| `energy`         | minus the mechanical work of the motors, braking counted as work                   | J     |
| `stability`      | minus the root mean square of roll and pitch; rows after a fall count pi/2         | rad   |
| `weighted`       | a sum of these with `weights`                                                      | none  |
| `python`         | what a function of the user's returns                                              | `unit`|

    [fitness]                       # of a configuration file
    kind = "speed"
    after = 0.5                     # the first half second does not count
    falls = "end"                   # the way after a fall does not count, but its time does

    [fitness]                       # a kick that is far, straight and steady
    kind = "weighted"
    weights = { ball_distance = 1.0, ball_direction = 0.5, stability = 0.5 }

    [fitness]                       # def hop(seen: Movement) -> (N,), in a file beside the configuration
    kind = "python"
    function = "hop.py:hop"

Seed 000 measures its ant by gait speed. `sideways` subtracts a part of the way across the heading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from nutmeg.base.angles import heading_of, roll_pitch_yaw, wrap_angle
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.plugins import load_named
from nutmeg.reality.behaviour import Behaviour
from nutmeg.sim.rollout import DRIVE_SERIES
from nutmeg.sim.sensing import RECORDED_SENSOR_TYPES, sensor_labels
from nutmeg.sim.trace import POSE_LABELS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.parameters import Adjustment
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.twin import Trial, Twin
    from nutmeg.sim.rollout import Rollout


TORSO_ANGLES = ("roll", "pitch", "yaw")
TORSO_RATES = ("rate_x", "rate_y", "rate_z")
BALL_AXES = ("x", "y", "z")


def column_units(table: RobotTable, *, ball: bool = False) -> dict[str, str]:
    """The columns of a robot, and their units; those of the ball where there is one."""
    units = {f"angles.{joint}": "rad" for joint in table.joints}
    if table.root >= 0:
        units |= {f"pose.{label}": "m" for label in POSE_LABELS} | {f"torso.{turn}": "rad" for turn in TORSO_ANGLES}
        units |= {f"torso.{rate}": "rad/s" for rate in TORSO_RATES}
    if ball:
        units |= {f"ball.{axis}": "m" for axis in BALL_AXES}
    units |= {f"rates.{joint}": "rad/s" for joint in table.joints}
    units |= {f"{kind}.{motor}": unit for kind, unit in (("torque", "N m"), ("current", "A")) for motor in table.motors}
    for sensor in table.sensors:
        if sensor.type in RECORDED_SENSOR_TYPES:
            for label in sensor_labels(sensor, table.joints):
                unit = {"gyro": "rad/s", "accel": "m/s²"}.get(label.split("_")[0], "")
                unit = {"encoder": "rad", "force": "N"}.get(sensor.type, unit)
                units[f"{sensor.name}.{label}"] = unit
    return units


def sensors_in(columns: Sequence[str], table: RobotTable) -> tuple[str, ...]:
    """The sensors, and series of joints and motors, that must be recorded for some columns."""
    names = {*DRIVE_SERIES, *(sensor.name for sensor in table.sensors)}
    return tuple(dict.fromkeys(owner for column in columns if (owner := column.rpartition(".")[0]) in names))


def series_of(rollout: Rollout, columns: Sequence[str], table: RobotTable) -> Floats:
    """Columns of a rollout side by side, (N, T, columns)."""
    known = column_units(table, ball=rollout.ball is not None)
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
    if owner == "ball" and rollout.ball is not None:
        return rollout.ball[..., BALL_AXES.index(label)]
    if owner == "torso" and label in TORSO_RATES and rollout.pose is not None:
        return angular_rates(rollout.times, rollout.pose[..., 3:7])[..., TORSO_RATES.index(label)]
    if owner == "torso" and rollout.pose is not None:
        return roll_pitch_yaw(rollout.pose[..., 3:7])[..., TORSO_ANGLES.index(label)]
    if owner in DRIVE_SERIES:
        return rollout.sensors[owner][..., (table.joints if owner == "rates" else table.motors).index(label)]
    sensor = next(s for s in table.sensors if s.name == owner)
    return rollout.sensors[owner][..., sensor_labels(sensor, table.joints).index(label)]


@dataclass(frozen=True, kw_only=True)
class ChannelModel:
    """How measured columns read what happens: y(t) = gain x(t (1 + drift) - delay) + bias, (N, columns) each."""

    bias: Floats
    """In the unit of the column."""
    gain: Floats
    delay: Floats
    """How old a value is when it is logged [s]."""
    drift: Floats
    """The share by which the clock of the log is slow: after t seconds of it, t (1 + drift) have passed."""

    @classmethod
    def of(
        cls, twin: Twin, candidates: ArrayLike, conditions: Sequence[Adjustment], columns: Sequence[str]
    ) -> Self | None:
        """That of candidates (N, k) of a twin; None if all columns are read as they are."""
        numbers = twin.channel_numbers(candidates, tuple(conditions), columns)
        return None if numbers is None else cls(**numbers)

    def read(self, times: Floats, series: Floats, at: Floats) -> Floats:
        """What is read at the times of a log (K,), (N, K, columns), of series (N, T, columns) at times (T,) [s].

        Before the first row, and after the last, series have the values of these.
        """
        wanted = np.clip(at[:, None] * (1 + self.drift[:, None]) - self.delay[:, None], times[0], times[-1])
        after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
        share = (wanted - times[after - 1]) / (times[after] - times[after - 1])
        first, second = (np.take_along_axis(series, rows, axis=1) for rows in (after - 1, after))
        # On a row its neighbour plays no part, which may be missing after the end of a simulation.
        between = np.where(share == 0, first, np.where(share == 1, second, first + share * (second - first)))
        return np.asarray(self.gain[:, None] * between + self.bias[:, None])


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


_FITNESS_UNITS = {
    "speed": "m/s",
    "distance": "m",
    "swing": "rad",
    "ball_distance": "m",
    "ball_direction": "rad",
    "energy": "J",
    "stability": "rad",
    "weighted": "",
    "python": "",
}
_FITNESS_NEEDS = {
    "speed": "pose",
    "distance": "pose",
    "swing": "angles",
    "ball_distance": "ball",
    "ball_direction": "ball",
    "energy": "work",
    "stability": "pose",
}
"""What must be known of a movement for each kind of fitness."""
_RESTING_BALL = 0.05  # A ball that moved less has no direction [m]


@dataclass(frozen=True, kw_only=True)
class FitnessSettings:
    """How the fitness of a controller is measured."""

    kind: Literal[
        "speed",
        "distance",
        "swing",
        "ball_distance",
        "ball_direction",
        "energy",
        "stability",
        "weighted",
        "python",
    ] = "speed"
    """The quantity that is measured."""
    after: float = 0.0
    """Seconds at the start that do not count."""
    sideways: float = 0.0
    """speed, distance, ball_distance: the share of the way across the heading that is subtracted."""
    direction: float = 0.0
    """ball_direction: where the ball is to go, to the left of the starting heading [rad]."""
    joints: tuple[str, ...] = ("*",)
    """swing: patterns of the joints that count."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """weighted: the factor of each kind of fitness that counts."""
    function: str = ""
    """python: `file.py:name` of a function that takes a `Movement` and returns a fitness for each robot, (N,)."""
    named_unit: str = ""
    """weighted, python: the unit, for reports."""
    falls: Literal["end", "fail"] = "end"
    """Whether a fall ends what counts, or makes the controller fail (no fitness, not transferred to reality)."""
    upright: float = 0.7
    """The robot has fallen when the cosine between its z axis and the vertical is below this; -1 for never."""

    def __post_init__(self) -> None:
        if self.kind not in _FITNESS_UNITS:
            raise UnknownNameError("fitness", self.kind, _FITNESS_UNITS)
        if self.after < 0 or self.sideways < 0 or not -1 <= self.upright < 1:
            raise ValueError(
                f"after ({self.after:g}) and sideways ({self.sideways:g}) must be 0 or more, and upright "
                f"({self.upright:g}) a cosine from -1 to below 1."
            )
        for name in self.weights:
            if name not in _FITNESS_NEEDS:
                raise UnknownNameError("fitness", name, _FITNESS_NEEDS, where="weights")
        if (self.kind == "weighted") != bool(self.weights):
            raise ValueError('kind = "weighted" needs `weights`, and only that kind has them.')
        if (self.kind == "python") != bool(self.function):
            raise ValueError('kind = "python" needs `function`, and only that kind has one.')

    @property
    def unit(self) -> str:
        """The unit of the fitness."""
        return _FITNESS_UNITS[self.kind] or self.named_unit

    @property
    def needs(self) -> frozenset[str]:
        """What must be known of a movement: pose, angles, ball, work; a user's function gets what there is."""
        kinds = self.weights or (self.kind,)
        return frozenset(_FITNESS_NEEDS[kind] for kind in kinds if kind in _FITNESS_NEEDS)


@dataclass(frozen=True, kw_only=True)
class Movement:
    """What is known of how N robots moved, simulated or real; what was not recorded is None."""

    times: Floats
    """Times of the rows [s], (T,)."""
    frames: Indices
    """Number of rows until each robot fell or the trial ended, (N,); later rows do not count."""
    pose: Floats | None = None
    """Poses of the roots, (N, T, 7): position [m] and quaternion."""
    angles: Floats | None = None
    """Joint angles, (N, T, joints) [rad]."""
    joints: tuple[str, ...] = ()
    """Names of the joints."""
    ball: Floats | None = None
    """Places of the ball, (N, T, 3) [m]."""
    work: Floats | None = None
    """Work of the motors since the first row, (N, T) [J]."""

    @classmethod
    def of(cls, rollout: Rollout) -> Movement:
        """The movement of a simulation."""
        return cls(**{one.name: getattr(rollout, one.name) for one in fields(cls)})

    def last(self, series: Floats) -> Floats:
        """The last row of a series (N, T, ...) that counts, (N, ...)."""
        return np.asarray(series[np.arange(len(series)), np.maximum(self.frames - 1, 0)])


def fitness_of(settings: FitnessSettings, seen: Movement) -> Floats:
    """The fitness of N robots, (N,); nan where a fall is a failure, and where nothing was observed."""
    first = int(np.searchsorted(seen.times, settings.after - 1e-9))
    if first >= len(seen.times) - 1:
        raise UsageError(
            f"the trial lasts {seen.times[-1]:g} s, but its first {settings.after:g} s do not count for the fitness. "
            "Make trials longer, or `after` of [fitness] shorter."
        )
    if settings.kind == "python":
        value = _of_user(settings, seen)
    elif settings.kind == "weighted":
        parts = [weight * _value(settings, kind, seen, first) for kind, weight in settings.weights.items()]
        value = np.sum(parts, axis=0)
    else:
        value = _value(settings, settings.kind, seen, first)
    failed = (seen.frames < len(seen.times)) if settings.falls == "fail" else (seen.frames < 1)
    return np.where(failed, np.nan, value)


def _of_user(settings: FitnessSettings, seen: Movement) -> Floats:
    value = np.asarray(load_named(settings.function, "fitness")(seen), float)
    if value.shape != (len(seen.frames),):
        raise UsageError(
            f"{settings.function} returned an array of the shape {value.shape}; needed is a fitness for each of the "
            f"{len(seen.frames)} robots, ({len(seen.frames)},)."
        )
    return value


def _value(settings: FitnessSettings, kind: str, seen: Movement, first: int) -> Floats:
    """One kind of fitness from row `first` on, (N,)."""
    if getattr(seen, _FITNESS_NEEDS[kind]) is None:
        what = {
            "pose": "where the robot is, but its root is fixed or was not recorded. Use 'swing', record the pose",
            "angles": "the joint angles, which were not recorded. Record them",
            "ball": "where the ball is. Give `ball` and `ball_at` of [robot] in simulation, record it in reality",
            "work": "the work of the motors, which a robot's log does not tell. Measure it by other means",
        }[_FITNESS_NEEDS[kind]]
        raise UsageError(f"the fitness {kind!r} needs to know {what}, or give the fitness as a number.")
    match kind:
        case "swing":
            return _swing(settings, seen.angles, seen.joints, first, seen.frames)
        case "ball_distance":
            along, across = _ball_way(seen)
            return np.asarray(along - settings.sideways * np.abs(across))
        case "ball_direction":
            along, across = _ball_way(seen)
            off = np.abs(wrap_angle(np.arctan2(across, along) - settings.direction))
            return np.asarray(-np.where(np.hypot(along, across) < _RESTING_BALL, np.pi, off))
        case "energy":
            assert seen.work is not None
            return np.asarray(seen.work[:, first] - seen.last(seen.work))
        case "stability":
            assert seen.pose is not None
            tilt = roll_pitch_yaw(seen.pose[:, first:, 3:7])[..., :2]
            lasted = np.arange(first, len(seen.times)) < seen.frames[:, None]
            squares = np.where(lasted, (tilt**2).sum(axis=-1), (np.pi / 2) ** 2)
            return np.asarray(-np.sqrt(squares.mean(axis=1)))
    way = _way(settings, seen, first)
    return way / (seen.times[-1] - seen.times[first]) if kind == "speed" else way


def _ball_way(seen: Movement) -> tuple[Floats, Floats]:
    """How far the ball came along and across the robot's starting heading, (N,) each [m]."""
    assert seen.ball is not None
    move = (seen.last(seen.ball) - seen.ball[:, 0])[:, :2]
    yaw = np.zeros(len(move)) if seen.pose is None else heading_of(seen.pose[:, 0, 3:7])
    along = move[:, 0] * np.cos(yaw) + move[:, 1] * np.sin(yaw)
    return along, move[:, 1] * np.cos(yaw) - move[:, 0] * np.sin(yaw)


def _way(settings: FitnessSettings, seen: Movement, first: int) -> Floats:
    """Metres along the heading of the first row, less the sideways part, (N,)."""
    assert seen.pose is not None
    pose = seen.pose
    yaw = heading_of(pose[:, 0, 3:7])
    start = np.minimum(first, np.maximum(seen.frames - 1, 0))
    move = seen.last(pose)[:, :2] - pose[np.arange(len(pose)), start, :2]
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
    ball: bool = False
    """Whether there is a ball."""

    @property
    def fallen(self) -> float | None:
        """The cosine of the tilt below which the robot has fallen; None where it cannot fall."""
        if self.fitness is None or self.fitness.kind == "swing" or self.fitness.upright <= -1:
            return None
        return self.fitness.upright

    @property
    def work(self) -> bool:
        """Whether the work of the motors must be known."""
        return self.fitness is not None and ("work" in self.fitness.needs or self.fitness.kind == "python")

    def columns(self, table: RobotTable) -> dict[str, str]:
        """The columns that are kept of a robot, and their units."""
        units = column_units(table, ball=self.ball)
        for pattern in self.series:
            if not any(fnmatchcase(name, pattern) for name in units):
                raise UnknownNameError("channel", pattern, units)
        return {n: unit for n, unit in units.items() if any(fnmatchcase(n, pattern) for pattern in self.series)}

    def simulate(self, twin: Twin, candidates: ArrayLike, trials: Sequence[Trial]) -> list[Behaviour]:
        """Behaviours of N candidate simulations (N, k), one for each trial; failed ones have the fitness nan."""
        rows = np.atleast_2d(np.asarray(candidates, float))
        columns = self.columns(twin.table)
        observe = sensors_in(tuple(columns), twin.table)
        rollouts = twin.simulate(rows, trials, observe=observe, fallen=self._fallen(twin), work=self.work)
        seen = [self.behaviour(rollout, twin.table) for rollout in rollouts]
        for number, (trial, rollout) in enumerate(zip(trials, rollouts, strict=True)):
            model = ChannelModel.of(twin, rows, trial.conditions, seen[number].columns)
            if model is not None and seen[number].series is not None:
                series = model.read(rollout.times, np.asarray(seen[number].series), rollout.times)
                seen[number] = replace(seen[number], series=series)
        return seen

    def _fallen(self, twin: Twin) -> float | None:
        return self.fallen if twin.table.root >= 0 else None

    def behaviour(self, rollout: Rollout, table: RobotTable) -> Behaviour:
        """What is measured of N worlds; failed ones have the fitness nan."""
        columns = self.columns(table)
        fitness = None
        if self.fitness:
            found = fitness_of(self.fitness, Movement.of(rollout))
            fitness = np.where(rollout.diverged, np.nan, found)
        return Behaviour(
            columns=tuple(columns),
            units=tuple(columns.values()),
            series=series_of(rollout, tuple(columns), table) if columns else None,
            frames=np.where(rollout.diverged, 0, rollout.frames),
            fitness=fitness,
        )
