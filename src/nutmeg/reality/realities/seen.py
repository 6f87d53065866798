"""A log of a real robot as a behaviour: its columns at the times of the trial, and its fitness.

    expected = Expected(times=trial.period * np.arange(rows), columns=("angles.L1_knee",))
    seen_in(Recording.open(path), expected, watch)       # a Behaviour, or an error that says what is wrong

Times count from the first row of the log, which is when the first command is given. An event `fall`, or the number
`fell_at`, ends the trial; without one, a log that ends before the trial is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.engine.trace import POSE
from nutmeg.errors import RecordingError, suggestion
from nutmeg.reality.alignment import frames_before, resample
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.fitness import fitness_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.watching import Watch
    from nutmeg.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a log must have."""

    times: Floats
    """Of the rows of the trial, from 0 [s], (T,)."""
    columns: tuple[str, ...] = ()
    """Names of the columns, as in simulation; none are needed without any."""
    units: tuple[str, ...] = ()
    """Their units; not checked without any."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What a column is called in the log, where it differs."""
    fitness: float | None = None
    """The fitness as measured by someone; computed from the log without it."""
    fell_at: float | None = None
    """When the robot fell [s]."""
    most_missing: float = 0.05
    """The largest part of a column that may be missing."""


def seen_in(recording: Recording, expected: Expected, watch: Watch) -> Behaviour:
    """What a log tells about a trial; an error if it is not what was expected."""
    _check_columns(recording, expected)
    _check_times(recording, expected)
    end = _end(recording, expected)
    frames = int(frames_before(expected.times, end))
    columns = expected.columns
    series = _columns(recording, expected, columns, frames) if columns else None
    fitness = expected.fitness
    if fitness is None and watch.fitness is not None:
        fitness = _fitness(recording, expected, watch, frames)
    units = expected.units or tuple(_unit(recording, expected.names.get(c, c)) for c in columns)
    return Behaviour(
        columns=columns, units=units, series=series, frames=frames, fitness=fitness, source=str(recording.path)
    )


def _check_times(recording: Recording, expected: Expected) -> None:
    where, last = recording.path, float(expected.times[-1])
    if len(recording) < 2:
        raise RecordingError(f"{where}: has {len(recording)} rows; a trial has {len(expected.times)}.")
    if recording.problems:
        raise RecordingError(f"{where}: {recording.problems[0]}")
    step = float(expected.times[1] - expected.times[0])
    if recording.duration < min(last, _end(recording, expected)) - 1.5 * step:
        raise RecordingError(
            f"{where}: lasts {recording.duration:g} s, but the trial {last + step:g} s. Record all of it; if the robot "
            "fell, say when (`fell_at`, or an event `fall`)."
        )


def _end(recording: Recording, expected: Expected) -> float:
    falls = [float(e["time"]) - float(recording.times[0]) for e in recording.events if e["kind"] == "fall"]
    return min([*falls, np.inf if expected.fell_at is None else expected.fell_at])


def _places(recording: Recording) -> dict[str, tuple[str, int]]:
    """The channel of each column of a log, and its place in it."""
    channels = recording.channels.values()
    return {f"{c.name}.{label}": (c.name, i) for c in channels for i, label in enumerate(c.labels)}


def _check_columns(recording: Recording, expected: Expected) -> None:
    places = _places(recording)
    for i, column in enumerate(expected.columns):
        name = expected.names.get(column, column)
        if name not in places:
            hint = suggestion(name, places)
            raise RecordingError(
                f"{recording.path}: has no column {name!r}. {hint}It has {', '.join(places) or 'none'}."
            )
        if expected.units and (unit := _unit(recording, name)) != expected.units[i]:
            raise RecordingError(
                f"{recording.path}: column {name!r} is in {unit or 'no unit'!r}; needed is "
                f"{expected.units[i] or 'no unit'!r}. Convert it."
            )


def _columns(recording: Recording, expected: Expected, columns: tuple[str, ...], frames: int) -> Floats:
    """Columns at the times of the trial, (T, columns)."""
    places = _places(recording)
    chosen = [places[expected.names.get(column, column)] for column in columns]
    found = [recording.read(channel)[:, index] for channel, index in chosen]
    times = recording.times - recording.times[0]
    series = resample(times, np.stack(found, axis=-1), at=np.minimum(expected.times, times[-1]))
    missing = np.isnan(series[:frames]).mean(axis=0) if frames else np.ones(len(columns))
    worst = int(np.argmax(missing))
    if missing[worst] > expected.most_missing:
        raise RecordingError(
            f"{recording.path}: {missing[worst]:.0%} of the values of {columns[worst]!r} are missing (nan or an empty "
            f"cell); allowed is {expected.most_missing:.0%}."
        )
    return series


def _unit(recording: Recording, column: str) -> str:
    channel = recording.channels.get(column.rpartition(".")[0])
    return channel.unit if channel else ""


def _fitness(recording: Recording, expected: Expected, watch: Watch, frames: int) -> float | None:
    """The fitness computed from what was recorded; None if that is not in the log."""
    if watch.fitness is None:
        return None
    have = _places(recording)
    pose_names = tuple(f"pose.{label}" for label in POSE)
    joints = tuple(name.removeprefix("angles.") for name in sorted(have) if name.startswith("angles."))
    if watch.fitness.kind == "swing":
        if not joints:
            return None
        angles = _columns(recording, expected, tuple(f"angles.{joint}" for joint in joints), frames)
        found = fitness_of(watch.fitness, expected.times, [frames], angles=angles[None], joints=joints)
    else:
        if not all(expected.names.get(name, name) in have for name in pose_names):
            return None
        pose = _columns(recording, expected, pose_names, frames)
        found = fitness_of(watch.fitness, expected.times, [frames], pose=pose[None])
    return float(found[0])
