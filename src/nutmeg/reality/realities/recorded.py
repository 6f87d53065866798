"""Recordings as reality: only trials that were recorded can be made.

    recordings = {"walk-1": Path("walk-1.nutmeg")}
    trials = recorded_trials(recordings, motors, channel="command")     # the recorded commands
    RecordedReality(recordings, watch).try_out(trials)                  # the recorded behaviours

`behaviour_in_log` reads a trial from any log: its columns at the times of the trial, and its fitness. Times count from
the first row of the log, at which the first command is given. An event `fall`, or the number `fell_at`, ends the trial;
without one, a log that ends before the trial is an error. The fitness is given (`fitness` in a recording's `[config]`),
or computed from the recorded pose or angles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import RecordingError, UnknownNameError, suggestion
from nutmeg.reality.behaviour import Behaviour, frames_before, resample
from nutmeg.reality.observation import BALL_AXES, Movement, fitness_of
from nutmeg.reality.realities.reality import Observed
from nutmeg.reality.twin import Trial
from nutmeg.recording import Log, Recording
from nutmeg.sim.trace import POSE_LABELS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.observation import Watch

TIME_STEP_TOLERANCE = 0.01
"""Share of the mean by which time steps of recorded commands may differ."""


@dataclass(frozen=True, kw_only=True)
class ExpectedLog:
    """What the log of a trial must contain."""

    times: Floats
    """Times of the rows of the trial, from 0 [s], (T,)."""
    columns: tuple[str, ...] = ()
    """Names of the columns that are needed, as in simulation."""
    units: tuple[str, ...] = ()
    """Their units; not checked if empty."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of columns in the log, by those of the simulation, where they differ."""
    fitness: float | None = None
    """The fitness if it was measured by other means; else it is computed from the log."""
    fell_at: float | None = None
    """When the robot fell [s]."""
    most_missing: float = 0.05
    """The largest share of a column that may be missing."""

    def named(self, columns: Sequence[str]) -> list[str]:
        """The names of columns in the log."""
        return [self.names.get(column, column) for column in columns]


def behaviour_in_log(log: Log, expected: ExpectedLog, watch: Watch) -> Behaviour:
    """The behaviour in a log; an error if the log is not as expected."""
    columns = expected.columns
    _check_columns(log, expected)
    end = log.first_event("fall") - float(log.times[0]) if len(log.times) else np.inf
    end = min(end, np.inf if expected.fell_at is None else expected.fell_at)
    _check_times(log, expected, end)
    frames = int(frames_before(expected.times, end))
    series = _series(log, expected, columns, frames) if columns else None
    fitness = expected.fitness
    if fitness is None and watch.fitness is not None:
        fitness = _fitness(log, expected, watch, frames)
    units = expected.units or tuple(log.units[name] for name in expected.named(columns))
    return Behaviour(columns=columns, units=units, series=series, frames=frames, fitness=fitness, source=str(log.path))


def _check_columns(log: Log, expected: ExpectedLog) -> None:
    for i, name in enumerate(expected.named(expected.columns)):
        if name not in log.units:
            have = ", ".join(log.units) or "none"
            raise RecordingError(f"{log.path}: has no column {name!r}. {suggestion(name, log.units)}It has {have}.")
        if expected.units and log.units[name] != expected.units[i]:
            raise RecordingError(
                f"{log.path}: column {name!r} is in {log.units[name] or 'no unit'!r}; needed is "
                f"{expected.units[i] or 'no unit'!r}. Convert it."
            )


def _check_times(log: Log, expected: ExpectedLog, end: float) -> None:
    last, step = float(expected.times[-1]), float(expected.times[1] - expected.times[0])
    if len(log.times) < 2:
        raise RecordingError(f"{log.path}: has {len(log.times)} rows; a trial has {len(expected.times)}.")
    if log.problems:
        raise RecordingError(f"{log.path}: {log.problems[0]}")
    if log.duration < min(last, end) - 1.5 * step:
        raise RecordingError(
            f"{log.path}: lasts {log.duration:g} s, but the trial {last + step:g} s. Record all of it; if the robot "
            "fell, say when (`fell_at`, or an event `fall`)."
        )


def _series(log: Log, expected: ExpectedLog, columns: tuple[str, ...], frames: int) -> Floats:
    """Columns at the times of the trial, (T, columns)."""
    times = log.times - log.times[0]
    series = resample(times, log.series(expected.named(columns)), at=np.minimum(expected.times, times[-1]))
    missing = np.isnan(series[:frames]).mean(axis=0) if frames else np.ones(len(columns))
    worst = int(np.argmax(missing))
    if missing[worst] > expected.most_missing:
        raise RecordingError(
            f"{log.path}: {missing[worst]:.0%} of the values of {columns[worst]!r} are missing (nan or an empty "
            f"cell); allowed is {expected.most_missing:.0%}."
        )
    return series


def _fitness(log: Log, expected: ExpectedLog, watch: Watch, frames: int) -> float | None:
    """The fitness computed from what was recorded; None if the log lacks what it needs."""
    assert watch.fitness is not None
    wanted = {
        "angles": tuple(name for name in sorted(log.units) if name.startswith("angles.")),
        "pose": tuple(f"pose.{label}" for label in POSE_LABELS),
        "ball": tuple(f"ball.{axis}" for axis in BALL_AXES),
    }
    known = {
        kind: _series(log, expected, columns, frames)[None]
        for kind, columns in wanted.items()
        if (kind in watch.fitness.needs or watch.fitness.kind == "python")
        and columns
        and all(name in log.units for name in expected.named(columns))
    }
    if watch.fitness.needs - set(known) or not known:
        return None
    seen = Movement(
        times=expected.times,
        frames=np.array([frames]),
        joints=tuple(name.removeprefix("angles.") for name in wanted["angles"]),
        **known,
    )
    return float(fitness_of(watch.fitness, seen)[0])


def recorded_trials(recordings: Mapping[str, Path], motors: Sequence[str], *, channel: str = "command") -> list[Trial]:
    """The commands in recordings as trials that start in the robot's pose."""
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
    """Returns recorded behaviours; nothing else can be tried.

    Args:
        recordings: by the names of their trials.
        watch: what is measured of a trial.
        columns: the columns of the simulation that a recording must have.
        names: names of columns in the recordings, by those of the simulation, where they differ.
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
        """The recorded behaviours of trials."""
        for trial in trials:
            if trial.name not in self.recordings:
                raise UnknownNameError("recorded trial", trial.name, self.recordings)
            log = Log.of(Recording.open(self.recordings[trial.name]))
            given = log.config.get("fitness")
            expected = ExpectedLog(
                times=trial.period * np.arange(len(trial), dtype=np.float64),
                columns=self._columns,
                names=self._names,
                fitness=float(given) if isinstance(given, int | float) else None,
            )
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=behaviour_in_log(log, expected, self.watch))
