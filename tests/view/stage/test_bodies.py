"""Pieces of a model, and their meshes."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh

from nutmeg.base.arrays import Floats
from nutmeg.view.stage import bodies
from nutmeg.view.stage.bodies import (
    Finish,
    Mesh,
    Part,
    body_tree,
    box,
    cylinder,
    geom_bounds,
    geom_finish,
    is_paint,
    linear_light,
    local_poses,
    mean_colour,
    pack,
    visible_geoms,
)


def test_there_is_one_piece_per_moving_body_and_one_for_the_world_and_one_for_paint(model: Any) -> None:
    tree = body_tree(model)
    assert tree[0].path == "/world"
    assert len({piece.path for piece in tree}) == len(tree)
    moving = [b for b in range(1, model.nbody) if model.body_weldid[b] == b]
    assert sorted(p.body for p in tree if p.body) == moving
    assert [p.path for p in tree if not p.casts] == ["/world/paint"]


def test_pieces_know_the_thing_they_belong_to(model: Any) -> None:
    assert {p.thing for p in body_tree(model)} == {"", "a", "b", "ball"}


def test_collision_geoms_and_invisible_geoms_are_not_drawn() -> None:
    hidden = mujoco.MjModel.from_xml_string("""
      <mujoco><worldbody><geom size="1" group="2"/><geom size="1" group="3"/><geom size="1" rgba="1 1 1 0"/>
      </worldbody></mujoco>""")
    assert visible_geoms(hidden) == [0]


def test_a_welded_body_is_drawn_with_its_parent() -> None:
    welded = mujoco.MjModel.from_xml_string("""
      <mujoco><worldbody><body name="t/a"><freejoint/><geom size=".1"/>
        <body name="t/b" pos="1 0 0" euler="0 0 90"><geom type="box" size=".1 .2 .3"/></body></body>
      </worldbody></mujoco>""")
    assert [p.path for p in body_tree(welded)] == ["/world", "/world/t:a"]
    low, high = geom_bounds(welded, 1)
    assert np.allclose(low, [0.8, -0.1, -0.3])
    assert np.allclose(high, [1.2, 0.1, 0.3])


def test_flat_lines_are_paint_and_the_carpet_is_not(model: Any) -> None:
    paint = [g for g in range(model.ngeom) if is_paint(model, g)]
    assert len(paint) == 5
    assert model.geom("carpet").id not in paint


def test_local_poses_put_together_along_the_tree_give_the_world_poses(model: Any, toy: Any) -> None:
    data = mujoco.MjData(model)
    generator = np.random.default_rng(3)
    data.qpos[:] = generator.normal(size=model.nq)
    mujoco.mj_kinematics(model, data)
    tree = body_tree(model)
    positions, turns = local_poses(tree, data.xpos, data.xquat)
    world = {}
    for number, piece in enumerate(tree):
        place, turn = np.zeros(3), np.array([1.0, 0, 0, 0])
        if piece.parent >= 0:
            base, base_turn = world[piece.parent]
            mujoco.mju_rotVecQuat(place, positions[number], base_turn)
            place += base
            mujoco.mju_mulQuat(turn, base_turn, turns[number])
        world[number] = place, turn
        assert np.allclose(place, data.xpos[piece.body], atol=1e-9)
        assert abs(turn @ data.xquat[piece.body]) > 1 - 1e-9


FINE = 96


def solid(mesh: Mesh) -> trimesh.Trimesh:
    """The same mesh in another library, which knows volumes."""
    return trimesh.Trimesh(mesh.points, mesh.faces, vertex_normals=mesh.normals, process=False, validate=False)


def bounds(mesh: Mesh) -> Floats:
    """(2, 3) the lowest and the highest corner."""
    return np.array([mesh.points.min(axis=0), mesh.points.max(axis=0)])


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (bodies.box(np.array([0.1, 0.2, 0.3])), 8 * 0.1 * 0.2 * 0.3),
        (bodies.ellipsoid(np.array([0.2, 0.2, 0.2]), FINE), 4 / 3 * np.pi * 0.2**3),
        (bodies.ellipsoid(np.array([0.1, 0.2, 0.3]), FINE), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
        (bodies.cylinder(0.1, 0.3, FINE), np.pi * 0.1**2 * 0.6),
        (bodies.capsule(0.1, 0.3, FINE), np.pi * 0.1**2 * 0.6 + 4 / 3 * np.pi * 0.1**3),
    ],
    ids=["box", "sphere", "ellipsoid", "cylinder", "capsule"],
)
def test_volumes_agree_with_the_closed_forms(mesh: Mesh, volume: float) -> None:
    assert solid(mesh).volume == pytest.approx(volume, rel=3e-3)


@pytest.mark.parametrize(
    ("mesh", "half"),
    [
        (bodies.box(np.array([0.1, 0.2, 0.3])), [0.1, 0.2, 0.3]),
        (bodies.ellipsoid(np.array([0.1, 0.2, 0.3])), [0.1, 0.2, 0.3]),
        (bodies.cylinder(0.1, 0.3), [0.1, 0.1, 0.3]),
        (bodies.capsule(0.1, 0.3), [0.1, 0.1, 0.4]),
    ],
    ids=["box", "ellipsoid", "cylinder", "capsule"],
)
def test_shapes_reach_as_far_as_their_sizes_say(mesh: Mesh, half: list[float]) -> None:
    assert np.allclose(bounds(mesh), [-np.array(half), half], atol=1e-9)


@pytest.mark.parametrize("mesh", [bodies.capsule(0.1, 0.2), bodies.cylinder(0.1, 0.2), bodies.box(np.ones(3))])
def test_faces_and_normals_look_outward(mesh: Mesh) -> None:
    other = solid(mesh)
    outward = np.einsum("ij,ij->i", other.face_normals, other.triangles_center)
    assert (outward > 0).all()
    corner_normals = mesh.normals[mesh.faces].mean(axis=1)
    assert (np.einsum("ij,ij->i", corner_normals, other.face_normals) > 0.8).all()
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)


def test_a_plane_is_a_thin_box_whose_top_is_the_plane() -> None:
    mesh = bodies.plane(np.array([2.0, 0.0, 0.1]))
    assert np.allclose(bounds(mesh)[1], [2.0, bodies.PLANE_REACH, 0.0])
    assert bounds(mesh)[0][2] == pytest.approx(-bodies.PLANE_THICKNESS)


def test_every_kind_of_geom_of_a_model_is_drawn_within_the_bounds_that_mujoco_gives() -> None:
    model = mujoco.MjModel.from_xml_string("""
      <mujoco><asset>
        <mesh name="m" builtin="supersphere" params="16 0.5 0.5" scale="0.1 0.2 0.3"/>
        <hfield name="h" nrow="3" ncol="4" size="1 2 0.5 0.1" elevation="0 0 0 0  0 1 1 0  0 0 0 0"/>
      </asset><worldbody>
        <geom type="sphere" size=".1"/><geom type="capsule" size=".1 .2"/><geom type="cylinder" size=".1 .2"/>
        <geom type="ellipsoid" size=".1 .2 .3"/><geom type="box" size=".1 .2 .3"/>
        <geom type="mesh" mesh="m"/><geom type="hfield" hfield="h"/><geom type="plane" size="3 3 .1"/>
      </worldbody></mujoco>""")
    for geom in range(model.ngeom):
        mesh = bodies.geom_mesh(model, geom)
        assert len(mesh.faces) > 0
        assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6)
        if int(model.geom_type[geom]) in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD):
            continue
        centre, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
        assert np.allclose(bounds(mesh), [centre - half, centre + half], atol=2e-3)


def test_a_stored_mesh_keeps_its_volume() -> None:
    model = mujoco.MjModel.from_xml_string("""
      <mujoco><asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
      <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>""")
    assert solid(bodies.geom_mesh(model, 0)).volume == pytest.approx(1 / 6, rel=1e-6)


RED, GLASS = Finish(rgba=(1, 0, 0, 1)), Finish(rgba=(0, 0, 1, 0.4))


def document(data: bytes) -> dict:
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length])


def test_another_reader_finds_the_same_volume_and_size() -> None:
    data = pack([Part(mesh=box(np.array([0.1, 0.2, 0.3])), finish=RED), Part(mesh=cylinder(0.05, 0.5), finish=RED)])
    scene = trimesh.load(io.BytesIO(data), file_type="glb", process=False)
    assert np.allclose(scene.bounds, [[-0.1, -0.2, -0.5], [0.1, 0.2, 0.5]], atol=1e-6)
    expected = 8 * 0.1 * 0.2 * 0.3 + solid(cylinder(0.05, 0.5)).volume
    assert sum(g.volume for g in scene.geometry.values()) == pytest.approx(expected, rel=1e-5)


def test_parts_of_one_gloss_share_a_primitive_and_transparent_ones_have_their_own() -> None:
    parts = [Part(mesh=box(np.ones(3)), finish=f) for f in (RED, GLASS, RED)]
    table = document(pack(parts))
    assert len(table["meshes"][0]["primitives"]) == 2
    assert [m["alphaMode"] for m in table["materials"]] == ["OPAQUE", "BLEND"]


def test_the_container_tells_its_own_length() -> None:
    data = pack([Part(mesh=box(np.ones(3)), finish=RED)])
    assert data[:4] == b"glTF"
    assert struct.unpack_from("<I", data, 8)[0] == len(data)


XML = """
<mujoco><asset>
  <texture name="chess" type="2d" builtin="checker" width="64" height="64" rgb1="1 0 0" rgb2="0 0 1"/>
  <material name="shirt" rgba=".1 .2 .3 1" shininess="1"/><material name="chess" texture="chess"/>
