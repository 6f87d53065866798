"""The page of one browser: its own moment of the recording, its own camera, and its controls.

    page = Page(client, stage, film, Playback(start=film.start, end=film.end))
    page.refresh(0.033)                  # once per frame, with the seconds that have passed

Every browser has a page of its own, so that two people who watch one recording do not change each other's time. They
share the simulation, while it runs (`Simulation`): pausing it pauses it for all.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.hosted_robots import Lights, ScheduleBoard, Sonars
from nutmeg.view.pages.layers import Layers
from nutmeg.view.pages.orders import MAX_PACE, Controls, Order
from nutmeg.view.pages.overlay import Overlay, seconds_of, shown_event
from nutmeg.view.pages.plots import Plots
from nutmeg.view.pages.robot_controls import Pilot, Workbench
from nutmeg.view.stage.cameras import (
    Viewpoint,
    broadcast_view,
    eyes_view,
    fitted_fov,
    follow_view,
    robot_cameras,
    side_view,
    stand_view,
    thing_position,
)
from nutmeg.view.stage.stage import Cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Stage


# ---- playback

_MIN_PLAYBACK_SPEED, _MAX_PLAYBACK_SPEED = 0.1, 10.0  # allowed speeds, in recorded seconds per second


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
    loop: bool = False
    """Whether a replay starts again when it has reached the end."""
    time: float = 0.0
    """Time of the shown moment [s]."""
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
        if not _MIN_PLAYBACK_SPEED <= speed <= _MAX_PLAYBACK_SPEED:
            raise UsageError(
                f"the speed is {speed:g}; it must lie between {_MIN_PLAYBACK_SPEED:g} and {_MAX_PLAYBACK_SPEED:g}."
            )
        self._speed = speed

    def advance(self, seconds: float) -> None:
        """Advances by `seconds` of wall time. A replay stops at the end; live stays at the newest row."""
        with self._lock:
            if not self.playing:
                return
            if self.live:
                self.time = self.end
                return
            self.time = self.time + seconds * self._speed
            if self.time >= self.end:
                self.time = self.start if self.loop else self.end

    def grow(self, start: float, end: float) -> None:
        """Called when rows were added: the recording now reaches from `start` to `end`."""
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
        """Called when no more rows will come: a live page is now a replay at its end."""
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
BROADCAST, WHOLE, BALL = _BALL_CAMERAS = ("Broadcast", "Whole pitch", "Follow ball")
"""Further cameras where there is a ball; the broadcast camera turns after it."""
_MOUSE_PAUSE = 0.35  # a camera that was moved by hand is left alone for this time, seconds
FOLLOW_SMOOTHING = 0.15  # share of the way to its goal that a following camera goes per frame: steps do not shake it

_CAMERA_GRAIN = 5e-4  # a camera is not set anew for less than this: metres, or radians


def cameras_of(cast: Cast) -> tuple[str, ...]:
    """The cameras from which a cast can be watched."""
    if not cast.robots:
        return CAMERAS[:1]
    return (*CAMERAS, *_BALL_CAMERAS) if thing_position(cast.model, cast.data, "ball") is not None else CAMERAS


class _Spectator:
    """The camera of one connected browser: free, following something, on the touchline, or in a robot's head.

    While a robot is followed the user may still orbit and zoom: only the centre of the view is moved, and not while the
    mouse is in use.
    """

    def __init__(self, client: viser.ClientHandle, cast: Cast) -> None:
        self._client, self._cast = client, cast
        self._choice = FREE
        self._robot = cast.robots[0] if cast.robots else ""
        self._goal: Floats | None = None
        self._offset: Floats | None = None
        self._touched = 0.0
        self._taken: tuple[float, ...] = ()
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
            self._take(broadcast_view(self._cast.stage.pitch))

    @property
    def robot(self) -> str:
        """The chosen robot; empty if there is none."""
        return self._robot

    def pick(self, robot: str) -> None:
        """Choose a robot; the cameras that look at one turn to it."""
        self._robot = robot

    def follow(self) -> None:
        """Moves the camera with the thing that it follows."""
        if self._choice == EYES:
            names = robot_cameras(self._cast.model, self._robot)
            if names:
                self._take(eyes_view(self._cast.model, self._cast.data, names[0]))
            return
        place = self._place()
        if self._choice in (FREE, WHOLE) or place is None:
            return
        self._goal = place if self._goal is None else self._goal + FOLLOW_SMOOTHING * (place - self._goal)
        if self._choice == SIDE:
            self._take(side_view(self._cast.stage.pitch, self._goal))
        elif self._choice == BROADCAST:
            self._take(stand_view(self._cast.stage.pitch, self._goal))
        elif time.monotonic() - self._touched > _MOUSE_PAUSE:
            self._centre(self._goal)

    def _place(self) -> Floats | None:
        thing = "ball" if self._choice in (BROADCAST, BALL) else self._robot
        return thing_position(self._cast.model, self._cast.data, thing)

    def _centre(self, goal: Floats) -> None:
        """Shifts the centre of the view, and keeps the user's distance and angle."""
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
        """Sets the camera, unless it is there already: setting it takes viser longer than moving all robots."""
        camera = self._client.camera
        numbers = (*view.position.tolist(), *view.look_at.tolist(), *view.up.tolist(), view.fov)
        place = np.asarray(camera.position).tolist()  # a mouse may have moved it
        if _are_near(numbers, self._taken) and _are_near(place, self._taken[:3]):
            return
        self._taken = numbers
        with self._client.atomic():
            camera.up_direction = view.up
            camera.position = view.position
            camera.look_at = view.look_at
            camera.fov = fitted_fov(view.fov, camera.aspect)


