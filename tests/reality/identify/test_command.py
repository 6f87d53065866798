"""`nutmeg identify`: what it prints and writes, how it goes on, and what it refuses."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.cli import main
from nutmeg.model.identified import read_body
from nutmeg.model.parameters import Adjustment

ALTERED = Path(__file__).parents[2] / "altered"
SEARCHED_PATHS = os.pathsep.join([str(ALTERED), *filter(None, [os.environ.get("PYTHONPATH")])])
EVALUATIONS = "90"
GIVEN = '{ target = "mass.*", value = 1.0, relative = true }'


@pytest.fixture
def config(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    found = bench.logs(tmp_path)
    assert isinstance(found, Path)
    return found


def identify(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main(["identify", *map(str, words), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def numbers(result: dict[str, Any]) -> dict[str, Any]:
    """All but the time it took."""
    return {key: value for key, value in result.items() if key != "seconds"}


def test_the_result_is_printed_and_written(config: Path, bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(config.read_text().replace("[recordings]", f"adjustments = [{GIVEN}]\n[recordings]", 1))
    result = identify(capsys, config, "--seed", 2, "--evaluations", 60)
    assert list(result) == ["parameters", "error", "evaluations", "seconds", "seed"]
    assert list(result["error"]) == ["train", "held_out", "unit", "per_recording"]
    assert list(result["parameters"]["coulomb"]) == ["value", "low", "high", "unit", "interval", "identifiable"]
    assert (result["seed"], result["error"]["unit"]) == (2, "deg")
    folder = Path("runs/identify-1")
    body = read_body(folder / "params.toml")
    assert {n: p.value for n, p in body.parameters.items()} == {n: p["value"] for n, p in result["parameters"].items()}
    assert body.parameters["coulomb"].sets == ("servo.*.coulomb",)
    assert body.fixed == (Adjustment(target="mass.*", value=1.0, relative=True),)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "coulomb" in page
    assert "nutmeg identify" in page
    details = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert details["error"] == result["error"]
    assert details["before"]["train"]["slow.csv"] > details["after"]["train"]["slow.csv"]
    assert result["parameters"]["coulomb"]["value"] == pytest.approx(bench.hidden["coulomb"], rel=0.2)


def test_a_check_tells_rates_gaps_and_errors_and_begins_no_run(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = identify(capsys, config, "--check")
    slow = next(one for one in found["recordings"] if one["recording"] == "slow.csv")
    assert slow["rows"] > 10
    assert slow["rate"] > 1.0
    assert slow["gap_ms"] >= 1000 / slow["rate"] - 1e-6
    assert slow["error"] > 0
    assert found["unit"] == "deg"
    assert found["problems"] == []
    assert not Path("runs").exists()


def test_a_check_names_joints_that_never_move_and_angles_that_look_like_degrees(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    times = np.arange(60) * 0.01
    for angles, said in ((np.full(60, 0.3), "never moves, though its command changes, in slow.csv (by 0.17 rad)"),
                         (np.degrees(np.sin(9 * times)), "If these are degrees")):  # fmt: skip
        bench.log(Path("slow.csv"), times, np.cos(times), angles, np.ones(60, bool))
        (problem,) = identify(capsys, config, "--check", "--train", "slow.csv")["problems"]
        assert said in problem
    bench.log(Path("slow.csv"), times, np.full(60, 0.3), np.full(60, 0.3), np.ones(60, bool))
    (problem,) = identify(capsys, config, "--check", "--train", "slow.csv")["problems"]
    assert "no joint that is compared moves in any recording to fit" in problem


def test_times_that_are_no_seconds_are_refused_before_they_are_simulated(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    times = np.arange(60) * 0.01
    for factor, said in ((1e3, "milliseconds, write `scale = 0.001`"), (1e9, "nanoseconds, write `scale = 1e-09`")):
        bench.log(Path("slow.csv"), factor * times, np.cos(times), np.sin(times), np.ones(60, bool))
        assert main(["identify", str(config), "--check", "--train", "slow.csv"]) == 1
        assert said in " ".join(capsys.readouterr().err.split())


SWINGING_ARM = """
[robot]
robot = "arm.urdf"
[recordings]
train = ["swing.csv"]
[commands]
"arm.goal" = "*"
[compare]
"arm.angles" = "angles.*"
[parameters.delay]
low = 0.0
high = 0.1
sets = ["delay"]
"""


def test_a_base_that_moves_only_in_simulation_and_an_estimate_at_its_bound_are_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arm = Path(__file__).parents[3] / "examples" / "arm" / "arm.urdf"
    Path("arm.urdf").write_text(arm.read_text(encoding="utf-8"), encoding="utf-8")
    times = np.arange(100) * 0.02
    rows = [f"{t:.2f},{1.5 * np.sin(4 * t):.5f},{1.5 * np.sin(4 * (t - 0.2)):.5f}" for t in times]
    Path("swing.csv").write_text("\n".join(["time,arm.goal.shoulder,arm.angles.shoulder", *rows]), encoding="utf-8")
    Path("free.toml").write_text(SWINGING_ARM, encoding="utf-8")
    Path("held.toml").write_text(SWINGING_ARM.replace('.urdf"', '.urdf"\nheld = true'), encoding="utf-8")
    checked = identify(capsys, "free.toml", "--check")
    (problem,) = checked["problems"]
    assert "The base of the robot is free: in the simulation of swing.csv it moves" in problem
    assert checked["recordings"][0]["position_is_goal"] > 10.0
    assert identify(capsys, "held.toml", "--check")["problems"] == []
    identify(capsys, "held.toml", "--evaluations", 12, "--output", "late")
    problems = json.loads(Path("late/results.json").read_text(encoding="utf-8"))["problems"]
    assert any("1 estimate is at the end of its range: delay." in one for one in problems)


def test_recordings_without_values_and_ranges_that_contradict_themselves_are_refused(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    times = np.arange(60) * 0.01
    bench.log(Path("slow.csv"), times, np.cos(times), np.full(60, np.nan), np.ones(60, bool))
    text = config.read_text(encoding="utf-8")
    Path("empty.csv").write_text(Path("slow.csv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    for name, changed, said in (
        ("slow.csv", text, "has no value in any row"),
        ("empty.csv", text, "has no row that is to be kept"),
        ("slow.csv", text.replace("high = 0.1\n", "high = -0.1\n"), "low below high"),
    ):
        config.write_text(changed, encoding="utf-8")
        assert main(["identify", str(config), "--check", "--train", name]) in (1, 2)
        assert said in " ".join(capsys.readouterr().err.split())


def test_recordings_of_the_command_line_replace_the_configurations(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ("--evaluations", 12, "--output", "a")
    result = identify(capsys, config, "--train", "fast.csv", "--held-out", "dr*.csv", "slow.csv", *short)
    assert set(result["error"]["per_recording"]) == {"fast.csv", "dropped.csv", "slow.csv"}
    by_hand = {name: result["error"]["per_recording"][name] for name in ("dropped.csv", "slow.csv")}
    assert result["error"]["held_out"] == pytest.approx(sum(by_hand.values()) / 2)


def test_threads_and_going_on_give_the_same_numbers(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = identify(capsys, config, "--evaluations", 30, "--output", "a")
    threaded = identify(capsys, config, "--evaluations", 30, "--output", "b", "--threads", 2)
    assert numbers(threaded) == numbers(first)
    identify(capsys, config, "--evaluations", 12, "--output", "c")
    assert numbers(identify(capsys, config, "--evaluations", 30, "--output", "c")) == numbers(first)


def test_a_folder_of_another_fit_is_refused(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    identify(capsys, config, "--evaluations", 12, "--output", "a")
    config.write_text(config.read_text(encoding="utf-8").replace("high = 0.1\n", "high = 0.2\n"), encoding="utf-8")
    assert main(["identify", str(config), "--evaluations", "12", "--output", "a"]) == 1
    assert "another configuration" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--train", "nothing*.csv"], "no file matches 'nothing*.csv'"),
        (["--train", "slow.csv", "--held-out", "slow.csv"], "both fitted and held out"),
        (["--threads", "-1"], "--threads is -1"),
        (["--evaluations", "0"], "evaluations"),
        (["--evaluations", "2"], "smaller than the first generation"),
    ],
)
def test_mistakes_are_one_sentence_and_an_exit_code(
    config: Path, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    assert main(["identify", str(config), *words]) in (1, 2)
    shown = " ".join(capsys.readouterr().err.split())
    assert text in shown
    assert "Traceback" not in shown


def stopped(config: Path, how: signal.Signals) -> tuple[int, str]:
    """Begins a fit in the folder `cut` that is stopped after four generations; gives exit code and output."""
    command = [sys.executable, "-m", "nutmeg", "identify", str(config), "--evaluations", EVALUATIONS, "--output", "cut"]
    ends = {"PYTHONPATH": SEARCHED_PATHS, "END_WITH": f"{how.name} 4"}
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | ends,
        timeout=240,
        check=False,
    )
    assert len(Path("cut/search/0/search.jsonl").read_bytes().splitlines()) == 5
    return done.returncode, done.stdout


@pytest.mark.slow
def test_ctrl_c_saves_and_prints_the_command_that_goes_on(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = identify(capsys, config, "--evaluations", EVALUATIONS, "--output", "whole")
    code, shown = stopped(config, signal.SIGINT)
    assert code == 130, shown
    resume = next(line.strip() for line in shown.splitlines() if line.strip().startswith("nutmeg identify"))
    assert "--output cut" in resume
    assert numbers(identify(capsys, *shlex.split(resume)[2:])) == numbers(whole)


@pytest.mark.slow
def test_a_killed_fit_goes_on_and_ends_with_the_same_numbers(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = identify(capsys, config, "--evaluations", EVALUATIONS, "--output", "whole")
    code, _ = stopped(config, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert numbers(identify(capsys, config, "--evaluations", EVALUATIONS, "--output", "cut")) == numbers(whole)
