"""A picture of how a mesh was simplified: as it was, its convex hull, and what is left of it.

picture(vertices, faces, reduced, Path("mesh.png"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

from nutmeg.body.mesh_reduction import convex_hull

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.body.mesh_reduction import ReducedMesh

_LIGHT = np.array([0.4, -0.5, 0.77])
_COLOURS = (np.array([0.62, 0.66, 0.72]), np.array([0.45, 0.68, 0.55]), np.array([0.86, 0.52, 0.30]))


def picture(vertices: Floats, faces: Ints, reduced: ReducedMesh, path: Path) -> None:
    """Draws three panels to a PNG file: the mesh (n, 3) with triangles (m, 3), its hull, the reduced hull."""
    hull, hull_faces = convex_hull(vertices)
    shown = (
        ("original", vertices, faces, reduced.original_vertices),
        ("convex hull", hull, hull_faces, reduced.hull_vertices),
        ("reduced", reduced.vertices, reduced.faces, len(reduced.vertices)),
    )
    figure = Figure(figsize=(10.5, 4.2))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.88, wspace=0)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    for number, (label, points, triangles, count) in enumerate(shown):
        axes: Any = figure.add_subplot(1, 3, number + 1, projection="3d")
        axes.add_collection3d(_solid(points[triangles], _COLOURS[number]))
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.set_box_aspect(np.maximum(high - low, 1e-9), zoom=1.05)
        axes.set_axis_off()
        error = f"\n{100 * reduced.volume_error:.2f} % of the hull's volume lost" if label == "reduced" else "\n"
        axes.set_title(f"{label}: {count} vertices{error}", fontsize=11)
    with mpl.rc_context({"savefig.dpi": 110}):
        figure.savefig(path)


def _solid(triangles: Floats, colour: Floats) -> Any:  # noqa: ANN401
    """Triangles (m, 3, 3) with the light from one side."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shade = 0.55 + 0.45 * np.clip(normals @ _LIGHT, 0, 1)
    solid: Any = Poly3DCollection(triangles)
    solid.set_facecolor(shade[:, None] * colour)
    solid.set_edgecolor((0.15, 0.15, 0.15, 0.5))
    solid.set_linewidth(0.3)
    return solid
