import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from nutmeg.base.errors import NutmegError
from nutmeg.view.pages.orders import Controls, Drive, Inbox
from nutmeg.view.pages.process import _listen, start_viewer_process


def gone(pid: int, seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


def test_the_page_answers_once_the_viewer_is_started_and_no_longer_when_it_is_stopped(recorded: Path) -> None:
    with start_viewer_process(recorded, port=0) as viewer:
        with urllib.request.urlopen(viewer.url, timeout=120) as answer:
            assert answer.status == 200
        assert viewer.alive
    assert not viewer.alive
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(viewer.url, timeout=120)


def test_a_viewer_of_nothing_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(NutmegError, match=r"absent\.nutmeg"):
        start_viewer_process(tmp_path / "absent.nutmeg", port=0).wait()


def test_the_viewer_of_a_simulation_may_be_started_before_its_recording_begins(tmp_path: Path, toy: Any) -> None:
    viewer = start_viewer_process(tmp_path / "later.nutmeg", port=0, live=True)
    assert viewer.alive
    toy.record(tmp_path / "later.nutmeg", seconds=1)
    with viewer, urllib.request.urlopen(viewer.url, timeout=120) as answer:
        assert answer.status == 200
    assert not viewer.alive


def test_a_viewer_dies_with_a_parent_that_was_killed(recorded: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from nutmeg.view.pages.process import start_viewer_process\n"
        "v = start_viewer_process(Path(sys.argv[1]), port=0); v.wait(); print(v.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(recorded)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    viewer = int(parent.stdout.readline())
    os.kill(parent.pid, 9)
    parent.wait()
    parent.stdout.close()
    assert gone(viewer)


def test_what_a_viewer_says_after_its_address_arrives_in_the_inbox(recorded: Path) -> None:
    inbox = Inbox()
    controls = Controls(inbox=inbox, drive=Drive(robot="a", top=(0.5, 0.3, 1.0)))
    with start_viewer_process(recorded, port=0, controls=controls) as viewer:
        with urllib.request.urlopen(viewer.url, timeout=120) as answer:
            assert answer.status == 200
        assert inbox.take() == []
    assert inbox.refused() == [], "it says nothing that is not an order"


def test_lines_from_a_pipe_become_orders_and_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    inbox, path = Inbox(), tmp_path / "said"
    path.write_text('{"order": "stop"}\n' + 5000 * "x" + '\n{"order": "restart"}\n')
    with path.open() as pipe:
        _listen(pipe, inbox)
    assert [order.order for order in inbox.take()] == ["stop", "restart"]
    assert inbox.refused()
