"""A Nao behind a LoLA socket, and clients that are as bad as they like."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nutmeg.model.scene import Placement
from nutmeg.net.connection import Report
from nutmeg.net.host.robot_host import HostSettings, RobotHost
from nutmeg.net.lola.port import LolaPort


class Served:
    """A host that runs in a thread of its own."""

    def __init__(self, host: RobotHost, port: LolaPort, reports: list[Report]) -> None:
        self.host, self.port, self.reports = host, port, reports
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.host.run()
        except BaseException as error:  # noqa: BLE001 (told by `stop`)
            self.failure = error

    def path(self, number: int = 1) -> Path:
        return self.port.paths[f"nao-{number}"]

    def connect(self, number: int = 1) -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(120)
        for _ in range(6000):
            try:
                client.connect(str(self.path(number)))
            except BlockingIOError:  # many wait to be accepted
                time.sleep(0.02)
            else:
                break
        return client

    def stop(self) -> None:
        self.host.stop()
        self._thread.join(120)
        assert not self._thread.is_alive()
        self.host.close()
        if self.failure is not None:
            raise self.failure


def whole(client: socket.socket, size: int = 896) -> bytes:
    """So many bytes, however they come."""
    data = b""
    while len(data) < size:
        piece = client.recv(size - len(data))
        assert piece, "the server ended the connection"
        data += piece
    return data


@contextmanager
def serving(robots: int = 1, **settings: object) -> Iterator[Served]:
    """Naos on a plain floor, as fast as clients answer unless told otherwise."""
    with TemporaryDirectory(prefix="nutmeg-lola-") as folder:
        actuation = settings.pop("actuation", "servo")
        placements = tuple(
            Placement(robot="nao-v6", name=f"nao-{k}", pos=(0.0, 1.0 * k), actuation=actuation)  # type: ignore[arg-type]
            for k in range(1, robots + 1)
        )
        reports: list[Report] = []
        pictures = settings.pop("pictures", None)
        paths = {placement.name: Path(folder) / placement.name for placement in placements}
        port = LolaPort(paths, report=reports.append, pictures=pictures)  # type: ignore[arg-type]
        chosen = {"field": "floor", "lock_step": True, "settle": 0.2, "patience": 600.0, **settings}
        cameras = chosen.pop("cameras", None)
        host = RobotHost(HostSettings(robots=placements, **chosen), [port], cameras=cameras)  # type: ignore[arg-type]
        served = Served(host, port, reports)
        try:
            yield served
        finally:
            served.stop()


@pytest.fixture(name="serving", scope="session")
def _serving() -> Callable[..., AbstractContextManager[Served]]:
    return serving


@pytest.fixture(name="whole", scope="session")
def _whole() -> Callable[..., bytes]:
    return whole


@pytest.fixture(scope="module")
def nao() -> Iterator[Served]:
    """One Nao in lock-step for all tests of a module."""
    with serving() as served:
        yield served
