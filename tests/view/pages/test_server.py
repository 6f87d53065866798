"""The process of the viewer: ports, pages, orders, and how it ends."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import viser
import websockets
import zstandard
from websockets import Subprotocol

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UsageError
from nutmeg.view.pages.orders import Controls, Drive, Inbox
from nutmeg.view.pages.process import _listen, check_port, start_viewer_process
from nutmeg.view.pages.server import ViewerSettings, open_server, serve_recording


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_is_named_together_with_the_way_out(taken_port: int, recorded: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=rf"port {taken_port} .*--port"):
        serve_recording(ViewerSettings(path=recorded, port=taken_port))
    with pytest.raises(EnvironmentProblem, match=rf"port {taken_port} .*--port"):
        start_viewer_process(recorded, port=taken_port)


def test_a_server_listens_on_this_machine_only_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with open_server("127.0.0.1", 0) as server:
        port = server.get_port()
        with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            said = b"".join(iter(lambda: client.recv(65536), b""))  # until the server has closed its end, too
        assert said.startswith(b"HTTP/1.1 200")
    assert port > 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("host", "port"), [("203.0.113.7", 0), ("no.such.host.invalid", 0)])
def test_an_address_of_another_machine_is_refused(host: str, port: int) -> None:
    with pytest.raises(EnvironmentProblem):
        check_port(host, port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("127.0.0.1", -1), ("", 0)])
def test_what_is_no_address_at_all_is_a_wrong_call(host: str, port: int) -> None:
    with pytest.raises(UsageError):
        check_port(host, port)


def test_a_port_in_use_names_one_that_is_free_and_not_the_next() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentProblem, match=f"port {port} on 127.0.0.1 is already in use") as caught:
            check_port("127.0.0.1", port, "--agent-port")
    other = int(str(caught.value).split("--agent-port ")[1].rstrip("."))
    assert other == 8080 or (other >= port + 10 and (other - port) % 10 == 0)
    check_port("127.0.0.1", other)


CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, -9.0, 5.0), "fov": 0.6, "near": 0.1,
    "far": 100.0, "image_height": 600, "image_width": 900, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip
"""What a browser says first."""


async def watch_until_it_moves(url: str) -> None:
    """A browser as the server sees it: it tells where its camera is, and leaves when it has seen something move."""
    protocol = Subprotocol(f"viser-v{viser.__version__}")
    async with websockets.connect(url.replace("http", "ws"), subprotocols=[protocol], max_size=None) as browser:
        await browser.send(msgspec.msgpack.encode(CAMERA))
        moved: set[tuple[float, ...]] = set()
        while len(moved) < 5:
            data = await browser.recv()
            assert isinstance(data, bytes)
            length, end = int.from_bytes(data[:8], "little"), 16 + int.from_bytes(data[8:16], "little")
            table = msgspec.msgpack.decode(zstandard.decompress(data[16:end], max_output_size=length))
            moves = [
                m for m in table["messages"] if m["type"] == "SetPositionMessage" and m["name"].endswith("ball:ball")
            ]
            moved |= {tuple(move["position"]) for move in moves}


def test_twenty_browsers_watch_at_once_and_one_that_leaves_early_disturbs_nobody(tmp_path: Path, toy: Any) -> None:
    async def crowd(url: str) -> None:
        early = asyncio.create_task(watch_until_it_moves(url))
        others = [asyncio.create_task(watch_until_it_moves(url)) for _ in range(20)]
        await asyncio.sleep(0.5)
        early.cancel()  # closes its tab, wherever it is
        await asyncio.wait_for(asyncio.gather(*others), timeout=600)

    path = toy.record(tmp_path / "long.nutmeg", seconds=600, rate=5)
    with start_viewer_process(path, port=0, plot=("ball.speed", "a.angles", "b.pose")) as viewer:
        asyncio.run(crowd(viewer.url))
        assert viewer.alive


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
