"""Logs of a real robot as trials that simulations repeat, and what was measured in them.

    train = found_files(["kp*_sin_sin.csv", "walk.csv.gz#[0-5]"], folder, "train")      # files, and parts of them
    measured = read_trials(train, settings, twin)
    measured[0].trial                           # what to simulate: commands, start, power, conditions
    measured[0].simulated(rollout, twin.table)  # the simulated series at the times of the measurements

A command holds until the next one is recorded. A trial begins at the first row in which every command, and every
angle that gives the start, has a value. Measured values may be missing; those are not compared. Where a file is split
into several recordings (`split`), `FILE#PATTERN` names some of them by their number.
"""

from __future__ import annotations

import glob
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError, UsageError, suggestion
from nutmeg.base.settings import read
from nutmeg.model.parameters import Adjustment
from nutmeg.model.posing import root_on_ground
from nutmeg.reality.behaviour import Behaviour, frames_before, matches_any, resample
from nutmeg.reality.logs.bags import BAG_SUFFIXES, is_bag, open_bag
from nutmeg.reality.logs.conditions import Condition, StatedNumber, stated_adjustments
from nutmeg.reality.logs.pictures import PictureSet, PictureSettings, holds_pictures, read_picture_set
from nutmeg.reality.observation import ChannelModel, column_units, series_of
from nutmeg.reality.twin import TIMESTEP_TARGET, TWIN_ROBOT, Trial
from nutmeg.recording import CsvMap, Log, Recording, open_log
from nutmeg.sim.trace import POSE_LABELS
from nutmeg.sim.worlds import StartState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.twin import Twin
    from nutmeg.sim.rollout import Rollout

    Array = NDArray[np.float64]

REGULAR_TIME_TOLERANCE = 1e-3
"""Times are regular if no step differs from the mean step by more than this share of it."""
GRAVITY_SECONDS = 0.1
"""The vertical is the mean of the measured accelerations over this time [s]."""
MIN_ROWS = 3
"""A trial with fewer rows is an error."""
VOLTAGES = (0.1, 1000.0)
"""Recorded voltages of a supply that are believed [V]; millivolts are not."""
TEMPERATURES = (-40.0, 200.0)
"""Recorded temperatures of motors that are believed [°C]; kelvins are not."""
MAX_SLOPE_ROWS = 5
"""Measured neighbours farther apart than twice so many rows give no slope."""
Files = dict[Path, tuple[str, ...]]
"""Files, each with the patterns of its parts; `*` for all of them."""


@dataclass(frozen=True, kw_only=True)
class RecordingsSettings:
    """Which logs are used, and how they are read."""

    train: tuple[str, ...] = ()
    """Patterns of the files that are fitted, relative to the configuration."""
    held_out: tuple[str, ...] = ()
    """Patterns of the files that are only simulated at the end, to test the fit."""
    columns: Path | None = None
    """The column map of CSV files; without it, columns must have the names that the simulation uses."""
    conditions: Mapping[str, Mapping[str, float | Condition]] = field(default_factory=dict)
    """By patterns of file names: targets of `model.parameters` that have another value there."""
    told: Mapping[str, StatedNumber] = field(default_factory=dict)
    """Numbers that logs state about themselves, by name; [recordings.conditions] override them."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By patterns of file names: from when to when a recording is used [s], counted from its first row."""
    split: float = 0.0
    """Where time jumps by more than this, another recording begins, called `FILE#1` and so on; 0 for never [s]."""

    def __post_init__(self) -> None:
        for pattern, (begin, end) in self.ranges.items():
            if not 0 <= begin < end:
                raise ValueError(f"the range of {pattern!r} is {begin:g} to {end:g} s; it must end after it begins.")

    def column_map(self) -> CsvMap | None:
        """The column map of CSV files, if there is one."""
        return read(self.columns, CsvMap) if self.columns else None

    def conditions_of(
        self, path: Path, config: Mapping[str, object] | None, mapping: CsvMap | None
    ) -> tuple[Adjustment, ...]:
        """The conditions of a log: what it states about itself, then what is configured for its name.

        Args:
            path: the file of the log.
            config: the log's metadata; None for a CSV file, whose columns are searched instead.
            mapping: the column map of CSV files.
        """
        configured = tuple(
            Adjustment(target=target, value=one.value, relative=one.relative)
            if isinstance(one, Condition)
            else Adjustment(target=target, value=one)
            for pattern, table in self.conditions.items()
            if fnmatchcase(path.name, pattern)
            for target, one in table.items()
        )
        fixed = {one.target for one in configured if not one.relative}
        stated = {name: one for name, one in self.told.items() if one.sets not in fixed}
        delimiter = mapping.delimiter if mapping else ","
        return (*stated_adjustments(stated, path, config, delimiter=delimiter), *configured)


