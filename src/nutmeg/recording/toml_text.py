"""Writing TOML: the other direction of `nutmeg.settings`, for manifests.

    toml_text({"seed": 7, "config": {"robot": "nao-v6"}})
    # seed = 7
    #
    # [config]
    # robot = "nao-v6"

Tables become sections, lists of tables become inline tables. What TOML has no word for (None, objects) is an
error that names the key.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nutmeg.errors import RecordingError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, object], where: str = "") -> str:
    """The table as TOML; `where` is the dotted name of its section."""
    plain = {key: item for key, item in table.items() if not isinstance(item, Mapping)}
    lines = [f"{_key(key)} = {toml_value(item, _dotted(where, key))}\n" for key, item in plain.items()]
    sections = []
    for key, item in table.items():
        if isinstance(item, Mapping):
            name = _dotted(where, key)
            sections.append(f"\n[{name}]\n{toml_text(item, name)}")
    return "".join(lines + sections)


def toml_value(item: object, where: str) -> str:
    """One value on one line; `where` is named in errors."""
    if isinstance(item, np.generic | np.ndarray):
        return toml_value(item.tolist(), where)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, str | Path):
        return _text(str(item), where)
    if isinstance(item, datetime.datetime | datetime.date | datetime.time):
        return item.isoformat()
    if isinstance(item, list | tuple):
        return "[" + ", ".join(toml_value(value, f"{where}[{i}]") for i, value in enumerate(item)) + "]"
    if isinstance(item, Mapping):
        pairs = [f"{_key(key)} = {toml_value(value, _dotted(where, key))}" for key, value in item.items()]
        return "{" + ", ".join(pairs) + "}"
    raise RecordingError(
        f"{where}: TOML cannot hold {item!r} ({type(item).__name__}). Allowed: texts, numbers, true and false, "
        "dates, lists and tables of these; leave out what has no value."
    )


def _text(text: str, where: str) -> str:
    """A quoted text. JSON's escapes are all known to TOML; only DEL needs one more."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordingError(f"{where}: the text {text!r} is not valid Unicode.") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise RecordingError(f"the key {key!r} is a {type(key).__name__}; keys in TOML are texts.")
    return key if _BARE_KEY.fullmatch(key) else _text(key, key)


def _dotted(where: str, key: object) -> str:
    return f"{where}.{_key(key)}" if where else _key(key)
