"""The socket loop of every server: one thread, callbacks, and no blocking.

    loop = SocketLoop()
    listener = Listener(loop, tcp_listener("127.0.0.1", 9000), admit)   # admit(socket, peer) for each new client
    loop.watch(sock, READ | WRITE, turn)                                # turn(events) whenever one of them is ready
    loop.serve(0.004)                                                   # waits at most 4 ms, one turn for each socket
    loop.wake()                                                         # from any thread or signal handler

Callbacks must neither block nor raise. A socket gets one turn in each call of `serve`, so that no client is served
twice before all have been served once. Where `serve` has to end early (`until`), the sockets that are left go first in
the next call.

Sleeping in a system call and waking up takes 50 us and more, which is a large part of a cycle of a fast server (130 us
with one robot). `serve(awake=True)` therefore polls, but only if the last wait was short, and never for longer than
`AWAKE_TIME`, which is all that slower peers cost.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import socket
import time
from collections.abc import Callable
from pathlib import Path

from nutmeg.base.errors import EnvironmentProblem

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
"""Events of a socket; they can be combined with `|`."""
AWAKE_TIME = 0.0002
"""Peers that answer within this time are waited for awake [s]."""
BACKLOG = 64
"""Clients that may wait to be accepted."""
LEAST_SERVICE = 0.004
"""Time for sockets in each call of `serve`, even where that has to end at once [s]."""

Turn = Callable[[int], None]
"""A callback, called with the events that are ready."""


class AwakeSelector(selectors.DefaultSelector):
    """The system's selector, with a second way to wait: awake, for peers that answer at once."""

    _prompt = False
    """Whether the last wait was short."""

    def wait(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Returns what `select` returns, after `timeout` [s] at the latest; None waits for ever."""
        ready = self.select(0.0)
        if ready or timeout == 0.0:
            self._prompt = self._prompt or bool(ready)
            return ready
        start = time.monotonic()
        until = start + (AWAKE_TIME if timeout is None else min(timeout, AWAKE_TIME))
        while self._prompt and not ready and time.monotonic() < until:
            ready = self.select(0.0)
        ready = ready or self.select(timeout)
        self._prompt = time.monotonic() < start + AWAKE_TIME
        return ready


class SocketLoop:
    """A selector with callbacks; all of them run in the thread that calls `serve`."""

    def __init__(self) -> None:
        self._selector = AwakeSelector()
        self._left: dict[int, int] = {}
        """Sockets that the last call of `serve` has left for the next, with their places in the queue."""
        self._wake, self._woken = socket.socketpair()
        self._wake.settimeout(0.0)
        self._woken.settimeout(0.0)
        self.watch(self._woken, READ, self._drain)

    def watch(self, sock: socket.socket, events: int, turn: Turn) -> None:
        """Calls `turn` from now on when one of the events is ready; no events forget the socket."""
        if not events:
            self.forget(sock)
        elif sock in self._selector.get_map():
            self._selector.modify(sock, events, turn)
        else:
            self._selector.register(sock, events, turn)

    def forget(self, sock: socket.socket) -> None:
        """Watches a socket no longer; call it before the socket is closed. An unknown socket is no mistake."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(sock)

    def serve(self, timeout: float, *, awake: bool = False, until: float = math.inf) -> bool:
        """Waits for sockets and gives each that is ready one turn.

        Args:
            timeout: how long to wait at most [s].
            awake: whether to wait awake for peers that answer at once.
            until: when to leave the remaining sockets for the next call, by `time.monotonic` [s]; even a server that
                is late gives them `LEAST_SERVICE`.

        Returns:
            whether any socket was ready.
        """
        ready = self._selector.wait(timeout) if awake else self._selector.select(timeout)
        if self._left:
            left, self._left = self._left, {}
            ready.sort(key=lambda pair: left.get(pair[0].fd, len(left)))
        watched, latest = self._selector.get_map(), max(until, time.monotonic() + LEAST_SERVICE)
        for count, (key, events) in enumerate(ready):
            if count and time.monotonic() > latest:
                self._left = {later.fd: place for place, (later, _) in enumerate(ready[count:])}
                break
            if watched.get(key.fd) is key:  # an earlier turn may have closed this one
                key.data(events)
        return bool(ready)

    def wake(self) -> None:
        """Makes `serve` return soon; may be called from any thread, and from a signal's handler."""
        with contextlib.suppress(OSError):  # full of earlier wake-ups, or closed: both are fine
            self._wake.send(b"x")

    def close(self) -> None:
        """Forgets everything; the sockets themselves belong to others."""
        self._selector.close()
        self._wake.close()
        self._woken.close()

    def _drain(self, _events: int) -> None:
        with contextlib.suppress(OSError):
            self._woken.recv(4096)


class Listener:
    """A listening socket whose clients are accepted by the loop.

    Args:
        loop: watches the socket.
        sock: listening, non-blocking; taken over.
        admit: called with the socket of each new client and its address as text, `127.0.0.1:50000`.
    """

    def __init__(self, loop: SocketLoop, sock: socket.socket, admit: Callable[[socket.socket, str], None]) -> None:
        self._loop, self._socket, self._admit = loop, sock, admit
        loop.watch(sock, READ, self._accept)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port on which a TCP socket listens."""
        host, port = self._socket.getsockname()[:2]
        return str(host), int(port)

    def close(self) -> None:
        """Stops accepting clients; closing twice is fine."""
        self._loop.forget(self._socket)
        self._socket.close()

    def _accept(self, _events: int) -> None:
        """Accepts one client; a client that has gone meanwhile then makes room for the next in a later turn."""
        try:
            sock, peer = self._socket.accept()
        except OSError:  # the client has gone again
            return
        self._admit(sock, f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else "")


def tcp_listener(host: str, port: int) -> socket.socket:
    """Returns a listening, non-blocking TCP socket; port 0 takes a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return _listening(listener, (host, port), f"{host}, port {port}", "port (0 takes a free one)")


def unix_listener(path: Path) -> socket.socket:
    """Returns a listening, non-blocking Unix stream socket; a socket left behind by a dead server is replaced."""
    if not hasattr(socket, "AF_UNIX"):
        raise EnvironmentProblem("LoLA needs Unix sockets, which Python does not have on this system.")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    allowed = "path (at most 100 characters, in a folder that exists)"
    return _listening(listener, path, f"the socket {path}", allowed)


def _listening(listener: socket.socket, where: tuple[str, int] | Path, named: str, allowed: str) -> socket.socket:
    """The socket, bound and listening; one that cannot be had is an error that says what may be chosen instead."""
    listener.settimeout(0.0)
    try:
        if isinstance(where, Path):
            if where.is_socket():
                _remove_dead(where)
            listener.bind(str(where))
        else:
            listener.bind(where)
        listener.listen(BACKLOG)
    except (OSError, OverflowError, ValueError) as error:
        listener.close()
        raise EnvironmentProblem(
            f"cannot listen on {named}: {error}. Choose another {allowed}, or end the program that uses it."
        ) from None
    return listener


def _remove_dead(path: Path) -> None:
    """Removes a socket file without a listener; one that is in use stays, and cannot be bound."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
