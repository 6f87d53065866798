r"""The text of SimSpark's messages: S-expressions, each message preceded by its length.

    parsed = parse(b"(init (unum 2)(teamname Nutmeg))")
    parsed.expressions         # [[b"init", [b"unum", b"2"], [b"teamname", b"Nutmeg"]]]
    parsed.problem             # None

    framed(b"(syn)")           # b"\0\0\0\x05(syn)": an unsigned 32-bit length, big end first
    unframer = Unframer(longest=8192)
    for message in unframer.feed(socket.recv(65536)): ...
    unframer.problem           # None, or why the stream makes no sense

Lists stand in parentheses, atoms between spaces, and nothing is quoted. Whatever the bytes are, `parse` returns: what
it could not make sense of is said in `problem`, and what came before that is in `expressions`. Depth and number of
words are bounded. A length is believed only up to `longest`, so that a peer that announces four gigabytes costs
nothing; a message that never becomes complete occupies at most `longest` bytes.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Expression: TypeAlias = "bytes | list[Expression]"

_WORD = re.compile(rb"[()]|[^\s()]+")
MAX_DEPTH = 8
"""Levels of parentheses; agents need two, trainers three."""
MAX_WORDS = 4096
"""Words and parentheses in a message."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The expressions of a message."""

    expressions: list[Expression]
    """Complete expressions, in order."""
    problem: str | None = None
    """What made parsing end before the end of the message, as what the message has: "a closing parenthesis too many
    at byte 7"; or None."""


def parse(message: bytes, *, max_depth: int = MAX_DEPTH, max_words: int = MAX_WORDS) -> Parsed:
    """The expressions in a message, up to the first thing that makes no sense."""
    done: list[Expression] = []
    inside: list[list[Expression]] = []
    here = done
    for count, match in enumerate(_WORD.finditer(message)):
        word = match.group()
        if count >= max_words:
            return Parsed(done, f"more than {max_words} words and parentheses")
        if word == b"(":
            if len(inside) >= max_depth:
                return Parsed(done, f"more than {max_depth} levels of parentheses at byte {match.start()}")
            inside.append([])
            here = inside[-1]
        elif word == b")":
            if not inside:
                return Parsed(done, f"a closing parenthesis too many at byte {match.start()}")
            closed = inside.pop()
            here = inside[-1] if inside else done
            here.append(closed)
        else:
            here.append(word)
    if inside:
        one = len(inside) == 1
        return Parsed(
            done, f"{'a parenthesis' if one else f'{len(inside)} parentheses'} that {'is' if one else 'are'} not closed"
        )
    return Parsed(done)


def number(word: Expression) -> float | None:
    """The finite number that an atom says, or None if it says anything else."""
    if not isinstance(word, bytes) or b"_" in word:  # Python's own spelling of long numbers, unknown on the wire
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def numbers(words: Sequence[Expression], count: int) -> tuple[float, ...] | None:
    """Exactly `count` finite numbers, or None if the words are anything else."""
    found = [value for value in map(number, words) if value is not None]
    return tuple(found) if len(found) == len(words) == count else None


def text(word: Expression) -> str | None:
    """An atom of printable ASCII as text, or None for anything else."""
    if not isinstance(word, bytes) or not word.isascii():
        return None
    letters = word.decode("ascii")
    return letters if letters.isprintable() else None


def shown(found: Expression | bytes, most: int = 40) -> str:
    """An expression, shortened for a message to people."""
    written = repr(found)[1:] if isinstance(found, bytes) else repr(found)
    return written if len(written) <= most else f"{written[:most]}..."


_LENGTH = struct.Struct(">I")


def framed(message: bytes) -> bytes:
    """The message with its length before it, ready to be sent."""
    return _LENGTH.pack(len(message)) + message


class Unframer:
    """Cuts a stream of bytes into messages of at most `longest` bytes."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        """Longer messages are a problem [bytes]."""
        self.problem: str | None = None
        """Why nothing more can be read from this stream, once that is so."""
        self._kept = b""

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
