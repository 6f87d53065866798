"""Worlds put together: names, places, physics, balls, tables."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble, robot_names
from nutmeg.model.scene import PARKING_GAP, TEAM_COLOURS


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
