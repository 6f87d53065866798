"""One client at a LoLA socket, with bounded buffers; it can send what it likes and read as slowly as it likes.

Packets go out whole or not at all: a client that does not read misses packets (`missed` counts them) but never sees a
part of one, and finds the newest few when it reads again. What comes in is taken apart into messages; bytes that are no
message, or more of them than anybody needs, lose the connection. Nothing here blocks or raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.net.packed import PackedError, read_message
from nutmeg.net.wire import Wire

if TYPE_CHECKING:
    import socket

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


class LolaClient(Wire):
    """A socket with bounded buffers."""

    def __init__(self, sock: socket.socket, name: str, limits: Limits) -> None:
        super().__init__(sock, name, send_buffer=limits.send_buffer)
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

    def new_cycle(self) -> None:
        """Gives it a new share."""
        self._pieces = self._limits.pieces

    def send(self, packet: bytes) -> None:
        """Sends a packet, or leaves it out where there is no room for it."""
        self.flush()
        if self.lost is not None:
            return
        sent = 0 if self._unsent else self.write(packet)
        if self._unsent or not sent:
            self.missed += 1
            return
        self._unsent = packet[sent:]
        self.sent += 1
        self.unanswered = True

    def flush(self) -> None:
        """Goes on with a packet that was begun."""
        if self._unsent and self.lost is None:
            self._unsent = self._unsent[self.write(self._unsent) :]

    def receive(self) -> list[Value]:
        """The messages that have arrived; call when the socket is readable."""
        self._pieces -= 1
        data = self.read(self._limits.piece)
        self._buffer += data
        return self._messages() if data else []

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
