from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nutmeg.base.records import record_of, record_values


@dataclass(frozen=True, kw_only=True)
class Speeds:
    ahead: float = 0.2
    steps: int = 3
    holds: bool = True
    source: str = "paper"


@dataclass(frozen=True, kw_only=True)
class Walk:
    name: str
    period: float
    speeds: Speeds = field(default_factory=Speeds)


def test_a_record_has_the_numbers_of_a_dataclass_and_of_its_groups() -> None:
    expected = [("period", np.float64), ("speeds_ahead", np.float64), ("speeds_steps", np.int64)]
    assert record_of(Walk) == np.dtype([*expected, ("speeds_holds", np.bool_)])


def test_a_record_holds_the_values_of_each_object() -> None:
    rows = record_values(Walk(name="a", period=0.5), Walk(name="b", period=0.25, speeds=Speeds(steps=7)))
    assert rows["period"].tolist() == [0.5, 0.25]
    assert rows["speeds_steps"].tolist() == [3, 7]
    assert rows[1].tolist() == (0.25, 0.2, 7, True)
