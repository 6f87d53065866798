"""What holds for all tests."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from nutmeg.cli import main

# How long an example takes, or making one, depends on what else the computer does.
settings.register_profile("nutmeg", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nutmeg")

# A shell that runs something in the background lets it ignore SIGINT, and everything started from there does, too:
# tests that press Ctrl-C would wait for ever.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start a hundred processes; each would compile all of Nutmeg's files for itself, which takes it a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def wait_until(true: Callable[[], Any], patience: float = 180.0, *, every: float = 0.005) -> None:
    """Waits for something that happens in another thread or process, and looks every so many seconds."""
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(every)


def last_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What a command printed with `--json`: its last line."""
    found = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert isinstance(found, dict)
    return found


RunJson = Callable[..., dict[str, Any]]
"""The type of the fixture `run_json`."""


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> RunJson:
    """Runs a command that succeeds, with `--json`; returns what it prints."""

    def run(*words: object) -> dict[str, Any]:
        assert main([*map(str, words), "--json"]) == 0
        return last_json(capsys)

    return run


def resident() -> float:
    """Memory of this process [MB]."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmRSS"))
    return float(line.split()[1]) / 1e3
