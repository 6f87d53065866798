"""One client's socket: bounded, never waited for, the oldest dropped and counted."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from nutmeg.net.connection import no_report
from nutmeg.net.loop import SocketLoop
from nutmeg.net.openr.packets import Packet, PacketReader
from nutmeg.net.openr.port import LIMITS, OpenrConnection


class Pair:
    """The connection of a seat and its far end; in place of the seat, which owns it, there is this."""

    def __init__(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.far = socket.create_connection(listener.getsockname())
        near, _ = listener.accept()
        listener.close()
        self.loop, self.report = SocketLoop(), no_report
        self.heard: list[Packet] = []
        self.near = OpenrConnection(near, "a client", self, {"sensors": 4, "pictures": 2}, PacketReader(16384))  # type: ignore[arg-type]

    def handle(self, _connection: OpenrConnection, packet: Packet) -> None:
        self.heard.append(packet)

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


def test_packets_arrive_in_order(pair: Pair) -> None:
    for k in range(20):
        pair.near.send_group("sensors", Packet(type=2, sequence=k).pack())
    assert [packet.sequence for packet in pair.read(20)] == list(range(20))
    assert pair.near.dropped == 0


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


def test_a_client_that_sends_too_much_waits_for_the_next_turn(pair: Pair) -> None:
    message = Packet(type=99, body=bytes(1000)).pack()
    pair.far.sendall(message * 200)
    for _ in range(50):
        pair.loop.serve(0.01)
    first = len(pair.heard)
    assert 0 < first * len(message) <= LIMITS.cycle_share
    for _ in range(5000):  # however the system hands it over
        pair.near.new_cycle()
        pair.loop.serve(0.01)
        if len(pair.heard) == 200:
            break
    assert len(pair.heard) == 200
    assert pair.near.lost is None


def test_a_client_that_has_gone_is_noted(pair: Pair) -> None:
    pair.far.close()
    pair.loop.serve(60.0)
    assert pair.near.lost == "it disconnected"
    pair.near.send_group("sensors", block(0))
    assert not pair.near._groups


def test_a_stream_without_sense_is_lost(pair: Pair) -> None:
    pair.far.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    pair.loop.serve(60.0)
    assert pair.near.lost is not None
    assert "begins with" in pair.near.lost


def test_a_connection_that_breaks_is_noted(pair: Pair) -> None:
    pair.far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    pair.far.close()
    pair.loop.serve(60.0)
    assert pair.near.lost is not None
    assert "broke" in pair.near.lost
