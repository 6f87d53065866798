"""The page of a match: score board, cameras, events, and observation, beliefs and intention of the chosen player.

    page = MatchPage(client, stage, film, playback, simulation=simulation)
    page.refresh(0.033)                  # once per frame

The clock of the page is that of the match, which stands still before a kick-off. While a match is played and watched
live, pause and speed are those of the match; looking back pauses only the replay.

Observation and beliefs of a player are drawn over the ground truth, for one browser. The view cone lies on the grass. A
ghost stands at the believed pose of the player; a yellow net and discs are the believed places of the ball and of the
other players. Lines lead from the truth to the belief, and light blue rings are drawn at two standard deviations. All
of it comes from the recording; for a player without recorded beliefs (an agent over the network) only the view is
shown. In the behavioural world the view is the ground that the two cameras show, with dots where objects are observed,
and the pictures of both cameras are shown.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.match.rules.play_modes import PlayMode, clock_runs
from nutmeg.match.worlds.behavioural.figures import is_behavioural
from nutmeg.match.worlds.physical.vision import VIEW_ANGLE
from nutmeg.model.field import load_field
from nutmeg.view.html import render
from nutmeg.view.match_sight import NO_SONAR, BehaviourSight, RecordedSonars, sight_in_words, sight_of
from nutmeg.view.match_story import TEAM_COLOURS, MatchStory, number_of
from nutmeg.view.pages.hosted_robots import sonar_nodes
from nutmeg.view.pages.overlay import board_state, match_events
from nutmeg.view.pages.page import BALL, BROADCAST, EYES, FOLLOW, FREE, SIDE, WHOLE, Page
from nutmeg.view.stage.bodies import rgb_of
from nutmeg.view.stage.cameras import thing_position
from nutmeg.view.stage.film import UNDERGROUND
from nutmeg.view.stage.stage import Shift, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.view.match_sight import InView
    from nutmeg.view.stage.stage import Cast

# ---- observation and beliefs of the chosen player

_CONE_REACH = 6.0  # length of the drawn view cone, metres; the league's has no end
_CONE_COLOUR, _EDGE_COLOUR = (255, 230, 120), (255, 240, 170)
BALL_COLOUR, _MEMORY_COLOUR, _ERROR_COLOUR, _RING_COLOUR = (255, 214, 0), (170, 165, 140), (40, 40, 40), (120, 225, 255)
_ABOVE_GRASS = 0.012  # height of lines on the grass, metres: they must not flicker with the lines of the pitch
_GHOST_HEIGHT, _GHOST_RADIUS = 0.5, 0.13  # size of the ghost of the player, metres
_GHOST_SIZES = {False: (0.1, 0.24), True: (0.045, 0.15)}
"""Radii of the believed ball and of the others' discs, metres: on the league's pitch, and on a small one."""
_RING_SEGMENTS = 32  # pieces of a ring


def ghosts(
    scene: viser.SceneApi, robot: str, robots: tuple[str, ...], story: MatchStory, *, small: bool
) -> dict[str, Any]:
    """Everything that is drawn for a player, hidden at first."""
    colours = [rgb_of(colour) for colour in TEAM_COLOURS]
    mine, (ball_radius, disc_radius) = colours[story.team_of(robot)], _GHOST_SIZES[small]
    plain: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}
    nothing = np.zeros((1, 2, 3))
    nodes = {
        "cone": scene.add_frame("/mind/cone", show_axes=False),
        "me": scene.add_frame("/mind/me", show_axes=False),
        "ball": scene.add_icosphere(
            "/mind/ball", radius=ball_radius, color=BALL_COLOUR, wireframe=True, subdivisions=1, **plain
        ),
        "errors": scene.add_line_segments("/mind/errors", np.zeros((2, 2, 3)), _ERROR_COLOUR, thickness=0.012),
        "rings": scene.add_line_segments("/mind/rings", nothing, _RING_COLOUR, thickness=0.012),
        "view": scene.add_line_segments("/mind/view", nothing, _EDGE_COLOUR, thickness=0.015),
        **sonar_nodes(scene, "/mind"),
        "seen": scene.add_point_cloud(
            "/mind/seen", np.zeros((1, 3)), _RING_COLOUR, point_size=0.06, point_shape="circle", precision="float32"
        ),
    }
    if not small:
        vertices, faces = _sector(math.radians(VIEW_ANGLE / 2), _CONE_REACH)
        scene.add_mesh_simple(
            "/mind/cone/floor", vertices, faces, color=_CONE_COLOUR, opacity=0.3, side="double", **plain
        )
        scene.add_line_segments("/mind/cone/edge", _edge(vertices), _EDGE_COLOUR, thickness=0.02)
    scene.add_cylinder(
        "/mind/me/body", radius=_GHOST_RADIUS, height=_GHOST_HEIGHT, color=mine, opacity=0.35,
        position=(0.0, 0.0, _GHOST_HEIGHT / 2), **plain,
    )  # fmt: skip
    reach = 0.35 if small else 0.55
    arrow = np.array([[reach, 0.0, _ABOVE_GRASS], [0.15, 0.14, _ABOVE_GRASS], [0.15, -0.14, _ABOVE_GRASS]])
    scene.add_mesh_simple(
        "/mind/me/nose", arrow, np.array([[0, 1, 2]]), color=mine, opacity=0.8, side="double", **plain
    )
    for other in robots:
        if other == robot:
            continue
        colour = colours[story.team_of(other)]
        nodes[f"other {other}"] = scene.add_frame(f"/mind/{other}", show_axes=False)
        scene.add_cylinder(f"/mind/{other}/disc", radius=disc_radius, height=0.012, color=colour, opacity=0.45, **plain)
    for node in nodes.values():
        node.visible = False
    return nodes


def rings(circles: Sequence[tuple[float, float, float]]) -> Floats:
    """(n, 2, 3) the pieces of circles on the grass: x, y and radius of each, metres."""
    angle = np.linspace(0.0, math.tau, _RING_SEGMENTS + 1)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = np.full((len(circles), _RING_SEGMENTS, 2, 3), 2 * _ABOVE_GRASS)
    for lines, (x, y, radius) in zip(found, circles, strict=True):
        points = np.array([x, y]) + radius * unit
        lines[:, 0, :2], lines[:, 1, :2] = points[:-1], points[1:]
    return found.reshape(-1, 2, 3)


def _on_grass(places: Floats) -> Floats:
    """(..., 3) places (..., 2) just above the ground."""
    return np.concatenate([places, np.full((*places.shape[:-1], 1), 2 * _ABOVE_GRASS)], axis=-1)


def _sector(half: float, reach: float, parts: int = 24) -> tuple[Floats, Ints]:
    """Corners and triangles of a flat sector about +x."""
    angle = np.linspace(-half, half, parts + 1)
    rim = np.stack([reach * np.cos(angle), reach * np.sin(angle), np.zeros(parts + 1)], axis=1)
    first = np.arange(1, parts + 1)
    faces = np.stack([np.zeros(parts, np.int64), first, first + 1], axis=1)
    return np.concatenate([np.zeros((1, 3)), rim]), faces


def _edge(corners: Floats) -> Floats:
    """(n, 2, 3) the lines around a sector with these corners, its tip first."""
    around = np.concatenate([corners, corners[:1]])
    return np.stack([around[:-1], around[1:]], axis=1)


_FRESH_BALL_AGE = 1.0  # a ball that was not observed for this time is drawn as a memory, seconds
_RING_DEVIATIONS, _MAX_RING_RADIUS = 2.0, 1.5
"""Radius of rings in standard deviations, and their largest radius, metres."""
_SEEN_ROBOT_SPREAD, _ROBOT_DRIFT_SPEED = 0.1, 0.3
"""Uncertainty of a robot that has just been observed [m], and its growth with time [m/s]."""
_LOST_SPREAD = 3.0  # standard deviation above which a player does not know its own place yet, metres
_NEVER_SEEN_AGE = 90.0  # a ball that was not observed for this time counts as not observed at all, seconds


class _BeliefOverlay:
    """The ghosts, lines and card of the chosen player in one browser."""

    def __init__(
        self,
        client: viser.ClientHandle,
        cast: Cast,
        story: MatchStory,
        landmarks: Floats,
        sight: BehaviourSight | None = None,
    ) -> None:
        self._client, self._cast, self._story, self._landmarks = client, cast, story, landmarks
        self._sight, self._sonars = sight, RecordedSonars(story.recording)
        self._robot = ""
        self._drawn = True
        self._nodes: dict[str, Any] = {}
        self._shown: dict[str, tuple[float, ...] | None] = {}  # place and heading; None for what is hidden
        self._text = client.gui.add_html("")
        show = client.gui.add_checkbox("Draw beliefs", initial_value=True, hint="Over the truth, for you alone.")
        show.on_update(lambda event: self._switch(on=bool(event.target.value)))

    def choose(self, robot: str) -> None:
        """Choose another player; its ghosts have the colour of its team."""
        if robot == self._robot:
            return
        self._robot = robot
        self._shown = {}
        for node in self._nodes.values():
            node.remove()
        small = self._sight is not None
        self._nodes = ghosts(self._client.scene, robot, self._cast.robots, self._story, small=small)

    def refresh(self, row: int, time: float) -> None:
        """Show a row of the recording and its time."""
        true = thing_position(self._cast.model, self._cast.data, self._robot)
        if true is None:
            return
        if true[2] < UNDERGROUND:
            self._show_absence(time)
            return
        own, others = self._believed(row)
        with self._client.atomic():
            sees = self._show_view(row)
            self._text.content = self._describe(sees, true, own, time)
            self._place_ghosts(true, own)
            self._draw_rings(own, others)
            for robot, belief in others.items():
                known = self._drawn and bool(np.isfinite(belief[:2]).all())
                self._show(f"other {robot}", np.append(belief[:2], _ABOVE_GRASS) if known else None)

    def _show_absence(self, time: float) -> None:
        """A player that is not on the pitch has neither observations nor beliefs."""
        with self._client.atomic():
            self._text.content = self._card([("is", "not on the pitch")], time)
            self._shown = {}
            for node in self._nodes.values():
                node.visible = False

    def _show_view(self, row: int) -> str:
        """Draw the view of the player; returns it in words."""
        if self._sight is not None:
            return self._show_eyes(self._sight, row)
        cast = self._cast
        view = sight_of(cast.model, cast.data, self._robot, cast.robots, self._landmarks)
        if view is None:
            self._show("cone", None)
            return "nothing"
        self._show("cone", np.append(view.eye[:2], _ABOVE_GRASS) if self._drawn else None, view.heading)
        sonar = self._sonars.look(cast.model, cast.data, self._robot, row)
        self._show_lines(silent=sonar.silent, echoes=sonar.echoes)
        return self._seen(view) + sonar.words

    def _show_eyes(self, sight: BehaviourSight, row: int) -> str:
        """Draw the view of a player of the behavioural world; returns it in words."""
        view, dots = sight.look(self._robot, row), self._nodes["seen"]
        sonar = NO_SONAR if view is None else view.sonar
        edges = np.zeros((0, 2, 2)) if view is None else view.edges
        self._show_lines(view=edges, silent=sonar.silent, echoes=sonar.echoes)
        if view is None:
            dots.visible = False
            return "nothing"
        dots.visible = self._drawn and bool(len(view.places))
        if dots.visible:
            dots.points, dots.colors = _on_grass(view.places).astype(np.float32), view.colours
        return view.words

    def _show_lines(self, **lines: Floats) -> None:
        """Draws lines (n, 2, 2) on the grass, by the names of their nodes."""
        for name, pieces in lines.items():
            self._nodes[name].visible = self._drawn and bool(len(pieces))
            if self._nodes[name].visible:
                self._nodes[name].points = _on_grass(pieces).astype(np.float32)

    def _draw_rings(self, own: dict[str, float], others: Mapping[str, Floats]) -> None:
        """Draws the uncertainty of beliefs, where it is recorded; that of others grows with the belief's age."""
        circles = []
        if "spread" in own and _knows_place(own):
            circles.append((own["x"], own["y"], _RING_DEVIATIONS * own["spread"]))
        if "spread" in own and _knows_ball(own):
            circles.append((own["ball_x"], own["ball_y"], _RING_DEVIATIONS * own["ball_spread"]))
        circles += [
            (
                float(belief[0]),
                float(belief[1]),
                _RING_DEVIATIONS * (_SEEN_ROBOT_SPREAD + _ROBOT_DRIFT_SPEED * float(belief[2])),
            )
            for belief in others.values()
            if len(belief) > 2 and np.isfinite(belief).all()
        ]
        circles = [(x, y, min(radius, _MAX_RING_RADIUS)) for x, y, radius in circles]
        node = self._nodes["rings"]
        node.visible = self._drawn and bool(circles)
        if node.visible:
            node.points = rings(circles).astype(np.float32)

    def _switch(self, *, on: bool) -> None:
        self._drawn = on

    def _believed(self, row: int) -> tuple[dict[str, float], dict[str, Floats]]:
        """The beliefs of the player about itself and the ball, and about others (place, and age where it is recorded).

        Both are empty if its beliefs are not recorded.
        """
        recording, robot = self._story.recording, self._robot
        if f"{robot}.belief" not in recording.channels:
            return {}, {}
        about = recording.channels[f"{robot}.belief"].labels
        own = dict(zip(about, recording.read(f"{robot}.belief", row, row + 1)[0].tolist(), strict=True))
        labels = recording.channels[f"{robot}.others"].labels
        values = recording.read(f"{robot}.others", row, row + 1)[0]
        width = len({label.rpartition(".")[2] for label in labels})
        others = {labels[i].removesuffix(".x"): values[i : i + width] for i in range(0, len(labels), width)}
        others.pop(robot, None)
        return (own if math.isfinite(own["x"]) else {}), others

    def _place_ghosts(self, true: Floats, own: dict[str, float]) -> None:
        """Places the ghosts of player and ball at their believed places, with lines to the truth."""
        me = np.array([own["x"], own["y"], 0.0]) if self._drawn and _knows_place(own) else None
        ball = np.array([own["ball_x"], own["ball_y"], 0.06]) if self._drawn and _knows_ball(own) else None
        self._show("me", me, own.get("heading", 0.0))
        self._show("ball", ball)
        if ball is not None:
            self._nodes["ball"].color = _MEMORY_COLOUR if own["ball_age"] > _FRESH_BALL_AGE else BALL_COLOUR
        real = thing_position(self._cast.model, self._cast.data, "ball")
        ends = [(a, b) for a, b in ((true, me), (real, ball)) if a is not None and b is not None]
        self._show("errors", np.zeros(3) if ends else None)
        if ends:
            flat, above = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 2 * _ABOVE_GRASS])
            self._nodes["errors"].points = np.array(ends) * flat + above

    def _show(self, name: str, place: Floats | None, heading: float = 0.0) -> None:
        """Move something to a place and a heading, or hide it."""
        shown = None if place is None else (*(round(float(number), 3) for number in place), round(heading, 3))
        before = self._shown.get(name, ())
        if before == shown:
            return
        self._shown[name] = shown
        node = self._nodes[name]
        node.visible = shown is not None
        if shown is None:
            return
        self._cast.emit(Shift(node.name, shown[:3]))
        if before is None or before[3:] != shown[3:]:
            self._cast.emit(Turn(node.name, (math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))))

    # ---- in words

    def _describe(self, sees: str, true: Floats, own: dict[str, float], time: float) -> str:
        rows = [("sees", sees)]
        if own:
            off = math.hypot(own["x"] - true[0], own["y"] - true[1])
            sure = f" (it thinks ± {100 * own['spread']:.0f} cm)" if "spread" in own else ""
            rows.append(("position", f"{100 * off:.0f} cm off{sure}" if _knows_place(own) else "not known yet"))
            rows.append(("ball", self._ball_news(own)))
        else:
            rows.append(("beliefs", "not recorded"))
        lost = self._story.lost_turns(self._robot, time)
        rows += [("lost turns", lost)] if lost else []
        return self._card(rows, time)

    def _card(self, rows: list[tuple[str, str]], time: float) -> str:
        """The card of the player: name, intention, and rows of further facts."""
        return render(
            "player.html.j2",
            robot=self._robot,
            colour=TEAM_COLOURS[self._story.team_of(self._robot)],
            name=self._story.name_of(self._robot),
            intent=self._story.intent(self._robot, time) or "—",
            rows=rows,
        )

    def _seen(self, view: InView) -> str:
        own = self._story.team_of(self._robot)
        teams: dict[str, list[str]] = {"mates": [], "opponents": []}
        for robot in view.robots:
            teams["mates" if self._story.team_of(robot) == own else "opponents"].append(str(number_of(robot)))
        robots = [f"{team} {', '.join(numbers)}" for team, numbers in teams.items() if numbers]
        return sight_in_words(view.landmarks, ball=view.ball, robots=robots) or "nothing"

    def _ball_news(self, own: dict[str, float]) -> str:
        if not _knows_ball(own):
            return "not seen yet"
        real = thing_position(self._cast.model, self._cast.data, "ball")
        off = (
            [] if real is None else [f"{100 * math.hypot(own['ball_x'] - real[0], own['ball_y'] - real[1]):.0f} cm off"]
        )
        return ", ".join([*off, f"seen or heard of {own['ball_age']:.1f} s ago"])


