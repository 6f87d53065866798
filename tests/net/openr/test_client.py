"""The runtime for programs in Python."""

from __future__ import annotations

import socket
import threading
from collections.abc import Set

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem, UnknownNameError
from nutmeg.net.host.cameras import Picture
from nutmeg.net.openr.client import CameraPicture, OpenrClient, Sensors
from nutmeg.net.openr.configuration import settings_for
from nutmeg.net.openr.packets import ycrcb

from .conftest import Serve


def test_a_move_ends_where_it_was_told(serve: Serve) -> None:
    settings = settings_for(["ers7"], first_port=0, pictures=False, awake=True)
    with serve(settings, lock_step=True) as served, OpenrClient(*served.address()) as robot:
        robot.move({"NECK:pan": 0.8, "PRM:/r6/c2-Joint2:62": -0.3}, seconds=0.6)
        vectors = robot.sensors()
        for _ in range(12):
            sensors = next(vectors)
        assert sensors["NECK:pan"] == pytest.approx(0.8, abs=0.01)
        assert sensors["TAIL:pan"] == pytest.approx(-0.3, abs=0.01)
        assert sensors["acceleration.up"] == pytest.approx(-9.81, abs=0.5)
        assert sensors["LFrPaw"] == 1.0
        assert sensors.all("NECK:pan").shape == (4,)
        assert sensors.raw("NECK:pan")["refValue"].tolist() == [800000] * 4
        with pytest.raises(UnknownNameError, match="NECK:pan"):
            _ = sensors["NECK:pam"]
        with pytest.raises(UnknownNameError, match="joint of ERS-7"):
            robot.command({"chin": [0.0]})


class Slides:
    """A camera before which somebody shows the same slide, every 40 ms."""

    def __init__(self) -> None:
        self.slide = np.random.default_rng(3).integers(0, 256, (144, 176, 3), np.uint8)
        self.wanted: Set[str] = frozenset()
        self._now, self._shown = 0.0, 0

    def want(self, cameras: Set[str]) -> None:
        self.wanted = cameras

    def show(self, time: float, *_: object) -> None:
        self._now = time

    def take(self) -> list[Picture]:
        if not self.wanted or self._now < 0.04 * (self._shown + 1):
            return []
        self._shown += 1
        (camera,) = self.wanted
        return [Picture(camera=camera, time=self._now, sequence=self._shown - 1, pixels=self.slide)]

    def close(self) -> None:
        self.wanted = frozenset()


def test_observers_hear_vectors_and_see_pictures(serve: Serve) -> None:
    slides = Slides()
    settings = settings_for(["ers210"], first_port=0)
    with serve(settings, lock_step=True, cameras=lambda _: slides) as served, OpenrClient(*served.address()) as robot:
        heard: list[Sensors] = []
        seen: list[CameraPicture] = []
        robot.observe_sensors(heard.append)
        robot.observe_pictures(seen.append)
        robot.spin(seconds=0.32)
        assert slides.wanted == {"ers210-1/camera"}
        assert [sensors.sequence for sensors in heard] == list(range(len(heard)))
        assert len(heard) >= 10
        assert [each.sequence for each in seen] == list(range(len(seen)))
        assert len(seen) >= 7
        assert seen[0].time == pytest.approx(0.04)
        np.testing.assert_array_equal(seen[-1].planes, ycrcb(slides.slide))
        assert seen[0].rgb.shape == (144, 176, 3)
        assert robot.missed == 0


def test_what_nobody_takes_is_dropped_and_counted(serve: Serve) -> None:
    with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
        vectors = [robot.command({"NECK:pan": [0.0] * 16}) for _ in range(16)]
        for number in vectors:
            robot.wait_for(number)
        robot.wait_for(robot.command({"NECK:pan": [0.0] * 16}, wait=60))
        assert robot.missed > 0
        newest = next(robot.sensors()).sequence
        assert newest == robot.missed + 63


def test_a_robot_that_is_not_there_says_how_to_start_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = closed.getsockname()
    with pytest.raises(EnvironmentProblem, match="nutmeg serve openr"):
        OpenrClient(address, timeout=1.0)


def test_something_else_that_listens_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sensors, socket.create_server(("127.0.0.1", 0)) as commands:
        sensors.settimeout(120)

        def answer() -> None:
            sock, _ = sensors.accept()
            with sock:
                sock.sendall(b"220 this is a mail server, how do you do\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(EnvironmentProblem, match="no OPEN-R server"):
            OpenrClient(sensors.getsockname(), commands.getsockname(), timeout=120.0)
        thread.join(120)


def test_a_server_that_ends_is_noticed(serve: Serve) -> None:
    with serve() as served:
        robot = OpenrClient(*served.address())
    with robot, pytest.raises(EnvironmentProblem, match=r"closed|broke"):
        for _ in robot.sensors():
            pass