@dataclass(frozen=True, kw_only=True)
class StartSettings:
    """Where the simulated robot is when a trial begins."""

    angles: Literal["recorded", "pose"] = "recorded"
    """Joint angles: the first measured ones, as far as there are any, or those of the pose in [robot]."""
    rates: Literal["still", "difference"] = "still"
    """Joint speeds: zero, or the slope of the measured angles; windows always use the slope."""
    channels: Mapping[str, str] = field(default_factory=dict)
    """Further channels that give the start but are not compared: to `angles.JOINT`, `rates.JOINT` or `pose.x` to
    `pose.qz`."""
    base: Literal["recorded", "ground"] = "recorded"
    """Where the root of a robot is that can move: as recorded, or as in [robot] at the first row; or, for robots whose
    pose was not measured, on the ground: its lowest point touches it with the recorded joint angles, at rest."""
    gravity: str = ""
    """Channel of three labels (x, y, z) in the frame of the root that points up, such as the acceleration that an IMU
    measures; with `base = "ground"` it gives the tilt, as the mean over a tenth of a second. Without it the root is
    upright."""


@dataclass(frozen=True, kw_only=True)
class WindowSettings:
    """Replay in windows, each from the recorded state, so that errors do not accumulate."""

    seconds: float
    """Length of each window; a recording that is shorter is a window as a whole."""
    every: float
    """Time from the start of one window to that of the next [s]."""
    errors: Literal["windows", "whole"] = "windows"
    """Whether errors are reported over windows, too, or over whole recordings, replayed from their start."""

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.every > 0):
            raise ValueError(f"windows of {self.seconds} s every {self.every} s; both must be above 0.")


