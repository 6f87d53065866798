from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.view.stage import meshes

FINE = 96


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
def test_volumes_agree_with_the_closed_forms(mesh: Any, volume: float) -> None:
    assert mesh.volume == pytest.approx(volume, rel=3e-3)


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
def test_shapes_reach_as_far_as_their_sizes_say(mesh: Any, half: list[float]) -> None:
    assert np.allclose(mesh.bounds, [-np.array(half), half], atol=1e-9)


@pytest.mark.parametrize("mesh", [meshes.capsule(0.1, 0.2), meshes.cylinder(0.1, 0.2), meshes.box(np.ones(3))])
def test_faces_and_normals_look_outward(mesh: Any) -> None:
    outward = np.einsum("ij,ij->i", mesh.face_normals, mesh.triangles_center)
    assert (outward > 0).all()
    corner_normals = mesh.vertex_normals[mesh.faces].mean(axis=1)
    assert (np.einsum("ij,ij->i", corner_normals, mesh.face_normals) > 0.8).all()
    assert np.allclose(np.linalg.norm(mesh.vertex_normals, axis=1), 1)


def test_a_plane_is_a_thin_box_whose_top_is_the_plane() -> None:
    mesh = meshes.plane(np.array([2.0, 0.0, 0.1]))
    assert np.allclose(mesh.bounds[1], [2.0, meshes.PLANE_REACH, 0.0])
    assert mesh.bounds[0][2] == pytest.approx(-meshes.PLANE_THICKNESS)


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
        if int(model.geom_type[geom]) in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD):
            continue
        centre, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
        assert np.allclose(mesh.bounds, [centre - half, centre + half], atol=2e-3)


def test_a_stored_mesh_keeps_its_volume() -> None:
    model = mujoco.MjModel.from_xml_string("""
      <mujoco><asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
      <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>""")
    assert meshes.geom_mesh(model, 0).volume == pytest.approx(1 / 6, rel=1e-6)
