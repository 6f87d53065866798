"""A connected socket that is never waited for: nothing here blocks or raises.

    wire = Wire(sock, "sensors 127.0.0.1:50000", send_buffer=4096)
    data = wire.read(4096)                      # b"" if nothing has come
    left = packet[wire.write(packet) :]         # what there was no room for
    if wire.lost is not None:
        ...                                     # close it, and say why

A wire only notes that it is lost, and why; whoever owns it closes it.
"""

from __future__ import annotations

import contextlib
import socket


class Wire:
    """One client's socket.

    Args:
        sock: connected; taken over.
        name: what people are told it is.
        send_buffer: what the system is asked to hold for a client that does not read [bytes].
        at_once: whether small packets leave at once, over TCP.
    """

    def __init__(self, sock: socket.socket, name: str, *, send_buffer: int, at_once: bool = False) -> None:
        sock.settimeout(0.0)
        with contextlib.suppress(OSError):  # the peer may have gone already
            if at_once:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.socket = sock
        self.name = name
        """What people are told it is."""
        self.lost: str | None = None
        """Why it is to be closed, once that is so."""

    def lose(self, reason: str) -> None:
        """Notes that it is to be closed; the first reason counts."""
        if self.lost is None:
            self.lost = reason

    def read(self, most: int) -> bytes:
        """What has come, at most so many bytes; nothing if it is lost."""
        try:
            data = self.socket.recv(most)
        except BlockingIOError:
            return b""
        except OSError as error:
            self._broke(error)
            return b""
        if not data:
            self.lose("it disconnected")
        return data

    def write(self, data: bytes | memoryview) -> int:
        """Sends what there is room for; how many bytes that was."""
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._broke(error)
            return 0

    def _broke(self, error: OSError) -> None:
        self.lose(f"the connection broke ({error.strerror or error})")
