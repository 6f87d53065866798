"""The controls beside the picture: playback for all who watch, and a camera for each of them.

Playback is shared: whoever pauses, pauses for everybody. Camera and chosen robot belong to one browser.

    page = Page(server, stage, film, playback)
    page.refresh()                       # once per frame, after stage.show(...)
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.drive import Pilot
from nutmeg.view.event_list import EventList
from nutmeg.view.spectator import CAMERAS, FOLLOW, FREE, Spectator

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from nutmeg.view.film import Film
    from nutmeg.view.orders import Drive, Order
    from nutmeg.view.playback import Playback
    from nutmeg.view.stage import Stage

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x")
"""Speeds on offer."""

STATUS_PERIOD = 0.2
"""Seconds between two updates of the status line and the time slider."""

SHOWN = 0.01
"""The finest time that the status line shows, seconds."""

SCRUB_PAUSE = 0.6
"""After someone moved the time slider it is left alone for so long, seconds."""


class Page:
    """All controls of one server; with `drive`, also those with which a robot is driven (`send` gets the orders)."""

    def __init__(
        self,
        server: viser.ViserServer,
        stage: Stage,
        film: Film,
        playback: Playback,
        *,
        drive: Drive | None = None,
        send: Callable[[Order], None] = lambda _order: None,
    ) -> None:
        self._server, self._stage = server, stage
        self._film, self._playback = film, playback
        self._drive, self._send = drive, send
        self._spectators: dict[int, Spectator] = {}
        self._pilots: dict[int, Pilot] = {}
        self._scrubbed = self._told = 0.0
        server.gui.set_panel_label(f"Nutmeg · {film.title}")
        server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(34, 120, 72))
        self._add_playback_controls()
        self._add_display_controls()
        self._events = EventList(server, self._jump)
        if drive is not None:
            stage.aim_at(drive.robot)
        stage.on_pick(self._pick)
        server.on_client_connect(self._welcome)
        server.on_client_disconnect(self._farewell)
        self.refresh()

    def refresh(self) -> None:
        """Move cameras that follow something, and now and then say where the replay is."""
        for spectator in list(self._spectators.values()):
            spectator.follow()
        now = time.monotonic()
        if now - self._told >= STATUS_PERIOD:
            self._told = now
            self._tell(now)

    def _add_playback_controls(self) -> None:
        gui, playback = self._server.gui, self._playback
        self._status = gui.add_markdown("", order=0)
        self._slider = gui.add_slider("Time", min=0.0, max=1.0, step=0.01, initial_value=0.0, order=1)
        self._slider.on_update(self._scrub)
        self._play = gui.add_button("Pause", icon="player-pause", order=2)
        self._play.on_click(lambda _: self._act(playback.toggle))
        step = gui.add_button_group("Step", ("◀ row", "row ▶"), order=3)
        step.on_click(lambda event: self._step(-1 if event.target.value == "◀ row" else 1))
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x", order=4)
        speed.on_update(lambda event: setattr(playback, "speed", float(event.target.value[:-1])))
        self._live = gui.add_button("Live", icon="broadcast", order=5)
        self._live.on_click(lambda _: self._act(playback.go_live))

    def _add_display_controls(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Display", order=30, expand_by_default=False):
            labels = gui.add_checkbox("Labels", initial_value=True)
            labels.on_update(lambda event: setattr(self._stage, "labels_visible", event.target.value))
            shadows = gui.add_checkbox("Shadows", initial_value=True, hint="Turn off on a slow computer.")
            shadows.on_update(lambda event: self._server.scene.configure_default_lights(cast_shadow=event.target.value))

    def _welcome(self, client: Any) -> None:  # noqa: ANN401
        """A new browser gets its own camera controls."""
        spectator = Spectator(client, self._stage)
        robots = self._stage.robots
        first = FREE if self._drive is None else FOLLOW
        with client.gui.add_folder("Camera", order=10):
            view = client.gui.add_dropdown("View", CAMERAS if robots else CAMERAS[:1], initial_value=first)
            view.on_update(lambda event: spectator.choose(event.target.value))
            if robots:
                robot = client.gui.add_dropdown("Robot", robots, initial_value=robots[0])
                robot.on_update(lambda event: spectator.pick(event.target.value))
                spectator.picker = robot
        self._spectators[client.client_id] = spectator
        if self._drive is not None:
            spectator.pick(self._drive.robot)
            spectator.choose(first)
            self._pilots[client.client_id] = Pilot(client, self._drive, self._film, self._order)

    def _order(self, order: Order) -> None:
        """Who drives wants to see it: the page shows what happens now."""
        if not self._playback.live and not self._film.recording.finished:
            self._playback.go_live()
        self._send(order)

    def _farewell(self, client: Any) -> None:  # noqa: ANN401
        """A browser has gone; a robot that it drove is let go."""
        self._spectators.pop(client.client_id, None)
        pilot = self._pilots.pop(client.client_id, None)
        if pilot is not None:
            pilot.leave()

    def _pick(self, robot: str, client: Any) -> None:  # noqa: ANN401
        """A robot was clicked in the picture."""
        spectator = self._spectators.get(client.client_id) if client is not None else None
        if spectator is not None and spectator.picker is not None:
            spectator.picker.value = robot

    def _scrub(self, event: Any) -> None:  # noqa: ANN401
        if event.client is None:  # the slider follows the replay, it was not moved by hand
            return
        self._scrubbed = time.monotonic()
        self._playback.seek(float(event.target.value) + self._film.start)

    def _step(self, rows: int) -> None:
        """One recorded row forward or back; pauses."""
        film, playback = self._film, self._playback
        playback.pause()
        if len(film.times):
            here = film.row_at(playback.time + SHOWN / 2)  # the row that the status line shows
            row = int(np.clip(here + rows, 0, len(film.times) - 1))
            playback.seek(float(film.times[row]))
        self._told = 0.0

    def _jump(self, moment: float) -> None:
        self._playback.seek(moment)
        self._told = 0.0

    def _act(self, action: Any) -> None:  # noqa: ANN401
        action()
        self._told = 0.0

    def _tell(self, now: float) -> None:
        """Bring the controls up to date; nothing is sent that did not change."""
        film, playback = self._film, self._playback
        shown, length = playback.time - film.start, max(film.end - film.start, 0.01)
        running = playback.playing and not playback.at_end
        self._play.label = "Pause" if running else "Play"
        self._play.icon = "player-pause" if running else "player-play"
        self._live.disabled = film.recording.finished or playback.live
        if now - self._scrubbed > SCRUB_PAUSE:
            if length > self._slider.max or length < self._slider.max - 0.011:
                self._slider.max = round(length, 2)
            self._slider.value = round(min(shown, length), 2)
        state = "live" if playback.live else "finished" if film.recording.finished else "still recording"
        self._status.content = (
            f"**{shown:.2f} s** of {length:.2f} s · {playback.speed:g}x · {len(film.times)} rows · {state}"
        )
        for pilot in list(self._pilots.values()):
            pilot.refresh(playback.time)
        self._events.update(film.recording.events, playback.time, film.start)
