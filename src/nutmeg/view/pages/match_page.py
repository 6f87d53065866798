"""The page of a match: score board, cameras, the view and beliefs of a player, and events.

    page = MatchPage(server, stage, film, playback, send=send, pace=1.0)
    page.refresh()                       # once per frame, after stage.show(...)

While a match is played and watched live, pause and speed are those of the match; looking back pauses only the replay.
A match of the behavioural world can be stepped cycle by cycle, and shows the pictures of the chosen player's two
cameras.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.match.worlds.behavioural.figures import is_behavioural
from nutmeg.model.field import load_field
from nutmeg.view.html import script_frame
from nutmeg.view.match_sight import BehaviourSight
from nutmeg.view.match_story import EVENT_SIGNS, MatchStory, clock_text, number_of
from nutmeg.view.pages.belief_overlay import BeliefOverlay
from nutmeg.view.pages.orders import Order
from nutmeg.view.pages.page import BALL, BROADCAST, EYES, FOLLOW, FREE, SHOWN_TIME_STEP, SIDE, WHOLE, EventList, Page
from nutmeg.view.pages.scoreboard import board_html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import viser

    from nutmeg.view.pages.page import Playback, Spectator
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Stage


PICTURE_PERIOD = 0.25
"""Seconds between two pictures."""
JPEG_QUALITY = 85
"""Quality of the JPEG files that browsers get, percent."""
CAMERA_LABELS = ("Upper camera", "Lower camera")


class CameraPanel:
    """The two camera pictures of the chosen robot in the panel of one browser, renewed a few times a second.

    Pictures are drawn only while they are switched on, and only when robot or moment have changed.
    """

    def __init__(self, client: Any, sight: BehaviourSight) -> None:  # noqa: ANN401
        self._sight, self._on, self._drawn = sight, True, 0.0
        self._shown: tuple[str, int] | None = None
        cameras = sight.match.eyes.cameras
        black = np.zeros((cameras.height, cameras.width, 3), np.uint8)
        show = client.gui.add_checkbox("Camera pictures", initial_value=True, hint="What its two cameras see.")
        show.on_update(lambda event: self._switch(on=bool(event.target.value)))
        self._text = client.gui.add_markdown("", visible=False)
        self._images = [
            client.gui.add_image(black, label=label, format="jpeg", jpeg_quality=JPEG_QUALITY)
            for label in CAMERA_LABELS
        ]

    def refresh(self, robot: str, row: int) -> None:
        """Bring the pictures up to a row of the recording, if it is time for that."""
        now = time.monotonic()
        if not self._on or self._shown == (robot, row) or now - self._drawn < PICTURE_PERIOD:
            return
        self._drawn, self._shown = now, (robot, row)
        try:
            pictures = self._sight.pictures(robot, row)
        except EnvironmentProblem as problem:
            self._switch(on=False)
            self._text.content, self._text.visible = f"No pictures: {problem}", True
            return
        for handle, picture in zip(self._images, pictures, strict=True):
            handle.image = picture

    def _switch(self, *, on: bool) -> None:
        self._on, self._shown = on, None
        for handle in self._images:
            handle.visible = on


BELIEF_PERIOD = 0.1
"""Seconds between two updates of the chosen players' beliefs."""
MATCH_EVENT_LEAD = 2.0
"""A click on an event jumps to this time before it, seconds."""
MEASURED_OVER = 2.0
"""The speed of a running match is measured over this time, seconds."""
CYCLE_BACK, CYCLE_AHEAD = "◀ cycle", "cycle ▶"
"""Labels of the buttons that step single cycles."""
MAX_NAMED_PLAYERS = 5
"""Up to this number of players a side have the name of their team above them; of more only the number is shown."""


