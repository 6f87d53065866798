"""Compiled text against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.match.worlds.physical.percept import EFFECTORS
from nutmeg.net.simspark.percepts import fill, motors, motors_and_syn

HALVES = st.integers(-100_000, 100_000).map(lambda n: n / 8)
"""Numbers that end in an exact half of a hundredth now and then, as 0.125."""
NEAR_HALVES = st.integers(-10_000_000, 10_000_000).map(lambda n: (n + 0.5) / 100)
"""Numbers whose hundredfold rounds to a half, though they are not exactly there."""


@settings(deadline=None)
@given(st.lists(st.one_of(st.floats(), HALVES, NEAR_HALVES), max_size=20))
def test_numbers_are_written_as_c_writes_them(values: list[float]) -> None:
    template = b"(pol" + b" \0" * len(values) + b")"
    assert fill(template, np.array(values)) == ("(pol" + "".join(f" {v:.2f}" for v in values) + ")").encode()


def test_a_million_numbers_near_a_half_are_written_as_c_writes_them() -> None:
    rng = np.random.default_rng(0)
    values = (rng.integers(-(10**7), 10**7, 20_000) + 0.5) / 100
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    text = fill(b"\0 " * len(values), values).decode()
    assert text.split() == [f"{v:.2f}" for v in values.tolist()]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(EFFECTORS), st.integers(-(10**9), 10**9), st.integers(0, 9)), min_size=1, max_size=30
    )
)
def test_motors_are_read_as_python_reads_numbers(told: list[tuple[str, int, int]]) -> None:
    words = [(name, f"{value / 10**decimals:.{decimals}f}") for name, value, decimals in told]
    found = motors("".join(f"({name} {text})" for name, text in words).encode(), 24)
    assert found is not None
    wanted = dict(words)
    for column, name in enumerate(EFFECTORS):
        if name in wanted:
            assert found[column] == float(wanted[name])
        else:
            assert np.isnan(found[column])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"(",
        b"(he1",
        b"(he1 ",
        b"(he1 1",
        b"(he1 )",
        b"(he1 1)x",
        b"(he1  1)",
        b"(he1 1 )",
        b"(he1 1e3)",
        b"(he1 nan)",
        b"(he1 1.2.3)",
        b"(he1 1)(he9 1)",
        b"(lle7 1)",
        b"(he1 12345678901234567)",
        b"(\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff 1)",
        b"(he1 -)",
        b"(he1 .)",
    ],
)
def test_what_is_not_plainly_motors_is_left_to_others(text: bytes) -> None:
    assert motors(text, 22) is None


def test_motors_may_be_followed_by_syn_and_by_nothing_else() -> None:
    found = motors_and_syn(b"(he1 0.5)(syn)", 22)
    assert found is not None
    assert found[0] is not None
    assert found[0][0] == 0.5
    assert np.isnan(found[0][1:]).all()
    assert found[1]
    assert motors_and_syn(b"(syn)", 22) == (None, True)
    plain = motors_and_syn(b"(he2 1)", 22)
    assert plain is not None
    assert not plain[1]
    for text in (b"", b"(syn", b"(syn)(he1 1)", b"(syn)(syn)", b"(he1 1)(syn) ", b"(he1 1)(say x)(syn)", b"syn)"):
        assert motors_and_syn(text, 22) is None, text
    assert motors(b"(he1 0.5)(syn)", 22) is None


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_upset_the_reader_of_motors(data: bytes) -> None:
    for text, joints in ((data, 22), (b"(he1 " + data, 24)):
        found = motors(text, joints)
        assert found is None or (found.shape == (joints,) and not np.isinf(found).any())
