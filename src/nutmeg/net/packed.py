r"""MessagePack, the part of it that robots speak: maps, lists, texts, numbers; read from bytes that may be anything.

    pack({"Chest": [0.0, 1.0, 0.0]})            # floats take four bytes, as on the robot
    read_message(data)                          # (value, bytes read), or None while the message is not whole
    read_message(b"\xc1")                         # PackedError: no such byte

Format: https://github.com/msgpack/msgpack/blob/master/spec.md. Texts are read as `bytes`, so that no text can be wrong.
What is read is bounded: a list or map of more than 64 entries, a text of more than 256 bytes, or a nesting of more than
four is refused as soon as its head is seen, before anything is set aside for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "bool | int | float | bytes | list[Value] | dict[Value, Value] | None"

ENTRIES = 64
"""Most entries of a list or a map."""
TEXT = 256
"""Longest text [bytes]."""
DEPTH = 4
"""Deepest nesting."""

_FLAT: dict[int, tuple[int, Callable[[bytes], Value]]] = {
    0xC0: (0, lambda _: None),
    0xC2: (0, lambda _: False),
    0xC3: (0, lambda _: True),
    0xCA: (4, lambda b: struct.unpack(">f", b)[0]),
    0xCB: (8, lambda b: struct.unpack(">d", b)[0]),
    **{0xCC + k: (2**k, lambda b: int.from_bytes(b, "big")) for k in range(4)},
    **{0xD0 + k: (2**k, lambda b: int.from_bytes(b, "big", signed=True)) for k in range(4)},
}
"""What follows each of these bytes, and how it is read."""
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}
_FLOATS = {0xCA: "xf", 0xCB: "xd"}


class PackedError(ValueError):
    """Bytes that are no message that may be sent here."""


class _MoreNeededError(Exception):
    """The message goes on beyond what there is."""


def read_message(data: bytes, start: int = 0) -> tuple[Value, int] | None:
    """The message at `start` and where the next one begins; None while it is not whole."""
    try:
        return _value(data, start, DEPTH)
    except _MoreNeededError:
        return None


def _value(data: bytes, at: int, depth: int) -> tuple[Value, int]:
    head, at = _take(data, at, 1)
    kind = head[0]
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 0x100, at
    if kind in _FLAT:
        size, read = _FLAT[kind]
        body, at = _take(data, at, size)
        return read(body), at
    if kind < 0x90:
        return _map(data, at, kind & 0x0F, depth)
    if kind < 0xA0:
        return _list(data, at, kind & 0x0F, depth)
    if kind < 0xC0:
        return _take(data, at, kind & 0x1F)
    return _long(data, at, kind, depth)


def _long(data: bytes, at: int, kind: int, depth: int) -> tuple[Value, int]:
    """What says its size in one, two or four bytes."""
    for kinds in (_TEXTS, _LISTS, _MAPS):
        if kind in kinds:
            number, at = _take(data, at, kinds[kind])
            size = int.from_bytes(number, "big")
            if kinds is _TEXTS:
                return _take(data, at, _fine(size, TEXT, "bytes of text"))
            return (_list if kinds is _LISTS else _map)(data, at, size, depth)
    raise PackedError(f"the byte 0x{kind:02x} begins nothing that may be sent here")


def _list(data: bytes, at: int, count: int, depth: int) -> tuple[list[Value], int]:
    _fine(count, ENTRIES, "entries")
    _fine(1, depth, "lists in lists")
    if count and at < len(data) and data[at] in _FLOATS:
        quick = _floats(data, at, count)
        if quick is not None:
            return quick
    out: list[Value] = []
    for _ in range(count):
        value, at = _value(data, at, depth - 1)
        out.append(value)
    return out, at


def _floats(data: bytes, at: int, count: int) -> tuple[list[Value], int] | None:
    """A list of nothing but floats of one size, which nearly all are; None if it is another."""
    layout = _FLOATS[data[at]]
    stride = struct.calcsize(f">{layout}")
    end = at + stride * count
    if end > len(data) or data[at:end:stride] != data[at : at + 1] * count:
        return None
    return list(struct.unpack_from(f">{layout * count}", data, at)), end


def _map(data: bytes, at: int, count: int, depth: int) -> tuple[dict[Value, Value], int]:
    _fine(count, ENTRIES, "entries")
    _fine(1, depth, "maps in maps")
    out: dict[Value, Value] = {}
    for _ in range(count):
        key, at = _value(data, at, depth - 1)
        if isinstance(key, list | dict):
            raise PackedError("a list or a map cannot be a key")
        out[key], at = _value(data, at, depth - 1)
    return out, at


def _take(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise _MoreNeededError
    return data[at : at + size], at + size


def _fine(count: int, most: int, what: str) -> int:
    if count > most:
        raise PackedError(f"{count} {what}; allowed are {most}")
    return count


def pack(value: object) -> bytes:
    """A value as bytes: floats as 32 bits, whole numbers as short as can be."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _packed_int(value)
        case float():
            return struct.pack(">Bf", 0xCA, value)
        case str() | bytes():
            text = value.encode() if isinstance(value, str) else value
            return _head(len(text), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + text
        case Mapping():
            parts = b"".join(pack(key) + pack(entry) for key, entry in value.items())
            return _head(len(value), 0x80, 16, (None, 0xDE, 0xDF)) + parts
        case Sequence():
            return _head(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(pack(entry) for entry in value)
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _head(size: int, short: int, limit: int, long: tuple[int | None, int, int]) -> bytes:
    if size < limit:
        return bytes([short | size])
    width = next(w for w, kind in enumerate(long) if kind is not None and size < 2 ** (8 * 2**w))
    return bytes([long[width] or 0]) + size.to_bytes(2**width, "big")


def _packed_int(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack(">b" if value < 0 else ">B", value)
    first, signed = (0xCC, False) if value >= 0 else (0xD0, True)
    for width in range(4):
        bits = 8 * 2**width - signed
        if -(2**bits) * signed <= value < 2**bits:
            return bytes([first + width]) + value.to_bytes(2**width, "big", signed=signed)
    raise OverflowError(f"{value} takes more than 64 bits")
