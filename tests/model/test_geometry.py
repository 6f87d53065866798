"""Arithmetic in robot files against Python's own, and against what must not be understood."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nutmeg.base.errors import ModelError
from nutmeg.model.geometry import evaluate, evaluate_all

NAMES = {"femur": 0.08, "tibia": -1.5, "_x1": 3.0}

atoms = st.one_of(st.floats(0.001, 1000).map(repr), st.integers(0, 50).map(str), st.sampled_from(sorted(NAMES)))
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", " + ", " * "]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-({})".format),
        inner.map("+{}".format),
    ),
    max_leaves=12,
)


@given(expressions)
def test_arithmetic_is_what_python_makes_of_it(text: str) -> None:
    try:
        wanted = eval(text, {}, dict(NAMES))  # the strategy writes nothing but arithmetic
        finite = not isinstance(wanted, complex) and math.isfinite(wanted)
    except (ZeroDivisionError, OverflowError):
        finite = False
    assume(not finite or abs(wanted) < 1e300)
    if finite:
        assert evaluate(text, NAMES) == pytest.approx(float(wanted), rel=1e-12)
    else:
        with pytest.raises(ModelError, match="cannot be computed"):
            evaluate(text, NAMES)


def test_a_number_is_itself() -> None:
    assert evaluate(2, {}) == 2.0
    assert evaluate_all((1, "2 * a", -0.5), {"a": 3.0}) == [1.0, 6.0, -0.5]


def test_blanks_around_an_expression_do_no_harm() -> None:
    assert evaluate("  femur * 2 ", NAMES) == 0.16


def test_an_unknown_parameter_is_named_with_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"'femu', .*Did you mean 'femur'\? Known parameters: _x1, femur, tibia"):
        evaluate("2 * femu", NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "__import__('os').system('true')",
        "femur.real",
        "[1][0]",
        "'a' * 3",
        "1 if femur else 2",
        "femur == 1",
        "True",
        "None",
        "1j",
        "lambda: 1",
        "1 // 2",
        "5 % 2",
        "a := 1",
        "1\x00",
        "(" * 500 + "1" + ")" * 500,
    ],
)
def test_only_arithmetic_is_understood(text: str) -> None:
    with pytest.raises(ModelError, match="is not arithmetic"):
        evaluate(text, NAMES)


@pytest.mark.parametrize("text", ["1 / 0", "1e308 * 10", "10.0 ** 400", "(0 - 1) ** 0.5", "1e400"])
def test_what_is_not_a_finite_real_number_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="cannot be computed"):
        evaluate(text, NAMES)
