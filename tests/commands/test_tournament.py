"""`nutmeg tournament` on the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nutmeg.cli import main
from nutmeg.match.series.series import GameResult
from nutmeg.match.series.settings import Entrant, SeriesSettings, read_series
from nutmeg.recording import Recording
from nutmeg.view.reports.report import page
from nutmeg.view.reports.series import SeriesReport, series_page

from ..conftest import RunJson, wait_until

CONFIG = """\
name = "tiny"
games = 1
players = 1
half_length = 0.6
halves = 1
wait_before_kick_off = 0.1
[[team]]
name = "A"
walk = "holonomic"
[[team]]
name = "B"
walk = "initial"
"""
EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tournament" / "walks.toml"


@pytest.mark.slow
def test_games_are_played_kept_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: RunJson, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(CONFIG)
    first = run_json("tournament", "tiny.toml")
    assert first["games"] == 1
    assert first["pairs"][0]["home"] == "A"
    folder = Path(first["folder"])
    assert folder == Path("runs/tournament-tiny-0")
    assert run_json("tournament", "tiny.toml", "--games", "2")["games"] == 2
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    assert [game["number"] for game in games] == [0, 1]
    kept = json.loads((folder / "results.json").read_text())
    assert kept["results"] == games
    assert "<!doctype html>" in (folder / "report.html").read_text()
    assert main(["tournament", "tiny.toml", "--players", "2", "--json"]) == 1
    assert "another configuration" in capsys.readouterr().err


BEHAVIOURAL = """\
name = "quick"
world = "behavioural"
games = 2
players = 2
half_length = 4.0
halves = 1
wait_before_kick_off = 0.5
[[team]]
decide = "roles"
[[team]]
decide = "everyone-aims"
[[team]]
decide = "mine.py:decide"
"""
OWN = "from nutmeg.match.players.request import Request\n\ndef decide(percept, memory):\n    return Request()\n"


def test_games_of_the_behavioural_world_are_played_in_batches_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: RunJson, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(BEHAVIOURAL)
    Path("mine.py").write_text(OWN)
    first = run_json("tournament", "quick.toml", "--games", "1")
    assert (first["games"], first["broken"], first["world"]) == (3, 0, "behavioural")
    log = Path(first["folder"]) / "games.jsonl"
    kept = log.read_text()
    second = run_json("tournament", "quick.toml")
    assert second["games"] == 6
    assert log.read_text().startswith(kept), "what was played is not played again"
    assert set(second["ratings"]) == {"roles", "everyone-aims", "mine"}
    assert second["ratings"]["mine"]["low"] < second["ratings"]["mine"]["value"]
    assert "rating (95 %)" in (Path(first["folder"]) / "report.html").read_text()
    assert run_json("tournament", "quick.toml", "--output", "all")["pairs"] == second["pairs"], (
        "in one go or in two, the same games"
    )
    Path("mine.py").write_text(OWN + "\n")
    assert main(["tournament", "quick.toml", "--json"]) == 1
    assert "another configuration" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(CONFIG.replace("games = 1", "games = 100000"))
    command = [sys.executable, "-m", "nutmeg", "tournament", "long.toml"]
    log = tmp_path / "runs" / "tournament-tiny-0" / "games.jsonl"

    def games() -> int:
        return log.read_text().count("}\n") if log.exists() else 0

    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            # What was written before stays in the log, even if the signal comes while more is being written.
            wait_until(games, 240.0, every=0.1)
            before = games()
            wait_until(lambda: games() > before, 240.0, every=0.1)
        finally:
            os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "nutmeg tournament long.toml --output runs/tournament-tiny-0" in out
    assert log.read_text().endswith("}\n")


def test_the_example_can_be_read() -> None:
    settings = read_series(EXAMPLE)
    assert len(settings.pairs) == 3
    assert len(settings.walks()) == 3


def test_a_game_of_a_series_is_played_again_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: RunJson
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(
        'name = "s"\nworld = "behavioural"\ngames = 2\nplayers = 2\nhalf_length = 40.0\nseed = 5\n'
        '[[team]]\ndecide = "roles"\n[[team]]\ndecide = "everyone-chases"\n'
    )
    folder = Path(run_json("tournament", "s.toml", "--threads", "1")["folder"])
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    again = run_json("tournament", "s.toml", "--replay", "roles,everyone-chases,2")
    assert again["goals"] == games[1]["goals"]
    falls = [e for e in Recording.open(Path(again["recording"])).events if e["kind"] == "fall"]
    assert len(falls) == sum(games[1]["falls"])
    assert Path(again["report"]).is_file()
    assert (Path(again["report"]).parent / "replay.html").is_file()


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ("A", "give both teams and the number"),
        ("A,B,x", "give both teams and the number"),
        ("A,C,1", "unknown team 'C'. Known teams: A, B."),
        ("A,B,2", "A against B has no game 2"),
        ("B,A,1", "B against A has no game 1"),
    ],
)
def test_a_game_that_was_never_played_is_refused(
    wanted: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(CONFIG)
    assert main(["tournament", "tiny.toml", "--replay", wanted]) != 0
    assert problem in capsys.readouterr().err


class Cells(HTMLParser):
    """The texts of a page's cells, and what is opened but not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def test_the_report_is_whole_and_escapes_what_others_wrote() -> None:
    teams = (Entrant(walk="initial", name="<b>"), Entrant(walk="final", name="B"))
    settings = SeriesSettings(team=teams, games=3, name="a < b")
    results = [GameResult(home="<b>", away="B", number=n, goals=(n + 2, 0)) for n in range(2)]
    results.append(GameResult(home="<b>", away="B", number=2, failure="<script>"))
    report = SeriesReport(settings=settings, results=results, command="nutmeg x", paper={("B", "<b>"): (-8.82, 0.11)})
    text = page(series_page(report))
    cells = Cells()
    cells.feed(text)
    assert not cells.open
    assert text.count("<script") == 1, "our own"
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "nothing from elsewhere"
    assert "+2.50 (0.50)" in cells.text
    assert "paper +8.82 (0.11)" in cells.text
    assert "1 game broke off" in cells.text
    assert 'class="won"' in text


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["none.toml"], 1, "there is no such file"),
        (["tiny.toml", "--threads", "-1"], 2, "--threads is -1"),
        (["tiny.toml", "--games", "0"], 2, "games is 0"),
        (["tiny.toml", "--cluster", "nowhere"], 2, "no address of a Dask scheduler"),
        (["tiny.toml", "--world", "behavioural"], 2, "'A' has no decide"),
    ],
)
def test_wrong_values_are_told(
    options: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(CONFIG)
    assert main(["tournament", *options]) == code
    assert said in capsys.readouterr().err


FORGETFUL = """\
def decide(percept, memory):
    memory["asked"] = memory.get("asked", 0) + 1
    if memory["asked"] % 2:
        raise KeyError("ball")
"""


@pytest.mark.slow
def test_turns_that_a_strategy_loses_are_told_on_the_terminal_in_the_json_and_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("forgetful.py").write_text(FORGETFUL)
    teams = '[[team]]\nname = "forgetful"\ndecide = "forgetful.py:decide"\n[[team]]\nname = "roles"\ndecide = "roles"\n'
    Path("lost.toml").write_text(
        'name = "lost"\nworld = "behavioural"\ngames = 1\nplayers = 2\nhalf_length = 3.0\nhalves = 1\n' + teams
    )
    assert main(["tournament", "lost.toml", "--json"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out.strip().splitlines()[-1])
    lost = answer["teams"]["forgetful"]["lost_turns"]
    assert lost >= 10
    assert answer["lost_turns"] == lost
    assert answer["teams"]["roles"]["lost_turns"] == 0
    assert f"forgetful lost {lost} turns in 1 game" in " ".join(captured.err.split())
    report = (Path(answer["folder"]) / "report.html").read_text()
    assert f"forgetful lost {lost} turns" in report
    kept = json.loads((Path(answer["folder"]) / "games.jsonl").read_text().splitlines()[0])
    assert sorted(kept["lost_turns"]) == [0, lost]
