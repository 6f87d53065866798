"""A robot in a laboratory as reality: controllers are written into a folder, people try them and drop logs there.

    reality = ManualReality(Path("laboratory"), watch, motors=motors, logs=LogFormat(), wait=pause, say=print)
    reality.try_out(trials)             # returns when a good log of each has been dropped

    laboratory/
        README.txt              what to do, for people
        to_try/i00-03.csv       the commands: a row per period, the time and an angle for each motor [s, rad]
        to_try/i00-03.toml      period, seconds, fingerprint of the commands
        results/i00-03.csv      dropped by people: a log (.csv, .csv.gz, .parquet, or a recording .nutmeg), and/or
        results/i00-03.toml     fitness = 0.21, and fell_at = 2.4 if the robot fell

A file that is still growing is waited for. A log with wrong columns, missing values or too few rows is refused with
a sentence that names it and what is wrong, and a corrected one is waited for. Nothing is lost by stopping: what lies
in `results` counts when the run goes on, and what is there is not asked for again.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import FileError, NutmegError
from nutmeg.base.journal import write_file
from nutmeg.base.settings import read, read_toml, toml_text
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.realities.reality import Observed, fingerprint
from nutmeg.reality.realities.recorded import ExpectedLog, behaviour_in_log
from nutmeg.recording import CsvMap, open_log
from nutmeg.recording.log import LOG_SUFFIXES

if TYPE_CHECKING:
    from nutmeg.reality.observation import Watch
    from nutmeg.reality.twin import Trial

NOTE_SUFFIX = ".toml"
REFUSED_SUFFIX = ".refused"
FileStates = tuple[tuple[str, int, int], ...]
"""Name, size [bytes] and time of change [ns] of files."""
README = """\
Controllers to try on the robot
===============================
1. Take a trial NAME from the folder to_try: NAME.csv has the commands (seconds and radians), one row every
   {period:g} s, {seconds:g} s in all. Put the robot into its starting pose, send the rows in time.
2. Put what happened into the folder results:
{results}
3. If the robot fell, write when into results/NAME.toml:   fell_at = 2.4

Trials already answered are left out of to_try. The run waits for the files, says what is wrong with one, and can be
stopped and started again at any time.
"""


@dataclass(frozen=True, kw_only=True)
class _Note:
    """The note that people write about a trial."""

    fitness: float | None = None
    """Measured fitness of the controller."""
    fell_at: float | None = None
    """When the robot fell [s]."""


def commands_csv(trial: Trial, motors: Sequence[str]) -> bytes:
    """The commands of a trial as a CSV file: the time [s], and an angle [rad] for each motor."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *motors])
    times = trial.period * np.arange(len(trial.commands))
    rows = zip(times.tolist(), trial.commands.tolist(), strict=True)
    writer.writerows([round(time, 9), *row] for time, row in rows)
    return text.getvalue().encode()


class _ResultsFolder:
    """The folder into which people put logs and notes, `{trial}.csv` (or another suffix) and `{trial}.toml`.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._last: dict[str, FileStates] = {}

    def of(self, name: str) -> dict[str, Path]:
        """The files of a trial that are there, complete or not: its `log` and its `note`."""
        found = {}
        for suffix in LOG_SUFFIXES:
            path = self.folder / f"{name}{suffix}"
            if path.exists():
                found["log"] = path
                break
        note = self.folder / f"{name}{NOTE_SUFFIX}"
        if note.is_file():
            found["note"] = note
        return found

    def state(self, name: str) -> FileStates:
        """Names, sizes and times of change of the files of a trial."""
        rows = []
        for path in self.of(name).values():
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                with contextlib.suppress(FileNotFoundError):  # renamed in this moment
                    about = file.stat()
                    rows.append((str(file), about.st_size, about.st_mtime_ns))
        return tuple(rows)

    def settled(self, name: str) -> dict[str, Path]:
        """The files of a trial if they have not changed since the last call; none while they still grow."""
        now = self.state(name)
        same = self._last.get(name) == now
        self._last[name] = now
        return self.of(name) if same and now else {}


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """What logs of the real robot must have, and how they are read."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of the simulation that a log must have, with their units; without any, a fitness is enough."""
    needs_fitness: bool = True
    """Whether a trial must have a fitness."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of columns in a log, by those of the simulation, where they differ."""
    mapping: CsvMap | None = None
    """The column map of CSV logs; without it, their columns are named as in simulation, with a column `time`."""


