"""Triangle meshes of MuJoCo's geoms, with normals that shade round things round and edges sharp.

A shape is given in the frame of its geom, in metres. Sizes are MuJoCo's: radii, half-lengths and
half-extents (XML reference, `geom size`). Planes become thin boxes, because an infinite plane can be neither
shadowed well nor drawn in a browser. Primitives are inscribed in the true surface: with 24 segments a sphere
has 97.5 % of its volume.

    geom = model.geom("torso").id
    mesh = geom_mesh(model, geom)        # trimesh.Trimesh, normals in mesh.vertex_normals
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import trimesh

from nutmeg.base.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import trimesh
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats


SEGMENTS = 24
"""Corners of a drawn circle: smooth at the size of a robot's limb, and cheap."""

PLANE_REACH = 30.0
"""Half-extent given to an infinite plane, metres."""

PLANE_THICKNESS = 0.02
"""Thickness of the box that stands for a plane, metres; its top is the plane."""


def geom_mesh(model: Any, geom: int, segments: int = SEGMENTS) -> trimesh.Trimesh:  # noqa: ANN401
    """The mesh of one geom of a compiled model, in the geom's own frame.

    Args:
        model: a compiled `mujoco.MjModel`.
        geom: the geom's number.
        segments: corners per circle.
    """
    kind, size = int(model.geom_type[geom]), np.asarray(model.geom_size[geom])
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_SPHERE:
        return ellipsoid(np.repeat(size[0], 3), segments)
    if kind == types.mjGEOM_ELLIPSOID:
        return ellipsoid(size, segments)
    if kind == types.mjGEOM_CAPSULE:
        return capsule(size[0], size[1], segments)
    if kind == types.mjGEOM_CYLINDER:
        return cylinder(size[0], size[1], segments)
    if kind == types.mjGEOM_BOX:
        return box(size)
    if kind == types.mjGEOM_PLANE:
        return plane(size)
    if kind == types.mjGEOM_HFIELD:
        return height_field(model, int(model.geom_dataid[geom]))
    if kind in (types.mjGEOM_MESH, types.mjGEOM_SDF):
        return stored_mesh(model, int(model.geom_dataid[geom]))
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or f"number {geom}"
    raise ModelError(f"geom {name!r} has the type {types(kind).name}, which cannot be drawn.")


def box(half: Floats) -> trimesh.Trimesh:
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
    return _mesh(np.array(corners) * half, faces, normals)


