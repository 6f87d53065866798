"""Exceptions with messages for users: what went wrong, where, and what to do next.

Every error a user can cause is a `NutmegError`: one paragraph naming what was found, where, what is allowed
and what to do. The command line prints it without a traceback and exits with its `exit_code`.

    raise UnknownNameError("robot", "nao-v7", ["nao-v4", "nao-v6"])
    # unknown robot 'nao-v7'. Did you mean 'nao-v6'? Known robots: nao-v4, nao-v6.
"""

from __future__ import annotations

import difflib
import errno
import itertools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_MIN_LIKENESS = 0.6  # names less alike than this are not suggested


class NutmegError(Exception):
    """An error with a message for the user; the base of all others."""

    exit_code = 1


class UsageError(NutmegError):
    """A command was called with values that do not go together."""

    exit_code = 2


class UnknownNameError(NutmegError):
    """A name that is not in the list of known ones; suggests the nearest."""

    exit_code = 2

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        known = sorted(known)
        place = f"{where}: " if where else ""
        super().__init__(f"{place}unknown {kind} {name!r}. {suggestion(name, known)}{listing(kind, known)}")


class FileError(NutmegError):
    """A file that cannot be used; names it, and the line where it is known."""

    def __init__(self, path: str | Path, problem: str, *, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem}")


class ModelError(NutmegError):
    """A robot, field or scene that the physics engine refuses to build."""


FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of the errors that say that there is no room for a file."""


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Turns what can go wrong while a file is written into a `FileError` that names it."""
    try:
        yield path
    except OSError as error:
        advice = "Make room, or choose another place." if error.errno in FULL_DISK else "Choose another place."
        raise FileError(path, f"cannot be written: {error.strerror or error}. {advice}") from None


class RecordingError(NutmegError):
    """A recording that cannot be read or written."""


class SimulationError(NutmegError):
    """A simulation that left the physically possible: says when, in which world and at which joint."""


class EnvironmentProblem(NutmegError):  # noqa: N818 (it is the machine that is wrong, not the call)
    """Something this machine lacks (a renderer, a free port); says what to install or change."""

    exit_code = 3


class MissingExtraError(EnvironmentProblem):
    """A package that only some users need is not installed; names the extra that brings it.

    raise MissingExtraError("a video", "imageio-ffmpeg", "video")
    # a video needs imageio-ffmpeg, which is not installed: pip install 'nutmeg-sim[video]'
    """

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'nutmeg-sim[{extra}]'")


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the name the user probably meant, or nothing."""
    rated = [(_likeness(name.lower(), k.lower()), k) for k in known]
    likeness, match = max(reversed(rated), default=((0.0, 0), ""), key=lambda pair: pair[0])
    return f"Did you mean {match!r}? " if likeness[0] >= _MIN_LIKENESS else ""


def _likeness(a: str, b: str) -> tuple[float, int]:
    """Similarity of two names: the share of common characters, then the length of their common beginning."""
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    return difflib.SequenceMatcher(None, a, b).ratio(), len(list(alike))


def listing(kind: str, known: Iterable[str], *, most: int = 40) -> str:
    """A sentence listing what is allowed, cut after `most` names."""
    names = list(known)
    shown = ", ".join(names[:most]) + (f", and {len(names) - most} more" if len(names) > most else "")
    return f"Known {_plural(kind)}: {shown}." if names else f"There are no {_plural(kind)} here."


def counted(number: int, kind: str) -> str:
    """A number of things: `1 body`, `24 bodies`."""
    return f"{number} {kind if number == 1 else _plural(kind)}"


def _plural(kind: str) -> str:
    """The plural of a kind of thing: `bodies`, `keys`, `motors of nao-v6`."""
    thing, *of = re.split(r"(?= (?:of|in) )", kind, maxsplit=1)
    many = f"{thing[:-1]}ies" if re.search(r"[^aeiou]y$", thing) else f"{thing.removesuffix('s')}s"
    return many + "".join(of)
