"""The common part of the serving commands: options, page, recording, and a log that never blocks.

with ServerLog(terminal.say) as log, ServedPage(log, record, host="127.0.0.1", port=8080) as page:
    page.show()                         # comes up beside the running server
    log.write("agent 127.0.0.1:50000 has joined")
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import tyro

from nutmeg.base.errors import FileError, NutmegError, SimulationError, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Address, JsonOption, Port, Seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nutmeg.net.connection import Report
    from nutmeg.net.game_controller import ControllerSettings
    from nutmeg.view.pages.orders import Controls
    from nutmeg.view.pages.process import ViewerProcess

_LINES_A_SECOND = 20  # lines a second that people can still read
_WAITING_LINES = 100  # lines that may wait to be written
_LOG_PATIENCE = 10.0  # how long the end of a log waits for a slow reader [s]
_PAGE_PATIENCE = 3.0  # how long the page may take to end [s]


@dataclass(frozen=True, kw_only=True)
class ServeOptions(JsonOption):
    """Options of everything that is served."""

    group: ClassVar[str] = "watching and recording"
    host: Address = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    seed: Seed = 0
    """Seed of all noise."""
    record: Path | None = None
    """Where the recording goes; a new folder under runs/ if left out."""
    no_record: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Make no recording; then there is no page either."""
    view: bool = True
    """Show what happens on a web page."""
    port: Port = 8080
    """Port of the page; 0 takes a free one."""

    def new_recording(self, name: str) -> Path | None:
        """Where the recording goes; None for no recording."""
        from nutmeg.base.journal import new_folder

        if self.no_record and self.record is not None:
            raise UsageError("--record and --no-record do not go together; leave one of them out.")
        if self.no_record:
            return None
        if self.record is not None and self.record.exists():
            raise FileError(self.record, "exists already; choose another name with --record.")
        return self.record or new_folder(Path("runs"), "serve") / name


@dataclass(frozen=True, kw_only=True)
class ControllerOptions:
    """Options of a GameController."""

    gc_version: Literal[18, 20] = 18
    """Version of the GameController's messages: 18 (SPL) or 20 (humanoid league)."""
    gc_address: str = "127.255.255.255"
    """Where the GameController's messages go; the default reaches every program of this machine that listens."""
    gc_port: Port = 3838
    """UDP port of the GameController's messages."""
    gc_return_port: Port = 3939
    """UDP port on which robots answer the GameController; 0 takes a free one."""
    team_numbers: tuple[Annotated[int, Bounds(0, 254)], Annotated[int, Bounds(0, 254)]] = (1, 2)
    """Numbers of the teams that begin on the left and on the right in the GameController's messages."""

    def controller_settings(self, host: str) -> ControllerSettings:
        """The settings of a GameController; answers are taken on the address `host`."""
        from nutmeg.net.game_controller import ControllerSettings

        return ControllerSettings(
            version=self.gc_version,
            address=self.gc_address,
            port=self.gc_port,
            return_port=self.gc_return_port,
            listen=host,
            numbers=self.team_numbers,
        )


def check_ports(host: str, ports: dict[str, int]) -> None:
    """Refuses ports that are in use at once, by option, not only when everything is built."""
    from nutmeg.view.pages.process import check_port

    taken: set[int] = set()
    for option, port in ports.items():
        if port in taken - {0}:
            raise UsageError(f"{option} is {port}, as another port is; each needs its own.")
        taken.add(port)
        check_port(host, port, option)


@contextlib.contextmanager
def ended_as_asked(record: Path | None, close: Callable[[], object]) -> Iterator[None]:
    """Around the run of a server: says that it is ready, and closes its recording however it ends.

    Ctrl-C, before or after the server listens to it, is the end that was asked for.
    """
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        yield
    except KeyboardInterrupt:
        pass
    except SimulationError as error:
        kept = f" Everything up to then is in {record}." if record else ""
        raise SimulationError(f"{error}{kept}") from None
    finally:
        close()  # first, so that the recording is complete however long the rest takes to end


class ServedPage(Closing):
    """The web page of a server: shows the growing recording, if there is one, in a process of its own.

    The page's address, or why there is none, is written to the log.
    """

    def __init__(self, log: ServerLog, record: Path | None, *, host: str, port: int) -> None:
        self.url: str | None = None
        """The page's address, once it answers."""
        self._log, self._record, self._host, self._port = log, record, host, port
        self._viewer: ViewerProcess | None = None
        self._thread: threading.Thread | None = None
        if record is not None:  # loaded now, because it takes long, and the server would wait for it later
            import nutmeg.view.pages.process  # noqa: F401

    def show(self, controls: Controls | None = None) -> None:
        """Starts the page with its controls, which takes seconds, and returns at once."""
        if self._record is not None:
            self._thread = threading.Thread(target=self._start, args=(controls,), name="page", daemon=True)
            self._thread.start()

    def _start(self, controls: Controls | None) -> None:
        from nutmeg.view.pages.process import start_viewer_process

        assert self._record is not None
        try:
            self._viewer = start_viewer_process(
                self._record, host=self._host, port=self._port, live=True, controls=controls
            )
            self._viewer.wait()
        except (NutmegError, OSError) as error:
            self._log.write(f"there is no page, the simulation goes on: {error}")
            return
        self.url = self._viewer.url
        self._log.write(f"page: {self.url}")

    def close(self) -> None:
        """Ends the process of the page, also if it is still starting."""
        if self._thread is not None:
            self._thread.join(_PAGE_PATIENCE)  # a page that is still coming up ends with this process
        if self._viewer is not None:
            self._viewer.stop()


class ServerLog(Closing):
    """The log of a server for people, which never delays the server.

    Lines are written by a thread of their own, because `write` may be slow or never return. The number of lines a
    second is limited; how many were left out is written as soon as there is room again. One kind of line is never left
    out: if it was written that a player joined, it is also written that it left, and why.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        *,
        a_second: int = _LINES_A_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._a_second, self._clock = write, a_second, clock
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._players: set[str] = set()
        """Clients whose joining was reported."""
        self._second, self._told_lines, self._left_out = clock(), 0, 0
        self._thread = threading.Thread(target=self._work, name="server log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> bool:
        """Takes a line and returns at once; whether it will be written."""
        now = self._clock()
        if now - self._second >= 1.0:
            self._second, self._told_lines = now, 0
        if self._told_lines >= self._a_second or self._lines.qsize() >= _WAITING_LINES:
            self._left_out += 1
            return False
        self._told_lines += 1
        if self._left_out:
            self._lines.put(f"({self._left_out} more lines were left out)")
            self._left_out = 0
        self._lines.put(line)
        return True

    def report(self, report: Report) -> None:
        """Takes what a server reports about a client."""
        words = {"joined": "joined", "left": "left", "refused": "refused", "problem": "problem with"}
        line = f"{words[report.kind]} {report.client}: {report.text}"
        if report.kind == "left" and report.client in self._players:
            self._players.remove(report.client)
            self._lines.put(line)  # in any case: there are not more of these than lines about joining
        elif self.write(line) and report.kind == "joined":
            self._players.add(report.client)

    def close(self) -> None:
        """Writes the remaining lines, unless the reader is gone."""
        self._lines.put(None)
        self._thread.join(_LOG_PATIENCE)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            self._write(line)
