"""MessagePack of our own against the reference implementation, and against bytes that are no messages."""

from __future__ import annotations

import math
import struct
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.lola.packets import DEPTH, ENTRIES, TEXT, PackedError, pack, read_message

FLOATS = st.floats(width=32, allow_nan=False)
FLAT = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | FLOATS | st.text(max_size=40)
VALUES = st.recursive(
    FLAT,
    lambda inner: st.lists(inner, max_size=18) | st.dictionaries(st.text(max_size=8), inner, max_size=18),
    max_leaves=12,
).filter(lambda value: depth(value) <= DEPTH)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def as_bytes(value: Any) -> Any:
    """A value with its texts as bytes, as they are read here."""
    if isinstance(value, dict):
        return {as_bytes(key): as_bytes(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [as_bytes(entry) for entry in value]
    return value.encode() if isinstance(value, str) else value


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_what_is_packed_is_what_the_reference_packs(value: Any) -> None:
    assert pack(value) == msgpack.packb(value, use_single_float=True)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.booleans())
def test_what_the_reference_packs_is_read(value: Any, single: bool) -> None:
    data = msgpack.packb(value, use_single_float=single)
    assert read_message(data) == (as_bytes(value), len(data))


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_messages_follow_each_other_and_a_part_of_one_waits(first: Any, second: Any) -> None:
    one, two = pack(first), pack(second)
    assert read_message(one + two, len(one)) == (as_bytes(second), len(one) + len(two))
    assert all(read_message(one[:cut]) is None for cut in range(len(one)))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_refused_or_waited_for(data: bytes) -> None:
    try:
        found = read_message(data)
    except PackedError:
        return
    if found is not None:
        assert 0 < found[1] <= len(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xc1", "0xc1"),
        (b"\xc7\x01\x00\x00", "0xc7"),
        (b"\xdd\xff\xff\xff\xff", "entries"),
        (b"\xdf\x7f\xff\xff\xff", "entries"),
        (b"\xdb\xff\xff\xff\xff", "bytes of text"),
        (b"\x91" * (DEPTH + 1) + b"\x00", "lists in lists"),
        (b"\x81\x90\x00", "cannot be a key"),
        (bytes([0xDC, 0, ENTRIES + 1]), f"allowed are {ENTRIES}"),
        (bytes([0xDA]) + (TEXT + 1).to_bytes(2, "big"), f"allowed are {TEXT}"),
    ],
)
def test_what_is_too_large_or_unknown_is_refused_at_its_first_bytes(data: bytes, reason: str) -> None:
    with pytest.raises(PackedError, match=reason):
        read_message(data)


def test_floats_of_both_sizes_and_mixed_lists_are_read() -> None:
    data = b"\x93" + struct.pack(">Bf", 0xCA, 0.5) + struct.pack(">Bd", 0xCB, 0.1) + b"\x07"
    assert read_message(data) == ([0.5, 0.1, 7], len(data))
    found = read_message(struct.pack(">Bf", 0xCA, math.nan))
    assert found is not None
    assert isinstance(found[0], float)
    assert math.isnan(found[0])
