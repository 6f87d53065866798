"""`nutmeg learn` and `nutmeg walk --params` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nutmeg.cli import main
from nutmeg.recording import Recording

from ..conftest import last_json

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


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements of half a second."""
    from nutmeg.learning import measure

    shorter = {"SPEED_SECONDS": 0.4, "RUN_UP_SECONDS": 0.2, "STOPPING_SECONDS": 0.2, "CHANGE_SECONDS": 0.1}
    for name, seconds in shorter.items():
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
    call = ["learn", "learn.toml", "--trials", "1", "--output", "run", "--no-video", "--json"]
    assert main([*call, "--generations", "1"]) == 0
    first = last_json(capsys)
    assert (first["generations"], first["evaluations"]) == (1, 4)
    assert set(first["parts"]) == {"forward", "backward", "sideways", "lost"}
    assert main([*call, "--generations", "2"]) == 0
    assert last_json(capsys)["evaluations"] == 8
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "Weights of directions" in page
    assert "Course: to and fro" in page
    assert "<video" not in page
    assert main([*call, "--generations", "2", "--population", "6"]) == 1
    assert "another configuration" in capsys.readouterr().err
    assert main(["walk", "measure", "nao-spark", "--params", "run", "--trials", "2", "--json"]) == 0
    measured = last_json(capsys)
    assert measured["walk"] == "mine"
    assert set(measured["speeds"]) == {"forward", "backward", "sideways", "turn"}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A call that learns a little, in an empty folder; walks are filmed for a fifth of a second."""
    from nutmeg.commands import walk_film

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(walk_film, "WALK_PLAN", (("forward", (1.0, 0.0), 0.1), ("turn", None, 0.1)))
    course = tmp_path / "tiny.toml"
    course.write_text(COURSE)
    budget = ["--population", "4", "--generations", "2", "--starts", "1", "--trials", "1"]
    return ["learn", "--task", "dynamic-rewards", "--course", str(course), *budget, "--json"]


@pytest.mark.slow
def test_the_learned_walk_is_filmed_and_the_report_shows_it(
    tiny: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*tiny, "--output", "run"]) == 0
    assert last_json(capsys)["video"] == "run/best.mp4"
    film = (tmp_path / "run" / "best.mp4").read_bytes()
    assert film[4:8] == b"ftyp"
    assert '<video controls loop muted playsinline src="best.mp4">' in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_without_a_renderer_a_walk_is_learned_all_the_same_and_the_package_is_named(
    tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nutmeg.sim.cameras import renderer

    monkeypatch.setattr(renderer, "RENDERERS", ("egl-that-is-not-there",))
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    renderer.working_renderer.cache_clear()
    try:
        assert main([*tiny, "--output", "run"]) == 0
    finally:
        renderer.working_renderer.cache_clear()
    said = capsys.readouterr()
    assert json.loads(said.out.strip().splitlines()[-1])["video"] is None
    assert "no video" in said.err
    assert "libosmesa6" in said.err
    assert not (tmp_path / "run" / "best.mp4").exists()
    assert (tmp_path / "run" / "params.toml").exists()
    assert "<video" not in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_processes_and_a_cluster_learn_the_same_walk_to_the_last_bit(
    tiny: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from nutmeg.bench.evaluation import LocalCluster

    def learned(name: str, *where: str) -> dict[str, Any]:
        assert main([*tiny, "--no-video", "--output", name, *where]) == 0
        assert last_json(capsys)["failures"] == 0
        numbers = json.loads((tmp_path / name / "results.json").read_text())
        del numbers["seconds"]
        log = (tmp_path / name / "search" / "parts.jsonl").read_text()
        return {"log": log, "results": numbers}

    alone = learned("alone")
    assert learned("processes", "--threads", "2") == alone
    with LocalCluster() as cluster:
        cluster.start_worker()
        assert learned("cluster", "--cluster", cluster.address) == alone


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["walk", "measure", "nao-v6", "--params", "initial"], "is for the robot 'nao-spark'"),
        (["walk", "nao-spark", "--params", "initial", "--command", "0.1,nan,0"], "three finite numbers"),
        (["walk", "nao-spark", "--params", "initial", "--command", "fast"], "three finite numbers"),
        (["walk", "nao-spark", "--params", "inital"], "Did you mean 'initial'?"),
        (["walk", "nao-spark", "--measure"], "is now a sub-command"),
        (["walk", "measure", "nao-spark", "--params", "initial", "--seed", "-1"], "--seed is -1; allowed is 0"),
        (["walk", "measure", "nao-spark", "--params", "initial", "--trials", "0"], "allowed is 1 or more"),
        (["walk", "nao-spark", "--params", "initial", "--seconds", "-3"], "--seconds is -3"),
        (["walk", "nao-spark", "--params", "initial", "--seconds", "nan"], "--seconds is nan"),
        (["learn", "--task", "go-to-traget"], "Did you mean 'go-to-target'?"),
        (["learn", "--threads", "-1"], "--threads is -1"),
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


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("phi_length = 9.0", "phi_length is 9; allowed is 0.03..0.6"),
        ("z_step = nan", "is not a number"),
        ("phi_lenght = 0.1", "Did you mean 'phi_length'?"),
    ],
)
def test_a_file_with_impossible_parameters_is_refused_with_its_line_and_what_is_allowed(
    numbers: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(f'format = 1\nrobot = "nao-spark"\n[walk]\n{numbers}\n')
    assert main(["walk", "measure", "nao-spark", "--params", str(path)]) == 1
    told = capsys.readouterr().err
    assert f"{path}, line" in told
    assert said in told


def test_a_measurement_has_speeds_stopping_distances_and_falls_as_a_table_and_as_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["walk", "measure", "nao-spark", "--params", "initial", "--trials", "2", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out.strip().splitlines()[-1])
    assert list(found["speeds"]) == ["forward", "backward", "sideways", "turn"]
    assert list(found["stopping"]) == ["forward", "backward", "sideways"]
    for one in (*found["speeds"].values(), *found["stopping"].values()):
        assert set(one) == {"mean", "se", "falls", "trials"}
        assert one["trials"] == 2
    for word in ("forward", "backward", "sideways", "turn", "to stop", "falls", "rad/s"):
        assert word in said.err


def test_a_watched_walk_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "walk.nutmeg"
    call = ["walk", "nao-spark", "--params", "initial", "--command", "0.1,0,0.1", "--seconds", "0.5", "--port", "0"]
    assert main([*call, "--record", str(path), "--json"]) == 0
    assert last_json(capsys)["simulated_s"] == pytest.approx(0.5)
    events = Recording.open(path).events
    assert [(event["kind"], event["ahead"], event["turn"]) for event in events] == [("drive", 0.1, 0.1)]
