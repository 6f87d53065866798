"""Programs and classes of users as realities."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nutmeg.base.errors import EnvironmentProblem, NutmegError, RecordingError, UsageError
from nutmeg.reality.btr.controllers import SinusoidControllers
from nutmeg.reality.observation import FitnessSettings, Watch
from nutmeg.reality.realities import LoggedReality, Reality, RealitySettings, make_reality
from nutmeg.reality.twin import Trial, Twin

WATCH = Watch(fitness=FitnessSettings(kind="swing"), series=("angles.*",))
ROBOT = """
import csv, sys
from pathlib import Path
trial, results = Path(sys.argv[-2]), Path(sys.argv[-1])
rows = list(csv.DictReader(trial.open()))
lines = ["time,angles.swing", *(f"{row['time']},{0.5 * float(row['swing'])}" for row in rows)]
(results / f"{trial.stem}.csv").write_text("\\n".join(lines))
print("tried", trial.stem)
"""
CLASS = """
class Half:
    closed = False
    def __init__(self, table):
        self.motors = table.motors
    def try_out(self, trial):
        return {"fitness": 0.25, "series": {"angles.swing": 0.5 * trial.commands[:, 0]}}
    def close(self):
        Half.closed = True
class Silent:
    def __init__(self, table): ...
    def try_out(self, trial):
        return {"fitness": 0.25}
class Chatty:
    def __init__(self, table): ...
    def try_out(self, trial):
        return 7
"""


@pytest.fixture
def trials(pendulum_gaits: SinusoidControllers) -> list[Trial]:
    return pendulum_gaits.trials(pendulum_gaits.space.values([[0.2, 0.5], [0.8, 0.5]]), ["gentle", "wild"])


def reality(settings: RealitySettings, pendulum: Twin, folder: Path) -> Reality:
    return make_reality(settings, pendulum, WATCH, folder=folder, wait=pytest.fail, say=lambda _: None)


def command(folder: Path, program: str) -> RealitySettings:
    (folder / "robot.py").write_text(program, encoding="utf-8")
    return RealitySettings(kind="command", program=(sys.executable, str(folder / "robot.py")))


def test_a_program_tries_each_trial_once(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    logged = LoggedReality(reality(command(tmp_path, ROBOT), pendulum, tmp_path), tmp_path, columns=("angles.swing",))
    gentle, wild = logged.try_out(trials)
    assert gentle.behaviour.series is not None
    assert gentle.behaviour.series[:, 0] == pytest.approx(0.5 * trials[0].commands[:, 0])
    assert gentle.fitness is not None
    assert wild.fitness is not None
    assert wild.fitness > gentle.fitness, "computed from the log"
    (tmp_path / "robot.py").unlink()
    assert [one.fitness for one in logged.try_out(trials)] == [gentle.fitness, wild.fitness], "none is tried again"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "import sys; print('no battery'); sys.exit(3)",
            "ended trial 'gentle' with the status 3. It wrote: no battery",
        ),
        ("pass", "put no gentle.csv or gentle.toml into"),
    ],
)
def test_a_program_that_fails_says_how(
    program: str, message: str, pendulum: Twin, trials: list[Trial], tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentProblem, match=message):
        list(reality(command(tmp_path, program), pendulum, tmp_path).try_out(trials))


DYING = """
import os, signal, sys
from pathlib import Path
trial, results = Path(sys.argv[-2]), Path(sys.argv[-1])
(results / f"{trial.stem}.csv").write_text("time,angles.swing\\n0.0,0.1\\n0.02,0.1\\n0.04,")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_trial_whose_program_dies_in_the_middle_is_made_again(
    pendulum: Twin, trials: list[Trial], tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentProblem, match="was ended by the signal SIGKILL in trial 'gentle'"):
        list(reality(command(tmp_path, DYING), pendulum, tmp_path).try_out(trials))
    half = tmp_path / "laboratory" / "results" / "wild.csv"
    half.write_text("time,angles.swing\n0.0,0.1\n", encoding="utf-8")  # as if this process had been killed, too
    gentle, wild = reality(command(tmp_path, ROBOT), pendulum, tmp_path).try_out(trials)
    for trial, observed in zip(trials, (gentle, wild), strict=True):
        assert observed.behaviour.series is not None
        assert observed.behaviour.series[:, 0] == pytest.approx(0.5 * trial.commands[:, 0])
    assert half.with_name("wild.csv.refused").exists(), "kept for whoever wants to know"


def test_a_program_that_is_not_there_or_writes_rubbish_is_an_error(
    pendulum: Twin, trials: list[Trial], tmp_path: Path
) -> None:
    nobody = RealitySettings(kind="command", program=(str(tmp_path / "nobody"),))
    with pytest.raises(EnvironmentProblem, match="cannot be run: No such file"):
        list(reality(nobody, pendulum, tmp_path).try_out(trials))
    rubbish = ROBOT.replace("angles.swing", "something")
    with pytest.raises(NutmegError, match="Known columns: time, something"):
        list(reality(command(tmp_path, rubbish), pendulum, tmp_path / "other").try_out(trials))


def test_a_class_of_the_users_is_a_reality(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS, encoding="utf-8")
    mine = RealitySettings(kind="python", function=f"{tmp_path / 'mine.py'}:Half")
    with LoggedReality(reality(mine, pendulum, tmp_path), tmp_path, columns=("angles.swing",)) as logged:
        gentle, _ = logged.try_out(trials)
        assert gentle.fitness == 0.25
        made = logged.reality._made  # type: ignore[attr-defined]
    assert made.closed
    for name, message in (("Silent", "gave nothing for 'angles.swing'"), ("Chatty", "gave 7; needed is a dictionary")):
        other = RealitySettings(kind="python", function=f"{tmp_path / 'mine.py'}:{name}")
        with pytest.raises(RecordingError, match=message):
            list(reality(other, pendulum, tmp_path).try_out(trials))


def test_a_class_that_fails_names_the_trial_and_the_line(pendulum: Twin, trials: list[Trial], tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(
        "class Unmade:\n    pass\n\n"
        "class Dies:\n    def __init__(self, table):\n        pass\n"
        "    def try_out(self, trial):\n        raise RuntimeError('the battery is empty')\n",
        encoding="utf-8",
    )
    unmade, dies = (RealitySettings(kind="python", function=f"{tmp_path / 'dies.py'}:{n}") for n in ("Unmade", "Dies"))
    with pytest.raises(EnvironmentProblem, match=r"Unmade failed when it was made with the robot's table: TypeError"):
        reality(unmade, pendulum, tmp_path)
    with pytest.raises(EnvironmentProblem, match=rf"in trial '{trials[0].name}': RuntimeError: the battery .*line 8"):
        list(reality(dies, pendulum, tmp_path).try_out(trials))


def test_settings_that_do_not_go_together_are_refused(pendulum: Twin, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs `program`"):
        RealitySettings(kind="command")
    with pytest.raises(ValueError, match="needs `function`"):
        RealitySettings(kind="python")
    with pytest.raises(UsageError, match="SimsparkReality"):
        reality(RealitySettings(kind="simspark"), pendulum, tmp_path)
