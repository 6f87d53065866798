"""Settings: frozen dataclasses with bounds on their numbers, read from TOML files and written to them.

Robots, fields, balls and configurations are all dataclasses; a file has the shape of its dataclass, and nothing else
decides what may be written in it. Errors name the file, the line and what is allowed.

    @dataclass(frozen=True, kw_only=True)
    class Ball:
        radius: Annotated[float, above(0, "m")]
        mass: Annotated[float, Bounds(0.01, 1.0, "kg")] = 0.045

        def __post_init__(self) -> None:
            check_bounds(self)                  # ValueError: mass is 4; allowed is 0.01..1 kg.

    ball = read(Path("ball.toml"), Ball)
    bounds_of(Ball, "mass")                     # Bounds(0.01, 1.0, "kg"): searches take their ranges from here
    toml_text({"ball": {"radius": 0.05}})       # the other direction, for manifests and results

Supported field types: bool, int, float (an int is accepted), str, Path (relative to the file), enums by `Literal`,
`X | None`, `tuple[X, ...]`, tuples of fixed length, `Mapping[str, X]`, nested dataclasses, and `object` for anything.
"""

from __future__ import annotations

import ast
import dataclasses
import datetime
import inspect
import itertools
import json
import math
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np

from nutmeg.base.errors import FileError, RecordingError, UnknownNameError, listing, suggestion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


# ----------------------------------------------------------------------------------------------------
# Bounds of numbers.


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The allowed values of a number, in `Annotated[float, Bounds(low, high, unit)]`; its text says them in words."""

    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    """SI unit, empty for a ratio or a count."""
    without_low: bool = False
    """Whether `low` itself is not allowed."""
    without_high: bool = False
    """Whether `high` itself is not allowed."""

    def __contains__(self, number: float) -> bool:
        low = number > self.low if self.without_low else number >= self.low
        return low and (number < self.high if self.without_high else number <= self.high)

    def __str__(self) -> str:
        low, high, unit = f"{self.low:g}", f"{self.high:g}", f" {self.unit}" if self.unit else ""
        if math.isinf(self.high):
            return f"above {low}{unit}" if self.without_low else f"{low}{unit} or more"
        if math.isinf(self.low):
            return f"{'below' if self.without_high else 'up to'} {high}{unit}"
        if not (self.without_low or self.without_high):
            return f"{low}..{high}{unit}"
        first = f"above {low}" if self.without_low else f"{low} or more"
        return f"{first} and {'below' if self.without_high else 'up to'} {high}{unit}"


def at_least(low: float, unit: str = "") -> Bounds:
    """Numbers from `low` on."""
    return Bounds(low, unit=unit)


def above(low: float, unit: str = "", *, up_to: float = math.inf) -> Bounds:
    """Numbers larger than `low`, and not above `up_to`."""
    return Bounds(low, up_to, unit, without_low=True)


def check_bounds(settings: DataclassInstance, *, error: type[Exception] = ValueError) -> None:
    """Raises an error that names the first field out of its bounds; each number of a tuple counts, None does not.

    A number without upper bound may be infinite; nan is never allowed.
    """
    for name, bounds in _all_bounds(type(settings)).items():
        value = getattr(settings, name)
        for number in value if isinstance(value, tuple) else (value,):
            if number is not None and not bounds.low < number < bounds.high and number not in bounds:
                raise error(f"{name} is {number:.12g}; allowed is {bounds}.")


class Bounded:
    """Base of settings whose only checks are the bounds of their fields, which are checked on construction."""

    def __post_init__(self) -> None:
        """Checks the bounds of all fields."""
        check_bounds(self)  # type: ignore[arg-type]  # every subclass is a dataclass


def bounds_of(kind: type[DataclassInstance], name: str, *, what: str = "number") -> Bounds:
    """The bounds of a field; an error says that there is no such `what`."""
    known = _all_bounds(kind)
    if name not in known:
        raise UnknownNameError(what, name, known)
    return known[name]


@cache
def _all_bounds(kind: type[DataclassInstance]) -> dict[str, Bounds]:
    """The bounds of all fields that have any, by name."""
    hints = typing.get_type_hints(kind, include_extras=True)
    found = {field.name: _bounds_in(hints[field.name]) for field in dataclasses.fields(kind)}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


@cache
def field_notes(kind: type[DataclassInstance]) -> dict[str, str]:
    """The docstrings of the fields of a settings class, by name: the strings below them in the source."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(note.value.value)
        for field, note in itertools.pairwise(found.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(note, ast.Expr) and isinstance(note.value, ast.Constant) and isinstance(note.value.value, str)
    }