@dataclass(frozen=True, kw_only=True)
class ReplaySettings:
    """How logs become trials."""

    commands: Mapping[str, str] = field(default_factory=dict)
    """Channels of the logs, and the motors that were commanded so."""
    compare: Mapping[str, str] = field(default_factory=dict)
    """Channels of the logs, and the columns of the simulation that they are compared with."""
    supply: str = ""
    """Channel with the recorded voltage of the motors' supply [V]; missing values are interpolated. Servos only."""
    temperature: str = ""
    """Channel with the recorded temperature of the motors [°C]; missing values are interpolated. Servos only."""
    pictures: PictureSettings = field(default_factory=PictureSettings)
    """How pictures are compared."""
    recordings: RecordingsSettings = RecordingsSettings()
    powered: str = ""
    """Kind of event whose value is "0" while the motors are released; empty if they never are."""
    period: float = 0.0
    """Time between commands [s]; 0 for that of the log if it is regular, else the physics step."""
    missing_commands: Literal["error", "hold"] = "error"
    """Whether a row without a command is an error, or the last command still holds."""
    start: StartSettings = StartSettings()
    windows: WindowSettings | None = None
    """Replay in windows; without it each log is replayed as a whole."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTrial:
    """A log, or a part of one: what was commanded, and what was measured."""

    source: str
    """Name of the log that it comes from."""
    trial: Trial
    times: Array
    """Times of the measurements from the start of the trial, (K,) [s]."""
    real: Behaviour
    """The measurements, (K, columns), with the names that the columns have in the simulation."""
    commanded: Mapping[str, Array] = field(default_factory=dict)
    """Commands at the same times, by the column of the joint, (K,); for reports."""

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.trial.name

    def goals(self, patterns: Sequence[str] = ()) -> Behaviour | None:
        """A simulation that is always where it is commanded to be, (1, K, columns).

        Only columns that fit one of the patterns (all without any); None if one of them has no command.
        """
        columns = [column for column in self.real.columns if matches_any(column, patterns)]
        if not all(column in self.commanded for column in columns):
            return None
        return Behaviour(
            columns=tuple(columns),
            units=tuple(self.real.units[self.real.columns.index(column)] for column in columns),
            series=np.stack([self.commanded[column] for column in columns], axis=-1)[None],
            frames=np.array([len(self.times)]),
            source=f"commands of {self.source}",
        )

    def simulated(self, rollout: Rollout, table: RobotTable, model: ChannelModel | None = None) -> Behaviour:
        """The series of N simulations at the times of the measurements, (N, K, columns), read as a model says."""
        series = series_of(rollout, self.real.columns, table)
        if model is None:
            series = resample(rollout.times, series, at=self.times)
        else:
            series = model.read(rollout.times, series, self.times)
        lasted = np.where(rollout.diverged, 0, rollout.frames)
        ends = np.where(lasted > 0, rollout.times[np.maximum(lasted, 1) - 1] + 1e-9, -1.0)
        return Behaviour(
            columns=self.real.columns,
            units=self.real.units,
            series=series,
            frames=frames_before(self.times, ends),
            source=f"simulation of {self.source}",
        )


RealData = MeasuredTrial | PictureSet
"""What a candidate simulation is compared with: a trial of the real robot, or pictures of its camera."""


# Which files


def found_files(patterns: Iterable[str], folder: Path, what: str) -> Files:
    """The files that match patterns, relative to a folder; a pattern that none matches is an error."""
    found: Files = {}
    for pattern in patterns:
        stem, _, part = pattern.partition("#")
        paths = sorted(glob.glob(str(folder / stem)))  # noqa: PTH207 (the pattern may be absolute)
        if not paths:
            raise UsageError(f"no file matches {pattern!r} ({what}). {looked_for(stem, folder)}")
        for path in map(Path, paths):
            found[path.resolve()] = (*found.get(path.resolve(), ()), part or "*")
    return found


def looked_for(pattern: str, folder: Path) -> str:
    """Where a pattern that matches nothing was looked for, and what may have been meant."""
    place = (folder / pattern).parent
    start = "" if Path(pattern).is_absolute() else f"It is taken relative to the folder {folder.resolve()}. "
    if not place.is_dir() and not glob.has_magic(str(place)):
        return f"{start}There is no folder {place.resolve()}."
    near = suggestion(Path(pattern).name, [path.name for path in place.glob("*") if path.is_file()])
    return f"{start}{near}Patterns go in quotes: 'logs/*.csv'."


def check_apart(train: Files, held_out: Files) -> None:
    """Refuses files that are both fitted and held out, unless different parts of them are named."""
    if not train:
        raise UsageError("there are no recordings to fit; name them under [recordings] or with --train.")
    for path in train:
        if path in held_out and "*" in (*train[path], *held_out[path]):
            raise UsageError(f"{path} is both fitted and held out; what the fit has seen is no test. Leave one out.")


def check_conditions(paths: Iterable[Path], settings: RecordingsSettings) -> None:
    """Refuses files that do not state what they must, without a look at what was measured in them."""
    if not settings.told:
        return
    mapping = settings.column_map()
    for path in paths:
        config: Mapping[str, object] | None = {} if path.suffix in (".parquet", *BAG_SUFFIXES) else None
        if path.suffix == ".nutmeg":
            config = Recording.open(path).manifest.config
        settings.conditions_of(path, config, mapping)


def read_trials(files: Mapping[Path, Sequence[str]], settings: ReplaySettings, twin: Twin) -> tuple[RealData, ...]:
    """The content of files, in order: logs of motion, and folders of pictures."""
    names = [path.name for path in files]
    found: list[RealData] = []
    for path, parts in files.items():
        name = str(path) if names.count(path.name) > 1 else path.name
        every: Sequence[RealData]
        if holds_pictures(path):
            conditions = settings.recordings.conditions_of(path, {}, None)
            every = [read_picture_set(path, twin, block=settings.pictures.block, name=name, conditions=conditions)]
        else:
            every = read_log(path, settings, twin, name=name)
        kept = [m for m in every if any(p == "*" or fnmatchcase(m.source.rpartition("#")[2], p) for p in parts)]
        if not kept:
            sources = ", ".join(dict.fromkeys(m.source for m in every))
            raise RecordingError(f"{path}: no part of it fits {', '.join(parts)}. It has {sources}.")
        found += kept
    return tuple(found)


# From a log to trials


@dataclass(frozen=True, eq=False)
class _Rows:
    """The columns of a log that a trial needs, (rows,) each."""

    name: str
    times: Array
    commands: Mapping[str, Array]
    """Commands of each motor, by its name."""
    measured: Mapping[str, Array]
    """Measured values, by column of the simulation."""
    state: Mapping[str, Array]
    """What gives the start: `angles.JOINT`, `rates.JOINT`, `pose.LABEL`."""
    powered: NDArray[np.bool_] | None
    voltage: Array | None = None
    """Voltage of the supply, (rows,) [V]."""
    temperature: Array | None = None
    """Temperature of the motors, (rows,) [°C]."""
    up: Array | None = None
    """The vertical in the frame of the root, (rows, 3), of any length."""
    first: bool = True
    """Whether it begins where the log does, and is not a window in its midst."""

    def cut(self, rows: slice, **changes: object) -> _Rows:
        """Some of the rows."""
        tables = {k: {n: v[rows] for n, v in getattr(self, k).items()} for k in ("commands", "measured", "state")}
        names = ("powered", "voltage", "temperature", "up")
        inputs = {k: None if getattr(self, k) is None else getattr(self, k)[rows] for k in names}
        return replace(self, times=self.times[rows], **inputs, **tables, **changes)  # type: ignore[arg-type]


def read_log(path: Path, settings: ReplaySettings, twin: Twin, *, name: str = "") -> list[MeasuredTrial]:
    """The trials in a file: one, or several if it is split or replayed in windows."""
    if not (settings.commands and settings.compare):
        raise RecordingError(
            f"{path}: is no folder of pictures, and of a recording of motion [commands] and [compare] must tell what "
            "was commanded and what is compared."
        )
    mapping = settings.recordings.column_map()
    log = open_bag(path, mapping) if is_bag(path) else open_log(path, mapping)
    is_csv = path.suffix not in (".nutmeg", ".parquet", *BAG_SUFFIXES)
    conditions = settings.recordings.conditions_of(path, None if is_csv else log.config, mapping)
    rows = _rows(log, name or path.name, settings, twin.table)
    _check_rate(path, rows.times)
    return [
        _trial(window, settings, twin, conditions)
        for part in _parts(_ranged(rows, path.name, settings.recordings.ranges), settings.recordings.split)
        for window in _windows(_begun(part, hold=settings.missing_commands == "hold"), settings)
    ]


MAX_ROW_STEP = 1.0
"""Rows that are farther apart are no recording of a motion [s]."""
USUAL_STEPS = (2e-4, 0.5)
"""Rows of logs are about so far apart [s]."""
TIME_UNITS = {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}


def _check_rate(path: Path, times: Array) -> None:
    """Refuses times whose unit cannot be a second: they would be simulated for hours."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    if step <= MAX_ROW_STEP:
        return
    low, high = USUAL_STEPS
    likely = next(
        (f"{name}, write `scale = {unit:g}`" for name, unit in TIME_UNITS.items() if low < step * unit < high), ""
    )
    hint = f"If they are {likely} under [time] of the column map." if likely else "Times are needed in seconds."
    raise RecordingError(f"{path}: rows are {step:.3g} s apart, too far to follow a motion. {hint}")


