"""Messages with their length before them."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.simspark.sexpr import Unframer, framed

MESSAGES = st.lists(st.binary(max_size=64), max_size=8)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(ends)]


def test_the_length_is_four_bytes_with_the_big_end_first() -> None:
    assert framed(b"(syn)") == b"\x00\x00\x00\x05(syn)"


@settings(deadline=None)
@given(messages=MESSAGES, places=st.lists(st.integers(0, 600), max_size=12))
def test_messages_arrive_whole_however_the_stream_is_cut(messages: list[bytes], places: list[int]) -> None:
    unframer = Unframer(longest=64)
    pieces = cut(b"".join(map(framed, messages)), places)
    assert [message for piece in pieces for message in unframer.feed(piece)] == messages
    assert unframer.waiting == 0
    assert unframer.problem is None


@pytest.mark.parametrize("length", [65, 1 << 20, 2**31 - 1, 2**31, 2**32 - 1])
def test_a_length_beyond_the_bound_loses_the_stream_and_keeps_nothing(length: int) -> None:
    unframer = Unframer(longest=64)
    assert unframer.feed(framed(b"(syn)") + struct.pack(">I", length) + b"x" * 1000) == [b"(syn)"]
    assert unframer.problem is not None
    assert str(length) in unframer.problem
    assert unframer.waiting == 0
    assert unframer.feed(framed(b"(syn)")) == []


def test_a_message_that_never_ends_occupies_no_more_than_it_may() -> None:
    unframer = Unframer(longest=64)
    for _ in range(100):
        assert unframer.feed(struct.pack(">I", 64) + b"x" * 63 if not unframer.waiting else b"") == []
    assert unframer.waiting == 67


@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(st.binary(max_size=200), max_size=20))
def test_random_bytes_neither_raise_nor_pile_up(pieces: list[bytes]) -> None:
    unframer = Unframer(longest=64)
    for piece in pieces:
        assert all(len(message) <= 64 for message in unframer.feed(piece))
        assert unframer.waiting <= 68
