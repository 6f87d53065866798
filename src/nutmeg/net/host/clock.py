"""The clock of a hosted simulation: clients are served while it waits, in real time or in lock-step with them.

    clock = HostClock(loop, waiting=lambda: ["nao-1"], clients=lambda: 1)
    schedule.every(0.012, sense)        # done ahead of time
    schedule.every(0.012, clock.keep)   # a task that waits, so that what follows is done when it is due
    schedule.every(0.012, send)
    schedule.run(math.inf, clock)
    clock.end()                         # from a task, another thread or a signal's handler

In *real time* a stretch of simulated time begins when the wall clock has reached it. In *lock-step* it begins when
every connected client has answered what it was last sent; with too few clients, time stands still. A client that is
silent for longer than `patience` is no longer waited for (`overdue` is called with its name): one that hangs holds up
nobody for ever.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from nutmeg.sim.pace import RealTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.net.loop import SocketLoop

MAX_LATENESS = 0.25
"""A run that is later than this does not try to catch up [s]."""
CHECK_PERIOD = 0.25
"""How often a run that waits for clients looks around [s]."""
SELECT_RESOLUTION = 1e-3
"""Selectors wait in steps of this [s]; what is left is slept."""


class HostClock(RealTime):
    """Serves sockets until simulated time may go on.

    Args:
        loop: served while waiting.
        waiting: names of the clients that have not answered yet.
        clients: how many clients there are.
        lock_step: whether to wait for clients instead of for the wall clock.
        needed: clients without which lock-step does not begin.
        speed: simulated seconds per second, in real time.
        patience: how long a client may be silent in lock-step [s].
        overdue: called with the names of clients that were silent for too long.
    """

    def __init__(
        self,
        loop: SocketLoop,
        *,
        waiting: Callable[[], Sequence[str]],
        clients: Callable[[], int],
        lock_step: bool = False,
        needed: int = 1,
        speed: float = 1.0,
        patience: float = 10.0,
        overdue: Callable[[Sequence[str]], None] = lambda _names: None,
    ) -> None:
        super().__init__(speed, slack=MAX_LATENESS)
        self.lock_step, self.needed, self.patience = lock_step, needed, patience
        self.late = 0
        """Stretches that came to an end more than a millisecond after they should have."""
        self.late_by_itself = 0
        """Those among them in which this thread computed for longer than the stretch lasted; the others were late
        because the computer had other things to do."""
        self.stretches = 0
        self._loop, self._waiting, self._clients, self._overdue = loop, waiting, clients, overdue
        self._computed = self._last = 0.0

    def start(self, now: float) -> None:
        """Takes the present moment as simulated time `now`."""
        super().start(now)
        self._computed, self._last = time.thread_time(), now

    def due(self, now: float) -> float:
        """When simulated time `now` is due by the wall clock (`time.monotonic`); in lock-step, at once [s]."""
        return time.monotonic() if self.lock_step else super().due(now)

    def keep(self, now: float) -> None:
        """Serves clients until `now` is due, at least once; a task of the schedule."""
        self.stretches += 1
        self._loop.serve(0.0)
        if self.lock_step:
            self._wait_for_clients()
        else:
            self._keep_time(now)

    def wait(self, now: float) -> bool:  # noqa: ARG002
        """Goes on at once, as `keep` does the waiting; False ends the run."""
        return not self._ended

    def end(self) -> None:
        """Ends the run at its next wait."""
        super().end()
        self._loop.wake()

    def _keep_time(self, now: float) -> None:
        due = self.due(now)
        while not self._ended and (left := due - time.monotonic()) > 0:
            whole = math.floor(left / SELECT_RESOLUTION) * SELECT_RESOLUTION
            if whole > SELECT_RESOLUTION:
                self._loop.serve(whole - SELECT_RESOLUTION / 2)
            else:
                time.sleep(left)
        computed = time.thread_time()
        self.note_lateness(now)
        self.late += self._behind
        self.late_by_itself += self._behind and computed - self._computed > (now - self._last) / self.speed
        self._computed, self._last = computed, now

    def _wait_for_clients(self) -> None:
        patience_ends = time.monotonic() + self.patience
        while not self._ended:
            if self._clients() < self.needed:
                self._loop.serve(CHECK_PERIOD)
                patience_ends = time.monotonic() + self.patience
                continue
            missing = self._waiting()
            if not missing:
                return
            left = patience_ends - time.monotonic()
            if left <= 0:
                self._overdue(missing)
                return
            self._loop.serve(min(left, CHECK_PERIOD))
