"""Messages in a stream of bytes: each is preceded by its length, an unsigned 32-bit number, big end first.

    unframer = Unframer(longest=8192)
    for message in unframer.feed(socket.recv(65536)):
        ...
    if unframer.problem is not None:
        ...                                  # the stream is lost; disconnect, and say why

This is how SimSpark's agents and monitors talk. A length is believed only up to `longest`, so that a peer that
announces four gigabytes costs nothing; a message that never becomes complete occupies at most `longest` bytes.
"""

from __future__ import annotations

import struct

_LENGTH = struct.Struct(">I")


def framed(message: bytes) -> bytes:
    """The message with its length before it, ready to be sent."""
    return _LENGTH.pack(len(message)) + message


class Unframer:
    """Cuts a stream of bytes into messages."""

    def __init__(self, longest: int) -> None:
        """A reader of messages of at most `longest` bytes."""
        self.longest = longest
        """Messages longer than this lose the stream, bytes."""
        self.problem: str | None = None
        """Why nothing more can be read from this stream, once that is so."""
        self._kept = b""

    @property
    def waiting(self) -> int:
        """Bytes of a message that is not complete yet."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete once `data` has arrived; after a problem, none."""
        if self.problem is not None:
            return []
        size = len(data) - 4
        if not self._kept and 0 <= size <= self.longest and _LENGTH.unpack_from(data)[0] == size:
            return [data[4:]]  # one whole message, as nearly always
        kept = self._kept + data if self._kept else data
        messages: list[bytes] = []
        start, end = 0, len(kept)
        while end - start >= 4:
            (length,) = _LENGTH.unpack_from(kept, start)
            if length > self.longest:
                self.problem = f"announced a message of {length} bytes; at most {self.longest} are allowed"
                self._kept = b""
                return messages
            if end - start - 4 < length:
                break
            messages.append(kept[start + 4 : start + 4 + length])
            start += 4 + length
        self._kept = kept[start:] if start < end else b""
        return messages
