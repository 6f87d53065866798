"""The web page of a recording, while it grows or afterwards: what `python -m nutmeg.view` runs.

    python -m nutmeg.view match.nutmeg --port 8080

The first line on standard output is the address of the page; with `--drive`, `--pace` or `--pokes`, every further line
is an order from the page (see `orders`). The server is reachable from this machine only, unless another `--host` is
given. A replay waits while nobody watches.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from nutmeg.base.errors import NutmegError
from nutmeg.view.match_story import is_match
from nutmeg.view.pages.hosted_robots import Lights, ScheduleBoard, TouchPad
from nutmeg.view.pages.match_page import MatchPage
from nutmeg.view.pages.orders import Drive, Order
from nutmeg.view.pages.page import Page, Playback
from nutmeg.view.pages.process import check_port, port_taken
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    import viser

FRAME_PERIOD = 1 / 30
"""Seconds between two frames sent to the browser."""
REST_SHARE = 0.5
"""After each frame the viewer rests for this share of the time it took: the simulation needs the processor, too."""
REFRESH_PERIOD = 0.1
"""Seconds between two looks for new rows."""


@dataclass(frozen=True, kw_only=True)
class ViewerSettings:
    """Show a recording in the browser."""

    path: tyro.conf.Positional[Path]
    """The recording."""
    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 8080
    """The port to listen on; 0 takes any free one."""
    live: bool = False
    """Start at the newest row and stay there as more come."""
    drive: str = ""
    """The robot that can be driven from the page, as JSON (`orders.Drive`); empty for none."""
    pace: float = 0.0
    """How fast the simulation runs, which the page may change; 0 if it may not."""
    pokes: str = ""
    """Sensors that can be touched from the page, by robot, as JSON; empty for none."""
    parent: Annotated[int, tyro.conf.arg(name="parent-process")] = 0
    """Stop when this process is no longer the parent; 0 means never."""

    def is_wanted(self) -> bool:
        """Whether the process that asked for the page still runs."""
        return not self.parent or os.getppid() == self.parent


def main() -> int:
    """Run the viewer until Ctrl-C; returns the exit code."""
    try:
        serve_recording(tyro.cli(ViewerSettings))
    except NutmegError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    return 0


def serve_recording(settings: ViewerSettings) -> None:
    """Show a recording until Ctrl-C, or until its parent process has ended."""
    film = Film.open(settings.path)
    with open_server(settings.host, settings.port) as server:
        playback = Playback(start=film.start, end=film.end, live=settings.live and not film.recording.finished)
        stage = Stage(server, film.model, robots=film.robots)
        if is_match(film.recording):
            page: Page = MatchPage(server, stage, film, playback, send=_send, pace=settings.pace)
        else:
            drive = Drive.of(settings.drive) if settings.drive else None
            page = Page(server, stage, film, playback, drive=drive, send=_send, pace=settings.pace)
        if settings.pokes:
            TouchPad(server, json.loads(settings.pokes), _send)
        boards = (Lights(server, stage, film), ScheduleBoard(server, film))
        _say(f"http://{settings.host}:{server.get_port()}")
        shown: float | None = None
        refreshed = before = time.monotonic()
        while settings.is_wanted():
            now = time.monotonic()
            if now - refreshed >= REFRESH_PERIOD and not film.recording.finished:
                refreshed = now
                _refresh(film, playback)
            if server.get_clients():
                playback.advance(now - before)
            before = now
            if playback.time != shown:
                shown = playback.time
                stage.show(film.qpos_at(shown))
                for board in boards:
                    board.show(shown)
            page.refresh()
            took = time.monotonic() - now
            time.sleep(max(FRAME_PERIOD - took, REST_SHARE * took, 0.002))


def _refresh(film: Film, playback: Playback) -> None:
    """Look for new rows, and for the end of the recording."""
    if film.refresh():
        playback.grow(film.start, film.end)
    if film.recording.finished:
        playback.finish()


def _send(order: Order) -> None:
    """Pass an order on; the simulation may have ended meanwhile."""
    with contextlib.suppress(OSError, ValueError):
        _say(order.line())


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 (this is a command)


@contextlib.contextmanager
def open_server(host: str = "127.0.0.1", port: int = 8080) -> Iterator[viser.ViserServer]:
    """A quiet viser server on exactly this port; a port that is taken is an error, not a reason to move."""
    check_port(host, port)
    import viser

    with contextlib.redirect_stdout(io.StringIO()):  # viser greets on standard output
        server = viser.ViserServer(host=host, port=port, verbose=False)
    try:
        if port not in (0, server.get_port()):
            raise port_taken(host, port)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()
