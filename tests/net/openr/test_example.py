"""The example program, and the command line, as people use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.configuration import settings_for

from .conftest import Serve

EXAMPLE = Path(__file__).parents[3] / "examples" / "openr_legs.py"


@pytest.mark.slow
def test_the_example_marks_time(serve: Serve) -> None:
    with serve(settings_for(["ers210"], first_port=0, pictures=False), lock_step=True) as served:
        (_, sensors), (_, commands) = served.address()
        command = [sys.executable, str(EXAMPLE), "--port", str(sensors), "--commands", str(commands), "--steps", "4"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "ERS-210 with 43 primitives"
    assert lines[1] == "8 of 8 paws left the ground"
    assert lines[2] == "at rest it feels -9.81 m/s2 upward"


@pytest.mark.slow
def test_the_command_line_serves_what_a_file_names(tmp_path: Path) -> None:
    config = tmp_path / "aibos.toml"
    robot = '[[robot]]\nmodel = "ers7"\nsensors = "127.0.0.1:0"\ncommands = "127.0.0.1:0"\nawake = true\n'
    config.write_text(f'field = "floor"\nball = "none"\n{robot}')
    command = [sys.executable, "-m", "nutmeg", "serve", "openr", "--config", str(config)]
    options = ["--no-view", "--no-graphics", "--no-record", "--seconds", "600"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            assert server.stdout is not None
            told = [server.stdout.readline(), server.stdout.readline()]
            assert told[1] == "ready\n"
            words = told[0].replace(";", " ").split()
            ports = [int(word) for word in words if word.isdecimal()]
            with OpenrClient(("127.0.0.1", ports[0]), ("127.0.0.1", ports[1])) as robot_:
                robot_.move({"NECK:pan": 0.4}, seconds=0.2)
                vectors = robot_.sensors()
                for _ in range(12):
                    sensors = next(vectors)
                assert sensors["NECK:pan"] == pytest.approx(0.4, abs=0.02)
        finally:
            server.terminate()
            server.wait(180)
    assert server.returncode == 0
