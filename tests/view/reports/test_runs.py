"""`nutmeg runs`: the list of runs, their comparison, and the page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nutmeg.base.journal import open_run
from nutmeg.cli import main
from nutmeg.view.reports.runs import find_runs, flat


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
    assert "parts.forward" in page


def test_the_recording_of_a_match_is_a_run_with_a_result(runs: Path, match_path: Path) -> None:
    shutil.copytree(match_path, runs / "match-1" / "match.nutmeg")
    match = next(run for run in find_runs(runs) if run.kind == "match")
    assert match.numbers["result"] == "reds 1 : 1 <blues>"
    assert match.state == "finished"


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