def _rows(log: Log, name: str, settings: ReplaySettings, table: RobotTable) -> _Rows:
    units = column_units(table)
    motors = dict(zip(table.motors, ("rad" if d == "position" else "rad/s" for d in table.drives), strict=True))
    commands = _read(log, settings.commands, motors, f"motor of {table.settings.name}")
    measured = _read(log, settings.compare, units, "column of the simulation")
    for column, values in measured.items():
        if not np.isfinite(values).any():
            raise RecordingError(f"{log.path}: what is compared with {column} has no value in any row.")
    possible = {c: u for c, u in units.items() if c.startswith(("angles.", "pose."))}
    state = {c: v for c, v in measured.items() if c in possible}
    possible |= {f"rates.{joint}": "rad/s" for joint in table.joints}  # measured speeds are too noisy to start with
    state |= _read(log, settings.start.channels, possible, "column of a start")
    return _Rows(
        name,
        log.times.copy(),
        commands,
        measured,
        state,
        _powered(log, settings.powered),
        voltage=_recorded_input(log, settings.supply, "V", VOLTAGES),
        temperature=_recorded_input(log, settings.temperature, "°C", TEMPERATURES),
        up=_vertical(log, settings.start.gravity),
    )


def _vertical(log: Log, channel: str) -> Array | None:
    """The vertical in the frame of the root, smoothed, (rows, 3); None if no channel has it."""
    if not channel:
        return None
    columns = {label: column for column, label in _columns(log, channel)}
    if not {"x", "y", "z"} <= set(columns):
        have = ", ".join(columns)
        raise RecordingError(
            f"{log.path}: {channel!r} is to have the labels x, y and z of the vertical; it has {have}."
        )
    values = log.series([columns[label] for label in "xyz"])
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        raise RecordingError(f"{log.path}: {channel!r} has no row with a value of x, y and z.")
    values = np.stack([np.interp(log.times, log.times[known], values[known, i]) for i in range(3)], axis=1)
    first = np.searchsorted(log.times, log.times - GRAVITY_SECONDS / 2)
    last = np.searchsorted(log.times, log.times + GRAVITY_SECONDS / 2, side="right")
    sums = np.vstack([np.zeros(3), np.cumsum(values, axis=0)])
    return np.asarray((sums[last] - sums[first]) / (last - first)[:, np.newaxis])


