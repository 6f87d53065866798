"""Records for kernels: a dataclass of numbers as a numpy dtype, so that a kernel reads `walk.speed`, not `row[3]`.

    @dataclass(frozen=True, kw_only=True)
    class Speeds:
        ahead: float = 0.2
        turn: float = 1.0

    SPEEDS = record_of(Speeds)                # dtype([("ahead", float64), ("turn", float64)])
    record = record_values(Speeds(turn=0.5))  # array of shape (1,): record[0].ahead in a kernel

A field that is a dataclass gives one column per number, named `group_number`. A field `Annotated[Floats, (2, 3)]`
gives an array of that shape; records with such fields are states that kernels change, made with `np.zeros(n, dtype)`.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, get_type_hints

import numpy as np

from nutmeg.base.arrays import Bools, Bytes, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

_KINDS: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
_ARRAYS: dict[object, type[np.generic]] = {Floats: np.float64, Ints: np.int64, Bools: np.bool_, Bytes: np.uint8}


@cache
def record_of(kind: type[DataclassInstance]) -> np.dtype[np.void]:
    """The dtype that holds one object of a dataclass; fields that are no numbers (names, sources) are left out."""
    return np.dtype(list(_columns(kind)))


def record_values(*objects: DataclassInstance) -> NDArray[np.void]:
    """(N,) the numbers of objects of the same dataclass, of the type that `record_of` gives for it."""
    return np.array([tuple(_numbers(each)) for each in objects], record_of(type(objects[0])))


@cache
def _hints(kind: type[DataclassInstance]) -> dict[str, object]:
    return get_type_hints(kind)


def _columns(kind: type[DataclassInstance]) -> Iterator[tuple[str, type[np.generic], tuple[int, ...]]]:
    hints, annotated = _hints(kind), get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from ((f"{field.name}_{name}", number, shape) for name, number, shape in _columns(hint))
        elif hint in _KINDS:
            yield field.name, _KINDS[hint], ()
        elif hint in _ARRAYS and (shape := getattr(annotated[field.name], "__metadata__", None)):
            yield field.name, _ARRAYS[hint], shape[0]


def _numbers(value: DataclassInstance) -> Iterator[float]:
    hints = _hints(type(value))
    for field in dataclasses.fields(value):
        number = getattr(value, field.name)
        if dataclasses.is_dataclass(number) and not isinstance(number, type):
            yield from _numbers(number)
        elif hints[field.name] in _KINDS:
            yield number
