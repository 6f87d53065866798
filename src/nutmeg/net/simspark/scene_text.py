"""The scene as SimSpark's monitors draw it: a tree of transforms, meshes and shapes, whole or only where changed.

    scene = Scene.of(rules.pitch, [Performer(slot=0, robot_type=0)])
    scene.whole(transforms)                  # "((nd TRF (SLT 1 0 ...) (nd Light ...)) ...)"
    scene.changes(transforms, changed)       # "((nd(nd))(nd (SLT ...)(nd StaticMesh)) ...)"

`transforms` has one row for the ball and one for each part of each robot, in the order of `scene.bodies`. Names of
meshes and materials, nesting and number format are those that rcssserver3d 0.7.3 sends; monitors have the meshes
themselves. Nodes that draw nothing there (flags, lines, boxes for collisions) are here, too: there are monitors that
count nodes, and expect the ball at number 35 and the robots after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.play_modes import Side
from nutmeg.match.slots import side_and_number
from nutmeg.net.simspark.effectors import ROBOT_TYPES

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.rules import Pitch

_TRANSFORM = "%g %g %g 0 %g %g %g 0 %g %g %g 0 %g %g %g 1"
_UNTURNED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_ROBOT_MESH = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
_FIELD_MESH = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
_GOAL_MESH = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
_HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
_LINES = 21
"""Transforms of field lines, which draw nothing."""
_SKY = " ".join(f"Material_skyrender_000{k}.tif" for k in range(1, 7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Performer:
    """A robot on the stage."""

    slot: int
    """Whose it is."""
    robot_type: int
    """0 to 4."""


@dataclass(frozen=True, slots=True)
class Node:
    """A branch of the tree, as text with one `%s` for each transform that moves."""

    whole: str
    change: str
    bodies: tuple[str, ...] = ()
    """What its moving transforms belong to, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The whole tree for a cast of robots."""

    tree: Node
    cast: tuple[Performer, ...]
    """The robots, in the order in which they stand in the tree."""
    bodies: tuple[tuple[int | None, str], ...]
    """Slot and body of each moving transform; the ball comes first and has no slot."""

    @classmethod
    def of(cls, pitch: Pitch, cast: Sequence[Performer]) -> Scene:
        """The tree for a pitch and these robots."""
        robots = [_robot(performer) for performer in cast]
        bodies = [(p.slot, name) for p, node in zip(cast, robots, strict=True) for name in node.bodies]
        tree = _group([*_stadium(pitch), _ball(pitch.ball_radius), *robots])
        return cls(tree=tree, cast=tuple(cast), bodies=((None, "ball"), *bodies))

    def whole(self, transforms: Floats) -> str:
        """Everything; `transforms` is (bodies, 12): the columns of the rotation, then the place."""
        return self.tree.whole % tuple(_TRANSFORM % tuple(row) for row in transforms.tolist())

    def changes(self, transforms: Floats, changed: Sequence[bool]) -> str:
        """The same tree with only those transforms that have changed."""
        rows = zip(transforms.tolist(), changed, strict=True)
        return self.tree.change % tuple(f" (SLT {_TRANSFORM % tuple(row)})" if new else "" for row, new in rows)


def transform_rows(positions: Floats, rotations: Floats) -> Floats:
    """(N, 12) rows for places (N, 3) and rotations (N, 3, 3)."""
    return np.concatenate([rotations.swapaxes(-1, -2).reshape(len(positions), 9), positions], axis=1)


def as_spark_bodies(rotations: Floats) -> Floats:
    """Rotations of bodies with x forward and y left as those of bodies with x right and y forward; (..., 3, 3)."""
    return np.stack([-rotations[..., 1], rotations[..., 0], rotations[..., 2]], axis=-1)


def _stadium(pitch: Pitch) -> list[Node]:
    light = "(nd Light (setDiffuse 1 1 1 1) (setAmbient %s) (setSpecular 0.1 0.1 0.1 1))"
    far_x, far_y = pitch.length / 2 + 9.99, pitch.width / 2 + 15
    ground = (pitch.length / 12, 1.0, pitch.width / 8)
    return [
        _still([Node(light % "0.8 0.8 0.8 1", "(nd)")], at=(-10, 10, 10)),
        _still([Node(light % "0 0 0 1", "(nd)")], at=(10, -10, 10)),
        _still([_mesh("naosoccerfield", ground, "None_rcs-naofield.png")], turned=_FIELD_MESH),
        _still([_mesh("skybox", (10, 10, 10), _SKY)], turned=_FIELD_MESH),
        _goal(pitch, left=True),
        _goal(pitch, left=False),
        _still([_shape("StdUnitBox", (1, 2 * far_y + 1, 1), "matGrey")], at=(-far_x, 0, 0)),
        _still([_shape("StdUnitBox", (1, 2 * far_y + 1, 1), "matGrey")], at=(far_x, 0, 0)),
        _still([_shape("StdUnitBox", (2 * far_x + 1, 1, 1), "matGrey")], at=(0, far_y, 0)),
        _still([_shape("StdUnitBox", (2 * far_x + 1, 1, 1), "matGrey")], at=(0, -far_y, 0)),
        *(_still([], at=(x * pitch.length / 2, y * pitch.width / 2, 0)) for x in (-1, 1) for y in (1, -1)),
        *[_still([])] * _LINES,
    ]


def _goal(pitch: Pitch, *, left: bool) -> Node:
    size = (pitch.goal_width + 0.08, pitch.goal_height + 0.08, pitch.goal_depth + 0.08)
    colour = "yellow" if left else "sky-blue"
    mesh = _mesh(f"{'left' if left else 'right'}soccergoal", size, f"naogoalnet {colour}", transparent=True)
    inner = _still([mesh], at=(pitch.goal_depth / 2, 0, -pitch.goal_height / 2), turned=_GOAL_MESH)
    deep, wide, high = (pitch.goal_depth / 2, pitch.goal_width / 2, pitch.goal_height / 2)
    boxes = [(0.0, -wide - 0.02, 0.0), (0.0, wide + 0.02, 0.0), (0.02 - deep, 0.0, 0.0), (0.0, 0.0, high + 0.02)]
    posts = [(deep, wide, high), (deep, -wide, high)]
    x = pitch.length / 2 + pitch.goal_depth / 2
    return _still(
        [inner, *(_still([], at=place) for place in boxes + posts)],
        at=(-x if left else x, 0, pitch.goal_height / 2),
        turned=_UNTURNED if left else _HALF_TURN,
    )


def _ball(radius: float) -> Node:
    return _moving("ball", [_mesh("soccerball", (radius, radius, radius), "soccerball_rcs-soccerball.png")])


def _robot(performer: Performer) -> Node:
    """A robot: parts side by side, each with its place in the world."""
    team, uniform = side_and_number(performer.slot)
    side = "matLeft" if team is Side.LEFT else "matRight"
    number = f"matNum{uniform}"
    kind = performer.robot_type
    tinted = f"{side} naowhite" if kind == ROBOT_TYPES - 1 else f"{side} matType{kind} naowhite"
    ring = _still([_shape("StdUnitCylinder 1 1", (0.2, 0.2, 0.02), "matSelect", hidden=True)])
    torso = _still([_mesh(f"naobody{kind}", (0.1, 0.1, 0.1), f"{number} {tinted}")], turned=_ROBOT_MESH)
    head = _still([_mesh("naohead", (0.1, 0.1, 0.1), f"{side} naoblack naogrey naowhite")], turned=_ROBOT_MESH)
    parts = [
        _moving("torso", [torso, ring]),
        _moving("neck", [_shape("StdCapsule 0.015 0.08", (1, 1, 1), "matDarkGrey")]),
        _moving("head", [head]),
        *_arm("r", side, tinted, kind),
        *_arm("l", side, tinted, kind),
        *_leg("r", side, tinted, f"{number} {side} naowhite", kind),
        *_leg("l", side, tinted, f"{side} naowhite", kind),
    ]
    return _still(parts)


def _arm(which: str, side: str, tinted: str, kind: int) -> list[Node]:
    name = which.upper()
    return [
        _moving(f"{name}Shoulder", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}UpperArm", [_mesh(f"{which}upperarm{kind}", (0.07, 0.07, 0.07), tinted)]),
        _moving(f"{name}Elbow", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}LowerArm", [_mesh(f"{which}lowerarm", (0.05, 0.05, 0.05), f"{side} naowhite")]),
    ]


def _leg(which: str, side: str, tinted: str, thigh: str, kind: int) -> list[Node]:
    name = which.upper()
    toes = kind == ROBOT_TYPES - 1
    foot = (0.08, 0.062241, 0.08) if toes else (0.08, 0.08, 0.08)
    nodes = [
        _moving(f"{name}Hip1", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}Hip2", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}Thigh", [_mesh(f"{which}thigh", (0.07, 0.07, 0.07), thigh)]),
        _moving(f"{name}Shank", [_mesh(f"{which}shank{kind}", (0.08, 0.08, 0.08), tinted)]),
        _moving(f"{name}Ankle", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matRed")]),
        _moving(f"{name}Foot", [_mesh(f"{which}foot", foot, f"{side} naowhite")]),
    ]
    if toes:
        nodes.append(_moving(f"{name}Toe", [_mesh(f"{which}foot", (0.08, 0.0228259, 0.04), f"{side} naowhite")]))
    return nodes


def _group(nodes: Sequence[Node]) -> Node:
    bodies = tuple(body for node in nodes for body in node.bodies)
    return Node(f"({''.join(n.whole for n in nodes)})", f"({''.join(n.change for n in nodes)})", bodies)


def _still(
    nodes: Sequence[Node],
    *,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    turned: tuple[tuple[float, ...], ...] = _UNTURNED,
) -> Node:
    """A transform that never changes; `turned` has the columns of its rotation."""
    inner = _group(nodes)
    text = _TRANSFORM % (*turned[0], *turned[1], *turned[2], *at)
    return Node(f"(nd TRF (SLT {text}){inner.whole[1:]}", f"(nd{inner.change[1:]}", inner.bodies)


def _moving(body: str, nodes: Sequence[Node]) -> Node:
    inner = _group(nodes)
    return Node(f"(nd TRF (SLT %s){inner.whole[1:]}", f"(nd%s{inner.change[1:]}", (body, *inner.bodies))


def _mesh(model: str, size: tuple[float, float, float], materials: str, *, transparent: bool = False) -> Node:
    seen = "(setVisible 1) (setTransparent)" if transparent else "(setVisible 1)"
    text = f"(nd StaticMesh {seen} (load models/{model}.obj) (sSc {_three(size)})(resetMaterials {materials}))"
    return Node(text, "(nd StaticMesh)")


def _shape(kind: str, size: tuple[float, float, float], material: str, *, hidden: bool = False) -> Node:
    seen = "(setVisible 0) (setTransparent)" if hidden else "(setVisible 1)"
    return Node(f"(nd SMN {seen} (load {kind}) (sSc {_three(size)}) (sMat {material}))", "(nd SMN)")


def _three(size: tuple[float, float, float]) -> str:
    return " ".join(f"{value:g}" for value in size)
