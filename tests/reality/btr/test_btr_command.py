from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nutmeg.bench.evaluation import LocalCluster
from nutmeg.cli import main
from nutmeg.model.identified import read_body
from nutmeg.motion.sinusoid import read_gait
from nutmeg.recording import Recording

ALTERED = Path(__file__).parents[2] / "altered"
SEARCHED_PATHS = os.pathsep.join([str(ALTERED), *filter(None, [os.environ.get("PYTHONPATH")])])
PENDULUM = Path(__file__).parents[3] / "examples" / "pendulum"
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
    swing = Recording.open(folder / "best.nutmeg")
    assert swing.duration == pytest.approx(0.4, abs=0.03)
    assert np.ptp(swing.read("robot.angles")) > 0.1, "the best controller swings"


EXTEND = """
[extend.terms.delay]
low = 0.0
high = 0.08
start = 0.0
unit = "s"
sets = ["delay"]
"""


def test_a_term_that_reality_has_is_freed_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = config(tmp_path), tmp_path / "run"
    text = file.read_text(encoding="utf-8").replace("damping = 0.2", "damping = 0.05, delay = 0.04")
    file.write_text(text.replace("trials = 2", "trials = 4") + EXTEND, encoding="utf-8")
    assert main(["btr", str(file), "--output", str(folder), "--json"]) == 0
    out = capsys.readouterr()
    found = json.loads(out.out.splitlines()[-1])
    assert found["iterations"][0]["extension"]["freed"] == "delay"
    assert "delay joins the searched numbers: phi falls from" in out.err
    parameters = read_body(folder / "params.toml").parameters
    assert parameters["delay"].sets == ("delay",)
    assert parameters["delay"].value == found["simulation"]["delay"] > 0.02
    assert "delay joins the searched numbers" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "best.nutmeg").exists(), "the controller in the simulation with the term"


def test_another_mode_seed_and_length_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["btr", str(config(tmp_path)), "--mode", "none", "--seed", "5", "--iterations", "1", "--json"]
    assert main([*words, "--output", str(tmp_path / "run")]) == 0
    found = result(capsys.readouterr().out)
    assert (found["mode"], found["seed"]) == ("none", 5)
    assert not (tmp_path / "run" / "params.toml").exists()
    assert main([*words, "--threads", "-1", "--output", str(tmp_path / "other")]) == 2


def started(file: Path, folder: Path, *words: str, ends: str = "") -> subprocess.Popen[str]:
    """The command in a process of its own, which may end itself while it searches its first simulations."""
    command = [
        sys.executable,
        "-m",
        "nutmeg",
        "btr",
        str(file),
        "--output",
        str(folder),
        "--json",
        "--no-video",
        *words,
    ]
    own = {"PYTHONPATH": SEARCHED_PATHS, "END_WITH": f"{ends} 00-simulations"} if ends else {}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | own)


@pytest.mark.slow
def test_an_interrupted_or_killed_command_says_how_to_go_on_and_ends_the_same(tmp_path: Path) -> None:
    file = config(tmp_path, generations=6)
    whole = started(file, tmp_path / "whole").communicate(timeout=240)[0]
    for how in (signal.SIGINT, signal.SIGKILL):
        running = started(file, tmp_path / how.name, ends=f"{how.name} 3")
        error = running.communicate(timeout=240)[1]
        assert running.returncode == {signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}[how], error
        if how is signal.SIGINT:
            assert f"Go on with: nutmeg btr {file} " in " ".join(error.split())
            assert f"--output {tmp_path / how.name}" in " ".join(error.split())
        assert result(started(file, tmp_path / how.name).communicate(timeout=240)[0]) == result(whole)


@pytest.mark.slow
def test_a_laboratory_can_take_its_time(tmp_path: Path) -> None:
    """A second process stands in for people: it answers what it finds in the folder, one trial at a time."""
    file = config(tmp_path, reality="manual")
    folder = tmp_path / "run" / "laboratory"
    running = started(file, tmp_path / "run")
    answered: set[str] = set()
    until = time.monotonic() + 300
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
    file, folder = config(tmp_path, generations=8), tmp_path / "killed"
    search = folder / "search" / "00-simulations" / "search.jsonl"
    with LocalCluster() as cluster:
        cluster.start_worker()
        victim = cluster.start_worker()
        running = started(file, folder, "--cluster", cluster.address, ends="SIGKILL 5")
        while running.poll() is None and not (search.exists() and search.read_bytes().count(b"\n") > 2):
            time.sleep(0.02)
        victim.kill()
        running.communicate(timeout=240)
        assert running.returncode == -signal.SIGKILL
        found, error = started(file, folder, "--cluster", cluster.address).communicate(timeout=240)
    assert found, error
    assert result(found) == result(started(file, tmp_path / "whole", "--threads", "2").communicate(timeout=240)[0])
