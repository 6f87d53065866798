"""What a chosen player sees, believes and wants, drawn over the truth for one browser.

    mind = MindView(client, stage, story, landmarks)
    mind.choose("left3")
    mind.refresh(row, time)              # a few times a second, after the stage has been moved

Its view cone lies on the grass; where it believes itself stands a ghost that looks where it believes to look; a yellow
ball and discs are where it believes the ball and the others. Lines lead from the truth to the belief. All of it comes
from the recording; of a player that tells nothing of its beliefs (an agent over the network) only the view is shown.
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.match_recording import BELIEF
from nutmeg.match.seeing import OPENING
from nutmeg.view.match_sight import sight_of
from nutmeg.view.match_story import COLOURS, number_of
from nutmeg.view.viewpoints import thing_position

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.view.match_sight import InView
    from nutmeg.view.match_story import MatchStory
    from nutmeg.view.stage import Stage

CONE_REACH = 6.0
"""How far the cone is drawn, metres; it has no end."""
CONE, EDGE, BALL, LINE = (255, 230, 120), (255, 240, 170), (255, 214, 0), (40, 40, 40)
ABOVE_GRASS = 0.012
GHOST_HEIGHT, GHOST_RADIUS = 0.5, 0.13
NEWS = 1.0
"""A ball of which nothing was known for so long is drawn as a memory, seconds."""


class MindView:
    """The head of a player, as one browser sees it."""

    def __init__(self, client: Any, stage: Stage, story: MatchStory, landmarks: NDArray[np.float64]) -> None:  # noqa: ANN401
        self._client, self._stage, self._story, self._landmarks = client, stage, story, landmarks
        self._robot = ""
        self._drawn = True
        self._nodes: dict[str, Any] = {}
        self._text = client.gui.add_html("")
        show = client.gui.add_checkbox("Draw beliefs", initial_value=True, hint="Over the truth, for you alone.")
        show.on_update(lambda event: self._switch(on=bool(event.target.value)))

    def choose(self, robot: str) -> None:
        """Another player; its ghosts have its team's colour."""
        if robot == self._robot:
            return
        self._robot = robot
        for node in self._nodes.values():
            node.remove()
        self._nodes = _ghosts(self._client.scene, robot, self._stage.robots, self._story)

    def refresh(self, row: int, time: float) -> None:
        """Bring everything up to a row of the recording and its time."""
        stage = self._stage
        view = sight_of(stage.model, stage.data, self._robot, stage.robots, self._landmarks)
        true = thing_position(stage.model, stage.data, self._robot)
        if view is None or true is None:
            return
        own, others = self._believed(row)
        self._text.content = self._describe(view, true, own, time)
        with self._client.atomic():
            self._show("cone", np.append(view.eye[:2], ABOVE_GRASS) if self._drawn else None, view.heading)
            self._place_ghosts(true, own)
            for robot, place in others.items():
                known = self._drawn and bool(np.isfinite(place).all())
                self._show(f"other {robot}", np.append(place, ABOVE_GRASS) if known else None)

    def _switch(self, *, on: bool) -> None:
        self._drawn = on

    def _believed(self, row: int) -> tuple[dict[str, float], dict[str, NDArray[np.float64]]]:
        """What the player believes of itself and the ball, and of the others' places; empty if it does not say."""
        recording, robot = self._story.recording, self._robot
        if f"{robot}.belief" not in recording.channels:
            return {}, {}
        own = dict(zip(BELIEF, recording.read(f"{robot}.belief", row, row + 1)[0].tolist(), strict=True))
        labels = recording.channels[f"{robot}.others"].labels
        values = recording.read(f"{robot}.others", row, row + 1)[0]
        others = {labels[i].removesuffix(".x"): values[i : i + 2] for i in range(0, len(labels), 2)}
        others.pop(robot, None)
        return (own if math.isfinite(own["x"]) else {}), others

    def _place_ghosts(self, true: NDArray[np.float64], own: dict[str, float]) -> None:
        if not (own and self._drawn):
            for name in ("me", "ball", "errors"):
                self._show(name, None)
            return
        stage = self._stage
        me, ball = np.array([own["x"], own["y"], 0.0]), np.array([own["ball_x"], own["ball_y"], 0.06])
        real = thing_position(stage.model, stage.data, "ball")
        self._show("me", me, own["heading"])
        remembered = own["ball_age"] > NEWS
        self._show("ball", ball)
        self._nodes["ball"].opacity = 0.3 if remembered else 0.75
        flat = np.array([1.0, 1.0, 0.0])
        ends = [[true * flat, me], [(real if real is not None else ball) * flat, ball * flat]]
        self._nodes["errors"].points = np.array(ends) + np.array([0.0, 0.0, 2 * ABOVE_GRASS])
        self._show("errors", np.zeros(3))

    def _show(self, name: str, place: NDArray[np.float64] | None, heading: float = 0.0) -> None:
        """Move something to a place and a heading, or hide it."""
        node = self._nodes[name]
        node.visible = place is not None
        if place is not None:
            node.position = np.round(place, 3)
            node.wxyz = np.round([math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)], 4)

    # ---- in words

    def _describe(self, view: InView, true: NDArray[np.float64], own: dict[str, float], time: float) -> str:
        rows = [("sees", self._seen(view))]
        if own:
            off = math.hypot(own["x"] - true[0], own["y"] - true[1])
            rows.append(("itself", f"{100 * off:.0f} cm off"))
            rows.append(("ball", self._ball_news(own)))
        else:
            rows.append(("believes", "not told"))
        intent = self._story.intent(self._robot, time) or "—"
        team = COLOURS[self._story.team_of(self._robot)]
        name = html.escape(self._story.name_of(self._robot))
        cells = "".join(
            f'<tr><td style="opacity:.65;padding:1px 8px 1px 0;vertical-align:top">{key}</td>'
            f'<td style="padding:1px 0">{html.escape(text)}</td></tr>'
            for key, text in rows
        )
        return (
            f'<div data-nutmeg-mind="{self._robot}" style="margin:2px 0.8em 6px;font-size:12.5px;line-height:1.35">'
            f'<div style="border-left:4px solid {team};padding-left:8px;margin-bottom:4px"><b>{name}</b><br>'
            f"<span data-nutmeg-intent>{html.escape(intent)}</span></div><table>{cells}</table></div>"
        )

    def _seen(self, view: InView) -> str:
        own = self._story.team_of(self._robot)
        mates = [str(number_of(r)) for r in view.robots if self._story.team_of(r) == own]
        foes = [str(number_of(r)) for r in view.robots if self._story.team_of(r) != own]
        words = ["the ball"] if view.ball else []
        words += [f"own {', '.join(mates)}"] if mates else []
        words += [f"opponents {', '.join(foes)}"] if foes else []
        words += [f"{view.landmarks} landmark{'s' if view.landmarks != 1 else ''}"] if view.landmarks else []
        return "; ".join(words) or "nothing it knows"

    def _ball_news(self, own: dict[str, float]) -> str:
        real = thing_position(self._stage.model, self._stage.data, "ball")
        off = "" if real is None else f"{100 * math.hypot(own['ball_x'] - real[0], own['ball_y'] - real[1]):.0f} cm off"
        age = own["ball_age"]
        return f"{off}, {f'news {age:.1f} s old' if age < 90 else 'never seen'}"


