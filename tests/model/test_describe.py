"""Somebody's model file: what is read from it, and the robot.toml that describes it."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from nutmeg.base.errors import MissingExtraError, NutmegError, UsageError
from nutmeg.cli import main
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot
from nutmeg.model.model_file import parse_model
from nutmeg.model.posing import describe, overlaps
from nutmeg.model.tables import leg_joints

LEG = """<body name="{side}_thigh" pos="0 {y} 0"><joint name="{side}_hip" axis="0 1 0" range="-1 1"/>
<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".5"/>
<body name="{side}_shank" pos="0 0 -.2"><joint name="{side}_knee" axis="0 1 0" range="-.1 2"/>
<joint name="{side}_spring" axis="1 0 0" stiffness="40" range="-.3 .3"/>
<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/>
<body name="{side}_foot" pos="0 0 -.2"><geom type="box" size=".08 .03 .01" mass=".1"/></body></body></body>"""
WALKER = f"""<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="trunk" pos="0 0 .5"><freejoint/><geom type="box" size=".1 .15 .1" mass="3"/>
{LEG.format(side="left", y=0.1)}{LEG.format(side="right", y=-0.1)}</body></worldbody>
<actuator>MOTORS</actuator>
<keyframe><key name="squat" qpos="0 0 .4 1 0 0 0 -.5 1 0 -.5 1 0"/>
<key name="home" qpos="0 0 .5 1 0 0 0 -.2 .4 0 -.2 .4 0"/>
</keyframe></mujoco>"""
JOINTS = ("left_hip", "left_knee", "right_hip", "right_knee")
SERVOS = "".join(f'<position joint="{joint}" kp="80" kv="2" forcerange="-30 30"/>' for joint in JOINTS)
LIMITS = {joint: 25 if "knee" in joint else 20 for joint in JOINTS}
TORQUES = "".join(f'<motor joint="{name}" gear="2" ctrlrange="-{most} {most}"/>' for name, most in LIMITS.items())


def model_file(folder: Path, motors: str = SERVOS) -> Path:
    path = folder / "walker.xml"
    path.write_text(WALKER.replace("MOTORS", motors))
    return path


def placed(robot: Path) -> Scene:
    return assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot=str(robot), name="r"),)))


def test_a_model_file_keeps_its_passive_joints_its_free_base_and_its_home(tmp_path: Path) -> None:
    scene = placed(model_file(tmp_path))
    table = scene.robots[0]
    assert [table.joints[joint] for joint in table.motor_joints] == list(JOINTS)
    assert table.root >= 0
    held = dict(zip(table.joints, scene.start[table.angles], strict=True))
    assert (held["left_hip"], held["right_knee"], held["left_spring"]) == pytest.approx((-0.2, 0.4, 0.0))


def test_a_model_bolted_to_the_world_stays_bolted_and_one_without_actuators_gets_drives(tmp_path: Path) -> None:
    path = model_file(tmp_path, "")
    path.write_text(
        path.read_text().replace("<freejoint/>", "").replace("0 0 .4 1 0 0 0", "").replace("0 0 .5 1 0 0 0", "")
    )
    table = placed(path).robots[0]
    assert table.root == -1
    assert len(table.motors) == 6


def test_a_description_is_short_and_builds_the_same_robot(tmp_path: Path) -> None:
    path = model_file(tmp_path)
    assert main(["robots", "--describe", str(path), "-o", str(tmp_path / "walker.toml")]) == 0
    text = (tmp_path / "walker.toml").read_text()
    assert len(text.splitlines()) <= 20
    described, plain = placed(tmp_path / "walker.toml"), placed(path)
    assert described.robots[0].settings.feet == ("left_foot", "right_foot")
    assert np.array_equal(described.start, plain.start)
    assert np.array_equal(described.model.body_mass, plain.model.body_mass)
    legs = {"left_hip", "left_knee", "left_spring", "right_hip", "right_knee", "right_spring"}
    assert leg_joints(described.model, described.robots[0]) == legs


def test_bodies_that_overlap_are_described_as_passing_each_other(tmp_path: Path) -> None:
    path = model_file(tmp_path)
    path.write_text(
        path.read_text().replace('<geom type="box" size=".08 .03 .01"', '<geom type="box" size=".3 .2 .01"')
    )
    text = describe(load_robot(path), tmp_path)
    assert 'ignore_contacts = [["left_foot", "right_foot"]' in text
    assert "left_foot and right_foot overlap by" in text
    assert "ignore_contacts" not in describe(load_robot(model_file(tmp_path)), tmp_path)


def test_a_urdf_file_without_limbs_that_reach_the_ground_is_described_as_bolted_down(tmp_path: Path) -> None:
    arm = Path(__file__).parents[2] / "examples" / "arm" / "arm.urdf"
    assert placed(arm).robots[0].root >= 0, "the file itself cannot say that it is bolted down"
    assert main(["robots", "--describe", str(arm), "-o", str(tmp_path / "arm.toml")]) == 0
    assert placed(tmp_path / "arm.toml").robots[0].root == -1


def test_a_root_that_is_held_touches_the_limbs_on_it_no_more_than_a_free_one(tmp_path: Path) -> None:
    robot = Placement(robot=str(model_file(tmp_path)), name="r", held=True, height=1.0)
    scene = assemble(SceneSettings(field="none", ball="none", robots=(robot,)))
    assert not overlaps(scene, "r"), "the thighs begin inside the trunk"


def test_torque_motors_are_described_as_drives_with_their_limits(tmp_path: Path) -> None:
    (tmp_path / "walker.toml").write_text(describe(load_robot(model_file(tmp_path, TORQUES)), tmp_path))
    robot = load_robot(tmp_path / "walker.toml")
    assert {drive.joints: drive.torque for drive in robot.drives.values()} == {
        ("left_knee", "right_knee"): 50.0,
        ("left_hip", "right_hip"): 40.0,
    }
    assert set(placed(tmp_path / "walker.toml").robots[0].drives) == {"position"}


def test_a_robot_that_has_a_description_and_a_foot_that_is_no_body_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ant has a robot\.toml already"):
        describe(load_robot("ant"), tmp_path)
    text = describe(load_robot(model_file(tmp_path)), tmp_path).replace('"left_foot"', '"left_fot"')
    (tmp_path / "walker.toml").write_text(text)
    scene = placed(tmp_path / "walker.toml")
    with pytest.raises(NutmegError, match="Did you mean 'left_foot'"):
        leg_joints(scene.model, scene.robots[0])


# ----------------------------------------------------------------------------------------------------
# Masses and meshes


MESHED = """<mujoco><asset><mesh name="part" file="{file}"/></asset>
<default><default class="visual"><geom contype="0" conaffinity="0" group="2" mass="0" density="0"/></default></default>
<worldbody><body name="b"><freejoint/><geom size=".05" mass="1"/><geom class="visual" type="mesh" mesh="part"/></body>
</worldbody></mujoco>"""


def test_massless_shapes_of_a_class_stay_massless(tmp_path: Path) -> None:
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "part.stl")
    (tmp_path / "robot.xml").write_text(MESHED.format(file="part.stl"))
    plain = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    scene = placed(tmp_path / "robot.xml")
    assert scene.model.body_mass.sum() == pytest.approx(plain.body_mass.sum())
    assert scene.model.body("r/b").inertia == pytest.approx(plain.body("b").inertia)


@pytest.mark.parametrize("file", ["part.obj", "part.stl", "ascii.stl", "part.ply"])
def test_meshes_of_many_formats_have_the_same_shape(file: str, tmp_path: Path) -> None:
    shape = trimesh.creation.cone(0.1, 0.3)
    kind = "stl_ascii" if file == "ascii.stl" else Path(file).suffix[1:]
    shape.export(tmp_path / file, file_type=kind)
    (tmp_path / "robot.xml").write_text(MESHED.format(file=file))
    if file == "part.ply":  # MuJoCo itself refuses the ending
        with pytest.raises(ValueError, match="ply"):
            mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    model = parse_model(tmp_path / "robot.xml").compile()
    assert np.sort(np.ptp(model.mesh_vert, axis=0)) == pytest.approx([0.2, 0.2, 0.3], rel=0.02)


COLLADA = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>
<unit name="centimeter" meter="0.01"/>
<up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="12">
0 0 0 10 0 0 0 20 0 0 0 30</float_array><technique_common><accessor source="#a" count="4" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="4">
<input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s">
<node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_collada_mesh_is_read_in_its_own_unit_or_its_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "part.dae").write_text(COLLADA)
    (tmp_path / "robot.xml").write_text(MESHED.format(file="part.dae"))
    try:
        import collada  # noqa: F401 (an extra)
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"part\.dae needs pycollada.*nutmeg-sim\[collada\]"):
            parse_model(tmp_path / "robot.xml")
        return
    model = parse_model(tmp_path / "robot.xml").compile()
    corners = trimesh.Trimesh(model.mesh_vert, model.mesh_face)
    assert corners.volume == pytest.approx(0.1 * 0.2 * 0.3 / 6, rel=1e-4)


def test_actuators_without_a_joint_are_no_motors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drone = tmp_path / "drone.xml"
    drone.write_text(
        """<mujoco><worldbody><body name="drone" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .02" mass="1"/>
<site name="rotor"/></body></worldbody><actuator><motor site="rotor" gear="0 0 1 0 0 0"/></actuator></mujoco>"""
    )
    text = describe(load_robot(drone), tmp_path)
    assert "1 actuator without a joint stays at 0." in text
    assert main(["export", str(drone), "-o", str(tmp_path / "out.xml"), "--json"]) == 0
    assert '"motors": 0' in capsys.readouterr().out
    assert main(["export", str(drone), "-o", str(tmp_path / "out.xml")]) == 0
    assert "1 body, 0 motors and 1 actuator without a joint" in capsys.readouterr().out
    assert "The motors are 4 actuators of the model file." in describe(load_robot(model_file(tmp_path)), tmp_path)
