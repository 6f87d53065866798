"""A model cut into the pieces that are drawn, and their coloured triangles as binary glTF files for browsers.

There is one piece for each moving body, and one for everything static. Bodies that are welded to their parent are
drawn with it. The pieces form a tree, so that a robot that bends one knee costs one message. Geoms of group 3 and above
are for collisions only and are not drawn (the convention of MuJoCo's own viewers). Paint (flat geoms that stand still
and collide with nothing: lines) is lifted by two millimetres, so that it never flickers with the carpet.

    tree = body_tree(model)
    tree[0].path                        # "/world"
    positions, turns = local_poses(tree, data.xpos, data.xquat)

    part = Part(mesh=geom_mesh(model, 3), finish=geom_finish(model, 3))
    data = pack([part])                 # one GLB file for all parts of a body

Normals shade round things round and keep edges sharp. Colours are MuJoCo's (sRGB, 0 to 1): a material's colour holds
unless the geom's rgba was set away from the default grey (XML reference, `geom rgba`), a texture is drawn as its mean
colour, and roughness follows from the material's `shininess`.

The GLB file (Khronos glTF 2.0, section 4.4) is written by hand: trimesh's exporter takes 3.4 times as long (0.10 s
instead of 0.03 s for a Nao, on every page that is opened), needs 1.5 s to be imported, and rounds colours in linear
light to 8 bits, which makes dark ones equal.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from nutmeg.base.angles import rotated
from nutmeg.base.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats


_SEGMENTS = 24  # pieces around a round thing
PLANE_REACH = 30.0  # half-size of an endless plane, metres
PLANE_THICKNESS = 0.02  # thickness of a drawn plane, metres; thin things shimmer where other geoms lie on them
_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)  # the colour of a geom that sets none
_FLOAT, _UINT32, _UINT16 = 5126, 5125, 5123  # glTF component types
_CORNERS, _INDICES = 34962, 34963  # glTF buffer targets


class Mesh(NamedTuple):
    """Triangles. Corners with different normals are separate points: merging them would smooth edges away."""

    points: Floats
    """Shape (n, 3), metres."""
    faces: NDArray[np.integer[Any]]
    """Shape (m, 3), numbers of points, counter-clockwise seen from outside."""
    normals: Floats
    """Shape (n, 3), unit vectors."""

    def moved(self, turn: Floats, place: Floats) -> Mesh:
        """The mesh turned by a matrix (3, 3), then moved by `place` (3,)."""
        return Mesh(self.points @ turn.T + place, self.faces, self.normals @ turn.T)


@dataclass(frozen=True, kw_only=True)
class Finish:
    """Colour and gloss of the surface of a geom."""

    rgba: tuple[float, float, float, float]
    """Colour (sRGB) and opacity, 0 to 1."""
    roughness: float = 0.75
    """0 is a mirror, 1 is chalk."""

    @property
    def transparent(self) -> bool:
        """Whether something behind it shows through."""
        return self.rgba[3] < 0.995


@dataclass(frozen=True, kw_only=True)
class Part:
    """One mesh of a body, in the frame of the body."""

    mesh: Mesh
    finish: Finish


# ---- shapes of geoms


def geom_mesh(model: mujoco.MjModel, geom: int, segments: int = _SEGMENTS) -> Mesh:
    """The mesh of a geom of a compiled model, in the geom's frame."""
    types, kind = mujoco.mjtGeom, int(model.geom_type[geom])
    if kind == types.mjGEOM_HFIELD:
        return _height_field(model, int(model.geom_dataid[geom]))
    if kind in (types.mjGEOM_MESH, types.mjGEOM_SDF):
        return _stored_mesh(model, int(model.geom_dataid[geom]))
    mesh = _simple_shape(kind, tuple(model.geom_size[geom].tolist()), segments)
    if mesh is None:
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or f"number {geom}"
        raise ModelError(f"geom {name!r} has the type {types(kind).name}, which cannot be drawn.")
    return mesh


