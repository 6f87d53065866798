"""Meshes made simple: hulls, volumes, and robots that bring large ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from nutmeg.base.errors import FileError, ModelError
from nutmeg.model import load_robot
from nutmeg.model.build import build
from nutmeg.model.model_file import COLLISION_VERTICES, convex_hull, parse_model, reduce_mesh

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))


def limb() -> trimesh.Trimesh:
    """An upper leg with a waist: 178 vertices, of which the waist's are not in the hull."""
    height = np.linspace(0, 0.08, 11)
    radius = np.interp(height, [0, 0.008, 0.03, 0.05, 0.072, 0.08], [0.010, 0.019, 0.013, 0.0125, 0.0175, 0.009])
    around = np.arange(16) * np.pi / 8
    points = [[r * np.cos(t) * 1.25, r * np.sin(t), z] for z, r in zip(height, radius, strict=True) for t in around]
    sides = [
        triangle
        for k, i in itertools.product(range(10), range(16))
        for a, b in [(16 * k + i, 16 * k + (i + 1) % 16)]
        for triangle in ([a, b, b + 16], [a, b + 16, a + 16])
    ]
    ends = [[[176, (i + 1) % 16, i], [177, 160 + i, 160 + (i + 1) % 16]] for i in range(16)]
    return trimesh.Trimesh(
        [*points, [0, 0, 0], [0, 0, 0.08]], sides + [t for pair in ends for t in pair], process=False
    )


def is_convex(vertices: np.ndarray, faces: np.ndarray) -> bool:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return bool((vertices @ normal.T - (normal * a).sum(axis=1)).max() < 1e-6 * np.ptp(vertices))


def test_a_cube_with_points_inside_and_on_it_is_a_cube() -> None:
    points = np.vstack([CUBE, np.random.default_rng(0).random((200, 3)), [[0.5, 0.5, 1.0]]])
    reduced = reduce_mesh(points, 8)
    assert (reduced.original_vertices, reduced.hull_vertices, len(reduced.vertices)) == (209, 8, 8)
    assert reduced.volume == pytest.approx(1.0)
    assert reduced.volume_error == pytest.approx(0.0)
    assert {tuple(v) for v in reduced.vertices} == {tuple(v) for v in CUBE}


def test_a_limb_of_178_vertices_loses_little_on_its_way_to_48() -> None:
    reduced = reduce_mesh(limb().vertices, 48)
    assert reduced.original_vertices == 178
    assert 48 < reduced.hull_vertices < 100
    assert len(reduced.vertices) == 48
    assert 0 < reduced.volume_error < 0.02
    assert is_convex(reduced.vertices, reduced.faces)
    hull = {tuple(v) for v in convex_hull(limb().vertices)[0]}
    assert all(tuple(v) in hull for v in reduced.vertices)


def test_fewer_vertices_never_have_more_volume() -> None:
    ball = trimesh.creation.icosphere(2).vertices
    errors = [reduce_mesh(ball, count).volume_error for count in (120, 68, 30)]
    assert errors == sorted(errors)
    assert errors[1] < 0.08


def test_thousands_of_vertices_are_reduced_as_well() -> None:
    reduced = reduce_mesh(trimesh.creation.icosphere(4).vertices, 68)
    assert reduced.hull_vertices == 2562
    assert len(reduced.vertices) == 68
    assert reduced.volume_error < 0.1


def test_flat_meshes_and_too_few_vertices_are_told() -> None:
    with pytest.raises(ModelError, match="lie in a plane"):
        reduce_mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0]], float), 8)
    with pytest.raises(ModelError, match="at least 4"):
        reduce_mesh(CUBE, 3)


def test_colliding_meshes_of_a_urdf_robot_are_simplified_and_seen_ones_are_not(tmp_path: Path) -> None:
    trimesh.creation.icosphere(3, radius=0.1).export(tmp_path / "ball.stl")
    (tmp_path / "robot.urdf").write_text(
        """<robot name="roller"><link name="base">
        <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="ball.stl" scale="2 2 2"/></geometry></visual>
        <collision><geometry><mesh filename="ball.stl" scale="2 2 2"/></geometry></collision>
        </link></robot>""",
        encoding="utf-8",
    )
    model = parse_model(tmp_path / "robot.urdf").compile()
    seen, hit = (np.flatnonzero((model.geom_contype > 0) == colliding)[0] for colliding in (False, True))
    counts = [int(model.mesh_vertnum[model.geom_dataid[geom]]) for geom in (seen, hit)]
    assert counts == [642, COLLISION_VERTICES]
    assert model.geom_group[seen] < 3 <= model.geom_group[hit]  # groups from 3 on are not drawn
    assert np.ptp(model.mesh_vert[model.mesh_vertadr[model.geom_dataid[hit]] :][:68], axis=0) == pytest.approx(
        [0.4, 0.4, 0.4], rel=0.06
    )
    built = build(load_robot(tmp_path / "robot.urdf")).compile()
    assert mujoco.mj_name2id(built, mujoco.mjtObj.mjOBJ_MESH, "ball_hull") >= 0


def test_a_mesh_file_is_found_though_its_name_is_in_another_case(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "meshes" / "Part.STL")
    model = """<robot name="r"><link name="base">
        <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="package://r/meshes/part.stl"/></geometry></visual></link></robot>"""
    (tmp_path / "robot.urdf").write_text(model)
    assert parse_model(tmp_path / "robot.urdf").compile().nmesh == 1
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "ROBOT.URDF").write_text(model.replace("r/meshes", "meshes"))  # beside the model's folder
    assert build(load_robot(tmp_path / "robots" / "ROBOT.URDF")).compile().nmesh == 1
    (tmp_path / "robot.urdf").write_text(model.replace("part.stl", "other.stl"))
    with pytest.raises(FileError, match=r"other\.stl' is nowhere in or below"):
        parse_model(tmp_path / "robot.urdf")


LEG = """<mujoco><worldbody><body name="leg" pos="0 0 1"><joint name="hip" axis="0 1 0" range="-60 60"/>
    <geom type="box" size="0.1 0.1 0.1" mass="1"/></body></worldbody>
    <actuator><position name="hip" joint="hip" kp="50"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('joint="hip"', 'joint="hipp"', "unknown transmission target 'hipp'"),
        ('range="-60 60"', 'range="60 -60"', "range of joint 'hip' begins at 60 and ends at -60"),
    ],
)
def test_mistakes_that_mujoco_would_overlook_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "leg.xml").write_text(LEG)
    assert load_robot(tmp_path / "leg.xml").base == "fixed"
    (tmp_path / "leg.xml").write_text(LEG.replace(old, new))
    with pytest.raises(FileError, match=message):
        load_robot(tmp_path / "leg.xml")
