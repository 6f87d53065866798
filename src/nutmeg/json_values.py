"""Values as JSON has them: what files and `--json` say of arrays, dataclasses, paths and numbers that are not finite.

json.dumps(plain(settings))                         # dataclasses are tables, tuples and arrays lists, paths texts
json.dumps(finite({"error": float("nan")}))         # {"error": null}: JSON has no number for it
json.dumps(event, default=of_numpy)                 # NumPy's numbers and arrays among plain values
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value as tables, lists, texts, numbers, true, false and None; a TypeError names what is none of these."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):  # first: some of its numbers are also Python's
        return plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else of_numpy(value)


def finite(value: Any) -> Any:  # noqa: ANN401
    """Plain values with None in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def of_numpy(value: object) -> object:
    """NumPy's numbers and arrays as plain ones, for `json.dumps(..., default=of_numpy)`; a TypeError for all else."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__})")
