"""Simplify a mesh for collisions: its convex hull, then as few vertices as wanted, with what that costs.

Colliding meshes of URDF robots are simplified in the same way, to 68 vertices, when they are read. Numbers are in the
units of the file.

example: nutmeg mesh part.stl --vertices 68
         nutmeg mesh part.stl --vertices 68 --output hull.stl --picture mesh.png
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import FileError, ModelError, UsageError
from nutmeg.commands.options import JsonOption, OptionalOutput
from nutmeg.model.model_file import COLLISION_VERTICES

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg mesh`."""

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MESH")]
    """The mesh: STL, OBJ, PLY or another format that trimesh reads."""
    vertices: int = COLLISION_VERTICES
    """How many vertices to leave at most."""
    output: OptionalOutput = None
    """Write the reduced hull to this file; its ending says the format."""
    picture: Path | None = None
    """Write a PNG of original, hull and reduced hull."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Reads, reduces, shows."""
    import numpy as np
    import trimesh

    from nutmeg.model.model_file import reduce_mesh

    if not arguments.file.is_file():
        raise FileError(arguments.file, "there is no such file. Check the path.")
    try:
        solid = trimesh.load_mesh(arguments.file)
        points, faces = np.asarray(solid.vertices, float), np.asarray(solid.faces)
    except Exception as error:  # noqa: BLE001 (every reader of trimesh has errors of its own)
        raise FileError(arguments.file, f"cannot be read as a mesh: {error}") from None
    if not len(points):
        raise FileError(arguments.file, "holds no triangles.")
    try:
        reduced = reduce_mesh(points, arguments.vertices)
    except ModelError as error:
        raise FileError(arguments.file, str(error)) from None
    rows = [
        ("original", reduced.original_vertices, len(faces), f"{abs(float(solid.volume)):.6g}", ""),
        ("convex hull", reduced.hull_vertices, 2 * reduced.hull_vertices - 4, f"{reduced.hull_volume:.6g}", ""),
        (
            "reduced",
            len(reduced.vertices),
            len(reduced.faces),
            f"{reduced.volume:.6g}",
            f"{100 * reduced.volume_error:.3f} %",
        ),
    ]
    terminal.table(str(arguments.file), ("shape", "vertices", "triangles", "volume", "hull's volume lost"), rows)
    terminal.say(f"The hull sticks out of what is left by {reduced.gap:.3g} at most.")
    written = {}
    try:
        if arguments.output is not None:
            trimesh.Trimesh(reduced.vertices, reduced.faces, process=False).export(arguments.output)
            written["file"] = str(arguments.output)
        if arguments.picture is not None:
            from nutmeg.view.reports.figures import plot_mesh_reduction

            plot_mesh_reduction(points, faces, reduced, arguments.picture)
            written["picture"] = str(arguments.picture)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be written: {error}. Name a file in a folder that exists.") from None
    for path in written.values():
        terminal.say(f"wrote {path}")
    return {
        "original_vertices": reduced.original_vertices,
        "hull_vertices": reduced.hull_vertices,
        "vertices": len(reduced.vertices),
        "hull_volume": reduced.hull_volume,
        "volume": reduced.volume,
        "volume_error": reduced.volume_error,
        "gap": reduced.gap,
        **written,
    }
