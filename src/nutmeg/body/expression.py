"""Numbers in robot files that depend on the robot's parameters.

A robot file may write `pos = ["hip_x", 0, "-femur / 2"]`; the names are parameters of the robot. Only
arithmetic is understood, so a robot file cannot run code.

    evaluate("-femur / 2", {"femur": 0.08})  # -0.04
"""

from __future__ import annotations

import ast
import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING

from nutmeg.errors import ModelError, listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Number = float | str
"""A number, or arithmetic over the robot's parameters in quotes."""

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(number: Number, parameters: Mapping[str, float]) -> float:
    """The value of a number or expression; unknown names and other syntax are a ModelError."""
    if not isinstance(number, str):
        return float(number)
    try:
        value = _value(_parsed(number), number, parameters)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # what Python raises for text that is no expression
        raise _not_arithmetic(number) from None
    except (ZeroDivisionError, OverflowError) as error:
        raise ModelError(f"{number!r} cannot be computed: {error}.") from None
    if isinstance(value, complex) or not math.isfinite(value):
        raise ModelError(f"{number!r} cannot be computed: it gives {value}, which is not a finite real number.")
    return value


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def evaluate_all(numbers: Iterable[Number], parameters: Mapping[str, float]) -> list[float]:
    """The values of several numbers or expressions."""
    return [evaluate(number, parameters) for number in numbers]


def _value(node: ast.expr, text: str, parameters: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name):
            if name not in parameters:
                known = sorted(parameters)
                hint = suggestion(name, known) + listing("parameter", known)
                raise ModelError(f"{text!r} uses the parameter {name!r}, which the robot does not have. {hint}")
            return parameters[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, text, parameters), _value(right, text, parameters))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, text, parameters)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, text, parameters)
    raise _not_arithmetic(text)


def _not_arithmetic(text: str) -> ModelError:
    return ModelError(f"{text!r} is not arithmetic (numbers, parameter names, + - * / ** and brackets).")
