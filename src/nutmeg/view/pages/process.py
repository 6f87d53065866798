"""Processes beside a simulation: the viewer, and the writer of replay and report of a match.

Neither slows the simulation.

    with start_viewer_process(Path("match.nutmeg"), live=True) as viewer:
        print(viewer.url)
        simulate()

It ends with the `with` block, with `stop()`, or when this process ends, however that happens.

    with MatchPagesProcess(Path("match.nutmeg"), replay=Path("match.html")) as process:
        ...                                   # play, and finish the recording
        for page, size in process.pages():
            print(page)
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import urllib.request
import weakref
from typing import TYPE_CHECKING, Self

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.view.pages.orders import MAX_LINE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from nutmeg.view.pages.orders import Controls, Inbox


class ViewerProcess:
    """The process of a viewer; its page answers once `wait` has returned, or a `with` block has begun."""

    def __init__(self, process: subprocess.Popen[str], inbox: Inbox | None = None) -> None:
        self._process, self._inbox = process, inbox
        self._reader: threading.Thread | None = None
        self.url = ""
        """The address of the page; empty before `wait`."""
        self._finalizer = weakref.finalize(self, _end, process)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the viewer still runs."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Wait until the page answers; an error says why it never will."""
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            _, problem = self._process.communicate()
            kind = EnvironmentProblem if self._process.returncode == EnvironmentProblem.exit_code else NutmegError
            raise kind(problem.strip() or "the viewer process ended without saying why.")
        if self._inbox is not None:
            orders = (self._process.stdout, self._inbox)
            self._reader = threading.Thread(target=_listen, args=orders, name="viewer's orders", daemon=True)
            self._reader.start()
        local = self.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 (an address to ask, not to listen on)
        with urllib.request.urlopen(local, timeout=120) as answer:  # noqa: S310 (our own server)
            answer.read(1)

    def stop(self) -> None:
        """End the process of the viewer."""
        if self._process.poll() is None:
            self._process.terminate()
        if self._reader is not None:
            self._reader.join(timeout=30)
        self._finalizer()

    def __enter__(self) -> Self:
        self.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_viewer_process(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    live: bool = False,
    controls: Controls | None = None,
    plot: Sequence[str] = (),
    beside: Path | None = None,
    robot: str = "",
) -> ViewerProcess:
    """Start a viewer. Its page answers after `wait`, or inside a `with` block.

    Args:
        path: the recording; it may still grow. That of a live page may also begin later.
        host: the address to listen on.
        port: the port to listen on; 0 takes any free one.
        live: start at the newest row and stay there.
        controls: what the page may command, if anything.
        plot: channels that every page plots from the start.
        beside: another recording, drawn as a ghost.
        robot: the robot that moves as a recording without a scene says.
    """
    check_port(host, port)
    options = {"--host": host, "--port": port, "--controls": controls and controls.text()}
    options |= {"--beside": beside, "--robot": robot}
    words = [str(path), *_words(options), "--live" if live else "--no-live", *(["--plot", *plot] if plot else [])]
    return ViewerProcess(_start("nutmeg.view.pages.server", words), None if controls is None else controls.inbox)


def _words(options: Mapping[str, object]) -> list[str]:
    """Options of a command line; those without a value are left out."""
    return [str(word) for option, value in options.items() if value not in (None, "") for word in (option, value)]


def _start(module: str, words: list[str], *, own_session: bool = False) -> subprocess.Popen[str]:
    """Start a module of ours, which ends with this process, however that happens."""
    return subprocess.Popen(  # noqa: S603 (our own module)
        [sys.executable, "-m", module, *words, "--parent", str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=own_session,
    )


def _listen(pipe: IO[str], inbox: Inbox) -> None:
    """Passes the viewer's lines on until it ends; a line that is too long is cut."""
    while line := pipe.readline(MAX_LINE_LENGTH + 2):
        inbox.post(line)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, gently first."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


class MatchPagesProcess(Closing):
    """A process that writes replay and report of a match while it is played.

    It ends with the `with` block at the latest. It has a session of its own, so that signals to the group of the match
    (Ctrl-C, the SIGTERM of `timeout`) do not reach it: the pages are wanted then, too. `fps` is the number of moments
    of the replay per second; `command` and `seed` play the same match and are shown in the report.
    """

    def __init__(
        self,
        path: Path,
        *,
        replay: Path | None = None,
        fps: float = 10.0,
        report: Path | None = None,
        command: str = "",
        seed: int = 0,
    ) -> None:
        self._wanted = {name for name, page in (("report", report), ("replay", replay)) if page is not None}
        options = {"--fps": fps, "--replay": replay, "--report": report, "--command": command, "--seed": seed}
        self._process = _start("nutmeg.view.files.replay", [str(path), *_words(options)], own_session=True)

    def pages(self) -> Iterator[tuple[str, int]]:
        """Each page as soon as it is written, after the recording is finished: `report` or `replay`, and its size.

        The size is in bytes; 0 for the report.
        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, _, size = line.strip().partition(" ")
            yield name, int(size or 0)
            self._wanted.discard(name)
            if not self._wanted:
                return  # do not wait for the process to end, which takes a moment
        _, problem = self._process.communicate()
        if self._process.returncode != 0:
            raise NutmegError(problem.strip() or "the process that writes report and replay ended without saying why.")

    def close(self) -> None:
        """End the process, if it still runs."""
        _end(self._process)


def check_port(host: str, port: int, option: str = "--port") -> None:
    """Raise `EnvironmentProblem` unless the port can be listened on, `UsageError` if there is no such port."""
    if not 0 <= port <= 65535:
        raise UsageError(f"port {port} does not exist; choose one from 1024 to 65535 with {option}.")
    if not host:
        raise UsageError("--host is empty; use 127.0.0.1, or 0.0.0.0 to let other machines in.")
    try:
        _bind(host, port)
    except PermissionError:
        raise EnvironmentProblem(
            f"this user may not listen on port {port}; choose one above 1023 with {option}."
        ) from None
    except OSError as error:
        if isinstance(error, socket.gaierror) or "assign" in str(error).lower():
            raise EnvironmentProblem(f"{host!r} is not an address of this machine; use 127.0.0.1 or 0.0.0.0.") from None
        raise port_taken(host, port, option) from None


def port_taken(host: str, port: int, option: str = "--port") -> EnvironmentProblem:
    """The error for a port that is already in use, with one that is free.

    Not one of the next nine, which the same program may use for something else.
    """
    candidates = (one for one in range(port + 10, min(port + 1000, 65536), 10) if _is_free(host, one))
    return EnvironmentProblem(
        f"port {port} on {host} is already in use. End the program that uses it, or choose another port, "
        f"e.g. {option} {next(candidates, 8080)}."
    )


def _is_free(host: str, port: int) -> bool:
    """Whether the port can be listened on."""
    try:
        _bind(host, port)
    except OSError:
        return False
    return True


def _bind(host: str, port: int) -> None:
    """Binds a socket to the port for a moment."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
