"""`nutmeg learn` and `nutmeg walk --params` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nutmeg.cli import main

COURSE = """\
name = "tiny"
[[trajectory]]
name = "to and fro"
target = [
  { to = [20, 0], seconds = 0.4, counts = "forward" },
  { to = [-20, 0], seconds = 0.4, counts = "backward" },
  { to = [0, 20], seconds = 0.4, counts = "sideways" },
]
"""


def last_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements of half a second."""
    from nutmeg.learning import measure

    for name, seconds in (("SECONDS", 0.4), ("RUN_UP", 0.2), ("STOPPING", 0.2), ("CHANGE_EVERY", 0.1)):
        monkeypatch.setattr(measure, name, seconds)


@pytest.mark.slow
def test_a_walk_is_learned_further_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(COURSE)
    Path("learn.toml").write_text(
        'task = "dynamic-avg-rewards"\ncourse = "tiny.toml"\nparameters = ["max_step_x", "z_step"]\n'
        'population = 4\nstarts = 1\njudged_starts = 1\nname = "mine"\n'
    )
    call = ["learn", "learn.toml", "--trials", "1", "--output", "run", "--json"]
    assert main([*call, "--generations", "1"]) == 0
    first = last_json(capsys)
    assert (first["generations"], first["evaluations"]) == (1, 4)
    assert set(first["parts"]) == {"forward", "backward", "sideways", "lost"}
    assert main([*call, "--generations", "2"]) == 0
    assert last_json(capsys)["evaluations"] == 8
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "Weights of directions" in page
    assert "to and fro" in page
    assert main([*call, "--generations", "2", "--population", "6"]) == 1
    assert "another configuration" in capsys.readouterr().err
    assert main(["walk", "nao-spark", "--params", "run", "--measure", "--trials", "2", "--json"]) == 0
    measured = last_json(capsys)
    assert measured["walk"] == "mine"
    assert set(measured["speeds"]) == {"forward", "backward", "sideways", "turn"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["walk", "nao-v6", "--params", "initial", "--measure"], "is for the robot 'nao-spark'"),
        (["walk", "nao-spark", "--params", "initial", "--command", "0.1,nan,0"], "three finite numbers"),
        (["walk", "nao-spark", "--params", "initial", "--command", "fast"], "three finite numbers"),
        (["walk", "nao-spark", "--params", "inital"], "Did you mean 'initial'?"),
        (["walk", "nao-spark", "--measure"], "--measure needs --params"),
        (["learn", "--task", "go-to-traget"], "Did you mean 'go-to-target'?"),
        (["learn", "--threads", "0"], "--threads is 0"),
        (["learn", "--population", "2"], "population is 2; allowed is 4 or more"),
        (["learn", "--robot", "nao-v6"], "is for the robot 'nao-spark'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_paragraph(
    call: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(call) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_watched_walk_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "walk.nutmeg"
    call = ["walk", "nao-spark", "--params", "initial", "--command", "0.1,0,0.1", "--seconds", "0.5", "--port", "0"]
    assert main([*call, "--record", str(path), "--json"]) == 0
    assert last_json(capsys)["simulated_s"] == pytest.approx(0.5)
    assert path.exists()