</asset><worldbody>
  <geom name="own" size="1" rgba=".4 .5 .6 .7"/><geom name="shirt" size="1" material="shirt"/>
  <geom name="both" size="1" material="shirt" rgba="1 0 0 1"/><geom name="chess" size="1" material="chess"/>
</worldbody></mujoco>"""


@pytest.fixture
def painted() -> Any:
    return mujoco.MjModel.from_xml_string(XML)


def test_a_geom_shows_its_own_colour_and_opacity(painted: Any) -> None:
    finish = geom_finish(painted, painted.geom("own").id)
    assert finish.rgba == pytest.approx((0.4, 0.5, 0.6, 0.7))
    assert finish.transparent


def test_a_material_gives_colour_and_gloss_unless_the_geom_has_its_own_colour(painted: Any) -> None:
    shirt = geom_finish(painted, painted.geom("shirt").id)
    assert shirt.rgba == pytest.approx((0.1, 0.2, 0.3, 1))
    assert shirt.roughness == pytest.approx(0.25)
    assert geom_finish(painted, painted.geom("both").id).rgba == pytest.approx((1, 0, 0, 1))


def test_a_texture_is_drawn_as_its_mean_colour(painted: Any) -> None:
    assert mean_colour(painted, 0) == pytest.approx([0.5, 0, 0.5], abs=0.02)
    assert geom_finish(painted, painted.geom("chess").id).rgba[:3] == pytest.approx((0.5, 0, 0.5), abs=0.02)


def test_linear_light_has_the_standard_fixed_points() -> None:
    assert linear_light(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.0, 0.21404, 1.0], abs=1e-4)
