from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import RecordingError
from nutmeg.base.settings import toml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = st.one_of(TEXTS, st.booleans(), st.integers(), st.floats(allow_nan=False), st.dates())
VALUES = st.recursive(PLAIN, lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3))


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_what_is_written_is_read_back(table: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_numpy_numbers_tuples_and_paths_become_plain_values() -> None:
    table = {"a": np.float64(0.5), "b": np.arange(3), "c": (1, 2), "d": Path("x/y"), "e": np.int32(4)}
    assert tomllib.loads(toml_text(table)) == {"a": 0.5, "b": [0, 1, 2], "c": [1, 2], "d": "x/y", "e": 4}


def test_a_moment_is_kept() -> None:
    moment = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
    assert tomllib.loads(toml_text({"at": moment})) == {"at": moment}


def test_what_toml_cannot_hold_is_an_error_with_its_key() -> None:
    with pytest.raises(RecordingError, match=r"robot\.legs\[1\]: TOML cannot hold None"):
        toml_text({"robot": {"legs": [1, None]}})
    with pytest.raises(RecordingError, match="the key 3 is a int"):
        toml_text({3: "x"})  # type: ignore[dict-item]
