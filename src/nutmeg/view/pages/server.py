"""Shows a recording on a web page, while it grows or afterwards.

    serve_recording(Path("match.nutmeg"), port=8080, on_ready=print)   # http://127.0.0.1:8080

The server is reachable from this machine only, unless another `host` is given. If nobody watches, a replay waits.
"""

from __future__ import annotations

import contextlib
import io
import socket
import time
from typing import TYPE_CHECKING

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.view.match_story import is_match
from nutmeg.view.pages.hosted_robots import Lights, ScheduleBoard, TouchPad
from nutmeg.view.pages.match_page import MatchPage
from nutmeg.view.pages.page import Page, Playback
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
            raise _taken(host, port)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def check_port(host: str, port: int) -> None:
    """Raise `EnvironmentProblem` unless the port can be listened on, `UsageError` if there is no such port."""
    if not 0 <= port <= 65535:
        raise UsageError(f"port {port} does not exist; choose one from 1024 to 65535 with --port.")
    if not host:
        raise UsageError("--host is empty; use 127.0.0.1, or 0.0.0.0 to let other machines in.")
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except PermissionError:
        raise EnvironmentProblem(
            f"this user may not listen on port {port}; choose one above 1023 with --port."
        ) from None
    except socket.gaierror:
        raise EnvironmentProblem(f"{host!r} is not an address of this machine; use 127.0.0.1 or 0.0.0.0.") from None
    except OSError as error:
        if "assign" in str(error).lower():
            raise EnvironmentProblem(f"{host!r} is not an address of this machine; use 127.0.0.1 or 0.0.0.0.") from None
        raise _taken(host, port) from None


def _taken(host: str, port: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"port {port} on {host} is already in use, perhaps by another viewer. Close it, or choose another port "
        f"with --port, e.g. --port {port + 1 if port < 65535 else 8080}."
    )
