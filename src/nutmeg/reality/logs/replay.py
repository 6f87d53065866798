"""Recordings of a real robot as trials to repeat in simulation, and what was measured in them.

    measured = read_measured(Path("kp100_sin_sin.csv"), settings, twin)         # one, or one a window or part
    measured[0].trial                           # what to simulate: commands, start, power
    measured[0].simulated(rollout, twin.table)  # what is seen of it, at the times of the recording

Commands hold until the next is recorded. A recording begins at its first row in which every command, and every angle
that tells the start, is there. Measured values may be missing: those are not compared.
"""

from __future__ import annotations

import glob
import math
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError, UsageError, suggestion
from nutmeg.base.settings import read
from nutmeg.reality.behaviour import Behaviour, frames_before, resample
from nutmeg.reality.distances.comparison import columns_of
from nutmeg.reality.logs.conditions import stated_adjustments
from nutmeg.reality.logs.files import open_log
from nutmeg.reality.logs.pictures import holds_pictures, read_picture_set
from nutmeg.reality.observation import column_units, series_of
from nutmeg.reality.twin import Trial
from nutmeg.recording import CsvMap, Recording
from nutmeg.sim.trace import POSE_LABELS
from nutmeg.sim.worlds import StartState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.parameters import Adjustment
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.identify.identification import RealData
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.twin import Twin
    from nutmeg.sim.rollout import Rollout


