"""The examples of the documentation run as they are written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nutmeg.base.settings import read
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.recording import CsvMap, Recording, import_csv
from nutmeg.sim import Worlds

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.slow
def test_the_ant_walks_in_every_world_and_is_recorded(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "ant_walk.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    ways = [float(line.split()[-2]) for line in done.stdout.splitlines()]
    assert len(ways) == 16
    assert min(ways) > 1.0
    recording = Recording.open(tmp_path / "ant.nutmeg")
    assert recording.finished
    start, end = (recording.read("ant.pose", row, row + 1)[0] for row in (0, len(recording) - 1))
    assert end[0] - start[0] == pytest.approx(ways[0], abs=0.01)


@pytest.mark.parametrize("name", ["pendulum", "arm", "arm/arm.xml", "arm/arm.urdf", "servo_xl330"])
def test_the_robots_of_the_examples_build_and_run(name: str) -> None:
    path = EXAMPLES / name
    assert path.exists(), "an example that the documentation names"
    worlds = Worlds(assemble(SceneSettings(field="floor", robots=(Placement(robot=str(path)),))))
    worlds.advance(0.4)
    assert not worlds.diverged().any()


def test_the_servo_log_becomes_a_recording(tmp_path: Path) -> None:
    folder = EXAMPLES / "servo_xl330"
    mapping = read(folder / "columns.toml", CsvMap)
    recording = import_csv(folder / "kp200_sin_sin.csv", tmp_path / "servo.nutmeg", mapping)
    assert not recording.problems
    assert set(recording.channels) >= {"servo.goal", "servo.position", "servo.speed"}
    assert len(recording) > 500
