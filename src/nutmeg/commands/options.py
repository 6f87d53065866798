"""Options that several commands share, what they mean, and the help text that describes them.

    @dataclass(frozen=True, kw_only=True)
    class Arguments(WatchOptions, JsonOption):
        field: str = "spl2011"

A command's `Arguments` inherits the groups it needs, so that the same option has the same name, default and help text
everywhere; `group` is the heading in help texts. Bounds of numbers are declared in the annotation; `nutmeg.cli` checks
them before the command runs.

    print(help_text("nutmeg zoo", "All robots on a pitch.", zoo.Arguments))
    tyro.cli(for_tyro(zoo.Arguments))       # tyro's errors use the same words

tyro reads the options from the dataclass, and the help text describes the same dataclass for people: what a field means
is the string below it, and the command's own options come first.
"""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import sys
import tempfile
import textwrap
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import tyro

from nutmeg.base.errors import EnvironmentProblem, FileError, UsageError, writing
from nutmeg.base.settings import Bounds, at_least, field_notes, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.search.evaluation import Evaluator, Share
    from nutmeg.view.live import Watching
    from nutmeg.view.terminal import Terminal

Port = Annotated[int, Bounds(0, 65535)]  # a TCP port; 0 takes a free one
Address = Annotated[str, tyro.conf.arg(metavar="ADDRESS")]
Seconds = Annotated[float, Bounds(0, math.inf, without_high=True), tyro.conf.arg(metavar="SECONDS")]
"""A finite time in seconds."""
Output = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="OUT")]  # a file or folder to write, `-o` for short
OptionalOutput = Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="OUT")]
"""The same option with a generated name as its default."""
Count = Annotated[int, at_least(1)]
Threads = Annotated[int, at_least(0)]  # how many processors to use; 0 takes all (see `processors`)
Seed = Annotated[int, at_least(0)]


def processors(threads: int) -> int:
    """The number of processors that a number of threads means: 0 is all that this process may use."""
    if threads:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _has_display() -> bool:
    """Whether this machine has a display on which a browser can open."""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))


@dataclass(frozen=True, kw_only=True)
class JsonOption:
    """The option of every command."""

    group: ClassVar[str] = "for scripts"
    json: bool = False
    """Print one JSON object as the last line of the output."""


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where the web page of a command is."""

    group: ClassVar[str] = "watching"
    host: Address = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: Port = 8080
    """Port of the page; 0 takes a free one."""
    open: bool = field(default_factory=_has_display)
    """Open the page in your browser. [default: --open where there is a display and the output is a terminal]"""


@dataclass(frozen=True, kw_only=True)
class WatchOptions(PageOptions):
    """How a simulation is watched while it runs."""

    group: ClassVar[str] = "watching"
    seconds: Seconds = 0.0
    """End after this simulated time; 0 continues until Ctrl-C."""
    view: bool = True
    """Show the simulation on a web page; without it, the simulation only runs and is recorded."""
    record: Path | None = None
    """Keep the recording under this name."""

    def watching(self, title: str, **more: Any) -> Watching:  # noqa: ANN401 (fields of `Watching`)
        """These options as the settings of a watched run."""
        from nutmeg.view.live import Watching

        options: dict[str, Any] = {
            "seconds": self.seconds,
            "host": self.host,
            "port": self.port,
            "open_browser": self.open,
            "record": self.record,
            "page": self.view,
            "title": title,
        }
        return Watching(**(options | more))


@dataclass(frozen=True, kw_only=True)
class BodyOptions:
    """Which body a robot has."""

    group: ClassVar[str] = "body"
    type: str = ""
    """One of the robot's types."""
    actuation: str = ""
    """Actuation of the joints: ideal, servo, motoflex, or a TOML file of your own; ideal, or the body's, if left
    out."""
    body: Path | None = None
    """An identified body (the params.toml of `nutmeg identify`)."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Where candidates or games are simulated; the results are the same everywhere."""

    group: ClassVar[str] = "processors"
    threads: Threads = 0
    """How many processors of this machine simulate; 0 takes all that there are."""
    cluster: Address = ""
    """Address of a Dask scheduler whose workers simulate instead, such as tcp://10.0.0.5:8786."""


@dataclass(frozen=True, kw_only=True)
class DeviceOption:
    """On which engine candidates are simulated."""

    group: ClassVar[str] = "processors"
    device: Literal["cpu", "gpu", "warp-cpu"] | None = None
    """cpu; gpu for a CUDA device (`pip install 'nutmeg-sim[gpu]'`), which simulates all candidates of a generation at
    once; warp-cpu for the same on this processor, slowly. The configuration's if left out; numbers differ a little."""


def chosen_evaluator(
    *,
    threads: int,
    cluster: str,
    warn: Callable[[str], None],
    piece: Share | None = None,
    locked: bool = False,
    device: str = "cpu",
) -> tuple[Evaluator, str]:
    """The evaluator that a user asked for, and its description for the report.

    Work that keeps Python's lock (a walk's controller, servos that change with their load) is given to processes, as
    its threads would wait for each other; the rest, which is mostly MuJoCo's stepping, to threads, which start at once
    and share memory.

    Args:
        threads: how many processors of this machine simulate; 0 for all.
        cluster: address of a Dask scheduler instead; empty for none.
        warn: called if the cluster has no workers.
        piece: how candidates are cut into pieces; an equal share for each worker without it.
        locked: whether the work keeps Python's lock for much of its time.
        device: the engine of the worlds; other than `cpu` it has all candidates at once.
    """
    from nutmeg.search import evaluation

    if device != "cpu":
        if threads > 1 or cluster:
            raise UsageError(
                "a device simulates all candidates itself: leave --threads and --cluster out, or take --device cpu."
            )
        return evaluation.InThisThread(), "a CUDA device" if device == "gpu" else "Warp on this processor"
    piece, threads = piece or evaluation.EQUAL_SHARES, processors(threads)
    if cluster:
        from nutmeg.search.cluster import OnCluster

        return OnCluster(cluster, piece=piece, notice=warn), f"Dask at {cluster}"
    if threads == 1:
        return evaluation.InThisThread(piece=piece), "1 thread"
    if locked:
        from nutmeg.search.processes import Processes

        return Processes(threads, piece=piece), f"{threads} processes"
    return evaluation.Threads(threads, piece=piece), f"{threads} threads"