REGULAR_TIME_TOLERANCE = 1e-3
"""Times are regular if no step differs from their mean by more than this part of it."""
MIN_ROWS = 3
"""A recording, or a part of it, with fewer rows says nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTrial:
    """One recording, or a part of one."""

    source: str
    """Name of the recording that it is, or is a part of."""
    trial: Trial
    times: Floats
    """When it was measured, from the start of the trial, (K,) [s]."""
    real: Behaviour
    """What was measured, (K, columns), with the columns' names in the simulation."""
    told: Mapping[str, Floats] = field(default_factory=dict)
    """Commands at the same times, by the column of the joint, (K,); for reports."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return self.trial.name

    def simulated(self, rollout: Rollout, table: RobotTable) -> Behaviour:
        """What N simulations show at the times of the measurements, (N, K, columns)."""
        series = resample(rollout.times, series_of(rollout, self.real.columns, table), at=self.times)
        lasted = np.where(rollout.diverged, 0, rollout.frames)
        ends = np.where(lasted > 0, rollout.times[np.maximum(lasted, 1) - 1] + 1e-9, -1.0)
        return Behaviour(
            columns=self.real.columns,
            units=self.real.units,
            series=series,
            frames=frames_before(self.times, ends),
            source=f"simulation of {self.source}",
        )


def read_measured_trials(path: Path, settings: IdentifySettings, twin: Twin, *, name: str = "") -> list[MeasuredTrial]:
    """What a file holds: one recording, or several if it is split or replayed in windows."""
    if not (settings.commands and settings.compare):
        raise RecordingError(
            f"{path}: is no folder of pictures, and of a recording of motion [commands] and [compare] must tell what "
            "was commanded and what is compared."
        )
    mapping = read(settings.recordings.columns, CsvMap) if settings.recordings.columns else None
    csv = path.suffix not in (".nutmeg", ".parquet")
    with open_log(path, mapping if csv else None) as recording:
        log = _log(recording, name or path.name, settings, twin.table)
        conditions = _conditions(path, settings, None if csv else recording.manifest.config, mapping)
    found = []
    for part in _parts(log, settings.recordings.split):
        found += [
            _measured_trial(w, settings, twin, conditions)
            for w in _windows(_begun(part, hold=settings.missing_commands == "hold"), settings)
        ]
    return found


def picture_conditions(path: Path, settings: IdentifySettings) -> tuple[Adjustment, ...]:
    """What was different in a recording of pictures: what its name tells, and what is said of its name."""
    return _conditions(path, settings, {}, None)


def check_stated_numbers(paths: Iterable[Path], settings: IdentifySettings) -> None:
    """Refuses files that do not tell what they must (`told_numbers`), without a look at what was measured in them."""
    if not settings.recordings.told:
        return
    mapping = read(settings.recordings.columns, CsvMap) if settings.recordings.columns else None
    for path in paths:
        config: Mapping[str, object] | None = {} if path.suffix == ".parquet" else None
        if path.suffix == ".nutmeg":
            config = Recording.open(path).manifest.config
        _conditions(path, settings, config, mapping)


def _conditions(
    path: Path, settings: IdentifySettings, config: Mapping[str, object] | None, mapping: CsvMap | None
) -> tuple[Adjustment, ...]:
    """What was different in a recording: what it tells of itself, then what is said of its name."""
    said = settings.recordings.conditions_of(path.name)
    fixed = {one.target for one in said if not one.relative}
    told = {name: one for name, one in settings.recordings.told.items() if one.sets not in fixed}
    return (*stated_adjustments(told, path, config, delimiter=mapping.delimiter if mapping else ","), *said)


@dataclass(frozen=True, eq=False)
class _Log:
    """The columns of a recording that matter, (rows,) each."""

    name: str
    times: Floats
    told: Mapping[str, Floats]
    """By motor."""
    seen: Mapping[str, Floats]
    """What is compared, by column of the simulation."""
    known: Mapping[str, Floats]
    """What tells the start: `angles.JOINT`, `rates.JOINT`, `pose.LABEL`."""
    powered: Bools | None
    first: bool = True
    """Whether it begins where the recording does, and not as a window in its midst."""

    def cut(self, rows: slice, **changes: object) -> _Log:
        """Some of its rows."""
        tables = {k: {n: v[rows] for n, v in getattr(self, k).items()} for k in ("told", "seen", "known")}
        powered = None if self.powered is None else self.powered[rows]
        return replace(self, times=self.times[rows], powered=powered, **tables, **changes)  # type: ignore[arg-type]


def _log(recording: Recording, name: str, settings: IdentifySettings, table: RobotTable) -> _Log:
    units = column_units(table)
    motors = dict(zip(table.motors, ("rad" if d == "position" else "rad/s" for d in table.drives), strict=True))
    told = _read(recording, settings.commands, motors, f"motor of {table.settings.name}")
    seen = _read(recording, settings.compare, units, "column of the simulation")
    state = {c: u for c, u in units.items() if c.startswith(("angles.", "pose."))}
    state |= {f"rates.{joint}": "rad/s" for joint in table.joints}
    known = {c: v for c, v in seen.items() if c in state}
    known |= _read(recording, settings.start.channels, state, "column of a start")
    log = _Log(name, recording.times.copy(), told, seen, known, _powered(recording, settings.powered))
    for column, values in seen.items():
        if not np.isfinite(values).any():
            raise RecordingError(f"{recording.path}: what is compared with {column} has no value in any row.")
    return log


def _read(recording: Recording, pairs: Mapping[str, str], known: Mapping[str, str], kind: str) -> dict[str, Floats]:
    """Channels of a recording by what they are called in the simulation; units must be the same."""
    owners = columns_of(recording)
    out: dict[str, Floats] = {}
    for channel, name in pairs.items():
        for column, label in _columns(recording, channel, owners):
            ours = name.replace("*", label) if "*" in name else name
            if ours not in known:
                raise UnknownNameError(kind, ours, known, where=f"{channel!r} = {name!r}")
            if ours in out:
                raise UsageError(f"two channels are given to {ours!r}; for one with several labels write 'angles.*'.")
            owner = recording.channels[owners[column]]
            if owner.unit != known[ours] and not ours.startswith("pose.q"):
                raise RecordingError(
                    f"{recording.path}: {column!r} is in {owner.unit or 'no unit'!r}, but {ours} in {known[ours]!r}. "
                    "Convert it with `scale` and `unit` in the column map."
                )
            out[ours] = recording.read(owner.name)[:, owner.columns.index(column)]
    return out


def _columns(recording: Recording, channel: str, owners: Mapping[str, str]) -> list[tuple[str, str]]:
    """The columns of a channel with their labels, or one column of it."""
    if channel in recording.channels:
        found = recording.channels[channel]
        return list(zip(found.columns, found.labels, strict=True))
    if channel in owners:
        return [(channel, channel.removeprefix(owners[channel] + "."))]
    raise UnknownNameError("channel", channel, [*recording.channels, *owners], where=str(recording.path))


def _powered(recording: Recording, kind: str) -> Bools | None:
    """Whether the motors were fed in each row; None if they always were."""
    if not kind:
        return None
    powered = np.ones(len(recording), dtype=bool)
    for event in recording.events:
        if event["kind"] == kind:
            powered[recording.times >= float(event["time"]) - 1e-9] = str(event.get("value")) not in (
                "0",
                "0.0",
                "False",
            )
    return powered


def _parts(log: _Log, gap: float) -> list[_Log]:
    """The recordings in a file, cut where time jumps by more than a gap [s]."""
    if not gap:
        return [log]
    ends = [*(np.flatnonzero(np.diff(log.times) > gap) + 1).tolist(), len(log.times)]
    starts = [0, *ends[:-1]]
    return [log.cut(slice(a, b), name=f"{log.name}#{i}") for i, (a, b) in enumerate(zip(starts, ends, strict=True))]


def _begun(log: _Log, *, hold: bool) -> _Log:
    """From the first row on that has all commands and the whole start; later commands may hold where asked for."""
    needed = [*log.told.values(), *log.known.values()]
    there = np.all([np.isfinite(v) for v in needed], axis=0)
    if not there.any():
        raise RecordingError(f"{log.name}: no row has a value for every command and every column of the start.")
    begun = log.cut(slice(int(there.argmax()), None))
    if hold:
        begun = replace(begun, told={motor: _last(values) for motor, values in begun.told.items()})
    for motor, values in begun.told.items():
        if not np.isfinite(values).all():
            when = begun.times[np.flatnonzero(~np.isfinite(values))[0]]
            raise RecordingError(
                f"{log.name}: the command of {motor} is missing at t={when:g} s. If the last one held then, set "
                '`missing_commands = "hold"`.'
            )
    if len(begun.times) < MIN_ROWS:
        raise RecordingError(f"{log.name}: has {len(begun.times)} usable rows; at least {MIN_ROWS} are needed.")
    return begun


def _last(values: Floats) -> Floats:
    """Values with the last one before in place of missing ones, (rows,); the first must be there."""
    return values[np.maximum.accumulate(np.where(np.isfinite(values), np.arange(len(values)), 0))]


def _windows(log: _Log, settings: IdentifySettings) -> list[_Log]:
    """The pieces that are replayed each from its recorded state; speeds at the start are worked out before."""
    slopes = {
        f"rates.{column.removeprefix('angles.')}": _slope(log.times, values)
        for column, values in log.known.items()
        if column.startswith("angles.")
    }
    known = {**slopes, **log.known}
    windows = settings.windows
    if windows is None:
        return [replace(log, known=known if settings.start.rates == "difference" else log.known)]
    pieces = []
    for begin in np.arange(log.times[0], log.times[-1] - windows.seconds + 1e-9, windows.every):
        rows = slice(*np.searchsorted(log.times, [begin - 1e-9, begin + windows.seconds + 1e-9]).tolist())
        piece = replace(log, known=known).cut(rows, first=rows.start == 0)
        complete = all(np.isfinite(v[0]) for v in piece.known.values()) if len(piece.times) else False
        if len(piece.times) >= MIN_ROWS and complete:
            pieces.append(piece)
    if not pieces:
        raise RecordingError(f"{log.name}: no window of {windows.seconds:g} s begins in a row with the whole state.")
    return pieces


def _slope(times: Floats, values: Floats) -> Floats:
    """The slope at every row: of the straight line through its neighbours."""
    before, after = np.maximum(np.arange(len(times)) - 1, 0), np.minimum(np.arange(len(times)) + 1, len(times) - 1)
    return np.asarray((values[after] - values[before]) / (times[after] - times[before]))


def _measured_trial(
    log: _Log, settings: IdentifySettings, twin: Twin, conditions: tuple[Adjustment, ...]
) -> MeasuredTrial:
    period = _period(log, settings, twin)
    times = log.times - log.times[0]
    rows = max(math.ceil(times[-1] / period - 1e-6) + 1, 2)
    at = np.searchsorted(times, np.arange(rows) * period + 1e-9, side="right") - 1
    table = twin.table
    start = _start(log, settings, table)
    commands = np.tile(_held(start, twin), (rows, 1))
    for motor, values in log.told.items():
        commands[:, table.motors.index(motor)] = values[at]
    name = log.name if log.first and settings.windows is None else f"{log.name} at {log.times[0]:.3f} s"
    units = column_units(table)
    trial = Trial(
        name=name,
        period=period,
        commands=commands,
        start=replace(start, command=commands[0]),
        powered=None if log.powered is None else log.powered[at],
        conditions=conditions,
    )
    real = Behaviour(
        columns=tuple(log.seen),
        units=tuple(units[column] for column in log.seen),
        series=np.stack(list(log.seen.values()), axis=-1),
        source=name,
    )
    joints = dict(zip(table.motors, (table.joints[i] for i in table.motor_joints), strict=True))
    told = {f"angles.{joints[m]}": v for m, v in log.told.items() if table.drives[table.motors.index(m)] == "position"}
    return MeasuredTrial(source=log.name, trial=trial, times=times, real=real, told=told)


def _period(log: _Log, settings: IdentifySettings, twin: Twin) -> float:
    """Time between commands: as set, as recorded if that is a whole number of physics steps, or a physics step."""
    if settings.period:
        return settings.period
    steps = np.diff(log.times)
    mean = float(steps.mean())
    whole = round(mean / twin.timestep)
    regular = np.abs(steps - mean).max() <= REGULAR_TIME_TOLERANCE * mean
    if regular and whole and abs(whole * twin.timestep - mean) <= REGULAR_TIME_TOLERANCE * mean:
        return whole * twin.timestep
    if any("physics.timestep" in p.sets for p in settings.parameters.values()):
        raise UsageError(f"{log.name}: its times are not regular; to search physics.timestep, set `period`.")
    return twin.timestep


def _start(log: _Log, settings: IdentifySettings, table: RobotTable) -> StartState:
    """The state in the first row, as far as it is known."""
    fixed = settings.start.angles == "pose" and log.first
    known = {} if fixed else {column: float(values[0]) for column, values in log.known.items()}
    angles, rates = (
        np.array([known.get(f"{kind}.{joint}", np.nan) for joint in table.joints]) for kind in ("angles", "rates")
    )
    pose = np.array([known.get(f"pose.{label}", np.nan) for label in POSE_LABELS])
    placed = table.root >= 0 and np.isfinite(pose).any()
    if not log.first and table.root >= 0 and not np.isfinite(pose).all():
        raise UsageError(f"{log.name}: windows of a robot that can move need its whole pose, pose.x to pose.qz.")
    return StartState(angles=angles, rates=rates, pose=pose if placed else None)


def _held(start: StartState, twin: Twin) -> Floats:
    """What motors are told that the recording says nothing of: to hold their first angle, or to stand still."""
    table, scene = twin.table, twin.base
    rest = scene.start[table.angles[table.motor_joints]]
    angles = np.asarray(start.angles)[table.motor_joints]
    position = np.array(table.drives) == "position"
    return np.where(position, np.where(np.isnan(angles), rest, angles), 0.0)


# ----------------------------------------------------------------------------------------------------
# Which recordings are fitted and which are kept apart: patterns become files, and none is both.
#
# `FILE#PATTERN` are some of the recordings that a file is split into (`split`), by their number.


Files = dict[Path, tuple[str, ...]]
"""Files, each with the patterns of its parts; `*` for all of them."""


def found_files(patterns: Iterable[str], folder: Path, what: str) -> Files:
    """The files that fit patterns, relative to a folder; a pattern that none fits is an error."""
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
    """Where a pattern that fits nothing was looked for, and what may have been meant."""
    place = (folder / pattern).parent
    start = "" if Path(pattern).is_absolute() else f"It is taken relative to the folder {folder.resolve()}. "
    if not place.is_dir() and not glob.has_magic(str(place)):
        return f"{start}There is no folder {place.resolve()}."
    near = suggestion(Path(pattern).name, [path.name for path in place.glob("*") if path.is_file()])
    return f"{start}{near}Patterns go in quotes: 'logs/*.csv'."


def check_apart(train: Files, held_out: Files) -> None:
    """No file may be fitted and held out, unless different parts of it are named."""
    if not train:
        raise UsageError("there are no recordings to fit; name them under [recordings] or with --train.")
    for path in train:
        if path in held_out and "*" in (*train[path], *held_out[path]):
            raise UsageError(f"{path} is both fitted and held out; what the fit has seen is no test. Leave one out.")


def read_all(files: Mapping[Path, Sequence[str]], settings: IdentifySettings, twin: Twin) -> tuple[RealData, ...]:
    """What the files hold, in order: recordings of motion, and folders of pictures."""
    names = [path.name for path in files]
    found: list[RealData] = []
    for path, parts in files.items():
        name = str(path) if names.count(path.name) > 1 else path.name
        every: Sequence[RealData] = (
            [
                read_picture_set(
                    path, twin, block=settings.pictures.block, name=name, conditions=picture_conditions(path, settings)
                )
            ]
            if holds_pictures(path)
            else read_measured_trials(path, settings, twin, name=name)
        )
        kept = [
            m for m in every if any(part == "*" or fnmatchcase(m.source.rpartition("#")[2], part) for part in parts)
        ]
        if not kept:
            sources = ", ".join(dict.fromkeys(m.source for m in every))
            raise RecordingError(f"{path}: no part of it fits {', '.join(parts)}. It has {sources}.")
        found += kept
    return tuple(found)