def _ghosts(scene: Any, robot: str, robots: tuple[str, ...], story: MatchStory) -> dict[str, Any]:  # noqa: ANN401
    """Everything that is drawn for a player, hidden at first."""
    colours = [_rgb(colour) for colour in COLOURS]
    mine = colours[story.team_of(robot)]
    vertices, faces = _sector(math.radians(OPENING / 2), CONE_REACH)
    plain: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}
    nodes = {
        "cone": scene.add_frame("/mind/cone", show_axes=False),
        "me": scene.add_frame("/mind/me", show_axes=False),
        "ball": scene.add_icosphere("/mind/ball", radius=0.1, color=BALL, opacity=0.75, **plain),
        "errors": scene.add_line_segments("/mind/errors", np.zeros((2, 2, 3)), LINE, line_width=2.0),
    }
    scene.add_mesh_simple("/mind/cone/floor", vertices, faces, color=CONE, opacity=0.3, side="double", **plain)
    scene.add_line_segments("/mind/cone/edge", _edge(vertices), EDGE, line_width=2.0)
    scene.add_cylinder(
        "/mind/me/body", radius=GHOST_RADIUS, height=GHOST_HEIGHT, color=mine, opacity=0.35,
        position=(0.0, 0.0, GHOST_HEIGHT / 2), **plain,
    )  # fmt: skip
    arrow = np.array([[0.55, 0.0, ABOVE_GRASS], [0.15, 0.14, ABOVE_GRASS], [0.15, -0.14, ABOVE_GRASS]])
    scene.add_mesh_simple(
        "/mind/me/nose", arrow, np.array([[0, 1, 2]]), color=mine, opacity=0.8, side="double", **plain
    )
    for other in robots:
        if other == robot:
            continue
        colour = colours[story.team_of(other)]
        node = nodes[f"other {other}"] = scene.add_frame(f"/mind/{other}", show_axes=False)
        scene.add_cylinder(f"/mind/{other}/disc", radius=0.24, height=0.012, color=colour, opacity=0.45, **plain)
        node.visible = False
    for node in nodes.values():
        node.visible = False
    return nodes


def _sector(half: float, reach: float, parts: int = 24) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Corners and triangles of a flat sector about +x."""
    angle = np.linspace(-half, half, parts + 1)
    rim = np.stack([reach * np.cos(angle), reach * np.sin(angle), np.zeros(parts + 1)], axis=1)
    first = np.arange(1, parts + 1)
    faces = np.stack([np.zeros(parts, np.int64), first, first + 1], axis=1)
    return np.concatenate([np.zeros((1, 3)), rim]), faces


def _edge(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2, 3) the lines around a sector with these corners, its tip first."""
    around = np.concatenate([corners, corners[:1]])
    return np.stack([around[:-1], around[1:]], axis=1)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
