"""Exports: every robot in bare MuJoCo, and in dm_control and mujoco_warp where they are installed."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import ModelError
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.export import Exported, as_mjcf, as_urdf
from nutmeg.model.physics import native_profile

ACTUATIONS = [(name, "ideal") for name in robot_names()]
ACTUATIONS += [
    (name, kind) for name in robot_names() if load_robot(name).model.actuation for kind in ("servo", "motoflex")
]


def alone(robot: str, actuation: str = "ideal", field: str = "none") -> Scene:
    placement = Placement(robot=robot, name="robot", actuation=actuation, heading=0.4 * (field != "none"))
    physics = native_profile(load_robot(robot).physics) if actuation == "ideal" else ""
    return assemble(SceneSettings(field=field, ball="none", robots=(placement,), physics=physics))


@functools.lru_cache(maxsize=32)
def mjcf(robot: str, actuation: str) -> Exported:
    return as_mjcf(alone(robot, actuation))


def swayed(model: mujoco.MjModel, seconds: float) -> Floats:
    """Where a model is after its motors were moved to and fro."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    start = data.ctrl.copy()
    for step in range(round(seconds / model.opt.timestep)):
        data.ctrl[:] = start + 0.3 * np.sin(6 * step * model.opt.timestep + np.arange(model.nu))
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


@pytest.mark.parametrize(("robot", "actuation"), ACTUATIONS)
def test_an_exported_robot_moves_as_the_scene_it_was_written_from(robot: str, actuation: str) -> None:
    scene = alone(robot, actuation, field="floor")
    exported = as_mjcf(scene)
    model = mujoco.MjModel.from_xml_string(exported.text, dict(exported.meshes))
    assert (model.nq, model.nu, model.na) == (scene.model.nq, scene.model.nu, scene.model.na)
    moved = swayed(model, 0.4)
    assert moved == pytest.approx(swayed(scene.model, 0.4), abs=1e-6)
    assert np.abs(moved - scene.start).max() > 0.01


@pytest.mark.parametrize(("robot", "actuation"), ACTUATIONS)
def test_nothing_in_an_export_is_what_dm_control_or_mujoco_warp_refuse(robot: str, actuation: str) -> None:
    exported = mjcf(robot, actuation)
    model = mujoco.MjModel.from_xml_string(exported.text, dict(exported.meshes))
    names = model.names.decode().split("\0")
    assert not [name for name in names if "/" in name]
    assert not (model.actuator_dyntype == mujoco.mjtDyn.mjDYN_PID).any()
    assert "<frame" not in exported.text
    assert " vertex=" not in exported.text
    assert set(load_robot(robot).poses.get("ready", {})) <= set(names)


@pytest.mark.skipif(importlib.util.find_spec("dm_control") is None, reason="dm_control is not installed")
@pytest.mark.parametrize(("robot", "actuation"), ACTUATIONS)
def test_dm_control_reads_an_export_and_writes_the_same_model(robot: str, actuation: str, tmp_path: Path) -> None:
    from dm_control import mjcf as reader

    path = written(tmp_path / "robot.xml", mjcf(robot, actuation))
    read = reader.from_path(str(path))
    again = mujoco.MjModel.from_xml_string(read.to_xml_string(), read.get_assets())
    plain = mujoco.MjModel.from_xml_path(str(path))
    assert (again.nq, again.nu, again.nbody) == (plain.nq, plain.nu, plain.nbody)
    assert again.body_mass == pytest.approx(plain.body_mass)


@pytest.mark.skipif(importlib.util.find_spec("mujoco_warp") is None, reason="mujoco_warp is not installed")
@pytest.mark.parametrize(("robot", "actuation"), ACTUATIONS)
def test_mujoco_warp_takes_an_export(robot: str, actuation: str, tmp_path: Path) -> None:
    import mujoco_warp

    model = mujoco.MjModel.from_xml_path(str(written(tmp_path / "robot.xml", mjcf(robot, actuation))))
    assert mujoco_warp.put_model(model).nq == model.nq


def test_an_export_on_a_field_keeps_the_field_and_its_names_apart() -> None:
    robots = (Placement(robot="nao-v6", name="robot", pos=(-0.3, 0.1), heading=0.5),)
    exported = as_mjcf(assemble(SceneSettings(field="spl2025", robots=robots)))
    model = mujoco.MjModel.from_xml_string(exported.text, dict(exported.meshes))
    assert model.joint("root").type == mujoco.mjtJoint.mjJNT_FREE
    assert model.joint("ball_root").type == mujoco.mjtJoint.mjJNT_FREE


def test_robots_that_share_a_scene_keep_their_names_before_their_parts() -> None:
    robots = tuple(Placement(robot="ant", name=name, pos=(i, 0.0)) for i, name in enumerate(("a", "b")))
    exported = as_mjcf(assemble(SceneSettings(field="none", ball="none", robots=robots)))
    model = mujoco.MjModel.from_xml_string(exported.text, dict(exported.meshes))
    assert model.joint("a_root").id != model.joint("b_root").id


# ----------------------------------------------------------------------------------------------------
# URDF


def written(path: Path, exported: Exported) -> Path:
    path.write_text(exported.text, encoding="utf-8")
    for name, data in exported.meshes.items():
        (path.parent / name).write_bytes(data)
    return path


