"""A program or a Python class as reality: trials are made without anybody beside the robot.

    [reality]                           # a program of one's own
    kind = "command"
    program = ["python", "run_on_robot.py", "--ip", "10.0.1.4"]

For each trial the program is run with two further arguments: the CSV file with the commands (as `realities.manual`
writes it), and the folder into which it must put `NAME.csv` with the log, `NAME.toml` with the fitness, or both, before
it ends with the status 0.

    [reality]                           # a class in a file beside the configuration
    kind = "python"
    function = "robot.py:Robot"

    class Robot:
        def __init__(self, table): ...                  # the robot's joints and motors (`model.tables.RobotTable`)
        def try_out(self, trial):                       # commands (T, motors) and period of a `Trial`
            return {"fitness": 0.21, "fell_at": 2.4, "series": {"angles.swing": [...]}}

Series have a value for each row of the trial; `fell_at` is left out for a robot that did not fall. A class may have
`close()`, which is called at the end of the run.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, NutmegError, RecordingError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.base.plugins import load_named
from nutmeg.reality.behaviour import Behaviour, frames_before
from nutmeg.reality.realities.reality import Observed

if TYPE_CHECKING:
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.realities.manual import ManualReality
    from nutmeg.reality.twin import Trial

SHOWN_OUTPUT = 400
"""How many characters of what a failed program wrote are shown."""


class CommandReality:
    """Runs a program for each trial.

    Args:
        program: the program and its arguments.
        laboratory: the folders through which trials and results are exchanged.
        patience: how long the program may take for a trial [s].
    """

    def __init__(self, program: Sequence[str], laboratory: ManualReality, *, patience: float) -> None:
        self._program, self._laboratory, self._patience = tuple(program), laboratory, patience
        self.trials = 0

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """Runs the program for each trial whose results are not there yet, or are not whole."""
        self._laboratory.prepare(trials)
        for trial in trials:
            observed = self._tried(trial)
            self.trials += 1
            yield observed

    def _tried(self, trial: Trial) -> Observed:
        if self._laboratory.answered(trial):
            # A program that died in the middle of a trial may have left half a log: the trial is made again.
            with contextlib.suppress(NutmegError):
                return self._laboratory.take(trial)
            self._laboratory.set_aside(trial)
        try:
            self._run(trial)
            return self._laboratory.take(trial)
        except NutmegError:
            self._laboratory.set_aside(trial)
            raise

    def _run(self, trial: Trial) -> None:
        file, results = self._laboratory.places(trial)
        name = f"the program {self._program[0]!r} of [reality]"
        try:
            done = subprocess.run(  # noqa: S603 (the program is the user's own)
                [*self._program, str(file), str(results)],
                check=False,
                timeout=self._patience,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentProblem(
                f"{name} has not ended trial {trial.name!r} within {self._patience:g} s. Give it more `patience`."
            ) from None
        except OSError as error:
            raise EnvironmentProblem(f"{name} cannot be run: {error.strerror}. Check `program`.") from None
        said = done.stdout.strip()[-SHOWN_OUTPUT:]
        said = f" It wrote: {said}" if said else ""
        if done.returncode < 0:
            how = signal.Signals(-done.returncode).name
            raise EnvironmentProblem(f"{name} was ended by the signal {how} in trial {trial.name!r}.{said}")
        if done.returncode:
            raise EnvironmentProblem(f"{name} ended trial {trial.name!r} with the status {done.returncode}.{said}")
        if not self._laboratory.answered(trial):
            raise EnvironmentProblem(f"{name} put no {trial.name}.csv or {trial.name}.toml into {results}.{said}")


class UserReality(Closing):
    """A class of the user's.

    Args:
        name: `file.py:Class`.
        table: the robot, which the class is made with.
        columns: columns of the simulation that a result must have, with their units.
    """

    def __init__(self, name: str, table: RobotTable, columns: Mapping[str, str]) -> None:
        self._name, self._columns, self.trials = name, dict(columns), 0
        self._made: Any = self._called("when it was made with the robot's table", load_named(name, "reality"), table)
        if not callable(getattr(self._made, "try_out", None)):
            raise UsageError(f"{name} is no reality: it needs a method `try_out(trial)`.")

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """Lets the class make each trial."""
        for trial in trials:
            found = self._called(f"in trial {trial.name!r}", self._made.try_out, trial)
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=self._behaviour(trial, found))

    def _called(self, when: str, function: Callable[..., Any], argument: object) -> Any:  # noqa: ANN401 (the user's)
        """What a function of the class returns; an exception ends the run as a problem from which it can go on."""
        try:
            return function(argument)
        except NutmegError:
            raise
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise EnvironmentProblem(
                f"{self._name} failed {when}: {type(error).__name__}: {error} ({place.filename}, line {place.lineno})."
            ) from error

    def close(self) -> None:
        """Closes what the class has opened."""
        if callable(close := getattr(self._made, "close", None)):
            close()

    def _behaviour(self, trial: Trial, found: object) -> Behaviour:
        if not isinstance(found, Mapping) or set(found) - {"fitness", "fell_at", "series"}:
            raise RecordingError(
                f"{self._name}: trial {trial.name!r} gave {found!r:.80}; needed is a dictionary with `fitness`, "
                "`series` and `fell_at`, as far as they are known."
            )
        frames = len(trial)
        if found.get("fell_at") is not None:
            frames = int(frames_before(trial.period * np.arange(len(trial)), float(found["fell_at"])))
        given, series = found.get("series") or {}, None
        if self._columns:
            for name in self._columns:
                if name not in given or len(given[name]) != len(trial):
                    rows = f"{len(given[name])} values" if name in given else "nothing"
                    raise RecordingError(
                        f"{self._name}: trial {trial.name!r} gave {rows} for {name!r}; needed are {len(trial)} values."
                    )
            series = np.stack([np.asarray(given[name], float) for name in self._columns], axis=1)
        fitness = found.get("fitness")
        return Behaviour(
            columns=tuple(self._columns),
            units=tuple(self._columns.values()),
            series=series,
            frames=frames,
            fitness=None if fitness is None else float(fitness),
            source=self._name,
        )