def _recorded_input(log: Log, channel: str, unit: str, limits: tuple[float, float]) -> Array | None:
    """A recorded input of the motors in each row, (rows,), between limits; None if no channel has it."""
    if not channel:
        return None
    values = next(iter(_read(log, {channel: "input"}, {"input": unit}, "input").values()))
    known = np.isfinite(values)
    if not known.any():
        raise RecordingError(f"{log.path}: {channel!r} has no value in any row.")
    low, high = float(values[known].min()), float(values[known].max())
    if low < limits[0] or high > limits[1]:
        raise RecordingError(
            f"{log.path}: {channel!r} goes from {low:g} to {high:g} {unit}; allowed is {limits[0]:g} to "
            f"{limits[1]:g} {unit}. Is it the right channel, in the right unit?"
        )
    return np.interp(log.times, log.times[known], values[known])


def _read(log: Log, pairs: Mapping[str, str], known: Mapping[str, str], kind: str) -> dict[str, Array]:
    """Channels of a log by their names in the simulation; units must be the same where the log states them."""
    out: dict[str, Array] = {}
    for channel, name in pairs.items():
        for column, label in _columns(log, channel):
            ours = name.replace("*", label) if "*" in name else name
            if ours not in known:
                raise UnknownNameError(kind, ours, known, where=f"{channel!r} = {name!r}")
            if ours in out:
                raise UsageError(f"two channels are given to {ours!r}; for one with several labels write 'angles.*'.")
            unit = log.units[column]
            if unit and unit != known[ours] and not ours.startswith("pose.q"):
                raise RecordingError(
                    f"{log.path}: {column!r} is in {unit!r}, but {ours} in {known[ours]!r}. "
                    "Convert it with `scale` and `unit` in the column map."
                )
            out[ours] = log.series([column])[:, 0]
    return out


def _columns(log: Log, channel: str) -> list[tuple[str, str]]:
    """The columns of a channel with their labels, or one column of it."""
    if channel in log.channels:
        found = log.channels[channel]
        return list(zip(found.columns, found.labels, strict=True))
    if channel in log.owners:
        return [(channel, channel.removeprefix(log.owners[channel].name + "."))]
    raise UnknownNameError("channel", channel, [*log.channels, *log.owners], where=str(log.path))


def _powered(log: Log, kind: str) -> NDArray[np.bool_] | None:
    """Whether the motors had power in each row; None if they always had."""
    if not kind:
        return None
    powered = np.ones(len(log.times), dtype=bool)
    for event in log.events:
        if event["kind"] == kind:
            on = str(event.get("value")) not in ("0", "0.0", "False")
            powered[log.times >= float(event["time"]) - 1e-9] = on
    return powered


