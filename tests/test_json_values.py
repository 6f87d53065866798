"""Values as JSON has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.journal import finite, of_numpy, plain


@dataclass(frozen=True)
class Thing:
    path: Path
    numbers: tuple[float, ...]


def test_dataclasses_arrays_and_paths_become_plain_values() -> None:
    value = {"thing": Thing(Path("a/b"), (1.0, np.float64(2.5))), 3: np.arange(2), "yes": np.bool_(1), "none": None}
    found = plain(value)
    assert found == {"thing": {"path": "a/b", "numbers": [1.0, 2.5]}, "3": [0, 1], "yes": True, "none": None}
    assert json.loads(json.dumps(found)) == found
    assert type(found["thing"]["numbers"][1]) is float


def test_numbers_that_are_not_finite_become_null_wherever_they_are() -> None:
    found = finite({"a": [1.0, float("nan"), (float("inf"), 2)], "b": "nan"})
    assert json.dumps(found, allow_nan=False) == '{"a": [1.0, null, [null, 2]], "b": "nan"}'


def test_what_json_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match=r"\{1\} \(set\)"):
        plain({"deep": [{1}]})
    with pytest.raises(TypeError, match=r"\(object\)"):
        of_numpy(object())
