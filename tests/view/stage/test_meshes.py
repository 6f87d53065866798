import io
import json
import struct
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh

from nutmeg.base.arrays import Floats
from nutmeg.view.stage import meshes
from nutmeg.view.stage.bodies import Finish, Mesh, Part, box, cylinder, geom_finish, linear_light, mean_colour, pack

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
        (meshes.box(np.array([0.1, 0.2, 0.3])), 8 * 0.1 * 0.2 * 0.3),
        (meshes.ellipsoid(np.array([0.2, 0.2, 0.2]), FINE), 4 / 3 * np.pi * 0.2**3),
        (meshes.ellipsoid(np.array([0.1, 0.2, 0.3]), FINE), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
        (meshes.cylinder(0.1, 0.3, FINE), np.pi * 0.1**2 * 0.6),
        (meshes.capsule(0.1, 0.3, FINE), np.pi * 0.1**2 * 0.6 + 4 / 3 * np.pi * 0.1**3),
    ],
    ids=["box", "sphere", "ellipsoid", "cylinder", "capsule"],
)
def test_volumes_agree_with_the_closed_forms(mesh: Mesh, volume: float) -> None:
    assert solid(mesh).volume == pytest.approx(volume, rel=3e-3)


@pytest.mark.parametrize(
    ("mesh", "half"),
    [
        (meshes.box(np.array([0.1, 0.2, 0.3])), [0.1, 0.2, 0.3]),
        (meshes.ellipsoid(np.array([0.1, 0.2, 0.3])), [0.1, 0.2, 0.3]),
        (meshes.cylinder(0.1, 0.3), [0.1, 0.1, 0.3]),
        (meshes.capsule(0.1, 0.3), [0.1, 0.1, 0.4]),
    ],
    ids=["box", "ellipsoid", "cylinder", "capsule"],
)
def test_shapes_reach_as_far_as_their_sizes_say(mesh: Mesh, half: list[float]) -> None:
    assert np.allclose(bounds(mesh), [-np.array(half), half], atol=1e-9)


@pytest.mark.parametrize("mesh", [meshes.capsule(0.1, 0.2), meshes.cylinder(0.1, 0.2), meshes.box(np.ones(3))])
def test_faces_and_normals_look_outward(mesh: Mesh) -> None:
    other = solid(mesh)
    outward = np.einsum("ij,ij->i", other.face_normals, other.triangles_center)
    assert (outward > 0).all()
    corner_normals = mesh.normals[mesh.faces].mean(axis=1)
    assert (np.einsum("ij,ij->i", corner_normals, other.face_normals) > 0.8).all()
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)


def test_a_plane_is_a_thin_box_whose_top_is_the_plane() -> None:
    mesh = meshes.plane(np.array([2.0, 0.0, 0.1]))
    assert np.allclose(bounds(mesh)[1], [2.0, meshes.PLANE_REACH, 0.0])
    assert bounds(mesh)[0][2] == pytest.approx(-meshes.PLANE_THICKNESS)


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
        mesh = meshes.geom_mesh(model, geom)
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
    assert solid(meshes.geom_mesh(model, 0)).volume == pytest.approx(1 / 6, rel=1e-6)


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
