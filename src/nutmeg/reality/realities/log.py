"""The memory of a reality: every trial is written down as it comes back, and never asked for again.

    reality = LoggedReality(HiddenSimulation(...), folder=Path("runs/ant"), columns=("angles.L1_knee",))
    reality.try_out(trials)         # only those that are not in the log are tried
    reality.trials                  # 12: all in the log

In the folder, `reality.jsonl` has a line for each trial (name, fingerprint of its commands, fitness, rows until the
fall), and `trials/NAME.nutmeg` its series, as exact as they came. A line is on the disk before the next trial is
looked at, so an interruption costs at most the trial that was going on. A trial that comes back without a fitness
that is needed, with a fitness that is not a number, or without a column, ends the run with an error; nothing of it
is kept, so the same call tries it again.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import RecordingError, SimulationError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.base.journal import append_lines, read_lines
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.realities.reality import Observed, Reality, fingerprint
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter

if TYPE_CHECKING:
    from nutmeg.reality.twin import Trial

REALITY_LOG = "reality.jsonl"


class LoggedReality(Closing):
    """A reality with a memory.

    Args:
        reality: where trials that are new are tried.
        folder: where the log and the series are.
        needs_fitness: whether a trial must have a fitness.
        columns: columns that a trial must have.
        on_trial: called with every trial, and whether it was remembered.
    """

    def __init__(
        self,
        reality: Reality,
        folder: Path,
        *,
        needs_fitness: bool = True,
        columns: Sequence[str] = (),
        on_trial: Callable[[Observed, bool], None] | None = None,
    ) -> None:
        self.reality, self.folder = reality, folder
        self._needs_fitness, self._columns, self._on_trial = needs_fitness, tuple(columns), on_trial
        self._path = folder / REALITY_LOG
        self._known: dict[str, Mapping[str, Any]] = {}
        self._observed: dict[str, Observed] = {}
        self.recall()

    @property
    def trials(self) -> int:
        """Number of trials in the log."""
        return len(self._known)

    def close(self) -> None:
        """Closes a reality that can be closed, such as a connection; what it is asked next opens it again."""
        if isinstance(self.reality, Closing):
            self.reality.close()

    def recall(self) -> None:
        """Reads the log again, after others may have written it."""
        self._known = {line["fingerprint"]: line for line in read_lines(self._path)}

    def knows(self, trial: Trial) -> bool:
        """Whether a trial was made before."""
        return fingerprint(trial) in self._known

    def try_out(self, trials: Sequence[Trial]) -> list[Observed]:
        """The result of each trial; only new ones are tried."""
        keys = [fingerprint(trial) for trial in trials]
        new = {key: trial for key, trial in zip(keys, trials, strict=True) if key not in self._known}
        for key in keys:
            if key not in new:
                self._tell(self._remembered(key), remembered=True)
        if new:
            results = iter(self.reality.try_out(list(new.values())))
            for key, trial in new.items():
                try:
                    observed = next(results, None)
                except SimulationError as error:  # a search would take it for a controller that failed
                    raise RecordingError(f"reality failed: {error}") from error
                if observed is None:
                    raise RecordingError(f"reality gave no result for trial {trial.name!r}. Run the same again.")
                self._check(observed, trial)
                self._store(key, observed, trial.period)
                self._tell(observed, remembered=False)
        return [self._remembered(key) for key in keys]

    def _tell(self, observed: Observed, *, remembered: bool) -> None:
        if self._on_trial:
            self._on_trial(observed, remembered)

    def _check(self, observed: Observed, trial: Trial) -> None:
        what, again = f"trial {trial.name!r} in reality", "Nothing of it is kept; run the same again to repeat it."
        if observed.fitness is None and self._needs_fitness:
            raise RecordingError(f"{what} came back without a fitness, which is needed here. {again}")
        if observed.fitness is not None and not math.isfinite(observed.fitness):
            raise RecordingError(f"{what} came back with the fitness {observed.fitness}. {again}")
        behaviour = observed.behaviour
        for name in self._columns:
            if name not in behaviour.columns or behaviour.series is None:
                have = ", ".join(behaviour.columns) or "none"
                raise RecordingError(f"{what} came back without the column {name!r}; it has {have}. {again}")
            if np.isnan(behaviour.series[:, behaviour.columns.index(name)]).all():
                raise RecordingError(f"{what} came back with nothing but nan in the column {name!r}. {again}")

    def _store(self, key: str, observed: Observed, period: float) -> None:
        behaviour = observed.behaviour
        file = ""
        if behaviour.series is not None:
            file = f"trials/{_file_name(observed.trial, key)}.nutmeg"
            shutil.rmtree(self.folder / file, ignore_errors=True)  # half of it, of a run that was killed
            _write_series(self.folder / file, behaviour, period)
        line = {
            "trial": observed.trial,
            "fingerprint": key,
            "fitness": observed.fitness,
            "frames": None if behaviour.frames is None else int(np.asarray(behaviour.frames)),
            "series": file,
            "source": behaviour.source,
        }
        append_lines(self._path, [line])
        self._known[key], self._observed[key] = line, observed

    def _remembered(self, key: str) -> Observed:
        if key not in self._observed:
            line = self._known[key]
            series = read_series(self.folder / line["series"]) if line["series"] else Behaviour()
            behaviour = replace(series, frames=line["frames"], fitness=line["fitness"], source=line["source"])
            self._observed[key] = Observed(trial=line["trial"], behaviour=behaviour)
        return self._observed[key]


def _file_name(trial: str, key: str) -> str:
    """The name of a trial as that of a file; with its fingerprint where it had to be changed."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", trial)
    return plain if plain == trial else f"{plain}-{key}"


def _write_series(path: Path, behaviour: Behaviour, period: float) -> None:
    """The series of a trial, a row every `period` seconds, as a recording; exactly."""
    if behaviour.series is None or behaviour.series.ndim != 2:
        raise UsageError("only the series (T, columns) of one trial can be recorded.")
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(behaviour.columns):
        groups.setdefault(name.rpartition(".")[0] or "series", []).append(index)
    channels, order = [], []
    for group, indices in groups.items():
        for count, unit in enumerate(dict.fromkeys(behaviour.units[i] for i in indices)):  # a channel has one unit
            mine = [i for i in indices if behaviour.units[i] == unit]
            name = f"{group}/{count}" if count else group
            labels = tuple(behaviour.columns[i].rpartition(".")[2] for i in mine)
            channels.append(Channel(name=name, labels=labels, unit=unit))
            order += mine
    config = {"columns": list(behaviour.columns), "order": order}
    with RecordingWriter.create(
        path, Manifest(kind="trial", seed=0, channels=tuple(channels), config=config)
    ) as writer:
        writer.append_many(period * np.arange(len(behaviour.series)), behaviour.series[:, order])


def read_series(path: Path) -> Behaviour:
    """The series that `_write_series` wrote."""
    recording = Recording.open(path)
    config = recording.manifest.config
    order = np.array(config["order"], int)
    rows = recording.rows()
    if recording.problems:
        raise RecordingError(
            f"{path}: {recording.problems[0]} Remove its line from {REALITY_LOG} to try the trial again."
        )
    units = [channel.unit for channel in recording.channels.values() for _ in channel.labels]
    back = np.argsort(order)
    columns = tuple(str(name) for name in config["columns"])  # type: ignore[attr-defined]
    return Behaviour(columns=columns, units=tuple(units[i] for i in back), series=rows[:, back])
