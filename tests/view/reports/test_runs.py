"""`nutmeg runs`: the list of runs, their comparison, and the page."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.journal import open_run
from nutmeg.cli import main
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.view.reports.report import page
from nutmeg.view.reports.runs import Progress, find_runs, flat, progress_report, read_curves


def learn(folder: Path, fitness: float, *, interrupted: bool = False) -> None:
    """A run of `nutmeg learn` as it leaves its folder."""
    try:
        with open_run(folder, command=["nutmeg", "learn"], seed=1, configuration={"a": 1}) as run:
            run.write("results.json", json.dumps({"fitness": fitness, "parts": {"forward": 0.5}, "history": [1, 2]}))
            run.write("report.html", "<p>")
            if interrupted:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    learn(folder / "learn-1", 1.25)
    learn(folder / "learn-2", 2.5, interrupted=True)
    (folder / "notes").mkdir()
    return folder


def test_runs_are_listed_with_their_kind_state_and_numbers(runs: Path) -> None:
    first, second = sorted(find_runs(runs), key=lambda run: run.folder.name)
    assert (first.kind, first.state, first.pages) == ("learn", "finished", ("report.html",))
    assert first.numbers == {"fitness": 1.25, "parts.forward": 0.5}
    assert second.state == "interrupted"
    assert second.key_numbers == "fitness 2.5"


def test_the_page_links_reports_and_puts_chosen_runs_side_by_side(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "learn-1", "learn-2", "--folder", str(runs), "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert [run["name"] for run in answer["runs"]].count("learn-1") == 1
    page = Path(answer["page"]).read_text()
    assert 'href="learn-1/report.html"' in page
    assert "Side by side" in page
    assert "parts: forward" in page


def test_the_recording_of_a_match_is_a_run_with_a_result(runs: Path, match_path: Path) -> None:
    shutil.copytree(match_path, runs / "match-1" / "match.nutmeg")
    match = next(run for run in find_runs(runs) if run.kind == "match")
    assert match.numbers["result"] == "reds 1 : 1 <blues>"
    assert match.state == "finished"


def test_a_match_that_was_interrupted_before_its_first_cycle_is_not_called_finished(runs: Path) -> None:
    manifest = Manifest(kind="match", seed=1, channels=(Channel(name="ball.pose", labels=("x",), unit="m"),))
    RecordingWriter.create(runs / "match-1" / "match.nutmeg", manifest).close()
    match = next(run for run in find_runs(runs) if run.kind == "match")
    assert match.state == "interrupted before its first cycle"


def test_a_damaged_run_is_told_and_hides_no_other(runs: Path) -> None:
    (runs / "learn-2" / "run.json").write_text("{")
    states = {run.folder.name: run.state for run in find_runs(runs)}
    assert states["learn-1"] == "finished"
    assert states["learn-2"].startswith("damaged")


def test_an_unknown_run_and_a_missing_folder_are_errors_that_help(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "learn-3", "--folder", str(runs)]) != 0
    assert "learn-1" in capsys.readouterr().err
    assert main(["runs", "--folder", str(runs / "none")]) != 0
    assert "--output" in capsys.readouterr().err


def test_numbers_of_inner_tables_are_called_by_their_path_and_lists_are_left_out() -> None:
    assert dict(flat({"a": 1, "b": {"c": 2.0, "d": [1]}, "e": True, "f": "x"})) == {"a": 1, "b.c": 2.0, "f": "x"}


def test_the_curves_of_runs_are_drawn_over_each_other(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, first in (("learn-1", 3.0), ("learn-2", 5.0)):
        lines = [{"format": 1}, *({"generation": g, "values": [first - g, None, 9.0]} for g in range(4))]
        (runs / name / "search").mkdir()
        (runs / name / "search" / "search.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["runs", "learn-1", "learn-2", "--folder", str(runs), "--json"]) == 0
    page = Path(json.loads(capsys.readouterr().out.strip().splitlines()[-1])["page"]).read_text()
    assert page.count("<svg") == 1
    assert "lowest value so far" in page
    numbers, values = read_curves(runs / "learn-1")["lowest value so far"]
    assert numbers.tolist() == [1, 2, 3, 4]
    assert values.tolist() == [3.0, 2.0, 1.0, 0.0]


def test_curves_of_back_to_reality_and_of_training_are_read_from_their_folders(tmp_path: Path) -> None:
    tried = [{"tried": [{"real": 0.4}, {"real": None}]}, {"tried": []}, {"tried": [{"real": 0.7}]}]
    (tmp_path / "iterations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in tried))
    for first in (1, 3):  # a file for each block of iterations
        lines = [{"number": n, "cycles": 10 * n, "reward": 0.1 * n} for n in (first, first + 1)]
        (tmp_path / f"progress-{first:06d}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    curves = read_curves(tmp_path)
    assert curves["best in reality"][1] == pytest.approx([0.4, math.nan, 0.7], nan_ok=True)
    assert curves["reward"][0].tolist() == [1, 2, 3, 4]
    assert read_curves(tmp_path / "none") == {}


def test_a_run_that_goes_on_has_a_page_with_what_its_curves_mean(tmp_path: Path) -> None:
    about = Progress(
        title="Training", kind="train", summary="Half of it is done.", command="nutmeg train", video="best.mp4",
        meanings={"falls": "Falls of a robot in a minute."}, next_commands=("nutmeg walk nao-spark",),
    )  # fmt: skip
    text = page(progress_report(about, {"falls": (np.arange(3.0), np.array([4.0, 2.0, 1.0]))}))
    assert text.count("<svg") == 1
    assert "Falls of a robot in a minute." in text
    assert 'src="best.mp4"' in text
    assert "nutmeg walk nao-spark" in text