def _are_near(some: Sequence[float], others: Sequence[float]) -> bool:
    """Whether two rows of numbers are nearly equal."""
    return len(some) == len(others) and all(abs(a - b) < _CAMERA_GRAIN for a, b in zip(some, others, strict=True))


# ---- the page

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x")  # the speeds that can be chosen
_FASTEST_CHOICE = "fastest"  # the further choice for a running simulation: as fast as the computer can
_STATUS_PERIOD = 0.1  # seconds between two updates of the time bar, the plots and the other controls
_SHOWN_TIME_STEP = 0.01  # the finest time that the time bar shows, seconds
_BRAND_COLOUR = (34, 120, 72)
MAX_EVENT_TEXT = 60  # characters of an event in the list


class Simulation:
    """The running simulation that pages show, shared by all of them; `send` gets the orders for it."""

    def __init__(self, controls: Controls | None = None, send: Callable[[Order], None] = lambda _order: None) -> None:
        self.controls, self.send = controls or Controls(), send
        self.pace = self.controls.pace
        """Simulated seconds per second that were asked for last; 0 if the pages may not change it."""
        self.held = False
        """Whether it is paused."""

    def toggle(self) -> None:
        """Pause it, or let it go on."""
        self.held = not self.held
        self._order_pace(0.0 if self.held else self.pace)

    def set_pace(self, pace: float) -> None:
        """Let it go on at another pace."""
        self.pace, self.held = pace, False
        self._order_pace(pace)

    def step(self) -> None:
        """Let it do one cycle, then hold it."""
        self.held = True
        self.send(Order(order="step"))

    def _order_pace(self, pace: float) -> None:
        self.send(Order(order="pace", numbers=(pace, 0.0, 0.0)))


