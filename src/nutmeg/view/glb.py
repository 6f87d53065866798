"""Coloured meshes packed into one binary glTF 2.0 file (Khronos specification, section 4.4), for browsers.

Colours are per corner, so that a body of many parts is one thing to draw. Parts that are transparent, or that
differ in gloss, need a primitive of their own; a body has few.

    data = pack([Part(mesh=geom_mesh(model, 3), finish=geom_finish(model, 3))])
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.colours import Finish, linear

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import trimesh
    from numpy.typing import NDArray

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
