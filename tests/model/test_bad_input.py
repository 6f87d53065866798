"""Wrong robots say what is wrong and where; odd but right ones work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from nutmeg.base.errors import FileError, ModelError, NutmegError, UnknownNameError
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot
from nutmeg.model.posing import robot_facts
from nutmeg.sim import Worlds

GOOD = """\
format = 1
name = "toy"
source = "own"
licence = "CC0"

[[body]]
name = "base"
mass = 1.0

[[body]]
name = "arm"
parent = "base"
pos = [0, 0, 0.1]
mass = 0.2
joint = { name = "elbow", axis = [0, 1, 0], range = [-1, 1] }

[[shape]]
body = "base"
type = "box"
size = [0.2, 0.2, 0.1]
role = "both"

[[shape]]
body = "arm"
type = "capsule"
size = [0.02, 0.1]
pos = [0, 0, 0.1]
role = "both"

[drives.servo]
joints = ["elbow"]

[[sensor]]
name = "imu"
type = "imu"
body = "base"

[poses.ready]
elbow = 0.5
"""


def put(path: Path) -> Scene:
    robots = (Placement(robot=str(path), name="r"),)
    return assemble(SceneSettings(field="floor", ball="none", robots=robots))


def broken(folder: Path, old: str, new: str) -> NutmegError:
    assert GOOD.count(old) >= 1
    (folder / "robot.toml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(NutmegError) as caught:
        put(folder)
    return caught.value


def test_the_robot_that_is_broken_below_is_a_good_one(tmp_path: Path) -> None:
    (tmp_path / "robot.toml").write_text(GOOD)
    worlds = Worlds(put(tmp_path))
    worlds.advance(2.0)
    robot = worlds.robots[0]
    assert robot.uprightness()[0] > 0.99
    assert robot.angles[0, 0] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("old", "new", "kind", "message"),
    [
        (
            'type = "box"',
            'type = "bxo"',
            FileError,
            r"line 19: shape\[0\]\.type: is 'bxo'\. Did you mean 'box'.*'sphere'",
        ),
        ("mass = 0.2", "mass = [0.2]", FileError, r"line 14: body\[1\]\.mass: needs a number"),
        ("format = 1", "format = 2", FileError, "format 2; this version of Nutmeg reads format 1"),
        ("format = 1", "format = 1 2", FileError, "line 1: broken TOML"),
        ("licence", "license", FileError, r"line 4: license: .*Did you mean 'licence'"),
        ("range = [-1, 1]", "range = [1, -1]", ModelError, r"toy: joint 'elbow' has the range 1\.0\.\.-1\.0 rad"),
        ("range = [-1, 1]", "range = [-1]", FileError, r"line 15: body\[1\]\.joint\.range: needs 2 values, found 1"),
        (
            "elbow = 0.5",
            "elbow = 1.5",
            ModelError,
            r"pose 'ready' of toy puts elbow at 1\.5 rad, but its range is -1\.\.1",
        ),
        (
            "elbow = 0.5",
            "elbwo = 0.5",
            UnknownNameError,
            r"pose 'ready' of toy: unknown joint 'elbwo'. Did you mean 'elbow'",
        ),
        ('parent = "base"', 'parent = "bsae"', UnknownNameError, r"'bsae'.*Did you mean 'base'"),
        (
            "[drives",
            '[[shape]]\nbody = "amr"\ntype = "sphere"\nsize = [1]\n[drives',
            UnknownNameError,
            r"toy: unknown body 'amr'\. Did you mean 'arm'",
        ),
        ('type = "imu"\nbody = "base"', 'type = "imu"\nbody = "bse"', UnknownNameError, r"unknown body 'bse'.*'base'"),
        (
            'type = "imu"\nbody = "base"',
            'type = "imu"',
            FileError,
            r"line 34: sensor\[0\]: sensor 'imu' .*needs a body",
        ),
        ('type = "imu"', 'type = "imu"\nnoise = [1, 2, 3]', FileError, r"noise is \[1\.0, 2\.0, 3\.0\]"),
        ('type = "imu"', 'type = "sonar"', FileError, "cone is 0.0 rad"),
        ('type = "imu"', 'type = "imu"\nrange = [2, 1]', FileError, r"range \(2\.0, 1\.0\) must rise"),
        ('joints = ["elbow"]', 'joints = ["elbo"]', UnknownNameError, r"drive 'servo' of toy: unknown joint 'elbo'"),
        ('joints = ["elbow"]', 'joints = ["elbow"]\ntorque = -1', FileError, r"line 30: drives\.servo: torque is -1"),
        (
            "[[sensor]]",
            '[drives.second]\njoints = ["el*"]\n[[sensor]]',
            ModelError,
            "joint 'elbow' is driven by 'servo' and by 'second'",
        ),
        ("size = [0.2, 0.2, 0.1]", "size = [0.2, 0.2]", ModelError, r"toy: a box on 'base' has the size .* needs 3"),
        ("size = [0.02, 0.1]", "size = [-0.02, 0.1]", ModelError, r"a capsule on 'arm'.*above 0"),
        ("size = [0.02, 0.1]", 'size = ["lenght", 0.1]', ModelError, "toy: 'lenght' uses the parameter 'lenght'"),
        ("mass = 0.2", "mass = 0.2\ncom = [0, 0, 1]", FileError, r"body 'arm' gives com without inertia"),
        ("mass = 0.2", "mass = 0.2\ninertia = [-1, 1, 1, 0, 0, 0]", ModelError, "MuJoCo cannot build the robot toy"),
        ('name = "arm"', 'name = "base"', NutmegError, "base"),
        ('parent = "base"\n', "", NutmegError, "'base' and 'arm'"),
        (
            'role = "both"',
            'role = "both"\ncolour = "whit"',
            UnknownNameError,
            "shape on 'base' of toy: unknown colour 'whit'",
        ),
        ('role = "both"', 'role = "both"\nmirror = true', ModelError, "'base' does not begin with L"),
        (
            "[poses.ready]",
            '[[shared]]\nleader = "elbow"\nfollower = "x"\n[poses.ready]',
            UnknownNameError,
            "unknown joint 'x'",
        ),
        ("[poses.ready]", "[types.big]\nheavy = 1\n[poses.ready]", FileError, "type 'big' sets 'heavy'"),
    ],
)
def test_a_wrong_robot_says_what_is_wrong_and_where(
    tmp_path: Path, old: str, new: str, kind: type[NutmegError], message: str
) -> None:
    error = broken(tmp_path, old, new)
    assert isinstance(error, kind)
    with pytest.raises(kind, match=message):
        raise error
    if isinstance(error, FileError):
        assert str(tmp_path / "robot.toml") in str(error)


def test_a_robot_without_bodies_is_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.toml").write_text('format = 1\nname = "x"\nsource = "x"\nlicence = "x"\n')
    with pytest.raises(ModelError, match="x: has no bodies"):
        put(tmp_path)


def test_a_broken_robot_breaks_its_facts_in_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "robot.toml").write_text(GOOD.replace("mass = 0.2", "mass = 0.2\ninertia = [-1, 1, 1, 0, 0, 0]"))
    with pytest.raises(ModelError, match="MuJoCo cannot build the robot toy"):
        robot_facts(load_robot(tmp_path))


def test_mjcf_that_does_not_compile_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    for text in (
        "<mujoco><worldbody><body><geom/></body></worldbody></mujoco>",
        "<mujoco",
        "<mujoco><nonsense/></mujoco>",
    ):
        path.write_text(text)
        with pytest.raises(FileError, match=r"bad\.xml: MuJoCo cannot build this model"):
            put(path)


def test_a_model_file_has_one_robot(tmp_path: Path) -> None:
    path = tmp_path / "two.xml"
    body = '<body name="{}"><geom size="1"/></body>'
    path.write_text(f"<mujoco><worldbody>{body.format('a')}{body.format('b')}</worldbody></mujoco>")
    with pytest.raises(FileError, match=r"one body below the world, this file has 2 \('a', 'b'\)"):
        put(path)


MJCF = """
<mujoco model="thing">
  <compiler angle="degree" {compiler}/>
  <option timestep="0.001" gravity="0 0 -3" integrator="RK4" density="1.2"><flag contact="disable"/></option>
  <size memory="1M" nuserdata="3"/>
  <visual><headlight ambient=".3 .3 .3"/><map znear="0.2"/></visual>
  <statistic extent="3"/>
  <asset><material name="red" rgba="1 0 0 1"/>{asset}</asset>
  <default><geom friction="0.7"/></default>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="far" pos="0 0 9"/>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .1 .05" material="red"/>
      <body name="arm" pos="0 0 .05">
        <joint name="elbow" axis="0 1 0" range="-90 45"/>
        {geom}
        <body name="finger" pos="0 0 .2">
          <joint axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 .05" size=".01"/>
        </body>
      </body>
    </body>
  </worldbody>
  {actuators}
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0 0"/></keyframe>
</mujoco>
"""
CAPSULE = '<geom type="capsule" fromto="0 0 0 0 0 .2" size=".02"/>'


def mjcf(compiler: str = "", asset: str = "", geom: str = CAPSULE, actuators: str = "") -> str:
    return MJCF.format(compiler=compiler, asset=asset, geom=geom, actuators=actuators)


def test_mjcf_with_a_world_of_its_own_loads_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")  # MuJoCo writes its warnings into the current folder
    (tmp_path / "my.thing.xml").write_text(mjcf())
    scene = assemble(SceneSettings(ball="none", robots=(Placement(robot=str(tmp_path / "my.thing.xml")),)))
    assert not list((tmp_path / "empty").iterdir())
    model = scene.model
    assert model.opt.gravity == pytest.approx([0, 0, -9.81])
    assert (model.opt.timestep, model.opt.density, model.opt.disableflags, model.nkey) == (0.004, 0, 0, 1)
    assert scene.robots[0].name == "my-thing-1"
    assert model.ncam == assemble(SceneSettings(ball="none")).model.ncam


def test_every_hinge_of_a_bare_model_file_gets_a_drive_within_its_range(tmp_path: Path) -> None:
    (tmp_path / "thing.xml").write_text(mjcf())
    scene = put(tmp_path / "thing.xml")
    table = scene.robots[0]
    assert table.joints == table.motors == ("elbow", "joint2")
    assert table.limits == pytest.approx(np.array([[-np.pi / 2, np.pi / 4], [-np.inf, np.inf]]), abs=1e-5)
    assert scene.model.actuator("r/elbow").ctrlrange == pytest.approx([-np.pi / 2, np.pi / 4], abs=1e-5)
    worlds = Worlds(scene)
    worlds.advance(1.0)
    assert worlds.robots[0].uprightness()[0] > 0.99
    worlds.robots[0].command = [0.4, -0.2]
    worlds.advance(1.0)
    assert worlds.robots[0].angles[0] == pytest.approx([0.4, -0.2], abs=0.03)


def test_actuators_of_the_file_are_kept_and_told_apart_and_other_joints_stay_passive(tmp_path: Path) -> None:
    actuators = '<actuator><position joint="elbow" kp="30" kv="1"/></actuator>'
    (tmp_path / "a.xml").write_text(mjcf(actuators=actuators))
    table = put(tmp_path / "a.xml").robots[0]
    assert dict(zip(table.motors, table.drives, strict=True)) == {"elbow": "position"}
    (tmp_path / "a.xml").write_text(mjcf(actuators='<actuator><motor name="m" joint="elbow"/></actuator>'))
    table = put(tmp_path / "a.xml").robots[0]
    assert dict(zip(table.motors, table.drives, strict=True)) == {"m": "torque"}
    assert table.joints[table.motor_joints[table.motors.index("m")]] == "elbow"


def test_position_actuators_of_the_file_hold_the_start_pose(tmp_path: Path) -> None:
    actuators = '<actuator><position joint="elbow" kp="30" kv="1"/></actuator>'
    (tmp_path / "a.xml").write_text(mjcf(actuators=actuators))
    (tmp_path / "robot.toml").write_text(
        'format = 1\nname = "a"\nsource = "x"\nlicence = "x"\n[model]\nmjcf = "a.xml"\n[poses.ready]\nelbow = -0.5\n'
    )
    worlds = Worlds(put(tmp_path))
    worlds.advance(1.0)
    elbow = worlds.robots[0].table.joints.index("elbow")
    assert worlds.robots[0].angles[0, elbow] == pytest.approx(-0.5, abs=0.05)


def test_a_joint_cannot_have_a_drive_and_an_actuator_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(mjcf(actuators='<actuator><motor name="m" joint="elbow"/></actuator>'))
    (tmp_path / "robot.toml").write_text(
        'format = 1\nname = "a"\nsource = "x"\nlicence = "x"\n[model]\nmjcf = "a.xml"\n[drives.d]\njoints = ["elbow"]\n'
    )
    with pytest.raises(ModelError, match="joint 'elbow' has the actuator 'm' in the model file already"):
        put(tmp_path)


def test_an_actuator_that_turns_no_joint_is_kept_but_is_no_motor(tmp_path: Path) -> None:
    site = '<geom type="capsule" fromto="0 0 0 0 0 .2" size=".02"/><site name="jet"/>'
    (tmp_path / "a.xml").write_text(mjcf(geom=site, actuators='<actuator><motor name="m" site="jet"/></actuator>'))
    scene = put(tmp_path / "a.xml")
    assert scene.model.nu == 1
    assert scene.robots[0].motors == ()


def test_a_model_with_a_slide_has_it_among_its_joints(tmp_path: Path) -> None:
    text = mjcf(actuators='<actuator><position name="grip" joint="slide" kp="50"/></actuator>')
    (tmp_path / "a.xml").write_text(
        text.replace('<joint axis="0 1 0"/>', '<joint name="slide" type="slide" range="0 .1"/>')
    )
    table = put(tmp_path / "a.xml").robots[0]
    assert table.joints == ("elbow", "slide")
    assert table.limits[1] == pytest.approx([0, 0.1])
    assert table.motors == ("grip",)


def test_meshes_are_found_in_a_folder_below_the_model(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.box((0.04, 0.04, 0.2)).export(tmp_path / "meshes" / "bar.stl")
    text = mjcf('meshdir="meshes"', '<mesh name="bar" file="bar.stl"/>', '<geom type="mesh" mesh="bar" pos="0 0 .1"/>')
    (tmp_path / "thing.xml").write_text(text)
    scene = put(tmp_path / "thing.xml")
    assert scene.model.nmesh == 1
    assert scene.model.mesh_vert.max(axis=0) == pytest.approx([0.02, 0.02, 0.1], abs=1e-6)
    (tmp_path / "meshes" / "bar.stl").unlink()
    with pytest.raises(FileError, match=r"bar\.stl"):
        put(tmp_path / "thing.xml")


URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base">
    <inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size=".2 .2 .1"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial><origin xyz="0 0 .1"/><mass value=".2"/>
      <inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 .12"/><geometry><cylinder radius=".02" length=".2"/></geometry></collision>
  </link>
  <link name="tip">
    <inertial><mass value=".05"/><inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 .05"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.2" effort="3" velocity="2"/>
  </joint>
  <joint name="welded" type="fixed"><parent link="upper"/><child link="tip"/><origin xyz="0 0 .25"/></joint>
</robot>
"""