class Page:
    """The page of one browser.

    Args:
        client: the viser client.
        stage: the shapes of the scene.
        film: the recording; a copy of its own, because each page reads another part of it.
        playback: the clock of this page.
        simulation: the running simulation, shared by all pages.
        beside: another recording and its stage, drawn as a ghost at the same time since its start.
        plots: channels that are plotted from the start.
    """

    picks = "Robot"
    """The label of the choice of robots."""

    def __init__(
        self,
        client: viser.ClientHandle,
        stage: Stage,
        film: Film,
        playback: Playback,
        *,
        simulation: Simulation | None = None,
        beside: tuple[Stage, Film] | None = None,
        plots: Sequence[str] = (),
    ) -> None:
        self._client, self._film, self._playback = client, film, playback
        self._prepare()
        self.simulation = simulation or Simulation()
        self._drive, bench = self.simulation.controls.drive, self.simulation.controls.bench
        self._shown = self._updated = -math.inf
        self._listed = -1
        client.gui.set_panel_label(self._title())
        self._set_theme(dark=False)
        self.cast = Cast(stage, client, film.qpos_at(playback.time))
        self._beside = None if beside is None else (Cast(beside[0], client), beside[1])
        self._boards = (
            Lights(client, self.cast, film),
            Sonars(client, self.cast, film),
            ScheduleBoard(client, film),
        )
        self._overlay = Overlay(client, self._heard)
        self.spectator = _Spectator(client, self.cast)
        self._add_camera_controls()
        self._plots = Plots(client, film, self._clock, self._titles())
        for name in plots:
            self._plots.add(name)
        self._pilot = None if self._drive is None else Pilot(client, self._drive, film, self._order)
        self._layers = Layers(client, self.cast, film)
        self._workbench = None if bench is None else Workbench(client, bench, film, self._order)
        self._add_display_controls()
        self._add_more()
        self.refresh(0.0)

    def _prepare(self) -> None:
        """Creates the objects that a kind of page needs before anything is drawn."""

    def _add_more(self) -> None:
        """Adds the controls of a kind of page."""

    def refresh(self, seconds: float) -> None:
        """Advances the time, and shows that moment."""
        playback, film = self._playback, self._film
        playback.grow(film.start, film.end)
        if film.recording.finished:
            playback.finish()
        playback.advance(seconds)
        if playback.time != self._shown:
            self._shown = playback.time
            self.cast.show(film.qpos_at(self._shown))
            if self._beside is not None:
                ghost, other = self._beside
                ghost.show(other.qpos_at(other.start + self._shown - film.start))
            for board in self._boards:
                board.show(self._shown)
        self.spectator.follow()
        now = time.monotonic()
        if now - self._updated >= _STATUS_PERIOD:
            self._updated = now
            self._update(now)

    def leave(self) -> None:
        """The browser has disconnected; the robot that it drove stops."""
        if self._pilot is not None:
            self._pilot.leave()

    def pick(self, robot: str) -> None:
        """Choose a robot, as if it had been chosen in the panel."""
        if self.spectator.picker is not None:
            self.spectator.picker.value = self._titles()[robot]

    # ---- one clock: times of the recording, and what the clock shows then

    def _clock(self, moment: float) -> float:
        """Time on the page's clock at a time of the recording, seconds."""
        return moment - self._film.start

    def _moment(self, clock: float) -> float:
        """The first time of the recording at which the clock shows this."""
        return self._film.start + clock

    # ---- actions of the user

    def _heard(self, what: str, value: Any) -> None:  # noqa: ANN401
        """Carries out an action of the user with the bar, the list of events, a plot or a key."""
        playback = self._playback
        actions: dict[str, Callable[[], None]] = {
            "seek": lambda: playback.seek(self._film.start + float(value)),
            "clock": lambda: playback.seek(self._moment(seconds_of(value))),
            "skip": lambda: playback.seek(playback.time + float(value)),
            "step": lambda: self._step(1 if int(value) > 0 else -1),
            "speed": lambda: self._set_speed(str(value)),
            "pick": lambda: self._pick_number(int(value)),
            "dark": lambda: self._set_theme(dark=bool(value)),
            "toggle": self._toggle,
            "live": self._go_live,
            "loop": lambda: setattr(playback, "loop", not playback.loop),
        }
        try:
            actions[what]()
        except (KeyError, TypeError, ValueError):
            raise UsageError(f"{what[:20]!r} with {str(value)[:20]!r} is nothing that a page can do.") from None
        self._updated = -math.inf

    @property
    def _controls_simulation(self) -> bool:
        """Whether pause and speed are those of the simulation: it can be paused, and it is watched live."""
        return self.simulation.pace > 0 and self._playback.live and not self._film.recording.finished

    def _toggle(self) -> None:
        """Pause or continue the simulation, if it is watched live, or else the replay."""
        (self.simulation if self._controls_simulation else self._playback).toggle()

    def _go_live(self) -> None:
        if not self._film.recording.finished:
            self._playback.go_live()

    def _set_speed(self, speed: str) -> None:
        """Set the speed of the simulation, if it is watched live, or else of the replay."""
        if speed not in (*SPEEDS, _FASTEST_CHOICE):
            raise UsageError(f"{speed[:20]!r} is not a speed; choose one of {', '.join(SPEEDS)}.")
        if self._controls_simulation:
            self.simulation.set_pace(MAX_PACE if speed == _FASTEST_CHOICE else float(speed[:-1]))
        else:
            self._playback.speed = float(SPEEDS[-1 if speed == _FASTEST_CHOICE else SPEEDS.index(speed)][:-1])

    def _step(self, rows: int) -> None:
        """One recorded row forward or back; pauses.

        At the newest moment of a simulation that can be paused, the simulation does one cycle and holds.
        """
        film, playback = self._film, self._playback
        newest = playback.live or playback.time >= film.end - _SHOWN_TIME_STEP / 2
        if rows > 0 and newest and self.simulation.pace > 0 and not film.recording.finished:
            playback.go_live()
            self.simulation.step()
            return
        playback.pause()
        if len(film.times):
            here = film.row_at(playback.time + _SHOWN_TIME_STEP / 2)  # the row that the time bar shows
            row = int(np.clip(here + rows, 0, len(film.times) - 1))
            playback.seek(float(film.times[row]))

    def _pick_number(self, number: int) -> None:
        """Choose the robot with this number, counted as they are listed."""
        if 1 <= number <= len(self.cast.robots):
            self.pick(self.cast.robots[number - 1])

    def _order(self, order: Order) -> None:
        """Sends an order of the user to a robot; the page then shows the simulation live."""
        if not self._playback.live and not self._film.recording.finished:
            self._playback.go_live()
        self.simulation.send(order)

    # ---- controls in the panel

    def _add_camera_controls(self) -> None:
        client, first = self._client, self._first_camera()
        with client.gui.add_folder("Camera", order=10):
            view = client.gui.add_dropdown("View", self._cameras(), initial_value=first)
            view.on_update(lambda event: self.spectator.choose(event.target.value))
            if self.cast.robots:
                self._add_picker()
        if self._drive is not None:
            self.spectator.pick(self._drive.robot)
        if first != FREE:
            self.spectator.choose(first)

    def _add_picker(self) -> None:
        robots = self._titles()
        picker = self._client.gui.add_dropdown(
            self.picks, tuple(robots.values()), initial_value=robots[self.spectator.robot]
        )
        picker.on_update(lambda event: self.spectator.pick(self._titled(event.target.value)))
        self.spectator.picker = picker

    def _add_display_controls(self) -> None:
        gui = self._client.gui
        with gui.add_folder("Display", order=30, expand_by_default=False):
            labels = gui.add_checkbox("Labels", initial_value=True)
            labels.on_update(lambda event: setattr(self.cast, "labels_visible", event.target.value))
            shadows = gui.add_checkbox("Shadows", initial_value=True, hint="Turn off on a slow computer.")
            shadows.on_update(lambda event: self._client.scene.configure_default_lights(cast_shadow=event.target.value))

    def _set_theme(self, *, dark: bool) -> None:
        self._client.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=_BRAND_COLOUR, dark_mode=dark
        )

    def _first_camera(self) -> str:
        """The camera that the page starts with."""
        return FREE if self._drive is None else FOLLOW

    def _cameras(self) -> tuple[str, ...]:
        """The cameras that can be chosen."""
        return cameras_of(self.cast)

    def _titles(self) -> dict[str, str]:
        """The name of each robot on the page."""
        return {robot: robot for robot in self.cast.robots}

    def _titled(self, title: str) -> str:
        """The robot with this title on the page; the first one if there is none."""
        return next((robot for robot, called in self._titles().items() if called == title), self.cast.robots[0])

    def _title(self) -> str:
        """The title of the page."""
        return f"Nutmeg · {self._film.title}"

    # ---- state for the script of the page

    def _update(self, now: float) -> None:  # noqa: ARG002 (pages of matches measure their pace with it)
        """Updates everything but the picture; only changes are sent."""
        playback = self._playback
        self._plots.show(playback.time, live=playback.live)
        self._layers.show(playback.time, self.spectator.robot)
        if self._pilot is not None:
            self._pilot.refresh(playback.time)
        if self._workbench is not None:
            self._workbench.refresh(playback.time)
        self._list_events()
        self._overlay.show(self._state())

    def _state(self) -> dict[str, Any]:
        """The state of the page at this moment, for its script."""
        film, playback, simulation = self._film, self._playback, self.simulation
        speeds: tuple[str, ...] = SPEEDS
        speed = f"{playback.speed:g}x"
        if simulation.pace > 0 and not film.recording.finished:
            speeds = (*SPEEDS, _FASTEST_CHOICE)
            if playback.live:
                speed = _FASTEST_CHOICE if simulation.pace > 10 else f"{simulation.pace:g}x"
        held = simulation.held and self._controls_simulation
        return {
            "title": self._title(),
            "t": round(playback.time - film.start, 2),
            "length": round(max(film.end - film.start, 0.01), 2),
            "seconds": round(self._clock(playback.time), 2),
            "clock": fine_clock_text(self._clock(playback.time)),
            "total": fine_clock_text(self._clock(film.end)),
            "playing": playback.playing and not playback.at_end and not held,
            "live": playback.live,
            "finished": film.recording.finished,
            "loop": playback.loop,
            "speed": speed,
            "speeds": speeds,
            "colours": None,
            "board": None,
            "map": None,
            "note": self._status(),
        }

    def _status(self) -> str:
        """The state of the recording in a few words."""
        return "live" if self._playback.live else "recorded" if self._film.recording.finished else "still recording"

    def _list_events(self) -> None:
        events = self._film.recording.events
        if len(events) != self._listed:
            self._listed = len(events)
            self._overlay.list_events(listed_events(self._film))


def listed_events(film: Film) -> list[dict[str, Any]]:
    """The events of a recording as the script lists them."""

    def shown(number: int, event: Mapping[str, Any]) -> dict[str, Any]:
        t = event["time"] - film.start
        return shown_event(number, event, t=t, clock=fine_clock_text(t), text=describe_event(event))

    return [shown(number, event) for number, event in enumerate(film.recording.events)]


def describe_event(event: Mapping[str, Any], most: int = MAX_EVENT_TEXT) -> str:
    """An event in a few words: its text if it has one, else its kind and its short fields."""
    if event.get("text"):
        words = str(event["text"])
    else:
        shown = [str(v) for k, v in event.items() if k not in ("time", "kind") and isinstance(v, str | int | float)]
        words = " ".join([str(event.get("kind", "event")), *shown])
    return words if len(words) <= most else words[: most - 1] + "…"


def fine_clock_text(seconds: float) -> str:
    """Minutes, seconds and hundredths, such as 1:29.50."""
    whole, rest = divmod(round(100 * max(seconds, 0.0)), 6000)
    return f"{whole}:{rest / 100:05.2f}"