def read_urdf(path: Path) -> mujoco.MjModel:
    """The model as MuJoCo reads it, with links that are fixed to others kept apart."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False
    return spec.compile()


def inertias(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Floats:
    turn = data.ximat[body].reshape(3, 3)
    return np.asarray(turn @ np.diag(model.body_inertia[body]) @ turn.T)


def check_same_bodies(scene: Scene, urdf: mujoco.MjModel) -> None:
    """Masses, centres of mass and inertias of all bodies agree in a pose that nobody chose."""
    table, plain = scene.robots[0], mujoco.MjData(scene.model)
    angles = np.random.default_rng(5).uniform(-0.4, 0.4, len(table.joints))
    plain.qpos[table.angles] = angles
    if table.root >= 0:
        plain.qpos[table.root : table.root + 7] = [0, 0, 0, 1, 0, 0, 0]
    read = mujoco.MjData(urdf)
    for joint, angle in zip(table.joints, angles, strict=True):
        read.qpos[urdf.jnt_qposadr[urdf.joint(joint).id]] = angle
    mujoco.mj_kinematics(scene.model, plain)
    mujoco.mj_kinematics(urdf, read)
    bodies = [b for b in range(1, scene.model.nbody) if not scene.model.body(b).name.endswith(".rotor")]
    for body in bodies:
        other = urdf.body(scene.model.body(body).name.removeprefix("robot/")).id
        assert urdf.body_mass[other] == pytest.approx(scene.model.body_mass[body], abs=1e-8)
        assert read.xipos[other] == pytest.approx(plain.xipos[body], abs=1e-7)
        assert inertias(urdf, read, other) == pytest.approx(inertias(scene.model, plain, body), abs=1e-8)
    assert len(bodies) > len(table.joints) / 3


@pytest.mark.parametrize("robot", robot_names())
def test_a_robot_has_the_same_bodies_in_urdf(robot: str, tmp_path: Path) -> None:
    scene = alone(robot)
    urdf = read_urdf(written(tmp_path / "robot.urdf", as_urdf(scene)))
    check_same_bodies(scene, urdf)
    table = scene.robots[0]
    limits = np.array([urdf.joint(joint).range for joint in table.joints])
    assert limits == pytest.approx(
        np.where(np.isfinite(table.limits), table.limits, 0.0), abs=1e-5
    )  # MJCF has six digits
    again = load_robot(tmp_path / "robot.urdf")
    assert again.base == "free"


ODD = """<mujoco><compiler angle="radian"/>
<worldbody><body name="base" pos="0 .1 .5" quat=".8 .6 0 0">
<geom size=".1" mass="1"/>
<body name="arm" pos=".1 0 .2" quat=".6 0 .8 0">
<joint name="yaw" axis="0 0 1" pos="0 .05 0" range="-2 2"/><joint name="pitch" axis="0 1 0" pos=".02 0 .1" ref=".3"/>
<geom type="ellipsoid" size=".02 .03 .1" mass=".3"/>
<body name="grip" pos="0 0 .2"><joint name="slide" type="slide" axis="1 0 0" range="-.5 .5" ref=".02"/>
<geom type="capsule" size=".02 .05" mass=".2"/></body></body>
</body></worldbody>
<equality><joint joint1="slide" joint2="pitch" polycoef="0 .5 0 0 0"/></equality>
</mujoco>"""


def test_anchors_reference_angles_slides_and_several_joints_of_a_body_survive(tmp_path: Path) -> None:
    (tmp_path / "odd.xml").write_text(ODD)
    scene = alone(str(tmp_path / "odd.xml"))
    assert scene.robots[0].root < 0
    exported = as_urdf(scene)
    check_same_bodies(scene, read_urdf(written(tmp_path / "odd.urdf", exported)))
    assert 'mimic joint="pitch" multiplier="0.5" offset="-0.13"' in exported.text
    assert 'link name="world"' in exported.text


def test_a_ball_joint_is_refused_in_urdf(tmp_path: Path) -> None:
    (tmp_path / "odd.xml").write_text(ODD.replace('type="slide" axis="1 0 0" range="-.5 .5" ref=".02"', 'type="ball"'))
    text = (tmp_path / "odd.xml").read_text()
    (tmp_path / "odd.xml").write_text(text[: text.index("<equality>")] + "</mujoco>")
    with pytest.raises(ModelError, match="'slide' is a ball joint, which URDF does not have"):
        as_urdf(alone(str(tmp_path / "odd.xml")))


def test_mesh_files_of_a_users_robot_are_written_beside_the_export(tmp_path: Path) -> None:
    trimesh.creation.icosphere(3, radius=0.1).export(tmp_path / "ball.stl")
    (tmp_path / "robot.xml").write_text(
        """<mujoco><asset><mesh file="ball.stl"/></asset><worldbody><body name="b"><freejoint/>
        <geom type="mesh" mesh="ball"/></body></worldbody></mujoco>"""
    )
    scene = alone(str(tmp_path / "robot.xml"))
    exported = as_mjcf(scene)
    assert [data == (tmp_path / "ball.stl").read_bytes() for data in exported.meshes.values()] == [True]
    assert len(scene.xml) < 4000
    folder = tmp_path / "out"
    folder.mkdir()
    model = mujoco.MjModel.from_xml_path(str(written(folder / "robot.xml", exported)))
    assert model.body_mass == pytest.approx(scene.model.body_mass)
    check_same_bodies(scene, read_urdf(written(folder / "robot.urdf", as_urdf(scene))))
