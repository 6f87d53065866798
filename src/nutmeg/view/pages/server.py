"""Shows a recording on a web page, while it grows or afterwards.

    serve_recording(Path("match.nutmeg"), port=8080, on_ready=print)   # http://127.0.0.1:8080

The server is reachable from this machine only, unless another `host` is given. If nobody watches, a replay waits.
"""

from __future__ import annotations

import contextlib
import io
import time
from typing import TYPE_CHECKING

from nutmeg.view.match_story import is_match
from nutmeg.view.pages.hosted_robots import Lights, ScheduleBoard, TouchPad
from nutmeg.view.pages.match_page import MatchPage
from nutmeg.view.pages.page import Page, Playback
from nutmeg.view.pages.process import check_port, port_taken
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import viser

    from nutmeg.view.pages.orders import Drive, Order

FRAME_PERIOD = 1 / 30
"""Seconds between two frames sent to the browser."""

REST_SHARE = 0.5
"""However long a frame took, the viewer then rests for this share of it: the simulation needs the computer, too."""

REFRESH_PERIOD = 0.1
"""Seconds between two looks for new rows."""


def serve_recording(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    live: bool = False,
    on_ready: Callable[[str], None] = lambda _url: None,
    keep_going: Callable[[], bool] = lambda: True,
    drive: Drive | None = None,
    send: Callable[[Order], None] = lambda _order: None,
    pace: float = 0.0,
    pokes: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Show a recording until `keep_going` says no (or Ctrl-C).

    Args:
        path: the recording.
        host: the address to listen on; `0.0.0.0` lets other machines in.
        port: the port to listen on; 0 takes any free one.
        live: start at the newest row and stay there as more come.
        on_ready: called with the page's address once it answers.
        keep_going: asked once per frame.
        drive: what can be driven from the page, if anything.
        send: called with each order from the page, in the server's thread.
        pace: how fast the recorded run goes on, which the page may change; 0 if it may not.
        pokes: sensors that can be touched from the page, by robot.
    """
    film = Film.open(path)
    with open_server(host, port) as server:
        playback = Playback(start=film.start, end=film.end, live=live and not film.recording.finished)
        stage = Stage(server, film.model, robots=film.robots)
        if is_match(film.recording):
            page: Page = MatchPage(server, stage, film, playback, send=send, pace=pace)
        else:
            page = Page(server, stage, film, playback, drive=drive, send=send, pace=pace)
        if pokes:
            TouchPad(server, pokes, send)
        boards = (Lights(server, stage, film), ScheduleBoard(server, film))
        on_ready(f"http://{host}:{server.get_port()}")
        _run(server, film, playback, stage, page, keep_going, boards)


def _run(
    server: viser.ViserServer,
    film: Film,
    playback: Playback,
    stage: Stage,
    page: Page,
    keep_going: Callable[[], bool],
    boards: Sequence[Lights | ScheduleBoard],
) -> None:
    shown: float | None = None
    looked = before = time.monotonic()
    while keep_going():
        now = time.monotonic()
        if now - looked >= REFRESH_PERIOD and not film.recording.finished:
            looked = now
            _take_in(film, playback)
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


def _take_in(film: Film, playback: Playback) -> None:
    """Look for new rows, and for the end of the recording."""
    if film.refresh():
        playback.grow(film.start, film.end)
    if film.recording.finished:
        playback.finish()


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