def _ranged(log: _Rows, name: str, ranges: Mapping[str, tuple[float, float]]) -> _Rows:
    """The rows within the range of the last pattern that the file's name fits; all without one."""
    found = [span for pattern, span in ranges.items() if fnmatchcase(name, pattern)]
    if not found or not len(log.times):
        return log
    begin, end = found[-1]
    rows = slice(*np.searchsorted(log.times - log.times[0], [begin - 1e-9, end + 1e-9]).tolist())
    if rows.stop - rows.start < MIN_ROWS:
        raise RecordingError(
            f"{log.name}: has {rows.stop - rows.start} rows from {begin:g} to {end:g} s; it lasts "
            f"{log.times[-1] - log.times[0]:g} s. Choose another range."
        )
    return log.cut(rows, first=rows.start == 0)


def _parts(log: _Rows, gap: float) -> list[_Rows]:
    """The recordings in a file, cut where time jumps by more than a gap [s]."""
    if not gap:
        return [log]
    ends = [*(np.flatnonzero(np.diff(log.times) > gap) + 1).tolist(), len(log.times)]
    starts = [0, *ends[:-1]]
    return [log.cut(slice(a, b), name=f"{log.name}#{i}") for i, (a, b) in enumerate(zip(starts, ends, strict=True))]


def _begun(log: _Rows, *, hold: bool) -> _Rows:
    """The rows from the first with all commands and the whole start on; later commands may hold if asked for."""
    needed = [*log.commands.values(), *log.state.values()]
    there = np.all([np.isfinite(v) for v in needed], axis=0)
    if not there.any():
        raise RecordingError(f"{log.name}: no row has a value for every command and every column of the start.")
    begun = log.cut(slice(int(there.argmax()), None))
    if hold:
        begun = replace(begun, commands={motor: _held(values) for motor, values in begun.commands.items()})
    for motor, values in begun.commands.items():
        if not np.isfinite(values).all():
            when = begun.times[np.flatnonzero(~np.isfinite(values))[0]]
            raise RecordingError(
                f"{log.name}: the command of {motor} is missing at t={when:g} s. If the last one held then, set "
                '`missing_commands = "hold"`.'
            )
    if len(begun.times) < MIN_ROWS:
        raise RecordingError(f"{log.name}: has {len(begun.times)} usable rows; at least {MIN_ROWS} are needed.")
    return begun


def _held(values: Array) -> Array:
    """Values with the last finite one in place of missing ones, (rows,); the first must be finite."""
    return values[np.maximum.accumulate(np.where(np.isfinite(values), np.arange(len(values)), 0))]


def _windows(log: _Rows, settings: ReplaySettings) -> list[_Rows]:
    """The windows that are replayed, each from its recorded state; joint speeds come from the whole log."""
    slopes = {
        f"rates.{column.removeprefix('angles.')}": _slope(log.times, values)
        for column, values in log.state.items()
        if column.startswith("angles.")
    }
    state = {**slopes, **log.state}
    windows = settings.windows
    if windows is None:
        return [replace(log, state=state if settings.start.rates == "difference" else log.state)]
    pieces = []
    complete = np.ones(len(log.times), bool)
    for values in state.values():
        complete &= np.isfinite(values)
    begins = np.arange(log.times[0], log.times[-1] - windows.seconds + 1e-9, windows.every)
    for begin in begins if len(begins) else log.times[:1]:  # what is shorter than a window is one
        # Where samples are missing, a window begins at the first row with the whole state before the next window does.
        ends = [begin - 1e-9, begin + windows.every - 1e-9, begin + windows.seconds + 1e-9]
        first, last, stop = np.searchsorted(log.times, ends).tolist()
        measured = np.flatnonzero(complete[first:last])
        if not len(measured):
            continue
        first += int(measured[0])
        if stop - first >= MIN_ROWS:
            pieces.append(replace(log, state=state).cut(slice(first, stop), first=first == 0))
    if not pieces:
        raise RecordingError(f"{log.name}: no window of {windows.seconds:g} s begins in a row with the whole state.")
    return pieces


def _slope(times: Array, values: Array) -> Array:
    """The slope at every measured row, nan at others: that of the line through its nearest measured neighbours."""
    known = np.flatnonzero(np.isfinite(values))
    slopes = np.full(len(values), np.nan)
    if len(known) < 2:
        return slopes
    index = np.arange(len(known))
    before, after = known[np.maximum(index - 1, 0)], known[np.minimum(index + 1, len(known) - 1)]
    span = times[after] - times[before]
    # A line across a gap says nothing about the speed at its ends.
    near = span <= 2 * MAX_SLOPE_ROWS * np.median(np.diff(times))
    slopes[known[near]] = ((values[after] - values[before]) / span)[near]
    return slopes


