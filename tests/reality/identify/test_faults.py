"""`nutmeg identify` while things go wrong: a killed worker or run, a full disk; it ends with the same numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nutmeg.bench.evaluation import LocalCluster

pytestmark = pytest.mark.slow

EVALUATIONS = "90"
ALTERED = Path(__file__).parents[2] / "altered"
SEARCHED_PATHS = os.pathsep.join([str(ALTERED), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="module")
def config(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = bench.logs(tmp_path_factory.mktemp("bench"))
    assert isinstance(found, Path)
    return found


@pytest.fixture(scope="module")
def whole(config: Path) -> dict[str, Any]:
    """What is found undisturbed, in one thread."""
    return finished(begun(config, "whole"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as started:
        started.start_worker()
        yield started


def begun(config: Path, folder: str, *words: str, ends: str = "") -> subprocess.Popen[str]:
    """A fit in a process of its own, which may end itself."""
    command = [sys.executable, "-m", "nutmeg", "identify", str(config), "--evaluations", EVALUATIONS, *words]
    return subprocess.Popen(
        [*command, "--output", folder, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=config.parent,
        env=os.environ | ({"PYTHONPATH": SEARCHED_PATHS, "END_WITH": ends} if ends else {}),
    )


def finished(run: subprocess.Popen[str]) -> dict[str, Any]:
    """What a fit says in the end, but for the time it took."""
    out, error = run.communicate(timeout=240)
    assert run.returncode == 0, error
    return {key: value for key, value in json.loads(out.splitlines()[-1]).items() if key != "seconds"}


def after_generations(count: int, run: subprocess.Popen[str], folder: Path, then: Callable[[], None]) -> None:
    """Waits until so many generations are saved, and does something."""
    saved = folder / "search" / "0" / "search.jsonl"
    while not (saved.exists() and saved.read_bytes().count(b"\n") > count):
        assert run.poll() is None, run.communicate()[1]
        time.sleep(0.02)
    then()


def test_kill_9_of_a_worker_changes_nothing(config: Path, whole: dict[str, Any], cluster: LocalCluster) -> None:
    victim = cluster.start_worker()
    run = begun(config, "worker", "--cluster", cluster.address)
    after_generations(2, run, config.parent / "worker", victim.kill)
    found = finished(run)
    assert victim.wait() == -signal.SIGKILL
    assert found == whole


def test_kill_9_of_a_whole_run_on_a_cluster_loses_only_the_unfinished_generation(
    config: Path, whole: dict[str, Any], cluster: LocalCluster
) -> None:
    run = begun(config, "run", "--cluster", cluster.address, ends="SIGKILL 3")
    run.communicate(timeout=240)
    assert run.returncode == -signal.SIGKILL
    saved = config.parent / "run" / "search" / "0" / "search.jsonl"
    before = saved.read_bytes()
    assert finished(begun(config, "run", "--cluster", cluster.address)) == whole
    assert saved.read_bytes().startswith(before[: before.rfind(b"\n")])


def test_a_full_disk_is_said_and_after_making_room_the_fit_goes_on(config: Path, whole: dict[str, Any]) -> None:
    run, saved = begun(config, "full", ends="FULL 2"), config.parent / "full" / "search" / "0" / "search.jsonl"
    error = run.communicate(timeout=240)[1]
    assert run.returncode == 1
    assert "could not be saved: File too large" in " ".join(error.split())
    assert "Traceback" not in error
    before = saved.read_bytes()
    assert before.count(b"\n") > 2
    assert finished(begun(config, "full")) == whole
    assert saved.read_bytes().startswith(before[: before.rfind(b"\n")])
