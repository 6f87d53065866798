"""Another engine as reality: trials cut from the league server's logs, and their replay on nao-spark."""

from __future__ import annotations

import csv
import dataclasses
import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.base.errors import FileError
from nutmeg.experiments import simspark
from nutmeg.experiments.experiment import example_folder, perform
from nutmeg.experiments.simspark import (
    ERROR_KINDS,
    JOINTS,
    LATENCY,
    TRIAL_COLUMNS,
    cut_log,
    replay_errors,
)
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import found_files, read_trials
from nutmeg.reality.twin import Twin

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import MeasuredTrial


@pytest.fixture(scope="module")
def settings() -> IdentifySettings:
    return read_identify(example_folder("simspark_walk") / "identify.toml")


@pytest.fixture(scope="module")
def measured(settings: IdentifySettings) -> tuple[MeasuredTrial, ...]:
    wanted = dataclasses.replace(settings, windows=None)
    files = found_files(["walk.csv.gz#5", "kick.csv.gz#5"], example_folder("simspark_walk"), "test")
    return read_trials(files, wanted, Twin(settings.robot, settings.parameters))


def _log(path: Path, *, modes: list[str], turn: float = 0.0, mode_column: str = "playmode") -> Path:
    """A log of the server with a robot that stands still, or turns about the vertical at `turn` [deg/s]."""
    commands = [f"{joint.replace('j', 'e')}_cmd_rad_s" for joint in JOINTS]
    told = {"gyr_x": "0.00", "gyr_y": "0.00", "gyr_z": f"{turn:.2f}"}
    names = ["now_s", mode_column, *commands, *(f"{joint}_deg" for joint in JOINTS), *told]
    places = ["mypos_x", "mypos_y", "mypos_z", "myorien_deg"]
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*names, *places])
        writer.writeheader()
        for number, mode in enumerate(modes):
            row = dict.fromkeys([*commands, *(f"{joint}_deg" for joint in JOINTS)], "0.00")
            seen = ["-3.00", "2.00", "0.53", "90.00"] if number % 3 == 0 else [""] * 4
            row |= {"now_s": f"{20 + 0.02 * number:.2f}", mode_column: mode, **told}
            writer.writerow(row | dict(zip(places, seen, strict=True)))
    return path


def test_a_log_is_cut_into_trials_that_begin_one_cycle_before_the_play_mode(tmp_path: Path) -> None:
    modes = [*["BeforeKickOff"] * 4, *["PlayOn"] * 8, *["BeforeKickOff"] * 5, *["PlayOn"] * 9]
    log = _log(tmp_path / "log.csv.gz", modes=modes, turn=100.0)
    assert cut_log(log, tmp_path / "cut.csv", modes=("PlayOn",), seconds=0.1) == 2
    with (tmp_path / "cut.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == TRIAL_COLUMNS
    assert [float(row["time_s"]) for row in rows[:7]] == pytest.approx([0.02 * i for i in range(7)])
    assert float(rows[7]["time_s"]) == 100.0
    assert [float(row["yaw_deg"]) for row in rows[:3]] == pytest.approx([0.0, 2.0, 4.0])
    assert float(rows[0]["torso_z_m"]) == pytest.approx(float(rows[0]["start_z_m"]), abs=1e-3)
    told = [row for row in rows[1:7] if row["torso_x_m"]]
    assert told
    assert all(abs(float(row["torso_x_m"])) < 1e-6 and abs(float(row["torso_y_m"])) < 1e-6 for row in told)
    assert float(told[0]["torso_z_m"]) == pytest.approx(0.53 - 0.155)


def test_a_log_without_the_play_mode_says_which_it_has(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.csv.gz", modes=["BeforeKickOff", "GameOver"])
    with pytest.raises(FileError, match=r"play mode PlayOn.*BeforeKickOff, GameOver"):
        cut_log(log, tmp_path / "cut.csv", modes=("PlayOn",), seconds=1.0)
    other = _log(tmp_path / "other.csv.gz", modes=["PlayOn"] * 3, mode_column="mode")
    with pytest.raises(FileError, match="no column 'playmode'"):
        cut_log(other, tmp_path / "cut.csv", modes=("PlayOn",), seconds=1.0)
    damaged = tmp_path / "damaged.csv.gz"
    damaged.write_bytes(log.read_bytes()[:60])
    with pytest.raises(FileError, match="cannot be read"):
        cut_log(damaged, tmp_path / "cut.csv", modes=("PlayOn",), seconds=1.0)


def test_the_servers_numbers_replay_its_walk_better_than_those_of_other_robots(
    settings: IdentifySettings, measured: tuple[MeasuredTrial, ...]
) -> None:
    twin = Twin(settings.robot, settings.parameters)
    league = Twin(dataclasses.replace(settings.robot, physics="league"), {"delay": LATENCY})
    before = replay_errors(twin, twin.space.start[None], measured)
    after = replay_errors(league, league.space.start[None], measured)
    assert before.shape == after.shape == (2, 1, len(ERROR_KINDS))
    walk = 0
    assert after[walk, 0, ERROR_KINDS.index("joints")] < 1.0
    assert before[walk, 0, ERROR_KINDS.index("joints")] > 2.5
    assert after[walk, 0, ERROR_KINDS.index("gyro")] < 0.5 * before[walk, 0, ERROR_KINDS.index("gyro")]


@pytest.mark.slow
def test_a_small_fit_is_written_with_its_table_and_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"train": ("kick.csv.gz#0",), "held_out": ("kick.csv.gz#4",)}
    effort = dataclasses.replace(simspark.QUICK, evaluations=10, seconds=0.2, **files)
    monkeypatch.setattr(simspark, "QUICK", effort)
    answer = perform(simspark, tmp_path / "run", simspark.Settings(quick=True, seed=2))
    assert set(answer["table"]) == {"before", "latency known", "after", "league"}
    assert set(answer["table"]["after"]["all"]) == set(ERROR_KINDS)
    assert all(np.isfinite(list(answer["part_left"].values())))
    assert "place" in simspark.table(answer).notes[0]
    assert answer["seed"] == 2
    assert set(answer["estimates"][0]) == {
        "distance",
        *read_identify(example_folder("simspark_walk") / "identify.toml").parameters,
    }
    assert (tmp_path / "run" / "results.json").is_file()
    assert "Another engine as reality" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
