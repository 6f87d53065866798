"""A recording that is written by a thread of its own: the simulation only copies numbers.

    writer = HostRecording(path, worlds, seed=1, more=[(channel, read)])
    schedule.every(0.02, writer.sample)
    writer.event(time, "joined", robot="nao-1")
    writer.close()

Rows wait in a bounded queue. Where the disk cannot keep up, rows are left out and counted; events never are.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from nutmeg.engine.trace import TraceWriter
from nutmeg.errors import RecordingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds
    from nutmeg.recording import Channel

WAITING = 512
"""Rows that may wait for the disk."""
PATIENCE = 30.0
"""How long the end waits for the disk [s]."""


class HostRecording:
    """Records world 0.

    Args:
        path: the recording to make.
        worlds: what to record.
        seed: the run's seed, kept in the recording.
        config: settings of the run, kept in the recording.
        more: channels beside those of the scene, each with what reads its numbers.
    """

    def __init__(
        self,
        path: Path,
        worlds: Worlds,
        *,
        seed: int,
        config: Mapping[str, object],
        more: Sequence[tuple[Channel, Callable[[], Floats]]] = (),
    ) -> None:
        self.path = path
        self.left_out = 0
        """Rows for which there was no room."""
        self.problem = ""
        """Why nothing is recorded any more; empty while all is well."""
        self._trace = TraceWriter(path, worlds, seed=seed, config=config, more=more)
        self._rows: queue.Queue[Callable[[], None] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()
        self._closed = False

    def sample(self, time: float) -> None:
        """Takes the present state; a task of the schedule."""
        row = self._trace.row()
        try:
            self._rows.put_nowait(lambda: self._trace.recording.append(time, row))
        except queue.Full:
            self.left_out += 1

    def event(self, time: float, kind: str, **fields: object) -> None:
        """Takes an event."""
        if not self._closed:
            self._rows.put(lambda: self._trace.event(time, kind, **fields))

    def close(self) -> None:
        """Writes what waits and finishes the recording; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        self._rows.put(None)
        self._thread.join(PATIENCE)
        if not self._thread.is_alive() and not self.problem:
            self._trace.close()

    def _work(self) -> None:
        while (write := self._rows.get()) is not None:
            if self.problem:
                continue
            try:
                write()
            except RecordingError as error:
                self.problem = str(error)