def ellipsoid(radii: Floats, segments: int = SEGMENTS) -> trimesh.Trimesh:
    """An ellipsoid of the given radii (3,); equal radii make a sphere."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)
    profile = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ball = _revolve([(profile, profile)], segments)
    normals = np.asarray(ball.vertex_normals) / radii
    return _mesh(ball.vertices * radii, ball.faces, normals / np.linalg.norm(normals, axis=1, keepdims=True))


def capsule(radius: float, half_length: float, segments: int = SEGMENTS) -> trimesh.Trimesh:
    """A cylinder along z with two half-balls; `half_length` is that of the cylinder alone."""
    angle = np.linspace(0.0, np.pi / 2, segments // 4 + 1)
    cap = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = cap[::-1] * [1.0, -1.0]
    normals = np.concatenate([lower, cap])
    shift = np.repeat([-half_length, half_length], len(cap))
    points = normals * radius + np.stack([np.zeros_like(shift), shift], axis=1)
    return _revolve([(points, normals)], segments)


def cylinder(radius: float, half_length: float, segments: int = SEGMENTS) -> trimesh.Trimesh:
    """A cylinder along z with sharp rims."""
    r, h = radius, half_length
    bottom = (np.array([[0.0, -h], [r, -h]]), np.array([[0.0, -1.0], [0.0, -1.0]]))
    side = (np.array([[r, -h], [r, h]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    top = (np.array([[r, h], [0.0, h]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    return _revolve([bottom, side, top], segments)


def plane(size: Floats) -> trimesh.Trimesh:
    """A thin box whose top is the plane; a half-size of 0 is endless in MuJoCo, and wide here."""
    half = np.where(size[:2] > 0, size[:2], PLANE_REACH)
    slab = box(np.array([half[0], half[1], PLANE_THICKNESS / 2]))
    return _mesh(slab.vertices - [0, 0, PLANE_THICKNESS / 2], slab.faces, slab.vertex_normals)


def height_field(model: Any, number: int) -> trimesh.Trimesh:  # noqa: ANN401
    """The upper surface of a height field."""
    rows, columns = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
    x_half, y_half, top, _ = model.hfield_size[number]
    start = int(model.hfield_adr[number])
    heights = np.asarray(model.hfield_data[start : start + rows * columns]) * top
    x, y = np.meshgrid(np.linspace(-x_half, x_half, columns), np.linspace(-y_half, y_half, rows))
    points = np.stack([x.ravel(), y.ravel(), heights], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    first = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    second = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    surface = trimesh.Trimesh(points, np.concatenate([first, second]), process=False)
    return _mesh(points, surface.faces, surface.vertex_normals)


def stored_mesh(model: Any, number: int) -> trimesh.Trimesh:  # noqa: ANN401
    """A mesh of the model, with the normals MuJoCo stores; corners that differ in normal are kept apart."""
    vertex, normal = int(model.mesh_vertadr[number]), int(model.mesh_normaladr[number])
    face, count = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
    corners = np.asarray(model.mesh_face[face : face + count]).reshape(-1)
    directions = np.asarray(model.mesh_facenormal[face : face + count]).reshape(-1)
    pairs, index = np.unique(np.stack([corners, directions], axis=1), axis=0, return_inverse=True)
    points = np.asarray(model.mesh_vert, dtype=np.float64)[vertex + pairs[:, 0]]
    normals = np.asarray(model.mesh_normal, dtype=np.float64)[normal + pairs[:, 1]]
    return _mesh(points, index.reshape(-1, 3), normals)


def _revolve(strips: list[tuple[Floats, Floats]], segments: int) -> trimesh.Trimesh:
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
    mesh = _mesh(np.concatenate(points), np.concatenate(faces), np.concatenate(normals))
    # At a pole two corners of every other face coincide, up to rounding.
    return _mesh(mesh.vertices, mesh.faces[mesh.area_faces > 1e-14], mesh.vertex_normals)


def _swept(profile: Floats, around: Floats) -> Floats:
    """Points (n * m, 3) of a profile (n, 2) at directions (m, 2)."""
    flat = profile[:, :1, None] * around
    height = np.broadcast_to(profile[:, 1, None, None], (*flat.shape[:2], 1))
    return np.concatenate([flat, height], axis=2).reshape(-1, 3)


def _mesh(points: Any, faces: Any, normals: Any) -> trimesh.Trimesh:  # noqa: ANN401
    """A mesh left exactly as given: merging corners would smooth the edges away."""
    return trimesh.Trimesh(
        vertices=np.asarray(points, dtype=np.float64),
        faces=np.asarray(faces),
        vertex_normals=np.asarray(normals, dtype=np.float64),
        process=False,
        validate=False,
    )


# ----------------------------------------------------------------------------------------------------
# The colour and the gloss of a geom, from its material or its own rgba.
#
# MuJoCo colours are sRGB numbers from 0 to 1. A material's colour holds unless the geom's rgba was set away from
# MuJoCo's default grey (XML reference, `geom rgba`); a texture is drawn as its mean colour. Roughness follows from
# the material's `shininess`: 1 is a mirror, 0 is chalk.


_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class Finish:
    """What the surface of a geom looks like."""

    rgba: tuple[float, float, float, float]
    """Colour (sRGB) and opacity, 0 to 1."""

    roughness: float = 0.75
    """0 is a mirror, 1 is chalk."""

    @property
    def transparent(self) -> bool:
        """Whether something behind it shows through."""
        return self.rgba[3] < 0.995


def geom_finish(model: Any, geom: int) -> Finish:  # noqa: ANN401
    """The finish of a geom of a compiled model."""
    material = int(model.geom_matid[geom])
    own = np.asarray(model.geom_rgba[geom], dtype=np.float64)
    if material < 0:
        return Finish(rgba=_four(own))
    colour = np.array(model.mat_rgba[material], dtype=np.float64)
    if not np.allclose(own, _DEFAULT_RGBA):
        colour = own
    texture = int(np.asarray(model.mat_texid[material])[mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if texture >= 0:
        colour[:3] *= mean_colour(model, texture)
    return Finish(rgba=_four(colour), roughness=float(np.clip(1.0 - 0.75 * model.mat_shininess[material], 0.15, 1)))


def mean_colour(model: Any, texture: int) -> Floats:  # noqa: ANN401
    """The mean colour (3,) of a texture."""
    channels = int(model.tex_nchannel[texture])
    start = int(model.tex_adr[texture])
    count = int(model.tex_height[texture]) * int(model.tex_width[texture]) * channels
    pixels = np.asarray(model.tex_data[start : start + count]).reshape(-1, channels)
    rgb = pixels[:, :3] if channels >= 3 else np.repeat(pixels[:, :1], 3, axis=1)
    mean: Floats = rgb.mean(axis=0) / 255.0
    return mean


def linear(srgb: Floats) -> Floats:
    """Light intensity of sRGB values (IEC 61966-2-1), elementwise."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _four(rgba: Floats) -> tuple[float, float, float, float]:
    r, g, b, a = (float(np.clip(value, 0, 1)) for value in rgba)
    return r, g, b, a


