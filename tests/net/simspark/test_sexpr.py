"""S-expressions, sound and unsound, and messages with their length before them."""

from __future__ import annotations

import itertools
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression, Unframer, framed

ATOMS = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="()"), min_size=1)
TREES = st.recursive(ATOMS.map(str.encode), lambda inner: st.lists(inner, max_size=4), max_leaves=12)
JUNK = st.text(alphabet="()  a1.-\n\x00_", max_size=400).map(str.encode) | st.binary(max_size=400)

MESSAGES = st.lists(st.binary(max_size=64), max_size=8)


def written(expression: Expression) -> bytes:
    return expression if isinstance(expression, bytes) else b"(" + b" ".join(map(written, expression)) + b")"


def depth(expression: Expression) -> int:
    return 0 if isinstance(expression, bytes) else 1 + max(map(depth, expression), default=0)


@given(trees=st.lists(TREES, max_size=5))
def test_what_is_written_is_read_back(trees: list[Expression]) -> None:
    reading = sexpr.parse(b" ".join(map(written, trees)), max_depth=100)
    assert reading.problem is None
    assert reading.expressions == trees


@pytest.mark.parametrize(
    ("message", "whole", "problem"),
    [
        (b"(a 1)(b (c 2", [[b"a", b"1"]], "2 parentheses that are not closed"),
        (b"(a 1))(b 2)", [[b"a", b"1"]], "a closing parenthesis too many at byte 5"),
        (b"(a)" + b"(" * 100, [[b"a"]], "more than 8 levels of parentheses at byte 11"),
        (b"x " * 5000, [b"x"] * 4096, "more than 4096 words and parentheses"),
    ],
)
def test_reading_ends_where_the_sense_does_and_says_why(message: bytes, whole: list[Expression], problem: str) -> None:
    reading = sexpr.parse(message)
    assert reading.expressions == whole
    assert reading.problem == problem


@settings(max_examples=200)
@given(message=JUNK)
def test_junk_never_raises_and_what_is_read_of_it_is_bounded(message: bytes) -> None:
    reading = sexpr.parse(message, max_depth=5, max_words=100)
    assert sum(len(written(e)) for e in reading.expressions) <= 2 * len(message)
    assert all(depth(e) <= 5 for e in reading.expressions)


@pytest.mark.parametrize("word", [b"nan", b"inf", b"-Infinity", b"1e999", b"1_000", b"0x10", b"", b"1.2.3", [b"1"]])
def test_what_is_no_finite_number_is_none(word: Expression) -> None:
    assert sexpr.number(word) is None


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_exactly(value: float) -> None:
    found = sexpr.number(repr(value).encode())
    assert found == value
    assert math.copysign(1.0, found) == math.copysign(1.0, value)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(ends)]


def test_the_length_is_four_bytes_with_the_big_end_first() -> None:
    assert framed(b"(syn)") == b"\x00\x00\x00\x05(syn)"


@given(messages=MESSAGES, places=st.lists(st.integers(0, 600), max_size=12))
def test_messages_arrive_whole_however_the_stream_is_cut(messages: list[bytes], places: list[int]) -> None:
    unframer = Unframer(longest=64)
    pieces = cut(b"".join(map(framed, messages)), places)
    assert [message for piece in pieces for message in unframer.feed(piece)] == messages
    assert len(unframer._kept) == 0
    assert unframer.problem is None


@pytest.mark.parametrize("length", [65, 1 << 20, 2**31 - 1, 2**31, 2**32 - 1])
def test_a_length_beyond_the_bound_loses_the_stream_and_keeps_nothing(length: int) -> None:
    unframer = Unframer(longest=64)
    assert unframer.feed(framed(b"(syn)") + struct.pack(">I", length) + b"x" * 1000) == [b"(syn)"]
    assert unframer.problem is not None
    assert str(length) in unframer.problem
    assert len(unframer._kept) == 0
    assert unframer.feed(framed(b"(syn)")) == []


def test_a_message_that_never_ends_occupies_no_more_than_it_may() -> None:
    unframer = Unframer(longest=64)
    for _ in range(100):
        assert unframer.feed(struct.pack(">I", 64) + b"x" * 63 if not unframer._kept else b"") == []
    assert len(unframer._kept) == 67


@settings(max_examples=150)
@given(pieces=st.lists(st.binary(max_size=200), max_size=20))
def test_random_bytes_neither_raise_nor_pile_up(pieces: list[bytes]) -> None:
    unframer = Unframer(longest=64)
    for piece in pieces:
        assert all(len(message) <= 64 for message in unframer.feed(piece))
        assert len(unframer._kept) <= 68