class ManualReality:
    """Waits for people who try controllers on a robot.

    Args:
        folder: where controllers and logs are exchanged.
        watch: what is measured of a trial.
        motors: names of the motors, for the head of the commands.
        logs: what logs must have, and how they are read.
        wait: called while there is nothing to do; it should take a moment.
        say: called with what is waited for and what is wrong.
    """

    def __init__(
        self,
        folder: Path,
        watch: Watch,
        *,
        motors: Sequence[str],
        logs: LogFormat,
        wait: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self.folder, self.watch, self.trials = folder, watch, 0
        self._motors, self._logs = tuple(motors), logs
        self._wait, self._say = wait, say
        self._to_try, self._results = folder / "to_try", folder / "results"
        self._dropped = _ResultsFolder(self._results)
        self._refused: dict[str, object] = {}

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """Asks for what is not there, and gives back what is as soon as all before it is."""
        missing = [trial for trial in trials if not self.answered(trial)]
        self.prepare(trials)
        if missing:
            self._say(f"{len(missing)} trials to try: {self._to_try}; put the logs into {self._results}.")
        for trial in trials:
            while not (behaviour := self._answer(trial)):
                self._wait()
            yield self._taken(trial, behaviour)

    # Used by programs that take the place of people (`realities.program`).

    def prepare(self, trials: Sequence[Trial]) -> None:
        """Writes the commands of trials, and what to do with them."""
        for folder in (self._to_try, self._results):
            folder.mkdir(parents=True, exist_ok=True)
        for trial in trials:
            self._ask(trial)
        self._explain(trials[0])

    def places(self, trial: Trial) -> tuple[Path, Path]:
        """The file with the commands of a trial, and the folder for its results."""
        return self._to_try / f"{trial.name}.csv", self._results

    def answered(self, trial: Trial) -> bool:
        """Whether there are results of a trial."""
        return bool(self._dropped.of(trial.name))

    def set_aside(self, trial: Trial) -> None:
        """Renames results of a trial that are not whole, so that it can be made again."""
        for path in self._dropped.of(trial.name).values():
            path.replace(path.with_name(path.name + REFUSED_SUFFIX))

    def take(self, trial: Trial) -> Observed:
        """The results of a trial that are there and complete; an error says what is wrong with them."""
        behaviour = self._read(trial, self._dropped.of(trial.name))
        if behaviour is None:
            wanted = "a log" if self._logs.columns else "a fitness"
            raise FileError(self._results / trial.name, f"the results of this trial lack {wanted}.")
        return self._taken(trial, behaviour)

    def _taken(self, trial: Trial, behaviour: Behaviour) -> Observed:
        self.trials += 1
        for suffix in (".csv", ".toml"):
            (self._to_try / f"{trial.name}{suffix}").unlink(missing_ok=True)
        return Observed(trial=trial.name, behaviour=behaviour)

    def _ask(self, trial: Trial) -> None:
        """Writes the commands; a trial of the same name with other commands is another run's."""
        about = self._to_try / f"{trial.name}.toml"
        key = fingerprint(trial)
        if about.exists() and read_toml(about).get("fingerprint") != key:
            raise FileError(
                about, "is of another run: its commands differ. Use another folder, or empty to_try and results."
            )
        write_file(self._to_try / f"{trial.name}.csv", commands_csv(trial, self._motors))
        table = {"fingerprint": key, "period": trial.period, "seconds": trial.period * len(trial.commands)}
        write_file(about, toml_text(table))

    def _explain(self, trial: Trial) -> None:
        log = "   results/NAME.csv (or .parquet, .nutmeg): a log of the whole trial, with the column `time` and\n   "
        wanted = [log + ", ".join(self._logs.names.get(c, c) for c in self._logs.columns)] if self._logs.columns else []
        if self._logs.needs_fitness:
            judged = self.watch.fitness
            kind = f"{judged.kind} [{judged.unit}]" if judged else "what it achieved"
            wanted.append(f"   results/NAME.toml with the line  fitness = 0.21  ({kind}), unless the log has the pose")
        text = README.format(period=trial.period, seconds=trial.period * len(trial.commands), results="\n".join(wanted))
        write_file(self.folder / "README.txt", text)

    def _answer(self, trial: Trial) -> Behaviour | None:
        """The behaviour in the files of a trial, once they are complete and valid."""
        files = self._dropped.settled(trial.name)
        if not files or self._refused.get(trial.name) == self._dropped.state(trial.name):
            return None
        try:
            return self._read(trial, files)
        except NutmegError as error:
            self._refused[trial.name] = self._dropped.state(trial.name)
            self._say(f"trial {trial.name} is refused: {error} A corrected file is waited for.")
            return None

    def _read(self, trial: Trial, files: Mapping[str, Path]) -> Behaviour | None:
        note = read(files["note"], _Note) if "note" in files else _Note()
        if note.fitness is not None and not np.isfinite(note.fitness):
            raise FileError(files["note"], f"the fitness is {note.fitness}; it must be a finite number.")
        times = trial.period * np.arange(len(trial), dtype=np.float64)
        if "log" not in files:
            if self._logs.columns:
                return None  # the log is still to come
            if note.fitness is None:
                raise FileError(files["note"], "has no `fitness`, and there is no log to compute it from.")
            frames = len(times) if note.fell_at is None else int(np.searchsorted(times, note.fell_at))
            return Behaviour(fitness=note.fitness, frames=frames, source=str(files["note"]))
        expected = ExpectedLog(
            times=times,
            columns=tuple(self._logs.columns),
            units=tuple(self._logs.columns.values()),
            names=self._logs.names,
            fitness=note.fitness,
            fell_at=note.fell_at,
        )
        seen = behaviour_in_log(open_log(files["log"], self._logs.mapping), expected, self.watch)
        if seen.fitness is None and self._logs.needs_fitness:
            if "note" not in files:
                return None  # the number is still to come
            raise FileError(files["note"], "has no `fitness`, and the log has no pose to compute it from.")
        return replace(seen, source=files["log"].name)
