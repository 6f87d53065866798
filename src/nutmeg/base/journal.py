"""A run is a folder: what was asked for, with which software, and everything that came of it.

    with open_run(folder, command=sys.argv, seed=3, configuration={"robot": "ant"}, copy=Path("ant.toml")) as run:
        if run.resumed: ...                     # the folder was begun before, with the same configuration
        minimise(..., folder=run.folder / "search")
        run.write("params.toml", text)          # the old content or the new one, never half of it
    run.resume_command                          # "nutmeg identify ant.toml --seed 3 --output runs/identify-1"

In the folder:

    run.json        format, command, seed, versions and the configuration; written once, at the beginning
    config.toml     the configuration file as it was then
    log.jsonl       one line for each time it was begun, and ended: when, how, after how many seconds
    run.lock        held while the run is running; a run that was killed does not hold it any more

The same folder with another configuration, seed or software is refused: its numbers would be a mixture.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import fcntl
import functools
import importlib.metadata
import json
import math
import os
import platform
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nutmeg
from nutmeg.base.errors import FileError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Buffer


# ----------------------------------------------------------------------------------------------------
# Files of JSON lines that survive a crash: what is added is on the disk, or the file is as it was before.
#
# A line that a crash cut short is left out by who reads, and cut off by who adds.


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects in a file; none if there is no such file."""
    try:
        return parsed_lines(path.read_bytes(), path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None


def parsed_lines(data: bytes, path: Path) -> list[dict[str, Any]]:
    """The objects in what was read of a file."""
    lines = []
    for number, line in enumerate(data[: whole_lines_length(data)].splitlines(), start=1):
        try:
            lines.append(dict(json.loads(line)))
        except (ValueError, TypeError):
            raise FileError(path, "is not an object in JSON; the file was changed or damaged.", line=number) from None
    return lines


def whole_lines_length(data: bytes) -> int:
    """How many bytes are lines that were not cut short."""
    return data.rfind(b"\n") + 1


def append_lines(path: Path, lines: Iterable[Mapping[str, object]], *, problem: str = "cannot be written") -> None:
    """Adds objects to a file, which is made if it is not there; an error begins with the `problem`."""
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(0)
            if (kept := whole_lines_length(file.read(end))) < end:
                file.truncate(kept)
            append_all(file.fileno(), text.encode())
    except OSError as error:
        safe = "Everything before is safe; make room and run the same again."
        raise FileError(path, f"{problem}: {error.strerror}. {safe}") from None


def append_all(handle: int, data: bytes) -> None:
    """Adds data to a file that is open for appending, and forces it to the disk; or leaves the file as it was."""
    size, left = os.fstat(handle).st_size, memoryview(data)
    try:
        while left:  # a disk that is nearly full takes a part, then raises
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            os.ftruncate(handle, size)
        raise


# ----------------------------------------------------------------------------------------------------
# Values as JSON has them: what files and `--json` say of arrays, dataclasses, paths and numbers that are not finite.


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


FORMAT = 1
MANIFEST, CONFIGURATION, LOG, LOCK = "run.json", "config.toml", "log.jsonl", "run.lock"
SOFTWARE = ("nutmeg", "python", "numpy", "mujoco", "cma")
"""What the numbers of a run depend on."""
_DISTRIBUTIONS = {"mujoco": ("mujoco-core", "mujoco")}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """A run that is going on."""

    folder: Path
    command: tuple[str, ...]
    """The command line, the name of the program first."""
    seed: int
    configuration: Mapping[str, Any]
    resumed: bool
    """Whether the folder was begun before."""
    seconds_before: float
    """How long it ran before, as far as it could say so: a killed run cannot [s]."""

    @property
    def resume_command(self) -> str:
        """The command that goes on with this run, to be typed in the folder where it was begun."""
        return resume_command(self.command, self.folder)

    def write(self, name: str, data: str | bytes) -> Path:
        """Writes a file of the run in one go; when the disk is full, what was there before stays."""
        path = self.folder / name
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, data.encode() if isinstance(data, str) else data)
        return path

    def log(self, **entry: object) -> None:
        """Adds a line to the log."""
        append_lines(self.folder / LOG, [{"time": _now(), **_plain(entry)}])


