"""The clock of a replay: which moment is shown, and how it runs on.

It knows nothing of pages or wall clocks: whoever shows the film tells how much time went by.

    playback = Playback(start=0.0, end=90.0)
    playback.speed = 2.0
    playback.advance(1 / 30)
    playback.time                        # 0.0667
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from nutmeg.errors import UsageError

SLOWEST, FASTEST = 0.1, 10.0
"""Allowed speeds, in recorded seconds per second."""


@dataclass
class Playback:
    """The moment shown, between `start` and `end` (seconds of the recording)."""

    start: float
    """Time of the first row."""

    end: float
    """Time of the newest row."""

    live: bool = False
    """Whether the newest row is shown as it comes."""

    playing: bool = True
    """Whether time runs."""

    time: float = 0.0
    """The moment shown."""

    _speed: float = 1.0
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        self.time = self.end if self.live else self.start

    @property
    def speed(self) -> float:
        """Recorded seconds per second, 0.1 to 10."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not SLOWEST <= speed <= FASTEST:
            raise UsageError(f"the speed is {speed:g}; it must lie between {SLOWEST:g} and {FASTEST:g}.")
        self._speed = speed

    def advance(self, seconds: float) -> None:
        """Let `seconds` of wall time pass. A replay stops at the end; live stays at the newest row."""
        with self._lock:
            if not self.playing:
                return
            if self.live:
                self.time = self.end
                return
            self.time = min(self.time + seconds * self._speed, self.end)

    def grow(self, start: float, end: float) -> None:
        """Rows were added: the recording now reaches from `start` to `end`."""
        with self._lock:
            self.start, self.end = start, end
            self.time = max(self.time, start)

    def seek(self, time: float) -> None:
        """Show another moment; leaves live."""
        with self._lock:
            self.live = False
            self.time = min(max(time, self.start), self.end)

    def go_live(self) -> None:
        """Show the newest row, now and as more come."""
        with self._lock:
            self.live = self.playing = True
            self.time = self.end

    def toggle(self) -> None:
        """Pause (which leaves live) or go on; at the end of a replay, play starts again from the beginning."""
        with self._lock:
            if self.at_end:
                self.time, self.playing = self.start, True
            elif self.playing:
                self.pause()
            else:
                self.playing = True

    def finish(self) -> None:
        """No more rows will come: what was live is now a replay at its end."""
        with self._lock:
            if self.live:
                self.live, self.time = False, self.end

    def pause(self) -> None:
        """Stop at the moment shown; leaves live."""
        with self._lock:
            self.playing = self.live = False

    @property
    def at_end(self) -> bool:
        """Whether a replay has nothing more to show."""
        return not self.live and self.time >= self.end
