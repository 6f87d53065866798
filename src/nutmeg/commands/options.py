"""Options that several commands share, and what they mean.

    @dataclass(frozen=True, kw_only=True)
    class Arguments(WatchOptions, JsonOption):
        field: str = "spl2011"

A command's `Arguments` inherits the groups it needs, so that the same option has the same name, default and help text
everywhere; `group` is the heading in help texts. Bounds of numbers are declared in the annotation; `nutmeg.cli` checks
them before the command runs.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from nutmeg.base.errors import EnvironmentProblem, FileError
from nutmeg.base.settings import Bounds, at_least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nutmeg.search.evaluation import Evaluator, Share
    from nutmeg.view.live import Watching
    from nutmeg.view.terminal import Terminal

Port = Annotated[int, Bounds(0, 65535)]
"""A TCP port; 0 takes a free one."""
Address = Annotated[str, tyro.conf.arg(metavar="ADDRESS")]
Seconds = Annotated[float, Bounds(0, math.inf, without_high=True), tyro.conf.arg(metavar="SECONDS")]
"""A finite time in seconds."""
Output = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="OUT")]
"""A file or folder to write, `-o` for short."""
OptionalOutput = Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="OUT")]
"""The same; a name is made up if it is left out."""
Count = Annotated[int, at_least(1)]
Threads = Annotated[int, at_least(0)]
"""How many processors to use; 0 takes all (see `processors`)."""
Seed = Annotated[int, at_least(0)]


def processors(threads: int) -> int:
    """The number of processors that a number of threads means: 0 is all that this process may use."""
    if threads:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _has_display() -> bool:
    """Whether somebody sits at this machine who would see a browser that opens."""
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
    """End by itself after so much simulated time; 0 goes on until Ctrl-C."""
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
    """What drives the joints: ideal, servo, motoflex, or a TOML file of your own; ideal, or the body's, if left out."""
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


def chosen_evaluator(
    *, threads: int, cluster: str, warn: Callable[[str], None], piece: Share | None = None, locked: bool = False
) -> tuple[Evaluator, str]:
    """The evaluator that a user asked for, and its description for the report.

    Work that keeps Python's lock (a walk's controller, servos that change with their load) is given to processes, as
    its threads would wait for each other; the rest, which is mostly MuJoCo's stepping, to threads, which start at once
    and share memory.

    Args:
        threads: how many processors of this machine simulate; 0 for all.
        cluster: address of a Dask scheduler instead; empty for none.
        warn: told if the cluster has no workers.
        piece: how candidates are cut into pieces; an equal share for each worker without it.
        locked: whether the work keeps Python's lock for much of its time.
    """
    from nutmeg.search import evaluation

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


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Turn what can go wrong while a file is written into a `FileError` that names it."""
    try:
        yield path
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}. Choose another place.") from None
