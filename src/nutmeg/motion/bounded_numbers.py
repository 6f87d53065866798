"""Parameters of walks: fields of a dataclass, each with its allowed range and unit.

    @dataclass(frozen=True, kw_only=True)
    class TrotSettings:
        frequency: float = number(1.6, 0.5, 3.0, "Hz")

        def __post_init__(self) -> None:
            check_numbers(self)                 # ValueError: frequency is 4; allowed is 0.5..3 Hz.

    range_of(TrotSettings, "frequency", what="parameter of the trot")       # 0.5, 3.0, "Hz"

Searches take their limits from these ranges.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from nutmeg.errors import UnknownNameError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def number(start: float, low: float, high: float, unit: str = "") -> float:
    """A field with its allowed range and unit."""
    value: float = dataclasses.field(default=start, metadata={"low": low, "high": high, "unit": unit})
    return value


def check_numbers(settings: DataclassInstance) -> None:
    """Raises ValueError if a field is out of its range."""
    for one in dataclasses.fields(settings):
        value, low, high = getattr(settings, one.name), one.metadata["low"], one.metadata["high"]
        if not (math.isfinite(value) and low <= value <= high):
            unit = one.metadata["unit"]
            raise ValueError(f"{one.name} is {value:g}; allowed is {f'{low:g}..{high:g} {unit}'.rstrip()}.")


def range_of(settings: type[DataclassInstance], name: str, *, what: str) -> tuple[float, float, str]:
    """The allowed range of a field and its unit; an error says `what` has no such name."""
    known = {one.name: one.metadata for one in dataclasses.fields(settings)}
    if name not in known:
        raise UnknownNameError(what, name, known)
    return known[name]["low"], known[name]["high"], known[name]["unit"]
