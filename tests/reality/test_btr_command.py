from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nutmeg.benchmark.local_cluster import LocalCluster
from nutmeg.body.identified import read_body
from nutmeg.cli import main
from nutmeg.motion.sinusoid import read_gait

PENDULUM = Path(__file__).parents[2] / "examples" / "pendulum"
GAIT = """
[gaits.sway]
frequency = 1.5
joints = { swing = { theta = 0.3, a = 0.4 } }
"""
CONFIG = f"""
seed = 3
[robot]
robot = "{PENDULUM}"
field = "none"
[simulation.damping]
low = 0.01
high = 0.3
start = 0.05
scale = "log"
sets = ["joint.swing.damping"]
[controller]
gait = "sway"
file = "gaits.toml"
search = ["amplitude", "centre"]
seconds = 0.4
[fitness]
kind = "swing"
[distance]
kind = "rms"
[reality]
kind = "REALITY"
values = {{ damping = 0.2 }}
[controller_search]
generations = 2
genetic = {{ population = 4 }}
[simulation_search]
generations = GENERATIONS
genetic = {{ population = 5 }}
[transfer]
trials = 2
[stop]
iterations = 2
"""


def config(folder: Path, reality: str = "hidden", generations: int = 3) -> Path:
    (folder / "gaits.toml").write_text(GAIT, encoding="utf-8")
    file = folder / "btr.toml"
    file.write_text(CONFIG.replace("REALITY", reality).replace("GENERATIONS", str(generations)), encoding="utf-8")
    return file


def result(text: str) -> dict[str, object]:
    found = json.loads(text.splitlines()[-1])
    return {key: value for key, value in found.items() if key not in ("seconds", "folder")}


def test_a_run_leaves_a_controller_a_body_a_figure_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["btr", str(config(tmp_path)), "--output", str(folder), "--json"]) == 0
    out = capsys.readouterr()
    found = json.loads(out.out.splitlines()[-1])
    assert found["seed"] == 3
    assert found["trials_in_reality"] == 3
    assert "phi" in out.err, "progress"
    assert read_body(folder / "params.toml").parameters["damping"].value == found["simulation"]["damping"]
    gait = read_gait(folder / "controller.toml", "controller")
    assert gait.joints["swing"].a == found["controller"]["swing.a"]
    assert (folder / "figure3.png").read_bytes().startswith(b"\x89PNG")
    assert "Back-to-Reality" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "results.json").read_text())["simulation"] == found["simulation"]


def test_another_mode_seed_and_length_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["btr", str(config(tmp_path)), "--mode", "none", "--seed", "5", "--iterations", "1", "--json"]
    assert main([*words, "--output", str(tmp_path / "run")]) == 0
    found = result(capsys.readouterr().out)
    assert (found["mode"], found["seed"]) == ("none", 5)
    assert not (tmp_path / "run" / "params.toml").exists()
    assert main([*words, "--threads", "0", "--output", str(tmp_path / "other")]) == 2


@pytest.mark.slow
def test_an_interrupted_or_killed_command_says_how_to_go_on_and_ends_the_same(tmp_path: Path) -> None:
    file = config(tmp_path, generations=20)

    def start(folder: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nutmeg", "btr", str(file), "--output", str(tmp_path / folder), "--json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    whole = start("whole").communicate(timeout=120)[0]
    for how in (signal.SIGINT, signal.SIGKILL):
        running = start(how.name)
        search = tmp_path / how.name / "search" / "00-simulations" / "search.jsonl"
        while running.poll() is None and not (search.exists() and search.read_bytes().count(b"\n") > 3):
            time.sleep(0.02)
        os.kill(running.pid, how)
        error = running.communicate(timeout=60)[1]
        if how is signal.SIGINT:
            assert running.returncode == 130
            assert f"nutmeg btr {file} --output" in " ".join(error.split())
        assert result(start(how.name).communicate(timeout=120)[0]) == result(whole)


@pytest.mark.slow
def test_a_laboratory_can_take_its_time(tmp_path: Path) -> None:
    """A second process stands in for people: it answers what it finds in the folder, one trial at a time."""
    file = config(tmp_path, reality="manual")
    folder = tmp_path / "run" / "laboratory"
    command = [sys.executable, "-m", "nutmeg", "btr", str(file), "--output", str(tmp_path / "run"), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answered: set[str] = set()
    until = time.monotonic() + 120
    while running.poll() is None:
        if time.monotonic() > until:
            running.kill()
        for asked in sorted(folder.glob("to_try/*.csv")):
            if asked.stem in answered:
                continue
            rows = [line.split(",") for line in asked.read_text().splitlines()[1:]]
            log = "".join(f"{t},{0.3 + 0.8 * (float(c) - 0.3):.6f}\n" for t, c in rows)
            (folder / "results" / asked.name).write_text(f"time,angles.swing\n{log}", encoding="utf-8")
            answered.add(asked.stem)
        time.sleep(0.05)
    out, error = running.communicate()
    assert running.returncode == 0, error
    assert result(out)["trials_in_reality"] == len(answered) == 3


@pytest.mark.slow
def test_kill_9_of_a_worker_and_of_the_whole_run_change_nothing_on_a_cluster(tmp_path: Path) -> None:
    file = config(tmp_path, generations=20)

    def start(folder: str, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nutmeg", "btr", str(file), "--output", str(tmp_path / folder), "--json"]
        return subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(lines: int, running: subprocess.Popen[str]) -> None:
        search = tmp_path / "killed" / "search" / "00-simulations" / "search.jsonl"
        while running.poll() is None and not (search.exists() and search.read_bytes().count(b"\n") > lines):
            time.sleep(0.02)

    with LocalCluster() as cluster:
        cluster.start_worker()
        victim = cluster.start_worker()
        running = start("killed", "--cluster", cluster.address)
        wait_for(2, running)
        victim.kill()
        wait_for(6, running)
        running.kill()
        running.communicate(timeout=60)
        assert running.returncode == -signal.SIGKILL
        found, error = start("killed", "--cluster", cluster.address).communicate(timeout=120)
    assert found, error
    assert result(found) == result(start("whole", "--threads", "2").communicate(timeout=120)[0])
