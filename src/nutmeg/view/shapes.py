"""Triangle meshes of MuJoCo's geoms, with normals that shade round things round and edges sharp.

A shape is given in the frame of its geom, in metres. Sizes are MuJoCo's: radii, half-lengths and
half-extents (XML reference, `geom size`). Planes become thin boxes, because an infinite plane can be neither
shadowed well nor drawn in a browser. Primitives are inscribed in the true surface: with 24 segments a sphere
has 97.5 % of its volume.

    geom = model.geom("torso").id
    mesh = geom_mesh(model, geom)        # trimesh.Trimesh, normals in mesh.vertex_normals
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import trimesh

from nutmeg.errors import ModelError

if TYPE_CHECKING:
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
