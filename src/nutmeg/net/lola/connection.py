"""One client at a LoLA socket, with bounded buffers; it can send what it likes and read as slowly as it likes.

Packets go out whole or not at all: a client that does not read misses packets (`missed` counts them) but never sees a
part of one, and finds the newest few when it reads again. What comes in is taken apart into messages; bytes that are no
message, or more of them than anybody needs, lose the connection. Nothing here blocks or raises.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.net.packed import PackedError, read_message

if TYPE_CHECKING:
    from nutmeg.net.packed import Value


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds for each client."""

    message: int = 8192
    """The longest message [bytes]; a full set of actuators with floats of 64 bits has 1374."""
    piece: int = 4096
    """Most bytes taken at once."""
    pieces: int = 8
    """Pieces taken in a cycle; the rest waits in the socket until the next."""
    messages: int = 32
    """Messages in a piece before a client is disconnected."""
    broken: int = 100
    """Messages without any sense before a client is disconnected."""
    reported: int = 10
    """Problems of a client that are told; the rest are only counted."""
    send_buffer: int = 4096
    """What the system is asked to hold for a client that does not read [bytes]: a few packets."""
    clients: int = 8
    """Connections at once to one socket; only the newest moves the robot."""


class LolaClient:
    """A socket with bounded buffers."""

    def __init__(self, sock: socket.socket, name: str, limits: Limits) -> None:
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer)
        self.socket = sock
        self.name = name
        """What people are told it is."""
        self.lost: str | None = None
        """Why it is to be closed, once that is so."""
        self.sent = self.received = self.missed = self.problems = self.broken = 0
        """Packets sent, messages received, packets for which it had no room, problems, messages without sense."""
        self.unanswered = False
        """Whether it has been sent a packet since its last message."""
        self._limits = limits
        self._buffer = b""
        self._unsent = b""
        self._pieces = limits.pieces

    @property
    def held_up(self) -> bool:
        """Whether it has used up its share of this cycle."""
        return self._pieces <= 0

    @property
    def unsent(self) -> bool:
        """Whether a part of a packet still has to go out."""
        return bool(self._unsent)

    def lose(self, reason: str) -> None:
        """Notes that it is to be closed; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def new_cycle(self) -> None:
        """Gives it a new share."""
        self._pieces = self._limits.pieces

    def send(self, packet: bytes) -> None:
        """Sends a packet, or leaves it out where there is no room for it."""
        self.flush()
        if self.lost is not None:
            return
        sent = 0 if self._unsent else self._try(packet)
        if self._unsent or not sent:
            self.missed += 1
            return
        self._unsent = packet[sent:]
        self.sent += 1
        self.unanswered = True

    def flush(self) -> None:
        """Goes on with a packet that was begun."""
        if self._unsent and self.lost is None:
            self._unsent = self._unsent[self._try(self._unsent) :]

    def receive(self) -> list[Value]:
        """The messages that have arrived; call when the socket is readable."""
        self._pieces -= 1
        try:
            data = self.socket.recv(self._limits.piece)
        except BlockingIOError:
            return []
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return []
        if not data:
            self.lose("it disconnected")
            return []
        self._buffer += data
        return self._messages()

    def _messages(self) -> list[Value]:
        out: list[Value] = []
        at = 0
        try:
            while at < len(self._buffer) and (found := read_message(self._buffer, at)) is not None:
                out.append(found[0])
                at = found[1]
                if len(out) > self._limits.messages:
                    self.lose(f"it sent more than {self._limits.messages} messages at once")
                    return []
        except PackedError as error:
            self.lose(f"it sent what is no packet: {error}")
            return out
        self._buffer = self._buffer[at:]
        if len(self._buffer) > self._limits.message:
            self.lose(f"it sent a packet of more than {self._limits.message} bytes")
        self.received += len(out)
        if out:
            self.unanswered = False
        return out

    def close(self) -> None:
        """Closes the socket; what waits is not sent."""
        self._unsent = b""
        self.socket.close()

    def _try(self, data: bytes) -> int:
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.lose(f"the connection broke ({error.strerror or error})")
            return 0
