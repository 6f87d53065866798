"""Classes and functions of users, named as `file.py:Name` or `package.module:Name`.

    module, attribute = load_module("chaser.py:decide", "player")
    found = load_named("lab/robot.py:Robot", "reality")

A file is loaded once, as a module of its own; what it imports must be installed or stand on Python's path.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import FileError, UsageError, suggestion

if TYPE_CHECKING:
    from types import ModuleType


def load_named(name: str, what: str) -> Callable[..., Any]:
    """The class or function that a name such as `file.py:Name` stands for; `what` is its kind, for error messages."""
    module, attribute = load_module(name, what)
    found = getattr(module, attribute, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        has = f"{suggestion(attribute, known)}It has: {', '.join(known)}." if known else "It has none at all."
        raise UsageError(f"{name.rpartition(':')[0]} has no class or function {attribute!r} for the {what}. {has}")
    loaded: Callable[..., Any] = found
    return loaded


def load_module(name: str, what: str, kind: str = "Name") -> tuple[ModuleType, str]:
    """The module of a name such as `file.py:Name`, and the name within it."""
    place, _, attribute = name.rpartition(":")
    if not place or not attribute.isidentifier():
        raise UsageError(f"{name!r} names no {what}; needed is file.py:{kind} or module:{kind}.")
    return (_from_file(Path(place)) if place.endswith(".py") else _installed(place)), attribute


def placed_beside(name: str, folder: Path) -> str:
    """The name with the path of its file in `folder`, if there is one; else the name as it is."""
    place, _, attribute = name.rpartition(":")
    beside = folder / place
    return f"{beside}:{attribute}" if place.endswith(".py") and beside.is_file() else name


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileError(path, "there is no such file; relative paths start at the current folder.")
    known = f"nutmeg_plugin_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if known in sys.modules:
        return sys.modules[known]
    spec = importlib.util.spec_from_file_location(known, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module  # before it runs: dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[known]
        raise FileError(path, f"cannot be loaded: {type(error).__name__}: {error}.") from error
    return module


def _installed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"the module {name!r} cannot be imported: {error}.") from None
