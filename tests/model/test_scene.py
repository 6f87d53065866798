"""Worlds put together: names, places, physics, balls, tables."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, ModelError, UnknownNameError
from nutmeg.model import Placement, Scene, SceneSettings, assemble, load_robot, robot_names
from nutmeg.model.physics import native_profile
from nutmeg.model.scene import PARKING_GAP, TEAM_COLOURS, ObjectSettings, add_object, check_inertia_kept
from nutmeg.sim import Worlds


def test_robots_are_placed_turned_and_named() -> None:
    robots = (
        Placement(robot="ant", name="red1", pos=(1.0, -2.0), heading=1.2, height=0.3),
        Placement(robot="ant"),
        Placement(robot="ant"),
    )
    scene = assemble(SceneSettings(field="none", robots=robots))
    assert [t.name for t in scene.robots] == ["red1", "ant-1", "ant-2"]
    table = scene.robot("red1")
    root = scene.start[table.root : table.root + 7]
    assert root[:2] == pytest.approx([1.0, -2.0])
    assert 2 * np.arctan2(root[6], root[3]) == pytest.approx(1.2)
    other = scene.robot("ant-1").root
    assert root[2] == pytest.approx(scene.start[other + 2] + 0.3)


def test_the_tables_find_every_joint_and_motor_of_every_robot() -> None:
    robots = tuple(Placement(robot=name, name=f"r{i}", pos=(i, 0)) for i, name in enumerate(robot_names()))
    scene = assemble(SceneSettings(field="floor", robots=robots, visuals=False))
    model, used = scene.model, set[int]()
    for table in scene.robots:
        for joint, angle, rate in zip(table.joints, table.angles, table.rates, strict=True):
            found = model.joint(f"{table.name}/{joint}")
            assert (found.qposadr[0], found.dofadr[0]) == (angle, rate)
        for motor, command, joint in zip(table.motors, table.commands, table.motor_joints, strict=True):
            assert model.actuator(f"{table.name}/{motor}").id == command
            assert table.joints[joint] == motor
        mine = {int(a) for a in table.angles} | set(range(table.root, table.root + 7))
        assert not mine & used
        used |= mine
    assert not np.setdiff1d(np.concatenate([t.commands for t in scene.robots]), np.arange(model.nu)).size


def test_motors_are_found_by_name_and_misspelt_ones_suggested() -> None:
    table = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6", name="n"),))).robot("n")
    assert [table.motors[i] for i in table.motor_index(["HeadYaw", "LKneePitch"])] == ["HeadYaw", "LKneePitch"]
    with pytest.raises(UnknownNameError, match=r"unknown motor of n 'HeadYwa'\. Did you mean 'HeadYaw'"):
        table.motor_index(["HeadYwa"])


@pytest.mark.parametrize("name", ["a b", "a/b", "a.b"])
def test_a_robots_name_is_a_plain_word(name: str) -> None:
    with pytest.raises(ModelError, match="letters, digits, - and _"):
        assemble(SceneSettings(field="none", robots=(Placement(robot="ant", name=name),)))


def test_two_robots_cannot_have_one_name() -> None:
    with pytest.raises(ModelError, match="'a' is taken already"):
        assemble(SceneSettings(field="none", robots=(Placement(robot="ant", name="a"),) * 2))


def test_misspelt_names_suggest_the_nearest() -> None:
    wrong = {
        "unknown robot 'nao-v5.*Did you mean 'nao-v": SceneSettings(robots=(Placement(robot="nao-v5"),)),
        "unknown field 'spl2052'.*Did you mean 'spl2025'": SceneSettings(field="spl2052"),
        "unknown ball 'spl-faom'.*Did you mean 'spl-foam'": SceneSettings(ball="spl-faom"),
        "unknown team colour 'bleu'.*Did you mean 'blue'": SceneSettings(robots=(Placement(robot="ant", team="bleu"),)),
        "unknown physics profile 'standart'.*Did you mean 'standard'": SceneSettings(physics="standart"),
        "unknown type of nao-spark 'type5'": SceneSettings(robots=(Placement(robot="nao-spark", type="type5"),)),
        "unknown pose of ant 'redy'.*Did you mean 'ready'": SceneSettings(
            robots=(Placement(robot="ant", pose="redy"),)
        ),
    }
    for message, settings in wrong.items():
        with pytest.raises(UnknownNameError, match=message):
            assemble(settings)
    scene = assemble(SceneSettings(field="none", robots=(Placement(robot="ant", name="red1"),)))
    with pytest.raises(UnknownNameError, match=r"robot in this scene 'red2'\. Did you mean 'red1'"):
        scene.robot("red2")


def test_physics_is_the_robots_own_unless_they_differ_or_it_is_said() -> None:
    spark, ant = Placement(robot="nao-spark"), Placement(robot="ant", pos=(1, 0))
    assert assemble(SceneSettings(robots=(spark,))).timestep == 0.02
    assert assemble(SceneSettings(robots=(spark, ant))).timestep == 0.004
    assert assemble(SceneSettings(robots=(spark,), physics="fine")).timestep == 0.005
    assert assemble(SceneSettings(robots=(ant,), timestep=0.001)).timestep == 0.001


@pytest.mark.parametrize("timestep", [1.0, -0.01, 1e-9])
def test_an_impossible_timestep_is_refused(timestep: float) -> None:
    with pytest.raises(ModelError, match=r"allowed is 0\.00001 to 0\.05"):
        assemble(SceneSettings(timestep=timestep))


def test_the_ball_lies_where_it_was_put_and_can_be_left_out() -> None:
    scene = assemble(SceneSettings(field="spl2025", ball_pos=(1.0, 0.5)))
    address = int(scene.model.jnt_qposadr[scene.model.body("ball").jntadr[0]])
    assert scene.has_ball
    assert scene.start[address : address + 2] == pytest.approx([1.0, 0.5])
    assert not assemble(SceneSettings(field="spl2025", ball="none")).has_ball


def test_a_parked_robot_starts_beyond_the_carpet_with_no_strain_on_its_weld() -> None:
    robots = (
        Placement(robot="ant", name="plays"),
        Placement(robot="nao-v6", name="waits", parked=True, heading=1.0, height=0.2, pos=(1, 1)),
    )
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=robots))
    table = scene.robot("waits")
    x = scene.start[table.root]
    assert x < -4.5 - PARKING_GAP / 2
    data = mujoco.MjData(scene.model)
    mujoco.mj_resetDataKeyframe(scene.model, data, 0)
    mujoco.mj_forward(scene.model, data)
    weld = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert np.abs(data.efc_pos[weld]).max() < 1e-5


def test_parked_robots_do_not_stand_in_each_other() -> None:
    robots = tuple(Placement(robot="nao-v6", name=f"n{i}", parked=True) for i in range(13))
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=robots, visuals=False))
    places = np.array([scene.start[t.root : t.root + 2] for t in scene.robots])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 10 * np.eye(len(places))
    assert apart.min() > 0.5


def test_the_team_shows_in_the_colour() -> None:
    for team in ("blue", "red"):
        scene = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6", team=team),)))
        wanted = np.array([*TEAM_COLOURS[team], 1.0])
        assert (np.abs(scene.model.geom_rgba - wanted).max(axis=1) < 1e-3).any()


def test_what_is_only_seen_can_be_left_out() -> None:
    robots = (Placement(robot="nao-v6"),)
    seen, bare = (assemble(SceneSettings(field="spl2025", robots=robots, visuals=v)).model for v in (True, False))
    assert bare.ngeom < seen.ngeom / 2
    assert bare.nq == seen.nq
    assert bare.body_mass.sum() == pytest.approx(seen.body_mass.sum())


def test_a_robot_that_is_bolted_down_has_no_pose() -> None:
    scene = assemble(SceneSettings(field="none", robots=(Placement(robot="ant"),)))
    assert scene.robots[0].root >= 0
    assert scene.model.body(scene.robots[0].body).name == "ant-1/Torso"


# ----------------------------------------------------------------------------------------------------
# Users' objects land where they are put, under their own names.


CRATE = """<mujoco><worldbody>
  <geom name="plate" type="box" size=".2 .1 .01" pos=".3 0 0"/>
  <body name="crate" pos="0.5 0 0.1"><freejoint name="root"/>
    <geom type="box" size=".1 .1 .1" density="500"/>
    <body name="lid" pos="0 0 .1"><joint name="hinge"/><inertial mass="1" pos="0 0 0" diaginertia=".1 .1 .1"/></body>
  </body></worldbody></mujoco>"""


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    path = tmp_path / "crate.xml"
    path.write_text(CRATE)
    return path


def test_an_object_is_moved_turned_and_prefixed(crate: Path) -> None:
    spec = mujoco.MjSpec()
    add_object(spec, ObjectSettings(name="box", file=crate, pos=(1, 2, 0), heading=math.pi / 2))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.allclose(data.body("box/crate").xpos, (1, 2.5, 0.1))
    assert np.allclose(data.geom("box/plate").xpos, (1, 2.3, 0))
    assert model.joint("box/root").type[0] == mujoco.mjtJoint.mjJNT_FREE


def test_two_of_a_kind_live_in_one_scene_but_not_under_one_name(crate: Path) -> None:
    spec = mujoco.MjSpec()
    add_object(spec, ObjectSettings(name="a", file=crate))
    add_object(spec, ObjectSettings(name="b", file=crate, pos=(3, 0, 0)))
    assert spec.compile().nbody == 5
    with pytest.raises(ModelError, match="already has something called 'a'"):
        add_object(spec, ObjectSettings(name="a", file=crate))


def test_a_given_mass_scales_all_bodies_and_inertias(crate: Path) -> None:
    light, heavy = mujoco.MjSpec(), mujoco.MjSpec()
    add_object(light, ObjectSettings(name="a", file=crate))
    add_object(heavy, ObjectSettings(name="a", file=crate, mass=10.0))
    before, after = light.compile(), heavy.compile()
    assert before.body_mass.sum() == pytest.approx(5.0)  # 0.2^3 m^3 * 500 + 1
    assert np.allclose(after.body_mass, 2 * before.body_mass)
    assert np.allclose(after.body_inertia, 2 * before.body_inertia)


def test_a_file_that_is_missing_or_broken_is_named_with_mujocos_words(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.xml: there is no such file"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=tmp_path / "gone.xml"))
    broken = tmp_path / "broken.xml"
    broken.write_text('<mujoco><worldbody><geom type="cube"/></worldbody></mujoco>')
    with pytest.raises(FileError, match=r"broken\.xml: MuJoCo cannot build this object: (.|\n)*cube"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=broken))
    unsound = tmp_path / "unsound.xml"
    unsound.write_text('<mujoco><worldbody><geom type="sphere" size="0"/></worldbody></mujoco>')
    with pytest.raises(FileError, match=r"unsound\.xml: MuJoCo cannot build this object"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="a", file=unsound))


def test_what_has_no_mass_cannot_be_made_heavy(tmp_path: Path) -> None:
    wall = tmp_path / "wall.xml"
    wall.write_text('<mujoco><worldbody><geom type="box" size="1 1 1"/></worldbody></mujoco>')
    with pytest.raises(FileError, match="no moving mass"):
        add_object(mujoco.MjSpec(), ObjectSettings(name="wall", file=wall, mass=3.0))
    with pytest.raises(ValueError, match="without '/'"):
        ObjectSettings(name="a/b", file=wall)


# ----------------------------------------------------------------------------------------------------
# An exported scene moves in bare MuJoCo as it does here, to the last bit.


KINDS = [(name, kind) for name in robot_names() for kind in ("", *load_robot(name).types)]


def sway(scene: Scene, time: float) -> Floats:
    return scene.commands + 0.1 * np.sin(6 * time + np.arange(scene.model.nu))


def in_bare_mujoco(scene: Scene, seconds: float) -> Floats:
    model = mujoco.MjModel.from_xml_string(scene.xml)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    for step in range(round(seconds / model.opt.timestep)):
        data.ctrl[:] = sway(scene, step * model.opt.timestep)
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


def here(scene: Scene, seconds: float) -> Floats:
    worlds = Worlds(scene)
    for step in range(round(seconds / scene.timestep)):
        worlds.batch.ctrl[0] = sway(scene, step * scene.timestep)
        worlds.step()
    assert not worlds.diverged().any()
    return np.array(worlds.qpos[0])


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_an_exported_robot_moves_the_same_without_nutmeg(name: str, kind: str) -> None:
    placement = Placement(robot=name, type=kind, height=0.01, heading=0.3)
    physics = native_profile(load_robot(name).physics)
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), physics=physics, visuals=False))
    moved = here(scene, 1.0)
    assert np.array_equal(in_bare_mujoco(scene, 1.0), moved)
    assert np.abs(moved - scene.start).max() > 0.01


@pytest.mark.parametrize("field", ["spl2025", "sim3d"])
def test_an_exported_match_moves_the_same_without_nutmeg(field: str) -> None:
    robots = (
        Placement(robot="nao-v6", pos=(-0.3, 0.0)),
        Placement(robot="ant", pos=(0.5, 0.2), heading=2.0),
        Placement(robot="nao-spark", pos=(1.5, 0.0), parked=True),
    )
    scene = assemble(SceneSettings(field=field, ball_pos=(-0.15, 0.02), robots=robots))
    moved = here(scene, 1.0)
    assert np.array_equal(in_bare_mujoco(scene, 1.0), moved)
    assert scene.has_ball


def test_the_keyframe_is_the_start() -> None:
    scene = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6", pose="sit"),)))
    key = mujoco.MjModel.from_xml_string(scene.xml).key("start")
    assert np.array_equal(key.qpos, scene.start)
    assert np.array_equal(key.ctrl, scene.commands)
    assert np.array_equal(key.act, scene.setpoints)
    held = scene.start[scene.robots[0].angles[scene.robots[0].motor_joints]]
    assert scene.commands == pytest.approx(held, abs=1e-6)


def test_a_users_robot_with_meshes_is_exported_whole(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(
        """<mujoco><asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody>
        <body name="base"><geom type="mesh" mesh="wedge"/><body name="arm" pos="0 0 .1">
        <joint name="elbow" axis="0 1 0" range="-60 60"/><geom type="mesh" mesh="wedge"/></body></body>
        </worldbody></mujoco>"""
    )
    scene = assemble(SceneSettings(ball="none", robots=(Placement(robot=str(tmp_path / "robot.xml")),)))
    (tmp_path / "robot.xml").unlink()
    assert np.array_equal(in_bare_mujoco(scene, 0.5), here(scene, 0.5))


def test_a_model_whose_text_lost_a_mass_is_refused() -> None:
    def arm(visual: str) -> mujoco.MjModel:
        return mujoco.MjModel.from_xml_string(
            f"""<mujoco><worldbody><body name="arm"><freejoint/><geom size="0.1"/><geom size="0.05" {visual}/></body>
            </worldbody></mujoco>"""
        )

    check_inertia_kept(arm('mass="0"'), arm('mass="0"'))
    with pytest.raises(ModelError, match=r"body 'arm' has 4\.1887\d* kg, but 4\.712\d* once its model is written"):
        check_inertia_kept(arm('mass="0"'), arm(""))