def _bounds_in(hint: Any) -> Bounds | None:  # noqa: ANN401
    """The bounds in an annotation, also inside `X | None` and `tuple[X, ...]`."""
    if typing.get_origin(hint) is Annotated:
        return next((one for one in hint.__metadata__ if isinstance(one, Bounds)), _bounds_in(hint.__origin__))
    return next((found for part in typing.get_args(hint) if (found := _bounds_in(part))), None)


# ----------------------------------------------------------------------------------------------------
# Reading TOML.


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file; a syntax error names the file, the line and the column."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(
            path, "there is no such file. Check the path; relative paths start at the current folder."
        ) from None
    except IsADirectoryError:
        raise FileError(path, "is a folder, but a TOML file is needed here.") from None
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not text in UTF-8 (byte {error.start}), so it cannot be TOML.") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = getattr(error, "lineno", None) or _line_in_message(str(error), text)
        raise FileError(path, f"broken TOML: {error}.", line=line) from None


def read(path: Path, kind: type[T]) -> T:
    """The dataclass `kind` that a TOML file describes."""
    return convert(read_toml(path), kind, path)


def read_cached(path: Path, kind: type[T]) -> T:
    """`read` with a cache, for files that are read often: `kind` must be frozen; a changed file is read again."""
    try:
        state = path.stat()
    except OSError:
        return read(path, kind)  # says what is wrong
    same = (str(path.resolve()), state.st_mtime_ns, state.st_size)
    return typing.cast("T", _read_once(path, typing.cast("Any", kind), same))


@lru_cache(maxsize=64)
def _read_once(path: Path, kind: Any, same: tuple[str, int, int]) -> Any:  # noqa: ANN401, ARG001 (a key of the cache)
    return read(path, kind)


def names_in(folder: Path) -> list[str]:
    """The names of the TOML files of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_named(name: str | Path, folder: Path, kind: type[T], what: str) -> T:
    """The settings of a file that comes with Nutmeg, by its name, or of a user's file, by a path ending in `.toml`.

    Args:
        name: the name or the path.
        folder: where the files are that come with Nutmeg.
        kind: the frozen dataclass that such a file describes.
        what: kind of thing that the file describes, for error messages.
    """
    if str(name).endswith(".toml"):
        return read_cached(Path(name), kind)
    if str(name) not in names_in(folder):
        raise UnknownNameError(what, str(name), names_in(folder))
    return read_cached(folder / f"{name}.toml", kind)


def convert(table: Mapping[str, Any], kind: type[T], path: Path) -> T:
    """The dataclass `kind` that a parsed table describes; `path` is named in errors."""
    try:
        return typing.cast("T", _Reader(path).value(dict(table), kind, ""))
    except _MisfitError as misfit:
        problem = f"{misfit.where or 'the file'}: {misfit.problem}"
        raise FileError(path, problem, line=line_of(path, misfit.where)) from None


def line_of(path: Path, where: str) -> int | None:
    """The line of a TOML file on which a key such as `body[2].joint.range` is written, if it can be found.

    The line is found by changing spellings: it is the one where a changed key renames this key and no other. The line
    of an element of a list of tables is that of its first key.
    """
    try:
        text = path.read_text(encoding="utf-8")
        keys = [int(k[1:-1]) if k.startswith("[") else k for k in re.findall(r"[^.\[\]]+|\[\d+\]", where)]
        found = _at(tomllib.loads(text), keys)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if keys and isinstance(keys[-1], int) and isinstance(found, dict) and found:
        keys.append(next(iter(found)))
    while keys and isinstance(keys[-1], int):
        keys.pop()
    return _line_of_key(text, keys) if keys else None


_OTHER = "another-spelling-of-it"


def _line_of_key(text: str, keys: list[str | int]) -> int | None:
    for place in re.finditer(rf'(?<![\w-])"?{re.escape(str(keys[-1]))}"?(?=\s*[=.\]])', text):
        try:
            renamed = tomllib.loads(text[: place.start()] + _OTHER + text[place.end() :])
            _at(renamed, [*keys[:-1], _OTHER])
        except (ValueError, LookupError, TypeError):
            continue
        return text.count("\n", 0, place.start()) + 1
    return None


def _at(table: Any, keys: list[str | int]) -> Any:  # noqa: ANN401
    for key in keys:
        table = table[key]
    return table


def _line_in_message(message: str, text: str) -> int | None:
    """The line of a TOML error, which Python 3.11 to 3.13 state only in the text of the error."""
    _, found, tail = message.partition("(at line ")
    if found:
        return int(tail.split(",")[0])
    return len(text.splitlines()) if "(at end of document)" in message else None


class _MisfitError(Exception):
    """A value that does not fit; becomes a FileError once it is clear that no alternative fits either."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(problem)
        self.where, self.problem = where, problem


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 (a class)
    """The types of a dataclass's fields; evaluating them takes longer than all the rest of reading a file."""
    return typing.get_type_hints(kind)


