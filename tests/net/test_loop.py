"""The socket loop: turns in order, and a selector that stays awake for peers that answer at once."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from nutmeg.net.loop import READ, AwakeSelector, SocketLoop

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_who_is_ready_is_told_as_by_any_selector(pair: Pair) -> None:
    ours, theirs = pair
    with AwakeSelector() as selector:
        selector.register(ours, selectors.EVENT_READ, "peer")
        assert selector.wait(0.0) == []
        theirs.send(b"x")
        for _ in range(3):  # also when the last wait was short
            ((key, events),) = selector.wait(60.0)
            assert key.data == "peer"
            assert events == selectors.EVENT_READ


@contextlib.contextmanager
def awake_after_answer(ours: socket.socket, theirs: socket.socket) -> Iterator[AwakeSelector]:
    """A selector whose peer has just answered at once."""
    with AwakeSelector() as selector:
        selector.register(ours, selectors.EVENT_READ)
        theirs.send(b"x")
        selector.wait(60.0)
        ours.recv(1)
        yield selector


def test_nobody_is_waited_for_longer_than_was_asked(pair: Pair) -> None:
    ours, theirs = pair
    with awake_after_answer(ours, theirs) as selector:
        assert selector.wait(0.001) == []
        assert selector.wait(0.001) == []


def test_a_late_answer_is_awaited_asleep(pair: Pair) -> None:
    ours, theirs = pair
    with awake_after_answer(ours, theirs) as selector:
        busy = time.thread_time()
        timer = threading.Timer(0.5, theirs.send, (b"y",))
        timer.start()
        assert len(selector.wait()) == 1
        timer.join()
        assert time.thread_time() - busy < 0.25


def test_sockets_that_were_left_go_first_in_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutmeg.net.loop.LEAST_SERVICE", -1.0)
    served: list[int] = []
    pairs = [socket.socketpair() for _ in range(4)]
    loop = SocketLoop()
    for number, (ours, theirs) in enumerate(pairs):
        theirs.send(b"x")
        loop.watch(ours, READ, lambda _events, n=number: served.append(n))  # type: ignore[misc]
    for _ in range(4):
        assert loop.serve(0.0, until=0.0)
    assert sorted(served) == [0, 1, 2, 3]
    loop.close()
    for ours, theirs in pairs:
        ours.close()
        theirs.close()


def test_a_socket_that_an_earlier_turn_closed_gets_no_turn(pair: Pair) -> None:
    ours, theirs = pair
    loop = SocketLoop()
    served: list[socket.socket] = []

    def turn(here: socket.socket, other: socket.socket) -> None:
        served.append(here)
        loop.forget(other)

    for here, other in ((ours, theirs), (theirs, ours)):
        here.send(b"x")
        loop.watch(here, READ, lambda _events, h=here, o=other: turn(h, o))  # type: ignore[misc]
    loop.serve(60.0)
    assert len(served) == 1
    loop.close()


def test_the_loop_is_woken_from_another_thread() -> None:
    loop = SocketLoop()
    thread = threading.Thread(target=loop.wake)
    thread.start()
    assert loop.serve(60.0)
    thread.join()
    loop.close()
