"""What is drawn over the truth for one browser: a ghost of the chosen player, of the ball and the others, and rings.

    nodes = ghosts(client.scene, "left3", robots, story, small=True)
    nodes["rings"].points = rings([(x, y, radius)])         # (n, 2, 3)

Rings are drawn around a believed place at two standard deviations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.seeing import OPENING
from nutmeg.view.match_story import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.view.match_story import MatchStory

CONE_REACH = 6.0
"""How far the league's cone is drawn, metres; it has no end."""
CONE, EDGE, BALL, LINE, RING = (255, 230, 120), (255, 240, 170), (255, 214, 0), (40, 40, 40), (120, 225, 255)
ABOVE_GRASS = 0.012
GHOST_HEIGHT, GHOST_RADIUS = 0.5, 0.13
SIZES = {False: (0.1, 0.24), True: (0.045, 0.15)}
"""Radii of the believed ball and of the others' discs, metres: on the league's pitch, and on a small one."""
PARTS = 32
"""Pieces of a ring."""


def ghosts(scene: Any, robot: str, robots: tuple[str, ...], story: MatchStory, *, small: bool) -> dict[str, Any]:  # noqa: ANN401
    """Everything that is drawn for a player, hidden at first."""
    colours = [_rgb(colour) for colour in COLOURS]
    mine, (ball_radius, disc_radius) = colours[story.team_of(robot)], SIZES[small]
    plain: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}
    nothing = np.zeros((1, 2, 3))
    nodes = {
        "cone": scene.add_frame("/mind/cone", show_axes=False),
        "me": scene.add_frame("/mind/me", show_axes=False),
        "ball": scene.add_icosphere("/mind/ball", radius=ball_radius, color=BALL, opacity=0.75, **plain),
        "errors": scene.add_line_segments("/mind/errors", np.zeros((2, 2, 3)), LINE, thickness=0.012),
        "rings": scene.add_line_segments("/mind/rings", nothing, RING, thickness=0.012),
        "view": scene.add_line_segments("/mind/view", nothing, EDGE, thickness=0.015),
        "seen": scene.add_point_cloud(
            "/mind/seen", np.zeros((1, 3)), RING, point_size=0.06, point_shape="circle", precision="float32"
        ),
    }
    if not small:
        vertices, faces = _sector(math.radians(OPENING / 2), CONE_REACH)
        scene.add_mesh_simple("/mind/cone/floor", vertices, faces, color=CONE, opacity=0.3, side="double", **plain)
        scene.add_line_segments("/mind/cone/edge", _edge(vertices), EDGE, thickness=0.02)
    scene.add_cylinder(
        "/mind/me/body", radius=GHOST_RADIUS, height=GHOST_HEIGHT, color=mine, opacity=0.35,
        position=(0.0, 0.0, GHOST_HEIGHT / 2), **plain,
    )  # fmt: skip
    reach = 0.35 if small else 0.55
    arrow = np.array([[reach, 0.0, ABOVE_GRASS], [0.15, 0.14, ABOVE_GRASS], [0.15, -0.14, ABOVE_GRASS]])
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
    angle = np.linspace(0.0, math.tau, PARTS + 1)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = np.full((len(circles), PARTS, 2, 3), 2 * ABOVE_GRASS)
    for lines, (x, y, radius) in zip(found, circles, strict=True):
        points = np.array([x, y]) + radius * unit
        lines[:, 0, :2], lines[:, 1, :2] = points[:-1], points[1:]
    return found.reshape(-1, 2, 3)


def on_grass(places: Floats) -> Floats:
    """(..., 3) places (..., 2) just above the ground."""
    return np.concatenate([places, np.full((*places.shape[:-1], 1), 2 * ABOVE_GRASS)], axis=-1)


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
