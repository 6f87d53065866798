"""`nutmeg serve lola` on the command line: a process of its own, sockets, signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.cli import main
from nutmeg.commands.serve_robots import OpenrArguments, _openr
from nutmeg.commands.serving import ServerLog
from nutmeg.net.lola.client import LolaClient
from nutmeg.net.openr.port import OpenrPort
from nutmeg.recording import Recording


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: that of a Unix socket has at most a hundred characters."""
    with TemporaryDirectory(prefix="nutmeg-") as path:
        yield Path(path)


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A server that is ready."""
    command = [sys.executable, "-W", "error", "-m", "nutmeg", "serve", "lola", "--field", "floor"]
    command += ["--socket", str(folder / "robocup"), "--json", *options]
    process = subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", process.communicate()[1]
    return process


def test_two_robots_are_served_until_ctrl_c_and_recorded(folder: Path) -> None:
    process = started(
        folder, "--robots", "2", "--no-view", "--lock-step", "--clients", "2", "--patience", "600", "--show-schedule"
    )
    with LolaClient.connect(folder / "robocup") as one, LolaClient.connect(folder / "robocup-2") as two:
        for _ in range(30):
            for client in (one, two):
                client.sense()
                client.send()
    process.send_signal(signal.SIGINT)
    out, problems = process.communicate(timeout=240)
    assert process.returncode == 0, problems
    result = json.loads(out.splitlines()[-1])
    assert result["robots"] == ["nao-v6-1", "nao-v6-2"]
    assert result["answers"] >= 58
    assert {row["task"] for row in result["schedule"]} >= {"sense", "lola", "motors", "record", "dynamics"}
    assert "tasks (times in ms)" in problems
    assert Recording.open(folder / result["recording"]).finished
    assert not (folder / "robocup").exists()


def test_a_run_ends_by_itself_after_its_time(folder: Path) -> None:
    process = started(folder, "--no-record", "--seconds", "0.6", "--actuation", "ideal", "--no-noise")
    out, problems = process.communicate(timeout=240)
    assert process.returncode == 0, problems
    result = json.loads(out.splitlines()[-1])
    assert result["simulated_s"] == pytest.approx(0.6)
    assert (result["recording"], result["url"], result["packets"]) == (None, None, 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--real-time", "--lock-step"], "do not go together"),
        (["--robot", "ers7"], "LoLA is the interface of nao-v6"),
        (["--robots", "99"], "allowed is 1..20"),
        (["--robots", "3", "--socket", "a", "b"], "2 sockets for 3 robots"),
        (["--socket", "a", "a"], "the same socket twice"),
        (["--clients", "2"], "--clients is 2"),
        (["--config", "x.toml"], "Unrecognized options"),
        (["--awake"], "Unrecognized options"),
        (["--socket", "no/such/folder/robocup", "--no-record"], "cannot listen on the socket"),
        (["--port", "99999"], "--port is 99999; allowed is 0..65535"),
        (["--record", "x.nutmeg", "--no-record"], "do not go together"),
    ],
)
def test_options_that_make_no_sense_are_told(
    options: list[str], reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert main(["serve", "lola", "--no-view", *options]) in (2, 3)
    assert reason in " ".join(capsys.readouterr().err.split())


def test_pose_and_awake_are_the_same_on_the_command_line_as_in_a_file(tmp_path: Path) -> None:
    chosen = OpenrArguments(robot="ers210", robots=2, pose="stand", awake=True, no_record=True)
    with ServerLog(lambda _line: None) as log:
        settings, port, _ = _openr(chosen, log)
        assert [placed.pose for placed in settings.robots] == ["stand", "stand"]
        assert isinstance(port, OpenrPort)
        assert [robot.awake for robot in port.settings.robot] == [True, True]
        plain = _openr(OpenrArguments(no_record=True), log)
        assert plain[0].robots[0].pose == "ready"
        with pytest.raises(UsageError, match=r"write `pose` and `awake` under \[\[robot\]\]"):
            _openr(OpenrArguments(config=tmp_path / "aibos.toml", awake=True), log)


def test_every_protocol_has_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "lola", "--help"]) == 0
    assert "--camera-port" in capsys.readouterr().out
    assert main(["serve", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--agent-port" in shown
    assert "nutmeg serve lola" in shown
