"""Recordings as reality: what was recorded is what can be tried.

    recordings = {"walk-1": Path("walk-1.nutmeg")}
    trials = recorded_trials(recordings, motors, channel="command")     # what was commanded in them
    RecordedReality(recordings, watch).try_out(trials)                  # what became of it

Series are brought to the times of the trial. The fitness is computed from the recorded pose or angles, or is the
`fitness` in the manifest's `[config]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import RecordingError, UnknownNameError
from nutmeg.reality.realities.reality import Observed
from nutmeg.reality.realities.seen import Expected, seen_in
from nutmeg.reality.trial import Trial
from nutmeg.recording import Recording

if TYPE_CHECKING:
    from nutmeg.reality.watching import Watch

UNEVEN = 0.01
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
        if len(steps) < 1 or np.ptp(steps) > UNEVEN * steps.mean():
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
            expected = Expected(
                times=trial.period * np.arange(len(trial), dtype=np.float64),
                columns=self._columns,
                names=self._names,
                fitness=float(given) if isinstance(given, int | float) else None,
            )
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=seen_in(recording, expected, self.watch))
