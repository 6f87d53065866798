"""A model cut into the pieces that are drawn: one per moving body, and one for all that stands still.

Bodies that are welded to their parent are drawn with it. The pieces form a tree, so that a robot that bends
one knee costs one message. Geoms of group 3 and above are for collisions only and are not drawn (the convention
of MuJoCo's own viewers). Paint (flat geoms that stand still and collide with nothing: lines) is lifted by
two millimetres, so that it never flickers with the carpet.

    tree = body_tree(model)
    tree[0].path                        # "/world"
    positions, turns = local_poses(tree, data.xpos, data.xquat)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.view.stage.meshes import Finish, Mesh, Part, box, geom_finish, geom_mesh, pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutmeg.base.arrays import Floats

_HIDDEN_GROUP = 3
"""Geoms of this group and above are for collisions only."""
_PAINT_THICKNESS = 0.012
"""A geom that stands still, collides with nothing and is at most this high is paint, metres."""
_GHOST_COLOUR = (150, 90, 220)
"""Colour (sRGB) of a robot of another recording that is drawn beside this one."""
_TINT_OPACITY = 0.4
"""Opacity of ghosts and of shapes that are drawn over robots."""
_PAINT_LIFT = 0.002
"""How far paint is lifted, metres."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of the model that moves as one."""

    path: str
    """The path in the tree, e.g. `/world/a:torso/a:head`."""
    body: int
    """The number of its body in the model."""
    parent: int
    """The place of its parent in the list of pieces; -1 for the world."""
    thing: str
    """The thing it belongs to: what stands before the `/` of the body's name; empty for the world."""
    glb: bytes | None
    """Its meshes as a GLB file; None for a body without visible geoms."""
    casts: bool = True
    """Whether it casts shadows; paint does not, or it would shade itself."""


def body_tree(model: mujoco.MjModel, *, ghost: bool = False) -> list[Piece]:
    """The pieces of a model, parents before children; the first is the world.

    A ghost is translucent and has only what moves, below a root of its own: it is drawn beside another model.
    """
    parts: dict[int, list[Part]] = {}
    paint: list[Part] = []
    for geom in visible_geoms(model):
        body = int(model.body_weldid[model.geom_bodyid[geom]])
        if ghost and body == 0:
            continue
        part = geom_part(model, geom)
        if ghost:
            part = _tinted(part.mesh, _GHOST_COLOUR)
        (paint if is_paint(model, geom) else parts.setdefault(body, [])).append(part)
    wanted = _with_ancestors(model, parts)
    pieces: list[Piece] = []
    places: dict[int, int] = {}
    for body in wanted:
        parent = -1 if body == 0 else places[int(model.body_weldid[model.body_parentid[body]])]
        world = "beside" if ghost else "world"
        name = world if body == 0 else mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body-{body}"
        stem = pieces[parent].path if parent >= 0 else ""
        places[body] = len(pieces)
        pieces.append(
            Piece(
                path=f"{stem}/{name.replace('/', ':')}",
                body=body,
                parent=parent,
                thing=name.split("/")[0] if "/" in name else "",
                glb=pack(parts[body]) if body in parts else None,
            )
        )
    if paint:
        pieces.append(Piece(path="/world/paint", body=0, parent=0, thing="", glb=pack(paint), casts=False))
    return pieces


def collision_glbs(
    model: mujoco.MjModel, tree: Sequence[Piece], thing: str, rgb: tuple[int, int, int]
) -> Iterator[tuple[str, bytes]]:
    """The path of each piece of a thing that has shapes that collide, and these shapes as a translucent GLB file."""
    colliding = np.flatnonzero(model.geom_contype | model.geom_conaffinity).tolist()
    for piece in tree:
        geoms = [g for g in colliding if piece.thing == thing and model.body_weldid[model.geom_bodyid[g]] == piece.body]
        if geoms:
            yield piece.path, pack([_tinted(geom_mesh(model, g).moved(*_in_piece(model, g)), rgb) for g in geoms])


def inertia_glbs(
    model: mujoco.MjModel, tree: Sequence[Piece], thing: str, rgb: tuple[int, int, int]
) -> Iterator[tuple[str, bytes]]:
    """The path of each piece of a thing, and a box of even density that has the inertia of its body."""
    for piece in tree:
        mass = float(model.body_mass[piece.body])
        if piece.thing == thing and mass > 0:
            squares = (np.sum(model.body_inertia[piece.body]) - 2 * model.body_inertia[piece.body]) * 1.5 / mass
            mesh = box(np.sqrt(np.maximum(squares, 1e-8)))
            placed = mesh.moved(_matrix(model.body_iquat[piece.body]), np.array(model.body_ipos[piece.body]))
            yield piece.path, pack([_tinted(placed, rgb)])


