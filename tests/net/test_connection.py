"""The connection that all protocols share: bounded in every direction, and closed with a reason."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from nutmeg.net.connection import Connection, Limits, Report, refuse
from nutmeg.net.loop import Listener, SocketLoop, tcp_listener
from nutmeg.net.simspark.sexpr import Unframer, framed

LIMITS = Limits(cycle_share=1000, message_cost=10, sustained=1000, burst=3000, messages_at_once=20, broken_messages=3)


class Owner:
    """Keeps what its only connection says."""

    def __init__(self) -> None:
        self.loop = SocketLoop()
        self.heard: list[bytes] = []
        self.dismissed: list[str | None] = []
        self.reports: list[Report] = []
        self.connection: Connection[bytes] | None = None
        self.listener = Listener(self.loop, tcp_listener("127.0.0.1", 0), self.admit)

    def admit(self, sock: socket.socket, peer: str) -> None:
        reader = Unframer(1000)
        self.connection = Connection(
            sock, peer, self.loop, reader=reader, owner=self, limits=LIMITS, report=self.reports.append
        )

    def handle(self, _connection: Connection[bytes], message: bytes) -> None:
        self.heard.append(message)

    def dismiss(self, connection: Connection[bytes]) -> None:
        self.dismissed.append(connection.lost)

    def serve_until(self, true: Callable[[], bool]) -> None:
        for _ in range(6000):
            if true():
                return
            self.loop.serve(0.02)
        raise AssertionError("it did not happen")


@pytest.fixture
def owner() -> Iterator[Owner]:
    owner = Owner()
    yield owner
    if owner.connection is not None:
        owner.connection.close()
    owner.listener.close()
    owner.loop.close()


@pytest.fixture
def client(owner: Owner) -> Iterator[socket.socket]:
    with socket.create_connection(owner.listener.address, timeout=120.0) as sock:
        owner.serve_until(lambda: owner.connection is not None)
        yield sock


def connected(owner: Owner) -> Connection[bytes]:
    assert owner.connection is not None
    return owner.connection


def test_messages_are_handed_to_the_owner_and_answers_sent_back(owner: Owner, client: socket.socket) -> None:
    client.sendall(framed(b"one") + framed(b"two"))
    owner.serve_until(lambda: owner.heard == [b"one", b"two"])
    connected(owner).send(b"answer")
    assert client.recv(6) == b"answer"
    assert connected(owner).received == 2


def test_a_client_that_has_used_up_its_share_waits_for_the_next_cycle(owner: Owner, client: socket.socket) -> None:
    client.sendall(framed(b"x" * 100) * 10)
    owner.serve_until(lambda: connected(owner).held_up)
    client.sendall(framed(b"late"))
    assert not owner.loop.serve(0.05), "its socket is not watched any more"
    connected(owner).new_cycle()
    owner.serve_until(lambda: owner.heard[-1] == b"late")
    assert connected(owner).lost is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (framed(b"") * 21, "it sent 21 messages at once; at most 20 are allowed"),
        (framed(b"x" * 1001), "it announced a message of 1001 bytes"),
        (framed(b"x" * 996) * 4, "it sent 3000 bytes more than the 1000 bytes a cycle that are allowed"),
    ],
)
def test_a_client_that_does_too_much_is_disconnected_once_with_the_reason(
    owner: Owner, client: socket.socket, data: bytes, reason: str
) -> None:
    client.sendall(data)
    owner.serve_until(lambda: bool(owner.dismissed))
    assert [reason in (text or "") for text in owner.dismissed] == [True], owner.dismissed
    assert [report.kind for report in owner.reports] == ["left"]


@pytest.mark.parametrize(("politely", "reason"), [(True, "it disconnected"), (False, "the connection broke")])
def test_a_client_that_goes_is_dismissed(owner: Owner, client: socket.socket, politely: bool, reason: str) -> None:
    if not politely:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    owner.serve_until(lambda: bool(owner.dismissed))
    assert [(text or "").startswith(reason) for text in owner.dismissed] == [True], owner.dismissed


def test_what_a_client_does_not_read_waits_whole_or_is_left_out(owner: Owner, client: socket.socket) -> None:
    connection, packet, sent = connected(owner), b"p" * 100_000, 0
    while connection.offer(packet):
        sent += 1
    assert not connection.offer(packet)
    assert connection.unsent <= len(packet)
    received = 0
    while received < sent * len(packet):
        owner.loop.serve(0.0)
        received += len(client.recv(1 << 16))
    assert received == sent * len(packet)
    assert connection.unsent == 0


def test_problems_are_reported_a_few_times_and_senseless_messages_lose_the_client(
    owner: Owner, client: socket.socket
) -> None:
    connection = connected(owner)
    for number in range(50):
        connection.note_problem(f"problem {number}")
    assert len(owner.reports) == LIMITS.reported_problems
    assert owner.reports[-1].text == "problem 9; further problems are not reported"
    for _ in range(3):
        connection.count_broken()
    assert connection.lost == "it sent 3 messages without sense"
    connection.new_cycle()
    assert owner.dismissed == [connection.lost]
    assert client.recv(1) == b""


def test_a_client_too_many_is_sent_away(owner: Owner) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        refuse(ours, "a client", 3, owner.reports.append)
        assert theirs.recv(1) == b""
    assert owner.reports == [Report(kind="refused", client="a client", text="there are 3 connections already")]