@lru_cache(maxsize=1024)  # the robots of a match have the same shapes
def _simple_shape(kind: int, sizes: tuple[float, ...], segments: int) -> Mesh | None:
    """The mesh of a geom that is described by its size alone; None if it is not."""
    types, size = mujoco.mjtGeom, np.array(sizes)
    if kind == types.mjGEOM_SPHERE:
        return ellipsoid(np.full(3, size[0]), segments)
    if kind == types.mjGEOM_ELLIPSOID:
        return ellipsoid(size, segments)
    if kind == types.mjGEOM_CAPSULE:
        return capsule(size[0], size[1], segments)
    if kind == types.mjGEOM_CYLINDER:
        return cylinder(size[0], size[1], segments)
    if kind == types.mjGEOM_BOX:
        return box(size)
    return plane(size) if kind == types.mjGEOM_PLANE else None


def box(half: Floats) -> Mesh:
    """A box of half-extents (3,), with flat faces."""
    corners: list[Floats] = []
    normals: list[Floats] = []
    faces: list[list[int]] = []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for sign in (1.0, -1.0):
            out = sign * np.eye(3)[axis]
            start = len(corners)
            corners += [out - u * sign - v, out + u * sign - v, out + u * sign + v, out - u * sign + v]
            normals += [out] * 4
            faces += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return Mesh(np.array(corners) * half, np.array(faces), np.array(normals))


