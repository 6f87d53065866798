"""One client's socket, never waited for: what waits to go out is bounded, and the oldest is dropped and counted.

    connection = Connection(sock, "sensors 127.0.0.1:50000", sockets, most={"sensors": 32, "pictures": 2})
    connection.send("sensors", packet)
    connection.send("pictures", y, cr, cb)          # dropped together, or not at all
    connection.dropped                              # packets that its client was too slow for

A connection that may send hands its packets to `heard`; what it may send between two calls of `new_turn` is bounded,
and the rest waits in its own socket. Nothing here blocks or raises. A connection only notes that it is `lost`, and why;
whoever owns it closes it.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from nutmeg.net.openr.packets import LONGEST_COMMAND, Packet, PacketReader, with_dropped
from nutmeg.net.wire import Wire

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from nutmeg.net.host_sockets import Sockets

PIECE = 16384
"""Most bytes taken from a socket at once."""
SHARE = 65536
"""Bytes that a client may send in a turn before it is held up; 20 joints have 3 kB for 16 frames."""
PACKET_COST = 256
"""What a packet costs of that share beside its own bytes."""
SEND_BUFFER = 262144
"""Size of the system's send buffer, bytes."""


class Connection(Wire):
    """A socket with bounded buffers.

    Args:
        sock: connected; taken over.
        name: what people are told it is.
        sockets: where it is watched.
        most: how many of each kind may wait to be sent.
        heard: called with each packet of the client; without it, the client may not send.
    """

    def __init__(
        self,
        sock: socket.socket,
        name: str,
        sockets: Sockets,
        *,
        most: Mapping[str, int],
        heard: Callable[[Packet], None] | None = None,
    ) -> None:
        super().__init__(sock, name, send_buffer=SEND_BUFFER, at_once=True)
        self.dropped = 0
        """Packets that were dropped because it did not read them."""
        self._sockets, self._most, self._heard = sockets, most, heard
        self._reader = PacketReader(LONGEST_COMMAND)
        self._groups: deque[tuple[str, tuple[bytes, ...]]] = deque()
        self._waiting: Counter[str] = Counter()
        self._sending: deque[memoryview] = deque()
        self._share = SHARE
        self._watch()

    @property
    def waiting(self) -> int:
        """Packets that wait because the client does not read."""
        return len(self._sending) + sum(len(packets) for _, packets in self._groups)

    def send(self, kind: str, *packets: bytes) -> None:
        """Sends packets that belong together, now or when the client reads again; drops the oldest of their kind."""
        if self.lost is not None:
            return
        if self._waiting[kind] >= self._most[kind]:
            oldest = next(k for k, group in enumerate(self._groups) if group[0] == kind)
            self.dropped += len(self._groups[oldest][1])
            del self._groups[oldest]
            self._waiting[kind] -= 1
        self._groups.append((kind, packets))
        self._waiting[kind] += 1
        self._flush()

    def new_turn(self) -> None:
        """Gives it a new share."""
        held_up = self._share <= 0
        self._share = SHARE
        if held_up:
            self._watch()

    def close(self) -> None:
        """Closes the socket; what waits is not sent."""
        self._groups.clear()
        self._sending.clear()
        self._waiting.clear()
        self._sockets.forget(self.socket)
        self.socket.close()

    def _watch(self) -> None:
        reading = self._receive if self._share > 0 and self.lost is None else None
        writing = self._flush if (self._sending or self._groups) and self.lost is None else None
        self._sockets.watch(self.socket, readable=reading, writable=writing)

    def _receive(self) -> None:
        data = self.read(PIECE)
        if data and self._heard is None:
            self.lose("it sent something, but on this connection only the robot speaks")
        elif data:
            self._read(data)
        if self.lost is not None or self._share <= 0:
            self._watch()

    def _read(self, data: bytes) -> None:
        packets = self._reader.feed(data)
        self._share -= len(data) + PACKET_COST * len(packets)
        for packet in packets:
            if self._heard is not None:
                self._heard(packet)
        if self._reader.problem is not None:
            self.lose(f"it {self._reader.problem}")

    def _flush(self) -> None:
        """Sends as much as the socket takes."""
        before = bool(self._sending)
        while self.lost is None and (self._sending or self._groups):
            if not self._sending:
                kind, packets = self._groups.popleft()
                self._waiting[kind] -= 1
                self._sending.extend(memoryview(self._stamped(packet)) for packet in packets)
            sent = self.write(self._sending[0])
            if sent == len(self._sending[0]):
                self._sending.popleft()
            else:
                self._sending[0] = self._sending[0][sent:]
                break
        if bool(self._sending) != before or self.lost is not None:
            self._watch()

    def _stamped(self, packet: bytes) -> bytes:
        return with_dropped(packet, self.dropped) if self.dropped else packet
