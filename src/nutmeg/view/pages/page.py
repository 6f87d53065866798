"""The controls beside the picture: playback, cameras, and the list of events.

Playback is shared by all browsers; camera and chosen robot belong to one.

    page = Page(server, stage, film, playback)
    page.refresh()                       # once per frame, after stage.show(...)
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.drive import Pilot
from nutmeg.view.pages.orders import MAX_PACE, Order
from nutmeg.view.stage.cameras import (
    Viewpoint,
    beside_panel,
    broadcast_view,
    eyes_view,
    follow_view,
    robot_cameras,
    side_view,
    stand_view,
    thing_position,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats
    from nutmeg.view.pages.orders import Drive
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Stage


# ---- playback

MIN_PLAYBACK_SPEED, MAX_PLAYBACK_SPEED = 0.1, 10.0
"""Allowed speeds, in recorded seconds per second."""


@dataclass
class Playback:
    """The clock of a replay: the moment shown, between `start` and `end` (seconds of the recording).

    It reads no clock itself: `advance` is called with the time that has passed.
    """

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
        if not MIN_PLAYBACK_SPEED <= speed <= MAX_PLAYBACK_SPEED:
            raise UsageError(
                f"the speed is {speed:g}; it must lie between {MIN_PLAYBACK_SPEED:g} and {MAX_PLAYBACK_SPEED:g}."
            )
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


# ---- cameras

FREE, FOLLOW, SIDE, EYES = CAMERAS = ("Free", "Follow robot", "Side line", "Robot's eyes")
"""The cameras of every page."""
BROADCAST, WHOLE, BALL = BALL_CAMERAS = ("Broadcast", "Whole pitch", "Follow ball")
"""Further cameras where there is a ball; the broadcast camera turns after it."""
MOUSE_PAUSE = 0.35
"""A camera that was moved by hand is left alone for this time, seconds."""
FOLLOW_SMOOTHING = 0.15
"""Share of the way to its goal that a following camera goes per frame: steps do not shake it."""


def cameras_of(stage: Stage) -> tuple[str, ...]:
    """The cameras from which a stage can be watched."""
    if not stage.robots:
        return CAMERAS[:1]
    return (*CAMERAS, *BALL_CAMERAS) if thing_position(stage.model, stage.data, "ball") is not None else CAMERAS


class Spectator:
    """The camera of one connected browser: free, following something, on the touchline, or in a robot's head.

    While a robot is followed the user may still orbit and zoom: only the centre of the view is moved, and not while the
    mouse is in use.
    """

    def __init__(self, client: Any, stage: Stage) -> None:  # noqa: ANN401
        self._client, self._stage = client, stage
        self._choice = FREE
        self._robot = stage.robots[0] if stage.robots else ""
        self._goal: Floats | None = None
        self._offset: Floats | None = None
        self._touched = 0.0
        self.picker: Any = None
        """The control that shows the chosen robot, if there are robots."""
        client.camera.on_update(self._moved)

    def choose(self, choice: str) -> None:
        """Take another camera."""
        was_eyes, self._choice = self._choice == EYES, choice
        self._goal = self._offset = None
        if choice in (FOLLOW, BALL) and (place := self._place()) is not None:
            self._take(follow_view(place))
            self._goal, self._offset = place, follow_view(place).position - place
        elif choice == WHOLE or (choice == FREE and was_eyes):
            self._take(beside_panel(broadcast_view(self._stage.pitch)))

    @property
    def robot(self) -> str:
        """The chosen robot; empty if there is none."""
        return self._robot

    def pick(self, robot: str) -> None:
        """Choose a robot; the cameras that look at one turn to it."""
        self._robot = robot

    def follow(self) -> None:
        """Move the camera after what it follows."""
        if self._choice == EYES:
            names = robot_cameras(self._stage.model, self._robot)
            if names:
                self._take(eyes_view(self._stage.model, self._stage.data, names[0]))
            return
        place = self._place()
        if self._choice in (FREE, WHOLE) or place is None:
            return
        self._goal = place if self._goal is None else self._goal + FOLLOW_SMOOTHING * (place - self._goal)
        if self._choice == SIDE:
            self._take(side_view(self._stage.pitch, self._goal))
        elif self._choice == BROADCAST:
            self._take(beside_panel(stand_view(self._stage.pitch, self._goal)))
        elif time.monotonic() - self._touched > MOUSE_PAUSE:
            self._centre(self._goal)

    def _place(self) -> Floats | None:
        thing = "ball" if self._choice in (BROADCAST, BALL) else self._robot
        return thing_position(self._stage.model, self._stage.data, thing)

    def _centre(self, goal: Floats) -> None:
        """Keep the watcher's own distance and angle, and shift what is looked at."""
        camera = self._client.camera
        offset = self._offset if self._offset is not None else camera.position - camera.look_at
        with self._client.atomic():
            camera.position = goal + offset
            camera.look_at = goal
        self._offset = offset

    def _moved(self, camera: Any) -> None:  # noqa: ANN401
        """The browser reports its camera: an angle that was not set here means that the mouse is in use."""
        if self._choice not in (FOLLOW, BALL) or self._offset is None:
            return
        offset = np.asarray(camera.position) - np.asarray(camera.look_at)
        if np.linalg.norm(offset - self._offset) > 0.02 * np.linalg.norm(self._offset):
            self._touched, self._offset = time.monotonic(), offset

    def _take(self, view: Viewpoint) -> None:
        camera = self._client.camera
        with self._client.atomic():
            camera.up_direction = view.up
            camera.position = view.position
            camera.look_at = view.look_at
            camera.fov = view.fov


