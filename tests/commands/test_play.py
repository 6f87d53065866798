"""`nutmeg play`: a match between built-in teams, and what is left of it when it ends, or is ended."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.cli import main
from nutmeg.commands.play import Arguments, Files, command_of, shown_names, team_names
from nutmeg.recording import Recording

from ..conftest import RunJson


def test_a_team_that_plays_against_itself_has_a_second_name() -> None:
    assert team_names("final", "holonomic") == ("final", "holonomic")
    assert team_names("final", "final") == ("final", "final-2")
    assert team_names("walks/mine.toml", "final") == ("mine", "final")
    assert team_names("teams/mine.py:decide", "roles") == ("mine", "roles")


def test_the_command_in_the_report_plays_the_same_match() -> None:
    said = command_of(Arguments(left="my walk.toml", players=2, half=60, seconds=5, seed=9, swap_ends=True))
    assert said.startswith("nutmeg play --left 'my walk.toml' --right final --players 2 --half 60 --seed 9")
    assert said.endswith("--seconds 5 --swap-ends")
    said = command_of(Arguments(world="behavioural", right="a.py:decide", field="spl2025", eyes="e.toml"))
    assert said.startswith("nutmeg play --world behavioural --left roles-pass --right a.py:decide --field spl2025")
    assert "--eyes e.toml --players 4" in said


def test_a_folder_with_a_match_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "match.nutmeg").mkdir()
    with pytest.raises(UsageError, match="has a match already"):
        Files.of(Arguments(output=tmp_path))
    named = Files.of(Arguments(output=tmp_path / "new", record=tmp_path / "my.nutmeg", make_replay=False))
    assert named.record == tmp_path / "my.nutmeg"
    assert named.report == tmp_path / "new" / "report.html"
    assert named.replay is None


def test_a_match_interrupted_before_its_recording_begins_leaves_no_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nutmeg.commands.play.new_match", interrupt)
    assert main(["play", "--no-view"]) == 130
    assert list(Path("runs").iterdir()) == []


def test_a_match_interrupted_before_its_first_row_leaves_no_empty_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: RunJson
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as first_cycle:  # the recording is open, and the functions of a cycle are compiled
        first_cycle.setattr("nutmeg.match.loop.GameLoop.cycle", interrupt)
        assert main(["play", "--no-view", "--world", "behavioural", "--players", "1"]) == 130
    assert list(Path("runs").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--players", "12"], "--players is 12; allowed is 1..11"),
        (["--half", "0"], "--half is 0; allowed is above 0"),
        (["--seconds", "-1"], "--seconds is -1; allowed is 0 or more"),
        (["--left", "finall"], "Did you mean 'final'"),
        (["--right", "nao-v6"], "nao-spark"),
        (["--sonar", "--world", "behavioural"], "--sonar is for the physical world"),
        (["--camera-robot", "nao-v9"], "nao-v6"),
        (["--camera-robot", "nao-v6"], "go with --record-cameras"),
        (["--record-cameras", "--camera-labels", "--camera-format", "mp4"], "a video has neither labels"),
        (["--motions", "absent"], "absent: does not exist; needed is a folder with motions"),
        (["--field", "floor"], "no goals"),
        (["--left", "none.py:decide"], "no such file"),
        (["--world", "behavioural", "--left", "final"], "unknown strategy 'final'"),
        (["--world", "behavioural", "--camera-rate", "11"], "up to 10"),
        (["--world", "behavioural", "--eyes", "cat"], "unknown pair of eyes"),
        (["--world", "behavioural", "--behaviour", "cat"], "cat"),
    ],
)
def test_a_match_that_cannot_be_played_is_refused_before_anything_is_made(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["play", "--no-view", *options]) != 0
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["play", "demo"])
def test_a_match_is_played_recorded_and_reported(name: str, tmp_path: Path, run_json: RunJson) -> None:
    out = tmp_path / "match"
    options = ["--left", "final", "--right", "final", "--players", "1", "--seconds", "4", "--fast", "--no-view"]
    found = run_json(name, *options, "--output", out)
    assert found["teams"] == ["final", "final-2"]
    assert found["simulated_s"] == pytest.approx(4.0)
    assert found["game_time_s"] == pytest.approx(1.0, abs=0.03), "kick-off after three seconds"
    assert found["events"]["play_mode"] >= 1
    assert (out / "report.html").is_file()
    assert (out / "replay.html").is_file()
    recording = Recording.open(Path(found["recording"]))
    assert recording.finished
    assert recording.manifest.config["left"] == "final"
    assert "left1.belief" in recording.channels
    assert any(event["kind"] == "intent" for event in recording.events)
    truth, belief = recording.read("right1.pose")[-1, :2], recording.read("right1.belief")[-1, :2]
    assert belief == pytest.approx(truth, abs=0.5), "it knows where it stands"


OWN = """
from nutmeg.match.players.request import Request, Walk