@cache
def _fields(kind: Any) -> dict[str, bool]:  # noqa: ANN401 (a class)
    """The fields of a dataclass that a file can set, and whether each is required."""
    return {field.name: _required(field) for field in dataclasses.fields(kind) if field.init}


class _Reader:
    """Converts parsed TOML; paths in it are relative to the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, where: str, problem: str) -> typing.NoReturn:
        raise _MisfitError(where, problem)

    def value(self, found: Any, kind: Any, where: str) -> Any:  # noqa: ANN401
        if kind in _NAMES:  # first, because nearly all values are plain
            return self.plain(found, kind, where)
        if kind is object or kind is Any:
            return found
        if dataclasses.is_dataclass(kind):
            return self.table(found, typing.cast("type[Any]", kind), where)
        origin = typing.get_origin(kind)
        if origin in (typing.Union, types.UnionType):
            return self.union(found, typing.get_args(kind), where)
        if origin is Literal:
            return self.choice(found, typing.get_args(kind), where)
        if origin is tuple:
            return self.sequence(found, typing.get_args(kind), where)
        if origin is Mapping or origin is dict:
            return self.mapping(found, typing.get_args(kind)[1], where)
        return self.plain(found, kind, where)

    def table(self, found: Any, kind: type[Any], where: str) -> Any:  # noqa: ANN401
        if not isinstance(found, Mapping):
            self.fail(where, f"needs a table, found {_describe(found)}.")
        hints, fields = _hints(typing.cast("Any", kind)), _fields(typing.cast("Any", kind))
        for key in found:
            if key not in fields:
                hint = suggestion(key, fields) + listing("key", sorted(fields))
                self.fail(_join(where, key), f"this key is not known here. {hint}")
        missing = [name for name, required in fields.items() if required and name not in found]
        if missing:
            self.fail(where, f"lacks the key {missing[0]!r}, which is required.")
        values = {key: self.value(item, hints[key], _join(where, key)) for key, item in found.items()}
        try:
            return kind(**values)
        except ValueError as error:  # a dataclass checks its own values in __post_init__
            self.fail(where, str(error))

    def union(self, found: Any, kinds: tuple[Any, ...], where: str) -> Any:  # noqa: ANN401
        errors = []
        for kind in kinds:
            if kind is type(None):
                continue
            try:
                return self.value(found, kind, where)
            except _MisfitError as error:
                errors.append(error)
        raise errors[0]

    def choice(self, found: Any, allowed: tuple[Any, ...], where: str) -> Any:  # noqa: ANN401
        if found not in allowed:
            hint = suggestion(str(found), [str(a) for a in allowed])
            self.fail(where, f"is {found!r}. {hint}Allowed: {', '.join(map(repr, allowed))}.")
        return found

    def sequence(self, found: Any, kinds: tuple[Any, ...], where: str) -> tuple[Any, ...]:  # noqa: ANN401
        if not isinstance(found, list | tuple):
            self.fail(where, f"needs a list, found {_describe(found)}.")
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            kinds = (kinds[0],) * len(found)
        if len(found) != len(kinds):
            self.fail(where, f"needs {len(kinds)} values, found {len(found)}.")
        if all(type(item) is kind is float and not math.isnan(item) for item, kind in zip(found, kinds, strict=True)):
            return tuple(found)  # a vector: most lists are
        pairs = enumerate(zip(found, kinds, strict=True))
        return tuple(self.value(item, kind, f"{where}[{i}]") for i, (item, kind) in pairs)

    def mapping(self, found: Any, kind: Any, where: str) -> dict[str, Any]:  # noqa: ANN401
        if not isinstance(found, Mapping):
            self.fail(where, f"needs a table, found {_describe(found)}.")
        return {key: self.value(item, kind, _join(where, key)) for key, item in found.items()}

    def plain(self, found: Any, kind: Any, where: str) -> Any:  # noqa: ANN401
        if kind is float and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        if kind is Path and isinstance(found, str):
            return (self.path.parent / found).resolve()
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            self.fail(where, f"needs {_NAMES.get(kind, kind.__name__)}, found {_describe(found)}.")
        if isinstance(found, float) and math.isnan(found):
            self.fail(where, "is not a number (nan).")
        return found


_NAMES = {
    float: "a number",
    int: "a whole number",
    str: "a text in quotes",
    bool: "true or false",
    Path: "a path in quotes",
}


def _describe(found: Any) -> str:  # noqa: ANN401
    return f"{found!r}" if isinstance(found, bool | int | float | str) else f"a {type(found).__name__}"


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


# ----------------------------------------------------------------------------------------------------
# Writing TOML: tables become sections, lists of tables become inline tables. What TOML cannot express (None, objects)
# is an error that names the key.


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
