"""The server of a recording's web page, while it grows or afterwards; `start_viewer_process` runs it.

    python -m nutmeg.view.pages.server match.nutmeg --port 8080

The first line on standard output is the address of the page; with `--controls`, every further line is an order from the
page (see `orders`). The server is reachable from this machine only, unless another `--host` is
given. Every browser has its own page, with its own time, speed and pause.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import tyro

from nutmeg.base.errors import NutmegError
from nutmeg.recording.manifest import MANIFEST
from nutmeg.view.match_story import is_match
from nutmeg.view.pages.hosted_robots import TouchPad
from nutmeg.view.pages.match_page import MatchPage
from nutmeg.view.pages.orders import Controls, Order
from nutmeg.view.pages.page import Page, Playback, Simulation
from nutmeg.view.pages.plots import Signals
from nutmeg.view.pages.process import check_port, port_taken
from nutmeg.view.stage.cameras import follow_view, thing_bounds
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    import viser

_FRAME_PERIOD = 1 / 32
"""Seconds between two frames sent to the browser: a little less than needed for 30 a second."""
_REST_SHARE = 0.5
"""After each frame the viewer rests for this share of the time it took: the simulation needs the processor, too."""
_MAX_FIRST_PLOTS = 6  # channels of a recording without a scene that are plotted from the start
_WAIT_PERIOD = 0.02  # seconds between two checks whether a recording has begun


@dataclass(frozen=True, kw_only=True)
class ViewerSettings:
    """Show a recording in the browser."""

    path: tyro.conf.Positional[Path]
    """The recording to show."""
    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 8080
    """The port to listen on; 0 takes any free one."""
    live: bool = False
    """Start at the newest row and stay there as more come."""
    controls: str = ""
    """Commands that pages may give, as JSON (`orders.Controls`); empty for none."""
    plot: tuple[str, ...] = ()
    """Channels that are plotted from the start."""
    robot: str = ""
    """The robot that moves as a recording without a scene says; empty for none."""
    beside: Path | None = None
    """Another recording, drawn as a ghost at the same time since its start."""
    parent: int = 0
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


class Audience:
    """All browsers that watch a recording, each with its own page.

    Browsers come and go in viser's threads; pages are made, moved and forgotten only in `refresh`, so that no two
    threads read the recording at once.
    """

    def __init__(self, server: viser.ViserServer, film: Film, settings: ViewerSettings) -> None:
        self._film, self._settings = film, settings
        self._stage = Stage(server, film.model, robots=film.robots)
        controls = Controls.of(settings.controls)
        self._simulation = Simulation(controls, send=_send)
        if controls.pokes:
            TouchPad(server, controls.pokes, _send)
        other = Film.open(settings.beside) if settings.beside is not None else None
        self._beside = None if other is None else (Stage(server, other.model, ghost=True), other)
        self._clients: dict[int, viser.ClientHandle] = {}
        self._pages: dict[int, Page] = {}
        handled = controls.drive or controls.bench
        if handled is not None:
            _aim_at(self._stage, film, handled.robot)
        elif settings.robot and film.robots:
            _aim_at(self._stage, film, film.robots[0])
        self._stage.on_pick(self._pick)
        server.on_client_connect(lambda client: self._clients.update({client.client_id: client}))
        server.on_client_disconnect(lambda client: self._clients.pop(client.client_id, None) and None)

    def refresh(self, seconds: float) -> None:
        """Advances the time on all pages; adds pages of new browsers, and drops those of browsers that have left."""
        clients = dict(self._clients)
        for number in [number for number in self._pages if number not in clients]:
            self._pages.pop(number).leave()
        for number, client in clients.items():
            if number not in self._pages:
                self._pages[number] = self._page(client)
            with client.atomic():  # a picture is sent as a whole, and the thread that sends is woken once
                self._pages[number].refresh(seconds)

    def _page(self, client: viser.ClientHandle) -> Page:
        film, settings = self._film.another(), self._settings
        playback = Playback(start=film.start, end=film.end, live=settings.live and not film.recording.finished)
        beside = None if self._beside is None else (self._beside[0], self._beside[1].another())
        make = MatchPage if is_match(film.recording) else Page
        return make(
            client, self._stage, film, playback, simulation=self._simulation, beside=beside, plots=settings.plot
        )

    def _pick(self, robot: str, client: viser.ClientHandle | None) -> None:
        """Handles a click on a robot in the picture of a browser."""
        page = self._pages.get(client.client_id) if client is not None else None
        if page is not None:
            page.pick(robot)


def serve_recording(settings: ViewerSettings) -> None:
    """Show a recording until Ctrl-C, or until its parent process has ended."""
    film = _open_film(settings)
    if film is None:
        return
    signals = Signals(film.recording)
    for name in settings.plot:
        signals.find(name)  # a wrong name is an error now, not when somebody looks
    if not film.recording.scene_xml and not settings.plot:  # a log of a real robot: its channels are all there is
        settings = replace(settings, plot=tuple(film.recording.channels)[:_MAX_FIRST_PLOTS])
    with open_server(settings.host, settings.port) as server:
        server.gui.main_panel.dock_right()
        audience = Audience(server, film, settings)
        _say(f"http://{settings.host}:{server.get_port()}")
        before = due = time.monotonic()
        while settings.is_wanted():
            now = time.monotonic()
            film.refresh()  # a live page moves with every row
            audience.refresh(now - before)
            before, end = now, time.monotonic()
            # The next frame is due a period after this one was: timers that wake late do not add up.
            due = max(due + _FRAME_PERIOD, end + max(_REST_SHARE * (end - now), 0.002))
            time.sleep(due - end)


def _open_film(settings: ViewerSettings) -> Film | None:
    """The recording; that of a live page may begin later. None if the parent process ended before it began.

    A simulation starts its viewer before it builds its world, so that libraries load meanwhile.
    """
    while settings.live and not (settings.path / MANIFEST).is_file():
        if not settings.is_wanted():
            return None
        time.sleep(_WAIT_PERIOD)
    film = Film.open(settings.path, robot=settings.robot)
    while settings.live and settings.is_wanted() and not (len(film.times) or film.recording.finished):
        time.sleep(_WAIT_PERIOD)
        film.refresh()
    return film


def _aim_at(stage: Stage, film: Film, robot: str) -> None:
    """Sets the first camera of new pages to a robot, at a distance that suits its size."""
    data = mujoco.MjData(film.model)
    data.qpos[:] = film.qpos_at(film.start)
    mujoco.mj_kinematics(film.model, data)
    bounds = thing_bounds(film.model, data, robot)
    if bounds is not None:
        stage.aim(follow_view((bounds.low + bounds.high) / 2, 0.7 * bounds.size))


def _send(order: Order) -> None:
    """Pass an order on; the simulation may have ended meanwhile."""
    with contextlib.suppress(OSError, ValueError):
        _say(order.line())


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 (this is a command)


@contextlib.contextmanager
def open_server(host: str = "127.0.0.1", port: int = 8080) -> Iterator[viser.ViserServer]:
    """A viser server on exactly this port, without console output; a port in use is an error."""
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


if __name__ == "__main__":
    sys.exit(main())
