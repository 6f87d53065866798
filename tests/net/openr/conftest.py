"""AIBOs served in a thread of their own, on free ports."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from nutmeg.net.host.cameras import CameraFeed
from nutmeg.net.host.robot_host import HostSettings, RobotHost
from nutmeg.net.openr.configuration import OpenrSettings, host_settings, settings_for
from nutmeg.net.openr.port import OpenrPort, Seat
from nutmeg.sim.worlds import Worlds

Serve = Callable[..., contextlib.AbstractContextManager["Served"]]


@dataclass
class Served:
    """A running server."""

    host: RobotHost
    port: OpenrPort
    said: list[str] = field(default_factory=list)

    @property
    def seat(self) -> Seat:
        """The first robot."""
        return next(iter(self.port.seats.values()))

    def address(self, robot: int = 0) -> tuple[tuple[str, int], tuple[str, int]]:
        """Where a robot listens."""
        return list(self.port.seats.values())[robot].addresses


@contextlib.contextmanager
def serving(
    settings: OpenrSettings | None = None,
    *,
    lock_step: bool = False,
    host: HostSettings | None = None,
    cameras: Callable[[Worlds], CameraFeed] | None = None,
) -> Iterator[Served]:
    """A server that runs until the block ends; in lock-step, as fast as its clients."""
    chosen = settings or settings_for(first_port=0, pictures=False)
    said: list[str] = []
    port = OpenrPort(chosen, report=lambda r: said.append(f"{r.kind} {r.client}: {r.text}"))
    with RobotHost(
        host or host_settings(chosen, lock_step=lock_step, noise=False, patience=600.0), [port], cameras=cameras
    ) as running:
        thread = threading.Thread(target=running.run, name="openr server")
        thread.start()
        try:
            yield Served(running, port, said)
        finally:
            running.stop()
            thread.join(120)
    assert not thread.is_alive()


@pytest.fixture(name="serve")
def _serve() -> Serve:
    return serving
