"""A selector that stays awake for peers that answer at once."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from nutmeg.net.loop import WakefulSelector

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_who_is_ready_is_told_as_by_any_selector(pair: Pair) -> None:
    ours, theirs = pair
    with WakefulSelector() as selector:
        selector.register(ours, selectors.EVENT_READ, "peer")
        assert selector.wait(0.0) == []
        theirs.send(b"x")
        for _ in range(3):  # also when the last wait was short
            ((key, events),) = selector.wait(60.0)
            assert key.data == "peer"
            assert events == selectors.EVENT_READ


def test_nobody_is_waited_for_longer_than_was_asked(pair: Pair) -> None:
    ours, theirs = pair
    with WakefulSelector() as selector:
        selector.register(ours, selectors.EVENT_READ)
        theirs.send(b"x")
        selector.wait(60.0)
        ours.recv(1)
        assert selector.wait(0.001) == []
        assert selector.wait(0.001) == []


def test_a_late_answer_is_awaited_asleep(pair: Pair) -> None:
    ours, theirs = pair
    with WakefulSelector() as selector:
        selector.register(ours, selectors.EVENT_READ)
        theirs.send(b"x")
        selector.wait(60.0)
        ours.recv(1)
        busy = time.thread_time()
        timer = threading.Timer(0.5, theirs.send, (b"y",))
        timer.start()
        assert len(selector.wait()) == 1
        timer.join()
        assert time.thread_time() - busy < 0.25