def _tinted(mesh: Mesh, rgb: tuple[int, int, int]) -> Part:
    red, green, blue = (value / 255 for value in rgb)
    return Part(mesh=mesh, finish=Finish(rgba=(red, green, blue, _TINT_OPACITY)))


def visible_geoms(model: mujoco.MjModel) -> list[int]:
    """Numbers of the geoms that are drawn."""
    drawn = np.flatnonzero(model.geom_group < _HIDDEN_GROUP).tolist()
    return [geom for geom in drawn if geom_finish(model, geom).rgba[3] > 0.004]


def is_paint(model: mujoco.MjModel, geom: int) -> bool:
    """Whether a geom is a flat marking on the ground."""
    still = model.body_weldid[model.geom_bodyid[geom]] == 0
    collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
    if not still or collides or model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
        return False
    low, high = geom_bounds(model, geom)
    return bool(high[2] - low[2] <= _PAINT_THICKNESS)


def geom_bounds(model: mujoco.MjModel, geom: int) -> tuple[Floats, Floats]:
    """Lowest and highest corner (3,) of a geom in the frame of its piece (the world, if it stands still)."""
    turn, place = _in_piece(model, geom)
    centre, half = np.asarray(model.geom_aabb[geom][:3]), np.asarray(model.geom_aabb[geom][3:])
    middle, reach = place + turn @ centre, np.abs(turn) @ half
    return middle - reach, middle + reach


def local_poses(tree: Sequence[Piece], positions: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Poses of pieces in their parents, from the world poses of all bodies.

    Args:
        tree: the pieces.
        positions: world positions (bodies, 3).
        turns: world quaternions (bodies, 4), w first.

    Returns:
        Positions (pieces, 3) and quaternions (pieces, 4) with w >= 0.
    """
    bodies = np.array([p.body for p in tree])
    parents = np.array([tree[p.parent].body if p.parent >= 0 else 0 for p in tree])
    back = turns[parents] * [1.0, -1.0, -1.0, -1.0]
    local = _rotate(back, positions[bodies] - positions[parents])
    turned = _multiply(back, turns[bodies])
    return local, turned * np.where(turned[:, :1] < 0, -1.0, 1.0)


def geom_part(model: mujoco.MjModel, geom: int) -> Part:
    """The mesh and finish of a geom, in the frame of the piece it is drawn with."""
    turn, place = _in_piece(model, geom)
    if is_paint(model, geom):
        place = place + np.array([0.0, 0.0, _PAINT_LIFT])
    finish = geom_finish(model, geom)
    if model.geom_matid[geom] < 0 and model.body_weldid[model.geom_bodyid[geom]] == 0:
        finish = replace(finish, roughness=1.0)  # carpet does not shine
    return Part(mesh=geom_mesh(model, geom).moved(turn, place), finish=finish)


def _in_piece(model: mujoco.MjModel, geom: int) -> tuple[Floats, Floats]:
    """Rotation (3, 3) and position (3,) of a geom in the body it is drawn with."""
    turn, place = _matrix(model.geom_quat[geom]), np.array(model.geom_pos[geom])
    body = int(model.geom_bodyid[geom])
    while body != model.body_weldid[body]:
        step = _matrix(model.body_quat[body])
        turn, place = step @ turn, step @ place + model.body_pos[body]
        body = int(model.body_parentid[body])
    return turn, place


def _with_ancestors(model: mujoco.MjModel, parts: dict[int, list[Part]]) -> list[int]:
    """The drawn bodies and all they hang on, parents first (MuJoCo numbers parents before children)."""
    wanted = {0}
    for body in parts:
        while body not in wanted:
            wanted.add(body)
            body = int(model.body_weldid[model.body_parentid[body]])  # noqa: PLW2901 (walks up the tree)
    return sorted(wanted)


def _matrix(quaternion: Any) -> Floats:  # noqa: ANN401
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, dtype=np.float64))
    return matrix.reshape(3, 3)


def _rotate(q: Floats, v: Floats) -> Floats:
    """Vectors (n, 3) turned by quaternions (n, 4)."""
    twice = 2.0 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * twice + np.cross(q[:, 1:], twice)


def _multiply(a: Floats, b: Floats) -> Floats:
    """Products (n, 4) of quaternions (n, 4)."""
    w = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w, v], axis=1)
