"""A Nao behind a LoLA socket: good clients, bad clients, several of them, and clients that vanish."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.net.lola.client import LolaClient
from nutmeg.net.lola.packets import JOINTS, TOUCHES, pack, read_sensors
from nutmeg.net.lola.port import MAX_CLIENTS
from nutmeg.net.loop import unix_listener
from nutmeg.recording import Recording

from ...conftest import wait_until

ANSWER = pack({})
Serving = Callable[..., AbstractContextManager[Any]]
Whole = Callable[..., bytes]


@pytest.fixture
def exchange(whole: Whole) -> Whole:
    """So many packets, each answered; the last one."""

    def exchanged(client: socket.socket, count: int, answer: bytes = ANSWER) -> bytes:
        for _ in range(count):
            packet = whole(client)
            client.sendall(answer)
        return packet

    return exchanged


def test_a_robot_that_stands_still_says_so(nao: Any) -> None:
    with LolaClient.connect(nao.path()) as client:
        senses = list(client.cycles(50))[-1]
    assert np.allclose(senses.accelerometer, [0, 0, -9.81], atol=0.6)
    assert np.allclose(senses.gyroscope, 0, atol=0.1)
    assert np.allclose(senses.angles, 0, atol=0.05)
    mass = nao.host.worlds.scene.model.body_subtreemass[nao.host.worlds.scene.robots[0].body]
    assert senses.forces.sum() == pytest.approx(mass, abs=0.5)
    assert senses.battery[1] == -32724
    assert senses.battery[2] < 0
    assert senses.position[JOINTS.index("LKneePitch")] == pytest.approx(0.9, abs=0.03)
    assert senses.config == ("P0000073A07S94N00001", "6.0.0", "P0000074A07S94N00001", "6.0.0")


def test_a_joint_goes_where_it_is_told_and_a_limp_one_does_not(nao: Any) -> None:
    with LolaClient.connect(nao.path()) as client:
        for senses in client.cycles(120):  # noqa: B007 (the last one is looked at)
            client.move({"HeadYaw": 0.5, "LHand": 1.0}, stiffness=1.0)
        assert senses.position[JOINTS.index("HeadYaw")] == pytest.approx(0.5, abs=0.03)
        assert senses.position[JOINTS.index("LHand")] == pytest.approx(1.0)
        for senses in client.cycles(60):  # noqa: B007
            client.move({"HeadYaw": -0.5}, stiffness=0.0)
        assert senses.position[JOINTS.index("HeadYaw")] == pytest.approx(0.5, abs=0.05)
        assert senses.stiffness[JOINTS.index("HeadYaw")] == 0
        for _ in client.cycles(100):
            client.move({"HeadYaw": 0.0}, stiffness=1.0)


def test_a_held_arm_draws_current_and_gets_warm(nao: Any) -> None:
    place = JOINTS.index("RShoulderPitch")
    with LolaClient.connect(nao.path()) as client:
        before = client.sense().temperature[place]
        client.send()
        for senses in client.cycles(200):  # noqa: B007
            client.move({"RShoulderPitch": 0.0}, stiffness=1.0)
        assert senses.current[place] > 0.02
        assert senses.temperature[place] > before
        assert senses.current[JOINTS.index("RHand")] == 0


def test_buttons_and_the_battery_can_be_poked(nao: Any, exchange: Whole) -> None:
    robot = nao.host.robots["nao-1"]
    with nao.connect() as client:
        robot.poke("ChestButton", 1.0, seconds=0.12)
        robot.poke("Battery", 0.25)
        robot.poke("Charging", 1.0)
        first = read_sensors(exchange(client, 3))
        later = read_sensors(exchange(client, 15))
        robot.poke("Battery", None)
        robot.poke("Charging", None)
        last = read_sensors(exchange(client, 3))
    chest = TOUCHES.index("ChestButton")
    assert (first["Touch"][chest], later["Touch"][chest]) == (1.0, 0.0)
    assert first["Battery"][:2] == [0.25, -32628.0]
    assert last["Battery"][1] == -32724.0


def test_numbers_that_are_none_leave_everything_as_it_was(nao: Any, exchange: Whole) -> None:
    robot = nao.host.robots["nao-1"]
    before, stiffness = robot.targets, robot.motors.stiffness.copy()
    bad = pack({"Position": [float("nan")] * 25, "Stiffness": [float("inf")] * 25, "Chest": [float("nan"), 2.0, -1.0]})
    with nao.connect() as client:
        exchange(client, 3, bad)
        exchange(client, 1)
    assert np.array_equal(robot.targets, before)
    assert np.array_equal(robot.motors.stiffness, stiffness)
    assert robot.lights["Chest"][1:] == (1.0, 0.0)
    assert any("are none" in report.text for report in nao.reports)


def test_targets_beyond_a_joint_s_range_stop_at_its_end(nao: Any, exchange: Whole) -> None:
    robot = nao.host.robots["nao-1"]
    with nao.connect() as client:
        exchange(client, 2, pack({"Position": [9.0] * 25}))
        exchange(client, 1, pack({"Position": [0.0] * 25}))
    low, high = robot.table.limits[robot.table.motor_joints].T
    assert ((robot.targets >= low) & (robot.targets <= high)).all()


def test_the_newest_of_two_clients_moves_the_robot_and_both_are_told(serving: Serving, whole: Whole) -> None:
    with serving(lock_step=False, speed=5.0) as nao, nao.connect() as old, nao.connect() as new:
        robot = nao.host.robots["nao-1"]
        yaw = robot.motor_index(["HeadYaw"])[0]
        for client in (old, new):
            whole(client)
        for _ in range(5):
            new.sendall(pack({"Position": [0.4] + [0.0] * 24}))
            wait_until(lambda: robot.targets[yaw] == pytest.approx(0.4))
            before = nao.port.counts()["answers"]
            old.sendall(pack({"Position": [-0.4] + [0.0] * 24}))
            wait_until(lambda count=before: nao.port.counts()["answers"] > count)
            assert robot.targets[yaw] == pytest.approx(0.4)


def test_a_client_that_vanishes_leaves_the_robot_to_the_next(nao: Any, exchange: Whole) -> None:
    for _ in range(3):
        client = nao.connect()
        exchange(client, 2)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    with nao.connect() as client:
        assert len(exchange(client, 3)) == 896


def test_a_packet_in_pieces_and_two_at_once_are_read(nao: Any, exchange: Whole, whole: Whole) -> None:
    robot = nao.host.robots["nao-1"]
    message = pack({"Chest": [0.0, 0.5, 1.0]})
    with nao.connect() as client:
        whole(client)
        for at in range(len(message)):
            client.sendall(message[at : at + 1])
        whole(client)
        client.sendall(pack({"LFoot": [1.0, 0.0, 0.0]}) + message)
        exchange(client, 1)
        assert robot.lights["Chest"] == (0.0, 0.5, 1.0)
        assert robot.lights["LFoot"] == (1.0, 0.0, 0.0)


def test_a_client_that_sends_without_end_is_held_up_or_disconnected(serving: Serving, whole: Whole) -> None:
    with serving(lock_step=False, speed=10.0) as served, served.connect() as flood, served.connect() as good:
        flood.settimeout(0.2)
        with contextlib.suppress(OSError):  # held up, or disconnected: which one is its own affair
            for _ in range(200):
                flood.sendall(b"\x01" * 4000)
        assert len(whole(good)) == 896
        for _ in range(20):
            whole(good)
    assert any("messages at once" in report.text for report in served.reports)


def test_a_client_that_does_not_read_misses_whole_packets(serving: Serving, whole: Whole) -> None:
    with serving(lock_step=False, speed=20.0) as served, served.connect() as lazy:
        wait_until(lambda: served.port.counts()["missed"] >= 50)
        for _ in range(20):
            assert whole(lazy)[:13] == b"\x8d\xabRobotConfig"


def test_in_lock_step_time_stands_still_until_everybody_has_answered(
    serving: Serving, exchange: Whole, whole: Whole
) -> None:
    with serving(robots=2) as served:
        time.sleep(0.1)
        assert served.host.time == 0.0
        with served.connect(1) as one, served.connect(2) as two:
            exchange(one, 1)
            whole(two)
            one.sendall(ANSWER)  # time may have begun before the second was there: this then answers another packet
            time.sleep(0.1)
            standing = served.host.time
            two.sendall(ANSWER)
            wait_until(lambda: served.host.time > standing)


def test_a_client_that_hangs_in_lock_step_is_given_up(serving: Serving, exchange: Whole, whole: Whole) -> None:
    with serving(patience=0.3) as served, served.connect() as silent:
        whole(silent)
        wait_until(lambda: any("has not answered" in report.text for report in served.reports))
        served.host.clock.patience = 600.0  # the next one may be kept from its turn
        with served.connect() as good:
            before = served.host.time
            exchange(good, 5)
            assert served.host.time > before, "nobody waits for the silent one any more"
        given_up = [report.text for report in served.reports if "has not answered" in report.text]
        assert len(given_up) == 1


def test_the_same_commands_give_the_same_packets_in_lock_step(serving: Serving, whole: Whole) -> None:
    def run() -> list[bytes]:
        with serving(seed=3) as served, served.connect() as client:
            out = []
            for k in range(40):
                out.append(whole(client))
                client.sendall(pack({"Position": [0.02 * k] + [0.0] * 24}))
            return out

    assert run() == run()


def test_lights_and_the_schedule_are_recorded(tmp_path: Path, serving: Serving, exchange: Whole) -> None:
    path = tmp_path / "nao.nutmeg"
    with serving(record=path) as served, served.connect() as client:
        exchange(client, 30, pack({"Chest": [0.0, 1.0, 0.0], "LEar": [0.5] * 10}))
    recording = Recording.open(path)
    assert recording.finished
    lights = recording.read("nao-1.lights", len(recording) - 1, len(recording))[0]
    labels = recording.channels["nao-1.lights"].labels
    assert lights[labels.index("Chest1")] == pytest.approx(1.0, abs=0.01)
    assert lights[labels.index("LEar3")] == pytest.approx(0.5, abs=0.01)
    assert {"schedule.lola", "schedule.dynamics", "schedule.sense"} <= set(recording.channels)
    assert [event["kind"] for event in recording.events][:1] == ["joined"]


def test_a_socket_left_behind_is_replaced_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "robocup"
    first = unix_listener(path)
    with pytest.raises(EnvironmentProblem, match="cannot listen"):
        unix_listener(path)
    first.close()
    unix_listener(path).close()
    with pytest.raises(EnvironmentProblem, match="no robot at"):
        LolaClient.connect(tmp_path / "nobody")


def test_more_clients_than_allowed_are_refused(serving: Serving, whole: Whole) -> None:
    with serving(lock_step=False, speed=5.0) as nao:
        clients = [nao.connect() for _ in range(MAX_CLIENTS + 1)]
        try:
            for client in clients[:-1]:
                whole(client)
            assert clients[-1].recv(1) == b""
        finally:
            for client in clients:
                client.close()
    assert any(report.kind == "refused" for report in nao.reports)
