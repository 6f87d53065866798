"""What happens to a server, told to people without ever holding the server up.

    with Journal(terminal.say) as journal:
        journal.write("agent 127.0.0.1:50000 has joined")

Lines are written by a thread of their own: whoever reads them may be slow, or not read at all. At most so many lines a
second are told; how many were left out is said as soon as there is room again.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING

from nutmeg.base.interrupts import Closing

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.net.connection import Report

A_SECOND = 20
"""Lines a second that people can still read."""
WAITING = 100
"""Lines that may wait to be written."""
PATIENCE = 10.0
"""How long the end waits for whoever reads, s."""


class Journal(Closing):
    """Writes lines down, as far as somebody reads them.

    Args:
        write: takes a line; may take its time.
        a_second: how many lines a second at most.
        clock: tells the time, s.
    """

    def __init__(
        self, write: Callable[[str], None], *, a_second: int = A_SECOND, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._a_second, self._clock = write, a_second, clock
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._second, self._told, self._left_out = clock(), 0, 0
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Takes a line and returns at once."""
        now = self._clock()
        if now - self._second >= 1.0:
            self._second, self._told = now, 0
        if self._told >= self._a_second:
            self._left_out += 1
            return
        self._told += 1
        try:
            if self._left_out:
                self._lines.put_nowait(f"({self._left_out} more lines were left out)")
                self._left_out = 0
            self._lines.put_nowait(line)
        except queue.Full:
            self._left_out += 1

    def report(self, report: Report) -> None:
        """Takes what a server reports about a client."""
        words = {"joined": "joined", "left": "left", "refused": "refused", "problem": "problem with"}
        self.write(f"{words[report.kind]} {report.client}: {report.text}")

    def close(self) -> None:
        """Writes what still waits, unless nobody reads."""
        try:
            self._lines.put(None, timeout=PATIENCE)
        except queue.Full:
            return
        self._thread.join(PATIENCE)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            self._write(line)
