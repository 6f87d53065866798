"""Files of runs: run folders, JSON lines, files that are replaced in one go, and resuming.

A run is a folder with the command, its configuration, the versions of the software, and all results:

    with open_run(folder, command=sys.argv, seed=3, configuration={"robot": "ant"}, copy=Path("ant.toml")) as run:
        if run.resumed: ...                     # the folder was begun before, with the same configuration
        minimise(..., folder=run.folder / "search")
        run.write("params.toml", text)          # the old content or the new one, never half of it
    run.resume_command                          # "nutmeg identify ant.toml --seed 3 --output runs/identify-1"

    run.json        format, command, seed, versions and the configuration; written once, at the beginning
    config.toml     the configuration file as it was then
    log.jsonl       one line for each time it was begun, and ended: when, how, after how many seconds
    run.lock        held while the run is running; a run that was killed does not hold it any more

The same folder with another configuration, seed or software is refused: its numbers would be a mixture.

Results that grow during a run are files of JSON lines; all other files are replaced as a whole:

    append_lines(path, [{"trial": "a", "fitness": 0.3}])    # on the disk, or the file is as it was before
    read_lines(path)                                        # a line that a crash cut short is left out
    write_file(path, text)                                  # the old content or the new one
    with draft(path) as temporary: ...                      # the same for folders and for libraries that write files
    each_seed(out, range(10), settings, one_seed)           # an experiment, a file for each seed
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import importlib.metadata
import json
import math
import os
import platform
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nutmeg
from nutmeg.base.errors import FULL_DISK, FileError, UsageError, writing
from nutmeg.base.interrupts import terminated_as_interrupted

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from typing_extensions import Buffer  # known to the type checker; Python itself has it from 3.12 on

# ----------------------------------------------------------------------------------------------------
# Values in JSON: arrays, dataclasses, paths, and numbers that are not finite.


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value made of dicts, lists, strings, numbers, booleans and None only; TypeError for anything else."""
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


def write_json(path: Path, value: object) -> None:
    """Replaces a file by a value in JSON; the folder is made if it is not there."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(value, indent=1, default=of_numpy) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file of JSON; None if there is no such file."""
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError):
        raise FileError(path, "is not an object in JSON; the file was changed or damaged.") from None


# ----------------------------------------------------------------------------------------------------
# Files that survive a crash: appended with whole writes, or replaced in one go.


