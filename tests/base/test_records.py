"""Records are read by the same names as the dataclasses that they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.kernels import kernel
from nutmeg.base.records import Records, new_records, record_of, record_values
from nutmeg.base.settings import Bounds


@dataclass
class Spot:
    x: float
    seen: bool


@dataclass
class Mind:
    name: str
    """No number: left out."""
    own: Spot
    axis: tuple[float, float, float]
    count: int
    seed: np.uint64
    others: Records[Spot] = field(metadata={"length": 4})


@dataclass
class Gains:
    matrix: Annotated[Floats, (2, 3)]
    limit: Annotated[float, Bounds(0, 1)] = 0.5


@dataclass
class Numbers:
    spot: Spot
    gain: float


@kernel
def _look(minds: Records[Mind], numbers: Records[Numbers]) -> float:
    total = 0.0
    for k in range(len(minds)):
        mind = minds[k]
        mind.own.x += numbers[0].gain
        mind.axis[2] = 5.0
        other = mind.others[1]
        other.x, other.seen = 2.0 * numbers[0].spot.x, True
        mind.count += 1
        total += mind.own.x
    return total


def test_kernels_and_python_read_and_write_the_same_fields() -> None:
    minds = new_records(Mind, 2, 3)
    assert _look(minds[1], record_values(Numbers(spot=Spot(x=3.0, seen=True), gain=0.5))) == 1.5
    assert minds[1, 2].own.x == 0.5
    assert minds[1, 2].others[1].x == 6.0
    assert bool(minds[1, 2].others[1].seen)
    assert minds["axis"][1, :, 2].tolist() == [5.0, 5.0, 5.0]
    assert minds["count"].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert minds.dtype["seed"] == np.uint64


def test_fields_that_are_no_numbers_are_left_out_and_all_begin_at_whole_words() -> None:
    dtype = record_of(Mind)
    assert dtype.names == ("own", "axis", "count", "seed", "others")
    assert all(dtype.fields[name][1] % 8 == 0 for name in dtype.names)  # type: ignore[index]


def test_objects_become_records_one_after_the_other() -> None:
    table = record_values(
        Numbers(spot=Spot(x=1.0, seen=False), gain=0.1), Numbers(spot=Spot(x=2.0, seen=True), gain=0.2)
    )
    assert [row.spot.x for row in table] == [1.0, 2.0]
    assert table["gain"].tolist() == [0.1, 0.2]


def test_arrays_of_a_shape_and_numbers_with_bounds_are_fields_too() -> None:
    dtype = record_of(Gains)
    assert dtype["matrix"].shape == (2, 3)
    assert dtype["limit"] == np.float64