def drawn(terminal: Terminal, what: str, draw: Callable[..., int]) -> int | None:
    """Draws something with a progress bar; a machine without a renderer gets a warning, and None is returned.

    `draw` is given `on_progress`, and returns the number of pictures.
    """
    with terminal.counting(what) as on_progress:
        try:
            return draw(on_progress=on_progress)
        except EnvironmentProblem as problem:
            terminal.warn(f"no {what}, everything else is there: {problem}")
            return None


# ----------------------------------------------------------------------------------------------------
# Files that a command is to write: whether they can be, before the work, and what to say if not.


def check_output(path: Path, *endings: str) -> None:
    """Raise `FileError` unless a file of this name, with one of these endings if any are given, can be written."""
    if endings and path.suffix.lower() not in endings:
        raise FileError(path, f"the name of this file must end in {' or '.join(endings)}.")
    if path.is_dir():
        raise FileError(path, "is a folder, but a file is to be written here. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(path, "cannot be written: its folder does not exist. Make the folder, or name another.")
    if path.exists() and not os.access(path, os.W_OK):
        raise FileError(path, "cannot be written: the file is protected. Choose another name.")
    with writing(path), tempfile.TemporaryFile(dir=path.parent):
        pass


_CONFIGURATIONS = {"identify": "recordings", "btr": "controller", "tournament": "team"}
"""Commands that read a configuration, and the key that only theirs has."""


def check_configuration(path: Path, command: str) -> None:
    """Raise `UsageError` if a TOML file is the configuration of another command."""
    keys = read_toml(path)
    others = [other for other, key in _CONFIGURATIONS.items() if key in keys]
    if others and command not in others:
        raise UsageError(f"{path} is a configuration of another command: nutmeg {others[0]} {path}")


def check_new(path: Path, *, overwrite: bool) -> None:
    """Raise `FileError` if something has this name already, unless the option `--overwrite` was given."""
    if path.exists() and not overwrite:
        raise FileError(path, "exists already. Choose another name, or add --overwrite to replace it.")


# ----------------------------------------------------------------------------------------------------
# Help texts: options in groups, each with the name of its value, its meaning and its default.

_VALUE_NAMES = {"Path": "PATH", "str": "NAME", "int": "N", "float": "NUMBER"}
"""Names of an option's value, by its type."""
_UNIT_NAMES = {"s": "SECONDS", "m": "METRES", "Hz": "HZ", "rad": "RAD", "m/s": "M/S"}
"""Names of a number, by the unit in its bounds."""
_POSITIONAL = tyro.conf.Positional[int].__metadata__[0]  # type: ignore[attr-defined]
_MAX_WIDTH = 100  # widest help text, characters: longer lines are hard to read
_INDENT = 24  # where the texts of options begin, characters


class _Option(NamedTuple):
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
    """The same class of options, with names and texts that tyro uses in its errors."""
    hints, annotations = typing.get_type_hints(options, include_extras=True), {}
    for option in _options_of(options):
        kind, metadata = _parts(hints[option.field])
        given = _argument(metadata)
        known = dataclasses.replace(
            given, metavar=given.metavar or option.value or None, help=option.text, help_behavior_hint=""
        )
        kept = [one for one in metadata if one is not given]
        annotations[option.field] = typing.Annotated[(kind, *kept, known)]
    return type(options.__name__, (options,), {"__annotations__": annotations, "__module__": options.__module__})


def _options_of(options: Any) -> list[_Option]:  # noqa: ANN401 (a dataclass)
    """The options in the order of the help text: arguments without a name, the command's own, then those it shares."""
    hints = typing.get_type_hints(options, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(options)}
    found: dict[str, _Option] = {}
    for kind in (one for one in options.__mro__ if dataclasses.is_dataclass(one)):
        notes = field_notes(typing.cast("Any", kind))
        group = vars(kind).get("group", "options")
        for name in vars(kind).get("__annotations__", {}):
            if name in fields and name not in found:
                found[name] = _option(fields[name], hints[name], notes.get(name, ""), group)
    return sorted(found.values(), key=lambda option: option.group != "arguments")


def _option(field: dataclasses.Field[Any], hint: Any, note: str, group: str) -> _Option:  # noqa: ANN401 (an annotation)
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
    return _Option(field=field.name, names=names, value=value, text=text, group=group)


def _parts(hint: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """An annotation as the type of the value and its metadata."""
    if not hasattr(hint, "__metadata__"):
        return hint, []
    kind, *metadata = typing.get_args(hint)
    return kind, metadata


def _argument(metadata: list[Any]) -> Any:  # noqa: ANN401 (tyro has no public name for it)
    """The `tyro.conf.arg` of a field."""
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