def ellipsoid(radii: Floats, segments: int = _SEGMENTS) -> Mesh:
    """An ellipsoid of the given radii (3,); equal radii make a sphere."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)
    profile = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ball = _revolve([(profile, profile)], segments)
    normals = ball.normals / radii
    return Mesh(ball.points * radii, ball.faces, normals / np.linalg.norm(normals, axis=1, keepdims=True))


def capsule(radius: float, half_length: float, segments: int = _SEGMENTS) -> Mesh:
    """A cylinder along z with two half-balls; `half_length` is that of the cylinder alone."""
    angle = np.linspace(0.0, np.pi / 2, segments // 4 + 1)
    cap = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    normals = np.concatenate([cap[::-1] * [1.0, -1.0], cap])
    shift = np.repeat([-half_length, half_length], len(cap))
    points = normals * radius + np.stack([np.zeros_like(shift), shift], axis=1)
    return _revolve([(points, normals)], segments)


def cylinder(radius: float, half_length: float, segments: int = _SEGMENTS) -> Mesh:
    """A cylinder along z with sharp rims."""
    r, h = radius, half_length
    bottom = (np.array([[0.0, -h], [r, -h]]), np.array([[0.0, -1.0], [0.0, -1.0]]))
    side = (np.array([[r, -h], [r, h]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    top = (np.array([[r, h], [0.0, h]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    return _revolve([bottom, side, top], segments)


def plane(size: Floats) -> Mesh:
    """A thin box whose top is the plane; a half-size of 0 is endless in MuJoCo, and wide here."""
    half = np.where(size[:2] > 0, size[:2], PLANE_REACH)
    slab = box(np.array([half[0], half[1], PLANE_THICKNESS / 2]))
    return slab.moved(np.eye(3), np.array([0.0, 0.0, -PLANE_THICKNESS / 2]))


def _height_field(model: mujoco.MjModel, number: int) -> Mesh:
    """The upper surface of a height field."""
    rows, columns = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
    x_half, y_half, top, _ = model.hfield_size[number]
    start = int(model.hfield_adr[number])
    heights = np.asarray(model.hfield_data[start : start + rows * columns], dtype=np.float64).reshape(rows, columns)
    x, y = np.linspace(-x_half, x_half, columns), np.linspace(-y_half, y_half, rows)
    along_y, along_x = np.gradient(top * heights, y, x)
    normals = np.stack([-along_x, -along_y, np.ones_like(heights)], axis=2).reshape(-1, 3)
    points = np.stack([*np.meshgrid(x, y), top * heights], axis=2).reshape(-1, 3)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    first = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    second = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    faces = np.concatenate([first, second])
    return Mesh(points, faces, normals / np.linalg.norm(normals, axis=1, keepdims=True))


def _stored_mesh(model: mujoco.MjModel, number: int) -> Mesh:
    """A mesh of the model, with the normals MuJoCo stores."""
    vertex, normal = int(model.mesh_vertadr[number]), int(model.mesh_normaladr[number])
    face, count = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
    corners, directions = (np.array(array[face : face + count]) for array in (model.mesh_face, model.mesh_facenormal))
    pairs, index = _distinct_pairs(corners.tobytes(), directions.tobytes())
    points = np.asarray(model.mesh_vert, dtype=np.float64)[vertex + pairs[:, 0]]
    normals = np.asarray(model.mesh_normal, dtype=np.float64)[normal + pairs[:, 1]]
    return Mesh(points, index.reshape(-1, 3), normals)


@lru_cache(maxsize=256)  # the robots of a match have the same meshes
def _distinct_pairs(corners: bytes, directions: bytes) -> tuple[NDArray[Any], NDArray[Any]]:
    """The distinct pairs (n, 2) of two lists of int32, and which of them is at each place of the lists."""
    both = np.stack([np.frombuffer(part, np.int32) for part in (corners, directions)], axis=1)
    pairs, index = np.unique(both, axis=0, return_inverse=True)
    return pairs, index


def _revolve(strips: list[tuple[Floats, Floats]], segments: int) -> Mesh:
    """Surface of revolution about z. Each strip has points (n, 2) as (radius, z) from low to high, and normals."""
    turn = np.linspace(0.0, 2 * np.pi, segments + 1)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points, normals, faces, start = [], [], [], 0
    for profile, directions in strips:
        count = len(profile)
        points.append(_swept(profile, around))
        normals.append(_swept(directions, around))
        corner = (start + np.arange(count - 1)[:, None] * (segments + 1) + np.arange(segments)).ravel()
        above = corner + segments + 1
        faces.append(np.stack([corner, corner + 1, above + 1], axis=1))
        faces.append(np.stack([corner, above + 1, above], axis=1))
        start += count * (segments + 1)
    mesh = Mesh(np.concatenate(points), np.concatenate(faces), np.concatenate(normals))
    # At a pole two corners of every other face coincide, up to rounding.
    a, b, c = (mesh.points[mesh.faces[:, k]] for k in range(3))
    return mesh._replace(faces=mesh.faces[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 2e-14])


def _swept(profile: Floats, around: Floats) -> Floats:
    """Points (n * m, 3) of a profile (n, 2) at directions (m, 2)."""
    flat = profile[:, :1, None] * around
    height = np.broadcast_to(profile[:, 1, None, None], (*flat.shape[:2], 1))
    return np.concatenate([flat, height], axis=2).reshape(-1, 3)


# ---- colours


def geom_finish(model: mujoco.MjModel, geom: int) -> Finish:
    """The finish of a geom of a compiled model."""
    material = int(model.geom_matid[geom])
    own = np.asarray(model.geom_rgba[geom], dtype=np.float64)
    if material < 0:
        return Finish(rgba=_rgba(own))
    colour = np.array(model.mat_rgba[material], dtype=np.float64)
    if not np.allclose(own, _DEFAULT_RGBA):
        colour = own
    texture = int(np.asarray(model.mat_texid[material])[mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if texture >= 0:
        colour[:3] *= mean_colour(model, texture)
    return Finish(rgba=_rgba(colour), roughness=float(np.clip(1.0 - 0.75 * model.mat_shininess[material], 0.15, 1)))


def mean_colour(model: mujoco.MjModel, texture: int) -> Floats:
    """The mean colour (3,) of a texture."""
    channels = int(model.tex_nchannel[texture])
    start = int(model.tex_adr[texture])
    count = int(model.tex_height[texture]) * int(model.tex_width[texture]) * channels
    pixels = np.asarray(model.tex_data[start : start + count]).reshape(-1, channels)
    rgb = pixels[:, :3] if channels >= 3 else np.repeat(pixels[:, :1], 3, axis=1)
    mean: Floats = rgb.mean(axis=0) / 255.0
    return mean


def linear_light(srgb: Floats) -> Floats:
    """Light intensity of sRGB values (IEC 61966-2-1), elementwise."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def rgb_of(colour: str) -> tuple[int, int, int]:
    """The numbers of a colour that is written as `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _rgba(rgba: Floats) -> tuple[float, float, float, float]:
    r, g, b, a = np.clip(rgba, 0.0, 1.0).tolist()
    return r, g, b, a


# ---- binary glTF


def pack(parts: Iterable[Part]) -> bytes:
    """The GLB file of all parts.

    Colours are per corner, so that a body of many parts is one thing to draw; only transparency and gloss need a
    primitive of their own.
    """
    buffer = _Buffer()
    primitives: list[dict[str, Any]] = []
    materials: list[dict[str, Any]] = []
    for (transparent, roughness), group in groupby(sorted(parts, key=_shade), key=_shade):
        primitives.append(_primitive(buffer, list(group), len(materials)))
        look = {"baseColorFactor": [1, 1, 1, 1], "metallicFactor": 0.0, "roughnessFactor": roughness}
        materials.append({"pbrMetallicRoughness": look, "alphaMode": "BLEND" if transparent else "OPAQUE"})
    document = {
        "asset": {"version": "2.0", "generator": "nutmeg"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "materials": materials,
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.data)}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    header = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(buffer.data))
    chunks = (struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(buffer.data), b"BIN\0"))
    return b"".join([header, *chunks, bytes(buffer.data)])


def _shade(part: Part) -> tuple[bool, float]:
    """Transparency and gloss, which decide about the primitive; gloss in steps, to keep primitives few."""
    return part.finish.transparent, round(part.finish.roughness * 4) / 4


def _primitive(buffer: _Buffer, parts: Sequence[Part], material: int) -> dict[str, Any]:
    points = np.concatenate([p.mesh.points for p in parts]).astype("<f4")
    normals = np.concatenate([p.mesh.normals for p in parts]).astype("<f4")
    starts = np.cumsum([0] + [len(p.mesh.points) for p in parts[:-1]])
    faces = [p.mesh.faces + s for p, s in zip(parts, starts, strict=True)]
    indices = np.concatenate(faces).astype("<u4").reshape(-1)
    return {
        "attributes": {
            "POSITION": buffer.add(points, "VEC3", _FLOAT, bounds=True),
            "NORMAL": buffer.add(normals, "VEC3", _FLOAT),
            "COLOR_0": buffer.add(np.concatenate([_corner_colours(p) for p in parts]), "VEC4", _UINT16),
        },
        "indices": buffer.add(indices, "SCALAR", _UINT32),
        "material": material,
    }


def _corner_colours(part: Part) -> NDArray[np.uint16]:
    """Colours (n, 4) in linear light, as glTF wants them; 16 bits keep dark ones apart."""
    rgba = np.array(part.finish.rgba)
    rgba[:3] = linear_light(rgba[:3])
    return np.tile(np.round(rgba * 65535).astype("<u2"), (len(part.mesh.points), 1))


class _Buffer:
    """The growing binary chunk, with the tables of its views and accessors."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: NDArray[Any], kind: str, component: int, *, bounds: bool = False) -> int:
        """Append an array; returns the number of its accessor."""
        target = _INDICES if kind == "SCALAR" else _CORNERS
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes, "target": target})
        self.data += array.tobytes()
        self.data += b"\0" * (-len(self.data) % 4)
        accessor = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        if component == _UINT16:
            accessor["normalized"] = True
        self.accessors.append(accessor)
        return len(self.accessors) - 1


# ---- pieces of a model

_HIDDEN_GROUP = 3  # geoms of this group and above are for collisions only
_PAINT_THICKNESS = 0.012  # a geom that stands still, collides with nothing and is at most this high is paint, metres
_GHOST_COLOUR = (150, 90, 220)  # colour (sRGB) of a robot of another recording that is drawn beside this one
_TINT_OPACITY = 0.4  # opacity of ghosts and of shapes that are drawn over robots
_PAINT_LIFT = 0.002  # height by which paint is lifted, metres


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
    """The thing it belongs to: the part of the body's name before the `/`; empty for the world."""
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
    local = rotated(back, positions[bodies] - positions[parents])
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
    """The drawn bodies and all their ancestors, parents first (MuJoCo numbers parents before children)."""
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


def _multiply(a: Floats, b: Floats) -> Floats:
    """Products (n, 4) of quaternions (n, 4)."""
    w = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.concatenate([w, v], axis=1)
