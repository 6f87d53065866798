import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import viser
import websockets
import zstandard
from websockets import Subprotocol

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.view.pages.process import check_port, start_viewer_process
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
