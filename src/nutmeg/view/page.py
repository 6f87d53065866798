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
from nutmeg.view.orders import Order
from nutmeg.view.spectator import FOLLOW, FREE, Spectator, cameras_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from nutmeg.view.film import Film
    from nutmeg.view.orders import Drive
    from nutmeg.view.playback import Playback
    from nutmeg.view.stage import Stage

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x")
"""Speeds on offer."""

FASTEST = "fastest"
"""A speed of a run that can be hurried: as fast as the computer can."""

HURRY = 1000.0
"""The pace of `FASTEST`, which no computer keeps."""

STATUS_PERIOD = 0.2
"""Seconds between two updates of the status line and the time slider."""

SHOWN = 0.01
"""The finest time that the status line shows, seconds."""

SCRUB_PAUSE = 0.6
"""After someone moved the time slider it is left alone for so long, seconds."""


class Page:
    """All controls of one server.

    With `drive`, also those with which a robot is driven. With a `pace`, the run itself can be held and hurried while
    it is watched live: then pause and speed are those of the run. `send` gets the orders.
    """

    picks = "Robot"
    """What the chosen thing is called."""

    def __init__(
        self,
        server: viser.ViserServer,
        stage: Stage,
        film: Film,
        playback: Playback,
        *,
        drive: Drive | None = None,
        send: Callable[[Order], None] = lambda _order: None,
        pace: float = 0.0,
    ) -> None:
        self._server, self._stage = server, stage
        self._film, self._playback = film, playback
        self._drive, self._send = drive, send
        self._spectators: dict[int, Spectator] = {}
        self._pilots: dict[int, Pilot] = {}
        self._scrubbed = self._told = 0.0
        self._pace, self._held = pace, False
        server.gui.set_panel_label(f"Nutmeg · {film.title}")
        server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(34, 120, 72))
        self._add_playback_controls()
        self._add_display_controls()
        self._events = self._add_events()
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
        self._play.on_click(lambda _: self._act(self._toggle))
        self._add_steps()
        paced = self._pace > 0
        first = f"{self._pace:g}x" if f"{self._pace:g}x" in SPEEDS else FASTEST if self._pace > 1 else "1x"
        speed = gui.add_dropdown("Speed", (*SPEEDS, FASTEST) if paced else SPEEDS, initial_value=first, order=4)
        speed.on_update(lambda event: self._hurry(str(event.target.value)))
        self._live = gui.add_button("Live", icon="broadcast", order=5)
        self._live.on_click(lambda _: self._act(playback.go_live))

    def _add_steps(self) -> None:
        step = self._server.gui.add_button_group("Step", ("◀ row", "row ▶"), order=3)
        step.on_click(lambda event: self._step(-1 if event.target.value == "◀ row" else 1))

    def _add_events(self) -> EventList:
        return EventList(self._server, self._jump)

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
        first = self._first_camera()
        with client.gui.add_folder("Camera", order=10):
            view = client.gui.add_dropdown("View", self._cameras(), initial_value=first)
            view.on_update(lambda event: spectator.choose(event.target.value))
            if self._stage.robots:
                self._add_picker(client, spectator)
        self._spectators[client.client_id] = spectator
        if self._drive is not None:
            spectator.pick(self._drive.robot)
            self._pilots[client.client_id] = Pilot(client, self._drive, self._film, self._order)
        if first != FREE:
            spectator.choose(first)

    def _add_picker(self, client: Any, spectator: Spectator) -> None:  # noqa: ANN401
        robots = self._titles()
        robot = client.gui.add_dropdown(self.picks, tuple(robots.values()), initial_value=robots[spectator.robot])
        robot.on_update(lambda event: spectator.pick(self._titled(event.target.value)))
        spectator.picker = robot

    def _first_camera(self) -> str:
        """The camera that a new browser has."""
        return FREE if self._drive is None else FOLLOW

    def _cameras(self) -> tuple[str, ...]:
        """The cameras that a browser can have."""
        return cameras_of(self._stage)

    def _titles(self) -> dict[str, str]:
        """What the page calls each robot."""
        return {robot: robot for robot in self._stage.robots}

    def _titled(self, title: str) -> str:
        """The robot that the page calls so; the first one if there is none."""
        return next((robot for robot, called in self._titles().items() if called == title), self._stage.robots[0])

    @property
    def _rules_time(self) -> bool:
        """Whether pause and speed are those of the run: it can be held, and what is shown is now."""
        return self._pace > 0 and self._playback.live and not self._film.recording.finished

    def _toggle(self) -> None:
        """Hold the run or let it go on, if that is what is watched; else the replay."""
        if self._rules_time:
            self._held = not self._held
            self._send(Order(order="pace", numbers=(0.0 if self._held else self._pace, 0.0, 0.0)))
        else:
            self._playback.toggle()

    def _hurry(self, speed: str) -> None:
        """Another speed of the run, if that is what is watched; else of the replay."""
        if self._rules_time:
            self._pace, self._held = HURRY if speed == FASTEST else float(speed[:-1]), False
            self._send(Order(order="pace", numbers=(self._pace, 0.0, 0.0)))
        else:
            self._playback.speed = float(SPEEDS[-1 if speed == FASTEST else SPEEDS.index(speed)][:-1])

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
            spectator.picker.value = self._titles()[robot]

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
        running = playback.playing and not playback.at_end and not (self._held and self._rules_time)
        self._play.label = "Pause" if running else "Play"
        self._play.icon = "player-pause" if running else "player-play"
        self._live.disabled = film.recording.finished or playback.live
        if now - self._scrubbed > SCRUB_PAUSE:
            if length > self._slider.max or length < self._slider.max - 0.011:
                self._slider.max = round(length, 2)
            self._slider.value = round(min(shown, length), 2)
        self._status.content = self._status_text(shown, length)
        for pilot in list(self._pilots.values()):
            pilot.refresh(playback.time)
        self._list_events()

    def _status_text(self, shown: float, length: float) -> str:
        """Where the replay is: so far into so much, seconds."""
        film, playback = self._film, self._playback
        state = "live" if playback.live else "finished" if film.recording.finished else "still recording"
        return f"**{shown:.2f} s** of {length:.2f} s · {playback.speed:g}x · {len(film.times)} rows · {state}"

    def _list_events(self) -> None:
        self._events.update(self._film.recording.events, self._playback.time, self._film.start)