class MatchPage(Page):
    """All controls of one server that shows a match."""

    picks = "Player"

    def __init__(
        self,
        server: viser.ViserServer,
        stage: Stage,
        film: Film,
        playback: Playback,
        *,
        send: Callable[[Order], None] = lambda _order: None,
        pace: float = 0.0,
    ) -> None:
        self._story = MatchStory(film.recording)
        field = load_field(str(film.recording.manifest.config.get("field", "sim3d")))
        self._landmarks = np.array(list(field.landmarks().values()))
        self._sight = BehaviourSight(film.recording) if is_behavioural(film.recording) else None
        self._overlays: dict[int, BeliefOverlay] = {}
        self._panels: dict[int, CameraPanel] = {}
        self._believed_at = 0.0
        self._teams = self._story.teams
        self._grown = (time.monotonic(), film.end)
        self._real_time = 0.0
        self._board = server.gui.add_html("", order=-1)
        super().__init__(server, stage, film, playback, send=send, pace=pace)
        server.gui.add_html(script_frame("score board", script="scoreboard.js", style="scoreboard.css"), order=-2)
        self._name_robots()

    def refresh(self) -> None:
        """Move cameras, show the beliefs of chosen players, and update the controls every now and then."""
        super().refresh()
        now = time.monotonic()
        if now - self._believed_at >= BELIEF_PERIOD and len(self._film.times):
            self._believed_at = now
            row = self._film.row_at(self._playback.time)
            for number, overlay in list(self._overlays.items()):
                spectator = self._spectators.get(number)
                if spectator is not None:
                    overlay.choose(spectator.robot)
                    overlay.refresh(row, self._playback.time)
                    if (panel := self._panels.get(number)) is not None:
                        panel.refresh(spectator.robot, row)

    # ---- what the page says

    def _update(self, now: float) -> None:
        self._story.refresh()
        if self._story.teams != self._teams:
            self._teams = self._story.teams
            self._name_robots()
        self._measure(now)
        super()._update(now)
        self._live.visible = not self._film.recording.finished
        if len(self._film.times):
            row = self._film.row_at(self._playback.time)
            self._board.content = board_html(self._story, row, self._playback.time)

    def _measure(self, now: float) -> None:
        """Measure how many seconds are played per second."""
        wall, end = self._grown
        if now - wall >= MEASURED_OVER:
            self._real_time = (self._film.end - end) / (now - wall)
            self._grown = now, self._film.end

    def _status_text(self, shown: float, length: float) -> str:
        if self._playback.live:
            pace = "held" if self._held else f"{self._real_time:.1f} times real time"
            return f"**Live** · {pace}"
        state = "the match is over" if self._film.recording.finished else "the match goes on"
        return f"**{clock_text(shown)}** of {clock_text(length)} · {self._playback.speed:g}x · {state}"

    def _titles(self) -> dict[str, str]:
        return {robot: self._story.name_of(robot) for robot in self._stage.robots}

    def _name_robots(self) -> None:
        """Write the names of the teams on labels, choices and the panel."""
        self._server.gui.set_panel_label(f"{self._story.teams[0]} : {self._story.teams[1]}")
        most = max((number_of(robot) for robot in self._stage.robots), default=0)
        for robot, title in self._titles().items():
            self._stage.name(robot, title if most <= MAX_NAMED_PLAYERS else str(number_of(robot)))
        for spectator in self._spectators.values():
            if spectator.picker is not None:
                spectator.picker.options = tuple(self._titles().values())
                spectator.picker.value = self._titles()[spectator.robot]

    # ---- controls

    def _add_steps(self) -> None:
        """Buttons for single cycles of the behavioural world; those of the physical world are too short to see."""
        if self._sight is not None:
            step = self._server.gui.add_button_group("Step", (CYCLE_BACK, CYCLE_AHEAD), order=3)
            step.on_click(lambda event: self._cycle(ahead=event.target.value == CYCLE_AHEAD))

    def _cycle(self, *, ahead: bool) -> None:
        """Go one cycle (perception, decision, action) forward or back.

        At the newest moment of a running match, the match itself is paused and does one cycle.
        """
        film, playback = self._film, self._playback
        newest = playback.live or playback.time >= film.end - SHOWN_TIME_STEP / 2
        if ahead and newest and self._pace > 0 and not film.recording.finished:
            playback.go_live()
            self._held, self._updated = True, 0.0
            self._send(Order(order="step"))
        else:
            self._step(1 if ahead else -1)

    def _add_events(self) -> EventList:
        return EventList(self._server, self._jump, name=_event_name, lead=MATCH_EVENT_LEAD, colour=_event_colour)

    def _list_events(self) -> None:
        self._events.update(self._story.events, self._playback.time, self._film.start)

    def _first_camera(self) -> str:
        return BROADCAST

    def _cameras(self) -> tuple[str, ...]:
        return (BROADCAST, WHOLE, BALL, FOLLOW, SIDE, EYES, FREE)

    def _connect(self, client: Any) -> None:  # noqa: ANN401
        """A new browser gets its own camera and its own chosen player."""
        super()._connect(client)
        with client.gui.add_folder("Player", order=12):
            self._add_player(client, self._spectators[client.client_id])

    def _add_picker(self, client: Any, spectator: Spectator) -> None:  # noqa: ANN401
        """The player is chosen in the folder of the player instead."""

    def _add_player(self, client: Any, spectator: Spectator) -> None:  # noqa: ANN401
        super()._add_picker(client, spectator)
        number = client.client_id
        self._overlays[number] = BeliefOverlay(client, self._stage, self._story, self._landmarks, self._sight)
        if self._sight is not None:
            self._panels[number] = CameraPanel(client, self._sight)

    def _disconnect(self, client: Any) -> None:  # noqa: ANN401
        self._overlays.pop(client.client_id, None)
        self._panels.pop(client.client_id, None)
        super()._disconnect(client)


def _event_colour(event: Mapping[str, Any]) -> str:
    return "dark" if event["about"] is None else ("blue", "red")[event["about"]]


def _event_name(event: Mapping[str, Any], _start: float) -> str:
    text = str(event["text"])
    return f"{clock_text(event['clock'])}  {EVENT_SIGNS[event['kind']]} {text if len(text) <= 30 else text[:29] + '…'}"
