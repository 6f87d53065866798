"""A simulation that is watched while it runs: worlds, a recording that grows, and a viewer that reads it.

    watch(worlds, control, Watching(seconds=20), terminal)

The simulation runs in real time here; the viewer is a process of its own that only ever reads the recording. What
somebody at the page wants (`Watching.drive`) comes back as orders, in an inbox that the director empties every cycle.
"""

from __future__ import annotations

import signal
import tempfile
import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nutmeg.engine.clock import RealTime
from nutmeg.engine.schedule import Schedule
from nutmeg.engine.trace import TraceWriter
from nutmeg.errors import SimulationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.engine.worlds import Worlds
    from nutmeg.terminal import Terminal
    from nutmeg.view.orders import Drive, Inbox
    from nutmeg.view.process import ViewerProcess

CYCLE = 0.02
"""Control cycle [s]."""
LONGEST = 3600.0
"""A run without an end stops simulating after this time; the viewer goes on [s]."""


class Director(Protocol):
    """What happens in a watched run: called once every control cycle."""

    def cycle(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        """Writes commands for the cycle that begins at `time`; yields events (kind, fields)."""


@dataclass(frozen=True, kw_only=True)
class Watching:
    """How to watch."""

    seconds: float = 0.0
    """End after this much time; 0 goes on until Ctrl-C [s]."""
    host: str = "127.0.0.1"
    port: int = 8080
    open_browser: bool = False
    record: Path | None = None
    """Keep the recording here; without it, it is deleted in the end."""
    page: bool = True
    """Whether to start the viewer at all."""
    title: str = "live"
    """What the page is called."""
    seed: int = 0
    drive: Drive | None = None
    """What can be driven from the page, if anything."""
    inbox: Inbox | None = None
    """Where the page's orders go; the director takes them from there."""


def watch(worlds: Worlds, director: Director, how: Watching, terminal: Terminal) -> dict[str, object]:
    """Runs world 0 in real time while a viewer shows it; returns what there is to report."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        path = how.record or Path(folder) / f"{how.title}.nutmeg"
        trace = TraceWriter(path, worlds, seed=how.seed, config={"command": "watch"})
        schedule = Schedule(worlds)
        schedule.every(CYCLE, lambda now: _cycle(director, trace, now))
        schedule.every(CYCLE, trace.sample)
        clock = RealTime()
        old = signal.signal(signal.SIGTERM, lambda *_: clock.end())
        viewer = None
        try:
            schedule.run(CYCLE)
            viewer = _viewer(path, how) if how.page else None
            if viewer is not None:
                terminal.say(f"[bold]{viewer.url}[/]  (Ctrl-C ends)")
                if how.open_browser:
                    webbrowser.open(viewer.url)
            cycles = round((how.seconds or LONGEST) / CYCLE) - 1
            if cycles > 0:
                schedule.run(cycles * CYCLE, clock)
            trace.close()
            while viewer is not None and not how.seconds and viewer.alive and not clock.ended:
                time.sleep(0.5)
        except KeyboardInterrupt:
            terminal.say("stopped.")
        except SimulationError as error:
            kept = (
                f" Everything up to then is in {how.record}."
                if how.record
                else " Record it to look at it: --record FILE."
            )
            raise SimulationError(f"{error}{kept}") from None
        finally:
            signal.signal(signal.SIGTERM, old)
            trace.close()
            if viewer is not None:
                viewer.stop()
        if how.record:
            terminal.say(f"recording: {how.record}   replay it with: nutmeg replay {how.record}")
        url = viewer.url if viewer else None
        return {"url": url, "simulated_s": schedule.time, "late_s": clock.lost, "recording": how.record}


def _viewer(path: Path, how: Watching) -> ViewerProcess:
    from nutmeg.view.process import start_viewer_process

    return start_viewer_process(path, host=how.host, port=how.port, live=True, drive=how.drive, inbox=how.inbox)


def _cycle(director: Director, trace: TraceWriter, now: float) -> None:
    for kind, fields in director.cycle(now):
        trace.event(now, kind, **fields)