@contextlib.contextmanager
def open_run(
    folder: Path,
    *,
    command: Sequence[str],
    seed: int,
    configuration: Mapping[str, object],
    copy: Path | None = None,
    any_version: bool = False,
) -> Iterator[Run]:
    """Begins a run in a folder, or goes on with it; no other process can until this ends.

    Args:
        folder: made if it is not there.
        command: the command line, as in `sys.argv`.
        seed: of everything random in it.
        configuration: what decides the result; a run is only continued with the same. Leave out what does not:
            threads, cluster, budget.
        copy: the file with the configuration, which is copied.
        any_version: go on even if the software has changed since.
    """
    recorded = _plain(configuration)
    with _locked(folder):
        wanted = {"format": FORMAT, "seed": seed, "configuration": recorded}
        manifest = _read_manifest(folder)
        if manifest is None:
            _begin(folder, {**wanted, "command": _program(command), "versions": versions(), "began": _now()}, copy)
        else:
            _check(folder, manifest, wanted, any_version=any_version)
        run = Run(
            folder=folder,
            command=tuple(_program(command)),
            seed=seed,
            configuration=recorded,
            resumed=manifest is not None,
            seconds_before=_seconds(folder),
        )
        with _logged(run):
            yield run


def new_folder(parent: Path, name: str) -> Path:
    """A folder for a new run that nobody else has: `parent/name-1`, or the next number that is free."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        taken = [int(tail) for path in parent.glob(f"{name}-*") if (tail := path.name[len(name) + 1 :]).isdigit()]
        number = max(taken, default=0) + 1
        while True:
            with contextlib.suppress(FileExistsError):
                folder = parent / f"{name}-{number}"
                folder.mkdir()
                return folder
            number += 1
    except OSError as error:
        raise FileError(parent, f"no folder for the run can be made here: {error.strerror}.") from None


def resume_command(command: Sequence[str], folder: Path) -> str:
    """The command line that goes on in a folder: the same, with the folder named."""
    words = list(_program(command))
    named = any(word == "--output" or word.startswith("--output=") for word in words)
    return shlex.join(words if named else [*words, "--output", str(folder)])


def versions(names: Iterable[str] = SOFTWARE) -> dict[str, str]:
    """The versions of the software that numbers depend on."""
    return {name: _version(name) for name in names}


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """What differs between two tables, the order of their keys included, as `a, b: 1 there, 2 here`."""
    for key in dict.fromkeys([*wanted, *found]):
        have, want = found.get(key), wanted.get(key)
        if isinstance(have, Mapping) and isinstance(want, Mapping):
            yield from differences(have, want, f"{where}{key}, ")
        elif have != want:
            yield f"{where}{key}: {json.dumps(have)} there, {json.dumps(want)} here"
    if list(found) != list(wanted):
        yield f"{where}in the order {', '.join(found)} there, {', '.join(wanted)} here"


def _version(name: str) -> str:
    if name == "nutmeg":
        return nutmeg.__version__
    if name == "python":
        return ".".join(platform.python_version_tuple()[:2])
    return _installed(name)


@functools.cache
def _installed(name: str) -> str:
    """The version of a library; it takes milliseconds to find out, and workers ask for every piece of work."""
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(distribution)
    return "not installed"


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    path = folder / LOCK
    if folder.is_file():
        raise FileError(folder, "is a file, but a run needs a folder. Name another with --output.")
    with _writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                folder, "another process is running this run. Wait for it, end it, or use another folder."
            ) from None
        yield
    finally:
        os.close(handle)


def _begin(folder: Path, manifest: Mapping[str, object], copy: Path | None) -> None:
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in {LOCK, LOG, CONFIGURATION})
    if strangers:
        raise FileError(folder, f"is no run, but has {strangers[0]} in it. Use a new or an empty folder.")
    with _writing(folder / MANIFEST):
        if copy is not None:
            _replace(folder / CONFIGURATION, copy.read_bytes())
        _replace(folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())  # last: now it is a run


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / MANIFEST
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError):
        raise FileError(path, "is not an object in JSON; the file was changed or damaged.") from None


def _check(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any], *, any_version: bool) -> None:
    """An error naming the first thing in which a run that was begun differs from this one."""
    there = {key: found.get(key) for key in wanted}
    different = next(differences(there, wanted), None)
    if different:
        copied = f" What it was begun with is in {CONFIGURATION} there." if (folder / CONFIGURATION).exists() else ""
        raise FileError(
            folder / MANIFEST,
            f"the run was begun with another configuration ({different}). Use the same, or another folder.{copied}",
        )
    changed = next(differences(found.get("versions", {}), versions()), None)
    if changed and not any_version:
        raise FileError(
            folder / MANIFEST,
            f"the run was begun with other software ({changed}); going on would mix numbers of both. Install what it "
            "was begun with, or use another folder.",
        )


@contextlib.contextmanager
def _logged(run: Run) -> Iterator[None]:
    """Notes in the log when a run begins and how it ends."""
    start = time.monotonic()
    run.log(event="begin", command=run.command, versions=versions())
    try:
        yield
    except BaseException as error:
        how = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
        with contextlib.suppress(FileError):  # the first error is the one to report
            run.log(event="end", how=how, seconds=round(time.monotonic() - start, 3))
        raise
    run.log(event="end", how="finished", seconds=round(time.monotonic() - start, 3))


def _seconds(folder: Path) -> float:
    """The seconds of earlier sessions, as the log says; half a line, of a full disk, says nothing."""
    try:
        lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    total = 0.0
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            total += float(json.loads(line)["seconds"])
    return total


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = "make room, and run it again" if full else "choose a folder in which you may write"
        raise FileError(
            path, f"cannot be written: {error.strerror}. What was saved before is safe; {advice}."
        ) from None


def _replace(path: Path, data: bytes) -> None:
    # REMOVED-IMPORT

    replace_file(path, data)


def _program(command: Sequence[str]) -> list[str]:
    """A command line with the program as it is typed, not as a path."""
    if not command:
        raise UsageError("a run needs the command line that it was begun with.")
    return ["nutmeg" if Path(command[0]).name in {"nutmeg", "__main__.py"} else command[0], *command[1:]]


def _plain(value: object) -> dict[str, Any]:
    """A table as JSON has it."""
    try:
        return dict(plain(value))
    except TypeError as error:
        raise UsageError(f"a run cannot record {error} in its configuration.") from None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


# ----------------------------------------------------------------------------------------------------
# Files that survive a crash: appended with whole writes, or replaced in one go.


class AppendFile:
    """A new file that only grows, by whole pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)

    def append(self, data: Buffer) -> None:
        """Write all of `data`, or raise OSError and leave the file as it was."""
        view = memoryview(data).cast("B")
        try:
            written = os.write(self._handle, view)
            while written < len(view):  # a disk that is nearly full takes a part, then raises
                written += os.write(self._handle, view[written:])
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one to report
                os.ftruncate(self._handle, self.size)
            raise
        self.size += len(view)

    def sync(self) -> None:
        """Force what was written to the disk."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Release the file; closing twice is fine."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


def replace_file(path: Path, data: Buffer) -> None:
    """Write a file under a temporary name, force it to the disk, then give it its name."""
    draft = path.with_name(path.name + ".draft")
    try:
        with draft.open("wb", buffering=0) as file:
            view = memoryview(data).cast("B")
            while len(view):
                view = view[file.write(view) or 0 :]
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Force the names in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
