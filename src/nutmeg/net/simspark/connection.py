"""One client's socket, never waited for: what comes in is bounded, and so is what waits to go out.

    connection = Connection(sock, "agent 127.0.0.1:50000", longest=8192, limits=Limits())
    for message in connection.receive():
        ...
    connection.send(message)
    if connection.lost is not None:
        ...                              # close it, and say why

A connection only notes that it is lost, and why; whoever owns it closes it. Nothing here blocks or raises.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from typing import TYPE_CHECKING

from nutmeg.net.framing import Unframer, framed

if TYPE_CHECKING:
    from nutmeg.net.simspark.limits import Limits

_PIECE = 4096
"""Most bytes taken from a socket at once, so that everybody has a turn."""


class Connection:
    """A socket with bounded buffers."""

    def __init__(self, sock: socket.socket, name: str, *, longest: int, limits: Limits) -> None:
        """Take over a connected socket; messages longer than `longest` lose it."""
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.socket_buffer)
        self.socket = sock
        self.name = name
        """What people are told it is."""
        self.lost: str | None = None
        """Why it is to be closed, once that is so."""
        self.held_up = False
        """Whether it has used up its share of this cycle."""
        self.watched = 0
        """Events that its owner's selector waits for; 0 is not registered."""
        self.problems = 0
        """Problems noted so far."""
        self.broken = 0
        """Messages without any sense so far."""
        self._limits = limits
        self._unframer = Unframer(longest)
        self._unsent = bytearray()
        self._share = limits.cycle_share
        self._credit = self._most = limits.burst
        self._sustained, self._cost = limits.sustained, limits.message_cost

    @property
    def unsent(self) -> int:
        """Bytes that wait because the client does not read."""
        return len(self._unsent)

    def lose(self, reason: str) -> None:
        """Note that it is to be closed; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def receive(self) -> list[bytes]:
        """The messages that have arrived, at most a piece of them; call when the socket is readable."""
        try:
            data = self.socket.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return []
        if not data:
            self.lose("it disconnected")
            return []
        messages = self._unframer.feed(data)
        if len(messages) > self._limits.messages_at_once:
            self.lose(f"it sent {len(messages)} messages at once; at most {self._limits.messages_at_once} are allowed")
            return []
        size = len(data)
        self._share -= size + self._cost * len(messages)
        self.held_up = self._share <= 0
        self._credit -= size
        if self._credit < 0:
            limits = self._limits
            self.lose(f"it sent {limits.burst} bytes more than the {limits.sustained} bytes a cycle that are allowed")
        if self._unframer.problem is not None:
            self.lose(self._unframer.problem)
        return messages

    def send(self, message: bytes) -> None:
        """Send a message, now or when the client reads again."""
        self.send_framed(framed(message))

    def send_framed(self, data: bytes) -> None:
        """Send a message that has its length before it already."""
        if self.lost is not None:
            return
        if self._unsent:
            self._unsent += data
        else:
            sent = self._try(data)
            if sent < len(data):
                self._unsent += data[sent:]

    def flush(self) -> None:
        """Go on sending what waits; call when the socket is writable."""
        if self._unsent and self.lost is None:
            del self._unsent[: self._try(self._unsent)]

    def new_cycle(self) -> bool:
        """Give it a new share; whether there is nothing to do but to wait for what it says, as before."""
        if self._credit < self._most:
            self._credit = min(self._credit + self._sustained, self._most)
        plain = self.lost is None and not self.held_up and not self._unsent and self.watched == selectors.EVENT_READ
        self._share = self._limits.cycle_share
        self.held_up = False
        return plain

    def close(self) -> None:
        """Close the socket; what waits is not sent."""
        self._unsent.clear()
        self.socket.close()

    def _try(self, data: bytes | bytearray) -> int:
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return 0