class AppendFile:
    """A file that only grows, by whole pieces; a `new` one must not exist yet."""

    def __init__(self, path: Path, *, new: bool = True) -> None:
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_EXCL if new else 0), 0o666)
        self.size = 0 if new else os.fstat(self._handle).st_size

    def append(self, data: Buffer) -> None:
        """Writes all of `data`, or raises OSError and leaves the file as it was."""
        view = memoryview(data).cast("B")
        try:
            written = os.write(self._handle, view)
            while written < len(view):  # a disk that is nearly full takes a part, then raises
                written += os.write(self._handle, view[written:])
        except BaseException:
            with contextlib.suppress(OSError):  # the first error is the one to report
                os.ftruncate(self._handle, self.size)
            raise
        self.size += len(view)

    def read(self) -> bytes:
        """All that is in the file."""
        with self.path.open("rb") as file:  # not until the end of the file: a device has none
            return file.read(self.size)

    def truncate(self, size: int) -> None:
        """Cuts the file after its first `size` bytes."""
        if size < self.size:
            os.ftruncate(self._handle, size)
            self.size = size

    def lock(self) -> None:
        """Keeps the file for this process until it is closed; BlockingIOError if another one has it.

        Systems without `fcntl` (Windows) have no lock that leaves the file readable for others: there, nothing happens.
        """
        if fcntl is not None:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def sync(self) -> None:
        """Forces what was written to the disk."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Releases the file; closing twice is fine."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


@contextlib.contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A temporary path for a file or folder, renamed to `path` if the block succeeds and removed if it fails.

    A device or a pipe (`/dev/stdout`) is written directly. A link stays a link: the file that it points to is replaced.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    path = path.resolve()
    temporary = path.with_name(path.name + ".draft")
    _remove(temporary)  # left by an attempt that was killed
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        _remove(temporary)
        raise
    sync_folder(path.parent)


def replace_file(path: Path, data: Buffer) -> None:
    """Writes a file under a temporary name, forces it to the disk, then gives it its name."""
    with draft(path) as temporary, temporary.open("wb", buffering=0) as file:
        view = memoryview(data).cast("B")
        while len(view):
            view = view[file.write(view) or 0 :]
        if temporary != path:  # a device or a pipe keeps nothing
            os.fsync(file.fileno())


def write_file(path: Path, data: Buffer | str) -> None:
    """Writes a file whole or not at all; what goes wrong is a `FileError` that names it."""
    with writing(path):
        replace_file(path, data.encode() if isinstance(data, str) else data)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Forces the names in a folder to the disk, where folders can be opened (not on Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ----------------------------------------------------------------------------------------------------
# Files of JSON lines: an added line is on the disk, or the file is as it was before.


def read_lines(path: Path, kind: type = dict) -> list[Any]:
    """The values in a file, all objects (or lists, with another `kind`); none if there is no such file."""
    try:
        return _parsed(path.read_bytes(), path, kind)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None


def append_lines(
    path: Path, lines: Iterable[object], *, keep: int | None = None, problem: str = "cannot be written"
) -> None:
    """Adds values to a file, which is made if it is not there.

    Args:
        path: the file.
        lines: what JSON can hold, without numbers that are not finite.
        keep: number of existing lines to keep; later ones are replaced. All are kept if it is not given.
        problem: beginning of the error message if writing fails.
    """
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(AppendFile(path, new=False)) as file:
            there = file.read().splitlines(keepends=True)
            file.truncate(sum(len(line) for line in there[:keep] if line.endswith(b"\n")))
            _append_safely(file, text)
    except OSError as error:
        safe = "Everything before is safe; make room and run the same again."
        raise FileError(path, f"{problem}: {error.strerror}. {safe}") from None


class LinesFile:
    """A file of JSON lines that one process at a time writes; its first line says what it belongs to.

    Args:
        path: the file; it and its folder are made if they are not there.
        head: the first line. A file that begins with another one is refused.
        what: kind of thing the file belongs to, for error messages, such as `search`.
    """

    def __init__(self, path: Path, head: Mapping[str, object], *, what: str) -> None:
        self.path, wanted = path, json.loads(json.dumps(head))
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = AppendFile(path, new=False)
        try:
            self._lock()
            data = self._file.read()
            self._file.truncate(_whole(data))
            first, *self.lines = _parsed(data, path) or [None]
            """The lines that were in the file when it was opened, without the first."""
            if first is None:
                self.append(wanted)
            elif different := next(differences(first, wanted), None):
                use = "Use the same settings, or another folder."
                raise FileError(path, f"belongs to another {what} ({different}). {use}", line=1)
        except BaseException:
            self.close()
            raise

    def append(self, line: Mapping[str, object], *, problem: str = "cannot be written") -> None:
        """Adds a line; it is on the disk when this returns, or the file is as it was before."""
        try:
            _append_safely(self._file, json.dumps(line, allow_nan=False).encode() + b"\n")
        except OSError as error:
            safe = "Everything before it is safe; make room and run the same again."
            raise FileError(self.path, f"{problem}: {error.strerror}. {safe}") from None

    def close(self) -> None:
        """Releases the file for other processes."""
        self._file.close()

    def _lock(self) -> None:
        try:
            self._file.lock()
        except BlockingIOError:
            raise FileError(self.path, "another run is writing here. Wait for it, or use another folder.") from None


def _parsed(data: bytes, path: Path, kind: type = dict) -> list[Any]:
    """The values of all complete lines; a last line that a crash cut short is left out."""
    values = []
    for number, line in enumerate(data[: _whole(data)].splitlines(), start=1):
        with contextlib.suppress(ValueError):
            values.append(json.loads(line))
        if len(values) < number or not isinstance(values[-1], kind):
            what = "an object" if kind is dict else "a list"
            raise FileError(path, f"is not {what} in JSON; the file was changed or damaged.", line=number)
    return values


def _whole(data: bytes) -> int:
    """Number of bytes up to the end of the last complete line."""
    return data.rfind(b"\n") + 1


def _append_safely(file: AppendFile, data: bytes) -> None:
    """Adds data and forces it to the disk; if that fails, the file is as it was before."""
    before = file.size
    try:
        file.append(data)
        file.sync()
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            file.truncate(before)
        raise


# ----------------------------------------------------------------------------------------------------
# Runs.


_RUN_FORMAT = 1
MANIFEST, CONFIGURATION, LOG, _LOCK = "run.json", "config.toml", "log.jsonl", "run.lock"
_SOFTWARE = ("nutmeg", "python", "numpy", "mujoco", "cma")  # the software that the numbers of a run depend on
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
    """Duration of earlier sessions of this run as its log has it [s]; a session that was killed is not counted."""

    @property
    def resume_command(self) -> str:
        """The command that goes on with this run, to be typed in the folder where it was begun."""
        return resume_command(self.command, self.folder)

    def write(self, name: str, data: str | bytes) -> Path:
        """Writes a file of the run in one go; when the disk is full, what was there before stays."""
        path = self.folder / name
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data.encode() if isinstance(data, str) else data)
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
    saved: str = "",
    say: Callable[[str], object] = lambda _: None,
) -> Iterator[Run]:
    """Begins a run in a folder, or goes on with it; no other process can until this ends.

    Args:
        folder: made if it is not there.
        command: the command line, as in `sys.argv`.
        seed: seed of all its random numbers.
        configuration: what decides the result; a run is only continued with the same. Leave out what does not:
            threads, cluster, budget.
        copy: the file with the configuration, which is copied.
        saved: the unit of work that survives an interruption, for messages, such as `finished generation`.
        say: gets a sentence when a run is continued, and how to go on when it is interrupted.
    """
    recorded = _plain(configuration)
    with _locked(folder):
        wanted = {"format": _RUN_FORMAT, "seed": seed, "configuration": recorded}
        manifest = read_json(folder / MANIFEST)
        if manifest is None:
            _begin(folder, {**wanted, "command": _program(command), "versions": versions(), "began": _now()}, copy)
        else:
            _check(folder, manifest, wanted)
        run = Run(
            folder=folder,
            command=tuple(_program(command)),
            seed=seed,
            configuration=recorded,
            resumed=manifest is not None,
            seconds_before=_seconds(folder),
        )
        if run.resumed:
            say(f"going on in {folder}.")
        with _logged(run), terminated_as_interrupted():
            try:
                yield run
            except KeyboardInterrupt:
                say(f"interrupted; every {saved} is saved. To go on:\n  {run.resume_command}")
                raise


def each_seed(
    out: Path, seeds: Iterable[int], settings: Mapping[str, object], run: Callable[[int], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The results of an experiment over several seeds, each kept in a file, so that an interrupted one goes on.

    A file of the same experiment with other settings, or of other software, is not used: its seed is run again.

    Args:
        out: folder of the experiment.
        seeds: the seeds.
        settings: everything beside the seed that decides the results; values that JSON cannot hold count as their text.
        run: computes the result of one seed.
    """
    wanted = {"settings": _through_json(settings), "versions": versions()}
    results = []
    for seed in seeds:
        path = out / f"seed-{seed}.json"
        known: dict[str, Any] = {}
        with contextlib.suppress(FileError):  # a damaged file counts as none
            known = read_json(path) or {}
        if {key: known.get(key) for key in wanted} != wanted or not isinstance(known.get("result"), dict):
            known = {**wanted, "seed": seed, "result": _through_json(run(seed))}
            write_json(path, known)
        results.append(known["result"])
    return results


