"""A Dask cluster on this machine, started as its users do: `dask scheduler` and `dask worker`, on loopback only.

with LocalCluster() as cluster:
    cluster.start_worker()
    cluster.start_worker()
    OnCluster(cluster.address)

Everything that was started is ended with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.closing import Closing
from nutmeg.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOST = "127.0.0.1"
START_WITHIN = 60.0
"""How long a scheduler or a worker may take to start, on a busy machine [s]."""


class LocalCluster(Closing):
    """A scheduler and workers as processes of their own.

    Args:
        port: of the scheduler; 0 for one that is free.
        environment: variables to add to those of this process.
    """

    def __init__(self, *, port: int = 0, environment: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nutmeg-cluster-")
        self._environment = {**os.environ, **(environment or {})}
        self._logs: dict[int, Path] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        """The scheduler first, then the workers, dead ones too."""
        self.address = ""
        """Where the scheduler listens."""
        try:
            scheduler = self._start("scheduler", ["--port", str(port)])
            self.address = self._said(scheduler, "Scheduler at:")
        except BaseException:
            self.close()
            raise

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        """The process of the scheduler."""
        return self.processes[0]

    def start_worker(
        self, *, threads: int = 1, nanny: bool = False, options: Sequence[str] = (), wait: bool = True
    ) -> subprocess.Popen[bytes]:
        """Starts a worker; with a nanny it is started again when it dies."""
        kind = "--nanny" if nanny else "--no-nanny"
        worker = self._start("worker", [self.address, "--nthreads", str(threads), kind, *options])
        if wait:
            self._said(worker, "Registered to:")
        return worker

    def log(self, process: subprocess.Popen[bytes]) -> str:
        """What a process has printed."""
        return self._logs[process.pid].read_text(errors="replace")

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops all processes for a while, so that they take nothing from others; idle ones take some per cent."""
        alive = [process for process in self.processes if process.poll() is None]
        for process in alive:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in alive:
                process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Ends all processes, workers first: without a scheduler they would wait for it."""
        _end(self.processes[1:])
        _end(self.processes[:1])
        self._folder.cleanup()

    def _start(self, what: str, options: Sequence[str]) -> subprocess.Popen[bytes]:
        log = Path(self._folder.name) / f"{what}-{len(self.processes)}.log"
        local = ["--host", HOST, "--no-dashboard", "--dashboard-address", f"{HOST}:0"]
        if what == "worker":
            local += ["--local-directory", self._folder.name]
        with log.open("wb") as file:
            process = subprocess.Popen(  # noqa: S603 (our own interpreter)
                [sys.executable, "-m", "dask", what, *local, *options],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for the one who evaluates
            )
        self.processes.append(process)
        self._logs[process.pid] = log
        return process

    def _said(self, process: subprocess.Popen[bytes], words: str) -> str:
        """Waits until a process has printed a line with `words`, and gives what follows them."""
        end = time.monotonic() + START_WITHIN
        while True:
            _, found, rest = self.log(process).partition(words)
            if found and "\n" in rest:
                return rest.splitlines()[0].strip()
            if process.poll() is not None or time.monotonic() > end:
                raise EnvironmentProblem(f"a process of the Dask cluster did not start:\n{self.log(process)}")
            time.sleep(0.05)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    alive = [process for process in processes if process.poll() is None]
    for process in alive:
        process.terminate()
    for process in alive:
        try:
            process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the worker of a nanny, too
            process.wait()
