"""The page of a match: a score board over the picture, and beside it cameras, a player's head, and what happened.

    page = MatchPage(server, stage, film, playback, send=send, pace=1.0)
    page.refresh()                       # once per frame, after stage.show(...)

It is the page of every recording with the words of a match. While a match is played, pause and speed are the match's
own, as long as the page shows what happens now; whoever looks back pauses only the replay. A match of the behavioural
world can be gone through cycle by cycle, and shows the pictures of the chosen player's two cameras.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.match.worlds.behavioural.figures import is_behavioural
from nutmeg.model.field import load_field
from nutmeg.recording import Recording
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


# ----------------------------------------------------------------------------------------------------
# The two camera pictures of a chosen robot in the panel of one browser, renewed a few times a second.
#
# Pictures are drawn only while somebody has them open, and only when robot or moment have changed.


PICTURE_PERIOD = 0.25
"""Seconds between two pictures."""
JPEG_QUALITY = 85
"""Of the JPEG files that browsers get, percent."""
CAMERA_LABELS = ("Upper camera", "Lower camera")


class CameraPanel:
    """The cameras of whom one browser looks at."""

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
"""Seconds between two looks into the chosen players' heads."""
MATCH_EVENT_LEAD = 2.0
"""A click on an event shows what led to it: so many seconds."""
MEASURED_OVER = 2.0
"""How fast the match goes is measured over so much time, seconds."""
CYCLE_BACK, CYCLE_AHEAD = "◀ cycle", "cycle ▶"
"""What the buttons for single cycles say."""
MAX_NAMED_PLAYERS = 5
"""Up to so many players a side have their team's name above them; more have only their numbers."""


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
        assert isinstance(film.recording, Recording)
        self._story = MatchStory(film.recording)
        field = load_field(str(film.recording.manifest.config.get("field", "sim3d")))
        self._landmarks = np.array(list(field.landmarks().values()))
        self._sight = BehaviourSight(film.recording) if is_behavioural(film.recording) else None
        self._minds: dict[int, BeliefOverlay] = {}
        self._panels: dict[int, CameraPanel] = {}
        self._thought = 0.0
        self._teams = self._story.teams
        self._grown = (time.monotonic(), film.end)
        self._real_time = 0.0
        self._board = server.gui.add_html("", order=-1)
        super().__init__(server, stage, film, playback, send=send, pace=pace)
        server.gui.add_html(script_frame("score board", script="scoreboard.js", style="scoreboard.css"), order=-2)
        self._name_robots()

    def refresh(self) -> None:
        """Move cameras, look into heads, and now and then bring the controls up to date."""
        super().refresh()
        now = time.monotonic()
        if now - self._thought >= BELIEF_PERIOD and len(self._film.times):
            self._thought = now
            row = self._film.row_at(self._playback.time)
            for number, mind in list(self._minds.items()):
                spectator = self._spectators.get(number)
                if spectator is not None:
                    mind.choose(spectator.robot)
                    mind.refresh(row, self._playback.time)
                    if (panel := self._panels.get(number)) is not None:
                        panel.refresh(spectator.robot, row)

    # ---- the words of a match

    def _tell(self, now: float) -> None:
        self._story.refresh()
        if self._story.teams != self._teams:
            self._teams = self._story.teams
            self._name_robots()
        self._measure(now)
        super()._tell(now)
        self._live.visible = not self._film.recording.finished
        if len(self._film.times):
            row = self._film.row_at(self._playback.time)
            self._board.content = board_html(self._story, row, self._playback.time)

    def _measure(self, now: float) -> None:
        """How many seconds are played per second."""
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
        """Labels, choices and the panel with the names of the teams."""
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
        """Single cycles of the behavioural world; the physical world's would be lost among its thousands."""
        if self._sight is not None:
            step = self._server.gui.add_button_group("Step", (CYCLE_BACK, CYCLE_AHEAD), order=3)
            step.on_click(lambda event: self._cycle(ahead=event.target.value == CYCLE_AHEAD))

    def _cycle(self, *, ahead: bool) -> None:
        """One perception, decision and action further, or a look one cycle back.

        At the newest moment of a match that goes on, the match itself is held and does one cycle.
        """
        film, playback = self._film, self._playback
        newest = playback.live or playback.time >= film.end - SHOWN_TIME_STEP / 2
        if ahead and newest and self._pace > 0 and not film.recording.finished:
            playback.go_live()
            self._held, self._told = True, 0.0
            self._send(Order(order="step"))
        else:
            self._step(1 if ahead else -1)

    def _add_events(self) -> EventList:
        return EventList(self._server, self._jump, name=_event_name, lead=MATCH_EVENT_LEAD, colour=_event_colour)

    def _list_events(self) -> None:
        self._events.update(self._story.told, self._playback.time, self._film.start)

    def _first_camera(self) -> str:
        return BROADCAST

    def _cameras(self) -> tuple[str, ...]:
        return (BROADCAST, WHOLE, BALL, FOLLOW, SIDE, EYES, FREE)

    def _welcome(self, client: Any) -> None:  # noqa: ANN401
        """A new browser gets its own camera, and its own look into a player's head."""
        super()._welcome(client)
        with client.gui.add_folder("Player", order=12):
            self._add_player(client, self._spectators[client.client_id])

    def _add_picker(self, client: Any, spectator: Spectator) -> None:  # noqa: ANN401
        """The player is chosen where its head is shown."""

    def _add_player(self, client: Any, spectator: Spectator) -> None:  # noqa: ANN401
        super()._add_picker(client, spectator)
        number = client.client_id
        self._minds[number] = BeliefOverlay(client, self._stage, self._story, self._landmarks, self._sight)
        if self._sight is not None:
            self._panels[number] = CameraPanel(client, self._sight)

    def _farewell(self, client: Any) -> None:  # noqa: ANN401
        self._minds.pop(client.client_id, None)
        self._panels.pop(client.client_id, None)
        super()._farewell(client)


def _event_colour(event: Mapping[str, Any]) -> str:
    return "dark" if event["about"] is None else ("blue", "red")[event["about"]]


def _event_name(event: Mapping[str, Any], _start: float) -> str:
    text = str(event["text"])
    return f"{clock_text(event['clock'])}  {EVENT_SIGNS[event['kind']]} {text if len(text) <= 30 else text[:29] + '…'}"