def _through_json(value: object) -> Any:  # noqa: ANN401
    return json.loads(json.dumps(value, default=str))


def new_folder(parent: Path, name: str) -> Path:
    """Makes a folder for a new run: `parent/name-1`, or the next number that is free."""
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


def command_line(name: str, arguments: DataclassInstance, positional: str = "config") -> list[str]:
    """The command line of a command with these arguments; options with their default are left out.

    The argument `positional` is written first and without its name.
    """
    words = ["nutmeg", name]
    for field in sorted(dataclasses.fields(arguments), key=lambda field: field.name != positional):
        value, option = getattr(arguments, field.name), f"--{field.name.replace('_', '-')}"
        if value == field.default:
            continue
        if field.name == positional:
            words.append(str(value))
        elif isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-"))
        elif isinstance(value, tuple):
            words += [option, *map(str, value)]
        else:
            words += [option, str(value)]
    return words


def versions(names: Iterable[str] = _SOFTWARE) -> dict[str, str]:
    """The versions of the software that numbers depend on."""
    return {name: _version(name) for name in names}


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """The differences between two tables, the order of their keys included, as `a, b: 1 there, 2 here`."""
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
    if folder.is_file():
        raise FileError(folder, "is a file, but a run needs a folder. Name another with --output.")
    with _writing(folder / _LOCK):
        folder.mkdir(parents=True, exist_ok=True)
        file = AppendFile(folder / _LOCK, new=False)
    with contextlib.closing(file):
        try:
            file.lock()
        except BlockingIOError:
            raise FileError(
                folder, "another process is running this run. Wait for it, end it, or use another folder."
            ) from None
        yield


def _begin(folder: Path, manifest: Mapping[str, object], copy: Path | None) -> None:
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in {_LOCK, LOG, CONFIGURATION})
    if strangers:
        raise FileError(folder, f"is no run, but has {strangers[0]} in it. Use a new or an empty folder.")
    with _writing(folder / MANIFEST):
        if copy is not None:
            replace_file(folder / CONFIGURATION, copy.read_bytes())
        replace_file(folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())  # last: now it is a run


def _check(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
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
    if changed:
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
    """Seconds of all earlier sessions in the log; lines that a full disk cut short are skipped."""
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
        advice = "make room, and run it again" if error.errno in FULL_DISK else "choose a folder in which you may write"
        raise FileError(
            path, f"cannot be written: {error.strerror}. What was saved before is safe; {advice}."
        ) from None


def _program(command: Sequence[str]) -> list[str]:
    """A command line with the program's name as a user types it instead of its path."""
    if not command:
        raise UsageError("a run needs the command line that it was begun with.")
    return ["nutmeg" if Path(command[0]).name in {"nutmeg", "__main__.py"} else command[0], *command[1:]]


def _plain(value: object) -> dict[str, Any]:
    """A mapping as it looks after a round trip through JSON."""
    try:
        return dict(plain(value))
    except TypeError as error:
        raise UsageError(f"a run cannot record {error} in its configuration.") from None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