def _trial(log: _Rows, settings: ReplaySettings, twin: Twin, conditions: tuple[Adjustment, ...]) -> MeasuredTrial:
    period = _period(log, settings, twin)
    times = log.times - log.times[0]
    rows = max(math.ceil(times[-1] * (1 + twin.largest_drift) / period - 1e-6) + 1, 2)
    at = np.searchsorted(times, np.arange(rows) * period + 1e-9, side="right") - 1
    table = twin.table
    start = _start(log, settings, twin)
    commands = np.tile(_resting_commands(start, twin), (rows, 1))
    for motor, values in log.commands.items():
        commands[:, table.motors.index(motor)] = values[at]
    name = log.name if log.first and settings.windows is None else f"{log.name} at {log.times[0]:.3f} s"
    units = column_units(table)
    trial = Trial(
        name=name,
        period=period,
        commands=commands,
        start=replace(start, command=commands[0]),
        powered=None if log.powered is None else log.powered[at],
        voltage=None if log.voltage is None else log.voltage[at],
        temperature=None if log.temperature is None else log.temperature[at],
        conditions=conditions,
    )
    real = Behaviour(
        columns=tuple(log.measured),
        units=tuple(units[column] for column in log.measured),
        series=np.stack(list(log.measured.values()), axis=-1),
        source=name,
    )
    joints = dict(zip(table.motors, (table.joints[i] for i in table.motor_joints), strict=True))
    drives = dict(zip(table.motors, table.drives, strict=True))
    commanded = {f"angles.{joints[motor]}": v for motor, v in log.commands.items() if drives[motor] == "position"}
    return MeasuredTrial(source=log.name, trial=trial, times=times, real=real, commanded=commanded)


def _period(log: _Rows, settings: ReplaySettings, twin: Twin) -> float:
    """Time between commands: as set, as recorded if that is a whole number of physics steps, or a physics step."""
    if settings.period:
        return settings.period
    steps = np.diff(log.times)
    mean = float(steps.mean())
    whole = round(mean / twin.timestep)
    regular = np.abs(steps - mean).max() <= REGULAR_TIME_TOLERANCE * mean
    if regular and whole and abs(whole * twin.timestep - mean) <= REGULAR_TIME_TOLERANCE * mean:
        return whole * twin.timestep
    if any(TIMESTEP_TARGET in one.sets for one in twin.searched.values()):
        raise UsageError(f"{log.name}: its times are not regular; to search physics.timestep, set `period`.")
    return twin.timestep


def _start(log: _Rows, settings: ReplaySettings, twin: Twin) -> StartState:
    """The state in the first row, as far as it is known."""
    table = twin.table
    fixed = settings.start.angles == "pose" and log.first
    known = {} if fixed else {column: float(values[0]) for column, values in log.state.items()}
    angles, rates = (
        np.array([known.get(f"{kind}.{joint}", np.nan) for joint in table.joints]) for kind in ("angles", "rates")
    )
    pose = np.array([known.get(f"pose.{label}", np.nan) for label in POSE_LABELS])
    if table.root >= 0 and settings.start.base == "ground":
        up = None if log.up is None else log.up[0]
        return StartState(angles=angles, rates=rates, pose=root_on_ground(twin.base, TWIN_ROBOT, angles, up))
    placed = table.root >= 0 and np.isfinite(pose).any()
    if not log.first and table.root >= 0 and not np.isfinite(pose).all():
        raise UsageError(
            f"{log.name}: windows of a robot that can move need its whole pose, pose.x to pose.qz. If it was not "
            'measured, set `base = "ground"` of [start] (and `gravity` to a channel of its IMU).'
        )
    return StartState(angles=angles, rates=rates, pose=pose if placed else None)


def _resting_commands(start: StartState, twin: Twin) -> Array:
    """Commands of motors that the log has no commands of: to hold their first angle, or zero speed."""
    table, scene = twin.table, twin.base
    rest = scene.start[table.angles[table.motor_joints]]
    angles = np.asarray(start.angles)[table.motor_joints]
    position = np.array(table.drives) == "position"
    return np.where(position, np.where(np.isnan(angles), rest, angles), 0.0)
