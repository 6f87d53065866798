"""The sockets of a host, all served by one thread: whoever has something to say is heard between two cycles.

    sockets = Sockets()
    sockets.watch(listener, readable=accept)                # callbacks without arguments
    sockets.watch(client, readable=receive, writable=flush) # replaces what was watched before
    sockets.serve(0.004)                                    # waits at most so long, calls each callback once
    sockets.wake()                                          # from any thread or signal handler: serve returns

Callbacks must neither block nor raise.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from nutmeg.base.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pathlib import Path


Callback = Callable[[], None]
WAITING = 64
"""Clients that may wait to be accepted."""


class Sockets:
    """A selector with callbacks."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._wake.settimeout(0.0)
        self._woken.settimeout(0.0)
        self._selector.register(self._woken, selectors.EVENT_READ, {selectors.EVENT_READ: self._drain})

    def watch(self, sock: socket.socket, *, readable: Callback | None = None, writable: Callback | None = None) -> None:
        """Calls back from now on when a socket can be read or written; neither forgets it."""
        wanted = {selectors.EVENT_READ: readable, selectors.EVENT_WRITE: writable}
        callbacks = {event: call for event, call in wanted.items() if call is not None}
        known = sock.fileno() >= 0 and sock in self._selector.get_map()
        if not callbacks:
            self.forget(sock)
        elif known:
            self._selector.modify(sock, sum(callbacks), callbacks)
        else:
            self._selector.register(sock, sum(callbacks), callbacks)

    def forget(self, sock: socket.socket) -> None:
        """Watches a socket no longer; call before closing it. One that is not watched is no mistake."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(sock)

    def serve(self, timeout: float) -> bool:
        """Waits for sockets at most so long [s] and gives each that is ready one turn; whether any was."""
        ready = self._selector.select(timeout)
        for key, events in ready:
            for event, call in list(key.data.items()):
                if events & event and self._selector.get_map().get(key.fd) is not None:
                    call()
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

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            self._woken.recv(4096)


def tcp_listener(host: str, port: int) -> socket.socket:
    """A listening TCP socket that does not block; port 0 takes a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.settimeout(0.0)
    try:
        listener.bind((host, port))
        listener.listen(WAITING)
    except (OSError, OverflowError) as error:
        listener.close()
        raise EnvironmentProblem(
            f"cannot listen on {host}, port {port}: {error}. Choose another port (0 takes a free one), "
            "or end the program that uses it."
        ) from None
    return listener


def unix_listener(path: Path) -> socket.socket:
    """A listening Unix stream socket that does not block; a socket left behind by a dead server is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.settimeout(0.0)
    try:
        if path.is_socket():
            _remove_dead(path)
        listener.bind(str(path))
        listener.listen(WAITING)
    except (OSError, ValueError) as error:
        listener.close()
        raise EnvironmentProblem(
            f"cannot listen on the socket {path}: {error}. Choose another path (at most 100 characters, in a folder "
            "that exists), or end the program that uses it."
        ) from None
    return listener


def _remove_dead(path: Path) -> None:
    """Removes a socket file to which nobody listens any more; one that is in use is left, and cannot be bound."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


# ----------------------------------------------------------------------------------------------------
# A selector that stays awake for peers that answer at once: falling asleep and being woken takes longer than they do.
#
# On a virtual machine it may take a tenth of a millisecond until a process that sleeps in `select` runs again, and
# the process that wakes it pays a part of that. So whoever waits here asks again and again, but only if the last wait
# was short, and never for longer than `AWAKE`: peers that think for longer cost nothing but one such time.


AWAKE = 0.0002
"""Peers that answer within this time are waited for awake, s."""


class WakefulSelector(selectors.DefaultSelector):
    """The system's selector, with another way to wait."""

    _prompt = False

    def wait(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Who is ready, as `select` says it: after so long at the latest, s, and perhaps nobody; None is for ever."""
        ready = self.select(0.0)
        if ready or timeout == 0.0:
            self._prompt = self._prompt or bool(ready)
            return ready
        start = time.monotonic()
        until = start + (AWAKE if timeout is None else min(timeout, AWAKE))
        while self._prompt and not ready and time.monotonic() < until:
            ready = self.select(0.0)
        ready = ready or self.select(timeout)
        self._prompt = time.monotonic() < start + AWAKE
        return ready
