"""Recordings as reality: what was recorded is what can be tried.

    recordings = {"walk-1": Path("walk-1.nutmeg")}
    trials = recorded_trials(recordings, motors, channel="command")     # what was commanded in them
    RecordedReality(recordings, watch).try_out(trials)                  # what became of it

Series are brought to the times of the trial. The fitness is computed from the recorded pose or angles, or is the
`fitness` in the manifest's `[config]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError, suggestion
from nutmeg.reality.behaviour import Behaviour, frames_before, resample
from nutmeg.reality.observation import fitness_of
from nutmeg.reality.realities.reality import Observed
from nutmeg.reality.twin import Trial
from nutmeg.recording import Recording
from nutmeg.sim.trace import POSE_LABELS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.observation import Watch


# ----------------------------------------------------------------------------------------------------
# A log of a real robot as a behaviour: its columns at the times of the trial, and its fitness.
#
# Times count from the first row of the log, which is when the first command is given. An event `fall`, or the number
# `fell_at`, ends the trial; without one, a log that ends before the trial is an error.


@dataclass(frozen=True, kw_only=True)
class ExpectedLog:
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


def behaviour_in_log(recording: Recording, expected: ExpectedLog, watch: Watch) -> Behaviour:
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


def _check_times(recording: Recording, expected: ExpectedLog) -> None:
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


def _end(recording: Recording, expected: ExpectedLog) -> float:
    falls = [float(e["time"]) - float(recording.times[0]) for e in recording.events if e["kind"] == "fall"]
    return min([*falls, np.inf if expected.fell_at is None else expected.fell_at])


def _places(recording: Recording) -> dict[str, tuple[str, int]]:
    """The channel of each column of a log, and its place in it."""
    channels = recording.channels.values()
    return {f"{c.name}.{label}": (c.name, i) for c in channels for i, label in enumerate(c.labels)}


def _check_columns(recording: Recording, expected: ExpectedLog) -> None:
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


def _columns(recording: Recording, expected: ExpectedLog, columns: tuple[str, ...], frames: int) -> Floats:
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


def _fitness(recording: Recording, expected: ExpectedLog, watch: Watch, frames: int) -> float | None:
    """The fitness computed from what was recorded; None if that is not in the log."""
    if watch.fitness is None:
        return None
    have = _places(recording)
    pose_names = tuple(f"pose.{label}" for label in POSE_LABELS)
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


TIME_STEP_TOLERANCE = 0.01
"""Part of the mean by which steps of time may differ."""


def recorded_trials(recordings: Mapping[str, Path], motors: Sequence[str], *, channel: str = "command") -> list[Trial]:
    """The commands in recordings as trials; robots start in their pose, as a recording of a trial does."""
    trials = []
    for name, path in recordings.items():
        recording = Recording.open(path)
        if channel not in recording.channels:
            raise UnknownNameError("channel", channel, recording.channels, where=str(path))
        labels = recording.channels[channel].labels
        missing = [motor for motor in motors if motor not in labels]
        if missing:
            raise RecordingError(f"{path}: channel {channel!r} has no command of the motor {missing[0]!r}.")
        steps = np.diff(recording.times)
        if len(steps) < 1 or np.ptp(steps) > TIME_STEP_TOLERANCE * steps.mean():
            raise RecordingError(f"{path}: its rows are not at even times. Record, or import, at a steady rate.")
        commands = recording.read(channel)[:, [labels.index(motor) for motor in motors]]
        trials.append(Trial(name=name, period=round(float(steps.mean()), 9), commands=commands))
    return trials


class RecordedReality:
    """Gives back what was recorded; nothing else can be tried.

    Args:
        recordings: by the names of their trials.
        watch: what is measured.
        columns: the columns of the simulation that the recording must have; those in the recording without any.
        names: columns of the recording by those of the simulation, where they differ.
    """

    def __init__(
        self,
        recordings: Mapping[str, Path],
        watch: Watch,
        *,
        columns: Sequence[str] = (),
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.recordings, self.watch = dict(recordings), watch
        self._columns, self._names = tuple(columns), dict(names or {})
        self.trials = 0

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """What was recorded of them."""
        for trial in trials:
            if trial.name not in self.recordings:
                raise UnknownNameError("recorded trial", trial.name, self.recordings)
            recording = Recording.open(self.recordings[trial.name])
            given = recording.manifest.config.get("fitness")
            expected = ExpectedLog(
                times=trial.period * np.arange(len(trial), dtype=np.float64),
                columns=self._columns,
                names=self._names,
                fitness=float(given) if isinstance(given, int | float) else None,
            )
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=behaviour_in_log(recording, expected, self.watch))
