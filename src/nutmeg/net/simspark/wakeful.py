"""A selector that stays awake for peers that answer at once: falling asleep and being woken takes longer than they do.

    selector = WakefulSelector()
    selector.register(sock, selectors.EVENT_READ, client)
    for key, events in selector.wait(0.25):
        ...

On a virtual machine it may take a tenth of a millisecond until a process that sleeps in `select` runs again, and the
process that wakes it pays a part of that. So whoever waits here asks again and again, but only if the last wait was
short, and never for longer than `AWAKE`: peers that think for longer cost nothing but one such time.
"""

from __future__ import annotations

import selectors
import time

AWAKE = 0.0002
"""Peers that answer within this time are waited for awake, s."""


class WakefulSelector(selectors.DefaultSelector):
    """The system's selector, with another way to wait."""

    _prompt = False

    def wait(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Who is ready, as `select` says it: after so long at the latest, s, and perhaps nobody; None is for ever."""
        ready = self.select(0.0)
        if ready or timeout == 0.0:
            self._prompt = self._prompt or bool(ready)
            return ready
        start = time.monotonic()
        until = start + (AWAKE if timeout is None else min(timeout, AWAKE))
        while self._prompt and not ready and time.monotonic() < until:
            ready = self.select(0.0)
        ready = ready or self.select(timeout)
        self._prompt = time.monotonic() < start + AWAKE
        return ready
