"""Pacing of a run: as fast as possible, or in real time.

A schedule asks its clock after every stretch of physics whether to go on. `RealTime` sleeps until the wall clock has
caught up; it can be paused and change its speed while it runs.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from nutmeg.base.errors import UsageError

ON_TIME_TOLERANCE = 1e-3
"""Largest delay at which a run counts as on time [s]."""


class Clock(Protocol):
    """Decides when the next stretch of simulated time may be computed."""

    def start(self, now: float) -> None:
        """Called when the run begins at simulated time `now` [s]."""

    def wait(self, now: float) -> bool:
        """Blocks until the simulation may go on after `now`; returns False to end the run."""

    def behind(self, now: float) -> bool:
        """Whether the run is late, so that best-effort work should be left out."""


class AsFastAsPossible:
    """The pace of a run that never waits."""

    def start(self, now: float) -> None:
        """Does nothing: this pace never waits."""

    def wait(self, now: float) -> bool:  # noqa: ARG002
        """Goes on at once."""
        return True

    def behind(self, now: float) -> bool:  # noqa: ARG002
        """Never: there is no wall clock to compare with."""
        return False


class RealTime:
    """Follows the wall clock, times `speed`.

    A run that falls behind by more than `slack` seconds does not try to catch up: it goes on from there, and
    `lost` counts the seconds given up.
    """

    def __init__(self, speed: float = 1.0, *, slack: float = 0.2) -> None:
        self.speed = _checked_speed(speed)
        self.slack = slack
        self.lost = 0.0
        """Wall-clock seconds by which the run was late and that were given up."""
        self._going = threading.Event()
        self._going.set()
        self._ended = self._behind = False
        self._wall = self._simulated = 0.0

    def start(self, now: float) -> None:
        """Takes the present moment as simulated time `now`."""
        self._wall, self._simulated, self._behind = time.monotonic(), now, False

    def wait(self, now: float) -> bool:
        """Sleeps until the wall clock has reached `now`."""
        if not self._going.is_set():
            self._going.wait()
            self.start(now)
        late = self.note_lateness(now)
        if late < 0:
            time.sleep(-late)
        return not self._ended

    def due(self, now: float) -> float:
        """Wall-clock time (`time.monotonic`) at which simulated time `now` is due [s]."""
        return self._wall + (now - self._simulated) / self.speed

    def note_lateness(self, now: float) -> float:
        """Notes how late the run is at `now` [s], negative if it is early; gives up what is more than `slack`."""
        late = time.monotonic() - self.due(now)
        self._behind = late > ON_TIME_TOLERANCE
        if late > self.slack:
            self.lost += late
            self._wall, self._simulated = time.monotonic(), now
        return late

    def behind(self, now: float) -> bool:  # noqa: ARG002
        """Whether the last wait came too late to wait at all."""
        return self._behind

    def set_speed(self, speed: float, now: float) -> None:
        """Changes the speed from simulated time `now` on."""
        self.start(now)
        self.speed = _checked_speed(speed)

    def pause(self) -> None:
        """Holds simulated time until `resume`."""
        self._going.clear()

    def resume(self) -> None:
        """Lets simulated time go on."""
        self._going.set()

    def end(self) -> None:
        """Ends the run at its next wait."""
        self._ended = True
        self._going.set()

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ended


def _checked_speed(speed: float) -> float:
    if not speed > 0:
        raise UsageError(f"the speed of a run is {speed}; it must be above 0. To hold a run, pause it.")
    return speed