# ---- events

EVENT_ROWS = 7
"""Number of events that are shown at once."""
EVENT_LEAD = 0.5
"""A click on an event jumps to this time before it, seconds."""


class EventList:
    """The events around the moment shown, as buttons that jump to them.

    The number of buttons is fixed, so that a match with thousands of events costs no more than a short one. The list
    follows the replay until someone turns its pages, and again after the next jump.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        jump: Callable[[float], None],
        *,
        name: Callable[[Mapping[str, Any], float], str] | None = None,
        lead: float = EVENT_LEAD,
        colour: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        """Add the (still empty) list to a page.

        Args:
            server: the server of the page.
            jump: called with the time to jump to, seconds.
            name: the text on the button of an event, given the time of the first row; its time and a few words if None.
            lead: how long before an event a click jumps to, seconds.
            colour: the colour of the button of a past event; green if None.
        """
        self._jump, self._name, self._lead = jump, name or _named, lead
        self._colour = colour or (lambda _event: "green")
        self._events: Sequence[Mapping[str, Any]] = ()
        self._first = 0
        self._turned = False
        with server.gui.add_folder("Events", order=20, visible=False) as self._folder:
            self._buttons = [self._button(server, row) for row in range(EVENT_ROWS)]
            turn = server.gui.add_button_group("Page", ("Earlier", "Later"))
            turn.on_click(lambda event: self._turn(-EVENT_ROWS if event.target.value == "Earlier" else EVENT_ROWS))
            self._pages = turn

    def update(self, events: Sequence[Mapping[str, Any]], now: float, start: float) -> None:
        """Show the events around the time `now`; times are shown since `start`, seconds."""
        self._events = events
        if bool(events) != self._folder.visible:
            self._folder.visible = bool(events)
        if not events:
            return
        if not self._turned:
            past = sum(1 for event in events if event["time"] <= now)
            self._first = max(0, min(past - EVENT_ROWS // 2 - 1, len(events) - EVENT_ROWS))
        self._pages.visible = len(events) > EVENT_ROWS
        for row, button in enumerate(self._buttons):
            number = self._first + row
            button.visible = number < len(events)
            if number < len(events):
                event = events[number]
                button.label = self._name(event, start)
                button.color = self._colour(event) if event["time"] <= now else "gray"

    def _button(self, server: viser.ViserServer, row: int) -> Any:  # noqa: ANN401
        button = server.gui.add_button("", visible=False, color="gray")
        button.on_click(lambda _: self._click(row))
        return button

    def _click(self, row: int) -> None:
        number = self._first + row
        if number < len(self._events):
            self._turned = False
            self._jump(float(self._events[number]["time"]) - self._lead)

    def _turn(self, rows: int) -> None:
        self._turned = True
        self._first = max(0, min(self._first + rows, len(self._events) - EVENT_ROWS))


def _named(event: Mapping[str, Any], start: float) -> str:
    return f"{event['time'] - start:.1f} s  {describe_event(event)}"


def describe_event(event: Mapping[str, Any], most: int = 34) -> str:
    """An event in a few words: its text if it has one, else its kind and its short fields."""
    if event.get("text"):
        words = str(event["text"])
    else:
        shown = [str(v) for k, v in event.items() if k not in ("time", "kind") and isinstance(v, str | int | float)]
        words = " ".join([str(event.get("kind", "event")), *shown])
    return words if len(words) <= most else words[: most - 1] + "…"


# ---- the page

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x")
"""The speeds that can be chosen."""
FASTEST_CHOICE = "fastest"
"""The further choice for a running simulation: as fast as the computer can."""
STATUS_PERIOD = 0.2
"""Seconds between two updates of the status line and the time slider."""
SHOWN_TIME_STEP = 0.01
"""The finest time that the status line shows, seconds."""
SCRUB_PAUSE = 0.6
"""A time slider that was moved by hand is left alone for this time, seconds."""


class Page:
    """All controls of one server.

    With `drive` a robot can be driven. With a `pace` the simulation itself can be paused and sped up while it is
    watched live: then pause and speed are those of the simulation. `send` gets the orders for it.
    """

    picks = "Robot"
    """The label of the choice of robots."""

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
        self._scrubbed = self._updated = 0.0
        self._pace, self._held = pace, False
        server.gui.set_panel_label(f"Nutmeg · {film.title}")
        server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(34, 120, 72))
        self._add_playback_controls()
        self._add_display_controls()
        self._events = self._add_events()
        if drive is not None:
            self._aim_at(drive.robot)
        stage.on_pick(self._pick)
        server.on_client_connect(self._connect)
        server.on_client_disconnect(self._disconnect)
        self.refresh()

    def _aim_at(self, robot: str) -> None:
        """Let new pages start with the camera that follows a robot."""
        place = thing_position(self._stage.model, self._stage.data, robot)
        if place is not None:
            self._stage.aim(follow_view(place))

    def refresh(self) -> None:
        """Move cameras that follow something, and update the controls every now and then."""
        for spectator in list(self._spectators.values()):
            spectator.follow()
        now = time.monotonic()
        if now - self._updated >= STATUS_PERIOD:
            self._updated = now
            self._update(now)

    def _add_playback_controls(self) -> None:
        gui, playback = self._server.gui, self._playback
        self._status = gui.add_markdown("", order=0)
        self._slider = gui.add_slider("Time", min=0.0, max=1.0, step=0.01, initial_value=0.0, order=1)
        self._slider.on_update(self._scrub)
        self._play = gui.add_button("Pause", icon="player-pause", order=2)
        self._play.on_click(lambda _: self._act(self._toggle))
        self._add_steps()
        paced = self._pace > 0
        first = f"{self._pace:g}x" if f"{self._pace:g}x" in SPEEDS else FASTEST_CHOICE if self._pace > 1 else "1x"
        speed = gui.add_dropdown("Speed", (*SPEEDS, FASTEST_CHOICE) if paced else SPEEDS, initial_value=first, order=4)
        speed.on_update(lambda event: self._set_speed(str(event.target.value)))
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

    def _connect(self, client: Any) -> None:  # noqa: ANN401
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
        """The name of each robot on the page."""
        return {robot: robot for robot in self._stage.robots}

    def _titled(self, title: str) -> str:
        """The robot that the page calls so; the first one if there is none."""
        return next((robot for robot, called in self._titles().items() if called == title), self._stage.robots[0])

    @property
    def _controls_simulation(self) -> bool:
        """Whether pause and speed are those of the simulation: it can be paused, and it is watched live."""
        return self._pace > 0 and self._playback.live and not self._film.recording.finished

    def _toggle(self) -> None:
        """Pause or continue the simulation, if it is watched live, or else the replay."""
        if self._controls_simulation:
            self._held = not self._held
            self._send(Order(order="pace", numbers=(0.0 if self._held else self._pace, 0.0, 0.0)))
        else:
            self._playback.toggle()

    def _set_speed(self, speed: str) -> None:
        """Set the speed of the simulation, if it is watched live, or else of the replay."""
        if self._controls_simulation:
            self._pace, self._held = MAX_PACE if speed == FASTEST_CHOICE else float(speed[:-1]), False
            self._send(Order(order="pace", numbers=(self._pace, 0.0, 0.0)))
        else:
            self._playback.speed = float(SPEEDS[-1 if speed == FASTEST_CHOICE else SPEEDS.index(speed)][:-1])

    def _order(self, order: Order) -> None:
        """Send an order of a driver; the page then shows the simulation live."""
        if not self._playback.live and not self._film.recording.finished:
            self._playback.go_live()
        self._send(order)

    def _disconnect(self, client: Any) -> None:  # noqa: ANN401
        """A browser has disconnected; the robot that it drove stops."""
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
            here = film.row_at(playback.time + SHOWN_TIME_STEP / 2)  # the row that the status line shows
            row = int(np.clip(here + rows, 0, len(film.times) - 1))
            playback.seek(float(film.times[row]))
        self._updated = 0.0

    def _jump(self, moment: float) -> None:
        self._playback.seek(moment)
        self._updated = 0.0

    def _act(self, action: Any) -> None:  # noqa: ANN401
        action()
        self._updated = 0.0

    def _update(self, now: float) -> None:
        """Bring the controls up to date; nothing is sent that did not change."""
        film, playback = self._film, self._playback
        shown, length = playback.time - film.start, max(film.end - film.start, 0.01)
        running = playback.playing and not playback.at_end and not (self._held and self._controls_simulation)
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
        """The status line: the moment shown, and the length of the recording."""
        film, playback = self._film, self._playback
        state = "live" if playback.live else "finished" if film.recording.finished else "still recording"
        return f"**{shown:.2f} s** of {length:.2f} s · {playback.speed:g}x · {len(film.times)} rows · {state}"

    def _list_events(self) -> None:
        self._events.update(self._film.recording.events, self._playback.time, self._film.start)
