"""Robots served over OPEN-R and LoLA under malformed messages from many connections; polite clients notice nothing.

The full size, 100,000 messages against each server, takes some minutes:

    NUTMEG_FUZZ=100000 pytest tests/net/test_hostile_robot_clients.py
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nutmeg.model.scene import Placement
from nutmeg.net.host.robot_host import HostSettings, Port, RobotHost
from nutmeg.net.lola.client import LolaClient
from nutmeg.net.lola.packets import JOINTS, pack
from nutmeg.net.lola.port import LolaPort
from nutmeg.net.openr import commands as wire
from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.commands import CommandVector, joint_command
from nutmeg.net.openr.configuration import host_settings, settings_for
from nutmeg.net.openr.models import Gains
from nutmeg.net.openr.packets import Event, Packet
from nutmeg.net.openr.port import OpenrPort

from ..conftest import resident, wait_until

MESSAGES = int(os.environ.get("NUTMEG_FUZZ", "1500"))
"""Sent to each server."""
CLIENTS = 5
"""That misbehave at the same time."""
MOST_GROWTH = 60.0
"""Memory that the process may take more after the first tenth of the messages [MB]."""
LEAST_PACKETS = 40
Malformed = Callable[[np.random.Generator], bytes]
Connect = Callable[[], socket.socket]

OPENR = (
    wire.commands_packet(CommandVector(commands=tuple(joint_command(k, [0.1] * 16) for k in (1, 3, 7, 9)))),
    wire.commands_packet(CommandVector(channel=15, wait=3, optional=b"fuzz", commands=(joint_command(1, [9.0]),))),
    wire.gains_packet([(wire.EVERY, Gains(p=65535, i=65535, d=65535, p_shift=0, i_shift=0, d_shift=0))]),
    wire.gains_packet([(1, Gains(p_shift=65535))]),
    wire.power_packet(on=True),
    wire.camera_packet(384, 1),
    wire.step_packet(5),
    Packet(type=77, body=b"nobody knows this one").pack(),
    Packet(type=2, body=bytes(64)).pack(),
)
LOLA = (
    pack({"Position": [0.1] * 25, "Stiffness": [0.5] * 25, "Sonar": [True, False]}),
    pack({"Position": [1e30] * 25, "Chest": [float("nan")] * 3}),
    pack({"Mouth": [None, "x", 2**60] * 8, "Chest": "red", "LEye": []}),
    pack({7: 8, "Stiffness": [-1] * 25}),
    pack([1, 2, 3]),
)
LENGTHS = (0, 1, 31, 32, 33, 16385, 2**31 - 1, 2**31, 2**32 - 1)
HEADS = (0xDC, 0xDD, 0xDE, 0xDF, 0xDB, 0xC6, 0xC1)


def damaged(rng: np.random.Generator, valid: Sequence[bytes], first: int = 0) -> bytes:
    """A message with some other bytes, from its `first` on, or only a part of it: the rest never comes."""
    message = bytearray(valid[rng.integers(len(valid))])
    if rng.random() < 0.2:
        return bytes(message[: int(rng.integers(1, len(message) + 1))])
    for _ in range(int(rng.integers(1, 6))):
        if len(message) > first:
            message[int(rng.integers(first, len(message)))] = int(rng.integers(256))
    return bytes(message)


def malformed_openr(rng: np.random.Generator) -> bytes:
    """Noise, a damaged packet, one whose inside is wrong, one with an impossible length, or valid ones by the dozen."""
    match int(rng.integers(6)):
        case 0:
            return rng.bytes(int(rng.integers(1, 200)))
        case 1:
            packet = bytearray(OPENR[rng.integers(len(OPENR))])
            packet[8:12] = struct.pack("<I", int(rng.choice(LENGTHS)))
            return bytes(packet)
        case 2:
            return OPENR[rng.integers(len(OPENR))] * 12
        case 3:
            return damaged(rng, OPENR)
    return damaged(rng, OPENR, first=32)


def malformed_lola(rng: np.random.Generator) -> bytes:
    """Noise, a damaged packet, an impossible length, lists in lists, or valid ones by the dozen."""
    match int(rng.integers(6)):
        case 0:
            return rng.bytes(int(rng.integers(1, 200)))
        case 1:
            return bytes([int(rng.choice(HEADS))]) + rng.bytes(4)
        case 2:
            return LOLA[rng.integers(len(LOLA))] * 12
        case 3:
            return b"\x91" * int(rng.integers(1, 60))
    return damaged(rng, LOLA)


class Hostile:
    """Clients that come again and again, each in a thread of its own: they send messages that no client should.

    Then they wait until the server has read them, or leave at once, or break the connection, or stay and never read.
    """

    def __init__(self, doors: Sequence[Connect], malformed: Malformed) -> None:
        self.doors, self.malformed = doors, malformed
        self.sent, self.connects = [0] * CLIENTS, [0] * CLIENTS

    def go_on(self, messages: int) -> None:
        """Until so many have been sent by all together."""
        threads = [threading.Thread(target=self._be, args=(k, messages // CLIENTS)) for k in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _be(self, number: int, messages: int) -> None:
        """One of them."""
        rng = np.random.default_rng([number, self.sent[number]])
        with contextlib.ExitStack() as deaf:
            while self.sent[number] < messages:
                with contextlib.suppress(OSError):
                    sock = self.doors[int(rng.integers(len(self.doors)))]()
                    self.connects[number] += 1
                    manner = int(rng.integers(4))
                    if manner == 3:
                        deaf.close()  # the one before goes
                        deaf.enter_context(sock)
                        self._send(number, sock, rng)
                    else:
                        with sock:
                            self._send(number, sock, rng)
                            _part(sock, manner)

    def _send(self, number: int, sock: socket.socket, rng: np.random.Generator) -> None:
        for _ in range(int(rng.integers(1, 16))):
            self.sent[number] += 1
            sock.sendall(self.malformed(rng))


def _part(sock: socket.socket, manner: int) -> None:
    """Ends a connection, in one of several manners."""
    if manner == 1:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no goodbye: it breaks
    elif manner == 2:
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(65536):  # until the server has read everything
            pass


@contextlib.contextmanager
def running(settings: HostSettings, port: Port) -> Iterator[RobotHost]:
    """A host in a thread of its own; whatever ends it early is raised in the end."""
    failures: list[BaseException] = []
    with RobotHost(settings, [port]) as host:

        def run() -> None:
            try:
                host.run()
            except BaseException as error:  # noqa: BLE001 (raised below)
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield host
        finally:
            host.stop()
            thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


@contextlib.contextmanager
def under_fire(hostile: Hostile) -> Iterator[Callable[[], bool]]:
    """While inside, hostile clients are at work; yields what says whether they are. Memory is bounded meanwhile."""
    memory: list[float] = []

    def work() -> None:
        for share in (10, 1):
            hostile.go_on(MESSAGES // share)
            memory.append(resident())

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield worker.is_alive
    finally:
        worker.join()
    assert sum(hostile.sent) >= MESSAGES
    assert sum(hostile.connects) > MESSAGES // 20
    assert memory[1] - memory[0] < MOST_GROWTH


def test_an_openr_client_gets_every_sensor_vector_while_others_misbehave() -> None:
    settings = settings_for(["ers7", "ers210"], first_port=0, pictures=False, awake=True)
    port = OpenrPort(settings)
    with running(host_settings(settings, noise=False), port) as host:
        (sensors, commands), (_, other) = (seat.addresses for seat in port.seats.values())
        doors = [lambda a=a: socket.create_connection(a, timeout=60.0) for a in (commands, other, sensors)]
        with OpenrClient(sensors, commands) as robot, under_fire(Hostile(doors, malformed_openr)) as going:
            vectors = robot.sensors()
            first, came, last = next(vectors), 1, -1
            while going() or came < LEAST_PACKETS:
                last, came = next(vectors).sequence, came + 1
            lost = last - first.sequence + 1 - came
            assert lost == robot.dropped + robot.missed  # only what a starved reader was too slow for
        wait_until(lambda: not any(seat.commanders for seat in port.seats.values()))
        with OpenrClient(sensors, commands) as next_one:
            assert next_one.wait_for(next_one.command({"NECK:pan": [0.1]})).event == Event.FINISHED
            assert len(next_one.design.primitives) == 65
        assert np.isfinite(host.worlds.qpos).all()
        assert sum(seat.counts["refused"] for seat in port.seats.values()) > MESSAGES // 50


def unix(path: Path) -> socket.socket:
    """A connection to a Unix socket; where too many wait to be let in, it fails at once."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(60.0)
        sock.connect(str(path))
    except BaseException:
        sock.close()
        raise
    return sock


def test_a_lola_client_gets_every_packet_while_others_misbehave() -> None:
    with TemporaryDirectory(prefix="nutmeg-") as folder:
        path = Path(folder) / "nao"
        placed = Placement(robot="nao-v6", name="nao", actuation="ideal")
        port = LolaPort({"nao": path})
        with running(HostSettings(robots=(placed,), field="floor", noise=False), port) as host:
            lola = next(task for task in host.tasks if task.name == "lola")
            with LolaClient.connect(path) as nao, under_fire(Hostile([lambda: unix(path)], malformed_lola)) as going:
                nao.sense()
                turns, polite = lola.turns, port.seats["nao"].clients[0]
                while going() or nao.packets < LEAST_PACKETS:
                    assert nao.sense().position.shape == (len(JOINTS),)
                host.stop()
                assert polite.lost is None
                # A packet in every cycle but those that a starved reader had no room for.
                assert polite.sent + polite.missed >= lola.turns - turns
            assert np.isfinite(host.worlds.qpos).all()
        assert port.counts()["problems"] > MESSAGES // 50
