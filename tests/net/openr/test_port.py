"""A server of AIBOs and real sockets: rates, timing, several robots, slow and vanishing clients."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.net.connection import no_report
from nutmeg.net.host.cameras import ProcessCameras
from nutmeg.net.host.robot_host import RobotHost
from nutmeg.net.loop import SocketLoop
from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.commands import CommandVector, commands_packet, joint_command
from nutmeg.net.openr.configuration import host_settings, settings_for
from nutmeg.net.openr.models import Gains
from nutmeg.net.openr.packets import Event, Packet, PacketReader, PacketType
from nutmeg.net.openr.port import OpenrConnection, OpenrPort
from nutmeg.recording import Recording

from ...conftest import wait_until
from .conftest import Serve

LEGS = [f"{leg}:{joint}" for leg in ("LFr", "RFr", "LBk", "RBk") for joint in ("rotor", "elvtr", "knee")]


def read_packets(sock: socket.socket, count: int) -> list[Packet]:
    """So many packets from a socket."""
    reader, packets = PacketReader(), list[Packet]()
    sock.settimeout(120.0)
    while len(packets) < count:
        data = sock.recv(1 << 16)
        assert data, f"closed after {len(packets)} packets"
        packets += reader.feed(data)
    return packets


def test_vectors_come_every_four_frames_with_their_numbers_and_times(serve: Serve) -> None:
    with serve() as served, socket.create_connection(served.address()[0]) as sock:
        design, *vectors = read_packets(sock, 9)
        assert design.type == PacketType.DESIGN
        assert {len(packet.body) for packet in vectors} == {9984}
        first = vectors[0].sequence
        for k, packet in enumerate(vectors):
            assert packet.sequence == first + k
            assert packet.time == (4 * packet.sequence + 3) * 8000
            assert struct.unpack_from("<I", packet.body, 192 + 8) == (4 * packet.sequence,)


def test_the_same_commands_make_the_same_run_in_lock_step(serve: Serve) -> None:
    def run() -> list[bytes]:
        with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
            robot.power(on=True)
            robot.set_gains()
            vectors = robot.sensors()
            seen = [next(vectors) for _ in range(3)]
            robot.command({name: np.linspace(0.0, 0.4, 16).tolist() for name in LEGS})
            seen += [next(vectors) for _ in range(12)]
            return [vector.frames.values.tobytes() for vector in seen]

    first = run()
    assert first == run()
    assert first[3] != first[10]


def test_two_robots_on_one_field_obey_their_own_clients(serve: Serve) -> None:
    settings = settings_for(["ers7", "ers210"], first_port=0, pictures=False, awake=True)
    host = host_settings(settings, lock_step=True, needed=2, noise=False)
    with (
        serve(settings, host=host) as served,
        OpenrClient(*served.address(0)) as dog,
        OpenrClient(*served.address(1)) as pup,
    ):
        assert (dog.design.design, pup.design.design) == ("ERS-7", "ERS-210")
        dog.command({"NECK:pan": [0.6]})
        pup.command({"NECK:pan": [-0.5]})
        dogs, pups = dog.sensors(), pup.sensors()
        for _ in range(20):  # time goes on when both have stepped
            dog.step()
            pup.step()
            a, b = next(dogs), next(pups)
        assert a.sequence == b.sequence
        assert a["NECK:pan"] == pytest.approx(0.6, abs=0.02)
        assert b["NECK:pan"] == pytest.approx(-0.5, abs=0.02)


def test_status_tells_when_a_vector_began_and_finished(serve: Serve) -> None:
    with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
        first = robot.command({"NECK:pan": [0.1] * 10})
        second = robot.command({"NECK:pan": [0.2] * 6}, wait=5)
        begun = robot.wait_for(first, Event.BEGUN)
        finished = robot.wait_for(first)
        later = robot.wait_for(second, Event.BEGUN)
        last = robot.wait_for(second)
        assert finished.frame - begun.frame == 9
        assert later.frame - finished.frame == 6
        assert last.frame - later.frame == 5


def test_a_refused_vector_is_told_and_harms_nothing(serve: Serve) -> None:
    with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
        robot._send(commands_packet(CommandVector(channel=2, commands=(joint_command(2, [0.0]),)), sequence=99))
        status = robot.wait_for(99)
        assert (status.event, status.channel) == (Event.REFUSED, 2)
        robot.power(on=True)
        robot.set_gains({"NECK:pan": Gains(p=8, i=2, d=4)})
        assert robot.wait_for(robot.command({"NECK:pan": [0.1]})).event == Event.FINISHED
        assert any("refused" in text for text in served.said)
        assert served.port.rows()[0]["refused"] == 1


def test_a_slow_listener_loses_the_oldest_and_nobody_else_notices(serve: Serve) -> None:
    with (
        serve(lock_step=True) as served,
        socket.create_connection(served.address()[0]) as slow,
        OpenrClient(*served.address()) as robot,
    ):
        vectors = robot.sensors()
        seen = [next(vectors).sequence for _ in range(160)]
        assert seen == list(range(160))
        assert robot.dropped == 0
        listener = served.seat.listeners[0]
        wait_until(lambda: listener.dropped > 20)
        assert len(listener._groups) <= 32
        kept = 160 - listener.dropped
        packets = read_packets(slow, 1 + kept)[1:]
        numbers = [packet.sequence for packet in packets]
        assert numbers[-1] == 159
        assert numbers[-32:] == list(range(128, 160))
        assert packets[-1].dropped == listener.dropped


def test_a_client_that_vanishes_leaves_the_robot_where_it_was_told(serve: Serve) -> None:
    settings = settings_for(["ers7"], first_port=0, pictures=False, awake=True)
    with serve(settings) as served, OpenrClient(*served.address()) as watcher:
        with OpenrClient(*served.address()) as robot:
            robot.wait_for(robot.command({"NECK:pan": [0.5]}), Event.BEGUN)
            robot.command({"NECK:pan": [-0.5] * 4}, wait=1000)
            wait_until(lambda: len(served.seat.commanders) == 2)
        wait_until(lambda: len(served.seat.commanders) == 1)
        assert served.seat.robot.queues.waiting == 0
        wait_until(lambda: next(watcher.sensors())["NECK:pan"] == pytest.approx(0.5, abs=0.02))
        assert any(text.startswith("left") and "it disconnected" in text for text in served.said)


def test_a_flood_of_vectors_drops_the_oldest_and_counts_them(serve: Serve) -> None:
    with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
        numbers = [robot.command({"NECK:pan": [0.001 * k] * 16}) for k in range(40)]
        assert robot.wait_for(numbers[-1]).event == Event.FINISHED
        assert served.seat.robot.queues.dropped == 24
        assert served.port.rows()[0]["dropped_vectors"] == 24
        assert served.port.rows()[0]["vectors"] == 16


def test_a_touch_from_the_page_reaches_the_program(serve: Serve) -> None:
    with serve(lock_step=True) as served, OpenrClient(*served.address()) as robot:
        hosted = served.host.robots["ers7-1"]
        assert {"head", "chin", "back_front", "LFrPaw"} <= set(hosted.hands_on)
        hosted.poke("head", 1.0, seconds=0.1)
        vectors = robot.sensors()
        told = [float(next(vectors)["head"]) for _ in range(8)]
        assert told[1] == 50
        assert told[-1] == 0


def test_a_fifth_client_is_turned_away(serve: Serve) -> None:
    with serve() as served, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(served.address()[0])) for _ in range(5)]
        for sock in clients[:4]:
            assert read_packets(sock, 1)[0].type == PacketType.DESIGN
        clients[4].settimeout(120)
        assert clients[4].recv(100) == b""
        wait_until(lambda: any("there are 4 connections already" in text for text in served.said))


def test_clients_may_come_and_go_while_time_stands_still(serve: Serve) -> None:
    with serve(lock_step=True) as served:
        for _ in range(20):
            for place in served.address():
                with socket.create_connection(place) as sock:
                    read_packets(sock, 1)
        assert served.host.time == 0.0
        assert len(served.seat.listeners) + len(served.seat.commanders) <= 4
        with OpenrClient(*served.address()) as robot:
            assert next(robot.sensors()).sequence == 0


def test_a_listener_that_speaks_is_disconnected(serve: Serve) -> None:
    with serve() as served, socket.create_connection(served.address()[0]) as sock:
        sock.sendall(b"hello")
        wait_until(lambda: any("only the robot speaks" in text for text in served.said))
        assert not served.seat.listeners


def test_a_silent_client_holds_up_lock_step_only_for_a_while(serve: Serve) -> None:
    settings = settings_for(first_port=0, pictures=False)
    host = host_settings(settings, lock_step=True, noise=False, patience=0.3)
    with serve(settings, host=host) as served, socket.create_connection(served.address()[1]):
        wait_until(lambda: any("did not answer" in text for text in served.said))
        served.host.clock.patience = 600.0  # the next one may be kept from its turn
        with OpenrClient(*served.address()) as robot:
            vectors = robot.sensors()
            assert np.diff([next(vectors).sequence for _ in range(5)]).tolist() == [1, 1, 1, 1]


def test_a_run_is_recorded_with_its_clients(tmp_path: Path) -> None:
    settings = settings_for(first_port=0)
    host = host_settings(settings, lock_step=True, needed=0, record=tmp_path / "aibo")
    port = OpenrPort(settings)
    with RobotHost(host, [port]) as running:
        running.run(0.4)
    assert port.rows() == [
        {"robot": "ers7-1", "frames": 51, "vectors": 0, "dropped_vectors": 0, "refused": 0, "dropped_packets": 0}
    ]
    recording = Recording.open(tmp_path / "aibo")
    assert recording.duration == pytest.approx(0.4, abs=0.021)


def test_a_port_that_is_taken_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        settings = settings_for(first_port=0, pictures=False)
        robot = dataclasses.replace(settings.robot[0], sensors=f"127.0.0.1:{number}")
        taken_port = OpenrPort(dataclasses.replace(settings, robot=(robot,)))
        with pytest.raises(EnvironmentProblem, match=f"port {number}"):
            RobotHost(host_settings(settings), [taken_port])


class Pair:
    """The connection of a seat and its far end; in place of the seat, which owns it, there is this."""

    def __init__(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.far = socket.create_connection(listener.getsockname())
        near, _ = listener.accept()
        listener.close()
        self.loop, self.report = SocketLoop(), no_report
        self.near = OpenrConnection(near, "a client", self, {"sensors": 4, "pictures": 2}, PacketReader(16384))  # type: ignore[arg-type]

    def dismiss(self, _connection: OpenrConnection) -> None:
        pass

    def read(self, packets: int) -> list[Packet]:
        """Reads at the far end while the near one is served."""
        reader, found = PacketReader(), list[Packet]()
        self.far.settimeout(120.0)
        while len(found) < packets:
            self.loop.serve(0.0)
            found += reader.feed(self.far.recv(1 << 16))
        return found


@pytest.fixture(name="pair")
def _pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.near.close()
    pair.far.close()
    pair.loop.close()


def block(sequence: int, size: int = 100_000) -> bytes:
    return Packet(type=3, sequence=sequence, body=bytes(min(size, 65504))).pack()


def test_a_client_that_does_not_read_costs_a_bounded_buffer(pair: Pair) -> None:
    for k in range(300):
        pair.near.send_group("pictures", block(3 * k), block(3 * k + 1), block(3 * k + 2))
        pair.near.send_group("sensors", block(10_000 + k))
        assert len(pair.near._groups) <= 2 + 4
    dropped = pair.near.dropped
    assert dropped > 100
    received = 1200 - dropped
    packets = pair.read(received)
    pictures = [packet.sequence for packet in packets if packet.sequence < 10_000]
    assert [number % 3 for number in pictures] == [0, 1, 2] * (len(pictures) // 3)
    assert all(pictures[k] + 1 == pictures[k + 1] for k in range(len(pictures) - 1) if pictures[k] % 3 < 2)
    assert pictures[-1] == 899
    assert packets[-1].dropped == dropped
    assert packets[0].dropped == 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "period"), [("ers7", (160, 208), 1 / 30), ("ers210", (144, 176), 1 / 25)])
def test_a_robot_sees_the_ball_in_front_of_it(serve: Serve, name: str, size: tuple[int, int], period: float) -> None:
    chosen = settings_for([name], first_port=0, awake=True)
    settings = dataclasses.replace(chosen, ball_pos=(-0.45, 0.0))  # 0.45 m ahead
    with serve(settings, cameras=ProcessCameras) as served, OpenrClient(*served.address(), timeout=60.0) as robot:
        assert robot.design.image_period == pytest.approx(period * 1e6, abs=1)
        pictures = robot.pictures()
        first = next(pictures)
        robot.move({"NECK:tilt": -0.6 if name == "ers7" else -0.3}, seconds=0.3)  # the ERS-7 also nods up by 0.3
        seen = list(itertools.islice(pictures, 12))
        assert first.planes.shape == (3, *size)
        numbers = np.array([picture.sequence for picture in seen])
        times = np.array([picture.time for picture in seen])
        assert (np.diff(numbers) > 0).all()
        assert np.abs((times - times[0]) - (numbers - numbers[0]) * period).max() < 0.0081
        red = seen[-1].planes[1]
        orange = np.argwhere(red > 165)
        assert len(orange) > 60
        assert abs(orange[:, 1].mean() - size[1] / 2) < 25  # straight ahead