# ----------------------------------------------------------------------------------------------------
# Coloured meshes packed into one binary glTF 2.0 file (Khronos specification, section 4.4), for browsers.
#
# Colours are per corner, so that a body of many parts is one thing to draw. Parts that are transparent, or that
# differ in gloss, need a primitive of their own; a body has few.


_FLOAT, _UINT32, _UINT16 = 5126, 5125, 5123  # glTF component types
_CORNERS, _INDICES = 34962, 34963  # glTF buffer targets


@dataclass(frozen=True, kw_only=True)
class Part:
    """One mesh of a body, already in the body's frame."""

    mesh: trimesh.Trimesh
    """Points, faces and normals."""

    finish: Finish
    """Its colour and gloss."""


def pack(parts: Iterable[Part]) -> bytes:
    """The GLB file of all parts; those of equal gloss and opacity class share a primitive."""
    buffer = _Buffer()
    primitives: list[dict[str, Any]] = []
    materials: list[dict[str, Any]] = []
    for (transparent, roughness), group in groupby(sorted(parts, key=_shade), key=_shade):
        primitives.append(_primitive(buffer, list(group), len(materials)))
        materials.append(_material(transparent=transparent, roughness=roughness))
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
    return _container(json.dumps(document, separators=(",", ":")).encode(), bytes(buffer.data))


def _shade(part: Part) -> tuple[bool, float]:
    """What decides about the primitive; gloss in steps, to keep primitives few."""
    return part.finish.transparent, round(part.finish.roughness * 4) / 4


def _material(*, transparent: bool, roughness: float) -> dict[str, Any]:
    look = {"baseColorFactor": [1, 1, 1, 1], "metallicFactor": 0.0, "roughnessFactor": roughness}
    return {"pbrMetallicRoughness": look, "alphaMode": "BLEND" if transparent else "OPAQUE"}


def _primitive(buffer: _Buffer, parts: Sequence[Part], material: int) -> dict[str, Any]:
    points = np.concatenate([p.mesh.vertices for p in parts]).astype("<f4")
    normals = np.concatenate([p.mesh.vertex_normals for p in parts]).astype("<f4")
    colours = np.concatenate([_corner_colours(p) for p in parts])
    starts = np.cumsum([0] + [len(p.mesh.vertices) for p in parts[:-1]])
    faces = [p.mesh.faces + s for p, s in zip(parts, starts, strict=True)]
    indices = np.concatenate(faces).astype("<u4").reshape(-1)
    attributes = {
        "POSITION": buffer.add(points, "VEC3", _FLOAT, _CORNERS, bounds=True),
        "NORMAL": buffer.add(normals, "VEC3", _FLOAT, _CORNERS),
        "COLOR_0": buffer.add(colours, "VEC4", _UINT16, _CORNERS, normalized=True),
    }
    return {
        "attributes": attributes,
        "indices": buffer.add(indices, "SCALAR", _UINT32, _INDICES),
        "material": material,
    }


def _corner_colours(part: Part) -> NDArray[np.uint16]:
    """Colours (n, 4) in linear light, as glTF wants them; 16 bits keep dark ones apart."""
    rgba = np.array(part.finish.rgba)
    rgba[:3] = linear(rgba[:3])
    return np.tile(np.round(rgba * 65535).astype("<u2"), (len(part.mesh.vertices), 1))


class _Buffer:
    """The binary chunk while it grows, with the tables that say what lies where."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(
        self,
        array: NDArray[Any],
        kind: str,
        component: int,
        target: int,
        *,
        bounds: bool = False,
        normalized: bool = False,
    ) -> int:
        """Append an array; returns the number of its accessor."""
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes, "target": target}
        self.data += array.tobytes()
        self.data += b"\0" * (-len(self.data) % 4)
        accessor = {"bufferView": len(self.views), "componentType": component, "count": len(array), "type": kind}
        if bounds:
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        if normalized:
            accessor["normalized"] = True
        self.views.append(view)
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def _container(document: bytes, binary: bytes) -> bytes:
    """The GLB container: a header, then the JSON and the binary chunk, each padded to 4 bytes."""
    document += b" " * (-len(document) % 4)
    total = 12 + 8 + len(document) + 8 + len(binary)
    return b"".join(
        [
            struct.pack("<4sII", b"glTF", 2, total),
            struct.pack("<I4s", len(document), b"JSON"),
            document,
            struct.pack("<I4s", len(binary), b"BIN\0"),
            binary,
        ]
    )
