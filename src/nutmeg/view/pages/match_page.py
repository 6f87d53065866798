"""The page of a match: score board, cameras, the view and beliefs of a player, and events.

    page = MatchPage(client, stage, film, playback, simulation=simulation)
    page.refresh(0.033)                  # once per frame

The clock of the page is that of the match, which stands still before a kick-off. While a match is played and watched
live, pause and speed are those of the match; looking back pauses only the replay. A match of the behavioural world
shows the pictures of the chosen player's two cameras.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.match.rules.play_modes import PlayMode, clock_runs
from nutmeg.match.worlds.behavioural.figures import is_behavioural
from nutmeg.model.field import load_field
from nutmeg.view.match_sight import BehaviourSight
from nutmeg.view.match_story import TEAM_COLOURS, MatchStory, number_of
from nutmeg.view.pages.belief_overlay import BeliefOverlay
from nutmeg.view.pages.furniture import board_state, match_events
from nutmeg.view.pages.page import BALL, BROADCAST, EYES, FOLLOW, FREE, SIDE, WHOLE, Page
from nutmeg.view.stage.cameras import thing_position
from nutmeg.view.stage.film import UNDERGROUND

if TYPE_CHECKING:
    import viser

_PICTURE_PERIOD = 0.25
"""Seconds between two pictures."""
_JPEG_QUALITY = 85
"""Quality of the JPEG files that browsers get, percent."""
_CAMERA_LABELS = ("Upper camera", "Lower camera")


class _CameraPanel:
    """The two camera pictures of the chosen robot in the panel of one browser, renewed a few times a second.

    Pictures are drawn only while they are switched on, and only when robot or moment have changed.
    """

    def __init__(self, client: viser.ClientHandle, sight: BehaviourSight) -> None:
        self._sight, self._on, self._drawn = sight, True, 0.0
        self._shown: tuple[str, int] | None = None
        cameras = sight.match.eyes.cameras
        black = np.zeros((cameras.height, cameras.width, 3), np.uint8)
        show = client.gui.add_checkbox("Camera pictures", initial_value=True, hint="What its two cameras see.")
        show.on_update(lambda event: self._switch(on=bool(event.target.value)))
        self._text = client.gui.add_markdown("", visible=False)
        self._images = [
            client.gui.add_image(black, label=label, format="jpeg", jpeg_quality=_JPEG_QUALITY)
            for label in _CAMERA_LABELS
        ]

    def refresh(self, robot: str, row: int) -> None:
        """Bring the pictures up to a row of the recording, if it is time for that."""
        now = time.monotonic()
        if not self._on or self._shown == (robot, row) or now - self._drawn < _PICTURE_PERIOD:
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


_BELIEF_PERIOD = 0.1
"""Seconds between two updates of the chosen player's beliefs."""
MEASURED_OVER = 2.0
"""The speed of a running match is measured over this time, seconds."""
_REPORT_NAME = "report.html"
_MAX_NAMED_PLAYERS = 5
"""Up to this number of players a side have the name of their team above them; of more only the number is shown."""


