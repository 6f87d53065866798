"""Robots on ROS topics: roslibpy is understood, a WebSocket client moves a robot, and bad input is survived."""

from __future__ import annotations

import base64
import json
import os
import socket
import threading
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from nutmeg.model.scene import Placement
from nutmeg.net.connection import Report
from nutmeg.net.host.cameras import NoCameras, Picture
from nutmeg.net.host.robot_host import HostSettings, RobotHost
from nutmeg.net.rosbridge import RosPort, ros_name

RECORDED = Path(__file__).parent / "data" / "roslibpy_2.1.0.bin"
PATIENCE = 120.0
PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


class Feed(NoCameras):
    """Cameras that always see the same six pixels."""

    wanted: frozenset[str] = frozenset()

    def want(self, cameras: Set[str]) -> None:
        self.wanted = frozenset(cameras)

    def take(self) -> list[Picture]:
        return [Picture(camera=name, time=1.5, sequence=0, pixels=PIXELS) for name in self.wanted]


class Bridge:
    """A Nao on a plain floor that is served in a thread of its own."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.port = RosPort({"nao-1": ""}, address=("127.0.0.1", 0), report=self.reports.append)
        placement = Placement(robot="nao-v6", name="nao-1")
        settings = HostSettings(robots=(placement,), field="floor", noise=False, speed=4.0)
        self.feed = Feed()
        self.host = RobotHost(settings, [self.port], cameras=lambda _worlds: self.feed)
        self._thread = threading.Thread(target=self.host.run)
        self._thread.start()

    def open(self) -> ClientConnection:
        host, number = self.port.address
        return connect(f"ws://{host}:{number}", open_timeout=PATIENCE, max_size=None, max_queue=None)

    def raw(self) -> socket.socket:
        client = socket.create_connection(self.port.address, PATIENCE)
        client.settimeout(PATIENCE)
        return client

    def close(self) -> None:
        self.host.stop()
        self._thread.join(PATIENCE)
        self.host.close()


@pytest.fixture(scope="module")
def bridge() -> Iterator[Bridge]:
    one = Bridge()
    yield one
    one.close()


def ask(client: ClientConnection, **message: Any) -> None:
    client.send(json.dumps(message))


def next_message(client: ClientConnection, **wanted: Any) -> dict[str, Any]:
    """The next message that has these entries."""
    while True:
        found: dict[str, Any] = json.loads(client.recv(PATIENCE))
        if all(found.get(key) == value for key, value in wanted.items()):
            return found


def test_what_roslibpy_sends_is_understood_and_moves_the_head(bridge: Bridge) -> None:
    with bridge.open() as client, bridge.raw() as recorded:
        ask(client, op="subscribe", topic="/joint_states")
        recorded.sendall(RECORDED.read_bytes())
        answer = b""
        while b"service_response" not in answer:
            answer += recorded.recv(65536)
        assert answer.startswith(b"HTTP/1.1 101 Switching Protocols")
        assert b"rosgraph_msgs/msg/Clock" in answer
        for _ in range(500):
            state = next_message(client, op="publish", topic="/joint_states")["msg"]
            turned = dict(zip(state["name"], state["position"], strict=True))["HeadYaw"]
            if abs(turned - 0.5) < 0.02:
                break
        assert turned == pytest.approx(0.5, abs=0.02)
    assert not any(report.kind == "problem" for report in bridge.reports)


def test_topics_have_the_fields_of_their_types(bridge: Bridge) -> None:
    with bridge.open() as client:
        for topic, kind in (
            ("/clock", "rosgraph_msgs/Clock"),
            ("/imu", "sensor_msgs/msg/Imu"),
            ("/ground_truth/pose", None),
        ):
            ask(client, op="subscribe", topic=topic, type=kind)
        clock = next_message(client, topic="/clock")["msg"]["clock"]
        assert set(clock) == {"sec", "nanosec"}
        imu = next_message(client, topic="/imu")["msg"]
        assert imu["linear_acceleration"]["z"] == pytest.approx(9.8, abs=1.0)
        assert imu["orientation_covariance"][0] == -1.0
        pose = next_message(client, topic="/ground_truth/pose")["msg"]["pose"]
        assert 0.2 < pose["position"]["z"] < 0.5
        assert pose["orientation"]["w"] == pytest.approx(1.0, abs=0.1)


def test_a_throttled_topic_comes_as_often_as_it_was_asked_for_by_simulated_time(bridge: Bridge) -> None:
    with bridge.open() as client:
        ask(client, op="subscribe", topic="/clock", throttle_rate=200)
        stamps = [next_message(client, topic="/clock")["msg"]["clock"] for _ in range(4)]
        times = [stamp["sec"] + stamp["nanosec"] * 1e-9 for stamp in stamps]
        assert np.diff(times).tolist() == pytest.approx([0.2] * 3)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"op": "dance"}, "op 'dance' is not known"),
        ({"op": "subscribe", "topic": "/nothing"}, "topic '/nothing' is not published"),
        ({"op": "subscribe", "topic": "/imu", "type": "std_msgs/String"}, "has the type sensor_msgs/msg/Imu"),
        ({"op": "subscribe", "topic": "/imu", "compression": "png"}, "compression 'png' is not known"),
        ({"op": "publish", "topic": "/imu", "msg": {}}, "takes no messages"),
        ({"op": "publish", "topic": "/joint_commands", "msg": {"name": ["Tail"], "position": [1]}}, "no motors Tail"),
        ({"op": "publish", "topic": "/joint_commands", "msg": {"name": [], "position": [1]}}, "as many names"),
        ({"op": "publish", "topic": "/position_controller/commands", "msg": {"data": [1, 2]}}, "has 23 motors"),
        ({"op": "publish", "topic": "/joint_commands", "msg": 3}, "needs position"),
        ([1, 2], "a message is a JSON object"),
    ],
)
def test_what_cannot_be_done_is_answered_by_a_status(bridge: Bridge, message: object, reason: str) -> None:
    with bridge.open() as client:
        client.send(json.dumps(message))
        assert reason in next_message(client, op="status", level="error")["msg"]


def test_an_unknown_service_fails_and_a_known_one_answers(bridge: Bridge) -> None:
    with bridge.open() as client:
        ask(client, op="call_service", id="a", service="/rosapi/topic_type", args={"topic": "/imu"})
        assert next_message(client, id="a")["values"] == {"type": "sensor_msgs/msg/Imu"}
        ask(client, op="call_service", id="b", service="/spawn")
        assert next_message(client, id="b")["result"] is False


def test_bad_input_hurts_nobody_else(bridge: Bridge) -> None:
    rng = np.random.default_rng(1)
    with bridge.open() as polite:
        ask(polite, op="subscribe", topic="/clock")
        for number in range(40):
            with bridge.raw() as client:
                if number % 4 == 0:
                    client.sendall(rng.integers(0, 256, 500).astype(np.uint8).tobytes())
                elif number % 4 == 1:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                elif number % 4 == 2:
                    client.sendall(RECORDED.read_bytes()[: int(rng.integers(1, 900))])
                else:
                    handshake = RECORDED.read_bytes().split(b"\r\n\r\n")[0] + b"\r\n\r\n"
                    client.sendall(handshake + os.urandom(64) + b"\x81\xff" + b"\x7f" * 8)
        with bridge.open() as client:
            for text in ("", "{", "[" * 5000, '{"op": "publish"}', '{"op": NaN}', "null"):
                client.send(text)
                assert next_message(client, op="status")["level"] == "error"
        before = next_message(polite, topic="/clock")["msg"]["clock"]
        assert next_message(polite, topic="/clock")["msg"]["clock"] != before


def test_pictures_are_drawn_only_for_subscribers_and_carry_their_pixels(bridge: Bridge) -> None:
    with bridge.open() as client:
        for topic in ("/CameraTop/image_raw", "/CameraTop/image_raw/compressed"):
            ask(client, op="subscribe", topic=topic)
        image = next_message(client, topic="/CameraTop/image_raw")["msg"]
        assert bridge.feed.wanted == {"nao-1/CameraTop"}
        assert (image["height"], image["width"], image["encoding"], image["step"]) == (2, 3, "rgb8", 9)
        assert base64.b64decode(image["data"]) == PIXELS.tobytes()
        assert image["header"]["stamp"] == {"sec": 1, "nanosec": 500_000_000}
        packed = next_message(client, topic="/CameraTop/image_raw/compressed")["msg"]
        assert base64.b64decode(packed["data"]).startswith(b"\x89PNG")


def test_names_become_names_that_ros_allows() -> None:
    assert [ros_name(name) for name in ("nao-v6-1", "2nd", "é")] == ["nao_v6_1", "r_2nd", "r__"]
