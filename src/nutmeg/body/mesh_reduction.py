"""Simple convex shapes for collisions: the convex hull of a mesh, then as few of its vertices as wanted.

    reduced = reduce_mesh(vertices, 68)             # vertices (n, 3)
    reduced.vertices, reduced.faces, reduced.volume_error

A collision engine takes a mesh for its convex hull anyway, and its time grows with the hull's vertices. From the hull,
the vertex whose loss costs least volume is taken away, again and again, until few enough are left. What is left is
convex and lies inside the hull, touching it at every vertex that was kept. Without a vertex v the hull loses what lies
between v and the convex hull of its neighbours R, so its cost is

    vol(conv(R and v)) - vol(conv(R))

Hulls are MuJoCo's (it has Qhull inside). One of very many vertices is thinned first to those that stick out farthest in
evenly spread directions.

UCHILSIM (Zagal and Ruiz del Solar, RoboCup 2004 and its application paper, section 5) did the same to the legs of an
ERS-7 with the libraries of its time: 178 vertices, 84 in the hull, 68 in the end.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints

FEWEST = 4
"""Vertices of the simplest body, a tetrahedron."""
THINNED = 256
"""Vertices that are left of a larger hull before the best are chosen one by one."""
_FEW = 14
"""Points whose triangles are all tried."""
_APART = 1e-6
"""Of the size of a few points: by how much they are shaken so that no four lie in a plane."""


@dataclass(frozen=True)
class ReducedMesh:
    """A convex mesh, and what it cost to make it."""

    vertices: Floats
    """(n, 3), in the units of the original."""
    faces: Ints
    """Triangles (m, 3), anticlockwise from outside."""
    original_vertices: int
    """Different ones."""
    hull_vertices: int
    hull_volume: float
    volume: float
    gap: float
    """The farthest that a vertex of the hull lies beyond a face of what is left."""

    @property
    def volume_error(self) -> float:
        """Share of the hull's volume that was lost."""
        return 1 - self.volume / self.hull_volume


def reduce_mesh(points: Floats, vertices: int) -> ReducedMesh:
    """The convex hull of points (n, 3) with no more than a number of vertices."""
    if vertices < FEWEST:
        raise ModelError(f"{vertices} vertices were asked for; a body has at least {FEWEST}.")
    points = np.unique(np.asarray(points, np.float64).reshape(-1, 3), axis=0)
    return _reduced(points.tobytes(), vertices)


def convex_hull(points: Floats) -> tuple[Floats, Ints]:
    """Vertices (n, 3) and triangles (m, 3) of the convex hull of points; flat points have none."""
    middle, size = points.mean(axis=0), max(float(np.ptp(points, axis=0).max(initial=0.0)), 1e-300)
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="hull", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    mesh.uservert = ((points - middle) / size).ravel()  # without faces, it gets those of its hull
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
    try:
        faces = np.array(spec.compile().mesh_face, np.int64)
    except (ValueError, mujoco.FatalError):
        raise ModelError(f"{len(points)} points have no convex hull: they lie in a plane, or are too few.") from None
    used, numbered = np.unique(faces, return_inverse=True)
    return points[used], numbered.reshape(faces.shape)


def volume_of(vertices: Floats, faces: Ints) -> float:
    """The volume inside triangles (m, 3) of vertices (n, 3)."""
    a, b, c = ((vertices - vertices.mean(axis=0))[faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@lru_cache(maxsize=256)
def _reduced(content: bytes, vertices: int) -> ReducedMesh:
    """The reduced mesh of points as bytes; robots are read more than once, and their meshes with them."""
    points = np.frombuffer(content).reshape(-1, 3)
    hull, hull_faces = convex_hull(points)
    kept, faces = hull, hull_faces
    if len(kept) > max(THINNED, vertices):
        kept, faces = convex_hull(_farthest(kept, max(THINNED, vertices)))
    known: dict[tuple[bytes, ...], float] = {}
    while len(kept) > vertices:
        kept, faces = convex_hull(_without_cheapest(kept, faces, len(kept) - vertices, known))
    return ReducedMesh(
        vertices=kept,
        faces=faces,
        original_vertices=len(points),
        hull_vertices=len(hull),
        hull_volume=volume_of(hull, hull_faces),
        volume=volume_of(kept, faces),
        gap=_gap(hull, kept, faces),
    )


def _farthest(points: Floats, count: int) -> Floats:
    """The points that are farthest in `count` evenly spread directions (a Fibonacci sphere)."""
    middle = np.arange(count) + 0.5
    height, around = 1 - 2 * middle / count, middle * math.pi * (3 - math.sqrt(5))
    radius = np.sqrt(1 - height**2)
    directions = np.stack([radius * np.cos(around), radius * np.sin(around), height], axis=1)
    size = np.ptp(points, axis=0)  # evenly spread on a body as long as it is wide
    found: Floats = points[np.unique(np.argmax((points / size) @ directions.T, axis=0))]
    return found


def _without_cheapest(points: Floats, faces: Ints, most: int, known: dict[tuple[bytes, ...], float]) -> Floats:
    """The vertices of a convex body without those that cost least volume.

    A cost stays right as long as the vertex's neighbours stay. So of the cheapest twentieth (no more than `most`), all
    go at once that are not next to one that goes. `known` are costs from before.
    """
    rings: list[set[int]] = [set() for _ in points]
    for face in faces.tolist():
        for vertex in face:
            rings[vertex].update(face)
    costs = []
    for vertex, ring in enumerate(rings):
        ring.discard(vertex)
        around = points[sorted(ring)]
        key = (points[vertex].tobytes(), around.tobytes())
        if key not in known:
            known[key] = _hull_volume(np.vstack([around, points[vertex]])) - _hull_volume(around)
        costs.append(known[key])
    gone: set[int] = set()
    for vertex in np.argsort(costs, kind="stable")[: max(1, min(most, len(points) // 20))].tolist():
        if gone.isdisjoint(rings[vertex]):
            gone.add(vertex)
    return np.delete(points, sorted(gone), axis=0)


def _hull_volume(points: Floats) -> float:
    """The volume of the convex hull of a few points: every triangle with all the others on one side is a face of it."""
    if len(points) < FEWEST:
        return 0.0
    if len(points) > _FEW:
        try:
            return volume_of(*convex_hull(points))
        except ModelError:
            return 0.0
    size = np.ptp(points, axis=0).max()
    shaken = points - points.mean(axis=0) + _APART * size * np.random.default_rng(0).uniform(-1, 1, points.shape)
    corners = np.array(list(itertools.combinations(range(len(points)), 3)))
    a, b, c = (shaken[corners[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    side = normal @ shaken.T - (normal * a).sum(axis=1)[:, None]  # (triangles, points)
    flat = 1e-12 * size**3
    face = (side <= flat).all(axis=1) | (side >= -flat).all(axis=1)
    return float(np.abs((a * np.cross(b, c)).sum(axis=1))[face].sum() / 6) if face.any() else 0.0


def _gap(hull: Floats, vertices: Floats, faces: Ints) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return float(max(0.0, (hull @ normal.T - (normal * a).sum(axis=1)).max()))
