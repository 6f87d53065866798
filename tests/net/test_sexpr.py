"""S-expressions, sound and unsound."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.sexpr import Expression

ATOMS = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="()"), min_size=1)
TREES = st.recursive(ATOMS.map(str.encode), lambda inner: st.lists(inner, max_size=4), max_leaves=12)
JUNK = st.text(alphabet="()  a1.-\n\x00_", max_size=400).map(str.encode) | st.binary(max_size=400)


def written(expression: Expression) -> bytes:
    return expression if isinstance(expression, bytes) else b"(" + b" ".join(map(written, expression)) + b")"


def depth(expression: Expression) -> int:
    return 0 if isinstance(expression, bytes) else 1 + max(map(depth, expression), default=0)


@settings(deadline=None)
@given(trees=st.lists(TREES, max_size=5))
def test_what_is_written_is_read_back(trees: list[Expression]) -> None:
    reading = sexpr.read(b" ".join(map(written, trees)), deepest=100)
    assert reading.problem is None
    assert reading.expressions == trees


@pytest.mark.parametrize(
    ("message", "whole", "problem"),
    [
        (b"(a 1)(b (c 2", [[b"a", b"1"]], "2 parentheses are not closed"),
        (b"(a 1))(b 2)", [[b"a", b"1"]], "a closing parenthesis too many at byte 5"),
        (b"(a)" + b"(" * 100, [[b"a"]], "more than 8 levels of parentheses at byte 11"),
        (b"x " * 5000, [b"x"] * 4096, "more than 4096 words and parentheses"),
    ],
)
def test_reading_ends_where_the_sense_does_and_says_why(message: bytes, whole: list[Expression], problem: str) -> None:
    reading = sexpr.read(message)
    assert reading.expressions == whole
    assert reading.problem == problem


@settings(max_examples=200, deadline=None)
@given(message=JUNK)
def test_junk_never_raises_and_what_is_read_of_it_is_bounded(message: bytes) -> None:
    reading = sexpr.read(message, deepest=5, most_words=100)
    assert sum(len(written(e)) for e in reading.expressions) <= 2 * len(message)
    assert all(depth(e) <= 5 for e in reading.expressions)


@pytest.mark.parametrize("word", [b"nan", b"inf", b"-Infinity", b"1e999", b"1_000", b"0x10", b"", b"1.2.3", [b"1"]])
def test_what_is_no_finite_number_is_none(word: Expression) -> None:
    assert sexpr.number(word) is None


@settings(deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_exactly(value: float) -> None:
    found = sexpr.number(repr(value).encode())
    assert found == value
    assert math.copysign(1.0, found) == math.copysign(1.0, value)
