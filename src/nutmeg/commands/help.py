"""The help text of a command: its options in groups, each with the name of its value, its meaning and its default.

tyro reads the options from a frozen dataclass, and this module describes the same dataclass for people: what a field
means is the string below it, and the classes that a command's options inherit are the groups. A class names its group
by `group`; the command's own options come first.

    print(help_text("nutmeg zoo", "All robots on a pitch.", zoo.Arguments))
    tyro.cli(for_tyro(zoo.Arguments))       # tyro's errors use the same words
"""

from __future__ import annotations

import dataclasses
import math
import shutil
import textwrap
import types
import typing
from typing import Any, NamedTuple

import tyro

from nutmeg.base.settings import Bounds, field_notes

_VALUE_NAMES = {"Path": "PATH", "str": "NAME", "int": "N", "float": "NUMBER"}
"""What the value of an option is called, by its type."""
_UNIT_NAMES = {"s": "SECONDS", "m": "METRES", "Hz": "HZ", "rad": "RAD", "m/s": "M/S"}
"""What a number is called, by the unit in its bounds."""
_POSITIONAL = tyro.conf.Positional[int].__metadata__[0]  # type: ignore[attr-defined]
_MAX_WIDTH = 100
"""Widest help text, characters: longer lines are hard to read."""
_INDENT = 24
"""Where the texts of options begin, characters."""


class Option(NamedTuple):
    """One option as people read it."""

    field: str  # of the dataclass
    names: str  # what is typed: `-o OUT, --output OUT`, `--fast`, or `ROBOT`
    value: str  # the name of its value; empty for a switch
    text: str  # what it means, with its default
    group: str  # the heading under which it stands


def help_text(title: str, about: str, options: Any) -> str:  # noqa: ANN401 (a dataclass)
    """The help text of a command with these options."""
    width = min(shutil.get_terminal_size((_MAX_WIDTH, 24)).columns, _MAX_WIDTH)
    found = _options_of(options)
    words = [option.names for option in found if option.group == "arguments"]
    lines = [f"usage: {' '.join([title, *words])} [options]"]
    for paragraph in about.split("\n\n"):
        kept = "\n " in paragraph or paragraph.startswith("example:")  # lines that stand below each other
        lines += ["", *(paragraph.splitlines() if kept else textwrap.wrap(paragraph, width, break_on_hyphens=False))]
    for group in dict.fromkeys(option.group for option in found):
        lines += ["", f"{group}:"]
        for option in found:
            if option.group != group:
                continue
            text = textwrap.wrap(option.text, max(width - _INDENT, 30), break_on_hyphens=False)
            if len(option.names) > _INDENT - 4:
                lines.append(f"  {option.names}")
            else:
                lines.append(f"  {option.names:<{_INDENT - 2}}{text.pop(0) if text else ''}")
            lines += [" " * _INDENT + line for line in text]
    return "\n".join(lines) + "\n"


def for_tyro(options: Any) -> Any:  # noqa: ANN401 (a dataclass)
    """The same class of options, which lets tyro use the same names and texts in its errors."""
    hints, told = typing.get_type_hints(options, include_extras=True), {}
    for option in _options_of(options):
        kind, metadata = _parts(hints[option.field])
        given = _argument(metadata)
        known = dataclasses.replace(
            given, metavar=given.metavar or option.value or None, help=option.text, help_behavior_hint=""
        )
        kept = [one for one in metadata if one is not given]
        told[option.field] = typing.Annotated[(kind, *kept, known)]
    return type(options.__name__, (options,), {"__annotations__": told, "__module__": options.__module__})


def _options_of(options: Any) -> list[Option]:  # noqa: ANN401 (a dataclass)
    """The options in the order of the help text: arguments without a name, the command's own, then those it shares."""
    hints = typing.get_type_hints(options, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(options)}
    found: dict[str, Option] = {}
    for kind in (one for one in options.__mro__ if dataclasses.is_dataclass(one)):
        notes = field_notes(typing.cast("Any", kind))
        group = vars(kind).get("group", "options")
        for name in vars(kind).get("__annotations__", {}):
            if name in fields and name not in found:
                found[name] = _option(fields[name], hints[name], notes.get(name, ""), group)
    return sorted(found.values(), key=lambda option: option.group != "arguments")


def _option(field: dataclasses.Field[Any], hint: Any, note: str, group: str) -> Option:  # noqa: ANN401 (an annotation)
    kind, metadata = _parts(hint)
    argument, text = _argument(metadata), " ".join(note.split())
    value = _value_name(kind, metadata)
    name = f"--{(argument.name or field.name).replace('_', '-')}"
    if _POSITIONAL in metadata:
        group, names = "arguments", value
    elif kind is bool:
        value = ""
        both = field.default is not False
        names = f"{name}, --no-{name[2:]}" if both else name
        text += f" [default: {name}]" if field.default is True else ""
    else:
        names = ", ".join(f"{one} {value}" for one in (*(argument.aliases or ()), name))
    default = None if kind is bool or field.default is dataclasses.MISSING else field.default
    if default not in (None, "", ()):
        text += f" [default: {_words(default)}]"
    return Option(field=field.name, names=names, value=value, text=text, group=group)


def _parts(hint: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """An annotation as the type of the value and what is said about it."""
    if not hasattr(hint, "__metadata__"):
        return hint, []
    kind, *metadata = typing.get_args(hint)
    return kind, metadata


def _argument(metadata: list[Any]) -> Any:  # noqa: ANN401 (tyro has no public name for it)
    """What a field says about itself with `tyro.conf.arg`."""
    empty = tyro.conf.arg()
    return next((one for one in metadata if isinstance(one, type(empty))), empty)


def _value_name(kind: Any, metadata: list[Any]) -> str:  # noqa: ANN401
    """The name of a value by its type, such as `{png,mp4}`, PATH or SECONDS."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if metavar := _argument(metadata).metavar:
        return str(metavar)
    if origin is typing.Literal:
        return f"{{{','.join(map(str, parts))}}}"
    if origin is tuple:
        names = [_value_name(*_parts(part)) for part in parts if part is not Ellipsis]
        return f"{names[0]} ..." if Ellipsis in parts else " ".join(names)
    if origin in (typing.Union, types.UnionType):
        return "|".join(_value_name(*_parts(part)) for part in parts if part is not type(None))
    units = [one.unit for one in metadata if isinstance(one, Bounds)]
    return next((_UNIT_NAMES[unit] for unit in units if unit in _UNIT_NAMES), _VALUE_NAMES.get(kind.__name__, "VALUE"))


def _words(default: Any) -> str:  # noqa: ANN401
    """A default as it would be typed."""
    if isinstance(default, tuple):
        return " ".join(map(_words, default))
    return f"{default:g}" if isinstance(default, float) and not math.isinf(default) else str(default)