class MatchPage(Page):
    """All that one browser sees of a match, and can do."""

    picks = "Player"

    def _prepare(self) -> None:
        film = self._film
        self._story = MatchStory(film.recording)
        self._sight = BehaviourSight(film.recording) if is_behavioural(film.recording) else None
        self._overlay: BeliefOverlay | None = None
        self._cameras_panel: _CameraPanel | None = None
        self._believed_at = 0.0
        self._teams = ("", "")
        self._grown = (time.monotonic(), film.end)
        self._real_time = 0.0

    def _add_more(self) -> None:
        field = load_field(str(self._film.recording.manifest.config.get("field", "sim3d")))
        landmarks = np.array(list(field.landmarks().values()))
        with self._client.gui.add_folder("Player", order=12):
            super()._add_picker()
            self._overlay = BeliefOverlay(self._client, self.cast, self._story, landmarks, self._sight)
            if self._sight is not None:
                self._cameras_panel = _CameraPanel(self._client, self._sight)

    def refresh(self, seconds: float) -> None:
        """Let time pass, show that moment, and what the chosen player believes then."""
        super().refresh(seconds)
        now = time.monotonic()
        if self._overlay is None or now - self._believed_at < _BELIEF_PERIOD or not len(self._film.times):
            return
        self._believed_at = now
        row, robot = self._film.row_at(self._playback.time), self.spectator.robot
        self._overlay.choose(robot)
        self._overlay.refresh(row, self._playback.time)
        if self._cameras_panel is not None:
            self._cameras_panel.refresh(robot, row)

    # ---- the clock of the match

    def _clock(self, moment: float) -> float:
        film = self._film
        if not len(film.times):
            return 0.0
        row = film.row_at(moment)
        state = self._story.moment(row)
        runs = clock_runs(state.mode) and row + 1 < len(film.times)
        return state.clock + (max(moment - float(film.times[row]), 0.0) if runs else 0.0)

    def _moment(self, clock: float) -> float:
        film = self._film
        low, high = 0, max(len(film.times) - 1, 0)
        while low < high:  # the clock never goes back: the first row that shows at least this
            middle = (low + high) // 2
            if self._story.moment(middle).clock >= clock - 1e-6:
                high = middle
            else:
                low = middle + 1
        return float(film.times[low]) if len(film.times) else 0.0

    # ---- what the page says

    def _update(self, now: float) -> None:
        self._story.refresh()
        if self._story.teams != self._teams:
            self._teams = self._story.teams
            self._name_robots()
        wall, end = self._grown
        if now - wall >= MEASURED_OVER:  # how many seconds are played per second
            self._real_time = (self._film.end - end) / (now - wall)
            self._grown = now, self._film.end
        super()._update(now)

    def _state(self) -> dict[str, Any]:
        state = {**super()._state(), "colours": TEAM_COLOURS}
        if len(self._film.times):
            row = self._film.row_at(self._playback.time)
            state["board"] = board_state(self._story, row, self._playback.time)
            state["map"] = self._map()
        return state

    def _map(self) -> dict[str, Any]:
        """The small map: half length and width of the pitch, place and team of each robot, and which one is chosen."""
        cast = self.cast
        half = (cast.stage.pitch.high - cast.stage.pitch.low)[:2] / 2
        places = {robot: thing_position(cast.model, cast.data, robot) for robot in cast.robots}
        ball = thing_position(cast.model, cast.data, "ball")
        return {
            "half": np.round(half, 1).tolist(),
            "robots": [
                [round(float(p[0]), 1), round(float(p[1]), 1), self._story.team_of(r), r == self.spectator.robot]
                for r, p in places.items()
                if p is not None and p[2] > UNDERGROUND
            ],
            "ball": None if ball is None else [round(float(ball[0]), 1), round(float(ball[1]), 1)],
        }

    def _status(self) -> str:
        recording = self._film.recording
        if recording.finished:
            over = self._story.moment(len(self._film.times) - 1).mode == PlayMode.GAME_OVER
            report = recording.path.parent / _REPORT_NAME  # where nutmeg play writes it
            return ("full time" if over else "ended") + (f" · report: {report}" if report.is_file() else "")
        if self._playback.live:
            return "held" if self.simulation.held else f"{self._real_time:.1f} times real time"
        return "the match goes on"

    def _list_events(self) -> None:
        if len(self._story.events) != self._listed:
            self._listed = len(self._story.events)
            self._furniture.list_events(match_events(self._story, self._film.start))

    def _title(self) -> str:
        return f"{self._story.teams[0]} : {self._story.teams[1]} · Nutmeg"

    def _titles(self) -> dict[str, str]:
        return {robot: self._story.name_of(robot) for robot in self.cast.robots}

    def _name_robots(self) -> None:
        """Write the names of the teams on labels, choices and the panel."""
        self._client.gui.set_panel_label(f"{self._story.teams[0]} : {self._story.teams[1]}")
        most = max((number_of(robot) for robot in self.cast.robots), default=0)
        for robot, title in self._titles().items():
            self.cast.name(robot, title if most <= _MAX_NAMED_PLAYERS else str(number_of(robot)))
        if self.spectator.picker is not None:
            self.spectator.picker.options = tuple(self._titles().values())
            self.spectator.picker.value = self._titles()[self.spectator.robot]

    # ---- controls

    def _first_camera(self) -> str:
        return BROADCAST

    def _cameras(self) -> tuple[str, ...]:
        return (BROADCAST, WHOLE, BALL, FOLLOW, SIDE, EYES, FREE)

    def _add_picker(self) -> None:
        """The player is chosen in the folder of the player instead."""

    def _pick_number(self, number: int) -> None:
        """Choose the player with this shirt number in the team of the chosen player; again: in the other team."""
        own = self._story.team_of(self.spectator.robot)
        here = number_of(self.spectator.robot) == number
        wanted = [r for r in self.cast.robots if number_of(r) == number and (self._story.team_of(r) == own) != here]
        if wanted:
            self.pick(wanted[0])