def decide(percept, memory):
    memory["turns"] = memory.get("turns", 0) + 1
    if memory["turns"] == 5:
        raise RuntimeError("lost my head")
    return Request(legs=Walk(ahead=0.1), intent="straight ahead")
"""


def test_a_match_of_the_behavioural_world_is_played_recorded_and_reported(tmp_path: Path, run_json: RunJson) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    out = tmp_path / "match"
    options = ["--world", "behavioural", "--right", f"{tmp_path}/mine.py:decide", "--players", "1", "--seconds", "4"]
    options += ["--record-cameras", "--camera-rate", "0.5", "--camera-format", "mp4"]
    options += ["--fast", "--no-view", "--no-make-replay"]
    found = run_json("play", *options, "--output", out)
    assert found["teams"] == ["roles-pass", "mine"]
    assert found["simulated_s"] == pytest.approx(4.0)
    assert found["game_time_s"] == pytest.approx(1.0, abs=0.11), "kick-off after three seconds"
    assert (out / "report.html").is_file()
    assert found["camera_pictures"] == 2 * 2 * 2
    assert sorted(file.name for file in (out / "cameras").glob("*.mp4"))[0] == "left1-bottom.mp4"
    recording = Recording.open(Path(found["recording"]))
    assert recording.finished
    assert recording.manifest.config["world"] == "behavioural"
    assert len(recording.times) == 40
    lost = [event for event in recording.events if event["kind"] == "lost_turn"]
    assert "lost my head" in lost[0]["text"]
    truth, belief = recording.read("right1.pose")[-2, :2], recording.read("right1.belief")[-1, :2]
    assert belief == pytest.approx(truth, abs=0.3), "it knows where it stands"


@pytest.mark.slow
def test_a_decide_of_ones_own_plays_in_the_physical_world_as_well(tmp_path: Path, run_json: RunJson) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    options = ["--left", f"{tmp_path}/mine.py:decide", "--right", "roles", "--players", "1", "--seconds", "1"]
    options += ["--fast", "--no-view", "--no-make-replay", "--output", str(tmp_path / "match")]
    found = run_json("play", *options)
    assert found["teams"] == ["mine", "roles"]
    kinds = {event["kind"] for event in Recording.open(Path(found["recording"])).events}
    assert "lost_turn" in kinds


@pytest.mark.slow
def test_ctrl_c_ends_a_match_and_what_was_played_is_reported(tmp_path: Path) -> None:
    out = tmp_path / "match"
    command = [sys.executable, "-m", "nutmeg", "play", "--players", "1", "--no-view", "--output", str(out)]
    process = subprocess.Popen(
        [*command, "--json", "--no-make-replay"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        manifest, deadline = out / "match.nutmeg" / "manifest.toml", time.monotonic() + 240
        while not manifest.exists() or Recording.open(manifest.parent).duration < 0.5:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=240)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, complained
    found = json.loads(said.splitlines()[-1])
    assert not found["over"]
    assert Recording.open(Path(found["recording"])).finished
    assert re.search(r"^\w+ 0 : 0 \w+ after \d+ s$", complained, re.MULTILINE), "the score stands in the terminal"
    assert "cut short" in Path(found["report"]).read_text(encoding="utf-8")


def test_teams_that_nobody_chose_are_shown_by_their_shirts_with_what_they_are_below() -> None:
    assert shown_names(Arguments()) == {
        "titles": ["Blue", "Red"],
        "subtitles": ["runs by a learned network", "walks by learned parameters"],
    }
    shown = shown_names(Arguments(world="behavioural", left="builtin"))
    assert shown == {"titles": ["", "Red"], "subtitles": ["", "one attacker and a keeper"]}