def _knows_place(own: Mapping[str, float]) -> bool:
    """Whether a player has an estimate of its own place; before its first observations it has none."""
    return bool(own) and own.get("spread", 0.0) < _LOST_SPREAD


def _knows_ball(own: Mapping[str, float]) -> bool:
    """Whether a player has seen the ball, or heard of it."""
    return bool(own) and own["ball_age"] < _NEVER_SEEN_AGE


# ---- the page

_PICTURE_PERIOD = 0.25  # seconds between two pictures
_JPEG_QUALITY = 85  # quality of the JPEG files that browsers get, percent
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
        """Updates the pictures to a row of the recording, if they are due."""
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


_BELIEF_PERIOD = 0.1  # seconds between two updates of the chosen player's beliefs
MEASURED_OVER = 2.0  # the speed of a running match is measured over this time, seconds
_REPORT_NAME = "report.html"
_MAX_NAMED_PLAYERS = 5
"""Up to this number of players a side have the name of their team above them; of more only the number is shown."""


class MatchPage(Page):
    """The page of a match in one browser."""

    picks = "Player"

    def _prepare(self) -> None:
        film = self._film
        self._story = MatchStory(film.recording)
        self._sight = BehaviourSight(film.recording) if is_behavioural(film.recording) else None
        self._beliefs: _BeliefOverlay | None = None
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
            self._beliefs = _BeliefOverlay(self._client, self.cast, self._story, landmarks, self._sight)
            if self._sight is not None:
                self._cameras_panel = _CameraPanel(self._client, self._sight)

    def refresh(self, seconds: float) -> None:
        """Advances the time, and shows that moment with the chosen player's beliefs."""
        super().refresh(seconds)
        now = time.monotonic()
        if self._beliefs is None or now - self._believed_at < _BELIEF_PERIOD or not len(self._film.times):
            return
        self._believed_at = now
        row, robot = self._film.row_at(self._playback.time), self.spectator.robot
        self._beliefs.choose(robot)
        self._beliefs.refresh(row, self._playback.time)
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

    # ---- state for the script of the page

    def _update(self, now: float) -> None:
        self._story.refresh()
        if self._story.teams != self._teams:
            self._teams = self._story.teams
            self._name_robots()
        wall, end = self._grown
        if now - wall >= MEASURED_OVER:  # seconds played per second
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
            self._overlay.list_events(match_events(self._story, self._film.start))

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