def test_a_urdf_robot_stands_and_follows_its_drives(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    scene = put(tmp_path / "arm.urdf")
    table = scene.robots[0]
    assert table.joints == table.motors == ("shoulder",)
    assert table.limits[0] == pytest.approx([-1.5, 1.2])
    assert scene.model.body_subtreemass[table.body] == pytest.approx(1.25)
    worlds = Worlds(scene)
    height = float(worlds.robots[0].pose[0, 2])
    worlds.advance(1.0)
    assert worlds.robots[0].pose[0, 2] == pytest.approx(height, abs=0.005)
    worlds.robots[0].command = 0.6
    worlds.advance(1.5)
    assert worlds.robots[0].angles[0, 0] == pytest.approx(0.6, abs=0.02)


def test_a_urdf_robot_can_be_bolted_down(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "robot.toml").write_text(
        'format = 1\nname = "arm"\nsource = "x"\nlicence = "x"\nbase = "fixed"\n[model]\nurdf = "arm.urdf"\n'
        '[drives.d]\njoints = ["shoulder"]\nkind = "velocity"\n'
    )
    scene = put(tmp_path)
    assert scene.robots[0].root == -1
    worlds = Worlds(scene)
    worlds.robots[0].command = 0.5
    worlds.advance(1.0)
    assert worlds.robots[0].angles[0, 0] == pytest.approx(0.5, abs=0.02)
    for wrong in (lambda r: r.pose, lambda r: r.park(), lambda r: r.activate(0, 0, 0), lambda r: r.parked):
        with pytest.raises(ModelError, match="bolted to the world"):
            wrong(worlds.robots[0])


def test_broken_urdf_names_the_file_and_the_line(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF.replace("</joint>\n  <joint", "\n  <joint", 1))
    with pytest.raises(FileError, match=r"arm\.urdf, line \d+") as caught:
        put(tmp_path / "arm.urdf")
    assert caught.value.line is not None
    (tmp_path / "arm.urdf").write_text(URDF.replace('link="upper"/><origin', 'link="uper"/><origin', 1))
    with pytest.raises(FileError, match=r"arm\.urdf: MuJoCo cannot build this model"):
        put(tmp_path / "arm.urdf")
