"""A simulation that is watched while it runs: a recording that grows, and a viewer that reads it.

    watch(worlds, director, Watching(seconds=20), terminal)       # worlds, and the director that commands them
    watch_run(run, Watching(pace=1.0), terminal)                  # any run that records itself, such as a match

The simulation runs in real time here (or at another pace); the viewer is a process of its own that only ever reads the
recording. Orders of the page come back in an inbox (`Watching.controls`): those that drive a robot wait there for the
director, those about the pace go to the clock.
"""

from __future__ import annotations

import math
import signal
import tempfile
import time
import webbrowser
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.text import Text

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import SimulationError, UsageError
from nutmeg.base.interrupts import Starting, signals_handled, terminated_as_interrupted
from nutmeg.sim.pace import RealTime
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.trace import TraceWriter
from nutmeg.view.pages.orders import Controls, Inbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nutmeg.sim.pace import Clock
    from nutmeg.sim.sensing import Sensing
    from nutmeg.sim.worlds import Worlds
    from nutmeg.view.pages.process import ViewerProcess
    from nutmeg.view.terminal import Terminal

_MAX_DURATION = 3600.0  # a run without an end stops simulating after this time; the viewer goes on [s]
UNPACED_SPEED = 1000.0  # a pace that no computer keeps


class Director(Protocol):
    """Commands the robots of a watched run: called once every control cycle."""

    def cycle(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        """Writes commands for the cycle that begins at `time`; yields events (kind, fields)."""


class Run(Protocol):
    """A simulation that can be watched, because it records itself."""

    @property
    def time(self) -> float:
        """Simulated time so far [s]."""

    def begin(self, path: Path) -> None:
        """Starts the recording, with its first row."""

    def advance(self, seconds: float, clock: Clock) -> None:
        """Simulates for this time, or until the clock ends it, or there is nothing more to do."""

    def close(self) -> None:
        """Finishes the recording; closing twice is fine."""


@dataclass(frozen=True, kw_only=True)
class Watching:
    """Settings of a watched run."""

    seconds: float = 0.0
    """Duration of the run [s]; 0 goes on until Ctrl-C."""
    host: str = "127.0.0.1"
    port: int = 8080
    open_browser: bool = False
    record: Path | None = None
    """Path at which the recording is kept; without it, it is deleted in the end."""
    page: bool = True
    """Whether to start the viewer at all."""
    title: str = "live"
    """The title of the page."""
    seed: int = 0
    controls: Controls = field(default_factory=Controls)
    """Commands that the page may give; the director takes its orders from the inbox."""
    pace: float = 1.0
    """Simulated seconds per second."""
    paced: bool = False
    """Whether the page may pause the run and change its pace."""
    longest: float = _MAX_DURATION
    """A run whose `seconds` are not given stops simulating after this time; the page stays until Ctrl-C [s]."""
    on_end: Callable[[], object] | None = None
    """Called when the run has ended by itself and its recording is finished, while the page may still be open."""

    def __post_init__(self) -> None:
        """Refuses an infinite duration."""
        if not 0 <= self.seconds < math.inf:
            raise UsageError(f"--seconds is {self.seconds:g}; a number of seconds is needed, or 0 for no end.")


class PageClock(RealTime):
    """Real time at a pace that the page may change during the run."""

    def __init__(self, pace: float = 1.0) -> None:
        super().__init__(pace)
        self._asked, self._steps = pace, 0

    def ask(self, pace: float) -> None:
        """Sets the pace, or pauses the run if it is 0; may be called from any thread."""
        self._steps = 0
        if pace > 0:
            self._asked = pace
            self.resume()
        else:
            self.pause()

    def step(self) -> None:
        """Lets a paused run do one cycle; may be called from any thread."""
        self._steps += 1
        self.resume()

    def wait(self, now: float) -> bool:
        """Sleeps until the wall clock has reached `now`, at the pace that was asked for last."""
        if self._steps > 0 and not self.ended:
            self._steps -= 1
            if not self._steps:
                self.pause()
        goes_on = super().wait(now)
        if self._asked != self.speed:
            self.set_speed(self._asked, now)
        return goes_on


class _WorldsRun:
    """Worlds and the director that commands them; world 0 is recorded, with the sensors `senses`."""

    def __init__(self, worlds: Worlds, director: Director, *, seed: int = 0, senses: Sequence[Sensing] = ()) -> None:
        self._worlds, self._director, self._seed, self._senses = worlds, director, seed, tuple(senses)
        self._schedule = Schedule(worlds)
        self._trace: TraceWriter | None = None

    @property
    def time(self) -> float:
        """Simulated time so far [s]."""
        return self._schedule.time

    def begin(self, path: Path) -> None:
        """Starts the recording, with its first row."""
        trace = self._trace = TraceWriter(
            path, self._worlds, senses=self._senses, seed=self._seed, config={"command": "watch"}
        )
        for sensing in self._senses:
            self._schedule.every(CONTROL_CYCLE, sensing.sample)
        self._schedule.every(CONTROL_CYCLE, lambda now: self._cycle(trace, now))
        self._schedule.every(CONTROL_CYCLE, trace.sample)
        self._schedule.run(CONTROL_CYCLE)

    def advance(self, seconds: float, clock: Clock) -> None:
        """Simulates for this time [s], or until the clock ends it."""
        self._schedule.run(seconds, clock)

    def close(self) -> None:
        """Finishes the recording."""
        if self._trace is not None:
            self._trace.close()

    def _cycle(self, trace: TraceWriter, now: float) -> None:
        for kind, fields in self._director.cycle(now):
            trace.event(now, kind, **fields)


def watch(
    worlds: Worlds, director: Director, how: Watching, terminal: Terminal, *, senses: Sequence[Sensing] = ()
) -> dict[str, object]:
    """Runs world 0 in real time while a viewer shows it; returns facts for the command's output."""
    return watch_run(_WorldsRun(worlds, director, seed=how.seed, senses=senses), how, terminal)


def watch_run(run: Run, how: Watching, terminal: Terminal) -> dict[str, object]:
    """Runs a simulation while a viewer shows it; returns facts for the command's output.

    Ctrl-C and SIGTERM end the run, or the page or what `on_end` writes if the run has ended before; either way the
    recording is finished. Before there is anything to see, Ctrl-C is a KeyboardInterrupt and leaves no empty recording.
    """
    clock = PageClock(how.pace)
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder, signals_handled(clock.end, signal.SIGTERM):
        path = how.record or Path(folder) / f"{how.title}.nutmeg"
        viewer, begun = None, False
        try:
            with Starting():
                viewer = _viewer(path, how, clock) if how.page else None  # first: it loads while the world is built
                run.begin(path)
                if viewer is not None:
                    viewer.wait()
            begun = True
            if viewer is not None:
                terminal.say(Text.assemble((viewer.url, "bold"), "  (Ctrl-C ends)"))
                if how.open_browser:
                    webbrowser.open(viewer.url)
            left = round((how.seconds or how.longest) / CONTROL_CYCLE) - round(run.time / CONTROL_CYCLE)
            if left > 0:
                run.advance(left * CONTROL_CYCLE, clock)
            run.close()
            if how.on_end is not None:
                with terminated_as_interrupted():
                    how.on_end()
            while viewer is not None and not how.seconds and viewer.alive and not clock.ended:
                time.sleep(0.5)
        except KeyboardInterrupt:
            if not begun:
                run.close()
                _remove_if_empty(path)
                raise
            terminal.say("stopped.")
        except SimulationError as error:
            kept = (
                f" Everything up to then is in {how.record}."
                if how.record
                else " Record it to look at it: --record FILE."
            )
            raise SimulationError(f"{error}{kept}") from None
        finally:
            run.close()
            if viewer is not None:
                viewer.stop()
        if how.record and how.record.exists():  # it may have been ended before its first row
            terminal.say(f"recording: {how.record}   replay it with: nutmeg replay {how.record}")
        url = viewer.url if viewer else None
        return {"url": url, "simulated_s": run.time, "late_s": clock.lost, "recording": how.record}


def _remove_if_empty(path: Path) -> None:
    from nutmeg.recording import Recording
    from nutmeg.recording.files import remove_recording

    if path.exists() and not len(Recording.open(path)):
        remove_recording(path)


def _viewer(path: Path, how: Watching, clock: PageClock) -> ViewerProcess:
    from nutmeg.view.pages.process import start_viewer_process

    controls = how.controls
    if how.paced:
        inbox = controls.inbox or Inbox()
        inbox.on_pace, inbox.on_step = clock.ask, clock.step
        controls = replace(controls, inbox=inbox, pace=how.pace)
    return start_viewer_process(path, host=how.host, port=how.port, live=True, controls=controls)
