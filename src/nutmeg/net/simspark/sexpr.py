"""S-expressions as robot soccer servers send them: lists in parentheses, atoms between spaces, nothing quoted.

    reading = read(b"(init (unum 2)(teamname Nutmeg))")
    reading.expressions        # [[b"init", [b"unum", b"2"], [b"teamname", b"Nutmeg"]]]
    reading.problem            # None

Whatever the bytes are, `read` returns: what it could not make sense of is said in `problem`, and what came before that
is in `expressions`. Depth and number of words are bounded, so the work is at most proportional to the bound.
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
DEEPEST = 8
"""Levels of parentheses; agents need two, trainers three."""
MOST_WORDS = 4096
"""Words and parentheses in a message."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a message."""

    expressions: list[Expression]
    """Complete expressions, in order."""
    problem: str | None = None
    """Why reading ended before the end of the message, or None."""


def read(message: bytes, *, deepest: int = DEEPEST, most_words: int = MOST_WORDS) -> Reading:
    """The expressions in a message, up to the first thing that makes no sense."""
    done: list[Expression] = []
    inside: list[list[Expression]] = []
    here = done
    for count, match in enumerate(_WORD.finditer(message)):
        word = match.group()
        if count >= most_words:
            return Reading(done, f"more than {most_words} words and parentheses")
        if word == b"(":
            if len(inside) >= deepest:
                return Reading(done, f"more than {deepest} levels of parentheses at byte {match.start()}")
            inside.append([])
            here = inside[-1]
        elif word == b")":
            if not inside:
                return Reading(done, f"a closing parenthesis too many at byte {match.start()}")
            closed = inside.pop()
            here = inside[-1] if inside else done
            here.append(closed)
        else:
            here.append(word)
    if inside:
        return Reading(done, f"{len(inside)} parentheses are not closed")
    return Reading(done)


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
    """What was found, short enough for a message to people."""
    written = repr(found)[1:] if isinstance(found, bytes) else repr(found)
    return written if len(written) <= most else f"{written[:most]}..."


# ----------------------------------------------------------------------------------------------------
# Messages in a stream of bytes: each is preceded by its length, an unsigned 32-bit number, big end first.
#
# This is how SimSpark's agents and monitors talk. A length is believed only up to `longest`, so that a peer that
# announces four gigabytes costs nothing; a message that never becomes complete occupies at most `longest` bytes.


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
