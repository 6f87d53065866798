"""The observation, the beliefs and the intention of a chosen player, drawn over the ground truth for one browser.

    overlay = BeliefOverlay(client, cast, story, landmarks)
    overlay.choose("left3")
    overlay.refresh(row, time)           # a few times a second, after the cast has been moved

The view cone lies on the grass. A ghost stands at the believed pose of the player; a yellow net and discs are the
believed places of the ball and of the other players. Lines lead from the truth to the belief, and light blue rings are
drawn at two standard deviations. All of it comes from the recording; for a player without recorded beliefs (an agent
over the network) only the view is shown. In the behavioural world the view is the ground that the two cameras show,
with dots where objects are observed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.worlds.physical.vision import VIEW_ANGLE
from nutmeg.view.html import render
from nutmeg.view.match_sight import sight_of
from nutmeg.view.match_story import TEAM_COLOURS, number_of
from nutmeg.view.stage.cameras import thing_position
from nutmeg.view.stage.film import UNDERGROUND
from nutmeg.view.stage.stage import Shift, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import viser

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.view.match_sight import BehaviourSight, InView
    from nutmeg.view.match_story import MatchStory
    from nutmeg.view.stage.stage import Cast


_CONE_REACH = 6.0
"""Length of the drawn view cone, metres; the league's has no end."""
_CONE_COLOUR, _EDGE_COLOUR = (255, 230, 120), (255, 240, 170)
BALL_COLOUR, _MEMORY_COLOUR, _ERROR_COLOUR, _RING_COLOUR = (255, 214, 0), (170, 165, 140), (40, 40, 40), (120, 225, 255)
_ABOVE_GRASS = 0.012
"""Height of what lies on the grass, metres: it must not flicker with the lines of the pitch."""
_GHOST_HEIGHT, _GHOST_RADIUS = 0.5, 0.13
"""Size of the ghost of the player, metres."""
_GHOST_SIZES = {False: (0.1, 0.24), True: (0.045, 0.15)}
"""Radii of the believed ball and of the others' discs, metres: on the league's pitch, and on a small one."""
_RING_SEGMENTS = 32
"""Pieces of a ring."""


def ghosts(
    scene: viser.SceneApi, robot: str, robots: tuple[str, ...], story: MatchStory, *, small: bool
) -> dict[str, Any]:
    """Everything that is drawn for a player, hidden at first."""
    colours = [_rgb(colour) for colour in TEAM_COLOURS]
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


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


_FRESH_BALL_AGE = 1.0
"""A ball that was not observed for this time is drawn as a memory, seconds."""
_RING_DEVIATIONS, _MAX_RING_RADIUS = 2.0, 1.5
"""Rings are drawn at so many standard deviations, and at most so wide, metres."""
_SEEN_ROBOT_SPREAD, _ROBOT_DRIFT_SPEED = 0.1, 0.3
"""Uncertainty of a robot that has just been observed [m], and its growth with time [m/s]."""


_LOST_SPREAD = 3.0
"""A player that is less sure than this of its own place does not know it yet, metres."""
_NEVER_SEEN_AGE = 90.0
"""A ball that was not observed for this time counts as not observed at all, seconds."""


class BeliefOverlay:
    """What one browser shows of the chosen player."""

    def __init__(
        self,
        client: viser.ClientHandle,
        cast: Cast,
        story: MatchStory,
        landmarks: Floats,
        sight: BehaviourSight | None = None,
    ) -> None:
        self._client, self._cast, self._story, self._landmarks = client, cast, story, landmarks
        self._sight = sight
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
        return self._seen(view)

    def _show_eyes(self, sight: BehaviourSight, row: int) -> str:
        """The same in the behavioural world."""
        view, edges, dots = sight.look(self._robot, row), self._nodes["view"], self._nodes["seen"]
        if view is None:
            edges.visible = dots.visible = False
            return "nothing"
        edges.visible, dots.visible = self._drawn and bool(len(view.edges)), self._drawn and bool(len(view.places))
        if edges.visible:
            edges.points = _on_grass(view.edges).astype(np.float32)
        if dots.visible:
            dots.points, dots.colors = _on_grass(view.places).astype(np.float32), view.colours
        return view.words

    def _draw_rings(self, own: dict[str, float], others: Mapping[str, Floats]) -> None:
        """Draw how uncertain the beliefs are, where that is recorded; for others it grows with its age."""
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

        Both are empty if it does not say.
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
        """Put the ghosts of player and ball where the player believes them, with lines to the truth."""
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
        mates = [str(number_of(r)) for r in view.robots if self._story.team_of(r) == own]
        foes = [str(number_of(r)) for r in view.robots if self._story.team_of(r) != own]
        words = ["the ball"] if view.ball else []
        words += [f"mates {', '.join(mates)}"] if mates else []
        words += [f"opponents {', '.join(foes)}"] if foes else []
        words += [f"{view.landmarks} landmark{'s' if view.landmarks != 1 else ''}"] if view.landmarks else []
        return "; ".join(words) or "nothing"

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
